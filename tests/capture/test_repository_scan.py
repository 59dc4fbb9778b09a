"""The first look at a project: what kind it is, what it is made of, and what it must never touch."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from repository_making import REAL, needs_real, put, scan

from quire.capture.repository.scan import scan_value

# What the other program calls what we say in our own words.
ROLES = {
    "command-line entrypoint": "command line",
    "shared library or core logic": "library",
    "application shell or runtime surface": "application",
}
SAME = (
    *("projectName", "projectSignals", "primaryEcosystem", "packageManager", "workspaceManager"),
    *("topLevelDirs", "topLevelFiles", "rootScripts", "keyEntryFiles", "denseSourceDirs"),
)


@needs_real
@pytest.mark.parametrize("name", ["basic-node", "unicode", "retention", "broken-source", "errors-offline"])
def test_the_scan_is_that_of_the_other_program(name: str, tmp_path: Path, environment: dict[str, str], git) -> None:
    expected = json.loads((REAL / "_vectors" / "project-scan.json").read_text(encoding="utf-8"))[name]
    root = tmp_path / "repo"
    shutil.copytree(REAL / name / "repo", root, symlinks=True)
    if ".git" in expected["projectSignals"]:
        git("init", "--quiet", cwd=root)
    value = scan_value(scan(root, environment))
    assert {key: value[key] for key in SAME} == {key: expected[key] for key in SAME}
    assert value["workspaceModules"] == [
        {**module, "role": ROLES[module["role"]]} for module in expected["workspaceModules"]
    ]
    commands = [(item["label"], item["command"]) for item in value["validationCandidates"]]
    assert commands == [(item["label"], item["command"]) for item in expected["validationCandidates"]]
    for key in ("gotchas", "nextSteps"):
        assert len(value[key]) == len(expected[key])


@pytest.mark.parametrize(
    ("files", "ecosystem"),
    [
        (["package.json", "pyproject.toml"], "node"),
        (["pyproject.toml", "Cargo.toml"], "python"),
        (["Cargo.toml", "go.mod"], "rust"),
        (["go.mod", "Gemfile"], "go"),
        (["setup.py"], "python"),
        (["build.gradle.kts"], "java"),
        (["notes.txt"], "generic"),
        ([], "generic"),
    ],
)
def test_the_ecosystem_is_told_by_manifests(
    files: list[str], ecosystem: str, tmp_path: Path, environment: dict[str, str]
) -> None:
    root = tmp_path / "p"
    root.mkdir()
    put(root, dict.fromkeys(files, ""))
    assert scan(root, environment).primary_ecosystem == ecosystem


@pytest.mark.parametrize(
    ("files", "manager"),
    [
        ({"package.json": {"packageManager": "pnpm@9.0.0"}, "yarn.lock": ""}, "pnpm@9.0.0"),
        ({"package.json": {}, "yarn.lock": "", "package-lock.json": ""}, "yarn"),
        ({"package.json": {"packageManager": 7}, "bun.lock": ""}, "bun"),
        ({"pyproject.toml": "", "uv.lock": ""}, "uv"),
        ({"Cargo.toml": ""}, None),
    ],
)
def test_the_package_manager_is_told_by_the_manifest_or_lock_files(
    files: dict[str, Any], manager: str | None, tmp_path: Path, environment: dict[str, str]
) -> None:
    assert scan(put(tmp_path / "p", files), environment).package_manager == manager


WORKSPACES = {
    "pnpm workspace": {
        "pnpm-workspace.yaml": "packages:\n  - 'packages/*'\n  - \"!packages/skip\"\n  - tools # x\nother:\n- no/*\n",
        "package.json": {"workspaces": ["ignored/*"]},
        "packages/a/package.json": {"name": "@m/a"},
        "packages/skip/package.json": {"name": "@m/skip"},
        "packages/none/x.ts": "",
        "tools/package.json": {},
        "no/x/package.json": {},
    },
    "package.json workspaces": {
        "package.json": {"workspaces": {"packages": ["./packages/*/", "tools"]}},
        "packages/a/package.json": {"name": "@m/a"},
        "packages/a/node_modules/z/package.json": {"name": "z"},
        "tools/package.json": {"name": "tools"},
        "tools/inner/package.json": {"name": "inner"},
    },
    "cargo workspace": {
        "Cargo.toml": '[workspace]\nmembers = ["packages/*", "tools"]\nexclude = ["packages/old"]\n',
        "packages/a/Cargo.toml": '[package]\nname = "@m/a"\n',
        "packages/old/Cargo.toml": '[package]\nname = "old"\n',
        "tools/Cargo.toml": '[package]\nname = "tools"\n',
    },
    "go workspace": {
        "go.work": "go 1.22\n\nuse (\n\t./packages/a\n\t./tools\n)\n",
        "packages/a/go.mod": "module example.com/@m/a/v2\n",
        "tools/go.mod": "module example.com/tools\n",
    },
    "uv workspace": {
        "pyproject.toml": '[tool.uv.workspace]\nmembers = ["packages/*", "tools"]\n',
        "packages/a/pyproject.toml": '[project]\nname = "@m/a"\n',
        "tools/pyproject.toml": '[project]\nname = "tools"\n',
    },
}


@pytest.mark.parametrize("kind", WORKSPACES)
def test_the_packages_of_a_workspace_are_found(kind: str, tmp_path: Path, environment: dict[str, str]) -> None:
    found = scan(put(tmp_path / "p", WORKSPACES[kind]), environment)
    assert found.workspace_manager == kind
    modules = {module.path: module.name for module in found.workspace_modules}
    assert modules == {"packages/a": "a" if kind == "go workspace" else "@m/a", "tools": "tools"}


def test_packages_are_found_where_they_usually_lie(tmp_path: Path, environment: dict[str, str]) -> None:
    files = {"packages/ui-lib/package.json": {"name": "ui"}, "crates/x/Cargo.toml": "", "packages/a/b/package.json": {}}
    found = scan(put(tmp_path / "p", {**files, "other/c/package.json": {}}), environment)
    assert found.workspace_manager is None
    assert [(module.name, module.path, module.role) for module in found.workspace_modules] == [
        ("x", "crates/x", "unknown"),
        ("ui", "packages/ui-lib", "library"),
    ]


@pytest.mark.parametrize("pattern", ["../*", "/etc/*", "~/x", "*" * 500, "**/../..", "a/{" * 60, "!(", "", "."])
def test_a_pattern_that_leads_out_or_nowhere_means_nothing(
    pattern: str, tmp_path: Path, environment: dict[str, str]
) -> None:
    put(tmp_path, {"p/package.json": {"workspaces": [pattern]}, "p/apps/x/package.json": {}, "q/package.json": {}})
    assert [module.path for module in scan(tmp_path / "p", environment).workspace_modules] == ["apps/x"]


def test_a_main_that_is_a_folder_leads_to_its_index(tmp_path: Path, environment: dict[str, str]) -> None:
    root = put(tmp_path / "p", {"package.json": {"main": "lib"}, "lib/index.js": "", "lib/other.js": ""})
    assert scan(root, environment).key_entry_files == ("lib/index.js", "package.json")
    empty = put(tmp_path / "q", {"package.json": {"main": "./lib/"}, "lib/other.js": ""})
    assert scan(empty, environment).key_entry_files == ("package.json",)


def test_paths_of_a_manifest_never_leave_the_project(tmp_path: Path, environment: dict[str, str]) -> None:
    outside = put(tmp_path, {"secret.txt": "s", "outside/x.js": ""})
    root = put(
        tmp_path / "p",
        {
            "package.json": {
                "main": "../secret.txt",
                "bin": {
                    "a": str(outside / "secret.txt"),
                    "b": "linked/x.js",
                    "c": "./src/ok.js",
                    "d": "x/../../secret.txt",
                },
                "exports": {".": {"import": ["../secret.txt", None, 3]}, "./a": "./src/a.js", "./*": "./src/*.js"},
            },
            "src/ok.js": "",
            "src/a.js": "",
        },
    )
    os.symlink(tmp_path / "outside", root / "linked")
    assert scan(root, environment).key_entry_files == ("package.json", "src/a.js", "src/ok.js")


def test_large_source_folders_are_counted_at_any_depth(tmp_path: Path, environment: dict[str, str]) -> None:
    files = {f"src/a/b/c/d/e/f/{n}.java": "" for n in range(3)} | {"lib/x.py": "", "lib/y.txt": "", "cmd/z.go": ""}
    found = scan(put(tmp_path / "p", files), environment)
    shown = ["src (3 source files)", "cmd (1 source files)", "lib (1 source files)"]
    assert scan_value(found)["denseSourceDirs"] == shown


def test_a_link_at_the_top_is_neither_file_nor_folder(tmp_path: Path, environment: dict[str, str]) -> None:
    root = put(tmp_path / "p", {"real.md": ""})
    os.symlink(tmp_path, root / "up")
    os.symlink(root / "real.md", root / "AGENTS.md")
    found = scan(root, environment)
    assert (found.top_level_dirs, found.top_level_files) == ((), ("real.md",))


@pytest.mark.parametrize(
    ("manager", "commands"),
    [
        ("npm", [["npm", "run", "build"], ["npm", "test"]]),
        ("pnpm@9", [["pnpm", "build"], ["pnpm", "test"]]),
    ],
)
def test_commands_are_suggested_for_scripts(
    manager: str, commands: list[list[str]], tmp_path: Path, environment: dict[str, str]
) -> None:
    manifest = {"packageManager": manager, "scripts": {"test": "t", "build": "b", "x": 1}}
    value = scan_value(scan(put(tmp_path / "p", {"package.json": manifest}), environment))
    assert [item["command"] for item in value["validationCandidates"]] == commands
    assert value["rootScripts"] == ["build", "test"]


def test_what_the_look_suggests(tmp_path: Path, environment: dict[str, str]) -> None:
    names = ["package-lock.json", "pnpm-lock.yaml", "README.md", "AGENTS.md", "CLAUDE.md", "dist/x.js"]
    manifest = {"main": "src/server.js"}
    root = put(tmp_path / "p", {**dict.fromkeys(names, ""), "package.json": manifest, "src/server.js": ""})
    found = scan_value(scan(put(root, {"apps/web/package.json": {}}), environment))
    assert [text.split(" ")[0] for text in found["gotchas"]] == ["There", "What", "Build", "There", "Several"]
    assert len(found["nextSteps"]) == 4
    bare = scan_value(scan(put(tmp_path / "q", {"notes.txt": ""}), environment))
    assert [text.split(" ")[0] for text in bare["gotchas"]] == ["Little"]
    assert len(bare["nextSteps"]) == 1


def test_the_value_of_a_scan_is_plain_json(tmp_path: Path, environment: dict[str, str]) -> None:
    value = scan_value(scan(put(tmp_path / "p", {"pyproject.toml": "[project]\nx = 1979-05-27\n"}), environment))
    assert json.loads(json.dumps(value)) == value
    assert {"tree", "manifests"}.isdisjoint(value)
