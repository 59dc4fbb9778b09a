"""memory journal query, status, validate: answers with their evidence, the state at a glance, faults and repairing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from journal_here import Journal, journal_in


@pytest.fixture
def here(environment: dict[str, str], tmp_path: Path) -> Journal:
    """A journal that has recalled two sessions."""
    journal = journal_in(tmp_path, environment)
    journal.fill()
    journal.done("recall")
    return journal


# -- query ------------------------------------------------------------------------------------


def test_query_answers_with_its_evidence(here: Journal) -> None:
    run = here.journal("query", "what must cache keys include?")
    assert (run.code, run.err) == (0, "")
    answer, mode, why, citations = run.out.split("\n\n")
    assert answer.startswith("Answer:\n")
    assert "tenant" in answer
    assert mode == "Mode: answer"
    assert why.startswith("Why this answer:\n")
    assert citations.startswith("Citations:\n- [")
    assert (
        "bundle.gotchas.Cache keys must include the tenant: " in citations
        and " -> docs/agent-memory/gotchas.md\n" in citations
    ) or "[event] evt-" in citations


@pytest.mark.parametrize(
    ("question", "mode"),
    [
        (["what", "changed", "recently?"], "changes"),
        (["which traps are there?"], "traps"),
        (["what should I do next?"], "next"),
        (["cache"], "answer"),
        (["Schlüssel", "Größe"], "answer"),
    ],
)
def test_query_knows_what_is_asked_for(here: Journal, question: list[str], mode: str) -> None:
    data = here.done("query", *question)
    assert set(data) == {"mode", "answer", "why", "citations", "sufficient"}
    assert (data["mode"], data["sufficient"]) == (mode, True)
    assert data["citations"]
    assert set(data["citations"][0]) == {
        "sourceType",
        "sourceId",
        "pathOrSection",
        "summary",
        "projectionPath",
        "ref",
    }


def test_query_prints_the_answer_alone_as_json(here: Journal) -> None:
    runs = [here.journal("query", "which traps?", *line) for line in (["--output=json"], ["--output", "json"])]
    assert runs[0] == runs[1]
    assert (runs[0].code, runs[0].err) == (0, "")
    assert runs[0].out.startswith('{\n  "mode": "traps",\n  "answer": ')
    found = json.loads(runs[0].out)
    assert list(found) == ["mode", "answer", "why", "citations"]
    first = found["citations"][0]
    assert list(first) == ["sourceType", "sourceId", "pathOrSection", "summary", "projectionPath"]
    assert first["sourceType"] in ("bundle", "event", "checkpoint")


def test_the_settings_say_how_query_prints(here: Journal) -> None:
    path = here.root / ".agent-memory/config.json"
    config: Any = json.loads(path.read_bytes())
    config["query"]["defaultOutput"] = "json"
    path.write_text(json.dumps(config, indent=2) + "\n")
    assert json.loads(here.journal("query", "which traps?").out)["mode"] == "traps"
    assert here.journal("query", "which traps?", "--output", "text").out.startswith("Answer:\n")
    assert here.journal("query", "which traps?", "--json").json["ok"] is True


def test_query_says_when_there_is_not_enough(here: Journal) -> None:
    run = here.journal("query", "quantum entanglement recipe")
    assert run.code == 0
    assert run.out.startswith("Answer:\n")
    assert here.done("query", "quantum entanglement recipe")["sufficient"] is False
    assert "sufficient" not in json.loads(here.journal("query", "quantum recipe", "--output=json").out)


def test_query_looks_where_it_is_told_to(here: Journal) -> None:
    for scope, allowed in (("state", {"bundle", "checkpoint"}), ("history", {"event"})):
        data = here.done("query", "cache keys tenant", "--scope", scope)
        assert data["citations"]
        assert {item["sourceType"] for item in data["citations"]} <= allowed
    assert here.journal("query", "cache keys tenant", "--archived").code == 0


def test_an_empty_question_is_refused(here: Journal) -> None:
    for line in ([""], ["  ", ""]):
        run = here.journal("query", *line, "--json")
        assert (run.code, run.error["code"]) == (1, "MemoryValidationFailed")


def test_query_answers_from_what_can_still_be_read(here: Journal) -> None:
    (here.root / ".agent-memory/config.json").write_bytes(b"{ broken")
    assert here.journal("query", "cache keys tenant").out.startswith("Answer:\n")
    (here.root / ".agent-memory/state.json").write_bytes(b"{ broken")
    data = here.done("query", "cache keys tenant")
    assert (data["sufficient"], {item["sourceType"] for item in data["citations"]} <= {"event", "checkpoint"}) == (
        True,
        True,
    )


# -- status -----------------------------------------------------------------------------------

SECTIONS = [
    "State:\n- schemaVersion: 2\n- bundleHash: ",
    "\n- latestCheckpointId: chk-000002 (of 2)\n",
    "\nHistory:\n- total events: 4\n- unrecalled all: 0\n- unrecalled local: 0\n- unrecalled imports: 0\n",
    "\nUnrecalled Summary:\n- none\n",
    "\nSources:\n- agent: status=passed lastSyncedAt=2026-03-02T11:19:00.000Z imported=2\n",
    "\nCheckpoint Drift:\n- checkpoint: chk-000002\n- changed sections: none\n- added gotchas: none\n",
    "\nRetention:\n- enabled: yes\n- prune candidate events: 0\n- prune candidate checkpoints: 0\n",
    "- archive batches: 0\n",
    "- oldest archive createdAt: none\n",
    "\nSuggested Next Action:\nNothing to do.\n",
]


def test_status_tells_everything_in_its_order(here: Journal) -> None:
    run = here.program("agent-memory", "status")
    assert (run.code, run.err) == (0, "")
    at = 0
    for part in SECTIONS:
        found = run.out.find(part, at)
        assert found >= 0, f"{part!r} is missing or out of place in:\n{run.out}"
        at = found
    assert run.out.startswith(SECTIONS[0])
    assert run.out.endswith(SECTIONS[-1])


def test_status_in_json(here: Journal) -> None:
    data = here.done("status")
    assert set(data) == {
        "schema_version",
        "generator_version",
        "provider",
        "generated_at",
        "bundle_hash",
        "latest_checkpoint_id",
        "checkpoints",
        "events",
        "unrecalled",
        "backlog",
        "sources",
        "drift",
        "file_diffs",
        "retention",
        "automation",
        "next_action",
        "next_command",
    }
    assert (data["bundle_hash"], data["events"], data["checkpoints"]) == (here.state["bundleHash"], 4, 2)
    assert data["unrecalled"] == {"all": 0, "local": 0, "imports": 0}


def test_status_compares_with_a_checkpoint(here: Journal) -> None:
    run = here.program("agent-memory", "status", "--checkpoint", "chk-000001", "--show-diff")
    assert "- checkpoint: chk-000001\n- changed sections: current-focus, gotchas, next-steps\n" in run.out
    assert "\n- added next steps: Write a cache runbook\n" in run.out
    assert "\nFile Diffs:\n" in run.out
    assert "+## Umlaute\n" in run.out
    said = here.journal("status", "--checkpoint=chk-000001").out
    assert "\nSince chk-000001: added gotchas: " in said
    assert "File diffs:" not in said
    assert "\nFile diffs:\n- none\n" in here.journal("status", "--show-diff").out
    failed = here.journal("status", "--checkpoint=chk-999999", "--json")
    assert (failed.code, failed.error["code"]) == (1, "MemoryObjectNotFound")


def test_status_says_what_waits_and_what_to_do(environment: dict[str, str], tmp_path: Path) -> None:
    here = journal_in(tmp_path, environment)
    here.fill()
    out = here.journal("status").out
    assert out.startswith("Sessions and runs in the history: 3.\n- ")
    assert "\nSource agent: Imported 2 sessions at 2026-03-02" in out
    assert "\nNot merged yet: 2. Merge them.\n" in out
    recorded = here.program("agent-memory", "status").out
    assert "\n- unrecalled all: 2\n- unrecalled local: 0\n- unrecalled imports: 2\n" in recorded
    assert "\nUnrecalled Summary:\n- raw events: 2\n- grouped items: 2\n- [imports] " in recorded
    assert out.endswith("`memory journal recall`\n")
    assert here.done("status")["next_command"] == "recall"
    assert here.program("agent-memory", "status").out.endswith("`agent-memory recall`\n")
    (here.agent / "transcripts/broken.jsonl").write_text("{nonsense\n")
    assert here.journal("sync", "--all").code == 1
    out = here.journal("status").out
    assert "\nSource agent: The last sync failed: " in out
    assert out.endswith("`memory journal sync --all`\n")


# -- validate ---------------------------------------------------------------------------------


def test_validate_lists_what_it_looked_at(here: Journal) -> None:
    run = here.journal("validate")
    assert (run.code, run.err) == (0, "")
    *lines, blank, summary = run.out.splitlines()
    assert blank == ""
    assert any(line.startswith("PASS state:schema: ") for line in lines)
    assert any(line.startswith("PASS validation:baseline: ") for line in lines)
    told = [line for line in lines if not line.startswith(" ")]
    counts = [sum(line.startswith(level) for line in told) for level in ("PASS ", "WARN ", "FAIL ")]
    assert sum(counts) == len(told)
    assert summary == f"Summary: {counts[0]} passed, {counts[1]} warnings, {counts[2]} failed."
    data = here.done("validate")
    assert set(data) == {"findings", "passed", "warned", "failed", "repaired"}
    assert [data["passed"], data["warned"], data["failed"]] == counts
    assert set(data["findings"][0]) == {"level", "code", "message", "path", "line", "hint"}


def test_validate_fails_and_repairs(here: Journal) -> None:
    path = here.root / ".agent-memory/state.json"
    state = here.state
    state["maintenance"]["historyEventCount"] = 99
    path.write_text(json.dumps(state, indent=2) + "\n")
    run = here.journal("validate")
    assert run.code == 1
    assert "\nFAIL history:event-count: " in run.out
    assert "1 failed.\n" in run.out
    failed = here.journal("validate", "--json")
    assert (failed.code, failed.data["failed"], failed.data["repaired"]) == (1, 1, [])
    run = here.journal("validate", "--repair")
    assert run.code == 0
    assert run.out.startswith("REPAIRED ")
    assert here.state["maintenance"]["historyEventCount"] == 4
    assert here.journal("validate", "--repair").out.startswith("Nothing to repair.\n\n")
    assert here.journal("validate").code == 0


def test_the_hint_of_a_fault_is_a_command_that_there_is(here: Journal) -> None:
    path = here.root / ".agent-memory/state.json"
    state = here.state
    state["maintenance"]["historyEventCount"] = 99
    path.write_text(json.dumps(state, indent=2) + "\n")
    (fault,) = [item for item in here.journal("validate", "--json").data["findings"] if item["level"] == "fail"]
    assert "`memory journal validate --repair`" in fault["hint"]
    theirs = here.program("agent-memory", "validate", "--json").data["findings"]
    (fault,) = [item for item in theirs if item["level"] == "fail"]
    assert "`agent-memory validate --repair`" in fault["hint"]


def test_validate_survives_whatever_is_in_the_files(here: Journal) -> None:
    for name in ("state.json", "config.json", "sources.json", "history/events.jsonl"):
        path = here.root / ".agent-memory" / name
        before = path.read_bytes()
        for damage in (b"", b"null\n", b"\xff\xfe", b"{}\n", b'{"a": \x1b[31m'):
            path.write_bytes(damage)
            run = here.journal("validate")
            assert run.code in (0, 1)
            assert "\x1b" not in run.out
            assert "\nSummary: " in run.out
        path.write_bytes(before)


def test_damaged_files_are_told_and_left_alone(here: Journal) -> None:
    path = here.root / ".agent-memory/state.json"
    path.write_bytes(b"{ broken")
    for line in (["status"], ["recall"], ["sync", "--all"], ["update"], ["log"], ["sources"]):
        run = here.journal(*line, "--json")
        assert (run.code, run.error["code"]) == (3, "MemoryAlreadyInitializedInvalid"), line
        assert "state.json" in run.error["message"]
    assert path.read_bytes() == b"{ broken"


# -- providers --------------------------------------------------------------------------------


def test_providers_shows_who_can_be_asked_and_what_may_be_spent(here: Journal) -> None:
    data = here.done("providers")
    assert set(data) == {"ceiling_usd", "spent_usd", "open_usd", "calls", "day", "settings_path", "providers"}
    assert (data["spent_usd"], data["calls"], data["day"]) == (0, 0, "2026-03-02")
    assert data["providers"][0]["name"] == "local"
    assert data["providers"][0]["found"] is True
    out = here.journal("providers").out
    assert out.startswith(f"Daily ceiling: ${data['ceiling_usd']:.2f}\nSpent on 2026-03-02: $0.0000 in 0 calls\n")
    for item in data["providers"]:
        assert f"\n- {item['name']}: {'found' if item['found'] else 'not found'}" in out


def test_the_ceiling_is_set_and_kept(here: Journal) -> None:
    assert here.done("providers", "--ceiling", "2.5")["ceiling_usd"] == 2.5
    assert here.journal("providers").out.startswith("Daily ceiling: $2.50\n")
    for wrong, code in (("much", 2), ("nan", 1), ("-1", 1)):
        assert here.journal("providers", f"--ceiling={wrong}").code == code, wrong
    assert here.done("providers", "--versions")["ceiling_usd"] == 2.5
