"""`memory add`: add one record to the layer it belongs to."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta
from msgspec.structs import replace

from quire.files.digests import hex_digest
from quire.guard.admission import refuse_secret
from quire.model import limits
from quire.model.errors import InputError, UsageError
from quire.model.ids import slugify
from quire.model.text import cut, headline
from quire.model.vocabulary import CREATABLE_KINDS, STAGES, LayerName, Stage
from quire.project import Project
from quire.verbs.facts.store import Store, store
from quire.verbs.graph.plain_problems import in_words
from quire.verbs.graph.save import save_nodes
from quire.verbs.profile.remember import RememberEntry, remember_entry
from quire.verbs.verb import Arguments, Lines, Option, Recalled, Result, Verb, Word

ADDABLE = (*CREATABLE_KINDS, "fact", "preference")
_TITLE = 120
_KEY = 60
_ONLY_OF = {"stage": ("feature",), "section": ("fact",), "key": ("preference",)}
"""Options that only some kinds take."""
_NAMES = {"": "the text", "body": "the text", "anchors": "--anchor", "tags": "--tag"}
"""What the fields of a node are given by."""
_NO_ANCHORS = ("fact", "preference")


class Add(Arguments, frozen=True, kw_only=True):
    kind: Annotated[str | None, Word(required=False)] = None
    text: Annotated[str | None, Word(required=False, stdin="the text", only_dash=True)] = None
    why: Annotated[
        Annotated[str, Meta(max_length=limits.BODY_CHARS)] | None, Option(metavar="TEXT", help="The reason.")
    ] = None
    anchors: Annotated[
        list[str],
        Option(
            name="--anchor",
            metavar="PATH",
            is_path=True,
            help="The file, folder or symbol (src/pay.py#charge) it is about. Can be repeated.",
        ),
    ] = []
    stage: Annotated[
        Stage | None, Option(metavar="STAGE", choices=STAGES, help="The stage of a feature; building by default.")
    ] = None
    tags: Annotated[list[str], Option(name="--tag", metavar="TAG", help="A tag. Can be repeated.")] = []
    title: Annotated[str | None, Option(metavar="TEXT", help="The title, if not the first line of the text.")] = None
    section: Annotated[str | None, Option(metavar="NAME", help="The section of a fact; Architecture by default.")] = (
        None
    )
    key: Annotated[
        str | None, Option(metavar="CATEGORY.KEY", help="The name of a preference; made from its text by default.")
    ] = None
    force: Annotated[bool, Option(help="Add a preference even if another one says the same.")] = False
    dry_run: Annotated[bool, Option(help="Show the new record and similar ones, write nothing.")] = False


class Added(Result, kw_only=True):
    ref: str
    kind: str
    layer: LayerName
    title: str
    action: str = "added"
    """`added`; `confirmed` where it was recorded already; `similar` where another preference says the same"""
    dry_run: bool = False

    def is_incomplete(self) -> bool:
        return self.action == "similar"


def add(project: Project, given: Add) -> Added:
    """Record one thing: a decision, a gotcha, a feature, a question, a fact, or a preference of yours.

    On a terminal you can leave out KIND and TEXT: the command asks for the kind and opens your editor. With `-` it
    reads the text from standard input. The first line of TEXT becomes the title. Similar records are shown first, so
    that nothing is recorded twice. To record many at once, as JSON, use `memory save`.
    """
    kind, text = named(given)
    if kind is None or text is None:
        raise UsageError(
            f"Say what kind of record it is: {', '.join(ADDABLE)}." if kind is None else "The text is missing.",
            hint=f'memory add {kind or "gotcha"} "{cut(text, 60) if text else "Webhooks can arrive twice"}"'
            + ("" if text else f"; `memory add {kind or 'gotcha'} -` reads the text from standard input."),
        )
    for option, kinds in _ONLY_OF.items():
        if getattr(given, option) is not None and kind not in kinds:
            raise UsageError(f"--{option} is for a {kinds[0]}, not for a {kind}.", hint=f"Leave --{option} out.")
    if given.anchors and kind in _NO_ANCHORS:
        raise UsageError(f"A {kind} has no anchors.", hint="Add a gotcha or a decision instead, or leave --anchor out.")
    for name, said in (("TEXT", text), ("--why", given.why), ("--title", given.title)):
        refuse_secret(said or "", name)
    if kind == "fact":
        return _add_fact(project, given, text)
    return _add_preference(project, given, text) if kind == "preference" else _add_node(project, given, kind, text)


def named(given: Add) -> tuple[str | None, str | None]:
    """The kind and the text: one word alone is the kind if it is one, else the text."""
    if given.kind is None or given.kind in ADDABLE:
        return given.kind, (given.text or "").strip() or None
    if given.text is not None:
        from difflib import get_close_matches

        near = get_close_matches(given.kind, ADDABLE, n=1)
        raise UsageError(
            f"Unknown kind `{cut(given.kind, 40)}`." + (f" Did you mean `{near[0]}`?" if near else ""),
            hint=f"Kinds are {', '.join(ADDABLE)}. Put a text of several words in quotes.",
        )
    return None, given.kind.strip() or None


def _add_node(project: Project, given: Add, kind: str, text: str) -> Added:
    node = node_fields(given, kind, text)
    try:
        saved = save_nodes(
            project,
            {"task": f"Add a {kind}", "nodes": [node]},
            source="the arguments",
            actor="user" if project.by_person else "cli",
            dry_run=given.dry_run,
        )
    except InputError as error:
        # A title that was not given is the beginning of the text.
        names = {**_NAMES, "title": "--title" if given.title else "the text"}
        raise in_words(error, names) from None
    refs = (*saved.memory_created, *saved.memory_updated, *saved.unchanged)
    return Added(
        ref=refs[0],
        kind=kind,
        layer="graph",
        title=node["title"],
        action="added" if saved.memory_created else "confirmed",
        dry_run=given.dry_run,
        warnings=saved.warnings,
    )


def node_fields(given: Add, kind: str, text: str) -> dict[str, Any]:
    """The node that a text becomes: its first line is the title, where no other is given."""
    title = given.title or headline(text.split("\n")[0], _TITLE)
    rest = text if given.title or title != text.split("\n")[0].strip() else text.partition("\n")[2].strip()
    body = "\n\n".join(filter(None, (rest, f"Why: {given.why}" if given.why else "")))
    node: dict[str, Any] = {"kind": kind, "title": title, "body": body or text}
    if kind == "feature":
        node["stage"] = given.stage or "building"
    return node | {name: value for name, value in (("anchors", given.anchors), ("tags", given.tags)) if value}


def fact_content(given: Add, text: str) -> str:
    return " ".join(filter(None, (text, f"Why: {given.why}" if given.why else "")))


def entry_key(text: str) -> str:
    """The name of a preference, made of its first words."""
    return slugify(headline(text, _KEY), hex_digest).replace("-", "_")


def _add_fact(project: Project, given: Add, text: str) -> Added:
    content = fact_content(given, text)
    stored = store(
        project,
        Store(section=given.section or "Architecture", content=content, tags=given.tags, dry_run=given.dry_run),
    )
    return Added(
        ref=stored.fact.ref,
        kind="fact",
        layer="facts",
        title=headline(content, _TITLE),
        action="added" if stored.action == "stored" else "confirmed",
        dry_run=given.dry_run,
        warnings=stored.warnings,
    )


def _add_preference(project: Project, given: Add, text: str) -> Added:
    category, _, key = (given.key or "").rpartition(".")
    entry = RememberEntry(
        category=category or "user",
        key=key or entry_key(text),
        value=text,
        tags=given.tags,
        source_type="user-stated" if project.by_person else "session",
        force=given.force,
        dry_run=given.dry_run,
    )
    done = remember_entry(project, replace(entry, detail=given.why) if given.why else entry)
    found = done.candidates[0] if done.entry is None else done.entry
    return Added(
        ref=found.ref,
        kind="preference",
        layer="profile",
        title=headline(found.value if done.entry is None else text, _TITLE),
        action="similar" if done.entry is None else "confirmed" if done.action == "NOOP" else "added",
        dry_run=given.dry_run,
        warnings=done.warnings,
    )


def lines(added: Added) -> Lines:
    said = {
        "added": "Would add" if added.dry_run else "Added",
        "confirmed": "Recorded already:",
        "similar": "Not added. This record says nearly the same:",
    }[added.action]
    yield Recalled(text=added.title, ref=added.ref, lead=f"{said} {added.kind}: ", is_news=False)
    yield f"  {added.ref}"
    if added.action == "similar":
        yield "`--force` adds it anyway."


VERB = Verb(
    takes=Add,
    run=add,
    lines=lines,
    writes=True,
    examples="""Examples:
  memory add gotcha "Webhooks can arrive twice" --anchor src/pay.py
  memory add decision "Invoices live in Postgres" --why "two workers write at once"
  memory add feature "CSV export" --stage shipped --anchor src/export/
  memory add fact "The e2e job needs two cores" --section Constraints
  memory add preference "Answer in German, write code in English"
""",
)
