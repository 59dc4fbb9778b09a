"""Begin a session: count it, and name an assistant that has no name."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence

from quire.layers.profile.drafts import ProfileDraft
from quire.layers.profile.entries import new_fields
from quire.layers.profile.layout import ASSISTANT, INFERRED, NAME
from quire.model.errors import InvalidStore

_NAMES = ("Ada", "Basil", "Cleo", "Edda", "Finn", "Hazel", "Ines", "Juno", "Kit", "Lena", "Milo", "Nell", "Otis", "Pia",
          "Remy", "Wren")  # fmt: skip
_CONFIDENCE = 0.3


def begin_session(
    draft: ProfileDraft, token: str, allowed: Callable[[Sequence[str]], Sequence[str]]
) -> tuple[int, bool]:
    """Count a session; return its number, and whether the assistant had no name.

    The token decides on the name, of those that `allowed` leaves.
    """
    is_missing = draft.find(ASSISTANT, NAME) is None
    if is_missing and not draft.is_taken(ASSISTANT, NAME):
        given = {
            "tags": ["identity"],
            "confidence": _CONFIDENCE,
            "source": {"type": INFERRED, "detail": "given by session-start; change it with remember"},
        }
        names = allowed(_NAMES)
        # Where the category holds something else, the session is still worth counting.
        with contextlib.suppress(InvalidStore):
            if names:
                draft.put(ASSISTANT, NAME, new_fields(names[int(token, 16) % len(names)], draft.now, **given))
    return draft.count_session(), is_missing
