"""What a session leaves behind: choices, causes and open steps, in several languages, and what is none of them."""

from __future__ import annotations

from signal_hearing import agent, by_helper, edits, heard, runs, signals, user

from cases import each
from quire.capture.transcripts.types import Turn

TWO = "Two ways:\n1. keep the order list in the process for 30 seconds\n2. put it into Redis, which is one more service"
MARKED = "- **(a)** One slot.\n- **(b)** Three fixed slots and one rotating autosave.\n- **(c)** Unlimited."
GERMAN = "a) Rechnungen ohne Kunde ablehnen\nb) Rechnungen ohne Kunde parken und am Freitag melden\nc) beides"
SPANISH = "Hay dos opciones:\n1. guardar las fotos en la base de datos\n2. guardar las fotos en S3 con enlaces firmados"


@each(
    ("offer", "answer", "option"),
    [
        (TWO, "1 please, because nobody wants to run one more service.", "Keep the order list in the process"),
        (MARKED, "b", "Three fixed slots and one rotating autosave"),
        (GERMAN, "b, der vertrieb will die nicht verlieren", "Rechnungen ohne Kunde parken und am Freitag melden"),
        (SPANISH, "la segunda, la base ya pesa demasiado", "Guardar las fotos en S3 con enlaces firmados"),
    ],
)
def test_a_choice_by_number_letter_or_place_is_kept_in_the_words_of_the_option(
    offer: str, answer: str, option: str
) -> None:
    found = signals(user("What could we do about it?"), agent(offer), user(answer), edits("x.py"), agent("Done."))
    assert len(found.decisions) == 1
    assert found.decisions[0].startswith(option)
    assert answer == "b" or answer.rstrip(".").rpartition(",")[2] in found.decisions[0]


def test_two_numbers_are_two_choices() -> None:
    offer = "1. sign the installer on the build machine\n2. publish the checksums next to the archive\n3. a blog post"
    said = user("1 and 2, because the distributions ask for them")
    found = signals(user("what's missing for the release?"), agent(offer), said, edits("x.py"), agent("Done."))
    assert [text.partition(":")[0] for text in found.decisions] == [
        "Sign the installer on the build machine",
        "Publish the checksums next to the archive",
    ]


@each(
    "answer",
    [
        "both are in /srv/cache already. no?",
        "1. the importer reads every row twice since the index on the staging table was dropped in the spring\n"
        "2. nobody looks at the second column of the report, which is filled by a job that runs in the night",
    ],
)
def test_what_is_told_of_both_and_a_list_that_was_pasted_choose_nothing(answer: str) -> None:
    offer = "1. sign the installer on the build machine\n2. publish the checksums next to the archive"
    found = signals(user("what's missing?"), agent(offer), user(answer), edits("x.py"), agent("Done."))
    assert not any("installer" in text or "checksums" in text for text in found.decisions)


def test_a_proposal_counts_where_it_is_accepted_and_not_where_it_is_refused() -> None:
    asked = user("The order list is slow. What would you do?")
    offer = agent("I'd keep the order list in Redis instead of the process, because two pods never agree.")
    accepted = signals(asked, offer, user("Yes, do that."), edits("a.py"), agent("Done. Next: warm the cache."))
    assert [text[:36] for text in accepted.decisions] == ["I'd keep the order list in Redis ins"]
    assert signals(asked, offer, user("No, leave it."), agent("Understood.")).decisions == ()


@each("rest", ["Stop here, tomorrow we do the docs", "Stopp, das reicht für heute.", "Para aquí, seguimos", "stop"])
def test_to_stop_for_the_day_refuses_nothing_and_to_stop_what_is_done_does(rest: str) -> None:
    told = agent("Decision: invoices are numbered by year and month\n\nGotcha: a second worker sends a mail twice")
    found = signals(user("number the invoices"), told, user(rest))
    assert (len(found.decisions), len(found.gotchas)) == ((0, 0) if rest == "stop" else (1, 1))


@each(
    ("label", "kind"),
    [
        *(("Decision", "decisions"), ("Entscheidung", "decisions"), ("Decisión", "decisions"), ("决定", "decisions")),
        *(("Gotcha", "gotchas"), ("Falle", "gotchas"), ("Trampa", "gotchas"), ("Piège", "gotchas")),
        *(("Next", "next_step_hints"), ("Next steps", "next_step_hints"), ("Pendiente", "next_step_hints")),
    ],
)
def test_what_is_labelled_is_kept_as_it_is_labelled(label: str, kind: str) -> None:
    found = signals(user("go"), agent(f"{label}: feed the elephants twice a day"))
    step = "NEXT: " if kind == "next_step_hints" else ""
    assert getattr(found, kind) == (f"{step}Feed the elephants twice a day",)


def test_what_is_labelled_as_one_kind_is_no_other() -> None:
    first = "Decision: the retry table is kept in Postgres, because Redis lost jobs on restart."
    second = "Gotcha: a second worker sends a mail twice, because a job is not locked while it runs."
    found = signals(user("Make retries durable"), agent(f"{first}\n\n{second}"), user("Good."))
    assert ([len(found.decisions), len(found.gotchas)], found.next_step_hints) == ([1, 1], ())


def test_a_cause_is_kept_as_a_gotcha() -> None:
    for asked, told in (
        ("los tests fallan a veces en CI", "Falla porque el reloj de CI está en UTC y la prueba espera la de Madrid."),
        (
            "the export crashes with an empty file",
            "The crash is in the export: `export_job` starts before the import commits, so it reads an empty table and "
            "`rows[0]` fails. Nobody noticed since the flag `ready` is never set.",
        ),
    ):
        ran = runs("npm test", "1 failing", failed=True)
        found = signals(user(asked), ran, agent(told), user("then fix it"), edits("a.ts"), agent("Next: add a test"))
        assert len(found.gotchas) == 1
        assert found.gotchas[0][:20] == told.replace("`", "")[:20]


def test_lists_with_marks_say_what_is_done_and_what_is_open() -> None:
    listed = "- [x] port the reader of old invoices\n- [ ] port the writer of old invoices to the new format"
    found = signals(user("where are we?"), agent(f"## Next steps\n\n{listed}"))
    assert found.next_step_hints == (
        "DONE: Port the reader of old invoices",
        "NEXT: Port the writer of old invoices to the new format",
    )


@each(
    "said",
    [
        "> We decided to use MongoDB for the audit log because it is schemaless.\nwhat do you think?",
        "```\nDecision: use MongoDB for the audit log\n```\nwhat is this?",
        "What is a monad? I never got it.",
    ],
)
def test_what_others_said_and_questions_leave_nothing(said: str) -> None:
    found = signals(user(said), agent("I have no opinion on that."), user("ok thanks"))
    assert (found.decisions, found.gotchas, found.next_step_hints) == ((), (), ())


@each(
    "said",
    [
        "We decided to keep the uploads for 30 days, because the auditors ask for them.",
        "The team has agreed to drop Python 3.9.",
        "Let's sort by name instead of date because people look for names",
        "Let's go with option B, because deletes must be cheap.",
        "We will store amounts in cents, because floats round wrong.",
        "Retries stay at 3, because the partner blocks us after 5.",
        "Use UTC everywhere, since the servers stand in three time zones.",
        "Wir haben entschieden, dass Belege als PDF gespeichert werden, weil der Prüfer nichts anderes liest.",
        "Hemos decidido guardar los importes en céntimos porque los decimales redondean mal.",
    ],
)
def test_what_the_user_says_is_decided_is_kept_of_the_shortest_session(said: str) -> None:
    assert [text.rstrip(".") for text in signals(user(said)).decisions] == [said.rstrip(".")]


@each(
    "said",
    [
        "What did we decide, because I forgot?",
        "We could use Redis because it is fast.",
        "We have not decided anything because nobody had time.",
        "We'll look into it because it fails.",
        "How does the login work, because I do not see where the token comes from?",
    ],
)
def test_what_is_asked_or_weighed_or_open_is_no_decision(said: str) -> None:
    assert signals(user(said), agent("Understood.")).decisions == ()


@each("report", ["I ran `npm test`: 12 passed.", "All 31 tests pass.", "`go vet ./...` is clean.", "pytest: 2 failed"])
def test_how_a_check_ended_is_a_check_and_nothing_else(report: str) -> None:
    told = "Decision: cache the list for 30 seconds.\nGotcha: cache keys must name the tenant.\nNext: write a runbook."
    found = signals(user("Cache the list."), agent(f"{told}\n\n{report}"))
    assert (len(found.decisions), len(found.gotchas), len(found.next_step_hints)) == (1, 1, 1)


def test_steps_that_stand_one_behind_the_other_are_kept_one_by_one() -> None:
    left = (
        "Done. Tomorrow we still need to write the runbook. Next week we have to rename the old column in the export."
    )
    decided = user("We decided to cache the list for 30 seconds, because two pods never agree.")
    found = signals(decided, edits("a.py"), agent(left), user("ok thanks"))
    assert found.next_step_hints == (
        "NEXT: Tomorrow we still need to write the runbook",
        "NEXT: Next week we have to rename the old column in the export",
    )


def test_what_the_agent_reads_out_of_an_answer_is_not_its_word() -> None:
    told = "Decision: store every upload in the bucket of the archive"
    found = signals(user("read the notes"), runs("cat notes.md", f"# Notes\n\n{told}"), agent(told))
    assert found.decisions == ()
    assert len(signals(user("read the notes"), runs("cat notes.md", "# Notes"), agent(told)).decisions) == 1


def test_a_decision_that_is_said_twice_is_kept_once() -> None:
    found = signals(
        user("Decision: amounts are stored as integers in cents"),
        agent("Understood."),
        agent("## Summary\n\nDecision: amounts are stored as integers, in cents"),
    )
    assert len(found.decisions) == 1


def test_what_helpers_decide_is_theirs_and_a_helper_alone_is_heard() -> None:
    inner = [by_helper(user("look")), by_helper(agent("Decision: count the callers by hand"))]
    assert signals(user("go"), inner, agent("Okay then.")).decisions == ()
    assert heard(inner).signals.decisions == ("Count the callers by hand",)


def test_a_session_of_any_length_keeps_what_was_decided_at_its_beginning() -> None:
    talk = [Turn(role="user", text=f"show me page {number} of it") for number in range(1_100)]
    found = signals(user("Decision: amounts are stored as integers"), talk)
    assert found.decisions == ("Amounts are stored as integers",)
