"""A run of many processes from beginning to end: started, waited for, and held to what lies on the disk afterwards."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from history_checking import judge
from history_events import OK, Act, Effect, read_history, seen
from history_seeing import INBOX, NOTES, SESSIONS, SOURCES, export_lists, word_in
from history_verbs import ALLOWED
from trials import apart, rows_of

from quire.model.errors import QuireError
from quire.project import Project
from quire.verbs.admin.check import check_files
from quire.verbs.admin.rebuild import Rebuild, rebuild
from quire.verbs.ask.answers import answer_question
from quire.verbs.ask.status import status as status_of
from quire.verbs.journal.validate import JournalValidate, journal_validate

__all__ = ["Ran", "as_it_lies", "index_apart", "leftovers", "run"]

HERE = Path(__file__).parent
COLUMNS = (
    "layer, ref, kind, title, text, status, stage, section, scope, weight, half_life, since, created_at, updated_at,"
    " tags, anchors, origin, seen, raw"
)
QUERIES = {
    "records": f"SELECT {COLUMNS} FROM records",
    "names": "SELECT layer, name, ref FROM names JOIN records ON records.id = record",
    "edges": "SELECT layer, ref, source, predicate, target, status, raw FROM edges",
    "counts": "SELECT * FROM tallies WHERE number != 0",
    "problems": "SELECT * FROM problems",
    "words": "SELECT term, doc, cnt FROM vocabulary",
    "loose ends": "SELECT name FROM names WHERE record NOT IN (SELECT id FROM records)",
    "vectors": "SELECT layer, ref FROM vectors JOIN records ON records.id = record",
}


class Ran(NamedTuple):
    """What many did, and what is wrong with it."""

    acts: list[Act]
    wrong: list[str]
    code: int
    said: str
    seconds: float

    def done(self, *verbs: str) -> int:
        """How often these verbs were acknowledged."""
        return sum(act.outcome == OK and act.verb in verbs for act in self.acts)

    def refused(self, *verbs: str) -> Counter[str]:
        return Counter(act.outcome for act in self.acts if act.outcome != OK and act.verb in verbs)


def run(
    root: Path,
    env: Mapping[str, str],
    roles: list[str],
    times: int,
    *,
    seed: int = 1,
    kill: int = 0,
    mutant: str = "",
    pinned: bool = False,
) -> Ran:
    """Let them work, and judge what they did and what they left."""
    notes = root.parent / f"notes-{root.name}"
    plan = {"root": str(root), "notes": str(notes), "seed": seed, "roles": roles, "times": times, "kill": kill}
    line = [sys.executable, str(HERE / "history_working.py"), json.dumps({**plan, "mutant": mutant})]
    began = time.monotonic()
    surroundings = {**env, "MEMORY_LOCK_TIMEOUT": "100"}
    done = subprocess.run(line, env=surroundings, capture_output=True, text=True, timeout=900, check=False)
    seconds = time.monotonic() - began
    acts = read_history(sorted(notes.glob("history-*")))
    broken: list[str] = []
    try:
        acts.append(as_it_lies(root))
    except (AssertionError, KeyError, OSError, ValueError, QuireError) as error:
        broken.append(f"the files cannot be read: {error!r:.300}")
    wrong = [*broken, *judge(acts, ALLOWED)]
    if not mutant and not broken:
        wrong += [*leftovers(root), *unsound(root), *index_apart(root)]
    return Ran(acts, wrong, done.returncode, done.stderr[-2000:], seconds)


# -- what lies on the disk ----------------------------------------------------------------------------------------


def as_it_lies(root: Path) -> Act:
    """All that the files say in the end, read without any help of ours; the last act of every history."""
    begin = time.monotonic()
    status_of(Project.open(str(root)))  # what a killed writer had decided is completed by whoever comes next
    effects = [*export_lists([*_nodes(root), *_facts(root), *_entries(root), *_events(root)]), *_beside(root)]
    return Act(-1, 0, "the files", begin, time.monotonic(), OK, tuple(effects))


def _json_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []


def _nodes(root: Path) -> Iterator[dict[str, Any]]:
    for path in sorted((root / ".memory/memory").glob("*.json")):
        fields = json.loads(path.read_bytes())
        text = path.with_suffix(".md").read_text(encoding="utf-8")
        kind, status = fields["type"], fields["status"]
        yield {
            "layer": "graph",
            "ref": fields["id"],
            "kind": kind,
            "title": fields["title"],
            "text": text,
            "status": status,
        }


def _facts(root: Path) -> Iterator[dict[str, Any]]:
    for line in _json_lines(root / ".memory/facts.jsonl"):
        if line["_type"] == "fact":
            told = {"kind": "fact", "title": "", "text": line["content"], "status": line["status"]}
            yield {"layer": "facts", "ref": f"fact:{line['id']}", **told}


def _entries(root: Path) -> Iterator[dict[str, Any]]:
    for category, entries in json.loads((root / ".ai-state/memory.json").read_bytes())["memories"].items():
        for key, fields in entries.items():
            told = {"kind": "entry", "title": "", "text": fields["value"], "status": "active"}
            yield {"layer": "profile", "ref": f"profile:{category}.{key}", **told}


def _events(root: Path) -> Iterator[dict[str, Any]]:
    names = Counter(line["id"] for line in _json_lines(root / ".agent-memory/history/events.jsonl"))
    for name, number in names.items():
        assert number == 1, f"{name} stands there {number} times"
        yield {"layer": "journal", "ref": f"event:{name}", "kind": "event", "title": "", "text": "", "status": ""}


def _beside(root: Path) -> Iterator[Effect]:
    proposals = {
        INBOX + line["id"]: line.get("status", "pending") for line in _json_lines(root / ".memory/local/inbox.jsonl")
    }
    yield Effect("list", INBOX, proposals)
    path = root / ".memory/local/notes.md"
    notes = [word_in(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    assert len(set(notes)) == len(notes), "a note stands there twice"
    yield Effect("list", NOTES, {NOTES + word: word for word in notes})
    sources = json.loads((root / ".agent-memory/sources.json").read_bytes())
    yield Effect("list", SOURCES, {SOURCES + one["id"]: one["id"] for one in sources if one["id"] != "claude"})
    imported = [
        line for line in _json_lines(root / ".agent-memory/history/events.jsonl") if line["kind"] == "imported_session"
    ]
    told = Counter(line["externalItemId"] for line in imported)
    yield from (
        seen(SESSIONS + word, word if number == 1 else f"torn: {number} times") for word, number in told.items()
    )
    yield Effect("list", SESSIONS, {SESSIONS + word: word for word in told})


def leftovers(root: Path) -> list[str]:
    """What nobody should leave behind: locks, half-written files, transactions."""
    found = [path for name in (".memory", ".ai-state", ".agent-memory") for path in (root / name).rglob("*")]
    bad = [path for path in found if path.name in (".lock",) or path.name.endswith(".tmp")]
    bad += [path for path in found if path.parent.name == "recovery" and path.name.startswith("transaction-")]
    return [f"left behind: {path.relative_to(root)}" for path in bad]


def unsound(root: Path) -> list[str]:
    """What `check` says of it, but for the map: the last writer of all may have been killed before it wrote it."""
    project = Project.open(str(root))
    found = check_files(project)
    wrong = [*found.errors, *(one for one in found.warnings if one.code in ("LocalStateDamaged", "MarkersDamaged"))]
    faults = [one for one in journal_validate(project, JournalValidate()).findings if one["level"] == "fail"]
    return [f"check: {problem.code} {problem.message}" for problem in wrong] + [f"journal: {one}" for one in faults]


def index_apart(root: Path) -> list[str]:
    """How the index differs from one that is made from nothing, over all layers."""
    project = Project.open(str(root))
    answer_question(project, "anything")
    found = rows_of(str(root), QUERIES)
    rebuild(project, Rebuild())
    return [f"index: {text}" for text in apart(found, rows_of(str(root), QUERIES))]
