"""Comments that mention somebody who is renamed or erased, found by their entries."""

import itertools
from collections.abc import Iterator
from datetime import datetime

from chalicelib.comments import nodes
from chalicelib.comments.discussion.editing import change_comment
from chalicelib.comments.entries.rows import ENTRIES
from chalicelib.comments.entries.writing import settle
from chalicelib.comments.errors import CommentTooLarge, NodeMoved, UnknownNode
from chalicelib.comments.mentions import NOBODY, Mention, Mentions, renamed
from chalicelib.comments.rendered import RENDERER, rendered
from chalicelib.comments.rendered import places as places_of
from chalicelib.comments.shapes import Comment, CommentFields, Node
from chalicelib.comments.stores import ask
from chalicelib.database import Document
from chalicelib.errors import Unavailable
from chalicelib.people.follows import Step
from chalicelib.runtime import Runtime

_ATTEMPTS = 3


def rename(runtime: Runtime, user_id: str, name: str) -> None:
    """Name somebody anew in every comment that mentions them; what has the name is only read."""
    for node_id, comment_id in _mentioning(runtime, {"mentioned": user_id}):
        _follow(runtime, node_id, comment_id, Mention(id=user_id, name=name))


def erase(runtime: Runtime, user_id: str, until: datetime | None, most: int) -> Step:
    """Take somebody out of the comments that mention them, at most so many of them.

    With `until`, only of those that were posted by then.
    """
    where: Document = {"mentioned": user_id, **({"posted": {"$lte": until}} if until else {})}
    found = list(itertools.islice(_mentioning(runtime, where), most))
    ends = [_follow(runtime, *each, Mention(id=user_id, name="")) for each in found]
    if not all(ends):
        return Step.BUSY
    return Step.MORE if len(found) == most else Step.DONE


def _mentioning(runtime: Runtime, where: Document) -> Iterator[tuple[str, str]]:
    fields = {"_id": 0, "node_id": 1, "id": 1}
    for row in ENTRIES.of(runtime.database).find(where, fields):
        yield row["node_id"], row["id"]


def _follow(runtime: Runtime, node_id: str, comment_id: str, person: Mention) -> bool:
    """Name somebody anew in a comment, or nobody; False if a move of its node prevents it."""
    try:
        for _ in range(_ATTEMPTS):
            node = nodes.find(runtime.database, node_id)
            if _changed(runtime, node, comment_id, person):
                return True
    except NodeMoved as moved:
        # Its entries go along, and may have been read where they were.
        return _follow(runtime, moved.moved_to, comment_id, person)
    except UnknownNode:
        return True
    except Unavailable:
        return False
    return False


def _changed(runtime: Runtime, node: Node, comment_id: str, person: Mention) -> bool:
    """Change a comment as it was read; False if it has been changed meanwhile."""
    comment = ask(runtime, node, lambda store, current: store.get(current, comment_id))
    if comment is None:
        # It is about to be stored, or never was: then the sweep removes its entry.
        return False
    fields = _renamed(runtime, node, comment, person)
    if not fields:
        # An entry may say what its comment no longer does, if the writer of the two has ended.
        settle(runtime.database, node, comment)
        return True
    where_read: CommentFields = {
        "text": comment["text"],
        "state": comment["state"],
        "edited": comment["edited"],
    }
    return change_comment(runtime, node, comment_id, fields, where_read) is not None


def _renamed(runtime: Runtime, node: Node, comment: Comment, person: Mention) -> CommentFields:
    """Return the fields of a comment that change: none where nothing has to, or can.

    Mentions alone change: the HTML is that of the old text with the other name in its mentions. A
    comment keeps the old name if its text would read otherwise with the new one.
    """
    before, text = comment.get("mentions", []), comment["text"]
    user_id, name = person["id"], person["name"]
    old = next((each["name"] for each in before if each["id"] == user_id), None)
    if old is None or text is None or old == name:
        return {}
    site, people = node["site"], Mentions(before, {user_id: name})
    places = places_of(runtime, site, text, Mentions(before), old)
    try:
        html = rendered(runtime, site, text, people, is_new=False)
        text = renamed(text, places, old, name or NOBODY)
        others = [each for each in before if each["id"] != user_id]
        if name:
            people = Mentions([*others, person])
            if rendered(runtime, site, text, people, is_new=False) != html:
                return {}
    except CommentTooLarge:
        if not name:
            raise
        # With the longer name; with the old one it is shown as before.
        return {}
    mentions = [each for each in people.found if name or each["id"] != user_id]
    return {"text": text, "html": html, "renderer": RENDERER, "mentions": mentions}
