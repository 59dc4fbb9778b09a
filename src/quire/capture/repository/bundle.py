"""Build a journal bundle from a project's files and commits; every sentence comes from one of them.

The same files and commits give the same bundle. What an earlier bundle knew from elsewhere, from sessions, from a model
or by hand, is kept; what it had from files is made anew. Items from files name theirs under the key `source`. Nothing
that is known is replaced by the word for none, or by an empty list.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from quire.capture.repository.architecture import NOTES_MOST, architecture_notes, is_cited
from quire.capture.repository.bundle_merge import (
    SOURCE,
    beside,
    carried_items,
    carried_paths,
    carried_places,
    carried_texts,
    is_whole_snapshot,
    said_once,
    told_by_model,
)
from quire.capture.repository.clean_text import TITLE_CHARS, said, stated
from quire.capture.repository.consolidation import (
    GOTCHAS_MOST,
    RISKS_MOST,
    STATE_MOST,
    STEPS_MOST,
)
from quire.capture.repository.entrypoints import Entrypoint, find_entrypoints
from quire.capture.repository.focus import (
    current_state,
    focus_summary,
    is_built_risk,
    is_built_state,
    is_built_summary,
    marked_risks,
)
from quire.capture.repository.git_activity import tell_story
from quire.capture.repository.modules import ProjectPart, count_sources, dense_areas, find_parts
from quire.capture.repository.next_steps import Unreleased, find_steps, find_unreleased
from quire.capture.repository.pages import DocumentPage, find_readme, read_pages
from quire.capture.repository.readme import first_paragraph, title_of
from quire.capture.repository.scan import GENERIC, ProjectScan
from quire.capture.repository.scripts import find_checks
from quire.capture.repository.traps import find_risks, find_traps
from quire.capture.repository.tree import is_file
from quire.files.git import Git
from quire.layers.journal import layout
from quire.layers.journal.bundles import shown
from quire.layers.journal.layout import NONE
from quire.layers.journal.shapes import bundle_faults
from quire.layers.journal.types import Bundle
from quire.model.text import trim
from quire.model.untyped import at_path

_KEY_PATHS = 16
_FIRST_FILES = 8
_READ_FIRST = ("AGENTS.md", "CLAUDE.md", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")
_SUMMARY_CHARS = 500
_NAME_WORDS = 4
_PROJECT = ("name", "summary", "primaryEcosystem", "packageManager", "workspaceManager")
_ACTIONS = ("currentFocus", "validationSnapshot", "suggestedNextActions")
_RUN = re.compile(r"Run `[^`]+`\.")


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
    scan: ProjectScan,
    git: Git,
    *,
    previous: Bundle | None = None,
    teller: str = "",
    validations: Iterable[Validation] = (),
) -> Bundle:
    """The bundle of a scanned project. `teller` is the model that wrote `previous`; empty where none did."""
    before: Bundle = previous if isinstance(previous, dict) else {}
    pages = read_pages(scan.tree)
    counts = count_sources(scan.tree)
    parts = find_parts(scan, pages, counts)
    entries = find_entrypoints(scan)
    checks = [
        {"label": check.label, "command": list(check.command), "purpose": stated(check.purpose)}
        for check in find_checks(scan)
    ]
    root = scan.tree.root
    modules = [{"name": part.name, "path": part.path, "responsibility": stated(part.purpose)} for part in parts]
    ways_in = [{"path": entry.path, "role": stated(entry.role)} for entry in entries]
    areas = [
        {"path": area.path, "note": f"{area.count} source file{'s' if area.count > 1 else ''}"}
        for area in dense_areas(counts)
    ]
    bundle: Bundle = {
        "project": _project(scan, pages, entries, before, teller),
        "projectMap": {
            "modules": carried_places(root, modules, before, "modules", "responsibility", teller),
            "entrypoints": carried_places(root, ways_in, before, "entrypoints", "role", teller),
            "denseSourceAreas": areas or carried_places(root, areas, before, "denseSourceAreas", "note", ""),
            "architectureNotes": _notes(scan, pages, before),
            "firstFilesToRead": carried_paths(
                root, _first_files(scan, entries), before, ("projectMap", "firstFilesToRead")
            ),
        },
        "currentFocus": _focus(scan, git, pages, parts, before, tuple(validations), checks),
        "gotchas": beside(_gotchas(pages), carried_items(before, "gotchas"), GOTCHAS_MOST),
        "nextSteps": beside(_steps(scan, pages), carried_items(before, "nextSteps"), STEPS_MOST),
        "validationCommands": checks or _known_checks(before),
    }
    return said_once(bundle, before).bundle


# -- project and map ------------------------------------------------------------------------------


def _project(
    scan: ProjectScan, pages: tuple[DocumentPage, ...], entries: list[Entrypoint], before: Bundle, teller: str
) -> dict[str, Any]:
    readme = next((page.sections for page in pages if page.path == find_readme(scan.tree)), [])
    about = list(scan.manifests.values())
    title = title_of(readme)
    name = next((manifest.name for manifest in about if manifest.name), title if _is_name(title) else "")
    summaries = (
        first_paragraph(readme, _SUMMARY_CHARS, lead_only=True),
        *(said(manifest.description, _SUMMARY_CHARS) for manifest in about),
        first_paragraph(readme, _SUMMARY_CHARS),
    )
    known = {name: text for name in _PROJECT if trim(text := shown(before, "project", name)) and text != NONE}
    model = told_by_model(before.get("project"), teller) if known.get("summary") else ""
    told = known if model else {}
    summary = told.get("summary") or next(filter(None, summaries), "") or known.get("summary", "")
    ecosystem = scan.primary_ecosystem
    paths = list(dict.fromkeys((*scan.key_entry_files, *(entry.path for entry in entries))))[:_KEY_PATHS]
    return {
        "name": said(name, TITLE_CHARS) or told.get("name") or said(scan.project_name, TITLE_CHARS) or "project",
        "summary": stated(summary),
        "primaryEcosystem": told.get("primaryEcosystem", GENERIC) if ecosystem == GENERIC else ecosystem,
        "packageManager": said(scan.package_manager or "", TITLE_CHARS) or stated(told.get("packageManager", "")),
        "workspaceManager": scan.workspace_manager or stated(told.get("workspaceManager", "")),
        "recommendedEntryFile": _entry_file(scan),
        "keyPaths": carried_paths(scan.tree.root, paths, before, ("project", "keyPaths")),
        **({SOURCE: model} if model else {}),
    }


def _is_name(title: str) -> bool:
    """Whether the title of a page is short enough to be the name of a project, and no sentence on it."""
    return len(title.split()) <= _NAME_WORDS and ":" not in title


def _entry_file(scan: ProjectScan) -> str:
    """The first that is there, ignored by git or not; the first of all where none is."""
    return next((name for name in layout.ENTRY_FILES if name in scan.top_level_files), layout.ENTRY_FILES[0])


def _notes(scan: ProjectScan, pages: tuple[DocumentPage, ...], before: Bundle) -> list[str]:
    known = carried_texts(before, ("projectMap", "architectureNotes"), is_cited)
    return list(dict.fromkeys(beside(architecture_notes(scan.tree, pages), known, NOTES_MOST)))


def _first_files(scan: ProjectScan, entries: list[Entrypoint]) -> list[str]:
    """What to read first: what is written for readers, then what the project is made by, then where it begins."""
    wanted = (find_readme(scan.tree), *scan.manifests, *(entry.path for entry in entries))
    found = [path for path in (*_READ_FIRST, *wanted) if path and is_file(scan.tree, path)]
    return list(dict.fromkeys(found))[:_FIRST_FILES]


# -- focus ----------------------------------------------------------------------------------------


def _focus(
    scan: ProjectScan,
    git: Git,
    pages: tuple[DocumentPage, ...],
    parts: list[ProjectPart],
    before: Bundle,
    validations: tuple[Validation, ...],
    checks: list[dict[str, Any]],
) -> dict[str, Any]:
    story = tell_story(git, (part.path for part in parts))
    unreleased: Unreleased = find_unreleased(scan.tree)
    summary, told = focus_summary(story), shown(before, "currentFocus", "summary")
    state = current_state(scan, story, unreleased.done)
    if trim(told) and told != NONE and not is_built_summary(told):
        # A session, a model or a person has said it; what the commits say is reported beside it.
        state = [*([summary] if summary != NONE else []), *state]
        summary = told
    risks = [*marked_risks(scan, story), *unreleased.risks, *find_risks(pages)]
    known_state = carried_texts(before, ("currentFocus", "currentState"), is_built_state)
    known_risks = carried_texts(
        before, ("currentFocus", "knownRisks"), lambda text: is_cited(text) or is_built_risk(text)
    )
    return {
        "summary": summary,
        "currentState": beside(state, known_state, STATE_MOST),
        "knownRisks": beside(risks, known_risks, RISKS_MOST),
        "validationSnapshot": _snapshot(validations, checks, before),
    }


def _snapshot(validations: tuple[Validation, ...], checks: list[dict[str, Any]], before: Bundle) -> dict[str, Any]:
    """How the commands ended that were run now; else what was known; else that none was run."""
    results = [_result(validation) for validation in validations if validation.status in layout.RESULT_STATUSES]
    known = at_path(before, "currentFocus", "validationSnapshot")
    if not results and isinstance(known, dict) and is_whole_snapshot(known):
        return known
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
        "suggestedNextActions": [
            *(f"Run `{line}`." for line in dict.fromkeys(todo)),
            *carried_texts(before, _ACTIONS, lambda text: _RUN.fullmatch(text) is not None),
        ],
    }


def _known_checks(before: Bundle) -> list[Any]:
    """The commands that an earlier bundle names, for people to see: only those of the files are ever run."""
    known = before.get("validationCommands")
    is_sound = not any("validationCommands" in fault for fault in bundle_faults({"validationCommands": known}))
    return known if isinstance(known, list) and is_sound else []


def _result(validation: Validation) -> dict[str, str]:
    command = said(validation.command)
    return {
        "label": said(validation.label) or stated(command),
        "command": stated(command),
        "status": validation.status,
        "summary": stated(said(validation.summary)),
    }


# -- gotchas and steps ----------------------------------------------------------------------------


def _gotchas(pages: tuple[DocumentPage, ...]) -> list[dict[str, str]]:
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


def _steps(scan: ProjectScan, pages: tuple[DocumentPage, ...]) -> list[dict[str, str]]:
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
