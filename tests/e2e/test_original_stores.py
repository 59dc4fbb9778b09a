"""Stores made by the original program, opened in place with the installed command: read, updated, refused."""

import hashlib
import json
import re
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from installed import Git
from promised import proves
from quire.surfaces.cli.main import COMMANDS, main

ROOT = Path(__file__).parents[2]
BUNDLED = ROOT / "tests" / "data" / "original-store"
RECORDINGS = ROOT.parent / "shared" / "fixtures" / "graph"
# None of them is damaged as Quire sees it. The original calls its own error-catalog and sk-trap damaged: it reads a
# body's `=======` underline as a merge conflict, and a slug with `sk-` in it as a key.
FIXTURES = (
    "cafe-lumiere",
    "error-catalog",
    "harbor-invoices",
    "map-stress",
    "mcp-and-viewer",
    "no-git-notes",
    "orbit-drift",
    "probes",
    "probes-2",
    "sk-trap",
)
STORES = ("bundled", *(f"{fixture}/{form}" for fixture in FIXTURES for form in ("files", "git")))
KNOWN_WARNINGS = {"AnchorOrphaned", "ObjectTitleH1Mismatch", "ProductMapStale", "SaysNearlyTheSame"}
_MAP = re.compile(rb"(?<=<!-- memory:map:start -->\n).*?(?=<!-- memory:map:end -->)", re.S)

Tree = dict[str, bytes]


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of one store of the original, in its product's folder."""
    return _copied(request.param, tmp_path)


@pytest.fixture
def bundled(tmp_path: Path) -> Path:
    return _copied("bundled", tmp_path)


def _copied(name: str, tmp_path: Path) -> Path:
    fixture, _, form = name.partition("/")
    if fixture == "bundled":
        return shutil.copytree(BUNDLED, tmp_path / "store")
    if not RECORDINGS.is_dir():
        pytest.skip("the recordings of the original program are not here")
    if form == "files":
        shutil.copytree(RECORDINGS / fixture / "repo", tmp_path / "store")
        for path in (tmp_path / "store", *(tmp_path / "store").rglob("*")):
            path.chmod(path.stat().st_mode | 0o200)
        return tmp_path / "store"
    with tarfile.open(RECORDINGS / fixture / "repo-with-git.tar.gz") as tar:
        tar.extractall(tmp_path / "unpacked", filter="data")
    (folder,) = (tmp_path / "unpacked").iterdir()
    return folder


@pytest.fixture
def files(tree: Callable[..., Tree]) -> Callable[[Path], Tree]:
    """Every file with its bytes, also git's own; only the index may come and go."""

    def read(folder: Path) -> Tree:
        found = tree(folder, generated=True)
        return {path: data for path, data in found.items() if not path.startswith(".memory/index/")}

    return read


def _nodes(folder: Path) -> dict[str, Path]:
    """The sidecars by their nodes' ids."""
    paths = sorted((folder / ".memory" / "memory").rglob("*.json"))
    return {json.loads(path.read_bytes())["id"]: path for path in paths}


# -- reading -------------------------------------------------------------------------------------


@pytest.mark.proof(keep=3)
@proves("P5.5", over="graph")
def test_check_finds_nothing_wrong_and_changes_nothing(store: Path, memory: Any, files: Callable[[Path], Tree]) -> None:
    before = files(store)
    run = memory("check", "--json", cwd=store)
    assert run.data["errors"] == []
    assert run.code == 0
    assert {warning["code"] for warning in run.data["warnings"]} <= KNOWN_WARNINGS
    assert files(store) == before


@pytest.mark.proof(keep=3)
@proves("P5.5", over="graph")
def test_status_and_inspect_show_every_node_and_change_nothing(
    store: Path, memory: Any, files: Callable[[Path], Tree], capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    before = files(store)
    nodes = _nodes(store)
    status = memory("status", "--json", cwd=store).data
    assert sum(status["nodes_by_kind"].values()) == len(nodes)
    assert status["relations"] == len(list((store / ".memory" / "relations").glob("*.json")))
    assert status["unreadable"] == []
    kinds = {}
    for node_id, path in nodes.items():
        # One process for each kind; the others through the same command in this one, for the time it takes.
        if kinds.setdefault(node_id.partition(".")[0], node_id) == node_id:
            shown = memory("inspect", node_id, "--json", cwd=store).data["object"]
        else:
            with pytest.raises(SystemExit) as ended:
                main(["-C", str(store), "inspect", node_id, "--json"])
            assert ended.value.code == 0
            shown = json.loads(capsysbinary.readouterr().out)["data"]["object"]
        fields = json.loads(path.read_bytes())
        assert shown["json_path"] == path.relative_to(store).as_posix()
        assert shown["body"] == path.with_suffix(".md").read_bytes().decode()
        assert shown["edited_by_hand"] is False
        assert {name: shown[name] for name in fields if name != "body_path"} == {
            name: value for name, value in fields.items() if name != "body_path"
        }
    assert files(store) == before


# -- updating ------------------------------------------------------------------------------------


def _pick(folder: Path) -> tuple[str, Path]:
    """A node of the kind that a user updates most; every store has one, in a folder of its kind."""
    return next((node_id, path) for node_id, path in _nodes(folder).items() if node_id.startswith("feature."))


@pytest.mark.proof(keep=3)
@proves("P5.5", over="graph")
def test_an_update_changes_only_its_node_the_log_and_the_map(
    store: Path, memory: Any, files: Callable[[Path], Tree]
) -> None:
    node_id, path = _pick(store)
    sidecar = path.relative_to(store).as_posix()
    body, log = sidecar.removesuffix(".json") + ".md", ".memory/events.jsonl"
    fields, before = json.loads(path.read_bytes()), files(store)
    change = {"id": node_id, "body": "Said anew.\n\nIn two paragraphs.", "tags": ["anew", *fields["tags"]]}
    intent = {"task": "say it anew", "nodes": [change]}

    saved = memory("save", "--stdin", "--json", cwd=store, stdin=intent).data
    after = files(store)

    assert saved["memory_updated"] == [node_id]
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    assert changed <= {sidecar, body, log, "AGENTS.md", "CLAUDE.md"}
    assert {sidecar, body, log} <= changed
    for name in ("AGENTS.md", "CLAUDE.md"):
        assert _MAP.sub(b"", after[name]) == _MAP.sub(b"", before[name])
        listed = node_id.encode() in after[name] or b" more: `memory status`" in after[name]
        assert listed or fields["status"] != "active"
    assert after[body] == change["body"].encode()
    written = json.loads(after[sidecar])
    seals = [item for item in written["evidence"] if "@" in item["id"]]
    assert seals or not fields.get("anchors") or not (store / ".git").exists()
    commit = {"commit": written["source"]["commit"]} if "commit" in written["source"] else {}
    expected = {
        **fields,
        "evidence": [*fields["evidence"], *seals],
        "source": {**fields["source"], **commit},
        "tags": change["tags"],
        "content_hash": "sha256:" + hashlib.sha256(after[body]).hexdigest(),
        "updated_at": memory.env["MEMORY_NOW"],
    }
    assert after[sidecar].decode() == json.dumps(expected, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    assert after[log].startswith(before[log])
    (event,) = after[log].removeprefix(before[log]).splitlines()
    assert json.loads(event)["event"] == "memory.updated"
    assert event.decode() == json.dumps(json.loads(event), sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    again = memory("save", "--stdin", "--json", cwd=store, stdin=intent).data
    assert (again["unchanged"], again["files_changed"]) == ([node_id], [])
    assert files(store) == after
    assert memory("check", "--json", cwd=store).data["errors"] == []


# -- branches ------------------------------------------------------------------------------------


@pytest.mark.proof(keep=3)
def test_a_branch_of_the_original_and_one_of_ours_merge_in_a_clone_without_quire(store: Path, memory: Any) -> None:
    """The original changes the sidecar and the log in their places; git alone puts them together."""
    git = Git(store, memory.env)
    if not (store / ".git").exists():
        git("init", "--quiet")
    git("checkout", "--quiet", "-B", "main")
    git.commit("as the original left it")
    git("update-ref", "refs/remotes/origin/main", "main")
    node_id, path = _pick(store)
    tags, body = json.loads(path.read_bytes())["tags"], path.with_suffix(".md")

    git("checkout", "--quiet", "-b", "original")
    _changed_by_the_original(store, path, tags=[*tags, "original"])
    git.commit("original")
    git("checkout", "--quiet", "-b", "ours", "main")
    new = {"kind": "gotcha", "title": "Branches meet", "body": "Here."}
    intent = {"task": "on a branch", "nodes": [{"id": node_id, "body": "Said anew."}, new]}
    assert memory("save", "--stdin", "--json", cwd=store, stdin=intent).data["files_changed"]
    git.commit("ours")

    git("checkout", "--quiet", "main")
    for name in ("original", "ours"):
        git("-c", "core.attributesFile=/dev/null", "merge", "--quiet", "--no-edit", name)
    for folded in (False, True):
        assert memory("check", "--json", cwd=store).data["errors"] == []
        found = memory("inspect", node_id, "--json", cwd=store).data["object"]
        assert (found["tags"], found["body"]) == ([*tags, "original"], "Said anew.")
        assert memory("inspect", "gotcha.branches-meet", "--json", cwd=store).code == 0
        if not folded:
            assert memory("fold", cwd=store).code == 0
    assert body.read_text() == "Said anew."
    written = json.loads(path.read_bytes())
    assert written["content_hash"] == "sha256:" + hashlib.sha256(b"Said anew.").hexdigest()
    events = [json.loads(line)["event"] for line in (store / ".memory/events.jsonl").read_bytes().splitlines()[-3:]]
    assert sorted(events) == ["memory.created", "memory.updated", "memory.updated"]


def _changed_by_the_original(store: Path, path: Path, **fields: Any) -> None:
    log = store / ".memory/events.jsonl"
    changed = {**json.loads(path.read_bytes()), **fields, "updated_at": "2026-03-02T11:00:00+00:00"}
    path.write_text(json.dumps(changed, indent=2, sort_keys=True, ensure_ascii=False) + "\n")
    event = {
        "actor": "agent",
        "event": "memory.updated",
        "id": changed["id"],
        "timestamp": changed["updated_at"],
    }
    with log.open("a") as file:
        file.write(json.dumps(event, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n")


def test_a_sidecar_in_an_order_of_its_own_keeps_it(bundled: Path, memory: Any) -> None:
    node_id, path = _pick(bundled)
    fields = json.loads(path.read_bytes())
    order = ["id", "title", *(name for name in fields if name not in ("id", "title"))]
    path.write_text(json.dumps({name: fields[name] for name in order}, indent=2) + "\n")
    memory("save", "--stdin", cwd=bundled, stdin={"task": "retitle", "nodes": [{"id": node_id, "title": "Other"}]})
    assert list(json.loads(path.read_bytes())) == order


@proves("P5.5", over="graph")
def test_a_field_that_quire_does_not_know_survives_an_update(bundled: Path, memory: Any) -> None:
    node_id, path = _pick(bundled)
    fields = {**json.loads(path.read_bytes()), "owner": {"team": "harbour", "since": [2024, 2025]}}
    path.write_text(json.dumps(fields, indent=2, sort_keys=True) + "\n")
    memory("save", "--stdin", cwd=bundled, stdin={"task": "retitle", "nodes": [{"id": node_id, "title": "Other"}]})
    assert json.loads(path.read_bytes())["owner"] == fields["owner"]


# -- another version -----------------------------------------------------------------------------

_INTENT = {"task": "t", "nodes": [{"id": "feature.berth-map", "title": "Map of berths"}]}
REFUSED = {
    "add": [("add", "gotcha", "Clocks drift"), ("add", "fact", "Clocks drift"), ("add", "preference", "No clocks")],
    "list": [("list",)],
    "brief": [("brief", "src")],
    "check": [("check",), ("check", "--repair"), ("check", "--undo"), ("check", "--repairs")],
    "confirm": [("confirm", "feature.berth-map")],
    "diff": [("diff",)],
    "export": [("export",), ("export", "--format", "json", "--all", "--output", "out.json")],
    "facts": [
        ("facts",),
        ("facts", "store", "Specs", "A berth is numbered."),
        ("facts", "supersede", "abcd", "A berth is numbered."),
        ("facts", "archive", "abcd"),
        ("facts", "restore", "abcd"),
        ("facts", "connect", "abcd", "efgh", "enables"),
        ("facts", "recall", "berths"),
        ("facts", "list"),
        ("facts", "search-archive", "berths"),
        ("facts", "episodes"),
        ("facts", "focus", "abcd"),
        ("facts", "release"),
        ("facts", "context", "berths"),
        ("facts", "ingest"),
        ("facts", "session", "s1", "--close"),
        ("facts", "normalize", "--write"),
        ("facts", "import", "AGENTS.md"),
    ],
    "import": [("import",), ("import", "--all")],
    "inbox": [
        ("inbox",),
        ("inbox", "accept", "--all"),
        ("inbox", "reject", "--value", "A berth is numbered."),
        ("inbox", "lift", "in-0123"),
        ("inbox", "collect"),
    ],
    "init": [("init",), ("init", "--dry-run")],
    "integrate": [("integrate", "claude"), ("integrate", "claude", "--remove"), ("integrate", "--repair")],
    "inspect": [("inspect", "feature.berth-map")],
    "journal": [
        ("journal",),
        ("journal", "init"),
        ("journal", "init", "--yes"),
        ("journal", "update"),
        ("journal", "recall"),
        ("journal", "query", "berths"),
        ("journal", "status"),
        ("journal", "add", "claude-local", "."),
        ("journal", "sources"),
        ("journal", "remove", "agent"),
        ("journal", "sync", "--all"),
        ("journal", "log"),
        ("journal", "diff", "chk-000001"),
        ("journal", "restore", "chk-000001"),
        ("journal", "validate"),
        ("journal", "validate", "--repair"),
        ("journal", "automate", "run-once"),
        ("journal", "automate", "start"),
    ],
    "note": [("note", "Look at it.")],
    "notes": [("notes",), ("notes", "clear"), ("notes", "undo")],
    "profile": [
        ("profile",),
        ("profile", "session-start"),
        ("profile", "remember", "tools", "editor", "vim"),
        ("profile", "forget", "tools", "editor"),
        ("profile", "restore"),
        ("profile", "restore", "tools", "editor"),
        ("profile", "link", "tools.editor", "tools.shell", "elaborates"),
        ("profile", "unlink", "tools.editor", "tools.shell"),
        ("profile", "recall", "tools"),
        ("profile", "search", "berths"),
        ("profile", "connections", "tools", "editor"),
        ("profile", "about-me"),
        ("profile", "about-us"),
        ("profile", "index"),
        ("profile", "context"),
        ("profile", "status"),
        ("profile", "reflect", "--apply", "all"),
        ("profile", "export"),
        ("profile", "private"),
        ("profile", "private", "here", "--yes"),
    ],
    "projects": [("projects", "add")],
    "purge": [("purge", "--yes"), ("purge", "--secrets", "--dry-run")],
    "receipts": [("receipts",)],
    "query": [("query", "berths"), ("query", "--path", "src")],
    "merge": [("merge", "HEAD")],
    "resolve": [("resolve",)],
    "rebuild": [("rebuild",)],
    "review": [("review",), ("review", "--staged")],
    "fold": [("fold",), ("fold", "--dry-run")],
    "save": [("save", "--stdin"), ("save", "--stdin", "--dry-run")],
    "status": [("status",)],
    "sync": [("sync",), ("sync", "--dry-run")],
    "upgrade": [("upgrade",)],
    "view": [("view", "--export", "page")],
    "why": [("why", "AGENTS.md")],
}
# `reset` is the way out; the others look at no store. The merge driver is given files by git.
# A hook never fails, and the doctor tells of it as one finding among others.
NOT_REFUSED = {"completion", "docs", "doctor", "hook", "merge-driver", "reset"}


def _set_version(folder: Path, version: Any) -> None:
    path = folder / ".memory" / "config.json"
    config = {name: value for name, value in json.loads(path.read_bytes()).items() if name != "version"}
    path.write_text(json.dumps(config if version is None else {**config, "version": version}, indent=2) + "\n")


@proves("P5.5", "D15", over="graph")
@pytest.mark.parametrize("version", [4, 6, "5", None])
def test_a_store_of_another_version_is_refused_and_left_alone(
    version: Any, bundled: Path, memory: Any, tree: Callable[..., Tree], tmp_path: Path
) -> None:
    _set_version(bundled, version)
    before = tree(tmp_path, generated=True)
    for command in (command for commands in REFUSED.values() for command in commands):
        run = memory(*command, "--json", cwd=bundled, stdin=_INTENT)
        assert (run.code, run.error["code"]) == (3, "MemoryUnsupportedStorageVersion"), command
        assert run.error["details"]["found_version"] == version
        for way_out in ("memory reset", "memory init"):
            assert way_out in run.error["hint"]
    assert tree(tmp_path, generated=True) == before


def test_every_command_that_opens_a_store_is_in_the_list_of_those_that_refuse() -> None:
    assert {*REFUSED, *NOT_REFUSED} == set(COMMANDS)


@proves("P5.5", "D15", over="graph")
def test_unfinished_work_in_a_store_of_another_version_is_not_finished(
    bundled: Path, memory: Any, tree: Callable[..., Tree]
) -> None:
    """What a newer program left half done may mean something else there."""
    _set_version(bundled, 6)
    left = bundled / ".memory" / "recovery" / "transaction-0123456789abcdef"
    left.mkdir(parents=True)
    (left / "0").write_text("{}")
    before = tree(bundled, generated=True)
    for command in (("status",), ("check",), ("save", "--stdin")):
        assert memory(*command, cwd=bundled, stdin=_INTENT).code == 3
    assert tree(bundled, generated=True) == before


def test_reset_then_init_leads_out_of_a_committed_store_of_another_version(
    repo: Path, git: Any, memory: Any, tree: Callable[..., Tree]
) -> None:
    shutil.copytree(BUNDLED, repo, dirs_exist_ok=True)
    _set_version(repo, 4)
    git.commit()
    kept = {path: data for path, data in tree(repo).items() if path.startswith(".memory/")}

    backup = memory("reset", "--yes", "--json").data["backup_path"]
    memory.init()
    assert memory("check").code == 0

    with tarfile.open(repo / backup) as tar:
        tar.extractall(repo / "kept", filter="data")
    assert tree(repo / "kept") == kept


def test_a_store_of_another_version_is_a_row_that_says_so_among_all_projects(bundled: Path, memory: Any) -> None:
    assert memory("projects", "add", cwd=bundled).code == 0
    _set_version(bundled, 4)
    (row,) = memory("status", "--all", "--json", cwd=bundled).data["projects"]
    assert (row["needs_reset"], row["status"]) == (True, None)
    assert row["error"]["code"] == "MemoryUnsupportedStorageVersion"
