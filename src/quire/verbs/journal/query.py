"""`memory journal query`, the tool `journal_query`: answer a question from the journal."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta

from quire.layers.journal.layout import ALL, FOLDER, LOCAL_PROVIDER, OUTPUTS, STATE
from quire.layers.journal.store import load_config
from quire.model import limits
from quire.model.errors import InputError, QuireError, UnsupportedVersion
from quire.model.records import Problem
from quire.model.text import one_line
from quire.project import Project
from quire.verbs.journal.journal_lines import told
from quire.verbs.journal.journal_state import ask_model, provider_name, read_journal
from quire.verbs.journal.options import Archived, Provider
from quire.verbs.plain import json_line, plain
from quire.verbs.verb import Arguments, Lines, Option, Output, Result, Tool, Verb, Word

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.retrieval.journal.answer import JournalAnswer

_SCOPES = ("state", "history", ALL)


class JournalQuery(Arguments, frozen=True, kw_only=True):
    question: Annotated[str, Meta(min_length=1, max_length=4000), Word(joined=True)]
    scope: Annotated[
        Literal["state", "history", "all"],
        Meta(description="state: the memory and its earlier states; history: sessions"),
        Option(
            metavar="SCOPE",
            choices=_SCOPES,
            show_default=True,
            help="Where to search: the memory and its earlier states (state), sessions (history), or all.",
        ),
    ] = "all"
    output: Annotated[
        Literal["text", "json"] | None,
        Meta(description="has no effect: the answer is always both"),
        Option(
            metavar="FORMAT",
            choices=OUTPUTS,
            help="text, or json for the answer alone; the default is in the settings.",
            tool=False,
        ),
    ] = None
    archived: Archived = False
    provider: Provider = None


class JournalAnswered(Result, kw_only=True):
    NOT_IN_JSON: ClassVar[tuple[str, ...]] = ("output",)
    mode: str
    answer: str
    why: str
    citations: list[dict[str, Any]]
    """Each result with its ref."""
    sufficient: bool
    output: str = "text"

    def tool_fields(self) -> dict[str, Any]:
        from quire.guard.effects import flags_of, words_of

        cited = []
        for row in self.citations:
            flags = sorted(flags_of(row["summary"]))
            words = words_of(flags) if flags else ()
            flagged = {"flags": flags, **({"flag_words": words} if words else {})} if flags else {}
            cited.append({"ref": row["ref"], "origin": row["sourceType"], **row, **flagged})
        return {**plain(self), "citations": cited}


def journal_query(project: Project, given: JournalQuery) -> JournalAnswered:
    """Ask the journal, in your own words.

    Ask how something works, what changed, what comes next, or about known traps. The answer quotes the journal with
    its sources, or says that the evidence is not enough. Needs no model; --provider lets a model word the answer.
    """
    found = _answer(project, given)
    return JournalAnswered(
        mode=found.mode,
        answer=found.answer,
        why=found.why,
        citations=[msgspec.to_builtins(item) for item in found.citations],
        sufficient=found.sufficient,
        output=given.output or _usual_output(project),
        warnings=list(found.warnings),
    )


def _answer(project: Project, given: JournalQuery) -> JournalAnswer:
    from quire.retrieval.journal.answer import answer_journal

    question = given.question
    if not question.strip():
        raise InputError("The question is empty.", hint='Give a question: `memory journal query "what changed?"`.')
    if len(question) > limits.QUESTION_CHARS:
        question = question.strip()[: limits.QUESTION_CHARS]
    project.recover()
    if not os.path.isfile(os.path.join(project.root, FOLDER, STATE)):
        read_journal(project)  # which says what is missing
    name = provider_name(given.provider)

    def ask(index: Index) -> JournalAnswer:
        found = answer_journal(index, question, scope=given.scope, archived=given.archived, now=project.world.now())
        return msgspec.structs.replace(found, warnings=tuple(_unread(index)))

    found = project.with_index(ask)
    if name == LOCAL_PROVIDER or not found.sufficient:
        return found
    return _in_words_of_model(project, question, given.scope, found, name)


def _unread(index: Index) -> Iterator[Problem]:
    """What of the journal could not be read; of a state of another version nothing is reported at all."""
    for layer, path, code, message in index.problems():
        if layer == "journal" and code == UnsupportedVersion.code:
            raise UnsupportedVersion(message, hint="Use a program of that version, or `memory journal init`.")
        if layer == "journal":
            hint = "`memory journal validate` says what is wrong."
            yield Problem(code=code, severity="warning", path=f"{FOLDER}/{path}", message=message, hint=hint)


def _in_words_of_model(
    project: Project, question: str, scope: str, found: JournalAnswer, provider: str
) -> JournalAnswer:
    """A model's words on the evidence that was found; what it cites must be among it."""
    from quire.capture.providers.requests import query_task
    from quire.retrieval.journal.answer import cited_from, shortlist_value

    task = query_task(
        question=question,
        mode=found.mode,
        scope=scope,
        instructions=read_journal(project).config.instructions[found.mode],
        shortlist=shortlist_value(found),
    )
    answer = ask_model(project, task, provider)
    cited = cited_from(found, [(item["sourceType"], item["sourceId"]) for item in answer.value["citations"]])
    return msgspec.structs.replace(
        found, answer=answer.value["answer"], why=answer.value["why"], citations=cited or found.citations
    )


def _usual_output(project: Project) -> str:
    """What the settings say; settings that cannot be read keep nobody from an answer."""
    try:
        return load_config(project.root).default_output
    except QuireError:
        return "text"


def lines(found: JournalAnswered) -> Lines:
    if found.output == "json":
        cited = [{name: item for name, item in row.items() if name != "ref"} for row in found.citations]
        fields = {"mode": found.mode, "answer": found.answer, "why": found.why, "citations": cited}
        yield Output(text=msgspec.json.format(json_line(fields), indent=2))
        return
    yield "Answer:"
    yield told(found.answer)
    yield ""
    yield f"Mode: {found.mode}"
    yield ""
    yield "Why this answer:"
    yield told(found.why)
    yield ""
    yield "Citations:"
    for row in found.citations:
        page = f" -> {row['projectionPath']}" if row["projectionPath"] else ""
        place = f"[{row['sourceType']}] {row['sourceId']} {row['pathOrSection']}"
        yield told(f"- {place}: {one_line(row['summary'])}{page}", ref=row["ref"])
    if not found.citations:
        yield "- none"


VERB = Verb(
    takes=JournalQuery,
    run=journal_query,
    lines=lines,
    examples="""Examples:
  memory journal query "what changed since Monday?"
  memory journal query what should I do next --scope state
  memory journal query "which traps does the cache have?" --output json
""",
    tool=Tool(
        title="Ask the journal",
        says="Answer a question from the journal alone: what changed (since a day), what comes next, known traps, "
        "what a session found. Quotes with refs, or says that the evidence is not enough. For decisions and facts of "
        "the product use query_memory.",
        gives={"mode": "string", "answer": "string", "why": "string", "citations": "array"},
    ),
)
