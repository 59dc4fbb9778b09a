"""Tie a finding to code: its files, and in a file the symbol that holds most of the lines that it is about."""

from __future__ import annotations

from quire.anchors.symbols import Symbols, has_grammar, read_symbols
from quire.capture.history.changes import is_beside
from quire.capture.history.findings import HistoryFinding
from quire.files.paths import read_inside
from quire.model.anchors import anchor_fault, normal_anchor

ANCHORS_MOST = 3
_FILE_BYTES = 512 * 1024
_MOST_OF_IT = 0.6
_BROAD = 400
"""A symbol of more lines is no closer a place than its file."""


def anchors_of(finding: HistoryFinding, root: str) -> list[str]:
    """The anchors, the sources first; files beside them only where there is no source."""
    paths = [path for path in finding.paths if not anchor_fault(path) and normal_anchor(path) == path]
    sources = [path for path in paths if not is_beside(path)] or paths
    return [_anchor(root, path, finding.lines.get(path, frozenset())) for path in sources[:ANCHORS_MOST]]


def _anchor(root: str, path: str, about: frozenset[str]) -> str:
    if not about or not has_grammar(path) or "#" in path:
        return path
    try:
        data = read_inside(root, path, _FILE_BYTES)
    except (OSError, ValueError):
        return path
    lines = [line.strip() for line in data.decode("utf-8", "replace").split("\n")]
    numbers = [number for number, line in enumerate(lines, 1) if line in about]
    symbols = read_symbols(path, data)
    if not numbers or not isinstance(symbols, Symbols):
        return path
    near = [
        (symbol.last_line - symbol.first_line, symbol.name)
        for symbol in symbols
        if symbol.name.strip("_")
        and symbol.last_line - symbol.first_line < _BROAD
        and sum(symbol.first_line <= number <= symbol.last_line for number in numbers) >= _MOST_OF_IT * len(numbers)
    ]
    return f"{path}#{min(near)[1]}" if near else path
