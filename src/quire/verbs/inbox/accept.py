"""`memory inbox accept`: turn proposals into records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from quire.inbox.proposals import Proposal
from quire.model.errors import QuireError
from quire.model.records import note_record
from quire.project import Project
from quire.verbs.facts.notes import settling_lock
from quire.verbs.inbox.inbox_file import named_proposals, settled_as, write_settled
from quire.verbs.inbox.options import ChosenProposals, refuse_unclear
from quire.verbs.inbox.proposal_duplicates import node_saying, nodes_by_words, packs_of
from quire.verbs.inbox.proposal_records import accept_proposal, accept_together
from quire.verbs.inbox.results import Settled, settled_lines
from quire.verbs.reviewed import note_records_reviewed, note_reviewed
from quire.verbs.verb import Verb

_FEW = 4
"""So many proposals that cannot be accepted together are accepted each alone."""


def accept(project: Project, given: ChosenProposals) -> Settled:
    """Accept proposals as records: those you name, those of a source, or all that are pending.

    A proposal changes a record only if that record came from an earlier version of the same file. If its file calls it
    undecided (proposed, draft, an unknown word), accept it by its id; if its file calls it superseded or reverted, it
    becomes a retired record. A proposal that cannot be saved stays, with the reason.
    """
    refuse_unclear(given)
    named_proposals(project, given)
    with settling_lock(project, "accept proposals"):
        chosen = named_proposals(project, given)
        # What is not decided where it comes from is a decision of its own for whoever accepts it.
        undecided = [item for item in chosen if not given.ids and item.standing == "open"]
        done = _accept(project, [item for item in chosen if item not in undecided])
        done.undecided = undecided
        if not project.world.is_agents:
            _note_accepted(project, done.done)
        return done


def _note_accepted(project: Project, accepted: Sequence[Proposal]) -> None:
    """Whoever accepts has looked; an agent that says so of itself has not."""
    note_reviewed(project, [item.ref for item in accepted])
    notes = (str(item.fields.get("text", item.text)).strip() for item in accepted if item.into == "notes")
    note_records_reviewed(project, [note_record(0, text) for text in notes])


def _accept(project: Project, chosen: list[Proposal]) -> Settled:
    done = Settled()
    # Features before what depends on them; what one cannot be saved with does not stop the others.
    ordered = sorted(chosen, key=lambda item: (item.into != "graph", item.into, item.kind != "feature"))
    said = project.with_index(nodes_by_words) if ordered and ordered[0].into == "graph" else {}
    for pack in packs_of(ordered):
        fresh = [item for item in pack if item.into == "graph" and not item.updates]
        known = {item.id: ref for item in fresh if (ref := node_saying(item, said))}
        done.done += [settled_as(project, item, "accepted", ref=known[item.id]) for item in pack if item.id in known]
        _accept_pack(project, [item for item in pack if item.id not in known], done)
        # Who is interrupted later finds that these are settled.
        write_settled(project, done)
    return done if ordered else write_settled(project, done)


def _accept_pack(project: Project, pack: list[Proposal], done: Settled) -> None:
    """Write the records of some proposals together; where that cannot be, half of them, at last each alone."""
    made = accept_together(project, pack)
    if made is not None:
        done.warnings += made[1]
        done.done += [settled_as(project, item, "accepted", ref=ref) for item, ref in zip(pack, made[0], strict=True)]
    elif len(pack) > _FEW:
        middle = len(pack) // 2
        _accept_pack(project, pack[:middle], done)
        _accept_pack(project, pack[middle:], done)
    else:
        _accept_each(project, pack, done)


def _accept_each(project: Project, items: Iterable[Proposal], done: Settled) -> None:
    for item in items:
        try:
            ref, warnings = accept_proposal(project, item)
        except QuireError as error:
            done.failed.append((item, error))
            continue
        done.warnings += warnings
        done.done.append(settled_as(project, item, "accepted", ref=ref))


VERB = Verb(
    takes=ChosenProposals,
    run=accept,
    lines=partial(settled_lines, verb="Accepted"),
    writes=True,
    examples="""Examples:
  memory inbox accept in-3f2a91c04d
  memory inbox accept --source git --kind decision
  memory inbox accept --all --from user
""",
)
