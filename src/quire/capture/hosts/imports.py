"""The files that an instruction file brings in with `@path`: those below the same folder, four steps deep at most."""

from __future__ import annotations

import os
import re

import msgspec

from quire.capture.hosts.documents import HostDocument, read_document
from quire.capture.hosts.types import HostSource
from quire.capture.transcripts.types import KnownPlaces
from quire.files.paths import below, is_within
from quire.model.records import Problem
from quire.model.text import cut

HOPS = 4
IMPORTS_MOST = 50
_CODE = re.compile(r"(`{3,}|~{3,}).*?(?:\1|\Z)|`[^`\n]*`", re.S)
_IMPORT = re.compile(
    r"(?:^|(?<=[\s(*_:,]))@((?:~/|/|\.{1,2}/)?(?:[\w.+-]{1,80}/){0,12}[\w.+-]{0,80}\w\.(?:md|mdc|markdown|txt))(?![\w/])"
)
# These are sources of their own.
_READ_ANYWAY = frozenset(("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "GEMINI.md"))
_READ_FOLDERS = (".claude/rules/", ".cursor/rules/", ".clinerules/", ".serena/memories/", "memory-bank/", ".github/")


def with_imports(document: HostDocument, source: HostSource, places: KnownPlaces) -> list[HostDocument]:
    """The document and all that it brings in, each once."""
    top = places.root if source.scope == "project" else os.path.dirname(source.path)
    found = {os.path.realpath(document.path): document}
    waiting = [(document, 0)]
    while waiting:
        importer, hops = waiting.pop(0)
        if hops == HOPS:
            continue
        for name in _named(importer.text):
            path = _resolved(name, importer.path, places)
            inner = below(path, top)
            if inner is None or (os.path.lexists(path) and not is_within(path, top)):
                found[importer.path] = _with_problem(found.pop(importer.path, importer), name)
                continue
            real = os.path.realpath(path)
            if real in found or len(found) == IMPORTS_MOST or not os.path.isfile(real) or _is_read_anyway(path, inner):
                continue
            shown = inner if source.scope == "project" else f"{source.shown.rpartition('/')[0]}/{inner}"
            found[real] = read_document(path, shown, places, source.scope)
            waiting.append((found[real], hops + 1))
    return list(found.values())


def _named(text: str) -> list[str]:
    """The paths behind `@`, those in code left out."""
    return list(dict.fromkeys(match[1] for match in _IMPORT.finditer(_CODE.sub(" ", text))))


def _resolved(name: str, importer: str, places: KnownPlaces) -> str:
    if name.startswith("~/"):
        return os.path.normpath(os.path.join(places.home or "/", name[2:]))
    return os.path.normpath(os.path.join(os.path.dirname(importer), name))


def _is_read_anyway(path: str, inner: str) -> bool:
    return os.path.basename(path) in _READ_ANYWAY or inner.startswith(_READ_FOLDERS)


def _with_problem(document: HostDocument, name: str) -> HostDocument:
    problem = Problem(
        code="HostImportOutside",
        severity="warning",
        path=document.shown,
        message=f"`@{cut(name, 120)}` is outside the project and was not followed.",
    )
    return msgspec.structs.replace(document, problems=(*document.problems, problem))
