"""The forms in which the API answers with reports: as JSON, page by page, or as a file."""

import csv
import io
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.analytics.hits import Device, Kind, StoredHit
from chalicelib.analytics.reports.models import MAX_PATHS as MAX_ASKED_PATHS
from chalicelib.analytics.reports.now import MAX_PATHS, Now
from chalicelib.analytics.reports.report import Group, Period, Row
from chalicelib.analytics.visitors.paths import MAX_BYTES as MAX_PATH_BYTES
from chalicelib.analytics.visitors.sources import MAX_HOST_CHARACTERS
from chalicelib.http import MAX_PAGE, Text
from chalicelib.http.paging import Next
from chalicelib.http.responses import MAX_BYTES
from chalicelib.texts import ShownLine, ShownName

_OF_DAYS: tuple[Period, ...] = ("day",)
_LONGER: tuple[Period, ...] = ("week", "month", "year")
ShownPath = Annotated[str, Field(max_length=MAX_PATH_BYTES)]
CountsByPath = Annotated[dict[ShownPath, int], Field(max_length=MAX_ASKED_PATHS)]


class StatsCsv(Text):
    """200: a report as a file (RFC 4180)."""

    media_type = "text/csv"
    max_bytes = MAX_BYTES


class StatsRow(TypedDict):
    """A period in which anything was read."""

    period: Annotated[datetime, Field(description="When the period starts.")]
    path: NotRequired[ShownPath]
    referrer: NotRequired[
        Annotated[
            str, Field(max_length=MAX_HOST_CHARACTERS, description="The host of the page before.")
        ]
    ]
    campaign: NotRequired[
        Annotated[ShownLine, Field(description="`source/medium/name`, of `utm_*`.")]
    ]
    device: NotRequired[ShownName]
    country: NotRequired[ShownName]
    hits: Annotated[int, Field(description="Views of people.")]
    visitors: NotRequired[
        Annotated[
            int,
            Field(
                description="Visitors of the day, by day: who came on two days (UTC) counts twice "
                "in any longer time."
            ),
        ]
    ]
    visitor_days: NotRequired[
        Annotated[
            int,
            Field(description="The sum of each day's visitors: nobody is known for longer."),
        ]
    ]
    bots: Annotated[int, Field(description="Hits of bots; none of the other counts has them.")]
    feeds: Annotated[int, Field(description="Hits of feed readers, which people read by.")]


class StatsPage(TypedDict):
    """A page of a report, in the order of period and group."""

    rows: Annotated[list[StatsRow], Field(max_length=MAX_PAGE)]
    next: Next


class PathViews(TypedDict):
    """A page that is being read."""

    path: ShownPath
    hits: int


class NowAnswer(TypedDict):
    """The last five minutes of a site."""

    visitors: int
    paths: Annotated[list[PathViews], Field(max_length=MAX_PATHS)]


class HitAnswer(TypedDict):
    """A raw hit; what was not known of it is left out."""

    id: Annotated[str, Field(max_length=64)]
    at: datetime
    path: ShownPath
    kind: Kind
    referrer: NotRequired[Annotated[str, Field(max_length=MAX_HOST_CHARACTERS)]]
    campaign: NotRequired[ShownLine]
    visitor: NotRequired[
        Annotated[
            ShownName, Field(description="Good for one day, and made of nothing that is kept.")
        ]
    ]
    user_id: NotRequired[Annotated[str, Field(max_length=64)]]
    device: NotRequired[Device]
    country: NotRequired[ShownName]
    node: NotRequired[Annotated[str, Field(pattern=r"^[A-Za-z0-9._~:-]{1,256}$")]]
    title: NotRequired[ShownLine]


class HitsPage(TypedDict):
    """A page of raw hits, the earliest first."""

    hits: Annotated[list[HitAnswer], Field(max_length=MAX_PAGE)]
    next: Next


def stats_row(row: Row, by: Period, group: Group | None) -> StatsRow:
    """Return a row as the API shows it."""
    shown: dict[str, Any] = {"period": row["period"]}
    if group is not None:
        shown[group] = row["key"]
    shown["hits"] = row["hits"]
    if by in _OF_DAYS:
        shown["visitors"] = row["visitors"]
    elif by in _LONGER:
        shown["visitor_days"] = row["visitors"]
    answer: Any = {**shown, "bots": row["bots"], "feeds": row["feeds"]}
    return answer  # type: ignore[no-any-return]


def as_csv(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """Return rows, as they are answered, as CSV with a header line (RFC 4180)."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns)
    writer.writeheader()
    for row in rows:
        writer.writerow({**_unformulaic(row), "period": row["period"].isoformat()})
    return text.getvalue()


def columns_of(by: Period, group: Group | None) -> list[str]:
    """Return the fields of a report's rows, in order."""
    visitors = ["visitors"] if by in _OF_DAYS else ["visitor_days"] if by in _LONGER else []
    return ["period", *([group] if group else []), "hits", *visitors, "bots", "feeds"]


def _unformulaic(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row whose texts no spreadsheet takes for a formula: visitors choose them."""
    return {
        name: f"'{value}" if isinstance(value, str) and value[:1] in _FORMULAIC else value
        for name, value in row.items()
    }


# OWASP, "CSV Injection". An empty text begins with nothing.
_FORMULAIC = ("=", "+", "-", "@", "\t", "\r")


def now_answer(now: Now) -> NowAnswer:
    """Return the last five minutes as the API shows them."""
    return {
        "visitors": now.visitors,
        "paths": [{"path": path, "hits": hits} for path, hits in now.paths],
    }


def hit_answer(hit: StoredHit) -> HitAnswer:
    """Return a raw hit as the API shows it."""
    names = {"ref": "referrer", "user": "user_id"}
    rest = ("ref", "campaign", "visitor", "user", "device", "country", "node", "title")
    fields: Mapping[str, Any] = hit
    known = {names.get(name, name): fields[name] for name in rest if name in fields}
    answer: Any = {
        "id": hit["_id"].partition(":")[2],
        "at": hit["ts"],
        "path": hit["path"],
        "kind": hit["kind"],
        **known,
    }
    return answer  # type: ignore[no-any-return]
