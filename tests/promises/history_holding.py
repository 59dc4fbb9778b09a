"""One process that stops in the middle of a change, the lock held. Run as a script: which layer, and where.

It says `held`, and goes on when it is told to.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from quire.files import disk
from quire.inbox.proposals import Proposal, propose
from quire.project import Project
from quire.verbs.facts.store import Store, store
from quire.verbs.graph.save import save_nodes
from quire.verbs.inbox.add import inbox_add
from quire.verbs.journal.sources import JournalAdd, add
from quire.verbs.profile.remember import RememberEntry, remember_entry

__all__ = ["ACTS", "CHANGES"]

CHANGES: dict[str, Callable[[Project], object]] = {
    "graph": lambda project: save_nodes(
        project, {"task": "hold", "nodes": [{"kind": "feature", "title": "Of the holder", "body": "It went on."}]}
    ),
    "facts": lambda project: store(project, Store(section="Specs", content="The holder went on.")),
    "profile": lambda project: remember_entry(
        project, RememberEntry(category="learnings", key="holder", value="The holder went on.")
    ),
    "journal": lambda project: add(project, JournalAdd(source_type="markdown", path=project.root, name="holder")),
    "inbox": lambda project: inbox_add(project, [proposal("The holder went on.")]),
}
ACTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "graph": (("reset", "--yes"),),
    "facts": (("facts", "store", "Specs", "Another one."), ("note", "later")),
    "profile": (("profile", "remember", "learnings", "another", "Another one."), ("profile", "session-start")),
    "journal": (("journal", "add", "markdown", ".", "--name", "another"), ("journal", "recall"), ("journal", "update")),
    "inbox": (("inbox", "reject", "--value", "Another one."),),
}
"""What others may want to do meanwhile, by the command that they type."""


def proposal(text: str) -> Proposal:
    return propose("facts", "fact", text, {"section": "Specs", "content": text}, origin="file:a.md", by="user")


def stop(_operation: str, _path: str) -> None:
    disk.before = lambda _operation, _path: None
    print("held", flush=True)
    sys.stdin.readline()


if __name__ == "__main__":
    layer, root = sys.argv[1:3]
    project = Project.open(root)
    disk.before = stop
    CHANGES[layer](project)
