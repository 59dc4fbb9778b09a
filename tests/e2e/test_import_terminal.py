"""`memory import --choose` at a real terminal: each is shown, asked about, and settled as somebody says."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import time
from collections.abc import Sequence

import pytest
from hosts_here import Hosts

from installed import Git, Memory

ASKS = b"[q]uit? "
SECONDS = 60
FACT, GOTCHA = "in-abeaa63b2d", "in-a6759e4166"


@pytest.fixture
def hosts(memory: Memory, git: Git) -> Hosts:
    """Two proposals pending in a file."""
    found = Hosts(memory, git)
    found.put("serena")
    return found


def choose(hosts: Hosts, *line: str, answers: Sequence[bytes | None]) -> tuple[int, str]:
    """Import at a terminal and answer the questions: exit code and all that was shown.

    None is Ctrl-C, an empty answer the end of the input.
    """
    ours, its = pty.openpty()
    process = subprocess.Popen(
        [*hosts.memory.program, "import", *line, "--choose"],
        cwd=hosts.root,
        env=dict(hosts.memory.env),
        stdin=its,
        stdout=its,
        stderr=its,
        start_new_session=True,
    )
    os.close(its)
    seen, left, asked, end = b"", list(answers), 0, time.monotonic() + SECONDS
    try:
        while time.monotonic() < end:
            if not select.select([ours], [], [], 0.1)[0]:
                if process.poll() is not None:
                    break
                continue
            try:
                more = os.read(ours, 65536)
            except OSError:
                break
            seen += more
            while seen.count(ASKS) > asked and left:
                asked += 1
                answer = left.pop(0)
                if answer is None:
                    process.send_signal(signal.SIGINT)
                else:
                    os.write(ours, answer or b"\x04")
        code = process.wait(SECONDS)
    finally:
        os.close(ours)
        process.kill()
        process.wait()
    text = seen.decode().replace("\r\n", "\n")
    assert "Traceback" not in text, text
    assert not left, f"not every question was asked:\n{text}"
    return code, text


def statuses(hosts: Hosts) -> dict[str, str]:
    found = hosts.memory("inbox", "--status", "all", "--json").data["results"]
    return {item["id"]: item["status"] for item in found}


def test_yes_and_no(hosts: Hosts) -> None:
    code, seen = choose(hosts, "serena", answers=[b"y", b"n"])
    assert code == 0, seen
    assert f"{FACT}  fact → facts, Patterns & Conventions\n" in seen
    assert seen.index(FACT) < seen.index("1 of 2: ") < seen.index(GOTCHA) < seen.index("2 of 2: ")
    assert seen.endswith("No pending proposals in the inbox.\n")
    assert statuses(hosts) == {FACT: "accepted", GOTCHA: "rejected"}
    (accepted,) = hosts.memory("inbox", "--status", "accepted", "--json").data["results"]
    fact = hosts.memory("inspect", accepted["ref"], "--json").data["object"]
    assert fact["source"] == "file:.serena/memories/conventions.md"
    again = hosts.data("serena")
    assert (again["results"], again["known"], again["rejected"]) == ([], 1, 1)


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([b"s", b"Y"], {FACT: "pending", GOTCHA: "accepted"}),
        (
            [
                b"",
            ],
            {FACT: "pending", GOTCHA: "pending"},
        ),
        ([b"q"], {FACT: "pending", GOTCHA: "pending"}),
        ([b"yes", b"q"], {FACT: "accepted", GOTCHA: "pending"}),
        ([b"NO", b"skip"], {FACT: "rejected", GOTCHA: "pending"}),
        ([b"y", None], {FACT: "accepted", GOTCHA: "pending"}),
    ],
)
def test_each_answer(hosts: Hosts, answers: list[bytes | None], expected: dict[str, str]) -> None:
    code, seen = choose(hosts, "serena", answers=answers)
    assert statuses(hosts) == expected, seen
    is_broken_off = answers[-1] in (None, b"")
    assert (code != 0) is is_broken_off, seen
    if not is_broken_off:
        left = sum(status == "pending" for status in expected.values())
        assert seen.endswith(f"{left} {'proposal pending' if left == 1 else 'proposals pending'} in the inbox.\n")


def test_one_key_is_an_answer_and_others_are_passed_over(hosts: Hosts) -> None:
    code, seen = choose(hosts, "serena", answers=[b"x?n", b"y"])
    assert (code, seen.count("1 of 2: "), seen.count("2 of 2: ")) == (0, 1, 1), seen
    assert statuses(hosts) == {FACT: "rejected", GOTCHA: "accepted"}


def test_nothing_new_asks_nothing(hosts: Hosts) -> None:
    hosts.data("serena", "--accept")
    code, seen = choose(hosts, "serena", answers=[])
    assert (code, seen.endswith("No pending proposals in the inbox.\n")) == (0, True), seen
    assert "[q]uit" not in seen


def test_a_choice_that_cannot_be_saved(hosts: Hosts) -> None:
    hosts.put("adr")
    hosts.memory.save({"kind": "decision", "title": "Plan with integers", "body": "Another reason."})
    # What was proposed before is asked for, too.
    hosts.data("adr")
    code, seen = choose(hosts, "adr", answers=[b"s", b"y", b"s"])
    assert "Not accepted: `decision.plan-with-integers` already exists, and another source made it;" in seen
    assert seen.endswith("3 proposals pending in the inbox.\n"), seen
    assert code == 0
