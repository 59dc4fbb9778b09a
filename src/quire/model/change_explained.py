"""What became of the code of one anchor since someone last looked, in a clause."""

from __future__ import annotations

import msgspec

from quire.model.text import counted, cut

_SUBJECT = 60


class ChangeExplained(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the code of one anchor since someone last looked."""

    anchor: str
    commits: int = 0
    most: str = ""
    """The commit that changed the most lines of it, and its subject."""
    most_subject: str = ""
    most_lines: int = 0
    last: str = ""
    last_subject: str = ""
    only: str = ""
    """What alone is different, if that is little."""

    @property
    def says_more(self) -> bool:
        """Whether it says more than the verdict, which names the newest commits."""
        return self.commits > 1 or bool(self.only)

    def line(self) -> str:
        """All of it as a clause; empty where nothing is known."""
        said = f"only {self.only} changed" if self.only else ""
        if not self.commits:
            return said
        last = f"{self.last} “{cut(self.last_subject, _SUBJECT)}”"
        if self.commits == 1:
            return "; ".join(filter(None, (f"commit {last}", said)))
        most = f"most in {self.most} “{cut(self.most_subject, _SUBJECT)}” ({counted(self.most_lines, 'line')})"
        if self.most == self.last:
            return "; ".join(filter(None, (f"{self.commits} commits, {most}, which is the last", said)))
        return "; ".join(filter(None, (f"{self.commits} commits, {most}, last {last}", said)))
