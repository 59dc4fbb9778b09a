"""The judge of histories finds every kind of wrong in a history that was made by hand, and nothing in a right one."""

from __future__ import annotations

import math

import pytest
from history_checking import judge
from history_events import GONE, OK, PENDING, Act, Effect, torn_or

from cases import each
from promised import proves

pytestmark = proves("P3.1")
KEY = "facts/1"
ALLOWED = {"supersede": {"MemoryObjectNotFound"}}


def act(span: str, *effects: Effect, verb: str = "store", outcome: str = OK, process: int = 0) -> Act:
    """An act from one number to another, such as `2-5`; one that never ended is `2-`."""
    begin, _, end = span.partition("-")
    number = act.count = getattr(act, "count", 0) + 1  # type: ignore[attr-defined]
    return Act(process, number, verb, float(begin), float(end or math.inf), outcome, effects)


def write(value: str, key: str = KEY, before: str | None = None) -> Effect:
    return Effect("write", key, value, before)


def read(value: str, key: str = KEY) -> Effect:
    return Effect("read", key, value)


def listed(**values: str) -> Effect:
    return Effect("list", "facts/", {f"facts/{name}": value for name, value in values.items()})


RIGHT = {
    "reads that overlap a write may see either": [
        act("0-1", write("a")),
        act("2-9", write("b")),
        act("3-4", read("a")),
        act("5-6", read("b")),
        act("7-8", read("b")),
    ],
    "two writes at once, in the order in which they are seen": [
        act("0-5", write("a")),
        act("0-5", write("b")),
        act("6-7", read("a")),
    ],
    "not there before it was made, nor after it was removed": [
        act("0-1", read(GONE)),
        act("2-3", write("a")),
        act("4-5", read("a")),
        act("6-7", write(GONE)),
        act("8-9", read(GONE)),
    ],
    "who was killed may have written it, or not": [
        act("0-1", write("a")),
        act("2-", write("b"), outcome=PENDING),
        act("3-4", read("a")),
        act("5-6", read("b")),
        act("2-", write("c"), outcome=PENDING),
    ],
    "who was killed may have made a thing whose name nobody was told": [
        act("2-", Effect("maybe", "", "a"), outcome=PENDING),
        act("3-4", listed()),
        act("5-6", listed(x="a")),
    ],
    "a chain of changes": [
        act("0-0", write("a")),
        act("1-9", write("c", before="b")),
        act("1-5", write("b", before="a")),
        act("10-11", read("c"), process=-1),
    ],
    "a refusal that is allowed": [act("0-1", outcome="MemoryObjectNotFound", verb="supersede")],
    "numbers that grow": [act("0-5", Effect("count", "n", 2)), act("1-2", Effect("count", "n", 1))],
}
WRONG = {
    "a lost write": (
        [act("0-1", write("a")), act("2-3", write("b")), act("4-5", read("a"))],
        "a of store (",
    ),
    "a lost thing": ([act("0-1", write("a")), act("2-3", listed())], "did not find it, and nobody removed it"),
    "a thing that was made twice": (
        [act("0-1", write("a")), act("2-3", listed(**{"1": "a", "2": "a"}))],
        "a stands twice in facts: facts/1, facts/2",
    ),
    "one name for two things": (
        [act("0-3", write("a")), act("0-3", write("b")), act("4-5", read("a")), act("6-7", read("b"))],
        "time went back, or a write was lost",
    ),
    "a stale read": (
        [act("0-1", write("a")), act("2-9", write("b")), act("3-4", read("b")), act("5-6", read("a"))],
        "was still seen after b of store (",
    ),
    "a read of what nobody wrote": ([act("0-1", write("a")), act("2-3", read("z"))], "saw z, which nobody wrote"),
    "a read of what comes later": ([act("0-1", read("a")), act("2-3", write("a"))], "before store ("),
    "a torn read": ([act("0-1", write("a")), act("2-3", read(torn_or("a", "b")))], "saw half of a change"),
    "a torn list": ([act("0-1", write("a")), act("2-3", listed(**{"1": torn_or("a", "b")}))], "saw half of a change"),
    "a removed thing that comes back": (
        [act("0-1", write("a")), act("2-3", write(GONE)), act("4-5", read(GONE)), act("6-7", read("a"))],
        "time went back, or a write was lost",
    ),
    "a removal that did not happen": (
        [act("0-1", write("a")), act("2-3", write(GONE)), act("4-5", read("a"))],
        "it was lost",
    ),
    "a thing that two removed": (
        [act("0-1", write("a")), act("2-3", write(GONE)), act("2-3", write(GONE))],
        "removed it",
    ),
    "two that replaced the same": (
        [act("0-0", write("a")), act("1-2", write("b", before="a")), act("1-2", write("c", before="a"))],
        "both replaced a",
    ),
    "a chain with a gap": (
        [act("0-0", write("a")), act("1-2", write("b", before="a")), act("3-4", write("d", before="c"))],
        "no chain",
    ),
    "a chain whose end is not there": (
        [act("0-0", write("a")), act("1-2", write("b", before="a")), act("3-4", read("a"), process=-1)],
        "the chain ends with ['b'], and a is there",
    ),
    "an error that is none of ours": ([act("0-1", outcome="untyped KeyError")], "ended with `untyped KeyError`"),
    "a refusal that is not allowed": ([act("0-1", outcome="MemoryLockBusy")], "ended with `MemoryLockBusy`"),
    "a number that two were told": (
        [act("0-1", Effect("count", "n", 1)), act("0-1", Effect("count", "n", 1))],
        "both told 1",
    ),
    "a number that falls": (
        [act("0-1", Effect("grow", "n", 5)), act("2-3", Effect("grow", "n", 4))],
        "was told 4 after",
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_history_that_could_have_been_is_let_through(name: str) -> None:
    assert judge(RIGHT[name], ALLOWED) == []


@each("name", WRONG)
def test_a_history_that_could_not_have_been_is_found_out(name: str) -> None:
    acts, said = WRONG[name]
    found = judge(acts, ALLOWED)
    assert found
    assert any(said in text for text in found), found
