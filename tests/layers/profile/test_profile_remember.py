"""Remembering: new entries whole, old ones changed in what was given alone, others replaced and linked on the way."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from entry_making import AT, BEFORE, Store, document, entry, link, written
from hypothesis import given
from hypothesis import strategies as st

from quire.layers.profile.remember import AUTO_LINKS, EntryInput, EntryOutcome, remember
from quire.model.errors import InputError, NotFound, SecretDetected

KEY = "AKIA" + "Z7Q2M4X9P1L5K8W3"
OLD = entry(
    "Old text.",
    tags=["alpha", "beta"],
    confidence=0.5,
    importance=8,
    source={"type": "inferred", "detail": "a guess", "agent_id": "x"},
    access_count=4,
    last_accessed=BEFORE,
    status="archived",
    links=[link("tools.other")],
    colour="red",
)


def tell(
    store: Store, key: str = "k", *, category: str = "tools", sharing: tuple[str, ...] = (), **given: Any
) -> EntryOutcome:
    draft = store.draft()
    told = remember(draft, EntryInput(category=category, key=key, **given), sharing)
    if not draft.is_empty:
        store.write(draft)
    return told


def refused(store: Store, kind: type[InputError] = InputError, **given: Any) -> InputError:
    """An error, after which nothing is different."""
    before = store.shared.read_bytes()
    draft = store.draft()
    with pytest.raises(kind) as caught:
        remember(draft, EntryInput(**{"category": "tools", "key": "k", **given}))
    assert store.shared.read_bytes() == before
    return caught.value


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path, document(tools={"k": OLD, "other": entry("Other.")}, user={}))


# -- new ------------------------------------------------------------------------------------


def test_a_new_entry_is_whole(store: Store) -> None:
    told = tell(store, "new", value="  A text. ")
    assert (told.action, told.entry.name, told.linked, told.archived, told.warnings) == (
        "ADD",
        "tools.new",
        [],
        [],
        [],
    )
    expected = entry("A text.", created_at=AT, updated_at=AT)
    assert json.dumps(store.memories()["tools"]["new"]) == json.dumps(expected)
    assert list(store.memories()["tools"]) == ["k", "other", "new"]


def test_a_new_entry_with_everything(store: Store) -> None:
    tell(
        store,
        "new",
        value="A text.",
        tags=["b", "a", "b"],
        importance=10,
        confidence=1,
        source="codebase",
        detail="src/app.py",
        status="superseded",
    )
    expected = entry(
        "A text.",
        created_at=AT,
        updated_at=AT,
        tags=["a", "b"],
        confidence=1.0,
        importance=10,
        source={"type": "codebase", "detail": "src/app.py"},
        status="superseded",
    )
    assert json.dumps(store.memories()["tools"]["new"]) == json.dumps(expected)


def test_a_new_entry_needs_a_value_and_a_proper_key(store: Store) -> None:
    error = refused(store, key="new", tags=["a"])
    assert error.details == {"field": "value"}
    assert "there is no such record yet" in error.message
    assert refused(store, key="New Key", value="x").details["field"] == "key"
    assert refused(store, key="", value="x").details["field"] == "key"
    assert refused(store, category="novel", value="x").details["field"] == "category"


def test_what_is_no_entry_is_not_replaced(tmp_path: Path) -> None:
    store = Store(tmp_path, document(tools={"k": "a text", "v": {"no": "value"}}, user=[1]))
    for key in ("k", "v"):
        error = refused(store, key=key, value="x")
        assert error.message == f"The document has something else than a record at `tools.{key}`."
        assert error.details == {"field": "key"}


# -- changed --------------------------------------------------------------------------------

GIVEN: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "value": ({"value": "New text."}, {"value": "New text."}),
    "tags": ({"tags": ["gamma", "alpha"]}, {"tags": ["alpha", "beta", "gamma"]}),
    "untag": ({"untag": ["BETA", "never"]}, {"tags": ["alpha"]}),
    "importance": ({"importance": 2}, {"importance": 2}),
    "confidence": ({"confidence": 0.9}, {"confidence": 0.9}),
    "no confidence": ({"confidence": None}, {"confidence": None}),
    "source": ({"source": "codebase"}, {"source": {"type": "codebase", "detail": "a guess", "agent_id": "x"}}),
    "detail": ({"detail": "seen"}, {"source": {"type": "inferred", "detail": "seen", "agent_id": "x"}}),
    "no detail": ({"detail": None}, {"source": {"type": "inferred", "detail": None, "agent_id": "x"}}),
    "status": ({"status": "active"}, {"status": "active"}),
}


@pytest.mark.parametrize("names", [*((name,) for name in GIVEN), *itertools.combinations(GIVEN, 2)], ids="+".join)
def test_only_what_is_given_changes(store: Store, names: tuple[str, ...]) -> None:
    given: dict[str, Any] = {}
    expected: dict[str, Any] = {}
    for name in names:
        if given.keys() & GIVEN[name][0].keys() or expected.keys() & GIVEN[name][1].keys():
            return
        given |= GIVEN[name][0]
        expected |= GIVEN[name][1]
    told = tell(store, **given)
    assert told.action == "UPDATE"
    assert json.dumps(store.memories()["tools"]["k"]) == json.dumps({**OLD, **expected, "updated_at": AT})
    assert store.memories()["tools"]["other"] == entry("Other.")
    again = store.shared.read_bytes()
    assert tell(store, **given).action == "NOOP"
    assert store.shared.read_bytes() == again


def test_source_and_detail_together(store: Store) -> None:
    tell(store, source="codebase", detail="src/")
    assert store.memories()["tools"]["k"]["source"] == {"type": "codebase", "detail": "src/", "agent_id": "x"}


@pytest.mark.parametrize("stored", ["an old note", None, ["x"]])
def test_a_source_of_another_form_is_made_one(tmp_path: Path, stored: Any) -> None:
    store = Store(tmp_path, document(tools={"k": entry(source=stored)}))
    tell(store, source="codebase")
    detail = stored if isinstance(stored, str) else None
    assert store.memories()["tools"]["k"]["source"] == {"type": "codebase", "detail": detail}


def test_nothing_given_is_nothing_done(store: Store) -> None:
    before = store.shared.read_bytes()
    for what in (
        {},
        {"value": "Old text."},
        {"value": " Old text.\n", "tags": ["beta"], "importance": 8, "confidence": 0.5, "status": "archived"},
        {"tags": []},
        {"untag": ["never"]},
        {"source": "inferred", "detail": "a guess"},
    ):
        told = tell(store, **what)
        assert (told.action, told.entry.value) == ("NOOP", "Old text.")
    assert store.shared.read_bytes() == before


def test_tags_that_are_there_in_another_order_are_nothing_new(tmp_path: Path) -> None:
    store = Store(tmp_path, document(tools={"k": entry(tags=["personal", "identity"])}))
    before = store.shared.read_bytes()
    assert tell(store, tags=["identity"]).action == "NOOP"
    assert tell(store, tags=["identity", "personal"]).action == "NOOP"
    assert tell(store, untag=["other"]).action == "NOOP"
    assert store.shared.read_bytes() == before


def test_an_entry_that_lacks_a_field_gets_it_when_it_is_given(tmp_path: Path) -> None:
    store = Store(tmp_path, document(tools={"k": {"value": "v", "created_at": BEFORE}}))
    tell(store, importance=5, tags=["a"])
    assert store.memories()["tools"]["k"] == {
        "value": "v",
        "created_at": BEFORE,
        "importance": 5,
        "tags": ["a"],
        "updated_at": AT,
    }


def test_tags_of_another_form_that_were_there_stay(tmp_path: Path) -> None:
    store = Store(tmp_path, document(tools={"k": entry(tags=["Has Space", "UPPER", "a"])}))
    tell(store, tags=["b"], untag=["upper"])
    assert store.memories()["tools"]["k"]["tags"] == ["Has Space", "a", "b"]


def test_odd_keys_that_are_there_stay_usable(tmp_path: Path) -> None:
    store = Store(tmp_path, document(tools={"Has Space.and dot": entry("x")}))
    assert tell(store, "Has Space.and dot", value="y").action == "UPDATE"
    assert store.memories()["tools"]["Has Space.and dot"]["value"] == "y"


def test_an_entry_that_a_later_version_took_back_can_be_made_active(tmp_path: Path) -> None:
    store = Store(tmp_path, document(tools={"k": entry(invalid_at=BEFORE)}))
    told = tell(store, status="active")
    assert (told.action, told.entry.status) == ("UPDATE", "active")


# -- the user -------------------------------------------------------------------------------


def test_what_the_user_says_has_no_confidence(store: Store) -> None:
    told = tell(store, "name", category="user", value="Tess", confidence=0.4)
    (warning,) = told.warnings
    assert (warning.code, warning.field, warning.severity) == ("ProfileConfidenceUnused", "confidence", "warning")
    assert store.memories()["user"]["name"]["confidence"] is None
    assert tell(store, "name", category="user", confidence=None).warnings == []
    assert tell(store, "name", category="user", confidence=0.4).action == "NOOP"


def test_a_confidence_that_stands_there_goes_with_the_next_change(tmp_path: Path) -> None:
    store = Store(tmp_path, document(user={"name": entry("Tess", confidence=0.9)}))
    assert tell(store, "name", category="user", importance=9).action == "UPDATE"
    assert store.memories()["user"]["name"] == entry("Tess", confidence=None, importance=9, updated_at=AT)


@pytest.mark.parametrize("wrong", [1.5, -0.1])
def test_a_wrong_confidence_is_refused_for_everybody(store: Store, wrong: float) -> None:
    for category in ("user", "tools"):
        error = refused(store, category=category, key="new", value="x", confidence=wrong)
        assert error.details["field"] == "confidence"


# -- what may not be ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"value": ""}, "value"),
        ({"value": "\x1b[31m"}, "value"),
        ({"tags": ["Bad Tag"]}, "tags"),
        ({"importance": 0}, "importance"),
        ({"importance": 11}, "importance"),
        ({"confidence": 2}, "confidence"),
        ({"source": "gossip"}, "source"),
        ({"detail": ""}, "detail"),
        ({"detail": "a\nb"}, "detail"),
        ({"status": "gone"}, "status"),
        ({"supersedes": ["nothing"]}, "target"),
        ({"supersedes": ["tools.k"]}, "target"),
    ],
)
def test_every_rule_holds_for_changes_too(store: Store, given: dict[str, Any], field: str) -> None:
    assert refused(store, **given).details["field"] == field
    if "supersedes" not in given:
        assert refused(store, key="new", **{"value": "x", **given}).details["field"] == field


def test_credentials_are_refused(store: Store) -> None:
    for what in ({"value": f"key {KEY}"}, {"detail": KEY}, {"value": KEY, "key": "new"}):
        assert KEY not in refused(store, SecretDetected, **what).message


def test_long_values_are_kept_and_told_of(store: Store) -> None:
    assert [item.code for item in tell(store, value="word " * 200).warnings] == ["ProfileValueLong"]


# -- replacing ------------------------------------------------------------------------------


def test_what_is_replaced_is_linked_and_archived(store: Store) -> None:
    told = tell(store, "new", value="Better.", supersedes=["tools.other", "profile:tools.k"])
    assert (told.action, told.archived) == ("ADD", ["tools.other"])
    found = store.memories()["tools"]
    assert found["new"]["links"] == [link("tools.other", "supersedes"), link("tools.k", "supersedes")]
    assert found["other"] == entry("Other.", status="archived", updated_at=AT)
    assert found["k"] == OLD
    assert [item.target for item in told.entry.links] == ["tools.other", "tools.k"]


def test_replacing_is_a_change(store: Store) -> None:
    assert tell(store, supersedes=["tools.other"]).action == "UPDATE"
    assert store.memories()["tools"]["k"] == {**OLD, "links": [link("tools.other"), link("tools.other", "supersedes")]}
    assert tell(store, supersedes=["tools.other"]).action == "NOOP"


def test_putting_away_again_what_was_brought_back_is_a_change(tmp_path: Path) -> None:
    store = Store(tmp_path, document(tools={"k": entry(links=[link("tools.b", "supersedes")]), "b": entry("B")}))
    told = tell(store, supersedes=["tools.b"])
    assert (told.action, told.archived) == ("UPDATE", ["tools.b"])


def test_what_is_not_there_cannot_be_replaced(store: Store) -> None:
    assert refused(store, NotFound, key="new", value="x", supersedes=["tools.z"]).details["id"] == "profile:tools.z"


# -- linked for their tags ------------------------------------------------------------------


def tagged(number: int = 8, **more: Any) -> dict[str, Any]:
    found = {f"t{place}": entry(f"T{place}.", tags=["alpha", "beta", str(place)]) for place in range(number)}
    return document(tools={**found, **more}, learnings={"far": entry("F.", tags=["Beta", "ALPHA"])})


def names(number: int) -> tuple[str, ...]:
    return tuple(f"tools.t{place}" for place in range(number))


def test_entries_that_share_tags_are_linked_the_best_first_and_not_too_many(tmp_path: Path) -> None:
    store = Store(tmp_path, tagged())
    told = tell(store, "new", value="New.", tags=["alpha", "beta"], sharing=("learnings.far", *names(8)))
    assert told.linked == ["learnings.far", *names(4)]
    assert len(told.linked) == AUTO_LINKS
    assert store.memories()["tools"]["new"]["links"] == [link(name) for name in told.linked]
    assert store.memories()["tools"]["t0"]["links"] == []


def test_one_tag_is_not_enough(tmp_path: Path) -> None:
    store = Store(tmp_path, tagged(one=entry(tags=["alpha"]), none=entry()))
    told = tell(store, "new", value="New.", tags=["alpha", "beta"], sharing=("tools.one", "tools.none", "tools.gone"))
    assert told.linked == []


def test_what_is_linked_already_is_left_alone(tmp_path: Path) -> None:
    linked = {
        "k": entry(tags=["alpha", "gone"], links=[link("tools.t0", "elaborates")]),
        "back": entry(tags=["alpha", "beta"], links=[link("tools.k", "contradicts")]),
    }
    store = Store(tmp_path, tagged(2, **linked))
    told = tell(store, tags=["beta"], sharing=("tools.k", "tools.back", *names(2)))
    assert told.action == "UPDATE"
    assert told.linked == ["tools.t1"]
    assert store.memories()["tools"]["k"]["links"] == [link("tools.t0", "elaborates"), link("tools.t1")]


def test_a_change_without_tags_links_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path, tagged(2, k=entry(tags=["alpha", "beta"])))
    assert tell(store, value="Other words.", sharing=names(2)).linked == []
    assert tell(store, tags=["alpha"], sharing=names(2)).linked == []


def test_links_made_by_replacing_stay_when_others_are_made_for_tags(tmp_path: Path) -> None:
    store = Store(tmp_path, tagged(3))
    told = tell(store, "new", value="New.", tags=["alpha", "beta"], supersedes=["tools.t0"], sharing=names(3))
    assert told.archived == ["tools.t0"]
    assert store.memories()["tools"]["t0"]["status"] == "archived"
    assert store.memories()["tools"]["new"]["links"] == [
        link("tools.t0", "supersedes"),
        link("tools.t1"),
        link("tools.t2"),
    ]
    assert told.linked == ["tools.t1", "tools.t2"]


def test_odd_names_never_block(tmp_path: Path) -> None:
    odd = document(**{"": {"q": entry("Q", tags=["alpha", "beta"])}, " ": {"r": entry("R", tags=["alpha", "beta"])}})
    store = Store(tmp_path, odd)
    told = tell(store, "new", value="New.", tags=["alpha", "beta"], sharing=(".q", " .r", "", "."))
    assert told.action == "ADD"


# -- together -------------------------------------------------------------------------------

SOME = st.fixed_dictionaries(
    {},
    optional={
        "value": st.sampled_from(("One.", "Two.", '東京 \\ "quoted"')),
        "tags": st.lists(st.sampled_from(("a", "b", "c")), max_size=3),
        "untag": st.lists(st.sampled_from(("a", "b", "Old")), max_size=2),
        "importance": st.integers(1, 10),
        "confidence": st.none() | st.floats(0, 1),
        "source": st.sampled_from(("session", "codebase")),
        "detail": st.none() | st.sampled_from(("here", "there")),
        "status": st.sampled_from(("active", "archived", "superseded")),
    },
)


@given(st.lists(SOME, min_size=1, max_size=5), st.sampled_from(("tools", "user")))
def test_what_stands_there_is_what_was_told_last(
    tmp_path_factory: pytest.TempPathFactory, tellings: list[dict[str, Any]], category: str
) -> None:
    """A model of one entry in a few lines, held against the document after each telling."""
    rest = document(project={"x": entry("X", n=2**70)}, novel=[1, None]) | {"extra": {"é": "ü"}}
    store = Store(tmp_path_factory.mktemp("p"), rest)
    model: dict[str, Any] | None = None
    for what in tellings:
        if model is None and "value" not in what:
            with pytest.raises(InputError):
                tell(store, category=category, **what)
            continue
        before = dict(model) if model else None
        model = model or entry("", created_at=AT, updated_at=AT)
        model = {**model, "source": dict(model["source"])}
        model |= {name: what[name] for name in ("value", "importance", "status") if name in what}
        model["confidence"] = what.get("confidence", model["confidence"]) if category != "user" else None
        tags = {*model["tags"], *what.get("tags", ())} - set(what.get("untag", ()))
        model["tags"] = sorted(tags)
        model["source"] |= {"type": what["source"]} if "source" in what else {}
        model["source"] |= {"detail": what["detail"]} if "detail" in what else {}
        told = tell(store, category=category, **what)
        assert told.action == ("ADD" if before is None else "NOOP" if before == model else "UPDATE")
        expected = json.loads(json.dumps(rest))
        expected["memories"].setdefault(category, {})["k"] = model
        assert store.shared.read_bytes() == written(expected)
        assert msgspec.json.encode(told.entry.fields) == msgspec.json.encode(model)
