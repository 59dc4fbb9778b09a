"""A browser that runs in the foreground, as those of a terminal do, is no reason not to serve the page to it."""

from __future__ import annotations

import time
from pathlib import Path

from web_serving import harbor, opened

from installed import begins_python

SCRIPT = """{begins}import os, sys, urllib.request

link = sys.argv[1].partition("#")[0]
with urllib.request.urlopen(link, timeout=10) as answer:
    told = f"{{answer.status}} {{sys.argv[1].partition('#')[2].partition('=')[0]}}"
with open({seen!r} + ".part", "w") as file:
    file.write(told)
os.rename({seen!r} + ".part", {seen!r})
"""


def test_a_browser_that_does_not_return_gets_the_page(tmp_path: Path) -> None:
    memory = harbor(tmp_path)
    seen, script = tmp_path / "seen", tmp_path / "browser"
    script.write_text(SCRIPT.format(begins=begins_python(), seen=str(seen)), encoding="utf-8")
    script.chmod(0o755)
    with opened(memory, "--open", env={"BROWSER": f"{script} %s"}) as door:
        assert door.told["opened"] is True
        until = time.monotonic() + 20
        while not seen.exists() and time.monotonic() < until:
            assert door.get("/api/session")["write"] is False
        assert seen.read_text("utf-8") == "200 ticket"
