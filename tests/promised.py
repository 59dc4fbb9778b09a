"""What Quire promises, clause by clause; the cases that each is tried by; and how a test says which one it proves.

`docs/concepts/promises.md` publishes the clauses. `tests/promises/test_promised.py` checks both directions: no clause
and no case without a test, no test that proves what was never promised.
"""

from __future__ import annotations

import json
import os
from typing import Any, NamedTuple

import pytest

__all__ = ["CASES", "CLAUSES", "PLACES", "PROMISES", "Case", "note", "proves", "tally"]

PROMISES: dict[str, str] = {
    "P1": "What was acknowledged is kept",
    "P2": "Nobody sees half of a change",
    "P3": "Writers do not lose each other's work",
    "P4": "The index may vanish at any time",
    "P5": "Any bytes in the memory's folders are survived",
    "P6": "A merge never changes what is meant in silence",
    "P7": "Opening a repository runs none of its code and reads nothing outside it",
    "P8": "What is remembered reaches an agent as data, and only after a look",
    "P9": "No secret of a known form is written",
    "P10": "The local servers answer nobody but who started them",
}

CLAUSES: dict[str, str] = {
    "P1.1": "A process that is killed at any call leaves what was acknowledged, and the next command goes on.",
    "P1.2": "A power cut after the acknowledgement takes nothing of it.",
    "P1.3": "A call that the system refuses ends in an error that says what to do; what was there is there.",
    "P1.4": "Ctrl-C and the end of a session leave no lock and no trace that is in anybody's way.",
    "P1.5": "Clocks, time zones, languages, long names and odd places lose nothing and change no byte that is written.",
    "P2.1": "After a crash at any call a change is there as a whole, or not at all.",
    "P2.2": "A reader beside a writer sees the old or the new, in every file and across files.",
    "P3.1": "What is created at once by many is all there, each under a name of its own.",
    "P3.2": "Changes of one record follow each other; a late writer gets an error, and nothing is overwritten unread.",
    "P3.3": "A writer that died blocks nobody; one that stopped is named; where there are no locks, nobody writes.",
    "P3.4": "Verbs of all layers, in any order, do what a simple model of them says.",
    "P4.1": "An index that is gone, damaged, newer or in the way is made again, or the error says what is in the way.",
    "P4.2": "Answers are those of an index made from nothing, whatever happened before.",
    "P4.3": "An answer that rests on what cannot be checked says so.",
    "P5.1": "Damage is named with its place, and the rest is answered from.",
    "P5.2": "What cannot be read is neither changed nor removed by anything but a repair that was asked for.",
    "P5.3": "Too large, too deep and too many is refused in bounded time and memory.",
    "P5.4": "Links, pipes, devices and odd names are not followed, opened or executed.",
    "P5.5": "Stores of every earlier version and of the original programs are opened; newer ones are left alone.",
    "P5.6": "A repair changes only what loses nothing, keeps a copy, and can be undone byte for byte.",
    "P6.1": "Nodes, relations, facts and rejections that branches add are merged without a conflict: the union.",
    "P6.2": "Marks of a conflict are found in every kind of file, named with their place, and never answered from.",
    "P6.3": "What a merge doubled (an id, a key, a line) is found, and is not taken for one side of it in silence.",
    "P6.4": "Whatever git does to the files, answers follow the files.",
    "P7.1": "Git is asked in such a way that no setting, attribute or hook of the repository runs.",
    "P7.2": "No id, name, path or link leads a read or a write out of the project.",
    "P7.3": "Programs and modules that a repository brings along are not started or imported.",
    "P8.1": "Hooks do not send in full what no person has looked at.",
    "P8.2": "Recalled text is framed as data, cannot end its frame, and says where it is from.",
    "P8.3": "A record that is out of date is marked, and not sent as true.",
    "P8.4": "No amount, date, repetition or choice of words lets one source crowd out others, or reach other projects.",
    "P9.1": "Text with a secret is refused wherever text comes in.",
    "P9.2": "The refused value is in no file, log, index, message or git object afterwards.",
    "P9.3": "What was stored before it was known to be a secret can be taken out of every place that is ours.",
    "P10.1": "Requests by another name, from another page, or through a proxy are refused before anything is done.",
    "P10.2": "Without the token there is nothing; with the one for reading nothing is written.",
    "P10.3": "The page runs no text of the memory and asks nobody else for anything.",
    "P10.4": "The protocol is spoken exactly, in both eras; what is no message ends nothing.",
    "P10.5": "A hook answers every client in its form, in time, and never stops it.",
}

PLACES = ("graph", "facts", "profile", "journal", "inbox", "wiring", "index", "machine")
"""What a case may be tried over: the four layers, proposals, the files of clients, the index, the user's home."""

LAYERS = "graph facts profile journal"
STORES = f"{LAYERS} inbox"
FILES = f"{STORES} wiring"


class Case(NamedTuple):
    """One thing that may happen, and what has to be true of it."""

    clauses: str
    said: str
    over: str = ""
    """The places that it has to be tried over, where that is the question."""
    not_here: str = ""
    """Why a part of it cannot be tried by a test that runs here."""


CASES: dict[str, Case] = {
    # A. crash and durability
    "A1": Case("P1.1 P2.1", "killed at each call while something new is saved: absent or complete", FILES),
    "A2": Case("P1.1 P2.1", "killed at each call while something is changed: the old bytes or the new ones", FILES),
    "A3": Case(
        "P1.1 P2.1", "killed at each call while one replaces another: never both live, never both gone", "graph facts"
    ),
    "A4": Case("P1.1 P2.1", "killed at each call while something is removed: there, or gone everywhere", FILES),
    "A5": Case("P1.1 P2.1", "killed at each call of a beginning or a migration: the next run ends at the same", LAYERS),
    "A6": Case(
        "P1.2 P2.1",
        "every disk that a power cut may leave; a mutant without any one sync, rename or check is caught",
        LAYERS,
    ),
    "A7": Case("P1.2", "acknowledged, then the power fails: it is there", FILES),
    "A8": Case("P1.4", "interrupted or ended by a signal: the exit code says so, nobody is blocked", LAYERS),
    "A9": Case(
        "P3.3",
        "the holder of the lock is killed: the next writer goes on at once",
        LAYERS,
        not_here="Linux only: macOS and Windows were not to be had",
    ),
    "A10": Case("P5.1", "the last line cut at every byte: earlier ones are read, the next starts a line", STORES),
    "A11": Case("P5.1 P5.2", "every kind of file cut at every byte: named, others still read", FILES + " machine"),
    "A12": Case(
        "P5.1",
        "one bit flipped anywhere in every kind of file: found or harmless",
        FILES + " machine",
        not_here="a flip in what has no digest (a time, a value of the profile) is valid text: only git can tell",
    ),
    "A13": Case("P5.6", "ten thousand leftovers of dead writers: ignored by readers, swept by a repair", LAYERS),
    "A14": Case("P4.1 P4.2", "killed at any moment of a rebuild: the next answer is that of a fresh index", "index"),
    "A15": Case(
        "P4.1", "the index is zeros, noise, a folder, a link or newer: made again, the truth untouched", "index"
    ),
    "A16": Case("P4.1 P4.2", "killed again and again while the index is written: answers equal the files", "index"),
    # B. concurrency
    "B1": Case("P3.1", "sixteen processes create at once: everything acknowledged is there once", STORES),
    "B2": Case("P3.2", "sixteen processes change one record: a chain, and who lost was told", "graph facts profile"),
    "B3": Case("P2.2", "readers beside writers: nothing partial, no locked database", LAYERS),
    "B4": Case("P4.2", "a rebuild beside saves: no row is lost", "index"),
    "B5": Case("P3.1 P6.1", "two worktrees save at once: both valid, merged without a conflict", "graph facts"),
    "B6": Case(
        "P3.1",
        "hook, server, page and commands at once for minutes: nothing lost, memory and files flat",
        not_here="minutes are for `make soak`; there the page's memory grows a little, within its bound",
    ),
    "B7": Case("P3.3", "a holder that was stopped: others give up in time and name it", LAYERS),
    "B8": Case("P3.3", "git's own lock is in the way: the save stands", "graph"),
    "B9": Case("P3.1", "two agents save the same title: both are kept, and told of", "graph facts"),
    "B10": Case("P3.3", "a file system without locks: another guard, or a refusal; never unguarded", LAYERS),
    # C. resources and surroundings
    "C1": Case("P1.3", "the disk fills at each write: an error, the old content, no leftovers", FILES),
    "C2": Case("P1.3", "a read-only disk: questions are answered, a save says why not", LAYERS),
    "C3": Case("P1.3", "a folder that may not be read or written: named", LAYERS),
    "C4": Case("P1.3", "each call refused with each code: no traceback, nothing torn", FILES),
    "C5": Case("P1.5 P8.4", "a clock years ahead, years behind, or jumping: ids unique, ages never negative", LAYERS),
    "C6": Case(
        "P1.5",
        "time zones and languages: the same bytes",
        LAYERS,
        not_here="where the system has no Turkish locale, that part is left out",
    ),
    "C7": Case("P1.5", "every warning of Python is an error"),
    "C8": Case(
        "P1.5 P7.3",
        "no home, no git, an old git, a bare repository, none at all: each as documented",
        not_here="an old git is a wrapper that refuses what git 2.25 lacks, not that git",
    ),
    "C9": Case("P4.3", "a sparse checkout hides the memory: said, with the command that helps", LAYERS),
    "C10": Case("P4.3", "shallow clones and detached heads: not known is not fresh", "graph"),
    "C11": Case("P1.5", "submodules, worktrees, separate git folders, odd paths: work, or say why not"),
    "C12": Case(
        "P1.5 P5.4",
        "names that differ by case or by composition alone: nothing collides",
        "graph facts profile",
        not_here="file systems that ignore case or composition are tried by names alone",
    ),
    "C13": Case("P1.5", "names that Windows reserves: legal file names everywhere", "graph inbox journal"),
    "C14": Case("P1.5", "the longest names and paths: cut, the id kept", "graph"),
    "C15": Case("P1.5 P6.4", "a checkout with Windows line ends: the same memory, no line end flipped", LAYERS),
    "C16": Case("P5.3", "a hundred thousand records: made and asked within bounds"),
    # D. hostile and odd input
    "D1": Case("P5.1 P5.2", "bytes that are not UTF-8, in texts and names: listed, skipped, unchanged", FILES),
    "D2": Case(
        "P8.2 P5.1", "control characters, escapes, hidden and reversing signs: refused, or shown as signs", STORES
    ),
    "D3": Case("P5.3", "titles, bodies, tags and keys without end: refused at a named limit", STORES),
    "D4": Case("P5.1 P5.3", "deep, huge, not-a-number and doubled JSON: refused by type", FILES),
    "D5": Case("P5.1", "YAML that would be more than text: stays text, or is refused", "graph inbox"),
    "D6": Case("P5.3", "texts that are cheap to write and dear to show: bounded"),
    "D7": Case("P5.3", "worst cases for every pattern: bounded"),
    "D8": Case("P5.1", "search syntax in a question: words, and no database's error"),
    "D9": Case("P5.1 P5.3", "empty, endless, wordless questions: a defined answer"),
    "D10": Case("P7.2 P5.4", "links to elsewhere, also swapped in between: never followed", FILES),
    "D11": Case(
        "P5.4",
        "pipes, sockets, hard links, folders in place of files: reported, never waited for",
        FILES,
        not_here="a hard link is read and written as the file that it is; nothing reports it",
    ),
    "D12": Case("P7.2", "names that climb, in every argument of every surface: refused, nothing opened"),
    "D13": Case("P5.4", "file names that are options, lines or git's own: listed safely", STORES),
    "D14": Case("P5.1 P6.3", "ids that do not fit, ids twice, circles: each named, questions answered", LAYERS),
    "D15": Case("P5.5", "a newer version of any file: read at most, never written", FILES + " machine"),
    "D16": Case("P5.3", "hostile transcripts: bounded, and read on after a bad line", "journal inbox"),
    # E. git and merges
    "E1": Case("P6.1", "both branches add a record: a clean merge, the union", "graph facts inbox"),
    "E2": Case("P6.3", "both change one record: clean or a conflict, never a doubled key", LAYERS),
    "E3": Case(
        "P6.2",
        "conflict marks in each kind of file: excluded, named, and put together where nothing has to be chosen",
        FILES,
    ),
    "E4": Case(
        "P6.1 P6.3", "removed here, changed there: the documented winner, or a conflict that a person decides", LAYERS
    ),
    "E5": Case("P6.1", "renamed here, changed there: the id is the identity", "graph"),
    "E6": Case("P6.3", "a union merge that the user set: doubled keys are found", LAYERS),
    "E7": Case("P6.4", "rebase, squash, cherry-pick and revert: the index follows", LAYERS),
    "E8": Case(
        "P6.1",
        "fifty branches merged by git alone: no conflict; without attributes logs do, and a repair joins them",
        "graph facts inbox",
    ),
    "E9": Case("P6.1", "a merge driver that is missing or fails: an ordinary conflict, nothing lost", "facts"),
    "E10": Case("P6.4", "stash, forced checkout, clean and switch under a running server: answers follow the files"),
    "E11": Case(
        "P9.1 P6.2",
        "a check before a commit finds secrets, marks and invalid files in time",
        LAYERS,
        not_here="programs that manage hooks were not tried; looked at is the working tree, not what is staged",
    ),
    # F. hostile repositories
    "F1": Case("P7.1", "git settings that run programs: none runs, whatever command, hook or tool is used"),
    "F2": Case("P7.1", "attributes, submodules, hooks and embedded repositories: none runs"),
    "F3": Case("P7.1 P8.1", "settings of a repository that would widen what is allowed: ignored"),
    "F4": Case("P7.1", "a repository of another user: refused in words"),
    "F5": Case("P7.3", "look-alike programs in the repository or on the path: ours is started"),
    "F6": Case("P7.3", "modules named like Python's own: not imported"),
    "F7": Case("P7.3", "an environment that bends git or Python: cleared, or documented"),
    # G. poisoning and disclosure
    "G1": Case("P8.1", "orders to an agent, saved by an agent: proposed, warned of, not handed over"),
    "G2": Case("P8.1 P8.2", "twenty attacks: none is handed over unasked; asked for, each is framed and labelled"),
    "G3": Case("P8.2", "texts that end a frame, open a role or forge a tag: read back exactly as stored", STORES),
    "G4": Case("P8.3", "the code cited changed or is gone: marked, not handed over", "graph facts"),
    "G5": Case(
        "P8.1",
        "a record of an unknown author: told before it counts",
        not_here="there is no trust by author: `memory diff` shows what a merge brings, and a person decides",
    ),
    "G6": Case("P8.1", "what one session wrote can be taken out, and nothing else", "facts inbox"),
    "G7": Case("P8.4", "thousands of proposals: counted, bounded, the brief unchanged", "inbox"),
    "G8": Case("P8.4", "private records of one project are not found from another", "facts profile"),
    "G9": Case("P8.4", "stuffed words, future dates, self-citation: one record takes one place", LAYERS),
    "G10": Case(
        "P9.1 P9.2", "secrets of every known form and look-alikes: refused and let through as measured", STORES
    ),
    "G11": Case("P9.1", "secrets split, wrapped, in addresses and names: refused", STORES),
    "G12": Case("P9.3", "purged: gone from files, index, spool and copies; what git still has is said", STORES),
    # H. servers and protocols
    "H1": Case("P10.1", "forged hosts and origins, forwarded headers: refused, nothing dispatched"),
    "H2": Case("P10.2", "every route and tool without a token, and with one for reading: refused"),
    "H3": Case("P10.3", "script in every field on every screen: none runs, nothing leaves"),
    "H4": Case("P10.1 P10.3", "forms and requests of other sites: refused; reading changes nothing"),
    "H5": Case("P10.4", "both eras, wrong headers, unknown methods, large bodies, cancelled calls, the end of input"),
    "H6": Case(
        "P10.5",
        "every client's hook, unknown and missing fields, internal errors: a valid answer in time",
        not_here="how long it takes is measured in the benchmarks; tried here is that it is ended at its limit",
    ),
}


def proves(clause: str, *cases: str, over: str = "", found: str = "") -> pytest.MarkDecorator:
    """The test proves this clause by these cases, tried over these places.

    `found` says what was wrong before the test was written: the failure that it found, in a few words.
    """
    unknown = [name for name in (clause, *cases) if name not in CLAUSES and name not in CASES]
    assert not unknown, f"nobody promised {unknown}"
    assert set(over.split()) <= set(PLACES), over
    return pytest.mark.proves(clause, *cases, over=over, found=found)


def tally(clause: str, *, states: int = 0, faults: int = 0, processes: int = 0, inputs: int = 0) -> None:
    """Add up what was tried for a clause, where a run asks for it by `QUIRE_TALLY`; `make proof` does."""
    assert clause in CLAUSES, clause
    line = {"clause": clause, "states": states, "faults": faults, "processes": processes, "inputs": inputs}
    note(line)


def note(line: dict[str, Any]) -> None:
    """Add a line to what is added up, where somebody asks for it."""
    file = os.environ.get("QUIRE_TALLY")
    if file:
        descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            os.write(descriptor, json.dumps(line).encode() + b"\n")
        finally:
            os.close(descriptor)
