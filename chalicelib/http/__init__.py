"""The HTTP edge of Plaza: requests become models; values and failures become answers.

Public face: `batches`, `callers`, `conditional`, `document`, `health`, `idempotency`, `me`,
`pages`, `paging`, `responses`, `spans`.
"""

from chalicelib.http.requests import (
    MAX_PAGE,
    Input,
    PageQuery,
    Request,
    Retired,
    everybody,
    parse_part,
    without_defaults,
)
from chalicelib.http.responses import (
    Accepted,
    Answer,
    Binary,
    Created,
    Found,
    NoContent,
    NotModified,
    Ok,
    Pixel,
    Text,
    no_content,
    problem_response,
    reply,
)
from chalicelib.http.routing import Operation, Roles, Route, View, router

__all__ = [
    "MAX_PAGE",
    "Accepted",
    "Answer",
    "Binary",
    "Created",
    "Found",
    "Input",
    "NoContent",
    "NotModified",
    "Ok",
    "Operation",
    "PageQuery",
    "Pixel",
    "Request",
    "Retired",
    "Roles",
    "Route",
    "Text",
    "View",
    "everybody",
    "no_content",
    "parse_part",
    "problem_response",
    "reply",
    "router",
    "without_defaults",
]
