"""Parse a glob anchor into nodes, with picomatch's rules (`dot: true`) for repository paths.

Such paths have no empty, `.` or `..` segments and no slash at either end, so picomatch's guards against those have no
counterpart here. What reads oddly below (`[!a]` is not a negation, `**` inside a name is `*`, `+` after a group repeats
it, `{1..10}` is a class of characters) is picomatch's reading, and anchors already stored rely on it.
"""

from __future__ import annotations

import re

from quire.anchors.glob_nodes import (
    POSIX,
    Char,
    Chars,
    Either,
    GlobFault,
    GlobMark,
    Node,
    Pattern,
    Ranges,
    Repeat,
    Seq,
    Unless,
    members,
)

_LONGEST = 1_000
_DEEPEST = 8
_GROUPS = 10
_REPEATS = {"?": (0, False), "*": (0, True), "+": (1, True)}
_REGEX_GROUP = ("!", "=", "<", ":")
_UNCLOSED = "has a bracket that is never closed"
_NOT_SIMPLE = re.compile(r"^[*!]|[/()\[\]{}\"]")
_NAMED = re.compile(rf"\[:({'|'.join(POSIX)}):\]")
_STAR_GROUP = re.compile(r"\*\([^?]")
_AT_GROUP = re.compile(r"@\((?!\?)")
# A class without any of these is also tried as plain text: `[slug]` is the folder `[slug]` as well.
_CLASS_ONLY = frozenset("-*+?.^${}(|)[]")
_RANGE = re.compile(r"\{((?:[^{}()\[\].,*?+!@|/$^]*\.\.)+[^{}()\[\].,*?+!@|/$^]*)\}")


def read(anchor: str) -> Pattern:
    """The nodes of a glob anchor. Raises Fault for one that can only be taken for its literal path."""
    text = anchor.rstrip("/")
    if len(text) > _LONGEST:
        raise GlobFault(f"is longer than {_LONGEST:,} characters")
    if "\\" in text or "\0" in text:
        raise GlobFault("contains a backslash or a NUL")
    text = _without_dots(text)
    body = text.lstrip("!")
    marks = len(text) - len(body)
    if marks and body.startswith("("):
        marks, body = marks - 1, f"!{body}"
    body = _without_dots(body)
    # At the start of a pattern `**.ts` crosses folders; elsewhere `**` inside a name does not.
    crossing = not marks and re.fullmatch(r"\*\*(\.[A-Za-z0-9_]+)+", body)
    # In a name without slashes and groups picomatch takes a bar for a character.
    reader = _Reader(body, bars=bool(_NOT_SIMPLE.search(text)))
    seq: Seq = (GlobMark.DEEP, *map(Char, body[2:])) if crossing else reader.whole()
    # Written with a slash at its end, a pattern means folders: what lies below them is covered, at any depth.
    if anchor.endswith("/") and not text.endswith("**"):
        seq = (*seq, Char("/"), GlobMark.DEEP)
    return Pattern(seq, marks % 2 == 1)


def _without_dots(text: str) -> str:
    while text.startswith("./"):
        text = text[2:]
    return text


class _Reader:
    """Walks along one pattern; `open` holds the groups around the current place, innermost last."""

    def __init__(self, text: str, bars: bool = True) -> None:
        self.text = text
        self.at = 0
        self.open: list[str] = []
        self.seq: list[Node] = []
        self.bars = bars
        self.groups = 0
        # Commas that the innermost braces were split at.
        self.commas = 0
        self.quantifiable = False

    def look(self, offset: int = 0) -> str:
        return self.text[self.at + offset : self.at + offset + 1]

    def behind(self) -> str:
        return self.text[max(self.at - 1, 0) : self.at]

    def whole(self) -> Seq:
        branches = self.branches("")
        return branches[0] if len(branches) == 1 else (Either(branches),)

    def branches(self, kind: str) -> tuple[Seq, ...]:
        """Reads to the end of the group just opened (or of the text) and past it."""
        if len(self.open) >= _DEEPEST:
            raise GlobFault(f"nests groups more than {_DEEPEST} deep")
        outer, self.seq = self.seq, []
        found: list[Seq] = []
        if kind:
            self.open.append(kind)
        close = "}" if kind == "{" else ")" if kind else ""
        while (char := self.look()) and char != close:
            if (char == "|" and self.bars) or (char == "," and kind == "{"):
                self.commas += char == ","
                found.append(tuple(self.seq))
                self.seq = []
                self.at += 1
                self.quantifiable = False
            else:
                self.step(char)
        if kind and not char:
            raise GlobFault(_UNCLOSED)
        found.append(tuple(self.seq))
        self.seq = outer
        if kind:
            self.open.pop()
            self.at += 1
        return tuple(found)

    def step(self, char: str) -> None:
        before, self.quantifiable = self.quantifiable, False
        if char in "?*+@!" and self.extglob(char):
            return
        if char == "+" and self.plus(before):
            return
        if char == "?":
            self.question()
        elif char == "*":
            self.star()
        elif char == "[":
            self.bracket()
        elif char == "{":
            self.brace()
        elif char == "(":
            self.at += 1
            self.seq.append(Either(self.branches("(")))
            self.quantifiable = True
        else:
            self.seq.append(Char(char))
            self.at += 1
            self.quantifiable = char == ")"

    def extglob(self, char: str) -> bool:
        """Whether a group such as `+(a|b)` begins here; it is read then."""
        if self.look(1) != "(" or (char == "?" and self.behind() == "("):
            return False
        if self.look(2) == "?" and (char != "!" or self.look(3) in _REGEX_GROUP):
            return False
        if char == "@":
            # What follows is read as plain parentheses, which mean the same.
            self.at += 1
            return True
        self.groups += 1
        if self.groups > _GROUPS:
            raise GlobFault(f"repeats or negates more than {_GROUPS} groups")
        self.at += 2
        start = self.at
        body = Either(self.branches(char))
        if char == "!":
            self.seq.append(self.unless(body, self.text[start : self.at - 1]))
        else:
            least, endless = _REPEATS[char]
            self.seq.append(Repeat(body, least, endless))
        self.quantifiable = True
        return True

    def unless(self, body: Either, inner: str) -> Unless:
        """A negated group: what it refuses depends on what follows it, as in `!(*.d).ts`."""
        inner = re.sub(r"([?*+!])\([^()]*\)", r"\1", inner)
        rest = self.text[self.at :]
        deep = "/" in inner and len(inner) > 1
        tail: Seq = (GlobMark.END,) if deep or not rest.strip(")") else ()
        if "*" in inner and re.fullmatch(r"\.[^/.]+", rest):
            tail = _Reader(rest).whole()
        return Unless(body, tail, deep)

    def plus(self, after_group: bool) -> bool:
        """Whether a plus repeats what stands before it, as it does after a group and inside parentheses."""
        inside = any(kind != "{" for kind in self.open)
        if self.behind() == "(" or not (after_group or inside or self.behind() == "{"):
            return False
        if not self.seq or self.seq[-1] in (GlobMark.STAR, GlobMark.DEEP) or isinstance(self.seq[-1], Repeat):
            raise GlobFault("repeats what cannot be repeated")
        self.seq.append(Repeat(Either(((self.seq.pop(),),)), 1, endless=True))
        self.at += 1
        return True

    def question(self) -> None:
        behind = self.behind()
        self.at += 1
        if behind == "(":
            if self.look() in _REGEX_GROUP:
                raise GlobFault("holds a group of a regular expression")
            self.seq.append(Char("?"))
        elif behind == ")":
            last = self.seq.pop()
            optional = not isinstance(last, Repeat) and not (isinstance(last, Unless) and last.deep)
            self.seq.append(Repeat(Either(((last,),)), 0, endless=False) if optional else last)
        else:
            self.seq.append(GlobMark.ONE)

    def brace(self) -> None:
        spread = _RANGE.match(self.text, self.at)
        if spread:
            # Not a count: picomatch makes a class of both ends, so that `{1..10}` is `0` or `1`.
            ends = sorted(spread[1].split(".."))
            self.at = spread.end()
            try:
                self.seq.append(Chars(negated=False, ranges=members("-".join(ends))))
            except GlobFault:
                self.seq += map(Char, "..".join(ends))
        else:
            self.at += 1
            commas, self.commas = self.commas, 0
            branches = self.branches("{")
            split, self.commas = self.commas, commas
            if split:
                self.seq.append(Either(branches))
            elif len(branches) > 1:
                raise GlobFault("mixes a bar with braces that hold no comma")
            else:
                # Braces around a single text are plain characters.
                self.seq += (Char("{"), *branches[0], Char("}"))
        self.quantifiable = True

    def bracket(self) -> None:
        start = self.at + 1
        if "]" not in self.text[start:]:
            self.seq.append(Char("["))
            self.at = start
            return
        negated = self.text.startswith("^", start)
        # A bracket that closes at once is a member of the class.
        items: list[str | Ranges] = []
        at = start + negated
        while at == start + negated or not self.text.startswith("]", at):
            if at >= len(self.text):
                raise GlobFault(_UNCLOSED)
            named = _NAMED.match(self.text, at)
            items.append(POSIX[named[1]] if named else self.text[at])
            at = named.end() if named else at + 1
        content = self.text[start:at]
        posix = any(not isinstance(item, str) for item in items)
        ranges = members(items)
        if negated and not posix and "/" not in content:
            ranges = (*ranges, ("/", "/"))
        chars = Chars(negated, ranges)
        if posix or not _CLASS_ONLY.isdisjoint(content):
            self.seq.append(chars)
        else:
            self.seq.append(Either((tuple(map(Char, f"[{content}]")), (chars,))))
        self.at = at + 1
        self.quantifiable = True

    def star(self) -> None:
        behind, braces = self.behind(), "{" in self.open
        begins = behind in ("", "/", "(", ")") or (braces and behind in "{},")
        run = len(self.text) - self.at - len(self.text[self.at :].lstrip("*"))
        if run > 1 and _STAR_GROUP.match(self.text, self.at + run - 1) and not (run > 2 and begins):
            run -= 1
        self.at += run
        if run == 2 and begins:
            self.globstar(behind, braces)
            return
        # Where a segment may be missing altogether, and after a dot in a group, a star stands for something.
        if run == 1 and (
            (behind == "/" and self.seq and isinstance(self.seq[-1], Either))
            or (behind == "." and (self.open or self.text in ("*.*", "**/*.*")))
        ):
            self.seq.append(GlobMark.SOME)
        self.seq.append(GlobMark.STAR)

    def globstar(self, behind: str, braces: bool) -> None:
        """Two stars where a segment begins, already passed."""
        after_star = self.text[max(self.at - 4, 0) : self.at - 3] == "*"
        while self.text.startswith("/**", self.at) and self.look(3) in ("", "/"):
            self.at += 3
        rest = self.text[self.at :]
        parens = sum(kind != "{" for kind in self.open)
        last = not rest or (parens > 0 and rest == ")" * parens and "!" not in self.open)
        slash = Char("/")
        if not behind and rest.startswith("/"):
            self.seq.append(Either(((), (GlobMark.DEEP, slash))))
            self.at += 1
        elif behind == "/" and self.seq[-1] == slash and rest.startswith("/"):
            self.seq[-1] = Either(((slash, GlobMark.DEEP, slash), (slash,), (GlobMark.END,)))
            self.at += 1
        elif behind == "/" and self.seq[-1] == slash and last and not after_star:
            # The folder itself counts, but not below a star: `src/*/**` does not match `src/main.py`.
            self.seq[-1] = Either(((slash, GlobMark.DEEP), (GlobMark.END,)))
        else:
            stays = not rest or rest[0] in "/(){" or (braces and rest[0] in ",}") or _AT_GROUP.match(rest)
            self.seq.append(GlobMark.DEEP if stays else GlobMark.STAR)
