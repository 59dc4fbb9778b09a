"""Choose what to send at a prompt or before an edit: only clear matches, each once."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from quire.model import limits
from quire.model.errors import QuireError
from quire.verbs.agents.injection import injected_lines, new_fence, trust_of

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.project import Project
    from quire.retrieval.answer import Hit
    from quire.retrieval.injection import Injection, OfferedLine

PROMPT_HEAD = "From the memory of this project, possibly relevant here."
EDIT_HEAD = "From the memory of this project, about {files}."
_HITS = 3
_GOVERNING = 10
_RAW = "event"
"""Text of an imported session that no person has reviewed; anything could have written it."""
_UNREVIEWED = "it comes from an imported session that no person has reviewed"


def hook_prompt(
    project: Project, prompt: str, *, tokens: int, chars: int, told: Collection[str] = (), began: str = ""
) -> Injection:
    """What bears on a prompt, where something clearly does; what was told in this session is not told again."""
    from quire.retrieval.injection import Injection, LineGroup, fit_groups
    from quire.retrieval.low_signal import is_low_signal
    from quire.retrieval.query import Ask, ask

    if is_low_signal(prompt):
        return Injection(budget=tokens)
    project.ready_to_ask()

    def work(index: Index) -> Injection:
        from quire.upkeep.verdicts import Verdicts

        asked = Ask(
            question=prompt[: limits.QUESTION_CHARS],
            budget=tokens,
            limit=_HITS * (3 if project.has_journal() else 1),
            verify=Verdicts(project.root, project.git, index, until=project.deadline),
            weigh=project.weigh(),
            rendered=False,
            prompt=True,
        )
        found = ask(index, asked)
        raw = [hit for hit in found.hits if hit.record.layer == "journal" and hit.record.kind == _RAW]
        hits = [hit for hit in found.hits if hit not in raw][:_HITS]
        offers = _handed_hits(project, index, hits, told, began)
        offers += _withheld((hit.record.ref, _UNREVIEWED) for hit in raw[:_HITS])
        offers += _withheld((item.ref, item.reason) for item in found.withheld)
        shelf = LineGroup(title="", offers=offers)
        return fit_groups(PROMPT_HEAD, [shelf], tokens=tokens, chars=chars, fence=new_fence(project))

    return project.with_index(work)


def hook_edit(
    project: Project, files: Sequence[str], *, tokens: int, chars: int, told: Collection[str] = (), began: str = ""
) -> Injection:
    """What governs files that are about to be edited."""
    from quire.anchors.reach import inner_path, reach_below
    from quire.retrieval.injection import Injection, LineGroup, fit_groups
    from quire.retrieval.query import Ask, ask
    from quire.upkeep.verdicts import Verdicts

    inner = []
    for file in files:
        with contextlib.suppress(QuireError, ValueError):
            inner.append(inner_path(project.root, project.world.cwd, file))
    if not inner:
        return Injection(budget=tokens)
    project.ready_to_ask()

    def work(index: Index) -> Injection:
        asked = Ask(
            question="",
            budget=tokens,
            limit=_GOVERNING,
            governs=reach_below(project.root, inner),
            verify=Verdicts(project.root, project.git, index, until=project.deadline),
            weigh=project.weigh(),
            rendered=False,
        )
        found = ask(index, asked)
        offers = _handed_hits(project, index, found.hits, told, began)
        offers += _withheld((item.ref, item.reason) for item in found.withheld)
        head = EDIT_HEAD.format(files=", ".join(f"`{file}`" for file in inner[:3]) + (" …" if len(inner) > 3 else ""))
        shelf = LineGroup(title="", offers=offers)
        return fit_groups(head, [shelf], tokens=tokens, chars=chars, fence=new_fence(project))

    return project.with_index(work)


def _handed_hits(
    project: Project, index: Index, hits: Sequence[Hit], told: Collection[str], began: str
) -> list[OfferedLine]:
    trust = trust_of(project, index, [hit.record for hit in hits], began)
    return injected_lines(project, index, [(hit.record, hit.verdict, hit.why) for hit in hits], trust, told)


def _withheld(items: Iterable[tuple[str, str]]) -> list[OfferedLine]:
    from quire.retrieval.injection import OfferedLine

    return [OfferedLine(line="", ref=ref, withheld=reason) for ref, reason in items]
