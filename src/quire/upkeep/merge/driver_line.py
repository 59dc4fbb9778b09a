"""The command that git runs as merge driver: ours where it is there, and git's own merge where it is not.

Git starts it with `sh`. Whatever becomes of our program (removed, moved, killed, broken), git's own merge is made, and
so no worse is left than without us. A path of an installation that is gone is tried by name: a clone may be looked at
from a container that has its own.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

LEFT_TO_A_PERSON = 10
"""The driver's exit code where git is to stop: none with which an interpreter ends that cannot start."""
MISSING = 127
NAME = "quire"
_GIVEN = "%O %A %B %L %P"
_BY_GIT = "git merge-file{switch} --marker-size=%L -L ours -L base -L theirs %A %O %B || exit 1"


def driver_line(program: Sequence[str], folders: Sequence[str] = (), *, union: bool = False) -> str:
    """The command line for git's settings; with `folders` only paths below these come to us."""
    switch = " --union" if union else ""
    words = shlex.join(program).replace("%", "%%")
    by_name = "" if words == NAME else f"[ $s = {MISSING} ] && {{ d {NAME}; s=$?; }}; "
    ours = (
        f'd() {{ command -v "$1" >/dev/null 2>&1 || return {MISSING}; "$@" merge-driver{switch} {_GIVEN}; }}; '
        f"d {words}; s=$?; {by_name}[ $s = 0 ] && exit 0; [ $s = {LEFT_TO_A_PERSON} ] && exit 1"
    )
    if folders:
        ours = f"case %P in {'|'.join(f'{folder}/*' for folder in folders)}) {ours};; esac"
    return f"{ours}; {_BY_GIT.format(switch=switch)}"
