"""An identity provider's published keys, cached to survive its outages and bad answers.

The first call after five minutes renews a set, which then lacks withdrawn keys. While the provider
fails, the last good set serves for up to an hour, withdrawn keys included. An unknown key id, as
after a rotation, also causes a fetch. There is at most one fetch in ten seconds.
"""

import http.client
import threading
from datetime import datetime, timedelta
from urllib.parse import urlsplit

import jwt
import orjson

from chalicelib import deadlines, outgoing
from chalicelib.errors import Unauthenticated, Unavailable
from chalicelib.observability.logs import log

FRESH = timedelta(minutes=5)
KEPT = timedelta(hours=1)
COOL_DOWN = timedelta(seconds=10)
TIMEOUT_SECONDS = 2.0
# The longest wait of the caller that begins a fetch, if the old set has its key.
REFRESH_SECONDS = 1.0
MOST_BYTES = 65_536
_OK = 200


class KeySet:
    """The published keys at a URL; threads share it.

    A known key of a fresh set takes no lock. The first thread that finds the set too old begins a
    fetch and waits for at most a second. Other threads use the old set meanwhile. A thread waits
    for up to two seconds if the old set lacks its key or is over an hour old.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._way = outgoing.Way()
        self._keys: dict[str, jwt.PyJWK] = {}
        self._fetched: datetime | None = None
        self._tried: datetime | None = None
        self._failed = False
        # The latest fetch: set at its end, even after a failure.
        self._fetch: threading.Event | None = None
        self._lock = threading.Lock()

    def find(self, kid: str | None, now: datetime) -> jwt.PyJWK:
        """Return the key of an id.

        Raises Unauthenticated for an id that the provider does not publish, and Unavailable if the
        provider fails and the last good set is over an hour old or lacks the key.
        """
        if kid is None:
            raise Unauthenticated("The token does not say which key it is signed with")
        key = self._keys.get(kid)
        if key is not None and self._is_younger_than(FRESH, now):
            return key
        fetch, is_own = self._begin(now)
        has_nothing = key is None or not self._is_younger_than(KEPT, now)
        if fetch is not None and (is_own or has_nothing):
            fetch.wait(deadlines.patience(TIMEOUT_SECONDS if has_nothing else REFRESH_SECONDS))
        if not self._is_younger_than(KEPT, now):
            raise Unavailable("The identity provider's keys cannot be reached")
        key = self._keys.get(kid)
        if key is None and self._failed:
            raise Unavailable("The identity provider's keys cannot be reached")
        if key is None:
            raise Unauthenticated("The token is signed with a key that is not published")
        return key

    def _is_younger_than(self, age: timedelta, now: datetime) -> bool:
        """Return whether the last fetch is younger than `age`; False after the clock went back."""
        return self._fetched is not None and timedelta(0) <= now - self._fetched < age

    def _begin(self, now: datetime) -> tuple[threading.Event | None, bool]:
        """Return the running fetch, and whether this call began it.

        None: the last fetch has ended, and its cool-down is not over.
        """
        with self._lock:
            if self._fetch is not None and not self._fetch.is_set():
                return self._fetch, False
            if self._tried is not None and timedelta(0) <= now - self._tried < COOL_DOWN:
                return None, False
            self._tried, self._failed = now, True
            self._fetch = threading.Event()
            # In a thread: callers with a key in the old set need not wait for it.
            threading.Thread(target=self._run, args=(self._fetch, now), daemon=True).start()
            return self._fetch, True

    def _run(self, fetch: threading.Event, now: datetime) -> None:
        try:
            keys = {key.key_id: key for key in self._read() if key.key_id}
        except Exception:  # noqa: BLE001 - after any failure the last good set stays
            log.warning("the identity provider's keys were not fetched", exc_info=True)
        else:
            self._keys, self._fetched, self._failed = keys, now, False
        finally:
            fetch.set()

    def _read(self) -> list[jwt.PyJWK]:
        """Return the keys that the provider publishes; raises any error."""
        client = jwt.PyJWKClient(self._url, cache_jwk_set=False, timeout=TIMEOUT_SECONDS)
        return self._way.call(TIMEOUT_SECONDS, client.get_signing_keys)


class PublicKeySet(KeySet):
    """The published keys at an https URL of a stranger's choice, on the public internet.

    An answer has status 200, without a redirect, and at most `MOST_BYTES`.
    """

    def _read(self) -> list[jwt.PyJWK]:
        url = urlsplit(self._url)
        headers = {"Accept": "application/json", "User-Agent": "Plaza", "Connection": "close"}
        query = f"?{url.query}" if url.query else ""
        request = outgoing.HttpRequest(url, "GET", query, "", headers)
        answer = outgoing.ask(
            self._way, request, TIMEOUT_SECONDS, MOST_BYTES, opens=outgoing.PublicConnection
        )
        if answer.status != _OK:
            raise http.client.HTTPException(f"status {answer.status}")
        published = jwt.PyJWKSet.from_dict(orjson.loads(answer.body)).keys
        return [key for key in published if key.public_key_use in {"sig", None}]
