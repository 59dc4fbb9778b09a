"""`python -m quire` is the `memory` command."""

from quire.surfaces.cli import main

if __name__ == "__main__":
    main()
