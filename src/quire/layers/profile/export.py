"""The profile as one document, to be taken elsewhere."""

from __future__ import annotations

from quire.layers.profile.document import empty_document
from quire.layers.profile.layout import FILE, FOLDER
from quire.layers.profile.places import ProfilePlaces
from quire.layers.profile.store import read_documents


def export_document(places: ProfilePlaces, *, private: bool = True) -> str:
    """The document as it is stored; with what is private in it, unless that is to be left out."""
    shared, own = read_documents(places)
    document = shared or empty_document(f"{FOLDER}/{FILE}")
    if own is not None and private:
        for category in own.categories():
            for key in own.keys(category):
                fields = own.fields(category, key)
                if fields is not None:
                    if category not in document.categories():
                        document.clear(category)  # only here: nothing of this is written
                    document.put(category, key, fields)
    return document.render().decode("utf-8")


def size_text(size: int) -> str:
    """`191 B`, `4.6 KB`, `1.2 MB`."""
    if size < 1024:
        return f"{size} B"
    return f"{size / 1024:.1f} KB" if size < 1024 * 1024 else f"{size / 1024 / 1024:.1f} MB"
