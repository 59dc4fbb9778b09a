"""List the sources that exist, and the module that reads each kind."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from types import ModuleType
from typing import cast

from quire.capture.hosts.types import FILES_MOST, KINDS, HostRead, HostSource
from quire.capture.transcripts.types import KnownPlaces
from quire.model.errors import InputError
from quire.model.text import cut

Find = Callable[[str, str, Mapping[str, str]], list[HostSource]]
Read = Callable[[HostSource, KnownPlaces, str], HostRead]

# The module that holds the `find_<kind>` and the `read` of a kind; of all others it has the name of the kind.
_HOMES = {
    **dict.fromkeys(("claude-md", "claude-rules", "agents-md", "gemini-md", "cursor-rules"), "instructions"),
    **dict.fromkeys(("cline-rules", "copilot-instructions"), "instructions"),
    "git": "git_history",
}


def find_hosts(root: str, home: str, env: Mapping[str, str], kinds: Collection[str] = ()) -> list[HostSource]:
    """The sources of these kinds, or of all; nothing is opened. A file that is there under two names counts once."""
    for kind in kinds:
        _known(kind)
    found: dict[str, HostSource] = {}
    for kind in KINDS:
        if kinds and kind not in kinds:
            continue
        for source in cast(Find, getattr(_home(kind), f"find_{kind.replace('-', '_')}"))(root, home, env):
            # A link comes after the file it leads to, whichever way round the two are.
            real = os.path.realpath(source.path)
            known = found.get(real)
            if known is None or (os.path.islink(known.path) and not os.path.islink(source.path)):
                found[real] = source
            if len(found) == FILES_MOST:
                return list(found.values())
    return list(found.values())


def read_host(source: HostSource, root: str, home: str, now: str) -> HostRead:
    """What a source says, as proposals; the same each time. `now` is when they are made."""
    _known(source.kind)
    return cast(Read, _home(source.kind).read)(source, KnownPlaces(root, home), now)


def _known(kind: str) -> None:
    if kind not in KINDS:
        raise InputError(
            f"Unknown kind of source `{cut(kind, 40)}`.",
            hint=f"Use one of {', '.join(KINDS)}.",
            details={"field": "kind", "allowed": list(KINDS)},
        )


def _home(kind: str) -> ModuleType:
    return import_module(f"quire.capture.hosts.{_HOMES.get(kind) or kind.replace('-', '_')}")
