"""Serena's memories: one Markdown file for each subject, whose name says what it is about."""

from __future__ import annotations

import os
from collections.abc import Mapping

from quire.capture.hosts.documents import read_document
from quire.capture.hosts.proposal_collector import ProposalCollector
from quire.capture.hosts.sections import Manner, propose_facts
from quire.capture.hosts.source_files import names_below, project_sources
from quire.capture.hosts.topics import ARCHITECTURE
from quire.capture.hosts.types import HostRead, HostSource
from quire.capture.transcripts.types import KnownPlaces

_FOLDER = ".serena/memories"
_DEPTH = 4


def find_serena(root: str, _home: str, _env: Mapping[str, str]) -> list[HostSource]:
    return project_sources("serena", root, names_below(root, _FOLDER, (".md",), _DEPTH))


def read(source: HostSource, places: KnownPlaces, now: str) -> HostRead:
    """Facts by section; the memory's name stands for a title that it does not have."""
    document = read_document(source.path, source.shown, places, source.scope)
    gathering = ProposalCollector(document, places.root, now)
    name = os.path.basename(source.shown).removesuffix(".md").replace("_", " ").replace("-", " ").strip()
    propose_facts(gathering, document.parts, Manner(title=name, prefix=name, default=ARCHITECTURE))
    return gathering.read(source)
