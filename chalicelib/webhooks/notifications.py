"""Hooks that Plaza has switched off: an alarm, and a notification to the hook's publisher.

The write that switches a hook off also sets `stopped`: a crash loses neither the alarm nor the
notification.
"""

from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from chalicelib.identity import Principal
from chalicelib.notifications import events
from chalicelib.notifications.events import NotificationEvent
from chalicelib.notifications.inbox import ShownThing
from chalicelib.notifications.rows import NotificationItem
from chalicelib.observability.logs import log
from chalicelib.observability.metrics import HOOKS_STOPPED
from chalicelib.runtime import Runtime
from chalicelib.webhooks.rows import HOOKS, STOPPED, Hook

# The most hooks of one run; the next run continues.
MOST_AT_ONCE = 100


def report_ends(runtime: Runtime) -> None:
    """Log each hook that Plaza has switched off, for the alarm, and notify its publisher once."""
    rows, read_at = HOOKS.of(runtime.database), runtime.now()
    for hook in list(rows.find(STOPPED).limit(MOST_AT_ONCE)):
        fields = {"hook": hook["_id"], "site": hook["site"], "state": hook["state"]}
        counted = {**fields, "webhooks_stopped": 1}
        log.warning("webhook stopped", extra={"fields": counted, "metrics": HOOKS_STOPPED})
        if publisher := hook.get("by"):
            events.agree(runtime, _notification(hook, publisher), read_at)
        # A later `stopped` stays: the publisher switched the hook on, and Plaza off again.
        this = {"site": hook["site"], "_id": hook["_id"], "stopped": hook["stopped"]}
        rows.update_one(this, {"$unset": {"stopped": ""}})


def _notification(hook: Hook, publisher: str) -> NotificationEvent:
    return NotificationEvent(
        key=f"webhook/{hook['_id']}/{hook['stopped'].isoformat()}",
        site=hook["site"],
        thing=hook["_id"],
        by="",
        at=hook["stopped"],
        recipients={publisher: "webhook.stopped"},
        # Never withdrawn: `show` omits a hook that is on again.
        is_new=True,
    )


def show(
    runtime: Runtime, reader: Principal, items: Sequence[NotificationItem]
) -> Mapping[str, ShownThing]:
    """Return the reader's hooks that are still off, by the ids of the items, each as its host.

    The rest of an address may have a secret.
    """
    keys = [{"site": each["site"], "_id": each["thing"]} for each in items]
    own = {"by": reader.id, "state": {"$in": ["gone", "failing"]}}
    found = {each["_id"]: each for each in HOOKS.of(runtime.database).find({"$or": keys, **own})}
    shown: dict[str, ShownThing] = {}
    for item in items:
        hook = found.get(item["thing"])
        if hook is not None:
            host = urlsplit(hook["url"]).hostname or ""
            shown[item["_id"]] = ShownThing("", "", hook["_id"], host, "", "")
    return shown
