"""`memory facts store`, `supersede`, `archive`, `restore`, `connect`"""

from __future__ import annotations

from typing import Any

from quire.layers.facts.layout import RELATIONS
from quire.model.errors import UsageError
from quire.surfaces.cli.commands import Argument, Command, Option, Session
from quire.surfaces.cli.output import answer, say, warn
from quire.surfaces.cli.reading import read_text, share

_DRY = Option(name="--dry-run", into="dry_run", help="Say what would be done, write nothing.")
_MIND = Option(name="--mind", into="mind", metavar="NAME", help="Whose facts; the usual ones by default.")
_SESSION = Option(name="--session", into="agent_session", metavar="ID", help="The session that says so.")
_SOURCE = Option(
    name="--source", into="source", metavar="NAME", default="manual", help="Where it comes from, for the record."
)


def _text(content: str | None) -> str:
    """The content as it was given, or from standard input where it is `-` or missing."""
    if content is not None and content != "-":
        return content
    return read_text("the fact")


def _confidence(text: str | None) -> float:
    given = share("confidence", text)
    return 1.0 if given is None else given


def store(
    session: Session,
    section: str,
    content: str | None,
    tag: tuple[str, ...],
    source: str,
    confidence: str | None,
    agent_session: str | None,
    mind: str | None,
    dry_run: bool,
) -> None:
    """Keep a fact: one atom of knowledge, in one of the seven sections.

    Sections: Architecture, Decisions, Constraints, Known Issues, Patterns & Conventions, Specs, Recent Work. A text
    that is known already is confirmed instead of stored twice; a warning names a fact that says nearly the same, or
    the opposite. With `-` the content is read from standard input.
    """
    from quire.verbs.facts.changes import memory_store

    project = session.project()
    done = memory_store(
        project,
        section,
        _text(content),
        tags=tag,
        source=source,
        confidence=_confidence(confidence),
        session=agent_session,
        mind=mind,
        dry_run=dry_run,
    )
    if session.as_json:
        from quire.fields.facts import memory_store_fields

        answer(project, memory_store_fields(done, dry_run=dry_run), done.warnings)
        return
    fact = done.fact
    said = {
        "stored": f"Stored in {fact.section}: {fact.content}",
        "reinforced": f"Confirmed (told {fact.reinforcements} times now): {fact.content}",
        "tagged": f"Known already; tags added: {fact.content}",
        "unchanged": f"Known already, nothing changed: {fact.content}",
    }
    say(f"{'Would be: ' if dry_run else ''}{said[done.action]}")
    say(f"  {fact.ref}")
    warn(done.warnings)


def supersede(
    session: Session,
    fact: str,
    content: str | None,
    by: str | None,
    section: str | None,
    reason: str | None,
    source: str,
    agent_session: str | None,
    dry_run: bool,
) -> None:
    """Replace a fact by what holds now, in one step.

    The old one stays in the archive; connections and pins follow to the new one. FACT is an id, or the beginning of
    one. --by names a stored fact that takes its place.
    """
    from quire.verbs.facts.changes import memory_supersede

    if by is not None and content is not None:
        raise UsageError("Give either a text or --by.", hint="--by names a fact that is stored already.")
    project = session.project()
    done = memory_supersede(
        project,
        fact,
        _text(content) if by is None else "",
        by=by,
        section=section,
        reason=reason,
        source=source,
        session=agent_session,
        dry_run=dry_run,
    )
    if session.as_json:
        from quire.fields.facts import memory_supersede_fields

        answer(project, memory_supersede_fields(done, dry_run=dry_run), done.warnings)
        return
    say(f"{'Would supersede' if dry_run else 'Superseded'} {done.old.id} → {done.new.id} in {done.new.section}:")
    say(f"  was: {done.old.content}")
    say(f"  now: {done.new.content}")
    warn(done.warnings)


def archive(
    session: Session,
    facts: tuple[str, ...],
    reason: str | None,
    faded: bool,
    agent_session: str | None,
    dry_run: bool,
) -> int:
    """Put facts away: out of recall and context, still found by search-archive.

    Each id is answered for. --faded takes all facts that nobody confirmed for so long that they no longer count.
    --session takes all active ones that this session was the first to tell. A connection is put away by its ref,
    edge:….
    """
    from quire.verbs.facts.changes import memory_archive

    if not facts and not faded and not agent_session:
        raise UsageError(
            "Name the facts, or use --faded or --session.", hint="`memory facts archive --help` shows examples."
        )
    project = session.project()
    done = memory_archive(project, list(facts), reason=reason, faded=faded, session=agent_session, dry_run=dry_run)
    nothing = "Nothing has faded." if faded else "No active fact is from that session." if agent_session else ""
    return _outcomes(session, project, done, nothing)


def refresh(session: Session, since: str | None, mind: str | None, dry_run: bool) -> None:
    """Make old facts count from today: all active ones that were confirmed or read on DATE or later.

    Facts fade unless they are confirmed, so a file that nobody used for long is left out of answers. This starts their
    clock again, in one step. It is no confirmation: they fade as fast as before.
    """
    from quire.verbs.facts.changes import memory_refresh

    if since is None:
        raise UsageError("Say since when.", hint="memory facts refresh --since 2026-01-01")
    project = session.project()
    done = memory_refresh(project, since, mind=mind, dry_run=dry_run)
    if session.as_json:
        from quire.fields.facts import memory_refresh_fields

        answer(project, memory_refresh_fields(done))
        return
    if not done.refreshed:
        say(f"No active fact was confirmed since {since}, or none fades.")
        return
    verb = "Would refresh" if dry_run else "Refreshed"
    say(f"{verb} {done.refreshed:,} of {done.active:,} active facts: they count from today.")
    if not dry_run:
        say("`memory facts archive <id>` puts away what no longer holds.")


def restore(session: Session, facts: tuple[str, ...], dry_run: bool) -> int:
    """Bring facts back from the archive, or accept those that were only proposed. A connection comes by edge:…."""
    from quire.verbs.facts.changes import memory_restore

    project = session.project()
    return _outcomes(session, project, memory_restore(project, list(facts), dry_run=dry_run), "")


def _outcomes(session: Session, project: Any, done: Any, nothing: str) -> int:
    """One line for each id; a failure of any is a failure."""
    if session.as_json:
        from quire.fields.facts import memory_archive_fields

        answer(project, memory_archive_fields(done))
    elif not done.outcomes:
        say(nothing)
    else:
        for item in done.outcomes:
            say(f"{'Would be: ' if done.dry_run and item.done else ''}{item.message}")
    return 1 if any(item.outcome in ("not found", "refused") for item in done.outcomes) else 0


def is_relation(text: str) -> bool:
    return text.strip().lower().replace("-", "_").replace(" ", "_") in RELATIONS


def connect(
    session: Session,
    source: str,
    target: str,
    relation: str,
    description: str | None,
    agent_session: str | None,
    dry_run: bool,
) -> None:
    """Join two things by a directed edge: SOURCE depends_on TARGET, and so on.

    Relations: depends_on, contradicts, enables, replaces, motivated_by; others are kept with a warning. The ends are
    ids of facts, or refs of anything else, such as feature.retry-queue.
    """
    from quire.verbs.facts.changes import memory_connect

    project = session.project()
    if is_relation(target) and not is_relation(relation):
        target, relation = relation, target  # said as a sentence
    action, edge, warnings = memory_connect(
        project, source, target, relation, description=description or "", session=agent_session, dry_run=dry_run
    )
    if session.as_json:
        from quire.fields.facts import memory_connect_fields

        answer(project, memory_connect_fields(action, edge, dry_run=dry_run), warnings)
        return
    said = {"connected": "Connected", "reinforced": "Confirmed", "unchanged": "Known already"}[action]
    say(f"{'Would be: ' if dry_run else ''}{said}: {edge.source} {edge.relation} {edge.target}")
    say(f"  {edge.ref}")
    warn(warnings)


TELLING = {
    "store": Command(
        run=store,
        examples="""Examples:
  memory facts store Architecture "Webhook retries run in the worker, never in the request."
  memory facts store "Known Issues" "PDF export hangs on fonts without a cmap." --tag pdf
""",
        arguments=(Argument(name="section"), Argument(name="content", required=False)),
        options=(
            Option(name="--tag", into="tag", metavar="TAG", many=True, help="A tag; may be given more than once."),
            _SOURCE,
            Option(name="--confidence", into="confidence", metavar="NUMBER", help="Above 0, at most 1; 1 by default."),
            _SESSION,
            _MIND,
            _DRY,
        ),
    ),
    "supersede": Command(
        run=supersede,
        examples="""Examples:
  memory facts supersede 57afd07611e9 "The retry queue lives in Postgres." --reason "moved in 2.0"
  memory facts supersede 57afd07611e9 --by 267c091a6041
""",
        arguments=(Argument(name="fact"), Argument(name="content", required=False)),
        options=(
            Option(name="--by", into="by", metavar="FACT", help="A stored fact that takes its place."),
            Option(name="--section", into="section", metavar="NAME", help="Another section than the old one's."),
            Option(name="--reason", into="reason", metavar="TEXT", help="Why the old one no longer holds."),
            _SOURCE,
            _SESSION,
            _DRY,
        ),
    ),
    "archive": Command(
        run=archive,
        examples="""Examples:
  memory facts archive 57afd07611e9 --reason "fixed in 2.1"
  memory facts archive --faded --dry-run
  memory facts archive --session 7f3ac2d9 --dry-run
""",
        arguments=(Argument(name="facts", many=True, required=False),),
        options=(
            Option(name="--reason", into="reason", metavar="TEXT", help="Why; kept with the fact."),
            Option(name="--faded", into="faded", help="All that nobody confirmed for long."),
            Option(name="--session", into="agent_session", metavar="ID", help="All that this session told first."),
            _DRY,
        ),
    ),
    "refresh": Command(
        run=refresh,
        examples="""Examples:
  memory facts refresh --since 2026-01-01 --dry-run
  memory facts refresh --since 2026-01-01
""",
        options=(
            Option(name="--since", into="since", metavar="DATE", help="The day of the oldest ones."),
            _MIND,
            _DRY,
        ),
    ),
    "restore": Command(
        run=restore,
        examples="Example:\n  memory facts restore 57afd07611e9\n",
        arguments=(Argument(name="facts", many=True),),
        options=(_DRY,),
    ),
    "connect": Command(
        run=connect,
        examples="""Examples:
  memory facts connect 57afd07611e9 267c091a6041 depends_on
  memory facts connect 57afd07611e9 feature.retry-queue motivated_by --description "why it is durable"
""",
        arguments=(Argument(name="source"), Argument(name="target"), Argument(name="relation")),
        options=(
            Option(name="--description", into="description", metavar="TEXT", help="What the connection means."),
            _SESSION,
            _DRY,
        ),
    ),
}
