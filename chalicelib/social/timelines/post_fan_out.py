"""Delivery of a post to its readers' news, and to the walls of its author and the wall's owner."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from chalicelib.database import Document
from chalicelib.runtime import Runtime
from chalicelib.social import telling
from chalicelib.social.delivery import leases
from chalicelib.social.delivery.engine import Deliverable
from chalicelib.social.delivery.leases import DeliveryLease
from chalicelib.social.graph import users, watches
from chalicelib.social.messages import Deliver, DeliverChunk, NotifyFeed, NotifyWatchers
from chalicelib.social.paging import IdRange
from chalicelib.social.posts import audiences
from chalicelib.social.posts.forms import COMMENTS_SHOWN
from chalicelib.social.posts.posts import POSTS
from chalicelib.social.posts.shapes import Post, PostBody
from chalicelib.social.timelines import news, propagation, pull, walls

_AT_THE_SAME_TIME = 2


class PostDelivery(Deliverable[Post]):
    """The fan-out of posts to news and walls."""

    documents = POSTS
    fields: Mapping[str, object] = {"comments": {"$slice": -COMMENTS_SHOWN}}

    def audience(self, runtime: Runtime, document: Post, ids: IdRange) -> list[str]:
        """Return the ids of the audience in a range; an empty list if readers pull the post."""
        return [] if document["fan_out"]["pull"] else audiences.of(runtime.database, document, ids)

    def deliver(
        self, runtime: Runtime, document: Post, reader_ids: list[str], *, is_first: bool
    ) -> None:
        """Add a post to the news of its present readers; the first chunk also copies it to walls.

        A worker mostly waits for the database, so two further threads help: one writes the walls,
        and from `halved_from` readers on, one writes half of the readers.
        """
        readers = news.select_present(runtime.database, reader_ids)
        half = len(readers) // 2 if len(readers) >= runtime.bounds.social.halved_from else 0
        with ThreadPoolExecutor(_AT_THE_SAME_TIME) as pool:
            begun = [pool.submit(_add_to_news, runtime, document, readers[:half])] if half else []
            if is_first:
                begun.append(pool.submit(_put_on_walls, runtime, document))
            _add_to_news(runtime, document, readers[half:])
        for each in begun:
            each.result()
        if is_first and runtime.settings.social_notifications:
            _note_notifications(runtime, document)

    def unchanged_filter(self, document: Post) -> Document:
        """Return the filter of a post that has not changed since the read."""
        return {"deleted": False, "spread.version": document["spread"]["version"]}

    def repair(self, runtime: Runtime, document: Post) -> None:
        """Propagate changes of a post since the read."""
        propagation.repair(runtime, [document])

    def message(self, document_id: str) -> Deliver:
        """Return the message that asks for the delivery of a post."""
        return Deliver(post_id=document_id)

    def chunk_message(self, document_id: str, number: int) -> DeliverChunk:
        """Return the message that asks for the delivery of one chunk."""
        return DeliverChunk(post_id=document_id, number=number)

    def choose(self, document: Post, lease: DeliveryLease[Post], first: list[str]) -> list[str]:
        """Return the first readers to deliver to; none if the audience is above the pull threshold.

        The post stores the choice, so a later change of the threshold does not alter it. The mark
        `pulled` of the author is stored before: readers pull only from marked authors.
        """
        runtime, line = lease.runtime, lease.runtime.settings.pull_audience
        most = min(line, runtime.bounds.social.chunk_readers)
        if len(first) <= most or not audiences.is_above(runtime.database, document, line):
            return first
        people = users.USERS.of(runtime.database)
        people.update_one({"_id": document["by"]["id"]}, {"$set": {"pulled": True}})
        pull.marked_authors.forget(runtime)
        leases.note(lease, {"pull": True})
        return []


OF_POSTS = PostDelivery()


def _add_to_news(runtime: Runtime, post: PostBody, user_ids: Sequence[str]) -> None:
    view = news.stored_design(runtime)
    if view:
        view.add([post], user_ids)


def _note_notifications(runtime: Runtime, post: PostBody) -> None:
    """Note and send the job that notifies of a post.

    A post on another user's wall notifies that user alone; any other post notifies the author's
    watchers. After a failure, the delivery runs again.
    """
    author, post_id = post["by"]["id"], post["_id"]
    act: NotifyFeed | NotifyWatchers = NotifyWatchers(by=author, thing=post_id)
    if post["wall"] != author:
        act = NotifyFeed(by=author, kind="post.wall", thing=post_id)
    elif not watches.has_watchers(runtime.database, author):
        return
    telling.note(runtime, act)
    telling.send(runtime, act)


def _put_on_walls(runtime: Runtime, post: PostBody) -> None:
    """Copy a post to the walls of its author and of the wall's owner, and to the owner's news."""
    author, owner = post["by"]["id"], post["wall"]
    if owner != author:
        # The owner is perhaps not in the audience, but may see the post.
        _add_to_news(runtime, post, [owner])
    if view := walls.stored_design(runtime):
        view.add([post], sorted({author, owner}))
