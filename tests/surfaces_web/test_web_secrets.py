"""A credential that somebody gives to the page is in none of its answers, and in no file afterwards."""

from __future__ import annotations

import random
import string
import tempfile
from pathlib import Path

from web_serving import harbor, opened, saved_nodes

from promised import proves

TOKEN = "gh" + "p_" + "".join(random.Random(17).choices(string.ascii_letters + string.digits, k=36))


@proves("P9.2", "G10")
def test_the_page_repeats_no_credential() -> None:
    with tempfile.TemporaryDirectory() as place:
        memory = harbor(Path(place).resolve())
        saved_nodes(memory)
        with opened(memory) as door:
            name = door.get("/api/projects")["projects"][0]["id"]
            base = f"/api/projects/{name}"
            asked = [f"{base}/record?ref={TOKEN}", f"{base}/records?limit={TOKEN}", f"{base}/history?ref={TOKEN}"]
            asked += [f"/api/projects/{TOKEN}", f"{base}/{TOKEN}", f"{base}/diff?ref=x&commit={TOKEN}"]
            for path in asked:
                reply = door.ask(path)
                assert reply.status >= 400, path
                assert TOKEN not in reply.body.decode(), path
            acts = [{"act": TOKEN}, {"act": "forget", "ref": TOKEN}, {TOKEN: 1}]
            for value in acts:
                assert TOKEN not in door.post(f"{base}/actions", value).body.decode(), value
        assert not [path for path in memory.cwd.rglob("*") if path.is_file() and TOKEN.encode() in path.read_bytes()]
