"""One run of the machine: a repository in memory, projects opened in several ways, and what is done to them.

A step is the name of a rule and a seed, so that a failing run is cut down by leaving steps out: the others stay what
they are. What was done is kept as a script of calls.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

from machine_model import Branch, Model, changed_nodes
from machine_verbs import verb_named

from quire.files import disk
from quire.files.freshness import Freshness
from quire.files.world import World
from quire.model.errors import QuireError
from quire.project import Project
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.page.change_token import TokenMemo

__all__ = ["Deed", "Disagreement", "Run", "Step"]

Step = tuple[str, int]
LOCAL = (".memory/local/", ".ai-state/local/", ".agent-memory/local/")
"""What reading may write: that something was read."""
NODES = "nodes"
"""Among what a deed touches: the files of nodes that the model says it changes."""
_ASIDE = ("index", "recovery", ".backup", ".git")
_LOCKS = (".lock", "memory.lock", "run.lock")
_CRASHED = 137
_FULL = ("create", "append", "make_folder", "fsync")


class Disagreement(AssertionError):
    """The memory is not what the model says."""


@dataclass(frozen=True)
class Deed:
    """Something to do, and what must be there after it."""

    verb: str
    """A method of the project; empty where something else is done."""
    after: Model | None
    """None: it must be refused, and nothing change."""
    args: tuple[Any, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    between: tuple[Model, ...] = ()
    """What a crash may leave besides, where several files are written one after the other."""
    touches: tuple[str, ...] = ()
    """Beginnings of paths that it may change; what nodes it may change follows from the model."""
    check: Callable[[Any], None] | None = None
    """Looks at what it gave back."""
    work: Callable[[], Any] | None = None
    """What is done where it is no method of the project."""
    text: str = ""
    is_unsure: bool = False
    """Whether there was anything to do is found out by looking: what was there before is as right."""
    decides: bool = False
    """Its work finds out itself what is there, and tells the model."""
    is_quiet: bool = False
    """It is no change that could be interrupted."""

    @property
    def told(self) -> str:
        given = [*map(repr, self.args), *(f"{name}={value!r}" for name, value in self.options.items())]
        return self.text or f"project.{self.verb}({', '.join(given)})"


class Run:
    """A repository with a memory of all layers, and a model of it."""

    def __init__(self, *, guided: bool = False, faults: bool = True) -> None:
        base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.top = Path(tempfile.mkdtemp(prefix="quire-", dir=base)).resolve()
        self.root = self.top / "harbor"
        (self.root / "src").mkdir(parents=True)
        self.sessions = self.top / "sessions"
        self.sessions.mkdir()
        (self.root / "src" / "queue.py").write_text("def send() -> int:\n    return 1\n")
        (self.top / ".gitconfig").write_text(
            "[user]\n\tname = Tess Ter\n\temail = tess@example.com\n[init]\n\tdefaultBranch = main\n"
            "[core]\n\tfsync = none\n[gc]\n\tauto = 0\n[merge]\n\tconflictStyle = diff3\n"
        )
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.top),
            "MEMORY_HOME": str(self.top / "registry"),
            "MEMORY_LOCK_TIMEOUT": "5",
        }
        self.now = datetime(2026, 3, 2, 11, 19, tzinfo=UTC)
        self.tokens = 0
        self.words = 0
        self.faults = faults
        self.script: list[str] = []
        self.called: set[str] = set()
        self.steps = self.crashes = self.refusals = self.compared = 0
        self.ids: dict[str, str] = {}
        """The refs of facts, by their words."""
        self.last_act: tuple[Any, Model, Model] | None = None
        self.doubtful = False
        self.edited: set[str] = set()
        """Nodes whose text somebody changed by hand: who names one adopts that."""
        """Something was interrupted: warnings about it are in order."""
        self.git("init", "--quiet")
        self.held = [self.opened(), self.opened()]
        self.freshness = Freshness()
        self.page = self.opened()
        self.page.freshness = self.page_freshness = Freshness()
        self.memo = TokenMemo()
        self.token_seen: tuple[str, Any] = ("", None)
        self.guided = guided
        init_memory(self.held[0], guidance=guided, layers=("facts", "profile", "journal"))
        self.model = Model()
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "begin")
        self.branch = "main"
        self.branches = {"main": Branch([self.model.copy().kept])}

    def close(self) -> None:
        self.forget_checks(everything=True)
        shutil.rmtree(self.top, ignore_errors=True)

    def forget_checks(self, *, everything: bool = False) -> None:
        """Look at every file again: where the kernel tells nothing of an edit inside a file, that takes two seconds."""
        for freshness in (self.page_freshness, self.freshness):
            if everything or any(checked.watch is None for checked in freshness._checked.values()):
                freshness.close()

    # -- surroundings -----------------------------------------------------------------------------

    def git(self, *arguments: str, fails: bool = False) -> str:
        line = ["git", *arguments]
        env = {**self.env, "GIT_AUTHOR_DATE": "2026-03-02T11:19:00Z", "GIT_COMMITTER_DATE": "2026-03-02T11:19:00Z"}
        done = subprocess.run(line, cwd=self.root, env=env, capture_output=True, check=False)
        if done.returncode and not fails:
            raise Disagreement(f"{' '.join(line)}: {(done.stdout + done.stderr).decode()}")
        return done.stdout.decode()

    def token(self) -> str:
        self.tokens += 1
        return hashlib.sha256(b"%d" % self.tokens).hexdigest()[:16]

    def word(self) -> str:
        """A word that nothing else has, far from all others."""
        self.words += 1
        digits = hashlib.sha256(b"word %d" % self.words).hexdigest()[:8]
        return "q" + "".join(chr(ord("a") + int(digit, 16)) for digit in digits) + "q"

    def opened(self) -> Project:
        world = World(
            cwd=str(self.root),
            env=self.env,
            now=lambda: self.now,
            token=self.token,
            sleep=lambda _seconds: None,
            pid=os.getpid(),
        )
        return Project.open(str(self.root), world)

    def project(self, way: int) -> Project:
        """As a command opens it, as a server does, or one of two that somebody holds on to."""
        if way < 2:
            return self.held[way]
        project = self.opened()
        if way == 2:
            project.freshness = self.freshness
        return project

    def call(self, project: Project, verb: str, *args: Any, **options: Any) -> Any:
        """Every verb that is used is noted here."""
        self.called.add(verb)
        return verb_named(verb)(project, *args, **options)

    # -- files --------------------------------------------------------------------------------------

    def tree(self) -> dict[str, bytes]:
        found = {}
        for folder, folders, files in os.walk(self.root):
            folders[:] = [name for name in folders if name not in _ASIDE]
            for name in files:
                if name not in _LOCKS:
                    path = os.path.join(folder, name)
                    with open(path, "rb") as file:
                        found[os.path.relpath(path, self.root)] = file.read()
        return found

    def compare_trees(self, before: dict[str, bytes], touches: tuple[str, ...], nodes: set[str], what: str) -> None:
        """Only what may be touched was; of nodes, only the files of those that changed."""
        after = self.tree()
        slugs = {name.partition(".")[2] for name in nodes}
        wrong = []
        for path in sorted({*before, *after}):
            name = os.path.basename(path)
            is_node = path.startswith(".memory/memory/") and name.partition(".")[0] in slugs
            # A process that dies may leave what it was writing; a call that is refused may not.
            is_left = self.doubtful and name.startswith(".quire-") and name.endswith(".tmp")
            if before.get(path) != after.get(path) and not (
                path.startswith((*touches, *LOCAL)) or (NODES in touches and is_node) or is_left
            ):
                wrong.append(path)
        if wrong:
            raise Disagreement(f"{what} changed {wrong}")

    # -- doing ----------------------------------------------------------------------------------------

    def perform(self, deed: Deed, draw: Random) -> None:
        """Do it, perhaps with something in its way, and see whether the memory is what the model says."""
        from machine_seeing import look

        way = draw.randrange(4)
        fault = draw.random()
        number, lasting = draw.randrange(24), draw.random() < 0.5
        if deed.work is not None or deed.is_quiet or deed.after is None or not self.faults:
            fault = 1.0
        before, tree = self.model, self.tree() if deed.touches != ("*",) else {}
        self.steps += 1
        if fault < 0.1:
            self.script.append(f"crash at call {number} of: {deed.told}")
            self._crash(deed, number, way)
        elif fault < 0.18:
            self.script.append(f"disk full {'from' if lasting else 'at'} call {number} of: {deed.told}")
            self._refuse(deed, number, lasting, way)
        else:
            self.script.append(deed.told)
            self._plainly(deed, way)
        seen = look(self)
        told = self.model.told()
        if seen != told:
            raise Disagreement("\n".join(["not what the model says:", *differences(told, seen)]))
        token = self.call(self.page, "change_token", self.memo)
        shown = {**seen, "forgotten": []}  # no page shows what was forgotten
        if token == self.token_seen[0] and shown != self.token_seen[1]:
            raise Disagreement("a page would not have noticed that something changed")
        self.token_seen = token, shown
        if deed.touches != ("*",):
            adopted = {name for name in self.edited if name in deed.told}
            nodes = changed_nodes(before, deed.after or before) | adopted
            self.compare_trees(tree, deed.touches, nodes, deed.told)

    def do(self, deed: Deed, way: int) -> Any:
        return deed.work() if deed.work else self.call(self.project(way), deed.verb, *deed.args, **deed.options)

    def _plainly(self, deed: Deed, way: int) -> None:
        if deed.decides:
            self.do(deed, way)
            return
        if deed.after is None:
            try:
                given = self.do(deed, way)
            except QuireError:
                return
            raise Disagreement(f"should have been refused, and gave {given!r}")
        given = self.do(deed, way)
        before, self.model = self.model, self._found(deed) if deed.is_unsure else deed.after
        if deed.check is not None:
            deed.check(given)
        self.last_act = (given, before, deed.after) if deed.verb.startswith(("act_", "undo_")) else self.last_act

    def _refuse(self, deed: Deed, number: int, lasting: bool, way: int) -> None:
        count = 0

        def before(operation: str, path: str) -> None:
            nonlocal count
            count += 1
            if operation in _FULL and (count - 1 == number or (lasting and count > number)):
                self.refusals += 1
                raise OSError(errno.ENOSPC, "No space left on device", path)

        disk.before, usual = before, disk.before
        try:
            self.do(deed, way)
        except QuireError:
            pass
        finally:
            disk.before = usual
        self.model = self._found(deed)

    def _crash(self, deed: Deed, number: int, way: int) -> None:
        """The verb in a child that dies at a call; we reopen, and look what is there."""
        code = self.crash(deed, number, way)
        if code not in (0, _CRASHED):
            raise Disagreement(f"{deed.told} ended with {code} in a process of its own")
        self.model = deed.after if code == 0 and deed.after is not None and not deed.is_unsure else self._found(deed)

    def crash(self, deed: Deed, number: int, way: int) -> int:
        """Do it in a child that dies at this call; how that ended."""
        self.called.add(deed.verb)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            self._die(deed, number, way)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        self.tokens += 1_000
        self.crashes += code == _CRASHED
        self.doubtful = self.doubtful or code == _CRASHED
        return code

    def _die(self, deed: Deed, number: int, way: int) -> None:
        count = 0

        def before(_operation: str, _path: str) -> None:
            nonlocal count
            if count == number:
                os._exit(_CRASHED)
            count += 1

        try:
            disk.before = before
            self.do(deed, way)
            os._exit(0)
        except BaseException:
            traceback.print_exc(file=sys.__stderr__)
            os._exit(70)

    def _found(self, deed: Deed) -> Model:
        assert deed.after is not None
        return self.which(deed.after, self.model, *deed.between)

    def which(self, *models: Model) -> Model:
        """It is there as a whole or not at all: which of the two is found out by looking once."""
        from machine_seeing import look

        seen = look(self)
        lines = ["none of what it may be:"]
        for model in models:
            if model.told() == seen:
                return model
            lines += ["not", *differences(model.told(), seen)]
        raise Disagreement("\n".join(lines))


def differences(told: dict[str, Any], seen: dict[str, Any]) -> list[str]:
    """Where the model and the memory differ, part by part."""
    lines = []
    for name in told:
        if told[name] == seen.get(name):
            continue
        if isinstance(told[name], dict):
            for key in sorted({*told[name], *seen[name]}, key=str):
                if told[name].get(key) != seen[name].get(key):
                    lines.append(f"  {name}[{key!r}]: told {told[name].get(key)!r}, seen {seen[name].get(key)!r}")
        else:
            lines.append(f"  {name}: told {told[name]!r}, seen {seen[name]!r}")
    return lines
