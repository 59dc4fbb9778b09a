"""Commands that validate a project, from its Makefile, its scripts and the tools of its language.

They are put together from a few known names. Only where there are none, a line of the automation is taken over, and
only one that needs no shell.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from quire.capture.repository.clean_text import SENTENCE_CHARS, said
from quire.capture.repository.documents import table_at
from quire.capture.repository.manifests import NODE, PYTHON, RUST, PackageManifest
from quire.capture.repository.scan import CheckCommand, ProjectScan
from quire.capture.repository.tree import Tree, below, read_beginning
from quire.layers.journal import layout
from quire.model.untyped import at_path

_FILES = (
    *(".gitlab-ci.yml", ".travis.yml", "azure-pipelines.yml", "bitbucket-pipelines.yml"),
    *("Jenkinsfile", ".circleci/config.yml"),
)
_FOLDERS = (".github/workflows", ".ci", "ci")
_FILES_MOST = 20
_BYTES = 64 * 1024
_LINES_MOST = 400
_LEAD = re.compile(r"\s*(?:-\s+)?(?:(?:run|script|command|cmd|sh)\s*[:(]\s*)?[|>'\"\s-]{0,4}")
_RUNNER = re.compile(
    r"(?:make|just|task|npm|pnpm|yarn|bun|npx|pytest|python3?|tox|nox|uv|poetry|pdm|hatch|cargo|go|mvn|gradle|\./gradlew|"
    r"\./mvnw|bundle|rake|mix|dotnet|composer|swift|ctest|bazel|deno)\s"
)
_SHELL = re.compile(r"[|&;<>()$`\\\"'*?\[\]{}~#=\n]")
_WORDS_MOST = 12


def automated_lines(tree: Tree) -> tuple[str, ...]:
    """The lines that begin with a well-known program, in the order of the files."""
    paths = [path for path in _FILES if path in tree.names]
    for folder in _FOLDERS:
        paths += below(tree, folder)
    found: dict[str, None] = {}
    for path in paths[:_FILES_MOST]:
        for line in read_beginning(tree, path, _BYTES).split("\n"):
            bare = line[_end_of_lead(line) :].strip().rstrip("'\")")
            if _RUNNER.match(f"{bare} ") and len(found) < _LINES_MOST:
                found[bare[:300]] = None
    return tuple(found)


def _end_of_lead(line: str) -> int:
    found = _LEAD.match(line[:400])
    return found.end() if found else 0


def runs(lines: tuple[str, ...], command: tuple[str, ...]) -> bool:
    """Whether the automation runs a command, with more words behind it perhaps, or as one of several targets."""
    for line in lines:
        for part in re.split(r"&&|;|\|\|", line):
            words = tuple(part.split())
            if words[: len(command)] == command:
                return True
            if command[0] in ("make", "just", "task") and words[:1] == command[:1] and command[-1] in words:
                return True
    return False


def plain_words(line: str) -> tuple[str, ...]:
    """A line as the words of a command; none where a shell would make something else of it."""
    if _SHELL.search(line):
        return ()
    try:
        words = shlex.split(line)
    except ValueError:
        return ()
    return tuple(words) if len(words) <= _WORDS_MOST else ()


_MAKEFILES = ("Makefile", "makefile", "GNUmakefile")
_JUSTFILES = ("justfile", "Justfile", ".justfile")
_NAME = re.compile(r"[A-Za-z][\w:.-]{0,60}")
_TARGET = re.compile(
    r"^([A-Za-z][\w.-]{0,60})[ \t]*(?:[\w=\"' *+-]{0,80}?)::?(?!=)[^#\n]{0,300}(?:##?[ \t]*(.{0,200}))?$"
)
_TESTS = ("test", "tests", "check", "verify", "ci")
_CHECKS = ("lint", "check", "typecheck", "type-check", "types", "vet", "build", "compile")
_PLACEHOLDER = "no test specified"
_TEST_LINE = re.compile(r"\b(?:test|tests|pytest|tox|nox|ctest)\b")
_RUN_WITH = {"uv": ("uv", "run"), "poetry": ("poetry", "run"), "pdm": ("pdm", "run"), "pipenv": ("pipenv", "run")}


def find_checks(scan: ProjectScan) -> list[CheckCommand]:
    """At most as many as a memory may suggest: the best that runs tests, then the best that looks at the code."""
    lines = automated_lines(scan.tree)
    every = [*_targets(scan), *_scripts(scan), *_of_language(scan)]
    every += _automated(lines) if not any(check.is_test for check in every) else ()
    # What the automation runs is what the project itself goes by.
    ranked = sorted(every, key=lambda check: not runs(lines, check.command))
    chosen: list[CheckCommand] = []
    for is_test in (True, False):
        chosen += [check for check in ranked if check.is_test is is_test and check not in chosen][:1]
    return chosen[: layout.VALIDATION_COMMANDS]


# -- targets and scripts --------------------------------------------------------------------------


def _targets(scan: ProjectScan) -> Iterator[CheckCommand]:
    """The targets of a Makefile or a justfile."""
    for program, names in (("make", _MAKEFILES), ("just", _JUSTFILES)):
        path = next((name for name in names if name in scan.tree.names), "")
        found = _read_targets(read_beginning(scan.tree, path)) if path else {}
        for name, is_test in _wanted(found):
            words = f"`{name}` in {path}: {found[name]}" if found[name] else f"`{name}` in {path}."
            yield CheckCommand(f"{program} {name}", (program, name), said(words, SENTENCE_CHARS), is_test)


def _read_targets(text: str) -> dict[str, str]:
    """The targets and what each is for: the comment beside or above it, else the first line of its recipe."""
    found: dict[str, str] = {}
    lines = text.split("\n")
    for number, line in enumerate(lines):
        target = _TARGET.match(line)
        if target is None or target[1] in found:
            continue
        above = lines[number - 1] if number else ""
        below = lines[number + 1] if number + 1 < len(lines) else ""
        recipe = below.strip().lstrip("@-+ ") if below[:1] in ("\t", " ") else ""
        comment = above.lstrip("# ").strip() if above.startswith("#") else ""
        found[target[1]] = (
            (target[2] or "").strip() or comment or (f"`{recipe}`" if recipe and "`" not in recipe else recipe)
        )
    return found


def _scripts(scan: ProjectScan) -> Iterator[CheckCommand]:
    """The scripts of a package.json, in the words of its package manager."""
    manifest = scan.manifests.get(NODE) or PackageManifest(path=NODE)
    manager = (scan.package_manager or "npm").partition("@")[0]
    if manager not in ("npm", "pnpm", "yarn", "bun"):
        manager = "npm"
    scripts = {name: text for name, text in manifest.scripts.items() if _PLACEHOLDER not in text}
    for name, is_test in _wanted(scripts):
        short = (manager, name) if manager in ("pnpm", "yarn") else (manager, "run", name)
        command = ("npm", "test") if (manager, name) == ("npm", "test") else short
        purpose = said(f"`{name}` in {NODE}: `{scripts[name]}`", SENTENCE_CHARS)
        yield CheckCommand(" ".join(command), command, purpose, is_test)


def _wanted(names: dict[str, str]) -> Iterator[tuple[str, bool]]:
    for wanted, is_test in ((_TESTS, True), (_CHECKS, False)):
        for name in wanted:
            if name in names and _NAME.fullmatch(name):
                yield name, is_test


# -- what a language offers -----------------------------------------------------------------------


def _of_language(scan: ProjectScan) -> Iterator[CheckCommand]:
    tree, names = scan.tree, scan.tree.names
    if "tox.ini" in names:
        yield CheckCommand("tox", ("tox",), "The environments of tox.ini.")
    if "noxfile.py" in names:
        yield CheckCommand("nox", ("nox",), "The sessions of noxfile.py.")
    python = scan.manifests.get(PYTHON)
    configured = python is not None and bool(table_at(python.document, "tool", "pytest"))
    has_tests = any(folder in tree.folders for folder in ("tests", "test"))
    if scan.primary_ecosystem == "python" and (configured or has_tests or "pytest.ini" in names):
        command = (*_RUN_WITH.get(scan.package_manager or "", ()), "pytest")
        where = f"The tests that {PYTHON} configures." if configured else "The tests of the project."
        yield CheckCommand(" ".join(command), command, where)
    if RUST in names:
        yield CheckCommand("cargo test", ("cargo", "test"), f"The tests of {_crates(scan)}.")
        yield CheckCommand("cargo check", ("cargo", "check"), f"The types of {_crates(scan)}.", False)
    if "go.mod" in names or "go.work" in names:
        yield CheckCommand("go test ./...", ("go", "test", "./..."), "The tests of all Go packages.")
        yield CheckCommand("go vet ./...", ("go", "vet", "./..."), "A look at all Go packages.", False)


def _crates(scan: ProjectScan) -> str:
    manifest = scan.manifests.get(RUST)
    is_workspace = manifest is not None and at_path(manifest.document, "workspace") is not None
    return "all crates of the workspace" if is_workspace else "the crate"


def _automated(lines: tuple[str, ...]) -> Iterator[CheckCommand]:
    """Lines of the automation that run tests, where nothing else is known; only those that need no shell."""
    for line in lines:
        words = plain_words(line) if _TEST_LINE.search(line) else ()
        # What may not be kept as it stands may not be run either.
        if words and said(line) == line:
            yield CheckCommand(line, words, "The automation of the project runs it.")
