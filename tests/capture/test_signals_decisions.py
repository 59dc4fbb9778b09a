"""Decisions: what counts as one, what only looks like one, and what is taken back."""

from __future__ import annotations

import pytest
from signal_hearing import agent, by_helper, signals, summary, user

from cases import each


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Decision: store amounts as integers", "Store amounts as integers"),
        ("We decided to store amounts as integers.", "We decided to store amounts as integers"),
        (
            "I'll use a cursor instead of offsets, because offsets get slow on big tables.",
            "Use a cursor instead of offsets, because offsets get slow on big tables",
        ),
        (
            "We're going with a queue table. That way nothing else has to run, since Postgres is there anyway.",
            "We're going with a queue table: That way nothing else has to run, since Postgres is there anyway",
        ),
        ("Entscheidung: Beträge werden als ganze Zahlen gespeichert", "Beträge werden als ganze Zahlen gespeichert"),
        (
            "Hemos decidido guardar los importes como enteros.",
            "Hemos decidido guardar los importes como enteros",
        ),
        ("On a décidé de garder les montants en centimes.", "On a décidé de garder les montants en centimes"),
        ("我们决定用整数保存金额。", "我们决定用整数保存金额"),
        ("金額は整数で保存することにします。", "金額は整数で保存することにします"),
    ],
)
def test_what_somebody_says_is_decided_is_a_decision(text: str, expected: str) -> None:
    assert signals(user("make it right"), agent(text)).decisions == (expected,)


@each(
    "text",
    [
        "We could use Redis for this, because it is fast.",
        "Should we use Redis instead of the map?",
        "Maybe we should go with Redis.",
        "Nobody has decided on Redis yet.",
        "The wiki says we decided on Redis for all shared state.",
        "> Decision: we will use Redis for all shared state.",
        "```\nDecision: use Redis\n```",
        "| Decision: use Redis | because it is fast |",
        "I'll look at the tests, because one of them fails.",
        "Let me check how the cache is used.",
        "If we chose Redis we would have to run it.",
        "You're welcome! Let me know if you need anything else.",
    ],
)
def test_what_only_could_be_or_was_said_by_others_is_none(text: str) -> None:
    assert signals(user("the cache is lost on restart"), agent(text)).decisions == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "never edit files in src/gen by hand, they are overwritten",
            "Never edit files in src/gen by hand, they are overwritten",
        ),
        ("please don't touch the lock file", "Don't touch the lock file"),
        ("from now on every handler has to use signing.py", "From now on every handler has to use signing.py"),
        ("we don't use any in this project. use unknown", "We don't use any in this project; use unknown"),
        ("ok let's stay with the built-in validation for now", "Stay with the built-in validation for now"),
        (
            "use the slim image instead of alpine, size doesn't matter",
            "Use the slim image instead of alpine, size doesn't matter",
        ),
    ],
)
def test_rules_and_choices_of_the_user_are_decisions(text: str, expected: str) -> None:
    assert signals(user("set this up"), agent("All right, working on the files."), user(text)).decisions == (expected,)


@pytest.mark.parametrize(
    "text", ["add a test for the empty list", "thanks!", "I don't know", "does it work now?", "hm"]
)
def test_orders_and_small_talk_of_the_user_are_none(text: str) -> None:
    assert signals(user("set this up"), agent("All files are in place."), user(text)).decisions == ()


def test_a_proposal_is_a_decision_once_it_is_accepted() -> None:
    offer = agent("Two ways are possible. I'd go with moved blocks in the code.")
    assert signals(user("move the buckets"), offer, user("go")).decisions == ("Go with moved blocks in the code",)
    assert signals(user("move the buckets"), offer, user("hm, why?")).decisions == ()
    assert signals(user("move the buckets"), offer).decisions == ()


def test_an_option_is_chosen_by_its_number_or_its_place() -> None:
    offer = agent("1. Geocode in batches of a hundred.\n2. Cache coordinates by address.\n\nWhich one do you prefer?")
    cached = ("Cache coordinates by address",)
    assert signals(user("too slow"), offer, user("the second one")).decisions == cached
    assert signals(user("too slow"), offer, user("2, and be quick")).decisions == cached
    assert signals(user("too slow"), offer, user("option 2")).decisions == cached


def test_the_answer_to_a_question_that_names_what_there_is_to_choose_from_is_a_decision() -> None:
    offer = agent("Should I use CSS variables or a Tailwind variant?")
    found = signals(user("add dark mode"), offer, user("css variables"), agent("They work without a rebuild."))
    assert found.decisions == ("Css variables (Should I use CSS variables or a Tailwind variant?)",)
    assert signals(user("add dark mode"), offer, user("whatever you like")).decisions == ()


def test_whoever_says_which_means_to_use_has_chosen() -> None:
    said = agent("The workers are killed, as four of them do not fit into memory.")
    for text in ("let's use two workers and preload the model", "use two workers and preload the model"):
        assert signals(user("look"), said, user(text)).decisions == ("Use two workers and preload the model",)


def test_what_is_put_off_again_is_no_decision() -> None:
    found = signals(
        user("add flags"),
        agent("They are in place."),
        user("perfect. remaining: an admin page"),
        agent("I'll leave that for the next session."),
    )
    assert found.decisions == ()


def test_what_was_weighed_and_kept_is_a_decision() -> None:
    text = "I considered a library but the grammar is small, so I kept the parser that was written by hand."
    assert signals(user("refactor"), agent(text)).decisions == (text.rstrip("."),)
    assert signals(user("refactor"), agent("I kept getting the same error from the library.")).decisions == ()


def test_what_is_added_to_an_option_goes_with_it() -> None:
    offer = agent(
        "**Option A**: raise the timeout to an hour\n**Option B**: send a ping every 20 seconds\n\nWhich one?"
    )
    found = signals(user("connections drop"), offer, user("B, but make the interval configurable"))
    assert found.decisions == ("Send a ping every 20 seconds; make the interval configurable",)


def test_whoever_still_asks_has_not_chosen() -> None:
    offer = agent("We could keep the column nullable.")
    asked = user("ops says we upgrade on Friday. then the default is fine, right?")
    found = signals(user("make it safe"), offer, asked, agent("Right, after the upgrade no rewrite happens any more."))
    assert found.decisions == ()


def test_a_few_words_of_the_user_give_way_to_the_fuller_ones_of_the_agent() -> None:
    found = signals(
        user("支付回调重复入账"),
        user("那就用唯一索引"),
        agent("好的，给 trade_no 加唯一索引，冲突时直接返回成功。"),
    )
    assert found.decisions == ("给 trade_no 加唯一索引，冲突时直接返回成功",)
    found = signals(
        user("tokens are stale"),
        agent("You might drop the old tokens."),
        user("we'll keep the old tokens until the end of the month, some people haven't updated"),
        agent("OK, the old tokens stay until the end of the month."),
    )
    assert found.decisions == ("Keep the old tokens until the end of the month, some people haven't updated",)


def test_what_stays_as_it_is_is_settled_without_a_reason() -> None:
    found = signals(
        user("turn it on"), agent("I have left it behind the option FAST, off by default, until that is clear.")
    )
    assert found.decisions == ("I have left it behind the option FAST, off by default, until that is clear",)


def test_what_the_agent_says_anew_takes_the_place_of_what_was_accepted() -> None:
    found = signals(
        user("jobs get lost"),
        agent("1. Acknowledge later.\n2. Trap the signal.\n\nShould I do both?"),
        user("yes, 1 and 2"),
        agent("Okay. I'll acknowledge jobs after they are handled and trap the signal on shutdown."),
    )
    assert found.decisions == ("Acknowledge jobs after they are handled and trap the signal on shutdown",)


def test_a_later_decision_holds_against_an_earlier_one() -> None:
    found = signals(
        user("which format?"),
        agent("Decision: write Parquet files partitioned by day"),
        user("actually, let's use partitions by hour for the Parquet files"),
    )
    assert found.decisions == ("Actually, let's use partitions by hour for the Parquet files",)


def test_a_decision_that_is_taken_back_is_dropped() -> None:
    found = signals(
        user("make the migration safe"),
        agent("Decision: nullable column now, backfill by a command"),
        user("wait, we upgrade on Friday"),
        agent("Right. Let's drop the nullable column and the backfill, and hold the release until the upgrade."),
    )
    assert found.decisions == ("Drop the nullable column and the backfill, and hold the release until the upgrade",)


def test_the_same_decision_is_told_once_in_its_fuller_wording() -> None:
    found = signals(
        user("search is slow"),
        agent("What about Meilisearch?"),
        user("ok let's go with meilisearch"),
        agent("We're going with Meilisearch for product search: it is fast enough."),
        agent("Meilisearch for product search is in place."),
    )
    assert found.decisions == ("We're going with Meilisearch for product search: it is fast enough",)


def test_a_list_below_a_heading_is_read_item_by_item() -> None:
    found = signals(
        user(
            "## Decisions\n\n- Packets are kept on the card. A power cut must not lose them.\n"
            "- **Keep the forwarder**: replacing it is another project\n\n## Things to ask\n\n- Use MQTT instead?"
        )
    )
    assert found.decisions == (
        "Packets are kept on the card: A power cut must not lose them",
        "Keep the forwarder: replacing it is another project",
    )


def test_what_a_summary_says_was_decided_counts() -> None:
    told = summary("Summary so far:\n\nKey decisions:\n- Settings are applied at deploy time, never at runtime")
    assert signals(told).decisions == ("Settings are applied at deploy time, never at runtime",)


def test_what_a_helper_decides_is_not_the_sessions() -> None:
    helper = by_helper(agent("Decision: rewrite everything in Rust"))
    assert signals(user("review this"), helper, agent("Two findings.")).decisions == ()
    assert signals(helper).decisions == ("Rewrite everything in Rust",)


def test_a_refusal_is_told_with_the_question_that_it_answers() -> None:
    asked = agent("Should I add a cache for the lookups?")
    found = signals(user("which store?"), asked, user("no, the lookups are cheap. one table stays"))
    assert found.decisions == ("The lookups are cheap; one table stays (Should I add a cache for the lookups?)",)
    found = signals(user("how does it work?"), agent("Do you want me to change it?"), user("no, just wanted to know"))
    assert found.decisions == ()


def test_answers_by_number_are_told_under_what_was_asked() -> None:
    asked = agent("Before I start:\n\n1. Naming: camelCase or snake_case?\n2. Tests beside the code?\n3. Spelling?")
    found = signals(user("set it up"), asked, user("1 snake_case. 2 yes, next to each module. 3 hmm british i guess"))
    assert found.decisions == ("Naming: snake_case", "Tests beside the code: yes, next to each module")


def test_options_without_a_number_are_named_by_their_place() -> None:
    offer = agent("- SQLite in WAL mode. One file.\n- A dump every night. Restores are slow.\n- Redis. Not durable.")
    assert signals(user("what are the options"), offer, user("first two")).decisions == (
        "SQLite in WAL mode: One file",
        "A dump every night: Restores are slow",
    )


def test_a_number_takes_the_place_of_the_one_that_was_proposed() -> None:
    found = signals(
        user("clean up old files"), agent("I'd keep the backups for 30 days."), user("audits are once a year. 400")
    )
    assert found.decisions == ("Keep the backups for 400 days: audits are once a year",)


def test_a_short_pick_is_told_with_the_offer_and_the_reasons_around_it() -> None:
    offer = agent("We could use a pool, or open one connection per thread.")
    assert signals(user("make it faster"), offer, user("pool. threads come and go here")).decisions == (
        "Pool; threads come and go here (We could use a pool, or open one connection per thread)",
    )
    said = agent("It has to be either cached or precomputed. What do you prefer?")
    picked = user("precomputed. stale data got us into trouble")
    found = signals(user("why is it slow"), said, picked, agent("Agreed: totals are precomputed by the nightly job."))
    assert found.decisions == ("Totals are precomputed by the nightly job",)


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("If you were on version 5 I would use hooks.", "ok"),
        ("I can't prove it, but the numbers fit.", "ok what's the fix"),
        ("It works. Another thought: you could give them replicas.", "thanks"),
        ("How many people work on it?", "two in the team. a leak would end the company"),
    ],
)
def test_what_would_be_or_is_only_known_is_not_chosen(said: str, answer: str) -> None:
    assert signals(user("would hooks help?"), agent(said), user(answer)).decisions == ()


def test_how_a_request_is_to_be_done_is_no_decision() -> None:
    assert signals(user("make the form nicer, don't break the tests"), agent("Done.")).decisions == ()
    found = signals(user("make the form nicer but don't introduce tailwind"), agent("Done."))
    assert found.decisions == ("Make the form nicer but don't introduce tailwind",)
