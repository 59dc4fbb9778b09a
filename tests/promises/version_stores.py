"""Stores that earlier versions made, put where a project lies, and today's program run in them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1]
sys.path.insert(0, str(TESTS / "e2e"))
sys.path.insert(0, str(TESTS.parent / "tools"))

from commanding import Here, Said  # noqa: E402
from keep_release import RELEASES, open_kept  # noqa: E402
from release_answers import READS  # noqa: E402

from installed import Git, make_environment  # noqa: E402

__all__ = ["GENERATED", "KEPT", "NOW", "READS", "RELEASES", "Here", "Said", "Store", "newest", "opened"]

NOW = "2026-03-02T12:30:00+00:00"
KEPT = sorted(path.name for path in RELEASES.iterdir() if path.is_dir())
GENERATED = (".git/", ".memory/index/", ".memory/local/access.jsonl", ".ai-state/local/access", ".memory/.lock")
"""What a question may write: the index, and that something was read."""


def newest() -> str:
    """The kept store that holds most."""
    return max(KEPT, key=lambda name: sum(1 for _ in (RELEASES / name).rglob("*")))


class Store(Here):
    """A kept store in its project, today's program, and what was said of it then."""

    said: dict[str, Any]
    cut_off: dict[str, str]
    git: Git

    def data(self, *line: str, **options: Any) -> Any:
        return self(*line, "--json", **options).data

    def asked(self) -> dict[str, Any]:
        """The questions that were put then, put again."""
        named = {" ".join(line): (line, pick) for line, (_, pick) in READS.items()}
        return {name: named[name][1](self.data(*named[name][0])) for name in self.said}

    def files(self) -> dict[str, bytes]:
        """Every file but those that a question may write."""
        found = {path.relative_to(self.root).as_posix(): path for path in sorted(self.root.rglob("*"))}
        return {
            name: path.read_bytes() for name, path in found.items() if path.is_file() and not name.startswith(GENERATED)
        }


def opened(name: str, folder: Path, *, cut_off: bool = False, releases: Path = RELEASES) -> Store:
    """A kept store, committed; with or without the work that was cut off."""
    folder.mkdir(exist_ok=True)
    base = make_environment(folder)
    root = open_kept(releases / name, folder, cut_off=cut_off)
    store = Store(root, {**base, "MEMORY_NOW": NOW})
    expected = json.loads((releases / name / "expected.json").read_bytes())
    store.said, store.cut_off = expected["said"], expected["cut_off"]
    dated = {f"GIT_{who}_DATE": "2026-03-02T12:00:00+00:00" for who in ("AUTHOR", "COMMITTER")}
    store.git = Git(root, {**base, **dated})
    store.git("init", "--quiet")
    store.git.commit()
    return store
