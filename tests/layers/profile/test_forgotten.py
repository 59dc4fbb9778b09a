"""What was removed is kept on this machine: the newest at the end, whole, and never at the cost of what is there."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.files.digests import sha256
from quire.files.transaction import FileUpdate, apply_changes
from quire.layers.profile.entries import new_fields
from quire.layers.profile.forgotten import (
    KEPT,
    KEPT_BYTES,
    Forgotten,
    Incoming,
    change_forgotten,
    change_with,
    encode,
    read_forgotten,
)
from quire.model.errors import InputError, StorageFailed
from quire.model.records import Problem

NOW = "2026-02-09T14:00:00Z"


def gone(key: str = "email", category: str = "user", **more: Any) -> Forgotten:
    fields = more.pop("fields", {"value": f"the {key}"})
    return Forgotten(at=more.pop("at", NOW), category=category, key=key, fields=fields, **more)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / ".ai-state" / "local" / "forgotten.jsonl"
    path.parent.mkdir(parents=True)
    return path


def root_of(file: Path) -> str:
    return str(file.parents[2])


def apply(file: Path, change: FileUpdate | None) -> None:
    assert change is not None
    assert change.path == "local/forgotten.jsonl"
    here = file.parents[1]
    apply_changes(str(here), [change], [], "feed")


def keys(file: Path) -> list[str]:
    return [item.key for item in read_forgotten(root_of(file))]


def problems_of(file: Path) -> list[Problem]:
    problems: list[Problem] = []
    read_forgotten(root_of(file), problems)
    return problems


# -- one line -------------------------------------------------------------------------------


def test_a_line_says_all_that_is_needed() -> None:
    item = gone(fields=new_fields("me@example.com", NOW, mood="odd"), incoming=(Incoming("user.name", "related-to"),))
    data = encode(item)
    assert data.endswith(b"\n")
    assert data.count(b"\n") == 1
    assert json.loads(data) == {
        "at": NOW,
        "category": "user",
        "key": "email",
        "fields": new_fields("me@example.com", NOW, mood="odd"),
        "incoming": [{"source": "user.name", "relation": "related-to"}],
        "private": False,
    }
    assert list(json.loads(data)["fields"]) == [*new_fields("", NOW), "mood"]


def test_a_link_with_more_to_it_is_kept_as_it_was_stored(file: Path) -> None:
    link = {"target": "user.email", "relation": "related-to", "note": {"by": "somebody"}}
    item = gone(incoming=(Incoming("user.name", "related-to", link), Incoming("user.name", "elaborates")))
    assert json.loads(encode(item))["incoming"] == [
        {"source": "user.name", "relation": "related-to", "link": link},
        {"source": "user.name", "relation": "elaborates"},
    ]
    apply(file, change_with(root_of(file), [item]))
    assert read_forgotten(root_of(file)) == [item]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.lists(st.tuples(st.text(), st.text(), st.dictionaries(st.text(), JSON), st.booleans()), max_size=5))
def test_whatever_an_entry_holds_comes_back(
    tmp_path_factory: pytest.TempPathFactory, parts: list[tuple[str, str, dict[str, Any], bool]]
) -> None:
    file = tmp_path_factory.mktemp("any") / ".ai-state" / "local" / "forgotten.jsonl"
    file.parent.mkdir(parents=True)
    items = [gone(key, category, fields=fields, private=private) for category, key, fields, private in parts]
    for item in items:
        apply(file, change_with(root_of(file), [item]))
    assert read_forgotten(root_of(file)) == items
    for number, item in enumerate(items, start=1):
        apply(file, change_forgotten(root_of(file), [], [item]))
        assert len(read_forgotten(root_of(file))) == len(items) - number


def test_what_could_not_be_restored_is_refused(file: Path) -> None:
    for item in (gone("\ud800"), gone(fields={"value": "\ud800"}), gone(fields={"\udfff": 1})):
        with pytest.raises(InputError, match="Nothing was removed"):
            encode(item)
        with pytest.raises(InputError, match="Nothing was removed"):
            change_with(root_of(file), [item])


# -- reading --------------------------------------------------------------------------------


def test_without_a_file_nothing_was_forgotten(tmp_path: Path) -> None:
    problems: list[Problem] = []
    assert read_forgotten(str(tmp_path), problems) == []
    assert problems == []
    assert change_forgotten(str(tmp_path), [], [gone()]) is None
    assert list(tmp_path.iterdir()) == []


DAMAGED = [
    "{",
    "[]",
    "5",
    "\0\0",
    "[" * 9_999,
    '{"at":"2026-02-09","category":"user","key":"email"}',
    '{"at":"2026-02-09","category":"user","key":"email","fields":[]}',
    '{"at":"2026-02-09","category":"user","key":5,"fields":{}}',
    '{"at":"2026-02-09","category":"user","key":"email","fields":{},"private":"no"}',
    '{"at":"2026-02-09","category":"user","key":"email","fields":{},"incoming":[{"source":"a.b"}]}',
    '{"at":"2026-02-09","category":"user","key":"email","fields":{"value":"tor',
]


@pytest.mark.parametrize("text", DAMAGED, ids=lambda text: text[:100])
def test_damaged_lines_are_skipped_told_and_kept(file: Path, text: str) -> None:
    data = encode(gone("a")) + text.encode() + b"\n\n \n" + encode(gone("b")).replace(b"\n", b"\r\n")
    file.write_bytes(data)
    assert keys(file) == ["a", "b"]
    (problem,) = problems_of(file)
    assert (problem.code, problem.severity, problem.path) == (
        "LocalStateDamaged",
        "warning",
        ".ai-state/local/forgotten.jsonl",
    )
    assert problem.message == "Lines that could not be read and do not count: 1."
    apply(file, change_with(root_of(file), [gone("c")]))
    assert keys(file) == ["a", "b", "c"]
    apply(file, change_forgotten(root_of(file), [], [gone("a")]))
    assert keys(file) == ["b", "c"]
    assert file.read_bytes().startswith(text.encode() + b"\n")


def test_what_may_be_missing_and_what_nobody_knows(file: Path) -> None:
    file.write_text('{"at":"some day","category":"x","key":"y","fields":{},"by":"somebody"}')
    assert read_forgotten(root_of(file)) == [gone("y", "x", at="some day", fields={})]
    assert problems_of(file) == []
    apply(file, change_with(root_of(file), [gone()]))
    assert b'"by":"somebody"}\n{' in file.read_bytes()


@pytest.mark.parametrize("kind", ["folder", "pipe", "link", "huge"])
def test_a_file_that_cannot_be_used_counts_as_empty_and_is_not_replaced(file: Path, kind: str) -> None:
    target = file.with_name("target")
    target.write_bytes(encode(gone()))
    if kind == "folder":
        file.mkdir()
    elif kind == "pipe":
        os.mkfifo(file)
    elif kind == "link":
        file.symlink_to(target)
    else:
        with file.open("wb") as huge:
            huge.truncate(9 * 1024 * 1024)
    assert read_forgotten(root_of(file)) == []
    assert [problem.code for problem in problems_of(file)] == ["LocalStateDamaged"]
    assert change_forgotten(root_of(file), [], [gone()]) is None
    with pytest.raises(StorageFailed, match=r"`\.ai-state/local/forgotten\.jsonl`.*Nothing was removed"):
        change_with(root_of(file), [gone()])
    with pytest.raises(StorageFailed):
        change_forgotten(root_of(file), [gone()], [gone()])
    assert target.read_bytes() == encode(gone())


# -- changes --------------------------------------------------------------------------------


def test_changes_are_planned_and_nothing_is_written(file: Path) -> None:
    first = change_with(root_of(file), [gone("a"), gone("b")])
    assert first == FileUpdate(path="local/forgotten.jsonl", data=encode(gone("a")) + encode(gone("b")), planned=None)
    assert os.listdir(file.parent) == []
    apply(file, first)
    second = change_with(root_of(file), [gone("c")])
    assert second.planned == sha256(file.read_bytes())
    assert second.data == file.read_bytes() + encode(gone("c"))
    third = change_forgotten(root_of(file), [], [gone("a")])
    assert third == FileUpdate(path="local/forgotten.jsonl", data=encode(gone("b")), planned=sha256(file.read_bytes()))
    assert keys(file) == ["a", "b"]


def test_half_a_line_is_not_joined_to_the_next(file: Path) -> None:
    file.write_bytes(encode(gone("a")) + b'{"torn')
    assert change_with(root_of(file), [gone("b")]).data == encode(gone("a")) + b'{"torn\n' + encode(gone("b"))


@pytest.mark.parametrize("restored", ["oldest", "newest"])
def test_of_several_with_one_name_the_one_that_is_restored_is_taken_out(file: Path, restored: str) -> None:
    times = {"oldest": "2026-02-01T00:00:00Z", "middle": "2026-02-05T00:00:00Z", "newest": NOW}
    items = {word: gone(at=at) for word, at in times.items()}
    others = [gone("email", "tools"), gone("x")]
    file.write_bytes(b"".join(map(encode, [*items.values(), *others])))
    one = items.pop(restored)
    apply(file, change_forgotten(root_of(file), [], [one]))
    assert read_forgotten(root_of(file)) == [*items.values(), *others]
    # What is not there is not taken for another one of its name.
    assert change_forgotten(root_of(file), [], [one]) is None
    apply(file, change_forgotten(root_of(file), [], list(items.values())))
    assert read_forgotten(root_of(file)) == others


def test_of_several_that_are_the_same_one_is_taken_out_for_each(file: Path) -> None:
    file.write_bytes(b"".join(map(encode, [gone("x"), gone(), gone("y"), gone(), gone("z")])))
    apply(file, change_forgotten(root_of(file), [], [gone()]))
    assert keys(file) == ["x", "email", "y", "z"]
    apply(file, change_forgotten(root_of(file), [], [gone()]))
    assert keys(file) == ["x", "y", "z"]
    assert change_forgotten(root_of(file), [], [gone()]) is None


def test_where_no_line_is_left_the_file_goes(file: Path) -> None:
    apply(file, change_with(root_of(file), [gone()]))
    change = change_forgotten(root_of(file), [], [gone()])
    assert change == FileUpdate(path="local/forgotten.jsonl", data=None, planned=sha256(encode(gone())))
    apply(file, change)
    assert not file.exists()
    assert read_forgotten(root_of(file)) == []


def test_what_is_added_and_what_is_taken_out_in_one_change(file: Path) -> None:
    file.write_bytes(b"".join(encode(gone(key)) for key in "abcab"))
    change = change_forgotten(root_of(file), [gone("d"), gone("a")], [gone("a"), gone("c"), gone("z")])
    apply(file, change)
    assert keys(file) == ["a", "b", "b", "d", "a"]
    apply(file, change_forgotten(root_of(file), [], [gone("b"), gone("b")]))
    assert keys(file) == ["a", "d", "a"]
    assert change_forgotten(root_of(file), [], [gone("b")]) is None
    assert change_forgotten(root_of(file), []) is None


# -- bounds ---------------------------------------------------------------------------------


def test_the_newest_are_kept(file: Path) -> None:
    file.write_bytes(b"".join(encode(gone(str(number))) for number in range(KEPT)))
    assert keys(file) == [str(number) for number in range(200)]
    apply(file, change_with(root_of(file), [gone("new"), gone("newer")]))
    assert keys(file) == [*(str(number) for number in range(2, 200)), "new", "newer"]


def test_many_bytes_make_older_ones_go(file: Path) -> None:
    large = {"value": "x" * (KEPT_BYTES // 4)}
    for number in range(6):
        apply(file, change_with(root_of(file), [gone(str(number), fields=large)]))
        assert file.stat().st_size <= KEPT_BYTES
    assert keys(file) == ["3", "4", "5"]
    apply(file, change_with(root_of(file), [gone("small")]))
    assert keys(file) == ["3", "4", "5", "small"]


def test_lines_that_just_fit_are_kept(file: Path) -> None:
    second = gone("b")
    room = KEPT_BYTES - len(encode(second)) - len(encode(gone("a", fields={"value": ""})))
    for over in (0, 1):
        first = gone("a", fields={"value": "x" * (room + over)})
        file.write_bytes(encode(first))
        data = change_with(root_of(file), [second]).data
        assert data == (encode(second) if over else encode(first) + encode(second))


def test_what_is_removed_now_is_kept_however_much_it_is(file: Path) -> None:
    file.write_bytes(encode(gone("old")))
    many = [gone(str(number)) for number in range(KEPT + 50)]
    apply(file, change_with(root_of(file), many))
    assert read_forgotten(root_of(file)) == many
    apply(file, change_with(root_of(file), [gone("next")]))
    assert keys(file) == [*(str(number) for number in range(51, 250)), "next"]
    large = gone("large", fields={"value": "x" * (KEPT_BYTES + 1)})
    apply(file, change_with(root_of(file), [large]))
    assert read_forgotten(root_of(file)) == [large]


def test_what_could_not_be_read_again_is_refused(file: Path) -> None:
    file.write_bytes(encode(gone("old")))
    large = gone("large", fields={"value": "x" * (5 * 1024 * 1024)})
    with pytest.raises(InputError, match="can be kept for restoring"):
        change_with(root_of(file), [large, large])
    assert keys(file) == ["old"]
