"""Grouped evidence as a few lines for people."""

from __future__ import annotations

from collections.abc import Iterable

from quire.layers.journal.evidence_groups import Group, GroupedEvidence
from quire.layers.journal.text_match import DONE, flat, mark_of, shown_topic, topic_of, unmarked

_GROUPS = 5
_PATHS = 3
_TOPICS = 2


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
