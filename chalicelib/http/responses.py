"""Answers: JSON with a status of its own, other texts, bytes, no content, and problem+json."""

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from types import UnionType
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar, Union, get_args, get_origin

import orjson
from chalice.app import Response
from pydantic import BaseModel

from chalicelib.errors import Problem

Body_co = TypeVar("Body_co", covariant=True)

# Payload size: Lambda fails an invocation whose answer is over 6 MB.

# Below Lambda's 6,291,556 bytes, with room for headers and for the JSON around the body.
MAX_BYTES = 5_500_000
# Lambda sends the body as a string in JSON, which runtimes up to Python 3.11 write in ASCII: four
# bytes of UTF-8 become twelve, and an escaped quotation mark gets a second escape.
_BYTES_A_BYTE = 3
BYTES_A_CHARACTER = 12
# The longest escape of an ASCII character: a control character.
_BYTES_AN_ASCII_CHARACTER = 6
# The most bytes of an answer that is no text; base64 makes 5.6 MB of them.
MAX_BINARY_BYTES = 4 * 1024 * 1024


def sent_bytes(body: str | bytes) -> int:
    """Return the bytes of a body as Lambda sends it: a string in JSON, or base64."""
    return 4 * ((len(body) + 2) // 3) if isinstance(body, bytes) else len(json.dumps(body))


# The size of `MAX_BINARY_BYTES` in base64, as Lambda sends them.
BINARY_BYTES_SENT = sent_bytes(bytes(MAX_BINARY_BYTES))


class _Textual(Response):
    """An answer whose body is text: Chalice need not check whether to encode it."""

    def to_dict(self, _binary_types: list[str] | None = None) -> dict[str, Any]:
        """Return the answer as Lambda passes it to API Gateway."""
        answer: dict[str, Any] = super().to_dict()
        return answer


class Answer(_Textual, Generic[Body_co]):
    """A JSON answer. A subclass sets its status, and `Body_co` the shape of its body.

    The shape serves mypy and the API's document: the body is neither validated nor copied.
    """

    status: ClassVar[HTTPStatus]
    media_type: ClassVar[str | None] = "application/json"

    def __init__(self, body: Body_co, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(
            body=as_json(body),
            status_code=self.status,
            headers={"Content-Type": "application/json", **(headers or {})},
        )


class Ok(Answer[Body_co]):
    """200: the thing of the call."""

    status = HTTPStatus.OK


class Created(Answer[Body_co]):
    """201: the new thing."""

    status = HTTPStatus.CREATED


class Accepted(Answer[Body_co]):
    """202: work that a worker will finish."""

    status = HTTPStatus.ACCEPTED


class Text(_Textual):
    """A text that is sent as it is, or no body.

    A subclass sets its status, its media type if it has a body, and the most bytes of its texts as
    Lambda sends them.
    """

    status: ClassVar[HTTPStatus] = HTTPStatus.OK
    media_type: ClassVar[str | None] = None
    max_bytes: ClassVar[int | None] = None

    def __init__(
        self, text: str = "", headers: Mapping[str, str | list[str]] | None = None
    ) -> None:
        named = {"Content-Type": f"{self.media_type}; charset=utf-8"} if self.media_type else {}
        super().__init__(text, {**named, **(headers or {})}, self.status)


class Binary(Response):
    """Bytes; a subclass sets its status and the media types of its answers.

    It encodes itself: Chalice's own encoding refuses callers without `Accept`.
    """

    status: ClassVar[HTTPStatus] = HTTPStatus.OK
    media_types: ClassVar[tuple[str, ...]] = ()
    max_bytes: ClassVar[int] = BINARY_BYTES_SENT

    def __init__(self, data: bytes, media_type: str, headers: Mapping[str, str]) -> None:
        named = {
            "Content-Type": media_type,
            # API Gateway compresses an answer that names no encoding, but no browser can use a
            # compressed part of a picture.
            "Content-Encoding": "identity",
        }
        super().__init__(data, {**named, **headers}, self.status)

    def to_dict(self, _binary_types: list[str] | None = None) -> dict[str, Any]:
        """Return the answer as Lambda passes it to API Gateway, in base64."""
        answer: dict[str, Any] = super().to_dict()
        encoded = base64.b64encode(self.body or b"").decode("ascii")
        return {**answer, "body": encoded, "isBase64Encoded": True}


# A transparent picture of one pixel (GIF89a), as `<img>` needs it.
_PIXEL = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")


class Pixel(Binary):
    """200: a transparent picture, the same whether the call counts or not."""

    media_types = ("image/gif",)
    max_bytes = sent_bytes(_PIXEL)

    def __init__(self) -> None:
        # A cached pixel would count many views as one.
        # Pages of any origin may show it, even under Cross-Origin-Embedder-Policy.
        named = {"Cache-Control": "no-store", "Cross-Origin-Resource-Policy": "cross-origin"}
        super().__init__(_PIXEL, "image/gif", named)


class Found(Text):
    """302: the thing is at another address."""

    status = HTTPStatus.FOUND


class NotModified(Text):
    """304: the caller has the current answer."""

    status = HTTPStatus.NOT_MODIFIED


class NoContent(Text):
    """204: done, without a body."""

    status = HTTPStatus.NO_CONTENT


def reply(
    value: Any, status: HTTPStatus = HTTPStatus.OK, headers: Mapping[str, str] | None = None
) -> Response:
    """Return an answer with `value` as JSON: models, dataclasses, dates and plain values."""
    return _Textual(
        body=as_json(value),
        status_code=status,
        headers={"Content-Type": "application/json", **(headers or {})},
    )


def no_content() -> Response:
    """Return an answer 204, without a body."""
    return NoContent()


def problem_response(problem: Problem) -> Response:
    """Return the answer for a problem (RFC 9457)."""
    return _Textual(
        body=as_json(problem.body()),
        status_code=problem.status,
        headers={"Content-Type": "application/problem+json", **problem.headers},
    )


def as_json(value: Any) -> str:
    """Return a value as JSON; times are in UTC and end in Z."""
    return orjson.dumps(value, default=_dump, option=orjson.OPT_UTC_Z).decode()


def _dump(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump()
    raise TypeError(f"{type(value).__name__} has no JSON form")


class Outcome(NamedTuple):
    """A kind of answer of a view: its status, its media type and the shape of its body."""

    status: HTTPStatus
    media_type: str | None
    # `bytes`: the answer is not text.
    shape: Any
    # As Lambda sends it; None: the shape bounds it.
    max_bytes: int | None = None


def outcomes_of(returned: Any) -> Iterator[Outcome]:
    """Yield each answer that a view's return type names."""
    union = get_origin(returned) in {Union, UnionType}
    for each in get_args(returned) if union else (returned,):
        kind = get_origin(each) or each
        if isinstance(kind, type) and kind is not Text and issubclass(kind, (Answer, Text)):
            (shape,) = get_args(each) or (None,)
            most = kind.max_bytes if issubclass(kind, Text) else None
            yield Outcome(kind.status, kind.media_type, shape, most)
        elif isinstance(kind, type) and issubclass(kind, Binary):
            for media_type in kind.media_types:
                yield Outcome(kind.status, media_type, bytes, kind.max_bytes)


def fits(body: str | bytes) -> bool:
    """Return whether a body fits into an answer.

    For nearly every body the length alone decides, without encoding the text again.
    """
    if isinstance(body, bytes):
        return len(body) <= MAX_BINARY_BYTES
    a_character = _BYTES_AN_ASCII_CHARACTER if body.isascii() else BYTES_A_CHARACTER
    return a_character * len(body) + len('""') <= MAX_BYTES or sent_bytes(body) <= MAX_BYTES


def fewer_rows(rows: int, size: int) -> int:
    """Return the number of rows to try after `rows` gave an answer of `size` bytes: at least one.

    At most half of `rows`, since a page may have had fewer rows than its limit.
    """
    return max(1, min(rows // 2, rows * MAX_BYTES // size))


def fitting(rows: Sequence[Any]) -> int:
    """Return how many JSON values, from the first on, fit into an answer; at least one if any."""
    if _BYTES_A_BYTE * len(orjson.dumps(rows)) <= MAX_BYTES:
        return len(rows)
    size = 0
    for number, row in enumerate(rows):
        size += len(json.dumps(orjson.dumps(row).decode()))
        if number and size > MAX_BYTES:
            return number
    return len(rows)
