"""Design documents: which files are some, and what is read of them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.capture.design_documents import (
    DOCUMENT_BYTES,
    DOCUMENTS_MOST,
    AnsweredQuestion,
    Decision,
    DesignDocument,
    find_documents,
    read_design_document,
    scan_design_documents,
)
from quire.files.digests import sha256

REAL = Path(__file__).parents[3] / "shared" / "fixtures" / "facts" / "design-docs"
needs_real = pytest.mark.skipif(not REAL.is_dir(), reason="the real design documents lie outside the repository")

CACHE = """\
---
id: cache
title: "Cache: where and why"
status: decided
tags: [speed]
open_questions:
  - How large may it grow?
  - "Per tenant: yes or no?"
---

# Another title

## Overview

Text.

### Decision: Not below its heading

**Status:** decided

## Decisions

### Decision: Write through

**Status:** decided
**Rationale:** Reads dominate,
and staleness is unacceptable.

- It was measured.

**Revisit:** in a year

### Keep it in memory
**Status**: Accepted (2026-03-02)

Disks are slow.

**Rationale:**

#### Alternatives

A disk.

### Evict the oldest

The first paragraph says why,
on two lines.

The second has details.

## Open Questions

- How large may it  grow?
- [ ] What evicts?
  - Perhaps the oldest.
- [x] Who owns it?
- ~~Where does it live?~~
* Is it
  shared?

  A note below it.

## Implementation Notes

### File Scope

- `cache.py` (new)

### Constraints

- Invalidation ends within 50 ms
- Keys are:
  - short
  - ASCII

1. No locks

## Acceptance Criteria

### Constraints

- Not one of them
"""


def read(text: str, path: str = "docs/cache.md") -> DesignDocument:
    found = read_design_document(path, text.encode())
    assert found is not None
    return found


def body(*lines: str) -> DesignDocument:
    return read("\n".join(["---", "id: a", "status: seed", "---", *lines]))


def decisions(*lines: str) -> list[tuple[str, str, str]]:
    return [(item.title, item.status, item.rationale) for item in body("## Decisions", *lines).decisions]


# -- reading --------------------------------------------------------------------------------------


def test_a_whole_document() -> None:
    assert read(CACHE) == DesignDocument(
        path="docs/cache.md",
        sha256=sha256(CACHE.encode()),
        id="cache",
        title="Cache: where and why",
        status="decided",
        open_questions=("How large may it grow?", "Per tenant: yes or no?", "What evicts?", "Is it shared?"),
        decisions=(
            Decision("Write through", "decided", "Reads dominate, and staleness is unacceptable. - It was measured."),
            Decision("Keep it in memory", "accepted", ""),
            Decision("Evict the oldest", "", "The first paragraph says why, on two lines."),
        ),
        constraints=("Invalidation ends within 50 ms", "Keys are: - short - ASCII", "No locks"),
    )


def test_toml_and_windows_line_ends() -> None:
    text = (
        '+++\r\nid = "a"\r\nstatus = "Seed"\r\nopen_questions = ["Why?"]\r\n+++\r\n# Title\r\n## Decisions\r\n### X\r\n'
    )
    found = read("\ufeff" + text)
    assert (found.id, found.status, found.title, found.open_questions) == ("a", "seed", "Title", ("Why?",))
    assert found.decisions == (Decision("X", "", ""),)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"# Title\n\n## Decisions\n\n### X\n",
        b"---\ntitle: T\n---\n",
        b"---\nid: a\n---\n",
        b"---\nstatus: decided\n---\n",
        b"---\nid:\nstatus: decided\n---\n",
        b"---\nid: [a]\nstatus: decided\n---\n",
        b"---\nid: a\nid: b\nstatus: decided\n---\n",
        b"---\nid: a\nstatus: decided\n",
        b"---\nid: \xff\nstatus: decided\n---\n",
        b"+++\nid: a\nstatus: decided\n+++\n",
    ],
)
def test_an_ordinary_document_is_none(data: bytes) -> None:
    assert read_design_document("docs/a.md", data) is None


def test_the_title_falls_back_to_the_heading_and_the_id() -> None:
    assert body("Text", "# First", "# Second").title == "First"
    assert body("Text").title == "a"


def test_an_unknown_status_is_said() -> None:
    found = read("---\nid: a\nstatus: Finished\n---\n")
    assert found.status == "finished"
    (problem,) = found.problems
    assert (problem.code, problem.field, problem.path) == ("StatusUnknown", "status", "docs/cache.md")
    assert "decided" in problem.allowed


def test_headings_in_code_and_comments_do_not_count() -> None:
    assert decisions(
        "```markdown",
        "### In a fence",
        "~~~",
        "```` ",
        "~~~~ info",
        "### In another",
        "~~~",
        "~~~~",
        "<!--",
        "### In a comment",
        "-->",
        "<!-- one line -->",
        "    ### Indented",
        "``` not a fence ```",
        "####### Too deep",
        "#No blank",
        "### Real ###",
        "**Rationale:** Before.",
        "```",
        "**Status:** decided",
        "## Decisions of code",
        "```",
        "After.",
        "### C#",
    ) == [("Real", "", "Before. After."), ("C#", "", "")]


def test_a_fence_without_end_takes_the_rest() -> None:
    assert decisions("### One", "```", "### Two") == [("One", "", "")]


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("**Status:** decided", "decided"),
        ("**Status:**  Decided.", "decided"),
        ("**status:** `exploring`", "exploring"),
        ("**Status**: *rejected*", "rejected"),
        ("**Status:**", ""),
        ("Status: decided", ""),
        ("- **Status:** decided", ""),
    ],
)
def test_the_status_of_a_decision(line: str, status: str) -> None:
    ((_, found, _),) = decisions("### X", line)
    assert found == status


def test_a_rationale_ends_with_the_next_heading_or_field() -> None:
    assert decisions("### X", "**Rationale:** One", "two", "#### Small", "three") == [("X", "", "One two")]
    assert decisions("### X", "**Rationale:** One", "**Note:** two", "three") == [("X", "", "One")]
    assert decisions("### X", "**Rationale:** One", "- **Bold**: in a list") == [("X", "", "One - **Bold**: in a list")]
    assert decisions("### X", "**Rationale:** One", "## Else", "### Y") == [("X", "", "One")]
    assert decisions("### X", "**Rationale:** One", "# Else", "### Y") == [("X", "", "One")]


def test_of_a_decision_that_stands_twice_the_last_holds() -> None:
    found = body(
        "## Decisions", "### X", "**Status:** exploring", "### Y", "### Decision: X", "**Status:** decided", "### "
    )
    assert found.decisions == (Decision("Y", "", ""), Decision("X", "decided", ""))
    assert [(problem.code, problem.line) for problem in found.problems] == [("DecisionTwice", 9)]


@pytest.mark.parametrize(
    "line", ["*No open questions.*", "- None", "- *No open questions.*", "- _none_", "N/A", "- [x] Done?"]
)
def test_no_question_is_no_question(line: str) -> None:
    assert body("## Open Questions", line).open_questions == ()


@pytest.mark.parametrize(
    ("line", "question", "answer"),
    [
        (
            "- [x] How large may it grow? 64 MB, then the oldest go.",
            "How large may it grow?",
            "64 MB, then the oldest go.",
        ),
        ("- [X] Redis, or a table (fast — or simple)? → a table", "Redis, or a table (fast — or simple)?", "a table"),
        ("- [x] Which port → 8080", "Which port", "8080"),
        ("- [x] Who clears it — the worker", "Who clears it", "the worker"),
        ("- ~~Where does it live?~~ In Redis.", "Where does it live?", "In Redis."),
        ("- ~~Where does it live?~~ **Resolved:** in Redis", "Where does it live?", "in Redis"),
        ("- [x] Is it shared?\n  - Answer: by all workers", "Is it shared?", "by all workers"),
        ("### Is it shared?\n**Answer:** By all\nworkers.", "Is it shared?", "By all workers."),
    ],
)
def test_an_answer_stands_beside_its_question(line: str, question: str, answer: str) -> None:
    found = body("## Open Questions", *line.split("\n"))
    assert (found.answers, found.open_questions) == ((AnsweredQuestion(question, answer),), ())


def test_answers_below_a_heading_of_their_own() -> None:
    lines = (
        "- Do bounces go to billing? To support.",
        "- Is it fast? Yes",
        "### How long?",
        "Ninety seconds.",
        "",
        "More.",
    )
    found = body("## Open Questions", "- Is it fast?", "## Resolved Questions", *lines)
    assert found.open_questions == ("Is it fast?",)
    assert found.answers == (
        AnsweredQuestion("Do bounces go to billing?", "To support."),
        AnsweredQuestion("How long?", "Ninety seconds."),
    )


@pytest.mark.parametrize(
    "line", ["- [x] Done?", "- ~~Gone?~~", "- [x] Only words", "- ~~old?~~ and this?", "- Open? Or not"]
)
def test_no_answer_is_no_answer(line: str) -> None:
    assert body("## Open Questions", line).answers == ()


def test_a_single_question_in_the_head_need_be_no_list() -> None:
    assert read("---\nid: a\nstatus: seed\nopen_questions: Why?\n---\n").open_questions == ("Why?",)
    assert read("---\nid: a\nstatus: seed\nopen_questions:\n---\n").open_questions == ()


@pytest.mark.parametrize(
    ("line", "known"),
    [
        ("open_questions: []", True),
        ("open_questions: {", False),
        ("open_questions: [a\nopen_questions: []", False),
        ("a line that may belong to it", False),
        ("tags: {a: b}", True),
        ("kind: x\nkind: y", True),
    ],
)
def test_whether_the_questions_are_known(line: str, known: bool) -> None:
    assert read(f"---\nid: a\nstatus: seed\n{line}\n---\n").knows_questions is known


_titles = st.text(st.characters(codec="ascii", categories=["Ll", "Lu"]), min_size=1, max_size=12)
_texts = st.lists(_titles, min_size=1, max_size=6).map(" ".join)


@given(
    st.lists(st.tuples(_titles, st.sampled_from(["decided", "exploring", ""]), _texts), unique_by=lambda item: item[0]),
    st.lists(_texts, unique_by=str.lower),
    st.lists(_texts, unique_by=str.lower),
)
def test_what_is_written_comes_back(
    told: list[tuple[str, str, str]], questions: list[str], constraints: list[str]
) -> None:
    lines = ["## Decisions"]
    for title, status, rationale in told:
        lines += [f"### Decision: {title}", f"**Status:** {status}", f"**Rationale:** {rationale}", ""]
    lines += ["## Open Questions", *(f"- {question}?" for question in questions)]
    lines += ["## Implementation Notes", "### Constraints", *(f"- {text}." for text in constraints)]
    found = body(*lines)
    assert [(item.title, item.status, item.rationale) for item in found.decisions] == told
    assert found.open_questions == tuple(f"{question}?" for question in questions)
    assert found.constraints == tuple(f"{text}." for text in constraints if text.lower() not in ("none", "tbd"))
    assert found.problems == ()


@given(st.binary(max_size=200) | st.text("#-*`~<>!:[] \nabD", max_size=200).map(str.encode))
def test_any_bytes_are_read(data: bytes) -> None:
    read_design_document("docs/a.md", data)
    found = read_design_document("docs/a.md", b"---\nid: a\nstatus: seed\n---\n## Decisions\n" + data)
    assert found is None or found.id == "a"


# -- finding --------------------------------------------------------------------------------------

HEAD = "---\nid: {}\nstatus: seed\n---\n"


def put(root: Path, path: str, text: str = "x") -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


def test_markdown_below_the_two_folders_is_found(tmp_path: Path) -> None:
    found = ["ai/docs/b.md", "docs/a.md", "docs/design/deep/c.md", "docs/é.md"]
    others = [
        "a.md",
        "ai/a.md",
        "src/docs/a.md",
        "docs/a.txt",
        "docs/.hidden/a.md",
        "docs/.a.md",
        "docs/node_modules/x/a.md",
    ]
    for path in [*found, *others, "docs/back\\slash.md", "docs/line\nbreak.md"]:
        put(tmp_path, path)
    (tmp_path / "docs" / "folder.md").mkdir()
    assert find_documents(str(tmp_path))[0] == found


def test_links_are_not_followed(tmp_path: Path) -> None:
    put(tmp_path, "outside/a.md")
    put(tmp_path, "docs/real.md")
    (tmp_path / "docs" / "link.md").symlink_to("real.md")
    (tmp_path / "docs" / "folder").symlink_to("../outside")
    (tmp_path / "ai").mkdir()
    (tmp_path / "ai" / "docs").symlink_to("../outside")
    assert find_documents(str(tmp_path))[0] == ["docs/real.md"]
    (tmp_path / "ai" / "docs").unlink()
    (tmp_path / "ai").rmdir()
    put(tmp_path, "outside/docs/a.md")
    (tmp_path / "ai").symlink_to("outside")
    assert find_documents(str(tmp_path))[0] == ["docs/real.md"]


def test_where_there_are_no_documents(tmp_path: Path) -> None:
    assert find_documents(str(tmp_path))[0] == []
    (tmp_path / "docs").write_text("a file")
    assert find_documents(str(tmp_path / "nowhere"))[0] == find_documents(str(tmp_path))[0] == []


def test_a_name_that_is_no_text_is_left_out(tmp_path: Path) -> None:
    put(tmp_path, "docs/a.md")
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/docs/\xff.md")).write_text("x")
    except OSError:
        pytest.skip("this file system has only names in UTF-8")
    assert find_documents(str(tmp_path))[0] == ["docs/a.md"]


def test_folders_may_be_very_deep(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    descriptor = os.open(tmp_path / "docs", os.O_RDONLY)
    for _ in range(1_200):
        os.mkdir("d", dir_fd=descriptor)
        inner = os.open("d", os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = inner
    os.close(os.open("a.md", os.O_CREAT | os.O_WRONLY, dir_fd=descriptor))
    os.close(descriptor)
    try:
        assert find_documents(str(tmp_path))[0] == ["docs" + "/d" * 1_200 + "/a.md"]
    finally:
        # Too deep for those who clean up behind the tests.
        subprocess.run(["rm", "-r", tmp_path / "docs"], check=True)


def test_very_many_and_very_large_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quire.capture.design_documents.DOCUMENTS_MOST", 3)
    put(tmp_path, "docs/a/large.md", HEAD.format("large") + "x" * DOCUMENT_BYTES)
    for name in ("b", "c", "d"):
        put(tmp_path, f"docs/{name}.md", HEAD.format(name))
    assert [document.id for document in scan_design_documents(str(tmp_path)).documents] == ["b", "c", "d"]
    put(tmp_path, "ai/docs/e.md", HEAD.format("e"))
    assert find_documents(str(tmp_path))[0] == ["docs/b.md", "docs/c.md", "docs/d.md"]
    problems = scan_design_documents(str(tmp_path)).problems
    assert [(problem.code, problem.path) for problem in problems] == [
        ("DocumentUnread", "docs/a/large.md"),
        ("DocumentUnread", "ai/docs/e.md"),
    ]
    assert DOCUMENTS_MOST == 5_000


def test_a_scan_tells_what_it_could_not_read(tmp_path: Path) -> None:
    put(tmp_path, "docs/good.md", CACHE)
    put(tmp_path, "docs/ordinary.md", "# Title\n")
    put(tmp_path, "docs/site.md", "---\nlayout: {a: b}\n---\n")
    put(tmp_path, "docs/rule.md", "---\nA rule, and no end.\n")
    put(tmp_path, "docs/unended.md", "---\nid: a\nstatus: seed\n")
    put(tmp_path, "docs/twice.md", "---\nid: a\nstatus: seed\nstatus: decided\n---\n")
    put(tmp_path, "docs/without.md", "---\nid: a\n---\n")
    (tmp_path / "docs" / "latin.md").write_bytes(b"---\r\nid: \xe9\r\nstatus: seed\r\n---\r\n")
    put(tmp_path, "docs/status.md", "---\nid: s\nstatus: odd\n---\n")
    scan = scan_design_documents(str(tmp_path))
    assert [document.path for document in scan.documents] == ["docs/good.md", "docs/status.md"]
    assert [(problem.path, problem.code) for problem in scan.problems] == [
        ("docs/latin.md", "NotUtf8"),
        ("docs/status.md", "StatusUnknown"),
        ("docs/twice.md", "KeyTwice"),
        ("docs/unended.md", "FrontMatterUnread"),
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read_stops_nothing(tmp_path: Path) -> None:
    put(tmp_path, "docs/a.md", CACHE)
    put(tmp_path, "docs/b.md", CACHE)
    (tmp_path / "docs" / "a.md").chmod(0)
    scan = scan_design_documents(str(tmp_path))
    assert [document.path for document in scan.documents] == ["docs/b.md"]
    assert [(problem.path, problem.code) for problem in scan.problems] == [("docs/a.md", "DocumentUnread")]


# -- real documents -------------------------------------------------------------------------------


@needs_real
def test_the_real_documents() -> None:
    """For each, by name: its status, how many decisions (all decided), open questions and constraints."""
    expected = [
        ("deferred", 2, 4, 0),
        ("implemented", 6, 0, 6),
        ("implemented", 2, 0, 5),
        ("implemented", 3, 0, 5),
        ("resolved", 2, 0, 4),
        ("seed", 0, 1, 0),
        ("exploring", 2, 1, 4),
        ("implemented", 6, 0, 3),
        ("implementing", 1, 0, 0),
        ("resolved", 4, 0, 0),
        ("implementing", 3, 0, 4),
        ("deferred", 1, 0, 0),
        ("exploring", 4, 2, 0),
        ("decided", 2, 0, 0),
    ]
    found = []
    for file in sorted(REAL.iterdir()):
        data = file.read_bytes()
        document = read_design_document(file.name.replace("__", "/"), data)
        assert document is not None
        assert document.path == f"docs/{document.id}.md"
        assert document.problems == ()
        counts = (len(document.decisions), len(document.open_questions), len(document.constraints))
        found.append((document.status, *counts))
        assert f"# {document.title}\n".encode() in data
        for decision in document.decisions:
            assert decision.status == "decided"
            assert f"### Decision: {decision.title}\n\n**Status:** decided\n".encode() in data
            assert f"**Rationale:** {decision.rationale}".encode() in data
        for text in (*document.open_questions, *document.constraints):
            assert f"- {text}".encode() in data
    assert found == expected
