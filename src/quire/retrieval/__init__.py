"""From question to answer: seed, fuse, expand, budget, render."""

from typing import TYPE_CHECKING

from quire.model.lazy import loader

if TYPE_CHECKING:
    from quire.retrieval.answer import Answer, Hit, Link, Withheld
    from quire.retrieval.context import Context, Left, Offer, fit_context
    from quire.retrieval.currency import FADED
    from quire.retrieval.query import Ask, ask
    from quire.retrieval.signal import is_low_signal
    from quire.retrieval.similar import Similar, similar_to

__all__ = [
    "FADED",
    "Answer",
    "Ask",
    "Context",
    "Hit",
    "Left",
    "Link",
    "Offer",
    "Similar",
    "Withheld",
    "ask",
    "fit_context",
    "is_low_signal",
    "similar_to",
]

# Which module holds what.
_HOMES = {
    "FADED": "currency",
    "Answer": "answer",
    "Ask": "query",
    "Context": "context",
    "Hit": "answer",
    "Left": "context",
    "Link": "answer",
    "Offer": "context",
    "Similar": "similar",
    "Withheld": "answer",
    "ask": "query",
    "fit_context": "context",
    "is_low_signal": "signal",
    "similar_to": "similar",
}

__getattr__ = loader(__name__, _HOMES)
