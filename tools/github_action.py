"""The steps of the Action: review a pull request, comment on it from a trusted workflow, fold on the default branch.

Everything that GitHub says comes from its event file and environment. The comment trusts nothing that a pull request's
own workflow made: it fetches the commits, checks out none of them, and writes the review itself.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from quire.clients.texts.forges import FOLDED_PATHS

MARKER = "<!-- quire:memory-review -->"
HEAD = "refs/quire/pull"
TRIES = 3


def main() -> int:
    tasks = {"review": review, "comment": comment, "fold": fold}
    task = sys.argv[1] if len(sys.argv) > 1 else "review"
    if task not in tasks:
        print(f"::error::Unknown task `{task[:40]}`: it is any of {', '.join(tasks)}.")
        return 2
    event = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
    return tasks[task](event)


def review(event: dict[str, Any]) -> int:
    span = os.environ.get("MEMORY_RANGE") or span_of(event)
    fail_on = os.environ.get("MEMORY_FAIL_ON", "")
    line = ["memory", "review", *([span] if span else []), "--format", "github"]
    code = subprocess.run([*line, *(["--fail-on", fail_on] if fail_on else [])], check=False).returncode
    outcome = {0: "passed", 1: "blocked"}.get(code, "not checked")
    if os.environ.get("GITHUB_OUTPUT"):
        with Path(os.environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as file:
            file.write(f"outcome={outcome}\n")
    return code


def span_of(event: dict[str, Any]) -> str:
    """The commits that an event is about; empty where it names none."""
    pull, group = event.get("pull_request"), event.get("merge_group")
    if pull:
        return f"{pull['base']['sha']}...{pull['head']['sha']}"
    if group:
        return f"{group['base_sha']}..{group['head_sha']}"
    before, after = event.get("before") or "", event.get("after") or ""
    return f"{before}..{after}" if before.strip("0") and after.strip("0") else ""


def comment(event: dict[str, Any]) -> int:
    run = event["workflow_run"]
    pull = pull_of(run)
    if pull is None:
        print("No open pull request is at this commit: nothing to comment on.")
        return 0
    number = int(pull["number"])
    # Its commits are data to us: nothing of them is checked out.
    git("fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "origin", f"+refs/pull/{number}/head:{HEAD}")
    if git("rev-parse", HEAD) != run["head_sha"]:
        print("The pull request has newer commits; the comment comes with their review.")
        return 0
    span = f"{pull['base']['sha']}...{run['head_sha']}"
    done = subprocess.run(
        ["memory", "review", span, "--format", "markdown"], capture_output=True, text=True, check=False
    )
    if not done.stdout.startswith(MARKER):
        print(done.stderr)
        return done.returncode or 1
    old = next((one for one in comments_of(number) if is_ours(one)), None)
    if old is not None:
        call("PATCH", f"issues/comments/{int(old['id'])}", {"body": done.stdout})
    elif "\n### " in done.stdout or done.returncode:
        call("POST", f"issues/{number}/comments", {"body": done.stdout})
    return 0


def pull_of(run: dict[str, Any]) -> dict[str, Any] | None:
    """The open pull request that a run was for: an event names none of a fork, so it is looked up by its branch."""
    owner = (run.get("head_repository") or {}).get("owner", {}).get("login", "")
    head = urllib.parse.quote(f"{owner}:{run['head_branch']}")
    found: list[dict[str, Any]] = call("GET", f"pulls?state=open&per_page=100&head={head}")
    return next((pull for pull in found if pull["head"]["sha"] == run["head_sha"]), None)


def comments_of(number: int) -> Iterator[dict[str, Any]]:
    for page in range(1, 100):
        found: list[dict[str, Any]] = call("GET", f"issues/{number}/comments?per_page=100&page={page}")
        yield from found
        if len(found) < 100:
            return


def is_ours(one: dict[str, Any]) -> bool:
    """Whether a program wrote a comment, and begins it as we do; anybody could copy the first line."""
    return (one.get("user") or {}).get("type") == "Bot" and (one.get("body") or "").startswith(MARKER)


def call(method: str, path: str, fields: dict[str, Any] | None = None) -> Any:
    """Ask GitHub's interface about this repository."""
    url = f"{os.environ['GITHUB_API_URL']}/repos/{os.environ['GITHUB_REPOSITORY']}/{path}"
    data = json.dumps(fields).encode() if fields else None
    headers = {"Accept": "application/vnd.github+json", "Authorization": f"Bearer {os.environ['MEMORY_TOKEN']}"}
    request = urllib.request.Request(url, data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        hint = " The job needs `pull-requests: write`." if error.code == 403 else ""
        raise SystemExit(f"::error::GitHub answered {error.code} to {method} {path.partition('?')[0]}.{hint}") from None


def fold(_event: dict[str, Any]) -> int:
    """Fold and push; where somebody else pushed in between, begin again from what is there."""
    branch = os.environ["GITHUB_REF_NAME"]
    # The workflow runs on the default branch alone; a clone need not know which one that is.
    git("symbolic-ref", "refs/remotes/origin/HEAD", f"refs/remotes/origin/{branch}")
    git("config", "user.name", "github-actions[bot]")
    git("config", "user.email", "41898282+github-actions[bot]@users.noreply.github.com")
    for _ in range(TRIES):
        done = subprocess.run(["memory", "fold"], check=False)
        if done.returncode:
            return done.returncode
        stage(FOLDED_PATHS)
        if not git("diff", "--cached", "--name-only"):
            return 0
        git("commit", "--quiet", "--message", "Fold the memory")
        if subprocess.run(["git", "push", "--quiet", "origin", f"HEAD:{branch}"], check=False).returncode == 0:
            return 0
        git("fetch", "--quiet", "origin", branch)
        git("reset", "--quiet", "--hard", "FETCH_HEAD")
    print(f"::error::Git refused each push. Either others pushed each time, or `{branch}` does not let this job push.")
    return 1


def stage(paths: Iterable[str]) -> None:
    """Stage what changed there; `git add` refuses a path that is not there, or is ignored."""
    changed = git("ls-files", "-z", "--modified", "--deleted", "--others", "--exclude-standard", "--", *paths)
    git("update-index", "-z", "--add", "--remove", "--stdin", given=changed)


def git(*arguments: str, given: str = "") -> str:
    done = subprocess.run(["git", *arguments], check=True, capture_output=True, text=True, input=given)
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
