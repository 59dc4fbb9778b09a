"""How a verb is declared once: arguments, function, result, lines.

The command line, completion, the MCP schema and text, the JSON and the reference pages are derived from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_type_hints

import msgspec

from quire.model.records import Problem

if TYPE_CHECKING:
    from quire.project import Project


class Option(msgspec.Struct, frozen=True, kw_only=True):
    """A field of the arguments that is given as `--name VALUE`, or as a switch where the field is a bool."""

    help: str
    name: str = ""
    """By default the name of the field, with dashes."""
    metavar: str = ""
    short: str | None = None
    also: tuple[str, ...] = ()
    """Other names of it, which the original program had."""
    choices: tuple[str, ...] = ()
    bare: str | None = None
    """The value where the option stands alone, if it may."""
    show_default: bool = False
    tool: bool = True
    """Whether the tool takes it, too."""
    commas: bool = False
    """Whether a list is given as one value with commas; `choices` are then what it may name."""
    is_path: bool = False
    """Whether it may hold bytes that are no text, as names of files do."""
    clears: tuple[str, ...] = ()
    """Words that stand for None, which takes away what there was; a field that is left out is UNSET then."""


class Word(msgspec.Struct, frozen=True, kw_only=True):
    """A field of the arguments that stands by itself on the command line; a list takes all words that are left."""

    name: str = ""
    """What help calls it; by default the name of the field."""
    required: bool = True
    joined: bool = False
    """Whether all words that are left make up one text."""
    stdin: str = ""
    """What standard input holds where the word is `-` or missing; of many words, where `-` is the only one."""
    unless: str = ""
    """The field that makes it superfluous: where that is given, standard input is not read."""
    only_dash: bool = False
    """Whether standard input is read for `-` alone, and not where the word is missing."""
    secret: bool = False
    """Whether it never stands on the command line, which shells remember; a terminal asks, and does not show it."""
    is_path: bool = False
    """Whether it may hold bytes that are no text, as names of files do."""


class Input(msgspec.Struct, frozen=True, kw_only=True):
    """A field that takes bytes from standard input or a file; `source` of the arguments then names where from."""

    what: str
    stdin: str = ""
    """The help of `--stdin`, where there is such an option."""
    file: str = ""
    """The help of `--file`, where there is such an option."""
    word: str = ""
    """The name of the word that names the file, where there is one."""
    most: int = 0
    """How many bytes at most; the usual limit by default."""
    wait_seconds: float = 0
    """Where not 0, standard input need not hold anything, and is read only if something comes within this time."""

    @property
    def is_path(self) -> bool:
        """Whether a word names the file."""
        return bool(self.word)


class Arguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every verb takes; each adds its own. Unknown names are refused, so that no wish is silently dropped."""

    project_root: Annotated[str, msgspec.Meta(max_length=4096)] | None = None
    """For tools: another initialised project than the one the server stands in."""


Style = Literal["bold", "dim", "red", "yellow", "green", "cyan"]


class Recalled(msgspec.Struct, frozen=True, kw_only=True):
    """A line that repeats what the memory holds: a tool puts it between marks that say who said it."""

    text: str
    ref: str = ""
    origin: str = ""
    verdict: str = ""
    lead: str = ""
    """What stands before it on the same line, in our own words."""
    style: Style | None = None
    is_news: bool = True
    """Whether whoever called a tool does not know it yet; what they have just said is not said again."""
    most: int = 0
    """How many characters of it a tool reads out; 0 for all."""
    verbatim: bool = False
    """Whether a program reads it from a command, which then writes it as it is."""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a table: columns on a terminal (the last is cut to fit), with tabs for programs, data for agents."""

    cells: tuple[str, ...]


class Aside(msgspec.Struct, frozen=True, kw_only=True):
    """A remark beside the output: a command writes it to standard error."""

    text: str


class Output(msgspec.Struct, frozen=True, kw_only=True):
    """What a program reads from a command; a tool gives the same in its fields."""

    text: str


class Styled(msgspec.Struct, frozen=True, kw_only=True):
    """A line of our own that a terminal shows in bold or in a colour."""

    text: str
    style: Style


class LaidOut(msgspec.Struct, frozen=True, kw_only=True):
    """A text of many lines that a verb has fitted into a budget, with its own marks where `fenced` gave it some."""

    text: str


Line = str | Recalled | Row | Aside | Output | Styled | LaidOut
Lines = Iterator[Line]


class Result(msgspec.Struct, kw_only=True):
    """What came of a verb; JSON is its plain form, and the envelope carries the warnings."""

    NOT_FOR_TOOLS: ClassVar[tuple[str, ...]] = ()
    """Fields that tell an agent nothing, such as the question that it has just asked."""
    LISTED_FOR_TOOLS: ClassVar[int] = 0
    """Longer lists are cut for agents, and `more` says by how much; 0 leaves them whole."""
    NOT_IN_JSON: ClassVar[tuple[str, ...]] = ()
    """Fields that only the lines need, such as what was asked to be shown."""
    RECALLED: ClassVar[tuple[str, ...]] = ()
    """Fields that repeat what the memory holds: a tool flags them where they read like instructions."""
    warnings: list[Problem] = []
    nothing: str = ""
    """What a reader is reported where there is nothing; no part of the JSON."""

    def is_incomplete(self) -> bool:
        """Whether something that was asked for was not done: exit code 1, and an error to a tool's caller."""
        return False

    def exit_code(self) -> int:
        """What the command ends with."""
        return 1 if self.is_incomplete() else 0

    def fields(self) -> Any:
        """What the JSON holds, a struct or a dict, where that is not simply the fields of the result."""
        return None

    def about(self, project: Project | None) -> Project | None:
        """The project that the envelope names; None where the answer is not about one."""
        return project

    def tool_fields(self) -> dict[str, Any] | None:
        """What a tool gives, where clients of other programs know it in another form than the command's."""
        return None


class View(msgspec.Struct, kw_only=True):
    """A record as a result shows it; in plain form its verdict is a word, and what its text could do is flagged."""

    NOT_FOR_TOOLS: ClassVar[tuple[str, ...]] = ()
    """Fields that say nothing which an agent needs."""

    def origin_for_tools(self) -> str:
        """Who said it."""
        return ""


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """How MCP clients see a verb; its name is in the table of verbs."""

    title: str
    says: str
    gives: Mapping[str, str] = {}
    """Fields of the result that are always there, each with its JSON type."""
    schema: Mapping[str, Any] = {}
    """Properties to show instead of those of the arguments, where the verb itself judges the input."""
    needs: tuple[str, ...] = ()
    """Arguments that a tool's call must have, though the command can do without."""
    given: Mapping[str, Any] = {}
    """Arguments that a tool's call always has, such as its source."""
    destructive: bool = False
    repeatable: bool = True
    """Whether doing it twice is the same as doing it once."""


class Verb(msgspec.Struct, frozen=True, kw_only=True):
    """A verb. The help text of its command is the function's docstring, followed by the examples."""

    run: Callable[..., msgspec.Struct]
    lines: Callable[[Any], Lines]
    takes: type[Arguments] = Arguments
    examples: str = ""
    recorded_lines: Callable[[Any], Lines] | None = None
    """What `agent-memory` prints in place of `lines`, where programs read what that name has always printed."""
    writes: bool = False
    tool: Tool | None = None
    alone: bool = False
    """Whether it is what its group of verbs does where none of them is named."""
    hidden: bool = False
    """Whether help leaves it out: it is for the program itself."""
    counts: str = ""
    """What `Project.progress` counts: a command shows a bar of it on a terminal."""
    over: Literal["project", "machine"] = "project"
    """What `run` is called with: one project, or the `World`, where it is about all projects of this machine."""
    fenced: bool = False
    """Whether `run` also takes `fence`, the marks for a tool's caller, because they count for a budget."""


@cache
def hints_of(takes: type[Arguments]) -> Mapping[str, Any]:
    """The fields of arguments, each with its type and its marks."""
    return get_type_hints(takes, include_extras=True)


def defaults_of(takes: type[Arguments]) -> dict[str, Any]:
    """The fields of arguments that may be left out, each with its default."""
    pairs = zip(reversed(takes.__struct_fields__), reversed(takes.__struct_defaults__), strict=False)
    return {name: value for name, value in pairs if value is not msgspec.NODEFAULT}


@cache
def cli_marks(takes: type[Arguments]) -> Mapping[str, tuple[Option | Word | Input, Any]]:
    """The fields that the command line takes, each with its mark and its type."""
    found: dict[str, tuple[Option | Word | Input, Any]] = {}
    for name, hint in hints_of(takes).items():
        for mark in getattr(hint, "__metadata__", ()):
            if isinstance(mark, Option | Word | Input):
                found[name] = mark, hint
    return found


def command_only(takes: type[Arguments]) -> tuple[str, ...]:
    """The fields that no tool takes: options of the command alone, and what it reads from files."""
    marks = {name: mark for name, (mark, _) in cli_marks(takes).items()}
    read = [name for name, mark in marks.items() if isinstance(mark, Input)]
    options = [name for name, mark in marks.items() if isinstance(mark, Option) and not mark.tool]
    return (*options, *read, *(["source"] if read else []))
