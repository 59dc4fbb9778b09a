"""Make JSON Schemas of tools from their types, kept small because every session pays for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import inspect

from quire.verbs.verb import defaults_of, hints_of

if TYPE_CHECKING:
    from quire.surfaces.mcp.tool import ServedTool

_LIMITS = (
    ("min_length", "minLength", "minItems"),
    ("max_length", "maxLength", "maxItems"),
    ("pattern", "pattern", ""),
    ("ge", "minimum", ""),
    ("le", "maximum", ""),
)


def tool_fields(tool: ServedTool) -> dict[str, Any]:
    """The tool as `tools/list` shows it. Hints that say what the protocol assumes anyway are left out."""
    hints: dict[str, Any] = {"title": tool.title, "openWorldHint": False}
    if not tool.writes:
        hints["readOnlyHint"] = True
    else:
        hints["destructiveHint"] = tool.destructive
        hints["idempotentHint"] = tool.repeatable
    return {
        "name": tool.name,
        "description": tool.says,
        "inputSchema": input_schema(tool),
        "outputSchema": output_schema(tool),
        "annotations": hints,
    }


def input_schema(tool: ServedTool) -> dict[str, Any]:
    takes, hints, optional = tool.takes, hints_of(tool.takes), defaults_of(tool.takes)
    sent = dict(zip(takes.__struct_encode_fields__, takes.__struct_fields__, strict=True))
    names = [name for name in sent if name not in tool.left_out]
    told = [name for name in names if name not in tool.schema]
    kinds = inspect.multi_type_info([hints[sent[name]] for name in told])
    properties = {**dict.fromkeys(names), **dict(zip(told, map(_of, kinds), strict=True)), **tool.schema}
    # Every tool has this one, and a limit that no path reaches need not be said every time.
    properties["project_root"].pop("maxLength", None)
    required = [*(name for name in sent if sent[name] not in optional), *tool.needs]
    shown = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**shown, "required": required} if required else shown


def output_schema(tool: ServedTool) -> dict[str, Any]:
    """The envelope, and the types of what its data holds. A result that is an error has `error` in place of `data`."""
    data: dict[str, Any] = {"type": "object"}
    if tool.gives:
        data["properties"] = {name: {"type": kind} for name, kind in tool.gives.items()}
    return {"type": "object", "properties": {"ok": {"type": "boolean"}, "data": data}, "required": ["ok"]}


def _of(kind: inspect.Type) -> dict[str, Any]:
    """The schema of one type, with its limits and its words."""
    extra: Mapping[str, Any] = {}
    if isinstance(kind, inspect.Metadata):
        extra = kind.extra_json_schema or {}
        kind = kind.type
    if isinstance(kind, inspect.UnionType):
        # An absent value may also be sent as null; the schema shows the one way to give it.
        kinds = [item for item in kind.types if not isinstance(item, inspect.NoneType)]
        found = _of(kinds[0]) if len(kinds) == 1 else {"anyOf": [_of(item) for item in kinds]}
        return {**found, **extra}
    return {**_plain(kind), **extra}


def _plain(kind: inspect.Type) -> dict[str, Any]:
    match kind:
        case inspect.StrType():
            return {"type": "string", **_limits(kind, 1)}
        case inspect.BoolType():
            return {"type": "boolean"}
        case inspect.IntType():
            return {"type": "integer", **_limits(kind, 1)}
        case inspect.FloatType():
            return {"type": "number", **_limits(kind, 1)}
        case inspect.LiteralType():
            return {"type": "string", "enum": list(kind.values)}
        case inspect.ListType():
            items = _of(kind.item_type)
            return {"type": "array", **({"items": items} if items else {}), **_limits(kind, 2)}
        case inspect.DictType():
            return {"type": "object"}
        case inspect.StructType():
            shown: dict[str, Any] = {
                "type": "object",
                "properties": {field.encode_name: _of(field.type) for field in kind.fields},
                "additionalProperties": False,
            }
            required = [field.encode_name for field in kind.fields if field.required]
            return {**shown, "required": required} if required else shown
        case _:
            return {}


def _limits(kind: inspect.Type, column: int) -> dict[str, Any]:
    found = ((row[column], getattr(kind, row[0], None)) for row in _LIMITS)
    return {name: value for name, value in found if name and value is not None}
