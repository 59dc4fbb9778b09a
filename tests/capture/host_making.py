"""Projects and home folders with the files that hosts keep, as teams and people write them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from quire.capture.hosts.registry import find_hosts, read_host
from quire.capture.hosts.types import HostRead, HostSource
from quire.capture.transcripts.claude import encoded_folder

NOW = "2026-05-01T08:00:00Z"
_DOCUMENTS = Path(__file__).parent / "host_documents"


class Machine:
    """A project and a home folder beside it."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "harbor"
        self.home = folder / "home"
        self.root.mkdir()
        self.home.mkdir()

    def write(self, path: str, text: str) -> None:
        """A file of the project, or of the home folder where the path begins with `~/`."""
        target = self.home / path[2:] if path.startswith("~/") else self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    def put(self, document: str, path: str) -> None:
        text = (_DOCUMENTS / document).read_text(encoding="utf-8")
        self.write(path, text.replace("@ROOT@", str(self.root)))

    @property
    def notes(self) -> str:
        """Where Claude Code keeps its notes on this project."""
        return f"~/.claude/projects/{encoded_folder(str(self.root))}/memory"

    def find(self, *kinds: str, **env: str) -> list[HostSource]:
        return find_hosts(str(self.root), str(self.home), env, kinds)

    def read(self, kind: str, shown: str = "") -> HostRead:
        """What the one source of a kind says, or the one that is shown so."""
        (source,) = [source for source in self.find(kind) if shown in ("", source.shown)]
        return read_host(source, str(self.root), str(self.home), NOW)


def said(read: HostRead) -> list[tuple[Any, ...]]:
    """Each proposal as: the line it stands on, what it is, where it belongs, and what it says."""
    found: list[tuple[Any, ...]] = []
    for proposal in read.proposals:
        line = int(proposal.evidence[0].where.rpartition(":")[2])
        fields = proposal.fields
        if proposal.into == "facts":
            found.append((line, "fact", fields["section"], fields["content"]))
        elif proposal.into == "profile":
            found.append((line, f"{fields['category']}.{fields['key']}", fields["value"]))
        elif proposal.into == "notes":
            found.append((line, "next step", fields["text"]))
        else:
            found.append((line, fields["kind"], fields["title"], fields["body"]))
    return found
