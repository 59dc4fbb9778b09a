"""Gotchas: symptoms with their causes, warnings, and guesses that were wrong."""

from __future__ import annotations

import pytest
from signal_hearing import agent, by_helper, edits, runs, signals, summary, user


@pytest.mark.parametrize(
    ("report", "explanation", "expected"),
    [
        (
            "the upload fails for big files",
            "The cause is that nginx limits bodies to one megabyte.",
            "The upload fails for big files: nginx limits bodies to one megabyte",
        ),
        (
            "the limiter resets on every deploy. please fix",
            "The buckets live in a map of the process, so every new process starts with full ones.",
            "The limiter resets on every deploy: The buckets live in a map of the process, so every new process starts"
            " with full ones",
        ),
        (
            "photos are broken in the gallery",
            "## Root Cause\n\nThe library strips the orientation by default.",
            "Photos are broken in the gallery: The library strips the orientation by default",
        ),
        (
            "login is slow",
            "Found it. The session table has no index, and every request scans all rows of it.",
            "Login is slow: The session table has no index, and every request scans all rows of it",
        ),
        (
            "Der Import schlägt seit gestern fehl.",
            "Die Ursache ist, dass die Datei jetzt mit BOM beginnt.",
            "Der Import schlägt seit gestern fehl: die Datei jetzt mit BOM beginnt",
        ),
        (
            "El informe falla el último día del mes.",
            "La causa: la fecha se guarda en UTC y el informe usa la hora local.",
            "El informe falla el último día del mes: la fecha se guarda en UTC y el informe usa la hora local",
        ),
        (
            "Les e-mails partent deux fois.",
            "La cause : le délai de la file est plus court que l'envoi.",
            "Les e-mails partent deux fois: le délai de la file est plus court que l'envoi",
        ),
        ("导出超时了，看看。", "原因是接口一次读取了所有订单。", "导出超时了，看看: 接口一次读取了所有订单"),
        (
            "毎晩エラーになります。",
            "キャッシュに上限がないため、画像がすべてメモリに残ります。これが原因です。",
            "毎晩エラーになります: キャッシュに上限がないため、画像がすべてメモリに残ります",
        ),
    ],
)
def test_the_cause_of_what_the_user_reported_is_told_under_that_name(
    report: str, explanation: str, expected: str
) -> None:
    assert signals(user(report), agent(explanation)).gotchas == (expected,)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "The build fails because the image has no compiler.",
            "The build fails: the image has no compiler",
        ),
        (
            "Four tests fail with index_not_found. Creating an index is asynchronous in this engine.",
            "Four tests fail with index_not_found: Creating an index is asynchronous in this engine",
        ),
        (
            "The gateway drops the header: anything not on its list is removed.",
            "The gateway drops the header: anything not on its list is removed",
        ),
        (
            "The task must be cancelled at the end, otherwise it keeps the socket open.",
            "The task must be cancelled at the end: it keeps the socket open",
        ),
        ("Gotcha: Cache keys need the tenant: two tenants shared one entry", None),
        ("⚠️ **Important**: the flag leaks into other targets", "The flag leaks into other targets"),
        ("注意：建索引之前必须先清理重复记录，否则迁移会失败。", "建索引之前必须先清理重复记录: 迁移会失败"),
    ],
)
def test_causes_and_warnings_of_the_agent(text: str, expected: str | None) -> None:
    expected = expected or "Cache keys need the tenant: two tenants shared one entry"
    assert signals(user("have a look"), agent(text)).gotchas == (expected,)


@pytest.mark.parametrize(
    "text",
    [
        "I'll help you fix the failing tests! Let me start by reading them.",
        "I've fixed the failing test, since it was quick.",
        "41 failures, as expected: the fixtures still have floats.",
        "Why does the build fail?",
        "The build could fail if the image had no compiler.",
        "We'll cache the list for 30 seconds, because the query fails under load.",
        "```\nError: connection refused because the server is not up\n```",
        "All tests pass now.",
    ],
)
def test_work_and_guesses_are_none(text: str) -> None:
    assert signals(user("have a look"), agent(text)).gotchas == ()


def test_what_tools_print_is_not_quoted() -> None:
    found = signals(user("run it"), runs("make run", "Gotcha: it fails because the moon is full", failed=True))
    assert found.gotchas == found.decisions == found.next_step_hints == ()


def test_a_guess_that_was_wrong_is_taken_back() -> None:
    text = "The plan fails because of a flag. No wait, that is not it. The build fails because the name differs."
    assert signals(user("look"), agent(text)).gotchas == ("The build fails: the name differs",)


def test_what_is_said_after_a_failure_is_its_cause() -> None:
    why = agent("sqlite 8 has no binaries for this version, so npm falls back to a compiler.")
    failed = signals(user("upgrade node"), runs("npm ci", "npm ERR!", failed=True), why)
    assert failed.gotchas == ("npm falls back to a compiler: sqlite 8 has no binaries for this version",)
    assert signals(user("upgrade node"), runs("npm ci", "added 3 packages"), why).gotchas == ()


def test_a_sentence_may_say_that_the_one_before_was_the_cause() -> None:
    failed = runs("go build ./...", "import cycle", failed=True)
    found = signals(
        user("build it"), failed, agent("The config imports the server for its defaults. That's the cycle.")
    )
    assert found.gotchas == ("go build ./... fails: The config imports the server for its defaults",)
    found = signals(user("look"), agent("Nothing stops the second call. That is why the stock gets lost."))
    assert found.gotchas == ("The stock gets lost: Nothing stops the second call",)


def test_what_goes_wrong_without_something_is_told_with_it() -> None:
    found = signals(
        user("the app crashes"),
        agent("Android 14 requires a service type in the manifest. Without it startForeground throws an exception."),
    )
    assert found.gotchas == (
        "Android 14 requires a service type in the manifest: Without it startForeground throws an exception",
    )


def test_how_things_do_not_fit_may_be_the_cause_if_nothing_else_is_said_to_be() -> None:
    failed = runs("pytest", "ImportError", failed=True)
    odd = agent("The function ugettext is not in Django 4 any more, but our fork still imports it.")
    told = "The function ugettext is not in Django 4 any more, but our fork still imports it"
    assert signals(user("upgrade"), failed, odd).gotchas == (told,)
    assert signals(user("upgrade"), runs("pytest", "3 passed"), odd).gotchas == ()
    weak = agent("The test server registers under another name in the setup.")
    assert signals(user("upgrade"), failed, weak).gotchas == ()
    cause = agent("The real cause is that the clock of the container stands still.")
    guess = agent("The job never ends when the second queue of the worker is empty.")
    assert signals(user("the nightly job hangs"), guess, cause).gotchas == (
        "The nightly job hangs: the clock of the container stands still",
    )


def test_what_to_be_careful_with_stands_behind_the_trap() -> None:
    text = "Values from untyped packages slip through without an error, so be careful with lodash."
    assert signals(user("be strict"), agent(text)).gotchas == (
        "Values from untyped packages slip through without an error: be careful with lodash",
    )


def test_jobs_that_fail_are_only_a_kind_of_jobs() -> None:
    text = "Jobs that fail are tried again, because the queue delivers at least once."
    assert signals(user("explain the queue"), agent(text)).gotchas == ()


def test_a_cause_is_named_after_what_the_user_came_with() -> None:
    found = signals(user("los importes salen sin decimales"), agent("El problema es que la columna es un entero."))
    assert found.gotchas == ("Los importes salen sin decimales: la columna es un entero",)


def test_an_order_that_says_until_when_is_a_warning() -> None:
    found = signals(user("move it"), agent("Please don't delete moved.tf until all workspaces are through."))
    assert found.gotchas == ("Don't delete moved.tf until all workspaces are through",)


def test_lists_below_a_heading_are_titles_and_causes() -> None:
    found = signals(
        user(
            "## Traps\n\n**Clock skew.** Two hosts run 90 seconds ahead.\n\n"
            "- Writes block for 800 ms. The interrupt must never wait for them.\n"
            "- sync() after every packet kills the card"
        )
    )
    assert found.gotchas == (
        "Clock skew: Two hosts run 90 seconds ahead",
        "Writes block for 800 ms: The interrupt must never wait for them",
        "sync() after every packet kills the card",
    )


def test_errors_in_a_summary_are_gotchas() -> None:
    told = summary("4. Errors and fixes:\n- index_not_found in tests: an index is made later\n\n5. Files:\n- a.py")
    assert signals(told).gotchas == ("index_not_found in tests: an index is made later",)


def test_of_a_helper_only_what_it_calls_a_trap_is_kept() -> None:
    helper = [
        by_helper(agent("The report fails because the query is slow.")),
        by_helper(agent("Gotcha: the mock is installed too late: fetch is bound at import")),
    ]
    found = signals(user("review"), helper, agent("The review is through."))
    assert found.gotchas == ("The mock is installed too late: fetch is bound at import",)


def test_a_report_is_not_explained_by_whatever_comes_much_later() -> None:
    talk = [agent("That part looks all right to me.") for _ in range(6)]
    found = signals(user("the list is slow"), talk, agent("The names are sorted, so the order is always the same."))
    assert found.gotchas == ()


def test_a_cause_stands_under_what_went_wrong_and_not_under_a_remark() -> None:
    said = agent("The resizer runs before the upload is finished, so it reads zero bytes.")
    told = user("the thumbnails are empty. we had this at my last job too, took weeks")
    assert signals(told, runs("ls"), said).gotchas == (
        "The thumbnails are empty: The resizer runs before the upload is finished, so it reads zero bytes",
    )
    told = user("nobody changed anything afaik. login throws 'session not found' on every second request")
    said = agent("Two instances run, but sessions are kept in memory, so the second instance does not know them.")
    assert signals(told, runs("cat x"), said).gotchas == (
        "Login throws 'session not found' on every second request: Two instances run, but sessions are kept in memory,"
        " so the second instance does not know them",
    )


def test_what_still_goes_wrong_later_on_is_the_title_of_its_cause() -> None:
    found = signals(
        user("fix the export"),
        edits("a.py"),
        agent("Done."),
        user("thats better. on windows the file still has the wrong line ends"),
        runs("cat x"),
        agent("Python opens text files with the platform's newline, so CRLF is written twice."),
    )
    assert found.gotchas == (
        "On windows the file still has the wrong line ends: Python opens text files with the platform's newline,"
        " so CRLF is written twice",
    )


@pytest.mark.parametrize(
    "said",
    [
        "Both warnings are older than this change. The client now always follows redirects, even when asked twice.",
        "My mistake, the counter was never reset between the two calls.",
        "Two tests fail: the list is not sorted any more. I'm looking at the data.",
        "Checking the second one again before anything else fails.",
    ],
)
def test_what_does_not_explain_a_failure_is_no_gotcha(said: str) -> None:
    found = signals(user("bump the client"), edits("a.py"), runs("npm test", "boom", failed=True), agent(said))
    assert found.gotchas == ()


def test_what_begins_with_that_is_told_with_what_it_means() -> None:
    found = signals(
        user("the counts are wrong for imported rows"),
        runs("cat job.rb"),
        agent("The job writes with insert_all. That skips callbacks, so the counter is never raised."),
    )
    assert found.gotchas == (
        "The counts are wrong for imported rows: The job writes with insert_all. That skips callbacks,"
        " so the counter is never raised",
    )
