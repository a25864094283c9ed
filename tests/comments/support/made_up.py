"""Comments made by hand, for stores to hold."""

import itertools

from bench.discussions import POSTED, made_up
from chalicelib.comments.shapes import Comment
from chalicelib.comments.store import Page, Viewer, segment

EVERYTHING = Page("oldest", 200, None, Viewer("mo", moderator=True))


def some_comments(number: int) -> list[Comment]:
    return list(itertools.chain.from_iterable(made_up(number, threaded=False)))


def reply_to(parent: Comment, seq: int, comment_id: str) -> Comment:
    (reply,) = some_comments(1)
    here = segment(POSTED, seq, comment_id)
    return reply | {
        "id": comment_id,
        "seq": seq,
        "parent_id": parent["id"],
        "slug": f"{parent['slug']}/{comment_id}",
        "full_slug": f"{parent['full_slug']}/{here}",
        "depth": 1,
    }
