"""The figures that the committed results promise, on the notes that belong to the repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import metrics, must_not, notes, precision, quality, refusal, sets


def test_questions_in_the_notes_own_words_find_them() -> None:
    assert quality.measure(notes.notes_by_product("near")).ways["hybrid"].ndcg_10 >= 0.95


def test_questions_in_other_words_find_them_too() -> None:
    ways = quality.measure(notes.notes_by_product("paraphrase")).ways
    assert ways["hybrid"].ndcg_10 >= 0.55
    assert ways["hybrid"].ndcg_10 > ways["words"].ndcg_10


@pytest.mark.proof
def test_questions_without_an_answer_are_refused_and_others_are_not() -> None:
    counts = refusal.notes_refusals()
    assert counts.refused_share >= 0.75
    assert counts.answerable_refused["near"] == 0
    assert counts.other_product_refused >= 0.75 * counts.other_product


def test_what_is_not_clear_is_possible() -> None:
    """Questions in other words are rarely clear; what they ask for is among the few that are possible."""
    ways = quality.measure(notes.notes_by_product("paraphrase")).ways
    assert ways["answer"].ndcg_10 >= 0.9 * ways["hybrid"].ndcg_10


@pytest.mark.proof
def test_nothing_comes_back_that_must_not() -> None:
    assert must_not.failures(rounds=2) == []


def test_the_notes_are_enough_and_each_is_asked_for_in_both_ways() -> None:
    held = notes.note_set()
    ids = {note.id for note in held.notes}
    assert len(ids) == len(held.notes) >= 60
    assert {note.product for note in held.notes} == set(notes.PRODUCTS)
    assert all(note.near and note.paraphrase for note in held.notes)
    assert {asked.id for asked in held.foreign} <= ids


def test_figures_are_those_of_the_textbook() -> None:
    tally = metrics.Tally()
    tally.add(["a", "x", "b"], {"a", "b"})
    tally.add(["x"] * 9 + ["a"], {"a"})
    tally.add([], {"a"})
    figures = tally.figures()
    assert figures.recall_5 == round(1 / 3, 4)
    assert figures.recall_10 == round(2 / 3, 4)
    assert figures.mrr_10 == round((1 + 0.1) / 3, 4)
    assert figures.ndcg_10 == pytest.approx(((1 + 0.5) / (1 + 0.63093) + 0.28906) / 3, abs=1e-4)


def test_an_absent_set_is_skipped_with_its_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sets, "DATA", tmp_path)
    monkeypatch.setattr(precision, "_FOLDER", tmp_path / "precisionmembench")
    with pytest.raises(sets.Absent, match=r"shared/data/cosqa/\S+ is not beside the repository"):
        sets.cosqa()
    assert "not beside the repository" in precision.run()["skipped"]
