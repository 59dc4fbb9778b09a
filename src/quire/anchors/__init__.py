"""What anchors lead to: files, folders, globs and symbols, and whether they are still what was seen."""

from typing import TYPE_CHECKING

from quire.model.lazy import loader

if TYPE_CHECKING:
    from quire.anchors.looks import stamp_of
    from quire.anchors.match import Files, covers, is_glob, static_prefix
    from quire.anchors.past import Past
    from quire.anchors.quick import quick_verdict
    from quire.anchors.sealing import Sealed, Sealer
    from quire.anchors.sight import see, split_symbol
    from quire.anchors.symbols import Symbol, Unparsed, find_symbol, has_grammar, read_symbols
    from quire.anchors.tree import Tree, look_back, without_own
    from quire.anchors.verify import Verifier, short
    from quire.anchors.watch import watch_for
    from quire.anchors.working import Look, WorkingTree, look

__all__ = [
    "Files",
    "Look",
    "Past",
    "Sealed",
    "Sealer",
    "Symbol",
    "Tree",
    "Unparsed",
    "Verifier",
    "WorkingTree",
    "covers",
    "find_symbol",
    "has_grammar",
    "is_glob",
    "look",
    "look_back",
    "quick_verdict",
    "read_symbols",
    "see",
    "short",
    "split_symbol",
    "stamp_of",
    "static_prefix",
    "watch_for",
    "without_own",
]

# Which module holds what.
_HOMES = {
    "Files": "match",
    "Look": "working",
    "Past": "past",
    "Sealed": "sealing",
    "Sealer": "sealing",
    "Symbol": "symbols",
    "Tree": "tree",
    "Unparsed": "symbols",
    "Verifier": "verify",
    "WorkingTree": "working",
    "covers": "match",
    "find_symbol": "symbols",
    "has_grammar": "symbols",
    "is_glob": "match",
    "look": "working",
    "look_back": "tree",
    "quick_verdict": "quick",
    "read_symbols": "symbols",
    "see": "sight",
    "short": "verify",
    "split_symbol": "sight",
    "stamp_of": "looks",
    "static_prefix": "match",
    "watch_for": "watch",
    "without_own": "tree",
}

__getattr__ = loader(__name__, _HOMES)
