"""`python -m quire.surfaces.mcp` is the `memory-mcp` command."""

import sys

from quire.surfaces.mcp import main

if __name__ == "__main__":
    sys.exit(main())
