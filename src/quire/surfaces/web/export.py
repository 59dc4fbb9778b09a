"""Export the page as static files, to be published or attached."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from quire import __version__
from quire.files.world import World
from quire.model.errors import QuireError
from quire.model.text import counted, cut
from quire.model.times import timestamp
from quire.project import Project
from quire.surfaces.web.answers import fields_of
from quire.surfaces.web.assets import INDEX, Asset, read_assets
from quire.surfaces.web.options import PageOptions
from quire.surfaces.web.output import tell
from quire.surfaces.web.page_calls import HERE
from quire.verbs.admin.export import page_target, write_page
from quire.verbs.page.record_views import ViewDiff, view_details, view_diff, view_histories
from quire.verbs.page.table import VIEWS
from quire.verbs.page.views import ViewRecords, view_records
from quire.verbs.plain import json_line

if TYPE_CHECKING:
    from quire.upkeep.views.record import RecordDetail

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; worker-src 'self';"
    " base-uri 'none'; form-action 'none'"
)
_SCREENS = (
    *("today", "inbox", "graph", "health/receipts", "health/files", "map", "timeline"),
    *("health/anchors", "health/coverage", "health/review"),
)
"""The screens that are one answer each, by what the page asks for."""
_CHUNK = 100
_TEXT = 4_000
_PAGE = 500
_DIFFS = 300
"""So many changes of code are in an export; each takes git a moment to show."""
_HEAD = '<meta charset="utf-8">'


def export(world: World, options: PageOptions) -> int:
    """Write the page into a folder; what is private to the user stays out unless it was asked for."""
    assets = read_assets()
    project = Project.open(options.start or world.cwd, world)
    target = page_target(project, options.export or "", force=options.force)

    def made() -> tuple[int, dict[str, bytes]]:
        making = _Making(project, private=options.private)
        held = {**_page(assets), **dict(making.files())}
        return making.count, held

    count, files = project.in_one_state(made)
    place = write_page(project, target, files, force=options.force)
    size = sum(map(len, files.values()))
    data = {"path": place, "files": len(files), "bytes": size, "records": count, "private": options.private}
    lines = [
        f"Wrote {place}: {counted(count, 'record')}, {counted(len(files), 'file')}, {size:,} bytes.",
        "Open index.html in it, or publish the folder as it is.",
    ]
    if not options.private:
        lines.append("What is private to you, notes, pins, proposals and receipts were left out (--private).")
    tell(data, lines, as_json=options.as_json)
    return 0


def _page(assets: Mapping[str, Asset]) -> dict[str, bytes]:
    """The files of the page itself; its first one says that this is an export."""
    marks = f'<meta http-equiv="content-security-policy" content="{POLICY}"><meta name="quire-exported" content="1">'
    html = assets[INDEX].data.decode().replace(_HEAD, f"{_HEAD}\n    {marks}", 1)
    return {**{name: asset.data for name, asset in assets.items()}, INDEX: html.encode()}


class _Making:
    """The answers of the page, worked out once."""

    def __init__(self, project: Project, *, private: bool) -> None:
        self._project = project
        self._private = private
        self.count = 0
        self._diffs_left = _DIFFS

    def files(self) -> Iterator[tuple[str, bytes]]:
        items = self._items()
        self.count = len(items)
        answers = {**self._whole(), "items": items}
        refs = [item["ref"] for item in items]
        texts: dict[str, str] = {}
        chunks: dict[str, int] = {}
        for number, start in enumerate(range(0, len(refs), _CHUNK)):
            part = refs[start : start + _CHUNK]
            details = self._details(part, set(refs))
            texts |= {ref: cut(held["detail"]["body"], _TEXT) for ref, held in details.items()}
            chunks |= dict.fromkeys(details, number)
            yield _file(f"records-{number}", details)
            self._progress(start + len(part), len(refs))
        yield _file("records", {"refs": chunks, "chunks": -(-len(refs) // _CHUNK)})
        yield _file("texts", texts)
        for name, value in answers.items():
            yield _file(name, value)

    def _whole(self) -> dict[str, Any]:
        """What each screen without a list of records shows, by the name of its file."""
        summary = self._answer("")
        entry = {"id": HERE, "name": summary["name"], "root": "", "current": True, "available": True, "problem": ""}
        session = {
            "version": __version__,
            "write": False,
            "exported": True,
            "project": HERE,
            "now": timestamp(self._project.world.now()),
        }
        return {
            "session": session,
            "projects": {"registry_path": "", "projects": [entry]},
            "summary": {**summary, "root": ""},
            **{path.removeprefix("health/"): self._answer(path) for path in _SCREENS},
        }

    def _answer(self, path: str) -> dict[str, Any]:
        view = VIEWS[path]
        takes = {"private": self._private} if "private" in view.takes.__struct_fields__ else {}
        return fields_of(view.run(self._project, view.takes(**takes)))

    def _items(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        while True:
            page = view_records(self._project, ViewRecords(offset=len(found), limit=_PAGE, private=self._private))
            found += fields_of(page)["items"]
            if not page.items or len(found) >= page.total:
                return found

    def _details(self, refs: list[str], shown: set[str]) -> dict[str, Any]:
        """Records in full with their past. Nothing in them names a record that is left out."""
        histories = view_histories(self._project, refs)
        found: dict[str, Any] = {}
        for ref, detail in view_details(self._project, refs).items():
            told = fields_of(detail, has_body=True)
            told["relations"] = [
                item for item in told["relations"] if item["other"] is None or item["other_ref"] in shown
            ]
            if told["superseded_by"] and told["superseded_by"]["ref"] not in shown:
                told["superseded_by"] = None
            told["may"] = []
            history = fields_of(histories[ref]) if ref in histories else {"ref": ref, "entries": [], "cut": False}
            found[ref] = {"detail": told, "history": history, "diffs": self._diffs(detail)}
        return found

    def _diffs(self, detail: RecordDetail) -> dict[str, Any]:
        """What changed in the code that a record speaks of, where something did."""
        found = {}
        for anchor in detail.verdict.anchors if detail.verdict else ():
            if anchor.verdict == "changed" and self._diffs_left > 0:
                self._diffs_left -= 1
                try:
                    found[anchor.anchor] = fields_of(
                        view_diff(self._project, ViewDiff(detail.item.ref, anchor=anchor.anchor))
                    )
                except QuireError:
                    continue  # it cannot be shown here either
        return found

    def _progress(self, done: int, total: int) -> None:
        if sys.stderr.isatty() and total > _PAGE:
            sys.stderr.write(f"\r{done:,} of {total:,} records" + ("\n" if done >= total else ""))
            sys.stderr.flush()


def _file(name: str, value: Any) -> tuple[str, bytes]:
    """A script that hands a value over: the only thing that a page from a disk may load."""
    # Parsed, not written out: in a program some names of fields would mean something.
    text = msgspec.json.encode(json_line(value)).decode()
    return f"data/{name}.js", f'quireData("{name}",JSON.parse({text}));\n'.encode()
