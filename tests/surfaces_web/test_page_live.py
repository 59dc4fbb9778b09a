"""What changes on disk while somebody looks is shown without a reload; a server that is gone is said to be gone."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from page_looking import Look, Looking
from sample_store import Sample, copy_sample
from web_serving import PageDoor, opened

from installed import Git

SHOWS = "(text) => document.querySelector('main').innerText.toLowerCase().includes(text.toLowerCase())"
LIVE = "() => document.querySelector('.live')?.textContent === 'Live'"


@pytest.fixture(scope="module")
def copied(sample: Sample, place: Path) -> Sample:
    return copy_sample(sample, place)


@pytest.fixture(scope="module")
def page_server(copied: Sample) -> Iterator[PageDoor]:
    """The page of a copy, which the tests here change from outside."""
    with opened(copied.memory) as door:
        yield door


@pytest.fixture
def marked(looking: Looking) -> Looking:
    """Somebody whose page would forget a mark if it were loaded anew."""
    looking.open("today")
    looking.page.evaluate("() => { window.mark = 1; }")
    looking.until(LIVE)
    return looking


def test_a_record_that_is_saved_appears(marked: Looking, copied: Sample) -> None:
    copied.memory.save({"kind": "question", "title": "Who repairs the crane?", "body": "Nobody knows."})
    marked.until(SHOWS, "Who repairs the crane?")
    assert marked.page.evaluate("() => window.mark") == 1


def test_what_a_branch_means_for_the_records_is_shown(looking: Looking, copied: Sample) -> None:
    git = Git(copied.root, copied.memory.env)
    base = git("symbolic-ref", "--short", "HEAD").strip()
    git.commit("as it is")
    git("checkout", "--quiet", "-b", "deeper")
    code = copied.root / "src/harbour/berths/availability.py"
    code.unlink()
    git.commit("deeper")
    page = looking.open("health", part="review")
    looking.until(SHOWS, "The branch deeper changes 1 file")
    rows = page.get_by_role("region", name="This branch").locator(".row")
    assert "feature.availability" in rows.all_inner_texts()[0]
    rows.first.get_by_role("link").click()
    looking.until("() => document.querySelector('h1')?.textContent === 'Availability'")
    git("checkout", "--quiet", base)


@pytest.mark.proof
def test_a_text_that_is_edited_by_hand_appears(looking: Looking, copied: Sample) -> None:
    page = looking.open("record", "decision.tides-come-from-a-table")
    page.evaluate("() => { window.mark = 1; }")
    looking.until(LIVE)
    (copied.root / ".memory/memory/tides-come-from-a-table.md").write_text("The table is printed on yellow paper.\n")
    looking.until(SHOWS, "The table is printed on yellow paper.")
    assert page.evaluate("() => window.mark") == 1


@pytest.mark.proof
def test_code_that_changes_changes_a_verdict(looking: Looking, copied: Sample) -> None:
    page = looking.open("record", "feature.berths")
    page.evaluate("() => { window.mark = 1; }")
    looking.until(LIVE)
    assert page.locator(".record-marks .verdict").inner_text() == "fresh"
    with (copied.root / "src/harbour/berths/model.py").open("a") as code:
        code.write("\n\nMETRES_A_FOOT = 0.3048\n")
    looking.until("() => document.querySelector('.record-marks .verdict').textContent === 'changed'")
    Git(copied.root, copied.env)("checkout", "--", "src/harbour/berths/model.py")
    looking.until("() => document.querySelector('.record-marks .verdict').textContent === 'fresh'")
    assert page.evaluate("() => window.mark") == 1


@pytest.mark.proof
def test_a_project_that_is_deleted_is_said_to_be_gone(looking: Looking, copied: Sample) -> None:
    other = copied.folder / "boathouse"
    other.mkdir()
    Git(other, copied.env)("init", "--quiet")
    copied.memory.init("--name", "Boathouse", cwd=other)
    page = looking.open()
    page.evaluate("() => { window.mark = 1; }")
    looking.until(LIVE)
    page.get_by_role("link", name="Boathouse", exact=True).wait_for()
    shutil.rmtree(other)
    looking.until(SHOWS, "not available")
    assert page.evaluate("() => window.mark") == 1
    assert page.get_by_role("link", name="Boathouse", exact=True).count() == 0


@pytest.mark.proof
def test_a_server_that_is_gone_and_comes_back(look: Look, copied: Sample) -> None:
    with opened(copied.memory) as door:
        looking = look(door)
        looking.expected += ["ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING", "ERR_EMPTY", "ERR_CONNECTION"]
        looking.expected.append("401")  # the old page may ask the new server before it is left
        page = looking.open("today")
        looking.until(LIVE)
        door.end()
    looking.until("() => document.querySelector('.live').textContent === 'Not connected'")
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.get_by_text("Not connected").is_visible()
    page.set_viewport_size({"width": 1280, "height": 800})
    page.get_by_label("Screens").get_by_role("link", name="Health").click()
    looking.until(SHOWS, "The server does not answer.")
    with opened(copied.memory, "--port", str(door.port)) as again:
        page.goto("about:blank")
        page.goto(f"{looking.url}#token={again.token}")
        looking.until(LIVE)
        looking.ready()
        assert looking.heading in {"Today", "Projects"}
