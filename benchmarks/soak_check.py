"""After a soak, and at times in between: is all that was acknowledged in the files, once, and found?"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.soak_ground import Place
from benchmarks.soak_ledger import WORD, Ledger, Told
from benchmarks.soak_servers import LAYERS
from quire.verbs.ask.answers import answer_question

ASKED_FRESH = 12
"""How many of the words are asked for by a command of its own; all are asked for in this process."""
_ABOUT_US = ("validation:baseline", "recall:backlog")
"""Warnings of a check that are true here: nobody ran the project's own checks, and sessions wait to be recalled."""

__all__ = ["check_all", "check_files"]


def check_files(place: Place, ledger: Ledger) -> list[str]:
    """What is wrong with the files: a word that is missing, there twice, or that nobody told.

    Others may go on meanwhile: what was acknowledged before the look must be there, what is tried during it may be.
    """
    told = ledger.so_far()
    found: dict[str, Counter[str]] = {layer: Counter() for layer in (*LAYERS, "inbox")}
    for layer, word in _words(place.root):
        found[layer][word] += 1
    wrong = []
    for word, one in told.items():
        times = found[one.layer][word]
        if one.layer != "inbox" and times != 1 and word not in ledger.replaced:
            wrong.append(f"{word}, which {one.by} told to {one.layer} at {one.at:.1f} s, is there {times} times")
    for layer, words in found.items():
        wrong += [f"{word} is in {layer}, and nobody told it" for word in words if ledger.tried.get(word) != layer]
        wrong += [f"{word} is in {layer} {times} times" for word, times in words.items() if times > 1]
    return wrong


def _words(root: Path) -> Iterator[tuple[str, str]]:
    """Each record that holds a word of ours, by its layer."""
    for path in (root / ".memory/memory").glob("*.md"):
        yield from (("graph", word) for word in _in(_read(path)))
    for line in _lines(root / ".memory/facts.jsonl"):
        yield from (("facts", word) for word in _in(str(line.get("content", ""))))
    profile = json.loads((root / ".ai-state/memory.json").read_bytes())
    for entries in profile["memories"].values():
        for entry in entries.values():
            yield from (("profile", word) for word in _in(str(entry["value"])))
    for line in _lines(root / ".agent-memory/history/events.jsonl"):
        if line.get("kind") == "imported_session":
            yield from (("journal", word) for word in _in(line["summary"]))
    for line in _lines(root / ".memory/local/inbox.jsonl"):
        yield from (("inbox", word) for word in _in(line["text"]))


def _in(text: str) -> set[str]:
    return set(WORD.findall(text))


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except FileNotFoundError:  # it was replaced by another name since the folder was listed
        return ""


def _lines(path: Path) -> Iterator[Any]:
    for line in _read(path).splitlines():
        try:
            yield json.loads(line)
        except ValueError:  # the last line, while it is being written; `memory check` judges it afterwards
            continue


def check_all(place: Place, ledger: Ledger) -> tuple[dict[str, Any], list[str]]:
    """Everybody has gone: the files, the answers of the index that lived through it, those of a new one, the check."""
    # Of clients that keep sessions elsewhere, the soak lays out no files: those end as failed, and are no failure.
    place.memory("inbox", "collect", codes=(0, 1))
    wrong = check_files(place, ledger)
    there = list(_words(place.root))
    wrong += [f"{word} was replaced and is still there" for layer, word in there if word in ledger.replaced]
    waiting = {word for layer, word in there if layer == "inbox"}
    ended = [word for word, one in ledger.told.items() if one.layer == "inbox"]
    wrong += [f"the session {word} ended and left no proposal" for word in ended if word not in waiting]
    known = [one for one in ledger.told.values() if one.layer in LAYERS and one.word not in ledger.replaced]
    wrong += _not_found(place, known, "the index that was there")
    for one in random.Random(1).sample(known, min(ASKED_FRESH, len(known))):
        if one.word not in json.dumps(place.memory("query", one.word, "--all")):
            wrong.append(f"`memory query` does not find {one.word}, told to {one.layer}")
    place.memory("rebuild")
    wrong += _not_found(place, known, "a new index")
    checked = place.memory("check", codes=(0, 1))
    about = [one for one in checked["warnings"] if not one["message"].startswith(_ABOUT_US)]
    wrong += [f"memory check: {one['path']}: {one['message']}" for one in [*checked["errors"], *about]]
    if not checked["valid"]:
        wrong.append("memory check: not valid")
    kinds = Counter(one["code"] for one in checked["warnings"])
    return {"words asked for": len(known), "files checked": checked["files_checked"], "warnings": dict(kinds)}, wrong


def _not_found(place: Place, known: list[Told], where: str) -> list[str]:
    """One process, a question for each word, to the layer that it was told to."""
    project = place.project()
    missing = []
    for one in known:
        answer = answer_question(project, one.word, layers=(one.layer,), everything=True)
        if not any(one.word in hit.record.text or one.word in hit.record.title for hit in answer.hits):
            missing.append(f"{where} does not find {one.word}, told to {one.layer} by {one.by}")
    return missing
