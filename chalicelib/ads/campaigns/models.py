"""What an advertiser and a publisher may send: campaigns and zones, with every bound."""

from functools import lru_cache
from typing import Annotated, Any, Literal, Self
from zoneinfo import available_timezones

from pydantic import (
    AfterValidator,
    Field,
    StringConstraints,
    field_validator,
    model_validator,
)

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
from chalicelib.ads.inventory.creatives import Creative
from chalicelib.ads.inventory.keywords import Keywords
from chalicelib.http import Input
from chalicelib.instants import Instant


@lru_cache(maxsize=1)
def _time_zones() -> frozenset[str]:
    # These two name whatever the machine is set to.
    return frozenset(available_timezones() - {"localtime", "Factory"})


def _time_zone(name: str) -> str:
    if name not in _time_zones():
        raise ValueError("not a time zone of the IANA database")
    return name


TimeZone = Annotated[str, StringConstraints(max_length=64), AfterValidator(_time_zone)]


class Flight(Input):
    """When a campaign may be served: from `start`, up to and without `end`."""

    start: Instant
    end: Instant

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if self.start >= self.end:
            raise ValueError("a flight must start before it ends")
        return self


class Pricing(Input):
    """What the advertiser pays: per thousand impressions (cpm), or per click (cpc)."""

    type: Literal["cpm", "cpc"]
    bid_micros: int = Field(ge=1, le=MAX_BID_MICROS)

    @model_validator(mode="after")
    def _check_step(self) -> Self:
        if self.type == "cpm" and self.bid_micros % CPM_BID_STEP_MICROS:
            raise ValueError(f"a CPM bid must be a multiple of {CPM_BID_STEP_MICROS} micros")
        return self


class Budget(Input):
    """What a campaign may spend: in all and, if stated, in a day of its time zone."""

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
            raise ValueError("a day's budget must not be more than the total")
        return self


class Cap(Input):
    """How often one visitor may see or click an ad, a campaign or an advertiser within a window."""

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
