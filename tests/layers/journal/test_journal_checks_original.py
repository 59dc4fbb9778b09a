"""The checks of a journal against those of the original program, on the journals that it left."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from journaling import REAL, needs_real
from test_journal_checks import NOW, TYPES

from quire.layers.journal.checks.journal import check_journal

pytestmark = needs_real

MILD = ("validation:", "bundle:paths", "sources:path:")
"""Where we warn and it fails."""


def _checked() -> Iterator[tuple[Path, dict[str, Any]]]:
    """Each check that was recorded, with the files as they were kept before it."""
    for recorded in sorted(REAL.glob("*/commands.json")):
        steps = json.loads(recorded.read_text(encoding="utf-8"))["steps"]
        kept = {int(path.name[:3]): path for path in (recorded.parent / "snapshots").iterdir()}
        current = None
        for number, step in enumerate(steps, start=1):
            if step.get("changed") or "handEdit" in step:
                current = kept.get(number)
            if current is not None and "validate" in (step.get("argv") or []):
                yield current, step


LEVELS = {"pass": "pass", "warning": "warn", "error": "fail"}


def test_what_it_passed_we_pass_and_what_it_found_we_find(tmp_path: Path) -> None:
    compared = 0
    for number, (kept, step) in enumerate(_checked()):
        root = tmp_path / str(number)
        shutil.copytree(kept, root, symlinks=True)
        now = datetime.fromisoformat(step["now"])
        found = check_journal(str(root), now, is_alive=lambda _pid: True, types=TYPES)
        ours = {one.code: LEVELS[one.severity] for one in found}
        for line in step["stdout"].splitlines():
            word, _, rest = line.partition(" ")
            code = rest.partition(": ")[0]
            if word not in ("PASS", "WARN", "FAIL") or code.startswith(MILD) or code.endswith(":"):
                continue
            if code == "entry:file" and not (root / rest.partition("/repo/")[2].partition(" ")[0]).exists():
                continue  # not every file was kept
            if code.startswith(("projection:", "entry:file")) and word == "PASS":
                # Its sentences are not ours, so that its pages are not as we would write them.
                code = code if code in ours else f"{code.removesuffix(':file')}:edited"
                assert ours[code] in ("pass", "warn"), f"{kept}: {line}"
            else:
                assert ours.get(code) == word.lower(), f"{kept}: {line}"
            compared += 1
    assert compared > 200


def test_every_journal_can_be_checked() -> None:
    roots = sorted({path.parent for path in REAL.rglob(".agent-memory")})
    assert len(roots) > 50
    for root in roots:
        found = check_journal(str(root), NOW, is_alive=lambda _pid: False, types=TYPES)
        failing = {one.code for one in found if one.severity == "error"}
        assert not [code for code in failing if "bundle-hash" in code], root
