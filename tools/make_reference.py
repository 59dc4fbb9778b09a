"""Write what the reference pages repeat of declarations: options of commands, arguments, limits and hints of tools.

The names, values and limits are made of the declarations; what an option means stays as the page says it, and begins as
the option's help. `--check` writes nothing and ends with 1 where a page is out of date.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from quire.surfaces.cli.commands import CliOption, Command
from quire.surfaces.cli.main import COMMANDS, find_command
from quire.surfaces.mcp.catalogue import TOOLSETS, chosen_tools
from quire.surfaces.mcp.schemas import input_schema, tool_fields
from quire.surfaces.mcp.tool import ServedTool
from quire.verbs.verb import Option, cli_marks

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "docs" / "reference"
OPTIONS = "| Option | Meaning |"
OPTIONS_OF = "| Option | Of | Meaning |"
ARGUMENTS = "| Argument | Value | Meaning |"
LISTS = {"Sections": "a section", "Categories": "a category", "Relations of the profile": "a relation"}
"""Headings of the page on tools that list words which many arguments take."""
_CELLS = re.compile(r"(?<!\\)\|")


def pages() -> dict[Path, str]:
    """Each page, as it should be."""
    made: dict[str, Callable[[str], str]] = {"cli.md": commands_page, "mcp-tools.md": tools_page}
    return {REFERENCE / name: make((REFERENCE / name).read_text(encoding="utf-8")) for name, make in made.items()}


# -- commands -------------------------------------------------------------------------------


def commands_page(text: str) -> str:
    parts: dict[str, list[tuple[str, CliOption]]] = {}
    for path, command in commands():
        home = path
        while _own_part(text, home) is None and " " in home:
            home = home.rpartition(" ")[0]
        if " " not in home:
            sys.exit(f"docs/reference/cli.md has no heading `{path}`: write one, and what the command does.")
        rest = path.removeprefix(home).strip()
        parts.setdefault(home, []).extend((rest, option) for option in command.options)
    for heading, options in parts.items():
        head = OPTIONS_OF if any(rest for rest, _ in options) else OPTIONS
        text = _with_table(text, heading, head, lambda old, options=options: option_rows(options, old))
    return text


def commands() -> Iterator[tuple[str, Command]]:
    """Every command with its words, groups before what is in them."""

    def below(path: str, command: Command) -> Iterator[tuple[str, Command]]:
        yield path, command
        for name, inner in command.subcommands.items():
            yield from below(f"{path} {name}", inner)

    for name in COMMANDS:
        command = find_command(name)
        assert command is not None, name
        yield from below(f"memory {name}", command)


def option_rows(options: list[tuple[str, CliOption]], old: dict[str, list[str]]) -> list[str]:
    """A row for each option; commands without a heading of their own share the table of the command above them."""
    rows: dict[str, tuple[CliOption, list[str]]] = {}
    for rest, option in options:
        value = f" {option.metavar}" if option.metavar else ""
        value = f" [{option.metavar.strip('[]')}]" if option.metavar and option.bare is not None else value
        names = ", ".join(f"`{name}{value}`" for name in (option.short, option.name, *option.also) if name)
        rows.setdefault(names, (option, []))[1].append(rest or "alone")
    of_many = any(rest for rest, _ in options)
    made = []
    for names, (option, commands_with_it) in rows.items():
        meaning = next(
            (old[name][-1] for name in (option.name, *option.also) if name in old), (option.help or "").rstrip(".")
        )
        made.append(f"| {names} | {', '.join(commands_with_it) + ' | ' if of_many else ''}{meaning} |")
    return made


# -- tools ----------------------------------------------------------------------------------


def tools_page(text: str) -> str:
    words = {
        title: {" ".join(word.split()) for word in re.findall(r"`([^`]+)`", _section(text, title))} for title in LISTS
    }
    for tool in chosen_tools(["all"]).values():
        text = _with_table(text, tool.name, ARGUMENTS, lambda old, tool=tool: argument_rows(tool, old, words))
        text = _with_line(text, tool.name, hints(tool))
    return text


def hints(tool: ServedTool) -> str:
    """The toolsets of a tool and what it does to the memory, as one line."""
    homes = [name for name in TOOLSETS if name != "all" and tool.name in chosen_tools([name])]
    found = tool_fields(tool)["annotations"]
    said = "Read-only"
    if not found.get("readOnlyHint"):
        kind = "destructive" if found["destructiveHint"] else "additive"
        said = f"Writes, {kind}, {'repeatable' if found['idempotentHint'] else 'not repeatable'}"
    return f"Toolset{'s' if len(homes) > 1 else ''}: {', '.join(f'`{name}`' for name in homes)}. {said}"


def argument_rows(tool: ServedTool, old: dict[str, list[str]], words: dict[str, set[str]]) -> list[str]:
    checked = input_schema(msgspec.structs.replace(tool, schema={}))["properties"]
    shown = input_schema(tool)["properties"]
    marks = {name: mark for name, (mark, _) in cli_marks(tool.takes).items()}
    rows = []
    for field in msgspec.structs.fields(tool.takes):
        name = field.encode_name
        if name == "project_root" or name in tool.left_out:
            continue
        value = described(checked.get(name, {}), shown.get(name, {}), words)
        if field.required or name in tool.needs:
            value = f"required; {value}"
        elif isinstance(field.default, int | float | str) and field.default not in (False, ""):
            default = f"`{field.default}`" if isinstance(field.default, str) else f"{field.default:,g}"
            value += f"; default {default}"
        mark = marks.get(name)
        meaning = mark.help.rstrip(".") if isinstance(mark, Option) else ""
        rows.append(f"| `{name}` | {value} | {old[name][-1] if name in old else meaning} |")
    return rows


def described(checked: dict[str, Any], shown: dict[str, Any], words: dict[str, set[str]]) -> str:
    """The values of an argument, in words."""
    choices = shown.get("enum") or checked.get("enum")
    most = _at_most(checked)
    if choices:
        listed = next((title for title, known in words.items() if known == set(choices)), "")
        link = f"[{LISTS[listed]}](#{listed.lower().replace(' ', '-')})" if listed else _either(choices)
        return link + (f", at most {most} characters" if most else "")
    if "anyOf" in checked:
        return ", or ".join(dict.fromkeys(described(part, {}, words) for part in checked["anyOf"]))
    kind = checked.get("type") or shown.get("type")
    if kind == "array":
        return _list(checked, shown, words)
    if kind in ("integer", "number"):
        least, largest = checked.get("minimum"), checked.get("maximum")
        return "number" + (f", {least:,} to {largest:,}" if least is not None and largest is not None else "")
    if kind == "boolean":
        return "switch"
    return "object" if kind == "object" else "text" + (f", at most {most} characters" if most else "")


def _list(checked: dict[str, Any], shown: dict[str, Any], words: dict[str, set[str]]) -> str:
    items = {**checked.get("items", {}), **shown.get("items", {})}
    most = f"at most {checked['maxItems']:,} " if "maxItems" in checked else ""
    if items.get("type") == "object":
        names = ", ".join(items.get("properties", ()))
        return f"list of {most}objects" + (f" `{{{names}}}`" if names else "")
    if items.get("enum"):
        return f"list of {most}{described(items, {}, words)}"
    each = _at_most(checked.get("items", {}))
    return f"list of {most}texts" + (f", each at most {each} characters" if each else "")


def _at_most(schema: dict[str, Any]) -> str:
    return f"{schema['maxLength']:,}" if "maxLength" in schema else ""


def _either(choices: list[str]) -> str:
    *first, last = [f"`{word}`" for word in choices]
    return f"{', '.join(first)} or {last}" if first else last


# -- pages ----------------------------------------------------------------------------------


def _own_part(text: str, heading: str) -> re.Match[str] | None:
    """A heading and what stands below it, up to the next heading."""
    return re.search(rf"^##+ {re.escape(heading)}\n(.*?)(?=^##|\Z)", text, re.M | re.S)


def _section(text: str, heading: str) -> str:
    found = _own_part(text, heading)
    if found is None:
        sys.exit(f"The reference has no heading `{heading}`: write one, and what it is about.")
    return found[1]


def _with_table(text: str, heading: str, head: str, made: Callable[[dict[str, list[str]]], list[str]]) -> str:
    """The page, with the table of one heading written anew; it stands after the first paragraph where there is none."""
    body = _section(text, heading)
    lines = body.split("\n")
    start = lines.index(head) if head in lines else -1
    end = start
    while start >= 0 and end < len(lines) and lines[end].startswith("|"):
        end += 1
    old = {}
    for line in lines[start + 2 : end] if start >= 0 else ():
        cells = [cell.strip() for cell in _CELLS.split(line)[1:-1]]
        for name in re.findall(r"`([^` ]+)[^`]*`", cells[0]):
            old[name] = cells
    rows = made(old)
    table = [head, "|".join(["", *["---"] * (head.count("|") - 1), ""]), *rows] if rows else []
    if start < 0:
        if not rows:
            return text
        start = end = next((number for number, line in enumerate(lines) if number > 1 and not line), len(lines))
        table = ["", *table]
    made = re.sub(r"\n{3,}", "\n\n", "\n".join([*lines[:start], *table, *lines[end:]]))
    return text.replace(f" {heading}\n{body}", f" {heading}\n{made}", 1)


def _with_line(text: str, heading: str, line: str) -> str:
    """The page, with the line on toolsets of one tool written anew; what stands behind it on the line stays."""
    body = _section(text, heading)
    made = re.sub(
        r"^Toolsets?: [^.]*\. (?:Read-only|Writes, \w+, (?:not )?repeatable)", line, body, count=1, flags=re.M
    )
    return text.replace(f" {heading}\n{body}", f" {heading}\n{made}", 1)


def main() -> int:
    stale = [path for path, text in pages().items() if path.read_text(encoding="utf-8") != text]
    if "--check" in sys.argv[1:]:
        for path in stale:
            sys.stderr.write(f"{path.relative_to(ROOT)} is out of date: `make reference` writes it.\n")
        return 1 if stale else 0
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
