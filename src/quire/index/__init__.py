"""The disposable SQLite index over all layers: never trusted over the files, deleted at will."""

from quire.index.catalog import Index, Progress, Source, Written, open_index, rebuild_index, with_index
from quire.index.search import Candidate, Filter, Question, Searcher

__all__ = [
    "Candidate",
    "Filter",
    "Index",
    "Progress",
    "Question",
    "Searcher",
    "Source",
    "Written",
    "open_index",
    "rebuild_index",
    "with_index",
]
