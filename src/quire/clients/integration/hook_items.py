"""Add our hooks to a client's configuration and recognise them by their command; others stay."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from quire.clients.integration.entries import MISSING, find_member, has_path, pruned, read_document, text_of
from quire.clients.integration.types import KeyPath, Made, Seen
from quire.files.jsonc_edit import append_item, remove_items, remove_member, set_member

_OURS = re.compile(r"(?:^|[\s/'\"])quire['\"]?\s+hook\s+(\w+)\s")
_VERSION: KeyPath = ("version",)
_HOOKS: KeyPath = ("hooks",)


class Hooks:
    """Lists by event. An item is a hook, or a group of hooks with a matcher; both are recognised."""

    def __init__(
        self, client: str, wanted: Mapping[str, Sequence[dict[str, Any]]], *, version: int | None = None
    ) -> None:
        self.client = client
        self.wanted = {event: list(items) for event, items in wanted.items()}
        self.version = version

    def look(self, data: bytes | None) -> Seen:
        found = {event: own for event, items in self._lists(data).items() if (own := self._own(items))}
        if not found:
            return Seen("missing")
        return Seen("present" if found == self.wanted else "changed", ours=True)

    def keys(self, data: bytes | None) -> Made:
        value = read_document(data)
        paths = (_VERSION, _HOOKS, *((*_HOOKS, event) for event in self.wanted))
        return frozenset(path for path in paths if has_path(value, path))

    def apply(self, data: bytes | None, _force: bool) -> bytes:
        if self.look(data).state == "present":
            return data or b""
        text = self._without(data)
        for event, items in self._lists(data).items():
            if event not in self.wanted and self._own(items):
                text = pruned(text, (*_HOOKS, event), None)
        if self.version is not None and not has_path(read_document(text.encode()), _VERSION):
            text = set_member(text, _VERSION, self.version)
        for event, items in self.wanted.items():
            for item in items:
                text = append_item(text, (*_HOOKS, event), item)
        return text.encode()

    def strip(self, data: bytes, made: Made | None) -> bytes:
        events = [event for event, items in self._lists(data).items() if self._own(items)]
        text = self._without(data)
        for event in events:
            text = pruned(text, (*_HOOKS, event), made)
        if events:
            text = pruned(text, _HOOKS, made)
        # Hooks that someone else added since then need the version, too.
        if events and made is not None and _VERSION in made and not any(self._lists(text.encode()).values()):
            text = remove_member(text, _VERSION)
        return text.encode()

    def is_void(self, data: bytes) -> bool:
        value = read_document(data)
        return value in ({}, {"hooks": {}}) or (self.version is not None and value == {"version": self.version})

    def _lists(self, data: bytes | None) -> dict[str, list[Any]]:
        found = find_member(read_document(data), _HOOKS)
        if found is MISSING:
            return {}
        if not isinstance(found, dict):
            raise ValueError("`hooks` is not an object")
        for event in self.wanted:
            if not isinstance(found.get(event, []), list):
                raise ValueError(f"`hooks.{event}` is not a list")
        return {event: items for event, items in found.items() if isinstance(items, list)}

    def _without(self, data: bytes | None) -> str:
        """The text without our hooks; whatever else is in a list or a group stays."""
        text = text_of(data)
        for event, items in self._lists(data).items():
            if any(self._is_mixed(item) for item in items):
                # Ours was put among someone else's hooks by hand: only here a list is written anew.
                kept = [self._rest(item) for item in items if not self._is_ours(item)]
                text = set_member(text, (*_HOOKS, event), kept)
            elif any(map(self._is_ours, items)):
                text = remove_items(text, (*_HOOKS, event), self._is_ours)
        return text

    def _own(self, items: list[Any]) -> list[Any]:
        return [item for item in items if self._is_ours(item) or self._is_mixed(item)]

    def _is_ours(self, item: Any) -> bool:
        if not isinstance(item, dict):
            return False
        inner = item.get("hooks")
        if isinstance(inner, list):
            return bool(inner) and all(map(self._is_ours, inner))
        return self._runs_us(item)

    def _is_mixed(self, item: Any) -> bool:
        inner = item.get("hooks") if isinstance(item, dict) else None
        return isinstance(inner, list) and any(map(self._is_ours, inner)) and not self._is_ours(item)

    def _rest(self, item: Any) -> Any:
        if not self._is_mixed(item):
            return item
        return {**item, "hooks": [hook for hook in item["hooks"] if not self._is_ours(hook)]}

    def _runs_us(self, item: dict[str, Any]) -> bool:
        for name in ("command", "bash"):
            found = _OURS.search(item[name]) if isinstance(item.get(name), str) else None
            if found and found[1] == self.client:
                return True
        return False
