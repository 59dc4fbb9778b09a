"""The reference of the graph: every statement, tried."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tarfile
from collections.abc import Iterator
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from graph_here import Project, begun
from jsonschema import Draft202012Validator
from mcp_here import Asked, over_stdio
from page_here import viewing
from seeds_table import Row, Table

from installed import Memory

GRAPH = Table("graph")
EXAMPLE = {
    "task": "Ship retry handling for Stripe webhooks",
    "nodes": [
        {
            "id": "feature.webhook-retry-queue",
            "kind": "feature",
            "title": "Webhook retry queue",
            "body": "Failed Stripe webhooks re-enter a worker-owned retry queue.",
            "stage": "building",
            "anchors": ["services/billing/src/webhooks/"],
            "tags": ["billing"],
            "related": [{"predicate": "depends_on", "to": "feature.billing-worker", "confidence": "high"}],
        }
    ],
    "stale": [{"id": "gotcha.old-retry-loop", "reason": "fixed by the new queue"}],
    "supersede": [
        {
            "id": "decision.inline-retries",
            "superseded_by": "decision.retries-run-in-worker",
            "reason": "moved to worker",
        }
    ],
    "delete": [{"id": "question.retry-owner", "reason": "answered"}],
}
QUEUE, WORKER = "feature.webhook-retry-queue", "feature.billing-worker"
ID = re.compile(r"^[a-z][a-z0-9_]*\.[a-z0-9][a-z0-9-]*$")
SCHEMAS = ("config", "object", "relation", "event", "patch")


def node(kind: str, title: str, **fields: Any) -> dict[str, Any]:
    return {"kind": kind, "title": title, "body": f"{title}, in a sentence.", **fields}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A memory to which the example was saved, as it stands in the reference."""
    project = begun(tmp_path_factory, "my-repo")
    project.put("services/billing/src/webhooks/queue.ts", "export const queue = [];\n")
    project.git.commit()
    project.save(
        node("feature", "Billing worker", stage="shipped"),
        node("gotcha", "Old retry loop"),
        node("decision", "Inline retries"),
        node("decision", "Retries run in worker"),
        node("question", "Retry owner"),
        node("question", "Who pays"),
        {"id": "project.my-repo", "body": "Invoices for marinas. Nothing else is sold."},
    )
    said = project("save", "--stdin", "--json", stdin=json.dumps(EXAMPLE))
    assert said.code == 0, said.out
    project.git.commit()
    return project


@pytest.fixture(scope="module")
def tool(made: Project) -> Iterator[Asked]:
    """The MCP server in that project."""
    with over_stdio(made.here) as client:
        yield client


# -- kinds and ids -----------------------------------------------------------------------------


@GRAPH.holds(1, "project: one per repo, created by memory init")
def _(made: Project) -> None:
    kinds = [json.loads(path.read_bytes())["type"] for path in (made.memory / "memory").glob("*.json")]
    assert kinds.count("project") == 1
    first = made.events()[0]
    assert (first["event"], first["id"], first["actor"]) == ("memory.created", "project.my-repo", "system")


def kind_is_saved(kind: str, made: Project) -> None:
    name = f"{kind}.kept-{kind}"
    assert made.save(node(kind, f"Kept {kind}"))["memory_created"] == [name]
    assert made.node(name)["type"] == kind


for number, kind in enumerate(("feature", "decision", "gotcha", "question"), start=2):
    GRAPH.add(number, f"memory save accepts node kind {kind}", partial(kind_is_saved, kind))


@GRAPH.holds(6, "save accepts feature, decision, gotcha and question; project is refused")
def _(made: Project) -> None:
    assert "nodes.0.kind" in made.refused(node("project", "Second"))


@GRAPH.holds(7, "Object types are project, feature, decision, gotcha, and question; others are refused")
def _(made: Project) -> None:
    assert "nodes.0.kind" in made.refused(node("widget", "Widget"))
    path, _ = made.found(WORKER)
    with made.edited(path, type="widget"):
        assert made.errors() != []


@GRAPH.holds(8, "the project node is updated by id")
def _(made: Project) -> None:
    _, fields = made.found("project.my-repo")
    assert (made.memory / fields["body_path"]).read_text(encoding="utf-8").startswith("Invoices for marinas.")
    assert made.save({"id": "project.my-repo", "tags": ["boats"]})["memory_updated"] == ["project.my-repo"]


@GRAPH.holds(9, "its title and first body sentence head the generated product map")
def _(made: Project) -> None:
    lines = [line for line in made.map().splitlines() if line]
    assert lines[2] == "**My Repo** — Invoices for marinas."


@GRAPH.holds(10, "A node with an id that is not there yet is a create, with that id")
def _(made: Project) -> None:
    told = {**node("gotcha", "Another title"), "id": "gotcha.given-id"}
    assert made.save(told)["memory_created"] == ["gotcha.given-id"]


@GRAPH.holds(11, "Questions use open/closed: a new one is open")
def _(made: Project) -> None:
    assert made.node("question.who-pays")["status"] == "open"


@GRAPH.holds(12, "memory save --stdin takes the intent JSON: the example as it stands")
def _(made: Project) -> None:
    again = made("save", "--stdin", "--json", stdin=json.dumps(EXAMPLE))
    assert (again.code, again.data["events_appended"]) == (0, 0)
    fields = made.node(QUEUE)
    assert (fields["title"], fields["stage"], fields["tags"]) == ("Webhook retry queue", "building", ["billing"])


@GRAPH.holds(13, "Examples of ids: feature.webhook-retry-queue, decision.retries-run-in-worker")
def _(made: Project) -> None:
    for name in (QUEUE, "decision.retries-run-in-worker"):
        assert made.data("inspect", name)["object"]["id"] == name


@GRAPH.holds(14, "Object ids are kind.slug, matching the expression")
def _(made: Project) -> None:
    for path in (made.memory / "memory").glob("*.json"):
        fields = json.loads(path.read_bytes())
        assert ID.match(fields["id"])
        assert fields["id"].partition(".")[0] == fields["type"]


@GRAPH.holds(15, "ids that do not match the expression are refused")
def _(made: Project) -> None:
    for name in ("Feature.x", "feature.X", "feature", "feature.", "feature.a_b", "1x.a"):
        assert "nodes.0.id" in made.refused({**node("feature", "Bad"), "id": name}), name


@GRAPH.holds(16, "an id of another kind is refused")
def _(made: Project) -> None:
    assert "nodes.0" in made.refused({**node("feature", "Bad"), "id": "gotcha.bad"})


# -- sidecars ----------------------------------------------------------------------------------

FIELDS: dict[str, Any] = {
    "id": QUEUE,
    "type": "feature",
    "status": "active",
    "title": "Webhook retry queue",
    "body_path": "memory/webhook-retry-queue.md",
    "stage": "building",
    "anchors": ["services/billing/src/webhooks/"],
    "tags": ["billing"],
    "source": {"kind": "agent", "task": EXAMPLE["task"]},
    "content_hash": str,
    "created_at": "2026-03-02T11:19:00+00:00",
    "updated_at": "2026-03-02T11:19:00+00:00",
}


def field_is_kept(name: str, made: Project) -> None:
    value = made.node(QUEUE)[name]
    wanted = FIELDS[name]
    if name == "source":
        value = {key: value[key] for key in wanted}
    assert isinstance(value, wanted) if isinstance(wanted, type) else value == wanted


for number, name in enumerate(FIELDS, start=17):
    GRAPH.add(number, f"Sidecar fields: {name}", partial(field_is_kept, name))


@GRAPH.holds(29, "body_path: relative path of the Markdown body")
def _(made: Project) -> None:
    body = made.memory / made.node(QUEUE)["body_path"]
    assert body.read_text(encoding="utf-8") == EXAMPLE["nodes"][0]["body"]  # type: ignore[index]


@GRAPH.holds(30, "anchors: repo-relative path globs")
def _(made: Project) -> None:
    made.put("web/src/deep/view.ts", "export const view = 1;\n")
    made.save(node("gotcha", "Views flicker", anchors=["web/src/**/*.ts"]))
    found = made.data("query", "--path", "web/src/deep/view.ts")
    assert found["included_ids"] == ["gotcha.views-flicker"]
    assert made.data("query", "--path", "services/billing/src/webhooks/queue.ts")["included_ids"] == [QUEUE]


@GRAPH.holds(31, "content_hash: SHA-256 of the body")
def _(made: Project) -> None:
    for path in (made.memory / "memory").glob("*.json"):
        fields = json.loads(path.read_bytes())
        body = (made.memory / fields["body_path"]).read_bytes()
        assert fields["content_hash"] == f"sha256:{hashlib.sha256(body).hexdigest()}"


@GRAPH.holds(32, "created_at / updated_at: ISO date-times")
def _(made: Project) -> None:
    fields = made.node(QUEUE)
    for name in ("created_at", "updated_at"):
        assert datetime.fromisoformat(fields[name]).utcoffset() is not None


@GRAPH.holds(33, "source: {kind, task?, commit?}")
def _(made: Project) -> None:
    source = made.node(QUEUE)["source"]
    assert {"kind", "task"} <= set(source) <= {"kind", "task", "commit"}


def source_is_kept(kind: str, made: Project) -> None:
    made.save(node("gotcha", f"Told by {kind}"), line=("--actor", kind))
    assert made.node(f"gotcha.told-by-{kind}")["source"]["kind"] == kind


for number, kind in enumerate(("agent", "user", "cli", "mcp", "system"), start=34):
    GRAPH.add(number, f"source kind {kind}", partial(source_is_kept, kind))

# -- relations, retiring, events -------------------------------------------------------------------


@GRAPH.holds(39, "relations/<slug>.json")
def _(made: Project) -> None:
    name = "feature-webhook-retry-queue-depends-on-feature-billing-worker"
    assert json.loads((made.memory / f"relations/{name}.json").read_bytes())["id"] == f"rel.{name}"


@GRAPH.holds(40, "related entries create relations from this node")
def _(made: Project) -> None:
    _, fields = made.relation(QUEUE, "depends_on", WORKER)
    assert fields["confidence"] == "high"
    assert made.data("inspect", WORKER)["relations"]["incoming"][0]["from"] == QUEUE


@GRAPH.holds(41, "Relation statuses: active for a new one")
def _(made: Project) -> None:
    assert made.relation(QUEUE, "depends_on", WORKER)[1]["status"] == "active"


@GRAPH.holds(42, "stale: [{id, reason}] makes the status stale")
def _(made: Project) -> None:
    assert made.node("gotcha.old-retry-loop")["status"] == "stale"


@GRAPH.holds(43, "supersede makes the status superseded")
def _(made: Project) -> None:
    assert made.node("decision.inline-retries")["status"] == "superseded"


@GRAPH.holds(44, "superseded_by: set when status is superseded")
def _(made: Project) -> None:
    assert made.node("decision.inline-retries")["superseded_by"] == "decision.retries-run-in-worker"
    assert "superseded_by" not in made.node("decision.retries-run-in-worker")


@GRAPH.holds(45, "delete removes the node")
def _(made: Project) -> None:
    assert made("inspect", "question.retry-owner").code == 1
    assert not list((made.memory / "memory").glob("retry-owner.*"))


EVENTS = {
    "memory.created": QUEUE,
    "memory.updated": "project.my-repo",
    "memory.marked_stale": "gotcha.old-retry-loop",
    "memory.superseded": "decision.inline-retries",
    "memory.deleted": "question.retry-owner",
}


def event_is_written(name: str, made: Project) -> None:
    assert EVENTS[name] in [event["id"] for event in made.events() if event["event"] == name]


for number, name in enumerate(EVENTS, start=46):
    GRAPH.add(number, f"Events: {name}", partial(event_is_written, name))


@GRAPH.holds(51, "Events: relation.created")
def _(made: Project) -> None:
    created = [event["relation_id"] for event in made.events() if event["event"] == "relation.created"]
    assert "rel.feature-webhook-retry-queue-depends-on-feature-billing-worker" in created


@GRAPH.holds(52, "the event of a stale node carries the reason")
def _(made: Project) -> None:
    (event,) = [event for event in made.events() if event["event"] == "memory.marked_stale"][:1]
    assert event["reason"] == "fixed by the new queue"


@GRAPH.holds(53, "Events: relation.updated")
def _(made: Project) -> None:
    made.save({"id": QUEUE, "related": [{"predicate": "depends_on", "to": WORKER, "confidence": "low"}]})
    assert made.events()[-1]["event"] == "relation.updated"
    assert made.relation(QUEUE, "depends_on", WORKER)[1]["confidence"] == "low"


@GRAPH.holds(54, "Events: relation.deleted")
def _(made: Project) -> None:
    made.save(node("gotcha", "Loose end", related=[{"predicate": "affects", "to": WORKER}]))
    made.save({"id": "gotcha.loose-end", "unrelated": [{"predicate": "affects", "to": WORKER}]})
    assert made.events()[-1]["event"] == "relation.deleted"
    assert made.data("inspect", "gotcha.loose-end")["relations"]["outgoing"] == []


@GRAPH.differs(
    55,
    "Events: index.rebuilt",
    why="The index belongs to one machine and is made again by itself; a line in a shared log for each would conflict.",
    instead="`memory rebuild --json` says `index_rebuilt`; a log that has the event stays valid.",
)
def _(made: Project) -> None:
    before = (made.memory / "events.jsonl").read_bytes()
    done = made.data("rebuild")
    assert (done["index_rebuilt"], done["event_appended"]) == (True, False)
    assert (made.memory / "events.jsonl").read_bytes() == before


@GRAPH.holds(56, "index.rebuilt is a canonical event: a log with it is valid")
def _(made: Project) -> None:
    log = made.memory / "events.jsonl"
    before = log.read_bytes()
    for name, errors in (("index.rebuilt", []), ("index.broken", ["EventJsonlInvalid"])):
        line = {"actor": "agent", "event": name, "timestamp": "2026-03-02T11:19:00+00:00"}
        log.write_bytes(before + json.dumps(line).encode() + b"\n")
        assert made.errors() == errors
    log.write_bytes(before)


def predicate_is_saved(predicate: str, made: Project) -> None:
    name = predicate.replace("_", "-")
    made.save(node("gotcha", f"Tied by {name}", related=[{"predicate": predicate, "to": WORKER}]))
    assert made.relation(f"gotcha.tied-by-{name}", predicate, WORKER)[1]["status"] == "active"


for number, predicate in enumerate(("affects", "depends_on", "supersedes", "related_to"), start=57):
    GRAPH.add(number, f"Predicates: {predicate}", partial(predicate_is_saved, predicate))


@GRAPH.holds(61, "Predicates: any other is refused")
def _(made: Project) -> None:
    told = node("gotcha", "Tied wrongly", related=[{"predicate": "blocks", "to": WORKER}])
    assert "nodes.0.related.0.predicate" in made.refused(told)


def confidence_is_saved(word: str, made: Project) -> None:
    link = {"predicate": "affects", "to": WORKER, "confidence": word}
    made.save(node("decision", f"Sure to a {word} degree", related=[link]))
    assert made.relation(f"decision.sure-to-a-{word}-degree", "affects", WORKER)[1]["confidence"] == word


for number, word in enumerate(("low", "medium", "high"), start=62):
    GRAPH.add(number, f"Optional confidence: {word}", partial(confidence_is_saved, word))


@GRAPH.holds(65, "confidence: any other is refused")
def _(made: Project) -> None:
    link = {"predicate": "affects", "to": WORKER, "confidence": "certain"}
    assert "nodes.0.related.0.confidence" in made.refused(node("gotcha", "Too sure", related=[link]))


def relation_status_is_read(status: str, errors: bool, made: Project) -> None:
    path, _ = made.relation(QUEUE, "depends_on", WORKER)
    with made.edited(path, status=status):
        assert bool(made.errors()) == errors
        if not errors:
            assert made.data("inspect", QUEUE)["relations"]["outgoing"][0]["status"] == status


GRAPH.add(66, "Relation statuses: stale is valid in a file", partial(relation_status_is_read, "stale", False))
GRAPH.add(67, "Relation statuses: rejected is valid in a file", partial(relation_status_is_read, "rejected", False))
GRAPH.add(68, "Relation statuses: any other is an error", partial(relation_status_is_read, "maybe", True))

# -- statuses and stages -----------------------------------------------------------------------


@GRAPH.holds(69, "Object statuses: closed")
def _(made: Project) -> None:
    made.save({"id": "question.who-pays", "status": "closed"})
    assert made.node("question.who-pays")["status"] == "closed"
    assert "question.who-pays" not in made.map()


@GRAPH.holds(70, "Object statuses: open")
def _(made: Project) -> None:
    made.save({"id": "question.who-pays", "status": "open"})
    assert made.node("question.who-pays")["status"] == "open"
    assert "question.who-pays" in made.map()


@GRAPH.holds(71, "other kinds use active/stale/superseded: open is refused for a decision")
def _(made: Project) -> None:
    assert "nodes.0.status" in made.refused({"id": "decision.retries-run-in-worker", "status": "open"})


@GRAPH.holds(72, "Object statuses: active, also again")
def _(made: Project) -> None:
    made.save(node("gotcha", "Comes back"))
    made.save(stale=[{"id": "gotcha.comes-back", "reason": "thought so"}])
    made.save({"id": "gotcha.comes-back", "status": "active"})
    assert made.node("gotcha.comes-back")["status"] == "active"


def stage_is_saved(stage: str, made: Project) -> None:
    made.save(node("feature", f"Part in stage {stage}", stage=stage))
    assert made.node(f"feature.part-in-stage-{stage}")["stage"] == stage
    assert f"Part in stage {stage}" in made.data("status")["features_by_stage"][stage]["titles"]


for number, stage in enumerate(("idea", "building", "shipped", "paused", "dead"), start=73):
    GRAPH.add(number, f"stage: {stage}", partial(stage_is_saved, stage))


@GRAPH.holds(78, "stage: any other is refused")
def _(made: Project) -> None:
    assert "nodes.0.stage" in made.refused(node("feature", "Soon", stage="soon"))


@GRAPH.holds(79, "stage is feature-only")
def _(made: Project) -> None:
    assert "nodes.0.stage" in made.refused(node("decision", "Staged", stage="idea"))


@GRAPH.holds(80, "The product map groups features by stage")
def _(made: Project) -> None:
    made.save(node("feature", "On the map", stage="paused"), node("feature", "Also there", stage="shipped"))
    shown = made.map()
    order = [shown.index(f"**{title}**") for title in ("Building", "Shipped", "Paused")]
    assert order == sorted(order)
    assert order[0] < shown.index(QUEUE) < order[1] < shown.index("feature.also-there") < order[2]
    assert shown.index("feature.on-the-map") > order[2]


@GRAPH.holds(81, "... and excludes dead features")
def _(made: Project) -> None:
    made.save(node("feature", "Long gone", stage="dead"))
    assert "long-gone" not in made.map()


# -- the rest of a node --------------------------------------------------------------------------


@GRAPH.holds(82, "tags: unique; a second one is dropped")
def _(made: Project) -> None:
    made.save(node("gotcha", "Tagged", tags=["one", "two", "one"]))
    assert made.node("gotcha.tagged")["tags"] == ["one", "two"]


@GRAPH.holds(83, "tags: non-empty; an empty one is refused")
def _(made: Project) -> None:
    assert "nodes.0.tags.0" in made.refused(node("gotcha", "Tagged badly", tags=[""]))


@GRAPH.holds(84, "evidence {kind, id} by a save")
def _(made: Project) -> None:
    made.save(node("decision", "Proven", evidence=[{"kind": "task", "id": "T-17"}]))
    assert {"kind": "task", "id": "T-17"} in made.node("decision.proven")["evidence"]


def evidence_is_read(kind: str, is_known: bool, made: Project) -> None:
    path, _ = made.found(WORKER)
    with made.edited(path, evidence=[{"kind": kind, "id": "something"}]):
        assert (made.errors() == []) == is_known


for number, kind in enumerate(("memory", "relation", "file", "commit", "task", "source"), start=85):
    GRAPH.add(number, f"evidence kind {kind} is valid in a sidecar", partial(evidence_is_read, kind, True))
GRAPH.add(91, "evidence: any other kind is an error", partial(evidence_is_read, "rumour", False))


@GRAPH.holds(92, "origin {kind, locator, captured_at?, digest?, media_type?}")
def _(made: Project) -> None:
    origin = {
        "kind": "url",
        "locator": "https://example.com/adr/7",
        "captured_at": "2026-03-01T09:00:00+00:00",
        "digest": f"sha256:{'a' * 64}",
        "media_type": "text/html",
    }
    made.save(node("decision", "From elsewhere", origin=origin))
    assert made.node("decision.from-elsewhere")["origin"] == origin


# -- the intent ------------------------------------------------------------------------------------


@GRAPH.holds(93, "task is required")
def _(made: Project) -> None:
    assert "task" in made.refused(nodes=[node("gotcha", "No task")])


@GRAPH.differs(
    94,
    "nodes, stale, supersede, and delete are optional arrays: a task alone",
    why="Each of them may be left out, but an intent that asks for nothing at all is a mistake.",
    instead="Give at least one entry in any of them, or in `confirm`.",
)
def _(made: Project) -> None:
    assert made.refused(task="nothing").startswith("nodes|stale|supersede|delete")
    for name in ("stale", "supersede", "delete"):
        assert "issues" not in made.save(node("gotcha", "Old retry loop two"), **{name: []})


def part_is_required(part: str, made: Project) -> None:
    told = node("gotcha", "Incomplete")
    del told[part]
    assert f"nodes.0.{part}" in made.refused(told)


for number, part in enumerate(("kind", "title", "body"), start=95):
    GRAPH.add(number, f"{part} is required on create", partial(part_is_required, part))


@GRAPH.holds(98, "an id that resolves to an existing object is an update; what is not given stays")
def _(made: Project) -> None:
    made.save(node("feature", "Partly changed", stage="idea", tags=["kept"]))
    done = made.save({"id": "feature.partly-changed", "stage": "building"})
    assert (done["memory_created"], done["memory_updated"]) == ([], ["feature.partly-changed"])
    fields = made.node("feature.partly-changed")
    assert (fields["title"], fields["tags"], fields["stage"]) == ("Partly changed", ["kept"], "building")


@GRAPH.holds(99, "--dry-run validates and plans without writing")
def _(made: Project) -> None:
    before = made.files()
    done = made.save(node("gotcha", "Only planned"), line=("--dry-run",))
    assert (done["dry_run"], done["memory_created"]) == (True, ["gotcha.only-planned"])
    assert made.files() == before


@GRAPH.holds(100, "--dry-run refuses what the save refuses")
def _(made: Project) -> None:
    line = json.dumps({"task": "t", "nodes": [node("gotcha", "Bad", stage="idea")]})
    dry, real = (made("save", "--stdin", "--json", *more, stdin=line).error for more in (("--dry-run",), ()))
    assert dry == real


@GRAPH.holds(101, "Every successful save refreshes the product map")
def _(made: Project) -> None:
    assert "feature.seen-at-once" not in made.map()
    made.save(node("feature", "Seen at once", stage="building"))
    assert "feature.seen-at-once" in made.map()


@GRAPH.holds(102, "Every successful save rebuilds the index")
def _(made: Project) -> None:
    made.save({**node("gotcha", "Clocks"), "body": "Daylight shifts the xylophone schedule by an hour."})
    assert "gotcha.clocks" in made.data("query", "xylophone schedule")["included_ids"]


@GRAPH.holds(103, "the save_memory MCP tool takes the same intent JSON")
def _(made: Project, tool: Asked) -> None:
    done = tool.data("save_memory", task="by a tool", nodes=[node("gotcha", "Told over MCP")])
    assert done["memory_created"] == ["gotcha.told-over-mcp"]
    assert made.node("gotcha.told-over-mcp")["title"] == "Told over MCP"


@GRAPH.holds(104, "save_memory takes the example as it stands")
def _(made: Project, tool: Asked) -> None:
    done = tool.data("save_memory", **EXAMPLE)
    assert QUEUE in [*done["memory_updated"], *done["unchanged"]]
    assert made.relation(QUEUE, "depends_on", WORKER)[1]["confidence"] == "high"


@GRAPH.holds(105, "save_memory writes a source of a valid kind")
def _(made: Project, tool: Asked) -> None:
    tool.data("save_memory", task="by a tool", nodes=[node("gotcha", "Source over MCP")])
    assert made.node("gotcha.source-over-mcp")["source"] == {"kind": "mcp", "task": "by a tool"}


# -- configuration and versions -----------------------------------------------------------------


def config(made: Project) -> Any:
    return json.loads((made.memory / "config.json").read_bytes())


@GRAPH.holds(106, "config.json: version 5")
def _(made: Project) -> None:
    assert config(made)["version"] == 5


@GRAPH.holds(107, "config.json: project {id, name}")
def _(made: Project) -> None:
    assert set(config(made)["project"]) == {"id", "name"}


@GRAPH.holds(108, "config.json: memory {defaultTokenBudget: 2000, autoIndex: true}")
def _(made: Project) -> None:
    assert config(made)["memory"] == {"defaultTokenBudget": 2000, "autoIndex": True}


@GRAPH.holds(109, "the project's id is project.my-repo, from the folder")
def _(made: Project) -> None:
    assert config(made)["project"]["id"] == f"project.{made.root.name}" == "project.my-repo"


@GRAPH.holds(110, '"project": { "id": "project.my-repo", "name": "My Repo" }')
def _(made: Project) -> None:
    assert config(made)["project"] == {"id": "project.my-repo", "name": "My Repo"}
    assert made.data("status")["project"] == config(made)["project"]


def version_is_refused(version: Any, made: Project) -> None:
    before = made.files()
    with made.edited(made.memory / "config.json", version=version):
        for line in (("status",), ("query", "retries"), ("check",), ("sync",), ("save", "--stdin"), ("rebuild",)):
            said = made(*line, "--json", stdin=json.dumps({"task": "t", "nodes": [node("gotcha", "No")]}))
            assert (said.code, said.error["code"]) == (3, "MemoryUnsupportedStorageVersion")
    assert made.files() == before


for number, version in ((111, 4), (112, 6), (113, "5")):
    text = f"Memory refuses to operate on storage with a different version ({version!r})"
    GRAPH.add(number, text, partial(version_is_refused, version))


@GRAPH.holds(114, "recovery is memory reset then memory init: the error says so")
def _(made: Project) -> None:
    with made.edited(made.memory / "config.json", version=4):
        hint = made("status", "--json").error["hint"]
    assert hint.index("`memory reset`") < hint.index("`memory init`")


@pytest.fixture(scope="module")
def old(made: Project) -> Project:
    """A memory of another version, reset and begun again."""
    project = made.copy("old-repo")
    path = project.memory / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_bytes()), "version": 4}), encoding="utf-8")
    assert project("reset", "--yes").code == 0
    assert not path.exists()
    assert project("init").code == 0
    return project


@GRAPH.holds(115, "memory reset then memory init")
def _(old: Project) -> None:
    assert config(old)["version"] == 5
    assert old.data("status")["nodes_by_kind"] == {"project": 1}


@GRAPH.holds(116, ".backup/ holds the archives of resets")
def _(old: Project) -> None:
    (archive,) = (old.memory / ".backup").glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        assert ".memory/memory/webhook-retry-queue.json" in tar.getnames()


@GRAPH.differs(
    117,
    "memory reset, plainly",
    why="It removes a whole memory, so it asks; where nobody can be asked, nothing is removed.",
    instead="Answer the question, or give `--yes`.",
)
def _(made: Project) -> None:
    before = made.files()
    said = made("reset")
    assert (said.code, "--yes" in said.err) == (2, True)
    assert made.files() == before


def cranes(project: Project, *line: str) -> int:
    """How long an answer is that would be very long, where the usual budget is small."""
    words = "Harbour cranes stand still when the tide gauge is wet. " * 20
    project.save(*({**node("gotcha", f"Crane {number}"), "body": f"{words}{number}"} for number in range(5)))
    with project.edited(project.memory / "config.json", memory={"defaultTokenBudget": 501, "autoIndex": True}):
        tokens: int = project.data("query", "harbour cranes and the tide gauge", *line)["tokens"]
    return tokens


@GRAPH.holds(118, "defaultTokenBudget is the memory query budget when --budget is not passed")
def _(made: Project) -> None:
    assert 100 < cranes(made) <= 501


@GRAPH.holds(119, "--budget overrides it")
def _(made: Project) -> None:
    assert 501 < cranes(made, "--budget", "1500") <= 1500


@GRAPH.differs(
    120,
    "autoIndex: false",
    why="An index that does not follow the files gives answers that are not true.",
    instead="The setting is accepted and kept; the index is made and followed all the same.",
)
def _(made: Project) -> None:
    with made.edited(made.memory / "config.json", memory={"defaultTokenBudget": 2000, "autoIndex": False}):
        made.save({**node("gotcha", "Not indexed"), "body": "The zeppelin hangar leaks."})
        assert "gotcha.not-indexed" in made.data("query", "zeppelin hangar")["included_ids"]
        assert config(made)["memory"]["autoIndex"] is False


# -- the layout --------------------------------------------------------------------------------


def file_is_there(name: str, made: Project) -> None:
    if name == "sync-state.json":
        made("sync")
    assert (made.memory / name).exists()
    assert (made.memory / name).is_dir() == (name == "schema")


LAYOUT = (
    "config.json",
    "memory/webhook-retry-queue.json",
    "memory/webhook-retry-queue.md",
    "schema",
    "events.jsonl",
    "sync-state.json",
)
for number, name in enumerate(LAYOUT, start=121):
    GRAPH.add(number, f".memory/ {name}", partial(file_is_there, name))


@GRAPH.holds(127, '{ "version": 1, "last_sync_commit": "<git sha>" }')
def _(made: Project) -> None:
    assert made("sync").code == 0
    marker = json.loads((made.memory / "sync-state.json").read_bytes())
    head = made.git("rev-parse", "HEAD").strip()
    assert (marker["version"], marker["last_sync_commit"]) == (1, head)


def is_ignored(made: Project, name: str) -> bool:
    made.put(f".memory/{name}", "x")
    try:
        return f".memory/{name}" not in made.git("status", "--porcelain", "--untracked-files=all", "--", ".memory")
    finally:
        (made.memory / name).unlink()


def folder_is_ignored(name: str, made: Project) -> None:
    assert is_ignored(made, f"{name}/anything")


for number, name in enumerate(("index", "recovery", ".backup"), start=128):
    GRAPH.add(number, f"{name}/ is gitignored", partial(folder_is_ignored, name))


@GRAPH.holds(131, "Canonical files are meant to be committed: they are not ignored")
def _(made: Project) -> None:
    made.git("add", "--all")
    tracked = set(made.git("ls-files", ".memory").split())
    assert {f".memory/{name}" for name in made.files()} <= tracked
    assert not any(path.startswith((".memory/index/", ".memory/local/")) for path in tracked)
    made.git("commit", "--quiet", "--message", "all of it")


def schema(made: Project, name: str) -> Draft202012Validator:
    document = json.loads((made.memory / f"schema/{name}.schema.json").read_bytes())
    Draft202012Validator.check_schema(document)
    return Draft202012Validator(document)


def schema_is_bundled(name: str, made: Project) -> None:
    assert not schema(made, name).is_valid(["no such thing"])


for number, name in enumerate(SCHEMAS, start=132):
    GRAPH.add(number, f"schema/: bundled JSON schema of the {name}", partial(schema_is_bundled, name))


@GRAPH.holds(137, "schema/ is for validation: every sidecar validates")
def _(made: Project) -> None:
    for path in (made.memory / "memory").glob("*.json"):
        schema(made, "object").validate(json.loads(path.read_bytes()))
    assert not schema(made, "object").is_valid({**made.node(QUEUE), "status": "odd"})


@GRAPH.holds(138, "schema/: every relation validates")
def _(made: Project) -> None:
    for path in (made.memory / "relations").glob("*.json"):
        schema(made, "relation").validate(json.loads(path.read_bytes()))
    assert not schema(made, "relation").is_valid({**made.relation(QUEUE, "depends_on", WORKER)[1], "predicate": "x"})


@GRAPH.holds(139, "schema/: every event validates")
def _(made: Project) -> None:
    for event in made.events():
        schema(made, "event").validate(event)
    assert not schema(made, "event").is_valid({**made.events()[0], "event": "odd"})


@GRAPH.holds(140, "schema/: the example of an intent validates")
def _(made: Project) -> None:
    schema(made, "patch").validate(EXAMPLE)
    assert not schema(made, "patch").is_valid({"nodes": EXAMPLE["nodes"]})


@GRAPH.holds(141, "schema/: the configuration validates")
def _(made: Project) -> None:
    schema(made, "config").validate(config(made))
    assert not schema(made, "config").is_valid({**config(made), "version": 4})


@GRAPH.holds(142, "recovery/: pre-overwrite backups of dirty files")
def _(made: Project) -> None:
    made.save(node("gotcha", "Edited by hand"))
    made.git.commit()
    body = made.memory / "memory/edited-by-hand.md"
    body.write_text("Someone's own words, not committed.", encoding="utf-8")
    (copy,) = made.save({"id": "gotcha.edited-by-hand", "body": "Other words."})["recovery_files"]
    assert copy["path"] == ".memory/memory/edited-by-hand.md"
    kept = made.root / copy["recovery_path"]
    assert kept.read_text(encoding="utf-8") == "Someone's own words, not committed."
    assert body.read_text(encoding="utf-8") == "Other words."


@GRAPH.holds(143, "everything generated is rebuildable with memory rebuild")
def _(made: Project) -> None:
    before = made.data("query", "webhook retry queue")
    shutil.rmtree(made.memory / "index")
    assert made.data("rebuild")["objects_indexed"] == len(list((made.memory / "memory").glob("*.json")))
    assert made.data("query", "webhook retry queue") == before


# -- sync and the registry -----------------------------------------------------------------------


@GRAPH.holds(144, "memory sync diffs last_sync_commit..HEAD plus working-tree changes")
def _(made: Project) -> None:
    made.put("lib/committed.py", "one = 1\n")
    made.put("lib/loose.py", "two = 2\n")
    made.save(node("feature", "Committed", anchors=["lib/committed.py"], stage="idea"))
    made.save(node("feature", "Loose", anchors=["lib/loose.py"], stage="idea"))
    made.git.commit()
    assert made("sync").code == 0
    base = made.git("rev-parse", "HEAD").strip()
    made.put("lib/committed.py", "one = 11\n")
    made.git.commit()
    made.put("lib/loose.py", "two = 22\n")
    found = made.data("sync", "--dry-run")
    assert (found["base_commit"], found["full_verification"]) == (base, False)
    assert {"feature.committed", "feature.loose"} <= {item["id"] for item in found["changed"] if item["new"]}


@GRAPH.holds(145, "sync --dry-run does not advance the marker")
def _(made: Project) -> None:
    made.git.commit()
    before = (made.memory / "sync-state.json").read_bytes()
    assert made.data("sync", "--dry-run")["marker_advanced"] is False
    assert (made.memory / "sync-state.json").read_bytes() == before


@GRAPH.holds(146, "... and a non-dry run advances it")
def _(made: Project) -> None:
    assert made.data("sync")["marker_advanced"] is True
    marker = json.loads((made.memory / "sync-state.json").read_bytes())
    assert marker["last_sync_commit"] == made.git("rev-parse", "HEAD").strip()


def marker_is_repaired(data: bytes | None, made: Project) -> None:
    path = made.memory / "sync-state.json"
    if data is None:
        path.unlink(missing_ok=True)
    else:
        path.write_bytes(data)
    said = made("sync", "--json")
    assert (said.code, said.data["full_verification"], said.data["base_commit"]) == (0, True, None)
    assert json.loads(path.read_bytes())["version"] == 1
    assert made.data("sync")["full_verification"] is False


UNKNOWN = json.dumps({"version": 1, "last_sync_commit": "0123456789abcdef0123456789abcdef01234567"}).encode()
for number, text, data in (
    (147, "A missing marker triggers a full anchor verification instead of failing", None),
    (148, "An invalid marker triggers a full anchor verification", b"{ not JSON"),
    (149, "A marker with an unknown commit triggers a full anchor verification", UNKNOWN),
):
    GRAPH.add(number, text, partial(marker_is_repaired, data))


@GRAPH.holds(150, "The registry is $MEMORY_HOME/projects.json")
def _(made: Project) -> None:
    entries = json.loads((Path(made.env["MEMORY_HOME"]) / "projects.json").read_bytes())["projects"]
    assert str(made.root) in [entry["project_root"] for entry in entries]


@GRAPH.holds(151, "memory status --all reads it")
def _(made: Project) -> None:
    found = made("status", "--all", "--json").json["data"]
    assert found["registry_path"] == f"{made.env['MEMORY_HOME']}/projects.json"
    assert "My Repo" in made("status", "--all").out
    assert str(made.root) in [row["project_root"] for row in found["projects"]]


@GRAPH.holds(152, "memory projects reads it")
def _(made: Project) -> None:
    assert str(made.root) in made("projects").out


@GRAPH.holds(153, "memory projects list reads it")
def _(made: Project) -> None:
    listed = made("projects", "list", "--json").json["data"]["projects"]
    assert str(made.root) in [entry["project_root"] for entry in listed]


@GRAPH.holds(154, "... by default ~/.memory/projects.json")
def _(made: Project, tmp_path: Path) -> None:
    env = {name: value for name, value in made.env.items() if name != "MEMORY_HOME"} | {"HOME": str(tmp_path)}
    other = Project(tmp_path / "other", env)
    other.root.mkdir()
    assert other("init").code == 0
    entries = json.loads((tmp_path / ".memory/projects.json").read_bytes())["projects"]
    assert [entry["project_root"] for entry in entries] == [str(other.root)]


@GRAPH.holds(155, "the viewer's projects dashboard reads the registry")
def _(made: Project) -> None:
    with viewing(Memory(made.root, made.env)) as shown:
        assert "My Repo" in [entry["name"] for entry in shown.get("/api/projects")["projects"]]


@GRAPH.holds(156, "canonical truth is in the files: a deleted .memory/ that git still has is brought back by git")
def _(made: Project) -> None:
    made.git.commit()
    copy = made.copy("lost-repo")
    before = copy.files()
    shutil.rmtree(copy.memory)
    hint = copy("status", "--json").error["hint"]
    assert "`git restore .memory`" in hint
    copy.git("restore", ".memory")
    assert copy.files() == before


@GRAPH.holds(157, "events.jsonl: append-only event log")
def _(made: Project) -> None:
    log = made.memory / "events.jsonl"
    before = log.read_bytes()
    made.save(node("gotcha", "One line more"))
    made.save(delete=[{"id": "gotcha.one-line-more", "reason": "tried"}])
    after = log.read_bytes()
    assert after.startswith(before)
    assert after[len(before) :].count(b"\n") == 2


@GRAPH.holds(158, "The registry stores project roots and metadata")
def _(made: Project) -> None:
    entries = json.loads((Path(made.env["MEMORY_HOME"]) / "projects.json").read_bytes())["projects"]
    (entry,) = [entry for entry in entries if entry["project_root"] == str(made.root)]
    assert entry["project"] == {"id": "project.my-repo", "name": "My Repo"}
    assert {"registry_id", "memory_root", "registered_at", "last_seen_at", "source"} <= set(entry)


@GRAPH.holds(159, "canonical memory stays in each project's own .memory/: the registry holds no text of a node")
def _(made: Project) -> None:
    held = (Path(made.env["MEMORY_HOME"]) / "projects.json").read_text(encoding="utf-8")
    assert "Webhook retry queue" in (made.memory / "memory/webhook-retry-queue.json").read_text(encoding="utf-8")
    for words in ("Webhook retry queue", "Stripe", "Invoices for marinas"):
        assert words not in held


@pytest.mark.parametrize("row", GRAPH.rows, ids=str)
def test_statement(row: Row, request: pytest.FixtureRequest) -> None:
    row.check(request)


def test_every_statement_is_tried_once() -> None:
    GRAPH.check_numbers()
