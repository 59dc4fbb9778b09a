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
from quire.clients.texts.forges import QuireSource, fold_workflow, gitlab_jobs
from quire.layers.table import HOMES, LAYERS

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
        os.symlink(Path(sys.executable).parent.parent, folder / "quire")
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
    assert done.returncode == 3
    assert (runner.folder / "output").read_text().endswith("outcome=not checked\n")
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


class Forge:
    """A forge whose default branch is `develop`, with a `main` beside it, and the clone that a job works in."""

    def __init__(self, shop: Any, repo: Path, git: Git, folder: Path) -> None:
        self.shop, self.repo, self.git = shop, repo, git
        self.origin, self.job = folder / "origin", folder / "job"
        assert shop("journal", "init", "--yes").code == 0
        assert shop("profile", "remember", "tools", "pager", "less").code == 0
        (repo / "sessions").mkdir()
        (repo / "sessions/first.md").write_text("# Session\n\nDecision: logs rotate daily, because disks are small.\n")
        assert shop("journal", "add", "markdown", "sessions", "--name", "notes").code == 0
        git("branch", "-m", "work", "develop")
        git.commit("all layers")
        git("init", "--quiet", "--bare", "--initial-branch=develop", str(self.origin))
        git("-C", str(self.origin), "config", "receive.advertisePushOptions", "true")
        git("remote", "add", "origin", str(self.origin))
        git("push", "--quiet", "origin", "develop", "main")
        git("remote", "set-head", "origin", "develop")

    def merge_notes(self) -> None:
        """Merge a branch that writes to every layer, as a forge does."""
        self.git("checkout", "--quiet", "-b", "notes")
        assert self.shop("add", "decision", "Clocks are read once", "--why", "they drift").code == 0
        assert self.shop("facts", "store", "Decisions", "Invoices live in Postgres.").code == 0
        assert self.shop("profile", "remember", "tools", "shell", "fish").code == 0
        (self.repo / "sessions/second.md").write_text("# Session\n\nDecision: one is cached, because it is slow.\n")
        assert self.shop("journal", "sync", "--all").code == 0
        self.git.commit("a note")
        self.git("checkout", "--quiet", "develop")
        self.git("merge", "--quiet", "notes")
        self.git("push", "--quiet", "origin", "develop")

    def checkout(self) -> Git:
        """What a job begins with: a detached commit, and no word of which branch is the default one."""
        shutil.rmtree(self.job, ignore_errors=True)
        self.git("clone", "--quiet", str(self.origin), str(self.job))
        job = Git(self.job, self.git.env)
        job("symbolic-ref", "--delete", "refs/remotes/origin/HEAD")
        job("checkout", "--quiet", "--detach")
        return job

    def push_meanwhile(self) -> None:
        (self.repo / "README").write_text("x")
        self.git.commit("meanwhile")
        self.git("push", "--quiet", "origin", "develop")

    def check_folded(self) -> None:
        job = self.checkout()
        assert job("log", "--format=%s", "-2").split("\n")[:2] == ["Fold the memory", "meanwhile"]
        assert not [path for path in job("ls-files").split() if ".d/" in path]
        assert "Clocks are read once" in (self.job / "AGENTS.md").read_text()
        changed = set(job("diff", "--name-only", "HEAD^").split())
        assert {
            ".memory/events.jsonl", ".memory/facts.jsonl", ".agent-memory/history/events.jsonl",
            ".agent-memory/state.json", "AGENTS.md",
        } <= changed  # fmt: skip
        assert "stray" not in changed


@pytest.fixture
def forge(shop: Any, repo: Path, git: Git, tmp_path: Path) -> Forge:
    return Forge(shop, repo, git, tmp_path)


def test_github_folds_every_layer_and_once(forge: Forge, runner: Runner) -> None:
    forge.merge_notes()
    job = forge.checkout()
    (forge.job / "stray").write_text("of another step")
    forge.push_meanwhile()
    runner.env.update(GITHUB_REF_NAME="develop", GITHUB_REF="refs/heads/develop")
    done = runner(forge.job, {"ref": "refs/heads/develop"}, task="fold")
    assert done.returncode == 0, done.stdout + done.stderr
    forge.check_folded()
    before = forge.checkout()("rev-parse", "HEAD")
    assert runner(forge.job, {}, task="fold").returncode == 0
    assert (job("rev-parse", "HEAD"), forge.checkout()("rev-parse", "HEAD")) == (before, before)


def test_gitlab_folds_every_layer_and_once(forge: Forge, runner: Runner) -> None:
    yaml = pytest.importorskip("yaml")
    script = "\n".join(yaml.safe_load(gitlab_jobs(QuireSource("https://x.org/q", "v1")))["memory-fold"]["script"])
    env = {**runner.env, "PATH": f"{runner.folder / 'quire/bin'}:{runner.env['PATH']}"}
    env.update(CI_COMMIT_BRANCH="develop", CI_DEFAULT_BRANCH="develop", CI_PROJECT_PATH="a/shop", CI_JOB_TOKEN="t0")
    env.update(CI_SERVER_PROTOCOL="https", CI_SERVER_HOST="git.example", CI_SERVER_PORT="443")
    env.update(GIT_CONFIG_COUNT="1", GIT_CONFIG_KEY_0=f"url.{forge.origin}.insteadOf")
    env.update(GIT_CONFIG_VALUE_0="https://gitlab-ci-token:t0@git.example:443/a/shop.git")

    def run() -> None:
        done = subprocess.run(
            ["sh", "-e", "-c", script], cwd=forge.job, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr

    forge.merge_notes()
    forge.checkout()
    (forge.job / "stray").write_text("of another step")
    forge.push_meanwhile()
    run()
    forge.check_folded()
    before = forge.checkout()("rev-parse", "HEAD")
    run()
    assert forge.checkout()("rev-parse", "HEAD") == before


def test_a_push_that_changes_any_layer_starts_a_fold() -> None:
    yaml = pytest.importorskip("yaml")
    source = QuireSource("https://x.org/a/q", "v1")
    [rule] = yaml.safe_load(gitlab_jobs(source))["memory-fold"]["rules"]
    github = yaml.safe_load(fold_workflow(source))[True]["push"]["paths"]  # YAML reads `on` as a boolean
    folders = [*(home.folder for home in HOMES), *(layer.page_folder for layer in LAYERS if layer.page_folder)]
    assert github == [f"{folder}/**" for folder in folders]
    assert rule["changes"] == [f"{folder}/**/*" for folder in folders]


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


@pytest.mark.proof(keep=1)
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

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run([program, *arguments], cwd=repo, env=env, capture_output=True, text=True, check=False)

    for kind, file in (("manifest", ROOT / ".pre-commit-hooks.yaml"), ("config", ".pre-commit-config.yaml")):
        done = run(f"validate-{kind}", file)
        assert done.returncode == 0, done.stdout + done.stderr

    (repo / "queue.py").write_text("def send(job):\n    return job.run(3)\n")
    git("add", "queue.py")
    done = run("run")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "decision.send-once" in done.stdout
    note = next((repo / ".memory/memory").glob("*.md"))
    note.write_text("The key is ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")
    git("add", ".memory")
    done = run("run")
    assert done.returncode == 1
    assert "M403" in done.stdout
