"""What sessions add to a memory: the newest wins, what is done goes, and nothing is added twice."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from repository_making import consolidate, session, titles

from quire.capture.repository.consolidation import (
    GOTCHAS_MOST,
    RISKS_MOST,
    STATE_MOST,
    STEPS_MOST,
    consolidated,
)
from quire.layers.journal.evidence_groups import group_events
from quire.layers.journal.shapes import bundle_faults
from quire.layers.journal.types import JournalEvent

BUNDLE: dict[str, Any] = {
    "project": {
        "name": "harbor",
        "summary": "Invoices.",
        "primaryEcosystem": "python",
        "packageManager": "none",
        "workspaceManager": "none",
        "recommendedEntryFile": "AGENTS.md",
        "keyPaths": ["src/a.py"],
    },
    "projectMap": {
        "modules": [{"name": "a", "path": "src/a", "responsibility": "Bills."}],
        "entrypoints": [],
        "denseSourceAreas": [],
        "architectureNotes": ["Cents are integers."],
        "firstFilesToRead": [],
    },
    "currentFocus": {
        "summary": "On branch `main`.",
        "currentState": ["Rounding is half done."],
        "knownRisks": ["npm test: 2 failed"],
        "validationSnapshot": {
            "status": "not-run",
            "validatedAt": None,
            "summary": "Nothing was run.",
            "results": [],
            "suggestedNextActions": ["Draw the map", "Run `make test`."],
        },
    },
    "gotchas": [
        {"title": "Stale build output", "symptom": "Old code runs.", "cause": "dist stays.", "correctPath": "Clean."}
    ],
    "nextSteps": [{"title": "Write a runbook", "why": "Nobody knows.", "start": "docs", "done": "It is merged."}],
    "validationCommands": [],
}


def taken_in(*events: JournalEvent, bundle: dict[str, Any] = BUNDLE, **options: Any) -> dict[str, Any]:
    """The bundle with the events; it is whole, nothing given was changed, and the same again changes nothing."""
    before = copy.deepcopy(bundle)
    after = consolidate(bundle, group_events(events), **options)
    assert bundle == before
    assert bundle_faults(after) == []
    assert consolidate(after, group_events(events), **options) == after
    return after


def test_a_trap_from_a_session_is_added_with_its_event() -> None:
    after = taken_in(session(7, gotchas=["Cache keys need the tenant: two tenants shared one entry", "Bare title"]))
    assert after["gotchas"][1:] == [
        {
            "title": "Cache keys need the tenant",
            "symptom": "none",
            "cause": "two tenants shared one entry",
            "correctPath": "none",
            "source": "evt-000007",
        },
        {
            "title": "Bare title",
            "symptom": "none",
            "cause": "none",
            "correctPath": "none",
            "source": "evt-000007",
        },
    ]
    assert after["gotchas"][0] == BUNDLE["gotchas"][0]


def test_newer_words_replace_older_ones_and_silence_replaces_nothing() -> None:
    after = taken_in(
        session(3, gotchas=["Stale build output: the cache is kept"]),
        session(4, gotchas=["stale BUILD output"]),
    )
    assert after["gotchas"] == [
        {
            "title": "Stale build output",
            "symptom": "Old code runs.",
            "cause": "the cache is kept",
            "correctPath": "Clean.",
            "source": "evt-000004",
        }
    ]


def test_what_a_file_says_is_not_overruled_but_completed() -> None:
    from_file = {
        "title": "Cents drift",
        "symptom": "Totals differ.",
        "cause": "none",
        "correctPath": "x",
        "source": "README.md",
    }
    bundle = {**BUNDLE, "gotchas": [from_file]}
    after = taken_in(session(3, gotchas=["Cents drift: floats round"]), bundle=bundle)
    assert after["gotchas"] == [{**from_file, "cause": "floats round"}]


def test_titles_that_are_nearly_the_same_become_one() -> None:
    known = {
        "title": "The cache keys need the tenant",
        "symptom": "s",
        "cause": "two tenants shared one entry",
        "correctPath": "p",
    }
    bundle = {**BUNDLE, "gotchas": [known]}
    event = session(3, gotchas=["The cache keys need tenant: two tenants shared one entry"])
    result = consolidated(bundle, group_events([event]))
    assert result.merged_gotchas == ("The cache keys need tenant",)
    assert titles(result.bundle, "gotchas") == ["The cache keys need the tenant"]
    assert result.bundle["gotchas"][0]["symptom"] == "s"
    assert bundle_faults(result.bundle) == []


def test_steps_come_up_and_are_done() -> None:
    after = taken_in(
        session(
            3, summary="Metrics were asked for.", next_step_hints=["NEXT: Add metrics: count in src/a.py", "Plain hint"]
        ),
        session(4, next_step_hints=["DONE: Write a runbook"]),
    )
    assert after["nextSteps"] == [
        {
            "title": "Add metrics",
            "why": "Left open on 2026-01-04, in the session “Metrics were asked for”.",
            "start": "count in src/a.py",
            "done": "none",
            "source": "evt-000003",
        },
        {
            "title": "Plain hint",
            "why": "Left open on 2026-01-04, in the session “Metrics were asked for”.",
            "start": "none",
            "done": "none",
            "source": "evt-000003",
        },
    ]


def test_a_step_that_is_taken_up_again_is_open() -> None:
    done = session(3, next_step_hints=["DONE: Write a runbook"])
    again = session(4, next_step_hints=["NEXT: Write a runbook: for restores too"])
    after = taken_in(done, again)
    assert titles(after, "nextSteps") == ["Write a runbook"]
    assert after["nextSteps"][0]["start"] == "for restores too"
    assert after["nextSteps"][0]["why"] == "Nobody knows."
    assert (
        titles(
            taken_in(
                session(5, next_step_hints=["NEXT: Write a runbook"]),
                session(6, next_step_hints=["done: write a runbook"]),
            ),
            "nextSteps",
        )
        == []
    )


def test_a_done_step_is_no_longer_suggested() -> None:
    after = taken_in(session(3, next_step_hints=["DONE: draw the map"]))
    assert after["currentFocus"]["validationSnapshot"]["suggestedNextActions"] == ["Run `make test`."]


def test_the_newest_session_is_the_focus() -> None:
    after = taken_in(
        session(3, summary="Older and much longer than the other one.", decisions=["Cache: 30 seconds", "Use sqlite"]),
        session(4, summary="Newer.", decisions=["Cache: 60 seconds"]),
    )
    focus = after["currentFocus"]
    assert focus["summary"] == "Last session on 2026-01-05. Newer."
    assert focus["currentState"] == ["Cache: 60 seconds", "Use sqlite", "Rounding is half done."]


def test_a_failure_is_a_risk_until_it_passes() -> None:
    failed = session(3, validation_observations=["make lint: 3 errors", "make test: 12 passed, 0 failed"])
    assert taken_in(failed)["currentFocus"]["knownRisks"] == ["make lint: 3 errors", "npm test: 2 failed"]
    assert "make test: 12 passed, 0 failed" in taken_in(failed)["currentFocus"]["currentState"]
    passed = session(4, validation_observations=["npm test: all pass"])
    assert taken_in(failed, passed)["currentFocus"]["knownRisks"] == ["make lint: 3 errors"]


def test_the_map_the_project_and_the_commands_stay() -> None:
    after = taken_in(session(3, decisions=["Everything else"], key_paths=["src/b.py"], gotchas=["A: b"]))
    for key in ("project", "projectMap", "validationCommands"):
        assert after[key] == BUNDLE[key]


def test_only_the_section_that_was_asked_for_changes() -> None:
    event = session(3, decisions=["D"], gotchas=["A trap: b"], next_step_hints=["A step: c"])
    changed = {
        section: {key for key, value in taken_in(event, section=section).items() if value != BUNDLE[key]}
        for section in ("gotchas", "next-steps", "current-focus", "project-map", "all")
    }
    assert changed == {
        "gotchas": {"gotchas"},
        "next-steps": {"nextSteps"},
        "current-focus": {"currentFocus"},
        "project-map": set(),
        "all": {"gotchas", "nextSteps", "currentFocus"},
    }
    kept = consolidate(BUNDLE, group_events([event]), protected=["gotchas"])
    assert kept["gotchas"] == BUNDLE["gotchas"]
    assert kept["nextSteps"] != BUNDLE["nextSteps"]


def test_our_own_runs_bring_nothing_back() -> None:
    own = session(3, kind="tool_run", gotchas=["Removed: long ago"], next_step_hints=["Gone: x"])
    assert taken_in(own) == BUNDLE
    assert consolidate(BUNDLE, group_events([own])) == BUNDLE
    assert consolidate(BUNDLE, group_events([])) == BUNDLE


def test_of_too_many_the_oldest_unconfirmed_go() -> None:
    old = [
        {"title": f"Old trap {n}", "symptom": "s", "cause": "c", "correctPath": "p"} for n in range(GOTCHAS_MOST - 3)
    ]
    kept = {"title": "Of a file", "symptom": "s", "cause": "c", "correctPath": "p", "source": "README.md"}
    seen = {"title": "Seen before", "symptom": "s", "cause": "c", "correctPath": "p", "source": "evt-000002"}
    bundle = {**BUNDLE, "gotchas": [kept, *old, seen]}
    new = session(9, gotchas=["Old trap 0: seen again", *(f"New trap {n}: because" for n in range(4))])
    after = taken_in(new, bundle=bundle)
    found = titles(after, "gotchas")
    assert len(found) == GOTCHAS_MOST
    assert {"Of a file", "Seen before", "Old trap 0", "New trap 0", "New trap 3"} <= set(found)
    assert {"Old trap 1", "Old trap 2", "Old trap 3"}.isdisjoint(found)
    assert "Old trap 4" in found


def test_there_are_never_more_than_may_be() -> None:
    words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"]
    texts = [f"{one} {other}" for one in words for other in words]
    event = session(
        3,
        gotchas=[f"{text}: cause" for text in texts],
        next_step_hints=[f"{text}: start" for text in texts],
        decisions=texts,
        validation_observations=[f"{text}: failed" for text in texts],
    )
    after = taken_in(event)
    assert (len(after["gotchas"]), len(after["nextSteps"])) == (GOTCHAS_MOST, STEPS_MOST)
    assert len(after["currentFocus"]["currentState"]) <= STATE_MOST
    assert len(after["currentFocus"]["knownRisks"]) == RISKS_MOST


@pytest.mark.parametrize(
    "current", [{}, {"gotchas": 3, "nextSteps": None, "currentFocus": []}, {"gotchas": [None, {"title": 4}]}]
)
def test_a_bundle_of_another_form_is_no_trouble(current: dict[str, Any]) -> None:
    told = session(3, gotchas=["A: b"], next_step_hints=["C: d"], decisions=["e"])
    after = consolidate(current, group_events([told]))
    assert "A" in [item.get("title") for item in after["gotchas"] if isinstance(item, dict)]
    assert titles(after, "nextSteps") == ["C"]


def test_other_colons_and_empty_texts() -> None:
    event = session(
        3,
        gotchas=["缓存：没有租户", ":", "  ", ": only the rest"],
        next_step_hints=["DONE：", "NEXT：写手册：从文档开始"],
    )
    after = taken_in(event)
    assert titles(after, "gotchas")[1:] == ["缓存", ": only the rest"]
    assert after["gotchas"][1]["cause"] == "没有租户"
    assert (after["nextSteps"][-1]["title"], after["nextSteps"][-1]["start"]) == ("写手册", "从文档开始")


@pytest.mark.proof
def test_a_long_history_does_not_take_long() -> None:
    events = [
        session(
            n,
            gotchas=[f"Trap {n} of part {n % 7}: it broke in run {n}"],
            next_step_hints=[f"NEXT: Repair {n}: look at {n}", f"DONE: Repair {n - 1}"],
            decisions=[f"Decision {n}"],
            validation_observations=[f"make test{n}: failed"],
        )
        for n in range(1, 5_001)
    ]
    after = taken_in(*events)
    assert len(after["gotchas"]) == GOTCHAS_MOST


def test_a_step_names_the_session_that_left_it_open() -> None:
    after = taken_in(
        session(
            3, summary="Asked: Speed up the list. Result: All 42 tests pass.", next_step_hints=["NEXT: Add metrics"]
        ),
        session(
            4, summary="Asked: Fix the login. Result: It works.", next_step_hints=["NEXT: Add metrics", "Add a log"]
        ),
    )
    assert {step["title"]: (step["why"], step["source"]) for step in after["nextSteps"][1:]} == {
        "Add metrics": ("Left open on 2026-01-05, in the session “Fix the login”.", "evt-000004"),
        "Add a log": ("Left open on 2026-01-05, in the session “Fix the login”.", "evt-000004"),
    }


def test_titles_stand_alone() -> None:
    long = "The pool is closed as soon as the first of the workers fails, and every request that comes later hangs"
    after = taken_in(
        session(
            3,
            gotchas=[
                "There it is: the service name has to be qualified",
                f"{long}. Nothing is logged.",
                "Two workers send a mail twice, because a job is not locked",
            ],
            next_step_hints=["NEXT: What is left: write a runbook for restores", "See http://localhost:80/a"],
            decisions=["Yes. Keep the two caches apart"],
        )
    )
    assert [(item["title"], item["symptom"], item["cause"]) for item in after["gotchas"][1:]] == [
        ("The service name has to be qualified", "none", "none"),
        (f"{long[:98].rpartition(' ')[0]}…", f"{long}. Nothing is logged.", "none"),
        ("Two workers send a mail twice", "none", "a job is not locked"),
    ]
    assert [item["title"] for item in after["nextSteps"][1:]] == [
        "Write a runbook for restores",
        "See http://localhost:80/a",
    ]
    assert after["currentFocus"]["currentState"][0] == "Keep the two caches apart"
