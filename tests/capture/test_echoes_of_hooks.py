"""What hooks hand over comes back in transcripts of some clients: it is our own word, and none of the user's."""

from quire.capture.transcripts.machine_text import HANDED, without_own
from quire.verbs.agents.prompt_brief import EDIT_HEAD, PROMPT_HEAD
from quire.verbs.agents.session_brief import HEAD, LOOK_UP


def test_the_beginnings_are_those_that_hooks_say() -> None:
    assert HANDED[0] in HEAD
    assert PROMPT_HEAD.startswith(HANDED[1])
    assert EDIT_HEAD.startswith(HANDED[1])


def test_an_opening_is_left_out_and_what_the_user_said_stays() -> None:
    said = "\n".join(
        (
            "Fix the queue.",
            "",
            HEAD.format(name="Harbor"),
            "",
            "Unfinished:",
            "- `feature.retry-queue` [building] Retry queue: failed webhooks are sent again",
            "",
            "Out of date (check the code before you rely on them):",
            "- `decision.x` [changed] X",
            "",
            "2 proposals pending in the user's inbox: `memory inbox`.",
            LOOK_UP,
            "",
            "And then the tests.",
        )
    )
    assert without_own(said) == ("Fix the queue.\n\nAnd then the tests.", True)


def test_what_was_handed_over_before_an_edit_is_left_out() -> None:
    said = f"Look:\n{EDIT_HEAD.format(files='`src/q.py`')}\n- `decision.x` Y: Z.\nThen go on."
    assert without_own(said) == ("Look:\nThen go on.", True)


def test_words_of_the_user_about_the_memory_stay() -> None:
    said = "The memory of this project says:\n- retries run in the worker"
    assert without_own(said) == (said, False)
