"""Any bytes in the memory folder are survived: named by `check`, left as they are, and no other record suffers."""

import json
import os
import random
import shutil
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from quire.files import World
from quire.model import NotReady, QuireError
from quire.project import Project

Tree = dict[str, bytes]
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
# What `check` does not look into, because no answer depends on it.
SILENT = {"sync state"}
POINTS = 90
CONFLICT = b"<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> side\n"


@pytest.fixture
def store(tmp_path: Path, world: World) -> Path:
    """A memory outside git (the checks are many), with a victim to damage and a witness that must stay readable."""
    root = tmp_path / "plain"
    root.mkdir()
    project = open_project(root, world)
    project.init()
    project.save(
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
        }
    )
    state = {"version": 1, "last_sync_commit": "0" * 40, "last_sync_at": "2026-03-02T11:19:00+00:00"}
    (root / KINDS["sync state"]).write_text(json.dumps(state, indent=2), encoding="utf-8")
    return root


def open_project(root: Path, world: World) -> Project:
    return Project.open(str(root), world)


def survey(root: Path, world: World) -> set[str]:
    """Look at everything; only errors that a person can act on may come out. The paths that `check` names."""
    project = open_project(root, world)
    named: set[str] = set()
    try:
        found = project.check()
        named = {problem.path for problem in [*found.errors, *found.warnings]}
        for problem in [*found.errors, *found.warnings]:
            assert problem.message
            assert problem.hint
            json.dumps(problem.path).encode()
    except NotReady as error:
        named = {str(error.details.get("path"))}
        assert error.hint
    try:
        project.graph.config()
        readable = True
    except NotReady:
        readable = False
    for call in (lambda: project.inspect("feature.witness"), project.status, lambda: project.inspect("feature.victim")):
        try:
            call()
        except QuireError as error:
            assert error.hint, error
            assert not readable or "victim" in str(error), f"the witness suffers: {error}"
    return named


def bytes_of(root: Path) -> Tree:
    kept = [KINDS[name] for name in KINDS]
    return {name: (root / name).read_bytes() for name in kept if (root / name).is_file()}


def sampled(size: int) -> list[int]:
    """Every offset of a small file, evenly spread ones of a large file; always both ends."""
    if size <= POINTS:
        return list(range(size))
    return sorted({0, 1, size - 2, size - 1, *(number * size // POINTS for number in range(POINTS))})


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_cut_off_anywhere_is_named_and_hurts_no_other(store: Path, world: World, kind: str) -> None:
    path = store / KINDS[kind]
    whole = path.read_bytes()
    for size in sampled(len(whole)):
        path.write_bytes(whole[:size])
        named = survey(store, world)
        assert path.read_bytes() == whole[:size], "damaged bytes stay as they are"
        harmless = whole[size:].strip() == b"" or (kind == "events" and whole[:size].endswith(b"\n")) or size == 0
        # Text that is cut off before or after a marked section is just shorter text.
        if not harmless and kind not in (*SILENT, "instructions", "events"):
            assert KINDS[kind] in named, f"cut at {size}: {named}"
    path.write_bytes(whole)
    assert open_project(store, world).check().errors == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_flipped_bit_anywhere_crashes_nothing(store: Path, world: World, kind: str) -> None:
    path = store / KINDS[kind]
    whole = path.read_bytes()
    rng = random.Random(20260302)
    for _ in range(100):
        place, bit = rng.randrange(len(whole)), rng.randrange(8)
        damaged = bytearray(whole)
        damaged[place] ^= 1 << bit
        path.write_bytes(damaged)
        try:
            survey(store, world)
        except AssertionError:
            raise
        except Exception:
            pytest.fail(
                f"byte {place}, bit {bit}: {bytes(damaged)[max(0, place - 20) : place + 20]!r}\n{traceback.format_exc()}"
            )
        assert path.read_bytes() == bytes(damaged)


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "inside").write_bytes(b"x")


def link_out(path: Path) -> None:
    path.unlink()
    outside = path.parent.parent.parent.parent / "outside"
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
    "utf-16": content('{"id": "x"}'.encode("utf-16")),
    "conflict": content(CONFLICT),
    "array": content(b"[]"),
    "null": content(b"null"),
    "number": content(b"1e999"),
    "bomb": content(b"[" * 100_000),
    "wrong types": content(b'{"id": 1, "type": [], "version": "5", "project": null, "from": {}, "to": 1, "event": 2}'),
    "duplicate keys": content(b'{"id": "feature.victim", "id": "feature.witness", "version": 5, "version": 5}'),
    "surrogate": content(b'{"id": "\\ud800", "title": "\\udfff"}'),
    "big number": content(b'{"version": 123456789012345678901234567890, "id": 1' + b"0" * 5000 + b"}"),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_file_replaced_by_anything_is_named_and_hurts_no_other(
    store: Path, world: World, kind: str, damage: str, tree: Callable[..., Tree]
) -> None:
    path = store / KINDS[kind]
    DAMAGES[damage](path)
    before = {name: data for name, data in tree(store).items() if name.startswith(KINDS[kind])}
    named = survey(store, world)
    if kind not in (*SILENT, "instructions") and not (kind in ("body", "events") and damage in PROSE):
        assert any(name.startswith(KINDS[kind]) for name in named), named
    intent = {"task": "go on", "nodes": [{"kind": "gotcha", "title": "Next", "body": "Saved beside the damage."}]}
    try:
        open_project(store, world).save(intent)
        saved = True
    except QuireError as error:
        saved = False
        assert error.hint
    assert saved or kind in ("config", "events"), "another node can be saved"
    if saved:
        assert open_project(store, world).inspect("gotcha.next").node.body == "Saved beside the damage."
    after = {name: data for name, data in tree(store).items() if name.startswith(KINDS[kind])}
    if kind == "events" and saved:
        assert all(data.startswith(before[name]) for name, data in after.items())
    elif kind != "instructions":
        assert after == before


# A body is prose: what is not JSON may be what somebody wants to say. A log may be empty.
PROSE = ("array", "null", "number", "bomb", "wrong types", "duplicate keys", "surrogate", "big number", "empty")
