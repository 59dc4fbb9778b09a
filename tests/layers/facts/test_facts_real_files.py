"""The real files of another program and their merges: every outcome that was written down for them."""

from __future__ import annotations

import json
import random
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import msgspec
import pytest
from making import REAL, active, data, needs_real, outcome, resolved, settled

from cases import each
from quire.layers.facts.content import content_hash
from quire.layers.facts.layout import SECTIONS
from quire.layers.facts.lines import read_lines
from quire.layers.facts.resolve import Resolved, canonical
from quire.layers.facts.types import Fact

pytestmark = needs_real
HISTORY = REAL / "omegon-history"
MERGES = REAL / "synthetic" / "git-merges"
UNIONS = REAL / "union-merge"


def _objects(content: bytes, kind: str) -> list[dict[str, Any]]:
    found = []
    for line in content.replace(b"\r", b"").split(b"\n"):
        if line.startswith(b"{"):
            record = json.loads(line)
            if record["_type"] == kind:
                found.append(record)
    return found


def _loses_nothing(content: bytes, found: Resolved) -> None:
    """Every content, link and field that says something is still said, under the id it had."""
    ids = {*found.facts, *found.twins}
    lines = {record.id: record for record in found.records if isinstance(record, Fact)}
    for said in _objects(content, "fact"):
        assert said["id"] in ids
        if said.get("supersedes"):
            held = found.twins.get(said["id"]) or found.facts[said["id"]]
            assert held.supersedes == said["supersedes"]
        assert said["source"] == lines[said["id"]].source
    texts = {(record.id, record.content) for record in found.records if isinstance(record, Fact)}
    assert {(said["id"], said["content"]) for said in _objects(content, "fact")} == texts
    for said in _objects(content, "episode"):
        held = found.episodes[said["id"]]
        if said.get("fact_ids"):
            assert list(held.fact_ids) == said["fact_ids"]


# -- the history ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def versions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """All versions of the file, from the repository that holds its history."""
    folder = tmp_path_factory.mktemp("history") / "clone"

    def git(*arguments: str, cwd: Path | None = None) -> bytes:
        return subprocess.run(["git", *arguments], cwd=cwd, check=True, capture_output=True).stdout

    git("clone", "--quiet", "--branch", "main", str(HISTORY / "history.bundle"), str(folder))
    found = {}
    for line in git("log", "--reverse", "--format=%H %s", cwd=folder).decode().splitlines():
        commit, _, name = line.partition(" ")
        if name.endswith(".jsonl"):
            (path,) = [
                at for at in git("ls-tree", "-r", "--name-only", commit, cwd=folder).decode().split() if "jsonl" in at
            ]
            found[name] = git("show", f"{commit}:{path}", cwd=folder)
    return found


@pytest.mark.proof
def test_every_version_of_the_history(versions: dict[str, bytes]) -> None:
    told = [row for row in json.loads((HISTORY / "MANIFEST.json").read_text())["versions"] if "file" in row]
    assert [row["file"] for row in told] == list(versions)
    assert len(versions) == 38
    for row in told:
        content = versions[row["file"]]
        assert len(content) == row["bytes"]
        found = settled(content)
        assert found.problems == ()
        assert found.aside == ()
        assert found.conflicts == ()
        assert found.aliases == {}
        assert len(found.facts) == row["unique_fact_ids"]
        assert len(found.episodes) == row["records"]["episode"]
        assert active(found) == set(found.facts)
        doubled = row["fact_ids_seen_twice"]
        assert canonical(found).count(b"\n") == row["lines"] - doubled
        supersedes = sum(1 for fact in found.facts.values() if fact.supersedes)
        assert supersedes == row["with_supersedes"] // (2 if doubled else 1)
        sections = {name: 0 for name in SECTIONS if name in row["by_section"]}
        for fact in found.facts.values():
            sections[fact.section] += 1
        if not doubled:
            assert sections == row["by_section"]
        _loses_nothing(content, found)


@pytest.mark.proof
def test_the_whole_history_as_one_merge(versions: dict[str, bytes]) -> None:
    """All 38 versions in one file: each id is one fact, nothing that was said is lost, and the order is no matter."""
    everything = b"\n".join(versions.values())
    found = settled(everything)
    assert found.problems == ()
    hashes = {content_hash(said["content"]) for said in _objects(everything, "fact")}
    assert {fact.content_hash for fact in found.facts.values()} == hashes
    assert {said["id"] for said in _objects(everything, "fact")} == {*found.facts, *found.twins}
    turned = resolved(b"\n".join(reversed(versions.values())))
    assert outcome(turned) == outcome(found)
    assert canonical(turned) == canonical(found)


def test_all_digests_of_the_last_version() -> None:
    reading = read_lines((HISTORY / "38_2026-03-18_78ad3cd6.jsonl").read_bytes())
    assert reading.problems == []  # a digest that does not fit would be one
    assert len(reading.facts) == 1797


# -- the large merges ----------------------------------------------------------------------------

LARGE = ["diverged-branches", "lean-branches", "real-23345ce8", "real-28ff0e2f-both-added", "writer-divergence"]


def _large(name: str) -> dict[str, bytes]:
    folder = UNIONS / name
    if folder.is_dir():
        return {path.name: path.read_bytes() for path in folder.iterdir()}
    with tarfile.open(UNIONS / f"{name}.tar.xz") as archive:
        return {
            member.name.rpartition("/")[2]: archive.extractfile(member).read()  # type: ignore[union-attr]
            for member in archive.getmembers()
            if member.isfile()
        }


@pytest.mark.proof
@pytest.mark.parametrize("name", LARGE)
def test_a_large_merge(name: str) -> None:
    files = _large(name)
    meta = json.loads(files["meta.json"])
    for file, stats in meta["stats"].items():
        found = settled(files[file])
        assert found.problems == ()
        assert found.conflicts == ()
        assert found.contradictions == ()
        assert len(found.facts) == stats["unique_fact_hashes"]
        assert len(found.facts) + len(found.episodes) == stats["unique_ids"]
        assert canonical(found).count(b"\n") == stats["unique_ids"]
        _loses_nothing(files[file], found)
    merged = resolved(files["merged.jsonl"])
    lines = files["merged.jsonl"].split(b"\n")
    random.Random(4).shuffle(lines)
    assert canonical(resolved(b"\n".join(lines))) == canonical(merged)
    if "theirs.jsonl" in files:
        both = resolved(files["ours.jsonl"] + b"\n" + files["theirs.jsonl"])
        assert canonical(both) == canonical(merged)


def test_two_writers_of_one_store() -> None:
    found = resolved(_large("writer-divergence")["merged.jsonl"])
    assert (len(found.facts), len(found.episodes)) == (1797, 69)
    assert sum(1 for fact in found.facts.values() if fact.supersedes) == 222
    assert sum(len(told.fact_ids) for told in found.episodes.values()) == 344


def test_a_merge_confirms_nothing() -> None:
    """The counts are those of one of the lines, never more."""
    files = _large("real-23345ce8")
    said: dict[str, set[int]] = {}
    for record in _objects(files["merged.jsonl"], "fact"):
        said.setdefault(record["id"], set()).add(record["reinforcement_count"])
    for fact in resolved(files["merged.jsonl"]).facts.values():
        assert fact.reinforcement_count in said[fact.id]


# -- the small merges ----------------------------------------------------------------------------


def _small(name: str) -> tuple[dict[str, Any], dict[str, bytes]]:
    (folder,) = MERGES.glob(f"{name}-*")
    files = {path.stem: path.read_bytes() for path in folder.glob("*.jsonl")}
    return json.loads((folder / "case.json").read_text(encoding="utf-8")), files


@each("name", [f"{number:02}" for number in range(1, 21)])
def test_a_small_merge(name: str) -> None:
    """What every case says in the same words, and what must hold for all."""
    case, files = _small(name)
    merged, base = settled(files["merged"]), resolved(files["base"])
    expected = case["expected_of_a_correct_importer"]
    if "active_added" in expected:
        assert len(active(merged) - active(base)) == expected["active_added"]
    for fact, status in expected.get("final_status", {}).items():
        assert merged.facts[fact].status == status
    for fact in expected.get("active_ids_exclude", ()):
        assert fact not in active(merged)
    if "active_new" in expected:
        assert active(merged) - active(base) == set(expected["active_new"])
    if "chain" in expected:
        assert merged.chain(expected["chain"][0]) == tuple(expected["chain"])
    if "edges" in expected:
        assert len(merged.connections) == expected["edges"]
    if "episodes" in expected:
        assert len(merged.episodes) == expected["episodes"]
    if "facts" in expected:
        assert len(merged.facts) == expected["facts"]
    assert bool(merged.contradictions) == (name in ("10", "12"))
    marks = [problem for problem in merged.problems if problem.code == "ConflictMarker"]
    assert len(marks) == len(merged.problems) == case["unparsable_lines"]
    _loses_nothing(files["merged"], merged)
    # Merged by us, from both sides in either order and any number of times, it is the same.
    ours_first = resolved(files["ours"] + b"\n" + files["theirs"])
    theirs_first = resolved(files["theirs"] + b"\n" + files["ours"] + b"\n" + files["ours"])
    assert outcome(ours_first) == outcome(theirs_first)
    lines = files["merged"].split(b"\n")
    for seed in range(5):
        random.Random(seed).shuffle(lines)
        assert canonical(resolved(b"\n".join(lines))) == canonical(merged)


def test_small_merge_03_either_id_leads_to_the_survivor() -> None:
    merged = resolved(_small("03")[1]["merged"])
    assert merged.aliases == {"theirsAAAA03": "oursAAAAAA03"}
    assert merged.find("theirsAAAA03") is merged.facts["oursAAAAAA03"]


def test_small_merges_04_to_06_a_dropped_line_says_nothing() -> None:
    """The cases want the fact archived; without a line that says so it is gone (04) or as the other branch has it."""
    (dropped,) = _small("04")[0]["expected_of_a_correct_importer"]["archived"]
    assert resolved(_small("04")[1]["merged"]).find(dropped) is None
    assert dropped in active(resolved(_small("04")[1]["base"] + _small("04")[1]["merged"]))
    (edited,) = _small("05")[0]["expected_of_a_correct_importer"]["conflict"]
    assert edited in active(resolved(_small("05")[1]["merged"]))
    whole = resolved(_small("05")[1]["base"] + _small("05")[1]["merged"])
    assert [conflict.winner.id for conflict in whole.conflicts] == [edited]
    (beside,) = _small("06")[0]["expected_of_a_correct_importer"]["archived"]
    files = _small("06")[1]
    assert beside in active(resolved(files["merged"]))
    # As we write it, with a tombstone, it is what the case wants, whatever union brings back.
    fact = resolved(files["base"]).facts[beside]
    gone = msgspec.structs.replace(fact, status="archived", version=31)
    merged = settled(files["merged"] + data({"_type": "fact", **msgspec.to_builtins(gone)}))
    assert merged.facts[beside].status == "archived"


def test_small_merges_07_to_09_and_20_the_loser_is_kept() -> None:
    wanted = {
        "07": ("1JS32fD_XFCT", "(edited)", False),
        "08": ("1JS32fD_XFCT", "semantic search", False),
        "09": ("1JS32fD_XFCT", "Ours rewrote this fact.", True),
        "20": ("33RZEIUuydKQ", "pi-package", False),
    }
    for name, (fact, text, tie) in wanted.items():
        merged = resolved(_small(name)[1]["merged"])
        (conflict,) = merged.conflicts
        assert conflict.winner.id == fact
        assert conflict.is_tie is tie
        (loser,) = conflict.losers
        assert text in loser.content
    eight = resolved(_small("08")[1]["merged"])
    assert [loser.status for loser in eight.conflicts[0].losers] == ["archived"]
    assert eight.facts["1JS32fD_XFCT"].archived_at is None
    twenty = resolved(_small("20")[1]["merged"])
    assert (twenty.facts["33RZEIUuydKQ"].content, twenty.facts["33RZEIUuydKQ"].section) == (
        "Theirs edited text.",
        "Architecture",
    )
    assert [loser.section for loser in twenty.conflicts[0].losers] == ["Constraints"]


def test_small_merges_10_and_12_two_live_replacements_are_told() -> None:
    for name, live in (("10", ("oursAAAAAA10", "theirsAAAA10")), ("12", ("oursAAAAAA12", "theirsD0AA12"))):
        (told,) = resolved(_small(name)[1]["merged"]).contradictions
        assert (told.fact, told.live) == ("SWX9bAyHH_h_", live)


def test_small_merge_11_superseded_before_archived() -> None:
    merged = resolved(_small("11")[1]["merged"])
    assert merged.facts["SWX9bAyHH_h_"].status == "superseded"
    assert [loser.status for loser in merged.conflicts[0].losers] == ["archived"]
    assert merged.live("SWX9bAyHH_h_") == ("oursAAAAAA11",)


def test_small_merge_14_ends_of_lines_are_no_difference() -> None:
    merged = resolved(_small("14")[1]["merged"])
    assert merged.conflicts == ()
    assert b"\r" not in canonical(merged)
    assert canonical(merged).count(b"\n") == 23


def test_small_merge_16_one_triple_is_one_connection() -> None:
    merged = resolved(_small("16")[1]["merged"])
    assert merged.doubles == {"edgeTHEIR001": "edgeOURS0001"}
    assert merged.parked == ()


def test_small_merge_17_a_dangling_connection_is_parked() -> None:
    merged = resolved(_small("17")[1]["merged"])
    assert [(parked.connection.id, parked.missing) for parked in merged.parked] == [("edgeTHEIR017", ("Pxj3qTZCgjYz",))]
    assert merged.find("Pxj3qTZCgjYz") is None
    assert len(merged.facts) == 19


def test_small_merge_18_both_narratives_are_kept() -> None:
    merged = resolved(_small("18")[1]["merged"])
    (conflict,) = merged.conflicts
    assert conflict.winner.id == "WUtdHFtmsU-H"
    assert len(conflict.losers) == 1


def test_small_merge_19_nothing_changed() -> None:
    case, files = _small("19")
    merged, ours = resolved(files["merged"]), resolved(files["ours"])
    assert case["expected_of_a_correct_importer"]["facts"] == 20
    assert merged.conflicts == ()
    assert canonical(merged) == canonical(ours)
    assert {fact.reinforcement_count for fact in merged.facts.values()} == {9}
