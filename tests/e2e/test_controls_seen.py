"""Controls that a terminal acts on, in files that somebody edited: nothing that is printed holds them, piped or not."""

from __future__ import annotations

import json
import re
from pathlib import Path

from installed import Memory
from promised import proves

CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
HOSTILE = "Retries\x9b31m pile up\x85 in red\x7f."


@proves("P8.2", "D2", over="graph facts")
def test_no_output_holds_a_control_and_json_says_the_same(memory: Memory, repo: Path) -> None:
    memory.init("--no-guidance")
    node = memory.save({"kind": "gotcha", "title": "Retries pile up", "body": "Retries pile up in red."})
    memory("facts", "store", "Decisions", "Retries run in the worker, because requests must not wait.")
    memory("profile", "remember", "tools", "editor", "Helix is used for retries.", "--source", "user-stated")
    files = [path for path in (repo / ".memory").rglob("*") if path.suffix in (".md", ".jsonl", ".json")]
    changed = 0
    for path in files:
        text = path.read_text(encoding="utf-8")
        marked = text.replace("pile up in red.", HOSTILE[7:]).replace("in the worker", "in\x9b the worker")
        marked = marked.replace("Helix is", "Helix\x9b is")
        changed += marked != text
        path.write_text(marked, encoding="utf-8")
    assert changed >= 2
    ref = node["nodes"][0]["id"] if "nodes" in node else "gotcha.retries-pile-up"
    held = 0
    for line in (
        ["query", "retries pile up"],
        ["inspect", ref],
        ["facts", "recall", "where do retries run?"],
        ["export"],
        ["export", "--format", "json"],
        ["export", "--format", "mcp"],
        ["profile", "export", "--format", "json"],
        ["profile", "export"],
        ["journal", "query", "retries", "--output", "json"],
    ):
        for mode in ([], ["--json"]):
            run = memory(*line, *mode)
            assert not CONTROLS.search(run.out + run.err), (line, mode)
            if mode and run.code == 0:
                held += "\x9b" in json.dumps(json.loads(run.out), ensure_ascii=False)
    assert held >= 4
    told = json.loads(memory("export", "--format", "json").out)
    assert "\x9b" in json.dumps(told, ensure_ascii=False)
