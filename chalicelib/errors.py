"""Every error that Plaza answers with, each with its HTTP status and stable code."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from chalice.app import ChaliceUnhandledError


@dataclass(frozen=True)
class FieldError:
    """One fault of a request: the field as a dotted path, a stable code, what is wrong."""

    field: str
    code: str
    detail: str


class Problem(ChaliceUnhandledError):
    """A failure with a meaning for the caller, answered as RFC 9457 problem+json.

    It descends from ChaliceUnhandledError because Chalice lets only that family reach the
    middleware that writes the answer (`chalicelib.http.install`).
    """

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal"
    title: ClassVar[str] = "Something went wrong on our side"

    def __init__(
        self,
        detail: str | None = None,
        *,
        errors: Sequence[FieldError] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail or self.title)
        self.detail = detail
        self.errors = tuple(errors)
        self.headers = dict(headers or {})

    def body(self) -> dict[str, Any]:
        """Return the members of RFC 9457, with `code` and, for field faults, `errors`."""
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
        return body


class Internal(Problem):
    """An unexpected failure; the log has the reason, the answer does not."""


class Misconfigured(Problem):
    """The deployment lacks a setting; the log names it, the answer does not."""


class InvalidJson(Problem):
    """The body is not JSON, or there is none."""

    status = 400
    code = "invalid_json"
    title = "The body is not valid JSON"


class InvalidCursor(Problem):
    """The cursor was altered, cut, or belongs to another listing."""

    status = 400
    code = "invalid_cursor"
    title = "The cursor is not one that this listing gave out"


class Unauthenticated(Problem):
    """There is no valid bearer token where one is needed."""

    status = 401
    code = "unauthenticated"
    title = "A valid bearer token is needed"

    def __init__(self, detail: str | None = None) -> None:
        super().__init__(detail, headers={"WWW-Authenticate": 'Bearer realm="plaza"'})


class Forbidden(Problem):
    """The caller is known and may not do this."""

    status = 403
    code = "forbidden"
    title = "You may not do this"


class UnknownRoute(Problem):
    """No such path, or no such method on it (API Gateway knows no difference)."""

    status = 404
    code = "unknown_route"
    title = "There is nothing at this path for this method"


class ChangeTooLarge(Problem):
    """One change would write more than the database takes in a transaction; none of it is."""

    status = 409
    code = "change_too_large"
    title = "This changes more at once than the database can take"


class BodyTooLarge(Problem):
    """The body is over the limit."""

    status = 413
    code = "body_too_large"
    title = "The body is larger than 1 MB"


class UnsupportedMediaType(Problem):
    """The body's content type is not one that the route reads."""

    status = 415
    code = "unsupported_media_type"
    title = "Send the body as Content-Type: application/json"


class InvalidRequest(Problem):
    """The body, the query or the path breaks the rules named in `errors`."""

    status = 422
    code = "invalid_request"
    title = "The request does not fit what this call takes"


class Unavailable(Problem):
    """Something that the call needs cannot be reached now; trying again may help."""

    status = 503
    code = "unavailable"
    title = "Plaza cannot do this right now"

    def __init__(self, detail: str | None = None, *, retry_after_seconds: int = 1) -> None:
        super().__init__(detail, headers={"Retry-After": str(retry_after_seconds)})


# Comments


class UnknownNode(Problem):
    """No node has this id."""

    status = 404
    code = "unknown_node"
    title = "There is no such node"


class UnknownComment(Problem):
    """The node has no comment of this id that the caller may know about."""

    status = 404
    code = "unknown_comment"
    title = "There is no such comment on this node"


class NodeLocked(Problem):
    """The node takes no more comments."""

    status = 409
    code = "node_locked"
    title = "This discussion is locked"


class NodeHasComments(Problem):
    """The node's layout cannot change under the comments that it has."""

    status = 409
    code = "node_has_comments"
    title = "The node has comments: its threading stays, and its store changes by a move"


class SiteIsFixed(Problem):
    """A node stays with the site that it was made for."""

    status = 409
    code = "site_is_fixed"
    title = "The node belongs to another site"


class StoreTooSmall(Problem):
    """The node's comments do not fit into the store that it should move to."""

    status = 409
    code = "store_too_small"
    title = "The node has more comments than this store can hold"


class CommentDeleted(Problem):
    """The comment is a tombstone, which does not change any more."""

    status = 409
    code = "comment_deleted"
    title = "The comment has been deleted"


class EditWindowOver(Problem):
    """The author may no longer change the comment."""

    status = 403
    code = "edit_window_over"
    title = "A comment can be changed by its author for 15 minutes"


class CannotThread(Problem):
    """The store keeps comments by number alone, and the node is to be threaded."""

    status = 422
    code = "cannot_thread"
    title = "This store cannot hold a threaded node; the stores documents and embedded can"


class NotThreaded(Problem):
    """A reply was sent to a node whose discussion is flat."""

    status = 422
    code = "not_threaded"
    title = "This discussion is not threaded: post without a parent"


class CommentTooLarge(Problem):
    """The comment's HTML is over its limit."""

    status = 422
    code = "comment_too_large"
    title = "The comment becomes more than 64 KiB of HTML"


# Ads


class UnknownCampaign(Problem):
    """No campaign has this id."""

    status = 404
    code = "unknown_campaign"
    title = "There is no such campaign"


class UnknownZone(Problem):
    """The site has no zone of this id."""

    status = 404
    code = "unknown_zone"
    title = "There is no such zone on this site"


class ZoneChanged(Problem):
    """The zone is not of the version that was to be looked at."""

    status = 409
    code = "zone_changed"
    title = "The zone has changed since that decision"


class FlightOver(Problem):
    """The campaign's flight has ended, so it cannot be activated."""

    status = 409
    code = "flight_over"
    title = "The campaign's flight is over"


class ZoneFull(Problem):
    """A zone that the campaign targets has no room for its ads; the detail names the zones."""

    status = 409
    code = "zone_full"
    title = "A zone has no room for this campaign's ads"


# Accounts and counting


class UnknownAccount(Problem):
    """No account has this id."""

    status = 404
    code = "unknown_account"
    title = "There is no such account"


class InsufficientFunds(Problem):
    """The account holds less than the transfer asks for; nothing has moved."""

    status = 409
    code = "insufficient_funds"
    title = "The account does not hold this much"


class IdempotencyKeyReused(Problem):
    """The key stands for another transfer of this account."""

    status = 409
    code = "idempotency_key_reused"
    title = "This Idempotency-Key was used for another transfer"


class TransferInProgress(Problem):
    """Another call with the same key is under way."""

    status = 409
    code = "transfer_in_progress"
    title = "This transfer is under way"

    def __init__(self) -> None:
        super().__init__(headers={"Retry-After": "1"})


class BudgetCommitted(Problem):
    """The total would be below what the campaign has spent or leased."""

    status = 409
    code = "budget_committed"
    title = "The campaign has spent or promised more than this budget"


class InvalidToken(Problem):
    """The token was altered, cut, signed with another key, or made for another use."""

    status = 400
    code = "invalid_token"
    title = "The token is not one that Plaza gave out for this"


class ReportTooLarge(Problem):
    """A report as a file would have more rows than one can."""

    status = 422
    code = "report_too_large"
    title = "This report has more than 20,000 rows: ask for less time at once"


class TokenExpired(Problem):
    """The token's day is over."""

    status = 410
    code = "token_expired"
    title = "The token has expired"


# Social


class UnknownUser(Problem):
    """No user has this id."""

    status = 404
    code = "unknown_user"
    title = "There is no such user"


class UnknownCircle(Problem):
    """The user has no circle of this id."""

    status = 404
    code = "unknown_circle"
    title = "You have no such circle"


class UnknownPost(Problem):
    """No post has this id, or the caller may not see it."""

    status = 404
    code = "unknown_post"
    title = "There is no such post"


class CannotCircleSelf(Problem):
    """Users cannot be members of their own circles."""

    status = 422
    code = "cannot_circle_self"
    title = "You cannot put yourself into a circle of yours"


class TooManyCircles(Problem):
    """The user has as many circles as one can have."""

    status = 409
    code = "too_many_circles"
    title = "You have 100 circles already"


class CannotCircle(Problem):
    """One of the two users blocks the other."""

    status = 409
    code = "cannot_circle"
    title = "One of you has blocked the other"


class CannotBlockSelf(Problem):
    """Users cannot block themselves."""

    status = 422
    code = "cannot_block_self"
    title = "You cannot block yourself"


class TooManyBlocked(Problem):
    """The user has blocked, or is blocked by, as many as a document holds."""

    status = 409
    code = "too_many_blocked"
    title = "You have blocked 10,000 users already"


class NotFailed(Problem):
    """The fan-out was not given up, so there is nothing to try again."""

    status = 409
    code = "not_failed"
    title = "This fan-out has not failed"
