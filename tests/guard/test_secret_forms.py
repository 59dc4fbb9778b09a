"""Bare credentials of many issuers are refused, ordinary lines are not: counted on both halves of the same lists."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from benchmarks.secret_forms import Made, forms, ordinary, verdict

from promised import proves

HALVES = pytest.mark.parametrize("unseen", [False, True], ids=["development", "held back"])


def half(made: Iterable[Made], unseen: bool) -> list[Made]:
    return [item for item in made if item.unseen == unseen]


def test_there_is_enough_to_measure_by() -> None:
    assert min(len(half(forms(), unseen)) for unseen in (False, True)) >= 100
    assert min(len(half(ordinary(), unseen)) for unseen in (False, True)) >= 150


@proves("P9.1", "G10", "G11")
@HALVES
def test_bare_credentials_and_their_disguises_are_refused(unseen: bool) -> None:
    made = [item for turn in range(3) for item in half(forms(turn), unseen)]
    passed = [(item.name, item.text) for item in made if verdict(item.text) != "refused"]
    assert len(passed) <= len(made) * 0.03, passed


@proves("P9.1", "G10")
@HALVES
def test_ordinary_lines_are_let_through(unseen: bool) -> None:
    made = half(ordinary(), unseen)
    said = [(verdict(item.text), item.text) for item in made]
    assert [text for what, text in said if what == "refused"] == []
    assert sum(what == "warned" for what, _ in said) <= len(made) * 0.04, said


@pytest.mark.parametrize(
    "text",
    [
        "| `https://demo.example.com/files/public/{}/a` | folder `/a/b` in public link with token `{}` |",
        '"nextToken": "{}{}{}{}"',
        'storage_key="avatars/0b5c1a52-8c1f-4b1a-9f0e-0a4a3b7a52d1.png"',
        "Log in as admin with Passw0rd! at the first start.",
    ],
)
def test_what_was_refused_wrongly_is_let_through(text: str) -> None:
    assert verdict(text.replace("{}", "kcZVYaXr7oZ66bg")) != "refused"
