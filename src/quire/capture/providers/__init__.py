"""Models, for those who want one: asked only within a daily ceiling that is zero until the user raises it."""

from typing import TYPE_CHECKING

from quire.model.lazy import loader

if TYPE_CHECKING:
    from quire.capture.providers.asking import Answer, ask
    from quire.capture.providers.failures import (
        BadAnswer,
        ProgramMissing,
        ProviderFailed,
        SignedOut,
        SpendRefused,
        TimedOut,
    )
    from quire.capture.providers.finding import ProviderState, available
    from quire.capture.providers.prompts import PROMPT_BYTES
    from quire.capture.providers.requests import (
        BundleRequest,
        Kind,
        QueryRequest,
        RecallRequest,
        Request,
        SessionRequest,
    )
    from quire.capture.providers.settings import (
        PROVIDERS,
        EndpointSettings,
        ProgramSettings,
        ProviderSettings,
        ceiling_of,
        read_settings,
        settings_bytes,
        settings_path,
        write_settings,
    )
    from quire.capture.providers.spending import Spent, spent_today
    from quire.capture.providers.summarising import summariser

__all__ = [
    "PROMPT_BYTES",
    "PROVIDERS",
    "Answer",
    "BadAnswer",
    "BundleRequest",
    "EndpointSettings",
    "Kind",
    "ProgramMissing",
    "ProgramSettings",
    "ProviderFailed",
    "ProviderSettings",
    "ProviderState",
    "QueryRequest",
    "RecallRequest",
    "Request",
    "SessionRequest",
    "SignedOut",
    "SpendRefused",
    "Spent",
    "TimedOut",
    "ask",
    "available",
    "ceiling_of",
    "read_settings",
    "settings_bytes",
    "settings_path",
    "spent_today",
    "summariser",
    "write_settings",
]

# Which module holds what.
_HOMES = {
    "PROMPT_BYTES": "prompts",
    "PROVIDERS": "settings",
    "Answer": "asking",
    "BadAnswer": "failures",
    "BundleRequest": "requests",
    "EndpointSettings": "settings",
    "Kind": "requests",
    "ProgramMissing": "failures",
    "ProgramSettings": "settings",
    "ProviderFailed": "failures",
    "ProviderSettings": "settings",
    "ProviderState": "finding",
    "QueryRequest": "requests",
    "RecallRequest": "requests",
    "Request": "requests",
    "SessionRequest": "requests",
    "SignedOut": "failures",
    "SpendRefused": "failures",
    "Spent": "spending",
    "TimedOut": "failures",
    "ask": "asking",
    "available": "finding",
    "ceiling_of": "settings",
    "read_settings": "settings",
    "settings_bytes": "settings",
    "settings_path": "settings",
    "spent_today": "spending",
    "summariser": "summarising",
    "write_settings": "settings",
}

__getattr__ = loader(__name__, _HOMES)
