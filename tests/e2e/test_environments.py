"""Commands that one shell alone has: a virtual environment that is active, and agents that start elsewhere."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest

import quire

SCRIPTS = {
    "memory": "from quire.surfaces.cli import main",
    "quire": "from quire.surfaces.cli import main",
    "memory-mcp": "from quire.surfaces.mcp import main",
    "agent-memory": "from quire.surfaces.cli import journal_main as main",
}
PAYLOAD = {"hook_event_name": "SessionStart", "source": "startup"}


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with Quire in it, as `pip install` makes one."""
    folder = tmp_path_factory.mktemp("made") / "venv"
    venv.create(folder, symlinks=True)
    (site,) = folder.glob("lib/python3*/site-packages")
    own = str(Path(quire.__file__).parents[1])
    others = [path for path in sys.path if path.endswith("site-packages")]
    (site / "quire.pth").write_text("\n".join([own, *others]) + "\n")
    for name, line in SCRIPTS.items():
        path = folder / "bin" / name
        path.write_text(f"#!{folder}/bin/python\nimport sys\n{line}\nsys.exit(main())\n")
        path.chmod(0o755)
    return folder


class Shell:
    """A shell of a user, with the environment active or not."""

    def __init__(self, folder: Path, environment: Path) -> None:
        self.environment = environment
        self.root = folder / "project"
        self.home = folder / "home"
        for path in (self.root, self.home / ".local/bin"):
            path.mkdir(parents=True)
        git = os.path.dirname(shutil.which("git") or "/usr/bin/git")
        self.login = os.pathsep.join(dict.fromkeys([str(self.home / ".local/bin"), git, "/usr/bin", "/bin"]))
        subprocess.run(["git", "init", "-q", "."], cwd=self.root, env=self.env(), check=True)

    def env(self, *, active: bool = False, path: str = "") -> dict[str, str]:
        found = {
            "PATH": path or self.login,
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "PYTHONPYCACHEPREFIX": "/dev/shm",
        }
        if active:
            found |= {"PATH": f"{self.environment}/bin:{found['PATH']}", "VIRTUAL_ENV": str(self.environment)}
        return found

    def __call__(self, *words: str, active: bool = True, path: str = "") -> Any:
        """What the command of the environment answers with `--json`."""
        env = self.env(active=active, path=path)
        line = [str(self.environment / "bin/memory"), *words, "--json"]
        done = subprocess.run(line, cwd=self.root, env=env, capture_output=True, text=True, timeout=120, check=False)
        return json.loads(done.stdout)

    def hook(self, *, active: bool = False) -> str:
        """What an agent gets from the hook that is written for it, as its own shell runs it."""
        wired = json.loads((self.root / ".claude/settings.json").read_text())["hooks"]["SessionStart"]
        line = wired[0]["hooks"][0]["command"]
        done = subprocess.run(
            ["/bin/sh", "-c", line],
            cwd=self.root,
            env=self.env(active=active),
            input=json.dumps({**PAYLOAD, "session_id": os.urandom(4).hex(), "cwd": str(self.root)}),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0
        return done.stdout


def found(answer: Any, name: str) -> dict[str, Any]:
    return next((item for item in answer["data"]["findings"] if item["name"] == name), {})


@pytest.mark.proof
def test_an_active_environment_is_told_and_the_commands_are_linked(environment: Path, tmp_path: Path) -> None:
    shell = Shell(tmp_path, environment)
    shell("init", "--no-guidance")
    shell("note", "Look at the retries of the worker next.")

    # Without a folder of the user's own on the PATH, it can only be said.
    wired = shell("integrate", "claude", path="/usr/bin:/bin")
    (said,) = [item for item in wired["warnings"] if item["code"] == "CommandUnreachable"]
    assert said["message"].startswith("Agents start `quire` and `memory-mcp` by name. ")
    assert f"on the PATH only while the virtual environment {environment} is active" in said["message"]
    assert "memory integrate --user" in said["hint"]
    assert str(environment) not in (shell.root / ".claude/settings.json").read_text()
    assert str(environment) not in (shell.root / ".mcp.json").read_text()
    assert shell.hook() == ""
    assert shell.hook(active=True) != ""

    looked = shell("doctor")
    assert found(looked, "environment")["state"] == "warning"
    assert found(looked, "environment")["fixable"] is True
    assert "only while" in found(looked, "quire on the PATH")["message"]
    fixed = shell("doctor", "--fix")
    assert [item["name"] for item in fixed["data"]["fixed"]].count("commands") == 1
    assert found(fixed, "environment") == found(fixed, "quire on the PATH") == {}
    assert sorted(path.name for path in (shell.home / ".local/bin").iterdir()) == sorted(SCRIPTS)
    assert shell.hook() != ""
    again = shell("integrate", "claude")
    assert [item["code"] for item in again["warnings"]] == []


@pytest.mark.proof
def test_what_is_in_the_place_of_a_link_stays(environment: Path, tmp_path: Path) -> None:
    shell = Shell(tmp_path, environment)
    shell("init", "--no-guidance")
    other = shell.home / ".local/bin/memory"
    other.write_text("#!/bin/sh\necho free\n")
    other.chmod(0o755)
    # Called by its path, with nothing of it on the PATH.
    looked = shell("doctor", active=False)
    assert found(looked, "quire")["fixable"] is True
    shell("doctor", "--fix", active=False)
    assert other.read_text() == "#!/bin/sh\necho free\n"
    assert (shell.home / ".local/bin/quire").resolve() == (environment / "bin/quire").resolve()


def test_a_path_of_the_user_needs_no_activation(environment: Path, tmp_path: Path) -> None:
    shell = Shell(tmp_path, environment)
    shell("init", "--no-guidance")
    kept = f"{environment}/bin:{shell.login}"
    assert shell("integrate", "claude", active=False, path=kept)["warnings"] == []
    assert found(shell("doctor", active=False, path=kept), "environment") == {}
    # The user's own files name the commands by their paths, which need no PATH at all.
    assert shell("integrate", "cursor", "--user", "--yes")["warnings"] == []
    assert f"{environment}/bin/" in (shell.home / ".cursor/mcp.json").read_text()
