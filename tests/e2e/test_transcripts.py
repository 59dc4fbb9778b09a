"""Recorded sessions of the original program, replayed step by step with the installed command.

After each step the graph on the disk is compared with the graph that the original had then, and what the command
answered with what the original answered. Every difference must stand in `EXPECTED` with the reason that
`docs/reference/compatibility.md` gives for it; an entry that no longer occurs fails the test as well.
"""

import functools
import io
import json
import os
import shutil
import subprocess
import tarfile
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from installed import Memory, Run
from quire.model.seals import is_seal
from quire.surfaces.cli.main import COMMANDS

ROOT = Path(__file__).parents[2]
RECORDINGS = ROOT.parent / "shared" / "fixtures" / "graph"
PAGE = ROOT / "docs" / "reference" / "compatibility.md"
OUTSIDE = ("AGENTS.md", "CLAUDE.md", ".gitignore")


class Expected(NamedTuple):
    """Kinds of difference, in which steps of which recording, and the key of their reason in the page."""

    fixture: str
    steps: tuple[int, ...]
    kinds: tuple[str, ...]
    reason: str


INITS = {
    "cafe-lumiere": (3,),
    "error-catalog": (3,),
    "harbor-invoices": (3, 14),
    "map-stress": (3,),
    "mcp-and-viewer": (3,),
    "no-git-notes": (2,),
    "orbit-drift": (3,),
    "probes": (3,),
    "probes-2": (3,),
    "sk-trap": (3,),
}
ACCEPTED, REFUSED = "exit 1 -> 0", "exit 0 -> 1"
OTHER_NODES = ("node missing", "node added", "event missing", "event added", "save created")
EXPECTED = (
    *(Expected(fixture, steps, ("node body",), "placeholder") for fixture, steps in INITS.items()),
    *(Expected(fixture, steps, ("event added",), "init-event") for fixture, steps in INITS.items()),
    *(Expected(fixture, steps, ("file missing",), "claude-file") for fixture, steps in INITS.items()),
    *(
        Expected(fixture, INITS[fixture], ("node title",), "project-names")
        for fixture in ("cafe-lumiere", "harbor-invoices", "mcp-and-viewer", "no-git-notes", "orbit-drift", "probes")
    ),
    Expected("cafe-lumiere", (4, 5), OTHER_NODES, "slugs"),
    Expected("cafe-lumiere", (7,), ("status features_by_stage",), "title-order"),
    Expected("cafe-lumiere", (7,), ("status stale",), "path-quoting"),
    Expected("cafe-lumiere", (28, 29), (ACCEPTED, "event added", "node tags", "node updated_at"), "tags"),
    Expected("cafe-lumiere", (31,), ("node anchors",), "anchor-form"),
    Expected("cafe-lumiere", (38, 40), ("sync changed", "sync orphaned"), "path-quoting"),
    Expected("error-catalog", (24,), (ACCEPTED,), "status-field"),
    Expected("error-catalog", (42, 43), (ACCEPTED,), "no-change"),
    Expected("error-catalog", (50, 51), (ACCEPTED,), "tags"),
    Expected("error-catalog", (64,), (ACCEPTED,), "forward-references"),
    Expected("error-catalog", (65,), (ACCEPTED,), "repeated-relation"),
    Expected("error-catalog", (66,), (REFUSED,), "self-relation"),
    Expected("error-catalog", (71,), ("code MemoryPatchInvalid -> MemoryValidationFailed",), "codes"),
    Expected("error-catalog", (72, 73), (REFUSED,), "all-or-nothing"),
    Expected("error-catalog", (77,), (ACCEPTED,), "delete-related"),
    Expected("error-catalog", (78, 79), (REFUSED,), "project-node"),
    Expected("error-catalog", (80,), ("code MemoryDuplicateId -> MemoryValidationFailed",), "codes"),
    Expected("error-catalog", (81,), (REFUSED,), "dry-run"),
    Expected("error-catalog", (88, 89, 90), (ACCEPTED,), "secrets"),
    Expected("error-catalog", (95,), (REFUSED,), "limits"),
    Expected("error-catalog", (96, 97), (REFUSED,), "hidden-characters"),
    Expected("error-catalog", (102,), (ACCEPTED, "event added", "node added"), "long-titles"),
    Expected("error-catalog", (103,), ("check ProductMapStale",), "map"),
    Expected("error-catalog", (105, 107), (ACCEPTED,), "underlines"),
    Expected("error-catalog", (106,), ("node added",), "underlines"),
    Expected("error-catalog", (109,), ("exit 3 -> 0",), "underlines"),
    Expected("harbor-invoices", (3, 4), ("exit 3 -> 0",), "first-commit"),
    Expected("harbor-invoices", (15,), ("shell",), "own-index"),
    Expected("harbor-invoices", (26,), ("status stale",), "dead-features"),
    Expected("harbor-invoices", (28,), ("check AnchorOrphaned",), "dead-features"),
    Expected("harbor-invoices", (46,), (ACCEPTED,), "budgets"),
    Expected("harbor-invoices", (47,), ("exit 1 -> 2",), "budgets"),
    Expected("harbor-invoices", (48,), (REFUSED,), "budgets"),
    Expected("harbor-invoices", (62,), (ACCEPTED,), "repeated-relation"),
    Expected("harbor-invoices", (64,), ("event missing", "node updated_at", "save updated"), "no-change"),
    Expected("harbor-invoices", (68,), ("event added",), "supersedes-event"),
    Expected("harbor-invoices", (70,), (ACCEPTED, "event added", "node missing", "relation missing"), "delete-related"),
    Expected("harbor-invoices", (71,), (REFUSED, "event missing", "node stage", "node updated_at"), "all-or-nothing"),
    Expected("harbor-invoices", (72,), (REFUSED,), "all-or-nothing"),
    Expected("harbor-invoices", (81, 84), ("sync orphaned",), "dead-features"),
    Expected("harbor-invoices", (84,), ("sync fresh", "sync changed"), "own-commit"),
    Expected("harbor-invoices", (85,), (ACCEPTED,), "no-change"),
    Expected("harbor-invoices", (106,), (REFUSED,), "docs-topics"),
    Expected("harbor-invoices", (107, 108), ("exit 3 -> 0",), "upgrade"),
    Expected("harbor-invoices", (128, 129), ("exit 1 -> 2",), "view-port"),
    Expected("harbor-invoices", (129,), ("code MemoryValidationFailed -> MemoryUsage",), "view-port"),
    Expected("no-git-notes", (4,), ("status stale",), "anchors-without-git"),
    Expected("no-git-notes", (12,), ("exit 0 -> 3", "event missing", "node missing"), "older-folder"),
    Expected("no-git-notes", (14,), (ACCEPTED,), "older-folder"),
    Expected("orbit-drift", (10, 15), ("sync orphaned", "sync moved"), "moved-code"),
    Expected("orbit-drift", (24,), ("sync changed", "sync orphaned"), "unstaged-deletions"),
    Expected("orbit-drift", (24, 36, 38, 40, 42, 44, 46, 48, 50, 55, 57), ("sync fresh", "sync changed"), "own-commit"),
    Expected("orbit-drift", (78,), ("node anchors",), "anchor-form"),
    Expected("orbit-drift", (79,), ("status stale",), "anchor-form"),
    Expected("orbit-drift", (80,), ("check AnchorOrphaned",), "anchor-form"),
    Expected("orbit-drift", (79,), ("status stale",), "glob-folders"),
    Expected("orbit-drift", (80,), ("check AnchorOrphaned",), "glob-folders"),
    Expected("orbit-drift", (80,), ("check ProductMapStale",), "map"),
    Expected("probes", (6,), (REFUSED,), "dry-run"),
    Expected("probes", (7,), ("code MemorySchemaValidationFailed -> MemoryValidationFailed",), "codes"),
    Expected("probes", (8,), (ACCEPTED, "event added", "node added"), "long-titles"),
    Expected("probes-2", (11,), ("diff changed_memory_ids",), "staged-changes"),
    Expected("probes-2", (25,), ("status last_activity",), "time-zones"),
    Expected("sk-trap", (7, 8), (ACCEPTED,), "secrets"),
    Expected("sk-trap", (8,), ("check MemorySecretDetected", "check valid"), "secrets"),
    Expected("sk-trap", (12, 14, 16), ("exit 3 -> 0",), "secrets"),
)


class Difference(NamedTuple):
    step: int
    kind: str
    detail: str


# -- the graph, as either program has it on the disk ------------------------------------------


class Graph(NamedTuple):
    """What a store says, whatever its files are named and however its timestamps are written."""

    nodes: dict[str, dict[str, Any]]
    relations: dict[str, dict[str, Any]]
    events: list[str]


_NODE = ("type", "status", "title", "stage", "anchors", "tags", "evidence", "superseded_by")
_TIMES = ("created_at", "updated_at")


def _instant(text: Any) -> Any:
    return datetime.fromisoformat(text) if isinstance(text, str) else text


def _given(fields: dict[str, Any]) -> list[Any]:
    """The evidence without our seals, which every difference would otherwise be drowned in; see "seals" in the page."""
    return [item for item in fields.get("evidence", []) if not is_seal(item["kind"], item["id"])]


def graph_of(files: dict[str, str]) -> Graph:
    nodes: dict[str, dict[str, Any]] = {}
    relations: dict[str, dict[str, Any]] = {}
    for path, text in files.items():
        if path.startswith(".memory/memory/") and path.endswith(".json"):
            fields = json.loads(text)
            view = {name: fields.get(name) or None for name in _NODE}
            view["evidence"] = _given(fields) or None
            view |= {name: _instant(fields[name]) for name in _TIMES}
            nodes[fields["id"]] = {**view, "body": files.get(path.removesuffix(".json") + ".md")}
        elif path.startswith(".memory/relations/"):
            fields = json.loads(text)
            triple = " ".join((fields["from"], fields["predicate"], fields["to"]))
            relations[triple] = {name: fields.get(name) for name in ("id", "status", "confidence")}
            relations[triple] |= {name: _instant(fields[name]) for name in _TIMES}
    lines = files.get(".memory/events.jsonl", "").splitlines()
    events = [f"{event['event']} {event.get('id') or event['relation_id']}" for event in map(json.loads, lines)]
    return Graph(nodes, relations, events)


def graph_differences(theirs: Graph, ours: Graph) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for word, before, after in (("node", theirs.nodes, ours.nodes), ("relation", theirs.relations, ours.relations)):
        found += [(f"{word} missing", name) for name in before if name not in after]
        found += [(f"{word} added", name) for name in after if name not in before]
        for name in before.keys() & after.keys():
            found += [
                (f"{word} {field}", f"{name}: {value!r} -> {after[name][field]!r}")
                for field, value in before[name].items()
                if value != after[name][field]
            ]
    return found


# -- the answers of single commands ------------------------------------------------------------


def answer_differences(command: str, theirs: dict[str, Any], ours: dict[str, Any]) -> list[tuple[str, str]]:
    views = {
        "save": _saved,
        "status": _status,
        "inspect": _inspected,
        "check": _checked,
        "diff": _diffed,
        "sync": _synced,
    }
    if command not in views or theirs.keys() == {"registry_path", "projects"}:
        return []
    before, after = views[command](theirs), views[command](ours)
    return [
        (f"{command} {name}", f"{before.get(name)!r} -> {after.get(name)!r}")
        for name in {**before, **after}
        if before.get(name) != after.get(name)
    ]


def _saved(data: dict[str, Any]) -> dict[str, Any]:
    updated = {*data["memory_updated"], *data.get("memory_marked_stale", ()), *data.get("memory_superseded", ())}
    return {
        "created": sorted(data["memory_created"]),
        "updated": sorted(updated),
        "deleted": sorted(data["memory_deleted"]),
        "relations": sorted(data["relations_created"]),
    }


def _status(data: dict[str, Any]) -> dict[str, Any]:
    stale = {item["id"]: item["orphaned_anchors"] for item in data["stale"]}
    return {
        **{name: data[name] for name in ("project", "features_by_stage")},
        "open_questions": [(item["id"], item["title"]) for item in data["open_questions"]],
        "last_sync": _instant((data["last_sync"] or {}).get("last_sync_at")),
        "stale": stale,
        "last_activity": _instant(data["last_activity"]),
    }


def _inspected(data: dict[str, Any]) -> dict[str, Any]:
    names = ("id", "type", "status", "title", "stage", "anchors", "tags", "evidence", "source", "origin", "body")
    ends = {
        side: [(item["id"], item["status"], item["confidence"]) for item in items]
        for side, items in data["relations"].items()
    }
    source = {name: value for name, value in (data["object"]["source"] or {}).items() if name != "commit"}
    shown = {name: data["object"][name] for name in names}
    return {**shown, "evidence": _given(data["object"]), "source": source, **ends}


def _synced(data: dict[str, Any]) -> dict[str, Any]:
    return {
        "full": data["full_verification"],
        "fresh": data["fresh"],
        "changed": {item["id"]: item["anchors"] for item in data["changed"]},
        "orphaned": {item["id"]: item["anchors"] for item in data["orphaned"]},
        "moved": {item["id"]: item["anchors"] for item in data.get("moved", [])},
        "unverifiable": [item["id"] for item in data.get("unverifiable", [])],
        "unanchored": data["unanchored"],
    }


def _checked(data: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"valid": data["valid"]}
    for item in (*data["errors"], *data["warnings"]):
        found.setdefault(item["code"], set()).add(item["path"].partition(":")[0])
    return found


def _diffed(data: dict[str, Any]) -> dict[str, Any]:
    return {name: data[name] for name in ("changed_memory_ids", "changed_relation_ids")}


# -- the replay ----------------------------------------------------------------------------------


class Replay:
    """One recording, replayed in a repository of its own."""

    def __init__(self, fixture: str, folder: Path, environment: dict[str, str]) -> None:
        recording = RECORDINGS / fixture
        self.transcript = json.loads((recording / "transcript.json").read_text())
        self.repo = folder / Path(self.transcript["meta"]["project_root_at_record_time"]).name
        self.environment = environment
        self.memory = Memory(self.repo, environment)
        self.recorded: dict[str, str] = {}
        self.differences: list[Difference] = []
        self.marker: bytes | None = None
        self.replayed = self.equal = 0
        self.repo.mkdir()
        _lay_out_product(recording, folder, self.repo)

    def run(self) -> None:
        for step in self.transcript["steps"]:
            self.step(step)

    def step(self, step: dict[str, Any]) -> None:
        theirs, ours = graph_of(self.recorded), graph_of(self.files())
        self.note(step)
        if step["kind"] == "write_files":
            for name, text in step["files"].items():
                self.write(name, text)
            return
        if step["kind"] == "shell":
            done = self.shell(step)
            found = [("shell", done.stderr)] if done.returncode != step["exit_code"] else []
        elif step["kind"] == "memory" and (command := _command(step["argv"])) in (*COMMANDS, ""):
            self.replayed += 1
            where, told = self.repo / step.get("cwd", "."), step.get("stdin") or ""
            run = self.memory(*step["argv"][1:], cwd=where, env=self.moment(step), stdin=told)
            found = self.judge(step, command, run)
        else:
            # Not here yet: only its marker file is taken over, which later git steps commit and move.
            if ".memory/sync-state.json" in self.recorded:
                self.write(".memory/sync-state.json", self.recorded[".memory/sync-state.json"])
            return
        after, now = graph_of(self.recorded), graph_of(self.files())
        apart = graph_differences(after, now)
        missing = [name for name in OUTSIDE if name in self.recorded and not (self.repo / name).exists()]
        apart += [("file missing", name) for name in missing]
        if step["kind"] == "memory":
            known, new = after.events[len(theirs.events) :], now.events[len(ours.events) :]
            found += [("event missing", name) for name in _less(known, new)]
            found += [("event added", name) for name in _less(new, known)]
            self.equal += not (found or apart)
        if apart:
            self.take_over_recorded_state()
        self.differences += [Difference(step["n"], kind, detail) for kind, detail in (*found, *apart)]

    def judge(self, step: dict[str, Any], command: str, run: Run) -> list[tuple[str, str]]:
        found = []
        if run.code != step["exit_code"]:
            found.append((f"exit {step['exit_code']} -> {run.code}", (run.err or run.out)[:300]))
        if "stdout_json" not in step:
            return found
        theirs, ours = step["stdout_json"], run.json
        if theirs["ok"] and ours["ok"]:
            found += answer_differences(command, theirs["data"], ours["data"])
        elif not theirs["ok"] and not ours["ok"] and theirs["error"]["code"] != ours["error"]["code"]:
            found.append((f"code {theirs['error']['code']} -> {ours['error']['code']}", ours["error"]["message"]))
        return found

    # -- files --

    def note(self, step: dict[str, Any]) -> None:
        """The files that the original had after this step."""
        written = {name: text for name, text in step.get("files", {}).items() if name.startswith(".memory/")}
        for name, text in {**written, **step.get("changed_files", {})}.items():
            if text is None:
                self.recorded.pop(name, None)
            elif not name.startswith("$"):
                self.recorded[name] = text

    def files(self) -> dict[str, str]:
        found = {}
        for folder, folders, names in os.walk(self.repo / ".memory"):
            folders[:] = [name for name in folders if name not in ("index", "recovery", ".backup")]
            for name in names:
                path = Path(folder, name)
                found[path.relative_to(self.repo).as_posix()] = path.read_bytes().decode()
        return found

    def take_over_recorded_state(self) -> None:
        """So that the next step is judged on its own."""
        shutil.rmtree(self.repo / ".aictx", ignore_errors=True)
        marker = self.repo / ".memory" / "sync-state.json"
        self.marker = marker.read_bytes() if marker.exists() else None
        for path in (self.repo / ".memory").glob("*"):
            if path.is_dir() and path.name != "index":
                shutil.rmtree(path)
            elif path.is_file():
                path.unlink()
        marker = ".memory/sync-state.json"
        for name, text in self.recorded.items():
            # Our own history has other commits: a marker of theirs would lead nowhere.
            if name != marker or self.marker is None:
                self.write(name, text)
        if self.marker is not None:
            (self.repo / marker).write_bytes(self.marker)

    def write(self, name: str, text: str) -> None:
        path = self.repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())

    def moment(self, step: dict[str, Any]) -> dict[str, str]:
        return {"MEMORY_NOW": step["now"], "TZ": step.get("tz", "UTC")}

    def shell(self, step: dict[str, Any]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", step["command"]],
            cwd=self.repo / step.get("cwd", "."),
            env={**self.environment, **self.moment(step)},
            input=step.get("stdin") or "",
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )


def _lay_out_product(recording: Path, folder: Path, repo: Path) -> None:
    """The product's own files as they were before the first step: those of the first commit."""
    with tarfile.open(recording / "repo-with-git.tar.gz") as tar:
        tar.extractall(folder / "recorded", filter="data")
    (recorded,) = (folder / "recorded").iterdir()
    if not (recorded / ".git").exists():
        shutil.copytree(recorded, repo, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".memory", *OUTSIDE))
        return
    git = functools.partial(subprocess.run, cwd=recorded, check=True, capture_output=True)
    first = git(["git", "rev-list", "--max-parents=0", "HEAD"]).stdout.decode().split()[0]
    with tarfile.open(fileobj=io.BytesIO(git(["git", "archive", first]).stdout)) as tar:
        tar.extractall(repo, filter="data")


def _command(argv: list[str]) -> str:
    return next((word for word in argv[1:] if not word.startswith("-")), "")


def _less(some: list[str], others: list[str]) -> list[str]:
    rest = list(others)
    return [name for name in some if name not in rest or rest.remove(name)]


@pytest.mark.proof(keep=1)
@pytest.mark.skipif(not RECORDINGS.is_dir(), reason="the recordings of the original program are not here")
@pytest.mark.parametrize("fixture", INITS)
def test_a_recorded_session_differs_only_where_the_table_says_so(
    fixture: str, tmp_path: Path, environment: dict[str, str]
) -> None:
    replay = Replay(fixture, tmp_path, environment)
    replay.run()
    expected = {
        (step, kind) for entry in EXPECTED if entry.fixture == fixture for step in entry.steps for kind in entry.kinds
    }
    unexplained = [
        f"step {step}: {kind}: {detail}" for step, kind, detail in replay.differences if (step, kind) not in expected
    ]
    assert not unexplained, "\n".join(unexplained)
    gone = expected - {(step, kind) for step, kind, _ in replay.differences}
    assert not gone, f"these no longer differ, take them out of the table and the page: {sorted(gone)}"


# -- the page ------------------------------------------------------------------------------------

WHY = {"reference", "safety", "bug", "not yet"}


def _rows() -> dict[str, str]:
    """The page's differences: the key of each and its reason."""
    found: dict[str, str] = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 4 and cells[0].startswith("`") and cells[3] in WHY:
            key = cells[0].strip("`")
            assert key not in found, key
            found[key] = cells[3]
    return found


def test_the_page_on_compatibility_gives_every_difference_its_reason() -> None:
    assert {entry.reason for entry in EXPECTED} <= _rows().keys()
