"""`memory review`: what a change means for the records, for people and for forges."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from quire.files.disk import append
from quire.model.errors import InputError, InvalidConfig, NotInitialized, NotReady, StorageFailed, UsageError
from quire.model.text import counted, one_line
from quire.project import Project
from quire.upkeep.change_set import span_to_review
from quire.upkeep.review.documents import code_quality_of, rdjsonl_of, sarif_of
from quire.upkeep.review.engine import review_change
from quire.upkeep.review.findings import CODES, Review, ReviewFinding
from quire.upkeep.review.github import annotations_of
from quire.upkeep.review.markdown import markdown_of
from quire.verbs.ask.answers import Branch
from quire.verbs.plain import json_line, plain
from quire.verbs.verb import Arguments, Lines, Option, Output, Recalled, Result, Style, Styled, Verb, Word

FORMATS = ("text", "markdown", "github", "sarif", "gitlab", "rdjsonl", "json")
_FAIL_ON = ("note", "warn", "M101", "M201", "M202", "M203", "M204", "M301", "M302", "M303", "M401", "M402", "M403")
_NEARBY = 10
_SUMMARY = "GITHUB_STEP_SUMMARY"
_STYLES: dict[str, Style] = {"block": "red", "warn": "yellow", "note": "dim"}


class ReviewArguments(Arguments, frozen=True, kw_only=True):
    span: Annotated[Annotated[str, Meta(max_length=500)] | None, Word(name="range", required=False, is_path=True)] = (
        None
    )
    staged: Annotated[bool, Option(help="Review what is staged, against the last commit.")] = False
    branch: Branch = None
    output_format: Annotated[
        str,
        Option(
            name="--format",
            metavar="FORMAT",
            choices=FORMATS,
            help="The form of the report.",
            show_default=True,
        ),
    ] = "text"
    fail_on: Annotated[
        list[str],
        Option(
            metavar="CODES",
            help="Also fail on these codes or levels: note, warn.",
            commas=True,
            choices=_FAIL_ON,
        ),
    ] = []


class Reviewed(Result, kw_only=True):
    found: Review
    output_format: str
    root: str

    def fields(self) -> dict[str, Any]:
        found = msgspec.structs.asdict(self.found)
        del found["warnings"]
        findings = [
            {**msgspec.structs.asdict(finding), "fingerprint": finding.fingerprint} for finding in self.found.findings
        ]
        return {**found, "outcome": self.found.outcome, "findings": findings, "counts": self.found.counts()}

    def exit_code(self) -> int:
        return {"passed": 0, "blocked": 1, "not checked": 3}[self.found.outcome]


def review(project: Project, given: ReviewArguments) -> Reviewed:
    """Show what a change means for the records: which it concerns, which it makes out of date, which it changes.

    Compares two stored states, so it reports only what the change did. Without a range it compares HEAD with the point
    where it left the default branch. `A..B` compares two commits; `A...B`, or A alone, starts where they branched. It
    writes nothing and uses no network. Each finding has a code, a level (note, warn, block) that `review` in
    `.memory/config.json` can change, and the owners from CODEOWNERS. A commit with the line `Memory-Exempt:
    CODE reason` exempts findings of that code.

    The exit code is 1 if findings block, and 3 if nothing was checked.
    """
    if sum([given.span is not None, given.staged, given.branch is not None]) > 1:
        raise UsageError("Give a range, --staged or --branch, not several of them.")
    with suppress(NotInitialized, InvalidConfig):
        project.graph.config()  # refuses storage of another version
    try:
        span = span_to_review(project.git, given.span, staged=given.staged, branch=given.branch)
        found = review_change(project, span, also=given.fail_on)
    except (InputError, InvalidConfig) as error:  # these end with 1, which here says that findings block
        raise NotReady(error.message, hint=error.hint, details=error.details) from None
    if given.output_format == "github":
        _write_summary(project, found)
    return Reviewed(found=found, output_format=given.output_format, root=project.root, warnings=found.warnings)


def _write_summary(project: Project, found: Review) -> None:
    """Append all findings to the summary of a step, where GitHub named a file for it."""
    path = project.world.env.get(_SUMMARY, "")
    if path:
        # Whoever names the file may mean one in the current folder, or reach its folder through a link.
        folder, name = os.path.split(path)
        try:
            append(os.path.join(os.path.realpath(folder), name), markdown_of(found).encode())
        except OSError as error:
            raise StorageFailed(
                f"Could not write the summary: {(error.strerror or str(error)).lower()}.",
                hint=f"Unset {_SUMMARY}, or let it name a file that can be written.",
            ) from None


def lines(done: Reviewed) -> Lines:
    is_text = done.output_format == "text"
    yield from _text(done.found) if is_text else (Output(text=text) for text in _output(done))


def _output(done: Reviewed) -> Iterator[str]:
    if done.output_format == "markdown":
        yield markdown_of(done.found).rstrip("\n")
    elif done.output_format == "github":
        yield from annotations_of(done.found)
    elif done.output_format == "json":
        meta = {"project_root": done.root}
        warnings = msgspec.to_builtins(done.warnings)
        yield json_line({"ok": True, "data": plain(done), "warnings": warnings, "meta": meta})
    else:
        if done.output_format == "rdjsonl":
            yield from rdjsonl_of(done.found)
        else:
            yield sarif_of(done.found) if done.output_format == "sarif" else code_quality_of(done.found)


def _text(found: Review) -> Lines:
    if found.not_checked:
        yield Styled(text=f"Not checked: {found.not_checked}", style="yellow")
    looked = f"{counted(found.files, 'changed file')}, {counted(found.records, 'record')}"
    yield Recalled(text=f"{found.change}: {looked}, {counted(len(found.findings), 'finding')}.", origin="git")
    group = ""
    for finding in found.findings:
        heading = _heading(finding)
        if heading != group:
            yield ""
            yield Styled(text=heading, style=_STYLES[finding.level])
        group = heading
        yield from _finding(finding)
    if found.nearby:
        yield ""
        shown = ", ".join(found.nearby[:_NEARBY]) + (" …" if len(found.nearby) > _NEARBY else "")
        yield Recalled(text=f"Also below their anchors, in parts they do not speak of: {shown}", origin="memory")
    for waiver in found.waivers:
        yield ""
        said = f"Waived by {waiver.commit[:9]}: {waiver.code} ({counted(waiver.used, 'finding')}), {waiver.reason}"
        yield Recalled(text=said, origin="git")


def _heading(finding: ReviewFinding) -> str:
    return f"{finding.code} {CODES[finding.code].title} ({'waived' if finding.waived else finding.level})"


def _finding(finding: ReviewFinding) -> Lines:
    place = f"  {finding.path}:{finding.line}" if finding.path else ""
    owners = f"  {' '.join(finding.owners)}" if finding.owners else ""
    yield Recalled(text=one_line(finding.message), lead="  ", origin="git", ref=finding.ref)
    # In quotes: a workflow of GitHub would take a line that begins with `::` for a command.
    for said in (*([f"“{finding.title}”"] if finding.title else []), *finding.details):
        yield Recalled(text=one_line(said), lead="      ", origin="memory", ref=finding.ref)
    if place or owners:
        yield Recalled(text=one_line(f"{place}{owners}"), lead="      ", origin="git", style="dim")


VERB = Verb(
    takes=ReviewArguments,
    run=review,
    lines=lines,
    examples="""Examples:
  memory review                          this branch, since it left the default branch
  memory review main...HEAD              the same, with the branch named
  memory review --staged                 what the next commit would do
  memory review --format markdown        a comment for a pull request
  memory review --format github --fail-on M203,M401
  memory review --json | jq '.data.findings[] | select(.level == "block")'
""",
)
