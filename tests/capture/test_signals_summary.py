"""The summary: what was asked for first, and how the session ended."""

from __future__ import annotations

from signal_hearing import agent, by_helper, heard, runs, summary, user

from quire.capture.transcripts.types import Turn


def test_it_tells_the_first_request_and_the_last_result() -> None:
    found = heard(
        user("Hi! The order list is slow. Can we cache it?"),
        agent("Let me look at it."),
        agent("The list is cached now and answers in 40 ms. Let me know if you need anything else!"),
        user("thanks"),
        agent("You're welcome!"),
    )
    assert found.summary == (
        "Asked: The order list is slow. Can we cache it? Result: The list is cached now and answers in 40 ms."
    )


def test_next_steps_and_questions_are_no_result() -> None:
    found = heard(
        user("port the parser"), agent("The parser is ported.\n\n## Next steps\n- Port the writer\n\nShall I go on?")
    )
    assert found.summary == "Asked: Port the parser. Result: The parser is ported."


def test_where_nothing_was_said_at_the_end_the_last_check_is_the_result() -> None:
    assert heard(user("run the tests"), runs("pytest", "3 passed")).summary == (
        "Asked: Run the tests. Result: pytest: passed (3 passed)."
    )


def test_a_session_that_begins_with_a_summary_takes_the_request_from_it() -> None:
    told = summary("1. Primary Request and Intent: rewrite the search endpoint\n\n2. Key concepts:\n- none")
    assert heard(told, agent("The endpoint is rewritten and tested.")).summary == (
        "Asked: Rewrite the search endpoint. Result: The endpoint is rewritten and tested."
    )


def test_an_empty_session_says_so() -> None:
    assert heard().summary == heard(Turn(role="system", text="warning")).summary == "Nothing was said in this session."


def test_a_session_of_a_helper_alone_is_told_like_any_other() -> None:
    found = heard(by_helper(user("Survey the callers")), by_helper(agent("There are two callers of the endpoint.")))
    assert found.summary == "Asked: Survey the callers. Result: There are two callers of the endpoint."


def test_it_is_short_and_on_one_line() -> None:
    found = heard(user("word " * 400 + "\nend"), agent("thing " * 400))
    assert len(found.summary) < 450
    assert "\n" not in found.summary


def test_a_secret_in_the_request_is_not_told() -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    found = heard(user(f"use {token} for the release. publish the package"), agent("The package is published."))
    assert token not in found.summary
    assert found.summary == "Asked: Publish the package. Result: The package is published."
