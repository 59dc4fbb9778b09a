"""Histories that happen to a repository, each with what becomes of every record known from the script alone.

A history works on a clone in which the records were saved. Every change that it makes is noted: which file, which
lines, in which commit. From these notes, and from nothing that the product says, follows what each record's verdict
must be.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
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
_APPENDED = {
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

__all__ = ["HISTORIES", "Expected", "Part", "Planted", "Scene", "Skipped", "Tools", "is_text"]


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
        new = _APPENDED.get(Path(path).suffix, "\nOne line more.\n")
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
            if one.language != "Python" or _compiles("\n".join(new)):
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
            if change.path in members or _matches(part.anchor, change.path) or _matches(part.anchor, change.to)
        ]
        if not touched:
            return Expected(verdict="fresh")
        gone = {change.path for change in touched if change.how == "gone"}
        went = {change.path: change.to for change in touched if change.how == "moved"}
        left = members - gone - went.keys()
        arrived = [path for path in went.values() if _matches(part.anchor, path)]
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


def _matches(anchor: str, path: str) -> bool:
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


def _compiles(text: str) -> bool:
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


# -- the histories --------------------------------------------------------------------------------------------

HISTORIES: dict[str, tuple[str, Callable[[Scene], None]]] = {}
"""By name: what kind of history it is, and its script."""
_ALL = ("file", "folder", "glob", "symbol")
_BRACES = ("JavaScript", "TypeScript", "Java", "C", "C++", "C#", "PHP", "Go", "Rust", "Ruby")


def history(name: str, kind: str) -> Callable[[Callable[[Scene], None]], Callable[[Scene], None]]:
    def note(script: Callable[[Scene], None]) -> Callable[[Scene], None]:
        HISTORIES[name] = (kind, script)
        return script

    return note


@history("nothing happens", "still")
def _nothing(scene: Scene) -> None:
    pass


@history("edit", "edit")
def _edit(scene: Scene) -> None:
    scene.edit(scene.some(*_ALL))
    scene.commit()


@history("edit elsewhere", "still")
def _edit_elsewhere(scene: Scene) -> None:
    scene.edit(scene.some("symbol", share=0.7), outside=True)
    tracked = scene.git("ls-files", "library", "packages", "polyglot").split("\n")
    mine = {path for one in scene.records for part in one.parts for path in part.files}
    others = [path for path in tracked if path not in mine and is_text(scene.root / path)]
    for path in scene.chance.sample(others, min(40, len(others))):
        scene.append(path)
    scene.commit()


@history("edit, then another one elsewhere in the file", "edit")
def _edit_twice(scene: Scene) -> None:
    parts = scene.some("symbol", "file")
    scene.edit(parts)
    scene.commit()
    for part in parts:
        scene.append(part.files[0])
    scene.commit()


@history("statement added, then taken back by hand", "still")
def _back_by_hand(scene: Scene) -> None:
    parts = scene.some(*_ALL)
    before = {path: scene.text(path) for part in parts for path in part.files if is_text(scene.root / path)}
    scene.edit(parts)
    scene.commit()
    for path, text in before.items():
        scene.write(path, text)
    scene.commit()
    scene.forget()


@history("formatter", "format")
def _formatter(scene: Scene) -> None:
    _reformat(scene, semicolons=True)


@history("formatter, without semicolons", "format")
def _no_semicolons(scene: Scene) -> None:
    if not scene.tools.prettier:
        raise Skipped("prettier could not be had from npm")
    _reformat(scene, semicolons=False)


def _reformat(scene: Scene, *, semicolons: bool) -> None:
    parts = scene.some("symbol", share=1.0)
    by_tool: dict[str, list[str]] = {}
    for part in parts:
        by_tool.setdefault(Path(part.files[0]).suffix, []).append(part.files[0])
    plans: dict[tuple[str, ...], list[str] | None] = {
        (".js", ".mjs", ".cjs", ".ts"): scene.tools.prettier
        and [
            *scene.tools.prettier,
            *("--write", "--log-level=silent", "--no-config", "--print-width=60", "--tab-width=8", "--single-quote"),
            *("--quote-props=consistent", "--arrow-parens=avoid", "--trailing-comma=all"),
            *([] if semicolons else ["--no-semi"]),
        ]
    }
    if semicolons:
        style = "{BasedOnStyle: WebKit, SortIncludes: Never, BreakStringLiterals: false, ColumnLimit: 60}"
        plans[".py",] = scene.tools.ruff and [
            *(*scene.tools.ruff, "format", "--isolated", "--quiet", "--line-length=60"),
            *("--config", 'format.quote-style="single"', "--config", "format.docstring-code-format=true"),
        ]
        plans[".c", ".cc", ".cpp", ".java", ".cs"] = scene.tools.clang_format and [
            *(*scene.tools.clang_format, "-i", f"--style={style}")
        ]
        plans[".rs",] = scene.tools.rustfmt and [
            *scene.tools.rustfmt,
            "--edition=2021",
            "--config",
            "max_width=50,hard_tabs=true",
        ]
    for suffixes, command in plans.items():
        for path in (path for suffix in suffixes for path in by_tool.get(suffix, ())):
            scene._texts[path] = scene.text(path)
        files = [path for suffix in suffixes for path in by_tool.get(suffix, ())]
        if not command or not files:
            continue
        # One at a time where a tool gives up at the first file that it cannot read.
        for group in [files] if suffixes != (".rs",) else [[path] for path in files]:
            subprocess.run([*command, *group], cwd=scene.root, capture_output=True)
        for path in files:
            if scene.text(path) != scene._texts[path]:
                scene.note(path, "format")
    scene.commit()


@history("indentation and blank lines", "format")
def _whitespace(scene: Scene) -> None:
    for part in scene.some("symbol", share=1.0, languages=_BRACES):
        text = scene.text(part.files[0])
        if "`" in text or "<<" in text or '"""' in text or re.search(r"\\$", text, re.MULTILINE):
            continue
        lines = []
        for line in text.split("\n"):
            rest = line.lstrip(" \t")
            lines.append(line[: len(line) - len(rest)] * 2 + rest + ("  " if rest.endswith((";", "{", "}")) else ""))
            if rest.endswith((";", "}")):
                lines.append("")
        scene.write(part.files[0], "\n".join(lines))
        scene.note(part.files[0], "format")
    scene.commit()


@history("comments only", "format")
def _comments(scene: Scene) -> None:
    for part in scene.some("symbol", share=1.0):
        assert part.definition
        scene.comment(part.definition)
    scene.commit()


def _new_name(path: str) -> str:
    folder, _, name = path.rpartition("/")
    stem, dot, suffix = name.partition(".")
    return f"{folder}/{stem}_renamed{dot}{suffix}"


def _rename_all(scene: Scene, parts: list[Part]) -> list[tuple[str, str]]:
    pairs = [(part.files[0], _new_name(part.files[0])) for part in parts]
    for old, new in pairs:
        scene.move(old, new)
    return pairs


def _folder_of(part: Part) -> str:
    return part.anchor if part.form == "folder" else re.split(r"[^/]*\*", part.anchor)[0]


def _move_folders(scene: Scene, parts: list[Part], *, edit: bool = False) -> None:
    """Whole folders to another place, each once; those inside of one that went are left alone."""
    moved: list[str] = []
    for part in parts:
        folder = _folder_of(part)
        if any(folder.startswith(other) or other.startswith(folder) for other in moved):
            continue
        moved.append(folder)
        to = f"relocated/{folder.rstrip('/').replace('/', '-')}/"
        scene.move_folder(folder, to)
        if edit:
            for path in part.files[: max(1, len(part.files) // 4)]:
                new = to + path[len(folder) :]
                if is_text(scene.root / new) and (scene.root / new).stat().st_size > 500:
                    scene.write(new, scene.text(new) + _APPENDED.get(Path(new).suffix, "\nOne line more.\n"))


@history("file renamed", "move")
def _rename(scene: Scene) -> None:
    _rename_all(scene, scene.some("file", "symbol"))
    scene.commit()


@history("file renamed and edited in one commit", "move")
def _rename_edit(scene: Scene) -> None:
    parts = [part for part in scene.some("file", "symbol") if (scene.root / part.files[0]).stat().st_size > 500]
    for number, part in enumerate(parts):
        text = scene.text(part.files[0])
        if part.definition and number % 2:
            scene.edit([part])
        else:
            scene.append(part.files[0])
        assert scene.text(part.files[0]) != text
        scene.move(part.files[0], _new_name(part.files[0]))
    scene.commit()


@history("file renamed, edited in a later commit", "move")
def _rename_then_edit(scene: Scene) -> None:
    pairs = _rename_all(scene, scene.some("file", "symbol"))
    scene.commit("Rename")
    for _, new in pairs:
        text = scene.text(new)
        scene.write(new, text + _APPENDED.get(Path(new).suffix, "\nOne line more.\n"))
        scene.note(new, "content")
    scene.commit("Edit")


@history("file renamed twice", "move")
def _rename_twice(scene: Scene) -> None:
    parts = scene.some("file", "symbol")
    pairs = _rename_all(scene, parts)
    scene.commit("Once")
    for old, new in pairs:
        last = f"elsewhere/{new.replace('/', '-')}"
        (scene.root / "elsewhere").mkdir(exist_ok=True)
        (scene.root / new).rename(scene.root / last)
        scene.note(old, "moved", to=last)
    scene.commit("Twice")


@history("file moved to another folder", "move")
def _move_file(scene: Scene) -> None:
    for number, part in enumerate(scene.some("file", "symbol")):
        path = part.files[0]
        scene.move(path, f"relocated/part{number % 7}-{number}/{path.rpartition('/')[2]}")
    scene.commit()


@history("file renamed, another one put in its place", "move")
def _name_reused(scene: Scene) -> None:
    for part in scene.some("file", share=0.3):
        path = part.files[0]
        scene.move(path, _new_name(path))
        scene.write(path, "Something else altogether stands here now.\n" * 8)
        scene.accepted[part.anchor] = ("changed",)
    scene.commit()


@history("file copied", "still")
def _copied(scene: Scene) -> None:
    for number, part in enumerate(scene.some("file", "symbol")):
        scene.write(f"copies/{number}-{part.files[0].rpartition('/')[2]}", scene.text(part.files[0]))
    scene.commit()


@history("folder moved", "move")
def _folder(scene: Scene) -> None:
    _move_folders(scene, scene.some("folder", "glob", share=0.7))
    scene.commit()


@history("folder moved and edited in one commit", "move")
def _folder_edit(scene: Scene) -> None:
    _move_folders(scene, scene.some("folder", "glob", share=0.7), edit=True)
    scene.commit()


@history("folder split into two", "move")
def _folder_split(scene: Scene) -> None:
    for part in scene.some("folder", share=0.7):
        folder = part.anchor.rstrip("/")
        for number, path in enumerate(part.files):
            scene.move(path, f"{folder}-{'ab'[number % 2]}{path[len(folder) :]}")
    scene.commit()


@history("file split into two", "move")
def _file_split(scene: Scene) -> None:
    """The larger part holds two thirds: that is where the file went. A symbol is where its lines are."""
    parts = [part for part in scene.some("file", "symbol", share=0.8) if part.files[0].endswith(".py")]
    for part in parts:
        path = part.files[0]
        lines = scene.text(path).split("\n")
        tops = [one for one in definitions(path, scene.text(path)) if one.top and one.first > 2]
        if len(lines) < 30 or not tops:
            continue
        cut = min(tops, key=lambda one: abs(one.first - 2 * len(lines) / 3)).first - 1
        if not 0.55 * len(lines) < cut < 0.8 * len(lines):
            continue
        large, small = _new_name(path).replace("_renamed", "_core"), _new_name(path).replace("_renamed", "_extra")
        scene.write(large, "\n".join(lines[:cut]) + "\n")
        scene.write(small, "\n".join(lines[cut:]))
        scene.remove(path)
        scene.changes[-1] = Change(path=path, how="moved", to=large)
        for record in scene.records:
            for other in record.parts:
                if other.definition and other.definition.path == path:
                    to = large if other.definition.last <= cut else small
                    scene.symbol_moves[other.anchor] = SymbolMove(to=f"{to}#{other.definition.name}")
    scene.commit()


def _renameable(scene: Scene, one: Definition) -> bool:
    """Whether the name stands only where it is a name, and in no comment or string."""
    lines = scene.text(one.path).split("\n")
    naming = [line for line in lines if re.search(rf"\b{one.last_name}\b", line)]
    return not any(re.search(r"['\"`#*]|//", line) for line in naming)


def _rename_symbols(scene: Scene, parts: list[Part]) -> None:
    for part in parts:
        one = part.definition
        assert one
        if not _renameable(scene, one):
            continue
        new = f"{one.last_name}Renamed"
        lines = scene.text(one.path).split("\n")
        named = [at for at, line in enumerate(lines, 1) if re.search(rf"\b{one.last_name}\b", line)]
        text = re.sub(rf"\b{one.last_name}\b", new, "\n".join(lines))
        scene.write(one.path, text)
        scene.note(one.path, "content", named)
        scene.symbol_moves[part.anchor] = SymbolMove(to=f"{one.path}#{one.name[: -len(one.last_name)]}{new}")


@history("symbol renamed", "move")
def _symbol_renamed(scene: Scene) -> None:
    _rename_symbols(scene, scene.some("symbol", share=0.8))
    scene.commit()


@history("symbol renamed, not committed", "move")
def _symbol_renamed_dirty(scene: Scene) -> None:
    _rename_symbols(scene, scene.some("symbol", share=0.3))


@history("symbol moved to another file", "move")
def _symbol_moved(scene: Scene) -> None:
    _move_symbols(scene)
    scene.commit()


@history("symbol moved to a new file", "move")
def _symbol_moved_new(scene: Scene) -> None:
    _move_symbols(scene, new=True)
    scene.commit()


def _move_symbols(scene: Scene, new: bool = False) -> None:
    mine = {path for one in scene.records for part in one.parts for path in part.files}
    tracked = scene.git("ls-files", "library", "packages", "polyglot").split("\n")
    for number, part in enumerate(scene.some("symbol", share=0.7)):
        one = part.definition
        assert one
        if not one.top or one.language in ("Java", "C#", "PHP"):
            continue
        folder = one.path.rpartition("/")[0]
        suffix = Path(one.path).suffix
        beside = [path for path in tracked if path.endswith(suffix) and path not in mine and path != one.path]
        target = f"{folder}/carved{number}{suffix}" if new else scene.chance.choice(beside) if beside else ""
        if not target or (not new and not is_text(scene.root / target)):
            continue
        lines = scene.text(one.path).split("\n")
        taken = lines[one.first - 1 : one.last]
        before = (
            ("package carved\n\n" if one.language == "Go" else "")
            if new
            else scene.text(target).rstrip("\n") + "\n\n\n"
        )
        if re.search(rf"\b{one.last_name}\b", before) or not _parses_apart(one, taken):
            continue
        scene.write(target, before + "\n".join(taken) + "\n")
        scene.write(one.path, "\n".join(lines[: one.first - 1] + lines[one.last :]))
        scene.note(one.path, "content", range(one.first, one.last + 1))
        scene.note(target, "added" if new else "content")
        scene.symbol_moves[part.anchor] = SymbolMove(to=f"{target}#{one.name}")
        mine.add(target)


def _parses_apart(one: Definition, taken: list[str]) -> bool:
    return one.language != "Python" or _compiles("\n".join(taken))


@history("deleted", "loss")
def _deleted(scene: Scene) -> None:
    for part in scene.some("file", "symbol", share=0.3):
        scene.remove(part.files[0])
    for part in scene.some("folder", "glob", share=0.3):
        for path in part.files:
            scene.remove(path)
    for part in scene.some("symbol", share=0.3):
        one = part.definition
        assert one
        lines = scene.text(one.path).split("\n")
        rest = lines[: one.first - 1] + lines[one.last :]
        if one.language == "Python" and not _compiles("\n".join(rest)):
            continue
        scene.write(one.path, "\n".join(rest))
        scene.note(one.path, "content", range(one.first, one.last + 1))
        scene.symbol_moves[part.anchor] = SymbolMove(to="")
    scene.commit()


@history("a file more or less in a folder", "edit")
def _folder_members(scene: Scene) -> None:
    for number, part in enumerate(scene.some("folder", "glob", share=0.8)):
        if number % 2 and len(part.files) > 1:
            scene.remove(part.files[0])
        else:
            path = f"{part.files[0].rpartition('/')[0]}/newcomer{number}{Path(part.files[0]).suffix}"
            if part.form == "folder" or _matches(part.anchor, path):
                scene.write(path, f"newcomer {number}\n" * 6)
                scene.note(path, "added")
    scene.commit()


@history("revert", "still")
def _revert(scene: Scene) -> None:
    scene.edit(scene.some(*_ALL))
    scene.commit()
    scene.git("revert", "--no-edit", "HEAD")
    scene.forget()


@history("confirmed after an edit", "still")
def _confirmed(scene: Scene) -> None:
    parts = scene.some(*_ALL, share=0.3)
    scene.edit(parts)
    scene.commit()
    touched = {change.path for change in scene.changes}
    scene.confirm([one for one in scene.records if any(touched.intersection(part.files) for part in one.parts)])
    scene.commit("Confirm")
    scene.forget()


# The records were saved at the commit before the last one; the one before that is the first.


@history("squash", "rewritten")
def _squash(scene: Scene) -> None:
    scene.git("reset", "-q", "--soft", "HEAD~2")
    scene.git("commit", "-q", "-m", "Squashed")
    scene.edit(scene.some(*_ALL, share=0.3))
    scene.commit()


@history("squash, then garbage collected", "rewritten")
def _squash_gone(scene: Scene) -> None:
    _squash(scene)
    _collect(scene)


def _rebase(scene: Scene) -> None:
    branch = scene.git("rev-parse", "--abbrev-ref", "HEAD")
    scene.git("checkout", "-q", "-b", "upstream", "HEAD~2")
    # What the commit of the feature itself changed would conflict.
    scene._used.add("library/feature.py")
    scene.edit(scene.some(*_ALL, share=0.3))
    scene.commit("Upstream")
    scene.git("checkout", "-q", branch)
    scene.git("rebase", "-q", "upstream")


@history("rebase", "rewritten")
def _rebased(scene: Scene) -> None:
    _rebase(scene)


@history("rebase, then garbage collected", "rewritten")
def _rebased_gone(scene: Scene) -> None:
    _rebase(scene)
    scene.git("branch", "-q", "-D", "upstream")
    _collect(scene)


def _collect(scene: Scene) -> None:
    for name in ("origin/HEAD", *scene.git("for-each-ref", "--format=%(refname)", "refs/remotes").split("\n")):
        scene.git("update-ref", "-d", name, check=False)
    scene.git("remote", "remove", "origin", check=False)
    (scene.root / ".git" / "ORIG_HEAD").unlink(missing_ok=True)
    scene.git("reflog", "expire", "--expire=now", "--all")
    scene.git("-c", "gc.packrefs=false", "repack", "-q", "-a", "-d", "--depth=1", "--window=0")
    scene.git("prune", "--expire=now")
    scene.lost_history = True


@history("amend", "rewritten")
def _amend(scene: Scene) -> None:
    scene.edit(scene.some(*_ALL, share=0.3))
    scene.git("add", "-A")
    scene.git("commit", "-q", "--amend", "--no-edit")
    scene.committed()


@history("merge: renamed on one side, edited on the other", "rewritten")
def _merge(scene: Scene) -> None:
    branch = scene.git("rev-parse", "--abbrev-ref", "HEAD")
    candidates = scene.some("file", "symbol", share=0.6)
    large = [part for part in candidates if (scene.root / part.files[0]).stat().st_size > 500]
    both, only = large[::2], large[1::2]
    scene.git("checkout", "-q", "-b", "side")
    scene.edit([*both, *only])
    scene.commit("Edits")
    scene.git("checkout", "-q", branch)
    _rename_all(scene, both)
    scene.commit("Renames")
    scene.git("merge", "-q", "--no-edit", "side")
    scene.side_by_side = True
    scene.changes += [
        msgspec.structs.replace(change, commit=scene.git("rev-parse", "HEAD")) for change in scene.changes
    ]


# -- not committed ---------------------------------------------------------------------------------------------


@history("edit, not committed", "dirty")
def _dirty_edit(scene: Scene) -> None:
    scene.edit(scene.some(*_ALL))


@history("edit, staged only", "dirty")
def _staged_edit(scene: Scene) -> None:
    scene.edit(scene.some(*_ALL))
    scene.git("add", "-A")


@history("edit staged, then put back in the working tree", "still")
def _staged_and_back(scene: Scene) -> None:
    parts = scene.some("file", "symbol")
    before = {part.files[0]: scene.text(part.files[0]) for part in parts}
    scene.edit(parts)
    scene.git("add", "-A")
    for path, text in before.items():
        scene.write(path, text)
    scene.forget()


@history("renamed, not committed", "dirty")
def _dirty_rename(scene: Scene) -> None:
    _rename_all(scene, scene.some("file", "symbol", share=0.2))


@history("renamed, staged only", "dirty")
def _staged_rename(scene: Scene) -> None:
    _rename_all(scene, scene.some("file", "symbol"))
    scene.git("add", "-A")


@history("folder moved, not committed", "dirty")
def _dirty_folder(scene: Scene) -> None:
    moved: list[str] = []
    for part in scene.some("folder", share=0.4):
        if any(part.anchor.startswith(other) or other.startswith(part.anchor) for other in moved):
            continue
        moved.append(part.anchor)
        to = f"relocated/{part.anchor.rstrip('/').replace('/', '-')}/"
        for path in scene.git("ls-files", "--", part.anchor).split("\n"):
            scene.move(path, to + path[len(part.anchor) :])


@history("deleted, not committed", "dirty")
def _dirty_delete(scene: Scene) -> None:
    for part in scene.some("file", "symbol", share=0.3):
        scene.remove(part.files[0])


def _saved_dirty(scene: Scene) -> list[str]:
    parts = scene.some(*_ALL, share=0.2)
    scene.edit(parts)
    touched = [change.path for change in scene.changes]
    again = []
    for part in parts:
        if part.definition:
            found = definitions(part.files[0], scene.text(part.files[0]))
            one = next((one for one in found if one.name == part.definition.name), None)
            if one is None:
                continue
            again.append((msgspec.structs.replace(part, definition=one),))
        else:
            again.append((part,))
    scene.records += scene.save(again, "dirty")
    return touched


@history("saved while not committed, then committed", "dirty")
def _saved_then_committed(scene: Scene) -> None:
    _saved_dirty(scene)
    scene.records = [one for one in scene.records if one.ref.startswith("gotcha.dirty")]
    scene.commit()
    scene.forget()


@history("saved while not committed, then thrown away", "dirty")
def _saved_then_discarded(scene: Scene) -> None:
    touched = _saved_dirty(scene)
    scene.git("checkout", "-q", "--", *touched)
    # To the records that were there before nothing happened; to those saved in between, it did.
    scene.records = [one for one in scene.records if one.ref.startswith("gotcha.dirty")]
    scene.lost_history = True
    for change in scene.changes:
        change.commit = "thrown away"


def _plant_untracked(scene: Scene) -> list[Planted]:
    groups = []
    for number in range(12):
        path = f"polyglot/fresh{number}/new{number}.py"
        text = f"def begin{number}(a):\n    b = a + {number}\n    c = b * 2\n    d = c - 1\n    e = d\n    return e\n"
        scene.write(path, f'"""New {number}."""\n\n\n{text}\n\ndef other{number}(a):\n    return a\n')
        one = next(one for one in definitions(path, scene.text(path)) if one.name == f"begin{number}")
        part = Part(anchor=path, form="file", files=(path,))
        symbol = Part(anchor=one.anchor, form="symbol", files=(path,), definition=one)
        folder = Part(anchor=f"polyglot/fresh{number}/", form="folder", files=(path,))
        groups += [(part,), (symbol,), (folder,)]
    planted = scene.save(groups, "untracked")
    scene.records += planted
    return planted


@history("untracked when saved, then committed", "dirty")
def _untracked_committed(scene: Scene) -> None:
    _plant_untracked(scene)
    scene.commit()


@history("untracked when saved, then edited", "dirty")
def _untracked_edited(scene: Scene) -> None:
    for one in _plant_untracked(scene):
        if one.parts[0].definition:
            scene.edit([one.parts[0]])


@history("untracked when saved, then deleted", "dirty")
def _untracked_deleted(scene: Scene) -> None:
    for one in _plant_untracked(scene):
        if one.parts[0].form == "file":
            scene.remove(one.parts[0].files[0])


@history("untracked when saved, then renamed", "dirty")
def _untracked_moved(scene: Scene) -> None:
    for one in _plant_untracked(scene):
        if one.parts[0].form == "file":
            scene.move(one.parts[0].files[0], f"polyglot/later/{one.parts[0].files[0].rpartition('/')[2]}")


@history("an untracked and an ignored file in a folder", "dirty")
def _strangers(scene: Scene) -> None:
    for number, part in enumerate(scene.some("folder", share=0.8)):
        if number % 2:
            scene.write(f"{part.anchor}ignored/trace.txt", "left by a tool\n")
            scene.write(f"{part.anchor}trace.pyc", "left by a tool\n")
        else:
            scene.write(f"{part.anchor}notes-{number}.txt", "new here\n" * 9)
            scene.note(f"{part.anchor}notes-{number}.txt", "added")


# -- other checkouts -------------------------------------------------------------------------------------------


@history("times touched", "checkout")
def _touch(scene: Scene) -> None:
    for path in scene.git("ls-files").split("\n"):
        if not path.startswith('"'):
            os.utime(scene.root / path, (1_500_000_000, 1_500_000_000))


@history("modes changed", "checkout")
def _chmod(scene: Scene) -> None:
    for part in scene.some(*_ALL):
        for path in part.files:
            (scene.root / path).chmod(0o755)


@history("edit of the same size, time put back", "checkout")
def _same_size(scene: Scene) -> None:
    for part in scene.some("file", share=0.6):
        path = scene.root / part.files[0]
        found = path.stat()
        data = path.read_bytes()
        at = len(data) // 2
        path.write_bytes(data[:at] + (b"Z" if data[at : at + 1] != b"Z" else b"Y") + data[at + 1 :])
        os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
        assert path.stat().st_size == found.st_size
        scene.note(part.files[0], "broken")
        for one in scene.records:
            for other in one.parts:
                if other.definition and other.definition.path == part.files[0]:
                    scene.accepted[other.anchor] = ("fresh", "changed", "orphaned", "moved")


@history("copied with cp -r", "checkout")
def _cp(scene: Scene) -> None:
    copy = scene.root.with_name(f"{scene.root.name}-copy")
    subprocess.run(["cp", "-r", str(scene.root), str(copy)], check=True)
    scene.root = copy


@history("copied with cp -r, then edited", "checkout")
def _cp_edit(scene: Scene) -> None:
    _cp(scene)
    scene.edit(scene.some(*_ALL, share=0.3))


def _clone(scene: Scene, *options: str) -> None:
    clone = scene.root.with_name(f"{scene.root.name}-clone")
    subprocess.run(
        ["git", "clone", "-q", *options, f"file://{scene.root}", str(clone)], check=True, capture_output=True
    )
    scene.root = clone


@history("shallow clone", "checkout")
def _shallow(scene: Scene) -> None:
    _clone(scene, "--depth=1")


@history("shallow clone of an edit", "checkout")
def _shallow_edit(scene: Scene) -> None:
    scene.edit(scene.some(*_ALL))
    scene.commit()
    _clone(scene, "--depth=1")
    scene.lost_history = True


@history("shallow clone of renames", "checkout")
def _shallow_rename(scene: Scene) -> None:
    _rename_all(scene, scene.some("file", "symbol", share=0.3))
    _move_folders(scene, scene.some("folder", share=0.3))
    scene.commit()
    _clone(scene, "--depth=1")
    scene.lost_history = True


@history("checked out with CRLF", "checkout")
def _crlf(scene: Scene) -> None:
    _clone(scene, "-c", "core.autocrlf=true")
    assert b"\r\n" in (scene.root / ".gitignore").read_bytes()


@history("checked out with CRLF, then edited", "checkout")
def _crlf_edit(scene: Scene) -> None:
    parts = scene.some("symbol", share=0.3)
    _clone(scene, "-c", "core.autocrlf=true")
    for number, part in enumerate(parts):
        assert part.definition
        path = scene.root / part.files[0]
        path.write_bytes(path.read_bytes().replace(b"\r\n", b"\n"))
        scene.edit_definition(part.definition, number)
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))


@history("sparse checkout", "checkout")
def _sparse(scene: Scene) -> None:
    scene.git("sparse-checkout", "set", "--cone", "polyglot", "headers", ".memory")


@history("linked worktree", "checkout")
def _worktree(scene: Scene) -> None:
    other = scene.root.with_name(f"{scene.root.name}-worktree")
    scene.git("worktree", "add", "-q", "-b", "beside", str(other))
    scene.root = other
    scene.edit(scene.some(*_ALL, share=0.2))
    scene.commit()


@history("syntax error", "edit")
def _syntax_error(scene: Scene) -> None:
    for part in scene.some("symbol", share=0.5, languages=("Python",)):
        lines = scene.text(part.files[0]).split("\n")
        lines.append("def broken(:")
        scene.write(part.files[0], "\n".join(lines))
        scene.note(part.files[0], "broken")
    scene.commit()


def ruff() -> list[str] | None:
    beside = Path(sys.executable).with_name("ruff")
    found = str(beside) if beside.exists() else shutil.which("ruff")
    return [found] if found else None
