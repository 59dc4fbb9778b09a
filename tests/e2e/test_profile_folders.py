"""The profile wherever the command is run: without git, below the top, in a linked worktree, on a shut disk."""

from __future__ import annotations

import copy
import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from profile_here import EVERY, NOW, READING, SAMPLE, Profile, document_of, entry_of, profile_in, snapshot

from installed import Memory
from promised import proves


@pytest.fixture
def here(environment: dict[str, str], tmp_path: Path) -> Profile:
    return profile_in(tmp_path / "harbor", environment, SAMPLE)


def _lines() -> list[list[str]]:
    return [["profile", *([verb] if verb else []), *rest] for verb, rest in EVERY.items()]


# -- nothing is written -----------------------------------------------------------------------


def _nothing_there(here: Profile) -> None:
    shutil.rmtree(here.root / ".ai-state")


def _document_alone(here: Profile) -> None:
    """The sample as it is."""


def _used(here: Profile) -> None:
    here.remember("tools.editor", "vim")
    here.profile("forget", "tools", "editor")
    here.profile("recall", "user")


def _committed(here: Profile) -> None:
    _used(here)
    here.commit()


def _with_memory(here: Profile) -> None:
    assert here("init").code == 0
    _used(here)
    here.profile("search", "package manager")


def _private_here(here: Profile) -> None:
    here.profile("private", "here", "--yes")
    _used(here)


def _private_at_home(here: Profile) -> None:
    here.profile("private", "home", "--yes")
    _used(here)


STATES = [_nothing_there, _document_alone, _used, _committed, _with_memory, _private_here, _private_at_home]
DRY = [
    ["profile", "remember", "tools", "shell", "fish", "--tag", "cli", "--tag", "user-preference", "--dry-run"],
    ["profile", "remember", "tools", "shell", "fish", "--supersedes", "tools.clipboard", "--dry-run"],
    ["profile", "remember", "user", "email", "other@example.com", "--dry-run"],
    ["profile", "remember", "tools", "clipboard", "--importance", "9", "--dry-run"],
    ["profile", "remember", "tools", "pm", "uv, never pip", "--dry-run"],
    ["profile", "forget", "user", "email", "--dry-run"],
    ["profile", "restore", "tools", "editor", "--dry-run"],
    ["profile", "restore", "--dry-run"],
    ["profile", "link", "user.email", "tools.clipboard", "supersedes", "--dry-run"],
    ["profile", "unlink", "user.username", "user.email", "--dry-run"],
    ["profile", "reflect", "--apply", "all", "--dry-run"],
    ["profile", "reflect", "--apply", "all", "--only", "tools.clipboard", "--dry-run"],
    ["profile", "reflect", "--dry-run"],
    ["profile", "private", "here"],
    ["profile", "private", "home"],
    ["profile", "private", "shared"],
    ["init", "--with", "profile", "--dry-run"],
]


@pytest.mark.proof(keep=3)
@pytest.mark.parametrize("state", STATES)
def test_a_dry_run_writes_nothing_at_all(
    here: Profile, environment: dict[str, str], state: Callable[[Profile], None]
) -> None:
    state(here)
    home = Path(environment["HOME"])
    for line in DRY:
        before = snapshot(here.root, home, without=(".memory/index",))
        text = here(*line)
        told = here(*line, "--json")
        assert text.code == told.code
        assert text.code in (0, 1), line
        if told.code == 0 and "--dry-run" in line and len(line) > 3:
            assert told.data["dry_run"] is True, line
        after = snapshot(here.root, home, without=(".memory/index",))
        assert {path for path in {*before, *after} if before.get(path) != after.get(path)} == set(), line


OLDER = {
    "schema_version": "1.0",
    "memories": {
        "user": {
            "email": {"value": "tess@example.com", "created_at": NOW, "updated_at": NOW, "tags": [], "confidence": None}
        },
        "tools": {
            "clipboard": {"value": "pbcopy", "created_at": NOW, "updated_at": NOW, "tags": ["cli"], "confidence": None}
        },
    },
}


@pytest.mark.parametrize("line", DRY, ids=" ".join)
def test_a_dry_run_does_not_bring_an_older_document_up_to_date(here: Profile, line: list[str]) -> None:
    """It says that it writes nothing: so the document, its folder and `.gitignore` stay as they are."""
    here.hold(OLDER)
    before = snapshot(here.root)
    assert here(*line).code in (0, 1)
    assert snapshot(here.root) == before


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (["remember", "tools", "clipboard", "pbcopy"], 0),
        (["remember", "tools", "clipboard", "--tag", "cli"], 0),
        (["remember", "tools", "other", "Pbcopy and nothing else."], 1),
        (["remember", "tools", "Odd Key", "vim"], 1),
        (["remember", "tools", "editor"], 1),
        (["forget", "tools", "editor"], 1),
        (["restore", "tools", "editor"], 1),
        (["link", "tools.clipboard", "tools.paste", "related-to"], 0),
        (["link", "tools.clipboard", "tools.clipboard", "related-to"], 1),
        (["unlink", "tools.paste", "tools.clipboard"], 1),
        (["reflect", "--apply", "all"], 0),
        (["reflect", "--apply", "all", "--only", "tools.editor"], 1),
        (["private", "shared"], 0),
        (["private", "here", "--yes", "--prefer", "nobody"], 2),
    ],
)
def test_what_is_refused_or_changes_nothing_writes_nothing(here: Profile, line: list[str], code: int) -> None:
    """Not even a lock, in a repository that has a document of another program and nothing of ours."""
    fields = {"created_at": NOW, "updated_at": NOW, "access_count": 1}
    here.hold(
        document_of(
            assistant={"name": entry_of("Wren", **fields)},
            tools={
                "clipboard": entry_of(
                    "pbcopy", tags=["cli"], links=[{"target": "tools.paste", "relation": "related-to"}], **fields
                ),
                "also": entry_of("pbcopy, and nothing else", **fields),
                "paste": entry_of("pbpaste", **fields),
            },
        )
    )
    before = snapshot(here.root)
    run = here.profile(*line)
    assert run.code == code, run.out + run.err
    assert snapshot(here.root) == before


def test_what_would_be_done_is_what_is_done(here: Profile) -> None:
    """The same words, and the same answer to a program, apart from the word that says so."""
    _used(here)
    for line in DRY:
        if "--dry-run" not in line or line[0] != "profile" or len(line) < 4:
            continue
        root = here.root.parent / "other"
        shutil.rmtree(root, ignore_errors=True)
        shutil.copytree(here.root, root)
        twin = Profile(root, here.env)
        would = here(*line, "--json")
        done = twin(*[word for word in line if word != "--dry-run"], "--json")
        assert would.code == done.code, line
        if would.json["ok"]:
            left, right = dict(would.data), dict(done.data)
            assert (left.pop("dry_run"), right.pop("dry_run")) == (True, False), line
            assert left == right, line


SAID = [
    (["remember", "tools", "shell", "fish"], "Would be remembered: profile:tools.shell", "Remembered: "),
    (["remember", "tools", "clipboard", "wl-copy"], "Would be changed: profile:tools.clipboard", "Changed: "),
    (["remember", "tools", "clipboard", "pbcopy and pbpaste"], "Nothing changed: profile:tools.clipboard", ""),
    (["forget", "user", "email"], "Would forget: profile:user.email (tess@example.com)", "Forgotten: "),
    (["restore", "tools", "editor"], "Would restore: profile:tools.editor", "Restored: "),
    (["link", "user.email", "tools.clipboard", "elaborates"], "Would link: user.email elaborates ", "Linked: "),
    (["link", "user.username", "user.email", "related-to"], "Linked already: user.username related-to ", ""),
    (["unlink", "user.username", "user.email"], "Would unlink: user.username related-to ", "Unlinked: "),
]


@pytest.mark.parametrize(("line", "would", "did"), SAID)
def test_what_would_be_done_is_said_as_that(here: Profile, line: list[str], would: str, did: str) -> None:
    """And of what was done nothing is said that sounds like it, nor the other way round."""
    _used(here)
    said = here.profile(*line, "--dry-run").out
    assert said.startswith(would)
    done = here.profile(*line).out
    assert done.startswith(did)
    if did:
        assert done.partition(": ")[2].splitlines()[0] == said.partition(": ")[2].splitlines()[0]
    else:
        assert done == said


# -- without git ------------------------------------------------------------------------------


@proves("P1.5", "C8")
@pytest.mark.parametrize("path", [None, "/nowhere"], ids=["git is here", "no git"])
def test_everything_works_in_a_folder_without_git(
    environment: dict[str, str], tmp_path: Path, path: str | None
) -> None:
    env = {**environment, "PATH": path} if path else environment
    plain = profile_in(tmp_path / "plain", env, SAMPLE, git=False)
    for line in _lines():
        run = plain(*line)
        assert (run.code, run.err) == (0, ""), line
    for line in (["restore", "user", "timezone"], ["private", "here", "--yes"], ["private", "shared", "--yes"]):
        assert plain.profile(*line).code == 0, line
    assert plain("check").code == 0
    assert plain("query", "package manager").code == 0
    assert not (plain.root / ".gitignore").exists()
    assert not (plain.root / ".git").exists()
    assert not (plain.root / ".memory").exists()
    # The folder ignores itself, should git come later.
    assert (plain.local / ".gitignore").read_text().strip().splitlines()[-1] == "*"


def test_a_folder_below_finds_the_profile_without_git_too(environment: dict[str, str], tmp_path: Path) -> None:
    plain = profile_in(tmp_path / "plain", environment, SAMPLE, git=False)
    below = plain.root / "src/deep"
    below.mkdir(parents=True)
    assert plain.profile("recall", "tools", "clipboard", cwd=below).code == 0
    assert plain.profile("remember", "tools", "editor", "vim", cwd=below).code == 0
    assert [path.parent.parent for path in plain.root.rglob("memory.json")] == [plain.root]
    assert plain.stored("tools.editor")["value"] == "vim"


# -- below the top, beside it, elsewhere ------------------------------------------------------


def test_a_folder_below_the_top_is_the_same_project(here: Profile) -> None:
    below = here.root / "src/deep"
    below.mkdir(parents=True)
    here.profile("remember", "tools", "editor", "vim", cwd=below)
    assert here.stored("tools.editor")["value"] == "vim"
    run = here.profile("recall", "tools", "--json", cwd=below)
    assert run.json["meta"]["project_root"] == str(here.root)
    assert [item["key"] for item in run.data["results"]] == ["clipboard", "package_manager", "editor"]
    assert list(below.iterdir()) == []
    assert here.profile("private", "here", "--yes", cwd=below).code == 0
    assert here.twin.exists()


def test_a_folder_is_named_from_elsewhere(here: Profile, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert here("-C", str(here.root), "profile", "remember", "tools", "editor", "vim", cwd=elsewhere).code == 0
    assert here.stored("tools.editor")["value"] == "vim"
    assert list(elsewhere.iterdir()) == []


def test_a_linked_worktree_has_the_document_of_its_branch(here: Profile, tmp_path: Path) -> None:
    here.remember("tools.editor", "vim")
    here.commit()
    tree = tmp_path / "linked"
    here.git("worktree", "add", "--quiet", "-b", "other", str(tree))
    other = Profile(tree, here.env)
    assert other.stored("tools.editor")["value"] == "vim"
    other.remember("tools.editor", "emacs")
    other.profile("recall", "tools")
    assert other.git("status", "--short", "--untracked-files=all").splitlines() == [" M .ai-state/memory.json"]
    assert here.stored("tools.editor")["value"] == "vim"
    assert here.profile("status", "--json").data["pending_readings"] == 0
    assert here.git("status", "--short") == ""
    other.commit("emacs")
    here.git("merge", "--quiet", "other")
    assert here.profile("recall", "tools", "editor", "--json").data["results"][0]["value"] == "emacs"


def test_a_repository_in_a_repository_has_its_own(here: Profile) -> None:
    inner = profile_in(here.root / "vendor/inner", here.env)
    inner.remember("tools.editor", "emacs")
    assert inner.file.exists()
    assert "editor" not in here.data["memories"]["tools"]


def test_a_path_with_odd_letters(environment: dict[str, str], tmp_path: Path) -> None:
    odd = profile_in(tmp_path / "Käse & 'quotes' $HOME ☕", environment, SAMPLE)
    for line in _lines():
        assert odd(*line).code == 0, line
    odd.profile("private", "home", "--yes")
    assert odd.profile("recall", "user", "email").code == 0


# -- with the rest of the memory, and without -------------------------------------------------


def test_no_verb_makes_the_rest_of_the_memory(here: Profile) -> None:
    for line in _lines():
        assert here(*line).code == 0, line
    for line in (["query", "package manager"], ["check"], ["diff"], ["inspect", "profile:tools.package_manager"]):
        assert here(*line).code == 0, line
    assert not (here.root / ".memory").exists()


def test_with_the_rest_of_the_memory_the_answers_are_the_same(here: Profile) -> None:
    asked = [
        ["profile", "status", "--json"],
        ["profile", "recall", "tools", "--all", "--json"],
        ["profile", "search", "package manager", "--json"],
        ["profile", "connections", "tools", "package_manager", "--json"],
        ["profile", "about-me", "--json"],
        ["profile", "about-us", "--json"],
        ["profile", "index", "--all", "--json"],
        ["profile", "context", "--json"],
        ["profile", "reflect", "--json"],
        ["profile", "export", "--json"],
    ]

    def answers() -> list[Any]:
        found = []
        for line in asked:
            (here.local / "access.jsonl").unlink(missing_ok=True)
            found.append(here(*line).data)
        for item in found[2]["results"]:
            del item["score"], item["scores"]  # how rare a word is depends on all records
        return found

    alone = answers()
    assert here("init").code == 0
    assert answers() == alone
    assert answers() == alone
    here.remember("tools.editor", "vim", "--tag", "cli", "--tag", "user-preference")
    here.profile("forget", "user", "email")
    here.profile("link", "tools.editor", "learnings.flaky_ci", "contradicts")
    kept = answers()
    shutil.rmtree(here.root / ".memory/index")
    assert answers() == kept
    shutil.rmtree(here.root / ".memory")
    assert answers() == kept


def test_what_another_program_wrote_is_seen_at_once(here: Profile) -> None:
    assert here("init").code == 0
    assert here.profile("recall", "tools", "clipboard").code == 0
    document = copy.deepcopy(SAMPLE)
    document["memories"]["tools"] = {"terminal": entry_of("kitty")}
    here.hold(document)
    assert [item["id"] for item in here.profile("recall", "tools", "--json").data["results"]] == ["tools.terminal"]
    here.file.unlink()
    assert here.profile("recall", "tools", "--json").data["results"] == []
    assert here.profile("--json").data["exists"] is False


def test_a_rest_of_the_memory_of_a_newer_program_stops_the_profile_too(here: Profile) -> None:
    assert here("init").code == 0
    config = here.root / ".memory/config.json"
    config.write_text(config.read_text().replace('"version": 5', '"version": 6'))
    before = snapshot(here.root)
    for line in [*_lines(), ["inspect", "profile:tools.clipboard"], ["query", "x"]]:
        run = here(*line, "--json")
        assert (run.code, run.error["code"]) == (3, "MemoryUnsupportedStorageVersion"), line
    assert snapshot(here.root) == before


# -- documents that are not ours to write -----------------------------------------------------


@pytest.mark.parametrize("version", ["1.3", "2.0"])
def test_a_newer_document_is_read_and_never_written(here: Profile, version: str) -> None:
    here.hold({**SAMPLE, "schema_version": version})
    before = snapshot(here.root)
    for verb in READING:
        run = here.profile(*([verb] if verb else []), *EVERY[verb], "--json")
        assert run.code == 0, verb
    for verb in ("recall", "search", "index", "about-me", ""):
        run = here.profile(*([verb] if verb else []), *EVERY[verb], "--json")
        assert run.warnings == ["ProfileReadOnly"], verb
    started = here.profile("session-start", "--json")
    assert (started.code, started.data["counted"], started.data["session_count"]) == (0, False, 12)
    for line in (
        ["remember", "tools", "editor", "vim"],
        ["remember", "tools", "clipboard", "--importance", "1"],
        ["forget", "tools", "clipboard"],
        ["link", "tools.clipboard", "user.email", "elaborates"],
        ["unlink", "user.username", "user.email"],
        ["reflect", "--apply", "all"],
        ["private", "here", "--yes"],
        ["private", "here"],
        ["remember", "tools", "editor", "vim", "--dry-run"],
    ):
        run = here.profile(*line, "--json")
        assert run.code == 3, line
        assert version in run.error["message"]
        assert run.error["hint"]
    after = snapshot(here.root)
    assert after[str(here.file)] == before[str(here.file)]
    assert {path for path in after if path not in before} == set()


DAMAGED = {
    "nothing": b"",
    "half": b'{"schema_version": "1.2", "memories": {"user": {"x": {"val',
    "a list": b"[]",
    "conflict": b'{\n<<<<<<< HEAD\n"schema_version": "1.2",\n=======\n>>>>>>> other\n"memories": {}}',
    "no memories": b'{"schema_version": "1.2"}',
    "no version": b'{"memories": {}}',
    "a number": b'{"schema_version": 1.2, "memories": {}}',
    "unknown": b'{"schema_version": "9.9", "memories": {}}',
    "no text": b'{"schema_version": "1.2", "memories": {"user": {"x": {"value": "\xff"}}}}',
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_document_that_cannot_be_used_is_named_and_left_alone(here: Profile, name: str) -> None:
    here.hold(DAMAGED[name])
    before = snapshot(here.root)
    for line in _lines():
        if line == ["profile", "restore"]:
            continue
        run = here(*line, "--json")
        assert run.code == 3, line
        assert ".ai-state/memory.json" in run.error["message"], line
        assert run.error["hint"], line
    after = snapshot(here.root)
    assert {path for path in after if path not in before} == set()
    assert after[str(here.file)] == before[str(here.file)]
    run = here("check", "--json")
    assert run.code == 1
    assert [item["path"] for item in run.data["errors"]] == [".ai-state/memory.json"]


def test_an_older_document_is_brought_up_by_the_first_reading(here: Profile) -> None:
    raw = json.dumps(OLDER).encode()
    here.hold(raw)
    assert here.profile("recall", "tools", "clipboard").code == 0
    folder = here.file.parent
    assert (folder / "memory.pre-migration-1.0.json").read_bytes() == raw
    assert json.loads((folder / "memory.pre-migration-1.1.json").read_bytes())["schema_version"] == "1.1"
    data = here.data
    assert (data["schema_version"], data["session_count"]) == ("1.2", 0)
    assert here.stored("tools.clipboard") == entry_of("pbcopy", created_at=NOW, updated_at=NOW, tags=["cli"])
    assert here.profile("status", "--json").data["backups"] == [
        ".ai-state/memory.pre-migration-1.0.json",
        ".ai-state/memory.pre-migration-1.1.json",
    ]
    assert here.git("status", "--short", "--untracked-files=all").splitlines() == [
        "?? .ai-state/memory.json",
        "?? .gitignore",
    ]


def test_looking_across_layers_leaves_an_older_document_as_it_is(here: Profile) -> None:
    assert here("init").code == 0
    here.hold(OLDER)
    before = snapshot(here.root / ".ai-state")
    for line in (["query", "clipboard"], ["status"], ["check"], ["diff"], ["rebuild"]):
        assert here(*line).code == 0, line
    assert snapshot(here.root / ".ai-state") == before


# -- a disk that cannot be written to ---------------------------------------------------------


@pytest.mark.proof
@proves("P1.3", "C2", over="profile")
def test_a_disk_that_is_read_only(here: Profile) -> None:
    """Reading goes on, of older documents too; writing is refused with the reason; nothing crashes."""
    mount = f"mount --bind {here.root} {here.root} && mount -o remount,ro,bind {here.root} && cd {here.root}"
    probe = subprocess.run(["unshare", "-m", "sh", "-c", mount], capture_output=True, check=False)
    if probe.returncode:
        pytest.skip("mounts of one's own are not permitted here (unshare -m)")
    here.remember("tools.editor", "vim")
    here.profile("forget", "tools", "editor")
    inside = Memory(Path("/"), here.env, ["unshare", "-m", "sh", "-c", f'{mount} && exec "$@"', "sh"])
    for verb in READING:
        run = inside("profile", *([verb] if verb else []), *EVERY[verb])
        assert (run.code, run.err) == (0, ""), verb
    for line in DRY:
        if line[0] == "profile" and line[3:5] != ["pm", "uv, never pip"]:
            assert inside(*line).code == 0, line
    for line in (
        ["remember", "tools", "shell", "fish"],
        ["forget", "tools", "clipboard"],
        ["restore", "tools", "editor"],
        ["link", "tools.clipboard", "user.email", "elaborates"],
        ["unlink", "user.username", "user.email"],
        ["private", "here", "--yes"],
        ["session-start"],
    ):
        run = inside("profile", *line, "--json")
        assert run.code == 1, line
        assert "read-only" in run.error["message"], line
    for line in (["query", "package manager"], ["check"], ["inspect", "profile:tools.clipboard"]):
        assert inside(*line).code == 0, line
    here.hold(OLDER)
    before = snapshot(here.root)
    run = inside("profile", "recall", "tools", "clipboard", "--json")
    assert (run.code, run.data["results"][0]["value"]) == (0, "pbcopy")
    assert snapshot(here.root) == before


def test_a_first_session_without_a_document_on_a_full_house(here: Profile) -> None:
    """A folder where the document should be is in the way, and is named."""
    here.file.unlink()
    here.file.mkdir()
    for line in _lines():
        if line == ["profile", "restore"]:
            continue
        run = here(*line, "--json")
        assert run.code == 3, line
        assert ".ai-state/memory.json" in run.error["message"], line
    assert here.file.is_dir()
    here.file.rmdir()
    here.hold(document_of())
    assert here.profile("session-start").code == 0
