"""The API's OpenAPI document, as `script/openapi` wrote it, with this deployment's address."""

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

import orjson
from chalice.app import Blueprint

from chalicelib.http import Request, conditional, responses, router
from chalicelib.http.responses import NotModified, Text
from chalicelib.runtime import Runtime

FILE = Path(__file__).with_name("openapi.json")
_FIVE_MINUTES = "public, max-age=300"


class Document(Text):
    """200: an OpenAPI document."""

    media_type = "application/json"
    max_bytes = responses.MAX_BYTES


def routes(runtime: Runtime) -> Blueprint:
    """Return the blueprint of the document's route."""
    blueprint = Blueprint(__name__)
    route = router(blueprint, runtime, "Operation")

    @cache
    def load() -> tuple[str, str]:
        """Return the document and its entity tag; read at first use, not at a cold start."""
        document: dict[str, Any] = orjson.loads(FILE.read_bytes())
        document["servers"] = [{"url": runtime.settings.public_url or "/"}]
        text = orjson.dumps(document)
        return text.decode(), f'"{hashlib.sha256(text).hexdigest()[:20]}"'

    @route("GET", "/openapi.json")
    def get_document(request: Request) -> Document | NotModified:
        """Read this document: every operation of the API, as OpenAPI 3.1."""
        text, tag = load()
        headers = {"ETag": tag, "Cache-Control": _FIVE_MINUTES}
        if tag in conditional.held_tags(request):
            return NotModified(headers=headers)
        return Document(text, headers)

    return blueprint
