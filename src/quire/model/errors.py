"""The tree of errors: each has a code, a message, a hint, details and a kind.

QuireError
├── InputError                 what was asked for is wrong                     failed
│   ├── InvalidJson            not JSON, or JSON we refuse to guess about
│   ├── SecretDetected         a credential would have reached the disk
│   ├── ValueRejected          someone rejected exactly this before
│   ├── NotFound               a ref or id that names nothing
│   └── OutsideProject         a path that leads out of the project
├── UsageError                 the command line itself is wrong                usage
├── NotReady                   the project cannot be worked on now             not_ready
│   ├── NotInitialized         no memory here yet
│   ├── UnsupportedVersion     storage made by another version
│   ├── InvalidStore           the storage is too damaged to write to
│   │   └── InvalidConfig      a value of its configuration is not allowed     failed
│   ├── LockBusy               another process holds the lock
│   └── GitRequired            git is missing, or this is not a repository
├── Conflict                   a file changed under our hands                  failed
├── StorageFailed              the disk refused: full, read-only, broken       failed
└── Cancelled                  a person said no                                failed

The kind decides the exit code, the MCP `isError` and the HTTP status, in one table per surface.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal

ErrorKind = Literal["failed", "usage", "not_ready"]


class QuireError(Exception):
    """The root: everything Quire raises on purpose."""

    code: ClassVar[str] = "MemoryInternalError"
    kind: ClassVar[ErrorKind] = "failed"

    def __init__(self, message: str, *, hint: str | None = None, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details: dict[str, Any] = dict(details or {})


class InputError(QuireError):
    code = "MemoryValidationFailed"


def not_one_of(said: str, field: str, allowed: Iterable[str], hint: str = "") -> InputError:
    """The error about a word that is none of those that a field may have."""
    words = list(allowed)
    return InputError(said, hint=hint or f"Use one of {', '.join(words)}.", details={"field": field, "allowed": words})


class InvalidJson(InputError):
    code = "MemoryInvalidJson"


class SecretDetected(InputError):
    code = "MemorySecretDetected"


class ValueRejected(InputError):
    code = "MemoryValueRejected"


class NotFound(InputError):
    code = "MemoryObjectNotFound"


class OutsideProject(InputError):
    code = "MemoryPathOutsideProject"


class UsageError(QuireError):
    code = "MemoryUsage"
    kind = "usage"


class NotReady(QuireError):
    code = "MemoryNotReady"
    kind: ClassVar[ErrorKind] = "not_ready"


class NotInitialized(NotReady):
    code = "MemoryNotInitialized"


class UnsupportedVersion(NotReady):
    code = "MemoryUnsupportedStorageVersion"


class InvalidStore(NotReady):
    code = "MemoryAlreadyInitializedInvalid"


class InvalidConfig(InvalidStore):
    code = "MemorySchemaValidationFailed"
    kind = "failed"


class LockBusy(NotReady):
    code = "MemoryLockBusy"


class GitRequired(NotReady):
    code = "MemoryGitRequired"


class Conflict(QuireError):
    code = "MemoryConflictDetected"


class StorageFailed(QuireError):
    code = "MemoryStorageFailed"


class Cancelled(QuireError):
    code = "MemoryCancelled"
