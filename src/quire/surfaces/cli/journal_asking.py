"""`memory journal query`, `status`, `validate`, `providers`"""

from __future__ import annotations

from typing import Any

from quire.layers.journal.layout import OUTPUTS
from quire.model.errors import QuireError
from quire.model.text import counted, one_line
from quire.surfaces.cli.commands import Argument, Command, Option, Session, as_called
from quire.surfaces.cli.journal_importing import source_line
from quire.surfaces.cli.journal_making import PROVIDER
from quire.surfaces.cli.journal_shown import SHOW_DIFF, diff_lines, reply, say_diffs, tell, warn_of
from quire.surfaces.cli.output import answer, pretty, say, warn
from quire.surfaces.cli.reading import share

_COLOURS = {"warn": "33", "fail": "31"}

# -- query ------------------------------------------------------------------------------------


def query(
    session: Session,
    question: tuple[str, ...],
    scope: str,
    output: str | None,
    archived: bool,
    provider: str | None,
) -> None:
    """Ask the journal, in your own words.

    How something is, what changed, what comes next, which traps there are. The answer is made of what the journal
    says, with where each part of it stands; or it says that there is not enough. Needs no model; one that is asked
    by name words the same evidence.
    """
    from quire.verbs.journal.ask import journal_query

    project = session.project()
    found = journal_query(project, " ".join(question), scope=scope, provider=provider, archived=archived)
    if session.as_json:
        from quire.fields.journal import journal_query_fields

        answer(project, journal_query_fields(found), found.warnings)
    elif (output or _usual_output(project)) == "json":
        from quire.fields.journal import journal_answer_fields

        pretty(journal_answer_fields(found))
    else:
        _say_answer(found)
    if not session.as_json:
        warn(found.warnings)


def _usual_output(project: Any) -> str:
    """What the settings say; settings that cannot be read keep nobody from an answer."""
    from quire.layers.journal.store import load_config

    try:
        return load_config(project.root).default_output
    except QuireError:
        return "text"


def _say_answer(found: Any) -> None:
    say("Answer:")
    say(found.answer)
    say()
    say(f"Mode: {found.mode}")
    say()
    say("Why this answer:")
    say(found.why)
    say()
    say("Citations:")
    for item in found.citations:
        page = f" -> {item.projection_path}" if item.projection_path else ""
        say(f"- [{item.source_type}] {item.source_id} {item.path_or_section}: {one_line(item.summary)}{page}")
    if not found.citations:
        say("- none")


# -- status -----------------------------------------------------------------------------------


def status(session: Session, checkpoint: str | None, show_diff: bool) -> None:
    """Show what waits to be recalled, how the sources are, what to do next."""
    from quire.verbs.journal.ask import journal_status

    project = session.project()
    found = journal_status(project, checkpoint=checkpoint, diffs=show_diff)
    if session.as_json:
        from quire.fields.journal import journal_status_fields

        reply(session, project, journal_status_fields(found), found.warnings)
        return
    say_status(session, found, show_diff)


def say_status(session: Session, found: Any, show_diff: bool = False) -> None:
    say("State:")
    say(f"- schemaVersion: {found.schema_version}")
    say(f"- bundleHash: {found.bundle_hash}")
    say(f"- generatedAt: {found.generated_at} ({found.provider})")
    say(f"- latestCheckpointId: {found.latest_checkpoint_id or 'none'} (of {found.checkpoints})")
    _heading("History:")
    say(f"- total events: {found.events}")
    for scope, count in found.unrecalled.items():
        say(f"- unrecalled {scope}: {count}")
    _heading("Unrecalled Summary:")
    for line in found.backlog or ["- none"]:
        say(line)
    _heading("Sources:")
    for source in found.sources:
        say(source_line(source))
        if source.last_sync_error:
            say(f"  {source.last_sync_error}")
    if not found.sources:
        say("- none")
    _heading("Checkpoint Drift:")
    _say_drift(found.drift)
    if show_diff:
        say_diffs(found.file_diffs, heading="File Diffs:")
    _heading("Retention:")
    say(f"- enabled: {'yes' if found.retention.enabled else 'no'}")
    say(f"- prune candidate events: {found.retention.candidate_events}")
    say(f"- prune candidate checkpoints: {found.retention.candidate_checkpoints}")
    say(f"- archive batches: {found.retention.archive_batches}")
    say(f"- expired batches: {found.retention.expired_batches}")
    say(f"- oldest archive createdAt: {found.retention.oldest_archive or 'none'}")
    if found.automation:
        _heading("Automation:")
        shown = [f"{name}={found.automation[name]}" for name in ("status", "finishedAt") if found.automation.get(name)]
        say(f"- last run: {found.automation.get('error') or ' '.join(shown) or 'noted'}")
    _heading("Suggested Next Action:")
    say(found.next_action)
    if found.next_command:
        tell(session, f"`memory journal {found.next_command}`")
    warn_of(session, found.warnings)


def _heading(text: str) -> None:
    say()
    say(text)


def _say_drift(drift: dict[str, Any] | None) -> None:
    if drift is None:
        say("- there is no checkpoint to compare with")
        return
    say(f"- checkpoint: {drift['id']}")
    for line in [f"- {drift['error']}"] if "error" in drift else diff_lines(drift, capital=False):
        say(line)


# -- faults -----------------------------------------------------------------------------------


def validate(session: Session, mend: bool) -> int:
    """Look for faults in the journal's files.

    Exit code 1 where something fails, 0 with warnings only. With --mend, what can be set right without losing
    anything is: counts, hashes, ids that are there twice, marks that a merge left, pages that were edited.
    """
    from quire.verbs.journal.ask import journal_validate

    project = session.project()
    found = journal_validate(project, mend=mend)
    if session.as_json:
        from quire.fields.journal import journal_validate_fields

        fields = journal_validate_fields(found)
        for finding in fields["findings"]:
            finding["hint"] = finding["hint"] and as_called(finding["hint"], session.program)
        answer(project, fields)
        return 1 if found.failed else 0
    for text in found.mended:
        say(f"MENDED {text}")
    if mend and not found.mended:
        say("There was nothing to mend.")
    if mend:
        say()
    for finding in found.findings:
        say(f"{finding['level'].upper()} {finding['code']}: {finding['message']}", _COLOURS.get(finding["level"]))
        if finding["hint"] and finding["level"] != "pass":
            tell(session, f"     {finding['hint']}")
    say()
    say(f"Summary: {found.passed} passed, {found.warned} warnings, {found.failed} failed.")
    return 1 if found.failed else 0


# -- providers --------------------------------------------------------------------------------


def providers(session: Session, ceiling: str | None, versions: bool) -> None:
    """Show which models could be asked, and what may be spent on them.

    No model is asked unless --provider names one. --ceiling sets what may be spent in a day, in US dollars, on this
    machine; 0 turns it off.
    """
    from quire.verbs.journal.journal_state import journal_providers

    project = session.project()
    found = journal_providers(project, ceiling=share("ceiling", ceiling), versions=versions)
    if session.as_json:
        from quire.fields.journal import journal_providers_fields

        reply(session, project, journal_providers_fields(found))
        return
    say(f"Daily ceiling: ${found.ceiling_usd:.2f}")
    waiting = f", and ${found.open_usd:.4f} set aside" if found.open_usd else ""
    say(f"Spent on {found.day}: ${found.spent_usd:.4f} in {counted(found.calls, 'call')}{waiting}")
    say(f"Settings: {found.settings_path}")
    _heading("Providers:")
    for item in found.providers:
        parts = [item.path, item.version, item.reason]
        said = ", ".join(part for part in parts if part)
        say(f"- {item.name}: {'found' if item.found else 'not found'}{f' ({said})' if said else ''}")


ASKING = {
    "query": Command(
        run=query,
        examples="""Examples:
  memory journal query "what changed since Monday?"
  memory journal query what should I do next --scope state
  memory journal query "which traps has the cache?" --output json
""",
        arguments=(Argument(name="question", many=True),),
        options=(
            Option(
                name="--scope",
                into="scope",
                metavar="SCOPE",
                choices=("state", "history", "all"),
                default="all",
                help="Where to look: the memory with its checkpoints (state), the events (history), or all.",
            ),
            Option(
                name="--output",
                into="output",
                metavar="FORMAT",
                choices=OUTPUTS,
                help="text, or json for the answer alone; by default what the settings say.",
            ),
            Option(name="--archived", into="archived", help="Also what was put into the archive."),
            PROVIDER,
        ),
    ),
    "status": Command(
        run=status,
        examples="Examples:\n  memory journal status\n  memory journal status --checkpoint chk-000001 --show-diff\n",
        options=(
            Option(
                name="--checkpoint",
                into="checkpoint",
                metavar="ID",
                help="Compare the memory with this checkpoint instead of the latest.",
            ),
            SHOW_DIFF,
        ),
    ),
    "validate": Command(
        run=validate,
        examples="Examples:\n  memory journal validate\n  memory journal validate --mend\n",
        options=(Option(name="--mend", into="mend", help="Set right what can be without losing anything."),),
    ),
    "providers": Command(
        run=providers,
        examples="Examples:\n  memory journal providers --versions\n  memory journal providers --ceiling 2.50\n",
        options=(
            Option(name="--ceiling", into="ceiling", metavar="USD", help="What may be spent in a day from now on."),
            Option(name="--versions", into="versions", help="Ask each program for its version."),
        ),
    ),
}
