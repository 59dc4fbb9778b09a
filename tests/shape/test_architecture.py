"""The architecture: who may call whom, who owns which dangerous call, what the hot path may load."""

import ast
import functools
import importlib
import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "quire"
MODULES = sorted(SOURCE.rglob("*.py"))
MAY_CALL = {
    "model": set(),
    "files": {"model"},
    "guard": {"model"},
    "anchors": {"model", "files"},
    "layers": {"model", "files", "guard", "anchors"},
    "index": {"model", "files", "guard"},
    "inbox": {"model", "files", "guard"},
    "upkeep": {"model", "files", "guard", "anchors", "layers", "index", "inbox"},
    "retrieval": {"model", "files", "guard", "anchors", "layers", "index"},
    "capture": {"model", "files", "guard", "anchors", "layers", "index", "inbox"},
    "clients": {"model", "files", "guard"},
    "project": {"model", "files", "guard", "layers", "index", "inbox", "upkeep"},
    "verbs": {
        "model",
        "files",
        "guard",
        "anchors",
        "layers",
        "index",
        "inbox",
        "upkeep",
        "retrieval",
        "capture",
        "clients",
        "project",
    },
    "surfaces": {"model", "files", "guard", "project", "verbs"},
}
MAY_NAME = {"surfaces": {"upkeep", "clients"}}
"""Whose types a package may name beside these: those of results that a verb gives."""
# What each dangerous thing is, and the only modules that may hold it.
OWNERS = {
    r"\bos\.environ\b|\bos\.getenv\b": {"files/world.py", "surfaces/cli/output.py"},
    r"\bdatetime\.now\b|\btime\.time\b": {"files/world.py"},
    r"\bos\.urandom\b|\brandom\.|\bsecrets\.token": {"files/world.py"},
    r"\bsubprocess\b": {"files/daemons.py", "files/git.py", "files/programs.py"},
    r"\bsys\.argv\b": {"surfaces/cli/main.py", "surfaces/mcp/__init__.py", "surfaces/web/__init__.py"},
    r"\bprint\(": set(),
    r"\bos\.(replace|rename|unlink|remove|mkdir|makedirs|rmdir|chmod|truncate|ftruncate|symlink|link)\(": {
        "files/disk.py",
        "files/file_lock.py",
    },
    r"\bshutil\b|\btempfile\b|\bpathlib\b": set(),
    r"\bO_WRONLY\b|\bO_RDWR\b|\bO_CREAT\b": {"files/disk.py", "files/file_lock.py", "surfaces/cli/output.py"},
    r"\bpickle\b|\beval\(|\bexec\(|\bos\.system\b": set(),
}
METHODS_OF_A_PROJECT = 18
NAMES_THAT_SAY_NOTHING = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "service", "base", "core"}


def _package(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


class Seen(NamedTuple):
    """What is asked of the text of a module."""

    text: str
    docstring: str | None
    more_than_docstring: bool
    body: list[ast.stmt]
    """Its imports and assignments outside of functions and classes."""
    imports: list[ast.ImportFrom | ast.Import]
    for_types: list[ast.ImportFrom | ast.Import]
    """Those below `if TYPE_CHECKING:`."""
    bases: list[str]
    long_strings: list[tuple[int, int]]
    """The first and the last line of those that go over several."""


@functools.cache
def _seen(path: Path) -> Seen:
    text = path.read_text()
    tree = ast.parse(text)
    body = [node for node in tree.body if isinstance(node, ast.Assign | ast.ImportFrom)]
    guarded = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    for_types = [node for block in guarded for node in block.body if isinstance(node, ast.ImportFrom | ast.Import)]
    seen = Seen(text, ast.get_docstring(tree), len(tree.body) != 1, body, [], for_types, [], [])
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom | ast.Import):
            seen.imports.append(node)
        elif isinstance(node, ast.ClassDef):
            seen.bases.extend(map(ast.unparse, node.bases))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.end_lineno != node.lineno:
            seen.long_strings.append((node.lineno, node.end_lineno or node.lineno))
    return seen


def _imports(path: Path) -> list[str]:
    """Every quire module that a module imports, also late and for types only."""
    return _modules_in(_seen(path).imports)


def _modules_in(nodes: list[ast.ImportFrom | ast.Import]) -> list[str]:
    found = []
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "quire":
            found.append(node.module)
            found += [f"{node.module}.{alias.name}" for alias in node.names if node.module == "quire"]
        elif isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name.startswith("quire.")]
    return found


def test_a_package_calls_only_the_packages_below_it() -> None:
    wrong = []
    for path in MODULES:
        package = _package(path)
        if package in ("__init__", "__main__"):
            continue
        for_types = set(_modules_in(_seen(path).for_types))
        imported = _imports(path)
        for module in imported:
            other = module.split(".")[1] if "." in module else ""
            is_type = module in for_types and imported.count(module) == 1
            may_call = MAY_CALL[package] | (MAY_NAME.get(package, set()) if is_type else set())
            if other not in ("", package, "__version__") and other not in may_call:
                wrong.append(f"{path}: {module}")
    assert wrong == []


WITH_CONTENT = {"quire", "quire.surfaces", "quire.surfaces.cli"}
WITH_CONTENT |= {"quire.surfaces.mcp", "quire.surfaces.web"}
"""Packages whose `__init__` holds more than a docstring: the programs."""


def test_a_package_lists_no_names() -> None:
    """A name is imported from the module that defines it, so that its file is known where it is used."""
    wrong = []
    for path in MODULES:
        seen = _seen(path)
        name = ".".join(("quire", *path.parent.relative_to(SOURCE).parts))
        if path.name == "__init__.py" and name not in WITH_CONTENT and seen.more_than_docstring:
            wrong.append(f"{path} has more than a docstring")
        if path.name != "__init__.py" and any(
            name.id == "__all__" for node in seen.body for name in ast.walk(node) if isinstance(name, ast.Name)
        ):
            wrong.append(f"{path} has a list of names")
    assert wrong == []


def test_a_name_is_imported_from_the_module_that_defines_it() -> None:
    wrong = []
    for path in MODULES:
        for node in _seen(path).imports:
            if not isinstance(node, ast.ImportFrom) or not node.module or not node.module.startswith("quire."):
                continue
            if node.module not in WITH_CONTENT:
                passed_on = [alias.name for alias in node.names if alias.name in _imported(node.module)]
                wrong += [f"{path}: {node.module}.{name}" for name in passed_on]
    assert wrong == []


@functools.cache
def _imported(module: str) -> set[str]:
    """The names that a module has from other modules of ours."""
    path = SOURCE.joinpath(*module.split(".")[1:])
    source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    nodes = [node for node in _seen(source).body if isinstance(node, ast.ImportFrom)]
    ours = [node for node in nodes if (node.module or "").startswith("quire.")]
    return {alias.asname or alias.name for node in ours for alias in node.names}


NAMES_LAYERS = {
    "upkeep/init.py",
    "upkeep/projects.py",
    "upkeep/reset.py",
    "upkeep/status.py",
    "upkeep/sync.py",
    "upkeep/sync_marker.py",
    "upkeep/undo_plan.py",
    "upkeep/verdicts.py",
    "upkeep/why.py",
    "upkeep/views/summary.py",
    "upkeep/views/timeline.py",
    "upkeep/views/today.py",
    "upkeep/views/record_events.py",
}
"""Modules of upkeep that are about one layer. None may be added: what goes across layers loops over their table."""


def test_upkeep_knows_no_layer_by_name() -> None:
    found = set()
    for path in (SOURCE / "upkeep").rglob("*.py"):
        if any(re.match(r"quire\.layers\.(graph|facts|profile|journal)\b", module) for module in _imports(path)):
            found.add(str(path.relative_to(SOURCE)))
    assert found == NAMES_LAYERS


LISTS_LAYERS = {"model/vocabulary.py"}
"""Where all layers are named one by one."""


def test_nothing_lists_the_layers_but_their_table() -> None:
    found = set()
    for path in MODULES:
        for node in ast.walk(ast.parse(_seen(path).text)):
            items = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", ())
            if {"graph", "facts", "profile", "journal"} <= {getattr(item, "value", None) for item in items}:
                found.add(str(path.relative_to(SOURCE)))
    assert found == LISTS_LAYERS


def test_the_layers_say_of_themselves_what_is_said_of_all() -> None:
    from quire.layers.table import LAYERS
    from quire.model.vocabulary import LAYER_NAMES, RECORD_KINDS

    assert tuple(layer.name for layer in LAYERS) == LAYER_NAMES
    assert sorted(kind for layer in LAYERS for kind in layer.kinds) == sorted(RECORD_KINDS)
    for values in ([layer.heading for layer in LAYERS], [name for layer in LAYERS for name in layer.changed_lists]):
        assert len(set(values)) == len(values) >= len(LAYERS)


SHARED_BY_LAYERS = tuple(
    f".{name}"
    for name in (
        "fragment_records",
        "merge_lines",
        "merge_record",
        "protocol",
        "record_details",
        "record_parts",
        "storage",
    )
)


def test_layers_and_surfaces_do_not_know_each_other() -> None:
    for top in ("layers", "surfaces"):
        for path in (SOURCE / top).rglob("*.py"):
            own = path.relative_to(SOURCE).parts[1]
            if own.endswith(".py"):
                continue  # what is about all of them
            for module in _imports(path):
                parts = module.split(".")
                shared = own != "server" and parts[1:3] == ["surfaces", "server"]
                shared |= top == "layers" and (own == "table.py" or module.endswith(SHARED_BY_LAYERS))
                assert len(parts) < 3 or parts[1] != top or parts[2] == own or shared, f"{path}: {module}"


def test_a_project_is_one_class_of_few_methods() -> None:
    """What can be done with a project are functions in `verbs`: nothing inherits from it, and it stays small."""
    from quire.project import Project

    heirs = [path for path in MODULES if "Project" in _seen(path).bases]
    assert heirs == []
    assert len([name for name in vars(Project) if not name.startswith("__")]) <= METHODS_OF_A_PROJECT


@pytest.mark.parametrize("pattern", OWNERS)
def test_each_dangerous_call_has_its_owner(pattern: str) -> None:
    for path in MODULES:
        name = str(path.relative_to(SOURCE))
        if re.search(pattern, _code(path)):
            assert name in OWNERS[pattern], f"{name} holds {pattern}"


@functools.cache
def _code(path: Path) -> str:
    """Without strings and comments."""
    lines = _seen(path).text.splitlines(keepends=True)
    for first, last in _seen(path).long_strings:
        lines[first - 1 : last] = ["\n"] * (last - first + 1)
    without_strings = re.sub(r'"[^"\n]*"|\'[^\'\n]*\'', '""', "".join(lines))
    return "\n".join(line.split("#")[0] for line in without_strings.splitlines())


def test_a_module_says_what_it_is_for_and_stays_within_its_size() -> None:
    wrong = []
    for path in MODULES:
        text = _seen(path).text
        found = {
            "has no docstring": not _seen(path).docstring,
            "has grown past one subject": len(text.splitlines()) > 440,
            "has a name that says nothing": path.stem in NAMES_THAT_SAY_NOTHING,
            "has work left in a comment": re.search(r"#.*\b(TODO|FIXME|XXX)\b", text),
        }
        wrong += [f"{path} {what}" for what, is_so in found.items() if is_so]
    assert wrong == []


ENDS_IN_ING = {"sealing", "automate_ensure_running"}
"""Where that is the English word for the thing, or the verb of a command."""


def test_a_module_is_named_after_a_thing() -> None:
    named = {name for path in MODULES for name in (path.stem, path.parent.name)}
    assert {name for name in named if name.endswith("ing")} == ENDS_IN_ING


def test_no_two_public_classes_have_one_name() -> None:
    """So that a name in a type, a message or a search leads to one place."""
    places: dict[str, list[str]] = {}
    for path in MODULES:
        for node in ast.parse(_seen(path).text).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(str(path.relative_to(SOURCE)))
    assert {name for name, found in places.items() if len(found) > 1} == set()


HEAVY = {
    "click",
    "mcp",
    "pydantic",
    "starlette",
    "uvicorn",
    "rich",
    "numpy",
    "tree_sitter",
    "anyascii",
    "jsonschema",
    "asyncio",
    "ssl",
    "http",
    "urllib.request",
    "logging",
    "tarfile",
    "difflib",
    "json",
    "subprocess",
    "apsw",
}


@pytest.mark.parametrize(
    ("arguments", "may_load"),
    [
        (["--version"], {"click"}),
        (["--help"], {"click"}),
        (["inspect", "project.harbor"], set()),
        (["inspect", "project.harbor", "--json"], set()),
        (["status"], {"apsw", "subprocess"}),
        (["save", "--file", "intent.json"], {"apsw", "json"}),
    ],
)
def test_the_hot_path_loads_nothing_heavy(arguments: list[str], may_load: set[str], repo: Path, memory) -> None:
    memory.init()
    (repo / "intent.json").write_text('{"task": "t", "nodes": [{"kind": "gotcha", "title": "G", "body": "B."}]}')
    code = (
        "import sys\nfrom quire.surfaces.cli.main import run\n"
        f"run({arguments!r})\n"
        "sys.stderr.write('LOADED ' + ' '.join(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=repo, env=memory.env, capture_output=True, text=True, check=True
    )
    loaded = set(done.stderr.rpartition("LOADED ")[2].split())
    assert loaded & HEAVY <= may_load


def test_importing_a_module_does_nothing_but_define(tmp_path: Path) -> None:
    """No module reads files, the environment or the clock when it is imported."""
    code = (
        "import builtins, os, sys, importlib, pkgutil, quire\n"
        "import click.shell_completion, difflib, tarfile, subprocess, apsw, msgspec, anyascii, tree_sitter\n"
        "names = [m.name for m in pkgutil.walk_packages(quire.__path__, 'quire.') if not m.name.endswith('__main__')]\n"
        "for n in names: importlib.util.find_spec(n) if n.count('.') == 1 else None\n"
        "def barred(*a, **k): raise SystemExit('a module opens a file at import: %r' % (a[:1],))\n"
        "builtins.open = barred\n"
        "for name in names: importlib.import_module(name)\n"
        "print(len(names))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_is_imported_is_there() -> None:
    """Packages that load their names on first use hide from the type checker that one is missing."""
    wrong = []
    for path in MODULES:
        for node in _seen(path).imports:
            if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "quire":
                module = importlib.import_module(node.module)
                for alias in node.names if hasattr(module, "__path__") else ():
                    if not hasattr(module, alias.name) and not importlib.util.find_spec(f"{node.module}.{alias.name}"):
                        wrong.append(f"{path}: {node.module}.{alias.name}")
    assert wrong == []
