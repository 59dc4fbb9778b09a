"""Git is asked without running a program that a repository names; its answers survive odd names and odd states."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from promised import proves
from quire.files.digests import blob_id
from quire.files.git import GREP, Git
from quire.model.errors import GitRequired
from quire.surfaces.cli.main import COMMANDS

ODD_NAMES = [
    b"with space.md",
    b"new\nline.md",
    b"tab\there.md",
    b"non-utf8-\xff\xfe.md",
    b"arrow -> here.md",
    b"-rf.md",
    b'quote".md',
    b":(glob)star.md",
    b"star*.md",
    "größe-💾.md".encode(),
    b"back\\slash.md",
]


@pytest.fixture
def ours(repo: Path, environment: dict[str, str]) -> Git:
    return Git(str(repo), environment)


def write(repo: Path, name: bytes | str, data: bytes = b"text\n") -> str:
    """A file of the repository; its name as our answers spell it."""
    path = os.path.join(os.fsencode(repo), os.fsencode(name))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    return os.fsdecode(name)


def test_before_the_first_commit_there_is_a_branch_and_no_head(ours: Git, repo: Path) -> None:
    name = write(repo, "a.md")
    assert ours.available
    assert ours.head() is None
    assert ours.branch() == "main"
    assert ours.committed(["."]) == {}
    assert ours.untracked(["."]) == [name]
    assert ours.files() == [name]


def test_head_and_branch_are_those_of_the_repository(ours: Git, git: Any) -> None:
    commit = git.commit()
    assert (ours.head(), ours.branch()) == (commit, "main")
    git("checkout", "--quiet", "--detach")
    assert (ours.head(), ours.branch()) == (commit, None)


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_names_come_back_as_they_are(ours: Git, git: Any, repo: Path, name: bytes) -> None:
    shown = write(repo, b".memory/" + name)
    assert ours.untracked([".memory"]) == [shown]
    assert ours.untracked([shown]) == [shown]
    git("add", "--all")
    assert list(ours.staged([shown])) == [shown]
    git.commit()
    found = ours.committed([shown])
    assert list(found) == [shown]
    assert ours.blob(found[shown].id) == b"text\n"
    assert ours.files() == [shown]
    assert found[shown].id == blob_id(b"text\n", found[shown].id)


def test_a_path_is_a_path_and_never_a_pattern_or_an_option(ours: Git, git: Any, repo: Path) -> None:
    write(repo, "a.md")
    write(repo, "b.md")
    git.commit()
    assert ours.committed(["*.md"]) == {}
    assert ours.staged([":(glob)*.md"]) == {}
    assert ours.staged(["--others"]) == {}


def test_staged_committed_and_deleted_are_told_apart(ours: Git, git: Any, repo: Path) -> None:
    for name in ("kept", "edited", "gone"):
        write(repo, name)
    git.commit()
    write(repo, "edited", b"new\n")
    git("add", "edited")
    (repo / "gone").unlink()
    assert set(ours.committed(["."])) == {"kept", "edited", "gone"}
    assert ours.staged(["."])["edited"].id == blob_id(b"new\n", "0" * 40)
    assert ours.committed(["."])["edited"].id == blob_id(b"text\n", "0" * 40)
    assert ours.files() == ["edited", "kept"]


def test_ignored_files_are_neither_untracked_nor_listed(ours: Git, repo: Path) -> None:
    write(repo, ".gitignore", b"*.log\n")
    write(repo, "x.log")
    write(repo, "x.md")
    assert ours.files() == [".gitignore", "x.md"]


def test_files_that_a_merge_left_in_conflict_are_named(ours: Git, git: Any, repo: Path) -> None:
    write(repo, "a.md", b"base\n")
    git.commit()
    git("checkout", "--quiet", "-b", "side")
    write(repo, "a.md", b"side\n")
    git.commit()
    git("checkout", "--quiet", "main")
    write(repo, "a.md", b"main\n")
    git.commit()
    subprocess.run(["git", "merge", "side"], cwd=repo, env=git.env, capture_output=True, check=False)
    assert ours.unmerged(["."]) == ["a.md"]
    assert ours.staged(["."]) == {}


def test_digests_are_those_of_git_for_both_kinds_of_repository(
    tmp_path: Path, environment: dict[str, str], git: Any
) -> None:
    for kind in ("sha1", "sha256"):
        folder = tmp_path / kind
        git("init", "--quiet", f"--object-format={kind}", folder)
        data = os.urandom(1000)
        expected = git("hash-object", "-w", "--stdin", cwd=folder, stdin=data).strip()
        assert blob_id(data, expected) == expected
        assert Git(str(folder), environment).blob(expected) == data


def test_replaced_objects_are_not_believed(ours: Git, git: Any, repo: Path) -> None:
    write(repo, "a.md", b"true\n")
    git.commit()
    true = ours.committed(["a.md"])["a.md"].id
    false = git("hash-object", "-w", "--stdin", stdin=b"false\n").strip()
    git("replace", true, false)
    assert ours.blob(true) == b"true\n"


@proves("P1.5", "C11")
def test_a_linked_worktree_a_submodule_and_a_separate_git_folder_answer_for_themselves(
    repo: Path, tmp_path: Path, environment: dict[str, str], git: Any
) -> None:
    write(repo, "a.md")
    git.commit()
    git("worktree", "add", "--quiet", "-b", "side", tmp_path / "linked")
    git("init", "--quiet", "--separate-git-dir", tmp_path / "elsewhere.git", tmp_path / "separate")
    git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", repo, "vendor/part")
    for folder, branch in (
        (tmp_path / "linked", "side"),
        (tmp_path / "separate", "main"),
        (repo / "vendor" / "part", "main"),
    ):
        found = Git(str(folder), environment)
        assert found.available
        assert found.branch() == branch
        write(folder, "own.md")
        assert found.untracked(["own.md"]) == ["own.md"]


def test_a_shallow_clone_knows_its_head(repo: Path, tmp_path: Path, environment: dict[str, str], git: Any) -> None:
    write(repo, "a.md")
    git.commit()
    commit = git.commit("second")
    git("clone", "--quiet", "--depth", "1", f"file://{repo}", tmp_path / "shallow")
    found = Git(str(tmp_path / "shallow"), environment)
    assert found.head() == commit
    assert list(found.committed(["."])) == ["a.md"]


@pytest.mark.parametrize(
    ("content", "kind"),
    [("gitdir: /nowhere/at/all\n", "file"), ("", "file"), ("garbage", "file"), ("", "folder"), ("HEAD", "half")],
)
def test_a_broken_repository_says_so_and_is_not_mistaken_for_the_one_around_it(
    repo: Path, environment: dict[str, str], git: Any, content: str, kind: str
) -> None:
    write(repo, "outer.md")
    git.commit()
    inner = repo / "inner"
    inner.mkdir()
    if kind == "file":
        (inner / ".git").write_text(content, encoding="utf-8")
    else:
        (inner / ".git").mkdir()
        if content:
            (inner / ".git" / content).write_text("ref: refs/heads/main\n", encoding="utf-8")
    found = Git(str(inner), environment)
    assert found.head() is None
    with pytest.raises(GitRequired) as raised:
        found.staged(["."])
    assert raised.value.hint


@proves("P1.5", "C8")
def test_without_a_repository_every_question_says_what_to_do(tmp_path: Path, environment: dict[str, str]) -> None:
    found = Git(str(tmp_path), environment)
    assert not found.available
    with pytest.raises(GitRequired) as raised:
        found.files()
    assert "git init" in (raised.value.hint or "")


@proves("P7.3", "F5")
@proves("P7.3", "C8")
@pytest.mark.parametrize("search", ["", "/nowhere", ".", "bin", ":"])
def test_only_a_git_on_an_absolute_path_is_found(
    repo: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, search: str
) -> None:
    for folder in (repo, repo / "bin"):
        folder.mkdir(exist_ok=True)
        (folder / "git").write_text("#!/bin/sh\ntouch canary\n", encoding="utf-8")
        (folder / "git").chmod(0o755)
    monkeypatch.chdir(repo)
    found = Git(str(repo), {**environment, "PATH": search})
    assert not found.available
    with pytest.raises(GitRequired, match="not found"):
        found.head()
    assert not (repo / "canary").exists()


@proves("P7.3", "F7")
def test_the_environment_cannot_turn_git_to_another_repository(
    repo: Path, tmp_path: Path, environment: dict[str, str], git: Any
) -> None:
    write(repo, "mine.md")
    commit = git.commit()
    git("init", "--quiet", tmp_path / "other")
    hostile = {
        "GIT_DIR": str(tmp_path / "other" / ".git"),
        "GIT_WORK_TREE": str(tmp_path / "other"),
        "GIT_INDEX_FILE": str(tmp_path / "no-index"),
        "GIT_OBJECT_DIRECTORY": str(tmp_path / "no-objects"),
        "GIT_EXTERNAL_DIFF": "touch canary",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.fsmonitor",
        "GIT_CONFIG_VALUE_0": "touch canary",
        "GIT_SSH_COMMAND": "touch canary",
        "GIT_PAGER": "touch canary",
    }
    found = Git(str(repo), {**environment, **hostile})
    assert found.head() == commit
    assert list(found.staged(["."])) == ["mine.md"]
    assert not (repo / "canary").exists()


@proves("P7.2")
def test_a_worktree_setting_that_leads_elsewhere_is_not_followed(
    ours: Git, repo: Path, tmp_path: Path, git: Any
) -> None:
    write(repo, "mine.md")
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "diary.md").write_text("secret", encoding="utf-8")
    git("config", "core.worktree", tmp_path / "private")
    assert ours.files() == ["mine.md"]
    assert ours.untracked(["."]) == ["mine.md"]


@proves("P7.1", "F4")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a repository to somebody else")
def test_a_repository_of_another_user_is_not_read_and_stops_no_save(memory: Any, repo: Path, git: Any) -> None:
    memory.init()
    git.commit()
    for folder, folders, files in os.walk(repo):
        for name in [".", *folders, *files]:
            os.chown(os.path.join(folder, name), 12345, 12345)
    memory.save({"kind": "feature", "title": "A", "body": "B."})
    assert memory("status", "--json").data["git"]["commit"] is None
    run = memory("diff", "--json")
    assert run.code == 3
    assert "dubious ownership" in run.error["message"]


@proves("P7.1", "F1")
@pytest.mark.parametrize("command", ["status", "diff", "add", "log", "commit", "config", "-c", ""])
def test_a_command_that_is_not_on_the_list_is_never_run(ours: Git, command: str) -> None:
    with pytest.raises(ValueError, match="not on the list"):
        ours.run(command)


@proves("P7.1", "F1")
@pytest.mark.parametrize("words", [("-Oless",), ("-nOless",), ("--open-files-in-pager=x",), ("-w", "-e"), ("a", "-O")])
def test_a_search_takes_the_listed_options_alone(ours: Git, words: tuple[str, ...]) -> None:
    assert ours.run("grep", *GREP, "-w", "-F", "-e", "-Oless", allow=(0, 1)) == b""
    with pytest.raises(ValueError, match="not on the list"):
        ours.run("grep", *GREP, *words)


class Trap:
    """A repository in which every setting that names a program names one that leaves a sign."""

    def __init__(self, repo: Path, git: Any) -> None:
        self.repo = repo
        self.git = git
        self.folder = repo.parent / "signs"
        self.folder.mkdir()

    @property
    def signs(self) -> list[str]:
        return sorted(os.listdir(self.folder))

    def arm(self) -> None:
        program = self.repo.parent / "evil.sh"
        script(program, f'touch "{self.folder}/$1-$$"; cat')
        hooks = self.repo.parent / "hooks"
        for name in ("post-index-change", "fsmonitor-watchman", "pre-commit", "reference-transaction"):
            script(hooks / name, f'touch "{self.folder}/hook-{name}"')
            script(self.repo / ".git" / "hooks" / name, f'touch "{self.folder}/own-hook-{name}"')
        programs = {name: f"{program} {name.rpartition('.')[2]}" for name in PROGRAM_SETTINGS}
        aliases = {f"alias.{name}": f"!{program} alias" for name in ("ls-files", "ls-tree", "rev-parse", "cat-file")}
        pagers = {f"pager.{name}": f"{program} pager" for name in ("ls-files", "ls-tree", "rev-parse", "cat-file")}
        remote = {"remote.origin.url": str(self.repo), "core.hooksPath": str(hooks)}
        for name, value in {**programs, **aliases, **pagers, **remote, **SWITCHES}.items():
            self.git("config", name, value)


PROGRAM_SETTINGS = [
    "core.fsmonitor",
    "core.pager",
    "core.editor",
    "core.sshCommand",
    "core.askPass",
    "core.gitProxy",
    "core.alternateRefsCommand",
    "credential.helper",
    "diff.external",
    "diff.evil.command",
    "diff.evil.textconv",
    "filter.evil.clean",
    "filter.evil.smudge",
    "filter.evil.process",
    "gpg.program",
    "merge.evil.driver",
    "remote.origin.uploadpack",
    "uploadpack.packObjectsHook",
]
SWITCHES = {
    "core.repositoryFormatVersion": "1",
    "extensions.partialClone": "origin",
    "filter.evil.required": "true",
    "protocol.ext.allow": "always",
    "protocol.file.allow": "always",
    "remote.origin.promisor": "true",
}


def script(path: Path, line: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
    path.chmod(0o755)


@pytest.fixture
def trap(repo: Path, git: Any) -> Trap:
    write(repo, "code.py", b"print(1)\n")
    write(repo, ".gitattributes", b"* filter=evil diff=evil merge=evil\n")
    git.commit()
    return Trap(repo, git)


def test_the_trap_of_these_tests_works(trap: Trap, repo: Path, git: Any) -> None:
    trap.arm()
    (repo / "code.py").write_text("print(2)\n", encoding="utf-8")
    for command in ("status", "diff"):
        subprocess.run(["git", command], cwd=repo, env=git.env, capture_output=True, check=False)
    kinds = {sign.partition("-")[0] for sign in trap.signs}
    assert "fsmonitor" in kinds
    assert kinds & {"external", "clean", "process"}


@proves("P7.1", "F1", "F2")
def test_no_question_runs_a_program_that_the_repository_names(trap: Trap, ours: Git, repo: Path) -> None:
    trap.arm()
    (repo / "code.py").write_text("print(2)\n", encoding="utf-8")
    write(repo, "untracked.md")
    assert ours.head()
    assert ours.branch() == "main"
    assert ours.files()
    assert ours.untracked(["."])
    assert ours.unmerged(["."]) == []
    snapshot = ours.snapshot()
    assert snapshot.touched is not None
    assert snapshot.touched["code.py"] == "M"
    for found in (ours.committed(["."]), ours.staged(["."])):
        assert ours.blob(found["code.py"].id) == b"print(1)\n"
    assert trap.signs == []


@proves("P7.1", "F1")
def test_an_object_that_is_missing_is_not_fetched(
    trap: Trap, ours: Git, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = ours.committed(["code.py"])["code.py"].id
    (repo / ".git" / "objects" / lost[:2] / lost[2:]).unlink()
    trap.arm()
    with pytest.raises(GitRequired):
        ours.blob(lost)
    # Git before 2.45 does not know the switch against fetching; the one against protocols must do.
    clean = ours._clean_environment()
    monkeypatch.setattr(ours, "_clean_environment", lambda: {**clean, "GIT_NO_LAZY_FETCH": "0"})
    with pytest.raises(GitRequired):
        ours.blob(lost)
    assert trap.signs == []


@pytest.mark.proof
@proves("P7.1", "F1", "F2")
def test_no_memory_command_runs_a_program_that_the_repository_names(
    trap: Trap, memory: Any, repo: Path, git: Any
) -> None:
    memory.init()
    memory.save({"kind": "feature", "title": "Retry queue", "body": "Sends again.", "anchors": ["*.py", "gone/**"]})
    git.commit()
    for name in ("json", "click", "msgspec", "sitecustomize", "usercustomize", "quire"):
        write(repo, f"{name}.py", f"open({str(trap.folder / ('import-' + name))!r}, 'w')\n".encode())
    trap.arm()
    (repo / "code.py").write_text("print(2)\n", encoding="utf-8")
    memory.save({"id": "feature.retry-queue", "body": "Sends again, with growing pauses."})
    (repo / ".memory" / "memory" / "retry-queue.md").write_text("Edited by hand.", encoding="utf-8")
    memory.save({"id": "feature.retry-queue", "body": "Saved over a hand edit."})
    for line in EVERY_COMMAND:
        assert memory(*line).code in (0, 1, 3), line
        assert trap.signs == [], line


EVERY_COMMAND = [
    ["init"],
    ["init", "--dry-run"],
    ["init", "--brief"],
    ["inspect", "feature.retry-queue"],
    ["inspect", "feature.nothing"],
    ["status"],
    ["status", "--all"],
    ["query", "retry queue"],
    ["sync", "--dry-run"],
    ["sync"],
    ["confirm", "feature.retry-queue"],
    ["brief"],
    ["add", "gotcha", "Clocks drift"],
    ["list", "--verdict", "fresh"],
    ["brief", "--diff", "HEAD"],
    ["brief", "--branch"],
    ["review", "--staged"],
    ["merge", "HEAD"],
    ["resolve"],
    ["why", "code.py:1"],
    ["why", "code.py"],
    ["export", "--all"],
    ["rebuild"],
    ["check", "--repair"],
    ["check", "--repair", "--dry-run"],
    ["check", "--repairs"],
    ["check", "--undo"],
    ["facts", "store", "Specs", "A queue has one owner."],
    ["facts", "recall", "who owns the queue?"],
    ["facts", "session", "s1", "--close"],
    ["facts", "ingest"],
    ["facts", "normalize", "--write"],
    ["facts"],
    ["profile", "remember", "tools", "queue", "One owner."],
    ["profile", "recall", "tools", "queue"],
    ["profile", "search", "who owns the queue?"],
    ["profile", "session-start"],
    ["profile", "forget", "tools", "queue"],
    ["profile", "restore", "tools", "queue"],
    ["profile", "private", "here", "--yes"],
    ["profile", "private", "shared", "--yes"],
    ["profile"],
    ["journal", "init"],
    ["journal", "add", "claude-local", "."],
    ["journal", "sync", "--all"],
    ["journal", "update"],
    ["journal", "recall"],
    ["journal", "query", "who owns the queue?"],
    ["journal", "log", "--events"],
    ["journal", "diff", "chk-000001"],
    ["journal", "restore", "chk-000001"],
    ["journal", "validate", "--repair"],
    ["journal", "automate", "run-once"],
    ["journal", "providers"],
    ["journal"],
    ["note", "Look at it."],
    ["notes"],
    ["import"],
    ["import", "--all"],
    ["inbox"],
    ["inbox", "accept", "--all"],
    ["inbox", "collect"],
    ["integrate", "all"],
    ["integrate", "git"],
    ["integrate", "--status"],
    ["merge-driver", "code.py", "code.py", "code.py", "7", "code.py"],
    ["hook", "claude", "session-start"],
    ["hook", "claude", "before-edit"],
    ["receipts"],
    ["integrate", "all", "--remove"],
    ["doctor"],
    ["view", "--stop"],
    ["view", "--export", "../page"],
    ["view", "--export", "../page"],
    ["purge", "--secrets", "--dry-run"],
    ["purge", "--secrets", "--yes"],
    ["check"],
    ["diff"],
    ["diff", "--json"],
    ["fold"],
    ["projects", "list"],
    ["projects", "add"],
    ["projects", "prune"],
    ["docs"],
    ["review"],
    ["review", "--staged"],
    ["merge", "HEAD"],
    ["resolve"],
    ["completion", "bash"],
    ["upgrade"],
    ["reset", "--dry-run"],
    ["reset", "--yes"],
    ["init", "--force"],
]


def test_the_list_above_has_every_command() -> None:
    assert {line[0] for line in EVERY_COMMAND} | {"save"} == set(COMMANDS)
