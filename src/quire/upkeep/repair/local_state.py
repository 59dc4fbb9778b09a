"""Set aside damaged machine-local files and keep what can be read.

Where the private entries of the profile are is not guessed: that setting is for a person to say again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from quire.files.digests import sha256
from quire.files.local_files import ASIDE, LOCAL_BYTES
from quire.files.paths import read_inside
from quire.files.transaction import FileUpdate
from quire.files.write_access import LOCAL, MEMORY
from quire.inbox.store import sound_lines
from quire.layers.table import LAYERS
from quire.model.records import Mend, Problem

CODE = "LocalStateDamaged"
_BYTES = 4 * LOCAL_BYTES


_SOUND: dict[str, Callable[[bytes], bytes]] = {
    f"{MEMORY}/{LOCAL}/inbox.jsonl": sound_lines,
    **{path: sound for layer in LAYERS for path, sound in layer.set_aside.items()},
}
"""What of a file goes on; a file of which nothing does is removed."""


def repairs_itself(problem: Problem) -> bool:
    return problem.code == CODE and any(problem.path in layer.sets_itself_aside for layer in LAYERS)


def plan_local_state(root: str, top: str, problems: Iterable[Problem]) -> tuple[list[Mend], list[FileUpdate]]:
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
            FileUpdate(path=aside.removeprefix(f"{top}/"), data=data, planned=None),
            FileUpdate(path=problem.path.removeprefix(f"{top}/"), data=rest, planned=sha256(data)),
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
