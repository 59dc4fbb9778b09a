"""What a project can be told: to begin, to save, to keep itself honest, to start over."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from quire.layers.graph.layout import FOLDER, INDEX, NODES
from quire.model import limits
from quire.model.errors import InputError, QuireError
from quire.model.ids import ID_PATTERN
from quire.model.records import Problem
from quire.model.verdicts import Verdict
from quire.model.vocabulary import LAYER_NAMES, LIVE_STATUSES, Actor
from quire.project import Project, as_warning
from quire.verbs.graph.similar_records import alike_findings, alike_problems
from quire.verbs.journal.init import JournalInit, journal_entry_files, journal_init

if TYPE_CHECKING:
    from quire.inbox.rejections import Rejections
    from quire.index.catalog import Index, Progress
    from quire.layers.graph.save import Saved
    from quire.model.sources import Written
    from quire.upkeep.changes import Changes
    from quire.upkeep.check import Checked
    from quire.upkeep.init import Initialized
    from quire.upkeep.rebuild import Rebuilt
    from quire.upkeep.reset import Reset
    from quire.upkeep.sync import Synced

_LAYERS = LAYER_NAMES


# -- init -------------------------------------------------------------------------------


def init(
    project: Project,
    *,
    name: str | None = None,
    force: bool = False,
    guidance: bool = True,
    dry_run: bool = False,
    layers: tuple[str, ...] = (),
) -> Initialized:
    """Create the memory where there is none; bring guidance, map and schemas up to date where there is one."""
    from quire.capture.repository.manifests import declared_name
    from quire.index.health import index_fault
    from quire.layers.facts.originals import not_imported
    from quire.upkeep.init import initialize

    _check_layers(layers)
    if not force:
        project.recover()
    declared = declared_name(project.root) if name is None else ""
    done = initialize(
        project.graph, project.git, project.world, name=name, force=force, dry_run=dry_run, declared=declared
    )
    if guidance:
        _install_guidance(project, done)
    if "facts" in layers:
        done.files_created += _create_facts(project, dry_run=dry_run)
    if "profile" in layers:
        done.files_created += _create_profile(project, dry_run=dry_run)
    if "journal" in layers:
        done.files_created += _create_journal(project, dry_run=dry_run)
    if not dry_run:
        done.warnings += [*_register(project), *not_imported(project.root)]
        done.index_built = index_fault(os.path.join(project.graph.folder, INDEX)) == ""
    return done


def _create_journal(project: Project, *, dry_run: bool) -> list[str]:
    """A journal made from the project as it is, where there is none."""
    if journal_entry_files(project):
        return []
    done = journal_init(project, JournalInit(dry_run=dry_run))
    return [file.path for file in done.planned if file.kind == "CREATE"]


def _create_facts(project: Project, *, dry_run: bool) -> list[str]:
    """An empty file of facts, where there is none, and how git merges it."""
    from quire.files.write_access import write_access
    from quire.layers.facts.store import create_file

    if dry_run:
        return create_file(project.root, project.world, dry_run=True)
    with write_access(project.root, FOLDER, project.world, "init"):
        return create_file(project.root, project.world)


def _create_profile(project: Project, *, dry_run: bool) -> list[str]:
    """An empty profile, where there is none."""
    from quire.layers.profile.layout import IGNORED
    from quire.layers.profile.store import create_document, profile_access
    from quire.upkeep.ignore import ensure_ignored

    if dry_run:
        return create_document(project.root, project.world, dry_run=True)
    with profile_access(project.profile_places(), project.world, "init"):
        created = create_document(project.root, project.world)
    if project.git.available:
        with contextlib.suppress(QuireError, OSError):
            ensure_ignored(project.root, project.world, IGNORED)
    return created


def _install_guidance(project: Project, done: Initialized) -> None:
    from quire.upkeep.guidance import install_guidance

    map_text = "…" if done.dry_run and done.created else project.product_map()
    done.guidance, problems = install_guidance(project.root, project.world, map_text, dry_run=done.dry_run)
    done.warnings += problems


def first_brief(project: Project) -> str:
    """What to tell an agent that is to fill the memory, also before there is one."""
    from quire.upkeep.init import first_brief

    return first_brief(project.graph)


# -- save -------------------------------------------------------------------------------


def save(
    project: Project,
    intent: bytes | dict[str, Any],
    *,
    source: str = "the input",
    actor: Actor = "agent",
    dry_run: bool = False,
    read: Mapping[str, tuple[bytes, bytes]] | None = None,
) -> Saved:
    """Carry out a save intent, as JSON or decoded: all of it, or nothing and every reason why.

    `read` are nodes by their ids, as the bytes of their two files: refused where one of them is another by now.
    """
    from quire.layers.graph.intent import parse_intent
    from quire.layers.graph.save import save_intent
    from quire.layers.graph.writing import write_access

    project.ready()
    value = parse_intent(intent, source) if isinstance(intent, bytes) else intent
    rejections = project.rejections()
    if rejections is not None:
        rejections.refuse(_new_texts(project, value, rejections))
    if dry_run:
        saved = save_intent(project.graph, project.world, project.git, value, actor=actor, dry_run=True, read=read)
        if saved.planned:
            saved.warnings += project.with_index(lambda index: _alike_to_planned(index, saved))
        return saved
    from quire.model.sources import Written

    files = project.graph_source()
    # To the end under one lock: nobody may take a map that is about to be written for one that was forgotten.
    with write_access(project.graph, project.world, "save"):
        before = files.folder_stamps()
        saved = save_intent(project.graph, project.world, project.git, value, actor=actor, read=read)
        # Also when nothing changed: an earlier save may have died before it came this far.
        written = Written("graph", before, files.indexed_files(saved.files_changed))
        told = (*saved.memory_created, *saved.memory_updated)
        saved.warnings += after_save(project, written, saved.files_changed, told, _named(saved.warnings))
        if project.by_person:
            project.note_reviewed((*told, *saved.memory_confirmed, *saved.unchanged))
    return saved


def _new_texts(project: Project, value: Any, rejections: Rejections) -> dict[str, str]:
    """Titles and bodies of an intent that no node says yet, by their places; also what is brought back."""
    nodes = value.get("nodes") if isinstance(value, dict) else None
    found: dict[str, str] = {}
    for number, item in enumerate(nodes if isinstance(nodes, list) else ()):
        if not isinstance(item, dict):
            continue
        name = item.get("id")
        held = project.graph.find_node(name) if isinstance(name, str) and re.fullmatch(ID_PATTERN, name) else None
        before = {"title": held.node.title, "body": held.body} if held else {}
        told = {key: item[key] for key in ("title", "body") if isinstance(item.get(key), str)}
        # What is too long is refused for that, and not looked through first.
        after = {**before, **{key: text for key, text in told.items() if len(text) <= limits.BODY_CHARS}}
        is_back = held is not None and "status" in item and held.node.status not in LIVE_STATUSES
        new = {key: text for key, text in after.items() if is_back or text.strip() != before.get(key, "").strip()}
        found |= {f"nodes.{number}.{key}": text for key, text in new.items()}
        if new and len(after) == 2 and not any(rejections.match(after[key]) for key in after if key not in new):
            # What was rejected may stand in both together.
            found[f"nodes.{number}"] = f"{after['title']}\n{after['body']}"
    return found


def after_save(
    project: Project, written: Written, files: list[str], told: Sequence[str] = (), named: frozenset[str] = frozenset()
) -> list[Problem]:
    """Take the change over into the index and the map. The save stands even if this fails.

    `told` are the nodes that say something new: a warning names what says nearly the same, or the opposite, unless
    it is `named` already.
    """
    from quire.layers.graph.writing import write_access
    from quire.upkeep.guidance import refresh_map
    from quire.upkeep.product_map import render_map

    def work(index: Index) -> tuple[str, list[Problem]]:
        records = [record for ref in told if (record := index.find(ref))]
        alike = [problem for record in records for problem in alike_problems(index, record, named)]
        return render_map(index, project.root, project.git), alike

    try:
        # Under the lock again: a map that was rendered earlier must not replace a newer one.
        with write_access(project.graph, project.world, "refresh the map"):
            map_text, alike = project.with_index(work, written)
            refreshed, problems = refresh_map(project.root, project.world, map_text)
        files += refreshed
        return [*alike, *problems]
    except (QuireError, OSError) as error:
        return [
            Problem(
                code="ProductMapNotRefreshed",
                severity="warning",
                message=f"The save is complete, but the product map could not be refreshed: {error}.",
                hint="Run `memory init` when the cause is mended.",
            )
        ]


def confirm(
    project: Project, refs: list[str], *, reason: str | None = None, actor: Actor = "agent", dry_run: bool = False
) -> tuple[Saved, dict[str, Verdict]]:
    """Somebody looked, and these nodes are still true of the code; with the verdicts that they had before."""
    project.ready()
    from quire.layers.graph.source import node_record
    from quire.upkeep.verdicts import Verdicts

    ids = [project.graph_id(ref) for ref in dict.fromkeys(refs)]
    # An unknown one is for the save to say, together with everything else that is wrong.
    nodes = [node for ref in ids if (node := project.graph.find_node(ref))]
    before = Verdicts(project.root, project.git)(list(map(node_record, nodes)))
    noted = {"reason": reason} if reason and reason.strip() else {}
    intent = {"task": "confirm after a look", "confirm": [{"id": ref, **noted} for ref in ids]}
    return save(project, intent, actor=actor, dry_run=dry_run), before


# -- keeping honest ---------------------------------------------------------------------


def sync(project: Project, *, dry_run: bool = False) -> tuple[Synced, list[Problem]]:
    """What changed in the code, and which nodes need a look; the marker moves on unless it is a dry run."""
    from quire.anchors.working_tree import TreeReader
    from quire.layers.graph.writing import write_access
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
    problems: list[Problem] = []
    if not dry_run and found.head_commit:
        with write_access(project.graph, project.world, "sync"):
            newer = newer_marker(project.graph)
            if newer is None:
                advance_marker(project.graph, project.world, found.head_commit)
            found.marker_advanced = newer is None
            _, problems = refresh_map(project.root, project.world, project.product_map())
            problems = [*problems, *([newer] if newer else [])]
    return found, problems


def rebuild(
    project: Project, progress: Progress | None = None, *, semantic: str | None = None, taught: Progress | None = None
) -> Rebuilt:
    """Make the index from nothing; `progress` is told how far it is.

    With a folder in `semantic`, the documents are embedded with the full network in it; `taught` is told how far
    that is.
    """
    from quire.upkeep.rebuild import rebuild_memory

    folder = project.index_folder()
    if folder is None or not project.has_journal():
        project.ready()
        folder = os.path.join(project.graph.folder, INDEX)
    else:
        project.ready_to_ask()
    model = os.path.join(project.world.cwd, semantic) if semantic is not None else None
    events = sum(not isinstance(event, Problem) for _, event in project.graph.events())
    return rebuild_memory(folder, project.sources(), progress, semantic=model, taught=taught, events=events)


def check(project: Project) -> Checked:
    """What is wrong with the files, and who can mend it."""
    project.recover()
    nodes = os.path.join(project.graph.folder, NODES)
    if not project.graph.exists() and not os.path.isdir(nodes) and not (project.has_profile() or project.has_journal()):
        project.need_config()
    return check_memory(project)


def check_memory(project: Project) -> Checked:
    """The files as they are, whatever is unfinished: also for who holds a lock."""
    from quire.upkeep.check import check_memory

    def work(index: Index) -> Checked:
        return check_memory(project, index, project.rejections(), alike_findings)

    return project.in_one_state(lambda: project.with_index(work))


def diff(project: Project) -> Changes:
    """What differs from the last commit: staged, unstaged and untracked."""
    from quire.upkeep.changes import uncommitted_changes

    project.recover()
    return project.in_one_state(lambda: uncommitted_changes(project))


# -- starting over ----------------------------------------------------------------------


def reset(project: Project, *, destroy: bool = False) -> Reset:
    from quire.upkeep.projects import ProjectRegistry
    from quire.upkeep.reset import reset_memory

    done = reset_memory(project.graph, project.world, destroy=destroy)
    with contextlib.suppress(QuireError):
        ProjectRegistry(project.world).remove(project.root)
    return done


def upgrade(project: Project) -> str:
    """What to do about the storage version: nothing, when it is the right one."""
    project.ready()
    config = project.graph.config()
    return f"Storage version {config.version} is current; there is nothing to upgrade."


def _register(project: Project) -> list[Problem]:
    """Note the project for the commands that look across repositories; a failure is a warning."""
    from quire.upkeep.projects import ProjectRegistry

    try:
        ProjectRegistry(project.world).add(project.root, source="auto")
    except QuireError as error:
        return [as_warning(error)]
    return []


def _alike_to_planned(index: Index, saved: Saved) -> list[Problem]:
    """What a save would warn of, found before it is made."""
    named = _named(saved.warnings)
    together = [node.record for node in saved.planned]
    return [
        problem
        for node in saved.planned
        for problem in alike_problems(index, node.record, named | node.settled, together)
    ]


def _named(warnings: list[Problem]) -> frozenset[str]:
    """The nodes whose title was used again, of which a warning says so."""
    return frozenset(warning.message.split("`")[1] for warning in warnings if warning.code == "SimilarNode")


def _check_layers(layers: tuple[str, ...]) -> None:
    for name in layers:
        if name not in _LAYERS:
            raise InputError(
                f"`{name[:40]}` is no layer.",
                hint=f"It takes any of {', '.join(_LAYERS)}.",
                details={"field": "with", "allowed": list(_LAYERS)},
            )
