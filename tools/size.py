"""Prints how large each package is, as the Markdown table that ARCHITECTURE.md shows.

.venv/bin/python tools/size.py
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from statistics import median

SOURCE = Path(__file__).resolve().parents[1] / "src" / "quire"


def package_sizes() -> dict[str, tuple[int, int, list[int]]]:
    """For each package: how many modules and lines it has, and the length of each function, shortest first."""
    sizes: dict[str, tuple[int, int, list[int]]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).parts[0]
        if name.startswith("__"):
            continue
        text = path.read_text(encoding="utf-8")
        functions = (
            item for item in ast.walk(ast.parse(text)) if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)
        )
        lengths = [(item.end_lineno or item.lineno) - item.lineno + 1 for item in functions]
        modules, lines, known = sizes.get(name, (0, 0, []))
        sizes[name] = modules + 1, lines + len(text.splitlines()), sorted(known + lengths)
    return sizes


def size_table() -> str:
    """The sizes of all packages and of the whole."""
    sizes = package_sizes()
    together = sorted(length for _, _, lengths in sizes.values() for length in lengths)
    sizes["together"] = sum(size[0] for size in sizes.values()), sum(size[1] for size in sizes.values()), together
    rows = ["| Package | Modules | Lines | Functions | Median | p90 | Longest |", "|---|--:|--:|--:|--:|--:|--:|"]
    for name, (modules, lines, lengths) in sizes.items():
        figures = (len(lengths), int(median(lengths)), lengths[len(lengths) * 9 // 10], lengths[-1])
        rows.append(f"| `{name}` | {modules} | {lines:,} | " + " | ".join(f"{figure:,}" for figure in figures) + " |")
    return "\n".join(rows)


if __name__ == "__main__":
    sys.stdout.write(size_table() + "\n")
