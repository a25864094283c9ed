"""One signed POST to a receiver, whose answer is a stranger's: bounded in size and time."""

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
# A receiver says all in its status.
MOST_BYTES = 16 * 1024
_AGENT = "Plaza"


def send(runtime: Runtime, hook: Hook, delivery: Delivery) -> int | None:
    """Return the status of the receiver's answer; None: no answer came.

    None also for an address that leads to no public host, and an answer that is too long, so that
    answers show nothing of the network around this process.
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
    """Return the way to a host: a slow receiver holds up no other."""
    del host
    return outgoing.Way()
