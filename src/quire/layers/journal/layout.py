"""Names and limits of the journal: files, versions, markers, closed lists, sizes."""

from __future__ import annotations

import re

FOLDER = ".agent-memory"
STATE = "state.json"
CONFIG = "config.json"
SOURCES = "sources.json"
EVENTS = "history/events.jsonl"
LOG = f"{FOLDER}/{EVENTS}"
"""The history from the project's root. On other branches than the default one events go into fragments of it."""
SOURCE_LOG = f"{FOLDER}/{SOURCES}"
"""The sources likewise."""
CHECKPOINTS = "history/checkpoints"
ARCHIVE = "archive"
AUTOMATION = "automation"
DAEMON = "automation/daemon.json"
DAEMON_LOCK = "automation/daemon.lock"
LATEST_RUN = "automation/latest-run.json"
PROCESS_START = "processStart"
"""The key by which a process of ours is distinguished from another of its number."""
BATCH_MANIFEST = "manifest.json"
BATCH_EVENTS = "events.jsonl"
BATCH_CHECKPOINTS = "checkpoints"
BATCH_PREFIX = "prune-"
EXPIRED = "archive/expired.jsonl"
"""What was imported once and has expired since, a line each: it is not imported again."""
LOCAL = "local"
"""What belongs to this machine alone. The next four are in it."""
IMPORTS = "imports.json"
"""How far which session was read."""
SYNCED = "synced.json"
"""How syncs on other branches than the default one went: two branches that both sync would conflict in the sources."""
NONE = "none"
"""Stands where nothing is known: no text of a bundle may be empty."""
PAGES_DUE = "pages-due.json"
"""The pages and the entry block are to be written anew."""
INDEX = "index"
"""Where the index is kept in a project that has no `.memory/`."""
BACKUP = "backup"
"""Where `init` keeps what was there before."""
IGNORED = (
    f"{FOLDER}/{LOCAL}/",
    f"{FOLDER}/recovery/",
    f"{FOLDER}/{BACKUP}/",
    f"{FOLDER}/{AUTOMATION}/",
    f"{FOLDER}/.lock",
)
"""What git is to leave alone."""
WRITTEN = (LOCAL, "history", "archive", AUTOMATION)
"""What in the journal's folder is written to, and so may not be a link."""
ATTRIBUTES = ".gitattributes"
ATTRIBUTES_TEXT = (
    b"# Events are lines of their own: a merge keeps those of both sides; `validate --repair` numbers them anew.\n"
    b"history/events.jsonl merge=union text eol=lf\n"
    b"archive/expired.jsonl merge=union text eol=lf\n"
)

PROJECTIONS = "docs/agent-memory"
PROJECTION_FILES = {
    "readme": "README.md",
    "project-map": "project-map.md",
    "current-focus": "current-focus.md",
    "gotchas": "gotchas.md",
    "next-steps": "next-steps.md",
}
"""The ids of the projections, in the order in which they are read, and their files."""
ENTRY_FILES = ("AGENTS.md", "CLAUDE.md", "README.md")
"""Where the entry block may go, best first; the first is made where there is none."""

SCHEMA_VERSION = 2
GENERATOR_VERSION = "0.3.0"
"""The version of the program whose files these are; we write what it writes."""
PROJECTION_VERSION = 3
ENTRY_VERSION = 3

EVENT_PREFIX = "evt-"
CHECKPOINT_PREFIX = "chk-"
GROUP_PREFIX = "grp-"
ID_DIGITS = 6
ORDINAL_MOST = 2**53 - 1
"""The largest number that every JSON reader holds exactly; what claims more has no place in the order."""

TOOL_RUN = "tool_run"
IMPORTED_SESSION = "imported_session"
EVENT_KINDS = (TOOL_RUN, IMPORTED_SESSION)
LOCAL_SOURCE = "agent-memory.local"
"""The source of the events that our own commands write."""
TOOL = "agent-memory"
SOURCE_TYPES = ("claude-local", "codex-local", "cursor-export", "gemini-local", "markdown", "opencode-local")
"""What sessions can be imported from."""
ALL_FOLDERS = "allFolders"
"""The key of a source whose sessions count wherever they ran."""

SECTION_KEYS = {
    "project": "project",
    "project-map": "projectMap",
    "current-focus": "currentFocus",
    "gotchas": "gotchas",
    "next-steps": "nextSteps",
    "validation-commands": "validationCommands",
}
"""The sections of a bundle as they are called outside, in their order, and the keys that hold them."""
ALL = "all"
SECTIONS = (ALL, *SECTION_KEYS)
SCOPES = (ALL, "local", "imports")
POLICIES = ("balanced", "imports-only", "local-only", "project-map-protected")
OUTPUTS = ("text", "json")
LOCAL_PROVIDER = "local"
"""Ours, which needs no model."""
PROVIDERS = ("codex", "claude", "openai", LOCAL_PROVIDER)
PREFERENCES = ("auto", *PROVIDERS)
SNAPSHOT_STATUSES = ("not-run", "passed", "failed", "mixed")
RESULT_STATUSES = ("passed", "failed", "unavailable")
SYNC_STATUSES = ("never", "passed", "failed")
RUN_STATUSES = ("idle", "imported", "recalled", "recalled_noop", "failed")
QUERY_MODES = ("answer", "changes", "next", "traps")
CITED = ("bundle", "event", "checkpoint")

VALIDATION_COMMANDS = 2
"""How many commands a bundle may suggest."""
SIGNAL_TEXTS = 12
SIGNAL_PATHS = 16
"""How much of a bundle is repeated in the event of a run."""
FILE_BYTES = 64 * 1024 * 1024
EVENTS_BYTES = 1024 * 1024 * 1024
LINE_BYTES = 1024 * 1024
"""A longer line of the log is set aside unread."""

_NOT_IN_NAMES = r"[^0-9TZ]"
_INSTRUCTIONS = {
    "answer": "Answer the question itself, from the strongest evidence alone. A short, clear answer is better than a "
    "complete one.",
    "changes": "Begin with what changed last. Checkpoints and events say more here than how the project is built.",
    "next": "Begin with what can be done now. A concrete step with a place to start is better than a direction.",
    "traps": "Begin with the traps that cost the most. Warnings that will still hold next month come before passing "
    "ones.",
}


def batch_name(created_at: str) -> str:
    """`2026-05-01T08:30:00.000Z` → `prune-20260501T083000000Z`."""
    return BATCH_PREFIX + re.sub(_NOT_IN_NAMES, "", created_at)


def default_config() -> dict[str, object]:
    """What holds where `config.json` says nothing, in the order in which it is written."""
    return {
        "recall": {
            "defaultSection": ALL,
            "defaultSource": ALL,
            "policy": "balanced",
            "backlogWarnThreshold": 10,
            "preview": {"showDiffByDefault": False},
        },
        "query": {
            "defaultOutput": "text",
            "templates": {mode: {"instructions": _INSTRUCTIONS[mode]} for mode in QUERY_MODES},
        },
        "automation": {
            "intervalMinutes": 15,
            "provider": "auto",
            "importSyncBeforeRecall": True,
            "autoRecall": True,
        },
        "retention": {
            "enabled": True,
            "history": {"maxAgeDays": 90},
            "checkpoints": {"maxAgeDays": 30, "keepRecent": 10},
            "archive": {"expireAfterDays": 180},
        },
    }
