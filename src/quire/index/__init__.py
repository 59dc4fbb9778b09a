"""The disposable SQLite index over all layers: never trusted over the files, deleted at will."""

from quire.index.catalog import Index, Source, Written, open_index

__all__ = ["Index", "Source", "Written", "open_index"]
