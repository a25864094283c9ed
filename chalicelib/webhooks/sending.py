"""One signed POST to a receiver, with bounds for the time and the size of the answer."""

import http.client
from functools import lru_cache
from urllib.parse import urlsplit

from chalicelib import outgoing
from chalicelib.observability.logs import log
from chalicelib.outgoing import OutgoingPost
from chalicelib.runtime import Runtime
from chalicelib.webhooks import signatures
from chalicelib.webhooks.rows import Delivery, Hook

SECONDS = 10.0
# The bound of an answer: only its status matters.
MOST_BYTES = 16 * 1024
_AGENT = "Plaza"


def send(runtime: Runtime, hook: Hook, delivery: Delivery) -> int | None:
    """Return the status of the receiver's answer; None: no answer came.

    None also if the address leads to no public host, or the answer is too long: the result must
    not disclose the network around this process. None also if no key opens the hook's secrets.
    """
    event, seconds = event_of(delivery), int(runtime.now().timestamp())
    signature = signatures.sign(runtime, hook, event, seconds, delivery["body"])
    if not signature:
        log.warning(
            "no key opens the secrets of a webhook", extra={"fields": {"hook": hook["_id"]}}
        )
        return None
    headers = {
        "Content-Type": "application/json",
        "User-Agent": _AGENT,
        "Connection": "close",
        "webhook-id": event,
        "webhook-timestamp": str(seconds),
        "webhook-signature": signature,
    }
    given = OutgoingPost(hook["url"], delivery["body"], headers, runtime.settings.is_local)
    host = str(urlsplit(hook["url"]).hostname)
    try:
        return outgoing.post(_way_of(host), given, SECONDS, MOST_BYTES).status
    except (OSError, http.client.HTTPException, ValueError) as error:
        fields = {"hook": hook["_id"], "error": type(error).__name__}
        log.info("a webhook got no answer", extra={"fields": fields})
        return None


def event_of(delivery: Delivery) -> str:
    """Return the id of a delivery's event, the same for every hook."""
    return delivery["_id"].rpartition(":")[0]


@lru_cache(maxsize=256)
def _way_of(host: str) -> outgoing.Way:
    """Return the way to a host; each host has its own, so that a slow receiver delays no other."""
    del host
    return outgoing.Way()
