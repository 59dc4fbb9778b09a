"""Set a clone up so that git merges the memory by record: settings of the clone, and attributes in our folders.

Settings are no part of a repository, so every clone needs them once. Attributes are, and name the driver; git takes
lines of both sides (`union`), or merges texts, where a clone does not know it. Git's own `union` can be given another
program under its name, which is how logs come to us, too, without a name that others lack.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal

import msgspec

from quire.files.durable_write import write_file
from quire.files.git import Git
from quire.files.git_merge import names_driver, read_settings, remove_setting, write_setting
from quire.files.paths import inside, read_if_there, read_or_none
from quire.layers.protocol import Home, Site
from quire.layers.table import HOMES, layers_in
from quire.model.errors import GitRequired
from quire.upkeep.ignore import with_ignored
from quire.upkeep.merge.clone_rules import SHOWN, clone_rules, without_section, write_clone_rules
from quire.upkeep.merge.driver_line import driver_line

ATTRIBUTES = ".gitattributes"
RULES = ("*.json merge=quire", "*.md merge=quire", "*.jsonl merge=union")
_CALL = "merge-driver"

State = Literal["present", "missing", "changed", "foreign"]


class SetUpPart(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that a clone needs, and how it is."""

    part: Literal["driver", "paths", "rules"]
    path: str
    """Settings as `merge.NAME`, a file from the project's root."""
    state: State
    now: bytes = b""
    after: bytes = b""
    """What a file is to hold."""


def look_at_setup(site: Site, program: Sequence[str]) -> list[SetUpPart]:
    """How the clone and the folders of the memory are set up, each part by itself."""
    attributes = [_attributes_of(site.root, home) for home in HOMES if home.exists(site.root)]
    return [*_drivers(site.git, program), _paths(site.git), *attributes]


def _drivers(git: Git, program: Sequence[str]) -> list[SetUpPart]:
    settings = read_settings(git, r"^merge\.(quire|union)\.driver$")
    return [_driver(name, settings.get(f"merge.{name}.driver"), lines["driver"]) for name, lines in _wanted(program)]


def _driver(name: str, now: str | None, wanted: str) -> SetUpPart:
    state: State = "missing" if now is None else "present" if now == wanted else "changed"
    if now is not None and _CALL not in now:
        state = "foreign"
    return SetUpPart(part="driver", path=f"merge.{name}", state=state)


def _wanted(program: Sequence[str]) -> list[tuple[str, dict[str, str]]]:
    """The settings by the name of the driver."""
    folders = [home.folder for home in HOMES]
    quire = {"driver": driver_line(program), "name": "the memory, by record (Quire)"}
    union = {"driver": driver_line(program, folders, union=True), "name": "lines of both sides; the memory, by record"}
    return [("quire", quire), ("union", union)]


def _paths(git: Git) -> SetUpPart:
    now, after = clone_rules(git)
    state: State = "present" if now == after else "missing" if without_section(now) == now else "changed"
    return SetUpPart(part="paths", path=SHOWN, state=state, now=now, after=after)


def _attributes_of(root: str, home: Home) -> SetUpPart:
    path = f"{home.folder}/{ATTRIBUTES}"
    now = read_if_there(inside(root, path))
    after = with_ignored(now or b"", RULES)
    state: State = "present" if after == now else "missing" if b"merge=quire" not in (now or b"") else "changed"
    return SetUpPart(part="rules", path=path, state=state, now=now or b"", after=after)


def set_up(site: Site, program: Sequence[str], parts: Sequence[SetUpPart]) -> None:
    """Put in place what is not there; a driver that someone else set stays."""
    settings = dict(_wanted(program))
    for part in parts:
        if part.state in ("present", "foreign"):
            continue
        if part.part == "driver":
            name = part.path.rpartition(".")[2]
            for key, value in settings[name].items():
                write_setting(site.git, f"merge.{name}.{key}", value)
        elif part.part == "paths":
            write_clone_rules(site.git, site.world, part.after)
        else:
            _write(site, part)


def _write(site: Site, part: SetUpPart) -> None:
    folder = part.path.partition("/")[0]
    with layers_in(folder)[0].access(site, "integrate git"):
        expects = part.now if os.path.lexists(inside(site.root, part.path)) else None
        write_file(inside(site.root, part.path), part.after, site.world.token(), expects)


def take_back(site: Site, parts: Sequence[SetUpPart]) -> None:
    """Take our settings out of the clone. The attributes stay: other clones go by them, and git can do without."""
    for part in parts:
        if part.part == "driver" and part.state in ("present", "changed"):
            for key in ("driver", "name"):
                remove_setting(site.git, f"{part.path}.{key}")
        elif part.part == "paths" and part.state != "missing":
            write_clone_rules(site.git, site.world, without_section(part.now))


def lacks_driver(site: Site) -> bool:
    """Whether the attributes name our driver and nobody told git what it is: looked up without starting git."""
    if not site.git.available or not names_rules(site.root):
        return False
    env = site.world.env
    return not names_driver(site.git, site.world.home, env.get("XDG_CONFIG_HOME", ""))


def names_rules(root: str) -> bool:
    """Whether attributes of our folders name the driver."""
    files = (os.path.join(root, home.folder, ATTRIBUTES) for home in HOMES)
    return any(b"merge=quire" in (read_or_none(path) or b"") for path in files)


def why_not(site: Site) -> str:
    """Why a clone cannot be set up; empty where it can."""
    if not site.git.available:
        return "this folder is not in a git repository, or git is not installed"
    try:
        site.git.id_chars()
    except GitRequired as error:
        return error.message.rstrip(".")
    return ""
