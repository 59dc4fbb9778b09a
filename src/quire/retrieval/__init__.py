"""From question to answer: seed, fuse, expand, budget, render."""

from quire.retrieval.answer import Answer, Hit, Link, Withheld
from quire.retrieval.query import Ask, ask

__all__ = ["Answer", "Ask", "Hit", "Link", "Withheld", "ask"]
