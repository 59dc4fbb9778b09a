"""What may not pass: secrets and hostile text. Uses the model only."""

from typing import TYPE_CHECKING

from quire.model.lazy import loader

if TYPE_CHECKING:
    from quire.guard.admission import admit, stored_secrets, text_problems
    from quire.guard.secrets import SecretFinding, find_secrets
    from quire.guard.text import TextFinding, find_hostile, make_safe

__all__ = [
    "SecretFinding",
    "TextFinding",
    "admit",
    "find_hostile",
    "find_secrets",
    "make_safe",
    "stored_secrets",
    "text_problems",
]

# Which module holds what.
_HOMES = {
    "SecretFinding": "secrets",
    "TextFinding": "text",
    "admit": "admission",
    "find_hostile": "text",
    "find_secrets": "secrets",
    "make_safe": "text",
    "stored_secrets": "admission",
    "text_problems": "admission",
}

__getattr__ = loader(__name__, _HOMES)
