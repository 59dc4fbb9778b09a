"""Conversations for tests."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from quire.capture.conversation import read_conversation
from quire.capture.message import Message


def messages_from(value: Iterable[Any]) -> list[Message]:
    """Messages as the program reads them."""
    return read_conversation(json.dumps(list(value)).encode(), "standard input").messages
