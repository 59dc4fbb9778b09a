"""Render the bundle as five Markdown pages, each with a first line that says from what."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from msgspec import Struct

from quire.layers.journal import layout
from quire.layers.journal.bundles import entry_file, known, labelled, objects_at, shown, texts_at
from quire.layers.journal.layout import PROJECTION_FILES, PROJECTION_VERSION, PROJECTIONS
from quire.layers.journal.text_match import flat
from quire.layers.journal.types import Bundle, Fields, State

_MARKER = re.compile(
    r"\A<!-- agent-memory:projection file=([a-z-]+) version=([0-9]{1,9}) bundleHash=([0-9a-f]+) -->", re.ASCII
)
NOTHING = "Nothing recorded yet."
_WRITTEN = "These pages are written by `agent-memory` from the memory of this repository; edits here do not last."
_TRAPS = "Traps that took long to find and would again. What is obvious from the code is not listed."
_FACTS = (
    ("Primary ecosystem", "primaryEcosystem"),
    ("Package manager", "packageManager"),
    ("Workspace mechanism", "workspaceManager"),
)
_GOTCHA = (("Symptom", "symptom"), ("Cause", "cause"), ("Correct path", "correctPath"))
_STEP = (("Why", "why"), ("Start", "start"), ("Done when", "done"))
_WHEN = {
    "gotchas": " if something behaves in a way you did not expect",
    "next-steps": " if you are looking for something to do",
}
_COMMANDS = (
    ("update", "looks at the project again and writes the memory anew."),
    ("sync --all", "imports new sessions from all sources."),
    ("recall", "works what happened since the last time into the memory."),
    ('query "..."', "answers from the memory and says where each part comes from."),
    ("validate", "checks state, history, checkpoints and these pages."),
)
_TROUBLES = (
    "`sync` that names failed items has kept all others; run it again when the cause is repaired.",
    "`recall` that finds nothing to do has already seen every event of the scope that was asked for.",
    "`query` that finds too little evidence says so instead of guessing; import more sessions, or recall first.",
)
_HOLDS = {
    "project-map": "how the project is built: modules, ways in, notes on its architecture.",
    "current-focus": "what is going on now, what is at risk, and what the last checks found.",
    "gotchas": "what went wrong before, why, and what to do instead.",
    "next-steps": "what to do next, where to begin, and when it is done.",
}


class Projection(Struct, frozen=True):
    """A page: its id, its path in the project, and its whole text."""

    file_id: str
    path: str
    text: str


class ProjectionMarker(Struct, frozen=True):
    """What the first line of a page says of it."""

    file_id: str
    version: int
    bundle_hash: str


def projection_marker(text: str) -> ProjectionMarker | None:
    """The marker at the very beginning of a page; None where there is none."""
    found = _MARKER.match(text)
    return ProjectionMarker(found[1], int(found[2]), found[3]) if found else None


def render_projections(state: State) -> tuple[Projection, ...]:
    """All pages, in the order in which they are read. The same state gives the same bytes."""
    pages: dict[str, Callable[[State], list[str]]] = {
        "readme": _readme,
        "project-map": lambda held: _project_map(held.bundle),
        "current-focus": lambda held: _current_focus(held.bundle),
        "gotchas": lambda held: _gotchas(held.bundle),
        "next-steps": lambda held: _next_steps(held.bundle),
    }
    return tuple(
        Projection(file_id, f"{PROJECTIONS}/{name}", _page(file_id, state.bundle_hash, pages[file_id](state)))
        for file_id, name in PROJECTION_FILES.items()
    )


def reading_order() -> list[str]:
    """The pages as a numbered list."""
    return [
        f"{number}. `{PROJECTIONS}/{name}`{_WHEN.get(file_id, '')}"
        for number, (file_id, name) in enumerate(PROJECTION_FILES.items(), start=1)
    ]


def _page(file_id: str, bundle_hash: str, blocks: list[str]) -> str:
    marker = f"<!-- agent-memory:projection file={file_id} version={PROJECTION_VERSION} bundleHash={bundle_hash} -->"
    return f"{marker}\n" + "\n\n".join(blocks).rstrip() + "\n"


def _readme(state: State) -> list[str]:
    folder = layout.FOLDER
    return [
        "# Agent Memory",
        _WRITTEN,
        "## Canonical System",
        _bullets(
            [
                f"Canonical state file: `{folder}/{layout.STATE}`",
                f"History log: `{folder}/{layout.EVENTS}`",
                f"Checkpoints: `{folder}/{layout.CHECKPOINTS}/`",
                f"Import sources: `{folder}/{layout.SOURCES}`",
                f"Last generated: {flat(state.generated_at)}",
                f"Provider: `{flat(state.provider.name)}`",
                f"Recommended entry file: `{flat(entry_file(state.bundle))}`",
            ]
        ),
        "## Reading Order",
        "\n".join(reading_order()),
        "## Refresh Flow",
        _bullets(f"`agent-memory {command}` {does}" for command, does in _COMMANDS),
        "## Troubleshooting Notes",
        _bullets(_TROUBLES),
        "## What Lives Here",
        _bullets(f"`{PROJECTION_FILES[file_id]}`: {holds}" for file_id, holds in _HOLDS.items()),
    ]


def _project_map(bundle: Bundle) -> list[str]:
    project = bundle.get("project")
    facts = [
        *(f"{label}: {flat(shown(project, name))}" for label, name in _FACTS),
        f"Recommended entry file: `{flat(entry_file(bundle))}`",
    ]
    modules = objects_at(bundle, "projectMap", "modules")
    return [
        "# Project Map",
        _line(project, "summary") or NOTHING,
        *_section("Engineering Facts", facts),
        *_section("Key Paths", _quoted(texts_at(bundle, "project", "keyPaths"))),
        *_section(
            "Modules",
            (
                labelled(f"`{_line(item, 'path')}` ({_line(item, 'name')})", _line(item, "responsibility"))
                for item in modules
            ),
        ),
        *_section("Entrypoints", _places(objects_at(bundle, "projectMap", "entrypoints"), "role")),
        *_section("Dense Source Areas", _places(objects_at(bundle, "projectMap", "denseSourceAreas"), "note")),
        *_section("Architecture Notes", map(flat, texts_at(bundle, "projectMap", "architectureNotes"))),
        *_section("First Files To Read", _quoted(texts_at(bundle, "projectMap", "firstFilesToRead"))),
    ]


def _current_focus(bundle: Bundle) -> list[str]:
    focus = bundle.get("currentFocus")
    snapshot = focus.get("validationSnapshot") if isinstance(focus, dict) else None
    known = [
        f"Status: {_line(snapshot, 'status')}",
        f"Validated at: {_line(snapshot, 'validatedAt') or 'not recorded'}",
        f"Summary: {_line(snapshot, 'summary')}",
    ]
    results = (
        labelled(f"{_line(item, 'status').upper()} {_line(item, 'command')}", _line(item, "summary"))
        for item in objects_at(snapshot, "results")
    )
    commands = (
        labelled(f"`{flat(' '.join(texts_at(item, 'command')))}` ({_line(item, 'label')})", _line(item, "purpose"))
        for item in objects_at(bundle, "validationCommands")
    )
    return [
        "# Current Focus",
        _line(focus, "summary") or NOTHING,
        *_section("Current State", map(flat, texts_at(focus, "currentState"))),
        *_section("Known Risks", map(flat, texts_at(focus, "knownRisks"))),
        *_section("Validation Snapshot", known),
        *_section("Validation Results", results),
        *_section("Suggested Next Actions", map(flat, texts_at(snapshot, "suggestedNextActions"))),
        *_section("Agent-Recommended Validation Commands", commands),
    ]


def _gotchas(bundle: Bundle) -> list[str]:
    blocks = ["# Gotchas", _TRAPS]
    for item in objects_at(bundle, "gotchas"):
        blocks += [f"## {_line(item, 'title')}", *_fields(item, _GOTCHA)]
    return blocks if len(blocks) > 2 else [*blocks, NOTHING]


def _next_steps(bundle: Bundle) -> list[str]:
    blocks = ["# Next Steps"]
    for number, item in enumerate(objects_at(bundle, "nextSteps"), start=1):
        blocks += [f"## {number}. {_line(item, 'title')}", *_fields(item, _STEP)]
    return blocks if len(blocks) > 1 else [*blocks, NOTHING]


def _section(title: str, items: Iterable[str]) -> list[str]:
    return [f"## {title}", _bullets(list(items) or [NOTHING])]


def _bullets(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


def _quoted(paths: list[str]) -> list[str]:
    return [f"`{flat(path)}`" for path in paths]


def _places(items: list[Fields], said: str) -> list[str]:
    return [labelled(f"`{_line(item, 'path')}`", _line(item, said)) for item in items]


def _fields(value: object, names: Iterable[tuple[str, str]]) -> list[str]:
    """What is known, each with its label; what is not is left out."""
    return [f"{label}: {text}" for label, name in names if (text := _line(value, name))]


def _line(value: object, name: str) -> str:
    """A text of the bundle on one line: a break in it would make a heading or a list of its own."""
    return flat(known(value, name))
