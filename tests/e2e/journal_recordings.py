"""Recorded sessions of the original program with a journal: laid out, replayed command by command, compared.

Before each command the project holds what the original had then, so that every command is judged on its own. What a
recording does not tell, because it was done by hand between two commands, stands in `MEANWHILE`.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from commanding import Said
from journal_here import Journal

from quire.capture.trusted_sources import agree_to
from quire.files.world import World
from quire.layers.journal.canonical import content_hash, decode_json, file_bytes
from quire.layers.journal.store import load_sources
from quire.model.errors import InvalidStore

RECORDINGS = Path(__file__).parents[3] / "shared" / "fixtures" / "journal"
NAMES = sorted(path.parent.name for path in RECORDINGS.glob("*/commands.json"))
CAREFUL = ("validate", "sync", "automate run-once", "integrate")
"""Verbs that end with 1 although they did what they could."""
WRITING = ("init", "update", "recall", "add", "sync", "automate run-once")
TOP = ("", "--help", "--version", "frobnicate", "help", "import")
"""First words that are no verb: what the program itself makes of them is asked of the installed one."""
ENTRY_FILES = ("AGENTS.md", "CLAUDE.md", "README.md", "docs/ENTRY.md")
OF_THIS_MACHINE = (".agent-memory/local/", ".agent-memory/recovery/")
CODEX = "home/.codex/config.toml"
"""The one file outside of the project that the original writes to."""

Fields = dict[str, Any]
Files = dict[str, bytes]


class Difference(NamedTuple):
    step: int
    verb: str
    kind: str
    detail: str


# -- what was said -----------------------------------------------------------------------------

_LABEL = re.compile(r"(?:- )?([A-Za-z][A-Za-z0-9 ]*): (.*)")
_GROUP = re.compile(r"- \[(local|imports|mixed)\] .* events=(\d+) paths=")
_COMMAND = re.compile(r"`?(?:agent-memory|memory journal) ((?:automate )?[a-z][a-z-]*(?: --all)?)")
_CITED = re.compile(r"- \[(\w+)\] (\S+) ")
_WORDS = {
    "Provider preference": "Provider",
    "File Diffs": "File diffs",
    "startedAt": "",
    "lastHeartbeatAt": "",
    "pid": "",
}
"""Labels by other names of theirs; those without one are never the same twice."""
NOT_ENOUGH = "enough evidence to answer this"


def said_view(verb: str, text: str, base: str) -> Fields:
    """What a command said as fields: labels with their values, lists by the heading that they stand under."""
    if verb == "validate":
        return {match[2]: match[1] for match in re.finditer(r"^(PASS|WARN|FAIL) (\S+): ", text, re.M)}
    if verb == "query":
        return _query_view(text)
    if verb == "integrate":
        return _integrate_view(text.replace(f"{base}/", ""))
    found: Fields = {}
    heading = ""
    for line in text.replace(f"{base}/repo/", "").splitlines():
        if line.endswith(":") and not line.startswith(("-", " ")):
            heading = _WORDS.get(line[:-1], line[:-1])
        elif line.strip():
            _note_line(found, heading, line)
    return found


def _note_line(found: Fields, heading: str, line: str) -> None:
    if heading == "File diffs":
        found.setdefault(heading, set())
        if line.startswith("--- "):
            found[heading].add(line[4:])
    elif heading == "Planned changes" and line.startswith("- "):
        found.setdefault(heading, []).append(line[2:].partition(":")[0])
    elif heading == "Suggested Next Action":
        match = _COMMAND.search(line)
        found[heading] = match[1] if match else found.get(heading, "none")
    elif heading == "Validation commands" and line.startswith("- "):
        found.setdefault(heading, []).append(line[2:].partition(" (")[0])
    elif heading == "Last runs":
        found[heading] = "some"
    elif match := _GROUP.match(line):
        found.setdefault("groups", []).append((match[1], int(match[2])))
    elif match := re.match(r"\s*- (\S*): (imported=\d+ skipped=\d+ failed=\d+)", line):
        found[f"synced {match[1]}"] = match[2]
    elif match := re.match(r"- (\S*): (status=.*)", line):
        found[f"source {match[1]}"] = match[2]
    elif match := re.match(r"\s+failed (\S+): ", line):
        found.setdefault("failed", set()).add(match[1].rpartition("/")[2])
    elif match := re.search(r"source (\S*) \((\S+)\) -> (\S+)$", line):
        found["source"] = match.groups()
    elif match := re.match(r"Automation daemon (?:is )?(started|stopped|already running|not running)", line):
        found["daemon"] = match[1]
    elif line.startswith("Nothing to recall."):
        found["nothing to recall"] = True
    elif match := _LABEL.fullmatch(line):
        label = _WORDS.get(match[1], match[1])
        scope = f"{heading}: " if heading in ("Memory Summary", "Checkpoint Summary", "Checkpoint Drift") else ""
        if label:
            found[scope + label] = _value(label, match[2])


def _value(label: str, text: str) -> str:
    """A value without what only one of the two adds to it, and without sentences."""
    if label == "latestCheckpointId":
        return text.partition(" (of ")[0]
    if label.startswith(("Added ", "Removed ", "Merged ", "added ", "removed ", "merged ")):
        return ", ".join(sorted(text.split(", ")))
    if label in ("warnings", "errors", "last errors", "last warnings", "noopReason"):
        return "some"
    if label in ("pruneSkippedReason", "prune skippedReason"):
        return "off" if "disabled" in text or "switched off" in text else "nothing to do"
    return text


def _query_view(text: str) -> Fields:
    if text.startswith("{"):
        fields = json.loads(text)
        cited = {(item["sourceType"], item["sourceId"], item["projectionPath"]) for item in fields["citations"]}
        keys = {*fields, *(key for item in fields["citations"] for key in item)}
        return {
            "form": sorted(keys) if cited else "no citations",
            "mode": fields["mode"],
            "enough": NOT_ENOUGH not in fields["answer"],
            "cited": sorted(item[:2] for item in cited),
        }
    labels = [line for line in text.splitlines() if line in ("Answer:", "Why this answer:", "Citations:")]
    mode = re.search(r"^Mode: (\w+)$", text, re.M)
    return {
        "form": labels,
        "mode": mode and mode[1],
        "enough": NOT_ENOUGH not in text,
        "cited": sorted(match.groups() for match in _CITED.finditer(text)),
    }


_PLANNED = re.compile(r"  \[(project|user)\] ([A-Z]+) (\S+): ")
_ADVISED = re.compile(r"integrate(?: claude| codex)?(?: --repair)?")


def _integrate_view(text: str) -> Fields:
    """What is said of each component, without the sentences."""
    if text.startswith("{"):
        fields = json.loads(text)
        parts = {f"{client}.{key}": part for client in ("claude", "codex") for key, part in fields[client].items()}
        return {
            "form": sorted({*fields, *(key for part in parts.values() for key in part)}),
            **{name: (part["status"], part["path"], part["scope"]) for name, part in parts.items()},
            **{key: fields[key] for key in ("target", "healthy", "missingItems")},
            "warnings": [warning.partition(":")[0] for warning in fields["warnings"]],
            "suggested next action": _advised(fields["suggestedNextAction"]),
        }
    found: Fields = {}
    for line in text.splitlines():
        if match := _PLANNED.match(line):
            found[f"{match[1]} {match[3]}"] = match[2]
        elif re.fullmatch(r"(Planned|Changes|Repairs) [a-z]+:", line):
            found["heading"] = line
        elif line.startswith("Nothing to repair"):
            found["nothing to repair"] = True
        elif match := _LABEL.fullmatch(line):
            label, value = match[1].lower(), match[2]
            if label == "warnings":
                value = ", ".join(part.partition(":")[0] for part in value.split(" | "))
            elif label in ("suggested next action", "suggested verification"):
                value = _advised(value)
            elif label in ("note", "additional setup"):
                label, value = (f"{label} of settings" if "config.json" in value else label), "some"
            found[label] = value
    return found


def _advised(text: str) -> str:
    match = _ADVISED.search(text)
    return match[0] if match else "none"


def said_differences(verb: str, theirs: str, ours: str, base: str) -> list[tuple[str, str]]:
    before, after = (said_view(verb, text, base) for text in (theirs, ours))
    found = []
    for name in {**before, **after}:
        if name not in after:
            found.append((f"not said {name}", str(before[name])))
        elif name not in before:
            level = f" {after[name]}" if verb == "validate" else ""
            found.append((f"said {name}{level}", str(after[name])))
        elif name == "failed" and before[name] != after[name]:
            found += [(f"fails {item}", "") for item in sorted(after[name] - before[name])]
            found += [(f"does not fail {item}", "") for item in sorted(before[name] - after[name])]
        elif before[name] != after[name]:
            change = f" {before[name]} -> {after[name]}" if verb == "validate" else ""
            found.append((f"says {name}{change}", f"{before[name]} -> {after[name]}"))
    return found


# -- what was written --------------------------------------------------------------------------


def store_view(files: Files) -> Fields:
    """What a journal holds, by flat names; of a bundle its titles, because who proposed it differs."""
    found: Fields = {}
    with contextlib.suppress(KeyError, ValueError, TypeError):
        state = decode_json(files[".agent-memory/state.json"])
        bundle = state["bundle"]
        found |= {f"state {name}": state[name] for name in ("schemaVersion", "generatorVersion", "generatedAt")}
        found["state provider"] = state["provider"]["name"]
        found["state bundleHash holds"] = state["bundleHash"] == content_hash(bundle)
        found |= {f"bundle {key}": sorted(item["title"] for item in bundle[key]) for key in ("gotchas", "nextSteps")}
        found["bundle entry file"] = bundle["project"]["recommendedEntryFile"]
        found["bundle validation"] = bundle["currentFocus"]["validationSnapshot"]["status"]
        found |= _flat("maintenance", state["maintenance"])
    with contextlib.suppress(KeyError, ValueError):
        config = json.loads(files[".agent-memory/config.json"])
        config.get("query", {}).pop("templates", None)
        found |= _flat("config", config)
    with contextlib.suppress(KeyError, ValueError, TypeError):
        for source in json.loads(files[".agent-memory/sources.json"]):
            error = source["lastSyncError"] and "some"
            source.pop("allFolders", None)
            found |= _flat(f"source {source['id']}", {**source, "lastSyncError": error})
    found |= _event_view(files.get(".agent-memory/history/events.jsonl", b""), "event")
    found |= _checkpoints_and_batches(files)
    with contextlib.suppress(KeyError, ValueError):
        run = json.loads(files[".agent-memory/automation/latest-run.json"])
        found |= {f"run {name}": run[name] for name in ("startedAt", "status", "provider")}
        found |= {f"run {name}": bool(run[name]) for name in ("errors", "warnings")}
        results = [{**item, "failures": len(item["failures"])} for item in run["importSync"]["results"]]
        found |= _flat("run sync", {**run["importSync"], "results": results})
        found |= _flat("run recall", {**run["recall"], "noopReason": run["recall"]["noopReason"] and "some"})
        found |= _flat("run prune", {**run["prune"], "skippedReason": run["prune"]["skippedReason"] and "some"})
    return found


def _flat(word: str, value: Any) -> Fields:
    if not isinstance(value, dict):
        return {word: value}
    return {name: leaf for key, item in value.items() for name, leaf in _flat(f"{word} {key}", item).items()}


def _event_view(data: bytes, word: str) -> Fields:
    """Events by what they are of, not by their numbers: those shift where only one program imports a session."""
    found: Fields = {}
    seen: list[str] = []
    for line in data.splitlines():
        with contextlib.suppress(ValueError, KeyError, TypeError):
            event = decode_json(line)
            name = f"{event['sourceId']}:{event['externalItemId'] or event['sourceRef']}".replace(" ", "_")
            seen.append(name)
            shown = f"{word} <{name}#{seen.count(name)}>"
            found |= {f"{shown} {field}": event[field] for field in ("kind", "createdAt", "sourceRef")}
            if event["kind"] == "imported_session":
                found[f"{shown} contentHash"] = event["contentHash"]
    return found


def _checkpoints_and_batches(files: Files) -> Fields:
    found: Fields = {}
    for path, data in files.items():
        if match := re.fullmatch(r"\.agent-memory/history/checkpoints/(\S+)\.json", path):
            with contextlib.suppress(ValueError, KeyError):
                checkpoint = decode_json(data)
                holds = checkpoint["bundleHash"] == content_hash(checkpoint["bundle"])
                view = {**{name: checkpoint[name] for name in ("id", "createdAt", "eventId")}, "hash holds": holds}
                found |= {f"checkpoint {match[1]} {name}": value for name, value in view.items()}
        elif match := re.fullmatch(r"\.agent-memory/archive/(prune-\w+)/(.*)", path):
            batch, name = match.groups()
            if name == "manifest.json":
                with contextlib.suppress(ValueError):
                    found |= _flat(f"batch {batch}", json.loads(data))
            elif name == "events.jsonl":
                found |= _event_view(data, f"batch {batch}")
            else:
                found[f"batch {batch} has {name}"] = True
    return found


_NUMBERED = re.compile(r"(?<= )(?:<.*>|chk-\d+|prune-\w+)(?= |$)")
_SOURCE = re.compile(r"^source \S* (?=\w+$)")
_CURSOR = re.compile(r"^maintenance (?:recallCursors (\w+) )?lastRecalled(At|EventId)$")


def store_differences(theirs: Files, ours: Files) -> list[tuple[str, str]]:
    """How the stores differ; the kinds name no events, checkpoints, batches or sources."""
    before, after = store_view(theirs), store_view(ours)
    found = []
    for name in {**before, **after}:
        if before.get(name, "absent") == after.get(name, "absent"):
            continue
        kind = _SOURCE.sub("source ", re.sub(r"\s+", " ", _NUMBERED.sub("", name)).strip())
        if match := _CURSOR.match(kind):
            if match[2] == "At" and before.get(name[:-2] + "EventId") != after.get(name[:-2] + "EventId"):
                continue
            is_ahead = (after.get(name) or "") > (before.get(name) or "")
            kind = f"cursor {match[1] or 'all'} {'ahead' if is_ahead else 'behind'}"
        elif name not in after or name not in before:
            whole = re.match(r"event|checkpoint|batch|run|maintenance|config|source|state|bundle", kind)
            of = re.match(r"event <(.*)#\d+>", name)
            shown = f"event {of[1].partition(':')[2]}" if of else whole[0] if whole else kind
            kind = f"{'no' if name not in after else 'new'} {shown}"
        found.append((kind, f"{name}: {before.get(name, 'absent')!r} -> {after.get(name, 'absent')!r}"))
    return found


def changed_files(before: Files, after: Files) -> dict[str, str]:
    """What became of which file, as the recordings tell it."""
    found = {}
    for name in {**before, **after}:
        if before.get(name) != after.get(name):
            found[name] = "created" if name not in before else "deleted" if name not in after else "modified"
    return found


def file_differences(theirs: Mapping[str, str], ours: Mapping[str, str]) -> list[tuple[str, str]]:
    found = []
    for name in sorted({**theirs, **ours}):
        before, after = theirs.get(name, "untouched"), ours.get(name, "untouched")
        if before != after:
            found.append((f"file {_shown(name)} {before} -> {after}", name))
    return list(dict.fromkeys(found))


def _shown(name: str) -> str:
    if name in ENTRY_FILES:
        return "entry"
    for part, word in ((".agent-memory/backup/", "backup"), (".agent-memory/local/", "local")):
        if name.startswith(part):
            return word
    for part in ("docs/agent-memory", ".agent-memory/history/checkpoints", ".agent-memory/archive"):
        if name.startswith(f"{part}/"):
            return part.rpartition("/")[2].replace("agent-memory", "page")
    return name.removeprefix(".agent-memory/").rpartition("/")[2]


_DONE = re.compile(r"exit (0 -> [1-9]|1 -> 0)|(not )?said nothing to recall|says recall applied")
_DONE_FOLLOWS = re.compile(
    r"(not )?sa(id|ys) (Planned changes|Memory Summary|Checkpoint Summary|File diffs|Recalled|noopReason)"
    r"|file |state |bundle |cursor |maintenance (latest|history)|checkpoint |event |run recall"
    r"|(no|new) (event agent-memory|checkpoint|batch|run|state|bundle|maintenance|config|source|cursor)"
)
_RAN = "says Automation run status"
_RAN_FOLLOWS = re.compile(r"(not )?sa(id|ys) |run |cursor |source last(Synced|Imported)|source updated")
_IMPORTED = re.compile(r"(no|new) event (?!agent-memory)|fails |does not fail ")
_IMPORTED_FOLLOWS = re.compile(
    r"(not )?sa(id|ys) (synced|failed|raw events|grouped items)|source last(Imported|Sync)"
    r"|maintenance historyEventCount|file (events|state|sources)\.json|run (sync|recall)|checkpoint eventId|bundle "
)


def _without_what_follows(verb: str, found: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Where one program did something that the other did not, that is the difference, and not all that came of it."""
    kinds = [kind for kind, _ in found]
    if any(map(_IMPORTED.match, kinds)):
        found = [item for item in found if not _IMPORTED_FOLLOWS.match(item[0])]
    if "exit 1 -> 3" in kinds:
        found = [item for item in found if not re.match(r"not said |no run|file latest-run", item[0])]
    if verb != "sync" and any(map(_DONE.fullmatch, kinds)):
        found = [item for item in found if not _DONE_FOLLOWS.match(item[0]) or _DONE.fullmatch(item[0])]
    if _RAN in kinds:
        found = [
            (f"ran {item[1]}", "") if item[0] == _RAN else item
            for item in found
            if item[0] == _RAN or not _RAN_FOLLOWS.match(item[0])
        ]
    return found


# -- what was done by hand ---------------------------------------------------------------------


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _package(text: str) -> Callable[[Replay], None]:
    return lambda replay: _write(replay.repo / "package.json", text.encode())


def _shortened(replay: Replay) -> None:
    folder = replay.base / "claude-home/transcripts"
    for name in ("12-long.jsonl", "13-growing.jsonl"):
        lines = (folder / name).read_bytes().splitlines(keepends=True)
        replay.kept[name] = b"".join(lines)
        (folder / name).write_bytes(b"".join(lines[:-1]))
    replay.kept["14-new.jsonl"] = (folder / "14-new.jsonl").read_bytes()
    (folder / "14-new.jsonl").unlink()


def _came(*names: str) -> Callable[[Replay], None]:
    def write(replay: Replay) -> None:
        for name in names:
            _write(replay.base / "claude-home/transcripts" / name, replay.kept[name])
        replay.age_sessions()

    return write


def _more_in_the_archive(replay: Replay) -> None:
    archive = RECORDINGS / "retention/repo-before-expiry/.agent-memory/archive"
    for name in ("notes.txt", "prune-broken/manifest.json"):
        replay.recorded[f".agent-memory/archive/{name}"] = (archive / name).read_bytes()
    replay.take_over()


def _no_archive(replay: Replay) -> None:
    replay.kept |= {name: data for name, data in replay.recorded.items() if name.startswith(".agent-memory/archive/")}
    replay.recorded = {name: data for name, data in replay.recorded.items() if name not in replay.kept}
    replay.recorded[".agent-memory/archive"] = b"no folder at all"
    replay.take_over()


def _archive_again(replay: Replay) -> None:
    del replay.recorded[".agent-memory/archive"]
    replay.recorded |= replay.kept
    replay.take_over()


def _hard_to_wire(replay: Replay) -> None:
    """Files of Claude Code that cannot be read, as the original left them."""
    held = RECORDINGS / "extras/snapshots/017-integrate-codex"
    for name in (".mcp.json", ".claude/settings.json"):
        replay.recorded[name] = (held / name).read_bytes()
    replay.take_over()


def _without_servers(replay: Replay) -> None:
    del replay.recorded[".mcp.json"]
    replay.take_over()


_TABLES = b"""[mcp_servers.agent-memory]
command = "old"
[mcp_servers.agent-memory.env]
K = "v"
[other]
x = 1

[last]
y = 2
"""


def _own_tables(replay: Replay) -> None:
    replay.codex = _TABLES
    replay.take_over()


MEANWHILE: dict[tuple[str, int], Callable[[Replay], None]] = {
    ("scan-edge", 1): _package('{"name": "x", "main": "src"}\n'),
    ("scan-edge", 2): _package('{"name": "x", "exports": {".": "../secret.txt"}}\n'),
    ("scan-edge", 3): _package("{oops"),
    ("basic-node", 31): lambda replay: shutil.rmtree(replay.base / "claude-home/projects"),
    ("broken-source", 1): _shortened,
    ("broken-source", 5): lambda replay: (replay.base / "vanishing").mkdir(),
    ("broken-source", 6): lambda replay: (replay.base / "vanishing").rmdir(),
    ("broken-source", 10): _came("12-long.jsonl", "13-growing.jsonl"),
    ("broken-source", 16): _came("14-new.jsonl"),
    ("extras", 13): _hard_to_wire,
    ("extras", 18): _without_servers,
    ("extras", 24): _own_tables,
    ("mcp", 4): lambda replay: replay.note_and_take_over(4),
    ("retention", 27): _more_in_the_archive,
    ("retention", 38): _no_archive,
    ("retention", 40): _archive_again,
}


# -- the replay --------------------------------------------------------------------------------

_BLOCKS = re.compile(
    rb"<!-- agent-memory:(entry|codex-integration).*?<!-- agent-memory:\1 end -->\r?\n(?:\r?\n)?", re.S
)
_CHECKS = "#!/bin/sh\necho smoke ok\n"
"""The tests of the recorded projects: programs of ours, so that nothing of this machine is run."""


class Replay:
    """One recording, replayed in a project of its own."""

    def __init__(self, name: str, folder: Path, environment: Mapping[str, str]) -> None:
        self.name = name
        self.recording = json.loads((RECORDINGS / name / "commands.json").read_bytes())
        self.base = folder / name
        self.repo = self.base / "repo"
        self.recorded: Files = {}
        self.clean: Files = {}
        self.is_known = True
        """Whether `recorded` is what the original had; not every command left a copy."""
        self.has_daemon = False
        self.kept: Files = {}
        self.codex: bytes | None = None
        """The configuration of Codex, in the home."""
        self.differences: list[Difference] = []
        self._lay_out(folder)
        programs = str(folder / "programs")
        now = self.recording["steps"][0]["now"]
        more = {"MEMORY_NOW": now, "AGENT_MEMORY_CODEX_CONFIG_PATH": str(self.base / CODEX)}
        self.here = Journal(self.repo, {**environment, **more, "PATH": f"{programs}:{environment['PATH']}"})

    def _lay_out(self, folder: Path) -> None:
        """The project as it was before the first command, and the sessions."""
        first: dict[str, str] = {}
        for step in self.recording["steps"]:
            for name, what in {**step.get("changed", {})}.items():
                first.setdefault(name, what)
        skipped = shutil.ignore_patterns(
            "snapshots", "commands.json", "*calls.jsonl", ".agent-memory", "home", "repo-*"
        )
        shutil.copytree(RECORDINGS / self.name, self.base, ignore=skipped)
        for path in (self.base, *self.base.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        for name in ("docs/agent-memory", ".claude"):
            shutil.rmtree(self.repo / name, ignore_errors=True)
        for name, what in {**first, "repo/.mcp.json": "created"}.items():
            if what == "created":
                (self.base / name).unlink(missing_ok=True)
        for name in ENTRY_FILES:
            if (path := self.repo / name).exists():
                path.write_bytes(_BLOCKS.sub(b"", path.read_bytes()))
        if self.recording["isGitRepo"]:
            subprocess.run(["git", "init", "--quiet"], cwd=self.repo, check=True)
        for name in ("npm", "pnpm", "pytest", "python", "cargo"):
            _write(folder / "programs" / name, _CHECKS.encode())
            (folder / "programs" / name).chmod(0o755)
        self.recorded = {name: (self.repo / name).read_bytes() for name in ENTRY_FILES if (self.repo / name).exists()}
        self.age_sessions()

    def age_sessions(self) -> None:
        """A session that was written a moment ago is left for later by an automatic run."""
        at = datetime.fromisoformat(self.recording["steps"][0]["now"]).timestamp() - 86_400
        for path in self.base.rglob("*.jsonl"):
            if self.repo not in path.parents:
                os.utime(path, (at, at))

    def run(self) -> None:
        try:
            for step in self.recording["steps"]:
                if action := MEANWHILE.get((self.name, step["step"])):
                    action(self)
                if "handEdit" in step:
                    self._edit(step)
                else:
                    self._step(step)
        finally:
            if self.has_daemon:
                self.here.journal("automate", "stop")

    # -- steps --

    def _edit(self, step: Fields) -> None:
        name = step["handEdit"].removeprefix("repo/")
        if not name:
            self.recorded, self.clean, self.is_known = dict(self.clean), {}, True
        elif step["handEdit"] == CODEX:
            self.codex = step["after"].encode()
        elif not step["handEdit"].startswith("repo/"):
            return
        else:
            self.clean = self.clean or dict(self.recorded)
            if step["after"] is None:
                self.recorded.pop(name, None)
            else:
                self.recorded[name] = self._ours(step["after"].encode("utf-8", "surrogatepass"))
        self.take_over()

    def _step(self, step: Fields) -> None:
        words = step["argv"][1:]
        verb = " ".join(words[: 2 if words[:1] == ["automate"] else 1])
        had_daemon = self.has_daemon
        before, faults = self.files(), self._faults(verb)
        said = self._said(step, verb)
        after = self.files()
        changed = changed_files(before, after)
        if self.has_daemon:
            # Its first cycle, and its signs of life, fall where they fall.
            changed = {} if had_daemon else {name: what for name, what in changed.items() if "/daemon." in name}
        self._note(step)
        found = self._judged(step, verb, said)
        files = file_differences(self._their_changes(step), changed)
        stores = store_differences(self.recorded, after) if self.is_known and not self.has_daemon else []
        found = [*found, *files, *stores]
        if step["clock"] != "frozen" or "NODE_OPTIONS" in step["envOverrides"]:
            found = [item for item in found if not item[0].endswith("At")]  # no two clocks stand alike
        found = _without_what_follows(verb, found)
        if said.code > 1 or (said.code and verb not in CAREFUL):
            found += [("written though refused", name) for name in changed]
        found += [(f"made faulty {code}", "") for code in self._faults(verb) - faults]
        self.differences += [Difference(step["step"], verb, kind, detail) for kind, detail in dict.fromkeys(found)]
        if step["changed"] or changed:
            self.take_over()

    def _said(self, step: Fields, verb: str) -> Said:
        self.here.env["MEMORY_NOW"] = step["now"]
        words = step["argv"][1:]
        if (words or [""])[0] not in TOP and step["providerOnPath"]:
            # Where it asked a model, we work without one.
            words = [word for word in words if word not in ("--provider=claude", "--provider=codex")]
        if verb == "integrate" and "--status" not in words:
            # It takes for granted that it may write to the home.
            words.append("--yes")
        done = self.here.program("agent-memory", *words)
        said = Said(done.code, done.out, done.err)
        if verb in ("automate start", "automate ensure-running") and "started" in said.out:
            self.has_daemon = True
            self._await_cycle()
        elif verb == "automate stop":
            self.has_daemon = False
        return said

    def _faults(self, verb: str) -> set[str]:
        """What fails in the journal as it is; a command that writes may only make that less."""
        if verb not in WRITING or self.has_daemon or not (self.repo / ".agent-memory/state.json").exists():
            return set()
        found = self.here.journal("validate", "--json").json["data"]["findings"]
        return {item["code"] for item in found if item["level"] == "fail"}

    def _await_cycle(self) -> None:
        """The process runs its first cycle at once; what follows is judged after that."""
        runs = self.repo / ".agent-memory/local/runs.jsonl"
        until = time.monotonic() + 30
        while not (runs.exists() and runs.read_bytes()):
            assert time.monotonic() < until, "the process runs no cycle"
            time.sleep(0.02)

    def _judged(self, step: Fields, verb: str, said: Said) -> list[tuple[str, str]]:
        found = []
        if said.code != step["exitCode"]:
            found.append((f"exit {step['exitCode']} -> {said.code}", said.err or said.out))
        if (said.code == 0) is (step["exitCode"] == 0) or verb in CAREFUL:
            theirs = step["stdout"].replace(f"/repos/{self.name}", str(self.base))
            if verb in ("", "--help"):
                found += [
                    (f"no verb {name}", "")
                    for name in re.findall(r"^  agent-memory (\w+)", theirs, re.M)
                    if not re.search(rf"^  {name} ", said.out, re.M)
                ]
            elif "-h" not in step["argv"] and not (step["stderr"] and said.err):
                found += said_differences(verb, theirs, said.out, str(self.base))
        return found

    # -- files --

    def _ours(self, data: bytes) -> bytes:
        return data.replace(f"/repos/{self.name}".encode(), str(self.base).encode())

    def note_and_take_over(self, number: int) -> None:
        """What the original had after a step is there before it: something else made it."""
        self._note({"step": number})
        self.take_over()

    def _note(self, step: Fields) -> None:
        """The files that the original had after this step."""
        snapshots = sorted((RECORDINGS / self.name / "snapshots").glob(f"{step['step']:03}-*"))
        if snapshots:
            (folder,) = snapshots
            self.recorded = {
                path.relative_to(folder).as_posix(): self._ours(path.read_bytes())
                for path in folder.rglob("*")
                if path.is_file()
            }
            self._note_outside(step)
            self.is_known = True
        elif step["changed"]:
            self.is_known = False
        if CODEX in step.get("changed", ()):
            self.codex = (RECORDINGS / "basic-node" / CODEX).read_bytes()

    def _note_outside(self, step: Fields) -> None:
        """Not every file outside of the journal was kept after each command; the last state of them is here."""
        for name in (name.removeprefix("repo/") for name in step.get("changed", ()) if name.startswith("repo/")):
            held = RECORDINGS / self.name / "repo" / name
            if name not in self.recorded and not name.startswith((".agent-memory/", "docs/agent-memory/")):
                self.recorded[name] = held.read_bytes()

    def _their_changes(self, step: Fields) -> dict[str, str]:
        part = "/daemon." if self.has_daemon else "/"
        ours = ("repo/", CODEX)
        found = {name: what for name, what in step["changed"].items() if name.startswith(ours) and part in name}
        return {name.removeprefix("repo/"): what for name, what in found.items()}

    def files(self) -> Files:
        """Every file of the project, without those of git and those of this machine."""
        found = {}
        for folder, folders, names in os.walk(self.repo):
            folders[:] = [name for name in folders if name != ".git"]
            for name in names:
                path = Path(folder, name)
                shown = path.relative_to(self.repo).as_posix()
                if not shown.startswith(OF_THIS_MACHINE) and not name.endswith(".tmp"):
                    found[shown] = path.read_bytes()
        if (self.base / CODEX).exists():
            found[CODEX] = (self.base / CODEX).read_bytes()
        return found

    def take_over(self) -> None:
        """The project holds what the original had, so that the next step is judged on its own."""
        if self.has_daemon or not self.is_known:
            return
        for name in (".agent-memory", "docs/agent-memory", ".claude"):
            shutil.rmtree(self.repo / name, ignore_errors=True)
        for name in (*ENTRY_FILES, ".mcp.json", f"../{CODEX}"):
            (self.repo / name).unlink(missing_ok=True)
        if self.codex is not None:
            _write(self.base / CODEX, self.codex)
        for name, data in self.recorded.items():
            _write(self.repo / name, _of_all_folders(data) if name == ".agent-memory/sources.json" else data)
        agree_to_all(self.here)


def agree_to_all(here: Journal) -> None:
    """The user of this machine agrees to have every source read, which the original takes for granted."""
    world = World(
        cwd=str(here.root),
        env=here.env,
        now=lambda: datetime.fromisoformat(here.env["MEMORY_NOW"]),
        token=lambda: "0123456789abcdef",
        sleep=time.sleep,
        pid=os.getpid(),
    )
    with contextlib.suppress(InvalidStore):
        for source in load_sources(str(here.root))[0].sources:
            agree_to(str(here.root), source, world)


def _of_all_folders(data: bytes) -> bytes:
    """The original imports sessions wherever they ran; ours are told to, so that the rest can be compared."""
    sources = json.loads(data)
    is_list = isinstance(sources, list) and sources
    return file_bytes([{**source, "allFolders": True} for source in sources]) if is_list else data
