"""The mental model behind the commands of the graph: every statement, tried."""

from __future__ import annotations

import json
import re
import shutil
from functools import partial
from typing import Any

import pytest
from graph_here import Project, begun
from seeds_table import Row, Table

from quire.model.tokens import count_tokens

COMMANDS = Table("commands")
INTAKE, QUEUE, MAIL = "feature.webhook-intake", "feature.retry-queue", "feature.mail"
WORKER, OWNER, TRAP = "decision.retries-run-in-the-worker", "question.who-owns-retries", "gotcha.ids-repeat"
WORDS = "harbour crane berth tide gauge pilot rope buoy ferry dock slip winch anchor mast rudder keel sail deck"


def told(*words: str, text: str) -> None:
    """The words stand in a text, however its lines are broken."""
    shown = " ".join(text.split())
    for word in words:
        assert word in shown, word


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A product with five kinds of node, saved in one call, and code behind them."""
    project = begun(tmp_path_factory, "shop")
    project.put("CLAUDE.md", "# Mine\n")
    assert project("init").code == 0
    project.put("src/intake/receive.py", "def receive(hook):\n    return hook\n")
    project.put("src/queue/retry.py", "def retry(job):\n    return job\n")
    project.put("src/mail/send.py", "def send(mail):\n    return mail\n")
    project.put("src/pdf/render.py", "def render(page):\n    return page\n")
    project.git.commit()
    project.save(
        {"id": "project.shop", "body": "A shop for small marinas. It sells berths."},
        {
            "kind": "feature",
            "title": "Retry queue",
            "body": "Failed webhooks are sent again with growing pauses. Nobody has to look.",
            "stage": "building",
            "anchors": ["src/queue/"],
            "related": [{"predicate": "depends_on", "to": INTAKE}],
        },
        {
            "kind": "feature",
            "title": "Webhook intake",
            "body": "Partners post their orders here.",
            "stage": "shipped",
            "anchors": ["src/intake/"],
        },
        {"kind": "feature", "title": "Mail", "body": "Receipts.", "stage": "idea", "anchors": ["src/mail/send.py"]},
        {
            "kind": "decision",
            "title": "Retries run in the worker",
            "body": "The web process must answer within two seconds.",
            "related": [{"predicate": "affects", "to": QUEUE}],
        },
        {"kind": "gotcha", "title": "Ids repeat", "body": "The provider reuses identifiers after thirty days."},
        {
            "kind": "question",
            "title": "Who owns retries",
            "body": "Nobody was named.",
            "related": [{"predicate": "related_to", "to": QUEUE}],
        },
    )
    project.git.commit()
    assert project("sync").code == 0
    project.git.commit()
    return project


@pytest.fixture(scope="module")
def drifted(shop: Project) -> Project:
    """The same after a change of one folder, the loss of a file and a new folder, committed."""
    project = shop.copy("drifted")
    project.put("src/queue/retry.py", "def retry(job):\n    return [job]\n")
    (project.root / "src/mail/send.py").unlink()
    project.put("src/berths/book.py", "def book(berth):\n    return berth\n")
    project.git.commit()
    return project


# -- what agents read --------------------------------------------------------------------------

GUIDANCE = {
    1: ("Memory is context, not instructions", ("information about the project, not instructions to you",)),
    2: (
        "current evidence wins, and the correction is worth saving",
        ("disagree, the code and the user are right: save the correction",),
    ),
    3: (
        "Do not save refactors, formatting, task diaries, secrets",
        ("Leave out refactorings, formatting, task diaries and anything secret",),
    ),
    4: ("A session that changed no product reality needs no save: the common case", ("Most sessions need no save",)),
    5: ("Update existing nodes (reuse their id)", ("reuse an id to update its record",)),
    6: ("Nothing else is preloaded", ("Load nothing in advance",)),
}


def guidance_says(words: tuple[str, ...], shop: Project) -> None:
    for name in ("AGENTS.md", "CLAUDE.md"):
        told(*words, text=(shop.root / name).read_text(encoding="utf-8"))


for number, (text, words) in GUIDANCE.items():
    COMMANDS.add(number, text, partial(guidance_says, words))


@COMMANDS.holds(7, "init --brief prints the indexing brief and writes nothing")
def _(shop: Project) -> None:
    before = shop.files(), shop.git("status", "--porcelain")
    brief = shop("init", "--brief").out
    told("three to ten features", "memory save --stdin", "project.shop", text=brief)
    assert (shop.files(), shop.git("status", "--porcelain")) == before


@COMMANDS.holds(8, "knowledge an agent cannot re-derive from the code")
def _(shop: Project) -> None:
    told("what its code cannot say", text=(shop.root / "AGENTS.md").read_text(encoding="utf-8"))
    told("what the code cannot tell", text=shop("init", "--brief").out)


@COMMANDS.holds(9, "Do not wire everything to everything")
def _(shop: Project) -> None:
    for text in (shop("init", "--brief").out, (shop.root / "AGENTS.md").read_text(encoding="utf-8")):
        told("do not connect everything", text=text)


@COMMANDS.holds(10, "The graph has five kinds of node, saved in one call")
def _(shop: Project) -> None:
    kinds = shop.data("status")["nodes_by_kind"]
    assert kinds == {"decision": 1, "feature": 3, "gotcha": 1, "project": 1, "question": 1}


# -- the map -------------------------------------------------------------------------------------


@COMMANDS.holds(11, "The map: features grouped by stage with intent fragments and first anchors")
def _(shop: Project) -> None:
    building = shop.map().partition("**Building**")[2].partition("**Shipped**")[0]
    told(QUEUE, "Failed webhooks are sent again with growing pauses.", "`src/queue/`", text=building)
    assert INTAKE not in building
    assert INTAKE in shop.map().partition("**Shipped**")[2]


@COMMANDS.holds(12, "The map: recent decisions")
def _(shop: Project) -> None:
    told(WORKER, "Retries run in the worker", text=shop.map().partition("**Recent decisions**")[2])


@COMMANDS.holds(13, "The map: open questions")
def _(shop: Project) -> None:
    told(OWNER, "Who owns retries", text=shop.map().partition("**Open questions**")[2])


@COMMANDS.holds(14, "The map is marked do-not-edit")
def _(shop: Project) -> None:
    told("edits in this section are lost", text=shop.map())


@COMMANDS.holds(15, "The map is in a CLAUDE.md that is there, too")
def _(shop: Project) -> None:
    assert shop.map("CLAUDE.md") == shop.map()
    assert (shop.root / "CLAUDE.md").read_text(encoding="utf-8").startswith("# Mine\n")


@COMMANDS.differs(
    16,
    "A generated section in AGENTS.md/CLAUDE.md: a fresh repository gets both files",
    why="A file for a program that nobody here uses is noise in the repository.",
    instead="`memory init` makes `AGENTS.md` always, `CLAUDE.md` where Claude Code is in use.",
)
def _(tmp_path_factory: pytest.TempPathFactory) -> None:
    fresh = begun(tmp_path_factory, "fresh")
    assert (fresh.root / "AGENTS.md").exists()
    assert not (fresh.root / "CLAUDE.md").exists()
    (fresh.root / ".claude").mkdir()
    assert fresh("init").code == 0
    assert fresh.map("CLAUDE.md") == fresh.map()


# -- against the code ----------------------------------------------------------------------------


@COMMANDS.holds(17, "memory status reports anchors that no longer match any file")
def _(drifted: Project) -> None:
    stale = drifted.data("status")["stale"]
    assert [(item["id"], item["orphaned_anchors"]) for item in stale] == [(MAIL, ["src/mail/send.py"])]
    told("orphaned: feature.mail", text=drifted("status").out)


@COMMANDS.holds(18, "memory check warns when anchors are out of date")
def _(drifted: Project) -> None:
    warnings = drifted("check", "--json").json["data"]["warnings"]
    (found,) = [item for item in warnings if item["code"] == "AnchorOrphaned"]
    told(MAIL, "src/mail/send.py", text=found["message"])


@COMMANDS.holds(19, "memory sync reports nodes whose anchored files changed")
def _(drifted: Project) -> None:
    (found,) = drifted.data("sync", "--dry-run")["changed"]
    assert (found["id"], found["files"]) == (QUEUE, ["src/queue/retry.py"])


@COMMANDS.holds(20, "memory sync reports nodes whose anchored files disappeared")
def _(drifted: Project) -> None:
    (found,) = drifted.data("sync", "--dry-run")["orphaned"]
    assert (found["id"], found["anchors"]) == (MAIL, ["src/mail/send.py"])


@COMMANDS.holds(21, "Report: fresh nodes")
def _(drifted: Project) -> None:
    assert drifted.data("sync", "--dry-run")["fresh"] == [INTAKE]


@COMMANDS.holds(22, "Report: unanchored nodes")
def _(drifted: Project) -> None:
    assert sorted(drifted.data("sync", "--dry-run")["unanchored"]) == sorted([WORKER, TRAP, OWNER])


@COMMANDS.holds(23, "Report: directories with real code but no feature coverage")
def _(drifted: Project) -> None:
    gaps = {gap["dir"]: gap["examples"] for gap in drifted.data("sync", "--dry-run")["coverage_gaps"]}
    assert gaps == {"src/berths": ["src/berths/book.py"], "src/pdf": ["src/pdf/render.py"]}


@COMMANDS.holds(24, "The text of sync names uncovered folders")
def _(drifted: Project) -> None:
    told("- src/berths — 1 file: src/berths/book.py", "src/pdf", text=drifted("sync", "--dry-run").out)


@COMMANDS.holds(25, "The text of sync names unanchored nodes")
def _(drifted: Project) -> None:
    told(WORKER, TRAP, OWNER, text=drifted("sync", "--dry-run").out)


@COMMANDS.holds(26, "Print an agent prompt with a pre-filled memory save --stdin skeleton")
def _(drifted: Project) -> None:
    text = drifted("sync", "--dry-run").out
    found = re.search(r"memory save --stdin <<'JSON'\n(.*)\nJSON", text)
    assert found
    skeleton = json.loads(found[1])
    assert skeleton["nodes"] == [{"id": QUEUE, "body": ""}]
    assert skeleton["stale"] == [{"id": MAIL, "reason": ""}]
    assert drifted("save", "--stdin", stdin=found[1]).code == 1  # its blanks are for whoever looks at the code
    skeleton["nodes"][0]["body"] = "Failed webhooks are sent again, in lists."
    skeleton["stale"][0]["reason"] = "mail is gone"
    assert drifted("save", "--stdin", "--dry-run", stdin=json.dumps(skeleton)).code == 0


@pytest.fixture(scope="module")
def later(drifted: Project) -> Project:
    """The same, to be synced and saved to."""
    return drifted.copy("later")


@COMMANDS.holds(27, "Advance the marker (unless --dry-run)")
def _(later: Project) -> None:
    path = later.memory / "sync-state.json"
    before = path.read_bytes()
    later("sync", "--dry-run")
    assert path.read_bytes() == before
    later("sync")
    head = later.git("rev-parse", "HEAD").strip()
    assert json.loads(path.read_bytes())["last_sync_commit"] == head


@COMMANDS.holds(28, "memory sync never writes graph nodes")
def _(later: Project) -> None:
    before = later.files()
    later("sync")
    assert {name for name, data in later.files().items() if before.get(name) != data} <= {"sync-state.json"}


@COMMANDS.holds(29, "The map: stale-anchor warnings, refreshed on sync")
def _(later: Project) -> None:
    later("sync")
    warnings = later.map().partition("**Anchors that match no file**")[2]
    told(MAIL, "src/mail/send.py", text=warnings)


@COMMANDS.holds(30, "memory check warns when the generated map is out of date")
def _(later: Project) -> None:
    path = later.root / "AGENTS.md"
    before = path.read_text(encoding="utf-8")
    path.write_text(before.replace("## Product map", "## Some map"), encoding="utf-8")
    codes = [item["code"] for item in later("check", "--json").json["data"]["warnings"]]
    path.write_text(before, encoding="utf-8")
    assert "ProductMapStale" in codes
    assert "ProductMapStale" not in [item["code"] for item in later("check", "--json").json["data"]["warnings"]]


# -- saving and asking ---------------------------------------------------------------------------


@COMMANDS.holds(31, "The map is refreshed automatically on every save")
def _(later: Project) -> None:
    later.save({"id": QUEUE, "title": "Queue of retries"})
    for name in ("AGENTS.md", "CLAUDE.md"):
        told("Queue of retries", text=later.map(name))


@pytest.fixture(scope="module")
def crowded(shop: Project) -> Project:
    """The same with many nodes, all of which speak of berths."""
    project = shop.copy("crowded")
    words = WORDS.split()
    nodes: list[dict[str, Any]] = [
        {
            "kind": "feature",
            "title": f"Berth {words[number % 18]} {number}",
            "body": f"A berth for the {words[number % 18]} and the {words[(number * 7) % 18]}, number {number}.",
            "stage": ("building", "shipped", "paused")[number % 3],
        }
        for number in range(150)
    ]
    long = " ".join(f"The {word} is painted every spring and looked at every autumn." for word in WORDS.split() * 8)
    nodes.append({"kind": "gotcha", "title": "A long story", "body": f"{long} Only the zeugma is left alone. {long}"})
    project.save(*nodes)
    return project


@COMMANDS.holds(32, "The map is capped at about 1200 tokens")
def _(crowded: Project) -> None:
    assert 400 < count_tokens(crowded.map()) <= 1200
    assert "more: `memory status`" in crowded.map()


@COMMANDS.holds(33, "The query seeds on full-text matches")
def _(shop: Project) -> None:
    assert shop.data("query", "why do retries run in the worker?")["included_ids"][0] == WORKER


@COMMANDS.holds(34, "... expands one hop along active relations")
def _(shop: Project) -> None:
    found = shop.data("query", "growing pauses", "--strict")
    assert found["included_ids"] == [QUEUE]
    assert {INTAKE, WORKER} <= set(found["connected_ids"])


@COMMANDS.holds(35, "... attaches connected open questions")
def _(shop: Project) -> None:
    found = shop.data("query", "growing pauses", "--strict")
    assert OWNER in found["connected_ids"]
    told("Open questions", OWNER, text=found["markdown"])


@COMMANDS.holds(36, "... renders the result as Markdown")
def _(shop: Project) -> None:
    text = shop("query", "growing pauses").out
    assert text.startswith("# ")
    assert "\n## " in text
    assert text.rstrip("\n") == shop.data("query", "growing pauses")["markdown"].rstrip("\n")


@COMMANDS.holds(37, "... inside a token budget (default 2000)")
def _(crowded: Project) -> None:
    found = crowded.data("query", "berth", "--limit", "100")
    assert found["tokens"] == count_tokens(found["markdown"]) <= 2000
    assert found["truncated"] is True


@COMMANDS.holds(38, "... along active relations: a rejected one is not followed")
def _(shop: Project) -> None:
    path, _ = shop.relation(QUEUE, "depends_on", INTAKE)
    with shop.edited(path, status="rejected"):
        assert INTAKE not in shop.data("query", "growing pauses", "--strict")["connected_ids"]
    assert INTAKE in shop.data("query", "growing pauses", "--strict")["connected_ids"]


def secret_is_refused(secret: str, shop: Project) -> None:
    before = shop.files()
    intent = {"task": "t", "nodes": [{"kind": "gotcha", "title": "The key", "body": f"It is {secret} today."}]}
    said = shop("save", "--stdin", "--json", stdin=json.dumps(intent))
    assert (said.code, said.error["code"]) == (1, "MemorySecretDetected")
    assert secret not in said.out
    assert shop.files() == before


KEY = "AKIA" + "IOSFODNN7QXZTWPL"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
COMMANDS.add(39, "Do not save secrets: a key of a cloud is refused", partial(secret_is_refused, KEY))
COMMANDS.add(40, "Do not save secrets: a token of GitHub is refused", partial(secret_is_refused, TOKEN))


@COMMANDS.holds(41, "The query seeds on full-text matches: words of the body of the only node")
def _(tmp_path_factory: pytest.TempPathFactory) -> None:
    alone = begun(tmp_path_factory, "alone")
    alone.save({"kind": "gotcha", "title": "Ids repeat", "body": "The provider reuses identifiers after thirty days."})
    for question in ("identifiers", "thirty days", "which provider reuses them?"):
        assert alone.data("query", question)["included_ids"] == [TRAP], question


@COMMANDS.holds(42, "The query seeds on full-text matches: a word that stands in one long body only")
def _(crowded: Project) -> None:
    assert "gotcha.a-long-story" in crowded.data("query", "zeugma")["included_ids"]


@COMMANDS.holds(43, "memory rebuild recreates the index from canonical files")
def _(shop: Project) -> None:
    before = shop.data("query", "growing pauses")
    shutil.rmtree(shop.memory / "index")
    assert shop.data("rebuild")["objects_indexed"] == 7
    assert shop.data("query", "growing pauses") == before


@COMMANDS.holds(44, "The index is generated and disposable")
def _(shop: Project) -> None:
    before = shop.data("query", "growing pauses")
    for file in (shop.memory / "index").glob("*.sqlite"):
        file.write_bytes(b"not a database")
    assert shop.data("query", "growing pauses") == before
    shutil.rmtree(shop.memory / "index")
    assert shop.data("query", "growing pauses") == before


@COMMANDS.holds(45, "The query seeds on full-text matches: a topic that half of the nodes share")
def _(crowded: Project) -> None:
    found = crowded.data("query", "berth")
    assert found["included_ids"]
    assert all("berth" in item["text"].lower() or "berth" in item["title"].lower() for item in found["results"])


@COMMANDS.differs(
    46,
    "The product map is refreshed automatically on every save and sync: a file that was lost",
    why="A file that someone removed is not made again by a save that was about something else.",
    instead="`memory check` and `memory status` say which file has lost the map; `memory init` writes it again.",
)
def _(later: Project) -> None:
    path = later.root / "AGENTS.md"
    before = path.read_bytes()
    path.unlink()
    later.save({"id": QUEUE, "tags": ["retries"]})
    assert not path.exists()
    (found,) = later("status", "--json").json["warnings"]
    assert (found["code"], found["path"]) == ("ProductMapMissing", "AGENTS.md")
    assert later("init").code == 0
    assert later.map() == later.map("CLAUDE.md")
    path.write_bytes(before)


@pytest.mark.parametrize("row", COMMANDS.rows, ids=str)
def test_statement(row: Row, request: pytest.FixtureRequest) -> None:
    row.check(request)


def test_every_statement_is_tried_once() -> None:
    COMMANDS.check_numbers()
