"""The page's HTTP interface: routes, and the form of errors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from quire import __version__
from quire.guard.redaction import InputSecrets
from quire.model.errors import Conflict, InputError, LockBusy, NotFound, NotReady, QuireError, UsageError
from quire.surfaces.web.assets import INDEX, Asset
from quire.surfaces.web.change_events import ChangeEvents
from quire.surfaces.web.page_calls import PageAnswer, PageCalls
from quire.surfaces.web.tickets import Tickets
from quire.verbs.envelope import crashed, failed
from quire.verbs.page.actions import read_action
from quire.verbs.plain import json_line

_JSON = "application/json"
_BODY_MOST = 4 * 1024 * 1024
_BUSY = 503
_STATUSES: tuple[tuple[type[QuireError], int], ...] = (
    (NotFound, 404),
    (Conflict, 409),
    (LockBusy, _BUSY),
    (NotReady, 412),
    (UsageError, 403),
    (InputError, 400),
)
VERSION_HEADER = "x-quire-version"


class _Page:
    """The handlers of all routes."""

    def __init__(self, page_calls: PageCalls, assets: Mapping[str, Asset], tickets: Tickets) -> None:
        self.page_calls = page_calls
        self.assets = assets
        self.tickets = tickets
        self.changes = ChangeEvents(page_calls)

    async def asset(self, request: Request) -> Response:
        asset = self.assets[request.url.path.lstrip("/") or INDEX]
        headers = {"etag": asset.mark, "cache-control": "no-cache", "vary": "accept-encoding"}
        if request.headers.get("if-none-match") == asset.mark:
            return Response(status_code=304, headers=headers)
        if "gzip" in request.headers.get("accept-encoding", ""):
            return _sent(asset.compressed, asset.kind, {**headers, "content-encoding": "gzip"})
        return _sent(asset.data, asset.kind, headers)

    async def ticket(self, request: Request) -> Response:
        token = self.tickets.redeem((await _object(request)).get("ticket"))
        return _told({"token": token})

    async def new_ticket(self, _: Request) -> Response:
        return _told({"ticket": self.tickets.issue()})

    async def session(self, _: Request) -> Response:
        page_calls = self.page_calls
        return _told(
            {
                "version": __version__,
                "write": page_calls.may_write,
                "exported": False,
                "project": await page_calls.work(page_calls.current),
                "now": page_calls.now(),
            }
        )

    async def projects(self, _: Request) -> Response:
        projects = await self.page_calls.work(self.page_calls.projects)
        return _told({"registry_path": self.page_calls.registry_path(), "projects": projects})

    async def answer(self, request: Request) -> Response:
        found: PageAnswer = await self.page_calls.ask(
            request.path_params["project"], request.path_params.get("path", ""), dict(request.query_params)
        )
        return _sent(found.data, _JSON, {VERSION_HEADER: found.version})

    async def actions(self, request: Request) -> Response:
        name = request.path_params["project"]
        if request.method == "GET":
            return _told({"actions": await self.page_calls.work(lambda: self.page_calls.acts(name))})
        action = read_action(await _body(request))
        done = await self.page_calls.act(name, action)
        await self.changes.tell_now(name)
        return _told(done)

    async def undo(self, request: Request) -> Response:
        name = request.path_params["project"]
        undo = (await _object(request)).get("undo")
        if not isinstance(undo, str):
            raise InputError("`undo` is missing.", hint="Name the change to undo.", details={"field": "undo"})
        done = await self.page_calls.undo(name, undo)
        await self.changes.tell_now(name)
        return _told(done)

    async def events(self, request: Request) -> Response:
        project = request.query_params.get("project", "")
        if project:
            await self.page_calls.work(lambda: self.page_calls.project(project))
        if self.changes.is_full:
            raise LockBusy("Too many open pages.", hint="Close some of them.")
        return StreamingResponse(
            self.changes.listen(project), media_type="text/event-stream", headers={"cache-control": "no-store"}
        )


def build_app(page_calls: PageCalls, assets: Mapping[str, Asset], tickets: Tickets) -> Starlette:
    """Build the ASGI app of the page; requests have been authorised before they reach it."""
    page = _Page(page_calls, assets, tickets)
    files = [Route(f"/{'' if name == INDEX else name}", page.asset, methods=["GET"]) for name in assets]
    project = "/api/projects/{project}"
    routes = [
        *files,
        Route("/api/ticket", page.ticket, methods=["POST"]),
        Route("/api/tickets", page.new_ticket, methods=["POST"]),
        Route("/api/session", page.session, methods=["GET"]),
        Route("/api/events", page.events, methods=["GET"]),
        Route("/api/projects", page.projects, methods=["GET"]),
        Route(f"{project}/actions", page.actions, methods=["GET", "POST"]),
        Route(f"{project}/undo", page.undo, methods=["POST"]),
        Route(project, page.answer, methods=["GET"]),
        Route(f"{project}/{{path:path}}", page.answer, methods=["GET"]),
    ]
    return Starlette(routes=routes, exception_handlers={QuireError: _said, Exception: _said})


async def _said(request: Request, error: Exception) -> Response:
    """Turn an exception into a JSON error with its HTTP status."""
    told = error if isinstance(error, QuireError) else crashed(error)
    status = next((status for kind, status in _STATUSES if isinstance(error, kind)), 500)
    again = {"retry-after": "1"} if status == _BUSY else {}
    said = failed(told)["error"]
    withheld = InputSecrets((said, list(request.query_params.values())))
    return _sent(json_line({"error": withheld.value(said)}).encode(), _JSON, again, status)


def _told(data: dict[str, Any]) -> Response:
    return _sent(json_line({"data": data}).encode(), _JSON, {})


def _sent(data: bytes, kind: str, headers: Mapping[str, str], status: int = 200) -> Response:
    given = {"content-type": kind, "cache-control": "no-store", **headers}
    return Response(data, status_code=status, headers=given)


async def _body(request: Request) -> bytes:
    """Read the body of a request; raise InputError where it is no JSON or too long."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _JSON:
        raise InputError("Only JSON is accepted here.", hint="Send `content-type: application/json`.")
    data = b""
    async for part in request.stream():
        data += part
        if len(data) > _BODY_MOST:
            raise InputError("This is too long.", hint=f"At most {_BODY_MOST:,} bytes are accepted.")
    return data


async def _object(request: Request) -> dict[str, Any]:
    try:
        value = json.loads(await _body(request))
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise InputError("This is not a JSON object.", hint="Send one object.")
    return value
