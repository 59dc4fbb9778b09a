"""Rules for what is done seldom: imports, edits while looking, wiring, exports, previews."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random
from typing import Any

from machine_inbox import settled
from machine_model import Fact, Proposal
from machine_records import FACTS, NODES, RULES, SECTIONS, fact_text, pick, rule
from machine_run import Deed, Run
from machine_surroundings import BEGIN, JOURNAL, told_in

from quire.inbox.proposals import proposal_id

__all__ = ["PREVIEWED"]

PREVIEWED = (
    "confirm",
    "fold",
    "inbox_add",
    "init",
    "integrate",
    "journal_add",
    "journal_recall",
    "journal_remove",
    "journal_restore",
    "journal_sync",
    "journal_update",
    "memory_archive",
    "memory_connect",
    "memory_import",
    "memory_normalize",
    "memory_refresh",
    "memory_restore",
    "memory_store",
    "memory_supersede",
    "profile_forget",
    "profile_link",
    "profile_remember",
    "profile_restore",
    "profile_unlink",
    "save",
    "sync",
    "connect_clients",
)
"""Verbs that can be tried without doing anything."""
WIRED = ("CLAUDE.md", "AGENTS.md", ".mcp.json", ".claude/", ".memory/integrations/", ".gitignore")


@rule(3)
def preview(run: Run, draw: Random) -> Deed | None:
    """Any other rule, tried only: it says whether it could be done, and nothing is written."""
    deed = RULES[draw.choice(sorted(set(RULES) - {"preview"}))][0](run, draw)
    if deed is None or deed.verb not in PREVIEWED:
        return None
    options = {**deed.options, "dry_run": True}
    return Deed(deed.verb, run.model if deed.after else None, deed.args, options, is_quiet=True)


@rule(1)
def act_confirm(run: Run, draw: Random) -> Deed | None:
    name = pick(draw, run.model.kept.nodes)
    if name is None:
        return None
    after = run.model.copy() if run.model.kept.nodes[name].is_live else None
    slug = name.partition(".")[2]
    return Deed("act_confirm", after, (name, "looked"), touches=(*NODES, f".memory/memory/{slug}."))


@rule()
def act_edit(run: Run, draw: Random) -> Deed | None:
    name = pick(draw, run.model.kept.nodes)
    if name is None:
        return None
    after = run.model.copy()
    node = after.kept.nodes[name]
    body = f"It keeps {run.word()} of {node.title.split()[1]}."
    after.kept.nodes[name] = replace(node, body=body)
    if draw.random() < 0.1:
        return Deed("act_edit", None, (name, "0" * 16), {"body": body})
    revision = run.call(run.opened(), "view_record", name).revision
    return Deed("act_edit", after, (name, revision), {"body": body}, touches=NODES)


@rule(1)
def inbox_edit(run: Run, draw: Random) -> Deed | None:
    found = ((key, item) for key, item in run.model.here.proposals.items() if item.status == "pending")
    name = pick(draw, (key for key, item in found if item.into == "facts"))
    if name is None:
        return None
    _, text = fact_text(run)
    after = settled(run.model, name, "withdrawn")
    fields = {**run.model.here.proposals[name].fields, "content": text}
    after.here.proposals[proposal_id(text)] = Proposal("facts", text, fields)
    return Deed("inbox_edit", after, (name,), {"text": text})


@rule(1)
def import_facts(run: Run, draw: Random) -> Deed:
    """A file of facts that another program wrote."""
    after = run.model.copy()
    word, text = fact_text(run)
    section = draw.choice(SECTIONS)
    after.kept.facts[word] = Fact(section, text)
    line: dict[str, Any] = {"_type": "fact", "id": f"other-{word}", "section": section, "content": text}
    line |= {"status": "active", "created_at": "2026-03-01T00:00:00.000Z"}
    data = json.dumps(line).encode() + b"\n"
    return Deed("memory_import", after, (data,), {"source": "other.jsonl"}, touches=FACTS)


@rule(1)
def normalize(run: Run, draw: Random) -> Deed:
    return Deed("memory_normalize", run.model.copy(), (), {"dry_run": False}, touches=FACTS)


@rule(1)
def ingest(run: Run, draw: Random) -> Deed:
    return Deed("memory_ingest_lifecycle", run.model.copy(), touches=FACTS)


@rule(1)
def compact(run: Run, draw: Random) -> Deed:
    messages = [{"role": role, "content": f"Said {run.word()} of it."} for role in ("user", "assistant") * 9]
    data = json.dumps({"messages": messages}).encode()
    return Deed("memory_compact", run.model.copy(), (data,), {"keep_turns": 2})


@rule(1)
def collect(run: Run, draw: Random) -> Deed:
    return Deed("collect", run.model.copy())


@rule(1)
def import_others(run: Run, draw: Random) -> Deed:
    """There is nothing to import; asked for in each of the ways there are."""
    verb, *given = draw.choice((("import",), ("import_hosts",), ("take_imports", ["none"]), ("take_agents", ["none"])))
    return Deed(verb, run.model.copy(), tuple(given))


@rule(1)
def integrate(run: Run, draw: Random) -> Deed | None:
    """A client is wired, or is wired no more; only where branches do not have to be merged again."""
    if not run.guided:
        return None
    verb, options = draw.choice(
        (
            ("integrate", {}),
            ("integrate", {"remove": True}),
            ("connect_clients", {}),
            ("journal_integrate", {"dry_run": True}),
        )
    )
    given: tuple[Any, ...] = (["all"],) if verb == "journal_integrate" else (["claude"],)
    return Deed(verb, run.model.copy(), given, options, touches=WIRED)


@rule(1)
def write_page(run: Run, draw: Random) -> Deed:
    """An export of the page, beside the project."""
    target = str(run.top / "page")
    return Deed("write_page", run.model.copy(), (target, {"index.html": b"<!doctype html>"}), {"force": True})


@rule(1)
def journal_run_once(run: Run, draw: Random) -> Deed | None:
    """A cycle of the automation, as long as nothing is old enough to be put away."""
    if abs((run.now - BEGIN).days) > 20:
        return None
    some = run.model.copy()
    some.kept.imported |= told_in(run) if some.kept.sources else set()
    after = some.copy()
    after.kept.checkpoints += 1
    options = {"settled_seconds": 0.0}
    return Deed("journal_run_once", after, (), options, between=(some,), touches=JOURNAL, is_unsure=True)


@rule(1)
def repair(run: Run, draw: Random) -> Deed:
    """Whatever was repaired, the memory says the same; also after it was taken back, and repaired again."""

    def work() -> None:
        with (run.root / ".memory" / "events.jsonl").open("ab") as log:
            log.write(b"\n")
        done = run.call(run.opened(), "check", repair=True)
        run.call(run.opened(), "check", repairs=True)
        if done.name:
            run.call(run.opened(), "check", undo=done.name)
            run.call(run.opened(), "check", repair=True)

    return Deed(
        "",
        run.model.copy(),
        work=work,
        text="an empty line in the log; project.repair(), taken back, done again",
        touches=("*",),
    )
