"""The benchmark of the local page: that what it measures in a browser is what happened there."""

from __future__ import annotations

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from benchmarks.view_page import View, address, find_browser, launch
from benchmarks.view_page import view as look

from benchmarks import view

LATE_MS, BUSY_MS = 300, 150
PAGE = f"""<!doctype html><meta charset=utf-8><p>Something.</p><script>
setTimeout(() => {{
  document.body.insertAdjacentHTML("beforeend", "<b id=last>All of it</b>");
  setTimeout(() => {{ const end = performance.now() + {BUSY_MS}; while (performance.now() < end); }}, 100);
}}, {LATE_MS});
</script>"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> View:
    """A page that shows its data late, and is busy for a while after that."""
    program = find_browser()
    if program is None:
        pytest.skip("there is no Chromium on the PATH")
    from playwright.sync_api import sync_playwright

    folder = tmp_path_factory.mktemp("page")
    (folder / "index.html").write_text(PAGE, encoding="utf-8")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with sync_playwright() as playwright:
            browser = launch(playwright, program)
            found = look(browser.new_context(), f"http://127.0.0.1:{server.server_port}/", view.TABLE)
            browser.close()
    finally:
        server.shutdown()
        server.server_close()
    return found


@pytest.mark.proof
def test_the_times_of_a_view(seen: View) -> None:
    assert 0 < seen.paint < seen.shown
    assert seen.shown >= LATE_MS
    assert seen.usable >= seen.shown + BUSY_MS
    assert seen.longest >= BUSY_MS
    assert seen.settled == pytest.approx(seen.shown, abs=60)
    assert seen.key > 0
    assert seen.bytes >= len(PAGE)


def test_a_link_leads_straight_to_a_screen() -> None:
    link = "http://127.0.0.1:8000/#token=abc"
    assert address(link, "prj_1", "today", "") == "http://127.0.0.1:8000/#/p/prj_1/today?token=abc"
    assert address(link, "prj_1", "projects", "") == "http://127.0.0.1:8000/#/?token=abc"
    assert address(link, "p", "record", "fact:a b").startswith("http://127.0.0.1:8000/#/p/p/record/fact%3Aa%20b?token=")
    assert "?q=why" in address(link, "p", "search", "")


def test_the_table_is_what_screens_are_set_beside() -> None:
    def made(shown: float) -> View:
        return View(paint=1, shown=shown, usable=shown, settled=shown, longest=0, key=1, bytes=2_000)

    found = view._told(
        {"table, cold": [made(100)], "table, warm": [made(50)], "map, cold": [made(300)], "map, warm": [made(75)]}
    )
    assert {name: one["shown, times the table"] for name, one in found.items()} == {
        "table, cold": 1.0,
        "table, warm": 1.0,
        "map, cold": 3.0,
        "map, warm": 1.5,
    }
    aims = view._aims(found, {"sum": {"raw": 1, "compressed": view.SHIPPED_MOST + 1}})
    assert aims["data shown, warm, ms"] == {"worst": "map, warm", "found": 75, "at most": 1_000, "met": True}
    assert aims["shipped, compressed bytes"]["met"] is False


def test_without_a_browser_nothing_is_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert view.run() == {"skipped": "no Chromium or Chrome is installed"}
