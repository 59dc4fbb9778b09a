"""What every room's tests share: a throw-away repository, the installed command run in it, a pinned clock."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, settings

from quire.files import World
from quire.project import Project

NOW = "2026-03-02T11:19:00+00:00"
_GENERATED = (".git", "index", ".backup", "recovery")

# The tests run on busy machines: how long one example takes says nothing about the code. The same examples every time:
# a failure that only some runs see helps nobody.
settings.register_profile(
    "quire",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
settings.load_profile("quire")


@pytest.fixture(scope="session", autouse=True)
def _isolated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Nothing of the person who runs the tests reaches them: no git settings, no agent, no registry."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(("GIT_", "MEMORY_", "XDG_", "LC_")) or name == "CLAUDECODE":
                patch.delenv(name)
        patch.setenv("HOME", str(home))
        patch.setenv("MEMORY_HOME", str(home / "registry"))
        yield


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The environment of a user who has git, a home folder and nothing else."""
    return make_environment(tmp_path)


def make_environment(folder: Path) -> dict[str, str]:
    home = folder / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        "[user]\n\tname = Tess Ter\n\temail = tess@example.com\n"
        "[init]\n\tdefaultBranch = main\n[commit]\n\tgpgsign = false\n[advice]\n\tdetachedHead = false\n",
        encoding="utf-8",
    )
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "MEMORY_HOME": str(home / "registry"),
        "LANG": "C.UTF-8",
        "PYTHONWARNINGS": "error",
    }


class Git:
    """The git program, for what a user does with it."""

    def __init__(self, cwd: Path, env: Mapping[str, str]) -> None:
        self.cwd = cwd
        self.env = env

    def __call__(self, *arguments: str | bytes | Path, cwd: Path | None = None, stdin: bytes = b"") -> str:
        line = ["git", *arguments]
        done = subprocess.run(line, cwd=cwd or self.cwd, env=self.env, input=stdin, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode("utf-8", "surrogateescape")

    def commit(self, message: str = "work") -> str:
        self("add", "--all")
        self("commit", "--quiet", "--allow-empty", "--message", message)
        return self("rev-parse", "HEAD").strip()


@pytest.fixture
def repo(tmp_path: Path, environment: dict[str, str]) -> Path:
    """An empty git repository."""
    folder = tmp_path / "harbor"
    folder.mkdir()
    Git(folder, environment)("init", "--quiet")
    return folder


@pytest.fixture
def git(repo: Path, environment: dict[str, str]) -> Git:
    return Git(repo, environment)


class Run(msgspec.Struct, frozen=True):
    """How a command ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON object on standard output."""
        return json.loads(self.out)

    @property
    def data(self) -> Any:
        assert self.json["ok"] is True, self.out
        return self.json["data"]

    @property
    def error(self) -> Any:
        """The error of a failed command, its envelope checked on the way."""
        envelope = self.json
        assert set(envelope) == {"ok", "error", "warnings", "meta"}
        assert envelope["ok"] is False
        assert set(envelope["error"]) == {"code", "message", "hint", "details"}
        return envelope["error"]


class Memory:
    """The installed command. Whatever a test is about, a crash of the program fails it."""

    def __init__(self, cwd: Path, env: Mapping[str, str], prefix: Sequence[str] = ()) -> None:
        found = shutil.which("memory", path=os.path.dirname(sys.executable))
        assert found, "the package is not installed beside this interpreter"
        self.program = [*prefix, found]
        self.cwd = cwd
        self.env = env

    def __call__(
        self,
        *arguments: str,
        stdin: bytes | str | dict[str, Any] = b"",
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        seconds: float = 60,
    ) -> Run:
        line = [*self.program, *arguments]
        environment = {**self.env, **(env or {})}
        done = subprocess.run(
            line,
            cwd=cwd or self.cwd,
            env=environment,
            input=_bytes(stdin),
            capture_output=True,
            timeout=seconds,
            check=False,
        )
        run = Run(done.returncode, done.stdout.decode(), done.stderr.decode())
        for said in (run.out, run.err):
            assert "Traceback" not in said, said
            assert "Quire itself failed" not in said, said
        return run

    def start(self, *arguments: str, cwd: Path | None = None, **options: Any) -> subprocess.Popen[bytes]:
        """The command in the background."""
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        return subprocess.Popen([*self.program, *arguments], cwd=cwd or self.cwd, env=self.env, **pipes)

    def init(self, *arguments: str, **options: Any) -> Run:
        run = self("init", *arguments, **options)
        assert run.code == 0, run.err
        return run

    def save(self, *nodes: dict[str, Any], task: str = "test", **lists: Any) -> Any:
        """Save these nodes and answer with the report; it must work."""
        run = self("save", "--stdin", "--json", stdin={"task": task, "nodes": list(nodes), **lists})
        assert run.code == 0, run.out
        return run.data


def _bytes(stdin: bytes | str | dict[str, Any]) -> bytes:
    if isinstance(stdin, dict):
        return json.dumps(stdin).encode()
    return stdin.encode() if isinstance(stdin, str) else stdin


@pytest.fixture
def memory(repo: Path, environment: dict[str, str]) -> Memory:
    """The installed command in the repository, its clock pinned."""
    return Memory(repo, {**environment, "MEMORY_NOW": NOW})


@pytest.fixture(scope="module")
def shared_memory(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    """One memory for all tests of a module that must not change it."""
    folder = tmp_path_factory.mktemp("shared")
    env = make_environment(folder)
    root = folder / "harbor"
    root.mkdir()
    Git(root, env)("init", "--quiet")
    memory = Memory(root, {**env, "MEMORY_NOW": NOW})
    memory.init()
    return memory


@pytest.fixture
def world(repo: Path, environment: dict[str, str]) -> World:
    """A world of the test's own: pinned clock, counted tokens, no waiting."""
    count = iter(range(10**9))
    return World(
        cwd=str(repo),
        env=environment,
        now=lambda: datetime.fromisoformat(NOW).astimezone(UTC),
        token=lambda: f"{next(count):016x}",
        sleep=lambda _seconds: None,
        pid=os.getpid(),
    )


@pytest.fixture
def project(repo: Path, world: World) -> Project:
    """A project with an empty memory, in this process."""
    project = Project.open(str(repo), world)
    project.init()
    return project


Tree = dict[str, bytes]


@pytest.fixture(scope="session")
def tree() -> Callable[..., Tree]:
    return read_tree


def read_tree(top: Path, *, generated: bool = False) -> Tree:
    """Every file below a folder with its bytes; a link or a pipe with what it is. Generated files only if asked for."""
    found: Tree = {}
    for folder, folders, files in os.walk(top):
        if not generated:
            folders[:] = [name for name in folders if name not in _GENERATED]
        for name in [*files, *(name for name in folders if os.path.islink(os.path.join(folder, name)))]:
            path = Path(folder, name)
            shown = os.path.relpath(path, top)
            if path.is_symlink():
                found[shown] = b"-> " + os.fsencode(os.readlink(path))
            elif path.is_file():
                found[shown] = path.read_bytes()
            else:
                found[shown] = b"special"
    return dict(sorted(found.items()))
