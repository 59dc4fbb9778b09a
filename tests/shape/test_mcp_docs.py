"""The pages on the MCP server say what it offers: every tool, argument, limit, option and code, and no other."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Iterator
from inspect import getsource
from pathlib import Path
from typing import Any

import msgspec
import pytest

from cases import each
from quire.guard.prompt_attacks import find_instructions
from quire.surfaces.mcp import fast_path, http, options, replies, stdio, wire
from quire.surfaces.mcp.catalogue import TOOLSETS, chosen_tools
from quire.surfaces.mcp.options import read_options
from quire.surfaces.mcp.prompts import list_prompts
from quire.surfaces.mcp.resources import list_resources, list_templates
from quire.surfaces.mcp.schemas import output_schema, tool_fields
from quire.surfaces.mcp.tool import ServedTool
from quire.surfaces.server import executor, http_auth

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "docs" / "reference"
GUIDES = ROOT / "docs" / "guides"
TOOLS = chosen_tools(["all"])
CLIENTS = sorted(GUIDES.glob("client-*.md"))


def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def section(text: str, heading: str) -> str:
    """A heading of any level and what stands below it, up to the next one of its level or above."""
    found = re.search(rf"^(#+) {re.escape(heading)}\n", text, re.M)
    assert found, f"no heading `{heading}`"
    rest = text[found.end() :]
    end = re.search(rf"^#{{1,{len(found[1])}}} ", rest, re.M)
    return rest[: end.start()] if end else rest


def rows(text: str) -> dict[str, str]:
    """The rows of the tables in a text, by the name in their first cell."""
    found = re.findall(r"^\| \[?`([^`]+)`(?:\]\([^)]*\))? \|(.*)$", text, re.M)
    assert len(dict(found)) == len(found), "a row stands twice"
    return dict(found)


def written(number: float) -> str:
    return f"{int(number):,}" if number == int(number) else str(number)


def holds(text: str, number: float) -> bool:
    """Whether a number stands in the text, as pages write them and not as a part of another."""
    return re.search(rf"(?<![\d,]){re.escape(written(number))}(?![\d]|,\d)", text) is not None


# -- tools ----------------------------------------------------------------------------------


def told() -> str:
    return read(REFERENCE / "mcp-tools.md")


def test_every_tool_has_its_section_and_no_other_has() -> None:
    parted = [re.findall(r"^### ([a-z_]+)$", section(told(), name), re.M) for name in ("Graph", "Facts", "Profile")]
    parted.append(re.findall(r"^### ([a-z_]+)$", section(told(), "Journal"), re.M))
    assert [sorted(names) for names in parted] == [
        sorted(chosen_tools([name])) for name in ("graph", "facts", "profile", "journal")
    ]


@each("tool", TOOLS.values())
def test_every_argument_has_a_meaning(tool: ServedTool) -> None:
    shown = rows(section(told(), tool.name))
    takes = {field.encode_name for field in msgspec.structs.fields(tool.takes)} - {"project_root", *tool.left_out}
    assert ("Takes only `project_root`" in section(told(), tool.name)) == (not takes)
    assert {name for name, row in shown.items() if not row.split("|")[1].strip()} == set()


@each("tool", TOOLS.values())
def test_what_a_tool_always_gives_is_documented(tool: ServedTool) -> None:
    data = output_schema(tool)["properties"]["data"].get("properties", {})
    said = section(told(), tool.name).partition("`data`:")[2]
    assert said, "nothing is said of `data`"
    for name in data:
        assert f"`{name}`" in said, name


def test_the_map_of_toolsets_is_that_of_the_catalogue() -> None:
    table = section(told(), "Toolsets").partition("### Names that")[0]
    sizes, names = table.split("| Tool |")
    assert {name: int(row.split("|")[0]) for name, row in rows(sizes).items()} == {
        name: len(chosen_tools([name])) for name in TOOLSETS
    }
    homes = {name: re.findall(r"`(\w+)`", row.split("|")[0]) for name, row in rows(names).items()}
    assert homes == {
        name: [home for home in TOOLSETS if home != "all" and name in chosen_tools([home])] for name in TOOLS
    }
    assert f"{len(TOOLS)} tools" in told()


def test_the_default_list_is_as_short_as_the_page_says() -> None:
    text = json.dumps({"tools": [tool_fields(tool) for tool in chosen_tools(["core"]).values()]}, separators=(",", ":"))
    assert "fewer than 8,000 characters" in told()
    assert len(text) < 8000


def test_near_names_are_names_of_tools() -> None:
    table = section(told(), "Names that are near each other")
    named = set(re.findall(r"`([a-z_]+)`", table))
    assert named <= set(TOOLS)
    assert {"status_memory", "memory_status", "status", "query_memory", "memory_query", "journal_query"} <= named


def test_resources_and_prompts_are_documented_and_no_others() -> None:
    uris = {item["uri"] for item in list_resources()} | {item["uriTemplate"] for item in list_templates()}
    assert set(rows(section(told(), "Resources"))) == uris
    prompts = {item["name"]: [argument["name"] for argument in item["arguments"]] for item in list_prompts()}
    shown = rows(section(told(), "Prompts"))
    assert {name: re.findall(r"`(\w+)`", row.split("|")[0]) for name, row in shown.items()} == prompts


# -- the command ----------------------------------------------------------------------------


def option_names(capsys: pytest.CaptureFixture[str]) -> set[str]:
    with pytest.raises(SystemExit):
        read_options(["--help"], {}, "", "memory-mcp")
    return set(re.findall(r"--[a-z-]+", capsys.readouterr().out.partition("options:")[2])) - {"--help"}


def test_every_option_of_the_command_is_documented_and_no_other_is(capsys: pytest.CaptureFixture[str]) -> None:
    names = option_names(capsys)
    assert {"--toolset", "--http", "--sdk-first", "--version"} <= names
    shown = {name.split(" ")[0] for name in rows(section(read(REFERENCE / "cli.md"), "memory-mcp"))}
    assert shown == names


def test_every_variable_of_the_command_is_documented() -> None:
    table = section(read(REFERENCE / "cli.md"), "Environment variables")
    for name in (
        options.TOOLSET_VARIABLE,
        options.TOKEN_VARIABLE,
        options.READ_TOKEN_VARIABLE,
        *options.PROJECT_VARIABLES,
    ):
        assert f"| `{name}` |" in table, name
        assert f"`{name}`" in read(GUIDES / "mcp.md"), name


# -- the protocol ---------------------------------------------------------------------------


def protocol() -> str:
    return read(REFERENCE / "mcp-protocol.md")


def test_every_version_and_every_cache_hint_is_documented() -> None:
    for version in (*fast_path.HANDSHAKE_VERSIONS, fast_path.MODERN_VERSION):
        assert f"`{version}`" in section(protocol(), "Versions"), version
    shown = rows(section(protocol(), "Cache hints"))
    assert set(shown) == set(replies.CACHE_HINTS)
    for method, (ttl, scope) in replies.CACHE_HINTS.items():
        assert shown[method].split("|")[:2] == [f" {ttl:,} ", f" `{scope}` "], method


def test_every_code_of_an_error_is_documented() -> None:
    shown = rows(section(protocol(), "Errors of the protocol"))
    for module in (replies, stdio, fast_path):
        for number in re.findall(r"-32\d{3}", getsource(module)):
            assert number in shown, number


def test_every_refusal_over_http_is_documented_and_no_other_is() -> None:
    tree = ast.parse(getsource(http_auth))
    given = [node.value.elts[0] for node in ast.walk(tree) if is_refusal(node)]  # type: ignore[attr-defined]
    statuses = {str(item.value) for item in given}
    assert {"401", "403", "404", "421", "429"} <= statuses
    table = section(protocol(), "Refusals over HTTP").partition("The protocol library")[0]
    assert set(re.findall(r"^\| (\d{3}) \|", table, re.M)) == statuses


def is_refusal(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Return)
        and isinstance(node.value, ast.Tuple)
        and isinstance(node.value.elts[0], ast.Constant)
    )


def test_every_limit_of_the_server_is_documented() -> None:
    table = section(protocol(), "Limits")
    for number in (executor.PENDING_MOST, executor.READERS, http.RATE, http.TOKEN_LEAST, options.DEFAULT_PORT):
        assert holds(table, number) or f"`{number}`" in table, number
    assert f"{wire.LINE_MOST // 1024 // 1024} MiB" in table


def test_every_flag_is_documented_and_no_other_is() -> None:
    known = ROOT / "tests" / "guard" / "instructions_hostile.txt"
    given = {flag for line in read(known).splitlines() for flag in find_instructions(line.replace("\\n", "\n"))}
    assert len(given) > 8
    assert set(rows(section(read(ROOT / "docs" / "concepts" / "answers-are-data.md"), "Flags"))) == given


# -- clients --------------------------------------------------------------------------------


def blocks(page: Path, kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", read(page), re.M | re.S)


def started(value: Any) -> Iterator[list[str]]:
    """The command lines in a configuration, however the client spells them."""
    if isinstance(value, dict):
        command = value.get("command")
        if isinstance(command, str):
            yield [command, *value.get("args", [])]
        elif isinstance(command, list):
            yield command
        for inner in value.values():
            yield from started(inner)


def test_there_is_a_page_for_each_client_and_the_index_names_it() -> None:
    clients = {"claude-code", "codex", "cursor", "gemini-cli", "opencode", "copilot", "cline"}
    assert {page.stem.removeprefix("client-") for page in CLIENTS} == clients
    index = read(GUIDES / "clients.md")
    for page in CLIENTS:
        assert f"({page.name})" in index, page.name


@pytest.mark.parametrize("page", [*CLIENTS, GUIDES / "clients.md", GUIDES / "mcp.md"], ids=lambda page: page.stem)
def test_every_configuration_is_well_formed_and_starts_the_server(page: Path) -> None:
    found = [json.loads(text) for text in blocks(page, "json")]
    found += [tomllib.loads(text) for text in blocks(page, "toml")]
    assert found or page in (GUIDES / "clients.md", GUIDES / "mcp.md")
    for line in (line for value in found for line in started(value)):
        assert Path(line[0]).name == "memory-mcp", line
        read_options(line[1:], {}, "", "memory-mcp")


@pytest.mark.parametrize("page", CLIENTS, ids=lambda page: page.stem)
def test_every_page_of_a_client_answers_the_same_questions(page: Path) -> None:
    names = re.findall(r"^## (.+)$", read(page), re.M)
    for heading in ("Check it", "How the tools appear", "Limits", "Over HTTP", "Remove it"):
        assert heading in names, heading
