"""The form in which the API answers with sessions."""

from datetime import datetime
from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.analytics.sessions.periods import MAX_PAGES, Pages, StoredPeriod
from chalicelib.analytics.visitors.paths import MAX_BYTES as MAX_PATH_BYTES
from chalicelib.http import MAX_PAGE
from chalicelib.http.paging import Next
from chalicelib.people.ids import UserId

ShownPath = Annotated[str, Field(max_length=MAX_PATH_BYTES)]


class PageSessions(TypedDict):
    """How many sessions began or ended on a page."""

    path: ShownPath
    sessions: int


class SessionsRow(TypedDict):
    """A period (UTC) in which sessions began."""

    period: Annotated[datetime, Field(description="When the period starts.")]
    user_id: NotRequired[UserId]
    sessions: int
    hits: int
    seconds_mean: Annotated[
        float, Field(description="From the first hit of a session to its last; 0 for one hit.")
    ]
    bounce_rate: Annotated[float, Field(description="The share of sessions of one hit.")]
    entries: Annotated[
        list[PageSessions],
        Field(max_length=MAX_PAGES, description="The pages that most sessions began on."),
    ]
    exits: Annotated[
        list[PageSessions],
        Field(max_length=MAX_PAGES, description="The pages that most sessions ended on."),
    ]


class SessionsPage(TypedDict):
    """A page of a report on sessions, in the order of period and user."""

    rows: Annotated[list[SessionsRow], Field(max_length=MAX_PAGE)]
    next: Next


def sessions_row(period: StoredPeriod) -> SessionsRow:
    """Return a period as the API shows it."""
    row: SessionsRow = {
        "period": period["period"],
        "sessions": period["sessions"],
        "hits": period["hits"],
        "seconds_mean": period["seconds"] / period["sessions"],
        "bounce_rate": period["bounces"] / period["sessions"],
        "entries": [
            {"path": each["path"], "sessions": each["sessions"]} for each in period["entries"]
        ],
        "exits": [{"path": each["path"], "sessions": each["sessions"]} for each in period["exits"]],
    }
    if "user" in period:
        row["user_id"] = period["user"]
    return row


def _page(pages: Pages) -> PageSessions:
    return {"path": pages["path"], "sessions": pages["sessions"]}
