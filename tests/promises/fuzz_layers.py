"""Targets: the files of the graph and of the facts, of the inbox and of what was rejected."""

from __future__ import annotations

from typing import Any

from fuzz_engine import Target
from fuzz_yard import held, instead_of, root

from quire.files.json_files import decode_object, input_text, lines, parse_strict, pretty
from quire.inbox.proposals import value_digest
from quire.inbox.rejections import read_rejections
from quire.inbox.reviewed_records import read_reviewed
from quire.inbox.store import count_pending, read_inbox
from quire.layers.facts.access import read_access
from quire.layers.facts.checks import check_facts
from quire.layers.facts.lines import encode_record, read_lines
from quire.layers.facts.normalize import changed_ids, file_state, normal_file, take_in
from quire.layers.facts.notes import read_notes
from quire.layers.facts.originals import not_imported
from quire.layers.facts.resolve import resolve_reading
from quire.layers.facts.sessions import read_sessions
from quire.layers.facts.source import FactSource
from quire.layers.facts.types import Stored
from quire.layers.facts.working_memory import read_working
from quire.layers.graph.checks import check_graph
from quire.layers.graph.intent import parse_intent, read_intent
from quire.layers.graph.source import GraphSource
from quire.layers.graph.store import GraphStore
from quire.layers.graph.stored import StoredNode
from quire.model.errors import QuireError
from quire.model.records import Problem

__all__ = ["TARGETS", "of_file", "told"]


def told(found: Any) -> Any:
    """Problems must be sentences that can be shown; what was read besides them is given back."""
    for item in found:
        if isinstance(item, Problem):
            assert item.message, item
            assert item.path.encode() is not None, item
    return found


# -- the graph ----------------------------------------------------------------------------------------------------


def _graph(path: str) -> object:
    store = GraphStore(root())
    name = path.removeprefix(".memory/").replace(".md", ".json")
    read: list[Any] = []
    if name.startswith(("memory/", "relations/")):
        read = told(list(GraphSource(store).read([name])))
        assert len(read) == 1, "a file is a record or a problem"
        stored = store.read_node(name) if name.startswith("memory/") else None
        if isinstance(stored, StoredNode):
            assert isinstance(stored.hash_holds, bool)
            assert decode_object(pretty(stored.fields)) == stored.fields
    return read, told(check_graph(store))


def _config() -> object:
    return GraphStore(root()).config(), told(check_graph(GraphStore(root())))


def _events() -> object:
    store = GraphStore(root())
    return list(store.events()), told(check_graph(store)), store.deletion_of("feature.gone")


def _intent(data: bytes) -> object:
    draft = read_intent(parse_intent(data, "The input"))
    for problem in draft.problems:
        assert problem.message, problem
    return draft.problems


def _strict(data: bytes) -> object:
    value = parse_strict(input_text(data, "The input"), "The input")
    try:
        again = pretty(value)
    except (UnicodeEncodeError, OverflowError):
        return "not to be written"
    assert parse_strict(again.decode(), "again") == value
    return value


# -- the facts ----------------------------------------------------------------------------------------------------


def _facts(data: bytes) -> object:
    reading = read_lines(data)
    told(reading.problems)
    records: list[Stored] = [*reading.facts, *reading.connections, *reading.episodes, *reading.minds]
    for record in records:
        line = encode_record(record)
        again = read_lines(line)
        assert not again.aside, f"what was written is no record: {again.aside}"
        kept: list[Stored] = [*again.facts, *again.connections, *again.episodes, *again.minds]
        assert len(kept) == 1
        back = kept[0]
        assert encode_record(back) == line, "written, read and written again is something else"
        assert repr(back.extra) == repr(record.extra), "what nobody knows was lost"
    resolved = resolve_reading(reading)
    normal = normal_file(data)
    again_normal = normal_file(normal.data)
    assert again_normal.data == normal.data, "a normal file is not normal"
    taken = take_in(b"", data, "other")
    once = take_in(taken.data, data, "other")
    assert once.data == taken.data, "taking in twice is not taking in once"
    assert changed_ids(data, data) == []
    return resolved, file_state(data)


def _fact_file() -> object:
    return told(list(FactSource(root()).read(["facts.jsonl"]))), told(check_facts(root()))


# -- the inbox ----------------------------------------------------------------------------------------------------


def _inbox() -> object:
    found = read_inbox(root())
    told(found.problems)
    return found.proposals, len(found.problems), count_pending(root())


def _rejected() -> object:
    found = read_rejections(root())
    told(found.problems)
    return found.match("Use Redis for the queue."), found.without("One. Use Redis for the queue. Two."), found.problems


_PROPOSALS = (
    b'{"id":"0123456789ab","into":"facts","kind":"Decisions","text":"Use Redis for the queue.","fields":{"section":'
    b'"Decisions","content":"Use Redis for the queue."},"origin":"session","by":"agent","status":"pending",'
    b'"evidence":[{"where":"s1.jsonl:3","quote":"Use Redis.","by":"user"}],"proposed_at":"2026-03-02T11:19:00Z"}\n'
    b'{"id":"1123456789ab","into":"graph","kind":"gotcha","text":"Cents drift.","fields":{"title":"Cents"},'
    b'"origin":"import","by":"user","status":"rejected"}\n'
)
_REJECTED = "Use Redis for the queue."
_REJECTION = (
    b'{"version":1,"value":"Use Redis for the queue.","reason":"too dear","kind":"decision","origin":"session:x",'
    b'"rejected_at":"2026-03-02T11:19:00Z"}\n'
)
_FACTS = (
    b'{"_type":"fact","id":"Ab3dEf6h","section":"Decisions","content":"Use Redis.","status":"active","content_hash":'
    b'"0123456789abcdef","created_at":"2026-03-02T11:19:00Z","version":3,"tags":["a"],"x_other":{"a":[1]}}\n'
    b'{"_type":"edge","id":"e1","source_fact_id":"Ab3dEf6h","target_fact_id":"Cd5","relation":"depends_on"}\n'
    b'{"_type":"episode","id":"p1","session_id":"s","title":"t","narrative":"n","tags":[],"fact_ids":["Ab3dEf6h"]}\n'
    b'{"_type":"mind","name":"default","status":"active"}\n'
    b'{"_type":"fact","id":"Cd5","supersedes":"Ab3dEf6h","mind":"default","section":"Specs","content":"- dash",'
    b'"confidence":0.5,"reinforcement_count":2,"decay_rate":0.05,"last_reinforced":"2026-03-02T11:19:00.5+02:00"}\n'
)


def of_file(name: str, path: str, look: Any, modules: str, *more: bytes, own: bool = True, cost: int = 8) -> Target:
    """A target whose input is a file of the project, beginning with what lies there."""
    run = instead_of(path, look)
    return Target(name, run, lambda: [*(held(path) if own else []), *more], modules, (QuireError,), cost=cost)


TARGETS: tuple[Target, ...] = (
    of_file("graph-config", ".memory/config.json", _config, "layers.graph.store model.config layers.graph.checks"),
    of_file(
        "graph-node",
        ".memory/memory/victim.json",
        lambda: _graph(".memory/memory/victim.json"),
        "layers.graph.store layers.graph.codec layers.graph.source layers.graph.checks layers.graph.damage "
        "layers.graph.leaks layers.graph.schemas model.json_schema files.json_files",
    ),
    of_file("graph-body", ".memory/memory/victim.md", lambda: _graph(".memory/memory/victim.md"), "layers.graph.codec"),
    of_file(
        "graph-relation",
        ".memory/relations/feature-victim-depends-on-feature-witness.json",
        lambda: _graph(".memory/relations/feature-victim-depends-on-feature-witness.json"),
        "layers.graph.store",
    ),
    of_file("graph-events", ".memory/events.jsonl", _events, "layers.graph.store layers.graph.checks"),
    of_file("graph-schema", ".memory/schema/relation.schema.json", lambda: _graph("schema"), "layers.graph.checks"),
    Target(
        "intent",
        _intent,
        lambda: [
            b'{"task":"t","nodes":[{"kind":"feature","title":"A","body":"b","anchors":["src/**"],"tags":["x"],'
            b'"related":[{"predicate":"depends_on","to":"feature.b"}],"evidence":[{"kind":"file","id":"a.py"}]}],'
            b'"stale":[{"id":"feature.c","reason":"gone"}],"supersede":[{"id":"feature.d","superseded_by":"feature.a","reason":"r"}]}',
            b'{"task":"t","nodes":[{"id":"decision.x","status":"active"}],"delete":[{"id":"gotcha.y","reason":"x"}],"confirm":[{"id":"feature.e"}]}',
        ],
        "layers.graph.intent layers.graph.types guard.admission model.json_schema",
        (QuireError,),
    ),
    Target(
        "json-strict",
        _strict,
        lambda: [b'{"a":[1,2.5,"x",null,true],"b":{"c":""}}', b"[]", b'"text"'],
        "files.json_files",
        (QuireError,),
    ),
    Target("jsonl", lambda data: list(lines(data)), lambda: [b"a\nb\r\n\n", b"a"], "files.json_files"),
    Target(
        "facts-lines",
        _facts,
        lambda: [_FACTS, *held(".memory/facts.jsonl")],
        "layers.facts.lines layers.facts.objects layers.facts.content layers.facts.resolve layers.facts.winners "
        "layers.facts.normalize layers.facts.records",
        cost=2,
    ),
    of_file("facts-file", ".memory/facts.jsonl", _fact_file, "layers.facts.source layers.facts.checks", _FACTS, cost=2),
    of_file(
        "facts-access",
        ".memory/local/access.jsonl",
        lambda: read_access(root(), []),
        "layers.facts.access files.local_files",
        b'{"id":"Ab3dEf6h","at":"2026-03-02T11:19:00Z"}\n{"id":"b","at":"2026-03-02T11:19:01.5+02:00"}\n',
        own=False,
        cost=1,
    ),
    of_file("facts-notes", ".memory/local/notes.md", lambda: read_notes(root(), []), "layers.facts.notes", cost=1),
    of_file(
        "facts-working",
        ".memory/local/working.json",
        lambda: read_working(root()),
        "layers.facts.working_memory",
        cost=1,
    ),
    of_file(
        "facts-session",
        ".memory/local/sessions/2348f998744212575d85959674f9607a.json",
        lambda: read_sessions(root()),
        "layers.facts.sessions",
        cost=1,
    ),
    of_file(
        "reviewed",
        ".memory/local/reviewed",
        lambda: sorted(read_reviewed(root(), ".memory")),
        "inbox.reviewed_records",
        b"0123456789abcdef0123456789abcdef\nfedcba9876543210fedcba9876543210\n",
        own=False,
        cost=1,
    ),
    of_file(
        "facts-of-the-original",
        "ai/memory/facts.jsonl",
        lambda: not_imported(root()),
        "layers.facts.originals",
        b'{"_type":"fact","id":"Ab3dEf6h","content":"x"}\n{"_type":"edge","id":"b"}\n{"_type":"fact","id":1}\n',
        own=False,
        cost=1,
    ),
    of_file("inbox", ".memory/local/inbox.jsonl", _inbox, "inbox.store inbox.proposals", _PROPOSALS, own=False, cost=1),
    of_file(
        "rejections",
        f".memory/rejected/{value_digest(_REJECTED)}.json",
        _rejected,
        "inbox.rejections",
        _REJECTION,
        own=False,
        cost=1,
    ),
)
