"""What every reading of the profile begins with: nothing of a dead writer is left half done."""

from __future__ import annotations

from quire.files.world import World
from quire.files.write_access import (
    LOCAL,
    recover_folder,
)
from quire.layers.profile.layout import (
    FOLDER,
    HOME_FOLDER,
    LOCK,
)
from quire.layers.profile.places import AT_HOME, Places


def recover_profile(places: Places, world: World) -> None:
    """Before a read: complete what a dead writer left."""
    recover_folder(places.root, FOLDER, world, written=(LOCAL,), lock=LOCK)
    if places.private == AT_HOME:
        recover_folder(places.home, HOME_FOLDER, world, lock=LOCK)
