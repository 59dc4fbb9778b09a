"""Design documents become facts: the first time, again, after every kind of edit; what waits, what is refused."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from clocks import Clock

from promised import proves
from quire.files.world import World
from quire.model.errors import InputError, NotFound, OutsideProject, QuireError
from quire.project import Project
from quire.verbs.ask.answers import answer_question
from quire.verbs.ask.status import status as status_of
from quire.verbs.facts.archive import Archive, Restore, archive, restore
from quire.verbs.facts.connect import Connect, connect
from quire.verbs.facts.context import ShowContext, context
from quire.verbs.facts.focus import Focus, focus
from quire.verbs.facts.ingest import take_in_documents
from quire.verbs.facts.inspect import inspect_fact
from quire.verbs.facts.list import ListFacts, list_facts
from quire.verbs.facts.normalize import Normalize, normalize
from quire.verbs.facts.overview import overview
from quire.verbs.facts.recall import Recall, find_facts
from quire.verbs.facts.search_archive import SearchArchive, search_archive
from quire.verbs.facts.store import Store, store
from quire.verbs.facts.supersede import Supersede, supersede
from quire.verbs.verb import Arguments

REAL = Path(__file__).parents[3] / "shared" / "fixtures" / "facts"
needs_real = pytest.mark.skipif(not REAL.is_dir(), reason="the real files lie outside the repository")

DOCUMENT = "docs/cache.md"
TITLE = "Write through"
FIRST = "Reads dominate and staleness is unacceptable"
SECOND = "Measured: writes are rare, and a stale price costs money"
STORED = f"{TITLE} — {FIRST}. See {DOCUMENT}, decision: {TITLE}"
LIMIT = "Invalidation ends within 50 ms"
QUESTION = "How large may it grow?"
TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3
PROPOSED = {
    "kind": "design-decision",
    "authority": "inferred",
    "section": "Decisions",
    "content": "The cache layer seems to own invalidation",
}


def design(
    root: Path,
    path: str = DOCUMENT,
    *,
    node: str = "cache",
    status: str = "exploring",
    decisions: Sequence[tuple[str, str, str]] = (),
    questions: Sequence[str] = (),
    constraints: Sequence[str] = (),
) -> Path:
    """Write a design document."""
    parts = [f"---\nid: {node}\ntitle: A design\nstatus: {status}\n---\n\n# A design\n\n## Decisions\n"]
    for title, state, why in decisions:
        parts += [f"\n### Decision: {title}\n\n", f"**Status:** {state}\n" if state else "", f"**Rationale:** {why}\n"]
    parts += ["\n## Open Questions\n\n", *(f"- {text}\n" for text in questions)]
    parts += ["\n## Implementation Notes\n\n### Constraints\n\n", *(f"- {text}\n" for text in constraints)]
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(parts), encoding="utf-8")
    return file


def data(root: Path) -> bytes:
    """The file of facts; nothing where there is none."""
    file = root / ".memory/facts.jsonl"
    return file.read_bytes() if file.exists() else b""


def lines(root: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data(root).splitlines()]


def line(root: Path, fact_id: str) -> dict[str, Any]:
    (found,) = [item for item in lines(root) if item["id"] == fact_id]
    return found


def texts(root: Path, status: str = "active") -> list[str]:
    return [item["content"] for item in lines(root) if item["status"] == status]


def actions(done: Any) -> list[str]:
    return [step["action"] for step in done.steps]


def counted(done: Any) -> dict[str, int]:
    return {action: count for action, count in done.counts.items() if count}


def settled(project: Project, repo: Path) -> None:
    """Once more changes nothing: not a byte, and not the file itself."""
    before, stat = data(repo), os.stat(repo / ".memory/facts.jsonl")
    again = take_in_documents(project)
    assert set(actions(again)) <= {"unchanged"}
    assert again.fact_ids == []
    after = os.stat(repo / ".memory/facts.jsonl")
    assert data(repo) == before
    assert (after.st_ino, after.st_mtime_ns) == (stat.st_ino, stat.st_mtime_ns)


def decided(root: Path, why: str = FIRST, *, state: str = "decided", **parts: Any) -> Path:
    """A document with one decision; an empty state leaves it to be inferred from the document's status."""
    return design(root, decisions=[(TITLE, state, why)], **parts)


# -- the first time, and again --------------------------------------------------------------------


def test_the_first_time(project: Project, repo: Path) -> None:
    file = decided(repo, questions=[QUESTION], constraints=[LIMIT])
    done = take_in_documents(project)
    assert (done.documents, done.counts, done.pending, done.warnings) == (1, {"store": 3}, [], [])
    digest = f"sha256:{hashlib.sha256(file.read_bytes()).hexdigest()}"
    found = [(item["section"], item["content"], item["source"], item["artifact"]) for item in lines(repo)]
    node = {"kind": "design-node", "path": DOCUMENT, "sub": "", "sha256": digest}
    assert found == [
        ("Decisions", STORED, "lifecycle:design-decision", {**node, "sub": TITLE}),
        ("Constraints", f"{LIMIT}. See {DOCUMENT}", "lifecycle:design-constraint", node),
        ("Specs", f"OPEN [cache]: {QUESTION} See {DOCUMENT}", "lifecycle:design-question", node),
    ]
    assert [item["id"] for item in lines(repo)] == done.fact_ids
    assert [step["fact_id"] for step in done.steps] == done.fact_ids
    assert {step["path"] for step in done.steps} == {DOCUMENT}
    settled(project, repo)


def test_again_from_elsewhere_later_and_without_an_index(
    project: Project, repo: Path, world: World, clock: Clock
) -> None:
    decided(repo, questions=[QUESTION], constraints=[LIMIT])
    take_in_documents(project)
    clock.now += timedelta(days=40)
    settled(Project.open(str(repo), world), repo)
    shutil.rmtree(repo / ".memory/index")
    settled(Project.open(str(repo), world), repo)


def test_an_edit_elsewhere_in_the_document_changes_nothing(project: Project, repo: Path) -> None:
    file = decided(repo, questions=[QUESTION], constraints=[LIMIT])
    take_in_documents(project)
    file.write_text(file.read_text().replace("# A design", "# A design\n\nAn overview that was missing."))
    settled(project, repo)


def test_without_documents_nothing_comes_into_being(project: Project, repo: Path) -> None:
    (repo / "docs").mkdir()
    (repo / "docs/readme.md").write_text("# Just text\n\n## Decisions\n\n### Decision: none of ours\n")
    done = take_in_documents(project)
    assert (done.documents, done.counts, done.steps, done.warnings) == (0, {}, [], [])
    assert not (repo / ".memory/facts.jsonl").exists()


def test_many_documents_that_say_the_same_settle(project: Project, repo: Path) -> None:
    def tell(numbers: Sequence[int]) -> None:
        for number in numbers:
            said = ["All times in storage are kept in UTC"]
            design(repo, f"docs/d{number:02}.md", node=f"d{number}", constraints=said)

    tell(range(40))
    assert counted(take_in_documents(project)) == {"store": 1, "unchanged": 39}
    settled(project, repo)
    # One voice more must not cost an earlier one its place, or the two would push each other out for ever.
    tell([40])
    assert counted(take_in_documents(project)) == {"reinforce": 1, "unchanged": 40}
    settled(project, repo)


# -- edits ----------------------------------------------------------------------------------------


@proves("P8.3", "G4", over="facts")
def test_a_changed_rationale_supersedes(project: Project, repo: Path, clock: Clock) -> None:
    decided(repo)
    (first,) = take_in_documents(project).fact_ids
    ids = [first]
    for why in (SECOND, "Somebody measured again"):
        clock.now += timedelta(days=1)
        decided(repo, why)
        done = take_in_documents(project)
        assert counted(done) == {"supersede": 1}
        ids += done.fact_ids
        settled(project, repo)
    assert len(set(ids)) == 3
    assert [line(repo, name)["status"] for name in ids] == ["superseded", "superseded", "active"]
    assert [line(repo, name).get("supersedes") for name in ids] == [None, ids[0], ids[1]]
    old = line(repo, ids[0])
    assert (old["content"], old["superseded_at"]) == (STORED, "2026-03-03T11:19:00.000Z")
    assert old["reason"]
    assert inspect_fact(project, f"fact:{ids[2]}").chain == [ids[1], ids[0]]
    assert [view.id for view in find_facts(project, Recall(query="write through cache")).results] == [ids[2]]
    away = {view.id: view.replaced_by for view in search_archive(project, SearchArchive(query="write through")).results}
    assert away == {ids[0]: (ids[2],), ids[1]: (ids[2],)}


def test_there_and_back_again(project: Project, repo: Path) -> None:
    for why in (FIRST, SECOND, FIRST, SECOND):
        decided(repo, why)
        take_in_documents(project)
        assert texts(repo) == [f"{TITLE} — {why}. See {DOCUMENT}, decision: {TITLE}"]
        settled(project, repo)
    assert len(lines(repo)) == 4


def test_pins_and_connections_go_with_a_changed_decision(project: Project, repo: Path) -> None:
    decided(repo)
    (old,) = take_in_documents(project).fact_ids
    other = store(project, Store(section="Architecture", content="The cache sits before the database.")).fact.id
    connect(project, Connect(source=other, target=old, relation="depends_on"))
    focus(project, Focus(fact_ids=[old]))
    decided(repo, SECOND)
    (new,) = take_in_documents(project).fact_ids
    assert [view.id for view in focus(project, Focus()).pins] == [new]
    links = [(link.source, link.relation, link.target) for link in inspect_fact(project, f"fact:{other}").connections]
    assert links == [(f"fact:{other}", "depends_on", f"fact:{new}")]


def test_an_answered_question_is_archived_with_the_answer(project: Project, repo: Path) -> None:
    design(repo, questions=[QUESTION, "Who owns it?"])
    asked = take_in_documents(project).fact_ids[0]
    decided(repo, questions=["Who owns it?"])
    done = take_in_documents(project)
    assert counted(done) == {"store": 1, "unchanged": 1, "archive": 1}
    held = line(repo, asked)
    assert (held["status"], held["reason"]) == ("archived", f"resolved: {TITLE}")
    assert [view.reason for view in search_archive(project, SearchArchive(query="how large may it grow")).results] == [
        held["reason"]
    ]
    settled(project, repo)
    # Asked again, it is open again; the answered one stays where it is.
    decided(repo, questions=["Who owns it?", QUESTION])
    assert counted(take_in_documents(project))["store"] == 1
    assert line(repo, asked) == held
    assert [item["content"] for item in lines(repo) if item["section"] == "Specs" and item["status"] == "active"] == [
        f"OPEN [cache]: Who owns it? See {DOCUMENT}",
        f"OPEN [cache]: {QUESTION} See {DOCUMENT}",
    ]


def test_a_question_that_was_dropped_without_a_decision(project: Project, repo: Path) -> None:
    design(repo, questions=[QUESTION])
    (asked,) = take_in_documents(project).fact_ids
    design(repo)
    assert counted(take_in_documents(project)) == {"archive": 1}
    assert (line(repo, asked)["status"], line(repo, asked)["reason"]) == ("archived", "resolved")


def test_what_an_operator_put_away_does_not_come_back(project: Project, repo: Path) -> None:
    decided(repo, constraints=[LIMIT])
    ids = take_in_documents(project).fact_ids
    archive(project, Archive(fact_ids=ids, reason="not worth it"))
    settled(project, repo)
    assert texts(repo) == []


@pytest.mark.parametrize("state", ["rejected", "withdrawn", "superseded"])
def test_a_decision_that_its_document_withdraws_is_no_longer_told(project: Project, repo: Path, state: str) -> None:
    decided(repo)
    (name,) = take_in_documents(project).fact_ids
    decided(repo, state=state)
    take_in_documents(project)
    assert line(repo, name)["status"] != "active"
    assert line(repo, name)["reason"]
    assert context(project, ShowContext(prompt="write through cache")).facts == ()


def test_a_renamed_document_says_nothing_new(project: Project, repo: Path) -> None:
    file = decided(repo, questions=[QUESTION], constraints=[LIMIT])
    ids = take_in_documents(project).fact_ids
    file.rename(repo / "docs/store.md")
    take_in_documents(project)
    assert [item["id"] for item in lines(repo)] == ids
    assert {item["status"] for item in lines(repo)} == {"active"}
    settled(project, repo)


def test_a_renamed_document_answers_its_questions(project: Project, repo: Path) -> None:
    file = design(repo, questions=[QUESTION])
    (asked,) = take_in_documents(project).fact_ids
    file.unlink()
    design(repo, "docs/design/store.md", decisions=[("At most 1 GB", "decided", "Measured")])
    take_in_documents(project)
    assert (line(repo, asked)["status"], line(repo, asked)["reason"]) == ("archived", "resolved: At most 1 GB")


def test_a_deleted_document_takes_nothing_with_it(project: Project, repo: Path) -> None:
    file = decided(repo, questions=[QUESTION], constraints=[LIMIT])
    take_in_documents(project)
    file.unlink()
    settled(project, repo)
    assert take_in_documents(project).documents == 0


def _not_text(file: Path) -> None:
    file.write_bytes(b"---\nid: cache\nstatus: decided\n---\n\xff\xfe\xfd")


def _no_end(file: Path) -> None:
    file.write_text("---\nid: cache\nstatus: decided\n")


def _unread_questions(file: Path) -> None:
    file.write_text("---\nid: cache\nstatus: decided\nopen_questions: {a: b}\n---\n")


def _huge(file: Path) -> None:
    file.write_bytes(b"---\nid: cache\nstatus: decided\n---\n" + b"x" * (1024 * 1024))


@pytest.mark.parametrize("damage", [_not_text, _no_end, _unread_questions, _huge])
def test_an_unreadable_document_stops_no_other_and_closes_nothing(
    project: Project, repo: Path, damage: Callable[[Path], None]
) -> None:
    file = decided(repo, questions=[QUESTION], constraints=[LIMIT])
    take_in_documents(project)
    before = lines(repo)
    damage(file)
    design(repo, "docs/other.md", node="other", constraints=["Pages hold 4 KiB"])
    done = take_in_documents(project)
    assert counted(done) == {"store": 1}
    assert [(problem.path, problem.severity) for problem in done.warnings] == [(DOCUMENT, "warning")]
    assert lines(repo)[:-1] == before
    settled(project, repo)


def test_a_link_in_the_place_of_a_document_is_not_followed(project: Project, repo: Path, tmp_path: Path) -> None:
    file = decided(repo, questions=[QUESTION])
    take_in_documents(project)
    file.unlink()
    elsewhere = design(tmp_path, "elsewhere.md", decisions=[("From outside", "decided", "Must not come in")])
    file.symlink_to(elsewhere)
    (repo / "docs/more").symlink_to(tmp_path, target_is_directory=True)
    settled(project, repo)


# -- what waits -----------------------------------------------------------------------------------


def propose(project: Project, repo: Path, why: str = FIRST) -> str:
    """A decision that is only inferred; the id of the proposal."""
    decided(repo, why, state="", status="decided")
    done = take_in_documents(project)
    assert counted(done) == {"pend": 1}
    assert len(done.fact_ids) == 1
    return done.fact_ids[0]


def test_what_is_inferred_waits_unseen(project: Project, repo: Path, world: World) -> None:
    name = propose(project, repo)
    assert (line(repo, name)["status"], line(repo, name)["content"]) == ("pending", STORED)
    for seen in (project, Project.open(str(repo), world)):
        assert find_facts(seen, Recall(query="write through cache", faded=True)).results == []
        assert find_facts(seen, Recall(query="write through cache")).reason == "nothing stored"
        assert (list_facts(seen, ListFacts()).total, list_facts(seen, ListFacts()).results) == (0, [])
        assert search_archive(seen, SearchArchive(query="write through cache")).results == []
        assert answer_question(seen, "write through cache", layers=("facts",)).hits == []
        found = context(seen, ShowContext(prompt="write through cache"))
        assert (found.markdown, found.facts) == ("", ())
        stats = overview(seen, Arguments())
        assert (stats.facts, stats.active, stats.by_status) == (1, 0, {"pending": 1})
        told = status_of(seen).facts
        assert told is not None
        assert (told.active, told.by_section) == (0, {})
        assert focus(seen, Focus(fact_ids=[name])).outcomes == {name: "not pinned: it is pending"}
        shutil.rmtree(repo / ".memory/index")
    again = take_in_documents(project)
    assert [(view.id, view.status) for view in again.pending] == [(name, "pending")]
    settled(project, repo)


def test_what_waits_is_no_near_duplicate_of_what_is_stored(project: Project, repo: Path) -> None:
    propose(project, repo)
    stored = store(
        project, Store(section="Decisions", content=f"{TITLE} — {FIRST}, and so on. See {DOCUMENT}, decision: {TITLE}")
    )
    assert stored.similar == []


def test_accepted_it_holds(project: Project, repo: Path, clock: Clock) -> None:
    name = propose(project, repo)
    clock.now += timedelta(days=2)
    done = take_in_documents(project, accept=[name])
    assert (counted(done), done.pending, done.fact_ids) == ({"accept": 1}, [], [name])
    held = line(repo, name)
    assert (held["status"], held["source"], held["artifact"]["path"]) == (
        "active",
        "lifecycle:design-decision",
        DOCUMENT,
    )
    assert (held["created_at"], held["updated_at"]) == ("2026-03-02T11:19:00.000Z", "2026-03-04T11:19:00.000Z")
    assert [view.id for view in find_facts(project, Recall(query="write through cache")).results] == [name]
    settled(project, repo)
    with pytest.raises(InputError, match="is not pending: it is active"):
        take_in_documents(project, accept=[name])


def test_dropped_it_is_not_proposed_again(project: Project, repo: Path) -> None:
    name = propose(project, repo)
    done = take_in_documents(project, drop=[name])
    assert (counted(done), done.pending) == ({"drop": 1}, [])
    assert (line(repo, name)["status"], line(repo, name)["reason"]) == ("archived", "dropped")
    settled(project, repo)
    file = repo / DOCUMENT
    file.write_text(file.read_text() + "\nMore text.\n")
    settled(project, repo)
    # Another reason is another proposal.
    decided(repo, SECOND, state="", status="decided")
    assert counted(take_in_documents(project)) == {"pend": 1}


def test_dropped_as_a_guess_it_may_still_be_decided(project: Project, repo: Path) -> None:
    take_in_documents(project, drop=[propose(project, repo)])
    decided(repo, status="decided")
    take_in_documents(project)
    assert texts(repo) == [STORED]


def test_accepting_and_dropping_in_one_go(project: Project, repo: Path) -> None:
    titles = ["One way", "Another way", "No way at all"]
    design(repo, status="implemented", decisions=[(title, "", f"Because of {title.lower()}") for title in titles])
    first, second, third = take_in_documents(project).fact_ids
    done = take_in_documents(project, accept=[first], drop=[second])
    assert counted(done) == {"accept": 1, "drop": 1}
    assert [view.id for view in done.pending] == [third]
    assert [line(repo, name)["status"] for name in (first, second, third)] == ["active", "archived", "pending"]
    settled(project, repo)


def test_one_that_does_not_wait_stops_the_whole_decision(project: Project, repo: Path) -> None:
    name = propose(project, repo)
    stored = store(project, Store(section="Decisions", content="Something that holds already")).fact.id
    before = data(repo)
    for bad, error in ((stored, InputError), ("nobody", NotFound)):
        with pytest.raises(error):
            take_in_documents(project, accept=[name, bad])
        with pytest.raises(error):
            take_in_documents(project, accept=[name], drop=[bad])
    assert data(repo) == before


def test_a_dry_run_accepts_nothing(project: Project, repo: Path) -> None:
    name = propose(project, repo)
    before = data(repo)
    done = take_in_documents(project, accept=[name], dry_run=True)
    assert (done.dry_run, counted(done), done.pending) == (True, {"accept": 1}, [])
    assert data(repo) == before
    assert [view.id for view in take_in_documents(project, dry_run=True).pending] == [name]


def test_an_acceptance_that_is_refused_is_not_counted(project: Project, repo: Path) -> None:
    (name,) = take_in_documents(project, PROPOSED).fact_ids
    old = store(project, Store(section="Decisions", content="Something old")).fact.id
    supersede(project, Supersede(fact_id=old, content=PROPOSED["content"]))
    with pytest.raises(InputError, match="is not pending"):
        take_in_documents(project, accept=[name])


def test_accepted_it_replaces_what_it_was_to_replace(project: Project, repo: Path) -> None:
    decided(repo, status="decided")
    (old,) = take_in_documents(project).fact_ids
    other = store(project, Store(section="Architecture", content="The cache sits before the database.")).fact.id
    connect(project, Connect(source=old, target=other, relation="enables"))
    focus(project, Focus(fact_ids=[old]))
    new = propose(project, repo, SECOND)
    assert (line(repo, old)["status"], line(repo, new)["supersedes"]) == ("active", old)
    assert [view.id for view in find_facts(project, Recall(query="write through")).results] == [old]
    take_in_documents(project, accept=[new])
    assert [line(repo, name)["status"] for name in (old, new)] == ["superseded", "active"]
    assert inspect_fact(project, f"fact:{new}").chain == [old]
    assert inspect_fact(project, f"fact:{old}").replaced_by == (new,)
    assert [view.id for view in focus(project, Focus()).pins] == [new]
    assert [view.id for view in find_facts(project, Recall(query="write through")).results] == [new]
    links = [(link.source, link.target) for link in inspect_fact(project, f"fact:{other}").connections]
    assert links == [(f"fact:{new}", f"fact:{other}")]
    settled(project, repo)


def test_what_only_proposes_to_replace_a_fact_replaces_nothing(project: Project, repo: Path) -> None:
    decided(repo, status="decided")
    (old,) = take_in_documents(project).fact_ids
    new = propose(project, repo, SECOND)

    def seen() -> tuple[Any, ...]:
        stats, found = overview(project, Arguments()), inspect_fact(project, f"fact:{old}")
        return stats.edges, stats.contradictions, stats.state, found.connections, found.replaced_by

    told = seen()
    assert told == (0, 0, "in order", [], ())
    shutil.rmtree(repo / ".memory/index")
    assert seen() == told
    take_in_documents(project, drop=[new])
    assert seen() == told


def test_a_newer_proposal_takes_the_place_of_the_one_that_waits(project: Project, repo: Path) -> None:
    first = propose(project, repo)
    second = propose(project, repo, SECOND)
    assert line(repo, first)["status"] in ("superseded", "archived")
    assert [view.id for view in take_in_documents(project).pending] == [second]
    take_in_documents(project, accept=[second])
    assert texts(repo) == [f"{TITLE} — {SECOND}. See {DOCUMENT}, decision: {TITLE}"]
    settled(project, repo)


def test_what_waits_is_what_the_document_says(project: Project, repo: Path) -> None:
    for why in (FIRST, SECOND, FIRST):
        decided(repo, why, state="", status="decided")
        take_in_documents(project)
        assert texts(repo, "pending") == [f"{TITLE} — {why}. See {DOCUMENT}, decision: {TITLE}"]
        settled(project, repo)


@pytest.mark.parametrize("why", [FIRST, SECOND])
def test_what_waited_and_is_decided_now_waits_no_longer(project: Project, repo: Path, why: str) -> None:
    name = propose(project, repo)
    decided(repo, why, status="decided")
    done = take_in_documents(project)
    assert "reject" not in counted(done)
    assert done.pending == []
    assert line(repo, name)["status"] != "pending"
    assert texts(repo) == [f"{TITLE} — {why}. See {DOCUMENT}, decision: {TITLE}"]
    settled(project, repo)


def test_a_dormant_fact_of_another_writer_is_superseded_like_any_other(project: Project, repo: Path) -> None:
    decided(repo, questions=[QUESTION])
    ids = take_in_documents(project).fact_ids
    file = repo / ".memory/facts.jsonl"
    file.write_text(file.read_text().replace('"status":"active"', '"status":"dormant"'))
    decided(repo, SECOND)
    assert counted(take_in_documents(project)) == {"supersede": 1, "archive": 1}
    assert [line(repo, name)["status"] for name in ids] == ["superseded", "archived"]
    settled(project, repo)


# -- one candidate --------------------------------------------------------------------------------

OURS: dict[str, Any] = {
    "kind": "openspec-archive",
    "authority": "explicit",
    "section": "Specs",
    "content": "Cache metrics are exported per tenant (added)",
    "artifact": {"kind": "openspec-baseline", "path": "openspec/cache.md", "sub": "Cache metrics"},
    "session": "s-1",
}
THEIRS: dict[str, Any] = {
    "sourceKind": "openspec-archive",
    "authority": "explicit",
    "section": "specs",
    "content": "Cache metrics are exported per tenant (added)",
    "artifactRef": {"type": "openspec-baseline", "path": "openspec/cache.md", "subRef": "Cache metrics"},
    "session": "s-1",
}


@pytest.mark.parametrize("spelled", [OURS, THEIRS])
@pytest.mark.parametrize("raw", [True, False])
def test_both_spellings_of_a_candidate(project: Project, repo: Path, spelled: dict[str, Any], raw: bool) -> None:
    done = take_in_documents(project, json.dumps(spelled).encode() if raw else spelled)
    assert (done.documents, counted(done)) == (0, {"store": 1})
    (held,) = lines(repo)
    assert (held["section"], held["content"], held["source"], held["created_session"]) == (
        "Specs",
        "Cache metrics are exported per tenant (added). See openspec/cache.md#Cache metrics",
        "lifecycle:openspec-archive",
        "s-1",
    )
    assert held["artifact"] == {
        "kind": "openspec-baseline",
        "path": "openspec/cache.md",
        "sub": "Cache metrics",
        "sha256": "",
    }
    before = data(repo)
    for again in (OURS, THEIRS):
        assert counted(take_in_documents(project, again)) == {"unchanged": 1}
    assert data(repo) == before


def test_a_candidate_may_replace_a_fact_by_name(project: Project, repo: Path) -> None:
    old = store(project, Store(section="Specs", content="Cache metrics are exported for all tenants together")).fact.id
    done = take_in_documents(project, {**OURS, "supersedes": old})
    assert counted(done) == {"supersede": 1}
    assert (line(repo, old)["status"], line(repo, done.fact_ids[0])["supersedes"]) == ("superseded", old)
    for wrong, reason in ((old, "is superseded"), ("nobody", "names no fact")):
        other = {**OURS, "content": "Another thing", "artifact": None, "supersedes": wrong}
        refused = take_in_documents(project, other)
        assert (actions(refused), refused.fact_ids) == (["reject"], [])
        assert reason in refused.steps[0]["reason"]


def test_a_confirmation_is_reported_only_where_there_is_one(project: Project, repo: Path, clock: Clock) -> None:
    said = {**PROPOSED, "authority": "explicit"}
    (name,) = take_in_documents(project, said).fact_ids
    before = data(repo)
    # The same source on the same day is no new evidence.
    assert counted(take_in_documents(project, said)) == {"unchanged": 1}
    assert data(repo) == before
    clock.now += timedelta(days=1)
    assert counted(take_in_documents(project, said)) == {"reinforce": 1}
    assert line(repo, name)["reinforcement_count"] == 2


BAD: list[tuple[Any, type[QuireError], str]] = [
    ([], InputError, "candidate"),
    ("text", InputError, "candidate"),
    (7, InputError, "candidate"),
    ({}, InputError, "content"),
    ({**OURS, "content": "  \n "}, InputError, "content"),
    ({**OURS, "content": 7}, InputError, "content"),
    ({**OURS, "content": "x" * 8_001}, InputError, "content"),
    ({**OURS, "content": "red \x1b[31m"}, InputError, "content"),
    ({**OURS, "kind": "rumour"}, InputError, "kind"),
    ({**OURS, "authority": "absolute"}, InputError, "authority"),
    ({**OURS, "section": "Gossip"}, InputError, "section"),
    ({**OURS, "sourceKind": "cleave-outcome"}, InputError, "kind"),
    ({**OURS, "colour": "red"}, InputError, "colour"),
    ({**OURS, "artifact": "docs/cache.md"}, InputError, "artifact"),
    ({**OURS, "artifact": {"kind": "document"}}, InputError, "artifact.path"),
    ({**OURS, "artifact": {"kind": "document", "path": "/etc/passwd"}}, OutsideProject, "artifact.path"),
    ({**OURS, "artifact": {"kind": "document", "path": "../up.md"}}, OutsideProject, "artifact.path"),
    ({**OURS, "artifact": {"kind": "document", "path": "a\nb.md"}}, QuireError, "artifact.path"),
    ({**OURS, "artifact": {"kind": "poem", "path": "a.md"}}, InputError, "artifact.kind"),
    ({**OURS, "artifact": {"kind": "document", "path": "a.md", "sha256": "12"}}, InputError, "artifact.sha256"),
]


def test_bad_candidates_name_the_field_and_write_nothing(project: Project, repo: Path) -> None:
    for given, error, field in BAD:
        with pytest.raises(error) as raised:
            take_in_documents(project, given)
        assert raised.value.details["field"] == field, given
        assert raised.value.hint
    for raw in (b"", b"{", b"\xff", b'{"a": 1}{}', b'{"kind": "x", "kind": "y"}', b"[" * 500):
        with pytest.raises(QuireError):
            take_in_documents(project, raw)
    assert not (repo / ".memory/facts.jsonl").exists()


def test_a_candidate_with_a_secret_is_refused(project: Project, repo: Path) -> None:
    done = take_in_documents(project, {**OURS, "content": f"The token is {TOKEN}"})
    assert (actions(done), done.fact_ids) == (["reject"], [])
    assert TOKEN.encode() not in data(repo)


# -- where it came from ---------------------------------------------------------------------------


def origin(found: dict[str, Any]) -> tuple[Any, ...]:
    return found["id"], found["source"], found["artifact"]


def test_where_it_came_from_is_never_lost(project: Project, repo: Path, clock: Clock) -> None:
    decided(repo, constraints=[LIMIT])
    take_in_documents(project)
    before = [origin(item) for item in lines(repo)]
    first, second = (name for name, _, _ in before)
    for change in (
        lambda: archive(project, Archive(fact_ids=[first, second], reason="stale")),
        lambda: restore(project, Restore(fact_ids=[first, second])),
        lambda: store(project, Store(section="Decisions", content=STORED, source="review")),
        lambda: supersede(project, Supersede(fact_id=first, content="Written by hand")),
        lambda: normalize(project, Normalize(write=not False)),
    ):
        clock.now += timedelta(days=1)
        change()
        assert [origin(item) for item in lines(repo) if item["id"] in (first, second)] == before
    shown = inspect_fact(project, f"fact:{first}")
    assert (shown.view.source, shown.view.artifact) == before[0][1:]
    assert shown.stored["artifact"] == before[0][2]


def test_two_branches_take_in_the_same_document(project: Project, repo: Path, git: Any, clock: Clock) -> None:
    decided(repo, constraints=[LIMIT])
    store(project, Store(section="Architecture", content="Held before the branches part"))
    git.commit("base")
    git("checkout", "--quiet", "-b", "laptop")
    theirs = take_in_documents(project).fact_ids
    git.commit("laptop")
    git("checkout", "--quiet", "main")
    clock.now += timedelta(hours=1)
    ours = take_in_documents(project).fact_ids
    git.commit("main")
    git("merge", "--quiet", "--message", "both", "laptop")
    assert len(lines(repo)) == 5
    assert set(ours).isdisjoint(theirs)
    # Each text is one fact under two names, and both say where it came from.
    assert list_facts(project, ListFacts()).total == 3
    for one, other in zip(ours, theirs, strict=True):
        shown = inspect_fact(project, f"fact:{one}")
        assert shown.ref == inspect_fact(project, f"fact:{other}").ref
        assert (shown.view.artifact or {})["path"] == DOCUMENT
        assert shown.view.source.startswith("lifecycle:design-")
    settled(project, repo)
    normalize(project, Normalize(write=not False))
    assert {origin(item)[2]["path"] for item in lines(repo) if item["id"] in (*ours, *theirs)} == {DOCUMENT}
    settled(project, repo)
    # One change of the document puts both away.
    decided(repo, SECOND, constraints=[LIMIT])
    assert counted(take_in_documents(project)) == {"supersede": 1, "unchanged": 1}
    assert [text for text in texts(repo) if text.startswith(TITLE)] == [
        f"{TITLE} — {SECOND}. See {DOCUMENT}, decision: {TITLE}"
    ]
    settled(project, repo)


@pytest.mark.parametrize(
    "artifact", [{"type": "design-node", "path": "docs/x.md"}, {"kind": "poem"}, {}, "docs/x.md", 7]
)
def test_an_artifact_of_another_writer_stops_nothing(project: Project, repo: Path, artifact: Any) -> None:
    store(project, Store(section="Decisions", content="The first one"))
    odd = {**lines(repo)[0], "id": "odd", "content": "Told by somebody else", "artifact": artifact}
    del odd["content_hash"]
    with (repo / ".memory/facts.jsonl").open("a") as stream:
        stream.write(json.dumps(odd) + "\n")
    decided(repo)
    assert counted(take_in_documents(project)) == {"store": 1}
    assert line(repo, "odd") == odd
    settled(project, repo)


def test_other_minds_are_not_asked_and_not_changed(project: Project, repo: Path) -> None:
    store(project, Store(section="Decisions", content=STORED, mind="other"))
    decided(repo)
    assert counted(take_in_documents(project)) == {"store": 1}
    assert [item.get("mind", "default") for item in lines(repo)] == ["other", "default"]


# -- what may not pass ----------------------------------------------------------------------------


def test_a_secret_in_a_document_stops_that_candidate_alone(project: Project, repo: Path, tree: Any) -> None:
    decisions = [("Keys", "decided", f"The key is {TOKEN} for all"), (TITLE, "decided", FIRST)]
    design(repo, decisions=decisions, questions=[f"Is {TOKEN} still valid?"], constraints=[LIMIT])
    done = take_in_documents(project)
    assert counted(done) == {"store": 2, "reject": 2}
    assert texts(repo) == [STORED, f"{LIMIT}. See {DOCUMENT}"]
    assert all(TOKEN.encode() not in held for held in tree(repo / ".memory", generated=True).values())
    before = data(repo)
    assert counted(take_in_documents(project)) == {"unchanged": 2, "reject": 2}
    assert data(repo) == before


def test_a_report_does_not_repeat_a_secret(project: Project, repo: Path) -> None:
    design(repo, decisions=[("Keys", "decided", f"The key is {TOKEN} for all")])
    done = take_in_documents(project)
    assert actions(done) == ["reject"]
    assert TOKEN not in repr(done)


def test_hostile_text_in_a_document_stops_that_candidate_alone(project: Project, repo: Path) -> None:
    decisions = [("Left \u202e right", "decided", "Reads \x1b[31m dominate"), (TITLE, "decided", FIRST)]
    design(repo, decisions=decisions)
    done = take_in_documents(project)
    assert actions(done) == ["reject", "store"]
    assert texts(repo) == [STORED]


def test_a_very_long_rationale_is_cut_and_keeps_its_pointer(project: Project, repo: Path) -> None:
    decided(repo, "for one more reason " * 1_000)
    take_in_documents(project)
    (text,) = texts(repo)
    assert len(text) <= 8_000
    assert text.endswith(f" See {DOCUMENT}, decision: {TITLE}")
    settled(project, repo)


def test_a_dry_run_writes_nothing_and_says_the_same(project: Project, repo: Path, tree: Any) -> None:
    decided(repo, questions=[QUESTION], constraints=[LIMIT])
    before = tree(repo)
    tried = take_in_documents(project, dry_run=True)
    assert tree(repo) == before
    assert not (repo / ".memory/facts.jsonl").exists()
    done = take_in_documents(project)
    told = [[(step["action"], step["content"], step["reason"]) for step in run.steps] for run in (tried, done)]
    assert (tried.dry_run, tried.counts, told[0]) == (True, done.counts, told[1])
    decided(repo, SECOND)
    before = tree(repo)
    assert counted(take_in_documents(project, dry_run=True)) == {"supersede": 1, "archive": 1}
    assert tree(repo) == before
    assert counted(take_in_documents(project)) == {"supersede": 1, "archive": 1}


# -- real documents and recorded outcomes ---------------------------------------------------------


@needs_real
def test_real_documents(project: Project, repo: Path) -> None:
    (repo / "docs").mkdir()
    headings = 0
    for file in sorted((REAL / "design-docs").iterdir()):
        shutil.copyfile(file, repo / file.name.replace("__", "/", 1))
        headings += len(re.findall(r"^\*\*Status:\*\* decided", file.read_text(), re.M))
    done = take_in_documents(project)
    assert (done.documents, counted(done), done.pending, done.warnings) == (14, {"store": 73}, [], [])
    sections = [item["section"] for item in lines(repo)]
    assert {name: sections.count(name) for name in sections} == {"Decisions": headings, "Constraints": 31, "Specs": 4}
    for item in lines(repo):
        path = item["artifact"]["path"]
        assert (repo / path).is_file()
        assert path in item["content"]
        assert str(repo) not in json.dumps(item)
        digest = hashlib.sha256((repo / path).read_bytes()).hexdigest()
        assert item["artifact"]["sha256"] == f"sha256:{digest}"
    settled(project, repo)
    changed = repo / "docs/rust-compaction.md"
    changed.write_text(re.sub(r"(\*\*Rationale:\*\*) ", r"\1 On reflection: ", changed.read_text()))
    again = take_in_documents(project)
    assert counted(again)["supersede"] == len(re.findall("On reflection: ", changed.read_text()))
    assert {step["path"] for step in again.steps if step["action"] == "supersede"} == {"docs/rust-compaction.md"}
    assert overview(project, Arguments()).by_status == {"active": 73, "superseded": counted(again)["supersede"]}
    settled(project, repo)


@needs_real
def test_recorded_outcomes_through_the_store(project: Project, repo: Path) -> None:
    """As recorded, but for one thing: the same artifact twice is no new evidence, and counts once."""
    told: list[tuple[str, str]] = []
    for case in json.loads((REAL / "golden/lifecycle-ingest.json").read_text()):
        done = take_in_documents(project, case["candidate"])
        (step,) = done.steps
        result, stored = case["result"], case["stored"]
        told.append((step["action"], step["reason"]))
        if not result["autoStored"]:
            assert step["action"] == ("pend" if "operator" in result["reason"] else "reject")
            assert step["reason"] == result["reason"]
        elif not result["duplicate"]:
            held = line(repo, step["fact_id"])
            assert (step["action"], held["section"], held["content"]) == ("store", stored["section"], stored["content"])
        else:
            assert step["action"] in ("unchanged", "reinforce")
            assert line(repo, step["fact_id"])["content"] == stored["content"]
    assert [action for action, _ in told].count("store") == 4
    assert len(lines(repo)) == 5
    stats = overview(project, Arguments())
    assert (stats.active, stats.by_status) == (4, {"active": 4, "pending": 1})
