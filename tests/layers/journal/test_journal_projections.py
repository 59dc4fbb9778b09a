"""The pages: the layout that other programs know, in our own words, and the same bytes for the same state."""

from __future__ import annotations

import re

import pytest
from journaling import bundle, needs_real, real_files, state, vectors

from quire.layers.journal.canonical import decode_json
from quire.layers.journal.documents import read_state
from quire.layers.journal.projections import NOTHING, ProjectionMarker, projection_marker, render_projections
from quire.layers.journal.types import State
from quire.layers.journal.value_shapes import find_faults, shape_of

PATHS = {
    "readme": "docs/agent-memory/README.md",
    "project-map": "docs/agent-memory/project-map.md",
    "current-focus": "docs/agent-memory/current-focus.md",
    "gotchas": "docs/agent-memory/gotchas.md",
    "next-steps": "docs/agent-memory/next-steps.md",
}


def _pages(held: dict | None = None) -> dict[str, str]:
    return {page.file_id: page.text for page in render_projections(state(held))}


def test_there_are_five_pages_in_their_order_each_with_its_marker() -> None:
    held = state()
    pages = render_projections(held)
    assert {page.file_id: page.path for page in pages} == PATHS
    for page in pages:
        assert projection_marker(page.text) == ProjectionMarker(page.file_id, 3, held.bundle_hash)
        assert page.text.endswith("\n")
        assert not page.text.endswith("\n\n")
    assert render_projections(state()) == pages


def test_the_project_map_shows_every_part() -> None:
    assert _pages()["project-map"].partition("\n")[2] == (
        "# Project Map\n\nInvoices for harbours.\n\n"
        "## Engineering Facts\n\n- Primary ecosystem: python\n- Package manager: uv\n- Workspace mechanism: none\n"
        "- Recommended entry file: `AGENTS.md`\n\n"
        "## Key Paths\n\n- `src/harbor.py`\n- `README.md`\n\n"
        "## Modules\n\n- `src/billing` (billing): Makes invoices.\n\n"
        "## Entrypoints\n\n- `src/harbor.py`: The command.\n\n"
        "## Dense Source Areas\n\n- `src`: 40 files\n\n"
        "## Architecture Notes\n\n- All money is in cents.\n\n"
        "## First Files To Read\n\n- `README.md`\n- `docs/money.md`\n"
    )


def test_the_focus_shows_every_part() -> None:
    assert _pages()["current-focus"].partition("\n")[2] == (
        "# Current Focus\n\nRounding.\n\n"
        "## Current State\n\n- Rounding is half done.\n\n"
        "## Known Risks\n\n- Old invoices differ by a cent.\n\n"
        "## Validation Snapshot\n\n- Status: mixed\n- Validated at: not recorded\n- Summary: One of two passed.\n\n"
        "## Validation Results\n\n- PASSED pytest -q: 12 passed\n\n"
        "## Suggested Next Actions\n\n- Run the other one.\n\n"
        "## Agent-Recommended Validation Commands\n\n- `pytest -q` (tests): Everything.\n"
    )


def test_gotchas_and_steps_are_headings_with_paragraphs() -> None:
    pages = _pages()
    assert pages["gotchas"].endswith(
        "\n\n## Cents drift\n\nSymptom: Off by one.\n\nCause: Floats.\n\nCorrect path: Use integers.\n"
    )
    assert pages["next-steps"].partition("\n")[2] == (
        "# Next Steps\n\n## 1. Round once\n\nWhy: Twice is wrong.\n\nStart: Open src/billing.\n\n"
        "Done when: The test passes.\n"
    )


def test_the_overview_says_where_everything_is() -> None:
    page = _pages()["readme"]
    assert re.findall(r"^#+ .*$", page, re.M) == [
        "# Agent Memory",
        "## Canonical System",
        "## Reading Order",
        "## Refresh Flow",
        "## Troubleshooting Notes",
        "## What Lives Here",
    ]
    for line in (
        "- Canonical state file: `.agent-memory/state.json`",
        "- History log: `.agent-memory/history/events.jsonl`",
        "- Checkpoints: `.agent-memory/history/checkpoints/`",
        "- Import sources: `.agent-memory/sources.json`",
        "- Last generated: 2026-03-02T11:19:00.000Z",
        "- Provider: `codex`",
        "- Recommended entry file: `AGENTS.md`",
        "3. `docs/agent-memory/current-focus.md`",
    ):
        assert f"\n{line}\n" in page


def test_a_break_in_a_value_makes_no_heading_and_half_a_character_can_be_written() -> None:
    held = bundle()
    held["gotchas"][0].update(title="One\n# Two\r\n\r\nThree", cause="half \ud83d \u2028 two")
    page = _pages(held)["gotchas"]
    assert "\n## One # Two Three\n" in page
    assert "\nCause: half \ufffd two\n" in page
    page.encode("utf-8")


def test_what_is_missing_is_empty_and_breaks_nothing() -> None:
    pages = _pages({"gotchas": [None, 3], "currentFocus": "x"})
    assert pages["gotchas"].endswith(f"\n\n{NOTHING}\n")
    assert pages["next-steps"].endswith(f"# Next Steps\n\n{NOTHING}\n")
    assert pages["current-focus"].count(f"- {NOTHING}\n") == 5


@pytest.mark.parametrize(
    ("text", "marker"),
    [
        (
            "<!-- agent-memory:projection file=readme version=3 bundleHash=0a -->\n#",
            ProjectionMarker("readme", 3, "0a"),
        ),
        ("<!-- agent-memory:projection file=a-b version=12 bundleHash=ff -->", ProjectionMarker("a-b", 12, "ff")),
        (" <!-- agent-memory:projection file=readme version=3 bundleHash=0a -->", None),
        ("\ufeff<!-- agent-memory:projection file=readme version=3 bundleHash=0a -->", None),
        ("<!-- agent-memory:projection file=readme version=3 bundleHash=0A -->", None),
        ("<!-- agent-memory:projection file=Readme version=3 bundleHash=0a -->", None),
        ("<!-- agent-memory:projection file=readme version=٣ bundleHash=0a -->", None),
    ],
)
def test_a_marker_counts_at_the_very_beginning_only(text: str, marker: ProjectionMarker | None) -> None:
    assert projection_marker(text) == marker


@needs_real
def test_the_recorded_markers_are_read_alike() -> None:
    for one in vectors("markers")["projection"]:
        found = projection_marker(one["content"])
        known = one["parsed"]
        assert found == (known and ProjectionMarker(known["fileId"], known["version"], known["bundleHash"]))


@needs_real
def test_all_real_pages_have_our_layout_line_by_line() -> None:
    """Only sentences that are the same on every page may differ, and each of ours stands for few of theirs."""
    pages, ours = 0, {}
    for path in real_files("state.json"):
        value = decode_json(path.read_bytes())
        if find_faults(shape_of(State), value, "state"):
            continue
        for page in render_projections(read_state(value)):
            written = path.parents[1] / page.path
            text = written.read_bytes().decode() if written.exists() else ""
            if "\u2028" in text or projection_marker(text) != projection_marker(page.text) or "hand note" in text:
                continue
            theirs, mine = text.split("\n"), page.text.split("\n")
            assert len(theirs) == len(mine), written
            for other, own in zip(theirs, mine, strict=True):
                if other != own:
                    assert not other.startswith("#"), (written, other)
                    ours.setdefault((page.file_id, own), set()).add(other)
            pages += 1
    assert pages > 400
    fixed = {own: others for (_, own), others in ours.items() if own != f"- {NOTHING}"}
    assert all(len(others) == 1 for others in fixed.values())
    assert len(fixed) == 16


@needs_real
def test_the_recorded_pages_have_our_headings_and_values() -> None:
    for one in vectors("projections"):
        pages = {page.file_id: page.text for page in render_projections(read_state(one["state"]))}
        for recorded in one["files"]:
            theirs, mine = recorded["content"].split("\n"), pages[recorded["fileId"]].split("\n")
            assert len(theirs) == len(mine)
            shape = [_shape(line) for line in theirs]
            assert [_shape(line) for line in mine] == shape


def _shape(line: str) -> str:
    """A heading or a marker as it stands; of anything else whether it is a list, a paragraph or nothing."""
    if line.startswith(("#", "<!--")):
        return line
    return line[:2] if line.startswith(("- ", "1. ")) else "paragraph" if line else ""
