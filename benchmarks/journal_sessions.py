"""Made sessions of agents in the shape of real ones: the lines of Claude Code, the rollouts of Codex, events of both.

Real ones hold mostly what nobody said: ids, token counts, signatures, and what tools answered, which Claude Code writes
twice. What is said is made of a few hundred words in sentences that decide, warn, promise and test, with prose around
them. The same seed makes the same words.
"""

from __future__ import annotations

import base64
import functools
import itertools
import random
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.facts_speed import _prose
from benchmarks.stores import WORDS, vocabulary
from quire.capture.transcripts.claude import encoded_folder
from quire.layers.journal.types import JournalEvent, Signals
from quire.model.times import time_text

BEGIN = datetime(2026, 1, 5, 8, tzinfo=UTC)
LINES = (20, 60)
CODEX_SHARE = 10
"""Every tenth session is one of Codex."""
_PARTS = ("api", "billing", "core", "export", "jobs", "storage", "ui", "web")
_DECISIONS = (
    "We'll keep the {a} {b} in `{path}`, because the {c} needs it before the {d} starts.",
    "Decision: one {a} per {b} instead of a shared {c}.",
    "I switched the {a} from the {b} to the {c}, since the {d} was lost on every restart.",
    "Let's go with the {a} for every {b} and drop the {c}.",
)
_GOTCHAS = (
    "It turns out that the {a} silently drops the {b} when the {c} is empty.",
    "Root cause: the {a} was only keyed by the {b}, so two {c}s shared one {d}.",
    "Careful: the {a} must run before the {b}, otherwise the {c} is written twice.",
)
_STEPS = (
    "Next: write a test for the {a} of the {b} in `{path}`.",
    "Still to do: move the {a} out of `{path}` and into the {b}.",
    "TODO: raise the limit of the {a} once the {b} is deployed.",
)
_ASKED = (
    "The {a} fails for every second {b}. Can you look into `{path}`?",
    "Please add a {a} to the {b}, and make sure the {c} still works.",
    "why is the {a} so slow when there are many {b}s?",
    "Now do the same for the {a}.",
)
_CODE = (
    "def {a}_{b}(self, {c}: {d}) -> None:",
    "    if not {a}.{b}:",
    "        raise ValueError(f'no {a} for {{{b}}}')",
    "    return self._{a}.{b}({c}, limit={n})",
    "    {a} = [{b}.{c} for {b} in self.{d}s]",
    "",
    "    # the {a} is kept until the {b} is done",
)
_FOUND = "{path}:{n}:    {a} = {b}.{c}({d})"
_USAGE = {
    "input_tokens": 4,
    "cache_creation_input_tokens": 1801,
    "cache_read_input_tokens": 44_210,
    "output_tokens": 97,
}

__all__ = ["grow", "make_events", "make_sessions", "make_short_sessions", "make_transcript"]


class _Step(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happens in a session: words, a thought, or a call with its answer."""

    what: str
    text: str = ""
    tool: str = ""
    arguments: dict[str, Any] = {}
    answer: str = ""
    failed: bool = False


def make_sessions(home: Path, root: Path, number: int, seed: str) -> list[Path]:
    """As many sessions that ran in the repository, below `.claude/projects/` and `.codex/sessions/`; their files."""
    made = []
    for at in range(number):
        chance = random.Random(f"{seed} {at}")
        begin = BEGIN + timedelta(minutes=37 * at)
        name = str(uuid.UUID(int=chance.getrandbits(128), version=4))
        is_codex = at % CODEX_SHARE == CODEX_SHARE - 1
        lines = _codex_lines if is_codex else _claude_lines
        path = _codex_path(home, name, begin) if is_codex else _claude_path(home, root, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_joined(lines(chance, root, name, begin, chance.randint(*LINES))))
        made.append(path)
    return made


def grow(path: Path, root: Path, seed: str) -> None:
    """Go on with a session: a few lines more at its end."""
    chance = random.Random(f"{seed} {path.name}")
    is_codex = path.name.startswith("rollout-")
    lines = _codex_lines if is_codex else _claude_lines
    with path.open("ab") as file:
        file.write(_joined(lines(chance, root, path.stem[-36:], BEGIN + timedelta(days=60), 12, is_new=False)))


def make_short_sessions(home: Path, numbers: range) -> None:
    """Sessions of two lines, a question and an answer, below `.claude/transcripts/`; too young for any archive."""
    begin = datetime.now(UTC) - timedelta(days=3)
    folder = home / ".claude" / "transcripts"
    folder.mkdir(parents=True, exist_ok=True)
    for at in numbers:
        chance = random.Random(at)
        moment = time_text(begin + timedelta(seconds=20 * at))
        said = {"user": _filled(chance, _ASKED), "assistant": _closing(chance)}
        lines = [
            {"type": role, "timestamp": moment, "message": {"role": role, "content": text}}
            for role, text in said.items()
        ]
        (folder / f"s{at:05}.jsonl").write_bytes(_joined(iter(lines)))


def make_transcript(path: Path, root: Path, size: int) -> int:
    """One session of Claude Code with at least as many bytes; how many lines it has."""
    number = 0
    name = str(uuid.UUID(int=7))
    chance = random.Random(size)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        while file.tell() < size:
            for line in _claude_lines(chance, root, name, BEGIN + timedelta(seconds=number), 1_000, is_new=not number):
                file.write(msgspec.json.encode(line) + b"\n")
                number += 1
    return number


def make_events(number: int, seed: str, source: str = "claude-local-claude") -> Iterator[JournalEvent]:
    """What is left of sessions once they are imported."""
    chance = random.Random(seed)
    for at in range(number):
        name = str(uuid.UUID(int=chance.getrandbits(128), version=4))
        yield JournalEvent(
            id=f"evt-{at + 2:06}",
            kind="imported_session",
            source_id=source,
            external_item_id=name,
            created_at=time_text(BEGIN + timedelta(minutes=13 * at)),
            content_hash=f"{chance.getrandbits(256):064x}",
            summary=f"{_filled(chance, _ASKED)} {_prose(chance, (8, 24))}",
            signals=Signals(
                decisions=tuple(_filled(chance, _DECISIONS) for _ in range(chance.choice((0, 1, 1, 2)))),
                gotchas=tuple(_filled(chance, _GOTCHAS) for _ in range(chance.choice((0, 0, 1)))),
                next_step_hints=tuple(f"NEXT: {_filled(chance, _STEPS)}" for _ in range(chance.choice((0, 1)))),
                key_paths=tuple(_path(chance) for _ in range(chance.randint(1, 4))),
                validation_observations=("pytest -q: passed (42 passed)",) if chance.random() < 0.5 else (),
            ),
            source_ref=f"~/.claude/projects/-work/{name}.jsonl",
        )


# -- what happens ---------------------------------------------------------------------------------


def _steps(chance: random.Random, root: Path, lines: int) -> Iterator[_Step]:
    """Requests and the work on them, until there are about so many lines; and a closing word."""
    left = lines
    while left > 0:
        yield _Step(what="user", text=f"{_filled(chance, _ASKED)} {_prose(chance, (0, 30))}".strip("."))
        left -= 1
        for _ in range(chance.randint(2, 6)):
            if chance.random() < 0.5:
                yield _Step(what="thinking", text=_prose(chance, (30, 120)))
                left -= 1
            if chance.random() < 0.4:
                yield _Step(what="assistant", text=_prose(chance, (8, 30)))
                left -= 1
            yield _call(chance, root)
            left -= 2
        yield _Step(what="assistant", text=_closing(chance))
        left -= 1


def _closing(chance: random.Random) -> str:
    told = [_filled(chance, _DECISIONS), _prose(chance, (10, 40))]
    told += [_filled(chance, _GOTCHAS)] if chance.random() < 0.4 else []
    told += [_filled(chance, _STEPS)] if chance.random() < 0.5 else []
    return "\n\n".join(told)


def _call(chance: random.Random, root: Path) -> _Step:
    path = _path(chance)
    where = str(root / path)
    tool = chance.choice(("Read", "Read", "Grep", "Edit", "Bash", "Bash"))
    if tool == "Read":
        code = enumerate(_code(chance, (20, 160)), start=1)
        answer = "\n".join(f"{at:6}→{line}" for at, line in code)
        return _Step(what="call", tool=tool, arguments={"file_path": where}, answer=answer)
    if tool == "Grep":
        arguments = {"pattern": chance.choice(WORDS), "path": str(root), "output_mode": "content"}
        answer = "\n".join(_filled(chance, (_FOUND,)) for _ in range(chance.randint(1, 30)))
        return _Step(what="call", tool=tool, arguments=arguments, answer=answer)
    if tool == "Edit":
        old, new = ("\n".join(_code(chance, (2, 12))) for _ in range(2))
        arguments = {"file_path": where, "old_string": old, "new_string": new}
        answer = f"The file {where} has been updated. Here's the result of running `cat -n` on a snippet:\n{new}"
        return _Step(what="call", tool=tool, arguments=arguments, answer=answer)
    failed = chance.random() < 0.25
    passed = chance.randint(20, 400)
    names = "\n".join(f"tests/test_{_path(chance)[4:].replace('/', '_')} ....." for _ in range(chance.randint(1, 25)))
    ending = f"{1 if failed else 0} failed, {passed} passed in {chance.random() * 9:.2f}s" if failed else ""
    answer = f"{names}\n\n{ending or f'{passed} passed in {chance.random() * 9:.2f}s'}"
    arguments = {"command": f"python -m pytest -q {path}", "description": "Run the tests"}
    return _Step(what="call", tool="Bash", arguments=arguments, answer=answer, failed=failed)


def _code(chance: random.Random, lines: tuple[int, int]) -> list[str]:
    return [_filled(chance, _CODE) for _ in range(chance.randint(*lines))]


def _path(chance: random.Random) -> str:
    return f"src/{chance.choice(_PARTS)}/{chance.choice(WORDS)}_{chance.choice(WORDS)}.py"


def _filled(chance: random.Random, forms: tuple[str, ...]) -> str:
    words, weights = _things()
    a, b, c, d = chance.choices(words, cum_weights=weights, k=4)
    return chance.choice(forms).format(a=a, b=b, c=c, d=d, n=chance.randint(1, 500), path=_path(chance))


@functools.cache
def _things() -> tuple[list[str], list[float]]:
    """What sessions are about: those of this project first, and words that are neither stop words nor rare."""
    words = [*WORDS, *vocabulary()[300:4_000]]
    return words, list(itertools.accumulate(1 / (rank + 20) for rank in range(len(words))))


# -- how it is written down -----------------------------------------------------------------------


def _joined(lines: Iterator[dict[str, Any]]) -> bytes:
    return b"".join(msgspec.json.encode(line) + b"\n" for line in lines)


def _claude_path(home: Path, root: Path, name: str) -> Path:
    return home / ".claude" / "projects" / encoded_folder(str(root)) / f"{name}.jsonl"


def _codex_path(home: Path, name: str, begin: datetime) -> Path:
    return home / ".codex" / "sessions" / f"{begin:%Y/%m/%d}" / f"rollout-{begin:%Y-%m-%dT%H-%M-%S}-{name}.jsonl"


def _claude_lines(
    chance: random.Random, root: Path, name: str, begin: datetime, lines: int, *, is_new: bool = True
) -> Iterator[dict[str, Any]]:
    clock = _clock(begin)
    common = {"isSidechain": False, "userType": "external", "cwd": str(root), "sessionId": name, "version": "2.0.14"}
    parent = None

    def line(kind: str, message: dict[str, Any], **more: Any) -> dict[str, Any]:
        nonlocal parent
        own, before = _id(chance), parent
        parent = own
        found = {"parentUuid": before, **common, "gitBranch": "main", "type": kind, "message": message}
        return {**found, "uuid": own, "timestamp": next(clock), **more}

    def said(block: dict[str, Any]) -> dict[str, Any]:
        message: dict[str, Any] = {
            "model": "claude-sonnet-4-5-20250929",
            "id": f"msg_{_token(chance)}",
            "type": "message",
        }
        message |= {"role": "assistant", "content": [block], "stop_reason": None, "usage": _USAGE}
        return line("assistant", message, requestId=f"req_{_token(chance)}")

    if is_new:
        backups: dict[str, Any] = {"messageId": _id(chance), "trackedFileBackups": {}, "timestamp": next(clock)}
        yield {"type": "file-history-snapshot", "messageId": backups["messageId"], "snapshot": backups}
    for step in _steps(chance, root, lines - 1):
        if step.what == "user":
            yield line("user", {"role": "user", "content": step.text})
        elif step.what == "thinking":
            yield said({"type": "thinking", "thinking": step.text, "signature": _signature(chance)})
        elif step.what == "assistant":
            yield said({"type": "text", "text": step.text})
        else:
            call = f"toolu_{_token(chance)}"
            yield said({"type": "tool_use", "id": call, "name": step.tool, "input": step.arguments})
            block = {"tool_use_id": call, "type": "tool_result", "content": step.answer, "is_error": step.failed}
            yield line("user", {"role": "user", "content": [block]}, toolUseResult=_structured(step))


def _structured(step: _Step) -> Any:
    """The answer once more, as the program that drew it on the screen had it."""
    if step.tool == "Read":
        file = {"filePath": step.arguments["file_path"], "content": step.answer, "startLine": 1}
        return {"type": "text", "file": {**file, "numLines": step.answer.count("\n") + 1}}
    if step.tool == "Edit":
        named = {"filePath": step.arguments["file_path"], "oldString": step.arguments["old_string"]}
        return {**named, "newString": step.arguments["new_string"], "userModified": False, "replaceAll": False}
    if step.tool == "Grep":
        return {"mode": "content", "numFiles": 0, "content": step.answer, "numLines": step.answer.count("\n") + 1}
    return {"stdout": step.answer, "stderr": "", "interrupted": False, "isImage": False}


def _codex_lines(
    chance: random.Random, root: Path, name: str, begin: datetime, lines: int, *, is_new: bool = True
) -> Iterator[dict[str, Any]]:
    clock = _clock(begin)

    def line(kind: str, payload: dict[str, Any]) -> dict[str, Any]:
        return {"timestamp": next(clock), "type": kind, "payload": payload}

    def message(role: str, kind: str, text: str) -> dict[str, Any]:
        content = [{"type": kind, "text": text}]
        return line("response_item", {"type": "message", "role": role, "content": content})

    if is_new:
        meta = {"id": name, "timestamp": time_text(begin), "cwd": str(root), "originator": "codex_cli_rs"}
        yield line("session_meta", {**meta, "cli_version": "0.46.0", "instructions": None, "git": {"branch": "main"}})
        context = f"<environment_context>\n  <cwd>{root}</cwd>\n  <shell>bash</shell>\n</environment_context>"
        yield message("user", "input_text", context)
    # Most of what happens takes more lines here.
    for step in _steps(chance, root, lines * 2 // 3):
        if step.what == "user":
            yield message("user", "input_text", step.text)
            yield line("event_msg", {"type": "user_message", "message": step.text, "kind": "plain"})
            yield line("turn_context", {"cwd": str(root), "approval_policy": "on-request", "model": "gpt-5-codex"})
        elif step.what == "thinking":
            hidden: dict[str, Any] = {"summary": [], "content": None, "encrypted_content": _signature(chance)}
            yield line("response_item", {"type": "reasoning", **hidden})
        elif step.what == "assistant":
            yield line("event_msg", {"type": "agent_message", "message": step.text})
            yield message("assistant", "output_text", step.text)
        else:
            call = f"call_{_token(chance)}"
            command = step.arguments.get("command") or f"sed -n 1,160p {step.arguments.get('file_path', 'src')}"
            arguments = msgspec.json.encode({"command": ["bash", "-lc", command], "workdir": str(root)}).decode()
            yield line(
                "response_item", {"type": "function_call", "name": "shell", "arguments": arguments, "call_id": call}
            )
            told = {"output": step.answer, "metadata": {"exit_code": int(step.failed), "duration_seconds": 0.4}}
            answer = {"type": "function_call_output", "call_id": call, "output": msgspec.json.encode(told).decode()}
            yield line("response_item", answer)
            yield line("event_msg", {"type": "token_count", "info": {"total_token_usage": _USAGE}})


def _clock(begin: datetime) -> Iterator[str]:
    while True:
        yield time_text(begin)
        begin += timedelta(seconds=7)


def _id(chance: random.Random) -> str:
    return str(uuid.UUID(int=chance.getrandbits(128), version=4))


def _token(chance: random.Random) -> str:
    return f"01{chance.getrandbits(110):028x}"


def _signature(chance: random.Random) -> str:
    return _signatures()[chance.randrange(64)]


@functools.cache
def _signatures() -> list[str]:
    chance = random.Random("signatures")
    return [base64.b64encode(chance.randbytes(chance.randint(200, 900))).decode() for _ in range(64)]
