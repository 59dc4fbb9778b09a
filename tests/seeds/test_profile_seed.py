"""The profile: every statement of the description, tried."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from mcp_here import Asked, over_stdio
from mcp_here import Here as Served
from profile_here import CATEGORIES, NOW, RELATIONS, SOURCES, STATUSES, Profile, entry_of, pretty, profile_in
from seeds_table import Row, Table

from installed import make_environment

PROFILE = Table("profile")
LATER = "2026-03-09T08:00:00Z"
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
FIELDS = ["value", "created_at", "updated_at", "tags", "confidence", "importance", "source", "access_count"]
FIELDS += ["last_accessed", "status", "links"]
FIRST_FIVE = ["value", "created_at", "updated_at", "tags", "confidence"]
SESSION = {"type": "session", "detail": None}
TYPICAL_KEYS = {
    "user": "first_name last_name username email github_url response_style_preference workflow_habits "
    "communication_style timezone preferred_languages",
    "assistant": "name response_style effective_approaches common_mistakes user_correction_patterns model_limitations",
    "project": "tech_stack architecture_pattern naming_convention deployment_target testing_approach "
    "dependency_management",
    "relationships": "delegation_style trust_level feedback_style preferred_autonomy communication_cadence "
    "conflict_resolution",
    "tools": "package_manager editor shell clipboard_tool version_control ci_cd container_runtime",
    "learnings": "hook_payload_field_names plugin_cache_path_changes pixi_lock_file_handling",
}
TYPICAL_TAGS = {
    "user": "personal identity alias preference workflow communication",
    "assistant": "identity self-awareness effectiveness correction limitation",
    "project": "convention architecture tooling decision constraint",
    "relationships": "user-facing collaboration trust feedback autonomy",
    "tools": "user-preference environment cli configuration automation",
    "learnings": "gotcha debugging pattern workaround insight performance",
}
READ = {"access_count": 2, "last_accessed": "2026-02-10T12:00:00Z"}
PERSONAL = {"tags": ["personal", "identity"], "source": {"type": "user-stated", "detail": None}}
EXAMPLE = {
    "schema_version": "1.2",
    "session_count": 12,
    "memories": {
        "user": {
            "username": entry_of(
                "@ada",
                **PERSONAL,
                importance=8,
                links=[{"target": f"user.{key}", "relation": "related-to"} for key in ("email", "github_url")],
            ),
            "email": entry_of("ada@example.com", **PERSONAL, **READ, importance=7),
            "github_url": entry_of("https://example.com/ada", **PERSONAL, importance=6),
        },
        "assistant": {"response_style": entry_of("Concise and direct.", tags=["effectiveness"], confidence=0.9)},
        "project": {"repo_name": entry_of("harbor -- berths of a marina", source={"type": "codebase", "detail": None})},
        "relationships": {"collaboration_style": entry_of("Small steps.", tags=["user-facing"], confidence=0.85)},
        "tools": {"clipboard": entry_of("pbcopy / pbpaste for the clipboard", tags=["cli"], importance=4)},
        "learnings": {
            "hooks_not_fired": entry_of("Hooks belong into settings.json.", tags=["gotcha"], confidence=0.95)
        },
    },
}
"""A document as the description's example is: with something in every category, three entries of the user."""
numbers = count(1)


# -- projects -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    folder = tmp_path_factory.mktemp("profile")
    return folder, make_environment(folder)


@pytest.fixture(scope="module")
def kept(place: tuple[Path, dict[str, str]]) -> Profile:
    """A project with a profile, which the checks fill, each under keys of its own."""
    return profile_in(place[0] / "harbor", place[1])


@pytest.fixture
def new(place: tuple[Path, dict[str, str]]) -> Profile:
    """A project of a check's own, in which nothing was remembered yet."""
    return profile_in(place[0] / f"own{next(numbers)}", place[1])


@pytest.fixture
def example(new: Profile) -> Profile:
    new.hold(EXAMPLE)
    return new


@pytest.fixture(scope="module")
def asked(place: tuple[Path, dict[str, str]], kept: Profile) -> Iterator[Asked]:
    """The installed server over its pipes; every check names the project that it asks about."""
    with over_stdio(Served(kept.root, kept.env), "--toolset", "profile") as found:
        yield found


def ask(asked: Asked, project: Profile, tool: str, /, **arguments: Any) -> Any:
    return asked.data(tool, project_root=str(project.root), **arguments)


def told(kept: Profile, *line: str, name: str = "", value: str = "") -> dict[str, Any]:
    """An entry as it stands in the document after it was remembered with these options."""
    name = name or f"tools.kept-{next(numbers)}"
    kept.remember(name, value or f"What {name} says.", *line, "--force")
    found: dict[str, Any] = kept.stored(name)
    return found


def refused(kept: Profile, *line: str, field: str = "") -> dict[str, Any]:
    """The error of a line that must be refused; nothing is written."""
    before = kept.file.read_bytes() if kept.file.exists() else b""
    said = kept.profile(*line, "--json")
    assert said.code in (1, 2), said.out
    assert (kept.file.read_bytes() if kept.file.exists() else b"") == before
    error: dict[str, Any] = said.error
    assert not field or error["details"].get("field") == field, error
    return error


def pair(kept: Profile) -> tuple[str, str]:
    """Two entries that have nothing to do with each other."""
    one, other = f"tools.pair-{next(numbers)}", f"learnings.pair-{next(numbers)}"
    told(kept, name=one)
    told(kept, name=other)
    return one, other


# -- the document ---------------------------------------------------------------------------------


@PROFILE.holds(1, "Full schema reference for .ai-state/memory.json: the document is made there")
def _(new: Profile) -> None:
    new.remember("user.timezone", "Europe/Madrid")
    assert new.stored("user.timezone")["value"] == "Europe/Madrid"


@PROFILE.holds(2, '"schema_version": "1.2"')
def _(new: Profile) -> None:
    new.remember("user.timezone", "Europe/Madrid")
    assert new.data["schema_version"] == "1.2"


@PROFILE.holds(3, "session_count: number of sessions started via session_start")
def _(new: Profile, asked: Asked) -> None:
    new.remember("user.timezone", "Europe/Madrid")
    new.profile("session-start")
    ask(asked, new, "session_start")
    new.remember("user.first_name", "Ada")
    assert new.data["session_count"] == 2


@PROFILE.holds(4, "Top level: schema_version, session_count, memories")
def _(new: Profile) -> None:
    new.remember("user.timezone", "Europe/Madrid")
    assert list(new.data) == ["schema_version", "session_count", "memories"]


@PROFILE.holds(5, "memories: one key per category, six in this order")
def _(new: Profile) -> None:
    new.remember("learnings.first", "The last category is written first.")
    assert list(new.data["memories"]) == list(CATEGORIES)


@PROFILE.holds(6, "assistant: name (required -- auto-assigned if missing)")
def _(new: Profile) -> None:
    new.remember("user.timezone", "Europe/Madrid")
    assert "name" not in new.data["memories"]["assistant"]
    new.profile("session-start")
    assert new.stored("assistant.name")["value"].strip()


@PROFILE.holds(7, "session_count increments")
def _(example: Profile) -> None:
    for expected in (13, 14):
        assert example.profile("session-start", "--json").data["session_count"] == expected


@PROFILE.holds(8, "session_count: default 0")
def _(new: Profile) -> None:
    new.remember("user.timezone", "Europe/Madrid")
    assert new.data["session_count"] == 0


# -- entries --------------------------------------------------------------------------------------


def stored_as(field: str, expected: Any, line: tuple[str, ...], kept: Profile) -> None:
    assert told(kept, *line)[field] == expected


@PROFILE.holds(9, "value: the memory content")
def _(kept: Profile) -> None:
    assert told(kept, value="Ünïcode, “quotes” and\ntwo lines.")["value"] == "Ünïcode, “quotes” and\ntwo lines."


def check_times(field: str, kept: Profile) -> None:
    name = f"tools.time-{next(numbers)}"
    first = told(kept, name=name)
    assert first["created_at"] == first["updated_at"] == NOW
    later = Profile(kept.root, {**kept.env, "MEMORY_NOW": LATER})
    later.remember(name, "Something else now.")
    again = kept.stored(name)
    assert (again["created_at"], again["updated_at"]) == (NOW, LATER)
    assert TIME.fullmatch(again[field])


PROFILE.add(10, "created_at: ISO 8601 UTC, YYYY-MM-DDTHH:MM:SSZ", partial(check_times, "created_at"))
PROFILE.add(11, "updated_at: ISO 8601 UTC", partial(check_times, "updated_at"))
for number, text, field, expected, line in (
    (12, "tags: string[]", "tags", ["identity", "personal"], ("--tag", "personal", "--tag", "identity")),
    (13, "confidence: null for factual entries", "confidence", None, ()),
    (14, "importance 8", "importance", 8, ("--importance", "8")),
    (
        *(15, 'source: {"type": "user-stated", "detail": null}', "source", {"type": "user-stated", "detail": None}),
        ("--source", "user-stated"),
    ),
    (16, "access_count: default 0", "access_count", 0, ()),
    (17, "last_accessed: default null", "last_accessed", None, ()),
    (18, "status: default active", "status", "active", ()),
    (19, "links: default []", "links", [], ()),
    (21, "importance: default 5", "importance", 5, ()),
    (22, 'source: default {"type": "session", "detail": null}', "source", SESSION, ()),
    (23, "tags: default []", "tags", [], ()),
):
    PROFILE.add(number, text, partial(stored_as, field, expected, line))


@PROFILE.holds(20, "The fields of an entry in the order of the description")
def _(kept: Profile) -> None:
    assert list(told(kept)) == FIELDS


for number, source in enumerate(SOURCES, 24):
    expected = {"type": source, "detail": None}
    PROFILE.add(number, f"source.type {source}", partial(stored_as, "source", expected, ("--source", source)))


@PROFILE.holds(28, "Source types: one of these; any other is refused")
def _(kept: Profile) -> None:
    error = refused(kept, "remember", "tools", "gossip", "x", "--source", "gossip", field="source")
    assert error["details"]["allowed"] == list(SOURCES)


@PROFILE.holds(29, "source.detail: such as a command name or a file path")
def _(kept: Profile) -> None:
    found = told(kept, "--source", "codebase", "--detail", "src/tide.py")
    assert found["source"] == {"type": "codebase", "detail": "src/tide.py"}


@PROFILE.holds(30, "access_count: number of times recalled")
def _(new: Profile) -> None:
    new.remember("tools.editor", "vim")
    assert new.profile("recall", "tools", "editor").code == 0
    new.remember("tools.shell", "fish")
    assert new.stored("tools.editor")["access_count"] == 1


@PROFILE.holds(31, "access_count: ... or found via search")
def _(new: Profile, asked: Asked) -> None:
    new.remember("tools.editor", "The editor is vim.")
    new.profile("recall", "tools", "editor")
    new.profile("search", "which editor?")
    ask(asked, new, "search", query="which editor?")
    new.remember("tools.shell", "fish")
    assert new.stored("tools.editor")["access_count"] == 3


@PROFILE.holds(32, "last_accessed: set by a recall, written with the next change")
def _(new: Profile) -> None:
    new.remember("tools.editor", "vim")
    Profile(new.root, {**new.env, "MEMORY_NOW": LATER}).profile("recall", "tools", "editor")
    new.remember("tools.shell", "fish")
    assert new.stored("tools.editor")["last_accessed"] == LATER


for number, status in ((33, "archived"), (34, "superseded"), (35, "active")):
    PROFILE.add(number, f"status {status}", partial(stored_as, "status", status, ("--status", status)))


@PROFILE.holds(36, "Status values: one of these; any other is refused")
def _(kept: Profile) -> None:
    error = refused(kept, "remember", "tools", "gone", "x", "--status", "gone", field="status")
    assert error["details"]["allowed"] == list(STATUSES)


# -- links ----------------------------------------------------------------------------------------


def check_relation(relation: str, kept: Profile) -> None:
    one, other = pair(kept)
    assert kept.profile("link", one, other, relation).code == 0
    assert kept.stored(one)["links"] == [{"target": other, "relation": relation}]


for number, relation in enumerate(RELATIONS, 37):
    PROFILE.add(number, f"links[].relation {relation}; target category.key", partial(check_relation, relation))


@PROFILE.holds(42, "supersedes: this entry replaces the target, which should be archived")
def _(kept: Profile) -> None:
    one, other = pair(kept)
    kept.profile("link", one, other, "supersedes")
    assert (kept.stored(one)["status"], kept.stored(other)["status"]) == ("active", "archived")


@PROFILE.holds(43, "Links are unidirectional")
def _(kept: Profile) -> None:
    one, other = pair(kept)
    kept.profile("link", one, other, "elaborates")
    assert kept.stored(other)["links"] == []


@PROFILE.holds(44, "Link relations: one of these; any other is refused")
def _(kept: Profile) -> None:
    error = refused(kept, "link", *pair(kept), "likes", field="relation")
    assert error["details"]["allowed"] == list(RELATIONS)


@PROFILE.holds(45, "Link target: category.key of an existing entry; a missing one is refused")
def _(kept: Profile) -> None:
    one, _ = pair(kept)
    assert refused(kept, "link", one, "tools.nowhere", "elaborates")["code"] == "MemoryObjectNotFound"


@PROFILE.holds(46, "Link target: another form is refused")
def _(kept: Profile) -> None:
    one, _ = pair(kept)
    refused(kept, "link", one, "nowhere", "elaborates", field="target")


def connected(kept: Profile, name: str) -> tuple[list[str], list[str]]:
    """What an entry is linked to, and what is linked to it."""
    data = kept.profile("connections", *name.split("."), "--json").data
    return [item["target"] for item in data["outgoing"]], [item["source"] for item in data["incoming"]]


@PROFILE.holds(47, "Connection discovery via connections")
def _(kept: Profile) -> None:
    one, other = pair(kept)
    kept.profile("link", one, other, "depends-on")
    assert connected(kept, one) == ([other], [])


@PROFILE.holds(48, "connections: also the incoming ones")
def _(kept: Profile) -> None:
    one, other = pair(kept)
    kept.profile("link", one, other, "depends-on")
    assert connected(kept, other) == ([], [one])


@PROFILE.holds(49, "remove_link")
def _(kept: Profile) -> None:
    one, other = pair(kept)
    kept.profile("link", one, other, "depends-on")
    assert kept.profile("unlink", one, other).code == 0
    assert kept.stored(one)["links"] == []


@PROFILE.holds(50, "related-to is created when entries share two or more tags")
def _(new: Profile) -> None:
    new.remember("tools.editor", "vim", "--tag", "daily", "--tag", "cli")
    new.remember("tools.shell", "fish with its own completions", "--tag", "cli", "--tag", "daily")
    assert new.stored("tools.shell")["links"] == [{"target": "tools.editor", "relation": "related-to"}]


@PROFILE.holds(51, "... and only then")
def _(new: Profile) -> None:
    new.remember("tools.editor", "vim", "--tag", "daily", "--tag", "cli")
    new.remember("tools.shell", "fish with its own completions", "--tag", "cli", "--tag", "weekly")
    assert new.stored("tools.shell")["links"] == []


# -- categories and keys --------------------------------------------------------------------------


def check_category(name: str, kept: Profile) -> None:
    value = f"What {name} is."
    assert told(kept, name=name, value=value)["value"] == value


TYPICAL = ("first_name", "response_style", "tech_stack", "trust_level", "package_manager", "hook_payload_field_names")
for number, (category, key) in enumerate(zip(CATEGORIES, TYPICAL, strict=True), 52):
    PROFILE.add(number, f"Category {category} (typical key {key})", partial(check_category, f"{category}.{key}"))


@PROFILE.holds(58, "Category names: exactly one of the six; any other is refused, and they are listed")
def _(kept: Profile) -> None:
    error = refused(kept, "remember", "hobbies", "sailing", "x", field="category")
    assert error["details"]["allowed"] == list(CATEGORIES)


@PROFILE.holds(59, "user: the confidence is always null")
def _(kept: Profile) -> None:
    assert told(kept, "--confidence", "0.5", name="user.sure")["confidence"] is None


@PROFILE.holds(60, "All typical keys of the six categories are accepted")
def _(new: Profile) -> None:
    for category, keys in TYPICAL_KEYS.items():
        for key in keys.split():
            new.remember(f"{category}.{key}", f"{category} {key}", "--force")
        assert set(new.data["memories"][category]) == set(keys.split())


@PROFILE.holds(61, "All typical tags of the six categories are accepted")
def _(new: Profile) -> None:
    for category, tags in TYPICAL_TAGS.items():
        line = [word for tag in tags.split() for word in ("--tag", tag)]
        new.remember(f"{category}.tagged", f"Tags of {category}", *line, "--force")
        assert set(new.stored(f"{category}.tagged")["tags"]) == set(tags.split())


def check_key(key: str, kept: Profile, *, fits: bool) -> None:
    if fits:
        assert told(kept, name=f"tools.{key}")["status"] == "active"
    else:
        refused(kept, "remember", "tools", key, "x", field="key")


for number, key in enumerate(("Bad", "has space", "dot.ted", "a/b", "é"), 62):
    PROFILE.add(number, f"Key format: `{key}` is refused", partial(check_key, key, fits=False))
for number, key in enumerate(("snake_case", "kebab-case", "with9digits"), 67):
    PROFILE.add(number, f"Key format: `{key}` is accepted", partial(check_key, key, fits=True))


@PROFILE.holds(70, "Cross-category duplicates are allowed")
def _(kept: Profile) -> None:
    told(kept, name="tools.twice", value="Of the tools.")
    told(kept, name="project.twice", value="Of the project.")
    assert [kept.stored(f"{name}.twice")["value"] for name in ("tools", "project")] == [
        "Of the tools.",
        "Of the project.",
    ]


@PROFILE.holds(71, "Keys are unique within a category: a second remember updates")
def _(kept: Profile) -> None:
    assert kept.remember("tools.once", "The first.")["action"] == "ADD"
    assert kept.remember("tools.once", "The second.")["action"] == "UPDATE"
    assert kept.stored("tools.once")["value"] == "The second."


# -- limits ---------------------------------------------------------------------------------------


@PROFILE.holds(72, "Value length: no hard limit (20,000 characters)")
def _(kept: Profile) -> None:
    value = "word " * 4_000
    name = f"tools.long-{next(numbers)}"
    kept.remember(name, "-", "--force", stdin=value)
    assert kept.stored(name)["value"].split() == value.split()


@PROFILE.holds(73, "Prefer entries under 500 characters: a longer one is reported")
def _(kept: Profile) -> None:
    short, long = (kept.profile("remember", "tools", "size", "x" * size, "--json", "--force") for size in (499, 501))
    assert (short.warnings, len(long.warnings)) == ([], 1)
    assert "500" in long.json["warnings"][0]["message"]


@PROFILE.differs(
    74,
    "Value length: no hard limit (120,000 characters)",
    why="A document is read and sent as a whole, so an entry has at most 100,000 characters.",
    instead="Keep a long text in a file of the repository, and name it in the entry.",
)
def _(kept: Profile) -> None:
    before = kept.file.read_bytes() if kept.file.exists() else b""
    said = kept.profile("remember", "tools", "huge", "-", "--json", stdin="word " * 24_000)
    assert (said.code, said.error["details"]["field"]) == (1, "value")
    assert "100,000" in said.error["message"]
    assert (kept.file.read_bytes() if kept.file.exists() else b"") == before
    kept.remember("tools.nearly-huge", "-", "--force", stdin="x" * 100_000)


def check_tag(tag: str, kept: Profile) -> None:
    refused(kept, "remember", "tools", "tagged", "x", "--tag", tag, field="tags")


for number, text, tag in (
    (75, "`Upper`", "Upper"),
    (76, "`has space`", "has space"),
    (77, "50 characters", "x" * 50),
    (78, "an empty one", ""),
):
    PROFILE.add(number, f"Tags: {text} is refused", partial(check_tag, tag))
PROFILE.add(
    79, "Each tag is under 50 characters: 49 are accepted", partial(stored_as, "tags", ["x" * 49], ("--tag", "x" * 49))
)


def check_refused(option: str, field: str, kept: Profile) -> None:
    refused(kept, "remember", "learnings", "ranged", "x", option, field=field)


for number, given in enumerate(("0", "0.0", "1.0", "0.5"), 80):
    function = partial(stored_as, "confidence", float(given), ("--confidence", given))
    PROFILE.add(number, f"Confidence range 0.0 to 1.0: {given} is accepted", function)
for number, given in ((84, "1.1"), (85, "-0.1")):
    function = partial(check_refused, f"--confidence={given}", "confidence")
    PROFILE.add(number, f"Confidence range 0.0 to 1.0: {given} is refused", function)


@PROFILE.holds(86, "Confidence may be null")
def _(kept: Profile) -> None:
    name = f"learnings.sure-{next(numbers)}"
    assert told(kept, "--confidence", "0.7", name=name)["confidence"] == 0.7
    assert told(kept, "--confidence", "none", name=name)["confidence"] is None


for number, given in ((87, "1"), (88, "10")):
    function = partial(stored_as, "importance", int(given), ("--importance", given))
    PROFILE.add(number, f"Importance 1 to 10: {given} is accepted", function)
for number, given in ((89, "0"), (90, "11"), (91, "2.5")):
    PROFILE.add(number, f"Importance 1 to 10: {given} is refused", partial(check_refused, f"--importance={given}", ""))


@PROFILE.holds(92, "JSON formatting: 2-space indentation, trailing newline")
def _(kept: Profile) -> None:
    told(kept, value="Ünïcode stays as it is.")
    assert kept.file.read_bytes() == pretty(kept.data)


# -- the example ----------------------------------------------------------------------------------


@PROFILE.holds(93, "The example document of 1.2 opens")
def _(example: Profile) -> None:
    said = example.profile("status", "--json")
    assert (said.code, said.warnings, said.data["schema_version"]) == (0, [], "1.2")


@PROFILE.holds(94, "Example: the counts by category (3, 1, 1, 1, 1, 1)")
def _(example: Profile) -> None:
    data = example.profile("status", "--json").data
    assert [data["categories"][name] for name in CATEGORIES] == [3, 1, 1, 1, 1, 1]


@PROFILE.holds(95, "Example: a search finds tools.clipboard")
def _(example: Profile) -> None:
    assert example.profile("search", "clipboard", "--json").data["results"][0]["id"] == "tools.clipboard"


@PROFILE.holds(96, "Example: the connections of user.username")
def _(example: Profile) -> None:
    assert connected(example, "user.username") == (["user.email", "user.github_url"], [])


@PROFILE.holds(97, "Example: session_count goes from 12 to 13")
def _(example: Profile) -> None:
    example.profile("session-start")
    assert example.data["session_count"] == 13


@PROFILE.holds(98, "Example: the other entries are preserved after a change")
def _(example: Profile) -> None:
    example.remember("tools.clipboard", "xclip on Linux", "--force")
    expected = json.loads(json.dumps(EXAMPLE["memories"]))
    changed = example.data["memories"]
    assert changed["tools"].pop("clipboard")["value"] == "xclip on Linux"
    expected["tools"].pop("clipboard")
    assert changed == expected


# -- migration ------------------------------------------------------------------------------------


def older(version: str) -> dict[str, Any]:
    """A document as an earlier version wrote it, with fields that stand in the way of a default."""
    fields = FIRST_FIVE if version == "1.0" else FIELDS[:-1]
    full = {"timezone": entry_of("Europe/Madrid", tags=["personal"], confidence=0.4, importance=9, access_count=3)}
    memories: dict[str, Any] = {name: {} for name in CATEGORIES}
    memories["user"] = {key: {field: held[field] for field in fields} for key, held in full.items()}
    return {"schema_version": version, **({"session_count": 7} if version == "1.1" else {}), "memories": memories}


class Moved:
    """A document of an earlier version, after the first load of it by a command or by the server."""

    def __init__(self, project: Profile, version: str, asked: Asked | None) -> None:
        self.before = older(version)
        project.hold(self.before)
        self.bytes = project.file.read_bytes()
        if asked is None:
            assert project.profile("status").code == 0
        else:
            ask(asked, project, "status")
        self.after = project.data
        self.folder = project.file.parent

    @property
    def entries(self) -> tuple[dict[str, Any], dict[str, Any]]:
        before, after = (found["memories"]["user"]["timezone"] for found in (self.before, self.after))
        return before, after

    def copy(self, version: str) -> bytes:
        return (self.folder / f"memory.pre-migration-{version}.json").read_bytes()


def moved_up(moved: Moved) -> None:
    assert moved.after["schema_version"] == "1.2"


def backed_up(moved: Moved) -> None:
    version = moved.before["schema_version"]
    assert moved.copy(version) == moved.bytes


def backed_up_between(moved: Moved) -> None:
    between = json.loads(moved.copy("1.1"))
    entry = between["memories"]["user"]["timezone"]
    assert (between["schema_version"], list(entry)) == ("1.1", FIELDS[:-1])


def added(field: str, default: Any, moved: Moved) -> None:
    before, after = moved.entries
    assert (field in before, after[field]) == (False, default)


def counted_none(moved: Moved) -> None:
    assert ("session_count" in moved.before, moved.after["session_count"]) == (False, 0)


def kept_as_it_was(moved: Moved) -> None:
    before, after = moved.entries
    assert {field: after[field] for field in before} == before
    assert moved.before.get("session_count", 0) == moved.after["session_count"]


MOVES = (
    ("1.1", "v1.1 to 1.2: applied automatically on first load", moved_up),
    ("1.1", "A backup at .ai-state/memory.pre-migration-1.1.json", backed_up),
    ("1.1", "links: default []", partial(added, "links", [])),
    ("1.1", "All v1.1 fields are preserved unchanged", kept_as_it_was),
    ("1.0", "v1.0 to 1.1 to 1.2, one after the other", moved_up),
    ("1.0", "A backup at memory.pre-migration-1.0.json", backed_up),
    ("1.0", "A backup before each step: memory.pre-migration-1.1.json", backed_up_between),
    ("1.0", "1.0: default importance", partial(added, "importance", 5)),
    ("1.0", "1.0: default source", partial(added, "source", SESSION)),
    ("1.0", "1.0: default access_count", partial(added, "access_count", 0)),
    ("1.0", "1.0: default last_accessed", partial(added, "last_accessed", None)),
    ("1.0", "1.0: default status", partial(added, "status", "active")),
    ("1.0", "1.0: default links", partial(added, "links", [])),
    ("1.0", "1.0: session_count 0", counted_none),
    ("1.0", "All original v1.0 fields are preserved", kept_as_it_was),
)


@pytest.fixture(scope="module")
def by_command(place: tuple[Path, dict[str, str]]) -> dict[str, Moved]:
    return {version: Moved(profile_in(place[0] / f"c{version}", place[1]), version, None) for version in ("1.0", "1.1")}


@pytest.fixture(scope="module")
def by_server(place: tuple[Path, dict[str, str]], asked: Asked) -> dict[str, Moved]:
    return {
        version: Moved(profile_in(place[0] / f"s{version}", place[1]), version, asked) for version in ("1.0", "1.1")
    }


def after_command(version: str, check: Any, by_command: dict[str, Moved]) -> None:
    check(by_command[version])


def after_server(version: str, check: Any, by_server: dict[str, Moved]) -> None:
    check(by_server[version])


for number, (version, text, check) in enumerate(MOVES, 99):
    PROFILE.add(number, f"{text} (by a command)", partial(after_command, version, check))
for number, (version, text, check) in enumerate(MOVES, 114):
    PROFILE.add(number, f"{text} (by the server)", partial(after_server, version, check))


# -- tools ----------------------------------------------------------------------------------------


@PROFILE.holds(129, "forget removes the entry")
def _(example: Profile) -> None:
    assert example.profile("forget", "tools", "clipboard").code == 0
    assert example.data["memories"]["tools"] == {}


@pytest.fixture(scope="module")
def shown(asked: Asked) -> dict[str, list[str]]:
    """The tools of the server, and what each takes."""
    return {tool.name: list(tool.input_schema["properties"]) for tool in asked.do("list_tools").tools}


def check_tool(tool: str, arguments: str, shown: dict[str, list[str]]) -> None:
    own = [name for name in shown[tool] if name != "project_root"]
    wanted = arguments.split()
    assert own[: len(wanted)] == wanted
    assert set(own) - set(wanted) <= {"strict", "relation"}


LINK_ENDS = "source_category source_key target_category target_key"
for number, (tool, arguments) in enumerate(
    (
        ("session_start", ""),
        ("remember", "category key value tags importance source_type confidence force broad"),
        ("forget", "category key"),
        ("recall", "category key"),
        ("search", "query category"),
        ("status", ""),
        ("export_memories", "output_format"),
        ("about_me", ""),
        ("about_us", ""),
        ("reflect", ""),
        ("connections", "category key"),
        ("add_link", f"{LINK_ENDS} relation"),
        ("remove_link", LINK_ENDS),
    ),
    130,
):
    PROFILE.add(number, f"Tool {tool}({', '.join(arguments.split())})", partial(check_tool, tool, arguments))


@PROFILE.holds(143, "session_start answers session_count, categories, total, schema_version")
def _(example: Profile, asked: Asked) -> None:
    data = ask(asked, example, "session_start")
    assert (data["session_count"], data["schema_version"]) == (13, "1.2")
    assert (data["categories"]["user"], data["total"]) == (3, 9)


@PROFILE.holds(144, "remember answers {action: UPDATE, entry}")
def _(example: Profile, asked: Asked) -> None:
    data = ask(asked, example, "remember", category="tools", key="clipboard", value="xclip")
    assert (data["action"], data["entry"]["value"]) == ("UPDATE", "xclip")


@PROFILE.holds(145, "remember answers {action: ADD, entry}")
def _(example: Profile, asked: Asked) -> None:
    data = ask(asked, example, "remember", category="tools", key="editor", value="vim", importance=7)
    assert (data["action"], data["entry"]) == ("ADD", example.stored("tools.editor"))


SAME = {"category": "tools", "key": "copying", "value": "pbcopy / pbpaste for the clipboard"}


@PROFILE.holds(146, "remember: a duplicate is answered with candidates and a recommendation")
def _(example: Profile, asked: Asked) -> None:
    before = example.file.read_bytes()
    data = ask(asked, example, "remember", **SAME)
    assert [item["key"] for item in data["candidates"]] == ["clipboard"]
    assert data["recommendation"]
    assert example.file.read_bytes() == before


@PROFILE.holds(147, "remember: force adds it all the same")
def _(example: Profile, asked: Asked) -> None:
    assert ask(asked, example, "remember", **SAME, force=True)["action"] == "ADD"
    assert "copying" in example.data["memories"]["tools"]


@PROFILE.holds(148, "recall answers {entries: {key: entry}}")
def _(example: Profile, asked: Asked) -> None:
    entries = ask(asked, example, "recall", category="tools", key="clipboard")["entries"]
    assert {key: held["value"] for key, held in entries.items()} == {"clipboard": "pbcopy / pbpaste for the clipboard"}


@PROFILE.holds(149, "recall of a category")
def _(example: Profile, asked: Asked) -> None:
    assert set(ask(asked, example, "recall", category="user")["entries"]) == {"username", "email", "github_url"}


@PROFILE.holds(150, "search answers results [{category, key, entry, score}]")
def _(example: Profile, asked: Asked) -> None:
    (best, *_) = ask(asked, example, "search", query="clipboard")["results"]
    assert (best["category"], best["key"]) == ("tools", "clipboard")
    assert best["entry"]["tags"] == ["cli"]
    assert best["score"] > 0


@PROFILE.holds(151, "status answers categories, total, schema_version, session_count, file_size")
def _(example: Profile, asked: Asked) -> None:
    data = ask(asked, example, "status")
    size = f"{example.file.stat().st_size / 1024:.1f} KB"
    assert (data["total"], data["schema_version"], data["session_count"], data["file_size"]) == (8, "1.2", 12, size)
    assert data["categories"]["learnings"] == 1


@PROFILE.holds(152, "export_memories markdown answers content")
def _(example: Profile, asked: Asked) -> None:
    content = ask(asked, example, "export_memories", output_format="markdown")["content"]
    assert "## tools\n- **clipboard**: pbcopy / pbpaste for the clipboard" in content


@PROFILE.holds(153, "export_memories json answers content")
def _(example: Profile, asked: Asked) -> None:
    assert json.loads(ask(asked, example, "export_memories", output_format="json")["content"]) == EXAMPLE


@PROFILE.holds(154, "about_me answers profile")
def _(example: Profile, asked: Asked) -> None:
    assert "**email**: ada@example.com" in ask(asked, example, "about_me")["profile"]


@PROFILE.holds(155, "about_us answers profile")
def _(example: Profile, asked: Asked) -> None:
    assert "**collaboration_style**: Small steps." in ask(asked, example, "about_us")["profile"]


@PROFILE.holds(156, "reflect answers stale_entries, archival_candidates, confidence_updates, summary")
def _(example: Profile, asked: Asked) -> None:
    data = ask(asked, example, "reflect")
    assert {"stale_entries", "archival_candidates", "confidence_updates"} <= set(data)
    assert (data["summary"]["total_entries"], data["summary"]["active"]) == (8, 8)


ENDS = {"source_category": "tools", "source_key": "clipboard", "target_category": "user", "target_key": "email"}


@PROFILE.holds(157, "add_link answers link_created")
def _(example: Profile, asked: Asked) -> None:
    data = ask(asked, example, "add_link", **ENDS, relation="depends-on")
    assert data["link_created"]
    assert example.stored("tools.clipboard")["links"] == [{"target": "user.email", "relation": "depends-on"}]


@PROFILE.holds(158, "connections answers outgoing, incoming")
def _(example: Profile, asked: Asked) -> None:
    data = ask(asked, example, "connections", category="user", key="email")
    assert (data["outgoing"], len(data["incoming"])) == ([], 1)
    assert "user.username" in json.dumps(data["incoming"])


@PROFILE.holds(159, "remove_link answers link_removed")
def _(example: Profile, asked: Asked) -> None:
    ask(asked, example, "add_link", **ENDS, relation="depends-on")
    assert ask(asked, example, "remove_link", **ENDS)["link_removed"]
    assert example.stored("tools.clipboard")["links"] == []


@PROFILE.holds(160, "forget answers removed, backup_path")
def _(example: Profile, asked: Asked) -> None:
    before = example.file.read_bytes()
    data = ask(asked, example, "forget", category="tools", key="clipboard")
    assert data["removed"]["value"] == "pbcopy / pbpaste for the clipboard"
    assert (example.root / data["backup_path"]).read_bytes() == before


@PROFILE.holds(161, "recall of an unknown key is an error")
def _(example: Profile, asked: Asked) -> None:
    error = asked.error("recall", project_root=str(example.root), category="tools", key="nothing")
    assert error["code"] == "MemoryObjectNotFound"


def resource(asked: Asked, name: str) -> str:
    (content,) = asked.do("read_resource", f"memory://{name}").contents
    text: str = content.text
    return text


@PROFILE.holds(162, "memory://schema")
def _(asked: Asked) -> None:
    text = resource(asked, "schema")
    assert all(word in text for word in (*CATEGORIES, *RELATIONS, *STATUSES))


@PROFILE.differs(
    163,
    "memory://stats",
    why="Resources are the same for all layers, and counts change with every call.",
    instead="Call the tool `status`, which has all that stood there.",
)
def _(example: Profile, asked: Asked) -> None:
    assert "memory://stats" not in {str(item.uri) for item in asked.do("list_resources").resources}
    wanted = {"categories", "total", "session_count", "schema_version", "file_size"}
    assert wanted <= set(ask(asked, example, "status"))


@PROFILE.holds(164, "The example document is valid; an importance of 99 in it is reported")
def _(example: Profile) -> None:
    found = example("check", "--json").json["data"]
    assert (found["valid"], found["errors"], found["warnings"]) == (True, [], [])
    spoiled = json.loads(json.dumps(EXAMPLE))
    spoiled["memories"]["tools"]["clipboard"]["importance"] = 99
    example.hold(spoiled)
    (problem,) = example("check", "--json").json["data"]["warnings"]
    assert problem["code"] == "ProfileFieldInvalid"
    assert "tools.clipboard" in problem["message"]
    assert "`importance` is not a whole number from 1 to 10" in problem["message"]


@pytest.mark.parametrize("row", PROFILE.rows, ids=str)
def test_statement(row: Row, request: pytest.FixtureRequest) -> None:
    row.check(request)


def test_every_statement_is_tried_once() -> None:
    PROFILE.check_numbers()
