"""A disk that is full, read-only or out of room for names: reading goes on, writing fails in words, nothing is lost."""

import errno
import os
import resource
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from promised import proves


def private_mounts() -> list[str]:
    """The command that gives a process mounts of its own, or nothing where that is not allowed."""
    for line in (["unshare", "-m"], ["unshare", "-rm"]):
        try:
            script = 'd=$(mktemp -d) && mount -t tmpfs -o size=64k none "$d" && umount "$d"; r=$?; rmdir "$d"; exit $r'
            done = subprocess.run([*line, "sh", "-c", script], capture_output=True, check=False)
        except OSError:
            return []
        if done.returncode == 0 and shutil.which("nsenter"):
            return line
    return []


@pytest.fixture(scope="session")
def unshare() -> list[str]:
    line = private_mounts()
    if not line:
        pytest.skip("mounts of one's own are not permitted here (unshare -m)")
    return line


class Elsewhere:
    """The same folder on another disk, seen only by the commands started through this."""

    def __init__(self, process: subprocess.Popen[str], memory: Any, repo: Path, entering: list[str]) -> None:
        self.root = Path(f"/proc/{process.pid}/root")
        self.repo = self.root / repo.relative_to("/")
        enter = ["nsenter", *entering, "--target", str(process.pid), "--mount"]
        prefix = [*enter, "sh", "-c", 'cd "$0" && exec "$@"', str(repo)]
        self.memory = type(memory)(Path("/"), memory.env, prefix)


@pytest.fixture
def mounted(unshare: list[str], memory: Any, repo: Path) -> Iterator[Callable[[str], Elsewhere]]:
    started: list[subprocess.Popen[str]] = []

    def mount(script: str) -> Elsewhere:
        line = [*unshare, "sh", "-c", f"{script} && echo ready && exec cat", "sh", str(repo)]
        process = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        entering = ["--user", "--preserve-credentials"] if "-rm" in unshare else []
        return Elsewhere(process, memory, repo, entering)

    yield mount
    for process in started:
        process.communicate()


SMALL = (
    'keep=$(mktemp -d) && cp -a "$1/." "$keep/" && mount -t tmpfs -o size=2m none "$1" && cp -a "$keep/." "$1/"'
    ' && rm -rf "$keep"'
)
READ_ONLY = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1"'


def feature(title: str, body: str = "B.") -> dict[str, Any]:
    return {"task": "t", "nodes": [{"kind": "feature", "title": title, "body": body}]}


def kept(tree: dict[str, bytes]) -> dict[str, bytes]:
    return {name: data for name, data in tree.items() if not name.endswith(("ballast", ".lock"))}


@pytest.mark.proof
@proves("P1.3", "C1", over="graph")
def test_a_full_disk_refuses_the_save_in_words_and_keeps_everything_as_it_was(
    memory: Any, mounted: Callable[[str], Elsewhere], tree: Callable[..., dict[str, bytes]]
) -> None:
    memory.init()
    memory.save({"kind": "feature", "title": "Old", "body": "Was here before."})
    shutil.rmtree(memory.cwd / ".git")
    small = mounted(SMALL)
    refused = saved = 0
    for free in (0, 4, 8, 12, 16, 24, 36, 100, 200):
        fill(small.repo, free * 1024)
        before = kept(tree(small.repo))
        run = small.memory("save", "--stdin", "--json", stdin=feature(f"New {free}", "x" * 6000))
        if run.code == 0:
            saved += 1
            assert small.memory("inspect", f"feature.new-{free}").code == 0
        else:
            refused += 1
            assert run.code == 1
            assert "disk is full" in run.error["message"]
            assert "space" in run.error["hint"]
            assert kept(tree(small.repo)) == before
            assert small.memory("inspect", "feature.old").code == 0
        assert small.memory("status", "--json").data["unreadable"] == []
        assert small.memory("check", "--json").data["errors"] == []
        assert not list((small.repo / ".memory" / "recovery").glob("transaction-*"))
        assert not list(small.repo.rglob("*.tmp"))
        assert not (small.repo / ".memory" / ".lock").exists()
    assert refused >= 4
    assert saved >= 1
    fill(small.repo, 1024 * 1024)
    assert small.memory("save", "--stdin", stdin=feature("After", "There is room again.")).code == 0


def fill(repo: Path, free: int) -> None:
    """Leave this much room on the disk and no more."""
    ballast = repo / "ballast"
    ballast.unlink(missing_ok=True)
    found = os.statvfs(repo)
    os_bytes = found.f_bavail * found.f_frsize - free
    with open(ballast, "wb") as file:
        file.write(b"\0" * max(os_bytes, 0))


@pytest.mark.proof
@proves("P1.3", "C1", over="graph")
def test_init_on_a_full_disk_leaves_no_half_of_a_memory(memory: Any, mounted: Callable[[str], Elsewhere]) -> None:
    shutil.rmtree(memory.cwd / ".git")
    small = mounted(SMALL)
    for free in (0, 8, 24, 48):
        fill(small.repo, free * 1024)
        run = small.memory("init", "--json")
        assert run.code == 1, free
        assert "disk is full" in run.error["message"]
        assert not (small.repo / ".memory" / "config.json").exists()
        assert not list((small.repo / ".memory").glob("memory/*"))
    fill(small.repo, 1024 * 1024)
    assert small.memory("init").code == 0
    assert small.memory("check", "--json").data["errors"] == []


@pytest.mark.proof
@proves("P1.3", "C2", over="graph")
def test_on_a_read_only_disk_reading_goes_on_and_writing_says_why_not(
    memory: Any, mounted: Callable[[str], Elsewhere], repo: Path, tree: Callable[..., dict[str, bytes]]
) -> None:
    memory.init()
    memory.save({"kind": "feature", "title": "Old", "body": "Was here before.", "stage": "shipped"})
    body = repo / ".memory" / "memory" / "old.md"
    body.write_text("Changed since the index last looked.", encoding="utf-8")
    before = tree(repo, generated=True)
    read_only = mounted(READ_ONLY)
    assert read_only.memory("status", "--json").data["features_by_stage"]["shipped"]["titles"] == ["Old"]
    found = read_only.memory("inspect", "feature.old", "--json").data["object"]
    assert found["body"] == "Changed since the index last looked."
    for line in (["check"], ["diff"], ["status"], ["status", "--all"], ["docs"], ["init", "--dry-run"], ["upgrade"]):
        assert read_only.memory(*line).code == 0, line
    assert read_only.memory("save", "--stdin", "--dry-run", stdin=feature("New")).code == 0
    for line in (["save", "--stdin"], ["reset", "--yes"], ["init", "--force"]):
        run = read_only.memory(*line, "--json", stdin=feature("New"))
        assert run.code == 1, line
        assert "read-only" in run.error["message"]
        assert run.error["hint"]
    assert tree(repo, generated=True) == before


@proves("P1.3", "C2", over="graph index")
@proves("P4.1")
@pytest.mark.parametrize("index", ["none", "current", "damaged"])
def test_on_a_read_only_disk_the_answer_does_not_depend_on_the_index(
    memory: Any, mounted: Callable[[str], Elsewhere], repo: Path, index: str
) -> None:
    memory.init()
    memory.save({"kind": "feature", "title": "Old", "body": "B."})
    if index == "none":
        shutil.rmtree(repo / ".memory" / "index")
    elif index == "damaged":
        (repo / ".memory" / "index" / "quire.sqlite").write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    read_only = mounted(READ_ONLY)
    assert read_only.memory("status", "--json").data["features_by_stage"]["idea"]["titles"] == ["Old"]
    assert read_only.memory("check").code == 0


@proves("P1.3", "C2", over="graph")
def test_on_a_read_only_disk_an_interrupted_save_does_not_stop_readers(
    memory: Any, mounted: Callable[[str], Elsewhere], repo: Path
) -> None:
    memory.init()
    memory.save({"kind": "feature", "title": "Old", "body": "B."})
    folder = repo / ".memory" / "recovery" / "transaction-dead"
    folder.mkdir(parents=True)
    (folder / "0.new").write_bytes(b"half")
    read_only = mounted(READ_ONLY)
    for line in (["status"], ["inspect", "feature.old"], ["check"]):
        assert read_only.memory(*line).code == 0, line
    assert (folder / "0.new").exists()


@proves("P1.3", "C3", over="graph")
@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
@pytest.mark.parametrize("mode", [0o000, 0o555])
def test_a_folder_that_may_not_be_written_is_named(memory: Any, repo: Path, mode: int) -> None:
    memory.init()
    folder = repo / ".memory"
    before = stat.S_IMODE(folder.stat().st_mode)
    folder.chmod(mode)
    try:
        run = memory("save", "--stdin", "--json", stdin=feature("New"))
    finally:
        folder.chmod(before)
    assert run.code in (1, 3)
    assert ".memory" in run.error["message"]


@proves("P1.5", "C14", over="graph")
def test_the_longest_names_that_are_allowed_can_be_written(memory: Any) -> None:
    longest = "feature." + "a" * 152
    other = "decision." + "b" * 151
    memory.init()
    saved = memory.save(
        {"id": longest, "title": "長" * 300, "body": "B.", "related": [{"predicate": "depends_on", "to": other}]},
        {"id": other, "title": "T" * 300, "body": "B."},
        {"kind": "gotcha", "title": "ß" * 300, "body": "B."},
    )
    assert len(saved["memory_created"]) == 3
    names = [path.name for path in (memory.cwd / ".memory").rglob("*")]
    assert max(map(len, names)) <= 255
    assert memory("check", "--json").data["errors"] == []
    assert memory("inspect", longest).code == 0


@proves("P1.5", "C14", over="graph")
def test_a_path_too_long_for_the_system_is_refused_in_words(memory: Any, tmp_path: Path) -> None:
    here = os.getcwd()
    folder = tmp_path
    os.chdir(folder)
    try:
        while len(str(folder)) < 3990:
            name = "d" * min(200, 4060 - len(str(folder)))
            os.mkdir(name)
            os.chdir(name)
            folder = folder / name
    finally:
        os.chdir(here)
    run = memory("init", "--json", cwd=folder)
    assert run.code == 1
    assert "name is too long" in run.error["message"]
    assert run.error["details"]["errno"] == errno.errorcode[errno.ENAMETOOLONG]


@proves("P1.5", "C8")
def test_a_home_that_cannot_be_used_does_not_stop_the_project(memory: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    for env in (
        {"MEMORY_HOME": str(tmp_path / "file")},
        {"MEMORY_HOME": "/proc/nowhere"},
        {"HOME": "", "MEMORY_HOME": ""},
    ):
        run = memory("init", "--json", env=env)
        assert run.code == 0, run.out
        assert [warning["code"] for warning in run.json["warnings"]]
        assert memory("status", "--all", env=env).code == 0


@proves("P1.3", "C4", over="graph")
def test_the_limit_of_open_files_is_not_reached_by_a_large_save(memory: Any) -> None:
    memory.init()
    low = (64, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    nodes = [{"kind": "gotcha", "title": f"Number {number}", "body": "B."} for number in range(200)]
    script = (
        "import os, resource, sys\n"
        f"resource.setrlimit(resource.RLIMIT_NOFILE, {low})\n"
        "os.execv(sys.argv[1], sys.argv[1:])"
    )
    wrapped = type(memory)(memory.cwd, memory.env, [sys.executable, "-c", script])
    assert len(wrapped.save(*nodes)["memory_created"]) == 200
