"""No secret of a known form gets into a file, an index, a message or a git object, whichever way it comes in."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from attacks_secrets import made_up, wrapped

from installed import Git, Memory
from promised import proves, tally
from quire.inbox.proposals import propose
from quire.model.errors import QuireError
from quire.project import Project
from quire.verbs.facts.notes import TakeNote, take_note
from quire.verbs.facts.session import NoteSession, record_session
from quire.verbs.facts.store import Store, store
from quire.verbs.graph.save import save_nodes
from quire.verbs.inbox.add import inbox_add
from quire.verbs.inbox.edit import Edit, edit
from quire.verbs.profile.remember import RememberEntry, remember_entry

SECRETS = made_up()
WRAPPED = wrapped()
ALIKE = (Path(__file__).parents[1] / "guard/lookalikes.txt").read_text(encoding="utf-8").splitlines()
Way = Callable[[Project, str], object]


def as_node(project: Project, text: str) -> object:
    return save_nodes(project, {"task": "t", "nodes": [{"kind": "gotcha", "title": "T", "body": text}]})


def as_fact(project: Project, text: str) -> object:
    return store(project, Store(section="Specs", content=text))


def as_entry(project: Project, text: str) -> object:
    return remember_entry(project, RememberEntry(category="tools", key="entry", value=text, force=True))


def as_note(project: Project, text: str) -> object:
    return take_note(project, TakeNote(words=[" ".join(text.split())]))


WAYS: dict[str, Way] = {"graph": as_node, "facts": as_fact, "profile": as_entry, "notes": as_note}


def everything(top: Path, git: Git) -> bytes:
    """All bytes below a folder, names of files too, and all objects of git as they are unpacked."""
    git("add", "--all", "--force")
    git("commit", "--quiet", "--allow-empty", "--message", "all")
    found = [git("cat-file", "--batch-all-objects", "--batch", "--unordered").encode("utf-8", "surrogateescape")]
    for folder, _, files in os.walk(top):
        for name in files:
            path = Path(folder, name)
            found.append(os.fsencode(str(path)))
            if path.is_file() and "/.git/objects/" not in str(path):
                found.append(path.read_bytes())
    return b"\n".join(found)


def remaining(secrets: list[str], data: bytes) -> list[int]:
    return [number for number, value in enumerate(secrets) if value.encode() in data]


@proves("P9.1", "G10", over="graph facts profile", found="a private key was stored as a fact, one dash short")
@proves("P9.2", "G10", over="graph facts profile")
@pytest.mark.parametrize("way", WAYS)
def test_secrets_of_every_form_are_refused_and_nowhere_afterwards(
    project: Project, tmp_path: Path, git: Git, way: str
) -> None:
    assert len(SECRETS) >= 150
    passed, said = [], []
    for secret in SECRETS:
        try:
            WAYS[way](project, secret.text)
        except QuireError as refusal:
            said.append(json.dumps([refusal.message, refusal.hint, refusal.details], default=str))
        else:
            passed.append(secret.value)
    assert len(passed) <= len(SECRETS) * 0.02, passed
    refused = [secret.value for secret in SECRETS if secret.value not in passed]
    assert remaining(refused, everything(tmp_path, git)) == []
    assert remaining(refused, "\n".join(said).encode()) == []
    tally("P9.1", inputs=len(SECRETS))
    tally("P9.2", inputs=len(refused))


@pytest.mark.proof
@proves("P9.1", "G10", over="graph facts profile")
def test_what_only_looks_like_a_secret_is_let_through(project: Project) -> None:
    assert len(ALIKE) >= 300
    nodes = [{"kind": "gotcha", "title": f"T {n}", "body": text} for n, text in enumerate(ALIKE) if text.strip()]
    alarms = 0
    for first in range(0, len(nodes), 50):
        done = save_nodes(project, {"task": "t", "nodes": nodes[first : first + 50]}, dry_run=True)
        alarms += sum(problem.code == "MemorySecretWarning" for problem in done.warnings)
    assert alarms <= len(ALIKE) * 0.01
    for text in ALIKE[::6]:
        store(project, Store(section="Specs", content=text))
        remember_entry(project, RememberEntry(category="tools", key="entry", value=text, force=True))
    tally("P9.1", inputs=len(ALIKE))


@proves("P9.1", "G10", over="journal inbox")
@proves("P9.2", "G10", over="journal inbox")
def test_secrets_of_sessions_and_of_other_programs_are_left_out(
    memory: Memory, repo: Path, tmp_path: Path, git: Git
) -> None:
    """A session that says them all, and a file of rules that holds them all; beside each, what may be kept."""
    memory.init("--no-guidance")
    texts = [" ".join(secret.text.split("\n")) if "BEGIN" not in secret.text else secret.text for secret in SECRETS]
    sessions = tmp_path / "agent/transcripts"
    sessions.mkdir(parents=True)
    lines = []
    for number, text in enumerate([*texts, "Lanterns are lit at dusk."]):
        said = (f"Please look at {text}", f"DECISION: use {text} because it is quick.\nNEXT: rotate {text}")
        for role, content in zip(("user", "assistant"), said, strict=True):
            at = f"2026-03-01T{10 + number // 60:02}:{number % 60:02}:00.000Z"
            message = {"role": role, "content": content}
            lines.append({"type": role, "sessionId": "s", "timestamp": at, "cwd": str(repo), "message": message})
    (sessions / "s.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    out = [memory("journal", "init"), memory("journal", "add", "claude-local", "../agent", "--name", "agent")]
    out += [memory("journal", "sync", "agent"), memory("journal", "recall"), memory("journal", "query", "what next?")]
    rules = "".join(f"- For {number}: {' '.join(text.split())}\n" for number, text in enumerate(texts))
    (repo / "CLAUDE.md").write_text(f"## Rules\n\n- Lanterns are lit at dusk.\n{rules}")
    out += [memory("import", "claude-md"), memory("import", "claude-md", "--json"), memory("inbox")]
    assert [run.code for run in out[:3]] == [0] * 3, out
    assert "Lanterns are lit" in out[-1].out
    (repo / "CLAUDE.md").unlink()
    (sessions / "s.jsonl").unlink()
    data = everything(tmp_path, git) + "".join(run.out + run.err for run in out).encode()
    values = [secret.value for secret in SECRETS]
    assert b"Lanterns are lit" in data
    assert remaining(values, data) == []
    tally("P9.2", inputs=2 * len(values))


# -- in disguise ---------------------------------------------------------------------------------------


@proves("P9.1", "G11", over="graph facts profile", found="a soft hyphen hid a token")
@pytest.mark.parametrize("way", WAYS)
def test_a_secret_in_a_simple_disguise_is_refused(project: Project, way: str) -> None:
    passed = []
    for name, secret in WRAPPED.items():
        try:
            WAYS[way](project, secret.text)
        except QuireError:
            continue
        passed.append(name)
    assert passed == []


@proves("P9.1", "G11", over="graph facts profile inbox")
def test_a_secret_in_a_name_or_a_side_field_is_refused(project: Project, repo: Path) -> None:
    value = WRAPPED["file name"].value
    node = {"kind": "gotcha", "title": "T", "body": "B"}
    attempts: list[Callable[[], object]] = [
        lambda: save_nodes(project, {"task": "t", "nodes": [{**node, "anchors": [f"src/{value}.py"]}]}),
        lambda: save_nodes(project, {"task": "t", "nodes": [{**node, "tags": [value]}]}),
        lambda: save_nodes(project, {"task": value, "nodes": [node]}),
        lambda: store(project, Store(section="Specs", content="A text.", tags=[value])),
        lambda: store(project, Store(section="Specs", content="A text.", source=value)),
        lambda: record_session(project, NoteSession(session_id=value, turns=1)),
        lambda: remember_entry(project, RememberEntry(category="tools", key="entry", value="A text.", detail=value)),
    ]
    for number, attempt in enumerate(attempts):
        with pytest.raises(QuireError) as refusal:
            attempt()
        assert value not in f"{refusal.value.message} {refusal.value.details}", number
    item = propose("facts", "fact", "Plain.", {"section": "Specs", "content": "Plain."}, origin="file:x", by="file")
    inbox_add(project, [item])
    with pytest.raises(QuireError):
        edit(project, Edit(proposal=item.id, text=f"Now with {value}"))
    assert not any(value.encode() in path.read_bytes() for path in repo.rglob("*") if path.is_file())
