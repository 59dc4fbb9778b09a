"""Many small cases in one test: all are tried, and those that fail are listed."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

__all__ = ["each"]

T = TypeVar("T", bound=Callable[..., None])


def each(names: str | tuple[str, ...], values: Iterable[Any]) -> Callable[[T], T]:
    """Call a test with each of these values under this name, as `pytest.mark.parametrize` would, but in one test."""
    several = isinstance(names, tuple)
    fields = names if isinstance(names, tuple) else (names,)
    cases = list(values)
    assert cases, f"nothing to try for {names}"

    def decorate(test: T) -> T:
        @functools.wraps(test)
        def tried(*arguments: Any, **named: Any) -> None:
            failed: list[tuple[object, Exception]] = []
            for case in cases:
                try:
                    test(*arguments, **named, **dict(zip(fields, case if several else (case,), strict=True)))
                except Exception as error:
                    failed.append((case, error))
            if failed:
                said = "\n".join(f"{case!r:.200}: {error!r:.500}" for case, error in failed)
                raise AssertionError(f"{len(failed)} of {len(cases)} failed:\n{said}") from failed[0][1]

        signature = inspect.signature(test)
        left = [item for name, item in signature.parameters.items() if name not in fields]
        tried.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return tried  # type: ignore[return-value]

    return decorate
