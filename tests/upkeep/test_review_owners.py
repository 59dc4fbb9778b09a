"""Owners of files: GitHub's rules as PyPI's `codeowners` reads them, and GitLab's with sections and exclusions."""

import itertools

import pytest

from quire.upkeep.review.owners import read_owners

NAMES = ("a", "b", "*", "**", "a*", "*.py", "?")
FILES = (
    "a",
    "b",
    "a.py",
    "a/b",
    "a/b.py",
    "a/b/a",
    "b/a/c",
    "c/d/a/b",
    "a/a/a/a.py",
    "c/b/a.py",
    "ab/c/d",
    "x/ab/y",
    ".a",
)
GITLAB = r"""* @all
[Docs][2] @docs
docs/
README.md
!docs/private/
^[Database][] @db
db/[a-c]*.sql
/lib @lib
/lib/** @deep
a\ b.txt @space
\#x @hash
lit\*.py @literal
nobody.md @@maintainer
[docs]
*.rst @rst
"""


def test_patterns_are_read_as_github_reads_them() -> None:
    codeowners = pytest.importorskip("codeowners")
    for count in (1, 2, 3):
        for names in itertools.product(NAMES, repeat=count):
            for before, after in itertools.product(("", "/"), repeat=2):
                line = f"{before}{'/'.join(names)}{after} @x\n"
                ours, theirs = read_owners("CODEOWNERS", line.encode()), codeowners.CodeOwners(line)
                for file in FILES:
                    assert bool(ours.of(file)) == bool(theirs.of(file)), (line, file)


def test_of_several_rules_the_last_counts_and_one_without_owners_takes_them_away() -> None:
    found = read_owners(".github/CODEOWNERS", b"* @all\n/src/ @src\n/src/gen/\n!x @no\n[a] @no\nlit\\*.py @lit\n")
    assert [found.of(file) for file in ("x", "src/a", "src/gen/a", "lit*.py", "lita.py")] == [
        ("@all",), ("@src",), (), ("@lit",), ("@all",),
    ]  # fmt: skip


def test_gitlab_has_sections_exclusions_classes_and_escapes() -> None:
    found = read_owners(".gitlab/CODEOWNERS", GITLAB.encode())
    expected = {
        "x": ["@all"],
        "docs/a": ["@all", "@docs"],
        "docs/private/a": ["@all"],
        "x/docs/b": ["@all", "@docs"],
        "docs": ["@all"],
        "README.md": ["@all", "@docs"],
        "db/b1.sql": ["@all", "@db"],
        "db/d1.sql": ["@all"],
        "lib": ["@all", "@lib"],
        "lib/a": ["@all", "@deep"],
        "lib/a/b": ["@all"],
        "a b.txt": ["@all", "@space"],
        "#x": ["@all", "@hash"],
        "lit*.py": ["@all", "@literal"],
        "lita.py": ["@all"],
        "nobody.md": ["@all", "@@maintainer"],
        "docs/a.rst": ["@all", "@rst"],
    }
    assert {file: list(found.of(file)) for file in expected} == expected
    assert found.problems == ()


def test_a_file_that_cannot_be_read_names_no_owner_and_says_so() -> None:
    for data in (b"* @a\0", b"\xff\xfe* @a", b"#" * (4 * 1024 * 1024)):
        found = read_owners("CODEOWNERS", data)
        assert (found.of("x"), [problem.code for problem in found.problems]) == ((), ["OwnersUnreadable"])
    found = read_owners("CODEOWNERS", b"* @a\n/x nonsense\n")
    assert (found.of("x"), len(found.problems)) == (("@a",), 1)
