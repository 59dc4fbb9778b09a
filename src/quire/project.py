"""`Project`: the context that verbs run in, with root, `World`, git, layers and index."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Self, TypeVar

from quire.files.discovery import find_root
from quire.files.git import Git
from quire.files.sparse_checkout import refuse_hidden
from quire.files.world import World, real_world
from quire.layers.graph.layout import FOLDER, INDEX
from quire.layers.graph.store import GraphStore
from quire.layers.journal.layout import FOLDER as JOURNAL_FOLDER
from quire.layers.journal.layout import INDEX as JOURNAL_INDEX
from quire.layers.journal.layout import LOCAL as JOURNAL_LOCAL
from quire.layers.presence import MARKERS, has_memory
from quire.layers.profile.layout import FOLDER as PROFILE_FOLDER
from quire.layers.table import HOMES, LAYERS
from quire.model.errors import NotInitialized
from quire.model.records import Record, weight_at
from quire.model.sources import IndexSource, Patch, Written

if TYPE_CHECKING:
    from quire.files.freshness import Freshness
    from quire.inbox.rejections import Rejections
    from quire.index.catalog import Index
    from quire.layers.profile.places import ProfilePlaces
    from quire.upkeep.views.shared_verdicts import KnownVerdicts

Result = TypeVar("Result")

_REJECTED = "rejected"


class Project:
    """One project's root and surroundings, its layers, its index."""

    def __init__(self, root: str, world: World) -> None:
        self.root = root
        self.world = world
        self.git = Git(root, world.env)
        self.graph = GraphStore(root)
        self.access_times: dict[str, str] | None = None
        self.freshness: Freshness | None = None
        """Shared by all projects that a long-lived process opens, so that questions in a row cost less."""
        self.progress: Callable[[int, int, str], None] | None = None
        """Gets the progress of long work: done, of how many, at what. It may raise, which ends the work."""
        self.tell: Callable[[str], None] = lambda _: None
        """Says what long work is at; by default to nobody."""
        self.read_only = False
        """Whether whoever asks may only read: then documents of older versions are read as they are, and not even that
        something was read is noted."""
        self.known_verdicts: KnownVerdicts | None = None
        """Verdicts that a long-lived process has at hand, as long as nothing changed on disk."""
        self.deadline: float | None = None
        """When a hook stops to work out verdicts; what it leaves open the next one finds out."""
        self.by_person = False
        """Whether a person acts here, at a terminal or on the page: what is written then counts as reviewed."""

    @classmethod
    def open(cls, start: str | None = None, world: World | None = None) -> Self:
        """The project that holds `start`, or the current folder."""
        world = world or real_world()
        where = os.path.join(world.cwd, start) if start else world.cwd
        return cls(find_root(where, *MARKERS), world)

    def initialized(self) -> bool:
        """Whether any layer of a memory is here."""
        return has_memory(self.root)

    def recover(self) -> None:
        """Complete what a dead writer left; of storage of another version nothing is read or written."""
        refuse_hidden(self.git, tuple(home.folder for home in HOMES))
        for layer in LAYERS:
            layer.recover(self)

    def ready(self) -> None:
        """There is a memory, of our version, and no work of a dead writer is left."""
        self.recover()
        try:
            self.need_config()
        except NotInitialized as error:
            there = [name for name, has in (("profile", self.has_profile()), ("journal", self.has_journal())) if has]
            if there:
                error.hint = " ".join(
                    (error.hint or "", *(f"The {name} that is here needs none: see `memory {name}`." for name in there))
                ).strip()
            raise

    def ready_to_ask(self) -> None:
        """There is something that can be asked: a memory of our version, or a profile or a journal alone."""
        self.recover()
        try:
            self.need_config()
        except NotInitialized:
            if not self.has_profile() and not self.has_journal():
                raise

    def need_config(self) -> None:
        """There is a configuration; where git alone has one, the error says how to bring it back."""
        try:
            self.graph.config()
        except NotInitialized as error:
            from quire.upkeep.init import LOST, restoring_command

            command = restoring_command(self.graph, self.git)
            if not command:
                raise
            hint = f"Bring it back with `{command}`."
            raise NotInitialized(LOST, hint=hint, details=error.details) from None

    def has_profile(self) -> bool:
        """Whether there is a folder for a profile: two looks at the disk, since most projects have none."""
        return os.path.isdir(os.path.join(self.root, PROFILE_FOLDER))

    def has_journal(self) -> bool:
        return os.path.isdir(os.path.join(self.root, JOURNAL_FOLDER))

    def profile_places(self) -> ProfilePlaces:
        from quire.layers.profile.places import find_places

        return find_places(self.root, self.world.memory_home, self.world.home)

    def rejections(self) -> Rejections | None:
        """What must not be written, as it is now; None where nobody ever rejected anything, found out by one look."""
        if not os.path.lexists(os.path.join(self.root, FOLDER, _REJECTED)):
            return None
        from quire.inbox.rejections import read_rejections

        return read_rejections(self.root)

    def accessed(self) -> dict[str, str]:
        """When which fact was last read on this machine; looked up once."""
        if self.access_times is None:
            from quire.layers.facts.access import read_access

            self.access_times = read_access(self.root)
        return self.access_times

    def weigh(self) -> Callable[[Record], float]:
        """What a record counts today."""
        now = self.world.now()

        def weigh(record: Record) -> float:
            read_at = self.accessed().get(record.ref.removeprefix("fact:"), "") if record.half_life else ""
            return weight_at(record, now, read_at)

        return weigh

    def sources(self) -> list[IndexSource]:
        """Every layer that has files here."""
        return [layer.source(self) for layer in LAYERS]

    def index_folder(self) -> str | None:
        """Where the index is kept; nowhere, where the project has no folder of ours and asked for none."""
        folder = os.path.join(self.root, FOLDER)
        if os.path.isdir(folder):
            return os.path.join(folder, INDEX)
        # A journal can be large; its own folder for this machine holds the index then.
        local = os.path.join(self.root, JOURNAL_FOLDER, JOURNAL_LOCAL)
        return os.path.join(local, JOURNAL_INDEX) if os.path.isdir(local) else None

    def with_index(self, work: Callable[[Index], Result], written: Written | Patch | None = None) -> Result:
        from quire.index.open_index import with_index

        tell = self.progress
        progress = (lambda done, total: tell(done, total, "Reading the memory's files")) if tell else None
        return with_index(self.index_folder(), self.sources(), work, written, self.freshness, progress)

    def in_one_state(self, read: Callable[[], Result]) -> Result:
        """What is read of many files, as they were at one moment; `read` may be called more than once."""
        from quire.files.write_access import in_one_state

        places = dict.fromkeys(place for layer in LAYERS for place in layer.places(self))
        return in_one_state(read, self.world, list(places))
