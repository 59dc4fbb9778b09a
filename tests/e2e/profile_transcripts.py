"""Recorded sessions of the original profile server, replayed call by call against the operations of a project.

What the original had on its disk after each call follows from its own replies; the recorded sizes prove it. A
`Replay` makes the same calls here, and says in which ways the answers, the document and the files are different.
"""

from __future__ import annotations

import copy
import itertools
import json
import os
import re
import shutil
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from quire.files.world import World
from quire.layers.profile.access import pending_readings
from quire.model import limits
from quire.model.errors import InputError, InvalidStore, NotFound, UnsupportedVersion
from quire.model.times import instant
from quire.project import Project
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.profile.connections import entry_connections
from quire.verbs.profile.export import ExportProfile, export_profile
from quire.verbs.profile.link import LinkEntries, UnlinkEntries, link_entries, unlink_entries
from quire.verbs.profile.options import EntryName
from quire.verbs.profile.pages import about_me, about_us
from quire.verbs.profile.recall import RecallEntries, recall_entries
from quire.verbs.profile.reflect import ReflectOnEntries, reflect_on_entries
from quire.verbs.profile.remember import RememberEntry, remember_entry
from quire.verbs.profile.restore import ForgetEntry, forget_entry
from quire.verbs.profile.search import SearchEntries, search_entries
from quire.verbs.profile.session_start import start_session
from quire.verbs.profile.status import profile_status
from quire.verbs.verb import Arguments

RECORDINGS = Path(__file__).parents[3] / "shared" / "fixtures" / "profile"
LARGE_BYTES = 50_000
BACKUP = "memory.backup.json"
READING = ("recall", "search")
TAKEN_OUT = {"load-1.2-real-2.0-a85646b": 10}

__all__ = [
    "LARGE_BYTES",
    "RECORDINGS",
    "Difference",
    "Replay",
    "Tools",
    "document_differences",
    "opened",
    "parsed",
    "recording",
    "reference",
    "rendered",
]

Fields = dict[str, Any]


class Difference(NamedTuple):
    step: int
    tool: str
    kind: str
    detail: str


def recording(name: str) -> Fields:
    found: Fields = json.loads((RECORDINGS / "transcripts" / f"{name}.json").read_bytes())
    return found


def reference(name: str) -> bytes:
    """A document that was given to the original."""
    return (RECORDINGS / "docs" / f"{name}.json").read_bytes()


def rendered(document: Any) -> bytes:
    """A document as both programs write it."""
    return json.dumps(document, indent=2, ensure_ascii=False).encode() + b"\n"


def opened(folder: Path, environment: Mapping[str, str], now: str) -> Project:
    """The project in a folder, at this second."""
    world = World(
        cwd=str(folder),
        env=dict(environment),
        now=lambda: datetime.fromisoformat(f"{now}+00:00"),
        token=lambda: f"{next(_COUNTED):016x}",
        sleep=lambda _seconds: None,
        pid=os.getpid(),
    )
    return Project.open(str(folder), world)


_COUNTED = itertools.count()


# -- what the original had ---------------------------------------------------------------------

_DEFAULTS = {
    "importance": 5,
    "source": {"type": "session", "detail": None},
    "access_count": 0,
    "last_accessed": None,
    "status": "active",
}


class Theirs:
    """The original's document: its replies put together, and held against every size that was recorded."""

    def __init__(self, data: bytes | None, taken_out: int = 0) -> None:
        self.data = data
        self.taken_out = taken_out
        """Bytes that were taken out of the recorded document since, and of all that holds its texts."""

    @property
    def document(self) -> Any:
        return parsed(self.data)

    def follow(self, step: Fields, *, is_first: bool) -> None:
        """Take over what this call changed."""
        after = step.get("files_after")
        if after is None:
            return
        if self.data is None and "memory.json" in after:
            categories = ("user", "assistant", "project", "relationships", "tools", "learnings")
            empty = {"schema_version": "1.2", "session_count": 0, "memories": {name: {} for name in categories}}
            self.data = rendered(empty)
        document = copy.deepcopy(self.document)
        if isinstance(document, dict) and isinstance(document.get("memories"), dict):
            version = document.get("schema_version")
            if is_first and version is not None:
                _migrate(document)
            reply = step["content_text_parsed"][0]
            _FOLLOW.get(step["tool"], _nothing)(document, step["arguments"], reply)
            if document != self.document or (is_first and version not in (None, "1.2")):
                self.data = rendered(document)
        if "memory_json_after" in step:
            assert self.document == step["memory_json_after"]
        if "memory.json" in after:
            assert self.data is not None
            assert len(self.data) + self.taken_out == after["memory.json"], step


def _migrate(document: Fields) -> None:
    entries = [entry for held in document["memories"].values() for entry in held.values() if isinstance(entry, dict)]
    if document["schema_version"] == "1.0":
        document.setdefault("session_count", 0)
        for entry in entries:
            for name, value in _DEFAULTS.items():
                entry.setdefault(name, copy.deepcopy(value))
    if document["schema_version"] in ("1.0", "1.1"):
        document["schema_version"] = "1.2"
        for entry in entries:
            entry.setdefault("links", [])


def _nothing(_document: Fields, _arguments: Fields, _reply: Fields) -> None:
    return


def _session(document: Fields, _arguments: Fields, reply: Fields) -> None:
    if "session_count" in reply:
        document["session_count"] = reply["session_count"]


def _remember(document: Fields, arguments: Fields, reply: Fields) -> None:
    if "entry" in reply:
        document["memories"].setdefault(arguments["category"], {})[arguments["key"]] = reply["entry"]


def _recall(document: Fields, arguments: Fields, reply: Fields) -> None:
    for key, entry in reply.get("entries", {}).items():
        document["memories"][arguments["category"]][key] = entry


def _search(document: Fields, _arguments: Fields, reply: Fields) -> None:
    for found in reply.get("results", ()):
        document["memories"][found["category"]][found["key"]] = found["entry"]


def _forget(document: Fields, arguments: Fields, reply: Fields) -> None:
    if "removed" in reply:
        del document["memories"][arguments["category"]][arguments["key"]]
        gone = f"{arguments['category']}.{arguments['key']}"
        for held in document["memories"].values():
            for entry in held.values():
                entry["links"] = [link for link in entry["links"] if link["target"] != gone]


def _link(document: Fields, _arguments: Fields, reply: Fields) -> None:
    if reply.get("link_created"):
        category, _, key = reply["source"].partition(".")
        link = {"target": reply["target"], "relation": reply["relation"]}
        document["memories"][category][key]["links"].append(link)


def _unlink(document: Fields, _arguments: Fields, reply: Fields) -> None:
    if reply.get("link_removed"):
        category, _, key = reply["source"].partition(".")
        entry = document["memories"][category][key]
        entry["links"] = [link for link in entry["links"] if link["target"] != reply["target"]]


_FOLLOW: dict[str, Callable[[Fields, Fields, Fields], None]] = {
    "session_start": _session,
    "remember": _remember,
    "recall": _recall,
    "search": _search,
    "forget": _forget,
    "add_link": _link,
    "remove_link": _unlink,
}


# -- the same calls here -----------------------------------------------------------------------


class Tools:
    """Our operations under the names of the original's tools, their results in the shape of its replies."""

    def __init__(self, project: Project) -> None:
        self.project = project

    def call(self, tool: str, arguments: Fields) -> Fields:
        """A reply; `{"error": kind}` where the operation refuses."""
        try:
            reply: Fields = getattr(self, tool)(**arguments)
        except NotFound as error:
            return {"error": "missing", "said": error.message}
        except InputError as error:
            return {"error": "input", "said": error.message}
        except (InvalidStore, UnsupportedVersion) as error:
            return {"error": "store", "said": error.message}
        return reply

    def status(self) -> Fields:
        found = profile_status(self.project, Arguments())
        return _taken(found, "categories", "total", "schema_version", "session_count", "file_size")

    def session_start(self) -> Fields:
        found = start_session(self.project, Arguments())
        return _taken(found, "session_count", "categories", "total", "schema_version")

    def remember(self, category: str, key: str, value: str, source_type: str | None = None, **more: Any) -> Fields:
        # What a protocol does before it calls an operation: values that came as text, arguments that nobody knows.
        more.pop("bogus", None)
        if isinstance(more.get("tags"), str):
            more["tags"] = json.loads(more["tags"])
        if isinstance(more.get("importance"), str):
            more["importance"] = int(more["importance"])
        found = remember_entry(
            self.project, RememberEntry(category=category, key=key, value=value, source_type=source_type, **more)
        )
        if found.entry is None:
            names = [f"{item.category}.{item.key}" for item in found.candidates]
            return {"action": found.action, "candidates": names, "recommendation": found.recommendation}
        return {"action": found.action, "entry": found.entry.entry}

    def forget(self, category: str, key: str) -> Fields:
        found = forget_entry(self.project, ForgetEntry(category=category, key=key))
        return {"removed": found.removed.entry, "backup_path": found.backup_path}

    def recall(self, category: str, key: str | None = None) -> Fields:
        found = recall_entries(self.project, RecallEntries(category=category, key=key, everything=True))
        return {"entries": {item.key: item.entry for item in found.results}}

    def search(self, query: str, category: str | None = None) -> Fields:
        found = search_entries(
            self.project, SearchEntries(query=query, category=category, status="any", limit=limits.RESULTS_MOST)
        )
        results = [{"category": item.category, "key": item.key, "entry": item.entry} for item in found.results]
        return {"results": results}

    def export_memories(self, output_format: str = "markdown") -> Fields:
        return {
            "content": export_profile(self.project, ExportProfile(output_format=output_format, everything=True)).content
        }

    def about_me(self) -> Fields:
        return {"profile": about_me(self.project, Arguments()).profile}

    def about_us(self) -> Fields:
        return {"profile": about_us(self.project, Arguments()).profile}

    def reflect(self) -> Fields:
        found: Fields = msgspec.to_builtins(reflect_on_entries(self.project, ReflectOnEntries()))
        return {name: value for name, value in found.items() if name not in ("applied", "dry_run")}

    def connections(self, category: str, key: str) -> Fields:
        found = entry_connections(self.project, EntryName(category=category, key=key))
        return {
            "outgoing": [_taken(link, "target", "relation", "entry_summary") for link in found.outgoing],
            "incoming": [_taken(link, "source", "relation", "entry_summary") for link in found.incoming],
        }

    def add_link(
        self, source_category: str, source_key: str, target_category: str, target_key: str, relation: str
    ) -> Fields:
        source, target = f"{source_category}.{source_key}", f"{target_category}.{target_key}"
        found = link_entries(self.project, LinkEntries(source=source, target=target, relation=relation))
        return {"link_created": found.created, **_taken(found, "source", "target", "relation")}

    def remove_link(self, source_category: str, source_key: str, target_category: str, target_key: str) -> Fields:
        source, target = f"{source_category}.{source_key}", f"{target_category}.{target_key}"
        return {
            "link_removed": True,
            **_taken(unlink_entries(self.project, UnlinkEntries(source=source, target=target)), "source", "target"),
        }


def _taken(found: Any, *names: str) -> Fields:
    return {name: msgspec.to_builtins(getattr(found, name)) for name in names}


# -- differences -------------------------------------------------------------------------------

_MICROSECONDS = re.compile(r"(2026-11-15T\d\d:\d\d:\d\d)\.\d{6}Z")
_KINDS = (
    ("input", r"Invalid (?:category|relation) "),
    ("missing", r"not found|^\"No link from"),
    ("store", r"^Missing '|^Expecting |^Unterminated |codec can't decode|^Unexpected UTF-8 BOM|No such file"),
)
"""What the original means where it says that something failed; anything else is a message of Python's."""


def _settled(value: Any) -> Any:
    """With whole seconds, which is all that we write."""
    return json.loads(_MICROSECONDS.sub(r"\1Z", json.dumps(value)))


def _error_kind(reply: Fields) -> str:
    said = reply.get("error")
    if said is None:
        return "none"
    return next((kind for kind, pattern in _KINDS if re.search(pattern, said)), "crash")


def _field_differences(word: str, theirs: Any, ours: Any) -> list[tuple[str, str]]:
    if not isinstance(theirs, dict) or not isinstance(ours, dict):
        return [(word, f"{theirs!r} -> {ours!r}")] if theirs != ours else []
    found = [
        (f"{word} {name}", f"{theirs.get(name)!r} -> {ours.get(name)!r}")
        for name in {**theirs, **ours}
        if theirs.get(name, "absent") != ours.get(name, "absent")
    ]
    if not found and list(theirs) != list(ours):
        found = [(f"{word} order", f"{list(theirs)} -> {list(ours)}")]
    return found


def _entry_differences(word: str, theirs: Fields, ours: Fields) -> list[tuple[str, str]]:
    found = [(f"{word} missing", name) for name in theirs if name not in ours]
    found += [(f"{word} added", name) for name in ours if name not in theirs]
    if [name for name in theirs if name in ours] != [name for name in ours if name in theirs]:
        found.append((f"{word} order", f"{list(theirs)} -> {list(ours)}"))
    for name in theirs:
        if name in ours:
            found += [
                (kind, f"{name}: {detail}") for kind, detail in _field_differences(word, theirs[name], ours[name])
            ]
    return found


def document_differences(theirs: Any, ours: Any) -> list[tuple[str, str]]:
    """How our document differs from the original's, to the second."""
    entries, rest = zip(_documents(_settled(theirs)), _documents(_settled(ours)), strict=True)
    return _entry_differences("document", *entries) + _field_differences("document", *rest)


def _documents(document: Any) -> tuple[Fields, Fields]:
    """The entries of a document by their names, and everything else in it."""
    memories = document.get("memories") if isinstance(document, dict) else None
    if not isinstance(memories, dict):
        return {}, {"whole": document}
    entries = {f"{category}.{key}": entry for category, held in memories.items() for key, entry in held.items()}
    rest = {**document, "memories": list(memories)}
    return entries, rest


def reply_differences(tool: str, theirs: Fields, ours: Fields) -> list[tuple[str, str]]:
    before, after = _error_kind(theirs), ours.get("error", "none")
    if before != after:
        return [(f"error {before} -> {after}", str(ours.get("said") or theirs.get("error")))]
    if "error" in ours:
        return []
    theirs, ours = _settled(theirs), _settled(ours)
    return _REPLIES.get(tool, _plain_reply)(theirs, ours)


def _plain_reply(theirs: Fields, ours: Fields) -> list[tuple[str, str]]:
    return _field_differences("reply", dict(sorted(theirs.items())), dict(sorted(ours.items())))


def _is_count(difference: tuple[str, str]) -> bool:
    return difference[0].endswith((" access_count", " last_accessed"))


def _is_refused(reply: Fields) -> bool:
    return "error" in reply or reply.get("action") in ("candidates", "NOOP")


def _remember_reply(theirs: Fields, ours: Fields) -> list[tuple[str, str]]:
    if theirs["action"] != ours["action"]:
        return [(f"action {theirs['action']} -> {ours['action']}", str(theirs.get("candidates")))]
    if "entry" in theirs:
        return _field_differences("reply", theirs["entry"], ours["entry"])
    names = [f"{item['category']}.{item['key']}" for item in theirs["candidates"]]
    return _field_differences("reply", {**theirs, "candidates": names}, ours)


def _forget_reply(theirs: Fields, ours: Fields) -> list[tuple[str, str]]:
    return _field_differences("reply", theirs["removed"], ours["removed"])


def _recall_reply(theirs: Fields, ours: Fields) -> list[tuple[str, str]]:
    return _entry_differences("reply", theirs["entries"], ours["entries"])


def _search_reply(theirs: Fields, ours: Fields) -> list[tuple[str, str]]:
    return _entry_differences("found", _found(theirs), _found(ours))


def _found(reply: Fields) -> Fields:
    return {f"{item['category']}.{item['key']}": item["entry"] for item in reply.get("results", ())}


def _page_reply(theirs: Fields, ours: Fields) -> list[tuple[str, str]]:
    (name,) = theirs
    if theirs[name].strip() == ours[name].strip():
        return []
    if not ours[name]:
        return [("page empty", theirs[name])]
    sections = [_sections(page[name]) for page in (theirs, ours)]
    if [*map(sorted, sections[0])] == [*map(sorted, sections[1])]:
        return [("page order", "")]
    lines = [[line for section in page for line in section] for page in sections]
    return [("page text", f"{[line for line in one if line not in other]}") for one, other in (lines, lines[::-1])]


def _sections(page: str) -> list[list[str]]:
    """The items of each section; what stands on several lines is one item."""
    return [re.split(r"\n(?=- )", section) for section in re.split(r"\n+(?=## )", page.strip())]


def _reflect_reply(theirs: Fields, ours: Fields) -> list[tuple[str, str]]:
    views = []
    for reply in (theirs, ours):
        view: Fields = {}
        for name in ("stale_entries", "archival_candidates"):
            view[name] = sorted(f"{item['category']}.{item['key']}" for item in reply[name])
        view["confidence_updates"] = sorted(
            (f"{item['category']}.{item['key']}", item["current_confidence"], item["proposed_confidence"])
            for item in reply["confidence_updates"]
        )
        view["summary"] = {name: reply["summary"][name] for name in ("total_entries", "active", "archived")}
        views.append(view)
    return _field_differences("reply", *views)


def _link_reply(theirs: Fields, ours: Fields) -> list[tuple[str, str]]:
    return _field_differences("reply", {name: value for name, value in theirs.items() if name != "reason"}, ours)


_REPLIES: dict[str, Callable[[Fields, Fields], list[tuple[str, str]]]] = {
    "remember": _remember_reply,
    "forget": _forget_reply,
    "recall": _recall_reply,
    "search": _search_reply,
    "export_memories": _page_reply,
    "about_me": _page_reply,
    "about_us": _page_reply,
    "reflect": _reflect_reply,
    "add_link": _link_reply,
}


# -- the replay --------------------------------------------------------------------------------


class Replay:
    """One recording, replayed in a folder of its own."""

    def __init__(self, name: str, folder: Path, environment: Mapping[str, str]) -> None:
        self.recording = recording(name)
        self.folder = folder
        self.state = folder / ".ai-state"
        self.environment = dict(environment)
        self.differences: list[Difference] = []
        self.now = self._first_moment()
        self.is_first = True

    def _first_moment(self) -> str:
        text = json.dumps(self.recording["steps"])
        found = [self.recording.get("recorded_at", ""), *sorted(_MICROSECONDS.findall(text))]
        return next((moment[:19] for moment in found if moment), "2026-11-15T00:00:00")

    def run(self, data: bytes | None, edits: Mapping[int, bytes | None] | None = None) -> None:
        """Make every call. `edits` are what somebody else did to the file before a call."""
        self.state.mkdir(parents=True)
        if data and len(data) > LARGE_BYTES:
            init_memory(self.project())  # without it, the index is made anew for every call
        self.theirs = Theirs(None, TAKEN_OUT.get(self.recording["name"], 0))
        self.edit(data)
        for number, step in enumerate(self.recording["steps"]):
            if number in (edits or {}):
                self.edit((edits or {})[number])
            self.step(number, step)

    def edit(self, data: bytes | None) -> None:
        self.theirs.data = data
        self._write(data)

    def _write(self, data: bytes | None) -> None:
        shutil.rmtree(self.state / "local", ignore_errors=True)
        path = self.state / "memory.json"
        if data is None:
            path.unlink(missing_ok=True)
        else:
            path.write_bytes(data)

    def step(self, number: int, step: Fields) -> None:
        tool = step.get("tool") or step["resource"]
        self.now = max([self.now, *_MICROSECONDS.findall(json.dumps(step))])
        before, known = self.theirs.data, self._data()
        if "tool" in step:
            self.theirs.follow(step, is_first=self.is_first)
            self.is_first = False
        if step.get("isError") or tool == "memory://schema":
            self.differences.append(Difference(number, tool, "protocol", str(step.get("note"))))
            return
        if tool == "memory://stats":
            tool, reply = "status", json.loads(step["text"])
        else:
            (reply,) = step["content_text_parsed"]
        ours = Tools(self.project()).call(tool, step.get("arguments") or {})
        self._check_form(known)
        found = self._reply_apart(tool, reply, ours)
        apart = self._documents_apart()
        told = self._told(tool, reply, ours, apart, known if found else None)
        files = self._files_apart(step)
        if tool in READING:
            is_same = self._data() == known
            assert is_same or _is_older(known), "reading wrote the document"
            if is_same and before != self.theirs.data:
                files.append(("written by reading", ""))
        if apart:
            self._write(self.theirs.data)
        self.differences += [Difference(number, tool, kind, detail) for kind, detail in (*found, *told, *files)]

    def _check_form(self, known: bytes | None) -> None:
        """What we write has the form that the original gives a document, and our times have whole seconds."""
        data = self._data()
        if data is not None and data != known:
            assert data == rendered(parsed(data))
            assert len(re.findall(rb"2026-11-15T[\d:]+\.", data)) <= len(
                re.findall(rb"2026-11-15T[\d:]+\.", known or b"")
            )

    def _reply_apart(self, tool: str, theirs: Fields, ours: Fields) -> list[tuple[str, str]]:
        if "file_size" in theirs and "file_size" in ours and self._data() != self.theirs.data:
            ours["file_size"] = theirs["file_size"]  # of another document
        found = reply_differences(tool, theirs, ours)
        return found if not self._is_newer() else [item for item in found if not _is_count(item)]

    def _told(
        self, tool: str, theirs: Fields, ours: Fields, apart: list[tuple[str, str]], known: bytes | None
    ) -> list[tuple[str, str]]:
        """The differences of the documents that do not follow from how the answers differ."""
        if known is not None and _is_refused(ours):
            assert self._data() == known
            return []  # that it was refused is the difference, whatever the original wrote
        if self._is_newer() and tool in READING:
            counted = any(_is_count(item) for item in apart)
            return [item for item in apart if not _is_count(item)] + [("not counted", "")] * counted
        if tool == "search":
            one, other = (set(_found(reply)) for reply in (theirs, ours))
            alone = {f"{name}:" for name in one ^ other}
            return [item for item in apart if not (_is_count(item) and item[1].startswith(tuple(alone)))]
        return apart

    def _is_newer(self) -> bool:
        document = parsed(self._data())
        return isinstance(document, dict) and document.get("schema_version") in ("1.3", "2.0")

    def project(self) -> Project:
        return opened(self.folder, self.environment, self.now)

    # -- files --

    def _data(self) -> bytes | None:
        path = self.state / "memory.json"
        return path.read_bytes() if path.exists() else None

    def document(self) -> Any:
        """Our document as it is told: with what was read since it was last written."""
        document = parsed(self._data())
        if isinstance(document, dict) and isinstance(document.get("memories"), dict):
            readings = pending_readings(str(self.folder))
            for name, number in readings.counts.items():
                category, _, key = name.partition(".")
                entry = document["memories"][category][key]
                entry["access_count"] = entry.get("access_count", 0) + number
                moments = [instant(entry.get("last_accessed") or ""), instant(readings.last[name])]
                if moments[0] is None or moments[1] is None or moments[0] < moments[1]:
                    entry["last_accessed"] = readings.last[name]
        return document

    def _documents_apart(self) -> list[tuple[str, str]]:
        theirs, ours = self.theirs.document, self.document()
        if theirs is None and ours is None:
            same = self.theirs.data == self._data()
            return [] if same else [("document", "the bytes of a file that nobody can read")]
        if theirs is None or ours is None:
            return [("document only here" if theirs is None else "document only there", "")]
        found = []
        if _is_older(self.theirs.data) and not _is_older(self._data()):
            found.append(("document version", f"{theirs['schema_version']} -> {ours['schema_version']}"))
            _migrate(theirs)
        return found + document_differences(theirs, ours)

    def _files_apart(self, step: Fields) -> list[tuple[str, str]]:
        if "files_after" not in step:
            return []
        theirs = set(step["files_after"])
        ours = {path.name for path in self.state.iterdir() if path.is_file()}
        for name in ours ^ theirs:  # so that the next call is judged on its own
            if name in ours and name != "memory.json":
                (self.state / name).unlink()
            elif name == "memory.lock":
                (self.state / name).touch()
        found = [(f"file missing {name}", "") for name in sorted(theirs - ours)]
        found += [(f"file added {name}", "") for name in sorted(ours - theirs)]
        if "backup_json_after" in step and step["backup_json_after"] != parsed((self.state / BACKUP).read_bytes()):
            found.append(("backup", f"has the removed entry: {step['backup_contains_removed_entry']}"))
        return found


def _is_older(data: bytes | None) -> bool:
    document = parsed(data)
    return isinstance(document, dict) and document.get("schema_version") in ("1.0", "1.1")


def parsed(data: bytes | None) -> Any:
    """The document in a file; None where there is none, or nothing that is one."""
    try:
        return None if data is None else json.loads(data.decode("utf-8"))
    except ValueError:
        return None
