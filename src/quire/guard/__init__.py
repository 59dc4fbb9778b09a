"""What may not pass: secrets and hostile text. Uses the model only."""

from quire.guard.secrets import SecretFinding, find_secrets
from quire.guard.text import TextFinding, find_hostile, make_safe

__all__ = ["SecretFinding", "TextFinding", "find_hostile", "find_secrets", "make_safe"]
