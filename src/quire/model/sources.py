"""The interface between the index and the layers: file stamps, contents, and changes just made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, runtime_checkable

import msgspec

from quire.model.records import Edge, Problem, Record, RecordSummary
from quire.model.vocabulary import LayerName

Item = Record | Edge | Problem | RecordSummary


class IndexSource(Protocol):
    """What a layer gives to the index: stamps of its files, and the records in named files."""

    layer: LayerName
    base: str
    """The folder that the names of folders are meant from."""

    def folder_stamps(self) -> dict[str, int]:
        """When folders last gained or lost a name; none where that says nothing of the files."""
        return {}

    def stamps(self, paths: Iterable[str] | None = None) -> dict[str, str]: ...

    def read(self, paths: Iterable[str]) -> Iterator[Item]: ...


@runtime_checkable
class Fitting(Protocol):
    """A layer whose files have to fit each other, and are changed together."""

    def moment(self) -> str | None:
        """The same as before if nobody wrote in between; None while someone does."""

    def still(self) -> AbstractContextManager[None]:
        """Nobody writes meanwhile, as far as that can be had."""


class Written(msgspec.Struct, frozen=True):
    """A change just made to a layer's files: which ones, and what the folders looked like before it."""

    layer: LayerName
    before: dict[str, int]
    paths: list[str]


class Patch(msgspec.Struct, frozen=True, kw_only=True):
    """A change just made inside one file that holds many records: what is gone, and what is new.

    It counts only where the file looked before it as the index knew it.
    """

    layer: LayerName
    path: str
    before: str
    after: str
    """Stamps of the file; empty where it was not there."""
    gone: Sequence[str]
    """Refs of records and edges; what changed is gone and new."""
    items: Sequence[Item]
