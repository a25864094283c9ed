"""The media types of feeds."""

from collections.abc import Mapping
from typing import TypeVar

from chalicelib.http import Ok, Text
from chalicelib.http.responses import MAX_BYTES

Body_co = TypeVar("Body_co", covariant=True)


class AtomFeed(Text):
    """200: a feed as Atom."""

    media_type = "application/atom+xml"
    max_bytes = MAX_BYTES


class JsonFeed(Ok[Body_co]):
    """200: a feed as JSON Feed."""

    media_type = "application/feed+json"

    def __init__(self, body: Body_co, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(body, {**(headers or {}), "Content-Type": "application/feed+json"})
