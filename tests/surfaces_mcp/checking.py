"""What every answer of a tool must be, whatever the tool: as its schemas say, for programs and for readers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import jsonschema

from quire.surfaces.mcp.schemas import tool_fields
from quire.surfaces.mcp.tool import ServedTool


def check_result(tool: ServedTool, arguments: Mapping[str, Any], result: Mapping[str, Any]) -> dict[str, Any]:
    """The structured answer, after checking it, the text beside it, and the arguments of a call that worked."""
    shown = json.loads(json.dumps(tool_fields(tool)))
    for side in ("inputSchema", "outputSchema"):
        jsonschema.Draft202012Validator.check_schema(shown[side])
    assert set(result) == {"content", "structuredContent", "isError"}
    assert [part["type"] for part in result["content"]] == ["text"]
    assert result["content"][0]["text"].strip()
    structured: dict[str, Any] = json.loads(json.dumps(result["structuredContent"]))
    _valid(structured, shown["outputSchema"])
    if structured["ok"]:
        _valid(dict(arguments), shown["inputSchema"])
        assert {"data", "warnings", "meta"} <= set(structured)
    else:
        assert result["isError"] is True
        assert set(structured["error"]) == {"code", "message", "hint", "details"}
    return structured


def _valid(value: Any, schema: Mapping[str, Any]) -> None:
    jsonschema.Draft202012Validator(schema).validate(value)
