"""Manage the page's process: announce its address, detach it, stop it."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from time import monotonic
from typing import TYPE_CHECKING, Any

import msgspec

from quire.files import daemons, disk
from quire.files.digests import hex_digest
from quire.files.durable_write import ensure_folder
from quire.files.json_files import json_value
from quire.files.paths import storage_failed
from quire.files.world import World
from quire.model.errors import Conflict, QuireError, StorageFailed
from quire.model.times import timestamp
from quire.project import Project
from quire.surfaces.web.options import PageOptions
from quire.surfaces.web.output import tell

if TYPE_CHECKING:
    from quire.surfaces.web.page_calls import PageCalls

FOLDER = "view"
_START_SECONDS = 20.0
_STOP_SECONDS = 5.0
_PAUSE_SECONDS = 0.05
_BROWSER_SECONDS = 2.0
_MODULE = "quire.surfaces.web"


class _Why(msgspec.Struct, frozen=True):
    message: str
    hint: str


class Running(msgspec.Struct, frozen=True, kw_only=True):
    """What a page that goes on alone says of itself. Only its user may read it: the link opens the page."""

    pid: int
    mark: str
    """When the process was started, as far as the system tells; so that no other one of this number is taken for it."""
    url: str
    root: str
    write: bool
    started_at: str
    opened: bool = False
    """Whether a browser took its link when it was started."""


# -- where it is ------------------------------------------------------------------------------


def announce(
    world: World,
    options: PageOptions,
    page_calls: PageCalls,
    *,
    port: int,
    token: str,
    ticket: str,
    noting: daemons.Hold | None,
) -> None:
    """Print the link of the page and open a browser if asked; a detached page writes the link into its lock instead."""
    url = _link(port, f"token={token}")
    root = _root(world, options)
    opened = options.open_browser and _opened(_link(port, f"ticket={ticket}"), world)
    if noting is not None:
        found = Running(
            pid=world.pid,
            mark=daemons.process_mark(world.pid, world.env),
            url=url,
            root=root,
            write=options.write,
            started_at=timestamp(world.now()),
            opened=opened,
        )
        noting.say(msgspec.json.encode(found))
        daemons.go_quiet()
        return
    _tell_where(page_calls, url, options, opened=opened, detached=False, root=root)


def _link(port: int, secret: str) -> str:
    return f"http://127.0.0.1:{port}/#{secret}"


def _tell_where(
    page_calls: PageCalls, url: str, options: PageOptions, *, opened: bool, detached: bool, root: str
) -> None:
    """Print the link, and how the page is ended."""
    registry, projects = page_calls.registry_path(), len(page_calls.projects())
    lines = [f"Memory viewer: {url}", f"Projects: {projects} ({registry})"]
    if options.write:
        lines.append("Records can be changed on this page (--write).")
    if options.open_browser:
        lines.append("Opened in your browser." if opened else "No browser could be opened: open the link yourself.")
    lines.append("Running in the background. Stop it with `memory view --stop`." if detached else "Ctrl-C ends it.")
    data: dict[str, Any] = {
        "url": url,
        "host": "127.0.0.1",
        "port": _port(url),
        "token_required": True,
        "write": options.write,
        "open_attempted": options.open_browser,
        "opened": opened,
        "detached": detached,
        "registry_path": registry,
        "projects_count": projects,
        "project_root": root,
    }
    tell(data, lines, as_json=options.as_json)


def _opened(url: str, world: World) -> bool:
    """Whether a browser took the link. Without a screen there is none worth starting."""
    if sys.platform.startswith("linux") and not (world.env.get("DISPLAY") or world.env.get("WAYLAND_DISPLAY")):
        if not world.env.get("BROWSER"):
            return False
    import webbrowser

    taken: list[bool] = []

    def ask() -> None:
        with contextlib.suppress(webbrowser.Error, OSError):
            taken.append(webbrowser.open(url))

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(_BROWSER_SECONDS)
    # One that runs in the foreground has the link, and waits for a page that is not served before this returns.
    return taken == [True] or asking.is_alive()


# -- one that goes on alone -----------------------------------------------------------------------


def _root(world: World, options: PageOptions) -> str:
    return str(Project.open(options.start or world.cwd, world).root)


def _place(world: World, root: str) -> str:
    """The lock of the page that goes on alone for a project; its folder is closed to others."""
    if not world.memory_home:
        raise StorageFailed("There is no home folder.", hint="Set HOME or MEMORY_HOME.")
    folder = os.path.join(world.memory_home, FOLDER)
    try:
        ensure_folder(folder)
        if os.stat(folder).st_mode & 0o077:
            disk.set_mode(folder, 0o700)
    except OSError as error:
        raise storage_failed(error, "make a folder for the page") from error
    return os.path.join(folder, f"{hex_digest(os.path.realpath(root))[:16]}.lock")


@contextlib.contextmanager
def noted(world: World, options: PageOptions) -> Iterator[daemons.Hold | None]:
    """While a page goes on alone it holds its lock; one in the foreground needs none."""
    if not options.detached:
        yield None
        return
    place = _place(world, _root(world, options))
    held = daemons.hold(place, lambda _: False, world.sleep)
    if held is None:
        raise Conflict("A page of this project is already running.", hint="`memory view --stop` ends it.")
    try:
        disk.set_mode(place, 0o600)  # before the link is in it
        held.say(b"")  # one that was killed may have left what it said of itself
        yield held
    finally:
        held.release()


def _running(world: World, root: str) -> Running | None:
    """The page that runs alone for this project. What its lock says is believed only as far as the system agrees."""
    said = daemons.holder_of(_place(world, root))
    found = json_value(said or b"", Running)
    return found if found is not None and _is_a_page(world, found) else None


def _is_a_page(world: World, found: Running) -> bool:
    if not daemons.is_process_id(found.pid) or not found.mark:
        return False
    words = daemons.command_line(found.pid, world.env)
    return daemons.process_mark(found.pid, world.env) == found.mark and (words is None or _MODULE in words)


def detach(world: World, options: PageOptions) -> int:
    """Start a page that goes on alone, unless one runs already; say where it is."""
    from quire.surfaces.web.assets import read_assets
    from quire.surfaces.web.page_calls import PageCalls

    read_assets()
    root = _root(world, options)
    found = _running(world, root)
    if found is None:
        found = _started(world, options, root)
        opened = found.opened
    else:
        _refuse_other(found, options)
        opened = options.open_browser and _opened(_link(_port(found.url), f"ticket={_new_ticket(found)}"), world)
    page_calls = PageCalls(world, options.start or world.cwd, may_write=options.write)
    _tell_where(page_calls, found.url, options, opened=opened, detached=True, root=root)
    return 0


def _refuse_other(found: Running, options: PageOptions) -> None:
    """One page of a project goes on alone; one that was asked for otherwise does not quietly become another."""
    if found.write != options.write or options.port not in (0, _port(found.url)):
        raise Conflict(
            f"A page of this project is already running, on port {_port(found.url)},"
            f" {'with' if found.write else 'without'} --write.",
            hint="`memory view --stop` ends it.",
        )


def _port(url: str) -> int:
    return int(url.partition("127.0.0.1:")[2].partition("/")[0])


def _new_ticket(found: Running) -> str:
    """A ticket of the page that runs, for a browser that is started now."""
    from http.client import HTTPConnection, HTTPException

    asked = {"authorization": f"Bearer {found.url.partition('token=')[2]}", "content-type": "application/json"}
    connection = HTTPConnection("127.0.0.1", _port(found.url), timeout=_STOP_SECONDS)
    try:
        connection.request("POST", "/api/tickets", b"{}", asked)
        return str(msgspec.json.decode(connection.getresponse().read())["data"]["ticket"])
    except (OSError, HTTPException, msgspec.MsgspecError, KeyError):
        return ""
    finally:
        connection.close()


def _started(world: World, options: PageOptions, root: str) -> Running:
    alone = msgspec.structs.replace(options, detach=False, detached=True, start=root, as_json=False)
    command = [sys.executable, "-P", "-m", _MODULE, msgspec.json.encode(alone).decode()]
    try:
        child = daemons.Child(command, cwd=root, env=world.env)
    except OSError as error:
        raise storage_failed(error, "start the page") from error
    until = monotonic() + _START_SECONDS
    while monotonic() < until:
        found = _running(world, root)
        if found is not None:
            child.let_go()
            return found
        if child.wait(_PAUSE_SECONDS):
            said = child.last_line
            child.end()
            raise _not_started(said)
    child.end(1.0)
    raise QuireError("The page did not respond and was stopped.", hint="Try it without --detach.")


def say_why(error: QuireError) -> int:
    """What kept a page that should go on alone from doing so: one line, for whoever started it."""
    sys.stderr.write(msgspec.json.encode(_Why(error.message, error.hint or "")).decode() + "\n")
    return 1


def _not_started(said: str) -> QuireError:
    why = json_value(said, _Why)
    if why is None:
        return QuireError(f"The page could not be started. It said: {said}", hint="Try it without --detach.")
    return QuireError(why.message, hint=why.hint)


def stop(world: World, options: PageOptions) -> int:
    """End the page that goes on alone for this project. No other process is ever sent a signal."""
    root = _root(world, options)
    found = _running(world, root)
    if found is None:
        tell(
            {"stopped": False, "project_root": root},
            ["No page of this project runs in the background."],
            as_json=options.as_json,
        )
        return 0

    def is_still_there() -> bool:
        now = _running(world, root)
        return now is not None and (now.pid, now.mark) == (found.pid, found.mark)

    for number in (signal.SIGTERM, signal.SIGKILL):
        daemons.send_signal(found.pid, number, is_still_there)
        until = monotonic() + _STOP_SECONDS
        while is_still_there() and monotonic() < until:
            world.sleep(_PAUSE_SECONDS)
        if not is_still_there():
            data = {"stopped": True, "pid": found.pid, "project_root": root}
            tell(data, ["Stopped the page."], as_json=options.as_json)
            return 0
    raise Conflict(f"Process {found.pid} does not stop.", hint="Try again later.", details={"pid": found.pid})
