"""Names that climb, in every argument of the command line: refused in words, and no file outside is opened."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from installed import Memory
from promised import proves, tally
from quire.model.errors import QuireError
from quire.project import Project
from quire.verbs.ask.answers import answer_question
from quire.verbs.ask.brief import Brief, brief
from quire.verbs.ask.inspected_node import inspect_node
from quire.verbs.ask.why import Why, why
from quire.verbs.facts.archive import Archive, archive
from quire.verbs.facts.inspect import inspect_fact
from quire.verbs.facts.session import NoteSession, record_session
from thorough import LONG

LINES = [
    *(["inspect", "X"], ["inspect", "fact:X"], ["inspect", "profile:X"], ["inspect", "event:X"]),
    *(["inspect", "bundle:X"], ["inspect", "checkpoint:X"], ["inspect", "feature.X"]),
    *(["query", "queue", "--path", "X"], ["query", "queue", "--kind", "X"], ["query", "queue", "--layer", "X"]),
    *(["brief", "X"], ["brief", "--diff", "X"], ["brief", "--branch", "X"], ["why", "X"], ["why", "X:1"]),
    *(["confirm", "X"], ["docs", "X"], ["completion", "X"], ["receipts", "--session", "X"], ["check", "--undo", "X"]),
    *(["facts", "archive", "X"], ["facts", "restore", "X"], ["facts", "supersede", "X", "New text."]),
    *(["facts", "connect", "X", "feature.queue", "enables"], ["facts", "connect", "feature.queue", "X", "enables"]),
    *(["facts", "focus", "X"], ["facts", "focus", "X", "--session", "X"], ["facts", "release", "X"]),
    *(["facts", "session", "X", "--turns", "1"], ["facts", "session", "X", "--close", "--turns", "1"]),
    *(["facts", "store", "X", "A text."], ["facts", "recall", "x", "--mind", "X"], ["facts", "list", "--section", "X"]),
    *(["facts", "context", "x", "--session", "X"], ["facts", "episodes", "--since", "X"]),
    *(["profile", "recall", "X", "X"], ["profile", "forget", "X", "X"], ["profile", "restore", "X", "X"]),
    *(["profile", "remember", "X", "X", "A value."], ["profile", "connections", "X", "X"], ["profile", "private", "X"]),
    *(["profile", "link", "X", "elaborates", "tools.x"], ["profile", "restore", "tools", "x", "--at", "X"]),
    *(["journal", "sync", "X"], ["journal", "remove", "X"], ["journal", "diff", "X"], ["journal", "restore", "X"]),
    *(["journal", "recall", "--source", "X"], ["journal", "log", "X"], ["journal", "add", "X", "src"]),
    *(
        ["inbox", "accept", "X"],
        ["inbox", "edit", "X", "--text", "x"],
        ["inbox", "reject", "X"],
        ["inbox", "lift", "X"],
    ),
    *(["notes", "done", "X"], ["projects", "remove", "X"], ["integrate", "X"], ["hook", "X", "X"], ["export", "X"]),
]
NAMES = [
    "../secret.txt",
    "OUTSIDE/secret.txt",
    "/etc/passwd",
    "%2e%2e/secret.txt",
    "%2e%2e%2fsecret.txt",
    "..\\secret.txt",
    "\\\\host\\share\\secret.txt",
    "~/secret.txt",
    "src/../../secret.txt",
    "src/leak/secret.txt",
    "../secret",
    "file:///etc/passwd",
    "../" * 40 + "etc/passwd",
    "a/" * 2_000,
    "-" + "../secret.txt",
    "x\n../secret.txt",
]
MARK = "the third bollard"
# A process of its own: what it opens is listened to by the interpreter itself. No argument of a process holds a NUL.
LISTENER = """
import contextlib, json, os, sys
lines, home, root, report = json.load(sys.stdin)
heard = []
def listen(event, args):
    if event in ("open", "os.listdir", "os.scandir", "os.rename", "os.remove", "os.mkdir", "os.symlink", "os.link"):
        heard.extend(os.path.abspath(os.fsdecode(a)) for a in args if isinstance(a, (str, bytes)) and a)
from quire.surfaces.cli.main import run
from quire.verbs.ask.brief import Brief, brief
from quire.verbs.ask.inspected_node import inspect_node
from quire.verbs.ask.answers import answer_question
from quire.verbs.ask.why import Why, why
sys.addaudithook(listen)
top = os.path.dirname(root)
allowed = (root, os.path.join(home, "registry"))
found = []
for line in lines:
    heard.clear()
    with open(report + ".said", "w") as said, contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            code = run(line)
        except SystemExit as ended:
            code = ended.code
    out = [p for p in heard if (p == "/etc/passwd" or p.startswith(top + "/")) and not p.startswith(report)]
    out = [p for p in out if not any(p == a or p.startswith(a + "/") for a in allowed) and p != home]
    with open(report + ".said") as said:
        found.append([line, code, sorted(set(out)), said.read()])
with open(report, "w") as file:
    json.dump(found, file)
"""


@pytest.mark.proof
@proves("P7.2", "D12")
def test_no_name_on_the_command_line_leads_out(memory: Memory, repo: Path, tmp_path: Path) -> None:
    memory.init()
    memory.save({"kind": "feature", "title": "Queue", "body": "It sends again.", "anchors": ["src/"]})
    assert memory("journal", "init").code == 0
    outside = tmp_path / "outside"
    outside.mkdir()
    home = Path(memory.env["HOME"])
    for place in (tmp_path, outside, home):
        (place / "secret.txt").write_text(MARK)
        (place / "secret").write_text(MARK)
    (repo / "src").mkdir()
    (repo / "src/leak").symlink_to(outside)
    lines = []
    for number, line in enumerate(LINES):
        # Each line is tried with some names, and with other ones than the line before it.
        chosen = NAMES if LONG else [NAMES[(number * 3 + turn) % len(NAMES)] for turn in range(3)]
        names = [name.replace("OUTSIDE", str(outside)) for name in chosen]
        lines += [[word.replace("X", name) for word in line] for name in names]
    report = tmp_path / "heard"
    given = json.dumps([lines, str(home), str(repo), str(report)]).encode()
    done = subprocess.run(
        [sys.executable, "-P", "-c", LISTENER], cwd=repo, env=memory.env, input=given, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    found = json.loads(report.read_text())
    assert len(found) == len(lines)
    assert [(line, opened) for line, _, opened, _ in found if opened] == []
    assert [line for line, _, _, said in found if MARK in said or "Traceback" in said or "itself failed" in said] == []
    # A name that nothing has is refused; the few lines that end well looked a text up, or kept it as one.
    assert sum(code != 0 for _, code, _, _ in found) > len(found) * 2 // 3
    tally("P7.2", inputs=len(lines))


@proves("P7.2", "D12")
def test_what_is_listened_for_would_be_heard(memory: Memory, repo: Path, tmp_path: Path) -> None:
    memory.init()
    (tmp_path / "facts.jsonl").write_text("")
    given = json.dumps(
        [[["facts", "import", "../facts.jsonl"]], memory.env["HOME"], str(repo), str(tmp_path / "heard")]
    )
    subprocess.run([sys.executable, "-P", "-c", LISTENER], cwd=repo, env=memory.env, input=given.encode(), check=True)
    ((_, _, opened, _),) = json.loads((tmp_path / "heard").read_text())
    assert opened == [str(tmp_path / "facts.jsonl")]


@proves("P7.2", "D12")
@pytest.mark.parametrize("name", ["x\0y", "../\0secret.txt"])
def test_a_name_with_a_nul_in_it_is_refused_or_names_nothing(project: Project, name: str) -> None:
    asked: list[Callable[[], object]] = [
        lambda: inspect_node(project, name),
        lambda: inspect_fact(project, f"fact:{name}"),
        lambda: record_session(project, NoteSession(session_id=name, turns=1)),
        lambda: why(project, Why(place=name)),
        lambda: brief(project, Brief(files=[name])),
        lambda: answer_question(project, "x", path=name),
    ]
    for ask in asked:
        with pytest.raises(QuireError):
            ask()
    assert archive(project, Archive(fact_ids=[name])).changed == 0
