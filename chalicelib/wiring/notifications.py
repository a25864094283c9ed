"""Notifications of all features: each feature shows its own things in inboxes and in letters."""

from collections.abc import Mapping, Sequence

from chalicelib.ads.campaigns import notifications as campaigns
from chalicelib.comments import notifications as comments
from chalicelib.comments.batches import notifications as batches
from chalicelib.content.publishing import notifications as pages
from chalicelib.identity import Principal
from chalicelib.notifications import digests
from chalicelib.notifications.inbox import Show, ShownThing
from chalicelib.notifications.rows import NotificationItem
from chalicelib.runtime import Runtime
from chalicelib.shop.orders import notifications as orders
from chalicelib.social import notifications as social
from chalicelib.webhooks import notifications as webhooks

# By the part of a notification's kind before the dot.
_SHOWN_BY: Mapping[str, Show] = {
    "comment": comments.show,
    "follow": social.show,
    "post": social.show,
    "order": orders.show,
    "page": pages.show,
    "webhook": webhooks.show,
    "batch": batches.show,
    "campaign": campaigns.show,
}


def show(
    runtime: Runtime, reader: Principal, items: Sequence[NotificationItem]
) -> Mapping[str, ShownThing]:
    """Return the things of notifications that the reader may see now, by the ids of the items.

    Omits items of unknown kinds: a later release, since rolled back, may have stored some.
    """
    parts: dict[Show, list[NotificationItem]] = {}
    for item in items:
        if show_part := _SHOWN_BY.get(item["kind"].partition(".")[0]):
            parts.setdefault(show_part, []).append(item)
    shown: dict[str, ShownThing] = {}
    for show_part, part in parts.items():
        shown |= show_part(runtime, reader, part)
    return shown


def send_letters(runtime: Runtime) -> dict[str, int]:
    """Write the letters that are due; return their number."""
    return {"letters_notified": digests.send_due(runtime, show)}
