"""What a query promises: answers from the files as they are now, whatever became of the index; it writes only there."""

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from installed import Memory
from promised import proves, tally
from quire.files.world import World
from quire.layers.graph.source import GraphSource
from quire.project import Project
from quire.verbs.admin.rebuild import Rebuild, rebuild
from quire.verbs.ask.answers import answer_question
from quire.verbs.graph.save import save_nodes
from thorough import either

pytestmark = proves("P4.2")

QUEUE = {"kind": "feature", "title": "Retry queue", "body": "Failed deliveries are sent again.", "stage": "building"}
WORKER = {"kind": "decision", "title": "Retries run in the worker", "body": "The web process must stay quick."}


@pytest.fixture
def filled(project: Project) -> Project:
    related = [{"predicate": "affects", "to": "feature.retry-queue"}]
    save_nodes(project, {"task": "t", "nodes": [QUEUE, {**WORKER, "related": related}]})
    return project


def refs(project: Project, question: str) -> list[str]:
    return [hit.record.ref for hit in answer_question(project, question).hits]


def nodes(project: Project) -> Path:
    return Path(project.graph.folder) / "memory"


def file_of(project: Project) -> Path:
    (found,) = (Path(project.graph.folder) / "index").glob("*.sqlite")
    return found


# -- fresh --------------------------------------------------------------------------------------


def test_a_hand_edit_is_answered_from_at_once(filled: Project) -> None:
    assert refs(filled, "kangaroo") == []
    (nodes(filled) / "retry-queue.md").write_text("Kangaroos carry the deliveries.")
    assert refs(filled, "kangaroo") == ["feature.retry-queue"]
    assert "Kangaroos" in answer_question(filled, "retry queue").markdown
    (nodes(filled) / "retry-queue.md").write_text("Something else.")
    assert refs(filled, "kangaroo") == []


def test_an_edit_of_the_same_length_in_the_same_second_is_noticed(filled: Project) -> None:
    path = nodes(filled) / "retry-queue.md"
    for word in ("kangaroo", "aardvark", "platypus", "hedgehog"):
        path.write_text(f"The {word} carries it.")
        assert refs(filled, word) == ["feature.retry-queue"]


def test_a_file_put_back_with_its_old_time_and_length_is_noticed(filled: Project) -> None:
    path = nodes(filled) / "retry-queue.md"
    path.write_text("The kangaroo carries it.")
    assert refs(filled, "kangaroo") == ["feature.retry-queue"]
    times = (path.stat().st_atime_ns, path.stat().st_mtime_ns)
    path.write_text("The aardvark carries it.")
    os.utime(path, ns=times)
    assert refs(filled, "aardvark") == ["feature.retry-queue"]


def test_a_deleted_file_is_not_answered_from(filled: Project) -> None:
    assert "feature.retry-queue" in refs(filled, "retry queue")
    for suffix in (".md", ".json"):
        (nodes(filled) / f"retry-queue{suffix}").unlink()
    answer = answer_question(filled, "retry queue")
    assert "feature.retry-queue" not in answer.markdown
    assert answer.connected == []


@proves("P6.4", "E7", over="graph")
def test_a_checkout_a_merge_and_a_pull_are_answered_from_at_once(
    filled: Project, git: Any, repo: Path, tmp_path: Path, world: World
) -> None:
    git.commit("start")
    git("checkout", "-q", "-b", "side")
    save_nodes(
        filled, {"task": "t", "nodes": [{"kind": "gotcha", "title": "Kangaroo trap", "body": "Kangaroos jump."}]}
    )
    git.commit("kangaroo")
    assert refs(filled, "kangaroo") == ["gotcha.kangaroo-trap"]
    git("checkout", "-q", "main")
    assert refs(filled, "kangaroo") == []
    git("checkout", "-q", "side")
    assert refs(filled, "kangaroo") == ["gotcha.kangaroo-trap"]
    git("checkout", "-q", "main")
    git("merge", "-q", "--no-edit", "side")
    assert refs(filled, "kangaroo") == ["gotcha.kangaroo-trap"]
    git("clone", "-q", repo, tmp_path / "clone")
    clone = Project.open(str(tmp_path / "clone"), world)
    assert refs(clone, "kangaroo") == ["gotcha.kangaroo-trap"]
    save_nodes(filled, {"task": "t", "nodes": [{"kind": "gotcha", "title": "Aardvark trap", "body": "Aardvarks dig."}]})
    git.commit("aardvark")
    assert refs(clone, "aardvark") == []
    git("pull", "-q", cwd=tmp_path / "clone")
    assert refs(clone, "aardvark") == ["gotcha.aardvark-trap"]
    git("reset", "-q", "--hard", "HEAD~1", cwd=tmp_path / "clone")
    assert refs(clone, "aardvark") == []


def test_a_relation_changed_by_hand_is_followed_as_it_is_now(filled: Project) -> None:
    assert answer_question(filled, "web process must stay quick", limit=1).connected
    (relation,) = (Path(filled.graph.folder) / "relations").glob("*.json")
    relation.write_text(relation.read_text().replace('"active"', '"rejected"'))
    assert answer_question(filled, "web process must stay quick", limit=1).connected == []
    relation.unlink()
    assert answer_question(filled, "web process must stay quick", limit=1).connected == []


def test_files_that_vanish_while_they_are_read_are_just_gone(filled: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    real = GraphSource.read

    def vanishing(source: GraphSource, paths: Any) -> Any:
        for suffix in (".md", ".json"):
            (nodes(filled) / f"retry-queue{suffix}").unlink(missing_ok=True)
        return real(source, paths)

    file_of(filled).unlink()
    monkeypatch.setattr(GraphSource, "read", vanishing)
    assert refs(filled, "retries worker") == ["decision.retries-run-in-the-worker"]
    monkeypatch.undo()
    assert refs(filled, "retries worker") == ["decision.retries-run-in-the-worker"]


def test_a_query_changes_no_file_but_the_index(filled: Project, git: Any, tree: Callable[..., Any], repo: Path) -> None:
    git.commit()
    (nodes(filled) / "retry-queue.md").write_text("Kangaroos carry the deliveries.")
    before, status = tree(repo), git("status", "--porcelain")
    for question in ("kangaroo", "retry queue", "nothing of the sort"):
        answer_question(filled, question)
    answer_question(filled, "", path="src/x.py")
    rebuild(filled, Rebuild())
    assert tree(repo) == before
    assert git("status", "--porcelain") == status


# -- whatever happened to the index -------------------------------------------------------------


def _zeros(path: Path) -> None:
    path.write_bytes(b"\0" * 65536)


def _random(path: Path) -> None:
    path.write_bytes(random.Random(7).randbytes(65536))


def _folder(path: Path) -> None:
    path.unlink()
    (path / "inside").mkdir(parents=True)


def _newer(path: Path) -> None:
    with contextlib.closing(apsw.Connection(str(path))) as connection:
        connection.pragma("user_version", 10_000)


def _foreign(path: Path) -> None:
    path.unlink()
    with contextlib.closing(apsw.Connection(str(path))) as connection:
        connection.execute("CREATE TABLE records (id INTEGER, title TEXT); INSERT INTO records VALUES (1, 'theirs')")


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _half(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _all_of_it(path: Path) -> None:
    shutil.rmtree(path.parent)


def _a_file_in_its_place(path: Path) -> None:
    shutil.rmtree(path.parent)
    path.parent.write_text("not a folder")


@pytest.mark.proof(keep=5)
@proves("P4.1", "A15", over="index")
@pytest.mark.parametrize(
    "damage",
    [_zeros, _random, _folder, _newer, _foreign, _empty, _half, Path.unlink, _all_of_it, _a_file_in_its_place],
)
def test_whatever_became_of_the_index_the_answer_is_the_same(filled: Project, damage: Callable[[Path], None]) -> None:
    expected = answer_question(filled, "retries in the worker").markdown
    damage(file_of(filled))
    assert answer_question(filled, "retries in the worker").markdown == expected
    assert answer_question(filled, "retries in the worker").markdown == expected


def _spoil(path: Path, begin: int, size: int) -> None:
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    data = bytearray(path.read_bytes())
    data[begin : begin + size] = random.Random(begin).randbytes(size)
    path.write_bytes(data[: max(len(data), 4096)])


@proves("P4.1", "A15", over="index")
@pytest.mark.parametrize("part", ["words", "vectors", "records", "pages"])
def test_an_index_that_is_only_partly_damaged_is_made_again(filled: Project, part: str) -> None:
    expected = answer_question(filled, "retries in the worker").markdown
    if part == "pages":
        for page in range(2, file_of(filled).stat().st_size // 4096):
            _spoil(file_of(filled), page * 4096, 4096)
            assert answer_question(filled, "retries in the worker").markdown == expected
    else:
        with contextlib.closing(apsw.Connection(str(file_of(filled)))) as connection:
            connection.execute(f"DROP TABLE {part}")
        assert answer_question(filled, "retries in the worker").markdown == expected


def test_a_read_only_file_system_answers_too(filled: Project, repo: Path, memory: Any) -> None:
    expected = memory("query", "retries in the worker")
    assert expected.code == 0
    script = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && cd "$0" && ! touch x 2>/dev/null && exec "$@"'
    line = ["unshare", "--mount", "sh", "-c", script, str(repo), *_program(memory), "query", "retries in the worker"]
    for fresh in (True, False):
        if not fresh:
            shutil.rmtree(file_of(filled).parent)
        done = subprocess.run(line, env=memory.env, capture_output=True, text=True, check=False, timeout=60)
        if "permitted" in done.stderr or "denied" in done.stderr or "unshare" in done.stderr:
            pytest.skip(f"no mount of our own: {done.stderr.strip()[:100]}")
        assert (done.returncode, done.stdout, done.stderr) == (0, expected.out, "")


def _program(memory: Any) -> list[str]:
    return list(memory.program) if isinstance(memory.program, list) else [memory.program]


# -- many at once -------------------------------------------------------------------------------


def _many(project: Project, number: int) -> None:
    words = ["queue", "worker", "ledger", "invoice", "font", "clinic", "login", "retry"]
    save_nodes(
        project,
        {
            "task": "t",
            "nodes": [
                {
                    "kind": "decision",
                    "title": f"Note {n} on the {words[n % 8]}",
                    "body": f"The {words[n % 8]} meets the {words[n // 8 % 8]}. " * 6,
                }
                for n in range(number)
            ],
        },
    )


@pytest.mark.proof
@proves("P4.1", "A14", over="index")
def test_a_rebuild_killed_at_any_moment_harms_no_answer(filled: Project, memory: Any) -> None:
    _many(filled, 400)
    expected = answer_question(filled, "retries in the worker").markdown
    anew = Memory(memory.cwd, memory.env, fresh=True)
    assert anew("rebuild").code == 0  # the first one may have to wait for more than its own work
    begun = time.monotonic()
    assert anew("rebuild").code == 0
    whole = time.monotonic() - begun
    chance = random.Random(3)
    killed = 0
    for _ in range(10):
        process = memory.start("rebuild")
        time.sleep(whole * (0.2 + 0.75 * chance.random()))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        killed += process.returncode == -signal.SIGKILL
        assert answer_question(filled, "retries in the worker").markdown == expected
    assert killed
    assert memory("query", "retries in the worker").out.rstrip("\n") == expected.rstrip("\n")


@pytest.mark.proof
@proves("P4.1", "A16", over="index")
@proves("P4.2", "A16", over="index")
def test_an_index_whose_writer_is_killed_again_and_again_answers_as_the_files_do(filled: Project, repo: Path) -> None:
    _many(filled, 60)
    body = next((repo / ".memory" / "memory").glob("*.md"))
    chance, killed, turns = random.Random(5), 0, either(25, 500)
    begun = time.monotonic()
    rebuild(filled, Rebuild())
    whole = time.monotonic() - begun
    for turn in range(turns):
        body.write_text(f"The word of this turn is zugspitze{turn}.\n", encoding="utf-8")
        child = _forked(
            lambda turn=turn: answer_question(filled, f"zugspitze{turn}") if turn % 2 else rebuild(filled, Rebuild())
        )
        time.sleep(whole * chance.random())
        os.kill(child, signal.SIGKILL)
        killed += os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        assert f"zugspitze{turn}." in answer_question(filled, f"zugspitze{turn}").markdown
        connection = apsw.Connection(str(repo / ".memory" / "index" / "quire.sqlite"))
        assert list(connection.execute("PRAGMA integrity_check")) == [("ok",)]
        connection.close()
    assert killed >= turns // 4
    tally("P4.1", faults=killed)


def _forked(work: Callable[[], object]) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        work()
        os._exit(0)
    return child


def test_two_rebuilds_at_once_both_succeed(filled: Project, memory: Any) -> None:
    _many(filled, 200)
    expected = answer_question(filled, "retries in the worker").markdown
    running = [memory.start("rebuild", "--json") for _ in range(2)]
    for process in running:
        out, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, b"")
        assert json.loads(out)["data"]["records"] == 203
    assert answer_question(filled, "retries in the worker").markdown == expected


def test_a_rebuild_that_must_wait_too_long_says_so(filled: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    from quire.index import database
    from quire.model.errors import LockBusy

    monkeypatch.setattr(database, "_BUSY_MS", 50)
    with contextlib.closing(apsw.Connection(str(file_of(filled)))) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LockBusy):
            rebuild(filled, Rebuild())
        assert refs(filled, "retries worker")[0] == "decision.retries-run-in-the-worker"
        (nodes(filled) / "retry-queue.md").write_text("Kangaroos carry the deliveries.")
        assert refs(filled, "kangaroo") == ["feature.retry-queue"]


READ = """
import sys
from quire.project import Project
from quire.verbs.ask.answers import answer_question
root, stop = sys.argv[1:]
import os
asked = 0
while not os.path.exists(stop) or asked < 3:
    answer = answer_question(Project.open(root), "retries in the worker")
    assert answer.hits[0].record.ref == "decision.retries-run-in-the-worker", answer.markdown
    asked += 1
print(asked)
"""


@pytest.mark.proof
def test_readers_never_fail_nor_hold_up_a_writer(
    filled: Project, repo: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    stop = tmp_path / "stop"
    line = [sys.executable, "-c", READ, str(repo), str(stop)]
    readers = [
        subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(8)
    ]
    try:
        for number in range(30):
            saved = save_nodes(
                filled,
                {"task": "t", "nodes": [{"kind": "gotcha", "title": f"Trap {number} zanzibar", "body": "Zanzibar."}]},
            )
            assert [found for found in saved.warnings if found.code != "SimilarRecord"] == []
    finally:
        stop.touch()
        said = [reader.communicate(timeout=60) for reader in readers]
    for reader, (out, err) in zip(readers, said, strict=True):
        assert (reader.returncode, err.decode()[-500:]) == (0, "")
        assert int(out) >= 3
    assert len(answer_question(filled, "zanzibar", limit=100).hits) == 30


def test_threads_may_ask_at_once(filled: Project, repo: Path, world: World) -> None:
    expected = answer_question(filled, "retries in the worker").markdown
    found: list[str] = []

    def ask() -> None:
        project = Project.open(str(repo), world)
        found.extend(answer_question(project, "retries in the worker").markdown for _ in range(5))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 20
