"""inspect, status, check, diff, reset, projects, docs, completion, upgrade, through the installed command."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import quire
from promised import proves

NODES = [
    {
        "kind": "feature",
        "title": "Retry queue",
        "body": "Sends again.",
        "stage": "building",
        "anchors": ["src/", "gone/"],
    },
    {
        "kind": "decision",
        "title": "Worker",
        "body": "Why.",
        "related": [{"predicate": "affects", "to": "feature.retry-queue"}],
    },
    {"kind": "question", "title": "Who pays?", "body": "Unclear."},
]


@pytest.fixture
def filled(repo: Path, memory: Any, git: Any) -> Any:
    (repo / "src").mkdir()
    (repo / "src/a.py").write_text("x = 1\n")
    memory.init()
    memory.save(*NODES)
    git.commit()
    return memory


# -- inspect ------------------------------------------------------------------------------


def test_inspect_shows_everything_of_one_node(filled: Any) -> None:
    data = filled("inspect", "feature.retry-queue", "--json").data
    node = data["object"]
    assert (node["title"], node["stage"], node["anchors"], node["body"]) == (
        "Retry queue",
        "building",
        ["src/", "gone/"],
        "Sends again.",
    )
    assert node["json_path"] == ".memory/memory/retry-queue.json"
    assert [relation["from"] for relation in data["relations"]["incoming"]] == ["decision.worker"]
    text = filled("inspect", "feature.retry-queue").out
    for part in ("Retry queue", "building", "src/, gone/", "Sends again.", "decision.worker affects this"):
        assert part in text


def test_inspect_of_nothing_offers_what_was_meant(filled: Any) -> None:
    run = filled("inspect", "feature.retry-que", "--json")
    assert run.code == 1
    assert run.error["code"] == "MemoryObjectNotFound"
    assert "feature.retry-queue" in run.error["hint"]
    filled.save(delete=[{"id": "question.who-pays", "reason": "answered: billing"}])
    assert "answered: billing" in filled("inspect", "question.who-pays").err
    assert filled("inspect", "nonsense").code == 1
    assert filled("inspect", "fact:abc").code == 1


# -- status -------------------------------------------------------------------------------


def test_status_counts_and_lists(filled: Any) -> None:
    data = filled("status", "--json").data
    assert data["project"] == {"id": "project.harbor", "name": "harbor"}
    assert data["features_by_stage"]["building"] == {"count": 1, "titles": ["Retry queue"]}
    (question,) = data["open_questions"]
    assert (question["id"], question["title"], question["verdict"]) == ("question.who-pays", "Who pays?", "unanchored")
    assert [(row["id"], row["stage"], row["verdict"]) for row in data["features"]] == [
        ("feature.retry-queue", "building", "orphaned")
    ]
    assert data["attention"] == data["features"]
    assert data["stale"] == [{"id": "feature.retry-queue", "title": "Retry queue", "orphaned_anchors": ["gone/"]}]
    assert data["git"]["branch"] == "main"
    assert data["last_sync"] is None
    text = filled("status").out
    assert "building: Retry queue" in text
    assert "gone/" in text


def test_status_all_shows_every_project_and_those_that_need_help(filled: Any, repo: Path, tmp_path: Path) -> None:
    for name in ("second", "third"):
        (tmp_path / name).mkdir()
        filled.init(cwd=tmp_path / name)
    config = tmp_path / "third/.memory/config.json"
    config.write_text(config.read_text().replace('"version": 5', '"version": 4'))
    rows = {Path(row["project_root"]).name: row for row in filled("status", "--all", "--json").data["projects"]}
    assert rows["harbor"]["status"]["features_by_stage"]["building"]["count"] == 1
    assert rows["third"]["needs_reset"] is True
    assert len(filled("status", "--all").out.splitlines()) == 3


def test_status_follows_the_files_without_a_rebuild(filled: Any, repo: Path, git: Any) -> None:
    filled("status")
    git("checkout", "-q", "-b", "other")
    filled.save({"kind": "feature", "title": "Elsewhere", "body": "x"})
    git.commit()
    git("checkout", "-q", "main")
    assert filled("status", "--json").data["nodes_by_kind"]["feature"] == 1
    git("merge", "-q", "other")
    assert filled("status", "--json").data["nodes_by_kind"]["feature"] == 2


# -- check --------------------------------------------------------------------------------


def _json(path: Path, **changes: Any) -> None:
    fields = json.loads(path.read_text())
    fields.update(changes)
    path.write_text(
        json.dumps({name: value for name, value in fields.items() if value is not None}, indent=2, sort_keys=True)
        + "\n"
    )


def _copy_node(store: Path) -> None:
    (store / "memory/copy.md").write_text("x")
    (store / "memory/copy.json").write_text((store / "memory/worker.json").read_text())


def _rename_node(store: Path) -> None:
    _json(store / "memory/worker.json", body_path="memory/odd.md")
    for end in (".md", ".json"):
        (store / f"memory/worker{end}").rename(store / f"memory/odd{end}")


def _secret(store: Path) -> None:
    (store / "memory/worker.md").write_text("Use ghp_" + "a1B2c3D4e5F6" * 3)


FAULTS: dict[str, tuple[str, Any]] = {
    "JsonInvalid": ("error", lambda store: (store / "memory/worker.json").write_text("{")),
    "SchemaEnum": ("error", lambda store: _json(store / "memory/worker.json", status="lively")),
    "SchemaRequired": ("error", lambda store: _json(store / "memory/worker.json", title=None)),
    "SchemaType": ("error", lambda store: _json(store / "memory/worker.json", tags="a")),
    "SchemaPattern": ("error", lambda store: _json(store / "memory/worker.json", created_at="yesterday")),
    "SchemaMinLength": ("error", lambda store: _json(store / "memory/worker.json", title="")),
    "SchemaMinimum": (
        "error",
        lambda store: _json(store / "config.json", memory={"defaultTokenBudget": 1, "autoIndex": True}),
    ),
    "SchemaUniqueItems": ("warning", lambda store: _json(store / "memory/worker.json", tags=["a", "a"])),
    "StatusNotAllowed": ("error", lambda store: _json(store / "memory/worker.json", status="closed")),
    "StageNotAllowed": ("error", lambda store: _json(store / "memory/worker.json", stage="idea")),
    "ObjectIdTypeMismatch": ("error", lambda store: _json(store / "memory/worker.json", type="gotcha")),
    "ObjectBodyPathMismatch": ("error", lambda store: _json(store / "memory/worker.json", body_path="memory/else.md")),
    "ObjectBodyPathEscapesMemory": (
        "error",
        lambda store: _json(store / "memory/worker.json", body_path="memory/../../x.md"),
    ),
    "ObjectBodyMissing": ("error", lambda store: (store / "memory/worker.md").unlink()),
    "ObjectContentHashMismatch": ("warning", lambda store: (store / "memory/worker.md").write_text("By hand.")),
    "ObjectTitleH1Mismatch": ("warning", lambda store: (store / "memory/worker.md").write_text("# Other\n\nText.")),
    "ObjectFileNameMismatch": ("warning", _rename_node),
    "ObjectIdDuplicate": ("error", _copy_node),
    "ObjectSupersededReplacementMissing": (
        "warning",
        lambda store: _json(store / "memory/worker.json", status="superseded", superseded_by="decision.none"),
    ),
    "FrontMatter": ("error", lambda store: (store / "memory/worker.md").write_text("---\na: 1\n---\nText.")),
    "FileNotUtf8": ("error", lambda store: (store / "memory/worker.md").write_bytes(b"ok\n\xff")),
    "MemoryConflictDetected": (
        "error",
        lambda store: (store / "memory/worker.md").write_text("a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> other\n"),
    ),
    "MemorySecretDetected": ("error", _secret),
    "RelationEndpointMissing": (
        "error",
        lambda store: _json(store / "relations/decision-worker-affects-feature-retry-queue.json", to="feature.none"),
    ),
    "RelationContentHashMismatch": (
        "warning",
        lambda store: _json(store / "relations/decision-worker-affects-feature-retry-queue.json", confidence="low"),
    ),
    "RelationToSelf": (
        "warning",
        lambda store: _json(store / "relations/decision-worker-affects-feature-retry-queue.json", to="decision.worker"),
    ),
    "RelationEquivalentDuplicate": (
        "error",
        lambda store: (store / "relations/copy.json").write_text(
            (store / "relations/decision-worker-affects-feature-retry-queue.json")
            .read_text()
            .replace("rel.decision", "rel.copy")
        ),
    ),
    "RelationIdDuplicate": (
        "error",
        lambda store: (store / "relations/copy.json").write_text(
            (store / "relations/decision-worker-affects-feature-retry-queue.json").read_text()
        ),
    ),
    "EventJsonlInvalid": ("error", lambda store: (store / "events.jsonl").write_text("not an event\n")),
    "EventJsonlBlankLine": (
        "error",
        lambda store: (store / "events.jsonl").write_text("\n" + (store / "events.jsonl").read_text()),
    ),
    "CanonicalFileMissing": ("warning", lambda store: (store / "events.jsonl").unlink()),
    "SchemaFileMissing": ("warning", lambda store: (store / "schema/object.schema.json").unlink()),
    "OrphanBody": ("warning", lambda store: (store / "memory/lonely.md").write_text("x")),
    "StrayFile": ("warning", lambda store: (store / "notes.txt").write_text("x")),
}


@pytest.mark.proof(keep=6)
@proves("P9.1", "E11", over="graph")
@proves("P6.2", "E11", over="graph")
@pytest.mark.parametrize("code", FAULTS)
def test_check_names_each_fault_with_its_path_and_what_to_do(filled: Any, repo: Path, code: str, tree: Any) -> None:
    severity, damage = FAULTS[code]
    damage(repo / ".memory")
    before = tree(repo)
    run = filled("check", "--json")
    found = [item for item in run.data["errors"] + run.data["warnings"] if item["code"] == code]
    assert found, run.data
    assert all(item["path"].startswith(".memory/") and item.get("hint") for item in found)
    assert run.code == (1 if severity == "error" else 0)
    assert any(item in (run.data["errors"] if severity == "error" else run.data["warnings"]) for item in found)
    assert code in filled("check").out
    assert tree(repo) == before


def test_check_gives_lines(filled: Any, repo: Path) -> None:
    _json(repo / ".memory/memory/worker.json", status="lively")
    (repo / ".memory/memory/retry-queue.md").write_text("fine\nfine\n<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n")
    lines = {item["code"]: item["line"] for item in filled("check", "--json").data["errors"]}
    assert lines["MemoryConflictDetected"] == 3
    text = (repo / ".memory/memory/worker.json").read_text().splitlines()
    assert '"status"' in text[lines["SchemaEnum"] - 1]


@proves("P6.2", "E2", over="graph")
def test_check_sees_what_git_calls_unmerged(filled: Any, repo: Path, git: Any) -> None:
    git("checkout", "-q", "-b", "other")
    filled.save({"id": "decision.worker", "body": "Theirs."})
    git.commit()
    git("checkout", "-q", "main")
    filled.save({"id": "decision.worker", "body": "Ours."})
    git.commit()
    subprocess.run(["git", "merge", "-q", "other"], cwd=repo, env=filled.env, capture_output=True, check=False)
    run = filled("check", "--json")
    assert run.code == 1
    assert {item["code"] for item in run.data["errors"]} == {"MemoryConflictDetected"}
    assert filled("inspect", "feature.retry-queue").code == 0


@proves("P6.1", "E1", over="graph")
def test_two_branches_that_each_add_something_merge_without_a_conflict(filled: Any, repo: Path, git: Any) -> None:
    for branch, title in (("one", "First"), ("two", "Second")):
        git("checkout", "-q", "-b", branch, "main")
        filled.save({"kind": "gotcha", "title": title, "body": "x"})
        # The generated section is written anew by the next command; only the memory itself is merged here.
        git("checkout", "-q", "main", "--", "AGENTS.md")
        git.commit(branch)
    git("merge", "-q", "--no-edit", "one")
    run = filled("check", "--json")
    assert run.code == 0, run.out
    events = [json.loads(line) for line in (repo / ".memory/events.jsonl").read_text().splitlines()]
    assert {"gotcha.first", "gotcha.second"} <= {event.get("id") for event in events}


# -- diff ---------------------------------------------------------------------------------


@proves("P8.1", "G5", over="graph")
def test_diff_shows_staged_unstaged_untracked_and_deleted(filled: Any, repo: Path, git: Any) -> None:
    assert filled("diff", "--json").data["files"] == []
    filled.save({"id": "feature.retry-queue", "body": "Staged text."})
    git("add", ".memory/memory/retry-queue.md", ".memory/memory/retry-queue.json")
    filled.save({"kind": "gotcha", "title": "New trap", "body": "Untracked."})
    filled.save({"id": "decision.worker", "body": "Unstaged."})
    filled.save(delete=[{"id": "question.who-pays", "reason": "r"}])
    data = filled("diff", "--json").data
    states = {Path(file["path"]).name: file for file in data["files"]}
    assert states["retry-queue.md"]["staged"] is True
    assert states["new-trap.md"]["untracked"] is True
    assert states["worker.md"]["unstaged"] is True
    assert states["who-pays.json"]["change"] == "deleted"
    assert set(data["changed_memory_ids"]) == {
        "feature.retry-queue",
        "gotcha.new-trap",
        "decision.worker",
        "question.who-pays",
    }
    for text in ("+Staged text.", "+Untracked.", "+Unstaged.", "-Unclear."):
        assert text in data["diff"]
    assert "+Staged text." in filled("diff").out


def test_diff_outside_git_says_so(tmp_path: Path, memory: Any) -> None:
    memory.init(cwd=tmp_path)
    run = memory("diff", "--json", cwd=tmp_path)
    assert run.code == 3
    assert run.error["code"] == "MemoryGitRequired"


def test_an_uncommitted_hand_edit_is_kept_before_a_save_overwrites_it(filled: Any, repo: Path) -> None:
    (repo / ".memory/memory/worker.md").write_text("My careful edit.")
    report = filled.save({"id": "decision.worker", "body": "The agent's text."})
    (kept,) = report["recovery_files"]
    assert kept["reason"] == "dirty_overwrite"
    assert (repo / kept["recovery_path"]).read_text() == "My careful edit."
    report = filled.save({"id": "feature.retry-queue", "body": "Nothing was dirty here."})
    assert report["recovery_files"] == []
    again = {"task": "t", "nodes": [{"id": "decision.worker", "body": "Once more."}]}
    (line,) = [line for line in filled("save", "--stdin", stdin=again).out.splitlines() if "Kept" in line]
    assert line.startswith("  Kept the uncommitted versions of 2 files in .memory/recovery/")
    assert (repo / line.rpartition(" ")[2] / "memory/worker.md").read_text() == "The agent's text."


@pytest.mark.proof
def test_recovery_copies_are_pruned(filled: Any, repo: Path) -> None:
    for number in range(53):
        moment = f"2026-04-{number // 24 + 1:02}T{number % 24:02}:00:00+00:00"
        (repo / ".memory/memory/worker.md").write_text(f"Edit {number}.")
        run = filled(
            "save",
            "--stdin",
            stdin={"task": "t", "nodes": [{"id": "decision.worker", "body": f"Saved {number}."}]},
            env={"MEMORY_NOW": moment},
        )
        assert run.code == 0, run.err
    kept = sorted(path.name for path in (repo / ".memory/recovery").iterdir())
    assert len(kept) == 50
    assert kept[0].startswith("2026-04-01T03")


# -- reset --------------------------------------------------------------------------------


def test_reset_asks_archives_and_can_be_undone(filled: Any, repo: Path, tree: Any) -> None:
    before = {name: data for name, data in tree(repo).items() if name.startswith(".memory")}
    refused = filled("reset")
    assert refused.code == 2
    assert "--yes" in refused.err
    data = filled("reset", "--yes", "--json").data
    assert filled("status").code == 3
    assert "memory:" not in ((repo / "AGENTS.md").read_text() if (repo / "AGENTS.md").exists() else "")
    subprocess.run(["tar", "-xzf", data["backup_path"]], cwd=repo, check=True)
    assert {name: found for name, found in tree(repo).items() if name.startswith(".memory")} == before
    assert filled("check").code == 0


def test_reset_then_init_is_the_way_to_another_version_and_keeps_the_archive(filled: Any, repo: Path) -> None:
    config = repo / ".memory/config.json"
    config.write_text(config.read_text().replace('"version": 5', '"version": 4'))
    refused = filled("save", "--stdin", "--json", stdin={"task": "t", "nodes": NODES})
    assert refused.code == 3
    assert "memory reset" in refused.error["hint"]
    backup = filled("reset", "--yes", "--json").data["backup_path"]
    assert filled("init").code == 0
    assert filled("init", "--force").code == 0
    assert (repo / backup).exists()


def test_destroy_leaves_nothing(filled: Any, repo: Path) -> None:
    filled("reset", "--yes")
    filled.init()
    assert filled("reset", "--destroy", "--yes").code == 0
    assert not (repo / ".memory").exists()


def test_reset_all_takes_every_registered_project(filled: Any, repo: Path, tmp_path: Path) -> None:
    (tmp_path / "second").mkdir()
    filled.init(cwd=tmp_path / "second")
    assert set(filled("reset", "--all", "--dry-run", "--json").data["project_roots"]) == {
        str(repo),
        str(tmp_path / "second"),
    }
    data = filled("reset", "--all", "--yes", "--json").data
    assert len(data["projects_reset"]) == 2
    assert filled("projects", "list", "--json").data["projects"] == []


def test_reset_where_there_is_nothing_says_so(repo: Path, memory: Any) -> None:
    run = memory("reset", "--yes")
    assert run.code == 0
    assert "no memory" in run.out
    assert not (repo / ".memory").exists()


# -- projects -----------------------------------------------------------------------------


def test_projects_are_added_removed_and_pruned(filled: Any, repo: Path, tmp_path: Path) -> None:
    (tmp_path / "second").mkdir()
    filled.init(cwd=tmp_path / "second")
    listed = filled("projects", "list", "--json").data["projects"]
    assert [entry["source"] for entry in listed] == ["auto", "auto"]
    added = filled("projects", "add", str(tmp_path / "second"), "--json").data["project"]
    assert added["source"] == "manual"
    assert filled("projects", "remove", added["registry_id"]).code == 0
    missing = filled("projects", "remove", added["registry_id"], "--json")
    assert missing.code == 1
    assert missing.error["code"] == "MemoryValidationFailed"
    filled("projects", "add", str(tmp_path / "second"))
    subprocess.run(["rm", "-rf", tmp_path / "second/.memory"], check=True)
    assert len(filled("projects", "prune", "--json").data["projects_removed"]) == 1
    assert [entry["project_root"] for entry in filled("projects", "list", "--json").data["projects"]] == [str(repo)]
    assert filled("projects", "add", str(tmp_path / "second")).code == 3


def test_a_broken_registry_is_kept_aside_and_begun_anew(filled: Any, repo: Path) -> None:
    registry = Path(filled.env["MEMORY_HOME"]) / "projects.json"
    registry.write_text("{ broken")
    assert filled("projects", "list").code == 0
    assert filled("projects", "add").code == 0
    assert [path.read_text() for path in registry.parent.glob("projects.invalid-*")] == ["{ broken"]
    assert len(filled("projects", "list", "--json").data["projects"]) == 1


# -- the command itself -------------------------------------------------------------------


def test_version_help_and_the_second_name(memory: Any) -> None:
    assert quire.__version__ in memory("--version").out
    assert "Everyday:" in memory("--help").out
    assert "Everyday:" in memory().out
    quire_name = memory.program[-1].replace("/memory", "/quire")
    done = subprocess.run([quire_name, "--version"], capture_output=True, text=True, check=True)
    assert quire.__version__ in done.stdout


def test_every_command_has_help_with_an_example(memory: Any) -> None:
    from quire.surfaces.cli.main import COMMANDS

    for name in COMMANDS:
        text = memory(name, "--help").out
        assert "Example" in text, name
        assert f"memory {name}" in text


def test_usage_errors_exit_with_2_and_speak_json_when_asked(memory: Any) -> None:
    for arguments in (
        ["bogus"],
        ["status", "--bogus"],
        ["inspect"],
        ["inspect", "a", "b"],
        ["save"],
        ["save", "--stdin", "--file", "x"],
    ):
        assert memory(*arguments).code == 2
        assert memory("--json", *arguments).error["hint"]
    assert "Did you mean 'status'" in memory("statsu").err


def test_json_may_stand_before_or_after_the_command(filled: Any) -> None:
    assert filled("--json", "status").data == filled("status", "--json").data


def test_commands_without_a_memory_say_how_to_begin(repo: Path, memory: Any) -> None:
    for arguments in (["status"], ["inspect", "feature.x"], ["check"], ["upgrade"]):
        run = memory(*arguments, "--json")
        assert run.code == 3
        assert run.error["code"] == "MemoryNotInitialized"
        assert "memory init" in run.error["hint"]
    assert memory("save", "--stdin", stdin=b"{}").code == 3
    assert not (repo / ".memory").exists()


def test_docs_are_read_offline(memory: Any) -> None:
    topics = [row["topic"] for row in memory("docs", "--json").data["topics"]]
    assert {"getting-started", "cli", "save", "storage"} <= set(topics)
    assert memory("docs", topics[0]).out.startswith("# ")
    run = memory("docs", "geting-started")
    assert run.code == 1
    assert "getting-started" in run.err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_printed(memory: Any, shell: str) -> None:
    script = memory("completion", shell).out
    assert "_MEMORY_COMPLETE" in script


def test_completion_completes(memory: Any) -> None:
    env = {"_MEMORY_COMPLETE": "bash_complete", "COMP_WORDS": "memory sta", "COMP_CWORD": "1"}
    assert "status" in memory(env=env).out


def test_upgrade_says_that_there_is_nothing_to_do(filled: Any) -> None:
    assert "current" in filled("upgrade").out


def test_the_reader_going_away_is_no_error(filled: Any, repo: Path) -> None:
    line = f"'{filled.program[-1]}' docs storage | head -n 1"
    done = subprocess.run(["bash", "-c", line], cwd=repo, env=filled.env, capture_output=True, text=True, check=False)
    assert done.stderr == ""


def test_control_characters_from_files_never_reach_the_terminal(filled: Any, repo: Path) -> None:
    (repo / ".memory/memory/worker.md").write_text("evil \x1b[31mred\x1b[0m \u202eflip")
    text = filled("inspect", "decision.worker").out
    assert "\x1b" not in text
    assert "\u202e" not in text
