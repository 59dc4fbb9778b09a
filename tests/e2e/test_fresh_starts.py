"""Each command from a fresh start, with no module loaded before it, does what it does from a standing one.

Most tests run the installed command from a standing start (see `standing.py`): these say that nothing is lost by it.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from installed import Memory, Run
from quire.surfaces.cli.main import COMMANDS

NODE = {"kind": "feature", "title": "Retry queue", "body": "Sends again.", "anchors": ["src/"]}
INTENT = {"task": "more", "nodes": [{"kind": "gotcha", "title": "Late clocks", "body": "Clocks drift."}]}
LINES = {
    "init": ("init", "--force", "--no-guidance"),
    "save": ("save", "--stdin"),
    "query": ("query", "what sends again?"),
    "sync": ("sync",),
    "confirm": ("confirm", "feature.retry-queue"),
    "brief": ("brief", "src/queue.py"),
    "why": ("why", "src/queue.py:1"),
    "facts": ("facts", "recall", "where do retries run?"),
    "profile": ("profile", "remember", "tools", "shell", "fish"),
    "journal": ("journal", "init"),
    "note": ("note", "look at the uploads"),
    "notes": ("notes",),
    "integrate": ("integrate", "claude"),
    "inbox": ("inbox",),
    "import": ("import",),
    "receipts": ("receipts",),
    "hook": ("hook", "claude", "session-start"),
    "doctor": ("doctor",),
    "add": ("add", "gotcha", "Fonts drip"),
    "list": ("list",),
    "inspect": ("inspect", "feature.retry-queue"),
    "status": ("status", "--all"),
    "check": ("check",),
    "purge": ("purge", "--yes"),
    "export": ("export",),
    "rebuild": ("rebuild",),
    "diff": ("diff",),
    "projects": ("projects",),
    "reset": ("reset", "--yes"),
    "docs": ("docs",),
    "merge": ("merge", "HEAD"),
    "resolve": ("resolve",),
    "review": ("review", "--staged"),
    "fold": ("fold",),
    "merge-driver": ("merge-driver", "src/queue.py", "src/queue.py", "src/queue.py"),
    "completion": ("completion", "bash"),
    "upgrade": ("upgrade",),
    "view": ("view", "--export", "page"),
}


@pytest.fixture(scope="module")
def shop(shared_memory: Memory) -> Memory:
    (shared_memory.cwd / "src").mkdir()
    (shared_memory.cwd / "src/queue.py").write_text("def send():\n    return 1\n")
    shared_memory.save(NODE)
    return shared_memory


def test_every_command_is_started(shop: Memory) -> None:
    assert set(LINES) == set(COMMANDS)


@pytest.mark.proof(keep=6)
@pytest.mark.parametrize("verb", LINES)
def test_a_fresh_start_and_a_standing_one_end_alike(verb: str, shop: Memory, tmp_path: Path) -> None:
    def run(*line: str, fresh: bool) -> Run:
        """In a copy at the same place, with a home at the same place."""
        root = tmp_path / "harbor"
        shutil.rmtree(tmp_path)
        shutil.copytree(shop.cwd, root)
        env = {**shop.env, "HOME": str(tmp_path), "MEMORY_HOME": str(tmp_path / "registry")}
        done = Memory(root, env, fresh=fresh)(*line, stdin=INTENT)
        # The name of an archive and the boundary around records are made up.
        return Run(done.code, re.sub(r"-[0-9a-f]{8}(?=\.tar)|memory-[0-9a-f]{12}", "", done.out), done.err)

    found = [run(*LINES[verb], fresh=fresh) for fresh in (True, False)]
    assert found[0].code == {"merge": 1, "review": 3}.get(verb, 0), found[0]  # nothing is committed that it could read
    assert found[0] == found[1]
    refused = [run(verb, "--no-such-option", fresh=fresh) for fresh in (True, False)]
    assert refused[0].code == (0 if verb == "hook" else 2)  # whoever hooked it in must not see it fail
    assert refused[0] == refused[1]


def test_a_standing_start_has_its_own_folder_environment_and_input(shop: Memory, tmp_path: Path) -> None:
    standing = Memory(shop.cwd, shop.env, fresh=False)
    assert standing("status", cwd=tmp_path).code != 0
    assert standing("status").code == 0
    save = ("save", "--stdin", "--dry-run", "--json")
    assert standing(*save, stdin=INTENT).data["memory_created"] == ["gotcha.late-clocks"]
    assert standing(*save, stdin="{").code != 0
    store = ("facts", "store", "Specs", "--dry-run", "--json")
    later = standing(*store, "One.", env={"MEMORY_NOW": "2030-01-01T00:00:00+00:00"}).data["fact"]["created_at"]
    assert later.startswith("2030-01-01")
    assert not standing(*store, "Two.").data["fact"]["created_at"].startswith("2030-01-01")


def test_a_standing_start_that_takes_too_long_is_ended(shop: Memory, tmp_path: Path) -> None:
    """The git that it starts never ends."""
    program = tmp_path / "git"
    program.write_text("#!/bin/sh\nexec sleep 5\n")
    program.chmod(0o755)
    env: dict[str, Any] = {"PATH": f"{tmp_path}:{shop.env['PATH']}"}
    with pytest.raises(subprocess.TimeoutExpired):
        Memory(shop.cwd, shop.env, fresh=False)("sync", env=env, seconds=0.5)
    assert Memory(shop.cwd, shop.env, fresh=False)("status").code == 0
