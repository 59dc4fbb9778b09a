"""The repository keeps its own memory, made with the tool itself, and it is sound."""

from pathlib import Path

from quire.project import Project
from quire.verbs.admin.check import check_files


def test_the_project_s_own_memory_has_no_fault() -> None:
    found = check_files(Project.open(str(Path(__file__).parents[2])))
    assert found.errors == []
    assert [problem for problem in found.warnings if problem.code != "AnchorOrphaned"] == []
