"""Notes of Basic Memory: observations by category, relations, and where such notes are found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from quire.capture.hosts.registry import find_hosts, read_host
from quire.capture.hosts.types import HostRead, HostSource
from quire.inbox.proposals import Proposal

NOW = "2026-03-01T12:00:00+00:00"
NOTE = """\
---
title: Retry queue
type: note
tags: [queue, jobs]
permalink: design/retry-queue
---

# Retry queue

How failed jobs come back. See [[Worker pool]].

## Observations
- [decision] Retries run in the worker, not in the API #latency (the API must answer at once)
- [gotcha] A job in `src/queue.py` may run twice after a crash
- [question] How long are dead jobs kept?
- [tech] Written in Go #go
- [tech] Uses Redis streams
- [convention] Names of queues end in `-jobs` (checked by lint)
- [preference] Short functions, no frameworks
- [todo] Measure the delay
- [x] Done already
- [ ] Not done yet
- [00:12:40] somebody says something
- [Documentation](https://example.org/x)
- a plain remark with [[Worker pool]] within it

```markdown
- [tech] An example is no observation
```

<!-- - [tech] A comment is none -->

> - [!info] A callout is none

## Relations
- depends_on [[Worker pool]]
- depends_on [[Redis|the store]] (streams only)
- "is described in" [[Design 12]]
"""


def _find(root: Path, home: Path | None = None, env: dict[str, str] | None = None) -> list[HostSource]:
    return find_hosts(str(root), str(home or ""), env or {}, ["basic-memory"])


def _read(root: Path, text: str | bytes) -> HostRead:
    path = root / "basic-memory" / "note.md"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    [source] = _find(root)
    return read_host(source, str(root), "", NOW)


def _by(read: HostRead, into: str) -> list[Proposal]:
    return [made for made in read.proposals if made.into == into]


def test_a_note_by_its_categories(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/queue.py").write_text("")
    read = _read(tmp_path, NOTE)
    assert [made.fields for made in _by(read, "graph")] == [
        {
            "kind": "decision",
            "title": "Retries run in the worker, not in the API",
            "body": "Retries run in the worker, not in the API (the API must answer at once)\n\n"
            "From the note “Retry queue”.",
            "id": "decision.retries-run-in-the-worker-not-in-the-api",
            "tags": ["queue", "jobs", "latency"],
        },
        {
            "kind": "gotcha",
            "title": "A job in `src/queue.py` may run twice after a crash",
            "body": "A job in `src/queue.py` may run twice after a crash.\n\nFrom the note “Retry queue”.",
            "id": "gotcha.a-job-in-src-queue-py-may-run-twice-after-a-crash",
            "tags": ["queue", "jobs"],
            "anchors": ["src/queue.py"],
        },
        {
            "kind": "question",
            "title": "How long are dead jobs kept?",
            "body": "How long are dead jobs kept?\n\nFrom the note “Retry queue”.",
            "id": "question.how-long-are-dead-jobs-kept",
            "tags": ["queue", "jobs"],
        },
    ]
    assert [made.fields for made in _by(read, "facts")] == [
        {
            "section": "Architecture",
            "content": "Retry queue: Written in Go. Uses Redis streams.",
            "tags": ["tech", "queue", "jobs", "go"],
        },
        {
            "section": "Patterns & Conventions",
            "content": "Retry queue: Names of queues end in `-jobs` (checked by lint)",
            "tags": ["convention", "queue", "jobs"],
        },
        {
            "section": "Architecture",
            "content": "Retry queue depends on Worker pool and the store; is described in Design 12.",
            "tags": ["relation"],
        },
    ]
    assert [made.fields for made in _by(read, "profile")] == [
        {
            "category": "user",
            "key": "short-functions-no-frameworks",
            "value": "Short functions, no frameworks",
            "tags": ["jobs", "queue"],
        }
    ]
    assert [(made.kind, made.fields) for made in _by(read, "notes")] == [
        ("next step", {"text": "Retry queue: Measure the delay."})
    ]
    assert (len(read.proposals), read.skipped, read.problems) == (8, 5, ())


def test_each_proposal_names_its_line_and_its_words(tmp_path: Path) -> None:
    read = _read(tmp_path, NOTE)
    lines = NOTE.split("\n")
    for made in read.proposals:
        [said] = made.evidence
        path, _, line = said.where.rpartition(":")
        assert (path, made.origin, said.by) == ("basic-memory/note.md", "file:basic-memory/note.md", "file")
        assert lines[int(line) - 1].startswith("- ")
    question = next(made for made in read.proposals if made.kind == "question")
    assert question.evidence[0].where == "basic-memory/note.md:15"
    assert question.evidence[0].quote == "How long are dead jobs kept?"


@pytest.mark.parametrize(
    ("category", "kind"),
    [
        ("decision", "decision"),
        ("Decisions", "decision"),
        ("issue", "gotcha"),
        ("warning", "gotcha"),
        ("known_issue", "gotcha"),
        ("question", "question"),
        ("fact", "fact"),
        ("anything else", "fact"),
        ("preference", "preference"),
    ],
)
def test_what_a_category_becomes(tmp_path: Path, category: str, kind: str) -> None:
    [made] = _read(tmp_path, f"---\npermalink: x\n---\n- [{category}] The queue is empty at night\n").proposals
    assert made.kind == kind


def test_a_note_without_a_title_is_called_as_its_file(tmp_path: Path) -> None:
    [made] = _read(tmp_path, "---\npermalink: x\n---\n* [tech] Written in Go\n").proposals
    assert made.text == "note: Written in Go"


def test_a_long_decision_gets_a_short_title(tmp_path: Path) -> None:
    text = (
        "We keep one queue for all kinds of jobs because two of them were never in step and nobody knew which one led"
    )
    [made] = _read(tmp_path, f"---\npermalink: x\n---\n- [decision] {text}. It stays so.\n").proposals
    assert made.fields["title"] == "We keep one queue for all kinds of jobs because two of them were never in step…"
    assert made.fields["body"].startswith(f"{text}. It stays so.")


def test_where_notes_are_found(tmp_path: Path) -> None:
    root, home = tmp_path / "home/project", tmp_path / "home"
    plain, note = "- [tech] Written in Go\n", "---\ntitle: X\npermalink: x\n---\n- [tech] Written in Go\n"
    files = {
        "README.md": plain,
        "top.md": note,
        "kb/a.md": plain,
        "kb/deep/b.md": plain,
        "kb/.hidden/c.md": note,
        "kb/node_modules/d.md": note,
        "notes/own.md": note,
        "notes/other.md": plain,
        "elsewhere/e.md": note,
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    assert [source.shown for source in _find(root, home)] == ["notes/own.md"]
    config = home / ".basic-memory/config.json"
    config.parent.mkdir()
    config.write_text(
        json.dumps({"projects": {"kb": str(root / "kb"), "away": str(tmp_path), "odd": 3, "none": {"path": ""}}})
    )
    assert [source.shown for source in _find(root, home)] == ["kb/a.md", "kb/deep/b.md", "notes/own.md"]
    config.write_text(json.dumps({"projects": {"all": {"path": "~/project", "mode": "local"}}}))
    assert [source.shown for source in _find(root, home)] == ["elsewhere/e.md", "notes/own.md", "top.md"]
    config.write_text("{")
    other = tmp_path / "settings/basic-memory/config.json"
    other.parent.mkdir(parents=True)
    other.write_text(json.dumps({"projects": {"kb": str(root / "kb")}}))
    for env in ({"XDG_CONFIG_HOME": str(tmp_path / "settings")}, {"BASIC_MEMORY_CONFIG_DIR": str(other.parent)}):
        assert [source.shown for source in _find(root, home, env)] == ["kb/a.md", "kb/deep/b.md", "notes/own.md"]


def test_links_are_not_followed(tmp_path: Path) -> None:
    root = tmp_path / "project"
    (root / "notes").mkdir(parents=True)
    (tmp_path / "out").mkdir()
    (tmp_path / "out/a.md").write_text(NOTE)
    (root / "notes/link.md").symlink_to(tmp_path / "out/a.md")
    (root / "knowledge").symlink_to(tmp_path / "out")
    assert _find(root) == []


def test_what_may_not_be_kept_is_left_out_alone(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    text = (
        f"---\npermalink: x\n---\n- [tech] Token {token}\n- [tech] A \u202e trick\n- uses [[{token}]]\n- [tech] Fast\n"
    )
    read = _read(tmp_path, text)
    assert [made.text for made in read.proposals] == ["note: Fast"]
    assert [(problem.code, problem.line) for problem in read.problems] == [
        ("HostSecret", 4),
        ("HostTextUnsafe", 5),
        ("HostSecret", 6),
    ]
    tagged = _read(tmp_path, f"---\npermalink: x\ntags: [{token}]\n---\n- [tech] Fast\n")
    assert tagged.proposals == ()
    assert [problem.code for problem in tagged.problems] == ["HostSecret"]


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    latin = _read(tmp_path, b"---\npermalink: x\n---\n- [tech] caf\xe9\n")
    assert [problem.message for problem in latin.problems] == ["It was not read: it is not UTF-8 text."]
    open_head = _read(tmp_path, "---\npermalink: x\n- [tech] Written in Go\n")
    assert [made.text for made in open_head.proposals] == ["note: Written in Go"]


def test_the_same_note_gives_the_same_proposals(tmp_path: Path) -> None:
    first = _read(tmp_path, NOTE)
    assert _read(tmp_path, NOTE.replace("\n", "\r\n")).proposals == first.proposals
