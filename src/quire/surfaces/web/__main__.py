"""`python -m quire.surfaces.web` is the process behind `memory view`."""

import sys

from quire.surfaces.web import main

if __name__ == "__main__":
    sys.exit(main())
