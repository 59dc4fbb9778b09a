"""A trial of whatever is made of files alone: each is the old one or the new one, and the next run completes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from crash_space import LATER, Tree, differing, leftovers, open_project, read_space
from trials import Prepared

from quire.model.errors import InputError
from quire.project import Project
from quire.verbs.agents.connections import connection_status
from quire.verbs.ask.status import status
from quire.verbs.ask.status import status as status_of
from quire.verbs.inbox.overview import ShowInbox, inbox

__all__ = ["FileTrial", "Scenario", "begin_files"]

# Written on the way, and not worth refusing anything for: the next command sees to them.
BESIDE = ("harbor/.gitignore", "harbor/.memory/local/.gitignore", "home/registry/projects.json")


class Scenario(NamedTuple):
    """What is there before, what is done, and what has to hold wherever it ends."""

    prepare: Callable[[str], None]
    act: Callable[[Project], object]
    look: Callable[[str], Tree] = read_space
    """What counts, by name: files with their bytes, or what they say."""
    sound: Callable[[str], Iterator[str]] = lambda _space: iter(())
    """What is wrong with a space whatever is done in it."""
    at_last: Callable[[Project], object] | None = None
    """What takes it all back in the end, so that everything is as it was before."""
    stepwise: bool = False
    """Several files one after the other: where it is refused, some of them may be new."""


class FileTrial(NamedTuple):
    """A scenario with its beginning and its end, as an unharmed run makes them."""

    name: str
    scenario: Scenario
    prepared: Prepared
    before: Tree
    after: Tree

    @property
    def turns(self) -> int:
        return 1

    @property
    def space(self) -> str:
        return self.prepared.space

    def act(self, phase: str = "b") -> object:
        return self.scenario.act(open_project(self.space, LATER, phase))

    def look(self) -> Tree:
        return self.scenario.look(self.space)

    def is_done(self) -> bool:
        return all(self.is_between(name) for name in self.missing())

    def missing(self) -> list[str]:
        return [name for name in differing(self.look(), self.after) if name not in BESIDE]

    def judge(self, _number: int, *, cut: bool = False) -> Iterator[str]:
        """Everything that is wrong after an interrupted run: first as a reader finds it, then after one more run."""
        try:
            project = open_project(self.space, LATER, "c")
            status(project)
            inbox(project, ShowInbox())
            connection_status(project)
            yield from self.as_found()
            # Whoever was not answered says it again; what is settled may be refused by then.
            wrote = True
            try:
                self.act("d")
            except InputError:
                wrote = False
                if not self.is_done():
                    raise
        except Exception as error:
            yield f"the next run failed: {error!r}"
            return
        for name in differing(self.look(), self.after):
            if not self.is_between(name):
                yield f"the next run left `{name}` different"
        yield from self.scenario.sound(self.space)
        yield from (f"left behind: {name}" for name in remains(self.space, after_a_write=wrote))
        if self.scenario.at_last:
            self.scenario.at_last(open_project(self.space, LATER, "e"))
            for name in differing(self.look(), self.before):
                if name not in BESIDE:
                    yield f"taken back, `{name}` is not as it was"

    def as_found(self) -> Iterator[str]:
        now = self.look()
        for name in {**now, **self.before, **self.after}:
            if now.get(name) not in (self.before.get(name), self.after.get(name)) and not self.is_between(name):
                yield f"`{name}` is neither old nor new: {now.get(name, b'')[:200]!r}"
        yield from self.scenario.sound(self.space)
        yield from (f"left behind: {name}" for name in remains(self.space, after_a_write=False))

    def is_between(self, name: str) -> bool:
        """What records several steps may tell of one that nobody finished: the way back is what counts."""
        return self.scenario.stepwise and name.startswith("harbor/.memory/integrations/")

    def lost(self) -> Iterator[str]:
        """What is not there for the first reader although it was acknowledged."""
        status_of(open_project(self.space, LATER, "c"))
        if self.missing():
            yield f"acknowledged and lost: {self.missing()}"

    def refusal(self, said: str, *, for_good: bool) -> Iterator[str]:
        """What is wrong with how an operation ended that the disk refused a call."""
        if said == "done":
            if self.missing():
                yield f"acknowledged, and not there: {self.missing()}"
            return
        if "KeyboardInterrupt" not in said:
            code, message, hint = said.split("|", 2)
            if code == "untyped" or not hint:
                yield f"not an error that a person can act on: {said}"
            if for_good or "could not be completed" in message:
                return
            changed = [name for name in differing(self.look(), self.before) if name not in BESIDE]
            if changed and not self.scenario.stepwise and not self.is_done():
                yield f"refused, yet changed: {changed}"
        yield from (f"left behind: {name}" for name in remains(self.space, after_a_write=True))


def remains(space: str, *, after_a_write: bool) -> list[str]:
    """What a dead writer should not leave; locks with a name of their own stay, empty."""
    found = leftovers(space, after_a_write=after_a_write)
    return [name for name in found if not name.endswith(".lock") or name.endswith("/.lock")]


def begin_files(scenarios: dict[str, Scenario]) -> Callable[[str, Prepared], FileTrial]:
    def begin(name: str, prepared: Prepared) -> FileTrial:
        """The scenario made ready by an unharmed run."""
        prepared.restore()
        trial = FileTrial(name, scenarios[name], prepared, scenarios[name].look(prepared.space), {})
        trial.act()
        trial = trial._replace(after=trial.look())
        assert differing(trial.before, trial.after), "an unharmed run changes something"
        wrong = list(trial.scenario.sound(prepared.space))
        assert not wrong, f"an unharmed run is not sound: {wrong}"
        return trial

    return begin
