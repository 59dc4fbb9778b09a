"""`memory status`, the tool `status_memory`: summarise this memory, or every project on this machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import msgspec

from quire.model.errors import QuireError
from quire.model.records import Problem
from quire.model.text import counted
from quire.verbs.facts.faded import faded_facts
from quire.verbs.verb import Arguments, Lines, Option, Recalled, Result, Tool, Verb

if TYPE_CHECKING:
    from quire.files.world import World
    from quire.project import Project
    from quire.upkeep.projects import Registered
    from quire.upkeep.status import Status

_STAGES = ("building", "shipped", "idea", "paused", "dead")
_URGENT = ("orphaned", "moved", "changed", "unverifiable")
_PLACES = 3
_LISTED = 10


class ShowStatus(Arguments, frozen=True, kw_only=True):
    everywhere: Annotated[
        bool, Option(name="--all", help="One line for every project on this machine.", tool=False)
    ] = False


class StatusSeen(Result, kw_only=True):
    # Every feature stands in its stage already, and those that need a look are named by themselves.
    NOT_FOR_TOOLS: ClassVar[tuple[str, ...]] = ("features",)
    LISTED_FOR_TOOLS: ClassVar[int] = 20
    found: Status
    folder: str

    def fields(self) -> dict[str, Any]:
        return msgspec.structs.asdict(self.found)


class ProjectSeen(msgspec.Struct, frozen=True, kw_only=True):
    """A registered project and its state, or why it cannot be known."""

    entry: Registered
    status: Status | None = None
    error: QuireError | None = None

    def fields(self) -> dict[str, Any]:
        error = self.error
        return {
            **msgspec.structs.asdict(self.entry),
            "needs_reset": error is not None and error.code == "MemoryUnsupportedStorageVersion",
            "error": None if error is None else {"code": error.code, "message": error.message},
            "status": self.status,
        }


class StatusOfAll(Result, kw_only=True):
    registry_path: str
    projects: list[ProjectSeen]

    def fields(self) -> dict[str, Any]:
        return {"registry_path": self.registry_path, "projects": [row.fields() for row in self.projects]}

    def about(self, _project: Project | None) -> None:
        return None


def show_status(project: Project, given: ShowStatus) -> StatusSeen | StatusOfAll:
    """Show features by stage, open questions, records that are out of date, and the last activity."""
    if given.everywhere:
        return status_of_all(project.world)
    found = status(project)
    return StatusSeen(found=found, folder=project.graph.folder, warnings=_warnings(project, found))


def status(project: Project) -> Status:
    """The memory of one project at a glance."""
    from quire.upkeep.status import memory_status

    project.ready()
    return project.with_index(lambda index: memory_status(project.graph, project.git, index))


def _warnings(project: Project, found: Status) -> list[Problem]:
    """What a look at the whole should not pass over: faded facts, files without the map, facts not imported."""
    from quire.layers.facts.originals import not_imported
    from quire.upkeep.guidance import missing_maps

    faded = faded_facts(project) if found.facts else ()
    return [*faded, *missing_maps(project.root), *not_imported(project.root)]


def status_of_all(world: World) -> StatusOfAll:
    """Every registered project, the most recently active first."""
    from quire.project import Project
    from quire.upkeep.projects import ProjectRegistry

    registry = ProjectRegistry(world)
    rows = []
    for entry in registry.known_projects():
        try:
            rows.append(ProjectSeen(entry=entry, status=status(Project(entry.project_root, world))))
        except QuireError as error:
            rows.append(ProjectSeen(entry=entry, error=error))
    rows.sort(key=lambda row: (row.status.last_activity or "") if row.status else "", reverse=True)
    return StatusOfAll(registry_path=registry.path, projects=rows)


def lines(seen: StatusSeen | StatusOfAll) -> Lines:
    if isinstance(seen, StatusSeen):
        for text in _status_texts(seen.found, seen.folder):
            yield Recalled(text=text, origin="graph")
        return
    if not seen.projects:
        yield "No projects are registered. `memory init` registers a new one, `memory projects add` an existing one."
    for row in seen.projects:
        name, status = row.entry.project["name"], row.status
        if status is None:
            yield f"{name} — {row.entry.project_root} — {row.error}"
        else:
            needy = sum(node.verdict != "unverifiable" for node in status.attention)
            yield (
                f"{name} — {_stage_counts(status)} · questions {len(status.open_questions)} · out of date {needy}"
                f" · last activity {_moment(status.last_activity)} — {row.entry.project_root}"
            )


def _status_texts(found: Status, folder: str) -> Iterator[str]:
    yield f"{found.project['name']} — {folder}"
    if any(kind != "project" and count for kind, count in found.nodes_by_kind.items()):
        yield f"Features: {_stage_counts(found)}"
        for stage in _STAGES:
            if found.features_by_stage[stage].count:
                yield f"  {stage}: {', '.join(found.features_by_stage[stage].titles)}"
        others = [f"{kind}s {count}" for kind, count in found.nodes_by_kind.items() if kind in ("decision", "gotcha")]
        yield " · ".join([*others, f"relations {found.relations}"]).capitalize()
    elif not (found.facts or found.profile or found.journal):
        yield "Nothing is recorded yet. `memory add` records something; `memory init --brief` lets your agent do it."
    yield from _layers(found)
    if found.inbox.pending:
        kinds = ", ".join(f"{number} {kind}{'s' * (number > 1)}" for kind, number in found.inbox.by_kind.items())
        places = list(found.inbox.by_origin)
        more = f" and {len(places) - _PLACES} more" if len(places) > _PLACES else ""
        yield f"Pending in the inbox (`memory inbox`): {kinds}; from {', '.join(places[:_PLACES])}{more}"
    questions = [f"{item.id} — {item.title}" for item in found.open_questions]
    if len(questions) > _LISTED:
        questions[_LISTED:] = [f"and {len(questions) - _LISTED} more: `memory list --kind question`"]
    yield from _listed("Open questions", questions)
    counts = [f"{number} {verdict}" for verdict, number in found.verdicts.items() if number]
    if counts:
        yield f"Against the code: {', '.join(counts)}"
    urgent = sorted(found.attention, key=lambda row: _URGENT.index(row.verdict))
    for row in urgent[:_LISTED]:
        yield f"  {row.verdict}: {row.id} — {row.because}"
    if len(urgent) > _LISTED:
        yield f"  and {len(urgent) - _LISTED} more: `memory sync --all`"
    yield from _listed(
        "Branches disagree (`memory resolve`)",
        [f"{ref} — {'; '.join(said)}" for ref, said in found.contested.items()],
    )
    if found.unreviewed:
        shown = ", ".join(found.unreviewed[:_PLACES])
        more = f" and {len(found.unreviewed) - _PLACES} more" if len(found.unreviewed) > _PLACES else ""
        yield f"Not reviewed: {shown}{more}"
        yield "  Hooks send one line of each until you commit it, or write or confirm it at a terminal."
    yield from _listed(
        "Files that cannot be read (`memory check`)", list(dict.fromkeys(item["path"] for item in found.unreadable))
    )
    yield f"Last activity: {_moment(found.last_activity)}"
    synced = found.last_sync or {}
    at, commit = synced.get("last_sync_at"), synced.get("last_sync_commit")
    yield f"Last sync: {f'at {commit[:9]}' if commit and not at else _moment(at)}"


def _layers(found: Status) -> Iterator[str]:
    """What the other layers hold, where they are."""
    if found.facts:
        facts = found.facts
        away = f", {facts.pending} pending" if facts.pending else ""
        away += f", {facts.other} retired" if facts.other else ""
        yield f"Facts: {facts.active} active{away} · episodes {facts.episodes} · connections {facts.connections}"
    if found.profile:
        away = f", {found.profile.other} retired" if found.profile.other else ""
        yield f"Profile: {found.profile.active} active{away} · links {found.profile.links}"
    if found.journal:
        journal = found.journal
        away = f", {journal.archived} archived" if journal.archived else ""
        counts = f"events {journal.events} · checkpoints {journal.checkpoints}"
        yield f"Journal: {counted(journal.sessions, 'session')} · {counts}{away}"


def _stage_counts(status: Status) -> str:
    return " · ".join(f"{stage} {status.features_by_stage[stage].count}" for stage in _STAGES)


def _moment(text: str | None) -> str:
    """To the minute, with its offset: a team may live in several time zones."""
    if not text:
        return "never"
    offset = text[19:].lstrip(".0123456789").replace("Z", "+00:00")
    return f"{text[:10]} {text[11:16]} {offset}".strip()


def _listed(title: str, entries: Sequence[str]) -> Iterator[str]:
    if entries:
        yield f"{title}:"
    for entry in entries:
        yield f"  {entry}"


VERB = Verb(
    takes=ShowStatus,
    run=show_status,
    lines=lines,
    examples="""Examples:
  memory status
  memory status --all
  memory status --json
""",
    tool=Tool(
        title="Overview",
        says="Features by stage, open questions, records that are out of date, last activity. Use it once, when a "
        "session starts. For details use query_memory.",
    ),
)
