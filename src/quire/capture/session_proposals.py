"""Propose records from a recorded session, each with who said it, when, and in which words.

A session is heard from its beginning, even where only its end is new: whoever accepts something there accepts what was
offered before. Of what was heard before nothing is proposed again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from quire.capture.headline import statement, title_of
from quire.capture.transcripts.discovery import discover
from quire.capture.transcripts.places import shown_text
from quire.capture.transcripts.read_session import SessionReader, read
from quire.capture.transcripts.redaction import redacted
from quire.capture.transcripts.types import HOMES, KnownPlaces, SessionFile, Turn
from quire.files.digests import hex_digest
from quire.files.paths import is_passing, is_within
from quire.guard.hostile_text import make_safe
from quire.inbox.proposals import QUOTE_CHARS, Into, Proposal, ProposalEvidence, propose
from quire.model.errors import QuireError

if TYPE_CHECKING:
    from quire.capture.signals.confirmed import Confirmed, Quote
    from quire.capture.signals.extraction import Listener
    from quire.capture.signals.speeches import Speech, Talk
    from quire.capture.signals.standing_rules import Rule

TITLE_CHARS = 80
ANCHORS = 3
MOST = 12
"""Of each kind so many are looked at."""
CONTEXT_BYTES = 8 * 1024 * 1024
"""Where more than this was read before, what is new is heard alone: nobody waits for the rest."""
LEAST_TURNS = 4
"""A session in which less was said leaves no episode."""
_KEY_WORDS = 5
_SHORT_ID = 8
_KEY_WORD = re.compile(r"[a-z0-9]+")
_KEY_STOPS = "a an and are as at be by do for from i in into is it its of on or our please so that the to we"
_KEY_STOP = frozenset(_KEY_STOPS.split())
_VARIABLES = {"claude": "CLAUDE_CONFIG_DIR", "codex": "CODEX_HOME"}
"""By client: what names another folder than its own below the home folder."""


class Account(Struct, frozen=True, kw_only=True):
    """A session in figures, and by the user's first words where those may be shown."""

    session_id: str
    title: str = ""
    turns: int = 0
    """How many times someone spoke."""
    tool_calls: int = 0
    files: tuple[str, ...] = ()
    """Files of the repository that it edited."""
    started_at: str = ""
    ended_at: str = ""


class SessionRead(Struct, frozen=True, kw_only=True):
    """What came of a session. `next_offset` and `content_hash` say where the next reading begins."""

    proposals: tuple[Proposal, ...] = ()
    account: Account | None = None
    """What its episode says; None where nobody asked for anything."""
    next_offset: int = 0
    content_hash: str = ""
    problems: tuple[str, ...] = ()


# -- a session ------------------------------------------------------------------------------------


def propose_session(
    session: SessionFile,
    *,
    client: str,
    root: str,
    home: str,
    now: str,
    offset: int = 0,
    content_hash: str = "",
    counted: tuple[int, int] = (0, 0),
) -> SessionRead:
    """What of a session is proposed; with where an earlier reading ended, only what is new since.

    `counted` is how many turns and calls the earlier readings found, for where its beginning is not heard again.
    """
    from quire.capture.signals.extraction import Listener

    is_whole = offset <= CONTEXT_BYTES
    listener, places = Listener(root), KnownPlaces(root, home)
    try:
        begin = (0, "") if is_whole else (offset, content_hash)
        reading = read(session, begin[0], root=root, home=home, content_hash=begin[1])
        known = _Known(reading, offset, content_hash) if is_whole else None
        turns: Iterable[Turn] = reading if known is None else known.watch(listener.talk)
        for turn in turns:
            if not turn.is_subagent:
                listener.hear(turn)
    except (QuireError, OSError, MemoryError, ValueError, RecursionError) as error:
        if is_passing(error):
            raise
        said = error.message if isinstance(error, QuireError) else f"it cannot be read: {error}"[:300]
        problem = shown_text(said, places)
        return SessionRead(next_offset=offset, content_hash=content_hash, problems=(problem,))
    maker = _Maker(session, client, root, now, listener, since=known.speeches if known else 0, is_whole=is_whole)
    account = maker.account(reading, (0, 0) if is_whole or reading.restarted else counted)
    bad = reading.bad_lines + reading.long_lines
    return SessionRead(
        proposals=tuple(maker.proposals(reading.title, account)),
        account=account,
        next_offset=reading.next_offset,
        content_hash=reading.content_hash,
        problems=(f"{bad:,} of its lines could not be read",) if bad else (),
    )


class _Known:
    """How much of a session was read before, found again by the hash of what stood there."""

    def __init__(self, reading: SessionReader, offset: int, content_hash: str) -> None:
        self.speeches = 0
        """How many times someone had spoken by then; 0 where it is another session now."""
        self._reading, self._offset, self._hash = reading, offset, content_hash

    def watch(self, talk: Talk) -> Iterator[Turn]:
        for turn in self._reading:
            yield turn
            # The turn was heard now.
            is_end = self._reading.content_hash == self._hash if self._hash else False
            if is_end or (not self._hash and self._offset and self._reading.next_offset <= self._offset):
                self.speeches = talk.count


class _Maker:
    """Makes proposals of one session."""

    def __init__(
        self, session: SessionFile, client: str, root: str, now: str, listener: Listener, *, since: int, is_whole: bool
    ) -> None:
        name = session.external_id if not redacted(session.external_id)[1] else "unnamed"
        self._name, self._root, self._now = name, root, now
        self._listener, self._talk = listener, listener.talk
        self._where = f"{client} session {name[:_SHORT_ID]}"
        self._origin = f"session:{client}:{name}"
        self._since, self._is_whole = since, is_whole
        self._seen: set[str] = set()

    def account(self, reading: SessionReader, before: tuple[int, int]) -> Account | None:
        """The session in figures; None where the user said nothing, now or before."""
        asked = self._talk.asked
        if asked is None and not before[0]:
            return None
        edited = dict.fromkeys(path for _, path in self._talk.edits if _is_inside(self._root, path))
        return Account(
            session_id=self._name,
            title=_own_title(asked) if asked and self._is_whole else "",
            turns=before[0] + self._talk.count,
            tool_calls=before[1] + self._talk.calls,
            files=tuple(edited),
            started_at=reading.first_at or reading.session.started_at,
            ended_at=reading.last_at,
        )

    def proposals(self, title: str, account: Account | None) -> Iterator[Proposal]:
        from quire.capture.signals.confirmed import confirmed
        from quire.capture.signals.standing_rules import standing_rules

        rules = list(standing_rules(self._talk))
        ruled = {(rule.quote.speech.number, rule.quote.place) for rule in rules}
        kept = {
            kind: sorted(confirmed(found[:MOST], self._talk), key=lambda one: one.found.passage.speech.turn)
            for kind, found in self._listener.found().items()
        }
        decided = [one for one in kept["decisions"] if (one.first.speech.number, one.first.place) not in ruled]
        made = [
            *(self._node("decision", found) for found in decided),
            *(self._node("gotcha", found) for found in kept["gotchas"]),
            *self._questions(),
            *map(self._entry, rules),
            *map(self._step, kept["next_step_hints"]),
            self._episode(title, account, is_decided=bool(decided or rules)),
        ]
        for proposal in made:
            if proposal is not None and proposal.id not in self._seen:
                self._seen.add(proposal.id)
                yield proposal

    # -- one of each kind -------------------------------------------------------------------------

    def _node(self, kind: str, found: Confirmed) -> Proposal | None:
        text = statement(found.found.text)
        fields: dict[str, Any] = {"kind": kind, "title": title_of(text, TITLE_CHARS), "body": _body(text)}
        anchors = self._anchors(found)
        if anchors:
            fields["anchors"] = anchors
        return self._made("graph", kind, text, fields, found.quotes, found.first)

    def _questions(self) -> Iterator[Proposal | None]:
        """What was labelled as an open question, unless the next word of the user is about it."""
        from quire.capture.signals.confirmed import Quote, quotable
        from quire.capture.signals.words import is_safe, tidy

        for speech in filter(quotable, self._talk.speeches):
            answer = self._talk.next_of(speech)
            for place, said in enumerate(speech.sentences):
                if "says_open" not in said.label or not is_safe(said.text) or (answer and answer.stems & said.stems):
                    continue
                text, quote = tidy(said.text), Quote(speech, place, said)
                fields = {"kind": "question", "title": title_of(text, TITLE_CHARS), "body": _body(text)}
                yield self._made("graph", "question", text, fields, (quote,), quote)

    def _entry(self, rule: Rule) -> Proposal | None:
        fields = {"category": rule.category, "key": _key(rule.text), "value": _body(rule.text)}
        return self._made("profile", "preference", rule.text, fields, (rule.quote,), rule.quote)

    def _step(self, found: Confirmed) -> Proposal | None:
        text = statement(found.found.text)
        return self._made("notes", "next step", text, {"text": text}, found.quotes, found.first)

    def _episode(self, title: str, account: Account | None, *, is_decided: bool) -> Proposal | None:
        """What was said in a session: it joins the episode that the session leaves by itself."""
        from quire.capture.signals.confirmed import Quote, quotable
        from quire.capture.signals.words import is_safe
        from quire.guard.prompt_attacks import find_instructions

        asked = self._talk.asked
        is_work = bool(self._talk.edits) or is_decided
        if asked is None or account is None or not self._is_whole or self._talk.count < LEAST_TURNS or not is_work:
            return None
        at = _opening(asked)
        first = Quote(asked, at, asked.sentences[at])
        began = title_of(first.said.text, TITLE_CHARS)
        summary, named = self._listener.summary(), title if title and is_safe(title) else began
        if not quotable(asked) or not is_safe(summary) or find_instructions(f"{named}\n{summary}"):
            return None
        fields = {
            "title": title_of(named, TITLE_CHARS),
            "summary": summary,
            "session_id": self._name,
            "turns": account.turns,
            "tool_calls": account.tool_calls,
            "started_at": account.started_at,
            "ended_at": account.ended_at,
        }
        # What a session began with stays the same however long it goes on, so that it is proposed once.
        text = f"{self._where}: {began}"
        return self._made("episodes", "session", text, fields, (first,), first, is_new=True)

    def _made(
        self,
        into: Into,
        kind: str,
        text: str,
        fields: dict[str, Any],
        quotes: tuple[Quote, ...],
        first: Quote,
        *,
        is_new: bool = False,
    ) -> Proposal | None:
        """A proposal, unless everything it rests on was heard before."""
        if not is_new and all(quote.speech.number <= self._since for quote in quotes):
            return None
        evidence = tuple(map(self._evidence, quotes))
        by = first.speech.by
        return propose(into, kind, text, fields, origin=self._origin, by=by, evidence=evidence, proposed_at=self._now)

    def _evidence(self, quote: Quote) -> ProposalEvidence:
        from quire.capture.quotable_text import quote as shortened

        speech = quote.speech
        # Where the beginning was not heard, nobody knows which turn it is.
        turn = f", turn {speech.number}" if self._is_whole else ""
        words = shortened(quote.said.text, QUOTE_CHARS)
        return ProposalEvidence(quote=words, by=speech.by, where=f"{self._where}{turn}", at=speech.at)

    def _anchors(self, found: Confirmed) -> list[str]:
        """Files of the repository that were edited near what was said, those that it names first."""
        paths = self._talk.edited_near(found.quotes[-1].speech.turn)
        named = [path for path in paths if os.path.basename(path) in found.found.text]
        chosen = (path for path in dict.fromkeys((*named, *paths)) if _is_file(self._root, path))
        return [path for path, _ in zip(chosen, range(ANCHORS), strict=False)]


def _opening(asked: Speech) -> int:
    """Which sentence of the first speech asks for something: not a greeting."""
    return next((at for at, one in enumerate(asked.sentences) if len(one.stems) > 1), 0)


def _own_title(asked: Speech) -> str:
    """The first words of a user as a title; empty where they may not be shown, or are someone else's."""
    from quire.capture.signals.confirmed import quotable
    from quire.capture.signals.words import is_safe

    title = title_of(asked.sentences[_opening(asked)].text, TITLE_CHARS)
    return title if quotable(asked) and is_safe(title) else ""


def _is_inside(root: str, path: str) -> bool:
    return bool(root and path) and not os.path.isabs(path) and not path.startswith(("~", "…", ".."))


def _is_file(root: str, path: str) -> bool:
    """Whether a path names a plain file of the repository."""
    if not _is_inside(root, path):
        return False
    whole = os.path.normpath(os.path.join(root, path))
    real, top = os.path.realpath(whole), os.path.realpath(root)
    return real.startswith(top + os.sep) and os.path.isfile(real) and not os.path.islink(whole)


def _body(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…", "。", "！", "？")) or not text.isascii() else f"{text}."


def _key(text: str) -> str:
    """A name for an entry, of its first words; of its digest where those are of another script."""
    words = [word for word in _KEY_WORD.findall(text.casefold()) if word not in _KEY_STOP][:_KEY_WORDS]
    return "_".join(words) if words and text.isascii() else f"rule_{hex_digest(text)[:_SHORT_ID]}"


# -- where a session lies -------------------------------------------------------------------------


def find_session(
    client: str, transcript: str, session_id: str, *, root: str, home: str, env: Mapping[str, str]
) -> SessionFile | None:
    """The session that a hook names: the file at `transcript`, else the one with that id where its client keeps them.

    Whoever calls a hook may name any file. Only a plain file in the client's own folder of the user's home is taken.
    """
    source_type = f"{client}-local"
    if source_type not in HOMES or not home:
        return None
    own = os.path.realpath(home)
    named = env.get(_VARIABLES.get(client, ""), "")
    folder = os.path.realpath(named if os.path.isabs(named) else os.path.join(home, HOMES[source_type]))
    if not is_within(folder, own):
        return None
    try:
        if transcript:
            if not _is_plain_file(transcript, folder):
                return None
            if not _holds_many(client, transcript):
                return next(iter(discover(source_type, os.path.realpath(transcript))), None)
            folder = os.path.realpath(transcript)
        found = discover(source_type, folder, root=root) if session_id and os.path.exists(folder) else ()
        return next((one for one in found if one.external_id == session_id), None)
    except (QuireError, OSError, ValueError) as error:
        if is_passing(error):
            raise
        return None


def _holds_many(client: str, path: str) -> bool:
    """Whether a file is a database of sessions, in which only an id says which one is meant."""
    from quire.capture.transcripts.opencode import is_database

    return client == "opencode" and is_database(path)


def _is_plain_file(path: str, folder: str) -> bool:
    """Whether a path names a file below a folder, and no link leads there."""
    if "\0" in path or not os.path.isabs(path):
        return False
    real = os.path.realpath(path)
    return not os.path.islink(path) and os.path.isfile(real) and is_within(real, folder)


def with_summary(item: Proposal, summary: str) -> Proposal:
    """The proposal of an episode with the summary that its client made; not with one that may not be kept."""
    if item.into != "episodes" or not summary.strip():
        return item
    from quire.guard.prompt_attacks import find_instructions

    text, secrets = redacted(summary)
    if secrets or find_instructions(text):
        return item
    return replace(item, fields={**item.fields, "summary": make_safe(text.strip())})
