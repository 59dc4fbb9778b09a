"""Turn results into plain values: all fields for programs, or only those that say something for agents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from quire.model.text import cut
from quire.model.untyped import with_texts
from quire.model.verdicts import Verdict
from quire.verbs.verb import Result, View

_TEXTS = ("title", "content", "narrative", "value")
"""What a record of any layer says, by the names of its fields."""
_BESIDE = ("warnings", "nothing", "data")
_TEXT_CHARS = 2_000
"""More of one text is not sent to an agent: whoever wants the rest inspects the record."""


def plain(value: Any) -> Any:
    """All fields of a result but its warnings, as JSON holds them."""
    return _plain(_said(value), _every_field)


def brief(value: Any) -> Any:
    """The fields that say something: no default, nothing empty, long texts and lists cut."""
    told = value.tool_fields() if isinstance(value, Result) else None
    said = _plain(_said(value) if told is None else told, _telling_fields)
    if not isinstance(value, Result):
        return said
    fields = {name: item for name, item in said.items() if name not in value.NOT_FOR_TOOLS}
    return short_lists(fields, value.LISTED_FOR_TOOLS) if value.LISTED_FOR_TOOLS else fields


def short_lists(fields: dict[str, Any], most: int) -> dict[str, Any]:
    """The fields with their long lists cut, and how much is left out."""
    short = {name: value[:most] if isinstance(value, list) else value for name, value in fields.items()}
    more = {name: len(value) - most for name, value in fields.items() if isinstance(value, list) and len(value) > most}
    return {**short, "more": more} if more else short


def _said(value: Any) -> Any:
    fields = value.fields() if isinstance(value, Result) else None
    return value if fields is None else fields


def _plain(value: Any, fields_of: Callable[[msgspec.Struct], dict[str, Any]]) -> Any:
    if isinstance(value, msgspec.Struct):
        return {name: _plain(item, fields_of) for name, item in fields_of(value).items()}
    if isinstance(value, dict):
        return {name: _plain(item, fields_of) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, fields_of) for item in value]
    return value


def _every_field(value: msgspec.Struct) -> dict[str, Any]:
    if value.__struct_config__.omit_defaults:
        fields: dict[str, Any] = msgspec.to_builtins(value)
        return fields
    beside = (*_BESIDE, *getattr(value, "NOT_IN_JSON", ())) if isinstance(value, Result | View) else ()
    fields = {name: getattr(value, name) for name in value.__struct_fields__ if name not in beside}
    return {name: item for name, item in _with_verdict(value, fields).items() if item is not msgspec.UNSET}


def _telling_fields(value: msgspec.Struct) -> dict[str, Any]:
    names, usual_values = value.__struct_fields__, value.__struct_defaults__
    defaults = dict(zip(names[len(names) - len(usual_values) :], usual_values, strict=True))
    beside = (*_BESIDE, *getattr(value, "NOT_FOR_TOOLS", ()), *getattr(value, "NOT_IN_JSON", ()))
    fields = {}
    for name in value.__struct_fields__:
        item = getattr(value, name)
        usual = defaults.get(name, msgspec.UNSET)
        is_empty = item is None or item == "" or (isinstance(item, dict | list | tuple) and not item)
        is_usual = (item == usual and (isinstance(value, View) or not isinstance(item, bool))) or (
            (name, item) == ("reviewed", True)
        )
        is_beside = name in beside
        if not (is_beside or is_empty or is_usual or item is msgspec.UNSET):
            fields[name] = item
    texts = _TEXTS if isinstance(value, View) else getattr(value, "RECALLED", ())
    for name in () if isinstance(value, Result) else texts:
        if isinstance(fields.get(name), str) and len(fields[name]) > _TEXT_CHARS:
            fields |= {name: cut(fields[name], _TEXT_CHARS), "cut": "inspect_memory gives the whole"}
    if not isinstance(value, View):
        return fields | _flags("\n".join(str(fields.get(name, "")) for name in texts)) if texts else fields
    verdict = fields.pop("verdict", None)
    # What has no anchors has nothing that it could be checked against, in whatever answer it stands.
    fields |= {"origin": value.origin_for_tools(), "verdict": verdict.verdict if verdict else "unanchored"}
    return fields | flag_fields(fields.pop("flags", ()))


def _with_verdict(value: msgspec.Struct, fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of a record with its verdict, and what doing as the record says could do."""
    if not isinstance(value, View):
        return fields
    verdict: Verdict | None = fields.pop("verdict", None)
    from quire.guard.effects import effects_of

    fields |= verdict_fields(verdict)
    texts = (text for name in _TEXTS if isinstance(text := fields.get(name), str) and text)
    known = fields.pop("flags", None)
    return fields | flag_fields(effects_of("\n".join(texts)) if known is None else known)


def effect_fields(*texts: str) -> dict[str, Any]:
    """What doing as these texts say could do; nothing where that is nothing."""
    from quire.guard.effects import effects_of

    return flag_fields(effects_of("\n".join(text for text in texts if text)))


def _flags(text: str) -> dict[str, Any]:
    from quire.guard.effects import flags_of

    return flag_fields(flags_of(text))


def flag_fields(flags: Sequence[str]) -> dict[str, Any]:
    """Flags by their codes, and of those that are effects the plain words."""
    from quire.guard.effects import words_of

    words = words_of(flags)
    return {"flags": list(flags), **({"flag_words": words} if words else {})} if flags else {}


def verdict_fields(verdict: Verdict | None) -> dict[str, Any]:
    """The verdict as a word, beside it how it is known."""
    if verdict is None:
        return {"verdict": None}
    checked = msgspec.to_builtins(verdict)
    return {"verdict": checked.pop("verdict"), "checked": checked}


def _written_out(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def json_line(value: Any) -> str:
    """One line of JSON, whatever the texts in it hold."""
    try:
        text = msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        # A command line or a file's name may hold bytes that are no text; they are shown, not sent on.
        text = msgspec.json.encode(with_texts(value, _written_out, names=True)).decode()
    if text.isascii() and "\x7f" not in text:
        return text
    from quire.guard.hostile_text import escape_controls

    return escape_controls(text)
