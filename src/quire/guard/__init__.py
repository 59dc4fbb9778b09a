"""What may not pass, and how what was recalled is shown: secrets, hostile text, fences. Uses the model only."""

from typing import TYPE_CHECKING

from quire.model.lazy import loader

if TYPE_CHECKING:
    from quire.guard.admission import admit, effect_warnings, refuse_secret, stored_secrets, text_problems
    from quire.guard.effects import EFFECTS, effects_of, flags_of, shown_flags, words_of
    from quire.guard.framing import Fence, make_fence, safe_values
    from quire.guard.instructions import find_instructions
    from quire.guard.redaction import Withheld, redacted
    from quire.guard.secrets import SecretFinding, find_secrets, secret_values
    from quire.guard.text import TextFinding, escape_controls, find_hostile, make_safe, without_unseen

__all__ = [
    "EFFECTS",
    "Fence",
    "SecretFinding",
    "TextFinding",
    "Withheld",
    "admit",
    "effect_warnings",
    "effects_of",
    "escape_controls",
    "find_hostile",
    "find_instructions",
    "find_secrets",
    "flags_of",
    "make_fence",
    "make_safe",
    "redacted",
    "refuse_secret",
    "safe_values",
    "secret_values",
    "shown_flags",
    "stored_secrets",
    "text_problems",
    "without_unseen",
    "words_of",
]

# Which module holds what.
_HOMES = {
    "EFFECTS": "effects",
    "Fence": "framing",
    "SecretFinding": "secrets",
    "TextFinding": "text",
    "Withheld": "redaction",
    "admit": "admission",
    "effect_warnings": "admission",
    "effects_of": "effects",
    "escape_controls": "text",
    "find_hostile": "text",
    "find_instructions": "instructions",
    "find_secrets": "secrets",
    "flags_of": "effects",
    "make_fence": "framing",
    "make_safe": "text",
    "redacted": "redaction",
    "refuse_secret": "admission",
    "safe_values": "framing",
    "secret_values": "secrets",
    "shown_flags": "effects",
    "stored_secrets": "admission",
    "text_problems": "admission",
    "without_unseen": "text",
    "words_of": "effects",
}

__getattr__ = loader(__name__, _HOMES)
