"""A real browser before the real server of a small product."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from page_looking import FLAGS, Look, Looking, look_at
from playwright.sync_api import Browser, sync_playwright
from sample_store import Sample, make_sample
from web_serving import PageDoor, opened

CHROMIUMS = ("chromium", "chromium-browser", "google-chrome")
SHARED_MEMORY = "/dev/shm"
ROOM = 1024 * 1024 * 1024


@pytest.fixture(scope="session")
def chromium() -> str:
    found = next((path for path in map(shutil.which, CHROMIUMS) if path), None)
    if found is None:
        pytest.skip("there is no Chromium on the PATH")
    return found


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """One for a module: as long as it runs, nothing else in this process may run an event loop."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        yield browser
        browser.close()


def _new_folder() -> Path:
    """On a disk in memory where there is room: saves sync often, and what that costs is not the question."""
    found = os.statvfs(SHARED_MEMORY) if os.access(SHARED_MEMORY, os.W_OK) else None
    there = found is not None and found.f_bavail * found.f_frsize >= ROOM
    return Path(tempfile.mkdtemp(prefix="quire-", dir=SHARED_MEMORY if there else None)).resolve()


@pytest.fixture(scope="session")
def sample() -> Iterator[Sample]:
    """Harbour, for tests that do not change it."""
    folder = _new_folder()
    yield make_sample(folder)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def page_server(sample: Sample) -> Iterator[PageDoor]:
    """The page of Harbour, which only reads."""
    with opened(sample.memory) as door:
        yield door


@pytest.fixture
def looking(browser: Browser, page_server: PageDoor) -> Iterator[Looking]:
    """Somebody who looks at Harbour."""
    found = look_at(browser, page_server)
    yield found
    found.context.close()
    found.check()


@pytest.fixture
def look(browser: Browser, page_server: PageDoor) -> Iterator[Look]:
    """The same, with a choice of how: `look(width=360)`, `look(color_scheme="dark")`, `look(door)`."""
    made: list[Looking] = []

    def come(door: PageDoor = page_server, **options: Any) -> Looking:
        made.append(look_at(browser, door, **options))
        return made[-1]

    yield come
    for one in made:
        one.context.close()
        one.check()


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """A folder for the module."""
    folder = _new_folder()
    yield folder
    shutil.rmtree(folder, ignore_errors=True)
