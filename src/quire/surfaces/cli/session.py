"""What every command needs: the project it works on, and how it answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable

    from quire.project import Project

__all__ = ["Session", "json_option"]


class Session(msgspec.Struct):
    """One run of the command."""

    as_json: bool = False
    start: str | None = None

    def project(self) -> Project:
        from quire.project import Project

        return Project.open(self.start)


def json_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--json` after the command means the same as before it."""

    def note(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:
        if value:
            ctx.ensure_object(Session).as_json = True

    return click.option("--json", is_flag=True, expose_value=False, callback=note, help="Answer with one JSON object.")(
        function
    )
