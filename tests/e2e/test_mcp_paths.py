"""Nothing outside of the project is read or written, whatever stands in a text that a tool is given.

A file beside the project holds a mark, and so does one in the user's home; a link in the project leads to the first.
Every text of every tool is made a path to them in many ways: the mark must never be in an answer, nothing outside may
change, and every call is answered with a result or a plain error.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from mcp_here import Here, folder, prepared
from mcp_lines import Server, call, hello, request, serving

from installed import Git
from promised import proves
from quire.surfaces.mcp.catalogue import chosen_tools
from thorough import LONG

MARK = "The harbour master hides the key under the third bollard"
SECRET = "secret.txt"
PASSWORDS = Path("/etc/passwd").read_text().splitlines()[0]
TOOLS = list(chosen_tools(["all"]))
EVERYDAY = 3
OURS = (".memory", ".ai-state", ".agent-memory", "docs", "AGENTS.md", ".gitignore", ".gitattributes")
"""Where the memory is kept in a project; the rest of it is the user's."""
REFUSED = "`project_root` is not an initialised project that this server can open."


@pytest.fixture(scope="module")
def here() -> Iterator[Here]:
    with folder() as place:
        here = prepared(place).copy("own")
        (place / SECRET).write_text(MARK)
        Path(here.env["HOME"], SECRET).write_text(MARK)
        (here.root / "src/leak").symlink_to(place / SECRET)
        (here.root / "src/folder").symlink_to(place)
        (place / "plain").mkdir()
        (place / "plain/file.txt").write_text("x")
        (place / "plain link").symlink_to(place / "plain")
        Git(place, here.env)("init", "--quiet", "bare repository")
        yield here


@pytest.fixture(scope="module")
def server(here: Here) -> Iterator[Server]:
    with serving(here, "--toolset", "all") as server:
        server.send(*hello(name="hello"))
        server.answers("hello")
        yield server


@pytest.fixture(scope="module")
def schemas(server: Server) -> dict[str, Any]:
    listed = server.ask(request("schemas", "tools/list"))["result"]["tools"]
    return {tool["name"]: tool["inputSchema"] for tool in listed}


def tricks(here: Here) -> list[str]:
    secret = here.root.parent / SECRET
    return [
        f"../{SECRET}",
        str(secret),
        f"file://{secret}",
        "src/leak",
        f"~/{SECRET}",
        f"src/../../{SECRET}",
        f"src/folder/{SECRET}",
        f"%2e%2e/{SECRET}",
        f"%2e%2e%2f{SECRET}",
        f"..\\{SECRET}",
        f"../{SECRET}\0.md",
        f"src/worker.py\n../{SECRET}",
        "/etc/passwd",
        "../" * 12 + "etc/passwd",
        "..",
        "~",
        "../" * 1500,
        "$HOME/" + SECRET,
        f"`cat ../{SECRET}`",
        f"--no-index ../{SECRET}",
    ]


def with_text(schema: dict[str, Any], text: str) -> Iterator[Any]:
    """Values that fit the schema, each with the text in another place."""
    kind = schema.get("type")
    if kind == "array":
        yield from ([value] for value in with_text(schema.get("items", {"type": "string"}), text))
    elif kind == "object":
        least = {name: example(schema["properties"][name]) for name in schema.get("required", ())}
        for name, inner in schema.get("properties", {}).items():
            yield from ({**least, name: value} for value in with_text(inner, text))
    elif kind == "string":
        yield text
    elif "anyOf" in schema:
        for inner in schema["anyOf"]:
            yield from with_text(inner, text)


def example(schema: dict[str, Any]) -> Any:
    found = {"integer": 1, "number": 0.5, "boolean": True, "array": ["src"], "object": {}}
    return schema["enum"][0] if "enum" in schema else found.get(schema.get("type", ""), "src")


def outside(here: Here) -> dict[str, bytes | str]:
    """All files but those of the memory: the user's in the project, and everything beside it."""
    found: dict[str, bytes | str] = {}
    for path in here.root.parent.rglob("*"):
        place = path.relative_to(here.root.parent)
        inner = place.parts[1:]
        if place.parts[0] == here.root.name and (not inner or inner[0] in (*OURS, ".git")):
            continue
        if path.is_symlink():
            found[str(place)] = str(path.readlink())
        elif path.is_file():
            found[str(place)] = path.read_bytes()
        else:
            found[str(place)] = "folder"
    return found


def checked(messages: dict[Any, dict[str, Any]]) -> None:
    for name, message in messages.items():
        said = json.dumps(message)
        assert MARK not in said, name
        assert PASSWORDS not in said, name
        assert "itself failed" not in said, (name, said)


# -- every text of every tool -----------------------------------------------------------------


@pytest.mark.proof(keep=8)
@proves("P7.2", "D12")
@pytest.mark.parametrize("tool", TOOLS)
def test_a_path_in_a_text_leads_nowhere(server: Server, schemas: dict[str, Any], here: Here, tool: str) -> None:
    ways, calls = tricks(here), {}
    variants = [list(with_text(schemas[tool], way)) for way in ways]
    assert variants[0], "every tool has a text: its project_root"
    for place, values in enumerate(zip(*variants, strict=True)):
        # Each place is tried with some ways, and with other ones than the place before it.
        chosen = range(len(ways)) if LONG else [(place * EVERYDAY + n) % len(ways) for n in range(EVERYDAY)]
        for way in chosen:
            calls[f"{tool} {place} {way}"] = values[way]
    before = outside(here)
    server.send(*(call(name, tool, **given) for name, given in calls.items()))
    found = server.answers(*calls)
    checked(found)
    assert all("result" in message for message in found.values())
    assert outside(here) == before
    for name, given in calls.items():
        if "project_root" in given:
            error = found[name]["result"]["structuredContent"]["error"]
            assert error["message"] == REFUSED or len(given["project_root"]) > 4096
            assert error["details"]["field"] == "project_root"


def test_the_memory_is_sound_after_all_of_them(server: Server, here: Here) -> None:
    for tool in ("check_memory", "memory_validate", "status_memory", "status"):
        result = server.ask(call(f"after {tool}", tool))["result"]
        assert result["isError"] is False
        assert result["structuredContent"]["data"].get("valid", True) is True
        assert result["structuredContent"]["data"].get("failCount", 0) == 0


@proves("P7.2", "D12")
@pytest.mark.parametrize("modern", [False, True], ids=["handshake", "newer"])
def test_addresses_and_prompts_lead_nowhere(here: Here, modern: bool) -> None:
    ways = [*tricks(here), *(f"{kind}:{way}" for kind in KINDS for way in tricks(here)[:6])]
    uris = [f"memory://{way}" for way in ways]
    uris += [f"memory://record/{form}" for way in ways for form in (way, quote(way, safe=""))]
    uris += [way for way in ways if ":" in way]
    reads = {f"read {uri}": request(f"read {uri}", "resources/read", {"uri": uri}, modern=modern) for uri in uris}
    told = [("orient", "topic"), ("save_what_changed", "task"), ("hand_over", "to")]
    for name, argument in told:
        for way in tricks(here):
            key = f"prompt {name} {way}"
            params = {"name": name, "arguments": {argument: way}}
            reads[key] = request(key, "prompts/get", params, modern=modern)
    before = outside(here)
    with serving(here, "--toolset", "all") as server:
        server.send(*([request(0, "server/discover", modern=True)] if modern else hello()), *reads.values())
        found = server.answers(0, *reads)
    checked(found)
    assert outside(here) == before
    assert all("error" in found[name] for name in reads if name.startswith("read "))


KINDS = ("fact", "episode", "profile", "event", "checkpoint", "bundle", "decision")


# -- other projects ---------------------------------------------------------------------------


def refusals(here: Here) -> dict[str, str]:
    place = here.root.parent
    return {
        "not initialised": str(place / "plain"),
        "not initialised, relative": "../plain",
        "a repository without a memory": str(place / "bare repository"),
        "inside its .git": str(place / "bare repository/.git"),
        "a file": str(place / "plain/file.txt"),
        "a file of a project": str(place / "harbor/README.md"),
        "missing": str(place / "nothing/there"),
        "missing in a project": str(place / "harbor/nothing"),
        "a link to elsewhere": str(place / "plain link"),
        "a link in the project": "src/folder",
        "the folder above": "..",
        "the root": "/",
        "the system's": "/etc",
        "an address": f"file://{place}/harbor",
        "with a tilde": "~",
        "with a NUL": f"{place}/harbor\0",
        "long": "x/" * 2000,
        "the user's home": here.env["HOME"],
    }


@proves("P7.2", "D12")
@pytest.mark.parametrize("tool", ["query_memory", "memory_store"])
def test_what_is_no_project_is_refused_alike(server: Server, here: Here, tool: str) -> None:
    """Word for word, so that nobody can find out what is on the disk."""
    given = {"question": "x"} if tool == "query_memory" else {"section": "Specs", "content": "x"}
    ways = refusals(here)
    server.send(*(call(name, tool, **given, project_root=root) for name, root in ways.items()))
    found = server.answers(*ways)
    assert {json.dumps(found[name]["result"], sort_keys=True) for name in ways} == {
        json.dumps(found["missing"]["result"], sort_keys=True)
    }
    assert found["missing"]["result"]["structuredContent"]["error"]["message"] == REFUSED


def test_a_way_into_a_project_opens_that_project_and_nothing_else(server: Server, here: Here) -> None:
    place = here.root.parent
    (place / "link").symlink_to(place / "harbor")
    ways = [place / "harbor", place / "harbor/src", place / "link", place / "link/src", Path("../harbor")]
    for way in ways:
        result = server.ask(call(str(way), "inspect_memory", id="project.harbor", project_root=str(way)))["result"]
        assert result["structuredContent"]["meta"]["project_root"] == str(place / "harbor")


def test_only_the_projects_that_were_named_are_opened(here: Here) -> None:
    place = here.root.parent
    other = here.copy("other")
    given = ("--project", str(here.root), "--project", str(other.root), "--only")
    with serving(here, *given) as server:
        server.send(*hello())
        server.answers(0)
        for number, root in enumerate((None, here.root, other.root, other.root / "src"), 1):
            result = server.ask(call(number, "status_memory", project_root=root and str(root)))["result"]
            opened = other.root if root is not None and other.root in (root, root.parent) else here.root
            assert result["structuredContent"]["meta"]["project_root"] == str(opened)
        ways = {**refusals(here), "another project": str(place / "harbor"), "by a detour": f"{other.root}/../harbor"}
        server.send(*(call(name, "status_memory", project_root=root) for name, root in ways.items()))
        found = server.answers(*ways)
        assert {json.dumps(found[name]["result"], sort_keys=True) for name in ways} == {
            json.dumps(found["missing"]["result"], sort_keys=True)
        }
