"""Forges and pre-commit: their files are written into what is there, and taken out byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest
from integration_cases import held, lay

from quire.clients.integration.yaml_items import YamlItems
from quire.clients.texts.forges import read_source
from quire.files.world import World
from quire.model.errors import InputError
from quire.project import Project
from quire.verbs.agents.connections import connect_clients, connection_status, disconnect_clients

SOURCE = "https://github.com/example/quire@v1"
FORGES = ("github", "gitlab", "pre-commit")
HOOKS = ".pre-commit-config.yaml"
FILES = (
    {},
    {HOOKS: b"repos:\r\n    # ours\r\n    - repo: x\r\n      rev: 1\r\n", ".gitlab-ci.yml": b"stages: [test]"},
    {
        HOOKS: b"---\nfail_fast: true\nrepos:\n- repo: x\n  rev: 1",
        ".gitlab-ci.yml": b"include:\n  - local: a.yml\njob: 1\n",
    },
)


@pytest.fixture
def wiring(project: Project, world: World) -> Project:
    return Project.open(project.root, world)


@pytest.mark.parametrize("files", FILES)
def test_what_is_put_in_comes_out_byte_for_byte(files: dict[str, bytes], wiring: Project, repo: Path) -> None:
    lay(repo, files)
    before = held(repo)
    assert connect_clients(wiring, FORGES, source=SOURCE).is_clean
    wired = held(repo)
    # The files say where Quire comes from.
    assert {part.status for part in connect_clients(wiring, FORGES).parts} == {"unchanged"}
    assert held(repo) == wired
    yaml = pytest.importorskip("yaml")
    hooks, jobs = (yaml.safe_load((repo / name).read_text()) for name in (HOOKS, ".gitlab-ci.yml"))
    assert {"repo": "https://github.com/example/quire", "rev": "v1"}.items() <= hooks["repos"][0].items()
    assert jobs["include"][0] == {"local": ".gitlab/memory.gitlab-ci.yml"}
    for path in (repo / ".github/workflows").iterdir():
        workflow = yaml.safe_load(path.read_text())
        assert next(iter(workflow["permissions"])) == "contents"
        assert any(step["uses"] == "example/quire@v1" for job in workflow["jobs"].values() for step in job["steps"])
    assert disconnect_clients(wiring, FORGES).is_clean
    assert held(repo) == before


def test_text_of_others_stays_when_it_came_later(wiring: Project, repo: Path) -> None:
    connect_clients(wiring, ["pre-commit"], source=SOURCE)
    with (repo / HOOKS).open("a") as file:
        file.write("fail_fast: true\n")
    connect_clients(wiring, ["pre-commit"], source=SOURCE.replace("v1", "v2"))
    assert "rev: v2" in (repo / HOOKS).read_text()
    disconnect_clients(wiring)
    assert (repo / HOOKS).read_text() == "fail_fast: true\n"


def test_a_list_in_another_form_is_left_alone(wiring: Project, repo: Path) -> None:
    for text in (
        "include: a.yml\n",
        "include: [a.yml]\n",
        "include:\n  local: a.yml\n",
        "include:\n- a\ninclude:\n- b\n",
    ):
        lay(repo, {".gitlab-ci.yml": text.encode()})
        done = connect_clients(wiring, ["gitlab"], source=SOURCE)
        assert [file.status for file in done.files if file.path == ".gitlab-ci.yml"] == ["unreadable"]
        assert (repo / ".gitlab-ci.yml").read_text() == text
    items = YamlItems("repos", "- a\n")
    assert items.apply(items.apply(None, False), False) == b"# memory:start\nrepos:\n  - a\n# memory:end\n"


def test_forges_are_listed_where_they_are_in_use_and_are_not_part_of_all(wiring: Project, repo: Path) -> None:
    names = [one.client for one in connection_status(wiring, user=False).clients]
    assert not {*FORGES} & {*names}
    lay(repo, {".gitlab-ci.yml": b""})
    assert [one.client for one in connection_status(wiring, user=False).clients][-1] == "gitlab"
    assert not {*FORGES} & {*connect_clients(wiring, ["all"], dry_run=True).clients}


def test_where_quire_comes_from_must_be_known_and_fit(wiring: Project) -> None:
    for client, source in (("github", "https://gitlab.com/a/b/c@v1"), ("pre-commit", "nowhere"), ("gitlab", "a@b'c")):
        with pytest.raises(InputError, match="install Quire from"):
            connect_clients(wiring, [client], source=source)
    for text in ("git@github.com:a/b.git@v1", "git+https://github.com/a/b@v1", "ssh://git@github.com/a/b.git@v1"):
        found = read_source(text)
        assert found is not None
        assert found.action == "a/b@v1"
    assert [read_source(text) for text in ("https://x/a/b", "https://x/$(a)/b@c", "/local/path@v1", "")] == [None] * 4
