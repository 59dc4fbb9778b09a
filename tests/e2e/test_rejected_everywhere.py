"""A value that was rejected is refused, or left out, by every command that writes; and accepted once it is lifted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from journal_here import CACHE, UMLAUTS, Journal, journal_in, write_session
from mcp_here import Here, over_stdio

from installed import Git, Memory, Run
from quire.inbox.rejections import Rejection, write_rejection

VALUE = "The queue lives in Redis on port 6380."
AGAIN = "Hear this again. the QUEUE lives in redis, on port 6380! It is so."
"""The same value within a longer text, written otherwise."""
THEN, LIFTED = "2026-03-01T09:00:00Z", "2026-03-02T11:00:00Z"
Tree = dict[str, bytes]
DESIGN = """---
id: cache
title: The cache
status: exploring
---

## Decisions

### Decision: Write through

**Status:** decided
**Rationale:** Reads dominate.

### Decision: Evict by age

**Status:** decided
**Rationale:** Nobody reads old pages.
"""


def reject(root: Path, value: str = VALUE) -> str:
    """Reject a value; the id of the rejection."""
    item = Rejection(value=value, rejected_at=THEN, reason="it moved")
    write_rejection(str(root), item, "00")
    return item.id


def lift(root: Path, value: str = VALUE) -> None:
    write_rejection(str(root), Rejection(value=value, rejected_at=THEN, reason="it moved", lifted_at=LIFTED), "00")


@pytest.fixture
def started(memory: Memory) -> Memory:
    memory.init()
    return memory


def refused(run: Run, field: str) -> None:
    assert run.code == 1, run.out
    assert run.error["code"] == "MemoryValueRejected"
    assert run.error["details"]["field"] == field
    assert run.error["details"]["id"] in run.error["hint"]
    assert "2026-03-01 (it moved)" in run.error["message"]


def data_of(run: Run) -> Any:
    assert run.code == 0, run.out
    return run.data


def codes(run: Run) -> list[str]:
    assert run.code == 0, run.out
    return [item["code"] for item in run.json["warnings"]]


# -- the graph ------------------------------------------------------------------------------------

NODE = {"kind": "decision", "title": "Queue", "body": VALUE}
SAVES: list[tuple[str, dict[str, Any]]] = [
    ("nodes.0.body", NODE),
    ("nodes.0.body", {**NODE, "body": AGAIN}),
    ("nodes.0.title", {**NODE, "title": "the queue lives in Redis on port 6380", "body": "See above."}),
    ("nodes.0", {**NODE, "title": "The queue lives in", "body": "Redis, on port 6380."}),
    ("nodes.0.body", {"id": "decision.other", "body": f"# Other\n\n- {VALUE}\n"}),
    ("nodes.0.title", {"id": "decision.other", "title": VALUE.rstrip(".")}),
]


@pytest.mark.parametrize(("field", "node"), SAVES)
def test_a_save(started: Memory, repo: Path, tree: Callable[..., Tree], field: str, node: dict[str, Any]) -> None:
    started.save({"kind": "decision", "title": "Other", "body": "Something else."})
    reject(repo)
    before = tree(repo)
    for line in (["save", "--stdin", "--json"], ["save", "--stdin", "--json", "--dry-run"]):
        refused(started(*line, stdin={"task": "test", "nodes": [node]}), field)
    assert tree(repo) == before
    lift(repo)
    assert len(started.save(node)["files_changed"]) > 0


def test_a_node_that_said_it_before_can_be_changed_and_retired(started: Memory, repo: Path) -> None:
    started.save(NODE, {"kind": "decision", "title": "Later", "body": "The queue is in the database."})
    reject(repo)
    same = {"id": "decision.queue", "title": "Where the queue is", "body": VALUE, "tags": ["queue"]}
    assert started.save(same)["memory_updated"] == ["decision.queue"]
    done = started.save(
        supersede=[{"id": "decision.queue", "superseded_by": "decision.later", "reason": "it was rejected"}]
    )
    assert done["memory_superseded"] == ["decision.queue"]
    back = started(
        "save", "--stdin", "--json", stdin={"task": "t", "nodes": [{"id": "decision.queue", "status": "active"}]}
    )
    refused(back, "nodes.0.body")


def test_a_save_whose_new_node_replaces_another(started: Memory, repo: Path) -> None:
    started.save({"kind": "decision", "title": "Old", "body": "The queue is a file."})
    reject(repo)
    intent = {
        "task": "test",
        "nodes": [{**NODE, "id": "decision.new"}],
        "supersede": [{"id": "decision.old", "superseded_by": "decision.new", "reason": "newer"}],
    }
    refused(started("save", "--stdin", "--json", stdin=intent), "nodes.0.body")
    lift(repo)
    assert data_of(started("save", "--stdin", "--json", stdin=intent))["memory_superseded"] == ["decision.old"]


def test_input_of_any_shape_is_told_of_as_ever(started: Memory, repo: Path) -> None:
    reject(repo)
    for nodes in ([1, None, {"id": 5, "title": ["x"]}], {"title": VALUE}, "x", [{"id": "../../x", "body": "y"}]):
        run = started("save", "--stdin", "--json", stdin={"task": "test", "nodes": nodes})
        assert (run.code, run.error["code"]) == (1, "MemoryValidationFailed")


# -- facts and notes ------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [VALUE, AGAIN])
def test_a_fact(started: Memory, repo: Path, tree: Callable[..., Tree], text: str) -> None:
    old = data_of(started("facts", "store", "Decisions", "The queue is a file.", "--json"))["fact"]["id"]
    reject(repo)
    before = tree(repo)
    refused(started("facts", "store", "Decisions", text, "--json"), "content")
    refused(started("facts", "supersede", old, text, "--json"), "content")
    refused(started("facts", "supersede", old, text, "--dry-run", "--json"), "content")
    assert tree(repo) == before
    lift(repo)
    assert data_of(started("facts", "supersede", old, text, "--json"))["new"]["content"] == text
    assert data_of(started("facts", "store", "Decisions", text, "--json"))["action"] != "stored"


def test_a_fact_that_is_put_away_stays_there(started: Memory, repo: Path) -> None:
    name = data_of(started("facts", "store", "Decisions", VALUE, "--json"))["fact"]["id"]
    reject(repo)
    assert data_of(started("facts", "archive", name, "--reason", "it was rejected", "--json"))["changed"] == 1
    refused(started("facts", "restore", name, "--json"), "content")
    assert started("facts", "list", "--json").data["results"] == []
    lift(repo)
    assert data_of(started("facts", "restore", name, "--json"))["changed"] == 1


def test_a_fact_that_said_it_before_can_be_superseded(started: Memory, repo: Path) -> None:
    name = data_of(started("facts", "store", "Decisions", VALUE, "--json"))["fact"]["id"]
    reject(repo)
    done = data_of(started("facts", "supersede", name, "The queue is in the database.", "--json"))
    assert done["old"]["status"] == "superseded"


def test_a_connection(started: Memory, repo: Path) -> None:
    first, second = (
        data_of(started("facts", "store", "Decisions", text, "--json"))["fact"]["id"] for text in ("One.", "Two.")
    )
    line = ["facts", "connect", first, second, "depends_on", "--description", VALUE, "--json"]
    reject(repo)
    refused(started(*line), "description")
    lift(repo)
    assert data_of(started(*line))["action"] == "connected"
    reject(repo)
    again = ["facts", "connect", first, second, "depends_on", "--session", "s2", "--json"]
    assert data_of(started(*again))["action"] == "reinforced"


@pytest.mark.parametrize(("option", "field"), [("--title", "title"), ("--narrative", "narrative")])
def test_a_session(started: Memory, repo: Path, option: str, field: str) -> None:
    line = ["facts", "session", "s1", "--turns", "3", option, VALUE, "--close", "--json"]
    reject(repo)
    refused(started(*line), field)
    assert not (repo / ".memory/facts.jsonl").exists()
    lift(repo)
    data_of(started(*line))
    assert VALUE in (repo / ".memory/facts.jsonl").read_text()


def test_a_session_that_was_told_before_is_closed_without_it(started: Memory, repo: Path) -> None:
    told = ["facts", "session", "s1", "--turns", "3", "--title", VALUE, "--narrative", f"It went well. {VALUE}"]
    assert started(*told).code == 0
    reject(repo)
    later = {"MEMORY_NOW": "2026-03-03T11:19:00+00:00"}
    assert started("facts", "session", "s2", "--turns", "1", env=later).code == 0
    (episode,) = (json.loads(line) for line in (repo / ".memory/facts.jsonl").read_text().splitlines())
    assert episode["title"] == "Session 2026-03-02: 3t 0tc"
    assert episode["narrative"].endswith("\n\nIt went well.")


def test_ingest_leaves_it_out_and_takes_in_the_rest(started: Memory, repo: Path) -> None:
    (repo / "docs").mkdir()
    (repo / "docs/cache.md").write_text(DESIGN)
    value = "Write through — Reads dominate."
    reject(repo, value)
    done = started("facts", "ingest", "--json")
    assert codes(done) == ["RejectedLeftOut"]
    assert done.data["counts"] == {"reject": 1, "store": 1}
    (held,) = [item["content"] for item in started("facts", "list", "--json").data["results"]]
    assert held.startswith("Evict by age")
    assert codes(started("facts", "ingest", "--dry-run", "--json")) == ["RejectedLeftOut"]
    one = {
        "sourceKind": "design-constraint",
        "authority": "explicit",
        "section": "Constraints",
        "content": value,
        "artifactRef": {"type": "design-node", "path": "docs/cache.md"},
    }
    assert data_of(started("facts", "ingest", "--stdin", "--json", stdin=one))["counts"] == {"reject": 1}
    lift(repo, value)
    done = started("facts", "ingest", "--json")
    assert codes(done) == []
    assert done.data["counts"] == {"store": 1, "unchanged": 1}


def test_ingest_of_what_is_stored_already_confirms_nothing(started: Memory, repo: Path) -> None:
    """Nor does it fail: what is stored is left alone."""
    content = "Write through — Reads dominate. See docs/cache.md, decision: Write through"
    data_of(started("facts", "store", "Decisions", content, "--json"))
    before = (repo / ".memory/facts.jsonl").read_bytes()
    (repo / "docs").mkdir()
    (repo / "docs/cache.md").write_text(DESIGN.partition("### Decision: Evict")[0])
    reject(repo, "Write through — Reads dominate.")
    assert data_of(started("facts", "ingest", "--json"))["counts"] == {"reject": 1}
    assert (repo / ".memory/facts.jsonl").read_bytes() == before


def test_what_waits_cannot_be_accepted(started: Memory, repo: Path) -> None:
    (repo / "docs").mkdir()
    waiting = DESIGN.partition("### Decision: Evict")[0].replace("exploring", "decided")
    (repo / "docs/cache.md").write_text(waiting.replace("**Status:** decided\n", ""))
    (name,) = [item["id"] for item in data_of(started("facts", "ingest", "--json"))["pending"]]
    reject(repo, "Write through — Reads dominate.")
    refused(started("facts", "ingest", "--accept", name, "--json"), "content")
    refused(started("facts", "restore", name, "--json"), "content")
    assert data_of(started("facts", "ingest", "--drop", name, "--json"))["counts"]["drop"] == 1


def line_of(name: str, content: str, **fields: Any) -> str:
    fact = {"_type": "fact", "id": name, "section": "Decisions", "content": content, "created_at": THEN, **fields}
    return json.dumps(fact) + "\n"


def test_import_leaves_it_out_and_takes_in_the_rest(started: Memory, repo: Path, tmp_path: Path) -> None:
    other = tmp_path / "facts.jsonl"
    other.write_text(
        line_of("aaaa00000001", VALUE)
        + line_of("aaaa00000002", "Invoices are numbered without gaps.")
        + line_of("aaaa00000003", VALUE, status="archived", archived_at=THEN)
        + json.dumps({"_type": "episode", "id": "e1", "title": "Queue", "narrative": AGAIN, "date": "2026-03-01"})
        + "\n"
        + line_of("aaaa00000004", AGAIN, status="pending")
    )
    reject(repo)
    for option in (["--dry-run"], []):
        done = started("facts", "import", str(other), *option, "--json")
        assert codes(done) == ["RejectedLeftOut"]
        assert (done.data["added"], done.data["refused"]) == (2, 0)
        assert done.json["warnings"][0]["message"] == "Left out because rejected: 3."
    names = [json.loads(line)["id"] for line in (repo / ".memory/facts.jsonl").read_text().splitlines()]
    assert sorted(names) == ["aaaa00000002", "aaaa00000003"]
    lift(repo)
    done = started("facts", "import", str(other), "--json")
    assert (codes(done), done.data["added"]) == ([], 3)


def test_import_of_nothing_else(started: Memory, repo: Path, tmp_path: Path) -> None:
    other = tmp_path / "facts.jsonl"
    other.write_text(line_of("aaaa00000001", VALUE))
    reject(repo)
    done = started("facts", "import", str(other), "--json")
    assert (codes(done), done.data["added"]) == (["RejectedLeftOut"], 0)
    assert not (repo / ".memory/facts.jsonl").exists()


def test_a_note_and_a_fact_made_of_one(started: Memory, repo: Path) -> None:
    data_of(started("note", VALUE, "--json"))
    reject(repo)
    refused(started("note", AGAIN, "--json"), "text")
    refused(started("notes", "promote", "1", "Decisions", "--json"), "content")
    assert [item["text"] for item in started("notes", "--json").data["notes"]] == [VALUE]
    lift(repo)
    data_of(started("note", AGAIN, "--json"))
    data_of(started("notes", "promote", "1", "Decisions", "--json"))


# -- the profile ----------------------------------------------------------------------------------


def test_an_entry(started: Memory, repo: Path, tree: Callable[..., Tree]) -> None:
    data_of(started("profile", "remember", "tools", "queue", "A file of lines.", "--json"))
    reject(repo)
    before = tree(repo)
    for line in (
        ["tools", "other", VALUE],
        ["tools", "other", AGAIN, "--force"],
        ["tools", "other", VALUE, "--dry-run"],
        ["tools", "queue", VALUE],
        ["user", "other", VALUE, "--status", "archived"],
    ):
        refused(started("profile", "remember", *line, "--json"), "value")
    assert tree(repo) == before
    lift(repo)
    assert data_of(started("profile", "remember", "tools", "queue", VALUE, "--json"))["entry"]["value"] == VALUE


def test_an_entry_is_refused_before_anything_of_a_profile_is_there(memory: Memory, repo: Path) -> None:
    reject(repo)
    refused(memory("profile", "remember", "tools", "queue", VALUE, "--json"), "value")
    assert not (repo / ".ai-state").exists()


def test_a_value_that_resembles_another_entry_is_refused_all_the_same(started: Memory, repo: Path) -> None:
    data_of(started("profile", "remember", "tools", "queue", VALUE, "--json"))
    reject(repo)
    refused(started("profile", "remember", "tools", "twin", VALUE, "--json"), "value")


def test_an_entry_that_said_it_before_can_be_changed_and_forgotten(started: Memory, repo: Path) -> None:
    data_of(started("profile", "remember", "tools", "queue", VALUE, "--json"))
    reject(repo)
    changed = data_of(started("profile", "remember", "tools", "queue", "--tag", "queue", "--json"))
    assert changed["entry"]["tags"] == ["queue"]
    data_of(started("profile", "remember", "tools", "queue", "--status", "archived", "--json"))
    refused(started("profile", "remember", "tools", "queue", "--status", "active", "--json"), "value")
    data_of(started("profile", "forget", "tools", "queue", "--json"))
    refused(started("profile", "restore", "tools", "queue", "--json"), "value")
    lift(repo)
    data_of(started("profile", "restore", "tools", "queue", "--json"))
    data_of(started("profile", "remember", "tools", "queue", "--status", "active", "--json"))


def test_a_session_begins_whatever_names_were_rejected(started: Memory, repo: Path) -> None:
    names = ["Ada", "Basil", "Cleo", "Edda", "Finn", "Hazel", "Ines", "Juno", "Kit", "Lena", "Milo", "Nell"]
    for name in (*names, "Otis", "Pia", "Remy"):
        reject(repo, name)
    assert data_of(started("profile", "session-start", "--json"))["assistant_name"] == "Wren"
    data_of(started("profile", "forget", "assistant", "name", "--json"))
    reject(repo, "Wren")
    begun = data_of(started("profile", "session-start", "--json"))
    assert (begun["session_count"], begun["assistant_name"]) == (2, "")


# -- the journal ----------------------------------------------------------------------------------

TRAP = "Cache keys must include the tenant: otherwise tenants see each other's orders."
CHOICE = "Cache the order list for 30 seconds in src/cache.ts."
STEP = "Write a cache runbook."


@pytest.fixture
def here(environment: dict[str, str], tmp_path: Path) -> Journal:
    """A journal with a source whose sessions were not looked at yet."""
    journal = journal_in(tmp_path, environment)
    journal.done("init")
    write_session(journal.agent / "transcripts/cache.jsonl", CACHE)
    write_session(journal.agent / "transcripts/umlauts.jsonl", UMLAUTS)
    journal.done("add", "claude-local", str(journal.agent), "--name", "agent")
    return journal


def written(here: Journal) -> str:
    """Everything that readers see of the journal: the state, the pages, the entry block."""
    files = [here.root / ".agent-memory/state.json", *sorted((here.root / "docs").rglob("*.md"))]
    files += [path for name in ("AGENTS.md", "CLAUDE.md") if (path := here.root / name).exists()]
    return "\n".join(path.read_text() for path in files).casefold()


def history(here: Journal) -> str:
    return (here.root / ".agent-memory/history/events.jsonl").read_text().casefold()


@pytest.mark.parametrize(
    ("value", "word"), [(TRAP, "must include the tenant"), (CHOICE, "for 30 seconds"), (STEP, "a cache runbook")]
)
def test_a_session_is_imported_and_recalled_without_it(here: Journal, value: str, word: str) -> None:
    plain = here.copy("plain")
    plain.done("sync", "agent")
    plain.done("recall")
    assert word in history(plain)
    assert word in written(plain)
    reject(here.root, value)
    done = here.done("sync", "agent")
    assert (done["imported"], done["failed"]) == (2, 0)
    assert word not in history(here)
    here.done("recall")
    assert word not in written(here)
    assert "umlaute" in written(here)


def test_events_from_before_it_was_rejected_are_recalled_without_it(here: Journal) -> None:
    here.done("sync", "agent")
    kept = history(here)
    for value in (TRAP, CHOICE, STEP):
        reject(here.root, value)
    here.done("recall")
    for word in ("must include the tenant", "for 30 seconds", "a cache runbook"):
        assert word in kept
        assert word not in written(here)
    assert here.titles["gotchas"] == ["Umlaute"]
    assert history(here).startswith(kept)
    assert "tenant" not in history(here).removeprefix(kept)


def test_what_the_memory_said_already_goes_with_the_next_update(here: Journal) -> None:
    here.done("sync", "agent")
    here.done("recall")
    before = history(here)
    reject(here.root, TRAP)
    tried = here.journal("update", "--dry-run", "--json")
    assert tried.warnings == ["RejectedLeftOut"]
    assert "must include the tenant" in written(here)
    assert here.journal("update", "--json").warnings == ["RejectedLeftOut"]
    assert "must include the tenant" not in written(here)
    assert "tenant" not in history(here).removeprefix(before)
    assert here.journal("validate").code == 0
    assert here.journal("update", "--json").warnings == []


def test_a_checkpoint_is_restored_without_it(here: Journal) -> None:
    here.done("sync", "agent")
    here.done("recall")
    reject(here.root, TRAP)
    here.done("update")
    latest = here.checkpoints[-1]
    assert here.journal("restore", "chk-000002", "--dry-run", "--json").warnings == ["RejectedLeftOut"]
    assert here.journal("restore", "chk-000001", "--yes", "--json").warnings == []
    assert here.titles["gotchas"] == []
    before = history(here)
    assert here.journal("restore", "chk-000002", "--yes", "--json").warnings == ["RejectedLeftOut"]
    assert here.titles["gotchas"] == ["Umlaute"]
    assert "must include the tenant" not in written(here)
    assert "tenant" not in history(here).removeprefix(before)
    assert here.journal("validate").code == 0
    lift(here.root, TRAP)
    assert here.checkpoints[-1] > latest
    assert here.journal("restore", "chk-000002", "--yes", "--json").warnings == []
    assert "must include the tenant" in written(here)


def test_a_state_is_made_anew_without_it(here: Journal) -> None:
    here.done("sync", "agent")
    here.done("recall")
    reject(here.root, TRAP)
    (here.root / ".agent-memory/state.json").write_text("{")
    assert here.journal("restore", "chk-000002", "--yes", "--json").warnings == ["RejectedLeftOut"]
    assert here.titles["gotchas"] == ["Umlaute"]
    assert "must include the tenant" not in written(here)


def test_a_journal_is_begun_without_it(environment: dict[str, str], tmp_path: Path) -> None:
    here = journal_in(tmp_path, environment)
    (here.root / "README.md").write_text("# Orders\n\nTakes orders and keeps them all. It is small.\n")
    reject(here.root, "Takes orders and keeps them all.")
    here.done("init")
    assert "keeps them all" not in written(here)
    lift(here.root, "Takes orders and keeps them all.")
    here.done("update")
    assert "keeps them all" in written(here)


def test_the_automation_goes_on(here: Journal) -> None:
    reject(here.root, TRAP)
    run = here.journal("automate", "run-once", "--json", env={"MEMORY_NOW": "2030-03-02T11:19:00+00:00"})
    assert run.code == 0, run.out
    assert "must include the tenant" not in written(here)
    assert here.titles["gotchas"] == ["Umlaute"]


# -- the server, and what stays ---------------------------------------------------------------------


def test_the_tools_of_the_server(started: Memory, repo: Path) -> None:
    reject(repo)
    with over_stdio(Here(repo, started.env), "--toolset", "all") as asked:
        calls: list[tuple[str, str, dict[str, Any]]] = [
            ("save_memory", "nodes.0.body", {"task": "test", "nodes": [NODE]}),
            ("memory_store", "content", {"section": "Decisions", "content": AGAIN}),
            ("remember", "value", {"category": "tools", "key": "queue", "value": VALUE}),
        ]
        for tool, field, given in calls:
            error = asked.error(tool, **given)
            assert (error["code"], error["details"]["field"]) == ("MemoryValueRejected", field)
        lift(repo)
        for tool, _, given in calls:
            asked.data(tool, **given)
        # A process that stays alive knows of what is rejected meanwhile.
        reject(repo)
        error = asked.error("memory_store", section="Specs", content=f"{VALUE} Always.")
        assert error["code"] == "MemoryValueRejected"


def test_check_names_what_says_it_and_what_cannot_be_read(started: Memory, repo: Path, tmp_path: Path) -> None:
    assert started("journal", "init", "--json").code == 0
    trap = {"kind": "gotcha", "title": "Queue", "body": f"Beware. {VALUE}"}
    started.save(trap)
    started.save({**trap, "title": "Old queue"})
    started.save(stale=[{"id": "gotcha.old-queue", "reason": "gone"}])
    name = data_of(started("facts", "store", "Decisions", VALUE, "--json"))["fact"]["id"]
    data_of(started("profile", "remember", "tools", "queue", VALUE, "--json"))
    write_session(tmp_path / "agent/transcripts/s1.jsonl", ("Hi.", f"GOTCHA: Queue: {VALUE}"))
    data_of(started("journal", "add", "claude-local", str(tmp_path / "agent"), "--name", "agent", "--json"))
    data_of(started("journal", "sync", "agent", "--json"))
    data_of(started("journal", "recall", "--json"))
    sound = started("check", "--json").data
    assert (sound["errors"], [item["code"] for item in sound["warnings"]]) == ([], [])
    named = reject(repo)
    damaged = repo / f".memory/rejected/{'0' * 32}.json"
    damaged.write_text("<<<<<<< ours\n")
    found = started("check", "--json")
    assert (found.code, found.data["errors"]) == (0, [])
    new = [item for item in found.data["warnings"] if item not in sound["warnings"]]
    said = {(item["code"], item["path"]): item for item in new}
    stored = {path: item for (code, path), item in said.items() if code == "RejectedValueStored"}
    assert {path: item["message"].partition("`")[2].partition("`")[0] for path, item in stored.items()} == {
        ".memory/memory/queue.json": "gotcha.queue",
        ".memory/facts.jsonl": f"fact:{name}",
        ".ai-state/memory.json": "profile:tools.queue",
        ".agent-memory/state.json": "bundle:gotchas.queue",
    }
    assert all(f"`memory inbox lift {named}`" in item["hint"] for item in stored.values())
    assert len(said) == len(new) == 5
    assert said["RejectionUnreadable", f".memory/rejected/{'0' * 32}.json"]["severity"] == "warning"
    damaged.unlink()
    data_of(started("facts", "archive", name, "--json"))
    data_of(started("profile", "forget", "tools", "queue", "--json"))
    data_of(started("journal", "update", "--json"))
    started.save(delete=[{"id": "gotcha.queue", "reason": "it was rejected"}])
    assert started("check", "--json").data["warnings"] == sound["warnings"]


def test_git_keeps_what_was_rejected(started: Memory, repo: Path, git: Git) -> None:
    reject(repo)
    data_of(started("facts", "store", "Decisions", "Invoices are numbered.", "--json"))
    data_of(started("profile", "remember", "tools", "shell", "fish", "--json"))
    git.commit()
    (name,) = git("ls-files", ".memory/rejected").split()
    assert json.loads((repo / name).read_text())["value"] == VALUE
