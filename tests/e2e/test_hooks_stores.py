"""Hooks in folders and stores that are not as they should be: silence or an answer in time, and nothing is touched."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hooks_here import SHOP_NODES, SILENCE, Hooks, left_behind, text_in, unseen

from installed import Memory
from promised import proves

Tree = dict[str, bytes]
CAP = 1.5
LIMIT = {"MEMORY_HOOK_SECONDS": str(CAP)}
SLACK = 2.5
EVENTS = ("session-start", "prompt", "before-edit", "turn-end", "session-end")
DAMAGE = b"\x00\xffnot what it was\n{"


@pytest.fixture
def shop(memory: Memory, repo: Path) -> Hooks:
    memory.init()
    (repo / "src").mkdir()
    (repo / "src/orders.py").write_text("def add(): ...\n")
    memory.save(*SHOP_NODES)
    assert memory("facts", "store", "Specs", "Invoices are numbered without gaps.").code == 0
    assert memory("note", "look at the uploads").code == 0
    assert memory("profile", "remember", "tools", "shell", "fish").code == 0
    hooks = Hooks(repo, memory.env)
    assert "Order book" in hooks.said("claude", "session-start")
    hooks.forget()
    return hooks


def everything(shop: Hooks, client: str = "gemini", cwd: Path | None = None) -> dict[str, str]:
    """The answers to all events, each in its form and in time."""
    found = {}
    for event in EVENTS:
        file = {"tool_name": "write_file", "tool_input": {"file_path": str(shop.root / "src/orders.py")}}
        given = {"session_id": f"of {event}", "prompt": "how are webhook retries limited?", **file}
        done = shop(client, event, stdin={**given, "cwd": str(cwd or shop.root)}, env=LIMIT)
        assert (done.code, done.err) == (0, ""), event
        found[event] = text_in(done.out, client)
    assert left_behind(shop, 60) == []
    return found


def pipe(path: Path) -> None:
    """A pipe that nobody writes to, in the place of a file: whoever opens it waits."""
    path.unlink(missing_ok=True)
    path.parent.mkdir(exist_ok=True, parents=True)
    os.mkfifo(path)


def folder(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.mkdir(parents=True)


def spoil(path: Path) -> None:
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_bytes(DAMAGE)


def spoil_all(path: Path) -> None:
    for file in filter(Path.is_file, path.rglob("*")):
        file.write_bytes(DAMAGE)


def dangle(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to(path.parent / "nowhere")


def instead(path: Path) -> None:
    """A file in the place of a folder."""
    shutil.rmtree(path, ignore_errors=True)
    path.write_bytes(DAMAGE)


def later(path: Path) -> None:
    fields = json.loads(path.read_bytes())
    path.write_text(json.dumps({**fields, "version": 99}))


def nothing(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink()


BROKEN: dict[str, tuple[Callable[[Path], None], str]] = {
    "a configuration that is damaged": (spoil, ".memory/config.json"),
    "a configuration that is a folder": (folder, ".memory/config.json"),
    "a configuration that is a pipe": (pipe, ".memory/config.json"),
    "a configuration of a later version": (later, ".memory/config.json"),
    "no configuration": (nothing, ".memory/config.json"),
    "an index that is damaged": (spoil_all, ".memory/index"),
    "an index that is a file": (instead, ".memory/index"),
    "no index": (nothing, ".memory/index"),
    "nodes that are damaged": (spoil_all, ".memory/memory"),
    "a folder of nodes that is a file": (instead, ".memory/memory"),
    "a node that is a pipe": (pipe, ".memory/memory/order-book.json"),
    "a text that is a pipe": (pipe, ".memory/memory/order-book.md"),
    "events that are damaged": (spoil, ".memory/events.jsonl"),
    "facts that are damaged": (spoil, ".memory/facts.jsonl"),
    "facts that are a pipe": (pipe, ".memory/facts.jsonl"),
    "a profile that is damaged": (spoil, ".ai-state/memory.json"),
    "a profile that is a pipe": (pipe, ".ai-state/memory.json"),
    "notes that are a pipe": (pipe, ".memory/local/notes.md"),
    "own files that are a file": (instead, ".memory/local"),
    "receipts that are a folder": (folder, ".memory/local/receipts.jsonl"),
    "receipts that are a pipe": (pipe, ".memory/local/receipts.jsonl"),
    "receipts that lead nowhere": (dangle, ".memory/local/receipts.jsonl"),
    "receipts that are damaged": (spoil, ".memory/local/receipts.jsonl"),
    "a log that is a pipe": (pipe, ".memory/local/hooks.log"),
    "a spool that is a pipe": (pipe, ".memory/local/ended.jsonl"),
    "a spool that is a folder": (folder, ".memory/local/ended.jsonl"),
    "an inbox that is damaged": (spoil, ".memory/local/inbox.jsonl"),
    "an inbox that is a pipe": (pipe, ".memory/local/inbox.jsonl"),
    "rejections that are damaged": (spoil, ".memory/rejected/a.json"),
    "rejections that are a pipe": (pipe, ".memory/rejected/a.json"),
    "instructions that are a pipe": (pipe, "AGENTS.md"),
    "instructions that are a folder": (folder, "AGENTS.md"),
    "a repository that is a file": (instead, ".git"),
    "an anchored file that is a pipe": (pipe, "src/orders.py"),
    "a lock that is a folder": (folder, ".memory/.lock"),
    "a lock that is a pipe": (pipe, ".memory/.lock"),
}
TOLD_STILL = (
    "events",
    "notes",
    "own files",
    "receipts",
    "a log",
    "a spool",
    "an inbox",
    "an index",
    "no index",
    "instructions",
    "a lock",
    "a profile",
    "an anchored",
)
"""What has no say in what the nodes are: they are told all the same."""


@pytest.mark.proof(keep=1)
@proves("P10.5", "H6")
@pytest.mark.parametrize("what", BROKEN)
def test_a_store_that_is_broken(what: str, shop: Hooks, tree: Callable[..., Tree]) -> None:
    spoiling, place = BROKEN[what]
    spoiling(shop.root / place)
    before = unseen(tree(shop.root, generated=True))
    said = everything(shop)
    assert unseen(tree(shop.root, generated=True)) == before
    assert "Order book" in said["session-start"] or not what.startswith(TOLD_STILL)
    if said["session-start"] == "" and (shop.root / ".memory/config.json").is_file():
        assert any("session-start" in line for line in shop.log())


@pytest.mark.proof(keep=1)
@pytest.mark.parametrize("name", ["receipts.jsonl", "hooks.log", "ended.jsonl", "receipts-old.jsonl", "hooks-old.log"])
def test_links_that_a_repository_brought_are_not_written_through(name: str, shop: Hooks, tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.write_bytes(b"precious\n")
    (shop.root / ".memory/local" / name).symlink_to(target)
    everything(shop, "claude")
    shop("claude", "prompt", stdin=b"no payload")
    assert target.read_bytes() == b"precious\n"


def test_own_files_that_lead_out_of_the_project_are_not_written(shop: Hooks, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.rmtree(shop.root / ".memory/local")
    (shop.root / ".memory/local").symlink_to(elsewhere)
    everything(shop, "claude")
    assert list(elsewhere.iterdir()) == []


# -- where the payload points ----------------------------------------------------------------------------------------


@pytest.mark.proof
@pytest.mark.parametrize("client", ["claude", "gemini"])
def test_a_folder_that_is_none(client: str, shop: Hooks, tmp_path: Path) -> None:
    away = tmp_path / "away"
    away.mkdir()
    (away / "file").write_text("x")
    for place in (away, away / "file", away / "file/below", away / "missing", Path("/"), Path("/dev/null")):
        for event in ("session-start", "session-end"):
            done = shop(client, event, stdin={"cwd": str(place)}, cwd=away)
            assert (done.code, done.out, done.err) == (0, SILENCE[client], ""), place
    for odd in ("", "relative", "\0", "/" + "x" * 5_000, str(away) + "\n", "/\ud800"):
        done = shop(client, "session-start", stdin={"cwd": odd}, cwd=away)
        assert (done.code, done.out, done.err) == (0, SILENCE[client], ""), odd
    assert [path.name for path in away.rglob("*")] == ["file"]


def test_a_folder_within_the_project_is_the_project(shop: Hooks) -> None:
    (shop.root / "src/deep/deeper").mkdir(parents=True)
    for number, place in enumerate(("src", "src/deep/deeper", "src/../src/")):
        said = shop.said("claude", "session-start", cwd=str(shop.root / place), session_id=f"s-{number}")
        assert "Order book" in said, place
    for place in ("src/orders.py", "src/gone"):
        assert shop.said("claude", "session-start", cwd=str(shop.root / place), session_id=place) == ""
        assert shop.log()[-1].endswith("is not a folder.")


def test_the_payload_says_where_and_not_the_folder_that_it_was_started_in(shop: Hooks, tmp_path: Path) -> None:
    done = shop("claude", "session-start", cwd=tmp_path)
    assert "Order book" in text_in(done.out, "claude")
    assert not (tmp_path / ".memory").exists()


# -- whoever else is at it -------------------------------------------------------------------------------------------


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """As another process that writes holds it."""
    holder = {"pid": os.getpid(), "operation": "save", "created_at": "2026-03-02T11:19:00Z", "kernel": True}
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(json.dumps(holder))
        file.flush()
        yield
    path.unlink(missing_ok=True)


@proves("P10.5", "H6")
def test_a_store_that_somebody_writes_to(shop: Hooks) -> None:
    with locked(shop.root / ".memory/.lock"):
        said = everything(shop)
    assert "Order book" in said["session-start"]
    assert "Webhook retries" in said["prompt"]


def test_a_store_that_somebody_writes_to_and_whose_index_is_behind(shop: Hooks) -> None:
    node = shop.root / ".memory/memory/order-book.md"
    node.write_text("# Order book\n\nChanged by hand.\n")
    with locked(shop.root / ".memory/.lock"):
        assert "Order book" in everything(shop)["session-start"]


@pytest.mark.proof(keep=4)
@proves("P10.5", "H6")
@pytest.mark.skipif(
    os.geteuid() == 0 and not shutil.which("setpriv"), reason="somebody who may not write everywhere is needed"
)
@pytest.mark.parametrize("mode", [0o500, 0o000])
@pytest.mark.parametrize("place", ["", ".memory", ".memory/local", ".memory/index", ".memory/memory", "src"])
@pytest.mark.parametrize("event", ["session-start", "session-end"])
def test_folders_that_may_not_be_written_or_read(shop: Hooks, place: str, mode: int, event: str) -> None:
    # Root may do all that its capabilities let it do.
    prefix = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
    path = shop.root / place
    path.chmod(mode)
    try:
        done = shop("gemini", event, prefix=prefix, env=LIMIT, cwd=shop.root.parent)
    finally:
        path.chmod(0o755)
    assert (done.code, done.err) == (0, "")
    text = text_in(done.out, "gemini")
    if event == "session-start" and mode == 0o500:
        assert "Order book" in text
