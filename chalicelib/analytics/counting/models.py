"""What pages send."""

from typing import Annotated

from pydantic import BeforeValidator, ConfigDict, Field, StringConstraints

from chalicelib.analytics.hits import HITS_AT_ONCE
from chalicelib.analytics.visitors.paths import PageAddress
from chalicelib.http import Input
from chalicelib.ids import ID_PATTERN
from chalicelib.sites.ids import SiteId
from chalicelib.texts import drop_controls

BODY_BYTES = 16_384
DAY_MS = 86_400_000
MAX_REF_CHARACTERS = 2_000
MAX_TITLE_CHARACTERS = 200

HitId = Annotated[
    str,
    StringConstraints(pattern=ID_PATTERN),
    Field(
        description="16 characters that the page draws when it is opened: however often it is "
        "reported, it counts once.",
        examples=["aaneGAECAwQFBgcI"],
    ),
]
Referrer = Annotated[
    str,
    StringConstraints(max_length=MAX_REF_CHARACTERS),
    Field(description="`document.referrer`; of it only the host is kept."),
]
NodeName = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9._~:-]{1,256}$"),
    Field(description="The id of what the page shows.", examples=["harbour-post:ferry-timetable"]),
]
Title = Annotated[
    str,
    BeforeValidator(drop_controls),
    StringConstraints(max_length=MAX_TITLE_CHARACTERS, strip_whitespace=True),
    Field(description="The page's title, kept with the raw hit."),
]


class NewHit(Input):
    """A page that was opened, some time ago."""

    id: HitId | None = None
    path: PageAddress
    ref: Referrer | None = None
    title: Title | None = None
    node: NodeName | None = None
    ago_ms: int = Field(
        0, ge=0, le=DAY_MS, description="How many milliseconds ago the page was opened."
    )


class NewHits(Input):
    """What a beacon sends."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "site": "harbour-post",
                    "hits": [{"id": "aaneGAECAwQFBgcI", "path": "/ferry-timetable"}],
                }
            ]
        }
    )

    site: SiteId
    hits: Annotated[list[NewHit], Field(min_length=1, max_length=HITS_AT_ONCE)]


class PixelQuery(Input):
    """The query of a pixel."""

    path: PageAddress
    id: HitId | None = None
