"""Tell how this copy of Quire was installed, and so how to upgrade it."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping
from importlib import metadata
from urllib.parse import unquote, urlparse

import msgspec

from quire.model.errors import GitRequired

_PACKAGE = "quire"
_TOOLS = {"uv-receipt.toml": "uv", "pipx_metadata.json": "pipx"}
"""What installers of programs leave in the environment that they make."""
_AGAIN = {"uv": "uv tool install --force", "pipx": "pipx install --force", "pip": "pip install --upgrade"}
_NEWER = {"uv": "uv tool upgrade", "pipx": "pipx upgrade", "pip": "pip install --upgrade"}


class _Directory(msgspec.Struct, frozen=True):
    editable: bool = False


class _Version(msgspec.Struct, frozen=True):
    vcs: str = ""
    commit_id: str = ""


class _Direct(msgspec.Struct, frozen=True):
    """Where a package was installed from, if not from an index (PEP 610)."""

    url: str = ""
    dir_info: _Directory | None = None
    vcs_info: _Version | None = None


def upgrade_advice() -> str:
    """What to do for a newer Quire, by the way in which this one came here."""
    found = _distribution()
    source = _checkout()
    if found is None:
        # It runs from its sources, and nobody installed it.
        return f"{_pull(source)}." if source else "Install it again as you installed it."
    name, tool, direct = found.metadata["Name"], _tool(), _direct(found)
    if direct is None:
        return f"`{_NEWER[tool]} {name}`."
    if direct.vcs_info is not None:
        where = shlex.quote(f"{direct.vcs_info.vcs}+{direct.url}")
        return f"`{_NEWER[tool]} {name}`." if tool != "pip" else f"`{_AGAIN[tool]} {where}`."
    if direct.dir_info is None:
        return f"It was installed from a file ({direct.url}): run `{_AGAIN[tool]}` with a newer file."
    folder = unquote(urlparse(direct.url).path)
    if direct.dir_info.editable:
        return f"{_pull(folder)}."
    return f"{_pull(folder, made=False)}, then `{_AGAIN[tool]} {shlex.quote(folder)}`."


def installed_source(env: Mapping[str, str]) -> str:
    """`URL@COMMIT` of the git repository that this copy came from; empty where none is known."""
    found, folder = _distribution(), _checkout()
    direct = _direct(found) if found else None
    if direct is not None and direct.vcs_info is not None:
        return f"{direct.url}@{direct.vcs_info.commit_id}"
    folder = unquote(urlparse(direct.url).path) if direct is not None and direct.dir_info else folder
    if not folder:
        return ""
    from quire.files.git import Git

    git = Git(folder, env)
    try:
        found_url = git.run("config", "--get-regexp", r"^remote\.origin\.url$", allow=(0, 1))
        url = found_url.decode().strip().partition(" ")[2]
        return f"{url}@{git.head()}" if url else ""
    except (GitRequired, UnicodeDecodeError):
        return ""


def _pull(folder: str, *, made: bool = True) -> str:
    """How a checkout comes up to date."""
    steps = f"`git -C {shlex.quote(folder)} pull`"
    is_made = made and os.path.isfile(os.path.join(folder, "Makefile"))
    lead = "It runs" if made else "It was installed"
    return f"{lead} from {folder}: {steps}" + (", then `make setup` there" if is_made else "")


def _checkout() -> str:
    """The folder of the sources that this program runs from; empty where they lie among installed packages."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    top = os.path.dirname(os.path.dirname(package))
    return top if os.path.isfile(os.path.join(top, "pyproject.toml")) else ""


def _distribution() -> metadata.Distribution | None:
    """The installed package that our commands belong to."""
    for entry in metadata.entry_points(group="console_scripts", name=_PACKAGE):
        if entry.value.startswith(f"{_PACKAGE}.") and entry.dist is not None:
            return entry.dist
    return None


def _tool() -> str:
    held = next((tool for mark, tool in _TOOLS.items() if os.path.isfile(os.path.join(sys.prefix, mark))), "")
    return held or "pip"


def _direct(found: metadata.Distribution) -> _Direct | None:
    try:
        return msgspec.json.decode(found.read_text("direct_url.json") or "null", type=_Direct | None)
    except (msgspec.MsgspecError, OSError, UnicodeDecodeError):
        return None
