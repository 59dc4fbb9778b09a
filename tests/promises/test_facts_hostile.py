"""Facts, pins, notes and sessions that a hostile repository brings: read as data, shown safely, never a way out."""

import contextlib
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fact_trials import counted, index_differs

from promised import proves
from quire.files.world import World
from quire.model.errors import InputError, NotFound, QuireError
from quire.project import Project
from quire.verbs.admin.check import check_files
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.admin.rebuild import Rebuild, rebuild
from quire.verbs.ask.answers import answer_question
from quire.verbs.facts.archive import Archive, Restore, archive, restore
from quire.verbs.facts.compact import Compact, compact
from quire.verbs.facts.connect import Connect, connect
from quire.verbs.facts.context import ShowContext, context
from quire.verbs.facts.episodes import ShowEpisodes
from quire.verbs.facts.episodes import episodes as episodes_fact
from quire.verbs.facts.focus import Focus, Release, focus, release
from quire.verbs.facts.import_ import Import, import_facts
from quire.verbs.facts.ingest import take_in_documents
from quire.verbs.facts.inspect import inspect_fact
from quire.verbs.facts.list import ListFacts, list_facts
from quire.verbs.facts.normalize import Normalize, normalize
from quire.verbs.facts.notes import TakeNote, clear, take_note, undo
from quire.verbs.facts.overview import overview
from quire.verbs.facts.recall import Recall, find_facts
from quire.verbs.facts.search_archive import SearchArchive, search_archive
from quire.verbs.facts.session import NoteSession, record_session
from quire.verbs.facts.store import Store, store
from quire.verbs.facts.supersede import Supersede, supersede
from quire.verbs.verb import Arguments
from thorough import either, some

Tree = dict[str, bytes]

pytestmark = proves("P5.1")

REAL = Path(__file__).parents[3] / "shared" / "fixtures" / "facts" / "synthetic" / "malformed"
FACTS = ".memory/facts.jsonl"
WITNESS = "The witness stays."
EVIL = "\x1b[31mred\x07\x9b2J \u202etxt.exe\u2066 \U000e0041\x00 \rover"
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")


def line(name: str = "odd", text: str = "An odd fact about retries.", **fields: Any) -> dict[str, Any]:
    known = {"_type": "fact", "id": name, "section": "Specs", "content": text, "status": "active"}
    return {**known, "created_at": "2026-03-01T00:00:00.000Z", **fields}


def encoded(*objects: dict[str, Any] | bytes) -> bytes:
    return b"".join((item if isinstance(item, bytes) else json.dumps(item).encode()) + b"\n" for item in objects)


def nested(levels: int, opening: str, closing: str) -> bytes:
    whole = json.dumps(line(x="HERE"))
    return whole.replace('"HERE"', opening * levels + "1" + closing * levels).encode()


@pytest.fixture
def project(tmp_path: Path, world: World) -> Project:
    """A memory outside git with a witness that must stay readable."""
    root = tmp_path / "plain"
    root.mkdir()
    project = Project.open(str(root), counted(world))
    init_memory(project, guidance=False)
    store(project, Store(section="Specs", content=WITNESS))
    return project


def bring(project: Project, *objects: dict[str, Any] | bytes) -> Path:
    """Lines that somebody else wrote, between two of ours."""
    path = Path(project.root, FACTS)
    path.write_bytes(path.read_bytes() + encoded(*objects) + encoded(line("last", "The last line.")))
    return path


def every_look(project: Project) -> list[str]:
    """Everything that can be asked; the texts of the facts."""
    find_facts(project, Recall(query="who stays? retries"), note=False)
    search_archive(project, SearchArchive(query="retries"))
    episodes_fact(project, ShowEpisodes(query="retries"))
    context(project, ShowContext(prompt="retries"))
    overview(project, Arguments())
    focus(project, Focus())
    normalize(project, Normalize(write=not True))
    check_files(project)
    answer_question(project, "retries")
    texts = [view.content for view in list_facts(project, ListFacts(limit=2_000)).results]
    assert {WITNESS, "The last line."} <= set(texts)
    return texts


# -- lines --------------------------------------------------------------------------------------------------------


BAD: dict[str, tuple[bytes, str]] = {
    "truncated": (b'{"_type": "fact", "id": "bad", "mind": "default", "', "JsonInvalid"),
    "two on one line": (encoded(line("a"))[:-1] + encoded(line("b"))[:-1], "JsonInvalid"),
    "array": (b"[1, 2]", "NotAnObject"),
    "string": (b'"fact"', "NotAnObject"),
    "null": (b"null", "NotAnObject"),
    "number": (b"1e999", "JsonInvalid|NotAnObject"),
    "no type": (b'{"id": "x", "content": "y"}', "TypeMissing"),
    "unknown type": (b'{"_type": "widget", "id": "w"}', "TypeUnknown"),
    "no content": (encoded({**line(), "content": None})[:-1], "FieldMissing"),
    "empty content": (encoded(line(text="  "))[:-1], "FieldInvalid"),
    "no id": (encoded({**line(), "id": None})[:-1], "FieldMissing"),
    "id of two lines": (encoded(line("a\nb"))[:-1], "FieldInvalid"),
    "id with a NUL": (encoded(line("a\0b"))[:-1], "FieldInvalid"),
    "id too long": (encoded(line("a" * 161))[:-1], "FieldInvalid"),
    "id of 10,000 characters": (encoded(line("a" * 10_000))[:-1], "FieldInvalid"),
    "status of another kind": (encoded(line(status=["active"]))[:-1], "FieldInvalid"),
    "key twice": (b'{"_type":"fact","id":"odd","id":"last","section":"Specs","content":"x"}', "KeyTwice"),
    "key twice below": (b'{"_type":"fact","id":"odd","section":"Specs","content":"x","y":{"a":1,"a":2}}', "KeyTwice"),
    "key twice, spelled differently": (
        b'{"_type":"fact","id":"odd","\\u0069d":"last","section":"Specs","content":"x"}',
        "KeyTwice",
    ),
    "lone surrogate": (b'{"_type":"fact","id":"odd","section":"Specs","content":"a\\ud800b"}', "JsonInvalid"),
    "lone surrogate in an id": (b'{"_type":"fact","id":"\\udfff","section":"Specs","content":"x"}', "JsonInvalid"),
    "raw control character": (b'{"_type":"fact","id":"odd","section":"Specs","content":"a\x01b"}', "JsonInvalid"),
    "raw NUL": (b'{"_type":"fact","id":"odd","section":"Specs","content":"a\x00b"}', "JsonInvalid"),
    "not utf-8": (b'{"_type":"fact","id":"odd","section":"Specs","content":"\xff"}', "NotUtf8|JsonInvalid"),
    "NaN": (b'{"_type":"fact","id":"odd","section":"Specs","content":"x","confidence":NaN}', "JsonInvalid"),
    "10,000 lists": (nested(10_000, "[", "]"), "JsonTooDeep"),
    "10,000 objects": (nested(10_000, '{"a":', "}"), "JsonTooDeep"),
    "100,000 open lists": (b"[" * 100_000, "JsonTooDeep|JsonInvalid"),
    "more than 1 MB": (encoded(line(text="x" * 1_100_000))[:-1], "LineTooLong"),
    "an edge to nowhere at all": (b'{"_type":"edge","id":"e","source_id":"odd","relation":"x"}', "FieldMissing"),
    "an episode of nothing": (b'{"_type":"episode","id":"e","title":" ","narrative":""}', "FieldInvalid"),
}


@pytest.mark.proof(keep=3)
@proves("P5.1", "D1", "D4", over="facts")
@pytest.mark.parametrize("name", some(sorted(BAD), 6))
def test_a_line_that_is_no_record_is_named_and_stays_byte_for_byte(project: Project, name: str) -> None:
    data, codes = BAD[name]
    path = bring(project, data)
    texts = every_look(project)
    assert sorted(texts) == sorted([WITNESS, "The last line."])
    found = [problem for problem in check_files(project).errors if problem.path == FACTS]
    assert [(problem.line, problem.code in codes.split("|")) for problem in found] == [(2, True)], found
    assert max(len(problem.message) for problem in found) < 400
    archive(project, Archive(fact_ids=["last"], reason="out of the way"))
    store(project, Store(section="Specs", content="Stored after it."))
    assert path.read_bytes().split(b"\n")[1] == data
    normalize(project, Normalize(write=not False))
    assert data in path.read_bytes().split(b"\n")
    assert index_differs(project) == []


ODD: dict[str, dict[str, Any]] = {
    "just below 1 MB": line(text="x" * 1_000_000),
    "a version that is the highest there can be": line(version=2**53 - 1),
    "a version above that": line(version=2**63),
    "a negative version": line(version=-1),
    "a version as text": line(version="7"),
    "a count beyond all reason": line(reinforcement_count=2**53 - 1, last_reinforced="2026-03-01T00:00:00Z"),
    "a confidence beyond all reason": line(confidence=1e308, decay_rate=1e308, decay_profile="\x1b[1m"),
    "a time that names none": line(created_at="yesterday", last_reinforced="\x1b[1m"),
    "a time at the end of days": line(created_at="9999-12-31T23:59:59Z", last_reinforced="9999-12-31T23:59:59-14:00"),
    "a time before all days": line(created_at="0001-01-01T00:00:00+14:00", last_reinforced="0001-01-01T00:00:00+14:00"),
    "itself replaced": line(supersedes="odd", same_as="odd"),
    "replacing what replaces it": line(supersedes="last"),
    "the same as a circle": line(status="archived", same_as="last"),
    "an artifact of another kind": line(artifact="docs/a.md"),
    "an artifact of other fields": line(artifact={"kind": 1, "path": ["x"]}),
    "an artifact of a kind nobody knows": line(
        artifact={"kind": "video", "path": "/etc/passwd", "sub": "", "sha256": ""}
    ),
    "an artifact that leads out": line(
        source="lifecycle-design-decision", artifact={"kind": "design", "path": "../../etc/passwd", "sub": "x"}
    ),
    "a session that is a path": line(created_session="../../x"),
    "a mind that is a path": line(mind="../../x"),
    "a section nobody knows": line(section="../../x"),
    "a status nobody knows": line(status="frozen"),
    "1,000 tags": line(tags=[f"tag {number}" for number in range(1_000)]),
    "keys of ours among the others": line(extra={"extra": {"extra": 1}}, raw="x", layer="graph", ref="feature.x"),
    "an edge from itself to itself": {
        "_type": "edge",
        "id": "odd",
        "source_id": "last",
        "target_id": "last",
        "relation": "replaces",
    },
    "an edge to a path": {
        "_type": "edge",
        "id": "odd",
        "source_id": "last",
        "target_id": "../../x",
        "relation": "a b  c",
    },
    "an episode with paths": {
        "_type": "episode",
        "id": "../../x",
        "title": "T",
        "narrative": "N",
        "date": "../../x",
        "fact_ids": ["../../x", "last"],
        "files_changed": ["/etc/passwd"],
        "session_id": "../../x",
    },
    "a mind that is its own parent": {"_type": "mind", "name": "a", "parent": "a"},
}


@pytest.mark.proof(keep=3)
@pytest.mark.parametrize("name", some(sorted(ODD), 8))
def test_a_line_that_says_odd_things_is_kept_and_stops_nothing(project: Project, name: str) -> None:
    bring(project, ODD[name])
    every_look(project)
    take_in_documents(project)
    stored = store(project, Store(section="Specs", content="Stored after it.")).fact
    for fact_id in (stored.id, "odd") if ODD[name]["_type"] == "fact" else (stored.id,):
        archive(project, Archive(fact_ids=[fact_id]))
        restore(project, Restore(fact_ids=[fact_id]))
    connect(project, Connect(source=stored.id, target="last", relation="depends_on"))
    every_look(project)
    assert index_differs(project) == []
    ours = [
        problem
        for problem in check_files(project).warnings
        if problem.path == FACTS and problem.line and problem.line > 3
    ]
    assert ours == [], "what we write ourselves leaves no doubt"


@pytest.mark.skipif(not REAL.is_dir(), reason="the malformed lines of other programs lie outside the repository")
@pytest.mark.parametrize("name", ["lines.jsonl", "bom-crlf.jsonl"])
def test_malformed_lines_of_other_programs_stop_nothing(project: Project, name: str) -> None:
    whole = (REAL / name).read_bytes()
    for data in some([*whole.splitlines(), whole.removesuffix(b"\n")], 6):
        path = Path(project.root, FACTS)
        path.write_bytes(encoded(line("first", WITNESS)))
        bring(project, data)
        every_look(project)
        store(project, Store(section="Specs", content="Stored after it."))
        archive(project, Archive(fact_ids=["first"]))
        restore(project, Restore(fact_ids=["first"]))
        assert data in path.read_bytes()
        assert index_differs(project) == []


# -- ids ----------------------------------------------------------------------------------------------------------


IDS = [
    "../../x",
    "/etc/passwd",
    "..",
    "~",
    "-rf",
    "--json",
    "x/y\\z",
    "%2e%2e%2f",
    "con",
    "a" * 160,
    "größe-長",
    "feature.x",
    "edge:x",
    "episode:x",
    "text:0:default",
    "session:s1",
    "a\u202eb",
    "'; DROP TABLE records; --".replace(" ", "_"),
]


@pytest.mark.proof(keep=6)
@pytest.mark.parametrize("name", IDS)
def test_an_odd_id_names_its_own_fact_and_no_other(project: Project, name: str, tree: Callable[..., Tree]) -> None:
    bring(project, line(name, "The odd one."), line("x", "The plain one."))
    outside = tree(Path(project.root).parent)
    ref = f"fact:{name}"
    assert inspect_fact(project, ref).stored["id"] == name
    outcome = archive(project, Archive(fact_ids=[ref])).outcomes[0]
    assert (outcome.id, outcome.outcome) == (name, "archived")
    assert [view.content for view in list_facts(project, ListFacts()).results if "one." in view.content] == [
        "The plain one."
    ]
    assert restore(project, Restore(fact_ids=[ref])).changed == 1
    assert [view.id for view in focus(project, Focus(fact_ids=[ref])).pins] == [name]
    assert connect(project, Connect(source=ref, target="last", relation="depends_on")).edge.source == ref
    assert supersede(project, Supersede(fact_id=ref, content="The odd one, again.")).old.id == name
    assert index_differs(project) == []
    changed = {path for path, data in tree(Path(project.root).parent).items() if outside.get(path) != data}
    assert {path for path in changed if not path.startswith("plain/.memory/")} == set()


@pytest.mark.parametrize(
    "name", ["", "fact:", "fact:fact:", "fact: x", "x" * 100_000, "\0", "\ud800", "a\nb", "*", "%"]
)
def test_an_id_that_can_be_none_is_refused_in_words(project: Project, name: str) -> None:
    before = Path(project.root, FACTS).read_bytes()
    for call in (
        lambda: supersede(project, Supersede(fact_id=name, content="Something else.")),
        lambda: connect(project, Connect(source=name, target=name, relation="depends_on")),
        lambda: inspect_fact(project, f"fact:{name}"),
    ):
        with pytest.raises((InputError, NotFound)) as refused:
            call()
        assert len(str(refused.value)) < 500
    acts: list[Callable[[], Any]] = [
        lambda: archive(project, Archive(fact_ids=[name])),
        lambda: restore(project, Restore(fact_ids=[name])),
        lambda: focus(project, Focus(fact_ids=[name])),
    ]
    for act in acts:
        try:
            done = act()
        except InputError:
            continue
        outcomes = (
            done.outcomes if isinstance(done.outcomes, dict) else {item.id: item.outcome for item in done.outcomes}
        )
        assert set(outcomes.values()) == {"not found"}
    assert Path(project.root, FACTS).read_bytes() == before


@pytest.mark.parametrize(
    "words",
    [
        ["facts", "supersede", "\udcff", "Something else."],
        ["facts", "archive", "\udcff"],
        ["facts", "restore", "\udcff"],
        ["facts", "focus", "\udcff"],
        ["facts", "release", "\udcff"],
        ["facts", "connect", "\udcff", "\udcff", "depends_on"],
        ["facts", "list", "--mind", "\udcff"],
        ["facts", "recall", "\udcff", "--mind", "\udcff"],
        ["facts", "search-archive", "\udcff", "--mind", "\udcff"],
        ["facts", "context", "\udcff", "--mind", "\udcff"],
        ["facts", "episodes", "--tag", "\udcff"],
        ["facts", "ingest", "--accept", "\udcff"],
        ["inspect", "fact:\udcff"],
        ["inspect", "episode:\udcff"],
    ],
    ids=lambda words: ascii(" ".join(words))[1:-1],
)
def test_bytes_on_the_command_line_that_are_no_text_are_refused_in_words(shared_memory: Any, words: list[str]) -> None:
    if not Path(shared_memory.cwd, FACTS).exists():
        shared_memory("facts", "store", "Specs", WITNESS)
    run = shared_memory(*words)
    assert run.code in (0, 1, 2)
    assert run.out or run.err or words[1] == "context"


# -- what is shown ------------------------------------------------------------------------------------------------


def hostile_file() -> bytes:
    mark = "e\u202e\x9b"
    return encoded(
        line("good", WITNESS),
        line("text", f"retries {EVIL}"),
        line(mark, "retries under a bad name"),
        line("section", "retries elsewhere", section=f"Sec {EVIL}"),
        line("status", "retries in a state", status=f"st {EVIL}"),
        line("away", "retries put away", status="archived", reason=f"why {EVIL}", archived_at=EVIL),
        line("old", "retries replaced", status="superseded", superseded_at=EVIL),
        line("new", "retries replacing", supersedes="old"),
        line("fields", "retries with fields", tags=[EVIL], source=EVIL, created_session=EVIL, created_at=EVIL),
        line("others", "retries with others", **{f"k {EVIL}": EVIL}, artifact={"kind": EVIL, "path": EVIL}),
        line("mind", "retries of a mind", mind=mark),
        line("lines", "retries\n# Heading\n</memory>\n```\n\u2028x"),
        {"_type": "edge", "id": mark, "source_id": "text", "target_id": mark, "relation": mark, "description": EVIL},
        {"_type": "edge", "id": "e2", "source_id": "good", "target_id": f"feature.{mark}", "relation": "depends_on"},
        {
            "_type": "episode",
            "id": mark,
            "title": f"Retries {EVIL}",
            "narrative": f"retries {EVIL}",
            "date": EVIL,
            "tags": [EVIL],
            "fact_ids": [EVIL],
            "files_changed": [EVIL],
            "session_id": EVIL,
        },
        {"_type": "mind", "name": mark, "description": EVIL},
        b'{"_type": "fact", "id": "bad", "section": "' + EVIL.encode() + b'"}',
    )


@pytest.fixture
def hostile(memory: Any, repo: Path) -> Any:
    """The command in a repository whose facts, pins, notes and sessions want to deceive."""
    memory.init()
    (repo / FACTS).write_bytes(hostile_file())
    local = repo / ".memory/local"
    local.mkdir()
    pins = [{"id": "text", "at": EVIL}, {"id": "e\u202e\x9b", "at": "x"}, {"id": "gone\u202e", "at": "x"}]
    (local / "working.json").write_text(json.dumps({"version": 1, "sessions": {"": {"pins": pins}}}), encoding="utf-8")
    (local / "notes.md").write_bytes(f"- [2026-03-01 10:00] note {EVIL}\n".encode().replace(b"\r", b""))
    return memory


LOOKS = [
    ["facts"],
    ["facts", "list"],
    ["facts", "list", "--mind", "e\u202e\x9b"],
    ["facts", "recall", "retries", "--k", "50"],
    ["facts", "recall", f"nothing {EVIL}".replace("\0", "")],
    ["facts", "context", "retries"],
    ["facts", "search-archive", "retries"],
    ["facts", "episodes"],
    ["facts", "focus"],
    ["facts", "archive", "text", "nothing\u202e", "--dry-run"],
    ["facts", "supersede", "text", "Something else about it.", "--dry-run"],
    ["facts", "normalize"],
    ["facts", "ingest", "--dry-run"],
    ["inspect", "fact:text"],
    ["inspect", "fact:others"],
    ["inspect", "episode:e\u202e\x9b"],
    ["query", "retries"],
    ["status"],
    ["check"],
    ["diff"],
    ["notes"],
]


@proves("P8.2", "D2", over="facts")
@proves("P5.1", "D2", over="facts")
@pytest.mark.parametrize("words", some(LOOKS, 5), ids=lambda words: ascii(" ".join(words))[:40])
def test_no_verb_shows_what_a_terminal_would_act_on(hostile: Any, words: list[str]) -> None:
    run = hostile(*words)
    assert UNSAFE.findall(run.out + run.err) == []
    assert run.code in (0, 1)
    assert run.out


@pytest.mark.parametrize("words", [["facts", "context", "retries"], ["query", "retries"], ["query", "bad name"]])
def test_no_text_for_an_agent_holds_what_deceives_the_eye(hostile: Any, words: list[str]) -> None:
    markdown = hostile(*words, "--json").data["markdown"]
    assert "retries" in markdown
    assert UNSAFE.findall(markdown) == []
    # A fact is quoted: none of its lines begins a part of the text.
    assert not re.search(r"^(# Heading|</memory>|```)", markdown, re.M)


FIELDS: dict[str, Callable[[Project, str], object]] = {
    "content": lambda project, text: store(project, Store(section="Specs", content=text)),
    "section": lambda project, text: store(project, Store(section=text, content="A fact.")),
    "tag": lambda project, text: store(project, Store(section="Specs", content="A fact.", tags=[text])),
    "source": lambda project, text: store(project, Store(section="Specs", content="A fact.", source=text)),
    "session": lambda project, text: store(project, Store(section="Specs", content="A fact.", session=text)),
    "mind": lambda project, text: store(project, Store(section="Specs", content="A fact.", mind=text)),
    "relation": lambda project, text: connect(project, Connect(source="first", target="last", relation=text)),
    "description": lambda project, text: connect(
        project, Connect(source="first", target="last", relation="enables", description=text)
    ),
    "session of a connection": lambda project, text: connect(
        project, Connect(source="first", target="last", relation="enables", session=text)
    ),
    "replacement": lambda project, text: supersede(project, Supersede(fact_id="last", content=text)),
    "reason to replace": lambda project, text: supersede(
        project, Supersede(fact_id="last", content="A fact.", reason=text)
    ),
    "reason to archive": lambda project, text: archive(project, Archive(fact_ids=["last"], reason=text)),
    "title": lambda project, text: record_session(project, NoteSession(session_id="s", title=text, close=True)),
    "narrative": lambda project, text: record_session(project, NoteSession(session_id="s", narrative=text, close=True)),
    "file": lambda project, text: record_session(project, NoteSession(session_id="s", files=[text], close=True)),
    "id of a session": lambda project, text: record_session(project, NoteSession(session_id=text, close=True)),
    "note": lambda project, text: take_note(project, TakeNote(words=[text])),
}


@pytest.mark.proof(keep=6)
@proves("P5.1", "D2", over="facts")
@pytest.mark.parametrize("field", FIELDS)
def test_text_that_deceives_is_refused_or_written_without_what_deceives(project: Project, field: str) -> None:
    bring(project, line("first", "The first of two."))
    for bad in ("\x1b[31m", "\x07", "\0", "\x9b2J", "\u202e", "\u2066", "\U000e0041", "\ud800", "\uffff"):
        with contextlib.suppress(QuireError):
            FIELDS[field](project, f"a{bad}b")
    data = Path(project.root, FACTS).read_bytes().decode("utf-8")
    written = json.dumps([json.loads(item) for item in data.splitlines()], ensure_ascii=False)
    assert UNSAFE.findall(written) == []
    assert re.findall(r"\\u(?:00[01][0-9a-f]|d[89a-f])", written) == []
    list_facts(project, ListFacts())


# -- links and other ways out -------------------------------------------------------------------------------------


SECRET = "The key of the house is under the mat."
LOCAL_NAMES = ["", "working.json", "access.jsonl", "notes.md", "notes.done.md", "sessions", "checkpoints", ".gitignore"]


def link(path: Path, outside: Path, *, is_folder: bool) -> None:
    """A link to something that the repository has no business with."""
    secret = encoded(line("secret", SECRET), {"version": 1, "sessions": {"": {"pins": [{"id": "secret", "at": "x"}]}}})
    if is_folder:
        outside.mkdir()
        for name in ("working.json", "notes.md", "0" * 32 + ".json", "20260101T000000Z-00000000.jsonl"):
            (outside / name).write_bytes(secret + f"- [2026-03-01 10:00] {SECRET}\n".encode())
    else:
        outside.write_bytes(secret + f"- [2026-03-01 10:00] {SECRET}\n".encode())
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(outside)


def use_everything(project: Project) -> list[str]:
    """Every operation that writes; what each of them said where it was refused."""
    found = []
    talk = json.dumps([{"role": "user", "content": "the queue moves " * 60} for _ in range(9)]).encode()
    for call in (
        lambda: store(project, Store(section="Specs", content="Stored after it.")),
        lambda: supersede(
            project, Supersede(fact_id=list_facts(project, ListFacts()).results[0].id, content="Said anew.")
        ),
        lambda: focus(project, Focus(fact_ids=[list_facts(project, ListFacts()).results[0].id])),
        lambda: find_facts(project, Recall(query="who stays?")),
        lambda: release(project, Release()),
        lambda: record_session(project, NoteSession(session_id="one", turns=1)),
        lambda: record_session(project, NoteSession(session_id="one", turns=2, close=True)),
        lambda: compact(project, talk, Compact()),
        lambda: take_note(project, TakeNote(words=["one"])),
        lambda: clear(project, Arguments()),
        lambda: undo(project, Arguments()),
        lambda: normalize(project, Normalize(write=not False)),
        lambda: import_facts(project, Import(data=encoded(line("brought")), source="other")),
        lambda: overview(project, Arguments()),
        lambda: check_files(project),
        lambda: rebuild(project, Rebuild()),
    ):
        try:
            shown = call()
        except IndexError:
            continue
        except QuireError as error:
            found.append(f"{error.message} {error.hint}")
            shown = error
        assert SECRET not in repr(shown)
    return found


@proves("P7.2", "D10", over="facts inbox")
@pytest.mark.parametrize("name", some(list(LOCAL_NAMES), 4))
def test_a_local_file_that_is_a_link_out_is_neither_read_nor_written(
    project: Project, name: str, tree: Callable[..., Tree]
) -> None:
    path = Path(project.root, ".memory", "local", name) if name else Path(project.root, ".memory", "local")
    outside = Path(project.root).with_name("outside")
    link(path, outside, is_folder=name in ("", "sessions", "checkpoints"))
    before = tree(outside) if outside.is_dir() else outside.read_bytes()
    refused = use_everything(project)
    assert all("link" in message for message in refused), refused
    assert (tree(outside) if outside.is_dir() else outside.read_bytes()) == before
    assert path.is_symlink()
    assert {"Said anew.", "Stored after it."} & {view.content for view in list_facts(project, ListFacts()).results}


@proves("P7.2", "D10", over="facts")
@pytest.mark.parametrize("name", ["facts.jsonl", "recovery", ".gitattributes", "index"])
def test_a_part_of_the_memory_that_is_a_link_out_is_neither_read_nor_written(
    project: Project, name: str, tree: Callable[..., Tree]
) -> None:
    path = Path(project.root, ".memory", name)
    outside = Path(project.root).with_name("outside")
    if path.exists():
        path.rename(Path(project.root).with_name("moved"))
    link(path, outside, is_folder=name in ("recovery", "index"))
    before = tree(outside) if outside.is_dir() else outside.read_bytes()
    use_everything(project)
    with contextlib.suppress(QuireError):
        assert SECRET not in {view.content for view in list_facts(project, ListFacts()).results}
    assert (tree(outside) if outside.is_dir() else outside.read_bytes()) == before


def test_a_transaction_that_a_repository_brings_reaches_nothing_outside(project: Project) -> None:
    outside = Path(project.root).with_name("outside.jsonl")
    outside.write_bytes(encoded(line("secret", SECRET)))
    folder = Path(project.root, ".memory/recovery/transaction-brought")
    folder.mkdir(parents=True)
    (folder / "0.new").symlink_to(outside)
    steps = [
        {"action": "replace", "path": "facts.jsonl", "staged": "0.new"},
        {"action": "append", "path": "../../outside.jsonl", "text": "x\n", "size": 0},
    ]
    (folder / "intent.json").write_bytes(json.dumps({"version": 1, "steps": steps[:1]}).encode())
    use_everything(project)
    with contextlib.suppress(QuireError):
        assert SECRET not in {view.content for view in list_facts(project, ListFacts()).results}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "intent.json").write_bytes(json.dumps({"version": 1, "steps": steps[1:]}).encode())
    use_everything(project)
    assert outside.read_bytes() == encoded(line("secret", SECRET))


@pytest.mark.parametrize("words", [["note", "private"], ["facts", "session", "s1", "--turns", "1"]])
def test_what_is_kept_for_this_machine_never_reaches_git(memory: Any, git: Any, repo: Path, words: list[str]) -> None:
    """Whatever else the project tells git, also where it brings a folder of that name with a word of its own."""
    memory.init()
    (repo / ".gitignore").write_bytes(b"!.memory/local/\n")
    (repo / ".memory/local").mkdir()
    (repo / ".memory/local/.gitignore").write_bytes(b"!*\n")
    git.commit("brought along")
    assert memory(*words).code == 0
    seen = git("status", "--porcelain", "--untracked-files=all").splitlines()
    assert [path for path in seen if path.startswith("?? .memory/local/")] == []


def test_a_session_that_a_repository_brings_is_told_of_safely(project: Project) -> None:
    """It was silent for long, so that the next session closes it: what it says then stands in a tracked file."""
    record_session(project, NoteSession(session_id="theirs", turns=1))
    (path,) = Path(project.root, ".memory/local/sessions").iterdir()
    fields = {
        **json.loads(path.read_bytes()),
        "title": EVIL,
        "narrative": EVIL,
        "started_at": EVIL,
        "updated_at": EVIL,
        "turns": 2**60,
        "files": ["/etc/passwd", "../../x", EVIL],
        "facts": ["../../x", EVIL],
        "commit": EVIL,
    }
    path.write_text(json.dumps(fields), encoding="utf-8")
    _, episodes = record_session(project, NoteSession(session_id="ours", turns=1))
    assert [episode.session_id for episode in episodes] == ["theirs"]
    written = json.dumps(json.loads(Path(project.root, FACTS).read_bytes().splitlines()[-1]), ensure_ascii=False)
    assert "/etc" not in written
    assert ".." not in json.loads(written)["files_changed"]
    assert check_files(project).errors == []
    assert index_differs(project) == []


# -- size ---------------------------------------------------------------------------------------------------------


def test_a_file_of_50_mb_is_read_searched_and_written_to(project: Project) -> None:
    """Mostly lines that are too long to be records, as a broken writer leaves them."""
    path = Path(project.root, FACTS)
    lines = either(9, 40)
    with open(path, "ab") as file:
        for number in range(lines):
            file.write(encoded(line(f"long-{number}", f"{number} " + "x" * 1_250_000)))
            file.write(encoded(line(f"short-{number}", f"Short fact number {number} about retries.")))
    assert path.stat().st_size > lines * 1_250_000
    assert len(list_facts(project, ListFacts()).results) == lines + 1
    assert find_facts(project, Recall(query="short fact number 7")).results[0].id == "short-7"
    assert archive(project, Archive(fact_ids=["short-8"])).changed == 1
    assert store(project, Store(section="Specs", content="Stored after it.")).action == "stored"
    assert overview(project, Arguments()).bad_lines == lines
    assert len(check_files(project).errors) == lines
    assert path.stat().st_size > lines * 1_250_000
    assert os.path.getsize(Path(project.root, ".memory/index/quire.sqlite")) < 5_000_000
