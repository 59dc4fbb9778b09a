"""Compute a project's change token: it differs whenever something changed that a viewer would see."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator

import msgspec

from quire.files.digests import hex_digest
from quire.files.freshness import stamp_of
from quire.layers.graph.layout import FOLDER, NODES
from quire.model.errors import QuireError
from quire.model.sources import IndexSource
from quire.project import Project
from quire.upkeep.verdicts import rested_on

_LOCAL = "local"
_ASIDE = ("index", "recovery", ".backup", ".lock")


class TokenMemo(msgspec.Struct):
    """What a long-lived process remembers between two tokens of one project, so that the second costs less."""

    verdict_rounds: int = 0
    """How often verdicts were worked out: whoever does so counts here, since verdicts may rest on other files then."""
    layers: dict[str, str] = {}
    """The digest of each layer's files at the last check."""
    paths: tuple[str, ...] = ()
    """The files that verdicts rest on."""
    paths_for: tuple[str, int] = ("", -1)
    """The state of the memory, and the round of verdicts, in which `paths` were found."""


def change_token(project: Project, memo: TokenMemo) -> str:
    """A digest of stamps: of the memory's files, of what is local to it, of the code that verdicts rest on, of git."""
    memory = _digest(_memory_stamps(project, memo))
    return _digest((memory, *_stamps(project.root, _code_paths(project, memo, memory))))


def _memory_stamps(project: Project, memo: TokenMemo) -> Iterator[str]:
    for source in project.sources():
        with contextlib.suppress(QuireError, OSError):
            yield _layer_digest(project, memo, source)
    folder = os.path.join(project.root, FOLDER)
    yield from _folder_stamps(folder)
    for name in (_LOCAL, "rejected"):
        yield from _folder_stamps(os.path.join(folder, name))


def _layer_digest(project: Project, memo: TokenMemo, source: IndexSource) -> str:
    """The digest of a layer's file stamps; read again only where the last check no longer counts."""
    folders = source.folder_stamps()
    freshness = project.freshness if folders else None
    # Each memo has checks of its own: another one's check says nothing about what is remembered here.
    place = f"{project.root} {id(memo)}"
    known = memo.layers.get(source.layer)
    if freshness is not None and known is not None and freshness.is_current(place, source.layer, folders):
        return known
    begun = freshness.begin_check(place, source.layer, folders, source.base) if freshness is not None else (0.0, 0)
    stamps = [f"{path} {stamp}" for path, stamp in source.stamps().items()]
    made = _digest([*stamps, *(f"{path} {changed}" for path, changed in folders.items())])
    memo.layers[source.layer] = made
    if freshness is not None:
        freshness.end_check(place, source.layer, folders, begun)
    return made


def _code_paths(project: Project, memo: TokenMemo, memory: str) -> tuple[str, ...]:
    """The files that verdicts rest on; looked up again when the memory itself or its verdicts changed."""
    now = (memory, memo.verdict_rounds)
    if now != memo.paths_for:
        with contextlib.suppress(QuireError):
            nodes = f"{FOLDER}/{NODES}/"
            found = project.with_index(rested_on)
            # The stamps of the nodes themselves are part of the token already.
            memo.paths, memo.paths_for = tuple(path for path in found if not path.startswith(nodes)), now
    return (*memo.paths, ".git/HEAD", ".git/index", ".git/logs/HEAD")


def _folder_stamps(folder: str) -> Iterator[str]:
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.name not in _ASIDE and entry.name != _LOCAL:
                with contextlib.suppress(OSError):
                    yield f"{entry.path} {stamp_of(entry.stat(follow_symlinks=False))}"


def _stamps(root: str, paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        try:
            yield stamp_of(os.stat(os.path.join(root, path), follow_symlinks=False))
        except (OSError, ValueError):
            yield "-"


def _digest(parts: Iterable[str]) -> str:
    return hex_digest("\0".join(parts))[:24]
