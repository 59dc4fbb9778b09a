"""The tools over the profile: who works here and how, under the names that assistants know them by."""

from __future__ import annotations

from typing import Annotated

import msgspec

from quire.layers.profile.layout import CATEGORIES, RELATIONS, SOURCES, VALUE_CHARS
from quire.surfaces.mcp import profile_calls as calls
from quire.surfaces.mcp.tool import Question, Tool, Words
from quire.verbs.verb import Arguments


def _one_of(allowed: tuple[str, ...]) -> msgspec.Meta:
    """A word of a closed set, for clients to see. The project judges it, since it says which words are meant."""
    return msgspec.Meta(max_length=200, extra_json_schema={"enum": list(allowed)})


Category = Annotated[str, _one_of(CATEGORIES)]
# Documents of other programs have other categories and longer keys; whatever is there can be named.
Name = Annotated[str, msgspec.Meta(max_length=512)]


class RememberArguments(Arguments, frozen=True, kw_only=True):
    category: Category
    key: Annotated[Name, msgspec.Meta(description="short, such as package_manager")]
    value: Annotated[str, msgspec.Meta(max_length=VALUE_CHARS, description="best under 500 characters")]
    tags: Annotated[Words, msgspec.Meta(description="added to those it has")] | None = None
    importance: Annotated[int, msgspec.Meta(ge=1, le=10)] | None = None
    source_type: Annotated[str, _one_of(SOURCES)] | None = None
    confidence: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None
    force: Annotated[bool, msgspec.Meta(description="even if another entry says the same")] = False
    broad: Annotated[bool, msgspec.Meta(description="look for such an entry in every category")] = False


class EntryArguments(Arguments, frozen=True, kw_only=True):
    category: Name
    key: Name


class RecallArguments(Arguments, frozen=True, kw_only=True):
    category: Annotated[Name, msgspec.Meta(description=", ".join(CATEGORIES))]
    key: Name | None = None


class SearchArguments(Arguments, frozen=True, kw_only=True):
    query: Question
    category: Category | None = None
    strict: Annotated[bool, msgspec.Meta(description="clear answers only")] = False


class ExportArguments(Arguments, frozen=True, kw_only=True):
    output_format: Annotated[str, _one_of(("markdown", "json"))] = "markdown"


class EndsArguments(Arguments, frozen=True, kw_only=True):
    """The two ends of a link."""

    source_category: Name
    source_key: Name
    target_category: Name
    target_key: Name

    def ends(self) -> tuple[str, str]:
        return f"{self.source_category}.{self.source_key}", f"{self.target_category}.{self.target_key}"


class LinkArguments(EndsArguments, frozen=True, kw_only=True):
    relation: Annotated[str, _one_of(RELATIONS)]


class UnlinkArguments(EndsArguments, frozen=True, kw_only=True):
    relation: Annotated[str, _one_of(RELATIONS)] | None = None


PROFILE = (
    Tool(
        name="session_start",
        title="Begin a session",
        says="Profile: counts a session and tells what matters now of the user, the assistant and how they work. Use "
        "it once, when a conversation begins. Not to look again later: recall or search.",
        takes=Arguments,
        gives={"session_count": "integer", "categories": "object", "total": "integer", "context": "string"},
        run=calls.session_start,
        writes=True,
        repeatable=False,
    ),
    Tool(
        name="remember",
        title="Remember an entry",
        says="Profile: adds an entry, or changes the one of that key; what is not given stays. If another says the "
        "same, nothing is written and it is shown. Use it when the user states a preference or habit, or a lesson "
        "was learned. Not for the product: save_memory, memory_store. Never for secrets.",
        takes=RememberArguments,
        gives={"action": "string"},
        run=calls.remember,
        writes=True,
        destructive=True,
    ),
    Tool(
        name="forget",
        title="Forget an entry",
        says="Profile: removes an entry and the links to it. Use it when the user asks for that. It can be brought "
        "back: `memory profile restore CATEGORY KEY`. Not to correct an entry: remember.",
        takes=EntryArguments,
        gives={"removed": "object", "backup_path": "string"},
        run=calls.forget,
        writes=True,
        destructive=True,
    ),
    Tool(
        name="recall",
        title="Recall entries by name",
        says="Profile: one entry in full, or the active ones of a category. Use it when you know the name. Not for "
        "questions: search.",
        takes=RecallArguments,
        gives={"entries": "object"},
        run=calls.recall,
    ),
    Tool(
        name="search",
        title="Search the profile",
        says="Profile: the entries that bear on a question, by words and meaning, the best first. Use it for who the "
        "user is, habits, preferred tools, lessons. Not for the product or its code: query_memory.",
        takes=SearchArguments,
        gives={"results": "array"},
        run=calls.search,
    ),
    Tool(
        name="status",
        title="Counts of the profile",
        says="Profile: only counts, of entries by category and status, links, sessions. Not for what they say: "
        "session_start, recall. For the project: status_memory.",
        takes=Arguments,
        gives={"categories": "object", "total": "integer", "session_count": "integer"},
        run=calls.status,
    ),
    Tool(
        name="export_memories",
        title="Export the profile",
        says="Profile: all active entries as Markdown, or the document as JSON; long. Private entries are left out. "
        "Use it only when the user wants a copy. Otherwise recall or search.",
        takes=ExportArguments,
        gives={"content": "string"},
        run=calls.export_memories,
    ),
    Tool(
        name="about_me",
        title="About the user",
        says="Profile: a page on the user, with the preferences that face them. Use it to adapt to the person. Not "
        "for one detail: recall.",
        takes=Arguments,
        gives={"profile": "string"},
        run=calls.about_me,
    ),
    Tool(
        name="about_us",
        title="About working together",
        says="Profile: a page on how user and assistant work together, and who the assistant is. Not on the user "
        "alone: about_me.",
        takes=Arguments,
        gives={"profile": "string"},
        run=calls.about_us,
    ),
    Tool(
        name="reflect",
        title="What could be tidied up",
        says="Profile: entries nobody reads, ones to archive, confidences that do not fit. Changes nothing: ask the "
        "user, then remember, forget or `memory profile reflect --apply all`.",
        takes=Arguments,
        gives={
            "stale_entries": "array",
            "archival_candidates": "array",
            "confidence_updates": "array",
            "summary": "object",
        },
        run=calls.reflect,
    ),
    Tool(
        name="connections",
        title="Links of an entry",
        says="Profile: what an entry links to, and what links to it. Not for other layers: inspect_memory.",
        takes=EntryArguments,
        gives={"outgoing": "array", "incoming": "array"},
        run=calls.connections,
    ),
    Tool(
        name="add_link",
        title="Link two entries",
        says="Profile: says how one entry stands to another; what is superseded is archived. Entries that share two "
        "tags are linked anyway. Not for facts: memory_connect.",
        takes=LinkArguments,
        gives={"link_created": "boolean"},
        run=calls.add_link,
        writes=True,
    ),
    Tool(
        name="remove_link",
        title="Unlink two entries",
        says="Profile: takes the links from one entry to another away, all or those of one relation. The entries "
        "stay: forget removes one.",
        takes=UnlinkArguments,
        gives={"link_removed": "boolean"},
        run=calls.remove_link,
        writes=True,
        destructive=True,
    ),
)
