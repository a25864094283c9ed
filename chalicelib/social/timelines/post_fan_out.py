"""Bringing a post to its readers, and to the walls that it stands on."""

from concurrent.futures import ThreadPoolExecutor

from chalicelib.database import Document
from chalicelib.runtime import Runtime
from chalicelib.social.delivery import engine, leases
from chalicelib.social.delivery.engine import Deliverable
from chalicelib.social.delivery.leases import DeliveryLease
from chalicelib.social.graph import users
from chalicelib.social.messages import Deliver, DeliverChunk
from chalicelib.social.paging.id_range import IdRange
from chalicelib.social.posts import audiences
from chalicelib.social.posts.models import COMMENTS_SHOWN
from chalicelib.social.posts.posts import POSTS
from chalicelib.social.timelines import news, propagation, walls

# Readers for whom a second insert pays.
HALVED_FROM = 500
_MEANWHILE = 2


def _audience(runtime: Runtime, post: Document, ids: IdRange) -> list[str]:
    return [] if post["fan_out"]["pull"] else audiences.of(runtime.database, post, ids)


def _bring(runtime: Runtime, post: Document, user_ids: list[str], is_first: bool) -> None:  # noqa: FBT001
    """Give readers the post, but not those who have not been seen for long; and put it on walls.

    A worker that waits for the server's answer can have it do more: many readers are served in
    halves at the same time, and the walls meanwhile.
    """
    readers = news.present(runtime.database, user_ids)
    half = len(readers) // 2 if len(readers) >= HALVED_FROM else 0
    with ThreadPoolExecutor(_MEANWHILE) as pool:
        begun = [pool.submit(_give, runtime, post, readers[:half])] if half else []
        if is_first:
            begun.append(pool.submit(_put_on_walls, runtime, post))
        _give(runtime, post, readers[half:])
    for each in begun:
        each.result()


def _give(runtime: Runtime, post: Document, user_ids: list[str]) -> None:
    news.design(runtime).add([post], user_ids)


def _put_on_walls(runtime: Runtime, post: Document) -> None:
    """Copy the post to its author's wall and to the one that it was written to."""
    author, owner = post["by"]["id"], post["wall"]
    if owner != author:
        # Who may see the post on their own wall may see it in their news.
        news.design(runtime).add([post], [owner])
    walls.design(runtime).add([post], sorted({author, owner}))


def _choose(post: Document, lease: DeliveryLease, user_ids: list[str]) -> list[str]:
    """Leave a post of too large an audience to its readers, who then find it where it is.

    What was begun is ended as it was begun, wherever the line is by then. The author is marked
    first: readers look for such posts with marked authors alone.
    """
    runtime, line = lease.runtime, lease.runtime.settings.pull_audience
    most = min(line, engine.CHUNK_READERS)
    if len(user_ids) <= most or not audiences.is_above(runtime.database, post, line):
        return user_ids
    people = users.collection(runtime.database)
    people.update_one({"_id": post["by"]["id"]}, {"$set": {"pulled": True}})
    leases.note(lease, {"pull": True})
    return []


def _unchanged(post: Document) -> Document:
    return {"deleted": False, "spread.version": post["spread"]["version"]}


def _mend(runtime: Runtime, post: Document) -> None:
    propagation.repair(runtime, [post])


def _message(post_id: str) -> Deliver:
    return Deliver(post_id=post_id)


def _chunk_message(post_id: str, number: int) -> DeliverChunk:
    return DeliverChunk(post_id=post_id, number=number)


OF_POSTS = Deliverable(
    collection=POSTS.name,
    fields={"comments": {"$slice": -COMMENTS_SHOWN}},
    audience=_audience,
    bring=_bring,
    unchanged=_unchanged,
    mend=_mend,
    message=_message,
    chunk_message=_chunk_message,
    choose=_choose,
)


def handle(runtime: Runtime, message: Deliver | DeliverChunk) -> None:
    """Do what a message asks."""
    if isinstance(message, Deliver):
        engine.deliver(runtime, OF_POSTS, message.post_id)
    else:
        engine.deliver_chunk(runtime, OF_POSTS, message.post_id, message.number)


def sweep(runtime: Runtime) -> None:
    """Send again for posts whose fan-out was forgotten."""
    engine.sweep(runtime, OF_POSTS)
