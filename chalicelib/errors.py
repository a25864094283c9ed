"""Errors: the base class `Problem`, and problems that several features raise."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from chalice.app import ChaliceUnhandledError


@dataclass(frozen=True)
class FieldError:
    """A fault of a request: the field as a dotted path, a stable code, an explanation."""

    field: str
    code: str
    detail: str


class Problem(ChaliceUnhandledError):
    """A failure with a meaning for the caller: the answer is RFC 9457 problem+json.

    It descends from ChaliceUnhandledError because Chalice lets only that family reach the
    middleware that writes the answer (`chalicelib.http.middleware.install`).
    """

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal"
    title: ClassVar[str] = "Something went wrong on our side"
    # A header that each answer has, for the API's document.
    header: ClassVar[str] = ""

    def __init__(
        self,
        detail: str | None = None,
        *,
        errors: Sequence[FieldError] = (),
        headers: Mapping[str, str] | None = None,
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(detail or self.title)
        self.detail = detail
        self.errors = tuple(errors)
        self.headers = dict(headers or {})
        self.facts = facts

    def body(self) -> dict[str, Any]:
        """Return the members of RFC 9457, with `code`, and `errors` or `facts` if there are any."""
        body: dict[str, Any] = {
            "type": f"urn:plaza:problem:{self.code}",
            "title": self.title,
            "status": self.status,
            "code": self.code,
        }
        if self.detail:
            body["detail"] = self.detail
        if self.errors:
            body["errors"] = self.errors
        if self.facts:
            body["facts"] = self.facts
        return body


class Internal(Problem):
    """An unexpected failure; the log has the reason, the answer does not."""


class AnswerTooLarge(Problem):
    """An answer that Lambda would refuse; the log has its size, the answer does not."""


class Misconfigured(Problem):
    """The deployment lacks a setting; the log names it, the answer does not."""


class InvalidJson(Problem):
    """The body is not JSON, or is missing."""

    status = 400
    code = "invalid_json"
    title = "The body is not valid JSON"


class InvalidCursor(Problem):
    """The cursor was altered, cut, or belongs to another listing."""

    status = 400
    code = "invalid_cursor"
    title = "This cursor does not belong to this listing"


class Unauthenticated(Problem):
    """The call needs a valid bearer token."""

    status = 401
    code = "unauthenticated"
    title = "A valid bearer token is needed"
    header = "WWW-Authenticate"

    def __init__(self, detail: str | None = None) -> None:
        super().__init__(detail, headers={"WWW-Authenticate": 'Bearer realm="plaza"'})


class Forbidden(Problem):
    """The caller is known and may not do this."""

    status = 403
    code = "forbidden"
    title = "You may not do this"


class UnknownRoute(Problem):
    """No route has this path."""

    status = 404
    code = "unknown_route"
    title = "No route has this path and method"


class MethodNotAllowed(Problem):
    """The path has a route, but none for this method; the header `Allow` names its methods."""

    status = 405
    code = "method_not_allowed"
    title = "The path does not take this method"


class ChangeTooLarge(Problem):
    """A change would write more than fits into a transaction; it writes nothing."""

    status = 409
    code = "change_too_large"
    title = "This change is too large to be made at once"


class RequestInProgress(Problem):
    """Another call with the same Idempotency-Key may still be running."""

    status = 409
    code = "request_in_progress"
    title = "Another request with this Idempotency-Key may still be running"
    header = "Retry-After"

    def __init__(self, *, retry_after_seconds: int) -> None:
        super().__init__(headers={"Retry-After": str(retry_after_seconds)})


class BodyTooLarge(Problem):
    """The body is over the limit."""

    status = 413
    code = "body_too_large"
    title = "The body is too large"


class UnsupportedMediaType(Problem):
    """The route does not read bodies of this content type."""

    status = 415
    code = "unsupported_media_type"
    title = "This call does not read a body of this Content-Type"


class InvalidRequest(Problem):
    """The body, the query, the path or a header breaks the rules named in `errors`."""

    status = 422
    code = "invalid_request"
    title = "The request is not valid"


class UnreadableText(InvalidRequest):
    """A Markdown text shows nothing, or would reverse the text after it."""

    def __init__(self, field: str, code: str, detail: str) -> None:
        super().__init__(errors=[FieldError(field, code, detail)])


class VersionNeeded(Problem):
    """A change lacks `If-Match` with the version that the caller has read."""

    status = 428
    code = "version_needed"
    title = "Send the version that you have read as If-Match"


class TooFast(Problem):
    """The caller, or their address, writes too often; the call wrote nothing."""

    status = 429
    code = "too_fast"
    title = "Too many requests: wait before you try again"
    header = "Retry-After"

    def __init__(self, *, retry_after_seconds: int) -> None:
        super().__init__(headers={"Retry-After": str(retry_after_seconds)})


class Unavailable(Problem):
    """A service that the call needs is unreachable now; a retry may help."""

    status = 503
    code = "unavailable"
    title = "Temporarily unavailable: try again later"
    header = "Retry-After"

    def __init__(self, detail: str | None = None, *, retry_after_seconds: int = 1) -> None:
        super().__init__(detail, headers={"Retry-After": str(retry_after_seconds)})


class IdempotencyKeyReused(Problem):
    """The caller has used the key for another request."""

    status = 409
    code = "idempotency_key_reused"
    title = "This Idempotency-Key was used for another request"


class EditWindowOver(Problem):
    """The author may no longer change the comment."""

    status = 403
    code = "edit_window_over"
    title = "A comment can be changed by its author for 15 minutes"


class TooManyBlocked(Problem):
    """The caller's list of blocked people is full, or the other person's list of blockers."""

    status = 409
    code = "too_many_blocked"
    title = "You have blocked as many people as you may"


class UnknownComment(Problem):
    """The node has no comment of this id that the caller may know about."""

    status = 404
    code = "unknown_comment"
    title = "Comment not found on this node"


class ReportTooLarge(Problem):
    """A report would have too many rows for a file, or too many bytes for an answer."""

    status = 422
    code = "report_too_large"
    title = "This report is too large for one file: ask for less time at once"
