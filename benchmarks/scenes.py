"""The scene of a history: a clone in which records were saved, and notes of everything that a script does to it.

Every change is noted: which file, which lines, in which commit. From these notes, and from nothing that the product
says, follows what each record's verdict must be.
"""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from benchmarks.ground import Definition, definitions

_GRAVITY = ("orphaned", "moved", "changed", "unverifiable", "fresh", "unanchored")
_END = 10**9
_PROBE = {
    "Python": "quire_probe(1)",
    "Ruby": "quire_probe(1)",
    "Go": "quireProbe(1)",
    "PHP": "quireProbe(1);",
}
_MEMBER = {
    "Python": "quire_probe = 1",
    "JavaScript": "quireProbe() { return 1; }",
    "TypeScript": "quireProbe() { return 1; }",
    "Java": "int quireProbe = 1;",
    "C#": "int quireProbe = 1;",
    "PHP": "public $quireProbe = 1;",
    "Ruby": "attr_reader :quire_probe",
}
APPENDED = {
    ".py": "\n\ndef quire_probe(number):\n    return number + 1\n",
    ".rb": "\ndef quire_probe(number)\n  number + 1\nend\n",
    ".go": "\nfunc quireProbe(number int) int {\n\treturn number + 1\n}\n",
    ".rs": "\nfn quire_probe(number: i64) -> i64 {\n    number + 1\n}\n",
    **dict.fromkeys((".js", ".mjs", ".cjs"), "\nfunction quireProbe(number) {\n  return number + 1;\n}\n"),
    ".ts": "\nfunction quireProbe(number: number) {\n  return number + 1;\n}\n",
    ".php": "\nfunction quireProbe($number) {\n\treturn $number + 1;\n}\n",
    **dict.fromkeys((".java", ".cs"), "\nclass QuireProbe {\n}\n"),
    **dict.fromkeys((".c", ".cc", ".cpp", ".h"), "\nint quire_probe(int number);\n"),
}

__all__ = [
    "APPENDED",
    "Change",
    "Expected",
    "Part",
    "Planted",
    "Scene",
    "Skipped",
    "SymbolMove",
    "Tools",
    "compiles",
    "is_text",
    "matches",
]


class Skipped(Exception):
    """Why a history cannot be played here."""


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """One anchor of a record, and what it stood for when it was saved."""

    anchor: str
    form: str
    """file, folder, glob, symbol, or none where nothing can be told."""
    files: tuple[str, ...] = ()
    definition: Definition | None = None


class Planted(msgspec.Struct, frozen=True):
    """A record that was saved."""

    ref: str
    parts: tuple[Part, ...]


class Expected(msgspec.Struct, frozen=True, kw_only=True):
    """What the script says of a record or of one anchor."""

    verdict: str
    accepted: tuple[str, ...] = ()
    """Verdicts that are as true."""
    to: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    """The commit that did it; none where it is not committed, or not to be known."""
    dirty: tuple[str, ...] = ()


class Tools(msgspec.Struct, frozen=True):
    """Formatters that were found, as commands."""

    ruff: list[str] | None = None
    prettier: list[str] | None = None
    clang_format: list[str] | None = None
    rustfmt: list[str] | None = None


class Change(msgspec.Struct, kw_only=True):
    """Something that happened to one file; lines are those of the file when the records were saved."""

    path: str
    how: str
    """content, format, added, gone, moved, broken."""
    lines: frozenset[int] = frozenset({_END})
    to: str = ""
    commit: str | None = None
    """None while it is not committed."""


class SymbolMove(msgspec.Struct, kw_only=True):
    to: str
    """Empty where it is gone."""
    commit: str | None = None


class Scene:
    """A clone, its records, and everything that was done to it."""

    def __init__(
        self, root: Path, records: list[Planted], save: Callable[[Path, dict[str, object]], None], tools: Tools
    ):
        self.root = root
        self.records = list(records)
        self.tools = tools
        self.chance = random.Random(11)
        self.changes: list[Change] = []
        self.symbol_moves: dict[str, SymbolMove] = {}
        self.accepted: dict[str, tuple[str, ...]] = {}
        """Other verdicts that are as true, by anchor."""
        self.lost_history = False
        """Whether the commits of the time of saving are gone, so that none can be named."""
        self.side_by_side = False
        """Whether there is no newest commit: any that had a part in it may be named."""
        self._save = save
        self._used: set[str] = set()
        self._texts: dict[str, str] = {}

    # -- doing ------------------------------------------------------------------------------------------------

    def git(self, *arguments: str, check: bool = True) -> str:
        done = subprocess.run(["git", *arguments], cwd=self.root, capture_output=True, text=True, errors="replace")
        if check and done.returncode:
            raise RuntimeError(f"git {' '.join(arguments[:3])}: {done.stderr.strip()[:300]}")
        return done.stdout.strip()

    def commit(self, message: str = "Work") -> str:
        self.git("add", "-A")
        if not self.git("diff", "--cached", "--name-only"):
            raise Skipped("no file here is fit for it")
        self.git("commit", "-q", "--no-verify", "-m", message)
        return self.committed()

    def committed(self) -> str:
        """Everything that was done so far is in the last commit, where it is in none yet."""
        head = self.git("rev-parse", "HEAD")
        for change in (*self.changes, *self.symbol_moves.values()):
            if change.commit is None:
                change.commit = head
        return head

    def save(self, parts: Iterable[tuple[Part, ...]], name: str) -> list[Planted]:
        planted = [Planted(f"gotcha.{name}-{number}", group) for number, group in enumerate(parts)]
        nodes = [
            {
                "id": one.ref,
                "kind": "gotcha",
                "title": one.ref,
                "body": "x.",
                "anchors": [part.anchor for part in one.parts],
            }
            for one in planted
        ]
        self._save(self.root, {"task": "benchmark", "nodes": nodes})
        return planted

    def confirm(self, records: list[Planted]) -> None:
        self._save(self.root, {"task": "benchmark", "confirm": [{"id": one.ref} for one in records]})

    def forget(self) -> None:
        """What was done so far is undone, or confirmed."""
        self.changes.clear()
        self.symbol_moves.clear()

    def text(self, path: str) -> str:
        return (self.root / path).read_bytes().decode()

    def write(self, path: str, text: str) -> None:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode())

    def note(self, path: str, how: str, lines: Iterable[int] = (_END,), to: str = "") -> None:
        self.changes.append(Change(path=path, how=how, lines=frozenset(lines), to=to))

    def some(self, *forms: str, share: float = 0.4, languages: tuple[str, ...] = ()) -> list[Part]:
        """Anchors of records that have one only, no two of which share a file, and whose files are as they were."""
        parts = [one.parts[0] for one in self.records if len(one.parts) == 1 and one.parts[0].form in forms]
        self.chance.shuffle(parts)
        taken: list[Part] = []
        wanted = max(1, round(share * len(parts)))
        for part in parts:
            if languages and (part.definition is None or part.definition.language not in languages):
                continue
            if len(taken) < wanted and not self._used.intersection(part.files):
                self._used.update(part.files)
                taken.append(part)
        return taken

    # -- changing files ---------------------------------------------------------------------------------------

    def append(self, path: str) -> None:
        """Something new at the end of a file: no definition in it is touched."""
        text = self.text(path)
        new = APPENDED.get(Path(path).suffix, "\nOne line more.\n")
        self.write(path, text + ("" if text.endswith("\n") else "\n") + new)
        self.note(path, "content")

    def edit_definition(self, one: Definition, way: int = 0) -> None:
        """Another behaviour inside a definition: a statement more, another value returned, a statement less."""
        lines = self.text(one.path).split("\n")
        ways = [_statement_more, _other_value, _statement_less]
        for attempt in (*ways[way % 3 :], _statement_more):
            done = attempt(list(lines), one)
            if done is None:
                continue
            new, touched = done
            if one.language != "Python" or compiles("\n".join(new)):
                self.write(one.path, "\n".join(new))
                self.note(one.path, "content", touched)
                return
        raise RuntimeError(f"nothing can be changed in {one.anchor}")

    def edit(self, parts: Iterable[Part], outside: bool = False) -> None:
        """Change each anchor's content; outside of it for symbols, where asked for."""
        for number, part in enumerate(parts):
            if part.definition and outside:
                self._edit_outside(part.definition)
            elif part.definition:
                self.edit_definition(part.definition, number)
            else:
                self.append(self.chance.choice([path for path in part.files if is_text(self.root / path)]))

    def _edit_outside(self, one: Definition) -> None:
        others = definitions(one.path, self.text(one.path))
        apart = [other for other in others if other.last < one.first or other.first > one.last]
        if apart and self.chance.random() < 0.7:
            self.edit_definition(self.chance.choice(apart), self.chance.randrange(3))
        else:
            self.append(one.path)

    def comment(self, one: Definition) -> None:
        lines = self.text(one.path).split("\n")
        mark = "#" if one.language in ("Python", "Ruby") else "//"
        text = f"{_indent_at(lines, one)}{mark} A remark that says what the next line does (see = the notes)."
        lines.insert(one.body - 1, text)
        self.write(one.path, "\n".join(lines))
        self.note(one.path, "format", {one.body})

    def move(self, path: str, to: str) -> None:
        (self.root / to).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).rename(self.root / to)
        self.note(path, "moved", to=to)

    def move_folder(self, folder: str, to: str) -> None:
        folder, to = folder.rstrip("/"), to.rstrip("/")
        files = self.git("ls-files", "-z", "--", f"{folder}/").split("\0")
        (self.root / to).parent.mkdir(parents=True, exist_ok=True)
        (self.root / folder).rename(self.root / to)
        for path in filter(None, files):
            self.note(path, "moved", to=to + path[len(folder) :])

    def remove(self, path: str) -> None:
        (self.root / path).unlink()
        self.note(path, "gone")

    # -- knowing ----------------------------------------------------------------------------------------------

    def expected(self, record: Planted) -> Expected:
        if not record.parts:
            return Expected(verdict="unanchored")
        found = [self.expected_of(part) for part in record.parts]
        return min(found, key=lambda one: _GRAVITY.index(one.verdict))

    def expected_of(self, part: Part) -> Expected:
        found = self._expected_of(part)
        accepted = self.accepted.get(part.anchor, ())
        commits = () if self.lost_history else found.commits if self.side_by_side else found.commits[:1]
        return msgspec.structs.replace(found, accepted=accepted or found.accepted, commits=commits)

    def _expected_of(self, part: Part) -> Expected:
        if part.form == "none":
            return Expected(verdict="unverifiable")
        if part.definition:
            return self._of_symbol(part.anchor, part.definition)
        if part.form == "file":
            return self._of_file(part.files[0])
        return self._of_files(part)

    def _on(self, path: str) -> list[Change]:
        return [change for change in self.changes if change.path == path]

    def _of_file(self, path: str) -> Expected:
        changes = self._on(path)
        for how, verdict in (("gone", "orphaned"), ("moved", "moved")):
            done = [change for change in changes if change.how == how]
            if done:
                to = (done[-1].to,) if how == "moved" else ()
                return Expected(verdict=verdict, to=to, commits=_commits(done))
        if changes:
            return Expected(verdict="changed", commits=_commits(changes), dirty=_dirty(changes))
        return Expected(verdict="fresh")

    def _of_symbol(self, anchor: str, one: Definition) -> Expected:
        went = self.symbol_moves.get(anchor)
        if went:
            commits = (went.commit,) if went.commit else ()
            return Expected(
                verdict="moved" if went.to else "orphaned", to=(went.to,) if went.to else (), commits=commits
            )
        of_file = self._of_file(one.path)
        if of_file.verdict in ("orphaned", "moved"):
            return msgspec.structs.replace(of_file, to=tuple(f"{to}#{one.name}" for to in of_file.to))
        if any(change.how == "broken" for change in self._on(one.path)):
            return Expected(verdict="unverifiable")
        inside = [
            change
            for change in self._on(one.path)
            if change.how == "content" and any(one.first <= line <= one.last for line in change.lines)
        ]
        if inside:
            return Expected(verdict="changed", commits=_commits(inside), dirty=_dirty(inside))
        return Expected(verdict="fresh")

    def _of_files(self, part: Part) -> Expected:
        members = set(part.files)
        touched = [
            change
            for change in self.changes
            if change.path in members or matches(part.anchor, change.path) or matches(part.anchor, change.to)
        ]
        if not touched:
            return Expected(verdict="fresh")
        gone = {change.path for change in touched if change.how == "gone"}
        went = {change.path: change.to for change in touched if change.how == "moved"}
        left = members - gone - went.keys()
        arrived = [path for path in went.values() if matches(part.anchor, path)]
        if left or arrived or any(change.how == "added" for change in touched):
            return Expected(verdict="changed", commits=_commits(touched), dirty=_dirty(touched))
        if 2 * len(gone) > len(members):
            return Expected(verdict="orphaned", commits=_commits(touched))
        to = dict.fromkeys(_new_anchor(part, old, new) for old, new in went.items())
        return Expected(verdict="moved", to=tuple(to), commits=_commits(touched))


def _commits(changes: list[Change]) -> tuple[str, ...]:
    """The commits that did something of it, newest first."""
    return tuple(dict.fromkeys(change.commit for change in reversed(changes) if change.commit))


def _dirty(changes: list[Change]) -> tuple[str, ...]:
    open_ones = [change for change in changes if change.commit is None]
    return tuple(sorted({path for change in open_ones for path in (change.path, change.to) if path}))


def matches(anchor: str, path: str) -> bool:
    """The three kinds of patterns that the records use, and folders."""
    if anchor.endswith("/"):
        return path.startswith(anchor)
    folder, mark, pattern = anchor.partition("/**/")
    if mark:
        return path.startswith(f"{folder}/") and fnmatchcase(path.rpartition("/")[2], pattern)
    folder, _, pattern = anchor.rpartition("/")
    return path.rpartition("/")[0] == folder and fnmatchcase(path.rpartition("/")[2], pattern)


def _new_anchor(part: Part, old: str, new: str) -> str:
    """The anchor in its own form that holds a file at its new place."""
    folder = part.anchor.rstrip("/") if part.form == "folder" else re.split(r"/[^/]*\*", part.anchor)[0]
    pattern = part.anchor[len(folder) :]
    rest = old[len(folder) :]
    return new[: -len(rest)] + pattern if new.endswith(rest) else new


def compiles(text: str) -> bool:
    try:
        compile(text, "", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def _indent_at(lines: list[str], one: Definition) -> str:
    for line in lines[one.body - 1 : one.last]:
        if line.strip() and line.strip()[0] not in "}":
            return line[: len(line) - len(line.lstrip())]
    return "    "


def _statement_more(lines: list[str], one: Definition) -> tuple[list[str], set[int]] | None:
    table = _MEMBER if one.kind == "class" else _PROBE
    statement = table.get(one.language, "quireProbe(1);")
    lines.insert(one.body - 1, _indent_at(lines, one) + statement)
    return lines, {one.body}


def _other_value(lines: list[str], one: Definition) -> tuple[list[str], set[int]] | None:
    for at in range(one.last - 1, one.body - 2, -1):
        found = re.fullmatch(r"(\s*return )([\w.]+)(;?)", lines[at])
        if found and one.kind != "class":
            value = f"not {found[2]}" if one.language in ("Python", "Ruby") else f"!{found[2]}"
            lines[at] = found[1] + value + found[3]
            return lines, {at + 1}
    return None


def _statement_less(lines: list[str], one: Definition) -> tuple[list[str], set[int]] | None:
    """A call by itself, between lines that are complete: nothing else depends on it."""
    end = ";" if one.language not in ("Python", "Ruby", "Go") else ""
    for at in range(one.body, one.last - 1):
        before = lines[at - 1].rstrip()
        complete = before.endswith((";", "{", "}")) if end else before.endswith((")", "]", "0"))
        if complete and re.fullmatch(rf"\s+[A-Za-z_$][\w.]*\([\w\s,.$]*\){end}", lines[at]):
            del lines[at]
            return lines, {at + 1}
    return None


def is_text(path: Path) -> bool:
    try:
        data = path.read_bytes()
        data.decode()
    except (OSError, UnicodeDecodeError):
        return False
    return b"\0" not in data and b"\r" not in data and len(data) > 200
