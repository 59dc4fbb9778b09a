"""The wiring of clients under trial: made, repaired and taken back. Run as a script, as `trials.py` says."""

from __future__ import annotations

import os
from collections.abc import Iterator

from crash_files import Scenario, begin_files
from crash_space import NOW, Tree, open_project, read_space, write
from trials import tell

from quire.model.errors import StorageFailed
from quire.project import Project
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.agents.connections import connect_clients, disconnect_clients

__all__ = ["SCENARIOS"]

SETTINGS = b'{\n  // ours\n  "model": "opus",\n  "hooks": {"SessionStart": []}\n}\n'
SERVERS = b'{\r\n\t"mcpServers": {\r\n\t\t"github": {"command": "gh-mcp"}\r\n\t}\r\n}'
RULES = b"# Harbor\n\nNo final newline"


def bare(space: str) -> None:
    """A memory, and a client that was never used here."""
    for name in ("harbor", "home"):
        os.makedirs(os.path.join(space, name))
    init_memory(open_project(space, NOW, "a"), guidance=False)


def used(space: str) -> None:
    """A client with settings, a server and rules of the user's own."""
    bare(space)
    for name, data in {".claude/settings.json": SETTINGS, ".mcp.json": SERVERS, "CLAUDE.md": RULES}.items():
        write(space, f"harbor/{name}", data)


def wired(space: str) -> None:
    used(space)
    connect_clients(open_project(space, NOW, "a1"), ["claude"])


def spoilt(space: str) -> None:
    """Somebody changed a file of ours; a repair writes it anew."""
    wired(space)
    write(space, "harbor/.claude/skills/quire-memory/SKILL.md", b"Somebody's.\n")


def look(space: str) -> Tree:
    """The files of the user and of the client, and our records of them; not what the memory keeps of itself."""
    found = read_space(space)
    kept = "harbor/.memory/integrations/"
    return {
        name: data
        for name, data in found.items()
        if not name.startswith(("home/", "harbor/.memory/")) or name.startswith(kept)
    }


def sound(space: str) -> Iterator[str]:
    """What the user wrote is there; what is ours can be taken back."""
    tree = read_space(space)
    for name, part in {
        ".claude/settings.json": b'"model": "opus"',
        ".mcp.json": b'"github": {"command": "gh-mcp"}',
        "CLAUDE.md": RULES,
    }.items():
        if f"harbor/{name}" in tree and part not in tree[f"harbor/{name}"]:
            yield f"what the user wrote in `{name}` is gone"


def checked(project: Project, **how: bool) -> object:
    done = connect_clients(project, ["claude"], **how)
    wrong = [file for file in done.files if file.status in ("failed", "unreadable", "refused")]
    if wrong:
        raise StorageFailed(str([(file.path, file.reason) for file in wrong]), hint="Told as failed.")
    return done


def removed(project: Project) -> object:
    done = disconnect_clients(project, ["claude"])
    wrong = [file for file in done.files if file.status in ("failed", "unreadable", "refused")]
    if wrong:
        raise StorageFailed(str([(file.path, file.reason) for file in wrong]), hint="Told as failed.")
    return done


def by_user(space: str) -> Iterator[str]:
    yield from sound(space)
    for name in (".claude/settings.json", ".mcp.json", "CLAUDE.md"):
        if not os.path.exists(os.path.join(space, "harbor", name)):
            yield f"`{name}` is gone"


SCENARIOS: dict[str, Scenario] = {
    "first integrate": Scenario(bare, checked, look=look, at_last=removed, stepwise=True),
    "integrate": Scenario(used, checked, look=look, sound=by_user, at_last=removed, stepwise=True),
    "repair": Scenario(spoilt, lambda project: checked(project, repair=True), look=look, sound=by_user, stepwise=True),
    "remove": Scenario(wired, removed, look=look, sound=by_user, stepwise=True),
}


if __name__ == "__main__":
    tell(begin_files(SCENARIOS), {name: scenario.prepare for name, scenario in SCENARIOS.items()})
