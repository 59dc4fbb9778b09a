"""What governs a file: which anchors reach it, how closely, and at which lines."""

from pathlib import Path

import pytest

from quire.anchors.reach import Reach, inner_path
from quire.model.errors import InputError
from quire.model.records import Record
from quire.upkeep.why import reach_of

CODE = """class Worker:
    limit = 3

    def push(self, job):
        return job

    def pop(self):
        return None


def push(job):
    return job
"""


def record(*anchors: str) -> Record:
    return Record(
        ref="feature.x", layer="graph", kind="feature", title="X", text="", status="active", path="x", anchors=anchors
    )


def close(anchor: str, *paths: str) -> float:
    return Reach(path.rstrip("/") for path in paths)(record(anchor))


@pytest.mark.parametrize(
    ("anchor", "path"),
    [
        ("src/queue.py", "src/queue.py"),
        ("src/queue.py#Worker.push", "src/queue.py"),
        ("src/", "src"),
        ("src", "src/"),
        ("src/queue.py", "src"),
        ("src/deep/down/a.py", "src"),
        ("src/deep/", "src"),
        ("src/deep/*.py", "src"),
        ("src/queue.py#push", "src"),
        ("app/[slug]/page.tsx", "app/[slug]/page.tsx"),
        ("src/a#b.py", "src/a#b.py"),
    ],
)
def test_the_file_itself_and_what_lies_in_an_asked_folder_are_closest(anchor: str, path: str) -> None:
    assert close(anchor, path) == 1.0


@pytest.mark.parametrize(
    ("anchor", "path"),
    [
        ("src/queue.py", "src/queue.pyi"),
        ("src/queue.py", "lib/src/queue.py"),
        ("src/", "src2/a.py"),
        ("src", "srcs"),
        ("src/*.py", "src/deep/a.py"),
        ("src/*.py", "lib"),
        ("src/queue.py#push", "src/other.py"),
        ("Src/", "src/a.py"),
        ("src/deep/", "src/de"),
    ],
)
def test_others_are_not_reached(anchor: str, path: str) -> None:
    assert close(anchor, path) == 0.0


def test_nearer_folders_are_closer_and_a_pattern_is_farthest() -> None:
    path = "services/billing/retry/queue.py"
    order = ["services/billing/retry/queue.py", "services/billing/retry/", "services/billing/", "services/", "**/*.py"]
    scores = [close(anchor, path) for anchor in order]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == len(scores)
    assert scores[0] == 1.0
    assert scores[-1] == 0.5
    assert all(0.5 <= score <= 1.0 for score in scores)


def test_of_several_anchors_the_closest_counts() -> None:
    reach = Reach(["src/queue.py"])
    assert reach(record("src/", "**/*.py", "src/queue.py")) == 1.0
    assert reach(record()) == 0.0
    assert reach(record("lib/")) == 0.0


def test_the_files_come_closest_first() -> None:
    reach = Reach(["src/b.py", "src/a.py", "lib/c.py", "src/deep/d.py"])
    assert reach.files(record("src/b.py", "src/")) == ("src/b.py", "src/a.py", "src/deep/d.py")
    assert reach.files(record("lib/*.py")) == ("lib/c.py",)
    assert reach.files(record("nowhere/")) == ()


def test_a_file_that_is_named_twice_counts_once() -> None:
    assert Reach(["src/a.py", "src/a.py"]).files(record("src/")) == ("src/a.py",)
    assert Reach([])(record("src/")) == 0.0


# -- lines --------------------------------------------------------------------------------


def lines(root: Path, name: str, path: str = "src/queue.py") -> set[int]:
    """The lines at which an anchor to this symbol governs the file."""
    anchor = record(f"{path}#{name}")
    count = len(CODE.splitlines())
    return {line for line in range(1, count + 1) if reach_of(str(root), path, line)(anchor)}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/queue.py").write_text(CODE)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "spanned"),
    [
        ("Worker", set(range(1, 9))),
        ("Worker.push", {4, 5}),
        ("Worker::push", {4, 5}),
        ("Worker.pop", {7, 8}),
        ("pop", {7, 8}),
        ("Worker.limit", {2}),
        ("nothing", set()),
    ],
)
def test_a_symbol_governs_the_lines_it_spans(root: Path, name: str, spanned: set[int]) -> None:
    assert lines(root, name) == spanned


def test_of_several_definitions_with_the_name_each_governs_its_lines(root: Path) -> None:
    """They count together for the verdict; a line between them belongs to none."""
    found = lines(root, "push")
    assert {11, 12} <= found
    assert 8 not in found


def test_without_a_line_a_symbol_stands_for_its_file(root: Path) -> None:
    assert reach_of(str(root), "src/queue.py", None)(record("src/queue.py#Worker.push")) == 1.0


def test_a_file_that_cannot_be_parsed_or_read_stands_for_its_symbols(root: Path) -> None:
    (root / "src/queue.py").write_text(CODE + "def (\n")
    assert len(lines(root, "Worker.push")) == 12
    (root / "src/queue.py").unlink()
    assert len(lines(root, "Worker.push")) == 12
    (root / "src/notes.txt").write_text("x\n" * 12)
    assert len(lines(root, "anything", "src/notes.txt")) == 12


def test_other_anchors_do_not_care_for_the_line(root: Path) -> None:
    for anchor in ("src/queue.py", "src/", "src/*.py"):
        assert reach_of(str(root), "src/queue.py", 10)(record(anchor)) > 0.0


# -- paths --------------------------------------------------------------------------------


def test_a_path_is_taken_from_here_then_from_the_root_or_in_full(root: Path) -> None:
    here = root / "src"
    (root / "lib").mkdir()
    (root / "lib/a.py").write_text("")
    assert inner_path(str(root), str(here), "queue.py") == "src/queue.py"
    assert inner_path(str(root), str(here), "lib/a.py") == "lib/a.py"
    assert inner_path(str(root), str(here), "../lib/a.py") == "lib/a.py"
    assert inner_path(str(root), str(here), str(root / "lib/a.py")) == "lib/a.py"
    assert inner_path(str(root), str(here), "new.py") == "src/new.py"
    assert inner_path(str(root), str(root), "src/") == "src"


@pytest.mark.parametrize("path", ["..", "../x", "/etc/passwd", "", ".memory/config.json", "a\\b"])
def test_a_path_that_leads_out_is_refused(root: Path, path: str) -> None:
    with pytest.raises(InputError):
        inner_path(str(root), str(root), path)
