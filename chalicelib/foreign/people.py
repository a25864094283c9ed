"""Ids of imported people; no account and no guest can have such an id."""

import json
from collections.abc import Sequence
from urllib.parse import urlsplit

from pydantic import SecretStr

from chalicelib import signing
from chalicelib.people.ids import IMPORTED
from chalicelib.settings import Settings

_TAG_BYTES = 16
# Stands in for a missing PLAZA_SUBJECT_KEY, as in `chalicelib.identity`.
_PUBLIC_SECRET = SecretStr("plaza")


def secret_of(settings: Settings) -> SecretStr:
    """Return the key of people's ids; a public constant if the deployment sets no key."""
    return settings.subject_key or _PUBLIC_SECRET


def account_of(page_url: str, name: str) -> str:
    """Return an account's name, prefixed by the host of `page_url` if that address has a host.

    Two installations of WordPress each have an account 1, of different people.
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
    """Return the id of an imported person: a keyed hash of the system and the texts `named`."""
    message = b"import\0" + json.dumps([system, *named]).encode()
    return IMPORTED + signing.encode(signing.tag(message, secret, _TAG_BYTES))
