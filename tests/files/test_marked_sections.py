"""A marked section comes and goes in files we do not own; everything around it stays byte for byte."""

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from quire.files.marked_sections import Markers, find_section, place_section, remove_section

MARKS = Markers("<!-- memory:start -->", "<!-- memory:end -->")
OTHER = Markers("<!-- memory:map:start -->", "<!-- memory:map:end -->")
START, END = MARKS.start.encode(), MARKS.end.encode()
BOM = b"\xef\xbb\xbf"

LINES = st.sampled_from(
    [b"", b"text", b"# Title", b"```", b"```js", b"~~~", b"````md", b"\xff\xfe bytes", "größe".encode(), START + b" x"]
)
ENDS = st.sampled_from([b"\n", b"\r\n"])


@st.composite
def documents(draw: st.DrawFn) -> bytes:
    """A file of somebody else's: any mix of line ends, fences, bytes, with or without a final newline."""
    parts = draw(st.lists(st.tuples(LINES, ENDS), max_size=12))
    data = b"".join(line + end for line, end in parts)
    return draw(st.sampled_from([b"", BOM])) + data + draw(st.sampled_from([b"", b"last line"]))


BODIES = st.lists(st.sampled_from(["", "one", "## two", "- three", "ü"]), min_size=1).map("\n".join)
ANY = documents() | st.binary(max_size=80)


@given(ANY, BODIES)
@example(b"a\r\nb\r\nc\n", "x")
@example(b"a\nb\r\n", "x")
@example(b"```\nnever closed\n", "x")
@example(b"~~~\n```\n", "x")
@example(b"", "x")
@example(BOM, "x")
@example(b"\n", "x")
@example(b"\r", "x")
@example(b"a\r", "x")
def test_a_section_that_was_added_can_be_removed_without_a_trace(data: bytes, body: str) -> None:
    assume(find_section(data, MARKS).state == "missing")
    placed = place_section(data, MARKS, body)
    assert placed.startswith(data)
    removed = remove_section(placed, MARKS)
    if data.removeprefix(BOM).endswith(b"\n") or not data.removeprefix(BOM):
        assert removed == data
    else:
        # A file that ended in the middle of a line has a whole line now.
        assert removed in (data + b"\n", data + b"\r\n")


@given(ANY, BODIES, BODIES)
@example(b"```\nnever closed\n", "x", "y")
def test_placing_twice_replaces_and_never_repeats(data: bytes, first: str, second: str) -> None:
    assume(find_section(data, MARKS).state != "damaged")
    once = place_section(data, MARKS, second)
    assert place_section(place_section(data, MARKS, first), MARKS, second) == once
    assert place_section(once, MARKS, second) == once
    found = find_section(once, MARKS)
    assert found.state == "present"
    assert found.body == second.strip("\n")


@pytest.mark.proof
@given(documents(), BODIES, documents(), BODIES)
def test_replacing_a_section_keeps_what_stands_before_and_after(head: bytes, old: str, tail: bytes, new: str) -> None:
    for document in (head, tail):
        assume(b"```" not in document and b"~~~" not in document)
    head = head and head + b"\n"
    placed = head + b"\n".join([START, old.encode(), END]) + b"\n" + tail
    assume(find_section(placed, MARKS).state == "present")
    replaced = place_section(placed, MARKS, new)
    assert replaced.startswith(head)
    assert replaced.endswith(tail)
    assert find_section(replaced, MARKS).body == new.strip("\n")


@given(documents(), BODIES, BODIES)
def test_two_sections_in_one_file_do_not_disturb_each_other(data: bytes, guidance: str, listing: str) -> None:
    both = place_section(place_section(data, MARKS, guidance), OTHER, listing)
    assert find_section(both, MARKS).body == guidance.strip("\n")
    assert find_section(both, OTHER).body == listing.strip("\n")
    assert remove_section(both, OTHER) == place_section(data, MARKS, guidance)


@given(st.binary(max_size=200))
def test_any_bytes_can_be_looked_at(data: bytes) -> None:
    found = find_section(data, MARKS)
    assert found.state in ("missing", "present", "damaged")
    if found.state != "present":
        assert remove_section(data, MARKS) == data


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_the_section_takes_the_line_ends_of_the_file(end: bytes) -> None:
    placed = place_section(end.join([b"# Title", b"text", b""]), MARKS, "one\ntwo")
    assert placed == end.join([b"# Title", b"text", b"", START, b"one", b"two", END, b""])
    assert find_section(placed, MARKS).body == "one\ntwo"


def test_a_byte_order_mark_stays_in_front() -> None:
    placed = place_section(BOM, MARKS, "x")
    assert placed.startswith(BOM + START)
    assert find_section(placed, MARKS).state == "present"
    assert remove_section(placed, MARKS) == BOM


def test_a_final_newline_is_not_added_to_a_file_that_has_none() -> None:
    data = b"# T\n\n" + START + b"\nold\n" + END
    assert place_section(data, MARKS, "new") == b"# T\n\n" + START + b"\nnew\n" + END


@pytest.mark.parametrize("fence", [b"```", b"~~~", b"````"])
def test_markers_shown_in_a_code_fence_do_not_count(fence: bytes) -> None:
    example = b"\n".join([b"Example:", fence, START, b"shown", END, fence, b""])
    assert find_section(example, MARKS).state == "missing"
    placed = place_section(example, MARKS, "real")
    assert placed.startswith(example)
    assert find_section(placed, MARKS).body == "real"
    assert remove_section(placed, MARKS) == example


def test_a_fence_that_is_never_closed_hides_nothing() -> None:
    data = b"Text\n\n```\ncode\n"
    once = place_section(data, MARKS, "x")
    assert find_section(once, MARKS).state == "present"
    assert place_section(once, MARKS, "x") == once


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (START + b"\nx\n", 1),
        (b"a\n\nx\n" + END + b"\n", 4),
        (b"a\n" + END + b"\nx\n" + START + b"\n", 4),
        (START + b"\n" + END + b"\nb\n" + START + b"\n" + END + b"\n", 1),
        (START + b"\n" + START + b"\n" + END + b"\n", 1),
        (
            b"<<<<<<< ours\n"
            + START
            + b"\na\n"
            + END
            + b"\n=======\n"
            + START
            + b"\nb\n"
            + END
            + b"\n>>>>>>> theirs\n",
            2,
        ),
    ],
)
def test_damaged_markers_are_named_with_their_line_and_nothing_is_written(data: bytes, line: int) -> None:
    found = find_section(data, MARKS)
    assert (found.state, found.line) == ("damaged", line)
    assert found.reason
    assert remove_section(data, MARKS) == data
    with pytest.raises(ValueError, match="marker"):
        place_section(data, MARKS, "x")


def test_an_indented_marker_or_one_with_blanks_after_it_is_still_a_marker() -> None:
    data = b"  " + START + b"  \nold\n" + END + b" \t\n"
    assert find_section(data, MARKS).body == "old"


def test_a_marker_inside_a_sentence_is_text() -> None:
    assert find_section(b"Put " + START + b" before it.\n", MARKS).state == "missing"
