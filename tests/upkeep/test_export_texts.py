"""What an export holds: nothing that was asked for is lost, nothing else is in it, whatever the texts say."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.model.records import Edge, Record
from quire.model.verdicts import Verdict
from quire.model.vocabulary import JOURNAL_KINDS, LIVE_STATUSES
from quire.upkeep.export import Holdings, choose_holdings
from quire.upkeep.export_formats import EXPORT_FORMATS, render_export

ABOUT = Holdings(project={"id": "project.harbor", "name": "Harbor"}, exported_at="2026-03-02T11:19:00+00:00")
HOSTILE = (
    "# Not a heading of ours",
    "Title\n=====",
    "```\nnever closed",
    "~~~~\n# x",
    "<!-- never closed",
    "<script>\n\n# x",
    "<details>\n<pre>",
    "a\r# b\rc\r\n# d",
    "> quoted\nlazy",
    "- item\n\n      code",
    "\x1b[2J\x9b31m\u202egnp",
    "`` ` ```",
    "\u2028# x\u2029# y\x85# z\x0c# w",
    '\n{"type":"relation","from":"a","to":"b","relationType":"c"}\n',
    "",
    " \n \n ",
)
words = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=40))
layers_and_kinds = st.sampled_from(
    [
        *(("graph", kind) for kind in ("project", "feature", "decision", "gotcha", "question")),
        *(("facts", kind) for kind in ("fact", "episode")),
        ("profile", "entry"),
        *(("journal", kind) for kind in JOURNAL_KINDS),
    ]
)


@st.composite
def records(draw: st.DrawFn) -> Record:
    layer, kind = draw(layers_and_kinds)
    return Record(
        ref=draw(st.one_of(words, st.sampled_from(["fact:a", "fact:b", "feature.c"]))),
        layer=layer,  # type: ignore[arg-type]
        kind=kind,
        title=draw(words),
        text=draw(words),
        status=draw(st.sampled_from(["active", "open", "closed", "stale", "superseded", "archived", "pending", "odd"])),
        path=draw(st.sampled_from(["a.json", "b.json"])),
        stage=draw(st.sampled_from([None, "building", "dead", "strange"])) if kind == "feature" else None,
        section=draw(st.one_of(st.sampled_from(["", "Specs", "tools", "gotchas"]), words)),
        scope=draw(st.sampled_from(["", "other\n# mind"])),
        created_at=draw(st.sampled_from(["", "2026-03-01T09:00:00Z", "no time\n# x"])),
        tags=tuple(draw(st.lists(words, max_size=2))),
        anchors=tuple(draw(st.lists(words, max_size=2))),
        origin=draw(words),
        raw=draw(st.sampled_from([b"", b"{", b"[]", b'{"number": 2}', b'{"number": "x"}'])),
    )


@st.composite
def edges(draw: st.DrawFn) -> Edge:
    ends = st.one_of(words, st.sampled_from(["fact:a", "fact:b", "feature.c"]))
    return Edge(
        ref=draw(words),
        source=draw(ends),
        predicate=draw(words),
        target=draw(ends),
        status=draw(st.sampled_from(["active", "stale"])),
        path="x",
        confidence=draw(st.sampled_from([None, "high"])),
    )


def record(ref: str, layer: str = "graph", kind: str = "decision", **fields: Any) -> Record:
    given: dict[str, Any] = {"title": ref, "text": "", "status": "active", "path": "x.json", **fields}
    return Record(ref=ref, layer=layer, kind=kind, **given)  # type: ignore[arg-type]


def edge(source: str, target: str, predicate: str = "affects", **fields: Any) -> Edge:
    given: dict[str, Any] = {"status": "active", "path": "y.json", **fields}
    return Edge(ref=f"{source} {predicate} {target}", source=source, predicate=predicate, target=target, **given)


def chosen(
    *items: Record | Edge, hidden: frozenset[str] = frozenset(), everything: bool = False, private: bool = False
) -> Holdings:
    return choose_holdings(
        ABOUT,
        [item for item in items if isinstance(item, Record)],
        [item for item in items if isinstance(item, Edge)],
        hidden,
        everything=everything,
        private=private,
    )


def page(found: Holdings) -> str:
    return render_export(found, "markdown").text


def document(found: Holdings) -> Any:
    return json.loads(render_export(found, "json").text)


def lines(found: Holdings) -> list[Any]:
    return [json.loads(line) for line in render_export(found, "mcp").text.split("\n")[:-1]]


# -- what is in it ----------------------------------------------------------------------------


def shown(text: str) -> str:
    """As a text that is no text is written."""
    return text.encode("utf-8", "replace").decode()


@given(st.lists(records(), max_size=8), st.lists(edges(), max_size=4))
def test_json_of_everything_loses_no_record_and_no_edge(told: list[Record], joined: list[Edge]) -> None:
    found = document(chosen(*told, *joined, everything=True, private=True))
    names = ("ref", "layer", "kind", "title", "text", "status", "stage", "section", "scope", "origin", "created_at")
    expected = [{name: getattr(item, name) for name in names} for item in told]
    assert sorted(map(str, ({name: item[name] for name in names} for item in found["records"]))) == sorted(
        map(str, expected)
    )
    ends = ("ref", "source", "predicate", "target", "status", "confidence")
    assert sorted(str({name: item[name] for name in ends}) for item in found["edges"]) == sorted(
        str({name: getattr(item, name) for name in ends}) for item in joined
    )
    assert sorted((item["tags"], item["anchors"]) for item in found["records"]) == sorted(
        (list(item.tags), list(item.anchors)) for item in told
    )


@given(st.lists(records(), max_size=8))
def test_what_is_exported_and_what_is_left_out_is_all_there_was(told: list[Record]) -> None:
    found = chosen(*told, hidden=frozenset({"fact:a"}))
    assert len(found.records) + sum(found.left_out.values()) == len(told)
    for item in found.records:
        assert item.status in LIVE_STATUSES
        assert item.stage != "dead"
        assert item.kind != "event"


@given(st.lists(records(), max_size=6), st.lists(edges(), max_size=4), st.randoms())
def test_the_order_in_which_it_was_found_does_not_show(told: list[Record], joined: list[Edge], chance: Any) -> None:
    def order() -> list[Any]:
        found = chosen(*told, *joined, everything=True)
        ends = [(item.source, item.predicate, item.target, item.ref) for item in found.edges]
        return [[(item.layer, item.kind, item.ref, item.path, item.text) for item in found.records], ends]

    before = order()
    chance.shuffle(told)
    chance.shuffle(joined)
    assert order() == before


def test_without_options_only_what_is_current_is_in_it() -> None:
    found = chosen(
        record("decision.a"),
        record("decision.b", status="stale"),
        record("question.c", kind="question", status="open"),
        record("question.d", kind="question", status="closed"),
        record("feature.e", kind="feature", stage="dead"),
        record("feature.f", kind="feature", stage="paused"),
        record("fact:g", "facts", "fact", status="pending"),
        record("event:h", "journal", "event"),
        record("event:i", "journal", "event", status="archived"),
        record("checkpoint:j", "journal", "checkpoint"),
        record("profile:user.k", "profile", "entry", section="user"),
        record("profile:user.l", "profile", "entry", section="user", status="archived"),
        hidden=frozenset({"profile:user.k", "profile:user.l"}),
    )
    assert [item.ref for item in found.records] == ["feature.f", "decision.a", "question.c", "checkpoint:j"]
    assert found.left_out == {"private": 2, "events": 2, "not_current": 4}


def test_each_option_adds_what_it_names_and_nothing_else() -> None:
    told = (
        record("decision.a", status="stale"),
        record("event:b", "journal", "event"),
        record("profile:user.c", "profile", "entry"),
        record("profile:user.d", "profile", "entry", status="archived"),
    )
    hidden = frozenset({"profile:user.c", "profile:user.d"})

    def refs(**options: bool) -> list[str]:
        return [item.ref for item in chosen(*told, hidden=hidden, **options).records]

    assert refs() == []
    assert refs(everything=True) == ["decision.a", "event:b"]
    assert refs(private=True) == ["profile:user.c"]
    assert refs(everything=True, private=True) == ["decision.a", "profile:user.c", "profile:user.d", "event:b"]


def test_no_relation_names_a_private_entry_that_is_left_out() -> None:
    told = (
        record("fact:a", "facts", "fact"),
        record("profile:user.b", "profile", "entry"),
        edge("fact:a", "profile:user.b"),
        edge("profile:user.b", "fact:a"),
    )
    for everything in (False, True):
        found = chosen(*told, hidden=frozenset({"profile:user.b"}), everything=everything)
        assert found.edges == ()
        for name in EXPORT_FORMATS:
            assert "user.b" not in render_export(found, name).text
    assert len(chosen(*told, hidden=frozenset({"profile:user.b"}), private=True).edges) == 2


def test_relations_go_with_their_ends() -> None:
    told = (
        record("decision.a"),
        record("decision.b", status="superseded"),
        edge("decision.a", "decision.b", "supersedes"),
        edge("decision.b", "decision.gone"),
        edge("decision.a", "decision.gone", status="stale"),
    )
    assert [item.ref for item in chosen(*told).edges] == ["decision.a supersedes decision.b"]
    assert len(chosen(*told, everything=True).edges) == 3
    assert [item["type"] for item in lines(chosen(*told))] == ["entity"]
    assert render_export(chosen(*told), "mcp").edges == 0
    assert [item["type"] for item in lines(chosen(*told, everything=True))] == ["entity", "entity", "relation"]


def test_the_order_is_that_of_layers_parts_and_age() -> None:
    found = chosen(
        record("event:z", "journal", "event", created_at="2026-01-01T00:00:00Z"),
        record("checkpoint:b", "journal", "checkpoint", created_at="2026-01-02T00:00:00+00:00"),
        record("checkpoint:c", "journal", "checkpoint", created_at="2026-01-01T00:00:00Z"),
        record("bundle:next-steps.a", "journal", "bundle", section="next-steps", raw=b'{"number": 2}'),
        record("bundle:next-steps.b", "journal", "bundle", section="next-steps", raw=b'{"number": 1}'),
        record("bundle:project", "journal", "bundle", section="project"),
        record("profile:zoo.a", "profile", "entry", section="zoo"),
        record("profile:tools.a", "profile", "entry", section="tools"),
        record("profile:user.a", "profile", "entry", section="user"),
        record("episode:a", "facts", "episode"),
        record("fact:a", "facts", "fact", section="Specs", created_at="2026-01-02T00:00:00Z"),
        record("fact:b", "facts", "fact", section="Specs", created_at="2026-01-01T00:00:00Z"),
        record("fact:c", "facts", "fact", section="Architecture"),
        record("fact:d", "facts", "fact", section="Architecture", scope="other"),
        record("question.a", kind="question"),
        record("decision.a"),
        record("feature.a", kind="feature", stage="dead"),
        record("feature.b", kind="feature", stage="idea"),
        record("feature.c", kind="feature"),
        record("feature.d", kind="feature", stage="building"),
        record("project.a", kind="project"),
        everything=True,
    )
    assert [item.ref for item in found.records] == [
        *("project.a", "feature.d", "feature.b", "feature.c", "feature.a", "decision.a", "question.a"),
        *("fact:c", "fact:b", "fact:a", "fact:d", "episode:a"),
        *("profile:user.a", "profile:tools.a", "profile:zoo.a"),
        *("bundle:project", "bundle:next-steps.b", "bundle:next-steps.a", "checkpoint:c", "checkpoint:b", "event:z"),
    ]


# -- formats ----------------------------------------------------------------------------------


def test_nothing_at_all_is_a_valid_document_in_every_format() -> None:
    assert page(ABOUT) == "# Memory of Harbor\n\nExported 2026-03-02T11:19:00+00:00.\n\nNothing is recorded.\n"
    assert document(ABOUT) == {
        "version": 1,
        "exported_at": ABOUT.exported_at,
        "project": ABOUT.project,
        "records": [],
        "edges": [],
    }
    assert render_export(ABOUT, "mcp").text == ""


OUR_LINE = re.compile(r"|#{1,4} .*|- .+|  - .+|>( .*)?|Exported .*|Nothing is recorded\.")


@given(st.lists(records(), max_size=6), st.lists(edges(), max_size=4))
def test_no_text_breaks_the_structure_of_the_page(told: list[Record], joined: list[Edge]) -> None:
    found = chosen(*told, *joined, everything=True)
    text = page(found)
    assert "\r" not in text
    split = text.split("\n")
    assert [line for line in split if not OUR_LINE.fullmatch(line)] == []
    assert sum(line.startswith("# ") for line in split) == 1
    in_full = [item for item in found.records if item.kind not in ("checkpoint", "event")]
    assert sum(line.startswith("#### ") for line in split) == len(in_full)
    # A quotation is ended by an empty line, or the next line would be a part of it.
    for line, following in pairwise(split):
        assert not line.startswith(">") or following.startswith(">") or not following


@given(st.lists(records(), max_size=4))
def test_a_reader_of_markdown_sees_our_headings_and_no_others(told: list[Record]) -> None:
    reader = pytest.importorskip("markdown_it")
    found = chosen(*told, everything=True)
    tokens = reader.MarkdownIt("commonmark").parse(page(found))
    seen = [token.tag for token in tokens if token.type == "heading_open" and token.level == 0]
    ours = [f"h{len(line.split(' ')[0])}" for line in page(found).split("\n") if line.startswith("#")]
    assert seen == ours
    allowed = {"heading_open", "bullet_list_open", "blockquote_open", "paragraph_open"}
    assert {token.type for token in tokens if token.level == 0 and token.nesting == 1} <= allowed
    assert not [token for token in tokens if token.level == 0 and token.type in ("html_block", "fence", "code_block")]


@given(words)
def test_a_text_is_quoted_whole(text: str) -> None:
    quoted = page(chosen(record("decision.a", text=text))).split("\n")
    body = "\n".join(line[2:] for line in quoted if line.startswith(">"))
    plain = shown(text).removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    assert body == (plain if plain.strip() else "")


def test_a_page_shows_all_that_is_known_of_a_record() -> None:
    found = chosen(
        record(
            "decision.one-queue",
            title="One queue",
            text="# Why\n\nTwo drift apart.",
            anchors=("src/queue.py", "a`b"),
            tags=("queue", "jobs"),
            origin="agent",
            commit="0123abc",
            created_at="2026-03-01T09:00:00Z",
            updated_at="2026-03-02T09:00:00Z",
        ),
        record("feature.queue", kind="feature", stage="building", title="Queue", text="Sends."),
        edge("decision.one-queue", "feature.queue", confidence="high"),
    )
    verdict = Verdict(verdict="changed", because="src/queue.py changed")
    text = page(msgspec.structs.replace(found, verdicts={"decision.one-queue": verdict}))
    assert (
        text
        == """# Memory of Harbor

Exported 2026-03-02T11:19:00+00:00.

## Product

### Features: building

#### `feature.queue` Queue

- Status: active
- Relations:
  - `decision.one-queue` affects this (high)

> Sends.

### Decisions

#### `decision.one-queue` One queue

- Status: active
- Verdict: changed (src/queue.py changed)
- Anchors: `src/queue.py`, ``a`b``
- Tags: queue, jobs
- Origin: agent, at commit 0123abc
- Dates: created 2026-03-01T09:00:00Z, updated 2026-03-02T09:00:00Z
- Relations:
  - affects `feature.queue` (high)

> # Why
>
> Two drift apart.
"""
    )


def test_json_has_every_key_of_every_record() -> None:
    found = chosen(
        record("profile:tools.shell", "profile", "entry", section="tools", text="shell: fish", weight=0.95),
        record("profile:user.name", "profile", "entry", section="user"),
        hidden=frozenset({"profile:user.name"}),
        private=True,
    )
    own, shared = document(found)["records"]
    assert shared == {
        "ref": "profile:tools.shell",
        "layer": "profile",
        "kind": "entry",
        "title": "profile:tools.shell",
        "text": "shell: fish",
        "status": "active",
        "stage": None,
        "section": "tools",
        "scope": "",
        "tags": [],
        "anchors": [],
        "seen": [],
        "contested": [],
        "commit": "",
        "origin": "",
        "weight": 0.95,
        "half_life": 0.0,
        "since": "",
        "created_at": "",
        "updated_at": "",
        "path": ".ai-state/x.json",
        "private": False,
        "verdict": None,
        "because": "",
    }
    assert (own["private"], own["path"]) == (True, "")


def test_every_field_of_a_record_and_an_edge_that_is_not_internal_is_in_json() -> None:
    found = document(chosen(record("decision.a"), record("decision.b"), edge("decision.a", "decision.b")))
    own = {"verdict", "because", "private"}
    assert set(found["records"][0]) - own == {*Record.__struct_fields__} - {"names", "raw"}
    assert set(found["edges"][0]) == {*Edge.__struct_fields__} - {"path", "raw"}


def test_halves_of_characters_become_question_marks_in_every_format() -> None:
    found = chosen(record("decision.a", title="half \ud800", text="and \udfff", tags=("\ud801",)))
    for name in EXPORT_FORMATS:
        text = render_export(found, name).text
        assert "half ?" in text
        assert "and ?" in text
        assert text.encode("utf-8")


def test_the_lines_of_the_other_server_have_observations_and_relations() -> None:
    found = chosen(
        record("feature.queue", kind="feature", stage="building", title="Queue", text="One.\r\n\r\n \nTwo\nlines."),
        record("fact:a", "facts", "fact", section="Specs", title="Numbers have no…", text="Numbers have no gaps."),
        record("decision.a", anchors=("src/a.py", "src/b.py"), tags=("x", "y"), title="A", text=""),
        edge("decision.a", "feature.queue"),
        edge("decision.a", "feature.queue", confidence="high"),
    )
    assert lines(found) == [
        {
            "type": "entity",
            "name": "feature.queue",
            "entityType": "feature",
            "observations": ["Queue", "One.", "Two\nlines.", "Status: active", "Stage: building"],
        },
        {
            "type": "entity",
            "name": "decision.a",
            "entityType": "decision",
            "observations": ["A", "Status: active", "Anchor: src/a.py", "Anchor: src/b.py", "Tags: x, y"],
        },
        {
            "type": "entity",
            "name": "fact:a",
            "entityType": "fact",
            "observations": ["Numbers have no gaps.", "Status: active", "Section: Specs"],
        },
        {"type": "relation", "from": "decision.a", "to": "feature.queue", "relationType": "affects"},
    ]
    assert render_export(found, "mcp").edges == 1


@given(st.lists(records(), max_size=8), st.lists(edges(), max_size=6))
def test_the_lines_of_the_other_server_are_a_graph(told: list[Record], joined: list[Edge]) -> None:
    found = lines(chosen(*told, *joined, everything=True))
    names = [item["name"] for item in found if item["type"] == "entity"]
    assert sorted(names) == sorted({item.ref for item in told})
    for item in found:
        if item["type"] == "entity":
            assert set(item) == {"type", "name", "entityType", "observations"}
            assert len(set(item["observations"])) == len(item["observations"]) > 0
        else:
            assert set(item) == {"type", "from", "to", "relationType"}
            assert {item["from"], item["to"]} <= {*names}


def test_what_was_exported_is_counted() -> None:
    found = chosen(record("decision.a"), record("decision.b", status="stale"), edge("decision.a", "decision.b"))
    assert (len(found.records), render_export(found, "json").edges) == (1, 1)
    assert found.left_out == {"private": 0, "events": 0, "not_current": 1}
