"""What one of many processes does in a project: verbs of every layer, each with what it did.

Things that are replaced again and again are there from the beginning; others are made, and then removed once at most.
"""

from __future__ import annotations

import os
from typing import Any

from history_events import GONE, Effect, seen
from history_seeing import (
    CHAIN,
    FACTS,
    GRAPH,
    HELD,
    INBOX,
    JOURNAL,
    LIVE,
    NOTES,
    PAIR,
    PROFILE,
    READS,
    SAME,
    SESSIONS,
    SHARED,
    SOURCES,
    Hand,
    Making,
    Verb,
    gone,
    marked,
    node,
    nothing,
    rebuild,
    removed,
    sentence,
    talk,
    waiting,
    word_in,
    written,
)

from quire.inbox.proposals import propose
from quire.layers.record_details import node_revision
from quire.verbs.ask.inspected_node import inspect_node
from quire.verbs.facts.archive import Archive
from quire.verbs.facts.archive import archive as archive_fact
from quire.verbs.facts.connect import Connect
from quire.verbs.facts.connect import connect as connect_fact
from quire.verbs.facts.focus import Focus
from quire.verbs.facts.focus import focus as focus_fact
from quire.verbs.facts.notes import DoneNotes, PromoteNote, TakeNote, done, take_note
from quire.verbs.facts.notes import promote as promote_note
from quire.verbs.facts.store import Store
from quire.verbs.facts.store import store as store_fact
from quire.verbs.facts.supersede import Supersede
from quire.verbs.facts.supersede import supersede as supersede_fact
from quire.verbs.graph.save import save_nodes
from quire.verbs.inbox.accept import accept as accept_proposals
from quire.verbs.inbox.add import inbox_add
from quire.verbs.inbox.options import ChosenProposals
from quire.verbs.inbox.reject import Reject
from quire.verbs.inbox.reject import reject as reject_proposals
from quire.verbs.journal.recall import JournalRecall, journal_recall
from quire.verbs.journal.session_import import import_sessions
from quire.verbs.journal.sources import JournalAdd, JournalRemove, add, remove
from quire.verbs.journal.update import JournalUpdate, journal_update
from quire.verbs.page.actions import ActEdit, act_edit
from quire.verbs.profile.remember import RememberEntry, remember_entry
from quire.verbs.profile.restore import ForgetEntry, forget_entry
from quire.verbs.profile.session_start import start_session
from quire.verbs.verb import Arguments

__all__ = ["ALLOWED", "VERBS"]

FEW = {"MemoryValidationFailed", "MemoryObjectNotFound"}
ALLOWED = {
    "edit": {"MemoryConflictDetected"},
    "delete": FEW,
    "replace": FEW,
    "supersede": FEW,
    "archive": FEW,
    "connect": FEW,
    "focus": FEW,
    "forget": FEW,
    "accept": FEW,
    "reject": FEW,
    "strike": FEW,
    "promote": FEW,
    "unlist": FEW,
}
"""By which codes a verb may be refused: somebody else was faster. Nobody may be refused anything else."""


# -- the graph ----------------------------------------------------------------------------------------------------


def saved(hand: Hand, nodes: list[dict[str, str]], **more: Any) -> Any:
    return save_nodes(hand.project, {"task": "history", "nodes": nodes, **more})


def make_node(hand: Hand) -> Verb:
    word = hand.word()

    def told(done: Any) -> list[Effect]:
        (name,) = done.memory_created
        if fields["title"] != SAME:  # its name is given again once it is free
            hand.nodes.append(name)
        return written(word, GRAPH + name, LIVE + name)

    fields = node(word, kind=hand.random.choice(["feature", "gotcha", "decision"]))
    if hand.random.random() < 0.3:
        fields["title"] = SAME
    return lambda: saved(hand, [fields]), told, [Effect("maybe", "", word)], nothing


def change_node(hand: Hand) -> Verb:
    word = hand.word()
    effects = written(word, GRAPH + SHARED, LIVE + SHARED)
    return lambda: saved(hand, [node(word, id=SHARED)]), lambda _: effects, effects, nothing


def change_pair(hand: Hand) -> Verb:
    word = hand.word()
    effects = written(word, "pair/both")
    return lambda: saved(hand, [node(word, id=name) for name in PAIR]), lambda _: effects, effects, nothing


def edit_node(hand: Hand) -> Verb:
    """Only what was read is replaced."""
    found = inspect_node(hand.project, CHAIN).node
    before, word = marked(found.node.title, found.body), hand.word()
    revision = node_revision(found.data, found.body_data)
    effect = [Effect("write", f"chain/{CHAIN}", word, before)]
    fields = node(word)
    return lambda: act_edit(hand.project, ActEdit(CHAIN, revision, **fields)), lambda _: effect, effect, nothing


def delete_node(hand: Hand) -> Verb:
    name = hand.one_of(hand.nodes)
    entry = [{"id": name, "reason": "no longer true"}]
    effects = removed(GRAPH + name, LIVE + name)

    def told(done: Any) -> list[Effect]:
        return effects if done.memory_deleted else [seen(GRAPH + name, GONE)]

    return lambda: saved(hand, [], delete=entry), told, effects, gone(GRAPH + name)


def replace_node(hand: Hand) -> Verb:
    old, word = hand.one_of(hand.nodes), hand.word()
    name = f"gotcha.after-{word}"
    entry = [{"id": old, "superseded_by": name, "reason": "known better"}]
    effects = [*written(word, GRAPH + name, LIVE + name), *removed(LIVE + old)]
    fields = node(word, id=name)
    return lambda: saved(hand, [fields], supersede=entry), lambda _: effects, effects, nothing


# -- facts, notes, pins -------------------------------------------------------------------------------------------


def new_fact(hand: Hand, view: Any, word: str) -> list[Effect]:
    hand.facts.append(view.id)
    return written(word, FACTS + view.id, HELD + view.id)


def store(hand: Hand) -> Verb:
    word = hand.word()
    call = lambda: store_fact(hand.project, Store(section="Specs", content=sentence(word), session=f"s{hand.number}"))  # noqa: E731
    return call, lambda done: new_fact(hand, done.fact, word), [Effect("maybe", "", word)], nothing


def supersede(hand: Hand) -> Verb:
    old, word = hand.one_of(hand.facts), hand.word()

    def told(done: Any) -> list[Effect]:
        return [*removed(HELD + old), *new_fact(hand, done.new, word)]

    planned = [*removed(HELD + old), Effect("maybe", "", word)]
    return lambda: supersede_fact(hand.project, Supersede(fact_id=old, content=sentence(word))), told, planned, nothing


def archive(hand: Hand) -> Verb:
    name = hand.one_of(hand.facts)

    def told(done: Any) -> list[Effect]:
        (outcome,) = done.outcomes
        return removed(HELD + name) if outcome.done else [seen(HELD + name, GONE)]

    return (
        lambda: archive_fact(hand.project, Archive(fact_ids=[name], reason="faded")),
        told,
        removed(HELD + name),
        nothing,
    )


def connect(hand: Hand) -> Verb:
    name = hand.one_of(hand.facts)
    return (
        lambda: connect_fact(hand.project, Connect(source=name, target=SHARED, relation="enables")),
        nothing,
        [],
        nothing,
    )


def focus(hand: Hand) -> Verb:
    name, session = hand.one_of(hand.facts), f"s{hand.number}"

    def call() -> Any:
        focus_fact(hand.project, Focus(fact_ids=[name], session=session))
        return focus_fact(hand.project, Focus(session=session))

    return call, nothing, [], nothing


def jot(hand: Hand) -> Verb:
    word = hand.word()
    effects = written(word, NOTES + word)
    return lambda: take_note(hand.project, TakeNote(words=[sentence(word)])), lambda _: effects, effects, nothing


def strike(hand: Hand) -> Verb:
    def told(done: Any) -> list[Effect]:
        return [effect for found in done.notes for effect in removed(NOTES + word_in(found.text))]

    return lambda: done(hand.project, DoneNotes(numbers=["1"])), told, [], nothing


def promote(hand: Hand) -> Verb:
    """The first note becomes a fact. Two who are at it at once make one fact of it."""

    def told(done: Any) -> list[Effect]:
        word = word_in(done.fact.content)
        if done.action != "stored":
            return []
        return [*new_fact(hand, done.fact, word), *removed(NOTES + word)]

    return lambda: promote_note(hand.project, PromoteNote(number="1", section="Specs")), told, [], nothing


# -- the profile --------------------------------------------------------------------------------------------------


def remember(hand: Hand) -> Verb:
    word = hand.word()
    hand.entries.append(word)
    effects = written(word, f"{PROFILE}learnings.{word}")

    def call() -> Any:
        return remember_entry(
            hand.project, RememberEntry(category="learnings", key=word, value=sentence(word), force=True)
        )

    return call, lambda _: effects, effects, nothing


def change_entry(hand: Hand) -> Verb:
    word = hand.word()
    effects = written(word, f"{PROFILE}user.shared")
    call = lambda: remember_entry(hand.project, RememberEntry(category="user", key="shared", value=sentence(word)))  # noqa: E731
    return call, lambda _: effects, effects, nothing


def forget(hand: Hand) -> Verb:
    key = hand.one_of(hand.entries)
    name = f"{PROFILE}learnings.{key}"
    return (
        lambda: forget_entry(hand.project, ForgetEntry(category="learnings", key=key)),
        lambda _: removed(name),
        removed(name),
        gone(name),
    )


def begin_session(hand: Hand) -> Verb:
    call = lambda: start_session(hand.project, Arguments())  # noqa: E731
    return call, lambda done: [Effect("count", "sessions of the profile", done.session_count)], [], nothing


# -- the journal --------------------------------------------------------------------------------------------------


def bring(hand: Hand) -> Verb:
    """A session ends, and is imported: by this sync, or by that of another process that found it first."""
    word = hand.word()
    effects = written(word, SESSIONS + word)

    def call() -> Any:
        talk(hand, word)
        return import_sessions(hand.project, "claude")

    def told(done: Any) -> list[Effect]:
        assert not done.failed, done.sources
        assert not any(one.is_unknown for one in done.sources), done.sources
        return [*effects, *(Effect("write", JOURNAL + name, name) for one in done.sources for name in one.events)]

    return call, told, effects, nothing


def refresh(hand: Hand) -> Verb:
    word = hand.word()

    def call() -> Any:
        with open(os.path.join(hand.root, "TODO.md"), "a", encoding="utf-8") as file:
            file.write(f"- [ ] Step {word}\n")
        return journal_update(hand.project, JournalUpdate())

    return call, lambda done: written(done.event, JOURNAL + done.event) if done.applied else [], [], nothing


def recall_journal(hand: Hand) -> Verb:
    call = lambda: journal_recall(hand.project, JournalRecall(source=hand.random.choice(["imports", "local"])))  # noqa: E731
    return call, lambda done: written(done.event, JOURNAL + done.event) if done.applied else [], [], nothing


def enlist(hand: Hand) -> Verb:
    word = hand.word()
    hand.sources.append(word)
    effects = written(word, SOURCES + word)
    docs = JournalAdd(source_type="markdown", path=os.path.join(hand.root, "docs"), name=word)
    call = lambda: add(hand.project, docs)  # noqa: E731
    return call, lambda _: effects, effects, nothing


def unlist(hand: Hand) -> Verb:
    name = hand.sources.pop() if hand.sources else "nobody"
    return (
        lambda: remove(hand.project, JournalRemove(name=name)),
        lambda _: removed(SOURCES + name),
        removed(SOURCES + name),
        nothing,
    )


# -- proposals ----------------------------------------------------------------------------------------------------


def suggest(hand: Hand) -> Verb:
    word = hand.word()
    text = sentence(word)
    if hand.random.random() < 0.5:
        found = propose("facts", "fact", text, {"section": "Specs", "content": text}, origin="file:a.md", by="user")
    else:
        fields = {"kind": "gotcha", **node(word)}
        found = propose("graph", "gotcha", text, fields, origin="file:a.md", by="user")
    effects = written("pending", INBOX + found.id)
    return lambda: inbox_add(hand.project, [found]), lambda _: effects, effects, nothing


def accept(hand: Hand) -> Verb:
    name = waiting(hand)

    def call() -> Any:
        done = accept_proposals(hand.project, ChosenProposals(ids=[name]))
        for _, error in done.failed:
            raise error
        return done

    def told(done: Any) -> list[Effect]:
        (item,) = done.done
        word = word_in(item.text)
        if item.into == "facts":
            made = item.ref.removeprefix("fact:")
            return [*written("accepted", INBOX + name), *written(word, FACTS + made, HELD + made)]
        return [*written("accepted", INBOX + name), *written(word, GRAPH + item.ref, LIVE + item.ref)]

    return call, told, written("accepted", INBOX + name), nothing


def reject(hand: Hand) -> Verb:
    name = waiting(hand)
    effects = written("rejected", INBOX + name)
    return (
        lambda: reject_proposals(hand.project, Reject(ids=[name], reason="not so")),
        lambda _: effects,
        effects,
        nothing,
    )


CREATES: Making = {
    "make": (make_node, 1),
    "store": (store, 1),
    "remember": (remember, 1),
    "bring": (bring, 1),
    "suggest": (suggest, 1),
}
CHANGES: Making = {
    "change": (change_node, 4),
    "pair": (change_pair, 3),
    "edit": (edit_node, 4),
    "delete": (delete_node, 1),
    "replace": (replace_node, 2),
    "supersede": (supersede, 4),
    "archive": (archive, 2),
    "connect": (connect, 1),
    "focus": (focus, 1),
    "jot": (jot, 3),
    "strike": (strike, 1),
    "promote": (promote, 2),
    "change entry": (change_entry, 4),
    "forget": (forget, 2),
    "begin session": (begin_session, 2),
    "refresh": (refresh, 1),
    "recall journal": (recall_journal, 1),
    "enlist": (enlist, 1),
    "unlist": (unlist, 1),
    "accept": (accept, 4),
    "reject": (reject, 2),
}
VERBS: dict[str, Making] = {
    "all": {**{name: (verb, 3) for name, (verb, _) in CREATES.items()}, **CHANGES, **READS, "rebuild": (rebuild, 1)},
    "create": CREATES,
    "save": {"make": (make_node, 1)},
    "edit": {"edit": (edit_node, 1)},
    "change": {"change": (change_node, 1), "pair": (change_pair, 1), "change entry": (change_entry, 1)},
    "read": READS,
    "rebuild": {"rebuild": (rebuild, 1), "make": (make_node, 3), "store": (store, 3), "remember": (remember, 2)},
}
"""What a process may choose from, and how often it chooses it."""
