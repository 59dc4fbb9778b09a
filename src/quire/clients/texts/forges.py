"""The files that let a forge, or pre-commit, review changes: where Quire comes from is the one thing that differs."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import msgspec

from quire.model.anchors import OWN_FILES

FOLDERS = (".memory", ".ai-state", ".agent-memory", "docs/agent-memory")
"""Of all layers, with their pages. A push that changes one starts a fold."""
FOLDED_PATHS = (*FOLDERS, *OWN_FILES)
"""All that a commit of a fold may hold."""
_NOTE = """# Written by `memory integrate {client}`; `memory integrate {client} --remove` takes it out.
# Quire: {source}
"""
_WRITTEN = re.compile(r"(?m)^\s*# Quire: (\S+@\S+)\s*$")
_SCP = re.compile(r"(?:ssh://)?(?:[\w.-]+@)?(?P<host>[\w.-]+)[:/](?P<path>[^:]+)")


class QuireSource(msgspec.Struct, frozen=True):
    """A git repository of Quire and a commit, tag or branch in it."""

    url: str
    rev: str

    def __str__(self) -> str:
        return f"{self.url}@{self.rev}"

    @property
    def action(self) -> str:
        """The name by which a workflow of GitHub uses it; empty where it has none."""
        names = urlsplit(self.url).path.strip("/").removesuffix(".git").split("/")
        return f"{'/'.join(names)}@{self.rev}" if len(names) == 2 and self.url.startswith("https://") else ""


def read_source(text: str) -> QuireSource | None:
    """`URL@COMMIT`; the URL is one that a forge can fetch without a key. None where it is none of these."""
    url, mark, rev = text.removeprefix("git+").rpartition("@")
    if not mark or not re.fullmatch(r"[\w.][\w./-]*", rev) or re.search(r"[\s'\"`$\\#]", url):
        return None
    if not url.startswith(("https://", "http://", "file://")):
        found = _SCP.fullmatch(url)
        url = f"https://{found['host']}/{found['path'].removesuffix('.git')}" if found else ""
    return QuireSource(url, rev) if url else None


def source_in(text: str) -> QuireSource | None:
    """The source that a written file names."""
    found = _WRITTEN.search(text)
    return read_source(found[1]) if found else None


def note(client: str, source: QuireSource) -> str:
    """The lines at the beginning of what is written."""
    return _NOTE.format(client=client, source=source)


def review_workflow(source: QuireSource) -> str:
    return f"""{note("github", source)}name: Memory review
on:
  pull_request:
  merge_group:
permissions:
  contents: read
jobs:
  review:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
        with:
          fetch-depth: 0
          persist-credentials: false
      - uses: {source.action}
"""


def comment_workflow(source: QuireSource) -> str:
    """The comment comes from a workflow of the default branch, which nobody's pull request can change."""
    return f"""{note("github", source)}name: Memory comment
on:
  workflow_run:
    workflows: [Memory review]
    types: [completed]
permissions:
  contents: read
  pull-requests: write
{_job("comment", "github.event.workflow_run.event == 'pull_request'", source)}"""


def _job(task: str, condition: str, source: QuireSource) -> str:
    """A job of GitHub that runs a task of our action with the default branch checked out."""
    return f"""jobs:
  {task}:
    if: {condition}
    runs-on: ubuntu-latest
    steps:
      # The default branch: no code of a pull request is checked out or run.
      - uses: actions/checkout@v4
        with:
          fetch-depth: 0
      - uses: {source.action}
        with:
          task: {task}
"""


def _patterns(end: str) -> str:
    return ", ".join(f'"{folder}/{end}"' for folder in FOLDERS)


def fold_workflow(source: QuireSource) -> str:
    return f"""{note("github", source)}name: Memory fold
on:
  push:
    paths: [{_patterns("**")}]
permissions:
  contents: write
concurrency:
  group: memory-fold
{_job("fold", "github.ref_name == github.event.repository.default_branch", source)}"""


def gitlab_jobs(source: QuireSource) -> str:
    return f"""{note("gitlab", source)}.memory:
  image: python:3.12
  variables:
    GIT_DEPTH: "0"
    QUIRE_VIEWER: skip
  before_script:
    - pip install --quiet "git+{source}"

memory-review:
  extends: .memory
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
  script:
    - range="$CI_MERGE_REQUEST_DIFF_BASE_SHA...$CI_COMMIT_SHA"
    - memory review "$range" --format gitlab > gl-memory-review.json || true
    - memory review "$range"
  # 3: nothing was checked.
  allow_failure:
    exit_codes: 3
  artifacts:
    when: always
    reports:
      codequality: gl-memory-review.json

# It may push where the project allows job tokens to, or with a token in MEMORY_PUSH_TOKEN.
memory-fold:
  extends: .memory
  resource_group: memory-fold
  rules:
    - if: $CI_PIPELINE_SOURCE == "push" && $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
      changes: [{_patterns("**/*")}]
  script:
    - git config user.name "Memory fold"
    - git config user.email "memory-fold@$CI_SERVER_HOST"
    - git symbolic-ref refs/remotes/origin/HEAD "refs/remotes/origin/$CI_DEFAULT_BRANCH"
    - user="gitlab-ci-token:${{MEMORY_PUSH_TOKEN:-$CI_JOB_TOKEN}}"
    - server="$CI_SERVER_PROTOCOL://$user@$CI_SERVER_HOST:$CI_SERVER_PORT"
    - paths="{" ".join(FOLDED_PATHS)}"
    # Where others pushed meanwhile, it begins again from what is there.
    - |
      for attempt in 1 2 3; do
        memory fold
        git ls-files -z --modified --deleted --others --exclude-standard -- $paths |
          git update-index -z --add --remove --stdin
        if git diff --cached --quiet; then exit 0; fi
        git commit --quiet --message "Fold the memory"
        if git push --push-option=ci.skip "$server/$CI_PROJECT_PATH.git" "HEAD:$CI_COMMIT_BRANCH"; then exit 0; fi
        git fetch --quiet origin "$CI_COMMIT_BRANCH"
        git reset --quiet --hard FETCH_HEAD
      done
      exit 1
"""


def gitlab_include() -> str:
    return "- local: .gitlab/memory.gitlab-ci.yml\n"


def pre_commit_entry(source: QuireSource) -> str:
    return f"""# Quire: {source}
- repo: {source.url}
  rev: {source.rev}
  hooks:
    - id: memory-check
    - id: memory-review
"""
