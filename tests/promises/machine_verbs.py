"""Every verb by its name: each function over a project that a surface calls."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import quire
from quire.project import Project

__all__ = ["verb_module", "verb_named", "verbs"]

_SOURCE = Path(quire.__file__).parent


@cache
def verbs() -> dict[str, str]:
    """Each verb and the module that defines it."""
    found: dict[str, str] = {}
    for path in [_SOURCE / "machine.py", *sorted((_SOURCE / "surfaces").rglob("*.py"))]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("quire.verbs."):
                assert node.module is not None
                found |= {alias.name: node.module for alias in node.names if _is_verb(node.module, alias.name)}
    return found


def _is_verb(module: str, name: str) -> bool:
    path = _SOURCE.joinpath(*module.split(".")[1:]).with_suffix(".py")
    if not path.exists():
        return False
    functions = [node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.FunctionDef)]
    return any(node.name == name and bool(node.args.args) and node.args.args[0].arg == "project" for node in functions)


@cache
def _modules() -> dict[str, str]:
    """Each function over a project, and the module that defines it."""
    found: dict[str, str] = {}
    for path in sorted((_SOURCE / "verbs").rglob("*.py")):
        module = ".".join(("quire", *path.relative_to(_SOURCE).with_suffix("").parts))
        names = [node.name for node in ast.parse(path.read_text(encoding="utf-8")).body if hasattr(node, "name")]
        found |= {name: module for name in names if not name.startswith("_") and _is_verb(module, name)}
    return found


def verb_module(name: str) -> Any:
    return importlib.import_module(_modules()[name])


def verb_named(name: str) -> Callable[..., Any]:
    """The verb as it is now, also where a test put another one in its place."""
    found: Callable[..., Any] = getattr(Project if hasattr(Project, name) else verb_module(name), name)
    return found
