"""What a cold start may cost: which modules a question loads, and how a command ends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import quire

# What none of these commands needs, because it is slow to load, or brings much along, or belongs to another task.
NEVER = {
    *("click", "mcp", "pydantic", "numpy", "tree_sitter", "anyascii", "sqlite3", "sqlite_vec", "jsonschema"),
    *("subprocess", "threading", "signal", "selectors", "socket", "asyncio", "concurrent", "multiprocessing"),
    *("json", "logging", "tempfile", "shutil", "pathlib", "inspect", "dataclasses", "traceback", "locale"),
    *("copy", "weakref"),
    *("hashlib", "_hashlib", "random", "difflib", "tarfile", "urllib", "http", "ssl", "email", "ast", "tokenize"),
    *("quire.capture", "quire.verbs.graph.save", "quire.verbs.admin", "quire.verbs.envelope"),
    *("quire.verbs.ask.inspect", "quire.verbs.journal.journal_state", "quire.verbs.journal.journal_lines"),
    *("quire.index.sentence_model", "quire.files.programs"),
    *("quire.layers.graph.types", "quire.layers.graph.save", "quire.layers.journal.events"),
    *("quire.layers.profile.drafts", "quire.layers.profile.store", "quire.layers.profile.rules"),
    *("quire.anchors.verify", "quire.anchors.commit_history", "quire.upkeep.status"),
}
QUESTION_ALONE = {
    *("quire.guard.secrets", "quire.anchors.path_match", "quire.anchors.symbols", "quire.anchors.working_tree"),
    *(
        "quire.files.git_history",
        "quire.verbs.facts.store",
        "quire.verbs.facts.recall",
        "quire.verbs.profile.results",
    ),
    *("quire.anchors.reach", "quire.layers.profile.document"),
}
MODULES = 114
"""How many modules of ours a question loads at most; each takes a seventh of a millisecond."""


@pytest.fixture
def kept(memory: Any, repo: Path) -> Any:
    """All four layers have something, and the index knows it."""
    (repo / "retry.py").write_text("def retry() -> None: ...\n")
    memory.init()
    node = {"kind": "gotcha", "title": "Retries pile up", "body": "Webhook retries pile up.", "anchors": ["retry.py"]}
    memory.save(node)
    memory("facts", "store", "Decisions", "Webhook retries run in the worker, because requests must not wait.")
    memory("profile", "remember", "user", "timezone", "Europe/Madrid", "--source", "user-stated")
    memory("journal", "init")
    memory("query", "webhook retries")
    return memory


def _loaded(memory: Any, repo: Path, arguments: list[str], says: str = "something") -> list[str]:
    code = (
        "import sys\nfrom quire.surfaces.cli.main import run\n"
        f"code = run({arguments!r})\nsys.stderr.write('LOADED ' + ' '.join(sys.modules))\nsys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:] = {sys.path!r}\n{code}"],
        cwd=repo,
        env=memory.env,
        capture_output=True,
        text=True,
        check=says != "",
    )
    assert bool(done.stdout.strip()) == bool(says)
    return done.stderr.rpartition("LOADED ")[2].split()


@pytest.mark.parametrize(
    ("arguments", "barred"),
    [
        (["query", "why do webhook retries pile up?"], NEVER | QUESTION_ALONE),
        (["brief", "retry.py"], NEVER),
        (["facts", "recall", "where do webhook retries run?"], NEVER),
        (["facts", "context", "where do webhook retries run?"], NEVER),
        (["profile", "about-me"], NEVER),
        (["profile", "context"], NEVER),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, list) else "",
)
def test_a_question_loads_what_it_needs_and_no_more(
    arguments: list[str], barred: set[str], kept: Any, repo: Path
) -> None:
    loaded = _loaded(kept, repo, arguments)
    assert set(loaded) & barred == set()
    assert sum(name.startswith("quire") for name in loaded) <= MODULES + 22 * (arguments[0] in ("facts", "profile"))


def test_a_question_by_file_loads_what_finds_it(kept: Any, repo: Path) -> None:
    """The list above is one of modules that exist: a name that no longer does would bar nothing."""
    loaded = set(_loaded(kept, repo, ["query", "--path", "retry.py"]))
    assert {"quire.anchors.reach", "quire.anchors.path_match"} <= loaded
    source = Path(quire.__file__).parent
    for name in sorted(NEVER | QUESTION_ALONE):
        if name.startswith("quire."):
            path = source.joinpath(*name.split(".")[1:])
            assert path.with_suffix(".py").exists() or (path / "__init__.py").exists(), name


def test_a_merge_driver_loads_what_merges_and_no_more(kept: Any, repo: Path) -> None:
    for name, text in (("base", "{}"), ("ours", '{"a": 1}'), ("theirs", '{"b": 1}')):
        (repo / name).write_text(text + "\n")
    path = ".memory/memory/gotchas/retries-pile-up.json"
    loaded = _loaded(kept, repo, ["merge-driver", "base", "ours", "theirs", "7", path], says="")
    barred = NEVER - {"subprocess", "threading", "signal", "selectors", "locale"}  # git merges what is no record
    assert set(loaded) & barred == set()
    assert not [name for name in loaded if name.startswith(("quire.index", "quire.retrieval", "quire.anchors"))]
    verbs = {name for name in loaded if name.startswith("quire.verbs.")}
    assert verbs == {"quire.verbs.table", "quire.verbs.team", "quire.verbs.team.merge_driver"}
    assert sum(name.startswith("quire") for name in loaded) <= 65


def _ended(code: str, memory: Any, repo: Path) -> subprocess.CompletedProcess[str]:
    begin = (
        "import atexit, sys, threading, time\nfrom quire.surfaces.cli import main\n"
        "sys.argv = ['memory', 'query', 'retries']\n"
    )
    return subprocess.run(
        [sys.executable, "-c", begin + code], cwd=repo, env=memory.env, capture_output=True, text=True, check=False
    )


def test_a_command_ends_at_once_where_nobody_waits_for_its_end(kept: Any, repo: Path) -> None:
    watch = "class Watch:\n    def __del__(self): sys.stderr.write('taken apart')\nwatch = Watch()\n"
    done = _ended(f"{watch}sys.stdout.write('before ')\nmain()", kept, repo)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith('before # Memory: "retries"')


@pytest.mark.parametrize(
    "waiting",
    [
        "atexit.register(lambda: sys.stderr.write('told'))",
        "threading.Thread(target=lambda: (time.sleep(0.3), sys.stderr.write('told'))).start()",
    ],
)
def test_who_waits_for_the_end_of_a_command_is_told_of_it(waiting: str, kept: Any, repo: Path) -> None:
    done = _ended(f"{waiting}\nmain()", kept, repo)
    assert (done.returncode, done.stderr) == (0, "told")
    assert done.stdout.startswith('# Memory: "retries"')


def test_a_command_with_its_own_arguments_raises_its_exit(kept: Any, repo: Path) -> None:
    code = "try: main(['inspect', 'feature.nothing'])\nexcept SystemExit as end: sys.stderr.write(f'code {end.code}')"
    done = _ended(code, kept, repo)
    assert done.returncode == 0
    assert done.stderr.endswith("code 1")


def test_an_output_that_cannot_be_written_is_no_success(kept: Any, repo: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("only Linux has a disk that is always full")
    code = "import sys\nfrom quire.surfaces.cli import main\nsys.argv = ['memory', 'query', 'retries']\nmain()"
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, "-c", code], cwd=repo, env=kept.env, stdout=full, check=False)
    assert done.returncode != 0


def test_a_list_of_tools_loads_what_declares_them_and_no_more(memory: Any, repo: Path) -> None:
    code = (
        "import sys\nfrom quire.surfaces.mcp.catalogue import served_tools\n"
        "from quire.surfaces.mcp.schemas import tool_fields\n"
        "print(len([tool_fields(tool) for tool in served_tools(('core',)).values()]), *sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=repo, env=memory.env, capture_output=True, text=True, check=True
    )
    count, *loaded = done.stdout.split()
    assert count == "8"
    heavy = ("quire.files.write_access", "quire.guard", "quire.layers.graph", "quire.verbs.profile", "quire.index")
    assert not [name for name in loaded if name.startswith((*heavy, "quire.upkeep", "quire.retrieval"))]
    assert sum(name.startswith("quire") for name in loaded) <= 50
