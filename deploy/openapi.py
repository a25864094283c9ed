"""Write the API's document from the routes, or compare it with them (`--check`)."""

import argparse
import os
import sys

import orjson
from chalice.app import Chalice

from chalicelib import __version__
from chalicelib.http import Operation, openapi
from chalicelib.http.document import FILE

_OPTIONS = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE


def main() -> None:
    """Write the file, or end with 1 if it is not what the routes say."""
    parser = argparse.ArgumentParser(prog="script/openapi", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare only")
    arguments = parser.parse_args()
    os.environ.setdefault("PLAZA_MONGODB_URI", "mongodb://localhost")
    from app import app

    text = written(app)
    if not arguments.check:
        FILE.write_bytes(text)
    elif FILE.read_bytes() != text:
        sys.exit(f"{FILE.name} is not what the routes say: run script/openapi")


def operations(app: Chalice) -> list[Operation]:
    """Return the operations of an app, in the order in which they were declared."""
    views = [
        route.view_function
        for methods in app.routes.values()
        for method, route in methods.items()
        if method not in {"HEAD", "OPTIONS"}
    ]
    return [vars(view)["operation"] for view in views]


def written(app: Chalice) -> bytes:
    """Return the document of an app as the file has it."""
    return orjson.dumps(openapi.document(operations(app), __version__), option=_OPTIONS)


if __name__ == "__main__":
    main()
