"""What was found by trying odd inputs, each as small as it could be made."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from fuzz_engine import beat, tried
from fuzz_targets import TARGETS
from fuzz_worst import FAMILIES, pumped, took

from promised import proves, tally
from quire.capture.providers.spend_log import spent_today
from quire.files.file_lock import Holder, held
from quire.files.json_files import parse_strict
from quire.files.world import World
from quire.model.errors import InvalidJson, InvalidStore
from quire.surfaces.web.prose import prose_of

DEEP = b'{"a":' * 2_000 + b"1" + b"}" * 2_000


def nothing_wrong(target: str, data: bytes) -> None:
    found, _ = tried(TARGETS[target], data, twice=True)
    assert found is None, found
    tally("P5.1", inputs=1)


@proves("P5.1", found="a lock file nested deeply ended every command in a traceback")
def test_a_lock_that_is_nested_deeply_names_nobody(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    path.write_bytes(b'{"a":' + b"[" * 1_500 + b"]" * 1_500 + b"}")
    holder = Holder(pid=os.getpid(), operation="save", created_at="2026-03-02T11:19:00Z")
    with held(str(path), holder, 0.0, lambda _seconds: None):
        assert b"save" in path.read_bytes()


@proves("P5.1", found="a registry of projects nested deeply ended `memory projects` in a traceback")
def test_a_registry_that_is_nested_deeply_counts_as_empty() -> None:
    nothing_wrong("registry", DEEP)


@proves("P5.1", found="a list of agreed sources nested deeply ended in a traceback")
def test_agreed_sources_that_are_nested_deeply_are_refused() -> None:
    nothing_wrong("trusted-sources", DEEP)


@proves("P5.1", found="settings of the server that are no text ended it in a traceback")
def test_settings_of_the_server_that_are_no_text_are_refused() -> None:
    nothing_wrong("mcp-settings", b'{"\xff":1}')


@proves("P5.1", found="a page's lock that is no text, or nested deeply, ended `memory view` in a traceback")
@pytest.mark.parametrize("data", [b'{"mark":"\xed"', b'{"a":' + b"[" * 1_900], ids=["not text", "deep"])
def test_a_lock_of_the_page_that_cannot_be_read_names_no_page(data: bytes) -> None:
    nothing_wrong("page-lock", data)


@proves("P5.1", found="a number beyond all bounds came through as infinity")
@pytest.mark.parametrize("number", ["1e999", "-1e400", '{"a": [1E+309]}'])
def test_a_number_beyond_all_bounds_is_refused(number: str) -> None:
    with pytest.raises(InvalidJson, match="a number is larger than any that can be kept"):
        parse_strict(number, "The input")
    assert parse_strict("[1e308, 1e-999, 0.5]", "The input") == [1e308, 0.0, 0.5]


@proves("P5.1", found="an amount without end in the file of what was spent ended in an OverflowError")
def test_an_amount_without_end_is_no_amount(world: World) -> None:
    path = Path(world.memory_home) / "spend.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"version": 1, "days": {"2026-03-02": {"spent": 1' + "0" * 400 + "}}}", encoding="utf-8")
    with pytest.raises(InvalidStore, match="What was spent on models cannot be read"):
        spent_today(world)


SLOW: dict[str, tuple[str, str]] = {
    "host items": (" ", "-"),
    "commands": (" ", "\n"),
    "rejection": ("=", "-"),
    "entry block": ("```\n", "~~~\n"),
}


@proves(
    "P5.3",
    "D7",
    found="blanks, dashes, equals signs or fences in a row took the square of their number: minutes for a small file",
)
@pytest.mark.parametrize("family", SLOW)
def test_a_run_of_one_sign_takes_no_square(family: str) -> None:
    use: Callable[[str], object] = FAMILIES[family]
    for pump in SLOW[family]:
        short, long = (took(use, pumped(pump, size), tries=2) for size in (16_384, 65_536))
        assert long < max(9 * short, 25 * beat()), f"{pump!r}: {short:.3f} s, then {long:.3f} s"
    tally("P5.3", inputs=len(SLOW[family]))


@proves("P5.3", "D7", found="sixty thousand brackets kept the page busy for seconds")
def test_a_text_of_brackets_is_shown_as_it_is() -> None:
    said = "[" * 60_000
    assert prose_of(said) == [["pre", {}, [said]]]
    assert prose_of("[" * 3_000) != [["pre", {}, ["[" * 3_000]]]
    assert prose_of("[a](b) " * 3_000)[0][0] == "p"


_LONG = b'{"version":1,"steps":[{"action":"remove","path":"' + b"a" * 300 + b'"}]}'
_ALONE = b'{"version":1,"steps":[{"action":"append","path":"e/x","text":"a"}]}'


@proves("P5.1", found="an interrupted change that is nested deeply, or names a path too long, stopped every command")
@pytest.mark.parametrize("data", [DEEP, _LONG, _ALONE], ids=["deep", "long", "a folder that is gone"])
def test_an_interrupted_change_that_cannot_be_completed_is_set_aside(data: bytes) -> None:
    nothing_wrong("transaction", data)


@proves("P5.1", found="a lock nested deeply ended `memory doctor` in a traceback")
def test_doctor_looks_at_a_lock_that_is_nested_deeply() -> None:
    nothing_wrong("doctor-lock", DEEP)
