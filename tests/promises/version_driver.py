"""Runs command lines one after the other in this one process, its random names counted; a file names them.

    python [-bb -X warn_default_encoding -W error] version_driver.py LINES.json

Each is a list of words and what comes from standard input. Prints how each ended, one JSON list.
"""

from __future__ import annotations

import io
import json
import os
import sys
from itertools import count

_COUNT = count(1)


def counted(size: int) -> bytes:
    return next(_COUNT).to_bytes(size, "big")


def main() -> None:
    os.urandom = counted
    from quire.surfaces.cli.main import run

    with open(sys.argv[1], encoding="utf-8") as file:
        lines = json.load(file)
    shown, ended = sys.stdout, []
    for line, given in lines:
        streams = [io.TextIOWrapper(io.BytesIO(given.encode()), encoding="utf-8")]
        streams += [io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2)]
        sys.stdin, sys.stdout, sys.stderr = streams
        code = run(line)
        said = []
        for stream in streams[1:]:
            stream.flush()
            stream.seek(0)
            said.append(stream.read())
        ended.append([line, code, *said])
    sys.stdout = shown
    print(json.dumps(ended))


if __name__ == "__main__":
    main()
