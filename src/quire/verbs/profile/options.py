"""Options that several verbs of the profile take."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from quire.layers.profile.layout import CATEGORIES, RELATIONS
from quire.model.errors import UsageError
from quire.verbs.verb import Arguments, Option, Word


def one_of(allowed: tuple[str, ...]) -> Meta:
    """A word of a closed set, for clients to see. The layer judges it, since it says which words are meant."""
    return Meta(max_length=200, extra_json_schema={"enum": list(allowed)})


Category = Annotated[str, one_of(CATEGORIES)]
# Documents of other programs have other categories and longer keys; whatever is there can be named.
Name = Annotated[str, Meta(max_length=512)]
Relation = Annotated[str, one_of(RELATIONS)]
Everything = Annotated[bool, Option(name="--all", help="Include what is archived or superseded.", tool=False)]
DryRun = Annotated[bool, Option(help="Show what would change, write nothing.", tool=False)]


class EntryName(Arguments, frozen=True, kw_only=True):
    """An entry in two words, or as lists show it: `tools.editor` or `profile:tools.editor`."""

    category: Annotated[Name, Word()]
    key: Annotated[Name | None, Word(required=False)] = None

    def entry(self, example: str) -> tuple[str, str]:
        """The category and the key."""
        category, key = split_entry(self.category, self.key)
        if key is None:
            raise UsageError("Name a category and a key.", hint=f"memory profile {example}")
        return category, key


def split_entry(category: str, key: str | None) -> tuple[str, str | None]:
    """A category and a key, also where one word names both."""
    first, dot, rest = category.removeprefix("profile:").partition(".")
    return (first, rest) if key is None and dot and rest else (category, key)


class LinkEnds(Arguments, frozen=True, kw_only=True):
    """The two ends of a link, as tools name them."""

    source_category: Name
    source_key: Name
    target_category: Name
    target_key: Name

    def source(self) -> str:
        return f"{self.source_category}.{self.source_key}"

    def target(self) -> str:
        return f"{self.target_category}.{self.target_key}"
