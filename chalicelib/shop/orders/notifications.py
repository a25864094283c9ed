"""Notifications of orders: a buyer with an account gets one for each event of the order.

The events are the events of webhooks; the write that causes an event also stores it. Only a shop
with order pages notifies its buyers.
"""

from collections.abc import Mapping, Sequence
from typing import cast, get_args

from chalicelib.identity import Principal
from chalicelib.notifications import events
from chalicelib.notifications.events import NotificationEvent
from chalicelib.notifications.inbox import TEXT_CHARACTERS, ShownThing
from chalicelib.notifications.rows import NotificationItem
from chalicelib.runtime import Runtime
from chalicelib.shop import settings
from chalicelib.shop.errors import UnknownShop
from chalicelib.shop.orders.shapes import ORDERS, Order
from chalicelib.webhooks.kinds import BuyerKind
from chalicelib.webhooks.rows import DueEvent


def notify(runtime: Runtime, due: Sequence[DueEvent]) -> None:
    """Notify buyers of orders' due events, if they have accounts; a repeat changes nothing."""
    told = [each for each in due if _concerns_buyer(runtime, each)]
    read_at = runtime.now()
    orders = _find(runtime, {each["data"]["id"] for each in told})
    for event in told:
        order = orders.get(event["data"]["id"])
        if order is not None and order["user"] is not None:
            events.agree(runtime, _notification(event, order["user"]), read_at)


def _concerns_buyer(runtime: Runtime, event: DueEvent) -> bool:
    """Return whether an event's buyer is notified of it, on a page that shows their order.

    A failed refund is the seller's to repeat.
    """
    data = event["data"]
    is_theirs = event["kind"] in get_args(BuyerKind)
    return is_theirs and _page_of(runtime, data["site"], data["id"]) is not None


def _notification(event: DueEvent, buyer: str) -> NotificationEvent:
    return NotificationEvent(
        key=f"order/{event['id']}",
        site=event["data"]["site"],
        thing=event["data"]["id"],
        by="",
        at=event["at"],
        recipients={buyer: cast("BuyerKind", event["kind"])},
        # An order's steps are final: no event withdraws an earlier notification.
        is_new=True,
    )


def show(
    runtime: Runtime, reader: Principal, items: Sequence[NotificationItem]
) -> Mapping[str, ShownThing]:
    """Return the orders of notifications as their buyer sees them now, by the ids of the items.

    The answer omits the items of missing orders and of other users' orders.
    """
    orders = _find(runtime, {each["thing"] for each in items})
    shown: dict[str, ShownThing] = {}
    for item in items:
        order = orders.get(item["thing"])
        if order is not None and order["user"] == reader.id:
            page = _page_of(runtime, order["site"], order["_id"]) or ""
            lines = ", ".join(f"{each['title']} ({each['qty']})" for each in order["lines"])
            text = lines[:TEXT_CHARACTERS]
            shown[item["_id"]] = ShownThing("", text, order["_id"], "", "", page)
    return shown


def _page_of(runtime: Runtime, site: str, order_id: str) -> str | None:
    try:
        return settings.order_url(settings.recall(runtime, site), order_id)
    except UnknownShop:
        return None


def _find(runtime: Runtime, ids: set[str]) -> dict[str, Order]:
    if not ids:
        return {}
    found = ORDERS.of(runtime.database).find({"_id": {"$in": sorted(ids)}})
    return {each["_id"]: each for each in found}
