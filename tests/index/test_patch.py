"""A change inside one file, taken over without reading the file; and when it must be read all the same."""

import os
from collections.abc import Iterable, Iterator
from typing import Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quire.index.catalog import Index
from quire.index.database import open_in_memory
from quire.index.open_index import change_with_index, open_index
from quire.index.search import Filter
from quire.model.records import Edge, Problem, Record, RecordSummary
from quire.model.sources import Item, Patch
from quire.model.vocabulary import LayerName
from thorough import examples

PATH = "facts.jsonl"


class Page:
    """A layer with one file that holds many records, kept here; it counts how often it is read."""

    layer: LayerName = "facts"

    def __init__(self, *items: Item, stamp: str = "1") -> None:
        self.items = list(items)
        self.stamp = stamp
        self.reads = 0

    def folder_stamps(self) -> dict[str, int]:
        return {}

    def stamps(self, paths: Iterable[str] | None = None) -> dict[str, str]:
        return {PATH: self.stamp} if self.stamp else {}

    def read(self, paths: Iterable[str]) -> Iterator[Item]:
        self.reads += 1
        return iter(self.items if PATH in list(paths) else [])


def record(name: str, text: str = "Some text.", **more: Any) -> Record:
    fields = {"status": "active", "section": "Specs", "names": (f"text:{text}",), "raw": f"{name}{text}{more}".encode()}
    return Record(
        ref=f"fact:{name}", layer="facts", kind="fact", title=text, text=text, path=PATH, **{**fields, **more}
    )


def edge(name: str, source: str, target: str, status: str = "active") -> Edge:
    return Edge(ref=f"edge:{name}", source=source, predicate="enables", target=target, status=status, path=PATH)


def patch(*items: Item, before: str = "1", after: str = "2", gone: Iterable[str] = ()) -> Patch:
    return Patch(layer="facts", path=PATH, before=before, after=after, gone=list(gone), items=items)


@pytest.fixture
def index() -> Iterator[Index]:
    index = Index(open_in_memory())
    yield index
    index.close()


def refs(index: Index) -> list[str]:
    return sorted(item.ref for item in index.records("facts"))


def counted(index: Index) -> dict[str, int]:
    return {status: number for (_, _, status), number in index.section_counts("facts").items()}


# -- what is taken over ---------------------------------------------------------------------


def test_what_is_new_is_taken_over_without_a_look_at_the_file(index: Index) -> None:
    page = Page(record("a", "One."), RecordSummary(b"old"))
    index.bring_up([page], None)
    new = [record("b", "Two.", names=("text:Two.", "session:s")), edge("e", "fact:a", "fact:b"), RecordSummary(b"new")]
    page.stamp = "2"
    index.bring_up([page], patch(*new))
    assert page.reads == 1
    assert refs(index) == ["fact:a", "fact:b"]
    assert [item.ref for item in index.named("session:s")] == ["fact:b"]
    assert [item.ref for item in index.edges_of("fact:a")] == ["edge:e"]
    assert (index.summary("facts"), index.stamp("facts", PATH)) == (b"new", "2")
    assert counted(index) == {"active": 2}
    # And the file, as it is now, is known.
    index.bring_up([page], None)
    assert page.reads == 1


def test_what_changed_goes_and_comes(index: Index) -> None:
    page = Page(record("a", "One word.", names=("text:a", "fact:twin")), edge("e", "fact:a", "fact:x"))
    index.bring_up([page], None)
    changed = record("a", "Another word.", status="archived", names=("text:b",))
    index.bring_up(
        [page], patch(changed, edge("e", "fact:a", "fact:y", "archived"), gone=["fact:a", "edge:e", "fact:none"])
    )
    assert index.records("facts") == [changed] or [item.text for item in index.records("facts")] == ["Another word."]
    assert (index.named("text:a"), index.named("fact:twin")) == ([], [])
    assert [item.ref for item in index.named("text:b")] == ["fact:a"]
    assert (index.edges_of("fact:x"), [item.status for item in index.edges_of("fact:y")]) == ([], ["archived"])
    assert counted(index) == {"archived": 1}
    searcher = index.searcher()
    found = [searcher.any_of([word], Filter(), 9) for word in ("one", "another", "word")]
    assert [len(candidates) for candidates in found] == [0, 1, 1]
    assert index.edge_count("facts") == 1


def test_what_only_goes(index: Index) -> None:
    page = Page(record("a"), record("b", "Two."))
    index.bring_up([page], None)
    index.bring_up([page], patch(gone=["fact:a"]))
    assert refs(index) == ["fact:b"]
    assert index.named("text:Some text.") == []


def test_refs_of_another_layer_stay(index: Index) -> None:
    class Other(Page):
        layer: LayerName = "graph"

    other = Other(Record(ref="fact:a", layer="graph", kind="feature", title="T", text="x", status="active", path=PATH))
    page = Page(record("a"))
    index.bring_up([other, page], None)
    index.bring_up([other, page], patch(gone=["fact:a"]))
    assert [item.ref for item in index.records("graph")] == ["fact:a"]
    assert refs(index) == []


def test_the_first_lines_of_a_file_that_was_not_there(index: Index) -> None:
    page = Page(stamp="")
    index.bring_up([page], None)
    page.stamp, page.reads = "1", 0
    index.bring_up([page], patch(record("a"), before="", after="1"))
    assert (refs(index), page.reads) == (["fact:a"], 0)


# -- when the file is read ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"), [("0", "2"), ("", "2"), ("1", ""), ("2", "2")], ids=["older", "none", "unsure", "newer"]
)
def test_where_it_does_not_fit_the_file_is_read(index: Index, before: str, after: str) -> None:
    page = Page(record("a"))
    index.bring_up([page], None)
    page.items, page.stamp, page.reads = [record("a"), record("b", "By somebody else."), record("c", "Ours.")], "3", 0
    index.bring_up([page], patch(record("c", "Ours."), before=before, after=after))
    assert page.reads == 1
    assert refs(index) == ["fact:a", "fact:b", "fact:c"]
    assert index.stamp("facts", PATH) == "3"


def test_a_patch_that_another_process_has_taken_over_counts_once(index: Index) -> None:
    page = Page(record("a"))
    index.bring_up([page], None)
    page.items, page.stamp = [record("a"), record("b", "Two.")], "2"
    index.bring_up([page], None)
    index.bring_up([page], patch(record("b", "Two.")))
    assert refs(index) == ["fact:a", "fact:b"]
    assert counted(index) == {"active": 2}


def test_the_other_layers_are_compared_as_ever(index: Index) -> None:
    class Other(Page):
        layer: LayerName = "graph"

    other, page = Other(stamp=""), Page(record("a"))
    index.bring_up([other, page], None)
    other.items = [Record(ref="feature.x", layer="graph", kind="feature", title="T", text="x", status="a", path=PATH)]
    other.stamp = "9"
    index.bring_up([other, page], patch(record("b", "Two.")))
    assert [item.ref for item in index.records("graph")] == ["feature.x"]


def test_a_patch_is_taken_over_whole_or_not_at_all(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    page = Page(record("a"), RecordSummary(b"old"))
    index.bring_up([page], None)
    broken = record("c", "Broken.")
    real = "quire.index.writer.passages"

    def fail(item: Record) -> list[str]:
        if item.ref == "fact:c":
            raise apsw.FullError("no room")
        return [item.text]

    monkeypatch.setattr(real, fail)
    with pytest.raises(apsw.FullError):
        index.bring_up([page], patch(record("b", "Two."), broken, RecordSummary(b"new"), gone=["fact:a"]))
    assert refs(index) == ["fact:a"]
    assert (index.summary("facts"), index.stamp("facts", PATH), counted(index)) == (b"old", "1", {"active": 1})


# -- a change with its index ----------------------------------------------------------------


def test_a_change_is_planned_written_and_taken_over(tmp_path: Any) -> None:
    page = Page(record("a"))
    folder = str(tmp_path)

    def write(planned: list[str]) -> Patch:
        assert planned == ["fact:a"]
        page.items.append(record("b", "Two."))
        page.stamp = "2"
        return patch(record("b", "Two."))

    assert change_with_index(folder, [page], refs, write) == ["fact:a"]
    assert page.reads == 1
    index = open_index(folder, [page])
    assert (refs(index), page.reads) == (["fact:a", "fact:b"], 1)
    index.close()


def test_a_change_that_writes_nothing(tmp_path: Any) -> None:
    page = Page(record("a"))
    assert change_with_index(str(tmp_path), [page], refs, lambda _planned: None) == ["fact:a"]


def test_what_goes_wrong_while_writing_is_told(tmp_path: Any) -> None:
    def write(_planned: list[str]) -> Patch:
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        change_with_index(str(tmp_path), [Page(record("a"))], refs, write)


def test_planning_is_done_again_where_the_index_is_damaged_but_writing_never(tmp_path: Any) -> None:
    page = Page(record("a"))
    planned, written = [], []

    def plan(index: Index) -> int:
        planned.append(refs(index))
        if len(planned) == 1:
            raise apsw.CorruptError("damaged")
        return len(planned)

    def write(number: int) -> Patch:
        written.append(number)
        raise apsw.CorruptError("damaged")

    with pytest.raises(apsw.CorruptError):
        change_with_index(str(tmp_path), [page], plan, write)
    assert (planned, written) == ([["fact:a"], ["fact:a"]], [2])


def test_an_index_that_cannot_take_it_over_does_not_undo_the_change(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = Page(record("a"))

    def write(_planned: list[str]) -> Patch:
        page.items, page.stamp = [record("a"), record("b", "Two.")], "2"
        return patch(record("b", "Two."))

    with monkeypatch.context() as broken:
        broken.setattr(Index, "_patch", _full)
        assert change_with_index(str(tmp_path), [page], refs, write) == ["fact:a"]
    index = open_index(str(tmp_path), [page])
    assert refs(index) == ["fact:a", "fact:b"]
    index.close()


def _full(*_arguments: Any) -> None:
    raise apsw.FullError("no room")


# -- the file read again --------------------------------------------------------------------


def test_of_a_file_that_is_read_again_what_did_not_change_stays(index: Index) -> None:
    page = Page(
        record("a", "One."), record("b", "Two."), record("c", "Three."), Problem(code="x", message="m", path=PATH)
    )
    index.bring_up([page], None)
    before = dict(index._connection.execute("SELECT ref, id FROM records"))
    page.items, page.stamp = [record("a", "One."), record("b", "Two, changed."), record("d", "Four.")], "2"
    index.bring_up([page], None)
    after = dict(index._connection.execute("SELECT ref, id FROM records"))
    assert set(after) == {"fact:a", "fact:b", "fact:d"}
    assert after["fact:a"] == before["fact:a"]
    assert counted(index) == {"active": 3}
    assert index.problems() == []
    held = index._connection.execute("SELECT count(*) FROM vectors").get
    assert held == index._connection.execute("SELECT count(*) FROM signs").get == 3


NAMES = st.sampled_from("abcd")
TEXTS = st.sampled_from(["One word.", "Two words.", "Three more words."])
RECORDS = st.dictionaries(NAMES, st.tuples(TEXTS, st.sampled_from(["active", "archived"]), st.sampled_from(["", "s"])))


def of(found: dict[str, tuple[str, str, str]]) -> list[Record]:
    return [record(name, text, status=status, scope=scope) for name, (text, status, scope) in found.items()]


def dump(index: Index) -> list[Any]:
    queries = (
        "SELECT ref, text, status, scope, raw FROM records",
        "SELECT ref, name FROM names LEFT JOIN records ON id = record",
        "SELECT layer, kind, status, stage, section, scope, number FROM tallies WHERE number != 0",
        "SELECT term, doc, cnt FROM vocabulary",
        "SELECT ref, vector FROM vectors LEFT JOIN records ON records.id = record",
        "SELECT count(*) FROM signs",
    )
    return [sorted(index._connection.execute(query)) for query in queries]


@settings(max_examples=examples(60))
@given(st.lists(st.tuples(RECORDS, st.booleans()), min_size=1, max_size=5))
def test_whatever_comes_after_whatever(steps: list[tuple[dict[str, tuple[str, str, str]], bool]]) -> None:
    """Patched or read again: what is known is what an index that reads only the last state knows."""
    index = Index(open_in_memory())
    page = Page(stamp="0")
    index.bring_up([page], None)
    known: dict[str, tuple[str, str, str]] = {}
    for number, (state, patched) in enumerate(steps, start=1):
        page.items, page.stamp = list(of(state)), str(number)
        if patched:
            changed = {name: value for name, value in state.items() if known.get(name) != value}
            gone = [f"fact:{name}" for name in known if name not in state or name in changed]
            index.bring_up([page], patch(*of(changed), before=str(number - 1), after=str(number), gone=gone))
        else:
            index.bring_up([page], None)
        known = state
    fresh = Index(open_in_memory())
    fresh.bring_up([Page(*of(known))], None)
    assert dump(index) == dump(fresh)
    index.close()
    fresh.close()


def test_the_folder_of_the_index_may_go_at_any_time(tmp_path: Any) -> None:
    page = Page(record("a"))
    folder = str(tmp_path / "index")
    change_with_index(folder, [page], refs, lambda _planned: None)
    for name in os.listdir(folder):
        os.unlink(os.path.join(folder, name))
    assert change_with_index(folder, [page], refs, lambda _planned: None) == ["fact:a"]
