"""A small index of given records and relations, to ask questions of without files."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from quire.index.catalog import Index
from quire.index.database import open_in_memory
from quire.model.records import Edge, Record
from quire.model.vocabulary import LayerName
from quire.retrieval.answer import Answer
from quire.retrieval.query import Ask, ask


class Shelf:
    """A layer whose records and relations lie nowhere but here."""

    layer: LayerName = "graph"

    def __init__(self, items: Iterable[Record | Edge]) -> None:
        self.items = {item.path: item for item in items}

    def folder_stamps(self) -> dict[str, int]:
        return {}

    def stamps(self, paths: Iterable[str] | None = None) -> dict[str, str]:
        return dict.fromkeys(self.items if paths is None else paths, "1")

    def read(self, paths: Iterable[str]) -> Iterator[Record | Edge]:
        return (self.items[path] for path in paths)


class Governs:
    """A rule over records, as an answer about files asks for it."""

    def __init__(self, rule: Callable[[Record], float]) -> None:
        self.rule = rule

    def __call__(self, record: Record) -> float:
        return self.rule(record)

    def files(self, record: Record) -> tuple[str, ...]:
        return record.anchors


class Asked:
    """Ask an index of these records and relations."""

    def __init__(self, items: Iterable[Record | Edge]) -> None:
        self.index = Index(open_in_memory())
        self.index.bring_up([Shelf(items)], None)

    def __call__(self, question: str = "", *, budget: int = 2000, limit: int = 10, **more: Any) -> Answer:
        if "governs" in more:
            more["governs"] = Governs(more["governs"])
        return ask(self.index, Ask(question=question, budget=budget, limit=limit, **more))

    def refs(self, question: str, **more: Any) -> list[str]:
        return [hit.record.ref for hit in self(question, **more).hits]


@pytest.fixture
def shelf() -> Iterator[Callable[..., Asked]]:
    opened: list[Asked] = []

    def fill(*items: Record | Edge) -> Asked:
        opened.append(Asked(items))
        return opened[-1]

    yield fill
    for asked in opened:
        asked.index.close()


def make_record(ref: str, title: str, text: str, **more: Any) -> Record:
    kind, _, slug = ref.partition(".")
    fields = {"layer": "graph", "status": "open" if kind == "question" else "active", **more}
    return Record(ref=ref, kind=kind, title=title, text=text, path=f"memory/{kind}-{slug}.json", **fields)


def make_edge(source: str, predicate: str, target: str, status: str = "active", **more: Any) -> Edge:
    name = f"{source}-{predicate}-{target}".replace(".", "-")
    return Edge(
        ref=f"rel.{name}",
        source=source,
        predicate=predicate,
        target=target,
        status=status,
        path=f"relations/{name}.json",
        **more,
    )


@pytest.fixture(scope="session")
def record() -> Callable[..., Record]:
    return make_record


@pytest.fixture(scope="session")
def edge() -> Callable[..., Edge]:
    return make_edge
