"""HTTP calls to a provider: for its documents, for tokens, and for a profile.

Answers are untrusted: each call bounds their size and time, and callers check their content.
"""

import base64
import http.client
import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import quote_plus, urlencode, urlsplit

from chalicelib import outgoing
from chalicelib.observability.logs import log
from chalicelib.outgoing import HttpRequest, PublicConnection

SECONDS = 3.0
MOST_BYTES = 256 * 1024
_OK = 200
_AGENT = "Plaza"
MOST_SUBJECT_CHARACTERS = 255


class ProviderFailed(Exception):
    """The provider did not answer in time, or its answer is unusable."""


class Profile(NamedTuple):
    """A provider's data on a person after a sign-in.

    names: unchecked candidates, the preferred first. picture: unchecked.
    email: only a verified address.
    """

    issuer: str
    subject: str
    names: tuple[object, ...]
    picture: object
    email: str | None


class Exchange(NamedTuple):
    """A code to exchange for tokens, with the credentials of the client (RFC 6749, 4.1.3)."""

    code: str
    verifier: str
    redirect_uri: str
    client_id: str
    client_secret: str


def get(url: str, *, is_near: bool, bearer: str | None = None) -> Any:
    """Return the JSON at an address; raises ProviderFailed.

    `is_near`: the deployment is local, and may call plain http and private addresses.
    """
    headers = {} if bearer is None else {"Authorization": f"Bearer {bearer}"}
    return _ask(url, "", headers, is_near=is_near)


def tokens_of(url: str, given: Exchange, *, is_basic: bool, is_near: bool) -> dict[str, Any]:
    """Exchange a code; return the answer, with a text `access_token`; raises ProviderFailed.

    `is_basic`: send the client's credentials in a header; False: in the form.
    """
    form = {
        "grant_type": "authorization_code",
        "code": given.code,
        "redirect_uri": given.redirect_uri,
        "code_verifier": given.verifier,
    }
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    if is_basic:
        headers["Authorization"] = _basic(given.client_id, given.client_secret)
    else:
        form |= {"client_id": given.client_id, "client_secret": given.client_secret}
    found = _ask(url, urlencode(form), headers, is_near=is_near)
    if not isinstance(found, dict) or not isinstance(found.get("access_token"), str):
        raise ProviderFailed("no access token")
    return found


def _basic(client_id: str, secret: str) -> str:
    """Return HTTP Basic credentials, form-encoded first (RFC 6749, section 2.3.1)."""
    pair = f"{quote_plus(client_id)}:{quote_plus(secret)}"
    return f"Basic {base64.b64encode(pair.encode()).decode()}"


def _ask(url: str, form: str, headers: Mapping[str, str], *, is_near: bool) -> Any:
    """POST a form, or GET if the form is ""; return the JSON answer; raises ProviderFailed."""
    named = {
        "Accept": "application/json",
        "User-Agent": _AGENT,
        "Connection": "close",
        **headers,
    }
    address = urlsplit(url)
    query = f"?{address.query}" if address.query else ""
    request = HttpRequest(address, "POST" if form else "GET", query, form, named)
    try:
        return json.loads(_read(request, is_near=is_near))
    except (OSError, http.client.HTTPException, ValueError, RecursionError) as error:
        # Only the host and the kind: an answer may quote a code or a secret.
        fields = {"host": address.hostname, "error": type(error).__name__}
        log.warning("a provider of sign-ins failed", extra={"fields": fields})
        raise ProviderFailed(type(error).__name__) from None


def _read(request: HttpRequest, *, is_near: bool) -> bytes:
    """Return the body of an answer; raises ValueError for a status other than 200.

    Follows no redirects. Also raises ConnectionRefusedError for plain http unless `is_near`, and
    the errors of `outgoing.ask`.
    """
    if request.url.scheme != "https" and not is_near:
        raise ConnectionRefusedError("a provider is asked by TLS alone")
    opens = None if is_near else PublicConnection
    way = _way_of(str(request.url.hostname))
    answer = outgoing.ask(way, request, SECONDS, MOST_BYTES, opens)
    if answer.status != _OK:
        raise ValueError(f"status {answer.status}")
    return answer.body


@lru_cache(maxsize=256)
def _way_of(host: str) -> outgoing.Way:
    """Return a host's own `Way`, so that a slow provider delays no calls to others."""
    del host
    return outgoing.Way()


def is_subject(found: object) -> bool:
    """Return whether a value can be a subject: 1 to 255 printable ASCII characters."""
    return (
        isinstance(found, str)
        and 0 < len(found) <= MOST_SUBJECT_CHARACTERS
        and found.isascii()
        and found.isprintable()
    )
