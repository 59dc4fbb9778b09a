"""What the commands of the graph say and accept: advice that fits, names as they were, nothing passed over."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commanding import Here
from mcp_here import over_stdio

from installed import Git

NODE = {"kind": "feature", "title": "Retry queue", "body": "Failed webhooks are sent again.", "stage": "building"}
CONFLICT = "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> side\n"


@pytest.fixture
def here(repo: Path, environment: dict[str, str]) -> Here:
    """A repository without a memory."""
    return Here(repo, {**environment, "MEMORY_NOW": "2026-03-02T11:19:00+00:00"})


@pytest.fixture
def begun(here: Here) -> Here:
    """A repository with a memory and one commit."""
    assert here("init").code == 0
    Git(here.root, here.env).commit()
    return here


def save(here: Here, *nodes: dict[str, Any], **lists: Any) -> Any:
    said = here("save", "--stdin", "--json", stdin=json.dumps({"task": "test", "nodes": list(nodes), **lists}))
    assert said.code == 0, said.out
    return said.json


def put(here: Here, files: dict[str, str]) -> None:
    for name, text in files.items():
        (here.root / name).parent.mkdir(parents=True, exist_ok=True)
        (here.root / name).write_text(text, encoding="utf-8")


# -- starting ----------------------------------------------------------------------------------


def test_options_and_fields_of_the_original_are_kept(here: Here) -> None:
    done = here("init", "--no-view", "--no-agent-guidance", "--json")
    assert done.code == 0
    assert done.data["agent_guidance"] == {"enabled": False, "targets": [], "optional_skills": []}
    assert done.data["index_built"] is False
    assert not (here.root / "AGENTS.md").exists()
    again = here("--json", "init", "--no-view").data
    assert again["agent_guidance"]["enabled"] is True
    assert again["agent_guidance"]["targets"] == [{"path": "AGENTS.md", "status": "created"}]
    assert again["index_built"] is True
    assert any("memory init --brief" in step for step in again["next_steps"])

    assert save(here, NODE)["data"]["repairs_applied"] == []
    asked = here("query", "which webhooks are sent again?", "--json").data
    assert asked["included_ids"] == ["feature.retry-queue"] == [item["ref"] for item in asked["results"]]
    assert asked["connected_ids"] == [item["ref"] for item in asked["connected"]]
    assert asked["estimated_tokens"] == asked["tokens"] > 0
    rebuilt = here("rebuild", "--json").data
    names = ("index_rebuilt", "objects_indexed", "relations_indexed", "events_indexed", "event_appended")
    events = len((here.root / ".memory/events.jsonl").read_text(encoding="utf-8").splitlines())
    assert [rebuilt[name] for name in names] == [True, 2, 0, events, False]
    everywhere = here("status", "--all", "--json")
    assert everywhere.json["data"]["registry_path"] == str(Path(here.env["MEMORY_HOME"]) / "projects.json")


MANIFESTS: dict[str, tuple[str, dict[str, str], str]] = {
    "python": ("llm-tool", {"pyproject.toml": '[project]\nname = "llm"\n'}, "llm"),
    "poetry": ("thing", {"pyproject.toml": '[tool.poetry]\nname = "Thing-Py"\n'}, "Thing-Py"),
    "node": ("box", {"package.json": '{"name": "@acme/box"}'}, "@acme/box"),
    "rust": ("uvx", {"Cargo.toml": '[package]\nname = "uv_build"\n'}, "uv_build"),
    "go": ("x", {"go.mod": "module github.com/acme/crush/v2\n\ngo 1.22\n"}, "crush"),
    "a manifest without a name": ("solo", {"package.json": "{}", "Cargo.toml": "[workspace]\n"}, "solo"),
    "a manifest that is broken": ("solo", {"package.json": "{", "pyproject.toml": "[["}, "solo"),
    "a name that hides something": ("solo", {"package.json": '{"name": "a\\u202eb"}'}, "solo"),
    "a folder of words": ("my-repo", {}, "My Repo"),
    "a folder with its own spelling": ("Mein Projekt ü", {}, "Mein Projekt ü"),
    "one word": ("llm", {}, "llm"),
}


@pytest.mark.parametrize("case", MANIFESTS)
def test_a_project_is_named_as_it_names_itself(case: str, tmp_path: Path, environment: dict[str, str]) -> None:
    folder, files, name = MANIFESTS[case]
    here = Here(tmp_path / folder, environment)
    here.root.mkdir()
    put(here, files)
    planned = here("init", "--dry-run", "--json").data["project"]
    made = here("init", "--json").data["project"]
    assert made == planned
    assert made["name"] == name
    assert name in (here.root / "AGENTS.md").read_text(encoding="utf-8")


def test_a_memory_that_git_still_has_is_brought_back_by_git(begun: Here) -> None:
    git = Git(begun.root, begun.env)
    kept = (begun.root / ".memory/config.json").read_bytes()
    for staged in (False, True):
        shutil.rmtree(begun.root / ".memory")
        if staged:
            git("add", "--all")
        lines = (("status",), ("query", "why?"), ("check",), ("sync",), ("save", "--stdin"))
        hints = {begun(*line, "--json", stdin='{"task": "t", "nodes": []}').error["hint"] for line in lines}
        assert len(hints) == 1
        command = hints.pop().split("`")[1]
        assert (command[:12], command[-7:]) == ("git restore ", ".memory")
        assert "init" not in command
        git(*command.split()[1:])
        assert (begun.root / ".memory/config.json").read_bytes() == kept
        assert begun("status").code == 0


def test_a_budget_that_is_not_allowed_is_an_error_of_the_file(begun: Here) -> None:
    config = begun.root / ".memory/config.json"
    for budget in (10, "2000", 60_000):
        fields = json.loads(config.read_bytes())
        fields["memory"]["defaultTokenBudget"] = budget
        config.write_text(json.dumps(fields), encoding="utf-8")
        said = begun("query", "retries", "--json")
        assert (said.code, said.error["code"]) == (1, "MemorySchemaValidationFailed")
        assert said.error["details"] == {"path": ".memory/config.json", "field": "/memory/defaultTokenBudget"}
        init = begun("init", "--json")
        assert (init.code, init.error["code"]) == (3, "MemoryAlreadyInitializedInvalid")


def test_a_tool_keeps_to_the_budget_of_the_project(begun: Here) -> None:
    config = begun.root / ".memory/config.json"
    fields = json.loads(config.read_bytes())
    fields["memory"]["defaultTokenBudget"] = 501
    config.write_text(json.dumps(fields), encoding="utf-8")
    body = "Failed webhooks are sent again, with growing pauses, by the worker. " * 40
    save(begun, *({"kind": "gotcha", "title": f"Webhook trap {number}", "body": body} for number in range(4)))
    with over_stdio(begun) as client:
        small = client.data("query_memory", question="webhook traps", limit=4)
        large = client.data("query_memory", question="webhook traps", limit=4, budget=4000)
    assert small["tokens"] <= 501 < large["tokens"]


# -- what is not there -------------------------------------------------------------------------


def test_a_slug_alone_finds_its_node_or_what_is_near(begun: Here) -> None:
    save(begun, {**NODE, "title": "Global cache"}, {"kind": "decision", "title": "Two caches", "body": "One is hot."})
    assert begun("inspect", "global-cache", "--json").data["object"]["id"] == "feature.global-cache"
    wrong_kind = begun("inspect", "decision.global-cache", "--json")
    assert wrong_kind.code == 1
    assert "feature.global-cache" in wrong_kind.error["hint"]
    near = begun("inspect", "globl-cache", "--json").error
    assert "feature.global-cache" in near["hint"]
    save(begun, {"kind": "gotcha", "title": "Global cache", "body": "It grows."})
    both = begun("inspect", "global-cache", "--json").error
    assert {"feature.global-cache", "gotcha.global-cache"} == set(both["details"]["similar"])
    assert "There is no record `zzzzqqqq`" in begun("inspect", "zzzzqqqq").err
    assert "No record is named." in begun("inspect", " ").err


@pytest.mark.parametrize("line", [("query", "--path"), ("brief",)])
def test_a_file_that_is_not_there_is_said_to_be_so(begun: Here, line: tuple[str, ...]) -> None:
    put(begun, {"src/queue.py": "x = 1\n"})
    save(begun, {**NODE, "anchors": ["src/"]})
    missing = begun(*line, "src/nope.rs", "--json")
    assert missing.code == 0
    assert missing.warnings == ["FileMissing"]
    assert "src/nope.rs" in begun(*line, "src/nope.rs").err
    for there in ("src/queue.py", "src"):
        assert begun(*line, there, "--json").warnings == []


# -- help ----------------------------------------------------------------------------------------


def test_help_is_a_word_too(here: Here) -> None:
    assert here("help").out == here("--help").out != ""
    assert here("help", "query").out == here("query", "--help").out
    assert here("help", "facts", "store").out == here("facts", "store", "--help").out
    wrong = here("help", "qurey")
    assert (wrong.code, "Did you mean 'query'?" in wrong.err) == (2, True)


def test_arguments_are_called_what_they_are(here: Here) -> None:
    assert "receipts [OPTIONS] [SESSION]" in here("receipts", "--help").out
    assert "hook [OPTIONS] CLIENT EVENT" in here("hook", "--help").out


# -- saving ----------------------------------------------------------------------------------------


def test_a_dry_run_warns_as_the_save_does(begun: Here) -> None:
    told = {"kind": "decision", "title": "Retries table", "body": "The retry table is kept in Redis, by the worker."}
    save(begun, told)
    again = {**told, "title": "Where retries are", "body": "The retry table is kept in Redis, by the worker process."}
    intents: list[dict[str, Any]] = [
        {"nodes": [again]},
        {"nodes": [{**again, "kind": "gotcha"}, {**again, "kind": "gotcha", "title": "Retries by the worker"}]},
        {"nodes": [{**again, "related": [{"predicate": "related_to", "to": "decision.retries-table"}]}]},
        {
            "nodes": [{**again, "id": "decision.new-table"}],
            "supersede": [{"id": "decision.retries-table", "superseded_by": "decision.new-table", "reason": "moved"}],
        },
    ]
    found = []
    kept = (begun.root / ".memory").rename(begun.root / "kept")
    for intent in intents:
        shutil.rmtree(begun.root / ".memory", ignore_errors=True)
        shutil.copytree(kept, begun.root / ".memory")
        line = json.dumps({"task": "test", **intent})
        dry = begun("save", "--stdin", "--dry-run", "--json", stdin=line)
        real = begun("save", "--stdin", "--json", stdin=line)
        assert dry.json["warnings"] == real.json["warnings"]
        assert "planned" not in dry.data
        found.append(real.warnings)
    assert found == [["SaysNearlyTheSame"], ["SaysNearlyTheSame"] * 2, [], []]


def test_agents_read_that_not_everything_is_to_be_related(begun: Here) -> None:
    from quire.clients.texts.rules import RULES_CLIENTS, rules_text
    from quire.clients.texts.skill import skill_text

    texts = [begun("init", "--brief").out, (begun.root / "AGENTS.md").read_text(encoding="utf-8"), skill_text()]
    for text in (*texts, *map(rules_text, RULES_CLIENTS)):
        assert "if the relation changes a conclusion" in " ".join(text.split())


# -- sync ----------------------------------------------------------------------------------------


def test_sync_names_uncovered_folders_and_first_those_with_news(begun: Here) -> None:
    git = Git(begun.root, begun.env)
    put(begun, {"src/queue/a.py": "x = 1\n", "src/mail/b.py": "y = 2\n"})
    save(begun, {**NODE, "anchors": ["src/queue/"]}, {"kind": "decision", "title": "No anchor", "body": "None."})
    git.commit()
    assert "- src/mail — 1 file: src/mail/b.py" in begun("sync").out
    calm = begun("sync").out
    assert "folders with code and no feature: src/mail" in calm
    assert "without anchors: decision.no-anchor" in calm
    assert "Code that no feature covers" not in calm
    put(begun, {"src/pdf/c.py": "z = 3\n"})
    git.commit()
    gaps = begun("sync", "--dry-run", "--json").data["coverage_gaps"]
    assert {gap["dir"]: gap["new"] for gap in gaps} == {"src/mail": False, "src/pdf": True}
    told = begun("sync").out
    assert "Code that no feature covers:\n- src/pdf — 1 file: src/pdf/c.py" in told
    assert "folders with code and no feature: src/mail" in told
    assert "src/pdf —" not in begun("sync").out


def test_what_sync_proposes_and_what_quire_wrote_are_no_gaps(begun: Here) -> None:
    git = Git(begun.root, begun.env)
    put(begun, {"src/queue/old.py": "def retry():\n    return 'a long enough body to be known again'\n"})
    save(begun, {**NODE, "anchors": ["src/queue/old.py"]})
    assert begun("integrate", "opencode").code == 0
    assert list(begun.root.glob(".opencode/plugins/*.js"))
    git.commit()
    git("mv", "src/queue/old.py", "src/queue/new.py")
    git.commit()
    found = begun("sync", "--json").data
    assert found["moved"][0]["to"] == ["src/queue/new.py"]
    assert found["coverage_gaps"] == []


def test_all_means_all(begun: Here) -> None:
    put(begun, {f"src/part{number:02}/code.py": "x = 1\n" for number in range(15)})
    save(begun, *({**NODE, "title": f"Part {n:02}", "anchors": [f"src/part{n:02}/code.py"]} for n in range(15)))
    git = Git(begun.root, begun.env)
    git.commit()
    begun("sync")
    put(begun, {f"src/part{number:02}/code.py": "x = 2\n" for number in range(15)})
    git.commit()
    assert "and 5 more: `memory sync --all`" in begun("status").out
    assert "and 5 more: `memory sync --all`" in begun("sync").out
    everything = begun("sync", "--all").out
    assert all(f"- feature.part-{number:02}" in everything for number in range(15))
    assert "more:" not in everything


# -- instruction files -------------------------------------------------------------------------


def test_a_file_that_lost_its_map_is_named_while_another_has_it(begun: Here) -> None:
    put(begun, {"CLAUDE.md": "# Mine\n"})
    assert begun("init").code == 0
    assert begun("check", "--json").data["warnings"] == []
    agents, claude = begun.root / "AGENTS.md", begun.root / "CLAUDE.md"
    whole = agents.read_bytes()

    def lost() -> list[str]:
        told = [item for item in begun("check", "--json").data["warnings"] if item["code"] == "ProductMapMissing"]
        assert begun("status", "--json").warnings == [item["code"] for item in told]
        return [item["path"] for item in told]

    assert lost() == []
    agents.write_text("# Rules\n", encoding="utf-8")
    assert lost() == ["AGENTS.md"]
    agents.unlink()
    assert lost() == ["AGENTS.md"]
    agents.symlink_to("CLAUDE.md")
    assert lost() == []
    agents.unlink()
    agents.write_bytes(whole)
    claude.write_text("# Mine\n", encoding="utf-8")
    assert lost() == ["CLAUDE.md"]
    claude.write_text("@AGENTS.md\n", encoding="utf-8")
    assert lost() == []
    assert begun("init").code == 0


def test_without_guidance_a_check_does_not_send_you_back_to_it(here: Here) -> None:
    assert here("init", "--no-guidance").code == 0
    (warning,) = here("check", "--json").data["warnings"]
    assert warning["code"] == "ProductMapMissing"
    assert "--no-guidance" in warning["hint"]
    assert "nothing to do" in warning["hint"]


PLACES: dict[str, Callable[[str], str]] = {
    "inside the map": lambda text: text.replace("## Product map\n", f"## Product map\n{CONFLICT}"),
    "above the map": lambda text: CONFLICT + text,
    "around the map": lambda text: (
        text.replace("<!-- memory:map:start -->", "<<<<<<< HEAD\n<!-- memory:map:start -->")
        + "=======\nnone\n>>>>>>> side\n"
    ),
    "across its edge": lambda text: text.replace(
        "<!-- memory:map:end -->", "<<<<<<< HEAD\n<!-- memory:map:end -->\n=======\n>>>>>>> side"
    ),
}


@pytest.mark.proof(keep=3)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", ["AGENTS.md", "CLAUDE.md"])
def test_marks_of_a_conflict_in_an_instruction_file_are_an_error(begun: Here, place: str, name: str) -> None:
    put(begun, {name: ""} if name == "CLAUDE.md" else {})
    assert begun("init").code == 0
    path = begun.root / name
    text = PLACES[place](path.read_text(encoding="utf-8"))
    path.write_text(text, encoding="utf-8")
    line = text.splitlines().index("<<<<<<< HEAD") + 1
    checked = begun("check", "--json")
    assert checked.code == 1
    errors = checked.json["data"]["errors"]
    assert [(item["code"], item["path"], item["line"]) for item in errors] == [("MemoryConflictDetected", name, line)]
    assert "memory resolve" in errors[0]["hint"]
    saved = save(begun, NODE)
    if place == "above the map":
        assert saved["warnings"] == []
        assert path.read_text(encoding="utf-8").startswith(CONFLICT)
        return
    assert [item["code"] for item in saved["warnings"]] == ["MemoryConflictDetected"]
    assert path.read_text(encoding="utf-8") == text
    assert path.read_text(encoding="utf-8") == text
    assert begun("check", "--repair", "--json").code == 1
    assert path.read_text(encoding="utf-8") == text
    if place == "inside the map":
        assert begun("resolve").code == 0
        assert "<<<<<<<" not in path.read_text(encoding="utf-8")
        assert begun("check").code == 0


def test_marks_that_are_only_shown_are_no_conflict(begun: Here) -> None:
    path = begun.root / "AGENTS.md"
    text = f"# Rules\n\nResolve what looks like this:\n\n```\n{CONFLICT}```\n\n" + path.read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    assert begun("check", "--json").data["valid"] is True
    assert save(begun, NODE)["warnings"] == []
    assert "Retry queue" in path.read_text(encoding="utf-8")


def test_a_reset_says_what_it_leaves(begun: Here) -> None:
    assert begun("profile", "remember", "user", "timezone", "Europe/Madrid").code == 0
    assert begun("integrate", "claude").code == 0
    done = begun("reset", "--yes").out
    for name in (".gitignore", ".ai-state", ".mcp.json", ".claude/settings.json", "memory integrate --remove"):
        assert name in done
