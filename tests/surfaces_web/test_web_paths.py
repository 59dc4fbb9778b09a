"""What the local page reads and writes: only what the records speak of, and nothing at all without leave."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from web_serving import PageDoor, check_sealed, harbor, opened, saved_nodes

from installed import Git, Memory
from promised import proves
from quire.verbs.page.table import VIEWS
from thorough import some

SECRET = "otter-lantern-4711"
"""Stands in files that nothing here may ever tell of."""
Tree = Callable[..., dict[str, bytes]]
DECISION = "decision.use-the-queue"


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder).resolve()


@pytest.fixture(scope="module")
def memory(place: Path) -> Memory:
    """A project with a second one beside it; links in the first lead out to a secret."""
    memory = harbor(place)
    saved_nodes(memory)
    outside = place / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text(f"{SECRET}\n")
    root = memory.cwd
    for name, target in (("leak.py", "../outside/secret.txt"), ("leaks", "../outside"), ("whole", str(outside))):
        (root / name).symlink_to(target)
    (root / ".env").write_text(f"KEY={SECRET}\n")
    (root / "private.txt").write_text(f"{SECRET}\n")
    anchors = {"leak": ["leak.py"], "leaks": ["leaks/secret.txt"], "whole": ["whole/*"], "glob": ["l*"]}
    for name, anchored in anchors.items():
        memory("save", "--stdin", stdin={"task": "t", "nodes": [_node(f"Anchored {name}", anchored)]})
    _wild_anchors(root)
    Git(root, memory.env).commit("third")
    (outside / "secret.txt").write_text(f"{SECRET} changed\n")
    (root / "private.txt").write_text(f"{SECRET} changed\n")
    other = place / "quay"
    other.mkdir()
    Git(other, memory.env)("init", "--quiet")
    assert memory("init", cwd=other).code == 0
    made = memory("save", "--stdin", stdin={"task": "t", "nodes": [_node("Quay", [])]}, cwd=other)
    assert made.code == 0, made.err
    return memory


def _node(title: str, anchors: list[str]) -> dict[str, Any]:
    return {"kind": "gotcha", "title": title, "body": "x", "anchors": anchors}


WILD = (
    "../outside/secret.txt",
    "/etc/passwd",
    "src/../../outside/secret.txt",
    "leaks/../../outside/secret.txt",
    "~/registry/projects.json",
    "--output=stolen",
    "-O/etc/passwd",
    ":(top)../outside/secret.txt",
    ":/",
    "..\\outside\\secret.txt",
    "file:///etc/passwd",
)
"""Anchors that no program of ours would have taken, as a repository from anywhere may bring them."""


def _wild_anchors(root: Path) -> None:
    nodes = root / ".memory/memory"
    held = json.loads((nodes / "use-the-queue.json").read_bytes())
    for number, anchor in enumerate(WILD):
        name = f"wild-{number}"
        wild = {**held, "id": f"decision.{name}", "title": name, "anchors": [anchor], "body_path": f"memory/{name}.md"}
        (nodes / f"{name}.json").write_text(json.dumps(wild))
        (nodes / f"{name}.md").write_text("x\n")


@pytest.fixture(scope="module")
def door(memory: Memory) -> Iterator[PageDoor]:
    with opened(memory) as door:
        yield door


@pytest.fixture(scope="module")
def writing(memory: Memory) -> Iterator[PageDoor]:
    with opened(memory, "--write") as door:
        yield door


@pytest.fixture(scope="module")
def projects(door: PageDoor) -> list[str]:
    found = [entry["id"] for entry in door.get("/api/projects")["projects"]]
    assert len(found) == 2
    return found


@pytest.fixture(scope="module")
def at(projects: list[str]) -> str:
    """Where the first project is asked about."""
    return f"/api/projects/{projects[0]}"


@pytest.fixture
def untouched(place: Path, tree: Tree) -> Iterator[None]:
    """Nothing is made, changed or removed anywhere, git's own files among them, but for the index of the memory."""
    before = _everything(place, tree)
    yield
    after = _everything(place, tree)
    assert after.keys() == before.keys()
    assert [path for path in after if after[path] != before[path]] == []


def _everything(place: Path, tree: Tree) -> dict[str, bytes]:
    found = tree(place, generated=True)
    assert any("/.git/" in path for path in found)
    return {path: data for path, data in found.items() if "/.memory/index/" not in f"/{path}"}


# -- a page that only shows -------------------------------------------------------------------------


ACTS: tuple[dict[str, Any], ...] = (
    {"action": "confirm", "ref": DECISION},
    {"action": "stale", "ref": DECISION, "reason": "no"},
    {"action": "supersede", "ref": DECISION, "title": "Other", "body": "b"},
    {"action": "edit", "ref": DECISION, "revision": "x", "title": "Other"},
    {"action": "accept", "id": "abc"},
    {"action": "reject", "id": "abc"},
)


@proves("P10.2", "H2")
@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize("act", ACTS, ids=lambda act: str(act["action"]))
def test_a_page_without_leave_changes_nothing(door: PageDoor, projects: list[str], act: dict[str, Any]) -> None:
    for project in (*projects, "here", "nothing"):
        reply = door.post(f"/api/projects/{project}/actions", act)
        assert (reply.status, reply.error["message"]) == (403, "This page is read-only.")
        assert door.post(f"/api/projects/{project}/undo", {"undo": "x"}).status == 403
        check_sealed(reply)
    for more in ({"X-HTTP-Method-Override": "POST"}, {"X-Write": "1"}):
        reply = door.post(f"/api/projects/{projects[0]}/actions?write=1", {**act}, list(more.items()))
        assert reply.status == 403
    assert door.get("/api/session")["write"] is False


@proves("P10.3", "H4")
@pytest.mark.usefixtures("untouched")
def test_looking_at_everything_changes_nothing(door: PageDoor, at: str) -> None:
    refs = [item["ref"] for item in door.get(f"{at}/records?limit=500")["items"]]
    assert len(refs) >= 8
    for name in VIEWS:
        if name not in ("record", "history", "diff"):
            door.get(f"{at}/{name}".rstrip("/") + ("?q=queue" if name == "search" else ""))
    for ref in refs:
        for name in ("record", "history"):
            assert door.ask(f"{at}/{name}?ref={quote(ref)}").status == 200


# -- a page that may change records -----------------------------------------------------------------

NO_ACTS: dict[str, Any] = {
    "no action": {},
    "another action": {"action": "delete", "ref": DECISION},
    "an action of another kind": {"action": 1, "ref": DECISION},
    "a list": [{"action": "confirm", "ref": DECISION}],
    "one field more": {"action": "confirm", "ref": DECISION, "path": "/etc/passwd"},
    "a name of the language": {"action": "confirm", "ref": DECISION, "__proto__": {}},
    "a field of another kind": {"action": "confirm", "ref": ["x"]},
    "no ref": {"action": "stale", "reason": "x"},
    "no reason": {"action": "stale", "ref": DECISION},
    "an empty reason": {"action": "stale", "ref": DECISION, "reason": ""},
    "a ref that leads out": {"action": "confirm", "ref": "decision.../../../../outside/secret"},
    "an option": {"action": "confirm", "ref": "--help"},
    "a NUL": {"action": "confirm", "ref": "decision.use-the-queue\0"},
    "a path": {"action": "stale", "ref": "../outside/secret.txt", "reason": "x"},
    "a proposal that leads out": {"action": "accept", "id": "../../outside/secret"},
    "no proposal": {"action": "reject", "id": ""},
    "a revision that is old": {"action": "edit", "ref": DECISION, "revision": "0" * 16, "body": "b"},
    "no revision": {"action": "edit", "ref": DECISION, "body": "b"},
    "an empty revision": {"action": "edit", "ref": DECISION, "revision": "", "body": "b"},
    "another stage": {"action": "edit", "ref": "feature.retry-queue", "revision": "R", "stage": "<b>"},
    "a successor that leads out": {"action": "supersede", "ref": DECISION, "by": "../../outside/secret"},
}


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize("how", NO_ACTS)
def test_what_is_no_action_changes_nothing(writing: PageDoor, at: str, how: str) -> None:
    act = NO_ACTS[how]
    if isinstance(act, dict) and act.get("revision") == "R":
        act = {**act, "revision": writing.get(f"{at}/record?ref={act['ref']}")["revision"]}
    reply = writing.post(f"{at}/actions", act)
    check_sealed(reply)
    assert reply.status in (400, 404, 409), (reply.status, reply.body)
    assert reply.error["message"]


@proves("P7.2", "D12")
@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize(
    "project", ["nothing", "..", "%2e%2e", "..%2f..%2foutside", "%2fetc", ".", "here", "%00", "-O", "prj_0", "a" * 3000]
)
def test_there_are_no_projects_but_those_of_the_list(writing: PageDoor, project: str) -> None:
    for path in ("", "/today", "/record?ref=x", "/actions"):
        reply = writing.ask(f"/api/projects/{project}{path}")
        check_sealed(reply)
        assert reply.status == 404 or (path == "/actions" and reply.data == {"actions": []}), (path, reply.body)
    assert writing.post(f"/api/projects/{project}/actions", ACTS[0]).status in (404, 405)
    assert writing.post(f"/api/projects/{project}/undo", {"undo": "x"}).status in (404, 405)


def test_what_was_done_in_one_project_is_undone_there_alone(
    writing: PageDoor, projects: list[str], place: Path, tree: Tree
) -> None:
    before = _everything(place, tree)
    first, second = (f"/api/projects/{project}" for project in projects)
    done = writing.post(f"{first}/actions", {"action": "stale", "ref": "question.how-often", "reason": "x"}).data
    changed = _everything(place, tree)
    assert changed != before
    assert all(path.startswith("harbor/") for path in changed if changed[path] != before.get(path))
    for address in (second, "/api/projects/here"):
        assert writing.post(f"{address}/undo", {"undo": done["undo"]}).status == 404
    assert writing.get(f"{second}/actions") == {"actions": []}
    for undo in ("", "x", done["undo"][:-1], done["undo"].upper() + "0", None, [done["undo"]], {"$ne": ""}):
        assert writing.post(f"{first}/undo", {"undo": undo}).status in (400, 404)
    assert _everything(place, tree) == changed
    assert writing.post(f"{first}/undo", {"undo": done["undo"]}).status == 200
    assert writing.post(f"{first}/undo", {"undo": done["undo"]}).status == 404
    node = "harbor/.memory/memory/how-often.json"
    assert _everything(place, tree)[node] == before[node]


def test_an_edit_of_what_somebody_changed_meanwhile_is_refused(writing: PageDoor, at: str, memory: Memory) -> None:
    ref = "gotcha.clocks-differ"
    held = writing.get(f"{at}/record?ref={ref}")
    body = memory.cwd / ".memory/memory/clocks-differ.md"
    body.write_text("Another program wrote this.\n")
    reply = writing.post(f"{at}/actions", {"action": "edit", "ref": ref, "revision": held["revision"], "body": "Mine."})
    assert reply.status == 409
    assert body.read_text() == "Another program wrote this.\n"


# -- addresses ------------------------------------------------------------------------------------

ADDRESSES = (
    "/../../../../etc/passwd",
    "/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
    "/..%2f..%2f..%2fetc%2fpasswd",
    "/%252e%252e/etc/passwd",
    "//etc/passwd",
    "///etc/passwd",
    "/\\..\\..\\etc\\passwd",
    "/..%5c..%5cetc%5cpasswd",
    "/app.js/../../../../etc/passwd",
    "/app.js%00.html",
    "/static/app.js",
    "/./app.js",
    "/app.js/",
    "//app.js",
    "/index.html",
    "/build.json",
    "/.env",
    "/private.txt",
    "/APP.JS",
    "/%c0%ae%c0%ae/etc/passwd",
    "/%ff%fe",
    "/" + "a" * 60_000,
    "/" + "../" * 5_000,
    "/api/../app.js",
    "/api/projects/../session",
    "/api/projects/%2e%2e/session",
    "/api//session",
    "/api/session/",
    "/api/session%00",
    "/API/session",
    "/api/ticket/",
    "/api/ticket/../session",
    "/%61pi/sessio%6e/x",
)


@proves("P7.2", "D12")
@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize("address", ADDRESSES, ids=lambda text: text[:40])
def test_no_address_is_the_name_of_a_file(door: PageDoor, address: str) -> None:
    for headers in (None, []):
        reply = door.ask(address, headers)
        check_sealed(reply)
        assert reply.status in (307, 400, 401, 404, 405), (address, reply.status)
        assert (reply.header("location") or door.base).startswith(door.base)
        assert SECRET.encode() not in reply.body
        assert b"root:" not in reply.body
        assert len(reply.body) < 1_000


# -- what is asked for ------------------------------------------------------------------------------

TRICKS = (
    "../../outside/secret.txt",
    "../outside/secret.txt",
    "/etc/passwd",
    "decision.../../../../outside/secret",
    "decision.%2e%2e/secret",
    "--output=stolen",
    "-O",
    "--no-index",
    "--upload-pack=touch stolen",
    "HEAD",
    "HEAD:private.txt",
    "HEAD^{tree}",
    ":/private",
    "@{-1}",
    "main..HEAD",
    ":(glob)**",
    "private.txt",
    ".env",
    "leak.py",
    "src/../private.txt",
    "*",
    "**",
    ".",
    "",
    "\0",
    "a\0b",
    "\n--output=stolen",
    "$(touch stolen)",
    "`touch stolen`",
    "; touch stolen",
    "\u202e",
    "\ud800",
    "a" * 5_000,
    "{{7*7}}",
    "' OR 1=1 --",
    '"; DROP TABLE records; --',
)


@pytest.mark.proof(keep=9)
@proves("P7.2", "D12")
@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize("trick", TRICKS, ids=lambda text: ascii(text[:30]))
def test_no_parameter_leads_to_a_file(door: PageDoor, at: str, trick: str) -> None:
    """As the ref, as an anchor and as a commit, and as everything else that can be given."""
    given = quote(trick.encode("utf-8", "surrogatepass"))
    head = quote("HEAD")
    asked = [
        f"record?ref={given}",
        f"history?ref={given}",
        f"diff?ref={given}&anchor={given}",
        f"diff?ref={given}&commit={head}",
        f"diff?ref={DECISION}&anchor={given}",
        f"diff?ref={DECISION}&commit={given}",
        f"diff?ref={DECISION}&commit={given}&anchor=src/queue.py",
        f"diff?ref={DECISION}&ref={given}&anchor={given}",
    ]
    for address in asked:
        reply = door.ask(f"{at}/{address}")
        check_sealed(reply)
        assert reply.status in (400, 404) or trick == "", (address, reply.status, reply.body[:300])
        assert SECRET.encode() not in reply.body
    if trick not in some(TRICKS, 12):
        return
    fields = ("layer", "kind", "status", "stage", "section", "verdict", "live", "text", "offset", "limit")
    loose = [f"records?{name}={given}" for name in fields]
    loose += [f"today?since={given}", f"search?q={given}", f"search?q=queue&layers={given}&kinds={given}"]
    loose += [f"search?q=queue&limit={given}", f"inbox?offset={given}", f"map?path={given}", f"health/files?p={given}"]
    for address in loose:
        reply = door.ask(f"{at}/{address}")
        assert reply.status in (200, 400), (address, reply.status, reply.body[:300])
        assert SECRET.encode() not in reply.body
    with door.connect() as connection:
        lines = f"Host: {door.name}\r\n{': '.join(door.bearer)}\r\n"
        connection.sendall(f"GET /api/events?project={given} HTTP/1.0\r\n{lines}\r\n".encode())
        assert connection.recv(12).endswith((b"404", b"200" if trick == "" else b"404"))


@pytest.mark.usefixtures("untouched")
def test_nothing_is_read_but_what_the_anchors_of_a_record_cover(door: PageDoor, at: str) -> None:
    """Not through links, not through anchors that lead out, not through other files that git knows."""
    items = door.get(f"{at}/records?limit=500&layer=graph")["items"]
    shown = 0
    for item in items:
        ref = quote(item["ref"])
        detail = door.ask(f"{at}/record?ref={ref}")
        assert SECRET.encode() not in detail.body
        for anchor in [*detail.data["anchors"], *WILD]:
            reply = door.ask(f"{at}/diff?ref={ref}&anchor={quote(anchor)}")
            assert reply.status in (200, 400), (anchor, reply.body)
            assert SECRET.encode() not in reply.body
            assert b"root:" not in reply.body
            shown += reply.status == 200 and bool(reply.data["files"])
        for entry in door.get(f"{at}/history?ref={ref}")["entries"]:
            if entry["commit"]:
                reply = door.ask(f"{at}/diff?ref={ref}&commit={entry['commit']['id']}")
                assert reply.status == 200
                assert SECRET.encode() not in reply.body
    assert shown >= 2, "what changed in the code is shown where it may be"
    assert {"decision.wild-0", "gotcha.anchored-leak"} <= {item["ref"] for item in items}


def test_a_file_that_became_a_link_is_not_followed(door: PageDoor, at: str, memory: Memory) -> None:
    code = memory.cwd / "src/queue.py"
    held = code.read_bytes()
    try:
        code.unlink()
        os.symlink("../../outside/secret.txt", code)
        reply = door.ask(f"{at}/diff?ref={DECISION}&anchor=src/queue.py")
        assert reply.status == 200
        assert SECRET.encode() not in reply.body
        for name in ("record", "history"):
            assert SECRET.encode() not in door.ask(f"{at}/{name}?ref={DECISION}").body
    finally:
        code.unlink()
        code.write_bytes(held)


def test_a_body_that_is_a_link_is_not_followed(door: PageDoor, at: str, memory: Memory) -> None:
    body = memory.cwd / ".memory/memory/use-the-queue.md"
    held = body.read_bytes()
    try:
        body.unlink()
        os.symlink("../../../outside/secret.txt", body)
        for name in ("record", "history", "../here"):
            assert SECRET.encode() not in door.ask(f"{at}/{name}?ref={DECISION}").body
        assert SECRET.encode() not in door.ask(f"{at}/search?q=otter+lantern").body
    finally:
        body.unlink()
        body.write_bytes(held)


@pytest.mark.proof
def test_one_bad_anchor_does_not_take_the_whole_page_away(tmp_path: Path) -> None:
    """A NUL can stand in no file's name, but it can stand in a record of a repository from anywhere."""
    memory = harbor(tmp_path)
    saved_nodes(memory)
    nodes = memory.cwd / ".memory/memory"
    held = json.loads((nodes / "use-the-queue.json").read_bytes())
    wild = {**held, "id": "decision.wild", "anchors": ["src/queue.py\0x"], "body_path": "memory/wild.md"}
    (nodes / "wild.json").write_text(json.dumps(wild))
    (nodes / "wild.md").write_text("x\n")
    with opened(memory) as door:
        at = f"/api/projects/{door.get('/api/session')['project']}"
        given = {name: door.ask(f"{at}/{name}?ref={DECISION}&q=queue".replace("/?", "?")).status for name in VIEWS}
    assert {name: status for name, status in given.items() if status != 200} == {"diff": 400}
