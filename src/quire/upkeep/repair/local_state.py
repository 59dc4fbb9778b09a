"""Files of this machine that cannot be used as they are: kept beside their place, and what can be read goes on.

Where the private entries of the profile are is not guessed: that setting is for a person to say again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from quire.files.digests import sha256
from quire.files.local_files import ASIDE, LOCAL_BYTES
from quire.files.paths import read_inside
from quire.files.transaction import Change
from quire.files.write_access import LOCAL
from quire.inbox.store import read_inbox, sound_lines
from quire.layers.facts.working import working_problem
from quire.layers.graph.layout import FOLDER
from quire.layers.profile.forgotten import sound_forgotten
from quire.layers.profile.layout import FOLDER as PROFILE_FOLDER
from quire.layers.profile.layout import FORGOTTEN
from quire.model.records import Mend, Problem

CODE = "LocalStateDamaged"
_BYTES = 4 * LOCAL_BYTES


def _nothing(_data: bytes) -> bytes:
    return b""


_SOUND: dict[str, Callable[[bytes], bytes]] = {
    f"{FOLDER}/{LOCAL}/inbox.jsonl": sound_lines,
    f"{FOLDER}/{LOCAL}/working.json": _nothing,
    f"{PROFILE_FOLDER}/{FORGOTTEN}": sound_forgotten,
}
"""What of a file goes on; a file of which nothing does is removed."""
_ITSELF = (f"{PROFILE_FOLDER}/{LOCAL}/access.jsonl", f"{PROFILE_FOLDER}/{LOCAL}/access-folding.jsonl")
"""The next change sets them aside."""


def local_problems(root: str) -> list[Problem]:
    """What of the state of this machine, in the memory's folder, cannot be used."""
    working = working_problem(root)
    return [*read_inbox(root).problems, *([working] if working is not None else [])]


def repairs_itself(problem: Problem) -> bool:
    return problem.code == CODE and problem.path in _ITSELF


def plan_local_state(root: str, top: str, problems: Iterable[Problem]) -> tuple[list[Mend], list[Change]]:
    """Set aside what cannot be used, below the layer's folder."""
    mends, changes = [], []
    for problem in problems:
        sound = _SOUND.get(problem.path)
        if problem.code != CODE or sound is None or not problem.path.startswith(f"{top}/"):
            continue
        try:
            data = read_inside(root, problem.path, _BYTES)
        except OSError:
            continue  # a link, a folder, a file of somebody else
        aside = _free(root, problem.path + ASIDE)
        rest = sound(data) or None
        changes += [
            Change(path=aside.removeprefix(f"{top}/"), data=data, planned=None),
            Change(path=problem.path.removeprefix(f"{top}/"), data=rest, planned=sha256(data)),
        ]
        said = f"It is kept as {aside}; what can be read of it goes on."
        mends.append(Mend(code=CODE, path=problem.path, message=said))
    return mends, changes


def _free(root: str, wanted: str) -> str:
    number, free = 1, wanted
    while os.path.lexists(os.path.join(root, free)):
        number += 1
        free = f"{wanted}-{number}"
    return free
