"""Who is at work in a project, the words that are written in it, and what readers see of every layer.

A value is a word that is used once, such as `w03n0017`. It stands at the beginning and at the end of every text that
is written, so that half of a change shows.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from history_events import GONE, Effect, seen, torn_or

from quire.project import Project
from quire.verbs.admin.check import check_files
from quire.verbs.admin.export import Export
from quire.verbs.admin.export import export as export_of
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.admin.rebuild import Rebuild
from quire.verbs.admin.rebuild import rebuild as rebuild_of
from quire.verbs.ask.answers import answer_question
from quire.verbs.ask.brief import Brief, brief
from quire.verbs.ask.inspected_node import inspect_node
from quire.verbs.ask.status import status as status_of
from quire.verbs.facts.context import ShowContext, context
from quire.verbs.facts.list import ListFacts
from quire.verbs.facts.list import list_facts as list_facts_fact
from quire.verbs.facts.notes import show_notes
from quire.verbs.facts.recall import Recall, find_facts
from quire.verbs.graph.save import save_nodes
from quire.verbs.inbox.overview import ShowInbox, inbox
from quire.verbs.journal.log import JournalLog, journal_log
from quire.verbs.journal.sources import JournalAdd, add, sources
from quire.verbs.journal.status import JournalStatus, journal_status
from quire.verbs.profile.pages import about_me as page_on_user
from quire.verbs.profile.recall import RecallEntries, recall_entries
from quire.verbs.profile.remember import RememberEntry, remember_entry
from quire.verbs.verb import Arguments

__all__ = [
    "BEGINNING",
    "CHAIN",
    "FACTS",
    "GRAPH",
    "HELD",
    "INBOX",
    "JOURNAL",
    "LIVE",
    "NOTES",
    "PAIR",
    "PROFILE",
    "READS",
    "SAME",
    "SESSIONS",
    "SHARED",
    "SOURCES",
    "Hand",
    "Making",
    "Verb",
    "begin",
    "export_lists",
    "gone",
    "marked",
    "node",
    "nothing",
    "rebuild",
    "removed",
    "sentence",
    "talk",
    "waiting",
    "word_in",
    "written",
]

GRAPH, LIVE, FACTS, HELD, PROFILE = "graph/", "live/", "facts/", "held/", "profile/"
JOURNAL, SOURCES, SESSIONS, INBOX, NOTES = "journal/", "sources/", "sessions/", "inbox/", "notes/"
SHARED, PAIR, CHAIN = "feature.shared", ("feature.left", "feature.right"), "feature.chain"
FIXED = (SHARED, *PAIR, CHAIN)
BEGINNING = "w99n0000"
SAME = "A title that all of them use"
WORD = re.compile(r"w\d\dn\d{4}")


def sentence(word: str) -> str:
    """A text that says its value at both ends."""
    return f"{word} is what was said {word}"


def word_in(text: str) -> str:
    """The value of a text; every mention of one must be the same."""
    found = WORD.findall(text)
    return torn_or(*found) if found else f"torn: no word in {text[:40]!r}"


def marked(title: str, text: str) -> str:
    """The value of a node: its title and both ends of its body say the same."""
    found = WORD.findall(text)
    return torn_or(*found, *([] if title == SAME else [word_in(title)])) if len(found) == 2 else f"torn: {text[:60]!r}"


class Hand:
    """One process at work: which one it is, what it knows, and the words that nobody else uses."""

    def __init__(self, root: str, number: int, seed: int) -> None:
        self.root, self.number = root, number
        self.random = Random(f"{seed}-{number}")
        self.count = 0
        self.nodes: list[str] = []
        self.facts: list[str] = []
        self.entries: list[str] = []
        self.proposals: list[str] = []
        self.sources: list[str] = []
        # Half of them live as long as a server does; the others are a new process for each call, as commands are.
        self.kept = Project.open(root) if number % 2 else None

    @property
    def project(self) -> Project:
        return self.kept or Project.open(self.root)

    def word(self) -> str:
        self.count += 1
        return f"w{self.number:02}n{self.count:04}"

    def one_of(self, items: list[str]) -> str:
        return self.random.choice(items[-8:]) if items else ""


Verb = tuple[Callable[[], Any], Callable[[Any], list[Effect]], list[Effect], Callable[[str], list[Effect]]]
"""What is called; what that did; what it may have done where the process was killed; what a refusal tells."""


def nothing(_: Any) -> list[Effect]:
    return []


def gone(*keys: str) -> Callable[[str], list[Effect]]:
    """Who is refused, because it is not there, has seen that it is not there."""
    return lambda code: [seen(key, GONE) for key in keys] if code == "MemoryObjectNotFound" else []


def written(word: str, *keys: str) -> list[Effect]:
    return [Effect("write", key, word) for key in keys]


def removed(*keys: str) -> list[Effect]:
    return [Effect("write", key, GONE) for key in keys]


def node(word: str, **fields: str) -> dict[str, str]:
    return {"title": f"Node {word}", "body": sentence(word), **fields}


def talk(hand: Hand, word: str) -> None:
    """A session as an agent leaves it beside the project."""
    folder = os.path.join(
        os.path.dirname(hand.root), "sessions", "projects", hand.root.replace("/", "-").replace("_", "-")
    )
    os.makedirs(folder, exist_ok=True)
    said = (
        ("user", f"Please repair {word} in the worker."),
        ("assistant", f"Decision: use {word} because it is shorter."),
    )
    fields = {"cwd": hand.root, "sessionId": word, "timestamp": "2026-03-01T10:00:00.000Z"}
    lines = [{"type": role, **fields, "message": {"role": role, "content": text}} for role, text in said]
    with open(os.path.join(folder, f"{word}.part"), "w", encoding="utf-8") as file:
        file.write("".join(json.dumps(line) + "\n" for line in lines))
    os.rename(os.path.join(folder, f"{word}.part"), os.path.join(folder, f"{word}.jsonl"))


def waiting(hand: Hand) -> str:
    """One that waits, as far as this process knows: the oldest ones are what everybody is at."""
    found = inbox(hand.project, ShowInbox()).proposals
    return found[hand.random.randrange(min(3, len(found)))].id if found else "in-0000000000"


def begin(root: str) -> list[Effect]:
    """The project as all of them find it, and what is in it."""
    project = Project.open(root)
    init_memory(project, layers=("facts", "profile", "journal"))
    save_nodes(project, {"task": "history", "nodes": [node(BEGINNING, id=name) for name in FIXED]})
    remember_entry(project, RememberEntry(category="user", key="shared", value=sentence(BEGINNING)))
    remember_entry(project, RememberEntry(category="assistant", key="name", value="Ada"))
    sessions = os.path.join(os.path.dirname(root), "sessions")
    os.makedirs(os.path.join(sessions, "projects"), exist_ok=True)
    add(project, JournalAdd(source_type="claude-local", path=sessions, name="claude"))
    return [
        *written(BEGINNING, GRAPH + SHARED, LIVE + SHARED, f"chain/{CHAIN}", "pair/both", f"{PROFILE}user.shared"),
        *written("evt-000001", JOURNAL + "evt-000001"),
    ]


# -- readers ------------------------------------------------------------------------------------------------------


def export_lists(records: list[dict[str, Any]]) -> Iterator[Effect]:
    """What an export shows of every layer, each thing with its value."""
    lists: dict[str, dict[str, str]] = {key: {} for key in (GRAPH, LIVE, FACTS, HELD, PROFILE, JOURNAL)}
    pair = []
    for record in records:
        ref, title, text = record["ref"], record["title"], record["text"]
        if record["layer"] == "graph" and record["kind"] != "project":
            value = marked(title, text)
            if ref in PAIR:
                pair.append(value)
            elif ref == CHAIN:
                yield seen(f"chain/{CHAIN}", value)
            else:
                lists[GRAPH][GRAPH + ref] = value
                if record["status"] in ("active", "proposed"):
                    lists[LIVE][LIVE + ref] = value
        elif record["kind"] == "fact":
            name = ref.removeprefix("fact:")
            lists[FACTS][FACTS + name] = word_in(text)
            if record["status"] == "active":
                lists[HELD][HELD + name] = word_in(text)
        elif record["layer"] == "profile" and not ref.endswith("assistant.name"):
            lists[PROFILE][PROFILE + ref.removeprefix("profile:")] = word_in(text)
        elif record["kind"] == "event":
            lists[JOURNAL][ref.replace("event:", JOURNAL)] = ref.removeprefix("event:")
    yield seen("pair/both", torn_or(*pair) if len(pair) == 2 else "torn: one of two")
    yield from (Effect("list", key, found) for key, found in lists.items())


def export(hand: Hand) -> Verb:
    def told(done: Any) -> list[Effect]:
        records = json.loads(done.text)["records"]
        nodes = [record["ref"] for record in records if record["layer"] == "graph" and record["kind"] != "project"]
        hand.nodes = [name for name in nodes if name not in FIXED and "all-of-them" not in name]
        hand.facts = [record["ref"].removeprefix("fact:") for record in records if record["kind"] == "fact"]
        return list(export_lists(records))

    return (
        lambda: export_of(hand.project, Export(output_format="json", everything=True, private=True)),
        told,
        [],
        nothing,
    )


def inspect(hand: Hand) -> Verb:
    name = hand.random.choice([SHARED, CHAIN])
    key = f"chain/{CHAIN}" if name == CHAIN else GRAPH + SHARED

    def told(found: Any) -> list[Effect]:
        assert found.node.hash_holds
        return [seen(key, marked(found.node.node.title, found.node.body))]

    return lambda: inspect_node(hand.project, name), told, [], nothing


def list_facts(hand: Hand) -> Verb:
    def told(done: Any) -> list[Effect]:
        assert not done.more, done.more
        assert len({view.id for view in done.results}) == len(done.results)
        return [Effect("list", HELD, {HELD + view.id: word_in(view.content) for view in done.results})]

    return lambda: list_facts_fact(hand.project, ListFacts(limit=2_000)), told, [], nothing


def recall_facts(hand: Hand) -> Verb:
    def told(done: Any) -> list[Effect]:
        return [seen(FACTS + view.id, word_in(view.content)) for view in done.results]

    return lambda: find_facts(hand.project, Recall(query="what was said", k=20)), told, [], nothing


def ask(hand: Hand) -> Verb:
    def told(answer: Any) -> list[Effect]:
        found = [hit.record for hit in answer.hits]
        nodes = [record for record in found if record.layer == "graph" and record.ref not in (*PAIR, CHAIN)]
        return [seen(GRAPH + one.ref, marked(one.title, one.text)) for one in nodes if one.kind != "project"]

    return lambda: answer_question(hand.project, "node of what was said"), told, [], nothing


def read_entries(hand: Hand) -> Verb:
    def told(done: Any) -> list[Effect]:
        found = {f"{PROFILE}learnings.{view.key}": word_in(view.value) for view in done.results}
        return [Effect("list", f"{PROFILE}learnings.", found)]

    return (
        lambda: recall_entries(hand.project, RecallEntries(category="learnings"), note=hand.number % 2 == 0),
        told,
        [],
        nothing,
    )


def about_me(hand: Hand) -> Verb:
    def told(page: Any) -> list[Effect]:
        return [seen(f"{PROFILE}user.shared", word_in(page.profile))]

    return lambda: page_on_user(hand.project, Arguments()), told, [], nothing


def look_at_journal(hand: Hand) -> Verb:
    def told(found: tuple[Any, Any, Any]) -> list[Effect]:
        status, log, sources = found
        names = [event.id for event in log.results]
        assert len(set(names)) == len(names) >= status.events
        assert not status.warnings, status.warnings
        here = {SOURCES + one.id: one.id for one in sources if one.id != "claude"}
        return [Effect("grow", "events of the journal", status.events), Effect("list", SOURCES, here)]

    def call() -> tuple[Any, Any, Any]:
        project = hand.project
        status = journal_status(project, JournalStatus())
        return (
            status,
            journal_log(project, JournalLog(events=True, archived=True, limit=0)),
            sources(project, Arguments()).sources,
        )

    return call, told, [], nothing


def look_at_log(hand: Hand) -> Verb:
    def told(log: Any) -> list[Effect]:
        return [Effect("list", JOURNAL, {JOURNAL + event.id: event.id for event in log.results})]

    return lambda: journal_log(hand.project, JournalLog(events=True, archived=True, limit=0)), told, [], nothing


def look_at_inbox(hand: Hand) -> Verb:
    def told(found: Any) -> list[Effect]:
        assert not found.warnings
        return [Effect("list", INBOX, {INBOX + item.id: item.status for item in found.proposals})]

    return lambda: inbox(hand.project, ShowInbox(status="all")), told, [], nothing


def look_at_notes(hand: Hand) -> Verb:
    def told(found: Any) -> list[Effect]:
        assert not found.warnings
        return [Effect("list", NOTES, {NOTES + word_in(note.text): word_in(note.text) for note in found.notes})]

    return lambda: show_notes(hand.project, Arguments()), told, [], nothing


def overview(hand: Hand) -> Verb:
    def call() -> Any:
        project = hand.project
        brief(project, Brief(files=["TODO.md"]))
        context(project, ShowContext(prompt="what was said", session=f"s{hand.number}"))
        return status_of(project)

    def told(found: Any) -> list[Effect]:
        assert not found.unreadable, found.unreadable
        return []

    return call, told, [], nothing


def check(hand: Hand) -> Verb:
    def told(found: Any) -> list[Effect]:
        assert not found.errors, found.errors
        return []

    return lambda: check_files(hand.project), told, [], nothing


def rebuild(hand: Hand) -> Verb:
    return lambda: rebuild_of(hand.project, Rebuild()), nothing, [], nothing


Making = dict[str, tuple[Callable[[Hand], Verb], int]]
READS: Making = {
    "export": (export, 4),
    "inspect": (inspect, 4),
    "list facts": (list_facts, 3),
    "recall facts": (recall_facts, 2),
    "ask": (ask, 3),
    "read entries": (read_entries, 3),
    "about me": (about_me, 4),
    "look at journal": (look_at_journal, 3),
    "look at log": (look_at_log, 3),
    "look at inbox": (look_at_inbox, 3),
    "look at notes": (look_at_notes, 3),
    "overview": (overview, 1),
    "check": (check, 1),
}
"""What a reader may choose from, and how often it chooses it."""
