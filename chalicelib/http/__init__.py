"""Requests parsed into models; values and failures written as answers.

Public face: `cursors`, `idempotency`, `pages`, `payloads`.
"""

from chalicelib.http.requests import Input, PageQuery, Request
from chalicelib.http.responses import (
    Accepted,
    Answer,
    Created,
    NoContent,
    Ok,
    no_content,
    problem_response,
    reply,
)
from chalicelib.http.routing import Operation, Route, View, router
from chalicelib.http.signatures import Roles

__all__ = [
    "Accepted",
    "Answer",
    "Created",
    "Input",
    "NoContent",
    "Ok",
    "Operation",
    "PageQuery",
    "Request",
    "Roles",
    "Route",
    "View",
    "no_content",
    "problem_response",
    "reply",
    "router",
]
