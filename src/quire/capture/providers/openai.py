"""Ask an endpoint with OpenAI's chat protocol. The key stays in the environment."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from quire.capture.providers.call import (
    ANSWER_BYTES,
    ProviderCall,
    ProviderReply,
    answered_too_much,
    cost_of_usage,
    decoded,
    value_in,
)
from quire.capture.providers.failures import BadAnswer, ProgramMissing, ProviderFailed, SignedOut, TimedOut, last_words
from quire.capture.providers.http_post import Response, Unreachable, post
from quire.capture.providers.settings import EndpointSettings
from quire.files.json_files import compact
from quire.files.world import World
from quire.model.untyped import as_dict, as_list, at_path

NAME = "openai"
_KEY = re.compile(r"[\x21-\x7e]{1,4096}")
_LATER = {429: "too many requests, or no credit left", 500: "a fault of its own", 503: "overloaded"}


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Where to send a question, and with which key; without one where none is needed."""

    host: str
    port: int
    path: str
    secure: bool
    key: str
    shown: str

    def __repr__(self) -> str:
        return f"Endpoint({self.shown!r})"


def endpoint_of(settings: EndpointSettings, world: World) -> Endpoint:
    """The endpoint, if it may be asked: encrypted unless it is on this machine, with a key unless it is on it."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(settings.base_url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise _unusable("`openai.baseUrl` is not an address") from None
    if parts.scheme not in ("http", "https") or not host or not host.isascii():
        raise _unusable("`openai.baseUrl` is not an http or https address")
    if parts.username or parts.password or parts.query or parts.fragment or re.search(r"[\x00-\x20\x7f]", parts.path):
        raise _unusable("`openai.baseUrl` holds more than a host and a path")
    here = _is_loopback(host)
    if parts.scheme == "http" and not here:
        raise _unusable("`openai.baseUrl` is not encrypted; only an address of this machine may be http")
    if not settings.model:
        raise _unusable("`openai.model` names no model")
    key = world.env.get(settings.key_variable, "").strip()
    if key and not _KEY.fullmatch(key):
        raise _signed_out(f"what {settings.key_variable} holds is not a key")
    if not key and not here:
        raise _signed_out(f"{settings.key_variable} is not set")
    secure = parts.scheme == "https"
    path = parts.path.rstrip("/") + "/chat/completions"
    shown = f"{parts.scheme}://{parts.netloc}{path}"
    return Endpoint(
        host=host, port=port or (443 if secure else 80), path=path, secure=secure, key=key, shown=shown[:300]
    )


def ask_openai(call: ProviderCall) -> ProviderReply:
    settings = call.settings.openai
    endpoint = endpoint_of(settings, call.world)
    headers = {"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": "identity"}
    if endpoint.key:
        headers["Authorization"] = f"Bearer {endpoint.key}"
    try:
        response = post(
            endpoint.host,
            endpoint.port,
            endpoint.path,
            secure=endpoint.secure,
            body=_body(call, settings),
            headers=headers,
            seconds=settings.timeout_seconds,
            most=ANSWER_BYTES,
        )
    except Unreachable as error:
        raise _unreachable(error, endpoint, settings) from None
    if response.status != 200:
        raise _refusal(response, endpoint)
    if response.too_long:
        raise answered_too_much(NAME)
    return _reply(decoded(response.body.decode("utf-8", "replace")), settings)


def _body(call: ProviderCall, settings: EndpointSettings) -> bytes:
    form = {"name": call.name, "strict": True, "schema": call.schema}
    return compact(
        {
            "model": settings.model,
            "messages": [{"role": "user", "content": call.prompt}],
            "max_completion_tokens": call.answer_tokens,
            "response_format": {"type": "json_schema", "json_schema": form},
        }
    )


def _reply(answer: Any, settings: EndpointSettings) -> ProviderReply:
    cost = cost_of_usage(settings, as_dict(answer).get("usage"), "prompt_tokens", "completion_tokens")
    choice = as_dict(next(iter(as_list(as_dict(answer).get("choices"))), None))
    message = as_dict(choice.get("message"))
    content = message.get("content")
    if not content and isinstance(message.get("refusal"), str):
        raise BadAnswer("The model refused to answer.", provider=NAME, hint="Use no model.", charge=cost)
    if choice.get("finish_reason") == "length":
        raise BadAnswer(
            "The model's answer was cut off at its length limit.",
            provider=NAME,
            hint="Ask a model that needs fewer tokens to answer, or use none.",
            charge=cost,
        )
    return ProviderReply(value=value_in(content) if isinstance(content, str) else None, cost=cost)


def _refusal(response: Response, endpoint: Endpoint) -> ProviderFailed:
    """The error of an answer that is none. What was refused costs nothing; what a fault costs nobody knows."""
    status = response.status
    details = {"status": status}
    if status in (401, 403):
        return _signed_out(f"the endpoint does not accept the key (status {status})", details)
    if 300 <= status < 400:
        message = f"The endpoint answered with a redirect (status {status}), which is not followed."
        hint = "Put the right address into `openai.baseUrl` in `providers.json` in the memory home."
        return ProviderFailed(message, provider=NAME, hint=hint, details=details, charge=0)
    answer = decoded(response.body.decode("utf-8", "replace"))
    said = at_path(answer, "error", "message")
    # Some servers repeat the key that they dislike.
    words = said.replace(endpoint.key, "[key]") if isinstance(said, str) and endpoint.key else said
    shown = last_words(words.encode("utf-8", "replace")) if isinstance(words, str) else _LATER.get(status, "")
    return ProviderFailed(
        f"The endpoint failed with status {status}{f': {shown}' if shown else '.'}",
        provider=NAME,
        hint="Try again later, or use no model." if status in _LATER or status >= 500 else "Check `openai.model`.",
        details=details,
        charge=0 if 400 <= status < 500 else None,
    )


def _unreachable(error: Unreachable, endpoint: Endpoint, settings: EndpointSettings) -> ProviderFailed:
    charge = None if error.sent else 0
    if error.timed_out:
        return TimedOut(
            f"The endpoint did not answer within {settings.timeout_seconds:g} s.",
            provider=NAME,
            hint="Try again later, or raise `openai.timeoutSeconds` in `providers.json` in the memory home.",
            details={"seconds": settings.timeout_seconds},
            charge=charge,
        )
    return ProviderFailed(
        f"The endpoint could not be asked: {error}.",
        provider=NAME,
        hint=f"Check the connection, and whether a server answers at {endpoint.shown}.",
        charge=charge,
    )


def _is_loopback(host: str) -> bool:
    import ipaddress

    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _unusable(why: str) -> ProgramMissing:
    return ProgramMissing(
        f"The endpoint cannot be asked: {why}.",
        provider=NAME,
        hint="Correct `openai` in `providers.json` in the memory home.",
        charge=0,
    )


def _signed_out(why: str, details: dict[str, Any] | None = None) -> SignedOut:
    return SignedOut(
        f"The endpoint cannot be asked: {why}.",
        provider=NAME,
        hint="Put a valid key into the environment; Quire does not store it.",
        details=details,
        charge=0,
    )
