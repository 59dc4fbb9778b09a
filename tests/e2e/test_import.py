"""`memory import`: what other programs know is found, shown, proposed and accepted, each thing once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hosts_here import PLACES, Hosts, everything_below

from installed import Git, Memory

COUNTS = {
    "claude-md": {"fact": 5, "gotcha": 2, "decision": 1},
    "claude-rules": {"fact": 3},
    "claude-memory": {"fact": 2, "preference": 1},
    "agents-md": {"fact": 5},
    "codex-memories": {"preference": 3, "fact": 3},
    "gemini-md": {"fact": 4},
    "cursor-rules": {"fact": 5, "gotcha": 1},
    "cline-memory-bank": {"next step": 2, "feature": 4, "gotcha": 1, "fact": 4, "decision": 2},
    "cline-rules": {"fact": 2},
    "copilot-instructions": {"fact": 4},
    "serena": {"fact": 1, "gotcha": 1},
    "mcp-memory": {"fact": 2, "preference": 1},
    "basic-memory": {"decision": 1, "gotcha": 1, "question": 1, "preference": 1, "fact": 2},
    "adr": {"decision": 3},
    "beads": {"feature": 2, "next step": 1, "decision": 1},
}
TOTAL = sum(sum(counts.values()) for counts in COUNTS.values())


@pytest.fixture
def hosts(memory: Memory, git: Git) -> Hosts:
    return Hosts(memory, git)


def counted(results: list[dict[str, Any]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for item in results:
        found[item["kind"]] = found.get(item["kind"], 0) + 1
    return found


def line_at(hosts: Hosts, where: str) -> str:
    """The line that an evidence names."""
    shown, _, number = where.rpartition(":")
    path = hosts.place(shown.replace("/…/", "/@ENCODED@/"))
    return path.read_text(encoding="utf-8").split("\n")[int(number) - 1]


# -- each kind ------------------------------------------------------------------------------------


@pytest.mark.proof(keep=5)
@pytest.mark.parametrize("kind", PLACES)
def test_a_kind_from_the_list_to_the_records(hosts: Hosts, kind: str) -> None:
    hosts.put(kind)
    before = everything_below(hosts.root.parent)
    listed = hosts.data()
    assert {source["kind"] for source in listed["sources"]} == {kind}
    assert len(listed["sources"]) == len(PLACES[kind])
    shown = hosts.data(kind, "--dry-run")
    assert shown["dry_run"] is True
    assert counted(shown["results"]) == COUNTS[kind]
    told = hosts(kind, "--dry-run").out
    assert all(item["id"] in told and item["evidence"][0]["where"] in told for item in shown["results"])
    assert everything_below(hosts.root.parent) == before

    proposed = hosts.data(kind)["results"]
    assert [item["id"] for item in proposed] == [item["id"] for item in shown["results"]]
    waiting = hosts.memory("inbox", "--json").data["results"]
    assert [item["id"] for item in waiting] == [item["id"] for item in proposed]
    for item in waiting:
        (evidence,) = item["evidence"]
        assert item["by"] == evidence["by"] == "file"
        assert item["origin"] == f"file:{evidence['where'].rpartition(':')[0]}"
        assert line_at(hosts, evidence["where"]).strip()
    again = hosts.data(kind)
    assert (again["results"], again["known"]) == ([], len(proposed))

    settled = hosts.memory("inbox", "accept", "--all", "--json").data
    assert (len(settled["settled"]), settled["failed"], settled["pending"]) == (len(proposed), [], 0)
    for item in settled["settled"]:
        check_record(hosts, item)
    assert hosts.memory("check").code == 0
    last = hosts.data(kind)
    assert (last["results"], last["known"]) == ([], len(proposed))


def check_record(hosts: Hosts, item: dict[str, Any]) -> None:
    """The record of an accepted proposal says it, and where it came from; a question finds it."""
    if item["into"] == "notes":
        assert item["text"] in [note["text"] for note in hosts.memory("notes", "--json").data["notes"]]
        return
    record = hosts.memory("inspect", item["ref"], "--json").data["object"]
    shown = item["origin"].removeprefix("file:")
    if item["into"] == "graph":
        assert record["origin"] == {"kind": "file", "locator": shown}
        assert (record["type"], record["body"]) == (item["kind"], item["fields"]["body"])
        asked = item["fields"]["title"]
    elif item["into"] == "facts":
        assert (record["content"], record["section"]) == (item["text"], item["fields"]["section"])
        assert record["source"] == item["origin"]
        asked = item["evidence"][0]["quote"][:150]
    else:
        assert record["value"] == item["fields"]["value"]
        asked = item["fields"]["value"][:150]
    if record["status"] in ("stale", "superseded"):
        return
    found = hosts.memory("query", asked, "--limit", "20", "--json").data["results"]
    mine = [result for result in found if result["ref"] == item["ref"]]
    assert mine, (asked, [result["ref"] for result in found])
    assert mine[0]["verdict"] == ("fresh" if item["fields"].get("anchors") else "unanchored")


# -- all of them ----------------------------------------------------------------------------------


def test_all_kinds_in_one_project(hosts: Hosts, tmp_path: Path) -> None:
    hosts.put(*PLACES)
    assert {source["kind"] for source in hosts.data()["sources"]} == set(PLACES)
    done = hosts.data("--all", "--accept")
    assert len(done["results"]) == TOTAL
    assert done["accepted"]["failed"] == []
    assert len(done["accepted"]["settled"]) == TOTAL
    assert hosts.memory("check").code == 0
    other = hosts.clone(tmp_path / "elsewhere")
    found = other("import", "--all", "--json").data
    # Next steps are a person's own; all that is shared is said in the clone, though no inbox tells it.
    assert {item["kind"] for item in found["results"]} == {"next step"}
    assert found["known"] == sum(source["items"] for source in found["sources"]) - len(found["results"])
    assert not any(source["scope"] == "user" for source in found["sources"])


def test_the_inbox_is_lost(hosts: Hosts) -> None:
    hosts.put(*PLACES)
    hosts.data("--all", "--accept")
    (hosts.root / ".memory/local/inbox.jsonl").unlink()
    again = hosts.data("--all")
    assert (again["results"], again["known"]) == ([], TOTAL)


def test_only_what_is_named(hosts: Hosts) -> None:
    hosts.put(*PLACES)
    done = hosts("adr", "serena")
    assert done.out == (
        "serena                 .serena/memories/conventions.md: 2 new of 2\n"
        "adr                    docs/adr/0001-plan-in-cents.md: 1 new of 1\n"
        "adr                    docs/adr/0002-plan-with-integers.md: 1 new of 1\n"
        "adr                    docs/adr/0003-tide-tables-in-files.md: 1 new of 1\n"
        "5 new proposals: see `memory inbox`.\n"
    )
    assert hosts("adr", "serena").out.endswith(
        "\n0 new proposals. (5 known already)\n"
        "5 proposals of these sources are pending. Add --accept, or see `memory inbox`.\n"
    )


def test_a_folder_of_many_files_is_one_line(hosts: Hosts) -> None:
    hosts.put("cline-memory-bank")
    assert hosts().out == (
        "cline-memory-bank      memory-bank/ (4 files): 13 new of 13\n"
        "git                    the history of this repository: `memory import git` reads it\n"
        "`memory import KIND…` proposes them; --dry-run shows each one, --accept makes records at once.\n"
    )


def test_nothing_to_import(hosts: Hosts) -> None:
    empty = "No files of other programs were found here. `memory import --help` lists what is recognised.\n"
    assert hosts().out.startswith(empty)
    assert hosts.data()["sources"] == []


# -- again ----------------------------------------------------------------------------------------


def test_a_changed_file_proposes_what_changed(hosts: Hosts) -> None:
    hosts.put("claude-md")
    hosts.data("claude-md", "--accept")
    path = hosts.place("CLAUDE.md")
    path.write_text(path.read_text().replace("up to two minutes", "up to five minutes"), encoding="utf-8")
    (item,) = hosts.data("claude-md")["results"]
    assert item["kind"] == "gotcha"
    assert "up to five minutes" in item["text"]


def test_a_moved_line_is_the_same(hosts: Hosts) -> None:
    hosts.put("claude-md")
    hosts.data("claude-md")
    path = hosts.place("CLAUDE.md")
    path.write_text("\n\n" + path.read_text().replace("- Money", "-  Money"), encoding="utf-8")
    again = hosts.data("claude-md")
    assert (again["results"], again["known"]) == ([], 8)


def test_a_rejected_item_never_comes_back(hosts: Hosts, tmp_path: Path) -> None:
    hosts.put("serena")
    fact, gotcha = hosts.data("serena")["results"]
    assert hosts.memory("inbox", "reject", gotcha["id"], "--reason", "no longer so").code == 0
    for _ in range(2):
        again = hosts.data("serena")
        assert (again["results"], again["known"], again["rejected"]) == ([], 1, 1)
    assert "(1 known already, 1 rejected before)" in hosts("serena").out
    hosts.memory("inbox", "accept", fact["id"])
    other = hosts.clone(tmp_path / "elsewhere")
    found = other("import", "serena", "--accept", "--json").data
    assert (found["results"], found["known"], found["rejected"]) == ([], 1, 1)
    # Another wording of the same in another file is still the same.
    hosts.write("GEMINI.md", f"## Pitfalls\n\n* {gotcha['fields']['body'].upper()}\n")
    assert hosts.data("gemini-md")["rejected"] == 1


def test_two_files_that_say_the_same(hosts: Hosts) -> None:
    text = "## Gotchas\n\n- The crane counter starts at one, not at zero.\n"
    hosts.write("CLAUDE.md", text)
    hosts.write("AGENTS.md", text)
    done = hosts.data("--all")
    assert [item["origin"] for item in done["results"]] == ["file:CLAUDE.md"]
    assert [(source["items"], source["new"]) for source in done["sources"]] == [(1, 1), (1, 0), (0, 0)]
    assert done["known"] == 1


def test_a_link_to_another_file_is_read_once(hosts: Hosts) -> None:
    hosts.put("agents-md")
    hosts.place("CLAUDE.md").symlink_to("AGENTS.md")
    assert [source["path"] for source in hosts.data()["sources"]] == ["AGENTS.md"]


def test_an_edited_proposal_is_not_proposed_again(hosts: Hosts) -> None:
    hosts.put("serena")
    _, gotcha = hosts.data("serena")["results"]
    assert hosts.memory("inbox", "edit", gotcha["id"], "--text", "A ship's length is in decimetres.").code == 0
    assert hosts.data("serena")["results"] == []


def test_a_decision_whose_id_is_taken(hosts: Hosts) -> None:
    hosts.put("adr")
    hosts.memory.save({"kind": "decision", "title": "Plan with integers", "body": "Another reason."})
    done = hosts("adr", "--accept", "--json")
    assert done.code == 1
    (failed,) = done.data["accepted"]["failed"]
    assert failed["message"].startswith("`decision.plan-with-integers` already exists, and another source made it;")
    assert len(done.data["accepted"]["settled"]) == 2
    told = hosts.memory("inbox").out
    assert "decision → graph" in told


# -- what our own program wrote -------------------------------------------------------------------


def test_our_own_sections_are_nobodys_knowledge(memory: Memory, git: Git) -> None:
    hosts = Hosts(memory, git)
    hosts.write("AGENTS.md", "# Guidelines\n\n## Testing\n\nRun `pytest -q` from the root.\n")
    memory.init()
    memory.save({"kind": "feature", "title": "Berth plan", "body": "Plans berths.", "stage": "shipped"})
    assert "Berth plan" in hosts.place("AGENTS.md").read_text()
    (item,) = hosts.data("agents-md")["results"]
    assert item["text"] == "Run `pytest -q` from the root. (Testing)"


def test_an_export_of_ours_is_known(hosts: Hosts) -> None:
    hosts.put("adr", "serena")
    hosts.data("--all", "--accept")
    made = hosts.memory("export", "--format", "mcp")
    assert made.code == 0, made.err
    hosts.write("memory.jsonl", made.out)
    assert hosts.data("mcp-memory")["results"] == []


# -- paths ----------------------------------------------------------------------------------------


def test_files_that_lie_elsewhere(hosts: Hosts) -> None:
    text = json.dumps({"type": "entity", "name": "crane", "entityType": "thing", "observations": ["Lifts 40 tonnes"]})
    hosts.write("~/old/memory.json", text)
    done = hosts.data("--as", "mcp-memory", str(hosts.home / "old/memory.json"))
    (item,) = done["results"]
    assert (item["text"], item["origin"]) == ("crane: Lifts 40 tonnes", "file:~/old/memory.json")
    hosts.write("docs/handbook.md", "## Gotchas\n\n- Never print plans on a Monday.\n")
    (item,) = hosts.data("--as", "agents-md", "docs/handbook.md")["results"]
    assert (item["kind"], item["evidence"][0]["where"]) == ("gotcha", "docs/handbook.md:3")
    inner = hosts.root / "src/harbor"
    (item,) = hosts.data("--as", "agents-md", "tide.md", cwd=_with_file(inner))["results"]
    assert item["origin"] == "file:src/harbor/tide.md"


def _with_file(folder: Path) -> Path:
    (folder / "tide.md").write_text("The tide table of 2026 lacks March.\n", encoding="utf-8")
    return folder


# -- documents as people write them ---------------------------------------------------------------


def proposed(hosts: Hosts, text: str, path: str = "CLAUDE.md") -> list[tuple[str, str]]:
    hosts.write(path, text)
    return [(item["kind"], item["text"]) for item in hosts.data("--all", "--dry-run")["results"]]


def test_troubles_and_their_solutions_stay_together(hosts: Hosts) -> None:
    text = (
        "## Troubleshooting\n\n**Issue**: Plans differ between two runs\n**Solution**:\n1. Set `PLANNER_SEED`\n"
        "2. Compare the tide tables\n\n**Issue**: The form shows no berths\n**Solution**: Run `make sample`.\n"
    )
    assert proposed(hosts, text) == [
        (
            "gotcha",
            "Plans differ between two runs **Solution**:\n- Set `PLANNER_SEED`\n- Compare the tide tables",
        ),
        ("gotcha", "The form shows no berths **Solution**: Run `make sample`."),
    ]


def test_short_points_stand_below_their_leads(hosts: Hosts) -> None:
    text = (
        "## Style\n\n**Sources**:\n- [Handbook](https://example.com/handbook)\n\n**Indentation**:\n- Tabs\n\n"
        "**Versions**:\n- php - 8.4\n- vue - v3\n"
    )
    assert proposed(hosts, text) == [
        ("fact", "Tabs (Style › Indentation)"),
        ("fact", "php - 8.4 (Style › Versions)"),
        ("fact", "vue - v3 (Style › Versions)"),
    ]


def test_what_a_file_says_of_itself_is_left_out(hosts: Hosts) -> None:
    text = (
        "=== base rules ===\n\n## Testing\n\nRun `pytest -q` from the root.\n\n=== more rules ===\n\n## Contact\n\n"
        "**Author**: Tess Ter\n**License**: MIT\n\n## Official resources\n\n| What | URL |\n| --- | --- |\n"
        "| Portal | https://example.com/portal |\n\n---\n\n**Last Updated**: 2026-01-05\n**Document Version**: 1.1\n"
    )
    assert proposed(hosts, text) == [("fact", "Run `pytest -q` from the root. (Testing)")]


def test_code_in_a_quotation(hosts: Hosts) -> None:
    text = (
        "## Commands\n\n> In the background, as `a -> b`:\n>\n> ```bash\n> make dev & sleep 4\n> ```\n\nThen stop it.\n"
    )
    ((_, said), _) = proposed(hosts, text)
    assert said == "In the background, as `a -> b`:\n```bash\nmake dev & sleep 4\n```\n(Commands)"


def test_tasks_are_next_steps(hosts: Hosts) -> None:
    text = (
        "## Remaining tasks\n\n### Draw the tide\n\n**Status**: planned\n\n**Steps**:\n- read the table\n- draw it\n\n"
        "## Future improvements\n\n- [ ] Book cranes\n- [x] Print plans\n\n## Completed tasks\n\n- Plans are printed\n"
    )
    assert proposed(hosts, text) == [("next step", "Draw the tide"), ("next step", "Book cranes")]


def test_headings_in_other_languages(hosts: Hosts) -> None:
    text = "# Active Context\n\n## 現在のフォーカス\n\n- 作業は完了した。\n\n## 次のステップ\n\n- 潮汐表を更新する。\n"
    assert proposed(hosts, text, "memory-bank/activeContext.md") == [("next step", "潮汐表を更新する。")]


def test_a_long_decision_is_named_by_what_was_decided(hosts: Hosts) -> None:
    hosts.put("claude-md")
    (item,) = [item for item in hosts.data("--all", "--dry-run")["results"] if item["kind"] == "decision"]
    assert item["fields"]["title"] == "We plan berths at night in one go instead of one by one"


def test_many_are_accepted_together_and_the_others_by_themselves(hosts: Hosts) -> None:
    for number in range(30):
        hosts.write(f"docs/adr/{number:04}-a.md", f"# Thing {number}\n\n## Decision\n\nWay {number} is taken.\n")
    hosts.write("docs/adr/0030-a.md", "# Thing 7\n\n## Decision\n\nAnother way is taken.\n")
    hosts.memory.save({"kind": "decision", "title": "Thing 9", "body": "A third way."})
    hosts.write("CLAUDE.md", "".join(f"## Part {n}\n\nPart {n} is made of {n} pieces.\n\n" for n in range(30)))
    done = hosts("--all", "--accept", "--json")
    settled = {item["ref"]: item for item in done.data["accepted"]["settled"]}
    assert len(settled) == 60
    for ref in ("decision.thing-7", "decision.thing-7-2", "decision.thing-29"):
        record = hosts.memory("inspect", ref, "--json").data["object"]
        assert record["body"] == settled[ref]["fields"]["body"]
    fact = next(ref for ref, item in settled.items() if item["into"] == "facts" and "Part 12" in item["text"])
    assert hosts.memory("inspect", fact, "--json").data["object"]["content"] == settled[fact]["text"]
    (failed,) = done.data["accepted"]["failed"]
    assert failed["message"].startswith("`decision.thing-9` already exists, and another source made it;")
    assert hosts.memory("check").code == 0


def test_accepting_again_after_a_crash_makes_nothing_twice(hosts: Hosts) -> None:
    hosts.put("serena", "claude-md")
    hosts.data("--all")
    inbox = hosts.root / ".memory/local/inbox.jsonl"
    before = inbox.read_bytes()
    first = hosts.memory("inbox", "accept", "--all", "--json").data["settled"]
    # As if the machine had died before the inbox was written.
    inbox.write_bytes(before)
    again = hosts.memory("inbox", "accept", "--all", "--json").data
    assert again["failed"] == []
    assert {item["id"]: item["ref"] for item in again["settled"]} == {item["id"]: item["ref"] for item in first}
    assert (
        len(list((hosts.root / ".memory/memory").glob("*.json")))
        == len({item["ref"] for item in first} - _facts(first)) + 1
    )


def _facts(items: list[dict[str, Any]]) -> set[str]:
    return {item["ref"] for item in items if item["into"] == "facts"}


def test_headings_that_only_gather_are_no_features(hosts: Hosts) -> None:
    text = (
        "# Progress\n\n## What's left to build\n\n### Performance improvements\n- Plan berths in parallel\n"
        "- Stop a plan that runs\n\n### Crane bookings\n- booked with the berth\n- paid by the hour\n"
    )
    hosts.write("memory-bank/progress.md", text)
    found = hosts.data("--all", "--dry-run")["results"]
    titles = ["Plan berths in parallel", "Stop a plan that runs", "Crane bookings"]
    assert [item["fields"]["title"] for item in found] == titles


def test_the_upkeep_of_a_memory_bank_is_no_step(hosts: Hosts) -> None:
    text = "## Next steps\n\n- Update `memory-bank/progress.md`\n- Ask for the radio channels\n"
    assert proposed(hosts, text, "memory-bank/activeContext.md") == [("next step", "Ask for the radio channels")]
