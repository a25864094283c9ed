"""Comments on a post: stored on the post or beside it, then propagated to its copies."""

from collections.abc import Collection as Collected
from collections.abc import Sequence
from datetime import timedelta

from pymongo import ASCENDING, IndexModel, ReplaceOne
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.database import Collection, Document, in_transaction
from chalicelib.errors import Forbidden, Unavailable, UnknownComment
from chalicelib.http import PageQuery
from chalicelib.http.paging import Cursors
from chalicelib.identity import Principal
from chalicelib.ids import new_id
from chalicelib.people.blocks import BLOCKS
from chalicelib.runtime import Runtime
from chalicelib.social import paging
from chalicelib.social.errors import UnknownPost
from chalicelib.social.graph import following as graph
from chalicelib.social.graph import users
from chalicelib.social.graph.audience import Reader
from chalicelib.social.messages import NotifyFeed, Propagate
from chalicelib.social.paging import ListEntry, ListPosition, newer_than, parse_position
from chalicelib.social.posts import posts
from chalicelib.social.posts.answers import PostCommentsAnswer, comment_answer
from chalicelib.social.posts.forms import COMMENTS_SHOWN, PostCommentsQuery
from chalicelib.social.posts.shapes import OlderComment, PostComment, ShownPost
from chalicelib.social.posts.visibility import may_see_comment, without_hidden
from chalicelib.social.telling import telling

# Comments that moved off their post, older than the comments on it.
OLDER_COMMENTS = Collection(
    "social.post_comment",
    OlderComment,
    indexes=(
        IndexModel([("post_id", ASCENDING), ("ts", ASCENDING), ("id", ASCENDING)]),
        IndexModel([("by.id", ASCENDING), ("post_id", ASCENDING)]),
    ),
    shard_key={"post_id": 1},
)
_OF_A_MOMENT = 50
_TRIES = 50
BY_TIME = {"ts": 1, "id": 1}


def add(runtime: Runtime, post_id: str, caller: Principal, text: str) -> PostComment:
    """Store a comment and note in the same write that copies are behind; then send the message.

    Notifies the post's author of others' comments. Raises UnknownPost if the caller may not see
    the post, and Unavailable if too many comment at once.
    """
    post = posts.find_visible(runtime.database, post_id, caller.id)
    now = runtime.now()
    comment: PostComment = {
        "id": new_id(now, runtime.random),
        "by": users.ensure(runtime, caller),
        "ts": now,
        "text": text,
    }
    if post["by"]["id"] == caller.id:
        _push(runtime, post_id, comment)
    else:
        with telling(runtime, act_of(post_id, comment)):
            _push(runtime, post_id, comment)
    runtime.queues.send(Propagate(post_id=post_id))
    return comment


def act_of(post_id: str, comment: PostComment) -> NotifyFeed:
    """Return the job that makes the post author's notification agree with a comment."""
    thing = f"{post_id}/{comment['id']}"
    return NotifyFeed(by=comment["by"]["id"], kind="post.comment", thing=thing)


def find_named(
    database: Database[Document],
    named: Collected[tuple[str, str]],
    session: ClientSession | None = None,
) -> dict[tuple[str, str], PostComment]:
    """Return comments by `(post id, comment id)`, wherever they are; omit missing comments."""
    if not named:
        return {}
    post_ids, ids = (list({pair[n] for pair in named}) for n in (0, 1))
    is_named = {"$in": ["$$this.id", {"$literal": ids}]}
    held = {"comments": {"$filter": {"input": "$comments", "cond": is_named}}}

    def on_posts(wanted: list[str]) -> dict[tuple[str, str], PostComment]:
        rows = posts.POSTS.of(database).find({"_id": {"$in": wanted}}, held, session=session)
        return {(row["_id"], each["id"]): each for row in rows for each in row["comments"]}

    # The posts first: a comment that moves off its post meanwhile then shows in one place at least.
    found = on_posts(post_ids)
    where = {"post_id": {"$in": post_ids}, "_id": {"$in": ids}}
    older = OLDER_COMMENTS.of(database).find(where, session=session)
    found = {**{(each["post_id"], each["id"]): each for each in older}, **found}
    # A comment may have moved back to its post between the two reads.
    missing = {post_id for post_id, _ in set(named) - found.keys()}
    return found | on_posts(list(missing)) if missing else found


def find(
    database: Database[Document], post_id: str, reader_id: str, place: ListPosition
) -> PostComment:
    """Return the comment at a time and id; raises UnknownPost and UnknownComment."""
    posts.find_visible(database, post_id, reader_id)
    # Comments of the same millisecond are few, and all other comments are later.
    for comment in _after(database, post_id, place._replace(post_id=""), _OF_A_MOMENT):
        if comment["id"] == place.post_id:
            return comment
    raise UnknownComment


def _push(runtime: Runtime, post_id: str, comment: PostComment) -> None:
    """Put a comment on the post; if the post is full, move its oldest comments off first.

    Raises UnknownPost for a tombstone, and Unavailable after 50 tries.
    """
    held = runtime.bounds.social.held_on_post
    due = comment["ts"] + timedelta(milliseconds=runtime.settings.lease_ms)
    for _ in range(_TRIES):
        pushed = posts.POSTS.of(runtime.database).update_one(
            {"_id": post_id, f"comments.{held - 1}": {"$exists": False}, "deleted": False},
            {
                "$push": {"comments": {"$each": [comment], "$sort": BY_TIME}},
                "$inc": {"comment_count": 1, "spread.version": 1},
                "$set": {"spread.due": due},
            },
        )
        if pushed.matched_count:
            return
        _move_oldest(runtime, post_id)
    raise Unavailable("Too many are commenting on this post at once")


def _move_oldest(runtime: Runtime, post_id: str) -> None:
    """Move the oldest comments off a full post, in one transaction; raises UnknownPost.

    The transaction writes the post, so it conflicts with an edit or a deletion of a comment. It
    replaces older comments, as moves of older releases may have left a comment in both places.
    """
    database, rows = runtime.database, posts.POSTS.of(runtime.database)
    count, held = runtime.bounds.social.comments_moved_at_once, runtime.bounds.social.held_on_post
    there = {"_id": post_id, "deleted": False}
    full = {**there, f"comments.{held - 1}": {"$exists": True}}

    def work(session: ClientSession) -> None:
        post = rows.find_one(full, {"comments": {"$slice": count}}, session=session)
        if post is None:
            if rows.find_one(there, {"_id": 1}, session=session) is None:
                raise UnknownPost
            # Another call has made room.
            return
        moved: list[OlderComment] = [
            {"_id": comment["id"], "post_id": post_id, **comment} for comment in post["comments"]
        ]
        writes = [
            ReplaceOne({"_id": each["_id"], "post_id": post_id}, each, upsert=True)
            for each in moved
        ]
        ids = [each["_id"] for each in moved]
        pull = {"$pull": {"comments": {"id": {"$in": ids}}}}
        rows.update_one({"_id": post_id}, pull, session=session)
        OLDER_COMMENTS.of(database).bulk_write(writes, ordered=False, session=session)

    in_transaction(database, work)


def list_all(
    runtime: Runtime, post_id: str, reader_id: str | None, query: PostCommentsQuery
) -> PostCommentsAnswer:
    """Return a page of a post's comments, oldest first: `{comments, next}`.

    Blocks may make a page short before the end; `next` is None at the end. Raises UnknownPost if
    the reader may not see the post, and Forbidden if a reader other than its author asks for
    comments that blocks hide.
    """
    post = posts.find_visible(runtime.database, post_id, reader_id)
    if query.blocked and post["by"]["id"] != reader_id:
        raise Forbidden("Only its author can read what blocks hide under a post")
    return page(runtime, post_id, query, reader_id, hides_blocked=not query.blocked)


def page(
    runtime: Runtime,
    post_id: str,
    query: PageQuery,
    reader_id: str | None,
    *,
    hides_blocked: bool,
) -> PostCommentsAnswer:
    """Return a page of a post's comments; the caller has checked access to the post."""
    database = runtime.database

    def fetch(after: ListPosition | None, count: int) -> list[ListEntry[PostComment]]:
        found = _after(database, post_id, after, count)
        return [ListEntry(_at(comment), comment) for comment in found]

    def show(found: list[PostComment]) -> list[PostComment | None]:
        if not hides_blocked:
            return list(found)
        reader = graph.reader(database, reader_id, {each["by"]["id"] for each in found})
        return [comment if may_see_comment(reader, comment) else None for comment in found]

    cursors = Cursors(f"post-comments:{post_id}", runtime.settings.signing_keys)
    shown, last = paging.fill_page(
        runtime, query.limit, parse_position(cursors.position(query)), fetch, show
    )
    return {
        "comments": [comment_answer(comment) for _position, comment in shown],
        "next": cursors.following([last.ts.isoformat(), last.post_id] if last else None),
    }


def _after(
    database: Database[Document], post_id: str, after: ListPosition | None, limit: int
) -> list[PostComment]:
    """Return the comments after a position, oldest first, on the post or moved off it."""
    # The post first: a comment that moves off the post meanwhile then shows in one place at least.
    on_post = _read_on_post(database, post_id)
    older = _older(database, post_id, after, limit)
    if older and len(on_post) <= COMMENTS_SHOWN:
        # A post with so few comments may get older comments back between the two reads.
        on_post += _read_on_post(database, post_id)
    found: dict[str, PostComment] = {each["id"]: each for each in older}
    found |= {each["id"]: each for each in on_post if after is None or _at(each) > after}
    return sorted(found.values(), key=_at)[:limit]


def _read_on_post(database: Database[Document], post_id: str) -> list[PostComment]:
    post = posts.POSTS.of(database).find_one({"_id": post_id}, {"comments": 1})
    if post is None:
        raise UnknownPost
    return post["comments"]


def _older(
    database: Database[Document], post_id: str, after: ListPosition | None, limit: int
) -> list[OlderComment]:
    where: Document = {"post_id": post_id}
    if after:
        where |= newer_than(after, "id")
    order = list(BY_TIME.items())
    return list(OLDER_COMMENTS.of(database).find(where).sort(order).limit(limit))


def _at(comment: PostComment) -> ListPosition:
    return ListPosition(comment["ts"], comment["id"])


# Comments that blocks hide from a reader: posts and their counts omit them.

# Counts omit the comments of at most this many blocked users; posts omit the comments of all.
MOST_BLOCKS = 10_000


def omit_blocked_comments(
    database: Database[Document], reader: Reader, found: Sequence[ShownPost | None]
) -> list[ShownPost | None]:
    """Return posts without the comments that blocks hide, and with counts that omit them.

    Counts omit the comments of `MOST_BLOCKS` blocked people at most. If the reader has blocks and
    a post has more comments than it shows, this costs one query, or two for a reader who has no
    document in `USERS`.
    """
    if not reader.blocks:
        return list(found)
    longer = [post["id"] for post in found if post and post["comment_count"] > COMMENTS_SHOWN]
    hidden = _count(database, reader.id, longer) if longer else {}
    return [_without(reader, post, hidden) if post else None for post in found]


def _without(reader: Reader, post: ShownPost, hidden: dict[str, int]) -> ShownPost:
    shown = without_hidden(reader, post)
    gone = hidden.get(post["id"], len(post["comments"]) - len(shown["comments"]))
    return {**shown, "comment_count": max(post["comment_count"] - gone, len(shown["comments"]))}


def _count(
    database: Database[Document], reader_id: str | None, post_ids: list[str]
) -> dict[str, int]:
    """Return, by post id, the number of comments that blocks hide from a reader."""
    held: list[Document] = [
        {"$match": {"_id": {"$in": post_ids}}},
        {"$project": {"by": "$comments.by.id", "who": _BLOCKED_AUTHORS}},
        {"$project": {"count": {"$size": {"$filter": {"input": "$by", "cond": _IS_HIDDEN}}}}},
    ]
    # By the index of authors: a post may have any number of comments by others.
    older = {
        "from": OLDER_COMMENTS.name,
        "localField": "blocked",
        "foreignField": "by.id",
        "pipeline": [
            {"$match": {"post_id": {"$in": post_ids}}},
            {"$group": {"_id": "$post_id", "count": {"$sum": 1}}},
        ],
        "as": "older",
    }
    stages: list[Document] = [
        {"$match": {"_id": reader_id}},
        {"$project": {"blocked": {"$slice": [users.BLOCKED_EITHER_WAY, MOST_BLOCKS]}}},
        {
            "$lookup": {
                "from": posts.POSTS.name,
                "let": {"blocked": "$blocked"},
                "pipeline": held,
                "as": "held",
            }
        },
        {"$lookup": older},
        {"$project": {"counts": {"$concatArrays": ["$held", "$older"]}}},
    ]
    counts = dict.fromkeys(post_ids, 0)
    of_user = list(database[users.USERS.name].aggregate(stages))
    for row in of_user or database[BLOCKS.name].aggregate(stages):
        for each in row["counts"]:
            counts[each["_id"]] += each["count"]
    return counts


_BLOCKED_AUTHORS: Document = {"$setIntersection": ["$comments.by.id", "$$blocked"]}
# `$who` has only the blocked authors on the post: `$in` searches it once for each comment.
_IS_HIDDEN = {"$in": ["$$this", "$who"]}
