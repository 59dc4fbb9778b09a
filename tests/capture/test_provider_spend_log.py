"""The ceiling holds: whoever races, whoever dies, whatever a provider says it cost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from provider_making import SESSION, Desk, completion, envelope, serving, status

from quire.capture.providers.failures import BadAnswer, ProviderFailed, SpendRefused
from quire.capture.providers.settings import read_settings
from quire.capture.providers.spend_log import DAYS, Reservation, micro, reserve, settle, spent_today
from quire.files.world import World
from quire.model.errors import InvalidStore


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def at(world: World, moment: datetime) -> World:
    return msgspec.structs.replace(world, now=lambda: moment)


def take(world: World, ceiling: float, needed: int) -> Reservation:
    return reserve(world, ceiling_usd=ceiling, needed=needed, provider="claude")


def test_an_amount_is_set_aside_and_the_real_cost_takes_its_place(desk: Desk) -> None:
    aside = take(desk.world, 1.0, 400_000)
    found = spent_today(desk.world)
    assert (found.spent_usd, found.open_usd, found.calls) == (0, 0.4, 0)
    assert settle(desk.world, aside, 25_000) == 25_000
    found = spent_today(desk.world)
    assert (found.spent_usd, found.open_usd, found.calls) == (0.025, 0, 1)


def test_a_ceiling_is_reached_exactly_and_not_passed(desk: Desk) -> None:
    take(desk.world, 0.3, 100_000)
    take(desk.world, 0.3, 200_000)
    with pytest.raises(SpendRefused) as found:
        take(desk.world, 0.3, 1)
    assert found.value.details == {
        "reason": "ceiling",
        "provider": "claude",
        "ceiling": 0.3,
        "spent": 0.3,
        "needed": 0.000001,
    }
    assert "AGENT_MEMORY_SPEND_CEILING" in str(found.value.hint)
    assert found.value.kind == "not_ready"


def test_an_unknown_cost_takes_all_that_was_set_aside(desk: Desk) -> None:
    assert settle(desk.world, take(desk.world, 1, 300_000), None) == 300_000
    assert spent_today(desk.world).spent_usd == 0.3


def test_a_cost_above_what_was_set_aside_counts_in_full(desk: Desk) -> None:
    settle(desk.world, take(desk.world, 1, 300_000), 5_000_000)
    assert spent_today(desk.world).spent_usd == 5
    with pytest.raises(SpendRefused):
        take(desk.world, 1, 1)


def test_amounts_are_rounded_up() -> None:
    assert [micro(usd) for usd in (0, 0.1, 0.3, 1e-7, 0.0000015)] == [0, 100_000, 300_000, 1, 2]


def test_every_day_has_its_own_ceiling_and_old_days_go(desk: Desk) -> None:
    first = datetime(2026, 3, 2, 23, 59, tzinfo=UTC)
    late = take(at(desk.world, first), 1, 1_000_000)
    with pytest.raises(SpendRefused):
        take(at(desk.world, first), 1, 1)
    take(at(desk.world, first + timedelta(minutes=2)), 1, 1_000_000)
    settle(at(desk.world, first + timedelta(minutes=5)), late, 10)
    days = json.loads((desk.home / "spend.json").read_text())["days"]
    assert {day: fields["spent"] for day, fields in days.items()} == {"2026-03-02": 10, "2026-03-03": 0}
    for number in range(40):
        settle(desk.world, take(at(desk.world, first + timedelta(days=number)), 9, 5), 1)
    days = json.loads((desk.home / "spend.json").read_text())["days"]
    assert len(days) == DAYS
    assert min(days) == "2026-03-11"


def test_the_day_is_that_of_utc(desk: Desk) -> None:
    east = datetime.fromisoformat("2026-03-03T01:00:00+05:00")
    assert take(at(desk.world, east), 1, 1).day == "2026-03-02"


def test_the_file_is_as_it_is_described(desk: Desk) -> None:
    world = at(desk.world, datetime(2026, 3, 2, 8, tzinfo=UTC))
    (desk.home / "spend.json").write_text('{"version": 1, "unit": "microUsd", "days": {}, "by": "hand"}')
    aside = take(world, 1, 7)
    assert json.loads((desk.home / "spend.json").read_text()) == {
        "version": 1,
        "unit": "microUsd",
        "by": "hand",
        "days": {
            "2026-03-02": {
                "spent": 0,
                "calls": 0,
                "open": {aside.token: {"amount": 7, "provider": "claude", "since": "2026-03-02T08:00:00+00:00"}},
            }
        },
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"version": 2}',
        '{"days": {"2026-03-02": {"spent": -5000000}}}',
        '{"days": {"2026-03-02": {"open": {"x": {"amount": -1, "provider": "p", "since": ""}}}}}',
        '{"unit": "usd", "days": {}}',
        '{"days": {"today": {}}}',
    ],
)
def test_a_damaged_ledger_stops_spending_and_is_not_touched(desk: Desk, text: str) -> None:
    desk.stand_in("claude", envelope(SESSION))
    path = desk.home / "spend.json"
    path.write_text(text)
    with pytest.raises(InvalidStore):
        desk.ask("claude")
    assert path.read_text() == text
    assert desk.calls("claude") == []


@pytest.mark.parametrize("provider", ["claude", "codex", "openai"])
def test_with_a_ceiling_of_zero_no_process_starts_and_no_connection_is_made(tmp_path: Path, provider: str) -> None:
    desk = Desk(tmp_path, ceiling=0)
    for name in ("claude", "codex"):
        desk.stand_in(name, envelope(SESSION))
    with serving() as server:
        server.answers = [status(200, completion(SESSION))]
        desk.with_endpoint(server.url, input_per_million_usd=0, output_per_million_usd=0)
        with pytest.raises(SpendRefused) as found:
            desk.ask(provider)
        assert found.value.details["ceiling"] == 0
        assert server.requests == []
    assert desk.calls("claude") == desk.calls("codex") == []
    assert list(desk.home.iterdir()) == []


def test_what_the_user_never_set_is_zero(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.stand_in("claude", envelope(SESSION))
    desk.settings = read_settings(desk.world)
    with pytest.raises(SpendRefused):
        desk.ask("claude")
    assert desk.calls("claude") == []


def test_a_call_that_could_cost_too_much_is_not_made(tmp_path: Path) -> None:
    desk = Desk(tmp_path, ceiling=0.05)
    desk.stand_in("claude", envelope(SESSION))
    with pytest.raises(SpendRefused) as found:
        desk.ask("claude")
    assert found.value.details["needed"] > 0.05
    assert desk.calls("claude") == []


def test_the_environment_stops_a_call_that_the_settings_allow(tmp_path: Path) -> None:
    desk = Desk(tmp_path, AGENT_MEMORY_SPEND_CEILING="0")
    desk.stand_in("claude", envelope(SESSION))
    with pytest.raises(SpendRefused):
        desk.ask("claude")
    assert desk.calls("claude") == []


def test_the_reported_cost_is_what_counts(desk: Desk) -> None:
    desk.stand_in("claude", envelope(SESSION, cost=0.0421))
    assert desk.ask("claude").cost_usd == 0.0421
    assert desk.day() == {"spent": 42_100, "calls": 1, "open": {}}


@pytest.mark.parametrize("cost", [-3, True, "0.01", None, 1e12])
def test_a_cost_nobody_can_believe_is_none(desk: Desk, cost: object) -> None:
    desk.stand_in("claude", envelope(SESSION, cost=cost))
    answer = desk.ask("claude")
    assert desk.day()["spent"] == micro(answer.cost_usd) > 300_000
    assert "did not report its cost" in answer.warnings[0]


def test_a_failed_call_of_unknown_cost_counts_in_full_and_one_that_never_began_not_at_all(desk: Desk) -> None:
    desk.stand_in("claude", "sys.exit(9)")
    with pytest.raises(ProviderFailed):
        desk.ask("claude")
    spent = desk.day()["spent"]
    assert spent > 300_000
    desk.stand_in("claude", "sys.stderr.write('Invalid API key · Please run /login'); sys.exit(1)")
    with pytest.raises(ProviderFailed):
        desk.ask("claude")
    assert desk.day() == {"spent": spent, "calls": 2, "open": {}}


def test_the_second_try_is_left_where_the_ceiling_does_not_allow_it(desk: Desk) -> None:
    desk.stand_in("claude", envelope({"summary": 7}, cost=99.9))
    with pytest.raises(BadAnswer) as found:
        desk.ask("claude")
    assert found.value.details["calls"] == 1
    assert len(desk.calls("claude")) == 1


RACER = """
import sys, time, os
from quire.files.world import real_world
from quire.capture.providers.failures import SpendRefused
from quire.capture.providers.spend_log import reserve, settle
world = real_world()
while time.time() < float(sys.argv[1]): pass
won = 0
for _ in range(int(sys.argv[2])):
    try:
        aside = reserve(world, ceiling_usd=0.25, needed=10_000, provider="claude")
    except SpendRefused:
        break
    won += 1
    settle(world, aside, 10_000 if won % 2 else None)
print(won)
"""


def race(desk: Desk, racers: int, tries: int) -> list[int]:
    env = {**desk.world.env, "PYTHONPATH": os.pathsep.join(sys.path)}
    line = [sys.executable, "-c", RACER, str(time.time() + 1.5), str(tries)]
    started = [subprocess.Popen(line, env=env, stdout=subprocess.PIPE, text=True) for _ in range(racers)]
    ended = [process.communicate(timeout=60)[0] for process in started]
    assert all(process.returncode == 0 for process in started)
    return [int(text) for text in ended]


@pytest.mark.proof
def test_processes_that_race_for_the_last_cent_never_pass_the_ceiling(desk: Desk) -> None:
    won = race(desk, 4, 100)
    assert sum(won) == 25
    assert desk.day() == {"spent": 250_000, "calls": 25, "open": {}}


@pytest.mark.proof
def test_of_two_that_race_for_one_call_one_gets_it(desk: Desk) -> None:
    settle(desk.world, take(desk.world, 1, 240_000), 240_000)
    assert sorted(race(desk, 2, 1)) == [0, 1]


def test_who_dies_between_the_two_leaves_what_was_set_aside(desk: Desk) -> None:
    """A real process, killed while its provider works."""
    desk.stand_in("claude", "time.sleep(60)")
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path\nfrom provider_making import SESSION_REQUEST\n"
        "from quire.files.world import real_world\nfrom quire.capture.providers.ask import ask\n"
        "from quire.capture.providers.settings import ProviderSettings\n"
        "ask(SESSION_REQUEST, provider='claude', settings=ProviderSettings(daily_ceiling_usd=2),"
        " world=real_world(), root=sys.argv[2])"
    )
    env = {**desk.world.env, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(Path(__file__).parent), str(desk.root)], env=env, stderr=subprocess.DEVNULL
    )
    end = time.monotonic() + 20
    while not desk.calls("claude") and time.monotonic() < end:
        time.sleep(0.02)
    (called,) = desk.calls("claude")
    process.send_signal(signal.SIGKILL)
    process.wait()
    os.kill(called["pid"], signal.SIGKILL)
    found = spent_today(desk.world)
    assert found.spent_usd == 0
    assert found.open_usd > 0.3
    with pytest.raises(SpendRefused):
        take(desk.world, 2, micro(2 - found.open_usd) + 1)
    take(desk.world, 2, micro(2 - found.open_usd))


def test_an_answer_is_not_lost_because_its_cost_cannot_be_noted(desk: Desk) -> None:
    spoil = f"open({str(desk.home / 'spend.json')!r}, 'w').write('spoiled')\n"
    desk.stand_in("claude", spoil + envelope(SESSION))
    answer = desk.ask("claude")
    assert answer.value == SESSION
    assert "stays counted" in answer.warnings[-1]
    assert (desk.home / "spend.json").read_text() == "spoiled"
