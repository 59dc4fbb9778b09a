"""From question to answer: seed, fuse, expand, budget, render."""

from typing import TYPE_CHECKING

from quire.model.lazy import loader

if TYPE_CHECKING:
    from quire.retrieval.answer import Answer, Hit, Link, Withheld
    from quire.retrieval.context import Context, Left, Offer, fit_context
    from quire.retrieval.currency import FADED
    from quire.retrieval.handing import Fate, Handed, Offered, Shelf, fit_shelves, told_line, unreviewed_line
    from quire.retrieval.journal_answer import JournalAnswer, answer_journal, cited_from, shortlist_value
    from quire.retrieval.journal_evidence import Citation
    from quire.retrieval.journal_modes import query_mode
    from quire.retrieval.profile_context import ProfileContext, fit_profile
    from quire.retrieval.profile_pages import about_me, about_us, entries_on, export_page, index_page
    from quire.retrieval.query import Ask, ask
    from quire.retrieval.render import last_said
    from quire.retrieval.signal import is_low_signal
    from quire.retrieval.similar import Alike, Similar, alike_pairs, alike_to, similar_to

__all__ = [
    "FADED",
    "Alike",
    "Answer",
    "Ask",
    "Citation",
    "Context",
    "Fate",
    "Handed",
    "Hit",
    "JournalAnswer",
    "Left",
    "Link",
    "Offer",
    "Offered",
    "ProfileContext",
    "Shelf",
    "Similar",
    "Withheld",
    "about_me",
    "about_us",
    "alike_pairs",
    "alike_to",
    "answer_journal",
    "ask",
    "cited_from",
    "entries_on",
    "export_page",
    "fit_context",
    "fit_profile",
    "fit_shelves",
    "index_page",
    "is_low_signal",
    "last_said",
    "query_mode",
    "shortlist_value",
    "similar_to",
    "told_line",
    "unreviewed_line",
]

# Which module holds what.
_HOMES = {
    "FADED": "currency",
    "Alike": "similar",
    "Answer": "answer",
    "Ask": "query",
    "Citation": "journal_evidence",
    "Context": "context",
    "Fate": "handing",
    "Handed": "handing",
    "Hit": "answer",
    "JournalAnswer": "journal_answer",
    "Left": "context",
    "Link": "answer",
    "Offer": "context",
    "Offered": "handing",
    "ProfileContext": "profile_context",
    "Shelf": "handing",
    "Similar": "similar",
    "Withheld": "answer",
    "about_me": "profile_pages",
    "about_us": "profile_pages",
    "alike_pairs": "similar",
    "alike_to": "similar",
    "answer_journal": "journal_answer",
    "ask": "query",
    "cited_from": "journal_answer",
    "entries_on": "profile_pages",
    "export_page": "profile_pages",
    "fit_context": "context",
    "fit_profile": "profile_context",
    "fit_shelves": "handing",
    "index_page": "profile_pages",
    "is_low_signal": "signal",
    "last_said": "render",
    "query_mode": "journal_modes",
    "shortlist_value": "journal_answer",
    "similar_to": "similar",
    "told_line": "handing",
    "unreviewed_line": "handing",
}

__getattr__ = loader(__name__, _HOMES)
