"""The journal's commands at a terminal: what is shown before the question, and what each answer does."""

from __future__ import annotations

from pathlib import Path

import pytest
from journal_here import Journal, journal_in, on_a_terminal, write_session

YES = ["", "y", "Y", "yes", "YES"]
NO: list[str | None] = ["n", "no", "nope", "yep", None]


@pytest.fixture
def here(environment: dict[str, str], tmp_path: Path) -> Journal:
    """A project without a journal."""
    return journal_in(tmp_path, environment)


@pytest.fixture
def filled(here: Journal) -> Journal:
    """Two sessions wait to be recalled."""
    here.fill()
    return here


def held(here: Journal) -> dict[str, bytes]:
    files = (path for path in here.root.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {str(path): path.read_bytes() for path in files}


# -- recall -----------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", YES)
def test_recall_shows_asks_and_writes(filled: Journal, answer: str) -> None:
    code, seen = on_a_terminal(filled, "agent-memory", "recall", answers=[answer])
    assert code == 0
    preview, _, rest = seen.partition("Recall? [Y/n] ")
    assert "\nMemory Summary:\n" in preview
    assert "Recalled: checkpoint chk-000002, event " in rest
    assert "Memory Summary" not in rest
    assert filled.checkpoints == ["chk-000001", "chk-000002"]
    assert len(filled.titles["gotchas"]) == 2


@pytest.mark.parametrize("answer", NO)
def test_recall_takes_no_for_an_answer(filled: Journal, answer: str | None) -> None:
    before = held(filled)
    code, seen = on_a_terminal(filled, "memory", "journal", "recall", answers=[answer])
    assert (code, seen.endswith("\nNothing was written.\n")) == (0, True)
    assert held(filled) == before


@pytest.mark.parametrize("option", ["--yes", "-y", "--json", "--dry-run"])
def test_recall_does_not_ask_where_that_was_said(filled: Journal, option: str) -> None:
    code, seen = on_a_terminal(filled, "agent-memory", "recall", option)
    assert (code, "[Y/n]" in seen) == (0, False)
    assert (filled.checkpoints == ["chk-000001"]) is (option == "--dry-run")


def test_recall_does_not_ask_where_there_is_nothing_to_do(filled: Journal) -> None:
    filled.done("recall")
    code, seen = on_a_terminal(filled, "agent-memory", "recall")
    assert (code, "[Y/n]" in seen, "Nothing to recall. " in seen) == (0, False, True)
    write_session(filled.agent / "transcripts/empty.jsonl", ["Hello.", "Hello, what shall I do?"])
    filled.done("sync", "agent")
    if filled.done("recall", "--dry-run")["noop_reason"] is not None:
        on_a_terminal(filled, "agent-memory", "recall")
        assert filled.done("status")["unrecalled"]["all"] == 0


def test_a_model_is_only_asked_after_the_question(filled: Journal) -> None:
    before = held(filled)
    code, seen = on_a_terminal(filled, "agent-memory", "recall", "--provider", "claude", answers=["n"])
    assert (code, "This asks claude, which may cost money" in seen) == (0, True)
    assert "Memory Summary" not in seen
    assert held(filled) == before


# -- init, update, restore --------------------------------------------------------------------


def test_init_shows_asks_and_writes(here: Journal) -> None:
    before = held(here)
    code, seen = on_a_terminal(here, "agent-memory", "init", answers=["n"])
    assert (code, held(here) == before) == (0, True)
    assert "\n- CREATE .agent-memory/state.json: " in seen
    assert "\nCreate the journal? [Y/n] " in seen
    assert "`agent-memory add" not in seen
    code, seen = on_a_terminal(here, "agent-memory", "init", answers=[""])
    assert (code, here.checkpoints) == (0, ["chk-000001"])
    assert "Journal made: checkpoint chk-000001" in seen


def test_init_asks_before_it_starts_over(filled: Journal) -> None:
    before = held(filled)
    code, seen = on_a_terminal(filled, "agent-memory", "init", answers=["n"])
    assert (code, held(filled) == before) == (0, True)
    assert "Start over? The existing journal is kept as a backup. [Y/n] " in seen
    code, seen = on_a_terminal(filled, "agent-memory", "init", answers=["yes"])
    assert (code, len(filled.events)) == (0, 1)
    assert "The earlier journal is kept in .agent-memory/backup/" in seen


def test_init_over_a_damaged_journal_is_refused_at_a_terminal_too(filled: Journal) -> None:
    (filled.root / ".agent-memory/state.json").write_bytes(b"{ broken")
    before = held(filled)
    code, seen = on_a_terminal(filled, "agent-memory", "init")
    assert (code, "[Y/n]" in seen) == (3, False)
    assert held(filled) == before


def test_the_projects_own_checks_are_named_before_they_are_run(here: Journal) -> None:
    code, seen = on_a_terminal(here, "agent-memory", "init", "--validate", answers=["n"])
    assert (code, (here.root / "ran").exists()) == (0, False)
    assert seen.startswith("Validation commands:\n- npm test\n")
    code, seen = on_a_terminal(here, "agent-memory", "init", "--validate", answers=["y"])
    assert (code, (here.root / "ran").exists()) == (0, True)
    assert "Running npm test …\n" in seen
    assert "\n- npm test: passed\n" in seen
    (here.root / "ran").unlink()
    code, seen = on_a_terminal(here, "agent-memory", "update", "--validate", "--yes")
    assert (code, "[Y/n]" in seen, (here.root / "ran").exists()) == (0, False, True)


def test_update_shows_asks_and_writes(here: Journal) -> None:
    here.done("init")
    code, seen = on_a_terminal(here, "agent-memory", "update")
    assert (code, "[Y/n]" in seen) == (0, False)
    assert "nothing was written." in seen
    readme = here.root / "README.md"
    readme.write_text(readme.read_text().replace("Takes orders.", "Takes orders and ships them."))
    code, seen = on_a_terminal(here, "agent-memory", "update", answers=["n"])
    assert (code, here.checkpoints) == (0, ["chk-000001"])
    assert "\n- OVERWRITE .agent-memory/state.json: " in seen
    code, seen = on_a_terminal(here, "agent-memory", "update", "--show-diff", answers=["y"])
    assert (code, here.checkpoints) == (0, ["chk-000001", "chk-000002"])
    assert "\nFile diffs:\n" in seen.partition("[Y/n]")[0]


def test_without_a_journal_nothing_is_asked(here: Journal) -> None:
    for line in (["update"], ["update", "--validate"], ["recall"], ["recall", "--provider", "claude"]):
        code, seen = on_a_terminal(here, "agent-memory", *line)
        assert (code, "[Y/n]" in seen) == (3, False), line
        assert "`agent-memory init` creates one." in seen


def test_restore_shows_asks_and_writes(filled: Journal) -> None:
    filled.done("recall")
    before = held(filled)
    code, seen = on_a_terminal(filled, "agent-memory", "restore", "chk-000001", answers=["n"])
    assert (code, held(filled) == before) == (0, True)
    assert "\nPlanned changes:\n" in seen
    assert "\nRestore chk-000001? [Y/n] " in seen
    code, seen = on_a_terminal(filled, "agent-memory", "restore", "chk-000001", answers=["y"])
    assert (code, filled.titles["gotchas"]) == (0, [])
    code, seen = on_a_terminal(filled, "agent-memory", "restore", "chk-000001")
    assert (code, "[Y/n]" in seen) == (0, False)


def test_faults_are_coloured_at_a_terminal_only(filled: Journal) -> None:
    (filled.root / "docs/agent-memory/gotchas.md").unlink()
    _, seen = on_a_terminal(filled, "agent-memory", "validate")
    assert "\x1b[31mFAIL projection:gotchas" in seen
    assert "\x1b" not in filled.journal("validate").out
