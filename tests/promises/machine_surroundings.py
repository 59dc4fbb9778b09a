"""Rules for the journal, and for what happens to a memory without anybody asking it."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from machine_model import Here
from machine_records import rule
from machine_run import Deed, Run

__all__ = ["BEGIN", "JOURNAL", "told_in"]

JOURNAL = (".agent-memory/", "docs/agent-memory/", "AGENTS.md", ".gitignore")
BEGIN = datetime(2026, 3, 2, 11, 19, tzinfo=UTC)


# -- the journal ------------------------------------------------------------------------------


def told_in(run: Run) -> set[str]:
    """What stands in the files of the source."""
    return {path.stem.partition("-about-")[2] for path in run.sessions.glob("*.md")}


@rule()
def session_told(run: Run, draw: Random) -> Deed:
    """Somebody ends a session; nobody has imported it yet."""
    word = run.word()

    def work() -> None:
        text = f"# About {word}\n\nDecision: adopt {word} for the worker.\n"
        (run.sessions / f"2026-02-01-about-{word}.md").write_text(text)

    return Deed("", run.model, work=work, text=f"write a session about {word}", is_quiet=True)


@rule()
def journal_source(run: Run, draw: Random) -> Deed:
    after = run.model.copy()
    if "notes" in after.kept.sources:
        after.kept.sources.clear()
        return Deed("journal_remove", after, ("notes",), touches=JOURNAL)
    after.kept.sources.add("notes")
    return Deed("journal_add", after, ("markdown", str(run.sessions)), {"name": "notes"}, touches=JOURNAL)


@rule(3)
def journal_sync(run: Run, draw: Random) -> Deed:
    if not run.model.kept.sources:
        return Deed("journal_sync", None, (), {"everything": True})
    after = run.model.copy()
    after.kept.imported |= told_in(run)
    return Deed("journal_sync", after, ("notes",), touches=JOURNAL)


def making(run: Run, verb: str, *args: Any, **options: Any) -> Deed:
    """A verb that writes a checkpoint where it has something new to say."""
    grown = run.model.copy()
    grown.kept.checkpoints += 1

    def check(given: Any) -> None:
        assert (given.checkpoint is not None) is (run.model is grown), "a checkpoint is told of exactly if it is there"

    return Deed(verb, grown, args, options, check=check, touches=JOURNAL, is_unsure=True)


@rule()
def journal_recall(run: Run, draw: Random) -> Deed:
    return making(run, "journal_recall")


@rule()
def journal_update(run: Run, draw: Random) -> Deed:
    return making(run, "journal_update")


@rule(1)
def journal_restore(run: Run, draw: Random) -> Deed:
    return making(run, "journal_restore", f"chk-{draw.randint(1, run.model.kept.checkpoints):06}")


# -- accidents --------------------------------------------------------------------------------


@rule(2)
def lose_index(run: Run, draw: Random) -> Deed:
    folder = run.root / ".memory" / "index"
    how = draw.choice(("gone", "zeros", "noise", "cut", "as it was a while ago"))
    older = run.top / "older-index"

    def work() -> None:
        for path in [path for path in folder.glob("*") if path.is_file()] if how in ("zeros", "noise", "cut") else ():
            data = path.read_bytes()
            path.write_bytes({"zeros": bytes(len(data)), "noise": b"noise" * 500}.get(how, data[: len(data) // 2]))
        if how == "gone":
            shutil.rmtree(folder, ignore_errors=True)
        if how.startswith("as") and folder.exists():
            before = run.top / "index-before"
            shutil.copytree(folder, before)
            if older.exists():
                shutil.rmtree(folder)
                older.rename(folder)
            before.rename(older)

    return Deed("", run.model, work=work, text=f"the index is {how}")


@rule(1)
def lose_local(run: Run, draw: Random) -> Deed:
    after = run.model.copy()
    after.here = replace_here(after.here)

    def work() -> None:
        shutil.rmtree(run.root / ".memory" / "local", ignore_errors=True)

    return Deed("", after, work=work, text="rm -r .memory/local")


def replace_here(here: Here) -> Here:
    return Here(forgotten=here.forgotten)


@rule(2)
def pass_time(run: Run, draw: Random) -> Deed:
    span = timedelta(minutes=draw.choice((1, 50, 300, 60 * 24 * 40, 60 * 24 * 400)) * draw.choice((1, 1, 1, -1)))

    def work() -> None:
        run.now += span

    return Deed("", run.model, work=work, text=f"the clock moves by {span}")


@rule(1)
def hold_anew(run: Run, draw: Random) -> Deed:
    place = draw.randrange(2)

    def work() -> None:
        run.held[place] = run.opened()

    return Deed("", run.model, work=work, text=f"held project {place} is opened again")


@rule(1)
def init_again(run: Run, draw: Random) -> Deed:
    layers = tuple(draw.sample(("facts", "profile", "journal"), draw.randrange(4)))
    touches = ("AGENTS.md", "CLAUDE.md", ".gitignore", ".memory/.gitattributes", ".memory/schema/")
    return Deed("init", run.model, (), {"no_guidance": not run.guided, "layers": layers}, touches=touches)


@rule(1)
def rebuild(run: Run, draw: Random) -> Deed:
    return Deed("rebuild", run.model)


@rule(1)
def fold(run: Run, draw: Random) -> Deed:
    return Deed("fold", run.model, (), touches=("AGENTS.md", "CLAUDE.md"))


@rule(1)
def sync(run: Run, draw: Random) -> Deed:
    return Deed("sync", run.model, (), touches=("AGENTS.md", "CLAUDE.md", ".memory/local/", ".memory/sync"))


@rule(1)
def code_changes(run: Run, draw: Random) -> Deed:
    number = draw.randrange(100)

    def work() -> None:
        (run.root / "src" / "queue.py").write_text(f"def send() -> int:\n    return {number}\n")

    return Deed("", run.model, work=work, text=f"src/queue.py returns {number}", touches=("src/",))
