"""Locate the profile documents: the shared one in the project, the private one beside it or at home."""

from __future__ import annotations

import os

import msgspec

from quire.files.fragments import fragments_of, stamp_of_fragments
from quire.files.freshness import stamp_of
from quire.files.local_files import read_object
from quire.layers.profile.layout import BACKUP, FILE, FOLDER, HOME_FOLDER, PATH, PRIVATE, PRIVATE_CATEGORIES, SETTING
from quire.model.errors import NotReady
from quire.model.records import Problem, warning_at

HERE, AT_HOME, SHARED = "here", "home", "shared"


class ProfilePlaces(msgspec.Struct, frozen=True, kw_only=True):
    """The documents of one project."""

    root: str
    private: str
    """`shared` where no category is kept apart; `here` for a twin that git does not see, `home` for the user's own."""
    home: str = ""
    """The memory's folder in the user's home."""
    home_shown: str = ""
    problem: Problem | None = None
    """Why it could not be told where the private document is."""

    @property
    def shared_path(self) -> str:
        return os.path.join(self.root, FOLDER, FILE)

    @property
    def private_path(self) -> str:
        """Empty where there is none."""
        if self.private == AT_HOME:
            return os.path.join(self.home, HOME_FOLDER, FILE)
        return os.path.join(self.root, FOLDER, PRIVATE) if self.private == HERE else ""

    @property
    def documents(self) -> list[tuple[str, str, str]]:
        """Of the shared document and the private one, if there is one: folder, path below it, name in messages."""
        found = [(self.root, f"{FOLDER}/{FILE}", f"{FOLDER}/{FILE}")]
        if self.private == AT_HOME:
            found.append((self.home, f"{HOME_FOLDER}/{FILE}", self.private_name))
        elif self.private == HERE:
            found.append((self.root, f"{FOLDER}/{PRIVATE}", self.private_name))
        return found

    @property
    def private_name(self) -> str:
        """How the private document is called in messages."""
        return self.home_shown if self.private == AT_HOME else f"{FOLDER}/{PRIVATE}"

    def is_private(self, category: str) -> bool:
        """Whether new entries of this category are kept apart; an error where that cannot be known."""
        if category in PRIVATE_CATEGORIES and self.problem is not None:
            # Better not at all than in the document that everybody sees.
            raise NotReady(
                f"It is not known where `{category}` is kept. {self.problem.message}",
                hint=self.problem.hint,
                details={"path": self.problem.path},
            )
        return self.private != SHARED and category in PRIVATE_CATEGORIES


def find_places(root: str, memory_home: str, user_home: str) -> ProfilePlaces:
    """Look where the documents of a project are."""
    shown = home_name(memory_home, user_home)
    setting = read_object(root, FOLDER, SETTING.partition("/")[2])
    said, where = setting.fields.get("place"), f"{FOLDER}/{SETTING}"
    problem = setting.problem
    private = HERE if os.path.lexists(os.path.join(root, FOLDER, PRIVATE)) else SHARED
    if setting.fields and said != AT_HOME:
        hint = "Set it again: memory profile private here, home or shared."
        problem = warning_at("LocalStateDamaged", where, f"`{where}` names no place.", hint)
    elif said == AT_HOME and memory_home:
        private = AT_HOME
    elif said == AT_HOME:
        message = "The private records are in the user's home, and there is no home folder here."
        problem = warning_at("ProfileHomeMissing", where, message, "Set MEMORY_HOME to a folder of yours.")
    return ProfilePlaces(root=root, private=private, home=memory_home, home_shown=shown, problem=problem)


def home_name(memory_home: str, user_home: str) -> str:
    """The private document in the user's home, as messages call it."""
    path = os.path.join(memory_home, HOME_FOLDER, FILE)
    return f"~{path.removeprefix(user_home)}" if user_home and path.startswith(user_home + os.sep) else path


def backup_name(places: ProfilePlaces, *, is_private: bool) -> str:
    """Where a document is kept as it was before an entry was removed, as messages call it."""
    where = places.private_name if is_private else f"{FOLDER}/{FILE}"
    return where.removesuffix(FILE) + BACKUP


def stamp_now(places: ProfilePlaces) -> str:
    """What the documents look like, without opening them; empty where there is none."""
    stamps = [_stamp(path) if path else "" for path in (places.shared_path, places.private_path)]
    fragments = fragments_of(places.root, PATH)
    if fragments:
        stamps[0] += f"+{stamp_of_fragments(places.root, PATH)}+{len(fragments)}"
    return "|".join([*stamps, places.private]) if any(stamps) else ""


def _stamp(path: str) -> str:
    try:
        return stamp_of(os.stat(path, follow_symlinks=False))
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError:
        return "unreadable"  # which must not pass for nothing
