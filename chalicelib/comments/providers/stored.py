"""A site's sign-in providers, stored with sealed secrets in the settings of its discussions."""

from pymongo.errors import DuplicateKeyError

from chalicelib import sealing
from chalicelib.comments.errors import TooManyProviders, UnknownProvider
from chalicelib.comments.shapes import MAX_PROVIDERS, SignInProvider
from chalicelib.comments.sites import settings
from chalicelib.database import Document
from chalicelib.runtime import Runtime

_ATTEMPTS = 2


def read(runtime: Runtime, site: str) -> list[SignInProvider]:
    """Return the stored providers of a site."""
    return settings.read(runtime, site).get("providers", [])


def find(runtime: Runtime, site: str, key: str) -> SignInProvider:
    """Return a provider of a site, at most five seconds old; raises UnknownProvider."""
    of_site = settings.of(runtime, site).get("providers", [])
    found = next((each for each in of_site if each["key"] == key), None)
    if found is None:
        raise UnknownProvider
    return found


def put(runtime: Runtime, site: str, provider: SignInProvider, secret: str) -> SignInProvider:
    """Add a provider to a site, or replace the provider with the same key; return it as stored.

    Raises TooManyProviders.
    """
    keys, purpose = runtime.settings.signing_keys, _purpose(site, provider)
    sealed = sealing.seal(secret, purpose, keys, runtime.random)
    stored: SignInProvider = {**provider, "client_secret": sealed}
    key: Document = {"$literal": provider["key"]}
    former: Document = {"$ifNull": ["$providers", []]}
    made: Document = {"$literal": stored}
    each = {"$cond": [{"$eq": ["$$each.key", key]}, made, "$$each"]}
    replaced = {"$map": {"input": former, "as": "each", "in": each}}
    is_there = {"$in": [key, {"$ifNull": ["$providers.key", []]}]}
    added = {"$concatArrays": [former, [made]]}
    last = f"providers.{MAX_PROVIDERS - 1}"
    has_room = [{"providers.key": provider["key"]}, {last: {"$exists": False}}]
    where: Document = {"_id": site, "$or": has_room}
    changed = {"providers": {"$cond": [is_there, replaced, added]}}
    for _ in range(_ATTEMPTS):
        try:
            settings.update(runtime, where, changed)
        except DuplicateKeyError:
            # The site's document exists: it has no room, or another call has just made it.
            continue
        return stored
    raise TooManyProviders


def remove(runtime: Runtime, site: str, key: str) -> None:
    """Remove a provider of a site, if it is there."""
    former: Document = {"$ifNull": ["$providers", []]}
    is_other = {"$ne": ["$$each.key", {"$literal": key}]}
    left = {"$filter": {"input": former, "as": "each", "cond": is_other}}
    settings.update(runtime, {"_id": site}, {"providers": left})


def secret_of(runtime: Runtime, site: str, provider: SignInProvider) -> str:
    """Return a provider's secret; "" if no key opens it any more."""
    sealed, keys = provider["client_secret"], runtime.settings.signing_keys
    return sealing.unseal(sealed, _purpose(site, provider), keys) or ""


def _purpose(site: str, provider: SignInProvider) -> str:
    # A sealed secret that moves to another provider or issuer does not unseal there.
    return f"provider\0{site}\0{provider['key']}\0{provider['issuer']}"
