"""Targets: sessions of agents and what is heard in them, conversations, documents, files of hosts, repositories."""

from __future__ import annotations

import functools
import json
import os
import shutil
from collections.abc import Callable
from typing import Any

from fuzz_engine import Target
from fuzz_samples import ADR, DESIGN, HEAD, HOSTS, NOTE, REPOSITORY, SAID, SESSIONS
from fuzz_yard import as_text, home, put, root, world

from quire.capture.candidates import bare_text, open_question, parse_candidate
from quire.capture.compaction import compact
from quire.capture.conversation import read_conversation
from quire.capture.design_documents import read_design_document
from quire.capture.front_matter import read_front_matter
from quire.capture.hosts.adr_document import read_adr_document
from quire.capture.hosts.registry import find_hosts, read_host
from quire.capture.markdown import fields_of, open_items, sections_of
from quire.capture.message import text_of
from quire.capture.quotable_text import quote, safe_text, sentences
from quire.capture.repository.bundle import build_bundle
from quire.capture.repository.scan import scan_repository, scan_value
from quire.capture.session_proposals import propose_session
from quire.capture.signals.extraction import extract
from quire.capture.summariser import entries_of
from quire.capture.summary_parser import is_from_later_version, read_summary
from quire.capture.transcripts.claude import encoded_folder
from quire.capture.transcripts.discovery import discover
from quire.capture.transcripts.machine_text import is_own_call, is_own_script, without_additions, without_own
from quire.capture.transcripts.original_hash import original_content_hashes
from quire.capture.transcripts.read_session import read
from quire.capture.transcripts.redaction import kept_result, kept_text, redacted
from quire.capture.transcripts.types import SessionFile, Turn
from quire.files.git import Git
from quire.guard.secrets import find_secrets
from quire.layers.journal.shapes import bundle_faults
from quire.model.errors import QuireError
from quire.model.text import plain_newlines

__all__ = ["TARGETS"]

_AT = "2026-05-01T08:00:00Z"

# -- sessions -----------------------------------------------------------------------------------------------------


def _session(kind: str, name: str, data: bytes) -> object:
    """A session is read, read again from each half, found in its folder, proposed from and heard."""
    path = put(f"~/sessions/{kind}/{name}", data)
    if kind == "opencode-local":
        path = _opencode(data)
    session = SessionFile(source_type=kind, external_id="s", path=path)
    reading = read(session, root=root(), home=home())
    turns = list(reading)
    for turn in turns:
        turn.text.encode()
        assert turn.role in ("user", "assistant", "tool", "system"), turn.role
        assert not any(one.certain for one in find_secrets(turn.text)), "a secret came through"
        assert not any(os.path.isabs(path) for path in turn.paths), "an absolute path came through"
    if reading.next_offset:
        rest = list(read(session, reading.next_offset, root=root(), home=home(), content_hash=reading.content_hash))
        assert rest == [], "read again from its end, there is more"
    found = [item.external_id for item in discover(kind, os.path.dirname(path))]
    hashes = original_content_hashes(session)
    proposed = propose_session(session, client="claude", root=root(), home=home(), now=_AT)
    return turns, reading.bad_lines, reading.content_hash, found, hashes, proposed.proposals


def _opencode(data: bytes) -> str:
    """That program keeps a session in many files: the lines of the input are about it, a message, and its parts."""
    about, message, *parts = [*data.split(b"\n"), b"", b""]
    shutil.rmtree(os.path.join(home(), "opencode"), ignore_errors=True)
    put("~/opencode/storage/message/s/msg_1.json", message)
    for number, part in enumerate(parts[:20]):
        put(f"~/opencode/storage/part/msg_1/prt_{number:02}.json", part)
    return put("~/opencode/storage/session/p/s.json", about)


def _signals(data: bytes) -> object:
    """Every line is a turn: of the user where it begins with `>`, a call with `$`, what failed with `!`."""
    roles = {">": "user", "!": "tool"}
    turns = [
        Turn(
            role=roles.get(line[:1], "assistant"),
            text=line.lstrip(">!$ "),
            is_error=line.startswith("!"),
            tool="Bash" if line[:1] in ("$", "!") else "",
        )
        for line in data.decode("utf-8", "replace").split("\n")
    ]
    return extract(turns, root="/w")


def _texts(said: str) -> object:
    shown, count = redacted(said)
    assert not count or shown != said
    again, more = redacted(shown)
    assert (again, more) == (shown, 0), "what was taken out is still there"
    own = without_own(said)
    kept = kept_text(said, 100), kept_result(said, 100), quote(said, 80), safe_text(said, 80), list(sentences(said))
    return kept, own, without_additions(said, "user"), is_own_call("Bash", said, (said[:50],)), is_own_script(said)


# -- conversations and documents ----------------------------------------------------------------------------------


def _conversation(data: bytes) -> object:
    found = read_conversation(data, "The input")
    done = compact(found.messages, keep_turns=1)
    again = read_conversation(json.dumps([message.raw for message in found.messages]).encode(), "The input")
    assert again.messages == list(found.messages), "a message is read otherwise the second time"
    return found, done


def _candidate(data: bytes) -> object:
    from quire.files.json_files import parse_strict

    candidate = parse_candidate(parse_strict(data.decode("utf-8", "replace"), "The input"))
    bare = bare_text(candidate.content, candidate.kind, candidate.artifact)
    return candidate, bare, open_question(bare)


def _document(data: bytes) -> object:
    said = data.decode("utf-8", "replace")
    head = read_front_matter(said, "docs/x.md")
    text = plain_newlines(said)
    lines = text.split("\n")
    read_one = read_design_document("docs/x.md", data), read_adr_document(text, "docs/adr/0001-x.md")
    return head, sections_of(text), fields_of(lines), open_items(lines, nested=True), read_one


def _summaries() -> list[bytes]:
    """What a compaction writes."""
    talk = [
        {"role": ("user", "assistant")[turn % 2], "content": f"{turn}. " + "The queue moves. " * 90}
        for turn in range(9)
    ]
    told = json.dumps([*talk, {"role": "user", "content": "Decision: use Redis."}]).encode()
    done = compact(read_conversation(told, "The input").messages, keep_turns=1)
    found = [text_of(message.get("content")).encode() for message in done.messages]
    assert any(b"quire:summary" in text for text in found)
    return [text for text in found if b"quire:summary" in text]


def _summary(said: str) -> object:
    return read_summary(said), is_from_later_version(said), entries_of(said)


# -- files of hosts -----------------------------------------------------------------------------------------------


def _host(kind: str, path: str, data: bytes) -> object:
    path = path.replace("HERE", encoded_folder(root()))
    file = put(path, data.replace(b"HERE", root().encode()))
    try:
        found = []
        for source in find_hosts(root(), home(), {"HOME": home()}, [kind]):
            read_one = read_host(source, root(), home(), _AT)
            for proposal in read_one.proposals:
                proposal.text.encode()
                assert not any(one.certain for one in find_secrets(proposal.text)), "a secret is proposed"
            assert all(problem.message for problem in read_one.problems)
            found.append(read_one)
        return found
    finally:
        os.unlink(file)


# -- repositories -------------------------------------------------------------------------------------------------


def _repository(path: str, data: bytes) -> object:
    top = os.path.join(home(), "scanned")
    files = {"README.md": b"# X\n", "src/a.py": b"x = 1\n", "package.json": b'{"name":"x"}', path: data}
    for name, held in files.items():
        put(f"~/scanned/{name}", held)
    try:
        git = Git(top, world().env)
        scan = scan_repository(top, git)
        bundle = build_bundle(scan, git)
        faults = bundle_faults(bundle)
        assert not faults, f"a bundle of its own that is none: {faults}"
        return scan_value(scan), bundle
    finally:
        shutil.rmtree(top, ignore_errors=True)


_READERS = {
    kind: f"capture.hosts.{kind.replace('-', '_')}"
    for kind in ("claude-memory", "cline-memory-bank", "codex-memories", "serena", "mcp-memory", "basic-memory", "adr")
} | {"beads": "capture.hosts.beads", "okf": "capture.hosts.okf"}


def _of(use: Callable[..., object], *given: Any) -> Callable[[bytes], object]:
    return functools.partial(use, *given)


TARGETS: tuple[Target, ...] = (
    *(
        Target(
            f"session-{kind}",
            _of(_session, kind, name),
            functools.partial(lambda seed: [seed], seed),
            f"capture.transcripts.{kind.partition('-')[0] if kind.endswith('-local') else 'exports'} "
            "capture.transcripts.read_session capture.transcripts.lines capture.transcripts.parser "
            "capture.transcripts.lenient_json capture.transcripts.tools capture.transcripts.places "
            "capture.transcripts.original_hash capture.transcripts.gemini capture.session_proposals capture.headline",
            (QuireError,),
            cost=10,
        )
        for kind, name, seed in SESSIONS
    ),
    Target(
        "signals",
        _signals,
        lambda: [SAID, NOTE],
        "capture.signals.commands capture.signals.confirmed capture.signals.cues capture.signals.features "
        "capture.signals.options capture.signals.outcomes capture.signals.paths "
        "capture.signals.sentences capture.signals.speeches capture.signals.standing_rules "
        "capture.signals.validation capture.signals.words",
        most=2500,
        cost=12,
    ),
    Target(
        "session-texts",
        as_text(_texts),
        lambda: [
            b"password: hunter2hunter2 ghp_0123456789abcdefghijABCDEFGHIJ012345",
            b"memory query 'x'\n<memory>a</memory>",
        ],
        "capture.transcripts.redaction capture.transcripts.machine_text capture.quotable_text",
        most=3000,
        cost=3,
    ),
    Target(
        "conversation",
        _conversation,
        lambda: [
            b'{"messages":[{"role":"user","content":"Why?"},{"role":"assistant","content":[{"type":"text","text":"x"},{"type":'
            b'"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}]},{"role":"user","content":[{"type":"tool_result",'
            b'"tool_use_id":"t","content":"Error: no"}]},{"role":"assistant","content":"Decision: y."}]}',
            b'{"role":"user","content":"a"}\n{"role":"tool","tool_call_id":"c","content":"exit code 1"}\n',
        ],
        "capture.conversation capture.message capture.summary capture.summary_form",
        (QuireError,),
        cost=3,
    ),
    Target(
        "candidate",
        _candidate,
        lambda: [
            b'{"kind":"design-decision","authority":"explicit","section":"Decisions","content":"Use Redis.","artifact":'
            b'{"type":"design-node","path":"docs/x.md","subRef":"a"},"supersedes":"Ab3"}'
        ],
        "capture.candidates",
        (QuireError,),
    ),
    Target(
        "documents",
        _document,
        lambda: [DESIGN, ADR, HEAD + NOTE],
        "capture.front_matter capture.design_documents capture.markdown capture.hosts.adr_document",
        (QuireError,),
    ),
    Target(
        "summary",
        as_text(_summary),
        lambda: [b"## Decisions\n- [3] user: use Redis\n## Next\n- x\n", *_summaries()],
        "capture.summary_parser capture.summariser",
    ),
    *(
        Target(
            f"host-{kind}",
            _of(_host, kind, path),
            functools.partial(lambda seed: [seed], seed),
            f"{_READERS.get(kind, 'capture.hosts.instructions')} capture.hosts.documents capture.hosts.items "
            "capture.hosts.topics capture.hosts.sections capture.hosts.proposal_collector capture.hosts.text_anchors "
            "capture.hosts.structured_proposals capture.hosts.structured_files capture.hosts.imports "
            "capture.hosts.instructions",
            (QuireError,),
            cost=10,
        )
        for kind, path, seed in HOSTS
    ),
    *(
        Target(
            f"repository-{path.rpartition('/')[2].lstrip('.').lower()}",
            _of(_repository, path),
            functools.partial(lambda seed: [seed], seed),
            "capture.repository.manifests capture.repository.documents capture.repository.readme "
            "capture.repository.pages capture.repository.traps capture.repository.next_steps "
            "capture.repository.scripts capture.repository.top_comments "
            "capture.repository.architecture capture.repository.clean_text capture.repository.focus "
            "capture.repository.entrypoints capture.repository.consolidation capture.repository.tree "
            "capture.repository.scan",
            (QuireError,),
            cost=20,
        )
        for path, seed in REPOSITORY
    ),
)
