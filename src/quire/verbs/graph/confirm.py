"""`memory confirm`, the tool `confirm_memory`: confirm records after a look at the code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta

from quire.model.errors import InputError, NotFound, UsageError
from quire.model.refs import graph_id
from quire.model.verdicts import Verdict
from quire.model.vocabulary import LIVE_STATUSES, Actor
from quire.verbs.graph.plain_problems import in_words
from quire.verbs.graph.save import FROM_TOOL, Who, save_nodes, saved_fields
from quire.verbs.plain import verdict_fields
from quire.verbs.verb import Arguments, Lines, Option, Output, Recalled, Result, Tool, Verb, Word

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.layers.graph.save import Saved
    from quire.project import Project
    from quire.upkeep.views.text_diff import TextDiff

_DIFF_LINES = 60

Ref = Annotated[str, Meta(min_length=1, max_length=512)]


class Confirm(Arguments, frozen=True, kw_only=True):
    ids: Annotated[list[Ref], Meta(max_length=200), Word(name="refs", required=False)] = []
    commit: Annotated[
        Annotated[str, Meta(min_length=4, max_length=200)] | None,
        Option(metavar="SHA", help="All records that only this commit made out of date, such as a formatter run."),
    ] = None
    reason: Annotated[
        Annotated[str, Meta(min_length=1, max_length=2000, description="what you looked at")] | None,
        Option(metavar="TEXT", help="What you looked at, for the log."),
    ] = None
    dry_run: Annotated[bool, Option(help="Show each record beside the change in its code, write nothing.")] = False
    yes: Annotated[bool, Option(help="Confirm without showing and asking.", tool=False)] = False
    actor: Who = "agent"


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """A record beside what changed in its code."""

    ref: str
    title: str
    text: str
    origin: str
    verdict: str
    changes: list[str]
    """For each anchor that changed its diff, as lines."""

    @property
    def said(self) -> str:
        """The title, and the text where it says more than that."""
        is_title = self.text.strip(" \n.") == self.title.strip(" .")
        return self.title if is_title else f"{self.title}\n{self.text}".rstrip()


class ConfirmedRecords(Result, kw_only=True):
    saved: Saved
    before: dict[str, Verdict]
    """The verdict that each record had."""
    looks: list[Look] = []

    def fields(self) -> dict[str, Any]:
        before = {ref: verdict_fields(verdict) for ref, verdict in self.before.items()}
        return {**saved_fields(self.saved), "before": before, **({"looks": self.looks} if self.looks else {})}


def confirm(project: Project, given: Confirm) -> ConfirmedRecords:
    """Mark records as still correct after you looked at the code.

    The record is then up to date: from now on it is compared with the current code, committed or not. On a terminal
    the command shows each record beside the change in its code and asks. To change a record, save it instead.
    """
    named = [_meant(project, ref) for ref in given.ids]
    refs = [*named, *(changed_by(project, given.commit) if given.commit else ())]
    if not refs:
        if given.commit:
            raise NotFound(
                f"The commit `{given.commit}` alone made no record out of date.",
                hint="`memory sync --all` lists what is out of date, and why.",
            )
        raise UsageError(
            "Name the records, or a commit with --commit.",
            hint="`memory sync` lists what is out of date.",
            details={"field": "ids"},
        )
    try:
        done = confirm_nodes(project, refs, reason=given.reason, actor=given.actor, dry_run=given.dry_run)
    except InputError as error:
        raise in_words(error, {"reason": "--reason"}) from None
    if given.dry_run:
        done.looks = looks_at(project, done.before)
    return done


def _meant(project: Project, ref: str) -> str:
    """A slug alone is the one record that has it."""
    if any(mark in ref for mark in ".:"):
        return ref
    from quire.layers.graph.inspect import node_meant

    project.ready()
    return node_meant(project.graph, ref.strip())


def changed_by(project: Project, commit: str) -> list[str]:
    """The live records that this commit alone made out of date."""
    from quire.files.git_history import resolve_commit
    from quire.upkeep.explain_change import is_changed_only_by
    from quire.upkeep.verdicts import Verdicts

    project.ready()
    found = resolve_commit(project.git, commit)
    if found is None:
        raise NotFound(f"There is no commit `{commit}` in this clone.", hint="`git log --oneline` lists the commits.")

    def work(index: Index) -> list[str]:
        records = [record for record in index.records("graph", statuses=LIVE_STATUSES) if record.anchors]
        verdicts = Verdicts(project.root, project.git, index)(records)
        return sorted(ref for ref, verdict in verdicts.items() if is_changed_only_by(project.git, verdict, found))

    return project.with_index(work)


def looks_at(project: Project, before: Mapping[str, Verdict]) -> list[Look]:
    """Each record beside what changed in its code."""
    from quire.layers.graph.source import node_record
    from quire.upkeep.explain_change import explain_changes
    from quire.upkeep.views.anchor_diff import anchor_diff

    looks = []
    for ref, verdict in before.items():
        node = project.graph.find_node(ref)
        if node is None:
            continue
        record = node_record(node)
        since = verdict.since or record.commit
        said = {one.anchor: one.line() for one in explain_changes(project.root, project.git, verdict) if one.says_more}
        diffs = [
            (said.get(anchor.anchor, ""), anchor_diff(project.root, project.git, record, anchor.anchor, since))
            for anchor in verdict.anchors
            if anchor.verdict == "changed"
        ]
        looks.append(
            Look(
                ref=ref,
                title=record.title,
                text=record.text,
                origin=record.origin,
                verdict=verdict.verdict,
                changes=[line for explained, diff in diffs for line in _diff_lines(diff, explained)],
            )
        )
    return looks


def _diff_lines(diff: TextDiff, explained: str) -> Iterator[str]:
    yield diff.title
    yield from filter(None, [explained])
    shown = [f"{sign}{text}" for file in diff.files for hunk in file.hunks for sign, text in hunk.lines]
    yield from shown[:_DIFF_LINES]
    if len(shown) > _DIFF_LINES or diff.cut:
        yield "…"


def confirm_nodes(
    project: Project,
    refs: Sequence[str],
    *,
    reason: str | None = None,
    actor: Actor = "agent",
    dry_run: bool = False,
) -> ConfirmedRecords:
    """Seal these nodes against the code as it is now."""
    project.ready()
    from quire.layers.graph.source import node_record
    from quire.upkeep.verdicts import Verdicts

    ids = [graph_id(ref) for ref in dict.fromkeys(refs)]
    # An unknown one is for the save to say, together with everything else that is wrong.
    nodes = [node for ref in ids if (node := project.graph.find_node(ref))]
    before = Verdicts(project.root, project.git)(list(map(node_record, nodes)))
    noted = {"reason": reason} if reason and reason.strip() else {}
    intent = {"task": "confirm records", "confirm": [{"id": ref, **noted} for ref in ids]}
    saved = save_nodes(project, intent, actor=actor, dry_run=dry_run)
    return ConfirmedRecords(saved=saved, before=before, warnings=saved.warnings)


def lines(done: ConfirmedRecords) -> Lines:
    for ref in done.saved.memory_confirmed:
        was = done.before[ref]
        note = f" (was {was.verdict}{f': {was.because}' if was.because else ''})"
        yield f"{'Would confirm' if done.saved.dry_run else 'Confirmed'}: {ref}{note}"
    for look in done.looks:
        yield Output(text="")
        yield Recalled(text=look.said, ref=look.ref, origin=look.origin or "graph", verdict=look.verdict)
        yield Recalled(text="\n".join(look.changes), ref=look.ref, origin="code", verdict=look.verdict)
    for ref in done.saved.unchanged:
        yield f"Unchanged: {ref}"


VERB = Verb(
    takes=Confirm,
    run=confirm,
    lines=lines,
    writes=True,
    examples="""Examples:
  memory confirm feature.retry-queue
  memory confirm --commit 1f2e3d4 --reason "only formatting"
  memory confirm decision.one-queue gotcha.late-acks --reason "read queue.ts after the rewrite"
""",
    tool=Tool(
        title="Confirm records",
        says="Mark records as still correct although their code changed. Use dry_run first: it shows each record "
        "beside the change in its code. Correct wrong records with save_memory instead.",
        needs=("reason",),
        given=FROM_TOOL,
    ),
)
