"""How facts and episodes stand in the answers of tools: what a reader needs of each and who said it, marked as data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from quire.model.records import origin_shown
from quire.model.text import cut, one_line
from quire.surfaces.mcp.answers import fenced_items, fenced_text, with_flags

if TYPE_CHECKING:
    from quire.guard.framing import Boundary
    from quire.model.records import Problem

TEXT_CHARS = 2_000
"""More of one text is not sent: a fact is a sentence or two, and whoever wants the rest looks at it alone."""
_FACT = (
    "ref",
    "id",
    "section",
    "content",
    "status",
    "confidence",
    "score",
    "tier",
    "reviewed",
    "created_at",
    "tags",
    "reinforcements",
    "reason",
    "put_away_at",
    "replaced_by",
    "supersedes",
    "artifact",
)
_EPISODE = ("ref", "date", "title", "narrative", "tags", "facts", "session", "score")
_SIMILAR = ("ref", "id", "section", "content", "share", "opposite")
_USUAL = {"status": "active", "reinforcements": 1, "opposite": False, "reviewed": True}
_FOR_PROGRAMS = ("id", "score", "session")
_LINKED_MOST = 50
# Facts have no anchors, so that there is nothing to check them against, in whatever answer they stand.
_VERDICT = "unanchored"


def fact_item(view: Any, *, content: bool = True) -> dict[str, Any]:
    """A fact without what goes without saying; `content` is left out where the caller has just said it."""
    from quire.fields.facts import fact_fields

    item = _short(fact_fields(view), _FACT, "content")
    if not content:
        item.pop("content", None)
        item.pop("cut", None)
    origin = origin_shown(view.source or "facts", reviewed=view.reviewed is not False)
    item |= {"origin": origin, "verdict": view.verdict.verdict if view.verdict else _VERDICT}
    return with_flags(item, "content", "section", "reason", "tags")


def episode_item(view: Any) -> dict[str, Any]:
    """An episode with as many of its facts as anybody follows up."""
    item = _short(msgspec.to_builtins(view), _EPISODE, "narrative")
    if len(view.facts) > _LINKED_MOST:
        item |= {"facts": list(view.facts[:_LINKED_MOST]), "more_facts": len(view.facts) - _LINKED_MOST}
    item |= {"origin": "session", "verdict": view.verdict.verdict if view.verdict else _VERDICT}
    return with_flags(item, "title", "narrative", "tags")


def similar_item(item: Any) -> dict[str, Any]:
    """A fact that says nearly the same as another, or the opposite, and how nearly."""
    shown = _short({"ref": f"fact:{item.id}", **msgspec.to_builtins(item)}, _SIMILAR, "content")
    return with_flags({**shown, "origin": "facts", "verdict": _VERDICT}, "content", "section")


def _short(fields: Mapping[str, Any], names: Sequence[str], text: str) -> dict[str, Any]:
    """These fields, as far as they say something, the long text among them cut."""
    item = {name: fields[name] for name in names if fields[name] != _USUAL.get(name) and fields[name] not in (None, "")}
    item = {name: value for name, value in item.items() if not isinstance(value, tuple | list | dict) or value}
    if len(item.get(text, "")) > TEXT_CHARS:
        item |= {text: cut(item[text], TEXT_CHARS), "cut": "inspect_memory gives the whole"}
    return item


def shown_items(items: Iterable[Mapping[str, Any]], fence: Boundary) -> str:
    """The items between their marks, without what only programs want."""
    return fenced_items(
        ({name: value for name, value in item.items() if name not in _FOR_PROGRAMS} for item in items), fence
    )


def lines_of(items: Iterable[Mapping[str, Any]], fence: Boundary) -> str:
    """Many facts with few marks: a line for each, one fence for each section."""
    sections: dict[str, list[str]] = {}
    for item in items:
        head = f"- [{item['ref']}] ({item['confidence']:.0%}, {one_line(item['origin'])})"
        # A second line of a fact must not pass for the first of another.
        said = str(item.get("content", "")).replace("\n", "\n    ")
        sections.setdefault(one_line(item["section"]), []).append(f"{head} {said}".rstrip())
    parts = (fenced_text("\n".join([name, *lines]), fence, origin="facts") for name, lines in sections.items())
    return "\n".join(parts)


def recalled_fields(found: Any) -> dict[str, Any]:
    """What was found, and why it may not be what was looked for. The question is not said again."""
    from quire.fields.facts import memory_recall_fields

    fields = memory_recall_fields(found)
    said = {name: fields[name] for name in ("connected", "faded", "reason", "other_minds") if fields[name]}
    if "connected" in said:
        said["connected"] = [
            with_flags({name: value for name, value in link.items() if value}, "title", "description")
            for link in said["connected"]
        ]
    return {"results": [fact_item(view) for view in found.results], "weak": found.weak, **said}


def recalled_text(found: Any, fields: Mapping[str, Any], fence: Boundary) -> str:
    """The hits one by one, what is connected to them together; before and after them how to take them."""
    parts = [_before(found)]
    if found.results:
        parts += [fence.notice(), shown_items(fields["results"], fence)]
    if found.connected:
        links = [f"{link.source} {link.relation} {link.target} — {one_line(link.title)}" for link in found.connected]
        parts.append(fenced_text("Connected:\n" + "\n".join(links), fence, origin="facts"))
    if found.faded and found.reason != "all faded":
        parts.append(f"Left out because nobody confirmed them for long: {found.faded}.")
    if found.others:
        minds = ", ".join(f"{name} ({count})" for name, count in found.others.items())
        parts += ["Other minds hold facts; name one as `mind`:", fenced_text(minds, fence, origin="facts")]
    return "\n".join(part for part in parts if part)


def _before(found: Any) -> str:
    if found.results:
        if found.reason == "all faded":
            return (
                "What matches best was not confirmed for long, and has faded. memory_store with its text confirms it."
            )
        return "Nothing clearly answers this. Possible:" if found.weak else ""
    if found.reason != "nothing stored":
        return "Nothing matches."
    if found.unread:
        return "No line of the file could be read as a fact; check_memory says why."
    return "This mind has no facts." if found.mind else "No facts are stored yet; memory_store keeps the first."


_SAID = {
    "FactElsewhere": (
        "It is known in another section, and stays there.",
        "To move it, memory_supersede with other words and `section`.",
    ),
    "FactEqualsArchived": (
        "The same text was put away before; equal_archived says when and why.",
        "If the reason still holds, memory_archive the new one, too.",
    ),
}


def as_tools_say(warnings: Iterable[Problem]) -> list[Problem]:
    """Warnings that name tools, and repeat nothing recalled: they stand outside the marks."""
    found: dict[tuple[str, str], Problem] = {}
    for problem in warnings:
        message, hint = _SAID.get(problem.code, (None, problem.hint))
        said = msgspec.structs.replace(problem, message=message or problem.message, hint=hint)
        found.setdefault((said.code, said.message), said)
    return list(found.values())
