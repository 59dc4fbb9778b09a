"""`memory facts session`: record the progress of a session, and make its episode."""

from __future__ import annotations

import os
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from quire.files.write_access import write_access
from quire.guard.admission import admit
from quire.layers.facts.layout import FOLDER
from quire.layers.facts.sessions import (
    OpenSession,
    checkpoint_session,
    episode_of,
    forget_session,
    merge_session,
    read_sessions,
    session_of,
)
from quire.layers.facts.types import Episode
from quire.model import limits
from quire.model.errors import InputError
from quire.model.text import counted
from quire.model.times import instant, time_text
from quire.project import Project
from quire.verbs.facts.fact_file import change_facts, facts_ready
from quire.verbs.verb import Arguments, Lines, Option, Recalled, Result, Verb, Word

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.layers.facts.drafts import FactsDraft

_SESSION_CHARS = 1_000
_COUNT_MOST = 10_000_000
_SILENT_SECONDS = 3_600
"""A session that was not heard of for so long is closed when the next one starts."""


class NoteSession(Arguments, frozen=True, kw_only=True):
    session_id: Annotated[str, Word(name="id")]
    turns: Annotated[int, Option(metavar="NUMBER", help="Turns so far.")] = 0
    tool_calls: Annotated[int, Option(metavar="NUMBER", help="Tool calls so far.")] = 0
    title: Annotated[str, Option(metavar="TEXT", help="What the session is about.")] = ""
    narrative: Annotated[str, Option(metavar="TEXT", help="What happened, and why.")] = ""
    files: Annotated[list[str], Option(name="--file", metavar="FILE", help="A file it changed. Can be repeated.")] = []
    started_at: Annotated[
        str | None,
        Option(name="--started", metavar="TIME", help="When it began; by default the time of the first call."),
    ] = None
    ended_at: str | None = None
    close: Annotated[bool, Option(help="The session has ended: record the episode.")] = False


class SessionNoted(Result, kw_only=True):
    session: OpenSession
    closed: bool
    episodes: list[dict[str, Any]]


def note_progress(project: Project, given: NoteSession) -> SessionNoted:
    """Note the progress of a session; --close records its episode.

    One session is one episode, however often it is noted. An interrupted session is closed when the next one starts.
    """
    found, episodes = record_session(project, given)
    shown = [{"ref": f"episode:{item.id}", **msgspec.to_builtins(item)} for item in episodes]
    return SessionNoted(session=found, closed=given.close, episodes=shown)


def record_session(project: Project, given: NoteSession) -> tuple[OpenSession, list[Episode]]:
    """Note how far a session is; closed, or silent for long, it becomes one episode, however often it is reported.

    One that is reported later, with the time when it ended, keeps its own times and the commit of that time.
    """
    admit(given.session_id, "session_id", most=_SESSION_CHARS, single_line=True)
    for name, text, most in (
        ("title", given.title, limits.TITLE_CHARS),
        ("narrative", given.narrative, limits.BODY_CHARS),
    ):
        if text.strip():
            admit(text, name, most=most, single_line=name == "title")
    for name, at in (("started", given.started_at), ("ended", given.ended_at)):
        if at is not None and instant(at) is None:
            said = f"The time when the session {name} is not valid."
            raise InputError(said, hint="Leave it out.", details={"field": f"{name}_at"})
    for name, number in (("turns", given.turns), ("tool-calls", given.tool_calls)):
        limits.within(number, name, 0, _COUNT_MOST)
    over = instant(given.ended_at) if given.ended_at else None
    now = time_text(over or project.world.now())
    told = OpenSession(
        session_id=given.session_id,
        title=given.title.strip(),
        started_at=time_text(instant(given.started_at) or project.world.now()) if given.started_at else now,
        updated_at=now,
        turns=given.turns,
        tool_calls=given.tool_calls,
        files=tuple(map(partial(_from_root, project), given.files)),
        narrative=given.narrative.strip(),
        commit=_commit_of(project, over),
    )
    facts_ready(project)
    rejections = project.rejections()
    if rejections is not None:
        rejections.refuse({"title": given.title, "narrative": given.narrative})
    with write_access(project.root, FOLDER, project.world, "note a session"):
        open_now = checkpoint_session(project.root, told, project.world.token())
        others, _ = read_sessions(project.root)
    silent = [item for item in others if item.session_id != given.session_id and _is_silent(project, item)]
    ended = [*silent, open_now] if given.close else silent
    # Where nothing was asked and nothing told, there is nothing that anybody could want to read.
    closing = [item for item in ended if item.turns or item.title or item.narrative]
    _forget(project, [item for item in ended if item not in closing])
    return open_now, [_close(project, item, now if item is open_now else item.updated_at) for item in closing]


def _commit_of(project: Project, over: datetime | None) -> str:
    """The commit at which a session is, or ended."""
    if not project.git.available:
        return ""
    return ((project.git.head_at(over.timestamp()) if over else project.git.head()) or "")[:12]


def _from_root(project: Project, path: str) -> str:
    """A file as it was named from the current folder, from the project's root."""
    here = os.path.normpath(os.path.join(project.world.cwd, path))
    inside = here.startswith(project.root + os.sep)
    if os.path.isabs(path) or not inside or os.path.lexists(os.path.join(project.root, path)):
        return path
    return os.path.relpath(here, project.root) if path.startswith("..") or os.path.lexists(here) else path


def _forget(project: Project, sessions: list[OpenSession]) -> None:
    if sessions:
        with write_access(project.root, FOLDER, project.world, "note a session"):
            told = {item.session_id: item for item in read_sessions(project.root)[0]}
            for session in sessions:
                # What someone told of it meanwhile is in no episode yet.
                if told.get(session.session_id, session) == session:
                    forget_session(project.root, session.session_id)


def _is_silent(project: Project, session: OpenSession) -> bool:
    heard = instant(session.updated_at)
    return heard is None or (project.world.now() - heard).total_seconds() > _SILENT_SECONDS


def _close(project: Project, session: OpenSession, closed_at: str) -> Episode:
    from quire.layers.facts.records import episode_of_record, session_name

    rejections = project.rejections()

    def plan(draft: FactsDraft, index: Index) -> Episode:
        known = index.find(f"episode:{episode_of(session, closed_at, project.root).id}")
        before = episode_of_record(known) if known is not None else None
        left = index.named(session_name(session.session_id))
        facts = [record.ref.removeprefix("fact:") for record in left if record.kind == "fact"]
        whole = msgspec.structs.replace(session, facts=tuple(dict.fromkeys((*session.facts, *facts))))
        ended = closed_at
        if before is not None:
            # Told again: what was known stays, and the session did not last longer for it unless it went on.
            earlier = session_of(before)
            whole = merge_session(earlier, whole)
            ended = closed_at if whole.turns > earlier.turns else earlier.updated_at
        if rejections is not None:
            # Told before it was rejected: the session is worth keeping without it.
            title, told = rejections.without(whole.title), rejections.without(whole.narrative)
            whole = msgspec.structs.replace(whole, title=title, narrative=told)
        episode = msgspec.structs.replace(episode_of(whole, ended, project.root), mind=draft.home)
        if before is not None and msgspec.structs.replace(before, version=0, updated_at=None) == episode:
            return before
        changed = None if before is None else draft.now
        episode = msgspec.structs.replace(episode, version=draft.next_version(), updated_at=changed)
        draft.put_episode(episode, new=before is None)
        return episode

    episode = change_facts(project, "note a session", plan)
    # The episode is safe: a process that dies here leaves a checkpoint that gives the same episode again.
    _forget(project, [session])
    return episode


def lines(done: SessionNoted) -> Lines:
    for item in done.episodes:
        yield Recalled(text=f"Recorded {item['title']}  {item['ref']}")
    if done.closed and not done.episodes:
        yield "Nothing was noted about this session, so there is no episode."
    if not done.closed:
        turns, calls = counted(done.session.turns, "turn"), counted(done.session.tool_calls, "tool call")
        yield f"Noted: {turns}, {calls} so far."


VERB = Verb(
    takes=NoteSession,
    run=note_progress,
    lines=lines,
    writes=True,
    examples="""Examples:
  memory facts session 7c1e --turns 4 --tool-calls 31
  memory facts session 7c1e --turns 9 --tool-calls 60 --title "durable retries" --close
""",
)
