"""`memory init` through the installed command."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from promised import proves

LAYOUT = [
    ".memory/.gitattributes",
    ".memory/config.json",
    ".memory/events.jsonl",
    ".memory/memory/harbor.json",
    ".memory/memory/harbor.md",
    *(f".memory/schema/{name}.schema.json" for name in ("config", "event", "object", "patch", "relation")),
]


def test_it_creates_the_storage_the_ignore_lines_and_the_sections(repo: Path, memory: Any, tree: Any) -> None:
    data = memory("init", "--json").data
    assert data["created"] is True
    assert sorted(data["files_created"]) == LAYOUT
    assert sorted(tree(repo)) == sorted([*LAYOUT, ".gitignore", "AGENTS.md"])
    assert json.loads((repo / ".memory/config.json").read_text()) == {
        "version": 5,
        "project": {"id": "project.harbor", "name": "harbor"},
        "memory": {"defaultTokenBudget": 2000, "autoIndex": True},
    }
    assert (repo / ".gitignore").read_text().split() == [
        ".memory/index/",
        ".memory/local/",
        ".memory/recovery/",
        ".memory/.backup/",
        ".memory/.lock",
    ]
    agents = (repo / "AGENTS.md").read_text()
    assert agents.index("memory:start") < agents.index("memory:end") < agents.index("memory:map:start")
    assert memory("check").code == 0


def test_it_works_before_the_first_commit_and_leaves_nothing_untracked_that_is_generated(
    repo: Path, memory: Any, git: Any
) -> None:
    memory.init()
    untracked = git("ls-files", "--others", "--exclude-standard", "--directory").split()
    assert untracked == [".gitignore", ".memory/", "AGENTS.md"]
    git.commit()
    memory("status")
    memory.save({"kind": "gotcha", "title": "Trap", "body": "x"})
    assert git("status", "--porcelain", "--ignored").count("!! .memory/index/") == 1


def test_a_second_time_changes_nothing(repo: Path, memory: Any, tree: Any) -> None:
    memory.init()
    before = tree(repo)
    run = memory("init", "--json")
    assert run.code == 0
    assert run.data["created"] is False
    assert tree(repo) == before


@proves("P1.5", "C8")
def test_it_works_without_git_and_is_found_from_a_nested_folder(tmp_path: Path, memory: Any) -> None:
    folder = tmp_path / "field notes (2)"
    (folder / "deep/er").mkdir(parents=True)
    run = memory("init", "--json", cwd=folder)
    assert run.data["git_available"] is False
    assert not (folder / ".gitignore").exists()
    assert run.data["project"] == {"id": "project.field-notes-2", "name": "field notes (2)"}
    nested = memory(
        "save",
        "--stdin",
        "--json",
        cwd=folder / "deep/er",
        stdin={"task": "t", "nodes": [{"kind": "gotcha", "title": "T", "body": "b"}]},
    )
    assert nested.code == 0
    assert (folder / ".memory/memory/t.json").exists()
    assert memory("diff", cwd=folder).code == 3


@proves("P1.5", "C11")
def test_a_linked_worktree_has_its_own_memory(repo: Path, memory: Any, git: Any, tmp_path: Path) -> None:
    git.commit()
    git("worktree", "add", "-q", str(tmp_path / "other"), "-b", "other")
    memory.init(cwd=tmp_path / "other")
    assert (tmp_path / "other/.memory/config.json").exists()
    assert not (repo / ".memory").exists()


def test_a_nested_folder_belongs_to_the_top_of_the_repository(repo: Path, memory: Any) -> None:
    (repo / "a/b").mkdir(parents=True)
    memory.init(cwd=repo / "a/b")
    assert (repo / ".memory/config.json").exists()
    assert memory("-C", str(repo / "a"), "status", cwd=repo.parent).code == 0


@pytest.mark.parametrize("name", ["Café Lumière", "東京", "A  b"])
def test_the_name_can_be_given(repo: Path, memory: Any, name: str) -> None:
    data = memory("init", "--name", name, "--json").data
    assert data["project"]["name"] == name
    assert memory("inspect", data["project"]["id"]).code == 0
    assert memory("init", "--name", "Another", "--json").error["code"] == "MemoryValidationFailed"


def test_a_dry_run_says_the_same_and_writes_nothing(repo: Path, memory: Any, tree: Any) -> None:
    planned = memory("init", "--dry-run", "--json").data
    assert tree(repo, generated=False) == {}
    done = memory("init", "--json").data
    for name in ("files_created", "gitignore_updated", "guidance", "project", "created"):
        assert planned[name] == done[name]


def test_the_brief_needs_no_memory_and_its_example_can_be_saved(repo: Path, memory: Any, tree: Any) -> None:
    text = memory("init", "--brief").out
    assert tree(repo) == {}
    assert memory("init", "--brief", "--json").data["brief"].strip() == text.strip()
    memory.init()
    example = text.partition("<<'JSON'\n")[2].partition("\n   JSON")[0]
    assert memory("save", "--stdin", stdin=example).code == 0
    assert memory("check").code == 0


def test_guidance_goes_where_the_agents_look(repo: Path, memory: Any) -> None:
    (repo / ".claude").mkdir()
    statuses = {item["path"]: item["status"] for item in memory("init", "--json").data["guidance"]}
    assert statuses == {"AGENTS.md": "created", "CLAUDE.md": "created"}


def test_a_claude_file_that_includes_the_other_is_left_alone(repo: Path, memory: Any) -> None:
    (repo / "CLAUDE.md").write_text("@AGENTS.md\n")
    memory.init()
    assert (repo / "CLAUDE.md").read_text() == "@AGENTS.md\n"


def test_existing_instructions_keep_their_bytes_and_an_ignore_file_its_line_ends(repo: Path, memory: Any) -> None:
    (repo / "AGENTS.md").write_bytes(b"\xef\xbb\xbf# Rules\r\nno newline at the end")
    (repo / ".gitignore").write_bytes(b"node_modules\r\n.memory/index/\r\n")
    os.chmod(repo / "AGENTS.md", 0o600)
    memory.init()
    agents = (repo / "AGENTS.md").read_bytes()
    assert agents.startswith(b"\xef\xbb\xbf# Rules\r\nno newline at the end\r\n\r\n<!-- memory:start -->\r\n")
    assert (repo / "AGENTS.md").stat().st_mode & 0o777 == 0o600
    assert (repo / ".gitignore").read_bytes() == (
        b"node_modules\r\n.memory/index/\r\n\r\n.memory/local/\r\n.memory/recovery/\r\n.memory/.backup/\r\n.memory/.lock\r\n"
    )


def test_no_guidance_leaves_the_instruction_files_alone(repo: Path, memory: Any) -> None:
    memory.init("--no-guidance")
    assert not (repo / "AGENTS.md").exists()
    assert "ProductMapMissing" in memory("check").out


def test_force_archives_what_was_there_and_a_later_init_keeps_the_archive(repo: Path, memory: Any) -> None:
    memory.init()
    memory.save({"kind": "gotcha", "title": "Precious", "body": "x"})
    backup = memory("init", "--force", "--json").data["backup_path"]
    assert not (repo / ".memory/memory/precious.json").exists()
    memory.init("--force")
    listed = subprocess.run(["tar", "-tzf", repo / backup], capture_output=True, text=True, check=True).stdout
    assert ".memory/memory/precious.json" in listed


def test_a_memory_that_git_still_has_is_not_buried_by_accident(repo: Path, memory: Any, git: Any) -> None:
    memory.init()
    git.commit()
    subprocess.run(["rm", "-rf", repo / ".memory"], check=True)
    run = memory("init")
    assert run.code == 3
    assert "git restore .memory" in run.err
    assert memory("init", "--force").code == 0


@pytest.mark.parametrize("line", [("init",), ("status",), ("add", "fact", "Clocks drift")])
def test_a_file_in_place_of_the_folder_is_named(repo: Path, memory: Any, line: tuple[str, ...]) -> None:
    (repo / ".memory").write_text("mine")
    run = memory(*line)
    assert run.code == 3
    assert "`.memory` is a file; the memory needs a folder of this name." in run.err
    assert "Rename or remove `.memory`" in run.err
    assert (repo / ".memory").read_text() == "mine"


def test_a_second_init_says_whether_it_updated_something(repo: Path, memory: Any) -> None:
    memory.init()
    assert "already exists; nothing was changed." in memory("init").out
    text = (repo / "AGENTS.md").read_text()
    (repo / "AGENTS.md").write_text(text.replace("Load nothing in advance.", ""))
    assert "already exists; these files would be updated:\n" in memory("init", "--dry-run").out
    assert "already exists; these files were updated:\n  AGENTS.md (updated)" in memory("init").out


def test_the_status_of_an_empty_memory_says_how_to_begin(repo: Path, memory: Any) -> None:
    memory.init()
    assert "Nothing is recorded yet. `memory add`" in memory("status").out
    memory("add", "gotcha", "Clocks drift")
    assert "Nothing is recorded yet" not in memory("status").out


def test_it_starts_no_process_that_stays(repo: Path, memory: Any) -> None:
    before = set(os.listdir("/proc")) if os.path.isdir("/proc") else set()
    memory.init()
    left = [
        pid for pid in (set(os.listdir("/proc")) - before if before else ()) if pid.isdigit() and _is_ours(pid, repo)
    ]
    assert left == []


def _is_ours(pid: str, repo: Path) -> bool:
    try:
        return os.readlink(f"/proc/{pid}/cwd").startswith(str(repo))
    except OSError:
        return False


def test_the_project_is_registered_and_an_unwritable_registry_is_only_a_warning(repo: Path, memory: Any) -> None:
    memory.init()
    assert [entry["project_root"] for entry in memory("projects", "list", "--json").data["projects"]] == [str(repo)]
    (repo.parent / "file").write_text("x")
    run = memory("init", env={"MEMORY_HOME": str(repo.parent / "file/registry")})
    assert run.code == 0
    assert "warning" in run.err
