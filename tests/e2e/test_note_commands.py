"""`memory note` and `memory notes`: jotting down, showing, finishing, taking back, making facts of notes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from commanding import Here, Said, copy_of

from quire.layers.facts.layout import SECTIONS
from quire.verbs.table import verbs_of

VERBS = verbs_of("notes")
TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3
AT = "2026-03-02 11:19"


@pytest.fixture
def here(shared_memory: Any, tmp_path: Path) -> Here:
    return copy_of(shared_memory, tmp_path)


@pytest.fixture
def jotted(here: Here) -> Here:
    """A memory with three notes, one of two lines."""
    for text in ("first", "second\nand its second line", "third"):
        assert here("note", text).code == 0
    return here


def texts(here: Here) -> list[str]:
    return [note["text"] for note in here("notes", "--json").data["notes"]]


def told(run: Said) -> list[str]:
    assert (run.code, run.err) == (0, ""), run.err
    return run.out.splitlines()


def test_as_installed_from_the_first_note_to_a_fact(memory: Any, repo: Path) -> None:
    memory.init()
    assert memory("notes").out == 'No notes. `memory note "text"` keeps one for later.\n'
    assert memory("note", "look at the flaky upload test").out == "Noted. (1 note)\n"
    assert memory("note", "ask about fonts").out == "Noted. (2 notes)\n"
    listed = memory("notes").out
    assert listed == f"  1. [{AT}] look at the flaky upload test\n  2. [{AT}] ask about fonts\n"
    assert memory("note").out == listed
    assert memory("notes", "promote", "1", "known issues").out.startswith(
        "Stored in Known Issues: look at the flaky upload test\n  fact:"
    )
    assert memory("notes", "done", "1").code == 0
    assert memory("notes", "undo").code == 0
    assert memory("notes").out == f"  1. [{AT}] ask about fonts\n"
    # Notes belong to this machine: git sees nothing of them.
    assert (repo / ".memory/local/notes.md").is_file()
    assert Here(repo, memory.env)("check").code == 0


@pytest.mark.parametrize("line", [["note"], ["notes"], *(["notes", verb] for verb in VERBS)])
def test_every_verb_has_help_with_an_example(tmp_path: Path, line: list[str]) -> None:
    run = Here(tmp_path, {"HOME": str(tmp_path)})(*line, "--help")
    assert (run.code, run.err) == (0, "")
    assert f"Usage: memory {' '.join(line)} " in run.out
    assert "Example" in run.out
    assert f"    memory {' '.join(line)}" in run.out


def test_git_sees_no_note(jotted: Here, git: Any) -> None:
    assert ".memory/local" not in git("status", "--short", "--untracked-files=all", cwd=jotted.root)


# -- note -------------------------------------------------------------------------------------


def test_note_for_programs(here: Here) -> None:
    assert here("note", "with words", "--json").data == {"noted": "with words", "pending": 1}
    noted = here("note", "  with blanks  ", "--json").data["noted"]
    assert texts(here) == ["with words", noted]


def test_a_note_of_several_lines_is_one_note(jotted: Here) -> None:
    assert texts(jotted) == ["first", "second\nand its second line", "third"]
    assert told(jotted("notes")) == [
        f"  1. [{AT}] first",
        f"  2. [{AT}] second",
        "     and its second line",
        f"  3. [{AT}] third",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "- [2026-01-01 00:00] like a line of the file",
        "## Removed 2026-03-02 11:19 (1)",
        "ünïcode 検索 🎉",
        "tab\tand\r\nreturn",
        "x" * 4000,
        "'; DROP TABLE notes; --",
        "a\n\n\nb\n- [2026-01-01 00:00] c",
    ],
)
def test_any_text_comes_back_as_it_was(here: Here, text: str) -> None:
    assert here("note", "--", text).code == 0
    assert texts(here) == [text]
    assert here("notes", "done", "1").code == 0
    assert texts(here) == []
    assert here("notes", "undo").code == 0
    assert texts(here) == [text]


def test_a_bullet_may_be_noted_as_it_is(here: Here) -> None:
    run = here("note", "- buy milk")
    assert run.code == 0, run.err
    assert len(texts(here)) == 1


def test_a_note_may_come_from_a_pipe_as_a_fact_may(here: Here) -> None:
    """`memory facts store SECTION -` reads standard input; so does this, and no note says just `-`."""
    assert here("note", "-", stdin="from a pipe\n").code == 0
    assert texts(here) == ["from a pipe"]


def test_words_without_quotes_are_understood_or_explained(here: Here) -> None:
    run = here("note", "buy", "milk")
    assert run.code == 0 or "quot" in run.err


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\x07", "\u200b"])
def test_an_empty_note(here: Here, tree: Any, text: str) -> None:
    before = tree(here.root)
    run = here("note", text, "--json")
    assert run.code == 1
    assert run.error["details"]["field"] == "text"
    assert tree(here.root) == before


def test_a_note_beyond_the_limit(here: Here) -> None:
    error = here("note", "x" * 4001, "--json").error
    assert "4,001" in error["message"]
    assert "4,000" in error["message"]
    assert texts(here) == []


def test_a_credential_is_not_noted(here: Here) -> None:
    run = here("note", f"the key is {TOKEN}", "--json")
    assert (run.code, run.error["code"]) == (1, "MemorySecretDetected")
    assert TOKEN not in run.out
    assert texts(here) == []


def test_bytes_that_are_no_text(here: Here) -> None:
    run = here("note", os.fsdecode(b"bad \xff"), "--json")
    assert run.code in (1, 2)
    assert run.error["hint"]
    assert texts(here) == []


def test_control_characters_never_reach_the_terminal(here: Here) -> None:
    run = here("note", "evil \x1b[31mred \u202e")
    shown = here("notes")
    assert "\x1b" not in run.out + run.err + shown.out
    assert "\u202e" not in shown.out


def test_a_person_may_edit_the_file(jotted: Here) -> None:
    file = jotted.root / ".memory/local/notes.md"
    file.write_text("# My list\n\n" + file.read_text().replace("first", "changed") + "\nfree words\n")
    assert texts(jotted) == ["changed", "second\nand its second line", "third"]
    assert jotted("note", "fourth").out == "Noted. (4 notes)\n"
    assert jotted("notes", "done", "1", "2", "3", "4").code == 0
    assert file.read_text().startswith("# My list\n")
    assert "free words" in file.read_text()


# -- notes ------------------------------------------------------------------------------------


def test_notes_for_programs(jotted: Here) -> None:
    data = jotted("notes", "--json").data
    assert data["pending"] == 3
    assert data["notes"][0] == {"number": 1, "at": AT, "text": "first"}
    assert jotted("note", "--json").data == data


def test_done_takes_notes_off_and_undo_brings_them_back(jotted: Here) -> None:
    assert told(jotted("notes", "done", "3", "1"))[1:] == ["  first", "  third"]
    assert texts(jotted) == ["second\nand its second line"]
    assert jotted("note", "fourth").code == 0
    back = jotted("notes", "undo", "--json").data
    assert [note["text"] for note in back["notes"]] == ["first", "third"]
    assert back["pending"] == 4
    assert texts(jotted) == ["first", "second\nand its second line", "third", "fourth"]


def test_each_undo_takes_back_one_step(jotted: Here) -> None:
    jotted("notes", "done", "1")
    jotted("notes", "done", "1")
    jotted("notes", "clear")
    seen = []
    for _ in range(4):
        assert jotted("notes", "undo").code == 0
        seen.append(texts(jotted))
    assert seen == [
        ["third"],
        ["second\nand its second line", "third"],
        ["first", "second\nand its second line", "third"],
        ["first", "second\nand its second line", "third"],
    ]


def test_clear_for_programs(jotted: Here) -> None:
    data = jotted("notes", "clear", "--json").data
    assert data["pending"] == 0
    assert [note["text"] for note in data["notes"]] == ["first", "second\nand its second line", "third"]
    assert told(jotted("notes")) == ['No notes. `memory note "text"` keeps one for later.']


def test_what_was_taken_off_is_shown_as_the_list_shows_it(jotted: Here) -> None:
    """The second line of a note must not look like a note of its own."""
    lines = told(jotted("notes", "done", "2"))
    assert lines[1] == "  second"
    assert lines[2].startswith("   ")


@pytest.mark.parametrize("verb", ["clear", "undo"])
def test_where_there_is_nothing_to_do_it_says_so(here: Here, verb: str) -> None:
    run = here("notes", verb)
    assert run.code == 0
    assert here("notes", verb, "--json").data == {"notes": [], "pending": 0}
    assert "0 notes. 0 left" not in run.out


@pytest.mark.parametrize("numbers", [["9"], ["0"], ["1", "9"], ["999999999999999999999"]])
def test_a_number_that_no_note_has(jotted: Here, numbers: list[str]) -> None:
    run = jotted("notes", "done", *numbers, "--json")
    assert run.code == 1
    assert run.error["details"]["field"] == "numbers"
    assert "3 notes" in run.error["message"]
    assert len(texts(jotted)) == 3


@pytest.mark.parametrize("number", ["x", "", "1.5", "-1", "1-3"])
def test_what_is_no_number(jotted: Here, number: str) -> None:
    for line in (["done", "--", number], ["promote", "--", number, "Specs"]):
        run = jotted("notes", *line)
        assert run.code in (1, 2)
        assert "hint: " in run.err
    assert len(texts(jotted)) == 3


def test_the_same_number_twice_is_one_note(jotted: Here) -> None:
    assert jotted("notes", "done", "1", "1", "--json").data["pending"] == 2


def test_usage(jotted: Here) -> None:
    for line in (["done"], ["promote"], ["promote", "1"], ["bogus"], ["clear", "1"], ["undo", "1"]):
        assert jotted("notes", *line).code == 2
    assert "Did you mean 'done'" in jotted("notes", "dune").err


# -- promote ----------------------------------------------------------------------------------


def test_promote_makes_a_fact_of_a_note(jotted: Here) -> None:
    data = jotted("notes", "promote", "2", "patterns and conventions", "--json").data
    assert (data["action"], data["fact"]["section"], data["fact"]["source"]) == (
        "stored",
        "Patterns & Conventions",
        "note",
    )
    assert data["fact"]["content"] == "second\nand its second line"
    assert texts(jotted) == ["first", "third"]
    assert list(jotted.listed().values()) == ["second\nand its second line"]


def test_promote_to_a_section_that_is_none_keeps_the_note(jotted: Here) -> None:
    run = jotted("notes", "promote", "1", "Nonsense", "--json")
    assert run.code == 1
    assert run.error["details"]["allowed"] == list(SECTIONS)
    run = jotted("notes", "promote", "9", "Specs", "--json")
    assert (run.code, run.error["details"]["field"]) == (1, "number")
    assert len(texts(jotted)) == 3
    assert not jotted.file.exists()


def test_promoting_what_is_known_says_so_and_where_it_is(jotted: Here) -> None:
    jotted.store("Decisions", "first")
    run = jotted("notes", "promote", "1", "Specs")
    assert run.code == 0
    assert not run.out.startswith("Stored in")
    assert "Decisions" in run.out + run.err
    assert len(jotted.listed()) == 1


# -- bad files --------------------------------------------------------------------------------


@pytest.mark.parametrize("raw", [b"\xff\xfe\x00", b"# just a heading\n", b"- no time\n- [yesterday] x\n", b"\n" * 1000])
def test_a_file_of_something_else_holds_no_notes_and_is_kept(here: Here, raw: bytes) -> None:
    here("note", "x")
    file = here.root / ".memory/local/notes.md"
    file.write_bytes(raw)
    assert texts(here) == []
    assert here("note", "y").code == 0
    assert texts(here) == ["y"]
    assert raw.strip() in file.read_bytes()


def test_a_file_that_is_too_large_is_set_aside_not_lost(here: Here) -> None:
    here("note", "x")
    file = here.root / ".memory/local/notes.md"
    file.write_bytes(b"x" * (9 * 1024 * 1024))
    run = here("notes", "--json")
    assert run.warnings == ["LocalStateDamaged"]
    assert here("note", "y").code == 0
    assert texts(here) == ["y"]
    assert file.with_name("notes.md.damaged").stat().st_size == 9 * 1024 * 1024


@pytest.mark.parametrize("kind", ["folder", "link", "pipe"])
def test_a_file_that_is_no_plain_file_is_left_alone(here: Here, tmp_path: Path, kind: str) -> None:
    here("note", "x")
    file = here.root / ".memory/local/notes.md"
    file.unlink()
    target = tmp_path / "private.md"
    target.write_text("- [2026-01-01 00:00] not yours\n")
    if kind == "folder":
        file.mkdir()
    elif kind == "link":
        file.symlink_to(target)
    else:
        os.mkfifo(file)
    run = here("notes", "--json")
    assert (run.code, run.data["notes"], run.warnings) == (0, [], ["LocalStateDamaged"])
    refused = here("note", "y", "--json")
    assert refused.code == 1
    assert ".memory/local/notes.md" in refused.error["message"]
    assert target.read_text() == "- [2026-01-01 00:00] not yours\n"
