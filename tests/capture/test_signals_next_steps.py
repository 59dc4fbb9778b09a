"""Next steps: what is open, what was done, and what becomes of a plan."""

from __future__ import annotations

import pytest
from signal_hearing import agent, edits, signals, summary, user

from cases import each


@each(
    ("text", "expected"),
    [
        ("Next: Add retry metrics: export a counter", ("NEXT: Add retry metrics: export a counter",)),
        ("All done.\n\nRemaining: remove the guard after the upgrade.", ("NEXT: Remove the guard after the upgrade",)),
        (
            "## Next Steps\n1. Purge the CDN cache\n2. Write the runbook, starting with docs/runbook.md\n\nHave fun!",
            ("NEXT: Purge the CDN cache", "NEXT: Write the runbook: starting with docs/runbook.md"),
        ),
        (
            "**Still open:** removing the old site. I'd wait for a week.",
            ("NEXT: Removing the old site: I'd wait for a week",),
        ),
        ("What's missing:\n- dashboards\n- alerts for the queue", ("NEXT: Dashboards", "NEXT: Alerts for the queue")),
        ("The nightly job is still open.", ("NEXT: The nightly job is still open",)),
        ("Next I would make the handler idempotent.", ("NEXT: Make the handler idempotent",)),
        (
            "- [x] Token endpoint\n- [ ] Load test with 500 logins",
            ("DONE: Token endpoint", "NEXT: Load test with 500 logins"),
        ),
        ("Things to do next:\n- Add the limits to the docs", ("NEXT: Add the limits to the docs",)),
        (
            "It works. I haven't run it against real data.",
            ("NEXT: I haven't run it against real data",),
        ),
        (
            "Applied in a dry run. Someone with access to production needs to roll it out.",
            ("NEXT: Someone with access to production needs to roll it out",),
        ),
        ("次のステップ：Dockerfile も合わせる", ("NEXT: Dockerfile も合わせる",)),
        ("Als Nächstes: die Tabelle aufräumen", ("NEXT: Die Tabelle aufräumen",)),
        ("Siguiente paso: recalcular los informes, empezando por scripts/r.py", None),
        ("Prochaine étape : passer les montants en centimes", ("NEXT: Passer les montants en centimes",)),
        ("下一步：给接口加上限流", ("NEXT: 给接口加上限流",)),
        ("次のステップ：予約を修正する", ("NEXT: 予約を修正する",)),
    ],
)
def test_what_is_said_to_be_left_is_a_step(text: str, expected: tuple[str, ...] | None) -> None:
    expected = expected or ("NEXT: Recalcular los informes: empezando por scripts/r.py",)
    assert signals(user("do the work"), agent(text)).next_step_hints == expected


@pytest.mark.parametrize(
    "text",
    [
        "Next, I'll update the tests.",
        "Now I'll look at the next file.",
        "There are two ways to do this.",
        "Should I write the runbook next?",
        "Next steps: none",
        "The next run overwrites it.",
        "Todo en verde.",
    ],
)
def test_what_the_agent_does_right_now_is_none(text: str) -> None:
    assert signals(user("do the work"), agent(text)).next_step_hints == ()


def test_what_the_user_puts_off_is_a_step() -> None:
    found = signals(user("review it"), agent("One finding."), user("ask legal about the refund limit, on monday"))
    assert found.next_step_hints == ("NEXT: Ask legal about the refund limit, on monday",)
    found = signals(user("review it"), agent("One finding."), user("fine, leave that for tomorrow"))
    assert found.next_step_hints == ()


def test_what_is_put_off_in_one_word_is_what_the_agent_spoke_of() -> None:
    said = agent("The old fields can go, and reports/consumer.py has to change first.")
    found = signals(user("change it"), said, user("put that on the list"))
    assert found.next_step_hints == ("NEXT: The old fields can go, and reports/consumer.py has to change first",)


def test_where_to_start_is_taken_from_the_next_sentence() -> None:
    found = signals(user("fix it"), agent("You should prune the old tokens. I'd do that in server/push/prune.js."))
    assert found.next_step_hints == ("NEXT: Prune the old tokens: I'd do that in server/push/prune.js",)
    assert signals(user("fix it"), agent("You should now see the new page.")).next_step_hints == ()


def test_a_step_that_was_done_says_so() -> None:
    found = signals(
        summary("Pending tasks:\n- Switch the mobile client to the new response shape\n- Write the nightly job"),
        user("go on"),
        agent("The mobile client uses the new response shape now; all tests pass."),
    )
    assert found.next_step_hints == (
        "DONE: Switch the mobile client to the new response shape",
        "NEXT: Write the nightly job",
    )


def test_one_word_is_enough_where_only_one_step_has_it() -> None:
    listed = agent("Next steps:\n- Run a script over the old uploads\n- Purge the cache")
    found = signals(user("fix it"), listed, user("the script is done already"))
    assert found.next_step_hints == ("DONE: Run a script over the old uploads", "NEXT: Purge the cache")


def test_steps_of_a_plan_are_told_when_they_are_done() -> None:
    plan = agent("Plan:\n\n1. Set up the site\n2. Convert the pages\n3. Remove the old one")
    assert signals(user("migrate"), plan).next_step_hints == ()
    found = signals(user("migrate"), plan, agent("Steps 1 and 2 are done."))
    assert found.next_step_hints == ("DONE: Set up the site", "DONE: Convert the pages")
    asked = user("Today: 1) integer amounts, 2) balanced postings. Start with the first.")
    found = signals(asked, agent("On it."), agent("All two points are done."))
    assert found.next_step_hints == ("DONE: Integer amounts", "DONE: Balanced postings")


def test_a_step_that_is_mentioned_again_keeps_its_wording() -> None:
    listed = agent("Next steps:\n- Purge the CDN cache after the deploy")
    found = signals(user("fix it"), listed, agent("The purge of the CDN cache is still open."))
    assert found.next_step_hints == ("NEXT: Purge the CDN cache after the deploy",)


def test_what_is_not_done_is_not_taken_for_done() -> None:
    listed = agent("Next steps:\n- Write the nightly job")
    found = signals(user("fix it"), listed, agent("The nightly job is not done."))
    assert found.next_step_hints == ("NEXT: Write the nightly job",)


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("It works. I haven't touched anything else.", "great"),
        ("It works. I did not change the order of the columns.", "great"),
        ("It works. A second call would still be made with the old value.", "great"),
        ("It works. Shall I lower the limit?", "no leave it at 20, people complained when it was lower"),
        ("It works. We could move to Kafka.", "kafka maybe next year"),
        ("It works. Partitions might help one day.", "not now, let's not overthink it"),
        ("It works.", "thanks, see you next week"),
        ("Para crear ya no hace falta.", "vale"),
    ],
)
def test_facts_refusals_and_vague_wishes_are_no_steps(said: str, answer: str) -> None:
    assert signals(user("fix it"), agent(said), user(answer)).next_step_hints == ()


def test_who_puts_off_that_puts_off_what_was_said_before() -> None:
    said = agent("It works. The importer in jobs/import.py has the same bug.")
    found = signals(user("fix it"), said, user("will get to that after the release"))
    assert found.next_step_hints == ("NEXT: The importer in jobs/import.py has the same bug",)
    more = user("the worker copied that code, see jobs/worker.py. someone should move it to the helper, but not today")
    found = signals(user("fix it"), agent("It works."), more)
    assert found.next_step_hints == (
        "NEXT: The worker copied that code, see jobs/worker.py: someone should move it to the helper, but not today",
    )
    offer = agent("Fine. If you want I can write this up as a note.")
    found = signals(user("think with me"), offer, user("yes but later, i have to run"))
    assert found.next_step_hints == ("NEXT: Write this up as a note",)


def test_when_something_listed_is_to_be_done_is_told_with_it() -> None:
    found = signals(user("fix it"), agent("Left:\n- delete the old bucket"), user("delete the bucket in two weeks"))
    assert found.next_step_hints == ("NEXT: Delete the old bucket: delete the bucket in two weeks",)


def test_an_order_for_later_is_told_with_what_it_is_about() -> None:
    said = "The two flags are unused now. I left them in; remove them once the rollout is through."
    assert signals(user("fix it"), agent(said)).next_step_hints == (
        "NEXT: The two flags are unused now: remove them once the rollout is through",
    )


def test_what_the_user_needs_is_left_unless_somebody_works_on_it() -> None:
    asked = user("i need a short write-up in docs/outage.md, and we want an alert on the queue length")
    assert signals(user("fix it"), agent("It works."), asked).next_step_hints == (
        "NEXT: I need a short write-up in docs/outage.md",
        "NEXT: We want an alert on the queue length",
    )
    found = signals(user("fix it"), agent("It works."), asked, edits("docs/outage.md"), agent("Both are there."))
    assert found.next_step_hints == ()


def test_points_that_the_user_came_with_are_told_when_they_are_done() -> None:
    asked = user("I want, in this order:\n1. Parser\n2. Printer\n3. Docs")
    assert signals(asked, agent("I'll start.")).next_step_hints == ()
    found = signals(asked, agent("Parser is done."), edits("a"), agent("All three are done:\n\n1. Parser\n2. Printer"))
    assert found.next_step_hints == ("DONE: Parser", "DONE: Printer", "DONE: Docs")
