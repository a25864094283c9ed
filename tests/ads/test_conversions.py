"""A conversion is credited to the visitor's last click, else to the last ad that was seen."""

from dataclasses import replace
from typing import Any

import pytest

from chalicelib.runtime import Runtime
from tests.ads.happening import BROWSER, PRICE, SPRING, Page, stored, totals
from tests.ads.inventory import activate, add_zones, put_campaign
from tests.ads.test_tracking import GOOGLEBOT, Refusing
from tests.conftest import Clock
from tests.http_client import Client, Reply

SUMMER = "mercedes:summer"


@pytest.fixture
def runtime(runtime: Runtime) -> Runtime:
    """A runtime whose events are counted within the request, with a campaign in each zone."""
    runtime = replace(runtime, queues=Refusing())
    add_zones(runtime, "blog/banner", "blog/side")
    put_campaign(runtime, SPRING, "blog/banner", budget={"total_micros": 500 * PRICE})
    put_campaign(runtime, SUMMER, "blog/side", budget={"total_micros": 500 * PRICE})
    activate(runtime, SPRING, SUMMER)
    return runtime


@pytest.fixture
def page(client: Client) -> Page:
    return Page(client)


@pytest.fixture
def side(client: Client) -> Page:
    return Page(client, "blog/side")


def convert(client: Client, query: str = "visitor=ann", **headers: str) -> Reply:
    sent = {"User-Agent": BROWSER, **headers}
    return client.request("GET", f"/ads/conversions/mercedes/pixel?{query}", headers=sent)


def credited(runtime: Runtime) -> list[Any]:
    return [row["campaign_id"] for row in stored(runtime) if row["type"] == "conversion"]


def test_a_click_goes_before_a_later_impression(
    client: Client, runtime: Runtime, page: Page, side: Page, clock: Clock
) -> None:
    page.click(page.ad("ann"))
    clock.advance(hours=1)
    side.see(side.ad("ann"))

    reply = convert(client, "visitor=ann&value_micros=5000000&order=A-1")

    assert (reply.status, reply.body) == (204, b"")
    assert credited(runtime) == [SPRING]
    assert totals(runtime, campaign_id=SPRING) == {
        "clicks": 1,
        "conversions": 1,
        "value_micros": 5_000_000,
    }


def test_of_two_clicks_the_last_one_is_credited(
    client: Client, runtime: Runtime, page: Page, side: Page, clock: Clock
) -> None:
    page.click(page.ad("ann"))
    clock.advance(hours=1)
    side.click(side.ad("ann"))

    convert(client)

    assert credited(runtime) == [SUMMER]


@pytest.mark.parametrize("hours", [23.99, 24])
def test_an_impression_is_credited_for_a_day(
    client: Client, runtime: Runtime, page: Page, clock: Clock, hours: float
) -> None:
    page.see(page.ad("ann"))
    clock.advance(hours=hours)

    convert(client)

    assert len(credited(runtime)) == (hours < 24)


@pytest.mark.parametrize("days", [29.99, 30])
def test_a_click_is_credited_for_thirty_days(
    client: Client, runtime: Runtime, page: Page, clock: Clock, days: float
) -> None:
    page.click(page.ad("ann"))
    clock.advance(days=days)

    convert(client)

    assert len(credited(runtime)) == (days < 30)


def test_an_order_converts_once_and_another_one_again(
    client: Client, runtime: Runtime, page: Page
) -> None:
    page.click(page.ad("ann"))

    for order in ("A-1", "A-1", "A-2"):
        convert(client, f"visitor=ann&order={order}")

    assert totals(runtime)["conversions"] == 2


def test_without_an_order_an_ad_converts_once(client: Client, runtime: Runtime, page: Page) -> None:
    page.click(page.ad("ann"))

    for _ in range(3):
        convert(client)

    assert totals(runtime)["conversions"] == 1


@pytest.mark.parametrize("query", ["visitor=bob", "", "visitor=ann&consent=false"])
def test_who_met_no_ad_or_objects_is_credited_to_none(
    client: Client, runtime: Runtime, page: Page, query: str
) -> None:
    page.click(page.ad("ann"))

    assert convert(client, query).status == 204
    assert credited(runtime) == []


def test_an_objection_and_a_bot_are_heeded(client: Client, runtime: Runtime, page: Page) -> None:
    page.click(page.ad("ann"))

    assert convert(client, **{"Sec-GPC": "1"}).status == 204
    assert convert(client, **{"User-Agent": GOOGLEBOT}).status == 204
    assert credited(runtime) == []


@pytest.mark.parametrize(
    "query", ["visitor=$ne", "visitor=a.b", "value_micros=-1", "order=", "visitor[$ne]=a", "x=1"]
)
def test_a_conversion_that_makes_no_sense_is_refused(client: Client, query: str) -> None:
    assert convert(client, query).code == "invalid_request"
