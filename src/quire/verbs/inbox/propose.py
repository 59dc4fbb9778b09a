"""`memory inbox propose`: put one record into the inbox, for a person to decide on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import Meta

from quire.guard.admission import admit
from quire.inbox.proposals import TEXT_CHARS, By, Into, Proposal, ProposalEvidence, propose
from quire.model.errors import not_one_of
from quire.model.records import Problem
from quire.model.text import cut
from quire.model.times import timestamp
from quire.model.vocabulary import CREATABLE_KINDS
from quire.verbs.inbox.results import proposal_fields, proposal_lines
from quire.verbs.verb import Arguments, Lines, Option, Result, Tool, Verb, Word

if TYPE_CHECKING:
    from quire.project import Project

_KINDS = (*CREATABLE_KINDS, "fact", "preference")
Action = Literal["proposed", "known", "full"]


class Propose(Arguments, frozen=True, kw_only=True):
    kind: Annotated[str, Meta(description=f"One of {', '.join(_KINDS)}."), Word()]
    text: Annotated[str, Meta(min_length=1, max_length=TEXT_CHARS), Word(stdin="the text", only_dash=True)]
    why: Annotated[Annotated[str, Meta(max_length=TEXT_CHARS)] | None, Option(metavar="TEXT", help="The reason.")] = (
        None
    )
    anchors: Annotated[
        list[str],
        Option(name="--anchor", metavar="PATH", is_path=True, help="A file it is about. Can be repeated."),
    ] = []


class Proposed(Result, kw_only=True):
    proposal: Proposal
    action: Action
    """`proposed`; `known` where a record or a proposal says it already; `full` where the inbox has no room"""

    def is_incomplete(self) -> bool:
        return self.action == "full"

    def fields(self) -> dict[str, Any]:
        return {"action": self.action, "proposal": proposal_fields(self.proposal)}


def propose_record(project: Project, given: Propose) -> Proposed:
    """Propose one record. It stays in the inbox, and hooks send it to no agent, until a person accepts it.

    KIND is one of decision, gotcha, feature, question, fact and preference. The first line of TEXT becomes the title;
    `-` reads the text from standard input. A text that a record already has is not proposed again, and a rejected one
    is refused. `memory add` records something at once.
    """
    from quire.verbs.inbox.add import inbox_add
    from quire.verbs.inbox.edit import check_form

    project.ready()
    if given.kind not in _KINDS:
        hint = f"Use any of {', '.join(_KINDS)}."
        raise not_one_of(f"Unknown kind `{cut(given.kind, 40)}`.", "kind", _KINDS, hint)
    item, warnings = _proposal(project, given)
    check_form(project, item, item.fields)
    rejections = project.rejections()
    if rejections is not None:
        rejections.refuse({"text": item.text})
    done = inbox_add(project, [item])
    action: Action = "proposed" if done.added else "known" if done.known else "full"
    return Proposed(proposal=next(iter(done.added), item), action=action, warnings=[*warnings, *done.warnings])


def _proposal(project: Project, given: Propose) -> tuple[Proposal, list[Problem]]:
    from quire.verbs.graph.add import Add, entry_key, fact_content, node_fields

    text, warnings = admit(given.text.strip(), "text", most=TEXT_CHARS)
    why, more = admit(given.why.strip(), "why", most=TEXT_CHARS) if given.why else ("", [])
    as_added = Add(why=why or None, anchors=given.anchors)
    into: Into = "graph"
    whole = said = fact_content(as_added, text)
    fields: dict[str, Any]
    if given.kind == "fact":
        into, fields = "facts", {"section": "Architecture", "content": said, "tags": []}
    elif given.kind == "preference":
        into, fields = "profile", {"category": "user", "key": entry_key(text), "value": said, "tags": []}
    else:
        fields = node_fields(as_added, given.kind, text)
        whole = fields["body"] if fields["body"].startswith(fields["title"]) else f"{fields['title']}\n{fields['body']}"
    by: By = "user" if project.by_person else "agent"
    now = timestamp(project.world.now())
    evidence = ProposalEvidence(quote=cut(text, 400), by=by, at=now)
    item = propose(into, given.kind, whole, fields, origin=by, by=by, evidence=(evidence,), proposed_at=now)
    return item, [*warnings, *more]


def lines(done: Proposed) -> Lines:
    if done.action == "proposed":
        yield "Proposed. It is pending in `memory inbox` until a person accepts it."
    elif done.action == "known":
        yield "Known already: a record or a proposal says it."
    else:
        yield "Not proposed: the inbox is full."
    yield from proposal_lines(done.proposal)


VERB = Verb(
    takes=Propose,
    run=propose_record,
    lines=lines,
    writes=True,
    examples="""Examples:
  memory inbox propose decision "Invoices live in Postgres" --why "two workers write at once"
  memory inbox propose gotcha "Webhooks can arrive twice" --anchor src/pay.py
""",
    tool=Tool(
        title="Propose a record",
        says="Propose one decision (with why), gotcha, question, fact or preference, for a person to accept. Not for "
        "secrets or what the code says; what the user asked you to record: save_memory.",
    ),
)
