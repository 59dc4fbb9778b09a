"""What the memory says of a project: its focus, its design, its traps and its next steps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from repository_making import build, consolidate, put, session, titles

from quire.capture.repository.bundle import Validation
from quire.layers.journal.evidence_groups import group_events


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project without git."""
    (tmp_path / "harbor").mkdir()
    return tmp_path / "harbor"


# -- the focus ------------------------------------------------------------------------------


def test_before_the_first_commit(repo: Path, environment: dict[str, str]) -> None:
    put(repo, {"README.md": "# Harbor\n\nTakes orders.\n"})
    bundle = build(repo, environment)
    assert bundle["currentFocus"]["summary"] == "On branch `main`, nothing is committed yet."
    assert bundle["project"]["summary"] == "Takes orders."


def test_the_focus_is_told_by_branch_and_commits(repo: Path, environment: dict[str, str], git) -> None:
    environment |= {"GIT_COMMITTER_DATE": "2026-03-02T11:00:00Z"}
    put(repo, {"src/billing/a.py": '"""Bills."""', "src/berths/b.py": ""})
    git.commit("Begin")
    git("switch", "--quiet", "--create", "feature/rounding")
    put(repo, {"src/billing/a.py": "1", "tests/a.py": "", "tests/b.py": ""})
    git.commit("fix(billing): Round once")
    put(repo, {"src/billing/a.py": "2"})
    git.commit("Cents are integers")
    put(repo, {"src/berths/b.py": "2"})
    git.commit("Bump x from 1 to 2")
    environment.pop("GIT_COMMITTER_DATE")
    focus = build(repo, environment)["currentFocus"]
    assert focus["summary"] == (
        "On branch `feature/rounding`, the last 4 commits (2026-03-02) changed mostly `src/billing` (2), "
        "`src/berths` (1); the latest is “Cents are integers”."
    )
    assert focus["currentState"] == [
        "Commits in `src/billing`: Cents are integers; Round once",
        "Commits in `src/berths`: Begin",
    ]


def test_merges_are_not_told(repo: Path, environment: dict[str, str], git) -> None:
    put(repo, {"a/x.py": ""})
    git.commit("Begin")
    git("switch", "--quiet", "--create", "side")
    put(repo, {"b/y.py": ""})
    git.commit("Aside")
    git("switch", "--quiet", "main")
    git("merge", "--quiet", "--no-ff", "--message", "Joined here", "side")
    focus = build(repo, environment)["currentFocus"]
    assert "the last 2 commits" in focus["summary"]
    assert "Joined" not in json.dumps(focus)


def test_no_branch_and_one_commit(repo: Path, environment: dict[str, str], git) -> None:
    environment |= {"GIT_COMMITTER_DATE": "2026-03-02T11:00:00Z"}
    put(repo, {"top.py": ""})
    git.commit("Begin")
    environment.pop("GIT_COMMITTER_DATE")
    git("checkout", "--quiet", "--detach")
    summary = build(repo, environment)["currentFocus"]["summary"]
    assert summary == "On no branch, the last commit (2026-03-02): the latest is “Begin”."


def test_the_change_log_tells_state_risks_and_steps(root: Path, environment: dict[str, str]) -> None:
    log = (
        "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- Rounding by *season*.\n- [ ] Rounding by year\n\n"
        "### Known issues\n\n- Old invoices differ by a cent.\n\n### Planned\n\n- Draw the map\n\n"
        "## [1.0.0]\n\n- First release.\n- [ ] Forgotten\n"
    )
    bundle = build(put(root, {"CHANGELOG.md": log}), environment)
    assert bundle["currentFocus"]["currentState"] == ["Unreleased, Added: Rounding by season."]
    assert bundle["currentFocus"]["knownRisks"] == ["Old invoices differ by a cent. (CHANGELOG.md)"]
    assert titles(bundle, "nextSteps") == ["Rounding by year", "Draw the map"]


def test_marks_in_files_changed_last_are_risks(repo: Path, environment: dict[str, str], git) -> None:
    put(repo, {"src/old.py": "# FIXME: old and quiet\n"})
    for n in range(31):
        git.commit(f"Step {n}")
    put(
        repo,
        {
            "src/a.py": "x = 1\n    # FIXME(kim): rounds twice\n# XXX\ny = '# FIXME: text'\n",
            "tests/t.py": "# FIXME: no\n",
        },
    )
    git.commit("Rounding")
    assert build(repo, environment)["currentFocus"]["knownRisks"] == ["FIXME in `src/a.py`: rounds twice"]


def test_how_validations_ended(root: Path, environment: dict[str, str]) -> None:
    put(root, {"Makefile": "test:\n\tx\n"})
    passed = Validation(
        label="tests", command="make test", status="passed", summary="12 passed", at="2026-01-01T00:00:00.000Z"
    )
    failed = Validation(label="lint", command="make lint", status="failed", summary="", at="2026-01-02T00:00:00.000Z")
    snapshot = build(root, environment, validations=[passed, failed])["currentFocus"]["validationSnapshot"]
    assert snapshot == {
        "status": "mixed",
        "validatedAt": "2026-01-02T00:00:00.000Z",
        "summary": "1 of 2 validation commands passed.",
        "results": [
            {"label": "tests", "command": "make test", "status": "passed", "summary": "12 passed"},
            {"label": "lint", "command": "make lint", "status": "failed", "summary": "none"},
        ],
        "suggestedNextActions": ["Run `make lint`."],
    }
    for given, status in (([passed], "passed"), ([failed], "failed"), ([], "not-run")):
        bundle = build(root, environment, validations=given)
        assert bundle["currentFocus"]["validationSnapshot"]["status"] == status
    assert bundle["currentFocus"]["validationSnapshot"]["suggestedNextActions"] == ["Run `make test`."]
    known = build(root, environment, validations=[passed])
    later = build(root, environment, previous=known)
    assert later["currentFocus"]["validationSnapshot"] == known["currentFocus"]["validationSnapshot"]


# -- architecture, gotchas, steps -----------------------------------------------------------


def test_notes_on_architecture_come_from_pages_and_records(root: Path, environment: dict[str, str]) -> None:
    put(
        root,
        {
            "README.md": "# H\n\nTakes orders.\n\n## How it works\n\nOrders pass the cache first. Then more.\n\n"
            "## Usage\n\nRun it now.\n",
            "ARCHITECTURE.md": "# Architecture\n\nPlain files are the truth.\n\n## The lock\n\nThere is one lock.\n"
            "It is a file.\n\n## Steps\n\n1. one\n",
            "docs/adr/0001-old.md": "# 1. Use XML\n\nStatus: superseded by 2\n\n## Decision\n\nWe use XML.\n",
            "docs/adr/0002-json.md": "# ADR-2: Use JSON\n\n## Status\n\nAccepted\n\n## Decision\n\nWe use JSON. Now.\n",
        },
    )
    assert build(root, environment)["projectMap"]["architectureNotes"] == [
        "How it works: Orders pass the cache first. (README.md)",
        "Architecture: Plain files are the truth. (ARCHITECTURE.md)",
        "The lock: There is one lock. (ARCHITECTURE.md)",
        "Use JSON: We use JSON. (docs/adr/0002-json.md)",
    ]


@pytest.mark.parametrize(
    ("text", "gotcha"),
    [
        (
            "> [!WARNING]\n> Stale output fails silently. Run `make clean` first.\n",
            ("Stale output fails silently", "Stale output fails silently.", "none", "Run `make clean` first."),
        ),
        (
            "**Caution:** Cents drift because floats round.\n",
            (
                "Cents drift because floats round",
                "none",
                "Cents drift because floats round.",
                "See README.md, “Harbor”.",
            ),
        ),
        (
            "> **Note**: Tests need a port.\n",
            ("Tests need a port", "Tests need a port.", "none", "See README.md, “Harbor”."),
        ),
        (
            '!!! danger "Two writers"\n    Never start two writers.\n',
            ("Two writers", "none", "none", "Never start two writers."),
        ),
        (
            ":::warning[Two writers]\nNever start two writers.\n:::\n",
            ("Two writers", "none", "none", "Never start two writers."),
        ),
        (
            "## Gotchas\n\n- **Cents drift**: Totals are wrong. Use integers.\n",
            ("Cents drift", "Totals are wrong.", "none", "Use integers."),
        ),
        (
            "## Troubleshooting\n\n### The port is taken\n\nAnother server runs. Stop it.\n",
            ("The port is taken", "The port is taken", "Another server runs.", "Stop it."),
        ),
        ("⚠️ Do not edit `dist`.\n", ("Do not edit `dist`", "none", "none", "Do not edit `dist`.")),
    ],
)
def test_traps_that_pages_warn_of(
    text: str, gotcha: tuple[str, str, str, str], root: Path, environment: dict[str, str]
) -> None:
    bundle = build(put(root, {"README.md": f"# Harbor\n\n{text}"}), environment)
    names = ("title", "symptom", "cause", "correctPath")
    assert [tuple(item[name] for name in names) for item in bundle["gotchas"]] == [gotcha]
    assert bundle["gotchas"][0]["source"] == "README.md"


def test_what_only_looks_like_a_warning_is_none(root: Path, environment: dict[str, str]) -> None:
    text = (
        "# H\n\nNoteworthy things.\n\n```\nWarning: in code\n```\n\n| Warning: | in a table |\n\nThe warning: late.\n"
    )
    put(root, {"README.md": text, "docs/agent-memory/gotchas.md": "# Gotchas\n\n## Old trap\n\nSymptom: x\n"})
    assert build(root, environment)["gotchas"] == []


def test_known_limitations_are_risks(root: Path, environment: dict[str, str]) -> None:
    put(root, {"README.md": "# H\n\n## Known limitations\n\n- Only one *currency*.\n- ~~Two berths~~\n"})
    assert build(root, environment)["currentFocus"]["knownRisks"] == ["Only one currency. (README.md)"]


def test_open_items_of_lists_are_next_steps(root: Path, environment: dict[str, str]) -> None:
    todo = (
        "# To do\n\n## Billing\n\n- [ ] Round once in `src/a.py`\n- [x] Done already\n- plain among boxes\n"
        "- [ ] Draw maps **Why:** Nobody finds berths. **Done when:** The map opens.\n\n"
        "## Done\n\n- [ ] Not any more\n\n### Older\n\n- [ ] Long ago\n"
    )
    put(root, {"TODO.md": todo, "ROADMAP.md": "# Roadmap\n\n- Ship it\n", "src/a.py": ""})
    assert build(root, environment)["nextSteps"] == [
        {
            "title": "Ship it",
            "why": "It is listed under “Roadmap” in ROADMAP.md.",
            "start": "See ROADMAP.md.",
            "done": "The item is ticked off or removed in ROADMAP.md.",
            "source": "ROADMAP.md",
        },
        {
            "title": "Round once in `src/a.py`",
            "why": "It is listed under “Billing” in TODO.md.",
            "start": "`src/a.py`",
            "done": "The item is ticked off or removed in TODO.md.",
            "source": "TODO.md",
        },
        {
            "title": "Draw maps",
            "why": "Nobody finds berths.",
            "start": "See TODO.md.",
            "done": "The map opens.",
            "source": "TODO.md",
        },
    ]


def test_steps_and_traps_that_only_look_alike_stay_apart(root: Path, environment: dict[str, str]) -> None:
    names = ["Add unit tests for parser", "Add unit tests for lexer"]
    text = "".join(
        f"**Caution:** {name}\n\n" for name in ("The slow tests of parser time out", "The slow tests of lexer time out")
    )
    put(root, {"TODO.md": "".join(f"- [ ] {name}\n" for name in names), "README.md": f"# H\n\n{text}"})
    bundle = build(root, environment)
    assert titles(bundle, "nextSteps") == names
    assert titles(bundle, "gotchas") == ["The slow tests of parser time out", "The slow tests of lexer time out"]
    later = consolidate(build(root, environment, previous=bundle), group_events([session(3, gotchas=["New: trap"])]))
    assert titles(later, "nextSteps") == names
    assert len(later["gotchas"]) == 3


def test_dense_areas_are_where_most_source_lies(root: Path, environment: dict[str, str]) -> None:
    files = {f"src/app/core/{n}.py": "" for n in range(20)} | {f"src/app/web/{n}.py": "" for n in range(9)}
    put(root, {**files, "tools/x.py": "", "docs/y.md": ""})
    assert build(root, environment)["projectMap"]["denseSourceAreas"] == [
        {"path": "src/app/core", "note": "20 source files"},
        {"path": "src/app/web", "note": "9 source files"},
        {"path": "tools", "note": "1 source file"},
    ]
