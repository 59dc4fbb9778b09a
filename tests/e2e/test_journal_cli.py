"""The journal's command line as a whole: its two names, help, mistakes, what a project without a journal is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from journal_here import EVERY, Journal, journal_in

import quire
from quire.surfaces.cli.journal import COMMAND


@pytest.fixture
def here(environment: dict[str, str], tmp_path: Path) -> Journal:
    """A project without a journal."""
    return journal_in(tmp_path, environment)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Journal:
    """A journal with two imported sessions, for tests that change nothing."""
    from installed import make_environment

    folder = tmp_path_factory.mktemp("filled")
    journal = journal_in(folder, make_environment(folder))
    journal.fill()
    return journal


def test_every_verb_is_in_the_list_of_the_tests() -> None:
    assert list(COMMAND.subcommands) == list(EVERY)


# -- two names --------------------------------------------------------------------------------


def test_agent_memory_alone_prints_its_help(here: Journal) -> None:
    run = here.program("agent-memory")
    assert (run.code, run.err) == (0, "")
    assert run.out.startswith("Usage: agent-memory [OPTIONS] [COMMAND] [ARGS]...\n")
    for verb in EVERY:
        assert f"\n  {verb} " in run.out
    assert here.program("agent-memory", "--help").out == run.out


def test_memory_journal_alone_shows_the_status(filled: Journal) -> None:
    assert filled.journal().out == filled.journal("status").out
    assert filled.journal("--json").data == filled.journal("status", "--json").data


@pytest.mark.parametrize("verb", ["log", "diff", "validate"])
def test_both_names_say_the_same(filled: Journal, verb: str) -> None:
    ours = filled.program("memory", "journal", verb, *EVERY[verb])
    theirs = filled.program("agent-memory", verb, *EVERY[verb])
    assert (ours.code, ours.out.replace("`memory journal ", "`agent-memory "), ours.err) == (
        theirs.code,
        theirs.out,
        theirs.err,
    )
    assert ours.out != ""


@pytest.mark.proof(keep=4)
@pytest.mark.parametrize("verb", EVERY)
def test_help_names_the_program_that_was_called(here: Journal, verb: str) -> None:
    for name, other in (("memory journal", "agent-memory "), ("agent-memory", "memory journal")):
        text = here.program(*name.split(), verb, "--help").out
        assert text.startswith(f"Usage: {name} {verb} ")
        assert "Example" in text
        assert f"\n    {name} {verb}" in text
        assert other not in text


def test_the_third_level_is_reached_by_both_names(here: Journal) -> None:
    for name in ("memory journal", "agent-memory"):
        text = here.program(*name.split(), "automate", "status", "--help").out
        assert text.startswith(f"Usage: {name} automate status ")


def test_the_second_name_has_a_version_a_project_and_json(filled: Journal, tmp_path: Path) -> None:
    assert filled.program("agent-memory", "--version").out == f"agent-memory, version {quire.__version__}\n"
    elsewhere = filled.program("agent-memory", "-C", str(filled.root), "sources", "--json", cwd=tmp_path)
    assert [source["id"] for source in elsewhere.data["sources"]] == ["agent"]
    for line in (["--json", "sources"], ["sources", "--json"]):
        assert filled.program("agent-memory", *line).data == elsewhere.data
        assert filled.program("memory", "journal", *line).data == elsewhere.data


def test_a_folder_below_the_project_is_the_project(filled: Journal) -> None:
    below = filled.root / "docs"
    assert filled("journal", "sources", cwd=below).out == filled.journal("sources").out


# -- without a journal ------------------------------------------------------------------------


NEED_NONE = ("init", "validate", "automate", "integrate", "mcp", "providers")


@pytest.mark.parametrize("verb", [verb for verb in EVERY if verb not in NEED_NONE])
def test_without_a_journal_every_verb_says_how_to_begin(here: Journal, verb: str) -> None:
    before = sorted(here.root.rglob("*"))
    run = here.journal(verb, *EVERY[verb])
    assert (run.code, run.out) == (3, "")
    assert run.err.startswith("error: There is no journal here")
    assert "hint: `memory journal init` creates one." in run.err
    failed = here.journal(verb, *EVERY[verb], "--json")
    assert (failed.code, failed.error["code"]) == (3, "MemoryNotInitialized")
    assert sorted(here.root.rglob("*")) == before


def test_without_a_journal_validate_fails_and_says_how_to_begin(here: Journal) -> None:
    run = here.journal("validate")
    assert run.code == 1
    assert run.out.startswith("FAIL state:missing: ")
    assert "`memory journal init`" in run.out
    assert "Summary: 0 passed, 0 warnings, 1 failed.\n" in run.out


def test_hints_name_the_program_that_was_called(here: Journal) -> None:
    assert "`agent-memory init` creates one." in here.program("agent-memory", "status").err
    assert "`agent-memory init` creates one." in here.program("agent-memory", "status", "--json").error["hint"]
    here.done("init")
    ours, theirs = here.program("memory", "journal", "init"), here.program("agent-memory", "init")
    assert (ours.code, theirs.code) == (1, 1)
    assert "`memory journal update`" in ours.err
    assert "agent-memory " not in ours.err
    assert "`agent-memory update`" in theirs.err
    assert "memory journal" not in theirs.err


# -- mistakes ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        ["frobnicate"],
        ["init", "extra"],
        ["init", "--provider=gpt"],
        ["init", "--bogus"],
        ["update", "--provider"],
        ["recall", "--source=nowhere"],
        ["recall", "--section", "everything"],
        ["recall", "--policy", "harsh"],
        ["recall", "--checkpoint"],
        ["query"],
        ["query", "what?", "--scope", "nowhere"],
        ["query", "what?", "--output=xml"],
        ["add"],
        ["add", "claude-local"],
        ["add", "claude-local", ".", "more"],
        ["remove"],
        ["sync"],
        ["sync", "agent", "--all"],
        ["log", "--limit", "many"],
        ["log", "--limit=-1"],
        ["diff"],
        ["diff", "a", "b", "c"],
        ["restore"],
        ["restore", "a", "b"],
        ["automate", "frobnicate"],
    ],
)
def test_what_cannot_be_understood_exits_with_2(filled: Journal, line: list[str]) -> None:
    run = filled.journal(*line)
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith("error: ")
    failed = filled.journal("--json", *line)
    assert (failed.code, failed.error["code"]) == (2, "MemoryUsage")


def test_a_verb_that_is_nearly_right_is_offered(filled: Journal) -> None:
    assert "Did you mean 'recall'?" in filled.journal("recal").err
    run = filled.program("agent-memory", "recal")
    assert (run.code, "Did you mean 'recall'?" in run.err, "`agent-memory --help`" in run.err) == (2, True, True)


def test_a_text_that_is_no_text_is_refused(filled: Journal) -> None:
    for line in (["query", "was \udcff?"], ["add", "claude-local", ".", "--name", "\udcff"], ["remove", "\udcff"]):
        run = filled.journal(*line)
        assert (run.code, "is not UTF-8 text" in run.err) == (2, True), line


def test_flags_stand_anywhere_and_in_both_forms(filled: Journal) -> None:
    lines = (
        ["recall", "--source", "imports", "--dry-run", "--yes"],
        ["recall", "--yes", "--source=imports", "--dry-run"],
        ["recall", "-y", "--dry-run", "--source=imports"],
    )
    first, *others = (filled.journal(*line, "--json").data for line in lines)
    assert first["source"] == "imports"
    assert all(other == first for other in others)


def test_what_only_looks_leaves_every_file_alone(filled: Journal) -> None:
    def held() -> dict[str, bytes]:
        files = (path for path in filled.root.rglob("*") if path.is_file() and "local" not in path.parts)
        return {str(path): path.read_bytes() for path in files}

    before = held()
    for line in (
        ["status", "--show-diff"],
        ["sources"],
        ["log", "--events"],
        ["diff", "chk-000001"],
        ["query", "cache"],
        ["validate"],
        ["recall", "--dry-run"],
        ["update", "--dry-run"],
        ["init", "--dry-run"],
        ["sync", "--all", "--dry-run"],
        ["remove", "agent", "--dry-run"],
        ["restore", "chk-000001", "--dry-run"],
        ["add", "codex-local", ".", "--dry-run"],
    ):
        run = filled.journal(*line, "--json")
        assert json.loads(run.out)["ok"] is True, line
        assert run.code == 0, line
    assert held() == before
