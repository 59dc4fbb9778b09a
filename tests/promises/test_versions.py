"""What earlier versions of the program wrote is opened by this one: all is there, and stays when it is changed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from version_stores import KEPT, RELEASES, Store, newest, opened

from promised import proves, tally
from thorough import LONG, some

HAND_MADE = {"ObjectContentHashMismatch"}
"""The one thing that check has to say: a body was edited by hand."""
ALIKE = ("0.1.0-query", "0.1.0-mcp", "0.1.0-agents")
"""They write what their neighbours write: every day the neighbours stand for them."""
HAND_LINE = b'"id": "0a1b2c3d4e5f"'
Step = Callable[[Store, dict[str, Any]], None]


@pytest.fixture(params=[name for name in KEPT if LONG or name not in ALIKE])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return opened(request.param, tmp_path)


@proves("P5.5")
def test_the_newest_store_holds_every_place() -> None:
    held = {name: {path.name for path in (RELEASES / name / "harbor").iterdir()} for name in KEPT}
    assert {"dot-memory", "dot-ai-state", "dot-agent-memory", "dot-mcp.json", "dot-codex"} <= held[newest()]
    assert len(KEPT) >= 9
    for name in KEPT:
        for path in (RELEASES / name).rglob("*"):
            assert not path.name.startswith("."), "git and agents would take it for theirs"


@pytest.mark.proof(keep=3)
@proves("P5.5", over="graph facts profile journal inbox wiring machine")
def test_all_of_an_earlier_store_is_there_and_asking_changes_no_byte(store: Store) -> None:
    before, home = store.files(), _home(store)
    found = store.data("check")
    assert found["errors"] == []
    assert {item["code"] for item in found["warnings"]} <= {*HAND_MADE, "JournalFault"}
    assert store.asked() == store.said
    for line in (("query", "retry queue"), ("brief",), ("export", "--all"), ("diff",), ("doctor",), ("upgrade",)):
        assert store(*line).code in (0, 1), line
    assert store.asked() == store.said
    assert store.files() == before
    assert _home(store) == home
    tally("P5.5", states=1, inputs=len(before))


@pytest.mark.proof(keep=4)
@proves("P5.5", over="graph profile journal")
@pytest.mark.parametrize("name", KEPT)
def test_work_that_an_earlier_version_was_cut_off_in_is_completed(name: str, tmp_path: Path) -> None:
    store = opened(name, tmp_path, cut_off=True)
    assert sorted(path.parent.parent.name for path in store.root.glob(".*/recovery/transaction-*")) == sorted(
        store.cut_off
    )
    decided = dict(_decided(store))
    assert store.data("inspect", "feature.harbor-lights")["object"]["body"] == "Decided, not yet there."
    if ".ai-state" in store.cut_off:
        assert list(store.data("profile", "recall", "tools", "pager")["entries"]) == ["pager"]
    if ".agent-memory" in store.cut_off:
        then, now = store.said["journal status"], store.data("journal", "status")
        assert (now["checkpoints"], now["events"]) == (then["checkpoints"] + 1, then["events"] + 1)
    assert not list(store.root.glob(".*/recovery/*"))
    assert {path: path.read_bytes() for path in decided} == decided
    assert store.data("check")["errors"] == []
    kept = {name: said for name, said in store.said.items() if name.startswith(("inspect", "facts", "notes", "inbox"))}
    asked = store.asked()
    assert {name: asked[name] for name in kept} == kept
    tally("P5.5", faults=len(store.cut_off))


def _decided(store: Store) -> Iterator[tuple[Path, bytes]]:
    """The files that were to be replaced, with the bytes that were to be theirs."""
    for place in store.cut_off:
        (intent,) = (store.root / place).glob("recovery/*/intent.json")
        for step in json.loads(intent.read_bytes())["steps"]:
            if step["action"] == "replace" and not step["path"].endswith("pages-due.json"):
                yield store.root / place / step["path"], (intent.parent / step["staged"]).read_bytes()


@pytest.mark.proof(keep=3)
@proves("P5.5", over="graph facts profile journal inbox wiring machine")
def test_an_earlier_store_is_changed_in_every_layer_and_loses_nothing(store: Store) -> None:
    said = dict(store.said)
    for verb, change in CHANGES.items():
        if verb in said:
            change(store, said)
            assert store.asked() == said, verb
    found = store.data("check")
    assert found["errors"] == []
    tally("P5.5", states=len(CHANGES))


def _graph(store: Store, said: dict[str, Any]) -> None:
    sidecar = store.root / ".memory/memory/retry-queue.json"
    before = json.loads(sidecar.read_bytes())
    given = {"task": "t", "nodes": [{"id": "feature.retry-queue", "body": "Sends again, later.", "tags": ["late"]}]}
    assert store("save", "--stdin", "--json", stdin=json.dumps(given)).code == 0
    after = json.loads(sidecar.read_bytes())
    assert after["x_owner"] == "tess"
    assert set(before) - {"evidence"} <= set(after)
    known = said["inspect feature.retry-queue"]
    said["inspect feature.retry-queue"] = {**known, "body": "Sends again, later.", "tags": ["late"]}


def _facts(store: Store, said: dict[str, Any]) -> None:
    lines = store.file.read_bytes().splitlines()
    name = store.store("Specs", "Invoices are numbered without gaps.")
    assert store.facts("archive", "0a1b2c3d4e5f", "--reason", "done").code == 0
    after = store.file.read_bytes().splitlines()
    assert [line for line in lines if line not in after] == [line for line in lines if HAND_LINE in line]
    (by_hand,) = (json.loads(line) for line in after if json.loads(line)["id"] == "0a1b2c3d4e5f")
    assert (by_hand["x_owner"], by_hand["status"]) == ("tess", "archived")
    listed = [item for item in said["facts list"] if item[0] != "0a1b2c3d4e5f"]
    said["facts list"] = sorted([*listed, [name, "Specs", "Invoices are numbered without gaps.", "active"]])


def _profile(store: Store, said: dict[str, Any]) -> None:
    assert store("profile", "remember", "learnings", "flaky_ci", "--importance", "9").code == 0
    assert store("profile", "restore", "tools", "shell").code == 0
    known = dict(said["profile export --format json"])
    known["learnings.flaky_ci"] = {**known["learnings.flaky_ci"], "importance": 9}
    assert known["learnings.flaky_ci"]["x_owner"] == "tess"
    shell = {"value": "fish on every machine of mine", "tags": [], "status": "active", "importance": 5}
    known["tools.shell"] = {**shell, "confidence": None, "links": []}
    said["profile export --format json"] = known
    status = said["profile status"]
    said["profile status"] = {**status, "total": status["total"] + 1, "forgotten": 0}


def _journal(store: Store, said: dict[str, Any]) -> None:
    (store.root / "src/fonts.py").write_text("def embed() -> None: ...\n", encoding="utf-8")
    assert store("journal", "update").code == 0
    assert store.data("journal", "sync", "--all") is not None  # what was imported then is not imported again
    status = store.data("journal", "status")
    then = said["journal status"]
    assert (status["checkpoints"], status["events"]) == (then["checkpoints"] + 1, then["events"] + 1)
    said["journal status"] = {
        **then,
        **{key: status[key] for key in ("latest_checkpoint_id", "checkpoints", "events", "bundle_hash")},
    }
    events = store.data("journal", "log", "--events")["results"]
    assert [[item["id"], item["kind"], item["summary"]] for item in events[1:]] == said["journal log --events"]
    newest = events[0]
    said["journal log --events"] = [[newest["id"], newest["kind"], newest["summary"]], *said["journal log --events"]]


def _notes(store: Store, said: dict[str, Any]) -> None:
    assert store("notes", "undo").code == 0
    assert store("note", "one more").code == 0
    said["notes"] = [note["text"] for note in store.data("notes")["notes"]]
    assert sorted(said["notes"]) == ["ask about fonts", "look at the flaky upload test", "one more"]


def _inbox(store: Store, said: dict[str, Any]) -> None:
    waiting = [item for item in said["inbox --status all"] if item[3] == "pending"]
    assert store("inbox", "accept", waiting[0][0]).code == 0
    shown = store.data("inspect", "decision.retries-run-in-the-worker")["object"]
    assert shown["title"] == "Retries run in the worker"
    said["inbox --status all"] = sorted(
        [*item[:3], "accepted"] if item == waiting[0] else item for item in said["inbox --status all"]
    )
    kinds = said["status"]["nodes_by_kind"]
    said["status"] = {**said["status"], "nodes_by_kind": {**kinds, "decision": kinds["decision"] + 1}}


def _wiring(store: Store, said: dict[str, Any]) -> None:
    """Wired then, taken back now: nothing of ours is left, and the user's own words are."""
    assert store("integrate", "claude", "codex", "--remove", "--yes").code == 0
    assert not (store.root / ".mcp.json").exists()
    assert not (store.root / ".codex/config.toml").exists()
    assert not (store.root / ".claude/settings.json").exists()
    assert (store.root / "CLAUDE.md").read_text(encoding="utf-8").startswith("# House rules\n\nWrite tests first.\n")
    assert store("integrate", "claude", "codex").code == 0


CHANGES: dict[str, Step] = {
    "inspect feature.retry-queue": _graph,
    "facts list": _facts,
    "profile status": _profile,
    "journal status": _journal,
    "notes": _notes,
    "inbox --status all": _inbox,
    "integrate --status": _wiring,
}


@proves("P5.5", over="graph facts profile journal inbox wiring")
@pytest.mark.skipif(not LONG, reason="it takes a minute: only in a long run")
def test_the_present_version_keeps_a_store_that_it_opens(tmp_path: Path) -> None:
    tool = Path(__file__).parents[2] / "tools" / "keep_release.py"
    done = subprocess.run([sys.executable, str(tool), "next", "--into", str(tmp_path / "kept")], check=False)
    assert done.returncode == 0
    store = opened("next", tmp_path / "here", releases=tmp_path / "kept")
    assert set(store.said) >= set(opened(newest(), tmp_path / "last").said)
    assert store.asked() == store.said
    again = subprocess.run([sys.executable, str(tool), "next", "--into", str(tmp_path / "kept")], check=False)
    assert again.returncode == 1, "what a release wrote is not written again"


def _home(store: Store) -> dict[str, bytes]:
    """What lies in the user's home, but what says when something was last used."""
    home = Path(store.env["HOME"])
    return {str(path): path.read_bytes() for path in sorted(home.rglob("*")) if path.is_file()}


@proves("P5.5", over="graph facts profile journal inbox")
@pytest.mark.parametrize("name", some(KEPT, 2))
def test_the_installed_command_opens_an_earlier_store(name: str, tmp_path: Path, memory: Any) -> None:
    store = opened(name, tmp_path / "kept")
    status = memory("status", "--json", cwd=store.root, env=store.env).data
    assert status["nodes_by_kind"] == store.said["status"]["nodes_by_kind"]
    assert memory("check", cwd=store.root, env=store.env).code == 0
