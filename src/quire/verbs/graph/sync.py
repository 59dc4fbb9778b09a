"""`memory sync`, the tool `sync_memory`: find records that are out of date."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import msgspec

from quire.model.records import Problem
from quire.model.text import counted, one_line
from quire.verbs.ask.product_map import product_map
from quire.verbs.verb import Arguments, Lines, Option, Output, Recalled, Result, Tool, Verb

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.project import Project
    from quire.upkeep.explained_changes import Explained
    from quire.upkeep.sync import ChangedNode, MovedNode, OrphanedNode, Synced

_LISTED, _NAMED, _LISTED_FOR_TOOLS = 10, 3, 20
_TASK = """\
Look at the code behind each of these records. For a changed one, write the body as it is true now; if it is
still correct, take it out of "nodes" and put {"id": "…"} into "confirm". A moved one has its new anchors filled in.
For an orphaned one, say why it is stale, or give it new anchors. Leave out what you did not look at. Send the rest
in one call."""


class Sync(Arguments, frozen=True, kw_only=True):
    dry_run: Annotated[bool, Option(help="Report only; do not write the marker and the map.")] = False
    everything: Annotated[
        bool, Option(name="--all", help="Also list what was reported before, and what cannot be checked.", tool=False)
    ] = False
    check: Annotated[bool, Option(help="Exit with 1 if a record is out of date.", tool=False)] = False
    most: int | None = None
    """Of each kind so many are listed; by default ten, or all where everything was asked for."""


class CodeSynced(Result, kw_only=True):
    NOT_FOR_TOOLS: ClassVar[tuple[str, ...]] = ("titles",)
    LISTED_FOR_TOOLS: ClassVar[int] = _LISTED_FOR_TOOLS
    found: Synced
    given: Sync

    def fields(self) -> Synced:
        return self.found

    def tool_fields(self) -> dict[str, Any]:
        return {**msgspec.structs.asdict(self.found), "fresh": len(self.found.fresh)}

    def exit_code(self) -> int:
        return 1 if self.given.check and self.found.findings else 0


def sync(project: Project, given: Sync) -> CodeSynced:
    """Find records whose code has changed since they were last saved or confirmed.

    Records that an earlier sync reported are only counted; --all lists them again.
    """
    from quire.anchors.working_tree import TreeReader
    from quire.files.branches import writes_fragments, writes_map
    from quire.layers.graph.lock import write_access
    from quire.upkeep.fold import fold_due
    from quire.upkeep.guidance import refresh_map
    from quire.upkeep.sync import sync_memory
    from quire.upkeep.sync_marker import advance_marker, newer_marker

    project.ready()
    looking = TreeReader(project.root, project.git)
    try:
        found = project.with_index(lambda index: sync_memory(project.graph, project.git, index, looking))
    except BaseException:
        looking.differing()  # what was begun is ended
        raise
    found.changed = _explained(project, found.changed, len(found.changed) if given.everything else _LISTED)
    problems: list[Problem] = []
    if not given.dry_run and found.head_commit:
        with write_access(project.graph, project.world, "sync"):
            newer = newer_marker(project.graph)
            if newer is None:
                apart = writes_fragments(project)
                advance_marker(project.graph, project.world, found.head_commit, apart=apart)
            found.marker_advanced = newer is None
            fold_due(project, "graph")
            if writes_map(project):
                _, problems = refresh_map(project.root, project.world, product_map(project))
            problems = [*problems, *([newer] if newer else [])]
    return CodeSynced(found=found, given=given, warnings=problems)


def _explained(project: Project, changed: list[ChangedNode], most: int) -> list[ChangedNode]:
    """What changed behind the first of these records, in more words than its verdict has."""
    from quire.layers.graph.source import node_record
    from quire.upkeep.explained_changes import explanations
    from quire.upkeep.verdicts import Verdicts

    nodes = [node for one in changed[:most] if (node := project.graph.find_node(one.id))]
    records = list(map(node_record, nodes))

    def work(index: Index) -> Explained:
        verdicts = Verdicts(project.root, project.git, index)(records)
        return explanations(project.root, project.git, index, verdicts)

    found = project.with_index(work) if records else {}
    said = {ref: [line for one in changes if (line := one.line())] for ref, changes in found.items()}
    return [msgspec.structs.replace(one, explained=said.get(one.id, [])) for one in changed]


def lines(done: CodeSynced) -> Lines:
    found = done.found
    yield _summary(found)
    if found.hidden_files_count:
        yield f"{found.hidden_files_count} files are outside of the sparse checkout; git's index was read instead."
    shows_known = done.given.everything or found.full_verification
    changed = [node for node in found.changed if shows_known or node.new]
    moved = [node for node in found.moved if shows_known or node.new]
    orphaned = [node for node in found.orphaned if shows_known or node.new]
    gaps = [gap for gap in found.coverage_gaps if shows_known or gap.new]
    for title, nodes in (("Moved", moved), ("Changed", changed), ("Orphaned", orphaned)):
        entries = [f"{node.id} — {node.title} — {_because(node)}" for node in nodes]
        yield from _section(title, entries, done.given)
    if shows_known:
        unverifiable = [f"{node.id} — {node.because}" for node in found.unverifiable]
        yield from _section("Cannot be checked (look at the code, then `memory confirm`)", unverifiable, done.given)
    covers = [f"{gap.dir} — {counted(gap.files_count, 'file')}: {one_line(', '.join(gap.examples))}" for gap in gaps]
    yield from _section("Code that no feature covers", covers, done.given)
    listed = [node.id for nodes in (changed, moved, orphaned) for node in nodes]
    if shows_known:
        yield from _section("Without anchors", found.unanchored, done.given)
    else:
        yield from _known_before(found, len(listed))
    if listed:
        yield from _prompt(found, listed)
    if found.marker_advanced:
        yield f"Synced to {(found.head_commit or '')[:9]}."
    elif done.given.dry_run:
        yield "Dry run: the marker was not moved."
    elif found.head_commit:
        yield "The marker was not moved."
    else:
        yield "No commit yet, so no marker was set."


def _because(node: ChangedNode | MovedNode | OrphanedNode) -> str:
    """The reason; in the place of ids of commits, which changed most and which is the last, or that little changed."""
    said: list[str] = getattr(node, "explained", [])
    what, changed, commits = node.because.partition(" changed in ")
    telling = [line for line in said[:1] if " commits" in line or "only " in line]
    if not telling:
        return node.because
    if not changed or " changed " in commits or telling[0].startswith("only "):
        return f"{node.because} ({telling[0]})"
    return f"{what}{changed}{telling[0].removeprefix('commit ')}"


def _summary(found: Synced) -> str:
    counts = [f"{len(found.fresh)} fresh"]
    for name in ("changed", "moved", "orphaned", "unverifiable", "unanchored"):
        number = len(getattr(found, name))
        if number:
            counts.append(f"{number} {name}")
    since = f"{counted(found.changed_files_count, 'file')} changed since {(found.base_commit or '')[:9]}"
    if found.full_verification:
        since = f"every anchor verified, because {found.reason}"
    return f"Sync: {since}. Records: {', '.join(counts)}."


def _known_before(found: Synced, listed: int) -> Lines:
    """What was reported before, in a line."""
    known = found.findings - listed
    notes = [f"out of date since earlier: {known}"] if known else []
    folders = [gap.dir for gap in found.coverage_gaps if not gap.new]
    notes += [f"folders with code and no feature: {_few(folders)}"] if folders else []
    notes += [f"without anchors: {_few(found.unanchored)}"] if found.unanchored else []
    if notes:
        yield Output(text="")
        yield f"{' · '.join(notes)}. `memory sync --all` lists everything."


def _few(names: list[str]) -> str:
    """The first of many names, and how many there are besides."""
    rest = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return one_line(", ".join(names[:_NAMED])) + rest


def _section(title: str, entries: Sequence[str], given: Sync) -> Lines:
    """A list with its title; of a long one the beginning, unless all of it was asked for."""
    most = given.most or (None if given.everything else _LISTED)
    if not entries:
        return
    yield Output(text="")
    yield f"{title}:"
    for entry in entries[:most]:
        yield Recalled(text=f"- {entry}", origin="graph")
    if most and len(entries) > most:
        yield f"- and {len(entries) - most} more{'' if given.everything else ': `memory sync --all`'}"


def _prompt(found: Synced, listed: Iterable[str]) -> Lines:
    """The task for an agent, with a save for the nodes that are listed above it."""
    shown = set(listed)
    skeleton = {
        name: [item for item in part if item["id"] in shown] if isinstance(part, list) else part
        for name, part in found.save_skeleton.items()
    }
    yield Output(text="")
    yield "Still correct? `memory confirm REF` shows the change and asks. To have your agent look at all of them:"
    yield Output(text="\nFor the agent:\n```")
    yield _TASK
    yield Output(text=f"\nmemory save --stdin <<'JSON'\n{msgspec.json.encode(skeleton).decode()}\nJSON\n```")


VERB = Verb(
    takes=Sync,
    run=sync,
    lines=lines,
    writes=True,
    examples="""Examples:
  memory sync
  memory sync --dry-run
  memory sync --check        exit 1 if a record is out of date, for CI
  memory sync --json

\b
The output ends with a prompt for your agent: a prepared save with blanks to fill in.
Sync changes no record. It notes the commit that it checked in .memory/sync-state.json.
""",
    tool=Tool(
        title="Find records that are out of date",
        says="Records whose code changed, moved or was removed since the last sync. Use it at the end of a task, "
        "then correct them with save_memory or confirm them. Writes only its marker.",
        gives={"changed": "array"},
        given={"everything": True, "most": _LISTED_FOR_TOOLS},
    ),
)
