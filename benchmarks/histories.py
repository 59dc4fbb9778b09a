"""Histories that happen to a repository, each with what becomes of every record known from the script alone."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from benchmarks.ground import Definition, definitions
from benchmarks.scenes import (
    APPENDED,
    Change,
    Part,
    Planted,
    Scene,
    Skipped,
    SymbolMove,
    compiles,
    is_text,
    matches,
)

__all__ = ["HISTORIES", "ruff"]

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
                    scene.write(new, scene.text(new) + APPENDED.get(Path(new).suffix, "\nOne line more.\n"))


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
        scene.write(new, text + APPENDED.get(Path(new).suffix, "\nOne line more.\n"))
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
    return one.language != "Python" or compiles("\n".join(taken))


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
        if one.language == "Python" and not compiles("\n".join(rest)):
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
            if part.form == "folder" or matches(part.anchor, path):
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
