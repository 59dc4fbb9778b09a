"""Keeps a small store that the present version made, so that every later one is tried on it.

    .venv/bin/python tools/keep_release.py 0.2.0

A sample project is made with the program's own verbs, as far as it has them: records of every layer, some replaced,
put away or edited by hand, what is private, what waits, what was wired, and in each layer a change that was cut off
in the middle. It is kept in `tests/data/releases/` as plain files, with `expected.json`: what the program said of it.
Names that begin with a dot are kept as `dot-…`, so that neither git nor an agent takes them for its own; the two
folders of the sample are written as `@PROJECT@` and `@HOME@`. `tests/promises/test_versions.py` opens every one.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from release_answers import read_all

HERE = Path(__file__).resolve().parents[1]
RELEASES = HERE / "tests" / "data" / "releases"
NOW = "2026-03-02T11:{minute:02}:00+00:00"
LEFT_OUT = {".git", "index", ".lock", "memory.lock", "__pycache__"}
"""What git keeps, what is made again, what is empty."""
CUT_OFF = """
import os, sys
from quire.files import disk
real = os.replace, os.rename
def stop(source, target, *_, **__):
    if f"{os.sep}transaction-" in str(source) and f"{os.sep}transaction-" not in str(target):
        os._exit(137)
    return real[0](source, target)
os.replace = os.rename = stop
from quire.surfaces.cli.main import main
sys.argv[0] = "memory"
main()
"""
CODE = {
    "src/queue.py": 'def send(message: str) -> bool:\n    """Send until it arrives."""\n    return bool(message)\n',
    "src/mailer.py": "def mail(to: str) -> str:\n    return to.strip()\n",
    "README.md": "# Harbor\n\nSends invoices.\n",
    "CLAUDE.md": "# House rules\n\nWrite tests first.\n",
    "docs/decisions/0001-retries.md": (
        "# 1. Retries run in the worker\n\n## Status\n\nAccepted\n\n## Context\n\nRequests must not wait.\n\n"
        "## Decision\n\nRetries run in the worker.\n\n## Consequences\n\nThe worker needs the queue.\n"
    ),
}
SESSION = "5f0c2a7e-9b1d-4c3e-8a6f-1d2e3f4a5b6c"
SAID = (
    ("user", "We decided that invoices are numbered without gaps, because the auditors ask for it."),
    ("assistant", "Decision: invoice numbers have no gaps. Next step: add a check for gaps in src/queue.py."),
    ("user", "Careful: the PDF export hangs on fonts without a cmap. Remember that."),
    ("assistant", "Gotcha noted: PDF export hangs on fonts without a cmap."),
)


class Program:
    """The program of one version, run in the sample project with a clock that goes on a minute with each call."""

    def __init__(self, folder: Path, source: Path) -> None:
        self.root, self.home, self.source = folder / "harbor", folder / "home", source
        self.minute = 0
        self.env = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(self.home),
            "MEMORY_HOME": str(self.home / "registry"),
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(source),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        self.verbs = self._listed()

    def _listed(self) -> set[str]:
        """The verbs that it has, those of a group behind its name."""
        tops = self._names("--help")
        groups = {top for top in tops if top in ("facts", "profile", "journal", "notes", "inbox")}
        return {"", *tops, *(f"{group} {name}" for group in groups for name in self._names(group, "--help"))}

    def _names(self, *line: str) -> list[str]:
        said = self._start([sys.executable, "-m", "quire", *line], HERE).stdout.decode()
        _, _, behind_the_options = said.partition("\nOptions:\n")[2].partition("\n\n")
        return re.findall(r"^  ([a-z][a-z-]*)", behind_the_options, re.MULTILINE)

    def has(self, verb: str) -> bool:
        return verb in self.verbs

    def __call__(self, *line: str, stdin: Any = None, codes: tuple[int, ...] = (0,)) -> Any:
        """The data that a command answers with; it must end as expected."""
        self.minute += 1
        done = self._start([sys.executable, "-m", "quire", *line, "--json"], self.root, stdin)
        said = f"{line}: {done.stdout.decode()[-2000:]} {done.stderr.decode()[-2000:]}"
        assert done.returncode in codes, said
        return json.loads(done.stdout).get("data") if done.stdout.startswith(b"{") else None

    def cut_off(self, root: Path, *line: str, stdin: Any = None) -> None:
        """A command that dies when everything is decided and nothing is in its place."""
        self.minute += 1
        done = self._start([sys.executable, "-c", CUT_OFF, *line], root, stdin)
        assert done.returncode == 137, (line, done.stdout[-2000:], done.stderr[-2000:])

    def _start(self, line: list[str], cwd: Path, stdin: Any = None) -> subprocess.CompletedProcess[bytes]:
        given = stdin if isinstance(stdin, bytes) else b"" if stdin is None else json.dumps(stdin).encode()
        env = {**self.env, "MEMORY_NOW": NOW.format(minute=self.minute)}
        return subprocess.run(line, cwd=cwd, env=env, input=given, capture_output=True, check=False)

    def git(self, *line: str) -> None:
        names = {f"GIT_{who}_{what}": said for who in ("AUTHOR", "COMMITTER") for what, said in _WHO.items()}
        subprocess.run(["git", *line], cwd=self.root, env={**self.env, **names}, check=True, capture_output=True)


_WHO = {"NAME": "Tess Ter", "EMAIL": "tess@example.com", "DATE": "2026-03-02T11:00:00Z"}


# -- the sample ---------------------------------------------------------------------------------------------------


def make_sample(run: Program) -> None:
    run.home.mkdir()
    for name, text in CODE.items():
        (run.root / name).parent.mkdir(parents=True, exist_ok=True)
        (run.root / name).write_text(text, encoding="utf-8")
    run.git("init", "--quiet", "--initial-branch=main")
    run.git("add", "--all")
    run.git("commit", "--quiet", "--message", "begin")
    for step in (_graph, _facts, _profile, _journal, _clients, _by_hand):
        step(run)


def _graph(run: Program) -> None:
    run("init", "--name", "harbor")
    queue = {"kind": "feature", "title": "Retry queue", "body": "Sends again.", "stage": "shipped", "tags": ["queue"]}
    mailer = {"kind": "feature", "title": "Mailer", "body": "Sends mail.", "stage": "building"}
    redis = {"kind": "decision", "title": "Queue in Redis", "body": "Redis is at hand."}
    clocks = {"kind": "gotcha", "title": "Late clocks", "body": "Clocks drift, naïvely."}
    gaps = {"kind": "question", "title": "Gaps in numbers?", "body": "May invoices have gaps?"}
    old = {"kind": "feature", "title": "Fax", "body": "Nobody faxes."}
    anchored = [{**queue, "anchors": ["src/queue.py"]}, {**mailer, "anchors": ["src/mailer.py"]}]
    run("save", "--stdin", stdin={"task": "begin", "nodes": [*anchored, redis, clocks, gaps, old]})
    postgres = {"kind": "decision", "title": "Queue in Postgres", "body": "Redis lost messages."}
    related = [{"predicate": "depends_on", "to": "feature.retry-queue"}]
    moved = {"id": "decision.queue-in-redis", "superseded_by": "decision.queue-in-postgres", "reason": "moved"}
    run("save", "--stdin", stdin={"task": "move", "nodes": [postgres], "supersede": [moved]})
    run("save", "--stdin", stdin={"task": "join", "nodes": [{"id": "feature.mailer", "related": related}]})
    away = {
        "delete": [{"id": "feature.fax", "reason": "gone"}],
        "stale": [{"id": "gotcha.late-clocks", "reason": "repaired"}],
    }
    run("save", "--stdin", stdin={"task": "tidy", **away})
    if run.has("sync"):
        run("sync")


def _facts(run: Program) -> None:
    if not run.has("facts store"):
        return

    def store(section: str, content: str, *options: str) -> str:
        name: str = run("facts", "store", section, content, *options)["fact"]["id"]
        return name

    worker = store("Architecture", "Webhook retries run in the worker, never in the request.", "--tag", "queue")
    five = store("Constraints", "A delivery is retried at most five times.")
    redis = store("Decisions", "The queue lives in Redis.")
    fax = store("Known Issues", "The fax line is busy on Mondays.")
    run("facts", "supersede", redis, "The queue lives in Postgres.", "--reason", "moved in 2.0")
    run("facts", "archive", fax, "--reason", "nobody faxes")
    run("facts", "connect", worker, five, "depends_on")
    run("facts", "focus", worker)
    run("facts", "session", "7c1e", "--turns", "9", "--tool-calls", "60", "--title", "durable retries", "--close")
    run("facts", "session", "8d2f", "--turns", "2", "--tool-calls", "3", "--title", "still open")
    for words in ("look at the flaky upload test", "ask about fonts"):
        run("note", words)
    run("notes", "done", "2")


def _profile(run: Program) -> None:
    if not run.has("profile remember"):
        return
    remember = ("profile", "remember")
    run(*remember, "user", "timezone", "Europe/Madrid", "--source", "user-stated", "--importance", "9")
    run(*remember, "tools", "package_manager", "uv, never pip", "--tag", "user-preference", "--importance", "8")
    run(*remember, "tools", "shell", "fish on every machine of mine")
    run(*remember, "learnings", "flaky_ci", "The e2e job needs two cores.", "--tag", "ci", "--confidence", "0.6")
    run(*remember, "project", "language", "Python 3.11 and nothing newer yet")
    run("profile", "link", "learnings.flaky_ci", "project.language", "related-to")
    run("profile", "forget", "tools", "shell")
    run("profile", "session-start")
    run("profile", "private", "here", "--yes")


def _journal(run: Program) -> None:
    if not run.has("journal init"):
        return
    folder = run.root / "sessions" / "projects" / "harbor"
    folder.mkdir(parents=True)
    lines = (
        {
            "type": who,
            "uuid": f"5f0c2a7e-{number}",
            "sessionId": SESSION,
            "timestamp": f"2026-03-02T10:{number:02}:00.000Z",
            "message": {"role": who, "content": [{"type": "text", "text": text}] if who == "assistant" else text},
        }
        for number, (who, text) in enumerate(SAID)
    )
    (folder / f"{SESSION}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    run("journal", "init")
    run("journal", "add", "claude-local", "sessions", "--name", "agent", "--all-folders")
    run("journal", "sync", "--all")
    run("journal", "recall")
    run("journal", "add", "codex-local", "sessions", "--name", "gone", "--all-folders")
    run("journal", "remove", "gone", codes=(0, 1, 2))


def _clients(run: Program) -> None:
    if not run.has("inbox"):
        return
    run("integrate", "claude", "codex", "cursor")
    run("integrate", "cursor", "--remove")
    run("import", "adr")
    run("import", "claude-md", codes=(0, 1))
    waiting = run("inbox")["results"]
    if len(waiting) > 1:
        run("inbox", "reject", waiting[-1]["id"], "--reason", "we know")
    payload = {"session_id": SESSION, "cwd": str(run.root), "hook_event_name": "SessionStart", "source": "startup"}
    run("hook", "claude", "session-start", stdin=payload)


def _by_hand(run: Program) -> None:
    """What people do to the files between two commands."""
    body = run.root / ".memory/memory/mailer.md"
    body.write_text(body.read_text(encoding="utf-8") + "\nEdited by hand.\n", encoding="utf-8")
    sidecar = run.root / ".memory/memory/retry-queue.json"
    known = json.loads(sidecar.read_bytes())
    sidecar.write_text(json.dumps({**known, "x_owner": "tess"}, indent=2) + "\n", encoding="utf-8")
    facts = run.root / ".memory/facts.jsonl"
    if facts.exists():
        line = {"_type": "fact", "id": "0a1b2c3d4e5f", "section": "Specs", "content": "Added by hand.", "version": 99}
        with facts.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**line, "created_at": "2026-03-01T09:00:00.000Z", "x_owner": "tess"}) + "\n")
    entries = run.root / ".ai-state/memory.json"
    if entries.exists():
        document = json.loads(entries.read_bytes())
        document["memories"]["learnings"]["flaky_ci"]["x_owner"] = "tess"
        entries.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def cut_off_work(run: Program, folder: Path) -> dict[str, str]:
    """Leave one decided change in each layer; which ones, and what is there when somebody has completed them."""
    lights = {
        "task": "cut",
        "nodes": [{"kind": "feature", "title": "Harbor lights", "body": "Decided, not yet there."}],
    }
    cuts: dict[str, tuple[str, str, tuple[str, ...], Any]] = {
        "save": (".memory", "feature.harbor-lights", ("save", "--stdin"), lights),
        "profile remember": (
            ".ai-state",
            "profile:tools.pager",
            ("profile", "remember", "tools", "pager", "less, with raw colours"),
            None,
        ),
        "journal update": (".agent-memory", "src/fonts.py", ("journal", "update"), None),
    }
    left: dict[str, str] = {}
    for verb, (place, there, line, given) in cuts.items():
        if run.has(verb):
            copy = folder / f"cut{place}"
            shutil.copytree(run.root, copy, symlinks=True)
            if verb == "journal update":
                (copy / "src/fonts.py").write_text("def embed() -> None: ...\n", encoding="utf-8")
            run.cut_off(copy, *line, stdin=given)
            left[place] = there
    for place in left:  # what differs now, layer by layer: each was cut off beside others that were whole
        copy = folder / f"cut{place}"
        assert list((copy / place).glob("recovery/transaction-*/intent.json")), place
        for path in (*(copy / place).rglob("*"), *(copy / "src").rglob("*")):
            name = path.relative_to(copy)
            before = run.root / name
            if path.is_file() and not (before.is_file() and before.read_bytes() == path.read_bytes()):
                (folder / "cut" / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / "cut" / name).write_bytes(path.read_bytes())
    return left


# -- keeping and opening --------------------------------------------------------------------------------------------


def keep(folder: Path, into: Path) -> None:
    """Copy project and home as plain files, each of the two places under its own name."""
    places = {str(folder / "harbor"): "@PROJECT@", str(folder / "home"): "@HOME@"}
    for name in ("harbor", "home", "cut"):
        for path in sorted((folder / name).rglob("*")):
            parts = path.relative_to(folder).parts
            if path.is_dir() or set(parts) & LEFT_OUT:
                continue
            data = path.read_bytes()
            for place, holder in places.items():
                data = data.replace(place.encode(), holder.encode())
            assert str(folder).encode() not in data, path
            target = into.joinpath(*(f"dot-{part[1:]}" if part.startswith(".") else part for part in parts))
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)


def open_kept(release: Path, folder: Path, *, cut_off: bool = False) -> Path:
    """Put a kept store into a folder as it was, with the work that was cut off if wanted; the project's root."""
    places = {"@PROJECT@": str(folder / "harbor"), "@HOME@": str(folder / "home")}
    for top in ("home", "harbor", *(["cut"] if cut_off else [])):
        for path in sorted((release / top).rglob("*")):
            if path.is_dir():
                continue
            data = path.read_bytes()
            for holder, place in places.items():
                data = data.replace(holder.encode(), place.encode())
            parts = (
                f".{part[4:]}" if part.startswith("dot-") else part for part in path.relative_to(release / top).parts
            )
            target = folder.joinpath("home" if top == "home" else "harbor", *parts)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
    return folder / "harbor"


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Keep a small store of the present version for the tests of later ones."
    )
    parser.add_argument("name", help="what the store is called: the version")
    parser.add_argument("--source", type=Path, default=HERE / "src", help="the sources of another version")
    parser.add_argument("--into", type=Path, default=RELEASES, help="where stores are kept")
    given = parser.parse_args()
    target = given.into / given.name
    if target.exists():
        sys.exit(f"{target} already exists: what a release wrote is not written again.")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        (folder / "harbor").mkdir()
        run = Program(folder, given.source.resolve())
        make_sample(run)
        asked = Program(folder / "asked", given.source.resolve())
        shutil.copytree(run.root, asked.root, symlinks=True)
        asked.minute = run.minute
        expected = {"said": read_all(asked, asked.has), "cut_off": cut_off_work(run, folder)}
        keep(folder, target)
    text = json.dumps(expected, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    (target / "expected.json").write_text(text, encoding="utf-8")
    print(f"{target.name}: {sum(path.is_file() for path in target.rglob('*'))} files")


if __name__ == "__main__":
    main()
