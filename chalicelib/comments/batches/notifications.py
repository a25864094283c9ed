"""Notifications of batches: the moderator of a batch gets one at its end."""

from collections.abc import Mapping, Sequence

from chalicelib.comments.log.rows import BATCHES, Batch
from chalicelib.comments.sites import settings
from chalicelib.identity import Principal
from chalicelib.notifications import events
from chalicelib.notifications.events import NotificationEvent
from chalicelib.notifications.inbox import ShownThing
from chalicelib.notifications.rows import NotificationItem
from chalicelib.runtime import Runtime


def tell_done(runtime: Runtime, taken: Batch) -> None:
    """Notify the moderator of a batch, if the site notifies.

    Call it before the batch ends: after a crash, the next worker calls it again.
    """
    if not settings.notifies(runtime, taken["site"]):
        return
    read_at = runtime.now()
    batch = BATCHES.of(runtime.database).find_one({"_id": taken["_id"]})
    if batch is None or batch["by"] is None:
        # Its moderator was erased while it ran.
        return
    event = NotificationEvent(
        key=f"batch/{batch['_id']}",
        site=batch["site"],
        thing=batch["_id"],
        by="",
        at=read_at,
        recipients={batch["by"]: "batch.done"},
        is_new=True,
    )
    events.agree(runtime, event, read_at)


def show(
    runtime: Runtime, reader: Principal, items: Sequence[NotificationItem]
) -> Mapping[str, ShownThing]:
    """Return the reader's batches by the ids of the items, with `changed/total` as their text."""
    ids = [each["thing"] for each in items]
    found = BATCHES.of(runtime.database).find({"_id": {"$in": ids}, "by": reader.id})
    batches = {each["_id"]: each for each in found}
    shown: dict[str, ShownThing] = {}
    for item in items:
        batch = batches.get(item["thing"])
        if batch is not None:
            text = f"{batch['changed']}/{batch['total']}"
            shown[item["_id"]] = ShownThing("", text, batch["_id"], "", "", "")
    return shown
