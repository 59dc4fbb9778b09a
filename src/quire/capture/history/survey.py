"""Survey a history: gather findings of every kind, each with its evidence and how sure it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from quire.capture.history.changelog import ChangelogEntry, find_entries, names_of
from quire.capture.history.changes import UNKNOWN, Living, Now, changed_files, living_of
from quire.capture.history.comments import Remark, find_remarks, written_in
from quire.capture.history.commits import COMMITS_MOST, PastCommit, Tell, commit_ids, read_commits
from quire.capture.history.findings import ORIGIN, HistoryFinding, Wish
from quire.capture.history.habits import Pair, find_pairs, find_people
from quire.capture.history.messages import TITLE_CHARS, Told
from quire.files.git import Git
from quire.files.git_history import describe_commits, is_shallow, or_else
from quire.inbox.proposals import QUOTE_CHARS, ProposalEvidence, value_digest
from quire.model.records import Problem
from quire.model.text import cut, first_sentence, headline, one_line

CHANGES_MOST = 10_000
"""Of so many of the newest commits it is read which files they changed."""
CANDIDATES_MOST = 400
"""So many messages are compared with the code as it is now, for thirty findings; more where more are wished."""
_REMARKS_MOST, _ENTRIES_MOST = 12, 8
_PAIRS_MOST = 3
_GONE = 0.1
"""Of what changed in a commit, less is left: it no longer holds."""
_ENTRIES_LIVE = 0.9
_REVERTED_LIVES = 0.8
_PAIR_STRENGTH, _PAIR_SURE, _PEOPLE_STRENGTH = 0.8, 15, 0.6


class Survey(Struct, frozen=True, kw_only=True):
    """What a history says, and what could not be seen of it."""

    findings: tuple[HistoryFinding, ...] = ()
    commits: int = 0
    problems: tuple[Problem, ...] = ()


def survey(git: Git, wish: Wish, tell: Tell | None = None) -> Survey:
    """Everything that is found, in no order yet."""
    ids = commit_ids(git, wish.since)
    shallow = is_shallow(git)
    problems = _limits(len(ids), shallow)
    if not ids:
        return Survey(problems=tuple(problems))
    commits = list(read_commits(git, ids, tell))
    told = _candidates(commits, wish)
    wanted = {commit.id for commit, _ in told}
    listed = [item for number, item in enumerate(commits) if item.id in wanted or number < CHANGES_MOST]
    here = set(ids)
    # Behind the edge of a shallow clone a commit seems to have made everything.
    whole = [item for item in listed if not shallow or here.issuperset(item.parents)]
    changed, unseen = changed_files(git, whole, tell)
    now = Now(git)
    for item in whole:
        now.note_moves(changed.get(item.id, ()))
    living = living_of(git, now, {name: changed[name] for name in wanted if name in changed}) if now.files else {}
    if unseen:
        problems.append(_unseen(f"What {unseen:,} commits changed is not in this clone; nothing was fetched."))
    found = [_of_commit(commit, said, living.get(commit.id, Living(UNKNOWN))) for commit, said in told]
    if "comment" in wish.kinds:
        found += _of_remarks(git, find_remarks(git, now)[:_REMARKS_MOST], wish)
    if "changelog" in wish.kinds and not wish.since:
        found += [_of_entry(entry) for entry in find_entries(git, now)[:_ENTRIES_MOST]]
    if "together" in wish.kinds:
        found += map(_of_pair, find_pairs(whole, changed, now)[:_PAIRS_MOST])
    if "people" in wish.kinds:
        found += _of_people(find_people(whole, changed, now))
    alive = tuple(item for item in found if item.living >= _GONE)
    return Survey(findings=alive, commits=len(ids), problems=tuple(problems))


def _limits(count: int, shallow: bool) -> list[Problem]:
    found = []
    if shallow:
        hint = "`git fetch --unshallow` brings the rest; then import again."
        found.append(_unseen(f"This clone is shallow: only {count:,} commits are here to read.", hint))
    if count >= COMMITS_MOST:
        found.append(_unseen(f"Only the newest {COMMITS_MOST:,} commits were read."))
    return found


def _unseen(message: str, hint: str | None = None) -> Problem:
    return Problem(code="HistoryUnseen", severity="warning", message=message, hint=hint)


# -- commits ------------------------------------------------------------------------------


def _candidates(commits: Sequence[PastCommit], wish: Wish) -> list[tuple[PastCommit, Told]]:
    """The messages that say most, without those of commits that were taken back."""
    reverted = _reverted(commits)
    found = [
        (item, item.told)
        for item in commits
        if item.id not in reverted and item.told is not None and _source(item.told) in wish.kinds
    ]
    found.sort(key=lambda one: -one[1].strength)
    return found[: CANDIDATES_MOST * max(1, wish.limit // 30)]


def _reverted(commits: Sequence[PastCommit]) -> set[str]:
    """The commits that were taken back and not brought again; of a revert that was itself taken back both are out."""
    by_short = {item.id[:7]: item.id for item in commits}
    gone: set[str] = set()
    for item in commits:  # the newest first: a revert that is gone takes nothing back
        if item.id not in gone:
            names = (by_short.get(name[:7], "") for name in item.reverted)
            gone.update(name for name in names if name)
    return gone


def _source(said: Told) -> str:
    return "revert" if said.reverted else "fix" if said.is_fix else "decision"


def _of_commit(commit: PastCommit, said: Told, living: Living) -> HistoryFinding:
    title = f"{said.reverted} was reverted" if said.reverted else said.title
    who = f" by {cut(one_line(commit.author), 60)}" if commit.author else ""
    return HistoryFinding(
        source=_source(said),
        origin=f"{ORIGIN}{commit.id}",
        title=headline(title, TITLE_CHARS),
        body=said.body or f"{said.title}.",
        evidence=_evidence(one_line(said.reason), f"commit {commit.id[:12]}{who}", commit.day),
        strength=said.strength,
        # A revert holds as long as what it took away stays away.
        living=_REVERTED_LIVES * living.stays_out if said.reverted else living.share,
        commits=(commit.id,),
        paths=tuple(part.path for part in living.parts),
        lines={part.path: part.lines for part in living.parts if part.lines},
    )


def _evidence(quote: str, where: str, at: str = "") -> tuple[ProposalEvidence, ...]:
    return (ProposalEvidence(quote=cut(quote, QUOTE_CHARS), by="file", where=where, at=at),)


# -- what lies in the tree ----------------------------------------------------------------


def _of_remarks(git: Git, remarks: Sequence[Remark], wish: Wish) -> Iterator[HistoryFinding]:
    written = [written_in(git, remark) for remark in remarks]
    known = or_else({}, describe_commits, git, filter(None, written))
    for remark, name in zip(remarks, written, strict=True):
        commit = known.get(name)
        if wish.since and (commit is None or commit.date[:10] < wish.since):
            continue
        where = f"{remark.path}:{remark.line}"
        if commit is not None:
            where += f", commit {name[:12]} by {cut(one_line(commit.author), 60)}"
        yield HistoryFinding(
            source="comment",
            origin=f"{ORIGIN}comment:{remark.path}:{value_digest(remark.text)[:12]}",
            title=_title(remark.text),
            body=remark.text,
            evidence=_evidence(remark.text, where, commit.date[:10] if commit else ""),
            strength=remark.strength,
            living=1.0,
            commits=(name,) if commit is not None else (),
            paths=(remark.path,),
            lines={remark.path: frozenset((remark.text,))},
        )


def _of_entry(entry: ChangelogEntry) -> HistoryFinding:
    return HistoryFinding(
        source="changelog",
        origin=f"{ORIGIN}changelog:{value_digest(entry.text)[:12]}",
        title=_title(entry.text),
        body=f"{entry.text} (since {entry.release})" if entry.release[:1].isdigit() else entry.text,
        evidence=_evidence(entry.text, entry.where),
        strength=entry.strength,
        living=_ENTRIES_LIVE if names_of(entry.text) else UNKNOWN,
        paths=(),
    )


def _of_pair(pair: Pair) -> HistoryFinding:
    first, second = pair.files
    text = f"Of the {pair.commits} commits that changed `{first}` or `{second}`, {pair.together} changed both."
    names = [path.rpartition("/")[2] for path in pair.files]
    if names[0] == names[1]:
        names = [first, second]
    return HistoryFinding(
        source="together",
        origin=f"{ORIGIN}together:{first}+{second}",
        title=f"`{names[0]}` and `{names[1]}` change together",
        body=f"{text} A change of one of them usually needs the other.",
        evidence=(ProposalEvidence(quote=text, by="file", where="git history"),),
        strength=_PAIR_STRENGTH * pair.together / pair.commits * min(1.0, pair.together / _PAIR_SURE),
        living=1.0,
        paths=pair.files,
    )


def _of_people(folders: Mapping[str, Sequence[tuple[str, float]]]) -> Iterator[HistoryFinding]:
    if not folders:
        return
    said = [
        f"`{folder}/`: {', '.join(f'{one_line(name)} ({share:.0%})' for name, share in people)}"
        for folder, people in folders.items()
    ]
    body = "Who works in which folder, recent commits counting more: " + "; ".join(said) + "."
    yield HistoryFinding(
        source="people",
        origin=f"{ORIGIN}people",
        title="Who knows which folder",
        body=body,
        evidence=_evidence(body, "git history"),
        strength=_PEOPLE_STRENGTH,
        living=1.0,
    )


def _title(text: str) -> str:
    return headline(first_sentence(text).rstrip(".:;"), TITLE_CHARS)
