"""How far our token counter is from real ones, on prose, code, Markdown, JSON, CJK and other scripts.

The real ones are the two byte-pair encodings of the npm package `gpt-tokenizer`, which carries its tables with it; it
is installed into a temporary folder. Without node and npm the suite says so and measures nothing.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from quire.model.tokens import count_tokens

ROOT = Path(__file__).parents[1]
_SCRIPT = """
const fs = require('fs')
const [a, b] = ['o200k_base', 'cl100k_base'].map((name) => require('gpt-tokenizer/encoding/' + name))
const texts = JSON.parse(fs.readFileSync(0, 'utf8'))
console.log(JSON.stringify(texts.map((text) => [a.encode(text).length, b.encode(text).length])))
"""

__all__ = ["run", "samples"]


def run() -> dict[str, Any]:
    if not (shutil.which("node") and shutil.which("npm")):
        return {"skipped": "node and npm are needed for a real tokenizer"}
    found = samples()
    counts = _real_counts([text for texts in found.values() for text in texts])
    result: dict[str, Any] = {}
    for kind, texts in found.items():
        mine = [count_tokens(text) for text in texts]
        real = [counts.pop(0) for _ in texts]
        result[kind] = {
            "texts": len(texts),
            "ours over o200k": round(sum(mine) / sum(pair[0] for pair in real), 3),
            "ours over cl100k": round(sum(mine) / sum(pair[1] for pair in real), 3),
            "lowest": round(min(ours / pair[0] for ours, pair in zip(mine, real, strict=True)), 3),
            "highest": round(max(ours / pair[0] for ours, pair in zip(mine, real, strict=True)), 3),
        }
    return result


def samples() -> dict[str, list[str]]:
    """Texts of each kind, cut into pieces of the size that a query returns."""
    data = ROOT / "benchmarks" / "data"
    files = {
        "prose": [data / "prose.txt"],
        "code": sorted((ROOT / "src/quire").rglob("*.py"))[::4],
        "Markdown": sorted((ROOT / "docs").rglob("*.md")),
        "JSON": sorted((ROOT / ".memory/memory").glob("*.json")),
        "CJK": [data / "cjk.txt"],
        "other scripts": [data / "other-scripts.txt"],
    }
    return {kind: [piece for path in paths for piece in _pieces(path)] for kind, paths in files.items()}


def _pieces(path: Path, size: int = 1200) -> list[str]:
    text = path.read_text(encoding="utf-8")
    return [text[at : at + size] for at in range(0, len(text), size) if len(text) - at > size // 3 or at == 0]


def _real_counts(texts: list[str]) -> list[list[int]]:
    with tempfile.TemporaryDirectory(prefix="quire-tokens-") as folder:
        quiet = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", folder, "gpt-tokenizer"]
        subprocess.run(quiet, check=True, capture_output=True)
        done = subprocess.run(
            ["node", "-e", _SCRIPT], cwd=folder, input=json.dumps(texts).encode(), check=True, capture_output=True
        )
    counts: list[list[int]] = json.loads(done.stdout)
    return counts
