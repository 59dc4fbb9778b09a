"""Each tool of the profile: what it answers, what it writes, and that what people said stands between marks."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from profile_calling import CATEGORIES, NOW, THEN, Profile, document_of, entry_of, fenced

from quire.files.world import World
from quire.project import Project
from quire.surfaces.mcp.schemas import tool_fields
from quire.surfaces.mcp.tool_calls import Ticket
from quire.verbs.profile.restore import RestoreEntry, restore_entry

STATED = {"type": "user-stated", "detail": None}
SAMPLE = document_of(
    12,
    user={
        "timezone": entry_of("Europe/Madrid", importance=8, source=STATED, tags=["place", "time"]),
        "email": entry_of("tess@example.com"),
    },
    assistant={"name": entry_of("Wren", confidence=0.9)},
    relationships={"pace": entry_of("Small steps.", tags=["user-facing"], confidence=0.85)},
    tools={
        "package_manager": entry_of(
            "uv, never pip", tags=["user-preference"], links=[{"target": "tools.old", "relation": "supersedes"}]
        ),
        "old": entry_of("poetry for packages", status="archived"),
    },
    learnings={"flaky_ci": entry_of("The e2e job needs two cores.", confidence=0.6, importance=3)},
)
READING = {
    "recall": {"category": "user"},
    "search": {"query": "package manager"},
    "status": {},
    "export_memories": {"output_format": "json"},
    "about_me": {},
    "about_us": {},
    "reflect": {},
    "connections": {"category": "tools", "key": "old"},
}


@pytest.fixture
def profile(repo: Path, world: World) -> Profile:
    found = Profile(repo, world)
    found.write(SAMPLE)
    return found


def keys(data: dict[str, Any]) -> list[str]:
    return [item["key"] for item in data["results"]]


@pytest.fixture
def empty(repo: Path, world: World) -> Profile:
    return Profile(repo, world)


# -- the list ---------------------------------------------------------------------------------


def test_the_tools_have_the_names_and_arguments_that_assistants_know(empty: Profile) -> None:
    ends = ["source_category", "source_key", "target_category", "target_key"]
    more = ["tags", "importance", "source_type", "confidence", "force", "broad"]
    taken = {
        name: [field for field in tool_fields(tool)["inputSchema"]["properties"] if field != "project_root"]
        for name, tool in empty.tools.items()
    }
    assert taken == {
        "session_start": [],
        "remember": ["category", "key", "value", *more],
        "forget": ["category", "key"],
        "recall": ["category", "key"],
        "search": ["query", "category", "strict"],
        "status": [],
        "export_memories": ["output_format"],
        "about_me": [],
        "about_us": [],
        "reflect": [],
        "connections": ["category", "key"],
        "add_link": [*ends, "relation"],
        "remove_link": [*ends, "relation"],
    }


def test_the_tools_say_whose_they_are_in_a_few_words(empty: Profile) -> None:
    for tool in empty.tools.values():
        assert tool.says.startswith("Profile: ")
        assert len(tool.says) <= 400


def test_the_tools_say_what_they_do_to_the_memory(empty: Profile) -> None:
    writing = {name for name, tool in empty.tools.items() if tool.writes}
    assert writing == {"session_start", "remember", "forget", "add_link", "remove_link"}
    assert {name for name, tool in empty.tools.items() if tool.destructive} == {"remember", "forget", "remove_link"}
    assert {name for name, tool in empty.tools.items() if not tool.repeatable} == {"session_start"}


@pytest.mark.parametrize("name", READING)
def test_reading_changes_no_document(name: str, profile: Profile, tree: Callable[..., dict[str, bytes]]) -> None:
    before = tree(profile.root)
    assert profile(name, **READING[name])["isError"] is False
    after = tree(profile.root)
    # That something was read is noted where git does not see it.
    assert {path: data for path, data in after.items() if not path.startswith(".ai-state/local/")} == before


def test_a_call_that_was_withdrawn_writes_nothing(profile: Profile) -> None:
    ends = {"source_category": "tools", "source_key": "package_manager", "target_category": "tools"}
    before = profile.file.read_bytes()
    ticket = Ticket()
    ticket.withdraw()
    for name, arguments in {
        "session_start": {},
        "remember": {"category": "user", "key": "timezone", "value": "UTC"},
        "forget": {"category": "user", "key": "timezone"},
        "add_link": {**ends, "target_key": "old", "relation": "elaborates"},
        "remove_link": {**ends, "target_key": "old"},
    }.items():
        result = profile.tool_calls.call(name, arguments, ticket).result()
        assert result["structuredContent"]["error"]["code"] == "MemoryCancelled"
    assert profile.file.read_bytes() == before


# -- session_start ----------------------------------------------------------------------------


def test_session_start_counts_and_tells_what_matters(profile: Profile) -> None:
    result = profile("session_start")
    data = result["structuredContent"]["data"]
    assert {name: data[name] for name in ("session_count", "counted", "total", "schema_version")} == {
        "session_count": 13,
        "counted": True,
        "total": 6,
        "schema_version": "1.2",
    }
    assert data["categories"] == dict(zip(CATEGORIES, (2, 1, 0, 1, 1, 1), strict=True))
    assert "Europe/Madrid" in data["context"]
    assert "matters" not in data
    assert (data["assistant_name"], data["name_assigned"]) == ("Wren", False)
    inside, outside = fenced(result)
    assert "Europe/Madrid" in inside
    assert outside.startswith("Session 13: 6 active records (2 user, 1 assistant, ")
    assert "Madrid" not in outside
    assert profile.document["session_count"] == 13


def test_session_start_gives_a_name_and_says_so(empty: Profile) -> None:
    result = empty("session_start")
    data = result["structuredContent"]["data"]
    assert data["name_assigned"] is True
    assert empty.entry("assistant", "name")["value"] == data["assistant_name"]
    inside, outside = fenced(result)
    assert "Ask the user" in outside
    assert data["assistant_name"] in inside


def test_session_start_names_contradictions_between_marks(profile: Profile) -> None:
    document = json.loads(json.dumps(SAMPLE))
    document["memories"]["user"]["email"]["links"] = [{"target": "user.timezone", "relation": "contradicts"}]
    profile.write(document)
    result = profile("session_start")
    (link,) = result["structuredContent"]["data"]["contradictions"]
    assert (link["source"], link["target"]) == ("user.email", "user.timezone")
    inside, outside = fenced(result)
    assert "Contradiction: user.email contradicts user.timezone." in inside
    assert "contradicts" not in outside


def test_session_start_of_a_newer_document_only_reads(profile: Profile) -> None:
    profile.write({**SAMPLE, "schema_version": "2.0"})
    before = profile.file.read_bytes()
    result = profile("session_start")
    assert result["structuredContent"]["data"]["counted"] is False
    assert result["structuredContent"]["warnings"][0]["code"] == "ProfileReadOnly"
    assert "not counted: the document is only read" in result["content"][0]["text"]
    assert profile.file.read_bytes() == before


# -- remember and forget ----------------------------------------------------------------------


def test_remember_adds_an_entry(empty: Profile) -> None:
    data = empty.data(
        "remember",
        category="tools",
        key="editor",
        value="Helix with the default keys",
        tags=["editor", "cli"],
        importance=7,
        source_type="inferred",
        confidence=0.4,
    )
    stored = entry_of(
        "Helix with the default keys",
        created_at=NOW,
        updated_at=NOW,
        tags=["cli", "editor"],
        importance=7,
        confidence=0.4,
        source={"type": "inferred", "detail": None},
    )
    assert data == {
        "action": "ADD",
        "ref": "profile:tools.editor",
        "origin": "inferred",
        "entry": stored,
        "linked": [],
    }
    assert empty.entry("tools", "editor") == stored


def test_remember_changes_what_is_given_and_nothing_else(profile: Profile) -> None:
    given = {"importance": None, "confidence": None, "tags": None, "source_type": None}
    data = profile.tool_calls.call(
        "remember", {"category": "learnings", "key": "flaky_ci", "value": "Three cores.", **given}
    ).result()["structuredContent"]["data"]
    assert data["action"] == "UPDATE"
    before = SAMPLE["memories"]["learnings"]["flaky_ci"]
    assert profile.entry("learnings", "flaky_ci") == {**before, "value": "Three cores.", "updated_at": NOW}


def test_remembering_twice_is_remembering_once(profile: Profile) -> None:
    told = {"category": "user", "key": "shell", "value": "fish"}
    assert profile.data("remember", **told)["action"] == "ADD"
    before = profile.file.read_bytes()
    assert profile.text("remember", **told) == "Nothing changed: profile:user.shell"
    assert profile.file.read_bytes() == before


def test_remember_reads_tags_and_numbers_that_came_as_text(empty: Profile) -> None:
    told = {"category": "tools", "key": "shell", "value": "fish", "tags": '["cli", "shell"]', "importance": "7"}
    result = empty.tool_calls.call("remember", {**told, "confidence": "0.5", "force": "true"}).result()
    assert result["isError"] is False
    stored = empty.entry("tools", "shell")
    assert (stored["tags"], stored["importance"], stored["confidence"]) == (["cli", "shell"], 7, 0.5)


def test_remember_links_what_shares_two_tags(profile: Profile) -> None:
    result = profile("remember", category="project", key="hours", value="CET", tags=["place", "time"])
    assert result["structuredContent"]["data"]["linked"] == ["user.timezone"]
    assert result["content"][0]["text"] == (
        "Remembered: profile:project.hours\n  related to user.timezone, through shared tags"
    )


@pytest.mark.parametrize(
    ("value", "recommendation", "share"),
    [("the e2e job needs two cores", "NOOP", 1.0), ("The e2e job needs two fast cores.", "UPDATE", 0.857)],
)
def test_remember_shows_what_says_the_same_instead_of_writing(
    value: str, recommendation: str, share: float, profile: Profile
) -> None:
    before = profile.file.read_bytes()
    result = profile("remember", category="learnings", key="slow_ci", value=value)
    assert result["isError"] is False
    data = result["structuredContent"]["data"]
    (found,) = data.pop("candidates")
    assert data == {"action": "candidates", "recommendation": recommendation}
    assert found.pop("share") == pytest.approx(share, abs=0.01)
    assert found == {
        "ref": "profile:learnings.flaky_ci",
        "category": "learnings",
        "key": "flaky_ci",
        "value": "The e2e job needs two cores.",
    }
    inside, outside = fenced(result)
    assert outside.startswith("Not remembered: ")
    assert outside.endswith(
        "Change that record (memory profile remember learnings flaky_ci …), or add yours with `force`."
    )
    assert inside == f"profile:learnings.flaky_ci ({share:.0%} the same): The e2e job needs two cores."
    assert profile.file.read_bytes() == before


def test_remember_by_force_and_broadly(profile: Profile) -> None:
    told = {"key": "cores", "value": "The e2e job needs two cores."}
    assert profile.data("remember", category="project", **told, broad=True)["action"] == "candidates"
    assert profile.data("remember", category="project", **told)["action"] == "ADD"
    assert profile.data("remember", category="learnings", **told)["action"] == "candidates"
    assert profile.data("remember", category="learnings", **told, force=True)["action"] == "ADD"


def test_remember_says_when_git_would_share_what_is_personal(empty: Profile) -> None:
    shared = "  in the shared document; `memory profile private` keeps such records out of git"
    told = empty.text("remember", category="user", key="city", value="Cadiz")
    assert told == f"Remembered: profile:user.city\n{shared}"
    told = empty.text("remember", category="tools", key="shell", value="fish")
    assert told == "Remembered: profile:tools.shell"


def test_forget_removes_and_says_how_to_bring_back(profile: Profile, project: Project) -> None:
    stored = SAMPLE["memories"]["tools"]["old"]
    result = profile("forget", category="tools", key="old")
    data = result["structuredContent"]["data"]
    assert {name: data["removed"][name] for name in ("ref", "value", "status", "origin")} == {
        "ref": "profile:tools.old",
        "value": stored["value"],
        "status": "archived",
        "origin": "session",
    }
    assert (data["links_removed"], data["backup_path"]) == (
        ["tools.package_manager"],
        ".ai-state/memory.backup.json",
    )
    assert "to restore it: memory profile restore tools old\n" in result["content"][0]["text"]
    assert "old" not in profile.document["memories"]["tools"]
    assert json.loads((profile.root / ".ai-state/memory.backup.json").read_bytes()) == SAMPLE
    restore_entry(project, RestoreEntry(category="tools", key="old"))
    assert profile.entry("tools", "old") == stored


# -- recall, search, connections --------------------------------------------------------------


def test_recall_gives_one_entry_as_it_is_stored(profile: Profile) -> None:
    result = profile("recall", category="user", key="timezone")
    stored = SAMPLE["memories"]["user"]["timezone"]
    assert result["structuredContent"]["data"] == {
        "category": "user",
        "entries": {
            "timezone": {
                **stored,
                "access_count": 1,
                "last_accessed": NOW,
                "ref": "profile:user.timezone",
                "origin": "user-stated",
            }
        },
        "beyond": 0,
        "put_away": 0,
    }
    inside, outside = fenced(result)
    assert inside == (
        "profile:user.timezone  [active, importance 8]\ntags: place, time\nsource: user-stated\n"
        f"created {THEN}, updated {THEN}, read 1 time, last {NOW}\n\nEurope/Madrid"
    )
    mark = '<memory-000000000000 ref="profile:user.timezone" origin="user-stated" verdict="unanchored">'
    assert mark in result["content"][0]["text"]
    assert "Madrid" not in outside


def test_recall_gives_a_category_in_the_order_of_the_document(profile: Profile) -> None:
    assert [*profile.data("recall", category="user")["entries"]] == ["timezone", "email"]
    result = profile("recall", category="tools")
    assert [*result["structuredContent"]["data"]["entries"]] == ["package_manager"]
    assert result["structuredContent"]["data"]["put_away"] == 1
    assert "links: supersedes tools.old" in fenced(profile("recall", category="tools", key="package_manager"))[0]
    assert profile.data("recall", category="tools", key="old")["entries"]["old"]["status"] == "archived"
    assert profile.text("recall", category="project") == "No records in project. remember adds one."


def test_recall_of_a_category_that_another_program_added(profile: Profile) -> None:
    profile.write(document_of(pets={"Fido Two": entry_of("a dog")}))
    assert profile.data("recall", category="pets", key="Fido Two")["entries"]["Fido Two"]["value"] == "a dog"
    assert [*profile.data("recall", category="pets")["entries"]] == ["Fido Two"]


def test_recall_of_many_says_how_many_are_left(empty: Profile) -> None:
    empty.write(document_of(learnings={f"k{number}": entry_of(f"lesson {number}") for number in range(230)}))
    result = empty("recall", category="learnings")
    data = result["structuredContent"]["data"]
    assert (len(data["entries"]), data["beyond"]) == (200, 30)


def test_recall_of_long_ones_is_bounded_and_of_one_is_whole(empty: Profile) -> None:
    values = {f"k{number}": entry_of(f"{number} " + "long " * 18_000) for number in range(4)}
    empty.write(document_of(learnings=values))
    result = empty("recall", category="learnings")
    data = result["structuredContent"]["data"]
    assert ([*data["entries"]], data["beyond"]) == (["k0", "k1"], 2)
    assert data["entries"]["k1"]["value"] == values["k1"]["value"]
    assert len(result["content"][0]["text"]) < 10_000
    assert values["k3"]["value"].strip() in empty.text("recall", category="learnings", key="k3")


def test_search_finds_by_words(profile: Profile) -> None:
    result = profile("search", query="which package manager?")
    data = result["structuredContent"]["data"]
    (found,) = data.pop("results")
    assert data == {"beyond": 0, "weak": False, "total": 6}
    assert 0 < found.pop("score") <= 4.5
    assert found.pop("why")
    assert found.pop("tier") == "answer"
    assert found.pop("reviewed") is False
    stored = SAMPLE["memories"]["tools"]["package_manager"]
    assert found == {
        "ref": "profile:tools.package_manager",
        "origin": "session",
        "category": "tools",
        "key": "package_manager",
        "entry": {**stored, "access_count": 1, "last_accessed": NOW},
    }
    assert "uv, never pip" in fenced(result)[0]
    assert "uv" not in fenced(result)[1]


def test_search_of_one_category(profile: Profile) -> None:
    assert profile.data("search", query="package manager", category="learnings")["total"] == 1
    assert profile.text("search", query="zzzyx", category="learnings") == "No record matches."


def test_connections_name_both_sides(profile: Profile) -> None:
    link = {"source": "tools.package_manager", "target": "tools.old", "relation": "supersedes"}
    assert profile.data("connections", category="tools", key="package_manager") == {
        "outgoing": [{**link, "entry_summary": "poetry for packages", "status": "archived"}],
        "incoming": [],
    }
    result = profile("connections", category="tools", key="old")
    assert result["structuredContent"]["data"] == {
        "outgoing": [],
        "incoming": [{**link, "entry_summary": "uv, never pip", "status": "active"}],
    }
    assert fenced(result)[0] == (
        "profile:tools.old: poetry for packages\n  tools.package_manager supersedes this: uv, never pip"
    )
    assert "  It is not linked to anything." in profile.text("connections", category="user", key="email")


def test_connections_of_what_is_gone_or_long(profile: Profile) -> None:
    links = [{"target": "user.gone", "relation": "elaborates"}, {"target": "user.long", "relation": "related-to"}]
    profile.write(document_of(user={"a": entry_of("A", links=links), "long": entry_of("x" * 3_000)}))
    gone, long = profile.data("connections", category="user", key="a")["outgoing"]
    assert gone == {"source": "user.a", "target": "user.gone", "relation": "elaborates"}
    assert len(long["entry_summary"]) == 2_000
