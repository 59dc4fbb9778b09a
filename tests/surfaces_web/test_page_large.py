"""Ten thousand records: every screen opens, nothing freezes, long lists scroll."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from page_checks import sideways
from page_looking import Looking, look_at
from playwright.sync_api import Browser
from web_serving import PageDoor, opened

from installed import Memory, make_environment

pytestmark = pytest.mark.proof

RECORDS = 10_000
LONGEST_MS = 1_000
"""A page that does not answer for longer than this is frozen."""
NOW = "2026-03-02T11:19:00+00:00"
DRAWN = "() => document.querySelector('.graph')?.dataset.nodes === '10001' && !document.querySelector('.loading')"
TASKS = """() => {
  window.longest = 0;
  new PerformanceObserver((list) => {
    for (const task of list.getEntries()) window.longest = Math.max(window.longest, task.duration);
  }).observe({ type: "longtask", buffered: true });
}"""


@pytest.fixture(scope="module")
def page_server(place: Path) -> Iterator[PageDoor]:
    """The page of a product of ten thousand records, its files written directly."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    try:
        from benchmarks.stores import make_store
    finally:
        del sys.path[0]
    env = make_environment(place)
    program = shutil.which("memory", path=str(Path(sys.executable).parent))
    assert program
    root = place / "large"
    with pytest.MonkeyPatch.context() as patch:
        for name, value in env.items():
            patch.setenv(name, value)
        make_store(root, RECORDS, program)
    memory = Memory(root, {**env, "MEMORY_NOW": NOW})
    with opened(memory) as door:
        yield door


@pytest.fixture(scope="module")
def visitor(browser: Browser, page_server: PageDoor) -> Iterator[Looking]:
    found = look_at(browser, page_server, now=NOW, seconds=60)
    yield found
    found.context.close()
    found.check()


def test_ten_thousand_records_do_not_freeze_any_screen(visitor: Looking) -> None:
    """One test for all of them: what it costs to make so many records is paid once."""
    for screen in ("", "today", "map", "records", "record", "search", "timeline", "health", "graph", "inbox"):
        _open(visitor, screen)
    _turn_pages(visitor)


def _open(visitor: Looking, screen: str) -> None:
    page = visitor.page
    query = {"q": "webhook retry queue"} if screen == "search" else {}
    page.goto("about:blank")
    page.goto(visitor.url + visitor.link(screen, "project.large" if screen == "record" else "", **query))
    page.evaluate(TASKS)
    # The picture of the graph is there long before every node has found its place.
    visitor.until(DRAWN) if screen == "graph" else visitor.ready()
    assert page.locator("main *").count() < 8_000, f"{screen}: everything at once is made"
    page.mouse.move(640, 400)
    for _ in range(5):
        page.mouse.wheel(0, 2_000)
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert page.evaluate("() => window.longest") < LONGEST_MS, screen
    assert sideways(page) == [], screen


def _turn_pages(visitor: Looking) -> None:
    page = visitor.open("records")
    assert "10,001 records" in page.locator(".screen-head").inner_text()
    first = page.locator("[data-row]").first.get_attribute("data-ref")
    page.get_by_role("button", name="Older").click()
    visitor.until("() => location.hash.includes('from=100')")
    visitor.until("(ref) => document.querySelector('[data-row]').dataset.ref !== ref", first)
    visitor.until("() => scrollY === 0")
