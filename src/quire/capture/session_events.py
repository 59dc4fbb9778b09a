"""Turn the sessions of a source into journal events; skip what was imported before.

How far a session was read is noted on this machine. Where the note is missing (another machine, a lost file), the
hashes of the events say how far it was read: each is the hash of everything up to its end. Of a session that grew,
only what was added becomes an event.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from quire.capture.transcripts.discovery import discover
from quire.capture.transcripts.places import shown_path, shown_text
from quire.capture.transcripts.read_session import SessionReader, read
from quire.capture.transcripts.redaction import redacted
from quire.capture.transcripts.types import KnownPlaces, SessionFile, Turn
from quire.files.digests import hex_digest
from quire.files.paths import is_passing, mark_before, storage_failed
from quire.layers.journal import layout
from quire.layers.journal.numbered_ids import moment_of
from quire.layers.journal.types import JournalEvent
from quire.model.errors import QuireError
from quire.model.times import time_text

if TYPE_CHECKING:
    from quire.capture.signals.extraction import SessionSignals

Normalise = Callable[[SessionFile, Iterable[Turn], "SessionSignals"], "SessionSignals"]
"""What may be asked about a session after the rules have looked at it."""
_ITEM_CHARS = 400
_PACKED = (".zst", ".gz")


class SessionNote(Struct, frozen=True, omit_defaults=True):
    """How far a session was read."""

    stamp: str = ""
    offset: int = 0
    hash: str = ""
    fault: str = ""
    """Why nothing in it can be read. It is not tried again before it changes."""
    mark: str = ""
    """What stood before the offset: a session that was rewritten has something else there."""


class SessionOutcome(Struct, frozen=True, kw_only=True):
    """What came of one session. One that could not be read says why; one that holds nothing new has no event."""

    external_id: str
    source_ref: str
    event: JournalEvent | None = None
    """Without an id: that is given when it is written."""
    noted: SessionNote | None = None
    failure: str = ""
    warning: str = ""
    waits: bool = False
    """It was left for later, because someone is still at it."""


def look_through(
    source_id: str,
    source_type: str,
    path: str,
    *,
    root: str,
    home: str,
    now: datetime,
    noted: Mapping[str, SessionNote],
    hashes: Mapping[str, Collection[str]],
    settled_before: float = 0.0,
    ended: str = "",
    all_folders: bool = False,
    normalise: Normalise | None = None,
    counted: Callable[[int], None] | None = None,
) -> Iterator[SessionOutcome]:
    """Every session at a path that ran in the repository, or with `all_folders` anywhere.

    A failure of one keeps nobody from the next. Where nothing is wrong with a session that the system refuses to open,
    that is an error: the next one would be refused as well.

    `hashes` are those of the events that there are, by the id of their session. `counted` gets how many there
    are. What changed after `settled_before` waits, but for the session of the file `ended`, which is known to be over.
    """
    places = KnownPlaces(root, home)
    seen = {
        (name, known.stamp) for name, known in noted.items() if not known.hash or known.hash in _known(hashes, name)
    }
    found = discover(source_type, path, root="" if all_folders else root, known=seen)
    sessions = list(found)
    if counted is not None:
        counted(len(sessions))
    for item in found.skipped:
        ref = shown_path(item.path, places) or "…"
        yield SessionOutcome(external_id="", source_ref=ref, warning=f"passed over: {item.reason}")
    for session in sessions:
        name = _kept_name(session.external_id)
        known = noted.get(name)
        if known is not None and known.hash and known.hash not in _known(hashes, name):
            known = None  # the note is of another history: of another branch, or of one that was begun anew
        look = SessionOutcome(external_id=name, source_ref=_kept_ref(session, name, places))
        if known is not None and known.stamp == session.stamp:
            yield msgspec.structs.replace(look, warning=f"left out: {known.fault}") if known.fault else look
        elif settled_before and _changed_at(session) > settled_before and not session.is_at(ended):
            yield msgspec.structs.replace(look, waits=True)
        else:
            if known is not None and known.offset and known.mark != _mark(session, known.offset):
                known = None  # it was rewritten, or is another file of that name
            yield _look(look, session, known, _known(hashes, name), source_id, places, now, normalise)


def _kept_name(name: str) -> str:
    """The id of a session as it may be told: a name with a secret in it is replaced by its digest."""
    return f"session-{hex_digest(name)[:16]}" if redacted(name)[1] else name[:_ITEM_CHARS]


def _kept_ref(session: SessionFile, name: str, places: KnownPlaces) -> str:
    shown = shown_path(session.path, places)
    return shown if shown and not redacted(shown)[1] else name


def _mark(session: SessionFile, offset: int) -> str:
    """A digest of what stands before an offset; none of a packed file, whose offsets are those of what is in it."""
    return "" if session.path.endswith(_PACKED) else mark_before(session.path, offset)


def count_elsewhere(source_type: str, path: str) -> int:
    """How many sessions there are at a path, wherever they ran; no more than a thousand are counted."""
    return sum(1 for _ in islice(discover(source_type, path), 1000))


def _known(hashes: Mapping[str, Collection[str]], name: str) -> Collection[str]:
    """The hashes of a session's events. Other programs name the second file of one name as the first."""
    return {*hashes.get(name, ()), *hashes.get(name.partition("@")[0], ())}


def _changed_at(session: SessionFile) -> float:
    first = session.stamp.partition(".")[0]
    return int(first) / 1e9 if first.isdigit() else 0.0


def _changed_by(session: SessionFile, now: datetime) -> datetime:
    """When a session that names no time was written: when its file changed, as far as that can be."""
    changed = _changed_at(session)
    return min(datetime.fromtimestamp(changed, now.tzinfo), now) if changed else now


def _look(
    look: SessionOutcome,
    session: SessionFile,
    known: SessionNote | None,
    hashes: Collection[str],
    source_id: str,
    places: KnownPlaces,
    now: datetime,
    normalise: Normalise | None,
) -> SessionOutcome:
    from quire.capture.signals.extraction import extract

    try:
        begin = known if known is not None and not known.fault else _reached(session, hashes, places)
        reading = read(session, begin.offset, root=places.root, home=places.home, content_hash=begin.hash)
        if begin.hash and not begin.offset:
            # A document is read from its beginning each time; what was read before says nothing new.
            turns = _after(reading, begin.hash)
            if turns is None:
                reading = read(session, root=places.root, home=places.home)
                turns = iter(reading)
        else:
            turns = iter(reading)
        signals = extract(turns, root=places.root)
    except (QuireError, OSError, MemoryError) as error:
        if is_passing(error):
            if isinstance(error, OSError):
                raise storage_failed(error, "read the session") from error
            raise
        # The disk may answer the next time, so nothing is noted.
        said = error.message if isinstance(error, QuireError) else f"it cannot be read: {error}"[:300]
        return msgspec.structs.replace(look, failure=shown_text(said, places))
    except (UnicodeError, ValueError, RecursionError) as error:
        return _failed(look, session, f"it cannot be read: {error}"[:300], places)
    if reading.torn and not reading.turns and not begin.offset:
        return msgspec.structs.replace(look, waits=True)  # its first line is being written
    mark = _mark(session, reading.next_offset) if reading.next_offset else ""
    after = SessionNote(session.stamp, reading.next_offset, reading.content_hash, mark=mark)
    bad = reading.bad_lines + reading.long_lines
    if not reading.turns or reading.content_hash in hashes or not signals.summary.strip():
        if bad and not reading.turns and not begin.offset:
            return _failed(look, session, f"none of its {reading.lines:,} lines can be read", places)
        return msgspec.structs.replace(look, noted=after)
    refused = ""
    if normalise is not None:
        again = read(session, begin.offset, root=places.root, home=places.home, content_hash=begin.hash)
        try:
            signals = normalise(session, again, signals)
        except QuireError as error:
            refused = f"summarised by rules, because {error.message[:1].lower()}{error.message[1:]}"
    moment = moment_of(reading.first_at) or moment_of(session.started_at) or _changed_by(session, now)
    event = JournalEvent(
        id="",
        kind=layout.IMPORTED_SESSION,
        source_id=source_id,
        external_item_id=look.external_id,
        created_at=time_text(moment),
        content_hash=reading.content_hash,
        summary=signals.summary,
        signals=signals.signals,
        source_ref=look.source_ref,
    )
    warning = refused or (f"{bad:,} of its lines could not be read" if bad else "")
    return msgspec.structs.replace(look, event=event, noted=after, warning=warning)


def _failed(look: SessionOutcome, session: SessionFile, reason: str, places: KnownPlaces) -> SessionOutcome:
    reason = shown_text(reason, places)
    return msgspec.structs.replace(look, failure=reason, noted=SessionNote(session.stamp, fault=reason))


def _reached(session: SessionFile, hashes: Collection[str], places: KnownPlaces) -> SessionNote:
    """How far the events that there are have come in a session."""
    if not hashes:
        return SessionNote()
    reading = read(session, root=places.root, home=places.home)
    found = SessionNote()
    for _ in reading:
        if reading.content_hash in hashes:
            found = SessionNote(offset=reading.next_offset, hash=reading.content_hash)
    if not found.hash:
        from quire.capture.transcripts.original_hash import original_content_hashes

        ends = [end for digest, end in original_content_hashes(session).items() if digest in hashes]
        if ends:
            # Another program imported it. From there on the hash is ours.
            found = _noted_at(session, max(ends), places)
    return found


def _noted_at(session: SessionFile, offset: int, places: KnownPlaces) -> SessionNote:
    reading = read(session, root=places.root, home=places.home)
    found = SessionNote()
    for _ in reading:
        if reading.next_offset > offset:
            break
        found = SessionNote(offset=reading.next_offset, hash=reading.content_hash)
    return found


def _after(reading: SessionReader, digest: str) -> Iterator[Turn] | None:
    """The turns behind the one with this hash; None where there is none."""
    for _ in reading:
        if reading.content_hash == digest:
            reading.turns = 0
            reading.first_at = reading.last_at = ""
            return iter(reading)
    return None
