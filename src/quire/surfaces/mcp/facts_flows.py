"""Tools around a session: what is pinned, what outlives a compaction, what design documents decided."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from quire.layers.facts.layout import LIFECYCLE_KINDS
from quire.model.errors import InputError
from quire.model.text import cut
from quire.surfaces.mcp.tool import Arguments, Call, Given, Ref

if TYPE_CHECKING:
    from quire.project import Project

CONVERSATION_BYTES = 4 * 1024 * 1024
_MESSAGES_MOST = 50_000
_STEPS_MOST = 100
_STEP_CHARS = 300
Ids = Annotated[list[Ref], msgspec.Meta(max_length=200)]
Session = Annotated[str, msgspec.Meta(max_length=160)]


class FocusArguments(Arguments, frozen=True, kw_only=True):
    fact_ids: Ids | Ref
    session: Session = ""


class ReleaseArguments(Arguments, frozen=True, kw_only=True):
    fact_ids: Ids | Ref | None = None
    session: Session = ""


class CompactArguments(Arguments, frozen=True, kw_only=True):
    conversation: (
        Annotated[
            list[dict[str, Any]],
            msgspec.Meta(max_length=_MESSAGES_MOST, description="messages {role, content}, oldest first; 4 MiB"),
        ]
        | None
    ) = None
    instructions: Annotated[str, msgspec.Meta(max_length=4000, description="what matters next")] = ""
    keep_turns: Annotated[int, msgspec.Meta(ge=0, le=1000, description="newest turns that stay; 2")] | None = None
    session: Annotated[Session, msgspec.Meta(description="whose pins")] = ""
    dry_run: bool = False


class IngestArguments(Arguments, frozen=True, kw_only=True):
    """The project judges a candidate itself; it may also come as JSON text."""

    candidate: dict[str, Any] | Annotated[str, msgspec.Meta(max_length=100_000)] | None = None
    accept: Ids | Ref | None = None
    drop: Ids | Ref | None = None
    dry_run: bool = False


CANDIDATE = {
    "type": "object",
    "properties": {
        "kind": {"type": "string", "enum": list(LIFECYCLE_KINDS)},
        "authority": {"type": "string", "enum": ["explicit", "inferred"]},
        "section": {"type": "string"},
        "content": {"type": "string", "maxLength": 8000},
        "artifact": {"type": "object"},
        "supersedes": {"type": "string"},
    },
    "required": ["kind", "authority", "section", "content"],
    "description": "one statement, instead of the documents",
}


# -- working memory ---------------------------------------------------------------------------


def memory_focus(project: Project, given: FocusArguments, call: Call) -> Given:
    from quire.verbs.facts.working_memory import memory_focus as memory_focus_of

    call.wanted()
    done = memory_focus_of(project, given.fact_ids, session=given.session)
    pinned = sum(said in ("pinned", "already pinned") for said in done.outcomes.values())
    return _working(done, f"Pinned {pinned} of {len(done.outcomes)}.", call, failed=pinned < len(done.outcomes))


def memory_release(project: Project, given: ReleaseArguments, call: Call) -> Given:
    from quire.verbs.facts.working_memory import memory_release as memory_release_of

    call.wanted()
    done = memory_release_of(project, given.fact_ids, session=given.session)
    released = sum(said == "released" for said in done.outcomes.values())
    return _working(done, f"Released {released}.", call, failed=released < len(done.outcomes))


def _working(done: Any, said: str, call: Call, *, failed: bool) -> Given:
    """What became of each id, and what is pinned now."""
    from quire.fields.facts import memory_working_fields
    from quire.surfaces.mcp.answers import fenced_text
    from quire.surfaces.mcp.facts_shown import fact_item, lines_of

    fields = memory_working_fields(done)
    pins = [fact_item(view) for view in done.pins]
    kept = {name: fields[name] for name in ("outcomes", "used", "slots", "missing")}
    odd = [f"{name}: {text}" for name, text in done.outcomes.items() if text not in ("pinned", "released")]
    odd += [f"{name}: pinned, but its fact is not there" for name in done.missing]
    parts = [f"{said} {done.used} of {done.slots} slots are pinned."]
    parts += [call.fence.notice()] if odd or pins else []
    parts += [fenced_text("\n".join(odd), call.fence)] if odd else []
    parts += [lines_of(pins, call.fence)] if pins else []
    return Given(fields={**kept, "pins": pins}, text="\n".join(parts), warnings=done.warnings, failed=failed)


# -- compaction -------------------------------------------------------------------------------

_NOT_HELD = (
    "This server does not hold your conversation, so it freed nothing: your own program has to compact it, or send the "
    "messages as `conversation`. "
)


def memory_compact(project: Project, given: CompactArguments, call: Call) -> Given:
    from quire.verbs.facts.sessions import memory_compact as memory_compact_of

    if given.conversation is None:
        return _what_survives(project, given, call)
    from quire.fields.envelope import json_text
    from quire.fields.facts import memory_compact_fields
    from quire.surfaces.mcp.answers import fenced_text

    data = json_text(given.conversation).encode()
    if len(data) > CONVERSATION_BYTES:
        raise InputError(
            f"`conversation` has {len(data):,} bytes; the limit is {CONVERSATION_BYTES:,}.",
            hint="Leave out images and the longest answers of tools, or send its older part alone.",
            details={"field": "conversation", "maximum": CONVERSATION_BYTES},
        )
    call.wanted()
    done, checkpoint = memory_compact_of(
        project,
        data,
        source="`conversation`",
        instructions=given.instructions,
        keep_turns=given.keep_turns,
        session=given.session,
        dry_run=given.dry_run,
    )
    fields = memory_compact_fields(done, checkpoint)
    # The summary stands among the messages; and where nothing changed, the caller has them all.
    kept = {name: value for name, value in fields.items() if name not in ("summary", "changed", "messages")}
    answer = {"compacted": done.changed, **kept, "dry_run": given.dry_run}
    if not done.changed:
        return Given(fields=answer, text=done.note, warnings=done.warnings)
    text = f"{done.note} The summary stands for them; `messages` is the whole new conversation.\n{call.fence.notice()}"
    shown = fenced_text(done.summary, call.fence, origin="conversation")
    return Given(fields={**answer, "messages": done.messages}, text=f"{text}\n{shown}", warnings=done.warnings)


def _what_survives(project: Project, given: CompactArguments, call: Call) -> Given:
    """The pins and what bears on the instructions, to be carried over by whoever holds the conversation."""
    from quire.fields.facts import memory_context_fields
    from quire.surfaces.mcp.answers import fenced_text
    from quire.verbs.facts.working_memory import memory_context

    found = memory_context(project, given.instructions, session=given.session)
    fields = memory_context_fields(found)
    kept = {name: fields[name] for name in ("tokens", "pins", "facts", "episode") if fields[name]}
    shown = fenced_text(found.markdown, call.fence, origin="facts") if found.markdown else ""
    if shown:
        note = f"{_NOT_HELD}Carry over what stands below."
    else:
        note = f"{_NOT_HELD}Nothing is pinned that would have to outlive it; memory_focus pins facts."
    if found.low_signal:
        note += " With `instructions` that say what comes next, it also gives facts that bear on it."
    answer = {"compacted": False, "note": note, **kept, "markdown": shown}
    return Given(fields=answer, text=f"{note}\n{call.fence.notice()}\n{shown}" if shown else note)


# -- design documents -------------------------------------------------------------------------


def memory_ingest_lifecycle(project: Project, given: IngestArguments, call: Call) -> Given:
    from quire.fields.facts import memory_ingest_fields
    from quire.surfaces.mcp.answers import with_flags
    from quire.surfaces.mcp.facts_shown import fact_item
    from quire.verbs.facts.ingest import memory_ingest_lifecycle as memory_ingest_lifecycle_of

    candidate: Any = given.candidate.encode() if isinstance(given.candidate, str) else given.candidate
    accept, drop = _named(given.accept), _named(given.drop)
    if candidate is not None and (accept or drop):
        raise InputError(
            "`candidate` goes with neither `accept` nor `drop`.",
            hint="Give one candidate, or decide on some that wait.",
            details={"field": "candidate"},
        )
    call.wanted()
    done = memory_ingest_lifecycle_of(project, candidate, accept=accept, drop=drop, dry_run=given.dry_run)
    fields = memory_ingest_fields(done)
    # What did not change is counted, and says nothing new.
    told = [step for step in fields["steps"] if step["action"] != "unchanged"]
    steps = [with_flags(_step(step), "content", "reason") for step in told[:_STEPS_MOST]]
    more = {"more_steps": len(told) - _STEPS_MOST} if len(told) > _STEPS_MOST else {}
    pending = [fact_item(view) for view in done.pending]
    kept = {name: fields[name] for name in ("dry_run", "documents", "counts")}
    answer = {**kept, "steps": steps, **more, "pending": pending}
    return Given(fields=answer, text=_ingested(done, answer, call), warnings=done.warnings)


def _named(ids: list[str] | str | None) -> list[str]:
    return [ids] if isinstance(ids, str) else ids or []


def _step(step: dict[str, Any]) -> dict[str, Any]:
    said = {name: value for name, value in step.items() if value}
    return {**said, "content": cut(said["content"], _STEP_CHARS)} if "content" in said else said


def _ingested(done: Any, fields: dict[str, Any], call: Call) -> str:
    from quire.fields.lines import INGESTED
    from quire.surfaces.mcp.answers import fenced_text
    from quire.surfaces.mcp.facts_shown import shown_items

    counts = ", ".join(f"{count} {INGESTED.get(action, action)}" for action, count in done.counts.items() if count)
    where = f" from {done.documents} design documents" if done.documents else ""
    if counts:
        parts = [f"{'Would be: ' if done.dry_run else ''}{counts}{where}."]
    elif done.documents:
        parts = [f"Nothing to keep{where}."]
    else:
        parts = [
            "No design documents were found below docs/ or ai/docs/ (Markdown with `id` and `status` in its head)."
        ]
    lines = [
        f"{step['action']}: {step.get('content') or step.get('fact_id', '')} {step.get('reason', '')}".rstrip()
        for step in fields["steps"]
    ]
    parts += [call.fence.notice()] if lines or fields["pending"] else []
    parts += [fenced_text("\n".join(lines), call.fence, origin="design documents")] if lines else []
    if fields["pending"]:
        parts += ["Waiting for a person to accept or drop:", shown_items(fields["pending"], call.fence)]
    return "\n".join(parts)
