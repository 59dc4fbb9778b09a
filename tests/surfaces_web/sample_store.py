"""Harbour, a small product with a history: code, records of all four layers, sessions, receipts, proposals.

Everything is made by the commands that people and agents use, each at its time.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import msgspec
from sample_code import COMMITS
from sample_words import DECISIONS, FACTS, FEATURES, GOTCHAS, PROFILE, QUESTIONS, SESSIONS

from installed import Git, Memory, make_environment

NOW = "2026-06-12T09:40:00+00:00"
"""When it is looked at."""

__all__ = ["NOW", "Sample", "copy_sample", "make_sample"]


class Sample(msgspec.Struct, frozen=True):
    """The product, and the commands run in it now."""

    folder: Path
    """Where its projects are."""
    root: Path
    env: dict[str, str]

    @property
    def memory(self) -> Memory:
        return Memory(self.root, {**self.env, "MEMORY_NOW": NOW})

    @property
    def git(self) -> Git:
        return Git(self.root, self.env)


def make_sample(folder: Path) -> Sample:
    """Harbour, and two other projects beside it."""
    env = make_environment(folder)
    root = folder / "home/code/harbour"
    root.mkdir(parents=True)
    sample = Sample(root.parent, root, env)
    sample.git("init", "--quiet")
    _make_history(sample)
    _make_facts(sample)
    _make_profile(sample)
    _make_sessions(sample)
    _make_the_last_days(sample)
    _make_others(sample)
    return sample


def copy_sample(sample: Sample, folder: Path) -> Sample:
    """The product once more, known in a registry of its own."""
    env = make_environment(folder)
    root = folder / "home/code/harbour"
    shutil.copytree(sample.root, root, symlinks=True)
    copied = Sample(root.parent, root, env)
    _done(copied, "projects", "add")
    return copied


def _done(sample: Sample, *words: str, at: str = NOW, stdin: Any = b"", cwd: Path | None = None) -> Any:
    """A command that must work, at its time."""
    run = sample.memory(*words, stdin=stdin, env={"MEMORY_NOW": at}, cwd=cwd)
    assert run.code == 0, (words, run.out, run.err)
    return json.loads(run.out)["data"] if "--json" in words else run.out


def _at(day: str, minute: int = 50) -> str:
    return f"2026-{day}T17:{minute:02}:00+00:00"


# -- code and graph -----------------------------------------------------------------------------


def _make_history(sample: Sample) -> None:
    """Commit by commit, and after each what was said of it."""
    nodes = [*FEATURES, *DECISIONS, *GOTCHAS, *QUESTIONS]
    dates = [when for when, _, _ in COMMITS]
    for place, (when, said, files) in enumerate(COMMITS):
        _write(sample.root, files)
        if place == 1:
            _done(sample, "init", "--name", "Harbour", at=when)
            said_of_it = {"id": "project.harbour", "body": _ABOUT}
            _done(sample, "save", "--stdin", at=when, stdin={"task": "What it is", "nodes": [said_of_it]})
        _commit(sample, when, said)
        until = dates[place + 1] if place + 1 < len(dates) else NOW
        due = [node for node in nodes if when[:10] <= f"2026-{node['on']}" < until[:10]]
        if place and due:
            _save(sample, due, said)
    for intent in _LATER:
        _done(sample, "save", "--stdin", at=_at(intent["on"]), stdin=_without_day(intent))


_ABOUT = "Books berths for guests of small marinas: what is free, for which boat, on which tide, and what it costs."
_LATER: tuple[dict[str, Any], ...] = (
    {
        "on": "05-30",
        "task": "One queue in the database",
        "supersede": [
            {
                "id": "decision.jobs-run-from-cron",
                "superseded_by": "decision.one-queue-in-the-database",
                "reason": "two machines ran the same job",
            }
        ],
    },
    {
        "on": "06-04",
        "task": "Text messages end",
        "nodes": [{"id": "feature.text-messages", "stage": "dead"}],
        "stale": [{"id": "gotcha.texts-are-cut-at-160-characters", "reason": "there are no text messages any more"}],
    },
    {
        "on": "06-08",
        "task": "Answers",
        "nodes": [{"id": "question.who-may-see-a-guests-phone-number", "status": "closed"}],
    },
    {
        "on": "06-11",
        "task": "Looked again",
        "confirm": [{"id": "feature.holds", "reason": "read holds.py, still so"}],
    },
)


def _without_day(given: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name != "on"}


def _save(sample: Sample, nodes: list[dict[str, Any]], task: str) -> None:
    last = max(node["on"] for node in nodes)
    intent = {"task": task, "nodes": [_without_day(node) for node in nodes]}
    _done(sample, "save", "--stdin", at=_at(last), stdin=intent)


def _write(root: Path, files: dict[str, str | None]) -> None:
    for name, text in files.items():
        path = root / name
        if text is None:
            path.unlink()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _commit(sample: Sample, when: str, said: str) -> None:
    people = {"A": ("Mara Lind", "mara@example.com"), "B": ("Jonas Wiik", "jonas@example.com")}
    name, mail = people["AB"[int(when[8:10]) % 2]]
    dated = {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when, "GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": mail}
    Git(sample.root, {**sample.env, **dated}).commit(said)


# -- the other layers ---------------------------------------------------------------------------


def _make_facts(sample: Sample) -> None:
    ids: dict[str, str] = {}
    for day, section, text, tags in FACTS:
        tagged = [word for tag in tags for word in ("--tag", tag)]
        ids[text[:20]] = _done(sample, "facts", "store", section, text, *tagged, "--json", at=_at(day, 5))["fact"]["id"]
    known = list(ids.values())
    _done(sample, "facts", "connect", known[0], known[1], "depends_on", at=_at("05-30"))
    _done(sample, "facts", "connect", known[2], "feature.card-payments", "motivated_by", at=_at("05-31"))
    _done(sample, "facts", "connect", known[3], known[0], "enables", at=_at("06-01"))
    _done(
        sample, "facts", "supersede", known[-1], "A hold lasts 20 minutes.", "--reason", "15 were too few",
        at=_at("06-02"),
    )  # fmt: skip
    _done(sample, "facts", "focus", known[0], known[2], at=_at("06-10"))
    for day, session, title, told, files in (
        ("05-29", "9b20c1", "Retries move to payments", "The retry module moved beside the webhooks.", ["retry.py"]),
        ("06-10", "c41d7e", "Group bookings", "Boats of a group lie side by side now.", ["groups.py"]),
    ):
        named = [word for file in files for word in ("--file", file)]
        words = ("--turns", "14", "--tool-calls", "62", "--title", title, "--narrative", told, *named, "--close")
        _done(sample, "facts", "session", session, "--started", _at(day, 2), *words, at=_at(day, 41))


def _make_profile(sample: Sample) -> None:
    for category, key, value, words in PROFILE:
        _done(sample, "profile", "remember", category, key, value, *words, at=_at("05-20"))
    _done(sample, "profile", "link", "tools.package_manager", "project.python_version", "related-to", at=_at("05-20"))


def _make_sessions(sample: Sample) -> None:
    """Sessions of an agent: imported into the journal, and proposals for the inbox."""
    home = Path(sample.env["HOME"])
    paths = [_record(home, sample.root, name, day, turns) for name, day, turns in SESSIONS]
    _done(sample, "journal", "init", "--yes", at="2026-05-04T08:00:00+00:00")
    _done(sample, "journal", "add", "claude-local", str(home / ".claude"), "--name", "claude", at=_at("06-09"))
    _done(sample, "journal", "sync", "--all", at=_at("06-11", 55))
    _done(sample, "journal", "recall", "--yes", at=_at("06-11", 56))
    for (name, day, turns), path in zip(SESSIONS, paths, strict=True):
        payload = {"session_id": name, "transcript_path": str(path), "cwd": str(sample.root)}
        asked = {**payload, "prompt": turns[0][1]}
        edits = {**payload, "tool_name": "Edit"}
        _hook(sample, "session-start", {**payload, "source": "startup"}, _at(day, 0))
        _hook(sample, "prompt", asked, _at(day, 1))
        for file in ("src/harbour/berths/availability.py", "src/harbour/booking/holds.py"):
            _hook(sample, "before-edit", {**edits, "tool_input": {"file_path": str(sample.root / file)}}, _at(day, 3))
        # Not its end, nor the next start: those would have it read by a process that nobody waits for.
        _hook(sample, "turn-end", payload, _at(day, 30))
        _done(sample, "inbox", "collect", at=_at(day, 31))


def _hook(sample: Sample, event: str, payload: dict[str, Any], at: str) -> None:
    _done(sample, "hook", "claude", event, at=at, stdin=payload)


def _record(home: Path, root: Path, session: str, day: str, turns: tuple[tuple[str, str], ...]) -> Path:
    """A session as the agent keeps it."""
    folder = home / ".claude/projects" / re.sub(r"[^A-Za-z0-9]", "-", str(root))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{session}.jsonl"
    lines = []
    for number, (by, text) in enumerate(turns):
        parts = text if by == "user" else [{"type": "text", "text": text}]
        lines.append(
            {
                "type": by,
                "uuid": f"{session[:8]}-{number}",
                "sessionId": session,
                "cwd": str(root),
                "timestamp": f"2026-{day}T17:{number:02}:00.000Z",
                "message": {"role": by, "content": parts},
            }
        )
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def _make_the_last_days(sample: Sample) -> None:
    """Notes, and an edit that nobody committed yet."""
    _commit(sample, "2026-06-11T18:10:00+00:00", "What the memory learned")
    _done(sample, "note", "ask the office whether groups pay one bill", at=_at("06-11"))
    _done(sample, "note", "the map on small phones is too wide", at="2026-06-12T08:15:00+00:00")
    today = [
        {
            "kind": "question",
            "title": "Do day guests need a hold?",
            "body": "They come and go within hours; a hold of 20 minutes may only be in the way.",
            "tags": ["booking"],
        }
    ]
    intent = {"task": "Day guests", "nodes": today}
    _done(sample, "save", "--stdin", at="2026-06-12T08:40:00+00:00", stdin=intent)
    waitlist = sample.root / "src/harbour/booking/waitlist.py"
    waitlist.write_text(waitlist.read_text().replace("<=", "<"), encoding="utf-8")


def _make_others(sample: Sample) -> None:
    """One that is new and empty, one whose folder is gone."""
    for name in ("chandlery", "lighthouse"):
        root = sample.folder / name
        root.mkdir()
        Git(root, sample.env)("init", "--quiet")
        _done(sample, "init", "--name", name.capitalize(), cwd=root)
    shutil.rmtree(sample.folder / "lighthouse")
