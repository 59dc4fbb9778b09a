"""Every parser, tried with inputs that nobody should send: the same few in every run, many more in a long one."""

from __future__ import annotations

import random

import pytest
from fuzz_engine import Finding, Target, fuzz, minimised, tried
from fuzz_mutating import TOKENS, mutated
from fuzz_targets import TARGETS

from cases import each
from promised import proves, tally
from thorough import either

pytestmark = proves("P5.1")

SEED = 20260302
INPUTS = either(60, 3_000)


@pytest.mark.proof(keep=6)
@proves("P5.1")
@proves("P5.3")
@pytest.mark.parametrize("name", TARGETS)
def test_a_parser_refuses_in_its_own_words_or_reads_what_can_be_written_again(name: str) -> None:
    target = TARGETS[name]
    run = fuzz(target, seed=SEED, inputs=max(INPUTS // target.cost, 8))
    assert not run.findings, "\n".join(f"{item.said}\n  {item.where}\n  {item.data!r}" for item in run.findings)
    tally("P5.1", inputs=run.inputs)


@each("name", TARGETS)
def test_the_seeds_are_read(name: str) -> None:
    """A seed that is refused would try nothing but the refusal."""
    target = TARGETS[name]
    for seed in target.seeds():
        assert target.run(seed) is not None or name in ("page-lock",), seed


# -- the engine itself --------------------------------------------------------------------------------------------


def judged(data: bytes) -> object:
    """A parser with one fault of each kind."""
    if b"!" in data:
        raise KeyError("an error of nobody's")
    if b"?" in data:
        return random.random()
    if b"%" in data:
        return len(bytes(80 * 1024 * 1024))
    if b"refuse" in data:
        raise ValueError("no")
    return data


JUDGED = Target("judged", judged, lambda: [b'{"a": [1, 2]}\n', b"two\nlines\n"], "", (ValueError,))


@pytest.mark.parametrize(
    ("data", "said"),
    [(b"a!b", "KeyError"), (b"a?b", "NotTheSame"), (b"a%b", "TooMuchMemory"), (b"refuse", ""), (b"fine", "")],
)
def test_what_a_parser_must_not_do_is_found(data: bytes, said: str) -> None:
    found, _ = tried(JUDGED, data, twice=True, measured=True)
    assert (found.said.partition(":")[0] if found else "") == said


def test_a_parser_that_does_not_come_back_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuzz_engine.HARD_SECONDS", 0.2)

    def forever(_data: bytes) -> object:
        while True:
            pass

    found, _ = tried(Target("forever", forever, lambda: [b""], ""), b"")
    assert found is not None
    assert found.said.startswith("TooSlow")


def test_a_finding_is_made_small() -> None:
    large = Finding("judged", b"many lines\n" * 50 + b"a!b" + b"and more\n" * 50, "KeyError: x", "")
    assert minimised(JUDGED, large).data == b"!"


def test_the_same_seed_draws_the_same_inputs() -> None:
    seen: list[list[bytes]] = []
    for seed in (1, 1, 2):
        tries: list[bytes] = []
        fuzz(Target("kept", tries.append, lambda: [b'{"a": 1}', b"x\ny"], ""), seed=seed, inputs=50)
        seen.append(tries)
    assert seen[0] == seen[1]
    assert seen[0] != seen[2]


def test_inputs_are_of_every_kind() -> None:
    """Bytes, lines, tokens and the values of JSON are changed; nothing is longer than it may be."""
    rng = random.Random(3)
    seeds = [b'{"key": "value", "list": [1, 2]}', b"one\ntwo\nthree\n"]
    made = [mutated(rng, rng.choice(seeds), seeds, 500) for _ in range(3_000)]
    assert max(map(len, made)) <= 500
    assert len(set(made)) > 2_000
    assert sum(any(token in data for data in made) for token in TOKENS if len(token) < 100) > len(TOKENS) * 0.8
    assert any(data.count(b'"key"') == 2 for data in made), "a key twice"
    assert any(b"[" * 15 in data for data in made), "nested deeply"
