"""The tasks for a provider, each with its instructions, its data and what is trimmed first.

Each is one call. What is left out of a prompt that is too long, in this order:

- bundle: files of the context from the last, the bundle before this one, the scan; never the local bundle.
- recall: files of the context from the last, the base checkpoint, then evidence, the oldest groups first.
- query: the shortlist from its end, which is its weakest.
- session: the beginning of the session's text; its end, which is the newest, stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from quire.capture.providers.fit_prompt import PromptBlock, Trim
from quire.layers.journal.shapes import bundle_faults, output_schemas, query_faults, session_faults
from quire.model import limits

# `.` is the project itself and `src/` a folder: both lead nowhere else.
_LEADS_OUT = re.compile(r"^[/\\~]|^[A-Za-z]:|(?:^|[/\\])\.\.(?:[/\\]|$)|[\x00-\x1f]")


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """A request made ready: what is said, what is shown, what must come back."""

    name: str
    words: tuple[str, ...]
    blocks: tuple[PromptBlock, ...]
    trims: tuple[Trim, ...]
    schema: dict[str, Any]
    problems: Callable[[Any], list[str]]
    answer_tokens: int
    """More than this is not answered, where a provider can be given a limit."""


_BUNDLE_WORDS = (
    "You write the lasting memory of a software project: what the next person needs to know.",
    "LOCAL_BUNDLE_JSON was made from the repository by fixed rules. Improve it from the context: say what things are "
    "for, and leave out what says nothing. What the context does not show is not written.",
    "VALIDATION_RESULTS_JSON says which validation commands ran and how they ended; the validation snapshot repeats "
    "that and claims no other result.",
    "Paths are relative to the repository. At most two validation commands, each one that the context names.",
)
_RECALL_WORDS = (
    "You keep the lasting memory of a software project up to date: what is new is worked into what is known.",
    "Join gotchas that say the same, drop steps that are done, shorten the current focus, and leave the project map "
    "as it is unless the evidence clearly contradicts it. Change no wording without a reason.",
    "Each item of UNRECALLED_EVIDENCE_JSON stands for several events that speak of the same thing, the latest first.",
    "Paths are relative to the repository.",
)
_QUERY_WORDS = (
    "You answer a question about a software project from what its memory holds.",
    "Use nothing but QUERY_SHORTLIST_JSON; where it does not answer the question, say so.",
    "Return the mode of QUERY_MODE. Cite only items of the shortlist that support the answer, with their sourceType, "
    "sourceId and pathOrSection as they stand there, and projectionPath null.",
)
_SESSION_WORDS = (
    "You put a session of a coding agent into the history of a software project, in short.",
    "Keep what will matter in later sessions: decisions, gotchas, next steps, paths, what validation showed. Leave "
    "out how the session went.",
    "Next steps begin with `NEXT: `, or with `DONE: ` where the session finished them.",
)


def bundle_task(*, context: Any, local_bundle: Any, validation_results: Any = ()) -> Task:
    """A bundle for the whole project: the context, what the validation commands said, the bundle made without a model.

    `context` has the keys mode, selectedEntryFile, entryFileCandidates, staticScan, contextFiles and previousBundle.
    """
    return Task(
        name="bundle",
        words=_BUNDLE_WORDS,
        blocks=_blocks(
            CONTEXT_JSON=context, VALIDATION_RESULTS_JSON=validation_results, LOCAL_BUNDLE_JSON=local_bundle
        ),
        trims=(
            Trim("CONTEXT_JSON", "contextFiles", "items"),
            Trim("CONTEXT_JSON", "previousBundle", "whole"),
            Trim("CONTEXT_JSON", "staticScan", "whole"),
        ),
        schema=output_schemas()["bundle"],
        problems=bundle_problems,
        answer_tokens=12_000,
    )


def recall_task(*, context: Any, state: Any, evidence: Any, scope: str, base_checkpoint: Any = None) -> Task:
    """A bundle that takes new evidence in. `evidence` is the groups, the latest first."""
    return Task(
        name="recall",
        words=_RECALL_WORDS,
        blocks=_blocks(
            CONTEXT_JSON=context,
            CURRENT_STATE_JSON=state,
            BASE_CHECKPOINT_JSON=base_checkpoint,
            UNRECALLED_EVIDENCE_JSON=evidence,
            RECALL_SCOPE=scope,
        ),
        trims=(
            Trim("CONTEXT_JSON", "contextFiles", "items"),
            Trim("BASE_CHECKPOINT_JSON", "", "whole"),
            Trim("CONTEXT_JSON", "previousBundle", "whole"),
            Trim("UNRECALLED_EVIDENCE_JSON", "", "items"),
        ),
        schema=output_schemas()["bundle"],
        problems=bundle_problems,
        answer_tokens=12_000,
    )


def query_task(*, question: str, mode: str, shortlist: Any, scope: str = "all", instructions: str = "") -> Task:
    """An answer from a shortlist, the best first; its items have sourceType and sourceId."""
    items = msgspec.to_builtins(shortlist)
    return Task(
        name="query",
        words=_QUERY_WORDS,
        blocks=_blocks(
            QUERY_SCOPE=scope,
            QUERY_MODE=mode,
            QUERY_TEMPLATE_INSTRUCTIONS=instructions[: limits.QUESTION_CHARS],
            QUERY_QUESTION=question[: limits.QUESTION_CHARS],
            QUERY_SHORTLIST_JSON=items,
        ),
        trims=(Trim("QUERY_SHORTLIST_JSON", "", "items"),),
        schema=output_schemas()["query"],
        problems=lambda value: query_problems(value, mode, items),
        answer_tokens=3_000,
    )


def session_task(*, source: Any, item: Any) -> Task:
    """A session in short. `item` has the keys externalItemId, createdAt, sourceRef, payload and contentHash."""
    return Task(
        name="session",
        words=_SESSION_WORDS,
        blocks=_blocks(IMPORT_SOURCE_JSON=source, IMPORT_ITEM_JSON=item),
        trims=(Trim("IMPORT_ITEM_JSON", "payload", "start"),),
        schema=output_schemas()["importedSession"],
        problems=session_faults,
        answer_tokens=3_000,
    )


def _blocks(**values: Any) -> tuple[PromptBlock, ...]:
    """JSON values by their names, whatever structs they came in."""
    return tuple(PromptBlock(name, msgspec.to_builtins(value)) for name, value in values.items())


def bundle_problems(value: Any) -> list[str]:
    faults = bundle_faults(value)
    if faults:
        return faults
    return [
        f"{where} must be a path inside the repository." for where, path in _paths(value) if _LEADS_OUT.search(path)
    ]


def _paths(bundle: dict[str, Any]) -> Iterator[tuple[str, str]]:
    project, maps = bundle["project"], bundle["projectMap"]
    yield "bundle.project.recommendedEntryFile", project["recommendedEntryFile"]
    for number, path in enumerate(project["keyPaths"]):
        yield f"bundle.project.keyPaths[{number}]", path
    for name in ("modules", "entrypoints", "denseSourceAreas"):
        for number, item in enumerate(maps[name]):
            yield f"bundle.projectMap.{name}[{number}].path", item["path"]
    for number, path in enumerate(maps["firstFilesToRead"]):
        yield f"bundle.projectMap.firstFilesToRead[{number}]", path


def query_problems(value: Any, mode: str, shortlist: Any) -> list[str]:
    """`shortlist` is the whole one: what did not fit into the prompt may be cited, since it exists."""
    faults = query_faults(value)
    if faults:
        return faults
    if value["mode"] != mode:
        faults.append(f"query.mode must equal {mode}.")
    items = shortlist if isinstance(shortlist, list) else []
    shown = {(item.get("sourceType"), item.get("sourceId")) for item in items if isinstance(item, dict)}
    for number, citation in enumerate(value["citations"]):
        if (citation["sourceType"], citation["sourceId"]) not in shown:
            faults.append(f"query.citations[{number}] names nothing of the shortlist.")
    return faults
