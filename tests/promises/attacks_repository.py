"""A repository that was made to do harm: whatever git, Python or a shell would start there leaves a sign."""

from __future__ import annotations

import os
from pathlib import Path

from installed import Git

__all__ = ["MODULES", "Trap", "script"]

PROGRAMS = (
    *("core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass", "core.gitProxy"),
    *("core.alternateRefsCommand", "credential.helper", "diff.external", "diff.evil.command", "diff.evil.textconv"),
    *("filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "merge.evil.driver", "gpg.program"),
    *("gpg.ssh.program", "interactive.diffFilter", "remote.origin.uploadpack", "remote.origin.receivepack"),
    *("sequence.editor", "trailer.x.command", "uploadpack.packObjectsHook", "pager.blame", "pager.diff-tree"),
    *("alias.ls-files", "alias.rev-parse", "alias.blame", "difftool.evil.cmd", "man.viewer", "browser.web.cmd"),
)
"""Settings that name a program."""
SETTINGS = {
    "filter.evil.required": "true",
    "protocol.ext.allow": "always",
    "remote.origin.url": "ext::sh -c 'touch %S'",
    "log.showSignature": "true",
    "submodule.vendor.update": "!touch",
    "submodule.recurse": "true",
    "status.submoduleSummary": "true",
}
HOOKS = ("post-index-change", "fsmonitor-watchman", "pre-commit", "reference-transaction", "post-checkout")
MODULES = ("json", "sqlite3", "msgspec", "apsw", "click", "sitecustomize", "usercustomize", "quire", "typing", "re")
"""What a process of ours imports early, or Python by itself."""


def script(path: Path, line: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
    path.chmod(0o755)


class Trap:
    """The repository, and the folder in which signs appear."""

    def __init__(self, repo: Path, git: Git) -> None:
        self.repo, self.git = repo, git
        self.folder = repo.parent / "signs"
        self.folder.mkdir()

    @property
    def signs(self) -> list[str]:
        return sorted(os.listdir(self.folder))

    def line(self, name: str) -> str:
        return f'touch "{self.folder}/{name}-$$"'

    def lay(self) -> None:
        """What can be committed: attributes, a submodule that is none, a repository within the repository."""
        (self.repo / "src").mkdir(exist_ok=True)
        (self.repo / "src/queue.py").write_text("def retry():\n    return 1\n")
        (self.repo / ".gitattributes").write_text("* filter=evil diff=evil merge=evil\n")
        (self.repo / ".gitmodules").write_text(
            '[submodule "vendor"]\n\tpath = vendor\n\turl = ext::sh -c x\n\tupdate = !touch\n\tignore = none\n'
        )
        inner = self.repo / "bare.git"
        for folder in ("objects", "refs/heads"):
            (inner / folder).mkdir(parents=True)
        (inner / "HEAD").write_text("ref: refs/heads/main\n")
        (inner / "refs/heads/.keep").write_text("")
        (inner / "objects/.keep").write_text("")
        evil = self.repo.parent / "evil.sh"
        (inner / "config").write_text(f"[core]\n\tbare = false\n\tworktree = ..\n\tfsmonitor = {evil} bare\n")
        self.git.commit("first")

    def arm(self) -> None:
        """What a clone never brings, and a copied or unpacked folder does."""
        evil, more = self.repo.parent / "evil.sh", self.repo.parent / "more.ini"
        script(evil, f'touch "{self.folder}/$1-$$"; cat')
        for name in HOOKS:
            script(self.repo / ".git/hooks" / name, self.line(f"hook-{name}"))
            script(self.repo.parent / "hooks" / name, self.line(f"path-{name}"))
        more.write_text(f"[core]\n\tfsmonitor = {evil} included\n")
        values = {name: f"{'!' if name.startswith('alias') else ''}{evil} {name}" for name in PROGRAMS}
        values |= {**SETTINGS, "core.hooksPath": str(self.repo.parent / "hooks"), "include.path": str(more)}
        for name, value in values.items():
            self.git("config", name, value)
        (self.repo / "src/queue.py").write_text("def retry():\n    return 2\n")
        (self.repo / "new.py").write_text("x = 1\n")
