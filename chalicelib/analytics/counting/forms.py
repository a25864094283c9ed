"""The forms of beacons and pixels: only the path of a hit has to be valid."""

import json
from typing import Annotated, Any, Self

from pydantic import (
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    WithJsonSchema,
    model_validator,
)

from chalicelib.analytics.hits import HITS_AT_ONCE
from chalicelib.analytics.visitors.paths import replace_surrogates
from chalicelib.http import Input
from chalicelib.sites.ids import SiteId

BODY_BYTES = 16_384
# No browser sends a beacon of more hits.
MAX_SENT_HITS = 200
# The most characters of a path with its query, in a pixel's address.
MAX_SENT_CHARACTERS = 4_096
_JSON_INVALID = "json_invalid"


class SentHit(Input):
    """A hit as the page sent it, not yet checked; `counting.reading` checks it."""

    model_config = ConfigDict(
        extra="ignore", json_schema_extra={"required": ["path"], "additionalProperties": True}
    )

    path: Annotated[Any, WithJsonSchema({"type": "string"})] = Field(
        # The schema omits a factory's default: clients have to send a path.
        default_factory=lambda: None,
        description="The page's path, with its query: of that, only the campaign is read. A hit "
        "without a path that browsers have is dropped.",
        examples=["/ferry-timetable?utm_source=letter"],
    )
    id: Any = Field(
        None,
        description="16 characters that the page draws when it is opened: however often it is "
        "reported, it counts once.",
        examples=["aaneGAECAwQFBgcI"],
    )
    ref: Any = Field(None, description="`document.referrer`; of it only the host is kept.")
    title: Any = Field(
        None, description="The page's title, of which 200 characters are kept with the raw hit."
    )
    node: Any = Field(
        None,
        description="The id of the page's content.",
        examples=["harbour-post:ferry-timetable"],
    )
    ago_ms: Any = Field(
        None, description="How many milliseconds ago the page was opened, up to a day."
    )

    @model_validator(mode="before")
    @classmethod
    def _take_anything(cls, sent: Any) -> Any:
        return sent if isinstance(sent, dict) else {}


class NewHits(Input):
    """A beacon: hits of one site, each with its path."""

    model_config = ConfigDict(
        extra="ignore",
        json_schema_extra={
            "examples": [
                {
                    "site": "harbour-post",
                    "hits": [{"id": "aaneGAECAwQFBgcI", "path": "/ferry-timetable"}],
                }
            ],
            "additionalProperties": True,
        },
    )

    mends_json = True

    site: SiteId
    hits: Annotated[
        list[SentHit],
        Field(
            min_length=1,
            max_length=MAX_SENT_HITS,
            description=f"Of more than {HITS_AT_ONCE}, the first are counted.",
        ),
    ]

    @classmethod
    def model_validate_json(cls, json_data: str | bytes | bytearray, **options: Any) -> Self:
        """Parse JSON; if it is invalid, replace lone surrogates and NaN, and parse it again."""
        try:
            return super().model_validate_json(json_data, **options)
        except ValidationError as error:
            if error.errors()[0]["type"] != _JSON_INVALID:
                raise
        return super().model_validate_json(_mend(json_data), **options)


def _mend(text: str | bytes | bytearray) -> str | bytes | bytearray:
    """Return JSON with U+FFFD for invalid UTF-8 and lone surrogates, and null for NaN and Infinity.

    Other faults stay.
    """
    try:
        known = text if isinstance(text, str) else text.decode(errors="replace")
        value = json.loads(known, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return text
    return replace_surrogates(json.dumps(value, ensure_ascii=False))


class PixelQuery(Input):
    """The query of a pixel."""

    model_config = ConfigDict(extra="ignore")

    path: Annotated[
        str,
        StringConstraints(max_length=MAX_SENT_CHARACTERS),
        Field(
            description="The page's path, with its query: of that, only the campaign is read.",
            examples=["/ferry-timetable?utm_source=letter"],
        ),
    ]
    id: str | None = Field(
        None, description="16 characters that are drawn for each view, by which it counts once."
    )
