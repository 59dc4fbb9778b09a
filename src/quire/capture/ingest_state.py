"""Index the facts that exist or are planned during an ingest: by subject, by text and by near-identical text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from msgspec import Struct

from quire.capture.candidates import (
    QUESTION,
    SOURCE,
    Artifact,
    FactCandidate,
    bare_text,
    evidence_of,
    fact_text,
    open_question,
    source_of,
)
from quire.layers.facts import layout

Key = tuple[str, str, str, str]
"""Kind, section, path, and the part of the file or else the text: of one key there is one live fact."""

_LIVE = (layout.ACTIVE, layout.DORMANT)
_MARKS = str.maketrans("", "", ".,;:")
_EMPTY_WORDS = frozenset(["the", "a", "an", "is", "are", "was", "were"])
_NEGATIONS = frozenset(["not", "no", "never", "none", "nor", "neither", "without", "cannot"])
_FEW = 4
"""Of fewer words than this, any longer text may have them all by chance."""


class HeldFact(Struct, frozen=True):
    """A fact that the store knows, in whatever status."""

    id: str
    section: str
    content: str
    status: str
    source: str
    artifact: Artifact | None = None
    evidence: tuple[str, ...] = ()
    """The names of those who confirmed it."""
    reason: str = ""
    """Why it was put away."""


class HeldEntry(Struct, eq=False):
    """A held fact, or one that the plan makes, and what the plan does to it."""

    held: HeldFact
    status: str
    text: str
    key: Key | None
    words: frozenset[str]
    decisive: frozenset[str]
    voices: list[str] = []
    """Who confirms it in this plan."""
    leaving: str = ""
    """The document in which the question that it keeps is no longer open."""

    @property
    def all_voices(self) -> tuple[str, ...]:
        """Everybody who says it, by name."""
        own = (evidence_of(self.held.artifact),) if self.held.artifact else ()
        return (*own, *self.held.evidence, *self.voices)

    @property
    def is_live(self) -> bool:
        return self.status in _LIVE

    @property
    def is_pending(self) -> bool:
        return self.status == layout.PENDING

    @property
    def is_new(self) -> bool:
        return not self.held.id


class Prospect(Struct, frozen=True, eq=False):
    """A candidate and the fact that it would be."""

    candidate: FactCandidate
    content: str
    text: str
    key: Key
    words: frozenset[str]
    decisive: frozenset[str]

    @property
    def path(self) -> str:
        return self.key[2]


def make_prospect(candidate: FactCandidate) -> Prospect:
    content = fact_text(candidate)
    text = bare_text(content, candidate.kind, candidate.artifact)
    key = _key(candidate.kind, candidate.section, text, candidate.artifact)
    return Prospect(candidate, content, text, key, words_of(candidate.content), _decisive(text))


def _key(kind: str, section: str, text: str, artifact: Artifact | None) -> Key:
    asked = open_question(text) if kind == QUESTION else None
    name = asked[1] if asked else artifact.sub if artifact else ""
    return (kind, section, artifact.path if artifact else "", name or text)


def words_of(text: str) -> frozenset[str]:
    """The words that two texts are compared by."""
    return frozenset(text.lower().translate(_MARKS).split()) - _EMPTY_WORDS


def _decisive(text: str) -> frozenset[str]:
    """The words without which a text says something else: numbers and negations."""
    return frozenset(
        word
        for word in words_of(text)
        if word in _NEGATIONS or word.endswith(("n't", "n’t")) or any(map(str.isdigit, word))
    )


class Ledger:
    """Every fact that matters to a plan. The order in which they were given is no matter."""

    def __init__(self, held: Iterable[HeldFact]) -> None:
        self.entries: list[HeldEntry] = []
        self.by_id: dict[str, HeldEntry] = {}
        self._by_key: dict[Key, list[HeldEntry]] = {}
        self._by_text: dict[tuple[str, str], list[HeldEntry]] = {}
        self._by_word: dict[tuple[str, str], list[int]] = {}
        self._sizes: list[int] = []
        for fact in sorted(held, key=lambda fact: fact.id):
            self.by_id[fact.id] = self._add(fact)

    def make(self, prospect: Prospect, status: str) -> HeldEntry:
        """The fact that a candidate becomes; it has no id yet."""
        candidate = prospect.candidate
        return self._add(
            HeldFact("", candidate.section, prospect.content, status, source_of(candidate), candidate.artifact)
        )

    def _add(self, fact: HeldFact) -> HeldEntry:
        ours = fact.source.startswith(SOURCE)
        kind = fact.source.removeprefix(SOURCE) if ours else ""
        text = bare_text(fact.content, kind, fact.artifact)
        key = _key(kind, fact.section, text, fact.artifact) if ours else None
        entry = HeldEntry(fact, fact.status, text, key, words_of(fact.content), _decisive(text))
        if key:
            self._by_key.setdefault(key, []).append(entry)
        if entry.is_live or entry.is_pending:
            for word in entry.words:
                self._by_word.setdefault((fact.section, word), []).append(len(self.entries))
        self._by_text.setdefault((fact.section, text), []).append(entry)
        self._sizes.append(len(entry.words))
        self.entries.append(entry)
        return entry

    def about(self, prospect: Prospect) -> list[HeldEntry]:
        """The facts of the same key, live ones first."""
        return sorted(self._by_key.get(prospect.key, ()), key=lambda entry: not entry.is_live)

    def alike(self, prospect: Prospect, wanted: Callable[[HeldEntry], bool]) -> list[HeldEntry]:
        """The facts of the section that say the same, the very same text first."""
        shared: Counter[int] = Counter()
        for word in prospect.words:
            shared.update(self._by_word.get((prospect.candidate.section, word), ()))
        sizes, size = self._sizes, len(prospect.words)
        near = [at for at, count in shared.items() if count * 10 > (size if size < sizes[at] else sizes[at]) * 9]
        alike = [entry for at in sorted(near) if _decides_the_same(prospect, entry := self.entries[at])]
        equal = self.saying(prospect)
        return [entry for entry in [*equal, *(entry for entry in alike if entry not in equal)] if wanted(entry)]

    def saying(self, prospect: Prospect) -> list[HeldEntry]:
        """The facts of the section with the very same text."""
        return list(self._by_text.get((prospect.candidate.section, prospect.text), ()))


def _decides_the_same(prospect: Prospect, entry: HeldEntry) -> bool:
    return min(len(prospect.words), len(entry.words)) >= _FEW and prospect.decisive == entry.decisive
