"""Everything that can be wrong with what a verb of the facts is given, or finds: told in words, and nothing written."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commanding import CMAP, FIVE, GAPS, REDIS, SAMPLE, WORKER, Here, copy_of, fact_line

from promised import proves
from quire.layers.facts.layout import CONTENT_CHARS, LINE_BYTES, RELATIONS, SECTIONS

TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3
NO_TEXT = os.fsdecode(b"bad \xff byte")


@pytest.fixture
def here(shared_memory: Any, tmp_path: Path) -> Here:
    """A memory with four facts, and one that was put away."""
    return _sample(shared_memory, tmp_path)


def _sample(memory: Any, folder: Path) -> Here:
    found = copy_of(memory, folder)
    assert found("init", "--with", "facts").code == 0
    found.write(*SAMPLE)
    return found


@pytest.fixture(scope="module")
def steady(shared_memory: Any, tmp_path_factory: pytest.TempPathFactory) -> Here:
    """The same, for all tests of this module that must not change it."""
    found = _sample(shared_memory, tmp_path_factory.mktemp("steady"))
    assert found.facts("recall", "retries").code == 0
    return found


@pytest.fixture
def refuses(steady: Here, tree: Any) -> Callable[..., Any]:
    """A line that must be refused: the error that it gives, after a look that nothing was written."""

    def refuse(*arguments: str, code: int = 1, field: str | None = None, **options: Any) -> Any:
        before = tree(steady.root)
        run = steady("--json", *arguments, **options)
        assert run.code == code, run.out + run.err
        error = run.error
        assert error["message"].strip()
        assert error["hint"], error
        if field is not None:
            assert error["details"]["field"] == field
        text = steady(*arguments, **options)
        assert (text.code, text.out) == (code, "")
        assert text.err.startswith("error: ")
        assert "\nhint: " in text.err
        assert tree(steady.root) == before
        return error

    return refuse


# -- arguments --------------------------------------------------------------------------------


def test_a_first_fact_that_is_refused_leaves_nothing_behind(shared_memory: Any, tmp_path: Path, tree: Any) -> None:
    bare = copy_of(shared_memory, tmp_path)
    before = tree(bare.root)
    assert bare.facts("store", "Specs", "").code == 1
    assert bare.facts("archive", "nowhere").code == 1
    assert tree(bare.root) == before


@pytest.mark.proof(keep=3)
@pytest.mark.parametrize("section", ["Nonsense", "", "   ", "Arc", "S" * 100_000, "Specs\nDecisions", "-", "🎉"])
def test_a_wrong_section_names_the_right_ones(refuses: Any, section: str) -> None:
    for line in (
        ["facts", "store", "--", section, "x"],
        ["facts", "recall", "x", f"--section={section}"],
        ["facts", "list", f"--section={section}"],
        ["facts", "supersede", WORKER, "x", f"--section={section}"],
    ):
        if not section and line[1] != "store":
            continue
        error = refuses(*line, field="section")
        assert error["details"]["allowed"] == list(SECTIONS)
        assert all(name in error["hint"] for name in SECTIONS)
        assert len(error["message"]) < 200


def test_an_empty_section_is_refused_everywhere(refuses: Any) -> None:
    for line in (["list"], ["recall", "x"], ["supersede", WORKER, "x"]):
        refuses("facts", *line, "--section", "", field="section")


@pytest.mark.proof(keep=4)
@pytest.mark.parametrize("content", ["", "   ", "\n\t\n", "- ", "-"])
@pytest.mark.parametrize("verb", [["store", "Specs"], ["supersede", WORKER]])
def test_empty_content(refuses: Any, verb: list[str], content: str) -> None:
    error = refuses("facts", *verb, "--", content, stdin=b"", field="content")
    assert "empty" in error["message"]
    assert f"{CONTENT_CHARS:,}" in error["hint"]


@pytest.mark.parametrize("verb", [["store", "Specs"], ["supersede", WORKER]])
def test_content_beyond_the_limit(refuses: Any, steady: Here, verb: list[str]) -> None:
    for length in (CONTENT_CHARS + 1, 100_000):
        error = refuses("facts", *verb, "x" * length, field="content")
        assert f"{length:,}" in error["message"]
        assert f"{CONTENT_CHARS:,}" in error["message"]
    refuses("facts", *verb, "-", stdin=b"x" * 20_000_000, field="content")
    assert steady.facts(*verb, "ü" * CONTENT_CHARS, "--dry-run").code == 0


@pytest.mark.proof(keep=4)
@proves("P9.1", "G10", "G11", over="facts")
@proves("P9.2", "G10", over="facts")
@pytest.mark.parametrize(
    "line",
    [
        ["store", "Specs", f"The key is {TOKEN}"],
        ["store", "Specs", "x", "--tag", TOKEN],
        ["store", "Specs", "x", "--source", TOKEN],
        ["store", "Specs", "x", "--session", TOKEN],
        ["store", "Specs", "x", "--mind", TOKEN],
        ["supersede", WORKER, f"The key is {TOKEN}"],
        ["supersede", WORKER, "x", "--reason", TOKEN],
        ["supersede", WORKER, "x", "--source", TOKEN],
        ["archive", WORKER, "--reason", TOKEN],
        ["connect", WORKER, FIVE, "enables", "--description", TOKEN],
        ["connect", WORKER, FIVE, "enables", "--session", TOKEN],
        ["session", "s", "--title", TOKEN, "--close"],
        ["session", "s", "--narrative", f"a\n{TOKEN}", "--close"],
        ["session", TOKEN, "--turns", "1", "--close"],
    ],
)
def test_a_credential_reaches_no_file(here: Here, tree: Any, line: list[str]) -> None:
    """The file of facts is shared with everybody: whatever goes into it is looked at."""
    before = tree(here.root)
    run = here.facts(*line, "--json")
    assert run.code == 1, run.out
    assert run.error["code"] == "MemorySecretDetected"
    assert TOKEN not in run.out
    assert tree(here.root) == before


@proves("P9.1", "G11", over="facts")
def test_the_name_of_a_file_that_is_a_credential_reaches_none(here: Here, tree: Any) -> None:
    run = here.facts("session", "s", "--turns", "1", "--file", f"src/{TOKEN}", "--close", "--json")
    assert TOKEN not in run.out
    assert not any(TOKEN.encode() in data for data in tree(here.root).values())


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("evil \x1b[31mred", "U+001B"),
        ("bell \x07", "U+0007"),
        ("flip \u202e", "U+202E"),
        ("isolate \u2066", "U+2066"),
    ],
)
def test_characters_that_a_terminal_would_act_on(refuses: Any, content: str, named: str) -> None:
    for line in (
        ["store", "Specs", content],
        ["store", "Specs", "x", "--tag", content],
        ["supersede", WORKER, content],
        ["archive", WORKER, "--reason", content],
        ["connect", WORKER, FIVE, "enables", "--description", content],
        ["session", "s", "--title", content],
    ):
        assert named in refuses("facts", *line)["message"]


@pytest.mark.parametrize("raw", [b"bad \xff byte", b"\xc3", "x".encode("utf-16")])
def test_bytes_that_are_no_text_are_refused_from_a_pipe_as_from_the_line(refuses: Any, raw: bytes) -> None:
    """What is stored must be what was sent."""
    for line in (["store", "Specs", "-"], ["store", "Specs"], ["supersede", WORKER, "-"]):
        refuses("facts", *line, stdin=raw)


def test_a_mark_at_the_beginning_of_a_pipe_is_no_content(steady: Here) -> None:
    run = steady.facts("store", "Specs", "-", "--dry-run", "--json", stdin=b"\xef\xbb\xbfWith a mark.\r\n")
    assert run.data["fact"]["content"] == "With a mark."


@pytest.mark.parametrize("number", ["0", "-0.1", "1.1", "nan", "inf", "-inf", "1e-400"])
def test_a_confidence_out_of_range(refuses: Any, number: str) -> None:
    error = refuses("facts", "store", "Specs", "x", f"--confidence={number}", field="confidence")
    assert "above 0" in error["message"]


@pytest.mark.parametrize("text", ["much", "", "0,5", "9" * 5000])
def test_a_confidence_that_is_no_number(steady: Here, text: str) -> None:
    run = steady.facts("store", "Specs", "x", f"--confidence={text}", "--json")
    assert run.code in (1, 2)
    assert "confidence" in run.error["message"]
    assert len(run.error["message"]) < 120


RANGES = [
    (["recall", "x"], "k", 1, 50),
    (["search-archive", "x"], "k", 1, 50),
    (["episodes"], "k", 1, 50),
    (["list"], "limit", 1, 2000),
    (["context", "a prompt of some length"], "budget", 100, 50_000),
]


@pytest.mark.parametrize(("line", "option", "least", "most"), RANGES)
def test_numbers_out_of_range_are_refused_with_the_range(
    refuses: Any, steady: Here, line: list[str], option: str, least: int, most: int
) -> None:
    for number in (least - 1, most + 1, -1, 10**30):
        error = refuses("facts", *line, f"--{option}={number}", field=option)
        assert f"from {least:,} to {most:,}" in error["message"]
    for number in (least, most):
        assert steady.facts(*line, f"--{option}={number}").code == 0


NUMBERS = [*((line, option) for line, option, _, _ in RANGES), (["list"], "offset")]
COUNTS = [
    (["session", "s"], "turns"),
    (["session", "s"], "tool-calls"),
    (["compact", "--stdin"], "keep"),
]


@pytest.mark.proof(keep=12)
@pytest.mark.parametrize(("line", "option"), [*NUMBERS, *COUNTS])
@pytest.mark.parametrize("text", ["many", "", "1.5", "1e3", "0x10", "9" * 5000])
def test_what_is_no_number_is_a_usage_error(steady: Here, line: list[str], option: str, text: str) -> None:
    run = steady.facts(*line, f"--{option}={text}", "--json", stdin="[]")
    assert run.code == 2
    assert f"--{option} takes a whole number" in run.error["message"]
    assert len(run.error["message"]) < 120


@pytest.mark.parametrize(("line", "option"), [(["list"], "offset"), *COUNTS])
def test_a_count_below_nothing_is_refused(refuses: Any, line: list[str], option: str) -> None:
    refuses("facts", *line, f"--{option}=-3", stdin="[]")


@pytest.mark.parametrize("query", ["", "   ", "\n"])
def test_an_empty_question(refuses: Any, query: str) -> None:
    assert "memory facts list" in refuses("facts", "recall", query, field="query")["hint"]
    refuses("facts", "search-archive", query, field="query")


HOSTILE = ['"', "NEAR(", "*", "content:x", "AND OR NOT", "'; DROP TABLE records; --", "🎉", "-", "x" * 120_000]


@pytest.mark.proof(keep=4)
@pytest.mark.parametrize("query", [*HOSTILE, "\x1b[31mred", "%", "_", "検索 " * 15_000])
def test_any_words_are_a_question(steady: Here, query: str) -> None:
    for verb in ("recall", "search-archive", "episodes", "context"):
        run = steady.facts(verb, "--json", "--", query)
        assert run.code == 0, verb
        assert isinstance(run.data, dict)
        text = steady.facts(verb, "--", query)
        assert text.code == 0
        assert "\x1b" not in text.out


@pytest.mark.proof(keep=4)
@pytest.mark.parametrize("name", ["", " ", "nowhere", "fact:", "fact:nowhere", "%", "____", "57af*", "x" * 5000])
def test_an_id_that_names_nothing(refuses: Any, steady: Here, tree: Any, name: str) -> None:
    for line, field in (
        (["supersede", name, "x"], "fact_id"),
        (["connect", name, WORKER, "enables"], "source"),
        (["connect", WORKER, name, "enables"], "target"),
    ):
        error = refuses("facts", *line, field=field)
        assert error["code"] == "MemoryObjectNotFound"
        assert len(error["message"]) < 200
    before = tree(steady.root)
    for verb in ("archive", "restore", "focus"):
        run = steady.facts(verb, name, "--json")
        assert run.code == 1
    assert tree(steady.root) == before


def test_the_beginning_of_an_id_is_enough_and_a_doubtful_one_is_explained(here: Here) -> None:
    here.write(
        fact_line("aaaa11112222", "Specs", "One."),
        fact_line("aaaa11113333", "Specs", "Two."),
        fact_line("bbbb22224444", "Specs", "Three."),
    )
    both = ("aaaa11112222", "aaaa11113333")
    for line in (
        ["facts", "supersede", "aaaa1111", "x"],
        ["facts", "connect", "aaaa1111", "bbbb22224444", "enables"],
        ["inspect", "fact:aaaa1111"],
    ):
        run = here(*line, "--json")
        assert run.code == 1
        assert all(name in run.error["hint"] for name in both), line
    for verb in ("archive", "restore"):
        run = here.facts(verb, "aaaa1111")
        assert run.code == 1
        assert all(name in run.out for name in both), verb
    assert here.facts("archive", "aaaa11112").code == 0
    assert here.facts("supersede", "bbbb", "Four.").code == 0


def test_focus_names_what_a_beginning_could_be_as_the_others_do(here: Here) -> None:
    here.write(fact_line("aaaa11112222", "Specs", "One."), fact_line("aaaa11113333", "Specs", "Two."))
    run = here.facts("focus", "aaaa1111")
    assert run.code == 1
    assert "aaaa11112222" in run.out
    assert "aaaa11113333" in run.out


def test_too_short_a_beginning_is_explained(here: Here) -> None:
    """Three characters are taken for no beginning: whoever types them must learn why."""
    run = here.facts("archive", WORKER[:3])
    assert run.code == 1
    assert "4" in run.out or "four" in run.out or WORKER in run.out


def test_a_thing_is_not_connected_to_itself(refuses: Any, here: Here) -> None:
    for target in (WORKER, f"fact:{WORKER}", WORKER[:6]):
        assert "itself" in refuses("facts", "connect", WORKER, target, "enables", field="target")["message"]
    refuses("facts", "connect", "project.harbor", "project.harbor", "enables", field="target")


def test_a_fact_is_not_connected_to_what_stands_for_it(here: Here) -> None:
    """Two ids of one text are one fact."""
    text = str(SAMPLE[0]["content"])
    here.write(*SAMPLE, fact_line("abababababab", "Architecture", text))
    run = here.facts("connect", WORKER, "abababababab", "depends_on", "--json")
    assert run.code == 1
    assert "itself" in run.error["message"]


@pytest.mark.parametrize("relation", ["", "  ", "!!", "a" * 61, "depends_on\x1b", "../x"])
def test_a_relation_that_is_none(refuses: Any, relation: str) -> None:
    error = refuses("facts", "connect", WORKER, FIVE, relation, field="relation")
    assert error["details"]["allowed"] == list(RELATIONS)
    assert all(name in error["hint"] for name in RELATIONS)


@pytest.mark.parametrize("ref", ["feature.nowhere", "episode:nowhere", "edge:nowhere", "profile:x"])
def test_an_end_that_is_not_there(refuses: Any, ref: str) -> None:
    refuses("facts", "connect", WORKER, ref, "enables", field="target")


@pytest.mark.parametrize("option", ["--source", "--session", "--mind"])
@pytest.mark.parametrize("name", ["", "  ", "a\nb", "x" * 1000])
def test_names_are_short_and_on_one_line(refuses: Any, option: str, name: str) -> None:
    refuses("facts", "store", "Specs", "x", option, name, field=option.strip("-"))


@pytest.mark.parametrize("mind", ["a b", " other", "tab\there"])
def test_a_mind_that_the_file_could_not_give_back(here: Here, mind: str) -> None:
    """A name with blanks is refused, or it is still that mind when the file is read again."""
    run = here.facts("store", "Specs", "Belongs elsewhere.", "--mind", mind, "--json")
    if run.code == 0:
        shutil.rmtree(here.root / ".memory/index")
    assert "Belongs elsewhere." not in here.listed().values()


@pytest.mark.parametrize("day", ["yesterday", "", "2026-13-01", "2026-02-30", "12:00", "0"])
def test_a_day_that_is_none(refuses: Any, day: str) -> None:
    for name in ("since", "until"):
        refuses("facts", "episodes", f"--{name}={day}", field=name)


def test_errors_name_the_option_that_was_typed(refuses: Any) -> None:
    error = refuses("facts", "session", "s", "--started", "yesterday")
    assert "started" in error["message"]
    assert "started_at" not in error["message"]


@pytest.mark.parametrize("name", ["", "x" * 1001])
def test_a_session_without_a_name(refuses: Any, name: str) -> None:
    refuses("facts", "session", name, "--turns", "1")


@pytest.mark.parametrize(
    "line",
    [
        ["store", NO_TEXT, "x"],
        ["store", "Specs", NO_TEXT],
        ["store", "Specs", "x", "--tag", NO_TEXT],
        ["store", "Specs", "x", "--source", NO_TEXT],
        ["store", "Specs", "x", "--session", NO_TEXT],
        ["store", "Specs", "x", "--mind", NO_TEXT],
        ["supersede", NO_TEXT, "x"],
        ["archive", NO_TEXT],
        ["archive", WORKER, "--reason", NO_TEXT],
        ["restore", NO_TEXT],
        ["connect", WORKER, NO_TEXT, "enables"],
        ["connect", WORKER, FIVE, NO_TEXT],
        ["list", "--section", NO_TEXT],
        ["focus", NO_TEXT],
        ["session", NO_TEXT],
        ["session", "s", "--title", NO_TEXT],
        ["import", NO_TEXT],
    ],
)
def test_bytes_that_are_no_text_on_the_line(steady: Here, tree: Any, line: list[str]) -> None:
    before = tree(steady.root)
    run = steady.facts(*line, "--json")
    assert run.code in (1, 2)
    if not run.json["ok"]:
        assert run.error["message"]
        # An option is called by the name that was typed.
        assert "agent_session" not in run.error["message"]
    assert steady.facts(*line).code == run.code
    assert tree(steady.root) == before


@pytest.mark.parametrize("verb", ["recall", "search-archive", "episodes", "context"])
def test_bytes_that_are_no_text_in_a_question(steady: Here, verb: str) -> None:
    run = steady.facts(verb, NO_TEXT, "--json")
    assert run.code in (0, 2)
    assert run.json["ok"] is (run.code == 0)


USAGE = [
    ["bogus"],
    ["store"],
    ["store", "Specs", "a", "b"],
    ["store", "Specs", "x", "--bogus"],
    ["store", "Specs", "x", "--tag"],
    ["supersede"],
    ["archive"],
    ["restore"],
    ["connect", WORKER, FIVE],
    ["recall"],
    ["recall", "two", "words"],
    ["list", "extra"],
    ["search-archive"],
    ["compact"],
    ["compact", "--stdin", "--file", "x"],
    ["ingest", "--stdin", "--accept", WORKER],
    ["session"],
    ["normalize", "extra"],
    ["import"],
]


@pytest.mark.proof(keep=6)
@pytest.mark.parametrize("line", USAGE)
def test_a_line_that_cannot_be_understood_exits_with_2(refuses: Any, line: list[str]) -> None:
    refuses("facts", *line, code=2)


def test_a_misspelled_verb_is_recognised(steady: Here) -> None:
    for typed, meant in (("stroe", "store"), ("recal", "recall"), ("archieve", "archive"), ("normalise", "normalize")):
        assert f"Did you mean '{meant}'?" in steady.facts(typed).err


# -- files that are given ---------------------------------------------------------------------


@pytest.mark.parametrize("name", ["nowhere.jsonl", ".", ""])
def test_a_file_that_cannot_be_read(refuses: Any, name: str) -> None:
    error = refuses("facts", "import", name, field="file")
    assert "--stdin" not in error["hint"]  # import has no such option
    refuses("facts", "compact", "--file", name, field="file")


def test_a_file_without_a_single_fact_is_not_taken_for_one(here: Here) -> None:
    """Somebody named the wrong file: that must not look like success."""
    before = here.file.read_bytes()
    run = here.facts("import", "AGENTS.md", "--json")
    assert here.file.read_bytes() == before
    assert run.code == 1


def test_bad_lines_of_an_import_are_told_with_their_places(here: Here, tmp_path: Path) -> None:
    other = tmp_path / "theirs.jsonl"
    good = [json.dumps(fact_line(f"abababababa{number}", "Specs", f"Good {number}.")) for number in range(2)]
    other.write_bytes(
        "\n".join([good[0], "{broken", "<<<<<<< HEAD", '{"_type":"fact","id":"x"}', good[1], ""]).encode()
    )
    run = here.facts("import", str(other), "--json")
    assert (run.code, run.data["added"], run.data["set_aside"]) == (0, 2, 2)
    assert [item["line"] for item in run.json["warnings"]] == [2, 4]
    here.write(*SAMPLE)
    text = here.facts("import", str(other))
    assert text.code == 0
    for place in (":2", ":4"):
        assert f"theirs.jsonl{place}" in text.err


def test_a_credential_in_a_file_that_is_taken_in(here: Here, tmp_path: Path) -> None:
    other = tmp_path / "theirs.jsonl"
    other.write_text(json.dumps(fact_line("abababababab", "Specs", f"The key is {TOKEN}")) + "\n")
    before = here.file.read_bytes()
    run = here.facts("import", str(other), "--json")
    assert (run.code, run.warnings) == (0, ["MemorySecretDetected"])
    assert TOKEN not in run.out
    assert here.file.read_bytes() == before
    data = run.data
    assert (data["lines"], data["added"], data["known"], data["refused"]) == (1, 0, 0, 1)


@proves("P9.1", "E11", over="facts")
def test_check_finds_a_credential_that_came_in_by_hand(here: Here) -> None:
    here.write(*SAMPLE, fact_line("abababababab", "Specs", f"The key is {TOKEN}"))
    run = here("check", "--json")
    assert run.code == 1
    (found,) = run.data["errors"]
    assert (found["code"], found["path"], found["line"]) == ("MemorySecretDetected", ".memory/facts.jsonl", 6)
    assert TOKEN not in run.out


@pytest.mark.parametrize("raw", [b"", b"{", b"nonsense", b"\xff", b"[]", b'"x"', b"{}", b'{"content": 7}'])
def test_a_candidate_that_is_none(refuses: Any, raw: bytes) -> None:
    error = refuses("facts", "ingest", "--stdin", stdin=raw)
    assert "memory save" not in error["hint"]


@pytest.mark.parametrize(
    "raw", [b"", b"{", b"\xff", b'"x"', b'[{"role": "user"}]', b'[{"role": "wizard", "content": "x"}]']
)
def test_a_conversation_that_is_none(refuses: Any, raw: bytes) -> None:
    refuses("facts", "compact", "--stdin", stdin=raw)


# -- the memory itself ------------------------------------------------------------------------

EVERY = {
    "": [],
    "list": [],
    "recall": ["x"],
    "search-archive": ["x"],
    "episodes": [],
    "focus": [],
    "release": [],
    "context": ["x"],
    "store": ["Specs", "x"],
    "supersede": [WORKER, "x"],
    "archive": [WORKER],
    "restore": [REDIS],
    "connect": [WORKER, FIVE, "enables"],
    "compact": ["--stdin"],
    "ingest": [],
    "session": ["s"],
    "normalize": ["--write"],
    "import": ["/dev/null"],
}
READING = ("", "list", "recall", "search-archive", "episodes", "focus", "context")


def every_line() -> list[list[str]]:
    return [["facts", *([verb] if verb else []), *rest] for verb, rest in EVERY.items()]


def test_without_a_memory_every_verb_says_how_to_begin(environment: dict[str, str], tmp_path: Path, tree: Any) -> None:
    (tmp_path / "bare").mkdir()
    bare = Here(tmp_path / "bare", environment)
    for line in [*every_line(), ["note", "x"], ["notes"], ["notes", "clear"], ["notes", "undo"]]:
        run = bare(*line, "--json", stdin="[]")
        assert run.code == 3, line
        assert run.error["code"] == "MemoryNotInitialized"
        assert "memory init" in run.error["hint"]
    assert tree(bare.root) == {}


def test_a_memory_of_a_newer_program_is_left_alone(here: Here, tree: Any) -> None:
    config = here.root / ".memory/config.json"
    config.write_text(config.read_text().replace('"version": 5', '"version": 6'))
    before = tree(here.root)
    for line in [*every_line(), ["note", "x"], ["notes"], ["notes", "clear"], ["inspect", f"fact:{WORKER}"]]:
        run = here(*line, "--json", stdin="[]")
        assert run.code == 3, line
        assert run.error["code"] == "MemoryUnsupportedStorageVersion"
    assert tree(here.root) == before


@proves("P1.5", "C8")
def test_everything_works_without_git(environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    plain = Here(tmp_path / "plain", {**environment, "PATH": "/nowhere"})
    assert plain("init").code == 0
    worker = plain.store("Architecture", "Retries run in the worker.")
    five = plain.store("Constraints", "At most five.")
    for line in (
        ["connect", worker, five, "enables"],
        ["supersede", five, "At most seven."],
        ["archive", worker],
        ["restore", worker],
        ["focus", worker],
        ["session", "s", "--turns", "1", "--close"],
        ["normalize", "--write"],
        ["ingest"],
        ["recall", "retries"],
        [],
    ):
        run = plain.facts(*line)
        assert (run.code, run.err) == (0, ""), line
    assert plain("check").code == 0
    assert not (plain.root / ".gitignore").exists()


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def link(path: Path) -> None:
    path.rename(path.with_name("elsewhere.jsonl"))
    path.symlink_to("elsewhere.jsonl")


def dangling(path: Path) -> None:
    path.unlink()
    path.symlink_to("/nowhere/at/all")


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def device(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


UNSAFE = [folder, link, dangling, pipe, device]


@pytest.mark.parametrize("replace", UNSAFE)
def test_what_is_no_plain_file_is_neither_read_nor_written(
    here: Here, tree: Any, replace: Callable[[Path], None]
) -> None:
    """Every verb ends in words, and none pretends that there are no facts."""
    here.facts("list")
    replace(here.file)
    before = tree(here.root)
    for line in every_line():
        run = here(*line, stdin='[{"role": "user", "content": "x"}]')
        assert "No facts are stored yet" not in run.out, line
        assert "Could not facts" not in run.err, line
        if line[1:2] == ["store"]:
            assert run.code in (1, 3)
        if run.code:
            assert ".memory/facts.jsonl" in run.err, line
    run = here("check", "--json")
    assert run.code == 1
    assert [(item["code"], item["path"]) for item in run.data["errors"]] == [
        ("CanonicalFileUnsafe", ".memory/facts.jsonl")
    ]
    changed = {name for name, data in tree(here.root).items() if before.get(name) != data}
    assert {name for name in changed if not name.startswith(".memory/local/")} == set()


@pytest.mark.parametrize("replace", [folder, link])
@pytest.mark.parametrize("line", [["facts"], ["facts", "normalize"], ["facts", "import", "x.jsonl", "--dry-run"]])
def test_the_whole_file_is_asked_for_and_is_none(here: Here, replace: Callable[[Path], None], line: list[str]) -> None:
    (here.root / "x.jsonl").write_text(json.dumps(fact_line("abababababab", "Specs", "Elsewhere.")) + "\n")
    replace(here.file)
    assert "facts.jsonl" in here(*line).err


def test_a_file_that_cannot_be_read_is_named_by_every_other_verb(here: Here) -> None:
    shown = here("status").out
    kept = here.file.rename(here.root / "kept.jsonl")
    here.file.mkdir()
    for line in (["status"], ["query", "harbor"], ["rebuild"]):
        run = here(*line)
        assert ".memory/facts.jsonl" in run.out + run.err, line
    here.file.rmdir()
    kept.rename(here.file)
    assert here("status").out == shown


GARBAGE = [
    b"\x00\xff\xfe garbage",
    b"{broken",
    b'{"_type":"fact"}',
    b"[1, 2]",
    b"null",
    b'{"_type":"widget","id":"x"}',
    b'{"_type":"fact","id":"glued","section":"Specs","content":"a"}{"_type":"fact","id":"b"}',
    b'{"_type":"fact","id":"' + b"x" * 200 + b'","section":"Specs","content":"long id"}',
    json.dumps(fact_line("huge", "Specs", "x" * LINE_BYTES)).encode(),
    b"[" * 100_000,
]


def test_bad_lines_are_counted_named_and_kept(here: Here) -> None:
    here.write(*SAMPLE[:2], *GARBAGE, *SAMPLE[2:])
    bad = list(range(3, 3 + len(GARBAGE)))
    data = here.facts("--json").data
    assert (data["facts"], data["bad_lines"], data["state"]) == (5, len(GARBAGE), "needs a look")
    run = here("check", "--json")
    assert run.code == 1
    assert [item["line"] for item in run.data["errors"]] == bad
    assert {item["path"] for item in run.data["errors"]} == {".memory/facts.jsonl"}
    # An ordinary change leaves all of them where they are.
    assert here.facts("archive", GAPS).code == 0
    here.store("Specs", "A new one.")
    lines = here.file.read_bytes().splitlines()
    assert [lines[number - 1] for number in bad] == GARBAGE
    assert set(here.listed().values()) == {*(str(line["content"]) for line in SAMPLE[:3]), "A new one."}
    # The normal form has them at the end, in an order of its own.
    assert here.facts("normalize", "--write").code == 0
    assert sorted(here.file.read_bytes().splitlines()[-len(GARBAGE) :]) == sorted(GARBAGE)
    assert here.facts("--json").data["bad_lines"] == len(GARBAGE)


def test_a_file_of_nothing_but_garbage_is_no_empty_memory(here: Here) -> None:
    here.write(*GARBAGE)
    for line in (["list"], ["recall", "x"], []):
        run = here.facts(*line)
        assert run.code == 0
        assert "No facts are stored yet" not in run.out, line
    assert here.facts("store", "Specs", "A first one.").code == 0
    assert here.file.read_bytes().splitlines()[: len(GARBAGE)] == GARBAGE


def test_a_last_line_without_an_end_is_not_glued_to_the_next(here: Here) -> None:
    here.file.write_bytes(here.file.read_bytes().removesuffix(b"\n"))
    here.store("Specs", "A new one.")
    assert len(here.file.read_bytes().splitlines()) == 6
    assert here.facts("--json").data["bad_lines"] == 0


def test_lines_of_another_system_and_a_mark_are_read(here: Here) -> None:
    here.file.write_bytes(b"\xef\xbb\xbf" + here.file.read_bytes().replace(b"\n", b"\r\n"))
    assert len(here.listed()) == 4
    here.facts("archive", GAPS)
    here.store("Specs", "A new one.")
    assert len(here.listed()) == 4
    assert here("check").code == 0


@pytest.mark.proof(keep=3)
@pytest.mark.parametrize("name", ["working.json", "access.jsonl", "notes.md"])
@pytest.mark.parametrize("replace", [folder, pipe, dangling])
def test_local_files_that_are_none_stop_no_reading(here: Here, replace: Callable[[Path], None], name: str) -> None:
    local = here.root / ".memory/local"
    local.mkdir(exist_ok=True)
    (local / name).write_bytes(b"")
    replace(local / name)
    for line in (["list"], ["recall", "webhook retries"], ["context", "webhook retries run"], [], ["focus"]):
        assert here.facts(*line).code == 0, line
    here("note", "x")
    here("notes")
    here.facts("focus", WORKER)


@pytest.mark.proof
@proves("P1.3", "C2", over="facts")
def test_a_disk_that_is_read_only(shared_memory: Any, here: Here) -> None:
    """Reading goes on; writing is refused with the reason; nothing crashes."""
    mount = f"mount --bind {here.root} {here.root} && mount -o remount,ro,bind {here.root} && cd {here.root}"
    probe = subprocess.run(["unshare", "-m", "sh", "-c", mount], capture_output=True, check=False)
    if probe.returncode:
        pytest.skip("mounts of one's own are not permitted here (unshare -m)")
    here.facts("focus", WORKER)
    here("note", "x")
    inside = type(shared_memory)(Path("/"), here.env, ["unshare", "-m", "sh", "-c", f'{mount} && exec "$@"', "sh"])
    talk = json.dumps([{"role": role, "content": "word " * 400} for role in ("user", "assistant") * 4])
    for line in (["list"], ["recall", "webhook retries"], ["normalize"], ["store", "Specs", "x", "--dry-run"], []):
        run = inside("facts", *line)
        assert (run.code, run.err) == (0, ""), line
    messages = []
    for line in (
        ["facts", "store", "Specs", "x"],
        ["facts", "focus", GAPS],
        ["facts", "session", "s", "--turns", "1"],
        ["facts", "compact", "--stdin"],
        ["note", "y"],
        ["notes", "clear"],
    ):
        run = inside(*line, "--json", stdin=talk)
        assert run.code == 1, line
        assert "read-only" in run.error["message"], line
        messages.append(run.error["message"])
    assert here.facts("focus", "--json").data["used"] == 1
    assert CMAP in here.listed()
    # What could not be done is named as a sentence needs it.
    assert [text for text in messages if text.startswith(("Could not facts", "Could not notes"))] == []
