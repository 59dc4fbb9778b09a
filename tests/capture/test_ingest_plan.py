"""Lifecycle ingest: what becomes of candidates and documents, whatever is held, in any order, any number of times."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import each
from quire.capture.candidate_outcome import (
    EQUIVALENT,
    LOW_SIGNAL,
    REINFORCED,
    UNCONFIRMED,
)
from quire.capture.candidates import (
    Artifact,
    FactCandidate,
    candidates_of,
    parse_candidate,
    source_of,
)
from quire.capture.design_documents import Decision, DesignDocument, read_design_document
from quire.capture.ingest_plan import (
    IngestStep,
    plan_candidates,
    plan_documents,
)
from quire.capture.ingest_state import (
    HeldFact,
)
from quire.files.digests import sha256
from quire.layers.facts.layout import CONTENT_CHARS, SECTIONS
from quire.model.errors import InputError, OutsideProject
from thorough import examples
from work import calls_made

REAL = Path(__file__).parents[3] / "shared" / "fixtures" / "facts"
needs_real = pytest.mark.skipif(not REAL.is_dir(), reason="the real files lie outside the repository")

PATH = "docs/cache.md"
TITLE = "Write through"
TEXT = f"{TITLE} — Reads dominate and staleness is unacceptable"
STORED = f"{TEXT}. See {PATH}, decision: {TITLE}"


def applied(steps: Sequence[IngestStep], held: Sequence[HeldFact]) -> list[HeldFact]:
    """What is held when the steps were carried out."""
    facts = {fact.id: fact for fact in held}

    def change(fact_id: str | None, **fields: Any) -> None:
        assert fact_id is not None
        facts[fact_id] = msgspec.structs.replace(facts[fact_id], **fields)

    for step in steps:
        if step.action in ("store", "supersede", "pend"):
            assert step.candidate is not None
            if step.action == "supersede":
                assert step.fact_id is not None
                assert facts[step.fact_id].status in ("active", "dormant", "pending")
                change(step.fact_id, status="superseded")
            if step.action == "pend" and step.fact_id and facts[step.fact_id].status == "pending":
                change(step.fact_id, status="superseded")
            fresh = f"n{len(facts):04}"
            status = "pending" if step.action == "pend" else "active"
            source, artifact = source_of(step.candidate), step.candidate.artifact
            facts[fresh] = HeldFact(
                fresh, step.candidate.section, step.content, status, source, artifact, evidence=step.evidence
            )
        elif step.action == "reinforce":
            assert step.fact_id is not None
            known = facts[step.fact_id].evidence
            change(step.fact_id, evidence=(*known, *(name for name in step.evidence if name not in known)))
        elif step.action == "archive":
            assert step.fact_id is not None
            assert facts[step.fact_id].status in ("active", "dormant")
            change(step.fact_id, status="archived", reason=step.reason)
    return list(facts.values())


def candidate(content: str = TEXT, **fields: Any) -> FactCandidate:
    given: dict[str, Any] = {
        "kind": "design-decision",
        "authority": "explicit",
        "section": "Decisions",
        "artifact": Artifact("design-node", PATH, TITLE),
    }
    return FactCandidate(content=content, **{**given, **fields})


def fact(name: str = "f1", content: str = STORED, status: str = "active", **fields: Any) -> HeldFact:
    given: dict[str, Any] = {
        "section": "Decisions",
        "source": "lifecycle:design-decision",
        "artifact": Artifact("design-node", PATH, TITLE),
    }
    return HeldFact(id=name, content=content, status=status, **{**given, **fields})


def manual(name: str, content: str, section: str = "Decisions", status: str = "active") -> HeldFact:
    return HeldFact(name, section, content, status, "manual")


def one(given: FactCandidate, *held: HeldFact) -> IngestStep:
    (step,) = plan_candidates([given], held)
    assert step.candidate == given
    return step


def outcome(step: IngestStep) -> tuple[str, str | None]:
    return (step.action, step.fact_id)


def document(
    path: str = PATH,
    *,
    status: str = "exploring",
    decisions: Sequence[tuple[str, str, str]] = (),
    questions: Sequence[str] = (),
    constraints: Sequence[str] = (),
    **fields: Any,
) -> DesignDocument:
    told: dict[str, Any] = {"id": path.rpartition("/")[2].removesuffix(".md"), **fields}
    body = (tuple(decisions), tuple(questions), tuple(constraints), status)
    return DesignDocument(
        path=path,
        sha256=sha256(repr(body).encode()),
        title="T",
        status=status,
        decisions=tuple(Decision(*item) for item in decisions),
        open_questions=tuple(questions),
        constraints=tuple(constraints),
        **told,
    )


def shown(steps: Sequence[IngestStep]) -> list[tuple[str, str, str | None, str]]:
    return [(step.action, step.content, step.fact_id, step.reason) for step in steps]


# -- a caller's candidate -------------------------------------------------------------------------


def test_both_spellings_are_one_candidate() -> None:
    ours = {
        "kind": "openspec-archive",
        "authority": "explicit",
        "section": "specs",
        "content": "- Metrics are exported (added)",
        "artifact": {"kind": "openspec-baseline", "path": "openspec/cache.md", "sub": "Metrics", "sha256": "AB" * 32},
        "supersedes": "f1",
        "session": "s1",
    }
    theirs = {
        "sourceKind": "openspec-archive",
        "authority": "explicit",
        "section": "Specs",
        "content": "Metrics are exported (added)",
        "artifactRef": {
            "type": "openspec-baseline",
            "path": "openspec/cache.md",
            "subRef": "Metrics",
            "sha256": "sha256:" + "ab" * 32,
        },
        "supersedes": "f1",
        "session": "s1",
    }
    assert parse_candidate(ours) == parse_candidate(theirs)
    assert parse_candidate(ours) == FactCandidate(
        kind="openspec-archive",
        authority="explicit",
        section="Specs",
        content="Metrics are exported (added)",
        artifact=Artifact("openspec-baseline", "openspec/cache.md", "Metrics", "sha256:" + "ab" * 32),
        supersedes="f1",
        session="s1",
    )


def test_what_is_null_is_not_given() -> None:
    fields = {"source_kind": "design-constraint", "authority": "inferred", "section": "Constraints", "content": "x"}
    assert parse_candidate({**fields, "artifact_ref": None, "supersedes": None, "session": None}) == FactCandidate(
        kind="design-constraint", authority="inferred", section="Constraints", content="x"
    )


GOOD: dict[str, Any] = {"kind": "design-decision", "authority": "explicit", "section": "Decisions", "content": "x"}
FILE: dict[str, Any] = {"kind": "design-node", "path": "docs/a.md"}


@each(
    ("change", "field", "allowed"),
    [
        ({"kind": None}, "kind", "design-decision"),
        ({"kind": "decision"}, "kind", "design-question"),
        ({"kind": 1}, "kind", "cleave-bug-fix"),
        ({"kind": ["design-decision"]}, "kind", "cleave-bug-fix"),
        ({"sourceKind": "design-constraint"}, "kind", None),
        ({"authority": "sure"}, "authority", "inferred"),
        ({"section": "Nowhere"}, "section", "Recent Work"),
        ({"section": None}, "section", "Patterns & Conventions"),
        ({"section": 3}, "section", "Decisions"),
        ({"content": None}, "content", None),
        ({"content": ""}, "content", None),
        ({"content": " \n"}, "content", None),
        ({"content": "- "}, "content", None),
        ({"content": 5}, "content", None),
        ({"content": "x" * (CONTENT_CHARS + 1)}, "content", None),
        ({"content": "a\u202eb"}, "content", None),
        ({"content": "a\udc80b"}, "content", None),
        ({"supersedes": 7}, "supersedes", None),
        ({"session": "x" * 500}, "session", None),
        ({"colour": "red"}, "colour", "content"),
        ({"artifact": "docs/a.md"}, "artifact", "path"),
        ({"artifact": {"kind": "page", "path": "docs/a.md"}}, "artifact.kind", "design-node"),
        ({"artifact": {"path": "docs/a.md"}}, "artifact.kind", "document"),
        ({"artifact": {"kind": "document"}}, "artifact.path", None),
        ({"artifact": {**FILE, "line": 3}}, "artifact.line", "sub"),
        ({"artifact": {**FILE, "sub": "x" * 301}}, "artifact.sub", None),
        ({"artifact": {**FILE, "sha256": "abc"}}, "artifact.sha256", None),
        ({"artifact": {**FILE, "sha256": "z" * 64}}, "artifact.sha256", None),
    ],
)
def test_what_is_wrong_is_named(change: dict[str, Any], field: str, allowed: str | None) -> None:
    with pytest.raises(InputError) as caught:
        parse_candidate({**GOOD, **change})
    assert caught.value.details["field"] == field
    assert f"`{field}`" in caught.value.message
    assert caught.value.hint
    assert (allowed is None) == ("allowed" not in caught.value.details)
    assert allowed is None or allowed in caught.value.details["allowed"]


def test_the_sections_are_listed() -> None:
    with pytest.raises(InputError) as caught:
        parse_candidate({**GOOD, "section": "x"})
    assert caught.value.details["allowed"] == list(SECTIONS)


@pytest.mark.parametrize("value", [None, [], "x", 3])
def test_a_candidate_is_an_object(value: Any) -> None:
    with pytest.raises(InputError) as caught:
        parse_candidate(value)
    assert caught.value.details["field"] == "candidate"


@each(
    "path",
    [
        "/home/me/docs/a.md",
        "~/a.md",
        "../a.md",
        "docs/../../a.md",
        "./docs/a.md",
        "docs//a.md",
        "C:/a.md",
        "docs\\a.md",
        "",
        "docs/a\n.md",
    ],
)
def test_a_path_that_leads_out_is_refused(path: str) -> None:
    with pytest.raises(OutsideProject) as caught:
        parse_candidate({**GOOD, "artifact": {"kind": "document", "path": path}})
    assert caught.value.details["field"] == "artifact.path"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner) | st.dictionaries(st.sampled_from([*GOOD, "artifact", "path", "sub", "x"]), inner)
        ),
    )
)
def test_any_json_is_a_candidate_or_an_input_error(value: Any) -> None:
    with pytest.raises(InputError):
        parse_candidate(value)


# -- one candidate --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "artifact", "content", "stored"),
    [
        (
            "design-decision",
            Artifact("design-node", PATH, TITLE),
            "It is so",
            f"It is so. See {PATH}, decision: {TITLE}",
        ),
        ("design-decision", Artifact("design-node", PATH), "It is so.", f"It is so. See {PATH}"),
        ("design-question", Artifact("design-node", PATH, "x"), "Is it so?", f"Is it so? See {PATH}"),
        ("openspec-assess", Artifact("openspec-spec", "s/a.md", "R 1"), "So…", "So… See s/a.md#R 1"),
        ("openspec-archive", Artifact("openspec-baseline", "s/a.md"), "So", "So. See s/a.md"),
        ("cleave-outcome", Artifact("cleave-review", "r/1.md", "x"), "So!", "So! See r/1.md"),
        ("cleave-outcome", Artifact("document", "r/1.md", "Part"), "So:", "So: See r/1.md#Part"),
        ("cleave-bug-fix", Artifact("document", "r/1.md"), "Fixed, see r/1.md for more", "Fixed, see r/1.md for more"),
        ("cleave-bug-fix", Artifact("document", "r/1.md"), "Fixed in r/1.md.", "Fixed in r/1.md."),
        ("cleave-bug-fix", Artifact("document", "1.md"), "Fixed in r/1.md", "Fixed in r/1.md. See 1.md"),
        ("cleave-bug-fix", None, "Fixed", "Fixed"),
    ],
)
def test_the_text_of_a_fact_has_one_pointer(kind: Any, artifact: Artifact | None, content: str, stored: str) -> None:
    step = one(candidate(content, kind=kind, artifact=artifact))
    assert (step.action, step.content) == ("store", stored)


def test_a_text_that_is_too_long_is_cut_before_its_pointer() -> None:
    given_ = candidate("word " * 2_000)
    step = one(given_)
    assert len(step.content) <= CONTENT_CHARS
    assert step.content.endswith(f"word… See {PATH}, decision: {TITLE}")
    assert one(given_, *applied([step], [])).action == "unchanged"


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("openspec-archive", "The Proposal is (added)"),
        ("openspec-archive", "Planning"),
        ("cleave-outcome", "Intermediate state"),
        ("cleave-outcome", "some REASONING"),
        ("design-constraint", "Must it be so?"),
    ],
)
def test_talk_about_the_work_is_refused(kind: Any, content: str) -> None:
    step = one(candidate(content, kind=kind))
    assert (step.action, step.reason) == ("reject", LOW_SIGNAL)
    assert one(candidate(content, kind="design-decision")).action == "store"


@pytest.mark.parametrize(
    ("content", "held", "same"),
    [
        ("write  through — reads dominate and STALENESS is unacceptable.", STORED, True),
        (TEXT, f"{TEXT}.. See /home/me/docs/cache.md, decision: {TITLE}", True),
        (TEXT, f"{TEXT}. See docs/other.md#part of it", True),
        # Ten of eleven words, nine of ten words.
        (
            "one two three four five six seven eight nine ten and",
            "one two three four five six seven eight nine ten or",
            True,
        ),
        ("one two three four five six seven eight nine or", "one two three four five six seven eight nine and", False),
        ("The one is two; three, four: five was", "a one two three four five an.", True),
        # The shorter one is a part of the longer one.
        ("one two three four", "zero one two three four five six seven", True),
        ("one two three", "zero one two three four five six seven", False),
        # What differs decides.
        (
            "one two three four five six seven eight nine ten not",
            "one two three four five six seven eight nine ten",
            False,
        ),
        (
            "one two three four five six seven eight nine ten 11",
            "one two three four five six seven eight nine ten 12",
            False,
        ),
        (
            "one two three four five six seven eight nine doesn't do",
            "one two three four five six seven eight nine does do",
            False,
        ),
    ],
)
def test_what_says_the_same(content: str, held: str, same: bool) -> None:
    other = Artifact("design-node", "docs/b.md", "B")
    explicit = one(candidate(content, artifact=other), manual("m", held))
    inferred = one(candidate(content, artifact=other, authority="inferred"), manual("m", held))
    assert outcome(explicit) == (("reinforce", "m") if same else ("store", None))
    assert inferred.action == ("reject" if same else "pend")
    assert inferred.reason == (EQUIVALENT if same else UNCONFIRMED)
    elsewhere = one(candidate(content, artifact=other), manual("m", held, section="Architecture"))
    assert elsewhere.action == "store"


def test_each_artifact_confirms_a_fact_once() -> None:
    given_ = candidate(artifact=Artifact("design-node", "docs/b.md", "B"))
    held = [fact(), manual("m", "Something else")]
    step = one(given_, *held)
    assert (step.action, step.fact_id, step.reason, step.evidence) == ("reinforce", "f1", REINFORCED, ("docs/b.md#B",))
    held = applied([step], held)
    assert outcome(one(given_, *held)) == ("unchanged", "f1")
    other = candidate(artifact=Artifact("design-node", "docs/c.md"))
    assert (one(other, *held).action, one(other, *held).evidence) == ("reinforce", ("docs/c.md",))
    # Who names nothing says it anew each time.
    assert (one(candidate(artifact=None), *held).action, one(candidate(artifact=None), *held).evidence) == (
        "reinforce",
        (),
    )


@pytest.mark.parametrize("authority", ["explicit", "inferred"])
def test_the_same_artifact_changes_nothing(authority: Any) -> None:
    assert outcome(one(candidate(authority=authority), fact())) == ("unchanged", "f1")
    assert outcome(one(candidate(authority=authority), fact(status="dormant"))) == ("unchanged", "f1")
    new = Artifact("design-node", PATH, TITLE, "sha256:new")
    old = Artifact("design-node", PATH, TITLE, "sha256:old")
    # The file changed elsewhere; or the file did not change, and somebody worded the fact anew.
    assert outcome(one(candidate(authority=authority, artifact=new), fact(artifact=old))) == ("unchanged", "f1")
    reworded = fact(content="In other words entirely", artifact=new)
    assert outcome(one(candidate(authority=authority, artifact=new), reworded)) == ("unchanged", "f1")


def test_a_changed_rationale_supersedes() -> None:
    changed = candidate(f"{TITLE} — Writes dominate now")
    step = one(changed, fact())
    assert outcome(step) == ("supersede", "f1")
    assert step.content == f"{TITLE} — Writes dominate now. See {PATH}, decision: {TITLE}"
    # Even by one word of very many, which would say the same elsewhere.
    assert outcome(one(candidate(f"{TEXT} today"), fact())) == ("supersede", "f1")
    # Another title, another file, another kind or section is another decision.
    for artifact in (Artifact("design-node", PATH, "Other"), Artifact("design-node", "docs/b.md", TITLE)):
        assert one(candidate("Writes dominate now", artifact=artifact), fact()).action == "store"
    assert one(candidate("Writes dominate now", kind="openspec-assess"), fact()).action == "store"
    assert one(candidate("Writes dominate now", section="Specs"), fact()).action == "store"


def test_there_and_back_again() -> None:
    first, second = candidate(), candidate(f"{TITLE} — Writes dominate now")
    held: list[HeldFact] = []
    for number, given_ in enumerate([first, second, first, second]):
        step = one(given_, *held)
        assert step.action == ("supersede" if number else "store")
        held = applied([step], held)
        assert one(given_, *held).action == "unchanged"
    assert [item.status for item in held] == ["superseded"] * 3 + ["active"]


def test_what_is_inferred_waits() -> None:
    given_ = candidate(authority="inferred")
    step = one(given_)
    assert (step.action, step.content, step.reason) == ("pend", STORED, UNCONFIRMED)
    held = applied([step], [])
    assert [item.status for item in held] == ["pending"]
    assert outcome(one(given_, *held)) == ("unchanged", held[0].id)
    elsewhere = candidate(authority="inferred", artifact=Artifact("document", "docs/b.md"))
    assert outcome(one(elsewhere, *held)) == ("unchanged", held[0].id)
    # Accepted, dropped, replaced: it is not proposed again.
    for status in ("active", "archived", "superseded", "some status of later"):
        assert outcome(one(given_, fact(status=status))) == ("unchanged", "f1")
    # Another text is another proposal.
    assert outcome(one(candidate(f"{TITLE} — Because of this", authority="inferred"), fact(status="archived"))) == (
        "pend",
        None,
    )


def test_what_waits_is_replaced_by_a_newer_proposal() -> None:
    given_ = candidate(f"{TITLE} — Because of this", authority="inferred")
    assert outcome(one(given_, fact(status="pending"))) == ("pend", "f1")
    assert outcome(one(given_, fact())) == ("pend", "f1")
    held = applied([one(given_, fact(status="pending"))], [fact(status="pending")])
    assert [item.status for item in held] == ["superseded", "pending"]
    assert one(given_, *held).action == "unchanged"


def test_nothing_leans_on_a_proposal_that_is_replaced() -> None:
    newer = candidate(f"{TITLE} — Because of this", authority="inferred")
    other = candidate(authority="inferred", artifact=Artifact("document", "docs/b.md"))
    steps = plan_candidates([other, newer], [fact(status="pending")])
    assert [outcome(step) for step in steps] == [("pend", None), ("pend", "f1")]


def test_what_was_inferred_and_is_explicit_now() -> None:
    for waiting in (fact(status="pending"), fact(content="Other words", status="pending")):
        step = one(candidate(), waiting)
        assert outcome(step) == ("supersede", "f1")
    assert outcome(one(candidate(artifact=None), fact(status="pending"))) == ("supersede", "f1")


def test_an_explicit_candidate_whose_fact_was_put_away_is_not_stored_again() -> None:
    for status in ("archived", "superseded", "some status of later"):
        assert outcome(one(candidate(), fact(status=status))) == ("unchanged", "f1")
    assert one(candidate(f"{TITLE} — New reason"), fact(status="archived")).action == "store"
    # Without an artifact somebody says it, now.
    held = fact(content=TEXT, status="archived", artifact=None)
    assert one(candidate(artifact=None), held).action == "store"
    assert one(candidate(artifact=None, authority="inferred"), held).action == "unchanged"


def test_a_candidate_may_name_the_fact_that_it_replaces() -> None:
    given_ = candidate(supersedes="m")
    held = [manual("m", "What was true before", "Architecture")]
    step = one(given_, *held)
    assert (outcome(step), step.content) == (("supersede", "m"), STORED)
    assert one(given_, *applied([step], held)).action == "unchanged"
    loose = candidate(artifact=None, supersedes="m")
    assert one(loose, *applied([one(loose, *held)], held)).action == "unchanged"


@pytest.mark.parametrize("authority", ["explicit", "inferred"])
@pytest.mark.parametrize(
    ("held", "says"),
    [
        ([], "names no fact"),
        ([manual("m", "x", status="archived")], "is archived"),
        ([manual("m", "x", status="superseded")], "is superseded"),
        ([manual("m", "x", status="pending")], "is pending"),
    ],
)
def test_a_fact_that_cannot_be_replaced(authority: Any, held: list[HeldFact], says: str) -> None:
    step = one(candidate(supersedes="m", authority=authority), *held)
    assert step.action == "reject"
    assert says in step.reason


def test_naming_a_fact_that_says_the_same_replaces_nothing() -> None:
    assert outcome(one(candidate(supersedes="m"), manual("m", TEXT))) == ("reinforce", "m")
    assert outcome(one(candidate(supersedes="f1"), fact())) == ("unchanged", "f1")
    # The decision is held by another fact than the one named.
    step = one(candidate("New", supersedes="m"), manual("m", "Old"), fact())
    assert outcome(step) == ("reject", "f1")
    assert outcome(one(candidate("New", supersedes="f1"), manual("m", "Old"), fact())) == ("supersede", "f1")


def test_an_inferred_candidate_that_names_a_fact_waits_with_it() -> None:
    step = one(candidate("Quite new", authority="inferred", supersedes="m"), manual("m", "Old"))
    assert outcome(step) == ("pend", "m")


# -- several candidates ---------------------------------------------------------------------------


def test_what_is_said_twice_in_a_batch_is_stored_once() -> None:
    same = [candidate(), candidate(session="s"), candidate(TEXT.upper()), candidate(authority="inferred")]
    steps = plan_candidates(same, [])
    assert Counter(step.action for step in steps) == {"store": 1, "unchanged": 3}
    elsewhere = [candidate(), candidate(artifact=Artifact("document", "docs/a.md")), candidate(artifact=None)]
    steps = plan_candidates(elsewhere, [])
    assert Counter(step.action for step in steps) == {"store": 1, "unchanged": 2}
    (stored,) = [step for step in steps if step.action == "store"]
    held = applied(steps, [])
    assert [step.action for step in plan_candidates(elsewhere[:2], held)] == ["unchanged"] * 2
    assert stored.candidate == elsewhere[2]
    assert stored.evidence == ("docs/a.md", f"{PATH}#{TITLE}")


def test_what_contradicts_itself_in_a_batch_is_refused() -> None:
    steps = plan_candidates([candidate("One"), candidate("Two"), candidate("Three", authority="inferred")], [])
    assert [step.action for step in steps] == ["reject"] * 3
    steps = plan_candidates([candidate("One", authority="inferred"), candidate("Two")], [])
    assert [step.action for step in steps] == ["reject", "store"]


def test_two_statements_of_one_file_are_two() -> None:
    words = "one two three four five six seven eight nine ten"
    node = Artifact("design-node", PATH)
    given_ = [candidate(f"{words} {last}", kind="design-constraint", artifact=node) for last in ("and", "or")]
    steps = plan_candidates(given_, [])
    assert [step.action for step in steps] == ["store", "store"]
    assert [step.action for step in plan_candidates(given_, applied(steps, []))] == ["unchanged"] * 2


# -- documents ------------------------------------------------------------------------------------


def test_the_candidates_of_a_document() -> None:
    decisions = [(f"T {status}", status, "Why") for status in ("decided", "accepted", "resolved", "implemented")]
    others = [(f"T {status}", status, "Why") for status in ("exploring", "proposed", "rejected", "deferred")]
    told = document(
        status="implementing",
        decisions=[*decisions, *others, ("Bare", "", "Seems so"), ("Alone", "decided", "")],
        questions=["How large?"],
        constraints=["At most 50 ms"],
    )
    node = Artifact("design-node", PATH, "", told.sha256)
    found = candidates_of(told)
    assert [(item.kind, item.authority, item.section, item.content) for item in found] == [
        *(("design-decision", "explicit", "Decisions", f"T {status} — Why") for _, status, _ in decisions),
        ("design-decision", "inferred", "Decisions", "Bare — Seems so"),
        ("design-decision", "explicit", "Decisions", "Alone"),
        ("design-constraint", "explicit", "Constraints", "At most 50 ms"),
        ("design-question", "explicit", "Specs", "OPEN [cache]: How large?"),
    ]
    assert [item.artifact for item in found if item.kind != "design-decision"] == [node, node]
    assert found[0].artifact == msgspec.structs.replace(node, sub="T decided")


@pytest.mark.parametrize(
    ("status", "authority"),
    [("seed", None), ("exploring", None), ("blocked", None), ("deferred", None), ("archived", None)]
    + [(status, "inferred") for status in ("resolved", "decided", "implementing", "implemented")],
)
def test_a_decision_without_a_status_follows_its_document(status: str, authority: str | None) -> None:
    found = candidates_of(document(status=status, decisions=[("Bare", "", "Why")]))
    assert [item.authority for item in found] == ([authority] if authority else [])


OPEN = "OPEN [cache]: How large may it grow? See docs/cache.md"


def held_after(*documents: DesignDocument) -> list[HeldFact]:
    return applied(plan_documents(documents, []), [])


def test_a_question_that_is_open_no_longer_is_archived() -> None:
    held = held_after(document(questions=["How large may it grow?"]))
    assert [(item.content, item.source, item.section) for item in held] == [
        (OPEN, "lifecycle:design-question", "Specs")
    ]
    assert shown(plan_documents([document()], held)) == [("archive", OPEN, held[0].id, "resolved")]


def test_the_decision_that_answered_it_is_named() -> None:
    held = held_after(document(questions=["How large may it grow?"], decisions=[("Old", "decided", "Why")]))
    new = document(
        decisions=[("Old", "decided", "Why"), ("At most 1 GB", "decided", "Measured"), ("Maybe", "exploring", "")]
    )
    steps = plan_documents([new, document("docs/b.md", decisions=[("Elsewhere", "decided", "x")])], held)
    assert [step.action for step in steps] == ["store", "unchanged", "store", "archive"]
    assert steps[-1].reason == "resolved: At most 1 GB"
    changed = document(
        decisions=[("Old", "decided", "Another reason altogether"), ("At most 1 GB", "decided", "Measured")]
    )
    assert plan_documents([changed], held)[-1].reason == "resolved: Old; At most 1 GB"


def test_a_question_that_is_asked_again_is_stored_again() -> None:
    asked = document(questions=["How large may it grow?"])
    held = held_after(asked)
    held = applied(plan_documents([document()], held), held)
    assert [item.status for item in held] == ["archived"]
    again = plan_documents([asked], held)
    assert [step.action for step in again] == ["store"]
    # What an operator put away stays away.
    dropped = [msgspec.structs.replace(held[0], reason="not worth it")]
    assert [step.action for step in plan_documents([asked], dropped)] == ["unchanged"]


@pytest.mark.parametrize(
    "later",
    [
        [],
        [document("docs/b.md")],
        [document(status="archived")],
        [document(status="deferred")],
        [read_design_document(PATH, b"---\nid: cache\nstatus: seed\nopen_questions: {\n  x\n---\n")],
        [document("docs/b.md", id="cache"), document("docs/c.md", id="cache")],
    ],
)
def test_who_closes_no_question(later: list[DesignDocument]) -> None:
    held = held_after(document(questions=["How large may it grow?"]))
    assert plan_documents(later, held) == []


def test_the_questions_of_a_document_at_rest_are_not_asked() -> None:
    for status in ("archived", "deferred"):
        assert plan_documents([document(status=status, questions=["Why?"])], []) == []


def test_a_question_that_is_worded_anew_is_the_same_question() -> None:
    words = "How large may it grow before somebody has to look at it again"
    held = held_after(document(questions=[f"{words} closely?"]))
    steps = plan_documents([document(questions=[f"{words} soon?"])], held)
    assert [outcome(step) for step in steps] == [("supersede", held[0].id)]
    renamed = plan_documents([document(questions=[f"{words} closely?"], id="store")], held)
    assert [(step.action, step.content) for step in renamed] == [
        ("supersede", f"OPEN [store]: {words} closely? See {PATH}")
    ]


def test_a_document_that_moved_still_answers_its_questions() -> None:
    held = held_after(document(questions=["How large may it grow?", "Who owns it?"]))
    moved = document("docs/design/cache.md", questions=["Who owns it?"])
    steps = plan_documents([moved], held)
    assert [(step.action, step.fact_id) for step in steps] == [("reinforce", held[1].id), ("archive", held[0].id)]


def test_questions_that_another_writer_left_are_answered_too() -> None:
    left = [
        HeldFact("a", "Specs", "OPEN [cache]: How large?", "active", "lifecycle"),
        HeldFact("b", "Specs", "OPEN [cache]: Who owns it?", "active", "lifecycle"),
        HeldFact("c", "Specs", "OPEN [cache]: By hand?", "active", "manual"),
        HeldFact("d", "Specs", "OPEN [other]: How large?", "active", "lifecycle"),
    ]
    steps = plan_documents([document(questions=["Who owns it?"])], left)
    assert [outcome(step) for step in steps] == [("reinforce", "b"), ("archive", "a")]


def test_what_a_document_words_anew_supersedes_what_it_said() -> None:
    words = "one two three four five six seven eight nine ten"
    first = document(constraints=[f"{words} and"], decisions=[("Old title", "decided", f"{words} {words} x y z")])
    held = held_after(first)
    second = document(constraints=[f"{words} or"], decisions=[("New title", "decided", f"{words} {words} x y z")])
    steps = plan_documents([second], held)
    assert [outcome(step) for step in steps] == [("supersede", held[0].id), ("supersede", held[1].id)]
    # Back again: not held back because it was replaced once.
    after = applied(steps, held)
    back = plan_documents([first], after)
    assert [outcome(step) for step in back] == [("supersede", after[2].id), ("supersede", after[3].id)]
    # With both in the document, both are meant.
    both = document(constraints=[f"{words} and", f"{words} or"])
    assert [step.action for step in plan_documents([both], held)] == ["unchanged", "store"]


def test_two_documents_that_say_the_same_are_one_fact() -> None:
    pair = [document(f"docs/{name}.md", decisions=[("Same", "decided", "For one good reason")]) for name in "ab"]
    steps = plan_documents(pair, [])
    assert [step.action for step in steps] == ["store", "unchanged"]
    assert steps[0].evidence == ("docs/b.md#Same",)
    held = applied(steps, [])
    assert [step.action for step in plan_documents(pair, held)] == ["unchanged"] * 2
    # One of them changes its mind: the other then speaks for itself.
    changed = [document("docs/a.md", decisions=[("Same", "decided", "No longer because of that at all")]), pair[1]]
    steps = plan_documents(changed, held)
    assert [step.action for step in steps] == ["supersede", "store"]
    assert {step.action for step in plan_documents(changed, applied(steps, held))} == {"unchanged"}


# -- any documents, any order, any number of times ------------------------------------------------

_words = st.lists(
    st.sampled_from(["alpha", "beta", "gamma", "delta", "not", "7", "the", "zeta"]), min_size=1, max_size=12
)
_sentence = (_words.map(" ".join)) | st.sampled_from(
    [f"one two three four five six seven eight nine ten {last}" for last in ("and", "or", "but", "and so", "not", "5?")]
)
_statuses = st.sampled_from(["decided", "accepted", "exploring", "", ""])


@st.composite
def _documents(draw: st.DrawFn) -> list[DesignDocument]:
    found = []
    for path in draw(st.lists(st.sampled_from(["docs/a.md", "docs/b.md", "ai/docs/c.md"]), unique=True)):
        titles = draw(st.lists(st.sampled_from(["One", "Two", "Three"]), unique=True))
        found.append(
            document(
                path,
                status=draw(st.sampled_from(["exploring", "decided", "implemented", "deferred"])),
                decisions=[(title, draw(_statuses), draw(_sentence)) for title in titles],
                questions=draw(st.lists(_sentence.map("{}?".format), max_size=3, unique=True)),
                constraints=draw(st.lists(_sentence, max_size=3, unique=True)),
                id=draw(st.sampled_from(["a", "b", "a"])),
            )
        )
    return found


@st.composite
def _held(draw: st.DrawFn) -> list[HeldFact]:
    made = []
    for number in range(draw(st.integers(0, 4))):
        status = draw(st.sampled_from(["active", "active", "pending", "archived", "superseded", "dormant"]))
        section = draw(st.sampled_from(["Decisions", "Constraints", "Specs"]))
        content = draw(_sentence)
        if section == "Specs":
            content = f"OPEN [{draw(st.sampled_from('ab'))}]: {content}?"
        source = draw(st.sampled_from(["manual", "lifecycle"]))
        made.append(HeldFact(f"h{number}", section, content, status, source))
    return made


def _done(steps: Sequence[IngestStep], before: Sequence[IngestStep]) -> None:
    refused = [step.candidate for step in before if step.action == "reject"]
    for step in steps:
        assert step.action == "unchanged" or (step.action == "reject" and step.candidate in refused), step


@pytest.mark.proof
@settings(max_examples=examples(400))
@given(_held(), st.lists(_documents(), min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_a_plan_carried_out_leaves_nothing_to_do(
    held: list[HeldFact], versions: list[list[DesignDocument]], chance: random.Random
) -> None:
    for documents in versions:
        steps = plan_documents(documents, held)
        turned, mixed = documents[:], list(held)
        chance.shuffle(turned)
        chance.shuffle(mixed)
        assert plan_documents(turned, mixed) == steps
        touched = [step.fact_id for step in steps if step.action in ("supersede", "archive")]
        assert len(touched) == len(set(touched))
        held = applied(steps, held)
        _done(plan_documents(documents, held), steps)
        # Nothing that a document says firmly is lost: some live fact holds it, or somebody put it away.
        for step in plan_documents(documents, held):
            if step.action == "unchanged":
                assert step.fact_id in {item.id for item in held}


@st.composite
def _candidates(draw: st.DrawFn) -> list[FactCandidate]:
    made = []
    for _ in range(draw(st.integers(0, 6))):
        artifact = Artifact(
            draw(st.sampled_from(["design-node", "document"])),
            draw(st.sampled_from(["docs/a.md", "docs/b.md"])),
            draw(st.sampled_from(["", "One", "Two"])),
            draw(st.sampled_from(["", "sha256:1", "sha256:2"])),
        )
        made.append(
            FactCandidate(
                kind=draw(st.sampled_from(["design-decision", "design-constraint", "cleave-bug-fix"])),
                authority=draw(st.sampled_from(["explicit", "inferred"])),
                section=draw(st.sampled_from(["Decisions", "Constraints"])),
                content=draw(_sentence),
                artifact=artifact,
                supersedes=draw(st.sampled_from([None, None, None, "h0", "h1"])),
            )
        )
    return made


@settings(max_examples=examples(400))
@given(_held(), st.lists(_candidates(), min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_any_candidates_in_any_order_any_number_of_times(
    held: list[HeldFact], batches: list[list[FactCandidate]], chance: random.Random
) -> None:
    for batch in batches:
        steps = plan_candidates(batch, held)
        assert [step.candidate for step in steps] == batch
        turned = batch[:]
        chance.shuffle(turned)
        again = plan_candidates(turned, list(reversed(held)))
        encoded = [sorted(map(msgspec.json.encode, plan)) for plan in (steps, again)]
        assert encoded[0] == encoded[1]
        held = applied(steps, held)
        _done(plan_candidates(batch, held), steps)
        assert plan_candidates(batch + batch, held) == plan_candidates(batch, held) * 2


# -- real data ------------------------------------------------------------------------------------


@needs_real
def test_the_recorded_cases() -> None:
    """One after the other, as they were recorded; each deviation is said where it is made."""
    held: list[HeldFact] = []
    actions = []
    cases = json.loads((REAL / "golden" / "lifecycle-ingest.json").read_text(encoding="utf-8"))
    for number, case in enumerate(cases, start=1):
        given_ = parse_candidate(case["candidate"])
        step = one(given_, *held)
        actions.append(step.action)
        result = case["result"]
        if number == 2:
            # Recorded as reinforced. The same artifact said it before: replaying it changes nothing.
            assert outcome(step) == ("unchanged", "n0000")
        elif number == 3:
            # Recorded as turned away. It waits until an operator accepts it, for the same reason.
            assert (step.action, step.reason) == ("pend", result["reason"])
        elif result["autoStored"]:
            assert step.action == ("reinforce" if result["duplicate"] else "store")
            assert step.reason == (result["reason"] or "")
        else:
            assert (step.action, step.reason) == ("reject", result["reason"])
        held = applied([step], held)
        if case["stored"]:
            # Recorded with the source `lifecycle` alone; ours names the kind as well.
            (found,) = [item for item in held if item.content == case["stored"]["content"]]
            assert found.section == case["stored"]["section"]
            assert (
                found.source
                == f"lifecycle:{cases[0 if result['duplicate'] else number - 1]['candidate']['sourceKind']}"
            )
    assert Counter(actions) == {"store": 4, "reject": 4, "unchanged": 1, "pend": 1, "reinforce": 1}


def real_documents() -> list[DesignDocument]:
    found = []
    for file in sorted((REAL / "design-docs").iterdir()):
        told = read_design_document(file.name.replace("__", "/"), file.read_bytes())
        assert told is not None
        found.append(told)
    return found


@needs_real
def test_the_real_documents_are_ingested_once() -> None:
    documents = real_documents()
    steps = plan_documents(documents, [])
    kinds = Counter(step.candidate.kind for step in steps if step.candidate)
    assert {step.action for step in steps} == {"store"}
    assert kinds == {"design-decision": 38, "design-constraint": 31, "design-question": 4}
    for step in steps:
        assert ".. See" not in step.content
        assert step.candidate is not None
        assert step.candidate.artifact is not None
        assert step.content.count(f" See {step.candidate.artifact.path}") == 1
    held = applied(steps, [])
    assert {step.action for step in plan_documents(documents[::-1], held)} == {"unchanged"}


@needs_real
def test_a_real_document_that_goes_on() -> None:
    """Both questions are answered, a decision is added and the reason of another changes."""
    before = (REAL / "design-docs" / "docs__spinner-sermon.md").read_text(encoding="utf-8")
    path = "docs/spinner-sermon.md"
    first = read_design_document(path, before.encode())
    assert first is not None
    held = applied(plan_documents([first], []), [])
    head, _, rest = before.partition("open_questions:\n")
    rest = "open_questions: []\n---\n" + rest.partition("---\n")[2]
    after = (head + rest).partition("## Open Questions")[0].replace("5 seconds without", "8 seconds without")
    after += "### Decision: It loops\n\n**Status:** decided\n**Rationale:** The text is written for it.\n"
    second = read_design_document(path, after.encode())
    assert second is not None
    assert second.problems == ()
    steps = plan_documents([second], held)
    assert [step.action for step in steps] == [
        *["unchanged", "unchanged", "supersede", "unchanged", "store"],
        *["archive", "archive"],
    ]
    assert {step.reason for step in steps[-2:]} == {
        "resolved: 5-second dwell threshold before sermon appears; It loops"
    }
    assert {step.action for step in plan_documents([second], applied(steps, held))} == {"unchanged"}


@needs_real
def test_facts_that_another_writer_made_of_a_document_are_found_again() -> None:
    """They have no artifact, an absolute path in their pointer, and two full stops before it."""
    documents = real_documents()
    left = [
        HeldFact(
            f"l{number:02}",
            given_.section,
            f"{given_.content}. See /home/somebody/{given_.artifact.path}"
            + (f", decision: {given_.artifact.sub}" if given_.artifact.sub else ""),
            "active",
            "lifecycle",
        )
        for number, given_ in enumerate(item for told in documents for item in candidates_of(told))
        if given_.artifact
    ]
    steps = plan_documents(documents, left)
    assert [(step.action, step.fact_id) for step in steps] == [("reinforce", item.id) for item in left]
    assert {step.action for step in plan_documents(documents, applied(steps, left))} == {"unchanged"}


# -- speed ----------------------------------------------------------------------------------------


def test_many_documents_among_many_facts() -> None:
    """Four times as many of both have sixteen times as many pairs: the calls must not be many more than that."""
    chance = random.Random(4)
    words = [f"word{chr(97 + number % 26)}{chr(97 + number // 26)}" for number in range(600)] + ["and", "to", "of"] * 40

    def sentence() -> str:
        return " ".join(chance.choices(words, k=30))

    def planned(count: int) -> tuple[int, int]:
        """How many calls it takes to plan so many documents the first time, and again."""
        held = [manual(f"m{number}", sentence()) for number in range(10 * count)]
        documents = [
            document(f"docs/{number}.md", decisions=[(f"T{n}", "decided", sentence()) for n in range(5)])
            for number in range(count)
        ]
        steps: list[Any] = []
        first = calls_made(lambda: steps.extend(plan_documents(documents, held)))
        assert Counter(step.action for step in steps) == {"store": 5 * count}
        kept = applied(steps, held)
        again: list[Any] = []
        second = calls_made(lambda: again.extend(plan_documents(documents, kept)))
        assert {step.action for step in again} == {"unchanged"}
        return first, second

    planned(10)
    few, many = planned(15), planned(60)
    assert many[0] < 20 * few[0]
    assert many[1] < 20 * few[1]
