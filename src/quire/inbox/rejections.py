"""Refuse rejected values wherever they are written again, until the rejection is lifted.

Each value has a file of its own in `.memory/rejected/`, named by its digest, and goes with the project: a value that
one person rejected is refused for all. The same value is known in other case, with other spaces and punctuation, and
as some sentences or lines of a longer text. In other words it is not: nothing here guesses what a text means.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from quire.files.durable_write import ensure_folder, write_file
from quire.files.paths import inside, read_inside, storage_failed
from quire.inbox.layout import FOLDER, REJECTED
from quire.inbox.proposals import TEXT_CHARS, by_beginning, proposal_id, value_digest
from quire.model.errors import InvalidStore, NotFound, UnsupportedVersion, ValueRejected
from quire.model.records import Problem, warning_at
from quire.model.text import cut

VERSION = 1
_BYTES = 64 * 1024
_MOST = 20_000
_PART_WORDS = 4
"""A part of a text counts from so many words on: a short one may stand anywhere by chance."""
_PART_LETTERS = 6
"""The same for writing that has no spaces between its words."""
_PARTS_MOST = 12
"""A value of more sentences than these is only known where it is all that a text says."""
_WRAPPED = 3
"""A sentence may go over so many lines more than it did where it was rejected."""
_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n\s*")
_MARK = re.compile(r"(?:(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?|#{1,6}\s+|>\s?)+")
_WIDE = re.compile(r"[\u2e80-\U0003ffff]")
# What a comparison of words passes over, and what makes another value: `C++` is not `C`, nor `< 3` the same as `>= 3`.
_MARK_CHARS = 12
_NAME = re.compile(r"[0-9a-f]{32}\.json")
_NOTHING = value_digest("")


class Rejection(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A value that must not be written."""

    value: str
    rejected_at: str
    version: int = VERSION
    kind: str = ""
    reason: str = ""
    origin: str = ""
    lifted_at: str = ""
    """When it was allowed again; empty while it holds."""

    @property
    def id(self) -> str:
        return proposal_id(self.value)

    @property
    def digest(self) -> str:
        return value_digest(self.value)


class _Hit(msgspec.Struct, frozen=True):
    """A rejection that a text repeats, and in which of its parts."""

    item: Rejection
    first: int
    behind: int


class Rejections(msgspec.Struct, frozen=True):
    """Everything that was rejected, also what was lifted since."""

    found: Mapping[str, Rejection] = {}
    """By digest."""
    problems: tuple[Problem, ...] = ()
    _known: Mapping[str, Rejection] = {}
    """Those that hold, by the digests of every form in which they are known again; made of `found`."""
    _longest: int = 0
    """How many parts the longest of them has."""

    def __post_init__(self) -> None:
        known: dict[str, Rejection] = {}
        longest = 0
        for item in self.found.values():
            if not item.lifted_at and item.digest != _NOTHING:
                parts = [text for text, _, _ in _parts(item.value)]
                for text in (item.value, " ".join(parts), *_unlabelled(parts)):
                    known.setdefault(value_digest(text), item)
                longest = max(longest, len(parts))
        known.pop(_NOTHING, None)
        msgspec.structs.force_setattr(self, "_known", known)
        msgspec.structs.force_setattr(self, "_longest", min(longest, _PARTS_MOST))

    @property
    def standing(self) -> dict[str, Rejection]:
        return {digest: item for digest, item in self.found.items() if not item.lifted_at}

    def match(self, text: str) -> Rejection | None:
        """The rejection that a text repeats: as a whole, or in some of its lines or sentences."""
        return next((hit.item for hit in self._hits(text)), None) if self._known else None

    def refuse(self, texts: Mapping[str, str]) -> None:
        """Raise where one of these texts, by the names of their fields, says what was rejected."""
        for field, text in texts.items():
            found = self.match(text)
            if found is not None:
                why = f" ({cut(found.reason, 200)})" if found.reason else ""
                raise ValueRejected(
                    f"`{field}` repeats what was rejected on {found.rejected_at[:10]}{why}: “{cut(found.value, 200)}”.",
                    hint=f"Leave it out, or allow it again with `memory inbox lift {found.id}`.",
                    details={"field": field, "id": found.id},
                )

    def kept(self, texts: Iterable[str]) -> list[str]:
        """Those texts that nobody rejected."""
        return [text for text in texts if self.match(text) is None]

    def without(self, text: str) -> str:
        """A text without its lines and sentences that were rejected; empty where nothing is left."""
        hits = list(self._hits(text)) if self._known else []
        if not hits:
            return text
        parts = _parts(text)
        gone = {number for hit in hits for number in range(hit.first, hit.behind)}
        ends = [begin for _, begin, _ in parts[1:]] + [len(text)]
        kept = [text[begin:end] for number, ((_, begin, _), end) in enumerate(zip(parts, ends, strict=True))
                if number not in gone]  # fmt: skip
        rest = "".join(kept).strip()
        return "" if self.match(rest) else rest

    def _hits(self, text: str) -> Iterator[_Hit]:
        parts = _parts(text)
        # A value is kept up to this length, and known again by it.
        for whole in (text, text[:TEXT_CHARS]):
            item = self._named(whole)
            if item is not None:
                yield _Hit(item, 0, len(parts))
                return
        said = [part for part, _, _ in parts]
        bare = [_without_label(part) for part in said]
        for forms in (said, bare) if bare != said else (said,):
            widths = {*range(1, min(self._longest + _WRAPPED, len(forms)) + 1), len(forms)}
            for width in sorted(widths):
                for first in range(len(forms) - width + 1):
                    piece = " ".join(forms[first : first + width])
                    is_whole = forms is said and width == len(forms)
                    item = self._named(piece) if is_whole or _tells(piece) else None
                    if item is not None:
                        yield _Hit(item, first, first + width)

    def _named(self, text: str) -> Rejection | None:
        return self._known.get(value_digest(text))


def _parts(text: str) -> list[tuple[str, int, int]]:
    """The sentences and lines of a text without the marks of lists, and where each stands with its mark."""
    found = []
    begin = 0
    for gap in (*_END.finditer(text), None):
        end, after = (gap.start(), gap.end()) if gap else (len(text), len(text))
        # The number of a list ends like a sentence.
        if gap and after - begin <= _MARK_CHARS and _MARK.fullmatch(text[begin:after].lstrip()):
            continue
        bare = _unmarked(text[begin:end])
        if bare:
            found.append((bare, begin, end))
        begin = after
    return found


def _unmarked(part: str) -> str:
    part = part.strip()
    mark = _MARK.match(part)
    return part[mark.end() :].strip() if mark else part


def _without_label(part: str) -> str:
    """A part without a label before it, such as `Decision:`, which is not what was rejected."""
    label, colon, rest = part.partition(": ")
    return rest.strip() if colon and len(label.split()) <= 2 and _tells(rest) else part


def _unlabelled(parts: list[str]) -> list[str]:
    bare = [_without_label(part) for part in parts]
    return [" ".join(bare)] if bare != parts else []


def _tells(text: str) -> bool:
    return len(text.split()) >= _PART_WORDS or len(_WIDE.findall(text)) >= _PART_LETTERS


def read_rejections(root: str) -> Rejections:
    """Read all rejections. An unreadable file is reported and rejects nothing."""
    folder = os.path.join(root, FOLDER, REJECTED)
    try:
        names = sorted(os.listdir(folder))[:_MOST]
    except FileNotFoundError:
        return Rejections()
    except OSError as error:
        return Rejections(problems=(_unreadable(f"{FOLDER}/{REJECTED}", error),))
    files: dict[str, bytes] = {}
    problems = []
    for name in names:
        place = f"{FOLDER}/{REJECTED}/{name}"
        if _NAME.fullmatch(name):
            try:
                files[place] = read_inside(root, place, _BYTES)
            except OSError as error:
                problems.append(_unreadable(place, error))
    return rejections_in(files, problems)


def rejections_in(files: Mapping[str, bytes], problems: Iterable[Problem] = ()) -> Rejections:
    """The rejections in these contents of files, wherever they come from, such as a commit."""
    found: dict[str, Rejection] = {}
    told = list(problems)
    decode = msgspec.json.Decoder(Rejection).decode
    for place, data in files.items():
        name = place.rpartition("/")[2]
        try:
            item = decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            told.append(_unreadable(place, error))
            continue
        if item.version > VERSION:
            newer = ValueError(f"it was written by a newer version of Quire ({item.version})")
            told.append(_unreadable(place, newer, hint="Update Quire."))
        elif name == f"{item.digest}.json" or item.digest not in found:
            # One that was renamed by hand counts, but not against the file that `lift` would write.
            found[item.digest] = item
    return Rejections(found, tuple(sorted(told, key=lambda problem: problem.path)))


def _unreadable(place: str, error: Exception, hint: str = "Restore the file with git, or remove it.") -> Problem:
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    message = f"This rejection cannot be used: {cut(said, 200)}. It has no effect."
    return warning_at("RejectionUnreadable", place, message, hint)


def write_rejection(root: str, item: Rejection, token: str) -> str:
    """Write a rejection, or another state of one; its path below the project."""
    item = msgspec.structs.replace(item, value=item.value[:TEXT_CHARS])
    place = f"{FOLDER}/{REJECTED}/{item.digest}.json"
    data = msgspec.json.format(msgspec.json.encode(item), indent=2) + b"\n"
    try:
        path = inside(root, place)
        version = _version_of(root, place)
        if version is None:
            raise InvalidStore(
                f"`{place}` cannot be read; it was not changed.",
                hint="Restore the file with git, or remove it, then run the command again.",
                details={"path": place},
            )
        if version > VERSION:
            raise UnsupportedVersion(
                f"`{place}` was written by a newer version of Quire; it was not changed.", hint="Update Quire."
            )
        ensure_folder(os.path.dirname(path))
        write_file(path, data, token)
    except OSError as error:
        raise storage_failed(error, f"write `{place}`", root) from error
    return place


class _Versioned(msgspec.Struct):
    """What can be read of a file whatever its version is."""

    version: int = VERSION


def _version_of(root: str, place: str) -> int | None:
    """The version of a file, 0 where there is none; None where nobody can say what it says."""
    try:
        data = read_inside(root, place, _BYTES)
        version = msgspec.json.decode(data, type=_Versioned).version
        if version <= VERSION:
            msgspec.json.decode(data, type=Rejection)
    except FileNotFoundError:
        return 0
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return version


def named_rejection(rejections: Rejections, name: str) -> Rejection:
    """By its id, or by the beginning of it, or by the value itself."""
    exact = rejections.found.get(value_digest(name))
    found = exact or by_beginning({f"in-{digest}": item for digest, item in rejections.found.items()}, name)
    if found is None:
        raise NotFound(
            f"There is no rejection `{cut(name, 40)}`.",
            hint="`memory inbox rejected` lists what was rejected.",
            details={"field": "id", "id": cut(name, 40)},
        )
    return found
