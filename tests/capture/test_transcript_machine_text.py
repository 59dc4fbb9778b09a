"""What we said ourselves is not taken for what others said; neither is what an agent's program adds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from talks import messages_from
from transcript_making import PROJECT, answers, claude, codex, read_all, said, session_at, uses, write_lines

from cases import each
from quire.capture.compaction import compact
from quire.capture.transcripts.machine_text import SENTENCES, is_own_call, without_additions, without_own
from quire.layers.journal.documents import new_state
from quire.layers.journal.entry_block import render_entry
from quire.layers.journal.projections import render_projections
from quire.layers.journal.types import Maintenance, Provider
from quire.layers.profile.entries import Entry
from quire.model.records import Record
from quire.retrieval.answer import Answer, Hit
from quire.retrieval.facts_context import Offer, fit_facts
from quire.retrieval.profile_context import fit_profile
from quire.retrieval.render import render
from quire.surfaces.cli.main import COMMANDS
from quire.upkeep.guidance import GUIDANCE, LEGACY
from quire.upkeep.product_map import MARKERS

OWN = "Own words: the cache is cold."
JOURNAL_VERBS = (
    "init",
    "update",
    "recall",
    "query",
    "status",
    "add",
    "sync",
    "validate",
    "automate",
    "log",
    "diff",
    "restore",
    "sources",
    "repair",
    "integrate",
    "mcp",
)


def read_talk(tmp_path: Path, *records: Any) -> list[tuple[str, str]]:
    turns, _ = read_all(session_at(write_lines(tmp_path / "s.jsonl", records)), root=PROJECT)
    return said(turns)


# -- commands ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        'memory query "cache"',
        "cd api && memory brief src/cache.ts",
        "echo '{}' | memory save --stdin",
        "memory --help",
        "MEMORY_NOW=2026-03-02 memory status",
        ".venv/bin/memory query cache",
        "/usr/local/bin/agent-memory recall",
        "npx -y agent-memory sync --all",
        "npx --no-install agent-memory mcp",
        "npm exec -- agent-memory status",
        "yarn agent-memory validate",
        "node node_modules/.bin/agent-memory log",
        "timeout 60 agent-memory automate run-once",
        "sudo -u dev agent-memory repair",
        "memory journal query cache",
        "memory --json journal status",
        "quire journal recall",
        "bash -lc 'memory journal status'",
        "uvx --from quire memory journal status",
        "uv run --python 3.12 --with quire memory query cache",
        "uv run memory facts recall cache",
        "uvx quire query cache",
        "python3 -m quire query cache",
        "if true; then memory sync; fi",
        "x=$(memory inspect decision.cache)",
        "npm test\nmemory sync",
        "agent-memory",
        "cat .memory/facts.jsonl",
        "sed -n 1,40p docs/agent-memory/gotchas.md",
        "jq . ./.agent-memory/state.json",
        "ls .memory",
    ],
)
def test_what_our_commands_printed_is_not_taken(command: str, tmp_path: Path) -> None:
    talk = [claude("user", "Hello"), uses("t1", "Bash", 1, command=command), answers("t1", OWN, 2)]
    assert read_talk(tmp_path, *talk) == [("user", "Hello")]


@pytest.mark.parametrize(
    "command",
    [
        "npm test",
        "echo memory usage",
        "free -h # memory",
        "git commit -m 'Fix\n\nmemory grows without end'",
        "grep -rn 'memory query' src",
        "python3 memory.py",
        "ls src/memory/",
        "memory=5; echo $memory",
        "./memory_test --all",
        "cat my.memory/x",
        "quires --all",
        "vim .memoryrc",
        "memory journals",
        "git commit -m 'fix(agent-memory): the cache'",
        'git commit -m "feat(quire): the cache"',
        "git log -- agent-memory",
        "npm install agent-memory",
        "uv run --with quire pytest -q",
        "pnpm --filter agent-memory test",
    ],
)
def test_what_other_commands_printed_is_taken(command: str, tmp_path: Path) -> None:
    turns = read_talk(tmp_path, uses("t1", "Bash", command=command), answers("t1", "Others", 1))
    assert (turns[-1], len(turns)) == (("tool", "Others"), 2)


def test_every_command_of_ours_is_known() -> None:
    for verb in COMMANDS:
        assert is_own_call("Bash", f"memory {verb}", ()), verb


@pytest.mark.parametrize("program", ["agent-memory", "memory journal", "quire journal"])
def test_every_command_of_the_journal_is_known(program: str) -> None:
    for verb in JOURNAL_VERBS:
        assert is_own_call("Bash", f"{program} {verb}", ()), verb
        assert is_own_call("shell", f"cd api && NO_COLOR=1 {program} {verb} --help", ()), verb
        assert not is_own_call("Bash", f"grep -rn '{program} {verb}' docs", ()), verb


@pytest.mark.parametrize(
    "tool",
    [
        "mcp__memory__query",
        "mcp__plugin_quire_memory__save",
        "mcp__agent-memory__recall",
        "mcp__agent-memory__automation_status",
        "mcp__agent_memory__memory_assess",
        "agent-memory.memory_query",
        "mcp_memory_query",
        "memory_query",
        "quire__query",
        "memory-mcp/query",
    ],
)
def test_what_our_server_answered_is_not_taken(tool: str, tmp_path: Path) -> None:
    assert read_talk(tmp_path, uses("t1", tool), answers("t1", OWN, 1)) == []


@pytest.mark.parametrize("tool", ["Memory", "save_memory", "mcp__github__memory", "Bash"])
def test_what_other_servers_answered_is_taken(tool: str, tmp_path: Path) -> None:
    assert read_talk(tmp_path, uses("t1", tool), answers("t1", "Others", 1))[-1] == ("tool", "Others")


@pytest.mark.parametrize(
    "path", [f"{PROJECT}/.memory/project.md", "docs/agent-memory/README.md", ".agent-memory/history/events.jsonl"]
)
def test_our_files_are_not_read_back(path: str, tmp_path: Path) -> None:
    assert read_talk(tmp_path, uses("t1", "Read", file_path=path), answers("t1", OWN, 1)) == []


def test_our_commands_are_found_in_the_calls_of_codex(tmp_path: Path) -> None:
    def call(number: str, /, **payload: Any) -> dict[str, Any]:
        return codex("response_item", {"call_id": number, **payload})

    path = write_lines(
        tmp_path / "s.jsonl",
        [
            call("a", type="function_call", name="shell", arguments='{"command":["bash","-lc","memory query cache"]}'),
            call("a", type="function_call_output", output=OWN),
            call("b", type="function_call", name="exec_command", arguments='{"cmd":"agent-memory status"}'),
            call("b", type="function_call_output", output=OWN),
            call("c", type="custom_tool_call", name="exec", input='await tools.exec_command({cmd: "memory status"})'),
            call("c", type="custom_tool_call_output", output=OWN),
            call("d", type="function_call", name="query", namespace="mcp__memory", arguments="{}"),
            call("d", type="function_call_output", output=OWN),
        ],
    )
    turns, _ = read_all(session_at(path, "codex-local"))
    assert turns == []


# -- texts ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "block",
    [
        f"{GUIDANCE.start}\n{OWN}\n{GUIDANCE.end}",
        f"{LEGACY.start}\n{OWN}\n{LEGACY.end}",
        f"{MARKERS.start}\n{OWN}\n{MARKERS.end}",
        f"<!-- agent-memory:entry version=3 bundleHash=ab12 start -->\n{OWN}\n<!-- agent-memory:entry end -->",
        f"<!-- agent-memory:projection file=gotchas version=3 bundleHash=ab12 -->\n# Gotchas\n{OWN}",
        f"{GUIDANCE.start}\n{OWN}, cut off",
        f"<system-reminder>\nSessionStart hook: # Memory\n{OWN}\n</system-reminder>",
    ],
)
@pytest.mark.parametrize("role", ["user", "tool"])
def test_what_stands_between_our_marks_is_left_out(block: str, role: str, tmp_path: Path) -> None:
    text = f"Before.\n{block}"
    talk = (
        [claude("user", text)]
        if role == "user"
        else [uses("t1", "Read", file_path="AGENTS.md"), answers("t1", text, 1)]
    )
    turns = read_talk(tmp_path, *talk)
    assert turns[-1] == (role, "Before.")


def test_what_the_journal_writes_is_known_by_its_marks() -> None:
    bundle = {"project": {"recommendedEntryFile": "AGENTS.md"}}
    state = new_state(
        bundle,
        provider=Provider(name="codex", binary="codex"),
        generated_at="2026-03-01T10:00:00.000Z",
        maintenance=Maintenance(),
    )
    for page in render_projections(state):
        assert without_own(f"See:\n{page.text}") == ("See:\n", True), page.path
    entry = render_entry(state.bundle_hash)
    assert without_own(f"Before.\n{entry}\nAfter.") == ("Before.\n\nAfter.", True)


def test_a_turn_of_which_nothing_is_left_is_no_turn(tmp_path: Path) -> None:
    assert read_talk(tmp_path, claude("user", f"{GUIDANCE.start}\n{OWN}\n{GUIDANCE.end}")) == []


def printed() -> dict[str, str]:
    """What we print of what we know, made by what prints it."""
    record = Record(
        ref="fact:1", layer="facts", kind="fact", title="Cold", text=OWN, status="active", path="f", section="Cache"
    )
    answer = Answer(question="cache", heading="cache", hits=[Hit(record=record, score=1.0, why="", parts={})])
    render(answer, 800)
    context = fit_facts(
        pins=[Offer(record=record)],
        missing_pins=[],
        relevant=[],
        shares={},
        episode=None,
        budget=800,
        sections=[],
        low_signal=False,
        floor=0.0,
    )
    profile = fit_profile([Entry(category="user", key="name", value=OWN)], 800)
    return {"answer": answer.markdown, "context": context.markdown, "profile": profile.markdown}


@pytest.mark.parametrize("name", ["answer", "context", "profile"])
def test_what_we_print_is_known_by_its_sentence(name: str) -> None:
    text = printed()[name]
    assert any(sentence in text for sentence in SENTENCES)
    rest, echoed = without_own(f"See:\n{text}")
    assert (rest.strip(), echoed) == ("See:", True)


def test_our_summary_of_a_conversation_is_not_taken_back() -> None:
    talk = [{"role": "user", "content": OWN}, {"role": "assistant", "content": "lorem ipsum " * 900}] * 8
    summary = compact(messages_from(talk), keep_turns=1).summary
    assert OWN in summary
    assert without_own(f"Before.\n{summary}\nAfter.") == ("Before.\n\nAfter.", True)


# -- additions --------------------------------------------------------------------------------


def test_what_an_assistant_or_a_tool_says_about_tags_stays(tmp_path: Path) -> None:
    text = "Write <environment_context>x</environment_context> there. /compact"
    talk = [claude("assistant", [{"type": "text", "text": text}]), uses("t", "Read", 1), answers("t", text, 2)]
    assert read_talk(tmp_path, *talk) == [("assistant", text), ("assistant", ""), ("tool", text)]


def test_a_path_alone_is_an_answer_of_a_tool_and_no_prompt(tmp_path: Path) -> None:
    assert read_talk(tmp_path, uses("t", "Bash", command="pwd"), answers("t", "/usr", 1))[-1] == ("tool", "/usr")
    assert read_talk(tmp_path, claude("user", "/clear")) == []
    assert read_talk(tmp_path, claude("user", "/usr/lib is full")) == [("user", "/usr/lib is full")]


@given(
    st.lists(st.sampled_from(["<system-reminder>", "</system-reminder>", "<command-args>", "<bash-input>", "a", " "]))
)
def test_what_is_left_holds_no_reminder(parts: list[str]) -> None:
    rest = without_additions("".join(parts), "user")
    assert "<system-reminder>" not in rest
    assert without_own(rest) == (rest, False)


@each(
    "text",
    [
        "memory " * 40_000,
        "a/" * 100_000 + "memory",
        "; A=b " * 40_000,
        "<!-- memory:start -->" * 10_000,
        "<command-name>" * 150_000,
        "<!-- agent-memory:entry " * 10_000,
        f"# Memory\n{SENTENCES[0]}\n" * 2_000,
        "# Memory " * 30_000,
        "npx -y " * 40_000,
        "run --with " * 30_000,
        "npx " + "-" * 200_000,
        "run -a\t \t" * 30_000,
    ],
)
def test_hostile_texts_cost_little(text: str) -> None:
    is_own_call("Bash", text, ())
    without_own(text)
    without_additions(text, "user")
    # What backtracks takes minutes for these.
