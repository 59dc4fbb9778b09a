"""Writes docs/reference/conformance.md from the tables of tests/seeds/: .venv/bin/python tools/make_conformance.py"""

import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
PAGE = TOP / "docs/reference/conformance.md"
sys.path.insert(0, str(TOP / "tests/seeds"))


def main() -> None:
    from seeds_table import page, tables

    PAGE.write_text(page(), encoding="utf-8", newline="\n")
    print(f"{sum(len(table.rows) for table in tables().values())} statements in {PAGE.name}")


if __name__ == "__main__":
    main()
