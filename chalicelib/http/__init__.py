"""Requests into models, values into answers, failures into problem+json.

Public face: `cursors`, `idempotency`, `pages`, `payloads`.
"""

from chalicelib.http.routing import (
    Input,
    PageQuery,
    Request,
    Route,
    View,
    no_content,
    problem_response,
    reply,
    router,
)

__all__ = [
    "Input",
    "PageQuery",
    "Request",
    "Route",
    "View",
    "no_content",
    "problem_response",
    "reply",
    "router",
]
