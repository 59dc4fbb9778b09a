"""How a writer is failed: it dies, is refused or interrupted at a system call of its own choosing.

`Seam` stands in for `os` in a module of the ground. Each call that changes the disk, or opens a file, passes a fault,
which does it, does half of it, refuses it or ends the process. What runs so is a forked process.
"""

from __future__ import annotations

import errno
import os
import resource
import shutil
import signal
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from quire.files import disk, file_lock, paths, transaction, write_access
from quire.model.errors import QuireError

__all__ = [
    "CLASSES",
    "CODES",
    "FOR_GOOD",
    "KILLED",
    "PASSING",
    "READING",
    "WRITING",
    "Call",
    "Fault",
    "Seam",
    "attach",
    "fault_of",
    "few_descriptors",
    "is_concerned",
    "mutate",
    "run_apart",
    "small_files",
    "spread",
]

KILLED = 137
PASSING = (errno.EMFILE, errno.EINTR)
"""Of reading: codes that say nothing of the file."""
CLASSES = ((errno.ENOSPC, errno.EDQUOT), (errno.EIO, errno.EROFS, errno.EACCES), PASSING)
"""What a disk says, by what is done about it: no room, no, and not now. Of a class one table makes the words alone."""
CODES = tuple(code for codes in CLASSES for code in codes)
FOR_GOOD = {"full": errno.ENOSPC, "readonly": errno.EROFS}
NEEDS_ROOM = ("create", "write", "mkdir")
HARMLESS = ("open",)
"""Calls that change nothing: whoever dies before one of them died after the call before."""
NAMES = ("open", "write", "fsync", "ftruncate", "replace", "chmod", "fchmod", "unlink", "mkdir", "rmdir", "pwrite")
WRITING = (disk, file_lock)
READING = (paths,)


class Call(NamedTuple):
    """A system call as a fault meets it."""

    number: int
    name: str
    path: str
    do: Callable[[], Any]
    arguments: tuple[Any, ...]


Fault = Callable[[Call], Any]


class Seam:
    """`os` for a module: does what it is told, if the fault lets it."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        self.count = 0
        self.paths: dict[int, str] = {}

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name not in NAMES:
            return real

        def call(*arguments: Any, **below: int) -> Any:
            first = arguments[1] if name == "replace" else arguments[0]
            path = self.paths.get(first, "") if isinstance(first, int) else first
            if below:
                path = os.path.join(self.paths[below["dir_fd"]], path)
            if f"{os.sep}index{os.sep}" in str(path):
                return real(*arguments, **below)  # not the truth: what is done to it differs from run to run
            told = name
            if name == "open" and arguments[1] & os.O_CREAT and not os.path.lexists(path):
                told = "create"
            number, self.count = self.count, self.count + 1
            found = self.fault(Call(number, told, path, lambda: real(*arguments, **below), arguments))
            if name == "open":
                self.paths[found] = path
            return found

        return call


def attach(fault: Fault | None, modules: Sequence[Any] = WRITING) -> None:
    """Let the calls of these modules pass the fault; without one they go to the system again."""
    seam = os if fault is None else Seam(fault)
    for module in modules:
        module.os = seam


# -- faults -------------------------------------------------------------------------------------------------------


def die_before(number: int) -> Fault:
    def fault(call: Call) -> Any:
        if call.number == number:
            os._exit(KILLED)
        return call.do()

    return fault


def die_after(number: int) -> Fault:
    def fault(call: Call) -> Any:
        done = call.do()
        if call.number == number:
            os._exit(KILLED)
        return done

    return fault


def die_torn(number: int) -> Fault:
    """Half of what is written reaches the disk, and no more happens."""

    def fault(call: Call) -> Any:
        if call.number == number:
            descriptor, data = call.arguments[:2]
            os.write(descriptor, bytes(data)[: len(data) // 2])
            os._exit(KILLED)
        return call.do()

    return fault


def refuse(number: int, code: int, *, for_good: bool = False) -> Fault:
    """The disk refuses this call; for good, also every later one that needs what is missing."""

    def fault(call: Call) -> Any:
        concerned = code != errno.ENOSPC or call.name in NEEDS_ROOM
        changes = call.name not in HARMLESS
        if call.number == number or (for_good and call.number > number and concerned and changes):
            raise OSError(code, os.strerror(code), call.path)
        return call.do()

    return fault


def write_half(number: int, code: int) -> Fault:
    """The disk takes half of the bytes, says so, and refuses the rest."""
    broken: list[Any] = []

    def fault(call: Call) -> Any:
        if call.number == number:
            descriptor, data = call.arguments[:2]
            broken.append(descriptor)
            return os.write(descriptor, bytes(data)[: len(data) // 2])
        if call.name == "write" and call.arguments[0] in broken and call.number == number + 1:
            raise OSError(code, os.strerror(code))
        return call.do()

    return fault


def interrupt(number: int) -> Fault:
    """Somebody presses Ctrl-C at this call."""

    def fault(call: Call) -> Any:
        if call.number == number:
            os.kill(os.getpid(), signal.SIGINT)
        return call.do()

    return fault


def fault_of(way: str, number: int, code: int) -> Fault:
    """A way to fail, by its name."""
    if way in FOR_GOOD:
        return refuse(number, FOR_GOOD[way], for_good=True)
    if way in ("refuse", "unread", "lock"):
        return refuse(number, code)
    if way == "half":
        return write_half(number, code)
    simple = {"kill": die_before, "killed": die_after, "torn": die_torn, "interrupt": interrupt}
    return simple[way](number)


def is_concerned(way: str, name: str) -> bool:
    """Whether a call is one at which this way to fail means anything."""
    if way in ("torn", "half"):
        return name == "write"
    if way in ("kill", "killed", "readonly"):
        return name not in HARMLESS
    return way != "full" or name in NEEDS_ROOM


def few_descriptors(free: int) -> None:
    """Only so many files can be opened from here on."""
    lowest = os.open(os.devnull, os.O_RDONLY)
    os.close(lowest)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest + free, lowest + free))


def small_files(size: int) -> None:
    """No file grows beyond this size: a write that would is cut short and then refused."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def run_apart(act: Callable[[], object], fault: Fault | None, modules: Sequence[Any] = WRITING) -> tuple[str, int]:
    """Do it in a process of its own with this fault: `died`, `done`, or the error as `code|text|hint`; and its id."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            attach(fault, modules)
            act()
            said = "done"
        except QuireError as error:
            said = f"{error.code}|{error.message}|{error.hint or ''}"
        except BaseException as error:
            said = f"untyped|{error!r}|"
        os.write(writer, said.encode())
        os._exit(0)
    os.close(writer)
    with open(reader, encoding="utf-8") as pipe:
        said = pipe.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return "died" if code == KILLED else said, child


def spread(numbers: Sequence[int], most: int, turn: int = 0) -> list[int]:
    """The first one, the last one, and so many in all at even distances; each turn meets others. 0 stands for all."""
    if not most or len(numbers) <= most:
        return list(numbers)
    if most == 1:
        return [numbers[(turn * 7 + len(numbers) // 2) % len(numbers)]]
    step = (len(numbers) - 1) / (most - 1)
    between = {int(step * place + turn % 4 * step / 4) for place in range(1, most - 1)}
    return [numbers[place] for place in sorted({0, *between, len(numbers) - 1})]


# -- mutants ------------------------------------------------------------------------------------------------------


def mutate(mutant: str) -> Callable[[], None]:
    """Break what the tests hold to be essential; they must notice. What repairs it again is returned."""
    kept = (disk.rename, write_access.finish_interrupted, transaction._finish, transaction._append_all)
    once = transaction._append_once

    def repair() -> None:
        disk.rename, write_access.finish_interrupted, transaction._finish, transaction._append_all = kept
        transaction._append_once = once

    if mutant == "in place":

        def rename(source: str, target: str) -> None:
            with open(source, "rb") as file:
                data = file.read()
            descriptor = disk.os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)  # type: ignore[attr-defined]
            disk._write(descriptor, data)
            os.close(descriptor)
            disk.os.unlink(source)  # type: ignore[attr-defined]

        disk.rename = rename
    elif mutant == "no recovery":
        write_access.finish_interrupted = lambda _root, recovery, **_: shutil.rmtree(recovery) or []
    elif mutant == "appends again":
        transaction._append_once = lambda path, data, _size: disk.append(path, data)
    elif mutant == "appends last":
        transaction._finish, transaction._append_all = (
            lambda root, folder, intent: (kept[2](root, folder, intent), kept[3](root, intent)),
            lambda _root, _intent: None,
        )
    else:
        assert not mutant, mutant
    return repair


def each_way(ways: str) -> Iterator[tuple[int, str]]:
    return enumerate(filter(None, ways.split(",")))
