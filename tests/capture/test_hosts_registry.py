"""Which sources are found: where each host keeps its files, and nothing that lies elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from host_making import Machine

from quire.capture.hosts.registry import find_hosts, read_host
from quire.capture.hosts.types import KINDS, HostSource
from quire.capture.transcripts.claude import encoded_folder
from quire.model.errors import InputError

TEXT = "# Rules\n\n- Run the tests before you commit.\n"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def _shown(sources: list[HostSource]) -> list[tuple[str, str, str]]:
    return [(source.kind, source.shown, source.scope) for source in sources]


def test_an_empty_project_has_no_sources(machine: Machine) -> None:
    assert machine.find() == []


def test_every_kind_is_found_where_its_host_keeps_it(machine: Machine) -> None:
    for path in (
        "CLAUDE.md",
        "CLAUDE.local.md",
        "web/CLAUDE.md",
        ".claude/rules/testing.md",
        ".claude/rules/client/forms.md",
        "AGENTS.md",
        "packages/api/AGENTS.md",
        "GEMINI.md",
        ".cursorrules",
        ".cursor/rules/api.mdc",
        "memory-bank/progress.md",
        ".clinerules/style.md",
        ".github/copilot-instructions.md",
        ".github/instructions/tests.instructions.md",
        ".serena/memories/core/conventions.md",
        "~/.claude/CLAUDE.md",
        f"{machine.notes}/MEMORY.md",
        "~/.codex/memories/MEMORY.md",
        "~/.codex/memories/memory_summary.md",
        "~/.gemini/GEMINI.md",
    ):
        machine.write(path, TEXT)
    assert _shown(machine.find()) == [
        ("claude-md", "CLAUDE.local.md", "project"),
        ("claude-md", "CLAUDE.md", "project"),
        ("claude-md", "web/CLAUDE.md", "project"),
        ("claude-md", "~/.claude/CLAUDE.md", "user"),
        ("claude-rules", ".claude/rules/testing.md", "project"),
        ("claude-rules", ".claude/rules/client/forms.md", "project"),
        ("claude-memory", "~/.claude/projects/…/memory/MEMORY.md", "user"),
        ("agents-md", "AGENTS.md", "project"),
        ("agents-md", "packages/api/AGENTS.md", "project"),
        ("codex-memories", "~/.codex/memories/MEMORY.md", "user"),
        ("codex-memories", "~/.codex/memories/memory_summary.md", "user"),
        ("gemini-md", "GEMINI.md", "project"),
        ("gemini-md", "~/.gemini/GEMINI.md", "user"),
        ("cursor-rules", ".cursorrules", "project"),
        ("cursor-rules", ".cursor/rules/api.mdc", "project"),
        ("cline-memory-bank", "memory-bank/progress.md", "project"),
        ("cline-rules", ".clinerules/style.md", "project"),
        ("copilot-instructions", ".github/copilot-instructions.md", "project"),
        ("copilot-instructions", ".github/instructions/tests.instructions.md", "project"),
        ("serena", ".serena/memories/core/conventions.md", "project"),
    ]
    assert all(source.size == len(TEXT) for source in machine.find())
    assert all(os.path.isabs(source.path) for source in machine.find())


def test_rules_of_cline_may_be_one_file(machine: Machine) -> None:
    machine.write(".clinerules", TEXT)
    assert _shown(machine.find("cline-rules")) == [("cline-rules", ".clinerules", "project")]


def test_what_is_not_the_projects_own_is_left_out(machine: Machine) -> None:
    for path in (
        "node_modules/left-pad/AGENTS.md",
        "vendor/tool/CLAUDE.md",
        ".venv/lib/AGENTS.md",
        ".cursor/rules/quire-memory.mdc",
        ".clinerules/quire-memory.md",
        "~/.codex/memories/raw_memories.md",
        "~/.codex/memories/rollout_summaries/one.md",
        "~/.claude/projects/-another-project/memory/MEMORY.md",
    ):
        machine.write(path, TEXT)
    assert machine.find() == []


def test_only_the_kinds_that_are_asked_for(machine: Machine) -> None:
    machine.write("CLAUDE.md", TEXT)
    machine.write("AGENTS.md", TEXT)
    assert _shown(machine.find("agents-md")) == [("agents-md", "AGENTS.md", "project")]


def test_an_unknown_kind_is_refused_with_those_there_are(machine: Machine) -> None:
    with pytest.raises(InputError) as caught:
        machine.find("windsurf")
    assert caught.value.details["allowed"] == list(KINDS)
    source = HostSource(kind="windsurf", path="/x", shown="x", scope="project", size=0)
    with pytest.raises(InputError):
        read_host(source, str(machine.root), str(machine.home), "")


def test_a_link_to_another_source_counts_once_under_its_real_name(machine: Machine) -> None:
    machine.write("AGENTS.md", TEXT)
    (machine.root / "CLAUDE.md").symlink_to("AGENTS.md")
    assert _shown(machine.find()) == [("agents-md", "AGENTS.md", "project")]
    assert _shown(machine.find("claude-md")) == [("claude-md", "CLAUDE.md", "project")]


def test_links_that_lead_out_are_no_sources(machine: Machine, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text(TEXT)
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "a.md").write_text(TEXT)
    (machine.root / "CLAUDE.md").symlink_to(tmp_path / "secret.md")
    (machine.root / ".claude").mkdir()
    (machine.root / ".claude" / "rules").symlink_to(tmp_path / "rules")
    (machine.home / ".claude").mkdir()
    (machine.home / ".claude" / "CLAUDE.md").symlink_to(tmp_path / "secret.md")
    assert machine.find() == []


def test_pipes_and_folders_are_no_sources(machine: Machine) -> None:
    os.mkfifo(machine.root / "AGENTS.md")
    (machine.root / "CLAUDE.md").mkdir()
    assert machine.find() == []


def test_the_settings_folders_of_the_environment_are_honoured(machine: Machine, tmp_path: Path) -> None:
    notes = tmp_path / "elsewhere" / "projects" / encoded_folder(str(machine.root)) / "memory"
    notes.mkdir(parents=True)
    (notes / "MEMORY.md").write_text(TEXT)
    (tmp_path / "elsewhere" / "CLAUDE.md").write_text(TEXT)
    (tmp_path / "codex" / "memories").mkdir(parents=True)
    (tmp_path / "codex" / "memories" / "MEMORY.md").write_text(TEXT)
    machine.write("~/.claude/CLAUDE.md", TEXT)
    env = {"CLAUDE_CONFIG_DIR": str(tmp_path / "elsewhere"), "CODEX_HOME": str(tmp_path / "codex")}
    assert _shown(find_hosts(str(machine.root), str(machine.home), env)) == [
        ("claude-md", "…/elsewhere/CLAUDE.md", "user"),
        ("claude-memory", "…/memory/MEMORY.md", "user"),
        ("codex-memories", "…/memories/MEMORY.md", "user"),
    ]
    sources = find_hosts(str(machine.root), str(machine.home), env)
    read = read_host(sources[0], str(machine.root), str(machine.home), "")
    assert [proposal.fields["value"] for proposal in read.proposals] == ["Run the tests before you commit."]


def test_without_a_home_folder_only_the_project_is_looked_through(machine: Machine) -> None:
    machine.write("AGENTS.md", TEXT)
    assert _shown(find_hosts(str(machine.root), "", {})) == [("agents-md", "AGENTS.md", "project")]
