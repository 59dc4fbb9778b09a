"""Of two records on one subject the later comes first, where it says that it changes the earlier."""

from collections.abc import Callable
from typing import Any

import pytest

Shelf = Callable[..., Any]
Make = Callable[..., Any]

OLD, NEW = "2026-01-10T09:00:00Z", "2026-06-20T09:00:00Z"
EARLIER = "Sessions are signed tokens that are valid for a week. The server keeps nothing about sessions."


def two(shelf: Shelf, record: Make, later: str, **more: Any) -> Any:
    return shelf(
        record("decision.tokens", "Sessions are signed tokens", EARLIER, updated_at=OLD),
        record("decision.server", "Sessions on the server", later, **{"updated_at": NEW, **more}),
        record("gotcha.mail", "Mail", "Mail is sent at night.", updated_at=NEW),
    )


@pytest.mark.parametrize(
    "later",
    [
        "Replaces the signed tokens: sessions are random ids that the server keeps, valid for a day.",
        "Amends the rule that sessions are signed tokens: the server keeps a list of sessions that were ended.",
        "Reverses the move to signed tokens. The server keeps sessions, and a session can be ended at once.",
        "We no longer use signed tokens for sessions; the server keeps random ids that are valid for a day.",
        "Sessions sind nicht mehr signed tokens: der Server keeps sessions, valid for a day.",
        "Ya no usamos signed tokens para sessions: the server keeps sessions for a day.",
    ],
)
def test_what_says_that_it_changes_the_other_comes_first(shelf: Shelf, record: Make, later: str) -> None:
    found = two(shelf, record, later)("how are sessions kept, signed tokens valid for a week?")
    refs = [hit.record.ref for hit in found.hits]
    assert refs[:2] == ["decision.server", "decision.tokens"]
    assert found.hits[1].amended_by == "decision.server"
    assert "amended by decision.server, which is later" in found.markdown
    assert f"[active, {NEW[:10]}]" in found.markdown


def test_the_date_is_shown_and_the_order_left_where_nothing_says_so(shelf: Shelf, record: Make) -> None:
    asked = two(shelf, record, "Sessions of the admin page are signed tokens that are valid for an hour.")
    found = asked("how are sessions kept, signed tokens valid for a week?")
    assert found.hits[0].record.ref == "decision.tokens"
    assert not any(hit.amended_by for hit in found.hits)
    assert OLD[:10] in found.markdown


@pytest.mark.parametrize("more", [{"updated_at": "2025-01-01T00:00:00Z"}, {"updated_at": OLD}])
def test_an_earlier_record_changes_nothing(shelf: Shelf, record: Make, more: dict[str, str]) -> None:
    later = "Replaces the signed tokens: sessions are random ids that the server keeps."
    found = two(shelf, record, later, **more)("how are sessions kept, signed tokens valid for a week?")
    assert not any(hit.amended_by for hit in found.hits)


def test_a_record_changes_only_the_nearest_of_its_kind(shelf: Shelf, record: Make) -> None:
    asked = shelf(
        record("decision.tokens", "Sessions are signed tokens", EARLIER, updated_at=OLD),
        record(
            "gotcha.tokens", "Signed tokens cannot be ended", "Sessions as signed tokens stay valid.", updated_at=OLD
        ),
        record("decision.cookies", "Sessions live in cookies", "The cookie of a session is strict.", updated_at=OLD),
        record("decision.server", "Sessions on the server", "Replaces the signed tokens of sessions.", updated_at=NEW),
    )
    found = asked("sessions as signed tokens")
    assert [hit.record.ref for hit in found.hits if hit.amended_by] == ["decision.tokens"]
