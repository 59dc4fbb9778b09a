"""Write changes to the file of facts, all or nothing; append where possible.

The caller holds the memory's lock.
"""

from __future__ import annotations

import os
import re
from fnmatch import fnmatchcase
from typing import Any

import msgspec

from quire.files.digests import sha256
from quire.files.durable_write import write_file
from quire.files.fragments import fragments_of, new_fragment
from quire.files.marked_sections import newline_of
from quire.files.paths import read_bytes, read_from, read_if_there
from quire.files.transaction import Append, FileUpdate, apply_changes
from quire.files.world import World
from quire.layers.facts.drafts import FactsDraft
from quire.layers.facts.layout import FILE, FILE_BYTES, FOLDER, LINE_BYTES, PATH
from quire.layers.facts.lines import FactLines, encode_record, read_lines, time_and_line
from quire.layers.facts.source import read_fragments, stamp_now, with_fragments
from quire.layers.facts.types import Stored, name_of
from quire.layers.facts.winners import settle
from quire.layers.fragment_records import removals
from quire.model.errors import InputError, InvalidStore

ATTRIBUTES = ".gitattributes"
_ATTRIBUTE = f"{FILE} merge=union text eol=lf"
_COMMENT = "# Facts are lines of their own: a merge keeps those of both sides, and reading settles what they say."
_PLAIN = re.compile(r"[A-Za-z0-9_.:-]+\Z")
_FEW = 50
"""So many ids are looked for one by one; for more, every line is read."""


class FactsWritten(msgspec.Struct, frozen=True):
    """What the file looked like before and after."""

    before: str
    after: str
    is_plain: bool = True
    """Whether nothing but the draft says what now holds: no older lines about the same things were left."""


def read_all(root: str) -> bytes:
    """The lines of the file and of its fragments."""
    return with_fragments(read_file(root), read_fragments(root))


def read_file(root: str) -> bytes:
    """The bytes of the file; none where there is no file."""
    try:
        return read_bytes(_path(root), FILE_BYTES)
    except FileNotFoundError:
        return b""
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InvalidStore(
            f"`{FOLDER}/{FILE}` cannot be read: {reason}.", hint="Replace it with a regular file. Nothing was changed."
        ) from error


def commit(root: str, world: World, draft: FactsDraft, *, apart: bool = False) -> FactsWritten:
    """Write a draft. An ordinary new line is appended; only a change of what is there writes the file anew.

    With `apart`, all lines go into a new fragment: of two lines about one thing the newer holds.
    """
    before = stamp_now(root)
    new_lines = [encode_record(record) for record in (*draft.replaced.values(), *draft.added)]
    if any(len(line) > LINE_BYTES for line in new_lines):
        raise InputError(
            f"The fact would have more than {LINE_BYTES:,} bytes.",
            hint="Supersede the fact by a shorter text.",
        )
    added = b"".join(encode_record(record) + b"\n" for record in draft.added)
    if apart:
        fragment = FileUpdate(path=new_fragment(FILE, world), data=b"\n".join([*new_lines, b""]), planned=None)
        apply_changes(_folder(root), [fragment], [], world.token())
        return FactsWritten(before, stamp_now(root), is_plain=not draft.replaced)
    if draft.replaced:
        data = read_file(root)
        new, is_plain = _with_changes(data, draft.replaced)
        _write(root, world, new + added, data)
        after = stamp_now(root)
        ours = read_file(root) == new + added
    else:
        is_plain = True
        size, inode = _size(root)
        _refuse_beyond(size + len(added))
        log = Append(path=FILE, data=added, size=size)
        apply_changes(_folder(root), [], [log], world.token())
        after = stamp_now(root)
        ours = _is_appended(root, added, size, inode)
    # Another program may have put its own file there in between: then nobody knows what it holds.
    return FactsWritten(before, after if ours and stamp_now(root) == after else "", is_plain)


def _size(root: str) -> tuple[int, int]:
    try:
        found = os.stat(_path(root), follow_symlinks=False)
    except FileNotFoundError:
        return 0, 0
    return found.st_size, found.st_ino


def _is_appended(root: str, added: bytes, size: int, inode: int) -> bool:
    """Whether the file is the one that was there, with these lines at its end and nothing else new."""
    now, found = _size(root)
    if inode and found != inode:
        return False
    # A last line without its end gets one.
    return now - size - len(added) in (0, 1) and read_from(_path(root), now - len(added)) == added


def fold_facts(root: str, world: World) -> list[str]:
    """Take the fragments into the file; what was written. The caller holds the lock.

    A line in a fragment that changes a fact takes the place of the line that it changes; the others are appended. The
    order in which branches were merged makes no difference, and what already exists is not written again.
    """
    fragments = fragments_of(root, PATH)
    if not fragments:
        return []
    data = read_file(root)
    folded = folded_file(data, read_fragments(root))
    _refuse_beyond(len(folded))
    digest = sha256(data) if os.path.lexists(_path(root)) else None
    changes = [FileUpdate(path=FILE, data=folded, planned=digest)] if folded != data or digest is None else []
    changes += removals(root, fragments, FILE_BYTES)
    apply_changes(_folder(root), changes, [], world.token(), whole=True)
    return sorted(f"{FOLDER}/{change.path}" for change in changes)


def folded_file(data: bytes, fragments: bytes) -> bytes:
    """The file with the lines of fragments in it."""
    known = set(data.split(b"\n"))
    new = {raw: None for raw in fragments.split(b"\n") if raw.strip() and raw not in known}
    both = with_fragments(data, b"".join(raw + b"\n" for raw in sorted(new, key=time_and_line)))
    touched = read_lines(b"\n".join(new))
    holding = read_lines(both)
    changed: dict[tuple[type[Stored], str], Stored] = {}
    for now, held in (
        (touched.facts, settle(holding.facts)[0]),
        (touched.connections, settle(holding.connections)[0]),
        (touched.episodes, settle(holding.episodes)[0]),
    ):
        changed |= {(type(record), record.id): held[record.id] for record in now}
    return _with_changes(both, changed)[0] if changed else both


def replace_file(root: str, world: World, data: bytes, planned: bytes) -> FactsWritten:
    """The whole file, if it still is what it was when this was planned."""
    before = stamp_now(root)
    _write(root, world, data, planned)
    return FactsWritten(before, stamp_now(root))


def create_file(root: str, world: World, *, dry_run: bool = False) -> list[str]:
    """An empty file where there is none; what was written, from the project's root."""
    if not dry_run:
        ensure_attribute(root, world)
    if os.path.lexists(_path(root)):
        return []
    if not dry_run:
        write_file(_path(root), b"", world.token())
    return [f"{FOLDER}/{FILE}"]


def ensure_attribute(root: str, world: World) -> bool:
    """Have git merge the file line by line; what else is said there stays. True if it had to be written."""
    path = os.path.join(_folder(root), ATTRIBUTES)
    data = read_if_there(path) or b""
    after = with_attribute(data)
    if after == data:
        return False
    write_file(path, after, world.token())
    return True


def with_attribute(data: bytes) -> bytes:
    """The attributes with a line that has git merge the file line by line; as they are where there is one."""
    if _merges_by_line(data):
        return data
    newline = newline_of(data)
    gap = b"" if not data or data.endswith(b"\n") else newline
    return data + gap + newline.join(line.encode() for line in (_COMMENT, _ATTRIBUTE)) + newline


def _merges_by_line(data: bytes) -> bool:
    """Whether git would take the lines of both sides. Of several lines about a file it takes the last."""
    found = ""
    for line in data.decode("utf-8", "replace").splitlines():
        pattern, *attributes = line.split() or [""]
        if pattern.removeprefix("/") == FILE or ("*" in pattern and fnmatchcase(FILE, pattern.rpartition("/")[2])):
            for attribute in attributes:
                if attribute.lstrip("-!").partition("=")[0] in ("merge", "binary"):
                    found = attribute
    return found == "merge=union"


def _write(root: str, world: World, data: bytes, planned: bytes) -> None:
    _refuse_beyond(len(data))
    digest = sha256(planned) if os.path.lexists(_path(root)) else None
    change = FileUpdate(path=FILE, data=data, planned=digest)
    apply_changes(_folder(root), [change], [], world.token())


def _with_changes(data: bytes, changed: dict[tuple[type[Stored], str], Stored]) -> tuple[bytes, bool]:
    """The file with other lines in the place of those that are about the same things; and whether these were all.

    A line that says something else of one of them is history and stays; so does everything that is no record. Every
    other line keeps the end that it has.
    """
    found = _records_of(_lines_about(data, {name for _, name in changed}))
    edits: dict[int, bytes] = {}
    is_plain = True
    for (kind, name), record in changed.items():
        (first, *others), has_history = _current_lines(found.get((kind, name), {}), name)
        is_plain = is_plain and not has_history
        edits[first] = encode_record(record) + b"\n"
        edits |= dict.fromkeys(others, b"")
    pieces = []
    at = 0
    for start in sorted(edits):
        pieces += [data[at:start], edits[start]]
        at = _end_of_line(data, start)
    whole = b"".join([*pieces, data[at:]])
    return whole if whole.endswith(b"\n") else whole + b"\n", is_plain


def _end_of_line(data: bytes, start: int) -> int:
    end = data.find(b"\n", start)
    return len(data) if end < 0 else end + 1


def _lines_about(data: bytes, names: set[str]) -> dict[int, FactLines]:
    """The lines that may be about these things, by where they begin: few, where ids can be looked for as they are."""
    starts: set[int] = set()
    if len(names) <= _FEW and all(map(_PLAIN.match, names)):
        # A letter may also be written as a number; such a line is read, whatever it is about.
        for wanted in (rb"\u00", *(name.encode() for name in sorted(names))):
            at = data.find(wanted)
            while at >= 0:
                starts.add(data.rfind(b"\n", 0, at) + 1)
                at = data.find(wanted, _end_of_line(data, at))
    else:
        at = 0
        while at < len(data):
            starts.add(at)
            at = _end_of_line(data, at)
    return {start: read_lines(data[start : _end_of_line(data, start)]) for start in starts}


def _records_of(found: dict[int, FactLines]) -> dict[tuple[type[Stored], str], dict[int, Stored]]:
    """What these lines are about, and where which of them says so."""
    placed: dict[tuple[type[Stored], str], dict[int, Stored]] = {}
    for start, reading in found.items():
        for record in reading.records:
            placed.setdefault((type(record), name_of(record)), {})[start] = record
    return placed


def _current_lines(placed: dict[int, Stored], name: str) -> tuple[list[int], bool]:
    """Where the lines begin that the winner stands for, in the order of the file; and whether there are others."""
    history = {encode_record(loser) for loser in _losers(list(placed.values()), name)}
    current = sorted(start for start, record in placed.items() if encode_record(record) not in history)
    if not current:
        raise InputError(f"`{name}` is no longer in the file.", hint="Run the command again.", details={"id": name})
    return current, bool(history)


def _losers(records: list[Any], name: str) -> list[Any]:
    _, conflicts = settle(records)
    return list(conflicts[name].losers) if name in conflicts else []


def _refuse_beyond(size: int) -> None:
    if size > FILE_BYTES:
        raise InputError(
            f"`{FOLDER}/{FILE}` would have {size:,} bytes; the limit is {FILE_BYTES:,}.",
            hint="Archive stale facts, commit, and start a new file with the live ones.",
        )


def _folder(root: str) -> str:
    return os.path.join(root, FOLDER)


def _path(root: str) -> str:
    return os.path.join(root, FOLDER, FILE)
