"""What a check finds in the documents: each fault by its own, with where it is, and none in what is well."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from entry_making import BEFORE, SHARED, TWIN, Store, document, entry, link, written

from quire.layers.profile.checks import check_profile
from quire.model.records import Problem

KEY = "AKIA" + "Z7Q2M4X9P1L5K8W3"


def faults(store: Store) -> list[Problem]:
    return check_profile(store.places)


def told(tmp_path: Path, category: str = "tools", key: str = "k", /, **fields: Any) -> list[str]:
    """What is said of one entry, without its name."""
    store = Store(tmp_path, document(**{category: {key: entry(**fields)}, "project": {"other": entry()}}))
    found = faults(store)
    for problem in found:
        assert (problem.code, problem.severity, problem.path) == ("ProfileFieldInvalid", "warning", SHARED)
        assert problem.message.startswith(f"`{category}.{key}`: ")
        assert problem.hint
    return [problem.message.removeprefix(f"`{category}.{key}`: ") for problem in found]


# -- what is well ---------------------------------------------------------------------------


def test_where_there_is_nothing_nothing_is_wrong(tmp_path: Path) -> None:
    assert faults(Store(tmp_path)) == []


def test_a_whole_entry_is_well(tmp_path: Path) -> None:
    assert (
        told(
            tmp_path,
            tags=["a", "user-facing", "c++", "größe"],
            confidence=0.5,
            importance=10,
            source={"type": "codebase", "detail": "src/", "agent_id": None},
            access_count=7,
            last_accessed="2026-02-10T10:00:00.123456+00:00",
            status="superseded",
            links=[link("project.other"), link("project.other", "depends-on", since=1)],
            novel={"x": 1},
        )
        == []
    )


def test_an_entry_of_an_earlier_version_is_well(tmp_path: Path) -> None:
    held = {"value": "v", "created_at": BEFORE, "updated_at": BEFORE, "tags": [], "confidence": None}
    for number, version in enumerate(("1.0", "1.1", "1.2")):
        (tmp_path / str(number)).mkdir()
        assert faults(Store(tmp_path / str(number), document(version, tools={"k": held}))) == []


# -- fields ---------------------------------------------------------------------------------

FAULTS: list[tuple[dict[str, Any], str]] = [
    ({"created_at": "soon"}, "`created_at` is not a valid time."),
    ({"created_at": None}, "`created_at` is not a valid time."),
    ({"updated_at": 7}, "`updated_at` is not a valid time."),
    ({"last_accessed": "soon"}, "`last_accessed` is not a valid time."),
    ({"last_accessed": 7}, "`last_accessed` is not a valid time."),
    ({"tags": None}, "`tags` holds something that is not a lowercase word with hyphens, under 50 characters."),
    ({"tags": "a"}, "`tags` holds something that is not a lowercase word with hyphens, under 50 characters."),
    ({"tags": ["A"]}, "`tags` holds something that is not a lowercase word with hyphens, under 50 characters."),
    ({"tags": ["a b"]}, "`tags` holds something that is not a lowercase word with hyphens, under 50 characters."),
    ({"tags": ["x" * 50]}, "`tags` holds something that is not a lowercase word with hyphens, under 50 characters."),
    ({"tags": [""]}, "`tags` holds something that is not a lowercase word with hyphens, under 50 characters."),
    ({"tags": [7]}, "`tags` holds something that is not a lowercase word with hyphens, under 50 characters."),
    ({"confidence": 1.5}, "`confidence` is neither null nor a number from 0 to 1."),
    ({"confidence": "0.5"}, "`confidence` is neither null nor a number from 0 to 1."),
    ({"confidence": True}, "`confidence` is neither null nor a number from 0 to 1."),
    ({"importance": 11}, "`importance` is not a whole number from 1 to 10."),
    ({"importance": 2.5}, "`importance` is not a whole number from 1 to 10."),
    ({"importance": "7"}, "`importance` is not a whole number from 1 to 10."),
    ({"importance": None}, "`importance` is not a whole number from 1 to 10."),
    ({"importance": 10**400}, "`importance` is not a whole number from 1 to 10."),
    ({"access_count": -1}, "`access_count` is not a count."),
    ({"access_count": "7"}, "`access_count` is not a count."),
    ({"access_count": None}, "`access_count` is not a count."),
    ({"access_count": 2.5}, "`access_count` is not a count."),
    ({"status": "gone"}, "`status` is none of active, archived, superseded."),
    ({"status": None}, "`status` is none of active, archived, superseded."),
    ({"status": ["active"]}, "`status` is none of active, archived, superseded."),
    ({"source": "a note"}, "`source.type` is none of session, user-stated, inferred, codebase."),
    ({"source": None}, "`source.type` is none of session, user-stated, inferred, codebase."),
    ({"source": {"type": "gossip"}}, "`source.type` is none of session, user-stated, inferred, codebase."),
    ({"source": {"type": []}}, "`source.type` is none of session, user-stated, inferred, codebase."),
    ({"links": None}, "`links` is not a list."),
    ({"links": {}}, "`links` is not a list."),
    ({"links": [7]}, "a link has no target `category.key`, or no relation."),
    ({"links": [{"target": "project.other"}]}, "a link has no target `category.key`, or no relation."),
    ({"links": [{"target": "project", "relation": "x"}]}, "a link has no target `category.key`, or no relation."),
    ({"links": [link("project.other", "likes")]}, "a link says `likes`, which is not a relation."),
    ({"links": [link("project.gone")]}, "a link leads to `project.gone`, which is not here."),
    ({"links": [link("tools.k")]}, "a link leads to the record itself."),
]


@pytest.mark.parametrize(("fields", "said"), FAULTS, ids=lambda part: str(part)[:50])
def test_every_field_that_breaks_a_rule(tmp_path: Path, fields: dict[str, Any], said: str) -> None:
    assert told(tmp_path, **fields) == [said]


def test_all_faults_of_one_entry(tmp_path: Path) -> None:
    found = told(tmp_path, importance=0, status="gone", links=[7, link("a.b"), link("project.other")])
    assert len(found) == 4


@pytest.mark.parametrize(
    ("key", "is_fault"), [("A", True), ("a b", True), ("é", True), ("a.b", True), ("a-b_1", False)]
)
def test_keys(tmp_path: Path, key: str, is_fault: bool) -> None:
    found = told(tmp_path, "tools", key)
    said = "the key has other characters than lowercase letters, digits, `_` and `-`."
    assert found == ([said] if is_fault else [])


def test_the_confidence_of_the_user(tmp_path: Path) -> None:
    (said,) = told(tmp_path, "user", confidence=0.9)
    assert "`confidence` must be null here" in said


# -- documents ------------------------------------------------------------------------------


def test_what_is_no_entry(tmp_path: Path) -> None:
    store = Store(tmp_path, document(tools={f"k{number}": number for number in range(25)}, user=[1]))
    found = faults(store)
    assert {problem.code for problem in found} == {"ProfileEntryInvalid"}
    assert len(found) == 26
    assert found[0].message == "`tools.k0`: it is not an object."
    assert found[-1].message == "`user`: it is not an object, so it holds no records."


def test_a_category_that_nobody_knows(tmp_path: Path) -> None:
    (problem,) = faults(Store(tmp_path, document(novel={"K K": entry()})))
    assert (problem.code, problem.severity) == ("ProfileCategoryUnknown", "warning")
    assert "`novel` is not one of the six categories; it is kept." in problem.message


@pytest.mark.parametrize("version", ["1.3", "2.0"])
def test_a_version_that_is_only_read(tmp_path: Path, version: str) -> None:
    (problem,) = faults(Store(tmp_path, document(version, tools={"k": entry()})))
    assert (problem.code, problem.severity) == ("ProfileReadOnly", "warning")
    assert version in problem.message


@pytest.mark.parametrize("data", [b"{", b'{"schema_version": "9.9", "memories": {}}', b""])
def test_a_document_that_cannot_be_used(tmp_path: Path, data: bytes) -> None:
    store = Store(tmp_path, data, document(user={"k": entry(importance=0)}))
    found = faults(store)
    assert [(problem.severity, problem.path) for problem in found] == [("error", SHARED), ("warning", TWIN)]
    assert found[0].hint


def test_a_key_that_stands_twice(tmp_path: Path) -> None:
    twice = b'{"schema_version": "1.2", "memories": {"tools": {"a": {"value": "x"}, "a": {"value": "y"}}}}'
    codes = [problem.code for problem in faults(Store(tmp_path, twice)) if problem.severity == "error"]
    assert len(codes) == 1


def test_a_key_that_stands_twice_in_an_entry_as_we_write_it(tmp_path: Path) -> None:
    once, again = b'"tags": []', b'"tags": [],\n        "tags": []'
    twice = written(document(tools={"a": entry()})).replace(once, again)
    found = [problem for problem in faults(Store(tmp_path, twice)) if problem.severity == "error"]
    assert len(found) == 1
    assert "occurs twice" in found[0].message


@pytest.mark.parametrize("number", ["1e400", "9" * 5000])
def test_numbers_beyond_all_range_beside_a_control_character(tmp_path: Path, number: str) -> None:
    text = r"a bell \u0007"
    data = f'{{"schema_version": "1.2", "memories": {{"tools": {{"a": {{"value": "{text}", "n": {number}}}}}}}}}'
    assert {problem.path for problem in faults(Store(tmp_path, data.encode()))} == {SHARED}


def test_what_stands_in_both(tmp_path: Path) -> None:
    (problem,) = faults(Store(tmp_path, document(user={"a": entry()}), document(user={"a": entry(), "b": entry()})))
    assert (problem.code, problem.severity, problem.path) == ("ProfileEntryShadowed", "warning", SHARED)
    assert "`user.a` is in both documents; the private one counts." in problem.message


def test_links_lead_from_one_document_to_the_other(tmp_path: Path) -> None:
    shared = document(tools={"a": entry(links=[link("user.b")])})
    assert faults(Store(tmp_path, shared, document(user={"b": entry(links=[link("tools.a")])}))) == []


def test_a_home_that_is_not_there(tmp_path: Path) -> None:
    store = Store(tmp_path, document(), home=document())
    env = {name: value for name, value in store.world.env.items() if name not in ("HOME", "MEMORY_HOME")}
    store.world = msgspec.structs.replace(store.world, env=env)
    (problem,) = faults(store)
    assert (problem.code, problem.severity) == ("ProfileHomeMissing", "warning")


def test_a_setting_that_cannot_be_read(tmp_path: Path) -> None:
    store = Store(tmp_path, document())
    (store.root / ".ai-state" / "local").mkdir()
    (store.root / ".ai-state" / "local" / "private.json").write_text("{")
    (problem,) = faults(store)
    assert (problem.code, problem.path) == ("LocalStateDamaged", ".ai-state/local/private.json")


# -- credentials ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fields", [{"summary": KEY}, {"source": {"type": "session", "detail": f"key {KEY}"}}, {"value": f"x {KEY}"}]
)
def test_credentials_that_are_there_already(tmp_path: Path, fields: dict[str, Any]) -> None:
    held = {**entry(), **fields}
    (problem,) = faults(Store(tmp_path, document(tools={"k": held}), document(user={"k": entry()})))
    assert (problem.code, problem.severity, problem.path) == ("MemorySecretDetected", "error", SHARED)
    assert KEY not in problem.message
    (tmp_path / "other").mkdir()
    (problem,) = faults(Store(tmp_path / "other", document(), document(user={"k": held})))
    assert problem.path == TWIN
