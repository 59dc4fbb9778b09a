"""Say the problems of a save in the words of the command that made it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from quire.layers.graph.intent import CORRECT_FIELDS
from quire.model.errors import InputError

_FIELD = re.compile(r"`?\b(?:nodes|confirm)\.\d+(?:\.(\w+))?(?:\.\d+)*`?(?:: | (?=repeats))")


def in_words(error: InputError, names: Mapping[str, str]) -> InputError:
    """The same error with these names for the fields of an intent; a field without a name is left out.

    What a field that has no name is about, the message says itself.
    """
    issues = [
        {**issue, "message": _said(f"{issue['field']}: {issue['message']}", names)}
        for issue in error.details.get("issues", [])
    ]
    unique = list({issue["message"]: issue for issue in issues}.values())
    for issue in unique:
        issue["field"] = None
    if not issues:
        return type(error)(_said(error.message, names), hint=error.hint, details=error.details)
    message = f"{unique[0]['message']}." if len(unique) == 1 else f"{len(unique)} problems."
    hints = [issue.get("hint") for issue in unique]
    hint = "Nothing was written." if error.hint in (CORRECT_FIELDS, *hints) else error.hint
    hint = hints[0] or hint if len(unique) == 1 else hint
    return type(error)(message, hint=hint, details={**error.details, "issues": unique})


def _said(text: str, names: Mapping[str, str]) -> str:
    """A message whose field is named in words, and begins it."""

    def named(found: re.Match[str]) -> str:
        name = names.get(found[1] or "", "")
        return f"{name} " if name else ""

    said = _FIELD.sub(named, text)
    return said[:1].upper() + said[1:] if said[:1].isalpha() else said
