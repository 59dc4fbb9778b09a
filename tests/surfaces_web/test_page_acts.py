"""What can be done on the page with --write, each checked on disk and undone again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from page_checks import accessibility_faults, contrast_faults
from page_looking import Looking
from playwright.sync_api import Locator
from sample_store import Sample, copy_sample
from web_serving import PageDoor, opened

from thorough import either

WAYS = either(("toast",), ("toast", "today"))
"""From where it is undone; one action is undone from both in every run."""


@pytest.fixture(scope="module")
def copied(sample: Sample, place: Path) -> Sample:
    return copy_sample(sample, place)


@pytest.fixture(scope="module")
def page_server(copied: Sample) -> Iterator[PageDoor]:
    """The page of a copy, which may change it."""
    with opened(copied.memory, "--write") as door:
        yield door


def stored(copied: Sample, ref: str) -> dict[str, Any]:
    """A record as the command finds it on disk."""
    run = copied.memory("inspect", ref, "--json")
    assert run.code == 0, run.out
    found: dict[str, Any] = run.data["object"]
    return found


def tree(copied: Sample) -> dict[str, bytes]:
    """The files of the memory, but for the log of what happened, which only grows."""
    top = copied.root / ".memory"
    left = ("events.jsonl", "index", "local", ".backup", "cache")
    files = (path for path in top.rglob("*") if path.is_file())
    return {
        str(path.relative_to(top)): path.read_bytes()
        for path in files
        if not set(path.relative_to(top).parts) & set(left) and not path.name.endswith(".lock")
    }


def toast(looking: Looking, said: str) -> Locator:
    found = looking.page.locator(".toast").filter(has_text=said)
    found.wait_for()
    return found


def undone(looking: Looking, said: str, way: str) -> None:
    """Take it back: where it was told, or later in the list of Today."""
    if way == "toast":
        toast(looking, said).get_by_role("button", name="Undo").click()
    else:
        page = looking.open("today")
        done = page.get_by_role("region", name="Done here")
        done.get_by_role("button", name="Undo").first.click()
    looking.page.locator(".toast").filter(has_text="Undone").or_(
        looking.page.locator(".toast").filter(has_text="ndo")
    ).first.wait_for()


@pytest.fixture
def unchanged(copied: Sample) -> Iterator[None]:
    """After the test everything is as it was."""
    before = tree(copied)
    yield
    after = tree(copied)
    assert {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)} == set()


@pytest.mark.proof(keep=1)
@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("way", ["toast", "today"])
def test_confirm(looking: Looking, copied: Sample, way: str) -> None:
    page = looking.open("record", "gotcha.days-are-days-of-the-harbour")
    assert page.locator(".record-marks .verdict").inner_text() == "changed"
    page.get_by_role("button", name="Confirm Days are days of the harbour").click()
    toast(looking, "Days are days of the harbour")
    looking.until("() => document.querySelector('.record-marks .verdict').textContent === 'fresh'")
    assert "changed: gotcha.days-are" not in copied.memory("status").out
    undone(looking, "Days are days of the harbour", way)
    looking.open("record", "gotcha.days-are-days-of-the-harbour")
    assert page.locator(".record-marks .verdict").inner_text() == "changed"


def test_what_has_no_code_left_is_not_there_to_be_confirmed(looking: Looking) -> None:
    page = looking.open("record", "gotcha.numbers-need-a-country-code")
    assert page.locator("[data-act=stale]").count() == 1
    assert page.locator("[data-act=confirm]").count() == 0


@pytest.mark.proof
@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("way", WAYS)
def test_stale(looking: Looking, copied: Sample, way: str) -> None:
    page = looking.open("record", "gotcha.numbers-need-a-country-code")
    page.get_by_role("button", name="Stale: Numbers need a country code").click()
    dialog = page.get_by_role("dialog", name="Mark as stale")
    assert dialog.get_by_role("button", name="Mark as stale").is_disabled()
    dialog.get_by_label("Why is it no longer true?").fill("no more texts")
    assert accessibility_faults(page) == []
    assert contrast_faults(page) == []
    page.keyboard.press("Enter")
    toast(looking, "Numbers need a country code")
    assert stored(copied, "gotcha.numbers-need-a-country-code")["status"] == "stale"
    undone(looking, "Numbers need a country code", way)
    assert stored(copied, "gotcha.numbers-need-a-country-code")["status"] == "active"


@pytest.mark.proof
@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("way", WAYS)
def test_superseded_by_one_that_is_there(looking: Looking, copied: Sample, way: str) -> None:
    page = looking.open("record", "decision.holds-end-by-time-not-by-a-job")
    page.get_by_role("button", name="Supersede Holds end by time, not by a job").click()
    dialog = page.get_by_role("dialog", name="Supersede")
    dialog.get_by_label("Which record?").fill("ledger only")
    dialog.get_by_role("option").filter(has_text="The ledger only grows").click()
    assert accessibility_faults(page) == []
    dialog.get_by_role("button", name="Supersede", exact=True).click()
    toast(looking, "Holds end by time")
    found = stored(copied, "decision.holds-end-by-time-not-by-a-job")
    assert (found["status"], found["superseded_by"]) == ("superseded", "decision.the-ledger-only-grows")
    page.get_by_role("complementary", name="Superseded").wait_for()
    undone(looking, "Holds end by time", way)
    assert stored(copied, "decision.holds-end-by-time-not-by-a-job")["status"] == "active"


@pytest.mark.proof
@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("way", WAYS)
def test_superseded_by_a_new_one(looking: Looking, copied: Sample, way: str) -> None:
    page = looking.open("record", "decision.tides-come-from-a-table")
    page.get_by_role("button", name="Supersede Tides come from a table").click()
    dialog = page.get_by_role("dialog", name="Supersede")
    dialog.get_by_label("A new one").check()
    dialog.get_by_label("Title").fill("Tides come from the gauge")
    dialog.get_by_label("Text (Markdown)").fill("The gauge knows better.")
    dialog.get_by_label("Reason (optional)").fill("the table was wrong in May")
    dialog.get_by_role("button", name="Supersede", exact=True).click()
    toast(looking, "Tides come from a table")
    assert stored(copied, "decision.tides-come-from-the-gauge")["status"] == "active"
    found = stored(copied, "decision.tides-come-from-a-table")
    assert (found["status"], found["superseded_by"]) == ("superseded", "decision.tides-come-from-the-gauge")
    undone(looking, "Tides come from a table", way)
    assert copied.memory("inspect", "decision.tides-come-from-the-gauge", "--json").code != 0


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("way", WAYS)
def test_another_title_and_text(looking: Looking, copied: Sample, way: str) -> None:
    page = looking.open("record", "feature.refunds")
    page.get_by_role("button", name="Edit").click()
    dialog = page.get_by_role("dialog", name="Edit feature")
    dialog.get_by_label("Title").fill("Refunds and fees")
    dialog.get_by_label("Text (Markdown)").fill("Half of it comes back.\n\n- always")
    assert accessibility_faults(page) == []
    assert contrast_faults(page) == []
    dialog.get_by_role("button", name="Save").click()
    page.get_by_role("heading", name="Refunds and fees").wait_for()
    found = stored(copied, "feature.refunds")
    assert found["title"] == "Refunds and fees"
    assert "Half of it comes back.\n\n- always" in found["body"]
    undone(looking, "Refunds", way)
    assert stored(copied, "feature.refunds")["title"] == "Refunds"


@pytest.mark.proof(keep=1)
@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("screen", ["map", "record"])
def test_another_stage(looking: Looking, copied: Sample, screen: str) -> None:
    page = looking.open(screen, "feature.waiting-list" if screen == "record" else "")
    stage = page.get_by_label("Stage of Waiting list")
    stage.select_option("shipped")
    toast(looking, "Waiting list")
    assert stored(copied, "feature.waiting-list")["stage"] == "shipped"
    looking.until("() => !document.querySelector('[aria-busy=true]')")
    undone(looking, "Waiting list", "toast" if screen == "map" else "today")
    assert stored(copied, "feature.waiting-list")["stage"] == "building"


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("way", WAYS)
def test_a_proposal_is_accepted(looking: Looking, copied: Sample, way: str) -> None:
    page = looking.open("inbox")
    before = copied.memory("inbox", "--json").data["counts"]["pending"]
    card = page.get_by_role("article", name="Rows of berths are searched first")
    card.focus()
    page.keyboard.press("a")
    toast(looking, "rows of berths")
    counts = copied.memory("inbox", "--json").data["counts"]
    assert counts["pending"] == before - 1
    assert stored(copied, "decision.rows-of-berths-are-searched-first")["status"] == "active"
    undone(looking, "rows of berths", way)
    assert copied.memory("inbox", "--json").data["counts"]["pending"] == before


@pytest.mark.proof
@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("way", WAYS)
def test_a_proposal_is_rejected(looking: Looking, copied: Sample, way: str) -> None:
    page = looking.open("inbox")
    before = copied.memory("inbox", "--json").data["counts"]["pending"]
    card = page.get_by_role("article", name="Numbers of berths have gaps where piers end")
    card.get_by_role("button", name="Reject").click()
    dialog = page.get_by_role("dialog", name="Reject")
    dialog.get_by_label("Reason (optional)").fill("the piers were renumbered")
    assert accessibility_faults(page) == []
    dialog.get_by_role("button", name="Reject", exact=True).click()
    toast(looking, "Numbers of berths")
    counts = copied.memory("inbox", "--json").data["counts"]
    assert counts["pending"] == before - 1
    assert "the piers were renumbered" in copied.memory("inbox", "rejected").out
    undone(looking, "Numbers of berths", way)
    assert copied.memory("inbox", "--json").data["counts"]["pending"] == before


@pytest.mark.proof
@pytest.mark.usefixtures("unchanged")
def test_a_fact_is_superseded_and_put_away(looking: Looking, copied: Sample, page_server: PageDoor) -> None:
    items = page_server.get(f"/api/projects/{looking.project}/records?kind=fact&live=1")["items"]
    item = next(item for item in items if "whole numbers" in item["title"])
    page = looking.open("record", item["ref"])
    page.get_by_role("button", name="Stale").click()
    page.get_by_label("Why is it no longer true?").fill("fractions")
    page.keyboard.press("Enter")
    toast(looking, "Money is counted")
    assert "whole numbers" not in copied.memory("facts", "list").out
    undone(looking, "Money is counted", "toast")
    assert "whole numbers" in copied.memory("facts", "list").out
    looking.open("record", item["ref"])
    page.get_by_role("button", name="Supersede").click()
    page.get_by_label("A new one").check()
    page.get_by_label("Text (Markdown)").fill("Money is counted in millicents.")
    page.get_by_role("dialog").get_by_role("button", name="Supersede", exact=True).click()
    page.locator(".toast").filter(has_text="uperseded").first.wait_for()
    assert "millicents" in copied.memory("facts", "list").out
    undone(looking, "uperseded", "today")
    assert "millicents" not in copied.memory("facts", "list").out


def test_what_was_typed_survives_a_change_from_elsewhere(looking: Looking, copied: Sample) -> None:
    page = looking.open("record", "feature.ledger")
    page.get_by_role("button", name="Edit").click()
    dialog = page.get_by_role("dialog", name="Edit feature")
    dialog.get_by_label("Text (Markdown)").fill("Mine: every cent is a line.")
    copied.memory.save({"id": "feature.ledger", "body": "Theirs: lines are only added."})
    dialog.get_by_role("alert").filter(has_text="The record changed in the meantime.").wait_for()
    assert dialog.get_by_label("Text (Markdown)").input_value() == "Mine: every cent is a line."
    assert accessibility_faults(page) == []
    assert contrast_faults(page) == []
    dialog.get_by_text("What is stored now").click()
    assert "Theirs: lines are only added." in dialog.inner_text()
    # One Escape does not throw away what was written.
    page.keyboard.press("Escape")
    dialog.get_by_text("Your text is not saved.").wait_for()
    dialog.get_by_role("button", name="go on writing").click()
    assert dialog.get_by_label("Text (Markdown)").input_value() == "Mine: every cent is a line."
    dialog.get_by_role("button", name="Overwrite with mine").click()
    toast(looking, "Ledger")
    assert "Mine: every cent" in (copied.root / ".memory/memory/ledger.md").read_text()


def test_who_answers_by_keys_goes_on_with_the_next(looking: Looking, copied: Sample) -> None:
    page = looking.open("inbox")
    rows = page.locator("article[data-row]")
    first, second = rows.nth(0).get_attribute("data-ref"), rows.nth(1).get_attribute("data-ref")
    rows.first.focus()
    page.keyboard.press("r")
    page.get_by_role("dialog", name="Reject").wait_for()
    page.keyboard.press("Enter")
    looking.until("(ref) => document.activeElement.dataset.ref === ref", second)
    looking.until("(ref) => !document.querySelector(`[data-ref='${ref}']`)", first)
    assert first not in [item["id"] for item in copied.memory("inbox", "--json").data["results"]]
