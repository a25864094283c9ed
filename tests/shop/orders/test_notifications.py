"""Notifications of a buyer with an account: each step of an order once, for this buyer alone."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest

from chalicelib.database import Document
from chalicelib.identity import Principal
from chalicelib.notifications import digests, events
from chalicelib.notifications.inbox import TEXT_CHARACTERS
from chalicelib.notifications.rows import ITEMS, NotificationItem
from chalicelib.people import jobs
from chalicelib.people.jobs import EraseLate
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from chalicelib.shop.orders import notifications, sweep
from chalicelib.shop.orders.shapes import ORDERS
from chalicelib.webhooks import due
from chalicelib.webhooks.rows import DueEvent
from chalicelib.wiring.notifications import show
from chalicelib.wiring.people import PEOPLE
from tests.notifications.support.mailbox import ANN, turn_on, written
from tests.shop.support.buying import (
    SKU,
    agreement,
    bought,
    cart_of,
    fill,
    ordered,
    refund_came_back,
    stocked,
    stored_order,
)
from tests.shop.support.factories import SITE
from tests.shop.support.knife import Cut, Edge, cut
from tests.shop.support.threads import in_threads
from tests.support.clock import Clock
from tests.support.http_client import Client

PAGE = "https://harbour-shop.example/orders/{order}?from=letter"
pytestmark = pytest.mark.usefixtures("workers")


@dataclass(frozen=True)
class Shop:
    """A shop with pages of orders, and its buyers."""

    client: Client
    paula: Client
    runtime: Runtime
    clock: Clock

    def buy(self, who: str = "ann", **lines: int) -> str:
        """Have a person buy something; return the order."""
        return bought(self.client.as_(who), "ann@example.org", **lines)[1]

    def send(self, order: str) -> None:
        assert self.paula.post(f"/orders/{order}/sent").status == 200

    def refund(self, order: str, key: str = "r1", **given: Any) -> None:
        body = {"restock": True, "key": key, **given}
        assert self.paula.post(f"/orders/{order}/refund", **body).status == 200

    def deliver(self) -> None:
        due.deliver(self.runtime, ORDERS, notifications.notify)

    def told(self, who: str = "ann") -> list[dict[str, Any]]:
        """Let the schedule run; return a person's notifications, the oldest first."""
        self.tend()
        found = self.client.as_(who).get("/notifications").json["notifications"]
        return sorted(found, key=lambda each: str(each["at"]))

    def kinds(self, who: str = "ann") -> list[str]:
        return [each["kind"] for each in self.told(who)]

    def items(self) -> list[NotificationItem]:
        return list(ITEMS.of(self.runtime.database).find())

    def tend(self) -> None:
        self.clock.advance(seconds=6)
        sweep.sweep(self.runtime)


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"public_url": "https://plaza.example"})


@pytest.fixture
def shop(client: Client, runtime: Runtime, clock: Clock) -> Shop:
    return Shop(client, stocked(client, order_page=PAGE), runtime, clock)


def crash(*_: object, **__: object) -> None:
    raise Cut


def test_a_buyer_is_told_each_step_once_however_often_its_call_repeats(shop: Shop) -> None:
    order = shop.buy(MOBY_HARD=2)
    assert shop.kinds() == ["order.paid"]
    for _ in range(2):
        shop.send(order)
        shop.tend()
        shop.refund(order)
        shop.tend()

    assert shop.kinds() == ["order.paid", "order.shipped", "order.refunded"]


def test_a_notification_names_the_order_and_its_page_and_no_person(shop: Shop) -> None:
    assert shop.paula.get(f"/shops/{SITE}").json["order_page"] == PAGE
    order = shop.buy(MOBY_HARD=2, PEQUOD=1)

    (shown,) = shop.told()

    one, other = (line["title"] for line in stored_order(shop.runtime, order)["lines"])
    assert (shown["by"], shown["actors"], shown["count"]) == (None, [], 0)
    assert shown["excerpt"] == f"{one} (2), {other} (1)"
    assert shown["page"] == {"id": order, "title": "", "url": ""}
    assert shown["permalink"] == PAGE.replace("{order}", order)
    assert (shown["site"], shown["read"]) == (SITE, False)


def test_an_order_that_ends_without_payment_tells_its_buyer(shop: Shop) -> None:
    ann = shop.client.as_("ann")
    order = ordered(ann, cart_of(ann, MOBY_HARD=1), agreement(email="slow@example.org"))
    assert ann.post(f"/orders/{order}/cancel").status == 200

    assert shop.kinds() == ["order.cancelled"]


def test_a_refund_that_came_back_and_is_made_again_is_told_again(shop: Shop) -> None:
    _, order = refund_came_back(shop.client.as_("ann"))
    # That has changed the shop's settings.
    assert shop.paula.put(f"/shops/{SITE}", currency="EUR", order_page=PAGE).status == 200
    shop.tend()
    shop.refund(order, "back", lines={SKU: 1})

    # That the refund failed is its seller's matter, who hears of it by a webhook.
    assert [each for each in shop.kinds() if "refund" in each] == ["order.refunded"] * 2


def test_a_guests_order_tells_nobody_until_it_is_claimed(shop: Shop) -> None:
    cart, order = bought(shop.client)
    shop.tend()
    assert shop.items() == []

    assert shop.client.as_("ann").post(f"/carts/{cart}/claim").status == 200
    shop.send(order)

    assert shop.kinds() == ["order.shipped"]


def test_a_shop_without_pages_of_orders_notifies_nobody(shop: Shop) -> None:
    assert shop.paula.put(f"/shops/{SITE}", currency="EUR").json["order_page"] is None
    order = shop.buy()

    assert shop.told() == []
    assert stored_order(shop.runtime, order).get("due_events") == []


@pytest.mark.parametrize(
    "url",
    [
        "https://a.example/orders",
        "javascript:alert('{order}')",
        "https://b.example@a.example/{order}",
        "/orders/{order}",
        "https://a.example/{order}" + "x" * 2_000,
    ],
)
def test_an_address_without_the_order_or_of_another_kind_is_refused(shop: Shop, url: str) -> None:
    assert shop.paula.put(f"/shops/{SITE}", currency="EUR", order_page=url).status == 422


def test_an_address_is_no_template_of_code(shop: Shop) -> None:
    url = "https://a.example/{order.__class__}/{0}/{order}"
    assert shop.paula.put(f"/shops/{SITE}", currency="EUR", order_page=url).status == 200
    order = shop.buy()

    (shown,) = shop.told()

    assert shown["permalink"] == f"https://a.example/{{order.__class__}}/{{0}}/{order}"


def test_an_order_is_shown_to_its_buyer_of_now_alone(shop: Shop) -> None:
    order = shop.buy()
    shop.tend()

    for who, role in (("bob", ()), ("paula", ("publisher",)), ("admin", ("admin",))):
        reader = Principal(id=who, name="", roles=frozenset(role))
        assert notifications.show(shop.runtime, reader, shop.items()) == {}
    orders = ORDERS.of(shop.runtime.database)
    orders.update_one({"_id": order}, {"$set": {"user": "bob"}})
    assert shop.told() == []
    orders.update_one({"_id": order}, {"$set": {"user": "ann"}})
    assert shop.kinds() == ["order.paid"]
    orders.delete_one({"_id": order})
    assert shop.told() == []


def test_a_buyer_who_erased_themselves_from_an_order_hears_of_it_no_more(shop: Shop) -> None:
    order = shop.buy()
    assert shop.kinds() == ["order.paid"]
    shop.send(order)
    ann = shop.client.as_("ann")
    assert ann.post(f"/orders/{order}/erasure", email="ann@example.org").status == 200

    assert shop.told() == []
    assert [each["kind"] for each in shop.items()] == ["order.paid"]


def test_a_buyer_who_is_erased_between_read_and_write_leaves_no_item(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.buy()
    agree, ends = events.agree, []

    def erased_first(*given: Any) -> None:
        shop.clock.advance(seconds=1)
        jobs.erase(shop.runtime, PEOPLE, "ann")
        ends.append(shop.runtime.now())
        shop.clock.advance(seconds=1)
        agree(*given)

    monkeypatch.setattr(events, "agree", erased_first)
    shop.tend()
    assert [each["user_id"] for each in shop.items()] == ["ann"]

    jobs.run(shop.runtime, PEOPLE, EraseLate(user_id="ann", until=ends[0]))

    assert shop.items() == []


@pytest.mark.parametrize("edge", ["before", "after"])
def test_a_schedule_that_dies_at_any_write_tells_each_step_once(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, edge: Edge
) -> None:
    fill(shop.paula, 20, key="more")
    turn_on(shop.runtime, "ann", ANN)
    orders: list[str] = []
    for at in range(9):
        orders.append(shop.buy())
        shop.clock.advance(seconds=6)
        with suppress(Cut), cut(monkeypatch, at, edge) as knife:
            shop.deliver()
        shop.deliver()
        if knife.writes <= at:
            break
    else:
        pytest.fail("the schedule never ended")

    assert {each["key"] for each in shop.items()} == {f"order/{order}-paid" for order in orders}
    assert len(shop.items()) == len(orders)


def test_a_crash_after_the_items_makes_no_second_ones(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.buy()
    shop.clock.advance(seconds=6)
    with monkeypatch.context() as patch:
        patch.setattr("pymongo.collection.Collection.bulk_write", crash)
        with pytest.raises(Cut):
            shop.deliver()
    before = shop.items()
    assert len(before) == 1

    assert shop.kinds() == ["order.paid"]
    assert shop.items() == before


def test_schedules_at_once_tell_each_step_once(shop: Shop) -> None:
    for order in [shop.buy() for _ in range(3)]:
        shop.send(order)
    shop.clock.advance(seconds=6)

    in_threads(lambda _: shop.deliver(), 8)

    assert sorted(shop.kinds()) == ["order.paid"] * 3 + ["order.shipped"] * 3


def test_people_are_told_before_the_events_go(shop: Shop) -> None:
    order = shop.buy()
    shop.clock.advance(seconds=6)

    def fail(_runtime: Runtime, told: Sequence[DueEvent]) -> None:
        assert [each["id"] for each in told] == [f"{order}-paid"]
        raise Cut

    with pytest.raises(Cut):
        due.deliver(shop.runtime, ORDERS, fail)

    kept = stored_order(shop.runtime, order).get("due_events", [])
    assert [each["id"] for each in kept] == [f"{order}-paid"]


def test_a_kind_that_is_off_is_withheld(shop: Shop) -> None:
    off: Document = {"order.paid": {"in_app": False}}
    assert shop.client.as_("ann").put("/notifications/preferences", kinds=off).status == 200
    shop.send(shop.buy())

    assert shop.kinds() == ["order.shipped"]


def test_each_step_is_a_notification_of_its_own(shop: Shop) -> None:
    shop.send(shop.buy())

    assert len({each["id"] for each in shop.told()}) == 2
    assert shop.client.as_("ann").get("/notifications").json["unread"] == 2


def test_a_letter_tells_of_an_order_with_its_page(shop: Shop) -> None:
    turn_on(shop.runtime, "ann", ANN, language="de")
    order = shop.buy()
    shop.tend()
    shop.clock.advance(minutes=7)
    assert digests.send_due(shop.runtime, show) == 1

    (letter,) = written(shop.runtime)
    assert letter["subject"] == "Deine Bestellung ist bezahlt"
    assert PAGE.replace("{order}", order) in letter["text"]


def test_an_order_of_many_lines_shows_their_beginning(shop: Shop) -> None:
    order = stored_order(shop.runtime, shop.buy())
    lines = [{**order["lines"][0], "title": f"{number} {'x' * 190}"} for number in range(100)]
    ORDERS.of(shop.runtime.database).update_one({"_id": order["_id"]}, {"$set": {"lines": lines}})
    shop.tend()

    reader = Principal(id="ann", name="")
    (shown,) = notifications.show(shop.runtime, reader, shop.items()).values()

    assert len(shown.text) == TEXT_CHARACTERS
    assert shown.text.startswith("0 xxx")
