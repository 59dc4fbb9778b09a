"""Branches that add, remove, rename and change, put together by git alone: what the memory says afterwards."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from merge_acts import (
    archive_events,
    change_node,
    delete_node,
    events_of,
    forget,
    make_node,
    records,
    reject,
    remember,
    sessions,
    source,
    store,
)
from merge_branches import AGENTS, Act, Yard, no_attributes

from installed import Git
from promised import proves, tally
from quire.files.world import World
from quire.model.errors import QuireError
from quire.verbs.admin.check import check_files
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.admin.repair import repair
from quire.verbs.ask.answers import answer_question
from quire.verbs.ask.inspected_node import inspect_node
from quire.verbs.ask.status import status
from quire.verbs.inbox.rejected import rejected
from quire.verbs.journal.recall import JournalRecall, journal_recall
from quire.verbs.journal.session_import import import_sessions
from quire.verbs.journal.status import JournalStatus, journal_status
from quire.verbs.journal.validate import JournalValidate, journal_validate
from quire.verbs.profile.recall import RecallEntries, recall_entries
from quire.verbs.verb import Arguments
from thorough import either, some

EVENTS, FACTS, PROFILE = ".memory/events.jsonl", ".memory/facts.jsonl", ".ai-state/memory.json"
SIDECAR, BODY = ".memory/memory/base.json", ".memory/memory/base.md"
JOURNAL = ".agent-memory/"
DELETED = [(field, keeps, turned) for field in ("body", "tags") for keeps in (True, False) for turned in (False, True)]
FORGOTTEN = [("one", False), ("two", False), ("one", True), ("two", True)]


@pytest.fixture
def yard(repo: Path, world: World, git: Git) -> Yard:
    return Yard(repo, world, git)


def both(yard: Yard, one: Act, two: Act, *, turned: bool = False) -> list[str]:
    """Two branches, the first merged into the second, or the other way round; what git left in conflict."""
    yard.branch("one", one)
    yard.branch("two", two)
    if turned:
        yard.git("checkout", "--quiet", "one")
    return yard.merge("two" if turned else "one")


# -- both add -----------------------------------------------------------------------------------------------------

ADDED: dict[str, tuple[Act, Act, Act]] = {
    "graph": (
        make_node("Base"),
        make_node("First", related=[{"predicate": "affects", "to": "gotcha.base"}]),
        make_node("Second", related=[{"predicate": "affects", "to": "gotcha.base"}]),
    ),
    "facts": (store("The base holds."), store("The first is blue."), store("The second is green.")),
    "profile": (
        remember("tools", "pager", "less"),
        remember("tools", "editor", "vim"),
        remember("user", "city", "Oslo"),
    ),
    "inbox": (reject("The moon is cheese."), reject("Water runs uphill."), reject("Night comes at noon.")),
}


@proves("P6.1", "E1", over="graph facts inbox")
@pytest.mark.parametrize("turned", either([True], [False, True]))
@pytest.mark.parametrize("place", ADDED)
def test_branches_that_add_are_merged_without_a_conflict_and_are_the_union(
    yard: Yard, place: str, turned: bool
) -> None:
    """Of the profile, which is one document: where they add to different categories."""
    begun, one, two = ADDED[place]
    yard.begin(begun)
    before = records(yard)
    assert both(yard, one, two, turned=turned) == []
    assert yard.checked() == {}
    values = {item.value for item in rejected(yard.project, Arguments()).results}
    if place == "inbox":
        assert values == {"The moon is cheese.", "Water runs uphill.", "Night comes at noon."}
        with pytest.raises(QuireError, match="rejected"):
            store("Water runs uphill.")(yard)
        return
    after = records(yard)
    new = {ref: text for ref, text in after.items() if ref not in before}
    assert {ref: after[ref] for ref in before} == before
    said = {
        "graph": {"First says this.", "Second says this."},
        "facts": {"The first is blue.", "The second is green."},
        "profile": {"editor: vim", "city: Oslo"},
    }
    assert set(new.values()) == said[place]
    if place == "graph":
        names = {json.loads(path.read_bytes())["from"] for path in (yard.root / ".memory/relations").glob("*.json")}
        assert names == {"gotcha.first", "gotcha.second"}


@proves("P6.2", "E3", over="wiring")
def test_a_map_that_both_branches_wrote_is_written_anew(yard: Yard) -> None:
    yard.begin()
    features = [make_node(title, kind="feature", stage="building") for title in ("Lantern", "Anchor")]
    assert both(yard, *features) == [AGENTS]
    assert "<<<<<<<" in yard.read(AGENTS)
    init_memory(yard.project)
    text = yard.read(AGENTS)
    assert "\nBe kind.\n" in text
    assert not any(mark in text for mark in ("<<<<<<<", "=======", ">>>>>>>"))
    assert "Lantern" in text
    assert "Anchor" in text
    yard.git.commit("both")
    assert yard.checked() == {}


@proves("P6.3", "E2", over="journal")
@pytest.mark.parametrize("turned", either([True], [False, True]))
def test_two_journals_that_grew_conflict_in_their_counts_and_are_put_together(yard: Yard, turned: bool) -> None:
    """Two machines give the same numbers; the history is merged by lines, the counts are made anew."""
    yard.begin(source)
    conflicts = both(yard, sessions(1, 2), sessions(3), turned=turned)
    assert conflicts == [f"{JOURNAL}sources.json", f"{JOURNAL}state.json"]
    assert set(yard.checked()) >= set(conflicts)
    yard.git("checkout", "--quiet", "--ours", JOURNAL)
    assert f"{JOURNAL}history/events.jsonl" in yard.checked()  # ids that two events have
    journal_validate(yard.project, JournalValidate(repair=True))
    assert events_of(yard) == {"s001": 1, "s002": 1, "s003": 1}
    yard.git.commit("both")
    assert yard.checked() == {}
    assert import_sessions(yard.project).imported == 0
    journal_recall(yard.project, JournalRecall())
    assert journal_status(yard.project, JournalStatus()).unrecalled["all"] == 0


@proves("P6.2", "E3", over="graph", found="a body with the marks of a conflict was answered from")
@proves("P6.3", "E2", over="graph")
def test_a_body_that_a_merge_left_open_is_not_answered_from_until_it_is_decided(yard: Yard) -> None:
    yard.begin(make_node("Base", body="Kangaroos jump.\n"), make_node("Other", body="Kangaroos rest.\n"))
    changes = [change_node("gotcha.base", body=f"Kangaroos jump {how}.\n") for how in ("high", "far")]
    assert both(yard, *changes) == [SIDECAR, BODY]
    yard.git("checkout", "--quiet", "--ours", SIDECAR)
    for step in ("in conflict", "added as it is"):
        assert [hit.record.ref for hit in answer_question(yard.project, "kangaroos").hits] == ["gotcha.other"], step
        (found,) = status(yard.project).unreadable
        assert (found["path"], found["code"]) == (SIDECAR, "MemoryConflictDetected")
        assert "`memory/base.md`: Unresolved merge conflict." in found["message"]
        assert yard.checked()[BODY] == {"MemoryConflictDetected"}
        before = yard.read(BODY)
        with pytest.raises(QuireError, match=r"base\.md"):
            change_node("gotcha.base", tags=["new"])(yard)
        assert yard.read(BODY) == before
        yard.git("add", "--all")
    yard.git("checkout", "two", "--", SIDECAR, BODY)
    assert yard.checked() == {}
    assert inspect_node(yard.project, "gotcha.base").node.body == "Kangaroos jump far."


@proves("P6.2", "E3", over="graph")
def test_a_text_that_was_saved_with_such_lines_is_what_it_is(yard: Yard) -> None:
    """Somebody explains marks: nobody merged anything, and what was acknowledged is told."""
    text = "Git writes:\n\n<<<<<<< HEAD\nkangaroo\n=======\nhedgehog\n>>>>>>> side\n"
    yard.begin(make_node("Base", body=text))
    assert [hit.record.ref for hit in answer_question(yard.project, "kangaroo").hits] == ["gotcha.base"]


# -- removed here, changed there ----------------------------------------------------------------------------------


@proves("P6.3", "E4", over="graph")
@pytest.mark.parametrize(("field", "keeps", "turned"), some(DELETED, 4))
def test_a_node_that_one_deleted_and_the_other_changed_is_a_persons_to_decide(
    yard: Yard, field: str, keeps: bool, turned: bool
) -> None:
    """Git keeps the side that changed it, and calls it a conflict: neither wins in silence, and both can."""
    yard.begin(make_node("Base"))
    change = change_node("gotcha.base", **({"body": "Another text."} if field == "body" else {"tags": ["other"]}))
    assert both(yard, delete_node("gotcha.base"), change, turned=turned) == (
        [SIDECAR, BODY] if field == "body" else [SIDECAR]
    )
    found = yard.checked()
    assert found[SIDECAR] == {"MemoryConflictDetected"}
    assert found[BODY] == {"MemoryConflictDetected" if field == "body" else "ObjectBodyMissing"}
    if keeps:
        yard.git("checkout", "two", "--", SIDECAR, BODY)
    else:
        yard.git("rm", "--quiet", "--force", "--ignore-unmatch", SIDECAR, BODY)
    yard.git.commit("decided")
    assert yard.checked() == {}
    if keeps:
        node = inspect_node(yard.project, "gotcha.base").node
        assert (node.body, node.node.tags) == (
            ("Another text.", []) if field == "body" else ("Base says this.", ["other"])
        )
    assert ("gotcha.base" in records(yard)) == keeps
    # Both happened, and the log says both.
    told = [json.loads(line)["event"] for line in yard.read(EVENTS).splitlines() if '"gotcha.base"' in line]
    assert sorted(told) == ["memory.created", "memory.deleted", "memory.updated"]


@proves("P6.3", "E4", over="graph")
@pytest.mark.parametrize("turned", [False, True])
def test_a_relation_to_a_node_that_the_other_branch_deleted_is_named(yard: Yard, turned: bool) -> None:
    yard.begin(make_node("Base"))
    relating = make_node("First", related=[{"predicate": "affects", "to": "gotcha.base"}])
    assert both(yard, delete_node("gotcha.base"), relating, turned=turned) == []
    found = check_files(yard.project)
    (path,) = (yard.root / ".memory/relations").glob("*.json")
    named = [problem for problem in (*found.errors, *found.warnings) if str(problem.path).endswith(path.name)]
    assert named
    assert all("gotcha.base" in problem.message and problem.hint for problem in named)
    assert "gotcha.base" not in records(yard)
    assert answer_question(yard.project, "First says this").connected == []


@proves("P6.3", "E4", over="profile")
@pytest.mark.parametrize(("side", "turned"), some(FORGOTTEN, 2))
def test_an_entry_that_one_forgot_and_the_other_changed_is_a_conflict_that_either_side_resolves(
    yard: Yard, side: str, turned: bool
) -> None:
    yard.begin(remember("tools", "pager", "less"), remember("user", "city", "Oslo"))
    forgotten, changed = forget("tools", "pager"), remember("tools", "pager", "more")
    assert both(yard, forgotten, changed, turned=turned) == [PROFILE]
    assert yard.checked()[PROFILE] == {"MemoryAlreadyInitializedInvalid", "MemoryConflictDetected"}
    with pytest.raises(QuireError, match="merge conflict"):
        recall_entries(yard.project, RecallEntries(category="tools"))
    yard.git("checkout", side, "--", PROFILE)
    yard.git.commit("decided")
    assert yard.checked() == {}
    entries = {ref: text for ref, text in records(yard).items() if ref.startswith("profile:")}
    kept = {"profile:tools.pager": "pager: more"} if side == "two" else {}
    assert entries == {"profile:user.city": "city: Oslo", **kept}


@proves("P6.1", "E4", over="journal")
@pytest.mark.parametrize("turned", [False, True])
def test_what_one_archived_and_the_other_added_to_is_told_once(yard: Yard, turned: bool) -> None:
    yard.begin(source, sessions(1, 2, day="2025-01-05"))
    assert both(yard, archive_events, sessions(3), turned=turned) != []
    yard.git("checkout", "--quiet", "--ours", JOURNAL, "docs", AGENTS)
    journal_validate(yard.project, JournalValidate(repair=True))
    assert events_of(yard) == {"s001": 1, "s002": 1, "s003": 1}
    journal_recall(yard.project, JournalRecall())
    yard.git.commit("both")
    assert yard.checked() == {}


# -- renamed here, changed there ----------------------------------------------------------------------------------


def rename(new: str) -> Act:
    """The files of a node under another name, as somebody renames them by hand."""

    def act(yard: Yard) -> None:
        for suffix in ("json", "md"):
            yard.git("mv", f".memory/memory/base.{suffix}", f".memory/memory/{new}.{suffix}")

    return act


@proves("P6.1", "E5", over="graph", found="a save did not find the node under its other name, and would not change it")
@pytest.mark.parametrize("turned", [False, True])
def test_a_node_whose_files_one_renamed_and_the_other_changed_is_the_node_it_was(yard: Yard, turned: bool) -> None:
    yard.begin(make_node("Base", body="A text of many words.\n\nAnd more of it.\n"))
    change = change_node("gotcha.base", body="A text of many words.\n\nAnd less of it.\n")
    assert both(yard, rename("other"), change, turned=turned) == []
    assert not (yard.root / SIDECAR).exists()
    assert inspect_node(yard.project, "gotcha.base").node.body == "A text of many words.\n\nAnd less of it."
    assert [ref for ref in records(yard) if ref.startswith("gotcha.")] == ["gotcha.base"]
    change_node("gotcha.base", body="Changed once more.")(yard)
    make_node("First", related=[{"predicate": "affects", "to": "gotcha.base"}])(yard)
    assert yard.read(".memory/memory/other.md") == "Changed once more."
    assert not (yard.root / SIDECAR).exists()
    repair(yard.project)
    assert yard.checked() == {}
    delete_node("gotcha.base")(yard)
    assert not (yard.root / ".memory/memory/other.json").exists()
    assert yard.checked() == {}


@proves("P6.3", "E5", over="graph")
def test_a_node_whose_files_both_renamed_is_doubled_and_named_until_one_name_is_left(yard: Yard) -> None:
    yard.begin(make_node("Base"))
    assert both(yard, rename("here"), rename("there")) != []
    names = [f".memory/memory/{name}.json" for name in ("here", "there")]
    assert all("MemoryConflictDetected" in yard.checked()[name] for name in names)
    yard.git("add", "--all")
    assert any("gotcha.base" in problem.message for problem in check_files(yard.project).errors)
    yard.git("rm", "--quiet", "--force", *(f".memory/memory/there.{suffix}" for suffix in ("json", "md")))
    yard.git.commit("one name")
    repair(yard.project)
    assert yard.checked() == {}
    assert inspect_node(yard.project, "gotcha.base").node.path == "memory/here.json"


@proves("P6.2", "E3", "E5", over="graph", found="marks of eight signs, as git writes them there, were not known")
def test_marks_of_two_names_are_known_as_such_and_not_answered_from(yard: Yard) -> None:
    """Git writes eight signs instead of seven where both sides gave a file another name."""
    text = "Kangaroos jump.\n\n" + "A line that stays.\n" * 9

    def renamed(new: str) -> Act:
        def act(yard: Yard) -> None:
            rename(new)(yard)
            (yard.root / f".memory/memory/{new}.md").write_text(text.replace("jump", f"jump {new}"))

        return act

    yard.begin(make_node("Base", body=text))
    both(yard, renamed("here"), renamed("there"))
    assert yard.read(".memory/memory/here.md").startswith("<<<<<<<< ")
    yard.git("add", "--all")
    for name in ("here", "there"):
        assert "MemoryConflictDetected" in yard.checked()[f".memory/memory/{name}.md"]
    assert answer_question(yard.project, "kangaroos").hits == []


# -- fifty branches -----------------------------------------------------------------------------------------------

MANY = either(4, 50)
BEGUN = "Facts have a beginning."


def additions(number: int) -> Act:
    """One of each kind that a branch may add."""

    def act(yard: Yard) -> None:
        make_node(f"Node {number:02}")(yard)
        store(f"Fact {number:02} holds.")(yard)
        reject(f"Saying {number:02} is not true.")(yard)

    return act


def united(yard: Yard) -> None:
    """Everything that the branches said is there, once."""
    told = records(yard)
    numbers = [f"{number:02}" for number in range(MANY)]
    assert {ref for ref in told if ref.startswith("gotcha.")} == {f"gotcha.node-{number}" for number in numbers}
    facts = sorted(text for ref, text in told.items() if ref.startswith("fact:"))
    assert facts == [*(f"Fact {number} holds." for number in numbers), BEGUN]
    values = {item.value for item in rejected(yard.project, Arguments()).results}
    assert values == {f"Saying {number} is not true." for number in numbers}
    events = [json.loads(line) for line in yard.read(EVENTS).splitlines()]
    made = [event["id"] for event in events if event["event"] == "memory.created" and event["id"].startswith("gotcha.")]
    assert sorted(made) == [f"gotcha.node-{number}" for number in numbers]
    assert yard.checked() == {}
    tally("P6.1", states=MANY)


@proves("P6.1", "E8", over="graph facts inbox")
def test_fifty_branches_are_merged_by_git_alone_without_a_conflict(yard: Yard) -> None:
    """No driver is set up anywhere: what the repository brings along is enough."""
    yard.begin(store(BEGUN))
    for number in range(MANY):
        yard.branch(f"b{number}", additions(number))
    yard.git("checkout", "--quiet", "main")
    assert yard.git("config", "--list").count("merge.") == 0
    assert [yard.merge(f"b{number}") for number in range(MANY)] == [[]] * MANY
    united(yard)


def ignored(number: int) -> Act:
    """The same, where nobody looks at attributes."""

    def act(yard: Yard) -> None:
        additions(number)(yard)
        no_attributes(yard)

    return act


@pytest.mark.proof
@proves("P6.1", "E8", over="graph facts inbox")
@proves("P6.2", "E3", over="graph facts")
def test_where_attributes_are_ignored_only_logs_conflict_and_a_repair_puts_them_together(yard: Yard) -> None:
    """As some hosts merge: every file as text. One file to a record never conflicts; lines of both sides are kept."""
    yard.begin(store(BEGUN), no_attributes)
    for number in range(MANY):
        yard.branch(f"b{number}", ignored(number))
    yard.git("checkout", "--quiet", "main")
    for number in range(MANY):
        found = yard.merge(f"b{number}")
        assert found == ([] if number == 0 else [EVENTS, FACTS])
        if found:
            assert yard.checked()[EVENTS] == {"MemoryConflictDetected"}
            yard.git("add", *found)
            done = repair(yard.project)
            assert {fix.path for fix in done.fixes} >= set(found)
            for path in found:
                assert "<<<<<<<" not in yard.read(path)
        no_attributes(yard)
        yard.git.commit(f"merged {number}")
    united(yard)
