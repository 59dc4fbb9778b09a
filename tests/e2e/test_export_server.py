"""An export in the format of the reference memory server is read by that server as it was meant."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from mcp_lines import call, hello
from mcp_node import need_node, node_line, package

from installed import Memory

HOSTILE = '# Heading\n\n```\nnever closed\n\n{"type":"relation"} Größe 例 \u2028 end'


def _asked(memory: Memory, file: Path, *calls: dict[str, Any]) -> list[Any]:
    """What the server answers to these calls, one after the other."""
    script = package("@modelcontextprotocol/server-memory", "dist/index.js")
    process = subprocess.Popen(
        node_line(script),
        cwd=file.parent,
        env={**memory.env, "MEMORY_FILE_PATH": str(file)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin
    assert process.stdout
    answers = []
    try:
        for message in (*hello(), *calls):
            process.stdin.write(json.dumps(message).encode() + b"\n")
            process.stdin.flush()
            if "id" in message:
                answers.append(json.loads(process.stdout.readline()))
    finally:
        process.kill()
        process.communicate()
    return [answer["result"]["structuredContent"] for answer in answers[1:]]


@pytest.mark.proof
def test_the_reference_server_reads_what_was_exported(memory: Memory, tmp_path: Path) -> None:
    need_node()
    memory.init("--no-guidance")
    memory.save(
        {"kind": "feature", "title": "Queue", "body": "A queue.\n\nOf jobs.", "stage": "building"},
        {
            "kind": "decision",
            "title": "One queue",
            "body": HOSTILE,
            "related": [{"predicate": "affects", "to": "feature.queue"}],
        },
    )
    assert memory("facts", "store", "Specs", "Invoices are numbered without gaps.").code == 0
    file = tmp_path / "memory.jsonl"
    assert memory("export", "--format", "mcp", "--output", str(file)).code == 0
    written = [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line]

    graph, found, opened = _asked(
        memory,
        file,
        call(1, "read_graph"),
        call(2, "search_nodes", query="without gaps"),
        call(3, "open_nodes", names=["feature.queue", "decision.one-queue"]),
    )
    entities = [{name: item[name] for name in item if name != "type"} for item in written if item["type"] == "entity"]
    relation = {"from": "decision.one-queue", "to": "feature.queue", "relationType": "affects"}
    assert graph == {"entities": entities, "relations": [relation]}
    assert len(entities) == 4
    assert [item["entityType"] for item in found["entities"]] == ["fact"]
    by_name = {item["name"]: item["observations"] for item in opened["entities"]}
    assert by_name["feature.queue"] == ["Queue", "A queue.", "Of jobs.", "Status: active", "Stage: building"]
    assert by_name["decision.one-queue"][-2] == HOSTILE.rpartition("\n\n")[2]
    assert opened["relations"] == [relation]


def test_the_reference_server_can_go_on_with_it(memory: Memory, tmp_path: Path) -> None:
    need_node()
    memory.init("--no-guidance")
    file = tmp_path / "memory.jsonl"
    assert memory("export", "--format", "mcp", "--output", str(file)).code == 0
    more = {"entityName": "project.harbor", "contents": ["It has twelve berths."]}
    _, graph = _asked(memory, file, call(1, "add_observations", observations=[more]), call(2, "read_graph"))
    (project,) = graph["entities"]
    assert (project["name"], project["observations"][-1]) == ("project.harbor", "It has twelve berths.")


def test_an_empty_export_is_an_empty_graph(memory: Memory, tmp_path: Path) -> None:
    need_node()
    memory.init("--no-guidance")
    file = tmp_path / "memory.jsonl"
    assert memory("export", "--format", "mcp", "--layer", "facts", "--output", str(file)).code == 0
    assert file.read_bytes() == b""
    assert _asked(memory, file, call(1, "read_graph")) == [{"entities": [], "relations": []}]
