"""Receipts: every answer that hands something over leaves one, whole, and it says nothing of what the user wrote."""

from __future__ import annotations

import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hooks_here import SHOP_NODES, Hooks, left_behind

from installed import Memory
from quire.clients.receipts import read_receipts
from thorough import either

PROMPT = "how often are webhook deliveries retried, says the secret zebra?"


@pytest.fixture
def shop(memory: Memory, repo: Path) -> Memory:
    memory.init("--no-guidance")
    (repo / "src").mkdir()
    (repo / "src/orders.py").write_text("def add(): ...\n")
    memory.save(*SHOP_NODES)
    return memory


@pytest.fixture
def hooks(shop: Memory) -> Hooks:
    return Hooks(shop.cwd, shop.env)


def test_what_was_told_is_shown(shop: Memory, hooks: Hooks) -> None:
    assert (
        shop("receipts").out
        == "Nothing was sent to an agent yet. `memory integrate` connects the agents that you use.\n"
    )
    hooks.said("claude", "session-start", session_id="3f2a-1")
    hooks.said("claude", "prompt", session_id="3f2a-1", prompt=PROMPT)
    hooks.edit("src/orders.py", session_id="77b0-2")
    run = shop("receipts")
    assert (run.code, run.err) == (0, "")
    lines = run.out.splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("2026-03-02T11:19:00  claude  session-start  3f2a-1  3 included  (")
    assert lines[1].startswith("2026-03-02T11:19:00  claude  prompt  3f2a-1  1 withheld  (0 of 400 tokens, ")
    assert lines[3].startswith("3 receipts, ")
    one = shop("receipts", "77b0")
    assert "  about " in one.out
    assert "  included  feature.order-book" in one.out
    assert "3f2a" not in one.out
    assert shop("receipts", "nobody").out.startswith("No receipts for the session `nobody`.")
    assert shop("receipts", "--limit", "1").out.splitlines()[1] == "2 earlier ones: --limit."


def test_the_same_as_fields(shop: Memory, hooks: Hooks) -> None:
    hooks.edit("src/orders.py", session_id="77b0-2")
    hooks.edit("src/orders.py", session_id="77b0-2")
    data = shop("receipts", "--json").data
    assert data["total"] == 2
    first, second = data["results"]
    assert (first["client"], first["event"], first["session"]) == ("claude", "before-edit", "77b0-2")
    assert first["files"] == [str(shop.cwd / "src/orders.py")]
    assert [item["ref"] for item in first["included"]] == ["feature.order-book"]
    assert first["included"][0]["tokens"] > 0
    assert 0 < first["tokens"] <= first["budget"] == 500
    assert (first["trimmed"], first["withheld"]) == ([], [])
    assert (second["included"], second["tokens"]) == ([], 0)
    assert second["withheld"][0]["why"] == "already sent in this session"
    assert shop("receipts", "77b0", "--limit", "1", "--json").data["results"] == [second]


def test_what_the_user_wrote_is_nowhere(shop: Memory, hooks: Hooks) -> None:
    hooks.said("claude", "prompt", prompt=PROMPT)
    hooks.said("copilot", "session-start", session_id="s-2", initialPrompt=PROMPT)
    assert hooks.receipts()
    for path in filter(Path.is_file, (shop.cwd / ".memory").rglob("*")):
        assert b"zebra" not in path.read_bytes(), path
    for line in (["receipts"], ["receipts", "s-1"], ["receipts", "--json"]):
        assert "zebra" not in shop(*line).out


def test_lines_that_are_damaged_do_not_count(shop: Memory, hooks: Hooks) -> None:
    hooks.edit("src/orders.py")
    file = shop.cwd / ".memory/local/receipts.jsonl"
    good = file.read_bytes()
    bad = [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"s-1"',
        b'{"at": 5}',
        b"\xff\xfe",
        b'{"at":"a","client":"b"}',
        good[: len(good) // 2],
    ]
    file.write_bytes(b"\n".join([*bad, good.strip(), *bad]) + b"\n")
    run = shop("receipts", "--json")
    assert (run.code, run.data["total"]) == (0, 1)
    assert hooks.edit("src/orders.py") == ""
    assert shop("receipts", "--json").data["total"] == 2


@pytest.mark.proof(keep=2)
@pytest.mark.parametrize("session", ['a"b\\c', "größe-例", "a/b", "<x>", "x" * 1000, "s 1"])
def test_any_session_that_a_client_names_is_known_again(hooks: Hooks, session: str) -> None:
    assert "feature.order-book" in hooks.edit("src/orders.py", session_id=session)
    assert hooks.edit("src/orders.py", session_id=session) == ""
    assert [receipt.session for receipt in hooks.receipts(session)] == [session, session]


def test_a_session_that_only_looks_like_another(hooks: Hooks) -> None:
    assert hooks.edit("src/orders.py", session_id="s-10") != ""
    assert hooks.edit("src/orders.py", session_id="s-1") != ""


def test_a_receipt_that_cannot_be_written_keeps_nothing_from_the_agent(shop: Memory, hooks: Hooks) -> None:
    (shop.cwd / ".memory/local/receipts.jsonl").mkdir(parents=True)
    assert "feature.order-book" in hooks.edit("src/orders.py")


@pytest.mark.proof
def test_many_hooks_at_once_lose_nothing(shop: Memory, hooks: Hooks) -> None:
    """Each has its session; all of them start from a memory whose index has to be made first."""
    count = either(50, 200)
    line = [hooks.program, "hook", "claude", "session-start"]

    def one(number: int) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            line,
            cwd=shop.cwd,
            env={**hooks.env, "MEMORY_HOOK_SECONDS": "60"},
            input=hooks.payload(session_id=f"many-{number}"),
            capture_output=True,
            check=False,
        )

    with ThreadPoolExecutor(50) as pool:
        found = list(pool.map(one, range(count)))
    assert {(done.returncode, done.stderr) for done in found} == {(0, b"")}
    assert all(b"Order book" in done.stdout for done in found)
    raw = (shop.cwd / ".memory/local/receipts.jsonl").read_bytes()
    lines = [json.loads(text) for text in raw.splitlines()]
    assert sorted(line["session"] for line in lines) == sorted(f"many-{number}" for number in range(count))
    assert len(read_receipts(str(shop.cwd))) == count
    assert hooks.log() == []
    assert left_behind(hooks, 2) == []
    left = {name for name in os.listdir(shop.cwd / ".memory/local") if not name.endswith(".lock")}
    assert left == {".gitignore", "receipts.jsonl"}
