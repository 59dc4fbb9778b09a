"""Find what keeps agents from the memory: configuration, hooks, the server."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Any

import msgspec

from quire.clients.capture_choice import capture_of
from quire.clients.integration.types import ClientStatus, PartSeen
from quire.clients.lines import read_log
from quire.clients.receipts import read_receipts
from quire.clients.spool import waiting_sessions
from quire.files.json_files import json_value
from quire.files.programs import own_command, run_program
from quire.model.text import counted, cut
from quire.model.times import instant
from quire.project import Project
from quire.upkeep.findings import Finding
from quire.upkeep.installation import reach_hint, unreachable
from quire.verbs.agents.connections import STARTED, connect_clients, connection_status, integration_manifests
from quire.verbs.agents.session_end import session_is_over

_OFF = ("off", "0", "no", "false")
_RECENT = timedelta(days=7)
_LONG = timedelta(days=1)
"""Sessions are read when the next one starts; older ones are not read at all."""
_LINES = 500
_SERVER_SECONDS = 5.0
_PROTOCOL = "2025-06-18"
_USER = " (user)"


# -- wiring -------------------------------------------------------------------------------


def agent_findings(project: Project) -> list[Finding]:
    here = connection_status(project, user=False)
    home = connection_status(project, user=True).clients if project.world.home else ()
    at_home = {one.client: one for one in home if one.wired}
    found = [_about("records", problem.message, "warning", problem.hint or "") for problem in here.warnings]
    for one in here.clients:
        if one.wired:
            found.append(_wiring_finding(project, one))
        if one.client in at_home:
            found.append(_wiring_finding(project, at_home[one.client], user=True))
        if not one.wired and one.client not in at_home and (one.installed or one.in_project):
            hint = f"`memory integrate {one.client}` does it."
            found.append(_about(one.client, "found, not connected", "note", hint))
    wired = [one.client for one in here.clients if one.wired]
    if not found:
        found.append(
            _about("clients", "No agent was found.", "note", "`memory integrate CLIENT` connects one by name.")
        )
    found += _started_findings(project, wired)
    if capture_of(project.root) == "agent":
        said = "Agents are asked once per session to propose what should last."
        found.append(_about("capture", said, "ok", "`memory integrate --capture none` turns it off."))
    return [*found, *_hook_findings(project, is_wired=bool(wired or at_home))]


def _wiring_finding(project: Project, one: ClientStatus, *, user: bool = False) -> Finding:
    """How a client is connected: in this project, or in the user's own configuration."""
    name = one.client + _USER * user
    bad = [part for part in one.parts if part.state != "present"]
    if not bad:
        return _about(name, f"connected in {'your own configuration' if user else 'this project'}")
    # Only what a record of the project names is written again: it can be undone.
    recorded = set() if user else {manifest.path for manifest in integration_manifests(project, "project").all()}
    fixable = all(part.path in recorded and part.state != "unreadable" and not part.reason for part in bad)
    state = "error" if any(part.state == "unreadable" for part in bad) else "warning"
    command = f"`memory integrate {one.client}{' --user' * user} --repair`"
    hint = f"{command} repairs it" + ("; so does --fix." if fixable else ".")
    return _about(name, _parts_said(bad), state, hint, fixable=fixable)


def _started_findings(project: Project, wired: Sequence[str]) -> list[Finding]:
    """Whether what the project's files start by name can be started."""
    found = []
    for name, what in STARTED if wired else ():
        why = unreachable(name, project.world.env)
        if why:
            said = f"{what} of {', '.join(wired)} start `{name}`, which is {why}."
            found.append(_about(f"{name} on the PATH", said, "error", reach_hint(project.world.env)))
    return found


def fix_agents(project: Project, names: Sequence[str]) -> str:
    done = connect_clients(project, sorted(names), repair=True)
    written = [file.path for file in done.files if file.status in ("created", "updated")]
    left = [file.path for file in done.files if file.reason]
    said = f"Wrote {', '.join(written)}." if written else "The connection was already complete."
    return said + (f" Not changed: {', '.join(left)}." if left else "")


# -- hooks --------------------------------------------------------------------------------


def _hook_findings(project: Project, *, is_wired: bool) -> list[Finding]:
    found = []
    setting = project.world.env.get("MEMORY_HOOKS", "")
    if setting.strip().lower() in _OFF:
        said = f"Hooks are switched off here: MEMORY_HOOKS is `{cut(setting.strip(), 20)}`."
        found.append(_about("MEMORY_HOOKS", said, "warning", "Unset it where your agents are started."))
    lines = read_log(project.root, _LINES)
    if lines:
        found.append(_log_finding(project, lines))
    latest: dict[str, str] = {}
    receipts = read_receipts(project.root)
    for receipt in receipts:
        latest[receipt.client] = max(receipt.at, latest.get(receipt.client, ""))
    if latest:
        told = ", ".join(f"{client} {at[:19]}" for client, at in sorted(latest.items()))
        found.append(_about("receipts", f"Last sent something: {told} ({len(receipts):,} in all)"))
    elif is_wired:
        hint = "Start a new session in this project. Most agents ask once whether you trust the hooks."
        found.append(_about("receipts", "No hook has sent anything to an agent yet.", "note", hint))
    return found


def _log_finding(project: Project, lines: Sequence[str]) -> Finding:
    at = instant(lines[-1].partition(" ")[0])
    is_recent = at is not None and project.world.now() - at < _RECENT
    count = "1 hook failure is" if len(lines) == 1 else f"{len(lines):,} hook failures are"
    said = f"{count} noted; the last: {cut(lines[-1], 200)}"
    return _about("hooks", said, "warning" if is_recent else "note", "The others are in .memory/local/hooks.log.")


# -- sessions -----------------------------------------------------------------------------


def session_findings(project: Project) -> list[Finding]:
    waiting = waiting_sessions(project.root)
    if not waiting:
        return [Finding(section="sessions", name="waiting", message="No sessions to read.")]
    first = waiting[0].at
    heard = instant(first)
    is_long = heard is not None and project.world.now() - heard > _LONG
    return [
        Finding(
            section="sessions",
            name="waiting",
            state="warning" if is_long else "note",
            message=f"{counted(len(waiting), 'session')} not read yet"
            + (f", the oldest since {first[:19]}." if first else "."),
            hint="They are read when a session starts. --fix reads those that have ended.",
            fixable=project.graph.exists() and any(map(partial(session_is_over, project), waiting)),
        )
    ]


# -- the server ---------------------------------------------------------------------------


def server_findings(project: Project) -> list[Finding]:
    """Start the server as a client does, and greet it."""
    python = own_command()[0]
    done = run_program(
        [python, "-P", "-m", "quire.surfaces.mcp"],
        cwd=project.root,
        env=project.world.env,
        stdin=b"".join(msgspec.json.encode(message) + b"\n" for message in _GREETING),
        seconds=_SERVER_SECONDS,
    )
    replies = _replies(done.out)
    result = replies.get(1, {}).get("result")
    if isinstance(result, dict) and "result" in replies.get(2, {}):
        name = dict(result.get("serverInfo") or {})
        said = f"{name.get('name', 'it')} {name.get('version', '')}".strip()
        return [Finding(section="server", name="memory-mcp", message=f"It answers: {cut(said, 80)}")]
    why = done.missing or ("it did not answer within 5 seconds" if done.timed_out else _reason(done.err))
    why = why or f"it ended with exit code {done.code} and no output"
    return [
        Finding(
            section="server",
            name="memory-mcp",
            state="error",
            message=f"The server does not answer: {cut(why, 300)}",
            hint="Run `memory-mcp` in a shell and read its output; see also `memory docs mcp`.",
        )
    ]


_GREETING: tuple[dict[str, Any], ...] = (
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": _PROTOCOL,
            "capabilities": {},
            "clientInfo": {"name": "memory doctor", "version": "1"},
        },
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "ping"},
)


def _reason(said: bytes) -> str:
    """Why the server ended, in its own words: the first line, or the last one of a trace."""
    lines = said.decode("utf-8", "replace").strip().split("\n")
    return lines[-1] if lines[0].startswith("Traceback") else lines[0]


def _replies(said: bytes) -> dict[Any, dict[str, Any]]:
    """Answers of the server by the number of what they answer; anything else on its output does not count."""
    found = {}
    for line in said.split(b"\n"):
        message = json_value(line)
        if isinstance(message, dict) and isinstance(message.get("id"), int):
            found[message["id"]] = message
    return found


def _about(name: str, message: str, state: str = "ok", hint: str = "", *, fixable: bool = False) -> Finding:
    return msgspec.convert(
        {"section": "agents", "name": name, "state": state, "message": message, "hint": hint, "fixable": fixable},
        Finding,
    )


def _parts_said(parts: Sequence[PartSeen]) -> str:
    said = [f"{part.part} {part.state} in {part.path}{f' ({part.reason})' if part.reason else ''}" for part in parts]
    return f"connected, but: {', '.join(said)}"
