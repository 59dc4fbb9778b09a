"""`memory list`: list records of all layers, the newest first."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Annotated

import msgspec
from msgspec import Meta

from quire.index.catalog import Index
from quire.model import limits
from quire.model.errors import InputError
from quire.model.records import Record, origin_shown
from quire.model.text import counted, cut
from quire.model.times import instant
from quire.model.verdicts import VERDICTS, Verdict
from quire.model.vocabulary import LAYER_NAMES, RECORD_KINDS, STAGES, LayerName
from quire.project import Project
from quire.upkeep.verdicts import Verdicts
from quire.upkeep.views.items import is_current, item_of
from quire.upkeep.views.record_list import all_records, judged, newest_first
from quire.verbs.ask.answers import Layers, Words
from quire.verbs.reviewed import reviews
from quire.verbs.verb import Arguments, Lines, Option, Result, Row, Verb, View

LISTED, LISTED_MOST = 50, 10_000
_SHOWN_AS = {"entry": "preference", "event": "session", "episode": "session", "bundle": "journal"}
"""What the kinds are called that people know by another word than the files do."""
_TITLE = 100


class List(Arguments, frozen=True, kw_only=True):
    kinds: Annotated[
        Words,
        Option(name="--kind", metavar="KINDS", commas=True, help="Only these kinds: decision, gotcha, fact, …"),
    ] = []
    layers: Annotated[
        Layers,
        Option(name="--layer", metavar="LAYERS", commas=True, choices=LAYER_NAMES, help="Only these layers."),
    ] = []
    stages: Annotated[
        Words,
        Option(name="--stage", metavar="STAGES", commas=True, choices=STAGES, help="Only features in these stages."),
    ] = []
    tags: Annotated[
        Words, Option(name="--tag", metavar="TAGS", commas=True, help="Only records with all these tags.")
    ] = []
    statuses: Annotated[
        Words,
        Option(name="--status", metavar="STATUSES", commas=True, help="Only these statuses; `all` for every one."),
    ] = []
    verdicts: Annotated[
        Words,
        Option(
            name="--verdict",
            metavar="VERDICTS",
            commas=True,
            choices=VERDICTS,
            help="Only records with these verdicts.",
        ),
    ] = []
    since: Annotated[
        Annotated[str, Meta(max_length=40)] | None,
        Option(metavar="DATE", help="Only records written or changed on this day or later."),
    ] = None
    limit: Annotated[
        int,
        Meta(ge=1, le=LISTED_MOST),
        Option(metavar="NUMBER", help="The most results to show.", show_default=True),
    ] = LISTED


class ListedRecord(View, kw_only=True):
    """One record of a list."""

    ref: str
    layer: LayerName
    kind: str
    title: str
    status: str
    stage: str | None = None
    section: str = ""
    tags: tuple[str, ...] = ()
    origin: str = ""
    reviewed: bool | None = None
    created_at: str = ""
    updated_at: str = ""
    verdict: Verdict | None = None

    def origin_for_tools(self) -> str:
        return origin_shown(self.origin or self.layer, reviewed=self.reviewed is not False)


class RecordList(Result, kw_only=True):
    results: list[ListedRecord]
    total: int
    """How many there are, shown or not."""
    by_kind: dict[str, int] = {}


def list_records(project: Project, given: List) -> RecordList:
    """List records of all layers, the newest first.

    Retired records (stale, superseded, archived, closed) are listed only with --status, earlier states of the journal
    only with --kind checkpoint. To ask a question with the same filters, use `memory query`.
    """
    project.ready_to_ask()
    since, most = _moment(given.since), limits.within(given.limit, "limit", 1, LISTED_MOST)
    statuses = set(given.statuses)

    def work(index: Index) -> RecordList:
        kinds = file_kinds(given.kinds)
        layers = [name for name in LAYER_NAMES if not given.layers or name in given.layers]
        chosen = [
            record
            for record in all_records(index, layers)
            if (record.kind in kinds if kinds else record.kind != "checkpoint")
            and (record.status in statuses or "all" in statuses if statuses else is_current(record))
            and (not given.stages or (record.kind == "feature" and (record.stage or "idea") in given.stages))
            and set(given.tags) <= set(record.tags)
            and (since is None or (instant(record.updated_at) or since) >= since)
        ]
        verify = Verdicts(project.root, project.git, index)
        if given.verdicts:
            verdicts = judged(chosen, verify)
            chosen = [record for record in chosen if _verdict_name(record, verdicts) in given.verdicts]
        page = newest_first(chosen)[:most]
        verdicts = judged(page, verify)
        reviewed = reviews(project, index)(page)
        counts = Counter(shown_kind(record.kind) for record in chosen)
        return RecordList(
            results=[_listed(record, verdicts.get(record.ref), record.ref in reviewed) for record in page],
            total=len(chosen),
            by_kind=dict(sorted(counts.items())),
            nothing=_nothing(given),
        )

    return project.with_index(work)


def shown_kind(kind: str) -> str:
    """The word that people know a kind by."""
    return _SHOWN_AS.get(kind, kind)


def file_kinds(named: list[str]) -> set[str]:
    """The kinds of the files that these words stand for."""
    found: set[str] = set()
    for word in named:
        kinds = {kind for kind in RECORD_KINDS if word.removesuffix("s") in (kind, shown_kind(kind)) or word == kind}
        if not kinds:
            words = dict.fromkeys(map(shown_kind, RECORD_KINDS))
            raise InputError(
                f"Unknown kind `{cut(word, 40)}`.",
                hint=f"Use any of {', '.join(words)}.",
                details={"field": "kind"},
            )
        found |= kinds
    return found


def _moment(text: str | None) -> datetime | None:
    if text is None:
        return None
    moment = instant(text)
    if moment is None:
        raise InputError(
            f"`{cut(text, 40)}` is not a date.", hint="Give one such as 2026-03-02.", details={"field": "since"}
        )
    return moment


def _verdict_name(record: Record, verdicts: dict[str, Verdict]) -> str:
    return verdicts[record.ref].verdict if record.ref in verdicts else ""


def _listed(record: Record, verdict: Verdict | None, reviewed: bool) -> ListedRecord:
    item = msgspec.structs.asdict(item_of(record))
    shown = {name: item[name] for name in ListedRecord.__struct_fields__ if name in item}
    return ListedRecord(**{**shown, "verdict": verdict}, origin=record.origin, reviewed=reviewed)


def _nothing(given: List) -> str:
    chosen = any((given.kinds, given.layers, given.stages, given.tags, given.statuses, given.verdicts, given.since))
    if chosen:
        return "No record matches. `memory list` without filters shows all of them."
    return "Nothing is recorded yet. `memory add` records something."


def lines(found: RecordList) -> Lines:
    if not found.results:
        yield found.nothing
        return
    for view in found.results:
        verdict = view.verdict.verdict if view.verdict else ""
        state = view.stage or (view.status if view.status not in ("active", "open") else "")
        yield Row(
            cells=(
                view.updated_at[:10],
                shown_kind(view.kind),
                view.ref,
                state,
                verdict if verdict not in ("fresh", "unanchored") else "",
                cut(view.title, _TITLE),
            )
        )
    if found.total > len(found.results):
        more = found.total - len(found.results)
        yield f"{counted(more, 'more record')}: `--limit {found.total}` shows all."


VERB = Verb(
    takes=List,
    run=list_records,
    lines=lines,
    examples="""Examples:
  memory list
  memory list --kind gotcha --tag billing
  memory list --verdict changed,moved,orphaned
  memory list --since 2026-03-01 --json
""",
)
