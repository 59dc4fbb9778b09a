"""The index: refreshed from the layers' files, queried for records and edges."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Sequence
from time import sleep
from typing import TYPE_CHECKING, cast

from quire.index.schema import EDGE_COLUMNS, RECORD_COLUMNS, TABLES, edge_of_row, record_of_row
from quire.index.search import Filter, Searcher
from quire.index.text_analysis import match_any
from quire.index.verdict_cache import VerdictCache
from quire.index.writer import Writer
from quire.model.records import Edge, Record
from quire.model.sources import Fitting, IndexSource, Patch, Written
from quire.model.vocabulary import LayerName

if TYPE_CHECKING:
    from quire.files.freshness import Freshness
    from quire.index.sentence_model import SentenceModel

_EMPTIED = tuple(name for name in re.findall(r"CREATE TABLE (\w+)", TABLES) if name != "home")
_SMALL = 500
_MANY = 200
"""From how many files on reading them takes long enough to be told of."""

_LOOKS, _PAUSE_SECONDS = 10, 0.02
"""How often files are read again that someone changed meanwhile; then writers are asked to wait."""

Progress = Callable[[int, int], None]
"""Called with how many files are done, of how many."""

_UNREAD = "CanonicalFileUnsafe"
"""The problem of a file that could not be read at all."""


class _Overtaken(Exception):
    """Someone wrote while the files were read: what was read may be half of a change."""


class Index(VerdictCache):
    """One project's index over all layers."""

    freshness: Freshness | None = None
    """Where a process that stays alive remembers when it last looked at every file."""
    place = ""
    progress: Progress | None = None
    """Who wants to know how far it is, where many files have to be read."""

    def close(self) -> None:
        self._connection.close()

    def searcher(self) -> Searcher:
        return Searcher(self._connection)

    # -- keeping fresh ----------------------------------------------------------------------

    def bring_up(self, sources: list[IndexSource], written: Written | Patch | None) -> None:
        """Refresh every layer from its files; after a write of ours, only the files written."""
        for source in sources:
            if written is None or written.layer != source.layer:
                self.refresh(source)
            elif isinstance(written, Patch):
                self._patch(source, written)
            else:
                self.apply(source, written)

    def make_anew(self, sources: list[IndexSource], progress: Progress | None) -> None:
        """Forget everything and read every file, in one transaction."""
        with self._writing():
            self._connection.execute("INSERT INTO words (words) VALUES ('delete-all')")
            for table in _EMPTIED:
                self._connection.execute(f"DELETE FROM {table}")
            for source in sources:
                writer = Writer(self._connection, source.layer)
                self._read(source, writer, source.stamps(), source.folder_stamps(), progress)
        for source in sources:
            self.refresh(source)  # someone may have written while the files were read
        self._connection.execute("INSERT INTO words (words) VALUES ('optimize')")

    def refresh(self, source: IndexSource) -> int:
        """Re-read exactly the files that changed since the last refresh; return how many."""
        fitting = cast(Fitting, source) if hasattr(source, "moment") else None
        if fitting is not None:
            with contextlib.suppress(_Overtaken):
                return self._refresh(source, fitting)
            with fitting.still():
                return self._refresh(source, None)
        return self._refresh(source, None)

    def _refresh(self, source: IndexSource, fitting: Fitting | None) -> int:
        moment = fitting.moment() if fitting else ""
        folders = source.folder_stamps()
        if self._checked(source.layer, folders):
            return 0
        freshness = self.freshness if folders else None
        begun = freshness.begin_check(self.place, source.layer, folders, source.base) if freshness else (0.0, 0)
        changed, gone = self._differing(source)
        count = len(changed) + len(gone)
        if count or folders != self._folder_stamps(source.layer):
            with self._writing():
                # Someone may write while the files are read: then what changed since is read, too.
                for _ in range(_LOOKS):
                    self._replace(source, changed, gone, folders)
                    if fitting is None or (moment is not None and moment == fitting.moment()):
                        break
                    sleep(_PAUSE_SECONDS)
                    moment, folders = fitting.moment(), source.folder_stamps()
                    changed, gone = self._differing(source)
                    count += len(changed) + len(gone)
                else:
                    raise _Overtaken
        if freshness is not None:
            freshness.end_check(self.place, source.layer, folders, begun)
        return count

    def _differing(self, source: IndexSource) -> tuple[dict[str, str], list[str]]:
        """The files that are new or other than we know them, with their stamps, and those that are gone."""
        now = source.stamps()
        known = dict(self._rows("SELECT path, stamp FROM files WHERE layer = ?", source.layer))
        changed = {path: stamp for path, stamp in now.items() if known.get(path) != stamp}
        return changed, [path for path in known if path not in now]

    def _checked(self, layer: str, folders: dict[str, int]) -> bool:
        """Whether this process checked every file a moment ago, and nothing was replaced since, nor in the index."""
        if self.freshness is None or not folders or not self.freshness.is_current(self.place, layer, folders):
            return False
        return folders == self._folder_stamps(layer)

    def apply(self, source: IndexSource, written: Written) -> None:
        """Take over a change just written.

        Where the folders looked before it as we knew them, nobody else was here and only the written files
        need a look; otherwise everything is compared.
        """
        if written.before != self._folder_stamps(source.layer) or self._is_small(source.layer):
            self.refresh(source)
            return
        changed = source.stamps(written.paths)
        gone = [path for path in written.paths if path not in changed]
        with self._writing():
            self._replace(source, changed, gone, source.folder_stamps())

    def _patch(self, source: IndexSource, patch: Patch) -> None:
        """Apply a patch to the index if it was made to the indexed version of the file; else re-read the file."""
        with self._writing():
            # Looked at inside: a reader may have taken the change over since it was written.
            if patch.after and self.stamp(patch.layer, patch.path) == patch.before:
                writer = Writer(self._connection, source.layer)
                # Also what is new: a reader may have seen it in the file, and noted how the file looked before.
                writer.forget_refs(
                    [*patch.gone, *(item.ref for item in patch.items if isinstance(item, Record | Edge))]
                )
                for item in patch.items:
                    writer.add(item)
                writer.finish()
                stamp = "INSERT OR REPLACE INTO files (layer, path, stamp) VALUES (?, ?, ?)"
                self._connection.execute(stamp, (patch.layer, patch.path, patch.after))
                return
        self.refresh(source)

    def _is_small(self, layer: str) -> bool:
        """Whether a look at every file costs next to nothing, and so an edit made in place can be noticed, too."""
        query = "SELECT count(*) FROM (SELECT 1 FROM files WHERE layer = ? LIMIT ?)"
        return int(next(self._rows(query, layer, _SMALL + 1))[0]) <= _SMALL

    def _folder_stamps(self, layer: str) -> dict[str, int]:
        return dict(self._rows("SELECT path, changed_ns FROM folders WHERE layer = ?", layer))

    def _replace(self, source: IndexSource, changed: dict[str, str], gone: list[str], folders: dict[str, int]) -> None:
        writer = Writer(self._connection, source.layer)
        for path in [*changed, *gone]:
            writer.forget(path)
        self._read(source, writer, changed, folders, self.progress if len(changed) >= _MANY else None)

    def _read(
        self,
        source: IndexSource,
        writer: Writer,
        changed: dict[str, str],
        folders: dict[str, int],
        progress: Progress | None = None,
    ) -> None:
        """Take in what these files hold; nothing of theirs is in the index any more."""
        layer = source.layer
        self._connection.executemany(
            "INSERT INTO files (layer, path, stamp) VALUES (?, ?, ?)",
            ((layer, path, stamp) for path, stamp in changed.items()),
        )
        for number, item in enumerate(source.read(changed), start=1):
            writer.add(item)
            if progress is not None and (number % 100 == 0 or number == len(changed)):
                progress(number, len(changed))
        writer.finish()
        # What could not be read may be readable the next time, and look the same.
        unread = "SELECT path FROM problems WHERE layer = ?1 AND code = ?2"
        again = f"UPDATE files SET stamp = '' WHERE layer = ?1 AND path IN ({unread})"
        self._connection.execute(again, (layer, _UNREAD))
        self._connection.execute("DELETE FROM folders WHERE layer = ?", (layer,))
        self._connection.executemany(
            "INSERT INTO folders (layer, path, changed_ns) VALUES (?, ?, ?)",
            ((layer, path, changed_ns) for path, changed_ns in folders.items()),
        )

    def teach(self, teacher: SentenceModel, folder: str, progress: Progress | None) -> None:
        """Give every passage the teacher's vector that does not have it yet."""
        from quire.index.model_vectors import store_model_vectors

        store_model_vectors(self._connection, teacher, folder, self.by_ids, progress)

    # -- asking -----------------------------------------------------------------------------

    def records(
        self,
        layer: LayerName,
        kind: str | None = None,
        statuses: tuple[str, ...] = (),
        stage: str | None = None,
        limit: int = -1,
    ) -> list[Record]:
        """Records of a layer, newest first, then by ref; an empty stage means those without one."""
        where, values = ["layer = ?"], [str(layer)]
        if kind:
            where.append("kind = ?")
            values.append(kind)
        if statuses:
            where.append(f"status IN ({','.join('?' * len(statuses))})")
            values += statuses
        if stage is not None:
            where.append("stage = ?")
            values.append(stage)
        return self._found(f"{' AND '.join(where)} ORDER BY updated DESC, ref LIMIT ?", *values, limit)

    def page(self, allowed: Filter, sections: Sequence[str] = (), offset: int = 0, limit: int = -1) -> list[Record]:
        """Records that are allowed: by section in this order and then by age, or without sections the newest first."""
        condition, values = allowed.condition()
        order = "updated DESC, ref"
        if sections:
            places = " ".join(f"WHEN ? THEN {place}" for place, _ in enumerate(sections))
            order = f"CASE section {places} ELSE {len(sections)} END, section, created_at, ref"
            values += sections
        return self._found(f"{condition} ORDER BY {order} LIMIT ? OFFSET ?", *values, limit, offset)

    def refs_from(self, beginning: str, limit: int) -> list[str]:
        """Refs that begin with this text."""
        rows = self._rows("SELECT DISTINCT ref FROM records WHERE ref >= ? ORDER BY ref LIMIT ?", beginning, limit)
        return [ref for (ref,) in rows if ref.startswith(beginning)]

    def stamp(self, layer: LayerName, path: str) -> str:
        """The stamp of a file when it was last indexed; empty if it was not."""
        row = next(self._rows("SELECT stamp FROM files WHERE layer = ? AND path = ?", layer, path), None)
        return "" if row is None else row[0]

    def by_ids(self, ids: list[int]) -> dict[int, Record]:
        """Records by their numbers in this index."""
        listed = ",".join(map(str, ids))
        rows = self._rows(f"SELECT id, {RECORD_COLUMNS} FROM records WHERE id IN ({listed})")
        return {row[0]: record_of_row(row[1:]) for row in rows}

    def find(self, ref: str) -> Record | None:
        """The record with this ref, or the one that answers to it."""
        return self._first("ref = ?", ref) or next(iter(self.named(ref)), None)

    def named(self, name: str) -> list[Record]:
        """The records that can be found by this name."""
        rows = self._rows(
            f"SELECT {RECORD_COLUMNS} FROM records WHERE id IN (SELECT record FROM names WHERE name = ?) ORDER BY ref",
            name,
        )
        return list(map(record_of_row, rows))

    def names_of(self, ref: str) -> list[str]:
        """What else a record can be found by."""
        query = "SELECT name FROM names JOIN records ON records.id = names.record WHERE ref = ? ORDER BY name"
        return [name for (name,) in self._rows(query, ref)]

    def sharing(self, names: Sequence[str], least: int, statuses: Sequence[str], limit: int) -> list[str]:
        """Refs of records with at least so many of these names: the most first, then what counts most."""
        marks, wanted = ",".join("?" * len(names)), ",".join("?" * len(statuses))
        rows = self._rows(
            f"SELECT ref FROM names JOIN records ON records.id = names.record WHERE name IN ({marks})"
            f" AND status IN ({wanted}) GROUP BY records.id HAVING count(*) >= ?"
            " ORDER BY count(*) DESC, weight DESC, updated DESC, ref LIMIT ?",
            *names,
            *statuses,
            least,
            limit,
        )
        return [ref for (ref,) in rows]

    def holding(self, words: Sequence[str], most: int) -> dict[str, list[int]]:
        """For each of these words that at most so many records hold, the numbers of those records."""
        query = "SELECT rowid FROM words WHERE words MATCH ? LIMIT ?"
        found = {word: [row for (row,) in self._rows(query, match_any([word]), most + 1)] for word in words}
        return {word: rows for word, rows in found.items() if len(rows) <= most}

    def summary(self, layer: LayerName) -> bytes | None:
        """What a layer noted of its files as a whole."""
        row = next(self._rows("SELECT value FROM summaries WHERE layer = ?", layer), None)
        return None if row is None else row[0]

    def find_path(self, path: str) -> Record | None:
        """The record that a file holds; a body stands for its sidecar."""
        sidecar = path.removesuffix(".md") + ".json" if path.endswith(".md") else path
        return self._first("layer = 'graph' AND path = ?", sidecar)

    def records_anchored(self) -> list[Record]:
        """Every record that is tied to code, newest first."""
        return self._found("anchors != '[]' ORDER BY updated DESC, ref")

    def records_contested(self) -> list[Record]:
        """Every record that branches disagree on, by ref."""
        return self._found("contested != '[]' ORDER BY ref")

    def _first(self, condition: str, value: str) -> Record | None:
        return next(iter(self._found(f"{condition} ORDER BY id LIMIT 1", value)), None)

    def _found(self, condition: str, *values: object) -> list[Record]:
        """The records of which this holds."""
        rows = self._rows(f"SELECT {RECORD_COLUMNS} FROM records WHERE {condition}", *values)
        return list(map(record_of_row, rows))

    def counts(self, layer: LayerName) -> dict[tuple[str, str, str], int]:
        """How many records there are of each kind, status and stage (empty where there is none)."""
        rows = self._rows(
            "SELECT kind, status, stage, sum(number) FROM tallies WHERE layer = ? AND number > 0 GROUP BY 1, 2, 3",
            layer,
        )
        return {(kind, status, stage): number for kind, status, stage, number in rows}

    def section_counts(self, layer: LayerName, scope: str = "") -> dict[tuple[str, str, str], int]:
        """How many records there are of each kind, section and status within a scope."""
        rows = self._rows(
            "SELECT kind, section, status, sum(number) FROM tallies WHERE layer = ? AND scope = ? AND number > 0"
            " GROUP BY 1, 2, 3",
            layer,
            scope,
        )
        return {(kind, section, status): number for kind, section, status, number in rows}

    def scopes(self, layer: LayerName) -> dict[str, int]:
        """How many records stand in which scope."""
        query = "SELECT scope, sum(number) FROM tallies WHERE layer = ? AND number > 0 GROUP BY scope ORDER BY scope"
        return dict(self._rows(query, layer))

    def edge_count(self, layer: LayerName) -> int:
        return int(next(self._rows("SELECT count(*) FROM edges WHERE layer = ?", layer))[0])

    def live_edge_count(self, layer: LayerName) -> int:
        """Of the edges that a layer holds as such, those that are active."""
        query = "SELECT count(*) FROM edges WHERE layer = ? AND status = 'active' AND length(raw) > 0"
        return int(next(self._rows(query, layer))[0])

    def edges(self, layer: LayerName) -> list[Edge]:
        """Every edge that a layer holds, by their refs."""
        return self._edges("layer = ?", layer)

    def edges_of(self, ref: str) -> list[Edge]:
        """Edges from or to a record, by their refs."""
        return self._edges("source = ?1 OR target = ?1", ref)

    def edge(self, ref: str) -> Edge | None:
        return next(iter(self._edges("ref = ?", ref)), None)

    def _edges(self, condition: str, value: str) -> list[Edge]:
        return list(
            map(edge_of_row, self._rows(f"SELECT {EDGE_COLUMNS} FROM edges WHERE {condition} ORDER BY ref", value))
        )

    def spaces(self) -> dict[str, int]:
        """How many passages have a vector in which space."""
        return dict(self._rows("SELECT space, count(*) FROM vectors GROUP BY space ORDER BY space"))

    def knows_space(self, name: str) -> bool:
        return next(self._rows("SELECT 1 FROM spaces WHERE name = ?", name), None) is not None

    def state(self) -> str:
        """One text for all that is in the index: it stays the same as long as the files do."""
        rows = self._rows("SELECT layer, path, stamp FROM files ORDER BY layer, path")
        return "\n".join(" ".join(row) for row in rows)

    def problems(self) -> list[tuple[str, str, str, str]]:
        """Files that could not be read: layer, path, code, message."""
        return list(self._rows("SELECT layer, path, code, message FROM problems ORDER BY layer, path"))
