"""Prompts that say nothing, and those that say little but something."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import each
from quire.retrieval.low_signal import is_low_signal

NOTHING = [
    "",
    "   \n\t",
    "\u3000\ufeff",
    "\x00",
    "…",
    "...",
    "?!",
    "---",
    "/",
    "~",
    "#",
    "_",
    "``",
    ":)",
    "👍",
    "👍🏽",
    "❤️ 🎉",
    "👩‍💻",
    "🆗",
    "+1",
    ":+1:",
    "ok",
    "OK.",
    "Ok!",
    "K",
    "y",
    "yes",
    "YES!!!",
    "no",
    "thanks",
    "thanks :)",
    "Thank you very much!",
    "go on",
    "Go ahead.",
    "continue",
    "please continue",
    "ok...continue",
    "ok…continue",
    "yes, please go on",
    "ok\nthanks\ngo on",
    "ok 👍 thanks",
    "looks good to me",
    "that's fine",
    "that’s right, thanks",
    "(ok)",
    "“ok”",
    "*perfect*",
    "next",
    "lgtm",
    "hello",
    "ja",
    "Ja, bitte weiter!",
    "Alles klar, danke",
    "natürlich",
    "natu\u0308rlich",
    "sehr schön",
    "in Ordnung",
    "mach weiter",
    "los geht's",
    "vielen Dank!",
    "oui",
    "d'accord",
    "D’ACCORD",
    "c'est bon, merci",
    "très bien",
    "s'il vous plaît",
    "vas-y",
    "ça marche",
    "bien sûr",
    "sí",
    "¡Sí, por favor!",
    "¿vale?",
    "de acuerdo",
    "muchas gracias",
    "está bien, sigue",
]

SOMETHING = [
    "ok, now the tests",
    "yes, commit",
    "continue with retries",
    "no, use the other queue",
    "why",
    "stop",
    "fix it",
    "run tests",
    "undo",
    "retry",
    "problem",
    "sense",
    "course",
    "suite",
    "it",
    "on",
    "db",
    "UI",
    "x",
    "2",
    "yes 2",
    "42",
    "#12",
    "ok #12",
    "go 1.22",
    "1️⃣",
    "100%",
    "½",
    "/ok",
    "ok/",
    "./go",
    "../next",
    "~/yes",
    "C:\\ok",
    "src/ok.py",
    "ok.py",
    ".go",
    "go.next",
    "go::next",
    "ok:yes",
    "go_on",
    "_ok",
    "__next__",
    "goOn",
    "okThanks",
    "thankYou",
    "weiterMachen",
    "`ok`",
    "ok()",
    "next(go)",
    "{ok}",
    "<next>",
    "$ok",
    "ok=yes",
    "ok | yes",
    "@next",
    "--continue",
    "-y",
    "好的",
    "検索",
    "да",
    "हाँ",
    "ok ok ok ok",
    "ok thanks great perfect continue",
    "ok\u200bretry",
    "ok\x00retry",
    "ok\n\n\nTraceback",
    "weiter mit der Warteschlange",
    "corrige les tests",
    "sigue con las pruebas",
]


@each("prompt", NOTHING)
def test_a_prompt_that_says_nothing(prompt: str) -> None:
    assert is_low_signal(prompt)


@each("prompt", SOMETHING)
def test_a_prompt_that_says_something(prompt: str) -> None:
    assert not is_low_signal(prompt)


@given(st.sampled_from(NOTHING), st.sampled_from(["retry", "src/a.py", "queue_size", "RetryQueue", "a.b", "404"]))
def test_one_word_that_means_something_is_enough(prompt: str, word: str) -> None:
    assert not is_low_signal(f"{prompt} {word}")
    assert not is_low_signal(f"{word} {prompt}")


@given(st.text())
def test_any_text_is_judged_and_blanks_around_it_change_nothing(prompt: str) -> None:
    assert is_low_signal(prompt) == is_low_signal(f" \n{prompt}\n ")


@given(st.text(st.characters(categories=["P", "S", "Z"])))
def test_marks_alone_say_nothing(prompt: str) -> None:
    assert is_low_signal(prompt)


@pytest.mark.parametrize(
    "prompt", ["ok " * 300_000, "é" * 300_000, "." * 300_000, "go on " * 100_000 + "x", "-" * 300_000]
)
def test_the_longest_prompt_is_judged_in_no_time(prompt: str) -> None:
    is_low_signal(prompt)
