"""brief and why through the installed command: what governs a change, and what lies behind a line."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from promised import proves
from quire.model.tokens import count_tokens

QUEUE = """import time


def send(message, tries):
    for attempt in range(tries):
        if message.deliver():
            return attempt
        time.sleep(2**attempt)
    raise TimeoutError(message)


def give_up(message):
    message.failed = True
    return None
"""
NODES: list[dict[str, Any]] = [
    {"kind": "feature", "title": "Retry queue", "body": "Sends again.", "anchors": ["src/"], "stage": "shipped"},
    {"kind": "gotcha", "title": "Order", "body": "The order matters.", "anchors": ["src/queue.py"]},
    {"kind": "decision", "title": "Back off", "body": "Pauses double.", "anchors": ["src/queue.py#send"]},
    {"kind": "decision", "title": "Typed pages", "body": "Pages are typed.", "anchors": ["src/**/*.ts"]},
    {"kind": "gotcha", "title": "Late clocks", "body": "Clocks drift."},
    {
        "kind": "question",
        "title": "How often",
        "body": "Unclear.",
        "related": [{"predicate": "affects", "to": "feature.retry-queue"}],
    },
]
ANSWER = ["results", "connected", "withheld", "markdown", "tokens", "truncated"]


def write(root: Path, name: str, text: str = "x = 1\n") -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


@pytest.fixture
def shop(repo: Path, memory: Any, git: Any) -> Any:
    """The code came first, the memory in a commit of its own."""
    write(repo, "src/queue.py", QUEUE)
    write(repo, "src/web/page.ts", "export function page() {\n  return 1;\n}\n")
    write(repo, "lib/other.py")
    git.commit("code")
    memory.init()
    memory.save(*NODES)
    git.commit("memory")
    return memory


def brief(memory: Any, *arguments: str, **options: Any) -> Any:
    run = memory("brief", *arguments, "--json", **options)
    assert run.code == 0, run.out
    return run.data


def why(memory: Any, *arguments: str, **options: Any) -> Any:
    run = memory("why", *arguments, "--json", **options)
    assert run.code == 0, run.out
    return run.data


def refs(data: Any) -> list[str]:
    return [hit["ref"] for hit in data["results"]]


def governed(data: Any) -> dict[str, list[str]]:
    return {hit["ref"]: hit["files"] for hit in data["results"]}


# -- brief: which files -------------------------------------------------------------------


def test_nothing_changed_is_said(shop: Any) -> None:
    run = shop("brief")
    assert (run.code, run.out) == (0, "No file has changed.\n")
    data = brief(shop)
    assert (data["change"], data["files"], data["results"]) == ("the uncommitted changes", [], [])


def test_what_is_not_committed_in_every_way(shop: Any, repo: Path, git: Any) -> None:
    write(repo, "src/kept.py", QUEUE)
    write(repo, "src/gone.py", "gone = 1\n" * 9)
    write(repo, "src/old_name.py", "name = 1\n" * 9)
    git.commit()
    write(repo, "src/staged.py", "staged = 1\n")
    git("add", "src/staged.py")
    write(repo, "src/queue.py", QUEUE + "x = 1\n")
    write(repo, "src/untracked.py", "untracked = 1\n")
    (repo / "src/gone.py").unlink()
    git("mv", "src/old_name.py", "src/new_name.py")
    write(repo, ".memory/memory/late-clocks.md", "By hand.")
    write(repo, ".gitignore", "*.log\n")
    write(repo, "src/noise.log")
    for arguments in ([], ["--diff"]):
        data = brief(shop, *arguments)
        names = ["gone", "new_name", "old_name", "queue", "staged", "untracked"]
        assert data["files"] == [".gitignore", *(f"src/{name}.py" for name in names)]
        assert governed(data)["gotcha.order"] == ["src/queue.py"]
        assert len(governed(data)["feature.retry-queue"]) == 6


def test_a_change_that_nothing_governs_is_said(shop: Any, repo: Path) -> None:
    write(repo, "lib/other.py", "x = 2\n")
    run = shop("brief")
    assert (run.code, run.out) == (0, "No record is about lib/other.py.\n")
    for number in range(5):
        write(repo, f"lib/{number}.py")
    assert "lib/0.py, lib/1.py, lib/2.py and 3 more." in shop("brief").out


@pytest.fixture
def branches(shop: Any, repo: Path, git: Any) -> Any:
    """Two branches that parted, each with a file of its own."""
    git("checkout", "-q", "-b", "side")
    write(repo, "src/side.py")
    git.commit("side")
    git("checkout", "-q", "main")
    write(repo, "src/main.py")
    git.commit("main")
    git("checkout", "-q", "side")
    return shop


def test_two_dots_compare_the_ends_and_three_where_they_parted(branches: Any, repo: Path, git: Any) -> None:
    write(repo, "src/dirty.py")
    assert brief(branches, "--diff", "main..side")["files"] == ["src/main.py", "src/side.py"]
    assert brief(branches, "--diff", "main...side")["files"] == ["src/side.py"]
    assert brief(branches, "--diff", "main...")["files"] == ["src/side.py"]
    assert brief(branches, "--diff", "..main")["files"] == ["src/main.py", "src/side.py"]
    assert brief(branches, "--diff", "HEAD~1..HEAD")["files"] == ["src/side.py"]
    data = brief(branches, "--diff=main...HEAD")
    assert data["change"] == "main...HEAD"
    assert refs(data) == ["feature.retry-queue"]
    assert branches("brief", "--diff", "main...HEAD").out.startswith('# Memory: "what governs main...HEAD"')


def test_one_commit_is_compared_with_the_working_tree(branches: Any, repo: Path) -> None:
    write(repo, "src/dirty.py")
    data = brief(branches, "--diff", "HEAD~1")
    assert data["files"] == ["src/dirty.py", "src/side.py"]
    assert data["change"] == "HEAD~1 to the working tree"


def test_a_range_names_the_records_that_a_review_of_it_names(shop: Any, repo: Path, git: Any) -> None:
    """Of a file's definitions those count that the change touched."""
    write(repo, "lib/two.py", "def one(job):\n    return job.one()\n\n\ndef two(job):\n    return job.two()\n")
    for name in ("one", "two"):
        shop.save({"kind": "gotcha", "title": f"Case {name}", "body": "B.", "anchors": [f"lib/two.py#{name}"]})
    git.commit("two definitions")
    write(repo, "lib/two.py", (repo / "lib/two.py").read_text().replace("job.two()", "job.two() or job.three()"))
    git.commit("another one")
    for span in ("HEAD~1..HEAD", "HEAD~2..HEAD"):
        found = shop("review", span, "--json").data
        named = {one["ref"] for one in found["findings"]} | set(found["nearby"])
        assert set(refs(brief(shop, "--diff", span))) == named
    assert refs(brief(shop, "--diff", "HEAD~1..HEAD")) == ["gotcha.case-two"]
    write(repo, "lib/two.py", (repo / "lib/two.py").read_text().replace("job.one()", "job.two()"))
    assert set(refs(brief(shop, "--diff", "HEAD"))) == {"gotcha.case-one", "gotcha.case-two"}


@pytest.mark.proof(keep=3)
@pytest.mark.parametrize(
    "name",
    ["nonsense", "a b", "HEAD:src", "main..nonsense", "nonsense...main", "....", "main..-rf", "HEAD~99", "\x1b[31m"],
)
def test_a_range_that_git_does_not_know_is_refused(shop: Any, name: str) -> None:
    run = shop("brief", f"--diff={name}", "--json")
    assert run.code == 1
    assert run.error["code"] == "MemoryValidationFailed"
    assert run.error["hint"]
    assert shop("brief", f"--diff={name}").out == ""


def test_what_looks_like_an_option_is_not_a_range(shop: Any) -> None:
    assert shop("brief", "--diff", "-rf").code == 2
    assert shop("brief", "--branch", "--upload-pack=x").code == 2
    for name in ("--diff=-rf", "--diff=--all", "--branch=-rf"):
        assert shop("brief", name).code in (1, 2)


def test_two_histories_without_a_common_past_have_no_three_dots(shop: Any, git: Any) -> None:
    git("checkout", "-q", "--orphan", "lonely")
    git.commit("begin anew")
    run = shop("brief", "--diff", "main...lonely", "--json")
    assert run.code == 1
    assert "no common history" in run.error["message"]
    assert shop("brief", "--diff", "main..lonely").code == 0


def test_a_branch_is_what_it_changed_since_it_left_the_main_one(branches: Any, repo: Path) -> None:
    write(repo, "src/dirty.py")
    data = brief(branches, "--branch")
    assert data["files"] == ["src/dirty.py", "src/side.py"]
    assert data["change"] == "the branch side"
    assert brief(branches, "--branch", "side")["files"] == ["src/dirty.py", "src/side.py"]


def test_a_branch_by_its_name_from_elsewhere(branches: Any, repo: Path, git: Any) -> None:
    git("checkout", "-q", "main")
    write(repo, "src/dirty.py")
    assert brief(branches, "--branch", "side")["files"] == ["src/side.py"]
    assert branches("brief", "--branch", "nonsense").code == 1


def test_on_the_main_branch_itself_only_what_is_not_committed_is_left(branches: Any, repo: Path, git: Any) -> None:
    git("checkout", "-q", "main")
    assert brief(branches, "--branch")["files"] == []
    write(repo, "src/dirty.py")
    assert brief(branches, "--branch")["files"] == ["src/dirty.py"]


def test_the_main_branch_stays_the_main_one_beside_others_with_usual_names(branches: Any, git: Any) -> None:
    git("branch", "develop", "main~1")
    git("checkout", "-q", "main")
    assert brief(branches, "--branch")["files"] == []


def test_on_the_main_branch_of_a_clone_it_is_what_was_not_pushed(
    branches: Any, repo: Path, git: Any, tmp_path: Path
) -> None:
    git("checkout", "-q", "main")
    clone = tmp_path / "clone"
    git("clone", "-q", f"file://{repo}", clone, cwd=tmp_path)
    write(clone, "src/mine.py")
    git("add", "--all", cwd=clone)
    git("commit", "-qm", "mine", cwd=clone)
    assert brief(branches, "--branch", cwd=clone)["files"] == ["src/mine.py"]


@proves("P4.3", "C10", over="graph")
def test_a_detached_head_is_compared_with_main(branches: Any, git: Any) -> None:
    git("checkout", "-q", "--detach", "side")
    assert brief(branches, "--branch")["files"] == ["src/side.py"]


@pytest.mark.parametrize("name", ["master", "trunk", "develop"])
def test_the_main_branch_may_have_another_usual_name(branches: Any, git: Any, name: str) -> None:
    git("branch", "-m", "main", name)
    assert brief(branches, "--branch")["files"] == ["src/side.py"]


def test_without_a_main_branch_it_says_what_to_do(branches: Any, git: Any) -> None:
    git("branch", "-qD", "main")
    run = branches("brief", "--branch", "--json")
    assert run.code == 3
    assert "default branch" in run.error["message"]
    assert "--diff" in run.error["hint"]


def test_files_and_folders_are_named_from_where_one_stands(shop: Any, repo: Path) -> None:
    assert brief(shop, "src/queue.py")["files"] == ["src/queue.py"]
    assert brief(shop, "queue.py", "web/", cwd=repo / "src")["files"] == ["src/queue.py", "src/web"]
    assert brief(shop, "../lib/other.py", cwd=repo / "src")["files"] == ["lib/other.py"]
    assert brief(shop, "src/queue.py", cwd=repo / "lib")["files"] == ["src/queue.py"], "from the root, if not from here"
    assert brief(shop, str(repo / "src/queue.py"), cwd=repo / "lib")["files"] == ["src/queue.py"]
    assert brief(shop, "./src//queue.py")["files"] == ["src/queue.py"]
    assert brief(shop, "--path", "src/queue.py")["files"] == ["src/queue.py"]
    assert brief(shop, "lib/other.py", "--path", "src/queue.py")["files"] == ["lib/other.py", "src/queue.py"]
    assert brief(shop, "src/still-to-come.py")["files"] == ["src/still-to-come.py"]


def test_the_folder_one_stands_in_may_be_named(shop: Any, repo: Path) -> None:
    data = brief(shop, ".", cwd=repo / "src")
    assert data["files"] == ["src"]
    assert set(refs(data)) == {"feature.retry-queue", "gotcha.order", "decision.back-off", "decision.typed-pages"}


@pytest.mark.parametrize("path", ["/etc/passwd", "../outside.py", "~/x", ".memory/config.json"])
def test_a_path_that_is_none_of_the_projects_is_refused(shop: Any, path: str) -> None:
    run = shop("brief", path, "--json")
    assert run.code == 1
    assert run.error["code"] == "MemoryValidationFailed"
    assert shop("brief", "--path", path).code == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["src/queue.py", "--diff", "HEAD~1"],
        ["--path", "src/queue.py", "--branch"],
        ["--diff", "HEAD~1", "--branch", "main"],
        ["--diff", "--branch"],
        ["--limit", "many"],
        ["--budget", "x"],
    ],
)
def test_a_command_line_that_asks_for_two_things_is_wrong(shop: Any, arguments: list[str]) -> None:
    assert shop("brief", *arguments).code == 2


# -- brief: what is said ------------------------------------------------------------------


def test_the_closest_come_first_with_their_verdicts_and_what_is_connected(shop: Any, repo: Path) -> None:
    write(repo, "src/queue.py", QUEUE.replace("2**attempt", "3**attempt"))
    data = brief(shop)
    assert refs(data) == ["decision.back-off", "gotcha.order", "feature.retry-queue"]
    assert {hit["verdict"] for hit in data["results"]} == {"changed"}
    assert all("not committed" in hit["checked"]["because"] for hit in data["results"])
    assert [link["ref"] for link in data["connected"]] == ["question.how-often"]
    text = shop("brief").out
    assert "## feature.retry-queue — Retry queue  [active, shipped, changed, " in text
    assert "changed: `src/queue.py` changed in the working tree, not committed" in text
    assert "> Pauses double." in text


def test_the_json_has_the_documented_shape(shop: Any, repo: Path) -> None:
    write(repo, "src/queue.py", "x = 1\n")
    data = brief(shop)
    assert list(data) == ["change", "files", *ANSWER]
    assert set(data["results"][0]) == {
        *(
            "ref",
            "id",
            "layer",
            "kind",
            "title",
            "status",
            "stage",
            "section",
            "tier",
            "score",
            "faded",
            "amended_by",
            "reviewed",
            "session",
            "verdict",
            "checked",
            "why",
            "text",
        ),
        *("anchors", "files", "tags", "updated_at"),
    }


def test_patterns_and_symbols_govern_their_files(shop: Any) -> None:
    assert refs(brief(shop, "src/web/page.ts")) == ["feature.retry-queue", "decision.typed-pages"]
    assert "decision.back-off" in refs(brief(shop, "src/queue.py"))
    assert "decision.back-off" not in refs(brief(shop, "src/web/page.ts"))
    assert "gotcha.order" in refs(brief(shop, "src"))


def test_a_folder_is_governed_by_a_pattern_that_reaches_into_it(shop: Any) -> None:
    assert "decision.typed-pages" in refs(brief(shop, "src"))
    assert "decision.typed-pages" in refs(brief(shop, "src/web/"))
    assert "decision.typed-pages" not in refs(brief(shop, "lib"))


def test_a_file_with_a_hash_in_its_name_is_that_file(shop: Any, repo: Path) -> None:
    write(repo, "src/a")
    write(repo, "src/a#b.py")
    shop.save({"kind": "gotcha", "title": "Hash", "body": "B.", "anchors": ["src/a#b.py"]})
    assert "gotcha.hash" in refs(brief(shop, "src/a#b.py"))
    assert "gotcha.hash" not in refs(brief(shop, "src/a"))


def test_what_was_replaced_is_withheld_and_named(shop: Any) -> None:
    shop.save(
        {"kind": "decision", "title": "Fixed pauses", "body": "Always one second.", "anchors": ["src/queue.py"]},
        {"kind": "feature", "title": "Fax", "body": "Was sent.", "stage": "dead", "anchors": ["src/queue.py"]},
        supersede=[{"id": "decision.back-off", "superseded_by": "decision.fixed-pauses", "reason": "simpler"}],
        stale=[{"id": "gotcha.order", "reason": "repaired"}],
    )
    data = brief(shop, "src/queue.py")
    assert set(refs(data)) == {"decision.fixed-pauses", "feature.retry-queue"}
    assert {item["ref"]: item["reason"] for item in data["withheld"]} == {
        "decision.back-off": "superseded by decision.fixed-pauses",
        "gotcha.order": "stale",
        "feature.fax": "a dead feature",
    }
    text = shop("brief", "src/queue.py").out
    assert "withheld" in text
    assert "decision.back-off" in text


@pytest.mark.parametrize("budget", [100, 150, 400, 2000])
def test_the_budget_holds(shop: Any, repo: Path, budget: int) -> None:
    many = [
        {"kind": "gotcha", "title": f"Trap {number}", "body": f"Sentence {number}. " * 60, "anchors": ["src/queue.py"]}
        for number in range(30)
    ]
    shop.save(*many)
    data = brief(shop, "src/queue.py", "lib/other.py", "--budget", str(budget))
    assert count_tokens(data["markdown"]) == data["tokens"] <= budget
    assert data["truncated"] is True
    text = shop("brief", "src/queue.py", "lib/other.py", f"--budget={budget}").out
    assert count_tokens(text) <= budget


def test_the_limit_holds(shop: Any) -> None:
    data = brief(shop, "src/queue.py", "--limit", "2")
    assert len(data["results"]) == 2
    assert data["truncated"] is True
    assert "1 more with a higher --limit" in data["markdown"]
    for wrong in ("0", "101", "-1"):
        assert shop("brief", "src/queue.py", f"--limit={wrong}").code == 1
    for wrong in ("99", "50001"):
        assert shop("brief", "src/queue.py", "--budget", wrong).code == 1


def test_a_brief_writes_nothing(shop: Any, repo: Path, tree: Any) -> None:
    write(repo, "src/queue.py", "x = 1\n")
    before = tree(repo)
    shop("brief")
    shop("why", "src/queue.py:1")
    assert tree(repo) == before


def test_before_the_first_commit_everything_is_uncommitted(repo: Path, memory: Any) -> None:
    write(repo, "src/queue.py", QUEUE)
    memory.init()
    memory.save(NODES[0])
    data = brief(memory)
    assert "src/queue.py" in data["files"]
    assert refs(data) == ["feature.retry-queue"]
    for options in (["--diff", "HEAD"], ["--branch"]):
        refused = memory("brief", *options)
        assert (refused.code, "no commits yet" in refused.err) == (3, True)


def test_without_git_named_files_still_work(memory: Any, tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    write(folder, "src/queue.py", QUEUE)
    memory.init(cwd=folder)
    intent = {"task": "t", "nodes": [NODES[0]]}
    assert memory("save", "--stdin", stdin=intent, cwd=folder).code == 0
    assert refs(brief(memory, "src/queue.py", cwd=folder)) == ["feature.retry-queue"]
    for arguments in ([], ["--diff", "HEAD"], ["--branch"]):
        run = memory("brief", *arguments, "--json", cwd=folder)
        assert run.code == 3
        assert run.error["code"] == "MemoryGitRequired"


def test_odd_names_in_a_change(shop: Any, repo: Path, git: Any) -> None:
    names = ["src/Größe ü.py", "src/a\nb.py", "src/-rf.py", "src/with space.py", "src/[x].py"]
    for name in names:
        write(repo, name)
    os.close(os.open(os.fsencode(repo) + b"/src/caf\xe9.py", os.O_CREAT | os.O_WRONLY))
    run = shop("brief", "--json")
    assert run.code == 0
    assert set(names) < set(run.data["files"])
    assert len(run.data["files"]) == 6
    assert shop("brief").code == 0
    git.commit()
    assert len(brief(shop, "--diff", "HEAD~1..HEAD")["files"]) == 6
    assert refs(shop("brief", "--json", "--", "src/-rf.py").data) == ["feature.retry-queue"]


@pytest.mark.proof
def test_many_files_and_many_nodes_take_seconds(shop: Any, repo: Path, git: Any) -> None:
    for number in range(500):
        write(repo, f"src/part{number % 50}/file{number}.py", f"x = {number}\n")
    git.commit("many")
    nodes = [
        {
            "kind": "gotcha",
            "title": f"Trap {number}",
            "body": "B.",
            "anchors": [f"src/part{number % 50}/", f"src/part{number % 50}/**/*.py", f"src/part0/file{number}.py#x"],
        }
        for number in range(300)
    ]
    run = shop("save", "--stdin", stdin={"task": "t", "nodes": nodes})
    assert run.code == 0
    git.commit("traps")
    for number in range(500):
        write(repo, f"src/part{number % 50}/file{number}.py", f"x = {number + 1}\n")
    data = brief(shop, "--budget", "3000")
    assert len(data["files"]) == 500
    assert len(data["results"]) == 20
    assert data["tokens"] <= 3000


# -- why ----------------------------------------------------------------------------------


def test_a_line_has_its_commit_and_what_governs_it(shop: Any, git: Any) -> None:
    first = git("rev-list", "--max-parents=0", "HEAD").strip()
    data = why(shop, "src/queue.py:8")
    assert (data["path"], data["line"], data["text"].strip()) == ("src/queue.py", 8, "time.sleep(2**attempt)")
    assert (data["committed"], data["note"]) == (True, "")
    assert data["origin"] == {"commit": first, "path": "src/queue.py", "line": 8}
    (commit,) = data["commits"]
    assert set(commit) == {"id", "short", "date", "author", "subject"}
    assert (commit["id"], commit["author"], commit["subject"]) == (first, "Tess Ter", "code")
    assert first.startswith(commit["short"])
    assert set(refs(data)[:2]) == {"gotcha.order", "decision.back-off"}
    assert refs(data)[2:] == ["feature.retry-queue"]
    lines = shop("why", "src/queue.py:8").out.splitlines()
    assert lines[0] == "src/queue.py:8: time.sleep(2**attempt)"
    assert lines[1].startswith(f"{first[:9]} 20")
    assert lines[1].endswith("Tess Ter: code")
    assert '# Memory: "why src/queue.py:8"' in lines


def test_the_json_of_a_why_has_the_documented_shape(shop: Any) -> None:
    keys = ["path", "line", "text", "committed", "origin", "commits", "saves", "note", *ANSWER]
    assert list(why(shop, "src/queue.py:1")) == keys
    data = why(shop, "src/queue.py")
    assert list(data) == keys
    assert (data["line"], data["text"], data["origin"]) == (None, None, None)


def test_a_symbol_governs_its_lines_only(shop: Any) -> None:
    inside = {line for line in range(1, 15) if "decision.back-off" in refs(why(shop, f"src/queue.py:{line}"))}
    assert inside == {4, 5, 6, 7, 8, 9}
    assert "decision.back-off" in refs(why(shop, "src/queue.py"))


def test_a_symbol_in_a_file_with_a_syntax_error_stands_for_its_file(shop: Any, repo: Path) -> None:
    write(repo, "src/queue.py", QUEUE + "def broken(\n")
    assert "decision.back-off" in refs(why(shop, "src/queue.py:13"))


def test_what_was_replaced_may_be_the_reason(shop: Any) -> None:
    shop.save(
        {"kind": "decision", "title": "Fixed pauses", "body": "Always one second.", "anchors": ["src/queue.py"]},
        supersede=[{"id": "decision.back-off", "superseded_by": "decision.fixed-pauses", "reason": "simpler"}],
    )
    data = why(shop, "src/queue.py:8")
    found = {hit["ref"]: hit["status"] for hit in data["results"]}
    assert found["decision.back-off"] == "superseded"
    assert found["decision.fixed-pauses"] == "active"
    assert data["withheld"] == []
    assert "Pauses double." in shop("why", "src/queue.py:8").out


def test_a_file_shows_its_newest_commits_and_a_folder_too(shop: Any, repo: Path, git: Any) -> None:
    for number in range(7):
        write(repo, "src/queue.py", QUEUE + f"x = {number}\n")
        git.commit(f"change {number}")
    write(repo, "src/web/page.ts", "export const a = 1;\n")
    git.commit("page")
    data = why(shop, "src/queue.py")
    assert [commit["subject"] for commit in data["commits"]] == [f"change {number}" for number in (6, 5, 4, 3, 2)]
    folder = why(shop, "src")
    assert folder["commits"][0]["subject"] == "page"
    assert len(folder["commits"]) == 5
    assert why(shop, "src/")["path"] == "src"
    assert set(refs(folder)) >= {"feature.retry-queue", "gotcha.order", "decision.back-off"}


def test_a_line_that_is_not_committed_has_no_commit(shop: Any, repo: Path) -> None:
    write(repo, "src/queue.py", QUEUE + "x = 1\n")
    data = why(shop, "src/queue.py:15")
    assert (data["committed"], data["origin"], data["commits"]) == (False, None, [])
    assert data["note"] == "not committed yet"
    assert refs(data)
    assert "No commit to show: not committed yet." in shop("why", "src/queue.py:15").out
    write(repo, "src/new.py")
    assert why(shop, "src/new.py:1")["committed"] is False
    assert why(shop, "src/new.py")["committed"] is False


def test_a_line_is_followed_through_edits_above_it(shop: Any, repo: Path, git: Any) -> None:
    first = git("rev-list", "--max-parents=0", "HEAD").strip()
    write(repo, "src/queue.py", "# one\n# two\n" + QUEUE.replace("import time\n", "import time\nimport os\n"))
    data = why(shop, "src/queue.py:11")
    assert data["text"].strip() == "time.sleep(2**attempt)"
    assert data["origin"] == {"commit": first, "path": "src/queue.py", "line": 8}
    git("add", "src/queue.py")
    assert why(shop, "src/queue.py:11")["origin"]["line"] == 8, "staged is not committed"
    assert why(shop, "src/queue.py:1")["committed"] is False
    git.commit("more above")
    assert why(shop, "src/queue.py:11")["origin"] == {"commit": first, "path": "src/queue.py", "line": 8}


def test_a_long_file_with_lines_that_are_all_alike_takes_seconds(shop: Any, repo: Path, git: Any) -> None:
    text = "}\n\n" * 6_000
    write(repo, "src/long.c", text)
    commit = git.commit("long")
    write(repo, "src/long.c", "// above\n" + text)
    data = why(shop, "src/long.c:6001")
    assert data["origin"] == {"commit": commit, "path": "src/long.c", "line": 6000}


def test_changes_of_white_space_do_not_count(shop: Any, repo: Path, git: Any) -> None:
    first = git("rev-list", "--max-parents=0", "HEAD").strip()
    write(repo, "src/queue.py", QUEUE.replace("    ", "\t"))
    git.commit("tabs")
    assert why(shop, "src/queue.py:8")["origin"]["commit"] == first


def test_a_line_is_followed_through_a_rename(shop: Any, repo: Path, git: Any) -> None:
    first = git("rev-list", "--max-parents=0", "HEAD").strip()
    git("mv", "src/queue.py", "src/with space ü.py")
    git.commit("rename")
    data = why(shop, "src/with space ü.py:8")
    assert data["origin"] == {"commit": first, "path": "src/queue.py", "line": 8}
    git("mv", "src/with space ü.py", "src/again.py")
    git.commit("rename again")
    assert why(shop, "src/again.py:8")["origin"]["path"] == "src/queue.py"


def test_a_rename_that_is_not_committed_is_not_followed_and_fails_nothing(shop: Any, git: Any) -> None:
    git("mv", "src/queue.py", "src/line.py")
    data = why(shop, "src/line.py:8")
    assert data["committed"] is False


@pytest.mark.proof(keep=4)
@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("src/queue.py:15", "14 lines"),
        ("src/queue.py:999999999", "14 lines"),
        ("src/queue.py:0", "counted from 1"),
        ("src/nothing.py", "does not exist"),
        ("src/nothing.py:3", "does not exist"),
        ("src/queue.py:-1", "does not exist"),
        ("src:3", "is not a file"),
        ("../outside.py:1", ""),
        ("/etc/passwd:1", ""),
        ("/etc/passwd", ""),
        (".memory/config.json", ""),
        ("", ""),
    ],
)
def test_a_place_that_is_none_is_refused(shop: Any, place: str, said: str) -> None:
    run = shop("why", place, "--json")
    assert run.code == 1
    assert run.error["code"] == "MemoryValidationFailed"
    assert said in run.error["message"]
    assert shop("why", place).out == ""


def test_without_a_place_the_command_line_is_wrong(shop: Any) -> None:
    assert shop("why").code == 2
    assert shop("why", "src/queue.py", "lib/other.py").code == 2


def test_what_is_not_text_has_no_lines(shop: Any, repo: Path, git: Any) -> None:
    (repo / "src/logo.png").write_bytes(b"\x89PNG\0\0\n\n\n")
    git.commit("logo")
    run = shop("why", "src/logo.png:2", "--json")
    assert run.code == 1
    assert "not text" in run.error["message"]
    data = why(shop, "src/logo.png")
    assert [commit["subject"] for commit in data["commits"]] == ["logo"]
    (repo / "src/empty.py").write_bytes(b"")
    assert "0 lines" in shop("why", "src/empty.py:1", "--json").error["message"]


def test_a_file_may_have_a_colon_in_its_name(shop: Any, repo: Path, git: Any) -> None:
    write(repo, "src/a:12", "one\ntwo\n")
    write(repo, "src/b:c.py", "one\ntwo\n")
    git.commit("colons")
    assert (why(shop, "src/a:12")["path"], why(shop, "src/a:12")["line"]) == ("src/a:12", None)
    data = why(shop, "src/a:12:2")
    assert (data["path"], data["line"], data["text"]) == ("src/a:12", 2, "two")
    assert why(shop, "src/b:c.py:1")["text"] == "one"


def test_a_link_out_of_the_project_is_not_read(shop: Any, repo: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret\n")
    (repo / "src/link.py").symlink_to(tmp_path / "secret.txt")
    run = shop("why", "src/link.py:1", "--json")
    assert run.code == 1
    assert "secret" not in run.out.replace("secret.txt", "")


def test_what_was_saved_in_the_same_commit_is_listed(shop: Any, repo: Path, git: Any) -> None:
    write(repo, "src/queue.py", QUEUE + "x = 1\n")
    shop.save(
        {"id": "gotcha.order", "body": "The order still matters."},
        {"kind": "decision", "title": "One more", "body": "B."},
        delete=[{"id": "question.how-often", "reason": "answered"}],
    )
    commit = git.commit("together")
    data = why(shop, "src/queue.py:15")
    assert data["saves"] == [
        {"commit": commit, "ref": "decision.one-more", "title": "One more", "change": "created"},
        {"commit": commit, "ref": "gotcha.order", "title": "Order", "change": "updated"},
        {"commit": commit, "ref": "question.how-often", "title": "How often", "change": "deleted"},
    ]
    text = shop("why", "src/queue.py:15").out
    assert "  saved in it: decision.one-more — One more (created)" in text
    assert why(shop, "src/queue.py:1")["saves"] == [], "another commit wrote that line"


def test_a_body_edited_by_hand_in_the_commit_is_listed_too(shop: Any, repo: Path, git: Any) -> None:
    write(repo, "src/queue.py", QUEUE + "x = 1\n")
    write(repo, ".memory/memory/order.md", "By hand.")
    commit = git.commit("together")
    assert why(shop, "src/queue.py:15")["saves"] == [
        {"commit": commit, "ref": "gotcha.order", "title": "Order", "change": "updated"}
    ]


def test_the_first_commit_of_all_lists_its_saves(repo: Path, memory: Any, git: Any) -> None:
    write(repo, "src/queue.py", QUEUE)
    memory.init()
    memory.save(NODES[0])
    git.commit("first")
    data = why(memory, "src/queue.py:1")
    assert [(save["ref"], save["change"]) for save in data["saves"]] == [
        ("feature.retry-queue", "created"),
        ("project.harbor", "created"),
    ]


def test_a_merge_commit_does_not_hide_who_wrote_the_line(shop: Any, repo: Path, git: Any) -> None:
    git("checkout", "-q", "-b", "side")
    write(repo, "src/queue.py", QUEUE + "x = 1\n")
    shop.save({"kind": "gotcha", "title": "Side", "body": "B."})
    side = git.commit("side")
    git("checkout", "-q", "main")
    write(repo, "README.md", "# Hello\n")
    git.commit("readme")
    git("merge", "-q", "--no-ff", "--no-edit", "side")
    data = why(shop, "src/queue.py:15")
    assert data["origin"]["commit"] == side
    assert [save["ref"] for save in data["saves"]] == ["gotcha.side"]


def test_before_the_first_commit_there_is_no_history(repo: Path, memory: Any) -> None:
    write(repo, "src/queue.py", QUEUE)
    memory.init()
    memory.save(NODES[0])
    data = why(memory, "src/queue.py:1")
    assert (data["committed"], data["note"], data["commits"]) == (False, "there is no commit yet", [])
    assert refs(data) == ["feature.retry-queue"]


def test_without_git_the_rest_is_shown(memory: Any, tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    write(folder, "src/queue.py", QUEUE)
    memory.init(cwd=folder)
    intent = {"task": "t", "nodes": [NODES[1]]}
    assert memory("save", "--stdin", stdin=intent, cwd=folder).code == 0
    data = why(memory, "src/queue.py:8", cwd=folder)
    assert data["committed"] is False
    assert data["note"]
    assert refs(data) == ["gotcha.order"]
    assert "No commit to show:" in memory("why", "src/queue.py", cwd=folder).out


def test_without_the_git_program_the_rest_is_shown(shop: Any) -> None:
    data = why(shop, "src/queue.py:8", env={"PATH": "/nowhere"})
    assert data["note"]
    assert "gotcha.order" in refs(data)


def test_lines_that_end_with_a_carriage_return(shop: Any, repo: Path, git: Any) -> None:
    text = QUEUE.replace("\n", "\r\n")
    write(repo, "src/windows.py", text)
    commit = git.commit("windows")
    data = why(shop, "src/windows.py:8")
    assert data["text"] == "        time.sleep(2**attempt)"
    assert data["origin"]["commit"] == commit
    write(repo, "src/windows.py", "# above\r\n" + text)
    assert why(shop, "src/windows.py:9")["origin"]["line"] == 8
    write(repo, "src/windows.py", text.replace("\r\n", "\n"))
    assert why(shop, "src/windows.py:8")["origin"]["commit"] == commit


def test_a_file_that_does_not_end_with_a_line_break(shop: Any, repo: Path, git: Any) -> None:
    write(repo, "src/short.py", "one\ntwo")
    commit = git.commit("short")
    assert why(shop, "src/short.py:2")["origin"] == {"commit": commit, "path": "src/short.py", "line": 2}
    assert shop("why", "src/short.py:3").code == 1
    write(repo, "src/short.py", "zero\none\ntwo")
    assert why(shop, "src/short.py:3")["origin"]["line"] == 2


def test_a_place_is_named_from_where_one_stands(shop: Any, repo: Path) -> None:
    assert why(shop, "queue.py:8", cwd=repo / "src")["path"] == "src/queue.py"
    assert why(shop, "../src/queue.py:8", cwd=repo / "lib")["path"] == "src/queue.py"
    assert why(shop, "src/queue.py:8", cwd=repo / "lib")["path"] == "src/queue.py"
    assert why(shop, f"{repo}/src/queue.py:8", cwd=repo / "lib")["line"] == 8


def test_a_place_that_nothing_governs_still_has_its_commit(shop: Any) -> None:
    run = shop("why", "lib/other.py:1")
    assert run.code == 0
    assert "Tess Ter: code" in run.out
    assert run.out.endswith("No record is about this file.\n")


@proves("P4.3", "C10", over="graph")
def test_a_shallow_clone_names_the_commit_it_reaches(shop: Any, repo: Path, git: Any, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git("clone", "-q", "--depth", "1", f"file://{repo}", clone, cwd=tmp_path)
    data = why(shop, "src/queue.py:8", cwd=clone)
    assert data["committed"] is True
    assert len(data["commits"]) == 1


def test_a_why_names_no_option_that_it_does_not_have(shop: Any) -> None:
    many = [{"kind": "gotcha", "title": f"T {number}", "body": "B.", "anchors": ["lib/"]} for number in range(110)]
    shop.save(*many)
    assert "--limit" not in shop("why", "lib/other.py:1").out


def test_the_budget_of_a_why_holds(shop: Any) -> None:
    shop.save({"id": "gotcha.order", "body": "A sentence. " * 400})
    data = why(shop, "src/queue.py:8", "--budget", "120")
    assert count_tokens(data["markdown"]) == data["tokens"] <= 120
    assert shop("why", "src/queue.py:8", "--budget", "1").code == 1
    assert shop("why", "src/queue.py:8", "--budget", "x").code == 2


def test_what_others_wrote_reaches_no_terminal_as_it_is(shop: Any, repo: Path, git: Any) -> None:
    write(repo, "src/queue.py", "x = 1  # \x1b[31mred\n")
    git("add", "--all")
    git("-c", "user.name=Evil \x1b[2J", "commit", "-qm", "subject \x1b]0;title\x07\n\nbody")
    text = shop("why", "src/queue.py:1").out
    assert "\x1b" not in text
    assert "\x07" not in text
    assert json.loads(shop("why", "src/queue.py:1", "--json").out)["ok"] is True
