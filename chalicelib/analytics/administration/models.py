"""Request bodies of a site's settings."""

import re
from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field

from chalicelib.analytics.settings import (
    MAX_KEEP_DAYS,
    MAX_ORIGINS,
    MIN_KEEP_DAYS,
    LayoutName,
    LogName,
)
from chalicelib.http import Input

# As a browser's Origin header has it: no path, and no port that the scheme has anyway.
_ORIGIN = re.compile(r"https?://[a-z0-9.-]{1,253}(:[0-9]{1,5})?")


def _origin(text: str) -> str:
    if not _ORIGIN.fullmatch(text):
        raise ValueError("an origin is a scheme and a host, such as https://harbour.example")
    return text


Origin = Annotated[str, AfterValidator(_origin), Field(examples=["https://harbour.example"])]


class NewAnalytics(Input):
    """A site's settings of analytics; another log or layout than before begins a move to it."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"origins": ["https://harbour.example"], "public": False}]}
    )

    origins: Annotated[
        tuple[Origin, ...],
        Field(max_length=MAX_ORIGINS, description="Whose pages' hits count; none for any."),
    ] = ()
    keep_days: int = Field(
        90,
        ge=MIN_KEEP_DAYS,
        le=MAX_KEEP_DAYS,
        description="How long raw hits are kept; reports stay.",
    )
    log: LogName = "expiring"
    layout: LayoutName = "hierarchical"
    user_reports: bool = Field(
        default=False,
        description="Whether a hit keeps the user whose token the page sends with it.",
    )
    public: bool = Field(
        default=False, description="Whether everybody may read the reports on hits."
    )


class NewLog(Input):
    """The log that a site's hits are moved to."""

    log: LogName


class NewLayout(Input):
    """The layout that a site's reports are kept in."""

    layout: LayoutName
