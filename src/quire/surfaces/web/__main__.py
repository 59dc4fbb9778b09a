"""`python -m quire.surfaces.web` is what `memory view` becomes."""

import sys

from quire.surfaces.web import main

if __name__ == "__main__":
    sys.exit(main())
