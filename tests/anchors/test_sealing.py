"""What a save notes of the code it speaks of, and when: a claim binds to what was seen, nothing else renews it."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from quire.files.digests import blob_id
from quire.model.errors import InputError
from quire.model.seals import is_seal, parse_seal
from quire.verbs.admin.check import check_files
from quire.verbs.admin.rebuild import Rebuild, rebuild
from quire.verbs.ask.answers import answer_question
from quire.verbs.ask.inspected_node import inspect_node
from quire.verbs.ask.status import status
from quire.verbs.graph.diff import Diff, diff
from quire.verbs.graph.save import save_nodes

CODE = """def send(message):
    message.tries += 1
    message.log("sent")
    return message.deliver()
"""
EDITED = CODE.replace("+= 1", "+= 2")
GIVEN = {"kind": "file", "id": "docs/adr.md"}


def blob(text: str) -> str:
    return blob_id(text.encode(), "0" * 40)


@pytest.fixture
def ref(desk: Any) -> str:
    desk.write("src/a.py", CODE)
    desk.commit()
    return str(desk.save("src/a.py"))


def last_event(desk: Any) -> Any:
    return json.loads((desk.repo / ".memory/events.jsonl").read_text(encoding="utf-8").splitlines()[-1])


# -- what is written --------------------------------------------------------------------------


def test_each_form_of_anchor_gets_its_seal_and_the_commit_is_noted(desk: Any) -> None:
    desk.write("src/a.py", CODE)
    commit = desk.commit()
    ref = desk.save("src/a.py", "src/", "src/*.py", "src/a.py#send")
    fields = desk.sidecar(ref)
    seals = [seal for item in fields["evidence"] if (seal := parse_seal(item["id"]))]
    assert all(is_seal(item["kind"], item["id"]) for item in fields["evidence"])
    assert [(seal.anchor, seal.how) for seal in seals] == [
        ("src/a.py", "blob"),
        ("src/", "tree"),
        ("src/*.py", "tree"),
        ("src/a.py#send", "symbol"),
    ]
    assert seals[0].digest == blob(CODE) == desk.git("rev-parse", "HEAD:src/a.py").strip()
    assert seals[1].digest == seals[2].digest
    assert fields["source"] == {"kind": "agent", "task": "test", "commit": commit}


def test_a_record_without_anchors_gets_neither_seal_nor_commit(desk: Any) -> None:
    desk.commit()
    fields = desk.sidecar(desk.save())
    assert fields["evidence"] == []
    assert fields["source"] == {"kind": "agent", "task": "test"}


def test_seals_in_the_record_pass_the_check(desk: Any, ref: str) -> None:
    desk.write("src/new file.py", CODE)
    desk.save("src/", "src/a.py#send", "gone.py", title="Other")
    found = check_files(desk.project)
    assert found.errors == []
    assert [problem for problem in found.warnings if "evidence" in str(problem) or "secret" in str(problem)] == []


def test_an_anchor_that_leads_to_nothing_is_sealed_as_that_and_warned_of(desk: Any) -> None:
    desk.write("src/a.py", CODE)
    desk.write("src/bad.py", "def send(:\n")
    desk.commit()
    node = {"kind": "feature", "title": "A", "body": "B."}
    anchors = ["gone.py", "gone/*.py", "src/a.py#nothing", "src/bad.py#send"]
    saved = save_nodes(desk.project, {"task": "t", "nodes": [{**node, "anchors": anchors}]})
    said = [(problem.code, problem.field, problem.message) for problem in saved.warnings]
    assert [(code, field) for code, field, _ in said] == [("AnchorUnmatched", "anchors")] * 4
    for anchor, why in zip(anchors, ("no file", "no file", "does not hold it", "line 1"), strict=True):
        assert any(f"`{anchor}`" in message and why in message for _, _, message in said), anchor
    nothing = [f"{anchor}@tree:{'0' * 32}" for anchor in anchors[:3]]
    assert desk.seals("feature.a") == [*nothing, f"{anchors[3]}@tree:{'f' * 32}"]


@pytest.mark.parametrize("others", [[], ["src/b.py"]], ids=["alone", "with another"])
def test_a_symbol_that_could_not_be_read_when_it_was_saved_is_not_fresh_later(desk: Any, others: list[str]) -> None:
    """Nobody saw it: that the last commit holds the same as now says nothing."""
    desk.write("src/a.py", CODE)
    desk.write("src/b.py", CODE)
    desk.commit()
    desk.write("src/a.py", "def send(:\n")
    ref = desk.save("src/a.py#send", *others)
    assert desk.verdict(ref) == "unverifiable"
    desk.git("checkout", "--quiet", "--", "src/a.py")
    found = desk.look(ref)
    assert found.verdict == "unverifiable"
    assert "by hand" not in found.because


def test_uncommitted_files_below_an_anchor_are_noted(desk: Any) -> None:
    for name in ("a", "b", "c"):
        desk.write(f"src/{name}.py", f"# {name}\n")
    desk.commit()
    desk.write("src/a.py", "# staged\n")
    desk.git("add", "src/a.py")
    (desk.repo / "src/b.py").unlink()
    desk.write("src/new.py", "# new\n")
    ref = desk.save("src/")
    assert desk.seals(ref)[1:] == [
        f"src/a.py@blob:{blob('# staged' + chr(10))}",
        f"src/b.py@blob:{'0' * 32}",
        f"src/new.py@blob:{blob('# new' + chr(10))}",
    ]


def test_a_noted_file_that_is_an_anchor_itself_has_one_seal(desk: Any, ref: str) -> None:
    desk.write("src/a.py", EDITED)
    desk.update(ref, anchors=["src/", "src/a.py"])
    assert [seal.partition("@")[0] for seal in desk.seals(ref)] == ["src/", "src/a.py"]
    assert desk.verdict(ref) == "fresh"


def test_with_very_many_uncommitted_files_there_are_no_notes_but_the_verdict_holds(desk: Any) -> None:
    desk.commit()
    for number in range(100):
        desk.write(f"src/{number}.py", f"x = {number}\n")
    ref = desk.save("src/")
    assert len(desk.seals(ref)) == 1
    assert desk.verdict(ref) == "fresh"
    desk.commit()
    assert desk.verdict(ref) == "fresh"
    desk.write("src/7.py", "x = 'changed'\n")
    assert desk.verdict(ref) == "changed"


def test_a_dry_run_writes_nothing_and_warns_the_same(desk: Any, ref: str, tree: Any) -> None:
    before = tree(desk.repo)
    node = {"id": ref, "body": "Other.", "anchors": ["gone.py"]}
    saved = save_nodes(desk.project, {"task": "t", "nodes": [node]}, dry_run=True)
    assert saved.memory_updated == [ref]
    assert [problem.code for problem in saved.warnings] == ["AnchorUnmatched"]
    assert tree(desk.repo) == before


# -- evidence that was given ------------------------------------------------------------------


def test_evidence_that_was_given_survives_every_seal(desk: Any, ref: str) -> None:
    desk.update(ref, evidence=[GIVEN, {"kind": "commit", "id": "abc1234"}])
    seals = desk.seals(ref)
    assert len(seals) == 1
    desk.write("src/a.py", EDITED)
    desk.update(ref, body="Now it counts by two.")
    assert desk.sidecar(ref)["evidence"][:2] == [GIVEN, {"kind": "commit", "id": "abc1234"}]
    assert desk.seals(ref) == [f"src/a.py@blob:{blob(EDITED)}"]
    desk.confirm(ref)
    assert desk.sidecar(ref)["evidence"][0] == GIVEN
    desk.update(ref, evidence=[])
    assert desk.sidecar(ref)["evidence"] == [{"kind": "file", "id": f"src/a.py@blob:{blob(EDITED)}"}]


def test_new_evidence_alone_leaves_the_seals_as_they_are(desk: Any, ref: str) -> None:
    before = desk.seals(ref)
    desk.write("src/a.py", EDITED)
    desk.update(ref, evidence=[GIVEN])
    assert desk.seals(ref) == before
    assert desk.verdict(ref) == "changed"


def test_seals_that_are_sent_are_not_taken_over(desk: Any, ref: str) -> None:
    desk.write("src/a.py", EDITED)
    forged = {"kind": "file", "id": f"src/a.py@blob:{blob(EDITED)}"}
    desk.update(ref, evidence=[forged, GIVEN])
    assert desk.verdict(ref) == "changed"
    assert desk.seals(ref) == [f"src/a.py@blob:{blob(CODE)}"]
    new = desk.save("src/a.py", title="New", evidence=[{"kind": "file", "id": f"src/a.py@blob:{'1' * 40}"}])
    assert desk.seals(new) == [f"src/a.py@blob:{blob(EDITED)}"]


def test_sending_back_what_inspect_showed_changes_nothing(desk: Any, ref: str) -> None:
    desk.update(ref, evidence=[GIVEN])
    fields = desk.sidecar(ref)
    desk.write("src/a.py", EDITED)
    before = desk.sidecar_path(ref).read_bytes()
    again = {name: fields[name] for name in ("title", "anchors", "tags", "evidence")}
    saved = desk.update(ref, body="Retry queue sends again.", **again)
    assert (saved.memory_updated, saved.unchanged) == ([], [ref])
    assert desk.sidecar_path(ref).read_bytes() == before


# -- when -------------------------------------------------------------------------------------


def test_repeating_a_save_changes_nothing_and_renews_nothing(desk: Any, ref: str, tree: Any) -> None:
    desk.write("src/a.py", EDITED)
    assert desk.verdict(ref) == "changed"
    before = tree(desk.repo / ".memory")
    node = {"kind": "feature", "title": "Retry queue", "body": "Retry queue sends again.", "anchors": ["src/a.py"]}
    for sent in (node, {**node, "id": ref}, {**node, "anchors": ["./src//a.py", "src/a.py"]}):
        saved = save_nodes(desk.project, {"task": "test", "nodes": [sent]})
        assert saved.unchanged == [ref]
        assert not saved.changed
    assert tree(desk.repo / ".memory") == before
    assert desk.verdict(ref) == "changed"


@pytest.mark.parametrize(
    "fields",
    [{"tags": ["queue"]}, {"evidence": [GIVEN]}, {"origin": {"kind": "file", "locator": "docs/a.md"}}],
    ids=["tags", "evidence", "origin"],
)
def test_what_says_nothing_of_the_code_renews_nothing(desk: Any, ref: str, fields: dict[str, Any]) -> None:
    commit = desk.sidecar(ref)["source"]["commit"]
    desk.commit(**{"src/a.py": EDITED})
    assert desk.update(ref, **fields).memory_updated == [ref]
    assert desk.verdict(ref) == "changed"
    assert desk.seals(ref) == [f"src/a.py@blob:{blob(CODE)}"]
    assert desk.sidecar(ref)["source"]["commit"] == commit


@pytest.mark.parametrize(
    "fields",
    [{"title": "Other"}, {"body": "Other."}, {"stage": "shipped"}, {"anchors": ["src/a.py", "src/"]}],
    ids=["title", "body", "stage", "anchors"],
)
def test_what_says_something_new_of_the_code_binds_to_it_anew(desk: Any, ref: str, fields: dict[str, Any]) -> None:
    commit = desk.commit(**{"src/a.py": EDITED})
    assert desk.verdict(ref) == "changed"
    desk.update(ref, **fields)
    assert desk.verdict(ref) == "fresh"
    assert desk.seals(ref)[0] == f"src/a.py@blob:{blob(EDITED)}"
    assert desk.sidecar(ref)["source"]["commit"] == commit


def test_a_relation_renews_nothing(desk: Any, ref: str) -> None:
    other = desk.save(title="Other")
    desk.write("src/a.py", EDITED)
    desk.update(ref, related=[{"predicate": "depends_on", "to": other}])
    assert desk.verdict(ref) == "changed"
    desk.update(other, related=[{"predicate": "depends_on", "to": ref}])
    assert desk.verdict(ref) == "changed"


def test_a_save_of_one_record_renews_no_other(desk: Any, ref: str) -> None:
    other = desk.save("src/a.py", title="Other")
    desk.write("src/a.py", EDITED)
    desk.update(other, body="New.")
    assert (desk.verdict(ref), desk.verdict(other)) == ("changed", "fresh")


def test_a_record_whose_anchors_are_taken_away_loses_its_seals(desk: Any, ref: str) -> None:
    desk.update(ref, evidence=[GIVEN])
    desk.update(ref, anchors=[])
    assert desk.sidecar(ref)["evidence"] == [GIVEN]
    assert "commit" not in desk.sidecar(ref)["source"]
    assert desk.verdict(ref) == "unanchored"


def test_a_dropped_anchor_loses_its_seal(desk: Any, ref: str) -> None:
    desk.write("src/b.py", CODE)
    desk.update(ref, anchors=["src/a.py", "src/b.py"])
    assert len(desk.seals(ref)) == 2
    desk.update(ref, anchors=["src/b.py"])
    assert desk.seals(ref) == [f"src/b.py@blob:{blob(CODE)}"]


def test_reading_renews_nothing(desk: Any, ref: str, tree: Any) -> None:
    desk.write("src/a.py", EDITED)
    before = tree(desk.repo)
    for _ in range(2):
        inspect_node(desk.project, ref)
        answer_question(desk.project, "retry queue")
        answer_question(desk.project, "", path="src/a.py")
        status(desk.project)
        check_files(desk.project)
        diff(desk.project, Diff())
        rebuild(desk.project, Rebuild())
    assert tree(desk.repo) == before
    assert desk.verdict(ref) == "changed"


def test_an_edit_by_hand_of_the_body_is_not_a_look_at_the_code(desk: Any, ref: str) -> None:
    desk.write("src/a.py", EDITED)
    (desk.repo / ".memory/memory/retry-queue.md").write_text("By hand.", encoding="utf-8")
    assert desk.verdict(ref) == "changed"


def test_unknown_fields_of_the_source_survive_a_seal(desk: Any, ref: str) -> None:
    path: Path = desk.sidecar_path(ref)
    fields = desk.sidecar(ref)
    fields["source"]["session"] = "abc"
    path.write_text(json.dumps(fields), encoding="utf-8")
    desk.confirm(ref)
    assert desk.sidecar(ref)["source"]["session"] == "abc"


# -- confirm ----------------------------------------------------------------------------------


def test_a_confirmation_binds_to_the_code_as_it_is_now(desk: Any, ref: str) -> None:
    commit = desk.commit(**{"src/a.py": EDITED})
    body = (desk.repo / ".memory/memory/retry-queue.md").read_bytes()
    saved = desk.confirm(ref, reason="read it, still true")
    assert (saved.memory_confirmed, saved.memory_updated) == ([ref], [ref])
    assert desk.verdict(ref) == "fresh"
    assert desk.look(ref).since == commit
    assert (desk.repo / ".memory/memory/retry-queue.md").read_bytes() == body
    event = last_event(desk)
    assert (event["event"], event["id"], event["reason"]) == ("memory.updated", ref, "read it, still true")
    assert event["payload"]["confirmed"] is True


def test_a_confirmation_without_a_reason_will_do(desk: Any, ref: str) -> None:
    desk.write("src/a.py", EDITED)
    desk.confirm(ref)
    assert desk.verdict(ref) == "fresh"
    assert "reason" not in last_event(desk)


def test_a_second_confirmation_of_the_same_changes_nothing(desk: Any, ref: str, tree: Any) -> None:
    desk.write("src/a.py", EDITED)
    desk.confirm(ref)
    before = tree(desk.repo / ".memory")
    saved = desk.confirm(ref)
    assert (saved.memory_confirmed, saved.unchanged) == ([], [ref])
    assert tree(desk.repo / ".memory") == before


def test_several_are_confirmed_at_once_together_with_other_work(desk: Any, ref: str) -> None:
    other = desk.save("src/", title="Other")
    desk.write("src/a.py", EDITED)
    intent = {
        "task": "t",
        "nodes": [{"id": other, "tags": ["queue"]}, {"kind": "gotcha", "title": "New", "body": "B."}],
        "confirm": [{"id": ref}, {"id": other}],
    }
    saved = save_nodes(desk.project, intent)
    assert saved.memory_confirmed == [ref, other] or saved.memory_confirmed == [other, ref]
    assert saved.memory_created == ["gotcha.new"]
    assert (desk.verdict(ref), desk.verdict(other)) == ("fresh", "fresh")
    assert desk.sidecar(other)["tags"] == ["queue"]


def test_a_record_of_the_original_program_gets_seals_when_it_is_confirmed(desk: Any, ref: str) -> None:
    desk.unsealed(ref)
    assert desk.verdict(ref) == "unverifiable"
    desk.confirm(ref)
    assert desk.verdict(ref) == "fresh"
    assert desk.seals(ref) == [f"src/a.py@blob:{blob(CODE)}"]


def test_a_moved_record_is_fresh_with_the_anchor_that_was_proposed(desk: Any, ref: str) -> None:
    desk.git("mv", "src/a.py", "src/b.py")
    desk.commit()
    desk.update(ref, anchors=list(desk.only(ref).to))
    assert desk.verdict(ref) == "fresh"


def test_confirming_what_has_no_anchors_is_warned_of_and_changes_nothing(desk: Any) -> None:
    ref = desk.save()
    saved = desk.confirm(ref)
    assert saved.memory_confirmed == []
    assert [problem.code for problem in saved.warnings] == ["NothingToConfirm"]
    assert not saved.changed
    assert desk.verdict(ref) == "unanchored"


@pytest.mark.parametrize("how", ["stale", "superseded", "unknown", "retired here", "deleted here"])
def test_what_is_not_there_or_not_live_cannot_be_confirmed(desk: Any, ref: str, tree: Any, how: str) -> None:
    other = desk.save("src/a.py", title="Other")
    intent: dict[str, Any] = {"task": "t", "confirm": [{"id": ref}]}
    retire = [{"id": ref, "reason": "gone"}]
    if how == "stale":
        save_nodes(desk.project, {"task": "t", "stale": retire})
    elif how == "superseded":
        save_nodes(desk.project, {"task": "t", "supersede": [{"id": ref, "superseded_by": other, "reason": "better"}]})
    elif how == "unknown":
        intent["confirm"] = [{"id": "feature.retry-quue"}]
    else:
        intent["stale" if how == "retired here" else "delete"] = retire
    before = tree(desk.repo / ".memory")
    with pytest.raises(InputError) as raised:
        save_nodes(desk.project, intent)
    issues = raised.value.details["issues"]
    assert [issue["field"] for issue in issues] == ["confirm.0.id"]
    expected = {"unknown": "MemoryObjectNotFound", "stale": "StatusNotAllowed", "superseded": "StatusNotAllowed"}
    assert issues[0]["code"] == expected.get(how, "Contradiction")
    assert tree(desk.repo / ".memory") == before


def test_a_closed_question_can_be_confirmed(desk: Any) -> None:
    desk.write("src/a.py", CODE)
    node = {"kind": "question", "title": "Who?", "body": "B.", "anchors": ["src/a.py"], "status": "open"}
    save_nodes(desk.project, {"task": "t", "nodes": [node]})
    desk.update("question.who", status="closed")
    desk.write("src/a.py", EDITED)
    assert desk.confirm("question.who").memory_confirmed == ["question.who"]


@pytest.mark.parametrize(
    "confirm",
    [
        [{}],
        [{"id": "no id"}],
        [{"id": "feature.retry-queue", "reason": ""}],
        [{"id": "feature.retry-queue", "because": "x"}],
        ["feature.retry-queue"],
        {"id": "feature.retry-queue"},
    ],
    ids=["no id", "bad id", "empty reason", "unknown field", "a text", "no list"],
)
def test_a_confirmation_of_the_wrong_shape_is_refused_by_name(desk: Any, ref: str, tree: Any, confirm: Any) -> None:
    desk.write("src/a.py", EDITED)
    before = tree(desk.repo / ".memory")
    with pytest.raises(InputError) as raised:
        save_nodes(desk.project, {"task": "t", "confirm": confirm})
    assert raised.value.details["issues"][0]["field"].startswith("confirm")
    assert tree(desk.repo / ".memory") == before


def test_the_command_confirms(memory: Any, desk: Any, ref: str) -> None:
    desk.write("src/a.py", EDITED)
    run = memory("save", "--stdin", "--json", stdin={"task": "t", "confirm": [{"id": ref}]})
    assert run.code == 0, run.out
    assert run.data["memory_confirmed"] == [ref]
    assert memory("inspect", ref, "--json").data["object"]["verdict"] == "fresh"


# -- where there is no commit -----------------------------------------------------------------


def test_before_the_first_commit_contents_are_sealed_without_one(desk: Any) -> None:
    desk.write("src/a.py", CODE)
    ref = desk.save("src/a.py", "src/", "src/a.py#send")
    assert len(desk.seals(ref)) == 3
    assert "commit" not in desk.sidecar(ref)["source"]
    assert desk.verdict(ref) == "fresh"
    desk.commit("first")
    assert desk.verdict(ref) == "fresh"


@pytest.mark.proof
def test_seals_of_a_repository_with_longer_digests_hold_after_the_commit(desk: Any, tmp_path: Path) -> None:
    desk.git("init", "--quiet", "--object-format=sha256", tmp_path / "long")
    os.rename(desk.repo / ".memory", tmp_path / "long/.memory")
    long = desk.elsewhere(tmp_path / "long")
    long.commit("empty")
    long.write("src/a.py", CODE)
    refs = [long.save(anchor, title=f"On {n}") for n, anchor in enumerate(("src/a.py", "src/", "src/*.py"))]
    assert [long.verdict(ref) for ref in refs] == ["fresh"] * 3
    long.git("add", "src")
    assert [long.verdict(ref) for ref in refs] == ["fresh"] * 3
    long.commit("as is")
    assert [long.verdict(ref) for ref in refs] == ["fresh"] * 3
    long.write("src/a.py", EDITED)
    assert [long.verdict(ref) for ref in refs] == ["changed"] * 3
