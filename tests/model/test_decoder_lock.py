"""Threads that meet a type for the first time at the same moment."""

from __future__ import annotations

import subprocess
import sys

import pytest

from promised import proves

RACE = """
import sys, threading, msgspec
from quire.model.decoder_lock import make_decoding_thread_safe
sys.setswitchinterval(1e-6)
if sys.argv[1] == "guarded":
    make_decoding_thread_safe()
    make_decoding_thread_safe()
for turn in range(150):
    parts = [msgspec.defstruct(f"P{turn}x{n}", [(f"a{i}", "int | None", None) for i in range(12)]) for n in range(4)]
    whole = msgspec.defstruct(f"W{turn}", [(f"f{n}", list[part] | None, None) for n, part in enumerate(parts)])
    begin, found = threading.Barrier(8), []
    def read():
        begin.wait()
        data = b'{"f0": [{"a1": 1}], "f3": [{"a2": 2}]}'
        found.append(msgspec.json.decode(data, type=whole).f3[0].a2)
        found.append(msgspec.json.Decoder(whole).decode(data).f3[0].a2)
        found.append(msgspec.convert({"f3": [{"a2": 2}]}, whole).f3[0].a2)
    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    assert found == [2] * 24, found
"""


@proves("P10.4", found="calls that arrived together right after the start could end the server: a segmentation fault")
def test_the_first_use_of_a_type_is_made_by_one_at_a_time() -> None:
    done = subprocess.run([sys.executable, "-c", RACE, "guarded"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_type_that_is_no_name_is_read_all_the_same() -> None:
    import msgspec

    from quire.model.decoder_lock import make_decoding_thread_safe

    with pytest.MonkeyPatch.context() as patch:
        for owner, name in ((msgspec.json, "decode"), (msgspec.json, "Decoder"), (msgspec, "convert")):
            patch.setattr(owner, name, getattr(owner, name))
        make_decoding_thread_safe()
        assert msgspec.json.decode(b"[1]") == [1]
        assert msgspec.json.decode(b"[1]", type=list[int]) == [1]
        assert msgspec.convert("a", str) == "a"
        assert msgspec.json.Decoder().decode(b"{}") == {}
