"""Votes in polls: one for each person, and counts on the post, both in one transaction.

Copies of a post have no counts: readers get them from the post (docs/decisions/0139).
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TypedDict

from pymongo import ASCENDING, IndexModel
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.database import Collection, Document, in_transaction
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from chalicelib.social.errors import NotAPoll, UnknownOption, UnknownPost
from chalicelib.social.graph import users
from chalicelib.social.posts import posts, reactions
from chalicelib.social.posts.answers import PostAnswer, post_answer
from chalicelib.social.posts.shapes import PollResults, ReadPost, ShownPost
from chalicelib.social.posts.types import is_poll


class PollVote(TypedDict):
    """A person's one vote in a poll: the number of its option, from 0, and the option itself."""

    _id: str
    user_id: str
    post_id: str
    number: int
    option: str
    ts: datetime


# By person: a reader's votes in the polls of a page are on one shard.
VOTES = Collection(
    "social.vote",
    PollVote,
    indexes=(IndexModel([("user_id", ASCENDING)]), IndexModel([("post_id", ASCENDING)])),
    shard_key={"user_id": 1},
)


def cast(runtime: Runtime, post_id: str, caller: Principal, option: str) -> None:
    """Store the caller's one vote in a poll; another option replaces the first.

    Raises UnknownPost if the caller may not see the post, NotAPoll and UnknownOption.
    """
    _check(runtime, post_id, caller)
    users.ensure(runtime, caller)
    database, key = runtime.database, _key(caller.id, post_id)

    def work(session: ClientSession) -> None:
        there = {"_id": post_id, "deleted": False}
        post = posts.POSTS.of(database).find_one(there, {"detail.options": 1}, session=session)
        if post is None:
            raise UnknownPost
        number = _number(post["detail"]["options"], option)
        before = VOTES.of(database).find_one(key, session=session)
        if before and before["number"] == number:
            return
        vote: Document = {"post_id": post_id, "number": number, "option": option}
        change = {"$set": {**vote, "ts": runtime.now()}}
        VOTES.of(database).update_one(key, change, upsert=True, session=session)
        _count_vote(database, post_id, number, before, session)

    in_transaction(database, work)


def withdraw(runtime: Runtime, post_id: str, caller: Principal) -> None:
    """Delete the caller's vote in a poll; without one, nothing changes.

    Raises UnknownPost if the caller may not see the post, and NotAPoll.
    """
    _check(runtime, post_id, caller)
    take_back(runtime.database, caller.id, post_id)


def take_back(
    database: Database[Document], user_id: str, post_id: str, until: datetime | None = None
) -> None:
    """Delete a person's vote, if cast up to `until`, and lower the count, both or neither."""
    key: Document = _key(user_id, post_id)
    if until:
        key["ts"] = {"$lte": until}

    def work(session: ClientSession) -> None:
        before = VOTES.of(database).find_one(key, session=session)
        if before:
            VOTES.of(database).delete_one(key, session=session)
            _count_vote(database, post_id, None, before, session)

    in_transaction(database, work)


def of_reader(
    database: Database[Document], reader_id: str | None, post_ids: Iterable[str]
) -> dict[str, str]:
    """Return the options of a reader's votes, by the ids of the posts."""
    if reader_id is None:
        return {}
    ids = [_key(reader_id, post_id)["_id"] for post_id in post_ids]
    mine = VOTES.of(database).find({"_id": {"$in": ids}, "user_id": reader_id})
    return {vote["post_id"]: vote["option"] for vote in mine}


def remove(database: Database[Document], post_id: str) -> None:
    """Delete the votes in a deleted poll, which accepts no more."""
    VOTES.of(database).delete_many({"post_id": post_id})


def _check(runtime: Runtime, post_id: str, caller: Principal) -> None:
    if not is_poll(posts.find_visible(runtime.database, post_id, caller.id)["type"]):
        raise NotAPoll


def _key(user_id: str, post_id: str) -> dict[str, str]:
    return {"_id": f"{user_id}:{post_id}", "user_id": user_id}


def _number(options: list[str], option: str) -> int:
    if option not in options:
        raise UnknownOption
    return options.index(option)


def _count_vote(
    database: Database[Document],
    post_id: str,
    number: int | None,
    before: PollVote | None,
    session: ClientSession,
) -> None:
    """Count the option `number` instead of the vote `before`; None: no vote.

    Comes last in its transaction: all voters' transactions write to the post.
    """
    change = {"vote_count": (number is not None) - (before is not None)}
    if number is not None:
        change[f"votes.{number}"] = 1
    if before:
        change[f"votes.{before['number']}"] = -1
    there = {"_id": post_id} if number is None else {"_id": post_id, "deleted": False}
    counted = posts.POSTS.of(database).update_one(there, {"$inc": change}, session=session)
    if number is not None and not counted.matched_count:
        raise UnknownPost


# The results of polls, read from the posts themselves for each of their copies.


def with_results(
    database: Database[Document], reader_id: str | None, found: Sequence[ShownPost | None]
) -> list[ShownPost | None]:
    """Return posts; polls have their present results and the reader's own vote.

    A copy of a poll gets the post's own options and counts, which belong together. None: the post
    of a copy is gone. Without polls it costs nothing, otherwise one query for the votes and one
    query for the posts of copies.
    """
    polls = [post for post in found if post and is_poll(post["type"])]
    if not polls:
        return list(found)
    copied = [post["id"] for post in polls if "votes" not in post]
    sources: dict[str, ReadPost] = posts.find_all(database, copied) if copied else {}
    own = of_reader(database, reader_id, [post["id"] for post in polls])
    return [
        _with_results(post, sources, own) if post and is_poll(post["type"]) else post
        for post in found
    ]


def poll_answer(runtime: Runtime, post: ShownPost, reader_id: str | None) -> PostAnswer:
    """Return one post as the API shows it to a reader, with its reactions, and a poll's results."""
    counted = reactions.with_counts(runtime.database, reader_id, [post])
    (shown,) = with_results(runtime.database, reader_id, counted)
    return post_answer(shown or post, reader_id, runtime.settings.public_url)


def _with_results(
    post: ShownPost, sources: dict[str, ReadPost], own: dict[str, str]
) -> ShownPost | None:
    source = post if "votes" in post else sources.get(post["id"])
    if source is None:
        return None
    counts = source["votes"]
    results: PollResults = {
        "votes": [counts.get(str(n), 0) for n in range(len(source["detail"]["options"]))],
        "own": own.get(post["id"]),
    }
    return {**post, "detail": source["detail"], "results": results}
