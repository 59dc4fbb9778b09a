"""The product map and the sections it stands in."""

import os
from pathlib import Path
from typing import Any

import pytest

from quire.model import limits
from quire.model.tokens import count_tokens
from quire.project import Project
from quire.verbs.admin.check import check_files
from quire.verbs.admin.new_memory import init_memory
from quire.verbs.ask.product_map import product_map
from quire.verbs.graph.save import save_nodes


def rendered(project: Project) -> str:
    return product_map(project)


def feature(title: str, stage: str = "building", **more: Any) -> dict[str, Any]:
    return {"kind": "feature", "title": title, "body": f"{title} does its work. More text.", "stage": stage, **more}


def save(project: Project, *nodes: dict[str, Any], **lists: Any) -> None:
    save_nodes(project, {"task": "t", "nodes": list(nodes), **lists})


def test_features_stand_by_stage_with_intent_and_first_anchor(project: Project) -> None:
    save(
        project, feature("Queue", anchors=["src/queue/", "docs/"]), feature("Render", "shipped"), feature("Fax", "dead")
    )
    text = rendered(project)
    assert "**Building**\n- `feature.queue` Queue: Queue does its work. (`src/queue/`)" in text
    assert text.index("**Building**") < text.index("**Shipped**")
    assert "Fax" not in text


def test_an_empty_memory_says_how_to_fill_it(project: Project) -> None:
    assert "memory init --brief" in rendered(project)


def test_decisions_and_open_questions_are_listed_and_closed_ones_are_not(project: Project) -> None:
    save(
        project,
        {"kind": "decision", "title": "Worker", "body": "x"},
        {"kind": "question", "title": "Open one", "body": "x"},
        {"kind": "question", "title": "Closed one", "body": "x", "status": "closed"},
    )
    text = rendered(project)
    assert "`decision.worker` Worker" in text
    assert "Open one" in text
    assert "Closed one" not in text


def test_anchors_that_match_nothing_are_named(project: Project) -> None:
    (Path(project.root) / "src").mkdir()
    (Path(project.root) / "src/[slug]").mkdir()
    (Path(project.root) / "src/[slug]/page.tsx").write_text("x")
    anchors = ["src/", "gone/", "src/[slug]/page.tsx", "src/**/*.tsx", "src/**/*.rs"]
    save(project, feature("Queue", anchors=anchors))
    text = rendered(project).partition("**Anchors that match no file**")[2]
    assert [line for line in text.splitlines() if line] == [
        "- `feature.queue` `gone/`",
        "- `feature.queue` `src/**/*.rs`",
    ]


@pytest.mark.parametrize("number", [12, 60, 300])
def test_the_map_keeps_within_its_tokens_and_counts_what_it_leaves_out(project: Project, number: int) -> None:
    stages = ("building", "shipped", "paused", "idea")
    save(
        project,
        *(
            feature(f"Feature number {n} with a long name", stages[n % 4], anchors=[f"gone/{n}/"])
            for n in range(number)
        ),
    )
    save(project, *({"kind": "decision", "title": f"Decision {n} " + "words " * 30, "body": "x"} for n in range(9)))
    text = rendered(project)
    assert count_tokens(text) <= limits.MAP_TOKENS
    assert "**Building**" in text
    assert ("more: `memory status`" in text) is True
    listed = sum(line.startswith("- `feature.") and "gone" in line and ":" in line for line in text.splitlines())
    assert listed >= min(number, 12)


def test_an_over_long_project_line_does_not_push_the_rest_out(project: Project) -> None:
    save(project, {"id": "project.harbor", "body": "word " * 5000}, feature("Queue"))
    text = rendered(project)
    assert count_tokens(text) <= limits.MAP_TOKENS
    assert "feature.queue" in text


def test_the_same_memory_gives_the_same_text(project: Project) -> None:
    save(project, *(feature(f"F{n}") for n in range(5)))
    assert rendered(project) == rendered(project)


def test_a_save_refreshes_the_map_and_keeps_everything_else_byte_for_byte(project: Project) -> None:
    path = Path(project.root) / "AGENTS.md"
    before = path.read_bytes()
    mine = (
        b"# Mine\r\n\r\nKeep \xff this.\r\n\r\n" + before.replace(b"\n", b"\r\n") + b"\r\nand the end without newline"
    )
    path.write_bytes(mine)
    os.chmod(path, 0o640)
    save(project, feature("Queue"))
    after = path.read_bytes()
    assert b"feature.queue" in after
    assert after.startswith(b"# Mine\r\n\r\nKeep \xff this.\r\n")
    assert after.endswith(b"\r\nand the end without newline")
    assert b"\n" not in after.replace(b"\r\n", b"")
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_symbolic_link_between_the_two_files_is_kept_and_written_once(project: Project) -> None:
    root = Path(project.root)
    (root / "CLAUDE.md").unlink(missing_ok=True)
    (root / "CLAUDE.md").symlink_to("AGENTS.md")
    init_memory(project)
    save(project, feature("Queue"))
    assert (root / "CLAUDE.md").is_symlink()
    assert (root / "AGENTS.md").read_text().count("memory:map:start") == 1


def test_a_link_that_leads_out_of_the_project_is_left_alone(project: Project, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("not ours")
    path = Path(project.root) / "AGENTS.md"
    path.unlink()
    path.symlink_to(outside)
    init_memory(project)
    save(project, feature("Queue"))
    assert outside.read_text() == "not ours"


def test_damaged_markers_are_reported_and_not_touched(project: Project) -> None:
    path = Path(project.root) / "AGENTS.md"
    path.write_text(path.read_text().replace("<!-- memory:map:end -->", ""))
    before = path.read_bytes()
    saved = save_nodes(project, {"task": "t", "nodes": [feature("Queue")]})
    assert [warning.code for warning in saved.warnings] == ["MarkersDamaged"]
    assert path.read_bytes() == before
    assert "MarkersDamaged" in [problem.code for problem in check_files(project).warnings]


def test_a_missing_file_is_not_created_by_a_save(project: Project) -> None:
    path = Path(project.root) / "AGENTS.md"
    path.unlink()
    save(project, feature("Queue"))
    assert not path.exists()


def test_check_notices_an_outdated_map(project: Project) -> None:
    save(project, feature("Queue"))
    path = Path(project.root) / "AGENTS.md"
    path.write_text(path.read_text().replace("Queue does its work", "Queue does nothing"))
    assert [problem.code for problem in check_files(project).warnings] == ["ProductMapStale"]
    init_memory(project)
    assert check_files(project).warnings == []
