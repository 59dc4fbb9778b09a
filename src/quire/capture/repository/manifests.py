"""Read package manifests: name, purpose, entry points, and the packages of a workspace."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from quire.capture.repository.documents import DOCUMENT_BYTES, json_object, table_at, text_at, texts_at, toml_table
from quire.capture.repository.tree import Tree, folder_of, look_at_top, make_tree, read_beginning
from quire.model.untyped import as_list, at_path

_TARGETS_MOST = 64
_SCRIPTS_MOST = 400
_GO_MODULE = re.compile(r"^module[ \t]+\"?([^\s\"]{1,300})", re.M)
_GO_USE = re.compile(r"^(?:use[ \t]+|[ \t]+)(\./?[^\s()]{0,200})[ \t]*(?://.*)?$", re.M)
_GO_MAJOR = re.compile(r"/v\d+$")
_YAML_FIELD = re.compile(r"^(name|description|version):[ \t]+[\"']?([^\"'\n#]{1,500})", re.M)
_YAML_ITEM = re.compile(r"^[ \t]*-[ \t]+(?:\"([^\"\n]+)\"|'([^'\n]+)'|([^\s#][^#\n]*?))[ \t]*(?:#.*)?$")

NODE = "package.json"
PYTHON = "pyproject.toml"
RUST = "Cargo.toml"
GO = "go.mod"
PNPM = "pnpm-workspace.yaml"


class ManifestTarget(Struct, frozen=True):
    """Something that a manifest names to be run or imported: what it is, its own name, and the path or the module."""

    kind: str
    name: str
    value: str


class PackageManifest(Struct, frozen=True, kw_only=True):
    path: str
    name: str = ""
    version: str = ""
    description: str = ""
    package_manager: str = ""
    scripts: dict[str, str] = {}
    targets: tuple[ManifestTarget, ...] = ()
    members: tuple[str, ...] = ()
    """Patterns for the packages of its workspace; those with `!` are not in it."""
    document: dict[str, Any] = {}

    @property
    def folder(self) -> str:
        return folder_of(self.path)


def read_manifest(tree: Tree, path: str) -> PackageManifest | None:
    """A manifest of a known name; one that is broken says nothing. None where there is no such file."""
    reader = MANIFESTS.get(path.rpartition("/")[2])
    if reader is None or path not in tree.names:
        return None
    return reader(path, read_beginning(tree, path, DOCUMENT_BYTES))


def declared_name(root: str) -> str:
    """What the manifest at the root of a project calls it, as it is written there; empty where none does."""
    tree = make_tree(root, look_at_top(root).files)
    found = (read_manifest(tree, name) for name in (PYTHON, NODE, RUST, GO))
    return next((manifest.name for manifest in found if manifest is not None and manifest.name), "")


# -- node -----------------------------------------------------------------------------------------


def _package_json(path: str, text: str) -> PackageManifest:
    value = json_object(text)
    workspaces = at_path(value, "workspaces")
    return _manifest(
        path,
        value,
        package_manager=text_at(value, "packageManager"),
        scripts=_scripts(table_at(value, "scripts") or table_at(value, "tasks")),
        targets=tuple(_node_targets(value)[:_TARGETS_MOST]),
        members=tuple(
            texts_at(value, "workspaces") if isinstance(workspaces, list) else texts_at(workspaces, "packages")
        ),
        document=value,
    )


def _node_targets(value: dict[str, Any]) -> list[ManifestTarget]:
    binary = at_path(value, "bin")
    named = {text_at(value, "name").rpartition("/")[2]: binary} if isinstance(binary, str) else table_at(value, "bin")
    found = [ManifestTarget("bin", name, text) for name in named if (text := text_at(named, name))]
    found += [ManifestTarget(kind, kind, text) for kind in ("main", "module") if (text := text_at(value, kind))]
    return found + _exports(at_path(value, "exports"))


def _exports(value: Any) -> list[ManifestTarget]:
    """The paths that a package lets others import, however its conditions are nested."""
    found: list[ManifestTarget] = []
    waiting: list[tuple[str, Any]] = [(".", value)]
    while waiting and len(found) < _TARGETS_MOST:
        name, inner = waiting.pop()
        if isinstance(inner, str):
            found.append(ManifestTarget("exports", name, inner))
        elif isinstance(inner, list):
            waiting += [(name, item) for item in reversed(inner[:_TARGETS_MOST])]
        elif isinstance(inner, dict):
            items = list(inner.items())[:_TARGETS_MOST]
            waiting += [(key if key.startswith(".") else name, item) for key, item in reversed(items)]
    return found


def pnpm_members(text: str) -> list[str]:
    """The list below `packages:`; of YAML, nothing else is read."""
    found: list[str] = []
    inside = False
    for line in text.split("\n"):
        if line[:1] not in ("", " ", "\t", "#", "-"):
            inside = line.startswith("packages:")
        elif inside and (item := _YAML_ITEM.match(line)):
            found.append(next(text for text in item.groups() if text))
    return found


# -- python ---------------------------------------------------------------------------------------


def _pyproject(path: str, text: str) -> PackageManifest:
    value = toml_table(text)
    poetry = table_at(value, "tool", "poetry")
    project = table_at(value, "project") or poetry
    tables = (table_at(project, "scripts"), table_at(project, "gui-scripts"), table_at(poetry, "scripts"))
    commands = {name: said for table in tables for name in table if (said := text_at(table, name))}
    return _manifest(
        path,
        project,
        targets=tuple(ManifestTarget("command", name, said) for name, said in list(commands.items())[:_TARGETS_MOST]),
        members=tuple(texts_at(value, "tool", "uv", "workspace", "members")),
        document=value,
    )


def _setup_cfg(path: str, text: str) -> PackageManifest:
    import configparser

    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except (configparser.Error, ValueError):
        return PackageManifest(path=path)
    fields = dict(parser["metadata"]) if parser.has_section("metadata") else {}
    lines = parser.get("options.entry_points", "console_scripts", fallback="") or ""
    pairs = [line.partition("=") for line in lines.split("\n")[:_TARGETS_MOST]]
    targets = tuple(ManifestTarget("command", name.strip(), said.strip()) for name, _, said in pairs if said.strip())
    return _manifest(path, fields, targets=targets)


# -- rust, go, others -----------------------------------------------------------------------------


def _cargo(path: str, text: str) -> PackageManifest:
    value = toml_table(text)
    found = [
        ManifestTarget("binary", text_at(item, "name"), text_at(item, "path"))
        for item in as_list(at_path(value, "bin"))[:_TARGETS_MOST]
    ]
    library = text_at(value, "lib", "path")
    found += [ManifestTarget("library", text_at(value, "package", "name"), library)] if library else []
    excluded = [f"!{pattern}" for pattern in texts_at(value, "workspace", "exclude")]
    return _manifest(
        path,
        table_at(value, "package"),
        targets=tuple(target for target in found if target.value),
        members=tuple(texts_at(value, "workspace", "members") + excluded),
        document=value,
    )


def _go_mod(path: str, text: str) -> PackageManifest:
    found = _GO_MODULE.search(text)
    return PackageManifest(path=path, name=_GO_MAJOR.sub("", found[1]).rpartition("/")[2] if found else "")


def _go_work(path: str, text: str) -> PackageManifest:
    return PackageManifest(path=path, members=tuple(_GO_USE.findall(text)[:_TARGETS_MOST]))


def _pubspec(path: str, text: str) -> PackageManifest:
    return _manifest(path, {name: said.strip() for name, said in _YAML_FIELD.findall(text)})


def _manifest(path: str, value: dict[str, Any], **others: Any) -> PackageManifest:
    """A manifest with the fields that nearly all have in common."""
    return PackageManifest(
        path=path,
        name=text_at(value, "name"),
        version=text_at(value, "version"),
        description=text_at(value, "description"),
        **others,
    )


def _scripts(table: dict[str, Any]) -> dict[str, str]:
    return {name: said for name in list(table)[:_SCRIPTS_MOST] if name.strip() and (said := text_at(table, name))}


MANIFESTS: dict[str, Callable[[str, str], PackageManifest]] = {
    NODE: _package_json,
    PYTHON: _pyproject,
    "setup.cfg": _setup_cfg,
    RUST: _cargo,
    GO: _go_mod,
    "go.work": _go_work,
    "composer.json": _package_json,
    "deno.json": _package_json,
    "pubspec.yaml": _pubspec,
}
"""The names that manifests have, best first where a folder holds several, and how each is read."""
