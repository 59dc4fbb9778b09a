"""What real instruction files, rules and memory banks come to: every proposal, word for word."""

from __future__ import annotations

import json
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
from host_making import NOW, Machine, said

from quire.inbox.proposals import QUOTE_CHARS, TEXT_CHARS
from quire.layers.facts.layout import SECTIONS
from quire.layers.graph.intent import read_intent
from quire.layers.profile.rules import allowed_category, allowed_key, allowed_tags, allowed_value

# Word for word: a look at the difference of this file shows what a change of the rules does.
CASES = json.loads((Path(__file__).parent / "host_documents" / "expected.json").read_text(encoding="utf-8"))


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    made = Machine(tmp_path)
    made.write("internal/edi/dates.go", "package edi\n")
    made.write("src/api/async.ts", "export {}\n")
    return made


@pytest.mark.parametrize("case", CASES, ids=itemgetter("document"))
def test_a_document_comes_to_these_proposals(machine: Machine, case: dict[str, Any]) -> None:
    machine.put(case["document"], case["path"])
    read = machine.read(case["kind"])
    assert [list(each) for each in said(read)] == case["says"]
    assert read.skipped == case["skipped"]
    assert read.problems == ()


@pytest.mark.parametrize("case", CASES, ids=itemgetter("document"))
def test_each_proposal_says_where_it_comes_from(machine: Machine, case: dict[str, Any]) -> None:
    machine.put(case["document"], case["path"])
    read = machine.read(case["kind"])
    path = case["path"]
    text = (machine.home / path[2:] if path.startswith("~/") else machine.root / path).read_text()
    lines = text.split("\n")
    for proposal in read.proposals:
        (evidence,) = proposal.evidence
        assert (proposal.origin, proposal.by, proposal.proposed_at) == (f"file:{path}", "file", NOW)
        assert evidence.by == "file"
        assert len(evidence.quote) <= QUOTE_CHARS
        shown, _, line = evidence.where.rpartition(":")
        assert shown == path
        first = evidence.quote.split()[0].strip("*_:").casefold()
        assert first in lines[int(line) - 1].casefold()


@pytest.mark.parametrize("case", CASES, ids=itemgetter("document"))
def test_each_proposal_is_one_that_its_layer_takes(machine: Machine, case: dict[str, Any]) -> None:
    machine.put(case["document"], case["path"])
    for proposal in machine.read(case["kind"]).proposals:
        fields = proposal.fields
        assert 0 < len(proposal.text) <= TEXT_CHARS
        if proposal.into == "graph":
            draft = read_intent({"task": "import", "nodes": [fields]})
            assert (draft.problems, draft.warnings) == ([], [])
        elif proposal.into == "profile":
            allowed_category(fields["category"])
            allowed_key(fields["key"])
            allowed_tags(fields["tags"])
            assert allowed_value(fields["value"])[0] == fields["value"]
        elif proposal.into == "facts":
            assert fields["section"] in SECTIONS
            assert set(fields) == {"section", "content", "tags"}
            allowed_tags(sorted(fields["tags"]))
        else:
            assert set(fields) == {"text"}


@pytest.mark.parametrize("case", CASES, ids=itemgetter("document"))
def test_the_same_file_gives_the_same_proposals(machine: Machine, case: dict[str, Any]) -> None:
    machine.put(case["document"], case["path"])
    first = machine.read(case["kind"])
    again = machine.read(case["kind"])
    assert first == again
    assert len({proposal.id for proposal in first.proposals}) == len(first.proposals)


def test_anchors_are_the_code_that_is_named_and_the_patterns_of_the_rule(machine: Machine) -> None:
    machine.put("cursor-api.mdc", ".cursor/rules/api.mdc")
    (gotcha,) = [proposal for proposal in machine.read("cursor-rules").proposals if proposal.kind == "gotcha"]
    assert gotcha.fields["anchors"] == ["src/api/async.ts", "src/api/**/*.ts", "src/routes/**"]


def test_instructions_beside_code_are_anchored_there(machine: Machine) -> None:
    machine.put("agents-package.md", "packages/api/AGENTS.md")
    (gotcha,) = [proposal for proposal in machine.read("agents-md").proposals if proposal.kind == "gotcha"]
    assert gotcha.fields["anchors"] == ["packages/api/"]


def test_features_of_a_memory_bank_have_their_stage(machine: Machine) -> None:
    machine.put("bank-progress.md", "memory-bank/progress.md")
    proposals = machine.read("cline-memory-bank").proposals
    stages = {each.fields["title"]: each.fields["stage"] for each in proposals if each.kind == "feature"}
    assert stages == {
        "Core": "shipped",
        "Club sharing": "shipped",
        "Perdix importer": "building",
        "Core (what is left)": "idea",
    }
