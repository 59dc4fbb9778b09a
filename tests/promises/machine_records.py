"""Rules for nodes and facts: what is told to the memory, and what must be there after it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

from machine_model import Connection, Fact, Model, Node, with_status
from machine_run import Deed, Run

__all__ = ["FACTS", "NODES", "RULES", "Rule", "fact_text", "new_node", "pick", "rule"]

Rule = Callable[[Run, Random], Deed | None]
RULES: dict[str, tuple[Rule, int]] = {}
"""By name, with how often it is drawn."""
NODES = ("nodes", ".memory/relations/", ".memory/events.jsonl", "AGENTS.md", "CLAUDE.md")
FACTS = (".memory/facts.jsonl", ".memory/.gitattributes")
SECTIONS = ("Architecture", "Decisions", "Known Issues", "Recent Work")
RELATIONS = ("depends_on", "contradicts", "enables", "motivated_by")
KINDS = ("feature", "feature", "decision", "gotcha", "question")


def rule(weight: int = 2) -> Callable[[Rule], Rule]:
    def noted(work: Rule) -> Rule:
        RULES[work.__name__] = (work, weight)
        return work

    return noted


def pick(draw: Random, names: Any) -> Any:
    """One of these, in an order that does not depend on how they were found; None where there is none."""
    found = sorted(names)
    return draw.choice(found) if found else None


# -- nodes ------------------------------------------------------------------------------------


def new_node(run: Run, draw: Random) -> tuple[str, Node, dict[str, Any]]:
    word, kind = run.word(), draw.choice(KINDS)
    title, body = f"Thing {word}", f"It keeps {run.word()} of {word}."
    fields: dict[str, Any] = {"kind": kind, "title": title, "body": body}
    if kind == "feature" and draw.random() < 0.5:
        fields["stage"] = draw.choice(("idea", "building", "shipped"))
    if draw.random() < 0.3:
        fields["tags"] = draw.sample(("alpha", "beta", "gamma"), 2)
    if draw.random() < 0.4:
        fields["anchors"] = ["src/queue.py"]
    node = Node(
        kind,
        title,
        body,
        "open" if kind == "question" else "active",
        fields.get("stage"),
        tuple(fields.get("tags", ())),
        tuple(fields.get("anchors", ())),
    )
    return f"{kind}.thing-{word}", node, fields


@rule(5)
def save_new(run: Run, draw: Random) -> Deed:
    after = run.model.copy()
    sent = []
    for _ in range(draw.choice((1, 1, 1, 3))):
        name, node, fields = new_node(run, draw)
        other = pick(draw, after.kept.nodes)
        if other and draw.random() < 0.4:
            predicate = draw.choice(("affects", "depends_on", "related_to"))
            fields["related"] = [{"predicate": predicate, "to": other}]
            after.kept.relations[name, predicate, other] = "active"
        after.kept.nodes[name] = node
        sent.append(fields)
    return Deed("save", after, ({"task": "begin", "nodes": sent},), touches=NODES)


@rule(3)
def save_change(run: Run, draw: Random) -> Deed | None:
    name = pick(draw, run.model.kept.nodes)
    if name is None:
        return None
    after = run.model.copy()
    node = after.kept.nodes[name]
    fields: dict[str, Any] = {"id": name}
    how = draw.randrange(4)
    if how == 0:
        fields["body"] = f"It keeps {run.word()} of {node.title.split()[1]}."
    elif how == 1:
        fields["title"] = f"Thing {node.title.split()[1]} {run.word()}"
    elif how == 2:
        fields["tags"] = draw.sample(("alpha", "beta", "gamma", "delta"), draw.randrange(3))
    else:
        fields["anchors"] = [] if node.anchors else ["src/queue.py"]
    given: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in fields.items() if key != "id"
    }
    after.kept.nodes[name] = replace(node, **given)
    return Deed("save", after, ({"task": "change", "nodes": [fields]},), touches=NODES)


@rule()
def save_stale(run: Run, draw: Random) -> Deed | None:
    name = pick(draw, run.model.kept.nodes)
    if name is None:
        return None
    after = run.model.copy()
    after.kept.nodes[name] = with_status(after.kept.nodes[name], "stale")
    return Deed("save", after, ({"task": "look", "stale": [{"id": name, "reason": "gone"}]},), touches=NODES)


def leads_back(model: Model, old: str, new: str) -> bool:
    seen = set()
    while new and new not in seen:
        if new == old:
            return True
        seen.add(new)
        node = model.kept.nodes.get(new)
        new = node.by if node else ""
    return False


def superseded(model: Model, old: str, new: str) -> Model:
    after = model.copy()
    before = after.kept.nodes[old]
    if before.by and before.by != new and (before.by, "supersedes", old) in after.kept.relations:
        after.kept.relations[before.by, "supersedes", old] = "stale"
    after.kept.nodes[old] = with_status(before, "superseded", new)
    after.kept.relations[new, "supersedes", old] = "active"
    return after


@rule()
def save_supersede(run: Run, draw: Random) -> Deed | None:
    if len(run.model.kept.nodes) < 2:
        return None
    old, new = draw.sample(sorted(run.model.kept.nodes), 2)
    after = None if leads_back(run.model, old, new) else superseded(run.model, old, new)
    entry = {"id": old, "superseded_by": new, "reason": "better"}
    return Deed("save", after, ({"task": "look", "supersede": [entry]},), touches=NODES)


@rule()
def save_revive(run: Run, draw: Random) -> Deed | None:
    name = pick(draw, (key for key, node in run.model.kept.nodes.items() if not node.is_live))
    if name is None:
        return None
    after = run.model.copy()
    node = after.kept.nodes[name]
    status = "open" if node.kind == "question" else "active"
    if node.by and (node.by, "supersedes", name) in after.kept.relations:
        after.kept.relations[node.by, "supersedes", name] = "stale"
    after.kept.nodes[name] = with_status(node, status)
    is_refused = run.model.kept.is_refused(node.title, node.body)
    return Deed(
        "save",
        None if is_refused else after,
        ({"task": "again", "nodes": [{"id": name, "status": status}]},),
        touches=NODES,
    )


@rule()
def save_delete(run: Run, draw: Random) -> Deed | None:
    name = pick(draw, run.model.kept.nodes)
    if name is None:
        return None
    after = run.model.copy()
    del after.kept.nodes[name]
    after.kept.relations = {key: held for key, held in after.kept.relations.items() if name not in (key[0], key[2])}
    intent = {"task": "remove", "delete": [{"id": name, "reason": "wrong"}]}
    return Deed("save", after, (intent,), touches=NODES)


@rule()
def save_unrelate(run: Run, draw: Random) -> Deed | None:
    found = pick(draw, (key for key in run.model.kept.relations if key[1] != "supersedes"))
    if found is None:
        return None
    after = run.model.copy()
    del after.kept.relations[found]
    fields = {"id": found[0], "unrelated": [{"predicate": found[1], "to": found[2]}]}
    return Deed("save", after, ({"task": "part", "nodes": [fields]},), touches=NODES)


@rule()
def save_confirm(run: Run, draw: Random) -> Deed | None:
    name = pick(draw, run.model.kept.nodes)
    if name is None:
        return None
    node = run.model.kept.nodes[name]
    after = run.model if node.is_live else None
    slug = name.partition(".")[2]
    touches = (*NODES, f".memory/memory/{slug}.")
    return Deed("confirm", after, ([name],), {"reason": "looked"}, touches=touches)


@rule(1)
def save_wrong(run: Run, draw: Random) -> Deed:
    """Half of it is right: nothing of it is done."""
    _, _, fields = new_node(run, draw)
    bad = draw.choice(({"id": "feature.nowhere", "tags": []}, {"kind": "feature"}, {"kind": "story", "title": "x"}))
    return Deed("save", None, ({"task": "no", "nodes": [fields, bad]},))


# -- facts ------------------------------------------------------------------------------------


def fact_text(run: Run) -> tuple[str, str]:
    word = run.word()
    return word, f"The {word} holds in {run.word()}."


@rule(5)
def store(run: Run, draw: Random) -> Deed:
    after = run.model.copy()
    word, text = fact_text(run)
    section = draw.choice(SECTIONS)
    tags = tuple(draw.sample(("alpha", "beta"), draw.randrange(2)))
    after.kept.facts[word] = Fact(section, text, "active", tags)
    return Deed("memory_store", after, (section, text), {"tags": list(tags)}, touches=FACTS)


@rule()
def store_again(run: Run, draw: Random) -> Deed | None:
    """What is known is confirmed, not doubled."""
    word = pick(draw, (key for key, fact in run.model.kept.facts.items() if fact.status == "active"))
    if word is None:
        return None
    fact = run.model.kept.facts[word]
    session = draw.choice((None, f"s{draw.randrange(9)}"))
    is_refused = run.model.kept.is_refused(fact.content)
    if is_refused and session is None:
        return None  # it may change nothing, and then there is nothing to refuse
    after = None if is_refused else run.model
    return Deed("memory_store", after, (fact.section, fact.content), {"session": session}, touches=FACTS)


@rule(3)
def supersede(run: Run, draw: Random) -> Deed | None:
    old = pick(draw, run.model.kept.facts)
    if old is None:
        return None
    after = run.model.copy()
    fact = after.kept.facts[old]
    word, text = fact_text(run)
    section = draw.choice((None, *SECTIONS))
    if fact.status != "active":
        return Deed("memory_supersede", None, (run.ids[old], text))
    after.kept.facts[old] = replace(fact, status="superseded")
    after.kept.facts[word] = Fact(section or fact.section, text, "active", fact.tags, old)
    return Deed("memory_supersede", after, (run.ids[old], text), {"section": section}, touches=FACTS)


@rule()
def archive(run: Run, draw: Random) -> Deed | None:
    words = draw.sample(sorted(run.model.kept.facts), min(2, len(run.model.kept.facts)))
    if not words:
        return None
    after = run.model.copy()
    for word in words:
        if after.kept.facts[word].status == "active":
            after.kept.facts[word] = replace(after.kept.facts[word], status="archived")
    return Deed("memory_archive", after, ([run.ids[word] for word in words],), {"reason": "old"}, touches=FACTS)


@rule(1)
def refresh(run: Run, draw: Random) -> Deed:
    """The clock of every fact starts again; it says the same."""
    return Deed("memory_refresh", run.model, ("2015-01-01",), touches=FACTS)


@rule()
def restore(run: Run, draw: Random) -> Deed | None:
    kept = run.model.kept
    word = pick(draw, kept.facts)
    # What would stand for one fact twice is told as a contradiction; that is not followed here.
    if word is None or (kept.facts[word].replaces and kept.live_for(kept.facts[word].replaces) - {word}):
        return None
    after = run.model.copy()
    fact = kept.facts[word]
    if fact.status == "archived" or (fact.status == "superseded" and not kept.live_for(word)):
        after.kept.facts[word] = replace(fact, status="active")
        if kept.is_refused(fact.content):
            return Deed("memory_restore", None, ([run.ids[word]],))
    return Deed("memory_restore", after, ([run.ids[word]],), touches=FACTS)


@rule(3)
def connect(run: Run, draw: Random) -> Deed | None:
    kept = run.model.kept
    names = [*sorted(kept.facts), *sorted(kept.nodes)]
    if not kept.facts or len(names) < 2:
        return None
    source, target = draw.choice(sorted(kept.facts)), draw.choice(names)
    relation = draw.choice(RELATIONS)
    after: Model | None = run.model.copy()
    ends = kept.end_of(source), kept.end_of(target)
    if ends[0] == ends[1]:
        after = None
    elif after is not None and (ends[0], relation, ends[1]) not in kept.shown_connections():
        after.kept.connections.append(Connection(ends[0], relation, ends[1]))
    refs = [run.ids.get(name, name) for name in (source, target)]
    return Deed("memory_connect", after, (*refs, relation), touches=FACTS)


@rule()
def pin(run: Run, draw: Random) -> Deed | None:
    word = pick(draw, (key for key, fact in run.model.kept.facts.items() if fact.status == "active"))
    if word is None:
        return None
    after = run.model.copy()
    if word not in {name for pinned in after.here.pins for name in after.kept.live_for(pinned)}:
        after.here.pins.append(word)
    return Deed("memory_focus", after, ([run.ids[word]],))


@rule()
def unpin(run: Run, draw: Random) -> Deed | None:
    if not run.model.here.pins:
        return None
    after = run.model.copy()
    if draw.random() < 0.5:
        after.here.pins = []
        return Deed("memory_release", after)
    word = draw.choice(run.model.here.pins)
    live = run.model.kept.live_for(word)
    if not live:
        return None
    after.here.pins = [name for name in after.here.pins if not after.kept.live_for(name) & live]
    return Deed("memory_release", after, ([run.ids[min(live)]],))
