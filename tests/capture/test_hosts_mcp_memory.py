"""The memory file of the MCP memory server: facts of entities and relations; what we exported ourselves is known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from quire.capture.hosts.registry import find_hosts, read_host
from quire.capture.hosts.types import HostRead, HostSource
from quire.model.records import Edge, Record
from quire.upkeep.export import Holdings
from quire.upkeep.export_formats import render_export

NOW = "2026-03-01T12:00:00+00:00"


def _entity(name: str, kind: str, *observations: str) -> dict[str, Any]:
    return {"type": "entity", "name": name, "entityType": kind, "observations": list(observations)}


def _relation(source: str, says: str, target: str) -> dict[str, Any]:
    return {"type": "relation", "from": source, "to": target, "relationType": says}


def _lines(*items: dict[str, Any]) -> str:
    return "".join(json.dumps(item) + "\n" for item in items)


def _find(root: Path, home: Path | None = None, env: dict[str, str] | None = None) -> list[HostSource]:
    return find_hosts(str(root), str(home or ""), env or {}, ["mcp-memory"])


def _read(root: Path, text: str | bytes, name: str = "memory.json") -> HostRead:
    (root / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    [source] = _find(root)
    return read_host(source, str(root), "", NOW)


def _said(read: HostRead) -> list[tuple[str, str, list[str]]]:
    assert all(made.into == "facts" and made.text == made.fields["content"] for made in read.proposals)
    return [(made.fields["section"], made.text, made.fields["tags"]) for made in read.proposals]


def test_observations_are_facts_and_short_ones_stand_together(tmp_path: Path) -> None:
    long = "The ledger keeps every booking for ten years, " + "and each of them is signed by the service " * 4
    read = _read(
        tmp_path,
        _lines(
            _entity("checkout", "service", "Written in Go", "Runs on port 8080.", long.strip()),
            _entity("uv only", "Convention", "Install with uv, never with pip"),
            _entity("flaky login test", "known_issue", "Fails on Mondays", "Fails on Mondays"),
            _entity("nothing", "service"),
        ),
    )
    assert _said(read) == [
        ("Architecture", "checkout: Written in Go. Runs on port 8080.", ["service"]),
        ("Architecture", f"checkout: {long.strip()}", ["service"]),
        ("Patterns & Conventions", "uv only: Install with uv, never with pip", ["convention"]),
        ("Known Issues", "flaky login test: Fails on Mondays", ["known-issue"]),
    ]
    assert (read.skipped, read.problems) == (1, ())
    first = read.proposals[0]
    assert (first.kind, first.origin, first.by, first.proposed_at) == ("fact", "file:memory.json", "file", NOW)
    assert [(said.where, said.quote) for said in first.evidence] == [
        ("memory.json:1", "checkout: Written in Go. Runs on port 8080.")
    ]
    assert read.proposals[2].evidence[0].where == "memory.json:2"


def test_many_short_observations_become_few_facts(tmp_path: Path) -> None:
    read = _read(tmp_path, _lines(_entity("api", "service", *(f"Endpoint number {n} answers" for n in range(60)))))
    assert len(read.proposals) == 4
    assert all(len(made.text) < 560 for made in read.proposals)
    assert sum(made.text.count("Endpoint number") for made in read.proposals) == 60


def test_relations_are_one_sentence_for_each_subject(tmp_path: Path) -> None:
    read = _read(
        tmp_path,
        _lines(
            _entity("checkout", "service", "Written in Go"),
            _relation("checkout", "depends_on", "ledger"),
            _relation("checkout", "depends_on", "billing"),
            _relation("checkout", "depends_on", "tax"),
            _relation("checkout", "is owned by", "payments"),
            _relation("ledger", "writes_to", "postgres"),
            _relation("ledger", "writes_to", "postgres"),
        ),
    )
    assert _said(read)[1:] == [
        ("Architecture", "checkout depends on ledger, billing and tax; is owned by payments.", ["service"]),
        ("Architecture", "ledger writes to postgres.", []),
    ]
    assert [made.evidence[0].where for made in read.proposals[1:]] == ["memory.json:2", "memory.json:6"]


def test_what_is_said_of_people_goes_to_the_profile(tmp_path: Path) -> None:
    read = _read(
        tmp_path,
        _lines(_entity("default_user", "person", "Prefers short answers"), _entity("Ann", "person", "Owns the ledger")),
    )
    assert [(made.into, made.fields) for made in read.proposals] == [
        (
            "profile",
            {
                "category": "user",
                "key": "prefers-short-answers",
                "value": "Prefers short answers",
                "tags": ["person"],
            },
        ),
        (
            "profile",
            {
                "category": "relationships",
                "key": "ann-owns-the-ledger",
                "value": "Ann: Owns the ledger",
                "tags": ["person"],
            },
        ),
    ]


def _exported() -> str:
    records = [
        Record(
            ref="feature.retry-queue",
            layer="graph",
            kind="feature",
            title="Retry queue",
            text="Failed jobs are retried.\n\nStatus: of a job is kept.",
            status="active",
            path="",
            stage="shipped",
            tags=("queue",),
            anchors=("src/queue.py",),
        ),
        Record(ref="fact:Ab3", layer="facts", kind="fact", title="", text="It is Go.", status="active", path=""),
        Record(
            ref="profile:user.editor", layer="profile", kind="entry", title="", text="vim", status="active", path=""
        ),
    ]
    edges = [
        Edge(
            ref="rel.a", source="fact:Ab3", predicate="enables", target="feature.retry-queue", status="active", path=""
        )
    ]
    holdings = Holdings(project={}, exported_at=NOW, records=tuple(records), edges=tuple(edges))
    return render_export(holdings, "mcp").text


def test_our_own_export_is_left_out(tmp_path: Path) -> None:
    read = _read(tmp_path, _exported())
    assert read.proposals == ()
    assert (read.skipped, read.problems) == (4, ())


def test_what_was_added_to_our_own_export_is_taken(tmp_path: Path) -> None:
    lines = [json.loads(line) for line in _exported().splitlines()]
    lines[0]["observations"] += ["A job is retried five times", "Then it is given up"]
    read = _read(
        tmp_path,
        _lines(*lines, _entity("mailer", "service"), _relation("feature.retry-queue", "is used by", "mailer")),
    )
    assert _said(read) == [
        ("Specs", "feature.retry-queue: A job is retried five times. Then it is given up.", ["feature"]),
        ("Architecture", "feature.retry-queue is used by mailer.", ["feature"]),
    ]


def test_a_name_that_only_looks_like_a_ref_is_not_ours(tmp_path: Path) -> None:
    read = _read(
        tmp_path,
        _lines(
            _entity("node.js", "runtime", "Status: current is 22"), _entity("feature.x", "feature", "It has no status")
        ),
    )
    assert [made.text for made in read.proposals] == ["node.js: Status: current is 22", "feature.x: It has no status"]


def test_one_document_with_two_lists_is_read(tmp_path: Path) -> None:
    document = {
        "entities": [{"name": "api", "entityType": "service", "observations": ["Written in Go"]}],
        "relations": [{"from": "api", "to": "db", "relationType": "uses"}],
    }
    read = _read(tmp_path, json.dumps(document, indent=2))
    assert [made.text for made in read.proposals] == ["api: Written in Go", "api uses db."]


def test_lines_that_are_none_are_told_and_stop_nothing(tmp_path: Path) -> None:
    bad = [
        "{",
        "[1]",
        '{"type": "note"}',
        '{"type": "relation", "from": "a"}',
        '{"type": "entity", "name": 3}',
        "[" * 9000,
    ]
    text = "\n".join([*bad, _lines(_entity("api", "service", "Written in Go")), "", "\r"])
    read = _read(tmp_path, text, "memory.jsonl")
    assert [made.text for made in read.proposals] == ["api: Written in Go"]
    assert [problem.line for problem in read.problems] == [1, 2, 3, 4, 5, 6]
    assert {problem.code for problem in read.problems} == {"HostUnread"}
    many = _read(tmp_path, "{\n" * 500, "memory.jsonl")
    assert [problem.line for problem in many.problems] == [1, 2, 3, 4, 5, None]
    assert many.problems[-1].message == "It was not read: 495 more lines are not JSON objects."
    untyped = _read(tmp_path, '{"type": "x"}\n' * 500, "memory.jsonl")
    assert len(untyped.problems) == 21


@pytest.mark.parametrize("text", ['{"version": 1, "items": []}', "[1, 2]", b'{"a": "\xff"}'])
def test_another_document_of_that_name_is_told(tmp_path: Path, text: str | bytes) -> None:
    read = _read(tmp_path, text)
    assert read.proposals == ()
    assert len(read.problems) == 1


def test_what_may_not_be_kept_is_left_out_alone(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    read = _read(
        tmp_path,
        _lines(
            _entity("api", "service", "Written in Go", f"Token {token}", "Fast", "Tidy \u202e text"),
            _relation("api", "uses", token),
            _relation("api", "uses", "db"),
            _entity("db", token, "Fast"),
        ),
    )
    assert [made.text for made in read.proposals] == ["api: Written in Go. Fast.", "api uses db."]
    assert [(problem.code, problem.line) for problem in read.problems] == [
        ("HostSecret", 1),
        ("HostTextUnsafe", 1),
        ("HostSecret", 4),
        ("HostSecret", 2),
    ]
    assert token not in "".join(problem.message for problem in read.problems)


def test_a_very_long_observation_is_split_at_its_paragraphs(tmp_path: Path) -> None:
    paragraphs = [f"Paragraph {n}. " + "word " * 200 for n in range(9)]
    read = _read(tmp_path, _lines(_entity("api", "service", "\n\n".join(paragraphs))))
    assert len(read.proposals) == 3
    assert all(len(made.text) <= 4_000 for made in read.proposals)
    assert [made.text[:20] for made in read.proposals] == [
        "api: Paragraph 0. wo",
        "Paragraph 3. word wo",
        "Paragraph 6. word wo",
    ]


def test_where_memory_files_are_found(tmp_path: Path) -> None:
    root, home = tmp_path / "home/project", tmp_path / "home"
    (root / ".mcp").mkdir(parents=True)
    (root / "data").mkdir()
    for path in (root / ".mcp/memory.jsonl", root / "data/graph.jsonl", home / "graph.json", tmp_path / "out.json"):
        path.write_text("")
    (home / "secret.txt").write_text("")

    def servers(*paths: str) -> str:
        return json.dumps({"mcpServers": {f"m{n}": {"env": {"MEMORY_FILE_PATH": p}} for n, p in enumerate(paths)}})

    (root / ".mcp.json").write_text(
        servers("./data/graph.jsonl", "~/graph.json", str(tmp_path / "out.json"), "~/secret.txt", "../../out.json")
    )
    assert [(source.shown, source.scope) for source in _find(root, home)] == [
        (".mcp/memory.jsonl", "project"),
        ("data/graph.jsonl", "project"),
        ("~/graph.json", "user"),
    ]
    (home / "graph.json").write_text(_lines(_entity("api", "service", "Written in Go")))
    [made] = read_host(_find(root, home)[2], str(root), str(home), NOW).proposals
    assert (made.text, made.origin) == ("api: Written in Go", "file:~/graph.json")
    (root / ".mcp.json").write_text(servers("${workspaceFolder}/data/graph.jsonl", "$OTHER/graph.json"))
    assert [source.shown for source in _find(root, home)] == [".mcp/memory.jsonl", "data/graph.jsonl"]
    for odd in ("{", "[]", '{"mcpServers": [1]}', '{"mcpServers": {"a": 1, "b": {"env": {"MEMORY_FILE_PATH": 2}}}}'):
        (root / ".mcp.json").write_text(odd)
        assert [source.shown for source in _find(root, home)] == [".mcp/memory.jsonl"]
    env = {"MEMORY_FILE_PATH": str(root / "data/graph.jsonl")}
    assert [source.shown for source in _find(root, home, env)] == [".mcp/memory.jsonl", "data/graph.jsonl"]
    assert [source.shown for source in _find(root, home, {"MEMORY_FILE_PATH": str(home / "graph.json")})] == [
        ".mcp/memory.jsonl"
    ]


def test_links_are_not_followed(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (tmp_path / "outside.json").write_text(_lines(_entity("api", "service", "Written in Go")))
    (root / "memory.json").symlink_to(tmp_path / "outside.json")
    assert _find(root) == []


def test_the_same_file_gives_the_same_proposals(tmp_path: Path) -> None:
    text = _lines(_entity("api", "service", "Written in Go"), _relation("api", "uses", "db"))
    first = _read(tmp_path, text)
    assert _read(tmp_path, "\ufeff" + text.replace("\n", "\r\n")).proposals == first.proposals
