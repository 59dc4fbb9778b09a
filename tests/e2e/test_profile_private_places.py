"""`memory profile private`: what is personal kept out of the shared document, never seen by git, and brought back."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from profile_here import NOW, RESULT, SAMPLE, Profile, document_of, entry_of, pretty, profile_in, snapshot

from promised import proves

PERSONAL = ["user.username", "user.email", "user.timezone", "relationships.collaboration_style"]
SECRETS = (b"@tess", b"tess@example.com", b"Europe/Madrid", b"Pragmatic")
"""What only the private entries of the sample say."""


@pytest.fixture
def here(environment: dict[str, str], tmp_path: Path) -> Profile:
    return profile_in(tmp_path / "harbor", environment, SAMPLE)


@pytest.fixture
def other(here: Profile, tmp_path: Path) -> Profile:
    """Another project of the same user."""
    return profile_in(tmp_path / "marina", here.env, document_of(tools={"editor": entry_of("emacs")}))


def _shared() -> dict[str, Any]:
    """The sample without what is personal."""
    document = copy.deepcopy(SAMPLE)
    document["memories"] |= {"user": {}, "relationships": {}}
    return document


def _personal(session_count: int = 0) -> dict[str, Any]:
    memories = SAMPLE["memories"]
    return document_of(session_count, user=memories["user"], relationships=memories["relationships"])


def _seen_by_git(here: Profile) -> list[str]:
    here.git("add", "--all")
    here.git("commit", "--quiet", "--allow-empty", "--message", "all")
    return here.git("ls-files").splitlines()


def _bytes(here: Profile) -> dict[str, bytes]:
    """All files of the project and of the user's home."""
    found = snapshot(here.root, Path(here.env["HOME"]))
    return {path: data for path, (_, _, data) in found.items() if Path(path).is_file()}


# -- here -------------------------------------------------------------------------------------


def test_a_look_first_and_nothing_moves(here: Profile) -> None:
    before = snapshot(here.root)
    run = here.profile("private", "here")
    assert (run.code, run.err) == (0, "")
    assert run.out == (
        "Would move to .ai-state/local/memory.json: " + ", ".join(PERSONAL) + "\n"
        "Nothing was written. Run the command again with --yes.\n"
    )
    data = here.profile("private", "here", "--json").data
    assert data == {
        "before": "shared",
        "after": "here",
        "target": ".ai-state/local/memory.json",
        "moved": PERSONAL,
        "copied": [],
        "differing": [],
        "linked": [],
        "committed": False,
        "applied": False,
    }
    assert snapshot(here.root) == before


def test_moved_here_the_entries_are_in_a_twin_that_git_never_sees(here: Profile) -> None:
    run = here.profile("private", "here", "--yes")
    assert (run.code, run.err) == (0, "")
    assert run.out == "Moved to .ai-state/local/memory.json: " + ", ".join(PERSONAL) + "\n"
    assert here.file.read_bytes() == pretty(_shared())
    assert here.twin.read_bytes() == pretty(_personal())
    assert _seen_by_git(here) == [".ai-state/memory.json", ".gitignore"]
    for name in (".ai-state/local", ".ai-state/local/memory.json"):
        assert here.git("check-ignore", name).strip() == name
    ignored = here.git("status", "--short", "--ignored").splitlines()
    assert "!! .ai-state/local/" in ignored
    assert not any(line.startswith("??") for line in ignored)
    # Also without the lines in the repository's own file.
    (here.root / ".gitignore").unlink()
    assert here.git("check-ignore", ".ai-state/local/memory.json").strip()
    assert here.profile("private").out == (
        "user and relationships are private, in .ai-state/local/memory.json; records there: 4.\n"
    )
    assert here.profile("private", "--json").data == {
        "private": "here",
        "path": ".ai-state/local/memory.json",
        "entries": 4,
    }


def test_private_entries_are_asked_and_changed_like_any_other(here: Profile) -> None:
    before = {name: here.profile("about-me").out for name in ("about-me",)}
    index = here.profile("index").out
    here.profile("private", "here", "--yes")
    assert here.profile("about-me").out == before["about-me"]
    assert here.profile("index").out == index
    (item,) = here.profile("recall", "user", "email", "--json").data["results"]
    assert set(item) >= RESULT
    assert item["private"] is True
    assert "private: it is not in the shared document\n" in here.profile("recall", "user", "email").out
    assert here.profile("search", "tess@example.com", "--json").data["results"][0]["private"] is True
    run = here.profile("remember", "user", "email", "new@example.com")
    assert run.out == "Changed: profile:user.email\n  kept in the private document\n"
    run = here.profile("remember", "user", "city", "Cádiz")
    assert run.out == "Remembered: profile:user.city\n  kept in the private document\n"
    run = here.profile("remember", "tools", "editor", "vim")
    assert run.out == "Remembered: profile:tools.editor\n"
    assert here.stored("user.email", here.twin)["value"] == "new@example.com"
    assert here.stored("user.city", here.twin)["value"] == "Cádiz"
    assert here.stored("tools.editor")["value"] == "vim"
    assert "user" in here.data["memories"]
    assert here.data["memories"]["user"] == {}
    assert here.profile("session-start", "--json").data["categories"]["user"] == 4
    assert here.data["session_count"] == 13
    assert json.loads(here.twin.read_bytes())["session_count"] == 0


def test_links_between_private_and_shared_entries_hold(here: Profile) -> None:
    here.profile("link", "tools.clipboard", "user.email", "depends-on")
    here.profile("link", "user.email", "tools.clipboard", "elaborates")
    run = here.profile("private", "here")
    assert "These records stay in the shared document and link to one that moves: tools.clipboard\n" in run.out
    assert here.profile("private", "here", "--json").data["linked"] == ["tools.clipboard"]
    here.profile("private", "here", "--yes")
    data = here.profile("connections", "user", "email", "--json").data
    assert [link["target"] for link in data["outgoing"]] == ["tools.clipboard"]
    assert sorted(link["source"] for link in data["incoming"]) == ["tools.clipboard", "user.username"]
    assert here("check", "--json").data["warnings"] == []
    assert here.profile("link", "tools.package_manager", "user.username", "supersedes").code == 0
    assert here.stored("user.username", here.twin)["status"] == "archived"
    assert here.profile("unlink", "tools.package_manager", "user.username").code == 0
    assert here.profile("forget", "user", "email").code == 0
    assert here.stored("tools.clipboard")["links"] == []
    assert here.stored("user.username", here.twin)["links"] == []


def test_a_link_made_by_itself_does_not_name_a_private_entry_in_the_shared_document(here: Profile) -> None:
    """Even the key of a private entry is nobody else's business; a person may link them knowingly."""
    here.profile("private", "here", "--yes")
    here.remember("user.employer_acme", "A customer that nobody may know of.", "--tag", "work", "--tag", "deploy")
    here.remember("project.deploy", "Deploys go to Kubernetes.", "--tag", "work", "--tag", "deploy")
    assert b"employer_acme" not in here.file.read_bytes()


@proves("P8.4", "G8", over="profile")
def test_what_private_entries_say_is_in_nothing_that_git_sees(here: Profile) -> None:
    here.profile("private", "here", "--yes")
    here.remember("user.email", "--importance", "9")
    here.profile("recall", "user")
    here.profile("forget", "user", "timezone")
    here.profile("session-start")
    assert here("init").code == 0
    here.profile("search", "tess")
    here("rebuild")
    here("status")
    for path in _seen_by_git(here):
        data = (here.root / path).read_bytes()
        assert not any(secret in data for secret in SECRETS), path
    assert here("diff").code == 0
    here.remember("user.email", "changed@example.com")
    assert "changed@example.com" not in here("diff").out
    assert here("diff", "--json").data["files"] == []


def test_a_private_entry_is_forgotten_and_restored_where_it_was(here: Profile) -> None:
    here.profile("private", "here", "--yes")
    data = here.profile("forget", "user", "email", "--json").data
    assert data["backup_path"] == ".ai-state/local/memory.backup.json"
    assert (here.root / data["backup_path"]).read_bytes() == pretty(_personal())
    assert here.profile("restore", "user", "email").code == 0
    assert here.stored("user.email", here.twin) == SAMPLE["memories"]["user"]["email"]
    assert here.data["memories"]["user"] == {}
    assert _seen_by_git(here) == [".ai-state/memory.json", ".gitignore"]


def test_and_back_again_everything_is_as_it_was(here: Profile) -> None:
    before = here.data
    here.profile("private", "here", "--yes")
    run = here.profile("private", "shared")
    assert run.out == (
        "Would move to .ai-state/memory.json: " + ", ".join(PERSONAL) + "\n"
        "Nothing was written. Run the command again with --yes.\n"
    )
    run = here.profile("private", "shared", "--yes")
    assert run.out == "Moved to .ai-state/memory.json: " + ", ".join(PERSONAL) + "\n"
    assert here.file.read_bytes() == pretty(before)
    assert not here.twin.exists()
    assert here.profile("private", "--json").data["private"] == "shared"
    assert here.profile("private", "off", "--yes").out == "They are already there; nothing to move.\n"


@pytest.mark.parametrize("place", ["here", "home", "shared"])
def test_where_they_are_already_nothing_moves(here: Profile, place: str) -> None:
    here.profile("private", place, "--yes")
    here.profile("recall", "tools")
    before = _bytes(here)
    for more in ([], ["--yes"]):
        run = here.profile("private", place, *more)
        assert (run.code, run.out) == (0, "They are already there; nothing to move.\n")
    assert _bytes(here) == before


def test_what_was_committed_is_pointed_out(here: Profile) -> None:
    here.commit()
    run = here.profile("private", "here")
    assert "Committed records stay in git history" in run.out
    assert here.profile("private", "here", "--json").data["committed"] is True
    run = here.profile("private", "here", "--yes")
    assert "Committed records stay in git history" in run.out
    here.commit("private")
    # From one private place to another, nothing leaves the shared document.
    run = here.profile("private", "home")
    assert "git's history" not in run.out
    assert "stay in the shared document and link to one that moves" not in run.out


# -- home -------------------------------------------------------------------------------------


def test_at_home_the_entries_are_in_one_document_of_the_user(here: Profile) -> None:
    run = here.profile("private", "home", "--yes")
    assert run.out == "Moved to ~/registry/profile/memory.json: " + ", ".join(PERSONAL) + "\n"
    assert here.home.read_bytes() == pretty(_personal())
    assert here.file.read_bytes() == pretty(_shared())
    assert not here.twin.exists()
    assert json.loads((here.local / "private.json").read_bytes()) == {"version": 1, "place": "home"}
    assert _seen_by_git(here) == [".ai-state/memory.json", ".gitignore"]
    assert here.profile("private").out == (
        "user and relationships are private, in ~/registry/profile/memory.json; records there: 4.\n"
    )
    assert here.profile().out.endswith("\nPrivate, in ~/registry/profile/memory.json: 4.\n")
    data = here.profile("--json").data
    assert (data["private"], data["private_path"], data["private_entries"]) == (
        "home",
        "~/registry/profile/memory.json",
        4,
    )


@proves("P8.4", "G8", over="profile")
def test_two_projects_share_the_document_at_home(here: Profile, other: Profile) -> None:
    here.profile("private", "home", "--yes")
    assert other.profile("recall", "user", "--json").data["results"] == []
    run = other.profile("private", "home", "--yes")
    assert run.out == "Moved to ~/registry/profile/memory.json: nothing; new records go there from now on\n"
    found = other.profile("recall", "user", "--json").data["results"]
    assert sorted(item["id"] for item in found) == sorted(PERSONAL[:3])
    other.remember("user.email", "new@example.com")
    other.remember("user.city", "Cádiz")
    assert here.profile("recall", "user", "email", "--json").data["results"][0]["value"] == "new@example.com"
    assert here.profile("recall", "user", "city", "--json").data["results"][0]["value"] == "Cádiz"
    here.profile("forget", "user", "city")
    assert other.profile("recall", "user", "city").code == 1
    # What is not personal stays apart.
    assert other.profile("recall", "tools", "clipboard").code == 1
    assert here.profile("recall", "tools", "editor").code == 1
    assert other.file.read_bytes() == pretty(document_of(tools={"editor": entry_of("emacs")}))


def test_readings_in_two_projects_are_added_up_at_home(here: Profile, other: Profile) -> None:
    here.profile("private", "home", "--yes")
    other.profile("private", "home", "--yes")
    here.profile("recall", "user", "email")
    other.profile("recall", "user", "email")
    other.profile("recall", "user", "email")
    here.profile("session-start")
    other.profile("session-start")
    assert here.stored("user.email", here.home)["access_count"] == 3


def test_an_entry_that_differs_needs_a_word_and_the_loser_is_kept(here: Profile, other: Profile) -> None:
    here.profile("private", "home", "--yes")
    other.remember("user.timezone", "Europe/Berlin")
    other.remember("user.email", "tess@example.com", "--importance", "7", "--tag", "identity", "--tag", "personal")
    data = other.profile("private", "home", "--json").data
    assert set(data["differing"]) >= {"user.timezone"}
    run = other.profile("private", "home")
    assert "In both, with different texts: user.timezone" in run.out
    before = _bytes(other)
    run = other.profile("private", "home", "--yes", "--json")
    assert run.code == 1
    assert run.error["details"]["entries"] == data["differing"]
    assert "--prefer" in run.error["hint"]
    assert _bytes(other) == before


@pytest.mark.parametrize(("side", "kept", "lost"), [("target", "Madrid", "Berlin"), ("source", "Berlin", "Madrid")])
def test_the_side_that_is_preferred_holds(here: Profile, other: Profile, side: str, kept: str, lost: str) -> None:
    here.profile("private", "home", "--yes")
    other.remember("user.timezone", "Europe/Berlin")
    run = other.profile("private", "home", "--yes", "--prefer", side)
    assert (run.code, run.err) == (0, "")
    # It has been decided: nobody is asked to decide it.
    assert "--prefer target or source says which holds" not in run.out
    assert here.stored("user.timezone", here.home)["value"] == f"Europe/{kept}"
    assert here.profile("recall", "user", "timezone", "--json").data["results"][0]["value"] == f"Europe/{kept}"
    assert "timezone" not in other.data["memories"]["user"]
    (item,) = other.profile("restore", "--json").data["results"]
    assert (item["ref"], item["value"]) == ("profile:user.timezone", f"Europe/{lost}")


def test_the_loser_of_a_conflict_can_be_restored(here: Profile, other: Profile) -> None:
    """`The other can be restored`, the hint says: beside the one that holds, or in its place."""
    here.profile("private", "home", "--yes")
    other.remember("user.timezone", "Europe/Berlin")
    other.profile("private", "home", "--yes", "--prefer", "target")
    assert other.profile("restore").out == f"  user.timezone (forgotten {NOW}): Europe/Berlin\n"
    assert "--as" in other.profile("restore", "user", "timezone", "--json").error["hint"]
    assert other.profile("restore", "user", "timezone", "--as", "timezone_before").code == 0
    assert other.stored("user.timezone_before", here.home)["value"] == "Europe/Berlin"
    assert other.stored("user.timezone", here.home)["value"] == "Europe/Madrid"


def test_the_loser_of_a_conflict_can_take_the_place_of_the_other(here: Profile, other: Profile) -> None:
    here.profile("private", "home", "--yes")
    other.remember("user.timezone", "Europe/Berlin")
    other.profile("private", "home", "--yes", "--prefer", "target")
    assert other.profile("forget", "user", "timezone", env={"MEMORY_NOW": "2026-03-09T11:19:00Z"}).code == 0
    assert other.profile("restore", "user", "timezone", "--at", NOW).code == 0
    assert other.profile("recall", "user", "timezone", "--json").data["results"][0]["value"] == "Europe/Berlin"


def test_readings_alone_make_no_conflict(here: Profile, other: Profile) -> None:
    here.profile("private", "home", "--yes")
    other.hold(document_of(user={"email": {**SAMPLE["memories"]["user"]["email"], "access_count": 9}}))
    data = other.profile("private", "home", "--yes", "--json").data
    assert (data["differing"], data["moved"]) == ([], ["user.email"])


def test_leaving_home_copies_the_entries_and_leaves_them_for_other_projects(here: Profile, other: Profile) -> None:
    here.profile("private", "home", "--yes")
    other.profile("private", "home", "--yes")
    home = here.home.read_bytes()
    run = here.profile("private", "shared")
    assert f"leave in your home for other projects: {', '.join(PERSONAL)}\n" in run.out
    run = here.profile("private", "shared", "--yes")
    assert run.code == 0
    assert here.data == SAMPLE
    assert here.home.read_bytes() == home
    assert not (here.local / "private.json").exists()
    assert len(other.profile("recall", "user", "--json").data["results"]) == 3
    here.remember("user.email", "mine@example.com")
    assert other.profile("recall", "user", "email", "--json").data["results"][0]["value"] == "tess@example.com"


def test_from_here_to_home_and_from_home_to_here(here: Profile) -> None:
    here.profile("private", "here", "--yes")
    data = here.profile("private", "home", "--yes", "--json").data
    assert (data["before"], data["after"], data["moved"]) == ("here", "home", PERSONAL)
    assert not here.twin.exists()
    assert here.home.read_bytes() == pretty(_personal())
    data = here.profile("private", "here", "--yes", "--json").data
    assert (data["before"], data["after"], data["copied"]) == ("home", "here", PERSONAL)
    assert here.twin.read_bytes() == pretty(_personal())
    assert here.file.read_bytes() == pretty(_shared())


def _homeless(here: Profile) -> Profile:
    return Profile(here.root, {name: value for name, value in here.env.items() if name not in ("HOME", "MEMORY_HOME")})


def test_without_a_home_nothing_can_be_kept_there(here: Profile) -> None:
    for more in ([], ["--yes"]):
        run = _homeless(here).profile("private", "home", *more, "--json")
        assert run.code == 1
        assert "MEMORY_HOME" in run.error["hint"]
    assert here.data == SAMPLE


def test_while_the_home_is_away_nothing_personal_lands_in_the_shared_document(here: Profile) -> None:
    here.profile("private", "home", "--yes")
    homeless = _homeless(here)
    run = homeless.profile("recall", "tools", "--json")
    assert (run.code, run.warnings) == (0, ["ProfileHomeMissing"])
    homeless.profile("remember", "user", "city", "Cádiz")
    assert here.data["memories"]["user"] == {}
    assert here.profile("private", "--json").data["private"] == "home"


@pytest.mark.parametrize("raw", [b"", b"{", b'{"version": 1, "place": 7}', b'{"version": 1, "place": "moon"}'])
def test_a_setting_that_cannot_be_read_shares_nothing_by_mistake(here: Profile, raw: bytes) -> None:
    """Somebody decided that this is not to be shared; half a file does not undo that."""
    here.profile("private", "home", "--yes")
    (here.local / "private.json").write_bytes(raw)
    run = here.profile("remember", "user", "city", "Cádiz", "--json")
    assert here.data["memories"]["user"] == {}
    assert run.code != 0 or run.warnings
    assert here.profile("recall", "tools", "--json").warnings


def test_a_profile_that_is_private_from_the_start(environment: dict[str, str], tmp_path: Path) -> None:
    bare = profile_in(tmp_path / "bare", environment)
    assert bare.profile("private", "here", "--yes").code == 0
    bare.remember("user.timezone", "Europe/Madrid")
    assert not bare.file.exists()
    assert "Europe/Madrid" in bare.profile("about-me").out
    bare.remember("tools.editor", "vim")
    assert _seen_by_git(bare) == [".ai-state/memory.json", ".gitignore"]
    assert b"Madrid" not in bare.file.read_bytes()


def test_an_entry_in_both_is_told_and_the_private_one_counts(here: Profile) -> None:
    here.profile("private", "here", "--yes")
    here.hold(SAMPLE)
    here.remember("user.email", "mine@example.com")
    assert here.stored("user.email", here.twin)["value"] == "mine@example.com"
    assert here.stored("user.email") == SAMPLE["memories"]["user"]["email"]
    assert here.profile("recall", "user", "email", "--json").data["results"][0]["value"] == "mine@example.com"
    data = here.profile("--json").data
    assert sorted(data["shadowed"]) == sorted(PERSONAL)
    assert data["categories"]["user"] == 3
    assert "In both documents (the private one counts): " in here.profile().out
    codes = [item["code"] for item in here("check", "--json").data["warnings"]]
    assert codes.count("ProfileEntryShadowed") == 4


def test_forgetting_an_entry_in_both_loses_neither(here: Profile) -> None:
    here.profile("private", "here", "--yes")
    here.hold(SAMPLE)
    here.remember("user.email", "mine@example.com")
    assert here.profile("forget", "user", "email").code == 0
    assert here.profile("recall", "user", "email").code == 1
    kept = (here.root / ".ai-state/memory.backup.json").read_bytes() + (here.local / "forgotten.jsonl").read_bytes()
    assert b"mine@example.com" in kept
    assert b"tess@example.com" in kept


def test_what_is_no_entry_is_not_lost_on_the_way_back(here: Profile) -> None:
    """The twin would go; a backup that the next move overwrites is not enough."""
    here.profile("private", "here", "--yes")
    document = json.loads(here.twin.read_bytes())
    document["memories"]["user"]["odd"] = "written by hand"
    document["note"] = {"from": "another program"}
    here.twin.write_bytes(pretty(document))
    before = _bytes(here)
    for place in ("shared", "home"):
        for more in ([], ["--yes"]):
            run = here.profile("private", place, *more, "--json")
            assert (run.code, run.error["code"]) == (3, "MemoryAlreadyInitializedInvalid")
            assert run.error["details"] == {"path": ".ai-state/local/memory.json", "left": ["user.odd", "note"]}
            assert "user.odd, note" in run.error["message"]
            assert "Nothing was changed" in run.error["hint"]
    assert _bytes(here) == before
    assert here.profile("private", "here", "--yes").out == "They are already there; nothing to move.\n"
    # Once it is taken out, the way is free.
    here.twin.write_bytes(pretty(_personal()))
    assert here.profile("private", "shared", "--yes").code == 0
    assert here.data == SAMPLE


def test_what_stands_in_the_place_of_a_category_is_not_lost_either(here: Profile) -> None:
    here.profile("private", "here", "--yes")
    here.twin.write_bytes(pretty({**_personal(), "memories": {"user": {}, "tools": ["a list"]}}))
    run = here.profile("private", "shared", "--yes", "--json")
    assert (run.code, run.error["details"]["left"]) == (3, ["tools"])
    assert json.loads(here.twin.read_bytes())["memories"]["tools"] == ["a list"]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (["private", "home", "--yes"], 1),
        (["private", "home"], 0),
        (["private", "here"], 0),
        (["private", "shared"], 0),
        (["private", "shared", "--yes"], 0),
    ],
)
def test_what_is_refused_or_changes_nothing_leaves_nothing_behind(
    here: Profile, other: Profile, line: list[str], code: int
) -> None:
    """Not even a lock, in a repository in which nothing was ever written by us; at home, `timezone` is another."""
    here.profile("private", "home", "--yes")
    other.hold(document_of(user={"timezone": entry_of("Europe/Berlin")}))
    before = snapshot(other.root)
    assert other.profile(*line).code == code
    assert {path: state[2] for path, state in snapshot(other.root).items()} == {
        path: state[2] for path, state in before.items()
    }


def test_an_older_document_at_home_is_brought_up_to_date_first(here: Profile) -> None:
    here.home.parent.mkdir(parents=True)
    older = {"schema_version": "1.1", "session_count": 0, "memories": {"user": {"city": {"value": "Cádiz"}}}}
    here.home.write_bytes(pretty(older))
    assert here.profile("private", "home", "--yes").code == 0
    assert here.profile("recall", "user", "city", "--json").data["results"][0]["value"] == "Cádiz"
    assert here.profile("recall", "user", "email").code == 0


# -- taking it elsewhere ----------------------------------------------------------------------


def test_an_export_has_everything_unless_told_otherwise(here: Profile) -> None:
    here.profile("private", "here", "--yes")
    whole = json.loads(here.profile("export", "--format", "json").out)
    assert whole == SAMPLE
    assert here.profile("export", "--format", "json", "--no-private").out.encode() == here.file.read_bytes()
    assert "tess@example.com" in here.profile("export").out
    public = here.profile("export", "--no-private").out
    assert not any(secret.decode() in public for secret in SECRETS)
    data = here.profile("export", "--format", "json", "--json").data
    assert (data["format"], data["entries"], data["private_entries"]) == ("json", 11, 4)
    data = here.profile("export", "--format", "json", "--no-private", "--json").data
    assert (data["entries"], data["private_entries"]) == (7, 0)
    assert here.file.read_bytes() == pretty(_shared())


def test_a_move_keeps_readings_that_wait(here: Profile) -> None:
    here.profile("recall", "user", "email")
    here.profile("private", "here", "--yes")
    here.profile("recall", "user", "email")
    here.profile("session-start")
    assert here.stored("user.email", here.twin)["access_count"] == 2
    assert here.stored("user.email", here.twin)["last_accessed"] == NOW


@proves("P8.4", "G8", over="profile")
def test_a_clone_has_what_is_shared_and_nothing_else(here: Profile, tmp_path: Path) -> None:
    here.profile("private", "here", "--yes")
    here.commit()
    here.git("clone", "--quiet", str(here.root), str(tmp_path / "clone"))
    clone = Profile(tmp_path / "clone", here.env)
    assert clone.profile("recall", "user", "--json").data["results"] == []
    assert clone.profile("recall", "tools", "clipboard").code == 0
    clone.remember("user.email", "clone@example.com")
    assert clone.stored("user.email")["value"] == "clone@example.com"
