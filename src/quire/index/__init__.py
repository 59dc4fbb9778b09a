"""The SQLite index over all layers: never trusted over the files, deleted at will."""
