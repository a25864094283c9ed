"""A visitor's history: the events of served ads, by advertiser, in bounded lists."""

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Literal, NamedTuple, NotRequired, TypedDict

MAX_EVENTS = 100
MAX_ADVERTISERS = 200
Kind = Literal["impression", "click", "conversion"]
# The list of a history for each kind of event.
LISTS: Mapping[Kind, Literal["impressions", "clicks", "conversions"]] = {
    "impression": "impressions",
    "click": "clicks",
    "conversion": "conversions",
}


class Entry(TypedDict):
    """An event of one of the advertiser's ads.

    campaign: the campaign's id without its advertiser.
    count: the conversions credited to the ad, on a conversion alone.
    """

    ts: datetime
    campaign: str
    ad_unit_id: str
    site_id: str
    zone_id: str
    decision: str
    slot: int
    count: NotRequired[int]


class History(TypedDict, total=False):
    """A visitor's events of one advertiser: lists in the order of time."""

    impressions: list[Entry]
    clicks: list[Entry]
    conversions: list[Entry]


class Served(NamedTuple):
    """An ad of a decision, and its zone; tokens hold the fields in this order."""

    decision: str
    slot: int
    campaign_id: str
    ad_unit_id: str
    site_id: str
    zone_id: str

    def entry(self, ts: datetime) -> Entry:
        """Return an event of the ad, for the history of its advertiser."""
        return {
            "ts": ts,
            "campaign": self.campaign_id.partition(":")[2],
            "ad_unit_id": self.ad_unit_id,
            "site_id": self.site_id,
            "zone_id": self.zone_id,
            "decision": self.decision,
            "slot": self.slot,
        }


def served_ad(advertiser: str, entry: Entry) -> Served:
    """Return the ad of an entry in an advertiser's history."""
    return Served(
        entry["decision"],
        entry["slot"],
        f"{advertiser}:{entry['campaign']}",
        entry["ad_unit_id"],
        entry["site_id"],
        entry["zone_id"],
    )


class VisitorProfile(NamedTuple):
    """One visitor's histories of some advertisers; a new visitor has no revision.

    The histories may be raw BSON, which reads like the shape.
    """

    revision: str | None = None
    histories: Mapping[str, History] = MappingProxyType({})
    advertiser_count: int = 0

    @property
    def is_full(self) -> bool:
        """Return whether the profile has no room for another advertiser."""
        return self.advertiser_count >= MAX_ADVERTISERS
