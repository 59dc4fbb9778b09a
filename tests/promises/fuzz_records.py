"""Targets: the documents of the profile, and every file of the journal."""

from __future__ import annotations

import functools
import json

from fuzz_engine import Target
from fuzz_layers import of_file, told
from fuzz_yard import NOW, held, home, root

from quire.files.json_files import parse_strict
from quire.layers.journal.archive import archived_events, expired_items, find_batches
from quire.layers.journal.bundle_diff import changed_parts
from quire.layers.journal.canonical import canonical_text, content_hash, decode_json, file_bytes
from quire.layers.journal.checks.journal import check_journal
from quire.layers.journal.daemon import latest_run, parsed_lock, read_keeper, read_runs
from quire.layers.journal.documents import parse_document, read_checkpoint, read_manifest, read_state, value_of
from quire.layers.journal.entry_block import entry_marker, place_entry, remove_entry, render_entry
from quire.layers.journal.events import history_bytes, read_history
from quire.layers.journal.projections import projection_marker
from quire.layers.journal.repair import plan_journal_repair
from quire.layers.journal.settings import read_config
from quire.layers.journal.source import JournalSource
from quire.layers.journal.sources import read_sources, registry_value
from quire.layers.journal.store import open_journal
from quire.layers.profile import document as profile_document
from quire.layers.profile.access import pending_readings
from quire.layers.profile.changed import changed_entries
from quire.layers.profile.checks import check_profile
from quire.layers.profile.forgotten import read_forgotten
from quire.layers.profile.merge import merge_profile
from quire.layers.profile.migration import migrated, steps
from quire.layers.profile.places import find_places
from quire.layers.profile.source import ProfileSource
from quire.model.errors import QuireError
from quire.model.records import Problem

__all__ = ["TARGETS"]


# -- the profile --------------------------------------------------------------------------------------------------


def _profile(data: bytes) -> object:
    document = profile_document.parse_document(data, "memory.json")
    found = list(document.read())
    encoded = document.render()
    again = profile_document.parse_document(encoded, "memory.json")
    assert repr(list(again.read())) == repr(found), "written and read again is something else"
    assert again.render() == encoded
    assert again.unknown() == document.unknown(), "what nobody knows was lost"
    return found, document.version, document.session_count, document.holding("fish 4")


def _migration(data: bytes) -> object:
    value = parse_strict(data.decode("utf-8", "replace"), "The document")  # as both callers do before
    if not isinstance(value, dict):
        return None
    before = repr(value)
    found = migrated(value)
    assert repr(value) == before, "the document given was changed"
    assert migrated(found) is found
    return found, len(steps(value))


def _merge(data: bytes) -> object:
    base, ours = _PROFILES[0], _PROFILES[1]
    merged, other = merge_profile(base, ours, data), merge_profile(base, data, ours)
    # Keys of a value that both have may stand in either order.
    assert [json.loads(side.data or b"null") for side in (merged, other)] == [json.loads(merged.data or b"null")] * 2
    assert merged.contested == other.contested
    return merged


def _profile_file() -> object:
    places = find_places(root(), f"{home()}/registry", home())
    stamps = ProfileSource(places).stamps()
    return told(list(ProfileSource(places).read(stamps))), told(check_profile(places))


def _profile_local() -> object:
    problems: list[Problem] = []
    return read_forgotten(root(), problems), pending_readings(root(), problems), told(problems)


_PROFILES = [
    json.dumps(
        {
            "schema_version": version,
            "session_count": count,
            "memories": {
                "user": {"timezone": {"value": zone, "created_at": "2026-01-05T09:00:00Z", "tags": ["place"]}},
                "visitors": {"first": {"value": "somebody", "links": [{"target": "user.timezone", "relation": "x"}]}},
                "tools": {},
            },
            "kept": {"gr\u00f6\u00dfe": [1, 2.5, None]},
        }
    ).encode()
    for version, count, zone in (("1.0", 0, "UTC"), ("1.2", 3, "Europe/Madrid"), ("1.1", 2, "Asia/Tokyo"))
]

# -- the journal --------------------------------------------------------------------------------------------------


def _journal() -> object:
    found = check_journal(root(), NOW, is_alive=lambda _pid: False, home=home())
    assert all(one.message for one in found)
    source = JournalSource(root())
    read = told(list(source.read(source.stamps())))
    try:
        opened: object = open_journal(root()).history.events
    except QuireError as error:
        opened = str(error)
    try:
        repairing: object = plan_journal_repair(root(), NOW)
    except QuireError as error:
        repairing = str(error)
    return found, read, opened, repr(repairing)


def _automation() -> object:
    return latest_run(root()), read_keeper(root()), read_runs(root()), _journal()


def _archive() -> object:
    return find_batches(root()), archived_events(root()), expired_items(root()), _journal()


def _history(data: bytes) -> object:
    history = read_history(data)
    told(history.problems)
    again = read_history(history_bytes(history.lines))
    assert [line.raw for line in again.lines] == [line.raw for line in history.lines], "a line was lost or changed"
    assert again.events == history.events
    return history.events, list(history.ids())


def _state(data: bytes) -> object:
    value = parse_document(data, "state.json")
    state = read_state(value)
    again = read_state(decode_json(file_bytes(value_of(state))))
    assert content_hash(again.bundle) == content_hash(state.bundle), "the bundle is another one after writing"
    # A whole number beyond what the original program can hold is written as it would write it.
    assert canonical_text(again.extra) == canonical_text(state.extra), "what nobody knows was lost"
    return state, changed_parts("state.json", _BUNDLES()[0], data)


def _canonical(data: bytes) -> object:
    value = decode_json(data)
    text = canonical_text(value)
    assert canonical_text(decode_json(text.encode("utf-8", "surrogatepass"))) == text, "canonical text is not stable"
    return text


def _documents(data: bytes) -> object:
    value = parse_document(data, "x.json")
    found: list[object] = []
    for read in (read_checkpoint, read_config, read_sources, functools.partial(read_manifest, where="x")):
        try:
            found.append(read(value))
        except QuireError as error:
            found.append(str(error))
    registry = found[2]
    if not isinstance(registry, str):
        assert len(registry_value(registry)) == len(value), "an entry was lost"  # type: ignore[arg-type]
    return found


def _entry_block(data: bytes) -> object:
    block = render_entry("0" * 64)
    placed = place_entry(data, block)
    marker = entry_marker(placed)
    assert place_entry(placed, block) == placed, "placing twice is not placing once"
    kept = [
        line
        for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
        if line.strip() and b"agent-memory:entry" not in line
    ]
    if remove_entry(data) == data:
        left = placed.split(b"\n")
        assert all(line in left or line.strip() in placed for line in kept), "a line of somebody else was lost"
    return marker, remove_entry(placed), projection_marker(data.decode("utf-8", "replace"))


@functools.cache
def _BUNDLES() -> list[bytes]:  # noqa: N802 - a constant that is made late
    return held(".agent-memory/state.json")


_RUN = (
    b'{"startedAt":"2026-03-02T11:19:00.000Z","finishedAt":"2026-03-02T11:19:01.000Z","status":"imported","provider":'
    b'"auto","importSync":{"attempted":true,"results":[{"sourceId":"s","importedCount":1,"skippedCount":0,"failedCount":1,'
    b'"failures":[{"sourceRef":"x","message":"m"}]}]},"recall":{"attempted":true,"applied":false,"rawEventCount":2,'
    b'"groupedItemCount":1,"noopReason":null},"prune":{"attempted":false,"archivedEventCount":0,'
    b'"archivedCheckpointCount":0,"expiredArchiveBatchCount":0,"archiveBatchPath":null,"skippedReason":"x"},'
    b'"errors":["e"],"warnings":[]}\n'
)
_NOTE = b'{"startedAt":"2026-03-02T11:19:00.000Z","finishedAt":"2026","status":"idle","imported":1,"times":2}\n'
_KEEPER = (
    b'{"pid":4000,"startedAt":"2026-03-02T11:19:00.000Z","lastHeartbeatAt":"2026-03-02T11:19:00.000Z",'
    b'"intervalMinutes":30,"provider":"auto"}\n'
)
_MANIFEST = (
    b'{"createdAt":"2026-05-01T08:30:00.000Z","archivedEventIds":["evt-000001"],"archivedCheckpointIds":[],'
    b'"historyMaxAgeDays":30,"checkpointMaxAgeDays":30,"keepRecent":5,"expireAfterDays":90}\n'
)
_HEAD = ".agent-memory"


TARGETS: tuple[Target, ...] = (
    Target(
        "profile-document",
        _profile,
        lambda: [*_PROFILES, *held(".ai-state/memory.json")],
        "layers.profile.document layers.profile.entries",
        (QuireError,),
    ),
    Target("profile-migration", _migration, lambda: list(_PROFILES), "layers.profile.migration", (QuireError,)),
    Target(
        "profile-merge",
        _merge,
        lambda: list(_PROFILES),
        "layers.profile.merge",
        (QuireError,),
    ),
    Target(
        "profile-compare",
        lambda data: (changed_entries(_PROFILES[0], data), changed_entries(data, data)),
        lambda: list(_PROFILES),
        "layers.profile.changed",
    ),
    of_file(
        "profile-file",
        ".ai-state/memory.json",
        _profile_file,
        "layers.profile.source layers.profile.checks layers.profile.records",
        *_PROFILES,
        cost=2,
    ),
    of_file(
        "profile-place",
        ".ai-state/local/private.json",
        _profile_file,
        "layers.profile.places files.local_files",
        b'{"version":1,"place":"home"}\n',
        own=False,
        cost=2,
    ),
    of_file("profile-forgotten", ".ai-state/local/forgotten.jsonl", _profile_local, "layers.profile.forgotten", cost=1),
    of_file(
        "profile-access",
        ".ai-state/local/access.jsonl",
        _profile_local,
        "layers.profile.access",
        b'{"names":["user.timezone"],"at":"2026-03-02T11:19:00Z"}\n',
        own=False,
        cost=1,
    ),
    Target(
        "journal-state",
        _state,
        lambda: _BUNDLES(),
        "layers.journal.documents layers.journal.canonical layers.journal.value_shapes layers.journal.shapes "
        "layers.journal.bundle_diff",
        (QuireError,),
    ),
    Target(
        "journal-canonical",
        _canonical,
        lambda: [b'{"b":[1,2.5,-0.0,1e21,1e-7],"a":"\\ud83d\\u2028","":null}', *_BUNDLES()],
        "layers.journal.canonical",
        (ValueError,),
    ),
    Target(
        "journal-history",
        _history,
        lambda: held(f"{_HEAD}/history/events.jsonl"),
        "layers.journal.events layers.journal.numbered_ids",
    ),
    Target(
        "journal-documents",
        _documents,
        lambda: held(f"{_HEAD}/sources.json", f"{_HEAD}/config.json", f"{_HEAD}/history/checkpoints/chk-000001.json"),
        "layers.journal.settings layers.journal.sources layers.journal.documents",
        (QuireError,),
    ),
    *(
        of_file(f"journal-{name}", f"{_HEAD}/{path}", _journal, modules, cost=20)
        for name, path, modules in (
            ("state-file", "state.json", "layers.journal.checks.state layers.journal.repair layers.journal.pages"),
            (
                "events-file",
                "history/events.jsonl",
                "layers.journal.checks.history layers.journal.checks.order",
            ),
            ("checkpoint-file", "history/checkpoints/chk-000001.json", "layers.journal.checks.checkpoints"),
            (
                "sources-file",
                "sources.json",
                "layers.journal.checks.sources layers.journal.store layers.journal.checks.findings",
            ),
            ("config-file", "config.json", "layers.journal.source layers.journal.records layers.journal.text_match"),
        )
    ),
    of_file(
        "journal-page",
        "docs/agent-memory/gotchas.md",
        _journal,
        "layers.journal.projections layers.journal.checks.pages layers.journal.line_diff",
        cost=20,
    ),
    Target(
        "journal-entry-block",
        _entry_block,
        lambda: [
            *held("AGENTS.md"),
            b"# T\n\n```\n<!-- agent-memory:entry end -->\n```\n",
            b"---\na: 1\n---\n# X\n\ntext\n",
            render_entry("ab").encode() + b"\nafter\n",
        ],
        "layers.journal.entry_block",
    ),
    *(
        of_file(f"journal-{name}", f"{_HEAD}/{path}", _automation, modules, seed, own=False, cost=20)
        for name, path, modules, seed in (
            ("run", "automation/latest-run.json", "layers.journal.daemon layers.journal.value_shapes", _RUN),
            ("runs", "local/runs.jsonl", "layers.journal.daemon", _NOTE),
            ("keeper", "automation/daemon.json", "layers.journal.daemon", _KEEPER),
        )
    ),
    Target(
        "journal-lock",
        parsed_lock,
        lambda: [b'{"pid":4000,"createdAt":"2026-03-02T11:19:00.000Z"}\n'],
        "layers.journal.daemon layers.journal.documents",
    ),
    of_file(
        "journal-archive",
        f"{_HEAD}/archive/prune-20260501T083000000Z/manifest.json",
        _archive,
        "layers.journal.archive layers.journal.checks.archive",
        _MANIFEST,
        own=False,
        cost=20,
    ),
)
