"""Comments of guests that wait for a confirmed address, and their release.

A guest may confirm while they post. A confirmation writes the person and then reads waiting
comments; a post writes its comment and then reads the person. So either finds the other.
"""

import contextlib
from typing import NamedTuple

from chalicelib import deadlines
from chalicelib.comments import nodes
from chalicelib.comments.entries.rows import ENTRIES
from chalicelib.comments.errors import UnknownNode
from chalicelib.comments.people.rows import PEOPLE, Person, person_id, status_of
from chalicelib.comments.shapes import Comment, PlacedComment
from chalicelib.comments.store import state_for_author
from chalicelib.comments.stores import ask
from chalicelib.comments.writing import decisions, filing
from chalicelib.database import Document
from chalicelib.errors import Unavailable, UnknownComment
from chalicelib.runtime import Runtime

_AT_ONCE = 100
# Attempts on a comment that other calls change meanwhile.
_ATTEMPTS = 3


class Released(NamedTuple):
    """The number of released comments, and whether the search came to its end."""

    number: int
    is_whole: bool


def release(runtime: Runtime, person: Person) -> Released:
    """Release comments of a guest with a confirmed address, 100 at most.

    They become visible, unless something else holds them; those of a shadowed guest become visible
    to the guest alone. Comments of a guest who may not write wait for a moderator.
    """
    status = status_of(person, runtime.now())
    if status not in {"ok", "shadowed"}:
        return Released(0, is_whole=True)
    waiting: list[Document] = [
        {"state": "pending", "reasons": "unconfirmed"},
        {"state": "hidden", "shadow": "pending"},
    ]
    where = {"site": person["site"], "author_id": person["user_id"], "$or": waiting}
    is_shadowed, has_time = status == "shadowed", deadlines.share(0.5)
    number, is_whole = 0, True
    # A concealed comment does not say in its entry whether it waits for the address.
    for each in ENTRIES.of(runtime.database).find(where, {"node_id": 1, "id": 1}):
        if number == _AT_ONCE or not has_time():
            return Released(number, is_whole=False)
        try:
            released = _release(runtime, each["node_id"], each["id"], is_shadowed=is_shadowed)
        except Unavailable:
            is_whole = False
        else:
            number += released is not None
    return Released(number, is_whole)


def look_again(runtime: Runtime, placed: PlacedComment) -> PlacedComment:
    """Release a new comment whose author has confirmed an address since its verdict."""
    node, comment = placed
    if "unconfirmed" not in comment.get("reasons", []) or comment["author"] is None:
        return placed
    key = {"_id": person_id(node["site"], comment["author"]["id"])}
    person = PEOPLE.of(runtime.database).find_one(key)
    status = "banned" if person is None else status_of(person, runtime.now())
    if person is None or "email_key" not in person or status not in {"ok", "shadowed"}:
        return placed
    is_shadowed = status == "shadowed"
    changed = None
    # The schedule tries again.
    with contextlib.suppress(Unavailable):
        changed = _release(runtime, node["_id"], comment["id"], is_shadowed=is_shadowed)
    return placed if changed is None else PlacedComment(node, changed)


def _release(
    runtime: Runtime, node_id: str, comment_id: str, *, is_shadowed: bool
) -> Comment | None:
    """Release a comment and return it; None: it does not wait. Raises Unavailable."""
    for _ in range(_ATTEMPTS):
        with contextlib.suppress(UnknownNode, UnknownComment):
            node = nodes.find_moved(runtime.database, node_id)
            found = ask(runtime, node, lambda store, current: store.get(current, comment_id))
            if found is None or not _waits(found):
                return None
            fields = filing.fields_of_release(found, is_shadowed=is_shadowed)
            if decisions.conclude(runtime, node, found, fields):
                return {**found, **fields}
    raise Unavailable("Other calls keep changing the comment")


def _waits(comment: Comment) -> bool:
    is_held = comment["state"] in {"pending", "hidden"} and state_for_author(comment) == "pending"
    return is_held and "unconfirmed" in comment.get("reasons", [])
