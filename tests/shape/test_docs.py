"""The documentation says what the program does: nothing left out, no link astray, the README's commands run."""

from __future__ import annotations

import ast
import functools
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import click
import pytest

from cases import each
from quire.model import errors
from quire.surfaces.cli.main import group
from quire.verbs.admin.docs import topics
from quire.verbs.ask.answers import HitView, LinkView, WithheldView
from quire.verbs.ask.query import Answered
from quire.verbs.verb import Result

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "quire"
REFERENCE = ROOT / "docs" / "reference"
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
# Written by the tool itself for agents, not a page of the documentation.
PAGES = [page for page in PAGES if page.name not in ("AGENTS.md", "CLAUDE.md")]


def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


# -- commands -------------------------------------------------------------------------------


def commands(top: click.Command, path: tuple[str, ...] = ("memory",)) -> Iterator[tuple[str, click.Command]]:
    yield " ".join(path), top
    if isinstance(top, click.Group):
        context = click.Context(top)
        for name in top.list_commands(context):
            command = top.get_command(context, name)
            assert command is not None, f"{name} is in the table and cannot be loaded"
            yield from commands(command, (*path, name))


def section(text: str, heading: str) -> str:
    """A heading of the second level and what stands below it."""
    found = re.search(rf"^## {re.escape(heading)}\n.*?(?=^## |\Z)", text, re.M | re.S)
    assert found, f"no section `## {heading}`"
    return found.group()


def test_the_reference_pages_repeat_what_is_declared() -> None:
    """Options, arguments, values, limits and hints; `make reference` writes them."""
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "make_reference.py", "--check"], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


@each(("path", "command"), list(commands(group())))
def test_every_command_is_in_the_reference(path: str, command: click.Command) -> None:
    text = read(REFERENCE / "cli.md")
    verb = path.split(" ")[1:2]
    part = section(text, f"memory {verb[0]}") if verb else text.partition("\n## ")[0]
    assert path in part
    for parameter in command.params if path == "memory" else ():
        for name in (*parameter.opts, *parameter.secondary_opts):
            assert f"`{name}" in part, f"{name} is not documented"


def test_the_readme_is_one_page() -> None:
    assert len(read(ROOT / "README.md").splitlines()) <= 200


def test_every_exit_code_is_documented() -> None:
    from quire.surfaces.cli.output import EXIT_CODES

    table = section(read(REFERENCE / "cli.md"), "Exit codes")
    for code in (0, *EXIT_CODES.values()):
        assert f"| {code} |" in table


# -- codes ----------------------------------------------------------------------------------


def error_classes() -> list[type[errors.QuireError]]:
    found = [item for item in vars(errors).values() if getattr(item, "__module__", "") == errors.__name__]
    return [item for item in found if isinstance(item, type) and issubclass(item, errors.QuireError)]


@each("error", error_classes())
def test_every_error_is_documented_with_its_exit_code(error: type[errors.QuireError]) -> None:
    from quire.surfaces.cli.output import EXIT_CODES

    assert f"| `{error.code}` | {EXIT_CODES[error.kind]} |" in read(REFERENCE / "errors.md")


@functools.cache
def problem_codes() -> dict[str, str]:
    """Every code that a problem, a fault or a finding can have, and a place in the source where it is given."""
    found: dict[str, str] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(read(path))):
            for value in _codes_of(node):
                for text in ast.walk(value):
                    if isinstance(text, ast.Constant) and re.fullmatch(r"(?:[A-Z][a-z0-9]+)+", str(text.value)):
                        found.setdefault(str(text.value), f"{path.relative_to(ROOT)}:{text.lineno}")
    return found


def _codes_of(node: ast.AST) -> list[ast.expr]:
    """The expressions that stand for a code: `code=…`, `code = …`, and the first argument of what reports one."""
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        first = (
            node.args[:1]
            if name in ("error_at", "warning_at", "_error", "_warning", "_doubt", "problem", "warn", "NotUnderstood")
            else []
        )
        return [*first, *(word.value for word in node.keywords if word.arg == "code")]
    if isinstance(node, ast.Assign) and any(getattr(target, "id", "") == "code" for target in node.targets):
        return [node.value]
    return []


def test_every_problem_code_is_documented() -> None:
    codes = problem_codes()
    assert len(codes) > 50, "the search for codes finds too little to be trusted"
    text = "".join(read(REFERENCE / page) for page in ("errors.md", "checks.md", "save.md", "review.md"))
    missing = {code: place for code, place in codes.items() if f"`{code}`" not in text}
    assert not missing


def test_no_code_is_documented_that_does_not_exist() -> None:
    known = {*problem_codes(), *(error.code for error in error_classes())}
    for page in ("errors.md", "checks.md", "save.md"):
        for row in re.findall(r"^\| (`[A-Z].*?) \|", read(REFERENCE / page), re.M):
            unknown = set(re.findall(r"`([A-Z][A-Za-z0-9]+)`", row)) - known
            assert not unknown, f"{page}: {unknown}"


def test_every_option_and_key_of_a_query_is_documented() -> None:
    text = read(REFERENCE / "query.md")
    beside = {*Result.__struct_fields__, *HitView.NOT_IN_JSON}
    keys = {name for kind in (Answered, HitView, LinkView, WithheldView) for name in kind.__struct_fields__} - beside
    assert {"results", "markdown", "why", "relation", "explain"} <= keys
    for key in keys:
        assert f"`{key}`" in text, key
    for parameter in dict(commands(group()))["memory query"].params:
        for name in parameter.opts:
            assert f"`{name}" in text or f"`{name.upper()}" in text, name


def test_every_environment_variable_is_documented() -> None:
    table = section(read(REFERENCE / "cli.md"), "Environment variables")
    # env.get("NAME"), environ["NAME"], "NAME" in os.environ
    pattern = re.compile(r'env(?:iron)?(?:\.get\(|\[)\s*"([A-Z][A-Z_]+)"|"([A-Z][A-Z_]+)" (?:not )?in (?:\w+\.)?env')
    found = [name for path in SOURCE.rglob("*.py") for name in pattern.findall(read(path))]
    read_in_source = {first or second for first, second in found}
    assert {"MEMORY_HOME", "MEMORY_LOCK_TIMEOUT", "MEMORY_NOW", "MEMORY_DEBUG"} <= read_in_source
    for name in sorted(read_in_source):
        assert f"| `{name}` |" in table, name


# -- figures --------------------------------------------------------------------------------

# A figure may be off by this much before the page that quotes it has to be written again.
TOLERANCE = 0.05


def results(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(read(ROOT / "benchmarks" / "results" / f"{name}.json"))
    return found


def quoted(page: Path, row: str) -> list[float]:
    """The numbers in the row of a table that begins with this name."""
    found = re.search(rf"^\| {re.escape(row)} \|(.+)\|$", read(page), re.M)
    assert found, f"{page.name}: no row for {row}"
    return [float(cell.replace(",", "")) for cell in found[1].split("|")]


def test_the_figures_of_the_counter_are_those_that_were_measured() -> None:
    kinds = {kind: row for kind, row in results("tokens").items() if isinstance(row, dict)}
    assert kinds
    for kind, row in kinds.items():
        measured = [row["ours over o200k"], row["ours over cl100k"]]
        assert quoted(REFERENCE / "tokens.md", kind)[1:3] == pytest.approx(measured, abs=TOLERANCE), kind


def test_the_figures_of_retrieval_are_those_that_were_measured() -> None:
    record = ROOT / "docs" / "decisions" / "0057-one-measure-three-tiers.md"
    sets = results("quality")["sets"]
    rows = [row for row in re.findall(r"^\| ([a-z][\w, ]+?) \|", read(record), re.M) if row in sets]
    assert len(rows) >= 5
    for row in rows:
        measured = [sets[row][way]["nDCG@10"] for way in ("words", "meaning", "hybrid", "answer")]
        assert quoted(record, row) == pytest.approx(measured, abs=TOLERANCE), row


# -- pages ----------------------------------------------------------------------------------


def prose(page: Path) -> str:
    """A page without its code blocks."""
    return re.sub(r"^(```|~~~).*?^\1[ \t]*$", "", read(page), flags=re.M | re.S)


def anchors(page: Path) -> set[str]:
    """The names that headings get: lower case, spaces as hyphens, signs dropped."""
    headings = re.findall(r"^#+ +(.+)$", prose(page), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@each("page", PAGES)
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        found = (page.parent / name) if name else page
        assert found.exists(), f"{target} does not exist"
        if anchor:
            assert anchor in anchors(found), f"{target}: no such heading"


@each("page", PAGES)
def test_every_page_has_one_title(page: Path) -> None:
    assert len(re.findall(r"^# ", prose(page), re.M)) == 1


def test_every_source_file_named_in_the_architecture_exists() -> None:
    for name in re.findall(r"`((?:src|tests|docs|tools)/[\w./]+)`", read(ROOT / "ARCHITECTURE.md")):
        assert (ROOT / name).exists(), name


def test_decisions_are_short_and_numbered() -> None:
    records = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    assert [int(record.name[:4]) for record in records] == list(range(1, len(records) + 1))
    for record in records:
        assert len(read(record).splitlines()) <= 40, record.name
        assert re.findall(r"^## (.+)$", read(record), re.M) == ["Context", "Decision", "Consequences"], record.name


def test_memory_docs_lists_every_page() -> None:
    rooms = ("guides", "concepts", "reference")
    pages = {page.stem for room in rooms for page in (ROOT / "docs" / room).glob("*.md")}
    assert set(topics()) == pages


def test_make_targets_named_in_the_pages_exist() -> None:
    targets = set(re.findall(r"^(\w+):", read(ROOT / "Makefile"), re.M))
    for page in PAGES:
        for name in re.findall(r"`make (\w+)|^make (\w+)", read(page), re.M):
            assert set(filter(None, name)) <= targets, f"{page.name}: make {''.join(name)}"


# -- pages, run as written -------------------------------------------------------------

# What the session does not run: these lines install the program, which here is installed already.
INSTALLS = re.compile(r"^(python3 -m venv |\. \S+/bin/activate$|pip install |make )")


def blocks(text: str) -> list[tuple[str, str]]:
    return re.findall(r"^```(\w+)\n(.*?)^```$", text, re.M | re.S)


RUN = (ROOT / "README.md", ROOT / "docs" / "guides" / "tour.md")


def printed_by(page: Path, folder: Path) -> str:
    """The output of a page's `sh` blocks, in order, in one shell, from the root of a copy of the repository."""
    clone, home = folder / "quire", folder / "home"
    home.mkdir()
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True, check=True
    )
    for name in filter(None, os.fsdecode(listed.stdout).split("\0")):
        if (ROOT / name).is_file():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, clone / name)
    lines = [line for kind, block in blocks(read(page)) if kind == "sh" for line in block.splitlines()]
    script = "\n".join(line for line in lines if not INSTALLS.match(line))
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    env = {"PATH": path, "HOME": str(home), "TMPDIR": str(folder), "LC_ALL": "C.UTF-8"}
    for who in ("AUTHOR", "COMMITTER"):
        env |= {f"GIT_{who}_NAME": "Reader", f"GIT_{who}_EMAIL": "reader@example.org"}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script], cwd=clone, env=env, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.stem)
def test_a_page_runs_and_prints_what_it_shows(page: Path, tmp_path: Path) -> None:
    """Lines shown appear in the output in this order; `…` stands for anything, alone on a line for any lines."""
    printed = iter(printed_by(page, tmp_path).splitlines())
    outputs = shown_outputs(read(page))
    assert len(outputs) >= 5
    for line in "".join(outputs).splitlines():
        if line != "…":
            pattern = re.compile(".*".join(map(re.escape, line.split("…"))))
            assert any(pattern.fullmatch(found) for found in printed), f"not printed in this order: {line!r}"


def shown_outputs(text: str) -> list[str]:
    """The `text` blocks that follow an `sh` block: what the commands print."""
    return [block for (before, _), (kind, block) in pairwise(blocks(text)) if (before, kind) == ("sh", "text")]
