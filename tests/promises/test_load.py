"""Everything at once for a while, and what a large memory costs: the same programs as `make soak`, shorter.

No clock decides here: others use this machine, too. Calls are counted, and `make soak` looks at the times.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from installed import Git
from promised import proves, tally
from quire.files.git import Git as Asked
from quire.files.git_history import full_commit, full_commits
from quire.project import Project
from quire.verbs.ask.status import status
from quire.verbs.graph.save import save_nodes
from thorough import LONG, either

TOP = Path(__file__).resolve().parents[2]
SECONDS = either(15, 180)
RECORDS = 20_000
MEMORY_MOST = 300


def run(tmp_path: Path, *arguments: str) -> dict[str, Any]:
    """A soak from its start to its verdict, on a disk in memory where there is one; it must be sound."""
    if not Path("/proc/self/status").exists():
        pytest.skip("only Linux tells what a process holds")
    result = tmp_path / "result.json"
    line = [sys.executable, "-m", "benchmarks.soak", "--folder", str(tmp_path), "--result", str(result)]
    line += ["--no-clock", *arguments]
    done = subprocess.run(line, cwd=TOP, capture_output=True, text=True, timeout=1_800, check=False)
    found: dict[str, Any] = json.loads(result.read_bytes()) if result.exists() else {}
    assert done.returncode == 0, (done.stdout[-3_000:], done.stderr[-3_000:])
    assert found["verdict"] == "sound"
    return found


@pytest.mark.proof
@proves("P3.1", "B6")
def test_hooks_servers_page_commands_and_commits_at_once_lose_nothing(tmp_path: Path) -> None:
    found = run(tmp_path, "--minutes", str(SECONDS / 60))
    counts, held = found["counts"], found["processes"]
    # It was no empty run: every layer was written to, and everybody took part.
    for layer in ("graph", "facts", "profile", "journal"):
        assert counts[f"acknowledged, {layer}"] >= 1, counts
    for name in ("hooks", "commands", "commits", "page, requests", "server by pipe, calls", "server by HTTP, calls"):
        assert counts[name] >= 1, counts
    assert found["checkpoints"] >= 1
    assert found["checked in the end"]["words asked for"] >= 4
    assert set(held) == {"server by pipe", "server by HTTP", "page"}
    assert "went wrong" not in counts
    tally(
        "P3.1", processes=counts["hooks"] + counts["commands"] + counts["commits"] + 3, states=found["checkpoints"] + 2
    )


@proves("P5.3", "C16")
@pytest.mark.skipif(not LONG, reason="a large memory is made for it; `make soak` does it with 100,000 records")
def test_a_large_memory_is_made_and_asked_within_bounds(tmp_path: Path) -> None:
    load = run(tmp_path, "--records", str(RECORDS), "--minutes", "0.5")["load"]
    assert load["out of bounds"] == []
    assert sum(load["records"].values()) == RECORDS
    assert max(row["MB at most"] for row in load["commands"].values()) <= MEMORY_MOST
    tally("P5.3", inputs=RECORDS)


# -- what a look at many records asks git ---------------------------------------------------------


def commits_of(repo: Path, git: Git, number: int) -> list[str]:
    made = []
    for at in range(number):
        (repo / f"part{at % 5}.py").write_text(f"PART = {at}\n")
        made.append(git.commit(f"Change {at}"))
    return made


@proves("P4.3")
def test_many_commits_are_found_at_once_as_each_is_found_alone(
    repo: Path, git: Git, environment: dict[str, str]
) -> None:
    made = commits_of(repo, git, 4)
    git("branch", "decade", made[0])
    git("tag", "--annotate", "--message", "A tag", "first", made[0])
    blob = git("rev-parse", "HEAD:part0.py").strip()
    tag = git("rev-parse", "first").strip()
    asked = Asked(str(repo), environment)
    names = [
        *made,
        *(name[:9] for name in made),
        made[0].upper(),
        "decade",
        "0" * 40,
        "f" * 12,
        blob,
        tag,
        "",
        "HEAD",
        "x y",
    ]
    assert full_commits(asked, names) == {name: full_commit(asked, name) for name in names}
    assert full_commits(asked, []) == {}
    assert full_commits(asked, names)[made[1][:9]] == made[1]


@pytest.mark.proof
@proves("P5.3", "C16", found="a status asked git once for every commit that records name")
def test_a_status_does_not_start_a_process_for_every_commit(
    project: Project, repo: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Records that were saved at many commits are the rule in a memory that has grown."""
    started: list[str] = []
    begin = Asked.start

    def counted(self: Asked, command: str, *arguments: str, **more: Any) -> Any:
        started.append(command)
        return begin(self, command, *arguments, **more)

    monkeypatch.setattr(Asked, "start", counted)
    numbers = []
    for start in (0, 4):
        for at in range(start, start + 4 + start):
            commits_of(repo, git, 5)
            anchors = [f"part{at % 5}.py"]
            save_nodes(
                project,
                {"task": "t", "nodes": [{"kind": "gotcha", "title": f"Trap {at}", "body": "B.", "anchors": anchors}]},
            )
            (repo / "other.py").write_text(f"OTHER = {at}\n")
        git.commit("again")
        started.clear()
        status(Project.open(str(repo), project.world))
        numbers.append(started.count("rev-parse"))
    assert numbers[1] <= numbers[0], started
