"""Changing an entry changes what was given and nothing else, in the entry and in the whole document."""

from __future__ import annotations

import copy
import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from profile_here import NOW, SAMPLE, THEN, Profile, document_of, entry_of, pretty, profile_in

NAME = "learnings.flaky_ci"
RICH = {
    **entry_of(
        "The end-to-end job needs two cores.",
        tags=["ci", "gotcha", "Odd Tag"],
        confidence=0.6,
        importance=7,
        source={"type": "inferred", "detail": "from a log", "agent_id": "a-17"},
        access_count=4,
        last_accessed="2026-02-10T11:00:00.123456Z",
        links=[
            {"target": "project.repo_name", "relation": "elaborates", "note": "kept"},
            {"target": "tools.gone", "relation": "depends-on"},
        ],
    ),
    "summary": "Two cores.",
    "type": "gotcha",
    "nested": {"deep": [1, {"x": None}], "big": 12345678901234567890},
}
"""An entry with something in every field, and fields that only others know."""

GIVEN: dict[str, tuple[list[str], dict[str, Any]]] = {
    "value": (["It needs four."], {"value": "It needs four."}),
    "tag": (["--tag", "slow"], {"tags": ["Odd Tag", "ci", "gotcha", "slow"]}),
    "untag": (["--untag", "gotcha"], {"tags": ["Odd Tag", "ci"]}),
    "importance": (["--importance", "2"], {"importance": 2}),
    "confidence": (["--confidence", "0.25"], {"confidence": 0.25}),
    "source": (["--source", "codebase"], {"source": {"type": "codebase", "detail": "from a log", "agent_id": "a-17"}}),
    "detail": (["--detail", "read it"], {"source": {"type": "inferred", "detail": "read it", "agent_id": "a-17"}}),
    "status": (["--status", "superseded"], {"status": "superseded"}),
    "supersedes": (
        ["--supersedes", "tools.clipboard"],
        {"links": [*RICH["links"], {"target": "tools.clipboard", "relation": "supersedes"}]},
    ),
}
CLEARED: dict[str, tuple[list[str], dict[str, Any]]] = {
    "no confidence": (["--confidence", "none"], {"confidence": None}),
    "no detail": (["--detail", "none"], {"source": {"type": "inferred", "detail": None, "agent_id": "a-17"}}),
}


def _rich() -> dict[str, Any]:
    document = copy.deepcopy(SAMPLE)
    document["memories"]["learnings"]["flaky_ci"] = copy.deepcopy(RICH)
    document["memories"]["learnings"]["after"] = entry_of("Another learning.")
    document["memories"]["pets"] = {"cat": {"value": "Mog", "age": 3}}
    return {"$note": "from elsewhere", **document, "extra": [1, 2.50, "ü"]}


@pytest.fixture
def here(environment: dict[str, str], tmp_path: Path) -> Profile:
    return profile_in(tmp_path / "harbor", environment, _rich())


def _expected(*names: str) -> dict[str, Any]:
    """The whole document after these fields were given."""
    document = _rich()
    entry = document["memories"]["learnings"]["flaky_ci"]
    given = {**GIVEN, **CLEARED}
    for name in names:
        for field, value in given[name][1].items():
            entry[field] = value
    if {"tag", "untag"} <= {*names}:
        entry["tags"] = ["Odd Tag", "ci", "slow"]
    if {"source", "detail"} <= {*names}:
        entry["source"] = {"type": "codebase", "detail": "read it", "agent_id": "a-17"}
    if {"source", "no detail"} <= {*names}:
        entry["source"] = {"type": "codebase", "detail": None, "agent_id": "a-17"}
    if names != ("supersedes",):
        entry["updated_at"] = NOW
    if "supersedes" in names:
        document["memories"]["tools"]["clipboard"] |= {"status": "archived", "updated_at": NOW}
    return document


def _lines(*names: str) -> list[str]:
    given = {**GIVEN, **CLEARED}
    return [word for name in names for word in given[name][0]]


ALONE = [(name,) for name in (*GIVEN, *CLEARED)]
PAIRS = [
    pair
    for pair in itertools.combinations((*GIVEN, *CLEARED), 2)
    if pair not in (("confidence", "no confidence"), ("detail", "no detail"))
]


@pytest.mark.proof(keep=20)
@pytest.mark.parametrize("names", [*ALONE, *PAIRS, tuple(GIVEN)], ids=" and ".join)
def test_what_was_not_given_stays_as_it_was(here: Profile, names: tuple[str, ...]) -> None:
    data = here.remember(NAME, *_lines(*names))
    assert data["action"] == "UPDATE"
    assert here.file.read_bytes() == pretty(_expected(*names))
    # A second time there is nothing to do, and nothing is written.
    state = here.file.stat()
    assert here.remember(NAME, *_lines(*names))["action"] == "NOOP"
    assert here.file.stat().st_mtime_ns == state.st_mtime_ns


@pytest.mark.parametrize("order", [("value", "importance"), ("tag", "status"), ("source", "detail")])
def test_two_changes_one_after_the_other_are_both_there(here: Profile, order: tuple[str, str]) -> None:
    for first, second in (order, order[::-1]):
        here.hold(_rich())
        here.remember(NAME, *_lines(first))
        here.remember(NAME, *_lines(second))
        assert here.data == _expected(*order)


def test_every_option_makes_a_new_entry_with_exactly_that(here: Profile) -> None:
    for number, (line, field, value) in enumerate(
        [
            ([], "importance", 5),
            (["--tag", "b", "--tag", "a"], "tags", ["a", "b"]),
            (["--importance", "9"], "importance", 9),
            (["--confidence", "0.7"], "confidence", 0.7),
            (["--confidence", "none"], "confidence", None),
            (["--source", "user-stated"], "source", {"type": "user-stated", "detail": None}),
            (["--detail", "why"], "source", {"type": "session", "detail": "why"}),
            (["--detail", "none"], "source", {"type": "session", "detail": None}),
            (["--status", "archived"], "status", "archived"),
            (["--untag", "x"], "tags", []),
        ]
    ):
        here.remember(f"project.new_{number}", f"Something new, number {number}.", "--force", *line)
        made = here.stored(f"project.new_{number}")
        assert made[field] == value, line
        expected = entry_of(f"Something new, number {number}.", created_at=NOW, updated_at=NOW)
        assert {**made, field: value} == {**expected, field: value}, line
        assert list(made) == list(expected)
    # A new one comes last in its category, and nothing before it moves.
    assert list(here.data["memories"]["project"]) == ["repo_name", *(f"new_{number}" for number in range(10))]


def test_tags_are_added_and_taken_away_at_once(here: Profile) -> None:
    here.remember(NAME, "--tag", "new", "--tag", "ci", "--untag", "gotcha", "--untag", "odd tag")
    assert here.stored(NAME)["tags"] == ["ci", "new"]
    here.remember(NAME, "--tag", "x", "--untag", "x")
    assert here.stored(NAME)["tags"] == ["ci", "new"]
    here.remember(NAME, "--untag", "ci", "--untag", "new")
    assert here.stored(NAME)["tags"] == []


def test_an_archived_entry_is_changed_without_coming_back(here: Profile) -> None:
    here.remember("tools.old_manager", "pip with a lock file")
    stored = here.stored("tools.old_manager")
    assert (stored["status"], stored["value"]) == ("archived", "pip with a lock file")
    here.remember("tools.old_manager", "--status", "active")
    assert here.stored("tools.old_manager")["status"] == "active"
    assert here.stored("tools.old_manager")["created_at"] == THEN


def test_an_entry_of_odd_spelling_can_be_changed_and_no_such_one_be_added(here: Profile) -> None:
    document = _rich()
    document["memories"]["tools"]["Odd Key.v2"] = entry_of("Kept by another program.")
    here.hold(document)
    here.profile("remember", "tools", "Odd Key.v2", "--importance", "9")
    assert here.stored("tools.Odd Key.v2")["importance"] == 9
    assert here.profile("recall", "tools", "Odd Key.v2").code == 0
    assert here.profile("link", "tools.Odd Key.v2", "tools.clipboard", "elaborates").code == 0
    assert here.profile("forget", "tools", "Odd Key.v2").code == 0
    assert here.profile("restore", "tools", "Odd Key.v2").code == 0
    assert here.stored("tools.Odd Key.v2")["importance"] == 9
    assert here.profile("remember", "tools", "Another Key", "x").code == 1


def test_a_short_entry_of_another_program_is_changed_in_what_is_given(here: Profile) -> None:
    here.hold(document_of(tools={"bare": {"value": "nothing but this"}, "odd": {"value": "v", "tags": None}}))
    here.remember("tools.bare", "--importance", "3")
    assert here.stored("tools.bare") == {"value": "nothing but this", "importance": 3, "updated_at": NOW}
    here.remember("tools.odd", "--tag", "new")
    assert here.stored("tools.odd") == {"value": "v", "tags": ["new"], "updated_at": NOW}


def test_a_user_s_confidence_that_another_program_wrote_goes_with_the_next_change(here: Profile) -> None:
    document = _rich()
    document["memories"]["user"]["email"]["confidence"] = 0.4
    here.hold(document)
    here.remember("user.email", "--importance", "3")
    assert here.stored("user.email")["confidence"] is None


# -- links made by themselves -----------------------------------------------------------------


def _linked(here: Profile, name: str) -> list[tuple[str, str]]:
    return [(link["target"], link["relation"]) for link in here.stored(name)["links"]]


def test_two_tags_in_common_link_a_new_entry_across_categories(here: Profile) -> None:
    here.hold(SAMPLE)
    data = here.remember("project.contact", "Write to the harbour master.", "--tag", "identity", "--tag", "personal")
    assert sorted(data["linked"]) == ["user.email", "user.username"]
    assert sorted(_linked(here, "project.contact")) == [
        ("user.email", "related-to"),
        ("user.username", "related-to"),
    ]
    # One way: the others are as they were.
    assert here.stored("user.email") == SAMPLE["memories"]["user"]["email"]


def test_one_tag_in_common_is_not_enough(here: Profile) -> None:
    here.hold(SAMPLE)
    assert here.remember("project.contact", "Write.", "--tag", "identity", "--tag", "other")["linked"] == []


def test_what_is_linked_already_either_way_is_not_linked_again(here: Profile) -> None:
    here.hold(SAMPLE)
    assert here.remember("user.email", "--tag", "mail")["linked"] == []
    assert here.remember("user.username", "--tag", "name")["linked"] == []


def test_at_most_five_are_linked_and_those_that_count_most(here: Profile) -> None:
    here.hold(SAMPLE)
    for number in range(8):
        text = f"Berth {number} is {number * 7} metres long."
        here.remember(f"project.berth_{number}", text, "--force", "--tag", "berth", "--importance", str(number + 1))
    for number in range(8):
        here.hold(_without_links(here.data))
        here.remember(f"project.berth_{number}", "--tag", "length")
    here.hold(_without_links(here.data))
    linked = here.remember("project.berths", "All berths.", "--tag", "berth", "--tag", "length")["linked"]
    assert linked == [f"project.berth_{number}" for number in (7, 6, 5, 4, 3)]


def _without_links(document: dict[str, Any]) -> dict[str, Any]:
    for entries in document["memories"].values():
        for entry in entries.values():
            entry["links"] = []
    return document


def test_tags_given_later_link_as_well(here: Profile) -> None:
    here.hold(SAMPLE)
    here.remember("project.contact", "Write to the harbour master.")
    assert here.remember("project.contact", "--tag", "identity", "--tag", "personal")["linked"] != []
    assert here.remember("project.contact", "--tag", "identity")["linked"] == []


def test_nothing_is_linked_to_what_was_put_away(here: Profile) -> None:
    document = copy.deepcopy(SAMPLE)
    document["memories"]["tools"]["old_manager"]["tags"] = ["python", "files"]
    here.hold(document)
    assert here.remember("project.deps", "All of them.", "--tag", "python", "--tag", "files")["linked"] == []


# -- replacing --------------------------------------------------------------------------------


def test_what_is_replaced_is_linked_and_archived(here: Profile) -> None:
    here.hold(SAMPLE)
    run = here.profile("remember", "tools", "paste", "wl-copy", "--supersedes", "tools.clipboard")
    assert run.out == "Remembered: profile:tools.paste\n  archived, because it replaces them: tools.clipboard\n"
    assert _linked(here, "tools.paste") == [("tools.clipboard", "supersedes")]
    assert here.stored("tools.clipboard") == {
        **SAMPLE["memories"]["tools"]["clipboard"],
        "status": "archived",
        "updated_at": NOW,
    }
    # What was put away already stays as it is.
    data = here.remember("tools.paste", "--supersedes", "tools.old_manager")
    assert (data["action"], data["archived"]) == ("UPDATE", [])
    assert here.stored("tools.old_manager") == SAMPLE["memories"]["tools"]["old_manager"]
    assert here.remember("tools.paste", "--supersedes", "tools.old_manager")["action"] == "NOOP"


def test_several_are_replaced_at_once_or_none(here: Profile) -> None:
    here.hold(SAMPLE)
    line = ["--supersedes", "tools.clipboard", "--supersedes", "profile:learnings.flaky_ci"]
    data = here.remember("tools.all", "One tool for everything.", *line)
    assert data["archived"] == ["tools.clipboard", "learnings.flaky_ci"]
    before = here.file.read_bytes()
    run = here.profile(
        "remember", "tools", "none", "Another.", "--supersedes", "user.email", "--supersedes", "user.nobody"
    )
    assert run.code == 1
    assert here.file.read_bytes() == before


def test_an_entry_that_replaces_a_similar_one_is_no_duplicate_of_it(here: Profile) -> None:
    """That it says nearly the same is the very reason why it replaces the other."""
    here.hold(SAMPLE)
    data = here.remember(
        "learnings.ci_cores", "The end-to-end job needs four cores.", "--supersedes", "learnings.flaky_ci"
    )
    assert (data["action"], data["archived"]) == ("ADD", ["learnings.flaky_ci"])


def test_an_entry_that_replaces_one_is_still_a_duplicate_of_another(here: Profile) -> None:
    here.hold(SAMPLE)
    line = ["remember", "tools", "pm", "uv, never pip", "--supersedes", "tools.clipboard", "--json"]
    run = here.profile(*line)
    assert (run.code, [item["key"] for item in run.data["candidates"]]) == (1, ["package_manager"])
    assert here.data == SAMPLE


# -- what is the same -------------------------------------------------------------------------


def _known(here: Profile, value: str, category: str = "tools") -> list[tuple[str, float]]:
    """What stands against this as a new entry, and how much of it is the same; nothing of it is written."""
    before = here.file.read_bytes()
    run = here.profile("remember", category, "new", value, "--json", "--dry-run")
    assert here.file.read_bytes() == before
    assert run.code == (1 if run.data["action"] == "candidates" else 0)
    return [(item["key"], item["share"]) for item in run.data["candidates"]]


@pytest.mark.parametrize(
    "value",
    ["uv, never pip.", "UV -- never  pip!", "uv never pip", "  (uv), 'never' pip…", "Ｕｖ, never\npip", "uv_never_pip"],
)
def test_case_spacing_and_punctuation_make_no_other_text(here: Profile, value: str) -> None:
    here.hold(SAMPLE)
    assert _known(here, value) == [("package_manager", 1.0)]


@pytest.mark.parametrize("value", ["fish", "Fish.", "bash 5", "two words"])
def test_a_word_or_two_may_be_the_value_of_several_entries(here: Profile, value: str) -> None:
    here.hold(document_of(tools={"shell": entry_of(value)}))
    assert _known(here, value) == []
    assert here.remember("tools.login_shell", value)["action"] == "ADD"


def test_three_words_that_are_the_same_are_a_duplicate(here: Profile) -> None:
    here.hold(document_of(tools={"shell": entry_of("fish, then bash")}))
    assert _known(here, "fish then bash") == [("shell", 1.0)]


@pytest.mark.parametrize(
    ("value", "is_known"),
    [
        ("The billing service listens on port 8080.", True),
        ("The billing service listens on port 8080", True),
        ("The billing service listens on port 8081.", False),
        ("The billing service listens on port 808.", False),
        ("The billing service listens on a port.", False),
        ("The billing service now listens on port 8080.", True),
        ("The billing service now listens on port 9090.", False),
    ],
)
def test_the_same_of_another_number_is_another_thing(here: Profile, value: str, is_known: bool) -> None:
    here.hold(document_of(project={"port": entry_of("The billing service listens on port 8080.")}))
    assert [key for key, _ in _known(here, value, "project")] == (["port"] if is_known else [])


def test_the_document_is_written_as_other_programs_write_it(here: Profile) -> None:
    """Two spaces, letters as they are, one newline at the end, whatever form it had before."""
    here.file.write_bytes(json.dumps(_rich()).encode())
    here.remember(NAME, "--importance", "2")
    assert here.file.read_bytes() == pretty(_expected("importance"))
