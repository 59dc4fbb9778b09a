"""What changed: in a bundle by section and title, in a text by its lines."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from journaling import bundle, needs_real, vectors

from quire.layers.journal.bundle_diff import BundleDiff, diff_bundles, diff_text, diff_value
from quire.layers.journal.bundles import merge_sections
from quire.layers.journal.line_diff import diff_lines, shortened


def test_the_same_bundle_has_not_changed_whatever_the_order_of_its_keys() -> None:
    after = {key: bundle()[key] for key in reversed(bundle())}
    assert diff_bundles(bundle(), after) == BundleDiff()
    assert diff_bundles(bundle(), after).is_empty
    assert diff_text(diff_value(BundleDiff())) == "no changes"


def test_titles_that_came_and_went_and_bodies_that_changed_are_named() -> None:
    def step(title: str, why: str = "w") -> dict[str, str]:
        return {"title": title, "why": why, "start": "s", "done": "d"}

    before = bundle(nextSteps=[step("A"), step("B"), step("C"), step("C", "two")])
    after = bundle(nextSteps=[step("N"), step("C"), step("C", "three"), step("A")], gotchas=[])
    diff = diff_bundles(before, after, merged_next_steps=["M"])
    assert diff == BundleDiff(
        changed_sections=("gotchas", "next-steps"),
        removed_gotchas=("Cents drift",),
        added_next_steps=("N",),
        removed_next_steps=("B",),
        changed_next_steps=("C",),
        merged_next_steps=("M",),
    )
    assert diff_text(diff_value(diff)) == (
        "removed gotchas: Cents drift; added next steps: N; removed next steps: B; changed next steps: C; "
        "merged next steps: M"
    )


@pytest.mark.parametrize(
    ("path", "sections", "text"),
    [
        (("project", "summary"), ("project",), "updated project"),
        (("projectMap", "architectureNotes"), ("project-map",), "updated project map"),
        (("validationCommands",), ("validation-commands",), "updated validation commands"),
        (("currentFocus", "summary"), ("current-focus",), "updated current focus"),
        (
            ("currentFocus", "validationSnapshot", "status"),
            ("current-focus",),
            "updated current focus; updated validation snapshot",
        ),
    ],
)
def test_every_section_that_changed_is_named(path: tuple[str, ...], sections: tuple[str, ...], text: str) -> None:
    after = bundle()
    target = after
    for name in path[:-1]:
        target = target[name]
    target[path[-1]] = []
    diff = diff_bundles(bundle(), after)
    assert diff.changed_sections == sections
    assert diff_text(diff_value(diff)) == text
    assert diff.validation_changed == ("validationSnapshot" in path)


def test_another_order_is_a_change_without_titles() -> None:
    items = [{"title": title, "symptom": "s", "cause": "c", "correctPath": "p"} for title in "AB"]
    diff = diff_bundles(bundle(gotchas=items), bundle(gotchas=items[::-1]))
    assert diff == BundleDiff(changed_sections=("gotchas",))
    assert diff_text(diff_value(diff)) == "updated gotchas"


def test_what_was_merged_is_a_change_although_nothing_is_left_of_it() -> None:
    diff = diff_bundles(bundle(), bundle(), merged_gotchas=["A"], merged_next_steps=["B"])
    assert diff.changed_sections == ("gotchas", "next-steps")
    assert not diff.is_empty


def test_the_hashed_form_has_the_keys_that_other_programs_hash() -> None:
    known = [
        "changedSections",
        "addedGotchas",
        "removedGotchas",
        "addedNextSteps",
        "removedNextSteps",
        "mergedGotchas",
        "mergedNextSteps",
        "currentFocusChanged",
        "validationChanged",
        "selectedSection",
        "protectedSections",
    ]
    assert list(diff_value(diff_bundles(bundle(), bundle(gotchas=[]), section="gotchas"))) == known
    after = bundle()
    after["nextSteps"][0]["why"] = "New."
    assert list(diff_value(diff_bundles(bundle(), after, protected=["project-map"]))) == [*known, "changedNextSteps"]


def test_sections_are_merged_as_asked_and_nothing_else_is() -> None:
    current, new = bundle(notes=1), {key: f"new {key}" for key in bundle()}
    proposal = {**new, "smuggled": 1}
    everything = merge_sections(current, proposal, protected={"project-map"})
    assert everything == {**new, "projectMap": current["projectMap"], "notes": 1}
    assert merge_sections(current, proposal, "next-steps") == {**current, "nextSteps": "new nextSteps"}
    assert merge_sections(current, proposal, "project-map", {"project-map"})["projectMap"] == "new projectMap"
    assert merge_sections(current, {}) == current
    assert current == bundle(notes=1)


# -- lines ---------------------------------------------------------------------------------------


@needs_real
def test_the_recorded_texts_are_compared_as_recorded() -> None:
    recorded = vectors("diff")
    assert len(recorded) == 9
    for one in recorded:
        found = diff_lines(one["before"], one["after"], "file.md")
        if "\r" in one["before"]:
            # Lines without a mark would say that nothing changed.
            assert found == "--- file.md\n+++ file.md\n\\ Only the ends of lines differ."
        else:
            assert found == one["diff"]


@given(st.lists(st.sampled_from("abc"), max_size=9), st.lists(st.sampled_from("abc"), max_size=9))
def test_both_texts_can_be_read_from_the_comparison_and_as_little_as_possible_changed(
    old: list[str], new: list[str]
) -> None:
    before, after = "\n".join(old), "\n".join(new)
    diff = diff_lines(before, after, "p")
    if before == after:
        assert diff is None
        return
    assert diff is not None
    head, lines = diff.split("\n")[:2], diff.split("\n")[2:]
    assert head == ["--- p", "+++ p"]
    assert "\n".join(line[1:] for line in lines if line[0] != "+") == before
    assert "\n".join(line[1:] for line in lines if line[0] != "-") == after
    assert sum(line[0] == " " for line in lines) == _common(before.split("\n"), after.split("\n"))
    assert not any(one[0] == "+" and other[0] == "-" for one, other in itertools.pairwise(lines))


def _common(old: list[str], new: list[str]) -> int:
    row = [0] * (len(new) + 1)
    for line in old:
        above, row = row, [0]
        for place, other in enumerate(new):
            row.append(above[place] + 1 if line == other else max(above[place + 1], row[place]))
    return row[-1]


def test_long_texts_that_share_nothing_are_one_that_goes_and_one_that_comes() -> None:
    chance = random.Random(1)
    old = [str(chance.random()) for _ in range(4_000)]
    new = [str(chance.random()) for _ in range(4_000)]
    diff = diff_lines("\n".join(old), "\n".join(new), "p")
    assert diff is not None
    assert diff.split("\n")[2:] == [f"-{line}" for line in old] + [f"+{line}" for line in new]


def test_a_long_comparison_is_cut_and_says_so() -> None:
    assert shortened("a\nb\nc", 3) == "a\nb\nc"
    assert shortened("a\nb\nc\nd\ne", 3) == "a\nb\nc\n... 2 more lines ..."
