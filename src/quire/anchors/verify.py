"""Compare the code behind a record with its seals, and give a verdict.

What counts is the content that someone saw when the record was last saved or confirmed: the seals in the record. A
record without seals, as other programs write it, is held against the commit that wrote it. Reading changes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

import msgspec

from quire.anchors.change_causes import Cause, SymbolTraces, cause_in_files, cause_in_symbol, is_late
from quire.anchors.commit_history import CommitHistory
from quire.anchors.definitions import Definitions, Keep
from quire.anchors.path_match import is_glob
from quire.anchors.quick_verdict import UNANCHORED
from quire.anchors.renames import follow_file, follow_files, follow_symbol
from quire.anchors.resolve_anchor import ResolvedAnchor, resolve_anchor, split_symbol
from quire.anchors.working_tree import WorkingTree, read_working_tree
from quire.files.git import Git
from quire.files.paths import is_text
from quire.model.anchors import anchor_fault
from quire.model.records import Record
from quire.model.seals import UNREAD, Seal, is_absent, parse_seal
from quire.model.text import one_line
from quire.model.verdicts import AnchorVerdict, Verdict, overall

_SHOWN = 5
_COMMITS = 3
_FILES = 50

_NOT_IN_TIME = Verdict(verdict="unverifiable", because="there was no time to check its code")


def short(commit: str) -> str:
    """A commit's id as people write it."""
    return commit[:9]


def _listed(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _on_one_line(anchor: AnchorVerdict) -> AnchorVerdict:
    """A file's name may hold a line break, and what follows it may look like something else."""
    shown = one_line(anchor.because)
    return anchor if shown == anchor.because else msgspec.structs.replace(anchor, because=shown)


def _places(files: list[str]) -> list[str]:
    """The paths to read for these files: each file, or their folders where there are many."""
    return files if len(files) <= _FILES else sorted({f"{os.path.dirname(file)}/" for file in files})


class Verifier:
    """Gives verdicts on records from one read of the working tree.

    What is parsed on the way may be kept. With `until`, a moment of the monotonic clock, what could not be found out
    by then is left out: first which commits changed something, then whether it changed at all.
    """

    def __init__(
        self,
        root: str,
        git: Git,
        file_of: Callable[[Record], str],
        tree: WorkingTree | None = None,
        *,
        keep: Keep | None = None,
        until: float | None = None,
    ) -> None:
        self._definitions = Definitions(keep)
        self.past = CommitHistory(git, self._definitions)
        self.unfinished: set[str] = set()
        """Records of which there was no time to find out everything."""
        self._until = until
        self._root = root
        self._git = git
        self._file_of = file_of
        """The file that holds a record, from the project's root."""
        self._tree = tree
        self._everything = tree
        if tree is not None:
            tree.definitions = self._definitions

    def look(self, records: Iterable[Record]) -> WorkingTree:
        """The part of the working tree that these records speak of."""
        anchors = {anchor for record in records for anchor in record.anchors}
        self._tree = read_working_tree(self._root, self._git, anchors)
        self._tree.definitions = self._definitions
        return self._tree

    def verify(self, records: Iterable[Record]) -> dict[str, Verdict]:
        """A verdict for each record, by its ref."""
        records = list(records)
        anchored = [record for record in records if record.anchors]
        tree = self._tree or self.look(anchored)
        self.past.find(record.commit for record in anchored)
        unsealed = [record for record in anchored if not record.seen and not self.past.commit(record.commit)]
        written = self._written(list(map(self._file_of, unsealed))) if unsealed and not tree.missing else {}
        self._definitions.want(anchor for record in anchored for anchor in record.anchors)
        traces = SymbolTraces(self.past, self._until)
        judgements = []
        for record in anchored:
            since = self.past.commit(record.commit)
            if not record.seen and since is None:
                since = written.get(self._file_of(record))
            judgements.append(_Judgement(tree, self.past, record, since, self._whole, traces))
        verdicts = dict.fromkeys((record.ref for record in records), UNANCHORED)
        self._prepare(judgements, traces)
        for judgement in judgements:
            verdicts[judgement.record.ref] = self._judge(judgement)
        self._definitions.write_down()
        return verdicts

    def _prepare(self, judgements: Iterable[_Judgement], traces: SymbolTraces) -> None:
        """Ask git at once for all that the judgements will ask it one by one."""
        differing: list[tuple[str, str, str]] = []
        for judgement in judgements:
            if is_late(self._until):
                return
            differing += judgement.differing()
        self.past.compare(since for _, name, since in differing if not name)
        self.past.follow({file for file, _, _ in differing if file}, {since for file, _, since in differing if file})
        traces.find(one for one in differing if one[1])

    def _judge(self, judgement: _Judgement) -> Verdict:
        if is_late(self._until) and not judgement.is_seen():
            self.unfinished.add(judgement.record.ref)
            return _NOT_IN_TIME
        verdict = judgement.verdict()
        if judgement.unfinished:
            self.unfinished.add(judgement.record.ref)
        return verdict

    def _whole(self) -> WorkingTree:
        """The whole working tree: what was lost may be anywhere."""
        if self._everything is None:
            self._everything = read_working_tree(self._root, self._git)
            self._everything.definitions = self._definitions
        return self._everything

    def _written(self, files: list[str]) -> dict[str, str]:
        """The commits that wrote unsealed records, by their files; of those that are still as their commit has them."""
        recorded = self.past.recorded(files)
        by_commit: dict[str, list[str]] = {}
        for file in files:
            commit = recorded.get(file)
            if commit:
                by_commit.setdefault(commit, []).append(file)
        # One look at all of them: where many were written by other programs, one for each takes seconds.
        now = read_working_tree(self._root, self._git, _places(files)) if by_commit else None
        written: dict[str, str] = {}
        for commit, its_files in by_commit.items():
            tree = self.past.tree(commit, _places(its_files))
            if tree and now:
                same = [file for file in its_files if tree.content(file) == now.content(file)]
                written.update(dict.fromkeys(same, commit))
        return written


class _Judgement:
    """The verdict on one record: its seals, its anchors now, and the commits between."""

    def __init__(
        self,
        tree: WorkingTree,
        past: CommitHistory,
        record: Record,
        since: str | None,
        whole: Callable[[], WorkingTree],
        traces: SymbolTraces,
    ) -> None:
        self.tree = tree
        self.traces = traces
        self.unfinished = False
        self.whole = whole
        self.past = past
        self.record = record
        self.since = since
        seals = [seal for text in record.seen if (seal := parse_seal(text))]
        self.sealed = {seal.anchor: seal for seal in seals if seal.anchor in record.anchors}
        self.notes = {seal.anchor: seal.digest for seal in seals if seal.anchor not in record.anchors}
        """Files below the anchors that were not committed when they were seen."""

    def verdict(self) -> Verdict:
        found = tuple(map(_on_one_line, map(self._anchor, self.record.anchors)))
        return overall(found, self.since or self.record.commit)

    def is_seen(self) -> bool:
        """Whether all anchors are resolved and none is lost: the rest is cheap."""
        sights = [self.tree.sights.get(anchor) for anchor in self.record.anchors if not self._untouched(anchor)]
        return all(sight is not None and (sight.seal is not None or sight.fault) for sight in sights)

    def differing(self) -> list[tuple[str, str, str]]:
        """The anchors that are not what was sealed, as git will be asked about them.

        Each as a file, a name in it, and the commit of the last look; without a name it is the file that counts,
        without a file it is everything below a folder, or what became of something lost.
        """
        found: list[tuple[str, str, str]] = []
        for anchor, sealed in self.sealed.items() if self.since else ():
            if self._untouched(anchor):
                continue
            now = resolve_anchor(self.tree, anchor)
            if now.seal is not None and (now.seal.how, now.seal.digest) != (sealed.how, sealed.digest):
                file = anchor.rstrip("/") if sealed.how == "blob" else ""
                found.append((*(split_symbol(self.tree, anchor) or (file, "")), self.since or ""))
            elif now.seal is None and not now.fault:
                found.append(("", "", self.since or ""))
        return found

    def _anchor(self, anchor: str) -> AnchorVerdict:
        if self._untouched(anchor):
            return AnchorVerdict(anchor=anchor, verdict="fresh")
        now = resolve_anchor(self.tree, anchor)
        before = self._before(anchor, now)
        if now.fault:
            return self._unsure(anchor, now, before)
        if before is not None and before.how == "blob" and now.seal is not None and now.seal.how == "tree":
            # A folder may be called `[slug]`: the file of that very name was meant, not what the pattern matches.
            now = ResolvedAnchor(anchor=anchor) if is_glob(anchor) else now
        if now.seal is None:
            return self._lost(anchor, now, before)
        if before is None:
            return AnchorVerdict(anchor=anchor, verdict="unverifiable", because=self._why_unknown(anchor))
        if (before.how, before.digest) == (now.seal.how, now.seal.digest):
            return AnchorVerdict(anchor=anchor, verdict="fresh")
        if now.doubt:
            return AnchorVerdict(anchor=anchor, verdict="unverifiable", because=now.doubt)
        return self._changed(anchor, now, before)

    def _unsure(self, anchor: str, now: ResolvedAnchor, before: Seal | None) -> AnchorVerdict:
        """Not all of it can be read. What can be, and is not what was seen, is a change all the same."""
        if now.symbol_missing and before is not None and before.how == "symbol":
            lost = self._lost(anchor, now, before)
            if lost.verdict == "moved":
                return lost
        if before is not None and before.how == "tree" and len(now.files) > 1 and self.since:
            cause = cause_in_files(self.tree, self.past, anchor, now.files, self.since, self.notes)
            if cause.files:
                return self._caused(anchor, cause)
        return AnchorVerdict(anchor=anchor, verdict="unverifiable", because=now.fault)

    def _untouched(self, anchor: str) -> bool:
        """Whether a symbol's whole file is what was seen: then so is the symbol."""
        file, mark, _ = anchor.rpartition("#")
        sealed = self.sealed.get(anchor)
        if not mark or sealed is None or sealed.how != "symbol" or file not in self.notes:
            return False
        return self.tree.has(file) and not self.tree.is_link(file) and self.tree.content(file) == self.notes[file]

    def _before(self, anchor: str, now: ResolvedAnchor) -> Seal | None:
        """What was seen; where nobody sealed it, what the commit held."""
        if self.record.seen:
            sealed = self.sealed.get(anchor)
            return None if sealed is not None and sealed.digest.startswith(UNREAD) else sealed
        if any(self.tree.paths[place] in self.tree.modules for place in now.files):
            return None
        tree = self.past.tree(self.since, (anchor,)) if self.since else None
        if tree is None:
            return None
        seen = resolve_anchor(tree, anchor)
        if seen.fault:
            return None
        return seen.seal or Seal(anchor, "tree", "0" * 32)

    def _why_unknown(self, anchor: str) -> str:
        if anchor in self.sealed:
            return f"`{anchor}` could not be read when it was saved; it was not confirmed since"
        if self.record.seen:
            return f"`{anchor}` was added by hand; it was not confirmed since"
        return "it was saved without a fingerprint of the code"

    def _changed(self, anchor: str, now: ResolvedAnchor, before: Seal) -> AnchorVerdict:
        if is_absent(before):
            because = f"`{anchor}` matched nothing when it was saved, and does now"
            return AnchorVerdict(anchor=anchor, verdict="changed", because=because)
        named = split_symbol(self.tree, anchor)
        if named:
            cause = cause_in_symbol(self.tree, self.past, self.traces, named, self.since, before.digest)
        else:
            notes = {**self.notes, anchor.rstrip("/"): before.digest} if before.how == "blob" else self.notes
            cause = cause_in_files(self.tree, self.past, anchor, now.files, self.since, notes)
        return self._caused(anchor, cause)

    def _caused(self, anchor: str, cause: Cause) -> AnchorVerdict:
        self.unfinished = self.unfinished or cause.unknown
        several = cause.commits if len(cause.commits) > 1 else ()
        return AnchorVerdict(
            anchor=anchor,
            verdict="changed",
            because=self._say(anchor, cause),
            files=cause.files[:_SHOWN],
            files_count=len(cause.files),
            dirty=cause.dirty[:_SHOWN],
            commit=cause.commits[0] if cause.commits else "",
            commits=several[:_COMMITS],
            commits_count=len(several),
            first_commit=several[-1] if several else "",
        )

    def _say(self, anchor: str, cause: Cause) -> str:
        what = f"`{anchor}`" if "#" in anchor or not cause.files else f"`{cause.files[0]}`"
        more = f" and {len(cause.files) - 1} more" if len(cause.files) > 1 and "#" not in anchor else ""
        where = [short(commit) for commit in cause.commits[:_COMMITS]]
        if len(cause.commits) > _COMMITS:
            where.append(f"{len(cause.commits) - _COMMITS} more")
        if where and cause.dirty:
            where.append("in the working tree")
        if where:
            return f"{what}{more} changed in {_listed(where)}"
        if cause.unknown:
            return f"{what}{more} changed"
        if cause.dirty:
            return f"{what}{more} changed in the working tree, not committed"
        if self.record.commit and not self.since:
            gone = f"the commit {short(self.record.commit)} is not in this clone"
            return f"{what} changed since this record was last confirmed; {gone}"
        return f"{what}{more} changed since this record was last confirmed"

    def _lost(self, anchor: str, now: ResolvedAnchor, before: Seal | None) -> AnchorVerdict:
        """Nothing is there any more: it went somewhere else, or it is gone."""
        if before is not None and is_absent(before):
            before = None
        tree = self.whole()
        named = split_symbol(self.tree, anchor)
        unchanged = True
        if named:
            digest = before.digest if before else ""
            whole = self.notes.get(named[0], "")
            route, unchanged = follow_symbol(tree, self.past, *named, self.since, digest, whole)
        elif before is not None and before.how == "blob":
            route = follow_file(tree, self.past, anchor.rstrip("/"), self.since, before.digest)
            unchanged = bool(route.to) and tree.content(route.to[0]) == before.digest
        else:
            route = follow_files(tree, self.past, anchor, self.since, self.notes)
        when = f" in {short(route.commit)}" if route.commit else self._when(route.to)
        # A file may have a name that no anchor can have.
        places = tuple(place for place in route.to if anchor_fault(place) is None and is_text(place))
        if places:
            changed = "" if unchanged else ", and changed"
            to = " and ".join(f"`{place}`" for place in places)
            because = f"`{anchor}` moved to {to}{when}{changed}"
            return AnchorVerdict(anchor=anchor, verdict="moved", because=because, to=places, commit=route.commit)
        longer = "not" if before is None else "no longer"
        what = f"`{anchor}` is {longer} in its file" if now.symbol_missing else f"`{anchor}` matches no file"
        gone = f": gone{when}" if route.commit else ""
        note = f"; {route.note}" if route.note else ""
        if self.since is None and self.record.commit and before is not None:
            note = f"; it is unknown where it went: {short(self.record.commit)} is not in this clone"
        because = f"{what}{gone}{note}"
        return AnchorVerdict(anchor=anchor, verdict="orphaned", because=because, commit=route.commit)

    def _when(self, places: tuple[str, ...]) -> str:
        """No commit after the last look took it there: it is not committed, or this is another branch."""
        head = self.past.tree(self.past.head, places) if self.past.head else None
        if head is not None and places and (resolve_anchor(head, places[0]).seal is not None):
            return ""
        return " in the working tree, not committed"
