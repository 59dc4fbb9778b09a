"""Options of the page's process, as `memory view` passes them on."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec


class PageOptions(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was asked for."""

    start: str = ""
    """The folder that it is opened in; the current one where empty."""
    port: int = 0
    write: bool = False
    open_browser: bool = False
    detach: bool = False
    detached: bool = False
    """Whether this is the process that goes on alone."""
    stop: bool = False
    export: str | None = None
    private: bool = False
    force: bool = False
    as_json: bool = False


def read_options(arguments: Sequence[str]) -> PageOptions:
    """The options, one object as JSON; nothing at all means the usual ones."""
    import json

    # Names of folders may hold bytes that are no text; msgspec would not read what Python makes of them.
    return msgspec.convert(json.loads(arguments[0]), PageOptions) if arguments else PageOptions()
