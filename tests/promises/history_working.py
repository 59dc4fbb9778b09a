"""Many processes at work in one project. Run as a script, with a plan in JSON; each writes down its own history.

One process loads everything once, makes the project, and forks the others, which all begin in the same moment. Each
chooses its verbs by a seed, thinks a little between them, and notes every call before it begins and after it ended.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import pkgutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from history_events import OK
from history_seeing import Hand, Verb, begin
from history_verbs import VERBS

import quire
from quire.model.errors import QuireError

THINKING = 0.004


class Plan(NamedTuple):
    """Who does what how often: roles name what is chosen from, see `VERBS`."""

    root: str
    notes: str
    seed: int
    roles: list[str]
    times: int
    kill: int = 0
    """So many of them, from the first on, are killed on the way."""
    mutant: str = ""
    seconds: float = 300.0


def main(plan: Plan) -> int:
    for module in pkgutil.walk_packages(quire.__path__, "quire."):
        if not module.name.startswith(("quire.__main__", "quire.surfaces", "quire.clients", "quire.capture.hosts")):
            importlib.import_module(module.name)
    os.makedirs(plan.notes, exist_ok=True)
    if not os.path.exists(os.path.join(plan.root, ".memory")):
        begun = begin(plan.root)
        with open(os.path.join(plan.notes, "history-begin"), "w", encoding="utf-8") as file:
            write_line(file, process=-2, number=0, verb="begin", begin=0.0, end=0.0, outcome=OK, effects=begun)
    mutate(plan.mutant)
    ready, go = os.pipe()
    children = [fork(plan, number, ready, go) for number in range(len(plan.roles))]
    os.close(ready)
    os.close(go)  # the last one that holds it: now all of them begin
    return wait(plan, children)


def fork(plan: Plan, number: int, ready: int, go: int) -> int:
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        os.close(go)
        os.read(ready, 1)
        work(plan, number)
        code = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(code)


def wait(plan: Plan, children: list[int]) -> int:
    """All of them end by themselves, but for those that are killed."""
    victims = children[: plan.kill]
    end = time.monotonic() + plan.seconds
    for number, pid in enumerate(victims):
        path = os.path.join(plan.notes, f"history-{number}")
        least = 3 + 2 * number
        while time.monotonic() < end and (not os.path.exists(path) or _lines(path) < 2 * least + 1):
            time.sleep(0.002)
        os.kill(pid, signal.SIGKILL)
    worst = 0
    for pid in children:
        code = os.waitstatus_to_exitcode(_reaped(pid, end))
        worst = max(worst, 0 if pid in victims and code == -signal.SIGKILL else abs(code))
    return worst


def _lines(path: str) -> int:
    with open(path, "rb") as file:
        return file.read().count(b"\n")


def _reaped(pid: int, end: float) -> int:
    while True:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return status
        if time.monotonic() > end:
            print(f"process {pid} hangs", file=sys.stderr)
            os.kill(pid, signal.SIGKILL)
            return os.waitpid(pid, 0)[1] or signal.SIGALRM
        time.sleep(0.005)


# -- one of them --------------------------------------------------------------------------------------------------


def work(plan: Plan, number: int) -> None:
    os.chdir(plan.root)
    hand = Hand(plan.root, number, plan.seed)
    verbs = VERBS[plan.roles[number]]
    names, weights = list(verbs), [weight for _, weight in verbs.values()]
    with open(os.path.join(plan.notes, f"history-{number}"), "w", encoding="utf-8") as file:
        for turn in range(plan.times):
            # Who only creates does each in turn; the others choose.
            name = names[turn % len(names)] if plan.roles[number] == "create" else ""
            name = name or hand.random.choices(names, weights)[0]
            time.sleep(hand.random.random() * THINKING)
            act(file, hand, turn, name, verbs[name][0])


def act(file: Any, hand: Hand, turn: int, name: str, verb: Callable[[Hand], Verb]) -> None:
    """One call, noted before and after."""
    call, told, planned, refused = verb(hand)
    noted: dict[str, Any] = {"process": hand.number, "number": turn, "verb": name, "begin": time.monotonic()}
    write_line(file, **noted, effects=planned)
    said = ""
    try:
        effects, outcome = told(call()), OK
    except QuireError as error:
        effects, outcome, said = refused(error.code), error.code, error.message
    except Exception as error:
        effects, outcome, said = [], f"untyped {type(error).__name__}", f"{error!r:.600}"
    write_line(file, **noted, end=time.monotonic(), outcome=outcome, effects=effects, said=said)


def write_line(file: Any, **fields: Any) -> None:
    file.write(json.dumps({**fields, "effects": list(map(list, fields["effects"]))}) + "\n")
    file.flush()


# -- mutants: what must be found out ------------------------------------------------------------------------------


def mutate(name: str) -> None:
    """Leave out what keeps writers apart."""
    assert name in ("", "no lock", "no lock, no digests", "no comparison"), name
    if name.startswith("no lock"):
        from quire.files import write_access

        @contextlib.contextmanager
        def open_to_all(*_: Any, **__: Any) -> Iterator[None]:
            yield

        setattr(write_access, "held", open_to_all)
    if name == "no comparison":
        from quire.layers.graph import save

        save._refuse_if_read_otherwise = lambda *_: None
    if name.endswith("no digests"):
        from quire.files import transaction

        transaction._refuse_if_changed = lambda *_: None


if __name__ == "__main__":
    sys.exit(main(Plan(**json.loads(sys.argv[1]))))
