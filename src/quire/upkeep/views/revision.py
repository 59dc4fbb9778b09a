"""What is stored of a record now, in short: an edit says by it which text it was made of."""

from __future__ import annotations

import hashlib

_CHARS = 16


def node_revision(sidecar: bytes, body: bytes) -> str:
    """Of a node, by the bytes of its two files."""
    return hashlib.sha256(sidecar + b"\0" + body).hexdigest()[:_CHARS]


def line_revision(line: bytes) -> str:
    """Of a record that is a line of a file, by that line."""
    return hashlib.sha256(line).hexdigest()[:_CHARS]
