"""The form in which the API answers with losses."""

from datetime import datetime
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.analytics.reports.losses import Loss

# A report on losses spans so many days at most.
MAX_DAYS = 366


class DroppedAnswer(TypedDict):
    """Faults of beacons: hits that were dropped, and details that were."""

    path: NotRequired[Annotated[int, Field(description="Hits without a path that browsers have.")]]
    number: NotRequired[Annotated[int, Field(description="Hits beyond the 20 of a beacon.")]]
    id: NotRequired[int]
    referrer: NotRequired[int]
    title: NotRequired[int]
    node: NotRequired[int]
    ago_ms: NotRequired[int]


class OtherAnswer(TypedDict):
    """Hits that count as `*other*`."""

    hits: Annotated[int, Field(description="Views of people.")]
    bots: int
    feeds: int


class LossRow(TypedDict):
    """A day (UTC) with losses."""

    period: datetime
    dropped: DroppedAnswer
    other: Annotated[
        dict[str, OtherAnswer],
        Field(description="By group: hits whose page or source has no row of its own."),
    ]


class Losses(TypedDict):
    """The losses of a span, by day."""

    rows: Annotated[list[LossRow], Field(max_length=MAX_DAYS)]


def loss_row(loss: Loss) -> LossRow:
    """Return a day's losses as the API shows them."""
    dropped: Any = {name: number for name, number in loss.dropped.items() if number}
    other: dict[str, OtherAnswer] = {
        group: {"hits": counts["hits"], "bots": counts["bots"], "feeds": counts["feeds"]}
        for group, counts in loss.other.items()
    }
    return {"period": loss.day, "dropped": dropped, "other": other}
