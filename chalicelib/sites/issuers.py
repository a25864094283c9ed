"""A site's own issuers of tokens; each container caches them for five seconds."""

from typing import Annotated, TypedDict

from pydantic import SecretStr
from pymongo import ReturnDocument

from chalicelib.database import Collection, Document
from chalicelib.database.validators import AtMost
from chalicelib.errors import Problem
from chalicelib.memory import remember
from chalicelib.runtime import Runtime
from chalicelib.site_tokens import SiteIssuer

# Two for a key that is being replaced, and one for a second provider.
MAX_ISSUERS = 3


class TooManyIssuers(Problem):
    """A site has as many issuers as it may have."""

    status = 409
    code = "too_many_issuers"
    title = "The site has three issuers; remove one first"


class StoredIssuer(TypedDict):
    """An issuer of a site under a key of the publisher's choice; `secret` or `jwks_url` is None."""

    key: str
    iss: str
    jwks_url: str | None
    secret: str | None
    trust_email: bool


class IssuingSite(TypedDict):
    """A site with its issuers, in the order in which they were set."""

    _id: str
    issuers: Annotated[list[StoredIssuer], AtMost(MAX_ISSUERS)]


ISSUERS = Collection("site.issuers", IssuingSite)


@remember(seconds=5)
def of(runtime: Runtime, site: str) -> list[SiteIssuer]:
    """Return the issuers of a site, cached for five seconds."""
    return [_issuer(each) for each in read(runtime, site)]


def read(runtime: Runtime, site: str) -> list[StoredIssuer]:
    """Return the stored issuers of a site."""
    found = ISSUERS.of(runtime.database).find_one({"_id": site})
    return found["issuers"] if found else []


def put(runtime: Runtime, site: str, issuer: StoredIssuer) -> None:
    """Store an issuer, or replace the issuer with the same key; raises TooManyIssuers."""
    had: Document = {"$ifNull": ["$issuers", []]}
    is_other = {"$ne": ["$$each.key", issuer["key"]]}
    others = {"$filter": {"input": had, "as": "each", "cond": is_other}}
    is_full = {"$gte": [{"$size": others}, MAX_ISSUERS]}
    added = {"$concatArrays": [others, [{"$literal": issuer}]]}
    stored = ISSUERS.of(runtime.database).find_one_and_update(
        {"_id": site},
        [{"$set": {"issuers": {"$cond": [is_full, had, added]}}}],
        upsert=True,
        return_document=ReturnDocument.AFTER,
    )
    of.forget(runtime, site)
    if stored is None or issuer["key"] not in [each["key"] for each in stored["issuers"]]:
        raise TooManyIssuers


def remove(runtime: Runtime, site: str, key: str) -> None:
    """Remove an issuer; its tokens end within seconds. Without such an issuer, nothing changes."""
    ISSUERS.of(runtime.database).update_one({"_id": site}, {"$pull": {"issuers": {"key": key}}})
    of.forget(runtime, site)


def _issuer(stored: StoredIssuer) -> SiteIssuer:
    secret = stored["secret"]
    return SiteIssuer(
        stored["iss"],
        stored["jwks_url"],
        None if secret is None else SecretStr(secret),
        stored["trust_email"],
    )
