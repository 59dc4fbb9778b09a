"""What arrives by itself: decisions of design documents, sessions, conversations to compact, notes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from quire.files import input_text, parse_strict
from quire.layers.facts.layout import FOLDER, PENDING
from quire.model import InputError, Problem, QuireError, instant, stamp
from quire.project.fact_results import FactStored, FactView, Ingested
from quire.project.facts import FactKeeping
from quire.project.working import WorkingMemory

if TYPE_CHECKING:
    from quire.capture import Compacted, Conversation, Held, Step, Summariser
    from quire.index import Index
    from quire.layers.facts import Draft, Episode, Fact, Note, OpenSession

_SILENT_SECONDS = 3_600
"""A session that was not heard of for so long is closed when the next one starts."""

__all__ = ["Capturing"]


class Capturing(FactKeeping, WorkingMemory):
    """Operations behind the flows that nobody has to remember."""

    # -- design documents -------------------------------------------------------------------

    def memory_ingest_lifecycle(
        self,
        candidate: Any = None,
        *,
        accept: Sequence[str] = (),
        drop: Sequence[str] = (),
        dry_run: bool = False,
    ) -> Ingested:
        """Take in what the design documents decided since the last time, or one candidate that is given.

        What is only inferred waits as pending until somebody accepts it. Doing it twice changes nothing.
        """
        from quire.capture import parse_candidate, plan_candidates, plan_documents, scan_design_documents

        if accept or drop:
            return self._decide(list(accept), list(drop), dry_run=dry_run)
        if isinstance(candidate, bytes):
            candidate = parse_strict(input_text(candidate, "the candidate"), "the candidate")
        single = None if candidate is None else parse_candidate(candidate)
        scan = None if single is not None else scan_design_documents(self.root)

        def plan(draft: Draft, index: Index) -> Ingested:
            held = self._held_facts(index)
            steps = (
                plan_candidates([single], held)
                if single is not None
                else plan_documents(scan.documents if scan else [], held)
            )
            done = Ingested(
                dry_run=dry_run,
                documents=len(scan.documents) if scan else 0,
                counts={},
                steps=[],
                warnings=list(scan.problems) if scan else [],
            )
            for step in steps:
                self._carry_out(draft, step, done)
            done.pending = self._pending(draft, index)
            return done

        return self._change("facts ingest", plan, dry_run=dry_run)

    def _held_facts(self, index: Index) -> list[Held]:
        from quire.capture import Artifact, Held
        from quire.layers.facts import held_of

        found = []
        for record in index.page(self._filter()):
            fact = held_of(record).fact
            artifact = fact.extra.get("artifact")
            found.append(
                Held(
                    fact.id,
                    fact.section,
                    fact.content,
                    fact.status,
                    fact.source,
                    msgspec.convert(artifact, Artifact) if isinstance(artifact, dict) else None,
                    fact.evidence,
                    fact.reason or "",
                )
            )
        return found

    def _carry_out(self, draft: Draft, step: Step, done: Ingested) -> None:
        done.counts[step.action] = done.counts.get(step.action, 0) + 1
        shown = {
            "action": step.action,
            "content": step.content,
            "fact_id": step.fact_id,
            "reason": step.reason,
            "path": step.candidate.artifact.path if step.candidate and step.candidate.artifact else "",
        }
        done.steps.append(shown)
        try:
            fact = self._apply(draft, step)
        except QuireError as error:
            # One that may not be written stops none of the others.
            done.counts[step.action] -= 1
            done.counts["reject"] = done.counts.get("reject", 0) + 1
            shown["action"], shown["reason"] = "reject", error.message
            return
        if fact is not None:
            shown["fact_id"] = fact.id
            done.fact_ids.append(fact.id)

    def _apply(self, draft: Draft, step: Step) -> Fact | None:
        """Do what a step says; the fact that it leaves."""
        from quire.capture import source_of
        from quire.layers.facts import Telling, archive_facts, confirm_fact, store_fact, supersede_fact

        known = draft.fact(step.fact_id) if step.fact_id else None
        if step.action == "archive" and step.fact_id:
            archive_facts(draft, [step.fact_id], step.reason)
        if step.candidate is None or step.action not in ("store", "pend", "supersede", "reinforce"):
            return None
        waits = known is not None and known.fact.status == PENDING
        told = Telling(
            id=self._token(),
            content=step.content,
            section=step.candidate.section,
            source=source_of(step.candidate),
            session=step.candidate.session,
            artifact=msgspec.to_builtins(step.candidate.artifact) if step.candidate.artifact else None,
            witnesses=step.evidence,
            pending=step.action == "pend",
            replaces=step.fact_id if step.action == "pend" and not waits else None,
            reason=step.reason or None if step.action == "supersede" else None,
        )
        if step.action == "reinforce" and known is not None:
            return confirm_fact(draft, known, told).fact
        if step.action == "supersede" and step.fact_id and not waits:
            return supersede_fact(draft, step.fact_id, told)[1].fact
        if waits and step.fact_id:
            # A proposal that was replaced before anybody accepted it.
            archive_facts(draft, [step.fact_id], "proposed anew")
        return store_fact(draft, told).fact

    def _decide(self, accept: list[str], drop: list[str], *, dry_run: bool) -> Ingested:
        """Accept or drop what waits."""
        from quire.layers.facts import archive_facts, find_fact, restore_facts

        def plan(draft: Draft, index: Index) -> Ingested:
            for name in (*accept, *drop):
                fact = find_fact(draft, name, "accept").fact
                if fact.status != PENDING:
                    raise InputError(
                        f"`{fact.id}` does not wait: it is {fact.status}.",
                        hint="`memory facts ingest` lists what waits.",
                        details={"field": "accept", "id": fact.id},
                    )
            outcomes = restore_facts(draft, accept) if accept else []
            outcomes += archive_facts(draft, drop, "dropped") if drop else []
            return Ingested(
                dry_run=dry_run,
                documents=0,
                counts={"accept": len(accept), "drop": len(drop)},
                steps=[{"action": item.outcome, "fact_id": item.id, "reason": item.message} for item in outcomes],
                pending=self._pending(draft, index),
                fact_ids=[item.id for item in outcomes if item.done],
            )

        return self._change("facts ingest", plan, dry_run=dry_run)

    def _pending(self, draft: Draft, index: Index) -> list[FactView]:
        """What waits after this change."""
        from quire.layers.facts import Fact

        now = self.world.now()
        known = {record.ref.removeprefix("fact:") for record in index.page(self._filter(statuses=(PENDING,)))}
        known |= {record.id for record in draft.added if isinstance(record, Fact)}
        held = [draft.fact(name) for name in sorted(known)]
        return [self._fact_view(item.fact, now) for item in held if item and item.fact.status == PENDING]

    # -- sessions ---------------------------------------------------------------------------

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
        close: bool = False,
    ) -> tuple[OpenSession, list[Episode]]:
        """Note how far a session is; closed, or silent for long, it becomes one episode, however often it is told."""
        from quire.files import write_access
        from quire.guard import admit
        from quire.layers.facts import OpenSession, checkpoint_session, read_sessions, time_text
        from quire.model import limits

        for name, text, most in (("title", title, limits.TITLE_CHARS), ("narrative", narrative, limits.BODY_CHARS)):
            if text.strip():
                admit(text, name, most=most, single_line=name == "title")
        if started_at is not None and instant(started_at) is None:
            raise InputError("`started_at` is no time.", hint="Leave it out.", details={"field": "started_at"})
        now = time_text(self.world.now())
        told = OpenSession(
            session_id=session_id,
            title=title.strip(),
            started_at=started_at or now,
            updated_at=now,
            turns=turns,
            tool_calls=tool_calls,
            files=tuple(files),
            narrative=narrative.strip(),
            commit=(self.git.head() or "")[:12] if self.git.available else "",
        )
        self._ready()
        with write_access(self.root, FOLDER, self.world, "facts session"):
            open_now = checkpoint_session(self.root, told, self.world.token())
            others, _ = read_sessions(self.root)
        silent = [item for item in others if item.session_id != session_id and self._is_silent(item)]
        closing = [*silent, open_now] if close else silent
        return open_now, [self._close(item, now if item is open_now else item.updated_at) for item in closing]

    def _is_silent(self, session: OpenSession) -> bool:
        heard = instant(session.updated_at)
        return heard is None or (self.world.now() - heard).total_seconds() > _SILENT_SECONDS

    def _close(self, session: OpenSession, closed_at: str) -> Episode:
        from quire.files import write_access
        from quire.layers.facts import (
            episode_of,
            episode_of_record,
            forget_session,
            merge_session,
            session_name,
            session_of,
        )

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
            episode = episode_of(whole, ended, self.root)
            if before is not None and msgspec.structs.replace(before, version=0, updated_at=None) == episode:
                return before
            changed = None if before is None else draft.now
            episode = msgspec.structs.replace(episode, version=draft.next_version(), updated_at=changed)
            draft.put_episode(episode, new=before is None)
            return episode

        episode = self._change("facts session", plan)
        # The episode is safe: a process that dies here leaves a checkpoint that gives the same episode again.
        with write_access(self.root, FOLDER, self.world, "facts session"):
            forget_session(self.root, session.session_id)
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
        dry_run: bool = False,
    ) -> tuple[Compacted, str]:
        """Replace older messages by a summary; what is pinned, and what was asked for, stays word for word.

        What goes is first kept in full on this machine; the second value says where.
        """
        from quire.capture import Pin, compact, read_conversation
        from quire.layers.facts import keep_checkpoint

        if isinstance(conversation, bytes):
            conversation = read_conversation(conversation, source)

        self._ready()
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

    # -- notes ------------------------------------------------------------------------------

    def note(self, text: str) -> int:
        """Jot something down for later; how many notes wait."""
        from quire.files import write_access
        from quire.layers.facts import add_note

        self._ready()
        with write_access(self.root, FOLDER, self.world, "note"):
            return add_note(self.root, text, self._local_time(), self.world.token())

    def notes(self) -> tuple[list[Note], list[Problem]]:
        """The notes that wait."""
        from quire.layers.facts import read_notes

        self._ready()
        problems: list[Problem] = []
        return read_notes(self.root, problems), problems

    def notes_done(self, numbers: Sequence[int] | None) -> list[Note]:
        """Take notes off the list: these, or all of them."""
        from quire.files import write_access
        from quire.layers.facts import clear_notes, remove_notes

        self._ready()
        with write_access(self.root, FOLDER, self.world, "notes"):
            at, token = self._local_time(), self.world.token()
            if numbers is None:
                return clear_notes(self.root, at, token)
            return remove_notes(self.root, numbers, at, token)

    def notes_undo(self) -> list[Note]:
        """Put back what was taken off the list last."""
        from quire.files import write_access
        from quire.layers.facts import restore_notes

        self._ready()
        with write_access(self.root, FOLDER, self.world, "notes"):
            return restore_notes(self.root, self.world.token())

    def notes_promote(self, number: int, section: str) -> FactStored:
        """Make a fact of a note, and take the note off the list."""
        from quire.layers.facts import section_named

        section_named(section)
        found = {note.number: note for note in self.notes()[0]}
        if number not in found:
            raise InputError(
                f"There is no note {number}; there are {len(found)}.",
                hint="`memory notes` shows them with their numbers.",
                details={"field": "number"},
            )
        stored = self.memory_store(section, found[number].text, source="note")
        self.notes_done([number])
        return stored

    def _local_time(self) -> str:
        return self.world.now().astimezone().strftime("%Y-%m-%d %H:%M")
