"""Results and lines of a repair, of undoing one, and of the list of repairs."""

from __future__ import annotations

import msgspec

from quire.model.records import RepairStep
from quire.model.text import counted
from quire.upkeep.check import Checked
from quire.upkeep.repair.differences import Difference
from quire.verbs.admin.check import checked_lines
from quire.verbs.verb import Lines, Result, Style, Styled

_LISTED, _LISTED_REPAIRS = 40, 200
_STYLES: dict[str, Style] = {"+": "green", "-": "red"}


class Repaired(Result, kw_only=True):
    """What a repair did, or would do; a warning says what kept a layer from being repaired."""

    name: str | None = None
    """The name by which it can be undone."""
    dry_run: bool = False
    fixes: tuple[RepairStep, ...] = ()
    files: tuple[Difference, ...] = ()
    """What changed, or would; only a dry run tells the differences."""
    copies: tuple[str, ...] = ()
    """Where the files are as they were."""
    pruned: tuple[str, ...] = ()
    """Repairs that can no longer be taken back: their copies made room."""
    checked: Checked
    """How the memory is now."""

    def exit_code(self) -> int:
        return 0 if self.checked.valid else 1

    def lines(self) -> Lines:
        if not self.fixes:
            yield "Nothing to repair."
        elif self.dry_run:
            yield f"A repair would fix {counted(len(self.fixes), 'fault')}:"
            yield from _repair_lines(self.fixes)
            yield from _file_lines(self.files)
            yield ""
            yield "Nothing was changed. `memory check --repair` makes these changes."
        else:
            yield Styled(text=f"Repaired {counted(len(self.fixes), 'fault')}:", style="green")
            yield from _repair_lines(self.fixes)
            yield ""
            yield f"Copies of the files before the repair: {', '.join(self.copies)}"
            yield f"To undo: memory check --undo {self.name}"
            if self.pruned:
                gone = ", ".join(self.pruned)
                yield f"Repairs that can no longer be undone (only the last 20 are kept): {gone}"
        if not self.dry_run:
            yield ""
            yield from checked_lines(self.checked)


class RepairSeen(msgspec.Struct, frozen=True, kw_only=True):
    """A repair that is kept."""

    name: str
    at: str
    fixes: tuple[RepairStep, ...]
    files: int
    copies: tuple[str, ...]
    changed_since: tuple[str, ...] = ()
    """Files that someone changed: while there are any, it is not taken back."""


class RepairsKept(Result, kw_only=True):
    """The repairs that are kept, the newest first."""

    repairs: tuple[RepairSeen, ...] = ()
    most: int

    def lines(self) -> Lines:
        if not self.repairs:
            yield "There is no repair to undo."
        for one in self.repairs:
            yield f"{one.name}  {counted(len(one.fixes), 'fault')} repaired, {counted(one.files, 'file')}"
            for place in one.copies:
                yield f"    {place}"
            if one.changed_since:
                shown = ", ".join(one.changed_since[:5])
                yield Styled(text=f"    Changed since, so it cannot be undone: {shown}", style="yellow")


class RepairUndone(Result, kw_only=True):
    """A repair that was taken back, and which files are as they were."""

    name: str
    files: tuple[str, ...] = ()

    def lines(self) -> Lines:
        if not self.files:
            yield f"The files already were as before the repair {self.name}; its copies are removed."
            return
        yield f"Undid the repair {self.name}: {counted(len(self.files), 'file')} as before."
        for path in self.files[:_LISTED]:
            yield f"  {path}"
        if len(self.files) > _LISTED:
            yield f"  … and {len(self.files) - _LISTED:,} more"


def _repair_lines(fixes: tuple[RepairStep, ...]) -> Lines:
    for fix in fixes[:_LISTED_REPAIRS]:
        place = f"{fix.path}:{fix.line}" if fix.line else fix.path
        yield f"  {place}: {fix.message} [{fix.code}]"
    if len(fixes) > _LISTED_REPAIRS:
        yield f"  … and {len(fixes) - _LISTED_REPAIRS:,} more"


def _file_lines(files: tuple[Difference, ...]) -> Lines:
    for file in files[:_LISTED]:
        yield ""
        yield Styled(text=f"{file.action:<8} {file.path}", style="bold")
        for line in file.diff.split("\n") if file.diff else ():
            style = _STYLES.get(line[:1])
            yield Styled(text=f"  {line}", style=style) if style else f"  {line}"
    if len(files) > _LISTED:
        yield ""
        yield f"… and {len(files) - _LISTED:,} files more"
