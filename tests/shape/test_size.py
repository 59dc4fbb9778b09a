"""ARCHITECTURE.md shows how large each package is, near enough to what `make size` prints."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOLERANCE = 0.15


def _lines(text: str) -> dict[str, int]:
    rows = re.findall(r"^\| `([\w.]+)` \| [\d,]+ \| ([\d,]+) \|", text, re.M)
    return {name: int(lines.replace(",", "")) for name, lines in rows}


def test_the_architecture_shows_the_size_of_every_package() -> None:
    done = subprocess.run([sys.executable, ROOT / "tools" / "size.py"], capture_output=True, text=True, check=True)
    counted = _lines(done.stdout)
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert len(counted) > 10
    assert _lines(page) == pytest.approx(counted, rel=TOLERANCE), "copy what `make size` prints"
    assert len(page.splitlines()) <= 250
