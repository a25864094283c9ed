"""The query of a report."""

from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, model_validator

from chalicelib.ads.reports.queries import MAX_SPAN, Group, Period
from chalicelib.http import PageQuery
from chalicelib.instants import Instant

_DATE_CHARACTERS = len("2026-03-01")


def _midnight(text: Any) -> Any:
    """Take a date for its first instant in UTC."""
    is_date = isinstance(text, str) and len(text) == _DATE_CHARACTERS
    return f"{text}T00:00:00Z" if is_date else text


Bound = Annotated[Instant, BeforeValidator(_midnight)]


class ReportQuery(PageQuery):
    """The query of a report: the periods that start from `from` on, and before `to`."""

    start: Bound = Field(
        alias="from",
        description="The first period starts at this time or after it: an instant with its "
        "offset, or a date for its midnight in UTC.",
    )
    end: Bound = Field(
        alias="to",
        description="The last period starts before this time. A report by minute spans up to 2 "
        "days, by hour 62, by day 800, by week or month 3,700, by year 37,000.",
    )
    by: Period = Field("day", description="How long a period is, in UTC.")
    group: Group | None = Field(
        None, description="What each period has a row of its own for; left out, one row for all."
    )

    @model_validator(mode="after")
    def _check_span(self) -> Self:
        if not self.start < self.end <= self.start + MAX_SPAN[self.by]:
            raise ValueError(
                f"a report by {self.by} must start before it ends and span at most "
                f"{MAX_SPAN[self.by].days} days"
            )
        return self
