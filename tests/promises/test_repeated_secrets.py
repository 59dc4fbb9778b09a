"""A credential that somebody gives to any verb, tool or page is in no answer, no log and no file afterwards."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from attacks_secrets import made_up

from installed import Memory
from promised import proves, tally
from quire.surfaces.cli.commands import Command
from quire.surfaces.cli.main import COMMANDS, find_command
from thorough import LONG

TOKENS = (made_up()[0].value, made_up()[9].value)
"""One in both kinds of letters, and one in capitals: what must be in small letters is said so in a hint."""
PLACE = "\x00"
BUSY = {("view",), ("journal", "mcp"), ("hook",)}
"""They serve, or are for other programs; a mistake on their line is tried all the same."""


def verbs(command: Command, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Command]]:
    if not command.subcommands or command.alone:
        yield path, command
    for name, inner in command.subcommands.items():
        yield from verbs(inner, (*path, name))


def all_verbs() -> list[tuple[tuple[str, ...], Command]]:
    return [found for name in COMMANDS for found in verbs(_found(name), (name,))]


def _found(name: str) -> Command:
    command = find_command(name)
    assert command is not None
    return command


def lines(path: tuple[str, ...], command: Command) -> Iterator[list[str]]:
    """One line for each word and each option of a verb that takes a value, the place of the token marked."""
    plain = [argument.choices[0] if argument.choices else "retries" for argument in command.arguments]
    needed = [word for word, argument in zip(plain, command.arguments, strict=True) if argument.required]
    if path not in BUSY:
        for number in range(len(plain)):
            yield [*path, *plain[:number], PLACE, *needed[number + 1 :]]
        for option in command.options:
            if option.metavar:
                yield [*path, *needed, option.name, PLACE]
    yield [*path, *needed, f"--{PLACE}"]
    yield [*path, *plain, PLACE, PLACE]


def files(top: Path) -> Iterator[tuple[str, bytes]]:
    for folder, _, names in os.walk(top):
        for name in names:
            path = Path(folder, name)
            if path.is_file() and not path.is_symlink():
                yield str(path.relative_to(top)), path.read_bytes()


def kept_in(top: Path) -> list[str]:
    """Where one of them is: in what file, or in whose name."""
    wanted = [token.lower().encode() for token in TOKENS]
    return [name for name, data in files(top) if any(token in data.lower() + name.lower().encode() for token in wanted)]


def repeats(said: str, token: str) -> bool:
    """Whether a good part of the token is in it, in whatever letters."""
    folded, value = said.lower(), token.lower()
    return any(value[start : start + 12] in folded for start in range(4, len(value) - 11))


@pytest.fixture
def filled(memory: Memory, repo: Path) -> Memory:
    (repo / "retry.py").write_text("def retry() -> None: ...\n")
    memory.init("--no-guidance")
    memory.save({"kind": "gotcha", "title": "Retries pile up", "body": "They pile up.", "anchors": ["retry.py"]})
    memory("facts", "store", "Decisions", "Retries run in the worker, because requests must not wait.")
    memory("profile", "remember", "tools", "editor", "Helix", "--source", "user-stated")
    memory("journal", "init")
    memory("note", "Look at the retries.")
    return memory


@pytest.mark.proof
@proves("P9.2", "G10", over="graph facts profile journal inbox")
def test_no_verb_repeats_or_keeps_a_credential(filled: Memory, repo: Path, tmp_path: Path) -> None:
    """Each word and each option of each verb, a token in its place; in a long run both tokens, as text and as JSON."""
    told, tried = [], 0
    for path, command in all_verbs():
        for line in lines(path, command):
            forms = [(token, mode) for token in TOKENS for mode in ([], ["--json"])]
            for token, mode in forms if LONG else [forms[tried % len(forms)]]:
                run = filled(*(word.replace(PLACE, token) for word in line), *mode)
                tried += 1
                if repeats(run.out + run.err, token):
                    told.append((line, mode, run.out[:300], run.err[:300]))
    assert tried > 300
    assert told == []
    for token in TOKENS:
        (repo / token).unlink(missing_ok=True)  # what was asked for by that name
    assert kept_in(tmp_path) == []
    tally("P9.2", inputs=tried)


@proves("P9.2", "G10", over="facts profile")
def test_what_is_wrong_is_still_said(filled: Memory) -> None:
    """The credential is left out of the message, and nothing else."""
    unknown = filled("facts", "store", TOKENS[0], "Retries are logged.", "--json")
    assert unknown.error["message"] == "Unknown section `[secret left out]`."
    refused = filled("profile", "remember", "tools", TOKENS[1], "Helix")
    assert refused.code == 1
    assert "[secret left out]" in refused.err
    plain = filled("facts", "store", "Decisionss", "Retries are logged.")
    assert "`Decisionss`" in plain.err


@proves("P9.2", "G10", over="graph")
def test_what_comes_in_on_standard_input_is_not_repeated(filled: Memory, tmp_path: Path) -> None:
    node = {"kind": "gotcha", "title": "T", "body": "B"}
    for token in TOKENS:
        for intent in (
            {"task": "t", "nodes": [{**node, "kind": token}]},
            {"task": "t", "nodes": [{**node, token: 1}]},
            {"task": "t", "nodes": [{**node, "status": token, "stage": token}]},
            {"task": "t", "relations": [{"from": token, "to": token, "predicate": token}]},
            {token: token},
        ):
            for mode in ([], ["--json"]):
                run = filled("save", "--stdin", *mode, stdin=intent)
                assert run.code != 0
                assert not repeats(run.out + run.err, token), intent
        broken = filled("save", "--stdin", stdin=f'{{"task": "t", "{token}": 1, "{token}": 2}}')
        assert broken.code != 0
        assert not repeats(broken.out + broken.err, token)
    assert kept_in(tmp_path) == []


@proves("P9.1", "G11", over="facts journal")
def test_a_name_or_a_path_with_a_credential_is_not_written_down(filled: Memory, tmp_path: Path) -> None:
    """Neither into a tracked file of settings nor into what stays on this machine."""
    fact = filled("facts", "store", "Decisions", "Valves are oiled on Mondays.", "--json").data["fact"]["ref"]
    for token in TOKENS:
        place = tmp_path / f"sessions-{token}"
        place.mkdir()
        refused = [
            filled("journal", "add", "claude-local", str(place)),
            filled("journal", "add", "claude-local", "..", "--name", token),
            filled("facts", "focus", fact, "--session", token),
        ]
        assert [run.code for run in refused] == [1, 1, 1], refused
        assert not any(repeats(run.out + run.err, token) for run in refused)
        place.rmdir()
    assert kept_in(tmp_path) == []
