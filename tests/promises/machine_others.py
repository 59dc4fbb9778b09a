"""Rules for the profile, notes and sessions."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from machine_model import Entry, Fact, Model
from machine_records import FACTS, SECTIONS, pick, rule
from machine_run import Deed, Run

__all__ = ["CATEGORIES", "PROFILE"]

PROFILE = (".ai-state/memory.json", ".ai-state/memory.backup.json", ".gitignore")
CATEGORIES = ("user", "project", "tools", "learnings")


# -- the profile ------------------------------------------------------------------------------


@rule(4)
def remember(run: Run, draw: Random) -> Deed:
    after = run.model.copy()
    name = f"{draw.choice(CATEGORIES)}.{draw.choice('abcdefgh')}"
    category, key = name.split(".")
    before = after.kept.entries.get(name)
    options: dict[str, Any] = {"force": True}
    if draw.random() < 0.4:
        options["importance"] = draw.randint(1, 10)
    if before is None or draw.random() < 0.6:
        value: str | None = f"Likes {run.word()} with {run.word()}."
    else:
        value = None
    if before is not None and draw.random() < 0.3:
        options["status"] = draw.choice(("active", "archived", "superseded"))
    entry = before or Entry("")
    after.kept.entries[name] = replace(
        entry,
        value=value or entry.value,
        importance=options.get("importance", entry.importance),
        status=options.get("status", entry.status),
    )
    return Deed("profile_remember", after, (category, key, value), options, touches=PROFILE)


def unlinked(model: Model, name: str) -> None:
    for other, entry in model.kept.entries.items():
        links = tuple(link for link in entry.links if link[0] != name)
        model.kept.entries[other] = replace(entry, links=links)


@rule(3)
def forget(run: Run, draw: Random) -> Deed | None:
    name = pick(draw, (key for key in run.model.kept.entries if key != "assistant.name"))
    if name is None:
        return None
    after = run.model.copy()
    incoming = tuple(
        (other, relation)
        for other, entry in after.kept.entries.items()
        for target, relation in entry.links
        if target == name
    )
    entry = after.kept.entries.pop(name)
    unlinked(after, name)
    after.here.forgotten.append((name, entry, incoming))
    return Deed("profile_forget", after, tuple(name.split(".")), touches=PROFILE)


@rule(3)
def bring_back(run: Run, draw: Random) -> Deed | None:
    if not run.model.here.forgotten:
        return None
    name = draw.choice(run.model.here.forgotten)[0]
    place = max(number for number, item in enumerate(run.model.here.forgotten) if item[0] == name)
    _, entry, incoming = run.model.here.forgotten[place]
    after = run.model.copy()
    there = after.kept.entries.get(name)
    if there is not None:
        # Back already, word for word: that is left to who tries crashes of this alone.
        return None if there == entry else Deed("profile_restore", None, tuple(name.split(".")))
    after.kept.entries[name] = entry
    for other, relation in incoming:
        source = after.kept.entries.get(other)
        if source is not None and (name, relation) not in source.links:
            after.kept.entries[other] = replace(source, links=(*source.links, (name, relation)))
    del after.here.forgotten[place]
    return Deed("profile_restore", after, tuple(name.split(".")), touches=PROFILE)


@rule()
def link(run: Run, draw: Random) -> Deed | None:
    if len(run.model.kept.entries) < 2:
        return None
    source, target = draw.sample(sorted(run.model.kept.entries), 2)
    relation = draw.choice(("elaborates", "contradicts", "related-to", "depends-on"))
    after = run.model.copy()
    entry = after.kept.entries[source]
    if (target, relation) not in entry.links:
        after.kept.entries[source] = replace(entry, links=(*entry.links, (target, relation)))
    return Deed("profile_link", after, (source, target, relation), touches=PROFILE)


@rule()
def unlink(run: Run, draw: Random) -> Deed | None:
    found = pick(draw, ((name, target) for name, entry in run.model.kept.entries.items() for target, _ in entry.links))
    if found is None:
        return None
    source, target = found
    after = run.model.copy()
    entry = after.kept.entries[source]
    after.kept.entries[source] = replace(entry, links=tuple(item for item in entry.links if item[0] != target))
    return Deed("profile_unlink", after, (source, target), touches=PROFILE)


@rule(1)
def begin_session(run: Run, draw: Random) -> Deed:
    after = run.model.copy()
    after.kept.sessions += 1
    after.kept.entries.setdefault("assistant.name", Entry("", tags=("identity",)))
    return Deed("profile_session_start", after, touches=PROFILE)


# -- notes and sessions -----------------------------------------------------------------------


@rule()
def note(run: Run, draw: Random) -> Deed:
    after = run.model.copy()
    text = f"Look at {run.word()} with {run.word()} soon."
    after.here.notes.append(text)
    return Deed("note", after, ([text],))


@rule()
def notes_done(run: Run, draw: Random) -> Deed | None:
    count = len(run.model.here.notes)
    if not count:
        return Deed("notes_done", None, (["1"],))
    numbers = sorted(draw.sample(range(1, count + 1), draw.randint(1, count)))
    everything = draw.random() < 0.2
    numbers = list(range(1, count + 1)) if everything else numbers
    after = run.model.copy()
    gone = [(number, after.here.notes[number - 1]) for number in numbers]
    after.here.done.append(gone)
    kept = run.model.copy()
    kept.here.done.append(gone)
    after.here.notes = [text for number, text in enumerate(after.here.notes, 1) if number not in numbers]
    return (
        Deed("notes_clear", after, is_quiet=True)
        if everything
        else Deed("notes_done", after, ([str(number) for number in numbers],), is_quiet=True)
    )


@rule()
def notes_undo(run: Run, draw: Random) -> Deed:
    after = run.model.copy()
    if after.here.done:
        gone = after.here.done.pop()
        for number, text in gone:
            after.here.notes.insert(number - 1, text)
    return Deed("notes_undo", after, is_quiet=True)


@rule(1)
def notes_promote(run: Run, draw: Random) -> Deed | None:
    if not run.model.here.notes:
        return None
    number = draw.randint(1, len(run.model.here.notes))
    section = draw.choice(SECTIONS)
    after = run.model.copy()
    text = after.here.notes.pop(number - 1)
    if text.split()[2] in run.model.kept.facts:
        return None  # the model knows one fact by each word
    if run.model.kept.is_refused(text):
        return Deed("notes_promote", None, (str(number), section))
    after.kept.facts[text.split()[2]] = Fact(section, text)
    after.here.done.append([(number, text)])
    return Deed("notes_promote", after, (str(number), section), touches=FACTS, is_quiet=True)


@rule(1)
def session(run: Run, draw: Random) -> Deed:
    after = run.model.copy()
    name, said = run.word(), run.word()
    after.kept.episodes[name] = said
    options = {"turns": 3, "title": f"About {name}", "narrative": f"Moved the {said}.", "close": True}
    return Deed("memory_session", after, (f"session-{name}",), options, touches=FACTS, is_quiet=True)
