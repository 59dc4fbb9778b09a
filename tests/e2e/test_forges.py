"""Reviews where people are: the Action's steps, GitLab's jobs and the hooks of pre-commit, run as those run them."""

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from installed import Git

ROOT = Path(__file__).parent.parent.parent
SOURCE = "https://github.com/example/quire@v1"
MARKER = "<!-- quire:memory-review -->"


@pytest.fixture
def shop(repo: Path, memory: Any, git: Git) -> Any:
    """A project with a record, and a branch that changes the code below it."""
    (repo / "queue.py").write_text("def send(job):\n    return job.run(1)\n")
    memory.init()
    memory.save({"kind": "decision", "title": "Send once", "body": "One try.", "anchors": ["queue.py#send"]})
    git.commit("memory")
    git("checkout", "--quiet", "-b", "work")
    (repo / "queue.py").write_text("def send(job):\n    return job.run(2)\n")
    git.commit("twice")
    return memory


class GitHub(BaseHTTPRequestHandler):
    """As much of GitHub's interface as a comment needs."""

    pulls: ClassVar[list[dict[str, Any]]] = []
    comments: ClassVar[list[dict[str, Any]]] = []
    asked: ClassVar[list[tuple[str, str, str]]] = []

    def _answer(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        fields = json.loads(data) if data else {}
        self.asked.append((self.command, self.path, self.headers["Authorization"]))
        found: Any = self.pulls if "/pulls?" in self.path else self.comments
        if self.command == "POST":
            self.comments.append({"id": len(self.comments) + 1, "user": {"type": "Bot"}, **fields})
        elif self.command == "PATCH":
            self.comments[int(self.path.rpartition("/")[2]) - 1].update(fields)
        text = json.dumps(found).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_PATCH = _answer  # noqa: N815

    def log_message(self, *_: Any) -> None: ...


@pytest.fixture
def github() -> Iterator[str]:
    for held in (GitHub.pulls, GitHub.comments, GitHub.asked):
        held.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), GitHub)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


class Runner:
    """Runs the steps of action.yml that come after the installation, as a runner of GitHub does."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        yaml = pytest.importorskip("yaml")
        self.action = yaml.safe_load((ROOT / "action.yml").read_text())
        self.folder = folder
        (folder / "quire").mkdir()
        os.symlink(Path(sys.executable).parent, folder / "quire/bin")
        self.env = {**environment, "RUNNER_TEMP": str(folder), "GITHUB_ACTION_PATH": str(ROOT)}
        self.env.update(GITHUB_STEP_SUMMARY=str(folder / "summary"), GITHUB_OUTPUT=str(folder / "output"))

    def __call__(self, cwd: Path, event: dict[str, Any], **inputs: str) -> subprocess.CompletedProcess[str]:
        path = self.folder / "event.json"
        path.write_text(json.dumps(event))
        step = next(step for step in self.action["runs"]["steps"] if step.get("id") == "run")
        usual = {name: one["default"] for name, one in self.action["inputs"].items()}
        given = {**usual, "token": "secret-token", **inputs}
        env = {name: given.get(value[4:-3].strip().removeprefix("inputs."), "") for name, value in step["env"].items()}
        env["MEMORY_TOKEN"] = given["token"] if given["task"] == "comment" else ""
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=cwd,
            env={**self.env, "GITHUB_EVENT_PATH": str(path), **env},
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def runner(tmp_path: Path, environment: dict[str, str]) -> Runner:
    (tmp_path / "runner").mkdir()
    return Runner(tmp_path / "runner", environment)


def shas(git: Git) -> tuple[str, str]:
    return git("rev-parse", "main").strip(), git("rev-parse", "work").strip()


def test_the_action_reviews_the_commits_of_the_event(shop: Any, repo: Path, git: Git, runner: Runner) -> None:
    base, head = shas(git)
    git("checkout", "--quiet", "main")
    done = runner(repo, {"pull_request": {"base": {"sha": base}, "head": {"sha": head}}})
    assert done.returncode == 0, done.stderr
    assert "::warning file=queue.py,line=2,title=M201" in done.stdout
    assert MARKER in (runner.folder / "summary").read_text()
    assert "outcome=passed" in (runner.folder / "output").read_text()
    done = runner(repo, {"before": base, "after": head}, **{"fail-on": "M201"})
    assert (done.returncode, "outcome=blocked" in (runner.folder / "output").read_text()) == (1, True)
    done = runner(repo, {}, range="nope..HEAD")
    assert done.returncode == 1
    assert runner(repo, {}, task="other").returncode == 2


def test_the_comment_is_written_once_and_from_fetched_commits(
    shop: Any, repo: Path, git: Git, runner: Runner, github: str, tmp_path: Path
) -> None:
    base, head = shas(git)
    git("update-ref", "refs/pull/7/head", head)
    git("checkout", "--quiet", "main")
    git("clone", "--quiet", "--branch", "main", f"file://{repo}", str(tmp_path / "clone"))
    run = {"head_sha": head, "head_branch": "work", "head_repository": {"owner": {"login": "fork"}}}
    runner.env.update(GITHUB_API_URL=github, GITHUB_REPOSITORY="example/shop")
    GitHub.pulls.append({"number": 7, "head": {"sha": head}, "base": {"sha": base}})
    GitHub.comments.append({"id": 1, "user": {"type": "User"}, "body": f"{MARKER} of a stranger"})
    for _ in range(2):
        done = runner(tmp_path / "clone", {"workflow_run": run}, task="comment")
        assert done.returncode == 0, done.stdout + done.stderr
    assert [one["body"].startswith(MARKER) for one in GitHub.comments] == [True, True]
    assert GitHub.comments[0]["body"].endswith("stranger")
    assert "M201" in GitHub.comments[1]["body"]
    assert [command for command, path, _ in GitHub.asked if command != "GET"] == ["POST", "PATCH"]
    assert {token for *_, token in GitHub.asked} == {"Bearer secret-token"}
    assert any("head=fork%3Awork" in path for _, path, _ in GitHub.asked)
    assert "run(1)" in (tmp_path / "clone/queue.py").read_text()
    GitHub.pulls[0]["head"]["sha"] = base
    done = runner(tmp_path / "clone", {"workflow_run": run}, task="comment")
    assert "nothing to comment on" in done.stdout


def test_fold_is_committed_and_pushed_also_when_others_pushed(
    shop: Any, repo: Path, git: Git, runner: Runner, tmp_path: Path
) -> None:
    git("checkout", "--quiet", "main")
    git("init", "--quiet", "--bare", "--initial-branch=main", str(tmp_path / "origin"))
    git("remote", "add", "origin", str(tmp_path / "origin"))
    git("push", "--quiet", "origin", "main")
    git("remote", "set-head", "origin", "main")
    git("checkout", "--quiet", "-b", "notes")
    shop("add", "gotcha", "Clocks drift", "--why", "they do")
    git.commit("a note")
    git("checkout", "--quiet", "main")
    git("merge", "--quiet", "notes")
    git("push", "--quiet", "origin", "main")
    git("clone", "--quiet", str(tmp_path / "origin"), str(tmp_path / "other"))
    (tmp_path / "other/README").write_text("x")
    other = Git(tmp_path / "other", git.env)
    other.commit("meanwhile")
    other("push", "--quiet", "origin", "main")
    runner.env.update(GITHUB_REF_NAME="main", GITHUB_REF="refs/heads/main")
    done = runner(repo, {"ref": "refs/heads/main"}, task="fold")
    assert done.returncode == 0, done.stdout + done.stderr
    log = git("log", "--format=%s", "origin/main").split("\n")
    assert log[:2] == ["Fold the memory", "meanwhile"]
    assert not list((repo / ".memory/events.d").glob("*.jsonl"))
    assert runner(repo, {}, task="fold").returncode == 0
    assert git("rev-parse", "HEAD") == git("rev-parse", "origin/main")


def test_the_jobs_of_gitlab_run_in_a_shell(shop: Any, repo: Path, git: Git, runner: Runner) -> None:
    yaml = pytest.importorskip("yaml")
    assert shop("integrate", "gitlab", "--from", SOURCE).code == 0
    jobs = yaml.safe_load((repo / ".gitlab/memory.gitlab-ci.yml").read_text())
    assert yaml.safe_load((repo / ".gitlab-ci.yml").read_text()) == {
        "include": [{"local": ".gitlab/memory.gitlab-ci.yml"}]
    }
    base, head = shas(git)
    env = {**runner.env, "CI_MERGE_REQUEST_DIFF_BASE_SHA": base, "CI_COMMIT_SHA": head}
    env["PATH"] = f"{runner.folder / 'quire/bin'}:{env['PATH']}"
    script = "\n".join(jobs["memory-review"]["script"])
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script], cwd=repo, env=env, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    [found] = json.loads((repo / "gl-memory-review.json").read_text())
    assert (found["check_name"], found["severity"], found["location"]["lines"]["begin"]) == ("M201", "major", 2)
    for job in ("memory-review", "memory-fold"):
        check = subprocess.run(["bash", "-n", "-c", "\n".join(jobs[job]["script"])], check=False)
        assert check.returncode == 0


@pytest.mark.parametrize("program", ["pre-commit", "prek"])
def test_hooks_run_in_a_repository(
    program: str, shop: Any, repo: Path, git: Git, runner: Runner, tmp_path: Path, environment: dict[str, str]
) -> None:
    """The hooks themselves; a Quire of one's own is not installed for each test, so they start the one that is here."""
    if not shutil.which(program, path=str(Path(sys.executable).parent)):
        pytest.skip(f"{program} is not installed")
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    text = (ROOT / ".pre-commit-hooks.yaml").read_text()
    (hooks / ".pre-commit-hooks.yaml").write_text(text.replace("language: python", "language: system"))
    source = Git(hooks, git.env)
    source("init", "--quiet", ".")
    rev = source.commit("hooks")
    assert shop("integrate", "pre-commit", "--from", f"file://{hooks}@{rev}").code == 0
    git.commit("hooks")
    env = {
        **environment,
        "PATH": f"{runner.folder / 'quire/bin'}:{environment['PATH']}",
        "PRE_COMMIT_HOME": str(tmp_path),
    }
    env["PREK_HOME"] = str(tmp_path / "prek")

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run([program, "run"], cwd=repo, env=env, capture_output=True, text=True, check=False)

    (repo / "queue.py").write_text("def send(job):\n    return job.run(3)\n")
    git("add", "queue.py")
    done = run()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "decision.send-once" in done.stdout
    note = next((repo / ".memory/memory").glob("*.md"))
    note.write_text("The key is ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")
    git("add", ".memory")
    done = run()
    assert done.returncode == 1
    assert "M403" in done.stdout
