"""An export, opened from the disk and from a plain web server: everything is shown, nothing can be changed."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from page_checks import accessibility_faults, sideways
from page_looking import Looking
from playwright.sync_api import Browser
from sample_store import NOW, Sample

SCREENS = {
    "": ("Projects", "Harbour"),
    "today": ("Today", "What changed"),
    "map": ("Harbour", "Group bookings"),
    "records": ("Records", "Holds"),
    "inbox": ("Inbox", "An export has no inbox."),
    "graph": ("Graph", "Colour by"),
    "search": ("Search", "Holds"),
    "timeline": ("Timeline", "Commits"),
    "health": ("Health", "Coverage"),
    "record": ("Availability", "never cached"),
}


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


@pytest.fixture(scope="module")
def exported(sample: Sample, place: Path) -> Path:
    run = sample.memory("view", "--export", str(place / "site"), "--json")
    assert run.code == 0, run.out + run.err
    return place / "site"


@pytest.fixture(scope="module", params=["file", "http"])
def address(request: pytest.FixtureRequest, exported: Path) -> Iterator[str]:
    """Where the export is found."""
    if request.param == "file":
        yield f"{exported.as_uri()}/index.html"
        return
    serving = functools.partial(_Quiet, directory=str(exported))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), serving) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()
        thread.join()


@pytest.fixture
def reader(browser: Browser, address: str) -> Iterator[Looking]:
    context = browser.new_context(viewport={"width": 1280, "height": 800}, timezone_id="UTC")
    context.clock.set_fixed_time(NOW)
    looking = Looking(context, address.removesuffix("index.html"), "", "")
    looking.page.goto(address)
    looking.ready()
    found = looking.page.locator("main a[href*='#/p/']").first.get_attribute("href") or ""
    looking.url, looking.project = address, found.split("/")[2]
    yield looking
    context.close()
    looking.check()


@pytest.mark.proof(keep=1)
def test_every_screen_of_an_export(reader: Looking) -> None:
    for screen, (head, words) in SCREENS.items():
        query = {"q": "hold"} if screen == "search" else {}
        page = reader.open(screen, "feature.availability" if screen == "record" else "", **query)
        assert reader.heading == head
        assert words.lower() in page.locator("main").inner_text().lower(), screen
        assert page.locator("[data-act]").count() == 0
        assert page.locator(".live").inner_text() == "Export"
        assert accessibility_faults(page) == [], screen
        assert sideways(page) == [], screen
        page.reload()
        reader.ready()
        assert reader.heading == head


@pytest.mark.proof(keep=1)
def test_an_export_is_searched_and_walked_through(reader: Looking) -> None:
    page = reader.open("search")
    page.get_by_role("searchbox").first.fill("nobody pays twice")
    page.get_by_role("link", name="The booking is the idempotency key").first.click()
    reader.until("() => document.querySelector('main h1')?.textContent.startsWith('The booking')")
    page.go_back()
    reader.until("() => document.querySelector('main h1')?.textContent === 'Search'")
    page.keyboard.press("Control+k")
    page.get_by_label("Where to").fill("ledger only")
    page.get_by_role("option").filter(has_text="The ledger only grows").click()
    reader.until("() => document.querySelector('main h1')?.textContent === 'The ledger only grows'")


@pytest.mark.proof(keep=1)
def test_what_changed_in_the_code_is_in_an_export(reader: Looking) -> None:
    page = reader.open("record", "feature.availability", anchor="src/harbour/berths/availability.py")
    page.get_by_text("low = lowest(day)").wait_for()


@pytest.mark.proof(keep=1)
def test_what_is_on_this_machine_alone_is_not_in_an_export(reader: Looking, exported: Path, sample: Sample) -> None:
    page = reader.open("today")
    shown = page.locator("main").inner_text()
    for words in ("the map on small phones is too wide", "Pins", "rows of berths first"):
        assert words not in shown
    whole = b"".join(path.read_bytes() for path in exported.rglob("*") if path.is_file())
    proposals = [item["id"] for item in sample.memory("inbox", "--json").data["results"]]
    assert proposals
    for said in ("the map on small phones", str(sample.folder), *proposals):
        assert said.encode() not in whole, said
