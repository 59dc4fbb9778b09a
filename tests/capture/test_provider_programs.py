"""Claude Code and Codex as programs: how they are called, and what becomes of every way they can end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from provider_making import (
    BUNDLE,
    BUNDLE_REQUEST,
    QUERY,
    QUERY_REQUEST,
    SESSION,
    SESSION_REQUEST,
    Desk,
    codex_answer,
    envelope,
    is_running,
    session_of,
)

from promised import proves
from quire.capture.providers.availability import available
from quire.capture.providers.failures import BadAnswer, ProgramMissing, ProviderFailed, SignedOut, TimedOut
from quire.capture.providers.requests import recall_task
from quire.capture.providers.settings import ProgramSettings
from quire.layers.journal.shapes import output_schemas
from quire.model.errors import InputError, NotReady

MESSAGE = {"type": "agent_message", "text": json.dumps(SESSION)}
BOTH = pytest.mark.parametrize("provider", ["claude", "codex"])


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path, CLAUDECODE="1", GIT_DIR="/elsewhere/.git", OTHER="kept")


def value_after(argv: list[str], name: str) -> str:
    return argv[argv.index(name) + 1]


# -- how they are called --------------------------------------------------------------------


def test_claude_gets_the_prompt_on_its_input_no_tools_and_a_budget(desk: Desk) -> None:
    desk.stand_in("claude", envelope(SESSION))
    desk.settings = msgspec.structs.replace(desk.settings, claude=ProgramSettings(model="haiku"))
    answer = desk.ask("claude")
    assert (answer.value, answer.provider, answer.cost_usd, answer.calls, answer.warnings) == (
        SESSION,
        "claude",
        0.0123,
        1,
        (),
    )
    (call,) = desk.calls("claude")
    argv = call["argv"]
    assert argv[0] == "-p"
    assert value_after(argv, "--output-format") == "json"
    assert json.loads(value_after(argv, "--json-schema")) == output_schemas()["importedSession"]
    assert value_after(argv, "--tools") == ""
    assert value_after(argv, "--model") == "haiku"
    assert value_after(argv, "--setting-sources") == "user"
    assert json.loads(value_after(argv, "--settings")) == {"disableAllHooks": True}
    assert "--strict-mcp-config" in argv
    assert "--no-session-persistence" in argv
    assert 0.3 < float(value_after(argv, "--max-budget-usd")) < 1
    assert "limit the cache" in call["stdin"]
    assert not any("limit the cache" in word for word in argv)
    assert call["env"]["CLAUDE_CODE_MAX_OUTPUT_TOKENS"] == "3000"


def test_codex_gets_files_and_a_sandbox_that_only_reads(desk: Desk) -> None:
    desk.stand_in("codex", codex_answer(SESSION, read=2000, written=50))
    answer = desk.ask("codex")
    assert answer.value == SESSION
    assert answer.cost_usd == pytest.approx(2000 * 15e-6 + 50 * 75e-6)
    heard, noted = desk.calls("codex")
    argv = heard["argv"]
    room = str(desk.home / "provider-room")
    assert argv[:8] == ["exec", "-C", room, "--skip-git-repo-check", "--ephemeral", "--sandbox", "read-only", "--json"]
    assert argv[-1] == "-"
    assert noted["schema"] == output_schemas()["importedSession"]
    assert "limit the cache" in heard["stdin"]
    assert list((desk.home / "provider-room").iterdir()) == []


@proves("P7.3", "F7")
@BOTH
def test_they_never_run_in_the_project_nor_with_what_would_mislead_them(desk: Desk, provider: str) -> None:
    desk.stand_in(provider, envelope(SESSION) if provider == "claude" else codex_answer(SESSION))
    desk.ask(provider)
    call = desk.calls(provider)[0]
    assert call["cwd"] == str((desk.home / "provider-room").resolve())
    env = call["env"]
    assert env["OTHER"] == "kept"
    assert "CLAUDECODE" not in env
    assert "GIT_DIR" not in env
    assert env["AGENT_MEMORY_PROVIDER_CALL"] == "1"


def test_a_call_costs_one_process(desk: Desk) -> None:
    desk.stand_in("claude", envelope(SESSION))
    for _ in range(3):
        desk.ask("claude")
    assert len(desk.calls("claude")) == 3


def test_a_prompt_may_be_longer_than_an_argument(desk: Desk) -> None:
    desk.stand_in("claude", envelope(SESSION))
    long = session_of({"payload": "line of text\n" * 40_000})
    desk.ask("claude", long, prompt_bytes=400_000)
    assert len(desk.calls("claude")[0]["stdin"]) > 300_000


# -- what they may answer -------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        envelope(SESSION),
        envelope(None, result=json.dumps(SESSION)),
        envelope(None, result=f"Here it is:\n```json\n{json.dumps(SESSION, indent=1)}\n```\nDone."),
        envelope(None, result=f"```json\n{json.dumps(SESSION)}\n```"),
        envelope({"type": "result", "result": json.dumps(SESSION)}),
        f"print({json.dumps([{'type': 'system'}, {'type': 'result', 'structured_output': SESSION}])!r})",
        f"print({json.dumps(SESSION)!r})",
        f"print('Sure! ' + {json.dumps(SESSION)!r} + ' Anything else?')",
        f"sys.stdout.buffer.write(b'\\xef\\xbb\\xbf' + {json.dumps(SESSION).encode()!r})",
    ],
    ids=["structured", "result", "fence in words", "fence", "twice", "verbose", "bare", "words", "mark"],
)
def test_an_answer_of_claude_is_found_wherever_it_stands(desk: Desk, body: str) -> None:
    desk.stand_in("claude", body)
    assert desk.ask("claude").value == SESSION


@pytest.mark.parametrize(
    "body",
    [
        codex_answer(SESSION),
        f"print({json.dumps({'type': 'item.completed', 'item': MESSAGE})!r})",
        f"print({json.dumps(SESSION)!r})",
    ],
    ids=["file", "event", "bare"],
)
def test_an_answer_of_codex_is_found_in_its_file_or_in_what_it_says(desk: Desk, body: str) -> None:
    desk.stand_in("codex", body)
    assert desk.ask("codex").value == SESSION


def test_every_kind_has_its_schema_and_its_check(desk: Desk) -> None:
    recall = recall_task(context={}, state={"bundle": BUNDLE}, evidence=[], scope="all")
    kinds: list[tuple[Any, dict[str, Any], str]] = [
        (BUNDLE_REQUEST, BUNDLE, "bundle"),
        (recall, BUNDLE, "bundle"),
        (QUERY_REQUEST, QUERY, "query"),
        (SESSION_REQUEST, SESSION, "importedSession"),
    ]
    for task, value, schema in kinds:
        desk.stand_in("claude", envelope(value))
        assert desk.ask("claude", task).value == value
        assert json.loads(value_after(desk.calls("claude")[-1]["argv"], "--json-schema")) == output_schemas()[schema]


# -- a second try ---------------------------------------------------------------------------


def test_an_answer_that_does_not_fit_is_asked_for_once_more_with_its_faults(desk: Desk) -> None:
    good, bad = envelope(SESSION, cost=0.02), envelope({**SESSION, "summary": ""}, cost=0.03)
    desk.stand_in("claude", f"if 'ANSWER_ERRORS_JSON' in heard:\n    {good}else:\n    {bad}")
    answer = desk.ask("claude")
    assert (answer.value, answer.calls, answer.cost_usd) == (SESSION, 2, 0.05)
    first, second = (call["stdin"] for call in desk.calls("claude"))
    assert "normalized.summary must be a non-empty string." in second
    assert "normalized.summary" not in first
    assert desk.day() == {"spent": 50_000, "calls": 2, "open": {}}


@BOTH
@pytest.mark.parametrize(
    "body",
    [
        "print('I would rather talk about the weather.')",
        "sys.stdout.buffer.write(bytes(range(256)) * 50)",
        "",
        'print(\'{"summary": "cut of\')',
        "print('[1, 2]')",
        "print('{\"a\":' * 5000 + '1' + '}' * 5000)",
    ],
    ids=["prose", "bytes", "nothing", "torn", "list", "deep"],
)
def test_what_is_no_answer_is_told_after_the_second_try(desk: Desk, provider: str, body: str) -> None:
    desk.stand_in(provider, body)
    with pytest.raises(BadAnswer) as found:
        desk.ask(provider)
    assert found.value.details["reason"] == "invalid-answer"
    assert found.value.details["faults"] == ["The answer must be one JSON object."]
    assert found.value.details["calls"] == len(desk.calls(provider)) == 2
    assert desk.day()["open"] == {}


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"recommendedEntryFile": "../../etc/passwd"}, "bundle.project.recommendedEntryFile"),
        ({"recommendedEntryFile": "/etc/passwd"}, "bundle.project.recommendedEntryFile"),
        ({"keyPaths": ["src", "a/../../b"]}, "bundle.project.keyPaths[1]"),
        ({"keyPaths": ["~/.ssh/id"]}, "bundle.project.keyPaths[0]"),
        ({"keyPaths": ["C:\\x"]}, "bundle.project.keyPaths[0]"),
    ],
)
def test_a_bundle_whose_paths_lead_out_does_not_fit(desk: Desk, change: dict[str, Any], fault: str) -> None:
    desk.stand_in("claude", envelope({**BUNDLE, "project": {**BUNDLE["project"], **change}}))
    with pytest.raises(BadAnswer) as found:
        desk.ask("claude", BUNDLE_REQUEST)
    assert found.value.details["faults"] == [f"{fault} must be a path inside the repository."]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"mode": "next"}, "query.mode must equal answer."),
        (
            {"citations": [{**QUERY["citations"][0], "sourceId": "evt-999999"}]},  # type: ignore[dict-item]
            "query.citations[0] names nothing of the shortlist.",
        ),
    ],
)
def test_an_answer_that_cites_what_nobody_showed_does_not_fit(desk: Desk, change: dict[str, Any], fault: str) -> None:
    desk.stand_in("claude", envelope({**QUERY, **change}))
    with pytest.raises(BadAnswer) as found:
        desk.ask("claude", QUERY_REQUEST)
    assert found.value.details["faults"] == [fault]


# -- how they can fail ----------------------------------------------------------------------


@BOTH
def test_a_program_that_is_not_there(desk: Desk, provider: str) -> None:
    with pytest.raises(ProgramMissing) as found:
        desk.ask(provider)
    assert found.value.details["reason"] == "missing"
    assert not (desk.home / "spend.json").exists()


@BOTH
def test_a_program_that_cannot_start_costs_nothing(desk: Desk, provider: str) -> None:
    path = desk.bin / provider
    path.write_text("#!/nowhere/at-all\n")
    path.chmod(0o755)
    with pytest.raises(ProgramMissing):
        desk.ask(provider)
    assert desk.day() == {"spent": 0, "calls": 1, "open": {}}


@pytest.mark.proof(keep=1)
@BOTH
def test_a_program_that_hangs_is_stopped_with_its_children(desk: Desk, provider: str) -> None:
    desk.stand_in(
        provider, "child = subprocess.Popen(['sleep', '60'])\nnote(child=child.pid)\ntime.sleep(60)", hears=False
    )
    desk.with_seconds(1.5)
    with pytest.raises(TimedOut) as found:
        desk.ask(provider)
    assert found.value.details["seconds"] == 1.5
    assert not is_running(desk.calls(provider)[0]["child"])
    assert desk.day()["spent"] > 0
    assert len(desk.calls(provider)) == 1


@pytest.mark.proof(keep=1)
@BOTH
def test_a_child_that_holds_the_pipe_does_not_hold_the_answer(desk: Desk, provider: str) -> None:
    body = envelope(SESSION) if provider == "claude" else codex_answer(SESSION)
    desk.stand_in(provider, "child = subprocess.Popen(['sleep', '60'])\nnote(child=child.pid)\n" + body)
    assert desk.ask(provider).value == SESSION
    assert not is_running(desk.calls(provider)[1]["child"])


@BOTH
def test_a_program_that_ends_before_it_reads_is_told_by_its_code(desk: Desk, provider: str) -> None:
    desk.stand_in(provider, "os.close(0)\nsys.stderr.write('boom\\n')\nsys.exit(7)", hears=False)
    long = session_of({"payload": "x y\n" * 20_000})
    with pytest.raises(ProviderFailed) as found:
        desk.ask(provider, long)
    assert type(found.value) is ProviderFailed
    assert found.value.message == f"{provider} failed with exit code 7: boom"
    assert found.value.details["exit_code"] == 7


@BOTH
def test_a_flood_is_no_answer(desk: Desk, provider: str) -> None:
    desk.stand_in(provider, "for _ in range(100): sys.stdout.write('x' * 1_000_000)")
    with pytest.raises(BadAnswer, match="more than 4 MiB"):
        desk.ask(provider)


def test_a_flood_in_the_file_of_codex_is_none_either(desk: Desk) -> None:
    desk.stand_in("codex", "open(sys.argv[sys.argv.index('-o') + 1], 'w').write('x' * 5_000_000)")
    with pytest.raises(BadAnswer, match="more than 4 MiB"):
        desk.ask("codex")
    assert list((desk.home / "provider-room").iterdir()) == []


@pytest.mark.parametrize(
    ("provider", "body"),
    [
        ("claude", envelope(None, cost=0, result="Invalid API key · Please run /login", is_error=True) + "sys.exit(1)"),
        ("claude", "sys.stderr.write('Not logged in. Please run /login')\nsys.exit(1)"),
        ("claude", "print('OAuth token has expired. Please obtain a new token')\nsys.exit(1)"),
        ("codex", "sys.stderr.write('Error: Not logged in. Run `codex login` first.\\n')\nsys.exit(1)"),
        ("codex", "sys.stderr.write('exceeded retry limit, last status: 401 Unauthorized\\n')\nsys.exit(1)"),
        (
            "codex",
            'print(\'{"type":"turn.failed","error":{"message":"unexpected status 401 Unauthorized"}}\')\nsys.exit(1)',
        ),
    ],
)
def test_nobody_is_signed_in(desk: Desk, provider: str, body: str) -> None:
    desk.stand_in(provider, body)
    with pytest.raises(SignedOut) as found:
        desk.ask(provider)
    assert found.value.details["reason"] == "signed-out"
    assert desk.day() == {"spent": 0, "calls": 1, "open": {}}


@pytest.mark.parametrize(
    "said",
    [
        "the prompt has 31000 tokens, the context window 30000",
        "could not parse token at line 3 of auth.ts",
        "authorship of login.py is unknown",
        "your subscription to events failed",
        "x" * 500 + " not logged in",
    ],
)
def test_words_about_tokens_and_logins_are_not_a_missing_login(desk: Desk, said: str) -> None:
    desk.stand_in("codex", f"sys.stderr.write({said!r})\nsys.exit(1)")
    with pytest.raises(ProviderFailed) as found:
        desk.ask("codex")
    assert type(found.value) is ProviderFailed


def test_an_answer_that_speaks_of_logins_is_an_answer(desk: Desk) -> None:
    value = {**SESSION, "summary": "Not logged in: please run /login was shown."}
    desk.stand_in("claude", envelope(value))
    assert desk.ask("claude").value == value


def test_a_failure_that_claude_reports_counts_what_it_reports(desk: Desk) -> None:
    desk.stand_in("claude", envelope(None, cost=0.5, result=None, subtype="error_max_turns", is_error=True))
    with pytest.raises(ProviderFailed, match="error_max_turns"):
        desk.ask("claude")
    assert desk.day()["spent"] == 500_000


def test_a_secret_in_what_a_program_says_is_not_shown(desk: Desk) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    desk.stand_in("claude", f"sys.stderr.write('cannot use {secret} here')\nsys.exit(2)")
    with pytest.raises(ProviderFailed) as found:
        desk.ask("claude")
    assert secret not in found.value.message + str(found.value.details)
    assert "cannot use" in found.value.message


# -- which program --------------------------------------------------------------------------


def test_a_program_of_the_project_is_never_run(desk: Desk) -> None:
    inside = desk.root / "node_modules" / ".bin"
    inside.mkdir(parents=True)
    outside = desk.stand_in("claude", envelope(SESSION))
    (inside / "claude").write_text("#!/bin/sh\ntouch ran\n")
    (inside / "claude").chmod(0o755)
    env = {**desk.world.env, "PATH": f"{inside}:.:node_modules/.bin:{desk.bin}"}
    desk.world = msgspec.structs.replace(desk.world, env=env)
    assert desk.ask("claude").value == SESSION
    assert available(desk.settings, desk.world, root=str(desk.root))[0].path == str(outside)
    for named in (str(inside / "claude"), "node_modules/.bin/claude"):
        world = msgspec.structs.replace(desk.world, env={**env, "AGENT_MEMORY_CLAUDE_BIN": named})
        desk.world = world
        with pytest.raises(ProgramMissing):
            desk.ask("claude")
    link = desk.bin / "linked"
    link.symlink_to(inside / "claude")
    desk.world = msgspec.structs.replace(desk.world, env={**env, "AGENT_MEMORY_CLAUDE_BIN": str(link)})
    with pytest.raises(ProgramMissing, match="belongs to the project"):
        desk.ask("claude")


@proves("P7.1", "F3")
def test_settings_that_lie_in_the_project_allow_nothing(desk: Desk) -> None:
    desk.stand_in("claude", envelope(SESSION))
    inside = desk.root / ".memory"
    inside.mkdir()
    desk.world = msgspec.structs.replace(desk.world, env={**desk.world.env, "MEMORY_HOME": str(inside)})
    with pytest.raises(NotReady, match="inside the project"):
        desk.ask("claude")
    assert desk.calls("claude") == []


def test_a_home_folder_under_git_is_no_project_of_others(desk: Desk) -> None:
    desk.stand_in("claude", envelope(SESSION))
    desk.root = desk.path
    assert desk.ask("claude").value == SESSION


def test_who_was_asked_does_not_ask(desk: Desk) -> None:
    desk.stand_in("claude", envelope(SESSION))
    desk.world = msgspec.structs.replace(desk.world, env={**desk.world.env, "AGENT_MEMORY_PROVIDER_CALL": "1"})
    with pytest.raises(NotReady, match="must not call another provider"):
        desk.ask("claude")
    assert desk.calls("claude") == []


def test_a_provider_nobody_knows(desk: Desk) -> None:
    with pytest.raises(InputError, match="gemini"):
        desk.ask("gemini")


def test_what_is_available_is_found_without_running_anything(desk: Desk) -> None:
    path = desk.stand_in("claude", "print('2.1.111 (Claude Code)')", hears=True)
    claude, codex, openai = available(desk.settings, desk.world)
    assert (claude.found, claude.path, claude.version) == (True, str(path), None)
    assert (codex.found, codex.reason) == (False, "codex cannot be asked: there is no program `codex`.")
    assert (openai.found, openai.reason) == (False, "The endpoint cannot be asked: `openai.model` names no model.")
    assert desk.calls("claude") == []
    (claude, _, _) = available(desk.settings, desk.world, versions=True)
    assert (claude.found, claude.version) == (True, "2.1.111")
    assert [call["argv"] for call in desk.calls("claude")] == [["--version"]]


def test_a_program_whose_version_fails_is_not_available(desk: Desk) -> None:
    desk.stand_in("codex", "sys.exit(3)")
    codex = available(desk.settings, desk.world, versions=True)[1]
    assert (codex.found, codex.reason) == (False, "`codex --version` failed: ended with code 3.")
