"""What anchors cover: every pattern as picomatch matches it, apart from the few differences listed here."""

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import each
from quire.anchors.glob_matcher import Matcher
from quire.anchors.glob_nodes import GlobFault
from quire.anchors.glob_parser import read
from quire.anchors.path_match import Files, covers, is_glob, pattern_fault, static_prefix
from thorough import examples

GOLDEN = json.loads((Path(__file__).parent / "data" / "globs.json").read_text(encoding="utf-8"))
PATHS: list[str] = GOLDEN["paths"]
MATCHES: dict[str, list[str]] = GOLDEN["matches"]
FILES = Files(PATHS)

# A pattern also covers what lies below the folder that is named like it, letter for letter.
LITERAL_FOLDERS = {"app/[[...rest]]", "src/(group)", "src/[slug]"}
# A glob with a slash at its end means folders; picomatch never sees the slash.
MEANT_AS_FOLDERS = {"*/", "packages/*/", "packages/*/src/", "packages/{a,b}/", "src/*/"}
# pattern: (covered here only, covered by picomatch only, why)
DIFFERENT: dict[str, tuple[set[str], set[str], str]] = {
    "*(*(*(*(a))))b": ({"ab", "b"}, set(), "picomatch takes nested repeats for text, out of fear; they are safe here"),
    "+(a|aa)": ({"a"}, set(), "the same"),
    "src/(?:cli|render)/*": (set(), {"src/cli/main.rs", "src/render/draw.rs"}, "a regular expression is no glob"),
}


def _covered(anchor: str) -> list[str]:
    return [PATHS[at] for at in FILES.at(anchor)]


@each("anchor", MATCHES)
def test_a_pattern_covers_what_picomatch_matches(anchor: str) -> None:
    more: set[str] = set()
    less: set[str] = set()
    expected = set(MATCHES[anchor])
    if anchor in DIFFERENT:
        more, less, _ = DIFFERENT[anchor]
    elif anchor in LITERAL_FOLDERS:
        more = {path for path in PATHS if path.startswith(f"{anchor}/")}
        assert more - expected
    elif anchor in MEANT_AS_FOLDERS:
        folders = {path[:at] for path in PATHS for at, char in enumerate(path) if char == "/"}
        meant = {folder for folder in folders if covers(anchor.rstrip("/"), folder)}
        more = {path for path in PATHS if any(path.startswith(f"{folder}/") for folder in meant)}
        less = expected - more
    assert set(_covered(anchor)) == (expected | more) - less


def test_the_scanner_calls_the_same_patterns_globs() -> None:
    assert sorted(anchor for anchor in MATCHES if not is_glob(anchor)) == GOLDEN["plain"]


def test_every_difference_is_one() -> None:
    assert {anchor for anchor in MATCHES if _covered(anchor) != MATCHES[anchor]} == (
        LITERAL_FOLDERS | MEANT_AS_FOLDERS | DIFFERENT.keys()
    )


@each("anchor", MATCHES)
def test_one_file_and_many_agree_and_lie_below_the_prefix(anchor: str) -> None:
    assert [path for path in PATHS if covers(anchor, path)] == _covered(anchor)
    prefix = static_prefix(anchor)
    for path in _covered(anchor):
        assert not prefix or path == prefix or path.startswith(f"{prefix}/")


@each(
    ("anchor", "prefix"),
    [
        ("src/billing/**/*.ts", "src/billing"),
        ("src/billing/**", "src/billing"),
        ("src/bill*", "src"),
        ("src/billing/", "src/billing"),
        ("src/a.ts", "src/a.ts"),
        ("*.ts", ""),
        ("**/*.ts", ""),
        ("{a,b}/c", ""),
        ("!src/**", ""),
        ("src/[slug]/page.tsx", "src"),
        ("packages/*/", "packages"),
        ("src/a{b/*", "src/a{b/*"),
        ("src/x(*", "src/x(*"),
    ],
)
def test_the_static_prefix(anchor: str, prefix: str) -> None:
    assert static_prefix(anchor) == prefix


@each(
    ("anchor", "path"),
    [
        ("docs/*", "docs/two\nlines.md"),
        ("docs/**", "docs/two\nlines/x.md"),
        ("docs/two?lines.md", "docs/two\nlines.md"),
        ("docs/two\nlines.md", "docs/two\nlines.md"),
        ("**/*.md", "docs/a -> b/c d.md"),
        ("docs/a -> b", "docs/a -> b/c d.md"),
        ("lumière/*.py", "lumière/café.py"),
        ("docs/?.md", "docs/😀.md"),
        ("docs/*.md", "docs/\udcff\udcfe.md"),
        ("docs/\udcff*", "docs/\udcff\udcfe.md"),
        ("docs/\udcff\udcfe.md/", "docs/\udcff\udcfe.md"),
        ('say "hi"/*', 'say "hi"/x'),
        ("app/[...all]", "app/[...all]/deep/page.tsx"),
        ("a{b", "a{b/c"),
        ("x(1).txt", "x(1).txt"),
        ("src/\U0010ffff", "src/\U0010ffff/a"),
        ("[a]\U0010ffff*", "a\U0010ffffb"),
    ],
)
def test_names_of_all_kinds_are_covered(anchor: str, path: str) -> None:
    assert covers(anchor, path)
    assert list(Files([path]).at(anchor)) == [0]
    assert not covers(anchor, "another/file")


def test_a_folder_is_found_although_other_names_stand_between() -> None:
    files = Files(["src/a", "src/a-b", "src/a.ts", "src/a/x", "src/a/y", "src/a0", "src/ab"])
    assert list(files.at("src/a")) == [0, 3, 4]
    assert list(files.at("src/a/")) == [0, 3, 4]
    assert files.at("src") == range(7)
    assert list(files.at("src/b")) == list(files.at("")) == list(files.at("/")) == []


def test_paths_in_another_order_are_sorted() -> None:
    files = Files(["b", "a/c", "a/b"])
    assert [files.paths[at] for at in files.at("a")] == ["a/b", "a/c"]


@each(
    ("anchor", "fault"),
    [
        ("src/*.ts", None),
        ("src", None),
        ("{a,b}" * 20, None),
        ("*a" * 500, None),
        ("*" * 1_001, "is longer than 1,000 characters"),
        ("(" * 9 + "*" + ")" * 9, "nests groups more than 8 deep"),
        ("+(a|b*)" * 11, "repeats or negates more than 10 groups"),
        ("src/x(*", "has a bracket that is never closed"),
        ("a/{b,c", "has a bracket that is never closed"),
        ("[]*", "has a bracket that is never closed"),
        ("[z-a]", "has a range that runs backwards"),
        ("@(c++)", "repeats what cannot be repeated"),
        ("(?!a)*", "holds a group of a regular expression"),
        ("{a|b}(c)*{d|e}", None),
        ("*{a|b}", "mixes a bar with braces that hold no comma"),
        ("a*\0", "contains a backslash or a NUL"),
    ],
)
def test_a_pattern_that_cannot_be_used_says_why_and_covers_its_literal_path(anchor: str, fault: str | None) -> None:
    assert pattern_fault(anchor) == fault
    assert covers(anchor, anchor)
    assert covers(anchor, f"{anchor}/below")
    if fault:
        assert list(Files(["a", anchor, "z/b"]).at(anchor)) == [Files(["a", anchor, "z/b"]).paths.index(anchor)]


HOSTILE = [
    "*(*(*(*(a))))b",
    "**/*(*(*(*(a))))c",
    "{a,b}" * 20,
    "{a,aa}" * 20,
    "**/" + "{a,aa}" * 20,
    "*a" * 499 + "c",
    "*a" * 499 + "?",
    "**/a*/" * 100 + "*",
    "**/?/" * 100 + "**",
    "+(a|aa|*)" * 10,
    "!(!(!(!(a*))))",
    "*(a*b|c*)?",
    "**/!(*a*|*b*)!(*c*)!(*d*)*",
    "@(**/**a|**b)" * 10,
    "?(*a)" * 10 + "?",
    "{*a,*b,*aa}" * 30 + "?",
    "[a-z]" * 190 + "*",
]


@pytest.mark.proof(keep=4)
@pytest.mark.parametrize("anchor", HOSTILE, ids=lambda anchor: anchor[:24])
def test_a_hostile_pattern_does_not_hang(anchor: str) -> None:
    usual = [f"src/area{at % 40}/part{at % 7}/name{at}.ts" for at in range(4_000)]
    made = [text + str(at) for at in range(60) for text in ("a" * 230, "a/" * 400, "ab" * 100 + "/", "a" * 200 + "c")]
    Files(usual + made).at(anchor)
    # The slowest takes a third of a second here; one that backtracks takes longer than the universe.


PIECES = [*"ab./*?()|}", "**", "[ab]", "[^a]", "{a,b}", "{a,", "!(", "@(", "*(", "+("]
globs = st.lists(st.sampled_from(PIECES), min_size=1, max_size=9).map("".join)
names = st.text("ab.*(", min_size=1, max_size=4).filter(lambda name: name not in (".", ".."))
paths = st.lists(names, min_size=1, max_size=4).map("/".join)


@given(globs, st.lists(paths, max_size=12))
def test_one_and_many_agree_and_positions_ascend(anchor: str, given_paths: list[str]) -> None:
    files = Files(given_paths)
    found = list(files.at(anchor))
    assert all(before < after for before, after in pairwise(found))
    assert [files.paths[at] for at in found] == [path for path in files.paths if covers(anchor, path)]


@settings(max_examples=examples(400))
@given(globs, st.lists(paths, min_size=1, max_size=12))
def test_both_ways_of_matching_agree(anchor: str, given_paths: list[str]) -> None:
    try:
        fast, slow = Matcher(read(anchor)), Matcher(read(anchor))
    except GlobFault:
        return
    slow.weight = slow.search = None
    for path in given_paths:
        assert fast.matches(path) == slow.matches(path)


@given(paths)
def test_an_anchor_covers_its_own_path(path: str) -> None:
    assert covers(path, path)
    assert covers(f"{path}/", f"{path}/below") or is_glob(path)


@given(st.text(max_size=40), st.text(max_size=40))
def test_no_text_is_too_odd(anchor: str, path: str) -> None:
    assert covers(anchor, path) in (True, False)
    assert isinstance(static_prefix(anchor), str)
    assert len(Files([path]).at(anchor)) <= 1
    pattern_fault(anchor)


def test_plain_anchors_do_not_load_the_glob_modules() -> None:
    code = (
        "import sys; from quire.anchors.path_match import Files;"
        "Files(['a/b']).at('a'); print([name for name in sys.modules if 'anchors.glob' in name])"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout == "[]\n"
