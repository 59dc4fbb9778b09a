"""Notes for later: a list that a person may edit, counted exactly, and a removal that can be undone."""

import errno
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.files import disk
from quire.layers.facts.notes import (
    NOTE_CHARS,
    QuickNote,
    add_note,
    clear_notes,
    read_notes,
    remove_notes,
    restore_notes,
)
from quire.model.errors import InputError, OutsideProject, SecretDetected, StorageFailed
from quire.model.records import Problem
from quire.model.text import trim

AT = "2026-03-02 11:19"
LATER = "2026-03-03 09:00"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=60).filter(
    lambda text: any(map(str.isprintable, trim(text)))
)
BROKEN = st.text(st.sampled_from("a\n\r -[]#"), max_size=12).filter(trim)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / ".memory" / "local" / "notes.md"
    path.parent.mkdir(parents=True)
    return path


def root_of(file: Path) -> str:
    return str(file.parents[2])


def texts(file: Path) -> list[str]:
    return [note.text for note in read_notes(root_of(file))]


def add(file: Path, *given: str) -> None:
    for text in given:
        add_note(root_of(file), text, AT, "t")


# -- adding and reading ---------------------------------------------------------------------


def test_without_a_file_there_are_no_notes(tmp_path: Path) -> None:
    assert read_notes(str(tmp_path)) == []
    assert list(tmp_path.iterdir()) == []


def test_a_note_is_one_line_with_its_time(tmp_path: Path) -> None:
    root = str(tmp_path)
    assert add_note(root, "look at the C:\\new path, *later*", AT, "t") == 1
    assert add_note(root, "ünd ⏎ this", LATER, "t") == 2
    file = tmp_path / ".memory" / "local" / "notes.md"
    assert file.read_text() == f"- [{AT}] look at the C:\\new path, *later*\n- [{LATER}] ünd ⏎ this\n"
    assert read_notes(root) == [
        QuickNote(1, AT, "look at the C:\\new path, *later*"),
        QuickNote(2, LATER, "ünd ⏎ this"),
    ]


def test_further_lines_are_indented_and_not_counted(file: Path) -> None:
    text = f"one\n- [{AT}] not a note\n\n## neither"
    assert add_note(root_of(file), text, AT, "t") == 1
    assert file.read_text() == f"- [{AT}] one\n  - [{AT}] not a note\n  \n  ## neither\n"
    assert add_note(root_of(file), "two", AT, "t") == 2
    assert texts(file) == [text, "two"]


@given(st.lists(TEXTS | BROKEN, min_size=1, max_size=4))
def test_any_text_comes_back_as_it_was(tmp_path_factory: pytest.TempPathFactory, given_texts: list[str]) -> None:
    root = str(tmp_path_factory.mktemp("any"))
    counts = [add_note(root, text, AT, "t") for text in given_texts]
    assert counts == list(range(1, len(given_texts) + 1))
    assert [note.text for note in read_notes(root)] == given_texts
    clear_notes(root, LATER, "t")
    assert read_notes(root) == []
    assert [note.text for note in restore_notes(root, "t")] == given_texts
    assert [note.text for note in read_notes(root)] == given_texts


OTHER = f"""# My notes

- [ ] a task
- [{AT}] first
- [yesterday] not counted
* [{AT}] neither
  - [{AT}] nor this
- [{AT}]tight

- [{LATER}] second
  goes on

  after a blank line


plain end
"""


def test_lines_of_other_shape_are_kept_and_not_counted(file: Path) -> None:
    file.write_text(OTHER)
    assert read_notes(root_of(file)) == [
        QuickNote(1, AT, "first"),
        QuickNote(2, LATER, "second\ngoes on\n\nafter a blank line"),
    ]
    assert add_note(root_of(file), "third", AT, "t") == 3
    assert file.read_text() == OTHER + f"- [{AT}] third\n"
    clear_notes(root_of(file), AT, "t")
    left = OTHER.replace(f"- [{AT}] first\n", "")
    left = left.replace(f"- [{LATER}] second\n  goes on\n\n  after a blank line\n", "")
    assert file.read_text() == left


def test_a_missing_last_line_end_is_added(file: Path) -> None:
    file.write_text(f"- [{AT}] one")
    add(file, "two")
    assert texts(file) == ["one", "two"]


def test_the_line_ends_of_other_editors_are_no_text(file: Path) -> None:
    file.write_bytes(f"\ufeff- [{AT}] one\r\n  more\r\n\r\n  end\r\n- [{AT}]\r\nother\r\n".encode())
    assert texts(file) == ["one\nmore\n\nend", ""]


def test_bytes_that_are_no_text_are_shown_as_such_and_kept(file: Path) -> None:
    data = b"\xff other\n- [2026-03-02 11:19] caf\xe9\n"
    file.write_bytes(data)
    assert texts(file) == ["caf\ufffd"]
    add(file, "more")
    assert file.read_bytes() == data + b"- [2026-03-02 11:19] more\n"
    remove_notes(root_of(file), [1], AT, "t")
    restore_notes(root_of(file), "t")
    assert file.read_bytes() == data + b"- [2026-03-02 11:19] more\n"


@pytest.mark.parametrize("text", ["", "  \n\t", "\u3000\ufeff", "x" * (NOTE_CHARS + 1), "a\0b", "a\ud800b"])
def test_what_is_no_note_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError) as refusal:
        add_note(str(tmp_path), text, AT, "t")
    assert refusal.value.details["field"] == "text"
    assert refusal.value.hint
    assert list(tmp_path.iterdir()) == []


def test_the_longest_note_is_taken(file: Path) -> None:
    add(file, "x" * NOTE_CHARS)
    assert texts(file) == ["x" * NOTE_CHARS]


@pytest.mark.parametrize("at", ["", "2026-03-02", "2026-03-02T11:19", "2026-03-02 11:19] x\n- [", "٢٠٢٦-03-02 11:19"])
def test_the_time_has_one_form(tmp_path: Path, at: str) -> None:
    for call in (
        lambda: add_note(str(tmp_path), "x", at, "t"),
        lambda: remove_notes(str(tmp_path), [], at, "t"),
        lambda: clear_notes(str(tmp_path), at, "t"),
    ):
        with pytest.raises(InputError) as refusal:
            call()
        assert refusal.value.details["field"] == "at"


def test_a_credential_is_refused_and_not_repeated(tmp_path: Path) -> None:
    with pytest.raises(SecretDetected) as refusal:
        add_note(str(tmp_path), f"remember\n{TOKEN}", AT, "t")
    assert TOKEN not in str(refusal.value.message) + str(refusal.value.details)
    assert refusal.value.details["line"] == 2
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_full_takes_no_more(file: Path) -> None:
    data = b"x" * (8 * 1024 * 1024 - 20) + b"\n"
    file.write_bytes(data)
    with pytest.raises(InputError, match="limit"):
        add(file, "one more")
    assert file.read_bytes() == data


# -- removing and bringing back -------------------------------------------------------------


def test_removed_notes_are_kept_with_when_they_went(file: Path) -> None:
    add(file, "one", "two\nlines", "three")
    assert remove_notes(root_of(file), [3, 2, 2], LATER, "t") == [
        QuickNote(2, AT, "two\nlines"),
        QuickNote(3, AT, "three"),
    ]
    assert texts(file) == ["one"]
    done = file.with_name("notes.done.md")
    assert done.read_text() == f"## Removed {LATER} (2, 3)\n- [{AT}] two\n  lines\n- [{AT}] three\n"
    clear_notes(root_of(file), LATER, "t")
    assert done.read_text().endswith(f"three\n\n## Removed {LATER} (1)\n- [{AT}] one\n")


@pytest.mark.parametrize(
    ("count", "said"), [(0, "There are no notes"), (1, "There is 1 note;"), (2, "There are 2 notes;")]
)
def test_an_unknown_number_removes_nothing(file: Path, count: int, said: str) -> None:
    add(file, *["x"] * count)
    for numbers in ([1, count + 1], [0], [-1]):
        with pytest.raises(InputError, match=said) as refusal:
            remove_notes(root_of(file), numbers, AT, "t")
        assert refusal.value.details["count"] == count
        assert refusal.value.details["field"] == "numbers"
    assert texts(file) == ["x"] * count
    assert not file.with_name("notes.done.md").exists()


def test_removing_nothing_and_clearing_nothing_write_nothing(tmp_path: Path) -> None:
    assert remove_notes(str(tmp_path), [], AT, "t") == []
    assert clear_notes(str(tmp_path), AT, "t") == []
    assert restore_notes(str(tmp_path), "t") == []
    assert list(tmp_path.iterdir()) == []


def test_a_clear_can_be_undone_when_new_notes_have_come(file: Path) -> None:
    file.write_text(OTHER)
    before = read_notes(root_of(file))
    assert clear_notes(root_of(file), LATER, "t") == before
    assert texts(file) == []
    add(file, "new")
    assert restore_notes(root_of(file), "t") == before
    assert [note.text for note in read_notes(root_of(file))] == [*(note.text for note in before), "new"]


def test_notes_come_back_to_the_places_they_had(file: Path) -> None:
    add(file, "a", "b", "c", "d", "e")
    before = file.read_bytes()
    remove_notes(root_of(file), [1, 3, 5], AT, "t")
    assert texts(file) == ["b", "d"]
    assert restore_notes(root_of(file), "t") == [QuickNote(1, AT, "a"), QuickNote(3, AT, "c"), QuickNote(5, AT, "e")]
    assert file.read_bytes() == before
    assert file.with_name("notes.done.md").read_bytes() == b""


def test_the_latest_removal_comes_back_first_then_the_one_before(file: Path) -> None:
    add(file, "a", "b", "c")
    before = file.read_bytes()
    remove_notes(root_of(file), [1], AT, "t")
    remove_notes(root_of(file), [2], LATER, "t")
    assert [note.text for note in restore_notes(root_of(file), "t")] == ["c"]
    assert [note.text for note in restore_notes(root_of(file), "t")] == ["a"]
    assert restore_notes(root_of(file), "t") == []
    assert file.read_bytes() == before


def test_a_list_of_removed_notes_that_somebody_edited_still_serves(file: Path) -> None:
    done = file.with_name("notes.done.md")
    done.write_text(f"mine\n## Removed {AT} (1, 2)\n- [{AT}] a\n- [{AT}] b\n- [{AT}] c\nkept\n\n## Removed {AT} (9)\n")
    add(file, "x")
    assert [note.number for note in restore_notes(root_of(file), "t")] == [2, 3, 4]
    assert texts(file) == ["x", "a", "b", "c"]
    assert done.read_text() == f"mine\nkept\n\n## Removed {AT} (9)\n"


@given(st.lists(BROKEN, min_size=1, max_size=6), st.data())
def test_removing_and_bringing_back_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, given_texts: list[str], data: st.DataObject
) -> None:
    root = str(tmp_path_factory.mktemp("back"))
    for text in given_texts:
        add_note(root, text, AT, "t")
    before = (Path(root) / ".memory" / "local" / "notes.md").read_bytes()
    numbers = data.draw(st.sets(st.integers(1, len(given_texts))))
    removed = remove_notes(root, numbers, LATER, "t")
    assert [note.text for note in removed] == [given_texts[number - 1] for number in sorted(numbers)]
    assert restore_notes(root, "t") == removed
    assert (Path(root) / ".memory" / "local" / "notes.md").read_bytes() == before


def test_many_notes_are_cleared_and_restored_in_time(file: Path) -> None:
    file.write_text(f"- [{AT}] x\n" * 20_000)
    assert len(clear_notes(root_of(file), AT, "t")) == 20_000
    assert len(restore_notes(root_of(file), "t")) == 20_000
    assert file.read_text() == f"- [{AT}] x\n" * 20_000


# -- damage ---------------------------------------------------------------------------------


def problems_of(file: Path) -> list[str]:
    problems: list[Problem] = []
    assert read_notes(root_of(file), problems) == []
    return [problem.code for problem in problems]


def put(kind: str, path: Path, target: Path) -> None:
    """Something that is not a regular file; a link leads to a sound file elsewhere."""
    target.write_text(f"## Removed {AT} (1)\n- [{AT}] mine\n")
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(target)


@pytest.mark.parametrize("kind", ["folder", "pipe", "link"])
def test_what_is_no_plain_file_is_neither_read_nor_replaced(file: Path, tmp_path: Path, kind: str) -> None:
    target = tmp_path / "target.md"
    put(kind, file, target)
    assert problems_of(file) == ["LocalStateDamaged"]
    with pytest.raises(OutsideProject if kind == "link" else StorageFailed):
        add(file, "x")
    assert os.path.lexists(file)
    assert target.read_text() == f"## Removed {AT} (1)\n- [{AT}] mine\n"


@pytest.mark.parametrize("kind", ["folder", "pipe", "link"])
def test_nothing_is_removed_that_could_not_be_kept(file: Path, tmp_path: Path, kind: str) -> None:
    target = tmp_path / "target.md"
    add(file, "x")
    put(kind, file.with_name("notes.done.md"), target)
    assert restore_notes(root_of(file), "t") == []
    with pytest.raises(OutsideProject if kind == "link" else StorageFailed):
        clear_notes(root_of(file), AT, "t")
    assert texts(file) == ["x"]
    assert target.read_text() == f"## Removed {AT} (1)\n- [{AT}] mine\n"


def test_a_huge_file_is_moved_aside(file: Path) -> None:
    with file.open("wb") as huge:
        huge.truncate(9 * 1024 * 1024)
    assert problems_of(file) == ["LocalStateDamaged"]
    assert add_note(root_of(file), "x", AT, "t") == 1
    assert file.with_name("notes.md.damaged").stat().st_size == 9 * 1024 * 1024


def test_a_full_list_of_removed_notes_begins_anew(file: Path) -> None:
    done = file.with_name("notes.done.md")
    full = b"x" * (8 * 1024 * 1024 - 10) + b"\n"
    done.write_bytes(full)
    add(file, "one")
    clear_notes(root_of(file), AT, "t")
    assert file.with_name("notes.done.md.damaged").read_bytes() == full
    assert done.read_text() == f"## Removed {AT} (1)\n- [{AT}] one\n"


@pytest.mark.parametrize("refused", ["notes.md", "notes.done.md"])
def test_a_disk_that_refuses_loses_no_note(file: Path, refused: str, monkeypatch: pytest.MonkeyPatch) -> None:
    add(file, "one", "two")

    def before(operation: str, path: str) -> None:
        if operation == "rename" and path.endswith(f"/{refused}"):
            raise OSError(errno.ENOSPC, "No space left on device", path)

    with monkeypatch.context() as patch:
        patch.setattr(disk, "before", before)
        with pytest.raises(StorageFailed, match="disk is full"):
            clear_notes(root_of(file), AT, "t")
    assert texts(file) == ["one", "two"]
    assert not [entry for entry in os.listdir(file.parent) if entry.endswith(".tmp")]
