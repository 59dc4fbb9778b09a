"""Which command lines check the work: tests, linters, type checkers and builds; and how such a line is written down."""

from __future__ import annotations

import functools
import re

COMMAND_CHARS = 120
_LINE_CHARS = 2_000

# What may stand before a program, and is not what is run.
_BEFORE = re.compile(
    r"(?:[A-Za-z_]\w*=\S*\s+|(?:time|sudo|env|nohup|command|exec|npx|pnpx|bunx|uvx|(?:npx|uvx) -y|timeout \S+)\s+"
    r"|(?:pnpm|yarn|bun)\s+(?=(?:vitest|jest|mocha|eslint|tsc|vue-tsc|playwright|cypress|prettier|biome|stylelint"
    r"|svelte-check|oxlint|knip|ava)\b)|(?:uv|poetry|pipenv|pdm|hatch|rye) run\s+|(?:pnpm|yarn|npm|bun|mise"
    r"|direnv) exec\s+(?:--\s+)?|bundle exec\s+"
    r"|docker(?:-| )compose (?:exec|run)(?: -\S+)* \S+\s+|\S*python[\d.]* -m\s+|\S*/bin/(?=\w))"
)
_SCRIPT = (
    r"(?:[\w-]*[:-])?(?:tests?|lint|build|check|type-?check|types|tsc|verify|e2e|validate|format:check|fmt:check"
    r"|unit|integration|spec|coverage|vet|audit)(?:[:-][\w:-]+)?"
)
_CHECKS = re.compile(
    r"(?:pytest|py\.test|tox|nox|unittest|mypy|pyright|basedpyright|pyre|pylint|flake8|bandit|vulture|ty check"
    r"|lint-imports|ruff (?:check|format (?:\S+ )*--(?:check|diff))|ruff \.|black (?:\S+ )*--check"
    r"|isort (?:\S+ )*--check|pre-commit run|\S*python[\d.]* (?:\./)?manage\.py (?:test|check"
    r"|makemigrations (?:\S+ )*--check)|(?:\./)?manage\.py (?:test|check)"
    rf"|(?:npm|pnpm|yarn|bun)(?: -\S+(?: [\w./@][\w./@-]*)?)* (?:run|run-script) (?:{_SCRIPT}|ci)(?![\w:])"
    rf"|(?:pnpm|yarn|bun)(?: workspace \S+| -\S+(?: [\w./@][\w./@-]*)?)* {_SCRIPT}(?![\w:])"
    r"|npm(?: -\S+(?: [\w./@][\w./@-]*)?)* (?:test|t)(?!\w)"
    r"|deno (?:test|lint|check|fmt --check)|node --test|vitest|jest|mocha|ava(?!\w)|playwright test|cypress run|karma"
    r"|tsc|vue-tsc|svelte-check|eslint|stylelint|prettier (?:\S+ )*(?:--check|-c)|biome (?:check|ci|lint)|oxlint|knip"
    r"|next (?:build|lint)|vite build|astro (?:check|build)|turbo (?:run )?\w+|nx (?:run-many|affected|test|lint"
    r"|build)|dbt (?:build|test|compile|parse)|sqlfluff lint|buf (?:lint|breaking|build)|alembic check|swiftlint|ktlint"
    r"|detekt|semgrep|checkov|trivy|gleam test|elm-test|crystal spec|php artisan test|(?:\S*/)?pint --test"
    r"|(?:\S*/)?phpcs"
    r"|nix flake check|k6 run|newman run|behave(?!\w)|cucumber\S*|ginkgo|hurl --test|mkdocs build|hugo(?!\w)"
    r"|bin/rails test"
    r"|linkinator|lychee|markdownlint\S*|vale|htmlproofer|cargo (?:\+\S+ )?(?:test|nextest|check|clippy|build"
    r"|fmt (?:\S+ )*--check|deny|audit|miri)|go (?:test|vet|build)|golangci-lint|staticcheck|gotestsum|gofmt -l"
    r"|(?:g?make|just|task|rake)(?: -\S+)*(?: [\w./-]*(?:test|check|lint|build|verify|ci|spec|all|vet|types)[\w.:-]*"
    r"| -j ?\d+)?(?=\s|$)|(?:\./)?mvnw?(?: -\S+)* (?:test|verify|package|install|compile)"
    r"|(?:\./)?gradlew?(?: -\S+)* \S*(?:test|check|build|lint|assemble)\w*|dotnet (?:test|build|format)"
    r"|swift (?:test|build)"
    r"|xcodebuild .*(?:test|build)|flutter (?:test|analyze|build)|dart (?:test|analyze)|mix (?:test|credo|dialyzer"
    r"|compile|format --check\S*)|rspec|rubocop|standardrb|rails test|brakeman|(?:\S*/)?phpunit|(?:\S*/)?pest(?!\w)"
    r"|(?:\S*/)?phpstan|(?:\S*/)?psalm|composer (?:run )?(?:test|check|lint)|ctest|cmake --build|cmake -B|ninja"
    r"|meson (?:test|compile)|bazel (?:test|build)|buck2? (?:test|build)|terraform(?: -\S+)* (?:validate|plan"
    r"|fmt (?:\S+ )*-check)|tofu (?:validate|plan)|tflint|helm lint|kubeconform|ansible-lint|docker(?: buildx)? build"
    r"|docker(?:-| )compose build|shellcheck|hadolint|actionlint|yamllint|bats|sbt \S*test|lein test|stack (?:test"
    r"|build)|cabal (?:test|build)|zig (?:build|test)|prove(?!\w)|busted|luacheck|R CMD check|nim c|dune (?:build"
    r"|test)|(?:\S*/)?(?:run[-_]?tests?|test|tests|lint|check|ci|verify)(?:\.\w{1,4})?(?=\s|$)|(?:bash|sh) \S*(?:test"
    r"|lint|check|ci|verify)\S*\.sh|godot .*tests?/\S+|(?:ceedling|molecule) test\S*|Unity .*-runTests)(?![\w-])"
)
# Options that change how a check talks, not what it looks at.
_COSMETIC = re.compile(
    r"-(?:q+|v+|x|s|l|j\d*|n\d*|rA?|T\d*)|--(?:tb|color|colors|reporter|maxfail|durations|verbose|quiet|silent"
    r"|no-header|no-color|max-warnings|jobs|progress|bail|failed-first|ff|lf|stacktrace)(?:=\S+)?"
)
_EVERYTHING = frozenset((".", "./", "./...", "..."))
_CD = re.compile(r"(?:cd|pushd) [^&;|]{1,200}(?:&&|;)\s*")
# Blanks are looked at once, from where they begin: a long run of them would else be gone over from each of its places.
_REDIRECTED = re.compile(r"(?<!\s)\s*(?:2>&1|[12&]?>\s*/dev/null)(?=\s|$|[|;&])")
_TRIMS = re.compile(r"\s*(?:tail|head|tee|cat|less|grep|rg|sed|awk|wc)\b")
_ECHO = re.compile(r"(?<!\s)\s*(?:;|&&)\s*echo\s[^;&|]*$")
_SET = re.compile(r"(?:set -\S+|export \S+|source \S+|\. \S+)\s*(?:&&|;|\n)\s*")
_JOINED = re.compile(r"(?<!\s)\s*(?:&&|;|\|\|)\s*")


def check_command(line: str) -> str:
    """The command of a line as it is written down, if it checks the work; else empty."""
    shown = _SET.sub("", line[:_LINE_CHARS].strip(), count=1)
    if "\n" in shown or "<<" in shown:
        shown = next((part for part in shown.split("\n") if _is_check(part)), "").strip() if "<<" not in shown else ""
    shown = _without_trimming(shown)
    parts = _JOINED.split(_CD.sub("", shown, count=1))
    if not any(map(_is_check, parts)) or not shown:
        return ""
    shown = " ".join(shown.split())
    return shown if len(shown) <= COMMAND_CHARS else next(part for part in parts if _is_check(part))[:COMMAND_CHARS]


def _without_trimming(line: str) -> str:
    """A line without what only shortens or hides its output."""
    piped = re.split(r"(?<!\|)\|(?!\|)", _REDIRECTED.sub("", line))
    while len(piped) > 1 and _TRIMS.match(piped[-1]):
        piped.pop()
    return _ECHO.sub("", "|".join(piped)).strip()


def _bare(part: str) -> str:
    """A command without what stands before its program."""
    part = part.strip()
    for _ in range(6):
        found = _BEFORE.match(part)
        if not found or found.end() == len(part):
            break
        part = part[found.end() :]
    return part


def _is_check(part: str) -> bool:
    part = part.strip()
    return bool(_CHECKS.match(part) or _CHECKS.match(_bare(part)))


@functools.lru_cache(maxsize=512)
def checks_in(command: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """The programs that a command runs, each with what it is told to look at; nothing means everything."""
    found = []
    for part in _JOINED.split(_CD.sub("", command, count=1)):
        words = _bare(part).split()
        if words and _is_check(part):
            told = (word for word in words[1:] if word not in _EVERYTHING and not _COSMETIC.fullmatch(word))
            found.append((words[0], frozenset(told)))
    return tuple(found)


def covers(wide: frozenset[str], narrow: frozenset[str]) -> bool:
    """Whether a check that looks at `wide` looks at all that one looks at that is told `narrow`."""
    return all(any(one == other or other.startswith(f"{one}/") for other in narrow) for one in wide)
