"""Renames, joins and erasures of a person in the comments that mention them, found by entries."""

import contextlib
import itertools
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial

from chalicelib.comments import nodes
from chalicelib.comments.entries.rows import ENTRIES
from chalicelib.comments.entries.writing import settle
from chalicelib.comments.errors import CommentTooLarge, NodeMoved, UnknownNode
from chalicelib.comments.mentions import NOBODY, Mention, Mentions, rename_in
from chalicelib.comments.rendered import RENDERER, plain_html, render_text
from chalicelib.comments.rendered import places as places_of
from chalicelib.comments.shapes import Comment, CommentFields, Node
from chalicelib.comments.stores import ask
from chalicelib.comments.writing.changes import change_comment
from chalicelib.database import Document
from chalicelib.errors import Unavailable
from chalicelib.people.features import Step
from chalicelib.runtime import Runtime

_ATTEMPTS = 3

# Returns the changed fields of a comment; empty if nothing has to change.
NewFields = Callable[[Runtime, Node, Comment], CommentFields]


def rename(runtime: Runtime, user_id: str, name: str) -> None:
    """Set a person's new name in every comment that mentions them."""
    for node_id, comment_id in _find_mentions(runtime, {"mentioned": user_id}):
        new_fields = partial(_new_fields, person=Mention(id=user_id, name=name))
        _follow(runtime, node_id, comment_id, new_fields)


def give(runtime: Runtime, site: str, giver: str, to: str) -> None:
    """Point the mentions of a person at a site to another person."""
    for node_id, comment_id in _find_mentions(runtime, {"mentioned": giver, "site": site}):
        _follow(runtime, node_id, comment_id, partial(_given_fields, giver=giver, to=to))


def erase(
    runtime: Runtime, user_id: str, until: datetime | None, most: int, site: str | None = None
) -> Step:
    """Remove a person from at most `most` comments that mention them.

    Returns BUSY if a move or another change prevents some of them.

    `until`: the latest time of posting; None: all comments. `site`: of this site alone.
    """
    where: Document = {"mentioned": user_id, **({"posted": {"$lte": until}} if until else {})}
    if site is not None:
        where["site"] = site
    found = list(itertools.islice(_find_mentions(runtime, where), most))
    new_fields = partial(_new_fields, person=Mention(id=user_id, name=""))
    ends = [_follow(runtime, *each, new_fields) for each in found]
    if not all(ends):
        return Step.BUSY
    return Step.MORE if len(found) == most else Step.DONE


def _find_mentions(runtime: Runtime, where: Document) -> Iterator[tuple[str, str]]:
    fields = {"_id": 0, "node_id": 1, "id": 1}
    for row in ENTRIES.of(runtime.database).find(where, fields):
        yield row["node_id"], row["id"]


def _follow(runtime: Runtime, node_id: str, comment_id: str, new_fields: NewFields) -> bool:
    """Set the changed fields of a comment.

    Returns False if a move of the node, or other changes, prevent it.
    """
    try:
        for _ in range(_ATTEMPTS):
            node = nodes.find(runtime.database, node_id)
            if _change(runtime, node, comment_id, new_fields):
                return True
    except NodeMoved as moved:
        # The entries move along; the caller may have read them at the old id.
        return _follow(runtime, moved.moved_to, comment_id, new_fields)
    except UnknownNode:
        return True
    except Unavailable:
        return False
    return False


def _change(runtime: Runtime, node: Node, comment_id: str, new_fields: NewFields) -> bool:
    """Set the new fields of a comment; return False if it changes meanwhile or does not exist."""
    comment = ask(runtime, node, lambda store, current: store.get(current, comment_id))
    if comment is None:
        # Its post is still running, or crashed before it stored the comment: then the sweep removes
        # the entry.
        return False
    fields = new_fields(runtime, node, comment)
    if not fields:
        # A writer may have crashed between the comment and its entry: correct the entry.
        settle(runtime.database, node, comment)
        return True
    where_read: CommentFields = {
        "text": comment["text"],
        "state": comment["state"],
        "edited": comment["edited"],
    }
    return change_comment(runtime, node, comment_id, fields, where_read) is not None


def _given_fields(
    runtime: Runtime, node: Node, comment: Comment, giver: str, to: str
) -> CommentFields:
    """Return the fields of a comment with the mention of `giver` pointed to `to`.

    Empty without such a mention, or if the new HTML would be too large. If the comment mentions
    both, their mentions become one; the text has the name of `to` twice.
    """
    before, text, site = comment.get("mentions", []), comment["text"], node["site"]
    old = next((each["name"] for each in before if each["id"] == giver), None)
    if text is None or old is None:
        return {}
    people = [Mention(id=to if m["id"] == giver else m["id"], name=m["name"]) for m in before]
    new = next((each["name"] for each in before if each["id"] == to), None)
    if new is not None:
        text = rename_in(text, places_of(runtime, site, text, Mentions(before), old), old, new)
        people = [each for each in before if each["id"] != giver]
    with contextlib.suppress(CommentTooLarge):
        html = render_text(runtime, site, text, Mentions(people), is_new=False)
        return {"text": text, "html": html, "renderer": RENDERER, "mentions": people}
    return {}


def _new_fields(runtime: Runtime, node: Node, comment: Comment, person: Mention) -> CommentFields:
    """Return the changed fields of a comment; empty if it need not or cannot change.

    Only mentions change: the HTML is that of the old text, with the new name in its mentions. A
    comment keeps the old name if the new name would change the reading of its text. If the HTML
    without an erased name is too large, perhaps by a change of the site's images, the comment shows
    its text as plain text.
    """
    before, text = comment.get("mentions", []), comment["text"]
    user_id, name = person["id"], person["name"]
    old = next((each["name"] for each in before if each["id"] == user_id), None)
    if old is None or text is None or old == name:
        return {}
    site, mentions = node["site"], Mentions(before, {user_id: name})
    places = places_of(runtime, site, text, Mentions(before), old)
    others = [each for each in before if each["id"] != user_id]
    renamed = rename_in(text, places, old, name or NOBODY)
    try:
        html = render_text(runtime, site, text, mentions, is_new=False)
        if name:
            mentions = Mentions([*others, person])
            if render_text(runtime, site, renamed, mentions, is_new=False) != html:
                return {}
    except CommentTooLarge:
        if name:
            # The new name is longer; the comment keeps the old name.
            return {}
        html = plain_html(renamed)
    people = mentions.people if name else others
    return {"text": renamed, "html": html, "renderer": RENDERER, "mentions": [*people]}
