"""Make msgspec decoding safe in threads: a lock guards the first use of each type.

The library that describes our data works a type out when it is first used, and keeps it before it is complete: two
threads that come to it at the same moment end the process. So the first use of each type is made by one at a time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import msgspec

_GUARD = threading.RLock()
_KNOWN: set[Any] = set()


def make_decoding_thread_safe() -> None:
    """Guard decoding in the whole process; call it before starting threads. Calling it twice is harmless."""
    with _GUARD:
        for owner, name, place in ((msgspec.json, "decode", 1), (msgspec.json, "Decoder", 0), (msgspec, "convert", 1)):
            known = getattr(owner, name)
            if not hasattr(known, "guarded"):
                setattr(owner, name, _guarded(known, place))


def _guarded(function: Callable[..., Any], place: int) -> Callable[..., Any]:
    def call(*given: Any, **named: Any) -> Any:
        kind = named["type"] if "type" in named else given[place] if len(given) > place else Any
        try:
            is_known = kind in _KNOWN
        except TypeError:
            is_known = False
        if is_known:
            return function(*given, **named)
        with _GUARD:
            try:
                return function(*given, **named)
            finally:
                _note(kind)

    call.guarded = True  # type: ignore[attr-defined]
    return call


def _note(kind: Any) -> None:
    try:
        _KNOWN.add(kind)
    except TypeError:
        return  # what cannot be distinguished from others is worked out under the guard each time
