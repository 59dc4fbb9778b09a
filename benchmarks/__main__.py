"""`make bench`: run every benchmark and write the results beside this file."""

from __future__ import annotations

import importlib
import json
import platform
import sys
from pathlib import Path

SUITES = (
    "cold",
    "hooks",
    "speed",
    "tokens",
    "first_day",
    "quality",
    "tiers",
    "precision",
    "must_not",
    "staleness",
    "verdict_cost",
    "after_merge",
    "branch_pairs",
    "driver_cost",
    "check_cost",
    "review_cost",
    "review_replay",
    "facts_recall",
    "facts_speed",
    "profile_search",
    "profile_speed",
    "journal_speed",
    "signals",
    "secret_forms",
    "mcp_server",
    "view",
)
RESULTS = Path(__file__).parent / "results"


def main() -> None:
    chosen = sys.argv[1:] or SUITES
    for name in chosen:
        result = importlib.import_module(f"benchmarks.{name}").run()
        result["command"] = f"make bench  # or: python -m benchmarks {name}"
        result["python"] = platform.python_version()
        text = json.dumps(result, indent=2) + "\n"
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / f"{name}.json").write_text(text)
        print(f"{name}:\n{text}")


if __name__ == "__main__":
    main()
