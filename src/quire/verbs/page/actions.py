"""Actions on records: confirm, mark stale, supersede, edit, accept, reject."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from quire.files.layout import LOCAL
from quire.files.undo_recorder import record_changes
from quire.inbox.proposals import Proposal
from quire.layers.facts.drafts import find_fact
from quire.layers.facts.types import Fact
from quire.layers.graph.inspect import inspect_node
from quire.layers.graph.layout import FOLDER
from quire.layers.graph.save import Saved
from quire.layers.graph.stored import StoredNode
from quire.layers.record_details import node_revision
from quire.model import limits
from quire.model.errors import Conflict, InputError, InvalidStore
from quire.model.records import Problem
from quire.model.refs import parse_ref
from quire.model.text import cut, one_line
from quire.project import Project
from quire.verbs.ask.inspect import full_ref
from quire.verbs.facts.archive import Archive, archive
from quire.verbs.facts.fact_file import ask_facts, known_facts
from quire.verbs.facts.supersede import Supersede, supersede
from quire.verbs.graph.confirm import confirm_nodes
from quire.verbs.graph.plain_problems import in_words
from quire.verbs.graph.save import save_nodes
from quire.verbs.inbox.accept import accept
from quire.verbs.inbox.options import ChosenProposals
from quire.verbs.inbox.reject import Reject, reject
from quire.verbs.page.page_view import PageArguments
from quire.verbs.page.undo import Acted, note_action

_SESSIONS = "sessions"
_TITLE = 80
_NAMES = {"title": "The title:", "body": "The text:", "stage": "The stage:", "reason": "The reason:"}


class _Told(msgspec.Struct, frozen=True):
    """What an action says of itself."""

    ref: str
    title: str
    message: str
    warnings: Iterable[Problem] = ()


class ActConfirm(PageArguments, frozen=True, tag_field="action", tag="confirm"):
    ref: str
    reason: str = ""


def act_confirm(project: Project, given: ActConfirm) -> Acted:
    """Someone looked, and the node is still true of the code."""
    node = _node(project, given.ref, "confirmed")

    def work() -> _Told:
        saved = confirm_nodes(project, [node.node.id], reason=given.reason, actor="user").saved
        unchanged = "it was already up to date" if node.node.anchors else "it has no anchors"
        return _saved(node, saved, "Confirmed", unchanged)

    return _act(project, "confirm", work)


class ActStale(PageArguments, frozen=True, tag_field="action", tag="stale"):
    ref: str
    reason: str


def act_stale(project: Project, given: ActStale) -> Acted:
    """It is no longer true: a node is marked stale, a fact is put away."""
    if _is_fact(given.ref):
        return _act(project, "stale", lambda: _archived(project, _fact(project, given.ref), given.reason))
    node = _node(project, given.ref, "marked stale")

    def work() -> _Told:
        entry = {"id": node.node.id, "reason": given.reason}
        saved = save_nodes(project, {"task": "mark stale after a look", "stale": [entry]}, actor="user")
        return _saved(node, saved, "Marked stale", "it is already stale")

    return _act(project, "stale", work)


def _archived(project: Project, fact: Fact, reason: str) -> _Told:
    done = archive(project, Archive(fact_ids=[fact.id], reason=reason))
    title = _short(fact.content)
    said = "Put away" if done.changed else f"Nothing changed, since it is {fact.status} already"
    return _Told(f"fact:{fact.id}", title, f"{said}: {title}")


class ActSupersede(PageArguments, frozen=True, tag_field="action", tag="supersede"):
    ref: str
    by: str = ""
    title: str = ""
    body: str = ""
    reason: str = ""


def act_supersede(project: Project, given: ActSupersede) -> Acted:
    """Another record replaces it: a record that is there, or a new one with this title and body."""
    by = given.by.strip()
    if bool(by) == bool(given.title.strip() or given.body.strip()):
        raise InputError(
            "Give the replacement: an existing record or a new text, not both.",
            hint="Give `by`, or `title` and `body`.",
            details={"field": "by"},
        )
    if _is_fact(given.ref):
        text = given.body or given.title
        return _act(project, "supersede", lambda: _replaced_fact(project, given.ref, by, text, given.reason))
    node = _node(project, given.ref, "superseded")
    return _act(project, "supersede", lambda: _replaced_node(project, node, given))


def _replaced_node(project: Project, node: StoredNode, given: ActSupersede) -> _Told:
    task = "supersede after a look"
    nodes = []
    by = given.by.strip()
    if by:
        by = _node(project, by, "the one that supersedes").node.id
    else:
        nodes = [_successor(node, given.title, given.body)]
        planned = save_nodes(project, {"task": task, "nodes": nodes}, actor="user", dry_run=True)
        by = [*planned.memory_created, *planned.memory_updated, *planned.unchanged][0]
    why = given.reason.strip() or cut(f"replaced by {by}", limits.REASON_CHARS)
    entry = {"id": node.node.id, "superseded_by": by, "reason": why}
    saved = save_nodes(project, {"task": task, "nodes": nodes, "supersede": [entry]}, actor="user")
    return _saved(node, saved, "Superseded", f"`{by}` already replaces it")


def _replaced_fact(project: Project, ref: str, by: str, content: str, reason: str) -> _Told:
    fact = _fact(project, ref)
    if by:
        other = _fact(project, by) if _is_fact(by) else None
        if other is None or not other.is_active or other.mind != fact.mind:
            raise InputError(
                f"`{cut(by, 60)}` cannot replace a fact.",
                hint="Name an active fact of the same mind, or give a new text.",
                details={"field": "by"},
            )
        content = other.content
    done = supersede(project, Supersede(fact_id=fact.id, content=content, reason=reason.strip() or None))
    title = _short(fact.content)
    return _Told(done.old.ref, title, f"Superseded: {title}", done.warnings)


class ActEdit(PageArguments, frozen=True, tag_field="action", tag="edit"):
    ref: str
    revision: str
    title: str | None = None
    body: str | None = None
    stage: str | None = None


def act_edit(project: Project, given: ActEdit) -> Acted:
    """Another title, body or stage of a node, if it still is the one that the edit was made of."""
    node = _node(project, given.ref, "edited")
    if node_revision(node.data, node.body_data) != given.revision:
        raise Conflict(
            f"`{node.node.id}` changed since you began to edit it. Nothing was written.",
            hint="Reload it and make your edit again.",
            details={"id": node.node.id},
        )
    said = {"title": given.title, "body": given.body, "stage": given.stage}
    wanted = {name: text for name, text in said.items() if text is not None}

    def work() -> _Told:
        intent = {"task": "edit by hand", "nodes": [{"id": node.node.id, **wanted}]}
        saved = save_nodes(project, intent, actor="user", read={node.node.id: (node.data, node.body_data)})
        done = f"Now {given.stage}" if set(wanted) == {"stage"} else "Edited"
        return _saved(node, saved, done, "it already says that", given.title)

    return _act(project, "edit", work)


# -- proposals ----------------------------------------------------------------------------


class ActAccept(PageArguments, frozen=True, tag_field="action", tag="accept"):
    id: str


def act_accept(project: Project, given: ActAccept) -> Acted:
    """Make the record that was proposed."""

    def work() -> _Told:
        done = accept(project, ChosenProposals(ids=[given.id]))
        for _, error in done.failed:
            raise error
        return _proposed(done.done[0], "Accepted", done.warnings)

    return _act(project, "accept", work)


class ActReject(PageArguments, frozen=True, tag_field="action", tag="reject"):
    id: str
    reason: str = ""


def act_reject(project: Project, given: ActReject) -> Acted:
    """Say no to a proposal; from now on it is refused, whoever writes it."""

    def work() -> _Told:
        done = reject(project, Reject(ids=[given.id], reason=given.reason))
        return _proposed(done.done[0], "Rejected", done.warnings)

    return _act(project, "reject", work)


PageAction = ActConfirm | ActStale | ActSupersede | ActEdit | ActAccept | ActReject
ACTIONS: dict[type[PageArguments], Callable[[Project, Any], Acted]] = {
    ActConfirm: act_confirm,
    ActStale: act_stale,
    ActSupersede: act_supersede,
    ActEdit: act_edit,
    ActAccept: act_accept,
    ActReject: act_reject,
}


def read_action(data: bytes) -> PageAction:
    """Parse the JSON of an action; raise InputError where it is none."""
    try:
        action: PageAction = msgspec.json.decode(data, type=PageAction)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(
            f"Not an action: {str(error).replace('`$.', '`').replace(' - at `$`', '')}.",
            hint="An action is one of confirm, stale, supersede, edit, accept, reject.",
        ) from None
    return action


def perform(project: Project, action: PageAction) -> Acted:
    """Carry out an action, with every check that the command would make."""
    return ACTIONS[type(action)](project, action)


# -- what all of them need ----------------------------------------------------------------


def _act(project: Project, action: str, work: Callable[[], _Told]) -> Acted:
    project.by_person = True
    # The episode of a session takes the place of what was noted of it on the way.
    with record_changes([os.path.join(project.root, FOLDER, LOCAL, _SESSIONS)]) as notes:
        try:
            told = work()
        except InputError as error:
            raise _in_full(in_words(error, _NAMES)) from None
    return note_action(project, action, told.ref, told.title, told.message, notes, told.warnings)


def _in_full(error: InputError) -> InputError:
    """All that is wrong: a page shows the message alone."""
    issues = error.details.get("issues", [])
    said = " ".join(f"{issue['message']}." for issue in issues) or error.message
    return type(error)(said, hint=error.hint, details=error.details)


def _node(project: Project, ref: str, what: str) -> StoredNode:
    """The node that is meant; what says it is missing, and that others are none, is what every verb says."""
    project.ready()
    parsed = parse_ref(full_ref(ref))
    if parsed.layer != "graph":
        raise InputError(
            f"`{cut(ref, 80)}` is not in the graph, so it cannot be {what} here."
            if parsed.layer != "facts" or parsed.kind == "fact"
            else f"`{cut(ref, 80)}` records what happened, so it cannot be {what}.",
            hint="Name a feature, a decision, a gotcha or a question.",
            details={"field": "ref", "id": cut(ref, 80)},
        )
    found = project.graph.find_node(parsed.id)
    if found is None:
        path = inspect_node(project.graph, parsed.id).node.path
        raise InvalidStore(
            f"`{parsed.id}` lies in `{FOLDER}/{path}`, where nobody who saves it would look.",
            hint="`memory check` says how the file is to be called.",
            details={"id": parsed.id, "path": f"{FOLDER}/{path}"},
        )
    return found


def _fact(project: Project, ref: str) -> Fact:
    return ask_facts(project, lambda index: find_fact(known_facts(index), full_ref(ref), "ref").fact)


def _is_fact(ref: str) -> bool:
    return full_ref(ref).startswith("fact:")


def _short(text: str) -> str:
    return cut(one_line(text), _TITLE)


def _saved(node: StoredNode, saved: Saved, said: str, unchanged: str, title: str | None = None) -> _Told:
    shown = _short(title or node.node.title)
    message = f"{said}: {shown}" if saved.changed else f"Nothing changed, since {unchanged}: {shown}"
    return _Told(node.node.id, shown, message, saved.warnings)


def _successor(node: StoredNode, title: str, body: str) -> dict[str, Any]:
    """A new node in the place of another: of its kind and stage, about the same code, with its tags."""
    fields = node.fields
    kept = {name: fields[name] for name in ("stage", "anchors", "tags") if fields.get(name)}
    return {"kind": node.node.type, "title": title, "body": body, **kept}


def _proposed(item: Proposal, said: str, warnings: Iterable[Problem]) -> _Told:
    title = _short(item.text)
    return _Told(item.ref, title, f"{said}: {title}", warnings)
