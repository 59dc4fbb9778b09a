"""What the look of a project suggests to whoever writes its memory. Guesses, for a reader who checks them."""

from __future__ import annotations

from collections.abc import Collection, Iterator

_MOST = 5
_MANY_FILES = 3
_BUILT = ("dist", "build")
_RUNTIMES = ("browser", "server", "worker")
_LOCKS = {
    "pnpm": ("pnpm-lock.yaml", "pnpm-workspace.yaml"),
    "npm": ("package-lock.json",),
    "yarn": ("yarn.lock",),
    "bun": ("bun.lockb", "bun.lock"),
}
_ENTRIES = ("AGENTS.md", "CLAUDE.md", "README.md")


def suggested_gotchas(
    *, signals: Collection[str], folders: Collection[str], key_files: Collection[str], ecosystem: str, has_modules: bool
) -> tuple[str, ...]:
    """What may mislead here."""
    return tuple(_gotchas(signals, folders, key_files, ecosystem, has_modules))[:_MOST]


def _gotchas(
    signals: Collection[str], folders: Collection[str], key_files: Collection[str], ecosystem: str, has_modules: bool
) -> Iterator[str]:
    if ".git" not in signals and ecosystem == "generic":
        yield "Little shows what kind of project this is: the map needs a look before it is relied on."
    locks = [name for name, files in _LOCKS.items() if any(file in signals for file in files)]
    if len(locks) > 1:
        yield f"There are lock files of {' and '.join(locks[:2])}: which package manager counts is not clear."
    if has_modules:
        yield "What the packages are for was guessed from their paths: put the real purposes in their place."
    if any(name in folders for name in _BUILT):
        yield "Build results lie in the repository: say whether the sources or those are to be read."
    if any(runtime in path.rpartition("/")[2].lower() for path in key_files for runtime in _RUNTIMES):
        yield "There are entry files for a browser, a server or a worker: keep their borders in the memory."
    if all(name in signals for name in _ENTRIES):
        yield "Several entry files greet the reader: let one of them lead and the others point to it."


def suggested_steps(
    *, has_commands: bool, has_modules: bool, key_files: Collection[str], package_manager: str | None
) -> tuple[str, ...]:
    """What would make the memory better."""
    found = ["Run the build and the tests once, so that the memory knows how things stand."] if has_commands else []
    if has_modules:
        found.append("Write down what each package is for, in the words of the project.")
    if len(key_files) > _MANY_FILES:
        found.append("Settle which of the entry files are public.")
    if package_manager:
        found.append("Name the package manager and how the workspace is used in the main entry file.")
    found.append("Note the first trap of this project as soon as one has cost somebody time.")
    return tuple(found[:_MOST])
