"""Find secrets in a text before it reaches the disk, and describe them without repeating them.

Every rule is gated by a literal that must occur in the text, then matched in a bounded window around it, so
hostile input costs no more than a constant factor over prose of the same length.
"""

import re
from collections.abc import Iterator

import msgspec

from quire.guard import encoded_secrets, login_secrets, named_secrets, placeholders
from quire.guard.secret_rules import SecretHit, SecretRule, compiled, compiled_near, hidden
from quire.guard.token_formats import NEAR_RULES, RULES

MAX_FINDINGS = 100
_SHORTEST_TEXT = 10
# A rule that was wrong this often jumps over what it has read instead of looking inside it again.
_PATIENCE = 2000
_NEAR_REACH = 200
_SHORTEST_SIGNATURE = 16
_LONGEST_KEY_BLOCK = 12000
# How often a text may have been packed into another; who packs it more often means to.
_DEPTH = 3
_HIDDEN = 3


class SecretFinding(msgspec.Struct, frozen=True):
    """One secret: which rule, where, and a mask that does not give it away."""

    rule: str
    what: str
    line: int
    column: int
    masked: str
    certain: bool


def find_secrets(text: str) -> list[SecretFinding]:
    """Return the secrets of `text` in order of position, without overlaps."""
    if len(text) < _SHORTEST_TEXT:
        return []
    hits = _all_hits(text)
    if len(hits) > MAX_FINDINGS:
        hits = sorted(sorted(hits, key=lambda hit: (not hit.certain, hit.start))[:MAX_FINDINGS], key=_position)
    return [_located(text, hit) for hit in hits]


def secret_values(text: str) -> list[str]:
    """The certain ones as they are written, for whoever takes them out. Nobody shows or keeps these."""
    if len(text) < _SHORTEST_TEXT:
        return []
    return [text[hit.start : hit.end] for hit in _all_hits(text) if hit.certain]


def _all_hits(text: str) -> list[SecretHit]:
    return _settle([*_hits(text), *_hidden_hits(text)])


def _position(hit: SecretHit) -> int:
    return hit.start


def _located(text: str, hit: SecretHit) -> SecretFinding:
    line = text.count("\n", 0, hit.start) + 1
    column = hit.start - text.rfind("\n", 0, hit.start)
    return SecretFinding(hit.rule, hit.what, line, column, hit.masked, hit.certain)


def _settle(hits: list[SecretHit]) -> list[SecretHit]:
    """Keep of overlapping hits the certain one, then the better named one, then the longer one."""
    if len(hits) < 2:
        return hits
    from bisect import bisect_left  # not at import: most texts have nothing to settle

    taken: list[SecretHit] = []
    for hit in sorted(hits, key=lambda hit: (not hit.certain, hit.rank, hit.start - hit.end, hit.start)):
        index = bisect_left(taken, hit.start, key=_position)
        if index and taken[index - 1].end > hit.start:
            continue
        if index < len(taken) and taken[index].start < hit.end:
            continue
        taken.insert(index, hit)
    return taken


def _hits(text: str) -> list[SecretHit]:
    # Folding must keep every position: of all letters only this one becomes longer in lower case.
    lowered = text.replace("\u0130", "i").lower()
    words = encoded_secrets.long_words(text)
    sources = [_rule_hits(rule, text) for rule in _present(text, words)]
    sources += (
        _near_hits(text, lowered),
        named_secrets.assignment_hits(text, lowered),
        login_secrets.authorization_hits(text, lowered),
        login_secrets.url_hits(text),
        login_secrets.command_hits(text),
        login_secrets.file_hits(text),
        encoded_secrets.random_hits(text, lowered, encoded_secrets.runs(text, words)),
        encoded_secrets.discord_hits(text, words),
    )
    return [hit for source in sources for hit in _bounded(source)]


def _present(text: str, words: list[tuple[int, int]]) -> list[SecretRule]:
    """Return the rules of which a literal occurs, quickly, because this runs for every string of a memory."""
    found = {number for number in _WIDE for start in RULES[number].starts if start in text}
    # Only the forms of keys go over more than a word. Of the others those are looked for that share two letters.
    dense = "\n".join([text[start:end] for start, end in words])
    for pair in {*map(str.__add__, dense, dense[1:])} & _BY_PAIR.keys():
        found.update(number for number, start in _BY_PAIR[pair] if start in dense)
    return [RULES[number] for number in sorted(found)]


def _by_pair() -> dict[str, list[tuple[int, str]]]:
    """The literals that are looked for in single words, by a pair of letters that each of them holds."""
    found: dict[str, list[tuple[int, str]]] = {}
    for number, rule in enumerate(RULES):
        for start in rule.starts if number not in _WIDE else ():
            found.setdefault(start[:2], []).append((number, start))
    return found


_WIDE = frozenset(
    number
    for number, rule in enumerate(RULES)
    if rule.check == "pem" or " " in rule.prefix or min(map(len, rule.starts)) < 2
)
"""Rules that are looked for in the whole text."""
_BY_PAIR = _by_pair()


def _bounded(source: Iterator[SecretHit]) -> Iterator[SecretHit]:
    """Stop after enough certain hits; suspicions beyond that number are dropped and hide nothing certain."""
    certain = suspected = 0
    for hit in source:
        if hit.certain:
            certain += 1
            yield hit
            if certain == MAX_FINDINGS:
                return
        elif suspected < MAX_FINDINGS:
            suspected += 1
            yield hit


def _hidden_hits(text: str, depth: int = _DEPTH) -> Iterator[SecretHit]:
    """Yield certain hits some layers of encoding down, at the place of the encoded text.

    Characters are read as they are meant, runs that stand for another text as that text, and so on with what both say.
    """
    for undo in (encoded_secrets.unwrapped, encoded_secrets.unpacked):
        decoded = undo(text)
        if decoded is None:
            continue
        plain = "".join(decoded.parts)
        for hit in (*_hits(plain), *(_hidden_hits(plain, depth - 1) if depth > 1 else ())):
            if hit.certain:
                start, end = decoded.span_of(hit.start, hit.end)
                what = hit.what if hit.rank == _HIDDEN else f"encoded {hit.what}"
                # What is plain to see in the text itself goes first: this rank loses every tie.
                yield SecretHit(start, end, hit.rule, what, hit.masked, True, _HIDDEN)


def _rule_hits(rule: SecretRule, text: str) -> Iterator[SecretHit]:
    wrong = 0
    for literal in rule.starts:
        position = text.find(literal)
        while position >= 0:
            after = position + len(literal)
            match = _match(rule, text, position)
            if match is not None:
                verdict, end = _verdict(rule, match)
                if verdict is not None:
                    prefix, body = match.group("p"), match.group("b")
                    masked = f"{prefix}{body[:2]}…" if prefix else hidden(body)
                    yield SecretHit(match.start(), end, rule.id, rule.what, masked, verdict, 0)
                wrong += verdict is None
                after = max(after, end) if verdict is not None or wrong > _PATIENCE else after
            position = text.find(literal, after)


def _match(rule: SecretRule, text: str, position: int) -> re.Match[str] | None:
    for back in rule.back:
        if back <= position and _begins_word(text, position - back):
            pattern = compiled(rule.prefix, rule.body, rule.end)
            match = pattern.match(text, position - back, position + rule.reach)
            if match is not None:
                return match
    return None


def _verdict(rule: SecretRule, match: re.Match[str]) -> tuple[bool | None, int]:
    """Return True for a secret, False for a suspicion, None for neither; and where it ends."""
    body, end = match.group("b"), match.end()
    if rule.check == "pem":
        return _private_key(match.string, end)
    if rule.check == "jwt":
        return _web_token(match.group()), end
    if placeholders.is_sample(body):
        return None, end
    if rule.check == "random" and not placeholders.looks_random(body, strict=True):
        return None, end
    if rule.check == "digit" and not any(char.isdigit() for char in body):
        return None, end
    return True, end


def _begins_word(text: str, position: int) -> bool:
    r"""Say whether a token may begin here: not inside a word, but right after a JSON escape such as \n is fine."""
    if position == 0:
        return True
    before = text[position - 1]
    if not (before.isascii() and before.isalnum()):
        return True
    if before in "nrtbf" and text[position - 2 : position - 1] == "\\":
        return True
    return text[max(0, position - 6) : position - 4] == "\\u"


def _private_key(text: str, end: int) -> tuple[bool | None, int]:
    """A header alone is refused too; only a visible stand-in for the key is let through."""
    following = text[end : end + 40].replace("\\n", "\n").lstrip()
    if following.startswith(("...", "…", "<", "[", "*", "xxx", "XXX", "-----END", "YOUR", "your")):
        return None, end
    stop = text.find("-----END", end, end + _LONGEST_KEY_BLOCK)
    return True, end if stop < 0 else min(len(text), stop + 40)


def _web_token(token: str) -> bool | None:
    parts = token.split(".")
    header = encoded_secrets.plain_of(parts[0])
    if '"alg"' not in header and '"enc"' not in header:
        return None
    # Without a signature it opens nothing, but it may still carry names and addresses.
    return len(parts[-1]) >= _SHORTEST_SIGNATURE and not placeholders.is_sample(parts[-1])


def _near_hits(text: str, lowered: str) -> Iterator[SecretHit]:
    for rule in NEAR_RULES:
        for word in rule.words:
            position = lowered.find(word)
            while position >= 0:
                after = position + len(word)
                match = compiled_near(rule.body).match(text, after, after + _NEAR_REACH)
                if match is not None and not placeholders.is_sample(match.group("b")):
                    body = match.group("b")
                    if placeholders.looks_random(body, strict=True):
                        yield SecretHit(*match.span("b"), rule.id, rule.what, hidden(body), True, 0)
                        after = match.end()
                position = lowered.find(word, after)
