"""Show a change of a file as a unified diff."""

from __future__ import annotations

_HIDDEN = "(a line that holds a secret)"


def unified(before: bytes | None, after: bytes | None, shown: str) -> str:
    """The unified difference of a file's contents; empty where there is none."""
    import difflib

    if before == after:
        return ""
    old, new = (_lines(data) for data in (before, after))
    source = "/dev/null" if before is None else f"a/{shown}"
    target = "/dev/null" if after is None else f"b/{shown}"
    found = list(difflib.unified_diff(old, new, source, target))
    if not found:
        # A file that comes or goes empty has no lines to show.
        found = [f"--- {source}\n", f"+++ {target}\n"]
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in _veiled(found)
    )


def _veiled(lines: list[str]) -> list[str]:
    """The lines without those that hold a secret: a difference is shown, and may be sent on."""
    from quire.guard.secrets import find_secrets

    # A line without its end would run into the next one.
    whole = [line if line.endswith("\n") else f"{line}\n" for line in lines]
    hidden = {finding.line - 1 for finding in find_secrets("".join(whole)) if finding.certain}
    return [f"{line[:1]}{_HIDDEN}\n" if number in hidden else line for number, line in enumerate(lines)]


def _lines(data: bytes | None) -> list[str]:
    text = (data or b"").decode("utf-8", "backslashreplace")
    # Only line feeds end a line here, as in git: other separators are part of it.
    return [f"{line}\n" for line in text.split("\n")[:-1]] + ([rest] if (rest := text.rpartition("\n")[2]) else [])
