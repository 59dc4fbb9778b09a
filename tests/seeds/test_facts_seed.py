"""Facts: every statement of the description, tried."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from commanding import lines_of
from hooks_here import Hooks, left_behind
from mcp_here import Asked, over_stdio
from mcp_here import Here as Served
from seeds_table import Row, Table
from sessions_here import Recording

from installed import Git, Memory, make_environment

FACTS = Table("facts")
NOW = "2026-03-02T11:19:00+00:00"
SECTIONS = (
    "Architecture",
    "Decisions",
    "Constraints",
    "Known Issues",
    "Patterns & Conventions",
    "Specs",
    "Recent Work",
)
TOOLS = {
    "memory_recall": ("query",),
    "memory_query": (),
    "memory_store": ("section", "content"),
    "memory_supersede": ("fact_id", "content"),
    "memory_archive": ("fact_ids",),
    "memory_episodes": ("query",),
    "memory_focus": ("fact_ids",),
    "memory_release": (),
    "memory_connect": ("source", "target", "relation"),
    "memory_compact": (),
    "memory_search_archive": ("query",),
    "memory_ingest_lifecycle": (),
}
RELATIONS = ("depends_on", "contradicts", "enables", "replaces", "motivated_by")
CONVERSATION = [
    {"role": role, "content": f"{text} {turn}. " + "It went on for a while. " * 40}
    for turn in range(8)
    for role, text in (("user", "Look at module"), ("assistant", "I looked at module"))
]


class Shop(msgspec.Struct, frozen=True):
    """A repository with a memory."""

    root: Path
    env: Mapping[str, str]

    @property
    def memory(self) -> Memory:
        return Memory(self.root, self.env)

    @property
    def git(self) -> Git:
        return Git(self.root, self.env)

    @property
    def file(self) -> Path:
        return self.root / ".memory/facts.jsonl"

    def done(self, *words: str, **options: Any) -> Any:
        run = self.memory(*words, "--json", **options)
        assert run.code == 0, run.out
        return run.data

    def store(self, section: str, content: str, *more: str) -> str:
        name: str = self.done("facts", "store", section, content, *more)["fact"]["id"]
        return name

    def recalled(self, question: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.done("facts", "recall", question)["results"]
        return found

    def line(self, name: str) -> dict[str, Any]:
        (found,) = [line for line in lines_of(self.file) if line["id"] == name]
        return found

    def context(self, prompt: str = "ok") -> str:
        text: str = self.done("facts", "context", prompt)["markdown"]
        return text

    def text(self) -> str:
        return self.file.read_text()


def begun(folder: Path) -> Shop:
    env = {**make_environment(folder), "MEMORY_NOW": NOW}
    root = folder / "harbor"
    root.mkdir()
    shop = Shop(root, env)
    shop.git("init", "--quiet")
    shop.memory.init()
    return shop


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """A project that the checks fill; each asks for words of its own."""
    return begun(tmp_path_factory.mktemp("facts"))


@pytest.fixture(scope="module")
def tools(shop: Shop) -> Iterator[Asked]:
    """The server of that project, asked by the SDK's client."""
    with over_stdio(Served(shop.root, shop.env), "--toolset", "facts") as asked:
        yield asked


@pytest.fixture(scope="module")
def schemas(tools: Asked) -> dict[str, Any]:
    return {tool.name: tool.input_schema for tool in tools.do("list_tools").tools}


def stored(tools: Asked, section: str, content: str, **more: Any) -> str:
    name: str = tools.data("memory_store", section=section, content=content, **more)["fact"]["id"]
    return name


def contents(found: Any) -> list[str]:
    return [item["content"] for item in found["results"]]


# -- the tools ------------------------------------------------------------------------------


def is_there(name: str, arguments: tuple[str, ...], schemas: dict[str, Any]) -> None:
    assert set(arguments) <= set(schemas[name]["properties"])


def asks_for_no_more(name: str, arguments: tuple[str, ...], schemas: dict[str, Any]) -> None:
    assert set(schemas[name].get("required", ())) <= set(arguments)


for place, (tool, names) in enumerate(TOOLS.items()):
    FACTS.add(2 * place + 1, f"tool {tool}({', '.join(names)})", partial(is_there, tool, names))
    FACTS.add(2 * place + 2, f"{tool}: nothing else is required", partial(asks_for_no_more, tool, names))


# -- facts ----------------------------------------------------------------------------------


def is_a_section(section: str, shop: Shop, tools: Asked) -> None:
    name = stored(tools, section, f"The breakwater is mentioned under {section}.")
    assert shop.line(name)["section"] == section


for place, section in enumerate(SECTIONS):
    FACTS.add(25 + place, f"Sections: {section}", partial(is_a_section, section))


@FACTS.holds(32, "Sections: any other is refused, and the seven are listed")
def _(tools: Asked) -> None:
    said = json.dumps(tools.error("memory_store", section="Gossip", content="x y z"))
    assert all(section in said for section in SECTIONS)


@FACTS.holds(33, "Facts are stored with a section")
def _(shop: Shop, tools: Asked) -> None:
    assert shop.line(stored(tools, "Specs", "Buoys are numbered from the sea."))["section"] == "Specs"


@FACTS.differs(
    34,
    "… a confidence",
    why="A new fact has full confidence; its line names it only where it is another, so that lines stay short.",
    instead="Answers always show it, and `--confidence 0.4` is kept in the line.",
)
def _(shop: Shop, tools: Asked) -> None:
    plain = stored(tools, "Architecture", "The pilot boat is moored at the north quay.")
    doubted = stored(tools, "Architecture", "The tug is moored at the south quay.", confidence=0.4)
    assert "confidence" not in shop.line(plain)
    assert shop.line(doubted)["confidence"] == 0.4
    assert {item["id"]: item["confidence"] for item in shop.recalled("moored quay pilot tug")}.items() >= {
        plain: 1.0,
        doubted: 0.4,
    }.items()


@FACTS.holds(35, "… and a timestamp")
def _(shop: Shop, tools: Asked) -> None:
    assert shop.line(stored(tools, "Specs", "Tides are read hourly."))["created_at"] == "2026-03-02T11:19:00.000Z"


@FACTS.holds(36, "one JSON object per line in the project's memory directory")
def _(shop: Shop, tools: Asked) -> None:
    stored(tools, "Specs", "Fog horns sound twice.")
    assert all(isinstance(line, dict) for line in lines_of(shop.root / ".memory/facts.jsonl"))


@FACTS.holds(37, "a known text is confirmed, not doubled")
def _(shop: Shop, tools: Asked) -> None:
    first = stored(tools, "Constraints", "Containers are weighed before loading.")
    again = tools.data("memory_store", section="Constraints", content="-  containers are  weighed before loading.")
    assert again["fact"]["id"] == first
    assert shop.text().lower().count("weighed before loading") == 1


# -- recall ---------------------------------------------------------------------------------


@FACTS.holds(38, "memory_recall(query): semantic search, returns ranked facts")
def _(tools: Asked) -> None:
    stored(tools, "Architecture", "Webhook retries run in the worker, never in the request.")
    stored(tools, "Architecture", "Webhook secrets are rotated by hand.")
    found = contents(tools.data("memory_recall", query="where does a retry of a webhook run?"))
    assert found[0] == "Webhook retries run in the worker, never in the request."


@FACTS.holds(39, "ranked by relevance × confidence: each has a score and its confidence")
def _(shop: Shop) -> None:
    shop.store("Specs", "Crane seven lifts forty tonnes.")
    shop.store("Specs", "Crane eight lifts thirty tonnes.")
    found = shop.recalled("how much does crane seven lift?")
    scores = [item["score"] for item in found]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < item["confidence"] <= 1 for item in found)


@FACTS.holds(40, "confidence counts in the rank")
def _(shop: Shop) -> None:
    doubted = shop.store("Specs", "The lighthouse lamp is serviced in April.", "--confidence", "0.3")
    sure = shop.store("Specs", "The lighthouse lamp is serviced in August.")
    found = [item["id"] for item in shop.recalled("when is the lighthouse lamp serviced?")]
    assert found.index(sure) < found.index(doubted)


@FACTS.holds(41, "memory_query(): load all active facts")
def _(shop: Shop, tools: Asked) -> None:
    stored(tools, "Recent Work", "The dredger was painted.")
    found: list[str] = []
    page: dict[str, Any] = {"next_offset": 0}
    while "next_offset" in page:
        page = tools.data("memory_query", offset=page["next_offset"])
        found += [item["id"] for item in page["results"]]
    active = [
        line["id"]
        for line in lines_of(shop.file)
        if line["_type"] == "fact" and line.get("status", "active") == "active"
    ]
    assert sorted(found) == sorted(active)


# -- superseding ----------------------------------------------------------------------------


@FACTS.holds(42, "memory_supersede(fact_id, content): replace a fact")
def _(shop: Shop, tools: Asked) -> None:
    old = stored(tools, "Decisions", "Cargo lists live in spreadsheets.")
    done = tools.data("memory_supersede", fact_id=old, content="Cargo lists live in a table.")
    assert (done["old"]["id"], done["new"]["section"]) == (old, "Decisions")
    assert shop.line(done["new"]["id"])["content"] == "Cargo lists live in a table."


@FACTS.holds(43, "the old is superseded and the new active in one step")
def _(shop: Shop, tools: Asked) -> None:
    old = stored(tools, "Decisions", "Manifests are printed on paper.")
    new = tools.data("memory_supersede", fact_id=old, content="Manifests are sent as PDF.")["new"]["id"]
    assert (shop.line(old)["status"], shop.line(new).get("status", "active")) == ("superseded", "active")
    assert shop.line(new)["supersedes"] == old
    refused = tools.error("memory_supersede", fact_id="000000000000", content="Nothing to replace.")
    assert "Nothing to replace" not in shop.text()
    assert refused["code"] == "MemoryObjectNotFound"


@FACTS.holds(44, "superseded facts are not recalled")
def _(tools: Asked) -> None:
    old = stored(tools, "Decisions", "Harbour fees are paid in cash.")
    tools.data("memory_supersede", fact_id=old, content="Harbour fees are paid by card.")
    assert contents(tools.data("memory_recall", query="how are harbour fees paid?"))[0].endswith("by card.")
    assert "Harbour fees are paid in cash." not in contents(tools.data("memory_recall", query="harbour fees cash"))


# -- the knowledge graph --------------------------------------------------------------------


def connected(relation: str, shop: Shop, tools: Asked) -> None:
    source = stored(tools, "Architecture", f"The gate that {relation} opens inwards.")
    target = stored(tools, "Architecture", f"The lock that {relation} fills slowly.")
    tools.data("memory_connect", source=source, target=target, relation=relation)
    edges = [line for line in lines_of(shop.file) if line["_type"] == "edge" and line["source_id"] == source]
    assert [(edge["target_id"], edge["relation"]) for edge in edges] == [(target, relation)]
    again = tools.data("memory_connect", source=target, target=source, relation=relation)
    assert (again["edge"]["source"], again["edge"]["target"]) == (f"fact:{target}", f"fact:{source}")


FACTS.add(45, "memory_connect(source, target, relation): a typed edge", partial(connected, "enables"))
for place, relation in enumerate(RELATIONS):
    FACTS.add(46 + place, f"typed edges: {relation}", partial(connected, relation))


@FACTS.holds(51, "directional edges, kept in the file")
def _(shop: Shop, tools: Asked) -> None:
    source = stored(tools, "Architecture", "The radar feeds the plotter.")
    target = stored(tools, "Architecture", "The plotter draws the fairway.")
    tools.data("memory_connect", source=source, target=target, relation="depends_on")
    said = shop.done("inspect", f"fact:{source}")
    assert json.dumps(said).count(f"fact:{target}") >= 1
    (edge,) = [line for line in lines_of(shop.file) if line.get("source_id") == source]
    assert (edge["target_id"], edge["relation"]) == (target, "depends_on")


@FACTS.holds(52, "an edge to nothing is refused")
def _(shop: Shop, tools: Asked) -> None:
    source = stored(tools, "Architecture", "The sluice is opened at ebb.")
    assert tools.error("memory_connect", source=source, target="000000000000", relation="enables")
    assert not [line for line in lines_of(shop.file) if line.get("source_id") == source]


# -- the archive ----------------------------------------------------------------------------


def put_away(tools: Asked, content: str) -> str:
    name = stored(tools, "Known Issues", content)
    assert tools.data("memory_archive", fact_ids=[name])["changed"] == 1
    return name


@FACTS.holds(53, "memory_archive(fact_ids)")
def _(shop: Shop, tools: Asked) -> None:
    name = put_away(tools, "The weighbridge shows two tonnes too much.")
    assert shop.line(name)["status"] == "archived"


@FACTS.holds(54, "archived: removed from active context")
def _(tools: Asked) -> None:
    put_away(tools, "The ferry ramp sticks in frost.")
    found = tools.data("memory_recall", query="does the ferry ramp stick in frost?")
    assert "The ferry ramp sticks in frost." not in contents(found)


@FACTS.holds(55, "memory_search_archive(query) finds archived facts")
def _(tools: Asked) -> None:
    put_away(tools, "The bilge alarm rings at night.")
    assert "The bilge alarm rings at night." in contents(tools.data("memory_search_archive", query="bilge alarm"))


@FACTS.holds(56, "… and superseded ones")
def _(tools: Asked) -> None:
    old = stored(tools, "Decisions", "Ballast water is dumped at sea.")
    tools.data("memory_supersede", fact_id=old, content="Ballast water is treated ashore.")
    assert "Ballast water is dumped at sea." in contents(tools.data("memory_search_archive", query="ballast water"))


@FACTS.holds(57, "… and no active ones")
def _(tools: Asked) -> None:
    stored(tools, "Specs", "Bollards are spaced ten metres apart.")
    assert "Bollards are" not in json.dumps(tools.data("memory_search_archive", query="bollards spaced apart"))


@FACTS.holds(58, "Archive: searchable, but not injected into context")
def _(shop: Shop, tools: Asked) -> None:
    put_away(tools, "The customs shed leaks when it rains.")
    assert "customs shed" not in shop.context("the customs shed leaks when it rains, look at it please")
    said = Hooks(shop.root, shop.env).said("claude", "prompt", prompt="why does the customs shed leak when it rains?")
    assert "customs shed leaks" not in said


# -- working memory -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pinned(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """A project of its own with one pinned fact among others, committed."""
    shop = begun(tmp_path_factory.mktemp("pins"))
    for number in range(5):
        shop.store("Architecture", f"Berth {number} is dredged every year.")
    name = shop.store("Constraints", "No ship moors without a pilot.")
    shop.done("facts", "focus", name)
    shop.git.commit("facts")
    return shop


PIN = "No ship moors without a pilot."


@FACTS.holds(59, "memory_focus(fact_ids): pin facts")
def _(tools: Asked) -> None:
    name = stored(tools, "Constraints", "Ropes are renewed in spring.")
    assert name in [item["id"] for item in tools.data("memory_focus", fact_ids=[name])["pins"]]
    tools.data("memory_release", fact_ids=[name])


@FACTS.holds(60, "pinned facts are in the context of every turn, also of one that says nothing (`ok`)")
def _(pinned: Shop) -> None:
    assert PIN in pinned.context("ok")
    assert PIN in pinned.context("what about the paint of the crane?")


@FACTS.holds(61, "… and come first")
def _(pinned: Shop) -> None:
    shown = pinned.context("when is berth 3 dredged?")
    assert shown.index(PIN) < shown.index("Berth 3")


@FACTS.holds(62, "compaction: older conversation is summarized; pinned facts survive")
def _(pinned: Shop) -> None:
    done = pinned.done("facts", "compact", "--stdin", stdin=json.dumps({"messages": CONVERSATION}).encode())
    assert len(done["messages"]) < len(CONVERSATION)
    assert PIN in json.dumps(done["messages"])


@FACTS.differs(
    63,
    "memory_compact() triggers context compaction",
    why="The conversation is the client's: a server can neither see it nor free it.",
    instead="Without arguments the tool gives what must survive, and says that nothing was freed. Send the messages "
    "as `conversation`, or use the client's own `/compact`: hooks bring the pins back afterwards.",
)
def _(pinned: Shop) -> None:
    with over_stdio(Served(pinned.root, pinned.env), "--toolset", "facts") as tools:
        alone = tools.data("memory_compact")
        assert alone["compacted"] is False
        assert "freed nothing" in alone["note"]
        assert PIN in alone["markdown"]
        done = tools.data("memory_compact", conversation=CONVERSATION)
        assert done["compacted"] is True
        assert PIN in json.dumps(done["messages"])


# -- design documents -----------------------------------------------------------------------

DOCUMENT = """---
id: {name}
title: The {name}
status: {status}
---
## Decisions
### Decision: The {name} comes first
**Status:** decided
**Rationale:** Without a {name} nothing moves.
## Open Questions
{question}
"""


def decide(shop: Shop, name: str, status: str = "decided", question: str = "") -> None:
    (shop.root / "docs").mkdir(exist_ok=True)
    (shop.root / f"docs/{name}.md").write_text(DOCUMENT.format(name=name, status=status, question=question))


@pytest.fixture
def drawing(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    return begun(tmp_path_factory.mktemp("documents"))


def ingest(shop: Shop) -> dict[str, Any]:
    with over_stdio(Served(shop.root, shop.env), "--toolset", "facts") as tools:
        done: dict[str, Any] = tools.data("memory_ingest_lifecycle")
    return done


@FACTS.holds(64, "memory_ingest_lifecycle(): batch-import of design-tree decisions")
def _(drawing: Shop) -> None:
    decide(drawing, "quay")
    decide(drawing, "mole")
    assert ingest(drawing)["counts"] == {"store": 2}


@FACTS.holds(65, "… persisted to the Decisions section")
def _(drawing: Shop) -> None:
    decide(drawing, "quay")
    drawing.done("facts", "ingest")
    (line,) = lines_of(drawing.file)
    assert (line["section"], line["artifact"]["path"]) == ("Decisions", "docs/quay.md")
    assert line["content"].startswith("The quay comes first — Without a quay nothing moves.")


@FACTS.holds(66, "taken in twice, nothing changes")
def _(drawing: Shop) -> None:
    decide(drawing, "quay")
    drawing.done("facts", "ingest")
    before = drawing.file.read_bytes()
    assert drawing.done("facts", "ingest")["counts"] == {"unchanged": 1}
    assert drawing.file.read_bytes() == before


@FACTS.holds(67, "… and resolved questions")
def _(drawing: Shop) -> None:
    decide(drawing, "quay", question="- How deep is it?")
    drawing.done("facts", "ingest")
    decide(drawing, "quay", question="- [x] How deep is it? Twelve metres at low water.")
    drawing.done("facts", "ingest")
    found = {line["content"]: line.get("status", "active") for line in lines_of(drawing.file)}
    assert found["OPEN [quay]: How deep is it? See docs/quay.md"] == "superseded"
    told = "ANSWERED [quay]: How deep is it? — Twelve metres at low water. See docs/quay.md"
    assert found[told] == "active"


def transition(status: str, drawing: Shop) -> None:
    decide(drawing, "quay", "exploring")
    (drawing.root / "docs/quay.md").write_text(
        (drawing.root / "docs/quay.md").read_text().replace("**Status:** decided", "**Status:** exploring")
    )
    assert drawing.done("facts", "ingest")["counts"] == {}
    decide(drawing, "quay", status)
    assert drawing.done("facts", "ingest")["counts"] == {"store": 1}


for place, status in enumerate(("resolved", "decided", "implementing")):
    FACTS.add(68 + place, f"a status transition to {status} persists the decision", partial(transition, status))


# -- episodes -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def closed(shop: Shop) -> dict[str, Any]:
    """A session that someone told of and closed."""
    words = ("--turns", "9", "--tool-calls", "31", "--title", "One queue for the mailer", "--started")
    told = "Goal: one queue. Decided to drop the second. First the worker, then the mailer. Bounces are untested."
    shop.done("facts", "session", "7c1e", *words, "2026-03-02T10:00:00Z", "--narrative", told, "--close")
    (line,) = [line for line in lines_of(shop.file) if line.get("session_id") == "7c1e"]
    return line


@FACTS.holds(71, "Session episodes: at session close, a template episode is written")
def _(closed: dict[str, Any]) -> None:
    assert closed["_type"] == "episode"


@FACTS.holds(72, "template episode: title")
def _(closed: dict[str, Any]) -> None:
    assert closed["title"] == "Session 2026-03-02: One queue for the mailer"


@FACTS.holds(73, "template episode: turn count")
def _(closed: dict[str, Any]) -> None:
    assert closed["turns"] == 9
    assert "9 turns" in closed["narrative"]


@FACTS.holds(74, "template episode: tool call count")
def _(closed: dict[str, Any]) -> None:
    assert closed["tool_calls_count"] == 31
    assert "31 tool calls" in closed["narrative"]


@FACTS.holds(75, "template episode: duration")
def _(closed: dict[str, Any]) -> None:
    assert closed["seconds"] == 79 * 60
    assert "1h 19m" in closed["narrative"]


@FACTS.holds(76, "tagged auto")
def _(closed: dict[str, Any]) -> None:
    assert closed["tags"] == ["auto"]


@FACTS.holds(77, "searchable via memory_episodes in future sessions")
def _(closed: dict[str, Any], tools: Asked) -> None:
    found = tools.data("memory_episodes", query="what happened with the mailer?")["results"]
    assert f"episode:{closed['id']}" in [item["ref"] for item in found]


@FACTS.holds(78, "Episodes capture goals, decisions, sequences, outcomes")
def _(closed: dict[str, Any]) -> None:
    assert all(word in closed["narrative"] for word in ("Goal:", "Decided", "First", "then", "untested"))


# -- operator commands ----------------------------------------------------------------------


@FACTS.holds(79, "/memory: stats of facts, episodes, working memory (`memory facts`)")
def _(pinned: Shop) -> None:
    said = pinned.memory("facts").out
    assert "Facts: 6 (6 active)" in said
    assert "Episodes: 0." in said
    assert "Working memory: 1 of 25 slots are pinned." in said


@FACTS.holds(80, "/note [text]: quick-capture a note (`memory note`)")
def _(pinned: Shop) -> None:
    assert pinned.memory("note", "look", "at", "the", "fenders").code == 0
    assert "look at the fenders" in pinned.memory("notes").out


@FACTS.holds(81, "/notes: show pending notes (`memory notes`)")
def _(pinned: Shop) -> None:
    pinned.memory("note", "paint the crane")
    assert "paint the crane" in pinned.memory("notes").out


@FACTS.holds(82, "/compact: trigger context compaction manually (`memory facts compact`)")
def _(pinned: Shop, tmp_path: Path) -> None:
    file = tmp_path / "talk.json"
    file.write_text(json.dumps({"messages": CONVERSATION}))
    done = pinned.done("facts", "compact", "--file", str(file))
    assert 0 < len(done["messages"]) < len(CONVERSATION)


# -- storage --------------------------------------------------------------------------------


@FACTS.holds(83, "git-tracked with merge=union in .gitattributes")
def _(pinned: Shop) -> None:
    assert pinned.git("check-attr", "merge", ".memory/facts.jsonl").strip().endswith("merge: union")
    assert ".memory/facts.jsonl" in pinned.git("ls-files").split()


@FACTS.holds(84, "SQLite databases are gitignored")
def _(pinned: Shop) -> None:
    databases = list(pinned.root.rglob("*.sqlite"))
    assert databases
    for path in databases:
        assert pinned.git("check-ignore", str(path.relative_to(pinned.root)))


@FACTS.holds(85, "rebuilt from the JSONL source of truth")
def _(pinned: Shop) -> None:
    before = pinned.recalled("who moors without a pilot?")
    assert PIN in [item["content"] for item in before]
    shutil.rmtree(pinned.root / ".memory/index")
    assert [item["id"] for item in pinned.recalled("who moors without a pilot?")] == [item["id"] for item in before]


@pytest.fixture(scope="module")
def merged(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """Two branches: each adds a fact, one archives what the other leaves alone."""
    shop = begun(tmp_path_factory.mktemp("merge"))
    old = shop.store("Known Issues", "The old gate jams.")
    shop.git.commit("base")
    shop.git("checkout", "--quiet", "-b", "theirs")
    shop.store("Specs", "Theirs: a fender lasts five years.")
    shop.git.commit("theirs")
    shop.git("checkout", "--quiet", "main")
    shop.store("Specs", "Ours: a rope lasts two years.")
    shop.done("facts", "archive", old, "--reason", "the gate was replaced")
    shop.git.commit("ours")
    shop.git("merge", "--quiet", "--no-edit", "theirs")
    return shop


@FACTS.holds(86, "multiple branches add facts without merge conflicts")
def _(merged: Shop) -> None:
    assert {item["content"] for item in merged.done("facts", "list")["results"]} == {
        "Theirs: a fender lasts five years.",
        "Ours: a rope lasts two years.",
    }


@FACTS.holds(87, "what is archived stays archived after a merge")
def _(merged: Shop) -> None:
    assert "The old gate jams." in json.dumps(merged.done("facts", "search-archive", "gate jams"))


# -- by themselves --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hooked(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """A session that ended and a document that was decided in it; hooks alone were run, and a week went by."""
    shop = begun(tmp_path_factory.mktemp("hooks"))
    (shop.root / "src").mkdir()
    (shop.root / "src/queue.py").write_text("LIMIT = 1\n")
    shop.git.commit("code")
    hooks = Hooks(shop.root, {**shop.env, "MEMORY_NOW": "2026-03-09T11:19:00+00:00"})
    held = Recording(Path(shop.env["HOME"]), shop.root)
    hooks("claude", "session-start", stdin=held.payload("SessionStart", source="startup"))
    held.user("The queue loses messages. Please look.").agent("The limit is too low.", edits="src/queue.py")
    held.user("Thanks.").agent("You are welcome.")
    decide(shop, "quay")
    hooks("claude", "session-end", stdin=held.payload("SessionEnd", reason="exit"))
    assert left_behind(hooks, 60) == []
    return shop


def episode(shop: Shop) -> dict[str, Any]:
    (line,) = [line for line in lines_of(shop.file) if line["_type"] == "episode"]
    return line


@FACTS.holds(88, "Lifecycle decisions are persisted automatically; no memory_store call needed")
def _(hooked: Shop) -> None:
    (fact,) = [line for line in lines_of(hooked.file) if line["_type"] == "fact"]
    assert (fact["section"], fact["source"]) == ("Decisions", "lifecycle:design-decision")
    assert fact["content"].startswith("The quay comes first")


@FACTS.holds(89, "Session episodes: at session close, a template episode is written automatically")
def _(hooked: Shop) -> None:
    line = episode(hooked)
    assert line["tags"] == ["auto"]
    found = hooked.done("facts", "episodes", "the queue loses messages")["results"]
    assert [item["ref"] for item in found] == [f"episode:{line['id']}"]


@FACTS.holds(90, "… with title, turn count, tool call count and duration of the session itself")
def _(hooked: Shop) -> None:
    line = episode(hooked)
    assert line["title"] == "Session 2026-03-02: The queue loses messages"
    assert (line["date"], line["turns"], line["tool_calls_count"], line["seconds"]) == ("2026-03-02", 4, 1, 240)
    assert line["narrative"].startswith("Session on 2026-03-02: 4 turns, 1 tool call, 4m 0s.")


@FACTS.differs(
    91,
    "Operator commands /memory, /compact, /note, /notes",
    why="`/memory` and `/compact` are commands of several clients themselves.",
    instead="`memory integrate` installs `/memory-stats`, `/note` and `/notes`; the client's own `/compact` compacts. "
    "The commands `memory facts`, `memory note` and `memory notes` work everywhere.",
)
def _(hooked: Shop) -> None:
    hooked.done("integrate", "claude")
    folder = hooked.root / ".claude/commands"
    assert sorted(path.name for path in folder.iterdir()) == ["memory-stats.md", "note.md", "notes.md"]
    assert "`memory note -`" in (folder / "note.md").read_text()
    hooked.done("integrate", "claude", "--remove")
    assert not folder.exists()


@FACTS.differs(
    92,
    "Pinned facts: priority injection into every turn",
    why="What was sent stays in the agent's context; sent again with every prompt it would fill it.",
    instead="Hooks send pins when a session starts and after every compaction. `memory facts context` puts them first "
    "for any turn.",
)
def _(pinned: Shop) -> None:
    hooks = Hooks(pinned.root, pinned.env)
    assert PIN in hooks.said("claude", "session-start", session_id="turns", source="startup")
    assert PIN not in hooks.said("claude", "prompt", session_id="turns", prompt="how is the crane painted?")
    assert PIN in pinned.context("how is the crane painted?")


@FACTS.differs(
    93,
    "Facts are stored in the project's memory directory (`ai/memory/` of the original)",
    why="Quire keeps all layers in `.memory/`, and does not write into folders of another program.",
    instead="`memory facts`, `init`, `import` and `status` name such a file; `memory facts import` brings it in.",
)
def _(drawing: Shop) -> None:
    file = drawing.root / "ai/memory/facts.jsonl"
    file.parent.mkdir(parents=True)
    line = {"_type": "fact", "id": "a1b2c3d4e5f6", "mind": "default", "section": "Specs", "content": "Buoys are red."}
    file.write_text(json.dumps({**line, "status": "active", "created_at": "2026-03-01T09:00:00.000Z"}) + "\n")
    said = drawing.memory("facts")
    assert "`memory facts import ai/memory/facts.jsonl`" in said.err
    assert drawing.memory("facts", "import", "ai/memory/facts.jsonl").code == 0
    assert drawing.memory("facts").err == ""
    assert drawing.line("a1b2c3d4e5f6")["content"] == "Buoys are red."


@FACTS.holds(94, "Working memory survives compaction (hooks)")
def _(pinned: Shop) -> None:
    hooks = Hooks(pinned.root, pinned.env)
    hooks.said("claude", "session-start", session_id="compacted", source="startup")
    assert PIN in hooks.said("claude", "after-compaction", session_id="compacted", source="compact")


# -- files of the original ------------------------------------------------------------------


def original(name: str, content: str, **fields: Any) -> dict[str, Any]:
    """A line as the original writes it."""
    return {
        "_type": "fact",
        "id": name,
        "mind": "default",
        "section": "Architecture",
        "content": content,
        "status": "active",
        "created_at": "2026-03-01T09:00:00.000Z",
        "source": "manual",
        "supersedes": None,
        **fields,
    }


def write(shop: Shop, lines: list[dict[str, Any]]) -> None:
    shop.file.write_text("".join(json.dumps(line) + "\n" for line in lines))


@FACTS.differs(
    95,
    "merges of the original's lines",
    why="The original puts a fact away by dropping its line. If the other branch changed that line, a union merge "
    "brings it back, and nothing in the file tells that it was dropped.",
    instead="Archive it with Quire: the line stays, and wins over a change on another branch.",
)
def _(drawing: Shop) -> None:
    base = [original(f"fact{number:08}", f"Fact number {number}.") for number in range(6)]
    changed = [
        original("fact00000002", "Fact number 2, said better.", reinforcement_count=2) if one["id"][-1] == "2" else one
        for one in base
    ]
    write(drawing, base)
    drawing.memory("facts", "store", "Specs", "So that git merges the lines.")
    drawing.git.commit("base")
    for branch, lines in (("dropped", [one for one in base if one["id"][-1] != "2"]), ("changed", changed)):
        drawing.git("checkout", "--quiet", "-b", branch, "main")
        rest = [line for line in lines_of(drawing.file) if line["content"].startswith("So that")]
        write(drawing, [*lines, *rest])
        drawing.git.commit(branch)
    drawing.git("checkout", "--quiet", "-b", "archived", "main")
    drawing.done("facts", "archive", "fact00000002")
    drawing.git.commit("archived")
    drawing.git("merge", "--quiet", "--no-edit", "changed")
    assert "said better" not in drawing.memory("facts", "list").out
    drawing.git("checkout", "--quiet", "dropped")
    drawing.git("merge", "--quiet", "--no-edit", "changed")
    assert "Fact number 2, said better." in drawing.memory("facts", "list").out


WORN = (
    ("Architecture", 1, 0, 1.0),
    ("Architecture", 1, 7, 0.7071),
    ("Architecture", 1, 14, 0.5),
    ("Decisions", 1, 28, 0.25),
    ("Decisions", 2, 25.2, 0.5),
    ("Constraints", 3, 45.36, 0.5),
    ("Constraints", 5, 90, 0.5),
    ("Known Issues", 88, 90, 0.5),
    ("Recent Work", 1, 2, 0.5),
    ("Recent Work", 9, 2, 0.5),
    ("Recent Work", 1, 4, 0.25),
    ("Specs", 1, 400, 1.0),
)
"""Section, how often it was confirmed, days since, and what is left of a confidence of 1."""


@FACTS.holds(96, "confidence fades as in the original: 14 days, longer with each confirmation, 90 at most")
def _(drawing: Shop) -> None:
    now = datetime.fromisoformat(NOW)
    lines = []
    for number, (section, count, days, _left) in enumerate(WORN):
        at = (now - timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        worn = {"section": section, "reinforcement_count": count, "last_reinforced": at, "confidence": 1.0}
        lines.append(original(f"worn{number:08}", f"Worn fact number {number}.", **worn))
    write(drawing, lines)
    found = {item["id"]: item["confidence"] for item in drawing.done("facts", "list")["results"]}
    for number, (_section, _count, _days, left) in enumerate(WORN):
        assert found[f"worn{number:08}"] == pytest.approx(left, abs=0.001), WORN[number]


@FACTS.holds(97, "content hash: the original's rule for texts that are the same")
def _(drawing: Shop) -> None:
    name = drawing.store("Architecture", "Uses SQLite WAL")
    assert drawing.line(name)["content_hash"] == "cf4d96e1bcf5db2f"
    for same in ("- uses sqlite wal", "-Uses   SQLite\tWAL", "\u00a0Uses SQLite WAL"):
        run = drawing.memory("facts", "store", "--json", "--", "Architecture", same)
        assert run.data["fact"]["id"] == name, same
    assert drawing.store("Architecture", "Uses SQLite, WAL") != name


@FACTS.holds(98, "memory_release clears working memory")
def _(shop: Shop, tools: Asked) -> None:
    name = stored(tools, "Constraints", "Anchors are never dropped in the fairway.")
    tools.data("memory_focus", fact_ids=[name])
    assert "Anchors are never dropped" in shop.context("ok")
    assert tools.data("memory_release")["pins"] == []
    assert "Anchors are never dropped" not in shop.context("ok")


# -- all of them ----------------------------------------------------------------------------


@pytest.mark.parametrize("row", FACTS.rows, ids=str)
def test_statement(row: Row, request: pytest.FixtureRequest) -> None:
    row.check(request)


def test_every_statement_is_tried_once() -> None:
    FACTS.check_numbers()
