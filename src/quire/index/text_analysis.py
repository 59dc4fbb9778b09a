"""Split text and questions into words: prose, identifiers, paths, scripts without spaces.

The tokenizer of the full-text table folds case and accents and stems (`porter unicode61`). What it cannot know is
done here first: names are opened at their joints, and text in scripts without spaces becomes pairs of characters.
"""

from __future__ import annotations

import itertools
import re
import unicodedata

from quire.model.records import Record
from quire.model.text import words

_WHOLE_WORDS = 100
"""A text of up to this many words is one passage."""
_PASSAGE_WORDS = 50
_PASSAGES = 24

TOKENIZER = "porter unicode61 remove_diacritics 2"

_PHRASES = 8
_HUMP = re.compile(r"[a-z0-9][A-Z]|[A-Z][A-Z][a-z]")
_NAME = re.compile(r"[A-Za-z0-9]*(?:[a-z0-9][A-Z]|[A-Z][A-Z][a-z])[A-Za-z0-9]*")
_JOINTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_UNSPACED = r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af]+"
_WORD = re.compile(r"[^\W_]+")
_PLAIN = re.compile(r"[a-z]{3,}")
_STOP_WORDS = words(
    "a about above after again against all am an and any are as at be because been before being below between "
    "both but by can could did do does doing down during each few for from further had has have having he her "
    "here hers him his how i if in into is it its itself just me more most my no nor not of off on once only or "
    "other our out over own same she should so some such than that the their them then there these they this "
    "those through to too under until up very was we were what when where which while who whom why will with "
    "would you your"
)


def index_text(text: str) -> str:
    """The text as the full-text table gets it: `retryQueue` and `retry_queue` become two words."""
    if not text.isascii():
        # An accent or a syllable may be one character or several (macOS writes several); width means nothing.
        text = unicodedata.normalize("NFKC", text)
    opened = (_NAME.sub(_opened, text) if _HUMP.search(text) else text).replace("_", " ")
    return opened if opened.isascii() else re.sub(_UNSPACED, _pairs, opened)


def question_words(question: str, limit: int = 64) -> list[str]:
    """The words of a question that carry meaning, each once."""
    words = dict.fromkeys(word.lower() for word in _WORD.findall(index_text(question)))
    return [word for word in words if word not in _STOP_WORDS][:limit]


def plain_words(text: str, limit: int) -> list[str]:
    """The English words of a text that carry meaning, each once: a quick look, for comparing words by their meaning."""
    return [word for word in dict.fromkeys(_PLAIN.findall(text.lower())[:limit]) if word not in _STOP_WORDS]


def all_words(text: str) -> list[str]:
    """Every word of a text, each once."""
    return list(dict.fromkeys(word.lower() for word in _WORD.findall(index_text(text))))


def match_any(words: list[str]) -> str:
    """A full-text expression for any of these words; quoted, so that nothing in them is an operator."""
    return " OR ".join(f'"{word}"' for word in words)


def match_all(words: list[str]) -> str:
    """A full-text expression for all of these words, wherever they stand."""
    return " AND ".join(f'"{word}"' for word in words)


def phrases(question: str, words: set[str]) -> list[str]:
    """Pairs of neighbours in the question, both among `words`, as full-text phrases."""
    found = [word.lower() for word in _WORD.findall(index_text(question))]
    pairs = [f'"{first} {second}"' for first, second in itertools.pairwise(found) if {first, second} <= words]
    return list(dict.fromkeys(pairs))[:_PHRASES]


def _opened(name: re.Match[str]) -> str:
    """A name at its joints and as it stands: `GitHub` is found as two words and as one."""
    return f"{_JOINTS.sub(' ', name.group(0))} {name.group(0)}"


def _pairs(match: re.Match[str]) -> str:
    run = match.group(0)
    cut = " ".join(run[at : at + 2] for at in range(len(run) - 1)) if len(run) > 1 else run
    return f" {cut} "


def searched_fields(record: Record) -> tuple[str, str, str]:
    """Title, names (ref, tags, anchors) and body, prepared for the full-text table."""
    names = " ".join([record.ref, *record.tags, *record.anchors])
    return index_text(_own_title(record)), index_text(names), index_text(record.text)


def passages(record: Record) -> list[str]:
    """The text in pieces that one vector can stand for; the title belongs to the first."""
    words = f"{_own_title(record)} {record.text}".split()
    if len(words) <= _WHOLE_WORDS:
        return [" ".join(words)]
    number = min(_PASSAGES, -(-len(words) // _PASSAGE_WORDS))
    size = -(-len(words) // number)
    return [" ".join(words[at : at + size]) for at in range(0, len(words), size)]


def _own_title(record: Record) -> str:
    """The title, unless it only repeats how the text begins: nothing is said twice for having no name."""
    return "" if record.text.startswith(record.title.rstrip("…")) else record.title
