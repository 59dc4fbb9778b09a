"""What is kept of an earlier memory, what sessions add, what must never get in; and real projects."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from repository_making import REAL, build, consolidate, needs_real, put, session, titles

from quire.layers.journal.evidence_groups import group_events

OWN = Path(__file__).parents[2]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project without git."""
    (tmp_path / "harbor").mkdir()
    return tmp_path / "harbor"


# -- an earlier bundle, and events ----------------------------------------------------------


def test_what_came_from_elsewhere_is_kept_and_what_came_from_files_is_made_anew(
    root: Path, environment: dict[str, str]
) -> None:
    put(
        root,
        {"README.md": "# H\n\n**Warning:** Old trap.\n\n## Known issues\n\n- Old risk\n", "TODO.md": "- Old step\n"},
    )
    put(root, {"ARCHITECTURE.md": "# A\n\nOld words of the page.\n", "lib/a/x.py": "", "lib/b/__init__.py": '"""B."""'})
    before = build(root, environment)
    before["gotchas"].append(
        {"title": "Seen", "symptom": "s", "cause": "c", "correctPath": "p", "source": "evt-000003"}
    )
    before["gotchas"].append({"title": "By hand", "symptom": "s", "cause": "c", "correctPath": "p", "extra": 1})
    before["gotchas"].append({"title": "Half"})
    before["nextSteps"].append({"title": "Told", "why": "w", "start": "s", "done": "d"})
    before["projectMap"]["architectureNotes"].append("A note by hand.")
    before["currentFocus"]["currentState"].append("Rounding is half done.")
    before["currentFocus"]["knownRisks"].append("A risk by hand.")
    before["projectMap"]["modules"] = [{"name": "lib", "path": "lib/b", "responsibility": "Said before."}]
    put(
        root,
        {"README.md": "# H\n\n**Warning:** New trap.\n", "TODO.md": "", "ARCHITECTURE.md": "# A\n\nNew words of it.\n"},
    )
    after = build(root, environment, previous=before)
    assert titles(after, "gotchas") == ["New trap", "Seen", "By hand", "Half"]
    assert after["gotchas"][2]["extra"] == 1
    assert after["gotchas"][3]["cause"] == "none"
    assert titles(after, "nextSteps") == ["Told"]
    assert after["projectMap"]["architectureNotes"] == ["A: New words of it. (ARCHITECTURE.md)", "A note by hand."]
    assert after["currentFocus"]["currentState"] == ["Rounding is half done."]
    assert after["currentFocus"]["knownRisks"] == ["A risk by hand."]
    assert after["projectMap"]["modules"] == [{"name": "b", "path": "lib/b", "responsibility": "B."}]


def test_a_purpose_that_was_known_stays_where_files_say_nothing(root: Path, environment: dict[str, str]) -> None:
    put(root, {f"lib/{part}/{n}.py": "" for part in "ab" for n in range(5)})
    known = {"projectMap": {"modules": [{"name": "a", "path": "lib/a", "responsibility": "Knows berths."}]}}
    modules = build(root, environment, previous=known)["projectMap"]["modules"]
    assert [module["responsibility"] for module in modules] == ["Knows berths.", "none"]


@pytest.mark.parametrize(
    "previous",
    [
        {},
        {"gotchas": 3, "projectMap": [], "currentFocus": "x"},
        {"gotchas": [None, 1, {}], "nextSteps": [{"title": " "}]},
    ],
)
def test_an_earlier_bundle_of_another_form_is_no_trouble(
    previous: dict[str, Any], root: Path, environment: dict[str, str]
) -> None:
    put(root, {"README.md": "# H\n\nTakes orders.\n"})
    assert build(root, environment, previous=previous) == build(root, environment)


def test_events_are_taken_in(root: Path, environment: dict[str, str]) -> None:
    put(root, {"TODO.md": "- [ ] Round once\n- [ ] Draw maps\n"})
    told = [
        session(
            3, summary="Rounding was repaired.", gotchas=["Cents drift: floats"], next_step_hints=["DONE: Round once"]
        )
    ]
    own = [session(4, kind="tool_run", gotchas=["Echo: of the memory"])]
    bundle = consolidate(build(root, environment), group_events([*told, *own]))
    assert titles(bundle, "gotchas") == ["Cents drift"]
    assert titles(bundle, "nextSteps") == ["Draw maps"]
    assert bundle["currentFocus"]["summary"] == "Last session on 2026-01-04. Rounding was repaired."


# -- what must not get in -------------------------------------------------------------------


def test_secrets_of_pages_and_commits_are_left_out(repo: Path, environment: dict[str, str], git) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    manifest = {"name": "x", "scripts": {"test": f"TOKEN={token} jest"}}
    put(repo, {"README.md": f"# H\n\nUse {token} now.\n\n**Warning:** Keep {token}.\n", "package.json": manifest})
    put(repo, {"TODO.md": f"- [ ] Rotate {token}\n", "src/a.py": f"# FIXME: remove {token}\n"})
    git.commit(f"Add {token}")
    text = json.dumps(build(repo, environment))
    assert token[:12] not in text
    assert text.count("left out") >= 5


def test_hostile_projects_are_looked_at_without_harm(root: Path, tmp_path: Path, environment: dict[str, str]) -> None:
    put(tmp_path, {"secret.txt": "TOP SECRET WORDS\n", "outside/README.md": "# S\n\nTOP SECRET WORDS here.\n"})
    put(
        root,
        {
            "package.json": b'{"name": "\xff\xfe", "main": "../secret.txt", "description": ["x"]}',
            "pyproject.toml": "[broken",
            "Cargo.toml": b"\xff\xff",
            "docs/bad.md": b"# \xc3\x28\n\n**Warning:** \xff\xfe broken bytes.\n",
            "TODO.md": "- [ ] a\u202eb\n- [ ] \x1b[31mred\n",
            "huge.md": "x",
        },
    )
    (root / "README.md").write_text("# Huge\n\nTakes orders.\n\n" + "word " * 3_000_000, encoding="utf-8")
    os.mkfifo(root / "CHANGELOG.md")
    os.mkfifo(root / "Makefile")
    os.symlink(tmp_path / "outside", root / "packages")
    os.symlink(tmp_path / "secret.txt", root / "AGENTS.md")
    os.symlink(root, root / "loop")
    bundle = build(root, environment)
    text = json.dumps(bundle, ensure_ascii=False)
    assert "SECRET" not in text
    assert "\u202e" not in text
    assert "\x1b" not in text
    assert bundle["project"]["summary"] == "Takes orders."
    assert bundle["project"]["recommendedEntryFile"] == "README.md"


def test_no_path_of_a_bundle_is_missing(root: Path, environment: dict[str, str]) -> None:
    put(root, {"package.json": {"main": "gone.js", "bin": "x.js"}, "README.md": "x", "x.js": "", "lib/a/b.js": ""})
    bundle = build(root, environment)
    named = [*bundle["project"]["keyPaths"], *bundle["projectMap"]["firstFilesToRead"]]
    named += [
        item["path"] for key in ("modules", "entrypoints", "denseSourceAreas") for item in bundle["projectMap"][key]
    ]
    assert named
    assert all((root / path).exists() for path in named)


# -- real projects --------------------------------------------------------------------------


@needs_real
@pytest.mark.parametrize("name", sorted(path.parent.name for path in REAL.glob("*/repo")))
def test_the_projects_of_the_other_program(name: str, tmp_path: Path, environment: dict[str, str], git) -> None:
    root = tmp_path / "repo"
    shutil.copytree(REAL / name / "repo", root, symlinks=True)
    plain = build(root, environment)
    git("init", "--quiet", cwd=root)
    tracked = build(root, environment)
    assert {**tracked, "currentFocus": 0} == {**plain, "currentFocus": 0}
    assert "canonical project memory" not in json.dumps(plain)
    state = root / ".agent-memory" / "state.json"
    known = json.loads(state.read_text(encoding="utf-8")).get("bundle") if name != "errors-offline" else None
    again = build(root, environment, previous=known)
    assert {item["title"] for item in (known or {}).get("gotchas", [])} <= set(titles(again, "gotchas"))


def test_this_project(environment: dict[str, str]) -> None:
    bundle = build(OWN, environment)
    assert bundle["project"]["name"] == "quire-memory"
    assert bundle["project"]["summary"].startswith("Quire is project memory")
    modules = {module["path"]: module["responsibility"] for module in bundle["projectMap"]["modules"]}
    assert modules["src/quire/files"].startswith("Durable writes")
    assert "none" not in modules.values()
    assert [command["command"] for command in bundle["validationCommands"]] == [["make", "test"], ["make", "lint"]]
    assert {entry["path"] for entry in bundle["projectMap"]["entrypoints"]} >= {"src/quire/surfaces/cli/__init__.py"}
