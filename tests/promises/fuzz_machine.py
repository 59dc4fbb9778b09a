"""Targets: what clients say and hold, lines of this machine, files of the user's home, work of dead writers."""

from __future__ import annotations

import functools
import os
import shutil
from typing import Any

import msgspec
from fuzz_engine import Target
from fuzz_yard import held, home, instead_of, put, root, world

from quire.capture.providers.settings import read_settings, settings_bytes
from quire.capture.providers.spend_log import spent_today
from quire.capture.trusted_sources import is_agreed
from quire.clients.hooks.read_event import patched_files, read_event
from quire.clients.hooks.reply import reply
from quire.clients.hooks.types import CLIENTS
from quire.clients.integration.catalogue import parts_of
from quire.clients.integration.journal_parts import journal_parts
from quire.clients.integration.manifest import Manifests, known_base
from quire.clients.integration.types import CLIENTS as WIRED
from quire.clients.integration.types import Surroundings
from quire.clients.lines import read_log
from quire.clients.receipt_totals import sum_receipts
from quire.clients.receipts import last_start, read_receipts
from quire.clients.spool import waiting_sessions
from quire.files.digests import hex_digest
from quire.files.file_lock import Holder
from quire.files.file_lock import held as lock_held
from quire.files.transaction import finish_interrupted, staged_bytes
from quire.layers.graph.store import GraphStore
from quire.layers.journal.types import SessionSource
from quire.model.errors import QuireError
from quire.project import Project
from quire.upkeep.doctor import look_at_layers, look_at_lock, look_at_transactions
from quire.upkeep.ignore import ensure_ignored
from quire.upkeep.installation import look_at_machine
from quire.upkeep.projects import ProjectRegistry
from quire.upkeep.sync_marker import read_marker

__all__ = ["TARGETS", "of_local"]

# -- clients ------------------------------------------------------------------------------------------------------


def _hooks(data: bytes) -> object:
    found: list[object] = []
    for client in CLIENTS:
        for event in ("session-start", "prompt", "before-edit", "session-end"):
            read, refusal = None, None
            try:
                read = read_event(client, event, data)
            except ValueError as error:
                refusal = error
            if read is None:
                assert type(refusal) is ValueError, refusal
                assert str(refusal).endswith("."), refusal
                continue
            msgspec.json.encode(read)
            assert all(os.path.isabs(path) or not read.cwd for path in read.files), read.files
            answered = reply(read, "text \u202e")
            assert not answered or client == "cline" or answered.decode() is not None
            found.append(read)
    return found


def _wiring(data: bytes) -> object:
    around = Surroundings(root=root(), home=home(), env={"HOME": home()})
    found: list[object] = []
    for client in WIRED:
        for part in parts_of(client, "project", around, possible=True):
            try:
                seen = part.look(data)
                added = part.apply(data, False)
            except ValueError as error:
                found.append(str(error))
                continue
            assert part.look(added).state == "present", f"{part.client} {part.name}: what was put in is not seen"
            assert part.apply(added, False) == added, f"{part.client} {part.name}: twice is not once"
            stripped = part.strip(added, part.keys(added) - part.keys(data))
            if seen.state == "missing" and not seen.ours:
                assert not part.look(stripped).ours, f"{part.client} {part.name}: what is ours is still there"
            found.append((seen, len(added)))
    for component in journal_parts(root(), root(), {"HOME": home()}):
        try:
            found.append(component.look(data))
        except ValueError as error:
            found.append(str(error))
    return found


def _manifest(folder: str) -> object:
    manifests = Manifests(folder, world(), private=False)
    found = manifests.all()
    bases = [known_base(item, current) for item in found for current in (None, b"", b'{"a": 1}\n')]
    return found, bases, manifests.problems


def _receipts() -> object:
    found = read_receipts(root())
    return found, last_start(root(), "s"), sum_receipts(found, 5, lambda ref: ref), read_receipts(root(), "\ud800s")


# -- this machine -------------------------------------------------------------------------------------------------


def _lock() -> object:
    path = os.path.join(root(), ".memory/.lock")
    with open(path, "rb") as file:
        before = file.read()
    holder = Holder(pid=os.getpid(), operation="fuzz", created_at="2026-03-02T11:19:00Z")
    try:
        with lock_held(path, holder, 0.0, lambda _seconds: None, keep=True):
            pass
    except QuireError as error:
        return str(error)
    finally:
        with open(path, "wb") as file:
            file.write(before)
    return "free"


def _transaction(data: bytes) -> object:
    recovery = put(".memory/recovery/transaction-0123/intent.json", data).rpartition("/transaction-")[0]
    put(".memory/recovery/transaction-0123/0.new", b"new")
    before = _tree()
    staged = staged_bytes(recovery, "memory/victim.md"), look_at_transactions(root())
    assert _tree() == before, "looking changed something"
    try:
        kept = finish_interrupted(os.path.join(root(), ".memory"), recovery)
        assert not os.path.exists(os.path.join(recovery, "transaction-0123")), "it is in everybody's way"
        return staged, [os.path.relpath(path, recovery) for path in kept]
    finally:
        shutil.rmtree(recovery, ignore_errors=True)
        _restore(before)


def _tree() -> dict[str, bytes]:
    found = {}
    for folder, folders, files in os.walk(root()):
        folders[:] = [name for name in folders if name not in ("index", "recovery")]
        for name in files:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                found[path] = file.read()
    return found


def _restore(before: dict[str, bytes]) -> None:
    now = _tree()
    for path in now.keys() - before.keys():
        os.unlink(path)
    for path, data in before.items():
        if now.get(path) != data:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(data)


def _ignored(data: bytes) -> object:
    path = put(".gitignore", data)
    try:
        ensure_ignored(root(), world())
        with open(path, "rb") as file:
            after = file.read()
        assert after.startswith(data), "a byte of somebody else changed"
        assert not ensure_ignored(root(), world()), "added twice"
        return after
    finally:
        os.unlink(path)


def _agreed() -> object:
    source = SessionSource(id="x", type="markdown", path="/elsewhere/notes", created_at="", updated_at="")
    return is_agreed("/w", source, "/elsewhere/notes", world())


def _provider_settings() -> object:
    settings = read_settings(world())
    return settings, settings_bytes(settings)


_HOOK = [
    b'{"hook_event_name":"PreToolUse","session_id":"s1","cwd":"/w","transcript_path":"/h/t.jsonl","tool_name":"Edit",'
    b'"tool_input":{"file_path":"/w/a.py","old_string":"a"}}',
    b'{"hook_event_name":"UserPromptSubmit","sessionId":"s","cwd":"/w","prompt":"why?","timestamp":1}',
    b'{"hook_event_name":"SessionStart","source":"compact","conversation_id":"c","workspace_roots":["/w"]}',
    b'{"toolName":"apply_patch","toolArgs":"{\\"input\\":\\"*** Begin Patch\\\\n*** Update File: a.py\\\\n\\"}",'
    b'"cwd":"/w"}',
]
_RECEIPT = (
    b'{"at":"2026-03-02T11:19:00Z","client":"claude","event":"session-start","session":"s1","considered":2,"budget":9,'
    b'"tokens":5,"milliseconds":3,"items":[{"ref":"feature.a","outcome":"included","why":"w","tokens":3}]}\n'
)
_HOME = {"registry": "~/registry/projects.json", "manifest": f".memory/integrations/x-{hex_digest('x')[:8]}.json"}


def of_local(name: str, path: str, look: Any, modules: str, *seeds: bytes) -> Target:
    return Target(name, instead_of(path, look), lambda: list(seeds), modules, (QuireError,), cost=2)


TARGETS: tuple[Target, ...] = (
    Target(
        "hooks",
        _hooks,
        lambda: list(_HOOK),
        "clients.hooks.payload clients.hooks.read_event clients.hooks.reply",
        cost=3,
    ),
    Target(
        "patches",
        lambda data: patched_files(data.decode("utf-8", "replace")),
        lambda: [b"*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n*** Add File: c\n*** End Patch\n"],
        "clients.hooks.read_event",
    ),
    Target(
        "wiring",
        _wiring,
        lambda: [
            b'{"mcpServers":{"x":{"command":"y"}},"hooks":{"SessionStart":[{"hooks":[{"type":"command",'
            b'"command":"z"}]}]}}',
            b'{\n  // c\n  "mcp": {"memory": {"type": "local"}},\n  "plugin": ["a"],\n  "version": 1\n}\n',
            b'[mcp_servers.memory]\ncommand = "memory-mcp"\n\n[x]\ny = 1\n',
            b"# Rules\n\n<!-- memory:start -->\nx\n<!-- memory:end -->\n",
        ],
        "clients.integration.entries clients.integration.hook_items clients.integration.whole_files "
        "clients.integration.catalogue clients.integration.journal_parts",
        cost=30,
    ),
    of_local(
        "manifest",
        _HOME["manifest"],
        lambda: _manifest(os.path.join(root(), ".memory/integrations")),
        "clients.integration.manifest files.byte_edits",
        b'{"version":1,"path":"x","scope":"project","clients":["claude"],"before":"sha256:00","after":"sha256:11",'
        b'"splices":[{"at":3,"removed":"a","inserted":"YQ==","form":"base64"}],"made":[["a","b"]]}\n',
    ),
    of_local(
        "receipts",
        ".memory/local/receipts.jsonl",
        _receipts,
        "clients.receipts clients.receipt_totals clients.lines",
        _RECEIPT,
    ),
    of_local(
        "spool",
        ".memory/local/ended.jsonl",
        lambda: waiting_sessions(root()),
        "clients.spool clients.lines",
        b'{"client":"claude","session":"s1","transcript":"/h/t.jsonl","at":"2026-03-02T11:19:00Z",'
        b'"event":"session-end"}\n',
    ),
    of_local(
        "hooks-log", ".memory/local/hooks.log", lambda: read_log(root(), 20), "clients.lines", b"2026 a\n2026 b\n"
    ),
    of_local(
        "lock",
        ".memory/.lock",
        _lock,
        "files.file_lock",
        b'{"pid":4000,"operation":"save","created_at":"2026"}\n',
    ),
    of_local(
        "doctor-lock",
        ".memory/.lock",
        lambda: look_at_lock(root()),
        "layers.protocol upkeep.doctor",
        b'{"pid":4000,"operation":"save","created_at":"2026"}\n',
    ),
    Target(
        "transaction",
        _transaction,
        lambda: [
            b'{"version":1,"steps":[{"action":"replace","path":"memory/victim.md","staged":"0.new",'
            b'"planned":"sha256:00"},'
            b'{"action":"append","path":"events.jsonl","text":"{}\\n","size":3},{"action":"remove",'
            b'"path":"memory/x.md"}]}',
            b'{"version":2,"steps":[]}',
        ],
        "files.transaction",
        (QuireError,),
        cost=10,
    ),
    of_local(
        "sync-marker",
        ".memory/sync-state.json",
        lambda: read_marker(GraphStore(root())),
        "upkeep.sync_marker",
        b'{"version":1,"last_sync_commit":"0123456789abcdef0123456789abcdef01234567","last_sync_at":"2026"}',
    ),
    *(
        Target(
            f"doctor-{name}",
            instead_of(path, lambda: look_at_layers(Project.open(root()))),
            functools.partial(held, path),
            "layers.protocol upkeep.doctor",
            cost=2,
        )
        for name, path in (("journal", ".agent-memory/state.json"), ("profile", ".ai-state/memory.json"))
    ),
    of_local(
        "registry",
        _HOME["registry"],
        lambda: (ProjectRegistry(world()).projects(), look_at_machine(world())),
        "upkeep.projects upkeep.installation",
        b'{"version":1,"projects":[{"registry_id":"prj_0","project":{"id":"project.x","name":"X"},"project_root":"/w",'
        b'"memory_root":"/w/.memory","registered_at":"2026","last_seen_at":"2026","source":"auto"}]}',
    ),
    of_local(
        "trusted-sources",
        "~/registry/journal-sources.json",
        _agreed,
        "capture.trusted_sources",
        b'{"version":1,"projects":{"/w":[["markdown","/elsewhere/notes"]]}}',
    ),
    of_local(
        "provider-settings",
        "~/registry/providers.json",
        _provider_settings,
        "capture.providers.settings",
        b'{"version":1,"ceilingUsd":2,"claude":{"binary":"claude","model":"m","timeoutSeconds":9},"openai":{"baseUrl":'
        b'"https://x/v1","model":"m","keyVariable":"K"}}',
    ),
    of_local(
        "spending",
        "~/registry/spend.json",
        lambda: spent_today(world()),
        "capture.providers.spend_log",
        b'{"version":1,"unit":"microUsd","days":{"2026-03-02":{"spent":3,"calls":1,"open":{"t":{"amount":2,"provider":'
        b'"claude","since":"x"}}}}}',
    ),
    Target("gitignore", _ignored, lambda: [b"*.log\n", b"/.memory/index\r\n!x\r\n", b"\xff"], "upkeep.ignore", cost=4),
)
