"""The words of the memory: what a record may be called, in every layer."""

from __future__ import annotations

from typing import Any

from quire.layers.facts import layout as facts
from quire.layers.journal import layout as journal
from quire.layers.profile import layout as profile
from quire.model.verdicts import VERDICTS
from quire.model.vocabulary import CREATABLE_KINDS, OTHER_STATUSES, PREDICATES, QUESTION_STATUSES, STAGES


def vocabulary() -> dict[str, Any]:
    return {
        "refs": [
            "kind.slug",
            "fact:ID",
            "episode:ID",
            "profile:category.key",
            "event:ID",
            "checkpoint:ID",
            "bundle:SECTION",
        ],
        "verdicts": list(VERDICTS),
        "graph": {
            "kinds": list(CREATABLE_KINDS),
            "stages": list(STAGES),
            "statuses": list(OTHER_STATUSES),
            "question_statuses": list(QUESTION_STATUSES),
            "predicates": list(PREDICATES),
        },
        "facts": {
            "sections": list(facts.SECTIONS),
            "statuses": list(facts.STATUSES),
            "relations": list(facts.RELATIONS),
        },
        "profile": {
            "categories": list(profile.CATEGORIES),
            "statuses": list(profile.STATUSES),
            "relations": list(profile.RELATIONS),
        },
        "journal": {"sections": list(journal.SECTION_KEYS)},
    }
