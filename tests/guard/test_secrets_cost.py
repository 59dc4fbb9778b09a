"""Scanning is bounded on hostile text and cheap in a cold process."""

import subprocess
import sys

import pytest

from quire.guard.secrets import find_secrets

KIB_256 = 256 * 1024

HOSTILE_UNITS = [
    "a",
    "sk-",
    "sk-a1",
    "password=",
    "pass=",
    "api_key='",
    "token: ",
    ":",
    "%41",
    "eyJ",
    "-eyJ",
    "eyJ" + "a" * 10 + ".",
]
HOSTILE_UNITS += [
    "-----BEGIN ",
    "-----BEGIN PRIVATE" + " KEY-----",
    "https://",
    "://a:",
    "://a:b@",
    "a" * 39 + " ",
    "QUFB" * 11 + " ",
]
HOSTILE_UNITS += [
    "Q~",
    ":AA",
    "AccountKey=",
    "aws_secret",
    "fm2_",
    "glpat-" + "aB3-" * 20,
    "bearer ",
    "curl -u a:",
    "mysql -p",
    "a:1:a:a:",
    "_auth=",
    "41:",
    "\\",
    "\\u0041",
    "&#65;",
    "%2541",
    "ａ",
    "|",
    "s.",
    "İ",
]


@pytest.mark.proof
def test_hostile_repetition_is_scanned_to_its_end() -> None:
    for unit in HOSTILE_UNITS:
        find_secrets((unit * (KIB_256 // len(unit) + 1))[:KIB_256])


@pytest.mark.proof
def test_an_endless_value_is_scanned_to_its_end() -> None:
    for lead in ("ghp_", "sk-", "password=", "eyJ", "https://a:", "AccountKey="):
        for unit in ("a", "aB3", "a-", "@", "%41", "="):
            find_secrets(lead + unit * (KIB_256 // len(unit)))


def test_a_cold_scan_of_an_ordinary_note_compiles_no_rule() -> None:
    program = (
        "import re, sys, msgspec, quire.model\n"
        "before = set(sys.modules)\n"
        "from quire.guard.secrets import find_secrets\n"
        "new = {n for n in set(sys.modules) - before if not n.startswith('quire')}\n"
        "import re._compiler as c\n"
        "real, seen = c.compile, []\n"
        "c.compile = lambda p, flags=0: (seen.append(p), real(p, flags))[1]\n"
        "find_secrets('The worker retries a failed task three times, then parks it. ' * 30)\n"
        "print(sorted(new), len(seen))\n"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["[]", "0"]
