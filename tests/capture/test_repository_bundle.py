"""The memory that is made of a project: its kind, its parts, where it is entered, how it is checked."""

from __future__ import annotations

from pathlib import Path

import pytest
from repository_making import build, put


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project without git."""
    (tmp_path / "harbor").mkdir()
    return tmp_path / "harbor"


# -- kinds of projects ----------------------------------------------------------------------


def test_a_node_workspace(root: Path, environment: dict[str, str]) -> None:
    put(
        root,
        {
            "package.json": {
                "name": "mono",
                "description": "Not used: the README has details.",
                "packageManager": "pnpm@9.0.0",
                "scripts": {"test": "vitest run", "lint": "eslint .", "build": "tsc"},
                "workspaces": ["packages/*"],
            },
            "README.md": "# Mono\n\nInvoices for *small* marinas.\n",
            "packages/core/package.json": {"name": "@m/core", "description": "Knows berths.", "main": "src/index.ts"},
            "packages/core/src/index.ts": "/** Everything about berths. */\n",
            "packages/cli/package.json": {"name": "@m/cli", "bin": {"berth": "./src/cli.ts"}},
            "packages/cli/README.md": "# CLI\n\nAsks for berths. And more.\n",
            "packages/cli/src/cli.ts": "",
        },
    )
    bundle = build(root, environment)
    assert bundle["project"] == {
        "name": "mono",
        "summary": "Invoices for small marinas.",
        "primaryEcosystem": "node",
        "packageManager": "pnpm@9.0.0",
        "workspaceManager": "package.json workspaces",
        "recommendedEntryFile": "README.md",
        "keyPaths": [
            *("package.json", "packages/cli/package.json", "packages/cli/src/cli.ts", "packages/core/package.json"),
            *("packages/core/src/index.ts", "README.md"),
        ],
    }
    assert bundle["projectMap"]["modules"] == [
        {"name": "@m/cli", "path": "packages/cli", "responsibility": "Asks for berths."},
        {"name": "@m/core", "path": "packages/core", "responsibility": "Knows berths."},
    ]
    assert bundle["projectMap"]["entrypoints"] == [
        {"path": "packages/cli/src/cli.ts", "role": "Command `berth` (packages/cli/package.json)"},
        {
            "path": "packages/core/src/index.ts",
            "role": "Main module `@m/core` (packages/core/package.json). Everything about berths.",
        },
    ]
    assert [command["command"] for command in bundle["validationCommands"]] == [["pnpm", "test"], ["pnpm", "lint"]]
    assert bundle["validationCommands"][0]["purpose"] == "`test` in package.json: `vitest run`"


def test_a_python_project_with_a_src_folder(root: Path, environment: dict[str, str]) -> None:
    put(
        root,
        {
            "pyproject.toml": '[project]\nname = "harbor"\nversion = "1.4.0"\ndescription = "Invoices for marinas."\n'
            '[project.scripts]\nharbor = "harbor.cli:main"\nhb = "harbor.cli:main"\nlost = "harbor.gone:main"\n'
            "[tool.pytest.ini_options]\n",
            "uv.lock": "",
            "src/harbor/__init__.py": '"""Invoices."""\n',
            "src/harbor/__main__.py": "",
            "src/harbor/cli.py": '"""The command line."""\n',
            "src/harbor/billing/__init__.py": '"""Writes invoices.\n\nOne by one."""\n',
            "src/harbor/billing/money.py": "",
            "src/harbor/berths/__init__.py": "",
            "src/harbor/berths/map.py": "",
            "tests/test_x.py": "",
        },
    )
    bundle = build(root, environment)
    assert (bundle["project"]["name"], bundle["project"]["summary"]) == ("harbor", "Invoices for marinas.")
    assert bundle["project"]["packageManager"] == "uv"
    assert bundle["project"]["recommendedEntryFile"] == "AGENTS.md"
    assert bundle["projectMap"]["modules"] == [
        {"name": "billing", "path": "src/harbor/billing", "responsibility": "Writes invoices."}
    ]
    assert bundle["projectMap"]["entrypoints"] == [
        {"path": "src/harbor/cli.py", "role": "Commands `harbor`, `hb` (pyproject.toml). The command line."},
        {"path": "src/harbor/__main__.py", "role": "Run as `python -m harbor`"},
    ]
    assert bundle["validationCommands"] == [
        {
            "label": "uv run pytest",
            "command": ["uv", "run", "pytest"],
            "purpose": "The tests that pyproject.toml configures.",
        }
    ]
    assert bundle["currentFocus"]["summary"] == "none"
    assert bundle["currentFocus"]["currentState"] == ["Version 1.4.0 (pyproject.toml)."]


def test_a_rust_workspace(root: Path, environment: dict[str, str]) -> None:
    put(
        root,
        {
            "Cargo.toml": '[workspace]\nmembers = ["crates/*"]\n',
            "crates/cli/Cargo.toml": '[package]\nname = "ledger-cli"\n',
            "crates/cli/src/main.rs": "//! Asks and prints.\nfn main() {}\n",
            "crates/core/Cargo.toml": '[package]\nname = "ledger-core"\ndescription = "Books."\n',
            "crates/core/src/lib.rs": "",
            "crates/core/src/bin/audit.rs": "",
        },
    )
    bundle = build(root, environment)
    assert bundle["project"]["workspaceManager"] == "cargo workspace"
    assert bundle["projectMap"]["modules"] == [
        {"name": "ledger-cli", "path": "crates/cli", "responsibility": "Asks and prints."},
        {"name": "ledger-core", "path": "crates/core", "responsibility": "Books."},
    ]
    assert [(entry["path"], entry["role"]) for entry in bundle["projectMap"]["entrypoints"]] == [
        ("crates/cli/src/main.rs", "Program `ledger-cli` (crates/cli/Cargo.toml). Asks and prints."),
        ("crates/core/src/bin/audit.rs", "Program `audit` (crates/core/Cargo.toml)"),
        ("crates/core/src/lib.rs", "Library `ledger-core` (crates/core/Cargo.toml)"),
    ]
    assert [command["label"] for command in bundle["validationCommands"]] == ["cargo test", "cargo check"]


def test_a_go_module_with_commands(root: Path, environment: dict[str, str]) -> None:
    put(
        root,
        {
            "go.mod": "module example.com/harbor\n",
            "main.go": "package main\n",
            "cmd/server/main.go": "// Command server takes orders.\npackage main\n",
            "cmd/job/main.go": "package main\n",
            "internal/store/store.go": "// Package store keeps orders.\npackage store\n",
            "internal/web/web.go": "package web\n",
        },
    )
    bundle = build(root, environment)
    assert bundle["project"]["name"] == "harbor"
    assert [(entry["path"], entry["role"]) for entry in bundle["projectMap"]["entrypoints"]] == [
        ("cmd/job/main.go", "Program `job`"),
        ("cmd/server/main.go", "Program `server`. Command server takes orders."),
        ("main.go", "Program `harbor`"),
    ]
    assert bundle["projectMap"]["modules"] == [
        {"name": "server", "path": "cmd/server", "responsibility": "Command server takes orders."},
        {"name": "store", "path": "internal/store", "responsibility": "Package store keeps orders."},
    ]
    assert [command["command"] for command in bundle["validationCommands"]] == [
        ["go", "test", "./..."],
        ["go", "vet", "./..."],
    ]


def test_a_mixed_project_goes_by_its_makefile_and_its_automation(root: Path, environment: dict[str, str]) -> None:
    put(
        root,
        {
            "package.json": {"name": "web", "scripts": {"test": "jest"}},
            "pyproject.toml": '[project]\nname = "api"\n',
            "Cargo.toml": '[package]\nname = "core"\n',
            "Makefile": "CC := gcc\n# Everything that tests.\ntest: deps\n\tpytest\n"
            "check-all: x ## no\nlint: ## Look at all\n\truff\n",
            ".github/workflows/ci.yml": "jobs:\n  a:\n    steps:\n      - run: make lint test\n"
            "      - run: |\n          cargo build\n",
            "tests/test_a.py": "",
        },
    )
    bundle = build(root, environment)
    assert bundle["validationCommands"] == [
        {"label": "make test", "command": ["make", "test"], "purpose": "`test` in Makefile: Everything that tests."},
        {"label": "make lint", "command": ["make", "lint"], "purpose": "`lint` in Makefile: Look at all"},
    ]
    put(root, {".github/workflows/ci.yml": "      - run: npm test && cargo check\n"})
    assert [item["label"] for item in build(root, environment)["validationCommands"]] == ["npm test", "cargo check"]


def test_lines_of_the_automation_are_a_last_resort(root: Path, environment: dict[str, str]) -> None:
    lines = "script:\n  - make test; rm -rf /\n  - bundle exec rake test\n  - rake test $(whoami)\n"
    put(root, {"Gemfile": "", ".travis.yml": lines})
    assert build(root, environment)["validationCommands"] == [
        {
            "label": "bundle exec rake test",
            "command": ["bundle", "exec", "rake", "test"],
            "purpose": "The automation of the project runs it.",
        }
    ]


def test_a_script_that_only_says_there_is_no_test_is_none(root: Path, environment: dict[str, str]) -> None:
    put(root, {"package.json": {"scripts": {"test": 'echo "Error: no test specified" && exit 1'}}})
    assert build(root, environment)["validationCommands"] == []


def test_an_empty_folder(root: Path, environment: dict[str, str]) -> None:
    assert build(root, environment) == {
        "project": {
            "name": "harbor",
            "summary": "none",
            "primaryEcosystem": "generic",
            "packageManager": "none",
            "workspaceManager": "none",
            "recommendedEntryFile": "AGENTS.md",
            "keyPaths": [],
        },
        "projectMap": {
            "modules": [],
            "entrypoints": [],
            "denseSourceAreas": [],
            "architectureNotes": [],
            "firstFilesToRead": [],
        },
        "currentFocus": {
            "summary": "none",
            "currentState": [],
            "knownRisks": [],
            "validationSnapshot": {
                "status": "not-run",
                "validatedAt": None,
                "summary": "No validation command has been run.",
                "results": [],
                "suggestedNextActions": [],
            },
        },
        "gotchas": [],
        "nextSteps": [],
        "validationCommands": [],
    }


@pytest.mark.parametrize(
    ("readme", "description", "name", "summary"),
    [
        ("# Harbor\n\nTakes orders.\n", "Invoices.", "Harbor", "Takes orders."),
        ("# Harbor: all about berths\n\n## Berths\n\nEvery berth is known.\n", "Invoices.", "harbor", "Invoices."),
        ("## Berths\n\nEvery berth is known.\n", "", "harbor", "Every berth is known."),
        ("", "Invoices.", "harbor", "Invoices."),
    ],
)
def test_name_and_summary_come_from_readme_and_manifest(
    readme: str, description: str, name: str, summary: str, root: Path, environment: dict[str, str]
) -> None:
    project = build(put(root, {"README.md": readme, "package.json": {"description": description}}), environment)[
        "project"
    ]
    assert (project["name"], project["summary"]) == (name, summary)


def test_what_is_no_source_is_no_entrypoint(root: Path, environment: dict[str, str]) -> None:
    manifest = {
        "name": "x",
        "bin": "run",
        "main": "data.json",
        "exports": {"./package.json": "./package.json", ".": "./a.js"},
    }
    put(root, {"package.json": manifest, "run": "#!/bin/sh\n", "data.json": "{}", "a.js": ""})
    entries = build(root, environment)["projectMap"]["entrypoints"]
    assert [(entry["path"], entry["role"]) for entry in entries] == [
        ("run", "Command `x` (package.json)"),
        ("a.js", "Export (package.json)"),
    ]
