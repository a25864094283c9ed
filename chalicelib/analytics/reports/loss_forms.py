"""The query and the answer of reports on losses."""

from collections.abc import Mapping
from datetime import UTC, datetime, time, timedelta
from typing import Annotated, Any, NotRequired, Self

from pydantic import Field, model_validator
from typing_extensions import TypedDict

from chalicelib.analytics.hits import day_of
from chalicelib.analytics.reports.losses import Loss
from chalicelib.http import Input
from chalicelib.instants import Bound
from chalicelib.texts import ShownName

# The longest span of a report on losses.
MAX_DAYS = 366


class LossesQuery(Input):
    """A span of days (UTC)."""

    start: Bound = Field(alias="from", description="The first day, or an instant of it.")
    end: Bound = Field(
        alias="to", description=f"Before what the span ends, at most {MAX_DAYS} days later."
    )

    @model_validator(mode="after")
    def _check_span(self) -> Self:
        start, end = self.span
        if not start < end <= day_of(start) + timedelta(days=MAX_DAYS):
            raise ValueError(f"a span must start before it ends and have at most {MAX_DAYS} days")
        return self

    @property
    def span(self) -> tuple[datetime, datetime]:
        """Return the span's start and its exclusive end; a date is its midnight in UTC."""
        start, end = (
            each if isinstance(each, datetime) else datetime.combine(each, time(), UTC)
            for each in (self.start, self.end)
        )
        return start, end


class DroppedAnswer(TypedDict):
    """Faults of beacons: the numbers of dropped hits and of dropped details."""

    path: NotRequired[Annotated[int, Field(description="Hits without a path that browsers have.")]]
    number: NotRequired[Annotated[int, Field(description="Hits beyond the 20 of a beacon.")]]
    id: NotRequired[int]
    referrer: NotRequired[int]
    title: NotRequired[int]
    node: NotRequired[int]
    ago_ms: NotRequired[int]


class CausesAnswer(TypedDict):
    """Hits by the cause for which they were counted as `*other*`."""

    full: Annotated[int, Field(description="The day had as many names as it may.")]
    unconfirmed: Annotated[
        int, Field(description="One network alone had asked for the page or source.")
    ]
    spent: Annotated[int, Field(description="The network had brought as many new names as it may.")]
    named_later: Annotated[
        int, Field(description="Of all these, hits that have since moved to a name of their own.")
    ]


class OtherAnswer(TypedDict):
    """Hits that count as `*other*`."""

    hits: Annotated[int, Field(description="Views of people.")]
    bots: int
    feeds: int
    causes: CausesAnswer


class LossRow(TypedDict):
    """A day (UTC) with losses."""

    period: datetime
    dropped: DroppedAnswer
    other: Annotated[
        dict[ShownName, OtherAnswer],
        Field(
            max_length=5,
            description="By group: hits whose page or source has no row of its own.",
        ),
    ]


class Losses(TypedDict):
    """The losses of a span, by day."""

    rows: Annotated[list[LossRow], Field(max_length=MAX_DAYS)]


def loss_row(loss: Loss) -> LossRow:
    """Return the API's form of a day's losses."""
    dropped: Any = {name: number for name, number in loss.dropped.items() if number}
    other = {group: _other(counts) for group, counts in loss.other.items()}
    return {"period": loss.day, "dropped": dropped, "other": other}


def _other(counts: Mapping[str, int]) -> OtherAnswer:
    return {
        "hits": counts.get("hits", 0),
        "bots": counts.get("bots", 0),
        "feeds": counts.get("feeds", 0),
        "causes": {
            "full": counts.get("causes.full", 0),
            "unconfirmed": counts.get("causes.unconfirmed", 0),
            "spent": counts.get("causes.spent", 0),
            "named_later": counts.get("causes.named_later", 0),
        },
    }
