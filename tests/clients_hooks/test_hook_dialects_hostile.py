"""Payloads that nobody should send: refused with a sentence, or read without what cannot be read."""

import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import each
from promised import proves
from quire.clients.hooks.payload import PAYLOAD_BYTES
from quire.clients.hooks.read_event import read_event
from quire.clients.hooks.reply import reply
from quire.clients.hooks.types import CLIENTS, EVENTS, HookEvent

SPEAKING = [client for client in CLIENTS if client != "cline"]
WRONG = [None, True, 7, 1.5, [], {}, [1, 2], {"a": 1}, [[["x"]]]]
FIELDS = (
    "hook_event_name",
    "session_id",
    "sessionId",
    "sessionID",
    "conversation_id",
    "cwd",
    "directory",
    "workspace_roots",
    "transcript_path",
    "transcriptPath",
    "source",
    "prompt",
    "tool_name",
    "toolName",
    "tool",
    "tool_input",
    "toolArgs",
    "args",
    "reason",
    "trigger",
    "summary",
    "compact_summary",
    "agent_id",
    "agentId",
    "parentID",
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(FIELDS) | st.text(), inner, max_size=6),
    max_leaves=20,
)


@proves("P10.5", "H6")
@each("client", SPEAKING)
@each(
    "payload",
    [
        b"",
        b" \n",
        b"hello",
        b"[]",
        b'[{"prompt": "x"}]',
        b'"text"',
        b"null",
        b"42",
        b"{",
        b'{"prompt": }',
        b'{"prompt": "x"} trailing',
        b"{'prompt': 'x'}",
        b"\x00\x01\x02",
        b"\xff\xfe{\x00}\x00",
        b"\x00{}",
        b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
        b'{"a":' + b"[" * 200_000,
        b"{" * 100_000,
    ],
)
def test_what_is_no_object_is_refused_with_a_sentence(client: str, payload: bytes) -> None:
    with pytest.raises(ValueError) as refused:
        read_event(client, "prompt", payload)
    assert type(refused.value) is ValueError
    assert str(refused.value).endswith(".")
    assert str(refused.value)[0].isupper()
    assert "\n" not in str(refused.value)


def test_a_payload_may_be_large_and_not_larger() -> None:
    said = json.dumps({"prompt": "short", "tool_input": {"content": ""}}).encode()
    fits = said.replace(b'""', b'"' + b"x" * (PAYLOAD_BYTES - len(said)) + b'"')
    assert len(fits) == PAYLOAD_BYTES
    assert read_event("claude", "prompt", fits).prompt == "short"
    with pytest.raises(ValueError, match=r"^The hook's payload is larger than 4 MiB\.$"):
        read_event("claude", "prompt", fits + b" ")


def test_a_whole_file_in_a_payload_is_not_built() -> None:
    payload = json.dumps(
        {"tool_name": "Write", "tool_input": {"file_path": "/w/a.py", "content": "line\n" * 500_000}}
    ).encode()
    tracemalloc.start()
    try:
        assert read_event("claude", "before-edit", payload).files == ("/w/a.py",)
        assert tracemalloc.get_traced_memory()[1] < 500_000
    finally:
        tracemalloc.stop()


def test_deep_arguments_do_not_hide_the_rest() -> None:
    deep = "[" * 500 + "]" * 500
    payload = f'{{"prompt": "x", "extra": {deep}, "cwd": "/w"}}'.encode()
    read = read_event("codex", "prompt", payload)
    assert (read.prompt, read.cwd) == ("x", "/w")


def test_a_byte_order_mark_is_passed_over() -> None:
    assert read_event("cursor", "prompt", b'\xef\xbb\xbf\r\n{"prompt": "x"}\r\n').prompt == "x"


def test_half_characters_and_broken_bytes_become_signs() -> None:
    half = read_event("gemini", "prompt", b'{"prompt": "cut \\ud83d", "cwd": "/w"}')
    assert (half.prompt, half.cwd) == ("cut ?", "/w")
    broken = read_event("gemini", "prompt", b'{"prompt": "cut \xf0\x9f", "cwd": "/w"}')
    assert broken.cwd == "/w"
    name = read_event("gemini", "prompt", b'{"\\ud83d": 1, "prompt": "x"}')
    assert name.prompt == "x"
    for read in (half, broken, name):
        reply(read, read.prompt).decode("utf-8")


def test_a_text_with_half_characters_is_answered_whole() -> None:
    read = read_event("claude", "prompt", b"{}")
    answer = json.loads(reply(read, "a \ud83d b \x00 \u2028 </script>"))
    assert answer["hookSpecificOutput"]["additionalContext"] == "a ? b \x00 \u2028 </script>"


def test_nul_and_line_ends_never_reach_a_path_or_a_name() -> None:
    payload = json.dumps(
        {
            "session_id": "a\nb",
            "cwd": "/w\0\0",
            "transcript_path": "/t\n/x",
            "tool_name": "Edit",
            "tool_input": {"file_path": "/w/a\nb"},
        }
    ).encode()
    read = read_event("claude", "before-edit", payload)
    assert (read.session, read.cwd, read.transcript, read.files) == ("", "/w", "", ())


@pytest.mark.parametrize("cwd", ["shop", "./shop", "", "~/shop", "C:\\shop"])
def test_a_folder_that_is_not_absolute_is_none(cwd: str) -> None:
    payload = json.dumps({"cwd": cwd, "tool_name": "Edit", "tool_input": {"file_path": "src/a.py"}}).encode()
    read = read_event("claude", "before-edit", payload)
    assert (read.cwd, read.files) == ("", ("src/a.py",))


def test_an_absolute_root_stands_in_for_a_folder_that_is_none() -> None:
    payload = json.dumps({"cwd": "", "workspace_roots": [7, "rel", "/w"], "prompt": "x"}).encode()
    assert read_event("cursor", "prompt", payload).cwd == "/w"


@proves("P10.5", "H6")
@each("client", SPEAKING)
@each("name", FIELDS)
def test_a_field_of_another_type_is_left_out(client: str, name: str) -> None:
    for event in ("before-edit", "session-start", "session-end"):
        kept = {"prompt": "kept"} if name != "prompt" else {"reason": "kept"}
        bare = read_event(client, event, json.dumps(kept).encode())
        for wrong in WRONG:
            assert read_event(client, event, json.dumps({name: wrong, **kept}).encode()) == bare


@each("wrong", [*WRONG, "text", ["/w/a.py"], {"file_path": 7}, {"file_path": [7, {}]}])
def test_arguments_of_another_type_name_no_files(wrong: object) -> None:
    payload = json.dumps({"tool_name": "Edit", "tool_input": wrong, "cwd": "/w"}).encode()
    read = read_event("claude", "before-edit", payload)
    assert (read.tool, read.cwd, read.files) == ("Edit", "/w", ())


def test_overlong_names_are_no_names_and_many_files_are_not_all_kept() -> None:
    patch = "\n".join(f"*** Add File: f{number}.py" for number in range(1_000))
    payload = json.dumps({"session_id": "s" * 5_000, "tool_name": "apply_patch", "tool_input": {"command": patch}})
    read = read_event("codex", "before-edit", payload.encode())
    assert read.session == ""
    assert read.files == tuple(f"f{number}.py" for number in range(200))


@pytest.mark.parametrize("arguments", ["", "no patch", "[1]", "{", '{"path": 5}', '{"path": ["a.py", 5, "", "b.py"]}'])
def test_arguments_written_as_a_text_are_read_where_they_are_an_object(arguments: str) -> None:
    payload = json.dumps({"toolName": "edit", "toolArgs": arguments}).encode()
    expected = ("a.py", "b.py") if "b.py" in arguments else ()
    assert read_event("copilot", "before-edit", payload).files == expected


def _read(client: str, asked: str, payload: bytes) -> HookEvent | str:
    """The event, or the sentence that there is instead of one; anything else that is raised is a failure."""
    try:
        return read_event(client, asked, payload)
    except ValueError as refused:
        return str(refused) if type(refused) is ValueError else repr(refused)


@proves("P10.5", "H6")
@given(client=st.sampled_from(SPEAKING), asked=st.sampled_from(EVENTS) | st.text(), said=JSON)
def test_any_json_is_one_event_or_one_sentence(client: str, asked: str, said: object) -> None:
    read = _read(client, asked, json.dumps(said).encode())
    if isinstance(read, str):
        assert read.endswith(".")
        return
    assert read.event in EVENTS
    assert read.cwd == "" or read.cwd.startswith("/")
    assert not any(
        "\0" in text or "\n" in text for text in (*read.files, read.cwd, read.session, read.agent, read.tool)
    )


@proves("P10.5", "H6")
@given(client=st.sampled_from(SPEAKING), payload=st.binary(max_size=200))
def test_any_bytes_are_one_event_or_one_sentence(client: str, payload: bytes) -> None:
    read = _read(client, "session-start", payload)
    assert isinstance(read, HookEvent) or read.endswith(".")
