"""A first look at a project: ecosystem, parts, entry points, and suggestions. Runs nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec import Struct

from quire.capture.repository.manifests import GO, MANIFESTS, NODE, PYTHON, RUST, PackageManifest, read_manifest
from quire.capture.repository.tree import Top, Tree, below, is_file, list_tree, look_at_top
from quire.capture.repository.workspaces import Module, find_workspace
from quire.files.git import Git
from quire.layers.journal.collation import collation_key
from quire.model.text import trim

_MOST = 5
_MANY_FILES = 3
_BUILT = ("dist", "build")
_RUNTIMES = ("browser", "server", "worker")
_LOCK_FILES = {
    "pnpm": ("pnpm-lock.yaml", "pnpm-workspace.yaml"),
    "npm": ("package-lock.json",),
    "yarn": ("yarn.lock",),
    "bun": ("bun.lockb", "bun.lock"),
}
_ENTRIES = ("AGENTS.md", "CLAUDE.md", "README.md")

_ENDINGS = (
    "c cc cjs clj cpp cs cts cxx dart ex exs go h hpp hs java jl js jsx kt lua m mjs mm mts php pl py r rb rs scala sh "
    "svelte swift ts tsx vue zig"
)
SOURCES = frozenset(_ENDINGS.split())
"""How the names of source files end."""
GENERIC = "generic"
"""The ecosystem of a project whose files do not tell."""
_ECOSYSTEMS = (
    ("node", (NODE,)),
    ("python", (PYTHON,)),
    ("rust", (RUST,)),
    ("go", (GO,)),
    ("python", ("setup.py", "setup.cfg", "requirements.txt", "Pipfile")),
    ("go", ("go.work",)),
    ("deno", ("deno.json", "deno.jsonc")),
    ("java", ("pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts")),
    ("ruby", ("Gemfile",)),
    ("php", ("composer.json",)),
    ("elixir", ("mix.exs",)),
    ("dart", ("pubspec.yaml",)),
    ("swift", ("Package.swift",)),
    ("c++", ("CMakeLists.txt", "meson.build")),
)
_LOCKS = (
    ("pnpm", ("pnpm-lock.yaml",)),
    ("yarn", ("yarn.lock",)),
    ("npm", ("package-lock.json",)),
    ("bun", ("bun.lockb", "bun.lock")),
    ("uv", ("uv.lock",)),
    ("poetry", ("poetry.lock",)),
    ("pdm", ("pdm.lock",)),
    ("pipenv", ("Pipfile.lock",)),
    ("cargo", ("Cargo.lock",)),
    ("go", ("go.sum",)),
    ("bundler", ("Gemfile.lock",)),
    ("composer", ("composer.lock",)),
)
_KEY_FILES = (
    *("package.json", "README.md", "AGENTS.md", "CLAUDE.md", "src/index.ts", "src/main.ts", "src/cli.ts"),
    *("src/index.js", "src/main.py", "main.go", "go.mod", "Cargo.toml", "pyproject.toml"),
)
_MODULE_FILES = ("src/index.ts", "src/main.ts", "src/cli.ts", "src/lib.rs", "src/main.rs")
_SOURCE_FOLDERS = ("src", "packages", "apps", "app", "lib", "server", "client", "internal", "cmd", "crates")
_KEY_MOST, _KEY_MODULES, _DENSE_MOST = 8, 4, 6


class CheckCommand(Struct, frozen=True, omit_defaults=True):
    """A command that would say whether the project is well."""

    label: str
    command: tuple[str, ...]
    purpose: str
    is_test: bool = True
    """Whether it runs tests, as far as anybody asks."""


class Dense(Struct, frozen=True):
    path: str
    count: int


class ProjectScan(Struct, frozen=True, kw_only=True):
    """What the first look shows. Names are in the order of names; what a project does not have is None or empty."""

    project_name: str
    project_signals: tuple[str, ...]
    primary_ecosystem: str
    package_manager: str | None
    workspace_manager: str | None
    top_level_dirs: tuple[str, ...]
    top_level_files: tuple[str, ...]
    workspace_modules: tuple[Module, ...]
    key_entry_files: tuple[str, ...]
    tree: Tree
    manifests: dict[str, PackageManifest]
    """The manifests at the root, by their names."""


def scan_repository(root: str, git: Git) -> ProjectScan:
    """Look at the project at `root`. Files that are broken, special, or outside of it say nothing."""
    tree = list_tree(root, git if git.root == root else git.elsewhere(root))
    top = look_at_top(root)
    at_top = Top(_in_order(top.folders), _in_order(top.files))
    manifests = {name: found for name in MANIFESTS if (found := read_manifest(tree, name))}
    node = manifests.get(NODE) or PackageManifest(path=NODE)
    workspace = find_workspace(tree, manifests)
    signals = _in_order((*at_top.files, *(".git" for name in at_top.folders if name == ".git")))
    ecosystem = next((kind for kind, names in _ECOSYSTEMS if any(name in at_top.files for name in names)), GENERIC)
    manager = node.package_manager or next(
        (kind for kind, names in _LOCKS if any(n in at_top.files for n in names)), None
    )
    return ProjectScan(
        project_name=node.name or trim(os.path.basename(root.rstrip("/"))) or "project",
        project_signals=signals,
        primary_ecosystem=ecosystem,
        package_manager=manager,
        workspace_manager=workspace.manager,
        top_level_dirs=at_top.folders,
        top_level_files=at_top.files,
        workspace_modules=workspace.modules,
        key_entry_files=_key_files(tree, node, workspace.modules),
        tree=tree,
        manifests=manifests,
    )


def scan_value(scan: ProjectScan) -> dict[str, Any]:
    """The scan for others, with what it suggests: plain values, without the files it was made from."""
    node = scan.manifests.get(NODE) or PackageManifest(path=NODE)
    is_node = scan.primary_ecosystem == "node"
    candidates = [*(_node_candidates(node, scan.package_manager) if is_node else _other_candidates(scan))]
    modules = [{"name": module.name, "path": module.path, "role": module.role} for module in scan.workspace_modules]
    value = msgspec.json.encode(
        {
            "rootDir": scan.tree.root,
            "projectName": scan.project_name,
            "projectSignals": scan.project_signals,
            "primaryEcosystem": scan.primary_ecosystem,
            "packageManager": scan.package_manager,
            "workspaceManager": scan.workspace_manager,
            "topLevelDirs": scan.top_level_dirs,
            "topLevelFiles": scan.top_level_files,
            "rootScripts": _in_order(node.scripts),
            "workspaceModules": modules,
            "keyEntryFiles": scan.key_entry_files,
            "denseSourceDirs": [f"{dense.path} ({dense.count} source files)" for dense in _dense(scan)],
            "gotchas": [*_gotchas(scan)][:_MOST],
            "nextSteps": _steps(scan, has_commands=bool(candidates)),
            "validationCandidates": candidates,
        }
    )
    return msgspec.json.decode(value, type=dict[str, Any])


def is_source(path: str) -> bool:
    return path.rpartition(".")[2] in SOURCES


def resolved(tree: Tree, folder: str, target: str) -> str:
    """The file of the project that a manifest in `folder` names; for a folder the file that stands for it.

    Empty for what is missing, is no plain file, or is not among the files of the project, as nothing outside it is.
    """
    while target.startswith("./"):
        target = target[2:]
    path = f"{folder}/{target.rstrip('/')}" if folder else target.rstrip("/")
    names = [
        path,
        *(f"{path}.{ending}" for ending in ("js", "ts", "mjs", "cjs")),
        *(f"{path}/{name}" for name in ("index.js", "index.ts")),
    ]
    return next((name for name in names if is_file(tree, name)), "")


def _in_order(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(names), key=collation_key))


def _key_files(tree: Tree, node: PackageManifest, modules: tuple[Module, ...]) -> tuple[str, ...]:
    found = {name for name in _KEY_FILES if is_file(tree, name)}
    found |= {path for target in node.targets if (path := resolved(tree, "", target.value))}
    for module in modules[:_KEY_MODULES]:
        names = (NODE, RUST, PYTHON, GO, *_MODULE_FILES)
        found |= {path for name in names if is_file(tree, path := f"{module.path}/{name}")}
    return _in_order(found)[:_KEY_MOST]


def _dense(scan: ProjectScan) -> tuple[Dense, ...]:
    tree = scan.tree
    folders = dict.fromkeys((*_SOURCE_FOLDERS, *(f"{module.path}/src" for module in scan.workspace_modules)))
    counted = [Dense(folder, sum(map(is_source, below(tree, folder)))) for folder in folders if folder in tree.folders]
    found = sorted(
        (dense for dense in counted if dense.count), key=lambda dense: (-dense.count, collation_key(dense.path))
    )
    return tuple(found[:_DENSE_MOST])


def _node_candidates(node: PackageManifest, manager: str | None) -> Iterator[CheckCommand]:
    purposes = {"build": "Shows whether the project still builds.", "test": "Runs the tests of the project."}
    for script, purpose in purposes.items():
        if script in node.scripts:
            if (manager or "").partition("@")[0] == "pnpm":
                yield CheckCommand(f"pnpm {script}", ("pnpm", script), purpose)
            else:
                yield CheckCommand(script, ("npm", "test") if script == "test" else ("npm", "run", script), purpose)


def _other_candidates(scan: ProjectScan) -> Iterator[CheckCommand]:
    commands = {"python": ("pytest",), "rust": ("cargo", "test"), "go": ("go", "test", "./...")}
    command = commands.get(scan.primary_ecosystem)
    if command:
        yield CheckCommand(" ".join(command), command, "Runs the tests of the project.")


def _gotchas(scan: ProjectScan) -> Iterator[str]:
    """What may mislead here."""
    signals = scan.project_signals
    if ".git" not in signals and scan.primary_ecosystem == GENERIC:
        yield "Little shows what kind of project this is: the map needs a look before it is relied on."
    locks = [name for name, files in _LOCK_FILES.items() if any(file in signals for file in files)]
    if len(locks) > 1:
        yield f"There are lock files of {' and '.join(locks[:2])}: which package manager counts is not clear."
    if scan.workspace_modules:
        yield "What the packages are for was guessed from their paths: put the real purposes in their place."
    if any(name in scan.top_level_dirs for name in _BUILT):
        yield "Build results lie in the repository: say whether the sources or those are to be read."
    if any(runtime in path.rpartition("/")[2].lower() for path in scan.key_entry_files for runtime in _RUNTIMES):
        yield "There are entry files for a browser, a server or a worker: keep their borders in the memory."
    if all(name in signals for name in _ENTRIES):
        yield "Several entry files greet the reader: let one of them lead and the others point to it."


def _steps(scan: ProjectScan, *, has_commands: bool) -> list[str]:
    """What would make the memory better."""
    found = ["Run the build and the tests once, so that the memory knows how things stand."] if has_commands else []
    if scan.workspace_modules:
        found.append("Write down what each package is for, in the words of the project.")
    if len(scan.key_entry_files) > _MANY_FILES:
        found.append("Settle which of the entry files are public.")
    if scan.package_manager:
        found.append("Name the package manager and how the workspace is used in the main entry file.")
    found.append("Note the first trap of this project as soon as one has cost someone time.")
    return found[:_MOST]
