"""Problems of campaigns that take some bringing about, each answered once over HTTP."""

from chalicelib.runtime import Runtime
from tests.ads.support.events import PRICE
from tests.ads.support.factories import (
    activate,
    add_zones,
    advertiser,
    campaign_body,
    cpm,
    put_campaign,
)
from tests.support.http_client import Client

CAMPAIGN = "/campaigns/mercedes:spring"


def test_a_budget_below_what_is_spent_is_refused(client: Client, runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner")
    put_campaign(runtime, "mercedes:spring", pricing=cpm(PRICE * 1_000))
    activate(runtime, "mercedes:spring")
    shown = client.get("/ads/blog/banner").json["ads"]
    assert len(shown) == 1

    reply = advertiser(client).put(CAMPAIGN, **campaign_body(budget={"total_micros": 1}))

    assert (reply.status, reply.code) == (409, "budget_committed")
    assert [each["field"] for each in reply.json["errors"]] == ["budget.total_micros"]


def test_a_campaign_that_was_never_made_has_no_budget(client: Client) -> None:
    reply = advertiser(client).get(f"{CAMPAIGN}/budget")

    assert (reply.status, reply.code) == (404, "unknown_campaign")
