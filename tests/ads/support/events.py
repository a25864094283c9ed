"""Events of ads for the tests of counting: served, seen, clicked."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote

from pydantic import SecretStr

from chalicelib.ads.reports import counters
from chalicelib.ads.tracking import counting, events
from chalicelib.ads.tracking.events import AdEvent
from chalicelib.ads.visitors import visitor_ids
from chalicelib.database import Document
from chalicelib.runtime import Runtime
from tests.conftest import SIGNING_KEY
from tests.support.http_client import BROWSER, Client, Reply

SPRING, CLICKS = "mercedes:spring", "audi:clicks"


def value_of(visitor: str) -> str:
    """What a page or cookie presents to be this visitor."""
    return visitor_ids.sign(visitor, [SecretStr(SIGNING_KEY)])


ANN, BOB = value_of("ann"), value_of("bob")
# The inventory's campaigns bid 250,000 micros CPM.
PRICE = 250


def impression(number: int, lease_id: str | None, ts: datetime, **changes: Any) -> AdEvent:
    """An impression of the spring campaign's ad, out of a lease."""
    fields = {
        "type": "impression",
        "decision": f"decision-{number:04}",
        "slot": 0,
        "campaign_id": SPRING,
        "ad_unit_id": "one",
        "site_id": "blog",
        "zone_id": "banner",
        "price_micros": PRICE,
        "lease_id": lease_id,
        "ts": ts,
    }
    return AdEvent(**{**fields, **changes})


def click(number: int, ts: datetime, **changes: Any) -> AdEvent:
    """A click on the CPC campaign's ad."""
    changes = {"type": "click", "campaign_id": CLICKS, **changes}
    return impression(number, None, ts, **changes)


def count(runtime: Runtime, *happened: AdEvent) -> int:
    return counting.count_and_bill(runtime, happened)


def stored(runtime: Runtime) -> list[Document]:
    return list(runtime.database[events.EVENTS.name].find().sort("_id", 1))


def totals(runtime: Runtime, **only: Any) -> dict[str, int]:
    """What the hour reports add up to, as far as it is not nothing; days must say the same."""
    sums = [_sum(runtime, collection.name, only) for collection in (counters.HOURS, counters.DAYS)]
    assert sums[0] == sums[1]
    return sums[0]


def _sum(runtime: Runtime, collection: str, only: dict[str, Any]) -> dict[str, int]:
    found = list(runtime.database[collection].find(only))
    sums = {name: sum(row.get(name, 0) for row in found) for name in counters.COUNTED_FIELDS}
    return {name: number for name, number in sums.items() if number}


@dataclass(frozen=True)
class Page:
    """A page in a visitor's browser that shows a zone's ad."""

    client: Client
    zone: str = "blog/banner"

    def _call(self, method: str, target: str, agent: str = BROWSER, **changes: Any) -> Reply:
        return self.client.request(method, target, headers={"User-Agent": agent}, **changes)

    def ad(self, visitor: str | None = None) -> Any:
        """Ask for an ad; None where there is none."""
        query = f"?visitor={quote(value_of(visitor))}" if visitor else ""
        ads = self._call("GET", f"/ads/{self.zone}{query}").json["ads"]
        return ads[0] if ads else None

    def see(self, ad: Any, agent: str = BROWSER) -> Reply:
        return self._call("POST", ad["impression_url"], agent)

    def pixel(self, ad: Any) -> Reply:
        return self._call("GET", f"{ad['impression_url']}/pixel")

    def click(self, ad: Any, agent: str = BROWSER) -> Reply:
        return self._call("GET", ad["click_url"], agent)
