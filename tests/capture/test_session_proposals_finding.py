"""Which file a hook may name as the session it belongs to."""

from __future__ import annotations

from pathlib import Path

import pytest
from transcript_making import CLAUDE_TALK, CODEX_META, CODEX_TALK, PROJECT, write_lines

from quire.capture.session_proposals import find_session
from quire.capture.transcripts.types import SessionFile

NAME = "3f2a1b4c-10da-4411-8cd2-4aa7b569dbd9"


@pytest.fixture
def claude_file(tmp_path: Path) -> Path:
    return write_lines(tmp_path / ".claude" / "projects" / "-home-dev-orders" / f"{NAME}.jsonl", CLAUDE_TALK)


def find(home: Path, client: str, transcript: object = "", name: str = "", **env: str) -> SessionFile | None:
    return find_session(client, str(transcript), name, root=PROJECT, home=str(home), env=env)


def test_the_file_that_is_named_is_taken(tmp_path: Path, claude_file: Path) -> None:
    found = find(tmp_path, "claude", claude_file)
    assert found is not None
    assert (found.source_type, found.external_id, found.path) == ("claude-local", NAME, str(claude_file))


def test_a_session_is_found_by_its_id(tmp_path: Path, claude_file: Path) -> None:
    found = find(tmp_path, "claude", name=NAME)
    assert found is not None
    assert found.path == str(claude_file)
    assert find(tmp_path, "claude", name="another") is None
    assert find(tmp_path, "claude") is None
    rollout = tmp_path / ".codex" / "sessions" / "2026" / "03" / "01" / f"rollout-2026-{CODEX_META['id']}.jsonl"
    write_lines(rollout, CODEX_TALK)
    codex = find(tmp_path, "codex", name=str(CODEX_META["id"]))
    assert codex is not None
    assert codex.path == str(rollout)


def test_what_is_not_the_clients_own_plain_file_is_refused(tmp_path: Path, claude_file: Path) -> None:
    outside = write_lines(tmp_path / "elsewhere" / f"{NAME}.jsonl", CLAUDE_TALK)
    link = claude_file.with_name("link.jsonl")
    link.symlink_to(outside)
    inner = claude_file.with_name("inner.jsonl")
    inner.symlink_to(claude_file)
    folder = claude_file.parent.with_name("linked")
    folder.symlink_to(outside.parent)
    climbing = f"{claude_file.parent}/../../../elsewhere/{NAME}.jsonl"
    for path in (outside, link, inner, folder / outside.name, climbing, claude_file.parent, "x.jsonl", "/etc/\0"):
        assert find(tmp_path, "claude", path) is None
    assert find(tmp_path, "codex", claude_file) is None
    assert find(tmp_path, "cursor", claude_file) is None
    assert find_session("claude", str(claude_file), NAME, root=PROJECT, home="", env={}) is None


def test_another_folder_counts_only_below_the_home(tmp_path: Path, claude_file: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    assert find(home, "claude", claude_file, CLAUDE_CONFIG_DIR=str(tmp_path / ".claude")) is None
    moved = write_lines(home / "agents" / "projects" / "-home-dev-orders" / f"{NAME}.jsonl", CLAUDE_TALK)
    found = find(home, "claude", moved, CLAUDE_CONFIG_DIR=str(home / "agents"))
    assert found is not None
    assert found.path == str(moved)
    assert find(home, "claude", moved) is None
