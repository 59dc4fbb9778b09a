"""No path leads out of the project, through a link, or into a pipe."""

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.files.paths import escaping_part, follow_inside, inside, read_bytes, read_from, storage_failed
from quire.model.errors import OutsideProject

ESCAPES = ["..", "../x", "a/../../x", "a/..", "/x", "//x", "~/x", "~", "", ".", "./a", "a//b", "a/", "a\0b"]
ESCAPES += ["C:\\x", "C:/x", "c:x", "a\\b", "\\\\server\\share"]


@pytest.mark.parametrize("path", ESCAPES)
def test_a_path_that_could_lead_out_is_refused(tmp_path: Path, path: str) -> None:
    assert escaping_part(path)
    with pytest.raises(OutsideProject) as raised:
        inside(str(tmp_path), path)
    assert raised.value.hint


@pytest.mark.parametrize("path", ["a", "a/b.md", "...", "..a", "a..", "a b/c", "größe", "-rf", ".hidden/x"])
def test_a_path_below_the_root_is_that_path(tmp_path: Path, path: str) -> None:
    assert escaping_part(path) is None
    assert inside(str(tmp_path), path) == str(tmp_path / path)


@given(st.text(st.sampled_from("ab./\\~:\0")))
def test_whatever_is_let_through_stays_below_the_root(path: str) -> None:
    if escaping_part(path) is None:
        assert os.path.normpath(os.path.join("/top", path)).startswith("/top/")


@pytest.mark.parametrize("link", ["a", "a/b", "a/b/c.md"])
def test_a_link_on_the_way_is_refused(tmp_path: Path, link: str) -> None:
    (tmp_path / link).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / link).symlink_to(tmp_path.parent)
    with pytest.raises(OutsideProject, match="symbolic link") as raised:
        inside(str(tmp_path), "a/b/c.md")
    assert link in (raised.value.hint or "")


def test_a_link_at_the_root_is_followed_only_inside_the_project(tmp_path: Path) -> None:
    root = tmp_path / "project"
    (root / "docs").mkdir(parents=True)
    (root / "AGENTS.md").symlink_to("docs/agents.md")
    (root / "CLAUDE.md").symlink_to(tmp_path / "mine.md")
    (root / "GEMINI.md").symlink_to(root)
    assert follow_inside(str(root), "AGENTS.md") == str(root / "docs" / "agents.md")
    assert follow_inside(str(root), "plain.md") == str(root / "plain.md")
    for name in ("CLAUDE.md", "GEMINI.md"):
        with pytest.raises(OutsideProject, match=name):
            follow_inside(str(root), name)


def test_a_neighbour_whose_name_begins_alike_is_outside(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project-two").mkdir()
    (tmp_path / "project" / "AGENTS.md").symlink_to(tmp_path / "project-two" / "x")
    with pytest.raises(OutsideProject):
        follow_inside(str(tmp_path / "project"), "AGENTS.md")


def test_only_a_regular_file_of_bounded_size_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"12345")
    assert read_bytes(str(tmp_path / "file")) == b"12345"
    assert read_bytes(str(tmp_path / "file"), limit=5) == b"12345"
    with pytest.raises(OSError, match="larger than 4 bytes"):
        read_bytes(str(tmp_path / "file"), limit=4)
    (tmp_path / "link").symlink_to("file")
    with pytest.raises(OSError) as raised:
        read_bytes(str(tmp_path / "link"))
    assert raised.value.errno == errno.ELOOP
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(OSError, match="not a regular file"):
            read_bytes(str(tmp_path / name))
    with pytest.raises(FileNotFoundError):
        read_bytes(str(tmp_path / "nothing"))


def test_a_file_is_read_from_an_offset_on(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"12345")
    assert [read_from(str(tmp_path / "log"), offset) for offset in (0, 3, 5, 9)] == [b"12345", b"45", b"", b""]
    assert read_from(str(tmp_path / "nothing"), 0) == b""


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (errno.ENOSPC, "disk is full"),
        (errno.EROFS, "read-only"),
        (errno.EACCES, "permission"),
        (errno.EMFILE, "too many files"),
        (errno.ENAMETOOLONG, "name is too long"),
        (errno.EIO, "input/output error"),
    ],
)
def test_what_the_disk_refused_is_said_in_words_with_the_path(number: int, said: str) -> None:
    error = storage_failed(OSError(number, os.strerror(number), "/p/.memory/x"), "save", "/p")
    assert said in error.message
    assert ".memory/x" in error.message
    assert error.hint
    assert error.details["errno"] == errno.errorcode[number]


# -- the same through the command ---------------------------------------------------------------------------------

LINKS = [
    ".memory",
    ".memory/memory",
    ".memory/relations",
    ".memory/schema",
    ".memory/config.json",
    ".memory/events.jsonl",
    ".memory/memory/secret.json",
    ".memory/memory/secret.md",
    ".memory/recovery",
    ".memory/index",
    ".memory/.backup",
    ".memory/.lock",
    "AGENTS.md",
    ".gitignore",
]


@pytest.fixture
def outside(memory: Any, repo: Path, tmp_path: Path) -> Callable[[str], Path]:
    """Move a part of the project out of it and put a link in its place."""
    memory.init()
    memory.save({"kind": "feature", "title": "Secret", "body": "Never to be seen from outside."})

    def move(link: str) -> Path:
        target = tmp_path / "outside" / "part"
        target.parent.mkdir()
        if (repo / link).exists():
            shutil.move(repo / link, target)
        elif link.endswith("lock"):
            target.write_bytes(b"precious")
        else:
            target.mkdir()
        (repo / link).symlink_to(target)
        return tmp_path / "outside"

    return move


@pytest.mark.proof(keep=3)
@pytest.mark.parametrize("link", LINKS)
def test_nothing_is_written_through_a_link_that_leads_out(
    memory: Any, outside: Callable[[str], Path], tree: Callable[..., dict[str, bytes]], link: str
) -> None:
    folder = outside(link)
    before = tree(folder, generated=True)
    intent = {
        "task": "t",
        "nodes": [
            {
                "kind": "feature",
                "title": "Other",
                "body": "B.",
                "related": [{"predicate": "affects", "to": "feature.x"}],
            },
            {"id": "feature.x", "kind": "feature", "title": "X", "body": "B."},
        ],
    }
    for line in (
        ["save", "--stdin"],
        ["init"],
        ["status"],
        ["check"],
        ["diff"],
        ["inspect", "feature.secret"],
        ["reset", "--yes"],
        ["init", "--force"],
    ):
        memory(*line, stdin=intent)
        assert tree(folder, generated=True) == before, line


@pytest.mark.parametrize(
    "link", [".memory", ".memory/memory", ".memory/memory/secret.json", ".memory/memory/secret.md"]
)
def test_nothing_is_read_through_a_link_that_leads_out(memory: Any, outside: Callable[[str], Path], link: str) -> None:
    outside(link)
    for line in (["inspect", "feature.secret"], ["inspect", "feature.secret", "--json"], ["status"], ["check"]):
        run = memory(*line)
        assert "Never to be seen" not in run.out + run.err, line
    run = memory("check", "--json")
    assert run.code != 0, "a link in place of the memory is an error"


@pytest.mark.proof(keep=4)
@pytest.mark.parametrize(
    "pipe",
    [
        ".memory/config.json",
        ".memory/events.jsonl",
        ".memory/memory/secret.json",
        ".memory/memory/secret.md",
        ".memory/memory/stray.json",
        ".memory/relations/stray.json",
        ".memory/schema/object.schema.json",
        ".memory/sync-state.json",
        ".memory/.lock",
        ".memory/stray",
        "AGENTS.md",
    ],
)
def test_a_pipe_in_the_folder_hangs_nothing(memory: Any, outside: Callable[[str], Path], repo: Path, pipe: str) -> None:
    (repo / pipe).unlink(missing_ok=True)
    (repo / pipe).parent.mkdir(exist_ok=True)
    os.mkfifo(repo / pipe)
    intent = {"task": "t", "nodes": [{"kind": "feature", "title": "Other", "body": "B."}]}
    for line in (["status"], ["check"], ["inspect", "feature.secret"], ["save", "--stdin"], ["init"]):
        assert memory(*line, stdin=intent, seconds=20).code in (0, 1, 3), line
