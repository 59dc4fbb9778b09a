"""Find the programs of providers and list the providers that can be asked, without asking any."""

from __future__ import annotations

import os
import re

import msgspec

from quire.capture.providers.failures import ProgramMissing, ProviderFailed
from quire.capture.providers.settings import BINARY_VARIABLES, PROVIDERS, ProviderSettings, binary_of
from quire.files.paths import below
from quire.files.programs import run_program
from quire.files.world import World

_VERSION_SECONDS = 5.0
_VERSION = re.compile(r"\d+(?:\.\d+)+[\w.+-]{0,40}")
INSIDE_VARIABLE = "AGENT_MEMORY_PROVIDER_CALL"
"""Set for the programs we run: a memory command that one of them starts asks no model in turn."""
# They make a program believe that it runs inside another session, and git that it is elsewhere.
_NOT_PASSED_ON = ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT")


class ProviderState(msgspec.Struct, frozen=True, kw_only=True):
    """One provider on this machine. `path` is its program or its address; `reason` says why it cannot be asked."""

    name: str
    found: bool
    path: str = ""
    version: str | None = None
    reason: str = ""


def available(
    settings: ProviderSettings, world: World, *, root: str = "", versions: bool = False
) -> list[ProviderState]:
    """Every provider. Only with `versions` is anything run, and then `--version` alone; who is signed in stays open."""
    return [_state(name, settings, world, root, versions) for name in PROVIDERS]


def _state(name: str, settings: ProviderSettings, world: World, root: str, versions: bool) -> ProviderState:
    from quire.capture.providers.openai import endpoint_of

    try:
        if name == "openai":
            return ProviderState(name=name, found=True, path=endpoint_of(settings.openai, world).shown)
        path = find_program(name, settings, world, root)
    except ProviderFailed as failure:
        return ProviderState(name=name, found=False, reason=failure.message)
    if not versions:
        return ProviderState(name=name, found=True, path=path)
    env = child_environment(world)
    done = run_program([path, "--version"], cwd=os.path.dirname(path), env=env, seconds=_VERSION_SECONDS, most=65_536)
    if done.code != 0:
        ending = "did not answer in time" if done.timed_out else done.missing or f"ended with code {done.code}"
        return ProviderState(name=name, found=False, path=path, reason=f"`{name} --version` failed: {ending}.")
    version = _VERSION.search(done.out.decode("utf-8", "replace"))
    return ProviderState(name=name, found=True, path=path, version=version[0] if version else None)


def find_program(provider: str, settings: ProviderSettings, world: World, root: str = "") -> str:
    """The absolute path of a provider's program. One that lies in the project is never run."""
    name = binary_of(provider, settings, world)
    if "/" in name:
        if not os.path.isabs(name):
            raise _missing(provider, f"`{name[:200]}` is a relative path")
        candidates = [name]
    else:
        folders = world.env.get("PATH", "").split(os.pathsep)
        candidates = [os.path.join(folder, name) for folder in folders if os.path.isabs(folder)]
    usable = [path for path in candidates if "\0" not in path and os.path.isfile(path) and os.access(path, os.X_OK)]
    for path in usable:
        if not belongs_to(path, root, world):
            return path
    if usable:
        raise _missing(provider, f"`{usable[0][:200]}` belongs to the project, and programs of a project are not run")
    raise _missing(provider, f"there is no program `{name[:200]}`")


def belongs_to(path: str, root: str, world: World) -> bool:
    """Whether a path lies in the project, itself or by where a link leads. A home folder under git is no project."""
    if not root:
        return False
    real = os.path.realpath(root)
    if world.home and below(os.path.realpath(world.home), real):
        return False
    return bool(below(os.path.realpath(path), real) or below(os.path.abspath(path), os.path.abspath(root)))


def child_environment(world: World, **more: str) -> dict[str, str]:
    """What a provider's program gets to know: the user's environment, without what would mislead it."""
    kept = {
        name: value
        for name, value in world.env.items()
        if name not in _NOT_PASSED_ON and not name.startswith("GIT_") and "\0" not in name + value
    }
    return {**kept, **more, INSIDE_VARIABLE: "1"}


def _missing(provider: str, why: str) -> ProgramMissing:
    return ProgramMissing(
        f"{provider} cannot be asked: {why}.",
        provider=provider,
        hint=f"Install it, or give its absolute path in {BINARY_VARIABLES[provider]} or in `providers.json`.",
        charge=0,
    )
