"""Group events that speak of the same thing, before a recall reads them.

Two events belong together if they share the topic of a gotcha or of a next step, or a path together with a decision or
an observation; and so does whatever is linked through others. Every such share is a key, and events with a common key
are joined: the work grows with what the events say, not with the pairs of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import cache

from msgspec import Struct

from quire.layers.journal.collation import collation_key
from quire.layers.journal.layout import GROUP_PREFIX, TOOL_RUN
from quire.layers.journal.numbered_ids import moment_of, numbered_id, ordinal_of
from quire.layers.journal.text_match import (
    DONE,
    NEXT,
    flat,
    longer,
    mark_of,
    normal_text,
    shown_topic,
    topic_of,
    unmarked,
)
from quire.layers.journal.types import JournalEvent, Signals
from quire.model.times import EPOCH

_GROUPS = 5
_PATHS = 3
_TOPICS = 2

LINKING_TEXTS = 64
"""How many paths, and how many decisions, of one event take part in links: their pairs are what is counted."""

Key = tuple[str, ...]


class Group(Struct, frozen=True, kw_only=True, rename="camel"):
    """Events that speak of the same thing, oldest first, and what they say together."""

    group_id: str
    source_scope_label: str
    event_ids: tuple[str, ...]
    source_ids: tuple[str, ...]
    created_at_first: str
    created_at_last: str
    representative_summary: str
    signals: Signals


class GroupedEvidence(Struct, frozen=True, kw_only=True, rename="camel"):
    """All groups, the latest first."""

    raw_event_count: int = 0
    grouped_item_count: int = 0
    groups: tuple[Group, ...] = ()
    events: dict[str, JournalEvent] = {}
    """The events of all groups, by their ids."""


class _Forms:
    """The forms of texts, each made once: events of one project repeat each other."""

    def __init__(self) -> None:
        self.normal = cache(normal_text)
        self.topic = cache(topic_of)
        self.hint = cache(lambda hint: topic_of(unmarked(hint)))


def group_events(events: Iterable[JournalEvent]) -> GroupedEvidence:
    listed, forms = list(events), _Forms()
    members: dict[int, list[JournalEvent]] = {}
    for number, top in enumerate(_joined(listed, forms)):
        members.setdefault(top, []).append(listed[number])
    sets = [sorted(found, key=_age) for found in members.values()]
    sets.sort(key=lambda found: _id_order(found[0].id))
    sets.sort(key=lambda found: _known_moment(found[-1].created_at), reverse=True)
    groups = tuple(
        _group(numbered_id(number, GROUP_PREFIX), found, forms) for number, found in enumerate(sets, start=1)
    )
    by_id = {one.id: one for one in listed}
    return GroupedEvidence(raw_event_count=len(listed), grouped_item_count=len(groups), groups=groups, events=by_id)


def _joined(events: list[JournalEvent], forms: _Forms) -> list[int]:
    """For each event the number that its whole group has in common."""
    tops = list(range(len(events)))

    def top_of(number: int) -> int:
        while tops[number] != number:
            tops[number] = tops[tops[number]]
            number = tops[number]
        return number

    owners: dict[Key, int] = {}
    for number, keys in enumerate(_keys(events, forms)):
        for key in keys:
            owner = top_of(owners.setdefault(key, number))
            tops[top_of(number)] = owner
    return [top_of(number) for number in range(len(events))]


def _keys(events: list[JournalEvent], forms: _Forms) -> Iterator[Iterator[Key]]:
    """What links each event; what only one event says links nothing and is left out of the pairs."""
    paths = [_normal(event.signals.key_paths, forms) for event in events]
    others = [
        [("decision", text) for text in _normal(event.signals.decisions, forms)]
        + [("observation", text) for text in _normal(event.signals.validation_observations, forms)]
        for event in events
    ]
    path_counts = Counter(path for found in paths for path in found)
    other_counts = Counter(other for found in others for other in found)
    for event, near, said in zip(events, paths, others, strict=True):
        near = [path for path in near if path_counts[path] > 1][:LINKING_TEXTS]
        said = [other for other in said if other_counts[other] > 1][:LINKING_TEXTS]
        yield _keys_of(event.signals, near, said, forms)


def _keys_of(signals: Signals, paths: list[str], others: list[tuple[str, str]], forms: _Forms) -> Iterator[Key]:
    for text in signals.gotchas:
        if topic := forms.topic(text):
            yield "gotcha", topic
    for hint in signals.next_step_hints:
        if topic := forms.hint(hint):
            yield "hint", topic
    for path in paths:
        for kind, text in others:
            yield kind, text, path


def _normal(texts: Iterable[str], forms: _Forms) -> list[str]:
    return [form for form in dict.fromkeys(map(forms.normal, texts)) if form]


def _group(group_id: str, events: list[JournalEvent], forms: _Forms) -> Group:
    kinds = {event.kind == TOOL_RUN for event in events}
    label = "mixed" if len(kinds) == 2 else "local" if True in kinds else "imports"
    summary = events[0].summary
    for event in events[1:]:
        summary = longer(summary, event.summary)
    return Group(
        group_id=group_id,
        source_scope_label=label,
        event_ids=tuple(event.id for event in events),
        source_ids=tuple(sorted({event.source_id for event in events}, key=collation_key)),
        created_at_first=events[0].created_at,
        created_at_last=events[-1].created_at,
        representative_summary=summary,
        signals=_merged([event.signals for event in events], forms),
    )


def _merged(signals: list[Signals], forms: _Forms) -> Signals:
    return Signals(
        decisions=_unique((one.decisions for one in signals), forms.normal),
        gotchas=_unique((one.gotchas for one in signals), forms.topic),
        next_step_hints=_unique_hints((one.next_step_hints for one in signals), forms.hint),
        key_paths=_unique((one.key_paths for one in signals), forms.normal),
        validation_observations=_unique((one.validation_observations for one in signals), forms.topic),
    )


def _unique(parts: Iterable[tuple[str, ...]], form_of: Callable[[str], str]) -> tuple[str, ...]:
    """One text for each key, the longest, where the first stood. A text without a key stands for itself."""
    kept: dict[str, str] = {}
    for texts in parts:
        for text in texts:
            _keep(kept, form_of(text) or f"\0{text}", text)
    return tuple(kept.values())


def _unique_hints(parts: Iterable[tuple[str, ...]], form_of: Callable[[str], str]) -> tuple[str, ...]:
    """The same for hints. That a step is done must not get lost behind a longer text: it is kept beside the step,
    until a later `NEXT:` takes the step up again."""
    kept: dict[str, str] = {}
    for texts in parts:
        for hint in texts:
            key, mark = form_of(hint) or f"\0{hint}", mark_of(hint)
            if mark == NEXT:
                kept.pop(f"{DONE}: {key}", None)
            _keep(kept, f"{DONE}: {key}" if mark == DONE else key, hint)
    return tuple(kept.values())


def _keep(kept: dict[str, str], key: str, text: str) -> None:
    if key in kept:
        kept[key] = longer(kept[key], text)
    elif text.strip():
        kept[key] = text


def _age(event: JournalEvent) -> tuple[bool, datetime, tuple[bool, int]]:
    moment, ordinal = moment_of(event.created_at), ordinal_of(event.id)
    return moment is None, moment or EPOCH, (ordinal == 0, ordinal)


def _known_moment(created_at: str) -> tuple[bool, datetime]:
    moment = moment_of(created_at)
    return moment is not None, moment or EPOCH


def _id_order(name: str) -> tuple[bool, int, object]:
    ordinal = ordinal_of(name)
    return ordinal == 0, ordinal, collation_key(name)


def evidence_lines(evidence: GroupedEvidence) -> list[str]:
    """The counts, the latest groups in one or two lines each, and how many more there are."""
    lines = [f"- raw events: {evidence.raw_event_count}", f"- grouped items: {evidence.grouped_item_count}"]
    for group in evidence.groups[:_GROUPS]:
        lines += _group_lines(group)
    left_out = len(evidence.groups) - _GROUPS
    if left_out > 0:
        lines.append(f"- ... {left_out} more grouped items omitted ...")
    return lines


def _group_lines(group: Group) -> list[str]:
    paths = _some(group.signals.key_paths, _PATHS) or "none"
    summary = flat(group.representative_summary)
    lines = [f"- [{group.source_scope_label}] {summary} events={len(group.event_ids)} paths={paths}"]
    gotchas = _some(map(shown_topic, group.signals.gotchas), _TOPICS)
    steps = _some(_step_topics(group.signals.next_step_hints), _TOPICS)
    said = [f"gotchas={gotchas}"] if gotchas else []
    said += [f"next={steps}"] if steps else []
    return [*lines, "  " + " ".join(said)] if said else lines


def _step_topics(hints: Iterable[str]) -> list[str]:
    """Each step once; one that was marked as done says so."""
    topics: dict[str, tuple[str, bool]] = {}
    for hint in hints:
        bare = unmarked(hint)
        first, done = topics.get(topic_of(bare), (shown_topic(bare), False))
        topics[topic_of(bare)] = first, done or mark_of(hint) == DONE
    return [f"{topic} (done)" if done else topic for topic, done in topics.values()]


def _some(texts: Iterable[str], most: int) -> str:
    every = [flat(text) for text in texts]
    left_out = len(every) - most
    return ", ".join([*every[:most], f"+{left_out} more"] if left_out > 0 else every)
