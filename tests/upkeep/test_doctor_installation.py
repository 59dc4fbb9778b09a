"""The installation as it is found: whose commands are on the PATH, and what the user's own folder holds."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import msgspec
import pytest

from quire.files.world import World
from quire.upkeep.findings import Finding
from quire.upkeep.installation import dead_projects, look_at_machine, look_at_program, seen_command

BESIDE = Path(sys.executable).parent


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def named(findings: list[Finding], name: str) -> Finding:
    return next(finding for finding in findings if finding.name == name)


# -- commands ---------------------------------------------------------------------------------


def test_our_own_command_is_known_also_by_a_link(tmp_path: Path) -> None:
    assert seen_command("memory", {"PATH": str(BESIDE)}).kind == "ours"
    (tmp_path / "memory").symlink_to(BESIDE / "memory")
    seen = seen_command("memory", {"PATH": str(tmp_path)})
    assert (seen.kind, seen.path) == ("ours", str(tmp_path / "memory"))


def test_a_copy_that_starts_the_same_python_is_ours(tmp_path: Path) -> None:
    script(tmp_path / "quire", f"#!{sys.executable}\nfrom quire.surfaces.cli import main\n")
    assert seen_command("quire", {"PATH": str(tmp_path)}).kind == "ours"


def test_another_installation_is_told_from_another_program(tmp_path: Path) -> None:
    script(tmp_path / "a/memory", "#!/opt/other/bin/python\nfrom quire.surfaces.cli import main\n")
    script(tmp_path / "b/memory", "#!/bin/sh\necho free memory\n")
    assert seen_command("memory", {"PATH": f"{tmp_path}/a:{BESIDE}"}).kind == "other"
    assert seen_command("memory", {"PATH": f"{tmp_path}/b:{BESIDE}"}).kind == "foreign"


def test_a_foreign_program_is_named_and_never_run(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    found = script(tmp_path / "bin/memory", f"#!/bin/sh\ntouch {ran}\n")
    finding = named(look_at_program({"PATH": f"{tmp_path}/bin:{BESIDE}"}), "memory")
    assert msgspec.to_builtins(finding) == {
        "section": "program",
        "name": "memory",
        "state": "warning",
        "message": f"`memory` on the PATH is another program: {found}",
        "hint": "Use `quire`, which is the same command.",
        "fixable": False,
    }
    assert not ran.exists()


@pytest.mark.parametrize("path", ["", "relative:also/relative", "/nonexistent"])
def test_a_missing_command_says_where_it_lies(path: str) -> None:
    finding = named(look_at_program({"PATH": path}), "memory-mcp")
    assert (finding.state, finding.message, finding.hint) == (
        "warning",
        "`memory-mcp`, the server for MCP clients, is not on the PATH.",
        f"Put {BESIDE} on your PATH.",
    )


def test_what_cannot_be_started_is_no_command(tmp_path: Path) -> None:
    script(tmp_path / "memory", "text").chmod(0o644)
    (tmp_path / "quire").mkdir()
    assert [seen_command(name, {"PATH": str(tmp_path)}).kind for name in ("memory", "quire")] == ["missing"] * 2


def test_the_program_itself() -> None:
    findings = look_at_program({"PATH": str(BESIDE)})
    page = named(findings, "page")
    assert [finding.state for finding in findings if finding != page] == ["ok"] * 7
    # A checkout need not have built it.
    assert page.state == ("ok" if page.message == "The page of `memory view` is built." else "note")
    assert named(findings, "database").message.endswith(", with full text and vectors")


# -- the machine ------------------------------------------------------------------------------


def with_home(world: World, home: Path | str) -> World:
    return msgspec.structs.replace(world, env={**world.env, "MEMORY_HOME": str(home)})


def test_no_home_is_a_warning(world: World) -> None:
    bare = msgspec.structs.replace(world, env={"PATH": world.env["PATH"]})
    assert [(item.name, item.state) for item in look_at_machine(bare)] == [("home", "warning")]


def test_a_home_that_is_a_file_is_an_error(world: World, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    finding = named(look_at_machine(with_home(world, tmp_path / "taken/deeper")), "home")
    assert (finding.state, finding.message) == (
        "error",
        f"{tmp_path}/taken/deeper cannot be written to: {tmp_path}/taken is not a folder.",
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to this user")
def test_a_home_that_is_closed_is_an_error(world: World, tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o500)
    assert named(look_at_machine(with_home(world, tmp_path / "closed")), "home").state == "error"


def test_a_home_that_is_not_there_yet_is_fine(world: World, tmp_path: Path) -> None:
    findings = look_at_machine(with_home(world, tmp_path / "new/er"))
    assert [(item.name, item.state) for item in findings] == [("home", "ok"), ("projects", "ok")]
    assert not (tmp_path / "new").exists()


def registry(home: Path, *roots: Path) -> None:
    fields = ("registry_id", "project_root", "memory_root", "registered_at", "last_seen_at")
    projects = [
        {**dict.fromkeys(fields, f"x{number}"), "project": {"id": "p", "name": "P"}, "source": "auto"}
        | {"project_root": str(root)}
        for number, root in enumerate(roots)
    ]
    home.mkdir(parents=True, exist_ok=True)
    (home / "projects.json").write_text(json.dumps({"version": 1, "projects": projects}))


def test_projects_that_are_gone_are_named_and_damaged_ones_are_not(world: World, tmp_path: Path) -> None:
    (tmp_path / "damaged/.memory").mkdir(parents=True)
    (tmp_path / "damaged/.memory/config.json").write_text("{ broken")
    registry(tmp_path / "own", tmp_path / "damaged", tmp_path / "gone")
    there = with_home(world, tmp_path / "own")
    finding = named(look_at_machine(there), "projects")
    assert (finding.state, finding.fixable) == ("warning", True)
    assert finding.message == f"1 of 2 listed projects no longer have a memory: {tmp_path}/gone"
    assert [entry.project_root for entry in dead_projects(there)] == [str(tmp_path / "gone")]


@pytest.mark.parametrize("data", [b"{ broken", b"\xff\xfe", b"[]", b'{"version": 9, "projects": [1]}'])
def test_a_list_that_cannot_be_read_is_a_warning(world: World, tmp_path: Path, data: bytes) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own/projects.json").write_bytes(data)
    finding = named(look_at_machine(with_home(world, tmp_path / "own")), "projects")
    assert (finding.state, finding.fixable) == ("warning", False)
    assert (tmp_path / "own/projects.json").read_bytes() == data


def test_an_empty_list_is_fine(world: World, tmp_path: Path) -> None:
    registry(tmp_path / "own")
    assert named(look_at_machine(with_home(world, tmp_path / "own")), "projects").message == "0 listed"
