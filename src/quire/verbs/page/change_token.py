"""Whether anything changed on disk that somebody who looks at this project would see."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from quire.layers.graph.layout import FOLDER, NODES
from quire.model.errors import QuireError
from quire.project import Project

if TYPE_CHECKING:
    from quire.model.sources import Source

_LOCAL = "local"
_ASIDE = ("index", "recovery", ".backup", ".lock")


def view_pulse(project: Project) -> str:
    """The same as long as nothing changed: the memory's files, what is local to it, the code it speaks of."""
    memory = _digest(_memory_looks(project))
    watched = _watched_paths(project, memory)
    return _digest((memory, *_looks(project.root, watched)))


def judged_anew(project: Project) -> None:
    """Verdicts were worked out: they may rest on files that nobody looked at before."""
    project._judged += 1


def _memory_looks(project: Project) -> Iterator[str]:
    for source in project.sources():
        with contextlib.suppress(QuireError, OSError):
            yield _files_look(project, source)
    folder = os.path.join(project.root, FOLDER)
    yield from _folder_looks(folder)
    for name in (_LOCAL, "rejected"):
        yield from _folder_looks(os.path.join(folder, name))


def _files_look(project: Project, source: Source) -> str:
    """The files of a layer in one text; looked at again only if the kernel would not have told of a change."""
    folders = source.folder_stamps()
    looks = project.looks if folders else None
    # No other project's looks count here, not even those of another one that was opened for this root.
    place = f"{project.root} {id(project)}"
    known = project._files_looked.get(source.layer)
    if looks is not None and known is not None and looks.suffices(place, source.layer, folders):
        return known
    begun = looks.begin(place, source.layer, folders, source.base) if looks is not None else (0.0, 0)
    told = [f"{path} {stamp}" for path, stamp in source.stamps().items()]
    made = _digest([*told, *(f"{path} {changed}" for path, changed in folders.items())])
    project._files_looked = {**project._files_looked, source.layer: made}
    if looks is not None:
        looks.note(place, source.layer, folders, begun)
    return made


def _watched_paths(project: Project, memory: str) -> tuple[str, ...]:
    """The files that verdicts rest on; found out anew when the memory itself changed, or verdicts did."""
    now = (memory, project._judged)
    if now != project._watched_for:
        from quire.upkeep.verdicts import rested_on

        with contextlib.suppress(QuireError):
            nodes = f"{FOLDER}/{NODES}/"
            found = project.with_index(rested_on)
            # How the nodes themselves look is known already.
            project._watched = tuple(path for path in found if not path.startswith(nodes))
            project._watched_for = now
    return (*project._watched, ".git/HEAD", ".git/index", ".git/logs/HEAD")


def _folder_looks(folder: str) -> Iterator[str]:
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.name not in _ASIDE and entry.name != _LOCAL:
                with contextlib.suppress(OSError):
                    yield f"{entry.path} {_look(entry.stat(follow_symlinks=False))}"


def _looks(root: str, paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        try:
            yield _look(os.stat(os.path.join(root, path), follow_symlinks=False))
        except (OSError, ValueError):
            yield "-"


def _look(stat: os.stat_result) -> str:
    return f"{stat.st_mtime_ns} {stat.st_size} {stat.st_ino}"


def _digest(parts: Iterable[str]) -> str:
    made = hashlib.blake2b(digest_size=12)
    for part in parts:
        made.update(part.encode("utf-8", "surrogateescape"))
        made.update(b"\0")
    return made.hexdigest()
