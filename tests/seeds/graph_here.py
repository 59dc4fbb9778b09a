"""A project of the graph for many statements: saved to, looked at, put back as it was."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from commanding import Here, Said

from installed import Git, make_environment

__all__ = ["NOW", "Project", "begun"]

NOW = "2026-03-02T11:19:00+00:00"


class Project:
    """A repository with a memory, and the command run in it."""

    def __init__(self, root: Path, env: dict[str, str]) -> None:
        self.here = Here(root, env)
        self.root, self.env = root, env
        self.git = Git(root, env)
        self.memory = root / ".memory"

    def __call__(self, *line: str, **options: Any) -> Said:
        return self.here(*line, **options)

    def data(self, *line: str, **options: Any) -> Any:
        return self.here(*line, "--json", **options).data

    def save(self, *nodes: dict[str, Any], line: tuple[str, ...] = (), **lists: Any) -> Any:
        """Save, which must work; what it says."""
        intent = {"task": "try it", **({"nodes": list(nodes)} if nodes else {}), **lists}
        said = self.here("save", "--stdin", "--json", *line, stdin=json.dumps(intent))
        assert said.code == 0, said.out
        return said.json["data"]

    def refused(self, *nodes: dict[str, Any], **intent: Any) -> str:
        """Save, which must be refused and change nothing; the fields that are named."""
        before = self.files()
        value = intent or {"task": "try it", "nodes": list(nodes)}
        said = self.here("save", "--stdin", "--json", stdin=json.dumps(value))
        assert said.code == 1, said.out
        assert self.files() == before
        return " ".join(
            item.get("field") or "" for item in said.error["details"].get("issues", [said.error["details"]])
        )

    def files(self) -> dict[str, bytes]:
        """Every canonical file."""
        found = (path for path in self.memory.rglob("*") if path.is_file())
        inner = {path.relative_to(self.memory).as_posix(): path for path in found}
        return {
            name: path.read_bytes()
            for name, path in inner.items()
            if not name.startswith(("index/", "local/", "recovery/", ".backup/", ".lock"))
        }

    def node(self, node_id: str) -> dict[str, Any]:
        """A node's sidecar."""
        return self.found(node_id)[1]

    def found(self, node_id: str) -> tuple[Path, dict[str, Any]]:
        for path in (self.memory / "memory").glob("*.json"):
            fields = json.loads(path.read_bytes())
            if fields["id"] == node_id:
                return path, fields
        raise AssertionError(f"there is no {node_id}")

    def relation(self, source: str, predicate: str, target: str) -> tuple[Path, dict[str, Any]]:
        for path in (self.memory / "relations").glob("*.json"):
            fields = json.loads(path.read_bytes())
            if (fields["from"], fields["predicate"], fields["to"]) == (source, predicate, target):
                return path, fields
        raise AssertionError(f"there is no {source} {predicate} {target}")

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.memory / "events.jsonl").read_text(encoding="utf-8").splitlines()]

    def map(self, name: str = "AGENTS.md") -> str:
        text = (self.root / name).read_text(encoding="utf-8")
        return text.partition("<!-- memory:map:start -->")[2].partition("<!-- memory:map:end -->")[0]

    def put(self, name: str, text: str) -> None:
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text, encoding="utf-8")

    def errors(self) -> list[str]:
        """The codes of the errors that a check finds."""
        return [item["code"] for item in self.here("check", "--json").json["data"]["errors"]]

    @contextlib.contextmanager
    def edited(self, path: Path, **fields: Any) -> Iterator[None]:
        """A JSON file with other fields, until it is put back."""
        before = path.read_bytes()
        path.write_text(json.dumps({**json.loads(before), **fields}, indent=2, sort_keys=True) + "\n", encoding="utf-8")
        try:
            yield
        finally:
            path.write_bytes(before)

    def copy(self, name: str) -> Project:
        """The same project in another folder, for what cannot be put back."""
        root = self.root.parent / name
        shutil.copytree(self.root, root, symlinks=True)
        return Project(root, self.env)


def begun(factory: pytest.TempPathFactory, name: str) -> Project:
    """A repository with a memory, in a folder of its own."""
    folder = factory.mktemp("seed")
    env = {**make_environment(folder), "MEMORY_NOW": NOW}
    root = folder / name
    root.mkdir()
    Git(root, env)("init", "--quiet")
    project = Project(root, env)
    assert project("init").code == 0
    return project
