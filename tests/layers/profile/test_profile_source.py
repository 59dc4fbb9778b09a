"""The profile as the index sees it: records, edges, problems and an overview of both documents."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest
from entry_making import AT, BEFORE, SHARED, TWIN, Store, document, entry, link, written

from cases import each
from quire.files.digests import sha256
from quire.index.catalog import Index
from quire.index.database import open_in_memory
from quire.layers.profile.entries import read_entry
from quire.layers.profile.records import entry_edges, entry_of, entry_record, entry_ref, tag_name, text_name
from quire.layers.profile.source import ProfileOverview, ProfileSource, overview_of, read_document, seen_entries
from quire.model.errors import InvalidStore, UnsupportedVersion
from quire.model.records import Edge, Problem, Record, RecordSummary


def items(store: Store) -> list[Any]:
    return list(ProfileSource(store.places).read(["memory.json"]))


def overview(store: Store) -> ProfileOverview:
    (found,) = [item for item in items(store) if isinstance(item, RecordSummary)]
    return overview_of(found.value)


def index_of(store: Store) -> Index:
    index = Index(open_in_memory())
    index.bring_up([ProfileSource(store.places)], None)
    return index


# -- records --------------------------------------------------------------------------------


def test_an_entry_as_a_record() -> None:
    fields = entry(
        "Prefers tabs.",
        tags=["Style", "editor", "style"],
        confidence=0.5,
        importance=8,
        source={"type": "user-stated", "detail": None},
        status="archived",
        updated_at=AT,
        novel=2**70,
    )
    held = read_entry("tools", "indent.style", fields, is_private=True)
    record = entry_record(held)
    assert record == Record(
        ref="profile:tools.indent.style",
        layer="profile",
        kind="entry",
        title="indent.style: Prefers tabs.",
        text="indent.style: Prefers tabs.",
        status="archived",
        path="memory.json",
        section="tools",
        weight=record.weight,
        created_at=BEFORE,
        updated_at=AT,
        tags=("style", "editor"),
        origin="user-stated",
        names=(
            "tools.indent.style",
            f"profile-text:{sha256(b'prefers tabs')[:32]}",
            "profile-tag:style",
            "profile-tag:editor",
        ),
        raw=msgspec.json.encode((True, fields)),
    )
    assert record.weight == pytest.approx((0.9 + 0.08) * 0.95)
    assert entry_of(record) == held


def test_a_title_is_one_line_of_bearable_length() -> None:
    title = entry_record(read_entry("tools", "k", entry("two\n\tlines " + "x" * 200))).title
    assert title.startswith("k: two lines xxx")
    assert len(title) == 80


def test_importance_decides_between_equals_only() -> None:
    weights = [entry_record(read_entry("tools", "k", entry(importance=number))).weight for number in range(1, 11)]
    assert weights == sorted(set(weights))
    assert weights[-1] / weights[0] < 1.1
    sure = [entry_record(read_entry("tools", "k", entry(confidence=number))).weight for number in (0.0, 0.5, 1.0, None)]
    assert sure[0] < sure[1] < sure[2] == sure[3]
    assert sure[2] / sure[0] < 1.12


@pytest.mark.parametrize(
    ("value", "summary", "text"),
    [
        ("A long value.", "", "A long value."),
        ("A long value.", "Something else", "A long value.\nSomething else"),
        ("A long value that goes on", "A long value…", "A long value that goes on"),
        ("A long value that goes on", "A long value...", "A long value that goes on"),
    ],
)
def test_a_summary_is_searched_where_it_says_something_of_its_own(value: str, summary: str, text: str) -> None:
    assert entry_record(read_entry("tools", "k", entry(value, summary=summary))).text == f"k: {text}"


def test_texts_that_say_the_same_have_one_name() -> None:
    assert text_name("Uses  TABS\n") == text_name("uses tabs") == text_name(" ｕses tabs")
    assert text_name("Straße") == text_name("STRASSE")
    assert text_name("cafe\u0301") == text_name("café")
    assert text_name("Uses tabs, always!") == text_name("uses tabs always")
    assert text_name("uses tabs") != text_name("uses tab")
    assert text_name("🎉") != text_name("🎈")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I prefer C over Rust", "I prefer C++ over Rust"),
        ("I prefer C over Java", "I prefer C# over Java"),
        ("Python >= 3.11 only", "Python <= 3.11 only"),
        ("Set the offset to -1 always", "Set the offset to 1 always"),
    ],
)
def test_signs_that_mean_something_are_no_punctuation(one: str, other: str) -> None:
    assert text_name(one) != text_name(other)
    assert tag_name("Straße") == tag_name("STRASSE") == "profile-tag:strasse"
    assert entry_ref("user.a") == "profile:user.a"


def test_links_as_edges() -> None:
    held = read_entry("user", "a", entry(links=[link("tools.b.c"), link("user.a", "novel kind"), 7]))
    assert entry_edges(held) == [
        Edge(
            ref="profile:user.a related-to profile:tools.b.c",
            source="profile:user.a",
            predicate="related-to",
            target="profile:tools.b.c",
            status="active",
            path="memory.json",
        ),
        Edge(
            ref="profile:user.a novel kind profile:user.a",
            source="profile:user.a",
            predicate="novel kind",
            target="profile:user.a",
            status="active",
            path="memory.json",
        ),
    ]


@each("category", ["novel", " ", "", "profile:x", "größe 東"])
@each("key", ["k", "a.b", ".", " k ", "", "größe 東", "a:b"])
def test_an_entry_of_any_name_is_itself_again(category: str, key: str) -> None:
    held = read_entry(category, key, entry())
    assert entry_of(entry_record(held)) == held


def test_a_category_with_a_dot_keeps_its_name() -> None:
    held = read_entry("a.b", "c", entry())
    assert entry_of(entry_record(held)) == held


# -- both documents -------------------------------------------------------------------------


def test_all_that_both_documents_hold(tmp_path: Path) -> None:
    shared = document(
        user={"a": entry("shared"), "odd": 7}, tools={"b": entry(links=[link("user.a")]), "c": None}, novel=[1]
    )
    twin = document(user={"a": entry("private"), "d": entry("D")}, tools={"e": {}})
    store = Store(tmp_path, shared, twin)
    found = items(store)
    assert overview_of(found[0].value) == ProfileOverview(
        version="1.2",
        private_version="1.2",
        session_count=3,
        size=len(written(shared)) + len(written(twin)),
        shadowed=("user.a",),
        unread=4,
    )
    assert [item.message for item in found if isinstance(item, Problem)] == [
        ".ai-state/memory.json: `user.odd`: it is not an object.",
        ".ai-state/memory.json: `tools.c`: it is not an object.",
        ".ai-state/memory.json: `novel`: it is not an object, so it holds no records.",
        ".ai-state/local/memory.json: `tools.e`: it has no text in `value`.",
    ]
    assert {item.code for item in found if isinstance(item, Problem)} == {"ProfileEntryInvalid"}
    assert [(item.ref, item.text) for item in found if isinstance(item, Record)] == [
        ("profile:user.a", "a: private"),
        ("profile:tools.b", "b: A text."),
        ("profile:user.d", "d: D"),
    ]
    assert [item.ref for item in found if isinstance(item, Edge)] == ["profile:tools.b related-to profile:user.a"]


def test_only_the_first_of_many_bad_entries_are_told_of_one_by_one(tmp_path: Path) -> None:
    store = Store(tmp_path, document(user={f"k{number}": number for number in range(30)}))
    assert len([item for item in items(store) if isinstance(item, Problem)]) == 20
    assert overview(store).unread == 30


def test_a_document_at_home_is_called_by_its_name(tmp_path: Path) -> None:
    store = Store(tmp_path, document(), home=document(user={"a": 7}))
    (problem,) = [item for item in items(store) if isinstance(item, Problem)]
    assert problem.message == "~/registry/profile/memory.json: `user.a`: it is not an object."


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"{", InvalidStore.code),
        (b'{"schema_version": "9.9", "memories": {}}', UnsupportedVersion.code),
        (b'{"schema_version": 1.2, "memories": {}}', UnsupportedVersion.code),
        (b"", InvalidStore.code),
    ],
)
@pytest.mark.parametrize("where", ["shared", "twin", "home"])
def test_one_that_cannot_be_used_is_a_fault_and_the_other_is_read(
    tmp_path: Path, data: bytes, code: str, where: str
) -> None:
    other = document(tools={"b": entry()})
    kwargs = {"shared": other, where: data}
    if where == "shared":
        kwargs["twin"] = other
    store = Store(tmp_path, **kwargs)
    found = overview(store)
    assert found.fault is not None
    assert found.fault[0] == code
    assert found.fault[2]
    error = found.error()
    assert error is not None
    assert error.code == code
    assert error.message == found.fault[1]
    assert error.hint == found.fault[2]
    assert [item.code for item in items(store) if isinstance(item, Problem)] == [code]
    assert [item.ref for item in items(store) if isinstance(item, Record)] == ["profile:tools.b"]


def test_without_documents_there_is_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path)
    source = ProfileSource(store.places)
    assert source.stamps() == {}
    assert source.folder_stamps() == {}
    assert items(store) == [ProfileOverview().summary()]
    assert overview_of(None) == ProfileOverview()
    assert ProfileOverview().error() is None


@pytest.mark.parametrize(
    ("shared", "twin", "older"),
    [("1.2", "1.2", False), ("1.0", "1.2", True), ("1.2", "1.1", True), ("2.0", "1.3", False)],
)
def test_whether_one_is_to_be_brought_up(tmp_path: Path, shared: str, twin: str, older: bool) -> None:
    assert overview(Store(tmp_path, document(shared), document(twin))).is_older == older


def test_a_document_without_count_has_counted_none(tmp_path: Path) -> None:
    assert overview(Store(tmp_path, {"schema_version": "1.2", "memories": {}})).session_count == 0


# -- stamps ---------------------------------------------------------------------------------


def test_a_stamp_tells_of_every_change_of_either(tmp_path: Path) -> None:
    store = Store(tmp_path, document())
    seen = [ProfileSource(store.places).stamps()["memory.json"]]

    def look() -> None:
        seen.append(ProfileSource(store.places).stamps()["memory.json"])

    store.shared.write_bytes(written(document(tools={})))
    look()
    store.twin.parent.mkdir()
    store.twin.write_bytes(written(document()))
    look()
    os.utime(store.twin, ns=(1, 1))
    look()
    (store.twin.parent / "private.json").write_text('{"version": 1, "place": "home"}')
    look()
    (store.twin.parent / "private.json").unlink()
    store.shared.unlink()
    look()
    assert len(set(seen)) == len(seen)
    assert ProfileSource(store.places).stamps(["other"]) == {}
    assert list(ProfileSource(store.places).stamps(["memory.json"])) == ["memory.json"]


def test_no_other_file_is_ours(tmp_path: Path) -> None:
    store = Store(tmp_path, document(tools={"b": entry()}))
    assert list(ProfileSource(store.places).read([])) == [ProfileOverview().summary()]


# -- in the index ---------------------------------------------------------------------------


def test_the_index_forgets_what_is_gone(tmp_path: Path) -> None:
    store = Store(tmp_path, document(tools={"b": entry(links=[link("tools.c")]), "odd": 7}))
    index = index_of(store)
    assert index.find("profile:tools.b") is not None
    assert index.edge_count("profile") == 1
    assert len(index.problems()) == 1
    store.shared.unlink()
    index.bring_up([ProfileSource(store.places)], None)
    assert index.find("profile:tools.b") is None
    assert (index.edge_count("profile"), index.problems()) == (0, [])
    assert overview_of(index.summary("profile")) == ProfileOverview()


def test_entries_are_found_by_text_and_tags(tmp_path: Path) -> None:
    tags = ["alpha", "Beta"]
    store = Store(
        tmp_path,
        document(
            tools={"a": entry("One.", tags=tags), "b": entry("Two.", tags=["ALPHA", "beta", "c"]), "c": entry("One.")},
            user={"d": entry("One.", tags=tags, status="archived")},
        ),
    )
    index = index_of(store)
    assert [item.ref for item in index.named(text_name("ONE."))] == [
        "profile:tools.a",
        "profile:tools.c",
        "profile:user.d",
    ]
    found = index.sharing([tag_name("alpha"), tag_name("beta"), tag_name("c")], 2, ("active",), 10)
    assert found == ["profile:tools.b", "profile:tools.a"]


def test_odd_texts_go_in_and_come_out(tmp_path: Path) -> None:
    value = "a\x00b \u2028 \U0010ffff \x7f cafe\u0301"
    store = Store(tmp_path, document(**{"größe\x00": {"k\x00ey": entry(value, tags=["x\x00y"])}}))
    (record,) = index_of(store).records("profile")
    held = entry_of(record)
    assert (held.category, held.key, held.value, held.tags) == ("größe\x00", "k\x00ey", value, ("x\x00y",))


# -- what is seen ---------------------------------------------------------------------------


def test_every_entry_once(tmp_path: Path) -> None:
    store = Store(tmp_path, document(user={"a": entry("1"), "b": entry("2")}), document(user={"b": entry("3"), "c": 7}))
    shared = read_document(str(store.root), SHARED, "S")
    private = read_document(str(store.root), TWIN, "P")
    seen = seen_entries(shared, private)
    assert [(item.name, item.value, item.is_private) for item in seen.entries] == [
        ("user.a", "1", False),
        ("user.b", "3", True),
    ]
    assert (seen.shadowed, seen.unread) == (["user.b"], ["P: `user.c`: it is not an object."])
    assert seen_entries(None, None).entries == []


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    root = str(tmp_path)
    (tmp_path / "file").write_text("x")
    for name in ("none", "none/none", "file/below"):
        assert read_document(root, name, "N") is None
    (tmp_path / "folder").mkdir()
    os.symlink(tmp_path / "file", tmp_path / "link")
    os.symlink(tmp_path / "folder", tmp_path / "way")
    os.mkfifo(tmp_path / "pipe")
    for name in ("folder", "link", "pipe", "way/file"):
        with pytest.raises(InvalidStore, match="`N` cannot be read: "):
            read_document(root, name, "N")
