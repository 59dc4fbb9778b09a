"""Whether a change of a short definition concerns a record about it."""

import pytest

from quire.anchors.tree_change import ChangedPart
from quire.model.records import Record
from quire.upkeep.review.closeness import Closeness

SEND = """def send_letter(letter, tries):
    stamp = price(letter.weight)
    for turn in range(tries):
        if letter.post(stamp):
            return True
    return False
"""


def concerns(text: str, old: str, new: str) -> bool:
    """Whether a record with this text is concerned by one replacement in `send_letter`."""
    before, after = (version.encode().split(b"\n") for version in (SEND, SEND.replace(old, new)))
    record = Record(
        ref="decision.x", layer="graph", kind="decision", title=text, text="", status="active", path="x", anchors=()
    )
    assert before != after
    return Closeness().concerns(record, [ChangedPart(before, after, "send_letter")])


@pytest.mark.parametrize(
    ("text", "is_concerned"),
    [
        ("The weight decides on the price", True),
        ("A stamp is bought once", True),
        ("The number of tries is limited", False),
        ("Letters are sent while tries are left", False),
        ("Nobody calls this twice", True),
    ],
)
def test_of_what_the_code_has_words_for_the_changed_lines_must_have_one(text: str, is_concerned: bool) -> None:
    """What the definition has no word for could be anywhere in it."""
    assert concerns(text, "price(letter.weight)", "price(letter.weight, 2)") is is_concerned


def test_the_words_of_the_name_tell_nothing() -> None:
    assert not concerns("Send a letter of any weight", "letter.post(stamp)", "letter.drop(stamp)")
    assert concerns("Send a letter by post", "letter.post(stamp)", "letter.drop(stamp)")


def test_keywords_tell_nothing() -> None:
    assert not concerns("False is a return value whatever the weight", "return True", "return bool(turn)")
