"""Profiles of the original program: its documents opened in place, its recorded sessions replayed call by call.

Every way in which we answer or write otherwise must stand in `EXPECTED` or `EVERYWHERE`, with the key of the reason
that `docs/reference/compatibility.md` gives for it; an entry that no longer occurs fails the test as well.
"""

from __future__ import annotations

import fnmatch
import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from commanding import Here
from profile_transcripts import (
    LARGE_BYTES,
    RECORDINGS,
    Replay,
    Tools,
    document_differences,
    opened,
    parsed,
    reference,
    rendered,
)

from promised import proves
from quire.layers.profile.layout import CATEGORIES
from quire.model.errors import InvalidStore, QuireError, UnsupportedVersion
from quire.project import Project
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.profile.context import ShowProfileContext, profile_context
from quire.verbs.profile.export import ExportProfile, export_profile
from quire.verbs.profile.link import LinkEntries, UnlinkEntries, link_entries, unlink_entries
from quire.verbs.profile.pages import ShowIndex, about_me, about_us, entry_index
from quire.verbs.profile.recall import RecallEntries, recall_entries
from quire.verbs.profile.reflect import ReflectOnEntries, reflect_on_entries
from quire.verbs.profile.remember import RememberEntry, remember_entry
from quire.verbs.profile.restore import ForgetEntry, RestoreEntry, forget_entry, restore_entry
from quire.verbs.profile.search import SearchEntries, search_entries
from quire.verbs.profile.session_start import start_session
from quire.verbs.profile.status import profile_status
from quire.verbs.verb import Arguments

ROOT = Path(__file__).parents[2]
BUNDLED = ROOT / "tests" / "data" / "original-profiles"
PAGE = ROOT / "docs" / "reference" / "compatibility.md"
NOW = "2026-11-15T12:00:00"

needs_recordings = pytest.mark.skipif(
    not RECORDINGS.is_dir(), reason="the recordings of the original program are not here"
)

DOCUMENTS = sorted(path.name.removesuffix(".json") for path in (RECORDINGS / "docs").glob("*.json"))


def names(*patterns: str) -> tuple[str, ...]:
    """Documents by their names, of which a part may be left open; without the recordings there are none."""
    found = tuple(name for pattern in patterns for name in fnmatch.filter(DOCUMENTS, pattern))
    assert not DOCUMENTS or len(found) == len(patterns) == len(set(found)), (patterns, found)
    return found


# -- the documents: what becomes of each ---------------------------------------------------------

CURRENT = names(
    "bad-entry-is-string",
    "bad-missing-categories",
    "real-1.2-01cd651",
    "real-1.2-ab5f152",
    "real-1.2-c5fbe8c",
    "rich-1.2-260",
    "*-empty-1.2",
    "*-example-1.2",
    "*-example-1.2.verbatim",
    "unicode-1.2",
)
OLDER = names(
    "made-1.0-empty",
    "made-1.0-from-*",
    "made-1.0-partial",
    "made-1.1-empty",
    "made-1.1-from-*",
    "made-1.1-partial-unknown-fields",
    "real-1.0-5b322ce",
    "real-1.0-ba3dbeb",
    "rich-1.0-260",
)
NEWER = names(
    "made-1.3-from-*",
    "made-2.0-from-*",
    "real-1.3-0f7892a",
    "real-2.0-559e506",
    "real-2.0-629951e",
    "real-2.0-a85646b",
    "real-2.0-e4cc058",
)
DAMAGED = {
    "bad-memories-null": "`memories` is not an object",
    "bad-no-memories": "it has no `memories`",
    "bad-no-schema-version": "it has no `schema_version`",
    "bad-top-level-list": "the top level is not an object",
    "corrupt-bom": "it begins with a byte order mark (line 1, column 1)",
    "corrupt-conflict-markers": "it holds merge conflict marks: line ",
    "corrupt-empty-file": "it is empty",
    "corrupt-invalid-utf8": "it is not UTF-8 text: line ",
    "corrupt-not-json": "it is not JSON: line 1, column ",
    "corrupt-truncated": "it is not JSON: it ends too early, line ",
}
UNSUPPORTED = {
    "bad-schema-version-number": "`schema_version` is 1.2, which is not text",
    "newer-unknown-9.9": "has schema version `9.9`",
}
REWRITTEN_BACKUPS = {"real-1.0-5b322ce", "real-1.0-ba3dbeb"}
"""Where the original's backup does not have the bytes of the document that it is a backup of."""


# -- the recordings: what differs, and why -------------------------------------------------------


class Expected(NamedTuple):
    """Kinds of difference, in which calls of which recordings, and the key of their reason in the page."""

    recordings: tuple[str, ...]
    steps: tuple[int, ...]
    kinds: tuple[str, ...]
    reason: str


def loads(*patterns: str) -> tuple[str, ...]:
    """Each document was given to the original with the same twelve calls."""
    return tuple(f"load-1.2-{name}" for name in names(*patterns))


MAIN, UNICODE, RUNTIME = ("v12-main",), ("v12-unicode",), ("v12-runtime-changes",)
ACCEPTED, REFUSED = "error crash -> none", "error none -> input"
NOT_USED, DAMAGE = "error none -> store", "error crash -> store"
ADDED, BLOCKED = ("action candidates -> ADD", "document added"), ("action ADD -> candidates",)
LOCK, NO_LOCK = "file added memory.lock", "file missing memory.lock"
BACKUPS = ("file added memory.pre-migration-1.0.json", "file added memory.pre-migration-1.1.json")
SESSION, COUNTS = ("reply categories", "reply total", "document added"), ("reply categories", "reply total")
EXAMPLES = ("*-example-1.2", "*-example-1.2.verbatim", "made-1.0-from-*", "made-1.1-from-*")
NEWER_EXAMPLES = ("made-1.3-from-*", "made-2.0-from-*")
GIVEN = ("real-1.0-5b322ce", "real-1.0-ba3dbeb", "real-1.2-01cd651", "real-1.2-ab5f152", "real-1.2-c5fbe8c")
LATEST = ("real-2.0-559e506", "real-2.0-a85646b", "real-2.0-e4cc058")
NAMELESS = (*EXAMPLES, "made-1.0-empty", "made-1.1-empty", "rich-1.0-260", "rich-1.2-260", "*-empty-1.2")
PARTIAL = ("bad-entry-is-string", "bad-missing-categories", "made-1.0-partial", "made-1.1-partial-unknown-fields")
EMPTY = ("bad-missing-categories", "made-1.0-empty", "made-1.1-empty", "real-1.3-0f7892a", "*-empty-1.2")
ODD, FULL, OLD_FULL = "made-1.1-partial-unknown-fields", "rich-1.2-260", "rich-1.0-260"

EVERYWHERE = (
    ("recall", "written by reading", "profile-readings"),
    ("search", "written by reading", "profile-readings"),
    ("search", "found added", "profile-search"),
    ("search", "found order", "profile-search"),
)
"""What differs in any call of a tool: reading never writes the document, and results are ranked in another way."""

EXPECTED = (
    # The whole tool server, call by call.
    Expected(MAIN, (43, 45, 47, 49, 102, 103), ("protocol",), "profile-server"),
    Expected(
        MAIN, (0,), ("reply schema_version", "document only there", "file missing memory.json"), "profile-first-use"
    ),
    Expected(MAIN, (1, 2), SESSION, "profile-assistant-name"),
    Expected(MAIN, (3, 4), ("page empty",), "profile-pages"),
    Expected(MAIN, (10, 29, 30), ADDED, "profile-tags-block"),
    Expected(MAIN, (22,), ADDED, "profile-duplicates"),
    Expected(MAIN, (21,), ("reply recommendation",), "profile-duplicates"),
    Expected(MAIN, (27,), BLOCKED, "profile-duplicates"),
    Expected(MAIN, (13, 34, 35, 36, 37, 38, 39, 40, 41), (REFUSED,), "profile-rules"),
    Expected(MAIN, (42,), ("action UPDATE -> NOOP",), "profile-updates"),
    Expected(MAIN, (15,), ("reply links", "document links"), "profile-auto-links"),
    Expected(MAIN, (16,), ("reply source", "document source"), "profile-updates"),
    Expected(MAIN, (17,), ("reply importance", "document importance"), "profile-updates"),
    Expected(MAIN, (18,), ("action UPDATE -> NOOP",), "profile-user-confidence"),
    Expected(MAIN, (19,), ("reply confidence", "document confidence"), "profile-user-confidence"),
    Expected(MAIN, (63, 64), (REFUSED,), "profile-empty-questions"),
    Expected(MAIN, (66,), ("found missing",), "profile-search"),
    Expected(MAIN, (73,), (REFUSED,), "profile-self-links"),
    Expected(MAIN, (78,), ("document updated_at", "document status"), "profile-supersedes"),
    Expected(MAIN, (79, 98), ("reply incoming",), "profile-order"),
    Expected(MAIN, (93,), ("reply archival_candidates", "reply confidence_updates"), "profile-reflect"),
    Expected(MAIN, (95,), ("page text",), "profile-pages"),
    Expected(MAIN, (97,), (REFUSED,), "profile-formats"),
    Expected(MAIN, (99,), ("backup",), "profile-backup"),
    # Other scripts.
    Expected(UNICODE, (0,), (NO_LOCK,), "profile-readings"),
    Expected(UNICODE, (5, 14), ("found missing",), "profile-search"),
    Expected(UNICODE, (17,), (REFUSED,), "profile-rules"),
    Expected(UNICODE, (19,), BLOCKED, "profile-duplicates"),
    Expected(UNICODE, (20, 21), ("page text",), "profile-pages"),
    # One field that makes no sense.
    Expected(("v12-bad-last-accessed", "v12-future-last-accessed"), (0,), (ACCEPTED,), "profile-patience"),
    Expected(("v12-naive-timestamps",), (0, 1), (ACCEPTED,), "profile-patience"),
    Expected(("v12-null-fields",), (0, 1, 2), (ACCEPTED,), "profile-patience"),
    Expected(
        ("v12-bad-last-accessed", "v12-future-last-accessed", "v12-naive-timestamps", "v12-null-fields"),
        (0,),
        (NO_LOCK,),
        "profile-readings",
    ),
    Expected(("v12-bad-links",), (0, 1, 2, 3), (ACCEPTED,), "profile-patience"),
    Expected(("v12-bad-links",), (3,), ("document missing", "file added memory.backup.json"), "profile-patience"),
    Expected(("v12-reflect-rich",), (0,), ("reply stale_entries", "reply confidence_updates"), "profile-reflect"),
    # The file changed by somebody else.
    Expected(RUNTIME, (3, 4, 5), ("error store -> none",), "profile-first-use"),
    Expected(RUNTIME, (4, 5), ("document only here", "file added memory.json"), "profile-first-use"),
    Expected(RUNTIME, (4,), (LOCK,), "profile-first-use"),
    Expected(RUNTIME, (6, 7, 8), ("document version", *BACKUPS), "profile-migration"),
    Expected(RUNTIME, (6,), ("reply schema_version",), "profile-migration"),
    Expected(
        RUNTIME,
        (7,),
        ("reply importance", "reply source", "reply status", "reply links", "document order"),
        "profile-migration",
    ),
    Expected(RUNTIME, (9,), ("found last_accessed", "document last_accessed"), "profile-readings"),
    Expected(("v12-newer-compact",), (0,), (NOT_USED,), "profile-versions"),
    # Each document with the same twelve calls: status, session_start, recall, search twice, about_me, about_us,
    # reflect, connections, export, remember, status.
    Expected(loads(*OLDER), (0,), (LOCK,), "profile-migration"),
    Expected(loads(*NAMELESS, "real-1.0-5b322ce", "unicode-1.2"), (1,), SESSION, "profile-assistant-name"),
    Expected(
        loads(*PARTIAL), (1,), ("reply categories", "document added", "document memories"), "profile-assistant-name"
    ),
    Expected(loads(*PARTIAL[1:]), (1,), ("reply total",), "profile-assistant-name"),
    Expected(loads(ODD, "bad-entry-is-string"), (0, 11), COUNTS, "profile-counts"),
    Expected(loads(FULL, *LATEST), (0, 11), ("reply categories",), "profile-counts"),
    Expected(loads(*LATEST), (1,), COUNTS, "profile-counts"),
    Expected(loads(ODD), (7,), ("reply summary",), "profile-counts"),
    Expected(
        loads(
            *EXAMPLES, *NEWER_EXAMPLES, *GIVEN, *LATEST, "real-2.0-629951e", FULL, OLD_FULL, "unicode-1.2", *PARTIAL[2:]
        ),
        (3,),
        ("found missing",),
        "profile-search",
    ),
    Expected(loads(*EMPTY, ODD, "real-2.0-559e506", "real-2.0-629951e"), (5,), ("page empty",), "profile-pages"),
    Expected(
        loads(*EMPTY, "bad-entry-is-string", *PARTIAL[2:], *LATEST, "real-2.0-629951e", "unicode-1.2"),
        (6,),
        ("page empty",),
        "profile-pages",
    ),
    Expected(loads(FULL, "unicode-1.2"), (5, 9), ("page text",), "profile-pages"),
    Expected(loads(FULL), (6,), ("page text",), "profile-pages"),
    Expected(loads(ODD, *LATEST), (9,), ("page text",), "profile-pages"),
    Expected(loads(FULL), (7,), ("reply confidence_updates",), "profile-reflect"),
    Expected(loads("bad-entry-is-string"), (2, 3, 4, 5, 7, 9), (ACCEPTED,), "profile-patience"),
    Expected(loads("bad-memories-null"), tuple(range(12)), (DAMAGE,), "profile-damage"),
    Expected(loads("bad-memories-null"), (1,), (NO_LOCK,), "profile-damage"),
    Expected(loads(*UNSUPPORTED), tuple(range(12)), (NOT_USED,), "profile-versions"),
    Expected(loads(*UNSUPPORTED), (1,), (NO_LOCK,), "profile-versions"),
    Expected(loads(*NEWER), (1,), ("reply session_count", "document session_count", NO_LOCK), "profile-newer"),
    Expected(loads(*NEWER), (10,), (NOT_USED,), "profile-newer"),
    Expected(loads(*NEWER_EXAMPLES, "real-2.0-a85646b", "real-2.0-e4cc058"), (2,), ("not counted",), "profile-newer"),
    Expected(loads(*NEWER_EXAMPLES, *LATEST, "real-2.0-629951e"), (3,), ("not counted",), "profile-newer"),
    Expected(loads(*NEWER_EXAMPLES), (4,), ("not counted",), "profile-newer"),
)
SHOWN_ELSEWHERE = {"profile-seconds", "profile-backups"}
"""Differences of the form of what is written, which a replay takes for granted and other tests show."""

ALL = sorted(
    path.stem for part in ("v12-*", "load-1.2-*") for path in (RECORDINGS / "transcripts").glob(f"{part}.json")
)


def given(name: str) -> tuple[bytes | None, dict[int, bytes | None]]:
    """What a recording began with, and what was done to the file before some of its calls."""
    document = json.loads((RECORDINGS / "transcripts" / f"{name}.json").read_bytes()).get("input_document")
    if isinstance(document, dict):
        return rendered(document), {}
    if name.startswith("load-1.2-"):
        return reference(name.removeprefix("load-1.2-")), {}
    if name == "v12-reflect-rich":
        return reference("rich-1.2-260"), {}
    if name == "v12-newer-compact":
        return json.dumps(parsed(reference("newer-unknown-9.9"))).encode(), {}
    if name == "v12-runtime-changes":
        example, broken = reference(*names("*-example-1.2")), b"{broken"
        ahead = example.replace(b"2026-02-10T12:00:00Z", b"2026-12-15T00:00:00Z")
        assert ahead != example
        return broken, {2: example, 3: None, 6: reference(*names("made-1.0-from-*")), 9: ahead, 10: broken}
    return None, {}


@pytest.mark.proof(keep=7)
@needs_recordings
@pytest.mark.parametrize("name", ALL)
def test_a_recorded_session_differs_only_where_the_table_says_so(
    name: str, tmp_path: Path, environment: dict[str, str]
) -> None:
    replay = Replay(name, tmp_path / "harbor", environment)
    replay.run(*given(name))
    expected = {
        (step, kind) for entry in EXPECTED if name in entry.recordings for step in entry.steps for kind in entry.kinds
    }
    anywhere = {(tool, kind) for tool, kind, _ in EVERYWHERE}
    unexplained = [
        f"call {step}, {tool}: {kind}: {detail[:300]}"
        for step, tool, kind, detail in replay.differences
        if (step, kind) not in expected and (tool, kind) not in anywhere
    ]
    assert not unexplained, "\n".join(unexplained)
    gone = expected - {(step, kind) for step, _, kind, _ in replay.differences}
    assert not gone, f"these no longer differ, take them out of the table and the page: {sorted(gone)}"


@needs_recordings
def test_every_document_was_recorded_and_every_entry_of_the_table_is_looked_at() -> None:
    assert {name.removeprefix("load-1.2-") for name in ALL if name.startswith("load-")} == set(DOCUMENTS)
    assert {name for entry in EXPECTED for name in entry.recordings} <= set(ALL)


# -- the page ------------------------------------------------------------------------------------


def test_the_page_gives_every_difference_its_reason() -> None:
    text = PAGE.read_text(encoding="utf-8")
    found = re.search(r"^## Profile\n.*?(?=^## )", text, re.M | re.S)
    assert found
    rows = re.findall(
        r"^\| `(profile-[a-z-]+)` \| [^|]+ \| [^|]+ \| (?:reference|safety|bug|not yet) \|$", found[0], re.M
    )
    assert len(rows) == len(set(rows))
    reasons = {entry.reason for entry in EXPECTED} | {reason for *_, reason in EVERYWHERE} | SHOWN_ELSEWHERE
    assert reasons <= set(rows)


# -- the documents -------------------------------------------------------------------------------


class Place:
    """A folder with nothing but a document in it; a large one has an index, too."""

    def __init__(self, folder: Path, environment: Mapping[str, str], data: bytes) -> None:
        self.root = folder / "harbor"
        self.state = self.root / ".ai-state"
        self.file = self.state / "memory.json"
        self.environment = environment
        self.state.mkdir(parents=True)
        self.file.write_bytes(data)
        if len(data) > LARGE_BYTES:
            init_memory(self.project())  # without it, the index is made anew for every call

    def project(self, now: str = NOW) -> Project:
        return opened(self.root, self.environment, now)

    @property
    def document(self) -> Any:
        return parsed(self.file.read_bytes())

    def tree(self) -> dict[str, tuple[bytes, int]]:
        """Every file with its bytes and when it was written; only an index may come and go."""
        found = {path.relative_to(self.root).as_posix(): path for path in self.root.rglob("*") if path.is_file()}
        return {
            name: (path.read_bytes(), path.stat().st_mtime_ns)
            for name, path in found.items()
            if not name.startswith(".memory/index/")
        }


@pytest.fixture
def place(tmp_path: Path, environment: dict[str, str]) -> Callable[[bytes], Place]:
    return lambda data: Place(tmp_path, environment, data)


def entries_of(document: Any) -> dict[str, dict[str, Any]]:
    return {
        f"{category}.{key}": entry
        for category, held in document["memories"].items()
        for key, entry in held.items()
        if isinstance(entry, dict)
    }


def looked_at(project: Project) -> list[Callable[[], object]]:
    """Every operation that only looks, so that it does not even count as reading."""
    return [
        partial(profile_status, project, Arguments()),
        partial(about_me, project, Arguments()),
        partial(about_us, project, Arguments()),
        partial(entry_index, project, ShowIndex(everything=True)),
        partial(profile_context, project, ShowProfileContext()),
        partial(reflect_on_entries, project, ReflectOnEntries()),
        partial(export_profile, project, ExportProfile()),
        partial(export_profile, project, ExportProfile(output_format="json")),
        partial(recall_entries, project, RecallEntries(category="user"), note=False),
        partial(search_entries, project, SearchEntries(query="what is remembered"), note=False),
    ]


def changed_by(project: Project) -> list[Callable[[], object]]:
    return [
        partial(remember_entry, project, RememberEntry(category="learnings", key="probe", value="A probe.")),
        partial(forget_entry, project, ForgetEntry(category="user", key="email")),
        partial(restore_entry, project, RestoreEntry(category="user", key="email")),
        partial(
            link_entries,
            project,
            LinkEntries(source="user.username", target="user.email", relation="elaborates"),
        ),
        partial(unlink_entries, project, UnlinkEntries(source="user.username", target="user.email")),
        partial(reflect_on_entries, project, ReflectOnEntries(apply=["archive"])),
    ]


def same_entries(project: Project, document: Any) -> None:
    """Every entry is given as it is stored, one by one and by category."""
    entries = entries_of(document)
    by_category: dict[str, set[str]] = {}
    for name, entry in entries.items():
        category, _, key = name.partition(".")
        by_category.setdefault(category, set()).add(key)
        (view,) = recall_entries(project, RecallEntries(category=category, key=key), note=False).results
        assert (view.id, view.entry, view.value) == (name, entry, entry["value"])
    for category, keys in by_category.items():
        found = recall_entries(project, RecallEntries(category=category, everything=True), note=False)
        assert {view.key for view in found.results} == keys
    assert profile_status(project, Arguments()).total == len(entries)


@needs_recordings
def test_every_document_is_in_one_of_the_lists() -> None:
    listed = [*CURRENT, *OLDER, *NEWER, *DAMAGED, *UNSUPPORTED]
    assert sorted(listed) == DOCUMENTS


SAMPLE: dict[str, Any] = {
    "schema_version": "1.2",
    "session_count": 4,
    "memories": {
        "tools": {
            "editor": {
                "value": "Helix, with the keys of Kakoune — “λ” and 猫 stay as they are.",
                "created_at": "2026-01-01T00:00:00.123456Z",
                "updated_at": "2026-01-01T00:00:00+00:00",
                "tags": ["Editor", "cli"],
                "importance": 6,
                "links": [{"target": "user.gone", "relation": "depends-on"}, {"target": 7}],
                "x_own": [1.5, 12345678901234567890, {"deep": None}],
            },
            "Old Key": {"value": "Kept as it is.", "source": "by hand", "tags": None, "status": "archived"},
        },
        "user": {"email": {"value": "tess@example.com"}, "username": {"value": "@tess", "importance": "high"}},
        "x_own": {"k": {"value": "A category that nobody knows."}},
    },
    "x_top": {"order": ["is", "kept"]},
}


def bundled(name: str) -> bytes:
    return (BUNDLED / f"{name}.json").read_bytes()


def version(text: Any, data: Mapping[str, Any] = SAMPLE) -> bytes:
    return rendered({**data, "schema_version": text})


def current() -> Iterator[Any]:
    yield pytest.param(rendered(SAMPLE), id="sample")
    yield pytest.param(json.dumps(SAMPLE).encode(), id="sample-compact-and-escaped")
    yield pytest.param(rendered({**SAMPLE, "memories": {}}), id="sample-without-categories")
    for name in CURRENT:
        yield pytest.param(reference(name), id=name)


@pytest.mark.proof(keep=4)
@proves("P5.5", over="profile")
@pytest.mark.parametrize("data", list(current()))
def test_a_current_document_is_read_as_it_is_and_changed_where_it_is_told(
    data: bytes, place: Callable[[bytes], Place]
) -> None:
    here = place(data)
    before, document = here.tree(), here.document
    for look in looked_at(here.project()):
        look()
    same_entries(here.project(), document)
    assert parsed(export_profile(here.project(), ExportProfile(output_format="json")).content.encode()) == document
    assert here.tree() == before

    told = remember_entry(
        here.project(),
        RememberEntry(category="learnings", key="probe", value="A probe that nobody wrote before.", force=True),
    )
    assert told.entry is not None
    expected = parsed(data)
    expected["memories"].setdefault("learnings", {})["probe"] = told.entry.entry
    assert here.file.read_bytes() == rendered(expected)
    forget_entry(here.project(), ForgetEntry(category="learnings", key="probe"))
    assert (here.state / "memory.backup.json").read_bytes() == rendered(expected)
    del expected["memories"]["learnings"]["probe"]
    assert here.file.read_bytes() == rendered(expected)


# -- older ones --


def older() -> Iterator[Any]:
    for name in ("older-1.0", "older-1.1"):
        backups = {path.name.removeprefix(f"{name}."): path.read_bytes() for path in BUNDLED.glob(f"{name}.pre-*")}
        yield pytest.param(name, bundled(name), bundled(f"{name}.after"), backups, id=name)
    for name in OLDER:
        after, prefix = RECORDINGS / "after", f"load-1.2-{name}."
        backups = {
            path.name.removeprefix(f"{prefix}memory."): path.read_bytes() for path in after.glob(f"{prefix}mem*")
        }
        yield pytest.param(name, reference(name), (after / f"{prefix}after.json").read_bytes(), backups, id=name)


@pytest.mark.proof(keep=4)
@proves("P5.5", over="profile")
@pytest.mark.parametrize(("name", "data", "after", "backups"), list(older()))
def test_an_older_document_is_brought_up_as_the_original_does_it(
    name: str, data: bytes, after: bytes, backups: dict[str, bytes], place: Callable[[bytes], Place]
) -> None:
    """The same calls leave the same document, apart from the assistant's name and from what a search counts."""
    here = place(data)
    first = parsed(data)
    moment = max(re.findall(r"2026-11-15T\d\d:\d\d:\d\d", after.decode()))
    tools = Tools(here.project(moment))
    tools.call("status", {})
    migrated = here.document
    assert migrated["schema_version"] == "1.2"
    ours = {path.name.removeprefix("memory."): path.read_bytes() for path in here.state.glob("memory.pre-*")}
    # Ours have the bytes of what they are backups of; the original writes its own form of them.
    assert ours[f"pre-migration-{first['schema_version']}.json"] == data
    assert {name: parsed(found) for name, found in ours.items()} == {
        name: parsed(found) for name, found in backups.items()
    }
    differing = {version for version in backups if ours[version] != backups[version]}
    assert differing == ({"pre-migration-1.0.json"} if name in REWRITTEN_BACKUPS else set())

    for tool, arguments in (
        ("session_start", {}),
        ("recall", {"category": "user"}),
        ("search", {"query": "e"}),
        ("search", {"query": "concise"}),
        (
            "remember",
            {"category": "learnings", "key": "probe", "value": "probe entry written after load", "tags": ["probe"]},
        ),
    ):
        assert "error" not in tools.call(tool, arguments)
    found = document_differences(parsed(after), here.document)
    known = {"document access_count", "document last_accessed"}
    if "name" not in first["memories"].get("assistant", {}):
        known |= {"document added"}
        assert ("document added", "assistant.name") in found
        known |= set() if "assistant" in first["memories"] else {"document memories"}
    assert {kind for kind, _ in found} <= known
    assert [detail for kind, detail in found if kind == "document added"] == ["assistant.name"] * (
        "document added" in known
    )

    done = here.tree()
    profile_status(here.project(moment), Arguments())
    assert here.tree() == done


def test_a_backup_that_is_there_already_is_kept(place: Callable[[bytes], Place]) -> None:
    here = place(bundled("older-1.0"))
    (here.state / "memory.pre-migration-1.0.json").write_bytes(b"what somebody kept\n")
    profile_status(here.project(), Arguments())
    assert (here.state / "memory.pre-migration-1.0.json").read_bytes() == bundled("older-1.0")
    assert (here.state / "memory.pre-migration-1.0.1.json").read_bytes() == b"what somebody kept\n"


# -- newer ones --


def newer() -> Iterator[Any]:
    for name in ("1.3", "2.0"):
        yield pytest.param(version(name), id=f"sample-{name}")
    for name in NEWER:
        yield pytest.param(reference(name), id=name)


@pytest.mark.proof(keep=1)
@proves("P5.5", "D15", over="profile")
@pytest.mark.parametrize("data", list(newer()))
def test_a_newer_document_is_read_and_searched_and_never_written(data: bytes, place: Callable[[bytes], Place]) -> None:
    here = place(data)
    before, document = here.tree(), here.document
    for look in looked_at(here.project()):
        look()
    same_entries(here.project(), document)
    for name, entry in list(entries_of(document).items())[::4]:
        # What it says is asked for in its own words, and in the words of its name.
        question = " ".join(entry["value"].split()[:12])
        assert name in [
            view.id for view in search_entries(here.project(), SearchEntries(query=question, status="any")).results
        ]
    started = start_session(here.project(), Arguments())
    assert (started.counted, started.session_count) == (False, document.get("session_count", 0))
    for change in changed_by(here.project()):
        with pytest.raises(UnsupportedVersion) as raised:
            change()
        assert document["schema_version"] in raised.value.message
    status = profile_status(here.project(), Arguments())
    assert (status.writable, status.schema_version) == (False, document["schema_version"])
    assert [problem.code for problem in status.warnings] == ["ProfileReadOnly"]
    assert here.tree() == before


# -- those that cannot be used --


def unusable() -> Iterator[Any]:
    whole = rendered(SAMPLE)
    made: dict[str, tuple[bytes, type[QuireError], str]] = {
        "memories-null": (rendered({**SAMPLE, "memories": None}), InvalidStore, DAMAGED["bad-memories-null"]),
        "no-memories": (b'{"schema_version": "1.2"}\n', InvalidStore, DAMAGED["bad-no-memories"]),
        "no-version": (b'{"memories": {}}\n', InvalidStore, DAMAGED["bad-no-schema-version"]),
        "list": (b"[1, 2, 3]\n", InvalidStore, DAMAGED["bad-top-level-list"]),
        "mark": (b"\xef\xbb\xbf" + whole, InvalidStore, DAMAGED["corrupt-bom"]),
        "conflict": (
            whole.replace(b'  "session_count": 4,\n', b"<<<<<<< HEAD\n=======\n>>>>>>> other\n"),
            InvalidStore,
            "it holds merge conflict marks: line 3, column 1",
        ),
        "empty": (b"", InvalidStore, DAMAGED["corrupt-empty-file"]),
        "latin": (whole.replace("λ".encode(), b"\xe9"), InvalidStore, DAMAGED["corrupt-invalid-utf8"]),
        "prose": (b"this is not json\n", InvalidStore, DAMAGED["corrupt-not-json"]),
        "half": (whole[: len(whole) // 2], InvalidStore, DAMAGED["corrupt-truncated"]),
        "number": (version(1.2), UnsupportedVersion, UNSUPPORTED["bad-schema-version-number"]),
        "unknown": (version("9.9"), UnsupportedVersion, UNSUPPORTED["newer-unknown-9.9"]),
    }
    for name, (data, error, said) in made.items():
        yield pytest.param(data, error, said, id=f"made-{name}")
    for name in names(*DAMAGED):
        yield pytest.param(reference(name), InvalidStore, DAMAGED[name], id=name)
    for name in names(*UNSUPPORTED):
        yield pytest.param(reference(name), UnsupportedVersion, UNSUPPORTED[name], id=name)


@pytest.mark.proof(keep=6)
@pytest.mark.parametrize(("data", "error", "said"), list(unusable()))
def test_a_document_that_cannot_be_used_is_refused_and_left_alone(
    data: bytes, error: type[QuireError], said: str, place: Callable[[bytes], Place]
) -> None:
    here = place(data)
    before = here.tree()
    project = here.project()
    operations = [*looked_at(project), *changed_by(project), partial(start_session, project, Arguments())]
    for operation in operations:
        with pytest.raises(error) as raised:
            operation()
        assert ".ai-state/memory.json" in raised.value.message
        assert said in raised.value.message
    command = Here(here.root, {**here.environment, "MEMORY_NOW": f"{NOW}+00:00"})
    for line in (("status",), ("search", "email"), ("remember", "user", "k", "v")):
        run = command("profile", *line, "--json")
        assert (run.code, run.error["code"]) == (3, error.code)
    assert here.tree() == before


# -- what only the form shows --------------------------------------------------------------------


def test_what_we_write_has_whole_seconds(place: Callable[[bytes], Place]) -> None:
    here = place(rendered(SAMPLE))
    recall_entries(here.project(), RecallEntries(category="user"))
    remember_entry(here.project(), RememberEntry(category="user", key="email", value="tess@example.org"))
    start_session(here.project(), Arguments())
    entries = entries_of(here.document)
    email, name = entries["user.email"], entries["assistant.name"]
    assert [email["updated_at"], email["last_accessed"], name["created_at"], name["updated_at"]] == [f"{NOW}Z"] * 4
    assert entries["tools.editor"] == entries_of(SAMPLE)["tools.editor"]
    assert set(CATEGORIES) > set(here.document["memories"]) - {"x_own"}


def written(**entries: dict[str, Any]) -> bytes:
    """A document with these entries of the user."""
    return rendered({**SAMPLE, "memories": {"user": entries, "assistant": {"name": {"value": "Wren"}}}})


def test_entries_are_shown_as_they_stand_whatever_their_times_and_names_are(place: Callable[[bytes], Place]) -> None:
    """Real documents hold three forms of a time, whole seconds, microseconds and an offset, and some that are none."""
    times = {
        "second": "2026-01-01T02:00:00Z",
        "last": "2026-01-01T02:00:01.250000+00:00",
        "Odd Name": "yesterday",
        "third": "2026-01-01T02:00:00.500000Z",
        "first": "2026-01-01T03:00:00+02:00",
    }
    here = place(written(**{key: {"value": f"The {key} one.", "created_at": at} for key, at in times.items()}))
    found = recall_entries(here.project(), RecallEntries(category="user"), note=False)
    assert [view.key for view in found.results] == list(times)
    items = [line for line in about_me(here.project(), Arguments()).profile.splitlines() if line.startswith("- ")]
    assert items == [f"- **{key}**: The {key} one." for key in times]


@pytest.mark.parametrize("before", ["2099-01-01T00:00:00Z", "2026-11-15T11:00:00", "not-a-date", None])
def test_a_reading_is_shown_as_it_is_written_later(before: str | None, place: Callable[[bytes], Place]) -> None:
    here = place(written(email={"value": "tess@example.com", "access_count": 2, "last_accessed": before}))
    (shown,) = recall_entries(here.project(), RecallEntries(category="user", key="email")).results
    start_session(here.project(), Arguments())
    stored = entries_of(here.document)["user.email"]
    assert (shown.access_count, shown.last_accessed) == (stored["access_count"], stored["last_accessed"])
