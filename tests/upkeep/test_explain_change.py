"""What changed behind a record: how many commits, which changed most, and whether it is little."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from quire.anchors.minor_change import minor_change
from quire.project import Project
from quire.upkeep.explain_change import explain_changes, is_changed_only_by
from quire.upkeep.explained_changes import explanations, known_explanations
from quire.upkeep.verdicts import Verdicts
from quire.verbs.graph.save import save_nodes
from work import calls_made

CODE = "import os\n\n\ndef retry(n):\n    a = n\n    return a\n\n\ndef other():\n    return 1\n"


def verdict_of(project: Project, anchor: str) -> Any:
    found = project.with_index(
        lambda index: Verdicts(project.root, project.git, index)(index.records("graph", "gotcha"))
    )
    return found["gotcha.retries-pile-up"]


@pytest.fixture
def anchored(project: Project, git: Any, repo: Path) -> Any:
    def make(anchor: str) -> None:
        (repo / "a.py").write_text(CODE)
        git.commit("code")
        node = {"kind": "gotcha", "title": "Retries pile up", "body": "They do.", "anchors": [anchor]}
        save_nodes(project, {"task": "t", "nodes": [node]})

    return make


def test_the_commit_that_changed_most_is_named_beside_the_last(
    project: Project, git: Any, repo: Path, anchored: Any
) -> None:
    anchored("a.py#retry")
    text = CODE.replace("    a = n\n", "    a = n\n    a += 1\n    a += 2\n    a += 3\n")
    (repo / "a.py").write_text(text)
    git.commit("Three pauses")
    (repo / "a.py").write_text(text.replace("return 1", "return 2"))
    git.commit("Another function")
    (repo / "a.py").write_text(text.replace("a += 3", "a += 4"))
    git.commit("One number")
    (found,) = explain_changes(project.root, project.git, verdict_of(project, "a.py#retry"))
    assert (found.commits, found.most_subject, found.most_lines, found.last_subject) == (
        2,
        "Three pauses",
        3,
        "One number",
    )
    assert found.line().startswith("2 commits, most in ")


def test_a_change_of_imports_or_annotations_alone_is_told_apart(
    project: Project, git: Any, repo: Path, anchored: Any
) -> None:
    anchored("a.py")
    (repo / "a.py").write_text(CODE.replace("import os", "import sys"))
    commit = git.commit("Imports")
    verdict = verdict_of(project, "a.py")
    (found,) = explain_changes(project.root, project.git, verdict)
    assert (found.only, found.line().endswith("; only imports changed")) == ("imports", True)
    assert is_changed_only_by(project.git, verdict, commit)
    assert not is_changed_only_by(project.git, verdict, "0" * 40)
    (repo / "a.py").write_text(CODE.replace("import os", "import re"))
    assert not is_changed_only_by(project.git, verdict_of(project, "a.py"), commit)


def test_an_explanation_is_known_until_the_code_changes_again(
    project: Project, git: Any, repo: Path, anchored: Any
) -> None:
    anchored("a.py")
    (repo / "a.py").write_text(CODE.replace("import os", "import sys"))
    git.commit("Imports")
    verdicts = {"gotcha.retries-pile-up": verdict_of(project, "a.py")}
    assert project.with_index(lambda index: known_explanations(index, verdicts)) == {}
    made = project.with_index(lambda index: explanations(project.root, project.git, index, verdicts))
    assert project.with_index(lambda index: known_explanations(index, verdicts)) == made
    assert made["gotcha.retries-pile-up"][0].says_more
    (repo / "a.py").write_text(CODE.replace("return 1", "return 2"))
    verdicts = {"gotcha.retries-pile-up": verdict_of(project, "a.py")}
    assert project.with_index(lambda index: known_explanations(index, verdicts)) == {}
    later = project.with_index(lambda index: explanations(project.root, project.git, index, verdicts))
    assert [one.only for one in later["gotcha.retries-pile-up"]] == [""]


def test_what_is_not_committed_is_told_apart_too_and_no_other_file_is_compared(
    project: Project, git: Any, repo: Path, anchored: Any
) -> None:
    anchored("a.py")
    (repo / "a.py").write_text(CODE.replace("import os", "import sys"))
    verdict = verdict_of(project, "a.py")
    (found,) = explain_changes(project.root, project.git, verdict)
    assert (found.commits, found.only) == (0, "imports")
    alone = calls_made(lambda: explain_changes(project.root, project.git, verdict))
    for number in range(200):
        (repo / f"{number}.py").write_text(f"x = {number}\n")
    git("add", ".")
    git("reset", "-q", "a.py")
    git("commit", "-qm", "Others")
    assert calls_made(lambda: explain_changes(project.root, project.git, verdict)) < alone * 1.5


@pytest.mark.parametrize(
    ("path", "before", "after", "name", "said"),
    [
        ("a.py", "import a\nx = 1\n", "import b\nx = 1\n", "", "imports"),
        ("a.py", "def f(a):\n    return a\n", "def f(a: int) -> int:\n    return a\n", "f", "annotations"),
        ("a.py", "import a\nx = 1\n", "import b\nx: int = 1\n", "", "imports and annotations"),
        ("a.py", "def f(a):\n    return a\n", "def f( a ):\n    return a  # so\n", "f", "formatting or comments"),
        ("a.ts", "let x = 1;\n", "let x  = 1; // so\n", "", "formatting or comments"),
        ("a.py", "x = 1\n", "x = 2\n", "", ""),
        ("a.py", "x = (\n", "x = 2\n", "", ""),
        ("a.ts", "import {a} from 'a';\nlet x = 1;\n", "import {b} from 'a';\nlet x = 1;\n", "", "imports"),
        ("a.ts", "function f(a) { return a; }\n", "function f(a: number) { return a; }\n", "f", "annotations"),
        ("a.go", 'package a\nimport "b"\nvar x = 1\n', 'package a\nimport "c"\nvar x = 1\n', "", "imports"),
        ("a.rs", "use a::b;\nfn f() {}\n", "use a::c;\nfn f() {}\n", "", "imports"),
        ("a.rs", "fn f() { 1 }\n", "fn f() { 2 }\n", "", ""),
        ("a.txt", "import a\n", "import b\n", "", ""),
    ],
)
def test_what_counts_as_little(path: str, before: str, after: str, name: str, said: str) -> None:
    assert minor_change(path, before.encode(), after.encode(), name) == said
