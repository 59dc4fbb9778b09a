"""Validation: which commands check the work, how they ended, and which run counts."""

from __future__ import annotations

import pytest
from signal_hearing import agent, runs, signals, user

from cases import each
from quire.capture.transcripts.types import Turn

CARGO = "test result: ok. 60 passed; 0 failed; 1 ignored; 0 measured\n\ntest result: ok. 4 passed; 0 failed; 0 ignored;"
DJANGO = "Found 118 test(s).\n" + "." * 118 + "\nRan 118 tests in 22.8s\n\nOK (skipped=2)"
MAVEN = "[ERROR] Tests run: 204, Failures: 1, Errors: 3, Skipped: 1\n[ERROR] StockServiceTest.reserve"
JEST = "FAIL a.test.ts\nTests:       1 failed, 40 passed, 41 total\nTest Suites: 1 failed, 8 passed, 9 total"
UNITTEST = "Ran 6 tests in 0.1s\n\nFAILED (failures=1, errors=2)"
DOTNET = "Passed!  - Failed:     0, Passed:    21, Skipped:     1, Total:    22"
VITEST = " Test Files  1 failed | 11 passed (12)\n      Tests  1 failed | 73 passed (74)"


@each(
    ("command", "output", "failed", "expected"),
    [
        ("pytest -q", "3 failed, 39 passed, 2 skipped in 4s", True, "failed (3 failed, 39 passed, 2 skipped)"),
        ("pytest", "==== 48 passed, 2 warnings in 6.12s ====", False, "passed (48 passed, 2 warnings)"),
        ("npm test", JEST, True, "failed (Tests: 1 failed, 40 passed, 41 total)"),
        ("npx vitest run", VITEST, True, "failed (1 failed | 73 passed (74))"),
        ("cargo test", CARGO, False, "passed (64 passed, 1 skipped)"),
        ("python manage.py test billing", DJANGO, False, "passed (118 tests, 2 skipped)"),
        ("python -m unittest", UNITTEST, True, "failed (1 failed, 2 errors, 6 tests)"),
        ("./mvnw -q test", MAVEN, True, "failed (Tests run: 204, Failures: 1, Errors: 3, Skipped: 1)"),
        ("vendor/bin/phpunit", "OK (31 tests, 90 assertions)", False, "passed (31 tests)"),
        ("vendor/bin/phpunit", "Tests: 31, Failures: 2.", True, "failed (Tests: 31, Failures: 2)"),
        ("bundle exec rspec", "Finished in 1 s\n10 examples, 0 failures", False, "passed (10 examples, 0 failures)"),
        ("npm test --workspaces", "# tests 311\n# pass 309\n# fail 2", True, "failed (2 failed, 309 passed)"),
        ("ctest --test-dir build", "97% tests passed, 2 tests failed out of 61", True, "failed (2 of 61 failed)"),
        ("flutter test", "00:04 +57: All tests passed!", False, "passed (57 passed)"),
        ("go test ./...", "ok  \texample.org/a\t0.4s", False, "passed"),
        ("mypy src", "Found 1 error in 1 file (checked 9 files)", True, "failed (1 error in 1 file (checked 9 files))"),
        ("mypy src", "Success: no issues found in 31 files", False, "passed (no issues found in 31 files)"),
        ("ruff check .", "All checks passed!", False, "passed"),
        ("npm run build", "a.ts(1,2): error TS2345: x\nb.ts(3,4): error TS1: y", True, "failed (2 errors)"),
        ("bundle exec rubocop", "412 files inspected, 1 offense", True, "failed (412 files inspected, 1 offense)"),
        ("golangci-lint run", "0 issues.", False, "passed (0 issues)"),
        ("npx eslint .", "✖ 1 problem (0 errors, 1 warning)", False, "passed (1 problem (0 errors, 1 warning))"),
        ("uv run pyright", "1 error, 0 warnings, 0 informations", True, "failed (1 error, 0 warnings, 0 informations)"),
        ("dotnet test", DOTNET, False, "passed (Failed: 0, Passed: 21, Skipped: 1, Total: 22)"),
        ("make check", "make: *** [check] Error 1", True, "failed"),
        ("docker build .", "writing image sha256:1f0c done", False, "passed"),
        ("dbt build", "Done. PASS=24 WARN=1 ERROR=0 SKIP=0", False, "passed (PASS=24 WARN=1 ERROR=0 SKIP=0)"),
        ("ceedling test:all", "TESTED: 34\nPASSED: 33\nFAILED: 1", True, "failed (TESTED: 34, PASSED: 33, FAILED: 1)"),
        ("npx playwright test", "  1 failed\n    a.spec.ts\n  11 passed (48.2s)", True, "failed (1 failed, 11 passed)"),
        ("terraform plan", "Plan: 4 to add, 0 to destroy.", False, "passed (Plan: 4 to add, 0 to destroy)"),
        ("./scripts/verify_counts.sh", "sent=12 got=12 lost=0", False, "passed (sent=12 got=12 lost=0)"),
        ("scripts/smoke.sh staging", "0 of 27 failed", False, "passed (0 of 27 failed)"),
        ("vite build", "✓ built in 41 ms", False, "passed"),
        # An exit code that a pipe hid.
        ("pytest -q | tail -3", "1 failed, 2 passed in 1s", False, "failed (1 failed, 2 passed)"),
        ("cargo build", "error[E0432]: unresolved import", False, "failed"),
    ],
)  # fmt: skip
def test_the_verdict_and_the_counts_are_taken_from_the_output(
    command: str, output: str, failed: bool, expected: str
) -> None:
    found = signals(user("check it"), runs(command, output, failed=failed)).validation_observations
    assert found == (f"{command.partition(' |')[0]}: {expected}",)


@pytest.mark.parametrize(
    "command",
    [
        "ls -la",
        "git status",
        "cat tests/test_a.py",
        "npm ci",
        "pip install pytest",
        "grep -rn pytest .",
        "python run.py",
        "echo 'run make test'",
        "git checkout -b check-links",
        "npm install --save-dev test-utils",
        "php tools/build_map.php",
        "vim tests/test_a.py",
        "cat <<EOF\npytest\nEOF",
        "",
    ],
)
def test_other_commands_are_no_checks(command: str) -> None:
    assert signals(user("look around"), runs(command, "1 failed, 2 passed")).validation_observations == ()


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("cd web && npm run lint", "cd web && npm run lint"),
        ("CI=1 npm run test:unit 2>&1 | tail -20", "CI=1 npm run test:unit"),
        ("set -e\npytest tests/a", "pytest tests/a"),
    ],
)
def test_a_command_is_shown_without_what_only_trims_its_output(command: str, shown: str) -> None:
    assert signals(user("check"), runs(command, "ok")).validation_observations == (f"{shown}: passed",)


@each(
    ("line", "expected"),
    [
        ("go vet ./... && go test ./...", ["go vet ./...", "go test ./..."]),
        ("sed -i s/a/b/ x.rs && cargo check --all-targets", ["cargo check --all-targets"]),
        ("git commit -qam 'run; make test' && npm run lint", ["npm run lint"]),
        ("cd app && pytest -q | tail -3 && mypy src", ["cd app && pytest -q", "cd app && mypy src"]),
        ("apply_patch <<'P'\n+pytest\nP\nruff check .", ["ruff check ."]),
    ],
)
def test_each_check_of_a_line_that_passed_is_told(line: str, expected: list[str]) -> None:
    found = signals(user("check"), runs(line, "ok")).validation_observations
    assert list(found) == [f"{command}: passed" for command in expected]


def test_checks_of_one_line_have_their_own_counts_and_fail_together() -> None:
    line = "pytest tests/a && pytest tests/b"
    found = signals(user("check"), runs(line, "3 passed in 1s\n5 passed in 2s")).validation_observations
    assert found == ("pytest tests/a: passed (3 passed)", "pytest tests/b: passed (5 passed)")
    found = signals(user("check"), runs(line, "1 failed, 3 passed in 1s", failed=True)).validation_observations
    assert found == (f"{line}: failed (1 failed, 3 passed)",)


@each(
    "command",
    [
        "forge test",
        "west build -b nodo",
        "restic check",
        "pnpm nuxi typecheck",
        "npx @redocly/cli lint api.yaml",
        "forge fmt --check",
        "ansible-playbook site.yml --check",
        "buildifier -mode=check -r .",
        "./scripts/verify_counts.sh orders",
        "php tools/check_links.php --all",
        "ssh nas 'docker exec restic restic check'",
    ],
)
def test_what_a_command_is_told_to_do_makes_it_a_check(command: str) -> None:
    assert signals(user("check"), runs(command)).validation_observations == (f"{command}: passed",)


def test_the_last_run_counts() -> None:
    found = signals(
        user("fix it"),
        runs("pytest", "2 failed, 3 passed", failed=True),
        runs("pytest", "5 passed"),
        runs("ruff check .", "Found 1 error.", failed=True),
    )
    assert found.validation_observations == ("pytest: passed (5 passed)", "ruff check .: failed (1 error)")


def test_a_failure_of_several_is_not_told_where_one_of_them_ran_again() -> None:
    found = signals(
        user("check"),
        runs("go vet ./... && go test ./...", "--- FAIL: TestRetry", failed=True),
        runs("go test ./...", "ok  \texample.org/a\t0.4s"),
    )
    assert found.validation_observations == ("go test ./...: passed",)


def test_a_failure_that_a_wider_run_repaired_is_not_told() -> None:
    found = signals(
        user("fix it"),
        runs("cargo test crlf", "test result: FAILED. 0 passed; 1 failed; 0 ignored", failed=True),
        runs("pytest tests/api/test_a.py", "1 failed", failed=True),
        runs("cargo test", "test result: ok. 64 passed; 0 failed; 0 ignored"),
        runs("pytest tests", "9 passed"),
    )
    assert found.validation_observations == ("cargo test: passed (64 passed)", "pytest tests: passed (9 passed)")


def test_what_a_wider_run_looked_at_again_is_not_told() -> None:
    found = signals(
        user("check"),
        runs("pytest tests/a.py", "3 passed"),
        runs("./gradlew :app:test", "BUILD SUCCESSFUL"),
        runs("pytest", "40 passed"),
        runs("./gradlew test", "BUILD SUCCESSFUL"),
    )
    assert found.validation_observations == ("pytest: passed (40 passed)", "./gradlew test: passed")


def test_a_failure_stays_where_only_something_narrower_passed() -> None:
    found = signals(
        user("fix it"), runs("pytest", "1 failed, 8 passed", failed=True), runs("pytest tests/a.py", "3 passed")
    )
    assert found.validation_observations == (
        "pytest: failed (1 failed, 8 passed)",
        "pytest tests/a.py: passed (3 passed)",
    )


def test_options_that_change_what_is_checked_make_another_check() -> None:
    found = signals(
        user("check"),
        runs("go test ./...", "ok  \ta\t0.1s"),
        runs("go test -race ./...", "ok  \ta\t0.4s"),
        runs("pytest -x -q", "1 failed", failed=True),
        runs("pytest --tb=short", "4 passed"),
    )
    assert found.validation_observations == (
        "go test ./...: passed",
        "go test -race ./...: passed",
        "pytest --tb=short: passed (4 passed)",
    )


def test_a_list_of_checks_below_a_heading_is_read() -> None:
    found = signals(user("## Verification\n\n- go test ./auth/...  ok\n- golangci-lint run   2 issues left in old.go"))
    assert found.validation_observations == ("go test ./auth/...: passed", "golangci-lint run: failed (2 issues)")


def test_answers_belong_to_calls_in_their_order() -> None:
    found = signals(
        user("check"),
        Turn(role="assistant", tool="Bash", text="ruff check ."),
        Turn(role="assistant", tool="Bash", text="mypy src"),
        Turn(role="tool", tool="Bash", text="All checks passed!"),
        Turn(role="tool", tool="Bash", text="Found 2 errors in 1 file", is_error=True),
    )
    assert found.validation_observations == ("ruff check .: passed", "mypy src: failed (2 errors in 1 file)")


def test_a_call_without_an_answer_does_not_take_the_next_ones() -> None:
    found = signals(
        user("check"),
        runs("ls"),
        Turn(role="assistant", tool="Bash", text="mypy src"),
        user("stop"),
        agent("Stopped."),
        runs("pytest", "4 passed"),
    )
    assert found.validation_observations == ("pytest: passed (4 passed)",)


def test_checks_that_somebody_tells_of_count_where_none_was_seen() -> None:
    told = agent("I've run `npm run lint` and `npm run test -- Form`; lint is clean and all 12 tests pass.")
    assert signals(user("fix"), told).validation_observations == (
        "npm run lint: passed",
        "npm run test -- Form: passed (12 passed)",
    )
    seen = runs("npm run lint", "✖ 2 problems (2 errors, 0 warnings)", failed=True)
    found = signals(user("fix"), seen, agent("`npm run lint` is clean."))
    assert found.validation_observations == ("npm run lint: failed (2 problems (2 errors, 0 warnings))",)


def test_a_labelled_observation_is_kept_as_it_is_said() -> None:
    assert signals(agent("Validated: the worker test is flaky on CI")).validation_observations == (
        "The worker test is flaky on CI",
    )
    assert signals(agent("Validated: npm test passes with the cache on")).validation_observations == (
        "npm test: passed",
    )
