"""Match paths against a glob anchor: by a regular expression where that is safe, else by sets of positions.

An anchor and the paths are data from a repository and may be made to hang a backtracking matcher. So the work of the
expression is estimated from the pattern and the path; beyond the budget the same nodes are walked with all positions at
once, as bits of one number, which takes time in proportion to the pattern and the path.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import pairwise

from quire.anchors.glob_nodes import Char, Chars, Either, GlobMark, Node, Pattern, Repeat, Seq, Unless

# Steps of the expression for one path that are still faster than the other way.
_BUDGET = 200_000
_MARKS = {
    GlobMark.ONE: "[^/]",
    GlobMark.STAR: "[^/]*",
    GlobMark.DEEP: ".*",
    GlobMark.END: r"\Z",
    GlobMark.SOME: r"(?!\Z)",
}
_SLASH = Char("/")


class Matcher:
    """One glob anchor, ready for many paths."""

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern
        seq = pattern.seq
        literals = _literals(seq)
        # What every match must begin with, end with, and hold in between: cheap to look for.
        self.prefix = "" if pattern.negated else literals[0]
        at_border = len(self.prefix) == len(seq) or _is_border(seq[len(self.prefix)])
        self.folder = self.prefix if at_border else self.prefix.rpartition("/")[0]
        self.suffix = literals[-1] if len(literals) > 1 else ""
        self.needle = max(literals[1:-1], key=len, default="")
        self.weight = _weigh(seq)

    @cached_property
    def search(self) -> Callable[[str], object] | None:
        """The expression, made for the first path that may match."""
        return re.compile(_source(self.pattern.seq), re.DOTALL).fullmatch if self.weight else None

    def matches(self, path: str) -> bool:
        return bool(self.among([path], range(1), (len(path), path.count("/"))))

    def among(self, paths: Sequence[str], positions: range, most: tuple[int, int]) -> list[int]:
        """The positions of the matching paths, out of those that begin as the pattern does.

        `most` is the length of the longest path and the folders of the deepest.
        """
        found: Sequence[int] = positions
        suffix, needle = self.suffix, self.needle
        if suffix or needle:
            few = enumerate(paths[positions.start : positions.stop], positions.start)
            # `in` costs half of what a method call does, and lets few through to it.
            text = needle or suffix
            found = [at for at, path in few if text in path and path.endswith(suffix)]
        hits = self._hits(paths, found, most)
        return sorted(set(positions).difference(hits)) if self.pattern.negated else hits

    def _hits(self, paths: Sequence[str], positions: Sequence[int], most: tuple[int, int]) -> list[int]:
        if not positions:
            return []
        search, weight, seq = self.search, self.weight, self.pattern.seq
        if search is None or weight is None:
            return [at for at in positions if _Walk(paths[at]).matches(seq)]
        if weight.steps(*most) <= _BUDGET:
            return [at for at in positions if search(paths[at])]
        hits = []
        for at in positions:
            path = paths[at]
            safe = weight.steps(len(path), path.count("/")) <= _BUDGET
            if search(path) if safe else _Walk(path).matches(seq):
                hits.append(at)
        return hits


class _Weight:
    """How the steps of an expression grow: with the ways to choose, the folders of a path, and its length."""

    def __init__(self, ways: int = 1, deep: int = 0, stars: int = 0) -> None:
        self.ways, self.deep, self.stars = ways, deep, stars

    def steps(self, length: int, folders: int) -> int:
        return self.ways * int((folders + 2) ** self.deep) * int(max(length, 1) ** self.stars)


def _weigh(seq: Seq) -> _Weight | None:
    """The weight of a sequence; None where the growth has no such bound."""
    whole = _Weight()
    run = 0
    for number, node in enumerate(seq):
        if node == _SLASH or _is_border(node):
            run = 0
        if node is GlobMark.DEEP:
            whole.deep += 1
        elif node is GlobMark.STAR and not _is_settled(seq, number):
            run += 1
        elif isinstance(node, Either | Repeat | Unless):
            inner = _weigh_group(node)
            if inner is None:
                return None
            whole.ways *= inner.ways
            whole.deep += inner.deep
            run += inner.stars
        whole.stars = max(whole.stars, run)
    return whole if whole.ways <= _BUDGET and whole.deep + whole.stars <= 16 else None


def _weigh_group(node: Either | Repeat | Unless) -> _Weight | None:
    body = node if isinstance(node, Either) else node.body
    inner = [weight for weight in map(_weigh, body.branches) if weight]
    if len(inner) < len(body.branches):
        return None
    sum_ways = 1 if _is_decided(body) else sum(weight.ways for weight in inner)
    found = _Weight(sum_ways, max(weight.deep for weight in inner), max(weight.stars for weight in inner))
    if isinstance(node, Repeat) and node.endless:
        if not all(len(branch) == 1 and isinstance(branch[0], Char | Chars) for branch in body.branches):
            return None
        found.stars += 1
    elif isinstance(node, Unless):
        tail = _weigh(node.tail)
        if tail is None:
            return None
        found = _Weight(found.ways * tail.ways, found.deep + tail.deep, found.stars + tail.stars + 1 + node.deep)
    return found


def _is_border(node: Node) -> bool:
    """Whether a node always begins with a slash, or with the end of the path."""
    return isinstance(node, Either) and all(branch[:1] in ((_SLASH,), (GlobMark.END,)) for branch in node.branches)


def _is_decided(body: Either) -> bool:
    """Whether at most one branch can fit at a place: all are plain text, and none begins another."""
    if not all(isinstance(node, Char) for branch in body.branches for node in branch):
        return False
    branches = sorted(body.branches)
    return all(after[: len(before)] != before for before, after in pairwise(branches))


def _is_fixed(node: Node) -> bool:
    return (
        node is GlobMark.ONE
        or (isinstance(node, Char) and node != _SLASH)
        or (isinstance(node, Chars) and not node.holds("/"))
    )


def _is_settled(seq: Seq, number: int) -> bool:
    """Whether a star never needs a second try: fixed characters follow, then another star that takes the rest."""
    for node in seq[number + 1 :]:
        if not _is_fixed(node):
            return node is GlobMark.STAR
    return False


def _source(seq: Seq) -> str:
    parts: list[str] = []
    settled = False
    for number, node in enumerate(seq):
        if settled and not _is_fixed(node):
            parts.append(")")
            settled = False
        if node is GlobMark.STAR and _is_settled(seq, number):
            parts.append("(?>[^/]*?")
            settled = True
        else:
            parts.append(_piece(node))
    return "".join(parts)


def _piece(node: Node) -> str:
    if isinstance(node, GlobMark):
        return _MARKS[node]
    if isinstance(node, Char):
        return re.escape(node.value)
    if isinstance(node, Chars):
        members = "".join(f"{re.escape(low)}-{re.escape(high)}" for low, high in node.ranges)
        return f"[{'^' if node.negated else ''}{members}]"
    if isinstance(node, Either):
        return f"(?:{'|'.join(map(_source, node.branches))})"
    if isinstance(node, Repeat):
        return _piece(node.body) + ("?" if not node.endless else "+" if node.least else "*")
    return f"(?!{_piece(node.body)}{_source(node.tail)}){_MARKS[GlobMark.DEEP if node.deep else GlobMark.STAR]}"


def _literals(seq: Seq) -> list[str]:
    """The runs of plain characters: the first at the start, the last at the end, both perhaps empty."""
    runs = [""]
    for node in seq:
        if isinstance(node, Char):
            runs[-1] += node.value
        elif node is not GlobMark.SOME:
            runs.append("")
    return runs


class _Walk:
    """One path, and where in it the parts of a pattern can end. Bit n of a number stands for position n."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.end = 1 << len(path)
        self.places: dict[str, int] = {}
        for at, char in enumerate(path):
            self.places[char] = self.places.get(char, 0) | 1 << at
        self.names = (self.end - 1) & ~self.places.get("/", 0)
        self.refused: dict[tuple[int, int], bool] = {}

    def matches(self, seq: Seq) -> bool:
        return bool(self.after(seq, 1) & self.end)

    def after(self, seq: Seq, starts: int) -> int:
        for node in seq:
            if not starts:
                break
            starts = self.step(node, starts)
        return starts

    def step(self, node: Node, starts: int) -> int:
        if isinstance(node, Char):
            return (starts & self.places.get(node.value, 0)) << 1
        if isinstance(node, Chars):
            return (starts & sum(bits for char, bits in self.places.items() if node.holds(char))) << 1
        if isinstance(node, Either):
            ends = 0
            for branch in node.branches:
                ends |= self.after(branch, starts)
            return ends
        if isinstance(node, Repeat):
            return self.repeat(node, starts)
        if isinstance(node, Unless):
            left = sum(bit for bit in _bits(starts) if not self.refuses(node, bit))
            return self.mark(GlobMark.DEEP if node.deep else GlobMark.STAR, left)
        return self.mark(node, starts)

    def mark(self, mark: GlobMark, starts: int) -> int:
        if mark is GlobMark.ONE:
            return (starts & self.names) << 1
        if mark is GlobMark.STAR:
            # Adding carries each start through the run of name characters it stands in.
            return (((starts & self.names) + self.names) ^ self.names) | starts
        if mark is GlobMark.DEEP:
            return (self.end << 1) - (starts & -starts) if starts else 0
        return starts & self.end if mark is GlobMark.END else starts & ~self.end

    def repeat(self, node: Repeat, starts: int) -> int:
        once = self.step(node.body, starts)
        if not node.endless:
            return starts | once
        reached, new = once, once
        while new:
            new = self.step(node.body, new) & ~reached
            reached |= new
        return reached if node.least else reached | starts

    def refuses(self, node: Unless, bit: int) -> bool:
        # Asked once for each place, or nested negations would multiply.
        key = (id(node), bit)
        if key not in self.refused:
            self.refused[key] = bool(self.after((node.body, *node.tail), bit))
        return self.refused[key]


def _bits(number: int) -> list[int]:
    bits = []
    while number:
        bits.append(number & -number)
        number &= number - 1
    return bits
