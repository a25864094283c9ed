"""Write the API's document from the routes, or compare it with them (`--check`)."""

import argparse
import sys

from deploy.openapi.files import KEPT, own_app, ship, written


def main() -> None:
    """Write the file; with `--check`, exit with 1 if it differs from the routes."""
    parser = argparse.ArgumentParser(prog="script/openapi", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare only")
    arguments = parser.parse_args()
    text = written(own_app())
    if not arguments.check:
        KEPT.write_bytes(text)
        ship(text)
    elif KEPT.read_bytes() != text:
        sys.exit(f"{KEPT.name} is not what the routes say: run script/openapi")


if __name__ == "__main__":
    main()
