"""What the tools of the profile refuse, and what they say then."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from profile_calling import Profile, document_of, entry_of

from quire.files.world import World
from quire.surfaces.mcp.schemas import tool_fields

INVALID, MISSING = "MemoryValidationFailed", "MemoryObjectNotFound"
ENDS = {"source_category": "tools", "source_key": "shell", "target_category": "user", "target_key": "city"}
HAPPY: dict[str, dict[str, Any]] = {
    "session_start": {},
    "remember": {"category": "user", "key": "k", "value": "v"},
    "forget": {"category": "user", "key": "city"},
    "recall": {"category": "user"},
    "search": {"query": "city"},
    "status": {},
    "export_memories": {},
    "about_me": {},
    "about_us": {},
    "reflect": {},
    "connections": {"category": "user", "key": "city"},
    "add_link": {**ENDS, "relation": "elaborates"},
    "remove_link": ENDS,
}
WRONG_TYPES = [
    ("remember", "category", 5),
    ("remember", "key", ["k"]),
    ("remember", "value", 5),
    ("remember", "tags", "a,b"),
    ("remember", "tags", {"a": 1}),
    ("remember", "tags", [1]),
    ("remember", "importance", 5.5),
    ("remember", "importance", "much"),
    ("remember", "confidence", "sure"),
    ("remember", "force", "perhaps"),
    ("remember", "broad", 7),
    ("remember", "source_type", []),
    ("recall", "category", None),
    ("recall", "key", 3),
    ("search", "query", ["city"]),
    ("search", "category", 1),
    ("export_memories", "output_format", 1),
    ("connections", "key", {}),
    ("add_link", "relation", None),
    ("remove_link", "relation", 1),
    ("remove_link", "target_key", None),
]
LIMITS = [
    ("remember", "category", "c" * 201),
    ("remember", "key", "k" * 513),
    ("remember", "value", "v" * 100_001),
    ("remember", "tags", ["t"] * 101),
    ("remember", "tags", ["t" * 201]),
    ("remember", "importance", 0),
    ("remember", "importance", 11),
    ("remember", "confidence", -0.1),
    ("remember", "confidence", 1.1),
    ("remember", "source_type", "s" * 201),
    ("recall", "key", "k" * 513),
    ("search", "query", ""),
    ("search", "query", "q" * 4_001),
    ("export_memories", "output_format", "f" * 201),
    ("add_link", "source_category", "c" * 513),
    ("status", "project_root", "r" * 4_097),
]
REFUSED = [
    ("remember", {"category": "User"}, INVALID, "category", "Did you mean `user`?"),
    (
        "remember",
        {"category": "pets"},
        INVALID,
        "category",
        "user, assistant, project, relationships, tools, learnings",
    ),
    ("remember", {"key": "My Key"}, INVALID, "key", "Write it as `my_key`."),
    ("remember", {"key": ""}, INVALID, "key", "short name"),
    ("remember", {"key": "k" * 129}, INVALID, "key", "short name"),
    ("remember", {"value": ""}, INVALID, "value", ""),
    ("remember", {"tags": ["Two Words"]}, INVALID, "tags", "Write it as `two-words`."),
    ("remember", {"tags": ["t" * 50]}, INVALID, "tags", ""),
    ("remember", {"source_type": "martian"}, INVALID, "source", "session, user-stated, inferred, codebase"),
    ("remember", {"value": "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2}, "MemorySecretDetected", "value", ""),
    ("forget", {"key": "none"}, MISSING, None, "memory profile index"),
    ("forget", {"category": "pets"}, INVALID, "category", "user, assistant"),
    ("recall", {"category": "pets"}, INVALID, "category", "user, assistant"),
    ("recall", {"key": "none"}, MISSING, None, "memory profile index"),
    ("recall", {"key": ""}, MISSING, None, "memory profile index"),
    ("search", {"query": "  \n"}, INVALID, "query", "Say what you are looking for"),
    ("search", {"category": "pets"}, INVALID, "category", "user, assistant"),
    ("export_memories", {"output_format": "yaml"}, INVALID, "format", "markdown, json"),
    ("connections", {"key": "none"}, MISSING, None, "memory profile index"),
    ("add_link", {"relation": "likes"}, INVALID, "relation", "supersedes, elaborates, contradicts"),
    ("add_link", {"source_key": "none"}, MISSING, None, "memory profile index"),
    ("add_link", {"target_key": "none"}, MISSING, None, "memory profile index"),
    ("add_link", {"source_category": "user", "source_key": "city"}, INVALID, "target", "two different records"),
    ("add_link", {"target_key": ""}, INVALID, "target", "category.key"),
    ("remove_link", {}, MISSING, None, "memory profile connections tools shell"),
    ("remove_link", {"relation": "likes"}, INVALID, "relation", "supersedes, elaborates, contradicts"),
]


@pytest.fixture
def profile(repo: Path, world: World) -> Profile:
    found = Profile(repo, world)
    found.write(document_of(user={"city": entry_of("Cadiz")}, tools={"shell": entry_of("fish")}))
    return found


def refused(profile: Profile, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The error of a call, which left the document as it was."""
    before = profile.file.read_bytes()
    error = profile.error(name, **arguments)
    assert profile.file.read_bytes() == before
    return error


@pytest.mark.parametrize("name", HAPPY)
def test_unknown_arguments_are_refused_by_name(name: str, profile: Profile) -> None:
    error = refused(profile, name, {**HAPPY[name], "bogus": 1})
    assert error["code"] == INVALID
    assert "unknown field `bogus`" in error["message"]
    assert error["details"]["takes"] == [*tool_fields(profile.tools[name])["inputSchema"]["properties"]]


@pytest.mark.parametrize(("name", "field"), [(name, field) for name in HAPPY for field in HAPPY[name]])
def test_arguments_that_must_be_there(name: str, field: str, profile: Profile) -> None:
    arguments = {other: value for other, value in HAPPY[name].items() if other != field}
    error = refused(profile, name, arguments)
    assert error["code"] == INVALID
    assert f"missing required field `{field}`" in error["message"]


@pytest.mark.parametrize(("name", "field", "value"), WRONG_TYPES)
def test_arguments_of_another_type(name: str, field: str, value: Any, profile: Profile) -> None:
    error = refused(profile, name, {**HAPPY[name], field: value})
    assert error["code"] == INVALID
    assert error["details"]["field"].partition("[")[0] == field
    assert field in error["hint"]


@pytest.mark.parametrize(("name", "field"), [("remember", "value"), ("forget", "key")])
def test_null_is_no_argument(name: str, field: str, profile: Profile) -> None:
    error = refused(profile, name, {**HAPPY[name], field: None})
    assert error["code"] == INVALID
    assert f"missing required field `{field}`" in error["message"]


@pytest.mark.parametrize(("name", "field", "value"), LIMITS)
def test_arguments_beyond_their_limits(name: str, field: str, value: Any, profile: Profile) -> None:
    error = refused(profile, name, {**HAPPY[name], field: value})
    assert error["code"] == INVALID
    assert error["details"]["field"].partition("[")[0] == field
    assert len(json.dumps(error)) < 1_000


@pytest.mark.parametrize(("name", "arguments", "code", "field", "hint"), REFUSED)
def test_what_the_project_refuses(
    name: str, arguments: dict[str, Any], code: str, field: str | None, hint: str, profile: Profile
) -> None:
    error = refused(profile, name, {**HAPPY[name], **arguments})
    assert error["code"] == code
    assert error["details"].get("field") == field
    assert hint in error["hint"]


@pytest.mark.parametrize("name", HAPPY)
def test_a_document_that_cannot_be_read_is_left_alone(name: str, profile: Profile) -> None:
    profile.file.write_bytes(b'{"schema_version": "1.2", "memories": <<<<<<< HEAD')
    error = refused(profile, name, HAPPY[name])
    assert error["code"] == "MemoryAlreadyInitializedInvalid"
    assert ".ai-state/memory.json" in error["message"] + json.dumps(error["details"])


def test_every_argument_has_a_limit(profile: Profile) -> None:
    for tool in profile.tools.values():
        for name, shown in tool_fields(tool)["inputSchema"]["properties"].items():
            if name == "project_root":
                continue  # its limit holds, and is not repeated in every tool
            if shown.get("type") == "string":
                assert "maxLength" in shown, f"{tool.name}.{name}"
            elif shown.get("type") in ("integer", "number"):
                assert {"minimum", "maximum"} <= set(shown), f"{tool.name}.{name}"
            elif shown.get("type") == "array":
                assert {"maxItems", "items"} <= set(shown), f"{tool.name}.{name}"
            else:
                assert shown["type"] == "boolean", f"{tool.name}.{name}"


def test_closed_sets_are_shown(profile: Profile) -> None:
    shown = {name: tool_fields(tool)["inputSchema"]["properties"] for name, tool in profile.tools.items()}
    categories = ["user", "assistant", "project", "relationships", "tools", "learnings"]
    assert shown["remember"]["category"]["enum"] == categories
    assert shown["search"]["category"]["enum"] == categories
    assert shown["recall"]["category"]["description"] == ", ".join(categories)
    assert shown["remember"]["source_type"]["enum"] == ["session", "user-stated", "inferred", "codebase"]
    assert shown["export_memories"]["output_format"]["enum"] == ["markdown", "json"]
    relations = ["supersedes", "elaborates", "contradicts", "related-to", "depends-on"]
    assert shown["add_link"]["relation"]["enum"] == shown["remove_link"]["relation"]["enum"] == relations
