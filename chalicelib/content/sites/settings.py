"""The settings of sites that publish: stored by site, and read with each feed."""

from urllib.parse import urlsplit

from pymongo import ReturnDocument
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.content.errors import SiteNotSetUp, UnknownContentSite
from chalicelib.content.shapes import ContentSite
from chalicelib.content.sites.models import ContentSettings
from chalicelib.database import Collection, Document
from chalicelib.runtime import Runtime

SITES = Collection("content.site", ContentSite)


def put(runtime: Runtime, site: str, given: ContentSettings) -> ContentSite:
    """Store a site's settings and return them."""
    changed = {"author": given.author or given.title, "changed": runtime.now()}
    stored = {**given.model_dump(), **changed}
    host = urlsplit(given.base_url).hostname or ""
    found = SITES.of(runtime.database).find_one_and_update(
        {"_id": site},
        {"$set": stored, "$setOnInsert": {"feed_host": host}, "$inc": {"version": 1}},
        upsert=True,
        return_document=ReturnDocument.AFTER,
    )
    assert found is not None  # noqa: S101 - it was made if it was not there
    return found


def find(database: Database[Document], site: str) -> ContentSite:
    """Return a site's settings; raises UnknownContentSite."""
    found = SITES.of(database).find_one({"_id": site})
    if found is None:
        raise UnknownContentSite
    return found


def needed(
    database: Database[Document], site: str, session: ClientSession | None = None
) -> ContentSite:
    """Return the settings of a site that publishes now; raises SiteNotSetUp."""
    found = SITES.of(database).find_one({"_id": site}, session=session)
    if found is None:
        raise SiteNotSetUp
    return found


def url_of(settings: ContentSite, slug: str) -> str:
    """Return where readers find a page."""
    return f"{settings['base_url']}/{slug}"
