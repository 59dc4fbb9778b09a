"""review through the installed command: what a change does to the records, and nothing that it did not do."""

import json
from pathlib import Path
from typing import Any

import pytest

QUEUE = """import time


def send(message, tries):
    for attempt in range(tries):
        if message.deliver():
            return attempt
        time.sleep(2**attempt)
    raise TimeoutError(message)


def give_up(message):
    message.failed = True
    message.close()
    return None
"""
NODES: list[dict[str, Any]] = [
    {"kind": "decision", "title": "Back off", "body": "Pauses double.", "anchors": ["src/queue.py#send"]},
    {"kind": "gotcha", "title": "Giving up", "body": "Nothing is raised.", "anchors": ["src/queue.py#give_up"]},
    {"kind": "decision", "title": "Typed pages", "body": "Pages are typed.", "anchors": ["web/"]},
    {"kind": "gotcha", "title": "Late clocks", "body": "Clocks drift."},
]
LATER = "2030-01-01T00:00:00Z"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


def changed(root: Path, name: str, old: str, new: str) -> None:
    text = (root / name).read_text(encoding="utf-8")
    assert old in text
    write(root, name, text.replace(old, new))


@pytest.fixture
def shop(repo: Path, memory: Any, git: Any) -> Any:
    """Code and its records on the default branch; the work happens on another."""
    write(repo, "src/queue.py", QUEUE)
    write(repo, "web/page.ts", "export function page() {\n  return 1;\n}\n")
    git.commit("code")
    memory.init()
    memory.save(*NODES)
    git.commit("memory")
    git("checkout", "--quiet", "-b", "work")
    return memory


def review(memory: Any, *arguments: str, code: int = 0) -> Any:
    run = memory("review", *arguments, "--json")
    assert run.code == code, run.out
    return run.data


def told(data: Any) -> list[tuple[str, str]]:
    return [(finding["code"], finding["ref"]) for finding in data["findings"]]


def test_what_the_change_leaves_out_of_date_is_told_and_nothing_else(shop: Any, repo: Path, git: Any) -> None:
    changed(repo, "src/queue.py", "2**attempt", "3**attempt")
    git.commit("slower")
    data = review(shop)
    assert told(data) == [("M201", "decision.back-off")]
    finding = data["findings"][0]
    assert (finding["path"], finding["line"], finding["level"]) == ("src/queue.py", 8, "warn")
    assert (data["files"], data["records"], data["outcome"]) == (1, 5, "passed")
    git("checkout", "--quiet", "-b", "later")
    write(repo, "src/other.py", "x = 1\n")
    git.commit("other")
    assert told(review(shop, "work..HEAD")) == []


def test_what_was_out_of_date_before_only_concerns_the_change(shop: Any, repo: Path, git: Any) -> None:
    changed(repo, "src/queue.py", "2**attempt", "3**attempt")
    git.commit("slower")
    changed(repo, "src/queue.py", "3**attempt", "4**attempt")
    git.commit("slower still")
    assert told(review(shop, "HEAD~1..HEAD")) == [("M101", "decision.back-off")]


def test_comments_and_imports_are_no_finding(shop: Any, repo: Path, git: Any) -> None:
    changed(repo, "src/queue.py", "    for attempt", "    # once more\n    for attempt")
    git.commit("a comment")
    assert told(review(shop)) == []


def test_of_a_long_file_only_what_the_record_speaks_of_counts(shop: Any, repo: Path, git: Any) -> None:
    parts = [f"def part{number}(a):\n    return a + {number}\n\n\n" for number in range(40)]
    write(repo, "src/long.py", "".join(parts) + "def refund(order):\n    return order.total\n")
    shop.save({"kind": "gotcha", "title": "Refunds are whole", "body": "No halves.", "anchors": ["src/long.py"]})
    git.commit("long")
    changed(repo, "src/long.py", "a + 7\n", "a - 7\n")
    git.commit("elsewhere")
    data = review(shop, "HEAD~1..HEAD")
    assert (told(data), data["nearby"]) == ([], ["gotcha.refunds-are-whole"])
    assert "gotcha.refunds-are-whole" in shop("review", "HEAD~1..HEAD").out
    changed(repo, "src/long.py", "order.total", "order.paid")
    git.commit("here")
    assert told(review(shop, "HEAD~1..HEAD"))[0][1] == "gotcha.refunds-are-whole"


def test_moved_code_is_followed_and_lost_code_is_an_orphan(shop: Any, repo: Path, git: Any) -> None:
    send, mark, rest = QUEUE.partition("def give_up")
    write(repo, "src/queue.py", send)
    write(repo, "src/ending.py", mark + rest)
    git("rm", "-r", "--quiet", "web")
    git.commit("apart")
    data = review(shop)
    assert told(data) == [("M202", "gotcha.giving-up"), ("M203", "decision.typed-pages")]
    assert data["findings"][0]["to"] == ["src/ending.py#give_up"]


def test_a_renamed_file_and_folder_are_followed(shop: Any, repo: Path, git: Any) -> None:
    git("mv", "src/queue.py", "src/sending.py")
    git("mv", "web", "pages")
    git.commit("names")
    found = {finding["ref"]: finding["to"] for finding in review(shop)["findings"]}
    assert found == {
        "decision.back-off": ["src/sending.py#send"],
        "gotcha.giving-up": ["src/sending.py#give_up"],
        "decision.typed-pages": ["pages/"],
    }


def test_a_confirmation_wants_a_reason(shop: Any, repo: Path, git: Any) -> None:
    changed(repo, "src/queue.py", "2**attempt", "3**attempt")
    git.commit("slower")
    assert shop("confirm", "decision.back-off").code == 0
    git.commit("confirmed")
    assert told(review(shop)) == [("M204", "decision.back-off"), ("M101", "decision.back-off")]
    git("reset", "--quiet", "--hard", "HEAD~1")
    assert shop("confirm", "decision.back-off", "--reason", "only the base changed").code == 0
    git.commit("confirmed with a reason")
    data = review(shop)
    assert told(data) == [("M101", "decision.back-off"), ("M302", "decision.back-off")]
    assert data["findings"][1]["details"] == ["reason: only the base changed"]


def test_what_a_branch_confirms_stands_in_a_fragment_and_counts(
    shop: Any, repo: Path, git: Any, tmp_path: Path
) -> None:
    git("clone", "--quiet", "--bare", str(repo), str(tmp_path / "origin"))
    git("remote", "add", "origin", str(tmp_path / "origin"))
    git("fetch", "--quiet", "origin")
    changed(repo, "src/queue.py", "2**attempt", "3**attempt")
    assert (
        shop("confirm", "decision.back-off", "--reason", "only the base changed", env={"MEMORY_NOW": LATER}).code == 0
    )
    git.commit("slower")
    assert list((repo / ".memory/events.d").glob("*.jsonl"))
    data = review(shop, "origin/main...HEAD")
    assert told(data) == [("M101", "decision.back-off"), ("M302", "decision.back-off")]
    assert data["findings"][1]["details"] == ["reason: only the base changed"]
    changed(repo, "src/queue.py", "3**attempt", "4**attempt")
    git.commit("slower still")
    assert told(review(shop, "HEAD~1..HEAD")) == [("M201", "decision.back-off")]


def test_changes_of_records_are_told_by_their_meaning(shop: Any, git: Any) -> None:
    shop.save(
        {"id": "decision.back-off", "title": "Back off twice", "tags": ["queue"]},
        {"kind": "feature", "title": "Retries", "body": "Sends again.", "stage": "building",
         "related": [{"predicate": "depends_on", "to": "decision.typed-pages"}]},
        stale=[{"id": "gotcha.late-clocks", "reason": "over"}],
    )  # fmt: skip
    shop("facts", "store", "Known Issues", "The printer is slow.")
    git.commit("memory")
    data = review(shop)
    found = {finding["ref"]: finding for finding in data["findings"]}
    codes = {ref: finding["code"] for ref, finding in found.items() if not ref.startswith("fact:")}
    assert codes == {"decision.back-off": "M302", "feature.retries": "M301", "gotcha.late-clocks": "M303"}
    assert "title: Back off → Back off twice" in found["decision.back-off"]["details"]
    assert [ref for ref in found if ref.startswith("fact:")]
    assert {finding["level"] for finding in found.values()} == {"note"}


def test_a_contested_record_and_a_rejected_value_are_told(shop: Any, repo: Path, git: Any) -> None:
    assert shop("inbox", "reject", "--value", "Every page is written in plain Perl.", "--reason", "never").code == 0
    git.commit("rejected")
    git("branch", "--force", "main")
    write(repo, ".memory/memory/typed-pages.md", "Every page is written in plain Perl.\n")
    sidecar = repo / ".memory/memory/late-clocks.json"
    candidates = [{"at": f"2026-03-0{day}T00:00:00+00:00", "value": title} for day, title in ((1, "Late"), (2, "Slow"))]
    fields = {**json.loads(sidecar.read_text()), "contested": {"title": candidates}}
    sidecar.write_text(json.dumps(fields), encoding="utf-8")
    for path in (repo / ".memory/rejected").iterdir():
        path.unlink()
    git.commit("by hand")
    found = {finding["code"]: finding["ref"] for finding in review(shop)["findings"]}
    assert found["M402"] == "decision.typed-pages"


def test_a_secret_blocks(shop: Any, repo: Path, git: Any) -> None:
    sidecar = next((repo / ".memory/memory").glob("late-clocks.md"))
    sidecar.write_text(f"Clocks drift.\n\nThe key is {TOKEN}.\n", encoding="utf-8")
    git.commit("a key")
    data = review(shop, code=1)
    finding = data["findings"][0]
    assert (finding["code"], finding["level"], finding["line"]) == ("M403", "block", 3)
    assert data["outcome"] == "blocked"
    assert TOKEN not in json.dumps(data)
    for form in ("text", "markdown", "github", "sarif", "gitlab", "rdjsonl"):
        run = shop("review", "--format", form)
        assert run.code == 1
        assert TOKEN not in run.out


def test_the_summary_of_a_step_goes_where_it_is_named(shop: Any, repo: Path, git: Any) -> None:
    changed(repo, "src/queue.py", "2**attempt", "3**attempt")
    git.commit("slower")
    (repo / "steps").mkdir()
    (repo / "linked").symlink_to(repo / "steps")
    for name in (str(repo / "linked/summary.md"), "summary.md"):
        run = shop("review", "--format", "github", cwd=repo / "steps", env={"GITHUB_STEP_SUMMARY": name})
        assert run.code == 0, run.err
        assert "decision.back-off" in (repo / "steps/summary.md").read_text(encoding="utf-8")
        (repo / "steps/summary.md").unlink()


def test_the_policy_of_a_project_counts_and_a_change_cannot_lower_it(shop: Any, repo: Path, git: Any) -> None:
    def policy(levels: dict[str, str]) -> None:
        path = repo / ".memory/config.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "review": levels}), encoding="utf-8")

    policy({"M201": "block", "M203": "off"})
    git.commit("policy")
    git("branch", "--force", "main")
    changed(repo, "src/queue.py", "2**attempt", "3**attempt")
    git.commit("slower")
    assert told(review(shop, code=1)) == [("M201", "decision.back-off")]
    policy({"M201": "off"})
    git.commit("weaker")
    assert told(review(shop, code=1))[0] == ("M201", "decision.back-off")
    for levels, said in (({"M999": "warn"}, "M999"), ({"M201": "often"}, "often")):
        policy(levels)
        git.commit("unknown")
        run = shop("review", "--json")
        assert run.code == 3
        assert said in run.error["message"]
        assert "off, note, warn, block" in run.error["hint"]
    assert shop("list", "--json").error["message"].endswith("at /review.")


def test_a_commit_waives_with_a_reason(shop: Any, repo: Path, git: Any) -> None:
    changed(repo, "src/queue.py", "2**attempt", "3**attempt")
    git.commit("slower\n\nMemory-Exempt: M201 the pause is tuned next week\nMemory-Exempt: M203\n")
    data = review(shop, "--fail-on", "M201")
    assert data["findings"][0]["waived"] == "the pause is tuned next week"
    assert data["waivers"][0]["used"] == 1
    run = shop("review", "--fail-on", "warn")
    assert run.code == 0
    assert "the pause is tuned next week" in run.out
    assert "gives no reason" in run.err


def test_more_can_be_made_to_fail(shop: Any, repo: Path, git: Any) -> None:
    changed(repo, "src/queue.py", "2**attempt", "3**attempt")
    git.commit("slower")
    review(shop, "--fail-on", "M203")
    review(shop, "--fail-on", "M201,M203", code=1)
    review(shop, "--fail-on", "warn", code=1)
    assert shop("review", "--fail-on", "M999").code == 2


def test_what_is_staged_is_reviewed_from_the_index(shop: Any, repo: Path, git: Any) -> None:
    changed(repo, "src/queue.py", "2**attempt", "3**attempt")
    git("add", "src/queue.py")
    write(repo, "src/queue.py", QUEUE)
    assert told(review(shop, "--staged")) == [("M201", "decision.back-off")]
    assert told(review(shop)) == []


def test_conflicts_of_a_merge_are_named_and_not_judged(shop: Any, repo: Path, git: Any) -> None:
    changed(repo, "src/queue.py", "2**attempt", "3**attempt")
    git.commit("slower")
    git("checkout", "--quiet", "-b", "side", "main")
    changed(repo, "src/queue.py", "2**attempt", "5**attempt")
    git.commit("slowest")
    with pytest.raises(AssertionError):
        git("merge", "--quiet", "work")
    run = shop("review", "--staged", "--json")
    assert [problem["code"] for problem in json.loads(run.out)["warnings"]] == ["ReviewInConflict"]
    assert told(run.data) == []


def test_the_page_of_a_code_is_part_of_the_documentation(memory: Any) -> None:
    assert "**What to do:**" in memory("docs", "m203").out


def test_owners_come_from_the_older_side(shop: Any, repo: Path, git: Any) -> None:
    write(repo, ".github/CODEOWNERS", "* @everybody\n/src/ @org/queue me@example.com\n")
    git.commit("owners")
    git("branch", "--force", "main")
    write(repo, ".github/CODEOWNERS", "* @nobody\n")
    changed(repo, "src/queue.py", "2**attempt", "3**attempt")
    git.commit("slower")
    data = review(shop)
    assert data["findings"][0]["owners"] == ["@org/queue", "me@example.com"]
    assert data["owners_from"] == ".github/CODEOWNERS"


def test_nothing_read_is_never_a_pass(repo: Path, memory: Any, git: Any) -> None:
    write(repo, "a.py", "x = 1\n")
    git.commit("one")
    write(repo, "a.py", "x = 2\n")
    git.commit("two")
    run = memory("review", "HEAD~1..HEAD", "--json")
    assert run.code == 3
    assert run.data["outcome"] == "not checked"
    assert "Not checked" in memory("review", "HEAD~1..HEAD").out


def test_a_deleted_memory_retires_its_records(shop: Any, git: Any) -> None:
    git("rm", "-r", "--quiet", ".memory")
    git.commit("no memory")
    codes = {code for code, _ in told(review(shop))}
    assert codes == {"M303"}


def test_a_shallow_clone_says_what_is_missing(shop: Any, repo: Path, git: Any, tmp_path: Path) -> None:
    changed(repo, "src/queue.py", "2**attempt", "3**attempt")
    git.commit("slower")
    git("clone", "--quiet", "--depth", "1", f"file://{repo}", str(tmp_path / "shallow"))
    run = shop("review", "main...HEAD", "--json", cwd=tmp_path / "shallow")
    assert run.code == 3
    assert "shallow" in run.error["message"]
    assert "fetch-depth" in run.error["hint"]


def test_without_a_base_or_a_common_past_nothing_was_checked(shop: Any, git: Any) -> None:
    assert shop("review", "nope..HEAD").code == 3
    git("checkout", "--quiet", "--orphan", "lonely")
    git.commit("begin anew")
    for arguments in ([], ["main...lonely"], ["--branch"]):
        run = shop("review", *arguments, "--json")
        assert run.code == 3
        assert "no common history" in run.error["message"]
    assert shop("review", "main..lonely").code == 0


def test_without_a_default_branch_nothing_was_checked(shop: Any, git: Any) -> None:
    git("branch", "--quiet", "-D", "main")
    for arguments in ([], ["--branch"]):
        run = shop("review", *arguments, "--json")
        assert run.code == 3
        assert "nothing to compare with" in run.error["message"]
        assert "memory review <base>" in run.error["hint"]
    assert shop("review", "HEAD~1..HEAD").code == 0
