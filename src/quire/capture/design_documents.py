"""Design documents: Markdown with a head that names a node and its status; their decisions, questions and constraints.

---
id: cache
title: The cache
status: decided
open_questions: []
---
## Decisions
### Decision: Write through
**Status:** decided
**Rationale:** Reads dominate.
## Open Questions
- How large may it grow?
- [x] Who clears it? The worker, every night.
## Implementation Notes
### Constraints
- Invalidation ends within 50 ms
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from itertools import islice

from msgspec import Struct

from quire.capture.front_matter import FrontMatter, read_front_matter, warn
from quire.capture.markdown import Section, fields_of, items_of, open_items, sections_of
from quire.files.digests import sha256
from quire.files.local_files import LocalFile, read_object
from quire.files.paths import escaping_part, passes_link, read_inside
from quire.layers.facts.content import normal_text
from quire.layers.facts.layout import FOLDER
from quire.model import limits
from quire.model.records import Problem
from quire.model.text import cut, one_line

FOLDERS = ("docs", "ai/docs")
STATUSES = (
    *("seed", "exploring", "resolved", "decided", "implementing", "implemented"),
    *("blocked", "deferred", "archived"),
)
_INGESTED = "ingested.json"
DOCUMENTS_MOST = 5_000
DOCUMENT_BYTES = 1024 * 1024
# Documents of other people, and very many.
_FOREIGN = "node_modules"
_STATUS_WORD = re.compile(r"[^\W\d_][\w-]*")
_PREFIX = "decision:"
_QUESTIONS = "open_questions"
_OPEN_PART = "open questions"
_ANSWERED_PARTS = ("resolved questions", "answered questions", "closed questions")
_ANSWER_FIELDS = ("answer", "answered", "resolution", "resolved", "decision", "decided")
_STRUCK = re.compile(r"~~(.+?)~~\s*(.*)$")
_MARK = r"(?:→|⇒|->|=>|[—–](?=\s)|\W*\b(?:answer(?:ed)?|resol(?:ved|ution)|deci(?:ded|sion))\**:)[\s*_]*"
_ANSWER_MARK = re.compile(rf"\s+{_MARK}", re.I)
_LEADING_MARK = re.compile(rf"(?:-\s+)?(?:{_MARK})?", re.I)
_ASKED = re.compile(r".*[?？](?=\W*\w)")
"""Up to the last question mark behind which something is said."""
_NONE = ("none", "no open questions", "no constraints", "n/a", "tbd")


class Decision(Struct, frozen=True):
    """One decision; `status` is empty where the document gives none."""

    title: str
    status: str
    rationale: str


class AnsweredQuestion(Struct, frozen=True):
    """A question that is open no longer, and what was found."""

    question: str
    answer: str


class DesignDocument(Struct, frozen=True, kw_only=True):
    """What a design document says that is worth remembering."""

    path: str
    sha256: str
    id: str
    title: str
    status: str
    open_questions: tuple[str, ...] = ()
    answers: tuple[AnsweredQuestion, ...] = ()
    decisions: tuple[Decision, ...] = ()
    constraints: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def knows_questions(self) -> bool:
        """Whether its open questions could be read: only then is one that is missing no longer open."""
        # A line of the head that is no field may have been part of one.
        return all(problem.field not in (None, _QUESTIONS) for problem in self.problems)


class DocumentScan(Struct, frozen=True):
    """The design documents of a project, by path, and every problem on the way."""

    documents: list[DesignDocument]
    problems: list[Problem]


# -- finding --------------------------------------------------------------------------------------


def find_documents(root: str) -> tuple[list[str], list[Problem]]:
    """The Markdown files that may be design documents, and what was left out though it might be one.

    Links and hidden names are passed over.
    """
    found: list[str] = []
    problems: list[Problem] = []
    for path, found_file in _markdown_files(root):
        if found_file.st_size > DOCUMENT_BYTES:
            problems.append(warn("DocumentUnread", f"It is larger than {DOCUMENT_BYTES:,} bytes.", path))
        elif len(found) == DOCUMENTS_MOST:
            said = f"This and the following files were not read: there are more than {DOCUMENTS_MOST:,} Markdown files."
            problems.append(warn("DocumentUnread", said, path, hint="Keep design documents in a folder of their own."))
            break
        else:
            found.append(path)
    return sorted(found), problems


def documents_stamp(root: str) -> str:
    """Another one where a Markdown file came, went or was written since; empty where there is none."""
    first = islice(_markdown_files(root), DOCUMENTS_MOST)
    files = [(path, found.st_size, found.st_mtime_ns) for path, found in first]
    return sha256(repr(files).encode()) if files else ""


def ingested(root: str) -> LocalFile:
    """The file that says which state of the documents was taken in last, on this machine."""
    return read_object(root, FOLDER, _INGESTED)


def documents_wait(root: str) -> bool:
    """Whether a document may have been changed since the last ingest: a look at names, sizes and times."""
    return bool(ingested(root).fields.get("stamp", "") != documents_stamp(root))


def _markdown_files(root: str) -> Iterator[tuple[str, os.stat_result]]:
    """The Markdown files and what they are, always in the same order."""
    waiting = [top for top in reversed(FOLDERS) if not passes_link(root, top)]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(os.path.join(root, folder)) as entries:
                here = sorted(entries, key=lambda entry: entry.name, reverse=True)
        except OSError:
            continue
        for entry in reversed(here):
            path = f"{folder}/{entry.name}"
            if entry.name.endswith(".md") and _is_usable(path) and entry.is_file(follow_symlinks=False):
                with contextlib.suppress(FileNotFoundError):
                    yield path, entry.stat(follow_symlinks=False)
        folders = [entry.name for entry in here if entry.is_dir(follow_symlinks=False) and entry.name != _FOREIGN]
        waiting += [path for name in folders if _is_usable(path := f"{folder}/{name}")]


def _is_usable(path: str) -> bool:
    """Whether a fact can point to it: shown to everybody, written in every file."""
    name = path.rpartition("/")[2]
    return not name.startswith(".") and path.isprintable() and not escaping_part(path)


def scan_design_documents(root: str) -> DocumentScan:
    """Every design document of a project. What cannot be read is said and stops nothing."""
    documents: list[DesignDocument] = []
    paths, problems = find_documents(root)
    for path in paths:
        try:
            data = read_inside(root, path, DOCUMENT_BYTES)
        except OSError as error:
            said = f"It was not read: {(error.strerror or str(error)).lower()}."
            problems.append(warn("DocumentUnread", said, path))
            continue
        document = read_design_document(path, data)
        if document is not None:
            documents.append(document)
            problems += document.problems
        else:
            problems += _why_none(path, data)
    return DocumentScan(documents, problems)


def _why_none(path: str, data: bytes) -> list[Problem]:
    """Why a file that seems meant as a design document is none. An ordinary document is no problem."""
    if not re.match(rb"(?:\xef\xbb\xbf)?(?:---|\+\+\+)[ \t]*\r?\n(?s:.{0,4096}?)^id[ \t]*[:=]", data, re.M):
        return []
    try:
        head = read_front_matter(data.decode("utf-8"), path)
    except UnicodeDecodeError:
        return [warn("NotUtf8", "It is not UTF-8 text.", path, hint="Save it as UTF-8.")]
    return [problem for problem in head.problems if problem.field in (None, "id", "status")]


# -- reading --------------------------------------------------------------------------------------


def read_design_document(path: str, data: bytes) -> DesignDocument | None:
    """What a file says as a design document; None where its head has no `id` and `status`: it is an ordinary one."""
    try:
        head = read_front_matter(data.decode("utf-8"), path)
    except UnicodeDecodeError:
        return None
    name, status = head.text("id"), head.text("status").lower()
    if not name or not status:
        return None
    problems = list(head.problems)
    if status not in STATUSES:
        said = f"The status `{cut(status, 40)}` is not known."
        problems.append(warn("StatusUnknown", said, path, field="status", allowed=STATUSES))
    body = _Body()
    _read_body(head, path, body, problems)
    return DesignDocument(
        path=path,
        sha256=sha256(data),
        id=cut(name, limits.ID_CHARS),
        title=cut(head.text("title") or body.title or name, limits.TITLE_CHARS),
        status=status,
        open_questions=(asked := _once([*map(one_line, head.texts(_QUESTIONS)), *body.questions])),
        answers=_answers(body.answers, asked),
        decisions=tuple(body.decisions.values()),
        constraints=_once(body.constraints),
        problems=tuple(problems),
    )


class _Body(Struct):
    """What stands below the head."""

    title: str = ""
    questions: list[str] = []
    answers: list[AnsweredQuestion] = []
    constraints: list[str] = []
    decisions: dict[str, Decision] = {}
    """By title."""


def _read_body(head: FrontMatter, path: str, body: _Body, problems: list[Problem]) -> None:
    topic = part = ""
    for section in sections_of(head.body, head.body_line):
        name = section.title.lower().rstrip(":")
        if section.level == 1:
            topic, part = "", ""
            body.title = body.title or section.title
        elif section.level == 2:
            topic, part = name, ""
        elif section.level == 3:
            part = name
        if topic == "decisions" and section.level == 3:
            decision = _decision(section)
            if body.decisions.pop(decision.title, None):
                said = f"The decision `{cut(decision.title, 80)}` appears twice; the last one counts."
                problems.append(warn("DecisionTwice", said, path, section.line, "decisions", "Remove one."))
            if decision.title:
                body.decisions[decision.title] = decision
        elif topic in (_OPEN_PART, *_ANSWERED_PARTS):
            _read_questions(section, body, is_open=topic == _OPEN_PART)
        elif topic == "implementation notes" and part == "constraints":
            body.constraints += open_items(section.lines, nested=True)


def _read_questions(section: Section, body: _Body, *, is_open: bool) -> None:
    """Questions that are open, and those that have an answer: ticked, struck out, or below a heading that says so."""
    if section.level == 3:
        fields = fields_of(section.lines)
        said = next(filter(None, map(fields.get, _ANSWER_FIELDS)), "")
        if not is_open:
            said = said or fields[""].partition("\n\n")[0]
        if said:
            body.answers.append(AnsweredQuestion(section.title, one_line(said)))
            return
    for text, is_ticked in items_of(section.lines, nested=not is_open):
        struck = _STRUCK.match(text)
        if is_open and not is_ticked and (not struck or struck[2].endswith("?")):
            body.questions.append(text)
    for text, is_ticked in items_of(section.lines, nested=True):
        answer = _answer(text) if is_ticked or not is_open or _STRUCK.match(text) else None
        if answer:
            body.answers.append(answer)


def _answer(text: str) -> AnsweredQuestion | None:
    """A question and its answer on one line; None where it does not say both."""
    struck = _STRUCK.match(text)
    if struck:
        question, answer = struck[1], "" if struck[2].endswith("?") else struck[2]
    else:
        asked = _ASKED.match(text)
        mark = asked or _ANSWER_MARK.search(text)
        if mark is None:
            return None
        question, answer = text[: mark.end() if asked else mark.start()], text[mark.end() :]
    question, answer = question.strip(" -*_"), _LEADING_MARK.sub("", answer.strip(), count=1).strip(" *_")
    return AnsweredQuestion(question, answer) if question and answer else None


def _answers(found: list[AnsweredQuestion], asked: tuple[str, ...]) -> tuple[AnsweredQuestion, ...]:
    """The answers by their questions, the last one of each; not of what is still asked."""
    still = set(map(normal_text, asked))
    latest = {normal_text(item.question): item for item in found}
    return tuple(item for name, item in latest.items() if name and name not in still)


def _decision(section: Section) -> Decision:
    title = section.title
    if title.lower().startswith(_PREFIX):
        title = title[len(_PREFIX) :].strip()
    fields = fields_of(section.lines)
    status = _STATUS_WORD.search(fields.get("status", "").lower())
    # Without a field for it, the first paragraph is the reason.
    rationale = fields.get("rationale", fields[""].partition("\n\n")[0])
    return Decision(cut(title, limits.TITLE_CHARS), status.group() if status else "", one_line(rationale))


def _once(texts: list[str]) -> tuple[str, ...]:
    """Each text once, the first of those that say the same; what says that there is none is none."""
    found: dict[str, str] = {}
    for text in texts:
        name = normal_text(text)
        if name and name.strip("*_.() ") not in _NONE:
            found.setdefault(name, text)
    return tuple(found.values())
