"""`memory profile session-start`, `remember`, `forget`, `restore`, `link`, `unlink`"""

from __future__ import annotations

from typing import Any

import msgspec

from quire.layers.profile.layout import PRIVATE_CATEGORIES
from quire.model.errors import UsageError
from quire.model.text import counted, cut, one_line
from quire.surfaces.cli.commands import Argument, Command, Option, Session
from quire.surfaces.cli.output import answer, say, warn
from quire.surfaces.cli.profile_shown import named
from quire.surfaces.cli.reading import number, read_text, share

_DRY = Option(name="--dry-run", into="dry_run", help="Show what would be done; write nothing.")
_CLEARED = ("none", "null")


def session_start(session: Session) -> None:
    """Begin a session: it is counted, readings are written down, and what matters now is shown."""
    from quire.verbs.profile.changes import profile_session_start

    project = session.project()
    found = profile_session_start(project)
    if session.as_json:
        from quire.fields.profile import profile_session_start_fields

        answer(project, profile_session_start_fields(found), found.warnings)
        return
    counts = ", ".join(f"{count} {name}" for name, count in found.categories.items() if count)
    say(
        f"Session {found.session_count}"
        + ("" if found.counted else " (not counted: the document is only read)")
        + f": {counted(found.total, 'active entry', 'active entries')}"
        + (f" ({counts})" if counts else "")
        + "."
    )
    if found.name_assigned:
        say(f"The assistant had no name; it is {found.assistant_name} now. Ask the user, and change it with:")
        say('  memory profile remember assistant name "…" --source user-stated')
    elif found.name_missing and found.counted:
        say('The assistant has no name: memory profile remember assistant name "…"')
    if found.context:
        say()
        say(found.context.rstrip("\n"))
    if found.contradictions or found.proposals:
        say()
    for link in found.contradictions:
        say(f"To be resolved: {link.source} contradicts {link.target}.")
    if found.proposals:
        say(f"`memory profile reflect` has {counted(found.proposals, 'proposal')}.")
    warn(found.warnings)


def remember(
    session: Session,
    category: str,
    key: str,
    value: str | None,
    tag: list[str],
    untag: list[str],
    importance: str | None,
    confidence: str | None,
    source: str | None,
    detail: str | None,
    status: str | None,
    supersedes: list[str],
    force: bool,
    broad: bool,
    dry_run: bool,
) -> int:
    """Add an entry, or change one: only what is given is changed. A VALUE of `-` is read from standard input.

    Categories: user, assistant, project, relationships, tools, learnings. Where another entry of the category says the
    same, or nearly, nothing is written and it is shown; --force adds the new one all the same.
    """
    from quire.verbs.profile.changes import profile_remember

    project = session.project()
    if value == "-":
        value = read_text("the value")
    done = profile_remember(
        project,
        category,
        key,
        value,
        tags=tag or None,
        untag=untag,
        importance=number("importance", importance),
        confidence=_clearable(confidence, share("confidence", confidence) if not _clears(confidence) else None),
        source=source,
        detail=_clearable(detail, detail),
        status=status,
        supersedes=supersedes,
        force=force,
        broad=broad,
        dry_run=dry_run,
    )
    if session.as_json:
        from quire.fields.profile import profile_remember_fields

        answer(project, profile_remember_fields(done), done.warnings)
        return 1 if done.action == "candidates" else 0
    if done.action == "candidates":
        _say_candidates(done)
        return 1
    said = {"ADD": "Remembered", "UPDATE": "Changed", "NOOP": "Nothing is different"}[done.action]
    if dry_run and done.action != "NOOP":
        said = f"Would be {said.lower()}"
    assert done.entry is not None, "whatever is no candidate has an entry"
    say(f"{said}: {done.entry.ref}")
    if done.linked:
        say(f"  related to {', '.join(done.linked)}, by the tags they share")
    if done.archived:
        say(f"  archived, since it replaces them: {', '.join(done.archived)}")
    if done.entry.private:
        say("  kept in the private document")
    elif done.action == "ADD" and category in PRIVATE_CATEGORIES and project.git.available:
        say("  in the document that git shares; `memory profile private` keeps such entries out of it")
    warn(done.warnings)
    return 0


def _clears(text: str | None) -> bool:
    return text is not None and text.strip().lower() in _CLEARED


def _clearable(text: str | None, value: Any) -> Any:
    """Not given, taken away, or a value."""
    if text is None:
        return msgspec.UNSET
    return None if _clears(text) else value


def _say_candidates(done: Any) -> None:
    same = done.recommendation == "NOOP"
    say("Not remembered: this is known already." if same else "Not remembered: an entry says nearly this.")
    for item in done.candidates:
        say(f"  {item.ref} ({item.share:.0%} the same): {cut(one_line(item.value), 200)}")
    best = done.candidates[0]
    say(f"Change that one (memory profile remember {best.category} {best.key} …), or add yours with --force.")


def forget(session: Session, category: str, key: str | None, dry_run: bool) -> None:
    """Remove an entry and the links to it. The document as it was is kept, and `restore` brings the entry back."""
    from quire.verbs.profile.changes import profile_forget

    project = session.project()
    category, key = named(category, key)
    if key is None:
        raise UsageError("Name a category and a key.", hint="memory profile forget tools old_shell")
    done = profile_forget(project, category, key, dry_run=dry_run)
    if session.as_json:
        from quire.fields.profile import profile_forget_fields

        answer(project, profile_forget_fields(done))
        return
    say(f"{'Would be forgotten' if dry_run else 'Forgotten'}: {done.removed.ref} ({done.removed.title})")
    if done.links_removed:
        say(f"  links to it removed from {', '.join(done.links_removed)}")
    if not dry_run:
        say(f"  bring it back: memory profile restore {category} {key}")
        say(f"  the whole document as it was: {done.backup_path}")


def restore(
    session: Session, category: str | None, key: str | None, at: str | None, new_key: str | None, dry_run: bool
) -> None:
    """Bring back an entry that was forgotten on this machine; without a name, show what there is.

    Of several with one name the last; --at takes the one that was forgotten then.
    """
    from quire.verbs.profile.changes import profile_forgotten, profile_restore

    project = session.project()
    if category is None:
        if at is not None or new_key is not None:
            raise UsageError("Name what is to be restored.", hint="memory profile restore tools old_shell --as new_key")
        found = profile_forgotten(project)
        if session.as_json:
            from quire.fields.profile import profile_forgotten_fields

            answer(project, profile_forgotten_fields(found))
            return
        if not found:
            say("Nothing was forgotten on this machine.")
        for item in found:
            say(f"  {item.id} (forgotten {item.at}): {item.title}")
        return
    category, key = named(category, key)
    if key is None:
        raise UsageError("Name a category and a key.", hint="memory profile restore user timezone")
    done = profile_restore(project, category, key, at=at, new_key=new_key, dry_run=dry_run)
    if session.as_json:
        from quire.fields.profile import profile_restore_fields

        answer(project, profile_restore_fields(done))
        return
    links = f", with {counted(done.links_restored, 'link')} to it" if done.links_restored else ""
    say(f"{'Would be restored' if dry_run else 'Restored'}: {done.entry.ref}{links}")


def link(session: Session, source: str, target: str, relation: str, dry_run: bool) -> None:
    """Link one entry to another: SOURCE elaborates TARGET, and so on. Entries are named category.key.

    Relations: supersedes (the target is archived), elaborates, contradicts, related-to, depends-on.
    """
    from quire.verbs.profile.changes import profile_link

    project = session.project()
    done = profile_link(project, source, target, relation, dry_run=dry_run)
    if session.as_json:
        from quire.fields.profile import profile_link_fields

        answer(project, profile_link_fields(done, dry_run=dry_run))
        return
    said = "Linked already" if not done.created else "Would be linked" if dry_run else "Linked"
    say(f"{said}: {done.source} {done.relation} {done.target}")
    if done.archived:
        say(f"  {done.target} is archived: it is replaced.")


def unlink(session: Session, source: str, target: str, relation: str | None, dry_run: bool) -> None:
    """Take the links from one entry to another away: all of them, or those of one RELATION."""
    from quire.verbs.profile.changes import profile_unlink

    project = session.project()
    done = profile_unlink(project, source, target, relation, dry_run=dry_run)
    if session.as_json:
        from quire.fields.profile import profile_unlink_fields

        answer(project, profile_unlink_fields(done))
        return
    said = "Would be unlinked" if dry_run else "Unlinked"
    say(f"{said}: {done.source} {', '.join(done.relations)} {done.target}")
    if "supersedes" in done.relations:
        category, _, key = done.target.partition(".")
        say(f"  It stays archived; bring it back: memory profile remember {category} {key} --status active")


_NAMED = (Argument(name="category"), Argument(name="key"))

TELLING = {
    "session-start": Command(run=session_start, examples="Example:\n  memory profile session-start --json\n"),
    "remember": Command(
        run=remember,
        examples="""Examples:
  memory profile remember user timezone "Europe/Madrid" --source user-stated
  memory profile remember learnings flaky_ci "The e2e job needs two cores." --tag ci --confidence 0.6
  memory profile remember learnings flaky_ci --confidence 0.9 --importance 8
  memory profile remember tools shell fish --supersedes tools.old_shell
""",
        arguments=(*_NAMED, Argument(name="value", required=False)),
        options=(
            Option(
                name="--tag", into="tag", metavar="TAG", many=True, help="A tag to add; may be given several times."
            ),
            Option(name="--untag", into="untag", metavar="TAG", many=True, help="A tag to take away."),
            Option(name="--importance", into="importance", metavar="NUMBER", help="1 to 10; 5 for a new entry."),
            Option(name="--confidence", into="confidence", metavar="NUMBER", help="0 to 1, or `none` to take it away."),
            Option(
                name="--source",
                into="source",
                metavar="TYPE",
                help="session (by default), user-stated, inferred or codebase.",
            ),
            Option(name="--detail", into="detail", metavar="TEXT", help="More on the source, or `none`."),
            Option(name="--status", into="status", metavar="STATUS", help="active, archived or superseded."),
            Option(
                name="--supersedes",
                into="supersedes",
                metavar="ENTRY",
                many=True,
                help="An entry, category.key, that this one replaces; it is archived.",
            ),
            Option(name="--force", into="force", help="Add it even if another entry says the same."),
            Option(name="--broad", into="broad", help="Look for such an entry in every category."),
            _DRY,
        ),
    ),
    "forget": Command(
        run=forget,
        examples="Example:\n  memory profile forget tools old_shell\n",
        arguments=(Argument(name="category"), Argument(name="key", required=False)),
        options=(_DRY,),
    ),
    "restore": Command(
        run=restore,
        examples="Examples:\n  memory profile restore\n  memory profile restore tools old_shell\n",
        arguments=(Argument(name="category", required=False), Argument(name="key", required=False)),
        options=(
            Option(name="--at", into="at", metavar="TIME", help="The one that was forgotten at this time."),
            Option(name="--as", into="new_key", metavar="KEY", help="Under another key of its category."),
            _DRY,
        ),
    ),
    "link": Command(
        run=link,
        examples="Example:\n  memory profile link learnings.flaky_ci project.ci elaborates\n",
        arguments=(Argument(name="source"), Argument(name="target"), Argument(name="relation")),
        options=(_DRY,),
    ),
    "unlink": Command(
        run=unlink,
        examples="Example:\n  memory profile unlink learnings.flaky_ci project.ci\n",
        arguments=(
            Argument(name="source"),
            Argument(name="target"),
            Argument(name="relation", required=False),
        ),
        options=(_DRY,),
    ),
}
