"""`memory inbox`: what is proposed, accepted, edited, rejected and lifted, through the installed command."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from sessions_here import Recording

from installed import Memory
from quire.inbox.proposals import Proposal, ProposalEvidence, propose
from quire.inbox.store import read_inbox, write_inbox

FACT = "Berths are numbered from the sea."
DECISION = "Retries run in the worker, because the web process must answer within two seconds."


def fact(text: str = FACT, **given: Any) -> Proposal:
    fields = {"section": "Specs", "content": text, "tags": ["berth"]}
    return propose("facts", "fact", text, fields, **{"origin": "file:CLAUDE.md", "by": "file", **given})


def decision(**fields: Any) -> Proposal:
    node = {"kind": "decision", "title": "Retries run in the worker", "body": DECISION, **fields}
    said = ProposalEvidence(
        quote=DECISION, by="user", where="claude session 5f0c2a7e, turn 4", at="2026-03-02T10:04:00+00:00"
    )
    return propose("graph", "decision", DECISION, node, origin="session:claude:5f0c2a7e", by="user", evidence=(said,))


def entry(key: str = "package_manager") -> Proposal:
    fields = {"category": "tools", "key": key, "value": "uv, never pip"}
    return propose("profile", "preference", "uv, never pip", fields, origin="session:claude:5f0c2a7e", by="user")


def step() -> Proposal:
    return propose(
        "notes", "next step", "add a metric", {"text": "add a metric"}, origin="session:claude:5f0c2a7e", by="user"
    )


def episode() -> Proposal:
    fields = {"title": "The queue", "summary": "The queue was repaired.", "session_id": "5f0c2a7e", "turns": 4}
    return propose("episodes", "session", "claude session: The queue", fields, origin="session:claude:5f", by="user")


@pytest.fixture
def inbox(memory: Memory) -> Memory:
    memory.init()
    put(memory, fact(), decision(), entry(), step(), episode())
    return memory


def put(memory: Memory, *items: Proposal) -> None:
    after, _ = read_inbox(str(memory.cwd)).with_new(items)
    write_inbox(str(memory.cwd), after, "0" * 16)


def waiting(memory: Memory) -> list[str]:
    return [item["id"] for item in memory("inbox", "--json").data["results"]]


def test_an_empty_inbox(memory: Memory) -> None:
    memory.init()
    assert memory("inbox").out == "No pending proposals.\n"
    assert memory("inbox", "--json").data == {"results": [], "groups": [], "counts": {}, "unread_sessions": 0}
    assert memory("inbox", "rejected").out == "Nothing was rejected.\n"
    assert memory("inbox", "collect").out == "No sessions to read.\n"
    assert memory("inbox", "accept", "--all").out == "No pending proposal matches.\nNo pending proposals.\n"


def test_without_a_memory(memory: Memory) -> None:
    for line in (("inbox",), ("inbox", "accept", "--all"), ("inbox", "collect"), ("import",), ("receipts",)):
        done = memory(*line, "--json")
        assert (done.code, done.error["code"]) == (3, "MemoryNotInitialized"), line
    assert not (memory.cwd / ".memory").exists()


def test_the_list_names_the_evidence(inbox: Memory) -> None:
    shown = inbox("inbox").out
    assert f"{decision().id}  decision → graph\n  {DECISION}\n" in shown
    assert "    user, claude session 5f0c2a7e, turn 4, 2026-03-02\n" in shown
    assert f"{fact().id}  fact → facts, Specs\n  {FACT}\n    file, file:CLAUDE.md\n" in shown
    assert f"{entry().id}  preference → profile tools.package_manager\n" in shown
    assert shown.endswith(
        "5 proposals. memory inbox accept|edit|reject ID\n"
        "All of one group: memory inbox accept --source CLAUDE.md --kind fact\n"
    )
    data = inbox("inbox", "--from", "file", "--json").data
    assert [item["id"] for item in data["results"]] == [fact().id]
    assert data["counts"] == {"pending": 5}
    assert len(inbox("inbox", "--origin", "claude", "--json").data["results"]) == 4


def test_each_layer_takes_its_own(inbox: Memory) -> None:
    done = inbox("inbox", "accept", "--all", "--json").data
    assert done["failed"] == []
    assert done["pending"] == 0
    refs = {item["into"]: item.get("ref", "") for item in done["settled"]}
    assert refs["graph"] == "decision.retries-run-in-the-worker"
    node = inbox("inspect", refs["graph"], "--json").data["object"]
    assert node["origin"] == {"kind": "external", "locator": "session:claude:5f0c2a7e"}
    assert inbox("inspect", refs["facts"], "--json").data["object"]["content"] == FACT
    assert refs["profile"] == "profile:tools.package_manager"
    assert inbox("inspect", refs["profile"], "--json").data["object"]["value"] == "uv, never pip"
    assert inbox("inspect", refs["episodes"], "--json").data["object"]["title"] == "Session 2026-03-02: The queue"
    assert [note["text"] for note in inbox("notes", "--json").data["notes"]] == ["add a metric"]
    assert inbox("inbox", "--status", "accepted", "--json").data["counts"] == {"accepted": 5}
    again = inbox("inbox", "accept", decision().id, "--json")
    assert (again.code, again.error["message"]) == (1, f"`{decision().id}` was accepted already.")


def test_only_what_the_user_said(inbox: Memory) -> None:
    done = inbox("inbox", "accept", "--all", "--from", "user", "--json").data
    assert {item["into"] for item in done["settled"]} == {"graph", "profile", "notes", "episodes"}
    assert waiting(inbox) == [fact().id]


def test_a_proposal_changes_no_record(inbox: Memory) -> None:
    inbox("profile", "remember", "tools", "package_manager", "poetry")
    put(inbox, decision(id="decision.taken"))
    inbox.save({"kind": "decision", "title": "Taken", "id": "decision.taken", "body": "Another one."})
    done = inbox("inbox", "accept", entry().id, "--json")
    assert done.code == 1
    assert done.data["failed"][0]["message"].startswith("`tools.package_manager` already exists")
    assert inbox("inspect", "profile:tools.package_manager", "--json").data["object"]["value"] == "poetry"
    assert entry().id in waiting(inbox)


def test_one_that_cannot_be_saved_keeps_no_other(inbox: Memory) -> None:
    put(inbox, propose("facts", "fact", "no section", {"section": "Nowhere", "content": "x y"}, origin="o", by="file"))
    done = inbox("inbox", "accept", "--all")
    assert done.code == 1
    assert "Not accepted: " in done.out
    assert "1 proposal pending." in done.out


def test_edit(inbox: Memory) -> None:
    words = "Retries run in the worker."
    done = inbox("inbox", "edit", decision().id, "--text", words, "--set", "title=Where retries run", "--json").data
    assert (done["text"], done["fields"]["body"], done["fields"]["title"]) == (words, words, "Where retries run")
    assert done["evidence"][0]["quote"] == DECISION
    accepted = inbox("inbox", "accept", done["id"], "--json").data["settled"][0]
    assert accepted["ref"] == "decision.where-retries-run"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ((), "Give something to change."),
        (("--set", "title"), "`title` sets nothing."),
        (("--set", "stage=shipped"), "stage"),
        (("--set", "nonsense=1"), "nonsense"),
        (("--text", " "), "empty"),
        (("--text", "token ghp_" + "a1B2" * 9), "looks like"),
    ],
)
def test_an_edit_that_could_not_be_accepted(inbox: Memory, line: tuple[str, ...], said: str) -> None:
    done = inbox("inbox", "edit", decision().id, *line, "--json")
    assert done.code in (1, 2)
    assert said in json.dumps(done.error)
    assert decision().id in waiting(inbox)


def test_reject_and_lift(inbox: Memory) -> None:
    done = inbox("inbox", "reject", fact().id, "--reason", "from the harbour office", "--json").data
    assert done["files_changed"] == [f".memory/rejected/{path_of(FACT)}"]
    assert fact().id not in waiting(inbox)
    listed = inbox("inbox", "rejected").out
    assert listed == f"{fact().id}  rejected 2026-03-02: from the harbour office\n  {FACT}\n"
    stored = inbox("facts", "store", "Specs", FACT.upper(), "--json")
    assert (stored.code, stored.error["code"]) == (1, "MemoryValueRejected")
    assert f"memory inbox lift {fact().id}" in stored.error["hint"]
    lifted = inbox("inbox", "lift", fact().id, "--json").data
    assert lifted["rejections"][0]["lifted_at"] == "2026-03-02T11:19:00+00:00"
    assert fact().id in waiting(inbox)
    assert inbox("inbox", "accept", fact().id).code == 0
    assert "lifted 2026-03-02" in inbox("inbox", "rejected").out


def test_a_value_that_nobody_proposed(inbox: Memory) -> None:
    assert inbox("inbox", "reject", "--value", "We use Redis.", "--reason", "we do not").code == 0
    done = inbox("note", "We use Redis", "--json")
    assert (done.code, done.error["code"]) == (1, "MemoryValueRejected")
    assert inbox("inbox", "lift", "We use Redis.").code == 0
    assert inbox("note", "We use Redis").code == 0


def path_of(text: str) -> str:
    from quire.inbox.proposals import value_digest

    return f"{value_digest(text)}.json"


@pytest.mark.parametrize(
    "line",
    [
        ("accept",),
        ("accept", "--from", "user"),
        ("accept", "in-1234", "--all"),
        ("accept", "--all", "--from", "nobody"),
        ("reject",),
        ("reject", "--all", "--value", "x"),
        ("lift",),
        ("edit",),
        ("--status", "gone"),
        ("nonsense",),
    ],
)
def test_a_wrong_line_is_refused_and_changes_nothing(inbox: Memory, line: tuple[str, ...]) -> None:
    before = (inbox.cwd / ".memory/local/inbox.jsonl").read_bytes()
    done = inbox("inbox", *line, "--json")
    assert done.code == 2, done
    assert done.error["message"]
    assert (inbox.cwd / ".memory/local/inbox.jsonl").read_bytes() == before


def test_an_unknown_id(inbox: Memory) -> None:
    for verb in ("accept", "reject", "lift"):
        done = inbox("inbox", verb, "in-ffffffffff", "--json")
        assert (done.code, done.error["code"]) == (1, "MemoryObjectNotFound"), verb


def test_git_sees_what_was_rejected_and_nothing_of_the_inbox(inbox: Memory, git: Any) -> None:
    git.commit()
    inbox("inbox", "reject", fact().id)
    assert git("status", "--short", "--untracked-files=all").split() == ["??", f".memory/rejected/{path_of(FACT)}"]


@pytest.mark.proof
def test_two_who_settle_at_once_lose_nothing(inbox: Memory) -> None:
    items = [fact(f"Berth {number} is reserved for pilots.") for number in range(8)]
    put(inbox, *items)
    running = [
        subprocess.Popen(
            [*inbox.program, "inbox", "accept" if number % 2 else "reject", item.id],
            cwd=inbox.cwd,
            env=inbox.env,
            stdout=subprocess.DEVNULL,
        )
        for number, item in enumerate(items)
    ]
    assert [process.wait(60) for process in running] == [0] * 8
    statuses = {item["id"]: item["status"] for item in inbox("inbox", "--status", "all", "--json").data["results"]}
    assert [statuses[item.id] for item in items] == ["rejected", "accepted"] * 4


def test_a_session_that_goes_on_is_read_once(memory: Memory, environment: dict[str, str]) -> None:
    memory.init()
    held = Recording(Path(environment["HOME"]), memory.cwd)
    held.user("The queue loses messages. Please look.").agent("The timeout is too short.", edits="src/queue.py")
    held.user("We decided to raise the timeout to 120 seconds, because jobs take 90 seconds.").agent("Agreed.")
    assert memory("hook", "claude", "turn-end", stdin=held.payload("Stop")).code == 0
    first = memory("inbox", "collect", "--json").data
    assert first["sessions"] == 1
    assert first["proposed"] >= 1
    memory("hook", "claude", "turn-end", stdin=held.payload("Stop"))
    assert memory("inbox", "collect", "--json").data["proposed"] == 0
    held.user("We decided to drop the old queue table, because nothing reads it any more.").agent("Agreed.")
    memory("hook", "claude", "turn-end", stdin=held.payload("Stop"))
    assert memory("inbox", "collect", "--json").data["proposed"] == 1
    assert memory("inbox", "collect", "--json").data["sessions"] == 0


def test_a_session_file_that_is_none_of_the_clients_is_not_read(memory: Memory, tmp_path: Path) -> None:
    memory.init()
    elsewhere = tmp_path / "secrets.jsonl"
    elsewhere.write_text('{"type": "user"}\n')
    said = {
        "session_id": "s1",
        "transcript_path": str(elsewhere),
        "cwd": str(memory.cwd),
        "hook_event_name": "Stop",
    }
    memory("hook", "claude", "turn-end", stdin=json.dumps(said).encode())
    done = memory("inbox", "collect", "--json")
    assert done.code == 1
    assert done.data["failed"] == [
        {"session": "claude s1", "reason": "its file is not where this client keeps sessions"}
    ]
    assert memory("inbox", "collect", "--json").data["failed"] == []


def test_a_session_that_left_no_file_is_no_failure(memory: Memory, environment: dict[str, str]) -> None:
    memory.init()
    folder = Path(environment["HOME"]) / ".claude" / "projects" / "harbor"
    for number, path in enumerate((folder / "gone.jsonl", folder.parent / "file" / "gone.jsonl", Path("/nowhere/x"))):
        said = {"session_id": f"s{number}", "transcript_path": str(path), "cwd": str(memory.cwd)}
        memory("hook", "claude", "turn-end", stdin=json.dumps({**said, "hook_event_name": "Stop"}).encode())
    folder.mkdir(parents=True)
    (folder.parent / "file").write_text("no folder\n")
    done = memory("inbox", "collect", "--json")
    assert (done.code, done.data["sessions"], done.data["failed"]) == (0, 0, [])
    assert done.json["warnings"] == []
    assert list((memory.cwd / ".memory" / "local").glob("ended*")) == []


def test_a_link_to_a_session_is_a_failure_wherever_it_leads(memory: Memory, environment: dict[str, str]) -> None:
    memory.init()
    folder = Path(environment["HOME"]) / ".claude" / "projects" / "harbor"
    folder.mkdir(parents=True)
    (folder / "link.jsonl").symlink_to("/nowhere/x")
    said = {"session_id": "s1", "transcript_path": str(folder / "link.jsonl"), "cwd": str(memory.cwd)}
    memory("hook", "claude", "turn-end", stdin=json.dumps({**said, "hook_event_name": "Stop"}).encode())
    done = memory("inbox", "collect", "--json")
    assert (done.code, [item["session"] for item in done.data["failed"]]) == (1, ["claude s1"])


def test_run_once_reads_the_sessions_too(memory: Memory, environment: dict[str, str]) -> None:
    memory.init()
    held = Recording(Path(environment["HOME"]), memory.cwd)
    held.user("The queue loses messages. Please look.").agent("The timeout is too short.", edits="src/queue.py")
    held.user("We decided to raise the timeout to 120 seconds, because jobs take 90 seconds.").agent("Agreed.")
    memory("hook", "claude", "turn-end", stdin=held.payload("Stop"))
    later = Memory(memory.cwd, {**memory.env, "MEMORY_NOW": "2026-03-02T11:49:00+00:00"})
    later("journal", "init", "--yes")
    assert later("journal", "automate", "run-once").code == 0
    assert waiting(memory)
