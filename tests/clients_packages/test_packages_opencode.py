"""The plugin of opencode, run by Node.js: what it tells `quire`, what it passes on, and that it breaks nothing."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from opencode_host import Opencode, after, before, event, prompt, system

from quire.clients.texts.opencode import opencode_plugin_text

FAILING = {
    "prints garbage": "#!/bin/sh\necho 'Traceback (most recent call last):'\n",
    "prints a list": "#!/bin/sh\necho '[1]'\n",
    "prints null": "#!/bin/sh\necho null\n",
    "context is no text": '#!/bin/sh\necho \'{"context": {"a": 1}}\'\n',
    "prints nothing": "#!/bin/sh\ncat >/dev/null\n",
    "fails": '#!/bin/sh\necho \'{"context": "no"}\'\nexit 1\n',
    "complains": "#!/bin/sh\necho 'a complaint' >&2\nexit 0\n",
    "reads nothing": "#!/bin/sh\nexec <&-\nexit 0\n",
    "cannot be run": "#!/nowhere/at/all\n",
    "prints without end": "#!/bin/sh\nexec cat /dev/zero\n",
}


@pytest.fixture
def host(tmp_path: Path) -> Opencode:
    return Opencode(tmp_path)


def everything() -> list[dict[str, object]]:
    """Every hook once, as a session goes."""
    return [
        event("session.created", info={"id": "ses_1"}),
        prompt("Why are retries in the worker?"),
        system("You are an agent."),
        before("edit", filePath="/p/src/queue.ts", oldString="a", newString="b"),
        after("edit"),
        {"hook": "experimental.session.compacting", "input": {"sessionID": "ses_1"}, "output": {"context": []}},
        event("session.compacted", sessionID="ses_1"),
        event("session.idle", sessionID="ses_1"),
        event("session.deleted", info={"id": "ses_1"}),
        {"hook": "dispose"},
    ]


def test_it_exports_one_plugin_with_these_hooks(host: Opencode) -> None:
    seen = host.run()
    assert seen["exports"] == ["QuireMemory"]
    assert seen["hooks"] == [
        "event",
        "chat.message",
        "experimental.chat.system.transform",
        "tool.execute.before",
        "tool.execute.after",
        "experimental.session.compacting",
        "dispose",
    ]


def test_it_tells_what_happens_in_a_session(host: Opencode) -> None:
    host.says()
    host.run(*everything())
    common = {"sessionID": "ses_1", "directory": str(host.project)}
    told = {one["argv"][-1]: one for one in host.heard()}
    assert [one["argv"][:2] for one in host.heard()] == [["hook", "opencode"]] * 7
    assert {one["cwd"] for one in host.heard()} == {str(host.project)}
    assert {name: one["stdin"] for name, one in told.items()} == {
        "session-start": {"event": "session-start", **common, "source": "startup"},
        "prompt": {"event": "prompt", **common, "prompt": "Why are retries in the worker?"},
        "before-edit": {
            "event": "before-edit",
            **common,
            "tool": "edit",
            "args": {"filePath": "/p/src/queue.ts"},
        },
        "before-compaction": {"event": "before-compaction", **common},
        "after-compaction": {"event": "after-compaction", **common},
        "turn-end": {"event": "turn-end", **common},
        "session-end": {"event": "session-end", **common, "reason": "deleted"},
    }


def test_what_is_known_at_the_start_stands_in_every_system_prompt(host: Opencode) -> None:
    host.says(session_start={"context": "Retries run in the worker."})
    made = host.run(
        event("session.created", info={"id": "ses_1"}),
        system("You are an agent."),
        system("You are an agent.", "More."),
        system(),
        system("You are an agent.", session="ses_2"),
    )["made"]
    assert [one["output"]["system"] for one in made[1:]] == [
        ["You are an agent.\n\nRetries run in the worker."],
        ["You are an agent.", "More.\n\nRetries run in the worker."],
        ["Retries run in the worker."],
        ["You are an agent."],
    ]
    assert len(host.heard()) == 1


def test_a_session_from_before_is_taken_up_at_its_next_prompt(host: Opencode) -> None:
    host.says(session_start={"context": "Known."})
    made = host.run(prompt("Go on."), prompt("And on."), system("S."))["made"]
    assert made[-1]["output"]["system"] == ["S.\n\nKnown."]
    starts = [one["stdin"] for one in host.heard() if one["argv"][-1] == "session-start"]
    assert [start["source"] for start in starts] == ["resume"]


def test_what_bears_on_a_prompt_is_a_part_of_its_message(host: Opencode) -> None:
    host.says(prompt={"context": "Bears on it."})
    made = host.run(prompt("Why?"), prompt("   "), prompt("made up", synthetic=True))["made"]
    first, blank, synthetic = (one["output"]["parts"] for one in made)
    assert first[1:] == [
        {
            "id": "prt_01q",
            "sessionID": "ses_1",
            "messageID": "msg_1",
            "type": "text",
            "text": "Bears on it.",
            "synthetic": True,
        }
    ]
    assert first[0]["text"] == "Why?"
    assert (len(blank), len(synthetic)) == (1, 1)
    assert [one["stdin"]["prompt"] for one in host.heard() if one["argv"][-1] == "prompt"] == ["Why?"]


@pytest.mark.parametrize(
    ("tool", "args", "told"),
    [
        ("write", {"filePath": "/p/a.py", "content": "x" * 100_000}, {"filePath": "/p/a.py"}),
        ("multiedit", {"filePath": "/p/a.py", "edits": []}, {"filePath": "/p/a.py"}),
        ("apply_patch", {"patchText": "*** Update File: a.py"}, {"patchText": "*** Update File: a.py"}),
    ],
)
def test_what_governs_a_file_is_read_with_the_result_of_its_edit(
    host: Opencode, tool: str, args: dict[str, object], told: dict[str, str]
) -> None:
    host.says(before_edit={"context": "Governed by decision.x."})
    made = host.run(before(tool, **args), after(tool), after(tool))["made"]
    assert made[0]["output"]["args"] == args
    assert [one["output"]["output"] for one in made[1:]] == ["Done.\n\nGoverned by decision.x.", "Done."]
    assert host.heard()[0]["stdin"]["args"] == told


def test_tools_that_edit_nothing_are_left_alone(host: Opencode) -> None:
    host.says(before_edit={"context": "No."})
    made = host.run(before("read", filePath="/p/a.py"), after("read"), after("bash", call="call_9"))["made"]
    assert [one["output"]["output"] for one in made[1:]] == ["Done.", "Done."]
    assert host.heard() == []


def test_a_compaction_hears_and_is_followed_by_what_is_known(host: Opencode) -> None:
    host.says(
        session_start={"context": "At the start."},
        before_compaction={"context": "Keep this."},
        after_compaction={"context": "Afterwards."},
    )
    made = host.run(
        event("session.created", info={"id": "ses_1"}),
        {"hook": "experimental.session.compacting", "input": {"sessionID": "ses_1"}, "output": {"context": ["own"]}},
        event("session.compacted", sessionID="ses_1"),
        system("S."),
    )["made"]
    assert made[1]["output"] == {"context": ["own", "Keep this."]}
    assert made[3]["output"]["system"] == ["S.\n\nAfterwards."]


def test_what_was_known_stays_where_a_compaction_adds_nothing(host: Opencode) -> None:
    host.says(session_start={"context": "At the start."})
    made = host.run(
        event("session.created", info={"id": "ses_1"}), event("session.compacted", sessionID="ses_1"), system("S.")
    )["made"]
    assert made[2]["output"]["system"] == ["S.\n\nAt the start."]


def test_sessions_of_subagents_name_the_session_that_started_them(host: Opencode) -> None:
    host.says()
    host.run(event("session.created", info={"id": "ses_2", "parentID": "ses_1"}), prompt("Look.", session="ses_2"))
    assert {one["stdin"]["parentID"] for one in host.heard()} == {"ses_1"}


def test_sessions_end_with_opencode_unless_they_ended_before(host: Opencode) -> None:
    host.says()
    host.run(
        event("session.created", info={"id": "ses_1"}, pause=300),
        event("session.created", info={"id": "ses_2"}, pause=300),
        event("session.deleted", info={"id": "ses_1"}),
        event("session.deleted", info={"id": "ses_9"}),
        {"hook": "dispose"},
    )
    ends = [one["stdin"] for one in host.heard() if one["argv"][-1] == "session-end"]
    assert [(end["sessionID"], end["reason"]) for end in ends] == [("ses_1", "deleted"), ("ses_2", "exit")]


@pytest.mark.proof(keep=3)
@pytest.mark.parametrize("failure", FAILING)
def test_a_program_that_fails_changes_nothing(host: Opencode, failure: str) -> None:
    host.program(FAILING[failure])
    unchanged(host)


def test_without_the_program_nothing_changes(host: Opencode) -> None:
    unchanged(host)


@pytest.mark.proof
def test_where_no_program_can_be_started_nothing_changes(host: Opencode) -> None:
    host.says(prompt={"context": "No."})
    unchanged(host, crowded=True)


def unchanged(host: Opencode, *, crowded: bool = False) -> None:
    steps = everything()
    made = host.run(*steps, crowded=crowded)["made"]
    assert [one.get("output") for one in made] == [step.get("output") for step in steps]
    assert all(one["returned"] for one in made)


def test_a_folder_that_is_gone_changes_nothing(host: Opencode, tmp_path: Path) -> None:
    host.says(prompt={"context": "No."})
    host.plugin = host.plugin.rename(tmp_path / "plugin.mjs")
    host.project = tmp_path / "gone"
    unchanged(host)


def test_odd_events_and_calls_change_nothing(host: Opencode) -> None:
    host.says()
    host.run(
        event("session.created"),
        event("tui.toast.show"),
        {"hook": "event", "input": {}},
        {"hook": "chat.message", "input": {"sessionID": "ses_1"}, "output": {"message": {}, "parts": []}},
        {"hook": "chat.message", "input": {"sessionID": "ses_1"}, "output": {}},
        {"hook": "experimental.chat.system.transform", "input": {}, "output": {"system": ["S."]}},
        {"hook": "tool.execute.before", "input": {"tool": "edit"}, "output": {}},
        {"hook": "tool.execute.after", "input": {}, "output": {}},
        {"hook": "experimental.session.compacting", "input": {}, "output": {}},
    )


@pytest.mark.proof
def test_a_program_that_hangs_is_ended_with_all_that_it_started(host: Opencode, tmp_path: Path) -> None:
    host.program(f"#!/bin/sh\nsleep 300 &\necho $$ $! > '{tmp_path}/pids'\nwait\n")
    step = prompt("Why?")
    made = host.run({**step, "input": {"sessionID": "ses_1"}})["made"]
    assert made[0]["output"] == step["output"]
    assert 1500 < made[0]["ms"] < 10_000
    for pid in (tmp_path / "pids").read_text().split():
        assert ends(int(pid)), pid


def ends(pid: int) -> bool:
    for _ in range(100):
        try:
            os.kill(pid, 0)
            state = Path(f"/proc/{pid}/stat")
            if state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


def test_it_is_short_and_needs_nothing(host: Opencode) -> None:
    text = opencode_plugin_text()
    assert len(text.splitlines()) <= 110
    assert max(map(len, text.splitlines())) <= 120
    assert [line for line in text.splitlines() if line.startswith("import")] == [
        'import { spawn } from "node:child_process"'
    ]
    assert "console" not in text
    assert text.endswith("}\n")
