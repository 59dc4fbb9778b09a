"""Architecture decision records: Nygard's form, the versions of MADR, our own; what holds and what does not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quire.capture.hosts.registry import find_hosts, read_host
from quire.capture.hosts.types import FILE_BYTES, HostRead, HostSource
from quire.model.ids import is_id
from thorough import examples

PARTS = st.sampled_from(
    [
        *("# ", "## ", "Status", "Context", "Decision", "Consequences", "Considered Options", "\n", "\n\n", "- ", ": "),
        *("```", "<!--", "-->", "---\n", "**", "`src/a.py`", "[1](0001-a.md)", "supersedes ADR 1", "accepted", "| "),
        *("word", "Two words.", "- [tech] x #y (z)", "- uses [[A]]", "permalink: x\n", "title: 'x'\n", "\u202e", "é"),
    ]
)
NOW = "2026-03-01T12:00:00+00:00"
SECOND = "decision.second"
OWN = Path(__file__).parents[2] / "docs" / "decisions"

NYGARD = """\
# 2. Retries run in the worker

Date: 2024-02-12

## Status

Accepted

Supercedes [1. Retries in the API](0001-retries-in-the-api.md)

Amends [3. One queue](0003-one-queue.md)

## Context

The API must answer within 200 ms. A retry in `src/api/handler.py:40` blocks it; see also src/api/gone.py.

## Decision

Failed jobs go to the queue, and `src/worker/` retries them. The card is in [the runner](../../src/worker/run.py).

## Consequences

- The API never waits.
- A job may run twice.
"""

MADR_2 = """\
# Use Markdown Any Decision Records

* Status: accepted
* Deciders: Ann, Bo
* Date: 2021-05-04

Technical Story: none

## Context and Problem Statement

We want to record decisions. Which form should they have?

## Decision Drivers <!-- optional -->

* Plain text

## Considered Options

* [MADR](https://example.org/madr) 2.1.2
* Nygard's template
* Formless

## Decision Outcome

Chosen option: "MADR 2.1.2", because it is plain text.

### Positive Consequences <!-- optional -->

* Everybody can edit it.

### Negative Consequences

* One more form to learn.

## Pros and Cons of the Options

### Formless

* Bad, because nobody finds anything.
"""

MADR_4 = """\
---
status: "proposed"
date: 2025-01-09
decision-makers: [Ann]
tags: [storage, sqlite]
---

# ADR-0007: Store sessions in SQLite

## Context and Problem Statement

Sessions are lost on restart.

## Decision Outcome

Chosen option: "SQLite", because it needs no server.

### Consequences

* Good, because it is one file.

### Confirmation

A test restarts the server.
"""


def _write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")


def _find(root: Path) -> list[HostSource]:
    return find_hosts(str(root), "", {}, ["adr"])


def _read(root: Path, name: str) -> HostRead:
    source = next(source for source in _find(root) if source.shown == name)
    return read_host(source, str(root), "", NOW)


def test_a_record_in_nygards_form(tmp_path: Path) -> None:
    _write(
        tmp_path,
        {
            "doc/adr/0001-retries-in-the-api.md": "# 1. Retries in the API\n\n## Status\n\nSuperceded by 2\n",
            "doc/adr/0002-retries-run-in-the-worker.md": NYGARD,
            "doc/adr/0003-one-queue.md": "# 3. One queue\n\n## Decision\n\nThere is one.\n",
            "src/api/handler.py": "",
            "src/worker/run.py": "",
        },
    )
    [made] = _read(tmp_path, "doc/adr/0002-retries-run-in-the-worker.md").proposals
    assert (made.into, made.kind, made.by, made.proposed_at) == ("graph", "decision", "file", NOW)
    assert made.origin == "file:doc/adr/0002-retries-run-in-the-worker.md"
    assert made.fields == {
        "kind": "decision",
        "id": "decision.retries-run-in-the-worker",
        "title": "Retries run in the worker",
        "body": "Status: Accepted\n\nSupercedes 1. Retries in the API\n\nAmends 3. One queue\n\n"
        "Context: The API must answer within 200 ms. A retry in `src/api/handler.py:40` blocks it; see also "
        "src/api/gone.py.\n\n"
        "Decision: Failed jobs go to the queue, and `src/worker/` retries them. The card is in the runner.\n\n"
        "Consequences:\n- The API never waits.\n- A job may run twice.",
        "anchors": [made.origin.removeprefix("file:"), "src/api/handler.py", "src/worker/", "src/worker/run.py"],
        "tags": ["adr"],
        "related": [
            {"predicate": "supersedes", "to": "decision.retries-in-the-api"},
            {"predicate": "related_to", "to": "decision.one-queue"},
        ],
    }
    [said] = made.evidence
    assert said.where == "doc/adr/0002-retries-run-in-the-worker.md:1"
    assert said.quote == "Failed jobs go to the queue, and `src/worker/` retries them. The card is in the runner."
    assert made.text == f"{made.fields['title']}\n\n{made.fields['body']}"


def test_a_record_of_madr_2(tmp_path: Path) -> None:
    _write(tmp_path, {"docs/adr/0000-use-madr.md": MADR_2})
    read = _read(tmp_path, "docs/adr/0000-use-madr.md")
    [made] = read.proposals
    assert made.fields["title"] == "Use Markdown Any Decision Records"
    assert made.fields["body"] == (
        "Context: We want to record decisions. Which form should they have?\n\n"
        'Decision: Chosen option: "MADR 2.1.2", because it is plain text.\n\n'
        "Consequences:\n* Everybody can edit it.\n\n* One more form to learn.\n\n"
        "Considered: MADR 2.1.2; Nygard's template; Formless."
    )
    assert sorted(made.fields) == ["anchors", "body", "id", "kind", "tags", "title"]
    assert (read.problems, read.skipped) == ((), 0)


def test_a_proposed_record_of_madr_4_says_that_it_is_not_accepted(tmp_path: Path) -> None:
    _write(tmp_path, {"docs/decisions/storage/0007-sessions.md": MADR_4})
    [made] = _read(tmp_path, "docs/decisions/storage/0007-sessions.md").proposals
    assert made.fields["id"] == "decision.store-sessions-in-sqlite"
    assert made.fields["body"].startswith("Status: proposed\n\nContext: Sessions are lost on restart.")
    assert made.fields["body"].endswith("* Good, because it is one file.\n\nA test restarts the server.")
    assert made.fields["tags"] == ["adr", "storage", "sqlite"]
    assert (made.standing, made.said) == ("open", "proposed")
    assert made.evidence[0].where == "docs/decisions/storage/0007-sessions.md:8"


@pytest.mark.parametrize(
    ("status", "said", "by"),
    [
        ("## Status\n\nSuperceded by [2. Second](0002-second.md)", "Superceded by 2. Second", SECOND),
        ("## Status\n\nSuperseded (unbuilt) by [ADR 2](/adr/2)", "Superseded (unbuilt) by ADR 2", SECOND),
        ("## Status\n\nAccepted\n\nSuperseded by ADR-2", "Accepted Superseded by ADR-2", SECOND),
        ("## Status\n\nReverted by [a talk](https://a.example/1).\n\nGone.", "Reverted by a talk. Gone.", ""),
        ("* Status: superseded by [ADR-2]({{< ref \"0002-second.md\" >}})", "superseded by ADR-2", SECOND),
        ("* Status: deprecated", "deprecated", ""),
        ("**Status:** Rejected", "Rejected", ""),
        ("**Status**: Withdrawn by its author", "Withdrawn by its author", ""),
        ("Status: obsolete", "obsolete", ""),
        ("Status: no longer in use since 2.0", "no longer in use since 2.0", ""),
        ("Status: ~~Accepted~~ rolled back by the board", "~~Accepted~~ rolled back by the board", ""),
        ("| Status | Rejected |", "Rejected", ""),
    ],
)  # fmt: skip
def test_what_no_longer_holds_says_so(tmp_path: Path, status: str, said: str, by: str) -> None:
    text = f"# 1. First\n\n{status}\n\n## Decision\n\nWe do it.\n"
    _write(tmp_path, {"adr/0001-first.md": text, "adr/0002-second.md": "# 2. Second\n\n## Decision\n\nNot so.\n"})
    [made] = _read(tmp_path, "adr/0001-first.md").proposals
    assert (made.standing, made.said, made.replaced_by) == ("over", said, by)
    assert " ".join(made.fields["body"].split()) == f"Status: {said} Decision: We do it."


@pytest.mark.parametrize(
    ("status", "kept"),
    [
        ("## Status\n\nAccepted, replaces a rejected proposal", "Accepted, replaces a rejected proposal"),
        ("* Status: accepted, partially superseded by ADR-9", "accepted, partially superseded by ADR-9"),
        ("Status: Approved by the board", "Approved by the board"),
        ("Status: Implemented", ""),
        ("## Status\n\n✅ Accepted (2024-05-01).", ""),
        ("No word of it.", ""),
    ],
)
def test_what_still_holds_is_proposed(tmp_path: Path, status: str, kept: str) -> None:
    _write(tmp_path, {"adr/0001-first.md": f"# 1. First\n\n{status}\n\n## Decision\n\nWe do it.\n"})
    [made] = _read(tmp_path, "adr/0001-first.md").proposals
    assert made.fields["body"] == (f"Status: {kept}\n\n" if kept else "") + "Decision: We do it."
    assert (made.standing, made.said, made.fields["tags"]) == ("", "", ["adr"])


@pytest.mark.parametrize(
    "status",
    [
        *("Proposed", "draft", "Pending", "On hold until 2027", "Experimental", "RFC", "Angenommen?", "In review"),
        *(
            "Conditionally accepted",
            "Accepted, but under discussion",
            "Accepted until the next review",
            "Proposed | Accepted | Deprecated | Superseded by X",
            "Accepted, later deprecated",
        ),
    ],
)
def test_what_is_open_or_of_an_unknown_word_waits_for_a_person(tmp_path: Path, status: str) -> None:
    _write(tmp_path, {"adr/0001-first.md": f"# 1. First\n\n## Status\n\n{status}\n\n## Decision\n\nWe do it.\n"})
    [made] = _read(tmp_path, "adr/0001-first.md").proposals
    assert (made.standing, made.said) == ("open", status)
    assert made.fields["body"] == f"Status: {status}\n\nDecision: We do it."


def test_a_status_in_the_head_and_one_in_the_text_both_count(tmp_path: Path) -> None:
    text = "---\nstatus: accepted\n---\n\n# 1. First\n\n## Status\n\nDeprecated\n\n## Decision\n\nWe do it.\n"
    _write(tmp_path, {"adr/0001-first.md": text})
    [made] = _read(tmp_path, "adr/0001-first.md").proposals
    assert (made.standing, made.said) == ("over", "accepted Deprecated")


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("1. Use Go", "Use Go"),
        ("ADR-0001: Use Go", "Use Go"),
        ("ADR 12 - Use Go", "Use Go"),
        ("[ADR-3] Use Go", "Use Go"),
        ("0001 – Use Go", "Use Go"),
        ("0001 Use Go", "Use Go"),
        ("ADR: Use Go", "Use Go"),
        ("Decision 4: Use Go", "Use Go"),
        ("3-way merges by our own code", "3-way merges by our own code"),
        ("404 pages are cached", "404 pages are cached"),
        ("`diff-files` is run", "`diff-files` is run"),
    ],
)
def test_a_title_stands_without_its_number(tmp_path: Path, heading: str, title: str) -> None:
    _write(tmp_path, {"docs/adr/0001-x.md": f"# {heading}\n\n## Decision\n\nYes.\n"})
    [made] = _read(tmp_path, "docs/adr/0001-x.md").proposals
    assert made.fields["title"] == title


def test_a_record_without_a_title_is_called_as_its_file(tmp_path: Path) -> None:
    _write(tmp_path, {"docs/adr/adr-0012-use_one_queue.md": "# Status\n\nAccepted\n\n# Decision\n\nOne queue.\n"})
    [made] = _read(tmp_path, "docs/adr/adr-0012-use_one_queue.md").proposals
    assert (made.fields["title"], made.fields["body"]) == ("Use one queue", "Decision: One queue.")


@pytest.mark.parametrize("title", ["|\n  17. Use UDP", ">-\n  17. Use\n  UDP", '"17. Use UDP"', "17. Use UDP"])
def test_a_title_in_the_head(tmp_path: Path, title: str) -> None:
    text = f"---\nslug: 17\ntitle: {title}\ntags: [Accepted]\n---\n\n## Status\n\nAccepted\n\n## Decision\n\nYes.\n"
    _write(tmp_path, {"docs/adr/2022-03-28_017-networking.md": text})
    [made] = _read(tmp_path, "docs/adr/2022-03-28_017-networking.md").proposals
    assert (made.fields["title"], made.fields["id"]) == ("Use UDP", "decision.use-udp")


def test_names_in_bold_are_parts_too(tmp_path: Path) -> None:
    text = "# Use Go\n\n**Status:** Accepted\n\n**Context:**\nWe know it.\n\n**Decision:** Go it is.\n"
    _write(tmp_path, {"docs/adr/use-go.md": text})
    [made] = _read(tmp_path, "docs/adr/use-go.md").proposals
    assert made.fields["body"] == "Context: We know it.\n\nDecision: Go it is."


def test_forms_contents_and_other_documents_are_none(tmp_path: Path) -> None:
    form = MADR_2.replace("Use Markdown Any Decision Records", "{short title of solved problem and solution}")
    _write(
        tmp_path,
        {
            "docs/adr/README.md": NYGARD,
            "docs/adr/index.md": NYGARD,
            "docs/adr/adr-template.md": MADR_2,
            "docs/adr/template.md": MADR_2,
            "docs/adr/0000-form.md": form,
            "docs/adr/notes.md": "# Notes of a meeting\n\nWe met.\n",
            "docs/other/0001-x.md": NYGARD,
            "src/decisions/0001-x.md": NYGARD,
            "vendor/docs/adr/0001-x.md": NYGARD,
        },
    )
    assert [source.shown for source in _find(tmp_path)] == ["docs/adr/0000-form.md", "docs/adr/notes.md"]
    for name in ("docs/adr/0000-form.md", "docs/adr/notes.md"):
        read = _read(tmp_path, name)
        assert (read.proposals, read.skipped) == ((), 1)


def test_folders_of_records_lie_anywhere(tmp_path: Path) -> None:
    paths = [
        "ADRs/0001-x.md",
        "docs/server/adr/0001-x.md",
        "docs/design/decisions/0001-x.md",
        "packages/a/doc/adr/1.md",
    ]
    _write(tmp_path, dict.fromkeys(paths, NYGARD))
    assert sorted(source.shown for source in _find(tmp_path)) == sorted(paths)


def test_the_folder_that_the_tools_were_told_is_looked_at(tmp_path: Path) -> None:
    _write(tmp_path, {"architecture/log/0001-x.md": NYGARD, ".adr-dir": "./architecture/log\n"})
    assert [source.shown for source in _find(tmp_path)] == ["architecture/log/0001-x.md"]
    _write(tmp_path, {".adr-dir": "../elsewhere\n"})
    assert _find(tmp_path) == []


def test_a_long_record_is_shortened_to_what_matters(tmp_path: Path) -> None:
    context = "\n\n".join(f"Context paragraph {n} says something of some length about it." for n in range(40))
    outcome = "\n\n".join(f"Decided paragraph {n} says something of some length about it." for n in range(40))
    code = "```\n" + "\n".join(f"line {n}" for n in range(300)) + "\n```"
    text = f"# Long\n\n## Context\n\n{context}\n\n## Decision\n\n{outcome}\n\n## Consequences\n\nIt costs.\n\n{code}\n"
    _write(tmp_path, {"docs/adr/0001-long.md": text})
    [made] = _read(tmp_path, "docs/adr/0001-long.md").proposals
    body = made.fields["body"]
    assert 1_700 < len(body) <= 2_000
    assert body.startswith("Context: Context paragraph 0 says")
    assert "length about it. … (shortened)\n\nDecision: Decided paragraph 0" in body
    assert body.count("Decided paragraph") > body.count("Context paragraph") > 4
    assert body.endswith("Consequences: It costs.")
    assert body.count("```") == 0


def test_our_own_records_read_well(tmp_path: Path) -> None:
    for path in OWN.glob("*.md"):
        _write(tmp_path, {f"docs/decisions/{path.name}": path.read_text(encoding="utf-8")})
    _write(tmp_path, {"src/quire/files/git.py": ""})
    sources = _find(tmp_path)
    assert len(sources) == len(list(OWN.glob("*.md")))
    ids = set()
    for source in sources:
        read = read_host(source, str(tmp_path), "", NOW)
        [made] = read.proposals
        assert (read.problems, read.skipped) == ((), 0)
        assert is_id(made.fields["id"])
        ids.add(made.fields["id"])
        body = made.fields["body"]
        assert body.startswith("Context: ")
        assert [body.count(f"\n\n{name}:") for name in ("Decision", "Consequences")] == [1, 1]
        assert len(body) <= 2_000
        assert "](" not in body
        assert not made.fields["title"][0].isdigit()
    assert len(ids) == len(sources)
    [git] = _read(tmp_path, "docs/decisions/0003-git-is-asked-never-trusted.md").proposals
    assert git.fields["title"] == "Git is asked, never trusted"
    assert git.fields["anchors"] == ["docs/decisions/0003-git-is-asked-never-trusted.md", "src/quire/files/git.py"]
    [amended] = _read(tmp_path, "docs/decisions/0014-diff-files-with-filters-switched-off.md").proposals
    assert amended.fields["title"] == "`diff-files` with filters switched off"
    assert amended.fields["related"] == [{"predicate": "related_to", "to": "decision.git-is-asked-never-trusted"}]


def test_the_same_file_gives_the_same_proposals(tmp_path: Path) -> None:
    _write(tmp_path, {"docs/adr/0002-x.md": NYGARD})
    assert _read(tmp_path, "docs/adr/0002-x.md") == _read(tmp_path, "docs/adr/0002-x.md")
    _write(tmp_path, {"docs/adr/0002-x.md": "\ufeff" + NYGARD.replace("\n", "\r\n")})
    [with_returns] = _read(tmp_path, "docs/adr/0002-x.md").proposals
    _write(tmp_path, {"docs/adr/0002-x.md": NYGARD})
    assert with_returns == _read(tmp_path, "docs/adr/0002-x.md").proposals[0]


def test_what_may_not_be_kept_is_told_with_its_line(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    _write(
        tmp_path,
        {
            "docs/adr/0001-secret.md": f"# Deploy\n\n## Decision\n\nWe push.\n\nWith {token} as before.\n",
            "docs/adr/0002-hostile.md": "# Deploy\n\n## Decision\n\nWe \u202e push.\n",
        },
    )
    secret = _read(tmp_path, "docs/adr/0001-secret.md")
    assert secret.proposals == ()
    [problem] = secret.problems
    assert (problem.code, problem.path, problem.line) == ("HostSecret", "docs/adr/0001-secret.md", 7)
    assert token not in problem.message
    hostile = _read(tmp_path, "docs/adr/0002-hostile.md")
    assert hostile.proposals == ()
    assert [(problem.code, problem.line) for problem in hostile.problems] == [("HostTextUnsafe", 5)]


def test_links_and_what_cannot_be_read(tmp_path: Path) -> None:
    root = tmp_path / "project"
    _write(tmp_path, {"outside/0001-x.md": NYGARD, "outside/folder/0002-x.md": NYGARD})
    _write(root, {"docs/adr/0001-large.md": "# Large\n" + "x" * FILE_BYTES})
    (root / "docs/adr/0002-latin.md").write_bytes(b"# Caf\xe9\n\n## Decision\n\nYes.\n")
    (root / "docs/adr/0003-link.md").symlink_to(tmp_path / "outside/0001-x.md")
    (root / "docs/decisions").symlink_to(tmp_path / "outside/folder")
    os.mkfifo(root / "docs/adr/0004-pipe.md")
    assert [source.shown for source in _find(root)] == ["docs/adr/0001-large.md", "docs/adr/0002-latin.md"]
    for name, said in (("0001-large", "larger than"), ("0002-latin", "not UTF-8")):
        read = _read(root, f"docs/adr/{name}.md")
        assert read.proposals == ()
        [problem] = read.problems
        assert said in problem.message
    linked = HostSource(
        kind="adr", path=str(root / "docs/adr/0003-link.md"), shown="docs/adr/0003-link.md", scope="project", size=1
    )
    assert read_host(linked, str(root), "", NOW).proposals == ()
    outside = HostSource(kind="adr", path=str(tmp_path / "outside/0001-x.md"), shown="x", scope="project", size=1)
    assert read_host(outside, str(root), "", NOW).problems[0].code == "HostUnread"


@pytest.mark.parametrize(("kind", "place"), [("adr", "docs/adr/0001-a.md"), ("basic-memory", "memory/a.md")])
@settings(max_examples=examples(300), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(parts=st.lists(PARTS | st.text(max_size=8), max_size=40))
def test_whatever_a_document_holds_nothing_is_raised(tmp_path: Path, kind: str, place: str, parts: list[str]) -> None:
    text = "---\npermalink: x\n---\n" + "".join(parts)
    (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / place).write_bytes(text.encode("utf-8", "replace"))
    [source] = find_hosts(str(tmp_path), "", {}, [kind])
    read = read_host(source, str(tmp_path), "", NOW)
    for made in read.proposals:
        assert "\u202e" not in made.text
        assert all(value for value in made.fields.values() if isinstance(value, str))
        line = int(made.evidence[0].where.rpartition(":")[2])
        assert 1 <= line <= text.count("\n") + text.count("\r") + 1
