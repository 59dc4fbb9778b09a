"""Stores of a given size, written directly as canonical files: the same text for the same number."""

from __future__ import annotations

import itertools
import random
import subprocess
from pathlib import Path

from quire.files.digests import hex_digest
from quire.files.json_files import compact
from quire.index.vector_table import embedder
from quire.layers.graph.codec import body_hash, encode_fields, relation_hash
from quire.layers.graph.types import Event
from quire.model.ids import kind_of, relation_stem, slug_of

WORDS = (
    *("invoice", "webhook", "retry", "queue", "worker", "render", "template", "export", "ledger", "payment", "berth"),
    *("season", "marina", "customer", "refund", "session", "token", "cache", "index", "schedule", "report", "import"),
    *("mobile", "offline", "search", "filter", "audit", "limit", "budget", "currency", "price", "tax", "batch"),
    *("stream", "event", "signal", "policy", "owner", "guest", "plan", "trial", "upgrade", "archive", "restore"),
)
KINDS = ("feature", "feature", "decision", "gotcha", "question")
NOW = "2026-03-02T11:19:00+00:00"

__all__ = ["make_records", "make_store", "vocabulary"]


def make_store(root: Path, nodes: int, memory: str) -> None:
    """A git repository with a memory of this many nodes, as many relations, and half of the nodes anchored."""
    chance = random.Random(nodes)
    (root / "src").mkdir(parents=True)
    for folder in range(20):
        path = root / "src" / f"part-{folder}"
        path.mkdir()
        (path / "main.py").write_text("print('part')\n")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    subprocess.run([memory, "init", "--json"], cwd=root, check=True, capture_output=True)
    store = root / ".memory"
    (store / "relations").mkdir(exist_ok=True)
    ids: list[str] = []
    events = []
    for number in range(nodes):
        node_id = _write_node(store, number, chance)
        ids.append(node_id)
        events.append(Event(event="memory.created", actor="agent", timestamp=NOW, id=node_id))
    for number, source in enumerate(ids):
        _write_relation(store, source, ids[(number * 7 + 1) % len(ids)])
    with (store / "events.jsonl").open("ab") as log:
        log.writelines(compact(_fields(event)) + b"\n" for event in events)


def _fields(event: Event) -> dict[str, object]:
    return {"actor": event.actor, "event": event.event, "id": event.id, "timestamp": event.timestamp}


def _write_node(store: Path, number: int, chance: random.Random) -> str:
    kind = KINDS[number % len(KINDS)]
    title = " ".join(chance.choices(WORDS, k=4)).capitalize() + f" {number}"
    node_id = f"{kind}.{title.lower().replace(' ', '-')}"
    body = " ".join(chance.choices(WORDS, k=60)).capitalize() + "."
    fields = _node_fields(kind, node_id, title, body)
    if kind == "feature":
        fields["stage"] = ("building", "shipped", "paused", "idea")[number % 4]
    if number % 2:
        fields["anchors"] = [f"src/part-{number % 20}/"]
    (store / "memory" / f"{slug_of(node_id)}.md").write_bytes(body.encode())
    (store / "memory" / f"{slug_of(node_id)}.json").write_bytes(encode_fields(fields))
    assert kind_of(node_id) == kind
    return node_id


def _write_relation(store: Path, source: str, target: str) -> None:
    if source == target:
        return
    stem = relation_stem(source, "affects", target, hex_digest)
    fields: dict[str, object] = {
        "id": f"rel.{stem}",
        "from": source,
        "predicate": "affects",
        "to": target,
        "status": "active",
        "created_at": NOW,
        "updated_at": NOW,
    }
    fields["content_hash"] = relation_hash(fields)
    (store / "relations" / f"{stem}.json").write_bytes(encode_fields(fields))


def vocabulary() -> list[str]:
    """Real words in the order of how common they are: those that the embedding table knows whole."""
    table = embedder()
    texts = [bytes(table._map[table._texts + a : table._texts + b]) for a, b in itertools.pairwise(table._starts)]
    return [text.decode() for text in texts if len(text) > 2 and text.isalpha() and text.isascii()]


def make_records(store: Path, number: int) -> list[str]:
    """Nodes of eighty words without relations, their words as unevenly spread as those of prose; their bodies."""
    chance = random.Random(number)
    words = vocabulary()
    weights = [1 / (rank + 3) for rank in range(len(words))]
    (store / "relations").mkdir(exist_ok=True)
    texts = []
    picked = iter(())
    for at in range(number):
        if at % 1000 == 0:
            picked = iter(chance.choices(words, weights, k=84 * min(1000, number - at)))
        title = " ".join(next(picked) for _ in range(4)).capitalize()
        body = " ".join(next(picked) for _ in range(80)).capitalize() + "."
        kind = KINDS[at % len(KINDS)]
        stem = f"n{at}-{title.lower().replace(' ', '-')}"
        fields = _node_fields(kind, f"{kind}.{stem}", title, body)
        (store / "memory" / f"{stem}.md").write_bytes(body.encode())
        (store / "memory" / f"{stem}.json").write_bytes(encode_fields(fields))
        texts.append(body)
    return texts


def _node_fields(kind: str, node_id: str, title: str, body: str) -> dict[str, object]:
    return {
        "id": node_id,
        "type": kind,
        "status": "open" if kind == "question" else "active",
        "title": title,
        "body_path": f"memory/{slug_of(node_id)}.md",
        "tags": [],
        "evidence": [],
        "source": {"kind": "agent", "task": "benchmark"},
        "content_hash": body_hash(body),
        "created_at": NOW,
        "updated_at": NOW,
    }
