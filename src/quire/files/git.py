"""Git, asked through the `git` program: read commands only, hardened, with a time limit.

A repository may come from anywhere, and its configuration may name programs to run. Only commands that
run none of them are used, with the switches that turn off the rest; working files are hashed here
instead of asking `git status`, which runs filters. The only module that starts a process.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

import msgspec

from quire.model import GitRequired

_ALLOWED = frozenset(["cat-file", "ls-files", "ls-tree", "rev-parse", "symbolic-ref", "version"])
_HARDENING = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.untrackedCache=false",
    "core.sshCommand=false",
    "core.quotePath=false",
    "protocol.allow=never",
)
_SECONDS = 60.0

__all__ = ["Blob", "Git"]


class Blob(msgspec.Struct, frozen=True):
    """A file as git holds it."""

    mode: str
    id: str


class Git:
    """One repository's git, or the absence of it."""

    def __init__(self, root: str, env: Mapping[str, str]) -> None:
        self.root = root
        self._env = env
        self._program = _find_program(env.get("PATH", ""))

    @property
    def available(self) -> bool:
        """Whether there is a git program and a repository here."""
        return self._program is not None and os.path.lexists(os.path.join(self.root, ".git"))

    def head(self) -> str | None:
        """The current commit, or None before the first one."""
        found = self._run("rev-parse", "--verify", "--quiet", "HEAD^{commit}", allow=(0, 1, 128))
        return found.decode().strip() or None

    def branch(self) -> str | None:
        """The current branch, or None when detached."""
        found = self._run("symbolic-ref", "--short", "--quiet", "HEAD", allow=(0, 1, 128))
        return os.fsdecode(found).strip() or None

    def committed(self, paths: Iterable[str]) -> dict[str, Blob]:
        """The files of the last commit at or below these paths."""
        if self.head() is None:
            return {}
        found = self._run("ls-tree", "-r", "-z", "--full-tree", "HEAD", "--", *paths)
        blobs = {}
        for entry in _split(found):
            meta, _, path = entry.partition("\t")
            mode, kind, blob_id = meta.split(" ")
            if kind == "blob":
                blobs[path] = Blob(mode, blob_id)
        return blobs

    def staged(self, paths: Iterable[str]) -> dict[str, Blob]:
        """The files in git's index at or below these paths; unmerged ones are left out."""
        return {path: blob for path, blob, stage in self._index(paths) if stage == "0"}

    def unmerged(self, paths: Iterable[str]) -> list[str]:
        """Paths that a merge left in conflict."""
        return sorted({path for path, _, stage in self._index(paths) if stage != "0"})

    def untracked(self, paths: Iterable[str]) -> list[str]:
        """Files git does not track and does not ignore."""
        return sorted(_split(self._run("ls-files", "--others", "--exclude-standard", "-z", "--", *paths)))

    def files(self) -> list[str]:
        """Every file of the working tree that git tracks or would track."""
        listed = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
        deleted = set(_split(self._run("ls-files", "-z", "--deleted")))
        return sorted(path for path in _split(self._run(*listed)) if path not in deleted)

    def blob(self, blob_id: str) -> bytes:
        return self._run("cat-file", "blob", blob_id)

    def _index(self, paths: Iterable[str]) -> list[tuple[str, Blob, str]]:
        entries = []
        for entry in _split(self._run("ls-files", "--stage", "-z", "--", *paths)):
            meta, _, path = entry.partition("\t")
            mode, blob_id, stage = meta.split(" ")
            entries.append((path, Blob(mode, blob_id), stage))
        return entries

    def _run(self, command: str, *arguments: str, allow: tuple[int, ...] = (0,)) -> bytes:
        if command not in _ALLOWED:
            raise ValueError(f"git {command} is not on the list of commands we run")
        if self._program is None:
            raise GitRequired("The git program was not found.", hint="Install git and run the command again.")
        if not self.available:
            raise GitRequired("This folder is not in a git repository.", hint="Run `git init` first.")
        import subprocess

        line = [self._program, "--no-pager", "--literal-pathspecs", "--no-replace-objects"]
        for setting in _HARDENING:
            line += ["-c", setting]
        try:
            done = subprocess.run(  # noqa: S603
                [*line, command, *arguments],
                cwd=self.root,
                env=self._clean_environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise GitRequired(f"git {command} did not answer within {_SECONDS:.0f} s.") from None
        except OSError as error:
            raise GitRequired(f"git could not be started: {error.strerror}.") from None
        if done.returncode not in allow:
            reason = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise GitRequired(
                f"git {command} failed: {reason[0] if reason else f'exit code {done.returncode}'}",
                hint="Run the same git command by hand to see what is wrong with the repository.",
                details={"command": command, "exit_code": done.returncode},
            )
        return done.stdout

    def _clean_environment(self) -> dict[str, str]:
        env = {name: value for name, value in self._env.items() if not name.startswith("GIT_")}
        env.update(LC_ALL="C", GIT_OPTIONAL_LOCKS="0", GIT_TERMINAL_PROMPT="0")
        # A missing object is not fetched: the remote, too, may name a program. Older git knows only the second switch.
        env.update(GIT_NO_LAZY_FETCH="1", GIT_ALLOW_PROTOCOL="none")
        # This folder and no other: `core.worktree` may point anywhere, and a broken `.git` makes git look further up.
        env.update(GIT_WORK_TREE=self.root, GIT_CEILING_DIRECTORIES=os.path.dirname(self.root))
        return env


def _split(output: bytes) -> list[str]:
    return [os.fsdecode(part) for part in output.split(b"\0") if part]


def _find_program(search_path: str) -> str | None:
    """The git program on the path; folders named relative to the current one do not count."""
    for folder in search_path.split(os.pathsep):
        candidate = os.path.join(folder, "git")
        if os.path.isabs(folder) and os.access(candidate, os.X_OK) and os.path.isfile(candidate):
            return candidate
    return None
