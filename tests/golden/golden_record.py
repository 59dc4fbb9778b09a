"""What every command and tool says about one sample project, without what differs from run to run.

`python tests/golden/golden_record.py` writes the files in `tests/data/golden/` anew; `test_golden.py` compares.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "promises"), str(TESTS / "e2e")]

from mcp_here import over_stdio  # noqa: E402
from version_stores import Store, newest, opened  # noqa: E402
from version_verbs import LOOKING, WRITING, given_to, lines_for, verbs_of  # noqa: E402

__all__ = ["GOLDEN", "RECORDERS", "read"]

GOLDEN = TESTS / "data" / "golden"
SHAPE_ONLY = ("doctor", "upgrade", "journal providers")
"""What tells of this machine: only the names of its fields are held."""
REFUSED = ("--no-such-option",)

_HEX = re.compile(r"(?<![0-9a-z])(?=[a-f]*[0-9])[0-9a-f]{8,64}(?![0-9a-z])")
_PLAIN = (
    (re.compile(r"\b\d+(\.\d+)? (ms|seconds?)\b"), "<time>"),
    (re.compile(r"\b\d+ tokens\b"), "<number> tokens"),
    (re.compile(r"(?<=Quire )\d+\.\d+[\w.+-]*|(?<=quire-memory )\d+\.\d+[\w.+-]*"), "<version>"),
)
_VARIES = {
    "estimated_tokens": "<number>",
    "tokens": "<number>",
    "version": "<version>",
    "boundary": "<boundary>",
    "score": "<score>",
}
"""Fields whose values depend on random boundaries, the release, or the last digit of a sum."""


class Cleaner:
    """Takes out paths, random ids and times; the same id is the same everywhere in one answer."""

    def __init__(self, places: dict[str, str]) -> None:
        self._places = sorted(places.items(), key=lambda item: -len(item[0]))
        self._ids: dict[str, str] = {}

    def text(self, text: str) -> str:
        for path, name in self._places:
            text = text.replace(path, name)
        for pattern, name in _PLAIN:
            text = pattern.sub(name, text)
        return _HEX.sub(lambda found: self._ids.setdefault(found[0], f"<id{len(self._ids) + 1}>"), text)

    def value(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {
                self.text(name): _VARIES[name] if name in _VARIES and item is not None else self.value(item)
                for name, item in value.items()
            }
        if isinstance(value, list):
            return [self.value(item) for item in value]
        return self.text(value) if isinstance(value, str) else value


def shape(value: Any) -> Any:
    """The names of fields, and of what kind their values are."""
    if isinstance(value, dict):
        return {name: shape(item) for name, item in value.items()}
    if isinstance(value, list):
        return [shape(item) for item in value[:1]]
    return type(value).__name__


def _store(folder: Path) -> Store:
    store = opened(newest(), folder)
    store.env = {**store.env, "PATH": "/usr/bin:/bin", "NO_COLOR": "1", "COLUMNS": "120"}
    return store


def _cleaner(store: Store) -> Cleaner:
    home = store.env["HOME"]
    places = {str(store.root): "<root>", home: "<home>", str(store.root.parent): "<folder>"}
    return Cleaner({**places, str(Path(sys.executable).parent): "<bin>", sys.prefix: "<python>"})


def _said(store: Store, line: Sequence[str], *options: str) -> dict[str, Any]:
    run = store(*line, *options, stdin=given_to(list(line)) if line else b"")
    clean = _cleaner(store)
    is_local = " ".join(line).startswith(SHAPE_ONLY)
    if "--json" in options and run.out.startswith("{"):
        found = json.loads(run.out)
        out: Any = shape(found) if is_local else clean.value(found)
    else:
        out = [] if is_local else clean.text(run.out).split("\n")
    return {"code": run.code, "out": out, "err": [] if is_local else clean.text(run.err).split("\n")}


def _asked(lines: Sequence[str], *options: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        store = _store(Path(folder).resolve() / "here")
        return {
            shown: _said(store, line, *options) for shown, line in zip(lines, lines_for(store.said, lines), strict=True)
        }


def _helps() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        store = _store(Path(folder).resolve() / "here")
        verbs = ["", *sorted(verbs_of(store))]
        return {verb: _said(store, verb.split(), "--help") for verb in verbs}


def _refused() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        store = _store(Path(folder).resolve() / "here")
        return {verb: _said(store, verb.split(), *REFUSED) for verb in sorted(verbs_of(store))}


def _without_memory() -> dict[str, Any]:
    """Every question where there is no memory yet."""
    with tempfile.TemporaryDirectory() as folder:
        store = _store(Path(folder).resolve() / "here")
        empty = store.root.parent / "empty"
        empty.mkdir()
        store.git("init", "--quiet", cwd=empty)
        lines = dict(zip(LOOKING, lines_for(store.said, LOOKING), strict=True))
        store.cwd = store.root = empty
        return {shown: _said(store, line, "--json") for shown, line in lines.items()}


def _tools() -> dict[str, Any]:
    """What a client is told of the tools, with the default choice and with all of them."""
    with tempfile.TemporaryDirectory() as folder:
        store = _store(Path(folder).resolve() / "here")
        found = {}
        for chosen in ((), ("--toolset", "all")):
            with over_stdio(store, *chosen) as asked:
                listed = asked.do("list_tools").tools
            found[" ".join(chosen)] = {tool.name: tool.model_dump(mode="json", exclude_none=True) for tool in listed}
        return found


def _tool_calls() -> dict[str, Any]:
    """Every tool called once, questions before changes, and once without what it needs."""
    with tempfile.TemporaryDirectory() as folder:
        store = _store(Path(folder).resolve() / "here")
        store.env = {**store.env, "MEMORY_LOCK_TIMEOUT": "5"}
        found: dict[str, Any] = {}
        with over_stdio(store, "--toolset", "all") as asked:
            for tool, given in _calls(store.said).items():
                clean = _cleaner(store)
                answers = [asked.call(tool, **given), asked.call(tool, no_such_argument=1)]
                found[tool] = [
                    {
                        "is_error": answer.is_error,
                        "text": [clean.text(part.text).split("\n") for part in answer.content],
                        "structured": clean.value(answer.structured_content),
                    }
                    for answer in answers
                ]
        return found


def _calls(said: dict[str, Any]) -> dict[str, dict[str, Any]]:
    facts = {item[1]: item[0] for item in said["facts list"]}
    fact, other, hand = facts["Constraints"], facts["Architecture"], facts["Specs"]
    node = {"kind": "gotcha", "title": "Wet fonts", "body": "Fonts drip."}
    manager = {"category": "tools", "key": "package_manager"}
    ends = {"source_category": "tools", "source_key": "package_manager"}
    ends |= {"target_category": "project", "target_key": "language"}
    talk = [
        {"role": "user", "content": "Make retries durable."},
        {"role": "assistant", "content": "Decided: the queue moves to Postgres."},
        {"role": "user", "content": "Now the mailer."},
    ]
    questions: dict[str, dict[str, Any]] = {
        "query_memory": {"question": "retry queue"},
        "inspect_memory": {"id": "feature.retry-queue"},
        "status_memory": {},
        "brief_memory": {"files": ["src/queue.py"]},
        "why_memory": {"place": "src/queue.py"},
        "check_memory": {},
        "diff_memory": {},
        "memory_recall": {"query": "where do retries run?"},
        "memory_query": {},
        "memory_episodes": {},
        "memory_search_archive": {"query": "queue"},
        "recall": manager,
        "search": {"query": "package manager"},
        "status": {},
        "export_memories": {},
        "about_me": {},
        "about_us": {},
        "reflect": {},
        "connections": {"category": "learnings", "key": "flaky_ci"},
        "memory_assess": {},
        "memory_compact_handoff": {},
        "journal_query": {"question": "what changed?"},
        "memory_status": {"show_diff": True},
        "memory_validate": {},
        "automation_status": {},
    }
    changes: dict[str, dict[str, Any]] = {
        "save_memory": {"task": "tour", "nodes": [node]},
        "confirm_memory": {"ids": ["feature.retry-queue"], "reason": "looked at it"},
        "sync_memory": {},
        "memory_store": {"section": "Specs", "content": "A queue has one owner."},
        "memory_supersede": {"fact_id": fact, "content": "A delivery is retried at most six times."},
        "memory_connect": {"source": other, "target": hand, "relation": "depends_on"},
        "memory_focus": {"fact_ids": [other]},
        "memory_release": {},
        "memory_archive": {"fact_ids": [other]},
        "memory_compact": {"conversation": talk, "keep_turns": 1},
        "memory_ingest_lifecycle": {},
        "session_start": {},
        "remember": {"category": "tools", "key": "editor", "value": "an editor of some sort"},
        "add_link": {**ends, "relation": "related-to"},
        "remove_link": ends,
        "forget": manager,
        "memory_maintain": {},
        "journal_sync": {},
        "journal_recall": {},
        "automation_run_once": {},
    }
    return {**questions, **changes}


RECORDERS: dict[str, Callable[[], dict[str, Any]]] = {
    "questions": lambda: _asked(LOOKING),
    "questions-json": lambda: _asked(LOOKING, "--json"),
    "changes": lambda: _asked(WRITING),
    "changes-json": lambda: _asked(WRITING, "--json"),
    "help": _helps,
    "refusals": _refused,
    "no-memory": _without_memory,
    "tools": _tools,
    "tool-calls": _tool_calls,
}


def read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    return found


def _write(names: Sequence[str]) -> None:
    GOLDEN.mkdir(exist_ok=True)
    for name in names or RECORDERS:
        text = json.dumps(RECORDERS[name](), ensure_ascii=False, indent=1)
        (GOLDEN / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    _write(sys.argv[1:])
