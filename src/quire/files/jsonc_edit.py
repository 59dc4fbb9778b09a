"""Add or remove one member or item of a JSON file that we do not own; all other characters stay."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from quire.files.jsonc_layout import Style, newline_in, written
from quire.files.jsonc_members import with_part, with_value, without_part
from quire.files.jsonc_parser import BOM, JsoncNode, JsoncPart, fault, parse, same


def set_member(text: str, path: Sequence[str], value: Any) -> str:
    """The text with this value at a path of keys; objects that are missing on the way are made.

    A key that is there keeps its place, and an equal value changes nothing. A new one comes last in its object.
    """
    if not path:
        raise ValueError("A path has at least one key.")
    wanted = _plain(value)
    if _is_empty(text):
        return _fresh(text, _nested(path, wanted))
    root = parse(text)
    chain, missing = _descend(text, root, path)
    if missing:
        made = _nested(missing[1:], wanted)
        result = with_part(text, chain, missing[0], made, exact=len(missing) == 1)
    elif same(chain[-1].value, wanted):
        return text
    else:
        result = with_value(text, chain, wanted)
    return _checked(result, _with_data(root.value, path, wanted))


def remove_member(text: str, path: Sequence[str]) -> str:
    """The text without the member at a path; as it is where there is none. Undoes what `set_member` added."""
    if _is_empty(text):
        return text
    root = parse(text)
    found = _find(root, path)
    if found is None:
        return text
    holder, index = found
    return _checked(without_part(text, holder, index), _without_data(root.value, path))


def append_item(text: str, path: Sequence[str], value: Any) -> str:
    """The text with one item more at the end of the array at a path, which is made where it is missing."""
    item = _plain(value)
    if _is_empty(text):
        return set_member(text, path, [item])
    root = parse(text)
    chain, missing = _descend(text, root, path)
    if missing:
        return set_member(text, path, [item])
    if not isinstance(chain[-1].value, list):
        raise fault(text, chain[-1].begin, f"{_named(path)} is not an array")
    result = with_part(text, chain, None, item, exact=True)
    return _checked(result, _with_data(root.value, path, [*chain[-1].value, item]))


def remove_items(text: str, path: Sequence[str], matches: Callable[[Any], bool]) -> str:
    """The text without the items that match in the array at a path. Undoes what `append_item` added."""
    if _is_empty(text):
        return text
    root = parse(text)
    items = _list_at(root, path)
    if items is None:
        return text
    gone = {index for index, item in enumerate(items.value) if matches(item)}
    result = text
    for index in sorted(gone, reverse=True):
        holder = _list_at(parse(result), path)
        if holder is None:
            raise _spoiled()
        result = without_part(result, holder, index)
    if not gone:
        return text
    kept = [item for index, item in enumerate(items.value) if index not in gone]
    return _checked(result, _with_data(root.value, path, kept))


# -- finding ---------------------------------------------------------------------------------


def _descend(text: str, root: JsoncNode, path: Sequence[str]) -> tuple[list[JsoncNode], list[str]]:
    """The nodes from the top to the end of the path, as far as they are there, and the keys that are missing."""
    _nested(path, None)
    chain = [root]
    for depth, key in enumerate(path):
        if not isinstance(chain[-1].value, dict):
            raise fault(text, chain[-1].begin, f"{_named(path[:depth])} is not an object")
        part = _member(chain[-1], key)
        if part is None:
            return chain, list(path[depth:])
        chain.append(part.node)
    return chain, []


def _member(node: JsoncNode, key: str) -> JsoncPart | None:
    return next((part for part in node.parts if part.key == key), None)


def _find(root: JsoncNode, path: Sequence[str]) -> tuple[JsoncNode, int] | None:
    """The object that holds the end of the path, and which of its members it is."""
    holder, found = root, None
    for depth, key in enumerate(path):
        index = next((index for index, part in enumerate(holder.parts) if part.key == key), None)
        if index is None:
            return None
        found = (holder, index)
        if depth < len(path) - 1:
            holder = holder.parts[index].node
    return found


def _list_at(root: JsoncNode, path: Sequence[str]) -> JsoncNode | None:
    found = _find(root, path)
    node = found[0].parts[found[1]].node if found else root
    return node if isinstance(node.value, list) and (found or not path) else None


def _named(path: Sequence[str]) -> str:
    return f"`{'.'.join(path)}`" if path else "The top level"


def _fresh(text: str, data: Any) -> str:
    style = Style(newline=newline_in(text), unit="  ", colon=": ", indent=None, below="", gap=" ")
    bom = BOM if text.startswith(BOM) else ""
    return _checked(bom + written(data, style, "") + style.newline, data)


# -- data ------------------------------------------------------------------------------------


def _plain(value: Any) -> Any:
    """The value as reading it back would give it."""
    import json

    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"The value cannot be written as JSON: {error}.") from None


def _nested(path: Sequence[str], value: Any) -> Any:
    if isinstance(path, str) or not all(isinstance(key, str) for key in path):
        raise TypeError("a path is a sequence of keys")
    for key in reversed(path):
        value = {key: value}
    return value


def _with_data(data: Any, path: Sequence[str], value: Any) -> Any:
    if not path:
        return value
    inner = data.get(path[0], {}) if isinstance(data, Mapping) else {}
    return {**data, path[0]: _with_data(inner, path[1:], value)}


def _without_data(data: Any, path: Sequence[str]) -> Any:
    if len(path) == 1:
        return {key: value for key, value in data.items() if key != path[0]}
    return {**data, path[0]: _without_data(data[path[0]], path[1:])}


def _is_empty(text: str) -> bool:
    return not text.removeprefix(BOM).strip(" \t\r\n")


def _checked(result: str, expected: Any) -> str:
    """Return the result if it parses as intended; a mistake of ours must not reach a file we do not own."""
    try:
        found = parse(result).value
    except ValueError:
        raise _spoiled() from None
    if not same(found, expected):
        raise _spoiled()
    return result


def _spoiled() -> ValueError:
    return ValueError("The layout of the text cannot be edited safely.")
