"""What may not pass: secrets and hostile text. Uses the model only."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quire.guard.secrets import SecretFinding, find_secrets
    from quire.guard.text import TextFinding, find_hostile, make_safe

__all__ = ["SecretFinding", "TextFinding", "find_hostile", "find_secrets", "make_safe"]

# Which module holds what: loaded on first use, so that a command which only prints loads no rules.
_HOMES = {
    "SecretFinding": "secrets",
    "TextFinding": "text",
    "find_hostile": "text",
    "find_secrets": "secrets",
    "make_safe": "text",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
