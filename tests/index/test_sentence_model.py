"""The full network over the documents: right to the digit, continued when interrupted, never mixed with others."""

import json
import math
import struct
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import apsw
import msgspec
import pytest

from quire.index import model_vectors
from quire.index.open_index import open_index, rebuild_index
from quire.index.search import Filter
from quire.index.sentence_model import SentenceModel, TensorFile, _Config, open_sentence_model
from quire.index.vector_table import Vector, embedder
from quire.model.errors import InputError, LockBusy, NotReady, QuireError, StorageFailed
from quire.model.records import Record
from quire.model.vocabulary import LayerName
from quire.project import Project
from quire.verbs.admin.rebuild import Rebuild, rebuild
from quire.verbs.ask.answers import answer_question
from quire.verbs.graph.save import save_nodes

numpy = pytest.importorskip("numpy")

HIDDEN, WIDE, LAYERS, HEADS, PLACES, PIECES = 384, 96, 2, 6, 260, 30_522
CONFIG = {
    "hidden_size": HIDDEN,
    "intermediate_size": WIDE,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "max_position_embeddings": PLACES,
    "vocab_size": PIECES,
    "type_vocab_size": 2,
    "layer_norm_eps": 1e-12,
    "hidden_act": "gelu",
    "model_type": "bert",
}
TEXTS = [
    "retry queue",
    "",
    "The webhook worker drains the queue; naïve café 名前 zzzqqqxx" + "y" * 120,
    "retry",
    "invoice " * 400,
    "sends again",
    "queue retry",
]
ALL = Filter()
Tensors = dict[str, Any]


def tensors(seed: int = 1, mixing: float = 0.005) -> Tensors:
    """A small network whose vectors are near the static table's: its words are the table's rows, little mixed."""
    chance = numpy.random.default_rng(seed)

    def some(*shape: int, scale: float = 0.03, around: float = 0.0) -> Any:
        return (around + scale * chance.standard_normal(shape)).astype("<f4")

    table = embedder()
    rows = numpy.frombuffer(table._map, numpy.int8, PIECES * HIDDEN, table._rows).reshape(PIECES, HIDDEN)
    found = {
        "embeddings.word_embeddings.weight": (rows / 50).astype("<f2"),
        "embeddings.position_embeddings.weight": some(PLACES, HIDDEN),
        "embeddings.token_type_embeddings.weight": some(2, HIDDEN),
        "embeddings.LayerNorm.weight": some(HIDDEN, around=1),
        "embeddings.LayerNorm.bias": some(HIDDEN),
        "pooler.dense.weight": some(HIDDEN, HIDDEN),
    }
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}."
        for part in ("attention.self.query", "attention.self.key", "attention.self.value"):
            found |= {f"{name}{part}.weight": some(HIDDEN, HIDDEN), f"{name}{part}.bias": some(HIDDEN)}
        for part, height, width, scale in (
            ("attention.output.dense", HIDDEN, HIDDEN, mixing),
            ("intermediate.dense", WIDE, HIDDEN, 0.1),
            ("output.dense", HIDDEN, WIDE, mixing),
        ):
            found[f"{name}{part}.weight"] = some(height, width, scale=scale)
            found[f"{name}{part}.bias"] = some(height, scale=scale)
        for norm in ("attention.output.LayerNorm", "output.LayerNorm"):
            found |= {f"{name}{norm}.weight": some(HIDDEN, around=1), f"{name}{norm}.bias": some(HIDDEN)}
    return found


def write_weights(path: Path, held: Tensors) -> None:
    head: dict[str, Any] = {"__metadata__": {"format": "np"}}
    at = 0
    for name, values in held.items():
        kind = {"float32": "F32", "float16": "F16", "float64": "F64"}[str(values.dtype)]
        head[name] = {"dtype": kind, "shape": list(values.shape), "data_offsets": [at, at + values.nbytes]}
        at += values.nbytes
    data = json.dumps(head).encode()
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(data)) + data)
        file.writelines(values.tobytes() for values in held.values())


def write_model(folder: Path, held: Tensors) -> Path:
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(CONFIG))
    write_weights(folder / "model.safetensors", held)
    return folder


@pytest.fixture(scope="module")
def held() -> Tensors:
    return tensors()


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory, held: Tensors) -> str:
    return str(write_model(tmp_path_factory.mktemp("models") / "tiny", held))


@pytest.fixture(scope="module")
def teacher(model: str) -> SentenceModel:
    return open_sentence_model(model)


# -- the network --------------------------------------------------------------------------------


def slowly(held: Tensors, text: str) -> Any:
    """The same network once more, piece by piece and head by head, as its papers put it."""
    ids = [101, *embedder().pieces(text, 254, 100), 102]

    def linear(name: str, vector: Any) -> Any:
        return held[f"{name}.weight"].astype(float) @ vector + held[f"{name}.bias"].astype(float)

    def normal(name: str, vector: Any) -> Any:
        centred = vector - vector.mean()
        return held[f"{name}.weight"] * centred / math.sqrt((centred**2).mean() + 1e-12) + held[f"{name}.bias"]

    words, places = held["embeddings.word_embeddings.weight"], held["embeddings.position_embeddings.weight"]
    kind = held["embeddings.token_type_embeddings.weight"][0].astype(float)
    states = [normal("embeddings.LayerNorm", words[i] + places[at].astype(float) + kind) for at, i in enumerate(ids)]
    size = HIDDEN // HEADS
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}."
        query, key, value = (
            numpy.array([linear(f"{name}attention.self.{part}", state) for state in states])
            for part in ("query", "key", "value")
        )
        after = []
        for at, state in enumerate(states):
            seen = []
            for head in range(HEADS):
                own = slice(head * size, (head + 1) * size)
                scores = numpy.exp(key[:, own] @ query[at, own] / math.sqrt(size))
                seen.append((scores / scores.sum()) @ value[:, own])
            joined = linear(f"{name}attention.output.dense", numpy.concatenate(seen))
            state = normal(f"{name}attention.output.LayerNorm", state + joined)
            inner = linear(f"{name}intermediate.dense", state)
            active = numpy.array([x * 0.5 * (1 + math.erf(x / math.sqrt(2))) for x in inner])
            after.append(normal(f"{name}output.LayerNorm", state + linear(f"{name}output.dense", active)))
        states = after
    mean = sum(states) / len(states)
    return mean / math.sqrt(mean @ mean)


@pytest.mark.proof
def test_it_computes_what_a_slow_and_plain_network_computes(tmp_path: Path) -> None:
    held = tensors(mixing=0.05)
    folder = write_model(tmp_path / "model", held)
    network = SentenceModel(msgspec.convert(CONFIG, _Config), TensorFile(str(folder / "model.safetensors")))
    for text, found in zip(TEXTS, network.directions(TEXTS), strict=True):
        assert numpy.abs(found - slowly(held, text)).max() < 1e-4


@pytest.mark.proof
def test_a_text_has_one_vector_whatever_runs_beside_it(teacher: SentenceModel) -> None:
    many = teacher.embed([*TEXTS, *(f"note {n} about {'queues ' * n}" for n in range(20))])
    alone = [teacher.embed([text])[0] for text in TEXTS]
    assert all(cosine(a, b) > 0.9999 for a, b in zip(many, alone, strict=False))
    assert teacher.embed([]) == []


def test_its_vectors_are_made_like_those_of_the_table(teacher: SentenceModel) -> None:
    own = embedder().embed("retry queue")
    assert own is not None
    for vector in (own, *teacher.embed(TEXTS)):
        values = memoryview(vector.values).cast("b")
        assert len(values) == HIDDEN
        assert max(map(abs, values)) > 60
        signs = [bool(vector.bits[n // 8] >> (7 - n % 8) & 1) for n in range(HIDDEN)]
        assert signs == [value < 0 for value in values]
    full = teacher.directions(TEXTS)
    for row, vector in zip(full, teacher.embed(TEXTS), strict=True):
        values = numpy.frombuffer(vector.values, numpy.int8).astype(float)
        assert row @ values / numpy.linalg.norm(values) > 0.999


def cosine(one: Vector, other: Vector) -> float:
    a, b = (numpy.frombuffer(vector.values, numpy.int8).astype(float) for vector in (one, other))
    return float(a @ b / numpy.linalg.norm(a) / numpy.linalg.norm(b))


def test_its_space_is_named_after_its_weights(teacher: SentenceModel, tmp_path: Path) -> None:
    assert teacher.space.startswith("minilm-l6-v2:")
    assert embedder().shares(teacher.space)
    other = open_sentence_model(str(write_model(tmp_path / "other", tensors(seed=2))))
    assert other.space != teacher.space


# -- what is no teacher -------------------------------------------------------------------------


def _cut(path: Path, size: int) -> None:
    with path.open("r+b") as file:
        file.truncate(size)


def _config(**changed: Any) -> Callable[[Path, Tensors], None]:
    return lambda folder, held: (folder / "config.json").write_text(json.dumps({**CONFIG, **changed})) and None


def _weights(**changed: Any) -> Callable[[Path, Tensors], None]:
    def change(folder: Path, held: Tensors) -> None:
        named = {name.replace("__", "."): values for name, values in changed.items()}
        left = {name: values for name, values in {**held, **named}.items() if values is not None}
        write_weights(folder / "model.safetensors", left)

    return change


def _short_head(folder: Path, held: Tensors) -> None:
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", 2**62) + b"{}")


def _bad_head(folder: Path, held: Tensors) -> None:
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", 9) + b'{"a": [1,')


def _bad_offsets(folder: Path, held: Tensors) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes().replace(b'"data_offsets": [0, ', b'"data_offsets": [8, ', 1))


BAD: dict[str, tuple[Callable[[Path, Tensors], Any], str]] = {
    "no config": (lambda folder, held: (folder / "config.json").unlink(), "no file config.json"),
    "no weights": (lambda folder, held: (folder / "model.safetensors").unlink(), "no file model.safetensors"),
    "config is no JSON": (lambda folder, held: (folder / "config.json").write_text("{"), "cannot be used"),
    "config lacks a field": (lambda folder, held: (folder / "config.json").write_text("{}"), "hidden_size"),
    "layers are text": (_config(num_hidden_layers="6"), "num_hidden_layers"),
    "no heads": (_config(num_attention_heads=0), "num_attention_heads"),
    "heads do not divide": (_config(num_attention_heads=7), "other sizes"),
    "another width": (_config(hidden_size=768), "other sizes"),
    "another vocabulary": (_config(vocab_size=28_996), "other sizes"),
    "another activation": (_config(hidden_act="relu"), "other sizes"),
    "more layers than there are": (_config(num_hidden_layers=3), "no tensor encoder.layer.2."),
    "a tensor is missing": (_weights(embeddings__LayerNorm__bias=None), "no tensor embeddings.LayerNorm.bias"),
    "a tensor of another shape": (
        _weights(embeddings__LayerNorm__bias=numpy.zeros(7, "<f4")),
        r"embeddings.LayerNorm.bias as F32 \[7\], not F32 or F16 \[384\]",
    ),
    "a tensor of another type": (_weights(embeddings__LayerNorm__bias=numpy.zeros(HIDDEN, "<f8")), "as F64"),
    "numbers that are none": (_weights(embeddings__LayerNorm__bias=numpy.full(HIDDEN, numpy.nan, "<f4")), "meaning"),
    "another network": (
        _weights(embeddings__word_embeddings__weight=numpy.random.default_rng(3).random((PIECES, HIDDEN), "f4")),
        "another meaning",
    ),
    "cut short": (lambda folder, held: _cut(folder / "model.safetensors", 9_000_000), "cut short"),
    "nothing": (lambda folder, held: _cut(folder / "model.safetensors", 0), "cannot be read"),
    "three bytes": (lambda folder, held: _cut(folder / "model.safetensors", 3), "cut short"),
    "a head without end": (_short_head, "cut short"),
    "a head that is no JSON": (_bad_head, "cannot be read"),
    "offsets that do not fit": (_bad_offsets, "cut short"),
}


@pytest.mark.proof(keep=3)
@pytest.mark.parametrize("name", BAD)
def test_what_is_no_teacher_is_refused_with_the_reason(tmp_path: Path, held: Tensors, model: str, name: str) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    for file in ("config.json", "model.safetensors"):
        (folder / file).write_bytes((Path(model) / file).read_bytes())
    spoil, reason = BAD[name]
    spoil(folder, held)
    with pytest.raises(InputError, match=reason) as raised:
        open_sentence_model(str(folder))
    assert str(folder) in raised.value.message
    assert "memory docs semantic" in (raised.value.hint or "")


def test_without_numpy_the_error_says_what_to_install(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(NotReady) as raised:
        open_sentence_model(model)
    assert "pip install numpy" in (raised.value.hint or "")


# -- the index ----------------------------------------------------------------------------------


class Notes:
    """A layer of records that lie nowhere but here."""

    layer: LayerName = "graph"

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = dict(enumerate(texts, start=1))

    def folder_stamps(self) -> dict[str, int]:
        return {"": len(self.texts)}

    def stamps(self, paths: Iterable[str] | None = None) -> dict[str, str]:
        return {f"n{number}": str(hash(text)) for number, text in self.texts.items()}

    def read(self, paths: Iterable[str]) -> Iterator[Record]:
        fields: dict[str, Any] = {"layer": "graph", "kind": "decision", "status": "active", "title": ""}
        return (Record(ref=f"decision.{p}", text=self.texts[int(p[1:])], path=p, **fields) for p in paths)


TOPICS = ("whales migrate south", "onion soup with broth", "retry queue worker", "berths of a marina", "x 名前 " * 70)


@pytest.fixture
def notes(monkeypatch: pytest.MonkeyPatch) -> Notes:
    monkeypatch.setattr(model_vectors, "_RECORDS_AT_ONCE", 2)
    return Notes(TOPICS)


def embedded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many passages the network is asked for, batch by batch."""
    asked: list[int] = []
    real = SentenceModel.embed

    def noted(teacher: SentenceModel, texts: list[str]) -> list[Vector]:
        asked.append(len(texts))
        return real(teacher, texts)

    monkeypatch.setattr(SentenceModel, "embed", noted)
    return asked


def test_every_passage_gets_the_teachers_vector_and_its_signs(
    tmp_path: Path, notes: Notes, model: str, teacher: SentenceModel
) -> None:
    told: list[tuple[int, int]] = []
    index = rebuild_index(str(tmp_path), [notes], semantic=model, taught=lambda *now: told.append(now))
    number = index.spaces()[teacher.space]
    assert index.spaces() == {teacher.space: number}
    assert number > len(TOPICS), "the long one has several passages"
    assert told[-1] == (number, number)
    rows = index._rows("SELECT vector, bits FROM vectors JOIN signs USING (id) WHERE record = 3")
    assert list(rows) == [(vector.values, vector.bits) for vector in teacher.embed(["retry queue worker"])]
    assert list(index._rows("SELECT name, folder FROM spaces ORDER BY name")) == [
        (teacher.space, model),
        (embedder().revision, ""),
    ]
    searcher = index.searcher()
    found = searcher.by_meaning(searcher.question("retry queue"), ALL, 10)
    assert found[0].id == 3
    assert len(found) == len(TOPICS)
    index.close()


@pytest.mark.proof
def test_an_interrupted_run_is_continued(
    tmp_path: Path, notes: Notes, model: str, teacher: SentenceModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rebuild_index(str(tmp_path), [notes], semantic=model, taught=interrupt)
    index = open_index(str(tmp_path), [notes])
    before = index.spaces()
    assert before[teacher.space] == 2
    searcher = index.searcher()
    assert len(searcher.by_meaning(searcher.question("retry queue"), ALL, 10)) == len(TOPICS), "both kinds are compared"
    index.close()
    asked = embedded(monkeypatch)
    index = rebuild_index(str(tmp_path), [notes], semantic=model)
    assert sum(asked) == before[embedder().revision]
    assert index.spaces() == {teacher.space: sum(before.values())}
    index.close()


@pytest.mark.proof
def test_a_new_record_has_a_static_vector_until_the_next_run(
    tmp_path: Path, notes: Notes, model: str, teacher: SentenceModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    rebuild_index(str(tmp_path), [notes], semantic=model).close()
    notes.texts |= {6: "a new note", 1: "whales migrate north"}
    index = open_index(str(tmp_path), [notes])
    assert index.spaces()[embedder().revision] == 2
    index.close()
    asked = embedded(monkeypatch)
    index = rebuild_index(str(tmp_path), [notes], semantic=model)
    assert sum(asked) == 2
    assert list(index.spaces()) == [teacher.space]
    index.close()
    index = rebuild_index(str(tmp_path), [notes])
    assert list(index.spaces()) == [embedder().revision]
    assert not index.knows_space(teacher.space)
    index.close()


@pytest.mark.proof
def test_another_teacher_begins_anew(tmp_path: Path, notes: Notes, model: str) -> None:
    rebuild_index(str(tmp_path / "index"), [notes], semantic=model).close()
    other = str(write_model(tmp_path / "other", tensors(seed=2)))
    index = rebuild_index(str(tmp_path / "index"), [notes], semantic=other)
    assert list(index.spaces()) == [open_sentence_model(other).space]
    index.close()


def test_a_passage_changed_while_the_network_ran_keeps_its_new_vector(
    tmp_path: Path, notes: Notes, model: str, teacher: SentenceModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = SentenceModel.embed

    def meanwhile(network: SentenceModel, texts: list[str]) -> list[Vector]:
        if "retry queue worker" in texts:
            notes.texts[4] = "something else is said here now"
            open_index(str(tmp_path), [notes]).close()
        return real(network, texts)

    monkeypatch.setattr(SentenceModel, "embed", meanwhile)
    index = rebuild_index(str(tmp_path), [notes], semantic=model)
    own = embedder().embed("something else is said here now")
    assert own is not None
    rows = list(index._rows("SELECT vector, bits FROM vectors JOIN signs USING (id) WHERE space != ?", teacher.space))
    assert rows == [(own.values, own.bits)]
    index.close()


def test_an_index_that_cannot_be_kept_is_not_filled(tmp_path: Path, notes: Notes, model: str) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with pytest.raises(StorageFailed):
        rebuild_index(str(tmp_path / "link"), [notes], semantic=model)


@pytest.mark.proof
def test_a_damaged_index_is_made_anew_and_a_busy_one_is_left(
    tmp_path: Path, notes: Notes, model: str, teacher: SentenceModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    rebuild_index(str(tmp_path), [notes], semantic=model).close()
    raised: list[type[Exception]] = [apsw.CorruptError]
    real = model_vectors._teach

    def damaged(*arguments: Any) -> None:
        if raised:
            raise raised.pop()
        real(*arguments)

    monkeypatch.setattr(model_vectors, "_teach", damaged)
    notes.texts[6] = "a new note"
    index = rebuild_index(str(tmp_path), [notes], semantic=model)
    assert list(index.spaces()) == [teacher.space]
    index.close()
    for error, expected in ((apsw.BusyError, LockBusy), (apsw.FullError, StorageFailed)):
        notes.texts[6] += " changed"
        raised.append(error)
        with pytest.raises(expected, match="index"):
            rebuild_index(str(tmp_path), [notes], semantic=model)


@pytest.mark.parametrize("space", ["other:1", "s384-2", "minilm-l6-v2", "minilm-l12-v2:00000000", ""])
@pytest.mark.parametrize("listed", [True, False])
def test_a_vector_of_another_space_is_never_compared(
    tmp_path: Path, notes: Notes, space: str, listed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = open_index(str(tmp_path), [notes])
    index._connection.execute("UPDATE vectors SET space = ? WHERE record = 3", (space,))
    if listed:
        index._connection.execute("REPLACE INTO spaces VALUES (?, '')", (space,))
        # Those of another space must not crowd out the others at the first look, either.
        monkeypatch.setattr("quire.index.search._NEAR", 1)
    searcher = index.searcher()
    question = searcher.question("retry queue worker")
    found = [candidate.id for candidate in searcher.by_meaning(question, ALL, 10)]
    assert 3 not in found
    assert found
    assert searcher.meaning_of(question, [1, 3]).keys() == {1}
    only = [candidate.id for candidate in searcher.by_meaning(question, Filter(refs=("decision.n1",)), 10)]
    assert only == [1]
    index.close()


def test_a_cosine_with_the_teacher_is_brought_to_the_scale_of_the_table(tmp_path: Path, notes: Notes) -> None:
    index = open_index(str(tmp_path), [notes])
    searcher = index.searcher()
    question = searcher.question("retry queue worker")
    before = searcher.meaning_of(question, [1, 3])
    index._connection.execute("UPDATE vectors SET space = 'minilm-l6-v2:00000000' WHERE record = 3")
    index._connection.execute("INSERT INTO spaces VALUES ('minilm-l6-v2:00000000', '')")
    after = {found.id: found.meaning for found in searcher.by_meaning(question, ALL, 10)}
    assert after[3] == pytest.approx(before[3] + 0.08)
    assert after[1] == before[1]
    assert searcher.meaning_of(question, [3]) == {3: after[3]}
    index.close()


# -- the command --------------------------------------------------------------------------------


def test_the_command_embeds_reports_and_goes_back(memory: Any, model: str, teacher: SentenceModel, repo: Path) -> None:
    memory.init()
    memory.save(*({"kind": "gotcha", "title": f"Trap {n}", "body": text} for n, text in enumerate(TOPICS)))
    before = memory("rebuild", "--json").data
    assert list(before["vectors"]) == [embedder().revision]
    (repo / "models").symlink_to(Path(model).parent)
    done = memory("rebuild", "--semantic", "models/tiny", "--json").data
    assert done["vectors"] == {teacher.space: sum(before["vectors"].values())}
    assert {**done, "vectors": 0} == {**before, "vectors": 0}
    found = memory("query", "retry queue worker", "--json").data["results"]
    assert found[0]["ref"] == "gotcha.trap-2"
    said = memory("rebuild", f"--semantic={model}")
    assert said.code == 0
    assert teacher.space in said.out
    assert list(memory("rebuild", "--json").data["vectors"]) == [embedder().revision]


def test_the_command_refuses_a_folder_without_a_model_and_changes_nothing(memory: Any, model: str, repo: Path) -> None:
    memory.init()
    memory("rebuild", "--semantic", model)
    path = repo / ".memory/index/quire.sqlite"
    before = list(apsw.Connection(str(path)).execute("SELECT id, space FROM vectors"))
    for folder in ("nowhere", "", str(repo), "odd\udcff"):
        run = memory("rebuild", "--semantic", folder, "--json")
        assert run.code == 1
        assert run.error["code"] == "MemoryValidationFailed"
        assert run.error["details"]["field"] == "semantic"
    assert memory("rebuild", "--semantic").code == 2
    assert list(apsw.Connection(str(path)).execute("SELECT id, space FROM vectors")) == before


@pytest.mark.proof
def test_only_this_command_loads_numpy(memory: Any, model: str, repo: Path) -> None:
    memory.init()
    memory("rebuild", "--semantic", model)
    for line, loads in ((["query", "retry"], False), (["status"], False), (["rebuild", "--semantic", model], True)):
        code = (
            "import sys\nfrom quire.surfaces.cli.main import run\n"
            f"run({line!r})\n"
            "sys.stderr.write(f\"LOADED {'numpy' in sys.modules}\")"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=repo, env=memory.env, capture_output=True, text=True, check=True
        )
        assert done.stderr.endswith(f"LOADED {loads}")


def test_a_save_after_it_is_found_too(project: Project, model: str, teacher: SentenceModel) -> None:
    save_nodes(project, {"task": "t", "nodes": [{"kind": "gotcha", "title": "Soup", "body": "Onion soup with broth."}]})
    assert list(rebuild(project, Rebuild(semantic=model)).found.vectors) == [teacher.space]
    save_nodes(project, {"task": "t", "nodes": [{"kind": "gotcha", "title": "Whales", "body": "They migrate south."}]})
    assert answer_question(project, "where do whales migrate").hits[0].record.ref == "gotcha.whales"
    assert list(rebuild(project, Rebuild(semantic=model)).found.vectors) == [teacher.space]
    with pytest.raises(QuireError):
        rebuild(project, Rebuild(semantic="nowhere"))
