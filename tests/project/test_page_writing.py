"""Writing an exported page into a folder: all of it or nothing, whatever fails on the way; others' files stay."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from quire.files import disk
from quire.model.errors import StorageFailed
from quire.project import Project
from quire.verbs.admin.export import page_target, write_page

OLD = {"index.html": b"old", "data/a.js": b"1", "data/gone.js": b"2"}
NEW = {"index.html": b"new", "data/a.js": b"3"}


def held(folder: Path) -> dict[str, bytes]:
    found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    found.pop("quire-export.txt", None)
    return found


def write(project: Project, folder: Path, files: dict[str, bytes], *, force: bool = False) -> None:
    write_page(project, page_target(project, str(folder), force=force), files, force=force)


def test_an_export_takes_the_place_of_the_one_before(project: Project, tmp_path: Path) -> None:
    site = tmp_path / "site"
    write(project, site, OLD)
    assert held(site) == OLD
    write(project, site, NEW, force=True)
    assert held(site) == NEW
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("site")] == ["site"]


def test_whatever_fails_the_folder_holds_one_whole_export(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    write(project, site, OLD)
    done = 0
    failures = 0
    while done < 100:
        left = done

        def full(_operation: str, _path: str) -> None:
            nonlocal left
            left -= 1
            if left == -1:
                raise OSError(errno.ENOSPC, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(disk, "before", full)
            try:
                write(project, site, NEW, force=True)
            except StorageFailed:
                failures += 1
        assert held(site) in (OLD, NEW), f"after {done} operations"
        if left >= 0:
            break
        done += 1
    assert failures >= 6
    assert held(site) == NEW


def test_what_others_put_there_is_kept_beside_it(project: Project, tmp_path: Path) -> None:
    site = tmp_path / "site"
    write(project, site, OLD)
    (site / "CNAME").write_text("example.org", encoding="utf-8")
    with pytest.raises(StorageFailed, match="held files that it did not write"):
        write(project, site, NEW, force=True)
    assert held(site) == NEW
    (aside,) = tmp_path.glob("site.old-*")
    assert held(aside) == {"CNAME": b"example.org"}
