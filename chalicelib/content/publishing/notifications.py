"""Notifications of pages: an author learns that another person published their page.

The page's due events, which also go to webhooks, cause the notifications. The write of a change
stores these events with the page.
"""

from collections.abc import Mapping, Sequence

from chalicelib.content import settings
from chalicelib.content.errors import UnknownContentSite
from chalicelib.content.nodes import NODES
from chalicelib.content.shapes import ContentNode, ContentSite
from chalicelib.content.visibility import edition_at
from chalicelib.identity import Principal
from chalicelib.notifications import events
from chalicelib.notifications.events import NotificationEvent
from chalicelib.notifications.inbox import TEXT_CHARACTERS, ShownThing
from chalicelib.notifications.rows import NotificationItem
from chalicelib.runtime import Runtime
from chalicelib.webhooks.rows import DueEvent

# Notifications show a summary, and no text.
_WITHOUT_TEXTS = {
    "draft": 0,
    **{f"{edition}.{name}": 0 for edition in ("live", "next") for name in ("html", "detail")},
}


def notify(runtime: Runtime, due: Sequence[DueEvent]) -> None:
    """Notify the authors of pages about due events; a repeat changes nothing."""
    told = [each for each in due if _is_told(runtime, each)]
    read_at = runtime.now()
    pages = _find(runtime, {(each["data"]["site"], each["data"]["id"]) for each in told})
    for event in told:
        page = pages.get(event["data"]["id"])
        if page is not None and page["author"] is not None:
            events.agree(runtime, _notification(event, page["author"]["id"]), read_at)


def _is_told(runtime: Runtime, event: DueEvent) -> bool:
    """Return whether an event notifies the page's author.

    True: another person published the page, and the site has notifications.
    """
    if event["kind"] != "page.published" or event.get("by_author"):
        return False
    site = _site(runtime, event["data"]["site"])
    return site is not None and site.get("notifications", False)


def _notification(event: DueEvent, author: str) -> NotificationEvent:
    return NotificationEvent(
        key=f"page/{event['id']}",
        site=event["data"]["site"],
        thing=event["data"]["id"],
        by="",
        at=event["at"],
        recipients={author: "page.published"},
        # The item stays after its page disappears: `show` omits it until the page is visible again.
        is_new=True,
    )


def show(
    runtime: Runtime, reader: Principal, items: Sequence[NotificationItem]
) -> Mapping[str, ShownThing]:
    """Return the page of each notification, by the item's id.

    Omits pages that are not visible now, and pages of another author than `reader`.
    """
    pages = _find(runtime, {(each["site"], each["thing"]) for each in items})
    shown: dict[str, ShownThing] = {}
    for item in items:
        page, site = pages.get(item["thing"]), _site(runtime, item["site"])
        edition = edition_at(page, runtime.now()) if page else None
        if page is None or site is None or edition is None:
            continue
        if page["author"] is not None and page["author"]["id"] == reader.id:
            text = (edition["summary"] or "")[:TEXT_CHARACTERS]
            url = settings.url_of(site, edition["slug"])
            shown[item["_id"]] = ShownThing("", text, page["_id"], edition["title"], url, url)
    return shown


def _site(runtime: Runtime, site: str) -> ContentSite | None:
    try:
        return settings.recall(runtime, site)
    except UnknownContentSite:
        return None


def _find(runtime: Runtime, named: set[tuple[str, str]]) -> dict[str, ContentNode]:
    """Return pages by id; `named` has pairs of site and page id."""
    if not named:
        return {}
    keys = [{"site": site, "_id": page_id} for site, page_id in sorted(named)]
    found = NODES.of(runtime.database).find({"$or": keys}, _WITHOUT_TEXTS)
    return {each["_id"]: each for each in found}
