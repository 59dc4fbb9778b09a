"""A project with a journal, sessions to import, and the command run in it: by both its names, and on a terminal."""

from __future__ import annotations

import json
import os
import pty
import select
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from commanding import Here, Said

from installed import Run

__all__ = ["CACHE", "EVERY", "NOW", "UMLAUTS", "Journal", "journal_in", "on_a_terminal", "write_session"]

NOW = "2026-03-02T11:19:00+00:00"
"""The moment at which the tests' clock stands."""
EVERY: dict[str, list[str]] = {
    "init": ["--yes"],
    "update": [],
    "recall": [],
    "query": ["what changed?"],
    "status": [],
    "add": ["claude-local", "."],
    "sources": [],
    "remove": ["agent"],
    "sync": ["--all"],
    "log": [],
    "diff": ["chk-000001"],
    "restore": ["chk-000001"],
    "validate": [],
    "automate": ["status"],
    "integrate": ["--status"],
    "mcp": ["--port=1"],
    "providers": [],
}
"""Every verb, with arguments that make sense; `mcp` with some that make none, because it would go on for ever."""
CACHE = (
    "Cache the order list.",
    "DECISION: Cache the order list for 30 seconds in src/cache.ts.\n"
    "GOTCHA: Cache keys must include the tenant: otherwise tenants see each other's orders.\n"
    "NEXT: Write a cache runbook.",
)
UMLAUTS = (
    "Wie heißt der Schlüssel?",
    "DECISION: Der Schlüssel heißt „Größe“, 例えば 注文.\nGOTCHA: Umlaute: sie müssen normalisiert werden.",
)


class Journal(Here):
    """A project, and the journal's commands run in it, inside this process unless said otherwise."""

    @property
    def state(self) -> Any:
        """The memory as it stands on the disk."""
        return json.loads((self.root / ".agent-memory/state.json").read_bytes())

    @property
    def events(self) -> list[Any]:
        lines = (self.root / ".agent-memory/history/events.jsonl").read_bytes().splitlines()
        return [json.loads(line) for line in lines]

    @property
    def checkpoints(self) -> list[str]:
        return sorted(path.stem for path in (self.root / ".agent-memory/history/checkpoints").glob("*.json"))

    @property
    def titles(self) -> dict[str, list[str]]:
        bundle = self.state["bundle"]
        return {key: [item["title"] for item in bundle[key]] for key in ("gotchas", "nextSteps")}

    @property
    def agent(self) -> Path:
        """Where an agent keeps its sessions, outside of the project."""
        return self.root.parent / "agent"

    def journal(self, *arguments: str, **options: Any) -> Said:
        return self("journal", *arguments, **options)

    def done(self, *arguments: str) -> Any:
        """Run a command that must work; what it answers in JSON."""
        run = self.journal(*arguments, "--json")
        assert run.code == 0, run.out
        return run.data

    def fill(self) -> None:
        """A journal with one source, whose two sessions are imported and wait to be recalled."""
        self.done("init")
        write_session(self.agent / "transcripts/cache.jsonl", CACHE)
        write_session(self.agent / "transcripts/umlauts.jsonl", UMLAUTS)
        self.done("add", "claude-local", str(self.agent), "--name", "agent")
        assert self.done("sync", "agent")["imported"] == 2

    def program(self, *line: str, cwd: Path | None = None) -> Run:
        """The installed program itself, by whatever name."""
        done = subprocess.run(
            [_installed(line[0]), *line[1:]],
            cwd=cwd or self.root,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
            check=False,
        )
        run = Run(done.returncode, done.stdout.decode(), done.stderr.decode())
        assert "Quire itself failed" not in run.out + run.err, run
        return run

    def copy(self, name: str) -> Journal:
        """The same project and its sessions once more."""
        folder = self.root.parent.parent / name
        shutil.copytree(self.root.parent, folder, symlinks=True)
        return Journal(folder / self.root.name, self.env)


def journal_in(folder: Path, env: Mapping[str, str]) -> Journal:
    """A project under git that a scan recognises; its test is a program of ours. There is no journal yet."""
    root = folder / "place/orders"
    root.mkdir(parents=True)
    programs = folder / "programs"
    programs.mkdir()
    (programs / "npm").write_text("#!/bin/sh\ntouch ran\necho all is well\n")
    (programs / "npm").chmod(0o755)
    environment = {"MEMORY_NOW": NOW, **env, "PATH": f"{programs}:{env['PATH']}"}
    subprocess.run(["git", "init", "--quiet"], cwd=root, env=environment, check=True)
    (root / "package.json").write_text('{"name": "orders", "scripts": {"test": "jest"}}\n')
    (root / "README.md").write_text("# Orders\n\nTakes orders.\n")
    return Journal(root, environment)


def write_session(path: Path, said: Sequence[str], cwd: Path | None = None) -> None:
    """A session as an agent keeps it: the user and the agent take turns."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = []
    for number, text in enumerate(said):
        role = "assistant" if number % 2 else "user"
        at = f"2026-03-01T10:{number:02}:00.000Z"
        message = {"role": role, "content": text}
        line = {"type": role, "sessionId": path.stem, "timestamp": at, "message": message}
        lines.append(line if cwd is None else {**line, "cwd": str(cwd)})
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8")


def _installed(name: str) -> str:
    found = shutil.which(name, path=os.path.dirname(sys.executable))
    assert found, f"{name} is not installed beside this interpreter"
    return found


def on_a_terminal(here: Journal, *line: str, answers: Sequence[str | None] = ()) -> tuple[int, str]:
    """Run an installed program on a terminal and answer its questions: exit code, everything it showed.

    None as an answer is the end of the input, as Ctrl-D gives it.
    """
    ours, its = pty.openpty()
    left = [f"{answer}\n".encode() if answer is not None else b"\x04" for answer in answers]
    try:
        process = subprocess.Popen(
            [_installed(line[0]), *line[1:]], cwd=here.root, env=here.env, stdin=its, stdout=its, stderr=its
        )
        os.close(its)
        seen, asked = b"", 0
        while process.poll() is None or select.select([ours], [], [], 0)[0]:
            if not select.select([ours], [], [], 0.1)[0]:
                continue
            try:
                more = os.read(ours, 65536)
            except OSError:
                break
            seen += more
            while seen.lower().count(b"[y/n] ") > asked and left:
                os.write(ours, left.pop(0))
                asked += 1
        code = process.wait(60)
    finally:
        os.close(ours)
    text = seen.decode().replace("\r\n", "\n")
    assert "Quire itself failed" not in text, text
    assert not left, f"not every question was asked:\n{text}"
    return code, text
