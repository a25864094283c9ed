"""Answers: JSON with a status of its own, other texts, no content, and problem+json."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, ClassVar, Generic, TypeVar

import orjson
from chalice.app import Response
from pydantic import BaseModel

from chalicelib.errors import Problem

Body_co = TypeVar("Body_co", covariant=True)


class Answer(Response, Generic[Body_co]):
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


class Text(Response):
    """A text that is not JSON; the subclass says its status and its media type, if it has any."""

    status: ClassVar[HTTPStatus] = HTTPStatus.OK
    media_type: ClassVar[str | None] = None

    def __init__(
        self, text: str = "", headers: Mapping[str, str | list[str]] | None = None
    ) -> None:
        named = {"Content-Type": f"{self.media_type}; charset=utf-8"} if self.media_type else {}
        super().__init__(text, {**named, **(headers or {})}, self.status)


class NoContent(Text):
    """204: done, with nothing to say."""

    status = HTTPStatus.NO_CONTENT


def reply(
    value: Any, status: HTTPStatus = HTTPStatus.OK, headers: Mapping[str, str] | None = None
) -> Response:
    """Answer with `value` as JSON: models, dataclasses, dates and plain values."""
    return Response(
        body=as_json(value),
        status_code=status,
        headers={"Content-Type": "application/json", **(headers or {})},
    )


def no_content() -> Response:
    """Answer 204."""
    return NoContent()


def problem_response(problem: Problem) -> Response:
    """Answer with a problem as RFC 9457 has it."""
    return Response(
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
