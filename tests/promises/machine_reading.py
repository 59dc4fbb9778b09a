"""Every verb that only asks, held against the model; none of them changes a file of the memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

from machine_records import pick
from machine_run import Run
from machine_seeing import words_in

from quire.clients.hooks.types import HookEvent

__all__ = ["PLAIN", "READS"]

READS: dict[str, Callable[[Run, Any, Random], None]] = {}

PLAIN: dict[str, tuple[Any, ...]] = {
    "brief": (["src/queue.py"],),
    "diff": (),
    "docs": (),
    "doctor": (),
    "first_answer": (),
    "first_offers": (),
    "initialized": (),
    "integrate": ([], {"status": True}),
    "journal_automate_status": (),
    "journal_integration": (),
    "journal_log": (),
    "list": (),
    "profile": (),
    "journal_providers": (),
    "journal_query": ("what was decided?",),
    "page_target": ("page", {"force": False}),
    "profile_about_us": (),
    "profile_context": (),
    "profile_index": (),
    "profile_private": ("here",),
    "profile_reflect": (),
    "receipts": (),
    "review": ({"staged": True},),
    "refuse_unknown": (["claude"], ["adr"]),
    "upgrade": (),
    "view_anchor_health": (),
    "view_coverage": (),
    "view_files": (),
    "view_graph": (),
    "view_map": (),
    "view_name": (),
    "view_receipts": (),
    "view_review": (),
    "view_summary": (),
    "view_timeline": (),
    "view_today": (),
    "why": ("src/queue.py:1",),
    "work_waits": (),
}
"""Verbs whose answer is only held against that of a fresh index, or that have nothing to compare."""


def read(work: Callable[[Run, Any, Random], None]) -> Callable[[Run, Any, Random], None]:
    READS[work.__name__] = work
    return work


def some_word(run: Run, draw: Random) -> tuple[str, str, bool]:
    """A thing that is there, by its ref: a word of it, and whether it holds."""
    kept = run.model.kept
    found = [
        *((name, words_in(node.body)[0], node.is_live) for name, node in kept.nodes.items()),
        *((run.ids[word], word, fact.status == "active") for word, fact in kept.facts.items()),
        *(
            (f"profile:{name}", words_in(entry.value)[0], entry.status == "active")
            for name, entry in kept.entries.items()
            if entry.value
        ),
    ]
    chosen: tuple[str, str, bool] = pick(draw, found) or ("", "", False)
    return chosen


@read
def plain(run: Run, project: Any, draw: Random) -> None:
    for name in draw.sample(sorted(PLAIN), 4):
        given = PLAIN[name]
        options = given[-1] if given and isinstance(given[-1], dict) else {}
        run.call(project, name, *(part for part in given if part is not options), **options)


@read
def status(run: Run, project: Any, draw: Random) -> None:
    found = run.call(project, "status").found
    kept = run.model.kept
    assert found.nodes_by_kind == Counter(["project", *(node.kind for node in kept.nodes.values())])
    assert found.relations == len(kept.relations)
    stages = Counter(node.stage or "idea" for node in kept.nodes.values() if node.is_live and node.kind == "feature")
    assert {name: item.count for name, item in found.features_by_stage.items() if item.count} == stages
    open_questions = {name for name, node in kept.nodes.items() if node.kind == "question" and node.status == "open"}
    assert {row.id for row in found.open_questions} == open_questions
    facts = Counter(fact.status for fact in kept.facts.values())
    told = found.facts
    numbers = (told.active, told.pending, told.other, told.episodes) if told else (0, 0, 0, 0)
    assert numbers == (facts["active"], 0, facts["superseded"] + facts["archived"], len(kept.episodes))
    active = sum(entry.status == "active" for entry in kept.entries.values())
    links = sum(len(entry.links) for entry in kept.entries.values())
    assert ((found.profile.active, found.profile.links) if found.profile else (0, 0)) == (active, links)
    assert found.journal.checkpoints == kept.checkpoints
    assert found.unreadable == []


@read
def query(run: Run, project: Any, draw: Random) -> None:
    ref, word, is_live = some_word(run, draw)
    if not ref:
        return
    found = run.call(project, "query", word)
    assert (ref in {hit.ref for hit in found.results}) is is_live or faded(run, ref), (ref, word, is_live)
    known = {*run.model.kept.nodes, *run.ids.values(), *(f"profile:{name}" for name in run.model.kept.entries)}
    ours = {hit.ref for hit in found.results if hit.layer != "journal" and hit.kind != "project"}
    assert {name for name in ours if not name.startswith("episode:")} <= known


def faded(run: Run, ref: str) -> bool:
    """Facts fade: after long they are only told to who asks for them."""
    return ref.startswith("fact:")


@read
def inspect(run: Run, project: Any, draw: Random) -> None:
    name = pick(draw, run.model.kept.nodes)
    if name is None:
        return
    found = run.call(project, "inspect_node", name).node
    node = run.model.kept.nodes[name]
    assert (found.node.title, found.body, found.node.status) == (node.title, node.body, node.status)
    assert (found.node.superseded_by or "") == node.by


@read
def inspect_any(run: Run, project: Any, draw: Random) -> None:
    ref, _, _ = some_word(run, draw)
    if not ref:
        return
    layer = {"fact": "facts", "profile": "profile"}.get(ref.partition(":")[0], "graph")
    assert run.call(project, "inspect_any", ref).layer == layer
    detail = run.call(project, "view_record", ref)
    assert detail.item.ref == ref
    assert set(run.call(project, "view_details", [ref])) == {ref}
    run.call(project, "view_history", ref)
    assert set(run.call(project, "view_histories", [ref])) == ({ref} if layer == "graph" else set())
    run.call(project, "connections", ref)
    if layer == "graph" and run.model.kept.nodes[ref].anchors and run.model.kept.nodes[ref].is_live:
        run.call(project, "view_diff", ref, anchor="src/queue.py")


@read
def inspect_fact(run: Run, project: Any, draw: Random) -> None:
    word = pick(draw, run.model.kept.facts)
    if word is None:
        return
    fact = run.model.kept.facts[word]
    found = run.call(project, "inspect_fact", run.ids[word])
    assert (found.view.content, found.view.status, found.view.section) == (fact.content, fact.status, fact.section)
    assert (found.view.supersedes or "") == (run.ids[fact.replaces].removeprefix("fact:") if fact.replaces else "")


@read
def memory_query(run: Run, project: Any, draw: Random) -> None:
    found = run.call(project, "memory_query")
    active = {word for word, fact in run.model.kept.facts.items() if fact.status == "active"}
    assert {words_in(view.content)[0] for view in found.results} == active
    assert found.total == len(active)


@read
def memory_facts(run: Run, project: Any, draw: Random) -> None:
    found = run.call(project, "memory_facts")
    kept = run.model.kept
    counts = Counter(fact.status for fact in kept.facts.values())
    assert {name: number for name, number in found.by_status.items() if number} == dict(counts)
    assert (found.facts, found.episodes) == (len(kept.facts), len(kept.episodes))
    assert (found.bad_lines, found.conflicts, found.contradictions, found.parked) == (0, 0, 0, 0)
    assert found.notes == len(run.model.here.notes)


@read
def memory_recall(run: Run, project: Any, draw: Random) -> None:
    word = pick(draw, run.model.kept.facts)
    if word is None:
        return
    is_live = run.model.kept.facts[word].status == "active"
    found = run.call(project, "memory_recall", word, faded=True, k=50, note=draw.random() < 0.5)
    assert (run.ids[word] in {view.ref for view in found.results}) is is_live
    away = run.call(project, "memory_search_archive", word, k=50)
    assert (run.ids[word] in {view.ref for view in away.results}) is not is_live


@read
def memory_episodes(run: Run, project: Any, draw: Random) -> None:
    found = run.call(project, "memory_episodes", k=50)
    assert {words_in(view.title)[0] for view in found.results} == set(run.model.kept.episodes)


@read
def memory_context(run: Run, project: Any, draw: Random) -> None:
    word = pick(draw, run.model.kept.facts) or run.word()
    found = run.call(project, "memory_context", f"What of {word} in the worker?")
    for name, fact in run.model.kept.facts.items():
        if fact.status != "active":
            assert fact.content not in found.markdown, name


@read
def profile_recall(run: Run, project: Any, draw: Random) -> None:
    category = draw.choice(("user", "project", "tools", "learnings"))
    everything = draw.random() < 0.5
    found = run.call(project, "profile_recall", category, everything=everything)
    expected = {
        name.partition(".")[2]: (entry.value, entry.status, entry.importance)
        for name, entry in run.model.kept.entries.items()
        if name.startswith(f"{category}.") and (everything or entry.status == "active")
    }
    assert {view.key: (view.value, view.status, view.importance) for view in found.results} == expected


@read
def profile_search(run: Run, project: Any, draw: Random) -> None:
    name = pick(draw, (key for key, entry in run.model.kept.entries.items() if entry.value))
    if name is None:
        return
    entry = run.model.kept.entries[name]
    found = run.call(project, "profile_search", words_in(entry.value)[0])
    assert (name in {view.id for view in found.results}) is (entry.status == "active")
    linked = run.call(project, "profile_connections", *name.split("."))
    assert {(item.target, item.relation) for item in linked.outgoing} == set(entry.links)
    assert linked.entry.value == entry.value


@read
def profile_about_me(run: Run, project: Any, draw: Random) -> None:
    text = run.call(project, "profile_about_me").profile
    for name, entry in run.model.kept.entries.items():
        if name.startswith("user."):
            assert (words_in(entry.value)[0] in text) is (entry.status == "active"), name


@read
def journal_status(run: Run, project: Any, draw: Random) -> None:
    found = run.call(project, "journal_status")
    assert found.checkpoints == run.model.kept.checkpoints
    assert {source.id for source in found.sources} == run.model.kept.sources
    assert found.warnings == []


@read
def journal_validate(run: Run, project: Any, draw: Random) -> None:
    found = run.call(project, "journal_validate").findings
    assert [item for item in found if item["level"] == "fail"] == []
    run.call(project, "journal_inspect", "checkpoint:chk-000001")
    run.call(project, "journal_diff", "chk-000001")


@read
def check(run: Run, project: Any, draw: Random) -> None:
    """Nothing is wrong, unless two branches were joined of which one removed what the other one speaks of."""
    kept = run.model.kept
    ends = {end for source, _, target in kept.relations for end in (source, target)} - set(kept.nodes)
    errors = run.call(project, "check").found.errors
    assert bool(errors) is bool(ends)
    assert all(any(end in problem.message for end in ends) for problem in errors), errors


@read
def pages(run: Run, project: Any, draw: Random) -> None:
    kept, here = run.model.kept, run.model.here
    waiting = sum(item.status == "pending" for item in here.proposals.values())
    assert run.call(project, "view_inbox").pending == waiting
    found = run.call(project, "view_records", layer="facts", kind="fact")
    assert found.total == len(kept.facts)
    assert run.call(project, "view_records", layer="graph").total == len(kept.nodes) + 1
    text = run.call(project, "product_map_page")
    for node in kept.nodes.values():
        assert node.title in text or not (node.is_live and node.kind == "feature"), node.title


@read
def hooks(run: Run, project: Any, draw: Random) -> None:
    _, word, _ = some_word(run, draw)
    room = {"tokens": 2000, "chars": 8000}
    handed = [
        run.call(project, "hook_start", client="claude", session="s", **room),
        run.call(project, "hook_prompt", f"What of {word} in the worker?", **room),
        run.call(project, "hook_edit", ["src/queue.py"], **room),
    ]
    event = HookEvent(client="claude", event="prompt", native="UserPromptSubmit", session="s", prompt=f"Why {word}?")
    text = "\n".join([*(item.text for item in handed), run.call(project, "answer_hook", event, 2000, 8000)])
    kept, here = run.model.kept, run.model.here
    # A note may say what a fact said, and a record what a proposal says whose acceptance was interrupted.
    held = {*here.notes, *(node.body for node in kept.nodes.values() if node.is_live)}
    held |= {entry.value for entry in kept.entries.values()}
    held |= {fact.content for fact in kept.facts.values() if fact.status == "active"}
    for fact in kept.facts.values():
        assert fact.content in held or fact.content not in text
    for item in here.proposals.values():
        assert item.status != "pending" or item.text in held or item.text not in text
