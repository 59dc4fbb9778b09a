"""Pairs of branches that both write to the memory, merged by git in three ways: which files are left in conflict.

*Forge* ignores attributes and knows no driver, as sites do. *Local* is a clone that honours the attributes and was not
set up. *Driver* is a clone after `memory integrate git`. Each branch runs the installed commands; each merge is git's.
A person answers a conflict by `memory resolve` and `git add`; `errors` are those of a check after the last way.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from quire.layers.table import layer_of_file

__all__ = ["run"]

ATTRIBUTES = ".git/info/attributes"
WAYS = ("forge", "local", "driver")
BODY = "One.\n\nTwo.\n\nThree."


class Yard:
    """A clone in which commands are run."""

    def __init__(self, root: Path, memory: str) -> None:
        self.root, self.program = root, memory

    def git(self, *words: str, check: bool = True) -> str:
        done = subprocess.run(["git", *words], cwd=self.root, capture_output=True, text=True, check=False)
        if check and done.returncode:
            raise RuntimeError(f"git {' '.join(words)}: {done.stderr}")
        return done.stdout

    def memory(self, *words: str, stdin: Any = None) -> dict[str, Any]:
        given = stdin if isinstance(stdin, str) or stdin is None else json.dumps(stdin)
        done = subprocess.run(
            [self.program, *words, "--json"], cwd=self.root, input=given, capture_output=True, text=True, check=False
        )
        if done.returncode and not done.stdout.startswith('{"ok":true'):
            raise RuntimeError(f"memory {' '.join(words)}: {done.stdout}{done.stderr}")
        found: dict[str, Any] = json.loads(done.stdout)["data"]
        return found

    def save(self, *nodes: dict[str, Any], **more: Any) -> None:
        self.memory("save", "--stdin", stdin={"task": "a change", "nodes": list(nodes), **more})

    def fact(self, text: str) -> str:
        """The id of the fact with this text."""
        listed = self.memory("facts", "list")["results"]
        return next(str(item["ref"]).removeprefix("fact:") for item in listed if text in json.dumps(item))

    def write(self, path: str, text: str) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def commit(self, name: str) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", name)


Act = Callable[[Yard], object]


class Pair(NamedTuple):
    name: str
    branches: Sequence[Act]
    first: Act = lambda _: None
    """What all branches begin with, beside a feature, a decision, two facts and a profile."""
    disagree: bool = False
    """Whether the branches change the same field of the same record."""


def node(**fields: Any) -> Act:
    return lambda yard: yard.save({"id": "feature.pay", **fields})


def new(title: str, kind: str = "gotcha", **fields: Any) -> Act:
    return lambda yard: yard.save({"kind": kind, "title": title, "body": f"{title} bites.", **fields})


def store(text: str) -> Act:
    return lambda yard: yard.memory("facts", "store", "Specs", text)


def remember(category: str, key: str, value: str) -> Act:
    return lambda yard: yard.memory("profile", "remember", category, key, value)


def on_fact(verb: str, *words: str) -> Act:
    return lambda yard: yard.memory("facts", verb, yard.fact("Retries"), *words)


def notes(name: str) -> Act:
    """A session that is imported into the journal."""

    def act(yard: Yard) -> None:
        said = f"# Session\n\nDecision: {name} lives in Postgres, because two workers write to {name} at once.\n"
        yard.write(f"notes/{name}.md", said)
        yard.memory("journal", "add", "markdown", f"notes/{name}.md")
        yard.memory("journal", "sync", "--all")

    return act


def journal(yard: Yard) -> None:
    yard.memory("journal", "init", "--yes")
    yard.write("sessions/first.md", "# Session\n\nDecision: logs are rotated daily, because the disk is small.\n")
    yard.memory("journal", "add", "markdown", "sessions", "--name", "sessions")
    yard.memory("journal", "sync", "--all")


def session(name: str) -> Act:
    """A session of a source that both know."""

    def act(yard: Yard) -> None:
        yard.write(f"sessions/{name}.md", f"# Session\n\nDecision: {name} is cached, because {name} is slow to read.\n")
        yard.memory("journal", "sync", "--all")

    return act


def recall(yard: Yard) -> None:
    yard.memory("journal", "recall")


def accept(number: int, text: str) -> Act:
    """A proposal that somebody accepts: it was found in a decision record."""

    def act(yard: Yard) -> None:
        said = f"# {text}\n\n## Status\n\nAccepted\n\n## Context\n\nWe looked.\n\n## Decision\n\n{text}.\n"
        yard.write(f"docs/adr/000{number}-decided.md", said)
        yard.memory("import", "adr")
        yard.memory("inbox", "accept", "--all")

    return act


def both(*acts: Act) -> Act:
    return lambda yard: [act(yard) for act in acts]


def rename(yard: Yard) -> None:
    """Both files of a node, and the path in it, as `memory check` asks for it."""
    for suffix in ("json", "md"):
        yard.git("mv", f".memory/memory/pay.{suffix}", f".memory/memory/payments.{suffix}")
    yard.memory("check", "--repair")


def delete(yard: Yard) -> None:
    yard.save(delete=[{"id": "decision.queue", "reason": "no longer true"}])


PAIRS = (
    Pair("two different new nodes", (new("Twice"), new("Slow"))),
    Pair(
        "stage of two old nodes",
        (node(stage="shipped"), lambda yard: yard.save({"id": "feature.ship", "stage": "paused"})),
    ),
    Pair("one node: stage / tags", (node(stage="shipped"), node(tags=["money"]))),
    Pair("one node: paragraph 1 / 3", (node(body=BODY.replace("One.", "One!")), node(body=BODY.replace("ee.", "ee!")))),
    Pair("two facts stored", (store("Invoices live in Postgres."), store("Queues live in Redis."))),
    Pair("two profile entries", (remember("tools", "editor", "vim"), remember("tools", "shell", "fish"))),
    Pair("confirm of one node on both", (lambda y: y.memory("confirm", "decision.queue", "--reason", "looked"),) * 2),
    Pair("code only / a save", (lambda y: y.write("src/pay.py", "def pay(): return 2\n"), node(stage="shipped"))),
    Pair("journal: both import a session", (session("search"), session("upload")), journal),
    Pair("journal: both add a source", (notes("search"), notes("upload")), journal),
    Pair("journal: import / recall", (session("search"), both(session("upload"), recall)), journal),
    Pair("journal: both recall", (both(session("search"), recall), both(session("upload"), recall)), journal, True),
    Pair("both accept a proposal", (accept(1, "Invoices live in Postgres"), accept(2, "The queue lives in Redis"))),
    Pair("both reject", (lambda y: y.memory("inbox", "reject", "--value", "The moon is cheese."),) * 2, disagree=True),
    Pair("integrate claude / cursor", tuple((lambda y, c=c: y.memory("integrate", c)) for c in ("claude", "cursor"))),
    Pair("rename the files / edit the text", (rename, node(body=BODY.replace("Two.", "Two!")))),
    Pair("both supersede one fact", (on_fact("supersede", "Retries run hourly."), on_fact("supersede", "No retries."))),
    Pair("archive / supersede one fact", (on_fact("archive", "--reason", "gone"), on_fact("supersede", "No retries."))),
    Pair(
        "delete / a new relation to it",
        (delete, new("Twice", related=[{"predicate": "affects", "to": "decision.queue"}])),
    ),
    Pair("delete / edit", (delete, lambda y: y.save({"id": "decision.queue", "tags": ["x"]})), disagree=True),
    Pair("one node: two stages", (node(stage="shipped"), node(stage="paused")), disagree=True),
    Pair("one profile entry", (remember("tools", "pager", "more"), remember("tools", "pager", "most")), disagree=True),
    Pair("memory sync on both", (lambda y: y.memory("sync"), lambda y: y.memory("sync"))),
    Pair("three branches of everything", tuple(
        both(new(f"Trap {n}"), store(f"Number {n} holds."), remember("tools", f"tool-{n}", "used")) for n in range(3)
    )),
)  # fmt: skip


def run() -> dict[str, Any]:
    before = dict(os.environ)
    try:
        with tempfile.TemporaryDirectory(prefix="quire-bench-") as name:
            folder = Path(name)
            memory = os.path.join(os.path.dirname(sys.executable), "memory")
            os.environ.update(MEMORY_HOME=str(folder / "home"), HOME=name)
            (folder / ".gitconfig").write_text("[user]\nname = Bench\nemail = bench@example.com\n[gc]\nauto = 0\n")
            rows = [_measure(pair, Yard(folder / "yard", memory)) for pair in PAIRS]
            return {
                "pairs": rows,
                "conflicts": _conflicts(rows),
                "conflicts_of_different_fields": _conflicts([row for row in rows if not row["same_field"]]),
            }
    finally:
        os.environ.clear()
        os.environ.update(before)


def _conflicts(rows: list[dict[str, Any]]) -> dict[str, int]:
    """Pairs that leave a conflict, by the way of merging."""
    return {way: sum(1 for row in rows if row[way]) for way in WAYS}


def _measure(pair: Pair, yard: Yard) -> dict[str, Any]:
    shutil.rmtree(yard.root, ignore_errors=True)
    yard.root.mkdir()
    _begin(yard, pair.first)
    names = [f"branch-{number}" for number in range(len(pair.branches))]
    for name, act in zip(names, pair.branches, strict=True):
        yard.git("checkout", "-q", "-b", name, "main")
        act(yard)
        yard.commit(name)
    row: dict[str, Any] = {"pair": pair.name, "same_field": pair.disagree}
    for way in WAYS:
        row[way] = _merged(yard, way, names)
    yard.memory("fold")
    row["contested"] = _contested(yard.root)
    row["errors"] = _errors(yard)
    if row["errors"]:
        yard.memory("check", "--repair")
        row["errors_after_repair"] = _errors(yard)
    return row


def _errors(yard: Yard) -> list[str]:
    return sorted({problem["code"] for problem in yard.memory("check")["errors"]})


def _contested(root: Path) -> list[str]:
    """What the driver kept both values of."""
    found = []
    for path in tracked_files(root):
        layer = layer_of_file(path)
        fields = layer.contested_in(path, (root / path).read_bytes()) if layer else []
        found += [f"{field.ref} {field.field}" for field in fields]
    return found


def tracked_files(root: Path) -> list[str]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True).stdout
    return [path for path in listed.split("\0") if path and (root / path).is_file()]


def _begin(yard: Yard, first: Act) -> None:
    yard.git("init", "-q", "-b", "main", ".")
    yard.write("src/pay.py", "def pay(): return 1\n")
    yard.memory("init")
    yard.save({"kind": "feature", "title": "Pay", "body": BODY, "anchors": ["src/pay.py"], "stage": "building"})
    yard.save({"kind": "feature", "title": "Ship", "body": "It ships.", "stage": "building"})
    yard.save({"kind": "decision", "title": "Queue", "body": "In Postgres.", "anchors": ["src/pay.py"]})
    yard.memory("facts", "store", "Specs", "Retries run in the worker.")
    remember("tools", "pager", "less")(yard)
    yard.memory("integrate", "git")
    yard.git("config", "--remove-section", "merge.quire")
    yard.git("config", "--remove-section", "merge.union")
    (yard.root / ATTRIBUTES).unlink(missing_ok=True)
    first(yard)
    yard.commit("base")
    yard.git("update-ref", "refs/remotes/origin/main", "main")
    yard.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")


def _merged(yard: Yard, way: str, names: list[str]) -> list[str]:
    """The files that are left in conflict."""
    yard.git("checkout", "-q", "-f", "main")
    yard.git("reset", "-q", "--hard", "origin/main")
    yard.git("clean", "-q", "-f", "-d")
    (yard.root / ATTRIBUTES).parent.mkdir(exist_ok=True)
    (yard.root / ATTRIBUTES).write_text("* !merge\n" if way == "forge" else "")
    if way == "driver":
        yard.memory("integrate", "git")
    conflicts: set[str] = set()
    for name in names:
        yard.git("merge", "-q", "--no-edit", name, check=False)
        found = set(yard.git("diff", "--name-only", "--diff-filter=U").split())
        if found:
            yard.memory("resolve")
            yard.git("add", "-A")
            yard.git("commit", "-q", "--no-edit", "-m", name)
        conflicts |= found
    return sorted(conflicts)
