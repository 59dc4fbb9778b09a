"""Meaning: vectors from the mapped table, against a slow reading of the same file written here from its description."""

import math
import os
import struct
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import quire.index
from cases import each
from quire.index.vector_table import Embedder, Vector, embedder
from thorough import examples

TABLE = Path(quire.index.__file__).parent / "static" / "static-384.bin"


class Reference:
    """The table as its description says: header, slots, starts, weights, texts, rows."""

    def __init__(self) -> None:
        data = TABLE.read_bytes()
        _, self.dimensions, count, slots, size, _ = struct.unpack_from("<8sIIII8s", data)
        at = struct.calcsize("<8sIIII8s") + 2 * slots
        starts = struct.unpack_from(f"<{count + 1}I", data, at)
        at += 4 * (count + 1)
        self.weights = struct.unpack_from(f"<{count}H", data, at)
        at += 2 * count
        self.texts = [data[at + starts[n] : at + starts[n + 1]].decode() for n in range(count)]
        at += size
        at += -at % 64
        self.rows = data[at : at + count * self.dimensions]

    def sum(self, pieces: list[int]) -> list[int]:
        total = [0] * self.dimensions
        for piece in pieces:
            row = self.rows[piece * self.dimensions : (piece + 1) * self.dimensions]
            for dimension, value in enumerate(row):
                total[dimension] += self.weights[piece] * (value - 256 if value > 127 else value)
        return total


@cache
def reference() -> Reference:
    return Reference()


@cache
def whole_words() -> list[int]:
    """Pieces that are words by themselves, so that a text of them is cut into exactly them."""
    return [n for n, text in enumerate(reference().texts) if text.isascii() and text.isalpha() and text.islower()]


def signed(vector: Vector) -> list[int]:
    return list(struct.unpack(f"{len(vector.values)}b", vector.values))


def cosine(a: list[int], b: list[int]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True)) / (math.hypot(*a) * math.hypot(*b))


def near(one: str, other: str) -> float:
    first, second = embedder().embed(one), embedder().embed(other)
    assert first
    assert second
    return cosine(signed(first), signed(second))


def test_the_table_opens_once() -> None:
    assert embedder().dimensions == 384
    assert embedder() is embedder()


def test_the_table_says_its_revision_so_that_vectors_of_two_tables_are_told_apart() -> None:
    assert embedder().revision


def test_what_is_not_a_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other.bin").write_bytes(b"something else" * 100)
    with pytest.raises(ValueError, match="not an embedding table"):
        Embedder(str(tmp_path / "other.bin"))


def test_the_same_text_has_the_same_vector_also_in_another_reader() -> None:
    text = "Webhook retries run in the worker, not in the web process."
    assert embedder().embed(text) == embedder().embed(text) == Embedder(str(TABLE)).embed(text)
    vector = embedder().embed(text)
    assert vector
    assert (len(vector.values), len(vector.bits)) == (384, 48)


def test_case_and_accents_do_not_matter() -> None:
    assert embedder().embed("The Café Menu") == embedder().embed("the cafe menu")


@pytest.mark.parametrize("text", ["", "   \n\t", "\u200b\u200b", "\u0301"])
def test_a_text_without_words_has_no_vector(text: str) -> None:
    assert embedder().embed(text) is None


@pytest.mark.parametrize("text", ["🚀🎉", "💥", "𓀀𓀁", "x" * 5000])
def test_a_text_of_which_nothing_is_known_has_no_vector(text: str) -> None:
    assert embedder().embed(text) is None


@each(
    ("one", "other"),
    [
        ("how do I log in", "user authentication"),
        ("delete a file", "remove a document from disk"),
        ("the program is slow", "performance is poor"),
        ("sending e-mail", "mail delivery"),
        ("the payment failed", "credit card charge was declined"),
        ("altering a database", "changing the schema of a table"),
        ("retry after an error", "try again when it fails"),
        ("unit tests", "automated testing of functions"),
        ("dark mode", "colour theme of the interface"),
        ("translate the interface", "localization into other languages"),
        ("crash on startup", "the application exits when it starts"),
        ("memory leak", "RAM usage grows without bound"),
    ],
)
def test_near_texts_have_nearer_vectors_than_unrelated_ones(one: str, other: str) -> None:
    strangers = ["a recipe for onion soup", "the history of the Roman senate", "whales migrate south in autumn"]
    assert near(one, other) > max(near(one, stranger) for stranger in strangers)


@settings(max_examples=examples(60))
@given(st.data())
def test_the_sum_over_all_lanes_is_the_sum_of_the_rows(data: st.DataObject) -> None:
    pieces = data.draw(st.lists(st.sampled_from(whole_words()), min_size=1, max_size=60))
    vector = embedder().embed(" ".join(reference().texts[piece] for piece in pieces))
    assert vector
    total, found = reference().sum(pieces), signed(vector)
    assert cosine(total, found) > 0.999
    largest = max(map(abs, total))
    step = largest / max(map(abs, found))
    assert all(abs(value - got * step) <= 1.1 * step for value, got in zip(total, found, strict=True))


@settings(max_examples=40)
@given(st.data())
def test_the_signs_are_those_of_the_vector(data: st.DataObject) -> None:
    text = data.draw(st.lists(st.sampled_from([reference().texts[n] for n in whole_words()]), min_size=1, max_size=20))
    vector = embedder().embed(" ".join(text))
    assert vector
    bits = int.from_bytes(vector.bits, "big")
    assert [bool(bits >> (383 - at) & 1) for at in range(384)] == [value < 0 for value in signed(vector)]


@settings(max_examples=examples(150))
@given(st.text(max_size=400))
def test_any_text_can_be_embedded(text: str) -> None:
    vector = embedder().embed(text)
    assert vector is None or len(vector.values) == 384


def heaviest(count: int) -> list[str]:
    """Words of many pieces that weigh much: what the lanes of the sum have least room for."""
    table = reference()
    ends = sorted(
        (n for n, text in enumerate(table.texts) if len(text) == 3 and text.startswith("##")),
        key=lambda n: -table.weights[n],
    )
    marks = [table.texts[n][2] for n in ends if table.texts[n][2].isascii() and table.texts[n][2].isalnum()]
    return [marks[n % 7] + (marks[n % 5] + marks[(n * 3) % 11]) * 49 for n in range(count)]


@pytest.mark.parametrize(
    "text", [" ".join(heaviest(400)), " ".join(["zq" * 50] * 400), "ξ" * 99 + (" " + "ξ" * 99) * 300]
)
def test_a_text_of_the_longest_and_heaviest_words_does_not_overflow(text: str) -> None:
    first = embedder().embed(" ".join(text.split()[:20]))
    vector = embedder().embed(text)
    assert vector
    assert first
    assert cosine(signed(first), signed(vector)) > 0.9


def test_a_huge_text_costs_no_more_than_a_long_one() -> None:
    words = [reference().texts[n] for n in whole_words()[:2000]]
    long = " ".join(words)
    assert embedder().embed(long) == embedder().embed(long + " and more of it" * 100_000)


@pytest.mark.proof
def test_what_is_remembered_of_the_words_is_bounded(tmp_path: Path) -> None:
    table = Embedder(str(TABLE))
    for number in range(160):
        table.embed(" ".join(f"w{number * 200 + n}x" for n in range(200)))
    kept = [value for value in vars(table).values() if isinstance(value, dict)]
    assert all(len(value) <= 50_000 for value in kept)


def test_it_needs_no_numpy_and_no_network() -> None:
    line = (
        "import sys, socket; socket.socket = None\n"
        "from quire.index.vector_table import embedder\n"
        "assert embedder().embed('retry queue')\n"
        "print([name for name in ('numpy', 'torch', 'onnxruntime', 'sqlite3') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", line], capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    assert done.stdout.strip() == "[]"
