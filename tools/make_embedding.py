"""Make the static embedding table that ships with Quire.

    python tools/make_embedding.py train --teacher FOLDER --corpus passages.txt.gz --seconds 330 --out table.npz
    python tools/make_embedding.py pack --table table.npz --vocabulary vocab.txt --revision s384-1 --out static-384.bin

`train` distils a sentence model into one row per word piece: rows start as the teacher's embedding of the single
piece, weighted by how rare it is, and are moved until the sum over a text points where the teacher's embedding of the
text does. It needs torch, transformers, tokenizers and a GPU; FOLDER holds the public all-MiniLM-L6-v2 in the usual
layout; the corpus has one passage on each line. Take out of it every passage that shares eight words in a row with
anything the result is measured on.

`pack` writes the file that the program maps: a header, a hash table from piece to number, where each piece's text lies,
its weight, the texts, and the rows as bytes. It needs numpy.
"""

from __future__ import annotations

import argparse
import gzip
import random
import struct
import time
import zlib
from pathlib import Path
from typing import Any

SLOTS = 1 << 16
EMPTY = 0xFFFF
WEIGHT_STEPS = 4095
"""Weights become whole numbers up to this, so that a thousand rows still add up inside 32 bits."""


def pack(arguments: argparse.Namespace) -> None:
    """From a trained table to the file that is mapped."""
    import numpy

    table = numpy.load(arguments.table)
    rows, scales = table["q"], table["s"].astype(numpy.float64).ravel()
    pieces = [line.rstrip("\n").encode() for line in Path(arguments.vocabulary).open(encoding="utf-8")]
    if len(pieces) != len(rows):
        raise SystemExit(f"{len(pieces)} pieces but {len(rows)} rows")
    slots = [EMPTY] * SLOTS
    for number, piece in enumerate(pieces):
        slot = zlib.crc32(piece) % SLOTS
        while slots[slot] != EMPTY:
            slot = (slot + 1) % SLOTS
        slots[slot] = number
    starts = [0]
    for piece in pieces:
        starts.append(starts[-1] + len(piece))
    weights = numpy.maximum(1, numpy.round(scales / scales.max() * WEIGHT_STEPS)).astype("<u2")
    revision = arguments.revision.encode()[:8]
    head = struct.pack("<8sIIII8s", b"QUIREMB1", rows.shape[1], len(pieces), SLOTS, starts[-1], revision)
    head += struct.pack(f"<{SLOTS}H", *slots) + struct.pack(f"<{len(starts)}I", *starts)
    head += weights.tobytes() + b"".join(pieces)
    head += b"\0" * (-len(head) % 64)
    Path(arguments.out).write_bytes(head + rows.astype("int8").tobytes())
    print(f"{arguments.out}: {len(pieces)} pieces, {rows.shape[1]} dimensions, revision {arguments.revision}")


def train(arguments: argparse.Namespace) -> None:
    """Distil the teacher within a time limit."""
    import numpy
    import torch
    from tokenizers import Tokenizer
    from torch.nn import functional
    from transformers import AutoModel

    device = torch.device("cuda")
    folder = Path(arguments.teacher)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(256)
    teacher = AutoModel.from_pretrained(folder).to(device, torch.bfloat16).eval()
    passages = gzip.open(arguments.corpus, "rt", encoding="utf-8").read().split("\n")
    words = [passage.split() for passage in passages if passage.strip()]
    chance = random.Random(0)

    @torch.no_grad()
    def taught(batch: list[list[int]]) -> Any:
        width = max(map(len, batch))
        ids = torch.zeros(len(batch), width, dtype=torch.long)
        for row, pieces in enumerate(batch):
            ids[row, : len(pieces)] = torch.tensor(pieces)
        mask = (ids != 0).to(device)
        states = teacher(input_ids=ids.to(device), attention_mask=mask.long()).last_hidden_state.float()
        return functional.normalize((states * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True), dim=-1)

    def ids_of(texts: list[str]) -> list[list[int]]:
        return [encoding.ids for encoding in tokenizer.encode_batch(texts)]

    size = tokenizer.get_vocab_size()
    first = torch.cat(
        [taught([[101, piece, 102] for piece in range(at, min(size, at + 2048))]) for at in range(0, size, 2048)]
    )
    counts = numpy.bincount(numpy.concatenate([numpy.array(ids) for ids in ids_of(passages)]), minlength=size)
    rarity = 1e-3 / (1e-3 + counts / counts.sum())
    rows = torch.nn.Parameter(first.clone())
    weight = torch.nn.Parameter(torch.log(torch.tensor(rarity, dtype=torch.float32, device=device) + 1e-6))

    def student(batch: list[list[int]]) -> Any:
        inner = [pieces[1:-1] or [100] for pieces in batch]
        flat = torch.tensor([piece for pieces in inner for piece in pieces], device=device)
        offsets = torch.tensor(numpy.cumsum([0] + [len(pieces) for pieces in inner])[:-1], device=device)
        summed = functional.embedding_bag(flat, rows, offsets, mode="sum", per_sample_weights=torch.exp(weight)[flat])
        return functional.normalize(summed, dim=-1)

    def sample(number: int) -> tuple[list[list[int]], list[list[int]]]:
        """A span, and the rest of its passage, as a question and the text that answers it."""
        spans, rests = [], []
        for _ in range(number):
            text = words[chance.randrange(len(words))]
            length = chance.choice((chance.randint(2, 6), chance.randint(6, 14), chance.randint(14, 28)))
            at = chance.randrange(max(1, len(text) - length))
            spans.append(" ".join(text[at : at + length]))
            rests.append(" ".join(text[:at] + text[at + length :] if chance.random() < 0.7 else text))
        return ids_of(spans), ids_of(rests)

    optimizer = torch.optim.AdamW([{"params": [rows], "lr": 2e-3}, {"params": [weight], "lr": 1e-2}], weight_decay=0)
    begin, rates = time.time(), [group["lr"] for group in optimizer.param_groups]
    while (spent := time.time() - begin) < arguments.seconds:
        share = 0.5 * (1 + numpy.cos(numpy.pi * spent / arguments.seconds)) + 0.01
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate * share
        spans, rests = sample(3072)
        taught_spans, taught_rests, span, rest = taught(spans), taught(rests), student(spans), student(rests)
        target = torch.softmax(taught_spans @ taught_rests.T / 0.05, -1)
        loss = (1 - (span * taught_spans).sum(-1)).mean() + (1 - (rest * taught_rests).sum(-1)).mean()
        for right in (rest, taught_rests):
            loss = loss + functional.kl_div(torch.log_softmax(span @ right.T / 0.05, -1), target, reduction="batchmean")
        loss = loss + 0.5 * functional.cross_entropy(span @ rest.T / 0.05, torch.arange(len(spans), device=device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    final = (rows * torch.exp(weight)[:, None]).detach().float().cpu().numpy()
    scale = numpy.abs(final).max(1, keepdims=True) / 127 + 1e-9
    numpy.savez(arguments.out, q=numpy.round(final / scale).astype(numpy.int8), s=scale.astype(numpy.float16))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True)
    training = verbs.add_parser("train")
    training.add_argument("--teacher", required=True)
    training.add_argument("--corpus", required=True)
    training.add_argument("--seconds", type=float, default=330)
    training.add_argument("--out", required=True)
    training.set_defaults(run=train)
    packing = verbs.add_parser("pack")
    packing.add_argument("--table", required=True)
    packing.add_argument("--vocabulary", required=True)
    packing.add_argument("--revision", required=True)
    packing.add_argument("--out", required=True)
    packing.set_defaults(run=pack)
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    main()
