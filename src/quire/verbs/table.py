"""The table of verbs: the words of each command, its module below `quire.verbs`, its tool and toolset.

A module may name its declaration (`graph.status:ALL`); by default it is `VERB`. A tool without a command has no words.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quire.verbs.verb import Verb

VERBS = (
    ("add", "graph.add", "", ""),
    ("list", "ask.list", "", ""),
    ("query", "ask.query", "query_memory", "graph"),
    ("save", "graph.save", "save_memory", "graph"),
    ("inspect", "ask.inspect", "inspect_memory", "graph"),
    ("status", "ask.status", "status_memory", "graph"),
    ("brief", "ask.brief", "brief_memory", "graph"),
    ("sync", "graph.sync", "sync_memory", "graph"),
    ("why", "ask.why", "why_memory", "graph"),
    ("review", "ask.review", "", ""),
    ("check", "admin.check", "check_memory", "graph"),
    ("diff", "graph.diff", "diff_memory", "graph"),
    ("fold", "team.fold", "", ""),
    ("merge", "team.merge", "", ""),
    ("resolve", "team.resolve", "", ""),
    ("confirm", "graph.confirm", "confirm_memory", "graph"),
    ("init", "admin.init", "", ""),
    ("rebuild", "admin.rebuild", "", ""),
    ("reset", "admin.reset", "", ""),
    ("upgrade", "admin.upgrade", "", ""),
    ("projects", "admin.projects", "", ""),
    ("projects list", "admin.projects:LIST", "", ""),
    ("projects add", "admin.projects:ADD", "", ""),
    ("projects remove", "admin.projects:REMOVE", "", ""),
    ("projects prune", "admin.projects:PRUNE", "", ""),
    ("facts", "facts.overview", "", ""),
    ("facts store", "facts.store", "memory_store", "facts"),
    ("facts supersede", "facts.supersede", "memory_supersede", "facts"),
    ("facts archive", "facts.archive", "memory_archive", "facts"),
    ("facts refresh", "facts.refresh", "", ""),
    ("facts restore", "facts.archive:RESTORE", "", ""),
    ("facts connect", "facts.connect", "memory_connect", "facts"),
    ("facts recall", "facts.recall", "memory_recall", "facts"),
    ("facts list", "facts.list", "memory_query", "facts"),
    ("facts search-archive", "facts.search_archive", "memory_search_archive", "facts"),
    ("facts episodes", "facts.episodes", "memory_episodes", "facts"),
    ("facts focus", "facts.focus", "memory_focus", "facts"),
    ("facts release", "facts.focus:RELEASE", "memory_release", "facts"),
    ("facts context", "facts.context", "", ""),
    ("facts compact", "facts.compact", "memory_compact", "facts"),
    ("facts ingest", "facts.ingest", "memory_ingest_lifecycle", "facts"),
    ("facts session", "facts.session", "", ""),
    ("facts normalize", "facts.normalize", "", ""),
    ("facts import", "facts.import_", "", ""),
    ("docs", "admin.docs", "", ""),
    ("export", "admin.export", "", ""),
    ("purge", "admin.purge", "", ""),
    ("receipts", "agents.receipts", "", ""),
    ("note", "facts.notes:NOTE", "", ""),
    ("notes", "facts.notes", "", ""),
    ("notes done", "facts.notes:DONE", "", ""),
    ("notes clear", "facts.notes:CLEAR", "", ""),
    ("notes undo", "facts.notes:UNDO", "", ""),
    ("notes promote", "facts.notes:PROMOTE", "", ""),
    ("inbox", "inbox.overview", "", ""),
    ("inbox propose", "inbox.propose", "propose_memory", "graph"),
    ("inbox accept", "inbox.accept", "", ""),
    ("inbox edit", "inbox.edit", "", ""),
    ("inbox reject", "inbox.reject", "", ""),
    ("inbox rejected", "inbox.rejected", "", ""),
    ("inbox lift", "inbox.lift", "", ""),
    ("inbox collect", "inbox.collect", "", ""),
    ("import", "inbox.import_", "", ""),
    ("integrate", "agents.integrate", "", ""),
    ("doctor", "admin.doctor", "", ""),
    ("", "journal.assess", "memory_assess", "journal"),
    ("", "journal.maintain", "memory_maintain", "journal"),
    ("", "journal.compact_handoff", "memory_compact_handoff", "journal"),
    ("journal init", "journal.init", "", ""),
    ("journal update", "journal.update", "", ""),
    ("journal recall", "journal.recall", "journal_recall", "journal"),
    ("journal query", "journal.query", "journal_query", "journal"),
    ("journal status", "journal.status", "memory_status", "journal"),
    ("journal add", "journal.sources:ADD", "", ""),
    ("journal sources", "journal.sources", "", ""),
    ("journal remove", "journal.sources:REMOVE", "", ""),
    ("journal sync", "journal.sync", "journal_sync", "journal"),
    ("journal log", "journal.log", "", ""),
    ("journal diff", "journal.diff", "", ""),
    ("journal restore", "journal.restore", "", ""),
    ("journal validate", "journal.validate", "memory_validate", "journal"),
    ("journal automate", "journal.automate_status:GROUP", "", ""),
    ("journal automate start", "journal.automate_process:START", "", ""),
    ("journal automate stop", "journal.automate_process", "", ""),
    ("journal automate status", "journal.automate_status", "automation_status", "journal"),
    ("journal automate run-once", "journal.automate_run_once", "automation_run_once", "journal"),
    ("journal automate ensure-running", "journal.automate_ensure_running", "automation_ensure_running", "journal"),
    ("journal automate daemon", "journal.automate_process:DAEMON", "", ""),
    ("journal integrate", "journal.integrate", "", ""),
    ("journal providers", "journal.providers", "", ""),
    ("profile", "profile.status:GROUP", "", ""),
    ("profile session-start", "profile.session_start", "session_start", "profile"),
    ("profile remember", "profile.remember", "remember", "profile"),
    ("profile forget", "profile.restore:FORGET", "forget", "profile"),
    ("profile restore", "profile.restore", "", ""),
    ("profile link", "profile.link", "", ""),
    ("", "profile.link:TOOL", "add_link", "profile"),
    ("profile unlink", "profile.link:UNLINK", "", ""),
    ("", "profile.link:REMOVE_LINK", "remove_link", "profile"),
    ("profile recall", "profile.recall", "recall", "profile"),
    ("profile search", "profile.search", "search", "profile"),
    ("profile connections", "profile.connections", "connections", "profile"),
    ("profile about-me", "profile.pages:ABOUT_ME", "about_me", "profile"),
    ("profile about-us", "profile.pages:ABOUT_US", "about_us", "profile"),
    ("profile index", "profile.pages:INDEX", "", ""),
    ("profile context", "profile.context", "", ""),
    ("profile status", "profile.status", "status", "profile"),
    ("profile reflect", "profile.reflect", "reflect", "profile"),
    ("profile export", "profile.export", "export_memories", "profile"),
    ("profile private", "profile.private", "", ""),
)


def load(module: str) -> Verb:
    """The declaration in a module; it is imported now."""
    path, _, name = module.partition(":")
    verb: Verb = getattr(import_module(f"quire.verbs.{path}"), name or "VERB")
    return verb


def module_of(command: str) -> str:
    """The module of a command; empty where it is not declared here."""
    return next((module for words, module, _, _ in VERBS if words == command), "")


def verbs_of(group: str) -> dict[str, str]:
    """The declared verbs of a group, each with its module; one of them may be a group itself."""
    below = {words.removeprefix(f"{group} "): module for words, module, _, _ in VERBS if words.startswith(f"{group} ")}
    return {name: module for name, module in below.items() if " " not in name}


def tools_of(toolset: str) -> dict[str, str]:
    """The tools of a set, each with the module of its verb."""
    return {tool: module for _, module, tool, kind in VERBS if tool and kind == toolset}


def tool_for(command: str) -> str:
    """The tool that does what a command does; empty where there is none."""
    return next((tool for words, _, tool, _ in VERBS if words == command), "")
