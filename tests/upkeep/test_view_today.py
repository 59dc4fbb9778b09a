"""What a person sees first: what counts as changed, what drifted and when, what needs a look, what waits."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from installed import Git as UsersGit
from quire.files.git import Git
from quire.files.world import World
from quire.inbox.proposals import ProposalEvidence, propose
from quire.model.records import Problem, Record
from quire.model.verdicts import AnchorVerdict, Verdict
from quire.upkeep.views.today import CHANGED, LISTED, Today, inbox_page, today_of

SINCE, UNTIL = "2026-03-01T00:00:00+00:00", "2026-03-08T00:00:00+00:00"
BEFORE, WITHIN = "2026-02-01T00:00:00+00:00", "2026-03-02T00:00:00+00:00"


def record(ref: str, created: str = BEFORE, updated: str = "", **fields: Any) -> Record:
    made = {"layer": "graph", "kind": "feature", "title": ref, "text": "", "status": "active", "path": "a.json"}
    return Record(ref=ref, created_at=created, updated_at=updated or created, **{**made, **fields})


def look(git: Git, records: Sequence[Record], verdicts: dict[str, Verdict] | None = None, **handed_in: Any) -> Today:
    nothing: dict[str, Any] = {"pins": (), "notes": (), "inbox": inbox_page([], 0, 5), "problems": ()}
    since = datetime.fromisoformat(SINCE)
    return today_of(records, verdicts or {}, git, since=since, times=(SINCE, UNTIL), **{**nothing, **handed_in})


def told(found: Today) -> list[tuple[str, str]]:
    return [(change.item.ref, change.how) for change in found.changed]


@pytest.fixture
def here(repo: Path, world: World) -> Git:
    return Git(str(repo), world.env)


# -- what changed ---------------------------------------------------------------------------------


def test_what_was_created_updated_and_retired_comes_newest_first(here: Git) -> None:
    found = look(
        here,
        [
            record("feature.untouched"),
            record("feature.new", "2026-03-02T00:00:00+00:00", "2026-03-06T00:00:00+00:00"),
            record("feature.newer", "2026-03-04T01:00:00+02:00"),
            record("feature.changed", BEFORE, "2026-03-05T00:00:00+00:00"),
            record("decision.gone", BEFORE, "2026-03-03T00:00:00+00:00", kind="decision", status="superseded"),
            record("feature.dead", BEFORE, "2026-03-02T01:00:00+00:00", stage="dead"),
            record("fact:new", SINCE, layer="facts", kind="fact"),
            record("feature.timeless", "soon", "later"),
        ],
    )
    assert told(found) == [
        ("feature.changed", "updated"),
        ("feature.newer", "created"),
        ("decision.gone", "retired"),
        ("feature.dead", "retired"),
        ("feature.new", "created"),
        ("fact:new", "created"),
    ]
    assert [change.at for change in found.changed][:2] == ["2026-03-05T00:00:00+00:00", "2026-03-04T01:00:00+02:00"]
    assert (found.since, found.until, found.changed_total) == (SINCE, UNTIL, 6)


def test_the_project_and_the_journals_own_work_are_no_news(here: Git) -> None:
    journal: dict[str, Any] = {"layer": "journal"}
    found = look(
        here,
        [
            record("project.harbor", WITHIN, kind="project"),
            record("event:evt-1", WITHIN, kind="event", section="tool_run", **journal),
            record("event:evt-2", WITHIN, kind="event", section="imported_session", **journal),
            record("checkpoint:chk-1", WITHIN, kind="checkpoint", section="checkpoint", **journal),
            record("bundle:project", WITHIN, kind="bundle", section="project", **journal),
        ],
    )
    assert told(found) == [("event:evt-2", "created")]


def test_the_digest_counts_also_what_is_not_shown(here: Git) -> None:
    many = [record(f"decision.d{number:03}", WITHIN, kind="decision") for number in range(CHANGED + 50)]
    found = look(
        here,
        [
            *many,
            record("decision.old", BEFORE, WITHIN, kind="decision"),
            record("question.new", WITHIN, kind="question", status="open"),
            record("question.answered", BEFORE, WITHIN, kind="question", status="closed"),
            record("question.both", WITHIN, kind="question", status="closed"),
            record("fact:d", WITHIN, layer="facts", kind="fact", section="Decisions"),
        ],
    )
    assert (len(found.changed), found.changed_total) == (CHANGED, CHANGED + 55)
    assert found.digest == {
        "created": CHANGED + 53,
        "updated": 1,
        "closed": 1,
        "retired": 0,
        "drifted": 0,
        "decisions": CHANGED + 50,
        "questions_opened": 2,
    }


# -- what drifted ---------------------------------------------------------------------------------


def commit_at(repo: Path, environment: dict[str, str], date: str) -> str:
    return UsersGit(repo, {**environment, "GIT_COMMITTER_DATE": date}).commit()


def changed_in(*commits: str, state: str = "changed") -> Verdict:
    anchors = tuple(AnchorVerdict(anchor="src/", verdict=state, commit=commit) for commit in commits)  # type: ignore[arg-type]
    return Verdict(verdict=state, because="src/ changed", anchors=anchors)  # type: ignore[arg-type]


def test_what_drifted_is_dated_by_the_newest_commit_that_did_it(
    repo: Path, environment: dict[str, str], here: Git
) -> None:
    old = commit_at(repo, environment, BEFORE)
    new = commit_at(repo, environment, "2026-03-02T03:00:00+02:00")
    newest = commit_at(repo, environment, "2026-03-03T00:00:00+00:00")
    verdicts = {
        "feature.early": changed_in(old),
        "feature.both": changed_in(old, newest, new),
        "feature.moved": changed_in(new, state="moved"),
        "feature.open": changed_in(""),
        "feature.fresh": changed_in(new, state="fresh"),
        "feature.odd": changed_in("--all"),
    }
    found = look(here, [record(ref) for ref in verdicts], verdicts)
    assert told(found) == [("feature.both", "drifted"), ("feature.moved", "drifted")]
    assert [change.at for change in found.changed] == ["2026-03-03T00:00:00+00:00", "2026-03-02T03:00:00+02:00"]
    assert found.changed[0].item.verdict == "changed"
    assert found.digest["drifted"] == 2


def test_a_commit_that_is_gone_leaves_the_rest_standing(repo: Path, environment: dict[str, str], here: Git) -> None:
    known = commit_at(repo, environment, WITHIN)
    verdicts = {"feature.a": changed_in("ab" * 20), "feature.c": changed_in(known)}
    records = [record("feature.a"), record("feature.b", WITHIN), record("feature.c")]
    found = look(here, records, verdicts)
    assert told(found) == [("feature.b", "created"), ("feature.c", "drifted")]
    assert [item.ref for item in found.attention] == ["feature.a", "feature.c"]


# -- what needs a look, and what is worked on -----------------------------------------------------


def test_the_worst_comes_first_and_of_equals_the_oldest(here: Git) -> None:
    states = {
        "feature.a": "unverifiable",
        "feature.b": "changed",
        "feature.c": "orphaned",
        "feature.d": "moved",
        "feature.e": "changed",
        "feature.f": "fresh",
        "feature.g": "unanchored",
    }
    verdicts = {ref: Verdict(verdict=state) for ref, state in states.items()}  # type: ignore[arg-type]
    records = [record(ref, BEFORE if ref == "feature.e" else WITHIN) for ref in states]
    found = look(here, records, verdicts)
    assert [item.ref[-1] for item in found.attention] == ["c", "d", "e", "b"]
    assert found.attention_total == 4


def test_too_many_are_counted(here: Git) -> None:
    records = [record(f"feature.n{number}") for number in range(LISTED + 20)]
    found = look(here, records, {item.ref: Verdict(verdict="orphaned") for item in records})
    assert (len(found.attention), found.attention_total) == (LISTED, LISTED + 20)


def test_steps_keep_their_order_and_what_is_built_and_asked_is_listed(here: Git) -> None:
    def step(name: str, raw: bytes) -> Record:
        bundle: dict[str, Any] = {"layer": "journal", "kind": "bundle", "section": "next-steps"}
        return record(f"bundle:next-steps.{name}", raw=raw, **bundle)

    focus: dict[str, Any] = {"layer": "journal", "kind": "bundle", "section": "current-focus"}
    found = look(
        here,
        [
            *(step(name, b'{"number":%d}' % number) for name, number in (("a", 3), ("b", 10), ("c", 2))),
            step("z", b"\xff"),
            record("bundle:current-focus", text="Retries.", **focus),
            record("bundle:empty", text=" ", **focus),
            record("feature.old", BEFORE, stage="building"),
            record("feature.new", WITHIN, stage="building"),
            record("feature.gone", stage="building", status="stale"),
            record("question.open", kind="question", status="open"),
            record("question.closed", kind="question", status="closed"),
            record("fact:q", layer="facts", kind="question", status="open"),
        ],
        {"feature.old": Verdict(verdict="fresh")},
    )
    assert [item.ref.rpartition(".")[2] for item in found.next_steps] == ["z", "c", "a", "b"]
    assert [item.ref for item in found.focus] == ["bundle:current-focus"]
    assert [(item.ref, item.verdict) for item in found.building] == [("feature.new", None), ("feature.old", "fresh")]
    assert [item.ref for item in found.questions] == ["question.open"]


def test_what_is_handed_in_is_given_on_within_bounds(here: Git) -> None:
    problems = [Problem(code="X", message=str(number)) for number in range(LISTED + 1)]
    found = look(here, [], pins=[record("fact:b"), record("fact:a")], problems=problems)
    assert [item.ref for item in found.pins] == ["fact:b", "fact:a"]
    assert found.problems == tuple(problems[:LISTED])


# -- what waits -----------------------------------------------------------------------------------


def test_a_proposal_is_shown_with_its_fields_as_text() -> None:
    fields = {
        "title": "T",
        "body": "b" * 3000,
        "anchors": ["src/", "docs/"],
        "related": [{"id": "feature.a"}],
        "confidence": 0.5,
        "empty": [],
        "none": None,
    }
    evidence = (ProposalEvidence(quote="q" * 2500, by="user"),)
    pending = [
        propose("graph", "decision", f"Text {number}", fields, origin="file:a", by="file", evidence=evidence)
        for number in range(5)
    ]
    found = inbox_page([pending], 3, 1)
    assert (found.pending, found.offset) == (5, 3)
    (item,) = found.items
    assert (item.text, item.into, item.kind, item.origin, item.by) == ("Text 3", "graph", "decision", "file:a", "file")
    assert [(field.name, field.value) for field in item.fields] == [
        ("title", "T"),
        ("body", "b" * 1999 + "…"),
        ("anchors", "src/, docs/"),
        ("related", '{"id":"feature.a"}'),
        ("confidence", "0.5"),
    ]
    assert [(said.quote, said.by, said.where, said.at) for said in item.evidence] == [
        ("q" * 1999 + "…", "user", "", "")
    ]
    assert inbox_page([pending], 5, 1).items == ()


def test_proposals_of_one_source() -> None:
    sessions = [propose("graph", "decision", f"Text {number}", {}, origin="claude:1", by="user") for number in range(2)]
    files = [propose("graph", "decision", "From a file", {}, origin="adr:docs/adr/0001-a.md", by="file")]
    found = inbox_page([sessions, files], 0, 5, files[0].source)
    assert [item.text for item in found.items] == ["From a file"]
    assert (found.pending, [group.count for group in found.groups]) == (3, [2, 1])
