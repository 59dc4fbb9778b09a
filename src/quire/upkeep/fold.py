"""Take in what branches appended to a layer before something is written to it on the default branch."""

from __future__ import annotations

from quire.files.branches import writes_fragments
from quire.layers.protocol import Site
from quire.layers.table import layer_named
from quire.model.vocabulary import LayerName


def fold_due(site: Site, name: LayerName) -> None:
    """Fold a layer's fragments if this is the default branch; the caller holds the lock."""
    layer = layer_named(name)
    if layer.fragments(site) and not writes_fragments(site):
        layer.fold(site)
