"""The protocol's own conformance suite, run against the installed server over HTTP.

Much of the suite is about a server made for it: tools, prompts and resources of given names that return given things.
Where one of ours does what is asked for, the suite is handed that one under its own name (`NAMES`). What is left does
not apply, and `WITHOUT` says why, for every single check; a check that fails for any other reason fails the test.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from mcp_here import Here, folder, listening, prepared
from mcp_node import CLIENTS, NEWER, need_node, node, node_line, package

from promised import proves

EDITIONS = {
    "0.1.16": ("conformance", "--suite", "all"),
    "2025-11-25": ("conformance-next", "--requirements", "2025-11-25"),
    "2026-07-28": ("conformance-next", "--requirements", "2026-07-28"),
}
"""The released suite, and the coming one with what each revision of the protocol requires."""

NAMES: dict[str, tuple[str, dict[str, str]] | tuple[str]] = {
    "test_simple_text": ("status_memory", {}),
    "test_error_handling": ("inspect_memory", {"id": "decision.no-such-thing"}),
    "test_tool_with_progress": ("memory_maintain", {}),
    "test_simple_prompt": ("save_what_changed", {}),
    "test_prompt_with_arguments": ("orient", {"topic": "testValue1 testValue2"}),
    "test://static-text": ("memory://map",),
    "test://template/123/data": ("memory://record/decision.berth-123",),
}
"""What the suite asks for, and what of ours stands for it."""

BOTH = {
    *("tools-list", "tools-call-simple-text", "tools-call-error", "tools-call-with-progress"),
    *("resources-list", "resources-read-text", "resources-templates-read"),
    *("prompts-list", "prompts-get-simple", "prompts-get-with-args"),
    *("server-sse-multiple-streams", "dns-rebinding-protection"),
}
OLDER = BOTH | {"server-initialize", "ping"}
PASSES = {
    "0.1.16": OLDER,
    "2025-11-25": OLDER | {"server-session-lifecycle"},
    "2026-07-28": BOTH
    | {
        *("caching", "http-header-validation", "sep-2164-resource-not-found"),
        *("input-required-result-unsupported-methods", "input-required-result-validate-input"),
    },
}
"""Scenarios of which every check was made, and none failed or warned."""

WITHOUT = {
    # A tool, a prompt or a resource made for the suite, returning what no memory returns.
    "images, sound and files in results": r"test_(image_content|audio_content|embedded_resource|multiple_content_types)"
    r"|test_prompt_with_(image|embedded_resource)|test://static-binary",
    "a tool with a given schema": r"Tool 'json_schema_2020_12_tool' not found",
    "parameters of tools in headers": r"no tool with x-mcp-header annotations",
    # What the server does not declare, and a client may therefore not ask for.
    "questions back to the client": r"test_(sampling|elicitation\w*|streaming_elicitation|missing_capability)"
    r"|test_input_required_result_\w+|InputRequiredResult",
    "logs, completion, subscriptions": r"Method not found|test_logging_tool",
    "tasks": r"tasks/get|Unknown tool: (slow_compute|failing_job|protocol_error_job|greet|confirm_delete|multi_input|"
    r"test_tool_with_task)|no task was created|routing-task fixture|capabilities.extensions MUST be advertised"
    r"|tools/call for failing_job|expected -32602; got -32601",
    "streams that can be taken up again": r"did not send (priming event|retry field)",
}
"""What is missing, each with what the suite says of it."""

NOT_IN: dict[str, set[str]] = {
    "0.1.16": {"parameters of tools in headers", "tasks"},
    "2025-11-25": {"parameters of tools in headers", "tasks"},
    "2026-07-28": {"streams that can be taken up again"},
}
"""What an edition does not ask for at all."""


@pytest.fixture(scope="module")
def here() -> Iterator[Here]:
    need_node(NEWER)
    with folder() as place:
        here = prepared(place)
        here.memory.save({"kind": "decision", "title": "Berth 123", "body": "Berth 123 is kept free."})
        yield here


@pytest.fixture(scope="module")
def url(here: Here) -> Iterator[str]:
    """Where the suite finds the server: through a proxy that adds the token."""
    proxy = subprocess.Popen(
        node_line(CLIENTS / "token_proxy.mjs"), env=here.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert proxy.stdin is not None
        assert proxy.stdout is not None
        name = f"localhost:{int(proxy.stdout.readline())}"
        # The suite asks faster than one client may.
        allowed = ["--allow-host", name, "--allow-origin", f"http://{name}", "--rate", "1000"]
        with listening(here, "--toolset", "all", "--project", str(here.root), *allowed) as server:
            told = {"port": urlsplit(server.url).port, "token": server.token, "names": NAMES}
            proxy.stdin.write(json.dumps(told) + "\n")
            proxy.stdin.flush()
            yield f"http://{name}/mcp"
    finally:
        proxy.kill()
        proxy.communicate()


@pytest.mark.proof(keep=1)
@proves("P10.4", "H5")
@pytest.mark.parametrize("edition", EDITIONS)
def test_the_server_conforms(here: Here, url: str, edition: str, tmp_path: Path) -> None:
    name, *chosen = EDITIONS[edition]
    line = [*("server", "--url", url, "--output-dir", str(tmp_path / "results")), *chosen]
    done = node(package(name, "dist/index.js"), *line, env=here.env, cwd=tmp_path)
    checks = {_scenario(path): json.loads(path.read_text()) for path in tmp_path.glob("results/*/checks.json")}
    assert checks, done.stdout + done.stderr
    unmet = {scenario: [check for check in made if _unmet(check)] for scenario, made in checks.items()}
    passed = {scenario for scenario, left in unmet.items() if not left and _anything(checks[scenario])}
    assert passed == PASSES[edition]
    told = [(scenario, check["id"], check["errorMessage"]) for scenario, left in unmet.items() for check in left]
    reasons = [(_reason(said), scenario, name, said) for scenario, name, said in told]
    assert [one for one in reasons if one[0] is None] == []
    assert {one[0] for one in reasons} == set(WITHOUT) - NOT_IN[edition]


def _reason(said: str) -> str | None:
    return next((reason for reason, pattern in WITHOUT.items() if re.search(pattern, said)), None)


def _scenario(path: Path) -> str:
    found = re.fullmatch(r"server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z", path.parent.name)
    assert found, path
    return found[1]


def _unmet(check: dict[str, Any]) -> bool:
    return check["status"] in ("FAILURE", "WARNING")


def _anything(made: list[dict[str, Any]]) -> bool:
    """Whether anything was looked at: a scenario whose checks were all skipped says nothing."""
    return any(check["status"] == "SUCCESS" and check["id"] != "wire-schema-valid" for check in made)
