"""A command whose standard output or error somebody has closed: it does its work and says nothing there."""

import subprocess

import pytest

from installed import Memory

LINES = [["status"], ["status", "--json"], ["query", "retries"], ["check"], ["nothing-of-ours"]]


@pytest.mark.proof(keep=4)
@pytest.mark.parametrize("line", LINES, ids=" ".join)
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_nothing_is_said_to_who_does_not_listen(line: list[str], closed: str, shared_memory: Memory) -> None:
    shared_memory.init()
    told = ["sh", "-c", f'exec "$@" {closed}', "sh", *shared_memory.program, *line]
    done = subprocess.run(told, cwd=shared_memory.cwd, env=shared_memory.env, capture_output=True, check=False)
    assert done.returncode == (2 if line == ["nothing-of-ours"] else 0)
    for said in (done.stdout, done.stderr):
        assert b"Traceback" not in said
        assert b"itself failed" not in said
