"""The soak sees what it is there to see: a lost word, one that is there twice, a process that grows, a slow hook."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from benchmarks.soak_check import check_files
from benchmarks.soak_ground import Place
from benchmarks.soak_hands import BARE
from benchmarks.soak_ledger import WORD, Ledger, Spent
from benchmarks.soak_watch import Held, Limits, Watch, judge, sizes

from benchmarks import soak, soak_load
from quire.project import Project


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """The files that a soak looks at, with nothing in them."""
    root = tmp_path / "harbor"
    for name in (".memory/memory", ".memory/local", ".ai-state", ".agent-memory/history"):
        (root / name).mkdir(parents=True)
    (root / ".ai-state/memory.json").write_text('{"memories": {"tools": {}}}')
    return Place(tmp_path, {}, tmp_path)


def write(place: Place, layer: str, *words: str) -> None:
    """Each word as a record of a layer, as it would lie there; what was there before is gone."""
    root = place.root
    if layer == "graph":
        for path in (root / ".memory/memory").iterdir():
            path.unlink()
        for number, word in enumerate(words):
            (root / f".memory/memory/{word}-{number}.md").write_text(f"Mind the {word}.")
    elif layer == "profile":
        entries = {f"{word}-{number}": {"value": f"We call it {word}."} for number, word in enumerate(words)}
        (root / ".ai-state/memory.json").write_text(json.dumps({"memories": {"tools": entries}}))
    elif layer == "facts":
        lines = [json.dumps({"content": f"The {word} buoy."}) for word in words]
        (root / ".memory/facts.jsonl").write_text("".join(f"{line}\n" for line in lines))
    else:
        told = [{"kind": "imported_session", "summary": f"Asked: {word}. Result: {word}."} for word in words]
        (root / ".agent-memory/history/events.jsonl").write_text("".join(json.dumps(one) + "\n" for one in told))


def test_words_are_all_different_and_known_again() -> None:
    ledger = Ledger(1)
    words = [ledger.word("facts") for _ in range(2_000)]
    assert len(set(words)) == 2_000
    assert all(WORD.fullmatch(word) for word in words)
    assert Ledger(1).word("facts") == words[0]
    assert Ledger(2).word("facts") != words[0]


@pytest.mark.parametrize("layer", ["graph", "facts", "profile", "journal"])
def test_what_was_acknowledged_must_be_there_once(place: Place, layer: str) -> None:
    ledger = Ledger(1)
    kept, tried = ledger.word(layer), ledger.word(layer)
    ledger.keep(kept, "somebody")
    write(place, layer, kept)
    assert check_files(place, ledger) == []
    write(place, layer, kept, tried)  # nobody was told that it is there; it may be
    assert check_files(place, ledger) == []
    write(place, layer, kept, kept)
    assert [said for said in check_files(place, ledger) if "is there 2 times" in said]
    write(place, layer, kept, "zqbababababak")
    assert check_files(place, ledger) == [f"zqbababababak is in {layer}, and nobody told it"]
    write(place, layer)
    (lost,) = check_files(place, ledger)
    assert lost.startswith(f"{kept}, which somebody told to {layer} at ")
    assert lost.endswith("is there 0 times")


def test_what_was_replaced_need_not_be_there(place: Place) -> None:
    ledger = Ledger(1)
    word = ledger.word("graph")
    ledger.keep(word, "page")
    assert check_files(place, ledger)
    ledger.give_up(word)
    assert check_files(place, ledger) == []


def held(kilobytes: int = 50_000, files: int = 10, threads: int = 4, children: int = 0) -> Held:
    return Held(kilobytes, files, threads, children)


def test_a_process_that_stays_as_it_is_has_not_grown() -> None:
    busy = [held(50_000 + at % 7 * 300, 10 + at % 5, 4, at % 2) for at in range(100)]
    found, grown = judge(busy, Limits())
    assert grown == []
    assert found["files"] == {"first third": 10, "last third": 10, "most": 14}


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (lambda at: held(kilobytes=50_000 + at * 300), "kilobytes went from"),
        (lambda at: held(files=10 + at // 10), "files went from"),
        (lambda at: held(threads=4 + at // 30), "threads went from"),
        (lambda at: held(children=at // 40), "children went from"),
    ],
    ids=["memory", "files", "threads", "children"],
)
def test_one_that_holds_more_and_more_is_told(more: object, said: str) -> None:
    assert callable(more)
    _, grown = judge([more(at) for at in range(100)], Limits())
    assert [one.startswith(said) for one in grown] == [True]


def test_a_memory_that_grows_may_take_more_room() -> None:
    """Six kilobytes for each write, and no more."""
    samples = [held(kilobytes=50_000 + at * 300) for at in range(100)]
    assert judge(samples, Limits(), 4_500)[1] == []
    assert len(judge(samples, Limits(), 2_000)[1]) == 1


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells what a process holds")
def test_a_process_that_is_gone_is_noticed() -> None:
    code = "import time; kept = open('/dev/null'); time.sleep(60)"
    process = subprocess.Popen([sys.executable, "-c", code])
    watch = Watch({"it": process.pid})
    watch.start()
    end = time.monotonic() + 30
    while not watch.samples["it"] and time.monotonic() < end:
        time.sleep(0.05)
    process.kill()
    process.wait()
    while not watch.gone and time.monotonic() < end:
        time.sleep(0.05)
    watch.stop()
    assert watch.gone == {"it"}
    assert watch.samples["it"][0].files >= 4
    assert watch.samples["it"][0].kilobytes > 1_000


def test_logs_and_sets_that_are_kept_too_long_are_told(place: Place) -> None:
    assert sizes(place.root)[1] == []
    (place.root / ".memory/local/hooks.log").write_bytes(b"x" * 600_000)
    for number in range(41):
        (place.root / f".memory/recovery/set{number}").mkdir(parents=True)
    assert sizes(place.root)[1] == [".memory/local/hooks.log has 600,000 bytes", ".memory/recovery holds 41 sets"]


def slowed(what: str, first: float, last: float) -> list[Spent]:
    return [Spent(what, float(at), first if at < 90 else last) for at in range(180)]


def test_what_becomes_slower_is_told_unless_the_machine_did() -> None:
    ledger = Ledger(1)
    ledger.spent = [*slowed(BARE, 0.02, 0.02), *slowed("memory save", 0.1, 0.7), *slowed("hook prompt", 0.1, 0.1)]
    assert soak._slower(ledger.latencies()) == ["memory save takes 7.0 times as long in the end as in the beginning"]
    ledger.spent = [*slowed(BARE, 0.02, 0.1), *slowed("memory save", 0.1, 0.7)]
    assert soak._slower(ledger.latencies()) == []
    ledger.spent = [*slowed(BARE, 0.02, 0.02), *slowed("hook prompt", 1.0, 1.0)]
    assert soak._slower(ledger.latencies()) == ["hook prompt is slow: p95 50.0 times bare Python's"]


def test_where_no_clock_decides_calls_do() -> None:
    row = {"MB at most": 10.0, "processor, over a tenth": 99.0, "calls, over a tenth": 9.0}
    assert soak_load._too_much({"query": row}, "calls") == []
    assert soak_load._too_much({"query": row}, "processor") == [
        "`memory query` takes 99.0 times the processor that a tenth takes"
    ]
    assert soak_load._too_much({"save": row}, "calls") == ["`memory save` takes 9.0 times the calls that a tenth takes"]


def test_calls_are_counted_and_the_same_command_makes_the_same(project: Project, environment: dict[str, str]) -> None:
    place = Place(Path(project.root).parent, environment, Path(project.root).parent)
    first, again = (soak_load.run_command(place, ["status"], counted=True).calls for _ in range(2))
    assert first > 1_000
    assert abs(first - again) < first / 10
