"""`memory profile recall`, `search`, `connections`, `about-me`, `about-us`, `index`, `context`"""

from __future__ import annotations

from functools import partial
from typing import Any

from quire.model.errors import UsageError
from quire.model.text import cut, one_line
from quire.surfaces.cli.commands import Argument, Command, Option, Session
from quire.surfaces.cli.output import answer, say, warn
from quire.surfaces.cli.profile_shown import named, say_entries, say_entry
from quire.surfaces.cli.reading import number

_ALL = Option(name="--all", into="everything", help="Also what is archived or superseded.")


def recall(session: Session, category: str, key: str | None, everything: bool) -> None:
    """Show one entry, or all active ones of a category. It counts as reading them."""
    from quire.verbs.profile.ask import profile_recall

    project = session.project()
    category, key = named(category, key)
    found = profile_recall(project, category, key, everything=everything)
    if session.as_json:
        from quire.fields.profile import profile_recall_fields

        answer(project, profile_recall_fields(found), found.warnings)
        return
    if key is not None:
        say_entry(found.results[0])
    else:
        say_entries(found.results)
        if not found.results:
            say(f'Nothing is remembered in {category}. `memory profile remember {category} KEY "…"` adds an entry.')
    if found.put_away:
        say(f"Archived or superseded, and not shown: {found.put_away}; --all shows them.")
    warn(found.warnings)


def search(
    session: Session,
    query: str,
    category: str | None,
    tag: list[str],
    status: str | None,
    limit: str | None,
    strict: bool,
) -> None:
    """Find entries by words and by meaning, the best first. It counts as reading them.

    Clear answers come first, then at most three possible ones, marked as such.
    """
    from quire.verbs.profile.ask import profile_search

    project = session.project()
    most = number("limit", limit)
    found = profile_search(project, query, category=category, tags=tag, status=status, limit=most, strict=strict)
    if session.as_json:
        from quire.fields.profile import profile_search_fields

        answer(project, profile_search_fields(found), found.warnings)
        return
    if found.weak:
        say("Nothing clearly answers this. Possible:")
    say_entries(found.results, numbered=True, match=True)
    if not found.results and not found.total:
        say("Nothing is remembered yet, or nothing with this status.")
    elif not found.results:
        say("No entry matches.")
    if found.beyond:
        say(f"More match: {found.beyond}; --limit shows them.")
    warn(found.warnings)


def connections(session: Session, category: str, key: str | None) -> None:
    """Show what an entry is linked to, and what is linked to it."""
    from quire.verbs.profile.ask import profile_connections

    project = session.project()
    category, key = named(category, key)
    if key is None:
        raise UsageError("Name a category and a key.", hint="memory profile connections user timezone")
    found = profile_connections(project, category, key)
    if session.as_json:
        from quire.fields.profile import profile_connections_fields

        answer(project, profile_connections_fields(found))
        return
    say(f"{found.entry.ref}: {found.entry.title}")
    say_links(found)
    if not found.outgoing and not found.incoming:
        say("  It is not linked to anything.")


def say_links(found: Any) -> None:
    for link in found.outgoing:
        say(f"  {link.relation} {link.target}{_said(link)}")
    for link in found.incoming:
        say(f"  {link.source} {link.relation} this{_said(link)}")


def _said(link: Any) -> str:
    if not link.status:
        return " (not here)"
    return f"{'' if link.status == 'active' else f' ({link.status})'}: {cut(one_line(link.entry_summary), 120)}"


def about_me(session: Session) -> None:
    """Show what is known of the user: the profile, and preferences that face the user."""
    from quire.verbs.profile.overview import profile_about_me

    _show(session, partial(profile_about_me, session.project()), "Nothing is known of the user yet.")


def about_us(session: Session) -> None:
    """Show how the user and the assistant work together, and who the assistant is."""
    from quire.verbs.profile.overview import profile_about_us

    _show(session, partial(profile_about_us, session.project()), "Nothing is known of how you work together yet.")


def index(session: Session, everything: bool) -> None:
    """Show one line for each entry. Looking at it does not count as reading."""
    from quire.verbs.profile.overview import profile_index

    project = session.project()
    _show(session, lambda: profile_index(project, everything=everything), "Nothing is remembered yet.")


def _show(session: Session, ask: Any, nothing: str) -> None:
    page = ask()
    if session.as_json:
        from quire.fields.profile import profile_page_fields

        answer(session.project(), profile_page_fields(page), page.warnings)
        return
    say(page.text.rstrip("\n") or ("Nothing that is active." if page.put_away else nothing))
    if page.put_away:
        say(f"Archived or superseded, and not shown: {page.put_away}; `memory profile index --all` shows them.")
    warn(page.warnings)


def context(session: Session, budget: str | None) -> None:
    """Show what an agent should know at the start: something of every category, the most important first."""
    from quire.verbs.profile.overview import profile_context

    project = session.project()
    found = profile_context(project, budget=number("budget", budget))
    if session.as_json:
        from quire.fields.profile import profile_context_fields

        answer(project, profile_context_fields(found))
        return
    if not found.markdown:
        say("Nothing is remembered yet, or nothing that is active.")
        return
    say(found.markdown.rstrip("\n"))


ASKING = {
    "recall": Command(
        run=recall,
        examples="Examples:\n  memory profile recall user\n  memory profile recall user timezone\n",
        arguments=(Argument(name="category"), Argument(name="key", required=False)),
        options=(_ALL,),
    ),
    "search": Command(
        run=search,
        examples="""Examples:
  memory profile search "how do we manage dependencies?"
  memory profile search hooks --category learnings --tag gotcha
""",
        arguments=(Argument(name="query"),),
        options=(
            Option(name="--category", into="category", metavar="NAME", help="Only this category."),
            Option(
                name="--tag",
                into="tag",
                metavar="TAG",
                many=True,
                help="Only with this tag, or all of several.",
            ),
            Option(
                name="--status",
                into="status",
                metavar="STATUS",
                help="archived, superseded or any, instead of active.",
            ),
            Option(name="--limit", into="limit", metavar="N", help="At most this many; 10 by default."),
            Option(name="--strict", into="strict", help="Only clear answers, nothing that is merely possible."),
        ),
    ),
    "connections": Command(
        run=connections,
        examples="Example:\n  memory profile connections learnings flaky_ci\n",
        arguments=(Argument(name="category"), Argument(name="key", required=False)),
    ),
    "about-me": Command(run=about_me, examples="Example:\n  memory profile about-me\n"),
    "about-us": Command(run=about_us, examples="Example:\n  memory profile about-us\n"),
    "index": Command(run=index, examples="Example:\n  memory profile index --all\n", options=(_ALL,)),
    "context": Command(
        run=context,
        examples="Example:\n  memory profile context --budget 600\n",
        options=(Option(name="--budget", into="budget", metavar="TOKENS", help="At most this many tokens."),),
    ),
}
