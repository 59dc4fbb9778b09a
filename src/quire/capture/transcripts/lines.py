"""A transcript line by line, however long it is: never more of it in memory than one line may take."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

from msgspec import Struct

from quire.capture.transcripts.lenient_json import object_in
from quire.capture.transcripts.types import FILE_BYTES, LINE_BYTES

COMPRESSED = ".zst"
HEAD_BYTES = 1024 * 1024
_HEAD_LINES = 256
_CHUNK = 1 << 20
_BOM = b"\xef\xbb\xbf"


class TranscriptLine(Struct, frozen=True):
    """A line without its end, and where it lies. One that is too long has no data."""

    start: int
    end: int
    """Where the next one begins."""
    data: bytes | None
    ended: bool
    """Whether a line feed closes it; the last line of a file that is being written may lack it."""


@contextmanager
def open_session(path: str, offset: int = 0) -> Iterator[BinaryIO]:
    """A regular file from an offset on, unpacked if need be. Links, pipes and devices are not even opened."""
    if not stat.S_ISREG(os.lstat(path).st_mode):
        raise OSError(errno.EINVAL, "not a regular file", path)
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        # Looked at again: between the two calls someone may have put something else in its place.
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        if not path.endswith(COMPRESSED):
            file.seek(offset)
            yield cast(BinaryIO, file)
            return
        unpack = _unpacker()
        if unpack is None:
            raise OSError(errno.ENOTSUP, "no reader of zstd is installed", path)
        stream = unpack(file)
        _pass_over(stream, offset)
        yield stream


def read_whole(path: str, most: int) -> bytes:
    """The bytes of a document that makes sense only as a whole."""
    with open_session(path) as stream:
        data = b""
        while chunk := stream.read(_CHUNK):
            data += chunk
            if len(data) > most:
                raise OSError(errno.EFBIG, f"larger than {most} bytes", path)
        return data


def can_unpack() -> bool:
    """Whether this Python can read files that were compressed with zstd."""
    return _unpacker() is not None


def _unpacker() -> Callable[[Any], BinaryIO] | None:
    from importlib import import_module

    try:
        # Part of Python since 3.14.
        return cast(Callable[[Any], BinaryIO], import_module("compression.zstd").ZstdFile)
    except ImportError:
        pass
    try:
        unpacker = import_module("zstandard").ZstdDecompressor()
    except ImportError:
        return None
    return lambda file: cast(BinaryIO, unpacker.stream_reader(file, read_across_frames=True))


def _pass_over(stream: BinaryIO, count: int) -> None:
    while count > 0 and (chunk := next_bytes(stream, min(count, _CHUNK))):
        count -= len(chunk)


def next_bytes(stream: BinaryIO, count: int = _CHUNK) -> bytes:
    """The next bytes; nothing more where a packed file is damaged or cut off, as if it ended there."""
    try:
        return stream.read(count)
    except OSError:
        raise
    except Exception:  # every library has its own error for this
        return b""


def lines_of(stream: BinaryIO, offset: int = 0, *, most: int = LINE_BYTES) -> Iterator[TranscriptLine]:
    """The lines from here on; `offset` is where the stream stands."""
    start, held, too_long = offset, b"", 0
    while (chunk := next_bytes(stream)) and start < FILE_BYTES:
        *whole, rest = chunk.split(b"\n")
        for part in whole:
            length = too_long + len(held) + len(part)
            data = None if too_long or length > most else held + part if held else part
            yield TranscriptLine(start, start + length + 1, _bare(data, start), True)
            start, held, too_long = start + length + 1, b"", 0
        if too_long or len(held) + len(rest) > most:
            too_long, held = too_long + len(held) + len(rest), b""
        else:
            held += rest
    if held or too_long:
        yield TranscriptLine(start, start + too_long + len(held), None if too_long else _bare(held, start), False)


def _bare(data: bytes | None, start: int) -> bytes | None:
    return data.removeprefix(_BOM) if data and start == 0 else data


class Tally(Struct):
    """How many lines were read, and how many of them were not usable."""

    lines: int = 0
    bad_lines: int = 0
    """Lines without an object, too long ones and a torn last one among them."""
    long_lines: int = 0
    torn: bool = False
    """The last line has no end and makes no sense yet: it is probably being written."""

    def record(self, line: TranscriptLine) -> dict[str, Any] | None:
        """The object on a line, which is counted."""
        self.lines += 1
        record = object_in(line.data)
        if record is None:
            self.bad_lines += 1
            self.long_lines += line.data is None
            self.torn = not line.ended
        return record

    def piece(self, record: dict[str, Any] | None) -> dict[str, Any]:
        """The object of a file of its own, which is counted as a line is; empty where it holds none."""
        self.lines += 1
        self.bad_lines += record is None
        return record or {}


def first_records(path: str) -> Iterator[dict[str, Any]]:
    """The objects at the beginning of a file, as many as a look at it may cost."""
    with open_session(path) as stream:
        for number, line in enumerate(lines_of(stream)):
            if number == _HEAD_LINES or line.start > HEAD_BYTES:
                return
            record = object_in(line.data) if line.data and line.data.strip() else None
            if record is not None:
                yield record
