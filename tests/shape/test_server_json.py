"""`server.json`, by which registries know the server: well formed, of this version, and what it starts is there."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

from quire import __version__
from quire.surfaces.mcp.options import read_options
from quire.surfaces.mcp.server_text import TITLE

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"


def manifest() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    return found


def package() -> dict[str, Any]:
    [found] = manifest()["packages"]
    assert isinstance(found, dict)
    return found


def project() -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return found


def test_it_keeps_the_rules_of_its_schema() -> None:
    told = manifest()
    assert told["$schema"] == SCHEMA
    assert set(told) <= {"$schema", "name", "title", "description", "version", "repository", "websiteUrl", "packages"}
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", told["name"])
    assert 3 <= len(told["name"]) <= 200
    assert 1 <= len(told["description"]) <= 100
    assert told["title"] == TITLE
    assert len(TITLE) <= 100
    for argument in package()["packageArguments"]:
        assert argument["type"] == "named"
        assert argument["name"].startswith("--")
        assert argument.get("format", "string") in ("string", "number", "boolean", "filepath")


def test_its_versions_are_that_of_the_package() -> None:
    assert manifest()["version"] == package()["version"] == __version__


def test_it_names_the_package_that_is_published() -> None:
    assert (package()["registryType"], package()["identifier"]) == ("pypi", project()["name"])


def test_the_readme_says_whose_name_it_is() -> None:
    # Registries look for this line in the description of the package.
    assert project()["readme"] == "README.md"
    assert f"<!-- mcp-name: {manifest()['name']} -->" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_what_it_starts_is_the_server() -> None:
    # `uvx PACKAGE` starts the program that has the package's name.
    assert package()["runtimeHint"] == "uvx"
    assert project()["scripts"].get(package()["identifier"]) == "quire.surfaces.mcp:main"


def test_its_arguments_are_options_of_the_server() -> None:
    line = [word for item in package()["packageArguments"] for word in (item["name"], item.get("default", "."))]
    chosen = read_options(line, {}, "", "memory-mcp")
    assert chosen.toolsets == ("core",)
    assert chosen.projects == (".",)
