"""What the agent proposes or calls decided, and the user's next turn refuses, is no decision: in no list, no inbox."""

from __future__ import annotations

import pytest
from signal_hearing import agent, edits, user

from cases import each
from quire.capture.signals.confirmed import confirmed_decisions
from quire.capture.signals.extraction import trace
from quire.capture.signals.witness import Witness
from quire.capture.transcripts.types import Turn


def heard(*turns: Turn) -> tuple[list[str], list[str]]:
    """The decisions that a journal would keep, and those that the inbox would propose."""
    witness = Witness()
    traced = trace(witness.overhear(turns), root="/nowhere")
    proposed = [found.note.text for found in confirmed_decisions(traced.decisions, witness)]
    return [note.text for note in traced.decisions], proposed


WORKER = "Decision: retries run in the worker process, because requests must not wait."
REFUSED = [
    # What was asked, what the agent says, the user's next turn, words of what was refused, and of what holds instead.
    (
        "The order list is slow. What should we do?",
        "I suggest we keep the order list in Redis for 30 seconds, because it is shared between processes.",
        "No, don't. Redis is one more service to run.",
        "30 seconds",
        "",
    ),
    (
        "How should retries work?",
        "Let's run the retries in the web request, since that is simplest. Shall I go ahead?",
        "no, use the worker instead",
        "web request",
        "worker",
    ),
    (
        "We need a cache.",
        "Decision: cache the session in memcached for an hour.",
        "No, I'd rather not.",
        "memcached",
        "",
    ),
    (
        "Which database do we take?",
        "I'll go with MongoDB for the event store because documents are flexible.",
        "please don't, we stay with Postgres",
        "MongoDB",
        "Postgres",
    ),
    (
        "Speed up CI.",
        "Decision: CI skips the integration tests on pull requests. Shall I push it?",
        "That's wrong, revert that.",
        "integration tests",
        "",
    ),
    (
        "Make the build faster.",
        "Decided: the build moves to Bazel because it caches well.",
        "Let's not do that now.",
        "Bazel",
        "",
    ),
    (
        "Die Bestellliste ist langsam. Was tun?",
        "Entscheidung: die Bestellliste bleibt 30 Sekunden in Redis, weil es prozessübergreifend ist.",
        "Nein, lieber nicht. Redis ist ein Dienst mehr.",
        "30 Sekunden",
        "",
    ),
    (
        "Wie sollen Wiederholungen laufen?",
        "Entscheidung: Wiederholungen laufen direkt in der Anfrage, weil das am einfachsten ist.",
        "nein, nimm stattdessen den Worker",
        "Anfrage",
        "Worker",
    ),
    (
        "Welche Datenbank nehmen wir?",
        "Wir nehmen MongoDB für den Ereignisspeicher, weil Dokumente flexibel sind.",
        "Bitte nicht, wir bleiben bei Postgres.",
        "MongoDB",
        "Postgres",
    ),
    (
        "La lista de pedidos es lenta. ¿Qué hacemos?",
        "Decisión: la lista de pedidos se guarda en Redis durante 30 segundos, porque se comparte.",
        "No, mejor no. Redis es un servicio más.",
        "30 segundos",
        "",
    ),
    (
        "¿Cómo reintentamos?",
        "Decisión: los reintentos se ejecutan en la petición web porque es lo más simple.",
        "no, usa el worker en su lugar",
        "petición",
        "worker",
    ),
    (
        "¿Qué base de datos?",
        "Vamos a usar MongoDB para el almacén de eventos porque los documentos son flexibles.",
        "No lo hagas, seguimos con Postgres.",
        "MongoDB",
        "Postgres",
    ),
]


@each(("asked", "offered", "answer", "refused", "instead"), REFUSED)
def test_what_is_refused_is_no_decision(asked: str, offered: str, answer: str, refused: str, instead: str) -> None:
    kept, proposed = heard(user(asked), agent(offered), user(answer), agent("Understood."), edits("src/a.py"))
    assert [text for text in kept if refused in text] == []
    assert [text for text in proposed if refused in text] == []
    assert any(instead in text for text in kept) if instead else kept == []


@pytest.mark.parametrize(
    ("offered", "answer", "holds"),
    [
        (WORKER, "No problem, go ahead.", "worker"),
        (WORKER, "Great. No more questions.", "worker"),
        (WORKER, "now add a test for the upload", "worker"),
        (f"{WORKER}\n\nShould I update the docs, too?", "No.", "worker"),
        (f"{WORKER}\n\nShould I update the docs, too?", "no, leave the docs", "worker"),
        (WORKER, "Don't forget the tests for the upload.", "worker"),
        ("Entscheidung: Wiederholungen laufen im Worker, weil Anfragen nicht warten.", "Ja, mach das.", "Worker"),
        ("Decisión: los reintentos van en el worker, la petición no espera.", "Sí. No olvides las pruebas.", "worker"),
    ],
)
def test_a_no_that_refuses_nothing_takes_nothing_away(offered: str, answer: str, holds: str) -> None:
    kept, proposed = heard(user("How should retries work?"), agent(offered), user(answer), agent("Done."))
    assert any(holds in text for text in kept)
    assert any(holds in text for text in proposed)


def test_what_was_decided_before_stays() -> None:
    kept, _ = heard(
        user("How should retries work?"),
        agent("Decision: retries run in the worker, because requests must not wait."),
        user("Yes. And a cache?"),
        agent("Decision: cache the session in memcached for an hour."),
        user("No, I'd rather not."),
    )
    assert [("worker" in text, "memcached" in text) for text in kept] == [(True, False)]
