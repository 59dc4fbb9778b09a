"""`memory export`: all four layers, every option, files that may not be written, texts that mean no good."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
from journal_here import Journal, on_a_terminal

from installed import Git, Memory, Run, make_environment
from quire.files.world import World
from quire.project import Project
from quire.verbs.admin.export import Export, export
from quire.verbs.envelope import succeeded
from quire.verbs.plain import json_line, plain

NOW = "2026-03-02T11:19:00+00:00"
HOSTILE = "# Heading\n\n```\nnever closed <!-- nor this\n\x1b]0;owned\x07"
CURRENT = {
    "project.harbor",
    "feature.queue",
    "decision.one-queue",
    "gotcha.late-clocks",
    "question.how-many",
    "profile:tools.shell",
    "profile:learnings.flaky_ci",
    "bundle:project",
    "bundle:project-map",
    "bundle:current-focus",
    "checkpoint:chk-000001",
}
"""What is exported without options, but for the facts, whose ids are made up."""


def _fill(memory: Memory, git: Git) -> None:
    """Something current and something retired in every layer, and a private entry."""
    (memory.cwd / "queue.py").write_text("def push(item):\n    return item\n")
    memory.init("--with", "facts,profile,journal")
    git.commit()
    memory.save(
        {"kind": "feature", "title": "Queue", "body": "A queue.", "anchors": ["queue.py"], "stage": "building"},
        {"kind": "feature", "title": "Fax", "body": "Sends a fax.", "stage": "dead"},
        {"kind": "decision", "title": "Two queues", "body": "One for each."},
        {
            "kind": "gotcha",
            "title": "Late clocks",
            "body": "# Drift\n\nClocks drift.\n\n```\nnever closed",
            "related": [{"predicate": "affects", "to": "feature.queue"}],
        },
        {"kind": "question", "title": "How many", "body": "How many workers?"},
        {"kind": "question", "title": "Which port", "body": "8080."},
    )
    memory.save(
        {"kind": "decision", "title": "One queue", "body": "One is enough."},
        {"id": "question.which-port", "status": "closed"},
        supersede=[{"id": "decision.two-queues", "superseded_by": "decision.one-queue", "reason": "one is enough"}],
    )
    for line in (
        ("facts", "store", "Specs", "Invoices are numbered without gaps.", "--tag", "billing"),
        ("facts", "store", "Decisions", "The queue lives in Redis."),
        ("profile", "remember", "tools", "shell", "fish"),
        ("profile", "remember", "tools", "editor", "ed"),
        ("profile", "remember", "tools", "editor", "ed", "--status", "archived"),
        ("profile", "remember", "learnings", "flaky_ci", "The job needs two cores."),
        ("profile", "remember", "user", "timezone", "Europe/Madrid"),
        ("profile", "link", "learnings.flaky_ci", "user.timezone", "related-to"),
        ("profile", "private", "here", "--yes"),
    ):
        run = memory(*line)
        assert run.code == 0, (line, run)
    (memory.cwd / "queue.py").write_text("def push(item):\n    return [item]\n")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    """One memory for all tests, which only read it."""
    folder = tmp_path_factory.mktemp("export")
    env = make_environment(folder)
    root = folder / "harbor"
    root.mkdir()
    git = Git(root, env)
    git("init", "--quiet")
    memory = Memory(root, {**env, "MEMORY_NOW": NOW})
    _fill(memory, git)
    return memory


def exported(memory: Memory, *options: str) -> Any:
    run = memory("export", "--format", "json", *options)
    assert run.code == 0, run.err
    return json.loads(run.out)


def refs(memory: Memory, *options: str) -> set[str]:
    return {item["ref"] for item in exported(memory, *options)["records"] if not item["ref"].startswith("fact:")}


# -- what is in it ----------------------------------------------------------------------------


def test_json_has_what_is_current_of_every_layer(filled: Memory) -> None:
    run = filled("export", "--format", "json")
    found = json.loads(run.out)
    assert (found["version"], found["exported_at"]) == (1, NOW)
    assert found["project"] == {"id": "project.harbor", "name": "harbor"}
    assert refs(filled) == CURRENT
    facts = [item for item in found["records"] if item["kind"] == "fact"]
    assert [(item["section"], item["text"], item["tags"]) for item in facts] == [
        ("Decisions", "The queue lives in Redis.", []),
        ("Specs", "Invoices are numbered without gaps.", ["billing"]),
    ]
    by_ref = {item["ref"]: item for item in found["records"]}
    queue = by_ref["feature.queue"]
    assert (queue["stage"], queue["anchors"], queue["verdict"]) == ("building", ["queue.py"], "changed")
    assert queue["because"]
    assert queue["path"] == ".memory/memory/queue.json"
    assert (by_ref["decision.one-queue"]["verdict"], by_ref["project.harbor"]["verdict"]) == ("unanchored", None)
    assert by_ref["profile:tools.shell"]["text"] == "shell: fish"
    assert not any(item["private"] for item in found["records"])
    ends = {(item["source"], item["predicate"], item["target"]) for item in found["edges"]}
    assert ends == {
        ("gotcha.late-clocks", "affects", "feature.queue"),
        ("decision.one-queue", "supersedes", "decision.two-queues"),
    }
    assert run.err == "Left out: 4 not current (--all), 1 of the journal's history (--all), 1 private (--private).\n"


def test_all_adds_what_is_retired_and_the_events(filled: Memory) -> None:
    added = refs(filled, "--all") - CURRENT
    assert {ref for ref in added if not ref.startswith("event:")} == {
        "feature.fax",
        "decision.two-queues",
        "question.which-port",
        "profile:tools.editor",
    }
    assert [ref for ref in added if ref.startswith("event:")] != []
    assert refs(filled, "--all") >= CURRENT


def test_private_entries_come_only_where_they_are_asked_for(filled: Memory) -> None:
    for name in ("markdown", "json", "mcp"):
        for more in ((), ("--all",)):
            assert "Madrid" not in filled("export", "--format", name, *more).out
            assert "timezone" not in filled("export", "--format", name, *more).out
        assert "Madrid" in filled("export", "--format", name, "--private").out
    found = exported(filled, "--private")
    (entry,) = (item for item in found["records"] if item["private"])
    assert (entry["ref"], entry["path"]) == ("profile:user.timezone", "")
    assert ("profile:learnings.flaky_ci", "profile:user.timezone") in {
        (item["source"], item["target"]) for item in found["edges"]
    }


@pytest.mark.parametrize("layers", ["graph", "facts", "profile", "journal", "facts, graph", "profile,,journal"])
def test_layers_are_chosen(layers: str, filled: Memory) -> None:
    found = exported(filled, "--layer", layers)
    assert {item["layer"] for item in found["records"]} == {word.strip() for word in layers.split(",") if word}
    if layers == "profile":
        assert "timezone" not in json.dumps(found)


def test_the_page_has_a_heading_for_every_record(filled: Memory) -> None:
    text = filled("export", "--all", "--private").out
    split = text.split("\n")
    assert [line for line in split if line.startswith(("# ", "## "))] == [
        "# Memory of harbor",
        "## Product",
        "## Facts",
        "## Profile",
        "## Journal",
    ]
    assert [line for line in split if line.startswith("### ")][:7] == [
        "### Project",
        "### Features: building",
        "### Features: dead",
        "### Decisions",
        "### Gotchas",
        "### Questions",
        "### Decisions",
    ]
    told = exported(filled, "--all", "--private")["records"]
    in_full = [item for item in told if item["kind"] not in ("checkpoint", "event")]
    assert sum(line.startswith("#### ") for line in split) == len(in_full)
    for item in told:
        assert f"`{item['ref']}`" in text
    assert "> # Drift\n>\n> Clocks drift.\n>\n> ```\n> never closed\n\n### Questions\n" in text
    assert "- Verdict: changed (" in text
    assert "  - affects `feature.queue`\n" in text
    assert "  - `gotcha.late-clocks` affects this\n" in text


def test_the_lines_for_the_other_server_name_only_what_is_among_them(filled: Memory) -> None:
    run = filled("export", "--format", "mcp")
    found = [json.loads(line) for line in run.out.splitlines()]
    names = {item["name"]: item for item in found if item["type"] == "entity"}
    assert {name for name in names if not name.startswith("fact:")} == CURRENT
    assert names["feature.queue"] == {
        "type": "entity",
        "name": "feature.queue",
        "entityType": "feature",
        "observations": ["Queue", "A queue.", "Status: active", "Stage: building", "Anchor: queue.py"],
    }
    assert [item for item in found if item["type"] == "relation"] == [
        {"type": "relation", "from": "gotcha.late-clocks", "to": "feature.queue", "relationType": "affects"}
    ]


def test_the_same_memory_gives_the_same_bytes(filled: Memory) -> None:
    for name in ("markdown", "json", "mcp"):
        line = ("export", "--format", name, "--all", "--private")
        assert filled(*line).out == filled(*line).out


def test_nothing_is_written_but_the_index(filled: Memory, tree: Any) -> None:
    filled("export")
    before = tree(filled.cwd)
    for name in ("markdown", "json", "mcp"):
        assert filled("export", "--format", name, "--all", "--private").code == 0
    assert tree(filled.cwd) == before


# -- the envelope -----------------------------------------------------------------------------


def test_json_answers_with_the_text_and_the_counts(filled: Memory) -> None:
    printed = filled("export").out
    run = filled("export", "--json")
    assert run.err == ""
    assert run.data == {
        "format": "markdown",
        "text": printed,
        "records": len(CURRENT) + 2,
        "edges": 2,
        "left_out": {"private": 1, "events": 1, "not_current": 4},
        "path": None,
    }


def test_the_fields_are_those_of_the_project(memory: Memory, repo: Path, world: World) -> None:
    memory.init()
    project = Project.open(str(repo), world)
    done = export(project, Export(output_format="json"))
    printed = memory("export", "--format", "json", "--json").out
    assert printed == json_line(succeeded(project, plain(done), done.warnings)) + "\n"


# -- files ------------------------------------------------------------------------------------


@pytest.fixture
def here(memory: Memory, git: Git) -> Memory:
    memory.init("--no-guidance")
    memory.save({"kind": "decision", "title": "One queue", "body": "Größe: 例."})
    git.commit()
    return memory


@pytest.mark.parametrize("name", ["markdown", "json", "mcp"])
def test_a_file_holds_what_would_be_printed(name: str, here: Memory, repo: Path) -> None:
    printed = here("export", "--format", name).out
    run = here("export", "--format", name, "--output", "out.txt")
    assert (run.code, run.err) == (0, "")
    assert run.out == f"Wrote {repo / 'out.txt'}: 2 records, 0 relations.\n"
    assert (repo / "out.txt").read_bytes().decode() == printed
    assert sorted(path.name for path in repo.iterdir() if path.name.startswith(".quire")) == []


def test_a_dash_is_standard_output(here: Memory, repo: Path) -> None:
    assert here("export", "--output", "-").out == here("export").out
    assert not (repo / "-").exists()


def test_with_json_the_envelope_says_where_the_text_is(here: Memory, repo: Path) -> None:
    run = here("export", "--output", "../out.md", "--json", cwd=repo)
    assert run.data["path"] == str(repo.parent / "out.md")
    assert (run.data["text"], run.data["records"]) == (None, 2)
    assert (repo.parent / "out.md").read_text().startswith("# Memory of harbor\n")


def test_a_file_is_named_from_the_current_folder(here: Memory, repo: Path) -> None:
    (repo / "docs").mkdir()
    assert here("export", "--output", "out.md", cwd=repo / "docs").code == 0
    assert (repo / "docs/out.md").exists()


def test_a_file_that_is_there_is_replaced_only_by_force(here: Memory, repo: Path) -> None:
    (repo / "out.md").write_text("mine")
    (repo / "out.md").chmod(0o640)
    run = here("export", "--output", "out.md")
    assert (run.code, run.out) == (1, "")
    assert run.err == "error: `out.md` already exists.\nhint: --force replaces it.\n"
    assert (repo / "out.md").read_text() == "mine"
    assert here("export", "--output", "out.md", "--force").code == 0
    assert (repo / "out.md").read_text() == here("export").out
    assert stat.S_IMODE((repo / "out.md").stat().st_mode) == 0o640


def test_a_link_is_kept_and_what_it_leads_to_is_replaced(here: Memory, repo: Path) -> None:
    (repo / "real.md").write_text("mine")
    (repo / "link.md").symlink_to("real.md")
    assert here("export", "--output", "link.md").code == 1
    assert here("export", "--output", "link.md", "--force").code == 0
    assert (repo / "link.md").is_symlink()
    assert (repo / "real.md").read_text().startswith("# Memory of harbor\n")


REFUSED = {
    ".memory/out.md": "is inside",
    ".memory/memory/../out.md": "is inside",
    "sub/../.git/out.md": "is inside",
    ".GIT/out.md": "is inside",
    ".ai-state/out.md": "is inside",
    ".agent-memory/memory/out.md": "is inside",
    "../other/.git/hooks/pre-commit": "is inside",
    "away/out.md": "is inside",
    "into-memory.md": "is inside",
    "sub": "is a folder",
    "sub/": "is a folder",
    ".": "is a folder",
    "": "is not a file name",
    "  ": "is not a file name",
    "none/out.md": "is in a folder that does not exist",
    "sub/file/out.md": "is in a folder that does not exist",
    "pipe": "is not a regular file",
    "/dev/null": "is not a regular file",
}


@pytest.mark.proof(keep=5)
@pytest.mark.parametrize("name", REFUSED)
def test_a_place_that_is_none_for_an_export_is_refused(name: str, here: Memory, repo: Path, tree: Any) -> None:
    (repo / "sub").mkdir()
    (repo / "sub/file").write_text("x")
    (repo.parent / "other/.git/hooks").mkdir(parents=True)
    (repo / "away").symlink_to(".memory")
    (repo / "into-memory.md").symlink_to(".memory/config.json")
    os.mkfifo(repo / "pipe")
    here("export")
    before = tree(repo.parent, generated=True)
    for force in ((), ("--force",)):
        run = here("export", f"--output={name}", *force, "--json")
        assert run.code == 1, run
        assert (run.error["code"], run.error["details"]) == ("MemoryValidationFailed", {"field": "output"})
        assert f"`{name}` {REFUSED[name]}" in run.error["message"]
        assert run.error["hint"]
    assert tree(repo.parent, generated=True) == before


def test_a_project_below_a_folder_of_such_a_name_can_be_exported(memory: Memory, tmp_path: Path) -> None:
    root = tmp_path / ".memory/harbor"
    root.mkdir(parents=True)
    assert memory("init", cwd=root).code == 0
    assert memory("export", "--output", "out.md", cwd=root).code == 0
    assert (root / "out.md").exists()


AS_OTHERS = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
"""Even the administrator may then do only what the modes of files allow."""


@pytest.mark.parametrize("mode", [0o555, 0o333])
def test_a_folder_that_cannot_be_written_or_looked_through_is_said(mode: int, here: Memory, repo: Path) -> None:
    if AS_OTHERS and (not shutil.which(AS_OTHERS[0]) or subprocess.run([*AS_OTHERS, "true"], check=False).returncode):
        pytest.skip("the administrator may write anywhere, and cannot be kept from it here")
    (repo / "closed").mkdir()
    (repo / "closed").chmod(mode)
    run = Memory(repo, here.env, AS_OTHERS)("export", "--output", "closed/out.md", "--json")
    (repo / "closed").chmod(0o755)
    assert (run.code, run.error["code"]) == (1, "MemoryStorageFailed")
    assert "Could not write `out.md`: permission was denied" in run.error["message"]
    assert list((repo / "closed").iterdir()) == []


# -- bad input, and what is missing -----------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        ("--format", "yaml"),
        ("--format",),
        ("--layer", "everything"),
        ("--layer", "graph,nothing"),
        ("--layer", ""),
        ("--layer", ","),
        ("--output",),
        ("--no-such",),
        ("extra",),
    ],
)
def test_a_command_line_that_is_wrong_is_refused(line: tuple[str, ...], here: Memory) -> None:
    run = here("export", *line, "--json") if line != ("--output",) else here("export", "--json", *line)
    assert run.code == 2, run
    assert run.error["code"] == "MemoryUsage"


def test_the_project_refuses_what_the_command_line_would(project: Project) -> None:
    from quire.model.errors import InputError

    for options in ({"output_format": "yaml"}, {"layers": ["nothing"]}, {"output": "a\0b"}):
        with pytest.raises(InputError):
            export(project, Export(**options))


def test_no_memory_is_said_as_ever(memory: Memory, repo: Path, tree: Any) -> None:
    before = tree(repo)
    run = memory("export", "--output", "out.md", "--json")
    assert (run.code, run.error["code"]) == (3, "MemoryNotInitialized")
    assert tree(repo) == before


@pytest.mark.parametrize("name", ["markdown", "json", "mcp"])
def test_nothing_to_export_is_a_valid_document_and_a_note(name: str, here: Memory) -> None:
    run = here("export", "--layer", "facts", "--format", name)
    assert (run.code, run.err) == (0, "Nothing to export.\n")
    if name == "json":
        assert json.loads(run.out)["records"] == json.loads(run.out)["edges"] == []
    else:
        assert run.out == ("" if name == "mcp" else f"# Memory of harbor\n\nExported {NOW}.\n\nNothing is recorded.\n")


@pytest.mark.parametrize("line", [("profile", "remember", "tools", "shell", "fish"), ("journal", "init")])
def test_a_profile_or_a_journal_alone_is_enough(line: tuple[str, ...], memory: Memory, repo: Path) -> None:
    assert memory(*line).code == 0
    found = exported(memory)
    assert found["project"] == {"id": "", "name": "harbor"}
    assert {item["layer"] for item in found["records"]} == {line[0]}
    assert memory("export").out.startswith("# Memory of harbor\n")
    assert not (repo / ".memory").exists()


def test_a_file_that_cannot_be_read_is_a_warning(here: Memory, repo: Path) -> None:
    shutil.copy(repo / ".memory/memory/one-queue.md", repo / ".memory/memory/broken.md")
    (repo / ".memory/memory/broken.json").write_text("{")
    run = here("export", "--format", "json")
    assert run.code == 0
    assert "warning: Not everything could be read: .memory/memory/broken.json." in run.err
    assert len(json.loads(run.out)["records"]) == 2
    assert [item["code"] for item in here("export", "--json").json["warnings"]] == ["FilesUnreadable"]


# -- texts that mean no good ------------------------------------------------------------------


def _hostile(memory: Memory, repo: Path) -> None:
    """As other programs and merges leave it: nothing of this would be accepted by a command."""
    memory.init("--no-guidance")
    memory.save({"kind": "decision", "title": "One queue", "body": "One."})
    (repo / ".memory/memory/one-queue.md").write_text(HOSTILE, encoding="utf-8")
    fact = {"_type": "fact", "id": "a`b", "section": "Odd\n# Section", "content": HOSTILE, "tags": ["x\r# y"]}
    text = json.dumps({**fact, "version": 1, "created_at": "2026-03-01T09:00:00.000Z"})
    (repo / ".memory/facts.jsonl").write_text(f"{text}\n", encoding="utf-8")


@pytest.mark.parametrize("name", ["markdown", "json", "mcp"])
def test_hostile_text_stays_text(name: str, memory: Memory, repo: Path) -> None:
    _hostile(memory, repo)
    run: Run = memory("export", "--format", name)
    assert run.code == 0, run.err
    if name == "markdown":
        assert [line for line in run.out.split("\n") if line.startswith(("# ", "## ", "```", "<"))] == [
            "# Memory of harbor",
            "## Product",
            "## Facts",
        ]
        assert "> never closed <!-- nor this\n> \\u{1B}]0;owned\\u{7}\n" in run.out
    elif name == "json":
        texts = [item["text"] for item in json.loads(run.out)["records"] if item["kind"] != "project"]
        assert texts == [HOSTILE, HOSTILE]
    else:
        found = [json.loads(line) for line in run.out.splitlines()]
        assert [item["type"] for item in found] == ["entity"] * 3
        assert found[2]["observations"][0] == "# Heading"


def test_a_terminal_is_told_nothing_that_it_would_act_on(memory: Memory, repo: Path) -> None:
    _hostile(memory, repo)
    for name in ("markdown", "json", "mcp"):
        code, seen = on_a_terminal(Journal(repo, memory.env), "memory", "export", "--format", name)
        assert code == 0
        assert "\x1b" not in seen
        assert "\x07" not in seen
        assert "never closed" in seen
