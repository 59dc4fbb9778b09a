"""The tools over the facts: single things that agents and people learned on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from quire.layers.facts.layout import SECTIONS
from quire.surfaces.mcp import facts_flows as flows
from quire.surfaces.mcp import facts_telling as telling
from quire.surfaces.mcp.facts_telling import Mind, Section
from quire.surfaces.mcp.tool import Arguments, Call, Given, Question, Tool

if TYPE_CHECKING:
    from quire.project import Project

_PAGE, _PAGE_MOST = 100, 500
Date = Annotated[str, msgspec.Meta(max_length=40, description="such as 2026-03-02")]
Many = Annotated[int, msgspec.Meta(ge=1, le=50)]


class RecallArguments(Arguments, frozen=True, kw_only=True):
    query: Question
    k: Many = 10
    section: Section | None = None
    mind: Mind | None = None
    strict: bool = False


class QueryArguments(Arguments, frozen=True, kw_only=True):
    section: Section | None = None
    offset: Annotated[int, msgspec.Meta(ge=0, le=10_000_000)] = 0
    limit: Annotated[int, msgspec.Meta(ge=1, le=_PAGE_MOST)] = _PAGE
    mind: Mind | None = None


class EpisodesArguments(Arguments, frozen=True, kw_only=True):
    query: Annotated[str, msgspec.Meta(max_length=4000)] = ""
    k: Many = 5
    tag: Annotated[str, msgspec.Meta(max_length=80)] | None = None
    since: Date | None = None
    until: Date | None = None
    mind: Mind | None = None


class SearchArchiveArguments(Arguments, frozen=True, kw_only=True):
    query: Question
    k: Many = 10
    mind: Mind | None = None


# -- asking -----------------------------------------------------------------------------------


def memory_recall(project: Project, given: RecallArguments, call: Call) -> Given:
    from quire.verbs.facts.faded import faded_facts
    from quire.verbs.facts.recall import memory_recall as memory_recall_of

    found = memory_recall_of(
        project, given.query, k=given.k, section=given.section, mind=given.mind, strict=given.strict
    )
    found.warnings += faded_facts(project) if found.faded else []
    return _recalled(found, call)


def memory_search_archive(project: Project, given: SearchArchiveArguments, call: Call) -> Given:
    from quire.verbs.facts.recall import memory_search_archive as memory_search_archive_of

    return _recalled(memory_search_archive_of(project, given.query, k=given.k, mind=given.mind), call)


def _recalled(found: Any, call: Call) -> Given:
    from quire.surfaces.mcp.facts_shown import recalled_fields, recalled_text

    fields = recalled_fields(found)
    return Given(fields=fields, text=recalled_text(found, fields, call.fence), warnings=found.warnings)


def memory_query(project: Project, given: QueryArguments, call: Call) -> Given:
    from quire.surfaces.mcp.facts_shown import fact_item, lines_of
    from quire.verbs.facts.changes import memory_query as memory_query_of

    page = memory_query_of(project, section=given.section, offset=given.offset, limit=given.limit, mind=given.mind)
    items = [fact_item(view) for view in page.results]
    fields: dict[str, Any] = {"results": items, "total": page.total, "sections": page.sections}
    if items:
        first = page.offset + 1
        parts = [f"Active facts {first} to {page.offset + len(items)} of {page.total}:", call.fence.notice()]
        parts.append(lines_of(items, call.fence))
    else:
        parts = [f"There are no more than {page.total}." if page.total else "There are no active facts here."]
    if page.more:
        fields |= {"more": page.more, "next_offset": page.offset + len(items)}
        parts.append(f"{page.more} more: offset {page.offset + len(items)}.")
    if page.unread:
        parts.append("Some lines of the file could not be read; check_memory says why.")
    return Given(fields=fields, text="\n".join(parts))


def memory_episodes(project: Project, given: EpisodesArguments, call: Call) -> Given:
    from quire.surfaces.mcp.facts_shown import episode_item, shown_items
    from quire.verbs.facts.recall import memory_episodes as memory_episodes_of

    found = memory_episodes_of(
        project, given.query, k=given.k, tag=given.tag, since=given.since, until=given.until, mind=given.mind
    )
    items = [episode_item(view) for view in found.results]
    text = f"{call.fence.notice()}\n{shown_items(items, call.fence)}" if items else "No episode matches."
    return Given(fields={"results": items, "total": found.total}, text=text)


# -- the tools --------------------------------------------------------------------------------

_STRING = {"type": "string"}
_SECTION = {"type": "string", "enum": list(SECTIONS)}
_IDS = {"type": "array", "items": _STRING, "maxItems": 200}
# Every session pays for these two: what the project says itself of a value that does not fit is left out here.
_SHORT: dict[str, Any] = {"project_root": _STRING, "mind": _STRING}
_RESULTS = {"results": "array"}

FACTS = (
    Tool(
        name="memory_recall",
        title="Recall facts",
        says="Facts learned about this project, best first by relevance and confidence: limits, traps, conventions. "
        "Use it for one concrete point. For decisions and their code: query_memory.",
        takes=RecallArguments,
        schema={**_SHORT, "section": _STRING},
        gives=_RESULTS,
        run=memory_recall,
    ),
    Tool(
        name="memory_query",
        title="List all facts",
        says="All active facts by section, a page at a time. Expensive: prefer memory_recall. Use it only to review "
        "the whole.",
        takes=QueryArguments,
        schema={"section": _SECTION},
        gives={**_RESULTS, "total": "integer"},
        run=memory_query,
    ),
    Tool(
        name="memory_store",
        title="Store a fact",
        says="Keep one durable fact in a sentence or two. Not for secrets or what the code says; decisions: "
        "save_memory.",
        takes=telling.StoreArguments,
        schema={
            **_SHORT,
            "section": _SECTION,
            "content": _STRING,
            "tags": {"type": "array", "items": _STRING},
            "confidence": {"type": "number"},
        },
        run=telling.memory_store,
        writes=True,
    ),
    Tool(
        name="memory_supersede",
        title="Replace a fact",
        says="Replace a fact by what holds now, in one step; connections and pins follow, the old one stays findable. "
        "Use it instead of storing the opposite. For one that is only outdated: memory_archive.",
        takes=telling.SupersedeArguments,
        schema={"section": _SECTION},
        gives={"old": "object", "new": "object"},
        run=telling.memory_supersede,
        writes=True,
        destructive=True,
    ),
    Tool(
        name="memory_archive",
        title="Archive facts",
        says="Put facts away that no longer matter; each id is answered for. memory_search_archive still finds them; "
        "the user brings them back with `memory facts restore`. Where something else holds now: memory_supersede.",
        takes=telling.ArchiveArguments,
        schema={"fact_ids": _IDS},
        gives={"outcomes": "array", "changed": "integer"},
        run=telling.memory_archive,
        writes=True,
        destructive=True,
    ),
    Tool(
        name="memory_episodes",
        title="Earlier sessions",
        says="What happened in earlier sessions: those that bear on a question or, without one, the newest. Use it to "
        "pick up unfinished work. For what was learned in them: memory_recall.",
        takes=EpisodesArguments,
        gives={**_RESULTS, "total": "integer"},
        run=memory_episodes,
    ),
    Tool(
        name="memory_focus",
        title="Pin facts",
        says="Pin facts to working memory: they come first in every context and outlive compaction. 25 slots, kept on "
        "this machine. Only for what matters in every turn.",
        takes=flows.FocusArguments,
        schema={"fact_ids": _IDS},
        gives={"outcomes": "object", "pins": "array"},
        run=flows.memory_focus,
        writes=True,
    ),
    Tool(
        name="memory_release",
        title="Release pins",
        says="Let go of pins: those named, or all. The facts themselves stay; to put a fact away use memory_archive.",
        takes=flows.ReleaseArguments,
        schema={"fact_ids": _IDS},
        gives={"outcomes": "object", "pins": "array"},
        run=flows.memory_release,
        writes=True,
        destructive=True,
    ),
    Tool(
        name="memory_connect",
        title="Connect two things",
        says="Say that a fact bears on another, or on any ref (feature.x): source relation target. Recall then shows "
        "one with the other. To replace a fact use memory_supersede.",
        takes=telling.ConnectArguments,
        gives={"action": "string", "edge": "object"},
        run=telling.memory_connect,
        writes=True,
    ),
    Tool(
        name="memory_compact",
        title="Compact a conversation",
        says="With `conversation`: older messages become a summary; pins and requests stay word for word, and what "
        "goes is kept on this machine. Without it: what must outlive a compaction that your own program makes; this "
        "server cannot free your context.",
        takes=flows.CompactArguments,
        gives={"compacted": "boolean", "note": "string"},
        run=flows.memory_compact,
        writes=True,
        repeatable=False,
    ),
    Tool(
        name="memory_search_archive",
        title="Search the archive",
        says="Facts that were archived or superseded, with when, why and what replaced them. Looking revives nothing. "
        "Use it for how things used to be; for what holds: memory_recall.",
        takes=SearchArchiveArguments,
        gives=_RESULTS,
        run=memory_search_archive,
    ),
    Tool(
        name="memory_ingest_lifecycle",
        title="Take in design documents",
        says="Take decisions, constraints and questions of the design documents below docs/ into the facts; again "
        "changes nothing. What is only inferred waits: accept or drop it when the user says so. For a single fact: "
        "memory_store.",
        takes=flows.IngestArguments,
        schema={"candidate": flows.CANDIDATE, "accept": _IDS, "drop": _IDS},
        gives={"counts": "object", "pending": "array"},
        run=flows.memory_ingest_lifecycle,
        writes=True,
        destructive=True,
    ),
)
