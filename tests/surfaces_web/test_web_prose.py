"""Markdown as a tree: whatever the text, only elements that are meant, and every word of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import each
from promised import proves
from quire.surfaces.web.prose import prose_of
from thorough import either

TAGS = {
    *("p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong", "s"),
    *("a", "br", "hr", "table", "thead", "tbody", "tr", "th", "td"),
}
MARKS = ["*", "_", "`", "~~", "[", "](", ")", "<", ">", "|", "#", "-", "1.", "\n", "\n\n", "    ", "\\", "!", "&amp;"]
HOSTILE = [
    *("<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "[a](javascript:alert(1))", "![a](http://x/y.png)"),
    *(
        "<http://x.example/>",
        "[a]: javascript:x",
        "&lt;b&gt;",
        "[a](data:text/html,x)",
        "```js onload=x",
        "\0",
        "\u202e",
    ),
]
TEXTS = st.one_of(
    st.text(max_size=300),
    st.lists(st.sampled_from([*MARKS, *HOSTILE, "word", "a b"]), max_size=60).map("".join),
    st.lists(st.one_of(st.sampled_from(MARKS), st.text(max_size=8)), max_size=40).map("".join),
)


def elements(tree: list[Any]) -> Iterator[tuple[str, dict[str, str], list[Any]]]:
    for part in tree:
        if isinstance(part, str):
            continue
        assert isinstance(part, list)
        tag, attributes, inner = part
        yield tag, attributes, inner
        yield from elements(inner)


def words(tree: list[Any]) -> str:
    return "".join(part if isinstance(part, str) else words(part[2]) for part in tree)


def depth(tree: list[Any]) -> int:
    return 1 + max((depth(part[2]) for part in tree if not isinstance(part, str)), default=0)


@proves("P10.3", "H3")
@given(TEXTS)
def test_any_text_becomes_elements_that_are_meant(text: str) -> None:
    tree = prose_of(text)
    assert depth(tree) <= 42
    for tag, attributes, inner in elements(tree):
        assert tag in TAGS
        assert isinstance(inner, list)
        assert set(attributes) <= {"href", "start", "class"}
        assert all(isinstance(value, str) for value in attributes.values())
        assert ("href" in attributes) <= (tag == "a")
        link = attributes.get("href", "").strip().casefold()
        assert not re.match(r"(javascript|vbscript|file|data):", link) or link.startswith("data:image/")


@given(st.lists(st.text("abcdefghijklmnopqrstuvwxyzäß世界", min_size=1, max_size=8), min_size=1, max_size=30))
def test_every_word_is_kept_in_its_order(given_words: list[str]) -> None:
    """Whatever marks stand between words, none of the words is lost."""
    marks = ["* ", "\n\n", " **", "** ", "\n- ", "\n> ", " `", "` ", "\n# ", " | ", "\n1. ", " <b> ", " ~~ "]
    text = "".join(f"{word}{marks[len(word) * 7 % len(marks)]}" for word in given_words)
    found = re.findall(r"[a-zäß世界]", words(prose_of(text)).replace("<b>", " "))
    assert found == re.findall(r"[a-zäß世界]", text.replace("<b>", " "))


@proves("P10.3", "H3")
def test_html_is_shown_as_it_is_written() -> None:
    text = '<script>alert(1)</script> <img src="x" onerror="y"> <b>bold</b>'
    assert prose_of(text) == [["p", {}, [text]]]
    assert prose_of("<div>\n\n*a*\n\n</div>") == [
        ["p", {}, ["<div>"]],
        ["p", {}, [["em", {}, ["a"]]]],
        ["p", {}, ["</div>"]],
    ]


@proves("P10.3", "H3")
def test_pictures_are_not_fetched() -> None:
    tree = prose_of("![of a queue](http://x.example/queue.png)")
    assert [tag for tag, _, _ in elements(tree)] == ["p", "a"]
    assert words(tree) == "of a queue"


@pytest.mark.parametrize(
    ("text", "href"),
    [
        ("[a](https://x.example/y?z=1#w)", "https://x.example/y?z=1#w"),
        ("<mailto:a@x.example>", "mailto:a@x.example"),
        ("[a](docs/guide.md)", "docs/guide.md"),
        ('[a](http://x.example "title")', "http://x.example"),
        ("[a][b]\n\n[b]: http://x.example/c", "http://x.example/c"),
    ],
)
def test_links(text: str, href: str) -> None:
    [(tag, attributes, _)] = [found for found in elements(prose_of(text)) if found[0] == "a"]
    assert (tag, attributes) == ("a", {"href": href})


@proves("P10.3", "H3")
@pytest.mark.parametrize(
    "text", ["[a](javascript:alert(1))", "[a](JaVaScRiPt:alert(1))", "[a](vbscript:x)", "[a](file:///etc/passwd)"]
)
def test_links_that_lead_nowhere_good_are_words(text: str) -> None:
    assert [tag for tag, _, _ in elements(prose_of(text))] == ["p"]
    assert words(prose_of(text)) == text


def test_a_tight_list_and_a_loose_one() -> None:
    assert prose_of("- one\n- two *b*\n  - three\n") == [
        ["ul", {}, [["li", {}, ["one"]], ["li", {}, ["two ", ["em", {}, ["b"]], ["ul", {}, [["li", {}, ["three"]]]]]]]]
    ]
    assert prose_of("1. one\n\n2. two\n") == [
        ["ol", {}, [["li", {}, [["p", {}, ["one"]]]], ["li", {}, [["p", {}, ["two"]]]]]]
    ]
    assert prose_of("7. seven\n") == [["ol", {"start": "7"}, [["li", {}, ["seven"]]]]]


def test_a_table() -> None:
    head = ["thead", {}, [["tr", {}, [["th", {}, ["a"]], ["th", {}, ["b"]]]]]]
    body = ["tbody", {}, [["tr", {}, [["td", {}, ["1"]], ["td", {}, [["code", {}, ["2"]]]]]]]]
    assert prose_of("| a | b |\n|--|:-:|\n| 1 | `2` |\n") == [["table", {}, [head, body]]]


def test_code_and_breaks_and_what_is_struck() -> None:
    assert prose_of("```py title=x\n<b>\n```") == [["pre", {}, [["code", {"class": "py"}, ["<b>\n"]]]]]
    assert prose_of("    indented\n") == [["pre", {}, [["code", {}, ["indented\n"]]]]]
    assert prose_of("a  \nb\nc\n\n---\n\n~~d~~") == [
        ["p", {}, ["a", ["br", {}, []], "b", "\n", "c"]],
        ["hr", {}, []],
        ["p", {}, [["s", {}, ["d"]]]],
    ]
    assert prose_of("````" + "x" * 100 + "\ny")[0][2][0][1] == {"class": "x" * 40}


def test_nothing() -> None:
    assert prose_of("") == []
    assert prose_of(" \n\n ") == []


DEEP = {
    "quotes": "> " * 2_000 + "a",
    "lists": "".join(f"{'  ' * level}- a\n" for level in range(300)),
    "emphasis": "*" * 5_000 + "a" + "*" * 5_000,
    "marks in turn": "*_" * 3_000 + "a" + "_*" * 3_000,
    "brackets": "[" * 3_000 + "a" + "]" * 3_000,
    "links": "[" * 1_000 + "a" + "](b)" * 1_000,
    "ticks": "`" * 20_000 + " a`",
    "angles": "<" * 20_000,
    "pipes": "|" * 10_000 + "\n" + "|-" * 5_000,
    "backslashes": "\\" * 20_000,
    "entities": "&amp;" * 10_000,
    "references": "".join(f"[{number}]: /x\n" for number in range(2_000)),
}


@pytest.mark.proof
@each("kind", DEEP)
def test_deep_and_long_texts_are_shown_in_time(kind: str) -> None:
    tree = prose_of(DEEP[kind])
    assert depth(tree) <= 42
    if kind != "references":
        assert "a" in words(tree) or kind in ("angles", "pipes", "backslashes", "entities")
        assert words(tree)


def test_a_text_that_is_too_deep_is_shown_as_it_is() -> None:
    deep = "".join(f"{'  ' * level}- item {level}\n" for level in range(60))
    assert words(prose_of(deep)).strip().endswith("item 59")
    assert words(prose_of("> " * 60 + "the end")).endswith("the end")


def test_a_text_that_is_too_long_is_cut_and_says_so() -> None:
    assert prose_of("a" * 200_001) == [["pre", {}, ["a" * 200_000, "…"]]]
    assert prose_of("b " * 100_000)[0][0] == "p"


def test_a_long_text_of_many_parts() -> None:
    text = "# Title\n\n" + "Some *words* and `code`.\n\n- one\n- two\n\n" * either(1_000, 4_000)
    tree = prose_of(text)
    assert len(tree) == 1 + 2 * either(1_000, 4_000)
