"""The table of layers. To add a layer is to write its package and one line here."""

from __future__ import annotations

from quire.layers.facts.layer import FactsLayer
from quire.layers.graph.layer import GraphLayer
from quire.layers.journal.layer import JournalLayer
from quire.layers.profile.layer import ProfileLayer
from quire.layers.protocol import Home, Layer

LAYERS: tuple[Layer, ...] = (GraphLayer(), FactsLayer(), ProfileLayer(), JournalLayer())
HOMES: tuple[Home, ...] = tuple(dict.fromkeys(layer.home for layer in LAYERS))
"""The folders that layers keep their files in, in the order in which they are repaired."""
_BY_NAME: dict[str, Layer] = {layer.name: layer for layer in LAYERS}


def layer_named(name: str) -> Layer:
    return _BY_NAME[name]


def layers_in(folder: str) -> list[Layer]:
    """The layers that keep their files in a folder."""
    return [layer for layer in LAYERS if layer.home.folder == folder]


def layer_of_file(path: str) -> Layer | None:
    """The layer that a file, from the project's root, belongs to; None for what is none's, or is not the truth."""
    for layer in LAYERS:
        if any(path == tracked or ("/" in tracked and path.startswith(f"{tracked}/")) for tracked in layer.tracked):
            return layer
    top, _, rest = path.partition("/")
    layers = (layer for layer in LAYERS if top in layer.tracked)
    return next((layer for layer in layers if rest.partition("/")[0] not in layer.home.generated), None)


def tracked_paths() -> list[str]:
    """The files and folders of all layers that git keeps; no file is named that one of the folders holds."""
    paths = [path for layer in LAYERS for path in layer.tracked]
    return [path for path in paths if not any(path.startswith(f"{other}/") for other in paths)]


def path_from_root(layer: str, path: str) -> str:
    """A layer's file as seen from the project's root."""
    return f"{_BY_NAME[layer].home.folder}/{path}"
