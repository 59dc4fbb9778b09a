"""Every kind of file that is ever read: how each is told by its path, and a project in which all of them are.

`build` makes the project with the verbs that people use. `KINDS` names what they leave; `test_kinds.py` checks that no
file of theirs is without a kind and no kind without a file.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import re
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from typing import NamedTuple

import msgspec
from crashing import git
from journal_trials import bare, prune, say, sessions_of, write
from trials import NOW, open_project

from quire.model.errors import QuireError
from quire.project import Project
from quire.upkeep.projects import ProjectRegistry
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.agents.connections import connect_clients, connection_status
from quire.verbs.agents.hook_answer import answer_hook
from quire.verbs.agents.receipts import receipts
from quire.verbs.agents.session_end import collect_sessions, journal_run_once
from quire.verbs.ask.inspected_node import inspect_node
from quire.verbs.ask.status import status
from quire.verbs.ask.status import status as status_of
from quire.verbs.facts.archive import Archive, archive
from quire.verbs.facts.compact import Compact, compact
from quire.verbs.facts.connect import Connect, connect
from quire.verbs.facts.episodes import ShowEpisodes, episodes
from quire.verbs.facts.focus import Focus, focus
from quire.verbs.facts.list import ListFacts, list_facts
from quire.verbs.facts.notes import DoneNotes, TakeNote, done, show_notes, take_note
from quire.verbs.facts.recall import Recall, find_facts
from quire.verbs.facts.session import NoteSession, record_session
from quire.verbs.facts.store import Store, store
from quire.verbs.graph.save import save_nodes
from quire.verbs.graph.sync import Sync, sync
from quire.verbs.inbox.accept import accept
from quire.verbs.inbox.add import inbox_add
from quire.verbs.inbox.options import ChosenProposals
from quire.verbs.inbox.overview import ShowInbox, inbox
from quire.verbs.inbox.reject import Reject, reject
from quire.verbs.inbox.rejected import rejected
from quire.verbs.journal.init import JournalInit, journal_init
from quire.verbs.journal.integrate import JournalIntegrate, integrate_journal
from quire.verbs.journal.log import JournalLog, journal_log
from quire.verbs.journal.providers import JournalProviders, journal_providers
from quire.verbs.journal.recall import JournalRecall, journal_recall
from quire.verbs.journal.restore import JournalRestore, journal_restore
from quire.verbs.journal.session_import import import_sessions
from quire.verbs.journal.sources import JournalAdd, add, sources
from quire.verbs.journal.status import JournalStatus, journal_status
from quire.verbs.page.views import ViewGraph, view_graph
from quire.verbs.profile.link import LinkEntries, link_entries
from quire.verbs.profile.private import KeepPrivate, keep_private
from quire.verbs.profile.recall import RecallEntries, recall_entries
from quire.verbs.profile.remember import RememberEntry, remember_entry
from quire.verbs.profile.restore import ForgetEntry, forget_entry, forgotten_entries
from quire.verbs.profile.status import profile_status
from quire.verbs.verb import Arguments
from thorough import either

__all__ = [
    "KINDS",
    "TOLD",
    "WITNESS",
    "Kind",
    "Space",
    "kind_of",
    "lent",
    "read_all",
    "strangers",
    "the_space",
]

WITNESS = "The witness stays where it was."
TOLD = ("Retries run in the worker.", "A request may take thirty seconds.", "The queue lives in Redis.")
_FACTS = ("Architecture", "Decisions", "Specs")
_ROOM = "/dev/shm"
_TALK = [
    {"role": "user" if turn % 2 == 0 else "assistant", "content": f"Turn {turn}: " + "the queue moves. " * 80}
    for turn in range(12)
]
_ENTRIES = (
    ("user", "timezone", "Europe/Madrid, größe"),
    ("user", "editor", "Helix, in a dark theme."),
    ("assistant", "name", "Ada"),
    ("tools", "shell", "fish 4 with starship."),
    ("tools", "old", "zsh with a long configuration."),
    ("learnings", "ci", "The e2e job needs two cores."),
)


class Kind(NamedTuple):
    """One kind of file."""

    place: str
    """Which of the places it belongs to."""
    pattern: str
    """What its path below the space looks like."""
    form: str
    """`json`, `lines` of JSON, `text` that people write too, or `other`."""
    version: str = ""
    """The key that says which version it is of, where it has one."""
    sample: str = ""
    """Which of several files is taken; the first one where nothing is said."""


KINDS: dict[str, Kind] = {
    # the product's graph
    "config": Kind("graph", r"harbor/\.memory/config\.json", "json", "version"),
    "sidecar": Kind("graph", r"harbor/\.memory/memory/[^/]+\.json", "json", sample="victim"),
    "body": Kind("graph", r"harbor/\.memory/memory/[^/]+\.md", "text", sample="victim"),
    "relation": Kind("graph", r"harbor/\.memory/relations/[^/]+\.json", "json"),
    "events": Kind("graph", r"harbor/\.memory/events\.jsonl", "lines"),
    "schema": Kind("graph", r"harbor/\.memory/schema/[a-z]+\.schema\.json", "json", sample="relation"),
    "sync marker": Kind("graph", r"harbor/\.memory/sync-state\.json", "json", "version"),
    "map": Kind("graph", r"harbor/(AGENTS|CLAUDE)\.md", "text", sample="AGENTS"),
    "edits kept": Kind("graph", r"harbor/\.memory/recovery/\d{4}-[^/]+/.+", "other"),
    "git rules": Kind("graph", r"harbor/(\.memory/|\.agent-memory/|)\.git(ignore|attributes)", "text"),
    "own ignore": Kind("graph", r"harbor/\.[a-z-]+/local/\.gitignore", "text"),
    # facts
    "facts": Kind("facts", r"harbor/\.memory/facts\.jsonl", "lines"),
    "pins": Kind("facts", r"harbor/\.memory/local/working\.json", "json", "version"),
    "times of reading": Kind("facts", r"harbor/\.memory/local/access(-folding)?\.jsonl", "lines"),
    "notes": Kind("facts", r"harbor/\.memory/local/notes\.md", "text"),
    "notes done": Kind("facts", r"harbor/\.memory/local/notes\.done\.md", "text"),
    "session": Kind("facts", r"harbor/\.memory/local/sessions/[0-9a-f]+\.json", "json", "version"),
    "compaction": Kind("facts", r"harbor/\.memory/local/checkpoints/[^/]+\.jsonl", "lines"),
    # the profile
    "profile": Kind("profile", r"harbor/\.ai-state/memory\.json", "json", "schema_version"),
    "private": Kind("profile", r"harbor/\.ai-state/local/memory\.json", "json", "schema_version"),
    "profile backup": Kind("profile", r"harbor/\.ai-state/(local/)?memory\.backup\.json", "json"),
    "migrated": Kind("profile", r"harbor/\.ai-state/memory\.pre-migration-1\.1\.json", "json"),
    "readings": Kind("profile", r"harbor/\.ai-state/local/access(-folding)?\.jsonl", "lines"),
    "forgotten": Kind("profile", r"harbor/\.ai-state/local/forgotten\.jsonl", "lines"),
    "private setting": Kind("profile", r"inland/\.ai-state/local/private\.json", "json", "version"),
    "profile lock": Kind("profile", r"(harbor|inland)/\.ai-state/memory\.lock", "other"),
    # the journal
    "state": Kind("journal", r"harbor/\.agent-memory/state\.json", "json", "schemaVersion"),
    "settings": Kind("journal", r"harbor/\.agent-memory/config\.json", "json"),
    "sources": Kind("journal", r"harbor/\.agent-memory/sources\.json", "json"),
    "history": Kind("journal", r"harbor/\.agent-memory/history/events\.jsonl", "lines"),
    "checkpoint": Kind("journal", r"harbor/\.agent-memory/history/checkpoints/chk-\d+\.json", "json", sample="14"),
    "batch": Kind("journal", r"harbor/\.agent-memory/archive/prune-[^/]+/manifest\.json", "json"),
    "archived events": Kind("journal", r"harbor/\.agent-memory/archive/prune-[^/]+/events\.jsonl", "lines"),
    "archived checkpoint": Kind(
        "journal", r"harbor/\.agent-memory/archive/prune-[^/]+/checkpoints/chk-\d+\.json", "json"
    ),
    "expired": Kind("journal", r"harbor/\.agent-memory/archive/expired\.jsonl", "lines"),
    "imports": Kind("journal", r"harbor/\.agent-memory/local/imports\.json", "json", "version"),
    "pages due": Kind("journal", r"harbor/\.agent-memory/local/pages-due\.json", "json"),
    "runs": Kind("journal", r"harbor/\.agent-memory/local/runs\.jsonl", "lines"),
    "run lock": Kind("journal", r"harbor/\.agent-memory/local/run\.lock", "other"),
    "latest run": Kind("journal", r"harbor/\.agent-memory/automation/latest-run\.json", "json"),
    "keeper": Kind("journal", r"harbor/\.agent-memory/automation/daemon\.(json|lock)", "json", sample="json"),
    "log of the keeper": Kind("journal", r"harbor/\.agent-memory/local/daemon\.log", "text"),
    "page": Kind("journal", r"harbor/docs/agent-memory/[a-zA-Z-]+\.md", "text", sample="gotchas"),
    # proposals, and what hooks leave
    "inbox": Kind("inbox", r"harbor/\.memory/local/inbox\.jsonl", "lines"),
    "rejection": Kind("inbox", r"harbor/\.memory/rejected/[0-9a-f]{32}\.json", "json", "version"),
    "spool": Kind("inbox", r"harbor/\.memory/local/ended(-[0-9a-f]+)?\.jsonl", "lines"),
    "collected": Kind("inbox", r"harbor/\.memory/local/collected\.json", "json", "version"),
    "ingested": Kind("inbox", r"harbor/\.memory/local/ingested\.json", "json", "version"),
    "receipts": Kind("inbox", r"harbor/\.memory/local/receipts\.jsonl", "lines"),
    "reviewed": Kind("inbox", r"harbor/\.memory/local/reviewed", "text"),
    "transcript": Kind("inbox", r"home/\.claude/projects/.+\.jsonl", "lines"),
    "log of hooks": Kind("inbox", r"harbor/\.memory/local/hooks\.log", "text"),
    "hook lock": Kind("inbox", r"harbor/\.memory/local/(hooks-[0-9a-f]|collecting|collect)\.lock", "other"),
    # what is written into files of clients
    "record of wiring": Kind("wiring", r"harbor/\.memory/integrations/[^/]+\.json", "json", "version", "mcp-json"),
    "record at home": Kind("wiring", r"home/registry/integrations/[^/]+\.json", "json", "version"),
    "note of wiring": Kind("wiring", r"home/registry/integrations/[^/]+\.own", "other"),
    "client's JSON": Kind("wiring", r"(harbor|home)/(\.mcp|\.(claude|cursor)/[a-z]+|\.claude)\.json", "json"),
    "client's TOML": Kind("wiring", r"(harbor|home)/\.codex/[a-z]+\.(toml|json)", "text", sample="toml"),
    "client's text": Kind("wiring", r"(harbor|home)/\.(claude|cursor|codex|agents)/.+\.(md|mdc)", "text"),
    # what is the user's
    "registry": Kind("machine", r"home/registry/projects\.json", "json", "version"),
    "providers": Kind("machine", r"home/registry/providers\.json", "json", "version"),
    "spending": Kind("machine", r"home/registry/spend\.json", "json", "version"),
    "agreed sources": Kind("machine", r"home/registry/journal-sources\.json", "json", "version"),
    "profile at home": Kind("machine", r"home/registry/profile/memory\.json", "json", "schema_version"),
    # what follows from the others
    "index": Kind("index", r"(harbor|inland)/\.[a-z-]+/(local/)?index/[^/]+", "other", sample=".sqlite"),
}

_MEANING: dict[str, dict[str, Callable[[Project], object]]] = {
    "graph": {
        "inspect": lambda project: (inspect_node(project, "feature.victim").node.node, len(project.graph.nodes()[0])),
        "status": lambda project: status(project),
        "network": lambda project: view_graph(project, ViewGraph()),
    },
    "facts": {
        "list": lambda project: list_facts(project, ListFacts()),
        "episodes": lambda project: episodes(project, ShowEpisodes(query="beginning")),
        "working": lambda project: focus(project, Focus()),
        "notes": lambda project: show_notes(project, Arguments()),
    },
    "profile": {
        "tools": lambda project: recall_entries(project, RecallEntries(category="tools")),
        "user": lambda project: recall_entries(project, RecallEntries(category="user")),
        "forgotten": lambda project: forgotten_entries(project),
        "there": lambda project: recall_entries(_inland_of(project), RecallEntries(category="user")),
    },
    "journal": {
        "log": lambda project: journal_log(project, JournalLog(events=True, archived=True)),
        "sources": lambda project: sources(project, Arguments()),
        "status": lambda project: journal_status(project, JournalStatus()),
    },
    "inbox": {
        "inbox": lambda project: inbox(project, ShowInbox(status="all")),
        "rejected": lambda project: rejected(project, Arguments()),
        "receipts": lambda project: receipts(project),
    },
    "wiring": {"status": lambda project: connection_status(project)},
    "machine": {
        "projects": lambda project: ProjectRegistry(project.world).known_projects(),
        "providers": lambda project: journal_providers(project, JournalProviders()),
        "there": lambda project: recall_entries(_inland_of(project), RecallEntries(category="user")),
    },
    "index": {"status": lambda project: status(project)},
}
"""What is asked of a place in order to see whether its files mean what they meant."""


def _inland_of(project: Project) -> Project:
    return Project.open(project.root.removesuffix("harbor") + "inland", project.world)


_LEFT_OUT = (r"harbor/(src|lib)/.*", r"harbor/(README|TODO)\.md", r"inland/(?!\.ai-state/local/private).*", r".*\.lock")
"""What is the user's own, and the second project, of which only what the first has not is taken."""


def kind_of(path: str) -> str:
    """The kind of a file by its path below the space; empty where it has none."""
    return next((name for name, kind in KINDS.items() if re.fullmatch(kind.pattern, path)), "")


def strangers(paths: Iterable[str]) -> list[str]:
    """Files that no kind fits, and that are not the user's own."""
    return [path for path in paths if not kind_of(path) and not any(re.fullmatch(one, path) for one in _LEFT_OUT)]


def read_all(top: str) -> dict[str, bytes]:
    """Every file below a folder, with its bytes; what is not a regular file, with what it is. Nothing of git."""
    found: dict[str, bytes] = {}
    for folder, folders, files in os.walk(top):
        folders[:] = [name for name in folders if name != ".git"]
        for name in [*files, *(name for name in folders if os.path.islink(os.path.join(folder, name)))]:
            path = os.path.join(folder, name)
            shown = os.path.relpath(path, top)
            if os.path.islink(path):
                found[shown] = b"-> " + os.fsencode(os.readlink(path))
            elif os.path.isfile(path):
                with open(path, "rb") as file:
                    found[shown] = file.read()
            else:
                found[shown] = b"special"
    return found


class Space:
    """The project with everything in it, and how it looked when it was whole."""

    def __init__(self, folder: str, whole: dict[str, bytes]) -> None:
        self.folder = folder
        self.whole = whole
        self.paths = {name: _sample(kind, whole) for name, kind in KINDS.items()}
        self._meant: dict[str, dict[str, str]] = {}
        self._folders = {os.path.relpath(path, folder) for path, _, _ in os.walk(folder)}

    def open(self, *, name: str = "harbor", hours: float = 30.0) -> Project:
        """A process that comes later."""
        project = open_project(self.folder, NOW + timedelta(hours=hours), "k")
        return project if name == "harbor" else Project.open(os.path.join(self.folder, name), project.world)

    def asked(self, place: str) -> dict[str, str]:
        """What is answered from the files of a place, in words that can be compared."""
        found: dict[str, str] = {}
        for name, ask in _MEANING[place].items():
            try:
                found[name] = repr(ask(self.open()))
            except QuireError as error:
                found[name] = error.message
        return found

    def means(self, place: str) -> dict[str, str]:
        """The same, when everything was whole."""
        if place not in self._meant:
            raise KeyError(place)
        return self._meant[place]

    def path(self, kind: str) -> str:
        return os.path.join(self.folder, self.paths[kind])

    def restore(self) -> None:
        """As it was. What did not change is not written, so that the index need not look at it again."""
        found = read_all(self.folder)
        for name in found.keys() - self.whole.keys():
            if not _is_index(name):
                os.unlink(os.path.join(self.folder, name))
        for folder, _, _ in os.walk(self.folder, topdown=False):
            if os.path.relpath(folder, self.folder) not in self._folders and not os.listdir(folder):
                os.rmdir(folder)
        for name, data in self.whole.items():
            path = os.path.join(self.folder, name)
            if found.get(name) == data or (_is_index(name) and name in found):
                continue
            if os.path.isdir(path) and not os.path.islink(path):
                os.chmod(path, 0o700)
                shutil.rmtree(path)
            elif os.path.lexists(path):
                os.unlink(path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(data)


def _is_index(name: str) -> bool:
    return re.fullmatch(KINDS["index"].pattern, name) is not None


def _sample(kind: Kind, whole: dict[str, bytes]) -> str:
    found = [path for path in sorted(whole) if re.fullmatch(kind.pattern, path)]
    return next((path for path in found if kind.sample in path and whole[path]), found[0] if found else "")


def lent() -> Iterator[Space]:
    """The space as it was made. Whoever waits in it, perhaps on a pipe, is told so: it would be for ever."""

    def wake(*_: object) -> None:
        raise TimeoutError("somebody waits")

    before = signal.signal(signal.SIGALRM, wake)
    signal.alarm(either(300, 3_000))
    found = the_space()
    found.restore()
    try:
        yield found
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        found.restore()


@functools.cache
def the_space() -> Space:
    """One for all tests of a process; it goes with the process. There is no git in it: most questions need none."""
    folder = tempfile.mkdtemp(prefix="quire-kinds-", dir=_ROOM if os.path.isdir(_ROOM) else None)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    space = os.path.join(os.path.realpath(folder), "space")
    os.mkdir(space)
    build(space)
    shutil.rmtree(os.path.join(space, "harbor", ".git"))
    found = Space(space, read_all(space))
    for place in _MEANING:
        found.restore()
        found._meant[place] = found.asked(place)
    found.restore()
    return found


# -- a tour through all verbs -------------------------------------------------------------------------------------


def build(space: str) -> None:
    """A project with all its layers, another one beside it, and the user's home."""
    bare(space)
    write(space, "harbor/CLAUDE.md", b"# Rules\n\nBe kind.\n")
    write(space, "harbor/.mcp.json", b'{"mcpServers": {"quire": {"command": "another"}}}\n')
    write(space, "harbor/.codex/config.toml", b'# mine\nmodel = "x"\n')
    project = open_project(space, NOW, "a")
    _graph(project, space)
    _facts(project)
    _profile(project, space)
    _journal(space)
    _clients(project)
    _inbox(project, space)
    _machine(project)
    _inland(project, space)
    status_of(open_project(space, NOW, "z"))


def _graph(project: Project, space: str) -> None:
    init_memory(project)
    victim = {"kind": "feature", "title": "Victim", "body": "# Victim\n\nTwo paragraphs: größe.\n\nThe second."}
    related = [{"predicate": "depends_on", "to": "feature.witness"}]
    nodes = [
        {"kind": "feature", "title": "Witness", "body": WITNESS, "stage": "shipped", "anchors": ["src/a.py"]},
        {**victim, "tags": ["größe"], "related": related},
        {"kind": "decision", "title": "Decided", "body": "One store less to run."},
        {"kind": "gotcha", "title": "Edited", "body": "Before."},
    ]
    save_nodes(project, {"task": "fill", "nodes": nodes})
    git(space, "add", "--all")
    git(space, "commit", "--quiet", "--message", "memory")
    sync(project, Sync())
    write(space, "harbor/.memory/memory/edited.md", b"By hand.\n")
    save_nodes(project, {"task": "again", "nodes": [{"id": "gotcha.edited", "body": "After."}]})


def _facts(project: Project) -> None:
    ids = [
        store(project, Store(section=section, content=text)).fact.id for section, text in zip(_FACTS, TOLD, strict=True)
    ]
    archive(
        project,
        Archive(
            fact_ids=[store(project, Store(section="Known Issues", content="Exports are slow.")).fact.id],
            reason="fixed",
        ),
    )
    connect(project, Connect(source=ids[0], target=ids[1], relation="depends_on"))
    record_session(project, NoteSession(session_id="past", turns=2, tool_calls=3, title="the beginning", close=True))
    record_session(project, NoteSession(session_id="live", turns=3, tool_calls=7, title="retries", files=["src/a.py"]))
    focus(project, Focus(fact_ids=ids[:1]))
    for text in ("look at the uploads", "look at the fonts"):
        take_note(project, TakeNote(words=[text]))
    done(project, DoneNotes(numbers=["2"]))
    find_facts(project, Recall(query="where do retries run?"))
    compact(project, json.dumps({"messages": _TALK}).encode(), Compact())


def _profile(project: Project, space: str) -> None:
    old = {"schema_version": "1.1", "session_count": 7, "memories": {"project": {"stack": {"value": "Postgres"}}}}
    write(space, "harbor/.ai-state/memory.json", json.dumps(old).encode())
    profile_status(project, Arguments())
    for category, key, value in _ENTRIES:
        remember_entry(project, RememberEntry(category=category, key=key, value=value))
    link_entries(project, LinkEntries(source="user.editor", target="user.timezone", relation="related-to"))
    keep_private(project, KeepPrivate(place="here", apply=True))
    forget_entry(project, ForgetEntry(category="tools", key="old"))
    recall_entries(project, RecallEntries(category="tools", key="shell"))


def _journal(space: str) -> None:
    """Three seasons: what the first left has expired, what the second left is archived, the third is there."""
    root, claude = os.path.join(space, "harbor"), os.path.join(sessions_of(space), "claude")
    shutil.rmtree(claude)
    for season, days in enumerate((400, 200, 1)):
        then = NOW - timedelta(days=days)
        for number in range(4):
            say(claude, root, 10 * season + number, day=then.date().isoformat())
        project = open_project(space, then, f"j{season}")
        if season == 0:
            journal_init(project, JournalInit())
            add(project, JournalAdd(source_type="claude-local", path=claude, name="claude"))
        import_sessions(project)
        journal_recall(project, JournalRecall())
        for turn in range(12 if season < 2 else 1):
            again = open_project(space, then + timedelta(hours=turn + 1), f"k{season}")
            journal_restore(again, JournalRestore(name=journal_log(again, JournalLog()).results[turn % 2].id))
        if season < 2:
            prune(open_project(space, then + timedelta(days=100), f"l{season}"))
    journal_run_once(open_project(space, NOW, "j5"))
    _keeper(open_project(space, NOW, "j6"))


def _keeper(project: Project) -> None:
    """What a process leaves that kept the journal and was killed."""
    from quire.layers.journal import daemon
    from quire.layers.journal.types import Daemon

    at = "2026-03-02T11:19:00.000Z"
    daemon.ensure_automation(project.root)
    keeper = Daemon(pid=99_999_999, started_at=at, last_heartbeat_at=at, interval_minutes=15, provider="auto")
    daemon.write_keeper(project.root, keeper, project.world.token())
    daemon.log_line(project.root, at, "started, process 99999999")


def _clients(project: Project) -> None:
    connect_clients(project, ["claude", "cursor", "codex"], force=True)
    connect_clients(project, ["claude"], user=True)
    integrate_journal(project, JournalIntegrate(yes=True))


def _inbox(project: Project, space: str) -> None:
    from quire.clients.hooks.types import HookEvent
    from quire.clients.lines import log_line
    from quire.inbox.proposals import propose

    texts = ("Mails go out at night.", "Uploads are kept for a week.", "Nobody reads the reports.")
    fields = [{"section": "Specs", "content": text} for text in texts]
    made = [
        propose("facts", "fact", text, held, origin="session:claude:s", by="user")
        for text, held in zip(texts, fields, strict=True)
    ]
    inbox_add(project, made)
    accept(project, ChosenProposals(ids=[made[1].id]))
    reject(project, Reject(ids=[made[2].id], reason="not so"))
    say(os.path.join(space, "home", ".claude"), project.root, 0)
    (talk,) = (path for path in read_all(space) if re.fullmatch(KINDS["transcript"].pattern, path))
    event = HookEvent(client="claude", event="session-start", native="SessionStart", session="s", cwd=project.root)
    answer_hook(project, event, 500, 4_000)
    ended = msgspec.structs.replace(event, event="session-end", native="SessionEnd", session="s000")
    answer_hook(project, msgspec.structs.replace(ended, transcript=os.path.join(space, talk)), 0, 0)
    collect_sessions(project)
    answer_hook(project, msgspec.structs.replace(ended, transcript=os.path.join(space, talk)), 0, 0)
    log_line(project.root, project.world, "said nothing")


def _machine(project: Project) -> None:
    from quire.capture.providers.settings import ProviderSettings, write_settings
    from quire.capture.providers.spend_log import reserve, settle

    write_settings(project.world, ProviderSettings(daily_ceiling_usd=2.5))
    settle(project.world, reserve(project.world, ceiling_usd=2.5, needed=100, provider="codex"), 50)


def _inland(project: Project, space: str) -> None:
    """A second project, whose private entries are in the user's home."""
    os.makedirs(os.path.join(space, "inland/.ai-state"))
    inland = Project.open(os.path.join(space, "inland"), project.world)
    remember_entry(inland, RememberEntry(category="user", key="language", value="Galician"))
    keep_private(inland, KeepPrivate(place="home", apply=True))
