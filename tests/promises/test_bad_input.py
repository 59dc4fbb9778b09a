"""Whatever is sent to `save`: it is taken or refused as a whole, with the field and what to do, without echoes."""

import json
import random
import shutil
import string
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promised import proves
from quire.model import limits
from quire.model.errors import QuireError
from quire.project import Project
from quire.verbs.admin.check import check_files
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.graph.save import save_nodes
from thorough import examples, some

Intent = dict[str, Any]

pytestmark = proves("P5.3")

LARGE = limits.BODY_CHARS + 1


def node(**fields: Any) -> Intent:
    """An intent with one new feature, these fields given or replaced."""
    return {"task": "t", "nodes": [{"kind": "feature", "title": "A title", "body": "A body.", **fields}]}


def with_lists(**lists: Any) -> Intent:
    return {"task": "t", **lists}


def deep(levels: int) -> bytes:
    return b'{"task": "t", "nodes": ' + b"[" * levels + b"]" * levels + b"}"


def text(intent: Intent) -> bytes:
    return json.dumps(intent).encode()


NOT_JSON: dict[str, bytes] = {
    "empty": b"",
    "blank": b" \n\t ",
    "prose": b"remember the retry queue",
    "single quotes": b"{'task': 't'}",
    "trailing comma": b'{"task": "t",}',
    "comment": b'{"task": "t"} // done',
    "cut off": text(node())[:-5],
    "two objects": text(node()) * 2,
    "bytes": b"\xff\xfe\x00",
    "utf-16": json.dumps(node()).encode("utf-16"),
    "latin-1": '{"task": "größe"}'.encode("latin-1"),
    "a raw control character": b'{"task": "a\x01b"}',
    "a raw NUL": b'{"task": "a\x00b"}',
    "duplicate keys": b'{"task": "t", "task": "u", "nodes": []}',
    "duplicate keys below": b'{"task": "t", "nodes": [{"title": "a", "title": "b"}]}',
    "NaN": b'{"task": NaN}',
    "Infinity": b'{"task": "t", "nodes": [Infinity]}',
    "a depth bomb": deep(100_000),
    "too deep": deep(80),
    "a bomb of objects": b'{"a":' * 50_000,
    "5000 digits": b'{"task": ' + b"9" * 5000 + b"}",
    "a surrogate in a key": b'{"task": "t", "\\ud800": 1}',
    "a surrogate in a key twice": b'{"task": "t", "\\udfff": 1, "\\udfff": 2}',
}

# What is sent, the field that is named, and a word of what is said.
REFUSED: dict[str, tuple[Any, str, str]] = {
    "an array": ([], "<input>", "object"),
    "a string": ("save this", "<input>", "object"),
    "null": (None, "<input>", "object"),
    "nothing asked for": (with_lists(), "nodes|stale|supersede|delete|confirm", "at least one"),
    "only empty lists": (with_lists(nodes=[], stale=[]), "nodes|stale|supersede|delete|confirm", "at least one"),
    "no task": ({"nodes": []}, "task", "required"),
    "an empty task": ({**node(), "task": "  "}, "task", "empty"),
    "a task that is a number": ({**node(), "task": 7}, "task", "string"),
    "a task of 4000 digits": ({**node(), "task": 10**3999}, "task", "string"),
    "a task that is too long": ({**node(), "task": "t" * 1001}, "task", "limit is 1,000"),
    "nodes that are null": (with_lists(nodes=None), "nodes", "array"),
    "nodes that are an object": (with_lists(nodes={}), "nodes", "array"),
    "a node that is a string": (with_lists(nodes=["x"]), "nodes.0", "object"),
    "too many nodes": (with_lists(nodes=[{}] * 2001), "nodes", "limit is 2,000"),
    "an unknown key": ({**node(), "node": []}, "node", "known here: task, nodes"),
    "an unknown key of a node": (node(boddy="x"), "nodes.0.boddy", "not a known key"),
    "an unknown key of evidence": (
        node(evidence=[{"kind": "file", "id": "x", "line": 3}]),
        "nodes.0.evidence.0.line",
        "not a known key",
    ),
    "an unknown key of a relation": (
        node(related=[{"predicate": "affects", "to": "project.harbor", "why": "x"}]),
        "nodes.0.related.0.why",
        "not a known key",
    ),
    "a key of 100,000 characters": ({**node(), "k" * 100_000: 1}, "k" * 79 + "…", "not a known key"),
    "a key with an escape sequence": ({**node(), "\x1b[2J": 1}, "\x1b[2J", "not a known key"),
    "an unknown kind": (node(kind="epic"), "nodes.0.kind", "feature"),
    "a kind that is a list": (node(kind=["feature"]), "nodes.0.kind", "one of"),
    "a new project": (node(kind="project"), "nodes.0.kind", "none of them"),
    "an unknown stage": (node(stage="done"), "nodes.0.stage", "shipped"),
    "a stage on a decision": (node(kind="decision", stage="idea"), "nodes.0.stage", "only a feature"),
    "an unknown status": (node(status="stale"), "nodes.0.status", "one of"),
    "a status of another kind": (node(status="open"), "nodes.0.status", "active"),
    "a title that is missing": (with_lists(nodes=[{"kind": "feature", "body": "b"}]), "nodes.0.title", "required"),
    "a body that is missing": (with_lists(nodes=[{"kind": "feature", "title": "b"}]), "nodes.0.body", "required"),
    "a kind that is missing": (with_lists(nodes=[{"title": "x", "body": "b"}]), "nodes.0.kind", "required"),
    "an empty title": (node(title=" \t "), "nodes.0.title", "empty"),
    "an empty body": (node(body="\n"), "nodes.0.body", "empty"),
    "a title of two lines": (node(title="a\nb"), "nodes.0.title", "line break"),
    "a title that is too long": (node(title="x" * 301), "nodes.0.title", "limit is 300"),
    "a body of 10 MB": (node(body="x" * 10_000_000), "nodes.0.body", f"limit is {limits.BODY_CHARS:,}"),
    "a body that is a number": (node(body=1.5), "nodes.0.body", "string"),
    "a body that is null": (node(body=None), "nodes.0.body", "string"),
    "front matter": (node(body="---\nstatus: active\n---\ntext"), "nodes.0.body", "YAML"),
    "a NUL": (node(body="a\0b"), "nodes.0.body", "U+0000"),
    "an escape sequence": (node(title="\x1b[31mred"), "nodes.0.title", "U+001B"),
    "a bell": (node(tags=["a\x07"]), "nodes.0.tags.0", "U+0007"),
    "a lone surrogate": (node(body="a\ud800b"), "nodes.0.body", "U+D800"),
    "a lone surrogate in a tag": (node(tags=["\udc00"]), "nodes.0.tags.0", "U+DC00"),
    "a bidi override": (node(title="user\u202etxt.exe"), "nodes.0.title", "U+202E"),
    "a bidi isolate in a reason": (
        with_lists(stale=[{"id": "project.harbor", "reason": "x\u2066y"}]),
        "stale.0.reason",
        "U+2066",
    ),
    "tag characters": (node(body="hi" + "\U000e0041" * 3), "nodes.0.body", "U+E0041"),
    "a noncharacter": (node(body="\uffff"), "nodes.0.body", "U+FFFF"),
    "tags that are a string": (node(tags="billing"), "nodes.0.tags", "array"),
    "an empty tag": (node(tags=[" "]), "nodes.0.tags.0", "empty"),
    "too many tags": (node(tags=[str(number) for number in range(65)]), "nodes.0.tags", "limit is 64"),
    "a tag that is too long": (node(tags=["x" * 81]), "nodes.0.tags.0", "limit is 80"),
    "an anchor upwards": (node(anchors=["../secrets/"]), "nodes.0.anchors.0", "outside this repository"),
    "an anchor upwards inside": (node(anchors=["src/../../x"]), "nodes.0.anchors.0", "outside this repository"),
    "an absolute anchor": (node(anchors=["ok", "/etc/passwd"]), "nodes.0.anchors.1", "absolute"),
    "an anchor at home": (node(anchors=["~/x"]), "nodes.0.anchors.0", "absolute"),
    "an anchor on a drive": (node(anchors=["C:/x"]), "nodes.0.anchors.0", "absolute"),
    "an anchor with backslashes": (node(anchors=["src\\x"]), "nodes.0.anchors.0", "backslash"),
    "an anchor that is a URL": (node(anchors=["https://example.com/x"]), "nodes.0.anchors.0", "URL"),
    "an anchor into the memory": (node(anchors=[".memory/config.json"]), "nodes.0.anchors.0", "memory itself"),
    "an anchor that is nothing": (node(anchors=["./"]), "nodes.0.anchors.0", "is not a path"),
    "an anchor with a NUL": (node(anchors=["a\0b"]), "nodes.0.anchors.0", "U+0000"),
    "an unknown kind of evidence": (node(evidence=[{"kind": "rumour", "id": "x"}]), "nodes.0.evidence.0.kind", "file"),
    "an unknown origin": (node(origin={"kind": "dream", "locator": "x"}), "nodes.0.origin.kind", "url"),
    "an origin without a place": (node(origin={"kind": "url"}), "nodes.0.origin.locator", "required"),
    "an id of 10,000 characters": (node(id="feature." + "a" * 10_000), "nodes.0.id", "limit is 160"),
    "an id in upper case": (node(id="feature.Retry"), "nodes.0.id", "lower-case"),
    "an id with two dots": (node(id="feature.a.b"), "nodes.0.id", "kind.slug"),
    "an id with a slash": (node(id="feature.a/b"), "nodes.0.id", "kind.slug"),
    "an id that climbs": (node(id="feature.../../x"), "nodes.0.id", "kind.slug"),
    "an id with a blank": (node(id="feature.a b"), "nodes.0.id", "kind.slug"),
    "an id with a line break": (node(id="feature.a\nb"), "nodes.0.id", "line break"),
    "an id with a dot at its end": (node(id="feature.con."), "nodes.0.id", "kind.slug"),
    "an id without a slug": (node(id="feature."), "nodes.0.id", "kind.slug"),
    "an id without a kind": (node(id="retry"), "nodes.0.id", "kind.slug"),
    "an id with a hyphen first": (node(id="feature.-rf"), "nodes.0.id", "kind.slug"),
    "an id in other letters": (node(id="feature.größe"), "nodes.0.id", "kind.slug"),
    "an id of an unknown kind": (
        with_lists(nodes=[{"id": "epic.x", "title": "x", "body": "b"}]),
        "nodes.0.id",
        "none of them",
    ),
    "an id of another kind": (node(id="decision.x"), "nodes.0.id", "begin with `feature.`"),
    "one id twice": (
        with_lists(
            nodes=[{"id": "gotcha.x", "title": "x", "body": "b"}, {"id": "gotcha.x", "title": "y", "body": "b"}]
        ),
        "nodes.1.id",
        "twice",
    ),
    "a kind that does not fit": (
        with_lists(nodes=[{"id": "feature.old", "kind": "gotcha"}]),
        "nodes.0.kind",
        "is a feature",
    ),
    "a relation to itself": (
        node(id="feature.self", related=[{"predicate": "affects", "to": "feature.self"}]),
        "nodes.0.related.0.to",
        "itself",
    ),
    "a relation to nothing": (
        node(related=[{"predicate": "affects", "to": "feature.nothing"}]),
        "nodes.0.related.0.to",
        "not in the memory",
    ),
    "an unknown predicate": (
        node(related=[{"predicate": "blocks", "to": "feature.old"}]),
        "nodes.0.related.0.predicate",
        "depends_on",
    ),
    "an unknown confidence": (
        node(related=[{"predicate": "affects", "to": "feature.old", "confidence": 0.9}]),
        "nodes.0.related.0.confidence",
        "high",
    ),
    "a relation made and removed": (
        node(
            related=[{"predicate": "affects", "to": "feature.old"}],
            unrelated=[{"predicate": "affects", "to": "feature.old"}],
        ),
        "nodes.0.unrelated.0.to",
        "also created",
    ),
    "a relation to what is deleted": (
        {
            **node(related=[{"predicate": "affects", "to": "feature.old"}]),
            "delete": [{"id": "feature.old", "reason": "x"}],
        },
        "nodes.0.related.0.to",
        "deleted in this input",
    ),
    "an unknown node made stale": (
        with_lists(stale=[{"id": "feature.nothing", "reason": "x"}]),
        "stale.0.id",
        "not in the memory",
    ),
    "no reason": (with_lists(stale=[{"id": "feature.old"}]), "stale.0.reason", "required"),
    "an empty reason": (with_lists(delete=[{"id": "feature.old", "reason": " "}]), "delete.0.reason", "empty"),
    "a reason that is too long": (
        with_lists(delete=[{"id": "feature.old", "reason": "x" * 2001}]),
        "delete.0.reason",
        "limit is 2,000",
    ),
    "stale and deleted": (
        with_lists(stale=[{"id": "feature.old", "reason": "x"}], delete=[{"id": "feature.old", "reason": "x"}]),
        "stale.0.id",
        "more than once",
    ),
    "written and deleted": (
        with_lists(nodes=[{"id": "feature.old", "title": "x"}], delete=[{"id": "feature.old", "reason": "x"}]),
        "delete.0.id",
        "also written",
    ),
    "revived and retired": (
        with_lists(nodes=[{"id": "feature.old", "status": "active"}], stale=[{"id": "feature.old", "reason": "x"}]),
        "nodes.0.status",
        "also retired",
    ),
    "superseded by itself": (
        with_lists(supersede=[{"id": "feature.old", "superseded_by": "feature.old", "reason": "x"}]),
        "supersede.0.superseded_by",
        "itself",
    ),
    "superseded in a circle": (
        with_lists(
            supersede=[
                {"id": "feature.old", "superseded_by": "gotcha.old", "reason": "x"},
                {"id": "gotcha.old", "superseded_by": "feature.old", "reason": "x"},
            ]
        ),
        "supersede.0.superseded_by",
        "itself superseded",
    ),
    "superseded by a node it superseded": (
        with_lists(supersede=[{"id": "decision.new", "superseded_by": "decision.replaced", "reason": "x"}]),
        "supersede.0.superseded_by",
        "itself superseded",
    ),
    "superseded by nothing": (
        with_lists(supersede=[{"id": "feature.old", "superseded_by": "feature.nothing", "reason": "x"}]),
        "supersede.0.superseded_by",
        "not in the memory",
    ),
    "the project made stale": (with_lists(stale=[{"id": "project.harbor", "reason": "x"}]), "stale.0.id", "own record"),
    "the project deleted": (with_lists(delete=[{"id": "project.harbor", "reason": "x"}]), "delete.0.id", "own record"),
    "the project superseded": (
        with_lists(supersede=[{"id": "project.harbor", "superseded_by": "feature.old", "reason": "x"}]),
        "supersede.0.id",
        "own record",
    ),
}


@pytest.fixture(scope="module")
def filled(shared_memory: Any) -> Any:
    shared_memory.save(
        {"id": "feature.old", "title": "Old", "body": "Was here before."},
        {"id": "gotcha.old", "title": "Old trap", "body": "Was here before."},
        {"id": "decision.replaced", "title": "Replaced", "body": "Was here before."},
        {"id": "decision.new", "title": "New", "body": "Was here before."},
        supersede=[{"id": "decision.replaced", "superseded_by": "decision.new", "reason": "x"}],
    )
    return shared_memory


@pytest.fixture
def unchanged(filled: Any, tree: Callable[..., dict[str, bytes]]) -> Any:
    """The memory, of which nothing may be different after the test: not the store, the project or the home."""
    before = tree(filled.cwd.parent, generated=True)
    yield filled
    assert tree(filled.cwd.parent, generated=True) == before


def refused(memory: Any, data: bytes) -> Any:
    """The error of a refused save; a dry run refuses it in the same words."""
    run = memory("save", "--stdin", "--json", stdin=data)
    assert run.code == 1, run.out[:300]
    assert run.err == ""
    error = run.error
    assert error["hint"], error
    assert len(run.out) < 100_000
    with pytest.raises(QuireError) as raised:
        save_nodes(Project.open(str(memory.cwd)), data, source="standard input", dry_run=True)
    assert (raised.value.code, raised.value.message) == (error["code"], error["message"])
    return error


def refused_plainly(memory: Any, data: bytes) -> None:
    """The same for a person: on standard error, with what to do, and with nothing a terminal would act on."""
    run = memory("save", "--stdin", stdin=data)
    assert (run.code, run.out) == (1, "")
    assert run.err.startswith("error: ")
    assert "hint: " in run.err
    assert "\x1b" not in run.err


@proves("P5.1", "D4", over="graph")
@proves("P5.3", "D4", over="graph")
@pytest.mark.parametrize("name", some(sorted(NOT_JSON), 5))
def test_what_is_not_json_is_refused_with_the_reason(unchanged: Any, name: str) -> None:
    error = refused(unchanged, NOT_JSON[name])
    refused_plainly(unchanged, NOT_JSON[name])
    assert error["code"] == "MemoryInvalidJson"
    assert "standard input" in error["message"]


@proves("P5.1", "D2", "D5", over="graph")
@pytest.mark.parametrize("name", some(sorted(REFUSED), 12))
def test_a_fault_is_named_by_its_field_and_nothing_is_written(unchanged: Any, name: str) -> None:
    data, field, said = REFUSED[name]
    error = refused(unchanged, json.dumps(data).encode())
    details = error["details"]
    issues = details["issues"] if "issues" in details else [{"field": details["field"], "message": error["message"]}]
    if list(REFUSED).index(name) % 4 == 0:
        refused_plainly(unchanged, json.dumps(data).encode())
    messages = [issue["message"] for issue in issues if issue["field"] == field]
    assert messages, [issue["field"] for issue in issues]
    assert any(said in message for message in messages), messages


def test_an_input_beyond_the_limit_is_refused_without_being_read(unchanged: Any) -> None:
    run = unchanged("save", "--stdin", "--json", stdin=b'{"task": "' + b"x" * 20_000_000 + b'"}')
    assert run.code == 1
    assert "limit is 16,777,216" in run.error["message"]
    assert run.error["hint"]


def test_a_file_that_cannot_be_read_is_named(unchanged: Any, tmp_path: Path) -> None:
    for name in ("nothing.json", "."):
        run = unchanged("save", "--file", str(tmp_path / name), "--json")
        assert run.code == 1
        assert run.error["details"] == {"field": "file"}
        assert run.error["hint"]


@pytest.mark.parametrize(
    "line", [["save"], ["save", "--stdin", "--file", "x"], ["save", "--stdin", "--actor", "me"], ["save", "--wat"]]
)
def test_a_command_line_that_cannot_be_understood_has_its_own_code(unchanged: Any, line: list[str]) -> None:
    run = unchanged(*line, "--json", stdin=text(node()))
    assert run.code == 2
    assert run.error["code"] == "MemoryUsage"
    assert run.error["hint"]


def test_several_problems_are_reported_together_each_with_its_field_and_what_is_allowed(unchanged: Any) -> None:
    intent = {
        "task": "",
        "nodez": 1,
        "nodes": [
            {"kind": "epic", "title": "A", "body": "B"},
            {"kind": "feature", "title": "A", "body": "B", "stage": "done", "anchors": ["/abs"]},
            {
                "kind": "decision",
                "title": "\x07",
                "body": "B",
                "related": [{"predicate": "affects", "to": "feature.olf"}],
            },
        ],
        "stale": [{"id": "feature.nothing", "reason": "x"}, {"id": "NO", "reason": 1}],
    }
    error = refused(unchanged, text(intent))
    refused_plainly(unchanged, text(intent))
    issues = {issue["field"]: issue for issue in error["details"]["issues"]}
    assert {
        "task",
        "nodez",
        "nodes.0.kind",
        "nodes.1.stage",
        "nodes.1.anchors.0",
        "nodes.2.title",
        "nodes.2.related.0.to",
        "stale.0.id",
        "stale.1.id",
        "stale.1.reason",
    } <= set(issues)
    assert set(issues["nodes.1.stage"]["allowed"]) == {"idea", "building", "shipped", "paused", "dead"}
    assert "task" in issues["nodez"]["allowed"]
    assert issues["nodes.2.related.0.to"]["hint"] == "Did you mean feature.old or gotcha.old?"


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("feature.olt", "feature.old"), ("feature.odl", "feature.old"), ("decision.mew", "decision.new")],
)
def test_a_mistyped_id_is_answered_with_the_one_that_was_meant(unchanged: Any, wrong: str, right: str) -> None:
    for intent in (
        with_lists(stale=[{"id": wrong, "reason": "x"}]),
        node(related=[{"predicate": "affects", "to": wrong}]),
    ):
        error = refused(unchanged, text(intent))
        assert error["code"] == "MemoryObjectNotFound"
        assert f"Did you mean {right}" in error["hint"]
    run = unchanged("inspect", wrong, "--json")
    assert run.code == 1
    assert right in run.error["hint"]


@pytest.mark.parametrize(
    "ref",
    [
        "../../etc/passwd",
        "feature.a/../b",
        "x" * 10_000,
        "\x1b[31m",
        "",
        "fact:x",
        "a\nb",
        "%2e%2e",
        "feature.\udcff",
    ],
)
def test_an_id_that_is_none_is_refused_everywhere(unchanged: Any, ref: str) -> None:
    run = unchanged("inspect", ref, "--json")
    assert run.code in (1, 2)
    assert run.error["hint"]
    assert len(run.out) < 2000


# -- what is odd and yet allowed ----------------------------------------------------------------------------------


@pytest.mark.parametrize("slug", ["con", "aux", "nul", "prn", "com1", "lpt9", "a" * 152, "0", "config", "events"])
def test_a_name_that_some_system_reserves_gets_a_file_that_is_legal_everywhere(memory: Any, slug: str) -> None:
    memory.init()
    memory.save({"id": f"feature.{slug}", "title": "T", "body": "B."})
    names = [path.stem for path in (memory.cwd / ".memory" / "memory").iterdir()]
    assert not {"con", "aux", "nul", "prn", "com1", "lpt9"} & set(names)
    assert memory("inspect", f"feature.{slug}", "--json").data["object"]["title"] == "T"
    assert memory("check", "--json").data["errors"] == []


def test_text_of_every_script_and_size_within_the_limits_comes_back_as_it_was(memory: Any) -> None:
    memory.init()
    body = (
        "# Titel\n\n" + "größe 記憶 \U0001f9e0 \u2764\ufe0f می\u200cخواهم ``` ~~~ <!-- x --> \\ \" ' {} $(x) `y`\n" * 20
    )
    body += "x" * (limits.BODY_CHARS - len(body))
    title = "記憶: “quotes” & <b> | `code` \\ \U0001f9e0"
    (made,) = memory.save({"kind": "question", "title": title, "body": body, "tags": ["größe", "a b"]})[
        "memory_created"
    ]
    found = memory("inspect", made, "--json").data["object"]
    assert (found["title"], found["body"], found["tags"]) == (title, body, ["größe", "a b"])
    assert memory("check", "--json").data["errors"] == []


def test_a_title_that_looks_like_a_marker_or_markdown_does_not_break_the_map(memory: Any) -> None:
    memory.init()
    for title in ("<!-- memory:map:end -->", "<!-- memory:start -->", "# Heading", "```", "- item", "| a | b |"):
        memory.save({"kind": "feature", "title": title, "body": f"{title}\n\n{title}", "stage": "building"})
    assert memory("check", "--json").data["errors"] == []
    text = (memory.cwd / "AGENTS.md").read_text(encoding="utf-8")
    memory.init()
    assert (memory.cwd / "AGENTS.md").read_text(encoding="utf-8") == text


# -- secrets ------------------------------------------------------------------------------------------------------


def credential() -> str:
    """A token that no scanner finds in this file, because it is made here."""
    letters = random.Random(20260302).choices(string.ascii_letters + string.digits, k=36)
    return "gh" + "p_" + "".join(letters)


SECRET = credential()
WITH_SECRET: dict[str, Intent] = {
    "title": node(title=f"Deploy with {SECRET}"),
    "title alone": node(title=SECRET),
    "body": node(body=f"First line.\n\nThe token is `{SECRET}`.\n"),
    "tag": node(tags=["ok", SECRET]),
    "anchor": node(anchors=[f"deploy/{SECRET}/"]),
    "bad anchor": node(anchors=[f"/deploy/{SECRET}"]),
    "URL as an anchor": node(anchors=[f"https://{SECRET}@example.com/"]),
    "task": {**node(), "task": f"Use {SECRET}"},
    "evidence": node(evidence=[{"kind": "task", "id": SECRET}]),
    "origin": node(origin={"kind": "url", "locator": f"https://example.com/?token={SECRET}"}),
    "stale reason": with_lists(stale=[{"id": "feature.old", "reason": f"leaked {SECRET}"}]),
    "supersede reason": with_lists(
        supersede=[{"id": "feature.old", "superseded_by": "gotcha.old", "reason": f"leaked {SECRET}"}]
    ),
    "delete reason": with_lists(delete=[{"id": "feature.old", "reason": SECRET}]),
    "id": node(id=f"feature.{SECRET}"),
    "kind": node(kind=SECRET),
    "stage": node(stage=SECRET),
    "status": node(status=SECRET),
    "relation": node(related=[{"predicate": SECRET, "to": f"feature.{SECRET}"}]),
    "an unknown key": {**node(), SECRET: "x"},
    "an unknown key below": node(**{SECRET: "x"}),
    "the value of an unknown key": {**node(), "token": SECRET},
    "a wrong type": node(tags={"token": SECRET}),
    "beside other faults": {**node(kind="epic", body=f"x {SECRET}"), "task": ""},
}


def nowhere(top: Path, value: str) -> bool:
    """Whether no file below the folder holds the value, in its name or in its bytes."""
    needle = value.encode()
    return not any(value in str(path) or (path.is_file() and needle in path.read_bytes()) for path in top.rglob("*"))


@proves("P9.1", "G10", "G11", over="graph")
@proves("P9.2", "G10", over="graph")
@pytest.mark.parametrize("name", some(sorted(WITH_SECRET), 6))
def test_a_secret_in_any_field_is_refused_and_never_shown_or_stored(unchanged: Any, name: str) -> None:
    data = text(WITH_SECRET[name])
    for line in (["--json"], [], ["--dry-run"]):
        run = unchanged("save", "--stdin", *line, stdin=data)
        assert run.code == 1
        assert SECRET not in run.out + run.err
        assert SECRET[10:] not in run.out + run.err
    assert nowhere(unchanged.cwd.parent, SECRET)


@proves("P9.2", "G10", over="graph")
def test_a_secret_in_broken_json_or_a_doubled_key_is_not_repeated(unchanged: Any) -> None:
    for data in (
        f'{{"task": "{SECRET}'.encode(),
        f'{{"{SECRET}": 1, "{SECRET}": 2}}'.encode(),
        f'{{"task": {SECRET}}}'.encode(),
        SECRET.encode(),
    ):
        for line in (["--json"], []):
            run = unchanged("save", "--stdin", *line, stdin=data)
            assert run.code == 1
            assert SECRET not in run.out + run.err
    assert nowhere(unchanged.cwd.parent, SECRET)


def test_a_refused_secret_has_its_own_code_and_says_what_to_do(unchanged: Any) -> None:
    error = refused(unchanged, text(WITH_SECRET["body"]))
    assert error["code"] == "MemorySecretDetected"
    (issue,) = error["details"]["issues"]
    assert (issue["field"], issue["line"]) == ("nodes.0.body", 3)
    assert "leaked" in error["hint"]


# -- a dry run is the same judge ----------------------------------------------------------------------------------

IDS = st.sampled_from(
    ["feature.a", "feature.b", "gotcha.a", "decision.c", "question.q", "project.harbor", "feature.nope", "x"]
)
TEXTS = st.sampled_from(["A", "B b", "", "\x07", "Longer text.", "---\nx: 1\n---\n"])
RELATIONS = st.fixed_dictionaries({"predicate": st.sampled_from(["affects", "depends_on", "no"]), "to": IDS})
NODES = st.fixed_dictionaries(
    {},
    optional={
        "id": IDS,
        "kind": st.sampled_from(["feature", "gotcha", "decision", "question", "project", "x"]),
        "title": TEXTS,
        "body": TEXTS,
        "stage": st.sampled_from(["idea", "dead", "x"]),
        "status": st.sampled_from(["active", "open", "closed", "x"]),
        "tags": st.lists(TEXTS, max_size=2),
        "anchors": st.lists(st.sampled_from(["src/", "../x", "a//b", "*"]), max_size=2),
        "related": st.lists(RELATIONS, max_size=2),
        "unrelated": st.lists(RELATIONS, max_size=1),
    },
)
RETIRED = st.fixed_dictionaries({"id": IDS, "reason": TEXTS})
INTENTS = st.fixed_dictionaries(
    {"task": st.just("t")},
    optional={
        "nodes": st.lists(NODES, max_size=3),
        "stale": st.lists(RETIRED, max_size=2),
        "supersede": st.lists(st.fixed_dictionaries({"id": IDS, "superseded_by": IDS, "reason": TEXTS}), max_size=2),
        "delete": st.lists(RETIRED, max_size=2),
    },
)


def verdict(project: Project, intent: Intent, *, dry_run: bool) -> Any:
    try:
        saved = save_nodes(project, intent, dry_run=dry_run)
    except QuireError as error:
        return error.code, error.message, error.details
    changes = {
        name: getattr(saved, name) for name in saved.__struct_fields__ if name.startswith(("memory", "relation"))
    }
    return changes, saved.unchanged, saved.events_appended


@pytest.fixture(scope="module")
def playground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("playground") / "harbor"
    folder.mkdir()
    project = Project.open(str(folder))
    init_memory(project)
    nodes = [
        {"id": name, "title": name, "body": "B."} for name in ("feature.a", "gotcha.a", "decision.c", "question.q")
    ]
    save_nodes(project, {"task": "t", "nodes": nodes})
    return folder


@settings(max_examples=examples(150))
@given(INTENTS)
def test_a_dry_run_gives_the_verdict_of_the_save(playground: Path, intent: Intent) -> None:
    dry = verdict(Project.open(str(playground)), intent, dry_run=True)
    assert verdict(Project.open(str(playground)), intent, dry_run=False) == dry


@settings(max_examples=examples(60))
@given(INTENTS)
def test_a_memory_stays_sound_whatever_is_saved_and_saving_twice_changes_nothing(
    playground: Path, intent: Intent
) -> None:
    project = Project.open(str(playground))
    first = verdict(project, intent, dry_run=False)
    assert check_files(project).errors == []
    if isinstance(first[0], dict):
        again = save_nodes(project, intent)
        assert not again.changed, again


def test_the_playground_was_used(playground: Path) -> None:
    assert (playground / ".memory" / "events.jsonl").stat().st_size > 100
    shutil.rmtree(playground)
