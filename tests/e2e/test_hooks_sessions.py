"""Sessions that end are noted in a moment, and read by a process of its own: at once, or when the next one starts."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hooks_here import SHOP_NODES, Hooks, left_behind, unseen

from installed import Git, Memory
from quire.clients.spool import Ended, note_ended, take_ended
from thorough import either

Tree = dict[str, bytes]
OWN_FILES = {".memory/.gitattributes", ".memory/facts.jsonl"}
NAME = "3f2a1b4c-10da-4411-8cd2-4aa7b569dbd9"
TALK = (
    "The order list is slow. Should we keep it in Redis, or in the process?",
    "I'd keep the order list in the process for 30 seconds, because Redis is one more service.",
    "Yes, do that.",
    "Done.\n\nNext steps:\n- Measure the order list under load in staging",
    "Always use uv instead of pip, because the lock file is what CI installs.",
    "Understood.",
)


@pytest.fixture
def shop(memory: Memory, repo: Path, git: Git) -> Hooks:
    memory.init("--no-guidance")
    (repo / "src").mkdir()
    (repo / "src/orders.py").write_text("def add(): ...\n")
    memory.save(*SHOP_NODES)
    git.commit()
    return Hooks(repo, memory.env)


def transcript(shop: Hooks, name: str = NAME) -> Path:
    """The session as the client keeps it in the user's home."""
    path = Path(shop.env["HOME"]) / ".claude/projects/-harbor" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = []
    for number, text in enumerate(TALK):
        role = "assistant" if number % 2 else "user"
        line = {"type": role, "sessionId": name, "cwd": str(shop.root), "uuid": f"u-{number}"}
        line |= {"parentUuid": f"u-{number - 1}" if number else None, "timestamp": f"2026-03-01T10:0{number}:00.000Z"}
        lines.append({**line, "message": {"role": role, "content": text}})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def waiting(memory: Memory) -> list[str]:
    return [item["text"] for item in memory("inbox", "--json").data["results"]]


def note(shop: Hooks, event: str = "session-end") -> None:
    """A session that ended and whose end had nobody read it: the machine was switched off."""
    ended = Ended(
        client="claude", session=NAME, transcript=str(transcript(shop)), at="2026-03-01T10:06:00Z", event=event
    )
    assert note_ended(str(shop.root), ended, "00")


@pytest.mark.parametrize("is_read", [True, False], ids=["at its end", "at the next start"])
def test_a_session_that_ended_is_read(
    shop: Hooks, memory: Memory, git: Git, tree: Callable[..., Tree], is_read: bool
) -> None:
    path = transcript(shop)
    local = shop.root / ".memory/local"
    before, home = unseen(tree(shop.root, generated=True)), tree(Path(shop.env["HOME"]), generated=True)
    if is_read:
        assert shop.said("claude", "session-end", session_id=NAME, transcript_path=str(path), reason="exit") == ""
    else:
        note(shop)
        assert "Order book" in shop.said("claude", "session-start", session_id="the next")
    assert left_behind(shop, 30) == []
    assert any("uv" in text for text in waiting(memory))
    assert list(local.glob("ended*")) == []
    after = unseen(tree(shop.root, generated=True))
    # Its episode, and how git merges such lines.
    assert {name for name in after if after[name] != before.get(name)} == OWN_FILES
    assert before.keys() == after.keys() - {".memory/facts.jsonl"}
    assert tree(Path(shop.env["HOME"]), generated=True) == home
    assert len(git("status", "--porcelain").splitlines()) == 2
    assert shop.log() == []
    # It was read; nobody starts again for it.
    count = len(waiting(memory))
    assert f"{count} proposal" in shop.said("claude", "session-start", session_id="the one after")
    assert left_behind(shop) == []
    assert len(waiting(memory)) == count


def test_an_accepted_session_is_told_by_its_result(shop: Hooks, memory: Memory) -> None:
    path = transcript(shop)
    lines = path.read_text().replace("Understood.", "The list is cached and all tests pass.")
    edit = {"type": "tool_use", "id": "t1", "name": "Edit", "input": {"file_path": str(shop.root / "src/orders.py")}}
    last = {"type": "assistant", "sessionId": NAME, "cwd": str(shop.root), "uuid": "u-9"}
    last |= {"timestamp": "2026-03-01T10:06:00.000Z", "message": {"role": "assistant", "content": [edit]}}
    path.write_text(lines + json.dumps(last) + "\n")
    shop.said("claude", "session-end", session_id=NAME, transcript_path=str(path))
    assert left_behind(shop, 30) == []
    shown = memory("inbox").out
    assert "Result: The list is cached and all tests pass." in shown
    assert "(2026-03-01, 6 turns, 1 tool call)" in shown
    assert "none" not in shown.lower()
    assert memory("inbox", "accept", "--all").code == 0
    told = shop.said("claude", "session-start", session_id="the next").partition("Last session:")[2]
    assert "2026-03-01: The order list is slow: Result: The list is cached and all tests pass." in told


def test_a_session_that_still_goes_on_waits(shop: Hooks, memory: Memory) -> None:
    path = transcript(shop)
    shop.said("claude", "turn-end", session_id=NAME, transcript_path=str(path))
    shop.said("claude", "session-start", session_id="another")
    assert left_behind(shop, 30) == []
    assert waiting(memory) == []
    assert [item.session for item in take_ended(str(shop.root), "00").sessions] == [NAME]


def test_a_session_that_names_a_file_of_somebody_else_is_not_read(shop: Hooks, memory: Memory, tmp_path: Path) -> None:
    path = transcript(shop).rename(tmp_path / f"{NAME}.jsonl")
    shop.said("claude", "session-end", session_id=NAME, transcript_path=str(path))
    shop.said("claude", "session-start", session_id="the next")
    assert left_behind(shop, 30) == []
    assert waiting(memory) == []
    assert list((shop.root / ".memory/local").glob("ended*")) == []


@pytest.mark.proof
def test_starts_at_once_read_each_session_once(shop: Hooks, memory: Memory) -> None:
    note(shop)
    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(lambda n: shop.said("claude", "session-start", session_id=f"n-{n}"), range(8)))
    assert all(said)
    assert left_behind(shop, 30) == []
    texts = waiting(memory)
    assert texts
    assert len(texts) == len(set(texts))


def test_a_store_that_is_broken_keeps_the_pointer(shop: Hooks, memory: Memory) -> None:
    config = shop.root / ".memory/config.json"
    whole = config.read_bytes()
    config.write_bytes(b"{")
    shop.said("claude", "session-end", session_id=NAME, transcript_path=str(transcript(shop)))
    assert shop.said("claude", "session-start", session_id="the next") == ""
    assert left_behind(shop, 30) == []
    config.write_bytes(whole)
    shop.said("claude", "session-start", session_id="the one after")
    assert left_behind(shop, 30) == []
    assert any("uv" in text for text in waiting(memory))


@pytest.mark.proof
def test_many_sessions_end_at_once_and_all_are_noted(shop: Hooks) -> None:
    count = either(60, 200)
    line = [shop.program, "hook", "claude", "turn-end"]

    def end(number: int) -> tuple[int, bytes, bytes]:
        done = subprocess.run(
            line,
            cwd=shop.root,
            env={**shop.env, "MEMORY_HOOK_SECONDS": "60"},
            input=shop.payload(session_id=f"many-{number}"),
            capture_output=True,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    with ThreadPoolExecutor(50) as pool:
        assert set(pool.map(end, range(count))) == {(0, b"", b"")}
    found = take_ended(str(shop.root), "00").sessions
    assert {item.session for item in found} == {f"many-{number}" for number in range(count)}
    assert left_behind(shop) == []
