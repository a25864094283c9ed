"""The sending of a message to a push service (RFC 8030), with an answer bounded in size and time.

Only the Lambda function that sends imports this module, and with it the encryption libraries.
"""

import http.client
import socket
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import lru_cache
from http import HTTPStatus
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from chalicelib import outgoing
from chalicelib.errors import Misconfigured
from chalicelib.observability.logs import log
from chalicelib.outgoing import HttpAnswer, OutgoingPost
from chalicelib.push import encryption, vapid
from chalicelib.push.browsers import Browser
from chalicelib.runtime import Runtime

SECONDS = 10.0
MOST_BYTES = 16 * 1024
# The longest wait that a service can ask for.
MOST_WAIT = timedelta(days=1)
# The outcome of a message:
# - `sent`: the service has the message;
# - `gone`: the browser has left the subscription;
# - `later`: the service certainly did not take the message, and may take it later;
# - `refused`: the service will never take the message;
# - `unknown`: no valid answer came, and the service may have the message.
Outcome = Literal["sent", "gone", "later", "refused", "unknown"]
Urgency = Literal["very-low", "low", "normal", "high"]


class PushMessage(NamedTuple):
    """A message before its encryption.

    `topic`: up to 32 characters of base64url; a service replaces a waiting message of the same
    topic. `ttl`: the time that the service stores a message for a browser that is off.
    """

    body: bytes
    topic: str
    urgency: Urgency
    ttl: timedelta


class PushAnswer(NamedTuple):
    """The outcome of a message.

    `status`: of HTTP; 0 without an answer. `wait`: until the service takes the next attempt; None:
    the service named no time.
    """

    outcome: Outcome
    status: int
    wait: timedelta | None = None


def send(runtime: Runtime, browser: Browser, message: PushMessage) -> PushAnswer:
    """Encrypt a message, post it to the browser's service, and return the outcome.

    Without a matching pair of keys in the settings, the outcome is `refused`. Raises ValueError for
    a long message, or for a browser's keys of a wrong form.
    """
    try:
        signed = vapid.authorization(runtime.settings, browser.endpoint, runtime.now())
    except Misconfigured:
        log.exception("the keys of web push are no pair")
        return PushAnswer("refused", 0)
    headers = {
        "Authorization": signed,
        "Content-Encoding": "aes128gcm",
        "Content-Type": "application/octet-stream",
        "TTL": str(int(message.ttl.total_seconds())),
        "Topic": message.topic,
        "Urgency": message.urgency,
        "Connection": "close",
    }
    body = encryption.encrypt(message.body, browser, runtime.random)
    given = OutgoingPost(browser.endpoint, body, headers, runtime.settings.is_local)
    host = str(urlsplit(browser.endpoint).hostname)
    try:
        answer = outgoing.post(_way_of(host), given, SECONDS, MOST_BYTES)
    except (socket.gaierror, ConnectionRefusedError):
        return PushAnswer("later", 0)
    except ValueError:
        return PushAnswer("refused", 0)
    except (OSError, http.client.HTTPException):
        return PushAnswer("unknown", 0)
    return PushAnswer(_outcome(answer.status), answer.status, _wait(answer, runtime.now()))


def _outcome(status: int) -> Outcome:
    if HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        return "sent"
    if status in {HTTPStatus.NOT_FOUND, HTTPStatus.GONE}:
        return "gone"
    is_passing = status >= HTTPStatus.INTERNAL_SERVER_ERROR
    return "later" if is_passing or status == HTTPStatus.TOO_MANY_REQUESTS else "refused"


def _wait(answer: HttpAnswer, now: datetime) -> timedelta | None:
    """Return the wait of `Retry-After`, in seconds or until a time; None: missing or invalid."""
    text = answer.headers.get("Retry-After", "")
    if text.isascii() and text.isdigit():
        # A much longer number would overflow a timedelta; nine digits can exceed MOST_WAIT.
        return min(timedelta(seconds=int(text[:9])), MOST_WAIT)
    try:
        until = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    if until.tzinfo is None:
        return None
    return min(max(until - now, timedelta(0)), MOST_WAIT)


@lru_cache(maxsize=64)
def _way_of(host: str) -> outgoing.Way:
    """Return a host's own way, so that a slow service blocks no other."""
    del host
    return outgoing.Way()
