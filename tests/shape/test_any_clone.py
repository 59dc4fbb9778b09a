"""The suite passes in a clone of any name, under any path: what looks for the product's own code finds it there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.proof

ROOT = Path(__file__).parents[2]
POWER_CUT = "test_without_any_one_sync_or_rename_the_power_cut_is_noticed"
PICKED = (
    f"tests/promises/test_crash_inbox.py::{POWER_CUT}",
    f"tests/promises/test_facts_crash.py::{POWER_CUT}",
    "tests/promises/test_fuzz.py::test_a_finding_is_made_small",
    "tests/e2e/test_confirm.py",
)
"""Tests that tell the product's code from their own by where it lies, and some that run the installed command."""


def test_in_a_folder_called_quire_below_one_with_spaces(tmp_path: Path) -> None:
    copy = tmp_path / "my work" / "quire"
    left_out = shutil.ignore_patterns("__pycache__", "node_modules", ".mypy_cache")
    for name in ("src", "tests", "tools"):
        shutil.copytree(ROOT / name, copy / name, ignore=left_out, symlinks=True)
    shutil.copy(ROOT / "pyproject.toml", copy)
    env = {**os.environ, "PYTHONPATH": str(copy / "src")}
    env.pop("PYTEST_XDIST_WORKER", None)
    line = [sys.executable, "-m", "pytest", "-p", "no:xdist", "-p", "no:cacheprovider", *PICKED]
    done = subprocess.run(line, cwd=copy, env=env, capture_output=True, text=True, timeout=1_200, check=False)
    assert done.returncode == 0, done.stdout[-4_000:] + done.stderr[-2_000:]
    line = [sys.executable, "-c", "import quire; print(quire.__file__)"]
    where = subprocess.run(line, env=env, capture_output=True, text=True, check=True).stdout.strip()
    assert Path(where).is_relative_to(copy), "the copy itself was not tried"
