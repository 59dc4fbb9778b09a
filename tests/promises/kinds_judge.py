"""What is asked of a project after one of its files was damaged, and how the answers are judged.

Every verb that reads is called in this process, and one harmless write for each layer. Only errors that a person can
act on may come out. What a verb tells of a path counts as naming it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

import msgspec
from kinds_catalogue import TOLD, WITNESS, Space

from quire.machine import Machine
from quire.model.errors import QuireError
from quire.model.records import Problem
from quire.project import Project
from quire.upkeep.findings import Finding
from thorough import either

__all__ = ["READING", "WITNESSES", "WRITING", "Judged", "concerned", "glance", "judge", "survey"]

Verb = Callable[[Project], object]

READING: dict[str, Verb] = {
    "check": lambda project: project.check(),
    "status": lambda project: project.status(),
    "query": lambda project: project.query("where do retries run?"),
    "brief": lambda project: project.brief(),
    "map": lambda project: project.map(),
    "inspect": lambda project: project.inspect_any("feature.victim"),
    "why": lambda project: project.why("src/a.py:1"),
    "diff": lambda project: project.diff(),
    "export": lambda project: project.export("json", everything=True, private=True),
    "doctor": lambda project: project.doctor(),
    "facts": lambda project: project.memory_facts(),
    "facts list": lambda project: project.memory_query(),
    "facts recall": lambda project: project.memory_recall("where do retries run?"),
    "facts context": lambda project: project.memory_context("where do retries run?"),
    "facts archive": lambda project: project.memory_search_archive("exports"),
    "facts episodes": lambda project: project.memory_episodes("beginning"),
    "facts working": lambda project: project.memory_working(),
    "facts normalize": lambda project: project.memory_normalize(dry_run=True),
    "notes": lambda project: project.notes(),
    "profile recall": lambda project: project.profile_recall("tools"),
    "profile search": lambda project: project.profile_search("which shell?"),
    "profile about-me": lambda project: project.profile_about_me(),
    "profile context": lambda project: project.profile_context(),
    "profile status": lambda project: project.profile_status(),
    "profile forgotten": lambda project: project.profile_forgotten(),
    "profile reflect": lambda project: project.profile_reflect(),
    "profile export": lambda project: project.profile_export("json"),
    "journal status": lambda project: project.journal_status(),
    "journal log": lambda project: project.journal_log(events=True, archived=True),
    "journal query": lambda project: project.journal_query("what was decided?"),
    "journal validate": lambda project: project.journal_validate(),
    "journal sources": lambda project: project.journal_sources(),
    "journal automation": lambda project: project.journal_automation(),
    "journal recall preview": lambda project: project.journal_recall(dry_run=True),
    "journal update preview": lambda project: project.journal_update(dry_run=True),
    "journal integration": lambda project: project.journal_integration(),
    "journal providers": lambda project: project.journal_providers(),
    "inbox": lambda project: project.inbox(status="all"),
    "inbox rejected": lambda project: project.inbox_rejected(),
    "receipts": lambda project: project.receipts(),
    "integrate status": lambda project: project.integration_status(),
    "integrate preview": lambda project: project.integrate(["claude", "cursor", "codex"], dry_run=True),
    "integrate user preview": lambda project: project.integrate(["claude"], user=True, dry_run=True),
    "remove preview": lambda project: project.integrate_remove(dry_run=True),
    "view today": lambda project: project.view_today(),
    "view summary": lambda project: project.view_summary(),
    "view inbox": lambda project: project.view_inbox(),
    "view map": lambda project: project.view_map(),
    "view records": lambda project: project.view_records(),
    "view record": lambda project: project.view_record("feature.victim"),
    "view history": lambda project: project.view_history("feature.victim"),
    "view graph": lambda project: project.view_graph(),
    "view timeline": lambda project: project.view_timeline(),
    "view anchors": lambda project: project.view_anchor_health(),
    "view coverage": lambda project: project.view_coverage(),
    "view receipts": lambda project: project.view_receipts(),
    "view files": lambda project: project.view_files(),
    "view pulse": lambda project: project.view_pulse(),
    "hook start": lambda project: project.hook_start(client="claude", session="new", tokens=900, chars=9_000),
    "hook prompt": lambda project: project.hook_prompt("where do retries run?", tokens=900, chars=9_000),
    "hook edit": lambda project: project.hook_edit(["src/a.py"], tokens=900, chars=9_000),
    "projects": lambda project: Machine(project.world).projects(),
    "status of all": lambda project: Machine(project.world).status(),
    "profile of the other": lambda project: _other(project).profile_recall("user"),
    "status of the other": lambda project: _other(project).profile_status(),
}


def _other(project: Project) -> Project:
    return Project.open(project.root.removesuffix("harbor") + "inland", project.world)


def _save(project: Project) -> object:
    return project.save({"task": "go on", "nodes": [{"kind": "gotcha", "title": "Next", "body": "Saved beside it."}]})


def _propose(project: Project) -> object:
    from quire.inbox.proposals import propose

    text = "Backups run on Sundays."
    fields = {"section": "Specs", "content": text}
    return project.inbox_add([propose("facts", "fact", text, fields, origin="session:claude:t", by="user")])


WRITING: dict[str, Verb] = {
    "graph": _save,
    "facts": lambda project: project.memory_store("Specs", "Stored beside it."),
    "profile": lambda project: project.profile_remember("learnings", "next", "Remembered beside it."),
    "journal": lambda project: project.journal_recall(),
    "inbox": _propose,
    "wiring": lambda project: project.integrate(["claude", "cursor", "codex"]),
    "machine": lambda project: Machine(project.world).add(project.root),
    "notes": lambda project: project.note("one more"),
    "pins": lambda project: project.memory_focus([project.memory_query().results[0].id]),
    "session": lambda project: project.memory_session("live", turns=5),
    "rejection": lambda project: project.inbox_reject(value="Nobody reads the reports.", reason="still not so"),
    "collect": lambda project: project.collect_sessions(),
    "run": lambda project: project.journal_run_once(),
    "sync": lambda project: project.sync(),
    "spend": lambda project: _spend(project),
    "agree": lambda project: project.journal_add("markdown", _other(project).root, name="more"),
    "remember there": lambda project: _other(project).profile_remember("user", "hobby", "Sailing at night."),
}


def _spend(project: Project) -> object:
    from quire.capture.providers.settings import ProviderSettings, write_settings
    from quire.capture.providers.spending import reserve

    reserve(project.world, ceiling_usd=2.5, needed=100, provider="codex")
    write_settings(project.world, ProviderSettings(daily_ceiling_usd=3.0))
    return None


_ALWAYS = either(("check", "query"), ("check", "status", "query", "doctor", "view today", "hook start"))
_CONCERNED: dict[str, tuple[str, ...]] = {
    "graph": ("inspect", "why", "map", "export", "view record", "view records", "view files", "graph", "sync"),
    "facts": (
        *("facts", "facts list", "facts recall", "facts context", "facts working", "facts episodes", "notes"),
        *("facts", "notes", "pins", "session"),
    ),
    "profile": (
        *("profile recall", "profile search", "profile about-me", "profile status", "profile forgotten"),
        *("profile reflect", "profile of the other", "status of the other", "profile"),
    ),
    "journal": (
        *("journal status", "journal log", "journal query", "journal validate", "journal sources"),
        *("journal automation", "journal recall preview", "journal update preview", "journal", "run"),
    ),
    "inbox": (
        *("inbox", "inbox rejected", "receipts", "view inbox", "view receipts", "hook prompt"),
        *("inbox", "rejection", "collect"),
    ),
    "wiring": ("integrate status", "integrate preview", "integrate user preview", "remove preview", "wiring"),
    "machine": (
        *("doctor", "projects", "status of all", "journal providers", "journal sources", "profile of the other"),
        *("status of the other", "machine", "spend", "agree", "remember there"),
    ),
    "index": ("facts list", "profile search", "view records", "graph", "facts"),
}


def concerned(place: str) -> tuple[dict[str, Verb], dict[str, Verb]]:
    """The verbs that read, and those that write, which have to do with a place; some have to do with every place."""
    names = (*_ALWAYS, *_CONCERNED[place])
    reading = {name: READING[name] for name in names if name in READING}
    return reading, {name: WRITING[name] for name in ("graph", *names) if name in WRITING}


_GLANCE: dict[str, tuple[str, ...]] = {
    "graph": ("check", "inspect"),
    "facts": ("check", "facts list", "facts working"),
    "profile": ("check", "profile recall", "profile forgotten", "status of the other"),
    "journal": ("check", "journal log", "journal automation"),
    "inbox": ("check", "inbox", "receipts"),
    "wiring": ("integrate status",),
    "machine": ("projects", "journal providers", "status of the other", "doctor"),
    "index": ("query", "facts list"),
}


def glance(place: str) -> dict[str, Verb]:
    """The few verbs that read every file of a place."""
    return {name: READING[name] for name in _GLANCE[place]}


WITNESSES: dict[str, Callable[[Project], bool]] = {
    "graph": lambda project: project.inspect("feature.witness").node.body.strip() == WITNESS,
    "facts": lambda project: {view.content for view in project.memory_query().results} >= set(TOLD),
    "profile": lambda project: [view.key for view in project.profile_recall("tools").results] == ["shell"],
    "journal": lambda project: len(project.journal_log(events=True).results) > 3,
    "inbox": lambda project: len(project.inbox(status="all").proposals) >= 3,
    "notes": lambda project: [note.text for note in project.notes()[0]] == ["look at the uploads"],
    "wiring": lambda project: {"claude", "cursor", "codex"} <= set(_wired(project)),
    "machine": lambda project: [entry.project_root for entry in Machine(project.world).projects()] == [project.root],
}
"""That what lies in other files is still answered from."""


def _wired(project: Project) -> list[str]:
    return [one.client for one in project.integration_status(user=False).clients if one.parts]


class Judged(msgspec.Struct, kw_only=True):
    """What came of asking everything."""

    told: list[str] = []
    """Everything that was said of a path, by whatever verb."""
    checked: list[str] = []
    """The same, by `check` alone."""
    refused: dict[str, str] = {}
    crashed: dict[str, str] = {}

    def names(self, path: str) -> bool:
        return any(path in text for text in self.told)


def judge(space: Space, verbs: dict[str, Verb]) -> Judged:
    """Call each of them; errors that nobody foresaw are gathered, not raised, so that one run finds all of them."""
    found = Judged()
    for name, verb in verbs.items():
        try:
            texts = list(_told(verb(space.open())))
        except QuireError as error:
            texts = [f"{error.details.get('path', '')} {error.message}"]
            found.refused[name] = error.message
        except Exception as error:
            found.crashed[name] = f"{type(error).__name__}: {str(error)[:200]}"
            continue
        found.told += texts
        if name == "check":
            found.checked = texts
    return found


def survey(space: Space, left_out: Collection[str] = ()) -> dict[str, str]:
    """Which witnesses are not answered for, and why."""
    found = {}
    for name, ask in WITNESSES.items():
        if name in left_out:
            continue
        try:
            if not ask(space.open()):
                found[name] = "another answer"
        except QuireError as error:
            found[name] = error.message
    return found


def _told(value: object, depth: int = 6) -> Iterator[str]:
    """What a result says of files: its problems, findings and whatever else has a path and a message."""
    if isinstance(value, Problem | Finding):
        yield f"{getattr(value, 'path', '') or ''}:{getattr(value, 'line', '') or ''} {value.message}"
    elif depth and isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            yield from _told(getattr(value, name), depth - 1)
    elif depth and isinstance(value, dict):
        if isinstance(value.get("path"), str) and isinstance(value.get("message"), str):
            yield f"{value['path']}:{value.get('line') or ''} {value['message']}"
        else:
            for item in value.values():
                yield from _told(item, depth - 1)
    elif depth and isinstance(value, list | tuple):
        for item in value:
            yield from _told(item, depth - 1)
