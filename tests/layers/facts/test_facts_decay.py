"""How confidence wears off."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from making import REAL, needs_real

from quire.layers.facts.records import PROFILES, FactWithTwins, fact_record
from quire.layers.facts.types import Fact
from quire.model.records import weight_at

NOW = datetime(2026, 3, 29, tzinfo=UTC)


def _fact(days: float = 14, **fields: Any) -> Fact:
    said = {"id": "a", "section": "Architecture", "content": "x", **fields}
    return Fact(**{"last_reinforced": (NOW - timedelta(days=days)).isoformat(), **said})


def _worth(days: float = 14, **fields: Any) -> float:
    return weight_at(fact_record(FactWithTwins(_fact(days, **fields)), "home"), NOW)


def test_half_is_left_after_the_half_life() -> None:
    assert _worth() == pytest.approx(0.5)
    assert _worth(0) == 1.0
    assert _worth(2, section="Recent Work") == pytest.approx(0.5)
    assert _worth(2, decay_profile="recent_work") == pytest.approx(0.5)
    assert _worth(30, decay_profile="global") == pytest.approx(0.5)
    assert _worth(14, decay_profile="unheard of") == pytest.approx(0.5)


def test_confirmations_lengthen_it_up_to_the_cap() -> None:
    assert _worth(25.2, reinforcement_count=2) == pytest.approx(0.5)
    for count in (5, 147, 2**53 - 1):
        assert _worth(90, reinforcement_count=count) == pytest.approx(0.5)
    assert _worth(2, section="Recent Work", reinforcement_count=147) == pytest.approx(0.5)
    assert _worth(reinforcement_count=0) == _worth(reinforcement_count=1)


def test_the_prior_counts_and_is_held_between_its_ends() -> None:
    assert _worth(confidence=0.5) == pytest.approx(0.25)
    assert _worth(0, confidence=7.0) == 1.0


def test_specs_do_not_wear_off() -> None:
    assert _worth(10_000, section="Specs") == 1.0
    assert _worth(10_000, section="Specs", confidence=0.4) == 0.4


def test_times_that_help_nobody() -> None:
    assert _worth(last_reinforced="yesterday") == 1.0
    assert _worth(last_reinforced="2100-01-01T00:00:00Z") == 1.0
    assert _worth(last_reinforced=None) == 1.0  # nor is there a time of creation
    assert _worth(last_reinforced=None, created_at=(NOW - timedelta(days=14)).isoformat()) == pytest.approx(0.5)


def test_reading_resets_the_timer_only() -> None:
    assert _worth(14, last_accessed=NOW.isoformat()) == 1.0
    assert _worth(14, last_accessed="2020-01-01T00:00:00Z") == pytest.approx(0.5)


@needs_real
def test_every_golden_row() -> None:
    golden = json.loads((REAL / "golden" / "decay.json").read_text(encoding="utf-8"))
    assert len(golden["rows"]) == 312
    for row in golden["rows"]:
        fields = {"decay_profile": row["profile"], "reinforcement_count": row["reinforcement_count"]}
        assert _worth(row["days"], **fields) == pytest.approx(row["confidence"], rel=1e-9)
    for name, told in golden["constants"].items():
        if name in PROFILES:
            profile = PROFILES[name]
            assert (profile.half_life, profile.factor, profile.minimum) == (
                told["halfLifeDays"],
                told["reinforcementFactor"],
                told["minimumConfidence"],
            )
