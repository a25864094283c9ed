"""Notifications of a new post for readers who watch its author.

An author may have a million watchers: a job notifies some thousands, and notes a job for the rest.
Each job is idempotent.
"""

from collections.abc import Sequence
from datetime import datetime

from chalicelib.jobs import outbox
from chalicelib.notifications import events
from chalicelib.notifications.events import NotificationEvent
from chalicelib.notifications.groups import group_of
from chalicelib.notifications.rows import Kind
from chalicelib.runtime import Runtime
from chalicelib.sites.ids import DEFAULT_SITE
from chalicelib.social.activity.org import people
from chalicelib.social.graph import following, watches
from chalicelib.social.graph.audience import PUBLIC
from chalicelib.social.messages import NotifyWatchers
from chalicelib.social.paging import IdRange
from chalicelib.social.posts import audiences, posts
from chalicelib.social.posts.shapes import ReadPost
from chalicelib.social.telling import keys_of


def notify(runtime: Runtime, job: NotifyWatchers) -> None:
    """Notify the watchers of a post's author in the order of their ids; note a job for the rest.

    `job.thing` is `{post}`, or `{post}/{reader}` to continue after this id. If the post is gone,
    withdraw its notifications.
    """
    post_id, _, after = job.thing.partition("/")
    is_end = False
    for _step in range(runtime.bounds.social.watcher_steps):
        read_at = runtime.now()
        post = posts.find_all(runtime.database, [post_id]).get(post_id)
        if post is None:
            break
        after, is_end = _notify_some(runtime, post, after, read_at)
        if is_end:
            break
    if not posts.find_all(runtime.database, [post_id]):
        # The deletion may have withdrawn notifications before this job made further ones.
        events.withdraw(runtime, _key(post_id))
    elif not is_end:
        rest = NotifyWatchers(by=job.by, thing=f"{post_id}/{after}")
        outbox.note(runtime, rest)
        runtime.queues.send(rest)


def _notify_some(
    runtime: Runtime, post: ReadPost, after: str, read_at: datetime
) -> tuple[str, bool]:
    """Notify the watchers in a page of readers, ordered by id, after the id `after`.

    Returns the last id of the page, and whether this page is the last.
    """
    database, author = runtime.database, post["by"]["id"]
    ids = IdRange(after, limit=runtime.bounds.social.watchers_at_once)
    if post["circles"] == [PUBLIC]:
        page = watchers = watches.find_watchers(database, author, post["ts"], ids)
    else:
        page = audiences.of(database, post, ids)
        watchers = watches.watchers_among(database, author, post["ts"], page)
    if watchers:
        recipients: dict[str, Kind] = dict.fromkeys(_select(runtime, author, watchers), "post.new")
        event = NotificationEvent(
            key=_key(post["id"]),
            site=DEFAULT_SITE,
            thing=post["id"],
            by=author,
            at=post["ts"],
            recipients=recipients,
            is_new=False,
            group=group_of("post.new", author, post["ts"]),
            among=tuple(watchers),
        )
        events.agree(runtime, event, read_at)
    return (page[-1] if page else after), len(page) < (ids.limit or 0)


def _select(runtime: Runtime, author: str, watchers: Sequence[str]) -> list[str]:
    """Return the watchers who follow the author now.

    Omit a watcher who mutes the author, or has a block with the author in either direction.
    """
    ties = following.reader(runtime.database, author, watchers)
    muting = people.find_muting(runtime.database, author, watchers)
    return [
        who
        for who in watchers
        if ties.circled_by.get(who) and who not in ties.blocked and who not in muting
    ]


def _key(post_id: str) -> str:
    return f"{keys_of(post_id)}post.new"
