"""Find secrets that a change brings into the memory's files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from quire.files.json_files import decode_object
from quire.guard.admission import stored_secrets
from quire.model.seals import is_seal
from quire.upkeep.review.findings import ReviewFinding

_LEAST = 8
_DERIVED = frozenset(["content_hash", "digest", "commit", "id", "body_path"])
"""Keys of what is made by programs, and looks like a token by its nature."""


def secrets_brought(path: str, before: bytes, after: bytes) -> Iterator[ReviewFinding]:
    """A finding for each secret that a file holds now and did not hold before; the secret itself is not repeated."""
    known = {message for _, message in _secrets(path, before)} if before else set()
    for line, message in _secrets(path, after):
        if message not in known:
            known.add(message)
            yield ReviewFinding(code="M403", message=message, path=path, line=line, anchor=message)


def _secrets(path: str, data: bytes) -> Iterator[tuple[int, str]]:
    """Each with its line and a sentence that names its kind."""
    if path.endswith((".json", ".jsonl")):
        documents = [(1, data)] if path.endswith(".json") else list(enumerate(data.split(b"\n"), 1))
        for line, document in documents:
            yield from _in_document(path, line, document, single=path.endswith(".json"))
    else:
        yield from _in_text(path, data.decode("utf-8", "replace"))


def _in_document(path: str, line: int, data: bytes, *, single: bool) -> Iterator[tuple[int, str]]:
    """Scan what people wrote in a JSON document; one that is none is scanned as text."""
    if not data.strip():
        return
    try:
        texts = list(_texts(decode_object(data)))
    except ValueError:
        yield from ((line + at - 1, said) for at, said in _in_text(path, data.decode("utf-8", "replace")))
        return
    for text in texts:
        for _, said in _in_text(path, text):
            begin = data.find(text.partition("\n")[0][:40].encode()) if single else -1
            yield (line + data.count(b"\n", 0, begin) if begin > 0 else line), said


def _in_text(path: str, text: str) -> Iterator[tuple[int, str]]:
    for problem in stored_secrets(path, text):
        if problem.severity == "error":
            yield problem.line or 1, problem.message


def _texts(value: Any, key: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        if not is_seal(value.get("kind"), value.get("id")):
            for name, item in value.items():
                yield from _texts(item, name)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item, key)
    elif isinstance(value, str) and len(value) >= _LEAST and key not in _DERIVED:
        yield value
