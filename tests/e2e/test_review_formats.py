"""The documents of a review, held against what those say who read them, with text and paths that mean to break them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from mcp_node import need_node, package

from installed import Git

ROOT = Path(__file__).parents[2]
FORMATS = ROOT / "tests/data/formats"
TITLE = "::error::<img src=x> `x` **b** [a](http://e.example) @all <!-- quire:memory-review --> ##[error]%0A"
FENCE = "```````\n::stop-commands::x\n</details>"
ODD = "we,ird\n::error::dir/o dd:%.py"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def odd(repo: Path, memory: Any, git: Git) -> Any:
    """A change with findings of each level, one of them waived, hostile titles, and a path of two lines."""
    path = repo / ODD
    path.parent.mkdir()
    path.write_text("def odd(a):\n    return a + 1\n")
    (repo / "send.py").write_text("def send(a):\n    return a + 1\n")
    (repo / "gone.py").write_text("def gone(a):\n    return a + 1\n")
    (repo / "sign.bin").write_bytes(bytes(range(256)) * 8)
    (repo / "CODEOWNERS").write_text("* @org/all `::error::x`\nsend.py\\ @x\n")
    memory.init()
    kept = [(TITLE, "send.py#send"), ("Odd sums", "we*/**"), ("Gone soon", "gone.py#gone"), ("Signed", "sign.bin")]
    memory.save(*({"kind": "gotcha", "title": title, "body": FENCE, "anchors": [at]} for title, at in kept))
    git.commit("memory")
    git("checkout", "--quiet", "-b", "work")
    for changed in (path, repo / "send.py"):
        changed.write_text("def send(a):\n    return odd(a) - 1\n")
    (repo / "gone.py").unlink()
    (repo / "sign.bin").write_bytes(bytes(reversed(range(256))) * 8)
    memory.save({"kind": "gotcha", "title": f"Second {TITLE}", "body": FENCE})
    note = next((repo / ".memory/memory").glob("second*.md"))
    note.write_text(f"The key is {TOKEN}.\n{FENCE}\n")
    git.commit("work\n\nMemory-Exempt: M203 `x` ::error::y @all")
    return memory


def written(memory: Any, form: str) -> str:
    run = memory("review", "--format", form)
    assert run.code == 1, run.err
    assert TOKEN not in run.out
    return str(run.out)


def codes(memory: Any) -> list[str]:
    return [finding["code"] for finding in json.loads(memory("review", "--json").out)["data"]["findings"]]


def test_all_kinds_of_findings_are_in_what_is_tried(odd: Any) -> None:
    assert sorted(codes(odd)) == ["M201", "M201", "M201", "M203", "M301", "M403"]


def test_sarif_fits_its_schema(odd: Any) -> None:
    need_node()
    schema = json.loads(package("@microsoft/jest-sarif", "lib/schemas/sarif-2.1.0-rtm.5.json").read_bytes())
    document = json.loads(written(odd, "sarif"))
    jsonschema.Draft7Validator(schema).validate(document)
    [run] = document["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert [rules[one["ruleIndex"]] for one in run["results"]] == [one["ruleId"] for one in run["results"]]
    assert [one["ruleId"] for one in run["results"] if one.get("suppressions")] == ["M203"]
    prints = [one["partialFingerprints"]["memoryRecord/v1"] for one in run["results"]]
    assert len(set(prints)) == len(prints)


def test_every_line_for_reviewdog_is_one_of_its_diagnostics(odd: Any) -> None:
    check = jsonschema.Draft202012Validator(json.loads((FORMATS / "rdjsonl.json").read_bytes()))
    lines = written(odd, "rdjsonl").splitlines()
    assert len(lines) == len(codes(odd))
    for line in lines:
        check.validate(json.loads(line))
    assert ODD in {json.loads(line)["location"]["path"] for line in lines}


def test_the_report_for_gitlab_has_what_it_asks_for(odd: Any) -> None:
    report = json.loads(written(odd, "gitlab"))
    jsonschema.Draft202012Validator(json.loads((FORMATS / "code-quality.json").read_bytes())).validate(report)
    assert [one["check_name"] for one in report] == codes(odd)
    assert len({one["fingerprint"] for one in report}) == len(report)


def test_annotations_are_one_command_to_a_line(odd: Any) -> None:
    lines = written(odd, "github").splitlines()
    assert lines
    for line in lines:
        command, _, rest = line.removeprefix("::").partition(" ")
        properties, mark, data = rest.partition("::")
        assert (command in ("error", "warning"), mark) == (True, "::")
        assert dict(part.split("=", 1) for part in properties.split(",")).keys() <= {"file", "line", "title"}
        assert data
    assert any("we%2Cird%0A%3A%3Aerror%3A%3Adir" in line for line in lines)


def test_no_line_of_the_text_is_a_command(odd: Any) -> None:
    run = odd("review")
    assert TITLE in run.out
    assert not [line for line in (run.out + run.err).splitlines() if line.lstrip().startswith("::")]


def test_a_comment_holds_hostile_text_as_data(odd: Any) -> None:
    lines = written(odd, "markdown").splitlines()
    fence = ""
    for number, line in enumerate(lines):
        text = line.strip()
        ticks = text[: len(text) - len(text.lstrip("`"))]
        if fence:
            fence = "" if text == fence else fence
        elif len(ticks) >= 3 and text == f"{ticks}text":
            fence = ticks
        elif number:  # the first line is the marker
            outside = text.split("`")[::2] if "``" not in text else [text.split("``")[0]]
            assert not any(mark in part for part in outside for mark in ("<", "::", "@all", "**b**")), line
    assert not fence


@pytest.mark.parametrize(
    ("client", "schema", "files"),
    [
        ("github", "vendor.github-workflows", ".github/workflows/*.yml"),
        ("gitlab", "vendor.gitlab-ci", ".gitlab*/*.yml"),
        ("gitlab", "vendor.gitlab-ci", ".gitlab-ci.yml"),
        ("", "vendor.github-actions", str(ROOT / "action.yml")),
    ],
)
def test_what_is_written_for_forges_fits_their_schemas(
    client: str, schema: str, files: str, memory: Any, repo: Path, environment: dict[str, str]
) -> None:
    program = shutil.which("check-jsonschema", path=str(Path(sys.executable).parent))
    if program is None:
        pytest.skip("check-jsonschema is not installed")
    if client:
        memory.init()
        assert memory("integrate", client, "--from", "https://github.com/example/quire@v1").code == 0
    found = [Path(files)] if files.startswith("/") else sorted(repo.glob(files))
    assert found
    line = [program, "--builtin-schema", schema, *map(str, found)]
    done = subprocess.run(line, cwd=repo, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
