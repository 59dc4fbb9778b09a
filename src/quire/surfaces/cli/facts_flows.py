"""`memory facts compact`, `ingest`, `session`, `normalize`, `import`"""

from __future__ import annotations

from typing import Any

import msgspec

from quire.model.errors import UsageError
from quire.surfaces.cli.commands import Argument, Command, Option, Session
from quire.surfaces.cli.facts_shown import say_facts
from quire.surfaces.cli.output import answer, counted, say, warn
from quire.surfaces.cli.reading import number, read_input

_FILE_BYTES = 512 * 1024 * 1024


def compact(
    session: Session,
    use_stdin: bool,
    file: str | None,
    instructions: str | None,
    keep: str | None,
    agent_session: str,
    provider: str | None,
    dry_run: bool,
) -> None:
    """Compact a conversation: older messages become a summary, what is pinned or was asked for stays word for word.

    Takes messages as JSON ({"messages": […]}, or the list alone) or as JSON Lines, and prints the new conversation in
    the same form. What goes is kept in full below .memory/local/checkpoints/ first. Works offline.
    """
    from quire.verbs.facts.sessions import memory_compact

    if use_stdin == (file is not None):
        raise UsageError("Give either --stdin or --file.", hint="`memory facts compact --help` shows an example.")
    data, source = read_input(file, "the conversation")
    project = session.project()
    done, kept = memory_compact(
        project,
        data,
        source=source,
        instructions=instructions or "",
        keep_turns=number("keep", keep),
        session=agent_session,
        provider=provider,
        dry_run=dry_run,
    )
    if session.as_json:
        from quire.fields.facts import memory_compact_fields

        answer(project, memory_compact_fields(done, kept), done.warnings)
        return
    _say_messages(data, done.messages)
    warn(done.warnings)
    _aside(done.note)


def _say_messages(data: bytes, messages: list[Any]) -> None:
    """In the form in which they came: one JSON value, or a line for each."""
    from quire.fields.envelope import json_text

    try:
        given = msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        given = None
    if isinstance(given, list):
        say(json_text(messages))
    elif isinstance(given, dict) and "messages" in given:
        say(json_text({"messages": messages}))
    else:
        for message in messages:
            say(json_text(message))


def _aside(text: str) -> None:
    """A remark beside the output proper."""
    import sys

    sys.stderr.write(text + "\n")


def ingest(
    session: Session,
    use_stdin: bool,
    accept: tuple[str, ...],
    drop: tuple[str, ...],
    dry_run: bool,
) -> int:
    """Take in what the design documents decided: decisions, constraints, questions open and answered.

    Reads Markdown below docs/ and ai/docs/ with `id` and `status` in its head. What is only inferred waits until it is
    accepted; a decision that its document takes back is put away. Doing it again changes nothing. With --stdin, takes
    one candidate as JSON instead.
    """
    from quire.verbs.facts.ingest import memory_ingest_lifecycle

    if use_stdin and (accept or drop):
        raise UsageError(
            "--stdin goes with neither --accept nor --drop.", hint="Give one candidate, or decide on some."
        )
    project = session.project()
    candidate = read_input(None, "the candidate")[0] if use_stdin else None
    done = memory_ingest_lifecycle(project, candidate, accept=accept, drop=drop, dry_run=dry_run)
    if session.as_json:
        from quire.fields.facts import memory_ingest_fields

        answer(project, memory_ingest_fields(done), done.warnings)
        return 0
    _report(done)
    return 0


def _report(done: Any) -> None:
    from quire.fields.lines import INGESTED

    counts = [f"{count} {INGESTED.get(action, action)}" for action, count in done.counts.items() if count]
    lead = "Would be: " if done.dry_run else ""
    where = f" from {counted(done.documents, 'design document')}" if done.documents else ""
    if not counts and done.documents:
        say(f"{counted(done.documents, 'design document')} hold no decision, constraint or question to keep.")
    elif not counts:
        say("No design documents were found below docs/ or ai/docs/ (Markdown with `id` and `status` in its head).")
    else:
        say(f"{lead}{', '.join(counts)}{where}.")
    for step in done.steps:
        if step["action"] not in ("unchanged",):
            reason = f" ({step['reason']})" if step["reason"] else ""
            said = INGESTED.get(step["action"], step["action"])
            say(f"  {said}: {step.get('content') or step['fact_id']}{reason}")
    if done.pending:
        say("Waiting to be accepted (--accept ID) or dropped (--drop ID):")
        say_facts(done.pending)
    warn(done.warnings)


def session_command(
    session: Session,
    id: str,  # noqa: A002
    turns: str | None,
    tool_calls: str | None,
    title: str | None,
    narrative: str | None,
    file: tuple[str, ...],
    started: str | None,
    close: bool,
) -> None:
    """Note how far a session is, and with --close make its episode.

    One session is one episode, however often it is told. A session that dies is closed when the next one starts.
    """
    from quire.verbs.facts.sessions import memory_session

    project = session.project()
    found, episodes = memory_session(
        project,
        id,
        turns=number("turns", turns) or 0,
        tool_calls=number("tool-calls", tool_calls) or 0,
        title=title or "",
        narrative=narrative or "",
        files=file,
        started_at=started,
        close=close,
    )
    if session.as_json:
        from quire.fields.facts import memory_session_fields

        answer(project, memory_session_fields(found, episodes, closed=close))
        return
    for item in episodes:
        say(f"Recorded {item.title}  episode:{item.id}")
    if close and not episodes:
        say("Nothing was told of this session, so there is no episode of it.")
    if not close:
        say(f"Noted: {counted(found.turns, 'turn')}, {counted(found.tool_calls, 'tool call')} so far.")


def normalize(session: Session, write: bool) -> None:
    """Rewrite a merged file of facts to its normal form: no line twice, in one order, nothing lost.

    Shows what would change; --write does it.
    """
    from quire.verbs.facts.changes import memory_normalize

    project = session.project()
    done = memory_normalize(project, dry_run=not write)
    if session.as_json:
        from quire.fields.facts import memory_normalize_fields

        answer(project, memory_normalize_fields(done))
        return
    if not done.changed:
        say(f"The file is in its normal form: {counted(done.lines_after, 'line')}, {counted(done.facts, 'fact')}.")
        return
    verb = "Rewrote" if write else "Would rewrite"
    say(f"{verb} {counted(done.lines_before, 'line')} as {done.lines_after}; {counted(done.facts, 'fact')}, none lost.")
    if done.kept_aside:
        unread = counted(done.kept_aside, "line")
        say(f"{unread} could not be read and stay at the end; `memory check` says why.")
    if done.conflicts or done.contradictions:
        things, contradictions = counted(done.conflicts, "thing"), counted(done.contradictions, "contradiction")
        say(f"Other versions of {things} stay; {contradictions}.")
    if not write:
        if done.diff:
            say(done.diff)
        if done.uncommitted:
            say("The file has changes that are not committed: commit them first, so that git can bring them back.")
        say("--write does it.")


def import_facts(session: Session, file: str, dry_run: bool) -> None:
    """Take in another file of facts, such as one of the original program: the lines that are not here yet."""
    from quire.verbs.facts.changes import memory_import

    project = session.project()
    data, source = read_input(file, "facts", _FILE_BYTES)
    done = memory_import(project, data, source=source, dry_run=dry_run)
    if session.as_json:
        from quire.fields.facts import memory_import_fields

        answer(project, memory_import_fields(done), done.warnings)
        return
    verb = "Would take in" if dry_run else "Took in"
    say(f"{verb} {done.added} of {done.lines} records; {done.known} were here already.")
    if done.set_aside:
        say(f"Left where they are, since they could not be read: {done.set_aside}.")
    if done.refused:
        say(f"Left where they are, for the credential in them: {done.refused}.")
    warn(done.warnings[:20])


_DRY = Option(name="--dry-run", into="dry_run", help="Say what would be done, write nothing.")

FLOWS = {
    "compact": Command(
        run=compact,
        examples="""Example:
  memory facts compact --stdin <<'JSON'
  {"messages": [{"role": "user", "content": "Make retries durable."},
                {"role": "assistant", "content": "Decided: the queue moves to Postgres."},
                {"role": "user", "content": "Now the mailer."}], "keep_turns": 1}
  JSON
""",
        options=(
            Option(name="--stdin", into="use_stdin", help="Read the conversation from standard input."),
            Option(name="--file", into="file", metavar="FILE", help="Read the conversation from a file."),
            Option(
                name="--instructions", into="instructions", metavar="TEXT", help="What matters for what comes next."
            ),
            Option(name="--keep", into="keep", metavar="TURNS", help="How many turns stay as they are; 2 by default."),
            Option(
                name="--session", into="agent_session", metavar="ID", default="", help="Whose pins; one set is shared."
            ),
            Option(
                name="--provider",
                into="provider",
                metavar="NAME",
                choices=("local", "claude", "codex", "openai"),
                help="Let a model write the summary, within your ceiling; local by default.",
            ),
            Option(name="--dry-run", into="dry_run", help="Keep no checkpoint."),
        ),
    ),
    "ingest": Command(
        run=ingest,
        examples="Examples:\n  memory facts ingest --dry-run\n  memory facts ingest --accept 57afd07611e9\n",
        options=(
            Option(name="--stdin", into="use_stdin", help="Take one candidate as JSON from standard input."),
            Option(name="--accept", into="accept", metavar="ID", many=True, help="Accept what waits."),
            Option(
                name="--drop", into="drop", metavar="ID", many=True, help="Drop what waits; it is not proposed again."
            ),
            _DRY,
        ),
    ),
    "session": Command(
        run=session_command,
        examples="""Examples:
  memory facts session 7c1e --turns 4 --tool-calls 31
  memory facts session 7c1e --turns 9 --tool-calls 60 --title "durable retries" --close
""",
        arguments=(Argument(name="id"),),
        options=(
            Option(name="--turns", into="turns", metavar="NUMBER", help="Turns so far."),
            Option(name="--tool-calls", into="tool_calls", metavar="NUMBER", help="Tool calls so far."),
            Option(name="--title", into="title", metavar="TEXT", help="What it is about."),
            Option(name="--narrative", into="narrative", metavar="TEXT", help="What happened, and why."),
            Option(name="--file", into="file", metavar="FILE", many=True, help="A file it changed; more than once."),
            Option(
                name="--started",
                into="started",
                metavar="TIME",
                help="When it began; else when first told of.",
            ),
            Option(name="--close", into="close", help="It has ended: record the episode."),
        ),
    ),
    "normalize": Command(
        run=normalize,
        examples="Examples:\n  memory facts normalize\n  memory facts normalize --write\n",
        options=(Option(name="--write", into="write", help="Do it."),),
    ),
    "import": Command(
        run=import_facts,
        examples="Example:\n  memory facts import ../old-clone/ai/memory/facts.jsonl\n",
        arguments=(Argument(name="file"),),
        options=(_DRY,),
    ),
}
