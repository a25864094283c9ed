"""The API's document as files: indented in the repository for diffs, compact in the package.

The kept document is Plaza's own. A deployment ships that of its own app, which may have registered
further types.
"""

import os
from pathlib import Path

import orjson
from chalice.app import Chalice

from chalicelib import __version__
from chalicelib.http import Operation
from chalicelib.http.document import FILE as SHIPPED
from deploy.declared import ROOT
from deploy.openapi.document import document
from deploy.web import replace

KEPT = ROOT / "contract" / "openapi.json"
_OPTIONS = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE


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
    """Return the document of an app as the kept file has it."""
    return orjson.dumps(document(operations(app), __version__), option=_OPTIONS)


def own_app() -> Chalice:
    """Return the app that `app.py` makes for a deployment; it connects to nothing."""
    os.environ.setdefault("PLAZA_MONGODB_URI", "mongodb://localhost")
    from app import app

    return app


def ship(text: bytes, file: Path = SHIPPED) -> None:
    """Write a document to the file that is served, without its indentation."""
    replace(file, orjson.dumps(orjson.loads(text)).decode())
