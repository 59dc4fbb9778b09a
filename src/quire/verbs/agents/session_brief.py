"""Assemble what a session starts with: pins, unfinished work, doubtful records, rules, the product map."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from quire.files.branches import writes_map
from quire.inbox.store import count_pending
from quire.index.catalog import Index
from quire.layers.facts.notes import read_notes
from quire.layers.facts.working_memory import PinnedFact, read_working
from quire.layers.graph.layout import NO_DESCRIPTION
from quire.model import limits
from quire.model.errors import NotInitialized, QuireError
from quire.model.records import Record, note_record
from quire.model.text import counted, cut, one_line
from quire.model.tokens import count_tokens
from quire.model.verdicts import Verdict
from quire.model.vocabulary import LIVE_STATUSES
from quire.project import Project
from quire.retrieval.injection import Injection, LineGroup, fit_groups
from quire.upkeep.guidance import held_map
from quire.upkeep.merge.git_setup import lacks_driver
from quire.upkeep.order_flags import flagged_records
from quire.upkeep.verdicts import Verdicts
from quire.verbs.agents.injection import Judged, injected_lines, new_fence, trust_of

HEAD = (
    "Project memory of {name}, kept by Quire: what earlier sessions and people recorded about this project, quoted as "
    "information. The code and the user have the last word."
)
LOOK_UP = 'More: `memory query "…"`, `memory brief <file>`, `memory inspect <ref>`.'
_VERIFIED = 120
"""So many records are held against the code at the start of a session; `memory status` looks at all."""
_DOUBTED = 5
_ENTRIES = 12
_LISTED = 30
_LEAST = 100
"""With less room than this nothing is said at all."""
_NEW = 8
_UNFINISHED = "Unfinished:"
_INSTRUCTION_FILES = {"claude": ("CLAUDE.md",), "gemini": ("GEMINI.md",)}
_OFTEN = ("AGENTS.md",)
_DOUBTFUL = ("changed", "orphaned")
_NAMELESS = "this project"
_RESULT = "Result: "
"""How the summary of a session begins to say what came of it."""

_Group = tuple[str, list[Judged], int]
"""A heading, what stands below it, and how much of that at most."""


def hook_start(
    project: Project,
    *,
    client: str,
    session: str,
    tokens: int,
    chars: int,
    since: str = "",
    told: Sequence[str] = (),
    compacted: bool = False,
    began: str = "",
) -> Injection:
    """What every session starts with, and what is new `since` the last one.

    After a compaction also what was `told` before it: the agent has it no more. `began` is when the session did.
    """
    project.ready_to_ask()

    def work(index: Index) -> Injection:
        held = _held_map(project, client)
        has_map = bool(held) and _is_current(project, index, held)
        groups = _opening(project, index, has_map, session, since, told if compacted else ())
        room = tokens if compacted else min(tokens, limits.START_TOKENS - count_tokens(held))
        return _opened(project, index, groups, room, chars, began) if room >= _LEAST else Injection(budget=max(0, room))

    return project.with_index(work)


def _opening(
    project: Project, index: Index, has_map: bool, session: str, since: str, told: Sequence[str]
) -> list[_Group]:
    """Records below headings, in the order of their worth, and how many of each at most."""
    live = index.records("graph", statuses=LIVE_STATUSES, limit=_VERIFIED)
    verdicts = _verdicts(project, index, live)
    judged = [(record, verdicts.get(record.ref), "") for record in live]
    groups: list[_Group] = [
        ("Sent before the compaction:", _again(project, index, told, verdicts), _LISTED),
        ("Pinned:", [(record, None, "pinned") for record in _pins(project, index, session)], _LISTED),
        (_UNFINISHED, _unfinished(project, index, judged), _LISTED),
        ("New since the last session:", _new(index, judged, since), _NEW),
        ("Out of date (check the code before you rely on them):", _doubtful(judged), _DOUBTED),
        ("People and habits:", _habits(project, index), _ENTRIES),
    ]
    if not has_map:
        groups += _map_groups(judged)
    groups.append(("Known traps:", [item for item in judged if item[0].kind == "gotcha"], _DOUBTED))
    groups.append(("Last session:", _last_session(index), 1))
    return groups


def _opened(project: Project, index: Index, groups: list[_Group], tokens: int, chars: int, began: str) -> Injection:
    trust = trust_of(project, index, [record for _, records, _ in groups for record, _, _ in records], began)
    shelves = [
        LineGroup(title=title, offers=injected_lines(project, index, records, trust), most=most)
        for title, records, most in groups
    ]
    head = HEAD.format(name=_told_name(project, index))
    waiting = [*_contested(index), *_waiting(project)]
    feet = [*waiting, LOOK_UP]
    done = fit_groups(head, shelves, tokens=tokens, chars=chars, fence=new_fence(project), foot=feet)
    if not waiting and not any(fate.outcome == "included" for fate in done.fates):
        done.text, done.tokens = "", 0  # how to look things up stands in the instruction files
    return done


def _told_name(project: Project, index: Index) -> str:
    """What the project is called, unless the name tries to tell the reader what to do."""
    try:
        name = cut(one_line(project.graph.config().project.name), 80)
    except NotInitialized:
        name = os.path.basename(project.root)
    return _NAMELESS if flagged_records(index, [note_record(0, name)]) else name


def _verdicts(project: Project, index: Index, records: Iterable[Record]) -> dict[str, Verdict]:
    anchored = [record for record in records if record.anchors]
    if not anchored:
        return {}
    return Verdicts(project.root, project.git, index, until=project.deadline)(anchored)


def _again(project: Project, index: Index, told: Sequence[str], verdicts: dict[str, Verdict]) -> list[Judged]:
    """What was passed on before, as it is now; what is no longer current is left out."""
    found = [record for ref in dict.fromkeys(told) if (record := index.find(ref)) is not None]
    current = [record for record in found if record.status in LIVE_STATUSES]
    missing = _verdicts(project, index, [record for record in current if record.ref not in verdicts])
    return [(record, verdicts.get(record.ref) or missing.get(record.ref), "sent before") for record in current]


def _pins(project: Project, index: Index, session: str) -> list[Record]:
    """Pins of all sessions and of this one; a fact that is no longer active is none."""
    named = [pin.id for name in dict.fromkeys(("", session)) for pin in _pinned_in(project, name)]
    found = (index.find(f"fact:{name}") for name in dict.fromkeys(named))
    return [record for record in found if record is not None and record.status == "active"]


def _pinned_in(project: Project, session: str) -> Sequence[PinnedFact]:
    try:
        return read_working(project.root, session)[0].pins
    except QuireError:
        return ()  # the client's name of its session is none that pins are kept under


def _unfinished(project: Project, index: Index, judged: list[Judged]) -> list[Judged]:
    """What is being built, and what the journal says comes next."""
    building = [item for item in judged if item[0].kind == "feature" and item[0].stage == "building"]
    bundle = index.records("journal", "bundle") if project.has_journal() else []
    focus = [record for record in bundle if record.section == "current-focus" and record.text.strip()]
    steps = [record for record in bundle if record.section == "next-steps"]
    planned: list[Judged] = [(record, None, "of the journal") for record in (*focus, *reversed(steps))]
    return [*building, *planned, *_notes(project)]


def _new(index: Index, judged: list[Judged], since: str) -> list[Judged]:
    """What someone recorded or changed since the last session began."""
    if not since:
        return []
    facts = index.records("facts", "fact", ("active",), limit=_LISTED)
    told: list[Judged] = [*judged, *((record, None, "") for record in facts)]
    new = [(record, verdict, "new") for record, verdict, _ in told if record.updated_at >= since]
    return [item for item in new if item[0].kind != "project"]


def _habits(project: Project, index: Index) -> list[Judged]:
    if not project.has_profile():
        return []
    entries = index.records("profile", statuses=("active",))
    entries.sort(key=lambda record: (-record.weight, record.ref))
    return [(record, None, "of the profile") for record in entries[:_LISTED]]


def _last_session(index: Index) -> list[Judged]:
    return [(_retold(record), None, "the latest episode") for record in index.records("facts", "episode", limit=1)]


def _retold(record: Record) -> Record:
    """An episode by its result where it has one, then by what was told of it, else by its figures; its date once."""
    figures, _, told = record.text.partition("\n\n")
    result = told[told.find(_RESULT) :] if _RESULT in told else ""
    said = result or told or figures.partition(": ")[2] or figures
    return replace(record, title=record.title.removeprefix("Session "), text=said.strip())


def _notes(project: Project) -> list[Judged]:
    """Notes as records, so that they pass what records pass."""
    return [(note_record(note.number, note.text), None, "a note") for note in read_notes(project.root)]


def _waiting(project: Project) -> list[str]:
    """That a person should look at something."""
    count = count_pending(project.root)
    said = [f"{counted(count, 'proposal')} pending in the user's inbox: `memory inbox`."]
    lacking = [
        "Git merges the memory as text in this clone. The user can run `memory integrate git` to merge it by record."
    ]
    return (said if count else []) + (lacking if lacks_driver(project) else [])


def _contested(index: Index) -> list[str]:
    refs = [record.ref for record in index.records_contested()]
    if not refs:
        return []
    more = f" and {len(refs) - _DOUBTED} more" if len(refs) > _DOUBTED else ""
    return [f"Branches disagree on {', '.join(refs[:_DOUBTED])}{more}; the user can run `memory resolve`."]


def _held_map(project: Project, client: str) -> str:
    """The product map that the client reads from an instruction file anyway."""
    return "".join(held_map(project.root, name) for name in _INSTRUCTION_FILES.get(client, _OFTEN))


def _is_current(project: Project, index: Index, held: str) -> bool:
    """Whether a map says what the memory says; on other branches than the default one no save writes it."""
    from quire.upkeep.product_map import render_map

    return writes_map(project) or render_map(index, project.root, project.git).strip() in held


def _doubtful(judged: list[Judged]) -> list[Judged]:
    return [item for item in judged if item[1] is not None and item[1].verdict in _DOUBTFUL]


def _map_groups(
    judged: list[Judged],
) -> list[_Group]:
    """The product map, for clients that do not read it from a file."""

    def of(kind: str, *stages: str | None) -> list[Judged]:
        return [item for item in judged if item[0].kind == kind and (not stages or item[0].stage in stages)]

    return [
        ("Product:", [item for item in of("project") if NO_DESCRIPTION not in item[0].text], 1),
        ("Features:", of("feature", "shipped", "paused", "idea", None), _LISTED),
        ("Decisions:", of("decision"), 8),
        ("Open questions:", of("question"), _DOUBTED),
    ]
