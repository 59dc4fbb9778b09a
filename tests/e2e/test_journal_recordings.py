"""Recorded sessions of the original program with a journal, replayed command by command.

Every way in which we answer or write otherwise must stand in `EXPECTED` or `EVERYWHERE`, with the key of the reason
that `docs/reference/compatibility.md` gives for it; an entry that no longer occurs fails the test as well.
"""

from __future__ import annotations

import fnmatch
import re
from pathlib import Path
from typing import NamedTuple

import pytest
from journal_recordings import NAMES, RECORDINGS, Difference, Replay

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "compatibility.md"

needs_recordings = pytest.mark.skipif(
    not RECORDINGS.is_dir(), reason="the recordings of the original program are not here"
)


class Everywhere(NamedTuple):
    """Kinds of difference in any command of a verb, the key of their reason, and a recording that shows them."""

    verb: str
    kinds: tuple[str, ...]
    reason: str
    shown: str = "basic-node"


class Expected(NamedTuple):
    """Kinds of difference, in which steps of which recording, and the key of their reason in the page."""

    recording: str
    steps: tuple[int, ...]
    kinds: tuple[str, ...]
    reason: str


CHECKS = "journal-validation-commands"
EDITS = "journal-integrate-edits"
EVERYWHERE = (
    Everywhere("*", ("exit 1 -> [23]",), "journal-exit-codes"),
    Everywhere("init", ("says Provider", "state provider", "bundle gotchas", "bundle nextSteps"), "journal-models"),
    Everywhere("update", ("says Provider", "state provider"), "journal-models"),
    Everywhere("init", ("says Validation commands", "bundle validation"), CHECKS),
    Everywhere("update", ("says Validation commands",), CHECKS),
    Everywhere("init", ("not said Validation commands",), CHECKS, "retention"),
    Everywhere("update", ("not said Validation commands",), CHECKS, "retention"),
    Everywhere("init", ("file .gitattributes untouched -> created",), "journal-git"),
    Everywhere("init", ("file .gitignore untouched -> created", "says Signals"), "journal-git"),
    Everywhere("update", ("says Signals",), "journal-git"),
    Everywhere("init", ("file backup untouched -> created",), "journal-start-over"),
    Everywhere("init", ("file config.json untouched -> modified",), "journal-pages"),
    Everywhere("init", ("not said Canonical state", "said State", "said Journal made", "said Next"), "journal-lines"),
    Everywhere("update", ("not said Canonical state", "said State"), "journal-lines"),
    Everywhere("status", ("said generatedAt", "said expired batches"), "journal-lines"),
    Everywhere("status", ("said last run",), "journal-lines", "retention"),
    Everywhere("recall", ("said Memory Summary: *", "said *Recalled"), "journal-lines"),
    Everywhere("automate run-once", ("said synced *",), "journal-lines"),
    Everywhere("status", ("said Checkpoint Drift: *", "says File diffs"), "journal-drift"),
    Everywhere("init", ("cursor * ahead",), "journal-own-events"),
    Everywhere("update", ("cursor * ahead",), "journal-own-events", "extras"),
    Everywhere("recall", ("cursor * ahead",), "journal-cursors"),
    Everywhere("automate run-once", ("cursor * ahead",), "journal-cursors"),
    Everywhere("status", ("says unrecalled *",), "journal-cursors"),
    Everywhere("validate", ("said projection:*:edited WARN", "not said projection:*"), "journal-pages"),
    Everywhere("validate", ("said entry:edited WARN", "not said entry:file"), "journal-pages"),
    Everywhere("query", ("says cited",), "journal-query"),
    Everywhere("sync", ("event sourceRef",), "journal-session-paths"),
    Everywhere("sync", ("event contentHash",), "journal-session-hash"),
    Everywhere("automate run-once", ("file sources.json modified -> untouched",), "journal-quiet"),
    Everywhere("automate run-once", ("source lastSyncedAt", "source updatedAt"), "journal-quiet"),
)
"""What differs wherever a verb is used."""

SYNCS = (6, 9, 10, 15, 16, 17, 18, 19, 20)
DAMAGED = (53, 61, 93, 101, 112, 120, 132)
ACCEPTED = "exit 1 -> 0"
EXPECTED = (
    # A project of its own, from the first command to the last.
    Expected("basic-node", (10,), ("exit 0 -> 3",), "journal-not-made"),
    Expected("basic-node", (13, 88), (ACCEPTED, "says validation:baseline FAIL -> PASS"), "journal-levels"),
    Expected("basic-node", (20,), ("exit 0 -> 1",), "journal-unknown-checkpoint"),
    Expected("basic-node", (21, 49, 56), ("file state.json untouched -> modified",), "journal-own-events"),
    Expected("basic-node", (30,), ("new event ignored", "no event history"), "journal-claude-folders"),
    Expected("basic-node", (31,), ("event createdAt",), "journal-session-times"),
    Expected("basic-node", (40, 41, 44), ("says enough",), "journal-query"),
    Expected("basic-node", (45,), ("cursor imports behind",), "journal-sections"),
    Expected("basic-node", (45,), ("said Checkpoint Summary: Changed gotchas",), "journal-lines"),
    Expected("basic-node", (46,), (ACCEPTED,), "journal-usage"),
    Expected(
        "basic-node",
        (47,),
        ("said nothing to recall", "says Unrecalled events considered", "says raw events", "says group*"),
        "journal-cursors",
    ),
    Expected("basic-node", (59,), ("said Last runs", "said ends at", "said next run"), "journal-lines"),
    Expected("basic-node", (63,), ("cursor all ahead", "cursor local ahead"), "journal-own-events"),
    Expected("basic-node", (66,), (ACCEPTED,), "journal-usage"),
    Expected("basic-node", (77,), ("says suggested next action",), EDITS),
    Expected("basic-node", (87,), ("bundle validation",), "journal-validation-kept"),
    Expected("basic-node", (87,), ("file entry untouched -> modified",), "journal-entry-file"),
    Expected("basic-node", (88,), ("said entry:leftover WARN",), "journal-entry-file"),
    # Sessions that cannot be read, and worse.
    Expected("broken-source", (*SYNCS, 12), ("exit 0 -> 1",), "journal-exit-codes"),
    Expected("broken-source", SYNCS, ("does not fail 03-torn-last-line.jsonl",), "journal-broken-sessions"),
    Expected("broken-source", (*SYNCS, 14), ("new event 03-torn-last-line",), "journal-broken-sessions"),
    Expected("broken-source", SYNCS, ("fails 09-array-lines.jsonl",), "journal-broken-sessions"),
    Expected("broken-source", (6,), ("no event 09-array-lines",), "journal-broken-sessions"),
    Expected("broken-source", SYNCS, ("does not fail 06-numbers-only.jsonl",), "journal-empty-sessions"),
    Expected(
        "broken-source",
        (6,),
        ("does not fail 07-provider-refuses.jsonl", "new event 07-provider-refuses"),
        "journal-models",
    ),
    Expected("broken-source", SYNCS[4:], ("does not fail 14-new.jsonl", "new event 14-new"), "journal-models"),
    Expected("broken-source", (*SYNCS[1:], 14), ("new event 12-long",), "journal-long-sessions"),
    Expected("broken-source", (6,), ("event createdAt",), "journal-session-times"),
    Expected("broken-source", (10,), ("event createdAt",), "journal-grown-sessions"),
    Expected(
        "broken-source",
        (6,),
        (
            "new event 01-good@transcripts/nested/01-good",
            "no event 01-good",
            "new event dup-id@sessions/y",
            "no event dup-id",
        ),
        "journal-session-names",
    ),
    Expected("broken-source", (8,), (ACCEPTED,), "journal-levels"),
    Expected("broken-source", (8, 13), ("says sources:path:gone FAIL -> WARN",), "journal-levels"),
    # Wrong command lines, no provider, damaged files.
    Expected("errors-offline", (27, 30), (ACCEPTED,), "journal-usage"),
    Expected("errors-offline", (31, 37, 38, 43, 44, 45, 46), (ACCEPTED,), "journal-models"),
    Expected("errors-offline", (48, 49), ("new event o",), "journal-models"),
    Expected("errors-offline", (49,), (ACCEPTED, "ran failed -> recalled"), "journal-models"),
    Expected("errors-offline", (34,), ("exit 0 -> 3",), "journal-not-made"),
    Expected("errors-offline", (36,), ("file latest-run.json deleted -> untouched", "new run"), "journal-start-over"),
    Expected("errors-offline", (36,), ("not said Note",), "journal-lines"),
    Expected("errors-offline", (52, 60, 68), (ACCEPTED,), "journal-patience"),
    Expected("errors-offline", (54, 62, 70, 94, 121, 139), (ACCEPTED,), "journal-patience"),
    Expected("errors-offline", (55, 63, 71, 56, 64), (ACCEPTED,), "journal-patience"),
    Expected(
        "errors-offline",
        (56, 64),
        ("file sources.json untouched -> modified", "said synced c", "source lastImportedCount"),
        "journal-patience",
    ),
    Expected("errors-offline", (57, 65, 73, 140), (ACCEPTED, "ran failed -> recalled"), "journal-patience"),
    Expected("errors-offline", (55, 57), ("made faulty history:events-read",), "journal-patience"),
    Expected("errors-offline", (72,), ("file state.json modified -> untouched",), "journal-patience"),
    Expected("errors-offline", (69,), ("says history:event-count FAIL -> PASS",), "journal-patience"),
    Expected("errors-offline", (53,), (ACCEPTED, "not said history:events-read"), "journal-patience"),
    Expected("errors-offline", (53,), ("said history:torn WARN",), "journal-patience"),
    Expected("errors-offline", (61,), ("said history:event:line-3 FAIL",), "journal-all-checks"),
    Expected("errors-offline", (112,), ("said sources:schema FAIL",), "journal-all-checks"),
    Expected("errors-offline", DAMAGED, ("said * PASS",), "journal-all-checks"),
    Expected(
        "errors-offline", (85,), ("not said history:ordering", "said history:duplicate FAIL"), "journal-all-checks"
    ),
    Expected(
        "errors-offline",
        (*DAMAGED, 69, 77, 85, 108, 128, 135, 138, 145, 149),
        ("said automation:latest-run:failed WARN",),
        "journal-all-checks",
    ),
    Expected(
        "errors-offline",
        (69, 77, 85, 108, 128, 135, 138, 145, 149),
        ("not said automation:latest-run",),
        "journal-all-checks",
    ),
    Expected("errors-offline", (76,), ("not said grouped items", "not said raw events"), "journal-lines"),
    Expected("errors-offline", (89,), ("ran recalled_noop -> idle",), "journal-own-events"),
    Expected("errors-offline", (114, 123), ("exit 0 -> 3",), "journal-damage"),
    Expected(
        "errors-offline", (123,), ("file sources.json modified -> untouched", "not said synced c"), "journal-damage"
    ),
    Expected("errors-offline", (150,), ("not said intervalMinutes", "not said provider"), "journal-processes"),
    Expected("errors-offline", (150,), ("said stale",), "journal-processes"),
    Expected("errors-offline", (151,), ("said daemon",), "journal-processes"),
    # Automation without a journal, entry files, a workspace.
    Expected("extras", (1, 2, 3), ("exit 0 -> 3",), "journal-not-made"),
    Expected("extras", (4,), ("file latest-run.json deleted -> untouched", "new run"), "journal-start-over"),
    Expected("extras", (11,), ("not said grouped items", "not said raw events"), "journal-lines"),
    Expected("extras", (26,), ("bundle entry file", "file entry * -> *", "says Planned changes"), "journal-entry-file"),
    Expected("extras", (26,), ("bundle validation",), "journal-validation-kept"),
    Expected("extras", (27,), (ACCEPTED, "says validation:baseline FAIL -> PASS"), "journal-levels"),
    Expected("extras", (27,), ("said entry:leftover WARN",), "journal-entry-file"),
    Expected("extras", (28,), ("file entry untouched -> deleted",), "journal-entry-file"),
    # Clients whose files are damaged, or were changed.
    Expected("extras", (13,), ("says project hooks",), "journal-integrate-damage"),
    Expected("extras", (13,), ("says agents guidance", "says warnings", "says missing items"), EDITS),
    Expected("extras", (15,), ("file SKILL.md untouched -> created",), "journal-integrate-damage"),
    Expected("extras", (18,), ("exit 0 -> 1", "says project .claude/settings.json"), "journal-integrate-damage"),
    Expected(
        "extras",
        (21,),
        ("says overall healthy", "says agents guidance", "says warnings", "says suggested next action"),
        EDITS,
    ),
    Expected("extras", (22,), ("not said nothing to repair", "file entry untouched -> modified"), EDITS),
    Expected("extras", (22,), ("not said suggested next action", "said *"), EDITS),
    # A process that the tool server had started.
    Expected("mcp", (4,), ("says daemon", "file daemon.json *", "file daemon.lock *"), "journal-server"),
    # The archive.
    Expected("retention", (8, 11), ("file state.json untouched -> modified",), "journal-own-events"),
    Expected("retention", (13, 17, 22, 24, 28, 41), (ACCEPTED,), "journal-levels"),
    Expected("retention", (13, 17, 22, 24, 28, 41), ("says validation:freshness FAIL -> WARN",), "journal-levels"),
    Expected(
        "retention",
        (15,),
        (
            "batch archivedEventIds",
            "maintenance historyEventCount",
            "new batch",
            "no event agent-memory:recall",
            "run prune archivedEventCount",
            "says archived events",
        ),
        "journal-own-events",
    ),
    Expected("retention", (18, 25), ("no event a", "no event b"), "journal-archived-sessions"),
    Expected("retention", (21,), ("ran recalled -> recalled_noop",), "journal-archived-sessions"),
    Expected("retention", (24,), ("not said history:continuity", "said history:events PASS"), "journal-gaps"),
    Expected("retention", (28, 41), ("said archive:*:prune-broken WARN",), "journal-all-checks"),
    Expected("retention", (32,), ("says prune candidate checkpoints",), "journal-keep-none"),
    Expected("retention", (39,), (ACCEPTED, "ran failed -> idle"), "journal-steps"),
    # A project that is hard to read.
    Expected("scan-edge", (1,), (ACCEPTED,), "journal-scan"),
    # Other scripts.
    Expected("unicode", (4,), ("event createdAt",), "journal-session-times"),
    Expected(
        "unicode",
        (8,),
        ("bundle gotchas", "bundle nextSteps", "says * Summary: Added gotchas", "says * Summary: Added next steps"),
        "journal-hidden-characters",
    ),
    Expected("unicode", (10, 23), ("said groups",), "journal-hidden-characters"),
    Expected("unicode", (10,), ("says Checkpoint Drift: added next steps",), "journal-hidden-characters"),
    Expected("unicode", (11, 14, 15, 16, 18), ("says enough",), "journal-query"),
    Expected("unicode", (18,), ("says mode",), "journal-query"),
    Expected("unicode", (21,), ("file state.json untouched -> modified",), "journal-own-events"),
    Expected("unicode", (22,), ("new source", "no source", "says source"), "journal-source-names"),
    Expected("unicode", (23,), ("not said source ",), "journal-source-names"),
    Expected(
        "unicode",
        (24,),
        ("not said sources:path:", "not said sources:sync:", "not said sources:type:"),
        "journal-source-names",
    ),
    Expected("unicode", (25,), (ACCEPTED, "ran failed -> recalled_noop"), "journal-steps"),
)


SHOWN_ELSEWHERE = {
    "journal-agreed-sources",
    "journal-folders",
    "journal-integrate",
    "journal-integrate-entries",
    "journal-integrate-home",
    "journal-locks",
    "journal-secrets",
    "journal-source-paths",
    "journal-transactions",
    "journal-unknown",
    "journal-update-kept",
}
"""Differences that a replay of single commands cannot show, or takes for granted; other tests show them."""


def is_like(difference: Difference, verb: str, kind: str) -> bool:
    return fnmatch.fnmatchcase(difference.verb, verb) and fnmatch.fnmatchcase(difference.kind, kind)


@pytest.mark.proof(keep=1)
@needs_recordings
@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_session_differs_only_where_the_tables_say_so(
    name: str, tmp_path: Path, environment: dict[str, str]
) -> None:
    replay = Replay(name, tmp_path, environment)
    replay.run()
    expected = [
        (step, kind) for entry in EXPECTED if entry.recording == name for step in entry.steps for kind in entry.kinds
    ]
    anywhere = [(entry.verb, kind, entry.shown) for entry in EVERYWHERE for kind in entry.kinds]
    unexplained = [
        f"step {found.step}, {found.verb}: {found.kind}: {found.detail[:300]}"
        for found in replay.differences
        if not any(is_like(found, verb, kind) for verb, kind, _ in anywhere)
        and not any(found.step == step and is_like(found, "*", kind) for step, kind in expected)
    ]
    assert not unexplained, "\n".join(unexplained)
    gone = [
        (step, kind)
        for step, kind in expected
        if not any(found.step == step and is_like(found, "*", kind) for found in replay.differences)
    ]
    gone += [
        (verb, kind)
        for verb, kind, shown in anywhere
        if shown == name and not any(is_like(found, verb, kind) for found in replay.differences)
    ]
    assert not gone, f"these no longer differ, take them out of the tables and the page: {gone}"


@needs_recordings
def test_every_entry_of_the_tables_is_looked_at() -> None:
    assert {entry.recording for entry in EXPECTED} | {entry.shown for entry in EVERYWHERE} <= set(NAMES)


def test_the_page_gives_every_difference_its_reason() -> None:
    found = re.search(r"^## Journal\n.*?(?=^## )", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    assert found
    rows = re.findall(
        r"^\| `(journal-[a-z-]+)` \| [^|]+ \| [^|]+ \| (?:reference|safety|bug|not yet) \|$", found[0], re.M
    )
    assert len(rows) == len(set(rows))
    reasons = {entry.reason for entry in (*EXPECTED, *EVERYWHERE)}
    assert not reasons & SHOWN_ELSEWHERE
    assert reasons | SHOWN_ELSEWHERE == set(rows)
