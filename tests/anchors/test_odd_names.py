"""Anchors that no file can be called by: they lead nowhere, and are in nobody's way."""

import json
from pathlib import Path
from typing import Any

import pytest

ODD = ["src/\0x.py", "src/queue.py#a\0b", "src/\0*.py"]


@pytest.mark.parametrize("anchor", ODD)
def test_an_anchor_that_names_no_file_takes_no_answer_away(anchor: str, memory: Any, repo: Path) -> None:
    memory("init")
    (repo / "src").mkdir()
    (repo / "src/queue.py").write_text("def send():\n    return 1\n")
    for title, path in (("Retry queue", "src/queue.py"), ("Odd one", "src/queue.py")):
        memory.save({"kind": "feature", "title": title, "body": "Sends again.", "stage": "shipped", "anchors": [path]})
    sidecar = repo / ".memory/memory/odd-one.json"
    sidecar.write_text(json.dumps({**json.loads(sidecar.read_bytes()), "anchors": [anchor]}))
    for line in (("status",), ("sync", "--dry-run"), ("query", "sends again"), ("brief", "src/queue.py"), ("check",)):
        run = memory(*line)
        assert run.code == 0, (line, run.err)
    held = {row["id"]: row["verdict"] for row in memory("status", "--json").data["features"]}
    assert held["feature.retry-queue"] == "fresh"
