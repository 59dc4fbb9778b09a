"""Implements `Layer` for the journal."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from msgspec.structs import replace

from quire.files.json_files import pretty
from quire.files.layout import RECOVERY
from quire.files.paths import names_in
from quire.files.write_access import recover_folder
from quire.layers.journal.layout import (
    AUTOMATION,
    BACKUP,
    FOLDER,
    IGNORED,
    INDEX,
    LOCAL,
    LOG,
    PAGES_DUE,
    PROJECTION_FILES,
    PROJECTIONS,
    SCHEMA_VERSION,
    SECTION_KEYS,
    SOURCE_LOG,
    STATE,
    WRITTEN,
)
from quire.layers.protocol import Holding, Home, Layer, Repair, Site, Storage, document_storage
from quire.model.contested import MergedFile
from quire.model.errors import QuireError
from quire.model.records import Problem, Record, RepairStep
from quire.model.sources import IndexSource

if TYPE_CHECKING:
    from quire.layers.journal.repair import JournalRepair
    from quire.layers.record_details import RecordDetails
    from quire.layers.record_parts import Part

_STATE = f"{FOLDER}/{STATE}"

_WORDS = {"sections": tuple(SECTION_KEYS)}


class JournalLayer(Layer):
    """What happened, and where we are: the bundle, the history of events, checkpoints."""

    name = "journal"
    heading = "Journal"
    home = Home(
        folder=FOLDER,
        part="journal",
        generated=(LOCAL, RECOVERY, BACKUP, AUTOMATION, ".lock"),
        ignored=IGNORED,
        untracked=tuple(path.rstrip("/") for path in IGNORED),
        code="JournalNotIgnored",
        ignored_by="`memory journal update`",
    )
    tracked = (FOLDER,)
    logs = (LOG, SOURCE_LOG)
    kinds = ("bundle", "checkpoint", "event")
    sections = tuple(SECTION_KEYS)
    words = _WORDS
    changed_lists = ("changed_journal_refs",)
    pages = tuple(f"{PROJECTIONS}/{name}" for name in PROJECTION_FILES.values())
    page_folder = PROJECTIONS
    index = f"{LOCAL}/{INDEX}"
    reads_contents = False

    # -- the files ------------------------------------------------------------------------

    def source(self, site: Site) -> IndexSource:
        from quire.layers.journal.source import JournalSource

        return JournalSource(site.root)

    def access(self, site: Site, operation: str) -> AbstractContextManager[None]:
        from quire.layers.journal.store import journal_access

        return journal_access(site.root, site.world, operation, fold=False)

    def recover(self, site: Site) -> None:
        if os.path.isdir(self.home.path(site.root)):
            recover_folder(site.root, FOLDER, site.world, written=WRITTEN)
            if os.path.lexists(os.path.join(site.root, FOLDER, LOCAL, PAGES_DUE)):
                from quire.layers.journal.store import recover_due_pages

                recover_due_pages(site.root, site.world)

    def storage(self, site: Site) -> Storage | None:
        return document_storage(site.root, _STATE, "schemaVersion", (None, SCHEMA_VERSION))

    # -- check and repair -----------------------------------------------------------------

    def check(self, site: Site) -> Iterable[Problem]:
        """What `memory journal validate` would say, but for what is well."""
        from quire.files.git_history import unmerged_below
        from quire.layers.journal.checks.findings import PASSED
        from quire.layers.journal.checks.journal import check_journal
        from quire.layers.journal.repair_files import who_repairs_journal

        if self._is_empty(site.root) and not (site.git.available and site.git.committed([_STATE])):
            return []  # there is none, or an `init` failed or was killed
        looked = check_journal(site.root, site.world.now(), home=site.world.home)
        found = [problem for problem in looked if problem.severity != PASSED]
        if not found:
            return []
        plan = _plan(site, unmerged_below(site.git, FOLDER))
        return [
            replace(
                problem,
                code="JournalFault",
                message=f"{problem.code}: {problem.message}",
                fixed_by=who_repairs_journal(problem, plan),
            )
            for problem in found
        ]

    def _is_empty(self, root: str) -> bool:
        """Whether there is no file but what is generated."""
        folder = self.home.path(root)
        paths = (os.path.join(folder, name) for name in names_in(folder) if name not in self.home.generated)
        return not any(os.path.isfile(path) or any(files for *_, files in os.walk(path)) for path in paths)

    def count_files(self, site: Site) -> int:
        return len(self.source(site).stamps())

    def repair(self, site: Site, problems: Sequence[Problem], unmerged: Collection[str]) -> Repair:
        """What follows from the rest of the journal, and the pages that are made of it."""
        from quire.layers.journal.repair_files import repaired_files

        plan = _plan(site, unmerged)
        changes, pages = repaired_files(plan)
        fixes = (RepairStep(code="JournalFault", path=FOLDER, message=said) for said in plan.said)
        passing = (f"{LOCAL}/{PAGES_DUE}",)
        return Repair(fixes=tuple(fixes), changes=tuple(changes), pages=tuple(pages), passing=passing)

    def write_pages(self, site: Site) -> list[Problem]:
        from quire.layers.journal.pages import write_due_pages

        problems = write_due_pages(site.root, site.world)
        _pages_again(site)
        return problems

    # -- merges -----------------------------------------------------------------------------

    def fold(self, site: Site) -> list[str]:
        from quire.layers.journal.fold import fold_history

        return [*fold_history(site.root, site.world), *_pages_again(site)]

    def merge(self, path: str, base: bytes | None, ours: bytes | None, theirs: bytes | None) -> MergedFile | None:
        from quire.layers.journal.merge import merge_journal

        return merge_journal(path.removeprefix(f"{FOLDER}/"), base, ours, theirs)

    # -- purge ------------------------------------------------------------------------------

    def rehash(self, before: Mapping[str, bytes], after: Mapping[str, bytes | None]) -> dict[str, bytes]:
        found = {}
        for path, data in after.items():
            if data is not None and path in before and path.endswith(".json"):
                found[path] = _rehashed(before[path], data)
        return found

    def remake(self, site: Site) -> None:
        from quire.layers.journal.pages import write_pages
        from quire.layers.journal.store import open_journal

        if os.path.isdir(os.path.join(site.root, FOLDER, LOCAL)):
            with contextlib.suppress(QuireError), self.access(site, "repair"):
                write_pages(site.root, open_journal(site.root).state, site.world)

    # -- records ----------------------------------------------------------------------------

    def changed(self, site: Site, path: str, before: bytes | None, after: bytes | None) -> Mapping[str, Sequence[str]]:
        from quire.layers.journal.bundle_diff import changed_parts

        return {"changed_journal_refs": changed_parts(path.removeprefix(f"{FOLDER}/"), before, after)}

    def holding(self, record: Record) -> Holding:
        from quire.layers.record_parts import line_of, whole_file

        path = f"{FOLDER}/{record.path}"
        if record.kind == "event":
            return Holding(paths=(path,), part=line_of(record.ref.partition(":")[2].partition("~")[0]))
        if record.kind == "checkpoint":
            return Holding(paths=(path,), part=whole_file, shared=False)
        return Holding(paths=(_STATE,), part=_section(record))

    def says(self, record: Record) -> list[str]:
        return [record.title, record.text, *record.text.split("\n")] if record.kind == "bundle" else []

    def details(self, site: Site, record: Record, weight: float) -> RecordDetails:
        from quire.layers.journal.records import journal_details

        return journal_details(record)

    def how_to_retire(self, record: Record) -> str:
        return "`memory journal update` writes the memory without it."


def _pages_again(site: Site) -> list[str]:
    """Write pages that a merge put together from another state than the one there is; which they were."""
    from quire.layers.journal.pages import planned_pages, write_pages
    from quire.layers.journal.projections import projection_marker
    from quire.layers.journal.store import open_journal

    with contextlib.suppress(QuireError, OSError):
        state = open_journal(site.root).state
        pages = [page for page in planned_pages(site.root, state, entry=False) if page.before != page.after]
        markers = [projection_marker((page.before or b"").decode("utf-8", "replace")) for page in pages]
        if any(marker and marker.bundle_hash != state.bundle_hash for marker in markers):
            write_pages(site.root, state, site.world, entry=False)
            return [page.path for page in pages]
    return []


def _rehashed(before: bytes, after: bytes) -> bytes:
    """A state or a checkpoint, whatever holds a bundle and its digest, with a digest that holds if it held before."""
    import json

    from quire.files.jsonc_edit import set_member
    from quire.layers.journal.canonical import content_hash

    try:
        was, now = json.loads(before), json.loads(after)
        if not isinstance(was, dict) or was.get("bundleHash") != content_hash(was["bundle"]):
            return after
        return set_member(after.decode("utf-8"), ["bundleHash"], content_hash(now["bundle"])).encode("utf-8")
    except (KeyError, TypeError, ValueError, RecursionError):
        return after


def _plan(site: Site, unmerged: Collection[str]) -> JournalRepair:
    """How the journal would be repaired; not at all while git holds one of its files as unmerged."""
    from quire.layers.journal.repair import JournalRepair, plan_journal_repair
    from quire.layers.journal.repair_files import repaired_files

    if os.path.islink(os.path.join(site.root, FOLDER)) or unmerged:
        return JournalRepair()
    try:
        plan = plan_journal_repair(site.root, site.world.now())
        repaired_files(plan)
    except (QuireError, OSError, ValueError):
        return JournalRepair()
    return plan


def _section(record: Record) -> Part:
    """A section of the bundle, or one item of it: the one with the same title."""
    from quire.layers.record_parts import value_at

    key = SECTION_KEYS.get(record.section, "")
    title = ""
    if record.raw and record.ref != f"bundle:{record.section}":
        held = value_at(record.raw, "value")
        title = held.get("title", "") if isinstance(held, dict) else ""

    def part(data: bytes) -> bytes | None:
        found = value_at(data, "bundle", key)
        if title and isinstance(found, list):
            found = next((item for item in found if isinstance(item, dict) and item.get("title") == title), None)
        return None if found in (None, [], {}) else pretty(found)

    return part
