"""The inbox under trial: proposals made, accepted, rejected and allowed again. Run as a script, as `trials.py` says."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator

from crash_files import Scenario, begin_files
from crash_space import NOW, Tree, open_project, read_space
from trials import tell

from quire.inbox.proposals import Proposal, propose
from quire.model.errors import StorageFailed
from quire.project import Project
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.inbox.accept import accept as accept_proposals
from quire.verbs.inbox.add import inbox_add
from quire.verbs.inbox.edit import Edit
from quire.verbs.inbox.edit import edit as edit_proposal
from quire.verbs.inbox.lift import Lift
from quire.verbs.inbox.lift import lift as lift_rejections
from quire.verbs.inbox.options import ChosenProposals
from quire.verbs.inbox.reject import Reject
from quire.verbs.inbox.reject import reject as reject_proposals
from quire.verbs.inbox.results import Settled

__all__ = ["SCENARIOS"]

INBOX, REJECTED = "harbor/.memory/local/inbox.jsonl", "harbor/.memory/rejected/"
NODE, FACT = "Retries run in the worker, never in the request.", "A request may take thirty seconds."
ENTRY, NOTE, OTHER = "Europe/Madrid", "look at the uploads", "Mails go out at night."
LAYERS = {NODE: "graph", FACT: "facts", ENTRY: "profile", NOTE: "notes"}


def proposals() -> list[Proposal]:
    told = {"origin": "session:claude:3f2a", "by": "user"}
    return [
        propose("graph", "decision", NODE, {"kind": "decision", "title": "Retries", "body": NODE}, **told),  # type: ignore[arg-type]
        propose("facts", "fact", FACT, {"section": "Decisions", "content": FACT}, **told),  # type: ignore[arg-type]
        propose("profile", "preference", ENTRY, {"category": "user", "key": "timezone", "value": ENTRY}, **told),  # type: ignore[arg-type]
        propose("notes", "next step", NOTE, {"text": NOTE}, **told),  # type: ignore[arg-type]
    ]


def bare(space: str) -> None:
    for name in ("harbor", "home"):
        os.makedirs(os.path.join(space, name))
    init_memory(open_project(space, NOW, "a"), guidance=False)


def proposed(space: str) -> None:
    bare(space)
    inbox_add(open_project(space, NOW, "a1"), proposals())


def rejected(space: str) -> None:
    proposed(space)
    reject_proposals(open_project(space, NOW, "a2"), Reject(ids=[name_of(FACT)], reason="not so"))


def name_of(text: str) -> str:
    return next(item.id for item in proposals() if item.text == text)


# -- looking ------------------------------------------------------------------------------------------------------


def statuses(space: str) -> dict[str, str]:
    found = {}
    for line in read_space(space).get(INBOX, b"").splitlines():
        fields = json.loads(line)
        found[fields["text"]] = fields.get("status", "pending")
    return found


def records(space: str) -> Counter[str]:
    """How often each text stands in a record, read without any of our own code."""
    tree = read_space(space)
    found: Counter[str] = Counter()
    for name, data in tree.items():
        if name.startswith("harbor/.memory/memory/") and name.endswith(".md") and NODE.encode() in data:
            found[NODE] += 1
    for line in tree.get("harbor/.memory/facts.jsonl", b"").splitlines():
        found[json.loads(line)["content"]] += 1
    document = json.loads(tree.get("harbor/.ai-state/memory.json") or b'{"memories": {}}')
    for category in document["memories"].values():
        found.update(fields["value"] for fields in category.values())
    found[NOTE] += tree.get("harbor/.memory/local/notes.md", b"").count(NOTE.encode())
    return found


def meaning(space: str) -> Tree:
    """What the proposals and the records say: ids and versions differ from run to run."""
    told = {f"proposal {text}": status.encode() for text, status in statuses(space).items()}
    made = records(space)
    return {**told, **{f"record {text}": str(made[text]).encode() for text in LAYERS if made[text]}}


def sound(space: str) -> Iterator[str]:
    """Nothing is accepted that is no record, no record is made twice, and nothing rejected is a record."""
    made = records(space)
    for text, status in statuses(space).items():
        if status == "accepted" and not made[text]:
            yield f"accepted, and no record: {text}"
        if made[text] > 1:
            yield f"made twice: {text}"
        if status == "rejected" and made[text]:
            yield f"rejected, and a record: {text}"


def without_marks(space: str) -> Tree:
    return {name: data for name, data in read_space(space).items() if not name.startswith("home/")}


def told(done: Settled) -> Settled:
    """What was settled and could not be written down is told as a warning."""
    if done.warnings:
        raise StorageFailed(str(done.warnings), hint="Told as a warning.")
    return done


def accept(*texts: str) -> Scenario:
    names = [name_of(text) for text in texts]
    one = len(texts) == 1

    def act(project: Project) -> object:
        done = accept_proposals(project, ChosenProposals(ids=names if one else [], everything=not one))
        for _, error in done.failed:
            raise error
        return done

    return Scenario(proposed, act, look=meaning, sound=sound, stepwise=True)


SCENARIOS: dict[str, Scenario] = {
    "first propose": Scenario(bare, lambda project: inbox_add(project, proposals()), look=without_marks, sound=sound),
    "propose": Scenario(
        proposed,
        lambda project: inbox_add(
            project,
            [propose("facts", "fact", OTHER, {"section": "Specs", "content": OTHER}, origin="file:a", by="agent")],
        ),
        look=without_marks,
        sound=sound,
    ),
    "edit": Scenario(
        proposed,
        lambda project: edit_proposal(project, Edit(proposal=name_of(NOTE), fields=["text=look at the downloads"])),
        look=without_marks,
    ),
    "accept": accept(*LAYERS),
    "accept a node": accept(NODE),
    "accept a fact": accept(FACT),
    "accept an entry": accept(ENTRY),
    "accept a note": accept(NOTE),
    "reject": Scenario(
        proposed,
        lambda project: told(reject_proposals(project, Reject(ids=[name_of(FACT)], reason="not so"))),
        look=without_marks,
        sound=sound,
        stepwise=True,
    ),
    "lift": Scenario(
        rejected,
        lambda project: told(lift_rejections(project, Lift(ids=[name_of(FACT)]))),
        look=without_marks,
        sound=sound,
        stepwise=True,
    ),
}


if __name__ == "__main__":
    tell(begin_files(SCENARIOS), {name: scenario.prepare for name, scenario in SCENARIOS.items()})
