"""Instruction files of coding agents: what they say about the project, and what a person wants.

They all are Markdown that a team or a person wrote for agents; they differ in where they lie and what their head is
called. What a project keeps is about the project; what lies in the home folder, or in a file that git does not see,
is about its user.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from quire.capture.hosts.documents import HostDocument, read_document
from quire.capture.hosts.imports import with_imports
from quire.capture.hosts.proposal_collector import ProposalCollector
from quire.capture.hosts.sections import Manner, propose_facts, propose_preferences
from quire.capture.hosts.source_files import home_sources, named_files, names_below, project_sources
from quire.capture.hosts.text_anchors import globs_of, patterns_of
from quire.capture.hosts.topics import ARCHITECTURE
from quire.capture.hosts.types import HostRead, HostSource
from quire.capture.transcripts.types import KnownPlaces
from quire.inbox.proposals import Proposal
from quire.model.records import Problem

_OURS = "quire-memory"
"""Rules of this name are what we wrote ourselves."""
_LOCAL = "CLAUDE.local.md"
_DEPTH = 4
_WITH_IMPORTS = ("claude-md", "gemini-md")
_BESIDE_CODE = ("claude-md", "agents-md", "gemini-md")
_ONE_OF_ALL = (".cursorrules", ".clinerules", ".github/copilot-instructions.md")
"""Files that hold all the rules of a project."""
_SAYS_NOTHING = frozenset(
    (
        *("", "agents", "claude", "copilot-instructions", "gemini", "readme"),
        *("base", "default", "general", "global", "index", "instructions", "main", "project", "rules"),
    )
)
_HOST_FOLDERS = (".claude", ".gemini", ".github", ".codex")
_PATTERNS_SHOWN = 5

# -- finding --------------------------------------------------------------------------------------


def find_claude_md(root: str, home: str, env: Mapping[str, str]) -> list[HostSource]:
    names = [".claude/CLAUDE.md", *named_files(root, ("CLAUDE.md", _LOCAL))]
    config = env.get("CLAUDE_CONFIG_DIR") or (os.path.join(home, ".claude") if home else "")
    own = [os.path.join(config, "CLAUDE.md")] if config else []
    return [*project_sources("claude-md", root, names), *home_sources("claude-md", own, home)]


def find_claude_rules(root: str, _home: str, _env: Mapping[str, str]) -> list[HostSource]:
    return project_sources("claude-rules", root, _rules(root, ".claude/rules", (".md",)))


def find_agents_md(root: str, _home: str, _env: Mapping[str, str]) -> list[HostSource]:
    return project_sources("agents-md", root, named_files(root, ("AGENTS.md",)))


def find_gemini_md(root: str, home: str, _env: Mapping[str, str]) -> list[HostSource]:
    names = [".gemini/GEMINI.md", *named_files(root, ("GEMINI.md",))]
    own = [os.path.join(home, ".gemini", "GEMINI.md")] if home else []
    return [*project_sources("gemini-md", root, names), *home_sources("gemini-md", own, home)]


def find_cursor_rules(root: str, _home: str, _env: Mapping[str, str]) -> list[HostSource]:
    names = [".cursorrules", *_rules(root, ".cursor/rules", (".mdc", ".md"))]
    return project_sources("cursor-rules", root, names)


def find_cline_rules(root: str, _home: str, _env: Mapping[str, str]) -> list[HostSource]:
    names = [".clinerules", *_rules(root, ".clinerules", (".md", ".txt"))]
    return project_sources("cline-rules", root, names)


def find_copilot_instructions(root: str, _home: str, _env: Mapping[str, str]) -> list[HostSource]:
    names = [".github/copilot-instructions.md", *_rules(root, ".github/instructions", (".instructions.md",))]
    return project_sources("copilot-instructions", root, names)


def _rules(root: str, folder: str, endings: tuple[str, ...]) -> list[str]:
    names = names_below(root, folder, endings, _DEPTH)
    return [name for name in names if not os.path.basename(name).startswith(_OURS)]


# -- reading --------------------------------------------------------------------------------------


def read(source: HostSource, places: KnownPlaces, now: str) -> HostRead:
    document = read_document(source.path, source.shown, places, source.scope)
    documents = with_imports(document, source, places) if source.kind in _WITH_IMPORTS else [document]
    proposals: dict[str, Proposal] = {}
    problems: list[Problem] = []
    skipped = 0
    for each in documents:
        gathering = _gathered(each, source, places, now)
        for proposal in gathering.proposals:
            proposals.setdefault(proposal.id, proposal)
        problems += gathering.problems
        skipped += gathering.skipped
    return HostRead(source=source, proposals=tuple(proposals.values()), problems=tuple(problems), skipped=skipped)


def _gathered(document: HostDocument, source: HostSource, places: KnownPlaces, now: str) -> ProposalCollector:
    globs = globs_of(document.head, document.head_text)
    folder = _folder(source)
    gathering = ProposalCollector(document, places.root, now, [*globs, *([f"{folder}/"] if folder else [])])
    if source.scope == "user" or os.path.basename(source.path) == _LOCAL:
        propose_preferences(gathering, document)
        return gathering
    patterns = patterns_of(document.head, document.head_text)[:_PATTERNS_SHOWN]
    title = document.title or _name(document)
    # A rule, or a file that is brought in, has one subject, without which its sections are not understood.
    is_rule = document.path != source.path or not (source.kind in _BESIDE_CODE or source.shown in _ONE_OF_ALL)
    manner = Manner(
        title=title,
        prefix=folder or (title if is_rule else ""),
        suffix=f"for {', '.join(patterns)}" if patterns else "",
        intro="" if is_rule else ARCHITECTURE,
    )
    propose_facts(gathering, document.parts, manner)
    return gathering


def _folder(source: HostSource) -> str:
    """The folder whose code the instructions lie beside; empty at the top."""
    folder = os.path.dirname(source.shown)
    is_beside = source.kind in _BESIDE_CODE and source.scope == "project" and folder not in _HOST_FOLDERS
    return folder if is_beside else ""


def _name(document: HostDocument) -> str:
    """What a rule without a title is called by its file; nothing where all such files have that name."""
    stem = os.path.basename(document.shown).partition(".")[0]
    return "" if stem.lower() in _SAYS_NOTHING else stem.replace("-", " ").replace("_", " ").strip()
