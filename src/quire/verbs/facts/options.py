"""Options that several verbs of the facts take."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from quire.layers.facts.layout import CONTENT_CHARS, SECTIONS
from quire.verbs.verb import Option, Word

Ref = Annotated[str, Meta(min_length=1, max_length=512)]
Refs = Annotated[list[Ref], Meta(max_length=200)]
FactIds = Annotated[Refs | Ref | None, Word(name="facts", required=False)]
SectionName = Annotated[str, Meta(max_length=80)]
Content = Annotated[str, Meta(min_length=1, max_length=CONTENT_CHARS)]
Reason = Annotated[str, Meta(max_length=2000)]
Tags = Annotated[list[Annotated[str, Meta(max_length=80)]], Meta(max_length=64)]
MindName = Annotated[str, Meta(max_length=160)]
SessionName = Annotated[str, Meta(max_length=160)]
Date = Annotated[str, Meta(max_length=40, description="such as 2026-03-02")]
Many = Annotated[int, Meta(ge=1, le=50)]

DryRun = Annotated[bool, Option(help="Show what would change, write nothing.")]
Mind = Annotated[
    MindName | None, Option(metavar="NAME", help="The mind whose facts to use; the default mind if left out.")
]
OneSection = Annotated[SectionName | None, Option(metavar="NAME", help="Only this section.")]
Session = Annotated[str | None, Option(metavar="ID", help="The session that stores it.", tool=False)]
Source = Annotated[str, Option(metavar="NAME", help="The source, for the record.", show_default=True, tool=False)]
WorkingSession = Annotated[
    SessionName, Option(metavar="ID", help="The session whose working memory to use; by default one shared by all.")
]

STRING = {"type": "string"}
SECTION_SCHEMA = {"type": "string", "enum": list(SECTIONS)}
IDS_SCHEMA = {"type": "array", "items": STRING, "maxItems": 200}
FROM_TOOL = {"source": "mcp"}


def named(ids: list[str] | str | None) -> list[str]:
    """Ids as a list, also where a tool sent one alone."""
    return [ids] if isinstance(ids, str) else ids or []
