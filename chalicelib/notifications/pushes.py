"""Sending push messages of notifications, each at most once after its claim.

A new item makes the rows of its person's browsers due. A worker leases a row, reads the person's
unread items, sets `claimed`, and sends one push message. If a worker finds a row claimed, an
earlier worker may have sent the message: Plaza does not send it again. The inbox has the items.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from chalicelib.notifications import inbox, preferences, subscriptions
from chalicelib.notifications.inbox import InboxRow, Show
from chalicelib.notifications.push_rows import AFTER, SUBSCRIPTIONS, WORK, PushSubscription
from chalicelib.notifications.push_text import payload_of, topic_of
from chalicelib.notifications.rows import INBOXES, ITEMS, UNREAD
from chalicelib.observability import metrics
from chalicelib.observability.logs import log
from chalicelib.push import browsers, sending
from chalicelib.push.sending import PushAnswer, PushMessage, Urgency
from chalicelib.runtime import Runtime

# The pauses before the next tries, if the push service asks to try later without a time.
PAUSES = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 30, 120, 480))
# The time for which a push service stores a message for an offline browser.
TTL = timedelta(days=1)
# Kinds of low urgency: a device that saves its battery may get them later.
_IDLE = ("follow", "post.comment", "post.new", "post.reaction")


def run(runtime: Runtime, show: Show, subscription_id: str) -> None:
    """Send a browser a push message of unread items, if its row is due and without a lease.

    In quiet hours, it postpones the row.
    """
    now = runtime.now()
    due = {"_id": subscription_id, "next": {"$lte": now}}
    row = WORK.take(runtime, due) if browsers.is_on(runtime) else None
    if row is None:
        return
    if row["claimed"] is not None:
        _end(runtime, row, row["claimed"], "unknown")
        return
    marks = INBOXES.of(runtime.database).find_one({"_id": row["user_id"]})
    chosen = preferences.of_row(marks)
    if end := preferences.quiet_until(chosen, row["time_zone"], now):
        WORK.postpone(runtime, row, end, {"next": end})
        return
    until = now - AFTER
    since = max(row["since"], marks["seen"]) if marks else row["since"]
    unread = {**UNREAD, **preferences.by_channel(chosen, "push")}
    span = {**unread, "risen": {"$gt": since, "$lte": until}}
    shown = inbox.read_span(runtime, show, row["user_id"], span)
    # The service accepts a message only by the key that the browser subscribed for.
    if not shown or row["key"] != runtime.settings.vapid_public_key:
        _rest(runtime, row, until)
    elif WORK.renew(runtime, row, {"$set": {"claimed": until}}):
        _settle(runtime, row, until, _send(runtime, row, shown))


def _send(runtime: Runtime, row: PushSubscription, shown: list[InboxRow]) -> PushAnswer:
    is_idle = all(each.item["kind"] in _IDLE for each in shown)
    urgency: Urgency = "low" if is_idle else "normal"
    message = PushMessage(payload_of(row, shown), topic_of(row, shown), urgency, TTL)
    return sending.send(runtime, subscriptions.browser_of(row), message)


def _settle(runtime: Runtime, row: PushSubscription, until: datetime, answer: PushAnswer) -> None:
    """Store and log the outcome of a push message."""
    tries = row["tries"] + 1
    if answer.outcome == "gone":
        SUBSCRIPTIONS.of(runtime.database).delete_one(WORK.own(row))
        _log("gone", answer.status)
    elif answer.outcome == "later" and tries <= len(PAUSES):
        again = runtime.now() + (answer.wait or PAUSES[tries - 1])
        # The next try reads the unread items anew.
        WORK.postpone(runtime, row, again, {"next": again, "tries": tries, "claimed": None})
        _log("later", answer.status)
    else:
        outcome = "given up" if answer.outcome == "later" else answer.outcome
        _end(runtime, row, until, outcome, answer.status)


def _end(
    runtime: Runtime, row: PushSubscription, until: datetime, outcome: str, status: int = 0
) -> None:
    _rest(runtime, row, until)
    _log(outcome, status)


def _rest(runtime: Runtime, row: PushSubscription, until: datetime) -> None:
    """End a span; with later items or wakes, postpone the row by AFTER, or else end its task."""
    fields: Mapping[str, Any] = {"since": until, "tries": 0, "claimed": None}
    later = {"user_id": row["user_id"], **UNREAD, "risen": {"$gt": until}}
    has_later = ITEMS.of(runtime.database).find_one(later, {"_id": 1}) is not None
    if has_later or not WORK.finish(runtime, row, {**fields}, unchanged=("wakes",)):
        again = runtime.now() + AFTER
        WORK.postpone(runtime, row, again, {**fields, "next": again})


def _log(outcome: str, status: int) -> None:
    fields = {
        "outcome": outcome,
        "status": status,
        "pushes_sent": int(outcome == "sent"),
        "pushes_gone": int(outcome == "gone"),
        "pushes_refused": int(outcome == "refused"),
        "pushes_given_up": int(outcome in {"unknown", "given up"}),
    }
    log.info("push", extra={"fields": fields, "metrics": metrics.PUSHES})
