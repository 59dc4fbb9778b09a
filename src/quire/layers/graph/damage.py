"""Problems of files that cannot be read, in the same words everywhere."""

from __future__ import annotations

import re

from quire.files.json_files import lines
from quire.layers.graph.layout import FOLDER
from quire.model.contested import IN_CONFLICT
from quire.model.records import Problem

# Seven signs, or more: git adds one where both sides renamed a file, and as many as its attributes say.
_BEGIN, _END = re.compile(rb"<{7,} "), re.compile(rb">{7,} ")


def unreadable(path: str, error: OSError) -> Problem:
    return Problem(
        code="CanonicalFileUnsafe" if error.errno != 2 else "CanonicalFileMissing",
        message=f"Cannot be read: {(error.strerror or str(error)).lower()}.",
        path=path,
        hint="Symbolic links, pipes and oversized files are not read; replace it with a regular file.",
    )


def not_text(path: str, error: UnicodeDecodeError) -> Problem:
    return Problem(
        code="FileNotUtf8",
        message=f"Not UTF-8 text: byte {error.start} is 0x{error.object[error.start]:02x}.",
        path=path,
        line=error.object[: error.start].count(b"\n") + 1,
        hint="Save the file as UTF-8.",
    )


def invalid(path: str, data: bytes, reason: str) -> Problem:
    line = conflict_line(data)
    if line:
        return conflict(path, line)
    return Problem(
        code="JsonInvalid" if "JSON" in reason or "truncated" in reason else "SchemaValidationFailed",
        message=f"{reason[:1].upper()}{reason[1:]}.",
        path=path,
        hint=f"`git diff -- {FOLDER}/{path}` shows what changed; `git restore` restores the last version.",
    )


def conflict_line(data: bytes) -> int | None:
    """Where a merge conflict begins. A line of equals signs alone is a heading, not a conflict."""
    begin = None
    if b"<<<<<<<" not in data:
        return None
    for number, line in lines(data):
        if _BEGIN.match(line):
            begin = begin or number
        elif begin and _END.match(line):
            return begin
    return None


def conflict(path: str, line: int) -> Problem:
    return Problem(
        code="MemoryConflictDetected",
        message="Unresolved merge conflict.",
        path=path,
        line=line,
        hint=IN_CONFLICT,
    )


def restore_hint(path: str) -> str:
    return f"Restore the last good version: `git restore {FOLDER}/{path}`."


def error_at(
    code: str, path: str, message: str, hint: str, *, line: int | None = None, field: str | None = None
) -> Problem:
    return Problem(code=code, path=path, message=message, hint=hint, line=line, field=field)
