"""Open sessions: checkpoints from which an episode can be written, also after a crash.

One file for each session in `.memory/local/sessions/`. What a session did is merged into what its file says already,
so a checkpoint may come from several processes, twice, or late. The episode made of it has the same id whoever
makes it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Annotated

import msgspec

from quire.files.digests import hex_digest
from quire.files.json_files import pretty
from quire.files.local_files import LOCAL_VERSION, LocalFile, place_of, read_object, remove_local, spoiled, write_local
from quire.files.paths import inside, is_text
from quire.guard.hostile_text import find_hostile
from quire.guard.secrets import find_secrets
from quire.layers.facts.layout import FOLDER, VERSION_MOST
from quire.layers.facts.types import Episode
from quire.model import limits
from quire.model.errors import InputError, OutsideProject
from quire.model.records import Problem, warning_at
from quire.model.text import cut, one_line, trim, whole
from quire.model.times import instant_in_utc

SESSIONS = "sessions"
SESSION_ID_CHARS = 1_000
NARRATIVE_CHARS = 20_000
_FILE = re.compile(r"[0-9a-f]{32}\.json")
_ELSEWHERE = re.compile(r"/|~|\.\./|[A-Za-z]:")
_NAMES_SHOWN = 5
# How many files and facts are kept, and how many bytes they may take: in a checkpoint, and in the tracked file, where
# a line that is too long would not be read at all.
_CHECKPOINT = (5_000, 1024 * 1024)
_EPISODE = (500, 200_000)

Count = Annotated[int, msgspec.Meta(ge=0)]


class OpenSession(msgspec.Struct, frozen=True, kw_only=True):
    """What is known so far of a session that has not been closed."""

    session_id: Annotated[str, msgspec.Meta(min_length=1)]
    title: str = ""
    started_at: str
    updated_at: str
    turns: Count = 0
    tool_calls: Count = 0
    files: tuple[str, ...] = ()
    """Files that it changed, below the project."""
    facts: tuple[str, ...] = ()
    """Ids of the facts that it stored."""
    narrative: str = ""
    commit: str = ""


def checkpoint_session(root: str, session: OpenSession, token: str) -> OpenSession:
    """Merge a session into its checkpoint; what is stored now."""
    _check_id(session.session_id)
    found, before = _session_in(read_object(root, FOLDER, _name_of(session.session_id)))
    merged = _bounded(root, merge_session(before, session))
    fields = {"version": LOCAL_VERSION, **found.fields, **msgspec.to_builtins(merged)}
    write_local(root, found, pretty(fields), token)
    return merged


def read_sessions(root: str) -> tuple[list[OpenSession], list[Problem]]:
    """The sessions that were not closed, the earliest first, and what is wrong with the rest."""
    names, problems = _listed(root)
    sessions: list[OpenSession] = []
    for name in names:
        found, session = _session_in(read_object(root, FOLDER, f"{SESSIONS}/{name}"))
        if found.problem is not None:
            problems.append(found.problem)
        if session is not None:
            sessions.append(session)
    sessions.sort(key=lambda item: (_moment(item.started_at, _LATEST), item.session_id))
    return sessions, problems


def forget_session(root: str, session_id: str) -> bool:
    """Remove a session's checkpoint, once its episode is stored; False where there is none."""
    found, _ = _session_in(read_object(root, FOLDER, _name_of(session_id)))
    return remove_local(root, found)


def merge_session(old: OpenSession | None, new: OpenSession) -> OpenSession:
    """Two accounts of one session: the larger counts, the wider times, all files and facts, the newer texts."""
    if old is None:
        return new
    if old.session_id != new.session_id:
        said = "Two different sessions cannot be merged."
        raise InputError(said, hint="Keep them apart.", details={"field": "session_id"})
    older, newer = (new, old) if _moment(new.updated_at, _EARLIEST) < _moment(old.updated_at, _EARLIEST) else (old, new)
    return OpenSession(
        session_id=new.session_id,
        title=_said(newer.title, older.title),
        started_at=min(old.started_at, new.started_at, key=lambda at: _moment(at, _LATEST)),
        updated_at=newer.updated_at,
        turns=max(old.turns, new.turns),
        tool_calls=max(old.tool_calls, new.tool_calls),
        files=tuple(dict.fromkeys(old.files + new.files)),
        facts=tuple(dict.fromkeys(old.facts + new.facts)),
        narrative=_said(newer.narrative, older.narrative),
        commit=_said(newer.commit, older.commit),
    )


def episode_of(session: OpenSession, closed_at: str, root: str) -> Episode:
    """The episode that a session leaves. For one that was killed, `closed_at` is when it was last heard of.

    No path leads out of the project at `root`: an absolute one would show where someone's home folder is.
    """
    files = _relative_all((root,), session.files)
    session = msgspec.structs.replace(session, turns=_count(session.turns), tool_calls=_count(session.tool_calls))
    started = _moment(session.started_at, _moment(closed_at, _EARLIEST))
    seconds = max(round((_moment(closed_at, started) - started).total_seconds()), 0)
    date = started.date().isoformat()
    given = one_line(whole(session.title))
    counts = f"{session.turns}t {session.tool_calls}tc"
    return Episode(
        id="session-" + hex_digest(session.session_id)[:12],
        title=cut(f"Session {date}: {given or counts}", limits.TITLE_CHARS),
        narrative=_narrative(session, files, date, seconds),
        date=date,
        session_id=session.session_id,
        created_at=whole(session.started_at),
        fact_ids=_fitting(session.facts, _EPISODE),
        files_changed=_fitting(files, _EPISODE),
        tags=("auto",),
        tool_calls_count=session.tool_calls,
        extra={"turns": session.turns, "seconds": seconds},
    )


def tells_something(episode: Episode) -> bool:
    """Whether it says more than that there was a session, how long it took and what it touched."""
    if "auto" in episode.tags and "turns" in episode.extra:
        told = session_of(episode)
        return bool(told.narrative or told.title)
    return _TEMPLATE not in episode.narrative


def session_of(episode: Episode) -> OpenSession:
    """The account of a session that its episode rests on, so that a later one can be added to it."""
    started = _moment(episode.created_at, _EARLIEST)
    seconds, turns = (
        max(value, 0) if isinstance(value := episode.extra.get(name), int) else 0 for name in ("seconds", "turns")
    )
    calls = episode.tool_calls_count or 0
    title = episode.title.removeprefix(f"Session {episode.date}: ")
    head, _, told = episode.narrative.partition("\n\n")
    commit = _COMMIT.search(head)
    return OpenSession(
        session_id=episode.session_id or "",
        title="" if title == f"{turns}t {calls}tc" else title,
        started_at=episode.created_at,
        updated_at=(started + timedelta(seconds=seconds)).isoformat(),
        turns=turns,
        tool_calls=calls,
        files=episode.files_changed,
        facts=episode.fact_ids,
        narrative=told,
        commit=commit.group(1) if commit else "",
    )


def _narrative(session: OpenSession, files: list[str], date: str, seconds: int) -> str:
    turns, calls = _counted(session.turns, "turn"), _counted(session.tool_calls, "tool call")
    said = [f"Session on {date}: {turns}, {calls}, {_duration(seconds)}."]
    if files:
        names = ", ".join(one_line(path.rpartition("/")[2]) for path in files[:_NAMES_SHOWN])
        more = f" (+{len(files) - _NAMES_SHOWN} more)" if len(files) > _NAMES_SHOWN else ""
        said.append(f"Files: {names}{more}.")
    if session.facts:
        said.append(f"{_counted(len(session.facts), 'fact')} stored.")
    commit = one_line(whole(session.commit))
    if commit:
        said.append(f"Commit {cut(commit, 100)}.")
    told = cut(trim(whole(session.narrative)), NARRATIVE_CHARS)
    return " ".join(said) + (f"\n\n{told}" if told else "")


def _count(number: int) -> int:
    return min(max(number, 0), VERSION_MOST)


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _duration(seconds: int) -> str:
    """`42s`, `3m 5s`, `2h 10m`."""
    if seconds < 60:
        return f"{seconds}s"
    if seconds < 3600:
        return f"{seconds // 60}m {seconds % 60}s"
    return f"{seconds // 3600}h {seconds % 3600 // 60}m"


_COMMIT = re.compile(r"Commit (\S+)\.\Z")
_TEMPLATE = "(Template episode"
"""How other writers mark a narrative that nobody wrote."""
_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST = datetime(9999, 1, 1, tzinfo=UTC)


def _moment(text: str, otherwise: datetime) -> datetime:
    """The instant in UTC; a text that names none, or one at the very ends of time, counts as `otherwise`."""
    return instant_in_utc(text) or otherwise


def _said(newer: str, older: str) -> str:
    return newer if trim(newer) else older


def _bounded(root: str, session: OpenSession) -> OpenSession:
    """As it may be written: paths below the project, nothing but text, and not without end."""
    files = _relative_all((root, os.path.realpath(root)), session.files)
    return msgspec.structs.replace(
        session,
        title=cut(whole(session.title), limits.TITLE_CHARS),
        started_at=whole(session.started_at),
        updated_at=whole(session.updated_at),
        turns=_count(session.turns),
        tool_calls=_count(session.tool_calls),
        files=_fitting(files, _CHECKPOINT),
        facts=_fitting(map(whole, session.facts), _CHECKPOINT),
        narrative=cut(whole(session.narrative), NARRATIVE_CHARS),
        commit=cut(whole(session.commit), limits.TITLE_CHARS),
    )


def _fitting(items: Iterable[str], most: tuple[int, int]) -> tuple[str, ...]:
    """The first ones, up to a number and a size."""
    count, size = most
    kept: list[str] = []
    for item in items:
        size -= len(msgspec.json.encode(whole(item))) + 1
        if size < 0 or len(kept) == count:
            break
        kept.append(whole(item))
    return tuple(kept)


def _relative_all(roots: tuple[str, ...], paths: Iterable[str]) -> list[str]:
    found = dict.fromkeys(_relative(roots, whole(path)) for path in paths)
    return [path for path in found if path and not find_hostile(path, single_line=True) and not find_secrets(path)]


def _relative(roots: tuple[str, ...], path: str) -> str:
    """A path below the project; of any other path the last name alone, and nothing where it has none."""
    tidy = _tidy(path)
    for root in map(_tidy, roots):
        if f"{tidy}/".startswith(f"{root.rstrip('/')}/"):
            return tidy[len(root.rstrip("/")) + 1 :]
    if _ELSEWHERE.match(tidy) or "://" in path or path.startswith("file:"):
        tidy = tidy.rpartition("/")[2]
    return "" if tidy in (".", "..", "~") else tidy


def _tidy(path: str) -> str:
    """With plain slashes, so that a path of another system gives nothing away either."""
    return os.path.normpath(path.replace("\\", "/").strip() or ".")


def _name_of(session_id: str) -> str:
    return f"{SESSIONS}/{hex_digest(session_id)[:32]}.json"


def _listed(root: str) -> tuple[list[str], list[Problem]]:
    try:
        names = os.listdir(inside(root, place_of(FOLDER, SESSIONS)))
    except FileNotFoundError:
        return [], []
    except (OSError, OutsideProject):
        said = "It is not a readable folder; it counts as empty."
        hint = "Replace it with a real folder."
        return [], [warning_at("LocalStateDamaged", place_of(FOLDER, SESSIONS), said, hint)]
    return sorted(filter(_FILE.fullmatch, names)), []


def _session_in(found: LocalFile) -> tuple[LocalFile, OpenSession | None]:
    if found.data is None or found.problem is not None:
        return found, None
    try:
        session = msgspec.convert(found.fields, OpenSession)
    except msgspec.ValidationError as error:
        return spoiled(found, f"it is not a session ({error})"), None
    if _name_of(session.session_id) != found.name:
        return spoiled(found, "it belongs to another session than its name says"), None
    return found, session


def _check_id(session_id: str) -> None:
    if not session_id or len(session_id) > SESSION_ID_CHARS or not is_text(session_id):
        raise InputError(
            f"The id of a session is a text of 1 to {SESSION_ID_CHARS:,} characters.",
            hint="Give the session id of the agent's program.",
            details={"field": "session_id", "limit": SESSION_ID_CHARS},
        )
