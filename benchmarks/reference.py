"""Figures measured elsewhere, to stand beside ours, and the targets. All are nDCG@10 unless a name says otherwise.

From two studies made before this engine was written: one of fusing BM25 with this static embedding, one of lexical
variants and of other memory servers. They used the whole of sets of which we have a part: six repositories of decision
records (we have four), ten conversations of LoCoMo (seven), 652 changelog lines over 17,766 commits (300 over 21,878),
and another set of notes.
"""

from __future__ import annotations

from typing import Any

TARGETS = {"cosqa": 0.431, "cacm": 0.466, "adrs": 0.778, "notes, paraphrase": 0.55}
"""The least nDCG@10 of the default hybrid; besides, it is to beat words alone on every set."""

ELSEWHERE: dict[str, dict[str, float]] = {
    "notes, near": {"BM25": 0.988, "static vectors": 0.994, "0.7 BM25 + 0.3 static": 1.000},
    "notes, paraphrase": {"BM25": 0.097, "static vectors": 0.710, "0.7 BM25 + 0.3 static": 0.498},
    "cosqa": {"BM25": 0.387, "BM25, stop words": 0.396, "static vectors": 0.368, "0.7 BM25 + 0.3 static": 0.431},
    "cacm": {"BM25": 0.446, "BM25, stop words": 0.451, "static vectors": 0.319, "0.7 BM25 + 0.3 static": 0.466},
    "adrs": {"BM25": 0.757, "BM25, stop words": 0.752, "static vectors": 0.697, "0.7 BM25 + 0.3 static": 0.778},
    "changelog": {"BM25, stop words": 0.539},
    "locomo, sessions": {"BM25, stop words": 0.781},
    "locomo, turns": {"BM25, stop words": 0.481},
}

PEERS_ON_LOCOMO_SESSIONS: dict[str, dict[str, float]] = {
    "mempalace": {"recall@10": 0.879, "nDCG@10": 0.777},
    "mcp-memory-service": {"recall@10": 0.829, "nDCG@10": 0.589},
    "basic-memory": {"recall@10": 0.790, "nDCG@10": 0.690},
    "txtai": {"recall@10": 0.909, "nDCG@10": 0.759},
    "plain FTS5, porter and stop words": {"recall@10": 0.921, "nDCG@10": 0.781},
}

__all__ = ["ELSEWHERE", "PEERS_ON_LOCOMO_SESSIONS", "TARGETS", "judged"]


def judged(name: str, words: float, hybrid: float) -> dict[str, Any]:
    """Whether the hybrid does on this set what it is to do."""
    verdict: dict[str, Any] = {"beats words alone": hybrid > words or words == hybrid == 1.0}
    if name in TARGETS:
        verdict["target"] = TARGETS[name]
        verdict["target met"] = hybrid >= TARGETS[name]
    return verdict
