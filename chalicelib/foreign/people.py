"""Ids of the people of other systems, which no account and no guest can have."""

import json
from collections.abc import Sequence
from urllib.parse import urlsplit

from pydantic import SecretStr

from chalicelib import signing
from chalicelib.people.ids import IMPORTED
from chalicelib.settings import Settings

_TAG_BYTES = 16
# As for the ids of tokens' people: without a secret of the deployment.
_PUBLIC_SECRET = SecretStr("plaza")


def secret_of(settings: Settings) -> SecretStr:
    """Return the deployment's secret of the ids of people."""
    return settings.subject_key or _PUBLIC_SECRET


def account_of(page_url: str, name: str) -> str:
    """Return an account with the host of its system's pages.

    Two installations of WordPress have an account 1 each, of two people.
    """
    host = host_of(page_url)
    return f"{host}/{name}" if host else name


def host_of(url: str) -> str:
    """Return the host of an address without `www.`; empty if it has none."""
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def imported_id(secret: SecretStr, system: str, named: Sequence[str]) -> str:
    """Return the id of a person of another system, by a sequence of texts that names them."""
    message = b"import\0" + json.dumps([system, *named]).encode()
    return IMPORTED + signing.encode(signing.tag(message, secret, _TAG_BYTES))
