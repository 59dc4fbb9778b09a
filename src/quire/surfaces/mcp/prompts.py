"""MCP prompts: get oriented, save what changed, hand on the work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from quire.model.errors import InputError, NotFound, NotReady
from quire.model.text import cut, one_line

if TYPE_CHECKING:
    from quire.guard.boundary import Boundary
    from quire.project import Project

_ARGUMENT_CHARS = 2000


def list_prompts() -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "title": title,
            "description": says,
            "arguments": [
                {"name": argument, "description": about, "required": False} for argument, about in takes.items()
            ],
        }
        for name, (title, says, takes, _) in _PROMPTS.items()
    ]


def get_prompt(
    name: str, arguments: Mapping[str, str], project: Callable[[], Project], fence: Callable[[], Boundary]
) -> dict[str, Any]:
    """The messages of a prompt, with what the memory holds now."""
    from quire.guard.hostile_text import make_safe

    if name not in _PROMPTS:
        raise NotFound(f"There is no prompt `{name[:80]}`.", hint=f"There are {', '.join(_PROMPTS)}.")
    _, says, takes, make = _PROMPTS[name]
    for argument, value in arguments.items():
        if argument not in takes:
            raise InputError(f"`{name}` takes no argument `{argument[:40]}`.", hint=f"It takes {', '.join(takes)}.")
        if len(value) > _ARGUMENT_CHARS:
            raise InputError(f"`{argument}` is longer than {_ARGUMENT_CHARS} characters.", hint="Shorten it.")
    text = make(project, fence(), {argument: make_safe(value) for argument, value in arguments.items()})
    return {"description": says, "messages": [{"role": "user", "content": {"type": "text", "text": text}}]}


def _told(given: Mapping[str, str], name: str) -> str:
    """An argument, on one line and with nothing hidden in it."""
    from quire.guard.hostile_text import make_safe

    return make_safe(one_line(given.get(name, ""))).strip()


def _map_and(project: Callable[[], Project], fence: Boundary, asked: str = "") -> list[str]:
    """The product map and the answer to what is asked; or why there are none."""
    from quire.surfaces.mcp.answers import fenced_text
    from quire.verbs.ask.answers import answer_question
    from quire.verbs.ask.inspect import product_map_page

    try:
        here = project()
        told = [fence.notice(), fenced_text(product_map_page(here), fence, origin="graph")]
        if asked:
            told.append(answer_question(here, asked, fence=fence).markdown.rstrip())
    except NotReady as error:
        return [f"There is no memory to read yet: {error.message} {error.hint or ''}".rstrip()]
    return told


def _orient(project: Callable[[], Project], fence: Boundary, given: Mapping[str, str]) -> str:
    asked = _told(given, "topic")
    told = _map_and(project, fence, asked)
    about = f" I am about to work on: {cut(asked, 300)}." if asked else ""
    return "\n".join(
        (
            f"Get oriented in this project before anything else.{about}",
            "Read the map below, ask query_memory about the task, and get the records about the files with "
            "brief_memory. Then tell me in a few lines: where the product stands, which decisions and traps matter "
            "here, what is open, and which records are out of date. Cite refs.",
            "",
            *told,
        )
    )


def _save(project: Callable[[], Project], fence: Boundary, given: Mapping[str, str]) -> str:
    task = cut(_told(given, "task"), 300)
    return "\n".join(
        (
            f"Save what changed{f' in this task: {task}' if task else ' in this session'}.",
            "1. Look at the changes (git diff, and brief_memory for what the memory says of these files).",
            "2. Keep only what the next session cannot see in the code: new or changed features with their stage,"
            " decisions with their reasons, traps, questions that opened or closed. Update an existing record "
            "(query_memory first) instead of adding a second one; retire what is no longer true.",
            "3. Call save_memory with dry_run true, correct what it reports, then without. Anchor each record to the "
            "code it is about. No secrets.",
            "4. Call sync_memory and correct the records it names. Tell me what was saved, by ref.",
        )
    )


def _hand_over(project: Callable[[], Project], fence: Boundary, given: Mapping[str, str]) -> str:
    told = _map_and(project, fence)
    to = cut(_told(given, "to"), 100)
    return "\n".join(
        (
            f"Hand this work over{f' to {to}' if to else ''}: write what a newcomer needs to continue.",
            "Cover: what was asked and what is done, what is half done and where (files, branch), what was decided and"
            " why, what was tried and dropped, what to do next and how to check it. Save the lasting part with"
            " save_memory (a feature in stage building for work under way, questions for what is open) and single facts"
            " with memory_store, so that it does not depend on this conversation. Then show me the summary, with refs.",
            "",
            *told,
        )
    )


_PROMPTS: dict[
    str, tuple[str, str, dict[str, str], Callable[[Callable[[], Project], Boundary, Mapping[str, str]], str]]
] = {
    "orient": (
        "Get oriented",
        "Where the product stands and what matters for the task.",
        {"topic": "What you are about to work on."},
        _orient,
    ),
    "save_what_changed": (
        "Save what changed",
        "Record what this task changed in the product, and correct records that are out of date.",
        {"task": "What the task was."},
        _save,
    ),
    "hand_over": (
        "Hand over",
        "Write down what a newcomer needs to continue, and save the lasting part.",
        {"to": "Who continues."},
        _hand_over,
    ),
}
