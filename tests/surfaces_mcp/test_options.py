"""How the server is started: every option, where else it may come from, and what is refused with a word of advice."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from quire import __version__
from quire.model.errors import QuireError
from quire.surfaces.mcp import main
from quire.surfaces.mcp.options import ServerOptions, read_options

TOKEN = "0123456789abcdef-token"
Read = Callable[..., ServerOptions]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "registry"
    home.mkdir()
    return home


@pytest.fixture
def read(home: Path) -> Read:
    def read(*arguments: str, env: dict[str, str] | None = None) -> ServerOptions:
        return read_options(arguments, env or {}, str(home), "memory-mcp")

    return read


def settings(home: Path, value: Any) -> Path:
    file = home / "mcp.json"
    file.write_text(value if isinstance(value, str) else json.dumps(value))
    return file


def refusal(read: Read, *arguments: str, env: dict[str, str] | None = None) -> QuireError:
    with pytest.raises(QuireError) as raised:
        read(*arguments, env=env)
    assert raised.value.hint
    return raised.value


# -- every option ---------------------------------------------------------------------------------


def test_with_nothing_said_it_is_the_core_over_standard_input(read: Read) -> None:
    assert read() == ServerOptions()
    assert msgspec.to_builtins(ServerOptions()) == {
        "toolsets": ("core",),
        "projects": (),
        "only": False,
        "http": False,
        "host": "127.0.0.1",
        "port": 8765,
        "public": False,
        "allowed_hosts": (),
        "allowed_origins": (),
        "token": "",
        "read_token": "",
        "rate": 0,
        "sdk_first": False,
    }


ONE: dict[str, tuple[list[str], dict[str, Any]]] = {
    "toolset": (["--toolset", "facts"], {"toolsets": ("facts",)}),
    "toolsets": (["--toolset=core, facts ,core,"], {"toolsets": ("core", "facts")}),
    "all": (["--toolset", "all"], {"toolsets": ("all",)}),
    "project": (["--project", "a"], {"projects": ("a",)}),
    "projects": (["--project", "a", "--project=b"], {"projects": ("a", "b")}),
    "only": (["--project", "a", "--only"], {"projects": ("a",), "only": True}),
    "sdk first": (["--sdk-first"], {"sdk_first": True}),
    "http": (["--http"], {"http": True, "only": True}),
    "host": (["--http", "--host", "::1"], {"http": True, "only": True, "host": "::1"}),
    "port": (["--http", "--port", "0"], {"http": True, "only": True, "port": 0}),
    "highest port": (["--http", "--port", "65535"], {"http": True, "only": True, "port": 65535}),
    "public": (["--http", "--public"], {"http": True, "only": True, "public": True}),
    "hosts": (
        ["--http", "--allow-host", "a", "--allow-host", "b:1"],
        {"http": True, "only": True, "allowed_hosts": ("a", "b:1")},
    ),
    "origins": (
        ["--http", "--allow-origin", "https://a", "--allow-origin", "https://b"],
        {"http": True, "only": True, "allowed_origins": ("https://a", "https://b")},
    ),
    "rate": (["--http", "--rate", "7"], {"http": True, "only": True, "rate": 7}),
}


@pytest.mark.parametrize("given", ONE)
def test_each_option(read: Read, given: str) -> None:
    arguments, fields = ONE[given]
    assert read(*arguments) == msgspec.structs.replace(ServerOptions(), **fields)


def test_tokens_are_read_from_files(read: Read, tmp_path: Path) -> None:
    (tmp_path / "write").write_text(f"\n {TOKEN}\n")
    (tmp_path / "read").write_text("another")
    files = ("--token-file", str(tmp_path / "write"), "--read-token-file", str(tmp_path / "read"))
    found = read("--http", *files, env={"MEMORY_MCP_TOKEN": "x", "MEMORY_MCP_READ_TOKEN": "y"})
    assert (found.token, found.read_token) == (TOKEN, "another")


def test_help_names_every_option_and_version_the_version(capsys: pytest.CaptureFixture[str], read: Read) -> None:
    with pytest.raises(SystemExit) as ended:
        read("--help")
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    used = {word.partition("=")[0] for line, _ in ONE.values() for word in line if word.startswith("--")}
    known = {*used, "--token-file", "--read-token-file", "--version", "--help"}
    assert set(re.findall(r"--[a-z-]+", shown)) == known
    with pytest.raises(SystemExit) as ended:
        read("--version")
    assert (ended.value.code, capsys.readouterr().out) == (0, f"memory-mcp {__version__}\n")


# -- where else it comes from ---------------------------------------------------------------------


def test_the_environment_says_what_the_command_line_does_not(read: Read) -> None:
    env = {
        "MEMORY_TOOLSET": "core,journal",
        "MEMORY_PROJECT": "/a",
        "MEMORY_MCP_TOKEN": f" {TOKEN}\n",
        "MEMORY_MCP_READ_TOKEN": "another",
    }
    found = read(env=env)
    assert (found.toolsets, found.projects) == (("core", "journal"), ("/a",))
    assert (found.token, found.read_token) == (TOKEN, "another")
    assert found.only is False


def test_of_two_projects_in_the_environment_the_first_counts(read: Read) -> None:
    assert read(env={"CLAUDE_PROJECT_DIR": "/b"}).projects == ("/b",)
    assert read(env={"CLAUDE_PROJECT_DIR": "/b", "MEMORY_PROJECT": "/a"}).projects == ("/a",)
    assert read(env={"CLAUDE_PROJECT_DIR": "/b", "MEMORY_PROJECT": ""}).projects == ("/b",)
    assert read("--project", "/c", env={"CLAUDE_PROJECT_DIR": "/b", "MEMORY_PROJECT": "/a"}).projects == ("/c",)


@pytest.mark.parametrize("value", ["core,facts", ["core", "facts"], " core , facts "])
def test_the_users_settings_choose_the_tools(read: Read, home: Path, value: Any) -> None:
    settings(home, {"toolset": value})
    assert read().toolsets == ("core", "facts")


@pytest.mark.parametrize("value", [{}, {"toolset": ""}, {"toolset": []}])
def test_settings_that_say_nothing(read: Read, home: Path, value: Any) -> None:
    settings(home, value)
    assert read().toolsets == ("core",)


def test_the_command_line_wins_over_the_environment_and_that_over_the_settings(read: Read, home: Path) -> None:
    settings(home, {"toolset": "journal"})
    env = {"MEMORY_TOOLSET": "facts"}
    assert read("--toolset", "graph", env=env).toolsets == ("graph",)
    assert read(env=env).toolsets == ("facts",)
    assert read(env={"MEMORY_TOOLSET": "  "}).toolsets == ("journal",)
    assert read().toolsets == ("journal",)


def test_settings_that_are_not_needed_are_not_read(read: Read, home: Path) -> None:
    settings(home, "{broken")
    assert read("--toolset", "graph").toolsets == ("graph",)
    assert read(env={"MEMORY_TOOLSET": "graph"}).toolsets == ("graph",)


def test_without_a_home_there_are_no_settings() -> None:
    assert read_options([], {}, "", "memory-mcp") == ServerOptions()


# -- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["nothing", "core,nothing", "Core", "core facts", "all,x" + "y" * 90])
def test_toolsets_that_do_not_exist(read: Read, home: Path, text: str) -> None:
    hint = "There are core, graph, facts, profile, journal, all."
    wrong = next(word for word in text.split(",") if word not in ("core", "all"))[:40]
    for error, where in (
        (refusal(read, "--toolset", text), "--toolset"),
        (refusal(read, env={"MEMORY_TOOLSET": text}), "MEMORY_TOOLSET"),
        (refusal_of_settings(read, home, {"toolset": text}), str(home / "mcp.json")),
    ):
        assert (error.kind, error.hint) == ("usage", hint)
        assert error.message == f"{where} names the toolset `{wrong}`."


def refusal_of_settings(read: Read, home: Path, value: Any) -> QuireError:
    settings(home, value)
    return refusal(read)


@pytest.mark.parametrize("text", ["", ",", " , "])
def test_no_toolset_is_not_all_of_them(read: Read, text: str) -> None:
    assert refusal(read, "--toolset", text).message == "--toolset names no toolset."


BROKEN = {
    "no JSON": "{",
    "empty": "",
    "a list": "[]",
    "another name": '{"toolsets": "core"}',
    "a number": '{"toolset": 3}',
    "numbers": '{"toolset": [1]}',
    "nested": "[" * 5_000,
    "too long": '{"toolset": "core"' + " " * 70_000 + "}",
}


@pytest.mark.parametrize("given", BROKEN)
def test_settings_that_cannot_be_read(read: Read, home: Path, given: str) -> None:
    file = settings(home, BROKEN[given])
    error = refusal(read)
    assert error.message.startswith(f"{file} cannot be read: ")
    assert error.hint == 'It holds one object, such as {"toolset": "core,facts"}.'


def test_settings_that_are_no_file(read: Read, home: Path) -> None:
    (home / "mcp.json").mkdir()
    assert "mcp.json cannot be read: " in refusal(read).message


@pytest.mark.parametrize("option", ["--token-file", "--read-token-file"])
def test_files_without_a_token(read: Read, tmp_path: Path, option: str) -> None:
    for name, data in (("empty", b""), ("blank", b" \n\n"), ("not ascii", "tökén-0123456789".encode())):
        (tmp_path / name).write_bytes(data)
    for name in ("missing", "empty", "blank", "not ascii", "."):
        error = refusal(read, "--http", option, str(tmp_path / name))
        assert error.message.startswith(f"{option}: {tmp_path / name} ")
        assert error.hint == "Name a file with one token."
        assert "0123456789" not in error.message


HTTP_ONLY = (
    ["--host", "::1"],
    ["--port", "1"],
    ["--public"],
    ["--allow-host", "a"],
    ["--allow-origin", "a"],
    ["--token-file", "a"],
    ["--read-token-file", "a"],
    ["--rate", "5"],
)


@pytest.mark.parametrize("arguments", HTTP_ONLY)
def test_what_belongs_to_http_is_refused_without_it(read: Read, arguments: list[str]) -> None:
    error = refusal(read, *arguments)
    assert (error.kind, error.message) == ("usage", f"{arguments[0]} is for --http.")
    assert error.hint == "Add --http, or leave it out."


@pytest.mark.parametrize("port", ["-1", "65536", "99999999999999999999"])
def test_ports_that_are_none(read: Read, port: str) -> None:
    error = refusal(read, "--http", f"--port={port}")
    assert (error.kind, error.message, error.hint) == ("usage", f"{port} is not a port.", "Ports are 0 to 65535.")


def test_a_rate_is_positive(read: Read) -> None:
    error = refusal(read, "--http", "--rate=-1")
    assert (error.kind, error.hint) == ("usage", "Leave it out for 50 requests a second.")


def test_only_says_which(read: Read) -> None:
    """On the command line itself: what the environment names may be somebody else's choice."""
    for env in ({}, {"MEMORY_PROJECT": "/a"}):
        error = refusal(read, "--only", env=env)
        assert (error.kind, error.message) == ("usage", "--only needs --project.")


PARSED = (
    ["--port", "x", "--http"],
    ["--rate", "1.5", "--http"],
    ["--nothing"],
    ["--tool", "core"],
    ["word"],
    ["--toolset"],
    ["--token", "secret-0123456789"],
    ["--public=yes", "--http"],
)


@pytest.mark.parametrize("arguments", PARSED)
def test_what_is_no_command_line(capsys: pytest.CaptureFixture[str], read: Read, arguments: list[str]) -> None:
    """No abbreviations either: what is added later must not change what they mean."""
    with pytest.raises(SystemExit) as ended:
        read(*arguments)
    assert ended.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("usage: memory-mcp ")
    assert "memory-mcp: error: " in err


# -- the program ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["--toolset", "nothing"], 2), (["--port", "1"], 2), (["--only"], 2), (["--http", "--token-file", "missing"], 1)],
)
def test_mistakes_are_said_on_standard_error_with_advice(
    capsys: pytest.CaptureFixture[str], arguments: list[str], code: int
) -> None:
    assert main(arguments) == code
    out, err = capsys.readouterr()
    assert out == ""
    said, hint = err.splitlines()
    assert said.startswith("memory-mcp: ")
    assert hint.startswith("hint: ")


def test_broken_settings_are_said_by_the_installed_program(home: Path, environment: dict[str, str]) -> None:
    settings(home, "{")
    done = subprocess.run(
        [str(Path(sys.executable).parent / "memory-mcp")],
        env={**environment, "MEMORY_HOME": str(home)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.decode().splitlines()[1].startswith("hint: It holds one object")
