"""A conversion is credited to the visitor's last click, else to the last ad that was seen."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import pytest

from chalicelib.ads.tracking import conversion_keys
from chalicelib.ads.visitors.profiles import MAX_CONVERSIONS
from chalicelib.runtime import Runtime
from tests.ads.support.events import ANN, BOB, PRICE, SPRING, Page, stored, totals
from tests.ads.support.factories import activate, add_zones, advertiser, put_campaign
from tests.ads.tracking.support.pages import Refusing
from tests.ads.tracking.test_beacons import GOOGLEBOT
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply

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


PIXEL = "/ads/conversions/mercedes/pixel"
KEY_PATH = "/advertisers/mercedes/conversion-key"


def new_key(client: Client) -> str:
    return str(advertiser(client).post(KEY_PATH).json["keys"][0]["secret"])


def convert(
    client: Client,
    query: str = f"visitor={ANN}",
    order: str | None = None,
    value_micros: int = 0,
    headers: Mapping[str, str] | None = None,
) -> Reply:
    """Ask for a pixel as an advertiser's page has it, signed by the advertiser's key."""
    keys = advertiser(client).get(KEY_PATH).json["keys"]
    secret = keys[0]["secret"] if keys else new_key(client)
    signature = conversion_keys.sign(secret, "mercedes", order, value_micros)
    told = f"&order={quote(order, safe='')}" if order else ""
    target = f"{PIXEL}?{query}&value_micros={value_micros}{told}&signature={signature}"
    return client.request("GET", target, headers=headers)


def credited(runtime: Runtime) -> list[Any]:
    return [row["campaign_id"] for row in stored(runtime) if row["type"] == "conversion"]


def test_a_click_goes_before_a_later_impression(
    client: Client, runtime: Runtime, page: Page, side: Page, clock: Clock
) -> None:
    page.click(page.ad("ann"))
    clock.advance(hours=1)
    side.see(side.ad("ann"))

    reply = convert(client, order="A-1", value_micros=5_000_000)

    assert (reply.status, reply.body[:6]) == (200, b"GIF89a")
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
        convert(client, order=order)

    assert totals(runtime)["conversions"] == 2


def test_without_an_order_an_ad_converts_once(client: Client, runtime: Runtime, page: Page) -> None:
    page.click(page.ad("ann"))

    for _ in range(3):
        convert(client)

    assert totals(runtime)["conversions"] == 1


@pytest.mark.parametrize("query", [f"visitor={BOB}", "", f"visitor={ANN}&consent=false"])
def test_who_met_no_ad_or_objects_is_credited_to_none(
    client: Client, runtime: Runtime, page: Page, query: str
) -> None:
    page.click(page.ad("ann"))

    assert convert(client, query).status == 200
    assert credited(runtime) == []


def test_an_objection_and_a_bot_are_heeded(client: Client, runtime: Runtime, page: Page) -> None:
    page.click(page.ad("ann"))

    assert convert(client, headers={"Sec-GPC": "1"}).status == 200
    assert convert(client, headers={"User-Agent": GOOGLEBOT}).status == 200
    assert credited(runtime) == []


@pytest.mark.parametrize(
    "query",
    ["visitor=$ne", "visitor=a.b", "order=", "signature=00"],
)
def test_a_conversion_that_makes_no_sense_is_refused(client: Client, query: str) -> None:
    assert client.get(f"{PIXEL}?{query}").code == "invalid_request"


@pytest.mark.parametrize("query", ["fbclid=x", "visitor[$ne]=a"])
def test_a_pixel_leaves_names_that_it_does_not_know(
    client: Client, runtime: Runtime, page: Page, query: str
) -> None:
    page.click(page.ad("ann"))

    assert convert(client, f"visitor={ANN}&{query}").status == 200
    assert len(credited(runtime)) == 1


@pytest.mark.parametrize(
    "order", ["#1001", "2026/11/25-7", "A:1", "注文 7", "a.b", "$ne", "o'brien", "x" * 64, " "]
)
def test_an_order_is_named_as_its_advertiser_names_it(
    client: Client, runtime: Runtime, page: Page, order: str
) -> None:
    """As an order of 150,000 yen."""
    page.click(page.ad("ann"))

    for _ in range(2):
        assert convert(client, order=order, value_micros=150_000_000_000).status == 200

    assert [row["order"] for row in stored(runtime) if row["type"] == "conversion"] == [order]
    assert totals(runtime)["value_micros"] == 150_000_000_000


@pytest.mark.parametrize("order", ["a\nb", "\x7f", "x" * 65])
def test_an_order_is_printable_and_of_64_characters(client: Client, order: str) -> None:
    assert convert(client, order=order).code == "invalid_request"


@pytest.mark.parametrize("value", [-1, 10**15 + 1, 2**63])
def test_a_conversion_is_worth_nothing_less_and_no_fortune(client: Client, value: int) -> None:
    assert convert(client, value_micros=value).code == "invalid_request"


def test_the_dearest_conversion_counts(client: Client, runtime: Runtime, page: Page) -> None:
    page.click(page.ad("ann"))

    assert convert(client, value_micros=10**15).status == 200

    assert totals(runtime)["value_micros"] == 10**15


def test_an_unsigned_conversion_is_refused(client: Client, runtime: Runtime, page: Page) -> None:
    page.click(page.ad("ann"))
    new_key(client)

    reply = client.get(f"{PIXEL}?visitor={ANN}&value_micros=5&order=A-1")

    assert (reply.status, reply.code) == (403, "invalid_signature")
    assert credited(runtime) == []


def test_a_signature_is_good_for_its_advertiser_order_and_value_alone(
    client: Client, runtime: Runtime, page: Page
) -> None:
    page.click(page.ad("ann"))
    signature = conversion_keys.sign(new_key(client), "mercedes", "A-1", 5)
    bmw = advertiser(client, "bmw").post("/advertisers/bmw/conversion-key").json["keys"][0]

    def told(order: str, value: int, signature: str = signature) -> int:
        query = f"visitor={ANN}&order={order}&value_micros={value}&signature={signature}"
        return client.get(f"{PIXEL}?{query}").status

    assert told("A-2", 5) == told("A-1", 6) == 403
    assert told("A-1", 5, conversion_keys.sign(bmw["secret"], "mercedes", "A-1", 5)) == 403
    assert told("A-1", 5, conversion_keys.sign("", "mercedes", "A-1", 5)) == 403
    assert credited(runtime) == []
    assert told("A-1", 5) == 200
    assert credited(runtime) == [SPRING]


def test_an_advertiser_without_a_key_has_no_conversions(client: Client) -> None:
    signature = conversion_keys.sign("", "mercedes", None, 0)

    assert client.get(f"{PIXEL}?visitor={ANN}&signature={signature}").code == "invalid_signature"


def test_nobody_suppresses_an_order_by_claiming_it_first(
    client: Client, runtime: Runtime, page: Page, side: Page
) -> None:
    side.click(side.ad("bob"))
    page.click(page.ad("ann"))

    assert client.get(f"{PIXEL}?visitor={BOB}&order=ORDER-1&value_micros=0").status == 403
    convert(client, order="ORDER-1")

    assert credited(runtime) == [SPRING]


def test_two_keys_are_valid_while_one_replaces_the_other(client: Client) -> None:
    first, second = new_key(client), new_key(client)
    assert [key["secret"] for key in advertiser(client).get(KEY_PATH).json["keys"]] == [
        second,
        first,
    ]

    def status(secret: str) -> int:
        signature = conversion_keys.sign(secret, "mercedes", None, 0)
        return client.get(f"{PIXEL}?visitor={ANN}&signature={signature}").status

    assert [status(first), status(second)] == [200, 200]
    third = new_key(client)
    assert [status(first), status(second), status(third)] == [403, 200, 200]


def test_a_conversion_key_is_its_advertiser_s_alone(client: Client) -> None:
    for caller, code in ((client, "unauthenticated"), (advertiser(client, "bmw"), "forbidden")):
        assert caller.get(KEY_PATH).code == code
        assert caller.post(KEY_PATH).code == code


def test_an_order_whose_page_is_loaded_again_uses_up_no_other(
    client: Client, runtime: Runtime, page: Page
) -> None:
    page.click(page.ad("ann"))

    for _ in range(MAX_CONVERSIONS + 1):
        assert convert(client, order="A-1").status == 200
    convert(client, order="A-2")

    assert totals(runtime)["conversions"] == 2


def test_an_ad_of_a_decision_is_credited_with_twenty_orders(
    client: Client, runtime: Runtime, page: Page
) -> None:
    page.click(page.ad("ann"))

    for number in range(22):
        assert convert(client, order=f"A-{number}").status == 200

    assert totals(runtime)["conversions"] == MAX_CONVERSIONS == 20
