"""The protocol of a layer: what check, repair, purge, recovery, diff, export and the index ask of it.

Such work loops over the table of layers and knows none of them by name. A layer is one object without state; where it
needs a project, it is given one. What a layer has no use for has a default here.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Literal, Protocol

import msgspec

from quire.files.fragments import fragments_of
from quire.files.git import Git
from quire.files.layout import BACKUP, INDEX, LOCAL, LOCK, MEMORY, RECOVERY
from quire.files.paths import read_bytes
from quire.files.transaction import FileUpdate
from quire.files.world import World
from quire.files.write_access import LockedFolder, recover_folder
from quire.model.contested import KEPT, RECORD, Choice, ContestedField, MergedFile
from quire.model.records import Edge, Problem, Record, RepairStep
from quire.model.sources import IndexSource
from quire.model.vocabulary import LayerName

if TYPE_CHECKING:
    from quire.layers.record_details import RecordDetails


class Site(Protocol):
    """A project as a layer sees it."""

    root: str
    world: World
    git: Git


class Home(msgspec.Struct, frozen=True, kw_only=True):
    """A folder of the project that one or more layers keep their files in: it has one lock, and one transaction."""

    folder: str
    part: str
    """What the part of a repair is called that is made here."""
    generated: tuple[str, ...]
    """Names right below the folder of what is not the truth: made from it, or of this machine alone."""
    ignored: tuple[str, ...]
    """The lines of .gitignore that keep such files out of git."""
    untracked: tuple[str, ...]
    """Files and folders that a check looks for in git, from the project's root."""
    code: str
    """The code of the problem that git sees one of them."""
    ignored_by: str
    """What else adds the lines, besides a repair."""

    def path(self, root: str) -> str:
        return os.path.join(root, self.folder)

    def holds(self, path: str) -> bool:
        """Whether a file, from the project's root, lies in the folder."""
        return path.startswith(f"{self.folder}/")

    def exists(self, root: str) -> bool:
        """Whether the folder is there, and no link."""
        path = self.path(root)
        return os.path.isdir(path) and not os.path.islink(path)


MEMORY_HOME = Home(
    folder=MEMORY,
    part="memory",
    generated=(INDEX, LOCAL, RECOVERY, BACKUP, LOCK),
    ignored=(
        f"{MEMORY}/{INDEX}/",
        f"{MEMORY}/{LOCAL}/",
        f"{MEMORY}/{RECOVERY}/",
        f"{MEMORY}/{BACKUP}/",
        f"{MEMORY}/{LOCK}",
    ),
    # The lock is there for moments only, and who looks may hold it.
    untracked=tuple(f"{MEMORY}/{name}" for name in (INDEX, LOCAL, RECOVERY, BACKUP)),
    code="MemoryNotIgnored",
    ignored_by="`memory init`",
)
"""The folder that the graph and the facts share."""


class Repair(msgspec.Struct, frozen=True, kw_only=True):
    """What a layer would change to set right what a check found."""

    fixes: tuple[RepairStep, ...] = ()
    changes: tuple[FileUpdate, ...] = ()
    """Below the layer's folder: all of them or none."""
    pages: tuple[FileUpdate, ...] = ()
    """Below the project: what the layer itself writes anew, once the changes are made."""
    passing: tuple[str, ...] = ()
    """Paths of changes that are gone again when the pages are written."""


class Holding(msgspec.Struct, frozen=True, kw_only=True):
    """Where a record is kept."""

    paths: tuple[str, ...]
    """Files that git may know, from the project's root."""
    part: Callable[[bytes], bytes | None]
    """What of a file is said of the record alone; None where it holds nothing of it."""
    shared: bool = True
    """Whether the files hold other records, too."""
    fragments: str = ""
    """A log, from the project's root, whose fragments hold what the only file does not hold yet."""


class Layer(ABC):
    """One kind of memory, over its own files."""

    name: LayerName
    heading: str
    """What an export for people calls it."""
    home: Home
    tracked: tuple[str, ...]
    """The files and folders that git keeps, from the project's root."""
    logs: tuple[str, ...] = ()
    """The files of these, from the project's root, that branches add to in fragments."""
    live: tuple[str, ...] = ("active",)
    """The statuses of records that still say something."""
    kinds: Sequence[str]
    """The kinds of its records, in the order of an export."""
    sections: Sequence[str]
    """The parts of the layer, in the order of an export."""
    words: Mapping[str, Sequence[str]]
    """The closed lists of values that its records use, by name, as agents see them."""
    changed_lists: tuple[str, ...]
    """The names under which a diff lists which records changed."""
    set_aside: Mapping[str, Callable[[bytes], bytes]] = {}
    """Files of this machine that a repair sets aside when they are damaged, and what of each goes on."""
    sets_itself_aside: tuple[str, ...] = ()
    """Such files that the next change sets aside by itself."""
    pages: tuple[str, ...] = ()
    """Files outside of its folder that are made from it, from the project's root."""
    reads_contents: bool = True
    """Whether `records_in` tells of its records; of others only `changed` is known."""
    has_private: bool = False
    """Whether some of its records may be this user's alone."""
    page_folder: str = ""
    """The folder of these files, if they have one of their own."""
    index: str = ""
    """Where, below its folder, the index may be kept where the project has no other folder of ours."""

    # -- the files ------------------------------------------------------------------------

    @abstractmethod
    def source(self, site: Site) -> IndexSource:
        """What the index reads the layer from."""

    @abstractmethod
    def access(self, site: Site, operation: str) -> AbstractContextManager[None]:
        """The right to write to the layer's folder."""

    def recover(self, site: Site) -> None:
        """Before a read: complete what a dead writer left."""
        recover_folder(site.root, self.home.folder, site.world)

    @abstractmethod
    def storage(self, site: Site) -> Storage | None:
        """Whether the files can be worked with; None where there are none."""

    def places(self, site: Site) -> list[LockedFolder]:
        """The folders that have to be read at one moment, with their locks."""
        return [LockedFolder(site.root, self.home.folder)]

    def refuse_other_version(self, site: Site) -> None:
        """Raise where the storage is of a version that must not be written to."""

    # -- check and repair -----------------------------------------------------------------

    @abstractmethod
    def check(self, site: Site) -> Iterable[Problem]:
        """What is wrong with the files; paths are from the project's root."""

    @abstractmethod
    def count_files(self, site: Site) -> int:
        """How many files a check looks at."""

    def repair(self, site: Site, problems: Sequence[Problem], unmerged: Collection[str]) -> Repair:
        """What loses nothing and sets these problems right; files that git holds as unmerged are left alone."""
        return Repair()

    def write_pages(self, site: Site) -> list[Problem]:
        """Write anew what is due, or of another state, of what is made from the layer; the caller has access."""
        return []

    # -- merges -----------------------------------------------------------------------------

    def fragments(self, site: Site) -> list[str]:
        """The files, from the project's root, that branches appended to instead of a log."""
        return [path for log in self.logs for path in fragments_of(site.root, log)]

    def fold(self, site: Site) -> list[str]:
        """Take the fragments into the files that they belong to; what was written. The caller has access."""
        return []

    def merge(self, path: str, base: bytes | None, ours: bytes | None, theirs: bytes | None) -> MergedFile | None:
        """Merge three versions of a file, named from the project's root; None where a merge of texts is right.

        A version is None where the file is not there. Ours and theirs may be exchanged: the result is the same, byte
        for byte. Raises InvalidStore where a version cannot be read.
        """
        return None

    def contested_in(self, path: str, data: bytes) -> list[ContestedField]:
        """What branches disagree on in a file."""
        return []

    def settled(self, path: str, data: bytes, choices: Sequence[Choice]) -> bytes | None:
        """The file with these fields settled; None where it is removed with its record."""
        return data

    def value_in(self, record: Record, field: ContestedField, side: bytes, now: bytes) -> Any:
        """The value that another version of the file gives a contested field of a record."""
        from quire.layers.record_parts import fields_of

        part = self.holding(record).part(side)
        return KEPT if field.field == RECORD and part else fields_of(part).get(field.field)

    def both_of(self, field: ContestedField, now: bytes) -> Any:
        """All values of a contested field as one; None where this says nothing."""
        lists = [value for value in field.values if isinstance(value, list)]
        return [item for value in lists for item in value] if len(lists) == len(field.values) else None

    def deleted_elsewhere(self, path: str, data: bytes) -> bytes:
        """The file with a note that another branch deleted its record, which this one changed."""
        return data

    # -- purge ------------------------------------------------------------------------------

    def rehash(self, before: Mapping[str, bytes], after: Mapping[str, bytes | None]) -> dict[str, bytes]:
        """Files below the folder whose digests held before and do not any more, with digests that hold."""
        return {}

    def is_named_by_title(self, path: str) -> bool:
        """Whether the name of a file below the folder is made from a title."""
        return False

    def outside(self, site: Site) -> LockedFolder | None:
        """A folder outside of the project that holds files of the layer."""
        return None

    def remake(self, site: Site) -> None:
        """Write all pages anew, and forget what else is made from the files."""

    # -- records ----------------------------------------------------------------------------

    @abstractmethod
    def changed(self, site: Site, path: str, before: bytes | None, after: bytes | None) -> Mapping[str, Sequence[str]]:
        """Which records a changed file is about, by one of `changed_lists`."""

    @abstractmethod
    def holding(self, record: Record) -> Holding:
        """Which files hold a record, and what in them is said of it alone."""

    def is_fragment(self, path: str) -> bool:
        """Whether a file, from the project's root, holds what a branch says of records in other files."""
        return False

    def files_in_fragment(self, data: bytes) -> Sequence[str]:
        """The files, from the project's root, that such a fragment says something of."""
        return ()

    def has_anchors(self, path: str) -> bool:
        """Whether a file, from the project's root, may hold a record with anchors, and that record alone."""
        return False

    def anchors_in(self, data: bytes) -> Sequence[str] | None:
        """The anchors of the live record that such a file holds, read without the rest; None where it holds none."""
        return None

    def read_together(self, path: str) -> tuple[str, ...]:
        """The files that make up the record that a file belongs to, itself among them."""
        return (path,)

    def records_in(self, files: Mapping[str, bytes]) -> Iterable[Record | Edge | Problem]:
        """The records and relations that contents of files hold, wherever they come from, such as a commit."""
        return ()

    def says_the_same(self, record: Record, now: bytes | None, then: Sequence[bytes]) -> bool:
        """Whether other contents of a record's files have its words; counters and dates beside them may differ."""
        holding = self.holding(record)
        ours = holding.part(now) if now is not None else None
        return ours is not None and ours == holding.part(then[0])

    def is_private(self, record: Record) -> bool:
        """Whether only this user has the record."""
        return False

    def says(self, record: Record) -> list[str]:
        """The texts of a record that must not say what was rejected; none where it is not looked at."""
        return [record.title, record.text, f"{record.title}\n{record.text}"]

    @abstractmethod
    def details(self, site: Site, record: Record, weight: float) -> RecordDetails:
        """What a person sees of a record; `weight` is what it counts today."""

    @abstractmethod
    def how_to_retire(self, record: Record) -> str:
        """How a record is retired that must not be kept."""


class Storage(msgspec.Struct, frozen=True, kw_only=True):
    """What `memory doctor` says of the files of one layer."""

    message: str
    state: Literal["ok", "warning", "error"] = "ok"
    hint: str = ""


def document_storage(root: str, path: str, key: str, known: Collection[object]) -> Storage | None:
    """The storage of a layer whose version stands in a JSON document; None where there is no such file."""
    if not os.path.lexists(os.path.join(root, path)):
        return None
    try:
        fields = msgspec.json.decode(read_bytes(os.path.join(root, path)), type=dict[str, msgspec.Raw])
        version = msgspec.json.decode(fields[key]) if key in fields else None
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        hint = f"`memory check` says where; `git restore {path}` brings back a committed one."
        return Storage(message=f"{path} cannot be read ({error}).", state="error", hint=hint)
    if version not in known:
        said = f"{path} has the version {version!r}, which is not known."
        return Storage(message=said, state="error", hint="Update Quire.")
    return Storage(message=f"{path}, version {version}" if version is not None else path)
