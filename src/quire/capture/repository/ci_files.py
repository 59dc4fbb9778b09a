"""The commands that a project's own automation runs, line by line. The files are read, never understood as YAML."""

from __future__ import annotations

import re
import shlex

from quire.capture.repository.tree import Tree, below, read_beginning

_FILES = (
    ".gitlab-ci.yml",
    ".travis.yml",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    "Jenkinsfile",
    ".circleci/config.yml",
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
