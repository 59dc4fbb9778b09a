"""What the tools of the profile do: each asks the project one thing, and answers in the names that assistants know."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from quire.layers.profile.layout import PRIVATE_CATEGORIES
from quire.surfaces.mcp.tool import Call, Given
from quire.verbs.verb import Arguments

if TYPE_CHECKING:
    from quire.project import Project
    from quire.surfaces.mcp.profile_tools import (
        EntryArguments,
        ExportArguments,
        LinkArguments,
        RecallArguments,
        RememberArguments,
        SearchArguments,
        UnlinkArguments,
    )

_PROPOSALS = 100
_COUNTS = (
    "categories",
    "statuses",
    "total",
    "links",
    "session_count",
    "schema_version",
    "file_size",
    "private",
    "private_entries",
    "pending_readings",
    "forgotten",
    "writable",
)

# -- telling ----------------------------------------------------------------------------------


def session_start(project: Project, given: Arguments, call: Call) -> Given:
    from quire.surfaces.mcp.profile_shown import session_given
    from quire.verbs.profile.changes import profile_session_start

    call.wanted()
    return session_given(profile_session_start(project), call)


def remember(project: Project, given: RememberArguments, call: Call) -> Given:
    from quire.fields.profile import profile_remember_fields
    from quire.surfaces.mcp.profile_shown import candidates_given, name_of
    from quire.verbs.profile.changes import profile_remember

    call.wanted()
    done = profile_remember(
        project,
        given.category,
        given.key,
        given.value,
        tags=given.tags or None,
        importance=given.importance,
        # Clients send null for what they leave out, so null takes no confidence away.
        confidence=msgspec.UNSET if given.confidence is None else given.confidence,
        source=given.source_type,
        force=given.force,
        broad=given.broad,
    )
    if done.entry is None:
        return candidates_given(profile_remember_fields(done), call)
    said = [{"ADD": "Remembered.", "UPDATE": "Changed.", "NOOP": "Nothing is different."}[done.action]]
    if done.linked:
        said.append(f"Entries it was linked to by the tags they share: {len(done.linked)}.")
    is_open = given.category in PRIVATE_CATEGORIES and not done.entry.private
    if done.action == "ADD" and is_open and project.git.available:
        said.append("It is in the document that git shares; `memory profile private` keeps such entries out of it.")
    fields = {"action": done.action, **name_of(done.entry), "entry": done.entry.entry, "linked": done.linked}
    return Given(fields=fields, text=" ".join(said), warnings=done.warnings)


def forget(project: Project, given: EntryArguments, call: Call) -> Given:
    import shlex

    from quire.surfaces.mcp.answers import fenced_text
    from quire.surfaces.mcp.profile_shown import name_of
    from quire.verbs.profile.changes import profile_forget

    call.wanted()
    done = profile_forget(project, given.category, given.key)
    restore = shlex.join(("memory", "profile", "restore", given.category, given.key))
    fields = {
        "removed": done.removed.entry,
        **name_of(done.removed),
        "links_removed": done.links_removed,
        "backup_path": done.backup_path,
        "restore": restore,
    }
    told = fenced_text(f"{restore}\nthe whole document as it was: {done.backup_path}", call.fence)
    return Given(fields=fields, text=f"Forgotten. This command brings it back:\n{told}")


def add_link(project: Project, given: LinkArguments, call: Call) -> Given:
    from quire.verbs.profile.changes import profile_link

    call.wanted()
    done = profile_link(project, *given.ends(), given.relation)
    fields = {
        "link_created": done.created,
        "source": done.source,
        "target": done.target,
        "relation": done.relation,
        "archived": done.archived,
        **({} if done.created else {"reason": "duplicate"}),
    }
    said = "Linked." if done.created else "Linked already."
    return Given(fields=fields, text=f"{said} The target is archived: it is replaced." if done.archived else said)


def remove_link(project: Project, given: UnlinkArguments, call: Call) -> Given:
    from quire.verbs.profile.changes import profile_unlink

    call.wanted()
    done = profile_unlink(project, *given.ends(), given.relation)
    fields = {"link_removed": True, "source": done.source, "target": done.target, "relations": list(done.relations)}
    said = f"Links taken away: {len(done.relations)}."
    return Given(fields=fields, text=f"{said} The target stays archived." if "supersedes" in done.relations else said)


# -- asking -----------------------------------------------------------------------------------


def recall(project: Project, given: RecallArguments, call: Call) -> Given:
    from quire.surfaces.mcp.profile_shown import entries_text, fitting, flags_of, name_of
    from quire.verbs.profile.ask import profile_recall

    found = profile_recall(project, given.category, given.key)
    shown = fitting(found.results)
    beyond = len(found.results) - len(shown)
    said = [] if shown else ["Nothing active is remembered in this category."]
    said += [f"More entries, not shown: {beyond}; `search` finds them."] if beyond else []
    said += [f"Archived or superseded, and not shown: {found.put_away}."] if found.put_away else []
    fields = {
        "category": found.category,
        "entries": {view.key: {**view.entry, **name_of(view), **flags_of(view)} for view in shown},
        "beyond": beyond,
        "put_away": found.put_away,
    }
    return Given(fields=fields, text=entries_text(said, shown, call), warnings=found.warnings)


def search(project: Project, given: SearchArguments, call: Call) -> Given:
    from quire.surfaces.mcp.profile_shown import entries_text, fitting, flags_of, name_of
    from quire.verbs.profile.ask import profile_search

    found = profile_search(project, given.query, category=given.category, strict=given.strict)
    shown = fitting(found.results)
    beyond = found.beyond + len(found.results) - len(shown)
    said = [] if shown else ["No entry matches."]
    said += ["Nothing clearly answers this. Possible:"] if found.weak else []
    said += [f"More match, and are not shown: {beyond}."] if beyond else []
    rows = []
    for view in shown:
        row = {**name_of(view), "category": view.category, "key": view.key, "entry": view.entry}
        marked = {"reviewed": False} if view.reviewed is False else {}
        rows.append({**row, "score": view.score, "tier": view.tier, "why": view.why, **marked, **flags_of(view)})
    fields = {"results": rows, "beyond": beyond, "weak": found.weak, "total": found.total}
    return Given(fields=fields, text=entries_text(said, shown, call), warnings=found.warnings)


def connections(project: Project, given: EntryArguments, call: Call) -> Given:
    from quire.fields.profile import profile_connections_fields
    from quire.surfaces.mcp.profile_shown import links_given
    from quire.verbs.profile.ask import profile_connections

    return links_given(profile_connections_fields(profile_connections(project, given.category, given.key)), call)


def about_me(project: Project, given: Arguments, call: Call) -> Given:
    from quire.surfaces.mcp.profile_shown import page_given
    from quire.verbs.profile.overview import profile_about_me

    return page_given(profile_about_me(project), "Nothing is known of the user yet.", call)


def about_us(project: Project, given: Arguments, call: Call) -> Given:
    from quire.surfaces.mcp.profile_shown import page_given
    from quire.verbs.profile.overview import profile_about_us

    return page_given(profile_about_us(project), "Nothing is known of how you work together yet.", call)


# -- the whole --------------------------------------------------------------------------------


def status(project: Project, given: Arguments, call: Call) -> Given:
    from quire.fields.profile import profile_status_fields
    from quire.verbs.profile.overview import profile_status

    found = profile_status(project)
    fields = profile_status_fields(found)
    return Given(fields={name: fields[name] for name in _COUNTS}, warnings=found.warnings)


def export_memories(project: Project, given: ExportArguments, call: Call) -> Given:
    from quire.surfaces.mcp.answers import fenced_text, with_flags
    from quire.verbs.profile.overview import profile_export, profile_status

    # What somebody keeps out of the repository is not handed on in one piece by a tool that nobody watches.
    done = profile_export(project, given.output_format, private=False)
    left = profile_status(project).private_entries
    said = f"Private entries left out: {left}; the user gets them by `memory profile export`.\n" if left else ""
    fenced = fenced_text(done.content, call.fence, origin="profile")
    fields = {"content": done.content, "format": done.format, "entries": done.entries, "private_left_out": left}
    return Given(fields=with_flags(fields, "content"), text=f"{said}{call.fence.notice()}\n{fenced}")


def reflect(project: Project, given: Arguments, call: Call) -> Given:
    from quire.fields.profile import profile_reflect_fields
    from quire.verbs.plain import short_lists
    from quire.verbs.profile.overview import profile_reflect

    fields = profile_reflect_fields(profile_reflect(project))
    proposed = ("stale_entries", "archival_candidates", "confidence_updates", "summary")
    return Given(fields=short_lists({name: fields[name] for name in proposed}, _PROPOSALS))
