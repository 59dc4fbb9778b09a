"""What somebody planted is not told unasked, whichever way it came in; asked for, it stands in its frame, labelled."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from attacks import ATTACKS, CHAIN, HIDDEN, canary, unasked

from promised import proves, tally
from quire.files.world import World, real_world
from quire.inbox.proposals import propose
from quire.model.errors import QuireError
from quire.project import Project
from quire.surfaces.mcp.catalogue import chosen_tools
from quire.surfaces.mcp.tool_calls import ToolCalls
from quire.verbs.ask.answers import answer_question
from quire.verbs.facts.focus import Focus, focus
from quire.verbs.facts.notes import TakeNote, take_note
from quire.verbs.facts.store import Store, store
from quire.verbs.graph.save import save_nodes
from quire.verbs.inbox.add import inbox_add
from quire.verbs.journal.init import JournalInit, journal_init
from quire.verbs.journal.recall import JournalRecall, journal_recall
from quire.verbs.journal.session_import import import_sessions
from quire.verbs.journal.sources import JournalAdd, add
from quire.verbs.profile.remember import RememberEntry, remember_entry

CODE = "src/queue.py"
Plant = Callable[[Project, str, str], None]


def as_node(kind: str) -> Plant:
    def plant(project: Project, word: str, text: str) -> None:
        stage = {"stage": "building"} if kind == "feature" else {}
        title = " ".join(text.split())[:150]
        node = {"kind": kind, "title": f"{title} {word}", "body": f"{text} {word}", "anchors": [CODE], **stage}
        save_nodes(project, {"task": "t", "nodes": [node]}, actor="agent")

    return plant


def as_fact(project: Project, word: str, text: str) -> None:
    stored = store(project, Store(section="Specs", content=f"{text} {word}", session="s-1"))
    focus(project, Focus(fact_ids=[stored.fact.id]))


def as_entry(project: Project, word: str, text: str) -> None:
    remember_entry(project, RememberEntry(category="user", key=word, value=f"{text} {word}", importance=10, force=True))


def as_note(project: Project, word: str, text: str) -> None:
    take_note(project, TakeNote(words=[f"{' '.join(text.split())} {word}"]))


def as_proposal(project: Project, word: str, text: str) -> None:
    said = f"{text} {word}"
    node = {"kind": "gotcha", "title": f"Trap {word}", "body": said, "anchors": [CODE]}
    items = [
        propose("graph", "gotcha", f"{said} a", node, origin="session:claude:x", by="agent"),
        propose("facts", "fact", f"{said} b", {"section": "Specs", "content": said}, origin="file:x", by="file"),
        propose("notes", "next step", f"{said} c", {"text": said}, origin="session:claude:x", by="agent"),
        propose(
            "profile",
            "preference",
            f"{said} d",
            {"category": "user", "key": word, "value": said},
            origin="session:claude:x",
            by="user",
        ),
    ]
    inbox_add(project, items)


WAYS: dict[str, Plant] = {
    "gotcha": as_node("gotcha"),
    "decision": as_node("decision"),
    "question": as_node("question"),
    "feature": as_node("feature"),
    "fact": as_fact,
    "profile": as_entry,
    "note": as_note,
    "proposal": as_proposal,
}


@pytest.fixture
def harbor(project: Project, repo: Path) -> Project:
    (repo / "src").mkdir()
    (repo / CODE).write_text("def retry():\n    return 1\n")
    save_nodes(project, {"task": "t", "nodes": [{"kind": "gotcha", "title": "Late clocks", "body": "Clocks drift."}]})
    return project


def planted(project: Project, way: str, texts: dict[str, str]) -> dict[str, str]:
    """The words of those texts that were taken."""
    taken = {}
    for number, (name, text) in enumerate(texts.items()):
        try:
            WAYS[way](project, canary(number), text)
        except QuireError:
            continue
        taken[name] = canary(number)
    return taken


def leaked(project: Project, words: dict[str, str], repo: Path) -> list[str]:
    said = unasked(project, [f"what about {word}?" for word in words.values()], CODE)
    assert "Clocks drift" in said, "nothing was told at all"
    said += "".join(path.read_text() for path in repo.glob("*.md"))
    return [name for name, word in words.items() if word in said.lower()]


@pytest.mark.proof(keep=3)
@proves("P8.1", "G1", "G2", over="graph facts profile inbox", found="the product map showed orders to a model")
@proves("P8.1", "G2", found="orders in base64, in a joined conversation, in a picture's address were not known")
@pytest.mark.parametrize("way", WAYS)
def test_no_attack_is_told_unasked(harbor: Project, repo: Path, way: str) -> None:
    taken = planted(harbor, way, ATTACKS)
    assert len(taken) >= 20
    assert leaked(harbor, taken, repo) == []
    tally("P8.1", inputs=len(taken))


@proves("P8.1", "G1", over="graph facts profile", found="a save with orders to a model was not warned of")
def test_whoever_saves_an_order_to_a_model_is_warned(harbor: Project) -> None:
    text = ATTACKS["override"]
    node = {"kind": "gotcha", "title": "A trap", "body": text}
    told = [
        save_nodes(harbor, {"task": "t", "nodes": [node]}).warnings,
        store(harbor, Store(section="Specs", content=text)).warnings,
        remember_entry(harbor, RememberEntry(category="tools", key="order", value=text)).warnings,
    ]
    assert all("InstructionWarning" in [problem.code for problem in warnings] for warnings in told)
    assert (
        store(harbor, Store(section="Specs", content="Never retry the queue by hand: run the worker.")).warnings == []
    )


@pytest.mark.proof
@proves("P8.1", "G2", over="graph")
def test_what_a_branch_brought_is_judged_like_what_was_saved(harbor: Project, repo: Path) -> None:
    """Edited by hand, with what a save would have refused; nothing of it is read unseen."""
    texts = {**ATTACKS, **HIDDEN}
    words = {}
    for number, (name, text) in enumerate(texts.items()):
        node = {"kind": "gotcha", "title": f"Trap {number}", "body": "x", "anchors": [CODE]}
        ref = save_nodes(harbor, {"task": "t", "nodes": [node]}).memory_created[0]
        body = next((repo / ".memory/memory").glob(f"{ref.partition('.')[2]}.md"))
        body.write_text(f"{text} {canary(number)}", encoding="utf-8")
        words[name] = canary(number)
    prompts = [f"trap {number}?" for number in range(len(words))]
    said = unasked(harbor, prompts, CODE)
    flagged = {name: word for name, word in words.items() if name in ATTACKS or name in ("zero width", "reversed")}
    assert [name for name, word in flagged.items() if word in said] == []
    assert not [char for text in HIDDEN.values() for char in text if not char.isprintable() and char in said]
    tally("P8.1", inputs=len(texts))


@pytest.mark.proof(keep=1)
@proves("P8.2", "G2", over="graph facts profile")
@pytest.mark.parametrize("way", ["gotcha", "fact", "profile"])
def test_asked_for_each_attack_is_framed_and_labelled(harbor: Project, world: World, way: str) -> None:
    taken = planted(harbor, way, ATTACKS)
    tool_calls = ToolCalls(chosen_tools(["all"]), msgspec.structs.replace(world, token=real_world().token), harbor.root)
    boundaries = set()
    for name, word in taken.items():
        result = tool_calls.call("query_memory", {"question": word, "budget": 4_000}).result()
        boundary = result["structuredContent"]["meta"]["boundary"]
        boundaries.add(boundary)
        outside, *inside = result["content"][0]["text"].split(f"<{boundary} ")
        hits = [part for part in inside if word in part.partition(f"</{boundary}>")[0]]
        assert hits, name
        assert word not in outside.replace(f"`{word}`", "").split("\n", 2)[-1], name
        assert all(word not in part.partition(f"</{boundary}>")[2] for part in inside), name
        assert any(' flags="' in part.partition(">")[0] for part in hits), name
        item = result["structuredContent"]["data"]["results"][0]
        assert item["flags"], name
    assert len(boundaries) == len(taken)
    tally("P8.2", inputs=len(taken))


@proves("P8.1", "G2", over="inbox")
def test_a_chain_that_is_harmless_link_by_link_waits_for_a_person(harbor: Project, repo: Path) -> None:
    """No rule knows it for what it is: what came by itself is not believed before somebody looked at it."""
    for number, link in enumerate(CHAIN):
        as_proposal(harbor, canary(number), link)
    said = unasked(harbor, [f"{link} {canary(number)}?" for number, link in enumerate(CHAIN)], CODE)
    assert not any(canary(number) in said for number in range(len(CHAIN)))
    assert "12 proposals pending in the user's inbox" in said
    assert answer_question(harbor, f"relay {canary(0)}").hits == []


@proves("P8.1", "G2", over="journal", found="prompts were answered with what an imported session said")
def test_what_an_imported_session_orders_is_not_told(harbor: Project, repo: Path, tmp_path: Path) -> None:
    folder = tmp_path / "agent/transcripts"
    folder.mkdir(parents=True)
    words = {name: canary(number) for number, name in enumerate(ATTACKS)}
    for number, (name, text) in enumerate(ATTACKS.items()):
        said = f"DECISION: {text} {words[name]}\nGOTCHA: {text} {words[name]}\nNEXT: {text} {words[name]}"
        lines = [
            {"type": role, "sessionId": f"s{number}", "timestamp": f"2026-03-01T10:{number:02}:00.000Z"}
            | {"cwd": str(repo), "message": {"role": role, "content": content}}
            for role, content in (("user", f"Please do this: {text} {words[name]}"), ("assistant", said))
        ]
        (folder / f"s{number}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    journal_init(harbor, JournalInit())
    add(harbor, JournalAdd(source_type="claude-local", path=str(folder.parent), name="agent"))
    assert import_sessions(harbor, "agent").imported == len(ATTACKS)
    journal_recall(harbor, JournalRecall())
    assert leaked(harbor, words, repo) == []
    (word,) = [words["forged tool result"]]
    assert word in answer_question(harbor, word).markdown, "who asks is answered"
    tally("P8.1", inputs=len(ATTACKS))
