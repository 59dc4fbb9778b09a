"""What was said, piece by piece: what is a sentence, what is nobody's words, and what a heading speaks for."""

from __future__ import annotations

from cases import each
from quire.capture.signals.labels import kind_of_label
from quire.capture.signals.sentences import READ_CHARS, Block, blocks_of


def texts(text: str) -> list[list[str]]:
    return [[sentence.text for sentence in block.sentences] for block in blocks_of(text)]


def kinds(text: str) -> list[tuple[str, str]]:
    return [(block.kind, block.sentences[0].text) for block in blocks_of(text)]


def one(text: str) -> Block:
    (block,) = blocks_of(text)
    return block


def test_sentences_end_where_they_end() -> None:
    assert texts("It works, e.g. for A. Does it? Yes! See v1.2 (z. B. hier). 完成了。下一个！") == [
        ["It works, e.g. for A.", "Does it?", "Yes!", "See v1.2 (z. B. hier).", "完成了。", "下一个！"]
    ]
    assert texts("We take SELECT … FOR UPDATE here. Then more.") == [
        ["We take SELECT … FOR UPDATE here.", "Then more."]
    ]


def test_code_quotations_and_tables_are_nobodys_words() -> None:
    assert texts(
        "A one.\n```py\nDecision: x\n```\n> Decision: y\n\n| Decision | z |\n|---|---|\n\n~~~\nw\n~~~\nB two."
    ) == [
        ["A one."],
        ["B two."],
    ]
    assert texts("before\n````\n```\ninner\n```\n````\nafter it") == [["before"], ["after it"]]


def test_marks_and_pictures_are_taken_off() -> None:
    assert texts("✅ **Done!** Call `rotate()` in [upload](src/u.ts), *not* later 🎉") == [
        ["Done!", "Call rotate() in upload, not later"]
    ]


def test_broken_lines_belong_together_and_others_do_not() -> None:
    wrapped = "The worker finishes the running job and only then leaves\nthe loop. Then it stops."
    assert texts(wrapped) == [["The worker finishes the running job and only then leaves the loop.", "Then it stops."]]
    assert texts("Short one\nAnother one") == [["Short one"], ["Another one"]]


def test_a_heading_speaks_until_the_next_one() -> None:
    assert kinds(
        "## Next steps\n- one thing\n- another\n\nAfter the list.\n\n## Key Decisions\n\nUse it.\n\n# Else\n\nx y"
    ) == [
        ("next", "one thing"),
        ("next", "another"),
        ("", "After the list."),
        ("decision", "Use it."),
        ("", "x y"),
    ]


def test_a_line_with_a_colon_speaks_for_the_list_below_it() -> None:
    assert kinds("It runs. What's missing:\n- alerts\n- charts\n\nThat is all.") == [
        ("", "It runs."),
        ("next", "alerts"),
        ("next", "charts"),
        ("", "That is all."),
    ]
    assert kinds("4. Errors and fixes:\n- a b\n5. Files:\n- c d") == [("gotcha", "a b"), ("", "c d")]
    assert kinds("<current_plan>\n1. [DONE] a b\n2. [TODO] c d\n</current_plan>") == [("next", "a b"), ("next", "c d")]


def test_a_label_in_a_line_speaks_for_that_line() -> None:
    assert kinds("Decision: a b\nGotcha: c d\nNext: e f\nplain g") == [
        ("decision", "a b"),
        ("gotcha", "c d"),
        ("next", "e f"),
        ("", "plain g"),
    ]
    assert kinds("It works. Next: add metrics. Soon.") == [("", "It works."), ("next", "add metrics.")]


def test_boxes_struck_items_and_bold_titles_are_understood() -> None:
    assert one("- [x] a b").checked is True
    assert one("- [ ] a b").checked is False
    assert one("- a b").checked is None
    assert [block.checked for block in blocks_of("## Next\n- ~~a b~~ done\n- c d")] == [True, None]
    assert one("**Clock skew.** Two hosts run ahead.").title == "Clock skew"
    assert one("**Option B**: ping").number == "B"
    assert one("2. second thing").number == "2"


def test_of_a_long_text_both_ends_are_read() -> None:
    found = texts("first words.\n\n" + "filler words here.\n\n" * READ_CHARS + "last words.")
    assert found[0] == ["first words."]
    assert found[-1] == ["last words."]
    assert len(found) < READ_CHARS / 8


@each(
    ("label", "kind"),
    [
        ("Decisions", "decision"),
        ("✅ Key Decisions:", "decision"),
        ("What we agreed on", "decision"),
        ("Root Cause", "cause"),
        ("⚠️ Important", "gotcha"),
        ("2. Next steps", "next"),
        ("Nächste Schritte", "next"),
        ("下一步", "next"),
        ("落とし穴", "gotcha"),
        ("Summary", ""),
        ("Next to the door stands a chair", ""),
        ("", ""),
    ],
)
def test_what_a_label_announces(label: str, kind: str) -> None:
    assert kind_of_label(label) == kind


def test_each_label_within_a_paragraph_begins_a_block_of_its_own() -> None:
    for text in ("It works. Gotcha: it is slow. Next: make it fast.", "好了。注意：很慢。下一步：加快。"):
        assert [block.kind for block in blocks_of(text)] == ["", "gotcha", "next"]


def test_a_word_that_is_cut_in_two_is_left_out() -> None:
    assert texts("first words. " + "y" * READ_CHARS + " last words.") == [["first words."], ["last words."]]
