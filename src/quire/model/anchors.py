"""Parse and normalise anchors: repository paths and globs that tie a record to code."""

from __future__ import annotations

OWN_FOLDERS = (".agent-memory", ".ai-state", ".memory")
OWN_FILES = ("AGENTS.md", "CLAUDE.md")
"""What the memory writes itself: no folder or pattern covers it, or every save would change what it seals."""


def normal_anchor(anchor: str) -> str:
    """The anchor as it is stored: no leading `./`, no empty or `.` segments, a trailing slash kept."""
    parts = [part for part in anchor.strip().split("/") if part not in ("", ".")]
    tail = "/" if parts and anchor.strip().endswith("/") else ""
    return "/".join(parts) + tail


def anchor_fault(anchor: str) -> str | None:
    """Why an anchor, as given, may not be stored; None when it may."""
    text = anchor.strip()
    if not text or not normal_anchor(text):
        return "is not a path inside the repository"
    if "\\" in text:
        return "holds a backslash; write paths with forward slashes"
    if "\0" in text or "\n" in text:
        return "holds a character that no path can have"
    if "://" in text:
        return "is a URL; anchors are paths in this repository"
    if text.startswith(("/", "~")) or text[1:2] == ":":
        return "is absolute; anchors are relative to the repository's root"
    if ".." in text.split("/"):
        return "is outside this repository"
    if normal_anchor(text).rstrip("/").split("/")[0] == ".memory":
        return "points into the memory itself"
    return None
