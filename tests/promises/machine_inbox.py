"""Rules for the inbox, and for what a person does to records that they look at."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any, get_args

from machine_model import Entry, Fact, Model, Node, Proposal
from machine_others import CATEGORIES, PROFILE
from machine_records import FACTS, NODES, RULES, SECTIONS, fact_text, new_node, pick, rule, superseded
from machine_run import Deed, Run

from quire.inbox.proposals import Into, propose

__all__ = ["settled"]

REJECTED = (".memory/rejected/",)


@rule(3)
def inbox_add(run: Run, draw: Random) -> Deed:
    after = run.model.copy()
    into = draw.choice(get_args(Into)[:4])
    fields: dict[str, Any]
    if into == "graph":
        _, _, fields = new_node(run, draw)
        fields.pop("anchors", None)
        text = fields["body"]
    elif into == "facts":
        _, text = fact_text(run)
        fields = {"section": draw.choice(SECTIONS), "content": text}
    elif into == "profile":
        text = f"Likes {run.word()} with {run.word()}."
        fields = {"category": draw.choice(CATEGORIES), "key": draw.choice("abcdefgh"), "value": text}
    else:
        text = f"Look at {run.word()} with {run.word()} soon."
        fields = {"text": text}
    item = propose(into, "fact", text, fields, origin="session:x:1", by="user")
    after.here.proposals[item.id] = Proposal(into, text, fields)
    told = f"project.inbox_add([propose({into!r}, 'fact', {text!r}, {fields!r}, origin='session:x:1', by='user')])"
    return Deed("inbox_add", after, ([item],), text=told)


def accepted(model: Model, name: str) -> Model | None:
    """The model with the record of a proposal; None where it cannot be made."""
    after = model.copy()
    item = after.here.proposals[name]
    fields = item.fields
    if model.kept.is_refused(item.text):
        return None
    if item.into == "graph":
        kind = fields["kind"]
        after.kept.nodes[f"{kind}.thing-{fields['title'].split()[1]}"] = Node(
            kind,
            fields["title"],
            fields["body"],
            "open" if kind == "question" else "active",
            fields.get("stage"),
            tuple(fields.get("tags", ())),
        )
    elif item.into == "facts":
        after.kept.facts[item.text.split()[1]] = Fact(fields["section"], item.text)
    elif item.into == "profile":
        entry = f"{fields['category']}.{fields['key']}"
        # The same value is there where whoever accepted it was stopped before that was written down.
        if entry in model.kept.entries:
            return after if model.kept.entries[entry].value == item.text else None
        after.kept.entries[entry] = Entry(item.text)
    elif item.text not in after.here.notes:
        after.here.notes.append(item.text)
    return after


def settled(model: Model, name: str, status: str) -> Model:
    after = model.copy()
    after.here.proposals[name] = replace(after.here.proposals[name], status=status)
    return after


@rule(3)
def inbox_accept(run: Run, draw: Random) -> Deed | None:
    name = pick(draw, run.model.here.proposals)
    if name is None:
        return None
    is_act = draw.random() < 0.5
    verb, given = ("act_accept", name) if is_act else ("inbox_accept", [name])
    if run.model.here.proposals[name].status != "pending":
        return Deed(verb, None, (given,))
    made = accepted(run.model, name)
    touches = (*NODES, *FACTS, *PROFILE)
    if made is None:
        # The verb tells which could not be accepted; what a person does is refused as a whole.
        return Deed(verb, None if is_act else run.model, (given,), touches=touches)
    is_note = run.model.here.proposals[name].into == "notes"
    return Deed(verb, settled(made, name, "accepted"), (given,), between=(made,), touches=touches, is_quiet=is_note)


@rule()
def inbox_reject(run: Run, draw: Random) -> Deed | None:
    name = pick(draw, (key for key, item in run.model.here.proposals.items() if item.status == "pending"))
    if name is None:
        return None
    said = run.model.copy()
    said.kept.rejected[said.here.proposals[name].text] = True
    verb, given = draw.choice((("act_reject", name), ("inbox_reject", [name])))
    after = settled(said, name, "rejected")
    return Deed(verb, after, (given,), {"reason": "no"}, between=(said,), touches=REJECTED)


@rule(1)
def reject_value(run: Run, draw: Random) -> Deed | None:
    """A text that a fact says: from now on it is not written again."""
    word = pick(draw, run.model.kept.facts)
    if word is None:
        return None
    text = run.model.kept.facts[word].content
    after = run.model.copy()
    after.kept.rejected[text] = True
    return Deed("inbox_reject", after, (), {"value": text}, touches=REJECTED)


@rule(1)
def inbox_lift(run: Run, draw: Random) -> Deed | None:
    text = pick(draw, run.model.kept.rejected)
    if text is None:
        return None
    said = run.model.copy()
    said.kept.rejected[text] = False
    after = said.copy()
    for name, item in said.here.proposals.items():
        if item.text == text and item.status == "rejected":
            after = settled(after, name, "pending")
    return Deed("inbox_lift", after, ([text],), between=(said,), touches=REJECTED)


# -- what a person does -----------------------------------------------------------------------


@rule()
def act_stale(run: Run, draw: Random) -> Deed | None:
    name = pick(draw, [*run.model.kept.nodes, *run.model.kept.facts])
    if name is None:
        return None
    after = run.model.copy()
    if name in after.kept.nodes:
        after.kept.nodes[name] = replace(after.kept.nodes[name], status="stale", by="")
    elif after.kept.facts[name].status == "active":
        after.kept.facts[name] = replace(after.kept.facts[name], status="archived")
    return Deed("act_stale", after, (run.ids.get(name, name), "gone"), touches=(*NODES, *FACTS))


@rule()
def act_supersede(run: Run, draw: Random) -> Deed | None:
    name = pick(draw, (key for key, node in run.model.kept.nodes.items() if node.is_live))
    if name is None:
        return None
    after = run.model.copy()
    node = after.kept.nodes[name]
    word = run.word()
    new, body = f"{node.kind}.thing-{word}", f"It keeps {run.word()} of {word}."
    live = "open" if node.kind == "question" else "active"
    after.kept.nodes[new] = replace(node, title=f"Thing {word}", body=body, status=live, by="")
    after = superseded(after, name, new)
    return Deed("act_supersede", after, (name,), {"title": f"Thing {word}", "body": body}, touches=NODES)


@rule(3)
def act_undo(run: Run, draw: Random) -> Deed | None:
    """Take back what a person did last, as long as nothing else changed; or do something first."""
    if run.last_act is None or run.model.told() != run.last_act[2].told():
        first = RULES[draw.choice(("act_stale", "act_supersede", "act_edit", "inbox_accept", "inbox_reject"))][0](
            run, draw
        )
        if first is None:
            return None
        run.perform(first, draw)
    if run.last_act is None or run.model.told() != run.last_act[2].told():
        return None
    acted, before, _ = run.last_act
    if not acted.changes:
        return None
    touches = (*NODES, *FACTS, *PROFILE, *REJECTED, ".memory/memory/")
    told = f"project.undo_acted(acted)  # {acted.message}"
    return Deed("undo_acted", before.copy(), (acted,), touches=touches, text=told)
