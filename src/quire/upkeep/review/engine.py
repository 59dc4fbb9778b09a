"""Review a change: hold its newer tree against its older one, and collect what that means for the records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from quire.anchors.tree_change import TreeChange
from quire.files.commit_ranges import messages_between
from quire.files.git import Git
from quire.files.layout import CONFIG, MEMORY
from quire.inbox.layout import REJECTED
from quire.inbox.rejections import Rejections, rejections_in
from quire.layers.protocol import Site
from quire.layers.table import layer_of_file, path_from_root
from quire.model.records import Problem, Record
from quire.model.text import counted
from quire.upkeep.change_set import Span, changes_in_span
from quire.upkeep.review.code_effects import effects_on
from quire.upkeep.review.findings import Review, ReviewFinding, quoted
from quire.upkeep.review.owners import PLACES, CodeOwners, read_owners
from quire.upkeep.review.policy import judged, levels_of, stricter, waivers_in
from quire.upkeep.review.record_changes import (
    RecordState,
    changes_of_parts,
    changes_of_records,
    contested_records,
    rejected_values,
    state_of,
)
from quire.upkeep.review.stored_files import AnchoredFile, StoredFiles

_CONFIG = f"{MEMORY}/{CONFIG}"
_REJECTED = f"{MEMORY}/{REJECTED}"
_MESSAGES = 5_000


def review_change(site: Site, span: Span, *, also: Sequence[str] = ()) -> Review:
    """Everything that a reviewer of this change should know of the memory.

    Findings of the codes and levels in `also` block, whatever the project says.
    """
    changes = changes_in_span(site.git, span)
    files = StoredFiles(site.git, span, changes)
    change = TreeChange(site.git, changes)
    anchored = files.anchored()
    beside_before, beside_after = _beside(files)
    before, after = _states(files)
    nearby: list[str] = []
    found = [
        *effects_on(change, files.listed_after, *_concerned(files, change, anchored, before, after), nearby),
        *changes_of_records(before, after),
        *changes_of_parts(before, after, _changed_parts(site, before, after)),
        *contested_records(before, after),
        *rejected_values(before, after, _rejections(beside_before, beside_after)),
        *_secrets(before, after),
    ]
    owners = _owners(beside_after | beside_before)
    found = [_with_owners(finding, owners) for finding in found]
    messages = messages_between(site.git, span.old, span.new, _MESSAGES) if span.old and span.new else []
    waivers, doubts = waivers_in(messages)
    levels = levels_of(beside_before.get(_CONFIG), beside_after.get(_CONFIG), _CONFIG)
    findings, used = judged(found, stricter(levels, also), waivers)
    return Review(
        change=span.name,
        base=span.old,
        head=span.new,
        files=len(change.paths.paths),
        records=len(anchored),
        findings=findings,
        nearby=nearby,
        waivers=used,
        not_checked=_why_not_checked(files, before, after, len(anchored)),
        owners_from=owners.path,
        warnings=[*_unread(files), *_unmerged(site.git, span), *owners.problems, *doubts, *_told(after.problems)],
    )


def _concerned(
    files: StoredFiles, change: TreeChange, anchored: list[AnchoredFile], before: RecordState, after: RecordState
) -> tuple[dict[str, Record], dict[str, Record | None]]:
    """The records whose code the change may have touched, by their files; and those that it changed, as they were."""
    concerned = [file for file in anchored if any(map(change.paths.covers, file.anchors))]
    whole = {path for file in concerned for path in (file.path, *file.layer.read_together(file.path))}
    read = state_of(
        files.contents({path: blob for path, blob in files.after.items() if path in whole}) | files.fragments_after()
    )
    records = {path_from_root(one.layer, one.path): after.records.get(ref, one) for ref, one in read.records.items()}
    return records, {ref: before.records.get(ref) for ref in after.records}


def _states(files: StoredFiles) -> tuple[RecordState, RecordState]:
    """The records of the files that the change touched, before and after it."""
    before, after = files.versions({path for change in files.changed for path in (change.old, change.new)})
    return state_of(before), state_of(after)


def _changed_parts(site: Site, before: RecordState, after: RecordState) -> dict[str, list[str]]:
    """Which parts of a file changed, as its layer tells, where it tells nothing of single records."""
    found: dict[str, list[str]] = {}
    for path in dict.fromkeys((*before.files, *after.files)):
        layer = layer_of_file(path)
        if layer is not None and not layer.reads_contents:
            changed = layer.changed(site, path, before.files.get(path), after.files.get(path))
            found[path] = [name for names in changed.values() for name in names]
    return found


def _secrets(before: RecordState, after: RecordState) -> Iterable[ReviewFinding]:
    if not after.files:
        return
    from quire.upkeep.review.leaks import secrets_brought

    for path, data in after.files.items():
        if before.files.get(path) != data:
            yield from secrets_brought(path, before.files.get(path, b""), data)


def _beside(files: StoredFiles) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """What decides on a review beside the records, before and after the change: settings, rejections, owners."""
    listed = files.listed_before([_CONFIG, _REJECTED, *PLACES])
    held = {path: blob for path, blob in files.after.items() if path == _CONFIG or path.startswith(f"{_REJECTED}/")}
    return files.contents(listed), files.contents(held) | files.brought(PLACES)


def _rejections(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> Rejections:
    """What was rejected. A change that takes a rejection away, and does not lift it, does not make it void."""
    held = {**before, **after}
    return rejections_in({path: data for path, data in held.items() if path.startswith(f"{_REJECTED}/")})


def _owners(held: Mapping[str, bytes]) -> CodeOwners:
    path = next((place for place in PLACES if place in held), "")
    return read_owners(path, held[path]) if path else CodeOwners()


def _with_owners(finding: ReviewFinding, owners: CodeOwners) -> ReviewFinding:
    found = owners.of(finding.path) if owners.rules else ()
    return msgspec.structs.replace(finding, owners=found) if found else finding


def _why_not_checked(files: StoredFiles, before: RecordState, after: RecordState, anchored: int) -> str:
    """Why nothing can be said of the change; empty where records were read."""
    if anchored or before.records or after.records:
        return ""
    if files.unread:
        return "No record could be read: this clone does not hold the memory's files."
    held = state_of(files.contents(files.after))
    return "" if held.records else "No record is committed yet."


def _unread(files: StoredFiles) -> list[Problem]:
    if not files.unread:
        return []
    said = f"Skipped because unreadable: {counted(files.unread, 'record')}."
    return [Problem(code="RecordsUnread", severity="warning", message=said, hint="`memory check` lists damaged files.")]


def _unmerged(git: Git, span: Span) -> list[Problem]:
    paths = [] if span.new else git.unmerged([])
    if not paths:
        return []
    more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
    said = f"In conflict, and not reviewed: {', '.join(map(quoted, paths[:3]))}{more}."
    hint = "Resolve the conflicts and stage the files, then review again."
    return [Problem(code="ReviewInConflict", severity="warning", message=said, hint=hint)]


def _told(problems: Iterable[Problem]) -> list[Problem]:
    return [msgspec.structs.replace(problem, severity="warning") for problem in problems]
