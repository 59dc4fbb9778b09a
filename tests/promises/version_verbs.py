"""A tour of every verb of the command line, for stores of the sample project in `tests/data/releases/`."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["APART", "GIVEN", "LOOKING", "TOUR", "WRITING", "given_to", "lines_for", "verbs_of"]

INTENT = {"task": "tour", "nodes": [{"kind": "gotcha", "title": "Wet fonts", "body": "Fonts drip."}]}
TALK = {
    "messages": [
        {"role": "user", "content": "Make retries durable."},
        {"role": "assistant", "content": "Decided: the queue moves to Postgres."},
        {"role": "user", "content": "Now the mailer."},
    ],
    "keep_turns": 1,
}
HOOKED = {"session_id": "ab12", "hook_event_name": "SessionStart", "source": "startup"}
GIVEN = {"save": INTENT, "facts compact": TALK, "hook": HOOKED}
"""What a verb reads from standard input."""

LOOKING = (
    "status",
    "status --all",
    "check",
    "query|retry queue",
    "query|fonts|--all|--explain",
    "list --kind feature,gotcha",
    "brief src/queue.py",
    "why src/queue.py",
    "review",
    "inspect feature.retry-queue",
    "inspect profile:learnings.flaky_ci",
    "inspect fact:@fact",
    "diff",
    "export --all",
    "sync --dry-run",
    "save --stdin --dry-run",
    "facts",
    "facts recall|where do retries run?",
    "facts list",
    "facts search-archive queue",
    "facts episodes",
    "facts context|retry queue",
    "facts normalize",
    "facts refresh --since|2020-01-01|--dry-run",
    "facts ingest --dry-run",
    "notes",
    "profile",
    "profile recall tools",
    "profile search|package manager",
    "profile connections learnings.flaky_ci",
    "profile about-me",
    "profile about-us",
    "profile index",
    "profile context",
    "profile status",
    "profile reflect",
    "profile export --format json",
    "profile private",
    "journal",
    "journal status --show-diff",
    "journal query|what changed?",
    "journal sources",
    "journal log --events",
    "journal diff chk-000001",
    "journal validate",
    "journal providers",
    "journal automate status",
    "journal recall --dry-run",
    "inbox --status all",
    "inbox rejected",
    "import",
    "receipts",
    "integrate --status",
    "projects",
    "purge --secrets --dry-run",
    "projects list",
    "docs",
    "completion bash",
    "doctor",
    "upgrade",
    "init --dry-run",
    "init --brief",
    "rebuild",
)
"""What asks, and writes nothing but the index and that something was read."""

WRITING = (
    "init",
    "save --stdin",
    "add gotcha|Wet fonts drip on the invoice",
    "confirm feature.retry-queue",
    "sync",
    "fold",
    "inbox propose gotcha|Fonts drip when wet.",
    "merge main --apply",
    "resolve",
    "merge-driver src/queue.py src/queue.py src/queue.py",
    "facts store Specs|A queue has one owner.",
    "facts supersede @fact|A delivery is retried at most six times.",
    "facts connect @other @hand depends_on",
    "facts focus @other",
    "facts release",
    "facts archive @other",
    "facts restore @other",
    "facts compact --stdin",
    "facts ingest",
    "facts session 8d2f --turns 3 --close",
    "facts session 9e3a --turns 1",
    "facts normalize --write",
    "facts import .memory/facts.jsonl",
    "note|one more",
    "notes promote 1 Specs",
    "notes undo",
    "notes done 1",
    "notes clear",
    "profile remember tools editor|an editor of some sort",
    "profile remember learnings flaky_ci --importance 9",
    "profile link tools.package_manager project.language related-to",
    "profile unlink tools.package_manager project.language",
    "profile forget tools package_manager",
    "profile restore tools package_manager",
    "profile session-start",
    "profile reflect --apply all",
    "profile private shared --yes",
    "profile private here --yes",
    "journal init",
    "journal update",
    "journal add codex-local sessions --name more --all-folders",
    "journal sync --all",
    "journal recall",
    "journal remove more",
    "journal restore chk-000001 --yes",
    "journal validate --repair",
    "journal automate run-once",
    "journal automate stop",
    "journal integrate --yes",
    "import adr",
    "inbox collect",
    "inbox edit @proposal --text|Retries run in a worker.",
    "inbox accept @proposal",
    "inbox reject @rejected --reason no",
    "inbox reject --value|Fax is fine.",
    "inbox lift @rejected",
    "hook claude session-start",
    "integrate claude",
    "integrate --repair",
    "integrate claude --remove",
    "doctor --fix",
    "projects add .",
    "projects prune",
    "projects remove project.harbor",
)
"""What changes something. `reset`, `init --force` and `upgrade` are asked for by whoever wants another memory."""

TOUR = (*LOOKING, *WRITING)
APART = ("view --export site", "journal mcp")
"""What needs a process of its own."""


def lines_for(said: dict[str, Any], lines: Sequence[str] = TOUR) -> list[list[str]]:
    """The lines of a tour for one store: its own ids put in."""
    facts = {item[1]: item[0] for item in said.get("facts list", ())}
    proposals = {item[3]: item[0] for item in said.get("inbox --status all", ())}
    names = {
        "@fact": facts.get("Constraints", "none"),
        "@other": facts.get("Architecture", "none"),
        "@hand": facts.get("Specs", "none"),
        "@proposal": proposals.get("pending", "in-0000000000"),
        "@rejected": proposals.get("rejected", "in-0000000001"),
    }

    def one(line: str) -> list[str]:
        words, *texts = line.split("|")
        found = [*words.split(), *texts[:1], *(word for text in texts[1:] for word in text.split())]
        for name, value in names.items():
            found = [word.replace(name, value) for word in found]
        return found

    return [one(line) for line in lines]


def given_to(line: list[str]) -> bytes:
    found = GIVEN.get(line[0]) or GIVEN.get(" ".join(line[:2]))
    return json.dumps(found).encode() if (found and "--stdin" in line) or line[0] == "hook" else b""


def verbs_of(run: Callable[..., Any]) -> set[str]:
    """Every verb that the help lists, those of groups behind the group's name."""

    def listed(*line: str) -> list[str]:
        _, _, options = run(*line, "--help").out.partition("\nOptions:\n")
        # The help of the program lists its verbs by purpose, each list under a title of its own.
        lists = [
            rows
            for title, _, rows in (part.partition(":\n") for part in options.split("\n\n")[1:])
            if "  " not in title
        ]
        return [row.split()[0] for rows in lists for row in rows.splitlines() if row[:3].strip()]

    return {" ".join(found) for top in listed() for found in ([top], *([top, name] for name in listed(top)))}
