"""Decision records of a project: what their own status says, and what becomes of them when their files are edited."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hosts_here import Hosts

from installed import Git, Memory

FOLDER = "docs/server/adr"


def record(title: str, status: str, decision: str = "We do it so.") -> str:
    return f"# {title}\n\n## Status\n\n{status}\n\n## Context\n\nIt has to be.\n\n## Decision\n\n{decision}\n"


@pytest.fixture
def hosts(memory: Memory, git: Git) -> Hosts:
    return Hosts(memory, git)


def held(hosts: Hosts, ref: str) -> dict[str, Any]:
    found: dict[str, Any] = hosts.memory("inspect", ref, "--json").data["object"]
    return found


def test_only_what_its_file_calls_decided_becomes_active(hosts: Hosts) -> None:
    statuses = {
        "Tides": "Accepted",
        "Berths": "Reverted by [a discussion](https://example.org/1198).\n\nBerths are gone.",
        "Cranes": "Superseded by [ADR-0004](0004-ropes.md)",
        "Ropes": "Accepted\n\nSupersedes ADR-3",
        "Buoys": "Proposed",
        "Locks": "On hold",
        "Ships": "Rejected",
    }
    for number, (title, status) in enumerate(statuses.items(), 1):
        hosts.write(f"{FOLDER}/{number:04}-{title.lower()}.md", record(f"{number}. {title}", status))
    head = "---\ntitle: |\n  8. Moles of stone\nstatus: deprecated\n---\n\n## Decision\n\nThey are of stone.\n"
    hosts.write(f"{FOLDER}/0008-moles.md", head)
    done = hosts("adr", "--accept")
    assert done.code == 0
    assert "6 records made.\n" in done.out
    assert done.out.count("Undecided according to its file (“") == 2
    found = {title: held(hosts, f"decision.{title.lower()}") for title in statuses if title not in ("Buoys", "Locks")}
    assert {title: item["status"] for title, item in found.items()} == {
        "Tides": "active",
        "Berths": "stale",
        "Cranes": "superseded",
        "Ropes": "active",
        "Ships": "stale",
    }
    assert found["Cranes"]["superseded_by"] == "decision.ropes"
    assert found["Berths"]["body"].startswith("Status: Reverted by a discussion.\n\nBerths are gone.\n\nContext:")
    assert "Status" not in found["Tides"]["body"]
    moles = held(hosts, "decision.moles-of-stone")
    assert (moles["status"], moles["title"]) == ("stale", "Moles of stone")

    waiting = hosts.memory("inbox", "--json").data["results"]
    assert [(item["fields"]["title"], item["standing"], item["said"]) for item in waiting] == [
        ("Buoys", "open", "Proposed"),
        ("Locks", "open", "On hold"),
    ]
    everything = hosts.memory("inbox", "accept", "--all", "--json").data
    assert (everything["settled"], everything["undecided"]) == ([], [item["id"] for item in waiting])
    assert hosts.memory("inbox", "accept", waiting[0]["id"]).code == 0
    assert held(hosts, "decision.buoys")["status"] == "active"
    assert held(hosts, "decision.buoys")["body"].startswith("Status: Proposed\n\n")
    assert hosts.memory("check").code == 0


def test_accept_takes_what_is_pending_already(hosts: Hosts) -> None:
    hosts.write(f"{FOLDER}/0001-tides.md", record("1. Tides", "Accepted"))
    hosts.write("docs/decisions/0001-ropes.md", record("1. Ropes", "Accepted"))
    hosts.put("serena")
    assert hosts("adr").code == 0
    assert hosts("serena").code == 0
    said = "Pending in the inbox (`memory inbox`): 2 decisions, 1 fact, 1 gotcha; from "
    assert f"\n{said}docs/decisions, docs/server/adr, .serena/memories\n" in hosts.memory("status").out
    assert "2 records made. (2 known already)" in hosts("adr", "--accept").out
    assert held(hosts, "decision.tides")["status"] == "active"
    # What other sources proposed still waits.
    assert hosts.memory("status", "--json").data["inbox"]["pending"] == 2
    assert "0 records made. (2 known already)" in hosts("adr", "--accept").out


def test_an_edited_file_is_offered_as_a_change_of_its_record(hosts: Hosts, tmp_path: Path) -> None:
    path = f"{FOLDER}/0001-tides.md"
    hosts.write(path, record("1. Tides", "Accepted", "Tables lie in `src/harbor/tide.py`."))
    hosts.data("adr", "--accept")
    assert held(hosts, "decision.tides")["anchors"] == [path, "src/harbor/tide.py"]
    hosts.memory.save({"id": "decision.tides", "tags": ["water"]})
    hosts.git.commit()
    assert hosts.memory("check", "--json").code == 0

    # The file changes: its record is out of date, and an import offers what it says now.
    hosts.write(path, record("1. Tide tables", "Accepted", "Tables lie in the database."))
    hosts.git.commit()
    (behind,) = hosts.memory("sync", "--json").data["changed"]
    assert behind["id"] == "decision.tides"
    (offered,) = hosts.data("adr")["results"]
    assert offered["updates"] == "decision.tides"
    assert "changes decision.tides" in hosts.memory("inbox").out
    # Edited again before anybody accepted it: one proposal, the newest.
    hosts.write(path, record("1. Tide tables", "Accepted", "Tables lie in a database of their own."))
    assert [item["updates"] for item in hosts.data("adr")["results"]] == ["decision.tides"]
    assert hosts.memory("status", "--json").data["inbox"]["pending"] == 1
    done = hosts("adr", "--accept")
    assert "0 records made, 1 changed. (1 known already)" in done.out
    after = held(hosts, "decision.tides")
    assert (after["title"], after["status"]) == ("Tide tables", "active")
    assert after["body"].endswith("Decision: Tables lie in a database of their own.")
    assert set(after["tags"]) == {"adr", "water"}
    assert set(after["anchors"]) == {path, "src/harbor/tide.py"}
    hosts.git.commit()
    assert hosts.memory("sync", "--json").data["changed"] == []

    # A person improves the record; another clone proposes nothing, for the file is what that person saw.
    hosts.memory.save({"id": "decision.tides", "body": "Tables lie in a database, one for each harbor."})
    other = hosts.clone(tmp_path / "elsewhere")
    assert other("import", "adr", "--json").data["results"] == []

    # The decision is taken back, and holds again.
    hosts.write(path, record("1. Tide tables", "Withdrawn by the board", "Tables lie in a database of their own."))
    hosts.data("adr", "--accept")
    assert held(hosts, "decision.tides")["status"] == "stale"
    hosts.write(path, record("1. Tide tables", "Accepted", "Tables lie in files after all."))
    hosts.data("adr", "--accept")
    assert held(hosts, "decision.tides")["status"] == "active"
    assert len(list((hosts.root / ".memory/memory").rglob("*tide*.json"))) == 1
    assert hosts.memory("check").code == 0
