"""Sessions of Claude Code: where they lie, whose they are, what was said in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from transcript_making import (
    CLAUDE_TALK,
    PROJECT,
    answers,
    claude,
    found,
    names,
    read_all,
    said,
    session_at,
    turns_of,
    uses,
    write_lines,
)

from quire.capture.transcripts.claude import encoded_folder
from quire.capture.transcripts.types import Turn


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder of Claude with sessions of two projects."""
    top = tmp_path / ".claude"
    own, other = top / "projects" / "-home-dev-orders", top / "projects" / "-home-dev-other"
    write_lines(own / "s1.jsonl", CLAUDE_TALK)
    write_lines(own / "s1" / "subagents" / "agent-a7.jsonl", [claude("user", "Look", isSidechain=True, agentId="a7")])
    write_lines(other / "s2.jsonl", [claude("user", "Elsewhere", cwd="/home/dev/other")])
    write_lines(top / "transcripts" / "orders" / "s3.jsonl", [{"type": "user", "content": "Plain"}])
    write_lines(
        top / "history.jsonl",
        [
            {"display": "Cache it", "pastedContents": {}, "timestamp": 1772359200000, "project": PROJECT},
            {"display": "/compact", "pastedContents": {}, "timestamp": 1772359300000, "project": PROJECT},
            {
                "display": "A secret plan",
                "pastedContents": {},
                "timestamp": 1772359400000,
                "project": "/home/dev/other",
            },
        ],
    )
    (top / "settings.json").write_text("{}")
    (own / "s1" / "tool-results").mkdir()
    (own / "s1" / "tool-results" / "out.txt").write_text("text")
    return top


def test_all_sessions_of_a_home_folder_are_found(home: Path) -> None:
    assert names("claude-local", home) == ["history", "s1", "agent-a7", "s2", "s3"]


def test_a_session_is_described_by_its_beginning(home: Path) -> None:
    session = found("claude-local", home, PROJECT)[1]
    path = home / "projects" / "-home-dev-orders" / "s1.jsonl"
    assert session.path == str(path)
    assert session.started_at == "2026-03-01T10:00:01.000Z"
    assert session.title == "Caching the order list"


def test_a_subagents_file_is_known_by_its_folder(home: Path) -> None:
    agent = next(session for session in found("claude-local", home) if session.external_id == "agent-a7")
    turns, _ = read_all(agent)
    assert [turn.is_subagent for turn in turns] == [True]


def test_only_the_sessions_of_the_repository_are_found(home: Path) -> None:
    # What tells no folder stays: somebody put it there for this repository.
    assert names("claude-local", home, PROJECT) == ["history", "s1", "agent-a7", "s3"]
    assert names("claude-local", home, "/home/dev/other") == ["history", "s2", "s3"]
    assert names("claude-local", home, "/home/dev") == ["history", "s1", "agent-a7", "s2", "s3"]


@pytest.mark.parametrize(
    ("folder", "cwd", "is_taken"),
    [
        ("-home-dev-orders", PROJECT, True),
        ("-home-dev-orders", None, True),
        # Dots and slashes are written alike: only the session knows.
        ("-home-dev-orders", "/home/dev.orders", False),
        ("-home-dev-orders-api", f"{PROJECT}/api", True),
        ("-home-dev-orders-api", "/home/dev/orders-api", False),
        ("-home-dev-orders-api", None, False),
        # A folder that was renamed, or that another program made.
        ("-home-dev-order", PROJECT, True),
        ("moved-here", PROJECT, True),
        ("moved-here", "/home/dev/other", False),
        ("moved-here", None, False),
    ],
)
def test_the_folder_in_which_a_session_ran_decides(
    folder: str, cwd: str | None, is_taken: bool, tmp_path: Path
) -> None:
    line = claude("user", "Hello")
    if cwd is None:
        del line["cwd"]
    else:
        line["cwd"] = cwd
    write_lines(tmp_path / "projects" / folder / "s.jsonl", [line])
    assert names("claude-local", tmp_path, PROJECT) == (["s"] if is_taken else [])


def test_a_repository_that_is_reached_through_a_link_has_its_sessions(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    link = tmp_path / "link"
    link.symlink_to(real)
    for number, cwd in enumerate((real, link)):
        folder = tmp_path / "home" / "projects" / encoded_folder(str(cwd))
        write_lines(folder / f"s{number}.jsonl", [claude("user", "Hello", cwd=str(cwd))])
    assert sorted(names("claude-local", tmp_path / "home", str(link))) == ["s0", "s1"]


def test_long_and_foreign_folder_names_are_encoded_as_claude_does() -> None:
    assert encoded_folder("/home/dev/my.app_2") == "-home-dev-my-app-2"
    assert encoded_folder("/home/ü/👩") == "-home-" + "-" + "-" + "--"
    long = "/home/dev/" + "x" * 300
    assert len(encoded_folder(long)) == len(long)


def test_a_cut_folder_name_is_looked_into(tmp_path: Path) -> None:
    root = "/home/dev/" + "x" * 300
    folder = tmp_path / "projects" / (encoded_folder(root)[:200] + "-abc123")
    write_lines(folder / "s.jsonl", [claude("user", "Hello", cwd=root)])
    write_lines(folder / "t.jsonl", [claude("user", "Hello", cwd=root + "y")])
    assert names("claude-local", tmp_path, root) == ["s"]


def test_one_projects_folder_and_one_file_are_sources_too(home: Path) -> None:
    folder = home / "projects" / "-home-dev-orders"
    assert names("claude-local", folder) == ["s1", "agent-a7"]
    assert names("claude-local", folder / "s1.jsonl") == ["s1"]
    assert names("claude-local", home / "projects") == ["s1", "agent-a7", "s2"]


def test_a_conversation_is_read_turn_by_turn(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "s.jsonl", CLAUDE_TALK)
    turns, reading = read_all(session_at(path), root=PROJECT)
    at = "2026-03-01T10:00:{:02}.000Z".format
    assert turns == [
        Turn(role="user", text="The order list is slow. Can we cache it?", at=at(1)),
        Turn(role="assistant", text="Decision: cache it for 30 seconds.", at=at(3)),
        Turn(role="assistant", tool="Read", paths=("src/cache.ts",), at=at(4)),
        Turn(role="tool", tool="Read", text="export {};", at=at(5)),
        Turn(role="assistant", tool="Bash", text="npm test", at=at(6)),
        Turn(role="tool", tool="Bash", text="1 failed", at=at(7), is_error=True),
        Turn(role="user", text="Sub task", at=at(8), is_subagent=True),
        Turn(role="assistant", text="Done below.", at=at(9), is_subagent=True),
        Turn(
            role="system",
            text="This session is being continued from a previous conversation.",
            at=at(11),
            is_summary=True,
        ),
        Turn(role="user", text="And now the runbook.", at=at(12)),
    ]
    assert (reading.lines, reading.bad_lines, reading.torn) == (14, 0, False)
    assert (reading.first_at, reading.last_at) == (at(1), at(12))
    assert reading.next_offset == path.stat().st_size
    assert reading.title == "Caching the order list"


def test_a_title_that_comes_later_is_the_one_that_holds(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "s.jsonl",
        [
            claude("user", "Hello"),
            {"type": "ai-title", "aiTitle": "First", "sessionId": "x"},
            {"type": "custom-title", "customTitle": "Second\u202e one", "sessionId": "x"},
        ],
    )
    assert read_all(session_at(path))[1].title == "Second\\u{202E} one"


@pytest.mark.parametrize(
    "line",
    [
        claude("user", "<local-command-caveat>Caveat: x</local-command-caveat>", isMeta=True),
        claude("user", "Body of a skill", isMeta=True),
        claude("user", "<command-name>/compact</command-name>\n<command-args></command-args>"),
        claude("user", "<local-command-stdout>Compacted</local-command-stdout>"),
        claude("user", "<bash-input>ls</bash-input><bash-stdout>a b</bash-stdout>"),
        claude("user", "[Request interrupted by user for tool use]"),
        claude("user", "<system-reminder>\nThe TodoWrite tool was not used.\n</system-reminder>"),
        claude("user", "<task-notification><result>Done</result></task-notification>"),
        claude("assistant", [{"type": "thinking", "thinking": "Hm", "signature": "s"}]),
        claude("user", "ignored", type="progress"),
        claude("system", "", subtype="local_command", content="<command-name>/status</command-name>"),
        {"type": "attachment", "attachment": {"type": "hook_additional_context", "content": ["# Memory"]}},
        {"type": "queue-operation", "operation": "enqueue", "content": "Later"},
        {"type": "last-prompt", "lastPrompt": "x"},
    ],
)
def test_what_the_program_adds_is_no_turn(line: dict[str, Any], tmp_path: Path) -> None:
    path = write_lines(tmp_path / "s.jsonl", [line])
    turns, reading = read_all(session_at(path))
    assert turns == []
    assert (reading.lines, reading.bad_lines) == (1, 0)


@pytest.mark.parametrize(
    ("line", "turn"),
    [
        (claude("user", "<command-name>/plan</command-name><command-args>use <T> here</command-args>"), "use <T> here"),
        (claude("user", "Fix it.<system-reminder>Be brief.</system-reminder>"), "Fix it."),
        (claude("user", [{"type": "text", "text": "Look"}, {"type": "image", "source": {"data": "AAAA"}}]), "Look"),
        (
            {
                "type": "attachment",
                "attachment": {"type": "queued_command", "prompt": "Wait!", "commandMode": "prompt"},
            },
            "Wait!",
        ),
        ({"role": "user", "content": [{"type": "text", "text": "Bare"}]}, "Bare"),
        ({"type": "user", "content": "Plain"}, "Plain"),
    ],
)
def test_what_a_person_said_is_taken_out_of_it(line: dict[str, Any], turn: str, tmp_path: Path) -> None:
    assert said(turns_of(write_lines(tmp_path / "s.jsonl", [line]))) == [("user", turn)]


def test_errors_of_the_service_are_told_as_such(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "s.jsonl",
        [
            claude("assistant", [{"type": "text", "text": "API Error: 529"}], isApiErrorMessage=True),
            claude("system", "", 1, content="Retrying", level="error"),
        ],
    )
    assert [(turn.role, turn.is_error) for turn in turns_of(path)] == [("system", True), ("system", True)]


def test_records_of_tools_without_messages_are_read(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "s.jsonl",
        [
            {
                "type": "tool_use",
                "timestamp": "2026-02-27T08:00:02.000Z",
                "tool_name": "Read",
                "tool_input": {"path": "a.js"},
            },
            {"type": "tool_result", "tool_name": "Read", "tool_output": {"text": "module.exports = 1;"}},
        ],
    )
    assert turns_of(path) == [
        Turn(role="assistant", tool="Read", paths=("a.js",), at="2026-02-27T08:00:02.000Z"),
        Turn(role="tool", tool="Read", text="module.exports = 1;"),
    ]


def test_calls_and_answers_in_the_form_of_other_programs_are_read(tmp_path: Path) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "run", "arguments": '{"command": "ls"}'}}
    path = write_lines(
        tmp_path / "s.jsonl",
        [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "error: no such folder"},
        ],
    )
    assert turns_of(path) == [
        Turn(role="assistant", tool="run", text="ls"),
        Turn(role="tool", tool="run", text="error: no such folder", is_error=True),
    ]


def test_of_what_was_typed_only_the_repositorys_part_is_read(home: Path) -> None:
    history = found("claude-local", home, PROJECT)[0]
    turns, _ = read_all(history, root=PROJECT)
    assert turns == [Turn(role="user", text="Cache it", at="2026-03-01T10:00:00.000Z")]
    assert len(read_all(history)[0]) == 2


def test_a_tool_without_output_is_still_answered(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "s.jsonl", [uses("t1", "Bash", command="true"), answers("t1", "", 1)])
    assert turns_of(path)[1] == Turn(role="tool", tool="Bash", at="2026-03-01T10:00:01.000Z")
