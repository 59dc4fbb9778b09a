"""Check the pages and the entry block: their markers, and the text below them.

A page whose marker is right and whose text is not was edited, or written by another program: it says what the memory
does not say, so it is reported, but the memory itself is sound.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from quire.files.paths import follow_inside, read_bytes, read_inside
from quire.layers.journal.bundles import entry_file
from quire.layers.journal.checks.findings import REPAIRS_IT, failed, passed, warned
from quire.layers.journal.entry_block import entry_marker, place_entry, render_entry
from quire.layers.journal.layout import ENTRY_FILES, ENTRY_VERSION, FILE_BYTES, FOLDER, PROJECTION_VERSION, STATE
from quire.layers.journal.pages import chosen_entry
from quire.layers.journal.projections import Projection, ProjectionMarker, projection_marker, render_projections
from quire.layers.journal.types import State
from quire.model.errors import QuireError
from quire.model.records import Problem
from quire.model.text import cut

_STATE = f"{FOLDER}/{STATE}"
_WRITES = f"The next `memory journal update` or `recall` rewrites it; {REPAIRS_IT}"
_EDITED = "Save what you want to keep in the memory: the next write of the pages replaces it."

_UNKNOWN = re.compile(rb"\n\n?[^\n]+: (?:none|See evt-[0-9]+ in the history\.)(?=\n|\Z)")
"""A line by which an earlier version said that something is not known."""
_NO_BLOCK = ("entry:file", "entry:marker")
_AGREED = f"`memory journal update --yes` or `recall --yes` writes it; {REPAIRS_IT}"

PAGES_CODES = ("projection:", "entry:file", "entry:marker", "entry:drift", "entry:edited", "entry:leftover")
"""How the codes begin of what is as it should be once the pages are written anew."""


def check_pages(root: str, state: State) -> list[Problem]:
    """All pages and the file with the entry block, against what this state would have there."""
    found = [_page(root, page, state) for page in render_projections(state)]
    try:
        return [*found, *_entry(root, state)]
    except (QuireError, OSError, ValueError) as error:
        # A name that no file system takes; it came from whoever wrote the bundle.
        return [*found, failed("entry:read", f"The file for the entry block cannot be read: {error}", _STATE)]


def pages_to_write(root: str, state: State, *, entry: bool) -> list[str]:
    """What is missing, or was written for another bundle; a file without a block only if that may go there."""
    failed_ones = (
        one for one in check_pages(root, state) if one.severity == "error" and one.code.startswith(PAGES_CODES)
    )
    return [one.path or "" for one in failed_ones if entry or one.code not in _NO_BLOCK]


def _page(root: str, page: Projection, state: State) -> Problem:
    code, path = f"projection:{page.file_id}", page.path
    try:
        data = read_inside(root, path, FILE_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return failed(code, f"`{path}` is missing.", path, _WRITES)
    except OSError as error:
        said = f"`{path}` cannot be read: {(error.strerror or str(error)).lower()}."
        return failed(f"{code}:read", said, path, "Move it away.")
    marker = projection_marker(data[:1_000].decode("utf-8", "replace"))
    if marker is None:
        return failed(f"{code}:marker", f"`{path}` does not begin with the mark of its page.", path, _WRITES)
    if marker != ProjectionMarker(page.file_id, PROJECTION_VERSION, state.bundle_hash):
        return failed(f"{code}:drift", f"`{path}` was written for another bundle or page.", path, _WRITES)
    wanted = page.text.encode("utf-8", "surrogatepass")
    if _plain(data) != wanted and _UNKNOWN.sub(b"", _plain(data)) != wanted:
        said = f"`{path}` was edited, or another program wrote it."
        return warned(f"{code}:edited", said, path, _EDITED)
    return passed(code, f"`{path}` is up to date.", path)


def _plain(data: bytes) -> bytes:
    """Git may have brought the file with the line ends of another system."""
    return data.replace(b"\r\n", b"\n")


def _entry(root: str, state: State) -> Iterator[Problem]:
    wanted = entry_file(state.bundle)
    if _leads_out(root, wanted):
        said = f"The entry block belongs in `{cut(wanted, 200)}`, which is outside the project."
        yield failed("entry:escape", said, _STATE, "Name a file inside the project.")
        # What cannot be a path cannot be asked for either.
        if "\0" in wanted or not _is_encodable(wanted):
            return
    path = chosen_entry(root, state.bundle)
    if path != wanted and not _leads_out(root, wanted):
        said = f"The entry block belongs in `{cut(wanted, 200)}`, which is not a document; `{path}` has it."
        yield warned("entry:unfit", said, _STATE, "`memory journal update` chooses again.")
    yield _block(root, path, state)
    for name in ENTRY_FILES:
        if name != path and _held_block(root, name, path):
            said = f"`{name}` has an entry block too, from the time when it was the file for it."
            yield warned("entry:leftover", said, name, _WRITES)


def _leads_out(root: str, wanted: str) -> bool:
    """Whether a path is no place within the project, by its name or through a link."""
    if "\0" in wanted or not _is_encodable(wanted) or os.path.isabs(wanted) or wanted.startswith("~"):
        return True
    if os.path.normpath(wanted.replace("\\", "/")).split("/")[0] == "..":
        return True
    try:
        follow_inside(root, wanted)
    except QuireError:
        return True
    return False


def _is_encodable(name: str) -> bool:
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        return False
    return True


def _block(root: str, path: str, state: State) -> Problem:
    try:
        data = read_bytes(follow_inside(root, path), FILE_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return failed("entry:file", f"The entry file `{path}` is missing.", path, _AGREED)
    except OSError as error:
        said = f"The entry file `{path}` cannot be read: {(error.strerror or str(error)).lower()}."
        return failed("entry:read", said, path, "Move it away.")
    marker = entry_marker(data)
    if marker is None:
        return failed("entry:marker", f"`{path}` has no entry block.", path, _AGREED)
    if (marker.version, marker.bundle_hash) != (ENTRY_VERSION, state.bundle_hash):
        return failed("entry:drift", f"The entry block in `{path}` was written for another bundle.", path, _WRITES)
    if place_entry(data, render_entry(state.bundle_hash)) != data:
        said = f"The entry block in `{path}` was edited, or another program wrote it."
        return warned("entry:edited", said, path, _EDITED)
    return passed("entry:file", f"The entry block in `{path}` is up to date.", path)


def _held_block(root: str, name: str, entry: str) -> bool:
    try:
        real = follow_inside(root, name)
        return real != follow_inside(root, entry) and entry_marker(read_bytes(real, FILE_BYTES)) is not None
    except (OSError, QuireError):
        return False
