"""Writes plugins/ from quire.clients.packages: .venv/bin/python tools/make_plugins.py

Files that are no longer part of a package are removed.
"""

from pathlib import Path

from quire.clients.packages import build_plugins

PLUGINS = Path(__file__).parents[1] / "plugins"


def main() -> None:
    files = build_plugins()
    for path in sorted(PLUGINS.rglob("*"), reverse=True):
        if path.is_file() and path.relative_to(PLUGINS).as_posix() not in files:
            path.unlink()
        elif path.is_dir() and not any(path.iterdir()):
            path.rmdir()
    for name, text in files.items():
        path = PLUGINS / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    print(f"{len(files)} files in {PLUGINS.name}/")


if __name__ == "__main__":
    main()
