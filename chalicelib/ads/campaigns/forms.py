"""The form of a campaign, with every bound."""

from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    StringConstraints,
    field_validator,
    model_validator,
)
from pydantic.config import JsonDict

from chalicelib import time_zones
from chalicelib.ads.bounds import (
    CPM_BID_STEP_MICROS,
    DAY_SECONDS,
    MAX_AD_UNITS,
    MAX_BID_MICROS,
    MAX_CAP_LIMIT,
    MAX_CAPS,
    MAX_ROWS,
    MAX_TARGETS,
    MAX_WINDOW_SECONDS,
    Micros,
)
from chalicelib.ads.ids import PartId
from chalicelib.ads.inventory.campaigns import Keywords
from chalicelib.ads.inventory.creatives import Creative
from chalicelib.http import Input
from chalicelib.instants import Instant
from chalicelib.sites.ids import SiteId

_EXAMPLE: JsonDict = {
    "flight": {"starts_at": "2026-11-01T00:00:00Z", "ends_at": "2027-03-01T00:00:00Z"},
    "time_zone": "Europe/Copenhagen",
    "pricing": {"type": "cpm", "bid_micros": 2_500_000},
    "budget": {"total_micros": 500_000_000, "daily_micros": 5_000_000},
    "targets": [{"site_id": "harbour-post", "zone_id": "sidebar"}],
    "ad_units": [
        {
            "id": "winter",
            "keywords": ["bicycle", "ferry"],
            "creative": {
                "type": "text",
                "landing_url": "https://north-bikes.example/winter",
                "headline": "Winter service, done by Friday",
                "body": "Brakes, chain, lights: 49 at North Bikes on Quay Street.",
            },
        }
    ],
}
TimeZone = Annotated[str, StringConstraints(max_length=64), AfterValidator(time_zones.check)]


class Flight(Input):
    """When a campaign may be served: from `starts_at`, up to and without `ends_at`."""

    # Stored under these names since the first release.
    start: Instant = Field(alias="starts_at")
    end: Instant = Field(alias="ends_at")

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if self.start >= self.end:
            raise ValueError("a flight must start before it ends")
        return self


class Pricing(Input):
    """What the advertiser pays: per thousand impressions (cpm), or per click (cpc)."""

    type: Literal["cpm", "cpc"]
    bid_micros: int = Field(
        ge=1,
        le=MAX_BID_MICROS,
        description="In millionths of the currency; a CPM bid in steps of 1,000.",
    )

    @model_validator(mode="after")
    def _check_step(self) -> Self:
        if self.type == "cpm" and self.bid_micros % CPM_BID_STEP_MICROS:
            raise ValueError(f"a CPM bid must be a multiple of {CPM_BID_STEP_MICROS} micros")
        return self


Pacing = Literal["even", "asap"]


def _without_default(schema: JsonDict) -> None:
    """Remove the schema's default of a field whose default follows from another field."""
    del schema["default"]


class Budget(Input):
    """What a campaign may spend: in all and, if stated, in a day of its time zone."""

    total_micros: Micros = Field(description="In millionths of the currency.")
    daily_micros: Micros | None = Field(None, description="At most the total.")
    pacing: Pacing = Field(
        "asap",
        json_schema_extra=_without_default,
        description="Whether money is released evenly over the rest of the day, or flight, or at "
        "once. Left out: `even` with a daily budget, else `asap`.",
    )

    @model_validator(mode="before")
    @classmethod
    def _default_pacing(cls, budget: Any) -> Any:
        """Set the default: with a daily budget `even`, else `asap`."""
        if not isinstance(budget, dict) or "pacing" in budget:
            return budget
        has_days = budget.get("daily_micros") is not None
        return {**budget, "pacing": "even" if has_days else "asap"}

    @model_validator(mode="after")
    def _check_daily(self) -> Self:
        if self.daily_micros is not None and self.daily_micros > self.total_micros:
            raise ValueError("a day's budget must not be more than the total")
        return self


class Cap(Input):
    """How often one visitor may see or click an ad, a campaign or an advertiser within a window."""

    scope: Literal["ad", "campaign", "advertiser"]
    event: Literal["impression", "click"]
    limit: int = Field(ge=1, le=MAX_CAP_LIMIT)
    window_seconds: int = Field(ge=1, le=MAX_WINDOW_SECONDS, description="Up to 30 days.")


# One impression of an ad a day: "MongoDB Applied Design Patterns", ch. 7, design 2.
DEFAULT_CAP = Cap(scope="ad", event="impression", limit=1, window_seconds=DAY_SECONDS)


class Target(Input):
    """A zone that a campaign's ads are meant for."""

    site_id: SiteId
    zone_id: PartId


class AdUnit(Input):
    """One ad of a campaign; its keywords come out normalised and without repeats."""

    # Stored under this name since the first release.
    ad_unit_id: PartId = Field(alias="id", description="Unique within the campaign.")
    keywords: Keywords = Field(
        [], description="Pages that name one of these prefer the ad. Up to 1,024 bytes in all."
    )
    creative: Creative


class Campaign(Input):
    """An advertiser's definition of a campaign; missing fields have their defaults."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    flight: Flight
    time_zone: TimeZone = Field("UTC", description="Of the IANA database: when its days begin.")
    pricing: Pricing
    budget: Budget
    caps: list[Cap] = Field(
        [DEFAULT_CAP],
        max_length=MAX_CAPS,
        description="All of them hold. Left out: one impression of each ad a day.",
    )
    targets: list[Target] = Field(
        min_length=1,
        max_length=MAX_TARGETS,
        description="The zones that the ads are for, each once. Times the ad units, at most 5,000.",
    )
    ad_units: list[AdUnit] = Field(min_length=1, max_length=MAX_AD_UNITS)

    @field_validator("targets")
    @classmethod
    def _check_targets(cls, targets: list[Target]) -> list[Target]:
        if len(set(targets)) < len(targets):
            raise ValueError("duplicate zones are not allowed")
        return targets

    @field_validator("ad_units")
    @classmethod
    def _check_ad_units(cls, ad_units: list[AdUnit]) -> list[AdUnit]:
        if len({unit.ad_unit_id for unit in ad_units}) < len(ad_units):
            raise ValueError("the ad units of a campaign must have different ids")
        return ad_units

    @model_validator(mode="after")
    def _check_rows(self) -> Self:
        if len(self.ad_units) * len(self.targets) > MAX_ROWS:
            raise ValueError(f"ad units times targets must be at most {MAX_ROWS}")
        return self
