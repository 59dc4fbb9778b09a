"""`memory docs`"""

from __future__ import annotations

import os

import quire
from quire.model.errors import NotFound
from quire.surfaces.cli.commands import Argument, Command, Session
from quire.surfaces.cli.output import answer, say

_ROOMS = ("guides", "concepts", "reference")
_EXAMPLES = """Examples:
  memory docs                   list the topics
  memory docs getting-started
"""


def run(session: Session, topic: str | None) -> None:
    """Read the documentation in the terminal, offline."""
    found = topics()
    if topic is None:
        titles = {name: _title(path) for name, path in found.items()}
        if session.as_json:
            from quire.fields.projects import topics_fields

            answer(None, topics_fields(titles))
            return
        for name, title in titles.items():
            say(f"{name:<20} {title}")
        return
    path = found.get(topic.strip().lower().removesuffix(".md"))
    if path is None:
        from difflib import get_close_matches

        close = get_close_matches(topic.lower(), found, n=1, cutoff=0.4)
        raise NotFound(
            f"There is no page on `{topic}`.",
            hint=f"Did you mean `{close[0]}`?" if close else f"Topics: {', '.join(found)}.",
            details={"field": "topic", "allowed": list(found)},
        )
    text = _read(path)
    if session.as_json:
        from quire.fields.projects import topic_fields

        answer(None, topic_fields(topic, text))
        return
    say(text.rstrip("\n"))


def topics() -> dict[str, str]:
    """Every page that ships with the program, by its name."""
    package = os.path.dirname(os.path.abspath(quire.__file__))
    bundled = os.path.join(package, "_docs")
    # In a source checkout the pages lie beside the package's source, not inside it.
    base = bundled if os.path.isdir(bundled) else os.path.join(os.path.dirname(os.path.dirname(package)), "docs")
    found = {}
    for room in _ROOMS:
        folder = os.path.join(base, room)
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            if name.endswith(".md"):
                found[name.removesuffix(".md")] = os.path.join(folder, name)
    return found


def _title(path: str) -> str:
    return next((line[2:].strip() for line in _read(path).split("\n") if line.startswith("# ")), "")


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


COMMAND = Command(
    run=run,
    examples=_EXAMPLES,
    arguments=(Argument(name="topic", required=False),),
)
