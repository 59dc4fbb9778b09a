"""The local page: what `memory view` serves, or writes into a folder."""

from __future__ import annotations

import os
import sys

__all__ = ["main"]


def main() -> int:
    """Serve until someone ends it, or do the one thing that was asked for."""
    from quire.files.world import real_world
    from quire.model.errors import QuireError
    from quire.surfaces.web.options import read_options
    from quire.surfaces.web.output import tell_error

    options = read_options(sys.argv[1:])
    try:
        world = real_world()
        if options.stop:
            from quire.surfaces.web.page_process import stop

            return stop(world, options)
        if options.export is not None:
            from quire.surfaces.web.export import export

            return export(world, options)
        if options.detach:
            from quire.surfaces.web.page_process import detach

            return detach(world, options)
        from quire.surfaces.web.serve import serve

        return serve(world, options)
    except QuireError as error:
        if options.detached:
            from quire.surfaces.web.page_process import say_why

            return say_why(error)
        return tell_error(error, as_json=options.as_json)
    except BrokenPipeError:
        os._exit(141)  # the reader is gone; the interpreter's own flush at exit would say so
    except KeyboardInterrupt:
        return 130
