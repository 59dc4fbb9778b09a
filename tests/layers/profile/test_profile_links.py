"""Links added and taken away; an entry forgotten with all that lead to it, and brought back as it was."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from entry_making import AT, Store, document, entry, link, written
from hypothesis import given
from hypothesis import strategies as st

from quire.layers.profile.forgotten import Forgotten, Incoming, read_forgotten
from quire.layers.profile.layout import RELATIONS
from quire.layers.profile.links import Linked, RemovedLinks, add_link, forget, remove_links, restore
from quire.model.errors import InputError, NotFound


def store_of(tmp_path: Path, **tools: dict[str, Any]) -> Store:
    return Store(tmp_path, document(tools={key: entry(key.upper(), **fields) for key, fields in tools.items()}))


def links(store: Store, key: str) -> Any:
    return store.memories()["tools"][key]["links"]


# -- adding ---------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_link_is_written_to_its_source_alone(tmp_path: Path, relation: str) -> None:
    store = store_of(tmp_path, a={}, b={}, c={})
    draft = store.draft()
    done = add_link(draft, "tools.a", "profile:tools.b", relation)
    is_archived = relation == "supersedes"
    assert done == Linked(source="tools.a", target="tools.b", relation=relation, created=True, archived=is_archived)
    store.write(draft)
    expected = document(tools={"a": entry("A", links=[link("tools.b", relation)]), "b": entry("B"), "c": entry("C")})
    if is_archived:
        expected["memories"]["tools"]["b"] = entry("B", status="archived", updated_at=AT)
    assert store.shared.read_bytes() == written(expected)


def test_the_same_link_again_changes_nothing(tmp_path: Path) -> None:
    store = store_of(tmp_path, a={"links": [link("tools.b", weight=3)]}, b={})
    draft = store.draft()
    done = add_link(draft, "tools.a", "tools.b", "related-to")
    assert (done.created, done.archived, draft.is_empty) == (False, False, True)
    assert add_link(draft, "tools.a", "tools.b", "depends-on").created
    store.write(draft)
    assert links(store, "a") == [link("tools.b", weight=3), link("tools.b", "depends-on")]


def test_links_nobody_understands_stay(tmp_path: Path) -> None:
    odd = [7, {"target": "tools.b"}, "text", link("nowhere.x", "novel", since=1)]
    store = store_of(tmp_path, a={"links": odd}, b={}, c={"links": None})
    draft = store.draft()
    add_link(draft, "tools.a", "tools.b", "related-to")
    add_link(draft, "tools.c", "tools.b", "related-to")
    store.write(draft)
    assert links(store, "a") == [*odd, link("tools.b")]
    assert links(store, "c") == [link("tools.b")]


@pytest.mark.parametrize("status", ["archived", "superseded", "resting"])
def test_what_is_put_away_already_stays_as_it_is(tmp_path: Path, status: str) -> None:
    store = store_of(tmp_path, a={}, b={"status": status})
    draft = store.draft()
    done = add_link(draft, "tools.a", "tools.b", "supersedes")
    assert (done.created, done.archived) == (True, False)
    store.write(draft)
    assert store.memories()["tools"]["b"] == entry("B", status=status)


def test_what_was_brought_back_is_put_away_again(tmp_path: Path) -> None:
    store = store_of(tmp_path, a={"links": [link("tools.b", "supersedes")]}, b={})
    draft = store.draft()
    done = add_link(draft, "tools.a", "tools.b", "supersedes")
    assert (done.created, done.archived) == (False, True)
    store.write(draft)
    assert store.memories()["tools"]["b"]["status"] == "archived"


@pytest.mark.parametrize(
    ("source", "target", "field"),
    [("tools.a", "tools.a", "target"), ("tools", "tools.a", "source"), ("tools.a", "a", "target")],
)
def test_links_that_make_no_sense(tmp_path: Path, source: str, target: str, field: str) -> None:
    draft = store_of(tmp_path, a={}, b={}).draft()
    with pytest.raises(InputError) as caught:
        add_link(draft, source, target, "related-to")
    assert caught.value.details == {"field": field}
    assert draft.is_empty


@pytest.mark.parametrize(
    ("source", "target", "said"),
    [
        ("tools.z", "tools.a", "There is no source record `tools.z`."),
        ("tools.a", "tools.z", "There is no target record `tools.z`."),
    ],
)
def test_both_ends_must_be_there(tmp_path: Path, source: str, target: str, said: str) -> None:
    draft = store_of(tmp_path, a={}, b={}).draft()
    with pytest.raises(NotFound) as caught:
        add_link(draft, source, target, "related-to")
    assert caught.value.message == said
    assert draft.is_empty


def test_a_relation_must_be_one(tmp_path: Path) -> None:
    draft = store_of(tmp_path, a={}, b={}).draft()
    for work in (lambda: add_link(draft, "tools.a", "tools.b", "likes"),
                 lambda: remove_links(draft, "tools.a", "tools.b", "likes")):  # fmt: skip
        with pytest.raises(InputError) as caught:
            work()
        assert caught.value.details["field"] == "relation"


@pytest.mark.parametrize("through", [0, 1, 3])
def test_no_circle_of_replacements(tmp_path: Path, through: int) -> None:
    chain = ["b", *(f"m{number}" for number in range(through)), "a"]
    tools: dict[str, dict[str, Any]] = {"a": {}}
    for one, other in itertools.pairwise(chain):
        tools[one] = {"links": [link(f"tools.{other}", "supersedes")]}
    store = store_of(tmp_path, **tools)
    draft = store.draft()
    with pytest.raises(InputError) as caught:
        add_link(draft, "tools.a", "tools.b", "supersedes")
    assert caught.value.details == {"field": "relation"}
    assert "`tools.b` replaces `tools.a` already" in caught.value.message
    assert draft.is_empty
    assert add_link(draft, "tools.a", "tools.b", "elaborates").created


def test_a_circle_that_is_there_already_does_not_keep_anybody_from_linking(tmp_path: Path) -> None:
    store = store_of(
        tmp_path,
        a={"links": [link("tools.b", "supersedes")]},
        b={"links": [link("tools.a", "supersedes")]},
        c={},
    )
    assert add_link(store.draft(), "tools.c", "tools.a", "supersedes").created


@pytest.mark.parametrize("target", ["profile:.x", " .x", ". ", "profile:a."])
def test_odd_links_of_others_stop_nobody(tmp_path: Path, target: str) -> None:
    store = store_of(tmp_path, a={}, b={"links": [link(target, "supersedes")]})
    assert add_link(store.draft(), "tools.a", "tools.b", "supersedes").created


def test_keys_with_dots_and_categories_nobody_knows(tmp_path: Path) -> None:
    store = Store(tmp_path, document(novel={"a.b.c": entry(), "D E": entry()}))
    draft = store.draft()
    assert add_link(draft, "novel.a.b.c", "novel.D E", "elaborates").created
    store.write(draft)
    assert store.memories()["novel"]["a.b.c"]["links"] == [link("novel.D E", "elaborates")]


# -- taking away ----------------------------------------------------------------------------


def test_all_relations_or_one(tmp_path: Path) -> None:
    held = [link("tools.b"), link("tools.c"), link("tools.b", "elaborates", since=1), 7, link("tools.b")]
    store = store_of(tmp_path, a={"links": held}, b={}, c={})
    draft = store.draft()
    assert remove_links(draft, "tools.a", "tools.b", "elaborates") == RemovedLinks(
        source="tools.a", target="tools.b", relations=("elaborates",)
    )
    store.write(draft)
    assert links(store, "a") == [link("tools.b"), link("tools.c"), 7, link("tools.b")]
    draft = store.draft()
    assert remove_links(draft, "tools.a", "tools.b").relations == ("related-to",)
    store.write(draft)
    assert links(store, "a") == [link("tools.c"), 7]
    assert store.memories()["tools"]["a"]["updated_at"] != AT


def test_a_link_to_what_is_gone_can_be_taken_away(tmp_path: Path) -> None:
    store = store_of(tmp_path, a={"links": [link("tools.gone", "novel")]})
    draft = store.draft()
    assert remove_links(draft, "tools.a", "tools.gone").relations == ("novel",)


def test_a_link_that_is_not_there(tmp_path: Path) -> None:
    draft = store_of(tmp_path, a={"links": [link("tools.b")]}, b={}).draft()
    for target, relation in (("tools.c", None), ("tools.b", "elaborates")):
        with pytest.raises(NotFound) as caught:
            remove_links(draft, "tools.a", target, relation)
        assert caught.value.details == {"source": "tools.a", "target": target}
    with pytest.raises(NotFound, match=r"no source record `tools\.z`"):
        remove_links(draft, "tools.z", "tools.b")
    assert draft.is_empty


# -- forgetting -----------------------------------------------------------------------------


def test_an_entry_goes_with_all_links_to_it(tmp_path: Path) -> None:
    store = store_of(
        tmp_path,
        a={"colour": "red", "links": [link("tools.b"), link("tools.a")]},
        b={"links": [link("tools.c"), link("tools.a"), link("tools.a", "elaborates")]},
        c={"links": [link("tools.aa")]},
    )
    before = store.shared.read_bytes()
    draft = store.draft()
    gone = forget(draft, "tools", "a")
    assert gone == Forgotten(
        at=AT,
        category="tools",
        key="a",
        fields=entry("A", colour="red", links=[link("tools.b"), link("tools.a")]),
        incoming=(Incoming("tools.b", "related-to"), Incoming("tools.b", "elaborates")),
    )
    store.write(draft)
    assert store.memories()["tools"] == {
        "b": entry("B", links=[link("tools.c")]),
        "c": entry("C", links=[link("tools.aa")]),
    }
    assert (store.root / ".ai-state" / "memory.backup.json").read_bytes() == before
    assert read_forgotten(str(store.root)) == [gone]


def test_what_is_not_there_cannot_be_forgotten(tmp_path: Path) -> None:
    draft = Store(tmp_path, document(tools={"a": "no entry"})).draft()
    for key in ("a", "b"):
        with pytest.raises(NotFound):
            forget(draft, "tools", key)
    assert draft.is_empty
    assert not draft.is_removal


def test_an_entry_that_hides_another_keeps_its_own_words_when_a_link_goes(tmp_path: Path) -> None:
    """The shared twin has a link, the private one has another text: each stays what it is."""
    shared = document(user={"a": entry("shared", links=[link("tools.x")])}, tools={"x": entry("X")})
    store = Store(tmp_path, shared, document(user={"a": entry("private")}))
    draft = store.draft()
    forget(draft, "tools", "x")
    store.write(draft)
    assert store.memories(store.twin)["user"]["a"] == entry("private")
    assert store.memories()["user"]["a"]["value"] == "shared"


def test_both_lose_the_link_where_both_have_it(tmp_path: Path) -> None:
    shared = document(user={"a": entry("shared", links=[link("tools.x")])}, tools={"x": entry("X")})
    store = Store(tmp_path, shared, document(user={"a": entry("private", links=[link("tools.x")])}))
    draft = store.draft()
    forget(draft, "tools", "x")
    store.write(draft)
    assert store.memories(store.twin)["user"]["a"] == entry("private")
    assert store.memories()["user"]["a"] == entry("shared")


def test_what_stood_in_both_documents_can_be_restored_from_both(tmp_path: Path) -> None:
    shared, twin = document(user={"a": entry("shared")}), document(user={"a": entry("private")})
    store = Store(tmp_path, shared, twin)
    draft = store.draft()
    forget(draft, "user", "a")
    store.write(draft)
    kept = [item.fields["value"] for item in read_forgotten(str(store.root))]
    top = store.root / ".ai-state"
    kept += [json.loads((top / name).read_text())["memories"]["user"]["a"]["value"]
             for name in ("memory.backup.json", "local/memory.backup.json")]  # fmt: skip
    assert {"shared", "private"} <= set(kept)
    assert kept[0] == "private"


def test_links_that_went_with_an_earlier_copy_do_not_count_again(tmp_path: Path) -> None:
    """A merge brought the entry back, and none of the links to it: forgetting it again removes none."""
    store = store_of(tmp_path, a={}, b={"links": [link("tools.a")]})
    draft = store.draft()
    forget(draft, "tools", "a")
    store.write(draft)
    value = store.stored()
    value["memories"]["tools"]["a"] = entry("A")
    store.shared.write_bytes(written(value))
    assert forget(store.draft(), "tools", "a").incoming == ()


# -- restoring ------------------------------------------------------------------------------


def round_trip(store: Store, category: str, key: str) -> tuple[Any, Any]:
    before = store.memories()
    draft = store.draft()
    forget(draft, category, key)
    store.write(draft)
    draft = store.draft()
    (gone,) = read_forgotten(str(store.root))
    restore(draft, gone)
    store.write(draft)
    assert read_forgotten(str(store.root)) == []
    return before, store.memories()


def test_an_entry_comes_back_with_its_links(tmp_path: Path) -> None:
    store = store_of(
        tmp_path,
        a={"colour": "red", "links": [link("tools.b"), 7]},
        b={"links": [link("tools.a", "elaborates")]},
        c={},
    )
    before, after = round_trip(store, "tools", "a")
    assert after == before
    assert list(after["tools"]) == ["b", "c", "a"]


def test_a_link_comes_back_with_what_nobody_knows_about_it(tmp_path: Path) -> None:
    store = store_of(tmp_path, a={}, b={"links": [link("tools.a", since="2026")]})
    before, after = round_trip(store, "tools", "a")
    assert after["tools"]["b"]["links"] == before["tools"]["b"]["links"]


@pytest.mark.parametrize("key", ["b ", " b", "Größe", "b.c", ".", "profile:x"])
def test_a_link_comes_back_however_the_one_that_holds_it_is_called(tmp_path: Path, key: str) -> None:
    store = store_of(tmp_path, a={}, **{key: {"links": [link("tools.a")]}})
    before, after = round_trip(store, "tools", "a")
    assert after["tools"][key]["links"] == before["tools"][key]["links"]


def test_links_come_back_as_far_as_their_sources_are_there(tmp_path: Path) -> None:
    store = store_of(tmp_path, b={}, c={"links": [link("tools.a")]})
    draft = store.draft()
    incoming = tuple(Incoming(f"tools.{key}", "related-to") for key in ("b", "c", "gone"))
    made, number = restore(draft, Forgotten(at=AT, category="tools", key="a", fields=entry("A"), incoming=incoming))
    assert (made.name, number) == ("tools.a", 1)
    store.write(draft)
    assert links(store, "b") == links(store, "c") == [link("tools.a")]


@pytest.mark.parametrize("source", ["", "tools", ".x", "profile:"])
def test_a_link_from_nowhere_stops_nothing(tmp_path: Path, source: str) -> None:
    draft = store_of(tmp_path, b={}).draft()
    gone = Forgotten(
        at=AT, category="tools", key="a", fields=entry(), incoming=(Incoming(source, "x"), Incoming("tools.b", "x"))
    )
    assert restore(draft, gone)[1] == 1


def test_what_is_there_again_is_not_replaced(tmp_path: Path) -> None:
    store = Store(tmp_path, document(tools={"a": entry("new"), "b": "no entry"}))
    for key in ("a", "b"):
        draft = store.draft()
        with pytest.raises(InputError, match=f"There is a record `tools.{key}` again") as caught:
            restore(draft, Forgotten(at=AT, category="tools", key=key, fields=entry("old")))
        assert caught.value.details == {"field": "key"}
        assert draft.is_empty


def test_what_cannot_be_an_entry_is_refused(tmp_path: Path) -> None:
    """A line that somebody edited, or what lost against another when entries were moved."""
    draft = store_of(tmp_path, b={}).draft()
    with pytest.raises(InputError):
        restore(draft, Forgotten(at=AT, category="tools", key="a", fields={"colour": "red"}))
    assert draft.is_empty


def test_a_private_entry_comes_back_to_where_its_category_is_kept_now(tmp_path: Path) -> None:
    store = Store(tmp_path, document(), document(user={"a": entry("private")}))
    draft = store.draft()
    gone = forget(draft, "user", "a")
    assert gone.private
    store.write(draft)
    draft = store.draft()
    made, _ = restore(draft, gone)
    assert made.is_private
    store.write(draft)
    assert store.memories(store.twin)["user"] == {"a": entry("private")}
    assert store.memories() == {}


FIELDS = st.dictionaries(
    st.sampled_from(("tags", "importance", "status", "novel", "access_count")),
    st.none() | st.integers() | st.text(max_size=3) | st.lists(st.text(max_size=3), max_size=2),
)


@given(FIELDS, FIELDS, st.lists(st.sampled_from(RELATIONS), max_size=3, unique=True))
def test_forgetting_and_restoring_gives_what_was_there(
    tmp_path_factory: pytest.TempPathFactory, one: dict[str, Any], other: dict[str, Any], relations: list[str]
) -> None:
    store = Store(
        tmp_path_factory.mktemp("p"),
        document(
            tools={
                "a": entry("A", **one),
                "b": entry("B", **other, links=[link("tools.a", relation) for relation in relations]),
            }
        ),
    )
    before, after = round_trip(store, "tools", "a")
    assert before == after
