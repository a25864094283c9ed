"""The settings of a site's discussions, remembered by each container for some seconds.

A site without stored settings has the defaults, and a node may have values of its own.
"""

from datetime import datetime, timedelta
from typing import cast

from pymongo import ReturnDocument

from chalicelib.comments.forms import OVERRIDES, NodeSettings
from chalicelib.comments.shapes import CommentSite, Node
from chalicelib.comments.sites import search_changes
from chalicelib.comments.sites.forms import CommentSettings, CommentSettingsChange
from chalicelib.database import Collection, Document
from chalicelib.memory import remember
from chalicelib.runtime import Runtime

SITES = Collection("comments.site", CommentSite)
_DEFAULTS = CommentSettings().model_dump(mode="json")


@remember(seconds=5)
def of(runtime: Runtime, site: str) -> CommentSite:
    """Return a site's settings, at most five seconds old; without stored settings, the defaults."""
    return read(runtime, site)


def read(runtime: Runtime, site: str) -> CommentSite:
    """Return a site's stored settings; without any, the defaults."""
    found = SITES.of(runtime.database).find_one({"_id": site})
    # A setting that is newer than the stored document has its default.
    return cast("CommentSite", {"_id": site, **_DEFAULTS, **(found or {})})


def notifies(runtime: Runtime, site: str) -> bool:
    """Return whether comments of a site make notifications."""
    return of(runtime, site).get("notifications", False)


def has_hooks(runtime: Runtime, site: str) -> bool:
    """Return whether a site has webhooks, which get events of its comments."""
    return of(runtime, site).get("hooked", False)


def owes_events(runtime: Runtime, site: str) -> bool:
    """Return whether comments of a site owe events: to notifications or to webhooks."""
    return (found := of(runtime, site)).get("notifications", False) or found.get("hooked", False)


def note_hooks(runtime: Runtime, site: str, *, are_there: bool) -> None:
    """Note whether a site has webhooks, so that posts at other sites look for none.

    Compares with the stored settings, since the remembered settings may be out of date.
    """
    found = SITES.of(runtime.database).find_one({"_id": site}, {"hooked": 1})
    if are_there != (found is not None and found.get("hooked", False)):
        update(runtime, {"_id": site}, {"hooked": {"$literal": are_there}})


def in_force(runtime: Runtime, node: Node) -> CommentSite:
    """Return a node's settings: its site's, overridden by its own.

    Without PLAZA_PUBLIC_URL the list of providers is empty: sign-ins could not return to Plaza.
    """
    own = {name: value for name in OVERRIDES if (value := node.get(name)) is not None}
    if not runtime.settings.public_url:
        own["providers"] = []
    site = of(runtime, node["site"])
    return cast("CommentSite", {**site, **own}) if own else site


def closing_at(runtime: Runtime, site: str, given: NodeSettings | None = None) -> datetime | None:
    """Return a new node's time to close: as given, or by its site's settings; None: never."""
    if given is not None and "closes_at" in given.model_fields_set:
        return given.closes_at
    days = closes_after(runtime, site)
    return None if days is None else runtime.now() + timedelta(days=days)


def closes_after(runtime: Runtime, site: str) -> int | None:
    """Return the number of days that a new node of a site stays open; None: for ever."""
    return of(runtime, site).get("close_after_days")


def put(runtime: Runtime, site: str, given: CommentSettings) -> CommentSite:
    """Store a site's settings and return them."""
    _note_search(runtime, site, is_wanted=given.search)
    found = SITES.of(runtime.database).find_one_and_update(
        {"_id": site},
        {"$set": given.model_dump(mode="json")},
        upsert=True,
        return_document=ReturnDocument.AFTER,
    )
    of.forget(runtime, site)
    assert found is not None  # noqa: S101 - it was made if it was not there
    return found


def change(runtime: Runtime, site: str, given: CommentSettingsChange) -> CommentSite:
    """Change the given settings of a site, and return all its settings."""
    if "search" in given.model_fields_set:
        _note_search(runtime, site, is_wanted=given.search)
    changed: Document = given.model_dump(mode="json", include=given.model_fields_set - {"limits"})
    limits = given.limits.model_dump(mode="json", exclude_unset=True)
    named = {name: {"$literal": value} for name, value in changed.items()}
    named["limits"] = {"$mergeObjects": ["$limits", {"$literal": limits}]}
    return update(runtime, {"_id": site}, named)


def update(runtime: Runtime, where: Document, named: Document) -> CommentSite:
    """Set fields of a site's settings by expressions; other missing fields get their defaults.

    `where` has the site's `_id`. Raises DuplicateKeyError if the stored settings do not match it.
    """
    kept = {name: {"$ifNull": [f"${name}", {"$literal": at}]} for name, at in _DEFAULTS.items()}
    found = SITES.of(runtime.database).find_one_and_update(
        where,
        [{"$set": kept}, {"$set": named}],
        upsert=True,
        return_document=ReturnDocument.AFTER,
    )
    of.forget(runtime, where["_id"])
    assert found is not None  # noqa: S101 - it was made if it was not there
    return found


def _note_search(runtime: Runtime, site: str, *, is_wanted: bool) -> None:
    """Note a change of the stored setting `search`; call this before the change."""
    found = SITES.of(runtime.database).find_one({"_id": site}, {"search": 1})
    if is_wanted != (found is not None and found.get("search", False)):
        search_changes.note(runtime, site)
