"""Which forms of credentials the guard refuses, bare, and which ordinary lines it takes for one.

Both are built from the notation of `data/secret_forms.txt` and `data/secret_ordinary.txt` with a seed: no complete
credential stands in any file.
"""

from __future__ import annotations

import base64
import random
import string
import uuid
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from benchmarks.metrics import is_testing
from quire.guard.admission import text_problems

__all__ = ["Made", "forms", "ordinary", "run", "verdict"]

DATA = Path(__file__).parent / "data"
AN = string.ascii_letters + string.digits
ALPHABETS = {
    "AN": AN,
    "HEX": "0123456789abcdef",
    "DIGITS": string.digits,
    "LETTERS": string.ascii_letters,
    "UPPER": string.ascii_uppercase + string.digits,
    "LOWER": string.ascii_lowercase + string.digits,
    "URL64": AN + "_-",
    "B64": AN + "+/",
    "BECH32": "023456789ACDEFGHJKLMNPQRSTUVWXYZ",
    "BASE32": string.ascii_uppercase + "234567",
}
WRAPS = {
    "AS-HEX": lambda text: text.encode().hex(),
    "AS-B64": lambda text: base64.b64encode(text.encode()).decode(),
    "AS-PERCENT": lambda text: quote(text, safe="").replace("_", "%5F"),
    "AS-ENTITIES": lambda text: "".join(f"&#x{ord(char):x};" for char in text),
    "AS-DECIMALS": lambda text: "".join(f"&#{ord(char)};" for char in text),
    "AS-WIDE": lambda text: "".join(chr(ord(char) + 0xFEE0) for char in text),
    "AS-ESCAPES": lambda text: "".join(f"\\u{ord(char):04x}" for char in text),
    "AS-X-ESCAPES": lambda text: "".join(f"\\x{ord(char):02x}" for char in text),
    "AS-BRACES": lambda text: "".join(f"\\u{{{ord(char):x}}}" for char in text),
}


class Made(NamedTuple):
    """One line made from its notation, and whether it is of the half that nothing may be fitted on."""

    name: str
    text: str
    unseen: bool


def _drawn(rng: random.Random, kind: str, size: int) -> str:
    if kind == "UUID":
        return str(uuid.UUID(int=rng.getrandbits(128), version=4))
    if kind == "PASS":
        # What password generators make: letters, digits and a mark or two.
        body = "".join(rng.choice(string.ascii_letters) + rng.choice(string.digits) for _ in range(size // 2))
        return body[: size // 2] + rng.choice("!#%+") + body[size // 2 : size - 1]
    if kind == "LOGIN":
        return base64.b64encode(f"bot:{_drawn(rng, 'PASS', size)}".encode()).decode()
    if kind == "DISCORD":
        user = base64.b64encode(str(rng.randrange(10**17, 10**18)).encode()).decode().rstrip("=")
        return f"{user}.{_drawn(rng, 'AN', 6)}.{_drawn(rng, 'URL64', 37)}x"
    return "".join(rng.choices(ALPHABETS[kind], k=size))


def _built(rng: random.Random, notation: str) -> str:
    """The text that a notation stands for; what is no notation stays as it is."""
    parts: list[str] = []
    rest = 0
    while (start := notation.find("<", rest)) >= 0:
        parts.append(notation[rest:start])
        end = _closing(notation, start)
        word, _, inside = notation[start + 1 : end].partition(" ")
        if word in WRAPS:
            parts.append(WRAPS[word](_built(rng, inside)))
        elif inside.isdecimal() and (word in ALPHABETS or word in ("UUID", "PASS", "LOGIN", "DISCORD")):
            parts.append(_drawn(rng, word, int(inside)))
        else:
            end = start
            parts.append("<")
        rest = end + 1
    return "".join((*parts, notation[rest:]))


def _closing(notation: str, start: int) -> int:
    depth = 0
    for index in range(start, len(notation)):
        depth += {"<": 1, ">": -1}.get(notation[index], 0)
        if depth == 0:
            return index
    return start


def _made(name: str, notation: str, turn: int = 0) -> Made:
    return Made(name, _built(random.Random(f"{name} {turn}"), notation), is_testing(name))


def forms(turn: int = 0) -> list[Made]:
    """Every form once; another turn draws others."""
    lines = (DATA / "secret_forms.txt").read_text(encoding="utf-8").splitlines()
    return [_made(*line.split(" | ", 1), turn) for line in lines if not line.startswith("#")]


def ordinary() -> list[Made]:
    """The lines that are no credentials."""
    lines = (DATA / "secret_ordinary.txt").read_text(encoding="utf-8").splitlines()
    return [_made(line, line) for line in lines if not line.startswith("#") and line != "---"]


def verdict(text: str) -> str:
    """What a save says to the text: `refused`, `warned` or `passed`."""
    problems, warnings = text_problems(text, "text")
    if any(problem.code == "MemorySecretDetected" for problem in problems):
        return "refused"
    return "warned" if any(problem.code == "MemorySecretWarning" for problem in warnings) else "passed"


def run() -> dict[str, Any]:
    """How many of each half, that on which rules were written and that on which they were not."""
    found: dict[str, Any] = {}
    for name, made in (("forms", forms()), ("ordinary", ordinary())):
        for unseen in (False, True):
            said = [verdict(item.text) for item in made if item.unseen == unseen]
            counts = {word: said.count(word) for word in ("refused", "warned", "passed")}
            found[f"{name}, {'held back' if unseen else 'development'}"] = {"lines": len(said), **counts}
    return found
