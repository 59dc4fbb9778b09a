"""What is shipped: the wheel, installed on its own, has everything the commands need."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    line = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        str(folder),
        str(ROOT),
    ]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return next(folder.glob("quire_memory-*.whl"))


def test_the_wheel_holds_the_package_its_types_its_pages_and_its_licence(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {"quire/py.typed", "quire/_docs/guides/getting-started.md", "quire/_docs/reference/cli.md"} <= names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"quire"}
    assert not any(name.endswith((".pyc", ".sqlite")) for name in names)


def test_every_command_is_declared(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    entry = next(name for name in archive.namelist() if name.endswith("entry_points.txt"))
    text = archive.read(entry).decode()
    for command in ("memory", "quire", "memory-mcp", "agent-memory"):
        assert f"\n{command} = " in text


def test_the_installed_package_finds_its_pages(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path)
    code = f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\n"
    code += "from quire.verbs.admin.docs import topics\nprint(*topics())"
    done = subprocess.run([sys.executable, "-P", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "getting-started" in done.stdout
