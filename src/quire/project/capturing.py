"""What a session leaves: its episode, and a conversation that was compacted on the way."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from quire.layers.facts.layout import FOLDER
from quire.model.errors import InputError
from quire.model.times import instant, stamp
from quire.project.working import WorkingMemory

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


class Capturing(WorkingMemory):
    """Flows that nobody has to remember."""

    def memory_session(
        self,
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
        from quire.files.writing import write_access
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
        now = time_text(over or self.world.now())
        told = OpenSession(
            session_id=session_id,
            title=title.strip(),
            started_at=time_text(instant(started_at) or self.world.now()) if started_at else now,
            updated_at=now,
            turns=turns,
            tool_calls=tool_calls,
            files=tuple(map(self._from_root, files)),
            narrative=narrative.strip(),
            commit=self._commit_of(over),
        )
        self._facts_ready()
        rejections = self._rejections()
        if rejections is not None:
            rejections.refuse({"title": title, "narrative": narrative})
        with write_access(self.root, FOLDER, self.world, "note a session"):
            open_now = checkpoint_session(self.root, told, self.world.token())
            others, _ = read_sessions(self.root)
        silent = [item for item in others if item.session_id != session_id and self._is_silent(item)]
        ended = [*silent, open_now] if close else silent
        # Where nothing was asked and nothing told, there is nothing that anybody could want to read.
        closing = [item for item in ended if item.turns or item.title or item.narrative]
        self._forget([item for item in ended if item not in closing])
        return open_now, [self._close(item, now if item is open_now else item.updated_at) for item in closing]

    def _commit_of(self, over: datetime | None) -> str:
        """The commit at which a session is, or ended."""
        if not self.git.available:
            return ""
        return ((self.git.head_at(over.timestamp()) if over else self.git.head()) or "")[:12]

    def _from_root(self, path: str) -> str:
        """A file as it was named from the current folder, from the project's root."""
        here = os.path.normpath(os.path.join(self.world.cwd, path))
        inside = here.startswith(self.root + os.sep)
        if os.path.isabs(path) or not inside or os.path.lexists(os.path.join(self.root, path)):
            return path
        return os.path.relpath(here, self.root) if path.startswith("..") or os.path.lexists(here) else path

    def _forget(self, sessions: list[OpenSession]) -> None:
        from quire.files.writing import write_access
        from quire.layers.facts.sessions import forget_session, read_sessions

        if sessions:
            with write_access(self.root, FOLDER, self.world, "note a session"):
                told = {item.session_id: item for item in read_sessions(self.root)[0]}
                for session in sessions:
                    # What somebody told of it meanwhile is in no episode yet.
                    if told.get(session.session_id, session) == session:
                        forget_session(self.root, session.session_id)

    def _is_silent(self, session: OpenSession) -> bool:
        heard = instant(session.updated_at)
        return heard is None or (self.world.now() - heard).total_seconds() > _SILENT_SECONDS

    def _close(self, session: OpenSession, closed_at: str) -> Episode:
        from quire.layers.facts.records import episode_of_record, session_name
        from quire.layers.facts.sessions import episode_of, merge_session, session_of

        rejections = self._rejections()

        def plan(draft: Draft, index: Index) -> Episode:
            known = index.find(f"episode:{episode_of(session, closed_at, self.root).id}")
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
            episode = msgspec.structs.replace(episode_of(whole, ended, self.root), mind=draft.home)
            if before is not None and msgspec.structs.replace(before, version=0, updated_at=None) == episode:
                return before
            changed = None if before is None else draft.now
            episode = msgspec.structs.replace(episode, version=draft.next_version(), updated_at=changed)
            draft.put_episode(episode, new=before is None)
            return episode

        episode = self._change("note a session", plan)
        # The episode is safe: a process that dies here leaves a checkpoint that gives the same episode again.
        self._forget([session])
        return episode

    # -- conversations ----------------------------------------------------------------------

    def memory_compact(
        self,
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

        self._facts_ready()
        if provider not in (None, "local", "auto"):
            from quire.capture.providers.settings import read_settings
            from quire.capture.providers.summarising import summariser

            summarise = summariser(str(provider), settings=read_settings(self.world), world=self.world, root=self.root)
        pinned = [Pin(view.id, view.content) for view in self._working(session).pins]
        kept: list[str] = []

        def checkpoint(data: bytes) -> str:
            kept.append(keep_checkpoint(self.root, data, stamp(self.world.now()), self.world.token()))
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
