"""Run `git` read commands, hardened and with a time limit.

A repository may come from anywhere, and its configuration may name programs to run. Only commands that
run none of them are used, with the switches that turn off the rest; working files are hashed here
instead of asking `git status`, which runs filters. The only module that starts a process; questions about the
past are in `git_history.py`.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import IO, TYPE_CHECKING, TypeAlias

from quire.files.git_snapshot import Blob, PendingSnapshot, Snapshot, split_names
from quire.files.paths import is_special, read_bytes
from quire.model.errors import GitRequired

if TYPE_CHECKING:
    import subprocess

    Started: TypeAlias = subprocess.Popen[bytes]

_ALLOWED = frozenset(
    [
        "blame",
        "cat-file",
        "check-attr",
        "config",
        "diff-files",
        "diff-index",
        "diff-tree",
        "grep",
        "ls-files",
        "ls-tree",
        "merge-base",
        "merge-file",
        "rev-list",
        "rev-parse",
        "symbolic-ref",
        "version",
    ]
)
_HARDENING = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.untrackedCache=false",
    "core.trustctime=true",
    "core.checkStat=default",
    "core.sshCommand=false",
    "core.quotePath=false",
    "protocol.allow=never",
    "log.showSignature=false",
    "blame.ignoreRevsFile=",
    "diff.external=",
)
_SECONDS = 60.0
_LISTS = (".gitignore", ".gitattributes")
_READS_LISTS = ("ls-files", "diff-files", "check-attr", "check-ignore")
_LOG_BYTES = 64 * 1024 * 1024
_BY_HAND = "Run the same git command by hand to see the problem."
_FOREIGN = "It belongs to another user. If you trust it, add it to git's `safe.directory`, or change its owner."
_PLAIN_NAME = r"[A-Za-z0-9._-]+"
GREP = ("-I", "-n", "-z", "--no-color", "--no-textconv", "--full-name", "--no-recurse-submodules")
_GREP_ALSO = {"-E": 0, "-F": 0, "-e": 1, "-m": 1, "-o": 0, "-w": 0}
"""How files are searched, always, and what else may be said, with how many words follow it: `-O` and a conversion of
files would start programs."""
_OUR_SETTING = r"merge\.(quire|union)\.(driver|name|recursive)"
"""The only settings that are ever written: how this clone merges our files."""
_ID = r"[0-9a-f]{40}(?:[0-9a-f]{24})?"
_PACKED_BYTES = 16 * 1024 * 1024
_OTHER_REFS = "refs/heads/.invalid"
"""What HEAD says where references are not kept as files."""

_TREE_ENTRY = r"(\d+) (?:blob|commit) ([0-9a-f]+)\t([^\0]+)\0"


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

    def elsewhere(self, root: str) -> Git:
        """The git of another repository, such as a submodule."""
        return Git(root, self._env)

    def folder(self) -> str:
        """Where git keeps this working tree's index and HEAD; a linked one's are not below it."""
        path = os.path.join(self.root, ".git")
        try:
            with open(path, encoding="utf-8", errors="surrogateescape") as file:
                where = file.read(4096).removeprefix("gitdir:").strip()
            return os.path.join(self.root, where)
        except OSError:
            return path

    def common_folder(self) -> str:
        """Where git keeps what all working trees of a repository share: its settings and rules."""
        folder = self.folder()
        try:
            with open(os.path.join(folder, "commondir"), encoding="utf-8", errors="surrogateescape") as file:
                return os.path.join(folder, file.read(4096).strip())
        except OSError:
            return folder

    def head_from_files(self) -> str:
        """The current commit as the repository's files name it, without starting git.

        The branch's name before the first commit; empty where the files do not tell.
        """
        try:
            name = _begin_of(os.path.join(self.folder(), "HEAD")).removeprefix("ref: ")
            if "/" not in name:
                return name if re.fullmatch(_ID, name) else ""
            if name == _OTHER_REFS:
                return ""
            common = self.common_folder()
            with contextlib.suppress(FileNotFoundError):
                found = _begin_of(os.path.join(common, name))
                return found if re.fullmatch(_ID, found) else ""
            with contextlib.suppress(FileNotFoundError):
                packed = _begin_of(os.path.join(common, "packed-refs"), _PACKED_BYTES)
                lines = (line.partition(" ") for line in packed.splitlines())
                return next((commit for commit, _, ref in lines if ref == name), name)
        except (OSError, ValueError):
            return ""
        return name

    def head(self) -> str | None:
        """The current commit, or None before the first one."""
        return self.commit_named("HEAD")

    def commit_named(self, name: str) -> str | None:
        """The commit that a name means; None where it means none."""
        found = self.run("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", allow=(0, 1, 128))
        return found.decode().strip() or None

    def head_at(self, moment: float) -> str | None:
        """The commit that was current at a moment, as this clone's own log tells; None where it says nothing of it."""
        found = None
        with contextlib.suppress(OSError, ValueError):
            for line in read_bytes(os.path.join(self.folder(), "logs/HEAD"), _LOG_BYTES).splitlines():
                words = line.partition(b"\t")[0].split()
                if float(words[-2]) > moment:
                    break
                found = words[1].decode()
        return found if found and re.fullmatch("[0-9a-f]{40,64}", found) and found.strip("0") else None

    def branch(self) -> str | None:
        """The current branch, or None when detached."""
        found = self.run("symbolic-ref", "--short", "--quiet", "HEAD", allow=(0, 1, 128))
        return os.fsdecode(found).strip() or None

    def committed(self, paths: Iterable[str], commit: str | None = None) -> dict[str, Blob]:
        """The files of the last commit, or of another, at or below these paths."""
        if commit is None and self.head() is None:
            return {}
        found = self.run("ls-tree", "-r", "-z", "--full-tree", commit or "HEAD", "--", *paths)
        # A file, or a submodule by its commit.
        return {path: Blob(mode, name) for mode, name, path in re.findall(_TREE_ENTRY, os.fsdecode(found))}

    def staged(self, paths: Iterable[str]) -> dict[str, Blob]:
        """The files in git's index at or below these paths; unmerged ones are left out."""
        return {path: blob for path, blob, stage in self._index(paths) if stage == "0"}

    def unmerged(self, paths: Iterable[str]) -> list[str]:
        """Paths that a merge left in conflict."""
        return sorted({path for path, _, stage in self._index(paths) if stage != "0"})

    def untracked(self, paths: Iterable[str]) -> list[str]:
        """Files git does not track and does not ignore."""
        return sorted(split_names(self.run("ls-files", "--others", "--exclude-standard", "-z", "--", *paths)))

    def files(self) -> list[str]:
        """Every file of the working tree that git tracks or would track."""
        listed = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
        deleted = set(split_names(self.run("ls-files", "-z", "--deleted")))
        return sorted({path for path in split_names(self.run(*listed)) if path not in deleted})

    def snapshot(self, paths: Iterable[str] = ()) -> Snapshot:
        """The index, what is untracked, and what was touched: at or below these paths, or everywhere."""
        return self.begin_snapshot(paths).finish()

    def begin_snapshot(self, paths: Iterable[str] = ()) -> PendingSnapshot:
        """Ask for a snapshot and go on; the answer is there when it is called for.

        The questions are asked at the same time. `diff-files` compares contents where times do not decide, and would
        put them through the repository's filters: each of these is switched off by its name.
        """
        where = ("--", *paths)
        filters, plain_lines = self._conversions()
        untracked = self.start("ls-files", "-z", "--others", "--exclude-standard", *where)
        touched = None
        if filters is not None:
            listing = ("-z", "--name-status", "--no-renames", "--ignore-submodules=all")
            touched = self.start("diff-files", *listing, *where, settings=filters)
        return PendingSnapshot(self, where, untracked, touched, plain_lines)

    def _conversions(self) -> tuple[list[str] | None, bool]:
        """Settings that empty every filter this repository could run, and whether it turns line ends.

        No settings where a filter has a name that we cannot spell on a command line.
        """
        names = set()
        plain_lines = False
        wanted = r"^(filter\..*|core\.autocrlf)$"
        for entry in split_names(self.run("config", "--null", "--get-regexp", wanted, allow=(0, 1))):
            key, _, value = entry.partition("\n")
            if key == "core.autocrlf":
                plain_lines = value.lower() in ("true", "input", "yes", "on", "1", "")
            else:
                names.add(key.partition(".")[2].rpartition(".")[0])
        if not all(re.fullmatch(_PLAIN_NAME, name) for name in names):
            return None, plain_lines
        switched_off = ("clean=", "smudge=", "process=", "required=false")
        return [f"filter.{name}.{setting}" for name in sorted(names) for setting in switched_off], plain_lines

    def id_chars(self) -> int:
        """How long the ids of this repository are."""
        return 64 if self.run("rev-parse", "--show-object-format", allow=(0, 128)).strip() == b"sha256" else 40

    def ignored_folders(self, paths: Iterable[str]) -> list[str]:
        """Folders at or below these paths, or anywhere, that are ignored as a whole, or hold nothing but what is."""
        where = ("--", *paths)
        listing = ("-z", "--others", "--ignored", "--exclude-standard", "--directory")
        return [name for name in split_names(self.run("ls-files", *listing, *where)) if name.endswith("/")]

    def blob(self, blob_id: str) -> bytes:
        return self.run("cat-file", "blob", blob_id)

    def stages(self, paths: Iterable[str]) -> dict[str, dict[str, Blob]]:
        """What a merge left in conflict: of each path its versions, `1` the base, `2` ours, `3` theirs."""
        found: dict[str, dict[str, Blob]] = {}
        for path, blob, stage in self._index(paths):
            if stage != "0":
                found.setdefault(path, {})[stage] = blob
        return found

    def _index(self, paths: Iterable[str]) -> list[tuple[str, Blob, str]]:
        entries = []
        for entry in split_names(self.run("ls-files", "--stage", "-z", "--", *paths)):
            meta, _, path = entry.partition("\t")
            mode, blob_id, stage = meta.split(" ")
            entries.append((path, Blob(mode, blob_id), stage))
        return entries

    def run(self, command: str, *arguments: str, allow: tuple[int, ...] = (0,), stdin: bytes = b"") -> bytes:
        """What a read command answers. Any exit code but these is an error."""
        return self.finish(self.start(command, *arguments), allow, stdin)

    @contextlib.contextmanager
    def stream(self, command: str, *arguments: str, stdin: bytes) -> Iterator[IO[bytes]]:
        """What a read command answers, piece by piece, for as long as the block reads it."""
        from threading import Thread, Timer

        started = self.start(command, *arguments)
        asking = Thread(target=_write, args=(started.stdin, stdin))
        limit = Timer(_SECONDS, started.kill)
        with started:
            asking.start()
            limit.start()
            try:
                yield started.stdout  # type: ignore[misc]
            finally:
                limit.cancel()
                started.kill()
                asking.join()

    def start(self, command: str, *arguments: str, settings: Iterable[str] = ()) -> Started:
        if not _is_allowed(command, arguments):
            raise ValueError(f"git {command} is not on the list of commands we run")
        if self._program is None:
            raise GitRequired("The git program was not found.", hint="Install git and run the command again.")
        if not self.available and command != "merge-file":
            raise GitRequired("This folder is not in a git repository.", hint="Run `git init` first.")
        self._refuse_pipes(command)
        import subprocess

        line = [self._program, "--no-pager", "--literal-pathspecs", "--no-replace-objects"]
        for setting in (*_HARDENING, *settings):
            line += ["-c", setting]
        pipe = subprocess.PIPE
        try:
            return subprocess.Popen(  # noqa: S603
                [*line, command, *arguments],
                cwd=self.root,
                env=self._clean_environment(),
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
            )
        except OSError as error:
            raise GitRequired(f"git could not be started: {error.strerror}.") from None

    def _refuse_pipes(self, command: str) -> None:
        """Git opens its own lists in the working tree without a look at them, and would wait on a pipe for ever."""
        for name in _LISTS if command in _READS_LISTS else ():
            if is_special(os.path.join(self.root, name)):
                hint = f"Remove it, or put a plain file in its place: `git restore {name}`."
                raise GitRequired(f"`{name}` is a pipe or a device; git would wait for it.", hint=hint)

    def finish_all(self, started: list[Started]) -> list[bytes]:
        """The answers of several; where one fails, the others are waited for before it is said."""
        answers: list[bytes] = []
        failed: GitRequired | None = None
        for process in started:
            try:
                answers.append(self.finish(process))
            except GitRequired as error:
                failed = failed or error
        if failed is not None:
            raise failed
        return answers

    def finish(self, started: Started, allow: tuple[int, ...] = (0,), stdin: bytes = b"") -> bytes:
        """What a started command answers. Any exit code but these is an error."""
        import subprocess

        with started:
            command = next(word for word in started.args[1:] if word in _ALLOWED)  # type: ignore[index]
            try:
                answer, said = started.communicate(stdin, timeout=_SECONDS)
            except subprocess.TimeoutExpired:
                started.kill()
                raise GitRequired(f"git {command!s} did not answer within {_SECONDS:.0f} s.") from None
        if started.returncode not in allow:
            reason = said.decode("utf-8", "replace").strip().splitlines()
            is_foreign = b"dubious ownership" in said
            raise GitRequired(
                f"git {command!s} failed: {reason[0] if reason else f'exit code {started.returncode}'}",
                hint=_FOREIGN if is_foreign else _BY_HAND,
                details={"command": command, "exit_code": started.returncode},
            )
        return answer

    def _clean_environment(self) -> dict[str, str]:
        env = {name: value for name, value in self._env.items() if not name.startswith("GIT_")}
        env.update(LC_ALL="C", GIT_OPTIONAL_LOCKS="0", GIT_TERMINAL_PROMPT="0")
        # A missing object is not fetched: the remote, too, may name a program. Older git knows only the second switch.
        env.update(GIT_NO_LAZY_FETCH="1", GIT_ALLOW_PROTOCOL="none")
        # This folder and no other: `core.worktree` may point anywhere, and a broken `.git` makes git look further up.
        env.update(GIT_WORK_TREE=self.root, GIT_CEILING_DIRECTORIES=os.path.dirname(self.root))
        return env


def _write(pipe: IO[bytes], data: bytes) -> None:
    with contextlib.suppress(OSError):  # a reader that has enough ends the process
        pipe.write(data)
        pipe.close()


def _is_allowed(command: str, arguments: tuple[str, ...]) -> bool:
    """Whether a command only reads, or writes a setting that is ours."""
    if command == "merge-file":
        return arguments[:1] == ("--stdout",)
    if command == "grep":
        words = iter(arguments[len(GREP) :])
        return arguments[: len(GREP)] == GREP and all(
            word in _GREP_ALSO and len(list(islice(words, _GREP_ALSO[word]))) == _GREP_ALSO[word] for word in words
        )
    if command == "config" and arguments[:1] == ("--local",):
        return len(arguments) == 3 and any(re.fullmatch(_OUR_SETTING, word) for word in arguments[1:])
    return command in _ALLOWED and (command != "config" or "--get-regexp" in arguments)


def keeps_refs_elsewhere(head: str) -> bool:
    """Whether git keeps its references in a form of its own, as what the file HEAD says tells."""
    return head == f"ref: {_OTHER_REFS}"


def _begin_of(path: str, most: int = 4096) -> str:
    with open(path, encoding="ascii") as file:
        return file.read(most).strip()


def _find_program(search_path: str) -> str | None:
    """The git program on the path; folders named relative to the current one do not count."""
    for folder in search_path.split(os.pathsep):
        candidate = os.path.join(folder, "git")
        if os.path.isabs(folder) and os.access(candidate, os.X_OK) and os.path.isfile(candidate):
            return candidate
    return None
