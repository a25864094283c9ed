"""Events of ads for the tests of counting: served, seen, clicked."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote

from chalicelib.ads import counts, events
from chalicelib.ads.events import AdEvent
from chalicelib.database import Document
from chalicelib.runtime import Runtime
from tests.http_client import Client, Reply

SPRING, CLICKS = "mercedes:spring", "audi:clicks"
# The inventory's campaigns bid 250,000 micros CPM.
PRICE = 250
BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0"


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
    return events.count(runtime.database, happened, runtime.now(), runtime.random)


def stored(runtime: Runtime) -> list[Document]:
    return list(runtime.database[events.EVENTS.name].find().sort("_id", 1))


def totals(runtime: Runtime, **only: Any) -> dict[str, int]:
    """What the hour reports add up to, as far as it is not nothing; days must say the same."""
    sums = [_sum(runtime, collection.name, only) for collection in (counts.HOURS, counts.DAYS)]
    assert sums[0] == sums[1]
    return sums[0]


def _sum(runtime: Runtime, collection: str, only: dict[str, Any]) -> dict[str, int]:
    found = list(runtime.database[collection].find(only))
    sums = {name: sum(row.get(name, 0) for row in found) for name in counts.COUNTS}
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
        query = f"?visitor={quote(visitor)}" if visitor else ""
        ads = self._call("GET", f"/ads/{self.zone}{query}").json["ads"]
        return ads[0] if ads else None

    def see(self, ad: Any, agent: str = BROWSER) -> Reply:
        return self._call("POST", ad["impression_url"], agent)

    def pixel(self, ad: Any) -> Reply:
        return self._call("GET", f"{ad['impression_url']}/pixel")

    def click(self, ad: Any, agent: str = BROWSER) -> Reply:
        return self._call("GET", ad["click_url"], agent)
