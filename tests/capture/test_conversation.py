"""Reading a conversation: the shapes that are taken, what a message says, and how bad input is refused."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from talks import messages_from

from cases import each
from quire.capture.conversation import (
    MESSAGES,
    PINS,
    PinnedText,
    read_conversation,
)
from quire.capture.message import (
    IMAGE_TOKENS,
    MESSAGE_TOKENS,
    Message,
    ToolCall,
    ToolResult,
    encode_messages,
    is_turn,
    tokens_of,
    tool_calls,
    tool_results,
)
from quire.model import limits
from quire.model.errors import InputError, InvalidJson
from quire.model.tokens import count_tokens

ASKED = {"role": "user", "content": "Add a queue.", "id": 7, "meta": {"z": 1, "a": [None, 1.5]}}
CALLING = {
    "role": "assistant",
    "content": [
        {"type": "thinking", "thinking": "hm", "signature": "abc"},
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "a.py"}},
        {"type": "text", "text": "And wait."},
    ],
}
ANSWERED = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "x = 1"}]}
CALLING_OTHERWISE = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "run", "arguments": '{"cmd": "ls"}'}}],
}
ANSWERED_OTHERWISE = {"role": "tool", "tool_call_id": "c1", "content": "Error: no such file"}
ALL = [ASKED, CALLING, ANSWERED, CALLING_OTHERWISE, ANSWERED_OTHERWISE]


def read(value: Any) -> Any:
    return read_conversation(json.dumps(value).encode(), "standard input")


def message(**fields: Any) -> Message:
    return messages_from([fields])[0]


def results(**fields: Any) -> list[ToolResult]:
    return list(tool_results(message(**fields)))


@pytest.mark.parametrize(
    "data",
    [
        json.dumps(ALL),
        json.dumps(ALL, indent=2),
        json.dumps({"messages": ALL}),
        json.dumps({"messages": ALL}, indent=1),
        "\n".join(map(json.dumps, ALL)),
        "\n\n".join(map(json.dumps, ALL)) + "\n\n",
        "\ufeff" + "\r\n".join(map(json.dumps, ALL)) + "\r\n",
        '{"messages": [\n' + ",\n".join(map(json.dumps, ALL)) + "]}",
        '{"pins": []\n, "messages": ' + json.dumps(ALL) + "}",
    ],
)
def test_every_shape_gives_the_same_messages_unchanged(data: str) -> None:
    found = read_conversation(data.encode(), "standard input").messages
    assert [item.raw for item in found] == ALL
    assert [list(item.raw) for item in found] == [list(item) for item in ALL]
    assert [item.content for item in found] == [
        "Add a queue.",
        "I look.\nAnd wait.",
        "",
        "",
        "Error: no such file",
    ]


def test_what_comes_with_the_messages_is_read() -> None:
    found = read(
        {
            "messages": [ASKED],
            "pins": ["Be brief.", {"id": "f1", "content": " x\n"}, {"content": "y"}],
            "instructions": "i",
            "keep_turns": 0,
        }
    )
    assert found.pins == [PinnedText("1", "Be brief."), PinnedText("f1", " x\n"), PinnedText("3", "y")]
    assert (found.instructions, found.keep_turns) == ("i", 0)
    bare = read({"messages": []})
    assert (bare.messages, bare.pins, bare.instructions, bare.keep_turns) == ([], [], "", None)


def test_one_message_alone_is_a_conversation() -> None:
    assert [item.raw for item in read(ASKED).messages] == [ASKED]


@each(
    ("value", "field", "said"),
    [
        (3, "<input>", "The conversation must be an array or an object."),
        ({}, "messages", "The object has no `messages`."),
        ({"messages": {}}, "messages", "The messages must be an array."),
        ({"messages": [], "keep_turn": 1}, "keep_turn", "`keep_turn` is not known beside the messages."),
        ({"messages": [], "s3cr3t!": 1}, "<key>", "`<key>` is not known beside the messages."),
        ({"messages": [], "keep_turns": -1}, "keep_turns", "`keep_turns` must be a whole number from 0 to 1,000."),
        ({"messages": [], "keep_turns": True}, "keep_turns", "`keep_turns` must be a whole number from 0 to 1,000."),
        ({"messages": [], "instructions": 1}, "instructions", "`instructions` must be a text."),
        ({"messages": [], "pins": "x"}, "pins", f"`pins` must be an array of at most {PINS} entries."),
        ({"messages": [], "pins": ["x", 2]}, "pins[1]", "Pin 2 must be a text or an object."),
        ({"messages": [], "pins": [{"id": 1, "content": "x"}]}, "pins[0].id", "Pin 1: `id` must be a text."),
        ({"messages": [], "pins": [" "]}, "pins[0].content", "Pin 1: `content` must be a text that says something."),
        ([ASKED, 1], "messages[1]", "Message 2: it must be an object."),
        (
            [{"role": "human", "content": "x"}],
            "messages[0].role",
            "Message 1: `role` must be one of system, developer, user, assistant, tool, function.",
        ),
        ([{"role": "user"}], "messages[0].content", "Message 1: `content` is missing."),
        (
            [{"role": "user", "content": 1}],
            "messages[0].content",
            "Message 1: `content` must be a text or an array of blocks.",
        ),
        (
            [{"role": "user", "content": ["a", {"text": "x"}]}],
            "messages[0].content[1]",
            "Message 1: a block of its content must be an object with a `type`.",
        ),
        (
            [{"role": "user", "content": [{"type": "text"}]}],
            "messages[0].content[0].text",
            "Message 1: a block of type text needs `text`, a text.",
        ),
        (
            [{"role": "assistant", "content": [{"type": "tool_use", "id": "a", "input": {}}]}],
            "messages[0].content[0].name",
            "Message 1: a block of type tool_use needs `name`, a text.",
        ),
        (
            [{"role": "user", "content": [{"type": "tool_result", "content": "x"}]}],
            "messages[0].content[0].tool_use_id",
            "Message 1: a block of type tool_result needs `tool_use_id`, a text.",
        ),
        (
            [{"role": "assistant", "tool_calls": [{"id": "x"}]}],
            "messages[0].tool_calls[0]",
            "Message 1: a call needs `function` with a `name`.",
        ),
        (
            [{"role": "assistant", "tool_calls": 1}],
            "messages[0].tool_calls",
            "Message 1: `tool_calls` must be an array.",
        ),
    ],
)
def test_bad_shapes_are_refused_with_their_place(value: Any, field: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        read(value)
    assert caught.value.message == said
    assert caught.value.details["field"] == field
    assert caught.value.details["allowed"]
    assert caught.value.hint


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "x is empty."),
        (b" \n ", "x is empty."),
        (b"\xff\xfe", "x is not UTF-8 text (byte 0)."),
        (b"[1,", "x is not JSON: Expecting value, line 1, column 4."),
        (b'{"role":"user","content":"a"}\n\n{"role":', "x is not JSON: Expecting value, line 3, column 9."),
        (b'{"role":"user","content":"a"}\nnonsense', "x is not JSON: Expecting value, line 2, column 1."),
        (b'[{"role":"user","role":"user"}]', "x is not usable JSON: the key `role` occurs twice in one object."),
        (b"[" * 100_000, "x is nested too deeply: the limit is 64 levels."),
        (b'{"a":' * 70 + b"1" + b"}" * 70, "x is nested too deeply: the limit is 64 levels."),
    ],
)
def test_bad_bytes_are_refused(data: bytes, said: str) -> None:
    with pytest.raises(InvalidJson) as caught:
        read_conversation(data, "x")
    assert caught.value.message == said
    assert "memory save" not in (caught.value.hint or "")


def test_too_much_is_refused() -> None:
    with pytest.raises(InputError, match="limit is 16,777,216") as caught:
        read_conversation(b" " * (limits.INPUT_BYTES + 1), "x")
    assert caught.value.details == {"field": "<input>", "limit": limits.INPUT_BYTES}
    with pytest.raises(InputError, match=r"50,001 messages; the limit is 50,000"):
        read([ASKED] * (MESSAGES + 1))
    with pytest.raises(InputError, match="256 entries"):
        read({"messages": [], "pins": ["x"] * (PINS + 1)})
    with pytest.raises(InputError, match="200,001 characters"):
        read({"messages": [], "pins": ["x" * (limits.BODY_CHARS + 1)]})


def test_a_turn_is_a_person_speaking() -> None:
    text, image = {"type": "text", "text": "x"}, {"type": "image", "source": {"data": "AAAA"}}
    result = ANSWERED["content"][0]  # type: ignore[index]
    assert is_turn(message(role="user", content="x"))
    assert is_turn(message(role="user", content=[text]))
    assert is_turn(message(role="user", content=[image]))
    assert not is_turn(message(role="user", content=" \n"))
    assert not is_turn(message(role="user", content=[]))
    assert not is_turn(message(role="user", content=[result]))
    assert not is_turn(message(role="user", content=[result, text]))
    assert not is_turn(message(role="assistant", content="x"))
    assert not is_turn(message(role="system", content="x"))


def test_calls_of_tools_in_both_dialects() -> None:
    assert list(tool_calls(message(**CALLING))) == [ToolCall("t1", "Read", {"file_path": "a.py"})]
    assert list(tool_calls(message(**CALLING_OTHERWISE))) == [ToolCall("c1", "run", {"cmd": "ls"})]
    broken = {"id": "c", "function": {"name": "f", "arguments": "{not json"}}
    assert list(tool_calls(message(role="assistant", tool_calls=[broken]))) == [ToolCall("c", "f", {})]
    old = message(role="assistant", content=None, function_call={"name": "f", "arguments": "[" * 9_999})
    assert list(tool_calls(old)) == [ToolCall("", "f", {})]


def test_answers_of_tools_in_both_dialects() -> None:
    block = {"type": "tool_result", "tool_use_id": "t1"}
    assert results(role="user", content=[{**block, "content": [{"type": "text", "text": "no"}], "is_error": True}]) == [
        ToolResult("t1", "no", True)
    ]
    # Where failure has its own mark, the words do not count.
    assert results(role="user", content=[{**block, "content": "Error: it says"}]) == [
        ToolResult("t1", "Error: it says", False)
    ]
    assert results(**ANSWERED_OTHERWISE) == [ToolResult("c1", "Error: no such file", True)]
    for text, failed in {
        "all is well": False,
        "no error was found": False,
        "Traceback (most recent call last)": True,
        '{"error": "x"}': True,
        "Process exited with code 2": True,
        "Process exited with code 0": False,
        "exit status: 1": True,
    }.items():
        assert results(role="tool", content=text) == [ToolResult("", text, failed)]


def test_tokens_count_the_words_the_calls_and_the_answers() -> None:
    assert tokens_of(message(role="user", content="one two three")) == MESSAGE_TOKENS + 3
    assert tokens_of(message(**ANSWERED)) == MESSAGE_TOKENS + count_tokens("x = 1")
    assert tokens_of(message(**CALLING_OTHERWISE)) > MESSAGE_TOKENS + 10
    image = {"type": "image", "source": {"type": "base64", "data": "A" * 100_000}}
    shown = {"type": "tool_result", "tool_use_id": "a", "content": [image, {"type": "text", "text": "word"}]}
    assert tokens_of(message(role="user", content=[image, shown])) == MESSAGE_TOKENS + 2 * IMAGE_TOKENS + 1


ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=30)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(st.builds(lambda text, more: {"role": "user", "content": text, "more": more}, ANY_TEXT, VALUES)))
def test_written_messages_are_read_back_as_they_were(messages: list[dict[str, Any]]) -> None:
    data = encode_messages(messages)
    data.decode("utf-8")
    assert data.count(b"\n") == len(messages)
    if messages:
        assert [item.raw for item in read_conversation(data, "x").messages] == messages


@given(VALUES)
def test_any_json_is_read_or_refused(value: Any) -> None:
    for shape in (value, [value], {"messages": [value]}, [{"role": "assistant", "content": value}]):
        found = []
        with contextlib.suppress(InputError):
            found = read_conversation(json.dumps(shape).encode(), "x").messages
        for item in found:
            assert tokens_of(item) >= MESSAGE_TOKENS
            assert isinstance(is_turn(item), bool)
            assert list(tool_calls(item)) is not None
