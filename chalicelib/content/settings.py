"""The settings of sites that publish: title, address, language, feeds."""

from datetime import timedelta
from urllib.parse import urlsplit

from pymongo import ASCENDING, IndexModel, ReturnDocument
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.content.errors import SiteNotSetUp, UnknownContentSite
from chalicelib.content.settings_forms import ContentSettings
from chalicelib.content.shapes import ContentSite, NewAddress
from chalicelib.database import Collection, Document
from chalicelib.memory import remember
from chalicelib.runtime import Runtime

# Publications that have read the former address end within this time.
_CALLS_END = timedelta(minutes=1)
SITES = Collection(
    "content.site",
    ContentSite,
    # For the schedule.
    indexes=(IndexModel([("new_address.due", ASCENDING)], sparse=True),),
)


def put(runtime: Runtime, site: str, given: ContentSettings) -> ContentSite:
    """Store a site's settings and return them.

    A changed `base_url` notes an update of the discussions of all pages.
    """
    changed = {"author": given.author or given.title, "changed": runtime.now()}
    stored: Document = {**given.model_dump(), **changed}
    host = urlsplit(given.base_url).hostname or ""
    before = SITES.of(runtime.database).find_one({"_id": site}, {"base_url": 1})
    if before is not None and before["base_url"] != given.base_url:
        noted: NewAddress = {"after": "", "due": runtime.now() + _CALLS_END}
        stored["new_address"] = noted
    found = SITES.of(runtime.database).find_one_and_update(
        {"_id": site},
        {"$set": stored, "$setOnInsert": {"feed_host": host}, "$inc": {"version": 1}},
        upsert=True,
        return_document=ReturnDocument.AFTER,
    )
    recall.forget(runtime, site)
    assert found is not None  # noqa: S101 - an upsert
    return found


def find(database: Database[Document], site: str) -> ContentSite:
    """Return a site's settings; raises UnknownContentSite."""
    found = SITES.of(database).find_one({"_id": site})
    if found is None:
        raise UnknownContentSite
    return found


def get(
    database: Database[Document], site: str, session: ClientSession | None = None
) -> ContentSite:
    """Return the settings of a site that publishes; raises SiteNotSetUp."""
    found = SITES.of(database).find_one({"_id": site}, session=session)
    if found is None:
        raise SiteNotSetUp
    return found


def url_of(settings: ContentSite, slug: str) -> str:
    """Return the URL of a page for its readers."""
    return f"{settings['base_url']}/{slug}"


@remember(seconds=10)
def recall(runtime: Runtime, site: str) -> ContentSite:
    """Return a site's settings for readers, at most ten seconds old; raises UnknownContentSite."""
    return find(runtime.database, site)
