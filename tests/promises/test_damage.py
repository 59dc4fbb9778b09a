"""Any bytes in the memory folder are survived: named by `check`, left as they are, and no other record suffers."""

import json
import os
import random
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from promised import proves
from quire.files.world import World
from quire.model.errors import QuireError
from quire.project import Project
from quire.verbs.admin.check import check_files
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.ask.inspected_node import inspect_node
from quire.verbs.ask.status import status
from quire.verbs.ask.status import status as status_of
from quire.verbs.graph.save import save_nodes
from thorough import either, some

Tree = dict[str, bytes]

pytestmark = proves("P5.1")

KINDS = {
    "config": ".memory/config.json",
    "sidecar": ".memory/memory/victim.json",
    "body": ".memory/memory/victim.md",
    "relation": ".memory/relations/feature-victim-depends-on-feature-witness.json",
    "events": ".memory/events.jsonl",
    "schema": ".memory/schema/relation.schema.json",
    "sync state": ".memory/sync-state.json",
    "instructions": "AGENTS.md",
}
CONFLICT = b"<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> side\n"


@pytest.fixture
def store(tmp_path: Path, world: World) -> Path:
    """A memory outside git (the checks are many), with a victim to damage and a witness that must stay readable."""
    root = tmp_path / "plain"
    root.mkdir()
    project = open_project(root, world)
    init_memory(project)
    save_nodes(
        project,
        {
            "task": "fill",
            "nodes": [
                {"kind": "feature", "title": "Witness", "body": "I stay.", "stage": "shipped"},
                {
                    "kind": "feature",
                    "title": "Victim",
                    "body": "# Victim\n\nTwo paragraphs: größe.\n\nThe second.",
                    "tags": ["größe"],
                    "related": [{"predicate": "depends_on", "to": "feature.witness"}],
                },
            ],
        },
    )
    state = {"version": 1, "last_sync_commit": "0" * 40, "last_sync_at": "2026-03-02T11:19:00+00:00"}
    (root / KINDS["sync state"]).write_text(json.dumps(state, indent=2), encoding="utf-8")
    return root


def open_project(root: Path, world: World) -> Project:
    return Project.open(str(root), world)


def survey(root: Path, world: World) -> set[str]:
    """Look at everything; only errors that a person can act on may come out. The paths that `check` names."""
    project = open_project(root, world)
    found, refusal = attempt(partial(check_files, project))
    named = {str(refusal.details.get("path"))} if refusal else set()
    for problem in [*found.errors, *found.warnings] if found else ():
        assert problem.message
        assert problem.hint
        assert problem.path.encode()
        named.add(problem.path)
    readable = attempt(project.graph.config)[1] is None
    refusals = [attempt(lambda: inspect_node(project, "feature.witness"))[1], attempt(partial(status, project))[1]]
    assert not readable or refusals == [None, None], f"the witness suffers: {refusals}"
    attempt(lambda: inspect_node(project, "feature.victim"))
    return named


def attempt(call: Callable[[], Any]) -> tuple[Any, QuireError | None]:
    """What a call gives, or the error it refuses with; any other error is a crash and comes through."""
    refusal = None
    try:
        return call(), None
    except QuireError as error:
        refusal = error
    assert refusal.hint, refusal
    return None, refusal


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "inside").write_bytes(b"x")


def link_out(path: Path) -> None:
    path.unlink()
    outside = next(folder for folder in path.parents if folder.name == "plain").with_name("outside")
    outside.write_bytes(b"{}")
    path.symlink_to(outside)


def dangling(path: Path) -> None:
    path.unlink()
    path.symlink_to("nowhere-at-all")


def huge(path: Path) -> None:
    with open(path, "r+b") as file:
        file.truncate(33 * 1024 * 1024)


def content(data: bytes) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(data) and None


DAMAGES: dict[str, Callable[[Path], Any]] = {
    "folder": folder,
    "link out": link_out,
    "dangling link": dangling,
    "huge": huge,
    "empty": content(b""),
    "zeros": content(b"\0" * 600),
    "not utf-8": content(b'{"a": "\xff\xfe"}'),
    "conflict": content(CONFLICT),
    "array": content(b"[]"),
    "null": content(b"null"),
    "bomb": content(b"[" * 100_000),
    "wrong types": content(b'{"id": 1, "type": [], "version": "5", "project": null, "from": {}, "to": 1, "event": 2}'),
}


@proves("P5.1", "A11", over="graph")
def test_a_line_of_the_log_that_is_no_event_is_named_by_its_number(store: Path, world: World) -> None:
    log = store / KINDS["events"]
    good = log.read_bytes()
    log.write_bytes(good + b"{torn\n\n[]\n" + good)
    count = good.count(b"\n")
    found = [problem for problem in check_files(open_project(store, world)).errors if problem.path == KINDS["events"]]
    assert [problem.line for problem in found] == [count + 1, count + 2, count + 3]
    assert found[1].code == "EventJsonlBlankLine"


@proves("P5.1", "A10", over="graph")
def test_a_torn_last_line_of_the_log_is_reported_and_the_next_event_starts_a_line_of_its_own(
    store: Path, world: World
) -> None:
    log = store / KINDS["events"]
    good = log.read_bytes()
    torn = good[: len(good) - 40]
    log.write_bytes(torn)
    save_nodes(open_project(store, world), {"task": "t", "nodes": [{"kind": "gotcha", "title": "Next", "body": "B."}]})
    assert log.read_bytes().startswith(torn + b"\n{")
    lines = log.read_bytes().splitlines()
    assert json.loads(lines[-1])["id"] == "gotcha.next"
    errors = check_files(open_project(store, world)).errors
    assert [problem.line for problem in errors] == [len(lines) - 1]


@proves("P6.2", "E3", over="graph")
@pytest.mark.parametrize("kind", ["config", "sidecar", "body", "relation", "events", "schema"])
def test_a_merge_conflict_is_named_with_its_line(store: Path, world: World, kind: str) -> None:
    path = store / KINDS[kind]
    lines = path.read_bytes().splitlines(keepends=True)
    middle = len(lines) // 2
    path.write_bytes(b"".join(lines[:middle]) + b"\n" * (not b"".join(lines[:middle]).endswith(b"\n")) + CONFLICT)
    line = path.read_bytes()[: path.read_bytes().index(b"<<<<<<<")].count(b"\n") + 1
    found = check_files(open_project(store, world)).errors
    assert ("MemoryConflictDetected", KINDS[kind], line) in [(item.code, item.path, item.line) for item in found]


@pytest.mark.parametrize(
    "body",
    [
        "Title\n=======\n\nText.",
        "=======",
        "A\n=======\nB\n-------\n",
        "Quote:\n\n> >>>>>>> not a marker",
        "<<<<<<<\nno label",
        ">>>>>>> end only",
    ],
)
def test_a_heading_underlined_with_equals_signs_is_no_conflict(store: Path, world: World, body: str) -> None:
    save_nodes(open_project(store, world), {"task": "t", "nodes": [{"id": "feature.victim", "body": body}]})
    codes = {problem.code for problem in check_files(open_project(store, world)).errors}
    assert "MemoryConflictDetected" not in codes


@proves("P5.1", "D14", over="graph")
@proves("P6.3", "D14", over="graph")
def test_two_files_with_one_id_are_both_kept_and_named(store: Path, world: World) -> None:
    for suffix in (".json", ".md"):
        data = (store / KINDS["sidecar"]).with_suffix(suffix).read_bytes()
        (store / ".memory/memory" / f"copy{suffix}").write_bytes(data)
    relation = store / KINDS["relation"]
    relation.with_name("copy.json").write_bytes(relation.read_bytes())
    found = check_files(open_project(store, world)).errors
    codes = {(problem.code, problem.path) for problem in found}
    assert {code for code, _ in codes} >= {"ObjectIdDuplicate", "RelationIdDuplicate"}
    assert any("copy" in problem.path or "copy" in problem.message for problem in found)
    assert inspect_node(open_project(store, world), "feature.victim").node.node.title == "Victim"
    before = {path: path.read_bytes() for path in (store / ".memory").rglob("copy*")}
    save_nodes(open_project(store, world), {"task": "t", "nodes": [{"id": "feature.witness", "body": "Still here."}]})
    assert {path: path.read_bytes() for path in before} == before


@proves("P5.1", "D14", over="graph")
def test_an_id_that_is_not_the_one_of_its_file_is_named_and_found(store: Path, world: World) -> None:
    for suffix in (".json", ".md"):
        (store / KINDS["sidecar"]).with_suffix(suffix).rename(store / ".memory/memory" / f"renamed{suffix}")
    found = check_files(open_project(store, world))
    assert {problem.code for problem in [*found.errors, *found.warnings]} >= {"ObjectFileNameMismatch"}
    assert inspect_node(open_project(store, world), "feature.victim").node.node.id == "feature.victim"


@proves("P5.4", "D13", over="graph")
@pytest.mark.parametrize(
    "name",
    some(
        [
            b"\xff\xfe.json",
            b"new\nline.json",
            b"\x1b[31m.json",
            b"-rf.json",
            b" .json",
            b"a" * 250 + b".json",
            b".json",
        ],
        2,
    ),
)
def test_a_file_with_an_odd_name_crashes_nothing(store: Path, memory: Any, name: bytes) -> None:
    path = os.path.join(os.fsencode(store), b".memory/memory", name)
    with open(path, "wb") as file:
        file.write((store / KINDS["sidecar"]).read_bytes())
    for line in (["check"], ["check", "--json"], ["status"], ["status", "--json"], ["inspect", "feature.victim"]):
        run = memory(*line, cwd=store)
        assert run.code in (0, 1), (line, run.err)
        assert "\x1b" not in run.out
    intent = {"task": "t", "nodes": [{"kind": "gotcha", "title": "Next", "body": "B."}]}
    assert memory("save", "--stdin", cwd=store, stdin=intent).code == 0
    assert os.path.exists(path)


@proves("P5.1", "D1", over="graph")
@proves("P5.2", "D1", over="graph")
def test_a_file_whose_name_is_not_text_can_be_diffed(memory: Any, repo: Path) -> None:
    memory.init()
    with open(os.path.join(os.fsencode(repo), b".memory/memory/\xff.json"), "wb") as file:
        file.write(b"{}")
    assert memory("diff").code == 0
    assert memory("diff", "--json").code == 0


@proves("P4.1", "A15", over="index")
@pytest.mark.parametrize("damage", ["folder", "empty", "zeros", "link out", "dangling link", "not utf-8", "huge"])
def test_an_index_that_is_anything_else_is_made_again(store: Path, world: World, damage: str) -> None:
    status_of(open_project(store, world))
    (index,) = (store / ".memory/index").glob("*.sqlite")
    DAMAGES[damage](index)
    outside = store.parent / "outside"
    before = outside.read_bytes() if outside.exists() else None
    for _ in range(2):
        assert status_of(open_project(store, world)).features_by_stage["shipped"].titles == ["Witness"]
    save_nodes(open_project(store, world), {"task": "t", "nodes": [{"kind": "gotcha", "title": "Next", "body": "B."}]})
    assert status_of(open_project(store, world)).nodes_by_kind["gotcha"] == 1
    assert (outside.read_bytes() if outside.exists() else None) == before


@proves("P4.1", "A15", over="index")
def test_an_index_with_a_flipped_bit_anywhere_gives_the_same_answer_or_is_made_again(store: Path, world: World) -> None:
    expected = status_of(open_project(store, world))
    (index,) = (store / ".memory/index").glob("*.sqlite")
    whole = index.read_bytes()
    rng = random.Random(20260302)
    for _ in range(either(25, 60)):
        damaged = bytearray(whole)
        for _ in range(20):
            damaged[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        index.write_bytes(damaged)
        for extra in index.parent.glob("*-*"):
            extra.unlink()
        found = status_of(open_project(store, world))
        assert type(found) is type(expected)
    shutil.rmtree(index.parent)
    assert status_of(open_project(store, world)) == expected


@proves("P5.2", "A11", over="machine")
@pytest.mark.parametrize(
    "damage", some(["empty", "zeros", "not utf-8", "array", "null", "bomb", "wrong types", "conflict"], 3)
)
def test_a_registry_that_cannot_be_read_is_set_aside_and_stops_nobody(memory: Any, damage: str) -> None:
    memory.init()
    registry = Path(memory.env["MEMORY_HOME"]) / "projects.json"
    DAMAGES[damage](registry)
    damaged = registry.read_bytes()
    assert memory("status", "--all").code == 0
    assert memory("projects", "list", "--json").data["projects"] == []
    assert registry.read_bytes() == damaged
    assert memory("projects", "add").code == 0
    assert len(memory("projects", "list", "--json").data["projects"]) == 1
    kept = [path.read_bytes() for path in registry.parent.glob("projects.invalid-*")]
    assert kept == [damaged]


@proves("P5.5", "D15", over="graph")
@pytest.mark.parametrize("version", some([6, 4, "5", 5.5, None, True, [5], "six"], 3))
def test_storage_of_another_version_is_refused_before_anything_is_written(
    memory: Any, repo: Path, version: Any, tree: Callable[..., Tree]
) -> None:
    memory.init()
    memory.save({"kind": "feature", "title": "A", "body": "B."})
    path = repo / ".memory/config.json"
    config = json.loads(path.read_bytes())
    path.write_text(json.dumps({**config, "version": version}), encoding="utf-8")
    before = tree(repo)
    for line in (["save", "--stdin"], ["status"], ["inspect", "feature.a"], ["init"], ["upgrade"]):
        run = memory(*line, "--json", stdin={"task": "t", "nodes": [{"kind": "gotcha", "title": "x", "body": "y"}]})
        assert run.code == 3, line
        assert run.error["code"] in ("MemoryUnsupportedStorageVersion", "MemoryAlreadyInitializedInvalid")
        assert run.error["hint"]
    run = memory("check", "--json")
    assert run.code == 1 or run.json["ok"] is False
    assert tree(repo) == before


def test_fields_that_we_do_not_know_survive_a_rewrite(store: Path, world: World) -> None:
    sidecar, relation = store / KINDS["sidecar"], store / KINDS["relation"]
    extra = {"x-owner": {"b": [1, 2.5, None], "a": "größe"}, "big": 123456789012345678901234567890, "flag": True}
    for path in (sidecar, relation):
        path.write_text(json.dumps({**json.loads(path.read_bytes()), **extra}), encoding="utf-8")
    related = [{"predicate": "depends_on", "to": "feature.witness", "confidence": "low"}]
    node = {"id": "feature.victim", "title": "Renamed", "related": related}
    save_nodes(open_project(store, world), {"task": "t", "nodes": [node]})
    for path in (sidecar, relation):
        found = json.loads(path.read_bytes())
        assert {name: found[name] for name in extra} == extra
    assert json.loads(sidecar.read_bytes())["title"] == "Renamed"


@proves("P6.4", "C15", over="graph")
def test_a_checkout_with_windows_line_ends_is_read_as_the_same_memory(store: Path, world: World) -> None:
    for kind in ("config", "sidecar", "body", "relation", "events", "schema"):
        path = store / KINDS[kind]
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    found = check_files(open_project(store, world))
    assert found.errors == []
    assert "ObjectContentHashMismatch" not in {problem.code for problem in found.warnings}
    saved = save_nodes(
        open_project(store, world), {"task": "t", "nodes": [{"id": "feature.victim", "title": "Victim"}]}
    )
    assert not saved.changed


@pytest.mark.parametrize(
    "text",
    [
        "<!-- memory:map:start -->\n",
        "<!-- memory:map:end -->\n<!-- memory:map:start -->\n",
        "<!-- memory:map:start -->\n<!-- memory:map:start -->\nx\n<!-- memory:map:end -->\n",
        "<!-- memory:start -->\nno end\n",
    ],
)
def test_damaged_markers_are_named_and_the_file_is_left_alone(memory: Any, repo: Path, text: str) -> None:
    memory.init()
    agents = repo / "AGENTS.md"
    agents.write_text(f"# Mine\n\n{text}", encoding="utf-8")
    before = agents.read_bytes()
    memory.save({"kind": "feature", "title": "A", "body": "B."})
    run = memory("init", "--json")
    assert run.code == 0
    assert "MarkersDamaged" in {warning["code"] for warning in run.json["warnings"]}
    assert agents.read_bytes() == before


def test_everything_in_the_recovery_folder_is_survived(store: Path, world: World) -> None:
    recovery = store / ".memory/recovery"
    recovery.mkdir(exist_ok=True)
    (recovery / "transaction-file").write_bytes(b"a file")
    (recovery / "transaction-odd").mkdir()
    (recovery / "transaction-odd" / "intent.json").write_bytes(b"\xff")
    (recovery / "transaction-null").mkdir()
    (recovery / "transaction-null" / "intent.json").write_bytes(b"null")
    (recovery / "transaction-empty").mkdir()
    (recovery / "2026-03-02T11-19-00-00-00").mkdir()
    assert survey(store, world) == set()
    save_nodes(open_project(store, world), {"task": "t", "nodes": [{"kind": "gotcha", "title": "Next", "body": "B."}]})
    assert check_files(open_project(store, world)).errors == []


def test_an_edit_by_hand_reaches_the_map_with_the_next_save(store: Path, world: World) -> None:
    (store / ".memory/memory/witness.md").write_text("I was edited in place.", encoding="utf-8")
    save_nodes(open_project(store, world), {"task": "t", "nodes": [{"kind": "gotcha", "title": "Next", "body": "B."}]})
    assert "I was edited in place." in (store / "AGENTS.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [".gitignore", "AGENTS.md"])
def test_a_file_of_the_user_that_cannot_be_read_stops_neither_init_nor_check(
    memory: Any, repo: Path, name: str
) -> None:
    if name == ".gitignore":
        (repo / name).mkdir()
    else:
        huge_new(repo / name)
    assert memory("init").code in (0, 1)
    assert memory("check").code in (0, 1)
    assert memory("reset", "--yes").code in (0, 1)


def huge_new(path: Path) -> None:
    path.write_bytes(b"")
    huge(path)
