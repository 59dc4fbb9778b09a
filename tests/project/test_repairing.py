"""Repairs: each fault that can be repaired is named, repaired, and put back; what is for a person is left alone."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from breaking import PERSONS, REPAIRED, State, built, leftover, opened, state_of

from promised import proves, tally
from quire.model.errors import Conflict, NotFound
from quire.model.records import Problem
from quire.project import Project
from quire.upkeep.repair import copies
from quire.verbs.admin.check import check_files
from quire.verbs.admin.repair import repair, repairs_kept, undo_repair
from quire.verbs.admin.repair import repair as repair_of
from thorough import either, some


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sound")
    built(folder / "harbor")
    return folder


@pytest.fixture
def root(template: Path, tmp_path: Path) -> Path:
    shutil.copytree(template / "harbor", tmp_path / "harbor", symlinks=True)
    shutil.copytree(template / "home", tmp_path / "home", dirs_exist_ok=True)
    return tmp_path / "harbor"


def problems(project: Project) -> list[Problem]:
    found = check_files(project)
    return [*found.errors, *found.warnings]


def named(project: Project, code: str, path: str) -> list[Problem]:
    return [problem for problem in problems(project) if (problem.code, problem.path) == (code, path)]


def different(before: State, after: State) -> set[str]:
    return {path for path in {*before, *after} if before.get(path) != after.get(path)}


def test_a_sound_memory_has_nothing_to_repair(root: Path) -> None:
    before = state_of(root)
    found = check_files(opened(root))
    assert found.errors == []
    assert [problem for problem in found.warnings if problem.fixed_by == "repair"] == []
    done = repair_of(opened(root))
    assert (done.name, done.fixes, done.files, done.copies) == (None, (), (), ())
    assert state_of(root) == before
    assert repairs_kept(opened(root)).repairs == ()


@pytest.mark.proof(keep=4)
@proves("P5.6", over="graph facts profile journal inbox")
@pytest.mark.parametrize("name", some(list(REPAIRED), 12))
def test_what_can_be_repaired_is_repaired_and_put_back(name: str, root: Path) -> None:
    broken = REPAIRED[name]
    broken.do(root)
    before = state_of(root)
    project = opened(root)
    found = named(project, broken.code, broken.path)
    assert found, [(problem.code, problem.path, problem.message) for problem in problems(project)]
    repaired = [problem.message for problem in found if problem.fixed_by == "repair"]
    assert repaired

    shown = repair(project, dry_run=True)
    assert shown.fixes
    assert shown.files
    assert state_of(root) == before

    done = repair_of(opened(root, tick=1))
    assert done.warnings == []
    left = [problem.message for problem in named(opened(root), broken.code, broken.path)]
    assert not {*repaired} & {*left}
    assert [problem for problem in (*done.checked.errors, *done.checked.warnings) if problem.fixed_by == "repair"] == []
    after = state_of(root)
    assert different(before, after) == {file.path for file in done.files}
    assert {file.path for file in shown.files} <= {file.path for file in done.files}
    assert all((root / place).is_file() for place in done.copies)

    again = repair_of(opened(root, tick=2))
    assert (again.name, again.fixes) == (None, ())
    assert state_of(root) == after

    taken = undo_repair(opened(root, tick=3))
    assert taken.name == done.name
    assert set(taken.files) == {file.path for file in done.files}
    assert state_of(root) == before
    assert repairs_kept(opened(root)).repairs == ()
    tally("P5.6", inputs=1, states=3)


@pytest.mark.proof(keep=2)
@proves("P5.6")
@proves("P6.2", "E3", over="graph facts")
@pytest.mark.parametrize("name", some(list(PERSONS), 6))
def test_what_is_for_a_person_is_left_alone(name: str, root: Path) -> None:
    broken = PERSONS[name]
    broken.do(root)
    before = state_of(root)
    leftover(root, ".memory/memory")
    project = opened(root)
    found = named(project, broken.code, broken.path)
    assert found, [(problem.code, problem.path, problem.message) for problem in problems(project)]
    assert "person" in {problem.fixed_by for problem in found}
    assert all(problem.hint for problem in found if problem.fixed_by == "person")
    done = repair(project)
    assert "LeftoverFiles" in {fix.code for fix in done.fixes}
    # What depends on a checkpoint is repaired beside it; the map follows whatever the memory says.
    allowed = {"AGENTS.md"} if "checkpoint" not in name else {*before, *state_of(root)} - {broken.path}
    assert different(before, state_of(root)) <= allowed
    for_a_person = [problem for problem in found if problem.fixed_by == "person"]
    assert [p for p in named(opened(root), broken.code, broken.path) if p.fixed_by == "person"] == for_a_person
    tally("P5.6", inputs=1)


@proves(
    "P5.6", over="graph", found="of two files of one relation, a repair kept the copy and removed the one of its name"
)
@pytest.mark.parametrize("name", ["a-copy.json", "zz-copy.json"])
def test_of_two_files_of_one_relation_the_one_under_its_own_name_stays(name: str, root: Path) -> None:
    (held,) = (root / ".memory" / "relations").glob("*.json")
    shutil.copyfile(held, held.parent / name)
    done = repair_of(opened(root))
    assert {fix.code for fix in done.fixes} == {"RelationEquivalentDuplicate", "RelationIdDuplicate"}
    assert [path.name for path in (root / ".memory" / "relations").glob("*.json")] == [held.name]
    assert done.checked.valid


@proves("P5.6")
def test_everything_at_once_is_one_repair(root: Path) -> None:
    clashing = {"the log is missing", "the log is cut off", "a schema is no object", "a schema is cut off"}
    clashing |= {"a schema is no text", "blank lines in the log", "a body path that climbs", "a relation edited"}
    clashing |= {"an old map", "git sees what is local", "facts twice", "marks among facts", "a tag twice"}
    for name, broken in REPAIRED.items():
        if name not in clashing and broken.over != "journal":
            broken.do(root)
    REPAIRED["the bundle edited"].do(root)
    before = state_of(root)
    done = repair_of(opened(root))
    assert {fix.code for fix in done.fixes} >= {
        "ObjectIdDuplicate",
        "SchemaUniqueItems",
        "MemoryConflictDetected",
        "LocalStateDamaged",
        "LeftoverFiles",
        "JournalFault",
        "HashMismatch",
    }
    parts = {place.rpartition("/")[2].removesuffix(".tar") for place in done.copies}
    assert parts >= {"memory", "profile", "journal"}
    assert [problem for problem in problems(opened(root)) if problem.fixed_by == "repair"] == []
    assert different(before, state_of(root)) == {file.path for file in done.files}
    undo_repair(opened(root, tick=1), "1")
    assert state_of(root) == before


@proves("P5.6")
@pytest.mark.parametrize("layer", [".ai-state", ".agent-memory"])
def test_a_project_of_one_layer_is_repaired(layer: str, root: Path) -> None:
    for other in {".memory", ".ai-state", ".agent-memory"} - {layer}:
        shutil.rmtree(root / other)
    leftover(root, layer, 2)
    before = state_of(root)
    done = repair_of(opened(root))
    assert [fix.code for fix in done.fixes][:1] == ["LeftoverFiles"]
    assert all(place.startswith(f"{layer}/local/repairs/0001-") for place in done.copies)
    assert not (root / ".memory").exists()
    seen = subprocess.run(
        ["git", "status", "--porcelain", "--untracked-files=all"], cwd=root, capture_output=True, check=True
    )
    assert b"repairs" not in seen.stdout
    undo_repair(opened(root, tick=1))
    assert state_of(root) == before


# -- leftovers ---------------------------------------------------------------------------------


@proves("P5.6", over="graph profile journal")
def test_a_living_writer_and_a_young_file_are_left_alone(root: Path) -> None:
    leftover(root, ".memory/memory", pid=os.getpid())
    leftover(root, ".ai-state", age=60.0)
    (root / ".memory/memory/.quire-99999999-link.tmp").symlink_to("worker.json")
    (root / ".agent-memory/.quire-notes.tmp").write_text("the user's own")
    before = state_of(root)
    assert [problem for problem in problems(opened(root)) if problem.code == "LeftoverFiles"] == []
    assert repair_of(opened(root)).fixes == ()
    assert state_of(root) == before


# -- taking back -------------------------------------------------------------------------------


@proves("P5.6")
def test_a_repair_is_not_taken_back_over_what_somebody_did_since(root: Path) -> None:
    REPAIRED["a tag twice"].do(root)
    REPAIRED["facts twice"].do(root)
    done = repair_of(opened(root))
    path = root / ".memory/facts.jsonl"
    path.write_bytes(path.read_bytes() + b"\n")
    after = state_of(root)
    assert repairs_kept(opened(root)).repairs[0].changed_since == (".memory/facts.jsonl",)
    with pytest.raises(Conflict, match=r"facts\.jsonl") as raised:
        undo_repair(opened(root))
    assert raised.value.details["paths"] == [".memory/facts.jsonl"]
    assert state_of(root) == after
    path.write_bytes(path.read_bytes()[:-1])
    assert undo_repair(opened(root, tick=1), done.name).files


@proves("P5.6")
def test_repairs_are_taken_back_by_name_and_only_the_last_ones_are_kept(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = either(3, 20)
    monkeypatch.setattr(copies, "KEPT", most)
    names = []
    for number in range(most + 2):
        leftover(root, ".memory/memory" if number % 2 else ".ai-state")
        names.append(repair_of(opened(root, tick=number)))
    assert [name for done in names for name in done.pruned] == [names[0].name, names[1].name]
    assert [one.name for one in repairs_kept(opened(root)).repairs] == [done.name for done in names[:1:-1]]
    with pytest.raises(NotFound):
        undo_repair(opened(root), names[0].name)
    assert undo_repair(opened(root, tick=99), "3").files == (".ai-state/.quire-99999999-00000000.tmp",)
    assert undo_repair(opened(root, tick=98)).name == names[-1].name
    assert undo_repair(opened(root, tick=97)).name == names[-2].name


@proves("P5.6", over="graph journal")
def test_a_file_that_two_parts_of_a_repair_changed_comes_back(root: Path) -> None:
    for name in ("the bundle edited", "an old map"):
        REPAIRED[name].do(root)
    before = state_of(root)
    done = repair_of(opened(root))
    assert [file.path for file in done.files].count("AGENTS.md") == 2
    assert repairs_kept(opened(root)).repairs[0].changed_since == ()
    undo_repair(opened(root, tick=1))
    assert state_of(root) == before


@proves("P5.6")
def test_modes_come_back_with_the_bytes(root: Path) -> None:
    REPAIRED["a node copied"].do(root)
    copy = root / ".memory/memory/worker (copy).json"
    copy.chmod(0o600)
    (root / ".memory/events.jsonl").chmod(0o640)
    REPAIRED["blank lines in the log"].do(root)
    before = state_of(root)
    repair_of(opened(root))
    assert not copy.exists()
    undo_repair(opened(root, tick=1))
    assert state_of(root) == before
    assert copy.stat().st_mode & 0o777 == 0o600


@proves("P5.6")
@pytest.mark.parametrize(
    "path", [".git/hooks/pre-commit", "../out.md", "Makefile", ".github/a.md", ".ai-state/memory.json"]
)
def test_copies_that_a_repository_brought_lead_nowhere(path: str, root: Path) -> None:
    REPAIRED["an old map"].do(root)
    repair_of(opened(root))
    (place,) = (root / ".memory/local/repairs").iterdir()
    manifest = place / "around.json"
    text = manifest.read_text()
    assert '"path": "AGENTS.md"' in text
    shutil.copyfile(root / "AGENTS.md", root / "Makefile")
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(root / "AGENTS.md", target)
    manifest.write_text(text.replace('"path": "AGENTS.md"', f'"path": "{path}"'))
    before = target.read_bytes()
    with pytest.raises(Exception, match=r"Nothing was put back|cannot be used"):
        undo_repair(opened(root))
    assert target.read_bytes() == before


@proves("P5.6")
@proves("P6.2", "E3", over="graph")
def test_what_git_holds_as_unmerged_is_left_alone(root: Path) -> None:
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    name = ["-c", "user.name=T", "-c", "user.email=t@example.com"]

    def git(*line: str) -> None:
        subprocess.run(["git", *name, *line], cwd=root, env=env, capture_output=True, check=False)

    git("add", "--all")
    git("commit", "-qm", "one")
    git("branch", "base")
    git("branch", "topic")
    for branch, stage in (("topic", "shipped"), ("base", "paused")):
        git("checkout", "-q", branch)
        text = (root / ".memory/memory/retry-queue.json").read_text()
        (root / ".memory/memory/retry-queue.json").write_text(
            text.replace('"stage": "building"', f'"stage": "{stage}"').replace('"queue"', '"queue",\n    "queue"')
        )
        git("commit", "-qam", stage)
    git("merge", "topic")
    git("checkout", "--ours", ".memory/memory/retry-queue.json")
    before = state_of(root)
    found = named(opened(root), "SchemaUniqueItems", ".memory/memory/retry-queue.json")
    assert [problem.fixed_by for problem in found] == ["person"]
    repair_of(opened(root))
    assert different(before, state_of(root)) <= {"AGENTS.md"}


@proves("P5.6")
def test_a_log_that_git_has_is_not_begun_anew(root: Path) -> None:
    subprocess.run(["git", "add", ".memory/events.jsonl"], cwd=root, check=True)
    REPAIRED["the log is missing"].do(root)
    (found,) = named(opened(root), "CanonicalFileMissing", ".memory/events.jsonl")
    assert found.fixed_by == "person"
    assert "git restore" in (found.hint or "")
    assert repair_of(opened(root)).fixes == ()
    assert not (root / ".memory/events.jsonl").exists()
