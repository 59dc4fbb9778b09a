"""`memory facts compact`, the tool `memory_compact`: replace older messages of a conversation by a summary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from quire.files.json_files import json_value
from quire.model.errors import InputError
from quire.model.times import stamp
from quire.verbs.facts.context import ShowContext, context
from quire.verbs.facts.fact_file import facts_ready
from quire.verbs.facts.options import SessionName
from quire.verbs.facts.pins import working_memory
from quire.verbs.plain import json_line
from quire.verbs.verb import Arguments, Aside, Input, Lines, Option, Output, Recalled, Result, Tool, Verb

if TYPE_CHECKING:
    from quire.capture.compaction import Compacted
    from quire.capture.conversation import Conversation
    from quire.capture.summariser import Summariser
    from quire.project import Project

CONVERSATION_BYTES = 4 * 1024 * 1024
_MESSAGES_MOST = 50_000
_NOT_HELD = (
    "This server does not hold your conversation, so it freed nothing. Compact it in your own program, or "
    "send the messages as `conversation`. "
)


class Compact(Arguments, frozen=True, kw_only=True):
    conversation: (
        Annotated[
            list[dict[str, Any]],
            Meta(max_length=_MESSAGES_MOST, description="messages {role, content}, oldest first; 4 MiB"),
        ]
        | None
    ) = None
    data: Annotated[
        bytes | None,
        Input(
            what="the conversation",
            stdin="Read the conversation from standard input.",
            file="Read the conversation from a file.",
        ),
    ] = None
    source: str = "`conversation`"
    instructions: Annotated[
        str,
        Meta(max_length=4000, description="what matters next"),
        Option(metavar="TEXT", help="What matters for the next steps."),
    ] = ""
    keep_turns: Annotated[
        Annotated[int, Meta(ge=0, le=1000, description="newest turns to keep; 2")] | None,
        Option(
            name="--keep", metavar="TURNS", help="How many of the newest turns to keep word for word; 2 by default."
        ),
    ] = None
    session: Annotated[
        SessionName,
        Meta(description="whose pins"),
        Option(metavar="ID", help="The session whose pins to use; by default one shared set."),
    ] = ""
    provider: Annotated[
        str | None,
        Option(
            metavar="NAME",
            choices=("local", "claude", "codex", "openai"),
            help="Let a model write the summary, within your ceiling; local by default.",
            tool=False,
        ),
    ] = None
    dry_run: Annotated[bool, Option(help="Keep no copy of the removed messages.")] = False


class ConversationCompacted(Result, kw_only=True):
    messages: list[dict[str, Any]] | UnsetType = UNSET
    summary: str | UnsetType = UNSET
    before_tokens: int | UnsetType = UNSET
    after_tokens: int | UnsetType = UNSET
    evicted: int | UnsetType = UNSET
    kept: int | UnsetType = UNSET
    changed: bool | UnsetType = UNSET
    note: str
    summarised_by: str | UnsetType = UNSET
    checkpoint: str | UnsetType | None = UNSET
    compacted: bool | UnsetType = UNSET
    dry_run: bool | UnsetType = UNSET
    tokens: int | UnsetType = UNSET
    pins: list[str] | UnsetType = UNSET
    facts: list[str] | UnsetType = UNSET
    episode: str | UnsetType | None = UNSET
    markdown: str | UnsetType = UNSET
    """What must outlive a compaction that someone else makes."""
    data: bytes | UnsetType = UNSET
    """The conversation as it came, so that it goes back in the same form; no part of the JSON."""


def compact_conversation(project: Project, given: Compact) -> ConversationCompacted:
    """Compact a conversation: older messages become a summary; pins and requests stay word for word.

    Takes messages as JSON ({"messages": […]}, or the list alone) or as JSON Lines, and prints the new conversation in
    the same form. Removed messages are first kept in full below .memory/local/checkpoints/. Works offline.
    """
    if given.data is None:
        return _for_tools(project, given)
    done, kept = compact(project, given.data, given)
    fields = {name: getattr(done, name) for name in done.__struct_fields__}
    return ConversationCompacted(**fields, checkpoint=kept or None, data=given.data)


def _for_tools(project: Project, given: Compact) -> ConversationCompacted:
    """A conversation that a client sent; or what must outlive a compaction that its own program makes."""
    if given.conversation is None:
        return _what_survives(project, given)
    data = msgspec.json.encode(given.conversation)
    if len(data) > CONVERSATION_BYTES:
        raise InputError(
            f"`conversation` has {len(data):,} bytes; the limit is {CONVERSATION_BYTES:,}.",
            hint="Leave out images and long tool results, or send only the older part.",
            details={"field": "conversation", "maximum": CONVERSATION_BYTES},
        )
    done, kept = compact(project, data, given)
    return ConversationCompacted(
        compacted=done.changed,
        # Where nothing changed, the caller has them all.
        messages=done.messages if done.changed else UNSET,
        before_tokens=done.before_tokens,
        after_tokens=done.after_tokens,
        evicted=done.evicted,
        kept=done.kept,
        note=done.note,
        summarised_by=done.summarised_by,
        checkpoint=kept or UNSET,
        dry_run=given.dry_run,
        markdown=done.summary if done.changed else UNSET,
        warnings=done.warnings,
    )


def _what_survives(project: Project, given: Compact) -> ConversationCompacted:
    """The pins and what bears on the instructions, to be carried over by whoever holds the conversation."""
    found = context(project, ShowContext(prompt=given.instructions, session=given.session))
    if found.markdown:
        note = f"{_NOT_HELD}Keep the following in your summary."
    else:
        note = f"{_NOT_HELD}Nothing is pinned. memory_focus pins facts."
    if found.low_signal:
        note += " With `instructions` that say what comes next, it also gives relevant facts."
    return ConversationCompacted(
        compacted=False,
        note=note,
        tokens=found.tokens or UNSET,
        pins=list(found.pins) or UNSET,
        facts=list(found.facts) or UNSET,
        episode=found.episode or UNSET,
        markdown=found.markdown,
    )


def compact(
    project: Project, conversation: bytes | Conversation, given: Compact, summarise: Summariser | None = None
) -> tuple[Compacted, str]:
    """Replace older messages by a summary; what is pinned, and what was asked for, stays word for word.

    What goes is first kept in full on this machine; the second value says where. With a `provider`, a model writes
    the summary, within the ceiling of what may be spent.
    """
    from quire.capture.compaction import compact as compact_messages
    from quire.capture.conversation import PinnedText, read_conversation
    from quire.layers.facts.checkpoints import keep_checkpoint

    if isinstance(conversation, bytes):
        conversation = read_conversation(conversation, given.source)

    facts_ready(project)
    if given.provider not in (None, "local", "auto"):
        from quire.capture.providers.settings import read_settings
        from quire.capture.providers.summary_writer import ProviderSummariser

        summarise = ProviderSummariser(
            str(given.provider), settings=read_settings(project.world), world=project.world, root=project.root
        )
    pinned = [PinnedText(view.id, view.content) for view in working_memory(project, given.session).pins]
    kept: list[str] = []

    def checkpoint(data: bytes) -> str:
        kept.append(keep_checkpoint(project.root, data, stamp(project.world.now()), project.world.token()))
        return kept[-1]

    turns = conversation.keep_turns if given.keep_turns is None else given.keep_turns
    done = compact_messages(
        conversation.messages,
        pins=[*pinned, *conversation.pins],
        instructions=given.instructions or conversation.instructions,
        summarise=summarise,
        checkpoint=None if given.dry_run else checkpoint,
        **({} if turns is None else {"keep_turns": turns}),
    )
    return done, kept[0] if kept else ""


def lines(done: ConversationCompacted) -> Lines:
    if isinstance(done.data, bytes) and isinstance(done.messages, list):
        yield from (Output(text=text) for text in _in_the_same_form(done.data, done.messages))
        yield Aside(text=done.note)
        return
    if done.compacted:
        yield f"{done.note} The summary replaces them; `messages` is the whole new conversation."
    else:
        yield done.note
    if isinstance(done.markdown, str) and done.markdown:
        yield Recalled(text=done.markdown, origin="conversation" if done.compacted else "facts")


def _in_the_same_form(data: bytes, messages: list[dict[str, Any]]) -> list[str]:
    """One JSON value, or a line for each message, as they came."""
    given = json_value(data)
    if isinstance(given, list):
        return [json_line(messages)]
    if isinstance(given, dict) and "messages" in given:
        return [json_line({"messages": messages})]
    return [json_line(message) for message in messages]


VERB = Verb(
    takes=Compact,
    run=compact_conversation,
    lines=lines,
    writes=True,
    examples="""Example:
  memory facts compact --stdin <<'JSON'
  {"messages": [{"role": "user", "content": "Make retries durable."},
                {"role": "assistant", "content": "Decided: the queue moves to Postgres."},
                {"role": "user", "content": "Now the mailer."}], "keep_turns": 1}
  JSON
""",
    tool=Tool(
        title="Compact a conversation",
        says="With `conversation`: summarises older messages; pins and requests stay word for word, and removed "
        "messages are kept on this machine. Without it: returns what to keep when your own program compacts. This "
        "server cannot free your context.",
        gives={"compacted": "boolean", "note": "string"},
        repeatable=False,
    ),
)
