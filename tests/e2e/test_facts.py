"""`memory facts` and each of its verbs: what a person reads, what a program reads, exit codes, dry runs, help."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from commanding import CMAP, FIVE, GAPS, REDIS, SAMPLE, WORKER, Here, Said, copy_of, fact_line, lines_of

from quire.layers.facts.layout import SECTIONS
from quire.surfaces.cli.main import find_command

COMMAND = find_command("facts")
assert COMMAND is not None

TODAY = "2026-03-02"
LATER = {"MEMORY_NOW": "2026-03-03T11:19:00+00:00"}
FACT_FIELDS = {
    "ref",
    "id",
    "kind",
    "title",
    "section",
    "content",
    "status",
    "confidence",
    "created_at",
    "source",
    "score",
    "tier",
    "last_said",
    "verdict",
    "tags",
    "why",
    "scores",
    "reason",
    "put_away_at",
    "replaced_by",
    "supersedes",
    "mind",
    "artifact",
    "reinforcements",
    "reviewed",
}
REF = re.compile(r"fact:([0-9a-f]{12})")


@pytest.fixture
def empty(shared_memory: Any, tmp_path: Path) -> Here:
    """A memory without facts."""
    return copy_of(shared_memory, tmp_path)


@pytest.fixture
def here(empty: Here) -> Here:
    """A memory with four facts, and one that was put away."""
    empty.write(*SAMPLE)
    return empty


def told(run: Said) -> list[str]:
    assert (run.code, run.err) == (0, ""), run.err
    return run.out.splitlines()


# -- the command itself ---------------------------------------------------------------------


def test_a_walk_through_every_verb_as_installed(memory: Any, repo: Path) -> None:
    """Each verb once as a process of its own, the way a new user meets them."""
    memory.init("--with", "facts")

    def say(*arguments: str, code: int = 0, **options: Any) -> str:
        run = memory("facts", *arguments, **options)
        assert run.code == code, run.err
        said: str = run.out
        return said

    def stored(*arguments: str, **options: Any) -> str:
        (name,) = REF.findall(say("store", *arguments, **options))
        return str(name)

    assert say() == 'No facts are stored yet. `memory facts store Architecture "…"` keeps the first.\n'
    worker = stored("Architecture", "Webhook retries run in the worker.")
    five = stored("constraints", "-", stdin="A delivery is retried at most five times.\n")
    assert say("connect", worker, five, "depends on").startswith(
        f"Connected: fact:{worker} depends_on fact:{five}\n  edge:e-"
    )
    assert f"[{worker}]" in say("recall", "where do retries run?").splitlines()[0]
    assert say("list").splitlines()[0] == "Architecture (1)"
    new = re.search(r"→ ([0-9a-f]{12})", say("supersede", worker, "Webhook retries run in a sidecar."))
    assert new
    away = say("search-archive", "worker retries")
    assert away.startswith(f"1. [{worker}] (Architecture, match, 2026-03-02, not reviewed, superseded ")
    assert say("archive", five).startswith(f"{five}: archived")
    assert say("restore", five).startswith(f"{five}: restored")
    assert "1 of 25" in say("focus", new[1])
    assert say("context", "ok").endswith(
        f"## Working memory (pinned)\n- [fact:{new[1]}] Webhook retries run in a sidecar.\n"
    )
    assert "0 of 25" in say("release")
    assert say("session", "7c1e", "--turns", "4", "--close").startswith("Recorded Session 2026-03-02: ")
    assert "2026-03-02: Session 2026-03-02" in say("episodes")
    talk = b'{"role":"user","content":"One."}\n'
    assert say("compact", "--stdin", stdin=talk).encode() == talk
    assert "No design documents" in say("ingest")
    assert "normal form" in say("normalize", "--write").replace("Rewrote", "normal form")
    assert say("import", ".memory/facts.jsonl").startswith("Imported 0 of ")
    assert say().splitlines()[0] == "Facts: 3 (2 active, 1 superseded)"
    assert say("bogus", code=2) == ""
    # What this file finds out inside the process is what the installed command says.
    inside = Here(repo, memory.env)
    for line in (["list"], ["--json"], ["recall", "retries", "--json"], ["store", "--help"], ["store", "Nowhere", "x"]):
        outside = memory("facts", *line)
        assert inside.facts(*line) == Said(outside.code, outside.out, outside.err)


@pytest.mark.parametrize("verb", COMMAND.subcommands)
def test_every_verb_has_help_with_an_example_before_there_is_a_memory(tmp_path: Path, verb: str) -> None:
    run = Here(tmp_path, {"HOME": str(tmp_path)}).facts(verb, "--help")
    assert (run.code, run.err) == (0, "")
    assert run.out.startswith(f"Usage: memory facts {verb} ")
    assert re.search(rf"Examples?:\n    memory facts {verb}\b", run.out)
    for option in COMMAND.subcommands[verb].options:
        assert option.name in run.out


def test_the_help_of_the_verb_itself_names_all_others(tmp_path: Path) -> None:
    text = Here(tmp_path, {"HOME": str(tmp_path)}).facts("--help").out
    for verb in COMMAND.subcommands:
        assert re.search(rf"^  {verb} ", text, re.MULTILINE), verb
    assert "Examples:" in text


def examples() -> list[str]:
    """Every example of every help, but those that need a shell."""
    found = [line.strip() for verb in COMMAND.subcommands.values() for line in verb.examples.splitlines()]
    found += [line.strip().split("   ")[0] for line in COMMAND.examples.splitlines()]
    return [line for line in found if line.startswith("memory ") and "<<" not in line]


@pytest.mark.parametrize("line", examples())
def test_every_example_works_as_it_stands(here: Here, line: str) -> None:
    """The ids in the help are those of the sample; each example finds the store that it speaks of."""
    state = {"restore": "archived", "--accept": "pending"}
    status = next((status for word, status in state.items() if word in line), "active")
    here.write({**SAMPLE[0], "status": status}, *SAMPLE[1:])
    save = {"task": "t", "nodes": [{"kind": "feature", "title": "Retry queue", "body": "B.", "stage": "building"}]}
    assert here("save", "--stdin", stdin=json.dumps(save)).code == 0
    old = here.root.parent / "old-clone/ai/memory"
    old.mkdir(parents=True)
    (old / "facts.jsonl").write_text(json.dumps(fact_line("abcdefabcdef", "Specs", "From elsewhere.")) + "\n")
    program, *arguments = shlex.split(line)
    assert program == "memory"
    run = here(*arguments)
    assert run.code == 0, run.err


def test_the_example_with_a_conversation_works_as_it_stands(shared_memory: Any) -> None:
    text = re.sub(r"^  ", "", COMMAND.subcommands["compact"].examples.split("\n", 1)[1], flags=re.MULTILINE)
    program = shared_memory.program[-1]
    script = text.replace("memory facts", f"'{program}' facts")
    where = {"cwd": shared_memory.cwd, "env": shared_memory.env}
    done = subprocess.run(["bash", "-c", script], **where, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Now the mailer." in done.stdout


# -- nothing there yet ------------------------------------------------------------------------

NOTHING = 'No facts are stored yet. `memory facts store Architecture "…"` keeps the first.'
EMPTY = {
    "": [NOTHING],
    "list": [NOTHING],
    "recall retries": [NOTHING],
    "search-archive retries": ["No archived fact matches."],
    "episodes": ["No episodes are recorded."],
    "focus": ["Working memory: 0 of 25 slots are pinned."],
    "release": ["Released 0.", "Working memory: 0 of 25 slots are pinned."],
    "context": [],
    "archive --faded": ["Nothing has faded."],
    "normalize": ["The file is already normalized: 0 lines, 0 facts."],
}


@pytest.mark.parametrize("line", EMPTY)
def test_an_empty_memory_says_so_and_writes_no_fact(empty: Here, line: str) -> None:
    assert told(empty.facts(*line.split())) == EMPTY[line]
    assert not empty.file.exists()


def test_reading_writes_nothing_that_git_would_see(empty: Here, tree: Any) -> None:
    before = tree(empty.root)
    for line in ("", "list", "recall x", "search-archive x", "episodes", "focus", "context x", "normalize", "--json"):
        assert empty.facts(*line.split()).code == 0
    assert tree(empty.root) == before


# -- counts -----------------------------------------------------------------------------------


def test_the_counts_for_people(here: Here) -> None:
    here.facts("focus", WORKER)
    here("note", "later")
    assert told(here.facts()) == [
        "Facts: 5 (4 active, 1 archived)",
        "  Architecture: 1",
        "  Decisions: 0 (and 1 archived)",
        "  Constraints: 1",
        "  Known Issues: 1",
        "  Specs: 1",
        "Episodes: 0. Connections: 0. Notes: 1.",
        "Working memory: 1 of 25 slots are pinned.",
        "File: .memory/facts.jsonl, 5 lines, in order.",
    ]


def test_the_counts_for_programs(here: Here) -> None:
    here.write(*SAMPLE, SAMPLE[0], b"not a line")
    data = here.facts("--json").data
    assert list(data["by_section"]) == list(SECTIONS)
    assert data["by_section"]["Decisions"] == {"archived": 1}
    assert data["by_status"] == {"active": 4, "archived": 1}
    assert (data["facts"], data["active"], data["faded"], data["episodes"], data["edges"]) == (5, 4, 0, 0, 0)
    assert (data["pins"], data["slots"], data["notes"]) == (0, 25, 0)
    assert (data["lines"], data["bad_lines"], data["duplicates"], data["state"]) == (7, 1, 1, "needs a look")
    assert (data["version"], data["minds"], data["mind"]) == (5, {"default": 5}, "default")
    assert data["by_source"] == {"manual": 4}
    assert data["path"] == ".memory/facts.jsonl"
    text = here.facts().out
    assert re.search(r"^  1 .*cannot be read \(`memory check` names them\)$", text, re.MULTILINE)
    assert re.search(r"^  1 .*\(`memory facts normalize`\)$", text, re.MULTILINE)


def test_an_empty_file_is_there(empty: Here) -> None:
    assert empty("init", "--with", "facts").code == 0
    assert empty.file.read_bytes() == b""
    assert empty.facts("--json").data["exists"] is True


def test_a_connection_that_was_put_away_is_not_counted(here: Here) -> None:
    edge = here.facts("connect", WORKER, FIVE, "depends_on", "--json").data["edge"]["ref"]
    assert here.facts("--json").data["edges"] == 1
    assert here.facts("archive", edge).code == 0
    assert here.facts("--json").data["edges"] == 0


# -- store ------------------------------------------------------------------------------------


def test_store_keeps_one_line(empty: Here) -> None:
    run = empty.facts("store", "Decisions", "Retries run in the worker.", "--tag", "retry", "--tag", "queue")
    text, ref = told(run)
    assert text == "Stored in Decisions: Retries run in the worker."
    (line,) = lines_of(empty.file)
    assert f"  fact:{line['id']}" == ref
    assert line == {
        "_type": "fact",
        "id": line["id"],
        "section": "Decisions",
        "content": "Retries run in the worker.",
        "status": "active",
        "created_at": "2026-03-02T11:19:00.000Z",
        "content_hash": line["content_hash"],
        "version": 1,
        "tags": ["retry", "queue"],
    }


def test_store_for_programs(empty: Here) -> None:
    options = ["--source", "review", "--session", "s1", "--confidence", "0.5", "--tag", "a", "--mind", "other"]
    data = empty.facts("store", "Specs", "Invoices have no gaps.", *options, "--json").data
    assert set(data) == {"action", "dry_run", "fact", "similar", "equal_archived"}
    assert (data["action"], data["dry_run"], data["similar"], data["equal_archived"]) == ("stored", False, [], [])
    fact = data["fact"]
    assert set(fact) == FACT_FIELDS
    assert fact["ref"] == f"fact:{fact['id']}"
    assert (fact["source"], fact["confidence"], fact["tags"], fact["mind"]) == ("review", 0.5, ["a"], "other")
    assert lines_of(empty.file)[0]["created_session"] == "s1"


@pytest.mark.parametrize(
    ("spelled", "section"),
    [
        *((name, name) for name in SECTIONS),
        ("known issues", "Known Issues"),
        ("known_issues", "Known Issues"),
        ("PATTERNS-CONVENTIONS", "Patterns & Conventions"),
        ("Patterns and Conventions", "Patterns & Conventions"),
        ("spec", "Specs"),
        ("arch", "Architecture"),
        (" Recent Work ", "Recent Work"),
    ],
)
def test_a_section_may_be_spelled_as_people_do(empty: Here, spelled: str, section: str) -> None:
    run = empty.facts("store", spelled, "Something.", "--dry-run", "--json")
    assert run.data["fact"]["section"] == section


@pytest.mark.parametrize("content", ["- Every module has a docstring.", "-every module", "--both"])
def test_a_content_may_begin_with_a_dash(empty: Here, content: str) -> None:
    assert empty.facts("store", "Specs", "--", content).code == 0
    assert list(empty.listed().values()) == [content[1:].strip()]


def test_a_bullet_needs_no_dashes_of_its_own(empty: Here) -> None:
    """Facts are copied from lists: a leading bullet is taken off, so it must reach us."""
    run = empty.facts("store", "Specs", "- Every module has a docstring.")
    assert run.code == 0, run.err
    assert list(empty.listed().values()) == ["Every module has a docstring."]


@pytest.mark.parametrize("arguments", [["-"], []])
def test_the_content_may_come_from_standard_input(empty: Here, arguments: list[str]) -> None:
    text = "A first line.\n\nAnd more, in ünïcode.\n"
    data = empty.facts("store", "Specs", *arguments, "--json", stdin=text).data
    assert data["fact"]["content"] == text.strip()
    assert told(empty.facts("list"))[1:] == [
        f"  [{data['fact']['id']}] (Specs, 100% confidence) A first line.",
        "     ",
        "     And more, in ünïcode.",
    ]


def test_the_same_text_on_the_same_day_changes_nothing(here: Here) -> None:
    name = here.store("Specs", "A new one.")
    before = here.file.read_bytes()
    for text in ("A new one.", "  a NEW   one. "):
        assert told(here.facts("store", "Specs", text)) == [
            "Already known, nothing changed: A new one.",
            f"  fact:{name}",
        ]
    assert here.file.read_bytes() == before


def test_another_session_confirms_and_the_same_one_counts_once(here: Here) -> None:
    text = str(SAMPLE[0]["content"])
    line = ["store", "Architecture", text, "--session", "s2"]
    assert re.fullmatch(rf"Confirmed \(.*2 times.*\): {re.escape(text)}", told(here.facts(*line))[0])
    before = here.file.read_bytes()
    assert told(here.facts(*line))[0] == f"Already known, nothing changed: {text}"
    assert here.file.read_bytes() == before
    assert here.facts(*line[:-1], "s3", "--json").data["fact"]["reinforcements"] == 3
    # Every line but this one is as it was.
    assert [line for line in lines_of(here.file) if line["id"] != WORKER] == list(SAMPLE[1:])


def test_a_known_text_in_another_section_says_where_it_is(here: Here) -> None:
    """Whoever asks for Decisions must not believe that it is in Decisions now."""
    run = here.facts("store", "Decisions", str(SAMPLE[1]["content"]), "--session", "s2")
    assert run.code == 0
    assert "Constraints" in run.out + run.err


def test_a_tag_for_a_known_text_is_not_dropped_in_silence(here: Here) -> None:
    here.store("Specs", "A new one.", "--tag", "one")
    run = here.facts("store", "Specs", "A new one.", "--tag", "two", "--json")
    assert run.data["fact"]["tags"] == ["one", "two"] or run.warnings


def test_what_says_nearly_the_same_is_named(here: Here) -> None:
    near = "Webhook retries run in the worker process, never in the request."
    run = here.facts("store", "Architecture", near)
    assert run.code == 0
    new = re.search(REF, run.out)[1]  # type: ignore[index]
    assert run.err.splitlines() == [
        f"warning: `fact:{WORKER}` says nearly the same: “Webhook retries run in the worker, never in the request.”.",
        f"         If the new one replaces it: memory facts supersede fact:{WORKER} --by fact:{new}",
    ]
    run = here.facts("store", "Architecture", near.replace("process", "thread"), "--json")
    assert run.json["warnings"][0]["code"] == "SaysNearlyTheSame"
    assert {"ref", "id", "share", "section", "content", "opposite"} == set(run.data["similar"][0])
    # Another section is no reason to say it twice.
    assert here.facts("store", "Specs", near.replace("never", "not"), "--json").data["similar"] != []


def test_what_was_put_away_is_named_and_stored_anew(here: Here) -> None:
    run = here.facts("store", "Decisions", "The queue lives in Redis.")
    assert run.code == 0
    assert f"warning: The same text was archived before: {REDIS} is archived (it moved)." in run.err
    assert REF.findall(run.out) != [REDIS]
    assert {line["id"]: line["status"] for line in lines_of(here.file) if line["section"] == "Decisions"}[
        REDIS
    ] == "archived"


# -- supersede --------------------------------------------------------------------------------


def test_supersede_replaces_in_one_step(here: Here) -> None:
    here.facts("connect", WORKER, FIVE, "depends_on")
    here.facts("focus", WORKER)
    run = here.facts("supersede", WORKER[:6], "Webhook retries run in a sidecar.", "--reason", "moved in 2.0")
    first, was, now = told(run)
    new = first.split("→ ")[1].split(" ")[0]
    assert first == f"Superseded {WORKER} → {new} in Architecture:"
    assert was == f"  was: {SAMPLE[0]['content']}"
    assert now == "  now: Webhook retries run in a sidecar."
    lines = {line["id"]: line for line in lines_of(here.file)}
    old = lines[WORKER]
    assert (old["status"], old["superseded_at"], old["reason"]) == (
        "superseded",
        "2026-03-02T11:19:00.000Z",
        "moved in 2.0",
    )
    assert (lines[new]["supersedes"], lines[new]["section"]) == (WORKER, "Architecture")
    # Connections and pins follow.
    inspected = here("inspect", f"fact:{new}").out
    assert f"fact:{new} depends_on fact:{FIVE}" in inspected
    assert f"replaces: {WORKER}" in inspected
    assert [pin["id"] for pin in here.facts("focus", "--json").data["pins"]] == [new]
    assert f"replaced by: {new}" in here("inspect", f"fact:{WORKER}").out


def test_supersede_for_programs(here: Here) -> None:
    data = here.facts("supersede", CMAP, "PDF export hangs on Type 3 fonts.", "--section", "specs", "--json").data
    assert set(data) == {"dry_run", "old", "new", "equal_archived"}
    assert (data["old"]["status"], data["old"]["replaced_by"]) == ("superseded", [data["new"]["id"]])
    new = data["new"]
    assert (new["section"], new["supersedes"], new["tags"]) == ("Specs", CMAP, ["pdf"])


def test_supersede_takes_the_content_from_standard_input(here: Here) -> None:
    run = here.facts("supersede", CMAP, "-", "--json", stdin="From a pipe.\n")
    assert run.data["new"]["content"] == "From a pipe."


def test_what_another_fact_says_already_takes_the_place(here: Here) -> None:
    data = here.facts("supersede", CMAP, str(SAMPLE[3]["content"]), "--json").data
    assert data["new"]["id"] == GAPS
    assert here.listed() == {
        WORKER: SAMPLE[0]["content"],
        FIVE: SAMPLE[1]["content"],
        GAPS: SAMPLE[3]["content"],
    }


def test_a_replaced_fact_names_its_replacement(here: Here) -> None:
    new = here.facts("supersede", CMAP, "Narrower.", "--json").data["new"]["id"]
    run = here.facts("supersede", CMAP, "Again.", "--json")
    assert run.code == 1
    assert run.error["details"] == {"field": "fact_id", "id": CMAP, "status": "superseded", "replacements": [new]}
    assert run.error["hint"] == f"It was replaced by {new}: supersede that one."


def test_an_archived_fact_must_be_restored_first(here: Here) -> None:
    run = here.facts("supersede", REDIS, "Again.")
    assert run.code == 1
    assert f"hint: Restore it with `memory facts restore {REDIS}` first." in run.err


def test_no_change_is_an_error(here: Here) -> None:
    before = here.file.read_bytes()
    run = here.facts("supersede", GAPS, "invoices are numbered  without gaps.")
    assert run.code == 1
    assert run.err.startswith(f"error: `{GAPS}` already says exactly that.")
    assert here.file.read_bytes() == before


# -- archive and restore ----------------------------------------------------------------------


def test_every_id_is_answered_for(here: Here) -> None:
    run = here.facts("archive", GAPS, "nowhere", REDIS, f"fact:{FIVE}", "--reason", "HTML now")
    assert run.code == 1
    assert run.out.splitlines() == [
        f"{GAPS}: archived (was: Invoices are numbered without gaps.)",
        "nowhere: not found. `memory facts recall` and `memory facts list` show ids; the first four characters can "
        "be enough.",
        f"{REDIS}: already archived",
        f"{FIVE}: archived (was: A delivery is retried at most five times.)",
    ]
    lines = {line["id"]: line for line in lines_of(here.file)}
    assert (lines[GAPS]["archived_at"], lines[GAPS]["reason"]) == ("2026-03-02T11:19:00.000Z", "HTML now")
    assert lines[REDIS] == SAMPLE[4]
    assert here.facts("archive", GAPS).code == 0


def test_archive_and_restore_for_programs(here: Here) -> None:
    run = here.facts("archive", GAPS, "nowhere", "--json")
    assert (run.code, run.data["changed"], run.data["dry_run"]) == (1, 1, False)
    assert [(item["id"], item["outcome"], item["done"]) for item in run.data["outcomes"]] == [
        (GAPS, "archived", True),
        ("nowhere", "not found", False),
    ]
    run = here.facts("restore", GAPS, WORKER, "--json")
    assert (run.code, run.data["changed"]) == (0, 1)
    assert [item["outcome"] for item in run.data["outcomes"]] == ["restored", "already active"]


def test_archive_is_undone_by_restore(here: Here) -> None:
    before = here.listed()
    here.facts("archive", GAPS, WORKER, "--reason", "a mistake")
    assert set(here.listed()) == {FIVE, CMAP}
    assert told(here.facts("restore", GAPS, WORKER[:4])) == [
        f"{GAPS}: restored (Invoices are numbered without gaps.)",
        f"{WORKER}: restored (Webhook retries run in the worker, never in the request.)",
    ]
    assert here.listed() == before
    assert "reason" not in lines_of(here.file)[0]


def test_what_is_archived_is_found_only_where_the_archive_is_searched(here: Here) -> None:
    here.facts("archive", WORKER)
    for line in (["recall", "webhook retries worker"], ["list"], ["context", "webhook retries in the worker"]):
        assert WORKER not in here.facts(*line).out
    assert WORKER in here.facts("search-archive", "webhook retries").out


def test_a_replaced_fact_is_restored_only_when_its_replacement_is_gone(here: Here) -> None:
    new = here.facts("supersede", CMAP, "Narrower.", "--json").data["new"]["id"]
    run = here.facts("restore", CMAP)
    assert (run.code, run.out) == (1, f"{CMAP}: not restored, since {new} replaced it; archive that first\n")
    here.facts("archive", new)
    assert here.facts("restore", CMAP).code == 0
    assert CMAP in here.listed()


def test_a_text_that_lives_on_under_another_id_is_not_restored(here: Here) -> None:
    again = here.store("Decisions", "The queue lives in Redis.")
    run = here.facts("restore", REDIS)
    assert (run.code, run.out) == (1, f"{REDIS}: not restored, since {again} says the same\n")


def test_a_connection_is_put_away_and_brought_back(here: Here) -> None:
    edge = here.facts("connect", WORKER, FIVE, "depends_on", "--json").data["edge"]["ref"]
    assert told(here.facts("archive", edge, "--reason", "not so")) == [
        f"{edge}: archived (was: fact:{WORKER} depends_on fact:{FIVE})"
    ]
    assert "depends_on" not in here("inspect", f"fact:{WORKER}").out
    assert told(here.facts("archive", edge)) == [f"{edge}: already archived"]
    run = here.facts("restore", edge)
    assert run.code == 0, run.out
    assert "depends_on" in here("inspect", f"fact:{WORKER}").out


def test_what_has_faded_is_archived_all_at_once(here: Here) -> None:
    june = {"MEMORY_NOW": "2026-06-18T12:00:00+00:00"}
    assert told(here.facts(env=june))[0] == "Facts: 5 (4 active, 1 archived), 3 of them faded"
    before = here.file.read_bytes()
    dry = told(here.facts("archive", "--faded", "--dry-run", env=june))
    assert len(dry) == 3
    assert all(line.startswith("Would be: ") for line in dry)
    assert here.file.read_bytes() == before
    assert len(told(here.facts("archive", "--faded", env=june))) == 3
    assert {line["reason"] for line in lines_of(here.file) if line.get("archived_at", "") > TODAY} == {
        "faded: not confirmed for a long time"
    }
    assert told(here.facts("archive", "--faded", env=june)) == ["Nothing has faded."]
    assert list(here.listed()) == [GAPS]


def test_what_is_called_faded_is_what_archive_takes(here: Here) -> None:
    """The counts, recall and the archive speak of the same facts."""
    here.write(*SAMPLE, fact_line("abababababab", "Recent Work", "Edited the mailer.", version=9))
    week = {"MEMORY_NOW": "2026-03-10T12:00:00+00:00"}
    assert here.facts("--json", env=week).data["faded"] == 1
    assert "has faded" in here.facts("recall", "mailer", "--section", "Recent Work", env=week).out
    here.forget_reading()
    assert told(here.facts("archive", "--faded", env=week)) == ["abababababab: archived (was: Edited the mailer.)"]


# -- connect ----------------------------------------------------------------------------------


def test_connect(here: Here) -> None:
    run = here.facts("connect", WORKER, FIVE, "Depends-On", "--description", "the limit")
    said, ref = told(run)
    assert said == f"Connected: fact:{WORKER} depends_on fact:{FIVE}"
    line = lines_of(here.file)[-1]
    assert ref == f"  edge:{line['id']}"
    assert line == {
        "_type": "edge",
        "id": line["id"],
        "source_id": WORKER,
        "target_id": FIVE,
        "relation": "depends_on",
        "description": "the limit",
        "status": "active",
        "created_at": "2026-03-02T11:19:00.000Z",
        "version": 6,
    }
    before = here.file.read_bytes()
    again = here.facts("connect", WORKER[:5], f"fact:{FIVE}", "depends on")
    assert told(again) == [f"Known already: fact:{WORKER} depends_on fact:{FIVE}", ref]
    assert here.file.read_bytes() == before
    # The other way round is another thing to say.
    assert told(here.facts("connect", FIVE, WORKER, "depends_on"))[0].startswith("Connected: ")
    assert told(here.facts("connect", WORKER, FIVE, "depends_on", env=LATER))[0].startswith("Confirmed: ")


def test_connect_for_programs(here: Here) -> None:
    run = here.facts("connect", WORKER, "project.harbor", "motivated_by", "--json")
    assert set(run.data) == {"action", "dry_run", "edge"}
    assert run.data["action"] == "connected"
    assert run.data["edge"] == {
        "ref": run.data["edge"]["ref"],
        "source": f"fact:{WORKER}",
        "relation": "motivated_by",
        "target": "project.harbor",
        "title": "",
        "description": "",
    }
    assert run.warnings == []


def test_another_relation_is_kept_with_a_warning_that_names_the_usual_ones(here: Here) -> None:
    run = here.facts("connect", WORKER, FIVE, "runs on", "--json")
    assert run.data["edge"]["relation"] == "runs_on"
    (warning,) = run.json["warnings"]
    assert (warning["code"], warning["field"]) == ("RelationUnknown", "relation")
    assert warning["allowed"] == ["depends_on", "contradicts", "enables", "replaces", "motivated_by"]
    assert "warning: relation: `near` is not a usual relation" in here.facts("connect", WORKER, FIVE, "near").err


def test_the_order_that_reads_like_a_sentence_is_understood_or_explained(here: Here) -> None:
    """The help says that SOURCE RELATION TARGET reads like a sentence, so people type it like one."""
    run = here.facts("connect", WORKER, "depends_on", FIVE)
    assert run.code == 0 or "RELATION" in run.err or "relation" in run.err


# -- recall -----------------------------------------------------------------------------------


def test_recall(here: Here) -> None:
    here.facts("connect", WORKER, FIVE, "depends_on")
    lines = told(here.facts("recall", "where do webhook retries run?"))
    head = f"1. [{WORKER}] (Architecture, match, 2026-03-01, not reviewed, 95% confidence)"
    assert lines[0] == f"{head} {SAMPLE[0]['content']}"
    assert any(FIVE in line for line in lines[1:])


def test_recall_for_programs(here: Here) -> None:
    here.facts("connect", CMAP, GAPS, "motivated_by")
    data = here.facts("recall", "PDF fonts", "--json").data
    assert set(data) == {"query", "results", "connected", "weak", "faded", "reason", "other_minds"}
    (first,) = data["results"]
    assert set(first) == FACT_FIELDS | {"checked"}
    assert set(first["scores"]) == {"lexical", "cosine", "fused", "confidence", "graph"}
    assert (first["id"], first["tags"], data["weak"], data["faded"], data["reason"]) == (CMAP, ["pdf"], False, 0, "")
    confidence = first["scores"]["confidence"] ** 0.25
    assert first["score"] == pytest.approx(first["scores"]["fused"] * confidence, abs=1e-3)
    assert data["connected"] == [
        {
            "ref": f"fact:{GAPS}",
            "source": f"fact:{CMAP}",
            "relation": "motivated_by",
            "target": f"fact:{GAPS}",
            "title": "Invoices are numbered without gaps.",
            "description": "",
        }
    ]


def test_recall_is_narrowed_by_section_and_number(here: Here) -> None:
    ids = [item["id"] for item in here.facts("recall", "delivery retries", "--k", "1", "--json").data["results"]]
    assert len(ids) == 1
    narrowed = here.facts("recall", "delivery retries", "--section", "constraints", "--json").data["results"]
    assert [item["id"] for item in narrowed] == [FIVE]


def test_nothing_stored_and_nothing_matched_are_two_things(here: Here) -> None:
    assert told(here.facts("recall", "zebra migrations in the savannah")) == ["No fact matches."]
    assert here.facts("recall", "zebra", "--json").data["reason"] == "nothing matched"
    assert told(here.facts("recall", "fonts", "--section", "Decisions")) == ["No fact matches."]


def test_other_minds_are_neither_searched_nor_kept_secret(here: Here) -> None:
    other = here.store("Specs", "Zebras migrate in June.", "--mind", "safari")
    run = here.facts("recall", "zebras migrate")
    assert told(run) == ["No fact matches.", "Other minds hold facts: safari (1). Name one with --mind."]
    found = here.facts("recall", "zebras migrate", "--mind", "safari", "--json").data["results"]
    assert [item["id"] for item in found] == [other]
    assert here.facts("recall", "zebras migrate", "--json").data["other_minds"] == {"safari": 1}
    assert told(here.facts("recall", "zebras", "--mind", "nobody"))[1] == (
        "Other minds hold facts: default (5), safari (1). Name one with --mind."
    )


def test_a_mind_without_facts_is_not_an_empty_memory(here: Here) -> None:
    for line in (["list", "--mind", "nobody"], ["recall", "worker", "--mind", "nobody"]):
        assert "No facts are stored yet" not in here.facts(*line).out


def test_what_has_faded_is_counted_and_shown_on_request(here: Here) -> None:
    june = {"MEMORY_NOW": "2026-06-18T12:00:00+00:00"}
    here.write(*SAMPLE, fact_line("abababababab", "Specs", "Webhook retries run every minute.", version=9))
    said = told(here.facts("recall", "when do webhook retries run?", env=june))
    assert said[0].startswith("1. [abababababab] (Specs, match, 2026-03-01, not reviewed, 100% confidence)")
    assert said[1:] == ["Left out because faded: 1. --faded shows them; storing one again confirms it."]
    assert here.facts("recall", "when do webhook retries run?", "--json", env=june).data["faded"] == 1
    shown = here.facts("recall", "when do webhook retries run?", "--faded", "--json", env=june).data["results"]
    assert [item["id"] for item in shown] == ["abababababab", WORKER]


def test_where_everything_has_faded_it_is_given_and_said(here: Here) -> None:
    june = {"MEMORY_NOW": "2026-06-18T12:00:00+00:00"}
    said = told(here.facts("recall", "PDF fonts", env=june))
    assert said == [
        "The best match has faded: it was not confirmed for a long time.",
        f"1. [{CMAP}] (Known Issues, match, 2026-03-01, not reviewed, 0% confidence) {SAMPLE[2]['content']}",
        "Storing one again confirms it; `memory facts archive --faded` archives all of them.",
    ]


def test_reading_changes_the_times_of_reading_alone(here: Here, tree: Any) -> None:
    before = tree(here.root)
    for line in (["recall", "webhook retries"], ["search-archive", "queue"], ["context", "webhook retries here"]):
        assert here.facts(*line).code == 0
    changed = {name for name, data in tree(here.root).items() if before.get(name) != data}
    assert changed - {".memory/local/.gitignore"} == {".memory/local/access.jsonl"}


# -- list -------------------------------------------------------------------------------------


def test_list(here: Here) -> None:
    assert told(here.facts("list")) == [
        "Architecture (1)",
        f"  [{WORKER}] (Architecture, 95% confidence) {SAMPLE[0]['content']}",
        "Constraints (1)",
        f"  [{FIVE}] (Constraints, 95% confidence) {SAMPLE[1]['content']}",
        "Known Issues (1)",
        f"  [{CMAP}] (Known Issues, 95% confidence) {SAMPLE[2]['content']}",
        "Specs (1)",
        f"  [{GAPS}] (Specs, 100% confidence) {SAMPLE[3]['content']}",
    ]


def test_list_for_programs(here: Here) -> None:
    data = here.facts("list", "--json").data
    assert set(data) == {"results", "total", "offset", "sections", "more", "unread", "mind"}
    assert [item["id"] for item in data["results"]] == [WORKER, FIVE, CMAP, GAPS]
    assert all(set(item) == FACT_FIELDS for item in data["results"])
    assert (data["total"], data["offset"], data["more"], data["mind"]) == (4, 0, 0, "default")
    assert data["sections"] == {"Architecture": 1, "Constraints": 1, "Known Issues": 1, "Specs": 1}


def test_list_page_by_page(here: Here) -> None:
    assert told(here.facts("list", "--limit", "3"))[-1] == "1 more: --offset 3"
    pages = [here.facts("list", "--limit", "3", "--offset", at, "--json").data for at in ("0", "3", "6")]
    assert [[item["id"] for item in page["results"]] for page in pages] == [[WORKER, FIVE, CMAP], [GAPS], []]
    assert [page["more"] for page in pages] == [1, 0, 0]
    assert list(here.listed("--section", "known issues")) == [CMAP]


def test_a_section_without_facts_is_not_an_empty_memory(here: Here) -> None:
    run = here.facts("list", "--section", "Recent Work")
    assert run.code == 0
    assert "No facts are stored yet" not in run.out
    assert "Recent Work" in run.out


def test_a_page_behind_the_last_one_says_so(here: Here) -> None:
    run = here.facts("list", "--offset", "99")
    assert run.code == 0
    assert run.out.strip()


# -- search-archive ---------------------------------------------------------------------------


def test_search_archive(here: Here) -> None:
    new = here.facts("supersede", CMAP, "PDF export hangs on Type 3 fonts.", "--reason", "narrowed", "--json").data
    assert told(here.facts("search-archive", "where does the queue live?"))[0] == (
        f"1. [{REDIS}] (Decisions, match, 2026-03-01, not reviewed, archived 2026-03-01, it moved) "
        "The queue lives in Redis."
    )
    first = here.facts("search-archive", "PDF fonts", "--json").data["results"][0]
    assert (first["id"], first["status"], first["reason"]) == (CMAP, "superseded", "narrowed")
    assert first["replaced_by"] == [new["new"]["id"]]
    assert first["put_away_at"] == "2026-03-02T11:19:00.000Z"
    before = here.file.read_bytes()
    assert here.facts("search-archive", "zebra migrations").out == "No archived fact matches.\n"
    assert here.file.read_bytes() == before


def test_the_archive_gives_nothing_that_does_not_match(here: Here) -> None:
    here.facts("archive", CMAP, WORKER, FIVE)
    ids = [item["id"] for item in here.facts("search-archive", "fonts", "--json").data["results"]]
    assert ids == [CMAP]


# -- episodes and sessions --------------------------------------------------------------------


def test_a_session_is_one_episode(here: Here) -> None:
    line = ["session", "7c1e", "--turns", "4", "--tool-calls", "31"]
    assert told(here.facts(*line)) == ["Noted: 4 turns, 31 tool calls so far."]
    name = here.store("Decisions", "Retries are durable.", "--session", "7c1e")
    close = ["session", "7c1e", "--turns", "9", "--title", "durable retries", "--narrative", "Why.", "--close"]
    (said,) = told(here.facts(*close))
    ref = said.rpartition("  ")[2]
    assert said.startswith("Recorded Session 2026-03-02: durable retries  episode:")
    (episode,) = here.facts("episodes", "--json").data["results"]
    assert (episode["ref"], episode["session"], episode["tags"]) == (ref, "7c1e", ["auto"])
    assert episode["facts"] == [name]
    assert "9 turns, 31 tool calls" in episode["narrative"]
    before = here.file.read_bytes()
    again = here.facts(*close, "--tool-calls", "31", "--json").data
    assert [item["ref"] for item in again["episodes"]] == [ref]
    assert here.file.read_bytes() == before


def test_telling_a_closed_session_again_loses_nothing_of_it(here: Here) -> None:
    """A hook may fire twice, and the second time know less."""
    told_once = ["--turns", "9", "--title", "durable retries", "--narrative", "We moved it.", "--file", "src/a.py"]
    here.facts("session", "7c1e", *told_once, "--started", "2026-03-02T10:00:00Z", "--close")
    first = here("inspect", here.facts("episodes", "--json").data["results"][0]["ref"], "--json").data["object"]
    assert "We moved it." in first["narrative"]
    assert here.facts("session", "7c1e", "--turns", "9", "--close").code == 0
    (episode,) = here.facts("episodes", "--json").data["results"]
    second = here("inspect", episode["ref"], "--json").data["object"]
    assert second["narrative"] == first["narrative"]
    assert (second["title"], second["files_changed"]) == (first["title"], ["src/a.py"])


def test_episodes_are_found_by_question_tag_and_day(here: Here) -> None:
    for name, title, day in (("a", "durable retries", "01"), ("b", "font crash", "02"), ("c", "invoices", "03")):
        moment = {"MEMORY_NOW": f"2026-03-{day}T08:00:00+00:00"}
        here.facts("session", name, "--turns", "2", "--title", title, "--close", env=moment)

    def titles(*arguments: str) -> list[str]:
        found = here.facts("episodes", *arguments, "--json").data["results"]
        return [item["title"].partition(": ")[2] for item in found]

    assert titles() == ["invoices", "font crash", "durable retries"]
    assert titles("--k", "1") == ["invoices"]
    assert titles("font crash") == ["font crash"]
    assert titles("--since", "2026-03-02") == ["invoices", "font crash"]
    assert titles("--until", "2026-03-02") == ["font crash", "durable retries"]
    assert titles("--since", "2026-03-02", "--until", "2026-03-02", "--tag", "auto") == ["font crash"]
    assert told(here.facts("episodes", "zebras")) == ["No episode matches."]
    shown = told(here.facts("episodes", "font crash"))
    assert shown[0] == "2026-03-02: Session 2026-03-02: font crash  [auto]"
    assert shown[1].startswith("  episode:session-")


@pytest.mark.parametrize("arguments", [["--tag", "nothing"], ["--since", "2030-01-01"], ["--until", "2000-01-01"]])
def test_episodes_that_a_filter_leaves_out_are_recorded_all_the_same(here: Here, arguments: list[str]) -> None:
    here.facts("session", "a", "--turns", "2", "--close")
    assert told(here.facts("episodes", *arguments)) == ["No episode matches."]


# -- working memory ---------------------------------------------------------------------------


def test_focus_and_release(here: Here) -> None:
    assert told(here.facts("focus", WORKER, f"fact:{GAPS}", CMAP[:5])) == [
        "Pinned 3 of 3.",
        "Working memory: 3 of 25 slots are pinned.",
        f"  [{WORKER}] (Architecture, 95% confidence) {SAMPLE[0]['content']}",
        f"  [{GAPS}] (Specs, 100% confidence) {SAMPLE[3]['content']}",
        f"  [{CMAP}] (Known Issues, 95% confidence) {SAMPLE[2]['content']}",
    ]
    assert told(here.facts("focus", WORKER))[:2] == ["Pinned 1 of 1.", f"  {WORKER}: already pinned"]
    assert told(here.facts("release", GAPS))[0] == "Released 1."
    assert [pin["id"] for pin in here.facts("focus", "--json").data["pins"]] == [CMAP, WORKER]
    assert told(here.facts("release"))[:2] == ["Released 2.", "Working memory: 0 of 25 slots are pinned."]
    assert here.listed().keys() >= {WORKER, GAPS, CMAP}


def test_focus_answers_for_every_id(here: Here) -> None:
    run = here.facts("focus", WORKER, "nowhere", REDIS)
    assert run.code == 1
    assert run.out.splitlines()[:3] == [
        "Pinned 1 of 3.",
        "  nowhere: not found",
        f"  {REDIS}: not pinned: it is archived",
    ]
    data = here.facts("focus", "nowhere", "--json").data
    assert set(data) == {"outcomes", "pins", "recent", "slots", "used", "missing", "session"}
    assert (data["outcomes"], data["slots"], data["used"]) == ({"nowhere": "not found"}, 25, 1)


def test_release_understands_what_focus_understands(here: Here) -> None:
    assert here.facts("focus", WORKER[:6]).code == 0
    assert told(here.facts("release", WORKER[:6]))[0] == "Released 1."


def test_releasing_what_is_not_pinned_fails_as_pinning_what_is_not_there_does(here: Here) -> None:
    assert here.facts("focus", "nowhere").code == 1
    assert here.facts("release", "nowhere").code == 1


def test_there_are_twenty_five_slots_and_no_pin_is_pushed_out(empty: Here) -> None:
    empty.write(*(fact_line(f"{number:012x}", "Specs", f"Fact number {number}.") for number in range(27)))
    names = [f"{number:012x}" for number in range(27)]
    run = empty.facts("focus", *names, "--json")
    assert run.code == 1
    assert run.data["used"] == 25
    assert [run.data["outcomes"][name] for name in names[24:]] == ["pinned", "no slot", "no slot"]
    assert "25 of 25" in empty.facts("focus").out


def test_a_session_has_pins_of_its_own(here: Here) -> None:
    here.facts("focus", WORKER, "--session", "one")
    assert here.facts("focus", "--json").data["pins"] == []
    assert [pin["id"] for pin in here.facts("focus", "--session", "one", "--json").data["pins"]] == [WORKER]


def test_a_pin_that_was_archived_is_missed_and_comes_back(here: Here) -> None:
    here.facts("focus", WORKER)
    here.facts("archive", WORKER)
    assert told(here.facts("focus")) == [
        "Working memory: 0 of 25 slots are pinned.",
        f"No longer stored: {WORKER}",
    ]
    here.facts("restore", WORKER)
    assert here.facts("focus", "--json").data["used"] == 1


# -- context ----------------------------------------------------------------------------------


def test_context(here: Here) -> None:
    here.facts("focus", GAPS)
    text = told(here.facts("context", "how do webhook retries work in the worker?"))
    assert text[0] == "# Memory"
    pinned = text.index("## Working memory (pinned)")
    assert text[pinned + 1] == f"- [fact:{GAPS}] Invoices are numbered without gaps."
    assert text.index("## Architecture") > pinned
    assert f"- [fact:{WORKER}] {SAMPLE[0]['content']}" in text
    assert not any(REDIS in line for line in text)
    assert "\n".join(text).count(GAPS) == 1
    data = here.facts("context", "how do webhook retries work in the worker?", "--json").data
    assert data["markdown"].rstrip("\n").splitlines() == text
    assert data["tokens"] <= 2000


# -- compact, ingest --------------------------------------------------------------------------

TALK = [
    message
    for turn in range(1, 9)
    for message in (
        {"role": "user", "content": f"Request {turn}: rework module {turn}. " + "It is slow and hard to read. " * 12},
        {"role": "assistant", "content": f"Decided: module {turn} uses queue {turn}. " + "It went well. " * 60},
    )
]


def test_compact_keeps_pins_and_what_was_asked(here: Here) -> None:
    here.facts("focus", CMAP)
    run = here.facts("compact", "--stdin", "--keep", "2", "--json", stdin=json.dumps({"messages": TALK}))
    data = run.data
    assert data["changed"] is True
    assert data["after_tokens"] < data["before_tokens"]
    assert data["messages"][-4:] == TALK[-4:]
    assert "PDF export hangs on fonts without a cmap." in data["summary"]
    assert data["checkpoint"].startswith(".memory/local/checkpoints/")
    kept = [json.loads(line) for line in (here.root / data["checkpoint"]).read_text().splitlines()]
    assert all(message in kept for message in TALK[:2])
    again = here.facts("compact", "--stdin", "--json", stdin=json.dumps(data["messages"]))
    assert again.data["changed"] is False
    assert again.data["messages"] == data["messages"]


def test_ingest_is_told_to_take_and_to_drop_the_same(here: Here) -> None:
    candidate = {"sourceKind": "design-decision", "authority": "inferred", "section": "Decisions", "content": "Kafka."}
    data = here.facts("ingest", "--stdin", "--json", stdin=json.dumps(candidate)).data
    (waiting,) = data["pending"]
    before = here.file.read_bytes()
    run = here.facts("ingest", "--accept", waiting["id"], "--drop", waiting["id"])
    assert run.code != 0
    assert here.file.read_bytes() == before


# -- normalize and import ---------------------------------------------------------------------


def test_normalize_shows_first_and_writes_when_told(here: Here) -> None:
    doubled = [*SAMPLE, *reversed(SAMPLE), {**SAMPLE[0], "version": 9, "status": "archived"}]
    here.write(*doubled, b"{broken")
    before = here.file.read_bytes()
    shown = told(here.facts("normalize"))
    assert shown[0] == "Would rewrite 12 lines as 6; 5 facts, none lost."
    assert re.fullmatch(r"1 line could not be read .* at the end; `memory check` shows why\.", shown[1])
    assert shown[-2:] == [
        "The file has uncommitted changes. Commit them first, so that git can restore them.",
        "--write does it.",
    ]
    assert here.file.read_bytes() == before
    listed = here.listed()
    assert told(here.facts("normalize", "--write"))[0] == "Rewrote 12 lines as 6; 5 facts, none lost."
    assert here.listed() == listed
    assert here.file.read_bytes().endswith(b"{broken\n")
    written = here.file.read_bytes()
    assert told(here.facts("normalize", "--write"))[0].startswith("The file is already normalized: 6 lines, 5 facts.")
    assert here.file.read_bytes() == written


def test_normalize_for_programs(here: Here) -> None:
    here.write(*SAMPLE, SAMPLE[0])
    data = here.facts("normalize", "--json").data
    assert (data["dry_run"], data["changed"], data["lines_before"], data["lines_after"]) == (True, True, 6, 5)
    assert (data["facts"], data["removed"], data["kept_aside"], data["conflicts"], data["contradictions"]) == (
        5,
        1,
        0,
        0,
        0,
    )
    assert data["uncommitted"] is True
    assert data["diff"].startswith("--- facts.jsonl\n+++ facts.jsonl\n")


def test_import_takes_what_is_not_here_and_twice_is_once(here: Here, tmp_path: Path) -> None:
    other = tmp_path / "theirs.jsonl"
    theirs = [SAMPLE[0], fact_line("abababababab", "Specs", "From elsewhere.", version=3)]
    other.write_text("".join(json.dumps(line) + "\n" for line in theirs))
    before = here.file.read_bytes()
    assert told(here.facts("import", str(other), "--dry-run")) == ["Would import 1 of 2 records; 1 were here already."]
    assert here.file.read_bytes() == before
    assert told(here.facts("import", str(other))) == ["Imported 1 of 2 records; 1 were here already."]
    assert here.listed()["abababababab"] == "From elsewhere."
    once = here.file.read_bytes()
    assert once.startswith(before)
    data = here.facts("import", str(other), "--json").data
    assert data == {
        "dry_run": False,
        "source": str(other),
        "lines": 2,
        "added": 0,
        "known": 2,
        "refused": 0,
        "set_aside": 0,
    }
    assert here.file.read_bytes() == once


# -- dry runs ---------------------------------------------------------------------------------

DRY = {
    "store": ["Specs", "Something new."],
    "supersede": [WORKER, "Something else."],
    "archive": [WORKER],
    "refresh": ["--since", "2026-01-01"],
    "restore": [REDIS],
    "connect": [WORKER, FIVE, "depends_on"],
    "compact": ["--stdin"],
    "ingest": [],
    "import": ["other.jsonl"],
}


def test_the_list_of_dry_runs_is_whole() -> None:
    options = {verb: {option.name for option in command.options} for verb, command in COMMAND.subcommands.items()}
    assert {verb for verb, names in options.items() if "--dry-run" in names} == set(DRY)


@pytest.mark.parametrize("verb", DRY)
def test_a_dry_run_writes_nothing_and_says_what_would_be(here: Here, tree: Any, verb: str) -> None:
    (here.root / "other.jsonl").write_text(json.dumps(fact_line("abababababab", "Specs", "Elsewhere.")) + "\n")
    (here.root / "docs").mkdir()
    (here.root / "docs/a.md").write_text(
        "---\nid: a\ntitle: A\nstatus: decided\n---\n## Decisions\n### X\n**Status:** decided\n**Rationale:** Y.\n"
    )
    talk = json.dumps({"messages": TALK})
    here.facts("list")
    before = tree(here.root)
    human = here.facts(verb, *DRY[verb], "--dry-run", stdin=talk)
    assert human.code == 0
    assert "Would" in human.out or verb == "compact"
    data = here.facts(verb, *DRY[verb], "--dry-run", "--json", stdin=talk).data
    assert data.get("dry_run") is True or verb == "compact"
    assert tree(here.root) == before
    real = here.facts(verb, *DRY[verb], stdin=talk)
    assert real.code == 0
    assert "Would" not in real.out
    assert tree(here.root) != before
