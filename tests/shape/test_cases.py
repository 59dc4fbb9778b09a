"""What is tried in one test is tried in full: `each` lists every case that fails."""

from __future__ import annotations

import pytest

from cases import each


def test_every_case_is_tried_and_every_failure_is_listed() -> None:
    seen = []

    @each("sign", "abc")
    @each(("one", "two"), [(1, 1), (2, 3)])
    def check(sign: str, one: int, two: int) -> None:
        seen.append((sign, one))
        assert one == two, "they differ"

    with pytest.raises(AssertionError, match=r"(?s)^3 of 3 failed:\n'a': .*they differ.*\n'b': .*\n'c': "):
        check()  # type: ignore[call-arg]
    assert seen == [(sign, number) for sign in "abc" for number in (1, 2)]


def test_nothing_to_try_is_a_mistake() -> None:
    with pytest.raises(AssertionError, match="nothing to try"):
        each("sign", "")
