"""`memory inbox`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quire.model.errors import UsageError
from quire.model.text import counted, cut, one_line
from quire.surfaces.cli.commands import Argument, Command, Option, Session
from quire.surfaces.cli.output import answer, say, warn

if TYPE_CHECKING:
    from quire.inbox.proposals import Proposal
    from quire.inbox.rejections import Rejection
    from quire.project import Project
    from quire.verbs.inbox.review import Settled

_EXAMPLES = """Examples:
  memory inbox
  memory inbox accept in-3f2a91c04d
  memory inbox accept --all --from user
  memory inbox reject in-77b0 --reason "we never used Redis"
  memory inbox lift in-77b0
"""
_QUOTE_CHARS = 200
_UNDECIDED = 10
_STATUSES = ("pending", "accepted", "rejected", "all")
_BY = ("user", "agent", "file")
_ALL = Option(name="--all", into="everything", help="All that wait; --from and --origin choose among them.")
_FROM = Option(
    name="--from",
    into="by",
    metavar="WHO",
    choices=_BY,
    help="Only what was said by the user, by the agent, in a file.",
)
_ORIGIN = Option(
    name="--origin", into="origin", metavar="TEXT", help="Only from here: a part of the origin, as it is listed."
)
_IDS = Argument(name="ids", many=True, required=False)


def run(session: Session, status: str, by: str | None, origin: str | None) -> None:
    """Show what sessions and imports propose; accept, edit or reject it.

    What is found in sessions and in files of other programs waits here, with its evidence, and is told to no agent
    before somebody accepts it. What is rejected is refused from then on, whoever writes it, until it is lifted.
    """
    from quire.verbs.inbox.review import inbox

    project = session.project()
    found = inbox(project, status=status, by=by, origin=origin)
    unread = _unread(project.root) if status == "pending" else 0
    if session.as_json:
        from quire.fields.inbox import inbox_fields

        answer(project, inbox_fields(found) | {"unread_sessions": unread}, found.warnings)
        return
    for item in found.proposals:
        show_proposal(item)
    if not found.proposals:
        say("Nothing waits." if status == "pending" else "There is none.")
    elif status == "pending":
        say(f"{counted(len(found.proposals), 'proposal')}. memory inbox accept|edit|reject ID")
    if unread:
        say(f"Not read yet: {counted(unread, 'session')}. `memory inbox collect` reads what has ended.")
    warn(found.warnings)


def _unread(root: str) -> int:
    """How many sessions hooks have told of that nobody has looked through for proposals."""
    from quire.clients.spool import waiting_sessions

    return len(waiting_sessions(root))


def show_proposal(item: Proposal) -> None:
    status = "" if item.status == "pending" else f"  {item.status}"
    say(f"{item.id}  {item.kind} → {_target(item)}{status}")
    title = item.fields.get("title")
    if isinstance(title, str) and title.strip() and title.strip() != item.text.split("\n")[0].strip():
        say(f"  {title}")
    say("  " + item.text.replace("\n", "\n  "))
    for evidence in item.evidence[:3]:
        where = ", ".join(filter(None, (evidence.where, evidence.at[:10])))
        quote = "" if evidence.quote.strip() == item.text.strip() else f": “{_first_line(evidence.quote)}”"
        say(f"    {evidence.by}{f', {where}' if where else ''}{quote}")
    if not item.evidence:
        say(f"    {item.by}, {item.origin}")
    if item.updates:
        say(f"    changes {item.updates}, which was made of an earlier version of its file")
    if item.standing == "open":
        say(f"    not decided by its file: “{cut(item.said, _QUOTE_CHARS)}”; accept it by its id")
    elif item.standing == "over":
        say(f"    no longer valid by its file: “{cut(item.said, _QUOTE_CHARS)}”; it becomes a retired record")
    if item.ref:
        say(f"    is {item.ref}")
    say()


def show_undecided(items: list[Proposal]) -> None:
    """Those that were left because no person said yet that they hold."""
    for item in items[:_UNDECIDED]:
        named = item.fields.get("title") or _first_line(item.text)
        say(f"Not decided by its file (“{cut(item.said, 60)}”): {named}. `memory inbox accept {item.id}` accepts it.")
    if len(items) > _UNDECIDED:
        say(f"{len(items) - _UNDECIDED} more are not decided by their files: see `memory inbox`.")


def _first_line(text: str) -> str:
    return cut(one_line(text), _QUOTE_CHARS)


def _target(item: Proposal) -> str:
    fields = item.fields
    if item.into == "profile":
        return f"profile {fields.get('category')}.{fields.get('key')}"
    if item.into == "facts":
        return f"facts, {fields.get('section')}"
    return item.into


def accept(session: Session, ids: tuple[str, ...], everything: bool, by: str | None, origin: str | None) -> int | None:
    """Make records of proposals: of those named, or of all that wait.

    A proposal changes no record, but for the one that an earlier version of its own file became. What its file calls
    undecided (proposed, draft, an unknown word) is accepted by its id alone; what its file calls superseded, reverted
    or the like becomes a retired record. What cannot be saved stays, with the reason.
    """
    from quire.verbs.inbox.review import inbox_accept

    _check_choice(ids, everything, by, origin)
    project = session.project()
    done = inbox_accept(project, ids, everything=everything, by=by, origin=origin)
    return _report(session, project, done, "Accepted")


def reject(
    session: Session,
    ids: tuple[str, ...],
    everything: bool,
    by: str | None,
    origin: str | None,
    reason: str | None,
    value: str | None,
) -> int | None:
    """Say no to proposals, or to a value that nobody proposed yet.

    The value is kept in .memory/rejected/, which belongs into git. It is refused at every save, store and import until
    `memory inbox lift`. Records that say it already are left alone; `memory check` names them.
    """
    from quire.verbs.inbox.review import inbox_reject

    if value is None:
        _check_choice(ids, everything, by, origin)
    elif ids or everything:
        raise UsageError("Give ids, --all or --value, not several of them.")
    project = session.project()
    done = inbox_reject(project, ids, reason=reason or "", everything=everything, by=by, origin=origin, value=value)
    return _report(session, project, done, "Rejected")


def lift(session: Session, ids: tuple[str, ...]) -> int | None:
    """Allow again what was rejected. A proposal that was rejected waits again."""
    from quire.verbs.inbox.review import inbox_lift

    if not ids:
        raise UsageError("No rejection is named.", hint="`memory inbox rejected` lists them with their ids.")
    project = session.project()
    return _report(session, project, inbox_lift(project, ids), "Lifted")


def edit(session: Session, proposal: str, text: str | None, fields: tuple[str, ...]) -> None:
    """Change the words of a proposal, or other fields of the record that it proposes. Accepts nothing."""
    from quire.verbs.inbox.review import inbox_edit

    if text is None and not fields:
        raise UsageError("Nothing is changed.", hint='Give --text "…", or --set name=value.')
    project = session.project()
    item = inbox_edit(project, proposal, text=text, fields=dict(map(_pair, fields)))
    if session.as_json:
        from quire.fields.inbox import proposal_fields

        answer(project, proposal_fields(item))
        return
    show_proposal(item)


def _pair(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise UsageError(f"`{text[:40]}` sets nothing.", hint="--set takes name=value, such as --set title=Retries.")
    name = name.strip()
    if name in ("anchors", "tags"):
        return name, [part.strip() for part in value.split(",") if part.strip()]
    return name, value


def rejected(session: Session) -> None:
    """Show what was rejected, and what was lifted since."""
    from quire.verbs.inbox.review import inbox_rejected

    project = session.project()
    found = inbox_rejected(project)
    items = sorted(found.found.values(), key=lambda item: (item.rejected_at, item.id))
    if session.as_json:
        from quire.fields.inbox import rejected_fields

        answer(project, rejected_fields(items, found.problems), found.problems)
        return
    if not items:
        say("Nothing was rejected.")
    for item in items:
        _show_rejection(item)
    warn(found.problems)


def _show_rejection(item: Rejection) -> None:
    state = f"lifted {item.lifted_at[:10]}" if item.lifted_at else f"rejected {item.rejected_at[:10]}"
    reason = f": {item.reason}" if item.reason else ""
    say(f"{item.id}  {state}{reason}")
    say("  " + item.value.replace("\n", "\n  "))


def collect(session: Session, background: bool) -> int | None:
    """Work through the sessions that ended since the last time: write their episodes, and fill the inbox.

    Hooks note which sessions ended, and have this done in the background when one ends or the next one starts. Design
    documents that changed are taken in, too. This does it now.
    """
    from quire.verbs.agents.session_end import collect_sessions

    project = session.project()
    if background:
        from quire.files.daemons import go_quiet

        go_quiet()
    done = collect_sessions(project, running=not background)
    if session.as_json:
        from quire.fields.receipts import collected_fields

        answer(project, collected_fields(done), done.warnings)
        return 1 if done.failed else None
    if not done.sessions and not done.failed:
        say("No session waits.")
    else:
        written = f", {counted(done.episodes, 'episode')}" if done.episodes else ""
        say(f"Read {counted(done.sessions, 'session')}: {counted(done.proposed, 'new proposal')}{written}.")
    if done.ingested:
        say(f"Design documents: {counted(done.ingested, 'fact')}.")
    for name, reason in done.failed:
        say(f"  {name}: {reason}")
    warn(done.warnings)
    return 1 if done.failed else None


def _check_choice(ids: tuple[str, ...], everything: bool, by: str | None, origin: str | None) -> None:
    if everything and ids:
        raise UsageError("Give ids or --all, not both.")
    if not everything and (by or origin):
        raise UsageError("--from and --origin choose among all that wait.", hint="Add --all.")
    if not everything and not ids:
        raise UsageError("No proposal is named.", hint="Give ids, as `memory inbox` lists them, or --all.")


def _report(session: Session, project: Project, done: Settled, verb: str) -> int | None:
    if session.as_json:
        from quire.fields.inbox import settled_fields

        answer(project, settled_fields(done), done.warnings)
        return 1 if done.failed else None
    for item in done.done:
        say(f"{verb} {item.id}: {_first_line(item.text)}" + (f"  ({item.ref})" if item.ref else ""))
    named = {item.id for item in done.done}
    for rejection in done.rejections:
        if rejection.id not in named:
            say(f"{verb} {rejection.id}: {_first_line(rejection.value)}")
    for item, error in done.failed:
        say(f"Not accepted: {item.id}: {error.message}")
        if error.hint:
            say(f"  {error.hint}")
    show_undecided(done.undecided)
    if not done.done and not done.rejections and not done.failed and not done.undecided:
        say("Nothing waits that this would choose.")
    if done.files:
        say(f"Commit {', '.join(sorted({path.rpartition('/')[0] + '/' for path in done.files}))} to share it.")
    say(f"{counted(done.left, 'proposal')} {'waits' if done.left == 1 else 'wait'}.")
    warn(done.warnings)
    return 1 if done.failed else None


COMMAND = Command(
    run=run,
    examples=_EXAMPLES,
    alone=True,
    options=(
        Option(
            name="--status",
            into="status",
            metavar="STATUS",
            choices=_STATUSES,
            default="pending",
            help="pending (by default), accepted, rejected or all.",
        ),
        _FROM,
        _ORIGIN,
    ),
    subcommands={
        "accept": Command(
            run=accept,
            examples="Examples:\n  memory inbox accept in-3f2a91c04d\n  memory inbox accept --all --from user\n",
            arguments=(_IDS,),
            options=(_ALL, _FROM, _ORIGIN),
        ),
        "edit": Command(
            run=edit,
            examples='Example:\n  memory inbox edit in-3f2a --text "Retries run in the worker." --set title=Retries\n',
            arguments=(Argument(name="proposal"),),
            options=(
                Option(name="--text", into="text", metavar="TEXT", help="What it says, in other words."),
                Option(
                    name="--set",
                    into="fields",
                    metavar="NAME=VALUE",
                    many=True,
                    help="A field of the record: title, stage, section, category, key, anchors, tags …",
                ),
            ),
        ),
        "reject": Command(
            run=reject,
            examples='Examples:\n  memory inbox reject in-77b0 --reason "not decided"\n'
            '  memory inbox reject --value "We use Redis."\n',
            arguments=(_IDS,),
            options=(
                _ALL,
                _FROM,
                _ORIGIN,
                Option(name="--reason", into="reason", metavar="TEXT", help="Why; shown to whoever writes it again."),
                Option(name="--value", into="value", metavar="TEXT", help="Reject this text, which nobody proposed."),
            ),
        ),
        "rejected": Command(run=rejected, examples="Example:\n  memory inbox rejected --json\n"),
        "lift": Command(run=lift, examples="Example:\n  memory inbox lift in-77b0\n", arguments=(_IDS,)),
        "collect": Command(
            run=collect,
            examples="Example:\n  memory inbox collect\n",
            options=(
                Option(
                    name="--in-background",
                    into="background",
                    help="Say nothing, give way to others, and leave out sessions that may be going on.",
                ),
            ),
        ),
    },
)
