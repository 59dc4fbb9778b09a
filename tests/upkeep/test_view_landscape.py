"""The code as a landscape: what counts, what covers it, and that folding loses nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.model.vocabulary import LIVE_STATUSES
from quire.project import Project
from quire.upkeep.verdicts import Verdicts
from quire.upkeep.views.items import is_judged
from quire.upkeep.views.landscape import (
    CoverageHealth,
    CoverNode,
    _choose,
    _Cover,
    _node,
    _Place,
    _place,
    coverage_health,
)
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.graph.save import save_nodes


class Desk:
    """A repository whose landscape is asked for."""

    def __init__(self, repo: Path, project: Project) -> None:
        self.repo = repo
        self.project = project

    def files(self, *names: str, text: str = "x = 1\n") -> None:
        for name in names:
            path = self.repo / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def covers(self, title: str, *anchors: str, kind: str = "feature", **fields: Any) -> None:
        node = {"kind": kind, "title": title, "body": "B.", "anchors": [*anchors], **fields}
        save_nodes(self.project, {"task": "t", "nodes": [node]})

    def landscape(self, limit: int = 1_500) -> CoverageHealth:
        root, git = self.project.root, self.project.git

        def work(index: Any) -> CoverageHealth:
            found = index.records("graph", kind="feature", statuses=LIVE_STATUSES)
            features = [record for record in found if is_judged(record)]
            return coverage_health(root, git, features, Verdicts(root, git, index)(features), limit)

        return self.project.with_index(work)


@pytest.fixture
def desk(repo: Path, project: Project) -> Desk:
    return Desk(repo, project)


def every(node: CoverNode) -> Iterator[CoverNode]:
    yield node
    for child in node.children:
        yield from every(child)


def shape(node: CoverNode) -> Any:
    """Names alone: a file is a name, a folder a name and what it shows."""
    return (node.name, [shape(child) for child in node.children]) if node.children else node.name


def test_without_code_there_is_a_bare_root(desk: Desk) -> None:
    desk.files("README.md")
    bare = CoverNode(name=".", path="", files=0, covered=0, bytes=0, verdict="", refs=(), children=())
    assert desk.landscape() == CoverageHealth(root=bare, files=0, covered=0, cut=False, titles={})


def test_files_are_counted_measured_and_covered(desk: Desk) -> None:
    desk.files("src/queue/send.py", "src/queue/take.py", "src/other.py")
    desk.files("src/large.py", text="y" * 100)
    desk.covers("Queue", "src/queue/")
    found = desk.landscape()
    assert (found.files, found.covered, found.cut) == (4, 2, False)
    assert found.titles == {"feature.queue": "Queue"}
    (src,) = found.root.children
    assert shape(src) == ("src", ["large.py", ("queue", ["send.py", "take.py"]), "other.py"])
    assert (src.path, src.files, src.covered, src.bytes, src.verdict, src.refs) == (
        "src",
        4,
        2,
        118,
        "fresh",
        ("feature.queue",),
    )
    large, queue, other = src.children
    assert (large.covered, large.bytes, large.verdict, large.refs) == (0, 100, "", ())
    assert (queue.path, queue.files, queue.covered, queue.bytes) == ("src/queue", 2, 2, 12)
    assert (queue.children[0].path, queue.children[0].refs) == ("src/queue/send.py", ("feature.queue",))
    assert other.verdict == ""


def test_the_worst_verdict_is_shown_and_the_closest_feature_first(desk: Desk) -> None:
    desk.files("src/a.py", "src/b.py")
    desk.covers("Everything", "src/")
    desk.covers("A alone", "src/a.py")
    desk.covers("Lost", "src/b.py", "src/gone.py")
    desk.files("src/a.py", text="x = 2\n")
    (src,) = desk.landscape().root.children
    a, b = src.children
    assert (a.name, a.verdict, a.refs) == ("a.py", "changed", ("feature.a-alone", "feature.everything"))
    assert (b.name, b.verdict, b.refs) == ("b.py", "orphaned", ("feature.lost", "feature.everything"))
    assert (src.verdict, src.refs) == ("orphaned", ("feature.everything", "feature.a-alone", "feature.lost"))


def test_only_features_that_live_cover(desk: Desk) -> None:
    desk.files("src/a.py", "src/b.py", "src/c.py")
    desk.covers("Decided", "src/a.py", kind="decision")
    desk.covers("Dropped", "src/b.py", stage="dead")
    desk.covers("Stale", "src/c.py")
    assert desk.landscape().covered == 1
    save_nodes(desk.project, {"task": "t", "stale": [{"id": "feature.stale", "reason": "gone"}]})
    assert desk.landscape().covered == 0


def test_a_symbol_covers_its_file(desk: Desk) -> None:
    desk.files("src/a.py", "src/b.py", text="def send():\n    return 1\n")
    desk.covers("Send", "src/a.py#send")
    assert {node.name: node.covered for node in every(desk.landscape().root)} == {
        ".": 1,
        "src": 1,
        "a.py": 1,
        "b.py": 0,
    }


def test_what_nobody_would_miss_is_left_out(desk: Desk, git: Any) -> None:
    desk.files("src/a.py", "api/calls.py", "tests/test_a.py", "node_modules/x.js", ".memory/x.py")
    desk.files("src/__init__.py", text="")
    desk.files(".gitattributes", text="api/** linguist-generated\n")
    git("add", "--all")
    found = desk.landscape()
    assert (found.files, shape(found.root)) == (1, (".", ["src/a.py"]))
    desk.covers("Api", "api/", "src/__init__.py")
    assert desk.landscape().files == 3


def test_chains_of_only_children_are_one_name(desk: Desk) -> None:
    desk.files("src/main/java/shop/Cart.java", "src/main/java/shop/pay/card/Card.java", "web/page.ts")
    (chain, page) = desk.landscape().root.children
    assert shape(chain) == ("src/main/java/shop", ["Cart.java", "pay/card/Card.java"])
    assert (chain.path, chain.children[1].path) == ("src/main/java/shop", "src/main/java/shop/pay/card/Card.java")
    assert shape(page) == "web/page.ts"


def test_where_room_is_short_the_largest_are_shown(desk: Desk) -> None:
    for number in range(9):
        desk.files(f"big/{number}.py", text="x" * (100 - number))
        desk.files(f"small/{number}.py")
    desk.covers("Small ones", "big/7.py", "big/8.py")
    found = desk.landscape(4)
    assert found.cut is True
    assert shape(found.root) == (".", ["big", "small"])
    found = desk.landscape(20)
    (big, small) = found.root.children
    assert [child.name for child in big.children] == ["0.py", "1.py", "2.py", "6 more"]
    rest = big.children[-1]
    assert (rest.path, rest.files, rest.covered, rest.bytes, rest.refs) == (
        "big/…",
        6,
        2,
        97 + 96 + 95 + 94 + 93 + 92,
        ("feature.small-ones",),
    )
    assert [child.name for child in small.children] == ["0.py", "1.py", "2.py", "6 more"]
    assert (found.files, found.covered) == (18, 2)


def test_one_folder_of_very_many_files_leaves_room_for_others(desk: Desk) -> None:
    desk.files(*(f"flat/{number:03}.py" for number in range(200)), text="x" * 50)
    desk.files("deep/a/x.py", "deep/a/y.py", "deep/b/z.py")
    found = desk.landscape(40)
    names = [node.name for node in every(found.root)]
    assert {"x.py", "y.py", "b/z.py", "193 more"} <= set(names)
    assert len(names) <= 40


def test_names_that_are_no_text_and_links_are_told_as_far_as_they_can_be(desk: Desk, repo: Path) -> None:
    (repo / "src").mkdir()
    with open(os.path.join(os.fsencode(repo), b"src/\xff.py"), "wb") as file:
        file.write(b"x = 1\n")
    (repo / "src" / "link.py").symlink_to("/etc/passwd")
    found = desk.landscape()
    assert found.files == 2
    assert msgspec.json.decode(msgspec.json.encode(found))["root"]["children"][0]["name"] == "src"
    assert found.root.bytes == 6 + len("/etc/passwd")


def test_without_git_there_is_an_answer(tmp_path: Path, world: Any) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    project = Project.open(str(plain), msgspec.structs.replace(world, cwd=str(plain)))
    init_memory(project)
    desk = Desk(plain, project)
    desk.files("src/a.py")
    desk.covers("A", "src/a.py")
    assert (desk.landscape().files, desk.landscape().cut) == (0, False)


@given(
    st.dictionaries(
        st.lists(st.sampled_from("abcd"), min_size=1, max_size=6).map("/".join),
        st.tuples(st.integers(0, 50), st.booleans()),
        max_size=60,
    ),
    st.integers(1, 30),
)
def test_folding_keeps_every_sum(paths: dict[str, tuple[int, bool]], limit: int) -> None:
    top = _Place(".", "")
    # A name cannot be a file and a folder at once.
    files = {f"{path}.py": told for path, told in paths.items()}
    for path, (size, is_covered) in files.items():
        _place(top, path, size, _Cover(4, ("feature.a",)) if is_covered else _Cover())
    shown, is_cut = _choose(top, limit)
    root = _node(top, shown)
    nodes = list(every(root))
    assert len(nodes) <= limit
    assert root.files == len(files)
    assert root.bytes == sum(size for size, _ in files.values())
    for node in nodes:
        assert (node.verdict, node.refs) == (("fresh", ("feature.a",)) if node.covered else ("", ()))
        if node.children:
            assert len(node.children) > 1 or node is root
            for part in ("files", "covered", "bytes"):
                assert getattr(node, part) == sum(getattr(child, part) for child in node.children)
    leaves = {node.path for node in nodes if not node.children and node.path in files}
    assert is_cut is (leaves != set(files))


def test_a_very_deep_tree_can_be_told() -> None:
    top = _Place(".", "")
    for depth in range(1, 900):
        _place(top, "a/" * depth + "x.py", 1, _Cover())
    shown, is_cut = _choose(top, 1_500)
    root = _node(top, shown)
    assert (root.files, is_cut) == (899, True)
    assert msgspec.json.decode(msgspec.json.encode(root))["files"] == 899
