"""Random histories of branches that write to every layer, put together by git in every way it has."""

from __future__ import annotations

import contextlib
import json
import os
import random
import socketserver
import subprocess
import sys
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
from quire.verbs.graph.confirm import Confirm, confirm
from quire.verbs.graph.save import save_nodes
from quire.verbs.graph.sync import Sync, sync
from quire.verbs.journal.recall import JournalRecall, journal_recall
from quire.verbs.team.fold import Fold, fold
from quire.verbs.team.merge_driver import DriverFiles, drive

__all__ = ["Drivers", "History", "begin"]

STAGES = ("idea", "building", "shipped", "paused")
CITIES = ("Oslo", "Bergen", "Tromsø")
PARAGRAPHS = 6
BRANCHES = 5
_CLIENT = f"""#!{sys.executable} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as line:
    line.connect(os.path.join(os.path.dirname(os.path.abspath(__file__)), "driver.sock"))
    line.sendall(json.dumps([os.getcwd(), *sys.argv[1:]]).encode() + b"\\n")
    sys.exit(int(line.makefile().readline()))
"""


class Drivers:
    """The merge driver for many merges: git starts a small client, and one process answers all of them."""

    def __init__(self, folder: Path, world: World) -> None:
        self.program = folder / "quire"
        self.program.write_text(_CLIENT)
        self.program.chmod(0o755)
        self.problems: list[str] = []

        class Handler(socketserver.StreamRequestHandler):
            def handle(handler) -> None:  # noqa: N805
                cwd, *words = json.loads(handler.rfile.readline())
                handler.wfile.write(b"%d\n" % self.merge(world, cwd, words))

        self._server = socketserver.UnixStreamServer(str(folder / "driver.sock"), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def merge(self, world: World, cwd: str, words: list[str]) -> int:
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
        self._server.shutdown()
        self._server.server_close()


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

    def git(self, *words: str) -> bool:
        """Whether git did it; what is left in conflict is then somebody's to settle."""
        line = ["git", *words]
        done = subprocess.run(line, cwd=self.yard.root, env=self.yard.git.env, capture_output=True, check=False)
        return done.returncode == 0

    # -- branches -------------------------------------------------------------------------------------------------

    def branch(self, name: str, start: str = "main") -> None:
        self.yard.git("checkout", "--quiet", "-b", name, start)
        self.work(name)

    def work(self, name: str) -> None:
        for _ in range(self.chance.randint(1, 3)):
            self.act(name)
            if self.chance.random() < 0.5:
                self.yard.git.commit(name)
        self.yard.git.commit(name)

    def act(self, branch: str) -> None:
        self.number += 1
        name = f"{branch}-{self.number}"
        acts: list[Callable[[str, str], Act]] = [
            self._node, self._fact, self._entry, self._rejection, self._stage, self._tag, self._paragraph, self._city,
            self._archive, self._confirm, self._sync, self._session, self._recall,
            self._supersede, self._delete, self._relate, self._forget,
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
            assert b"<<<<<<<" not in data, path
            if path.endswith(".json"):
                json.loads(data)
            elif path.endswith(".jsonl"):
                for line in data.splitlines():
                    json.loads(line)
        everything = b"\n".join(files.values()).decode()
        lost = {text for text in self.told.texts if text not in everything}
        assert not lost, lost
        found = self.yard.checked()
        if {code for codes in found.values() for code in codes} == {"RelationEndpointMissing"}:
            check(self.yard.project, Check(repair=True))
            found = self.yard.checked()
        assert found == {}
        contested = {
            field.field: set(field.values) for path, data in files.items() for field in self._contested(path, data)
        }
        for field, name in (("stage", "stage"), ("value", "city"), ("superseded_by", "superseded_by")):
            said = set(self.told.fields.get(name, {}).values())
            before = {"stage": {"building"}, "city": {"London"}}.get(name, set())
            if len(said - before) < 2:
                assert field not in contested, (field, said, contested)
            assert contested.get(field, set()) <= said | before
        assert contested.keys() <= {"stage", "value", "superseded_by"}, contested

    def _contested(self, path: str, data: bytes) -> list[Any]:
        layer = layer_of_file(path)
        return layer.contested_in(path, data) if layer else []

    def fold(self) -> None:
        fold(self.yard.project, Fold(here=True))
        self.yard.git.commit("folded")


def _fact_id(yard: Yard) -> str:
    lines = (yard.root / ".memory/facts.jsonl").read_text().splitlines()
    return str(next(json.loads(line)["id"] for line in lines if "The base holds." in line))
