"""Every event of every client, as it is really sent, run by the installed command: the right form and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hooks_here import SHOP_NODES, SILENCE, Hooks, left_behind, text_in, unseen

from installed import Git, Memory
from promised import proves

Tree = dict[str, bytes]
PAYLOADS = Path(__file__).parents[1] / "clients_hooks" / "payloads"
GOLDEN = sorted(path for path in PAYLOADS.rglob("*.json") if not path.name.endswith(".expected.json"))


@pytest.fixture(scope="module")
def shop(shared_memory: Memory) -> Hooks:
    """A project with a commit, and something in its memory for every event."""
    (shared_memory.cwd / "src").mkdir()
    (shared_memory.cwd / "src/orders.py").write_text("def add(): ...\n")
    shared_memory.save(*SHOP_NODES)
    Git(shared_memory.cwd, shared_memory.env).commit()
    return Hooks(shared_memory.cwd, shared_memory.env)


def sent(path: Path, shop: Hooks) -> bytes:
    home = str(shop.root.parent)
    return path.read_text().replace("/home/ada/shop", str(shop.root)).replace("/home/ada", home).encode()


def form_of(answer: Any) -> Any:
    """An answer without the text that it carries."""
    if isinstance(answer, dict):
        return {
            key: form_of(value) if key in ("hookSpecificOutput", "hookEventName") else "text"
            for key, value in answer.items()
        }
    return answer


@pytest.mark.proof(keep=14)
@proves("P10.5", "H6")
@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_real_payload(path: Path, shop: Hooks, tree: Callable[..., Tree]) -> None:
    client = path.parent.name
    expected = json.loads(path.with_name(f"{path.stem}.expected.json").read_bytes())
    shop.forget()
    before = unseen(tree(shop.root, generated=True))
    done = shop(client, expected["asked"], stdin=sent(path, shop))
    assert (done.code, done.err) == (0, "")
    assert unseen(tree(shop.root, generated=True)) == before
    assert Git(shop.root, shop.env)("status", "--porcelain", "--ignored=no") == ""
    assert shop.log() == []
    event = expected["event"]
    if expected["room"] == [0, 0] or event.get("agent"):
        assert done.out == expected["no_text"]
        assert shop.receipts() == []
        return
    if done.out != expected["no_text"]:
        assert form_of(json.loads(done.out)) == form_of(json.loads(expected["text"]))
        assert text_in(done.out, client).strip()
    if event["event"] in ("session-start", "after-compaction"):
        assert "Order book" in text_in(done.out, client)
    if event["event"] == "before-edit":
        touched = any(file.endswith("src/orders.py") for file in event.get("files", ()))
        assert ("Order book" in text_in(done.out, client)) == touched
    assert left_behind(shop) == []


@proves("P10.5", "H6")
def test_every_client_with_hooks_was_heard() -> None:
    assert {path.parent.name for path in GOLDEN} == set(SILENCE)


@pytest.mark.proof(keep=2)
@pytest.mark.parametrize("path", [path for path in GOLDEN if path.stem == "session-start"], ids=lambda p: p.parent.name)
def test_a_folder_without_memory_is_left_as_it_is(path: Path, shop: Hooks, tmp_path: Path) -> None:
    folder = tmp_path / "bare"
    folder.mkdir()
    client = path.parent.name
    payload = path.read_text().replace("/home/ada/shop", str(folder)).encode()
    for event in ("session-start", "prompt", "before-edit", "turn-end", "session-end"):
        done = shop(client, event, stdin=payload, cwd=folder, env={"HOME": str(tmp_path), "MEMORY_HOME": None})
        assert (done.code, done.out, done.err) == (0, SILENCE[client], "")
    assert list(tmp_path.rglob("*")) == [folder]


@pytest.mark.proof(keep=4)
@pytest.mark.parametrize("client", SILENCE)
@pytest.mark.parametrize("off", ["off", "0", "No", " false "])
def test_switched_off(client: str, off: str, shop: Hooks, tree: Callable[..., Tree]) -> None:
    shop.forget()
    before = tree(shop.root, generated=True)
    for event in ("session-start", "session-end", "nonsense"):
        done = shop(client, event, env={"MEMORY_HOOKS": off})
        assert (done.code, done.out, done.err) == (0, SILENCE[client], "")
    assert tree(shop.root, generated=True) == before


@proves("P10.5", "H6")
def test_the_command_that_is_wired_ends_well_without_quire(shop: Hooks) -> None:
    """A teammate who has not installed it sees no failure, and no word on standard output."""
    import subprocess

    line = "quire hook claude session-start || true"
    done = subprocess.run(["/bin/sh", "-c", line], env={"PATH": "/nonexistent"}, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"")
