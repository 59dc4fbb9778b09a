"""Signs that deceive, names that are tricks, ids that do not fit, texts without end: in every layer, by every verb."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from crashing import git
from kinds_catalogue import KINDS, WITNESS, Space, lent, read_all
from kinds_damage import put
from kinds_judge import READING, concerned, judge, survey

from installed import Memory
from promised import proves, tally
from quire.model.errors import InputError, QuireError
from quire.project import Project
from quire.verbs.admin.check import check_files
from quire.verbs.agents.prompt_brief import hook_edit, hook_prompt
from quire.verbs.agents.session_brief import hook_start
from quire.verbs.ask.answers import answer_question
from quire.verbs.ask.inspect import product_map_page
from quire.verbs.facts.archive import Archive, archive
from quire.verbs.facts.connect import Connect, connect
from quire.verbs.facts.context import ShowContext, context
from quire.verbs.facts.list import ListFacts, list_facts
from quire.verbs.facts.notes import TakeNote, take_note
from quire.verbs.facts.session import NoteSession, record_session
from quire.verbs.facts.store import Store, store
from quire.verbs.graph.save import save_nodes
from quire.verbs.inbox.edit import Edit, edit
from quire.verbs.inbox.overview import ShowInbox, inbox
from quire.verbs.inbox.reject import Reject, reject
from quire.verbs.journal.query import JournalQuery, journal_query
from quire.verbs.journal.restore import JournalRestore, journal_restore
from quire.verbs.journal.sources import JournalAdd, add
from quire.verbs.page.record_views import ViewRecord, view_record
from quire.verbs.profile.context import ShowProfileContext, profile_context
from quire.verbs.profile.remember import RememberEntry, remember_entry
from thorough import either, some

EVIL = "\x1b[31m\x1b]0;owned\x07\u202e\u2066\u200b\U000e0041\U000e007f\x9b2J\x00"
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
PLACES = ("graph", "facts", "profile", "journal", "inbox", "wiring", "machine")


@pytest.fixture
def space() -> Iterator[Space]:
    yield from lent()


# -- signs that deceive -------------------------------------------------------------------------------------------

TEXTS = (
    *("sidecar", "relation", "events", "facts", "pins", "session", "profile", "private", "forgotten", "state"),
    *("history", "checkpoint", "archived events", "sources", "settings", "latest run", "runs", "inbox", "rejection"),
    *("receipts", "registry", "record of wiring", "config"),
)
LINES = [
    ["status"],
    ["check"],
    ["query", "where do retries run?"],
    ["inspect", "feature.victim"],
    ["facts", "list"],
    ["facts", "context", "retries"],
    ["facts", "focus"],
    ["facts", "episodes"],
    ["notes"],
    ["profile", "about-me"],
    ["profile", "recall", "tools"],
    ["profile", "index"],
    ["profile", "context"],
    ["profile", "restore"],
    ["journal", "status"],
    ["journal", "log", "--events"],
    ["journal", "query", "what was decided?"],
    ["journal", "validate"],
    ["journal", "sources"],
    ["journal", "automate", "status"],
    ["inbox"],
    ["inbox", "rejected"],
    ["receipts"],
    ["integrate", "--status"],
    ["projects", "list"],
    ["status", "--all"],
    ["doctor"],
]
HANDED: dict[str, Callable[[Project], str]] = {
    "query": lambda project: answer_question(project, "where do retries run?").markdown,
    "facts context": lambda project: context(project, ShowContext(prompt="where do retries run?")).markdown,
    "profile context": lambda project: profile_context(project, ShowProfileContext()).markdown,
    "journal query": lambda project: journal_query(project, JournalQuery(question="what was decided?")).answer,
    "session start": lambda project: hook_start(project, client="claude", session="new", tokens=900, chars=9_000).text,
    "prompt": lambda project: hook_prompt(project, "where do retries run?", tokens=900, chars=9_000).text,
    "edit": lambda project: hook_edit(project, ["src/a.py"], tokens=900, chars=9_000).text,
}


def deceiving(value: Any) -> Any:
    """The same with signs that deceive behind every text that people read; ids and times stay."""
    if isinstance(value, dict):
        return {name: deceiving(item) for name, item in value.items()}
    if isinstance(value, list):
        return [deceiving(item) for item in value]
    return value + EVIL if isinstance(value, str) and " " in value else value


@pytest.fixture
def deceived(space: Space) -> Space:
    """Every text of every file wants to deceive."""
    for name in TEXTS:
        for path in (path for path in space.whole if re.fullmatch(KINDS[name].pattern, path)):
            data = space.whole[path]
            if KINDS[name].form == "lines":
                lines = [json.dumps(deceiving(json.loads(line))).encode() for line in data.splitlines()]
                put(os.path.join(space.folder, path), b"".join(line + b"\n" for line in lines))
            elif path.endswith(".json"):
                put(os.path.join(space.folder, path), json.dumps(deceiving(json.loads(data))).encode())
    body = os.path.join(space.folder, "harbor/.memory/memory/victim.md")
    put(body, Path(body).read_bytes() + EVIL.encode())
    notes = space.path("notes")
    put(notes, Path(notes).read_bytes().rstrip(b"\n") + EVIL.encode() + b"\n")
    return space


def _command(space: Space) -> Memory:
    home = os.path.join(space.folder, "home")
    return Memory(
        Path(space.folder, "harbor"),
        {
            "PATH": os.environ["PATH"],
            "HOME": home,
            "MEMORY_HOME": f"{home}/registry",
            "MEMORY_NOW": "2026-03-04T00:00:00Z",
        },
    )


@pytest.mark.proof
@proves("P8.2", "D2", over="graph facts profile journal inbox")
@proves("P5.1", "D2", over="graph facts profile journal inbox")
def test_no_command_shows_a_terminal_what_it_would_act_on(deceived: Space) -> None:
    memory = _command(deceived)
    shown = 0
    for words in some(LINES, 7):
        run = memory(*words)
        assert UNSAFE.findall(run.out + run.err) == [], words
        assert run.code in (0, 1, 3), (words, run.err)
        shown += 1
    tally("P8.2", inputs=shown, processes=shown)


@proves("P8.2", "D2", over="graph facts profile journal inbox")
def test_no_text_that_is_handed_to_an_agent_holds_what_deceives(deceived: Space) -> None:
    for name, ask in HANDED.items():
        try:
            said = ask(deceived.open())
        except QuireError as error:
            said = error.message
        assert UNSAFE.findall(said) == [], name
    tally("P8.2", inputs=len(HANDED))


# -- texts without end --------------------------------------------------------------------------------------------

LONG_LINE, LONG_TEXT = "x" * either(1_000_000, 10_000_000), "word " * either(200_000, 2_000_000)


def _node(**fields: Any) -> dict[str, Any]:
    return {"task": "t", "nodes": [{"kind": "feature", "title": "Endless", "body": "B.", **fields}]}


def _proposed(text: str) -> Any:
    from quire.inbox.proposals import propose

    return propose("facts", "fact", text, {"section": "Specs", "content": text}, origin="session:claude:t", by="user")


ENDLESS: dict[str, Callable[[Project], object]] = {
    "title": lambda project: save_nodes(project, _node(title=LONG_LINE)),
    "body": lambda project: save_nodes(project, _node(body=LONG_TEXT)),
    "tags": lambda project: save_nodes(project, _node(tags=[f"t{number}" for number in range(100_000)])),
    "tag": lambda project: save_nodes(project, _node(tags=[LONG_LINE])),
    "anchor": lambda project: save_nodes(project, _node(anchors=[LONG_LINE])),
    "task": lambda project: save_nodes(project, {**_node(), "task": LONG_LINE}),
    "keys": lambda project: save_nodes(
        project, _node(**{f"k{number}": 1 for number in range(either(10_000, 1_000_000))})
    ),
    "reason": lambda project: save_nodes(
        project, {"task": "t", "stale": [{"id": "feature.victim", "reason": LONG_LINE}]}
    ),
    "fact": lambda project: store(project, Store(section="Specs", content=LONG_TEXT)),
    "tags of a fact": lambda project: store(project, Store(section="Specs", content="Short.", tags=[LONG_LINE])),
    "section": lambda project: store(project, Store(section=LONG_LINE, content="Short.")),
    "reason of an archive": lambda project: archive(
        project, Archive(fact_ids=[list_facts(project, ListFacts()).results[0].id], reason=LONG_LINE)
    ),
    "relation": lambda project: connect(
        project, Connect(source="feature.victim", target="feature.witness", relation=LONG_LINE)
    ),
    "session": lambda project: record_session(project, NoteSession(session_id=LONG_LINE, turns=1)),
    "title of a session": lambda project: record_session(
        project, NoteSession(session_id="s", turns=1, title=LONG_LINE)
    ),
    "note": lambda project: take_note(project, TakeNote(words=[LONG_LINE])),
    "value": lambda project: remember_entry(project, RememberEntry(category="tools", key="endless", value=LONG_TEXT)),
    "key": lambda project: remember_entry(project, RememberEntry(category="tools", key=LONG_LINE, value="Short.")),
    "category": lambda project: remember_entry(project, RememberEntry(category=LONG_LINE, key="key", value="Short.")),
    "tag of an entry": lambda project: remember_entry(
        project, RememberEntry(category="tools", key="key", value="Short.", tags=[LONG_LINE])
    ),
    "source": lambda project: add(project, JournalAdd(source_type="markdown", path=project.root, name=LONG_LINE)),
    "path of a source": lambda project: add(project, JournalAdd(source_type="markdown", path=LONG_LINE)),
    "checkpoint": lambda project: journal_restore(project, JournalRestore(name=LONG_LINE)),
    "rejected value": lambda project: reject(project, Reject(value=LONG_TEXT)),
    "reason of a rejection": lambda project: reject(project, Reject(value="Nobody.", reason=LONG_LINE)),
    "edit of a proposal": lambda project: edit(
        project, Edit(proposal=inbox(project, ShowInbox()).proposals[0].id, text=LONG_TEXT)
    ),
}


@pytest.mark.proof(keep=8)
@proves("P5.3", "D3", over="graph facts profile journal inbox")
@pytest.mark.parametrize("name", ENDLESS)
def test_what_has_no_end_is_refused_at_a_limit_and_nothing_is_written(space: Space, name: str) -> None:
    before = read_all(space.folder)
    with pytest.raises(QuireError) as refused:
        ENDLESS[name](space.open())
    assert isinstance(refused.value, InputError), refused.value
    assert len(refused.value.message) < 2_000
    after = read_all(space.folder)
    assert [path for path in after if after[path] != before.get(path) and "/index/" not in path] == []


DEAR = {
    "quotes": ">" * 100_000,
    "brackets": "[" * 100_000,
    "links": "[a](b)" * 30_000,
    "stars": "*_" * 90_000,
    "lists": "\n".join("  " * depth + "- x" for depth in range(400)),
    "ticks": "`" * 100_001,
    "entities": "&amp;" * 39_000,
    "tables": "|a" * 90_000,
}


@proves("P5.3", "D6")
@pytest.mark.parametrize("name", some(sorted(DEAR), 2))
def test_a_text_that_is_dear_to_show_is_shown(space: Space, name: str) -> None:
    from quire.surfaces.web.prose import prose_of

    save_nodes(space.open(), _node(body=DEAR[name]))
    shown: dict[str, Callable[[Project], object]] = {
        "query": lambda project: answer_question(project, "endless"),
        "view": lambda project: prose_of(DEAR[name]) and view_record(project, ViewRecord("feature.endless")),
        "prompt": lambda project: hook_prompt(project, "endless", tokens=900, chars=9_000),
        "map": lambda project: product_map_page(project),
    }
    for show in shown.values():
        show(space.open())


# -- names and ids ------------------------------------------------------------------------------------------------

ODD = (b"-rf.json", b"new\nline.json", b"\xff\xfe.json", b"\x1b[31m.json", b"trailing .json", b"git~1.json", b"-rf.md",
       b".json", b"a" * 240 + b".json", b"CON.json", b"--output=x.jsonl", b"..json", b"\xe2\x80\xae.json")  # fmt: skip
FOLDERS = (
    *("harbor/.memory", "harbor/.memory/memory", "harbor/.memory/relations", "harbor/.memory/schema"),
    *("harbor/.memory/local", "harbor/.memory/local/sessions", "harbor/.memory/rejected"),
    *("harbor/.memory/integrations", "harbor/.memory/recovery", "harbor/.ai-state", "harbor/.ai-state/local"),
    *("harbor/.agent-memory", "harbor/.agent-memory/history/checkpoints", "harbor/.agent-memory/archive"),
    *("harbor/.agent-memory/local", "harbor/docs/agent-memory", "home/registry/integrations"),
)


LISTED = [["check"], ["status"], ["integrate", "--status"], ["journal", "validate"]]


@pytest.mark.proof
@proves("P5.4", "D13", over="graph facts profile journal inbox", found="a checkpoint whose name is no text stopped all")
def test_files_whose_names_are_tricks_are_listed_safely_and_hurt_nobody(space: Space) -> None:
    made = [os.path.join(os.fsencode(space.folder), folder.encode(), name) for folder in FOLDERS for name in ODD]
    for path in made:
        with open(path, "xb") as file:
            file.write(b'{"version": 1}\n')
    verbs = {name: verb for place in PLACES for step in concerned(place) for name, verb in step.items()}
    found = judge(space, verbs)
    assert found.crashed == {}
    assert survey(space, {"notes"}) == {}
    for words in some(LISTED, 2):
        run = _command(space)(*words)
        assert UNSAFE.findall(run.out + run.err) == [], words
        assert run.code in (0, 1), (words, run.err)
    assert [path for path in made if not os.path.exists(path)] == []
    for path in made:
        os.unlink(path)
    tally("P5.4", inputs=len(made))


def _said(space: Space) -> set[str]:
    found = check_files(space.open())
    return {problem.code for problem in (*found.errors, *found.warnings)}


def _nodes_in_a_circle(space: Space) -> set[str]:
    project = space.open()
    pair = [{"kind": "feature", "title": name, "body": f"{name}."} for name in ("One", "Two")]
    save_nodes(project, {"task": "t", "nodes": pair})
    for name, other in (("one", "two"), ("two", "one")):
        path = Path(project.root, f".memory/memory/{name}.json")
        fields = {**json.loads(path.read_bytes()), "status": "superseded", "superseded_by": f"feature.{other}"}
        put(str(path), json.dumps(fields).encode())
    itself = json.loads(Path(space.path("relation")).read_bytes())
    itself["to"] = itself["from"]
    put(space.path("relation"), json.dumps(itself).encode())
    assert {"RelationToSelf"} <= _said(space)
    return {"RelationToSelf"}


def _facts_in_a_circle(space: Space) -> set[str]:
    lines = [json.loads(line) for line in Path(space.path("facts")).read_bytes().splitlines()]
    facts = [line for line in lines if line.get("_type") == "fact"]
    facts[0]["supersedes"], facts[1]["supersedes"] = facts[1]["id"], facts[0]["id"]
    twin = {**facts[2], "content": "It lives elsewhere."}
    put(space.path("facts"), b"".join(json.dumps(line).encode() + b"\n" for line in (*lines, twin)))
    return _said(space)


def _entries_in_a_circle(space: Space) -> set[str]:
    fields = json.loads(Path(space.path("profile")).read_bytes())
    shell = fields["memories"]["tools"]["shell"]
    shell["links"] = [{"target": "tools.shell", "relation": "supersedes"}, {"target": "no.where", "relation": "x"}]
    put(space.path("profile"), json.dumps(fields).encode())
    return _said(space)


def _events_twice(space: Space) -> set[str]:
    path = Path(space.path("history"))
    lines = path.read_bytes().splitlines(keepends=True)
    other = {**json.loads(lines[1]), "summary": "Said otherwise."}
    put(str(path), b"".join([*lines, json.dumps(other).encode() + b"\n", lines[0]]))
    return _said(space)


TANGLED = {
    "graph": _nodes_in_a_circle,
    "facts": _facts_in_a_circle,
    "profile": _entries_in_a_circle,
    "journal": _events_twice,
}


@proves("P5.1", "D14", over="graph facts profile journal")
@proves("P6.3", "D14", over="graph facts profile journal")
@pytest.mark.parametrize("place", TANGLED)
def test_ids_twice_and_circles_are_named_and_questions_are_answered(space: Space, place: str) -> None:
    whole = _said(space)
    space.restore()
    told = TANGLED[place](space)
    assert told - whole or told == {"JournalFault"} | whole, "it is named"
    reading, _ = concerned(place)
    found = judge(space, reading)
    assert found.crashed == {}
    assert {name for name in found.refused if name in ("query", "check", "status")} == set()


# -- what somebody swaps in between -------------------------------------------------------------------------------

SECRET = "The secret outside."


@proves("P7.2", "D10", over="graph facts profile journal inbox")
@proves("P5.4", "D10", over="graph facts profile journal inbox")
@pytest.mark.parametrize("place", ["graph", "facts", "profile", "journal", "inbox"])
def test_a_folder_that_is_swapped_for_a_link_in_between_leads_nobody_out(space: Space, place: str) -> None:
    """Somebody swaps a folder of ours with a link again and again while it is read and written."""
    folder, name, verbs = {
        "graph": (".memory/memory", "witness.md", ("inspect", "graph")),
        "facts": (".memory/local", "notes.md", ("notes",)),
        "profile": (".ai-state/local", "memory.json", ("profile recall", "profile")),
        "journal": (".agent-memory/history", "events.jsonl", ("journal log",)),
        "inbox": (".memory/rejected", f"{'0' * 32}.json", ("inbox rejected", "rejection")),
    }[place]
    here = os.path.join(space.folder, "harbor", folder)
    outside = f"{space.folder}-outside"
    shutil.rmtree(outside, ignore_errors=True)
    shutil.copytree(here, outside)
    for path in Path(outside).rglob("*"):
        if path.is_file():
            path.write_bytes(path.read_bytes().replace(WITNESS.encode(), SECRET.encode()))
    put(os.path.join(outside, name), SECRET.encode())
    before = read_all(outside)
    done = threading.Event()
    swaps = 0

    def put_back() -> None:
        """In the place of a folder that a writer made meanwhile, and may still write into while it is removed."""
        while True:
            try:
                os.rename(f"{here}-aside", here)
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise
                shutil.rmtree(here, ignore_errors=True)
            else:
                return

    def swap() -> None:
        nonlocal swaps
        while not done.is_set():
            os.rename(here, f"{here}-aside")
            with contextlib.suppress(FileExistsError):
                os.symlink(outside, here)
                os.unlink(here)
            put_back()
            swaps += 1
            time.sleep(0.001)

    swapping = threading.Thread(target=swap)
    swapping.start()
    said: list[str] = []
    try:
        rounds = 0
        while rounds < either(10, 400) or swaps < 3:
            rounds += 1
            project = space.open()
            for verb in verbs:
                ask = READING.get(verb) or concerned(place)[1].get(verb)
                assert ask is not None
                try:
                    said.append(repr(ask(project)))
                except (QuireError, FileNotFoundError) as error:
                    said.append(str(error))
    finally:
        done.set()
        swapping.join()
    assert SECRET not in "".join(said)
    assert read_all(outside) == before
    shutil.rmtree(outside)
    shutil.rmtree(f"{here}-aside", ignore_errors=True)
    tally("P7.2", faults=swaps)


# -- a merge that takes both sides --------------------------------------------------------------------------------

SIDES = {
    "graph": ("harbor/.memory/memory/victim.json", b'"Victim"'),
    "facts": ("harbor/.memory/facts.jsonl", b'"The queue lives in Redis."'),
    "profile": ("harbor/.ai-state/memory.json", b'"fish 4 with starship."'),
    "journal": ("harbor/.agent-memory/state.json", b'"generatedAt": "2'),
}
"""A file, and a text in it that both sides change."""


@proves("P6.3", "E6", over="graph facts profile journal")
@pytest.mark.parametrize("place", SIDES)
def test_what_a_union_merge_doubled_is_found_and_changed_by_nobody(space: Space, tmp_path: Path, place: str) -> None:
    name, text = SIDES[place]
    whole = space.whole[name]
    assert whole.count(text) == 1

    def change(side: str) -> bytes:
        return whole.replace(text, text[:-1] + side.encode() + text[-1:])

    shown = name.removeprefix("harbor/")
    work = tmp_path / "merging"
    (work / "harbor").mkdir(parents=True)
    file = work / name
    file.parent.mkdir(parents=True)
    (work / "home").mkdir()
    git(str(work), "init", "--quiet")
    (work / "harbor" / ".gitattributes").write_text("*.json merge=union\n*.jsonl merge=union\n", encoding="utf-8")
    for branch, side in (("", ""), ("left", "one"), ("right", "two")):
        if branch:
            git(str(work), "checkout", "--quiet", "-b", branch, "base")
        file.write_bytes(change(side) if side else whole)
        git(str(work), "add", "--all")
        git(str(work), "commit", "--quiet", "--message", f"side {side}")
        if not branch:
            git(str(work), "tag", "base")
    git(str(work), "merge", "--quiet", "--message", "both", "left")
    merged = file.read_bytes()
    assert merged not in (change("one"), change("two"))
    put(os.path.join(space.folder, name), merged)
    found = check_files(space.open())
    assert shown in {problem.path for problem in (*found.errors, *found.warnings)}
    reading, _ = concerned(place)
    assert judge(space, reading).crashed == {}
    assert Path(space.folder, name).read_bytes() == merged
