"""Finding sessions: which types there are, what is passed over and said, how sessions are told apart."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest
from transcript_making import claude, found, names, read_all, session_at, turns_of, write_lines

from quire.capture.transcripts import file_walk
from quire.capture.transcripts.discovery import discover
from quire.capture.transcripts.places import source_path
from quire.capture.transcripts.types import (
    SessionFile,
)
from quire.layers.journal.layout import (
    SOURCE_TYPES,
)
from quire.model.errors import InputError, NotFound, StorageFailed

FIXTURES = (Path(__file__).parents[3] / "shared" / "fixtures" / "journal").resolve()
needs_fixtures = pytest.mark.skipif(not FIXTURES.is_dir(), reason="the recorded discoveries lie outside the repository")
HELLO = [claude("user", "Hello")]


def reasons(source_type: str, path: Path) -> dict[str, str]:
    discovery = discover(source_type, str(path))
    list(discovery)
    return {os.path.relpath(skipped.path, path): skipped.reason for skipped in discovery.skipped}


@pytest.mark.parametrize("source_type", SOURCE_TYPES)
def test_an_empty_folder_holds_no_sessions(source_type: str, tmp_path: Path) -> None:
    discovery = discover(source_type, str(tmp_path))
    assert (list(discovery), discovery.skipped) == ([], [])


def test_a_type_that_is_none_is_refused_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        discover("notes", str(tmp_path))
    assert caught.value.details == {"field": "type", "allowed": list(SOURCE_TYPES)}


@pytest.mark.parametrize("source_type", SOURCE_TYPES)
def test_a_path_that_leads_nowhere_is_refused(source_type: str, tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        discover(source_type, str(tmp_path / "gone"))
    with pytest.raises(InputError):
        discover(source_type, "relative")


def test_links_pipes_and_hidden_names_are_passed_over(tmp_path: Path) -> None:
    top = tmp_path / "home" / "transcripts"
    write_lines(top / "a.jsonl", HELLO)
    write_lines(top / ".hidden" / "b.jsonl", HELLO)
    write_lines(tmp_path / "elsewhere" / "c.jsonl", HELLO)
    (top / "d.jsonl").symlink_to(tmp_path / "elsewhere" / "c.jsonl")
    (top / "linked").symlink_to(tmp_path / "elsewhere")
    os.mkfifo(top / "e.jsonl")
    (top / "f.jsonl").mkdir()
    (top / "g.jsonl").symlink_to("nowhere")
    assert names("claude-local", tmp_path / "home") == ["a"]
    assert reasons("claude-local", tmp_path / "home") == {
        "transcripts/d.jsonl": "it is a symbolic link",
        "transcripts/e.jsonl": "it is not a regular file",
        "transcripts/g.jsonl": "it is a symbolic link",
        "transcripts/linked": "it is a symbolic link",
    }


def test_a_folder_of_the_agent_that_is_a_link_is_passed_over(tmp_path: Path) -> None:
    write_lines(tmp_path / "elsewhere" / "p" / "a.jsonl", HELLO)
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "projects").symlink_to(tmp_path / "elsewhere")
    assert reasons("claude-local", tmp_path / "home") == {"projects": "it is a symbolic link"}


def test_the_place_that_a_person_names_may_be_a_link(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "dotfiles" / "transcripts" / "a.jsonl", HELLO)
    (tmp_path / ".claude").symlink_to(tmp_path / "dotfiles")
    assert [session.path for session in found("claude-local", tmp_path / ".claude")] == [str(path)]


@pytest.mark.parametrize("source_type", ["claude-local", "codex-local", "markdown"])
@pytest.mark.parametrize("call", ["open", "scandir", "lstat"])
def test_what_is_refused_for_a_passing_reason_is_not_passed_over(
    source_type: str, call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Passed over, a session would count as one that is not there."""
    name = "a.md" if source_type == "markdown" else "a.jsonl"
    path = write_lines(tmp_path / "sessions" / name, HELLO)
    top = path.parent
    real = getattr(os, call)

    def refused(where: Any, *arguments: Any, **options: Any) -> Any:
        if os.fspath(where) in (str(path), str(top) if call == "scandir" else ""):
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE), where)
        return real(where, *arguments, **options)

    monkeypatch.setattr(os, call, refused)
    with pytest.raises(StorageFailed, match="too many files are open"):
        list(discover(source_type, str(top)))


@pytest.mark.parametrize("source_type", ["claude-local", "codex-local"])
def test_what_is_no_regular_file_is_not_opened(source_type: str, tmp_path: Path) -> None:
    pipe = tmp_path / "a.jsonl"
    os.mkfifo(pipe)
    link = tmp_path / "b.jsonl"
    link.symlink_to(write_lines(tmp_path / "c.jsonl", HELLO))
    discovery = discover(source_type, str(pipe))
    assert list(discovery) == []
    assert [skipped.reason for skipped in discovery.skipped] == ["it is not a regular file"]
    for path in (pipe, link, Path("/dev/zero"), tmp_path):
        with pytest.raises(StorageFailed, match="not a regular file"):
            list(read_all(SessionFile(source_type=source_type, external_id="x", path=str(path))))


def test_a_file_that_is_too_large_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with path.open("wb") as file:
        file.truncate(4 * 1024**3 + 1)
    assert reasons("claude-local", tmp_path) == {"a.jsonl": "it is larger than 4,294,967,296 bytes"}
    path = tmp_path / "a.md"
    with path.open("wb") as file:
        file.truncate(32 * 1024**2 + 1)
    assert reasons("markdown", tmp_path) == {"a.md": "it is larger than 33,554,432 bytes"}


def test_depth_and_number_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path.joinpath(*(f"d{number}" for number in range(file_walk.DEPTH + 1)))
    write_lines(deep / "a.jsonl", HELLO)
    write_lines(deep.parent / "b.jsonl", HELLO)
    assert names("claude-local", tmp_path) == ["b"]
    assert reasons("claude-local", tmp_path) == {str(deep.relative_to(tmp_path)): "it is more than 16 folders deep"}
    monkeypatch.setattr(file_walk, "FILES_MOST", 2)
    for number in range(4):
        write_lines(tmp_path / "flat" / f"{number}.jsonl", HELLO)
    assert names("claude-local", tmp_path / "flat") == ["0", "1"]
    assert reasons("claude-local", tmp_path / "flat") == {"2.jsonl": "it and what follows: there are more than 2 files"}


def test_names_that_are_no_text_are_said(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xff.jsonl")).write_bytes(b"{}\n")
    discovery = discover("claude-local", str(tmp_path))
    assert list(discovery) == []
    ((path, reason),) = [(skipped.path, skipped.reason) for skipped in discovery.skipped]
    assert (Path(path).name, reason) == (r"\udcff.jsonl", "its name is not text")


@pytest.mark.skipif(os.geteuid() == 0, reason="no permission stops the superuser")
def test_what_may_not_be_read_is_said(tmp_path: Path) -> None:
    write_lines(tmp_path / "a.jsonl", HELLO).chmod(0)
    assert reasons("claude-local", tmp_path) == {"a.jsonl": "permission denied"}


def test_files_of_one_name_are_two_sessions(tmp_path: Path) -> None:
    for folder in ("", "one", "two"):
        write_lines(tmp_path / "transcripts" / folder / "s.jsonl", HELLO)
    first = names("claude-local", tmp_path)
    assert first == ["s", "s@transcripts/one/s", "s@transcripts/two/s"]
    assert names("claude-local", tmp_path) == first


def test_a_session_that_grew_has_another_stamp(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "s.jsonl", HELLO)
    before = found("claude-local", path)[0]
    assert found("claude-local", path)[0] == before
    write_lines(path, [*HELLO, *HELLO])
    assert found("claude-local", path)[0].stamp != before.stamp


def test_a_title_is_one_safe_line_without_secrets(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    path = write_lines(tmp_path / "s.jsonl", [{"type": "summary", "summary": f"Use\n{token} \x1b now"}, *HELLO])
    (session,) = found("claude-local", path)
    assert session.title == "Use [redacted: GitHub token] \\u{1B} now"
    assert token not in read_all(session)[1].title


# -- what a person types as a path ------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("~/x", "/home/fx/x"),
        ("~", "/home/fx"),
        ("rel/x", "/w/rel/x"),
        ("/abs", "/abs"),
        ("../up", "/up"),
        ("~/../x", "/home/x"),
    ],
)
def test_a_typed_path_is_resolved(typed: str, meant: str) -> None:
    assert source_path(typed, cwd="/w", home="/home/fx") == meant


@pytest.mark.parametrize(
    ("typed", "home"), [("~bob/x", "/home/fx"), ("~/x", ""), ("", "/home/fx"), ("a\0b", "/home/fx")]
)
def test_a_path_that_cannot_be_resolved_is_refused(typed: str, home: str) -> None:
    with pytest.raises(InputError):
        source_path(typed, cwd="/w", home=home)


# -- recorded discoveries ---------------------------------------------------------------------


def recorded() -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = json.loads((FIXTURES / "_vectors" / "import-discover.json").read_text())
    return found


@needs_fixtures
def test_every_session_that_was_found_before_is_found_under_its_id() -> None:
    checked = 0
    for name, items in recorded().items():
        fixture, source_type, place = name.split(" ", 2)
        sessions = {session.path: session for session in found(source_type, FIXTURES / fixture / place)}
        for item in items:
            path = str(FIXTURES / item["sourceRef"].removeprefix("/repos/"))
            session = sessions[path]
            assert session.external_id.partition("@")[0] == item["externalItemId"]
            # Of what could not be read then, the time is the one of the attempt.
            if "failureMessage" not in item and not item["createdAt"].isdigit() and session.started_at:
                assert session.started_at == item["createdAt"]
            checked += 1
    assert checked >= 20


@needs_fixtures
def test_what_was_unreadable_before_is_read_now() -> None:
    home = FIXTURES / "broken-source" / "claude-home" / "transcripts"
    torn, _ = read_all(session_at(home / "03-torn-last-line.jsonl"))
    assert [turn.text for turn in torn] == ["Gotcha: Torn files: the writer was killed"]
    assert turns_of(home / "12-long.jsonl")[-1].text == "Gotcha: appended later, after the first import"
    projects = FIXTURES / "basic-node" / "claude-home"
    assert "ignored" in names("claude-local", projects)


@needs_fixtures
def test_typed_paths_are_resolved_as_before_or_better() -> None:
    for case in json.loads((FIXTURES / "_vectors" / "resolve-import-path.json").read_text()):
        if case["input"].startswith("~") and not case["input"].startswith("~/"):
            continue
        assert source_path(case["input"], cwd=case["cwd"], home=case["home"]) == case["result"]
