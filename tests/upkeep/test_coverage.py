"""Code that no feature speaks of: what counts as code, what counts as covered, and how it is grouped."""

import os
from pathlib import Path
from typing import Any

import pytest

from cases import each
from quire.project import Project
from quire.upkeep import coverage
from quire.upkeep.coverage import Gap, code_files
from quire.verbs.graph.save import save_nodes
from quire.verbs.graph.sync import Sync, sync

CODE = [
    "main.py",
    "src/queue.py",
    "src/Queue.PY",
    "apps/web/page.tsx",
    "cmd/server/main.go",
    "lib/engine.rs",
    "include/engine.h",
    "styles/site.scss",
    "web/index.html",
    "db/schema.sql",
    "api/service.proto",
    "deploy/main.tf",
    "scripts/run.sh",
    "app/[slug]/page.tsx",
    "src/Größe ü.py",
    "src/attest.py",
    "src/latest.ts",
    "src/contest/a.py",
    "src/inspect.py",
    "src/protest.java",
    "src/generator.py",
    "src/building/a.py",
    "src/outer/a.py",
    "src/.hidden/a.py",
    "src/vendors.ts",
]
NO_CODE = [
    # Data, prose, configuration, locks.
    "README.md",
    "LICENSE",
    "package.json",
    "package-lock.json",
    "yarn.lock",
    "poetry.lock",
    "Cargo.lock",
    "go.sum",
    "pnpm-lock.yaml",
    "config/app.toml",
    "data/table.csv",
    "docs/guide.rst",
    "logo.svg",
    ".gitignore",
    "Makefile",
    "src/py",
    # Folders of machines.
    "build/out.js",
    "dist/app.js",
    "target/debug/x.rs",
    "packages/a/dist/index.js",
    "coverage/index.html",
    ".next/server/page.js",
    "src/__generated__/types.ts",
    "src/generated/api.ts",
    "obj/a.cs",
    # What others wrote.
    "node_modules/left-pad/index.js",
    "vendor/lib/a.go",
    "third_party/zlib/a.c",
    "venv/lib/site.py",
    ".venv/lib/site.py",
    # Files of machines.
    "web/jquery.min.js",
    "web/site.min.css",
    "web/app.bundle.js",
    "web/app-bundle.js",
    "api/service.pb.go",
    "api/service_pb2.py",
    "api/service_pb2_grpc.py",
    "api/service_pb2.pyi",
    "lib/model.g.dart",
    "lib/model.freezed.dart",
    "Form.Designer.cs",
    "Form.designer.cs",
    "k8s/zz_generated.deepcopy.go",
    "schema_generated.go",
    "types/index.d.ts",
    "types/index.d.mts",
    # Tests.
    "tests/test_queue.py",
    "test/helper.rb",
    "src/queue.test.ts",
    "src/queue.spec.tsx",
    "src/queue_test.go",
    "src/test_queue.py",
    "src/conftest.py",
    "src/QueueTest.java",
    "src/QueueTests.cs",
    "src/__tests__/queue.js",
    "src/__mocks__/fs.js",
    "e2e/login.ts",
    "spec/models/user.rb",
    "internal/testdata/a.go",
    "fixtures/a.py",
    # Our own.
    ".memory/memory/a.py",
    ".git/hooks/a.sh",
]


@each("path", CODE)
def test_this_is_code(path: str) -> None:
    assert code_files([path]) == [path]


@each("path", NO_CODE)
def test_this_is_no_code_of_this_product(path: str) -> None:
    assert code_files([path]) == []


def test_order_and_number_are_kept() -> None:
    assert code_files([*NO_CODE, *CODE, *NO_CODE]) == CODE


class Desk:
    """A repository whose gaps are asked for."""

    def __init__(self, repo: Path, git: Any, project: Project) -> None:
        self.repo = repo
        self.git = git
        self.project = project

    def files(self, *names: str, text: str = "x = 1\n") -> None:
        for name in names:
            path = self.repo / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def covers(self, *anchors: str, kind: str = "feature", **fields: Any) -> None:
        node = {"kind": kind, "title": f"Covers {anchors[0]}", "body": "B.", "anchors": [*anchors], **fields}
        save_nodes(self.project, {"task": "t", "nodes": [node]})

    def gaps(self) -> list[Gap]:
        found: list[Gap] = sync(self.project, Sync(dry_run=True)).found.coverage_gaps
        return found

    def folders(self) -> dict[str, int]:
        return {gap.dir: gap.files_count for gap in self.gaps()}


@pytest.fixture
def desk(repo: Path, git: Any, project: Project) -> Desk:
    return Desk(repo, git, project)


def test_without_code_there_is_no_gap(desk: Desk) -> None:
    desk.files("README.md", "data/a.json")
    assert desk.gaps() == []


def test_a_folder_beside_a_covered_one_is_named(desk: Desk) -> None:
    desk.files("apps/web/page.ts", "apps/web/lib/a.ts", "apps/mobile/app.ts", "apps/mobile/lib/b.ts")
    desk.covers("apps/web/")
    assert desk.gaps() == [Gap("apps/mobile", 2, ["apps/mobile/app.ts", "apps/mobile/lib/b.ts"])]


def test_where_nothing_is_covered_the_widest_folder_is_named(desk: Desk) -> None:
    desk.files("apps/web/page.ts", "apps/web/lib/a.ts", "apps/mobile/app.ts")
    assert desk.folders() == {"apps": 3}


def test_a_chain_of_only_children_is_followed_down(desk: Desk) -> None:
    desk.files("src/main/java/com/example/shop/Cart.java", "src/main/java/com/example/shop/pay/Card.java")
    assert desk.folders() == {"src/main/java/com/example/shop": 2}
    desk.files("src/main/java/com/example/mail/Mail.java")
    assert desk.folders() == {"src/main/java/com/example": 3}


def test_a_folder_with_one_file_is_that_folder(desk: Desk) -> None:
    desk.files("a/b/c/only.py")
    assert desk.folders() == {"a/b/c": 1}


def test_files_at_the_root_are_a_dot(desk: Desk) -> None:
    desk.files("main.py", "setup.py", "lib/a.py")
    assert desk.folders() == {".": 2, "lib": 1}
    assert desk.gaps()[0].examples == ["main.py", "setup.py"]


def test_files_beside_covered_ones_are_named_by_their_own_folder(desk: Desk) -> None:
    desk.files("src/queue.py", "src/other.py", "src/deep/down/a.py", "src/deep/b.py")
    desk.covers("src/queue.py")
    assert desk.folders() == {"src/deep": 2, "src": 1}


def test_a_folder_that_is_covered_deep_down_is_split_above_it(desk: Desk) -> None:
    desk.files("a/one/x.py", "a/two/b/y.py", "a/two/c/z.py", "a/three/w.py")
    desk.covers("a/two/b/")
    assert desk.folders() == {"a/one": 1, "a/three": 1, "a/two/c": 1}


def test_the_largest_come_first_and_equals_by_name(desk: Desk) -> None:
    desk.files("b/1.py", "a/1.py", "c/1.py", "c/2.py", "covered/a.py")
    desk.covers("covered/")
    assert [gap.dir for gap in desk.gaps()] == ["c", "a", "b"]


def test_at_most_three_examples_in_order(desk: Desk) -> None:
    desk.files(*(f"lib/{number}.py" for number in range(9, 0, -1)))
    (gap,) = desk.gaps()
    assert (gap.files_count, gap.examples) == (9, ["lib/1.py", "lib/2.py", "lib/3.py"])


def test_names_that_begin_alike_are_two_folders(desk: Desk) -> None:
    desk.files("app/a.py", "app2/b.py", "app-old/c.py")
    desk.covers("app/")
    assert desk.folders() == {"app2": 1, "app-old": 1}


# -- what covers --------------------------------------------------------------------------


def test_only_features_cover(desk: Desk) -> None:
    desk.files("src/a.py")
    desk.covers("src/", kind="decision")
    desk.covers("src/", kind="gotcha")
    desk.covers("src/", kind="question")
    assert desk.folders() == {"src": 1}


@pytest.mark.parametrize("stage", ["idea", "building", "shipped", "paused", "dead"])
def test_a_feature_of_any_stage_covers(desk: Desk, stage: str) -> None:
    desk.files("src/a.py")
    desk.covers("src/", stage=stage)
    assert desk.gaps() == []


def test_a_retired_feature_covers_nothing(desk: Desk) -> None:
    desk.files("src/a.py")
    desk.covers("src/")
    assert desk.gaps() == []
    save_nodes(desk.project, {"task": "t", "stale": [{"id": "feature.covers-src", "reason": "gone"}]})
    assert desk.folders() == {"src": 1}


@pytest.mark.parametrize("anchor", ["src/queue.py#send", "src/queue.py", "src/*.py", "src/**", "src", "**"])
def test_every_form_of_anchor_covers_its_files(desk: Desk, anchor: str) -> None:
    desk.files("src/queue.py", text="def send():\n    return 1\n")
    desk.covers(anchor)
    assert desk.gaps() == []


def test_a_symbol_covers_its_file_and_no_more(desk: Desk) -> None:
    desk.files("src/queue.py", "src/other.py", text="def send():\n    return 1\n")
    desk.covers("src/queue.py#send")
    assert desk.gaps() == [Gap("src", 1, ["src/other.py"])]


def test_a_file_with_a_hash_in_its_name_is_covered_by_it(desk: Desk) -> None:
    desk.files("src/a#b.py")
    desk.covers("src/a#b.py")
    assert desk.gaps() == []


def test_an_anchor_that_leads_nowhere_covers_nothing(desk: Desk) -> None:
    desk.files("src/a.py")
    desk.covers("lib/")
    assert desk.folders() == {"src": 1}


# -- what is left out ---------------------------------------------------------------------


def test_our_own_files_and_ignored_ones_are_no_gap(desk: Desk) -> None:
    desk.files("secret/a.py", "kept/b.py")
    (desk.repo / ".gitignore").write_text("secret/\n")
    assert desk.folders() == {"kept": 1}


def test_empty_files_are_no_code_once_git_knows_them(desk: Desk) -> None:
    desk.files("pkg/__init__.py", "pkg/sub/__init__.py", text="")
    desk.git.commit()
    assert desk.gaps() == []
    desk.files("pkg/__init__.py")
    desk.git.commit()
    assert desk.folders() == {"pkg": 1}


def test_what_gitattributes_calls_generated_or_vendored_is_left_out(desk: Desk) -> None:
    desk.files("gen1/a.py", "foreign/b.py", "mine/c.py", "mine/d.py", "mine/e.py")
    (desk.repo / ".gitattributes").write_text(
        "gen1/** linguist-generated\nforeign/** linguist-vendored=true\nmine/d.py linguist-generated=false\n"
        "mine/e.py -linguist-vendored\n"
    )
    assert desk.folders() == {"mine": 3}
    (desk.repo / ".gitattributes").unlink()
    assert desk.folders() == {"mine": 3, "foreign": 1, "gen1": 1}


def test_gitattributes_below_the_root_count_too(desk: Desk) -> None:
    desk.files("lib/gen1/a.py", "lib/b.py")
    (desk.repo / "lib/.gitattributes").write_text("gen1/** linguist-generated\n")
    assert desk.folders() == {"lib": 1}


def test_deleted_files_are_no_gap_and_untracked_ones_are(desk: Desk) -> None:
    desk.files("old/a.py")
    desk.git.commit()
    assert desk.folders() == {"old": 1}
    (desk.repo / "old/a.py").unlink()
    desk.files("new/b.py")
    assert desk.folders() == {"new": 1}


def test_a_link_and_a_submodule_are_no_code_of_ours(desk: Desk, tmp_path: Path) -> None:
    other = tmp_path / "library"
    other.mkdir()
    desk.git("init", "-q", cwd=other)
    (other / "lib.py").write_text("x = 1\n")
    desk.git("add", "--all", cwd=other)
    desk.git("commit", "-qm", "library", cwd=other)
    desk.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other), "libs/core")
    assert desk.gaps() == []


def test_a_sparse_checkout_hides_no_gap(desk: Desk) -> None:
    desk.files("far/a.py", "near/b.py", "near/c.py")
    desk.git.commit()
    desk.git("sparse-checkout", "set", "--no-cone", "/*", "!/far/")
    assert not (desk.repo / "far").exists()
    assert desk.folders() == {"near": 2, "far": 1}


def test_odd_names_stop_nothing(desk: Desk) -> None:
    desk.files("odd/a\nb.py", "odd/Größe ü.py", "odd/with space.py", "odd/-x.py", "odd/[a].py")
    with open(os.path.join(os.fsencode(desk.repo), b"odd", b"caf\xe9.py"), "wb") as file:
        file.write(b"x = 1\n")
    assert desk.folders() == {"odd": 6}
    assert desk.folders() == {"odd": 6}


# -- what is kept of it -------------------------------------------------------------------


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How often it was worked out."""
    calls: list[int] = []
    real = coverage._gaps

    def gaps(*arguments: Any) -> list[Gap]:
        calls.append(1)
        return real(*arguments)

    monkeypatch.setattr(coverage, "_gaps", gaps)
    return calls


def test_it_is_worked_out_once_while_nothing_comes_or_goes(desk: Desk, counted: list[int]) -> None:
    desk.files("src/a.py")
    desk.git.commit()
    first = desk.gaps()
    desk.files("src/a.py", text="y = 2\n")
    assert desk.gaps() == first
    assert desk.gaps() == first
    assert len(counted) == 1


def test_it_is_worked_out_anew_when_files_come_or_go(desk: Desk, counted: list[int]) -> None:
    desk.files("src/a.py")
    desk.git.commit()
    assert desk.folders() == {"src": 1}
    desk.files("src/b.py")
    assert desk.folders() == {"src": 2}
    (desk.repo / "src/a.py").unlink()
    assert desk.folders() == {"src": 1}
    (desk.repo / "src/b.py").rename(desk.repo / "src/c.py")
    assert desk.gaps()[0].examples == ["src/c.py"]
    assert len(counted) == 4


def test_it_is_worked_out_anew_when_anchors_come_or_go(desk: Desk) -> None:
    desk.files("src/a.py", "lib/b.py")
    assert desk.folders() == {"lib": 1, "src": 1}
    desk.covers("src/")
    assert desk.folders() == {"lib": 1}
    save_nodes(desk.project, {"task": "t", "nodes": [{"id": "feature.covers-src", "anchors": ["lib/"]}]})
    assert desk.folders() == {"src": 1}
    save_nodes(desk.project, {"task": "t", "delete": [{"id": "feature.covers-src", "reason": "gone"}]})
    assert desk.folders() == {"lib": 1, "src": 1}


def test_it_is_worked_out_anew_when_attributes_change(desk: Desk) -> None:
    desk.files("src/a.py", "lib/b.py")
    rules = desk.repo / ".gitattributes"
    rules.write_text("src/** linguist-generated\n")
    assert desk.folders() == {"lib": 1}
    rules.write_text("lib/** linguist-generated\n")
    assert desk.folders() == {"src": 1}


def test_damaged_notes_are_worked_out_anew(desk: Desk, counted: list[int]) -> None:
    desk.files("src/a.py")
    assert desk.folders() == {"src": 1}
    for damage in (b"\xff", b"", b"\x80"):
        notes = {"coverage": damage, "sync": damage}
        desk.project.with_index(lambda index, notes=notes: index.note(notes))
        assert desk.folders() == {"src": 1}
    assert len(counted) == 4


def test_ten_thousand_files_take_no_time(desk: Desk) -> None:
    paths = [f"apps/a{number % 40}/lib{number % 7}/file{number}.ts" for number in range(10_000)]
    assert len(code_files(paths)) == 10_000
