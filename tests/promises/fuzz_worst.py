"""Worst cases for patterns: everything that looks at text from outside, and what a text is made of to make it slow."""

from __future__ import annotations

import time
from collections.abc import Callable

from fuzz_engine import beat
from fuzz_texts import _question as question

from quire.anchors.path_match import covers, pattern_fault
from quire.anchors.python_symbols import read_python
from quire.capture.design_documents import read_design_document
from quire.capture.front_matter import read_front_matter
from quire.capture.hosts.adr_document import read_adr_document
from quire.capture.hosts.items import items_of
from quire.capture.hosts.topics import is_order, labelled, subject_of
from quire.capture.markdown import fields_of, open_items, sections_of
from quire.capture.providers.call import value_in
from quire.capture.quotable_text import quote, safe_text, sentences
from quire.capture.repository.clean_text import plain, sentence_of
from quire.capture.repository.readme import page_sections, paragraphs
from quire.capture.repository.scripts import _read_targets as read_targets
from quire.capture.repository.scripts import plain_words
from quire.capture.repository.traps import sorted_sentences
from quire.capture.signals.commands import checks_in
from quire.capture.signals.extraction import extract
from quire.capture.signals.outcomes import outcome_of
from quire.capture.summariser import entries_of
from quire.capture.summary_parser import read_summary
from quire.capture.transcripts.machine_text import is_own_script, without_additions, without_own
from quire.capture.transcripts.places import shown_text
from quire.capture.transcripts.redaction import redacted
from quire.capture.transcripts.types import KnownPlaces, Turn
from quire.clients.hooks.read_event import patched_files
from quire.clients.integration.manifest import _words_of_others as words_of_others
from quire.files.byte_edits import find_edits
from quire.files.jsonc_edit import set_member
from quire.files.jsonc_parser import read_jsonc
from quire.files.marked_sections import Markers, find_section, place_section, remove_section
from quire.files.toml_scanner import scan_toml
from quire.guard.effects import effects_of
from quire.guard.hostile_text import find_hostile, make_safe, without_unseen
from quire.guard.prompt_attacks import find_instructions
from quire.guard.secrets import find_secrets
from quire.inbox.proposals import value_digest
from quire.inbox.rejections import Rejection, Rejections
from quire.index.vector_table import embedder
from quire.layers.facts.lines import read_lines
from quire.layers.graph.checks import _FENCE as BODY_FENCE
from quire.layers.graph.checks import _H1 as BODY_TITLE
from quire.layers.graph.damage import conflict_line
from quire.layers.journal.dedupe import dedupe_texts
from quire.layers.journal.entry_block import entry_marker, place_entry, remove_entry, render_entry
from quire.layers.journal.events import read_history
from quire.layers.journal.line_diff import diff_lines
from quire.layers.journal.projections import projection_marker
from quire.layers.journal.text_match import normal_text, topic_of
from quire.layers.profile.document import _refuse_damage as refuse_damage
from quire.model import ids, refs, seals, text, times, tokens
from quire.model.errors import QuireError
from quire.retrieval.answer_lines import cut_body
from quire.surfaces.mcp.wire import unread
from quire.surfaces.web.prose import prose_of
from quire.upkeep.views.text_diff import compare

__all__ = ["FAMILIES", "KEPT", "PUMPS", "allowed", "harmless_text", "pumped", "took"]

_MARKS = Markers("<!-- memory:start -->", "<!-- memory:end -->")
_REJECTED = Rejection(value="Use Redis for the queue.", rejected_at="2026-03-02T11:19:00Z")
_REJECTIONS = Rejections({_REJECTED.id: _REJECTED})

BEHIND = "⟶"
"""What stands before it is the beginning alone; what stands behind it is repeated."""
PUMPS: tuple[str, ...] = (
    *(
        f"{begin}{BEHIND}{run}"
        for begin in ("# a", "## a", "- a", "1. a", "> a", "**a", "a:", "[a")
        for run in " \t#*:"
    ),
    *(
        "a",
        "a ",
        "a.",
        "a-",
        "a_",
        "A1",
        "0",
        "0.",
        " ",
        "\t",
        "\n",
        "\r",
        "\n\n",
        "\u00e9",
        "\u4e2d",
        "\u202e",
        "\u200b",
    ),
    *(
        "-",
        "--",
        "=",
        "=\n",
        "_",
        "*",
        "**",
        "`",
        "``",
        "```\n",
        "~~~\n",
        "#",
        "# a\n",
        "> ",
        "- ",
        "- a\n",
        "1. ",
        "|",
        "|a",
    ),
    *(
        "(",
        ")",
        "[",
        "]",
        "[a](",
        "![a](",
        "[[",
        "{",
        "}",
        "{a,",
        "<",
        "<a ",
        "</",
        "<!--",
        "<!-- ",
        "-->",
        "&",
        "&#1;",
    ),
    *(
        "'",
        '"',
        '"a',
        "\\",
        "\\\\",
        "/",
        "//",
        "/*",
        "../",
        "a/",
        "**/",
        "*a",
        "?(",
        "+(a|",
        "!(a)",
        "[!a",
        "@",
        "a@a",
        ":",
    ),
    *(
        ": ",
        "a: ",
        "a:\n",
        "://",
        "http://",
        "http://a:b@",
        "%41",
        "%",
        "$",
        "$(",
        "!",
        "?",
        "! ",
        ". ",
        ".\n",
        ", ",
        "; ",
    ),
    *(
        "AKIA",
        "ghp_",
        "eyJ",
        "eyJhbGciOiJI.",
        "Bearer ",
        "Authorization: ",
        "password=",
        "secret: '",
        "key = ",
        "token ",
    ),
    *("-----BEGIN ", "-----BEGIN PRIVATE KEY-----\n", "xoxb-", "curl -u a:", "aB3", "aB3+/", "QUJD", "ignore all "),
    *(
        "because ",
        "that is why ",
        "decision: ",
        "next: ",
        "use ",
        "should ",
        "we ",
        "fails ",
        "test ",
        "1 failed, ",
        "no, ",
    ),
    *("---\n", "---\na: ", "a: [", "a: |\n  ", "**Status:** ", "<!-- memory:start -->\n", "<!-- memory:end -->\n"),
    *(
        "<!-- agent-memory:entry ",
        "<!-- agent-memory:entry end -->",
        "<<<<<<< a\n",
        ">>>>>>> a\n",
        "*** Update File: a\n",
    ),
    *(
        '{"a":',
        "[1,",
        '"id": "',
        '"\\"',
        "since ",
        "seit ",
        "2026-03-02 ",
        "retryQueue",
        "retry_queue ",
        "memory query ",
    ),
    *(
        "<system>",
        "</system-reminder>",
        "[INST]",
        "x = 1\n",
        "def f(): pass\n",
        "\n- [ ] a",
        "a\\\n",
        "\n  a: b",
        "    a\n",
    ),
)
"""What is repeated: openings without an end, separators, beginnings of what a pattern looks for."""


KEPT: tuple[str, ...] = (f"# a{BEHIND} ", " ", "-", "=", "```\n", "[", "\t", "password=", "<!-- memory:start -->\n")
"""What took the square of its length in some pattern, or nearly; tried in every run."""


def _bytes(use: Callable[[bytes], object]) -> Callable[[str], object]:
    return lambda said: use(said.encode("utf-8", "surrogateescape"))


def _refusing(use: Callable[[str], object]) -> Callable[[str], object]:
    def run(said: str) -> object:
        try:
            return use(said)
        except (ValueError, QuireError, RecursionError):
            return None

    return run


def _block(said: str) -> object:
    data = said.encode("utf-8", "replace")
    placed = place_entry(data, render_entry("0"))
    return entry_marker(data), remove_entry(placed)


def _placed(said: str) -> object:
    data = said.encode("utf-8", "replace")
    if find_section(data, _MARKS).state == "damaged":
        return None
    return remove_section(place_section(data, _MARKS, "x"), _MARKS)


def _halves(use: Callable[[str, str], object]) -> Callable[[str], object]:
    return lambda said: use(said[: len(said) // 2], said[len(said) // 2 + 1 :])


FAMILIES: dict[str, Callable[[str], object]] = {
    "slug": lambda said: ids.slugify(said, lambda _text: "0123"),
    "ids": _refusing(lambda said: (ids.is_id(said), refs.parse_ref(said))),
    "times": lambda said: (times.instant(said), times.is_timestamp(said), seals.parse_seal(said)),
    "first sentence": lambda said: (text.first_sentence(said), text.has_front_matter(said), text.one_line(said)),
    "tokens": tokens.count_tokens,
    "question": lambda said: question(said[:20_000]),
    "embedding": lambda said: embedder().embed(said),
    "secrets": find_secrets,
    "redaction": redacted,
    "effects": effects_of,
    "instructions": find_instructions,
    "hostile signs": lambda said: (find_hostile(said), make_safe(said), without_unseen(said)),
    "prose": prose_of,
    "cut body": lambda said: cut_body(said, 100, tokens.count_tokens),
    "glob": lambda said: (pattern_fault(said), covers(said, "src/a/b.py")),
    "glob path": lambda said: [covers(glob, said) for glob in ("**/*a*b*.py", "+(a|aa)/**", "!(*a*)*b", "{a,b}*/**/c")],
    "section": _placed,
    "entry block": _block,
    "page marker": projection_marker,
    "sections of others": _bytes(words_of_others),
    "jsonc": _refusing(read_jsonc),
    "jsonc edit": _refusing(lambda said: set_member('{"a": "' + said.replace('"', "'") + '"}', ("b",), 1)),
    "toml": _refusing(scan_toml),
    "facts": _bytes(read_lines),
    "history": lambda said: list(read_history(said.encode("utf-8", "replace")).ids()),
    "conflict": _bytes(conflict_line),
    "profile damage": _refusing(lambda said: refuse_damage(said.encode("utf-8", "replace"), "x")),
    "body": lambda said: BODY_TITLE.findall(BODY_FENCE.sub("", said)),
    "front matter": lambda said: read_front_matter(said, "x.md"),
    "design document": lambda said: read_design_document("x.md", said.encode("utf-8", "replace")),
    "decision record": lambda said: read_adr_document(said, "docs/adr/1-x.md"),
    "markdown": lambda said: (
        sections_of(said),
        fields_of(said.split("\n")),
        open_items(said.split("\n"), nested=True),
    ),
    "host items": lambda said: (items_of(said.split("\n"), 1), labelled(said), is_order(said), subject_of((said,))),
    "readme": lambda said: [list(paragraphs(section.lines)) for section in page_sections(said)],
    "wording": lambda said: (plain(said), sentence_of(said), sorted_sentences(said)),
    "automation": lambda said: (plain_words(said), read_targets(said)),
    "answer of a model": value_in,
    "patch": patched_files,
    "quoting": lambda said: (quote(said, 200), safe_text(said, 500), list(sentences(said))),
    "summary": lambda said: (read_summary(f"<!-- quire:summary version=1 -->\n{said}"), entries_of(said)),
    "echoes": lambda said: (without_own(said), without_additions(said, "user"), is_own_script(said)),
    "places": lambda said: shown_text(said, KnownPlaces("/w", "/home/x")),
    "commands": lambda said: (checks_in(said), outcome_of(said, failed=True)),
    "said by a user": lambda said: extract([Turn(role="user", text=said)]),
    "said by an agent": lambda said: extract([Turn(role="user", text="Why?"), Turn(role="assistant", text=said)]),
    "rejection": lambda said: (_REJECTIONS.match(said), _REJECTIONS.without(said), value_digest(said)),
    "journal words": lambda said: (normal_text(said), topic_of(said), dedupe_texts(said.split("\n")[:200])),
    "line difference": _halves(lambda one, two: diff_lines(one, two, "x")),
    "difference": _halves(
        lambda one, two: compare("x", one.encode("utf-8", "replace"), two.encode("utf-8", "replace"))
    ),
    "splices": _halves(lambda one, two: find_edits(one.encode("utf-8", "replace"), two.encode("utf-8", "replace"))),
    "message": _bytes(unread),
    "python": _bytes(read_python),
}
_HARMLESS = (
    "The retry queue runs in the worker, since requests end early. It was 3 of 40 jobs.\n\nSee src/queue.py for it.\n"
)


def pumped(pump: str, size: int) -> str:
    """So many characters of it behind its beginning, and a sign at the end that fits nothing."""
    begin, _, part = pump.rpartition(BEHIND)
    return (begin + part * (size // len(part) + 1))[: size - 1] + "\x01"


def took(use: Callable[[str], object], said: str, *, tries: int = 1) -> float:
    """The shortest time of several."""
    best = 1e9
    for _ in range(tries):
        begun = time.thread_time()
        use(said)
        best = min(best, time.thread_time() - begun)
    return best


def harmless_text(size: int) -> str:
    return (_HARMLESS * (size // len(_HARMLESS) + 1))[:size]


def allowed(harmless: float, size: int) -> float:
    """What a worst case may take: sixty times the harmless text, or what any text of this size may take anyway."""
    return max(60 * harmless, 200 * beat() * size / 65_536)
