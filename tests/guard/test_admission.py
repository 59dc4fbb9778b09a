"""Whether a text may be written down: what stops it, what only warns, and what is said of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.guard.admission import admit, stored_secrets, text_problems
from quire.model.errors import InputError, SecretDetected

KEY = "AKIA" + "Z7Q2M4X9P1L5K8W3"
DOUBTFUL = 'password = "hunter2hunter2"'


def test_a_text_comes_back_without_the_blanks_around_it() -> None:
    assert admit("  Two words.\n", "content", most=20) == ("Two words.", [])
    assert admit("a\n\nb", "content", most=20) == ("a\n\nb", [])
    assert admit("\u3000ü🙂\u00a0", "content", most=2) == ("ü🙂", [])


@pytest.mark.parametrize("text", ["", " ", "\n\t\r\n", "\u2003\u3000"])
def test_nothing_is_an_error(text: str) -> None:
    with pytest.raises(InputError) as refusal:
        admit(text, "reason", most=2_000)
    assert str(refusal.value.message) == "`reason` is empty."
    assert refusal.value.hint == "Give a text of 1 to 2,000 characters."
    assert refusal.value.details == {"field": "reason"}


def test_how_long_it_may_be() -> None:
    assert admit(" " + "x" * 10 + " ", "tags", most=10)[0] == "x" * 10
    with pytest.raises(InputError) as refusal:
        admit("x" * 1_011, "tags", most=1_010)
    assert refusal.value.message == "`tags` has 1,011 characters; the limit is 1,010."
    assert refusal.value.details == {"field": "tags", "maximum": 1_010}


@pytest.mark.parametrize("text", ["a\x1b[31mb", "a\x00b", "a\u202eb", "a\ud800b", "a\U000e0041b", "a\ufffeb"])
def test_what_deceives_a_reader_is_refused(text: str) -> None:
    with pytest.raises(InputError) as refusal:
        admit(text, "content", most=100)
    assert "at character 2" in refusal.value.message
    assert refusal.value.details == {"field": "content"}
    assert not isinstance(refusal.value, SecretDetected)


@pytest.mark.parametrize("text", ["a\nb", "a\rb", "a\u2028b", "a\u2029b", "a\r\nb"])
def test_where_one_line_is_meant_several_are_refused(text: str) -> None:
    admit(text, "content", most=100)
    with pytest.raises(InputError):
        admit(text, "title", most=100, single_line=True)


def test_a_credential_is_refused_and_not_repeated() -> None:
    with pytest.raises(SecretDetected) as refusal:
        admit(f"The key is {KEY}.", "content", most=100)
    assert refusal.value.details == {"field": "content"}
    said = f"{refusal.value.message} {refusal.value.hint}"
    assert KEY not in said
    assert KEY[6:] not in said


def test_of_two_reasons_the_credential_is_told() -> None:
    with pytest.raises(SecretDetected):
        admit(f"\x1b[0m {KEY}", "content", most=100)


def test_the_place_of_a_credential_in_a_long_text_is_told() -> None:
    problems, _ = text_problems(f"one\ntwo\n{KEY}\n", "content")
    assert [(problem.code, problem.line, problem.field, problem.severity) for problem in problems] == [
        ("MemorySecretDetected", 3, "content", "error")
    ]
    assert problems[0].message.endswith(", line 3")


def test_what_may_be_one_is_warned_of() -> None:
    problems, warnings = text_problems(DOUBTFUL, "content")
    codes = {problem.code for problem in (*problems, *warnings)}
    assert codes <= {"MemorySecretDetected", "MemorySecretWarning"}
    if not problems:
        text, told = admit(DOUBTFUL, "content", most=100)
        assert (text, told) == (DOUBTFUL, warnings)
        assert {item.severity for item in told} <= {"warning"}


def test_what_is_on_the_disk_already_is_told_with_its_file() -> None:
    (problem,) = stored_secrets(".memory/facts.jsonl", f"x\n{KEY}")
    assert (problem.code, problem.path, problem.line, problem.severity) == (
        "MemorySecretDetected",
        ".memory/facts.jsonl",
        2,
        "error",
    )
    assert KEY not in problem.message
    assert stored_secrets("f", KEY, 9)[0].line == 9
    assert stored_secrets("f", "nothing here") == []


ANY = st.text(st.characters(exclude_categories=())) | st.text(
    st.sampled_from("a \n\r\t\x00\x1b\x85\u2028\u202e\ud800\ufeff\U000e0001")
)


@given(ANY, st.integers(1, 40), st.booleans())
def test_what_is_admitted_is_admitted_again_unchanged(text: str, most: int, single: bool) -> None:
    try:
        found, warnings = admit(text, "content", most=most, single_line=single)
    except InputError:
        return
    assert 0 < len(found) <= most
    assert found == text.strip()
    assert admit(found, "content", most=most, single_line=single) == (found, warnings)
    found.encode()
    assert not single or len(found.splitlines()) == 1
