"""`memory rebuild`: rebuild the index from the files."""

from __future__ import annotations

import os
from typing import Annotated, Any

import msgspec

from quire.index.catalog import Progress
from quire.layers.graph.layout import INDEX
from quire.model.records import Problem
from quire.model.text import counted
from quire.project import Project
from quire.upkeep.rebuild import Rebuilt, rebuild_memory
from quire.verbs.verb import Arguments, Lines, Option, Result, Verb


class Rebuild(Arguments, frozen=True, kw_only=True):
    semantic: Annotated[
        str | None,
        Option(
            metavar="FOLDER", help="Embed the documents with the model all-MiniLM-L6-v2 in this folder.", is_path=True
        ),
    ] = None


class IndexRebuilt(Result, kw_only=True):
    found: Rebuilt
    shows_vectors: bool

    def fields(self) -> dict[str, Any]:
        # The last two are of the original program.
        return {**msgspec.structs.asdict(self.found), "index_rebuilt": True, "event_appended": False}


def rebuild(project: Project, given: Rebuild) -> IndexRebuilt:
    """Rebuild the search index from the files.

    You rarely need it: the index follows the files, and is rebuilt when it is missing or damaged. With --semantic,
    every passage is embedded with a language model, so that questions in other words find more; see `memory docs
    semantic`. That takes minutes; if interrupted, run the same command again to continue.
    """
    folder = project.index_folder()
    if folder is None or not project.has_journal():
        project.ready()
        folder = os.path.join(project.graph.folder, INDEX)
    else:
        project.ready_to_ask()
    found = rebuild_memory(
        folder,
        project.sources(),
        _progress(project, "Files"),
        semantic=os.path.join(project.world.cwd, given.semantic) if given.semantic is not None else None,
        taught=_progress(project, "Passages"),
        events=sum(not isinstance(event, Problem) for _, _, event in project.graph.events()),
    )
    return IndexRebuilt(found=found, shows_vectors=given.semantic is not None)


def _progress(project: Project, things: str) -> Progress | None:
    tell = project.progress
    return (lambda done, total: tell(done, total, things)) if tell else None


def lines(done: IndexRebuilt) -> Lines:
    found = done.found
    yield f"Indexed {counted(found.records, 'record')} and {counted(found.edges, 'relation')}."
    if done.shows_vectors:
        yield "Vectors: " + ", ".join(f"{number:,} in {space}" for space, number in found.vectors.items()) + "."
    for path in found.unreadable:
        yield f"  could not be read: {path} (`memory check` says why)"


VERB = Verb(
    takes=Rebuild,
    run=rebuild,
    lines=lines,
    counts="done",
    examples="""Examples:
  memory rebuild
  memory rebuild --semantic ~/models/all-MiniLM-L6-v2
""",
)
