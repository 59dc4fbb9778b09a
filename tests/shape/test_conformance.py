"""The page of conformance says what the tests of the descriptions say."""

from __future__ import annotations

import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests/seeds"))


def test_the_page_is_made_of_the_tables() -> None:
    from seeds_table import page

    written = (TOP / "docs/reference/conformance.md").read_text(encoding="utf-8")
    assert written == page(), "run .venv/bin/python tools/make_conformance.py"
