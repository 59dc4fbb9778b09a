"""What is asked of a project after one of its files was damaged, and how the answers are judged.

Every verb that reads is called in this process, and one harmless write for each layer. Only errors that a person can
act on may come out. What a verb tells of a path counts as naming it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

import msgspec
from kinds_catalogue import TOLD, WITNESS, Space

from quire.model.errors import QuireError
from quire.model.records import Problem
from quire.project import Project
from quire.upkeep.findings import Finding
from quire.upkeep.projects import ProjectRegistry
from quire.verbs.admin.check import check_files
from quire.verbs.admin.doctor import Doctor, doctor
from quire.verbs.admin.export import Export, export
from quire.verbs.agents.connections import connect_clients, connection_status, disconnect_clients
from quire.verbs.agents.prompt_brief import hook_edit, hook_prompt
from quire.verbs.agents.receipts import receipts
from quire.verbs.agents.session_brief import hook_start
from quire.verbs.agents.session_end import collect_sessions, journal_run_once
from quire.verbs.ask.answers import answer_question
from quire.verbs.ask.brief import Brief, brief
from quire.verbs.ask.inspect import Inspect, inspect, product_map_page
from quire.verbs.ask.inspected_node import inspect_node
from quire.verbs.ask.status import status, status_of_all
from quire.verbs.ask.why import Why, why
from quire.verbs.facts.context import ShowContext, context
from quire.verbs.facts.episodes import ShowEpisodes, episodes
from quire.verbs.facts.focus import Focus, focus
from quire.verbs.facts.list import ListFacts, list_facts
from quire.verbs.facts.normalize import Normalize, normalize
from quire.verbs.facts.notes import TakeNote, show_notes, take_note
from quire.verbs.facts.overview import overview
from quire.verbs.facts.recall import Recall, find_facts
from quire.verbs.facts.search_archive import SearchArchive, search_archive
from quire.verbs.facts.session import NoteSession, record_session
from quire.verbs.facts.store import Store, store
from quire.verbs.graph.diff import Diff, diff
from quire.verbs.graph.save import save_nodes
from quire.verbs.graph.sync import Sync, sync
from quire.verbs.inbox.add import inbox_add
from quire.verbs.inbox.overview import ShowInbox, inbox
from quire.verbs.inbox.reject import Reject, reject
from quire.verbs.inbox.rejected import rejected
from quire.verbs.journal.automate_status import automate_status
from quire.verbs.journal.integrate import journal_integration
from quire.verbs.journal.log import JournalLog, journal_log
from quire.verbs.journal.providers import JournalProviders, journal_providers
from quire.verbs.journal.query import JournalQuery, journal_query
from quire.verbs.journal.recall import JournalRecall, journal_recall
from quire.verbs.journal.sources import JournalAdd, add, sources
from quire.verbs.journal.status import JournalStatus, journal_status
from quire.verbs.journal.update import JournalUpdate, journal_update
from quire.verbs.journal.validate import JournalValidate, journal_validate
from quire.verbs.page.change_token import TokenMemo, change_token
from quire.verbs.page.health_views import (
    ViewAnchorHealth,
    ViewCoverage,
    ViewFiles,
    ViewReceipts,
    ViewTimeline,
    view_anchor_health,
    view_coverage,
    view_files,
    view_receipts,
    view_timeline,
)
from quire.verbs.page.record_views import ViewHistory, ViewRecord, view_history, view_record
from quire.verbs.page.views import (
    ViewGraph,
    ViewInbox,
    ViewMap,
    ViewRecords,
    ViewSummary,
    ViewToday,
    view_graph,
    view_inbox,
    view_map,
    view_records,
    view_summary,
    view_today,
)
from quire.verbs.profile.context import ShowProfileContext, profile_context
from quire.verbs.profile.export import ExportProfile, export_profile
from quire.verbs.profile.pages import about_me
from quire.verbs.profile.recall import RecallEntries, recall_entries
from quire.verbs.profile.reflect import ReflectOnEntries, reflect_on_entries
from quire.verbs.profile.remember import RememberEntry, remember_entry
from quire.verbs.profile.restore import forgotten_entries
from quire.verbs.profile.search import SearchEntries, search_entries
from quire.verbs.profile.status import profile_status
from quire.verbs.verb import Arguments
from thorough import either

__all__ = ["READING", "WITNESSES", "WRITING", "Judged", "concerned", "glance", "judge", "survey"]

Verb = Callable[[Project], object]

READING: dict[str, Verb] = {
    "check": lambda project: check_files(project),
    "status": lambda project: status(project),
    "query": lambda project: answer_question(project, "where do retries run?"),
    "brief": lambda project: brief(project, Brief()),
    "map": lambda project: product_map_page(project),
    "inspect": lambda project: inspect(project, Inspect(id="feature.victim")),
    "why": lambda project: why(project, Why(place="src/a.py:1")),
    "diff": lambda project: diff(project, Diff()),
    "export": lambda project: export(project, Export(output_format="json", everything=True, private=True)),
    "doctor": lambda project: doctor(project, Doctor()),
    "facts": lambda project: overview(project, Arguments()),
    "facts list": lambda project: list_facts(project, ListFacts()),
    "facts recall": lambda project: find_facts(project, Recall(query="where do retries run?")),
    "facts context": lambda project: context(project, ShowContext(prompt="where do retries run?")),
    "facts archive": lambda project: search_archive(project, SearchArchive(query="exports")),
    "facts episodes": lambda project: episodes(project, ShowEpisodes(query="beginning")),
    "facts working": lambda project: focus(project, Focus()),
    "facts normalize": lambda project: normalize(project, Normalize(write=not True)),
    "notes": lambda project: show_notes(project, Arguments()),
    "profile recall": lambda project: recall_entries(project, RecallEntries(category="tools")),
    "profile search": lambda project: search_entries(project, SearchEntries(query="which shell?")),
    "profile about-me": lambda project: about_me(project, Arguments()),
    "profile context": lambda project: profile_context(project, ShowProfileContext()),
    "profile status": lambda project: profile_status(project, Arguments()),
    "profile forgotten": lambda project: forgotten_entries(project),
    "profile reflect": lambda project: reflect_on_entries(project, ReflectOnEntries()),
    "profile export": lambda project: export_profile(project, ExportProfile(output_format="json")),
    "journal status": lambda project: journal_status(project, JournalStatus()),
    "journal log": lambda project: journal_log(project, JournalLog(events=True, archived=True)),
    "journal query": lambda project: journal_query(project, JournalQuery(question="what was decided?")),
    "journal validate": lambda project: journal_validate(project, JournalValidate()),
    "journal sources": lambda project: sources(project, Arguments()),
    "journal automation": lambda project: automate_status(project, Arguments()),
    "journal recall preview": lambda project: journal_recall(project, JournalRecall(dry_run=True)),
    "journal update preview": lambda project: journal_update(project, JournalUpdate(dry_run=True)),
    "journal integration": lambda project: journal_integration(project),
    "journal providers": lambda project: journal_providers(project, JournalProviders()),
    "inbox": lambda project: inbox(project, ShowInbox(status="all")),
    "inbox rejected": lambda project: rejected(project, Arguments()),
    "receipts": lambda project: receipts(project),
    "integrate status": lambda project: connection_status(project),
    "integrate preview": lambda project: connect_clients(project, ["claude", "cursor", "codex"], dry_run=True),
    "integrate user preview": lambda project: connect_clients(project, ["claude"], user=True, dry_run=True),
    "remove preview": lambda project: disconnect_clients(project, dry_run=True),
    "view today": lambda project: view_today(project, ViewToday()),
    "view summary": lambda project: view_summary(project, ViewSummary()),
    "view inbox": lambda project: view_inbox(project, ViewInbox()),
    "view map": lambda project: view_map(project, ViewMap()),
    "view records": lambda project: view_records(project, ViewRecords()),
    "view record": lambda project: view_record(project, ViewRecord("feature.victim")),
    "view history": lambda project: view_history(project, ViewHistory("feature.victim")),
    "view graph": lambda project: view_graph(project, ViewGraph()),
    "view timeline": lambda project: view_timeline(project, ViewTimeline()),
    "view anchors": lambda project: view_anchor_health(project, ViewAnchorHealth()),
    "view coverage": lambda project: view_coverage(project, ViewCoverage()),
    "view receipts": lambda project: view_receipts(project, ViewReceipts()),
    "view files": lambda project: view_files(project, ViewFiles()),
    "change token": lambda project: change_token(project, TokenMemo()),
    "hook start": lambda project: hook_start(project, client="claude", session="new", tokens=900, chars=9_000),
    "hook prompt": lambda project: hook_prompt(project, "where do retries run?", tokens=900, chars=9_000),
    "hook edit": lambda project: hook_edit(project, ["src/a.py"], tokens=900, chars=9_000),
    "projects": lambda project: ProjectRegistry(project.world).known_projects(),
    "status of all": lambda project: status_of_all(project.world),
    "profile of the other": lambda project: recall_entries(_other(project), RecallEntries(category="user")),
    "status of the other": lambda project: profile_status(_other(project), Arguments()),
}


def _other(project: Project) -> Project:
    return Project.open(project.root.removesuffix("harbor") + "inland", project.world)


def _save(project: Project) -> object:
    return save_nodes(
        project, {"task": "go on", "nodes": [{"kind": "gotcha", "title": "Next", "body": "Saved beside it."}]}
    )


def _propose(project: Project) -> object:
    from quire.inbox.proposals import propose

    text = "Backups run on Sundays."
    fields = {"section": "Specs", "content": text}
    return inbox_add(project, [propose("facts", "fact", text, fields, origin="session:claude:t", by="user")])


WRITING: dict[str, Verb] = {
    "graph": _save,
    "facts": lambda project: store(project, Store(section="Specs", content="Stored beside it.")),
    "profile": lambda project: remember_entry(
        project, RememberEntry(category="learnings", key="next", value="Remembered beside it.")
    ),
    "journal": lambda project: journal_recall(project, JournalRecall()),
    "inbox": _propose,
    "wiring": lambda project: connect_clients(project, ["claude", "cursor", "codex"]),
    "machine": lambda project: ProjectRegistry(project.world).add(project.root),
    "notes": lambda project: take_note(project, TakeNote(words=["one more"])),
    "pins": lambda project: focus(project, Focus(fact_ids=[list_facts(project, ListFacts()).results[0].id])),
    "session": lambda project: record_session(project, NoteSession(session_id="live", turns=5)),
    "rejection": lambda project: reject(project, Reject(value="Nobody reads the reports.", reason="still not so")),
    "collect": lambda project: collect_sessions(project),
    "run": lambda project: journal_run_once(project),
    "sync": lambda project: sync(project, Sync()),
    "spend": lambda project: _spend(project),
    "agree": lambda project: add(project, JournalAdd(source_type="markdown", path=_other(project).root, name="more")),
    "remember there": lambda project: remember_entry(
        _other(project), RememberEntry(category="user", key="hobby", value="Sailing at night.")
    ),
}


def _spend(project: Project) -> object:
    from quire.capture.providers.settings import ProviderSettings, write_settings
    from quire.capture.providers.spend_log import reserve

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
    "graph": lambda project: inspect_node(project, "feature.witness").node.body.strip() == WITNESS,
    "facts": lambda project: {view.content for view in list_facts(project, ListFacts()).results} >= set(TOLD),
    "profile": lambda project: (
        [view.key for view in recall_entries(project, RecallEntries(category="tools")).results] == ["shell"]
    ),
    "journal": lambda project: len(journal_log(project, JournalLog(events=True)).results) > 3,
    "inbox": lambda project: len(inbox(project, ShowInbox(status="all")).proposals) >= 3,
    "notes": lambda project: [note.text for note in show_notes(project, Arguments()).notes] == ["look at the uploads"],
    "wiring": lambda project: {"claude", "cursor", "codex"} <= set(_wired(project)),
    "machine": lambda project: (
        [entry.project_root for entry in ProjectRegistry(project.world).known_projects()] == [project.root]
    ),
}
"""That what lies in other files is still answered from."""


def _wired(project: Project) -> list[str]:
    return [one.client for one in connection_status(project, user=False).clients if one.parts]


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
