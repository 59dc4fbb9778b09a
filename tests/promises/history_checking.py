"""The judge of histories: is there an order of all acts, each at a moment of its own time, that explains what was seen?

Every thing is a register of its own, and every value in it was written once. Then such an order exists if and only if
no value is read before it is written, and the times of two values do not cross: a value is surely there from the first
end of an act that knows of it to the last beginning of one that still sees it. Two values that are surely there at the
same time, and a value that came and went while another one was surely there, cannot both be right.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from history_events import GONE, OK, PENDING, TORN, Act, Effect

__all__ = ["judge"]


class _Seen(NamedTuple):
    """A value of one thing: who wrote it, and the span in which it was surely there."""

    value: str
    first_end: float
    last_begin: float
    by: str

    @property
    def is_lasting(self) -> bool:
        return self.first_end < self.last_begin


def judge(acts: Iterable[Act], allowed: Mapping[str, Collection[str]]) -> list[str]:
    """Everything that is wrong with a history; `allowed` says by which codes a verb may be refused."""
    acts = list(acts)
    return [*_outcomes(acts, allowed), *_numbers(acts), *_registers(acts), *_chains(acts)]


def _outcomes(acts: list[Act], allowed: Mapping[str, Collection[str]]) -> Iterator[str]:
    for act in acts:
        if act.outcome not in (OK, PENDING) and act.outcome not in allowed.get(act.verb, ()):
            yield f"{act.name} ended with `{act.outcome}`: {act.said}"
        for effect in act.effects:
            values = effect.value.values() if effect.kind == "list" else [effect.value]
            yield from (f"{act.name} saw half of a change in {effect.key}: {text}" for text in values if _is_torn(text))


def _is_torn(value: Any) -> bool:
    return isinstance(value, str) and value.startswith(TORN)


def _numbers(acts: list[Act]) -> Iterator[str]:
    """A count is handed out once and in order; what grows never falls."""
    found: dict[tuple[str, str], list[tuple[Act, int]]] = defaultdict(list)
    for act in acts:
        for effect in act.effects:
            if effect.kind in ("count", "grow") and act.outcome == OK:
                found[effect.kind, effect.key].append((act, effect.value))
    for (kind, key), items in found.items():
        items.sort(key=lambda item: item[1])
        for (one, lower), (other, higher) in pairwise(items):
            if kind == "count" and lower == higher:
                yield f"{key}: {one.name} and {other.name} were both told {lower}"
        latest_begin, late = -math.inf, None
        for act, number in items:
            if late is not None and act.end < latest_begin and number > late[1]:
                yield f"{key}: {late[0].name} was told {late[1]} after {act.name} had been told {number}"
            if act.begin > latest_begin:
                latest_begin, late = act.begin, (act, number)


# -- registers ----------------------------------------------------------------------------------------------------


class _Thing:
    """All that was done to one thing and seen of it."""

    def __init__(self) -> None:
        self.writes: list[tuple[Act, str]] = []
        self.reads: list[tuple[Act, str]] = []


def _registers(acts: list[Act]) -> Iterator[str]:
    things: dict[str, _Thing] = defaultdict(_Thing)
    lists: list[tuple[Act, Effect]] = []
    hidden: dict[str, Act] = {}
    for act in acts:
        for effect in act.effects:
            if effect.kind == "maybe":
                hidden[effect.value] = act
            elif effect.kind == "write":
                things[effect.key].writes.append((act, effect.value))
            elif effect.kind == "read":
                things[effect.key].reads.append((act, effect.value))
            elif effect.kind == "list":
                lists.append((act, effect))
    for act, effect in lists:
        for key, value in effect.value.items():
            things[key].reads.append((act, value))
    keys = sorted(things)
    for act, effect in lists:
        for key in keys:
            if key.startswith(effect.key) and key not in effect.value:
                things[key].reads.append((act, GONE))
    for key, thing in things.items():
        # The name was never told, since its maker was killed; the value says whose it is.
        known = {value for _, value in thing.writes}
        makers = {value: hidden[value] for _, value in thing.reads if value in hidden and value not in known}
        thing.writes += [(act, value) for value, act in makers.items()]
        # What was superseded may be deleted, too, and a note struck off while it becomes a fact: it goes once for both.
        yield from (f"{key}: {text}" for text in _register(thing, often_gone=key.startswith(("live/", "notes/"))))
    yield from _once(things)


def _once(things: Mapping[str, _Thing]) -> Iterator[str]:
    """What one act made is one thing of each sort: `facts/1` and `facts/2` never hold the same value."""
    homes: dict[tuple[str, str], set[str]] = defaultdict(set)
    for key, thing in things.items():
        for _, value in (*thing.writes, *thing.reads):
            if value != GONE and not _is_torn(value):
                homes[key.partition("/")[0], value].add(key)
    for (sort, value), keys in homes.items():
        if len(keys) > 1 and sort not in ("inbox", "pair"):
            yield f"{value} stands twice in {sort}: {', '.join(sorted(keys))}"


def _register(thing: _Thing, *, often_gone: bool) -> Iterator[str]:
    writers: dict[str, Act] = {}
    for act, value in thing.writes:
        other = writers.get(value)
        if other is not None and often_gone and value == GONE:
            if act.end < other.end:
                writers[value] = act
            continue
        if other is not None and PENDING not in (act.outcome, other.outcome):
            yield f"both {other.name} and {act.name} {'removed it' if value == GONE else f'wrote {value}'}"
        if other is None or other.outcome == PENDING:
            writers[value] = act
    made = min((act.end for act, value in thing.writes if value != GONE), default=math.inf)
    reads: dict[str, list[Act]] = defaultdict(list)
    for act, value in thing.reads:
        # Before it was made it was not there, either.
        if not _is_torn(value) and not (value == GONE and act.begin < made):
            reads[value].append(act)
    spans = []
    for value in {*writers, *reads}:
        writer = writers.get(value)
        if writer is None:
            name = reads[value][0].name
            yield (
                f"{name} did not find it, and nobody removed it"
                if value == GONE
                else (f"{name} saw {value}, which nobody wrote")
            )
            continue
        if writer.outcome == PENDING and not reads[value]:
            continue  # it may never have happened
        first = min(act.begin for act, made in thing.writes if made == value)
        early = [act for act in reads[value] if act.end < first]
        if early:
            yield f"{early[0].name} saw {value or 'that it was gone'} before {writer.name} began"
        known = [writer, *reads[value]]
        spans.append(_Seen(value, min(act.end for act in known), max(act.begin for act in known), writer.name))
    yield from _crossing(spans)


def _crossing(spans: list[_Seen]) -> Iterator[str]:
    lasting = sorted((span for span in spans if span.is_lasting), key=lambda span: span.first_end)
    for one, other in pairwise(lasting):
        if other.first_end < one.last_begin:
            yield f"{_told(one)} was still seen after {_told(other)} had been: time went back, or a write was lost"
    for brief in spans:
        if not brief.is_lasting:
            for span in lasting:
                # It had to happen between its beginning and its end, and all that while another value held.
                if span.first_end < brief.last_begin and brief.first_end < span.last_begin:
                    yield f"{_told(span)} was still seen after {_told(brief)} had come: it was lost"


def _told(span: _Seen) -> str:
    return f"{span.value or 'the removal'} of {span.by}"


# -- chains -------------------------------------------------------------------------------------------------------


def _chains(acts: list[Act]) -> Iterator[str]:
    """Who may only replace what was read: every value has one successor, and all of them are one chain."""
    chains: dict[str, list[tuple[Act, Effect]]] = defaultdict(list)
    ends: dict[str, str] = {}
    for act in acts:
        for effect in act.effects:
            if effect.kind == "write" and effect.before is not None and act.outcome == OK:
                chains[effect.key].append((act, effect))
            if effect.kind == "read" and act.process < 0:
                ends[effect.key] = effect.value
    for key, items in chains.items():
        after: dict[str, Act] = {}
        for act, effect in items:
            other = after.setdefault(str(effect.before), act)
            if other is not act:
                yield f"{key}: {other.name} and {act.name} both replaced {effect.before}"
        follows = {effect.before: effect.value for _, effect in items}
        first = set(follows) - set(follows.values())
        last = set(follows.values()) - set(follows)
        if len(first) != 1 or len(last) != 1:
            yield f"{key}: the changes are no chain: they begin with {sorted(map(str, first))}"
        elif key in ends and ends[key] not in last:
            yield f"{key}: the chain ends with {sorted(last)}, and {ends[key]} is there"
