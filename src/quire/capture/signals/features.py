"""What can be seen of a passage: its words, its shape, where it stands, and what was said and done around it.

A passage is one to three sentences of a speech that stand together. Each feature is a name and a number; one that is
not there counts zero.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from quire.capture.signals.cues import table
from quire.capture.signals.options import chosen, offered
from quire.capture.signals.sentences import Sentence
from quire.capture.signals.speeches import Speech, Work
from quire.capture.signals.validation import is_report
from quire.capture.signals.words import TEXT_CHARS, share, stems, union

Features = dict[str, float]
LONGEST = 3
"""So many sentences a passage may have."""
_ALIKE, _END, _NEAR = 0.6, 2, 4
_LENGTHS = (2, 4, 6, 8, 11, 15, 20)
_PLAIN = re.compile(r"[^\W\d_]+(?=[\s.,;:!?)'’-]|$)")
"""A word as people write it; of code and of what a terminal printed few are."""
_NEIGHBOURS = ("cause", "problem", "decide", "later", "maybe")


class Excerpt(Struct, kw_only=True):
    """A passage with what is seen of it."""

    speech: Speech
    begin: int
    end: int
    text: str
    stems: frozenset[str]
    features: Features
    choice: str = ""
    """The option that it chooses, in the words in which it was offered."""

    @property
    def is_clear(self) -> bool:
        """Whether the user says what is decided and why, in one sentence, or chooses what was offered."""
        said = self.speech.sentences[self.begin : self.end] if self.speech.by == "user" else ()
        told = (one.cues | one.marks for one in said)
        is_why = any("cause" in one and one & {"decide", "must"} and not one & {"maybe", "question"} for one in told)
        return bool(self.choice) or is_why

    def is_same(self, other: Excerpt) -> bool:
        """Whether both say the same: they overlap, or most of the shorter is in the longer."""
        small, large = sorted((self.stems, other.stems), key=len)
        is_near = self.speech is other.speech and self.choice == other.choice
        return (is_near and self.begin < other.end and other.begin < self.end) or share(small, large) >= _ALIKE


def passages(speeches: Sequence[Speech]) -> Iterator[Excerpt]:
    """The passages of a talk that may be worth keeping."""
    last = {stem: at for at, speech in enumerate(speeches) for stem in speech.stems}
    first = {stem: at for at, speech in reversed(list(enumerate(speeches))) for stem in speech.stems}
    whole = _whole(speeches) if speeches else {}
    for at, speech in enumerate(speeches):
        around = {**_around(speeches, at), **whole}
        options = offered(speeches, at) if speech.by == "user" else []
        choices = {n: found for n, one in enumerate(speech.sentences) if options and (found := chosen(one, options))}
        for begin, end in _windows(speech, choices):
            for passage in filter(None, (_passage(speech, begin, end, one) for one in choices.get(begin, [""]))):
                told, own = passage.features, passage.stems
                told.update(around)
                told["said before"] = sum(first.get(stem, at) < at for stem in own) / len(own)
                told["said again"] = sum(last.get(stem, at) > at for stem in own) / len(own)
                told.update({" and ".join(both): 1.0 for both in table()["pairs"] if told.keys() >= {*both}})
                yield passage


def _windows(speech: Speech, choices: dict[int, list[str]]) -> Iterator[tuple[int, int]]:
    nothing = speech.echoes | {place for place, one in enumerate(speech.sentences) if is_report(one)}
    for begin, first in enumerate(speech.sentences):
        for end in range(begin + 1, min(begin + LONGEST, len(speech.sentences)) + 1):
            last = speech.sentences[end - 1]
            is_apart = (last.is_item and last.paragraph != first.paragraph) or last.label or end - 1 in choices
            if end - 1 in nothing or (end - 1 > begin and is_apart):
                break
            yield begin, end


def _passage(speech: Speech, begin: int, end: int, choice: str) -> Excerpt | None:
    part = speech.sentences[begin:end]
    told = " ".join(one.text for one in part)
    own = union(one.stems for one in part)
    text = told if not choice else f"{choice}: {told}" if len(own) > 1 else choice
    found = own | stems(choice) if choice else own
    if len(found) < 2 or (end - begin > 1 and len(text) > TEXT_CHARS):
        return None
    seen = _seen(speech, part, begin, end, len(found))
    if choice:
        seen["chooses"] = 1
    return Excerpt(speech=speech, begin=begin, end=end, text=text, stems=found, features=seen, choice=choice)


def _seen(speech: Speech, part: Sequence[Sentence], begin: int, end: int, count: int) -> Features:
    """What is seen of the passage itself, and of the sentences beside it."""
    first, last, said = part[0], part[-1], speech.sentences
    has, marks = union(one.cues for one in part), union(one.marks for one in part)
    told = ("has", has), ("opens", first.opens), ("mark", marks), ("label", first.label)
    names = {f"{name} {cue}" for name, cues in told for cue in cues if not cue.startswith("topic")}
    names |= {f"under {cue}" for cue in first.heading or () if cue.startswith("label")}
    for side, place in (("after", begin - 1), ("before", end)):
        if 0 <= place < len(said):
            names |= {f"{side} {cue}" for cue in said[place].cues if cue in _NEIGHBOURS}
            names |= {f"{side} question"} if "question" in said[place].marks else set()
    shape = {
        "ends with question": "question" in last.marks,
        "is first": begin == 0,
        "is last": end == len(said),
        "is all": begin == 0 and end == len(said),
        "is item": first.is_item,
        "has number": bool(first.number),
        "is done": first.done is True,
        "is open": first.done is False,
        "under heading": first.heading is not None,
        "crosses paragraphs": first.paragraph != last.paragraph,
        "two sentences": end - begin > 1,
        "three sentences": end - begin > 2,
    }
    names |= {name for name, is_there in shape.items() if is_there}
    names.add(f"length {next((most for most in _LENGTHS if count <= most), 'more')}")
    text = "".join(one.text for one in part)
    plain = sum(map(len, _PLAIN.findall(text))) / len("".join(text.split()))
    return {**dict.fromkeys(names, 1.0), "length": math.log1p(count), "plain": plain}


def _whole(speeches: Sequence[Speech]) -> Features:
    """What is seen of the session: much talk and little work, or much work of which the agent tells at length."""
    told = {by: [len(one.sentences) for one in speeches if one.by == by] for by in ("agent", "user")}
    return {
        "speeches": math.log1p(len(speeches)),
        "calls for each speech": math.log1p(sum(one.after.calls for one in speeches) / len(speeches)),
        "of the agent": len(told["agent"]) / len(speeches),
        **{f"sentences of the {by}": math.log1p(sum(told[by]) / (len(told[by]) or 1)) for by in told},
    }


def _around(speeches: Sequence[Speech], at: int) -> Features:
    """What is seen of the speech and of those beside it: the same for all its passages."""
    speech = speeches[at]
    names: dict[str, bool] = {
        "opens the session": at == 0,
        "near the end": at >= len(speeches) - _END,
        "ends the session": at == len(speeches) - 1,
        "summary": speech.is_summary,
        **_work("then", speech.after),
        **_work("since", speech.before),
    }
    if at:
        names.update(_beside("answers", speech, speeches[at - 1], speeches[at - 1].sentences[-_NEAR:]))
        near = (one for other in speeches[max(0, at - 2) : at] if other.by == "user" for one in other.sentences)
        names["after trouble"] = speech.by == "agent" and any("problem" in one.cues for one in near)
    if at + 1 < len(speeches):
        after = speeches[at + 1]
        names["is accepted"] = speech.by == "agent" and after.by == "user" and after.agrees()
    return {
        **{name: 1.0 for name, is_there in names.items() if is_there},
        "sentences": math.log1p(len(speech.sentences)),
    }


def _beside(name: str, speech: Speech, other: Speech, part: Sequence[Sentence]) -> dict[str, bool]:
    """What is seen of the speech before or after, and of the part of it that is near."""
    cues, opens = union(one.cues for one in part), other.sentences[0].opens if other.sentences else frozenset[str]()
    return {
        f"{name} another": other.by != speech.by,
        f"{name} a question": any("question" in one.marks for one in part),
        **{f"{name} {cue}": cue in cues for cue in _NEIGHBOURS},
        **{f"{name}: {cue}": cue in opens for cue in ("agree", "refuse")},
    }


def _work(name: str, work: Work) -> dict[str, bool]:
    return {f"{name} called": work.calls > 0, f"{name} edited": work.edits > 0, f"{name} failed": work.failed}
