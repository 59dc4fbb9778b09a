"""Much at once and for long: every call is answered, nothing is lost, the memory of the process does not grow."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from mcp_here import Here, folder, holding, prepared
from mcp_lines import Server, call, hello, request, serving

from promised import proves
from thorough import either

pytestmark = pytest.mark.proof

DECISION = "decision.retries-run-in-the-worker"
CALLS = 1000
WARM, LASTING = 1000, either(1000, 9000)
GROWTH = 8 * 1024 * 1024
WAITING_MOST = 4096
MIXED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("memory_recall", {"query": "retries"}),
    ("inspect_memory", {"id": DECISION}),
    ("inspect_memory", {"id": "decision.nobody"}),
    ("query_memory", {"question": "where do retries run?"}),
    ("automation_status", {}),
    ("connections", {"category": "learnings", "key": "lock_files"}),
    ("memory_status", {}),
    ("memory_query", {"limit": "all"}),
)
numbers = count()


@pytest.fixture(scope="module")
def here() -> Iterator[Here]:
    with folder() as place:
        yield prepared(place)


@pytest.fixture
def own(here: Here) -> Here:
    return here.copy(f"own{next(numbers)}")


def facts(here: Here) -> list[str]:
    lines = map(json.loads, (here.root / ".memory/facts.jsonl").read_text().splitlines())
    return sorted(line["content"] for line in lines if line["_type"] == "fact" and line["section"] == "Specs")


@proves("P3.1", "B6")
@pytest.mark.parametrize("arguments", either([("--sdk-first",)], [("--sdk-first",), ()]))
def test_a_thousand_calls_at_once_are_all_answered(own: Here, arguments: tuple[str, ...]) -> None:
    """Questions of all layers, with changes of two of them in between."""
    stored, saved, calls = [], [], []
    for number in range(CALLS):
        if number % 10 == 3:
            stored.append(f"Berth {number} takes boats of {number * 3} feet.")
            calls.append(call(number, "memory_store", section="Specs", content=stored[-1]))
        elif number % 20 == 7:
            saved.append(f"berth-{number}")
            nodes = [{"kind": "gotcha", "title": f"Berth {number}", "body": "It is narrow."}]
            calls.append(call(number, "save_memory", task="t", nodes=nodes))
        else:
            tool, given = MIXED[number % len(MIXED)]
            calls.append(call(number, tool, **given))
    with serving(own, "--toolset", "all", *arguments) as server:
        server.send(*hello(name="hello"), *calls)
        found = server.answers("hello", *range(CALLS))
        refused = [name for name in range(CALLS) if found[name]["result"]["isError"]]
        wrong = [message["id"] for message in calls if message["params"]["arguments"].get("id") == "decision.nobody"]
        wrong += [message["id"] for message in calls if message["params"]["arguments"].get("limit") == "all"]
        assert refused == sorted(wrong)
    assert facts(own) == sorted(stored)
    assert {path.stem for path in (own.root / ".memory/memory").glob("berth-*.md")} == set(saved)
    assert own.memory("check", "--json").data["valid"] is True


def test_too_many_that_wait_are_told_so(own: Here) -> None:
    """Beyond a number nobody waits for in earnest; each of them is answered all the same, and at once."""
    late = range(WAITING_MOST, WAITING_MOST + 40)
    server = Server(own)
    try:
        with holding(own.root):
            told = {"section": "Specs", "content": "x"}
            server.send(*hello(name="hello"), *(call(name, "memory_store", **told) for name in range(late.stop)))
            found = server.answers("hello", *late)
            errors = [found[name]["result"]["structuredContent"]["error"] for name in late]
            assert {error["code"] for error in errors} == {"MemoryLockBusy"}
            assert server.ask(request("list", "tools/list"))["result"]["tools"]
    finally:
        server.dispose()


@proves("P3.1", "B6")
@pytest.mark.parametrize("modern", either([False], [False, True]))
def test_the_process_does_not_grow(here: Here, modern: bool) -> None:
    with serving(here, "--toolset", "all", "--sdk-first", fresh=True) as server:
        server.send(*([request("hello", "server/discover", modern=True)] if modern else hello(name="hello")))
        server.answers("hello")

        def work(rounds: int) -> None:
            for start in range(0, rounds, 250):
                names = range(start, start + 250)
                server.send(
                    *(call(name, MIXED[name % 8][0], modern=modern, **MIXED[name % 8][1]) for name in names),
                    request("list", "tools/list", modern=modern),
                    request("read", "resources/read", {"uri": "memory://map"}, modern=modern),
                )
                server.answers(*names, "list", "read")
            server.said.clear()

        def size() -> int:
            return int(Path(f"/proc/{server.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

        work(WARM)
        before = size()
        work(LASTING)
        assert size() - before < GROWTH


def test_a_cold_index_delays_neither_the_handshake_nor_the_lists(own: Here) -> None:
    nodes = [{"kind": "gotcha", "title": f"Cold {n}", "body": f"Water {n} is cold. " * 20} for n in range(200)]
    own.memory.save(*nodes)
    shutil.rmtree(own.root / ".memory/index")
    with serving(own, fresh=True) as server:
        server.send(*hello(), request(1, "tools/list"), request(2, "prompts/list"), request(3, "resources/list"))
        server.answers(0, 1, 2, 3)
        assert not (own.root / ".memory/index").exists()
        server.send(call(4, "query_memory", question="how cold is the water?"), request(5, "tools/list"))
        server.answers(4, 5)
        order = [message["id"] for message in server.said]
        assert order.index(5) < order.index(4)
        assert (own.root / ".memory/index").exists()
