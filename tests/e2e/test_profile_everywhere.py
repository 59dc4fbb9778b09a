"""The profile beyond its own verbs: query, inspect, status, check, diff, rebuild, init, reset; merged by git."""

from __future__ import annotations

import copy
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from commanding import Here
from profile_here import RESULT, SAMPLE, Profile, document_of, entry_of, pretty, profile_in, snapshot

from promised import proves

NODES = [
    {"kind": "feature", "title": "Package manager", "body": "uv locks what is installed.", "stage": "building"},
    {"kind": "decision", "title": "One package manager", "body": "Two lock files drift apart."},
]
TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3


@pytest.fixture
def alone(environment: dict[str, str], tmp_path: Path) -> Profile:
    """A project with a profile and nothing else of ours."""
    return profile_in(tmp_path / "harbor", environment, SAMPLE)


@pytest.fixture
def here(alone: Profile) -> Profile:
    """The same with nodes and facts beside it."""
    assert alone("init").code == 0
    assert alone("save", "--stdin", stdin=json.dumps({"task": "t", "nodes": NODES})).code == 0
    assert alone("facts", "store", "Specs", "The package manager caches its downloads.").code == 0
    return alone


def _refs(here: Here, *arguments: str) -> list[str]:
    return [item["ref"] for item in here("query", *arguments, "--json").data["results"]]


# -- query ------------------------------------------------------------------------------------


def test_query_finds_entries_beside_nodes_and_facts(here: Profile) -> None:
    results = here("query", "package manager", "--json").data["results"]
    assert {item["layer"] for item in results} == {"graph", "facts", "profile"}
    (entry,) = [item for item in results if item["layer"] == "profile"]
    assert set(entry) >= RESULT - {"key"}
    assert (entry["ref"], entry["id"], entry["kind"], entry["section"], entry["verdict"]) == (
        "profile:tools.package_manager",
        "tools.package_manager",
        "entry",
        "tools",
        "unanchored",
    )
    out = here("query", "package manager").out
    assert "## profile:tools.package_manager — tools  [active, unanchored, " in out
    assert "uv, never pip" in out


def test_query_is_narrowed_to_the_profile(here: Profile) -> None:
    for line in (["--layer", "profile"], ["--kind", "entry"]):
        results = here("query", "package manager", *line, "--json").data["results"]
        assert {item["kind"] for item in results} == {"entry"}
        assert results[0]["ref"] == "profile:tools.package_manager"
    results = here("query", "package manager", "--kind", "entry,fact", "--json").data["results"]
    assert {item["kind"] for item in results} == {"entry", "fact"}
    results = here("query", "package manager", "--layer", "profile,graph", "--json").data["results"]
    assert {item["layer"] for item in results} == {"profile", "graph"}
    for line in (["--layer", "graph"], ["--layer", "facts"], ["--kind", "fact"]):
        assert not any(ref.startswith("profile:") for ref in _refs(here, "package manager", *line))
    assert _refs(here, "pip", "--layer", "profile", "--tag", "user-preference") == ["profile:tools.package_manager"]
    for option, known in (("--layer", "profile"), ("--kind", "entry")):
        run = here("query", "x", option, "nonsense")
        assert (run.code, known in run.err) == (2, True)


def test_query_withholds_what_was_put_away(here: Profile) -> None:
    data = here("query", "pip with requirement files", "--layer", "profile", "--json").data
    assert "profile:tools.old_manager" not in [item["ref"] for item in data["results"]]
    assert "profile:tools.old_manager" in [item["ref"] for item in data["withheld"]]
    assert "profile:tools.old_manager" in _refs(here, "pip with requirement files", "--layer", "profile", "--all")


def test_query_follows_links_of_the_profile(here: Profile) -> None:
    here.profile("link", "tools.package_manager", "learnings.flaky_ci", "contradicts")
    data = here("query", "uv never pip", "--layer", "profile", "--json").data
    assert "profile:learnings.flaky_ci" in [item["ref"] for item in (*data["results"], *data["connected"])]


def test_query_keeps_its_budget_with_entries(here: Profile) -> None:
    document = copy.deepcopy(SAMPLE)
    document["memories"]["learnings"] |= {f"n{n}": entry_of(f"Retry number {n}. " * 60) for n in range(40)}
    here.hold(document)
    for budget in (100, 500, 2000):
        assert here("query", "retry number", "--budget", str(budget), "--json").data["tokens"] <= budget


def test_query_in_a_project_with_a_profile_alone(alone: Profile) -> None:
    assert _refs(alone, "package manager")[0] == "profile:tools.package_manager"
    assert "uv, never pip" in alone("query", "package manager").out
    assert not (alone.root / ".memory").exists()


# -- inspect ----------------------------------------------------------------------------------


def test_inspect_shows_an_entry_in_full(here: Profile) -> None:
    run = here("inspect", "profile:tools.package_manager")
    assert (run.code, run.err) == (0, "")
    lines = run.out.splitlines()
    assert lines[0] == "profile:tools.package_manager  [active, importance 8]"
    assert "tags: python, user-preference" in lines
    assert "uv, never pip" in lines
    at = lines.index("Links:")
    assert lines[at + 1] == "  supersedes tools.old_manager (archived): pip with requirement files"
    data = here("inspect", "profile:tools.package_manager", "--json").data
    assert set(data) == {"object", "links", "connections"}
    assert set(data["object"]) >= RESULT
    assert data["object"]["entry"] == SAMPLE["memories"]["tools"]["package_manager"]
    assert [link["target"] for link in data["links"]["outgoing"]] == ["tools.old_manager"]
    back = here("inspect", "profile:tools.old_manager", "--json").data
    assert [link["source"] for link in back["links"]["incoming"]] == ["tools.package_manager"]
    # Looking is not reading.
    assert here.profile("status", "--json").data["pending_readings"] == 0


@pytest.mark.parametrize("ref", ["profile:", "profile:tools", "profile:tools.nothing", "profile:no.such", "profile:."])
def test_inspect_of_nothing_says_where_to_look(here: Profile, ref: str) -> None:
    run = here("inspect", ref, "--json")
    assert run.code == 1
    assert run.error["hint"]


def test_a_name_as_the_lists_show_it_leads_to_the_entry(here: Profile) -> None:
    """`recall` and `search` show `tools.package_manager`; whoever copies it is understood."""
    for name in ("tools.package_manager", "user.email", "assistant.name", "relationships.collaboration_style"):
        run = here("inspect", name, "--json")
        assert (run.code, run.data) == (0, here("inspect", f"profile:{name}", "--json").data)
        assert run.data["object"]["ref"] == f"profile:{name}"
    assert here("inspect", "learnings.nothing", "--json").error["details"]["id"] == "profile:learnings.nothing"
    # One category has the name of a kind of node, and there the node is meant.
    assert here("inspect", "project.repo_name").code == 1
    assert here("inspect", "profile:project.repo_name").code == 0
    assert here("inspect", "feature.package-manager", "--json").data["object"]["id"] == "feature.package-manager"


def test_a_fact_is_connected_to_an_entry_and_seen_from_there(here: Profile) -> None:
    name = here.listed().popitem()[0]
    assert here("facts", "connect", name, "profile:tools.package_manager", "depends_on").code == 0
    out = here("inspect", "profile:tools.package_manager").out
    assert f"  fact:{name} depends_on profile:tools.package_manager" in out.partition("Connections:\n")[2]
    (edge,) = here("inspect", "profile:tools.package_manager", "--json").data["connections"]
    assert (edge["source"], edge["relation"]) == (f"fact:{name}", "depends_on")
    assert "profile:tools.package_manager" in here("inspect", f"fact:{name}").out


def test_inspect_works_where_there_is_a_profile_alone(alone: Profile) -> None:
    assert "uv, never pip" in alone("inspect", "profile:tools.package_manager").out


# -- status, rebuild --------------------------------------------------------------------------


def test_status_has_a_line_for_the_profile_once_there_is_one(environment: dict[str, str], tmp_path: Path) -> None:
    bare = profile_in(tmp_path / "bare", environment)
    assert bare("init").code == 0
    assert "Profile" not in bare("status").out
    assert bare("status", "--json").data["profile"] is None
    bare.hold(SAMPLE)
    assert bare("status", "--json").data["profile"] == {
        "active": 10,
        "other": 1,
        "by_category": {"user": 3, "assistant": 2, "project": 1, "relationships": 1, "tools": 2, "learnings": 1},
        "links": 3,
    }
    (line,) = [line for line in bare("status").out.splitlines() if line.startswith("Profile: ")]
    assert line.startswith("Profile: 10 active")
    assert "1" in line.partition("active")[2]
    assert "links 3" in line


def test_status_where_there_is_a_profile_alone_points_to_its_own(alone: Profile) -> None:
    run = alone("status", "--json")
    assert (run.code, run.error["code"]) == (3, "MemoryNotInitialized")
    assert "memory profile" in run.error["hint"]


def test_the_last_activity_is_that_of_the_profile_too(here: Profile) -> None:
    here.remember("tools.editor", "vim", env={"MEMORY_NOW": "2026-03-09T08:00:00Z"})
    assert "Last activity: 2026-03-09 08:00 +00:00\n" in here("status").out


def test_a_rebuild_counts_entries_and_changes_no_answer(here: Profile) -> None:
    asked = [["status"], ["query", "package manager"], ["profile", "search", "package manager"], ["profile", "index"]]

    def answers() -> list[Any]:
        found = []
        for line in asked:
            (here.local / "access.jsonl").unlink(missing_ok=True)
            found.append(here(*line, "--json").data)
        return found

    before = answers()
    data = here("rebuild", "--json").data
    assert (data["records"], data["edges"], data["unreadable"]) == (15, 3, [])
    assert answers() == before


def test_a_document_that_cannot_be_read_is_named_by_every_other_verb(here: Profile) -> None:
    here.hold(b"{")
    for line in (["status"], ["query", "package manager"], ["rebuild"], ["check"]):
        run = here(*line)
        assert ".ai-state/memory.json" in run.out + run.err, line
        assert run.code == (1 if line == ["check"] else 0), line
    assert _refs(here, "package manager") != []
    here.hold(SAMPLE)
    assert here("check").code == 0


# -- check ------------------------------------------------------------------------------------


def _with(**fields: Any) -> dict[str, Any]:
    document = copy.deepcopy(SAMPLE)
    document["memories"]["tools"]["clipboard"] |= fields
    return document


FAULTS: dict[str, tuple[str, str, Any]] = {
    "damaged": ("error", "MemoryAlreadyInitializedInvalid", b"{"),
    "another version": ("error", "MemoryUnsupportedStorageVersion", {**SAMPLE, "schema_version": "9.9"}),
    "read only": ("warning", "ProfileReadOnly", {**SAMPLE, "schema_version": "2.0"}),
    "no entry": ("warning", "ProfileEntryInvalid", document_of(tools={"x": "text", "y": {"value": 7}})),
    "no category": ("warning", "ProfileEntryInvalid", document_of(tools=[1])),  # type: ignore[arg-type]
    "unknown category": ("warning", "ProfileCategoryUnknown", document_of(pets={"cat": entry_of("Mog")})),
    "a secret": ("error", "MemorySecretDetected", _with(value=f"The key is {TOKEN}")),
    "a secret in a detail": ("error", "MemorySecretDetected", _with(source={"type": "session", "detail": TOKEN})),
    "a time": ("warning", "ProfileFieldInvalid", _with(created_at="yesterday")),
    "tags": ("warning", "ProfileFieldInvalid", _with(tags=["Two Words"])),
    "confidence": ("warning", "ProfileFieldInvalid", _with(confidence=7)),
    "importance": ("warning", "ProfileFieldInvalid", _with(importance=11)),
    "status": ("warning", "ProfileFieldInvalid", _with(status="frozen")),
    "source": ("warning", "ProfileFieldInvalid", _with(source="hearsay")),
    "relation": ("warning", "ProfileFieldInvalid", _with(links=[{"target": "user.email", "relation": "likes"}])),
    "target": ("warning", "ProfileFieldInvalid", _with(links=[{"target": "user.gone", "relation": "elaborates"}])),
    "itself": (
        "warning",
        "ProfileFieldInvalid",
        _with(links=[{"target": "tools.clipboard", "relation": "elaborates"}]),
    ),
}


@pytest.mark.proof(keep=6)
@proves("P9.1", "E11", over="profile")
@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("beside", [False, True], ids=["alone", "with the rest"])
def test_check_names_each_fault_of_the_document(alone: Profile, name: str, beside: bool) -> None:
    if beside:
        assert alone("init").code == 0
    severity, code, document = FAULTS[name]
    alone.hold(document)
    before = snapshot(alone.root / ".ai-state")
    run = alone("check", "--json")
    assert run.code == (1 if severity == "error" else 0)
    found = [item for item in run.data["errors" if severity == "error" else "warnings"] if item["code"] == code]
    assert found
    assert {item["path"] for item in found} == {".ai-state/memory.json"}
    text = alone("check")
    assert code in text.out
    assert TOKEN not in text.out + run.out
    assert snapshot(alone.root / ".ai-state") == before


def test_check_of_a_sound_profile_counts_its_files(alone: Profile) -> None:
    run = alone("check")
    assert (run.code, run.out) == (0, "The memory is sound: 1 file, 0 errors, 0 warnings.\n")
    alone.profile("private", "here", "--yes")
    assert alone("check", "--json").data["files_checked"] == 2


def test_check_says_when_git_would_take_up_what_belongs_to_this_machine(alone: Profile) -> None:
    alone.remember("tools.editor", "vim")
    alone.profile("forget", "tools", "editor")
    (alone.root / ".gitignore").unlink()
    found = {item["path"] for item in alone("check", "--json").data["warnings"] if item["code"] == "ProfileNotIgnored"}
    assert found == {".ai-state/memory.lock", ".ai-state/memory.backup.json"}
    alone.remember("tools.editor", "vim")
    assert alone("check", "--json").data["warnings"] == []


# -- diff -------------------------------------------------------------------------------------


def test_diff_names_the_entries_that_changed(here: Profile) -> None:
    here.remember("tools.pager", "less")
    here.commit()
    assert here("diff", "--json").data["changed_profile_entries"] == []
    here.remember("tools.editor", "vim")
    here.remember("user.email", "--importance", "3")
    here.profile("forget", "user", "timezone")
    data = here("diff", "--json").data
    assert data["changed_profile_entries"] == ["tools.editor", "user.email", "user.timezone"]
    assert [file["path"] for file in data["files"]] == [".ai-state/memory.json"]
    assert '+      "editor": {' in here("diff").out


def test_diff_in_a_project_with_a_profile_alone(alone: Profile) -> None:
    alone.commit()
    alone.remember("tools.editor", "vim")
    data = alone("diff", "--json").data
    assert data["changed_profile_entries"] == ["tools.editor"]
    assert "memory.json" in alone("diff").out


def test_diff_calls_readings_no_change_of_an_entry(here: Profile) -> None:
    """Counts are written down by the way; what an entry says is as it was."""
    here.remember("tools.pager", "less")
    here.commit()
    here.profile("recall", "user")
    here.profile("session-start")
    assert here.stored("user.email")["access_count"] == 1
    data = here("diff", "--json").data
    assert data["changed_profile_entries"] == []
    assert [file["path"] for file in data["files"]] == [".ai-state/memory.json"]
    here.remember("user.email", "--importance", "9")
    assert here("diff", "--json").data["changed_profile_entries"] == ["user.email"]


# -- init and reset ---------------------------------------------------------------------------


def test_init_with_a_profile(environment: dict[str, str], tmp_path: Path) -> None:
    new = profile_in(tmp_path / "new", environment)
    before = snapshot(new.root, Path(environment["HOME"]))
    run = new("init", "--with", "profile", "--dry-run")
    assert run.code == 0
    assert ".ai-state/memory.json" in run.out
    assert snapshot(new.root, Path(environment["HOME"])) == before
    data = new("init", "--with", "profile,facts", "--json").data
    assert ".ai-state/memory.json" in data["files_created"]
    assert new.file.read_bytes() == pretty(document_of())
    assert (new.root / ".memory/config.json").exists()
    new.git("add", "--all")
    seen = new.git("ls-files", ".ai-state").splitlines()
    assert seen == [".ai-state/memory.json"]
    kept = snapshot(new.root / ".ai-state")
    assert new("init", "--with", "profile").code == 0
    assert {path: state[2] for path, state in snapshot(new.root / ".ai-state").items()} == {
        path: state[2] for path, state in kept.items()
    }
    assert new.profile("session-start").code == 0


def test_init_leaves_a_profile_that_is_there(alone: Profile) -> None:
    before = alone.file.read_bytes()
    for line in (["init", "--with", "profile"], ["init"], ["init", "--force"]):
        assert alone(*line).code == 0
        assert alone.file.read_bytes() == before


def test_init_tells_what_to_commit(environment: dict[str, str], tmp_path: Path) -> None:
    new = profile_in(tmp_path / "new", environment)
    (line,) = [line for line in new("init", "--with", "profile").out.splitlines() if "git add" in line]
    assert ".ai-state" in line


def test_init_names_the_layers_that_it_knows(alone: Profile) -> None:
    error = alone("init", "--with", "profile,nonsense", "--json").error
    assert error["details"]["allowed"] == ["graph", "facts", "profile", "journal"]
    told = " ".join(alone("init", "--help").out.split())
    assert "profile" in told.partition("--with")[2].partition("--no-guidance")[0]


def test_reset_leaves_the_profile_alone(here: Profile) -> None:
    before = here.file.read_bytes()
    assert here("reset", "--yes").code == 0
    assert here.file.read_bytes() == before
    assert here.profile("recall", "tools", "clipboard").code == 0


# -- git --------------------------------------------------------------------------------------


def test_another_branch_has_another_profile(here: Profile) -> None:
    here.remember("tools.editor", "vim")
    here.commit()
    here.git("checkout", "--quiet", "-b", "other")
    here.remember("tools.editor", "emacs")
    here.commit("emacs")
    here.git("checkout", "--quiet", "-")
    assert here.profile("recall", "tools", "editor", "--json").data["results"][0]["value"] == "vim"
    assert "vim" in here("query", "editor", "--layer", "profile").out
    here.git("checkout", "--quiet", "other")
    assert "emacs" in here("query", "editor", "--layer", "profile").out


@proves("P6.2", "E2", over="profile")
def test_a_conflict_in_the_document_is_named(here: Profile) -> None:
    here.remember("tools.pager", "less")
    here.commit()
    for branch, editor in (("one", "vim"), ("two", "emacs")):
        here.git("checkout", "--quiet", "-b", branch, "main")
        here.remember("tools.editor", editor)
        here.commit(editor)
    with pytest.raises(AssertionError):
        here.git("merge", "--quiet", "one")
    assert b"<<<<<<<" in here.file.read_bytes()
    run = here.profile("recall", "tools", "--json")
    assert run.code == 3
    assert "merge conflict" in run.error["message"]
    assert "line" in run.error["message"]
    run = here("check", "--json")
    assert run.code == 1
    assert {".ai-state/memory.json"} == {item["path"] for item in run.data["errors"]}
    here.git("checkout", "--ours", ".ai-state/memory.json")
    assert here.profile("recall", "tools", "editor", "--json").data["results"][0]["value"] == "emacs"


def test_a_clone_reads_the_profile_at_once(here: Profile, tmp_path: Path) -> None:
    here.remember("tools.editor", "vim")
    here.commit()
    here.git("clone", "--quiet", str(here.root), str(tmp_path / "clone"))
    clone = Profile(tmp_path / "clone", here.env)
    assert clone.profile("index").out == here.profile("index").out
    assert clone.git("status", "--short") == ""
    assert clone("check").code == 0


@pytest.mark.proof
def test_without_its_index_the_profile_answers_the_same_after_every_change(here: Profile) -> None:
    changes = [
        ["remember", "tools", "editor", "vim", "--tag", "cli", "--tag", "user-preference"],
        ["remember", "tools", "editor", "emacs", "--importance", "9"],
        ["link", "tools.editor", "learnings.flaky_ci", "contradicts"],
        ["forget", "user", "email"],
        ["restore", "user", "email"],
        ["unlink", "tools.editor", "learnings.flaky_ci"],
        ["remember", "tools", "shell", "fish", "--supersedes", "tools.clipboard"],
        ["private", "here", "--yes"],
        ["remember", "user", "city", "Cádiz"],
        ["private", "home", "--yes"],
        ["session-start"],
        ["reflect", "--apply", "all"],
        ["private", "shared", "--yes"],
    ]
    asked = [
        ["profile", "--json"],
        ["profile", "index", "--all", "--json"],
        ["profile", "connections", "learnings", "flaky_ci", "--json"],
        ["profile", "search", "editor or shell", "--json"],
        ["query", "tess", "--layer", "profile", "--json"],
        ["status", "--json"],
    ]

    def answers() -> list[Any]:
        found = []
        for line in asked:
            (here.local / "access.jsonl").unlink(missing_ok=True)
            found.append(here(*line).data)
        return found

    for change in changes:
        assert here.profile(*change).code == 0, change
        kept = answers()
        shutil.rmtree(here.root / ".memory/index")
        assert answers() == kept, change
