"""A push message of notifications: the JSON that a browser's service worker shows."""

import hashlib
import hmac
from collections.abc import Sequence

import orjson

from chalicelib.languages import direction
from chalicelib.notifications.inbox import EXCERPT_CHARACTERS, InboxRow
from chalicelib.notifications.letter import event_line, headline, line
from chalicelib.notifications.push_rows import PushSubscription

# The most groups in a body; the title counts all.
MOST_LISTED = 3
# Below what `push.encryption` takes.
MAX_BYTES = 3_000
_TOPIC_CHARACTERS = 32


def payload_of(row: PushSubscription, shown: Sequence[InboxRow]) -> bytes:
    """Return the JSON of a push message for groups, the newest first, at most MAX_BYTES.

    A longer message loses its body; if still too long, its URL, too.
    """
    language, first = row["language"], shown[0]
    if len(shown) == 1:
        body = line(first.thing.text[:EXCERPT_CHARACTERS])
    else:
        body = "\n".join(event_line(language, each) for each in shown[:MOST_LISTED])
    said = {
        "kind": first.item["kind"],
        "title": headline(language, shown),
        "body": body,
        "url": first.thing.permalink,
        "tag": topic_of(row, shown),
        "lang": language,
        "dir": direction(language),
    }
    for left_out in ({}, {"body": ""}, {"body": "", "url": ""}):
        if len(packed := orjson.dumps({**said, **left_out})) <= MAX_BYTES:
            break
    return packed


def topic_of(row: PushSubscription, shown: Sequence[InboxRow]) -> str:
    """Return the topic of a push message; a later message with the same topic replaces it.

    It is an HMAC by the browser's secret, so that the push service learns nothing of the thing.
    """
    item = shown[0].item
    named = item.get("group", item["_id"]) if len(shown) == 1 else "several"
    return hmac.new(row["auth"].encode(), named.encode(), hashlib.sha256).hexdigest()[
        :_TOPIC_CHARACTERS
    ]
