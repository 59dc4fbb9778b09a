"""Tools that tell the facts something: stored, superseded, archived, connected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from quire.layers.facts.layout import CONTENT_CHARS
from quire.surfaces.mcp.facts_flows import Ids
from quire.surfaces.mcp.tool import Arguments, Call, Given, Ref

if TYPE_CHECKING:
    from quire.project import Project

_SOURCE = "mcp"
Mind = Annotated[str, msgspec.Meta(max_length=160)]
Section = Annotated[str, msgspec.Meta(max_length=80)]
Content = Annotated[str, msgspec.Meta(min_length=1, max_length=CONTENT_CHARS)]
Reason = Annotated[str, msgspec.Meta(max_length=2000)]
Tags = Annotated[list[Annotated[str, msgspec.Meta(max_length=80)]], msgspec.Meta(max_length=64)]


class StoreArguments(Arguments, frozen=True, kw_only=True):
    section: Section
    content: Content
    tags: Tags | None = None
    confidence: Annotated[float, msgspec.Meta(ge=0, le=1)] = 1.0
    mind: Mind | None = None


class SupersedeArguments(Arguments, frozen=True, kw_only=True):
    fact_id: Ref
    content: Content
    section: Section | None = None
    reason: Reason | None = None
    dry_run: bool = False


class ArchiveArguments(Arguments, frozen=True, kw_only=True):
    fact_ids: Ids | Ref
    reason: Reason | None = None
    dry_run: bool = False


class ConnectArguments(Arguments, frozen=True, kw_only=True):
    source: Ref
    target: Ref
    relation: Annotated[
        str,
        msgspec.Meta(
            min_length=1, max_length=60, description="depends_on, contradicts, enables, replaces or motivated_by"
        ),
    ]
    description: Reason = ""
    dry_run: bool = False


_KNOWN = {
    "reinforced": "Known already, and confirmed by this:",
    "tagged": "Known already; the tags were added:",
    "unchanged": "Known already; nothing changed, since the same source counts once a day:",
}


def memory_store(project: Project, given: StoreArguments, call: Call) -> Given:
    from quire.surfaces.mcp.facts_shown import as_tools_say, fact_item, shown_items, similar_item
    from quire.verbs.facts.changes import memory_store as memory_store_of

    call.wanted()
    done = memory_store_of(
        project,
        given.section,
        given.content,
        tags=given.tags or (),
        source=_SOURCE,
        confidence=given.confidence,
        mind=given.mind,
    )
    fact = fact_item(done.fact, content=False)
    similar = [similar_item(item) for item in done.similar]
    away = [fact_item(view, content=False) for view in done.equal_archived]
    more = {name: items for name, items in (("similar", similar), ("equal_archived", away)) if items}
    is_new = done.action == "stored"
    said = f"Stored in {done.fact.section}: {done.fact.ref}" if is_new else _KNOWN[done.action]
    recalled = [*similar, *away] if is_new else [fact, *similar, *away]
    parts = [said, *([call.fence.notice(), shown_items(recalled, call.fence)] if recalled else [])]
    return Given(
        fields={"action": done.action, "fact": fact, **more},
        text="\n".join(parts),
        warnings=as_tools_say(done.warnings),
    )


def memory_supersede(project: Project, given: SupersedeArguments, call: Call) -> Given:
    from quire.surfaces.mcp.facts_shown import as_tools_say, fact_item, shown_items
    from quire.verbs.facts.changes import memory_supersede as memory_supersede_of

    call.wanted()
    done = memory_supersede_of(
        project,
        given.fact_id,
        given.content,
        section=given.section,
        reason=given.reason,
        source=_SOURCE,
        dry_run=given.dry_run,
    )
    old, new = fact_item(done.old), fact_item(done.new, content=False)
    away = [fact_item(view, content=False) for view in done.equal_archived]
    fields: dict[str, Any] = {"dry_run": given.dry_run, "old": old, "new": new}
    fields |= {"equal_archived": away} if away else {}
    lead = "Would supersede" if given.dry_run else "Superseded"
    parts = [f"{lead} the first by the second:", call.fence.notice()]
    parts.append(shown_items([old, new, *away], call.fence))
    return Given(fields=fields, text="\n".join(parts), warnings=as_tools_say(done.warnings))


def memory_archive(project: Project, given: ArchiveArguments, call: Call) -> Given:
    from quire.fields.facts import memory_archive_fields
    from quire.surfaces.mcp.answers import fenced_text
    from quire.verbs.facts.changes import memory_archive as memory_archive_of

    call.wanted()
    done = memory_archive_of(project, given.fact_ids, reason=given.reason, dry_run=given.dry_run)
    fields = memory_archive_fields(done)
    lead = "Would archive" if given.dry_run else "Archived"
    said = fenced_text("\n".join(item.message for item in done.outcomes), call.fence)
    return Given(
        fields=fields,
        text=f"{lead} {done.changed} of {len(done.outcomes)}.\n{call.fence.notice()}\n{said}",
        failed=any(item.outcome in ("not found", "refused") for item in done.outcomes),
    )


def memory_connect(project: Project, given: ConnectArguments, call: Call) -> Given:
    from quire.fields.facts import memory_connect_fields
    from quire.surfaces.mcp.answers import fenced_text
    from quire.verbs.facts.changes import memory_connect as memory_connect_of

    call.wanted()
    action, edge, warnings = memory_connect_of(
        project, given.source, given.target, given.relation, description=given.description, dry_run=given.dry_run
    )
    fields = memory_connect_fields(action, edge, dry_run=given.dry_run)
    fields["edge"] = {name: value for name, value in fields["edge"].items() if value}
    said = {"connected": "Connected:", "reinforced": "Confirmed:", "unchanged": "Known already:"}[action]
    shown = fenced_text(f"{edge.source} {edge.relation} {edge.target}", call.fence, ref=edge.ref)
    lead = "Would be: " if given.dry_run else ""
    return Given(fields=fields, text=f"{lead}{said}\n{call.fence.notice()}\n{shown}", warnings=warnings)
