"""Errors of analytics, each with its HTTP status and stable code."""

from chalicelib.errors import FieldError, Problem


class UnknownSite(Problem):
    """Analytics are off for this site."""

    status = 404
    code = "unknown_site"
    title = "Analytics are not switched on for this site"


class OriginRefused(Problem):
    """The hits came from a page on none of the site's origins; none of them counts."""

    status = 403
    code = "origin_refused"
    title = "This origin is not one of the site's"


class MoveInProgress(Problem):
    """The site's hits are on their way to another log."""

    status = 409
    code = "move_in_progress"
    title = "The hits of this site are being moved to another log"
    header = "Retry-After"

    def __init__(self) -> None:
        super().__init__(headers={"Retry-After": "60"})


class LogCannotForget(Problem):
    """The log is a time series, which deletes neither a person's hits nor a path's."""

    status = 422
    code = "log_cannot_forget"
    title = "A time series cannot delete single hits: choose another log"

    def __init__(self, field: str) -> None:
        super().__init__(errors=[FieldError(field, self.code, self.title)])


class NoUserReports(Problem):
    """The site has no reports by user: its hits have no users."""

    status = 422
    code = "no_user_reports"
    title = "This site has no reports by user"

    def __init__(self) -> None:
        super().__init__(errors=[FieldError("group", self.code, self.title)])
