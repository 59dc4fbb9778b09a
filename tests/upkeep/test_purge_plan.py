"""The ways in which a text is written down, and files without it."""

from __future__ import annotations

import io
import json
import os
import tarfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promised import proves
from quire.guard.secrets import secret_values
from quire.model.errors import InputError
from quire.upkeep.purge.forms import PURGED, Forms
from quire.upkeep.purge.plan import plan_purge, secrets_below

VALUE = 'a"b/ö\\c-value'
ODD = st.text(alphabet='ab"\\/ö\n\r[]purged 😀', min_size=6, max_size=14).filter(
    lambda text: text.strip("\r\n") == text and text not in PURGED * len(text)
)


@pytest.mark.parametrize(
    "data",
    [
        VALUE.encode(),
        json.dumps(VALUE)[1:-1].encode(),
        json.dumps(VALUE, ensure_ascii=False)[1:-1].encode(),
        json.dumps(VALUE)[1:-1].replace("/", "\\/").encode(),
    ],
)
def test_each_way_of_writing_it_is_known(data: bytes) -> None:
    assert Forms(VALUE).without(b"<" + data + b">" + data, "notes.md") == b"<[purged]>[purged]"
    assert Forms(VALUE).count(b"<" + data + b">" + data) == 2


@proves("P9.3", "G12", found="a text was not found where other line ends, or none, stood in it")
@pytest.mark.parametrize("told", ["one two\nthree", "one two\r\nthree"])
@pytest.mark.parametrize("held", [b"one two\nthree", b"one two\r\nthree", b"one two three", b"one two\\r\\nthree"])
def test_lines_are_found_whatever_ends_them(told: str, held: bytes) -> None:
    assert Forms(told).without(b"(" + held + b")", "a.log") == b"([purged])"


@proves("P9.3", "G12", found="a text that ends like the mark begins came together again around the mark")
def test_what_comes_together_around_the_mark_goes_too() -> None:
    assert Forms("secret[").without(b"secretsecret[", "a.md") == b"[purged]purged]"
    assert json.loads(Forms("secret[").without(b'["secretsecret\\u005b"]', "a.json")) == ["[purged]purged]"]


@proves("P9.3", "G12", found="a file whose escapes look like the text was written anew")
def test_what_only_looks_like_it_in_escapes_stays() -> None:
    value = "one\\ntwo-three"
    data = b'{"text" :  "one\\ntwo-three"}'
    assert Forms(value).without(data, "a.json") == data


def test_escapes_that_nobody_needs_hide_nothing() -> None:
    hidden = "".join(f"\\u{ord(char):04x}" for char in "hidden-value")
    assert Forms("hidden-value").without(f'{{"a": "is {hidden}"}}'.encode(), "a.json") == b'{"a": "is [purged]"}'
    lines = f'{{"a": 1}}\n{{"a": "{hidden}"}}\n'.encode()
    assert Forms("hidden-value").without(lines, "a.jsonl") == b'{"a": 1}\n{"a": "[purged]"}\n'


def test_a_name_of_a_field_is_refused_but_in_copies() -> None:
    data = b'{"hidden-value": {"value": "x"}}'
    with pytest.raises(InputError, match="field name"):
        Forms("hidden-value").without(data, ".ai-state/memory.json")
    for path in (".ai-state/memory.backup.json", ".memory/recovery/0001-x/a.json", ".backup/.memory/a.json"):
        assert Forms("hidden-value").without(data, path) == b'{"[purged]": {"value": "x"}}'


def test_a_file_without_it_keeps_every_byte() -> None:
    for data, path in ((b'{"a" :  "\\u0041\\/"}', "a.json"), (b"\xff\xfe\r\n", "a.log"), (b"{not\\n json", "a.jsonl")):
        assert Forms("hidden-value").without(data, path) == data


@given(ODD, st.lists(ODD, max_size=3), st.booleans())
@proves("P9.3", "G12")
def test_no_text_survives(text: str, around: list[str], plain: bool) -> None:
    held = {"a": [text.join(["", *around, ""]), {"b": text + text}], "c": 1}
    after = Forms(text).without(json.dumps(held, ensure_ascii=plain).encode("utf-8"), "a.json")
    assert not _is_in(text, json.loads(after))
    assert json.loads(after)["c"] == 1
    lines = Forms(text).without(f"- {text}{text}\n{''.join(around)}".encode(), "a.md")
    assert text.encode() not in lines


def _is_in(text: str, value: Any) -> bool:
    if isinstance(value, str):
        return text in value
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_is_in(text, item) for item in items)


def _put(root: Path, path: str, data: bytes) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_bytes(data)


def test_files_named_after_it_and_archives_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    _put(tmp_path, ".memory/memory/the-hidden-value.md", b"Nothing.\n")
    _put(tmp_path, ".memory/.backup/memory-1.tar.gz", b"no archive")
    _put(tmp_path, ".memory/local/notes.md", b"- hidden value\n")
    plan = plan_purge(str(tmp_path), ".memory", "Hidden Value")
    assert [(place.path, place.action, place.reason.partition(";")[0]) for place in plan.places] == [
        (".memory/.backup/memory-1.tar.gz", "left", "it is an unreadable archive"),
        (".memory/memory/the-hidden-value.md", "left", "its file name contains the text"),
    ]
    assert plan.changes == ()


@proves("P9.3", "G12", found="where a node had lost its body, the purge itself failed")
def test_a_node_without_its_body_is_in_nobodys_way(tmp_path: Path) -> None:
    _put(tmp_path, ".memory/memory/gate.json", b'{"title": "hidden-value", "content_hash": "0"}')
    (change,) = plan_purge(str(tmp_path), ".memory", "hidden-value").changes
    assert change.data == b'{"title": "[purged]", "content_hash": "0"}'


def test_links_lead_nowhere(tmp_path: Path) -> None:
    _put(tmp_path, "mine.md", b"hidden-value\n")
    (tmp_path / ".memory").mkdir()
    os.symlink(tmp_path / "mine.md", tmp_path / ".memory/notes.md")
    os.symlink(tmp_path, tmp_path / ".memory/away")
    assert plan_purge(str(tmp_path), ".memory", "hidden-value").changes == ()


def _token(letter: str) -> str:
    """Of a known form; made of parts, so that no file of ours holds one."""
    return "gh" + "p_" + (letter + "7xQ2") * 7 + letter


@proves("P9.3", "G12", found="a key of several lines that stands in JSON was found, and left")
def test_secrets_are_found_as_they_were_told(tmp_path: Path) -> None:
    key = "\n".join(
        ["-----BEGIN " + "PRIVATE KEY-----", *("MIIEvQ" + "aB3xZ9" * 9,) * 3, "-----END PRIVATE" + " KEY-----"]
    )
    _put(tmp_path, ".memory/memory/a.md", f"Is {_token('a')}.\n".encode())
    _put(tmp_path, ".memory/facts.jsonl", json.dumps({"content": f"Is\n{key}\n"}).encode() + b"\n")
    found = secrets_below(str(tmp_path), ".memory")
    assert _token("a") in found
    assert [value for value in found if "\\" in value] == []
    for text in found:
        for change in plan_purge(str(tmp_path), ".memory", text).changes:
            assert change.data is not None
            _put(tmp_path, f".memory/{change.path}", change.data)
    assert secrets_below(str(tmp_path), ".memory") == []
    held = json.loads((tmp_path / ".memory/facts.jsonl").read_bytes())["content"]
    assert "MIIEvQ" not in held
    assert secret_values(held) == []


def test_many_secrets_in_one_file(tmp_path: Path) -> None:
    tokens = [_token("abcdefghijklmnopqrstuvwxyz"[number % 26]) + str(number) * 3 for number in range(10, 90)]
    _put(tmp_path, ".memory/local/notes.md", "\n".join(f"- {token}" for token in tokens).encode())
    found = secrets_below(str(tmp_path), ".memory")
    data = (tmp_path / ".memory/local/notes.md").read_bytes()
    for value in found:
        data = data.replace(value.encode(), b"")
    assert b"7xQ2" not in data


@proves("P9.3", "G12", found="secrets in archives and logs were not looked for")
def test_secrets_are_looked_for_in_archives_and_logs(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        data = f"Is {_token('b')}.".encode()
        member = tarfile.TarInfo(".memory/memory/b.md")
        member.size = len(data)
        tar.addfile(member, io.BytesIO(data))
    _put(tmp_path, ".memory/.backup/memory-1.tar.gz", buffer.getvalue())
    _put(tmp_path, ".memory/.backup/memory-2.tar.gz", b"no archive")
    _put(tmp_path, ".memory/local/hooks.log", f"said {_token('c')}\n".encode())
    assert secrets_below(str(tmp_path), ".memory") == [_token("b"), _token("c")]
