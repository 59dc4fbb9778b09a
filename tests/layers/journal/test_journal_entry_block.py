"""The entry block: placed where a reader looks first, in a file that is somebody else's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from journaling import needs_real, vectors

from cases import each
from quire.layers.journal.entry_block import EntryMarker, entry_marker, place_entry, remove_entry, render_entry

START = "<!-- agent-memory:entry version=3 bundleHash=abc start -->"
END = "<!-- agent-memory:entry end -->"
BLOCK = f"{START}\nBODY\n{END}"
OLD = f"<!-- agent-memory:entry version=2 bundleHash=000 start -->\nOLD\n{END}"

# A heading in a fence is none, and a file with Windows line ends keeps them.
OTHERWISE = {
    "```\n# in a fence\n```\n# Real\n": f"```\n# in a fence\n```\n# Real\n\n{BLOCK}\n\n",
    "# T\r\n\r\nText\r\n": f"# T\n\n{BLOCK}\n\nText\n".replace("\n", "\r\n"),
}


@needs_real
def test_the_recorded_files_get_the_block_where_it_was() -> None:
    recorded = vectors("entry-merge")
    assert len(recorded) == 16
    for one in recorded:
        existing = one["existing"]
        placed = place_entry(None if existing is None else existing.encode(), BLOCK)
        assert placed.decode() == OTHERWISE.get(existing, one["result"]), existing


@each(
    ("existing", "placed"),
    [
        (None, f"{BLOCK}\n"),
        ("", f"{BLOCK}\n"),
        ("\ufeff", f"\ufeff{BLOCK}\n"),
        ("# T\n\n\nText.\n", f"# T\n\n{BLOCK}\n\nText.\n"),
        ("\ufeff# T\nText.\n", f"\ufeff# T\n\n{BLOCK}\n\nText.\n"),
        ("Text.\n\n\n", f"{BLOCK}\n\nText.\n"),
        ("#NoSpace\n# \n#  \n## Two\n# Ok\n", f"#NoSpace\n# \n#  \n## Two\n# Ok\n\n{BLOCK}\n\n"),
        (
            "---\ntitle: x\n# no heading\n---\n# T\nText\n",
            f"---\ntitle: x\n# no heading\n---\n# T\n\n{BLOCK}\n\nText\n",
        ),
        ("---\na: b\n---\nText\n", f"---\na: b\n---\n\n{BLOCK}\n\nText\n"),
        ("---\na: b\n---", f"---\na: b\n---\n\n{BLOCK}\n"),
        ("---\nnever closed\n# T\n", f"---\nnever closed\n# T\n\n{BLOCK}\n\n"),
        ("~~~sh\n# a\n~~~\n\nText\n", f"{BLOCK}\n\n~~~sh\n# a\n~~~\n\nText\n"),
        ("````\n```\n# a\n````\n# T\n", f"````\n```\n# a\n````\n# T\n\n{BLOCK}\n\n"),
        ("```\nnever closed\n# T\n", f"```\nnever closed\n# T\n\n{BLOCK}\n\n"),
        ("<!--\n# a\n-->\n# T\nx\n", f"<!--\n# a\n-->\n# T\n\n{BLOCK}\n\nx\n"),
        ("a\r\nb\r\n", f"{BLOCK}\n\na\nb\n".replace("\n", "\r\n")),
        (f"# T\n\n{OLD}\n\nText\n", f"# T\n\n{BLOCK}\n\nText\n"),
        (f"# T\r\n\r\n{OLD}\r\n\r\nText\r\n", f"# T\n\n{BLOCK}\n\nText\n".replace("\n", "\r\n")),
        (f"{OLD}Text right after\n", f"{BLOCK}\nText right after\n"),
        (f"{OLD}\n{OLD}\n", f"{BLOCK}\n{OLD}\n"),
        (f"```\n{OLD}\n```\n# T\n{OLD}\n", f"```\n{OLD}\n```\n# T\n{BLOCK}\n"),
        (f"# T\n{START}\nno end\n", f"# T\n\n{BLOCK}\n\n{START}\nno end\n"),
        (f"{START}\nno end\n{OLD}\nText\n", f"{START}\nno end\n{BLOCK}\nText\n"),
        (f"# T\n{END}\nText\n", f"# T\n\n{BLOCK}\n\n{END}\nText\n"),
    ],
)
def test_the_block_has_one_place_in_every_file(existing: str | None, placed: str) -> None:
    data = None if existing is None else existing.encode()
    assert place_entry(data, BLOCK).decode() == placed
    assert place_entry(placed.encode(), BLOCK).decode() == placed


PLAIN = ["# T", "text", "", "```", "~~~", "---", "<!-- c", "-->", "\xff"]


@given(st.lists(st.sampled_from([*PLAIN, END, START, *OLD.split("\n")]), max_size=12), st.sampled_from(["\n", "\r\n"]))
def test_placing_twice_is_placing_once(lines: list[str], newline: str) -> None:
    placed = place_entry(newline.join(lines).encode("latin-1"), BLOCK)
    assert place_entry(placed, BLOCK) == placed
    assert BLOCK.encode() in placed.replace(b"\r\n", b"\n")


@given(st.lists(st.sampled_from(PLAIN), max_size=12), st.sampled_from(["\n", "\r\n"]))
def test_every_line_of_the_file_stays_and_the_block_can_be_taken_out_again(lines: list[str], newline: str) -> None:
    data = newline.join(lines).encode("latin-1")
    placed = place_entry(data, BLOCK)
    assert _said(remove_entry(placed)) == _said(data)
    at = placed.index(START.encode())
    after = placed.index(END.encode()) + len(END)
    assert _said(placed[:at]) + _said(placed[after:]) == _said(data)


def _said(data: bytes) -> list[bytes]:
    return [line for line in data.splitlines() if line]


def test_bytes_that_are_no_text_are_left_alone() -> None:
    data = b"# T\n\n\xff\xfe\x00\n"
    assert place_entry(data, BLOCK) == b"# T\n\n" + BLOCK.encode() + b"\n\n\xff\xfe\x00\n"


@pytest.mark.parametrize(
    ("placed", "removed"),
    [
        (f"# T\n\n{BLOCK}\n\nText\n", "# T\n\nText\n"),
        (f"# T\r\n\r\n{BLOCK}\r\n\r\nText\r\n", "# T\r\n\r\nText\r\n"),
        (f"{BLOCK}\n\nText\n", "Text\n"),
        (f"# T\n\n{BLOCK}\n", "# T\n"),
        (f"{BLOCK}\n", ""),
        ("Text\n", "Text\n"),
        (f"```\n{BLOCK}\n```\n", f"```\n{BLOCK}\n```\n"),
    ],
)
def test_a_block_that_is_no_longer_wanted_can_be_taken_out(placed: str, removed: str) -> None:
    assert remove_entry(placed.encode()).decode() == removed


def test_the_block_leads_to_everything() -> None:
    block = render_entry("0a" * 32)
    lines = block.split("\n")
    assert lines[0] == f"<!-- agent-memory:entry version=3 bundleHash={'0a' * 32} start -->"
    assert lines[1] == "## Project Memory"
    assert lines[-1] == END
    for place in (".agent-memory/state.json", ".agent-memory/history/", "docs/agent-memory/README.md"):
        assert place in block
    assert entry_marker(place_entry(b"# T\n", block)) == EntryMarker(3, "0a" * 32)


@pytest.mark.parametrize(
    ("text", "marker"),
    [
        (f"x\n{START}", EntryMarker(3, "abc")),
        ("<!-- agent-memory:entry version=3 bundleHash= start -->", None),
        (END, None),
        (f"{OLD}\n{BLOCK}", EntryMarker(2, "000")),
        (f"```\n{OLD}\n```\n{BLOCK}", EntryMarker(3, "abc")),
    ],
)
def test_the_marker_of_a_file_is_its_first_one(text: str, marker: EntryMarker | None) -> None:
    assert entry_marker(text.encode()) == marker


@needs_real
def test_the_recorded_entry_markers_are_read_alike() -> None:
    for one in vectors("markers")["entry"]:
        known = one["parsed"]
        assert entry_marker(one["content"].encode()) == (known and EntryMarker(known["version"], known["bundleHash"]))
