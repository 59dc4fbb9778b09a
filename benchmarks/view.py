"""How fast the local page is: every screen in a real browser, what it ships, and what its server costs.

Each screen is opened by its own link, in a new window: cold, as the first view after the server was started (the index
is there), and warm, as the second view of the same browser. In every round a plain HTML table of all records, served as
a file, is opened beside them: it says what the browser and the machine take for the same data without any program, and
a busy machine slows both alike. Medians. Without a browser nothing is measured, and the result says so.
"""

from __future__ import annotations

import contextlib
import html
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import verdict_cost
from benchmarks.cold import _install
from benchmarks.stores import WORDS, make_store
from benchmarks.view_page import SCREENS, View, address, find_browser, launch, view
from benchmarks.view_server import first_answers, measure_server, running
from quire.files.world import real_world
from quire.project import Project
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.graph.save import save_nodes

SIZES = (1_000, 10_000)
ROUNDS = 3
ANCHORED_FILES = 2_000
SHOWN_MOST, TASK_MOST, PAINT_MOST, SHIPPED_MOST = 1_000, 200, 500, 300_000
"""The aims: ms until data is shown, warm, with the most records; ms of a task; ms until a paint; bytes, compressed."""
TABLE = "table"
_JUDGED = ("today", "records?limit=100", "graph", "health/anchors")
_SIZE = {"width": 1280, "height": 900}
_PAGE = 500
_SAVED = 500
_COLUMNS = ("kind", "title", "status", "stage", "verdict", "updated_at", "excerpt")

Views = dict[str, list[View]]

__all__ = ["measure", "run"]


def run() -> dict[str, Any]:
    browser = find_browser()
    if browser is None:
        return {"skipped": "no Chromium or Chrome is installed"}
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return {"skipped": "the development tools are not installed: there is no playwright"}
    before = dict(os.environ)
    try:
        with tempfile.TemporaryDirectory(prefix="quire-bench-") as name:
            folder = Path(name)
            _, memory = _install(folder / "installed")
            _at_home(folder)
            return measure(folder, memory, browser, SIZES, ROUNDS)
    finally:
        os.environ.clear()
        os.environ.update(before)


def measure(folder: Path, memory: str, browser: str, sizes: Sequence[int], rounds: int) -> dict[str, Any]:
    """All figures; those of many verdicts are taken of the largest size."""
    roots = {size: _make(folder, size, memory) for size in sizes}
    views = {size: _views(folder, memory, browser, root, rounds) for size, root in roots.items()}
    shipped = _shipped()
    screens = {f"{size:,} records": _told(found) for size, found in views.items()}
    return {
        "rounds": rounds,
        "shipped, bytes": shipped,
        "screens": screens,
        "aims": _aims(screens[f"{sizes[-1]:,} records"], shipped),
        "server": {f"{size:,} records": _at(folder, size, memory, root) for size, root in roots.items()},
        "first answers after a commit, ms": _judged(folder, memory, sizes[-1]),
        "load of the machine": [round(value, 2) for value in os.getloadavg()],
    }


# -- stores ----------------------------------------------------------------------------------------------------


def _at_home(folder: Path, size: int = 0) -> None:
    """A home folder of its own for each size: a page lists the projects of its home."""
    os.environ["HOME"], os.environ["MEMORY_HOME"] = str(folder), str(folder / f"home-{size}")
    # An installed package is compiled; a source checkout under this variable would not be.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    (folder / ".gitconfig").write_text("[user]\nname = Bench\nemail = bench@example.com\n[gc]\nauto = 0\n")


def _make(folder: Path, size: int, memory: str) -> Path:
    _at_home(folder, size)
    root = folder / f"store-{size}"
    make_store(root, size, memory)
    verdict_cost._git(root, "add", "-A")
    verdict_cost._git(root, "commit", "-q", "-m", "Everything")
    subprocess.run([memory, "status", "--json"], cwd=root, check=True, capture_output=True)
    return root


def _at(folder: Path, size: int, memory: str, root: Path) -> dict[str, Any]:
    _at_home(folder, size)
    return measure_server(memory, root)


def _judged(folder: Path, memory: str, nodes: int) -> dict[str, Any]:
    """A memory in which every node is tied to two places of the code, saved and sealed."""
    _at_home(folder, -1)
    root = folder / "anchored"
    paths = verdict_cost._make_files(root, ANCHORED_FILES)
    _save_anchored(root, paths, nodes)
    verdict_cost._git(root, "add", "-A")
    verdict_cost._git(root, "commit", "-q", "-m", "Memory")
    return {
        "nodes": nodes,
        "asked first; then the others, in order": first_answers(memory, root, _JUDGED),
        "order": list(_JUDGED),
    }


def _save_anchored(root: Path, paths: list[str], number: int) -> None:
    chance = random.Random(number)
    project = Project.open(str(root), real_world())
    init_memory(project, guidance=False)
    forms = verdict_cost._FORMS
    nodes = [
        {
            "kind": "gotcha",
            "title": " ".join(chance.choices(WORDS, k=4)).capitalize() + f" {at}",
            "body": " ".join(chance.choices(WORDS, k=60)).capitalize() + ".",
            "anchors": [forms[(at + more) % len(forms)](chance.choice(paths)) for more in range(2)],
        }
        for at in range(number)
    ]
    for start in range(0, number, _SAVED):
        save_nodes(project, {"task": "benchmark", "nodes": nodes[start : start + _SAVED]})


# -- screens ---------------------------------------------------------------------------------------------------


def _views(folder: Path, memory: str, program: str, root: Path, rounds: int) -> Views:
    from playwright.sync_api import sync_playwright

    _at_home(folder, int(root.name.partition("-")[2]))
    found: Views = {}
    with _table(memory, root, folder) as (table, ref), sync_playwright() as playwright:
        browser = launch(playwright, program)
        for turn in range(-1, rounds):
            into: Views = {} if turn < 0 else found  # the first round makes what is kept on disk
            _two_views(browser, table, TABLE, into)
            for screen in SCREENS:
                with running(memory, root) as server:
                    _two_views(browser, address(server.link, server.project, screen, ref), screen, into)
        browser.close()
    return found


def _two_views(browser: Any, url: str, screen: str, into: Views) -> None:
    context = browser.new_context(viewport=_SIZE)
    for name in (f"{screen}, cold", f"{screen}, warm"):
        into.setdefault(name, []).append(view(context, url, screen))
    context.close()


@contextlib.contextmanager
def _table(memory: str, root: Path, folder: Path) -> Iterator[tuple[str, str]]:
    """All records as one HTML table that is served as a file, and the ref of one of them."""
    rows: list[dict[str, Any]] = []
    with running(memory, root) as server:
        total = 1
        while len(rows) < total:
            page = server.data(server.about(f"records?limit={_PAGE}&offset={len(rows)}"))
            rows, total = [*rows, *page["items"]], page["total"]
    place = folder / f"table-{root.name}"
    place.mkdir()
    lines = [f"<tr><td>{'<td>'.join(html.escape(str(row[name] or '')) for name in _COLUMNS)}" for row in rows]
    lines[-1] = lines[-1].replace("<tr>", "<tr id=last>")
    (place / "index.html").write_text(f"<!doctype html><meta charset=utf-8><title>All</title><table>{''.join(lines)}")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    serving = [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1", "--directory", str(place)]
    process = subprocess.Popen(serving, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/", rows[1]["ref"]
    finally:
        process.terminate()
        process.wait()


def _told(found: Views) -> dict[str, Any]:
    medians = {name: _median(views) for name, views in found.items()}
    for name, figures in medians.items():
        beside = medians[f"{TABLE}, {name.rpartition(', ')[2]}"]
        figures["shown, times the table"] = round(figures["shown, ms"] / beside["shown, ms"], 2)
    return medians


def _median(views: Sequence[View]) -> dict[str, Any]:
    def middle(name: str) -> float:
        return round(float(statistics.median(getattr(one, name) for one in views)), 1)

    return {
        "first paint, ms": middle("paint"),
        "shown, ms": middle("shown"),
        "usable, ms": middle("usable"),
        "settled, ms": middle("settled"),
        "longest task, ms": middle("longest"),
        "longest task of all rounds, ms": round(max(one.longest for one in views), 1),
        "key to frame, ms": middle("key"),
        "kB transferred": round(statistics.median(one.bytes for one in views) / 1000, 1),
    }


# -- what it ships, and what was aimed at ----------------------------------------------------------------------


def _shipped() -> dict[str, Any]:
    from quire.surfaces.web.assets import read_assets

    files = {name: {"raw": len(one.data), "compressed": len(one.compressed)} for name, one in read_assets().items()}
    sums = {kind: sum(one[kind] for one in files.values()) for kind in ("raw", "compressed")}
    return {**files, "sum": sums}


def _aims(screens: Mapping[str, Mapping[str, float]], shipped: Mapping[str, Mapping[str, int]]) -> dict[str, Any]:
    ours = {name: figures for name, figures in screens.items() if not name.startswith(TABLE)}
    warm = {name: figures for name, figures in ours.items() if name.endswith("warm")}

    def worst(found: Mapping[str, Mapping[str, float]], figure: str, most: float) -> dict[str, Any]:
        name = max(found, key=lambda one: found[one][figure])
        return {"worst": name, "found": found[name][figure], "at most": most, "met": found[name][figure] <= most}

    sent = shipped["sum"]["compressed"]
    return {
        "data shown, warm, ms": worst(warm, "shown, ms", SHOWN_MOST),
        "longest task, ms": worst(ours, "longest task, ms", TASK_MOST),
        "first paint, ms": worst(ours, "first paint, ms", PAINT_MOST),
        "shipped, compressed bytes": {"found": sent, "at most": SHIPPED_MOST, "met": sent <= SHIPPED_MOST},
    }
