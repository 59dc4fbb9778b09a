"""The disposable SQLite index over all layers: never trusted over the files, deleted at will."""

from typing import TYPE_CHECKING

from quire.index.analysis import all_words, index_text, question_words
from quire.index.catalog import Index, Progress
from quire.index.opening import change_with_index, open_index, rebuild_index, with_index
from quire.index.search import Candidate, Filter, Question, Searcher
from quire.index.sources import Item, Patch, Source, Written
from quire.model.lazy import loader

if TYPE_CHECKING:
    from quire.index.database import discard_database
    from quire.index.health import Engine, engine, index_fault
    from quire.index.looks import Looks

__all__ = [
    "Candidate",
    "Engine",
    "Filter",
    "Index",
    "Item",
    "Looks",
    "Patch",
    "Progress",
    "Question",
    "Searcher",
    "Source",
    "Written",
    "all_words",
    "change_with_index",
    "discard_database",
    "engine",
    "index_fault",
    "index_text",
    "open_index",
    "question_words",
    "rebuild_index",
    "with_index",
]

# Only a process that stays alive keeps looks, only a doctor asks for health, and few throw the index away.
_HOMES = {
    "Engine": "health",
    "Looks": "looks",
    "discard_database": "database",
    "engine": "health",
    "index_fault": "health",
}

__getattr__ = loader(__name__, _HOMES)
