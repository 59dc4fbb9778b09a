"""Candidates for facts, from callers or design documents, and the text of the fact each would become."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, get_args

from msgspec import Struct

from quire.capture.design_documents import Decision, DesignDocument
from quire.files.paths import escaping_part
from quire.guard.hostile_text import find_hostile
from quire.layers.facts import layout
from quire.layers.facts.content import clean_content, normal_text
from quire.model import limits
from quire.model.errors import InputError, OutsideProject
from quire.model.text import cut, one_line, plain_newlines, trim

Kind = layout.LifecycleKind
Authority = Literal["explicit", "inferred"]
ArtifactKind = Literal["design-node", "openspec-spec", "openspec-baseline", "cleave-review", "document"]

QUESTION: Kind = "design-question"
SOURCE = "lifecycle:"
"""How the source of a fact begins that came this way; the kind follows."""
_DECIDED = ("decided", "accepted", "resolved", "implemented")
WITHDRAWN = ("rejected", "withdrawn", "superseded", "abandoned", "reversed")
"""Statuses of a decision that held once and does no more."""
_SETTLED = ("resolved", "decided", "implementing", "implemented")
_AT_REST = ("archived", "deferred")
# Each kind's words of workflow, which say nothing of the product.
_CHATTER: dict[str, tuple[str, ...]] = {
    "openspec-archive": ("proposal", "planning"),
    "cleave-outcome": ("intermediate", "reasoning"),
    "design-constraint": ("?",),
}
_SENTENCE_ENDS = (".", "!", "?", "…", ":", ";")
_POINTER = re.compile(r"(?=[^\s,#]*[./]\w)[^\s,#]+(?:, decision: [^\n]*|#[^\n]*)?")
_OPEN = re.compile(r"open \[(.*?)\]: (.*)", re.S)
_SHA256 = re.compile(r"sha256:[0-9a-f]{64}")
_SECTIONS = {name.lower(): name for name in layout.SECTIONS}
# What a candidate's keys may be called: ours first, then the names that other writers use.
_KEYS = {
    "kind": ("kind", "source_kind", "sourceKind"),
    "authority": ("authority",),
    "section": ("section",),
    "content": ("content",),
    "artifact": ("artifact", "artifact_ref", "artifactRef"),
    "supersedes": ("supersedes",),
    "session": ("session",),
}
_ARTIFACT_KEYS = {
    "kind": ("kind", "type"),
    "path": ("path",),
    "sub": ("sub", "sub_ref", "subRef"),
    "sha256": ("sha256",),
}


class Artifact(Struct, frozen=True):
    """Where a candidate stands: a file of the project, a part of it, and the digest the file had."""

    kind: ArtifactKind
    path: str
    sub: str = ""
    sha256: str = ""


class FactCandidate(Struct, frozen=True, kw_only=True):
    """One statement that may become a fact. Explicit: someone decided it. Inferred: it seems so."""

    kind: Kind
    authority: Authority
    section: str
    content: str
    artifact: Artifact | None = None
    supersedes: str | None = None
    """The fact that it is to replace."""
    session: str | None = None


# -- from a document ------------------------------------------------------------------------------


def candidates_of(document: DesignDocument) -> list[FactCandidate]:
    """A document's decisions, constraints, open questions and answers, in its order."""

    def said(kind: Kind, section: str, content: str, sub: str = "", by: Authority = "explicit") -> FactCandidate:
        artifact = Artifact("design-node", document.path, sub, document.sha256)
        return FactCandidate(kind=kind, authority=by, section=section, content=content, artifact=artifact)

    found = []
    for decision in document.decisions:
        authority = _authority(decision, document)
        if authority:
            content = f"{decision.title} — {decision.rationale}" if decision.rationale else decision.title
            found.append(said("design-decision", "Decisions", content, decision.title, authority))
    found += [said("design-constraint", "Constraints", text) for text in document.constraints]
    if has_live_questions(document):
        found += [said(QUESTION, layout.SPECS, f"OPEN [{document.id}]: {text}") for text in document.open_questions]
        for item in document.answers:
            content = f"ANSWERED [{document.id}]: {item.question} — {item.answer}"
            # Named as the open question is: one takes the place of the other.
            found.append(said(QUESTION, layout.SPECS, content, normal_text(item.question)))
    return found


def has_live_questions(document: DesignDocument) -> bool:
    """Whether the document's questions are asked: those of one at rest are left as they are."""
    return document.status not in _AT_REST


def _authority(decision: Decision, document: DesignDocument) -> Authority | None:
    if decision.status in _DECIDED:
        return "explicit"
    return "inferred" if not decision.status and document.status in _SETTLED else None


# -- the text of a fact ---------------------------------------------------------------------------


def is_chatter(candidate: FactCandidate) -> bool:
    """Whether it speaks of the work rather than of the product."""
    content = candidate.content.lower()
    return any(word in content for word in _CHATTER.get(candidate.kind, ()))


def source_of(candidate: FactCandidate) -> str:
    return SOURCE + candidate.kind


def evidence_of(artifact: Artifact) -> str:
    """The artifact's name among those who confirmed a fact."""
    return f"{artifact.path}#{artifact.sub}" if artifact.sub else artifact.path


def fact_text(candidate: FactCandidate) -> str:
    """The content with a pointer to its artifact, unless it names the file itself."""
    content, artifact = trim(candidate.content), candidate.artifact
    if artifact is None or (re.search(f"(?<![\\w./-]){re.escape(artifact.path)}(?![\\w/-])", content) is not None):
        return cut(content, layout.CONTENT_CHARS)
    pointer = f" {_pointer(candidate.kind, artifact)}"
    content = cut(content, layout.CONTENT_CHARS - len(pointer) - 1)
    return content + ("" if content.endswith(_SENTENCE_ENDS) else ".") + pointer


def _pointer(kind: str, artifact: Artifact) -> str:
    part = ""
    if artifact.sub and kind != QUESTION and artifact.kind != "cleave-review":
        part = f", decision: {artifact.sub}" if artifact.kind == "design-node" else f"#{artifact.sub}"
    return f"See {artifact.path}{part}"


def bare_text(content: str, kind: str = "", artifact: Artifact | None = None) -> str:
    """What a fact says apart from its pointer, in the form in which two texts are compared."""
    text = trim(content)
    pointer = f" {_pointer(kind, artifact)}" if artifact else ""
    if pointer and text.endswith(pointer):
        text = text.removesuffix(pointer)
    else:
        before, _, after = text.rpartition(" See ")
        if before and _POINTER.fullmatch(after):
            text = before
    return normal_text(text).rstrip(" .") or normal_text(content)


def open_question(bare: str) -> tuple[str, str] | None:
    """The node and the question of a bare text that keeps a question open."""
    found = _OPEN.fullmatch(bare)
    return (found[1], found[2]) if found else None


# -- from a caller --------------------------------------------------------------------------------


def parse_candidate(value: Any) -> FactCandidate:
    """A candidate as decoded JSON gives it, by our names or those of other writers."""
    fields = _fields(value, _KEYS, "")
    content = clean_content(plain_newlines(_string(fields, "content", layout.CONTENT_CHARS)))
    if not content:
        raise _wrong("content", "is empty", "Give one or two sentences to remember.")
    if isinstance(fields.get("section"), str):
        fields["section"] = _SECTIONS.get(one_line(fields["section"]).lower(), fields["section"])
    return FactCandidate(
        kind=_choice(fields, "kind", get_args(Kind)),
        authority=_choice(fields, "authority", get_args(Authority)),
        section=_choice(fields, "section", layout.SECTIONS),
        content=content,
        artifact=_artifact(fields["artifact"]) if fields.get("artifact") is not None else None,
        supersedes=_optional(fields, "supersedes", layout.ID_CHARS),
        session=_optional(fields, "session", limits.ID_CHARS),
    )


def _artifact(value: Any) -> Artifact:
    fields = _fields(value, _ARTIFACT_KEYS, "artifact.")
    path = _string(fields, "path", limits.ANCHOR_CHARS, "artifact.")
    reason = escaping_part(path) or (None if path.isprintable() else "holds characters that cannot be shown")
    if reason:
        raise OutsideProject(
            f"`artifact.path` {reason}.",
            hint="Give the path relative to the project's root, with `/` between its parts.",
            details={"field": "artifact.path"},
        )
    digest = _optional(fields, "sha256", 71, "artifact.") or ""
    if digest and not _SHA256.fullmatch(digest := f"sha256:{digest.removeprefix('sha256:').lower()}"):
        raise _wrong("artifact.sha256", "is not a SHA-256 digest", "Give 64 hexadecimal digits, or leave it out.")
    sub = one_line(_optional(fields, "sub", limits.TITLE_CHARS, "artifact.") or "")
    return Artifact(_choice(fields, "kind", get_args(ArtifactKind), "artifact."), path, sub, digest)


def _fields(value: Any, keys: Mapping[str, tuple[str, ...]], place: str) -> dict[str, Any]:
    """The values by our names; what is null is not given."""
    where = place.rstrip(".") or "candidate"
    if not isinstance(value, dict):
        raise _wrong(where, f"must be an object, not {type(value).__name__}", "Send one object.", tuple(keys))
    ours = {other: name for name, others in keys.items() for other in others}
    found: dict[str, Any] = {}
    for key, given in value.items():
        name = ours.get(key)
        if name is None:
            raise _wrong(f"{place}{cut(str(key), 40)}", "is not a known key", f"Known: {', '.join(keys)}.", tuple(keys))
        if given is not None:
            if found.get(name, given) != given:
                raise _wrong(f"{place}{name}", "is given twice with different values", f"Give `{name}` once.")
            found[name] = given
    return found


def _string(fields: Mapping[str, Any], name: str, most: int, place: str = "") -> str:
    text = fields.get(name)
    if not isinstance(text, str):
        missing = "is missing" if text is None else f"must be text, not {type(text).__name__}"
        raise _wrong(f"{place}{name}", missing, f"Give `{name}` as text.")
    if len(text) > most:
        raise _wrong(f"{place}{name}", f"has {len(text):,} characters; the limit is {most:,}", "Shorten it.")
    hostile = find_hostile(text)
    if hostile:
        raise _wrong(f"{place}{name}", f"holds {hostile[0].shown}, which is not allowed", "Remove the character.")
    return text


def _optional(fields: Mapping[str, Any], name: str, most: int, place: str = "") -> str | None:
    return trim(_string(fields, name, most, place)) or None if name in fields else None


def _choice(fields: Mapping[str, Any], name: str, allowed: tuple[str, ...], place: str = "") -> Any:
    given = fields.get(name)
    if given in allowed:
        return given
    wrong = f"is {type(given).__name__}, not text"
    if given is None or isinstance(given, str):
        wrong = f"is `{cut(given, 40)}`" if given else "is missing"
    raise _wrong(f"{place}{name}", wrong, f"Use one of {', '.join(allowed)}.", allowed)


def _wrong(field: str, what: str, hint: str, allowed: tuple[str, ...] = ()) -> InputError:
    details: dict[str, Any] = {"field": field, **({"allowed": list(allowed)} if allowed else {})}
    return InputError(f"`{field}` {what}.", hint=hint, details=details)
