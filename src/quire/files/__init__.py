"""The ground: durable writes and transactions, locks, JSON, marked sections, git, discovery, containment."""

from quire.files import disk
from quire.files.digests import blob_id, hex_digest, sha256
from quire.files.discovery import find_root, is_repository_top
from quire.files.durable import ensure_folder, write_file
from quire.files.git import Blob, Git
from quire.files.jsonfile import compact, decode_object, lines, parse_strict, pretty
from quire.files.lock import Holder, held
from quire.files.paths import (
    escaping_part,
    follow_inside,
    inside,
    is_text,
    read_bytes,
    read_inside,
    read_text,
    storage_failed,
)
from quire.files.sections import Markers, Section, find_section, newline_of, place_section, remove_section
from quire.files.transaction import (
    Append,
    Change,
    apply_changes,
    finish_interrupted,
    is_interrupted,
    staged_bytes,
)
from quire.files.world import World, real_world

__all__ = [
    "Append",
    "Blob",
    "Change",
    "Git",
    "Holder",
    "Markers",
    "Section",
    "World",
    "apply_changes",
    "blob_id",
    "compact",
    "decode_object",
    "disk",
    "ensure_folder",
    "escaping_part",
    "find_root",
    "find_section",
    "finish_interrupted",
    "follow_inside",
    "held",
    "hex_digest",
    "inside",
    "is_interrupted",
    "is_repository_top",
    "is_text",
    "lines",
    "newline_of",
    "parse_strict",
    "place_section",
    "pretty",
    "read_bytes",
    "read_inside",
    "read_text",
    "real_world",
    "remove_section",
    "sha256",
    "staged_bytes",
    "storage_failed",
    "write_file",
]
