"""What a session leaves: its episode, and a conversation that was compacted on the way."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from quire.layers.facts.layout import FOLDER
from quire.model.errors import InputError
from quire.model.times import instant, stamp
from quire.project import Project
from quire.verbs.facts.fact_file import change_facts, facts_ready
from quire.verbs.facts.working_memory import working_memory

if TYPE_CHECKING:
    from quire.capture.compaction import Compacted
    from quire.capture.conversation import Conversation
    from quire.capture.summariser import Summariser
    from quire.index.catalog import Index
    from quire.layers.facts.drafts import Draft
    from quire.layers.facts.sessions import OpenSession
    from quire.layers.facts.types import Episode

_SESSION_CHARS = 1_000
_COUNT_MOST = 10_000_000
_SILENT_SECONDS = 3_600
"""A session that was not heard of for so long is closed when the next one starts."""


def memory_session(
    project: Project,
    session_id: str,
    *,
    turns: int = 0,
    tool_calls: int = 0,
    title: str = "",
    narrative: str = "",
    files: Sequence[str] = (),
    started_at: str | None = None,
    ended_at: str | None = None,
    close: bool = False,
) -> tuple[OpenSession, list[Episode]]:
    """Note how far a session is; closed, or silent for long, it becomes one episode, however often it is told.

    One that is told of later, with the time when it ended, keeps its own times and the commit of that time.
    """
    from quire.files.write_access import write_access
    from quire.guard.admission import admit
    from quire.layers.facts.drafts import time_text
    from quire.layers.facts.sessions import OpenSession, checkpoint_session, read_sessions
    from quire.model import limits

    admit(session_id, "session_id", most=_SESSION_CHARS, single_line=True)
    for name, text, most in (("title", title, limits.TITLE_CHARS), ("narrative", narrative, limits.BODY_CHARS)):
        if text.strip():
            admit(text, name, most=most, single_line=name == "title")
    for name, at in (("started", started_at), ("ended", ended_at)):
        if at is not None and instant(at) is None:
            said = f"The time when the session {name} is none."
            raise InputError(said, hint="Leave it out.", details={"field": f"{name}_at"})
    for name, number in (("turns", turns), ("tool-calls", tool_calls)):
        limits.within(number, name, 0, _COUNT_MOST)
    over = instant(ended_at) if ended_at else None
    now = time_text(over or project.world.now())
    told = OpenSession(
        session_id=session_id,
        title=title.strip(),
        started_at=time_text(instant(started_at) or project.world.now()) if started_at else now,
        updated_at=now,
        turns=turns,
        tool_calls=tool_calls,
        files=tuple(map(partial(_from_root, project), files)),
        narrative=narrative.strip(),
        commit=_commit_of(project, over),
    )
    facts_ready(project)
    rejections = project.rejections()
    if rejections is not None:
        rejections.refuse({"title": title, "narrative": narrative})
    with write_access(project.root, FOLDER, project.world, "note a session"):
        open_now = checkpoint_session(project.root, told, project.world.token())
        others, _ = read_sessions(project.root)
    silent = [item for item in others if item.session_id != session_id and _is_silent(project, item)]
    ended = [*silent, open_now] if close else silent
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
    from quire.files.write_access import write_access
    from quire.layers.facts.sessions import forget_session, read_sessions

    if sessions:
        with write_access(project.root, FOLDER, project.world, "note a session"):
            told = {item.session_id: item for item in read_sessions(project.root)[0]}
            for session in sessions:
                # What somebody told of it meanwhile is in no episode yet.
                if told.get(session.session_id, session) == session:
                    forget_session(project.root, session.session_id)


def _is_silent(project: Project, session: OpenSession) -> bool:
    heard = instant(session.updated_at)
    return heard is None or (project.world.now() - heard).total_seconds() > _SILENT_SECONDS


def _close(project: Project, session: OpenSession, closed_at: str) -> Episode:
    from quire.layers.facts.records import episode_of_record, session_name
    from quire.layers.facts.sessions import episode_of, merge_session, session_of

    rejections = project.rejections()

    def plan(draft: Draft, index: Index) -> Episode:
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


# -- conversations ----------------------------------------------------------------------


def memory_compact(
    project: Project,
    conversation: bytes | Conversation,
    *,
    source: str = "the input",
    instructions: str = "",
    keep_turns: int | None = None,
    session: str = "",
    summarise: Summariser | None = None,
    provider: str | None = None,
    dry_run: bool = False,
) -> tuple[Compacted, str]:
    """Replace older messages by a summary; what is pinned, and what was asked for, stays word for word.

    What goes is first kept in full on this machine; the second value says where. With a `provider`, a model writes
    the summary, within the ceiling of what may be spent.
    """
    from quire.capture.compaction import compact
    from quire.capture.conversation import Pin, read_conversation
    from quire.layers.facts.checkpoints import keep_checkpoint

    if isinstance(conversation, bytes):
        conversation = read_conversation(conversation, source)

    facts_ready(project)
    if provider not in (None, "local", "auto"):
        from quire.capture.providers.settings import read_settings
        from quire.capture.providers.summarising import summariser

        summarise = summariser(
            str(provider), settings=read_settings(project.world), world=project.world, root=project.root
        )
    pinned = [Pin(view.id, view.content) for view in working_memory(project, session).pins]
    kept: list[str] = []

    def checkpoint(data: bytes) -> str:
        kept.append(keep_checkpoint(project.root, data, stamp(project.world.now()), project.world.token()))
        return kept[-1]

    turns = conversation.keep_turns if keep_turns is None else keep_turns
    done = compact(
        conversation.messages,
        pins=[*pinned, *conversation.pins],
        instructions=instructions or conversation.instructions,
        summarise=summarise,
        checkpoint=None if dry_run else checkpoint,
        **({} if turns is None else {"keep_turns": turns}),
    )
    return done, kept[0] if kept else ""
