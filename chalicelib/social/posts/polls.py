"""The results of polls, read from the posts themselves, whatever copy of them is shown."""

from collections.abc import Sequence

from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.runtime import Runtime
from chalicelib.social.posts import posts, reactions, votes
from chalicelib.social.posts.answers import PostAnswer, post_answer
from chalicelib.social.posts.shapes import PollResults, ReadPost, ShownPost
from chalicelib.social.posts.types import is_poll


def with_results(
    database: Database[Document], reader_id: str | None, found: Sequence[ShownPost | None]
) -> list[ShownPost | None]:
    """Return posts as they are, and polls with their results of now and the reader's own vote.

    A copy of a poll gets the post's own options and counts, which belong together; one whose post
    is gone is None. Costs nothing without polls, otherwise one query for the votes, and one for
    the posts of copies.
    """
    polls = [post for post in found if post and is_poll(post["type"])]
    if not polls:
        return list(found)
    copied = [post["id"] for post in polls if "votes" not in post]
    sources: dict[str, ReadPost] = posts.find_all(database, copied) if copied else {}
    own = votes.of_reader(database, reader_id, [post["id"] for post in polls])
    return [
        _with_results(post, sources, own) if post and is_poll(post["type"]) else post
        for post in found
    ]


def answer(runtime: Runtime, post: ShownPost, reader_id: str | None) -> PostAnswer:
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
