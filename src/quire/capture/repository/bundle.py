"""A memory made of what lies in a project: every sentence is taken from a file or a commit, or counts them.

The same files and commits give the same bundle. What an earlier bundle knew from elsewhere, from sessions or by hand,
is kept; what it had from files is made anew. Items from files name theirs under the key `source`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from quire.capture.repository.architecture import NOTES_MOST, architecture_notes, is_cited
from quire.capture.repository.carrying import (
    SOURCE,
    carried_items,
    carried_texts,
    is_whole_snapshot,
    known_purposes,
    said_once,
)
from quire.capture.repository.consolidation import (
    GOTCHAS_MOST,
    RISKS_MOST,
    STATE_MOST,
    STEPS_MOST,
    consolidate,
    told_by,
)
from quire.capture.repository.entrypoints import Entrypoint, find_entrypoints
from quire.capture.repository.focus import current_state, focus_summary, is_built_risk, is_built_state, marked_risks
from quire.capture.repository.git_story import tell_story
from quire.capture.repository.modules import Part, count_sources, dense_areas, find_parts
from quire.capture.repository.pages import Page, find_readme, read_pages
from quire.capture.repository.readme import first_paragraph, title_of
from quire.capture.repository.scan import Scan
from quire.capture.repository.scripts import find_checks
from quire.capture.repository.steps import Unreleased, find_steps, find_unreleased
from quire.capture.repository.traps import find_risks, find_traps
from quire.capture.repository.tree import is_file
from quire.capture.repository.wording import NONE, TITLE_CHARS, said, stated
from quire.files import Git
from quire.layers.journal import Bundle, Event, layout, shown

_KEY_PATHS = 16
_FIRST_FILES = 8
_READ_FIRST = ("AGENTS.md", "CLAUDE.md", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")
_SUMMARY_CHARS = 500
_NAME_WORDS = 4

__all__ = ["Validation", "build_bundle"]


class Validation(Struct, frozen=True, kw_only=True):
    """How a command ended that was run to see whether the project is well."""

    label: str
    command: str
    status: str
    """`passed`, `failed` or `unavailable`."""
    summary: str
    at: str | None = None
    """When; None where nobody noted it."""


def build_bundle(
    scan: Scan,
    git: Git,
    *,
    previous: Bundle | None = None,
    events: Sequence[Event] = (),
    validations: Iterable[Validation] = (),
) -> Bundle:
    """The bundle of a scanned project. `events` are the part of the history that is not in `previous` yet."""
    before: Bundle = previous if isinstance(previous, dict) else {}
    pages = read_pages(scan.tree)
    counts = count_sources(scan.tree)
    parts = find_parts(scan, pages, counts)
    entries = find_entrypoints(scan)
    checks = [
        {"label": check.label, "command": list(check.command), "purpose": stated(check.purpose)}
        for check in find_checks(scan)
    ]
    bundle: Bundle = {
        "project": _project(scan, pages, entries),
        "projectMap": {
            "modules": _modules(parts, before),
            "entrypoints": [{"path": entry.path, "role": stated(entry.role)} for entry in entries],
            "denseSourceAreas": [
                {"path": area.path, "note": f"{area.count} source file{'s' if area.count > 1 else ''}"}
                for area in dense_areas(counts)
            ],
            "architectureNotes": _notes(scan, pages, before),
            "firstFilesToRead": _first_files(scan, entries),
        },
        "currentFocus": _focus(scan, git, pages, parts, before, tuple(validations), checks),
        "gotchas": [*_gotchas(pages), *carried_items(before, "gotchas")][:GOTCHAS_MOST],
        "nextSteps": [*_steps(scan, pages), *carried_items(before, "nextSteps")][:STEPS_MOST],
        "validationCommands": checks,
    }
    bundle = said_once(bundle, before).bundle
    return consolidate(bundle, told_by(events)) if events else bundle


# -- project and map ------------------------------------------------------------------------------


def _project(scan: Scan, pages: tuple[Page, ...], entries: list[Entrypoint]) -> dict[str, Any]:
    readme = next((page.sections for page in pages if page.path == find_readme(scan.tree)), [])
    about = list(scan.manifests.values())
    title = title_of(readme)
    name = next((manifest.name for manifest in about if manifest.name), title if _is_name(title) else "")
    summaries = (
        first_paragraph(readme, _SUMMARY_CHARS, lead_only=True),
        *(said(manifest.description, _SUMMARY_CHARS) for manifest in about),
        first_paragraph(readme, _SUMMARY_CHARS),
    )
    return {
        "name": said(name, TITLE_CHARS) or said(scan.project_name, TITLE_CHARS) or "project",
        "summary": stated(next(filter(None, summaries), "")),
        "primaryEcosystem": scan.primary_ecosystem,
        "packageManager": said(scan.package_manager or "", TITLE_CHARS) or NONE,
        "workspaceManager": scan.workspace_manager or NONE,
        "recommendedEntryFile": _entry_file(scan),
        "keyPaths": list(dict.fromkeys((*scan.key_entry_files, *(entry.path for entry in entries))))[:_KEY_PATHS],
    }


def _is_name(title: str) -> bool:
    """Whether the title of a page is short enough to be the name of a project, and no sentence on it."""
    return len(title.split()) <= _NAME_WORDS and ":" not in title


def _entry_file(scan: Scan) -> str:
    """The first that is there, ignored by git or not; the first of all where none is."""
    return next((name for name in layout.ENTRY_FILES if name in scan.top_level_files), layout.ENTRY_FILES[0])


def _modules(parts: list[Part], before: Bundle) -> list[dict[str, str]]:
    """The parts; what an earlier bundle said of one counts where the files say nothing."""
    known = known_purposes(before)
    return [
        {"name": part.name, "path": part.path, "responsibility": stated(part.purpose or known.get(part.path, ""))}
        for part in parts
    ]


def _notes(scan: Scan, pages: tuple[Page, ...], before: Bundle) -> list[str]:
    known = carried_texts(before, ("projectMap", "architectureNotes"), is_cited)
    return list(dict.fromkeys((*architecture_notes(scan.tree, pages), *known)))[:NOTES_MOST]


def _first_files(scan: Scan, entries: list[Entrypoint]) -> list[str]:
    """What to read first: what is written for readers, then what the project is made by, then where it begins."""
    wanted = (find_readme(scan.tree), *scan.manifests, *(entry.path for entry in entries))
    found = [path for path in (*_READ_FIRST, *wanted) if path and is_file(scan.tree, path)]
    return list(dict.fromkeys(found))[:_FIRST_FILES]


# -- focus ----------------------------------------------------------------------------------------


def _focus(
    scan: Scan,
    git: Git,
    pages: tuple[Page, ...],
    parts: list[Part],
    before: Bundle,
    validations: tuple[Validation, ...],
    checks: list[dict[str, Any]],
) -> dict[str, Any]:
    story = tell_story(git, (part.path for part in parts))
    unreleased: Unreleased = find_unreleased(scan.tree)
    summary = focus_summary(story)
    if summary == NONE:
        summary = said(shown(before, "currentFocus", "summary"), _SUMMARY_CHARS) or NONE
    state = current_state(scan, story, unreleased.done)
    risks = [*marked_risks(scan, story), *unreleased.risks, *find_risks(pages)]
    return {
        "summary": summary,
        "currentState": [*state, *carried_texts(before, ("currentFocus", "currentState"), is_built_state)][:STATE_MOST],
        "knownRisks": [
            *risks,
            *carried_texts(before, ("currentFocus", "knownRisks"), lambda text: is_cited(text) or is_built_risk(text)),
        ][:RISKS_MOST],
        "validationSnapshot": _snapshot(validations, checks, before),
    }


def _snapshot(validations: tuple[Validation, ...], checks: list[dict[str, Any]], before: Bundle) -> dict[str, Any]:
    """How the commands ended that were run now; else what was known; else that none was run."""
    results = [_result(validation) for validation in validations if validation.status in layout.RESULT_STATUSES]
    if not results:
        known = before.get("currentFocus")
        snapshot = known.get("validationSnapshot") if isinstance(known, dict) else None
        if isinstance(snapshot, dict) and is_whole_snapshot(snapshot):
            return snapshot
    passed = sum(result["status"] == "passed" for result in results)
    lines = [" ".join(check["command"]) for check in checks]
    if not results:
        status, summary, todo = "not-run", "No validation command has been run.", lines
    else:
        status = "passed" if passed == len(results) else "mixed" if passed else "failed"
        summary = f"{passed} of {len(results)} validation commands passed."
        todo = [result["command"] for result in results if result["status"] != "passed"]
    return {
        "status": status,
        "validatedAt": max((at for one in validations if (at := one.at)), default=None) if results else None,
        "summary": summary,
        "results": results,
        "suggestedNextActions": [f"Run `{line}`." for line in dict.fromkeys(todo)],
    }


def _result(validation: Validation) -> dict[str, str]:
    command = said(validation.command)
    return {
        "label": said(validation.label) or stated(command),
        "command": stated(command),
        "status": validation.status,
        "summary": stated(said(validation.summary)),
    }


# -- gotchas and steps ----------------------------------------------------------------------------


def _gotchas(pages: tuple[Page, ...]) -> list[dict[str, str]]:
    return [
        {
            "title": trap.title,
            "symptom": stated(trap.symptom),
            "cause": stated(trap.cause),
            "correctPath": trap.path
            or (f"See {trap.page}, “{trap.section}”." if trap.section else f"See {trap.page}."),
            SOURCE: trap.page,
        }
        for trap in find_traps(pages)
    ]


def _steps(scan: Scan, pages: tuple[Page, ...]) -> list[dict[str, str]]:
    return [
        {
            "title": step.title,
            "why": stated(step.why),
            "start": step.start or f"See {step.page}.",
            "done": stated(step.done),
            SOURCE: step.page,
        }
        for step in find_steps(scan.tree, pages)
    ]
