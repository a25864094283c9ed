"""The query for ads, and the shapes of decisions and their explanations."""

from datetime import datetime
from typing import Annotated, Literal, NotRequired

from pydantic import BeforeValidator, Field
from typing_extensions import TypedDict

from chalicelib.ads.ids import CampaignId, PartId
from chalicelib.ads.inventory.fitting import MAX_ADS
from chalicelib.ads.inventory.routes import (
    ImageCreativeAnswer,
    LandingUrl,
    NativeCreativeAnswer,
    TextCreativeAnswer,
    ZoneSizeAnswer,
)
from chalicelib.ads.visitors.visitor_ids import VisitorValue
from chalicelib.http import Input
from chalicelib.ids import Id
from chalicelib.instants import Instant
from chalicelib.keywords import normalise_keyword
from chalicelib.sites.ids import SiteId
from chalicelib.texts import OwnUrl

MAX_ASKED_KEYWORDS = 100


MAX_ASKED_CHARACTERS = 10_000


MAX_ASKED_ADS = 20


def _asked_keywords(text: object) -> object:
    """Return the normalised keywords of `a,b`, each once; return other types unchanged."""
    if not isinstance(text, str):
        return text
    normalised = (normalise_keyword(each) for each in text[:MAX_ASKED_CHARACTERS].split(","))
    return tuple(dict.fromkeys(filter(None, normalised)))


class AskedAds(Input):
    """The page and the visitor of a request for ads."""

    visitor: VisitorValue | None = Field(
        None, description="The visitor's signed value; without it, that of the cookie."
    )
    keywords: Annotated[
        tuple[str, ...], Field(max_length=MAX_ASKED_KEYWORDS), BeforeValidator(_asked_keywords)
    ] = Field(
        (),
        description="What the page is about, separated by commas; ads that name one come first.",
    )
    count: int = Field(1, ge=1, le=MAX_ASKED_ADS, description="How many ads at most.")
    repeat: bool = Field(
        default=False, description="Whether several ads may be of the same campaign."
    )


class AdsQuery(AskedAds):
    """The query of `GET /ads/{site}/{zone}`, with the visitor's consent to a profile."""

    consent: bool | None = Field(
        None,
        description="What the visitor told the page: `true` to be remembered, by a cookie if need "
        "be, `false` for nothing to be kept. Left out, `Sec-GPC` and `DNT` decide.",
    )


class ExplainQuery(AskedAds):
    """The query of `.../explain`; the last three fields name a past decision."""

    decision_id: Annotated[str, Id] | None = Field(
        None, description="The decision that is to be explained; left out, one is made."
    )
    decided_at: Instant | None = Field(
        None, description="When it was made: the visitor's history is that of this time."
    )
    version: int | None = Field(
        None, ge=1, description="The version that the zone had; it must still have it."
    )


DecisionId = Annotated[str, Id]


class FrameAnswer(TypedDict):
    """An HTML creative: the address of its frame."""

    type: Literal["html"]
    landing_url: LandingUrl
    frame_url: Annotated[
        OwnUrl, Field(description="Show it in an `iframe`; it is good until the end of tomorrow.")
    ]


ShownCreative = Annotated[
    ImageCreativeAnswer | TextCreativeAnswer | NativeCreativeAnswer | FrameAnswer,
    Field(discriminator="type"),
]


class AdAnswer(TypedDict):
    """An ad to show: its creative, and the addresses of its events."""

    campaign_id: CampaignId
    ad_unit_id: PartId
    creative: ShownCreative
    impression_url: Annotated[
        OwnUrl,
        Field(
            description="POST to it once the ad is seen, or load it with `/pixel` behind it as an "
            "image; good for a day."
        ),
    ]
    click_url: Annotated[
        OwnUrl,
        Field(description="Where the ad's link leads: it counts the click; good for a day."),
    ]


class DecisionAnswer(TypedDict):
    """The ads to show in a zone now."""

    id: DecisionId
    size: Annotated[
        ZoneSizeAnswer,
        Field(description="The zone's: a page that reserves it does not move when the ad comes."),
    ]
    ads: Annotated[
        list[AdAnswer],
        Field(max_length=MAX_ASKED_ADS, description="The best first; empty if none is due."),
    ]


class AdName(TypedDict):
    """An ad's campaign and unit."""

    campaign_id: CampaignId
    ad_unit_id: PartId


class RefusingCap(TypedDict):
    """The frequency cap that refuses an ad to the visitor."""

    scope: Literal["ad", "campaign", "advertiser"]
    event: Literal["impression", "click"]
    limit: int
    window_seconds: int


Verdict = Literal[
    "chosen",
    "below_floor",
    "not_started",
    "ended",
    "capped",
    "campaign_chosen",
    "outranked",
]


class CandidateAnswer(AdName):
    """An ad of the zone, with its score and its verdict."""

    ecpm_micros: Annotated[int, Field(description="What a thousand impressions of it bring in.")]
    matches: Annotated[int, Field(description="How many of the page's keywords it names.")]
    score: Annotated[float, Field(description="What it is ranked by.")]
    verdict: Annotated[
        Verdict, Field(description="`campaign_chosen`: another ad of its campaign was chosen.")
    ]
    cap: NotRequired[
        Annotated[RefusingCap, Field(description="Why it was `capped`; the chosen ads count, too.")]
    ]


class Choice(TypedDict):
    """The chosen ads, and every candidate with its verdict."""

    is_exploration: Annotated[
        bool, Field(description="Whether the order was drawn at random, to learn click rates.")
    ]
    ads: Annotated[list[AdName], Field(max_length=MAX_ASKED_ADS)]
    candidates: Annotated[
        list[CandidateAnswer], Field(max_length=MAX_ADS, description="The best first.")
    ]


class ExplanationAnswer(Choice):
    """A decision with its candidates.

    A query with its `decision_id`, `decided_at` and `version` returns the same explanation.
    """

    decision_id: DecisionId
    decided_at: datetime
    site_id: SiteId
    zone_id: PartId
    version: Annotated[int, Field(description="The zone's.")]
    floor_ecpm_micros: int
