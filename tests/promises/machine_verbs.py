"""Every verb by its name: each function over a project that a surface calls."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import quire
from quire.project import Project
from quire.verbs.page.actions import ACTIONS
from quire.verbs.page.table import VIEWS
from quire.verbs.table import VERBS

__all__ = ["verb_module", "verb_named", "verbs"]

_SOURCE = Path(quire.__file__).parent
DECLARED: dict[str, tuple[str, str, str, tuple[str, ...]]] = {
    "query": ("ask.query", "query", "Query", ("question",)),
    "list": ("ask.list", "list_records", "List", ()),
    "add": ("graph.add", "add", "Add", ("kind", "text")),
    "brief": ("ask.brief", "brief", "Brief", ("files",)),
    "review": ("ask.review", "review", "ReviewArguments", ("span",)),
    "fold": ("team.fold", "fold", "Fold", ()),
    "merge": ("team.merge", "merge", "MergeArguments", ("revision",)),
    "resolve": ("team.resolve", "resolve", "Resolve", ("ref",)),
    "propose_record": ("inbox.propose", "propose_record", "Propose", ("kind", "text")),
    "why": ("ask.why", "why", "Why", ("place",)),
    "export": ("admin.export", "export", "Export", ("output_format",)),
    "purge": ("admin.purge", "purge_memory", "Purge", ("text",)),
    "inspect_any": ("ask.inspect", "inspect", "Inspect", ("id",)),
    "receipts": ("agents.receipts", "show_receipts", "ShowReceipts", ()),
    "docs": ("admin.docs", "docs", "ReadDocs", ()),
    "note": ("facts.notes", "take_note", "TakeNote", ("words",)),
    "notes": ("facts.notes", "show_notes", "Arguments", ()),
    "notes_done": ("facts.notes", "done", "DoneNotes", ("numbers",)),
    "notes_clear": ("facts.notes", "clear", "Arguments", ()),
    "notes_undo": ("facts.notes", "undo", "Arguments", ()),
    "notes_promote": ("facts.notes", "promote", "PromoteNote", ("number", "section")),
    "memory_store": ("facts.store", "store", "Store", ("section", "content")),
    "memory_supersede": ("facts.supersede", "supersede", "Supersede", ("fact_id", "content")),
    "memory_archive": ("facts.archive", "archive", "Archive", ("fact_ids",)),
    "memory_refresh": ("facts.refresh", "refresh", "Refresh", ("since",)),
    "memory_restore": ("facts.archive", "restore", "Restore", ("fact_ids",)),
    "memory_connect": ("facts.connect", "connect", "Connect", ("source", "target", "relation")),
    "memory_query": ("facts.list", "list_facts", "ListFacts", ()),
    "memory_recall": ("facts.recall", "find_facts", "Recall", ("query",)),
    "memory_search_archive": ("facts.search_archive", "search_archive", "SearchArchive", ("query",)),
    "memory_episodes": ("facts.episodes", "episodes", "ShowEpisodes", ("query",)),
    "memory_focus": ("facts.focus", "focus", "Focus", ("fact_ids",)),
    "memory_release": ("facts.focus", "release", "Release", ("fact_ids",)),
    "memory_working": ("facts.focus", "focus", "Focus", ()),
    "memory_context": ("facts.context", "context", "ShowContext", ("prompt",)),
    "memory_session": ("facts.session", "record_session", "NoteSession", ("session_id",)),
    "memory_facts": ("facts.overview", "overview", "Arguments", ()),
    "memory_normalize": ("facts.normalize", "normalize", "Normalize", ()),
    "memory_import": ("facts.import_", "import_facts", "Import", ("data",)),
    "memory_ingest_lifecycle": ("facts.ingest", "ingest", "Ingest", ("candidate",)),
    "save": ("graph.save", "save", "Save", ("intent",)),
    "confirm": ("graph.confirm", "confirm", "Confirm", ("ids",)),
    "sync": ("graph.sync", "sync", "Sync", ()),
    "diff": ("graph.diff", "diff", "Diff", ()),
    "check": ("admin.check", "check", "Check", ()),
    "status": ("ask.status", "show_status", "ShowStatus", ()),
    "init": ("admin.init", "init", "Init", ()),
    "rebuild": ("admin.rebuild", "rebuild", "Rebuild", ()),
    "reset": ("admin.reset", "reset", "Reset", ()),
    "upgrade": ("admin.upgrade", "upgrade", "Arguments", ()),
    "memory_compact": ("facts.compact", "compact_conversation", "Compact", ("data",)),
    "profile": ("profile.status", "profile_overview", "Arguments", ()),
    "profile_session_start": ("profile.session_start", "start_session", "Arguments", ()),
    "profile_remember": ("profile.remember", "remember_entry", "RememberEntry", ("category", "key", "value")),
    "profile_forget": ("profile.restore", "forget_entry", "ForgetEntry", ("category", "key")),
    "profile_restore": ("profile.restore", "restore_entry", "RestoreEntry", ("category", "key")),
    "profile_link": ("profile.link", "link_entries", "LinkEntries", ("source", "target", "relation")),
    "profile_unlink": ("profile.link", "unlink_entries", "UnlinkEntries", ("source", "target", "relation")),
    "profile_recall": ("profile.recall", "recall_entries", "RecallEntries", ("category", "key")),
    "profile_search": ("profile.search", "search_entries", "SearchEntries", ("query",)),
    "profile_connections": ("profile.connections", "entry_connections", "EntryName", ("category", "key")),
    "profile_about_me": ("profile.pages", "about_me", "Arguments", ()),
    "profile_about_us": ("profile.pages", "about_us", "Arguments", ()),
    "profile_index": ("profile.pages", "entry_index", "ShowIndex", ()),
    "profile_context": ("profile.context", "profile_context", "ShowProfileContext", ()),
    "profile_status": ("profile.status", "profile_status", "Arguments", ()),
    "profile_reflect": ("profile.reflect", "reflect_on_entries", "ReflectOnEntries", ()),
    "profile_export": ("profile.export", "export_profile", "ExportProfile", ("output_format",)),
    "profile_private": ("profile.private", "keep_private", "KeepPrivate", ("place",)),
    "inbox": ("inbox.overview", "inbox", "ShowInbox", ()),
    "inbox_accept": ("inbox.accept", "accept", "ChosenProposals", ("ids",)),
    "inbox_edit": ("inbox.edit", "edit", "Edit", ("proposal",)),
    "inbox_reject": ("inbox.reject", "reject", "Reject", ("ids",)),
    "inbox_rejected": ("inbox.rejected", "rejected", "Arguments", ()),
    "inbox_lift": ("inbox.lift", "lift", "Lift", ("ids",)),
    "collect": ("inbox.collect", "collect", "Collect", ()),
    "import": ("inbox.import_", "import_sources", "ImportSources", ("words",)),
    "integrate": ("agents.integrate", "integrate", "Integrate", ("clients",)),
    "journal_add": ("journal.sources", "add", "JournalAdd", ("source_type", "path")),
    "journal_sources": ("journal.sources", "sources", "", ()),
    "journal_remove": ("journal.sources", "remove", "JournalRemove", ("name",)),
    "journal_sync": ("journal.sync", "sync", "", ("name",)),
    "journal_init": ("journal.init", "journal_init", "", ()),
    "journal_update": ("journal.update", "journal_update", "", ()),
    "journal_recall": ("journal.recall", "journal_recall", "", ()),
    "journal_restore": ("journal.restore", "journal_restore", "", ("name",)),
    "journal_query": ("journal.query", "journal_query", "", ("question",)),
    "journal_status": ("journal.status", "journal_status", "", ()),
    "journal_validate": ("journal.validate", "journal_validate", "", ()),
    "journal_log": ("journal.log", "journal_log", "", ()),
    "journal_diff": ("journal.diff", "journal_diff", "", ("before", "after")),
    "journal_providers": ("journal.providers", "journal_providers", "", ()),
    "journal_integrate": ("journal.integrate", "integrate_journal", "", ("targets",)),
    "journal_automate_status": ("journal.automate_status", "automate_status", "", ()),
    "journal_automate_run_once": ("journal.automate_run_once", "run_once", "", ()),
    "journal_automate_start": ("journal.automate_process", "start", "", ()),
    "journal.automate_process": ("journal.automate_process", "stop", "", ()),
    "journal_automate_ensure_running": ("journal.automate_ensure_running", "ensure_running", "", ()),
    "journal_automate_daemon": ("journal.automate_process", "daemon", "", ()),
    "memory_assess": ("journal.assess", "assess", "", ()),
    "memory_maintain": ("journal.maintain", "maintain", "", ()),
    "memory_compact_handoff": ("journal.compact_handoff", "compact_handoff", "", ()),
    "doctor": ("admin.doctor", "doctor", "Doctor", ()),
}
"""Declared verbs by the names that the machine has for them: module, function, arguments (or those of
its `VERB`), and which of them come in a row."""
OVER_MACHINE = {"admin.projects"}
"""Modules of verbs that are about no one project."""
PAGE = {run.__name__: (run, takes) for takes, run in ACTIONS.items()} | {
    view.run.__name__: (view.run, view.takes) for view in VIEWS.values()
}
"""What the page asks and does: the function, and the arguments."""


@cache
def verbs() -> dict[str, str]:
    """Each verb and the module that defines it."""
    found: dict[str, str] = {}
    declared = {(f"quire.verbs.{row[0]}", row[1]) for row in DECLARED.values()}
    for path in sorted((_SOURCE / "surfaces").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("quire.verbs."):
                assert node.module is not None
                names = [name.name for name in node.names if (node.module, name.name) not in declared]
                found |= {name: node.module for name in names if _is_verb(node.module, name)}
    undeclared = {module.partition(":")[0] for _, module, _, _ in VERBS} - {row[0] for row in DECLARED.values()}
    assert undeclared == OVER_MACHINE, "the machine has no name for these"
    found |= {name: run.__module__ for name, (run, _) in PAGE.items()}
    return {**found, **{name: f"quire.verbs.{row[0]}" for name, row in DECLARED.items()}}


def _is_verb(module: str, name: str) -> bool:
    path = _SOURCE.joinpath(*module.split(".")[1:]).with_suffix(".py")
    if not path.exists():
        return False
    functions = [node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.FunctionDef)]
    return any(node.name == name and bool(node.args.args) and node.args.args[0].arg == "project" for node in functions)


@cache
def _modules() -> dict[str, str]:
    """Each function over a project, and the module that defines it."""
    found: dict[str, str] = {}
    for path in sorted((_SOURCE / "verbs").rglob("*.py")):
        module = ".".join(("quire", *path.relative_to(_SOURCE).with_suffix("").parts))
        names = [node.name for node in ast.parse(path.read_text(encoding="utf-8")).body if hasattr(node, "name")]
        found |= {name: module for name in names if not name.startswith("_") and _is_verb(module, name)}
    return found


def verb_module(name: str) -> Any:
    return importlib.import_module(f"quire.verbs.{DECLARED[name][0]}" if name in DECLARED else _modules()[name])


def verb_named(name: str) -> Callable[..., Any]:
    """The verb as it is now, also where a test put another one in its place."""
    if name in DECLARED:
        return partial(_call_declared, name)
    if name in PAGE:
        return partial(_call_page, name)
    found: Callable[..., Any] = getattr(Project if hasattr(Project, name) else verb_module(name), name)
    return found


def _call_page(name: str, project: Project, /, *args: Any, **options: Any) -> Any:
    run, takes = PAGE[name]
    row = takes.__struct_fields__
    return run(project, takes(**dict(zip(row, args, strict=False)), **options))


def _call_declared(name: str, project: Project, /, *args: Any, **options: Any) -> Any:
    module, function, takes, row = DECLARED[name]
    where = importlib.import_module(f"quire.verbs.{module}")
    beside = {option: options.pop(option) for option in ("note",) if option in options}
    if name == "memory_normalize":
        options = {"write": not options.get("dry_run", True)}
    taken = getattr(where, takes) if takes else where.VERB.takes
    given = taken(**dict(zip(row, args, strict=False)), **options)
    return getattr(where, function)(project, given, **beside)
