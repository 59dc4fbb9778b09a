"""What is advised for a newer Quire, by the way in which this one was installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import quire

ASK = "from quire.upkeep.upgrade_command import upgrade_advice; print(upgrade_advice())"
DEPENDENCIES = next(path for path in sys.path if os.path.isdir(os.path.join(path, "msgspec")))


def advice(folder: Path, name: str, direct: dict[str, Any] | None, mark: str = "") -> str:
    """What a copy says whose metadata and environment are as an installer leaves them."""
    site = folder / "site"
    info = site / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "quire").symlink_to(Path(quire.__file__).parent)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[console_scripts]\nquire = quire.surfaces.cli:main\n")
    if direct is not None:
        (info / "direct_url.json").write_text(json.dumps(direct))
    prefix = folder / "prefix"
    prefix.mkdir()
    if mark:
        (prefix / mark).write_text("")
    code = f"import sys; sys.path[:0] = [{str(site)!r}]; sys.path.append({DEPENDENCIES!r})\n"
    code += f"sys.prefix = {str(prefix)!r}\n{ASK}"
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("direct", "mark", "said"),
    [
        (None, "", "`pip install --upgrade some-name`."),
        (None, "pipx_metadata.json", "`pipx upgrade some-name`."),
        (None, "uv-receipt.toml", "`uv tool upgrade some-name`."),
        (
            {"url": "https://example.org/q.git", "vcs_info": {"vcs": "git", "commit_id": "a"}},
            "",
            "`pip install --upgrade git+https://example.org/q.git`.",
        ),
        (
            {"url": "https://example.org/q.git", "vcs_info": {"vcs": "git", "commit_id": "a"}},
            "uv-receipt.toml",
            "`uv tool upgrade some-name`.",
        ),
        (
            {"url": "file:///src/my%20quire", "dir_info": {}},
            "pipx_metadata.json",
            "It was installed from /src/my quire: `git -C '/src/my quire' pull`, "
            "then `pipx install --force '/src/my quire'`.",
        ),
        (
            {"url": "file:///src/quire", "dir_info": {"editable": True}},
            "",
            "It runs from /src/quire: `git -C /src/quire pull`.",
        ),
        (
            {"url": "file:///a/quire.whl", "archive_info": {}},
            "",
            "It was installed from a file (file:///a/quire.whl): run `pip install --upgrade` with a newer file.",
        ),
    ],
)
def test_by_what_installed_it(tmp_path: Path, direct: dict[str, Any] | None, mark: str, said: str) -> None:
    assert advice(tmp_path, "some-name", direct, mark) == said


def test_metadata_that_is_damaged_breaks_nothing(tmp_path: Path) -> None:
    assert advice(tmp_path, "some-name", {"url": 7}) == "`pip install --upgrade some-name`."
