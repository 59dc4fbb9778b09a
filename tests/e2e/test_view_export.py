"""`memory view --export`: which files it writes and where, what it replaces, and what never gets into them."""

from __future__ import annotations

import getpass
import json
import os
import re
import shutil
import socket
import stat
from pathlib import Path
from typing import Any

import msgspec
import pytest
from page_here import made

from installed import Git, Memory, Run
from quire.clients.receipts import Receipt, ReceiptItem, add_receipt
from quire.files import disk
from quire.files.world import real_world
from quire.inbox.proposals import propose
from quire.project import Project
from quire.surfaces.web.assets import NAMES
from quire.verbs.admin.export import write_page
from quire.verbs.facts.focus import Focus, focus
from quire.verbs.facts.list import ListFacts, list_facts
from quire.verbs.graph.save import save_nodes
from quire.verbs.inbox.add import inbox_add
from thorough import either, some

MARK = "quire-export.txt"
DATA = {
    *("session", "projects", "summary", "today", "inbox", "graph", "receipts", "map", "timeline", "anchors"),
    *("coverage", "files", "items", "texts", "records", "records-0", "review"),
}
PRIVATE = {
    "a private value": "Europe/Madrid",
    "a private key": "timezone_of_mine",
    "a private learning": "sotto voce",
    "a note": "buy a bigger boat",
    "a proposal": "a full pipe drowns its writer",
    "a receipt": "tok-receipt-client",
}
"""Words that are in the store, and in no export without --private."""


class Crash(BaseException):
    """The power is gone."""


def opened(memory: Memory, cwd: Path | None = None) -> Project:
    root = str(cwd or memory.cwd)
    world = msgspec.structs.replace(real_world(root), env=dict(memory.env), cwd=root)
    return Project.open(root, world)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    """Something in every layer, something private in all that has it. Tests only read it."""
    memory = made(tmp_path_factory.mktemp("site").resolve(), layers="facts,profile,journal")
    git = Git(memory.cwd, memory.env)
    (memory.cwd / "queue.py").write_text("def push(item):\n    return item\n")
    git.commit("code")
    memory.save(
        {"kind": "feature", "title": "Queue", "body": "A queue.", "anchors": ["queue.py"], "stage": "building"},
        {"kind": "gotcha", "title": "Late clocks", "body": "Clocks drift. </script><script>alert(1)</script>"},
        {"kind": "question", "title": "How many", "body": "How many workers?"},
    )
    for line in (
        ("facts", "store", "Specs", "Invoices are numbered without gaps."),
        ("profile", "remember", "tools", "shell", "fish"),
        ("profile", "remember", "user", "timezone_of_mine", "Europe/Madrid"),
        ("profile", "remember", "user", "voice", "sotto voce"),
        ("profile", "remember", "learnings", "flaky_ci", "The job needs two cores."),
        ("profile", "link", "learnings.flaky_ci", "user.voice", "related-to"),
        ("profile", "private", "here", "--yes"),
        ("note", "buy a bigger boat"),
    ):
        run = memory(*line)
        assert run.code == 0, (line, run)
    body = "a full pipe drowns its writer"
    node = {"kind": "gotcha", "title": "Pipes", "body": body}
    inbox_add(opened(memory), [propose("graph", "gotcha", body, node, origin="session:x:1", by="user")])
    project = opened(memory)
    focus(project, Focus(fact_ids=[list_facts(project, ListFacts()).results[0].id]))
    item = ReceiptItem(ref="feature.queue", outcome="included", tokens=12)
    told = Receipt(at="2026-03-02T11:00:00Z", client="tok-receipt-client", event="prompt", items=(item,))
    add_receipt(project.root, told, "00")
    git.commit("memory")
    (memory.cwd / "queue.py").write_text("def push(item):\n    return [item]\n")
    return memory


def site(memory: Memory, target: Path | str, *options: str, **given: Any) -> Run:
    return memory("view", "--export", str(target), "--json", *options, **given)


@pytest.fixture(scope="module")
def public(filled: Memory, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("public").resolve() / "site"
    run = site(filled, target)
    assert run.code == 0, run
    return target


def tree(top: Path) -> dict[str, bytes]:
    return {path.relative_to(top).as_posix(): path.read_bytes() for path in sorted(top.rglob("*")) if path.is_file()}


def value(top: Path, name: str) -> Any:
    """What a file of data hands over."""
    text = (top / "data" / f"{name}.js").read_text()
    found = re.fullmatch(r'quireData\("([a-z0-9-]+)",JSON\.parse\((".*")\)\);\n', text, re.DOTALL)
    assert found
    assert found[1] == name
    return json.loads(json.loads(found[2]))


# -- what is in it --------------------------------------------------------------------------------


def test_the_files_of_an_export(public: Path) -> None:
    files = tree(public)
    assert set(files) == {*NAMES, MARK, *(f"data/{name}.js" for name in DATA)}
    assert files[MARK].decode().splitlines() == sorted(set(files) - {MARK})
    html = files["index.html"].decode()
    assert '<meta name="quire-exported" content="1">' in html
    assert 'http-equiv="content-security-policy"' in html
    assert "default-src 'none'" in html
    assert "unsafe" not in html
    for place, _, names in os.walk(public):
        for name in names:
            assert stat.S_IMODE(os.stat(os.path.join(place, name)).st_mode) & 0o111 == 0


def test_its_data(public: Path) -> None:
    session = value(public, "session")
    assert (session["exported"], session["write"], session["project"]) == (True, False, "here")
    items = value(public, "items")
    refs = {item["ref"] for item in items}
    assert {"feature.queue", "gotcha.late-clocks", "question.how-many", "profile:tools.shell"} <= refs
    assert value(public, "records")["chunks"] == 1
    held = value(public, "records-0")
    assert set(held) == refs
    queue = held["feature.queue"]
    assert (queue["detail"]["body"].strip(), queue["detail"]["may"]) == ("A queue.", [])
    assert queue["detail"]["verdict"]["verdict"] == "changed"
    assert "return [item]" in json.dumps(queue["diffs"])
    assert queue["history"]["entries"]
    assert set(value(public, "texts")) == refs
    assert value(public, "projects")["projects"][0]["root"] == ""
    assert "</script><script>" in held["gotcha.late-clocks"]["detail"]["body"], "as it is, and never in the page itself"
    assert "alert" not in (public / "index.html").read_text()


def test_what_it_says(filled: Memory, tmp_path: Path) -> None:
    run = filled("view", "--export", str(tmp_path / "site"))
    assert run.code == 0
    assert run.err == ""
    files = tree(tmp_path / "site")
    size = sum(len(data) for name, data in files.items() if name != MARK)
    count = len(value(tmp_path / "site", "items"))
    assert run.out == (
        f"Wrote {tmp_path}/site: {count} records, {len(files) - 1} files, {size:,} bytes.\n"
        "Open index.html in it, or publish the folder as it is.\n"
        "What is private to you, notes, pins, proposals and receipts were left out (--private).\n"
    )
    told = site(filled, tmp_path / "again", "--private")
    assert told.data["path"] == str(tmp_path / "again")
    assert told.data["private"] is True
    assert told.data["records"] == len(value(tmp_path / "again", "items"))


# -- what is not in it ----------------------------------------------------------------------------


def whole(top: Path) -> str:
    """Every byte of an export, and of what its strings mean."""
    texts = [data.decode("utf-8", "replace") for data in tree(top).values()]
    for name in tree(top):
        if name.startswith("data/"):
            texts.append(json.dumps(value(top, name[5:-3]), ensure_ascii=False))
    return "\n".join(texts)


def test_nothing_private_gets_into_it(filled: Memory, public: Path, tmp_path: Path) -> None:
    text = whole(public)
    for what, said in PRIVATE.items():
        assert said not in text, what
    assert value(public, "inbox") == {"pending": 0, "offset": 0, "items": [], "groups": []}
    today = value(public, "today")
    assert (today["notes"], today["pins"]) == ([], [])
    assert value(public, "receipts")["answers"] == 0
    assert site(filled, tmp_path / "mine", "--private").code == 0
    mine = whole(tmp_path / "mine")
    assert len(value(tmp_path / "mine", "today")["pins"]) == 1
    for what, said in PRIVATE.items():
        assert said in mine, f"{what} is there with --private"


def test_nothing_of_this_machine_gets_into_it(filled: Memory, public: Path, tmp_path: Path) -> None:
    assert site(filled, tmp_path / "mine", "--private").code == 0
    for top in (public, tmp_path / "mine"):
        text = whole(top)
        for said in (
            str(filled.cwd),
            filled.env["HOME"],
            str(filled.cwd.parent),
            str(tmp_path),
            "#token=",
            "registry/",
        ):
            assert said not in text, said
        data = "\n".join(json.dumps(value(top, name[5:-3])) for name in tree(top) if name.startswith("data/"))
        for word in {getpass.getuser(), socket.gethostname()} - {"root"}:
            assert not re.search(rf"(?<![\w.-]){re.escape(word)}(?![\w.-])", data), word
        assert not re.search(r'"/(home|root|tmp|dev|Users|var)/', data)


# -- where it may be written ----------------------------------------------------------------------


def refused(run: Run) -> str:
    assert run.code == 1, run
    message: str = run.error["message"]
    return message


def test_a_folder_with_other_things_in_it_is_left_alone(filled: Memory, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full/mine.txt").write_text("mine")
    for options in ((), ("--force",)):
        assert "is a folder that is not empty" in refused(site(filled, tmp_path / "full", *options))
    assert tree(tmp_path) == {"full/mine.txt": b"mine"}
    (tmp_path / "file").write_text("mine")
    for options in ((), ("--force",)):
        assert "is a file" in refused(site(filled, tmp_path / "file", *options))
    assert (tmp_path / "file").read_text() == "mine"
    assert "is in a folder that does not exist" in refused(site(filled, tmp_path / "no/such"))
    assert sorted(os.listdir(tmp_path)) == ["file", "full"]


def test_an_empty_folder_will_do(filled: Memory, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert site(filled, tmp_path / "empty").code == 0
    assert (tmp_path / "empty/index.html").is_file()


@pytest.mark.proof(keep=3)
@pytest.mark.parametrize(
    "name",
    [".memory/site", ".memory", ".git/site", ".ai-state/site", ".agent-memory/x", ".MEMORY/site", "a/../.memory/x"],
)
def test_no_folder_of_the_memory(filled: Memory, name: str) -> None:
    assert "which no export belongs into" in refused(site(filled, name, "--force"))
    assert not (filled.cwd / ".memory/site").exists()


def test_over_a_link_into_the_memory(filled: Memory, tmp_path: Path) -> None:
    (tmp_path / "way").symlink_to(filled.cwd / ".memory")
    assert "which no export belongs into" in refused(site(filled, tmp_path / "way/site"))
    assert "which no export belongs into" in refused(site(filled, tmp_path / "way"))


@pytest.mark.proof(keep=2)
@pytest.mark.parametrize("name", ["a b", "-x", "süß 世界", "%2e%2e", "a'\"b", "x.new-1", "\u202edesrever"])
def test_odd_names(filled: Memory, tmp_path: Path, name: str) -> None:
    run = filled("-C", str(filled.cwd), "view", f"--export={name}", "--json", cwd=tmp_path)
    assert run.code == 0, run
    assert os.listdir(tmp_path) == [name]
    assert run.data["path"] == str(tmp_path / name)


@pytest.mark.parametrize("name", ["", " ", "."])
def test_names_that_are_none(filled: Memory, tmp_path: Path, name: str) -> None:
    (tmp_path / "mine").write_text("mine")
    assert filled("-C", str(filled.cwd), "view", f"--export={name}", cwd=tmp_path).code in (1, 2)
    assert os.listdir(tmp_path) == ["mine"]


def test_a_name_that_is_no_text(filled: Memory, tmp_path: Path) -> None:
    memory = Memory(filled.cwd, filled.env, fresh=True)
    name = os.fsdecode(b"site-\xff")
    run = memory("view", "--export", str(tmp_path / name))
    assert run.code == 0, run
    assert os.listdir(tmp_path) == [name]


def test_from_a_folder_below(filled: Memory) -> None:
    below = filled.cwd / "below"
    below.mkdir()
    try:
        assert site(filled, "site", cwd=below).code == 0
        assert (below / "site/index.html").is_file()
    finally:
        shutil.rmtree(below)


def test_without_a_memory(filled: Memory, tmp_path: Path) -> None:
    run = site(filled, tmp_path / "site", cwd=tmp_path)
    assert run.code == 3
    assert os.listdir(tmp_path) == []


# -- in the place of another ----------------------------------------------------------------------


def test_force_replaces_exactly(filled: Memory, tmp_path: Path) -> None:
    target = tmp_path / "site"
    assert site(filled, target).code == 0
    before = tree(target)
    assert "already holds an export" in refused(site(filled, target))
    assert tree(target) == before
    (target / "data/records-7.js").write_bytes(b"old")
    (target / MARK).write_text((target / MARK).read_text() + "data/records-7.js\n")
    assert site(filled, target, "--force").code == 0
    assert set(tree(target)) == set(before), "what the earlier one had more is gone"
    assert os.listdir(tmp_path) == ["site"]


def test_what_somebody_else_put_there_survives(filled: Memory, tmp_path: Path) -> None:
    target = tmp_path / "site"
    assert site(filled, target).code == 0
    (target / "CNAME").write_text("x.example")
    (target / "data/mine").mkdir()
    (target / "data/mine/a.txt").write_text("mine")
    run = site(filled, target, "--force")
    found = [path for path in tmp_path.rglob("*") if path.is_file() and path.name in ("CNAME", "a.txt")]
    assert sorted(path.read_text() for path in found) == ["mine", "x.example"], run
    assert (target / "index.html").is_file()
    assert run.code == 1, "it says that there is more to look at"
    assert all(str(path).startswith(run.error["details"]["path"]) for path in found)


def test_a_forged_list_of_files_removes_nothing_elsewhere(filled: Memory, tmp_path: Path) -> None:
    target = tmp_path / "site"
    assert site(filled, target).code == 0
    mine = tmp_path / "mine.txt"
    mine.write_text("mine")
    (target / "way").symlink_to(tmp_path)
    lines = ["../mine.txt", str(mine), "data/../../mine.txt", "way/mine.txt", "", ".", ".."]
    (target / MARK).write_text((target / MARK).read_text() + "".join(f"{line}\n" for line in lines))
    site(filled, target, "--force")
    assert mine.read_text() == "mine"
    assert (target / "index.html").is_file()


def test_a_crash_in_the_middle_leaves_a_whole_export(
    filled: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whenever the world ends, the folder holds the earlier export or the new one, or its whole lies beside it."""
    target = tmp_path / "site"
    project = opened(filled)
    old = {"index.html": b"old", "data/a.js": b"old"}
    new = {"index.html": b"new", "data/b.js": b"new", "data/c.js": b"new"}
    write_page(project, str(target), old, force=False)
    before = tree(target)
    seen: list[str] = []
    with monkeypatch.context() as patch:
        patch.setattr(disk, "before", lambda operation, _path: seen.append(operation))
        write_page(project, str(target), new, force=True)
    after = tree(target)
    assert set(after) == {*new, MARK}
    for number in some(range(len(seen)), 40):
        shutil.rmtree(tmp_path)
        tmp_path.mkdir()
        write_page(project, str(target), old, force=False)
        with monkeypatch.context() as patch:
            count = iter(range(10**6))

            def stop(_operation: str, _path: str, number: int = number, count: Any = count) -> None:
                if next(count) >= number:
                    raise Crash

            patch.setattr(disk, "before", stop)
            with pytest.raises(Crash):
                write_page(project, str(target), new, force=True)
        if target.exists():
            assert tree(target) in (before, after), number
        else:
            asides = [tree(path) for path in tmp_path.iterdir()]
            assert before in asides, number
            assert after in asides, number
    shutil.rmtree(tmp_path)
    tmp_path.mkdir()
    write_page(project, str(target), old, force=False)
    with monkeypatch.context() as patch:

        def full(operation: str, _path: str) -> None:
            if operation == "create" and _path.endswith("c.js"):
                raise OSError(28, "No space left on device")

        patch.setattr(disk, "before", full)
        with pytest.raises(Exception, match="the disk is full"):
            write_page(project, str(target), new, force=True)
    assert tree(target) == before
    assert os.listdir(tmp_path) == ["site"], "nothing is left beside it"


def test_an_export_changes_nothing_in_the_project(filled: Memory, tmp_path: Path) -> None:
    git = Git(filled.cwd, filled.env)
    before = git("status", "--porcelain")
    assert site(filled, tmp_path / "site").code == 0
    assert git("status", "--porcelain") == before


# -- large ----------------------------------------------------------------------------------------


@pytest.mark.proof
def test_many_records(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> None:
    count = either(600, 2_000)
    memory = made(tmp_path_factory.mktemp("large").resolve())
    nodes = [
        {"kind": "gotcha", "title": f"Trap {number}", "body": f"Text of {number}. " * 20} for number in range(count)
    ]
    project = opened(memory)
    for start in range(0, count, 200):
        save_nodes(project, {"task": "fill", "nodes": nodes[start : start + 200]})
    run = site(memory, tmp_path / "site", seconds=120)
    assert run.code == 0
    assert run.data["records"] >= count
    assert run.data["bytes"] < 10_000 * count
    assert value(tmp_path / "site", "records")["chunks"] == -(-run.data["records"] // 100)
    assert len(value(tmp_path / "site", "texts")) == run.data["records"]
