"""memory journal recall, log, diff: what they say, in which order, and what is left afterwards."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from journal_here import Journal, journal_in, write_session

TRAPS = {"Cache keys must include the tenant", "Umlaute"}
LABELS = [
    "Unrecalled events considered: 2\n",
    "\nPlanned changes:\n- OVERWRITE .agent-memory/state.json: ",
    "\nMemory Summary:\n- Changed sections: ",
    "- Added gotchas: ",
    "- Removed gotchas: none\n",
    "- Added next steps: Write a cache runbook\n",
    "- Removed next steps: none\n",
    "- Merged gotchas: none\n",
    "- Merged next steps: none\n",
    "- Current focus changed: ",
    "- Validation changed: no\n",
    "- Protected sections: none\n",
    "- Gotchas: 0 -> 2\n",
    "- Next steps: 0 -> 1\n",
    "\nCheckpoint Summary:\n- Baseline: chk-000001\n- Changed sections: ",
]


@pytest.fixture
def here(environment: dict[str, str], tmp_path: Path) -> Journal:
    """Two sessions wait to be recalled."""
    journal = journal_in(tmp_path, environment)
    journal.fill()
    return journal


def in_order(text: str, parts: list[str]) -> None:
    at = 0
    for part in parts:
        found = text.find(part, at)
        assert found >= 0, f"{part!r} is missing or out of place in:\n{text}"
        at = found + len(part)


# -- recall -----------------------------------------------------------------------------------


def test_recall_works_what_happened_into_the_memory(here: Journal) -> None:
    run = here.program("agent-memory", "recall")
    assert (run.code, run.err) == (0, "")
    in_order(run.out, [*LABELS, "\n--show-diff shows the files line by line.\n", "\nRecalled: checkpoint chk-000002, "])
    assert set(here.titles["gotchas"]) == TRAPS
    assert here.titles["nextSteps"] == ["Write a cache runbook"]
    assert "Umlaute" in (here.root / "docs/agent-memory/gotchas.md").read_text()
    assert here.state["maintenance"]["latestCheckpointId"] == "chk-000002"


def test_recall_says_in_sentences_what_it_did(here: Journal) -> None:
    said = here.journal("recall").out
    in_order(
        said, ["2 new sessions and runs to merge into all sections (policy balanced).\n", "\nChanges: added gotchas: "]
    )
    in_order(said, ["\nRecalled: checkpoint chk-000002, "])
    assert "none" not in said


def test_a_second_recall_has_nothing_to_do(here: Journal) -> None:
    here.done("recall")
    before = (here.root / ".agent-memory/state.json").read_bytes()
    run = here.journal("recall", "--yes")
    assert run.code == 0
    in_order(
        run.out, ["0 new sessions and runs to merge into all sections (policy balanced).\n", "\nNothing to recall. "]
    )
    assert "Planned changes:" not in run.out
    data = here.done("recall")
    assert (data["applied"], data["raw_event_count"], data["planned"]) == (False, 0, [])
    assert data["noop_reason"]
    assert (here.root / ".agent-memory/state.json").read_bytes() == before


def test_events_that_say_nothing_new_count_as_recalled(here: Journal) -> None:
    here.done("recall")
    write_session(here.agent / "transcripts/empty.jsonl", ["Hello.", "Hello, what shall I do?"])
    here.journal("sync", "agent")
    events = here.done("status")["unrecalled"]["all"]
    run = here.journal("recall")
    assert run.out.startswith(f"{events} new session")
    assert here.done("status")["unrecalled"]["all"] == 0


def test_recall_can_be_tried(here: Journal) -> None:
    before = here.state
    run = here.program("agent-memory", "recall", "--dry-run", "--show-diff")
    in_order(run.out, [*LABELS, "\nFile diffs:\n--- .agent-memory/state.json\n", "+## Umlaute\n"])
    assert run.out.endswith("\nDry run: nothing was written.\n")
    assert here.state == before


def test_recall_in_json(here: Journal) -> None:
    data = here.done("recall")
    assert set(data) == {
        "source",
        "section",
        "policy",
        "protected",
        "provider",
        "raw_event_count",
        "grouped_item_count",
        "backlog",
        "applied",
        "dry_run",
        "noop_reason",
        "pages_anew",
        "changed_sections",
        "diff",
        "summary",
        "planned",
        "memory",
        "baseline",
        "checkpoint",
        "event",
        "expects",
        "cost_usd",
    }
    assert (data["source"], data["section"], data["policy"], data["applied"]) == ("all", "all", "balanced", True)
    assert (data["raw_event_count"], data["checkpoint"], data["noop_reason"]) == (2, "chk-000002", None)
    assert set(data["diff"]["addedGotchas"]) == TRAPS
    assert data["baseline"]["id"] == "chk-000001"


@pytest.mark.parametrize(("scope", "count"), [("all", 2), ("imports", 2), ("local", 0)])
def test_recall_of_one_source(here: Journal, scope: str, count: int) -> None:
    data = here.done("recall", "--source", scope)
    assert (data["source"], data["raw_event_count"], data["applied"]) == (scope, count, count > 0)


def test_recall_of_one_section(here: Journal) -> None:
    run = here.journal("recall", "--section", "gotchas")
    in_order(
        run.out,
        ["the section `gotchas` ", "Changes: added gotchas: "],
    )
    assert set(here.titles["gotchas"]) == TRAPS
    assert here.titles["nextSteps"] == []


def test_a_recall_of_one_section_leaves_the_rest_for_the_next(here: Journal) -> None:
    here.done("recall", "--source", "imports", "--section", "gotchas")
    here.done("recall")
    assert here.titles["nextSteps"] == ["Write a cache runbook"]


def test_a_policy_narrows_and_protects(here: Journal) -> None:
    run = here.journal("recall", "--policy", "local-only", "--dry-run")
    in_order(run.out, ["0 new runs to merge into all sections (policy local-only).\n"])
    run = here.journal("recall", "--policy=project-map-protected", "--dry-run")
    in_order(run.out, [" (policy project-map-protected).\n", "Kept as they are: project-map\n"])


def test_recall_is_compared_with_the_checkpoint_that_was_named(here: Journal) -> None:
    here.done("recall")
    write_session(here.agent / "transcripts/third.jsonl", ["Retry.", "GOTCHA: Retries double: the id must be sent."])
    here.done("sync", "agent")
    assert here.done("recall", "--dry-run")["baseline"]["id"] == "chk-000002"
    run = here.program("agent-memory", "recall", "--checkpoint", "chk-000001", "--dry-run")
    (line,) = re.findall(r"- Baseline: chk-000001\n- Changed sections: [^\n]*\n- Added gotchas: ([^\n]*)\n", run.out)
    assert set(line.split(", ")) == {*TRAPS, "Retries double"}
    failed = here.journal("recall", "--checkpoint", "chk-999999", "--json")
    assert (failed.code, failed.error["code"]) == (1, "MemoryObjectNotFound")


def test_the_settings_say_what_is_not_said_with_an_option(here: Journal) -> None:
    path = here.root / ".agent-memory/config.json"
    config: Any = json.loads(path.read_bytes())
    config["recall"] |= {"defaultSection": "gotchas", "defaultSource": "imports"}
    config["recall"]["preview"]["showDiffByDefault"] = True
    path.write_text(json.dumps(config, indent=2) + "\n")
    run = here.journal("recall", "--dry-run")
    in_order(run.out, ["2 new sessions to merge into the section `gotchas` ", "\nFile diffs:\n"])
    run = here.journal("recall", "--dry-run", "--source=all", "--section=all")
    in_order(run.out, ["2 new sessions and runs to merge into all sections "])


# -- log --------------------------------------------------------------------------------------


def test_log_lists_the_checkpoints(here: Journal) -> None:
    here.done("recall")
    lines = here.journal("log").out.splitlines()
    assert re.fullmatch(r"chk-000002 2026-03-02T11:19:00\.000Z \[latest\] added gotchas: .+", lines[0])
    assert lines[1] == "  changed: current-focus, gotchas, next-steps"
    assert lines[2].startswith("chk-000001 2026-03-02T11:19:00.000Z ")
    data = here.done("log")
    assert (data["total"], [entry["id"] for entry in data["results"]]) == (2, ["chk-000002", "chk-000001"])
    assert data["results"][0]["ref"] == "checkpoint:chk-000002"
    assert [entry["is_latest"] for entry in data["results"]] == [True, False]


def test_log_lists_the_events(here: Journal) -> None:
    data = here.done("log", "--events")
    assert [entry["id"] for entry in data["results"]] == ["evt-000003", "evt-000002", "evt-000001"]
    assert [entry["source"] for entry in data["results"]] == ["agent", "agent", "agent-memory.local"]
    run = here.journal("log", "--events")
    assert run.out.count("\n") == 3
    assert "[agent] Asked: Wie heißt der Schlüssel?" in run.out


def test_log_of_one_source_lists_its_events(here: Journal) -> None:
    for line in (["--source", "agent"], ["--source=agent", "--events"]):
        assert [entry["source"] for entry in here.done("log", *line)["results"]] == ["agent", "agent"]
    run = here.journal("log", "--source", "nobody")
    assert (run.code, run.out) == (0, "Nothing to list.\n")


def test_log_is_cut_and_says_so(here: Journal) -> None:
    run = here.journal("log", "--events", "--limit", "1")
    assert run.out.splitlines()[1:] == ["Shown: 1 of 3; --limit shows more."]
    data = here.done("log", "--events", "--limit=2")
    assert (len(data["results"]), data["total"]) == (2, 3)
    assert len(here.done("log", "--events", "--limit", "0")["results"]) == 3


def test_log_shows_the_archive_if_asked(here: Journal) -> None:
    assert here.done("log", "--archived") == here.done("log")
    assert here.done("log", "--events", "--archived") == here.done("log", "--events")


# -- diff -------------------------------------------------------------------------------------


def test_diff_of_a_checkpoint_and_the_memory(here: Journal) -> None:
    assert here.journal("diff", "chk-000001").out == "From chk-000001 to state: no changes\n"
    here.done("recall")
    run = here.program("agent-memory", "diff", "chk-000001")
    in_order(
        run.out,
        [
            "From chk-000001 to state: added gotchas: ",
            "- Changed sections: current-focus, gotchas, next-steps\n",
            "- Added next steps: Write a cache runbook\n",
            "\nFile diffs:\n",
            "+## Umlaute\n",
        ],
    )
    data = here.done("diff", "chk-000001", "chk-000002")
    assert (data["before"], data["after"], data["same"]) == ("chk-000001", "chk-000002", False)
    assert set(data["diff"]["addedGotchas"]) == TRAPS
    back = here.done("diff", "checkpoint:chk-000002", "chk-000001")
    assert (back["before"], set(back["diff"]["removedGotchas"])) == ("chk-000002", TRAPS)
    assert here.done("diff", "chk-000002", "chk-000002")["same"] is True


def test_diff_of_what_is_not_there(here: Journal) -> None:
    for line in (["chk-999999"], ["chk-000001", "chk-999999"], ["nonsense"]):
        run = here.journal("diff", *line, "--json")
        assert (run.code, run.error["code"]) == (1, "MemoryObjectNotFound")
