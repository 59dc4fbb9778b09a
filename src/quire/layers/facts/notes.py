"""Quick notes in `.memory/local/notes.md`: a list that a person may edit, too.

A note is a line `- [YYYY-MM-DD HH:MM] text`; further lines of its text stand below it, indented by two spaces, as
Markdown has it. Whatever else the file holds is kept and not counted. What is removed goes to `notes.done.md`, below
a heading that says when and from which places, so that the latest removal can be undone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from quire.files.local_files import LOCAL_BYTES, LocalFile, place_of, read_local, spoiled, write_local
from quire.files.paths import is_text
from quire.guard.hostile_text import without_unseen
from quire.guard.secrets import find_secrets
from quire.layers.facts.layout import FOLDER
from quire.model.errors import InputError, SecretDetected
from quire.model.records import Problem
from quire.model.text import trim

NOTES = "notes.md"
DONE = "notes.done.md"
NOTE_CHARS = 4_000

_AT = re.compile(r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}", re.ASCII)
_HEAD = re.compile(rb"- \[(\d{4}-\d{2}-\d{2} \d{2}:\d{2})\](?: (.*))?", re.DOTALL)
_REMOVED = re.compile(rb"## Removed .{16} \((\d{1,9}(?:, \d{1,9})*)\)", re.DOTALL)
_MARK = b"\xef\xbb\xbf"
_INDENT = b"  "
_AT_THE_END = 10**9


class QuickNote(msgspec.Struct, frozen=True):
    number: int
    at: str
    """Local time, as a person reads it."""
    text: str


class _Block(msgspec.Struct, eq=False):
    """The lines of one note, or one other line."""

    lines: list[bytes]
    at: str = ""

    @property
    def is_note(self) -> bool:
        return bool(self.at)


def read_notes(root: str, problems: list[Problem] | None = None) -> list[QuickNote]:
    """The notes, numbered from 1 in the order of the file. What is wrong with the file is added to `problems`."""
    found = read_local(root, FOLDER, NOTES)
    if problems is not None and found.problem is not None:
        problems.append(found.problem)
    return _numbered(_blocks(found.data))


def add_note(root: str, text: str, at: str, token: str) -> int:
    """Add a note at the end; how many there are now."""
    _check_time(at)
    _check_text(text)
    found = read_local(root, FOLDER, NOTES)
    blocks = [*_blocks(found.data), _block_of(at, text)]
    _write_notes(root, found, blocks, token)
    return sum(block.is_note for block in blocks)


def remove_notes(root: str, numbers: Iterable[int], at: str, token: str) -> list[QuickNote]:
    """Take away the notes with these numbers, all or none; `at` says when."""
    _check_time(at)
    found = read_local(root, FOLDER, NOTES)
    blocks = _blocks(found.data)
    held = [block for block in blocks if block.is_note]
    chosen = set(numbers)
    wanted = sorted(chosen)
    unknown = [number for number in wanted if not 1 <= number <= len(held)]
    if unknown:
        there = {0: "There are no notes", 1: "There is 1 note"}.get(len(held), f"There are {len(held)} notes")
        raise InputError(
            f"{there}; number {unknown[0]} does not exist. Nothing was removed.",
            hint="`memory notes` shows their numbers.",
            details={"field": "numbers", "unknown": unknown[:20], "count": len(held)},
        )
    if not wanted:
        return []
    removed = [note for note in _numbered(blocks) if note.number in chosen]
    gone = [held[number - 1] for number in wanted]
    # First kept, then removed: a process that dies in between leaves a note twice rather than not at all.
    _keep_removed(root, gone, wanted, at, token)
    places = set(map(id, gone))
    _write_notes(root, found, [block for block in blocks if id(block) not in places], token)
    return removed


def clear_notes(root: str, at: str, token: str) -> list[QuickNote]:
    """Take away all notes; `at` says when. Other lines of the file stay."""
    return remove_notes(root, [note.number for note in read_notes(root)], at, token)


def restore_notes(root: str, token: str) -> list[QuickNote]:
    """Bring back the notes of the latest removal, to the places they had, with the numbers they have now."""
    done = read_local(root, FOLDER, DONE)
    kept = _blocks(done.data)
    back, numbers = _take_latest(kept)
    if not back:
        return []
    found = read_local(root, FOLDER, NOTES)
    blocks = _put_back(_blocks(found.data), back, numbers)
    _write_notes(root, found, blocks, token)
    write_local(root, done, _encoded(kept), token)
    places = set(map(id, back))
    held = [block for block in blocks if block.is_note]
    return [note for note, block in zip(_numbered(blocks), held, strict=True) if id(block) in places]


def _put_back(blocks: list[_Block], back: list[_Block], numbers: list[int]) -> list[_Block]:
    """The blocks with the notes that come back, each under its old number as far as there are notes before it."""
    result: list[_Block] = []
    count = placed = 0
    for block in blocks:
        while block.is_note and placed < len(back) and numbers[placed] <= count + 1:
            result.append(back[placed])
            placed += 1
            count += 1
        result.append(block)
        count += block.is_note
    return result + back[placed:]


def _take_latest(blocks: list[_Block]) -> tuple[list[_Block], list[int]]:
    """Take the notes of the last heading out of the blocks, with the places they had; lines of others stay."""
    for index in range(len(blocks) - 1, -1, -1):
        heading = None if blocks[index].is_note else _REMOVED.fullmatch(blocks[index].lines[0].removesuffix(b"\r"))
        if heading is None:
            continue
        rest = blocks[index + 1 :]
        back = [block for block in rest if block.is_note]
        if not back:
            continue
        numbers = [int(number) for number in heading.group(1).split(b", ")]
        if len(numbers) != len(back):
            numbers = [_AT_THE_END] * len(back)  # someone edited the list
        blocks[index:] = [block for block in rest if not block.is_note]
        while blocks and not b"".join(blocks[-1].lines).strip():
            blocks.pop()
        return back, numbers
    return [], []


def _keep_removed(root: str, gone: list[_Block], numbers: list[int], at: str, token: str) -> None:
    done = read_local(root, FOLDER, DONE)
    before = _encoded(_blocks(done.data))
    heading = f"## Removed {at} ({', '.join(map(str, numbers))})".encode()
    data = (before and before + b"\n") + heading + b"\n" + _encoded(gone)
    if len(data) > LOCAL_BYTES:  # a file that could not be read again brings nothing back: the full one goes aside
        done, data = spoiled(done, "it is full"), heading + b"\n" + _encoded(gone)
    write_local(root, done, data, token)


def _blocks(data: bytes | None) -> list[_Block]:
    """The file as notes and other lines. A blank line inside a note counts to it, as in Markdown."""
    lines = (data or b"").removeprefix(_MARK).split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    blocks: list[_Block] = []
    blanks: list[bytes] = []
    for line in lines:
        head = _HEAD.fullmatch(line.removesuffix(b"\r"))
        in_note = bool(blocks) and blocks[-1].is_note
        if head is None and in_note and line.startswith(_INDENT):
            blocks[-1].lines += [*blanks, line]
        elif head is None and in_note and line in (b"", b"\r"):
            blanks.append(line)
            continue
        else:
            blocks += [_Block([blank]) for blank in blanks]
            blocks.append(_Block([line], head.group(1).decode() if head else ""))
        blanks = []
    return blocks + [_Block([blank]) for blank in blanks]


def _numbered(blocks: list[_Block]) -> list[QuickNote]:
    notes = [block for block in blocks if block.is_note]
    return [QuickNote(number, block.at, _text_of(block)) for number, block in enumerate(notes, start=1)]


def _text_of(block: _Block) -> str:
    # An editor may have ended every line with a carriage return; one is taken off, and `_block_of` gave one more.
    bare = [line.removesuffix(b"\r") for line in block.lines]
    head = _HEAD.fullmatch(bare[0])
    first = (head.group(2) if head else None) or b""
    return b"\n".join([first, *(line[len(_INDENT) :] for line in bare[1:])]).decode("utf-8", "replace")


def _block_of(at: str, text: str) -> _Block:
    first, *rest = [line + b"\r" if line.endswith(b"\r") else line for line in text.encode().split(b"\n")]
    return _Block([b"- [" + at.encode() + b"] " + first, *(_INDENT + line for line in rest)], at)


def _encoded(blocks: list[_Block]) -> bytes:
    return b"".join(line + b"\n" for block in blocks for line in block.lines)


def _write_notes(root: str, found: LocalFile, blocks: list[_Block], token: str) -> None:
    data = _encoded(blocks)
    if len(data) > LOCAL_BYTES:
        raise InputError(
            f"`{place_of(FOLDER, NOTES)}` would have {len(data):,} bytes; the limit is {LOCAL_BYTES:,}.",
            hint="Remove notes that are done, then add this one.",
            details={"field": "text", "limit": LOCAL_BYTES},
        )
    write_local(root, found, data, token)


def _check_time(at: str) -> None:
    if not _AT.fullmatch(at):
        raise InputError(
            "The time of a note has the form YYYY-MM-DD HH:MM.", hint="Give the local time.", details={"field": "at"}
        )


def _check_text(text: str) -> None:
    if not any(char.isprintable() for char in trim(text)):
        raise InputError("The note is empty.", hint="Give it a text.", details={"field": "text"})
    if len(text) > NOTE_CHARS:
        raise InputError(
            f"The note is {len(text):,} characters long; the limit is {NOTE_CHARS:,}.",
            hint="Shorten it, or store what it says as facts.",
            details={"field": "text", "limit": NOTE_CHARS},
        )
    if "\0" in text or not is_text(text):
        raise InputError(
            "The note holds a character that is not text.",
            hint="Remove NUL characters and lone surrogates.",
            details={"field": "text"},
        )
    for secret in (*find_secrets(text), *find_secrets(without_unseen(text))):
        if secret.certain:
            raise SecretDetected(
                f"The note looks like it holds a {secret.what} ({secret.rule}): {secret.masked}, line {secret.line}.",
                hint="Nothing was written. Replace the credential with the place where it is kept. If it was real, "
                "treat it as leaked.",
                details={"field": "text", "line": secret.line, "rule": secret.rule},
            )
