"""`memory query`"""

from __future__ import annotations

from quire.model.errors import UsageError
from quire.model.vocabulary import FACT_KINDS, JOURNAL_KINDS, KINDS, LAYER_NAMES, PROFILE_KINDS
from quire.surfaces.cli.commands import Argument, Command, Option, Session
from quire.surfaces.cli.output import answer, say, warn
from quire.surfaces.cli.reading import number

_EXAMPLES = """Examples:
  memory query "why do webhook retries run in the worker?"
  memory query "pdf rendering" --kind decision,gotcha --budget 800
  memory query --path services/billing/retry.ts
  memory query "retries" --explain --json
"""


def run(
    session: Session,
    question: str | None,
    strict: bool,
    explain: bool,
    everything: bool,
    **options: str | None,
) -> None:
    """Ask the memory a question; the answer fits into a budget of tokens.

    Finds by words and by meaning, offline. Clear answers come first, in full; then at most three possible ones, a line
    each. Where nothing is near, it says so. With --path, shows what governs a file. Stale, superseded and dead nodes
    are withheld and named; a superseded one brings its replacement.
    """
    from quire.verbs.ask.query import query
    from quire.verbs.facts.faded import faded_facts

    if question is None and options["path"] is None:
        raise UsageError("Give a question, or a file with --path.", hint="`memory query --help` shows examples.")
    project = session.project()
    limit = number("limit", options["limit"])
    found = query(
        project,
        question or "",
        budget=number("budget", options["budget"]),
        limit=10 if limit is None else limit,
        kinds=_words("kind", options["kind"], (*KINDS, *FACT_KINDS, *PROFILE_KINDS, *JOURNAL_KINDS)),
        layers=_words("layer", options["layer"], LAYER_NAMES),
        tags=_words("tag", options["tag"]),
        path=options["path"],
        everything=everything,
        strict=strict,
        explain=explain,
    )
    found.warnings += faded_facts(project) if found.faded else []
    if session.as_json:
        from quire.fields.graph import answer_fields

        answer(project, answer_fields(found, explain=explain), found.warnings)
        return
    say(found.markdown.rstrip("\n"))
    warn(found.warnings)
    if explain:
        say()
        for hit in found.hits:
            parts = ", ".join(f"{name} {value}" for name, value in hit.parts.items())
            say(f"{hit.score:.4f}  {hit.record.ref}  {hit.tier}, by {hit.why}  ({parts})")
        for item in found.left_out:
            say(f"left out  {item.ref}  {item.rule}")


def _words(name: str, text: str | None, allowed: tuple[str, ...] = ()) -> tuple[str, ...]:
    readable = (text or "").encode("utf-8", "replace").decode()
    words = tuple(word.strip() for word in readable.split(",") if word.strip())
    for word in words:
        if allowed and word not in allowed:
            raise UsageError(f"--{name} does not know `{word[:40]}`.", hint=f"It takes any of {', '.join(allowed)}.")
    return words


COMMAND = Command(
    run=run,
    examples=_EXAMPLES,
    arguments=(Argument(name="question", required=False),),
    options=(
        Option(name="--budget", into="budget", metavar="TOKENS", help="How long the answer may be; 2000 by default."),
        Option(name="--kind", into="kind", metavar="KINDS", help="Only these kinds, separated by commas."),
        Option(name="--tag", into="tag", metavar="TAGS", help="Only what has all these tags, separated by commas."),
        Option(name="--layer", into="layer", metavar="LAYERS", help="Only these layers, separated by commas."),
        Option(name="--path", into="path", metavar="FILE", help="Only what governs this file."),
        Option(name="--limit", into="limit", metavar="NUMBER", help="At most so many results; 10 by default."),
        Option(name="--strict", into="strict", help="Only clear answers, nothing that is merely possible."),
        Option(name="--explain", into="explain", help="Show every part of each score, and why the next were left out."),
        Option(name="--all", into="everything", help="Also what is stale, superseded, dead, archived or faded."),
    ),
)
