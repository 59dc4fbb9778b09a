"""Everything that can be done to a journal, in any order, held against a model: what was said, and who has seen it."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from quire.files.world import World
from quire.layers.journal.layout import POLICIES, SCOPES, SECTIONS
from quire.layers.journal.shapes import bundle_faults
from quire.project import Project
from quire.verbs.journal.init import JournalInit, journal_init
from quire.verbs.journal.journal_state import change_journal
from quire.verbs.journal.recall import JournalRecall, journal_recall
from quire.verbs.journal.restore import JournalRestore, journal_restore
from quire.verbs.journal.session_import import import_sessions
from quire.verbs.journal.sources import JournalAdd, JournalRemove, add, remove
from quire.verbs.journal.status import JournalStatus, journal_status
from quire.verbs.journal.update import JournalUpdate, journal_update
from quire.verbs.journal.validate import JournalValidate, journal_validate
from thorough import either

EXAMPLES = either(8, 60)
BEGIN = datetime(2026, 3, 2, 11, 19, tzinfo=UTC)
OURS = "# Rules\n\nBe kind.\n"
BLOCK = re.compile(r"<!-- agent-memory:entry .*?<!-- agent-memory:entry end -->", re.S)
TOKEN = re.compile(r"\bq[a-p]{8}q\b")
MOST = 8
"""So many decisions of one session are surely kept."""
SCOPE_OF = {"imports-only": "imports", "local-only": "local"}
NAMES = ("claude", "notes")
PHASES = (Phase.explicit, Phase.generate, Phase.shrink)


def word(first: str, seed: object) -> str:
    digits = hashlib.sha256(f"{first}{seed}".encode()).hexdigest()[:8]
    return first + "".join(chr(ord("a") + int(digit, 16)) for digit in digits) + first


class JournalMachine(RuleBasedStateMachine):
    """Sessions on a disk, a journal that imports them, and what it must hold."""

    # -- the world ----------------------------------------------------------------------------

    @initialize(is_anywhere=st.booleans())
    def begin(self, is_anywhere: bool) -> None:
        self.top = Path(tempfile.mkdtemp(prefix="quire-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None))
        self.root = self.top / "harbor"
        (self.root / "src").mkdir(parents=True)
        (self.root / "AGENTS.md").write_text(OURS)
        self.claude, self.notes = self.top / "claude", self.top / "notes"
        self.notes.mkdir()
        (self.claude / "projects" / str(self.root).replace("/", "-").replace("_", "-")).mkdir(parents=True)
        self.now = BEGIN
        numbers = count()
        env = {"PATH": os.environ["PATH"], "HOME": str(self.top / "home"), "MEMORY_HOME": str(self.top / "registry")}
        world = World(
            cwd=str(self.root),
            env=env,
            now=lambda: self.now,
            token=lambda: f"{next(numbers):08x}" * 2,
            sleep=lambda _: None,
            pid=os.getpid(),
        )
        self.project = Project.open(str(self.root), world)
        journal_init(self.project, JournalInit())
        config = self.read("config.json")
        config["retention"]["archive"]["expireAfterDays"] = 100_000
        (self.root / ".agent-memory/config.json").write_text(json.dumps(config))
        # -- the model
        self.said = count()
        self.pending: dict[tuple[str, str], list[str]] = {}
        """What stands in a file and was not imported yet, by source and session."""
        self.imported: set[str] = set()
        self.sources: set[str] = set()
        self.unseen_imports = self.unseen_local = 0
        self.checkpoints: dict[str, bytes] = {}
        self.fork: int | None = None
        self.everywhere = is_anywhere

    def teardown(self) -> None:
        if hasattr(self, "top"):
            shutil.rmtree(self.top, ignore_errors=True)

    def read(self, name: str) -> Any:
        return json.loads((self.root / ".agent-memory" / name).read_bytes())

    def token(self) -> str:
        return word("q", next(self.said))

    def decision(self, token: str) -> str:
        """A sentence that has no word in common with any other one, so that none is taken for it."""
        return f"Decision: adopt {token} over {word('z', token)} for {word('f', token)}."

    def part(self, token: str) -> str:
        """Two turns that nobody else says."""
        at = f"2026-03-01T10:00:{next(self.said) % 60:02}.000Z"
        texts = {
            "user": f"Please repair the {token} in the worker.",
            "assistant": self.decision(token),
        }
        return "".join(
            json.dumps(
                {
                    "type": role,
                    "cwd": str(self.root),
                    "sessionId": "s",
                    "timestamp": at,
                    "message": {"role": role, "content": text},
                }
            )
            + "\n"
            for role, text in texts.items()
        )

    def session(self, number: int) -> Path:
        (folder,) = (self.claude / "projects").iterdir()
        return folder / f"s{number}.jsonl"

    # -- sessions -----------------------------------------------------------------------------

    @rule(number=st.integers(0, 3), parts=st.integers(1, 3))
    def goes_on(self, number: int, parts: int) -> None:
        held = self.pending.setdefault(("claude", f"s{number}"), [])
        for _ in range(min(parts, MOST - 1 - len(held))):
            token = self.token()
            with self.session(number).open("a") as file:
                file.write(self.part(token))
            held.append(token)

    @rule(number=st.integers(0, 3), parts=st.integers(1, 3))
    def is_written_anew(self, number: int, parts: int) -> None:
        """Nothing of it is as it was; what was not imported is gone."""
        tokens = [self.token() for _ in range(parts)]
        self.session(number).write_text("".join(map(self.part, tokens)))
        self.pending["claude", f"s{number}"] = tokens

    @rule(number=st.integers(0, 3))
    def is_torn(self, number: int) -> None:
        """Somebody is in the middle of a line; it is completed later."""
        if not self.session(number).exists():
            self.goes_on(number, 1)
        if len(self.pending.get(("claude", f"s{number}"), [])) >= MOST:
            return
        token = self.token()
        text = self.part(token)
        with self.session(number).open("a") as file:
            file.write(text[:40])
        if "claude" in self.sources:
            self.sync(everything=True)
        with self.session(number).open("a") as file:
            file.write(text[40:])
        self.pending.setdefault(("claude", f"s{number}"), []).append(token)

    @rule(number=st.integers(0, 2), is_new=st.booleans())
    def is_noted(self, number: int, is_new: bool) -> None:
        token = self.token()
        path = self.notes / f"2026-02-0{number + 1}.md"
        held = self.pending.get(("notes", path.stem), [])
        if is_new or len(held) >= MOST:
            path.unlink(missing_ok=True)
            held = []
        with path.open("a") as file:
            file.write(f"# About {token}\n\n{self.decision(token)}\n\n")
        self.pending["notes", path.stem] = [*held, token]

    # -- sources ------------------------------------------------------------------------------

    @rule(name=st.sampled_from(NAMES))
    def add(self, name: str) -> None:
        if name not in self.sources:
            kind = "claude-local" if name == "claude" else "markdown"
            place = self.claude if name == "claude" else self.notes
            add(self.project, JournalAdd(source_type=kind, path=str(place), name=name, all_folders=self.everywhere))
            self.sources.add(name)

    @rule(name=st.sampled_from(NAMES))
    def remove(self, name: str) -> None:
        if name in self.sources:
            remove(self.project, JournalRemove(name=name))
            self.sources.remove(name)

    @precondition(lambda self: self.sources)
    @rule(everything=st.booleans())
    def sync(self, everything: bool) -> None:
        name = None if everything else sorted(self.sources)[0]
        done = import_sessions(self.project, name)
        synced = self.sources if everything else {name}
        wanted = [key for key, tokens in self.pending.items() if key[0] in synced and tokens]
        assert (done.imported, done.failed) == (len(wanted), 0)
        assert len([event for source in done.sources for event in source.events]) == len(wanted)
        self.unseen_imports += len(wanted)
        for key in wanted:
            self.imported.update(self.pending.pop(key))

    # -- the memory ---------------------------------------------------------------------------

    def own_event(self) -> None:
        """An event of our own counts as seen, unless one before it does not."""
        self.unseen_local += 1 if self.unseen_local else 0

    @rule(
        source=st.none() | st.sampled_from(SCOPES),
        section=st.none() | st.sampled_from(SECTIONS),
        policy=st.none() | st.sampled_from(POLICIES),
        is_preview=st.booleans(),
    )
    def recall(self, source: str | None, section: str | None, policy: str | None, is_preview: bool) -> None:
        scope = source or SCOPE_OF.get(policy or "", "all")
        waiting = {"imports": self.unseen_imports, "local": self.unseen_local}
        waiting["all"] = sum(waiting.values())
        done = journal_recall(
            self.project, JournalRecall(source=source, section=section, policy=policy, dry_run=is_preview)
        )
        assert done.raw_event_count == waiting[scope]
        if is_preview:
            return
        # What was looked at for one section is still to be looked at for the others.
        if section in (None, "all"):
            self.unseen_imports = 0 if scope in ("all", "imports") else self.unseen_imports
            self.unseen_local = 0 if scope in ("all", "local") else self.unseen_local
        if done.applied:
            self.own_event()

    @rule(is_changed=st.booleans())
    def update(self, is_changed: bool) -> None:
        if is_changed:
            with (self.root / "TODO.md").open("a") as file:
                file.write(f"- [ ] Repair step {next(self.said)}\n")
        if journal_update(self.project, JournalUpdate()).applied:
            self.own_event()
        assert not journal_update(self.project, JournalUpdate(dry_run=True)).changed

    @rule(place=st.integers(0, 100))
    def restore(self, place: int) -> None:
        known = sorted(self.checkpoints)
        name = known[place % len(known)]
        done = journal_restore(self.project, JournalRestore(name=name))
        if done.applied:
            self.own_event()
        assert done.saved_as is None
        assert self.read("state.json")["bundleHash"] == json.loads(self.checkpoints[name])["bundleHash"]

    # -- time ---------------------------------------------------------------------------------

    @rule(days=st.sampled_from((1, 40, 100)))
    def prune(self, days: int) -> None:
        """Time goes by, and a round of retention is made."""
        from quire.layers.journal.archive import find_candidates, plan_pruning, sweep_batches

        self.now += timedelta(days=days)
        status = journal_status(self.project, JournalStatus()).retention

        def plan(journal: Any) -> tuple[tuple[int, int], Any]:
            candidates = find_candidates(journal, self.now)
            numbers = len(candidates.events), len(candidates.checkpoints)
            return numbers, None if candidates.is_empty else plan_pruning(journal, candidates, self.now).writing

        numbers = change_journal(self.project, "archive", plan)
        sweep_batches(str(self.root))
        assert numbers == (status.candidate_events, status.candidate_checkpoints)

    @rule()
    def bring_back(self) -> None:
        batches = self.batches()
        if batches:
            journal_restore(self.project, JournalRestore(name=batches[0].name))
            assert len(self.batches()) == len(batches) - 1

    # -- accidents ----------------------------------------------------------------------------

    @rule()
    def lose_the_ledger(self) -> None:
        (self.root / ".agent-memory/local/imports.json").unlink(missing_ok=True)

    @rule()
    def spoil_the_ledger(self) -> None:
        (self.root / ".agent-memory/local").mkdir(exist_ok=True)
        (self.root / ".agent-memory/local/imports.json").write_bytes(b'{"version": 1, "sources": {"claude"')

    @rule()
    def lose_the_index(self) -> None:
        shutil.rmtree(self.root / ".agent-memory/local/index", ignore_errors=True)

    @rule()
    def lose_this_machine(self) -> None:
        """Another clone: nothing that git leaves alone is there."""
        shutil.rmtree(self.root / ".agent-memory/local", ignore_errors=True)

    @rule()
    def branch(self) -> None:
        """Somebody else goes on from here."""
        self.fork = max(int(event["id"][4:]) for event in (*self.events(), *self.archived()))

    @precondition(lambda self: self.fork is not None)
    @rule(
        sessions=st.integers(0, 3),
        runs=st.integers(0, 1),
        is_in_front=st.booleans(),
        half=st.sampled_from(["", '{"id": "evt-000004", "kin\n']),
    )
    def merge(self, sessions: int, runs: int, is_in_front: bool, half: str) -> None:
        """What they wrote, with the ids that came next for them, between or behind our lines; perhaps half a line."""
        assert self.fork is not None
        path = self.root / ".agent-memory/history/events.jsonl"
        ours = path.read_text().splitlines(keepends=True)
        theirs = []
        for number in range(sessions + runs):
            token = self.token()
            is_session = number < sessions
            theirs.append(
                {
                    "id": f"evt-{self.fork + 1 + number:06}",
                    "kind": "imported_session" if is_session else "tool_run",
                    "sourceId": "theirs" if is_session else "agent-memory.local",
                    "externalItemId": token if is_session else None,
                    "createdAt": "2026-03-01T10:00:00.000Z",
                    "contentHash": token * 2,
                    "summary": f"Asked: repair the {token}.",
                    "signals": {
                        "decisions": [f"{token} stays in the worker"],
                        "gotchas": [],
                        "nextStepHints": [],
                        "keyPaths": [],
                        "validationObservations": [],
                    },
                    "sourceRef": "theirs",
                }
            )
            self.imported.add(token)
        lines = [half, *(json.dumps(event) + "\n" for event in theirs)]
        place = 1 if is_in_front else len(ours)
        waiting = {event["contentHash"] for event in (*self.waiting(), *theirs)}
        path.write_text("".join([*ours[:place], *lines, *ours[place:]]))
        journal_validate(self.project, JournalValidate(repair=True))
        # What nobody has seen still waits; that more of it waits, because of ids that two had, does no harm.
        assert waiting <= {event["contentHash"] for event in self.waiting()}
        found = journal_status(self.project, JournalStatus()).unrecalled
        self.unseen_imports, self.unseen_local = found["imports"], found["local"]
        self.fork = None

    def waiting(self) -> list[dict[str, Any]]:
        """The events that no recall has looked at, by the cursors in the file."""
        maintenance = self.read("state.json")["maintenance"]
        cursors = maintenance["recallCursors"]
        reached = {name: int((cursors[name]["lastRecalledEventId"] or "evt-0")[4:]) for name in cursors}
        first = max(reached["all"], int((maintenance["lastRecalledEventId"] or "evt-0")[4:]))
        return [
            event
            for event in self.events()
            if int(event["id"][4:]) > max(first, reached["local" if event["kind"] == "tool_run" else "imports"])
        ]

    # -- what holds ---------------------------------------------------------------------------

    def events(self) -> list[dict[str, Any]]:
        text = (self.root / ".agent-memory/history/events.jsonl").read_text()
        return [json.loads(line) for line in text.splitlines()]

    def batches(self) -> list[Path]:
        folder = self.root / ".agent-memory/archive"
        return sorted(folder.iterdir()) if folder.exists() else []

    def archived(self) -> list[dict[str, Any]]:
        texts = [(batch / "events.jsonl").read_text() for batch in self.batches()]
        return [json.loads(line) for text in texts for line in text.splitlines()]

    @invariant()
    def nothing_is_lost_or_doubled(self) -> None:
        events = [*self.events(), *self.archived()]
        ids = Counter(event["id"] for event in events)
        assert not [name for name, number in ids.items() if number > 1]
        told: Counter[str] = Counter()
        for event in events:
            # Our own runs repeat what the memory says.
            if event["kind"] == "imported_session" or event["sourceRef"] == "theirs":
                told.update(set(TOKEN.findall(json.dumps(event))))
        assert told == Counter(self.imported)

    @invariant()
    def what_waits_is_known(self) -> None:
        status = journal_status(self.project, JournalStatus())
        found = status.unrecalled
        assert (found["imports"], found["local"]) == (self.unseen_imports, self.unseen_local)
        assert found["all"] == self.unseen_imports + self.unseen_local
        assert status.warnings == []

    @invariant()
    def the_state_is_true(self) -> None:
        state = self.read("state.json")
        assert bundle_faults(state["bundle"]) == []
        maintenance = state["maintenance"]
        assert maintenance["historyEventCount"] == len(self.events())
        assert maintenance["importSourceCount"] == len(self.sources)
        assert {source["id"] for source in self.read("sources.json")} == self.sources
        found = [one for one in journal_validate(self.project, JournalValidate()).findings if one["level"] == "fail"]
        assert found == []

    @invariant()
    def checkpoints_stay(self) -> None:
        here = self.root / ".agent-memory/history/checkpoints"
        places = [here, *(batch / "checkpoints" for batch in self.batches())]
        found = {path.stem: path.read_bytes() for place in places if place.exists() for path in place.iterdir()}
        assert sum(len(list(place.iterdir())) for place in places if place.exists()) == len(found)
        assert {name: found.get(name) for name in self.checkpoints} == self.checkpoints
        self.checkpoints = found
        assert self.read("state.json")["maintenance"]["latestCheckpointId"] == max(path.stem for path in here.iterdir())

    @invariant()
    def the_pages_follow(self) -> None:
        entry = (self.root / "AGENTS.md").read_text()
        assert "".join(BLOCK.sub("", entry).split()) == "".join(OURS.split())
        marks = [entry, *(path.read_text() for path in (self.root / "docs/agent-memory").iterdir())]
        digest = self.read("state.json")["bundleHash"]
        assert [text.count(f"bundleHash={digest}") for text in marks] == [1] * 6
        assert not (self.root / ".agent-memory/local/pages-due.json").exists()


TestJournalMachine = pytest.mark.proof(JournalMachine.TestCase)
TestJournalMachine.settings = settings(
    max_examples=EXAMPLES, stateful_step_count=30, report_multiple_bugs=False, phases=PHASES
)
