"""Run all-MiniLM-L6-v2 over the documents when the index is built. Needs the extra `semantic`.

The static table (`vector_table.py`) was trained to give a text the direction that this network gives it. Both therefore
live in one space, and a question embedded with the table may be compared with documents embedded by the teacher:
questions stay cold, documents get the better vectors. That holds for this teacher only, so a folder that holds another
network is found out by its answers and refused.

The network is a small BERT: six layers, 384 dimensions, and the mean over a text's pieces. What is here runs it with
numpy alone, from a folder in the usual layout (`config.json`, `model.safetensors`); nothing is ever fetched.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from quire.index.vector_table import Vector, embedder
from quire.model.errors import InputError, NotReady, QuireError

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Floats = NDArray[numpy.float32]
    Pair = tuple[Floats, Floats]


_TYPES = {"F32": "<f4", "F16": "<f2"}


class UnusableTensors(Exception):
    """The file is not what it has to be; the text goes on after "a file that"."""


class _Tensor(msgspec.Struct):
    dtype: str
    shape: tuple[int, ...]
    data_offsets: tuple[int, int]


class TensorFile:
    def __init__(self, path: str) -> None:
        import numpy

        try:
            self._bytes = numpy.memmap(path, numpy.uint8, mode="r")
            self._begin = 8 + int.from_bytes(self._bytes[:8].tobytes(), "little")
            if len(self._bytes) < max(8, self._begin):
                raise UnusableTensors("is cut short")
            self._head = msgspec.json.decode(self._bytes[8 : self._begin].tobytes(), type=dict[str, msgspec.Raw])
        except (OSError, ValueError, RecursionError) as error:
            raise UnusableTensors(f"cannot be read: {error}") from None

    def digest(self) -> str:
        return hashlib.sha256(self._bytes.data).hexdigest()

    def tensor(self, name: str, *shape: int) -> Floats:
        """The tensor of this name, which must have this shape, as it lies in the file."""
        import numpy

        try:
            found = msgspec.json.decode(self._head[name], type=_Tensor)
        except (KeyError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            raise UnusableTensors(f"has no tensor {name}") from None
        if found.shape != shape or found.dtype not in _TYPES:
            wanted = f"F32 or F16 {list(shape)}"
            raise UnusableTensors(f"has {name} as {found.dtype} {list(found.shape)}, not {wanted}")
        kind = numpy.dtype(_TYPES[found.dtype])
        begin, end = (self._begin + offset for offset in found.data_offsets)
        if not self._begin <= begin <= end <= len(self._bytes) or end - begin != kind.itemsize * numpy.prod(shape):
            raise UnusableTensors("is cut short")
        values: NDArray[Any] = self._bytes[begin:end].view(kind).reshape(shape)
        return values

    def pair(self, name: str, *shape: int) -> Pair:
        """A weight, turned so that rows are multiplied from the left, and what is added after it."""
        import numpy

        weight, bias = self.tensor(f"{name}.weight", *shape), self.tensor(f"{name}.bias", shape[0])
        return numpy.ascontiguousarray(weight.T, numpy.float32), bias.astype(numpy.float32)


_CONFIG, _WEIGHTS = "config.json", "model.safetensors"
_CLS, _SEP, _UNKNOWN = 101, 102, 100
_VOCABULARY = 30_522
_PIECES = 256
"""What the teacher reads of a text; it was trained on no more."""
_BATCH_PIECES = 2048
_GELU = 7.97507582e-01, 3.70059987e-02, -3.51593261e-04
"""An odd polynomial whose tanh is the error function of x / sqrt(2); the activation is exact to 3e-5."""
_PROBES = (
    "The invoice is sent again when the payment provider does not answer.",
    "Whales migrate south in autumn to give birth in warm water.",
    "def parse(path): read a file and return its lines as a list of strings",
    "Fry the onions slowly in butter and add the broth.",
    "Compile error: undefined reference to a symbol in the shared library",
    "The patient was given antibiotics against the infection.",
)
_AGREEMENT = 0.5
"""What the cosine of the table's and the teacher's vector of one text is at least, on average."""

Size = Annotated[int, msgspec.Meta(ge=1, le=100_000)]


class _Config(msgspec.Struct):
    """What the network's own description says of its shape."""

    hidden_size: Size
    num_hidden_layers: Size
    num_attention_heads: Size
    intermediate_size: Size
    max_position_embeddings: Size
    vocab_size: Size
    type_vocab_size: Size = 2
    layer_norm_eps: float = 1e-12
    hidden_act: str = "gelu"

    def fits(self) -> bool:
        """Whether this may be the teacher at all, as far as its pieces and its vectors go."""
        sizes = self.hidden_size, self.vocab_size, self.hidden_act, self.hidden_size % self.num_attention_heads
        return sizes == (embedder().dimensions, _VOCABULARY, "gelu", 0) and self.max_position_embeddings >= _PIECES


class _Layer(msgspec.Struct):
    """One layer; query, key and value lie side by side in `seen`."""

    seen: Pair
    joined: Pair
    joined_norm: Pair
    wide: Pair
    narrow: Pair
    narrow_norm: Pair


def open_sentence_model(folder: str) -> SentenceModel:
    """The network in this folder, checked to be the one whose space the static table shares."""
    try:
        import numpy  # noqa: F401
    except ImportError:
        raise NotReady(
            "Embedding with the teacher needs numpy, which is not installed.",
            hint="Install it beside Quire: `pip install numpy`, or `pipx inject quire-memory numpy`.",
        ) from None
    for name in (_CONFIG, _WEIGHTS):
        if not os.path.isfile(os.path.join(folder, name)):
            raise _refused(folder, f"has no file {name}")
    try:
        with open(os.path.join(folder, _CONFIG), "rb") as file:
            config = msgspec.json.decode(file.read(), type=_Config)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise _refused(folder, f"has a {_CONFIG} that cannot be used: {error}") from None
    if not config.fits():
        raise _refused(folder, f"holds another network than all-MiniLM-L6-v2: {_CONFIG} has other sizes")
    try:
        teacher = SentenceModel(config, TensorFile(os.path.join(folder, _WEIGHTS)))
    except UnusableTensors as error:
        raise _refused(folder, f"has a {_WEIGHTS} that {error}") from None
    if not teacher.agreement() >= _AGREEMENT:
        raise _refused(folder, "holds another network than all-MiniLM-L6-v2: its vectors have another meaning")
    return teacher


class SentenceModel:
    """The network, ready to run. `space` names what its vectors may be compared with."""

    def __init__(self, config: _Config, weights: TensorFile) -> None:
        self._heads = config.num_attention_heads
        self._tiny = config.layer_norm_eps
        hidden, wide = config.hidden_size, config.intermediate_size
        self._words = weights.tensor("embeddings.word_embeddings.weight", config.vocab_size, hidden)
        places = weights.tensor("embeddings.position_embeddings.weight", config.max_position_embeddings, hidden)
        kinds = weights.tensor("embeddings.token_type_embeddings.weight", config.type_vocab_size, hidden)
        self._places = places[:_PIECES] + kinds[0]
        self._norm = weights.pair("embeddings.LayerNorm", hidden)
        self._layers = [
            _layer(weights, f"encoder.layer.{number}.", hidden, wide, self._heads)
            for number in range(config.num_hidden_layers)
        ]
        self.space = embedder().teacher + weights.digest()[:8]

    def embed(self, texts: list[str]) -> list[Vector]:
        """A vector for each text, as the index holds them."""
        import numpy

        found = self.directions(texts)
        steps = numpy.rint(found * (127 / numpy.abs(found).max(axis=1, keepdims=True))).astype(numpy.int8)
        signs = numpy.packbits(steps < 0, axis=1)
        return [Vector(bits=bits.tobytes(), values=values.tobytes()) for bits, values in zip(signs, steps, strict=True)]

    def directions(self, texts: list[str]) -> Floats:
        """The same in full, each of length one. Texts of one length run together, so that none has to be padded."""
        import numpy

        cut = embedder().pieces
        pieces = [[_CLS, *cut(text, _PIECES - 2, _UNKNOWN), _SEP] for text in texts]
        found = numpy.empty((len(texts), embedder().dimensions), numpy.float32)
        for batch in _batches(sorted(range(len(texts)), key=lambda number: len(pieces[number])), pieces):
            found[batch] = self._run([pieces[number] for number in batch])
        return found

    def agreement(self) -> float:
        """How alike this network's vectors of some plain sentences are to the static table's."""
        import numpy

        table = [embedder().embed(probe) for probe in _PROBES]
        rows = numpy.array([numpy.frombuffer(row.values, numpy.int8) for row in table if row], numpy.float32)
        rows /= numpy.linalg.norm(rows, axis=1, keepdims=True)
        with numpy.errstate(all="ignore"):  # a file of nonsense gives nonsense, not warnings
            return float((rows * self.directions(list(_PROBES))).sum(axis=1).mean())

    def _run(self, batch: list[list[int]]) -> Floats:
        """From pieces, shortest text first, to one direction for each text."""
        import numpy

        lengths = [len(pieces) for pieces in batch]
        flat = numpy.concatenate([numpy.array(pieces) for pieces in batch])
        state = self._words[flat] + numpy.concatenate([self._places[:length] for length in lengths])
        state = self._normal(state.astype(numpy.float32), self._norm)
        for layer in self._layers:
            joined = _times(self._attend(_times(state, layer.seen), lengths), layer.joined)
            state = self._normal(state + joined, layer.joined_norm)
            narrow = _times(_gelu(_times(state, layer.wide)), layer.narrow)
            state = self._normal(state + narrow, layer.narrow_norm)
        means = numpy.add.reduceat(state, numpy.cumsum([0, *lengths[:-1]]), axis=0)
        means /= numpy.maximum(numpy.linalg.norm(means, axis=1, keepdims=True), 1e-12)
        return means

    def _attend(self, seen: Floats, lengths: list[int]) -> Floats:
        """Self-attention within each text."""
        import numpy

        width = seen.shape[1] // 3
        out = numpy.empty((len(seen), width), numpy.float32)
        begin = 0
        for length, same in groupby(lengths):
            end = begin + sum(same)
            apart = seen[begin:end].reshape(-1, length, 3, self._heads, width // self._heads).transpose(2, 0, 3, 1, 4)
            scores = apart[0] @ apart[1].swapaxes(-1, -2)
            scores -= scores.max(axis=-1, keepdims=True)
            numpy.exp(scores, out=scores)
            scores /= scores.sum(axis=-1, keepdims=True)
            out[begin:end] = (scores @ apart[2]).swapaxes(1, 2).reshape(-1, width)
            begin = end
        return out

    def _normal(self, state: Floats, scale: Pair) -> Floats:
        import numpy

        state -= state.mean(axis=1, keepdims=True)
        spread = numpy.einsum("ij,ij->i", state, state)[:, None] / state.shape[1]
        state *= scale[0] / numpy.sqrt(spread + numpy.float32(self._tiny))
        state += scale[1]
        return state


def _layer(weights: TensorFile, prefix: str, hidden: int, wide: int, heads: int) -> _Layer:
    import numpy

    seen = [weights.pair(f"{prefix}attention.self.{part}", hidden, hidden) for part in ("query", "key", "value")]
    scale = numpy.repeat(numpy.array([(hidden // heads) ** -0.5, 1, 1], numpy.float32), hidden)
    return _Layer(
        seen=(numpy.hstack([part[0] for part in seen]) * scale, numpy.hstack([part[1] for part in seen]) * scale),
        joined=weights.pair(f"{prefix}attention.output.dense", hidden, hidden),
        joined_norm=weights.pair(f"{prefix}attention.output.LayerNorm", hidden),
        wide=weights.pair(f"{prefix}intermediate.dense", wide, hidden),
        narrow=weights.pair(f"{prefix}output.dense", hidden, wide),
        narrow_norm=weights.pair(f"{prefix}output.LayerNorm", hidden),
    )


def _times(state: Floats, by: Pair) -> Floats:
    product: Floats = state @ by[0] + by[1]
    return product


def _gelu(state: Floats) -> Floats:
    import numpy

    inner = numpy.clip(state, -5, 5)
    square = inner * inner
    first, third, fifth = map(numpy.float32, _GELU)
    share: Floats = numpy.tanh(((square * fifth + third) * square + first) * inner) + 1
    return share * state * numpy.float32(0.5)


def _batches(order: list[int], pieces: list[list[int]]) -> Iterator[list[int]]:
    batch: list[int] = []
    for number in order:
        if batch and sum(len(pieces[other]) for other in batch) + len(pieces[number]) > _BATCH_PIECES:
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch


def _refused(folder: str, reason: str) -> QuireError:
    shown, reason = (text.encode("utf-8", "replace").decode() for text in (folder, reason))
    return InputError(
        f"The folder {shown} {reason}.",
        hint="Fetch the model again: `memory docs semantic` has the command.",
        details={"field": "semantic", "folder": shown},
    )
