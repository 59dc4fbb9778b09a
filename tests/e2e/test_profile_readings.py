"""What was read is counted beside the document, which git sees unchanged, and written down by the next change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from profile_here import EVERY, NOW, READING, SAMPLE, Profile, profile_in

LATER = "2026-03-09T08:00:00Z"


@pytest.fixture
def here(environment: dict[str, str], tmp_path: Path) -> Profile:
    """A profile that was used once and committed."""
    found = profile_in(tmp_path / "harbor", environment, SAMPLE)
    found.remember("tools.editor", "vim")
    found.commit()
    return found


def _pending(here: Profile) -> int:
    number: int = here.profile("status", "--json").data["pending_readings"]
    return number


def _counts(here: Profile) -> dict[str, tuple[int, str | None]]:
    """Of every entry in the document: how often it was read, and when last."""
    return {
        f"{category}.{key}": (entry["access_count"], entry["last_accessed"])
        for category, entries in here.data["memories"].items()
        for key, entry in entries.items()
    }


def _is_clean(here: Profile) -> bool:
    return here.git("status", "--short", "--untracked-files=all") == ""


def test_reading_leaves_the_repository_as_it_was(here: Profile) -> None:
    before = here.file.read_bytes(), here.file.stat().st_mtime_ns
    for verb in READING:
        assert here.profile(*([verb] if verb else []), *EVERY[verb]).code == 0
        assert _is_clean(here), verb
    for line in (["query", "package manager"], ["inspect", "profile:tools.editor"], ["check"], ["diff"]):
        assert here(*line).code == 0
        assert _is_clean(here), line
    assert (here.file.read_bytes(), here.file.stat().st_mtime_ns) == before


def test_recall_and_search_count_and_nothing_else_does(here: Profile) -> None:
    quiet = [verb for verb in READING if verb not in ("recall", "search")]
    for verb in quiet:
        here.profile(*([verb] if verb else []), *EVERY[verb])
    for line in (
        ["query", "package manager"],
        ["query", "pip"],
        ["inspect", "profile:tools.editor"],
    ):
        here(*line)
    here.profile("remember", "tools", "pager", "less", "--dry-run")
    assert _pending(here) == 0
    here.profile("recall", "tools")
    assert _pending(here) == 3
    here.profile("recall", "tools", "editor")
    assert _pending(here) == 4
    found = here.profile("search", "package manager", "--json").data["results"]
    assert _pending(here) == 4 + len(found) > 4


def test_what_was_not_found_or_only_guessed_is_not_read(here: Profile) -> None:
    here.profile("recall", "tools", "nothing")
    here.profile("search", "quantum zebra crossings")
    here.profile("search", "")
    here.profile("recall", "nonsense")
    assert _pending(here) == 0


def test_replies_show_the_counts_that_are_not_written_down_yet(here: Profile) -> None:
    for number in (1, 2, 3):
        (item,) = here.profile("recall", "tools", "editor", "--json").data["results"]
        assert (item["access_count"], item["last_accessed"]) == (number, NOW)
        assert (item["entry"]["access_count"], item["entry"]["last_accessed"]) == (number, NOW)
    (item,) = here.profile("recall", "tools", "editor", "--json", env={"MEMORY_NOW": LATER}).data["results"]
    assert (item["access_count"], item["last_accessed"]) == (4, LATER)
    shown = here("inspect", "profile:tools.editor", "--json").data["object"]
    assert (shown["access_count"], shown["last_accessed"]) == (4, LATER)
    assert _counts(here)["tools.editor"] == (0, None)


def _by_an_entry(here: Profile) -> None:
    here.remember("tools.pager", "less", env={"MEMORY_NOW": LATER})


def _by_a_session(here: Profile) -> None:
    assert here.profile("session-start", env={"MEMORY_NOW": LATER}).code == 0


def _by_forgetting(here: Profile) -> None:
    assert here.profile("forget", "user", "timezone").code == 0


def _by_a_link(here: Profile) -> None:
    assert here.profile("link", "user.email", "tools.clipboard", "elaborates").code == 0


def _by_reflection(here: Profile) -> None:
    assert here.profile("reflect", "--apply", "all", env={"MEMORY_NOW": LATER}).code == 0


@pytest.mark.parametrize("write", [_by_an_entry, _by_a_session, _by_forgetting, _by_a_link, _by_reflection])
def test_the_next_change_writes_every_count_down_once(here: Profile, write: Any) -> None:
    here.profile("recall", "tools", "editor")
    here.profile("recall", "tools", "editor", env={"MEMORY_NOW": LATER})
    here.profile("recall", "learnings", "flaky_ci")
    before = _counts(here)
    assert (here.local / "access.jsonl").exists()
    write(here)
    after = _counts(here)
    assert after["tools.editor"] == (2, LATER)
    assert after["learnings.flaky_ci"] == (3, NOW)
    untouched = {*after} & {*before} - {"tools.editor", "learnings.flaky_ci"}
    assert {name: after[name] for name in untouched} == {name: before[name] for name in untouched}
    for name in ("access.jsonl", "access-folding.jsonl"):
        assert not (here.local / name).exists()
    assert _pending(here) == 0
    # And nothing is counted twice.
    here.profile("session-start")
    assert _counts(here)["tools.editor"] == (2, LATER)


def test_a_reading_is_no_change_of_the_entry(here: Profile) -> None:
    here.profile("recall", "tools", "clipboard")
    here.profile("session-start", env={"MEMORY_NOW": LATER})
    assert here.stored("tools.clipboard") == {
        **SAMPLE["memories"]["tools"]["clipboard"],
        "access_count": 1,
        "last_accessed": NOW,
    }


def test_a_change_that_changes_nothing_writes_nothing(here: Profile) -> None:
    here.profile("recall", "tools", "editor")
    assert here.remember("tools.editor", "vim")["action"] == "NOOP"
    assert _is_clean(here)
    assert _pending(here) == 1


def test_an_earlier_time_never_replaces_a_later_one(here: Profile) -> None:
    here.profile("recall", "learnings", "flaky_ci", env={"MEMORY_NOW": "2026-02-01T00:00:00Z"})
    here.profile("session-start")
    assert _counts(here)["learnings.flaky_ci"] == (3, "2026-02-10T11:00:00Z")


def test_readings_that_cannot_be_read_stop_nothing(here: Profile) -> None:
    here.profile("recall", "tools", "editor")
    with (here.local / "access.jsonl").open("ab") as file:
        file.write(b'{"at": "2026-\n\xff\xfe\n{"at":"2026-03-02T11:19:00Z","names":["tools.editor"')
    run = here.profile("recall", "tools", "editor", "--json")
    assert run.data["results"][0]["access_count"] == 2
    here.profile("session-start")
    assert _counts(here)["tools.editor"] == (2, NOW)


def test_a_reading_of_an_entry_that_was_removed_elsewhere_is_forgotten(here: Profile) -> None:
    here.profile("recall", "tools")
    document = here.data
    del document["memories"]["tools"]["editor"]
    here.hold(document)
    here.profile("session-start")
    assert _counts(here)["tools.clipboard"] == (1, NOW)
    assert "tools.editor" not in _counts(here)
    assert _pending(here) == 0


def test_readings_survive_a_checkout(here: Profile) -> None:
    here.profile("recall", "tools", "editor")
    here.git("checkout", "--quiet", "-b", "other")
    here.profile("recall", "tools", "editor")
    here.git("checkout", "--quiet", "-")
    here.profile("session-start")
    assert _counts(here)["tools.editor"] == (2, NOW)


def test_where_nothing_may_be_noted_reading_goes_on(here: Profile) -> None:
    (here.local / "access.jsonl").mkdir()
    run = here.profile("recall", "tools", "editor", "--json")
    assert (run.code, run.data["results"][0]["value"]) == (0, "vim")
    assert here.profile("session-start").code == 0


def test_a_line_for_each_reading_names_what_was_read(here: Profile) -> None:
    here.profile("recall", "tools")
    (line,) = (here.local / "access.jsonl").read_text().splitlines()
    assert json.loads(line) == {"at": NOW, "names": ["tools.clipboard", "tools.package_manager", "tools.editor"]}
    assert here.git("check-ignore", ".ai-state/local/access.jsonl").strip()
