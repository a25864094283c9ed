"""Notifications of all features: each feature shows its own things in inboxes and in letters."""

from collections.abc import Mapping, Sequence

from chalicelib.comments import notifications as comments
from chalicelib.identity import Principal
from chalicelib.notifications import digests
from chalicelib.notifications.inbox import ShownThing
from chalicelib.notifications.rows import NotificationItem
from chalicelib.runtime import Runtime
from chalicelib.social import notifications as social

_OF_COMMENTS = ("comment.reply", "comment.mention", "comment.watched")


def show(
    runtime: Runtime, reader: Principal, items: Sequence[NotificationItem]
) -> Mapping[str, ShownThing]:
    """Return the things of notifications that a reader sees now, by the ids of the items."""
    of_comments = [each for each in items if each["kind"] in _OF_COMMENTS]
    of_feed = [each for each in items if each["kind"] not in _OF_COMMENTS]
    shown = {**comments.show(runtime, reader, of_comments)} if of_comments else {}
    return shown | {**social.show(runtime, reader, of_feed)}


def send_letters(runtime: Runtime) -> dict[str, int]:
    """Write the letters that are due; return their number."""
    return {"letters_notified": digests.send_due(runtime, show)}
