"""`memory status` fits on a screen, however much is recorded."""

from __future__ import annotations

import json

from installed import Memory


def test_more_than_ten_open_questions_are_counted(memory: Memory) -> None:
    memory.init()
    nodes = [{"kind": "question", "title": f"Who owns pier {number}", "body": "Nobody said."} for number in range(13)]
    saved = memory("save", "--stdin", stdin=json.dumps({"task": "ask", "nodes": nodes}).encode())
    assert saved.code == 0
    told = memory("status").out
    assert told.count("\n  question.who-owns-pier-") == 10
    assert "  and 3 more: `memory list --kind question`\n" in told
    assert memory("list", "--kind", "question").out.count("question.who-owns-pier-") == 13
    assert len(memory("status", "--json").data["open_questions"]) == 13
