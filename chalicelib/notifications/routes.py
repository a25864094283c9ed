"""Routes for a reader's inbox, and the blueprint of all routes of notifications."""

from datetime import datetime
from typing import Annotated

from chalice.app import Blueprint
from pydantic import ConfigDict, Field, model_validator
from typing_extensions import TypedDict

from chalicelib.http import Input, NoContent, Ok, PageQuery, Request, Route, everybody, router
from chalicelib.http.paging import Cursors, Next, place_of, position_of
from chalicelib.identity import Principal
from chalicelib.instants import Instant
from chalicelib.notifications import inbox, mail_routes, preference_routes, push_routes
from chalicelib.notifications.groups import MOST_COUNTED, MOST_NAMED
from chalicelib.notifications.inbox import (
    EXCERPT_CHARACTERS,
    InboxCounts,
    InboxPage,
    InboxRow,
    Show,
    WantedPage,
)
from chalicelib.notifications.mail_routes import VerifiedKeys
from chalicelib.notifications.rows import Kind
from chalicelib.people.features import CheckToken
from chalicelib.people.ids import UserId
from chalicelib.runtime import Runtime
from chalicelib.sites.ids import SiteId
from chalicelib.texts import ShownLine, ShownName, ShownUrl

# The most notifications of a page: each may need the document of another discussion.
MOST = 50
MAX_ID_CHARACTERS = 300
NotificationId = Annotated[str, Field(min_length=1, max_length=MAX_ID_CHARACTERS)]
Counted = Annotated[int, Field(ge=0, le=MOST_COUNTED)]


class InboxQuery(PageQuery):
    """The query of an inbox."""

    limit: int = Field(20, ge=1, le=MOST, description="How many notifications a page has at most.")
    unread: bool = Field(default=False, description="Only notifications that are not read.")


class SeenMark(Input):
    """The time up to which a person saw their inbox."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"until": "2026-12-01T06:00:00Z"}]})

    until: Instant = Field(description="`at` of an answer; a later time counts as now.")


class ReadMark(Input):
    """Notifications to mark as read: by their ids, or all up to a time."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"until": "2026-12-01T06:00:00Z"}]})

    ids: list[NotificationId] | None = Field(None, min_length=1, max_length=MOST)
    until: Instant | None = Field(None, description="`at` of an answer.")

    @model_validator(mode="after")
    def _check_one(self) -> "ReadMark":
        if (self.ids is None) == (self.until is None):
            raise ValueError("either `ids` or `until`")
        return self


class NotifiedByAnswer(TypedDict):
    """The person who caused an event."""

    id: UserId
    name: ShownName


class NotifiedPageAnswer(TypedDict):
    """The page that the thing of a notification is on.

    For the social feed, it is the post, or the person who follows you; for a shop, the order. These
    have no title and no URL.
    """

    id: Annotated[str, Field(max_length=MAX_ID_CHARACTERS)]
    title: ShownLine
    url: ShownUrl


class NotificationAnswer(TypedDict):
    """A notification; `permalink` leads to its thing.

    The reactions to a post on one UTC day are one notification. So are a day's comments on a post,
    new followers, new comments in a watched discussion, new posts of a watched author, and news of
    one kind about a campaign. The `id`, `by`, `at` and `excerpt` are of the newest event. If you
    mark it as read, later events stay unread.
    """

    id: NotificationId
    kind: Kind
    site: SiteId
    at: Instant
    risen: Annotated[Instant, Field(description="Its place in the inbox.")]
    read: bool
    by: Annotated[NotifiedByAnswer | None, Field(description="null: no person caused it.")]
    actors: Annotated[
        list[NotifiedByAnswer],
        Field(max_length=MOST_NAMED, description="The newest people of it."),
    ]
    count: Annotated[
        int, Field(ge=0, le=MOST_COUNTED, description="All people of it; 100: a hundred or more.")
    ]
    excerpt: Annotated[str, Field(max_length=EXCERPT_CHARACTERS)]
    page: NotifiedPageAnswer
    permalink: Annotated[str, Field(max_length=2_100)]


class InboxAnswer(TypedDict):
    """A page of an inbox, the newest first, and the numbers of the whole inbox."""

    notifications: Annotated[list[NotificationAnswer], Field(max_length=MOST)]
    next: Next
    at: Annotated[
        Instant, Field(description="The time for the marks, a moment before this answer.")
    ]
    unread: Annotated[Counted, Field(description="Not read; 100: a hundred or more.")]
    unseen: Annotated[Counted, Field(description="Since `PUT /notifications/seen`.")]


def routes(
    runtime: Runtime, show: Show, verified: VerifiedKeys, check_token: CheckToken
) -> Blueprint:
    """Return the blueprint of inboxes, of letters and of push messages."""
    blueprint = Blueprint(__name__)
    route = router(blueprint, runtime, "Notifications")
    mail_routes.declare(route, verified, check_token)
    preference_routes.declare(route, check_token)
    push_routes.declare(route, check_token)
    _declare_marks(route)

    @route("GET", "/notifications", of_one_site=everybody)
    def list_notifications(
        request: Request, caller: Principal, query: InboxQuery
    ) -> Ok[InboxAnswer]:
        """List notifications of comments, the feed, your orders and pages, the newest first.

        Each shows its thing as you see it now, and disappears with it. A page may have fewer than
        its `limit` while `next` is there. Notifications stay for 90 days.
        """
        cursors = Cursors(f"inbox:{caller.id}", request.runtime.settings.signing_keys)
        # Before the reads: a mark up to this time leaves items that come during the reads.
        now = request.runtime.now()
        wanted = WantedPage(position_of(cursors.position(query)), query.limit, query.unread)
        page = inbox.page(request.runtime, show, caller, wanted)
        counts = inbox.count(request.runtime, caller.id)
        return Ok(_inbox_answer(page, counts, cursors, inbox.choose_mark_time(page, now)))

    return blueprint


def _declare_marks(route: Route) -> None:
    @route("PUT", "/notifications/seen", of_one_site=everybody, is_audited=False)
    def mark_notifications_seen(request: Request, caller: Principal, body: SeenMark) -> NoContent:
        """Mark your inbox as seen: `unseen` counts later items. The mark never moves back."""
        inbox.mark_seen(request.runtime, caller.id, body.until)
        return NoContent()

    @route("PUT", "/notifications/read", of_one_site=everybody, is_audited=False)
    def mark_notifications_read(request: Request, caller: Principal, body: ReadMark) -> NoContent:
        """Mark notifications of yours as read; other ids change nothing."""
        if body.ids is not None:
            inbox.mark_read(request.runtime, caller.id, body.ids)
        if body.until is not None:
            inbox.mark_read_until(request.runtime, caller.id, body.until)
        return NoContent()


def _inbox_answer(
    page: InboxPage, counts: InboxCounts, cursors: Cursors, at: datetime
) -> InboxAnswer:
    return {
        "notifications": [_answer(each) for each in page.rows],
        "next": cursors.following(place_of(page.following)),
        "at": at,
        "unread": counts.unread,
        "unseen": counts.unseen,
    }


def _answer(row: InboxRow) -> NotificationAnswer:
    item, thing = row.item, row.thing
    return {
        "id": item["_id"],
        "kind": item["kind"],
        "site": item["site"],
        "at": item["at"],
        "risen": item["risen"],
        "read": row.is_read,
        "by": {"id": item["by"], "name": thing.by_name} if item["by"] else None,
        "actors": [{"id": each.id, "name": each.name} for each in row.actors],
        "count": row.people,
        "excerpt": thing.text[:EXCERPT_CHARACTERS],
        "page": {"id": thing.page_id, "title": thing.page_title, "url": thing.page_url},
        "permalink": thing.permalink,
    }
