"""A desk to work at: files of a repository, records anchored to them, and what every way of asking says of these."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from samples import RETRY

from quire.files.world import World
from quire.model.verdicts import AnchorVerdict, Verdict
from quire.project import Project
from quire.verbs.ask.answers import answer_question
from quire.verbs.ask.inspected_node import inspect_node
from quire.verbs.graph.save import save_nodes
from thorough import LONG, either


class Desk:
    """One repository with a memory, worked on in this process."""

    def __init__(self, repo: Path, git: Any, project: Project, world: World) -> None:
        self.repo = repo
        self.git = git
        self.project = project
        self.world = world
        self.looks = 0

    def write(self, name: str | bytes, text: str | bytes = RETRY) -> Path:
        path = Path(os.fsdecode(os.path.join(os.fsencode(self.repo), os.fsencode(name))))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def commit(self, message: str = "work", **files: str) -> str:
        """Everything in one commit, `.memory` too, as a user has it."""
        for name, text in files.items():
            self.write(name, text)
        return str(self.git.commit(message))

    def save(self, *anchors: str, title: str = "Retry queue", **fields: Any) -> str:
        """A record anchored to these; its ref."""
        node = {"kind": "feature", "title": title, "body": f"{title} sends again.", "anchors": [*anchors], **fields}
        saved = save_nodes(self.project, {"task": "test", "nodes": [node]})
        assert len(saved.memory_created) == 1
        return saved.memory_created[0]

    def update(self, ref: str, **fields: Any) -> Any:
        return save_nodes(self.project, {"task": "test", "nodes": [{"id": ref, **fields}]})

    def confirm(self, *refs: str, **fields: Any) -> Any:
        return save_nodes(self.project, {"task": "test", "confirm": [{"id": ref, **fields} for ref in refs]})

    def sidecar(self, ref: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.sidecar_path(ref).read_text(encoding="utf-8"))
        return found

    def sidecar_path(self, ref: str) -> Path:
        return self.repo / ".memory" / inspect_node(self.project, ref).node.path

    def seals(self, ref: str) -> list[str]:
        return [item["id"] for item in self.sidecar(ref)["evidence"] if "@" in item["id"]]

    def unsealed(self, ref: str) -> None:
        """Make a record look as the original program wrote it: no seals, no commit."""
        fields = self.sidecar(ref)
        del fields["evidence"]
        fields["source"].pop("commit", None)
        self.sidecar_path(ref).write_text(json.dumps(fields, indent=2) + "\n", encoding="utf-8")

    def elsewhere(self, root: Path, **env: str) -> Desk:
        """The same from another clone, worktree or copy, or in another environment."""
        world = World(
            cwd=str(root),
            env={**self.world.env, **env},
            now=self.world.now,
            token=self.world.token,
            sleep=self.world.sleep,
            pid=self.world.pid,
        )
        git = type(self.git)(root, self.git.env)
        return Desk(root, git, Project.open(str(root), world), world)

    def asked(self, ref: str) -> Verdict:
        """What a question that brings this record says of it."""
        found = [
            hit.verdict for hit in answer_question(self.project, ref, everything=True).hits if hit.record.ref == ref
        ]
        assert len(found) == 1
        assert found[0] is not None
        return found[0]

    def inspected(self, ref: str) -> Verdict:
        found = inspect_node(self.project, ref).verdict
        assert found is not None
        return found

    def look(self, ref: str) -> Verdict:
        """The verdict, which must be the same alone and in an answer, which is given from notes by then.

        An everyday run compares the first two of a test. A long run compares all, and asks again: an answer changes
        nothing of the notes that it is given from.
        """
        before = self.sidecar_path(ref).read_bytes()
        alone = self.inspected(ref)
        self.looks += 1
        for _ in range(either(int(self.looks < 3), 2)):
            assert self.asked(ref) == alone
        assert self.sidecar_path(ref).read_bytes() == before, "reading changed the record"
        return alone

    def verdicts(self, refs: list[str]) -> list[str]:
        """Those of several records: the first is looked at in every way, the others alone; all in a long run."""
        first, *others = refs
        return [self.verdict(first), *(self.verdict(ref) if LONG else self.inspected(ref).verdict for ref in others)]

    def verdict(self, ref: str) -> str:
        return self.look(ref).verdict

    def only(self, ref: str) -> AnchorVerdict:
        """The verdict on the record's one anchor."""
        (found,) = self.look(ref).anchors
        return found


@pytest.fixture
def desk(repo: Path, git: Any, project: Project, world: World) -> Desk:
    return Desk(repo, git, project, world)
