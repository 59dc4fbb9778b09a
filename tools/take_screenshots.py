"""Take the pictures of the page that the documentation shows: of a small product, at a time that stands still.

Usage: python tools/take_screenshots.py [FOLDER]     docs/images by default
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TOP / "tests"), str(TOP / "tests/surfaces_web")]

from page_looking import FLAGS, Looking, look_at  # noqa: E402
from playwright.sync_api import sync_playwright  # noqa: E402
from sample_store import make_sample  # noqa: E402
from web_serving import opened  # noqa: E402

SCREENS: dict[str, tuple[str, str, dict[str, str]]] = {
    "projects": ("", "", {}),
    "today": ("today", "", {"since": "7d"}),
    "map": ("map", "", {}),
    "record": ("record", "feature.availability", {}),
    "graph": ("graph", "", {"focus": "feature.holds", "steps": "3"}),
    "search": ("search", "", {"q": "when does a hold end?"}),
    "timeline": ("timeline", "", {}),
    "health": ("health", "", {}),
}
CHROMIUMS = ("chromium", "chromium-browser", "google-chrome")


def main(arguments: list[str]) -> int:
    folder = Path(arguments[0]) if arguments else TOP / "docs/images"
    folder.mkdir(parents=True, exist_ok=True)
    program = next((path for path in map(shutil.which, CHROMIUMS) if path), None)
    if program is None:
        print("There is no Chromium on the PATH.", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="quire-pictures-") as place, sync_playwright() as playwright:
        sample = make_sample(Path(place).resolve())
        browser = playwright.chromium.launch(executable_path=program, args=[*FLAGS, "--font-render-hinting=none"])
        with opened(sample.memory) as door:
            for scheme in ("light", "dark"):
                looking = look_at(browser, door, color_scheme=scheme, reduced_motion="reduce", locale="en-GB")
                for name, (screen, rest, query) in SCREENS.items():
                    looking.open(screen, rest, **query)
                    _take(looking, folder / f"{name}-{scheme}.png")
            phone: dict[str, Any] = {"is_mobile": True, "has_touch": True, "reduced_motion": "reduce"}
            looking = look_at(browser, door, width=360, height=740, device_scale_factor=2, locale="en-GB", **phone)
            looking.open("today", since="7d")
            _take(looking, folder / "today-phone.png")
        browser.close()
    return 0


def _take(looking: Looking, path: Path) -> None:
    looking.page.mouse.move(0, 0)
    looking.page.evaluate("() => document.fonts.ready")
    looking.page.evaluate("() => document.activeElement?.blur()")
    looking.page.screenshot(path=path, animations="disabled", caret="hide")
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
