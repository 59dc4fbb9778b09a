"""What is kept of a transcript names no secrets and nobody's folders, and nothing that lies to its reader."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transcript_making import PROJECT, answers, claude, read_all, session_at, uses, write_lines

from cases import each
from promised import proves
from quire.capture.transcripts.places import belongs, shown_path, shown_text
from quire.capture.transcripts.redaction import kept_result, kept_text, redacted
from quire.capture.transcripts.types import RESULT_CHARS, TEXT_CHARS, KnownPlaces
from quire.guard.secrets import find_secrets

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
AWS = "AKIA" + "Z7QK3MVN2XWBTR5J"
KEY = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEowIBAAKCAQEA7bq0\n" * 20 + "-----END RSA PRIVATE KEY-----"
HERE = KnownPlaces(PROJECT, "/home/dev")


# -- secrets ----------------------------------------------------------------------------------


def test_a_certain_secret_is_replaced_by_what_it_was() -> None:
    assert redacted(f"Use {TOKEN} here.") == ("Use [redacted: GitHub token] here.", 1)
    text, count = redacted(f"{AWS} and\n{TOKEN}\n{KEY}\nend")
    assert (text.count("[redacted: "), count) == (3, 3)
    assert text.endswith("\nend")
    assert "MIIEow" not in text


def test_ordinary_text_is_left_as_it_is() -> None:
    text = "Set the API key in the environment, then run `npm test`; see src/cache.ts at 0f0f0f0."
    assert redacted(text) == (text, 0)


def test_many_secrets_are_all_replaced() -> None:
    tokens = [TOKEN[:-3] + f"{number:03}" for number in range(250)]
    text, count = redacted("\n".join(tokens))
    assert count == 250
    assert not any(token in text for token in tokens)


@pytest.mark.proof
def test_more_secrets_than_anybody_has_are_no_text_to_keep() -> None:
    assert (
        redacted("\n".join(TOKEN[:-4] + f"{number:04}" for number in range(2_500)))[0] == "[redacted: too many secrets]"
    )


@proves("P9.1", "G10")
@given(
    st.lists(
        st.sampled_from([TOKEN, AWS, KEY, "password = 'hunter2!x9Qz'", "word", " ", "\n", "=", '"', ":"]), max_size=12
    )
)
def test_what_is_left_holds_no_certain_secret(parts: list[str]) -> None:
    text, _ = redacted("".join(parts))
    assert not [finding for finding in find_secrets(text) if finding.certain]


def test_secrets_are_out_of_every_part_of_a_turn(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "s.jsonl",
        [
            claude("user", f"My token is {TOKEN}"),
            uses("t1", "Bash", 1, command=f"curl -H 'Authorization: Bearer {TOKEN}' https://api.example.org"),
            answers("t1", f"GITHUB_TOKEN={TOKEN}\n", 2),
            uses("t2", "Read", 3, file_path=f"{PROJECT}/{TOKEN}/a.ts"),
        ],
    )
    turns, _ = read_all(session_at(path), root=PROJECT)
    assert len(turns) == 4
    assert "a1B2c3" not in repr(turns)
    assert turns[3].paths == ()


def test_places_are_out_of_every_part_of_a_turn(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "s.jsonl",
        [
            claude("user", f"Look at {PROJECT}/src/a.ts and /home/dev/notes.md"),
            uses("t1", "Bash", 1, command=f"cd {PROJECT}/api && npm test"),
            answers("t1", "Error in /home/eva/x.ts", 2),
        ],
    )
    turns, _ = read_all(session_at(path), root=PROJECT, home="/home/dev")
    assert [turn.text for turn in turns] == [
        "Look at src/a.ts and ~/notes.md",
        "cd api && npm test",
        "Error in ~/x.ts",
    ]


# -- length -----------------------------------------------------------------------------------


def test_a_long_text_keeps_its_beginning_and_a_long_answer_both_ends() -> None:
    text = kept_text("word " * 100_000)
    assert len(text) < TEXT_CHARS + 100
    assert text.endswith(" characters left out]")
    answer = kept_result("First line\n" + "middle line\n" * 10_000 + "3 failed, 20 passed")
    assert answer.startswith("First line\n")
    assert answer.endswith("3 failed, 20 passed")
    assert len(answer) < RESULT_CHARS + 100
    assert kept_result("short\n") == "short"


@pytest.mark.parametrize("shift", range(0, 60, 7))
def test_no_half_of_a_secret_is_kept_where_a_text_is_cut(shift: int) -> None:
    filler = "x" * (RESULT_CHARS // 2 - 30 + shift) + " "
    for secret in (TOKEN, KEY, KEY.replace("\n", "\\n")):
        for text in (filler + secret + "\n" + "y " * RESULT_CHARS, "y " * RESULT_CHARS + secret + " " + filler[::-1]):
            kept, _ = redacted(kept_result(text))
            assert secret[8:24] not in kept
            assert "MIIEow" not in kept


@pytest.mark.parametrize("after", range(RESULT_CHARS // 2 - 500, RESULT_CHARS // 2 + 100, 90))
def test_no_rest_of_a_key_is_kept_whose_head_is_left_out(after: int) -> None:
    begin, end = "y\n" * RESULT_CHARS, "z\n" * (after // 2)
    kept, _ = redacted(kept_result(begin + KEY + "\n" + end))
    assert "MIIEow" not in kept
    assert kept.endswith("z\nz")


@given(st.text(alphabet="ab \n-", max_size=300), st.integers(4, 40))
def test_what_is_left_out_is_counted(text: str, most: int) -> None:
    for kept in (kept_text(text, most), kept_result(text, most)):
        assert len(kept) <= most + 40 or kept == text.strip()


# -- places -----------------------------------------------------------------------------------


@each(
    ("path", "cwd", "shown"),
    [
        (f"{PROJECT}/src/a.ts", PROJECT, "src/a.ts"),
        (f"{PROJECT}/src/../b.ts", PROJECT, "b.ts"),
        (PROJECT, PROJECT, "."),
        ("src/a.ts", PROJECT, "src/a.ts"),
        ("./src/a.ts", "", "src/a.ts"),
        ("a.ts", f"{PROJECT}/api", "api/a.ts"),
        ("../b.ts", f"{PROJECT}/api", "b.ts"),
        ("../../x/b.ts", f"{PROJECT}/api", "~/x/b.ts"),
        ("/home/dev/notes.md", PROJECT, "~/notes.md"),
        ("/home/dev", PROJECT, "~"),
        ("/home/dev/orders-old/a.ts", PROJECT, "~/orders-old/a.ts"),
        ("~/x.md", PROJECT, "~/x.md"),
        ("~eva/x.md", PROJECT, "~/x.md"),
        ("~/../x.md", PROJECT, "…/x.md"),
        ("~", PROJECT, "~"),
        ("/home/other/x.md", PROJECT, "~/x.md"),
        ("/Users/eva/x.md", PROJECT, "~/x.md"),
        ("/" + "root/x.md", PROJECT, "~/x.md"),
        (r"C:\Users\eva\x.md", PROJECT, "~/x.md"),
        (r"D:\work\x.md", PROJECT, "…/x.md"),
        ("/etc/passwd", PROJECT, "…/passwd"),
        ("/", PROJECT, "…"),
        ("../../..", "", "…"),
        ("/etc/passwd", "/", "…/passwd"),
        ("/home/eva/x.md", "/home/eva", "~/x.md"),
        # A session of another clone: its own folder is its repository.
        ("/home/eva/orders/src/a.ts", "/home/eva/orders", "src/a.ts"),
        ("https://example.org/x", PROJECT, ""),
        ("a\nb", PROJECT, ""),
        ("x" * 2_000, PROJECT, ""),
        ("", PROJECT, ""),
    ],
)
def test_a_path_is_shown_below_the_repository_or_shortened(path: str, cwd: str, shown: str) -> None:
    assert shown_path(path, HERE, cwd) == shown


@given(
    st.lists(st.sampled_from(["home", "dev", "orders", "..", ".", "~", "a b", "C:", "x", "Users", "ü"]), max_size=6),
    st.sampled_from(["/", "", "//", "C:\\", "~/", "../"]),
    st.sampled_from(["", PROJECT, "/home/eva/x", "relative", "/"]),
)
def test_no_path_is_shown_absolute(parts: list[str], begin: str, cwd: str) -> None:
    for places in (HERE, KnownPlaces()):
        shown = shown_path(begin + "/".join(parts), places, cwd)
        assert not shown.startswith(("/", "C:"))
        assert not shown.removeprefix("~").startswith("/..")


@each(
    ("text", "shown"),
    [
        (f"See {PROJECT}/src/a.ts:12", "See src/a.ts:12"),
        (f"cd {PROJECT} && ls", "cd . && ls"),
        (f"in `{PROJECT}`.", "in `.`."),
        (f"{PROJECT}-old/x", "~/orders-old/x"),
        ("/home/dev/.ssh/config", "~/.ssh/config"),
        ("Error: /home/other/x and /Users/eva/y", "Error: ~/x and ~/y"),
        (f"file://{PROJECT}/a.ts", "file://a.ts"),
        (r"C:\Users\eva\x", r"~\x"),
        (r"C:\\Users\\eva\\x", r"~\\x"),
        ("GET /home/index.html", "GET /home/index.html"),
        ("Look in /home/eva.smith/x, or in /home/eva.", "Look in ~/x, or in ~."),
        ("/usr/lib/x and/home/run", "/usr/lib/x and/home/run"),
        ("no path", "no path"),
    ],
)
def test_a_text_names_nobodys_folders(text: str, shown: str) -> None:
    assert shown_text(text, HERE) == shown


def test_what_belongs_to_a_repository(tmp_path: Path) -> None:
    assert belongs(PROJECT, PROJECT)
    assert belongs(f"{PROJECT}/api/", PROJECT)
    assert belongs("/home/dev/x/../orders", PROJECT)
    assert not belongs(f"{PROJECT}-old", PROJECT)
    assert not belongs("/home/dev", PROJECT)
    assert not belongs("", PROJECT)
    assert not belongs(PROJECT, "")
    (tmp_path / "link").symlink_to(tmp_path)
    assert belongs(str(tmp_path / "x"), str(tmp_path / "link"))


def test_hostile_characters_are_shown(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "s.jsonl", [claude("user", "a\u202eb\x1b[31m\r\nc\rd"), uses("t", "Re\x07ad", 1)])
    turns, _ = read_all(session_at(path))
    assert turns[0].text == "a\\u{202E}b\\u{1B}[31m\nc\\u{D}d"
    assert turns[1].tool == "Re\\u{7}ad"
