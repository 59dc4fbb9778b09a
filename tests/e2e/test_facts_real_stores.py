"""The real files of another program and their merges as a project's own facts: asked, put in order, taken in."""

from __future__ import annotations

import functools
import json
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest
from commanding import Here, copy_of

from promised import proves
from quire.layers.facts.types import Fact
from thorough import some

REAL = Path(__file__).parents[3] / "shared" / "fixtures" / "facts"
HISTORY = REAL / "omegon-history"
MERGES = REAL / "synthetic" / "git-merges"
UNIONS = REAL / "union-merge"
MALFORMED = REAL / "synthetic" / "malformed"
QUESTIONS = ("how are facts ranked by confidence?", "which model summarises a session")

pytestmark = pytest.mark.skipif(not REAL.is_dir(), reason="the real files of facts lie outside the repository")


@pytest.fixture(scope="module")
def store(shared_memory: Any, tmp_path_factory: pytest.TempPathFactory) -> Here:
    """One memory, whose file every test replaces."""
    found = copy_of(shared_memory, tmp_path_factory.mktemp("real"))
    assert found("init", "--with", "facts").code == 0
    found.env["MEMORY_NOW"] = "2026-03-19T12:00:00+00:00"
    return found


@functools.cache
def told() -> list[dict[str, Any]]:
    """What was written down about each version."""
    rows = json.loads((HISTORY / "MANIFEST.json").read_text())["versions"]
    return [row for row in rows if "file" in row]


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
            listed = git("ls-tree", "-r", "--name-only", commit, cwd=folder).decode().split()
            (path,) = [at for at in listed if "jsonl" in at]
            found[name] = git("show", f"{commit}:{path}", cwd=folder)
    return found


def records(content: bytes) -> list[dict[str, Any]]:
    lines = content.removeprefix(b"\xef\xbb\xbf").replace(b"\r", b"").split(b"\n")
    return [json.loads(line) for line in lines if line.startswith(b"{")]


def said(content: bytes) -> set[tuple[str, ...]]:
    """Everything of a file that must not be lost: texts under their ids, and what leads from one to another."""
    found: set[tuple[str, ...]] = set()
    for line in records(content):
        name = line["id"]
        found.add((line["_type"], name, line.get("content") or line.get("narrative") or line.get("relation", "")))
        if line.get("supersedes"):
            found.add(("supersedes", name, line["supersedes"]))
        found |= {("tells of", name, fact) for fact in line.get("fact_ids", ())}
    return found


def shown(store: Here) -> list[Any]:
    """Everything there is, in its order, and how much of it."""
    lines = [["facts", "list", "--limit", "2000"], ["facts", "episodes", "--k", "50"], ["facts"]]
    return [store(*line, "--json").data for line in lines]


def asked(store: Here) -> list[Any]:
    """What the memory answers to somebody who has read nothing yet: what was read counts for more."""
    lines = [["facts", "recall", question, "--faded"] for question in QUESTIONS]
    lines += [["query", QUESTIONS[0]], ["facts", "context", QUESTIONS[1]]]
    answers = shown(store)
    for line in lines:
        store.forget_reading()
        answers.append(store(*line, "--json").data)
    return answers


def forget_index(store: Here) -> None:
    shutil.rmtree(store.root / ".memory/index")


def in_order(store: Here, content: bytes) -> bytes:
    """The file after it was put in order: nothing lost, and its own normal form."""
    store.file.write_bytes(content)
    assert store.facts("normalize", "--write").code == 0
    normal = store.file.read_bytes()
    assert said(content) <= said(normal)
    again = store.facts("normalize", "--write", "--json").data
    assert (again["changed"], again["lines_after"]) == (False, normal.count(b"\n"))
    assert store.file.read_bytes() == normal
    return normal


# -- the history ------------------------------------------------------------------------------


def numbers() -> list[int]:
    """Some of the versions; those that are passed over here are read by the layer's own tests."""
    return some(range(len(told())), 13) if REAL.is_dir() else []


@pytest.mark.proof(keep=1)
@proves("P5.5", over="facts")
@pytest.mark.parametrize("number", numbers())
def test_a_version_of_the_history(store: Here, versions: dict[str, bytes], number: int) -> None:
    """Each one takes the place of the one before, as a change of branches does it."""
    row = told()[number]
    content = versions[row["file"]]
    store.file.write_bytes(content)
    listed, episodes, counts = answers = shown(store)
    assert listed["total"] == len(listed["results"]) == counts["active"] == row["unique_fact_ids"]
    assert counts["episodes"] == episodes["total"] == row["records"]["episode"]
    assert (counts["bad_lines"], counts["conflicts"], counts["contradictions"]) == (0, 0, 0)
    assert (counts["lines"], counts["duplicates"]) == (row["lines"], row["fact_ids_seen_twice"])
    if not row["fact_ids_seen_twice"]:
        assert listed["sections"] == {name: row["by_section"][name] for name in listed["sections"]}
    asked = " ".join(listed["results"][0]["content"].split()[:4])
    assert store.facts("recall", asked, "--faded", "--json").data["results"]
    assert store.file.read_bytes() == content
    if number % 4 == 1:  # an index made anew takes its time
        store.forget_reading()
        answers = shown(store)
        forget_index(store)
        assert shown(store) == answers


@pytest.mark.proof
def test_no_score_depends_on_what_the_index_held_before(store: Here, versions: dict[str, bytes]) -> None:
    """After a change of branches the index answers as one that was made for this branch alone."""
    for number in (0, 19):
        store.file.write_bytes(versions[told()[number]["file"]])
        answers = asked(store)
    forget_index(store)
    assert asked(store) == answers


@pytest.mark.proof(keep=2)
@pytest.mark.parametrize("number", numbers())
def test_a_version_is_put_in_order_and_taken_in(store: Here, versions: dict[str, bytes], number: int) -> None:
    row = told()[number]
    content = versions[row["file"]]
    normal = in_order(store, content)
    assert normal.count(b"\n") == row["lines"] - row["fact_ids_seen_twice"]
    if number % 3:
        return  # all the credentials that there might be are looked for in every line that is taken in
    following = versions[told()[min(number + 1, len(told()) - 1)]["file"]]
    other = store.root / "other.jsonl"
    other.write_bytes(following)
    store.file.write_bytes(content)
    first = store.facts("import", str(other), "--json")
    assert (first.code, first.data["set_aside"]) == (0, 0)
    merged = store.file.read_bytes()
    assert merged.startswith(content)
    assert said(merged) >= said(content) | said(following)
    second = store.facts("import", str(other), "--json").data
    assert (second["added"], second["known"]) == (0, first.data["lines"])
    assert store.file.read_bytes() == merged


@pytest.mark.proof
@proves("P5.5", over="facts")
def test_the_last_version_is_changed_line_by_line(store: Here, versions: dict[str, bytes]) -> None:
    """One fact stored, one archived, one replaced: every other line is as another program wrote it."""
    content = versions[told()[-1]["file"]]
    store.file.write_bytes(content)
    first, second = [item["id"] for item in store.facts("list", "--limit", "2", "--json").data["results"]]
    store.store("Specs", "Something of our own.")
    assert store.facts("archive", first).code == 0
    assert store.facts("supersede", second, "Something that holds now.").code == 0
    before, after = content.splitlines(), store.file.read_bytes().splitlines()
    assert [line for line in before if line not in set(after)] == [
        line for line in before if json.loads(line).get("id") in (first, second)
    ]
    assert len(after) == len(before) + 2
    answers = shown(store)
    forget_index(store)
    assert shown(store) == answers


# -- merges -----------------------------------------------------------------------------------


def small(name: str) -> tuple[dict[str, Any], dict[str, bytes]]:
    (folder,) = MERGES.glob(f"{name}-*")
    files = {path.stem: path.read_bytes() for path in folder.glob("*.jsonl")}
    return json.loads((folder / "case.json").read_text(encoding="utf-8")), files


def active(store: Here) -> set[str]:
    return {item["id"] for item in store.facts("list", "--limit", "2000", "--json").data["results"]}


def taken_in(store: Here, *contents: bytes) -> set[str]:
    """What is live after files were taken in, one after the other."""
    other = store.root / "other.jsonl"
    store.file.write_bytes(b"")
    for content in contents:
        other.write_bytes(content)
        assert store.facts("import", str(other)).code == 0
    return active(store)


@pytest.mark.proof(keep=5)
@pytest.mark.parametrize("name", [f"{number:02}" for number in range(1, 21)])
def test_a_small_merge(store: Here, name: str) -> None:
    case, files = small(name)
    expected = case["expected_of_a_correct_importer"]
    store.file.write_bytes(files["base"])
    base = active(store)
    store.file.write_bytes(files["merged"])
    merged = active(store)
    counts = store.facts("--json").data
    if "active_added" in expected:
        assert len(merged - base) == expected["active_added"]
    if "active_new" in expected:
        assert merged - base == set(expected["active_new"])
    for fact, status in expected.get("final_status", {}).items():
        assert store("inspect", f"fact:{fact}", "--json").data["object"]["status"] == status
    assert not merged & set(expected.get("active_ids_exclude", ()))
    if "chain" in expected:
        *_, newest = expected["chain"]
        assert newest in merged or store("inspect", f"fact:{newest}", "--json").code == 0
    if "episodes" in expected:
        assert counts["episodes"] == expected["episodes"]
    if "facts" in expected:
        assert counts["facts"] == expected["facts"]
    assert bool(counts["contradictions"]) == (name in ("10", "12"))
    marks = [item for item in store("check", "--json").data["warnings"] if item["code"] == "ConflictMarker"]
    assert len(marks) == case["unparsable_lines"]
    answers = asked(store)
    forget_index(store)
    assert asked(store) == answers
    in_order(store, files["merged"])
    assert active(store) == merged
    one_way = taken_in(store, files["base"], files["ours"], files["theirs"])
    assert taken_in(store, files["theirs"], files["base"], files["ours"], files["theirs"]) == one_way


@functools.cache
def large(name: str) -> dict[str, bytes]:
    folder = UNIONS / name
    if folder.is_dir():
        return {path.name: path.read_bytes() for path in folder.iterdir()}
    with tarfile.open(UNIONS / f"{name}.tar.xz") as archive:
        return {
            member.name.rpartition("/")[2]: archive.extractfile(member).read()  # type: ignore[union-attr]
            for member in archive.getmembers()
            if member.isfile()
        }


LARGE = ["diverged-branches", "lean-branches", "real-23345ce8", "real-28ff0e2f-both-added", "writer-divergence"]


@pytest.mark.proof
@pytest.mark.parametrize("name", LARGE)
def test_a_large_merge(store: Here, name: str) -> None:
    files = large(name)
    stats = json.loads(files["meta.json"])["stats"]["merged.jsonl"]
    store.file.write_bytes(files["merged.jsonl"])
    counts = store.facts("--json").data
    assert counts["facts"] == counts["active"] == stats["unique_fact_hashes"]
    assert counts["facts"] + counts["episodes"] == stats["unique_ids"]
    assert (counts["bad_lines"], counts["conflicts"], counts["contradictions"]) == (0, 0, 0)
    assert store("check").code == 0
    normal = in_order(store, files["merged.jsonl"])
    assert normal.count(b"\n") == stats["unique_ids"]
    other = store.root / "other.jsonl"
    if "theirs.jsonl" in files:
        # Taken in by us, it is what git made of it.
        other.write_bytes(files["theirs.jsonl"])
        store.file.write_bytes(files["ours.jsonl"])
        assert store.facts("import", str(other)).code == 0
        assert in_order(store, store.file.read_bytes()) == normal


# -- malformed --------------------------------------------------------------------------------


def test_a_malformed_file_is_told_line_by_line_and_kept(store: Here) -> None:
    content = (MALFORMED / "lines.jsonl").read_bytes()
    rows = json.loads((MALFORMED / "expected.json").read_text())["rows"]
    store.file.write_bytes(content)
    run = store("check", "--json")
    assert run.code == 1
    named = {item["line"]: item["code"] for item in [*run.data["warnings"], *run.data["errors"]] if "line" in item}
    assert {row["line"] for row in rows if row["class"] == "bad"} <= set(named)
    assert {named[number] for number in (5, 6, 7)} == {"ConflictMarker"}
    text = store("check").out
    assert all(f".memory/facts.jsonl:{row['line']}:" in text for row in rows if row["class"] == "bad")
    assert not {row["line"] for row in rows if row["class"] == "good"} & {
        item["line"] for item in run.data["errors"] if "line" in item
    }
    assert store.file.read_bytes() == content
    # What is good is there, what nobody understands is not active, and what leads nowhere waits.
    lines = content.split(b"\n")
    kept = [json.loads(lines[row["line"] - 1]) for row in rows if row["class"] in ("good", "keep")]
    facts = {line["id"]: line for line in kept if line["_type"] == "fact"}
    listed = active(store)
    unknown = {name for name, line in facts.items() if line.get("status") not in (None, "active")}
    assert unknown
    assert set(facts) - unknown <= listed
    assert not unknown & listed
    assert store.facts("--json").data["parked"] == 1
    assert "ConnectionParked" in {item["code"] for item in run.data["warnings"]}


def test_a_malformed_file_stays_whole_whatever_is_done_to_it(store: Here) -> None:
    content = (MALFORMED / "lines.jsonl").read_bytes()
    rows = json.loads((MALFORMED / "expected.json").read_text())["rows"]
    lines = content.split(b"\n")
    store.file.write_bytes(content)
    store.store("Specs", "Something new.")
    assert store.file.read_bytes().startswith(content)
    some = next(name for name in active(store) if b'"%s"' % name.encode() in content)
    assert store.facts("archive", some).code == 0
    assert sum(line not in store.file.read_bytes().split(b"\n") for line in lines) == 1
    counts = store.facts("--json").data
    assert store.facts("normalize", "--write").code == 0
    normal = store.file.read_bytes()
    for row in rows:
        if row["class"] == "bad" and "conflict" not in row["what"]:
            assert lines[row["line"] - 1] in normal, row
        if row["class"] in ("good", "keep", "legacy"):
            assert json.loads(lines[row["line"] - 1]).get("id", "").encode() in normal, row
    extra = json.loads(lines[next(row["line"] for row in rows if "extra fields" in row["what"]) - 1])
    start = b'{"_type":"fact","id":"%s"' % extra["id"].encode()
    (again,) = [json.loads(line) for line in normal.splitlines() if line.startswith(start)]
    unknown = set(extra) - {"_type", *Fact.__struct_fields__}
    assert unknown
    assert {name: again.get(name) for name in unknown} == {name: extra[name] for name in unknown}
    after = store.facts("--json").data
    assert (after["by_status"], after["bad_lines"]) == (counts["by_status"], counts["bad_lines"])
    assert store.facts("normalize", "--json").data["changed"] is False


def test_a_malformed_file_is_taken_in_as_far_as_it_goes(store: Here) -> None:
    rows = json.loads((MALFORMED / "expected.json").read_text())["rows"]
    store.file.write_bytes(b"")
    run = store.facts("import", str(MALFORMED / "lines.jsonl"), "--json")
    assert run.code == 0
    bad = {row["line"] for row in rows if row["class"] == "bad" and "conflict" not in row["what"]}
    assert bad <= {item["line"] for item in run.json["warnings"] if "line" in item}
    taken = store.file.read_bytes()
    assert store.facts("import", str(MALFORMED / "lines.jsonl"), "--json").data["added"] == 0
    assert store.file.read_bytes() == taken
    assert store("check").code == 0
    # For people, with the numbers of the lines.
    store.file.write_bytes(b"")
    text = store.facts("import", str(MALFORMED / "lines.jsonl")).err
    assert all(f"lines.jsonl:{number}" in text for number in bad)


def test_a_mark_and_ends_of_lines_of_another_system(store: Here) -> None:
    store.file.write_bytes((MALFORMED / "bom-crlf.jsonl").read_bytes())
    wanted = {line["id"] for line in records(store.file.read_bytes()) if line["_type"] == "fact"}
    assert active(store) == wanted
    assert store("check").code == 0
    in_order(store, store.file.read_bytes())
    assert b"\r" not in store.file.read_bytes()
