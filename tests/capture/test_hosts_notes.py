"""Notes that agents keep for themselves, what a file brings in, and what a person keeps alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from host_making import Machine, said


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (
            "note-feedback.md",
            (
                8,
                "relationships.feedback_no_mocks",
                "Integration tests must hit a real database, not mocks.\n"
                "**Why:** last quarter mocked tests passed while the migration failed in production.\n"
                "**How to apply:** use the `db` fixture; never patch `internal/store`.",
            ),
        ),
        (
            "note-user.md",
            (6, "user.user_role", "Data engineer, owns the ingest pipeline; strong in SQL, new to Kubernetes."),
        ),
        (
            "note-project.md",
            (
                6,
                "fact",
                "Constraints",
                "Merge freeze in March: No merges to main from 2026-03-05 on, because the mobile team cuts a release.",
            ),
        ),
        (
            "note-reference.md",
            (
                6,
                "fact",
                "Architecture",
                'pipeline bugs: Pipeline bugs are tracked in the Linear project "INGEST".',
            ),
        ),
    ],
)
def test_a_note_of_claude_goes_where_its_type_says(machine: Machine, document: str, expected: tuple[str, ...]) -> None:
    machine.put(document, f"{machine.notes}/one.md")
    read = machine.read("claude-memory")
    assert said(read) == [expected]
    assert (read.skipped, read.problems) == (0, ())
    assert read.proposals[0].origin == "file:~/.claude/projects/…/memory/one.md"


def test_the_index_of_claudes_notes_is_no_knowledge_but_what_else_it_says_is(machine: Machine) -> None:
    machine.put("note-index.md", f"{machine.notes}/MEMORY.md")
    read = machine.read("claude-memory")
    first_build = "The first build after a clean checkout needs `make proto`, or imports of `gen/` fail. (Build)"
    assert said(read) == [(8, "fact", "Patterns & Conventions", first_build)]
    assert read.skipped == 1


def test_no_path_of_this_machine_is_told(machine: Machine) -> None:
    machine.write(
        f"{machine.notes}/MEMORY.md",
        f"## Build\n\n- Artifacts land in {machine.root}/build/out, the cache in {machine.home}/.cache/harbor.\n",
    )
    (proposal,) = machine.read("claude-memory").proposals
    assert proposal.fields["content"] == "Artifacts land in build/out, the cache in ~/.cache/harbor. (Build)"
    assert str(machine.root.parent) not in str(proposal)


def test_a_handbook_of_codex_without_this_project_says_nothing(machine: Machine) -> None:
    machine.write(
        "~/.codex/memories/MEMORY.md",
        "# Task Group: photos\n\nscope: a site\napplies_to: cwd=/srv/photos; reuse_rule=there\n\n"
        "## Reusable knowledge\n\n- Images are resized by the deploy hook. [Task 1]\n",
    )
    read = machine.read("codex-memories")
    assert (read.proposals, read.skipped) == ((), 2)


def test_what_gemini_was_asked_to_remember_is_remembered_one_by_one(machine: Machine) -> None:
    machine.write(
        "~/.gemini/GEMINI.md",
        "## Gemini Added Memories\n- I prefer tabs over spaces in Go.\n- My time zone is Europe/Copenhagen.\n",
    )
    assert said(machine.read("gemini-md")) == [
        (2, "user.i_prefer_tabs_over_spaces_in", "I prefer tabs over spaces in Go."),
        (3, "user.my_time_zone_is_europe_copenhagen", "My time zone is Europe/Copenhagen."),
    ]


def test_a_file_that_git_does_not_see_is_about_its_user(machine: Machine) -> None:
    machine.write("CLAUDE.local.md", "# Local\n\n## Sandbox\n\n- My test tenant is called `ann-dev`.\n")
    assert said(machine.read("claude-md")) == [
        (5, "user.my_test_tenant_is_called_ann_dev", "My test tenant is called `ann-dev`. (Sandbox)")
    ]


def test_each_preference_is_an_entry_with_a_name_of_its_own(machine: Machine) -> None:
    points = "".join(f"- Rule {number}: {'word ' * 40}end.\n" for number in range(4))
    machine.write("~/.claude/CLAUDE.md", f"## Style\n\n{points}")
    read = machine.read("claude-md")
    assert [each.fields["key"] for each in read.proposals] == [
        f"rule_{number}_word_word_word_word" for number in range(4)
    ]
    assert all(each.fields["value"].endswith("end. (Style)") for each in read.proposals)


def test_names_with_underscores_stay_as_they_are(machine: Machine) -> None:
    machine.write("AGENTS.md", "## The `snake_case` of read_only_mode\n\n- Gotcha: __init__.py must stay empty here.\n")
    assert said(machine.read("agents-md")) == [
        (3, "gotcha", "__init__.py must stay empty here", "__init__.py must stay empty here.")
    ]
    machine.write("AGENTS.md", "## The `snake_case` of read_only_mode\n\n- It is kept by a_b.\n")
    assert machine.read("agents-md").proposals[0].text == "It is kept by a_b. (The snake_case of read_only_mode)"


# -- what is brought in ---------------------------------------------------------------------------


def test_imports_are_followed_and_told_by_their_own_file(machine: Machine) -> None:
    machine.write("CLAUDE.md", "# CLAUDE.md\n\nSee @docs/style.md for the style.\n\n- @docs/words.md\n")
    machine.write("docs/style.md", "# Style\n\n- Two spaces, no tabs.\n\n@more/deep.md\n")
    machine.write("docs/more/deep.md", "# Deep\n\nNested imports lie relative to their own file.\n")
    machine.write("docs/words.md", "# Glossary\n\n- **Berth**: a place at the quay for one ship.\n")
    read = machine.read("claude-md")
    assert [(each.origin, each.fields["content"]) for each in read.proposals] == [
        ("file:docs/style.md", "Two spaces, no tabs. (Style)"),
        ("file:docs/words.md", "Berth: a place at the quay for one ship. (Glossary)"),
        ("file:docs/more/deep.md", "Nested imports lie relative to their own file. (Deep)"),
    ]
    assert read.problems == ()


def test_imports_end_after_four_steps_and_never_go_round(machine: Machine) -> None:
    machine.write("CLAUDE.md", "@step1.md\n")
    for number in range(1, 7):
        machine.write(
            f"step{number}.md", f"Step number {number} says this.\n\n@step{number + 1}.md @step1.md @CLAUDE.md\n"
        )
    read = machine.read("claude-md")
    assert [each.origin for each in read.proposals] == [f"file:step{number}.md" for number in range(1, 5)]


def test_imports_never_leave_the_project(machine: Machine, tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text("Outside of it all, this is said.\n")
    machine.write("~/notes.md", "At home, this is said.\n")
    (machine.root / "inside.md").symlink_to(tmp_path / "outside.md")
    machine.write("CLAUDE.md", f"@../outside.md\n@inside.md\n@~/notes.md\n@{tmp_path}/outside.md\n@/etc/motd.txt\n")
    read = machine.read("claude-md")
    assert read.proposals == ()
    assert [problem.code for problem in read.problems] == ["HostImportOutside"] * 5


def test_what_looks_like_an_import_in_code_is_none(machine: Machine) -> None:
    machine.write("docs/a.md", "This is not to be read.\n")
    machine.write(
        "CLAUDE.md", "# X\n\nWrite `@docs/a.md` to bring it in.\n\n```\n@docs/a.md\n```\n\nMail me@docs/a.md.\n"
    )
    assert {each.origin for each in machine.read("claude-md").proposals} == {"file:CLAUDE.md"}


def test_sources_of_their_own_are_not_read_twice(machine: Machine) -> None:
    machine.write("CLAUDE.md", "@AGENTS.md\n")
    machine.write("AGENTS.md", "## Style\n\n- Two spaces, no tabs.\n")
    assert machine.read("claude-md").proposals == ()
    assert len(machine.read("agents-md").proposals) == 1
