"""A project with the files that other programs keep in it, and a person's home folder with theirs."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from installed import Git, Memory, Run
from quire.capture.transcripts.claude import encoded_folder

DOCUMENTS = Path(__file__).parent.parent / "data" / "hosts"
NOTES = "~/.claude/projects/@ENCODED@/memory"
PLACES: dict[str, dict[str, str]] = {
    "claude-md": {"CLAUDE.md": "claude-md.md"},
    "claude-rules": {".claude/rules/views.md": "claude-rules.md"},
    "claude-memory": {
        f"{NOTES}/MEMORY.md": "claude-memory-index.md",
        f"{NOTES}/pilot-tablets.md": "claude-memory-project.md",
        f"{NOTES}/short-answers.md": "claude-memory-feedback.md",
    },
    "agents-md": {"AGENTS.md": "agents-md.md"},
    "codex-memories": {
        "~/.codex/memories/MEMORY.md": "codex-handbook.md",
        "~/.codex/memories/memory_summary.md": "codex-summary.md",
    },
    "gemini-md": {"GEMINI.md": "gemini-md.md"},
    "cursor-rules": {".cursorrules": "cursorrules.txt", ".cursor/rules/planner.mdc": "cursor-planner.mdc"},
    "cline-memory-bank": {
        "memory-bank/projectbrief.md": "bank-brief.md",
        "memory-bank/systemPatterns.md": "bank-patterns.md",
        "memory-bank/progress.md": "bank-progress.md",
        "memory-bank/activeContext.md": "bank-active.md",
    },
    "cline-rules": {".clinerules/project.md": "cline-rules.md"},
    "copilot-instructions": {
        ".github/copilot-instructions.md": "copilot-instructions.md",
        ".github/instructions/reports.instructions.md": "copilot-reports.instructions.md",
    },
    "serena": {".serena/memories/conventions.md": "serena-conventions.md"},
    "mcp-memory": {"memory.jsonl": "mcp-memory.jsonl"},
    "basic-memory": {"notes/berth-locks.md": "basic-note.md"},
    "adr": {
        "docs/adr/0001-plan-in-cents.md": "adr-0001.md",
        "docs/adr/0002-plan-with-integers.md": "adr-0002.md",
        "docs/adr/0003-tide-tables-in-files.md": "adr-0003.md",
    },
    "beads": {".beads/issues.jsonl": "beads.jsonl"},
}
"""Of each kind the files it is found in, and the documents that lie there; `~/` is the home folder."""
CODE = {
    "src/harbor/tide.py": "TABLE = {}\n\n\ndef forget():\n    TABLE.clear()\n",
    "src/harbor/clock.py": "def shown(at):\n    return at\n",
    "src/harbor/planner/costs.py": "WAITING = 3\n",
    "src/harbor/web/forms.py": "FORMS = []\n",
    "src/harbor/reports/month.py": "MONTH = 1\n",
    "tests/factories.py": "SHIPS = []\n",
}


class Hosts:
    """A project with code and a memory, and the files of other programs where a test puts them."""

    def __init__(self, memory: Memory, git: Git) -> None:
        self.memory = memory
        self.git = git
        self.root = memory.cwd
        self.home = Path(memory.env["HOME"])
        for path, text in CODE.items():
            self.write(path, text)
        git.commit()
        memory.init("--no-guidance")

    def place(self, path: str) -> Path:
        if not path.startswith("~/"):
            return self.root / path
        return self.home / path[2:].replace("@ENCODED@", encoded_folder(str(self.root)))

    def write(self, path: str, text: str | bytes) -> Path:
        target = self.place(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode() if isinstance(text, str) else text)
        return target

    def put(self, *kinds: str) -> None:
        """The documents of these kinds in their places."""
        for kind in kinds:
            for path, document in PLACES[kind].items():
                text = (DOCUMENTS / document).read_text(encoding="utf-8")
                self.write(path, text.replace("@ROOT@", str(self.root)))

    def __call__(self, *line: str, **options: Any) -> Run:
        return self.memory("import", *line, **options)

    def data(self, *line: str, **options: Any) -> Any:
        """What an import answers with `--json`; it must work."""
        done = self(*line, "--json", **options)
        assert done.code == 0, done.out
        return done.data

    def warnings(self, *line: str) -> list[tuple[str, str, int | None]]:
        """What an import warns of: code, file and line."""
        found = self(*line, "--json").json["warnings"]
        return [(item["code"], item.get("path"), item.get("line")) for item in found]

    def clone(self, folder: Path) -> Memory:
        """The command in the project as another person has it: cloned, with a home folder of their own."""
        self.git.commit("what the memory holds")
        home = folder / "home"
        home.mkdir(parents=True)
        shutil.copy(self.home / ".gitconfig", home / ".gitconfig")
        self.git("clone", "--quiet", str(self.root), str(folder / "harbor"))
        env = {**self.memory.env, "HOME": str(home), "MEMORY_HOME": str(home / "registry")}
        return Memory(folder / "harbor", env)


def everything_below(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file below a folder with its mode and bytes; the index is made anew whenever it is asked."""
    found = {}
    for at, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "index"]
        for name in names:
            path = Path(at, name)
            if path.is_file() and not path.is_symlink():
                found[str(path.relative_to(folder))] = (path.stat().st_mode, path.read_bytes())
    return found
