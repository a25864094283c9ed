"""What an advertiser and a publisher may send: campaigns and zones, with every bound."""

import unicodedata
from functools import lru_cache
from typing import Annotated, Any, Literal, Self
from zoneinfo import available_timezones

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    StringConstraints,
    field_validator,
    model_validator,
)

from chalicelib.ads.creatives import Creative
from chalicelib.http import Input
from chalicelib.ids import Id
from chalicelib.instants import Instant

# A part of an id: an advertiser, a campaign of it, an ad unit, a site, a zone.
_PART = "[a-z0-9_-]{1,64}"
PartId = Annotated[str, StringConstraints(pattern=f"^{_PART}$")]
VisitorId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
# What stands in the place of a site in the paths of beacons, clicks and conversions.
RESERVED_SITES = frozenset({"events", "click", "conversions"})


def _not_reserved(site_id: str) -> str:
    if site_id in RESERVED_SITES:
        raise ValueError("this name is a part of Plaza's own paths")
    return site_id


SiteId = Annotated[PartId, AfterValidator(_not_reserved)]
CampaignId = Annotated[str, StringConstraints(pattern=f"^{_PART}:{_PART}$")]

# One impression of a CPM ad costs a thousandth of its bid, and money is whole micros.
CPM_BID_STEP_MICROS = 1_000
MAX_BID_MICROS = 10**11
MAX_BUDGET_MICROS = 10**15
DAY_SECONDS = 24 * 60 * 60
MAX_WINDOW_SECONDS = 30 * DAY_SECONDS
MAX_CAP_LIMIT = 50
# With the keywords' bytes and the creative's, these keep a zone's 5,000 rows below MongoDB's
# 16 MiB a document.
MAX_CAPS = 6
MAX_KEYWORDS = 32
MAX_KEYWORD_CHARACTERS = 64
MAX_KEYWORD_BYTES = 1_024
MAX_ASKED_KEYWORDS = 100
MAX_ASKED_CHARACTERS = 10_000
MAX_ASKED_ADS = 20
MAX_TARGETS = 1_000
MAX_AD_UNITS = 50
# Ad units times targets: what one transaction writes, 16 MB at the largest.
MAX_ROWS = 5_000

Micros = Annotated[int, Field(ge=1, le=MAX_BUDGET_MICROS)]


def normalise_keyword(text: str) -> str:
    """Return the form in which keywords are compared: NFKC and case folded, spaces joined.

    Soft hyphens, joiners and other invisible format characters are left out. Source: The
    Unicode Standard, section 3.13, toNFKC_Casefold.
    """
    if text.isascii():
        return " ".join(text.lower().split())
    visible = "".join(c for c in text if unicodedata.category(c) != "Cf")
    folded = unicodedata.normalize("NFKC", visible).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())


def _keyword(text: str) -> str:
    keyword = normalise_keyword(text)
    if not 1 <= len(keyword) <= MAX_KEYWORD_CHARACTERS:
        raise ValueError(f"a keyword has 1 to {MAX_KEYWORD_CHARACTERS} characters once normalised")
    if "," in keyword or not keyword.replace(" ", "").isprintable():
        raise ValueError("a keyword holds neither commas nor control characters")
    return keyword


def _distinct(keywords: list[str]) -> list[str]:
    distinct = list(dict.fromkeys(keywords))
    if sum(len(keyword.encode()) for keyword in distinct) > MAX_KEYWORD_BYTES:
        raise ValueError(f"the keywords of an ad unit take at most {MAX_KEYWORD_BYTES} bytes")
    return distinct


@lru_cache(maxsize=1)
def _time_zones() -> frozenset[str]:
    # These two name whatever the machine is set to.
    return frozenset(available_timezones() - {"localtime", "Factory"})


def _time_zone(name: str) -> str:
    if name not in _time_zones():
        raise ValueError("not a time zone of the IANA database")
    return name


Keyword = Annotated[
    str, StringConstraints(max_length=MAX_KEYWORD_CHARACTERS), AfterValidator(_keyword)
]
Keywords = Annotated[list[Keyword], Field(max_length=MAX_KEYWORDS), AfterValidator(_distinct)]
TimeZone = Annotated[str, StringConstraints(max_length=64), AfterValidator(_time_zone)]


class Flight(Input):
    """When a campaign may be served: from `start`, up to and without `end`."""

    start: Instant
    end: Instant

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if self.start >= self.end:
            raise ValueError("a flight starts before it ends")
        return self


class Pricing(Input):
    """What the advertiser pays: per thousand impressions (cpm), or per click (cpc)."""

    type: Literal["cpm", "cpc"]
    bid_micros: int = Field(ge=1, le=MAX_BID_MICROS)

    @model_validator(mode="after")
    def _check_step(self) -> Self:
        if self.type == "cpm" and self.bid_micros % CPM_BID_STEP_MICROS:
            raise ValueError(f"a CPM bid is a multiple of {CPM_BID_STEP_MICROS} micros")
        return self


class Budget(Input):
    """What a campaign may spend: in all and, where stated, in a day of its time zone."""

    total_micros: Micros
    daily_micros: Micros | None = None
    pacing: Literal["even", "asap"]

    @model_validator(mode="before")
    @classmethod
    def _default_pacing(cls, budget: Any) -> Any:
        """Spread a daily budget evenly over the day; release one without days at once."""
        if not isinstance(budget, dict) or "pacing" in budget:
            return budget
        has_days = budget.get("daily_micros") is not None
        return {**budget, "pacing": "even" if has_days else "asap"}

    @model_validator(mode="after")
    def _check_daily(self) -> Self:
        if self.daily_micros is not None and self.daily_micros > self.total_micros:
            raise ValueError("a day's budget is within the total")
        return self


class Cap(Input):
    """How often one visitor may meet an ad, a campaign or an advertiser within a window."""

    scope: Literal["ad", "campaign", "advertiser"]
    event: Literal["impression", "click"]
    limit: int = Field(ge=1, le=MAX_CAP_LIMIT)
    window_seconds: int = Field(ge=1, le=MAX_WINDOW_SECONDS)


# One impression of an ad a day: "MongoDB Applied Design Patterns", ch. 7, design 2.
DEFAULT_CAP = Cap(scope="ad", event="impression", limit=1, window_seconds=DAY_SECONDS)


class Target(Input):
    """A zone that a campaign's ads are meant for."""

    site_id: PartId
    zone_id: PartId


class AdUnit(Input):
    """One ad of a campaign; its keywords come out normalised and without repeats."""

    ad_unit_id: PartId
    keywords: Keywords = Field([])
    creative: Creative


class Campaign(Input):
    """The body of `PUT /campaigns/{id}`."""

    flight: Flight
    time_zone: TimeZone = "UTC"
    pricing: Pricing
    budget: Budget
    caps: list[Cap] = Field([DEFAULT_CAP], max_length=MAX_CAPS)
    targets: list[Target] = Field(min_length=1, max_length=MAX_TARGETS)
    ad_units: list[AdUnit] = Field(min_length=1, max_length=MAX_AD_UNITS)

    @field_validator("targets")
    @classmethod
    def _check_targets(cls, targets: list[Target]) -> list[Target]:
        if len(set(targets)) < len(targets):
            raise ValueError("a campaign targets a zone once")
        return targets

    @field_validator("ad_units")
    @classmethod
    def _check_ad_units(cls, ad_units: list[AdUnit]) -> list[AdUnit]:
        if len({unit.ad_unit_id for unit in ad_units}) < len(ad_units):
            raise ValueError("the ad units of a campaign have ids of their own")
        return ad_units

    @model_validator(mode="after")
    def _check_rows(self) -> Self:
        if len(self.ad_units) * len(self.targets) > MAX_ROWS:
            raise ValueError(f"ad units times targets are at most {MAX_ROWS}")
        return self


class Size(Input):
    """A zone's place on the page, in CSS pixels."""

    width: int = Field(ge=1, le=10_000)
    height: int = Field(ge=1, le=10_000)


class Zone(Input):
    """The body of `PUT /sites/{site}/zones/{zone}`.

    An ad below the floor is not served. `count_on` says what an impression is: the page's
    beacon, or the decision itself, for pages that cannot beacon.
    """

    size: Size
    floor_ecpm_micros: int = Field(0, ge=0, le=MAX_BID_MICROS * 1_000)
    count_on: Literal["beacon", "decision"] = "beacon"


def _asked_keywords(text: object) -> object:
    """Return the keywords of `a,b`; what no ad can name is left to match none."""
    if not isinstance(text, str):
        return text
    normalised = (normalise_keyword(each) for each in text[:MAX_ASKED_CHARACTERS].split(","))
    return tuple(dict.fromkeys(filter(None, normalised)))


class AskedAds(Input):
    """What a request for ads says of the page and the visitor."""

    visitor: VisitorId | None = None
    keywords: Annotated[
        tuple[str, ...], BeforeValidator(_asked_keywords), Field(max_length=MAX_ASKED_KEYWORDS)
    ] = ()
    count: int = Field(1, ge=1, le=MAX_ASKED_ADS)
    repeat: bool = False


class AdsQuery(AskedAds):
    """The query of `GET /ads/{site}/{zone}`; `consent` is what the visitor told the page."""

    consent: bool | None = None


class ExplainQuery(AskedAds):
    """The query of `.../explain`; the last three name a decision that has been made."""

    seed: Annotated[str, Id] | None = None
    at: Instant | None = None
    version: int | None = Field(None, ge=1)
