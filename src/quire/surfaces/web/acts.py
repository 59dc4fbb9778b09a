"""What the page may do to a record, and the call of `Project` behind each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from quire.model.errors import InputError

if TYPE_CHECKING:
    from quire.project import Project
    from quire.verbs.page.undo import Acted


class Confirm(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="action", tag="confirm"):
    """Somebody looked, and it is still true."""

    ref: str
    reason: str = ""


class Stale(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="action", tag="stale"):
    """It is no longer true."""

    ref: str
    reason: str


class Supersede(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="action", tag="supersede"):
    """Another one takes its place: one that is there, or a new one."""

    ref: str
    by: str = ""
    title: str = ""
    body: str = ""
    reason: str = ""


class Edit(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="action", tag="edit"):
    """Other words, or another stage."""

    ref: str
    revision: str
    title: str | None = None
    body: str | None = None
    stage: str | None = None


class Accept(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="action", tag="accept"):
    """Make a record of a proposal."""

    id: str


class Reject(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="action", tag="reject"):
    """Say no to a proposal, for good."""

    id: str
    reason: str = ""


Act = Confirm | Stale | Supersede | Edit | Accept | Reject


def read_act(data: bytes) -> Act:
    """What was asked for, checked."""
    try:
        act: Act = msgspec.json.decode(data, type=Act)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(
            f"This is no action: {str(error).replace('`$.', '`').replace(' - at `$`', '')}.",
            hint="An action is one of confirm, stale, supersede, edit, accept, reject.",
        ) from None
    return act


def carry_out(project: Project, act: Act) -> Acted:
    """Do it, with every check that the command would make."""
    from quire.verbs.page.actions import act_accept, act_confirm, act_edit, act_reject, act_stale, act_supersede

    match act:
        case Confirm():
            return act_confirm(project, act.ref, act.reason)
        case Stale():
            return act_stale(project, act.ref, act.reason)
        case Supersede():
            return act_supersede(project, act.ref, by=act.by, title=act.title, body=act.body, reason=act.reason)
        case Edit():
            return act_edit(project, act.ref, act.revision, title=act.title, body=act.body, stage=act.stage)
        case Accept():
            return act_accept(project, act.id)
        case Reject():
            return act_reject(project, act.id, act.reason)
