"""Votes in polls: one transaction stores a person's vote and updates the counts of the post.

Copies of a post have no counts: each read takes the counts from the post (docs/decisions/0139).
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TypedDict

from pymongo import ASCENDING, IndexModel, ReturnDocument
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.database import Collection, Document, in_transaction
from chalicelib.errors import Unavailable
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from chalicelib.social.errors import NotAPoll, UnknownOption
from chalicelib.social.graph import users
from chalicelib.social.graph.audience import Reader
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


# Sharded by person: a page of posts reads all votes of its reader from one shard.
VOTES = Collection(
    "social.vote",
    PollVote,
    indexes=(IndexModel([("user_id", ASCENDING)]), IndexModel([("post_id", ASCENDING)])),
    shard_key={"user_id": 1},
)


# A try fails if the author edits the poll between the read of the poll and the count.
_TRIES = 5


class _Unchanged(Exception):
    """The person has this vote already."""


class _Changed(Exception):
    """The author has edited or deleted the post since its read."""


def cast(runtime: Runtime, post_id: str, caller: Principal, option: str) -> tuple[Reader, ReadPost]:
    """Store the caller's vote in a poll, in place of an earlier vote.

    Returns the caller's relations to the people on the post, and the post with its counts. Raises
    UnknownPost if the caller may not see the post, NotAPoll, UnknownOption, and Unavailable if an
    edit of the poll interrupts every try.
    """
    for _ in range(_TRIES):
        reader, post = _find_poll(runtime, post_id, caller)
        users.ensure(runtime, caller)
        try:
            return reader, _replace_vote(runtime, post, caller.id, option)
        except _Unchanged:
            return reader, post
        except _Changed:
            # An author may edit a poll until its first vote: an option may have a new number.
            continue
    raise Unavailable("The author is editing the poll")


def _replace_vote(runtime: Runtime, post: ReadPost, voter_id: str, option: str) -> ReadPost:
    """Store a vote, and return the post with its new counts.

    Raises UnknownOption, _Unchanged, and _Changed if the poll is no longer as `post` has it.
    """
    options: list[str] = post["detail"]["options"]
    if option not in options:
        raise UnknownOption
    number = options.index(option)
    vote: Document = {"post_id": post["id"], "number": number, "option": option}

    def work(session: ClientSession) -> ReadPost:
        before = VOTES.of(runtime.database).find_one_and_update(
            _key(voter_id, post["id"]),
            {"$set": {**vote, "ts": runtime.now()}},
            upsert=True,
            session=session,
        )
        if before and before["number"] == number:
            raise _Unchanged
        as_read = {"_id": post["id"], "deleted": False, "detail.options": options}
        counted = posts.POSTS.of(runtime.database).find_one_and_update(
            as_read,
            _vote_update(number, before),
            projection={"votes": 1, "vote_count": 1},
            return_document=ReturnDocument.AFTER,
            session=session,
        )
        if counted is None:
            raise _Changed
        return {**post, "votes": counted["votes"], "vote_count": counted["vote_count"]}

    return in_transaction(runtime.database, work)


def withdraw(runtime: Runtime, post_id: str, caller: Principal) -> None:
    """Delete the caller's vote in a poll; without one, nothing changes.

    Raises UnknownPost if the caller may not see the post, and NotAPoll.
    """
    _find_poll(runtime, post_id, caller)
    take_back(runtime.database, caller.id, post_id)


def take_back(
    database: Database[Document], user_id: str, post_id: str, until: datetime | None = None
) -> None:
    """Delete a person's vote and lower the counts, in one transaction.

    A vote after `until` stays. None: any vote goes.
    """
    key: Document = _key(user_id, post_id)
    if until:
        key["ts"] = {"$lte": until}

    def work(session: ClientSession) -> None:
        before = VOTES.of(database).find_one(key, session=session)
        if before:
            VOTES.of(database).delete_one(key, session=session)
            change = _vote_update(None, before)
            posts.POSTS.of(database).update_one({"_id": post_id}, change, session=session)

    in_transaction(database, work)


def of_reader(
    database: Database[Document], reader_id: str | None, post_ids: Iterable[str]
) -> dict[str, str]:
    """Return the chosen option of each poll in which the reader has voted, by the post's id."""
    if reader_id is None:
        return {}
    ids = [_key(reader_id, post_id)["_id"] for post_id in post_ids]
    mine = VOTES.of(database).find({"_id": {"$in": ids}, "user_id": reader_id})
    return {vote["post_id"]: vote["option"] for vote in mine}


def remove(database: Database[Document], post_id: str) -> None:
    """Delete the votes in a deleted poll, which accepts no more."""
    VOTES.of(database).delete_many({"post_id": post_id})


def _find_poll(runtime: Runtime, post_id: str, caller: Principal) -> tuple[Reader, ReadPost]:
    reader, post = posts.find_with_reader(runtime.database, post_id, caller.id)
    if not is_poll(post["type"]):
        raise NotAPoll
    return reader, post


def _key(user_id: str, post_id: str) -> dict[str, str]:
    return {"_id": f"{user_id}:{post_id}", "user_id": user_id}


def _vote_update(number: int | None, before: PollVote | None) -> Document:
    """Return the update of a post's counts for the option `number` in place of the vote `before`.

    None: no vote. The update comes last in its transaction, because all voters of the poll write
    to the same post.
    """
    change = {"vote_count": (number is not None) - (before is not None)}
    if number is not None:
        change[f"votes.{number}"] = 1
    if before:
        change[f"votes.{before['number']}"] = -1
    return {"$inc": change}


# Results of polls. For a copy, they come from its post.


def with_results(
    database: Database[Document], reader_id: str | None, found: Sequence[ShownPost | None]
) -> list[ShownPost | None]:
    """Return the posts in their order; add the present results and the reader's vote to each poll.

    A copy of a poll gets both the options and the counts of its post, because counts are by option
    number. None: `found` has None, or the post of a copy is gone. Polls cost one query for the
    votes, and one query for the posts of copies.
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
