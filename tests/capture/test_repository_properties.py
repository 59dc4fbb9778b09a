"""Whatever lies in a folder: no look at it fails, every bundle is whole, and the same files give the same bundle."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from repository_making import build, consolidate, put, session

from quire.capture.repository.clean_text import plain, said
from quire.layers.journal.canonical import canonical_text, decode_json
from quire.layers.journal.evidence_groups import group_events
from quire.layers.journal.shapes import bundle_faults
from thorough import examples

NAMES = [
    *(
        "README.md",
        "README.rst",
        "AGENTS.md",
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "TODO.md",
        "ROADMAP.md",
        "CONTRIBUTING.md",
    ),
    *(
        "package.json",
        "pyproject.toml",
        "Cargo.toml",
        "go.mod",
        "go.work",
        "setup.cfg",
        "pnpm-workspace.yaml",
        "pubspec.yaml",
    ),
    *(
        "Makefile",
        "justfile",
        "tox.ini",
        ".github/workflows/ci.yml",
        ".travis.yml",
        "docs/adr/0001-x.md",
        "docs/faq.md",
    ),
    *(
        "src/a/__init__.py",
        "src/b/index.ts",
        "src/c/lib.rs",
        "cmd/d/main.go",
        "internal/e/doc.go",
        "src/main.rs",
        "x.py",
    ),
    *(
        "packages/f/package.json",
        "packages/f/README.md",
        "crates/g/Cargo.toml",
        "crates/g/src/lib.rs",
        "lib/h/__main__.py",
    ),
]
PIECES = st.sampled_from(
    [
        *(
            "# ",
            "## Gotchas\n",
            "## Unreleased\n",
            "### Known issues\n",
            "## Decision\n",
            "## Architecture\n",
            "\n\n",
            "\n",
        ),
        *(
            "- ",
            "- [ ] ",
            "- [x] ",
            "> [!WARNING]\n> ",
            "**Warning:** ",
            "Note: ",
            "!!! danger\n",
            ":::note\n",
            "| `src/a` | ",
        ),
        *(
            "```\n",
            "<!-- a start -->",
            "<!-- a end -->",
            "<b>",
            "[x](y)",
            "![i](j)",
            "`src/a`: ",
            "**",
            "_",
            "`",
            "word ",
            "Run. ",
        ),
        *(
            '"""',
            "/**\n * ",
            "*/",
            "//! ",
            "// Package e ",
            "package e\n",
            "#!",
            "# FIXME: ",
            "test:\n\t",
            "lint: ## x\n",
        ),
        *(
            '{"name": "',
            '", "main": "',
            '", "bin": {"',
            '"}',
            "[project]\n",
            'name = "',
            '"\n',
            "[workspace]\nmembers = [",
        ),
        *(
            '"packages/*"',
            "]",
            "module x\n",
            "use ./",
            "packages:\n- ",
            "run: make test",
            "../",
            "/etc/passwd",
            "\t",
            "  ",
            "=\n",
            "---\n",
        ),
        *(
            "\ufeff",
            "\u202e",
            "\x00",
            "\x1b[0m",
            "\u2028",
            "漢字。",
            "é",
            "\ud7ff",
            "🚀",
            "because ",
            "never ",
            "fails. ",
        ),
    ]
)
CONTENTS = st.one_of(
    st.lists(PIECES, max_size=40).map("".join).map(lambda text: text.encode("utf-8", "replace")),
    st.binary(max_size=200),
    st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")),
)
TREES = st.dictionaries(st.sampled_from(NAMES), CONTENTS, max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
FIELDS = (
    "name",
    "description",
    "version",
    "packageManager",
    "scripts",
    "bin",
    "main",
    "module",
    "exports",
    "workspaces",
)
TEXTS = st.lists(
    st.one_of(
        st.text(max_size=60),
        st.lists(PIECES, max_size=5).map("".join),
        st.sampled_from(
            ["DONE: a step", "NEXT: a step: start", "A trap: cause", "make test: 3 failed", "a step", "A trap"]
        ),
    ),
    max_size=5,
)


@pytest.fixture(scope="module")
def surroundings() -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8"}


@given(files=TREES)
def test_any_files_make_a_whole_bundle(files: dict[str, bytes], surroundings: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        bundle = build(put(Path(folder) / "p", {**files, "keep": b""}), surroundings)
        # What is stored must come back from the disk as it was.
        assert decode_json(canonical_text(bundle).encode()) == bundle
        assert build(Path(folder) / "p", surroundings, previous=bundle) == bundle


@settings(max_examples=examples(60))
@given(manifest=st.fixed_dictionaries({}, optional=dict.fromkeys(FIELDS, JSON)))
def test_any_manifest_makes_a_whole_bundle(manifest: dict[str, Any], surroundings: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        bundle = build(put(Path(folder) / "p", {"package.json": manifest, "a/package.json": manifest}), surroundings)
        assert bundle["project"]["primaryEcosystem"] == "node"


@st.composite
def histories(draw: Any) -> list[Any]:
    names = ("decisions", "gotchas", "next_step_hints", "key_paths", "validation_observations")
    return [
        session(
            number + 1,
            summary=draw(st.text(max_size=40)) or "x",
            created_at=draw(
                st.sampled_from(["2026-01-01T00:00:00.000Z", "2026-02-01T00:00:00.000Z", "1772359200000", "never"])
            ),
            kind=draw(st.sampled_from(["imported_session", "imported_session", "tool_run"])),
            **{name: draw(TEXTS) for name in names},
        )
        for number in range(draw(st.integers(0, 6)))
    ]


@given(events=histories(), files=TREES)
def test_any_history_is_taken_in_once(events: list[Any], files: dict[str, bytes], surroundings: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        bundle = build(put(Path(folder) / "p", {**files, "keep": b""}), surroundings)
    once = consolidate(bundle, group_events(events))
    assert bundle_faults(once) == []
    assert once["projectMap"] == bundle["projectMap"]
    assert consolidate(once, group_events(events)) == once


@given(text=st.one_of(st.text(max_size=300), st.lists(PIECES, max_size=30).map("".join)))
def test_words_are_on_one_line_and_stay_what_they_are(text: str) -> None:
    words = said(text, 80)
    assert len(words) <= 80
    assert words == " ".join(words.split())
    assert "\n" not in plain(text)
