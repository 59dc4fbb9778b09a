"""Merge what sessions found into a bundle, by rules alone: gotchas, next steps and focus.

The newest evidence wins, steps that are done go, what is said twice is said once, and the map of the project stays as
it is. The same evidence taken in twice changes nothing more. Items that come from sessions name the latest event that
spoke of them under `source`: by it one knows which are old when there are too many.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from quire.capture.headline import claim_and_reason, head_and_rest, statement
from quire.capture.quotable_text import quote
from quire.capture.repository.bundle_merge import FIELDS, SOURCE, is_from_file, said_once
from quire.capture.repository.clean_text import SENTENCE_CHARS, TITLE_CHARS, are_alike, normal, said, stated
from quire.layers.journal import layout
from quire.layers.journal.bundles import merge_sections, shown, texts_at
from quire.layers.journal.dedupe import Deduped
from quire.layers.journal.evidence_groups import Group, GroupedEvidence
from quire.layers.journal.layout import NONE
from quire.layers.journal.numbered_ids import moment_of, ordinal_of
from quire.layers.journal.text_match import DONE, mark_of, topic_of, unmarked
from quire.layers.journal.types import Bundle, JournalEvent, Signals

Events = Mapping[str, JournalEvent]
GOTCHAS_MOST = 24
STEPS_MOST = 24
STATE_MOST = 12
RISKS_MOST = 12
GROUPS_MOST = 200
"""Older evidence would not be kept beside so much that is newer; only what it says is done still counts."""
SIGNALS_MOST = 100
_NEW_STATES, _NEW_PASSED = 8, 2
_COLON = re.compile(r"[:：]\s")
_NOT_FAILED = re.compile(r"\b(?:0|no|zero|without)\s+(?:\w+\s+){0,1}(?:fail\w*|errors?)", re.I)
_FAILED = re.compile(
    r"\b(?:fail(?:s|ed|ing|ures?)?|errors?|broken?|crash(?:es|ed)?|flaky|red)\b|失败|fehlgeschlagen|échou", re.I
)


def consolidated(
    current: Bundle, groups: GroupedEvidence, *, section: str = layout.ALL, protected: Collection[str] = ()
) -> Deduped:
    """The bundle with what the evidence says, and the titles that went into others. Nothing given is changed.

    Where a section is named, only that one takes anything in.
    """
    # The oldest first, so that what is newer is said later. Groups of our own runs alone say nothing new.
    told = [group for group in reversed(groups.groups) if group.source_scope_label != "local"]
    if not told:
        return Deduped(bundle=dict(current))
    done = {normal(topic) for group in told for topic in _done_topics(group)}
    told = told[-GROUPS_MOST:]
    proposal: Bundle = {
        "gotchas": _with_gotchas(_items(current, "gotchas"), told, groups.events),
        "nextSteps": _with_steps(_items(current, "nextSteps"), told, done, groups.events),
    }
    if isinstance(current.get("currentFocus"), dict):
        proposal["currentFocus"] = _with_focus(current["currentFocus"], told, groups.events)
    merged = merge_sections(current, proposal, section, protected)
    deduped = said_once(merged, current)
    bundle = dict(deduped.bundle)
    for key, most in (("gotchas", GOTCHAS_MOST), ("nextSteps", STEPS_MOST)):
        if merged.get(key) is proposal[key]:
            bundle[key] = _cut([_filled(item, key) for item in bundle[key]], told, most)
    return Deduped(bundle=bundle, merged_gotchas=deduped.merged_gotchas, merged_next_steps=deduped.merged_next_steps)


# -- gotchas and steps ----------------------------------------------------------------------------


def _items(current: Bundle, key: str) -> dict[str, Any]:
    """The items by their titles in normal form; one without a title, or with that of another, by its place."""
    found: dict[str, Any] = {}
    listed = current.get(key)
    for number, item in enumerate(listed if isinstance(listed, list) else []):
        title = normal(shown(item, "title"))
        found[title if title and title not in found else f"\0{number}"] = item
    return found


def _with_gotchas(items: dict[str, Any], told: list[Group], events: Events) -> list[Any]:
    for group in told:
        told_in = _told_in(group, events, lambda signals: signals.gotchas)
        for text in group.signals.gotchas[-SIGNALS_MOST:]:
            claim, reason = claim_and_reason(text)
            title, cause, more = _titled(claim)
            _put(items, title, {"cause": cause or said(reason), "symptom": more}, told_in[topic_of(text)].id, "gotchas")
    return list(items.values())


def _with_steps(items: dict[str, Any], told: list[Group], ever_done: set[str], events: Events) -> list[Any]:
    """The steps with those that came up. What was done long ago goes by its title alone, and comes back if it comes up
    again."""
    items = {key: item for key, item in items.items() if key not in ever_done}
    for group in told:
        told_in = _told_in(group, events, lambda signals: map(unmarked, signals.next_step_hints))
        done = _done_topics(group)[-SIGNALS_MOST:]
        for hint in group.signals.next_step_hints[-SIGNALS_MOST:]:
            title, start, more = _titled(unmarked(hint))
            if mark_of(hint) != DONE and not any(are_alike(title, topic) for topic in done):
                event = told_in[topic_of(unmarked(hint))]
                _put(items, title, {"why": _left_in(event), "start": start or more}, event.id, "nextSteps")
        if done:
            is_done = {key for key, item in items.items() if any(are_alike(shown(item, "title"), one) for one in done)}
            items = {key: item for key, item in items.items() if key not in is_done}
    return list(items.values())


def _put(items: dict[str, Any], title: str, fields: dict[str, str], event: str, key: str) -> None:
    """Note an item: what it says newly is taken over; of one that a file holds, only what the file leaves open."""
    name = normal(title)
    if not name:
        return
    known = items.get(name)
    if not isinstance(known, dict):
        blank = dict.fromkeys(FIELDS[key], "")
        items[name] = {**blank, **fields, "title": title, SOURCE: event}
    elif is_from_file(known):
        missing = {name: text for name, text in fields.items() if shown(known, name) in ("", NONE) and text}
        items[name] = {**known, **missing}
    else:
        # Why something is to be done stays true; where to begin may change.
        newly = {n: text for n, text in fields.items() if text and (n != "why" or shown(known, n) in ("", NONE))}
        items[name] = {**known, **newly, SOURCE: _newer(shown(known, SOURCE), event)}


def _told_in(group: Group, events: Events, texts: Callable[[Signals], Iterable[str]]) -> dict[str, JournalEvent]:
    """The latest event that spoke of each topic."""
    members = [events[name] for name in group.event_ids]
    return {topic_of(text): event for event in members for text in texts(event.signals)}


def _left_in(event: JournalEvent) -> str:
    day, asked = _day(event), event.summary.removeprefix("Asked: ").partition(" Result: ")[0]
    return said(f"Left open{f' on {day}' if day else ''}, in the session “{quote(asked, TITLE_CHARS).rstrip('.。')}”.")


def _day(event: JournalEvent) -> str:
    moment = moment_of(event.created_at)
    return moment.date().isoformat() if moment else ""


def _newer(first: str, second: str) -> str:
    return first if ordinal_of(first) > ordinal_of(second) else second


def _filled(item: Any, key: str) -> Any:
    """An item whose blanks say that there is nothing. The event that it comes from is its source."""
    if not isinstance(item, dict) or not shown(item, "title").strip():
        return item
    return {**item, **{name: stated(shown(item, name)) for name in FIELDS[key]}}


def _cut(items: list[Any], told: list[Group], most: int) -> list[Any]:
    """At most so many: first those go that this evidence did not confirm, the oldest before the others.

    What comes from files goes last: the next look at the files would bring it back.
    """
    if len(items) <= most:
        return items
    confirmed = {event for group in told for event in group.event_ids}

    def worth(number: int) -> tuple[bool, bool, int, int]:
        item = items[number]
        event = shown(item, SOURCE)
        ordinal = ordinal_of(event)
        # Of one event the first come first, or taking it in again would exchange them.
        place = -number if ordinal else number
        return isinstance(item, dict) and is_from_file(item), event in confirmed, ordinal, place

    kept = sorted(sorted(range(len(items)), key=worth)[-most:])
    return [items[number] for number in kept]


# -- focus ----------------------------------------------------------------------------------------


def _with_focus(focus: dict[str, Any], told: list[Group], events: Events) -> dict[str, Any]:
    newest = list(reversed(told))
    decisions = [
        text
        for group in newest
        for text in map(said, map(statement, reversed(group.signals.decisions[-SIGNALS_MOST:])))
        if text
    ]
    observed = [
        text for group in newest for text in map(said, group.signals.validation_observations[-SIGNALS_MOST:]) if text
    ]
    observed = list({_topic(text) or normal(text): text for text in reversed(observed)}.values())[::-1]
    passed = [text for text in observed if not _has_failed(text)]
    failed = [text for text in observed if _has_failed(text)]
    settled = {_topic(text) or normal(text) for text in passed}
    risks = [text for text in texts_at(focus, "knownRisks") if (_topic(text) or normal(text)) not in settled]
    state = [*_told_once(decisions, _NEW_STATES), *passed[:_NEW_PASSED], *texts_at(focus, "currentState")]
    result = {
        **focus,
        "summary": _last_session(told[-1], events) or focus.get("summary", NONE),
        "currentState": _told_once(state, STATE_MOST),
        "knownRisks": _told_once([*failed, *risks], RISKS_MOST),
    }
    snapshot = focus.get("validationSnapshot")
    done = [topic for group in told for topic in _done_topics(group)]
    if isinstance(snapshot, dict) and done:
        actions = texts_at(snapshot, "suggestedNextActions")
        left = [text for text in actions if not any(are_alike(text, topic) for topic in done)]
        result["validationSnapshot"] = {**snapshot, "suggestedNextActions": left}
    return result


def _last_session(group: Group, events: Events) -> str:
    event = next(events[name] for name in reversed(group.event_ids) if events[name].kind != layout.TOOL_RUN)
    summary, day = said(event.summary, SENTENCE_CHARS * 2), _day(event)
    return f"Last session{f' on {day}' if day else ''}. {summary}" if summary else ""


def _told_once(texts: Iterable[str], most: int) -> list[str]:
    """The first so many of texts, the newest first; what was said of a topic, or nearly so, is not said again."""
    found: list[str] = []
    topics: set[str] = set()
    for text in texts:
        topic = _topic(text)
        if len(found) < most and topic not in topics and not any(are_alike(text, other) for other in found):
            found.append(text)
            topics |= {topic} if topic else set()
    return found


def _has_failed(text: str) -> bool:
    return _FAILED.search(_NOT_FAILED.sub("", text)) is not None


# -- texts of signals -----------------------------------------------------------------------------


def _topic(text: str) -> str:
    """What stands before a colon, in normal form; empty where there is none."""
    parts = _COLON.split(text, maxsplit=1)
    return normal(parts[0]) if len(parts) == 2 else ""


def _titled(text: str) -> tuple[str, str, str]:
    """The parts of a signal as they may be kept; where its title says nothing, all of it is the title."""
    head, after, more = head_and_rest(text, TITLE_CHARS)
    return said(head, TITLE_CHARS) or said(text, TITLE_CHARS), said(after), said(more)


def _done_topics(group: Group) -> list[str]:
    return [_titled(unmarked(hint))[0] for hint in group.signals.next_step_hints if mark_of(hint) == DONE]
