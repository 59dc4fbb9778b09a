"""Those who come and go: commands that tell and ask, hooks of every client, commits; and bare Python beside them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.soak_ground import FILES, write_session
from benchmarks.soak_servers import LAYERS, Actor

BARE = "python -c pass"
_SECONDS = 60.0
_EVENTS = ("session-start", "prompt", "before-edit", "prompt", "turn-end", "session-end")
CLIENTS = ("claude", "codex", "gemini", "cursor", "copilot", "opencode")

__all__ = ["BARE", "CLIENTS", "Bare", "Commands", "Commits", "Hooks"]


class Commands(Actor):
    """Somebody at a terminal, or an agent without a server: each command is a process of its own."""

    def turn(self, number: int) -> None:
        way = number % 8
        if way in (0, 2, 4, 6):
            self._tell(LAYERS[way // 2])
        elif way == 7:
            self._tend(number // 8)
        else:
            self._ask()

    def _memory(self, *arguments: str, given: Any = None) -> Any:
        with self.ledger.timed(f"memory {' '.join(arguments[: 2 if arguments[0] in LAYERS else 1])}"):
            found = self.place.memory(*arguments, given=given)
        self.ledger.count("commands")
        return found

    def _tell(self, layer: str) -> None:
        word = self.ledger.word(layer)
        if layer == "graph":
            node = {"kind": "gotcha", "title": f"Quay {word}", "body": f"Mind the {word} at the quay."}
            self._memory("save", "--stdin", given={"task": "soak", "nodes": [node]})
        elif layer == "facts":
            self._memory("facts", "store", "Specs", f"The {word} buoy lies {len(word)} miles out.")
        elif layer == "profile":
            self._memory("profile", "remember", "project", word, f"We call it {word}.", "--force")
        else:
            self._import(word)
        self.ledger.keep(word, self.name)

    def _import(self, word: str) -> None:
        """A session that appears at once, as whole files do; whoever syncs first imports it."""
        turns = (f"Cache the {word} list.", f"DECISION: Cache the {word} list for 30 seconds in src/part1.py.")
        path = write_session(self.place.base / "written", self.place.root, word, turns)
        path.rename(self.place.agent / "transcripts" / path.name)
        done = self._memory("journal", "sync", "agent")
        if done["failed"]:
            self.ledger.fail(f"{self.name}: a session was not imported: {done}")

    def _ask(self) -> None:
        known = self.ledger.last(6, LAYERS)
        if not known:
            return
        told = self.chance.choice(known)
        if told.word not in json.dumps(self._memory("query", told.word)) and told.word not in self.ledger.replaced:
            self.ledger.fail(f"{self.name}: {told.word}, which {told.by} told to {told.layer}, is not found")

    def _tend(self, number: int) -> None:
        lines = (
            ("status",),
            ("sync",),
            ("journal", "recall"),
            ("brief", "src/part2.py"),
            ("inbox",),
            ("journal", "status"),
            ("receipts",),
            ("profile", "session-start"),
        )
        self._memory(*lines[number % len(lines)])


class Hooks(Actor):
    """Sessions of clients: each runs its hooks from the start to the end, then another client comes."""

    pause = 0.05

    def turn(self, number: int) -> None:
        session, at = divmod(number, len(_EVENTS))
        client = CLIENTS[(session + (self.name > "hooks 1")) % len(CLIENTS)]
        self._run(client, _EVENTS[at], f"{self.name}-{session}".replace(" ", "-"))

    def _run(self, client: str, event: str, session: str) -> None:
        word, transcript = "", f"{self.place.home}/none.jsonl"
        if client == "claude" and event == "session-end":
            word = self.ledger.word("inbox")
            said = f"Always use the {word} wrapper instead of plain pip, because CI installs from the lock file."
            folder = self.place.home / ".claude/projects/-harbor"
            transcript = str(write_session(folder, self.place.root, word, (said, "Understood.")))
        payload = _payload(client, event, word or session, str(self.place.root), transcript)
        with self.ledger.timed(f"hook {event}"):
            done = subprocess.run(
                [self.place.program("quire"), "hook", client, event],
                cwd=self.place.root,
                env=self.place.env,
                input=json.dumps(payload).encode(),
                capture_output=True,
                timeout=_SECONDS,
                check=False,
            )
        self.ledger.count("hooks")
        if done.returncode or done.stderr:
            self.ledger.fail(f"hook {client} {event} ended with {done.returncode}: {done.stderr[:300]!r}")
        elif done.stdout:
            json.loads(done.stdout)
            self.ledger.count("hooks that handed something over")
        if word:
            self.ledger.keep(word, self.name)


def _payload(client: str, event: str, session: str, root: str, transcript: str) -> dict[str, Any]:
    """What a client says at an event, in its own words."""
    file = f"{root}/src/part{len(session) % FILES}.py"
    prompt = "why are berths counted from the quay?"
    if client == "opencode":
        said: dict[str, Any] = {"event": event, "sessionID": session, "directory": root, "prompt": prompt}
        return {**said, "tool": "edit", "args": {"filePath": file}} if event == "before-edit" else said
    if client == "copilot":
        said = {"sessionId": session, "timestamp": 1774281852263, "cwd": root, "prompt": prompt}
        return {**said, "toolName": "edit", "toolArgs": {"path": file}} if event == "before-edit" else said
    tools = {"codex": "apply_patch", "gemini": "write_file", "cursor": "Write"}
    given = {"file_path": file}
    if client == "codex":
        name = os.path.relpath(file, root)
        given = {"command": f"*** Begin Patch\n*** Update File: {name}\n@@\n-a\n+b\n*** End Patch\n"}
    said = {"session_id": session, "cwd": root, "transcript_path": transcript, "prompt": prompt, "source": "startup"}
    if client == "cursor":
        said |= {"conversation_id": session, "workspace_roots": [root], "cursor_version": "3.2.1"}
    return {**said, "tool_name": tools.get(client, "Edit"), "tool_input": given} if event == "before-edit" else said


class Commits(Actor):
    """Somebody who works on the code: changes a file, and commits everything."""

    pause = 1.5

    def turn(self, number: int) -> None:
        path = self.place.root / f"src/part{self.chance.randrange(FILES)}.py"
        path.write_text(f"{path.read_text()}\n# change {number}\n")
        # Files of the memory are replaced meanwhile: git then says so, and is asked again, as people do.
        for _ in range(5):
            done = self.place.git("add", "--all")
            if done.returncode == 0:
                break
            self.ledger.count("git add, once more")
        else:
            self.ledger.fail(f"git add: {done.stderr[:300]!r}")
        done = self.place.git("commit", "--quiet", "--allow-empty", "--message", f"Change {number}")
        if done.returncode:
            self.ledger.fail(f"git commit: {done.stderr[:300]!r}")
        self.ledger.count("commits")


class Bare(Actor):
    """The least that a process costs at this moment: what a busy machine slows, it slows too."""

    pause = 0.5

    def turn(self, number: int) -> None:  # noqa: ARG002
        with self.ledger.timed(BARE):
            subprocess.run([sys.executable, "-c", "pass"], cwd=Path("/"), check=True)
