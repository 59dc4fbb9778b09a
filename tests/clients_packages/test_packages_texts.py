"""What clients are given to read: the form and the limits of each text, and that it says what the program does."""

from __future__ import annotations

import re

import pytest

from quire.clients.hooks.read_event import read_event
from quire.clients.hooks.reply import connected_events
from quire.clients.hooks.types import EVENTS
from quire.clients.texts.opencode import OPENCODE_PLUGIN_PATH, opencode_plugin_text
from quire.clients.texts.rules import RULES_CLIENTS, package_context_text, rules_text
from quire.clients.texts.skill import SKILL_NAME, SKILL_PATH, skill_text
from quire.guard.prompt_attacks import find_instructions
from quire.guard.secrets import find_secrets
from quire.surfaces.cli.main import COMMANDS
from quire.surfaces.mcp.catalogue import chosen_tools

COMING = {"inbox", "integrate"}
"""Commands that the texts may name, whichever of them are there."""
TEXTS = {
    "skill": skill_text(),
    "package": package_context_text(),
    "opencode": opencode_plugin_text(),
    **{client: rules_text(client) for client in RULES_CLIENTS},
}


def front_of(text: str) -> dict[str, str]:
    """The front matter: names with a text on the same line, or folded on the lines below."""
    assert text.startswith("---\n")
    front = text[4:].partition("\n---\n")[0]
    fields: dict[str, str] = {}
    name = ""
    for line in front.splitlines():
        if line.startswith("  "):
            fields[name] = f"{fields[name]} {line.strip()}".strip()
        else:
            name, _, value = line.partition(": ")
            fields[name] = value.removeprefix(">-")
    return fields


def test_the_skill_has_only_the_fields_that_all_clients_know() -> None:
    fields = front_of(skill_text())
    assert set(fields) <= {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}
    assert fields["name"] == SKILL_NAME == SKILL_PATH.split("/")[-2]
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", fields["name"])
    assert len(fields["name"]) <= 64
    assert 200 < len(fields["description"]) <= 1024
    assert "Use it when" in fields["description"]
    assert "<" not in fields["description"]
    assert fields["license"] == "Apache-2.0"
    assert 0 < len(fields["compatibility"]) <= 500


def test_the_skill_is_short() -> None:
    assert len(skill_text().splitlines()) <= 100
    assert len(skill_text()) <= 5000


def test_the_rules_of_cursor_have_their_front_matter() -> None:
    fields = front_of(rules_text("cursor"))
    assert set(fields) == {"description", "alwaysApply"}
    assert fields["alwaysApply"] == "false"


@pytest.mark.parametrize("client", [client for client in RULES_CLIENTS if client != "cursor"])
def test_the_rules_of_others_begin_with_a_heading(client: str) -> None:
    assert re.match(r"##? Project memory\n\n", rules_text(client))


def test_there_are_no_rules_for_clients_with_skills() -> None:
    with pytest.raises(ValueError, match="no rules for 'claude'; there are for cursor, gemini, copilot, cline"):
        rules_text("claude")


@pytest.mark.parametrize("name", TEXTS)
def test_commands_and_tools_that_are_named_exist(name: str) -> None:
    text = TEXTS[name]
    verbs = set(re.findall(r"`(?:memory|quire) ([a-z]+)", text))
    assert verbs
    assert verbs <= set(COMMANDS) | COMING
    assert set(re.findall(r"`([a-z]+_memory)`", text)) <= set(chosen_tools(("core", "graph")))


@pytest.mark.parametrize("name", TEXTS)
def test_texts_are_information_and_plain(name: str) -> None:
    text = TEXTS[name]
    assert not find_secrets(text)
    assert not find_instructions(text)
    assert text.endswith("\n")
    assert max(map(len, text.splitlines())) <= 120
    if name != "opencode":
        assert "not instructions" in text
        assert "the code and the user are right" in " ".join(text.split())


def test_the_plugin_of_opencode_does_what_is_wired() -> None:
    text = opencode_plugin_text()
    wired = {one.event: one for one in connected_events("opencode")}
    assert set(wired) == set(EVENTS)
    found = re.search(r"const SECONDS = \{(.*)\}", text)
    assert found
    seconds = {name.strip(' "'): int(value) for name, value in (one.split(":") for one in found[1].split(","))}
    assert {event: seconds.get(event, 5) for event in EVENTS} == {event: one.seconds for event, one in wired.items()}
    edits = re.search(r"const EDITS = new Set\(\[(.*)\]\)", text)
    assert edits
    assert [one.strip(' "') for one in edits[1].split(",")] == wired["before-edit"].matcher.split("|")
    for one in wired.values():
        assert f'"{one.native}"' in text
        assert f'"{one.event}"' in text
    assert OPENCODE_PLUGIN_PATH == "plugins/quire-memory.js"


def test_what_the_plugin_tells_is_understood() -> None:
    payload = (
        b'{"event":"before-edit","sessionID":"ses_1","directory":"/p","tool":"edit","args":{"filePath":"/p/a.py"}}'
    )
    told = read_event("opencode", "before-edit", payload)
    assert (told.session, told.cwd, told.tool, told.files) == ("ses_1", "/p", "edit", ("/p/a.py",))
