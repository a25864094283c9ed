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

    start: Bound = Field(alias="from")
    end: Bound = Field(alias="to")
    by: Period = "day"
    group: Group | None = None

    @model_validator(mode="after")
    def _check_span(self) -> Self:
        if not self.start < self.end <= self.start + MAX_SPAN[self.by]:
            raise ValueError(
                f"a report by {self.by} must start before it ends and span at most "
                f"{MAX_SPAN[self.by].days} days"
            )
        return self
