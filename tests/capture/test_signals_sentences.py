"""What was said, sentence by sentence: where one ends, what is nobody's words, and what stands over it."""

from __future__ import annotations

from quire.capture.signals.sentences import READ_CHARS, sentences_of


def texts(text: str) -> list[str]:
    return [sentence.text for sentence in sentences_of(text)]


def under(text: str) -> list[tuple[bool, str]]:
    """Whether each sentence stands under a heading of next steps."""
    return [("label_next" in (one.heading or ()), one.text) for one in sentences_of(text)]


def test_sentences_end_where_they_end() -> None:
    assert texts("It works, e.g. for A. Does it? Yes! See v1.2 (z. B. hier). 完成了。下一个！") == [
        *("It works, e.g. for A.", "Does it?", "Yes!", "See v1.2 (z. B. hier).", "完成了。", "下一个！")
    ]
    assert texts("Am 29. März fehlen vier Werte. Dann geht es.") == ["Am 29. März fehlen vier Werte.", "Dann geht es."]


def test_code_quotations_and_tables_are_nobodys_words() -> None:
    said = "A one.\n```py\nDecision: x\n```\n> Decision: y\n\n| Decision | z |\n|---|---|\n\n~~~\nw\n~~~\nB two."
    assert texts(said) == ["A one.", "B two."]
    assert texts("before\n````\n```\ninner\n```\n````\nafter it") == ["before", "after it"]


def test_marks_and_pictures_are_taken_off() -> None:
    assert texts("🎉 **Done!** Call `rotate()` in [upload](src/u.ts), *not* later 🎉") == [
        *("Done!", "Call rotate() in upload, not later")
    ]


def test_broken_lines_belong_together_and_others_do_not() -> None:
    wrapped = "The worker finishes the running job and only then leaves\nthe loop. Then it stops."
    assert texts(wrapped) == ["The worker finishes the running job and only then leaves the loop.", "Then it stops."]
    assert texts("Short one\nAnother one") == ["Short one", "Another one"]


def test_a_heading_speaks_until_the_next_and_a_line_with_a_colon_for_its_list() -> None:
    assert under("## Next steps\n- one thing\n- another\n\n# Else\n\nx y") == [
        *((True, "one thing"), (True, "another"), (False, "x y"))
    ]
    assert under("Still open:\n- alerts\n- charts\n\nThat is all.")[1:] == [
        *((True, "alerts"), (True, "charts"), (False, "That is all."))
    ]


def test_a_label_speaks_for_its_sentence_and_is_taken_off() -> None:
    found = sentences_of("It works. Next: add metrics.\nDecision: keep it\nEntschieden: so bleibt es\n下一步：加快")
    assert [(sorted(one.label), one.text) for one in found] == [
        ([], "It works."),
        (["says_next"], "add metrics."),
        (["says_decision"], "keep it"),
        (["says_decision"], "so bleibt es"),
        (["says_next"], "加快"),
    ]


def test_boxes_struck_items_and_numbers_are_understood() -> None:
    found = sentences_of("- [x] a b\n- [ ] c d\n- e f\n- ~~g h~~ gone\n2. i j\nOption B: k l\n✅ m n")
    assert [one.done for one in found] == [True, False, None, True, None, None, True]
    assert [one.number for one in found] == ["", "", "", "", "2", "B", ""]


def test_of_a_long_text_both_ends_are_read_and_no_half_words() -> None:
    assert texts("first words. " + "y" * READ_CHARS + " last words.") == ["first words.", "last words."]
