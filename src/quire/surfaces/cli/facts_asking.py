"""`memory facts recall`, `list`, `search-archive`, `episodes`, `focus`, `release`, `context`"""

from __future__ import annotations

from typing import Any

from quire.surfaces.cli.commands import Argument, Command, Option, Session
from quire.surfaces.cli.facts_shown import say_facts
from quire.surfaces.cli.output import answer, counted, say, warn
from quire.surfaces.cli.reading import number

_SECTION = Option(name="--section", into="section", metavar="NAME", help="Only this section.")
_MIND = Option(name="--mind", into="mind", metavar="NAME", help="Whose facts; the usual ones by default.")
_SESSION = Option(
    name="--session", into="agent_session", metavar="ID", default="", help="Whose working memory; one is shared by all."
)


def recall(
    session: Session,
    query: str,
    k: str | None,
    section: str | None,
    mind: str | None,
    faded: bool,
    strict: bool,
) -> None:
    """Find facts by words and by meaning, ranked by relevance times confidence.

    Clear answers come first, then at most three possible ones, marked as such.
    Facts fade unless they are confirmed; what counts less than a tenth is left out, and its number said, unless nothing
    else comes near. A fact that is found in time fades no further, but is not confirmed by it.
    """
    from quire.verbs.facts.faded import faded_facts
    from quire.verbs.facts.recall import memory_recall

    project = session.project()
    found = memory_recall(project, query, k=number("k", k), section=section, mind=mind, faded=faded, strict=strict)
    found.warnings += faded_facts(project) if found.faded else []
    if session.as_json:
        from quire.fields.facts import memory_recall_fields

        answer(project, memory_recall_fields(found), found.warnings)
        return
    if found.reason == "all faded":
        say("What matches best was not confirmed for long, and has faded:")
    elif found.weak:
        say("Nothing clearly answers this. Possible:")
    say_facts(found.results, numbered=True)
    for link in found.connected:
        say(f"   {link.source} {link.relation} {link.target} — {link.title}")
    if not found.results:
        say("No fact matches." if found.reason == "nothing matched" else _nothing(found.unread, mind))
        if found.others:
            say(f"Other minds hold facts: {_counted(found.others)}. Name one with --mind.")
    if found.reason == "all faded":
        say("Storing one again confirms it; `memory facts archive --faded` puts all such facts away.")
    elif found.faded:
        say(f"Left out because they have faded: {found.faded}; --faded shows them, storing one again confirms it.")
    warn(found.warnings)


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} ({count})" for name, count in counts.items())


def _nothing(unread: int, mind: str | None) -> str:
    """Why there is no fact at all."""
    if unread:
        return "No line of the file could be read as a fact; `memory check` says why."
    if mind is not None:
        return f"The mind `{mind}` has no facts."
    return 'No facts are stored yet. `memory facts store Architecture "…"` keeps the first.'


def list_facts(session: Session, section: str | None, offset: str, limit: str | None, mind: str | None) -> None:
    """Show all active facts, section by section, a page at a time. For a question, use recall."""
    from quire.verbs.facts.changes import memory_query

    project = session.project()
    page = memory_query(
        project, section=section, offset=number("offset", offset) or 0, limit=number("limit", limit), mind=mind
    )
    if session.as_json:
        from quire.fields.facts import memory_query_fields

        answer(project, memory_query_fields(page), page.warnings)
        return
    if not page.total:
        say(f"No active facts in {section}." if section else _nothing(page.unread, mind))
        warn(page.warnings)
        return
    if not page.results:
        say(f"There are no more than {counted(page.total, 'fact')}.")
    shown = None
    for view in page.results:
        if view.section != shown:
            shown = view.section
            say(f"{shown} ({page.sections[shown]})")
        say_facts([view])
    if page.more:
        say(f"{page.more} more: --offset {page.offset + len(page.results)}")


def search_archive(session: Session, query: str, k: str | None, mind: str | None) -> None:
    """Find facts that were archived or superseded. Looking revives nothing; `memory facts restore` does."""
    from quire.verbs.facts.recall import memory_search_archive

    project = session.project()
    found = memory_search_archive(project, query, k=number("k", k), mind=mind)
    if session.as_json:
        from quire.fields.facts import memory_recall_fields

        answer(project, memory_recall_fields(found), found.warnings)
        return
    say_facts(found.results, numbered=True)
    if not found.results:
        say("Nothing that was put away matches.")


def episodes(
    session: Session,
    query: str | None,
    k: str | None,
    tag: str | None,
    since: str | None,
    until: str | None,
    mind: str | None,
) -> None:
    """Show what happened in earlier sessions: those that bear on a question, or the most recent ones."""
    from quire.verbs.facts.recall import memory_episodes

    project = session.project()
    found = memory_episodes(project, query or "", k=number("k", k), tag=tag, since=since, until=until, mind=mind)
    if session.as_json:
        from quire.fields.facts import memory_episodes_fields

        answer(project, memory_episodes_fields(found))
        return
    for item in found.results:
        tags = f"  [{', '.join(item.tags)}]" if item.tags else ""
        say(f"{item.date}: {item.title}{tags}")
        say(f"  {item.ref}" + (f", {counted(len(item.facts), 'fact')}" if item.facts else ""))
        say("  " + item.narrative.replace("\n", "\n  "))
        say()
    if not found.results:
        asked = query or tag or since or until or mind
        say("No episode matches." if asked else "No episodes are recorded.")


def focus(session: Session, facts: tuple[str, ...], agent_session: str) -> int:
    """Pin facts to working memory: they come first in every context, and outlive compaction.

    There are 25 slots. Without FACT, shows what is pinned and what was read of late.
    """
    from quire.verbs.facts.working_memory import memory_focus, memory_working

    project = session.project()
    if not facts:
        _working(session, project, memory_working(project, session=agent_session), "")
        return 0
    done = memory_focus(project, list(facts), session=agent_session)
    pinned = sum(text in ("pinned", "already pinned") for text in done.outcomes.values())
    _working(session, project, done, f"Pinned {pinned} of {len(done.outcomes)}.")
    return 0 if pinned == len(done.outcomes) else 1


def release(session: Session, facts: tuple[str, ...], agent_session: str) -> int:
    """Let go of pins: of FACT…, or of all. The facts themselves stay."""
    from quire.verbs.facts.working_memory import memory_release

    project = session.project()
    done = memory_release(project, list(facts) or None, session=agent_session)
    released = sum(text == "released" for text in done.outcomes.values())
    _working(session, project, done, f"Released {released}.")
    return 0 if released == len(done.outcomes) else 1


def _working(session: Session, project: Any, done: Any, said: str) -> None:
    if session.as_json:
        from quire.fields.facts import memory_working_fields

        answer(project, memory_working_fields(done), done.warnings)
        return
    if said:
        say(said)
    for name, text in done.outcomes.items():
        if text not in ("pinned", "released"):
            say(f"  {name}: {text}")
    say(f"Working memory: {done.used} of {done.slots} slots are pinned.")
    say_facts(done.pins)
    if done.missing:
        say(f"No longer there: {', '.join(done.missing)}")
    if done.recent:
        say("Read of late:")
        say_facts(done.recent)
    warn(done.warnings)


def context(session: Session, prompt: str | None, budget: str | None, agent_session: str, mind: str | None) -> None:
    """Print what an agent should have before its eyes in this turn, within a budget of tokens.

    Pins first, then facts that bear on PROMPT, a fair share for every section, at most one episode. A prompt that says
    nothing ("ok", "continue") gets the pins alone. The same input gives the same text.
    """
    from quire.verbs.facts.working_memory import memory_context

    project = session.project()
    found = memory_context(project, prompt or "", budget=number("budget", budget), session=agent_session, mind=mind)
    if session.as_json:
        from quire.fields.facts import memory_context_fields

        answer(project, memory_context_fields(found))
        return
    if found.markdown:
        say(found.markdown.rstrip("\n"))


ASKING = {
    "recall": Command(
        run=recall,
        examples="""Examples:
  memory facts recall "how are retries scheduled?"
  memory facts recall "fonts" --section "Known Issues" --k 5
""",
        arguments=(Argument(name="query"),),
        options=(
            Option(name="--k", into="k", metavar="NUMBER", help="At most so many; 10 by default, 50 at most."),
            _SECTION,
            _MIND,
            Option(name="--faded", into="faded", help="Also what was not confirmed for long."),
            Option(name="--strict", into="strict", help="Only clear answers, nothing that is merely possible."),
        ),
    ),
    "list": Command(
        run=list_facts,
        examples="Examples:\n  memory facts list\n  memory facts list --section Decisions --limit 20\n",
        options=(
            _SECTION,
            Option(name="--offset", into="offset", metavar="NUMBER", default="0", help="How many to pass over."),
            Option(name="--limit", into="limit", metavar="NUMBER", help="At most so many; 200 by default."),
            _MIND,
        ),
    ),
    "search-archive": Command(
        run=search_archive,
        examples='Example:\n  memory facts search-archive "retry queue"\n',
        arguments=(Argument(name="query"),),
        options=(Option(name="--k", into="k", metavar="NUMBER", help="At most so many; 10 by default."), _MIND),
    ),
    "episodes": Command(
        run=episodes,
        examples="""Examples:
  memory facts episodes
  memory facts episodes "font crash" --tag auto --since 2026-03-01
""",
        arguments=(Argument(name="query", required=False),),
        options=(
            Option(name="--k", into="k", metavar="NUMBER", help="At most so many; 5 by default."),
            Option(name="--tag", into="tag", metavar="TAG", help="Only with this tag."),
            Option(name="--since", into="since", metavar="DATE", help="From this day on."),
            Option(name="--until", into="until", metavar="DATE", help="Up to this day."),
            _MIND,
        ),
    ),
    "focus": Command(
        run=focus,
        examples="Examples:\n  memory facts focus 57afd07611e9\n  memory facts focus\n",
        arguments=(Argument(name="facts", many=True, required=False),),
        options=(_SESSION,),
    ),
    "release": Command(
        run=release,
        examples="Example:\n  memory facts release\n",
        arguments=(Argument(name="facts", many=True, required=False),),
        options=(_SESSION,),
    ),
    "context": Command(
        run=context,
        examples='Example:\n  memory facts context "add a retry to the mailer" --budget 1200\n',
        arguments=(Argument(name="prompt", required=False),),
        options=(
            Option(name="--budget", into="budget", metavar="TOKENS", help="How long it may be; 2000 by default."),
            _SESSION,
            _MIND,
        ),
    ),
}
