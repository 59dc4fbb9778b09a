"""Implements `Layer` for the facts."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from quire.files.layout import LOCAL
from quire.files.write_access import write_access
from quire.layers.facts.layout import FILE, FOLDER, FRAGMENTS, PATH, RELATIONS, SECTIONS, STATUSES
from quire.layers.protocol import MEMORY_HOME, Holding, Layer, Repair, Site, Storage
from quire.model.contested import Choice, ContestedField, MergedFile
from quire.model.errors import GitRequired
from quire.model.records import Edge, Problem, Record, warning_at
from quire.model.sources import IndexSource
from quire.model.vocabulary import FACT_KINDS

if TYPE_CHECKING:
    from quire.layers.record_details import RecordDetails

_SAID = {"fact": ("content",), "episode": ("title", "narrative")}
"""By the kind of a record, the fields of its line that say something; the others count or date it."""


_SET_ASIDE: dict[str, Callable[[bytes], bytes]] = {f"{FOLDER}/{LOCAL}/working.json": lambda _: b""}

_WORDS = {"sections": SECTIONS, "statuses": STATUSES, "relations": RELATIONS}


class FactsLayer(Layer):
    """What agents learned: a file of lines, merged by git line by line."""

    name = "facts"
    heading = "Facts"
    home = MEMORY_HOME
    tracked = (PATH, f"{FOLDER}/{FRAGMENTS}")
    logs = (PATH,)
    live = ("active", "pending")
    kinds = FACT_KINDS
    sections = SECTIONS
    words = _WORDS
    changed_lists = ("changed_fact_ids",)
    set_aside = _SET_ASIDE

    def source(self, site: Site) -> IndexSource:
        from quire.layers.facts.source import FactSource

        return FactSource(site.root)

    def access(self, site: Site, operation: str) -> AbstractContextManager[None]:
        return write_access(site.root, FOLDER, site.world, operation)

    def storage(self, site: Site) -> Storage | None:
        return Storage(message=PATH) if os.path.lexists(os.path.join(site.root, PATH)) else None

    def check(self, site: Site) -> Iterable[Problem]:
        from quire.layers.facts.checks import check_facts
        from quire.layers.facts.working_memory import working_problem

        working = working_problem(site.root)
        return [*check_facts(site.root), *_git_and_facts(site), *([working] if working is not None else [])]

    def count_files(self, site: Site) -> int:
        return 0

    def repair(self, site: Site, problems: Sequence[Problem], unmerged: Collection[str]) -> Repair:
        from quire.layers.facts.repair import plan_fact_repair

        untouched = {path.removeprefix(f"{FOLDER}/") for path in unmerged}
        fixes, changes = plan_fact_repair(site.root, problems, untouched)
        return Repair(fixes=tuple(fixes), changes=tuple(changes))

    def fold(self, site: Site) -> list[str]:
        from quire.layers.facts.store import fold_facts

        return fold_facts(site.root, site.world)

    def merge(self, path: str, base: bytes | None, ours: bytes | None, theirs: bytes | None) -> MergedFile | None:
        from quire.layers.facts.merge import merge_facts

        return merge_facts(base, ours, theirs) if path == PATH else None

    def contested_in(self, path: str, data: bytes) -> list[ContestedField]:
        from quire.layers.facts.merge import contested_facts

        return list(contested_facts(data)) if path == PATH else []

    def settled(self, path: str, data: bytes, choices: Sequence[Choice]) -> bytes | None:
        from quire.layers.facts.merge import settled_facts

        return settled_facts(data, choices)

    def rehash(self, before: Mapping[str, bytes], after: Mapping[str, bytes | None]) -> dict[str, bytes]:
        from quire.layers.facts.repair import rehash_facts

        found = {}
        for path, now in after.items():
            was = before.get(path)
            if (path == FILE or path.startswith(f"{FRAGMENTS}/")) and was is not None and now is not None:
                found[path] = rehash_facts(was, now)
        return found

    def changed(self, site: Site, path: str, before: bytes | None, after: bytes | None) -> Mapping[str, Sequence[str]]:
        from quire.layers.facts.normalize import changed_ids

        return {"changed_fact_ids": changed_ids(before or b"", after or b"")}

    def holding(self, record: Record) -> Holding:
        from quire.layers.facts.records import held_of
        from quire.layers.record_parts import line_of

        if record.kind != "fact":
            return Holding(paths=(PATH,), part=line_of(record.ref.partition(":")[2]), fragments=PATH)
        held = held_of(record)
        part = line_of(held.fact.id, *(twin.id for twin in held.twins))
        return Holding(paths=(PATH,), part=part, fragments=PATH)

    def records_in(self, files: Mapping[str, bytes]) -> Iterable[Record | Edge | Problem]:
        from quire.layers.facts.source import items_in

        return items_in(b"\n".join(data for path, data in sorted(files.items()) if path.endswith(".jsonl")))

    def says_the_same(self, record: Record, now: bytes | None, then: Sequence[bytes]) -> bool:
        from quire.layers.record_parts import same_fields

        part = self.holding(record).part
        return now is not None and same_fields(part(now), part(then[0]), _SAID[record.kind])

    def details(self, site: Site, record: Record, weight: float) -> RecordDetails:
        from quire.layers.facts.details import fact_details

        return fact_details(record, weight)

    def how_to_retire(self, record: Record) -> str:
        if record.kind != "fact":
            return "Remove it from the file by hand."
        return f"`memory facts archive {record.ref.partition(':')[2]}` archives it."


def _git_and_facts(site: Site) -> list[Problem]:
    """Whether git keeps the facts, and merges them line by line."""
    from quire.files.git_history import attributes

    if not os.path.isfile(os.path.join(site.root, PATH)) or not site.git.available:
        return []
    try:
        merged = attributes(site.git, [PATH], ["merge"]).get(PATH, {}).get("merge")
        ignored = not site.git.staged([PATH]) and PATH not in site.git.untracked([PATH])
    except GitRequired:
        return []
    found = []
    if merged != "union":
        said = "Git does not merge this file line by line: two branches that store facts will conflict."
        hint = f"Store any fact, or put `{FILE} merge=union text eol=lf` into {FOLDER}/.gitattributes."
        found.append(warning_at("MergeAttributeMissing", PATH, said, hint))
    if ignored:
        said = "Git ignores this file: the facts stay on this machine."
        hint = "Remove the matching rule from .gitignore; `git check-ignore -v` shows it."
        found.append(warning_at("FactsIgnored", PATH, said, hint))
    return found
