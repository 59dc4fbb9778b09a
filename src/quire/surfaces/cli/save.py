"""`memory save`"""

from __future__ import annotations

from quire.model.errors import UsageError
from quire.model.vocabulary import ACTORS, Actor
from quire.surfaces.cli.commands import Command, Option, Session
from quire.surfaces.cli.output import answer, say, warn
from quire.surfaces.cli.reading import read_input

_EXAMPLES = """Example:
  memory save --stdin <<'JSON'
  {
    "task": "Ship retry handling for webhooks",
    "nodes": [
      {"kind": "feature", "title": "Webhook retry queue",
       "body": "Failed webhooks re-enter a queue owned by the worker.",
       "stage": "building", "anchors": ["services/billing/webhooks/"], "tags": ["billing"],
       "related": [{"predicate": "depends_on", "to": "feature.worker", "confidence": "high"}]},
      {"kind": "feature", "title": "Worker", "body": "Runs what must not block a request."},
      {"id": "question.retry-owner", "status": "closed"}
    ],
    "stale": [{"id": "gotcha.old-retry-loop", "reason": "fixed by the queue"}],
    "supersede": [{"id": "decision.inline-retries",
                   "superseded_by": "decision.retries-in-worker", "reason": "moved"}],
    "delete": [{"id": "question.who-pays", "reason": "answered"}],
    "confirm": [{"id": "decision.one-queue", "reason": "read queue.ts, still so"}]
  }
  JSON

\b
A node with the id of a stored one updates it; without, it is created. Absent fields stay as
they are, given lists replace. kinds: feature, decision, gotcha, question. stages (features only):
idea, building, shipped, paused, dead. predicates: affects, depends_on, supersedes, related_to.
status: open or closed for a question; active to revive a stale or superseded node.
"unrelated": [{"predicate", "to"}] removes relations. `memory docs save` says it all.
"""

_HEADLINES = (
    ("memory_created", "Created"),
    ("memory_updated", "Updated"),
    ("memory_marked_stale", "Marked stale"),
    ("memory_superseded", "Superseded"),
    ("memory_deleted", "Deleted"),
    ("memory_confirmed", "Confirmed"),
    ("relations_created", "Relations created"),
    ("relations_updated", "Relations updated"),
    ("relations_deleted", "Relations deleted"),
    ("unchanged", "Unchanged"),
)


def run(session: Session, use_stdin: bool, file: str | None, dry_run: bool, actor: Actor) -> None:
    """Record what changed in the product, all of it or nothing.

    Takes one JSON intent: a task, and any of nodes, stale, supersede, delete and confirm. Every problem of the input is
    reported at once with its field; saving the same intent twice changes nothing. The order of entries does not matter.
    A warning names a live node that says nearly the same, or the opposite, and the command that supersedes it.
    """
    from quire.verbs.graph.changes import save

    if use_stdin == (file is not None):
        raise UsageError("Give either --stdin or --file.", hint="`memory save --help` shows an example.")
    data, source = read_input(file, "the JSON intent")
    project = session.project()
    saved = save(project, data, source=source, actor=actor, dry_run=dry_run)
    if session.as_json:
        from quire.fields.graph import saved_fields

        answer(project, saved_fields(saved), saved.warnings)
        return
    if not saved.changed:
        say("Nothing to change: the memory already says this.")
    else:
        say("Would save:" if dry_run else "Saved:")
    for name, headline in _HEADLINES:
        listed: list[str] = getattr(saved, name)
        for entry in listed:
            say(f"  {headline}: {entry}")
    for copy in saved.recovery_files:
        say(f"  Kept your uncommitted edit of {copy.path} in {copy.recovery_path}")
    warn(saved.warnings)


COMMAND = Command(
    run=run,
    examples=_EXAMPLES,
    options=(
        Option(name="--stdin", into="use_stdin", help="Read the intent from standard input."),
        Option(name="--file", into="file", metavar="FILE", help="Read the intent from a file."),
        Option(name="--dry-run", into="dry_run", help="Check and plan everything, write nothing."),
        Option(name="--actor", into="actor", metavar="WHO", choices=ACTORS, default="agent", help="Who says so."),
    ),
)
