"""A review over the past of public repositories: the findings that a reviewer calls noise, and orphans that it misses.

`data/review-replay/records.json` has records that were written from reading three repositories, in words of ours, as a
team would keep them. Each of the pull requests that came after is reviewed against a memory that is kept: before it,
what is out of date is confirmed, what moved gets its new anchor, what is gone is retired. The files beside it have the
commits, what was found, and what a person said of it: `fits`, `noise`, or nothing where it was not judged. `nearby` has
the records of which the changed lines are part and which the review sets apart, `silent` those of which only comments,
formatting, imports or types changed. `passed.json` has some of both, drawn by chance, with what a person said of that:
`right`, or `missed` where there should have been a finding.

The repositories are not part of this one: `REVIEW_REPLAY` names a folder with clones of them, by their names. Without
it only what was judged before is counted.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from quire.anchors.tree_change import TreeChange
from quire.files.world import real_world
from quire.project import Project
from quire.upkeep.change_set import Span, changes_in_span, span_to_review
from quire.upkeep.review.engine import review_change
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.graph.save import save_nodes

DATA = Path(__file__).parent / "data/review-replay"
CODE = ("M101", "M201", "M202", "M203")
DRAWN = 20

__all__ = ["run"]


def run() -> dict[str, Any]:
    folder = os.environ.get("REVIEW_REPLAY", "")
    results: dict[str, Any] = {}
    together: Counter[str] = Counter()
    for name, told in json.loads((DATA / "records.json").read_text()).items():
        path = DATA / f"{name}.json"
        known = json.loads(path.read_text())
        if folder:
            known = _judged(_replayed(Path(folder) / name, told["records"], known), known)
            path.write_text(json.dumps(known, indent=1) + "\n")
        counts = _counted(known)
        together.update(counts)
        results[name] = {"repository": told["repository"], "records": len(told["records"]), **_figures(counts)}
    said = json.loads((DATA / "passed.json").read_text())
    told = [
        next((one["verdict"] for one in said if {**one, "verdict": ""} == drawn), "") for drawn in _drawn(list(results))
    ]
    return {**results, "together": _figures(together), "passed over, drawn by chance and judged": dict(Counter(told))}


def _drawn(names: list[str]) -> list[dict[str, str]]:
    """Some of the records that a review passed over though the change touched their code."""
    passed = [
        {"repository": name, "commit": pull["commit"], "ref": ref, "verdict": ""}
        for name in names
        for pull in json.loads((DATA / f"{name}.json").read_text())
        for ref in sorted((*pull["nearby"], *pull["silent"]))
    ]
    return random.Random(27).sample(passed, DRAWN)


def _counted(pulls: list[dict[str, Any]]) -> Counter[str]:
    found = [finding for pull in pulls for finding in pull["findings"]]
    counts = Counter(f"findings {finding['code']}" for finding in found)
    counts.update({"pull requests": len(pulls), "findings": len(found)})
    counts["judged"] = sum(bool(finding["verdict"]) for finding in found)
    counts["noise"] = sum(finding["verdict"] == "noise" for finding in found)
    counts["orphans missed"] = sum(len(pull["missed"]) for pull in pulls)
    counts["named beside the findings"] = sum(len(pull["nearby"]) for pull in pulls)
    counts["silent"] = sum(len(pull["silent"]) for pull in pulls)
    return counts


def _figures(counts: Counter[str]) -> dict[str, Any]:
    return {**counts, "noise for 20 pull requests": round(20 * counts["noise"] / counts["pull requests"], 1)}


def _judged(now: list[dict[str, Any]], known: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """With the verdicts that the same findings had."""
    said = {(pull["commit"], one["code"], one["ref"]): one["verdict"] for pull in known for one in pull["findings"]}
    for pull in now:
        for one in pull["findings"]:
            one["verdict"] = said.get((pull["commit"], one["code"], one["ref"]), "")
    return now


def _replayed(clone: Path, records: list[dict[str, Any]], known: list[dict[str, Any]]) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="quire-replay-") as name:
        os.environ.update(HOME=name, MEMORY_HOME=f"{name}/home")
        root = Path(name) / "clone"
        subprocess.run(["git", "clone", "-q", "--no-checkout", str(clone), str(root)], check=True)
        _git(root, "config", "user.email", "replay@example.com")
        _git(root, "config", "user.name", "Replay")
        # Without a remote every branch counts as the default one, and what is confirmed stands in its file.
        _git(root, "remote", "remove", "origin")
        _git(root, "checkout", "-q", "--detach", f"{known[0]['commit']}^1")
        project = Project.open(str(root), real_world())
        init_memory(project, guidance=False)
        save_nodes(project, {"task": "replay", "nodes": records})
        return [_reviewed(root, pull["commit"], Path(name)) for pull in known]


def _reviewed(root: Path, commit: str, folder: Path) -> dict[str, Any]:
    kept = folder / "kept"
    subprocess.run(["rm", "-rf", str(kept)], check=True)
    (root / ".memory").rename(kept)
    _git(root, "checkout", "-q", "--detach", "-f", f"{commit}^1")
    kept.rename(root / ".memory")
    _keep(root)
    before = _with_memory(root, f"{commit}^1", [])
    after = _with_memory(root, commit, ["-p", before])
    project = Project.open(str(root), real_world())
    span = span_to_review(project.git, f"{before}..{after}", staged=False, branch=None)
    found = review_change(project, span)
    findings = [one for one in found.findings if one.code in CODE]
    told = {*found.nearby, *(one.ref for one in findings)}
    lost = {one.ref for one in findings if one.code in ("M202", "M203")}
    return {
        "commit": commit,
        "findings": [{"code": one.code, "ref": one.ref, "verdict": ""} for one in findings],
        "nearby": found.nearby,
        "silent": sorted(_touched(project, root, span) - told),
        "missed": sorted(_gone(root, before, after) - lost),
    }


def _touched(project: Project, root: Path, span: Span) -> set[str]:
    """The records of which the change touched any line."""
    change = TreeChange(project.git, changes_in_span(project.git, span))
    return {
        record["id"]
        for record in _records(root)
        if any(change.paths.covers(one) and change.touched(one) for one in record.get("anchors", ()))
    }


def _records(root: Path) -> list[dict[str, Any]]:
    """The records that count now."""
    found = [json.loads(path.read_text()) for path in (root / ".memory/memory").glob("*.json")]
    return [record for record in found if record["status"] == "active"]


def _keep(root: Path) -> None:
    """Look after the memory as a team does: confirm what is out of date, retire what is gone."""
    listed = json.loads(_memory(root, "list", "--json", "--limit", "500"))["data"]["results"]
    for record in listed:
        if record.get("verdict") in ("changed", "moved", "orphaned"):
            done = json.loads(_memory(root, "confirm", record["ref"], "--reason", "looked at", "--json"))
            if not done["ok"]:
                gone = json.dumps({"task": "replay", "stale": [{"id": record["ref"], "reason": "gone"}]})
                _memory(root, "save", "--stdin", "--json", given=gone)


def _with_memory(root: Path, of: str, parents: list[str]) -> str:
    """A commit of this tree with the memory that lies there now."""
    index = {"GIT_INDEX_FILE": str(root / ".git/replay-index")}
    _git(root, "read-tree", of, env=index)
    _git(
        root,
        "add",
        "--force",
        "--",
        *(f".memory/{name}" for name in ("config.json", "memory", "relations") if (root / ".memory" / name).exists()),
        env=index,
    )
    return _git(root, "commit-tree", _git(root, "write-tree", env=index), "-m", "replay", *parents)


def _gone(root: Path, before: str, after: str) -> set[str]:
    """The records whose code is gone, by a look of its own: the file, or every line that could define the name."""
    found = set()
    changed = set(_git(root, "diff", "--name-only", "--no-renames", before, after).split("\n"))
    for record in _records(root):
        for anchor in record.get("anchors", ()):
            file, _, name = anchor.partition("#")
            if file in changed and _defines(root, before, file, name) and not _defines(root, after, file, name):
                found.add(record["id"])
    return found


def _defines(root: Path, commit: str, file: str, name: str) -> bool:
    shown = subprocess.run(["git", "show", f"{commit}:{file}"], cwd=root, capture_output=True, check=False)
    if shown.returncode or not name:
        return not shown.returncode
    last = re.escape(name.rpartition(".")[2])
    words = r"(?:def|class|func|function|const|var|type|let|interface|\))"
    method = rf"^\s*(?:(?:public|private|protected|static|async|get|set)\s+)*{last}(?:<[^\n]*>)?\((?:[^\n]*[({{,])?$"
    return bool(re.search(rf"{words}\s+\*?{last}\b|(?m:{method})", shown.stdout.decode("utf-8", "replace")))


def _memory(root: Path, *arguments: str, given: str = "") -> str:
    return subprocess.run(
        ["memory", *arguments], cwd=root, input=given, capture_output=True, text=True, check=False
    ).stdout


def _git(root: Path, *arguments: str, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=root, env={**os.environ, **(env or {})}, capture_output=True, check=True
    )
    return done.stdout.decode("utf-8", "surrogateescape").strip()
