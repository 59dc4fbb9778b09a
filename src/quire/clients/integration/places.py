"""Paths of clients: their folders in a home, their marks in a project, their programs."""

from __future__ import annotations

import os

from quire.clients.integration.types import CLIENTS, Surroundings

_SIGNS = {
    "claude": (".claude", "CLAUDE.md", "CLAUDE.local.md"),
    "codex": (".codex",),
    "cursor": (".cursor", ".cursorrules"),
    "gemini": (".gemini", "GEMINI.md"),
    "opencode": (".opencode", "opencode.json", "opencode.jsonc"),
    "copilot": (".github/copilot-instructions.md", ".github/copilot", ".github/instructions", ".github/hooks"),
    "cline": (".clinerules", ".cline"),
    "github": (".github/workflows",),
    "gitlab": (".gitlab-ci.yml",),
    "pre-commit": (".pre-commit-config.yaml",),
}
_PROGRAMS = {
    "claude": ("claude",),
    "codex": ("codex",),
    "cursor": ("cursor", "cursor-agent"),
    "gemini": ("gemini",),
    "opencode": ("opencode",),
    "copilot": ("copilot",),
    "cline": ("cline",),
    "github": ("gh",),
    "gitlab": ("glab",),
    "pre-commit": ("pre-commit", "prek"),
}


def config_folders(around: Surroundings) -> dict[str, str]:
    """The folder in which each client keeps what is the user's, whether it is there or not."""
    env, home = around.env, around.home

    def named(variable: str, *otherwise: str) -> str:
        # A relative name would mean another folder in every project.
        found = env.get(variable, "")
        return found if os.path.isabs(found) else os.path.join(home, *otherwise)

    xdg = named("XDG_CONFIG_HOME", ".config")
    return {
        "claude": named("CLAUDE_CONFIG_DIR", ".claude"),
        "codex": named("CODEX_HOME", ".codex"),
        "cursor": os.path.join(home, ".cursor"),
        "gemini": os.path.join(named("GEMINI_CLI_HOME"), ".gemini"),
        "opencode": os.path.join(xdg, "opencode"),
        "copilot": named("COPILOT_HOME", ".copilot"),
        "cline": named("CLINE_DIR", ".cline"),
    }


def has_signs(client: str, around: Surroundings) -> bool:
    """Whether the project has files of this client."""
    return any(os.path.lexists(os.path.join(around.root, sign)) for sign in _SIGNS[client])


def is_installed(client: str, around: Surroundings) -> bool:
    """Whether the user seems to have this client."""
    if around.home and os.path.isdir(config_folders(around).get(client, "")):
        return True
    folders = around.env.get("PATH", "").split(os.pathsep)
    return any(
        os.path.isabs(folder) and os.access(os.path.join(folder, name), os.X_OK)
        for folder in folders
        for name in _PROGRAMS[client]
    )


def detect(around: Surroundings) -> tuple[str, ...]:
    """The clients that are in use here, by what the project or the home holds."""
    return tuple(client for client in CLIENTS if has_signs(client, around) or is_installed(client, around))
