"""`memory status`"""

from __future__ import annotations

from typing import TYPE_CHECKING

from quire.surfaces.cli.commands import Command, Option, Session
from quire.surfaces.cli.output import answer, say

if TYPE_CHECKING:
    from quire.project import Project
    from quire.upkeep import Status

_ORDER = ("building", "shipped", "idea", "paused", "dead")
_URGENT = ("orphaned", "moved", "changed", "unverifiable")
_LISTED = 10
_EXAMPLES = """Examples:
  memory status
  memory status --all
  memory status --json
"""


def run(session: Session, everywhere: bool) -> None:
    """Show features by stage, open questions, what the code has left behind, and the last activity."""
    if everywhere:
        _all(session)
        return
    project = session.project()
    found = project.status()
    if session.as_json:
        from quire.fields import status_fields

        answer(project, status_fields(found))
    else:
        _report(project, found)


def _report(project: Project, found: Status) -> None:
    say(f"{found.project['name']} — {project.graph.folder}")
    say(f"Features: {_counts(found)}")
    for stage in _ORDER:
        if found.features_by_stage[stage].count:
            say(f"  {stage}: {', '.join(found.features_by_stage[stage].titles)}")
    others = [f"{kind}s {count}" for kind, count in found.nodes_by_kind.items() if kind in ("decision", "gotcha")]
    say(" · ".join([*others, f"relations {found.relations}"]).capitalize())
    if found.facts:
        facts = found.facts
        away = f", {facts.pending} pending" if facts.pending else ""
        away += f", {facts.other} put away" if facts.other else ""
        say(f"Facts: {facts.active} active{away} · episodes {facts.episodes} · connections {facts.connections}")
    if found.profile:
        away = f", {found.profile.other} put away" if found.profile.other else ""
        say(f"Profile: {found.profile.active} active{away} · links {found.profile.links}")
    if found.journal:
        journal = found.journal
        away = f", {journal.archived} archived" if journal.archived else ""
        say(f"Journal: {journal.sessions} sessions · events {journal.events} · checkpoints {journal.checkpoints}{away}")
    _list("Open questions", [f"{item.id} — {item.title}" for item in found.open_questions])
    _verdicts(found)
    _list("Files that cannot be read (`memory check`)", list(dict.fromkeys(item["path"] for item in found.unreadable)))
    say(f"Last activity: {_moment(found.last_activity)}")
    say(f"Last sync: {_moment((found.last_sync or {}).get('last_sync_at'))}")


def _verdicts(found: Status) -> None:
    counts = [f"{number} {verdict}" for verdict, number in found.verdicts.items() if number]
    if counts:
        say(f"Against the code: {', '.join(counts)}")
    urgent = sorted(found.attention, key=lambda row: _URGENT.index(row.verdict))
    for row in urgent[:_LISTED]:
        say(f"  {row.verdict}: {row.id} — {row.because}")
    if len(urgent) > _LISTED:
        say(f"  and {len(urgent) - _LISTED} more: `memory sync --all`")


def _all(session: Session) -> None:
    rows = session.machine().status()
    if session.as_json:
        from quire.fields import statuses_fields

        answer(None, statuses_fields(rows))
        return
    if not rows:
        say("No projects are registered. `memory init` registers one, `memory projects add` an existing one.")
    for row in rows:
        name = row.entry.project["name"]
        if row.status is None:
            say(f"{name} — {row.entry.project_root} — {row.error}")
        else:
            status = row.status
            say(
                f"{name} — {_counts(status)} · questions {len(status.open_questions)} · need a look {_needy(status)}"
                f" · last activity {_moment(status.last_activity)} — {row.entry.project_root}"
            )


def _needy(status: Status) -> int:
    return sum(row.verdict != "unverifiable" for row in status.attention)


def _counts(status: Status) -> str:
    return " · ".join(f"{stage} {status.features_by_stage[stage].count}" for stage in _ORDER)


def _list(title: str, entries: list[str]) -> None:
    if entries:
        say(f"{title}:")
    for entry in entries:
        say(f"  {entry}")


def _moment(text: str | None) -> str:
    """To the minute, with its offset: a team may live in several time zones."""
    if not text:
        return "never"
    offset = text[19:].lstrip(".0123456789").replace("Z", "+00:00")
    return f"{text[:10]} {text[11:16]} {offset}".strip()


COMMAND = Command(
    run=run,
    examples=_EXAMPLES,
    options=(Option(name="--all", into="everywhere", help="One line for every project on this machine."),),
)
