"""Publishing, unpublishing and deleting a page, each in one transaction.

At a publication's instant nothing runs: each read compares it with the clock
(`content.visibility`).
"""

from datetime import datetime
from typing import Any, NamedTuple

from pymongo import ReturnDocument
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib import happenings
from chalicelib.assets import pictures
from chalicelib.content import happened, named_assets, nodes, settings, tag_counts, terms
from chalicelib.content.editing import drafts, revisions
from chalicelib.content.nodes import NODES, RAISED
from chalicelib.content.publishing import addresses, discussions, states
from chalicelib.content.publishing.discussions import TOLD, Discussed, Discussions, discussion_of
from chalicelib.content.publishing.events import events_after
from chalicelib.content.publishing.forms import Publication
from chalicelib.content.publishing.states import Publishing, slugs
from chalicelib.content.rendered import RENDERED, RENDERER, render
from chalicelib.content.shapes import ContentNode, Edition, PageAddress, PageDraft
from chalicelib.content.visibility import coming, edition_at
from chalicelib.database import Document, in_transaction
from chalicelib.errors import FieldError, Forbidden, InvalidRequest
from chalicelib.identity import Principal
from chalicelib.ids import new_id
from chalicelib.runtime import Runtime
from chalicelib.sites.permissions import owns
from chalicelib.words import RULES


class Arrival(NamedTuple):
    """The origin of an imported page: its address in the other system.

    is_closed: the page's discussion begins closed.
    """

    address: str
    is_closed: bool = False


def publish(
    runtime: Runtime,
    discussions: Discussions,
    node: ContentNode,
    given: Publication,
    by: Principal | Arrival,
) -> ContentNode:
    """Publish a page's draft from an instant on; return the page.

    by: the publisher, or an Arrival, which causes no happening and no events.
    Raises InvalidRequest, EditConflict, SiteNotSetUp, AddressTaken, PageTooLarge, UnreadableText,
    UnknownContent and ContentGone.
    """
    drafts.check_version(node, given.version)
    arrival, who = (by, None) if isinstance(by, Arrival) else (None, by.id)
    now, draft = runtime.now(), _draft(node)
    shown_from = max(given.at or now, now)
    _check_date(node, given, shown_from, now)
    html = render(runtime, node["type"], draft)

    def work(session: ClientSession) -> ContentNode:
        current = nodes.find(runtime.database, node["site"], node["_id"], session)
        drafts.check_version(current, given.version)
        if arrival is not None and current["edition"]:
            # Another run of the import has published it.
            return current
        until, dated = _until(current, given, shown_from, now), _date(current, given, now)
        edition = _edition(current, html, given, shown_from, now)
        if dated is not None and _is_first(current, now):
            # Feeds show a page that moves here as unchanged since its date.
            edition["updated"] = dated
        change = states.apply_edition(current, edition, until, now, dated)
        _claim(runtime.database, current, edition, now, session, take=given.take)
        release(runtime.database, current, change, now, session)
        revisions.mark_live(runtime.database, current, session)
        current.update({"comments": given.comments} if given.comments else {})
        begun = _begin_discussion(runtime, discussions, current, change, session, arrival)
        return store(runtime, current, change, session, is_news=arrival is None, by=who, **begun)

    return notify(runtime, in_transaction(runtime.database, work), is_news=arrival is None)


def unpublish(runtime: Runtime, node: ContentNode) -> ContentNode:
    """Hide a page from readers; its addresses stay, and lead nowhere until it returns.

    Raises UnknownContent and ContentGone.
    """
    now = runtime.now()

    def work(session: ClientSession) -> ContentNode:
        current = nodes.find(runtime.database, node["site"], node["_id"], session)
        change = states.hide(current, now)
        release(runtime.database, current, change, now, session)
        return store(runtime, current, change, session)

    return notify(runtime, in_transaction(runtime.database, work))


def delete(runtime: Runtime, node: ContentNode, caller: Principal) -> None:
    """Delete a page with its revisions; its addresses then raise ContentGone.

    A publisher may delete any page; the page's writer, only if the page was never public and is not
    scheduled. Raises Forbidden, UnknownContent and ContentGone.
    """
    now = runtime.now()

    def work(session: ClientSession) -> ContentNode:
        current = nodes.find(runtime.database, node["site"], node["_id"], session)
        _check_may_delete(current, caller)
        change: Publishing = {**states.hide(current, now), "until": None}
        release(runtime.database, current, change, now, session)
        revisions.remove_all(runtime.database, node["_id"], session)
        RENDERED.of(runtime.database).delete_one({"_id": node["_id"]}, session=session)
        empty: Document = {"draft": None, "author": None, "removed": now, "preview_key": ""}
        return store(runtime, current, change, session, **empty)

    notify(runtime, in_transaction(runtime.database, work))


def new_preview_key(runtime: Runtime, node: ContentNode) -> ContentNode:
    """Replace a page's preview key, to end all addresses of its previews; return the page.

    Raises UnknownContent and ContentGone.
    """
    change = {"preview_key": new_id(runtime.now(), runtime.random)}
    changed = NODES.of(runtime.database).find_one_and_update(
        {"_id": node["_id"], "site": node["site"], "removed": None},
        {"$set": change},
        return_document=ReturnDocument.AFTER,
    )
    return changed or nodes.find(runtime.database, node["site"], node["_id"])


def store(  # noqa: PLR0913 - a change, and what it is for those who hear of it
    runtime: Runtime,
    node: ContentNode,
    change: Publishing,
    session: ClientSession,
    *,
    is_news: bool = True,
    by: str | None = None,
    **others: object,
) -> ContentNode:
    """Store a publishing change of a page in its transaction; return the changed page.

    Also stores its uses of assets, counts of tags, words for searches and a job for its discussion.
    is_news: also note a happening and due events. by: the id of the publisher.
    """
    now = runtime.now()
    stored: Document = {**change, **others, "updated": now}
    draft = _draft(node) if stored.get("removed") is None else None
    after = named_assets.assets_of(draft, change["live"], change["next"])
    pictures.change(runtime.database, session, named_assets.of(node), after)
    published = change["published"]
    due = published if published is not None and published > now else None
    thing = happened.name_of(node)
    if is_news:
        happenings.note(runtime, node["site"], happened.KIND, thing, session, due=due)
    if node["discussion"] is not None:
        stored["telling"] = discussions.note(runtime)
    changed_node: ContentNode = {**node, **change}
    if is_news:
        stored["due_events"] = events_after(node, changed_node, now, by)
    stored |= tag_counts.count(runtime.database, node, changed_node, now, session)
    terms.store(runtime.database, changed_node, session)
    changed = NODES.of(runtime.database).find_one_and_update(
        {"_id": node["_id"], "site": node["site"]},
        {"$set": stored, "$inc": _raise_edition(node, change, now)},
        return_document=ReturnDocument.AFTER,
        session=session,
    )
    assert changed is not None  # noqa: S101 - it was read in this transaction
    return changed


def _raise_edition(node: ContentNode, change: Publishing, now: datetime) -> Document:
    """Return the `$inc` of `edition` for a change.

    2 if the change discards a next edition that readers already see under `edition` + 1: otherwise
    another text would have the same number, and the same entity tag.
    """
    passed = coming(node, now)
    return {"edition": 2} if passed is not None and change["live"] is not passed else RAISED


def release(
    database: Database[Document],
    node: ContentNode,
    change: Publishing,
    now: datetime,
    session: ClientSession,
) -> None:
    """Release the addresses that a page loses by a change."""
    left = slugs(node["live"], node["next"]) - slugs(change["live"], change["next"])
    if left:
        ids = sorted(addresses.key(node["site"], slug) for slug in left)
        addresses.release(database, ids, now, session)


def _claim(  # noqa: PLR0913 - a claim, in its transaction
    database: Database[Document],
    node: ContentNode,
    edition: Edition,
    now: datetime,
    session: ClientSession,
    *,
    take: bool,
) -> None:
    claimed: PageAddress = {
        "_id": addresses.key(node["site"], edition["slug"]),
        "node": node["_id"],
        "current": True,
        "since": edition["shown_from"],
    }
    addresses.claim(database, claimed, now, session, take=take)


def _edition(
    node: ContentNode, html: str, given: Publication, shown_from: datetime, now: datetime
) -> Edition:
    """Return the edition that a publication makes of a page's draft."""
    draft, present = _draft(node), edition_at(node, now)
    # Publishing the same version again leaves `updated` as it was.
    is_minor = given.minor or (present is not None and present["version"] == node["version"])
    return {
        "slug": draft["slug"],
        "title": draft["title"],
        "summary": draft["summary"],
        "tags": draft["tags"],
        "detail": draft["detail"],
        "assets": draft["assets"],
        "html": html,
        "renderer": RENDERER,
        "version": node["version"],
        "minor": given.minor,
        "shown_from": shown_from,
        "updated": present["updated"] if present is not None and is_minor else shown_from,
        "terms_rules": RULES,
    }


def _date(node: ContentNode, given: Publication, now: datetime) -> datetime | None:
    """Return the date that a publisher gives a page. None: no date.

    Without a given date, before the first publication: a past `at`, or else the date of the planned
    publication, unless that date is after the new publication.
    """
    if given.dated is not None or not _is_first(node, now):
        return given.dated
    if given.at is not None and given.at < now:
        return given.at
    kept = node.get("dated")
    return kept if kept is not None and kept <= (given.at or now) else None


def _is_first(node: ContentNode, now: datetime) -> bool:
    """Return whether no reader has seen a page yet."""
    return node["first_published"] is None or node["first_published"] > now


def _check_date(node: ContentNode, given: Publication, shown_from: datetime, now: datetime) -> None:
    """Raise InvalidRequest for a date after the publication, or after now for a shown page."""
    shown = now if edition_at(node, now) is not None else shown_from
    if given.dated is not None and given.dated > shown:
        told = "the date must not be after the publication"
        raise InvalidRequest(errors=[FieldError("dated", "dated", told)])


def _until(
    node: ContentNode, given: Publication, shown_from: datetime, now: datetime
) -> datetime | None:
    """Return the end that a publication gives or leaves to a page. None: no end.

    Without a given end, the former end stays if it is later than the publication; otherwise the
    page has no end. Raises InvalidRequest if a given end is not later than the publication. Also
    raises it without a given end, if a visible page ends before the publication: it is unclear
    whether readers see the page in between.
    """
    if "until" not in given.model_fields_set:
        until = node["until"]
        if until is None or until > shown_from:
            return until
        if edition_at(node, now) is not None:
            told = "the page ends before the publication: give another end, or null for none"
            raise InvalidRequest(errors=[FieldError("until", "until", told)])
        return None
    if given.until is not None and given.until <= shown_from:
        told = "the end must be after the publication"
        raise InvalidRequest(errors=[FieldError("until", "until", told)])
    return given.until


def _begin_discussion(  # noqa: PLR0913, PLR0917 - a discussion of a page, in its transaction
    runtime: Runtime,
    discussions: Discussions,
    node: ContentNode,
    change: Publishing,
    session: ClientSession,
    arrival: Arrival | None,
) -> dict[str, Any]:
    """Begin a discussion if the page has none and comments are on; return the page's new fields.

    These have the page's own choice, too.
    """
    site = settings.get(runtime.database, node["site"], session)
    chosen: Document = {"comments": node["comments"]} if "comments" in node else {}
    if node["discussion"] is not None or node.get("comments", site["comments"]) == "off":
        return chosen
    former, is_closed = None, False
    if arrival is not None:
        former = discussions.at_address(runtime, node["site"], arrival.address, session)
        is_closed = arrival.is_closed
    discussion = former or discussion_of(node["site"], node["_id"])
    edition = change["live"]
    assert edition is not None  # noqa: S101 - a publication has made it
    url = settings.url_of(site, edition["slug"])
    public = change["published"], change["until"]
    page = Discussed(edition["title"], url, node["edition"], *public, is_closed=is_closed)
    discussions.begin(runtime, discussion, page, session)
    return {**chosen, "discussion": discussion, "told": TOLD}


def _check_may_delete(node: ContentNode, caller: Principal) -> None:
    is_own = node["author"] is not None and node["author"]["id"] == caller.id
    if not owns(caller, node["site"]) and not (is_own and node["first_published"] is None):
        raise Forbidden("A page that was published, or is another's, is its publisher's to delete")


def notify(runtime: Runtime, node: ContentNode, *, is_news: bool = True) -> ContentNode:
    """Send the messages of a stored change; the schedules repeat lost messages."""
    if "telling" in node:
        runtime.queues.send(discussions.TellDiscussion(site=node["site"], node_id=node["_id"]))
    if is_news and (node["published"] is None or node["published"] <= runtime.now()):
        happenings.send(runtime, node["site"], happened.KIND, happened.name_of(node))
    return node


def _draft(node: ContentNode) -> PageDraft:
    assert node["draft"] is not None  # noqa: S101 - only a deleted page has none
    return node["draft"]
