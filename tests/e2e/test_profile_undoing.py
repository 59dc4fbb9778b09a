"""Links made and taken away, entries forgotten and restored, proposals applied: and the document as it was before."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from profile_here import NOW, RELATIONS, RESULT, SAMPLE, Profile, document_of, entry_of, pretty, profile_in

LATER = "2026-03-09T11:19:00Z"


@pytest.fixture
def here(environment: dict[str, str], tmp_path: Path) -> Profile:
    return profile_in(tmp_path / "harbor", environment, SAMPLE)


def _changed(**names: dict[str, Any]) -> dict[str, Any]:
    """The sample with some fields of some entries changed; a name is written category__key."""
    document = copy.deepcopy(SAMPLE)
    for name, fields in names.items():
        category, _, key = name.partition("__")
        document["memories"][category][key] |= fields
    return document


# -- links ------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_link_is_written_once_and_taken_away_again(here: Profile, relation: str) -> None:
    line = ["user.email", "tools.clipboard", relation]
    run = here.profile("link", *line)
    said = f"Linked: user.email {relation} tools.clipboard\n"
    archived = {"status": "archived", "updated_at": NOW} if relation == "supersedes" else {}
    if archived:
        said += "  tools.clipboard is archived: it is replaced.\n"
    assert (run.code, run.out, run.err) == (0, said, "")
    linked = {"links": [{"target": "tools.clipboard", "relation": relation}]}
    assert here.file.read_bytes() == pretty(_changed(user__email=linked, tools__clipboard=archived))
    written = here.file.stat().st_mtime_ns
    again = here.profile("link", *line, "--json")
    assert again.data == {
        "link_created": False,
        "source": "user.email",
        "target": "tools.clipboard",
        "relation": relation,
        "created": False,
        "archived": False,
        "dry_run": False,
    }
    assert here.profile("link", *line).out == f"Linked already: user.email {relation} tools.clipboard\n"
    assert here.file.stat().st_mtime_ns == written
    run = here.profile("unlink", "user.email", "tools.clipboard")
    assert (run.code, run.out.splitlines()[0]) == (0, f"Unlinked: user.email {relation} tools.clipboard")
    assert here.file.read_bytes() == pretty(_changed(tools__clipboard=archived))
    if archived:
        assert "memory profile remember tools clipboard --status active" in run.out


def test_a_link_tells_a_program_what_was_done(here: Profile) -> None:
    data = here.profile("link", "profile:user.email", "profile:tools.clipboard", "supersedes", "--json").data
    assert data == {
        "link_created": True,
        "source": "user.email",
        "target": "tools.clipboard",
        "relation": "supersedes",
        "created": True,
        "archived": True,
        "dry_run": False,
    }
    data = here.profile("unlink", "user.email", "tools.clipboard", "--json").data
    assert data == {
        "link_removed": True,
        "source": "user.email",
        "target": "tools.clipboard",
        "relations": ["supersedes"],
        "dry_run": False,
    }


def test_all_links_between_two_are_taken_away_or_those_of_one_relation(here: Profile) -> None:
    for relation in ("elaborates", "depends-on", "related-to"):
        here.profile("link", "user.email", "tools.clipboard", relation)
    here.profile("link", "tools.clipboard", "user.email", "elaborates")
    data = here.profile("unlink", "user.email", "tools.clipboard", "depends-on", "--json").data
    assert data["relations"] == ["depends-on"]
    data = here.profile("unlink", "user.email", "tools.clipboard", "--json").data
    assert sorted(data["relations"]) == ["elaborates", "related-to"]
    # The link back is another one.
    assert here.stored("tools.clipboard")["links"] == [{"target": "user.email", "relation": "elaborates"}]
    assert here.stored("user.email")["links"] == []


def test_a_link_that_is_not_there_cannot_be_taken_away(here: Profile) -> None:
    before = here.file.read_bytes()
    run = here.profile("unlink", "user.username", "user.email", "supersedes", "--json")
    assert run.code == 1
    assert "memory profile connections user username" in run.error["hint"]
    assert here.file.read_bytes() == before


def test_a_link_to_what_is_gone_can_be_taken_away(here: Profile) -> None:
    here.hold(_changed(user__email={"links": [{"target": "tools.gone", "relation": "elaborates"}]}))
    assert here.profile("unlink", "user.email", "tools.gone").code == 0
    assert here.stored("user.email")["links"] == []


def test_both_sides_of_a_link_show_it(here: Profile) -> None:
    here.profile("link", "user.email", "tools.clipboard", "depends-on")
    (out,) = here.profile("connections", "user", "email", "--json").data["outgoing"]
    (back,) = here.profile("connections", "tools", "clipboard", "--json").data["incoming"]
    assert (out["source"], out["target"], out["relation"]) == (back["source"], back["target"], back["relation"])
    assert "  depends-on tools.clipboard: pbcopy and pbpaste\n" in here.profile("connections", "user", "email").out
    assert "  user.email depends-on this: tess@example.com\n" in here.profile("connections", "tools", "clipboard").out
    for ref in ("profile:user.email", "profile:tools.clipboard"):
        assert "depends-on" in here("inspect", ref).out


# -- forget and restore -----------------------------------------------------------------------


def test_forgetting_tells_what_went_and_how_to_undo_it(here: Profile) -> None:
    run = here.profile("forget", "user", "email")
    assert (run.code, run.err) == (0, "")
    lines = run.out.splitlines()
    assert lines[0] == "Forgotten: profile:user.email (tess@example.com)"
    assert lines[1] == "  links to it removed from user.username"
    assert "memory profile restore user email" in lines[2]


def test_forgetting_removes_the_entry_and_the_links_to_it_and_keeps_the_document(here: Profile) -> None:
    before = here.file.read_bytes()
    data = here.profile("forget", "user", "email", "--json").data
    assert set(data["removed"]) >= RESULT
    assert data["removed"]["entry"] == SAMPLE["memories"]["user"]["email"]
    assert (data["links_removed"], data["backup_path"], data["dry_run"]) == (
        ["user.username"],
        ".ai-state/memory.backup.json",
        False,
    )
    expected = _changed(user__username={"links": []})
    del expected["memories"]["user"]["email"]
    assert here.file.read_bytes() == pretty(expected)
    assert (here.root / ".ai-state/memory.backup.json").read_bytes() == before
    assert here.profile("recall", "user", "email").code == 1
    assert "tess@example.com" not in here.profile("search", "tess@example.com").out
    assert here.profile("forget", "user", "email").code == 1


@pytest.mark.parametrize("name", ["user.email", "learnings.flaky_ci", "tools.old_manager", "tools.package_manager"])
def test_what_was_forgotten_comes_back_byte_for_byte(here: Profile, name: str) -> None:
    category, _, key = name.partition(".")
    document = copy.deepcopy(SAMPLE)
    document["memories"][category][key] |= {"zeta": 1, "alpha": {"ü": [1.0, 12345678901234567890]}, "value": "Ö\n\t\\"}
    here.hold(document)
    before = here.file.read_bytes()
    for _ in range(2):
        assert here.profile("forget", category, key).code == 0
        run = here.profile("restore", category, key)
        assert run.code == 0
        assert run.out.startswith(f"Restored: profile:{name}")
    after = here.data
    assert json.dumps(after["memories"][category][key]) == json.dumps(document["memories"][category][key])
    # Everything else is there, too; the order of a category may be another.
    assert after == document
    entries = document["memories"][category]
    entries[key] = entries.pop(key)
    assert here.file.read_bytes() in (before, pretty(document))


def test_links_from_elsewhere_come_back_with_the_entry(here: Profile) -> None:
    here.profile("link", "learnings.flaky_ci", "user.email", "depends-on")
    here.profile("link", "learnings.flaky_ci", "user.email", "contradicts")
    before = here.data
    data = here.profile("forget", "user", "email", "--json").data
    assert data["links_removed"] == ["learnings.flaky_ci", "user.username"]
    # A source that is gone by then is passed over.
    here.profile("forget", "user", "username")
    data = here.profile("restore", "user", "email", "--json").data
    assert (data["links_restored"], data["entry"]["id"]) == (2, "user.email")
    here.profile("restore", "user", "username")
    assert here.data["memories"]["learnings"] == before["memories"]["learnings"]


def test_a_link_comes_back_with_what_others_wrote_into_it(here: Profile) -> None:
    document = copy.deepcopy(SAMPLE)
    document["memories"]["user"]["username"]["links"][0] |= {"note": "from another program", "weight": 0.5}
    here.hold(document)
    assert here.profile("forget", "user", "email").code == 0
    assert here.stored("user.username")["links"] == []
    assert here.profile("restore", "user", "email").code == 0
    assert here.data == document


def test_what_was_forgotten_is_listed_the_newest_first(here: Profile) -> None:
    here.profile("forget", "user", "email")
    here.profile("forget", "tools", "clipboard", env={"MEMORY_NOW": LATER})
    assert here.profile("restore").out == (
        f"  tools.clipboard (forgotten {LATER}): pbcopy and pbpaste\n  user.email (forgotten {NOW}): tess@example.com\n"
    )
    results = here.profile("restore", "--json").data["results"]
    assert [item["ref"] for item in results] == ["profile:tools.clipboard", "profile:user.email"]
    assert [item["at"] for item in results] == [LATER, NOW]
    here.profile("restore", "tools", "clipboard")
    assert [item["ref"] for item in here.profile("restore", "--json").data["results"]] == ["profile:user.email"]


def test_what_was_forgotten_says_of_itself_what_every_result_says(here: Profile) -> None:
    long = "word " * 40 + "end"
    here.remember("tools.long", long)
    here.profile("forget", "tools", "long")
    (item,) = here.profile("restore", "--json").data["results"]
    assert set(item) >= RESULT
    assert len(item["title"]) <= 80
    assert item["title"][:70] == long[:70]
    assert {**item, "title": ""} == {
        "ref": "profile:tools.long",
        "id": "tools.long",
        "category": "tools",
        "key": "long",
        "kind": "entry",
        "title": "",
        "value": long,
        "at": NOW,
        "score": None,
        "verdict": None,
    }


def test_a_long_text_that_was_forgotten_is_cut_in_the_list(here: Profile) -> None:
    here.remember("tools.long", "word " * 2000)
    here.profile("forget", "tools", "long")
    out = here.profile("restore").out
    assert out.startswith(f"  tools.long (forgotten {NOW}): word word ")
    assert len(out) < 150


def test_what_is_there_again_is_not_overwritten(here: Profile) -> None:
    here.profile("forget", "tools", "clipboard")
    here.remember("tools.clipboard", "wl-copy")
    before = here.file.read_bytes()
    run = here.profile("restore", "tools", "clipboard", "--json")
    assert (run.code, run.error["details"]) == (1, {"field": "key"})
    assert "--as" in run.error["hint"]
    assert here.profile("restore", "tools", "clipboard", "--as", "package_manager").code == 1
    assert here.file.read_bytes() == before


def test_the_old_one_comes_back_under_another_key_as_the_hint_says(here: Profile) -> None:
    here.profile("link", "learnings.flaky_ci", "tools.clipboard", "depends-on")
    here.profile("forget", "tools", "clipboard")
    here.remember("tools.clipboard", "wl-copy")
    line = ["restore", "tools", "clipboard", "--as", "old_clipboard"]
    before = here.file.read_bytes()
    assert here.profile(*line, "--dry-run").out == "Would restore: profile:tools.old_clipboard, with 1 link to it\n"
    assert here.file.read_bytes() == before
    run = here.profile(*line)
    assert (run.code, run.out) == (0, "Restored: profile:tools.old_clipboard, with 1 link to it\n")
    assert here.stored("tools.old_clipboard") == SAMPLE["memories"]["tools"]["clipboard"]
    assert here.stored("tools.clipboard")["value"] == "wl-copy"
    # The links to it follow it to its new name.
    assert here.stored("learnings.flaky_ci")["links"] == [
        {"target": "project.repo_name", "relation": "elaborates"},
        {"target": "tools.old_clipboard", "relation": "depends-on"},
    ]
    assert here.profile("restore").out == "No record was forgotten on this machine.\n"


@pytest.mark.parametrize("key", ["Old Key", "", "a.b", "k" * 129, "../x"])
def test_another_key_must_be_one(here: Profile, key: str) -> None:
    here.profile("forget", "tools", "clipboard")
    before, kept = here.file.read_bytes(), (here.local / "forgotten.jsonl").read_bytes()
    run = here.profile("restore", "tools", "clipboard", "--as", key, "--json")
    assert (run.code, run.error["details"]["field"]) == (1, "key")
    assert (here.file.read_bytes(), (here.local / "forgotten.jsonl").read_bytes()) == (before, kept)


def test_an_odd_key_comes_back_under_itself_or_another(here: Profile) -> None:
    """Other programs write keys that we would not; what they wrote is restored as it was."""
    document = copy.deepcopy(SAMPLE)
    document["memories"]["tools"] |= {"Odd Key": entry_of("Kept.")}
    here.hold(document)
    here.profile("forget", "tools", "Odd Key")
    assert here.profile("restore", "tools", "Odd Key", "--as", "Odd Key").code == 0
    assert here.data == document
    here.profile("forget", "tools", "Odd Key")
    assert here.profile("restore", "tools", "Odd Key", "--as", "odd_key").code == 0
    assert here.stored("tools.odd_key") == entry_of("Kept.")


def _three(here: Profile) -> list[str]:
    """One name forgotten three times; the moments."""
    times = [NOW, LATER, "2026-03-10T11:19:00Z"]
    for number, at in enumerate(times):
        here.remember("tools.shell", f"shell number {number}")
        assert here.profile("forget", "tools", "shell", env={"MEMORY_NOW": at}).code == 0
    return times


@pytest.mark.parametrize("number", [0, 1, 2])
def test_of_several_with_one_name_one_is_chosen_by_its_time(here: Profile, number: int) -> None:
    times = _three(here)
    assert here.profile("restore").out == "".join(
        f"  tools.shell (forgotten {at}): shell number {place}\n" for place, at in reversed([*enumerate(times)])
    )
    run = here.profile("restore", "tools", "shell", "--at", times[number])
    assert (run.code, run.out) == (0, "Restored: profile:tools.shell\n")
    assert here.stored("tools.shell")["value"] == f"shell number {number}"
    # The others are still there to be restored.
    left = [item["at"] for item in here.profile("restore", "--json").data["results"]]
    assert left == [at for at in reversed(times) if at != times[number]]


def test_of_several_with_one_name_the_last_comes_unless_told_otherwise(here: Profile) -> None:
    _three(here)
    for number, key in ((2, "third"), (1, "second"), (0, "first")):
        here.profile("restore", "tools", "shell", "--as", key)
        assert here.stored(f"tools.{key}")["value"] == f"shell number {number}"
    assert here.profile("restore", "--json").data["results"] == []


@pytest.mark.parametrize("at", ["2026-03-03T00:00:00Z", "yesterday", "", LATER])
def test_a_time_at_which_nothing_of_the_name_was_forgotten(here: Profile, at: str) -> None:
    here.profile("forget", "tools", "clipboard")
    here.profile("forget", "user", "email", env={"MEMORY_NOW": LATER})
    before = here.file.read_bytes()
    run = here.profile("restore", "tools", "clipboard", f"--at={at}", "--json")
    assert (run.code, run.error["code"]) == (1, "MemoryObjectNotFound")
    assert "memory profile restore" in run.error["hint"]
    assert here.file.read_bytes() == before
    assert len(here.profile("restore", "--json").data["results"]) == 2


def test_an_entry_is_named_in_one_word_as_the_lists_show_it(here: Profile) -> None:
    for name in ("tools.clipboard", "profile:tools.clipboard"):
        assert here.profile("forget", name).out.startswith("Forgotten: profile:tools.clipboard (pbcopy and pbpaste)\n")
        assert here.profile("restore").out == f"  tools.clipboard (forgotten {NOW}): pbcopy and pbpaste\n"
        assert here.profile("restore", name).out == "Restored: profile:tools.clipboard\n"
    assert here.data == SAMPLE


def test_the_backup_is_the_document_before_the_last_forgetting(here: Profile) -> None:
    here.profile("forget", "user", "email")
    second = here.file.read_bytes()
    here.profile("forget", "user", "timezone")
    assert (here.root / ".ai-state/memory.backup.json").read_bytes() == second


def test_what_was_forgotten_is_only_on_this_machine(here: Profile) -> None:
    here.commit()
    here.profile("forget", "user", "email")
    assert here.git("status", "--short", "--untracked-files=all").splitlines() == [
        " M .ai-state/memory.json",
        "?? .gitignore",
    ]
    for name in (".ai-state/local/forgotten.jsonl", ".ai-state/memory.backup.json", ".ai-state/memory.lock"):
        assert (here.root / name).exists()
        assert here.git("check-ignore", name).strip() == name


def test_readings_of_a_forgotten_entry_come_back_with_it(here: Profile) -> None:
    here.profile("recall", "tools", "clipboard")
    here.profile("forget", "tools", "clipboard")
    here.profile("restore", "tools", "clipboard")
    (item,) = here.profile("recall", "tools", "clipboard", "--json").data["results"]
    assert item["access_count"] == 2


# -- reflect ----------------------------------------------------------------------------------

OLD = "2026-01-01T00:00:00Z"


def _aged(value: str, **fields: Any) -> dict[str, Any]:
    return entry_of(value, **{"created_at": OLD, "updated_at": OLD, **fields})


TIRED = document_of(
    assistant={"name": _aged("Wren", importance=1, access_count=9)},
    project={
        "unread": _aged("Nobody reads this."),
        "trivial": _aged("Nobody reads this, and it matters little.", importance=2),
        "fresh": entry_of("Written today.", created_at=NOW, updated_at=NOW, importance=1),
    },
    learnings={
        "doubtful": _aged("Perhaps so.", confidence=0.8),
        "popular": _aged("Often read.", confidence=0.5, access_count=6),
        "stated": _aged("Said by the user.", confidence=0.4, source={"type": "user-stated", "detail": None}),
        "away": _aged("Put away.", status="archived", importance=1),
    },
)


@pytest.fixture
def tired(here: Profile) -> Profile:
    here.hold(TIRED)
    return here


def test_reflection_proposes_and_changes_nothing(tired: Profile) -> None:
    before = tired.file.read_bytes()
    data = tired.profile("reflect", "--json").data
    assert [(item["category"], item["key"]) for item in data["archival_candidates"]] == [("project", "trivial")]
    assert [
        (item["key"], item["current_confidence"], item["proposed_confidence"]) for item in data["confidence_updates"]
    ] == [
        ("doubtful", 0.8, 0.65),
        ("popular", 0.5, 0.8),
        ("stated", 0.4, 0.9),
    ]
    assert [item["key"] for item in data["stale_entries"]] == ["unread", "doubtful"]
    assert (data["applied"], data["dry_run"]) == ([], False)
    assert data["summary"] == {
        "total_entries": 8,
        "active": 7,
        "archived": 1,
        "superseded": 0,
        "stale_count": 2,
        "archival_candidate_count": 1,
        "confidence_update_count": 3,
    }
    text = tired.profile("reflect")
    assert (text.code, text.err) == (0, "")
    assert [line.split(":")[0].split() for line in text.out.splitlines()[:-1]] == [
        ["archive", "project.trivial"],
        ["confidence", "learnings.doubtful"],
        ["confidence", "learnings.popular"],
        ["confidence", "learnings.stated"],
        ["stale", "project.unread"],
        ["stale", "learnings.doubtful"],
    ]
    assert "learnings.doubtful: 0.8 -> 0.65, never accessed\n" in text.out
    assert text.out.endswith(
        "`memory profile reflect --apply all` applies these changes; you decide about stale records.\n"
    )
    assert tired.file.read_bytes() == before
    assert tired.profile("session-start", "--json").data["proposals"] == 4


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        (["--apply", "archive"], {"project.trivial": {"status": "archived"}}),
        (
            ["--apply", "confidence"],
            {
                "learnings.doubtful": {"confidence": 0.65},
                "learnings.popular": {"confidence": 0.8},
                "learnings.stated": {"confidence": 0.9},
            },
        ),
        (
            ["--apply", "all"],
            {
                "project.trivial": {"status": "archived"},
                "learnings.doubtful": {"confidence": 0.65},
                "learnings.popular": {"confidence": 0.8},
                "learnings.stated": {"confidence": 0.9},
            },
        ),
        (
            ["--apply", "archive", "--apply", "confidence", "--only", "project.trivial", "--only", "learnings.stated"],
            {"project.trivial": {"status": "archived"}, "learnings.stated": {"confidence": 0.9}},
        ),
        (["--apply", "all", "--only", "profile:learnings.popular"], {"learnings.popular": {"confidence": 0.8}}),
        (["--apply", "archive", "--only", "learnings.popular"], {}),
        (["--apply", "all", "--only", "project.unread"], {}),
    ],
)
def test_what_is_applied_is_what_was_proposed(tired: Profile, line: list[str], changed: dict[str, Any]) -> None:
    before = tired.file.read_bytes()
    said = tired.profile("reflect", *line, "--dry-run")
    names = ", ".join(changed)
    assert said.out == (f"Would change: {names}.\n" if changed else "Nothing to change.\n")
    assert tired.file.read_bytes() == before
    assert tired.profile("reflect", *line, "--dry-run", "--json").data["applied"] == list(changed)
    run = tired.profile("reflect", *line)
    assert run.out == (f"Changed: {names}.\n" if changed else "Nothing to change.\n")
    document = copy.deepcopy(TIRED)
    for name, fields in changed.items():
        category, _, key = name.partition(".")
        document["memories"][category][key] |= {**fields, "updated_at": NOW}
    assert tired.file.read_bytes() == pretty(document)
    # Nothing that was done is proposed again at the same moment.
    assert tired.profile("reflect", *line, "--json").data["applied"] == []


def test_what_was_read_since_the_last_change_counts_for_reflection(tired: Profile) -> None:
    tired.profile("recall", "project", "trivial")
    data = tired.profile("reflect", "--json").data
    assert data["archival_candidates"] == []
    assert tired.profile("reflect", "--apply", "archive", "--json").data["applied"] == []
    assert tired.stored("project.trivial")["status"] == "active"


def test_a_question_about_one_entry_is_answered_with_that_one(tired: Profile) -> None:
    """Without --apply, too, --only says what it is about."""
    data = tired.profile("reflect", "--only", "learnings.stated", "--json").data
    assert [item["key"] for item in data["confidence_updates"]] == ["stated"]
    assert (data["archival_candidates"], data["stale_entries"]) == ([], [])
