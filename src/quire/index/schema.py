"""Tables and rows of the index; all of it can be rebuilt from the files."""

from __future__ import annotations

from typing import Any

import msgspec

from quire.index.text_analysis import TOKENIZER
from quire.model.records import Edge, Record

VERSION = 8
APPLICATION_ID = 0x51756972  # "Quir": a file that is not ours is replaced, never read

# What a match is worth in the title, in names (ref, tags, anchors) and in the body.
FIELD_WEIGHTS = "2.0, 1.5, 1.0"

TABLES = f"""
CREATE TABLE home (device INTEGER NOT NULL, inode INTEGER NOT NULL);
CREATE TABLE folders (
    layer TEXT NOT NULL, path TEXT NOT NULL, changed_ns INTEGER NOT NULL,
    PRIMARY KEY (layer, path)
) WITHOUT ROWID;
CREATE TABLE files (
    layer TEXT NOT NULL, path TEXT NOT NULL, stamp TEXT NOT NULL,
    PRIMARY KEY (layer, path)
) WITHOUT ROWID;
CREATE TABLE records (
    id INTEGER PRIMARY KEY,
    layer TEXT NOT NULL, path TEXT NOT NULL, ref TEXT NOT NULL, kind TEXT NOT NULL,
    title TEXT NOT NULL, text TEXT NOT NULL, status TEXT NOT NULL, stage TEXT NOT NULL,
    section TEXT NOT NULL, scope TEXT NOT NULL, weight REAL NOT NULL, half_life REAL NOT NULL, since TEXT NOT NULL,
    created_at TEXT NOT NULL, updated_at TEXT NOT NULL, updated REAL NOT NULL,
    tags TEXT NOT NULL, anchors TEXT NOT NULL, origin TEXT NOT NULL, seen TEXT NOT NULL, commit_id TEXT NOT NULL,
    contested TEXT NOT NULL, raw BLOB NOT NULL
);
CREATE INDEX records_by_path ON records (layer, path);
CREATE INDEX records_by_ref ON records (ref);
CREATE INDEX records_by_kind ON records (layer, kind, status, stage, updated DESC, ref);
CREATE INDEX records_contested ON records (ref) WHERE contested != '[]';
CREATE INDEX records_by_section ON records (layer, kind, section, status, scope, updated DESC, ref)
    WHERE section != '';
-- What else a record can be found by.
CREATE TABLE names (name TEXT NOT NULL, record INTEGER NOT NULL, PRIMARY KEY (name, record)) WITHOUT ROWID;
CREATE INDEX names_by_record ON names (record);
CREATE TABLE tallies (
    layer TEXT NOT NULL, kind TEXT NOT NULL, status TEXT NOT NULL, stage TEXT NOT NULL, section TEXT NOT NULL,
    scope TEXT NOT NULL, number INTEGER NOT NULL,
    PRIMARY KEY (layer, kind, status, stage, section, scope)
) WITHOUT ROWID;
-- What a layer knows of its files as a whole; nobody else reads it.
CREATE TABLE summaries (layer TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE edges (
    id INTEGER PRIMARY KEY,
    layer TEXT NOT NULL, path TEXT NOT NULL, ref TEXT NOT NULL,
    source TEXT NOT NULL, predicate TEXT NOT NULL, target TEXT NOT NULL, status TEXT NOT NULL, confidence TEXT,
    raw BLOB NOT NULL
);
CREATE INDEX edges_by_ref ON edges (ref);
CREATE INDEX edges_by_path ON edges (layer, path);
CREATE INDEX edges_by_source ON edges (source);
CREATE INDEX edges_by_target ON edges (target);
-- What was worked out about records, and can be worked out again.
CREATE TABLE memos (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE problems (
    layer TEXT NOT NULL, path TEXT NOT NULL, code TEXT NOT NULL, message TEXT NOT NULL
);
CREATE INDEX problems_by_path ON problems (layer, path);
CREATE VIRTUAL TABLE words USING fts5 (
    title, names, body, content = '', contentless_delete = 1, tokenize = '{TOKENIZER}'
);
INSERT INTO words (words, rank) VALUES ('rank', 'bm25({FIELD_WEIGHTS})');
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, 'row');
CREATE TABLE vectors (
    id INTEGER PRIMARY KEY, record INTEGER NOT NULL, space TEXT NOT NULL, vector BLOB NOT NULL
);
CREATE TABLE signs (id INTEGER PRIMARY KEY, bits BLOB NOT NULL);
CREATE INDEX vectors_by_record ON vectors (record);
-- Every space that a vector is in, with the folder of the network that made it; empty for the table's own.
CREATE TABLE spaces (name TEXT PRIMARY KEY, folder TEXT NOT NULL) WITHOUT ROWID;
"""

RECORD_COLUMNS = (
    "ref, layer, kind, title, text, status, path, stage, section, scope, weight, half_life, since, created_at,"
    " updated_at, tags, anchors, origin, seen, commit_id, contested, raw"
)
EDGE_COLUMNS = "ref, source, predicate, target, status, path, confidence, raw"


_LISTS = ("tags", "anchors", "seen", "contested")


def row_of_record(record: Record) -> tuple[Any, ...]:
    """What `RECORD_COLUMNS` hold of a record."""
    fields = {name: getattr(record, name) for name in RECORD_COLUMNS.replace("commit_id", "commit").split(", ")}
    for name in _LISTS:
        fields[name] = msgspec.json.encode(fields[name]).decode()
    fields["stage"] = record.stage or ""
    return tuple(fields.values())


def record_of_row(row: tuple[Any, ...]) -> Record:
    # Field by field: a table of names would cost three times as much, for every record that is read.
    (ref, layer, kind, title, text, status, path, stage, section, scope, weight, half_life, since, *rest) = row
    created_at, updated_at, tags, anchors, origin, seen, commit, contested, raw = rest
    return Record(
        ref=ref,
        layer=layer,
        kind=kind,
        title=title,
        text=text,
        status=status,
        path=path,
        stage=stage or None,
        section=section,
        scope=scope,
        weight=weight,
        half_life=half_life,
        since=since,
        created_at=created_at,
        updated_at=updated_at,
        tags=tuple(msgspec.json.decode(tags)),
        anchors=tuple(msgspec.json.decode(anchors)),
        origin=origin,
        seen=tuple(msgspec.json.decode(seen)),
        commit=commit,
        contested=tuple(msgspec.json.decode(contested)),
        raw=raw,
    )


def edge_of_row(row: tuple[Any, ...]) -> Edge:
    ref, source, predicate, target, status, path, confidence, raw = row
    return Edge(
        ref=ref,
        source=source,
        predicate=predicate,
        target=target,
        status=status,
        path=path,
        confidence=confidence,
        raw=raw,
    )
