"""Check whether a text may be stored: no credentials, no deceptive characters."""

from __future__ import annotations

from quire.guard.hostile_text import find_hostile, without_unseen
from quire.guard.secrets import SecretFinding, find_secrets
from quire.model.errors import InputError, SecretDetected
from quire.model.records import Problem


def text_problems(text: str, field: str, *, single_line: bool = False) -> tuple[list[Problem], list[Problem]]:
    """What forbids the text, and what is only worth a warning."""
    problems = [
        Problem(
            code="TextNotAllowed",
            field=field,
            message=f"holds {found.shown} ({found.code.replace('-', ' ')}) at character {found.index + 1}",
            hint="Remove the character.",
        )
        for found in find_hostile(text, single_line=single_line)
    ]
    warnings: list[Problem] = []
    for secret in _secrets_in(text):
        problem = Problem(
            code="MemorySecretDetected" if secret.certain else "MemorySecretWarning",
            field=field,
            line=secret.line,
            message=_looks_like(secret) + (f", line {secret.line}" if "\n" in text else ""),
            severity="error" if secret.certain else "warning",
        )
        (problems if secret.certain else warnings).append(problem)
    from quire.guard.prompt_attacks import find_instructions  # not at import: what only reads does not need it

    if flags := find_instructions(text):
        warnings.append(
            Problem(
                code="InstructionWarning",
                field=field,
                message=f"reads like an order to a model ({', '.join(flags)})",
                hint="The record is kept and shown with this flag in answers. Hooks do not send it.",
                severity="warning",
            )
        )
    else:
        warnings += effect_warnings(text, field)
    return problems, warnings


def effect_warnings(text: str, field: str) -> list[Problem]:
    """That doing as the text says could do harm: it is kept, and shown with a warning."""
    from quire.guard.effects import effects_of, words_of

    effects = effects_of(text)
    if not effects:
        return []
    return [
        Problem(
            code="EffectWarning",
            field=field,
            message=f"holds a command or an order that {words_of(effects)}",
            hint="The record is kept and shown with this flag.",
            severity="warning",
        )
    ]


def stored_secrets(path: str, text: str, line: int | None = None) -> list[Problem]:
    """Credentials in a text that is on the disk already."""
    return [
        Problem(
            code="MemorySecretDetected" if found.certain else "MemorySecretWarning",
            severity="error" if found.certain else "warning",
            path=path,
            line=line or found.line,
            message=f"Looks like {_article(found.what)} ({found.rule}): {found.masked}.",
            hint="Replace the credential, then remove it: `memory purge --secrets`; git history keeps it until it is "
            "rewritten."
            if found.certain
            else "Check it. `memory purge` removes what should not be here.",
        )
        for found in _secrets_in(text)
    ]


def admit(text: str, field: str, *, most: int, single_line: bool = False) -> tuple[str, list[Problem]]:
    """The text without blanks around it, and warnings; an error where it is empty, too long or may not pass."""
    text = text.strip()
    if not text:
        raise InputError(f"`{field}` is empty.", hint=f"Give a text of 1 to {most:,} characters.", details=_at(field))
    if len(text) > most:
        raise InputError(
            f"`{field}` has {len(text):,} characters; the limit is {most:,}.",
            hint="Shorten it, or split it into several.",
            details={**_at(field), "maximum": most},
        )
    problems, warnings = text_problems(text, field, single_line=single_line)
    for problem in problems:
        if problem.code == "MemorySecretDetected":
            raise _refusal(field, problem.message)
    if problems:
        raise InputError(f"`{field}` {problems[0].message}.", hint=problems[0].hint, details=_at(field))
    return text, warnings


def refuse_secret(text: str, field: str) -> None:
    """An error where a name or a path that is to be written down is or holds a credential."""
    for found in _secrets_in(text):
        if found.certain:
            raise _refusal(field, _looks_like(found))


def _refusal(field: str, why: str) -> SecretDetected:
    return SecretDetected(
        f"`{field}` {why}.",
        hint="Nothing was written. Leave out the credential and say where it is kept.",
        details=_at(field),
    )


def _looks_like(secret: SecretFinding) -> str:
    return f"looks like {_article(secret.what)} ({secret.rule}): {secret.masked}"


def _secrets_in(text: str) -> list[SecretFinding]:
    """Those that stand there, or that do once what nobody sees is taken out."""
    found = find_secrets(text)
    if any(finding.certain for finding in found) or (plain := without_unseen(text)) == text:
        return found
    return find_secrets(plain) or found


def _article(what: str) -> str:
    return f"{'an' if what[:1] in 'AEIOaeio' else 'a'} {what}"


def _at(field: str) -> dict[str, object]:
    return {"field": field}
