"""Map a file of tensors in the safetensors format: header length, header in JSON, numbers."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import msgspec

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
