"""The fields of a result are what the command prints: one shape for every surface."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from installed import Git, Memory
from quire.files.world import World
from quire.project import Project
from quire.verbs.admin.check import Check, check
from quire.verbs.ask.answers import answer_question
from quire.verbs.ask.brief import Brief, brief
from quire.verbs.ask.inspect import Inspect, inspect
from quire.verbs.ask.query import Query, answered, query
from quire.verbs.ask.status import ShowStatus, show_status
from quire.verbs.ask.why import Why, why
from quire.verbs.envelope import succeeded
from quire.verbs.facts.context import ShowContext, context
from quire.verbs.facts.episodes import ShowEpisodes, episodes
from quire.verbs.facts.focus import Focus, focus
from quire.verbs.facts.list import ListFacts, list_facts
from quire.verbs.facts.normalize import Normalize, normalize
from quire.verbs.facts.notes import show_notes
from quire.verbs.facts.overview import overview
from quire.verbs.graph.confirm import Confirm, confirm
from quire.verbs.graph.diff import Diff, diff
from quire.verbs.graph.sync import Sync, sync
from quire.verbs.journal.automate_ensure_running import DaemonRunning
from quire.verbs.journal.log import JournalLog, journal_log
from quire.verbs.journal.query import JournalQuery, journal_query
from quire.verbs.journal.sources import sources
from quire.verbs.journal.status import JournalStatus, journal_status
from quire.verbs.journal.validate import JournalValidate, journal_validate
from quire.verbs.plain import json_line, plain
from quire.verbs.profile.connections import entry_connections
from quire.verbs.profile.context import ShowProfileContext, profile_context
from quire.verbs.profile.export import ExportProfile, export_profile
from quire.verbs.profile.options import EntryName
from quire.verbs.profile.pages import ShowIndex, entry_index
from quire.verbs.profile.private import KeepPrivate, keep_private
from quire.verbs.profile.reflect import ReflectOnEntries, reflect_on_entries
from quire.verbs.profile.remember import RememberEntry, remember_entry
from quire.verbs.profile.status import profile_status
from quire.verbs.verb import Arguments

Answer = tuple[dict[str, Any], list[Any]]
FACT = "Retries run in the worker."
LEARNING = "The end-to-end job needs two cores, or its tests run into their limits."


@pytest.fixture
def filled(memory: Memory, repo: Path, git: Git) -> Memory:
    """A memory with something in every layer."""
    (repo / "queue.py").write_text("def push(item):\n    return item\n")
    memory.init("--with", "facts,profile,journal")
    git.commit()
    memory.save(
        {"kind": "feature", "title": "Queue", "body": "A queue of jobs.", "anchors": ["queue.py"], "stage": "building"},
        {"kind": "decision", "title": "One queue", "body": "One is enough.", "anchors": ["gone.py"]},
    )
    for words in (
        ("facts", "store", "Decisions", FACT),
        ("profile", "remember", "user", "timezone", "Europe/Madrid"),
        ("profile", "remember", "learnings", "flaky_ci", LEARNING),
        ("note", "look at it"),
    ):
        assert memory(*words).code == 0
    (repo / "queue.py").write_text("def push(item):\n    return [item]\n")
    return memory


def _told(shape: Callable[[Any], dict[str, Any]], found: Any) -> Answer:
    return shape(found), found.warnings


ANSWERS: dict[str, Callable[[Project], Answer]] = {
    "status": lambda project: _told(plain, show_status(project, ShowStatus())),
    "check": lambda project: _told(plain, check(project, Check())),
    "diff": lambda project: _told(plain, diff(project, Diff())),
    "sync --dry-run": lambda project: _told(plain, sync(project, Sync(dry_run=True))),
    "query jobs": lambda project: _told(plain, query(project, Query(question="jobs"))),
    "brief": lambda project: (plain(brief(project, Brief())), []),
    "why queue.py:2": lambda project: (plain(why(project, Why(place="queue.py:2"))), []),
    "inspect feature.queue": lambda project: (plain(inspect(project, Inspect(id="feature.queue"))), []),
    "inspect user.timezone": lambda project: (plain(inspect(project, Inspect(id="user.timezone"))), []),
    "inspect bundle:gotchas": lambda project: (plain(inspect(project, Inspect(id="bundle:gotchas"))), []),
    "facts": lambda project: _told(plain, overview(project, Arguments())),
    "facts list": lambda project: (plain(list_facts(project, ListFacts())), []),
    "facts episodes": lambda project: (plain(episodes(project, ShowEpisodes(query=""))), []),
    "facts focus": lambda project: _told(plain, focus(project, Focus())),
    "facts context": lambda project: (plain(context(project, ShowContext(prompt=""))), []),
    "facts normalize": lambda project: (plain(normalize(project, Normalize())), []),
    "notes": lambda project: _told(plain, show_notes(project, Arguments())),
    "profile": lambda project: _told(plain, profile_status(project, Arguments())),
    "profile private": lambda project: (plain(keep_private(project, KeepPrivate())), []),
    "profile connections user timezone": lambda project: (
        plain(entry_connections(project, EntryName(category="user", key="timezone"))),
        [],
    ),
    "profile index": lambda project: _told(plain, entry_index(project, ShowIndex())),
    "profile context": lambda project: (plain(profile_context(project, ShowProfileContext())), []),
    "profile reflect": lambda project: (plain(reflect_on_entries(project, ReflectOnEntries())), []),
    "profile export": lambda project: (plain(export_profile(project, ExportProfile(output_format="markdown"))), []),
    "journal": lambda project: _told(plain, journal_status(project, JournalStatus())),
    "journal log": lambda project: _told(plain, journal_log(project, JournalLog())),
    "journal validate": lambda project: _told(plain, journal_validate(project, JournalValidate())),
    "journal sources": lambda project: (plain(sources(project, Arguments())), []),
    "journal query what": lambda project: _told(plain, journal_query(project, JournalQuery(question="what"))),
}


def test_the_command_prints_these_fields_byte_for_byte(filled: Memory, repo: Path, world: World) -> None:
    for words, ask in ANSWERS.items():
        printed = filled(*words.split(), "--json").out
        data, warnings = ask(project := Project.open(str(repo), world))
        assert printed == json_line(succeeded(project, data, warnings)) + "\n", words


def test_what_was_told_is_shaped_as_the_command_prints_it(filled: Memory, repo: Path, world: World) -> None:
    project = Project.open(str(repo), world)
    done = confirm(project, Confirm(ids=["feature.queue"], dry_run=True))
    data = plain(done)
    printed = filled("confirm", "feature.queue", "--dry-run", "--json").out
    assert printed == json_line(succeeded(project, data, done.warnings)) + "\n"
    assert data["before"]["feature.queue"]["verdict"] == "changed"
    assert "warnings" not in data

    found = remember_entry(project, RememberEntry(category="learnings", key="slow_ci", value=LEARNING, dry_run=True))
    data = plain(found)
    printed = filled("profile", "remember", "learnings", "slow_ci", LEARNING, "--dry-run", "--json").out
    assert printed == json_line(succeeded(project, data, found.warnings)) + "\n"
    assert (data["action"], data["entry"], [item["key"] for item in data["candidates"]]) == (
        "candidates",
        None,
        ["flaky_ci"],
    )
    assert "warnings" not in data


def test_an_answer_explains_its_scores_only_where_that_is_asked_for(filled: Memory, repo: Path, world: World) -> None:
    found = answer_question(Project.open(str(repo), world), "jobs")
    told, explained = plain(answered(found)), plain(answered(found, explain=True))
    assert [{**item, "explain": hit.parts} for item, hit in zip(told["results"], found.hits, strict=True)] == (
        explained["results"]
    )
    assert all("explain" not in item for item in told["results"])
    assert found.hits[0].parts


def test_a_process_that_could_not_be_started_has_the_fields_of_one_that_was() -> None:
    assert plain(DaemonRunning()) == {"pid": None, "started": False}


def test_text_for_people_loads_its_lines_alone(filled: Memory, repo: Path) -> None:
    for words, loads in ((["inspect", "feature.queue"], False), (["inspect", "feature.queue", "--json"], True)):
        code = (
            "import sys\nfrom quire.surfaces.cli.main import run\n"
            f"code = run({words!r})\nsys.stderr.write('LOADED ' + ' '.join(sys.modules))\nsys.exit(code)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=repo, env=filled.env, capture_output=True, text=True, check=True
        )
        loaded = done.stderr.rpartition("LOADED ")[2].split()
        assert ("quire.verbs.envelope" in loaded) is loads
