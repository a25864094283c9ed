"""Answers: JSON with a status of its own, other texts, bytes, no content, and problem+json."""

import base64
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, ClassVar, Generic, TypeVar

import orjson
from chalice.app import Response
from pydantic import BaseModel

from chalicelib.errors import Problem

Body_co = TypeVar("Body_co", covariant=True)


class _Textual(Response):
    """An answer whose body is text, so that Chalice need not ask whether to encode it."""

    def to_dict(self, _binary_types: list[str] | None = None) -> dict[str, Any]:
        """Return the answer as Lambda gives it to API Gateway."""
        answer: dict[str, Any] = super().to_dict()
        return answer


class Answer(_Textual, Generic[Body_co]):
    """A JSON answer; the subclass says its status, `Body_co` the shape of its body.

    The shape is for mypy and for the API's document: nothing is validated or copied.
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
    """200: what was asked for."""

    status = HTTPStatus.OK


class Created(Answer[Body_co]):
    """201: what the call has made."""

    status = HTTPStatus.CREATED


class Accepted(Answer[Body_co]):
    """202: what a worker will finish."""

    status = HTTPStatus.ACCEPTED


class Text(_Textual):
    """A text that is not JSON; the subclass says its status and its media type, if it has any.

    It says the most bytes of its texts, too, as Lambda sends them.
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
    """Bytes; the subclass says its status, and the media types that its answers may have.

    It encodes itself. With binary types of its own, Chalice would refuse callers without `Accept`.
    """

    status: ClassVar[HTTPStatus] = HTTPStatus.OK
    media_types: ClassVar[tuple[str, ...]] = ()

    def __init__(self, data: bytes, media_type: str, headers: Mapping[str, str]) -> None:
        named = {
            "Content-Type": media_type,
            # API Gateway compresses what names no encoding: half a picture, compressed, would be
            # the half of nothing.
            "Content-Encoding": "identity",
        }
        super().__init__(data, {**named, **headers}, self.status)

    def to_dict(self, _binary_types: list[str] | None = None) -> dict[str, Any]:
        """Return the answer as Lambda gives it to API Gateway, in base64."""
        answer: dict[str, Any] = super().to_dict()
        encoded = base64.b64encode(self.body or b"").decode("ascii")
        return {**answer, "body": encoded, "isBase64Encoded": True}


class Found(Text):
    """302: where it is now."""

    status = HTTPStatus.FOUND


class NotModified(Text):
    """304: the caller has the answer as it is."""

    status = HTTPStatus.NOT_MODIFIED


class NoContent(Text):
    """204: done, with nothing to say."""

    status = HTTPStatus.NO_CONTENT


def reply(
    value: Any, status: HTTPStatus = HTTPStatus.OK, headers: Mapping[str, str] | None = None
) -> Response:
    """Answer with `value` as JSON: models, dataclasses, dates and plain values."""
    return _Textual(
        body=as_json(value),
        status_code=status,
        headers={"Content-Type": "application/json", **(headers or {})},
    )


def no_content() -> Response:
    """Answer 204."""
    return NoContent()


def problem_response(problem: Problem) -> Response:
    """Answer with a problem as RFC 9457 has it."""
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
