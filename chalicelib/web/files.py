"""Files of the package, with an entity tag each."""

import hashlib
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

PAGES = Path(__file__).with_name("pages")
# Where `script/package` puts the files of other makers; on a developer's machine they stay in the
# installed package that brings them.
VENDORED = Path(__file__).with_name("vendored")
# What `script/web` builds of web/embed, for the package, and for the local server.
EMBED = Path(__file__).with_name("embed")
# What it builds of web/console.
CONSOLE = Path(__file__).with_name("console")
LOADER, MANIFEST = "plaza.js", "manifest.json"
# What pages that are written by the server look like.
PAGE_STYLES = "page.css"
SWAGGER_UI = ("swagger-ui-bundle.js", "swagger-ui.css")


class StaticFile(NamedTuple):
    """A text, and its entity tag."""

    text: str
    tag: str


def static_file(path: Path) -> StaticFile:
    """Read a file, once for each container unless it is written anew."""
    return _read(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=64)
def _read(path: Path, _written_at_ns: int) -> StaticFile:
    text = path.read_text()
    return StaticFile(text, f'"{hashlib.sha256(text.encode()).hexdigest()[:20]}"')


def swagger_ui() -> Path:
    """Return the folder of Swagger UI's files.

    They come with flask-swagger-ui, of which nothing is imported: Flask does not ship.
    """
    if VENDORED.exists():
        return VENDORED
    found = find_spec("flask_swagger_ui")
    assert found is not None  # noqa: S101 - the requirements name it
    assert found.origin is not None  # noqa: S101 - it is a package with files
    return Path(found.origin).with_name("dist")
