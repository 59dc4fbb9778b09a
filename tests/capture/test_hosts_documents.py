"""What real instruction files, rules and memory banks come to: every proposal, word for word."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from host_making import NOW, Machine, said

from quire.inbox.proposals import QUOTE_CHARS, TEXT_CHARS
from quire.layers.facts.layout import SECTIONS
from quire.layers.graph.intent import read_intent
from quire.layers.profile.rules import allowed_category, allowed_key, allowed_tags, allowed_value

CASES = [
    pytest.param(
        "claude-service.md",
        "CLAUDE.md",
        "claude-md",
        1,
        [
            (
                7,
                "fact",
                "Architecture",
                (
                    "Project overview: Harbor is the booking service of a container terminal. Shipping "
                    "lines send berth requests over EDI, planners confirm them in a web client, and "
                    "cranes get their work orders from a queue. One Go binary, one Postgres database, one "
                    "React client in `web/`."
                ),
            ),
            (
                15,
                "fact",
                "Patterns & Conventions",
                (
                    "Commands:\n"
                    "```bash\n"
                    "make dev            # API on :8080, client on :5173, Postgres in Docker\n"
                    "make test           # unit tests, no database\n"
                    "make test-db        # needs `make db-up` first\n"
                    "go test ./internal/edi -run TestParse -v   # one package\n"
                    "make lint           # golangci-lint and eslint\n"
                    "```"
                ),
            ),
            (
                25,
                "fact",
                "Architecture",
                (
                    "Architecture:\n"
                    "- `cmd/harbor/` holds only flag parsing and wiring; no logic.\n"
                    "- `internal/edi/` reads and writes EDIFACT. It never touches the database.\n"
                    "- `internal/berth/` is the domain: pure functions, no I/O, tested with table tests.\n"
                    "- `internal/store/` owns all SQL. Queries are written by hand, no ORM.\n"
                    "Request flow:\n"
                    "- An EDI message arrives at `/edi/inbox` and is stored unparsed.\n"
                    "- The parser turns it into a `berth.Request`.\n"
                    "- The planner confirms it; a work order goes to the queue.\n"
                    "Background jobs:\n"
                    "Jobs run in the same binary and take a Postgres advisory lock, so two instances "
                    "never run one job twice."
                ),
            ),
            (
                42,
                "fact",
                "Patterns & Conventions",
                (
                    "Code style:\n"
                    '- Errors are wrapped with `fmt.Errorf("...: %w", err)` and logged once, at the top.\n'
                    "- No package named `util` or `common`.\n"
                    "- Times are UTC in the database and in logs; only the client shows local time.\n"
                    "Naming:\n"
                    "Handlers are called `handleXxx`, stores `XxxStore`.\n"
                    "Tests:\n"
                    "- Table tests with `name` as first field.\n"
                    "- Golden files live in `testdata/` and are updated with `-update`."
                ),
            ),
            (
                57,
                "decision",
                "Hand-written SQL instead of an ORM",
                ("The berth overlap query needs range types and `EXCLUDE`, which no ORM we tried could express."),
            ),
            (
                59,
                "decision",
                "One binary for API and jobs",
                "The terminal's operators can restart one service, not five.",
            ),
            (
                63,
                "gotcha",
                "The EDI test partner sends dates as `YYMMDD` in May and `YYYYMMDD` otherwise",
                (
                    "The EDI test partner sends dates as `YYMMDD` in May and `YYYYMMDD` otherwise; "
                    '`internal/edi/dates.go` accepts both. Do not "simplify" it.'
                ),
            ),
            (
                65,
                "gotcha",
                "`make test-db` drops every table of the database in `HARBOR_DSN`",
                ("`make test-db` drops every table of the database in `HARBOR_DSN`. Never point it at staging."),
            ),
            (
                66,
                "gotcha",
                "Crane queue messages over 64 KB are dropped silently by the broker",
                "Crane queue messages over 64 KB are dropped silently by the broker.",
            ),
            (
                70,
                "question",
                "Should confirmed requests be editable by the shipping line?",
                "Should confirmed requests be editable by the shipping line?",
            ),
            (74, "next step", "Move the glossary into the client"),
        ],
        id="claude-service.md",
    ),
    pytest.param(
        "agents-monorepo.md",
        "AGENTS.md",
        "agents-md",
        0,
        [
            (
                5,
                "fact",
                "Architecture",
                (
                    "Project Structure & Module Organization:\n"
                    "- `apps/web/`: Next.js client of the shop. `apps/admin/`: back office, same components.\n"
                    "- `packages/ui/`: shared React components with their stories.\n"
                    "- `packages/api/`: tRPC routers and Prisma schema.\n"
                    "- `infra/`: Terraform for staging and production."
                ),
            ),
            (
                12,
                "fact",
                "Patterns & Conventions",
                (
                    "Build, Test, and Development Commands:\n"
                    "- `pnpm install` once, then `pnpm dev` starts web, admin and the API with hot reload.\n"
                    "- `pnpm test` runs Vitest in every package; `pnpm test --filter ui` in one.\n"
                    "- `pnpm e2e` needs Docker and takes about eight minutes."
                ),
            ),
            (
                18,
                "fact",
                "Patterns & Conventions",
                (
                    "Coding Style & Naming Conventions: TypeScript strict, two spaces, no default "
                    "exports. Components in `PascalCase.tsx`, hooks in `useThing.ts`. Prettier and ESLint "
                    "run on commit."
                ),
            ),
            (
                23,
                "fact",
                "Patterns & Conventions",
                (
                    "Testing Guidelines: Unit tests beside the code as `*.test.ts`. Price calculation "
                    "must stay at 100 % branch coverage. Use the factories in "
                    "`packages/api/test/factories.ts`, never raw Prisma calls, or the tenant id is missing."
                ),
            ),
            (
                28,
                "fact",
                "Patterns & Conventions",
                (
                    "Commit & Pull Request Guidelines:\n"
                    "- Conventional Commits, scope is the package: `fix(ui): …`.\n"
                    "- A pull request names the ticket and has a screenshot if something visible changed."
                ),
            ),
            (
                33,
                "fact",
                "Constraints",
                (
                    "Security & Configuration Tips:\n"
                    "- Secrets come from Doppler; `.env` files are for local names only.\n"
                    "- Payment webhooks are verified in `packages/api/webhooks/verify.ts`. Do not log "
                    "their bodies."
                ),
            ),
            (
                38,
                "gotcha",
                "Hot reload loses the cart",
                "The cart lives in memory in dev; reload the page with `?cart=demo`.",
            ),
            (
                39,
                "gotcha",
                "Prisma client out of date after a pull",
                "Run `pnpm db:generate`, else types of new columns are missing.",
            ),
            (
                41,
                "gotcha",
                "`pnpm db:reset` also clears the search index, which takes an hour to rebuild on…",
                "`pnpm db:reset` also clears the search index, which takes an hour to rebuild on staging.",
            ),
        ],
        id="agents-monorepo.md",
    ),
    pytest.param(
        "agents-package.md",
        "packages/api/AGENTS.md",
        "agents-md",
        0,
        [
            (
                3,
                "fact",
                "Architecture",
                (
                    "packages/api: Routers are thin: validate with zod, call a service, map the result. "
                    "Services hold the rules and take a `Context`."
                ),
            ),
            (
                7,
                "fact",
                "Patterns & Conventions",
                (
                    "packages/api › Conventions:\n"
                    "- One router per aggregate, one file per procedure.\n"
                    "- Money is `bigint` in minor units; never `number`."
                ),
            ),
            (
                12,
                "gotcha",
                "Prisma's `findFirst` without `orderBy` gives another row on each replica",
                "Prisma's `findFirst` without `orderBy` gives another row on each replica. Always order.",
            ),
        ],
        id="agents-package.md",
    ),
    pytest.param(
        "gemini-project.md",
        "GEMINI.md",
        "gemini-md",
        0,
        [
            (
                3,
                "fact",
                "Architecture",
                ("Tidepool mobile app: Flutter app for tide and current predictions; works offline for 14 days."),
            ),
            (
                7,
                "fact",
                "Architecture",
                (
                    "Stack:\n"
                    "- Flutter 3.24, Riverpod, Drift for the local database.\n"
                    "- The prediction engine is a Rust library bound with `flutter_rust_bridge`."
                ),
            ),
            (
                12,
                "fact",
                "Patterns & Conventions",
                (
                    "Rules:\n"
                    "- Run `dart format` and `flutter analyze` before you finish.\n"
                    "- Never call the network from a widget; go through a repository."
                ),
            ),
            (
                17,
                "fact",
                "Patterns & Conventions",
                "Station ids of the Danish service start with a letter, all others are numeric.",
            ),
            (18, "fact", "Patterns & Conventions", "The release branch is cut on the first Tuesday of the month."),
        ],
        id="gemini-project.md",
    ),
    pytest.param(
        "cursor-api.mdc",
        ".cursor/rules/api.mdc",
        "cursor-rules",
        0,
        [
            (
                9,
                "fact",
                "Patterns & Conventions",
                (
                    "HTTP handlers:\n"
                    "- Parse input with the schema next to the handler; never trust `req.body`.\n"
                    "- Return problem details (RFC 9457) on errors, with a stable `type`.\n"
                    "- Every handler has a timeout of 5 s.\n"
                    "(For src/api/**/*.ts, src/routes/**.)"
                ),
            ),
            (
                15,
                "gotcha",
                "Express 4 does not catch rejected promises",
                (
                    "Express 4 does not catch rejected promises: wrap handlers in `asyncRoute` from "
                    "`src/api/async.ts`.\n"
                    "```ts\n"
                    'router.get("/ships", asyncRoute(listShips));\n'
                    "```"
                ),
            ),
        ],
        id="cursor-api.mdc",
    ),
    pytest.param(
        "cursorrules.txt",
        ".cursorrules",
        "cursor-rules",
        0,
        [
            (
                3,
                "fact",
                "Patterns & Conventions",
                (
                    "Key Principles\n"
                    "- Prefer functions over classes; pass dependencies as arguments.\n"
                    "- Use type hints everywhere and pydantic models for input and output.\n"
                    "- Files and folders in lowercase with underscores (routers/user_routes.py).\n"
                    "Error Handling\n"
                    "- Handle errors and edge cases first, with early returns.\n"
                    "- Raise HTTPException for expected errors and model them as specific responses.\n"
                    "Refer to the FastAPI documentation for data models, path operations and middleware."
                ),
            ),
        ],
        id="cursorrules.txt",
    ),
    pytest.param(
        "copilot-instructions.md",
        ".github/copilot-instructions.md",
        "copilot-instructions",
        1,
        [
            (
                3,
                "fact",
                "Architecture",
                ("This repository contains the firmware of a small weather station and the tools to flash it."),
            ),
            (
                7,
                "fact",
                "Architecture",
                (
                    "Folder structure:\n"
                    "- `/firmware`: C11 for the STM32L4, no heap after start.\n"
                    "- `/host`: Python tools for flashing and reading logs.\n"
                    "- `/docs`: schematics and the protocol."
                ),
            ),
            (
                13,
                "fact",
                "Architecture",
                (
                    "Libraries and frameworks:\n"
                    "- FreeRTOS 10.6 with static allocation only.\n"
                    "- Host tools use click and pyserial."
                ),
            ),
            (
                18,
                "fact",
                "Patterns & Conventions",
                (
                    "Coding standards:\n"
                    "- No dynamic memory in interrupt handlers.\n"
                    "- Register access only through `firmware/hal/`.\n"
                    "- Python code is typed and checked with mypy."
                ),
            ),
        ],
        id="copilot-instructions.md",
    ),
    pytest.param(
        "copilot-tests.instructions.md",
        ".github/instructions/tests.instructions.md",
        "copilot-instructions",
        0,
        [
            (
                4,
                "fact",
                "Patterns & Conventions",
                (
                    "tests: Use pytest fixtures, not setUp methods. A test that needs hardware is marked "
                    "`@pytest.mark.bench` and skipped on CI.\n"
                    "(For host/tests/**/*.py.)"
                ),
            ),
        ],
        id="copilot-tests.instructions.md",
    ),
    pytest.param(
        "cline-rules.md",
        ".clinerules/project.md",
        "cline-rules",
        0,
        [
            (
                5,
                "fact",
                "Patterns & Conventions",
                (
                    "Documentation:\n"
                    "- Update `docs/` with every change of behaviour.\n"
                    "- New public functions get a docstring with one example."
                ),
            ),
            (
                10,
                "fact",
                "Patterns & Conventions",
                (
                    "Architecture decisions: Write an ADR in `docs/adr` when you add a dependency, change "
                    "a boundary between modules, or pick a data format, because reviewers need to know "
                    "what was weighed."
                ),
            ),
            (
                15,
                "fact",
                "Patterns & Conventions",
                (
                    "Code style:\n"
                    "- Prefer composition; repositories for data access.\n"
                    "- Errors are values: return `Result`, do not throw."
                ),
            ),
        ],
        id="cline-rules.md",
    ),
    pytest.param(
        "serena-conventions.md",
        ".serena/memories/conventions.md",
        "serena",
        0,
        [
            (
                4,
                "fact",
                "Patterns & Conventions",
                (
                    "conventions › Style:\n"
                    "- Object-oriented where state lives longer than a call; plain functions elsewhere.\n"
                    "- Docstrings in reStructuredText with `:param x:` and `:return:`."
                ),
            ),
            (
                8,
                "fact",
                "Patterns & Conventions",
                "conventions › Typing: mypy strict; tests may leave out annotations.",
            ),
            (
                11,
                "gotcha",
                "Language servers are started lazily",
                (
                    "Language servers are started lazily: a test that needs one must request the `server` "
                    "fixture, or it hangs for 60 s."
                ),
            ),
        ],
        id="serena-conventions.md",
    ),
    pytest.param(
        "serena-suggested-commands.md",
        ".serena/memories/suggested_commands.md",
        "serena",
        0,
        [
            (
                3,
                "fact",
                "Patterns & Conventions",
                (
                    "suggested commands:\n"
                    "```bash\n"
                    "uv run poe format\n"
                    "uv run poe type-check\n"
                    'uv run poe test -m "python or go"\n'
                    "```"
                ),
            ),
        ],
        id="serena-suggested-commands.md",
    ),
    pytest.param(
        "bank-projectbrief.md",
        "memory-bank/projectbrief.md",
        "cline-memory-bank",
        0,
        [
            (
                4,
                "fact",
                "Architecture",
                (
                    "Overview: Lanternfish lets divers log their dives from several brands of dive "
                    "computers and share them with a club."
                ),
            ),
            (
                7,
                "fact",
                "Constraints",
                (
                    "Core Requirements:\n"
                    "- Import from at least five brands of dive computers over USB and Bluetooth.\n"
                    "- Logs stay readable without an account.\n"
                    "- All data can be exported as UDDF at any time."
                ),
            ),
            (12, "fact", "Constraints", "Out of Scope: Dive planning and decompression advice."),
        ],
        id="bank-projectbrief.md",
    ),
    pytest.param(
        "bank-system-patterns.md",
        "memory-bank/systemPatterns.md",
        "cline-memory-bank",
        0,
        [
            (
                4,
                "fact",
                "Architecture",
                (
                    "System Architecture: The app is a Rust core with a C interface and thin clients in "
                    "Swift and Kotlin."
                ),
            ),
            (
                9,
                "decision",
                "SQLite is the file format",
                ("A log is one SQLite file that users can copy. Sync is built on top of it, not instead of it."),
            ),
            (
                12,
                "decision",
                "Parsers are generated from descriptions",
                (
                    "- New computers come out twice a year.\n"
                    "- A description of fields is reviewed faster than parser code."
                ),
            ),
            (
                16,
                "fact",
                "Patterns & Conventions",
                (
                    "Design Patterns in Use:\n"
                    "- Repository per aggregate, unit of work per import.\n"
                    "- Events are appended, never edited."
                ),
            ),
        ],
        id="bank-system-patterns.md",
    ),
    pytest.param(
        "bank-tech-context.md",
        "memory-bank/techContext.md",
        "cline-memory-bank",
        0,
        [
            (4, "fact", "Architecture", "Technologies Used: Rust 1.80, SQLite 3.46, SwiftUI, Jetpack Compose."),
            (7, "fact", "Patterns & Conventions", "Development Setup:\n```sh\njust setup\njust test\n```"),
            (
                13,
                "fact",
                "Constraints",
                (
                    "Technical Constraints:\n"
                    "- No network access during import: clubs use it on boats.\n"
                    "- Bluetooth needs the entitlement in `ios/Lanternfish.entitlements`."
                ),
            ),
        ],
        id="bank-tech-context.md",
    ),
    pytest.param(
        "bank-active-context.md",
        "memory-bank/activeContext.md",
        "cline-memory-bank",
        2,
        [
            (11, "next step", "Read gas changes of the Perdix"),
            (13, "next step", "Show a warning for dives without a depth profile"),
            (16, "decision", "Bluetooth stays optional", "Half of the club computers are USB only."),
            (
                19,
                "fact",
                "Architecture",
                (
                    "Learnings and Project Insights: Manufacturers count dive time differently; we always "
                    "recompute it from samples."
                ),
            ),
        ],
        id="bank-active-context.md",
    ),
    pytest.param(
        "bank-progress.md",
        "memory-bank/progress.md",
        "cline-memory-bank",
        1,
        [
            (6, "feature", "Core", "- Import over USB from three brands\n- Dive list with profile"),
            (9, "feature", "Club sharing", "- Invite by link\n- Read-only guests"),
            (14, "feature", "Perdix importer", "Depth samples done, gas changes missing"),
            (20, "feature", "Core (what is left)", "- Import over Bluetooth\n- Merge of two logs"),
            (
                27,
                "gotcha",
                "Time zones",
                ("Dives of a trip across time zones are shown in the order of import.\n- Work around: sort by number"),
            ),
            (32, "decision", "From JSON to SQLite", "Files of 200 MB took a minute to open."),
        ],
        id="bank-progress.md",
    ),
    pytest.param(
        "claude-user.md",
        "~/.claude/CLAUDE.md",
        "claude-md",
        1,
        [
            (
                5,
                "user.about_me",
                (
                    "About me: I'm a backend developer with ten years of Go and Python; I'm new to React, "
                    "so explain client code a bit more."
                ),
            ),
            (
                9,
                "relationships.communication",
                (
                    "Communication:\n"
                    "- Answer briefly, without praise.\n"
                    "- Ask before you change a public API.\n"
                    "- When something fails twice, stop and tell me what you tried."
                ),
            ),
            (15, "tools.git", "Git:\n- Small commits, imperative subject, no emoji.\n- Never push; I push myself."),
            (
                20,
                "tools.tools",
                (
                    "Tools:\n"
                    "- `uv` for Python, `pnpm` for JavaScript. Never `pip install` into the system.\n"
                    "- I use fish; write shell snippets so that they run in `sh`."
                ),
            ),
        ],
        id="claude-user.md",
    ),
    pytest.param(
        "codex-handbook.md",
        "~/.codex/memories/MEMORY.md",
        "codex-memories",
        5,
        [
            (
                18,
                "user.when_a_migration_is_needed_the",
                (
                    'when a migration is needed, the user asked: "show me the SQL first" -> print the '
                    "migration before writing it"
                ),
            ),
            (
                22,
                "fact",
                "Patterns & Conventions",
                (
                    "harbor berth planning: Overlaps are refused by the constraint `berth_no_overlap`, "
                    "not by code; its error is 23P01."
                ),
            ),
            (
                23,
                "fact",
                "Patterns & Conventions",
                "harbor berth planning: `make test-db` takes 40 s; run the package you changed first.",
            ),
            (
                27,
                "fact",
                "Known Issues",
                (
                    "harbor berth planning: sqlc did not see the new column -> its schema is a copy in "
                    "`db/schema.sql` -> run `make schema` after each migration"
                ),
            ),
        ],
        id="codex-handbook.md",
    ),
    pytest.param(
        "codex-summary.md",
        "~/.codex/memories/memory_summary.md",
        "codex-memories",
        2,
        [
            (
                5,
                "user.profile",
                "Backend developer at a terminal operator; reviews every diff and prefers small steps.",
            ),
            (9, "user.show_the_plan_before_large_edits", "Show the plan before large edits."),
            (10, "user.reports_end_with_the_commands_that", "Reports end with the commands that were run."),
            (
                14,
                "learnings.search_the_handbook_before_opening_rollouts",
                "Search the handbook before opening rollouts.",
            ),
        ],
        id="codex-summary.md",
    ),
]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    made = Machine(tmp_path)
    made.write("internal/edi/dates.go", "package edi\n")
    made.write("src/api/async.ts", "export {}\n")
    return made


@pytest.mark.parametrize(("document", "path", "kind", "skipped", "expected"), CASES)
def test_a_document_comes_to_these_proposals(
    machine: Machine, document: str, path: str, kind: str, skipped: int, expected: list[tuple[Any, ...]]
) -> None:
    machine.put(document, path)
    read = machine.read(kind)
    assert said(read) == expected
    assert read.skipped == skipped
    assert read.problems == ()


@pytest.mark.parametrize(("document", "path", "kind", "skipped", "expected"), CASES)
def test_each_proposal_says_where_it_comes_from(
    machine: Machine, document: str, path: str, kind: str, skipped: int, expected: list[tuple[Any, ...]]
) -> None:
    machine.put(document, path)
    read = machine.read(kind)
    text = (machine.home / path[2:] if path.startswith("~/") else machine.root / path).read_text()
    lines = text.split("\n")
    for proposal in read.proposals:
        (evidence,) = proposal.evidence
        assert (proposal.origin, proposal.by, proposal.proposed_at) == (f"file:{path}", "file", NOW)
        assert evidence.by == "file"
        assert len(evidence.quote) <= QUOTE_CHARS
        shown, _, line = evidence.where.rpartition(":")
        assert shown == path
        first = evidence.quote.split()[0].strip("*_:").casefold()
        assert first in lines[int(line) - 1].casefold()


@pytest.mark.parametrize(("document", "path", "kind", "skipped", "expected"), CASES)
def test_each_proposal_is_one_that_its_layer_takes(
    machine: Machine, document: str, path: str, kind: str, skipped: int, expected: list[tuple[Any, ...]]
) -> None:
    machine.put(document, path)
    for proposal in machine.read(kind).proposals:
        fields = proposal.fields
        assert 0 < len(proposal.text) <= TEXT_CHARS
        if proposal.into == "graph":
            draft = read_intent({"task": "import", "nodes": [fields]})
            assert (draft.problems, draft.warnings) == ([], [])
        elif proposal.into == "profile":
            allowed_category(fields["category"])
            allowed_key(fields["key"])
            allowed_tags(fields["tags"])
            assert allowed_value(fields["value"])[0] == fields["value"]
        elif proposal.into == "facts":
            assert fields["section"] in SECTIONS
            assert set(fields) == {"section", "content", "tags"}
            allowed_tags(sorted(fields["tags"]))
        else:
            assert set(fields) == {"text"}


@pytest.mark.parametrize(("document", "path", "kind", "skipped", "expected"), CASES)
def test_the_same_file_gives_the_same_proposals(
    machine: Machine, document: str, path: str, kind: str, skipped: int, expected: list[tuple[Any, ...]]
) -> None:
    machine.put(document, path)
    first = machine.read(kind)
    again = machine.read(kind)
    assert first == again
    assert len({proposal.id for proposal in first.proposals}) == len(first.proposals)


def test_anchors_are_the_code_that_is_named_and_the_patterns_of_the_rule(machine: Machine) -> None:
    machine.put("cursor-api.mdc", ".cursor/rules/api.mdc")
    (gotcha,) = [proposal for proposal in machine.read("cursor-rules").proposals if proposal.kind == "gotcha"]
    assert gotcha.fields["anchors"] == ["src/api/async.ts", "src/api/**/*.ts", "src/routes/**"]


def test_instructions_beside_code_are_anchored_there(machine: Machine) -> None:
    machine.put("agents-package.md", "packages/api/AGENTS.md")
    (gotcha,) = [proposal for proposal in machine.read("agents-md").proposals if proposal.kind == "gotcha"]
    assert gotcha.fields["anchors"] == ["packages/api/"]


def test_features_of_a_memory_bank_have_their_stage(machine: Machine) -> None:
    machine.put("bank-progress.md", "memory-bank/progress.md")
    proposals = machine.read("cline-memory-bank").proposals
    stages = {each.fields["title"]: each.fields["stage"] for each in proposals if each.kind == "feature"}
    assert stages == {
        "Core": "shipped",
        "Club sharing": "shipped",
        "Perdix importer": "building",
        "Core (what is left)": "idea",
    }
