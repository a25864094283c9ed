"""The query of a report on sessions."""

from datetime import UTC, datetime, time
from typing import Literal, Self

from pydantic import Field, model_validator

from chalicelib.analytics.reports.models import Bound
from chalicelib.analytics.reports.report import MAX_SPAN
from chalicelib.analytics.sessions.periods import Level
from chalicelib.analytics.sessions.queries import SessionReport
from chalicelib.http import PageQuery


class SessionsQuery(PageQuery):
    """A span of time in periods (UTC)."""

    start: Bound = Field(
        alias="from",
        description="The first period starts at this instant or after it; a date is its midnight "
        "in UTC.",
    )
    end: Bound = Field(
        alias="to",
        description="The last period starts before this. A report by hour spans up to 62 days, by "
        "day 800, by week or month 3,700, by year 37,000.",
    )
    by: Level = Field("day", description="How long a period is, in UTC.")
    group: Literal["user"] | None = Field(
        None, description="A row for each user, on sites with reports by user."
    )

    @model_validator(mode="after")
    def _check_span(self) -> Self:
        start, end = _instant(self.start), _instant(self.end)
        if not start < end <= start + MAX_SPAN[self.by]:
            raise ValueError(
                f"a report by {self.by} must start before it ends and span at most "
                f"{MAX_SPAN[self.by].days} days"
            )
        return self

    def report(self, site: str) -> SessionReport:
        """Return what is asked for of a site."""
        span = _instant(self.start), _instant(self.end)
        return SessionReport(site, *span, self.by, by_user=self.group is not None)


def _instant(bound: Bound) -> datetime:
    if isinstance(bound, datetime):
        return bound
    return datetime.combine(bound, time(), UTC)
