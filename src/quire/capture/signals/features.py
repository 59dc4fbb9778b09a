"""What can be seen of a passage: its words, its shape, where it stands, and what was said and done around it.

A passage is one to three sentences of a speech that stand together. Each feature is a name and a number; one that is
not there counts zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from msgspec import Struct

from quire.capture.signals.options import chosen, offered
from quire.capture.signals.sentences import Sentence
from quire.capture.signals.speeches import Speech, Work
from quire.capture.signals.words import share, stems

Features = dict[str, float]
LONGEST = 3
"""So many sentences a passage may have."""
PASSAGE_CHARS = 320
"""Several sentences are no longer than this."""
_LENGTHS = (2, 4, 6, 8, 11, 15, 20)
_END = 2
_FEW = 6
_NEAR = 4
_PAIRS = (
    ("is accepted", "has maybe"),
    ("is accepted", "has decide"),
    ("is accepted", "has cause"),
    ("is accepted", "then edited"),
    ("since called", "after trouble"),
    ("after trouble", "has cause"),
    ("after trouble", "has problem"),
    ("after trouble", "has negation"),
    ("answers a question", "then edited"),
    ("answers a question", "has cause"),
    ("answers a list", "then edited"),
    ("near the end", "has later"),
    ("near the end", "is item"),
    ("under label_next", "is item"),
    ("opens decide", "has cause"),
    ("has must", "has negation"),
)
"""Features that say more together."""
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

    def overlaps(self, other: Excerpt) -> bool:
        is_same = self.speech is other.speech and self.choice == other.choice
        return is_same and self.begin < other.end and other.begin < self.end


def passages(speeches: Sequence[Speech]) -> Iterator[Excerpt]:
    """The passages of a talk that may be worth keeping."""
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for at, speech in enumerate(speeches):
        for stem in speech.stems:
            first.setdefault(stem, at)
            last[stem] = at
    for at, speech in enumerate(speeches):
        around = _around(speeches, at)
        options = offered(speeches, at) if speech.by == "user" else []
        choices = {n: found for n, one in enumerate(speech.sentences) if options and (found := chosen(one, options))}
        for begin, end in _windows(speech, choices):
            for choice in choices.get(begin, [""]):
                passage = _passage(speech, begin, end, choice)
                if passage is not None:
                    told = passage.features
                    told.update(around)
                    told.update(_shared(passage.stems, speeches, at))
                    count = len(passage.stems)
                    told["said before"] = sum(first.get(stem, at) < at for stem in passage.stems) / count
                    told["said again"] = sum(last.get(stem, at) > at for stem in passage.stems) / count
                    told.update({" and ".join(pair): 1.0 for pair in _PAIRS if all(name in told for name in pair)})
                    yield passage


def _windows(speech: Speech, choices: dict[int, list[str]]) -> Iterator[tuple[int, int]]:
    for begin, first in enumerate(speech.sentences):
        for end in range(begin + 1, min(begin + LONGEST, len(speech.sentences)) + 1):
            more = speech.sentences[begin + 1 : end]
            if any(
                (one.is_item and one.paragraph != first.paragraph) or one.label or begin + place in choices
                for place, one in enumerate(more, 1)
            ) or any(place in speech.echoes for place in range(begin, end)):
                break
            yield begin, end


def _passage(speech: Speech, begin: int, end: int, choice: str) -> Excerpt | None:
    part = speech.sentences[begin:end]
    told = " ".join(one.text for one in part)
    own = frozenset[str]().union(*(one.stems for one in part))
    text = told if not choice else f"{choice}: {told}" if len(own) > 1 else choice
    found = own | stems(choice) if choice else own
    if len(found) < 2 or (end - begin > 1 and len(text) > PASSAGE_CHARS):
        return None
    seen = _seen(speech, part, begin, end, len(found))
    if choice:
        seen["chooses"] = 1
    return Excerpt(speech=speech, begin=begin, end=end, text=text, stems=found, features=seen, choice=choice)


def _seen(speech: Speech, part: Sequence[Sentence], begin: int, end: int, count: int) -> Features:
    """What is seen of the passage itself, and of the sentences beside it."""
    first, last, said = part[0], part[-1], speech.sentences
    names = {f"has {cue}" for one in part for cue in one.cues if not cue.startswith("topic")}
    names |= {f"opens {cue}" for cue in first.opens if not cue.startswith("topic")}
    names |= {f"mark {mark}" for one in part for mark in one.marks}
    names |= {f"under {cue}" for cue in first.heading or () if cue.startswith("label")}
    names |= {f"label {cue}" for cue in first.label}
    if begin:
        names |= {f"after {cue}" for cue in said[begin - 1].cues if cue in _NEIGHBOURS}
        names |= {"after question"} if "question" in said[begin - 1].marks else set()
    if end < len(said):
        names |= {f"before {cue}" for cue in said[end].cues if cue in _NEIGHBOURS}
        names |= {"before question"} if "question" in said[end].marks else set()
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
    return {**dict.fromkeys(names, 1.0), "length": math.log1p(count)}


def _around(speeches: Sequence[Speech], at: int) -> Features:
    """What is seen of the speech and of those beside it: the same for all its passages."""
    speech = speeches[at]
    names = {
        "opens the session": at == 0,
        "near the end": at >= len(speeches) - _END,
        "ends the session": at == len(speeches) - 1,
        "summary": speech.is_summary,
        **{f"then {name}": is_there for name, is_there in _work(speech.after).items()},
        **{f"since {name}": is_there for name, is_there in _work(speech.before).items()},
    }
    if at:
        before = speeches[at - 1]
        tail = before.sentences[-_NEAR:]
        names["answers another"] = before.by != speech.by
        names["answers a question"] = any("question" in one.marks for one in tail)
        names["answers a list"] = sum(1 for one in before.sentences if one.number) > 1
        names["answers few words"] = len(before.stems) < _FEW
        names.update({f"answers {cue}": any(cue in one.cues for one in tail) for cue in ("maybe", "problem", "cause")})
        names.update(_opening("answered", before))
        near = (one for other in speeches[max(0, at - 2) : at] if other.by == "user" for one in other.sentences)
        names["after trouble"] = speech.by == "agent" and any("problem" in one.cues for one in near)
    if at + 1 < len(speeches):
        after = speeches[at + 1]
        head = after.sentences[:2]
        names["answered by another"] = after.by != speech.by
        names["answered with a question"] = any("question" in one.marks for one in head)
        names["answered with few words"] = len(after.stems) < _FEW
        names["answered with no"] = bool(head) and "negation" in head[0].cues
        names.update(
            {f"answered with {cue}": any(cue in one.cues for one in head) for cue in ("later", "decide", "problem")}
        )
        names.update(_opening("is answered", after))
        names["is accepted"] = speech.by == "agent" and after.by == "user" and after.agrees()
    return {
        **{name: 1.0 for name, is_there in names.items() if is_there},
        "place": at / max(1, len(speeches) - 1),
        "sentences": math.log1p(len(speech.sentences)),
    }


def _opening(name: str, speech: Speech) -> dict[str, bool]:
    opens = speech.sentences[0].opens if speech.sentences else frozenset()
    return {f"{name}: {cue}": cue in opens for cue in ("agree", "refuse")}


def _work(work: Work) -> dict[str, bool]:
    return {"called": work.calls > 0, "edited": work.edits > 0, "failed": work.failed}


def _shared(own: frozenset[str], speeches: Sequence[Speech], at: int) -> Features:
    before = speeches[at - 1].stems if at else frozenset()
    after = speeches[at + 1].stems if at + 1 < len(speeches) else frozenset()
    return {"shared with before": share(own, before), "shared with after": share(own, after)}
