"""Every verb of `memory profile`: its help, what it says to people and to programs, and where nothing is there yet."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from profile_here import CATEGORIES, EVERY, NOW, RESULT, SAMPLE, Profile, document_of, entry_of, profile_in, snapshot

VERBS = [verb for verb in EVERY if verb]
SHARED = "  in the shared document; `memory profile private` keeps such records out of git\n"
"""Said of what is personal, where it goes into the shared document for the first time."""
EMPTY_BYTES = b"""{
  "schema_version": "1.2",
  "session_count": 0,
  "memories": {
    "user": {},
    "assistant": {},
    "project": {},
    "relationships": {},
    "tools": {},
    "learnings": {}
  }
}
"""


@pytest.fixture
def bare(environment: dict[str, str], tmp_path: Path) -> Profile:
    """A repository in which nothing was ever remembered."""
    return profile_in(tmp_path / "harbor", environment)


@pytest.fixture
def here(environment: dict[str, str], tmp_path: Path) -> Profile:
    return profile_in(tmp_path / "harbor", environment, SAMPLE)


# -- help -------------------------------------------------------------------------------------


def test_help_names_every_verb(bare: Profile) -> None:
    run = bare.profile("--help")
    assert (run.code, run.err) == (0, "")
    listed = [line.split()[0] for line in run.out.partition("Commands:\n")[2].partition("\n\n")[0].splitlines()]
    assert sorted(listed) == sorted(VERBS)
    assert ".ai-state/memory.json" in run.out
    assert "memory profile remember user timezone" in run.out


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_a_help_with_an_example_that_is_its_own(bare: Profile, verb: str) -> None:
    for option in ("--help", "-h"):
        run = bare.profile(verb, option)
        assert (run.code, run.err) == (0, "")
        assert run.out.startswith(f"Usage: memory profile {verb} ")
        assert f"\n    memory profile {verb}" in run.out
        assert "--json" in run.out
    assert not (bare.root / ".ai-state").exists()


def test_a_closed_set_is_spelled_out_in_the_help(bare: Profile) -> None:
    told = " ".join(bare.profile("remember", "--help").out.split())
    for word in (*CATEGORIES, "active, archived or superseded", "user-stated, inferred or codebase", "1 to 10"):
        assert word in told
    told = " ".join(bare.profile("link", "--help").out.split())
    assert "supersedes (the target is archived), elaborates, contradicts, related-to, depends-on" in told
    told = " ".join(bare.profile("search", "--help").out.split())
    assert "archived, superseded or any" in told
    assert "[markdown|json]" in bare.profile("export", "--help").out
    assert "[target|source]" in bare.profile("private", "--help").out
    assert "[archive|confidence|all]" in bare.profile("reflect", "--help").out


def test_the_table_of_all_commands_has_the_profile(bare: Profile) -> None:
    assert "profile" in bare("--help").out


# -- nothing is there yet ---------------------------------------------------------------------

SAID_OF_NOTHING = {
    "": 'There is no profile yet. `memory profile remember user timezone "…"` creates one.\n',
    "status": 'There is no profile yet. `memory profile remember user timezone "…"` creates one.\n',
    "recall": 'No records in tools. `memory profile remember tools KEY "…"` adds one.\n',
    "about-me": "Nothing is recorded about the user yet.\n",
    "about-us": "Nothing is recorded yet about how you work together.\n",
    "index": "No records yet.\n",
    "context": "No active records yet.\n",
    "reflect": "Nothing to tidy up.\n",
    "restore": "No record was forgotten on this machine.\n",
}


@pytest.mark.parametrize("verb", SAID_OF_NOTHING)
def test_where_nothing_is_a_verb_says_so_and_makes_nothing(bare: Profile, verb: str) -> None:
    before = snapshot(bare.root)
    run = bare.profile(*([verb] if verb else []), *EVERY[verb])
    assert (run.code, run.out, run.err) == (0, SAID_OF_NOTHING[verb], "")
    assert snapshot(bare.root) == before


def test_a_search_where_nothing_is(bare: Profile) -> None:
    before = snapshot(bare.root)
    run = bare.profile("search", "package manager")
    assert (run.code, run.err) == (0, "")
    assert run.out.startswith("No record")
    assert snapshot(bare.root) == before


def test_an_export_where_nothing_is(bare: Profile) -> None:
    before = snapshot(bare.root)
    run = bare.profile("export")
    assert (run.code, run.err) == (0, "")
    # Whatever it says, it does not name a version that is none.
    assert "(schema )" not in run.out
    assert bare.profile("export", "--format", "json").out.encode() == EMPTY_BYTES
    assert snapshot(bare.root) == before


def test_where_private_things_are_where_nothing_is(bare: Profile) -> None:
    before = snapshot(bare.root)
    run = bare.profile("private")
    assert (run.code, run.err) == (0, "")
    assert run.out.startswith("Everything is in the shared document.")
    assert bare.profile("private", "--json").data == {"private": "shared", "path": "", "entries": 0}
    assert snapshot(bare.root) == before


NOTHING: dict[str, dict[str, Any]] = {
    "recall": {"category": "tools", "results": [], "entries": {}, "put_away": 0},
    "search": {"query": "package manager", "results": [], "beyond": 0, "weak": False, "total": 0},
    "about-me": {"profile": "", "entries": 0, "put_away": 0},
    "about-us": {"profile": "", "entries": 0, "put_away": 0},
    "index": {"profile": "", "entries": 0, "put_away": 0},
    "restore": {"results": []},
    "context": {"markdown": "", "tokens": 0, "budget": 1000, "told": [], "left": {}, "left_total": 0},
}


@pytest.mark.parametrize("verb", NOTHING)
def test_where_nothing_is_a_program_is_told_the_same(bare: Profile, verb: str) -> None:
    before = snapshot(bare.root)
    run = bare.profile(verb, *EVERY[verb], "--json")
    assert (run.code, run.data, run.warnings) == (0, NOTHING[verb], [])
    assert snapshot(bare.root) == before


@pytest.mark.parametrize(
    "line",
    [
        ["recall", "tools", "editor"],
        ["connections", "tools", "editor"],
        ["forget", "tools", "editor"],
        ["restore", "tools", "editor"],
        ["link", "tools.editor", "tools.shell", "related-to"],
        ["unlink", "tools.editor", "tools.shell"],
        ["remember", "tools", "editor", "--importance", "3"],
        ["remember", "tools", "editor", ""],
        ["remember", "tools", "Editor", "vim"],
        ["remember", "tools", "editor", "vim", "--source", "rumour"],
        ["remember", "tools", "editor", "vim", "--supersedes", "tools.old"],
    ],
)
def test_what_is_refused_where_nothing_is_leaves_nothing_behind(bare: Profile, line: list[str]) -> None:
    before = snapshot(bare.root)
    run = bare.profile(*line, "--json")
    assert run.code == 1
    assert run.error["hint"]
    assert snapshot(bare.root).keys() == before.keys()


def test_reflecting_on_nothing_leaves_nothing_behind(bare: Profile) -> None:
    before = snapshot(bare.root)
    assert bare.profile("reflect", "--apply", "all").out == "Nothing to change.\n"
    assert snapshot(bare.root).keys() == before.keys()


# -- the first entry --------------------------------------------------------------------------


def test_the_first_entry_makes_the_document(bare: Profile) -> None:
    run = bare.profile("remember", "user", "timezone", "Europe/Madrid", "--source", "user-stated")
    assert (run.code, run.out, run.err) == (0, f"Remembered: profile:user.timezone\n{SHARED}", "")
    expected = document_of(
        user={
            "timezone": entry_of(
                "Europe/Madrid",
                created_at=NOW,
                updated_at=NOW,
                source={"type": "user-stated", "detail": None},
            )
        }
    )
    assert bare.file.read_bytes() == (json.dumps(expected, indent=2) + "\n").encode()
    assert (bare.root / ".ai-state/memory.lock").read_bytes() == b""
    assert sorted(path.name for path in bare.file.parent.iterdir()) == [
        "local",
        "memory.json",
        "memory.lock",
        "recovery",
    ]
    assert [path.name for path in bare.local.iterdir()] == [".gitignore"]
    assert list((bare.root / ".ai-state/recovery").iterdir()) == []
    assert not (bare.root / ".memory").exists()
    assert (bare.root / ".gitignore").read_text().splitlines() == [
        ".ai-state/local/",
        ".ai-state/recovery/",
        ".ai-state/memory.lock",
        ".ai-state/memory.backup.json",
        ".ai-state/memory.pre-migration-*.json",
    ]
    bare.git("add", "--all")
    assert bare.git("status", "--short").splitlines() == ["A  .ai-state/memory.json", "A  .gitignore"]


# -- remember ---------------------------------------------------------------------------------


def test_remember_tells_what_it_did(here: Profile) -> None:
    data = here.remember(
        "tools.editor", "vim", "--tag", "cli", "--tag", "user-preference", "--importance", "6", "--detail", "asked"
    )
    assert data["action"] == "ADD"
    assert data["dry_run"] is False
    assert data["linked"] == ["tools.clipboard"]
    assert (data["candidates"], data["recommendation"], data["archived"]) == ([], "", [])
    entry = data["entry"]
    assert set(entry) >= RESULT
    assert (entry["ref"], entry["id"], entry["key"], entry["kind"], entry["title"]) == (
        "profile:tools.editor",
        "tools.editor",
        "editor",
        "entry",
        "vim",
    )
    assert entry["entry"] == here.stored("tools.editor")
    assert here.stored("tools.editor") == entry_of(
        "vim",
        created_at=NOW,
        updated_at=NOW,
        tags=["cli", "user-preference"],
        importance=6,
        source={"type": "session", "detail": "asked"},
        links=[{"target": "tools.clipboard", "relation": "related-to"}],
    )
    assert here.profile("remember", "tools", "editor", "emacs").out == "Changed: profile:tools.editor\n"
    assert here.profile("remember", "tools", "editor", "emacs").out == "Nothing changed: profile:tools.editor\n"
    said = here.profile("remember", "tools", "shell", "fish", "--tag", "cli", "--tag", "user-preference").out
    assert said == (
        "Remembered: profile:tools.shell\n  related to tools.editor, tools.clipboard, through shared tags\n"
    )


def test_what_is_known_already_is_shown_and_not_written(here: Profile) -> None:
    before = snapshot(here.root)
    run = here.profile("remember", "tools", "python_packages", "UV,   never pip", "--json")
    assert run.code == 1
    data = run.data
    assert (data["action"], data["recommendation"], data["entry"]) == ("candidates", "NOOP", None)
    assert data["candidates"] == [
        {
            "ref": "profile:tools.package_manager",
            "category": "tools",
            "key": "package_manager",
            "value": "uv, never pip",
            "tags": ["python", "user-preference"],
            "share": 1.0,
        }
    ]
    text = here.profile("remember", "tools", "python_packages", "UV, never pip")
    assert (text.code, text.err) == (1, "")
    assert text.out == (
        "Not remembered: another record already says this.\n"
        "  profile:tools.package_manager (100% the same): uv, never pip\n"
        "Change that record (memory profile remember tools package_manager …), or add yours with --force.\n"
    )
    after = snapshot(here.root, without=(".ai-state/local", ".ai-state/recovery"))
    assert after[str(here.file)] == before[str(here.file)]
    assert here.remember("tools.python_packages", "UV, never pip", "--force")["action"] == "ADD"


def test_what_is_nearly_known_is_shown_and_not_written(here: Profile) -> None:
    said = "The end-to-end job needs two free cores."
    run = here.profile("remember", "learnings", "slow_ci", said, "--json")
    assert (run.code, run.data["action"], run.data["recommendation"]) == (1, "candidates", "UPDATE")
    (found,) = run.data["candidates"]
    assert found["ref"] == "profile:learnings.flaky_ci"
    assert 0.6 <= found["share"] < 1
    assert here.profile("remember", "learnings", "slow_ci", said).out.startswith(
        "Not remembered: another record says nearly the same.\n  profile:learnings.flaky_ci ("
    )
    assert "slow_ci" not in here.data["memories"]["learnings"]


def test_another_category_is_looked_at_only_when_asked(here: Profile) -> None:
    said = "The end-to-end job needs two cores."
    run = here.profile("remember", "project", "ci", said, "--broad", "--json")
    assert (run.code, run.data["action"]) == (1, "candidates")
    assert here.remember("project.ci", said)["action"] == "ADD"


def test_what_was_put_away_stands_in_nobodys_way(here: Profile) -> None:
    assert here.remember("tools.installer", "pip with requirement files")["action"] == "ADD"


def test_an_entry_that_is_there_is_never_called_a_duplicate_of_another(here: Profile) -> None:
    here.remember("tools.clipboard", "uv, never pip")
    assert here.stored("tools.clipboard")["value"] == "uv, never pip"


def test_what_is_personal_is_said_to_be_shared_when_it_is_added(here: Profile) -> None:
    for line, said in (
        (["user", "city", "Cádiz"], SHARED),
        (["relationships", "tone", "Dry."], SHARED),
        (["assistant", "tone", "Dry."], ""),
        (["tools", "editor", "vim"], ""),
    ):
        would = here.profile("remember", *line, "--dry-run").out
        assert would == f"Would be remembered: profile:{line[0]}.{line[1]}\n{said}"
        assert here.profile("remember", *line).out == f"Remembered: profile:{line[0]}.{line[1]}\n{said}"
    # Who changes it knows that by then.
    assert here.profile("remember", "user", "city", "Sevilla").out == "Changed: profile:user.city\n"


def test_the_user_has_no_confidence(here: Profile) -> None:
    run = here.profile("remember", "user", "editor", "vim", "--confidence", "0.4", "--json")
    assert (run.code, run.warnings) == (0, ["ProfileConfidenceUnused"])
    assert here.stored("user.editor")["confidence"] is None
    text = here.profile("remember", "user", "shell", "fish", "--confidence", "0.4")
    assert (text.code, text.out) == (0, f"Remembered: profile:user.shell\n{SHARED}")
    assert text.err.startswith("warning: confidence: ")


def test_a_long_value_is_kept_with_a_warning(here: Profile) -> None:
    said = " ".join(f"word{number}" for number in range(100))
    run = here.profile("remember", "learnings", "long", said, "--json")
    assert (run.code, run.warnings) == (0, ["ProfileValueLong"])
    assert here.stored("learnings.long")["value"] == said
    assert here.profile("remember", "learnings", "short", "x" * 500, "--json").warnings == []


# -- recall -----------------------------------------------------------------------------------


def test_recall_of_a_category(here: Profile) -> None:
    run = here.profile("recall", "tools", "--json")
    data = run.data
    assert [item["id"] for item in data["results"]] == ["tools.clipboard", "tools.package_manager"]
    assert list(data["entries"]) == ["clipboard", "package_manager"]
    assert (data["category"], data["put_away"]) == ("tools", 1)
    for item in data["results"]:
        assert set(item) >= RESULT
        assert item["access_count"] == 1
        assert item["last_accessed"] == NOW
        assert data["entries"][item["key"]] == item["entry"]
    assert data["entries"]["clipboard"] == {
        **SAMPLE["memories"]["tools"]["clipboard"],
        "access_count": 1,
        "last_accessed": NOW,
    }
    text = here.profile("recall", "tools")
    assert text.out == (
        "  tools.clipboard (importance 4): pbcopy and pbpaste  [cli, user-preference]\n"
        "  tools.package_manager (importance 8): uv, never pip  [python, user-preference]\n"
        "Archived or superseded, not shown: 1; --all shows them.\n"
    )
    every = here.profile("recall", "tools", "--all")
    assert "  tools.old_manager (archived): pip with requirement files  [python]\n" in every.out
    assert "not shown" not in every.out
    assert here.profile("recall", "tools", "--all", "--json").data["put_away"] == 0


def test_recall_of_an_entry_shows_all_of_it(here: Profile) -> None:
    run = here.profile("recall", "learnings", "flaky_ci")
    assert (run.code, run.err) == (0, "")
    assert run.out.splitlines() == [
        "profile:learnings.flaky_ci  [active, importance 5]",
        "confidence: 0.6",
        "tags: ci, gotcha",
        "source: session",
        "created 2026-02-09T14:00:00Z, updated 2026-02-09T14:00:00Z, read 3 times, last 2026-03-02T11:19:00Z",
        "links: elaborates project.repo_name",
        "",
        "The end-to-end job needs two cores.",
    ]
    (item,) = here.profile("recall", "learnings", "flaky_ci", "--json").data["results"]
    assert (item["access_count"], item["links"]) == (
        4,
        [{"target": "project.repo_name", "relation": "elaborates"}],
    )
    # Of a name, whatever its status.
    (item,) = here.profile("recall", "tools", "old_manager", "--json").data["results"]
    assert (item["status"], item["value"]) == ("archived", "pip with requirement files")
    assert "[archived, importance 5]" in here.profile("recall", "tools", "old_manager").out


def test_once_is_said_as_people_say_it(here: Profile) -> None:
    assert "read 1 times" not in here.profile("recall", "tools", "clipboard").out


def test_every_link_of_an_entry_is_shown_with_it(here: Profile) -> None:
    here.profile("link", "learnings.flaky_ci", "tools.clipboard", "contradicts")
    out = here.profile("recall", "learnings", "flaky_ci").out
    assert "\nlinks: elaborates project.repo_name, contradicts tools.clipboard\n" in out
    assert "links:" not in here.profile("recall", "tools", "clipboard").out


def test_the_source_is_shown_with_its_detail(here: Profile) -> None:
    assert "source: user-stated, said at the start\n" in here.profile("recall", "user", "timezone").out


# -- search -----------------------------------------------------------------------------------


def test_search_gives_the_best_first_with_how_it_was_found(here: Profile) -> None:
    data = here.profile("search", "which package manager do we use?", "--json").data
    assert data["query"] == "which package manager do we use?"
    first = data["results"][0]
    assert set(first) >= RESULT
    assert first["ref"] == "profile:tools.package_manager"
    assert 0 < first["score"] <= 1
    assert set(first["scores"]) == {"words", "meaning", "relevance", "weight"}
    assert first["why"]
    assert first["access_count"] == 1
    assert first["verdict"] == "unanchored"
    assert "profile:tools.old_manager" not in [item["ref"] for item in data["results"]]
    text = here.profile("search", "which package manager do we use?").out
    assert text.startswith("1. tools.package_manager (")
    assert "(match, 2026-02-09, not reviewed, importance 8): uv, never pip  [python, user-preference]\n" in text


def test_search_is_narrowed(here: Profile) -> None:
    def found(*arguments: str) -> set[str]:
        return {item["id"] for item in here.profile("search", *arguments, "--json").data["results"]}

    assert "tools.old_manager" in found("pip requirement files", "--status", "archived")
    assert found("pip requirement files", "--status", "superseded") == set()
    both = found("pip", "--status", "any")
    assert {"tools.package_manager", "tools.old_manager"} <= both
    assert found("pip", "--status", "any", "--tag", "user-preference") == {"tools.package_manager"}
    assert found("pip", "--tag", "python", "--tag", "user-preference") == {"tools.package_manager"}
    assert found("pip", "--tag", "PYTHON") == {"tools.package_manager"}
    assert found("tess", "--category", "user") >= {"user.username"}
    assert found("tess", "--category", "tools") == set()
    assert len(found("tess example identity personal", "--limit", "1")) == 1


def test_matches_beyond_the_limit_are_counted(here: Profile) -> None:
    for number in range(14):
        here.remember(f"learnings.port_{number}", f"Port {7000 + number} belongs to service number {number}.")
    run = here.profile("search", "port of a service", "--json")
    assert len(run.data["results"]) == 10
    assert run.data["beyond"] >= 4
    assert f"More match: {run.data['beyond']}; --limit shows them.\n" in here.profile("search", "port of a service").out
    assert len(here.profile("search", "port of a service", "--limit", "14", "--json").data["results"]) == 14


def test_the_number_of_entries_searched_is_that_of_those_searched(here: Profile) -> None:
    assert here.profile("search", "tess", "--json").data["total"] == 10
    assert here.profile("search", "tess", "--status", "any", "--json").data["total"] == 11
    assert here.profile("search", "tess", "--category", "user", "--json").data["total"] == 3
    assert here.profile("search", "tess", "--tag", "cli", "--json").data["total"] == 1


def test_what_answers_nothing_is_not_passed_off_as_an_answer(here: Profile) -> None:
    run = here.profile("search", "quantum zebra crossings", "--json")
    assert run.code == 0
    assert run.data["weak"] or run.data["results"] == []
    text = here.profile("search", "quantum zebra crossings").out
    assert text.startswith(("Nothing clearly answers this. Possible:\n", "No record matches."))


def test_what_is_only_near_is_not_said_to_match(here: Profile) -> None:
    here.hold(document_of(tools={"clipboard": entry_of("pbcopy and pbpaste", importance=4)}))
    run = here.profile("search", "copying text between windows", "--json")
    assert (run.data["weak"], len(run.data["results"])) == (True, 1)
    assert here.profile("search", "copying text between windows").out == (
        "Nothing clearly answers this. Possible:\n"
        "1. tools.clipboard (possible, 2026-02-09, not reviewed, importance 4): pbcopy and pbpaste\n"
    )


def test_a_long_text_is_cut_in_what_a_search_shows_and_whole_elsewhere(here: Profile) -> None:
    long = "The tide table of the marina. " + "berth " * 200 + "end"
    here.remember("learnings.tides", long)
    text = here.profile("search", "tide table of the marina").out
    (line,) = [line for line in text.splitlines() if ". learnings.tides (" in line]
    said = line.partition("): ")[2]
    assert len(said) == 300
    assert (said[:299], said[299]) == (long[:299], "…")
    first = here.profile("search", "tide table of the marina", "--json").data["results"][0]
    assert (first["id"], first["value"]) == ("learnings.tides", long)
    assert here.profile("recall", "learnings", "tides").out.endswith(f"\n{long}\n")
    assert long in here.profile("recall", "learnings").out
    # What just fits is not cut.
    here.remember("learnings.tides", long[:300].strip())
    assert f"{long[:300].strip()}\n" in here.profile("search", "tide table of the marina").out


def test_the_entry_whose_key_is_the_question_comes_first(here: Profile) -> None:
    here.remember("tools.old_shell", "bash")
    here.remember("tools.shell", "fish")
    assert here.profile("search", "shell", "--json").data["results"][0]["id"] == "tools.shell"


# -- connections ------------------------------------------------------------------------------


def test_connections_lead_both_ways(here: Profile) -> None:
    out = here.profile("connections", "tools", "package_manager", "--json").data
    assert out["entry"]["id"] == "tools.package_manager"
    assert set(out["entry"]) >= RESULT
    assert out["outgoing"] == [
        {
            "source": "tools.package_manager",
            "target": "tools.old_manager",
            "relation": "supersedes",
            "entry_summary": "pip with requirement files",
            "status": "archived",
        }
    ]
    assert out["incoming"] == []
    back = here.profile("connections", "tools", "old_manager", "--json").data
    assert (back["outgoing"], back["incoming"]) == (
        [],
        [
            {
                "source": "tools.package_manager",
                "target": "tools.old_manager",
                "relation": "supersedes",
                "entry_summary": "uv, never pip",
                "status": "active",
            }
        ],
    )
    assert here.profile("connections", "tools", "package_manager").out == (
        "profile:tools.package_manager: uv, never pip\n"
        "  supersedes tools.old_manager (archived): pip with requirement files\n"
    )
    assert here.profile("connections", "tools", "old_manager").out == (
        "profile:tools.old_manager: pip with requirement files\n"
        "  tools.package_manager supersedes this: uv, never pip\n"
    )
    assert here.profile("connections", "tools", "clipboard").out == (
        "profile:tools.clipboard: pbcopy and pbpaste\n  It is not linked to anything.\n"
    )


def test_a_link_that_leads_nowhere_is_shown_as_that(here: Profile) -> None:
    document = copy.deepcopy(SAMPLE)
    document["memories"]["tools"]["clipboard"]["links"] = [{"target": "tools.gone", "relation": "depends-on"}]
    here.hold(document)
    assert "  depends-on tools.gone (not here)\n" in here.profile("connections", "tools", "clipboard").out
    (link,) = here.profile("connections", "tools", "clipboard", "--json").data["outgoing"]
    assert (link["entry_summary"], link["status"]) == ("", "")


@pytest.mark.parametrize(
    "line",
    [
        ["profile", "connections", "tools", "package_manager"],
        ["profile", "recall", "tools"],
        ["profile", "search", "first line"],
        ["profile", "index"],
        ["profile", "export"],
        ["profile", "context"],
        ["profile", "session-start"],
        ["profile", "remember", "tools", "other", "first line second line"],
        ["inspect", "profile:tools.package_manager"],
    ],
    ids=" ".join,
)
def test_a_text_of_several_lines_does_not_break_a_list(here: Profile, line: list[str]) -> None:
    here.remember("tools.clipboard", "first line\nsecond line")
    here.profile("link", "tools.package_manager", "tools.clipboard", "related-to")
    out = here(*line).out
    assert "second line" in out
    assert not any(text.startswith("second line") for text in out.splitlines())


def test_a_long_text_is_cut_where_it_is_only_to_be_recognised(here: Profile) -> None:
    """`recall` of the entry shows it whole, and so does an answer to a program."""
    long = "The tide table of the marina. " + "berth " * 200 + "end"
    here.remember("learnings.tides", long)
    here.profile("link", "learnings.flaky_ci", "learnings.tides", "depends-on")
    (line,) = [
        line for line in here.profile("connections", "learnings", "flaky_ci").out.splitlines() if "tides" in line
    ]
    assert line.startswith("  depends-on learnings.tides: The tide table of the marina. berth ")
    assert len(line.partition(": ")[2]) == 120
    said = here.profile("remember", "learnings", "tide_table", long).out
    (line,) = [line for line in said.splitlines() if "learnings.tides" in line]
    assert line.startswith("  profile:learnings.tides (100% the same): The tide table of the marina. berth ")
    assert len(line.partition("same): ")[2]) == 200
    outgoing = here.profile("connections", "learnings", "flaky_ci", "--json").data["outgoing"]
    assert [link["entry_summary"] for link in outgoing if link["target"] == "learnings.tides"] == [long]


def test_a_text_of_several_lines_stands_on_one_in_the_list_of_what_was_forgotten(here: Profile) -> None:
    here.remember("tools.clipboard", "first line\nsecond line")
    here.profile("forget", "tools", "clipboard")
    assert here.profile("restore").out == f"  tools.clipboard (forgotten {NOW}): first line second line\n"


# -- status -----------------------------------------------------------------------------------


def test_status_is_what_the_bare_command_shows(here: Profile) -> None:
    run = here.profile()
    assert (run.code, run.err) == (0, "")
    assert here.profile("status").out == run.out
    size = len(here.file.read_bytes())
    assert run.out.splitlines() == [
        "Profile: 10 active records (and 1 archived), 3 links.",
        "  user: 3",
        "  assistant: 2",
        "  project: 1",
        "  relationships: 1",
        "  tools: 2",
        "  learnings: 1",
        "Sessions: 12. Readings not written down yet: 0.",
        f"File: .ai-state/memory.json, schema 1.2, {size / 1024:.1f} KB.",
    ]
    data = here.profile("--json").data
    assert here.profile("status", "--json").data == data
    assert data == {
        "exists": True,
        "path": ".ai-state/memory.json",
        "schema_version": "1.2",
        "session_count": 12,
        "file_size": f"{size / 1024:.1f} KB",
        "categories": dict(zip(CATEGORIES, (3, 2, 1, 1, 2, 1), strict=True)),
        "statuses": {"active": 10, "archived": 1, "superseded": 0},
        "total": 11,
        "links": 3,
        "tags": {
            "identity": 3,
            "personal": 2,
            "python": 2,
            "user-preference": 2,
            "ci": 1,
            "cli": 1,
            "collaboration": 1,
            "communication": 1,
            "gotcha": 1,
            "user-facing": 1,
        },
        "private": "shared",
        "private_path": "",
        "private_entries": 0,
        "shadowed": [],
        "unread": 0,
        "pending_readings": 0,
        "forgotten": 0,
        "backups": [],
        "writable": True,
    }


def test_status_counts_what_waits(here: Profile) -> None:
    here.profile("recall", "tools")
    here.profile("forget", "tools", "clipboard")
    here.profile("recall", "user", "email")
    data = here.profile("status", "--json").data
    assert (data["pending_readings"], data["forgotten"]) == (1, 1)
    assert data["backups"] == [".ai-state/memory.backup.json"]
    out = here.profile("status").out
    assert "Readings not written down yet: 1." in out
    assert "Forgotten, can be restored: 1 (`memory profile restore`)." in out


# -- sessions ---------------------------------------------------------------------------------


def test_a_session_is_counted_and_what_matters_is_told(here: Profile) -> None:
    here.profile("link", "learnings.flaky_ci", "tools.clipboard", "contradicts")
    data = here.profile("session-start", "--json").data
    assert (data["session_count"], data["counted"], data["total"], data["schema_version"]) == (13, True, 10, "1.2")
    assert data["categories"] == dict(zip(CATEGORIES, (3, 2, 1, 1, 2, 1), strict=True))
    assert (data["name_missing"], data["name_assigned"], data["assistant_name"]) == (False, False, "Wren")
    briefs = {item["id"]: item for item in data["matters"]}
    assert list(briefs) == here.profile("context", "--json").data["told"]
    assert len(briefs) == 10
    assert briefs["tools.package_manager"] == {
        "ref": "profile:tools.package_manager",
        "id": "tools.package_manager",
        "category": "tools",
        "key": "package_manager",
        "kind": "entry",
        "title": "uv, never pip",
        "importance": 8,
    }
    assert {frozenset(item) for item in briefs.values()} == {frozenset(briefs["tools.package_manager"])}
    assert data["context"] == here.profile("context", "--json").data["markdown"]
    (clash,) = data["contradictions"]
    assert (clash["source"], clash["target"], clash["entry_summary"]) == (
        "learnings.flaky_ci",
        "tools.clipboard",
        "pbcopy and pbpaste",
    )
    assert here.data["session_count"] == 13
    text = here.profile("session-start")
    assert (text.code, text.err) == (0, "")
    lines = text.out.splitlines()
    assert lines[0] == (
        "Session 14: 10 active records (3 user, 2 assistant, 1 project, 1 relationships, 2 tools, 1 learnings)."
    )
    assert f"\n\n{data['context']}\n" in text.out
    assert "Contradiction: learnings.flaky_ci contradicts tools.clipboard." in lines
    proposals = here.profile("reflect", "--json").data["summary"]
    number = proposals["archival_candidate_count"] + proposals["confidence_update_count"]
    assert data["proposals"] == number
    assert lines[-1] == f"`memory profile reflect` has {number} proposals."


def test_a_contradiction_of_what_was_put_away_needs_no_resolving(here: Profile) -> None:
    here.profile("link", "learnings.flaky_ci", "tools.clipboard", "contradicts")
    here.remember("tools.clipboard", "--status", "archived")
    assert here.profile("session-start", "--json").data["contradictions"] == []


def test_the_first_session_names_the_assistant_once(bare: Profile) -> None:
    data = bare.profile("session-start", "--json").data
    assert (data["session_count"], data["total"]) == (1, 1)
    assert (data["name_missing"], data["name_assigned"]) == (True, True)
    stored = bare.stored("assistant.name")
    assert stored["value"] == data["assistant_name"] != ""
    assert (stored["confidence"], stored["source"]["type"]) == (0.3, "inferred")
    again = bare.profile("session-start", "--json").data
    assert (again["name_missing"], again["name_assigned"]) == (False, False)
    assert again["assistant_name"] == data["assistant_name"]
    assert again["session_count"] == 2


def test_a_person_is_told_how_to_change_the_name(bare: Profile) -> None:
    out = bare.profile("session-start").out
    assert "The assistant had no name; it is " in out
    assert '  memory profile remember assistant name "…" --source user-stated\n' in out
    assert bare.profile("remember", "assistant", "name", "Ada", "--source", "user-stated").code == 0
    assert bare.profile("session-start", "--json").data["assistant_name"] == "Ada"


def test_a_name_that_was_put_away_is_not_replaced(bare: Profile) -> None:
    bare.hold(document_of(assistant={"name": entry_of("Ada", status="archived")}))
    data = bare.profile("session-start", "--json").data
    assert data["name_assigned"] is False
    assert bare.stored("assistant.name")["value"] == "Ada"


# -- as a process -----------------------------------------------------------------------------


@pytest.mark.proof
def test_the_installed_command_in_a_plain_locale(memory: Any, repo: Path) -> None:
    """Whatever the terminal can show, what is stored and said is the same text."""
    env = {"LC_ALL": "C", "LANG": "C"}
    said = "Café ☕ שלום"
    run = memory("profile", "remember", "user", "drink", said, "--json", env=env)
    assert (run.code, run.data["entry"]["value"]) == (0, said)
    assert memory("profile", "remember", "user", "note", "-", stdin=said.encode() + b" twice", env=env).code == 0
    assert said in memory("profile", "recall", "user", "drink", env=env).out
    assert said in memory("profile", "search", "Café", env=env).out
    assert (
        json.loads(memory("profile", "export", "--format", "json", env=env).out)["memories"]["user"]["drink"]["value"]
        == said
    )
    assert memory("profile", "forget", "user", "drink", env=env).code == 0
    assert memory("profile", "restore", "user", "drink", env=env).code == 0
    assert memory("profile", "session-start", env=env).code == 0
    assert memory("profile", "private", "here", "--yes", env=env).code == 0
    assert said in memory("profile", "about-me", env=env).out
    assert (repo / ".ai-state/local/memory.json").read_text(encoding="utf-8").count(said) == 2
    run = memory("profile", "recall", "nonsense", env=env)
    assert (run.code, run.out) == (1, "")
    assert memory("profile", "bogus", env=env).code == 2
