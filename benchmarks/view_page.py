"""One view of a screen in a real browser: when something is painted, when its data is there, when it can be used."""

from __future__ import annotations

import shutil
from typing import Any
from urllib.parse import quote

import msgspec

SCREENS = ("projects", "today", "map", "records", "record", "graph", "search", "timeline", "health")
QUESTION = "why are webhook retries limited for guests?"
_QUIET_MS = 500
_WAIT_MS = 120_000
_ARGUMENTS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)
_SHOWN = {
    "projects": ".projects .project-facts",
    "today": ".lede, .today [data-row]",
    "map": ".board .feature",
    "records": ".records [data-row]",
    "record": "article.record .past-line",
    "graph": ".graph[data-nodes] canvas",
    "search": "#found [data-row]",
    "timeline": ".timeline-sheet svg path",
    "health": ".health-part .layer-card",
    "table": "#last",
}
"""What stands on a screen when its data does; besides, nothing may be left that says it is loading."""

_WATCH = """(() => {
  const seen = (window.__seen = { paint: 0, shown: 0, settled: 0, tasks: [], key: 0 });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (entry.name === "first-contentful-paint") seen.paint = entry.startTime;
  }).observe({ type: "paint", buffered: true });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) seen.tasks.push([entry.startTime, entry.duration]);
  }).observe({ type: "longtask", buffered: true });
  const look = () => {
    const waits = document.querySelector(".loading, .project-wait, .failed");
    if (!seen.shown && !waits && document.querySelector(SELECTOR)) seen.shown = performance.now();
    const graph = document.querySelector(".graph");
    if (seen.shown && (!graph || graph.dataset.settled === "true")) seen.settled = performance.now();
    if (!seen.settled) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
  addEventListener("keydown", (event) => {
    requestAnimationFrame(() => setTimeout(() => (seen.key = performance.now() - event.timeStamp)));
  }, true);
})()"""
_QUIET = """(quiet) => {
  const { shown, tasks } = window.__seen;
  const last = Math.max(shown, ...tasks.map(([begin, length]) => begin + length));
  return shown > 0 && performance.now() - last > quiet;
}"""
_TOLD = """() => {
  const entries = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
  return { ...window.__seen, bytes: entries.reduce((sum, entry) => sum + entry.transferSize, 0) };
}"""

__all__ = ["QUESTION", "SCREENS", "View", "address", "find_browser", "launch", "view"]


class View(msgspec.Struct, frozen=True, kw_only=True):
    """One view; times are milliseconds since the address was entered."""

    paint: float
    shown: float
    """When the data of the screen was on it."""
    usable: float
    """When the data was there and the last long task was over, with half a second of quiet after it."""
    settled: float
    """When nothing moved any more: only the graph moves."""
    longest: float
    """The longest task of the main thread; 0 where none was over 50 ms."""
    key: float
    """From a key to the frame after it."""
    bytes: int


def find_browser() -> str | None:
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((found for name in names if (found := shutil.which(name))), None)


def launch(playwright: Any, program: str) -> Any:
    return playwright.chromium.launch(executable_path=program, args=list(_ARGUMENTS))


def address(link: str, project: str, screen: str, ref: str) -> str:
    """The link of a run, straight to a screen."""
    place, _, token = link.partition("#")
    inner = {"projects": "/", "record": f"/p/{project}/record/{quote(ref)}"}.get(screen, f"/p/{project}/{screen}")
    asked = f"q={quote(QUESTION)}&" if screen == "search" else ""
    return f"{place}#{inner}?{asked}{token}"


def view(context: Any, url: str, screen: str) -> View:
    """Open an address in a new page, and wait until everything is there and quiet."""
    page = context.new_page()
    page.add_init_script(_WATCH.replace("SELECTOR", repr(_SHOWN[screen])))
    page.goto(url, wait_until="commit")
    try:
        page.wait_for_function(_QUIET, arg=_QUIET_MS, timeout=_WAIT_MS, polling=50)
    except Exception as error:
        raise AssertionError(f"{screen}: {page.evaluate(_TOLD)}: {page.inner_text('body')[:300]}") from error
    usable = page.evaluate(_TOLD)
    page.keyboard.press("Tab")
    page.wait_for_function("() => window.__seen.key > 0", timeout=_WAIT_MS, polling=20)
    page.wait_for_function("() => window.__seen.settled > 0", timeout=_WAIT_MS, polling=50)
    told = page.evaluate(_TOLD)
    page.close()
    ends = [begin + length for begin, length in usable["tasks"]]
    return View(
        paint=told["paint"],
        shown=told["shown"],
        usable=max([told["shown"], *ends]),
        settled=told["settled"],
        longest=max([length for _, length in told["tasks"]], default=0.0),
        key=told["key"],
        bytes=told["bytes"],
    )
