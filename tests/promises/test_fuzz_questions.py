"""Questions that are none, that do not end, or that are all syntax: a defined answer from every verb that is asked."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from fuzz_worst import took
from fuzz_yard import root, world

from promised import proves, tally
from quire.model.errors import InputError
from quire.project import Project
from quire.verbs.ask.answers import answer_question
from quire.verbs.facts.recall import Recall, find_facts
from quire.verbs.journal.query import JournalQuery, journal_query
from quire.verbs.profile.search import SearchEntries, search_entries

ASKED: dict[str, Callable[[Project, str], object]] = {
    "query": lambda project, said: [hit.record.ref for hit in answer_question(project, said).hits],
    "memory_recall": lambda project, said: find_facts(project, Recall(query=said), note=False).results,
    "profile_search": lambda project, said: search_entries(project, SearchEntries(query=said), note=False).results,
    "journal_query": lambda project, said: journal_query(project, JournalQuery(question=said)),
}
WORDLESS = {
    "empty": "",
    "blanks": " \t\n ",
    "stop words": "the of and is it a to in that was for",
    "punctuation": "?!.,;:…—()[]{}<>/\\|'\"`~@#$%^&*-+=_",
    "pictures": "\U0001f600\U0001f468\u200d\U0001f469\u200d\U0001f467\U0001f1e9\U0001f1ea\U0001f3f4",
    "unseen": "\u200b\u200d\ufeff\u202e\u2066",
    "control": "\x00\x01\x1b[\x7f",
    "half": "\ud800\udc00\ud800",
}
SYNTAX = {
    "operators": 'retry AND OR NOT NEAR/3 "queue',
    "column": "title:victim body:* text : x",
    "quotes": "'\"''\"\"; DROP TABLE records; --",
    "stars": "*** ^victim -victim +victim {a b}: c",
    "parentheses": "((((victim)) OR (",
}
WORDS = "victim witness redis"


def asked(verb: str, said: str) -> object:
    """What comes back, or the typed refusal of a question that is empty; anything else is a failure."""
    project = Project.open(root(), world())
    try:
        return ASKED[verb](project, said)
    except InputError as error:
        refusal = error
    assert not said.strip(), f"only an empty question is refused: {refusal}"
    assert refusal.hint
    return "empty"


@proves("P5.1", "D9", over="graph facts profile journal")
@pytest.mark.parametrize("verb", ASKED)
@pytest.mark.parametrize("said", WORDLESS.values(), ids=WORDLESS)
def test_a_question_without_words_has_a_defined_answer(verb: str, said: str) -> None:
    found = asked(verb, said)
    assert repr(asked(verb, said)) == repr(found)
    if verb == "query" and said.strip():
        assert found == [], "nothing was asked for"
    tally("P5.1", inputs=1)


@proves("P5.1", "D9", "D8", over="graph facts profile journal")
@pytest.mark.parametrize("verb", ASKED)
@pytest.mark.parametrize("said", SYNTAX.values(), ids=SYNTAX)
def test_syntax_of_a_search_is_words(verb: str, said: str) -> None:
    assert repr(asked(verb, said)) == repr(asked(verb, said))
    if "victim" in said and verb == "query":
        assert "feature.victim" in str(asked(verb, said))
    tally("P5.1", inputs=1)


@pytest.mark.proof(keep=4)
@proves(
    "P5.3", "D9", over="graph facts profile journal", found="a question to the journal was read to its end: seconds"
)
@pytest.mark.parametrize("verb", ASKED)
@pytest.mark.parametrize("unit", [f"{WORDS} ", "x", "why? ", "\U0001f600", "\u4e2d\u6587"], ids=range(5))
def test_a_question_without_end_costs_no_more_than_a_long_one(verb: str, unit: str) -> None:
    """A million signs; what is beyond the limit is not read."""
    long = (unit * 1_000_000)[:1_000_000]
    short = long[:4_000]
    asked(verb, short)
    limit = 10 * max(took(lambda said: asked(verb, said), short), 0.02)
    assert took(lambda said: asked(verb, said), long, tries=2) < limit
    assert repr(asked(verb, long)) == repr(asked(verb, short)), "what is beyond the limit was read"
    tally("P5.3", inputs=1)
