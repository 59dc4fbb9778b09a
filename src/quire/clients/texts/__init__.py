"""What clients are given to read and to run: the skill, the rules, slash commands, the plugin of opencode."""

from typing import TYPE_CHECKING

from quire.model.lazy import loader

if TYPE_CHECKING:
    from quire.clients.texts.opencode import OPENCODE_PLUGIN_PATH, opencode_plugin_text
    from quire.clients.texts.rules import RULES_CLIENTS, package_context_text, rules_text
    from quire.clients.texts.skill import SKILL_NAME, SKILL_PATH, skill_text
    from quire.clients.texts.slash import SLASH_NAMES, slash_text

__all__ = [
    "OPENCODE_PLUGIN_PATH",
    "RULES_CLIENTS",
    "SKILL_NAME",
    "SKILL_PATH",
    "SLASH_NAMES",
    "opencode_plugin_text",
    "package_context_text",
    "rules_text",
    "skill_text",
    "slash_text",
]

# Which module holds what.
_HOMES = {
    "OPENCODE_PLUGIN_PATH": "opencode",
    "RULES_CLIENTS": "rules",
    "SKILL_NAME": "skill",
    "SKILL_PATH": "skill",
    "SLASH_NAMES": "slash",
    "opencode_plugin_text": "opencode",
    "package_context_text": "rules",
    "rules_text": "rules",
    "skill_text": "skill",
    "slash_text": "slash",
}

__getattr__ = loader(__name__, _HOMES)
