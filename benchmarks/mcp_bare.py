"""The least that a memory server can be: a loop over lines that answers from one full-text table. A baseline.

`python mcp_bare.py TABLE.sqlite`; nothing is checked, and nothing but the standard library is loaded.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from typing import Any

_TOOL = {"name": "search", "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}}}}
_FOUND = "SELECT title, body FROM raw WHERE raw MATCH ? ORDER BY rank LIMIT 10"


def main() -> None:
    table = sqlite3.connect(sys.argv[1])
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            result = _answer(table, message["method"], message.get("params", {}))
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}) + "\n")
            sys.stdout.flush()


def _answer(table: sqlite3.Connection, method: str, params: dict[str, Any]) -> dict[str, Any]:
    if method == "initialize":
        info = {"name": "bare", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return {"tools": [_TOOL]}
    if method == "tools/call":
        match = " OR ".join(f'"{word}"' for word in params["arguments"]["query"].split())
        rows = [{"title": title, "body": body} for title, body in table.execute(_FOUND, (match,))]
        return {"content": [{"type": "text", "text": json.dumps(rows)}], "structuredContent": {"entities": rows}}
    return {}


if __name__ == "__main__":
    main()
