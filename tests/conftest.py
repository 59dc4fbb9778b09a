"""What every room's tests share: a throw-away repository, the installed command run in it, a pinned clock."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Generator, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from installed import Git, Memory, empty_repository, make_environment
from promised import note
from quire.files.world import World
from quire.project import Project
from quire.verbs.admin.new_memory import init_memory
from thorough import LONG, examples, some

NOW = "2026-03-02T11:19:00+00:00"
SHARED_MEMORY = "/dev/shm"
ROOM = 256 * 1024 * 1024
_GENERATED = (".git", "index", ".backup", "recovery")

# The tests run on busy machines: how long one example takes says nothing about the code. The same examples every time:
# a failure that only some runs see helps nobody.
settings.register_profile(
    "quire",
    deadline=None,
    derandomize=True,
    max_examples=examples(100),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
settings.load_profile("quire")


def pytest_configure() -> None:
    """However the run was started (behind `nohup`, in the background), what it starts can be interrupted."""
    for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, usual)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores: much of a test is waiting for git, for a disk, for a time limit."""
    return (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1) + 1


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What is marked `proof` runs where everything does (see `thorough.py`), or where a run chooses by marks itself.

    Of what is marked `proof(keep=3)` three cases at even distances run always.
    """
    if LONG or config.option.markexpr:
        return
    marked: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("proof"):
            marked.setdefault(item.nodeid.partition("[")[0], []).append(item)
    left_out = {item for cases in marked.values() for item in _not_kept(cases)}
    if left_out:
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]


def _not_kept(cases: list[pytest.Item]) -> list[pytest.Item]:
    mark = cases[0].get_closest_marker("proof")
    kept = some(cases, mark.kwargs["keep"]) if mark and mark.kwargs else []
    return [case for case in cases if case not in kept]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays until the end: the garbage collector need not look at it again and again."""
    gc.disable()
    done = yield
    gc.freeze()
    gc.enable()
    return done


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """How a test ended that proves a promise, for `make proof`."""
    report = yield
    clauses = [mark.args[0] for mark in item.iter_markers("proves")]
    if clauses and (report.when == "call" or report.outcome != "passed"):
        note({"test": item.nodeid, "clauses": clauses, "outcome": report.outcome})
    return report


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
def tmp_path() -> Iterator[Path]:
    """On a disk in memory where there is one: saves and commits sync often, and its cost is not the question."""
    folder = tempfile.mkdtemp(prefix="quire-", dir=SHARED_MEMORY if _enough_room() else None)
    yield Path(folder).resolve()
    shutil.rmtree(folder, ignore_errors=True)


def _enough_room() -> bool:
    try:
        found = os.statvfs(SHARED_MEMORY)
    except OSError:
        return False
    return os.access(SHARED_MEMORY, os.W_OK) and found.f_bavail * found.f_frsize >= ROOM


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The environment of a user who has git, a home folder and nothing else."""
    return make_environment(tmp_path)


@pytest.fixture
def repo(tmp_path: Path, environment: dict[str, str]) -> Path:
    """An empty git repository."""
    folder = tmp_path / "harbor"
    empty_repository(folder)
    return folder


@pytest.fixture
def git(repo: Path, environment: dict[str, str]) -> Git:
    return Git(repo, environment)


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
    init_memory(project)
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
