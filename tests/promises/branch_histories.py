"""Random histories of branches that write to every layer, put together by git in every way it has."""

from __future__ import annotations

import contextlib
import json
import os
import random
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from merge_acts import change_node, delete_node, forget, make_node, reject, remember, sessions, source, store
from merge_branches import Act, Yard

from quire.files.world import World
from quire.layers.table import layer_of_file
from quire.model.errors import QuireError
from quire.upkeep.merge.git_setup import look_at_setup, set_up
from quire.verbs.admin.check import Check, check
from quire.verbs.facts.archive import Archive, archive
from quire.verbs.facts.supersede import Supersede, supersede
from quire.verbs.graph.confirm import Confirm, confirm
from quire.verbs.graph.save import save_nodes
from quire.verbs.graph.sync import Sync, sync
from quire.verbs.inbox.accept import accept
from quire.verbs.inbox.options import ChosenProposals
from quire.verbs.inbox.propose import Propose, propose_record
from quire.verbs.journal.recall import JournalRecall, journal_recall
from quire.verbs.journal.sources import JournalAdd, add
from quire.verbs.profile.link import LinkEntries, link_entries
from quire.verbs.team.fold import Fold, fold
from quire.verbs.team.merge_driver import DriverFiles, drive

__all__ = ["BRANCHES", "Broken", "Drivers", "History", "begin"]

STAGES = ("idea", "building", "shipped", "paused")
CITIES = ("Oslo", "Bergen", "Tromsø")
PARAGRAPHS = 6
BRANCHES = 5
_CLIENT = """#!/bin/sh
folder=${0%/*}
printf '%s\\n' "$PWD" "$@" > "$folder/asked"
read -r code < "$folder/answered"
exit "$code"
"""


class Broken(AssertionError):
    """A promise that a history broke: `lost`, `unparsed`, `order`, `contested`, `conflict`, `driver` or `check`."""

    def __init__(self, kind: str, what: object) -> None:
        super().__init__(f"{kind}: {what}")
        self.kind = kind


class Drivers:
    """The merge driver for many merges: git starts a small client, and this process answers all of them."""

    def __init__(self, folder: Path, world: World) -> None:
        self.program = folder / "quire"
        self.program.write_text(_CLIENT)
        self.program.chmod(0o755)
        self.problems: list[str] = []
        self.files = 0
        """What git asked for."""

        self._asked, self._answered = folder / "asked", folder / "answered"
        for pipe in (self._asked, self._answered):
            os.mkfifo(pipe)
        self._answering = threading.Thread(target=self._answer, args=(world,))
        self._answering.start()

    def _answer(self, world: World) -> None:
        while words := self._asked.read_text().splitlines():
            self._answered.write_text(f"{self.merge(world, words[0], words[1:])}\n")

    def merge(self, world: World, cwd: str, words: list[str]) -> int:
        self.files += 1
        union = "--union" in words
        base, ours, theirs, marker, path = (word for word in words[1:] if word != "--union")
        places = [os.path.join(cwd, name) for name in (base, ours, theirs)]
        files = DriverFiles(
            base=places[0], ours=places[1], theirs=places[2], path=path, marker=int(marker), union=union
        )
        try:
            return drive(msgspec.structs.replace(world, cwd=cwd), files).exit_code
        except Exception as error:
            self.problems.append(f"{path}: {error!r}")
            return 1

    def close(self) -> None:
        self._asked.write_text("")
        self._answering.join()


def begin(yard: Yard, drivers: Drivers) -> None:
    """What every history begins with."""
    body = "\n\n".join(f"Paragraph {number} as it was." for number in range(PARAGRAPHS))
    yard.begin(
        make_node("Base", kind="feature", stage="building", body=body),
        make_node("Other", tags=["first"]),
        make_node("Old"),
        *(make_node(f"Spare {number}") for number in range(BRANCHES)),
        store("The base holds."),
        remember("user", "city", "London"),
        remember("tools", "pager", "less"),
        source,
        sessions(900),
    )
    set_up(yard.project, [str(drivers.program)], look_at_setup(yard.project, [str(drivers.program)]))
    yard.git.commit("set up")


class Told:
    """What was acknowledged on the branches."""

    def __init__(self) -> None:
        self.texts: set[str] = set()
        """Each of these must be found in the memory's files."""
        self.fields: dict[str, dict[str, str]] = {}
        """By field: what each branch made of it at last."""


class History:
    """One history of its own seed."""

    def __init__(self, yard: Yard, seed: int) -> None:
        self.yard, self.chance, self.told, self.seed = yard, random.Random(seed), Told(), seed
        self.number = 0
        self.merges = 0
        """What git was asked to put together."""
        self.branches = 0

    def joined(self, *words: str) -> None:
        """What git puts together, and leaves nothing of in conflict."""
        self.merges += 1
        if not self.git(*words):
            raise Broken("conflict", self.yard.git("status", "--porcelain"))

    def git(self, *words: str) -> bool:
        """Whether git did it; what is left in conflict is then somebody's to settle."""
        line = ["git", *words]
        done = subprocess.run(line, cwd=self.yard.root, env=self.yard.git.env, capture_output=True, check=False)
        return done.returncode == 0

    # -- branches -------------------------------------------------------------------------------------------------

    def branch(self, name: str, start: str = "main") -> None:
        self.yard.git("checkout", "--quiet", "-b", name, start)
        self.branches += 1
        self.work(name)

    def work(self, name: str) -> None:
        for _ in range(self.chance.randint(1, 3)):
            self.act(name)
            if is_committed := self.chance.random() < 0.5:
                self.yard.git.commit(name)
        if not is_committed:
            self.yard.git.commit(name)

    def act(self, branch: str) -> None:
        self.number += 1
        name = f"{branch}-{self.number}"
        acts: list[Callable[[str, str], Act]] = [
            self._node, self._fact, self._entry, self._rejection, self._stage, self._tag, self._paragraph, self._city,
            self._archive, self._confirm, self._sync, self._session, self._recall,
            self._supersede, self._delete, self._relate, self._forget,
            self._anchor, self._accept, self._replace, self._link, self._source,
        ]  # fmt: skip
        with contextlib.suppress(QuireError):  # such as a fact that is archived already
            self.chance.choice(acts)(branch, name)(self.yard)

    def _node(self, _: str, name: str) -> Act:
        self.told.texts.add(f"Node {name} says this.")
        return make_node(f"Node {name}")

    def _fact(self, _: str, name: str) -> Act:
        self.told.texts.add(f"Fact {name} holds.")
        return store(f"Fact {name} holds.")

    def _entry(self, _: str, name: str) -> Act:
        self.told.texts.add(f"the value of {name}")
        return remember("tools", name, f"the value of {name}")

    def _rejection(self, _: str, name: str) -> Act:
        self.told.texts.add(f"Saying {name} is wrong.")
        return reject(f"Saying {name} is wrong.")

    def _stage(self, branch: str, _: str) -> Act:
        stage = self.chance.choice(STAGES)
        self.told.fields.setdefault("stage", {})[branch] = stage
        return change_node("feature.base", stage=stage)

    def _city(self, branch: str, _: str) -> Act:
        city = self.chance.choice(CITIES)
        self.told.fields.setdefault("city", {})[branch] = city
        return remember("user", "city", city)

    def _tag(self, _: str, name: str) -> Act:
        def act(yard: Yard) -> None:
            held = json.loads((yard.root / ".memory/memory/other.json").read_text())["tags"]
            change_node("gotcha.other", tags=[*held, name])(yard)
            self.told.texts.add(f'"{name}"')

        return act

    def _paragraph(self, branch: str, name: str) -> Act:
        """A paragraph of its own for each branch, so that nobody disagrees."""
        place = int(branch.removeprefix("b"))

        def act(yard: Yard) -> None:
            body = (yard.root / ".memory/memory/base.md").read_text().rstrip("\n").split("\n\n")
            self.told.texts.discard(next((text for text in self.told.texts if text == body[place]), ""))
            body[place] = f"Paragraph of {name}."
            change_node("feature.base", body="\n\n".join(body))(yard)
            self.told.texts.add(body[place])

        return act

    def _archive(self, _: str, __: str) -> Act:
        return lambda yard: archive(yard.project, Archive(fact_ids=[_fact_id(yard)], reason="gone"))

    def _confirm(self, _: str, name: str) -> Act:
        return lambda yard: confirm(yard.project, Confirm(ids=["gotcha.other"], reason=f"looked {name}"))

    def _sync(self, _: str, __: str) -> Act:
        return lambda yard: sync(yard.project, Sync())

    def _session(self, _: str, __: str) -> Act:
        number = self.number + 10 * self.chance.randint(1, 80)
        self.told.texts.add(f'"externalItemId":"s{number:03}"')
        return sessions(number)

    def _recall(self, _: str, __: str) -> Act:
        return lambda yard: journal_recall(yard.project, JournalRecall())

    def _supersede(self, branch: str, name: str) -> Act:
        def act(yard: Yard) -> None:
            replaced = {"id": "gotcha.old", "superseded_by": f"gotcha.node-{name}", "reason": "better"}
            node = {"kind": "gotcha", "title": f"Node {name}", "body": f"Node {name} says this."}
            save_nodes(yard.project, {"task": "replace", "nodes": [node], "supersede": [replaced]})
            self.told.texts.add(f"Node {name} says this.")
            self.told.fields.setdefault("superseded_by", {})[branch] = f"gotcha.node-{name}"

        return act

    def _delete(self, branch: str, _: str) -> Act:
        """A node that no other branch changes: of such git leaves a conflict to a person."""
        return delete_node(f"gotcha.spare-{branch.removeprefix('b')}")

    def _relate(self, _: str, name: str) -> Act:
        """A relation to a node that another branch may have deleted."""
        spare = f"gotcha.spare-{self.chance.randrange(BRANCHES)}"
        return make_node(f"Related {name}", related=[{"predicate": "related_to", "to": spare}])

    def _forget(self, _: str, __: str) -> Act:
        return forget("tools", "pager")

    def _anchor(self, _: str, name: str) -> Act:
        """One more file that a node is about."""

        def act(yard: Yard) -> None:
            held = json.loads((yard.root / ".memory/memory/other.json").read_text()).get("anchors", [])
            (yard.root / f"{name}.py").write_text(f"def what(): return {name!r}\n")
            change_node("gotcha.other", anchors=[*held, f"{name}.py"])(yard)
            self.told.texts.add(f'"{name}.py"')

        return act

    def _accept(self, _: str, name: str) -> Act:
        """A proposal of an agent that a person accepts."""

        def act(yard: Yard) -> None:
            propose_record(yard.project, Propose(kind="gotcha", text=f"Proposal {name} bites."))
            accept(yard.project, ChosenProposals(everything=True))
            self.told.texts.add(f"Proposal {name} bites.")

        return act

    def _replace(self, _: str, name: str) -> Act:
        def act(yard: Yard) -> None:
            supersede(yard.project, Supersede(fact_id=_fact_id(yard), content=f"Instead {name} holds."))
            self.told.texts.add(f"Instead {name} holds.")

        return act

    def _link(self, _: str, __: str) -> Act:
        ends = LinkEntries(source="user.city", target="tools.pager", relation="related-to")
        return lambda yard: link_entries(yard.project, ends)

    def _source(self, _: str, name: str) -> Act:
        def act(yard: Yard) -> None:
            (yard.root / "notes" / name).mkdir(parents=True)
            add(yard.project, JournalAdd(source_type="markdown", path=f"notes/{name}", name=f"notes-{name}"))
            self.told.texts.add(f'"notes-{name}"')

        return act

    # -- what must hold -------------------------------------------------------------------------------------------

    def files(self) -> dict[str, bytes]:
        """The files of the memory that git keeps."""
        listed = self.yard.git("ls-files", "-z").split("\0")
        held = {path: self.yard.root / path for path in listed if path and layer_of_file(path)}
        return {path: file.read_bytes() for path, file in held.items() if file.is_file()}

    def check(self) -> None:
        """Nothing acknowledged is lost, every file parses, and only what was disagreed on is contested."""
        files = self.files()
        for path, data in files.items():
            if b"<<<<<<<" in data or not _parses(path, data):
                raise Broken("unparsed", path)
        everything = b"\n".join(files.values()).decode()
        if lost := {text for text in self.told.texts if text not in everything}:
            raise Broken("lost", lost)
        found = self.yard.checked()
        if {code for codes in found.values() for code in codes} == {"RelationEndpointMissing"}:
            check(self.yard.project, Check(repair=True))
            found = self.yard.checked()
        if found:
            raise Broken("check", found)
        contested = self.contested()
        for field, name, before in (
            ("stage", "stage", {"building"}),
            ("value", "city", {"London"}),
            ("superseded_by", "superseded_by", set[str]()),
        ):
            said = set(self.told.fields.get(name, {}).values())
            values = contested.pop(field, set())
            if (values and len(said - before) < 2) or not values <= said | before:
                raise Broken("contested", (field, said, values))
        if contested:
            raise Broken("contested", contested)

    def contested(self) -> dict[str, set[Any]]:
        """By name of a field: the values that branches disagree on."""
        files = self.files()
        layers = {path: layer_of_file(path) for path in files}
        fields = [field for path, layer in layers.items() if layer for field in layer.contested_in(path, files[path])]
        return {field.field: set(field.values) for field in fields}

    def fold(self) -> None:
        fold(self.yard.project, Fold(here=True))
        self.yard.git.commit("folded")


def _parses(path: str, data: bytes) -> bool:
    try:
        for text in [data] if path.endswith(".json") else data.splitlines() if path.endswith(".jsonl") else []:
            json.loads(text)
    except ValueError:
        return False
    return True


def _fact_id(yard: Yard) -> str:
    lines = (yard.root / ".memory/facts.jsonl").read_text().splitlines()
    return str(next(json.loads(line)["id"] for line in lines if "The base holds." in line))
