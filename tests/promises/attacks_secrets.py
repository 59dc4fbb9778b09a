"""Made-up secrets of the forms that are documented by those who give them out, drawn with a seed.

No complete one stands in this file: beginnings and alphabets are put together when a test runs.
"""

from __future__ import annotations

import base64
import random
import string
from typing import NamedTuple
from urllib.parse import quote

__all__ = ["Secret", "made_up", "wrapped"]

AN = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits
URL64 = AN + "_-"
B64 = AN + "+/"

FORMS: list[tuple[str, list[tuple[str, int]]]] = [
    ("gh" + "p_", [(AN, 36)]),
    ("gh" + "o_", [(AN, 36)]),
    ("gh" + "s_", [(AN, 36)]),
    ("github_" + "pat_", [(AN, 22), ("_", 1), (AN, 59)]),
    ("gl" + "pat-", [(URL64, 20)]),
    ("np" + "m_", [(AN, 36)]),
    ("pypi-" + "AgEIcHlwaS5vcmc", [(URL64, 150)]),
    ("ruby" + "gems_", [(HEX, 48)]),
    ("dckr_" + "pat_", [(URL64, 27)]),
    ("AK" + "IA", [(UPPER, 16)]),
    ("AS" + "IA", [(UPPER, 16)]),
    ("AI" + "za", [(URL64, 35)]),
    ("GOC" + "SPX-", [(URL64, 28)]),
    ("do" + "p_v1_", [(HEX, 64)]),
    ("LT" + "AI", [(AN, 20)]),
    ("sb" + "p_", [(HEX, 40)]),
    ("da" + "pi", [(HEX, 32)]),
    ("hv" + "s.", [(URL64, 90)]),
    ("dp." + "pt.", [(AN, 43)]),
    ("pu" + "l-", [(HEX, 40)]),
    ("AGE-SECRET-" + "KEY-1", [("023456789ACDEFGHJKLMNPQRSTUVWXYZ", 58)]),
    ("snt" + "ryu_", [(HEX, 64)]),
    ("gl" + "sa_", [(AN, 32), ("_", 1), (HEX, 8)]),
    ("NR" + "AK-", [(UPPER, 27)]),
    ("sk-" + "ant-api03-", [(URL64, 93), ("A", 2)]),
    ("sk-" + "proj-", [(URL64, 120)]),
    ("h" + "f_", [(string.ascii_letters, 34)]),
    ("gs" + "k_", [(AN, 52)]),
    ("sk_" + "live_", [(AN, 24)]),
    ("rk_" + "live_", [(AN, 24)]),
    ("wh" + "sec_", [(AN, 32)]),
    ("shp" + "at_", [(HEX, 32)]),
    ("S" + "G.", [(URL64, 22), (".", 1), (URL64, 43)]),
    ("xkey" + "sib-", [(HEX, 64), ("-", 1), (AN, 16)]),
    ("xo" + "xb-", [(string.digits, 12), ("-", 1), (string.digits, 13), ("-", 1), (AN, 24)]),
    ("lin_" + "api_", [(AN, 40)]),
    ("fig" + "d_", [(URL64, 40)]),
    ("tskey-" + "auth-", [(AN, 17), ("-", 1), (AN, 32)]),
]
SHAPES = ["{}", "Use {} for the deploy.", "export THING={}", "| staging | {} |", 'client("{}")']


class Secret(NamedTuple):
    """A text with a secret in it, and the value that must not be found afterwards."""

    text: str
    value: str


def _drawn(rng: random.Random, parts: list[tuple[str, int]]) -> str:
    return "".join("".join(rng.choices(alphabet, k=size)) for alphabet, size in parts)


def _mixed(rng: random.Random, size: int) -> str:
    return "".join(rng.choice(string.ascii_letters) + rng.choice(string.digits) for _ in range(size // 2))


def made_up(turns: int = 4) -> list[Secret]:
    """So many of each form, in different surroundings, and those that only their surroundings give away."""
    rng = random.Random(20260302)
    found = []
    for turn in range(turns):
        for number, (beginning, parts) in enumerate(FORMS):
            value = beginning + _drawn(rng, parts)
            found.append(Secret(SHAPES[(turn + number) % len(SHAPES)].format(value), value))
        for shape in ('password = "{}"', "DB_PASSWORD={}", "client_secret: '{}'", "postgres://app:{}@db.internal/app"):
            value = _mixed(rng, 20)
            found.append(Secret(shape.format(value), value))
        kind = "PRIVATE" + " KEY"
        value = "\n".join(_drawn(rng, [(B64, 64)]) for _ in range(3))
        found.append(Secret(f"-----BEGIN {kind}-----\n{value}\n-----END {kind}-----", value))
    return found


def wrapped() -> dict[str, Secret]:
    """One secret in each disguise that one look undoes."""
    rng = random.Random(11)
    value = "gh" + "p_" + _drawn(rng, [(AN, 36)])
    word = _mixed(rng, 20)
    return {
        "base64": Secret(f"see {base64.b64encode(f'token {value}'.encode()).decode()}", value),
        "percent": Secret(f"https://x.test/?next={quote('a=1&t=', safe='')}{value}", value),
        "userinfo": Secret(f"clone https://bot:{word}@git.example.com/team/repo.git", word),
        "user in a query": Secret(f"https://x.test/?access_token={value}", value),
        "file name": Secret(f"src/{value}/config.py", value),
        "header": Secret(f"Authorization: Bearer {value}", value),
        "in json": Secret('{"token": "' + value + '"}', value),
        "in code": Secret(f"```sh\nexport TOKEN={value}\n```", value),
        "hex": Secret("token: " + f"api_key={value}".encode().hex(), value),
        "soft hyphen": Secret(f"Use {value[:12]}\u00ad{value[12:]}.", value),
    }
