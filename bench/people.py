"""People and posts in numbers, written straight to the collections."""

from chalicelib.database import Document
from chalicelib.identity import Principal
from chalicelib.ids import new_id
from chalicelib.runtime import Runtime
from chalicelib.social.graph import users
from chalicelib.social.graph.store import StoreName
from chalicelib.social.graph.stores.edges import EDGES, edge_filter
from chalicelib.social.posts import posts
from chalicelib.social.posts.forms import new_post_model
from chalicelib.social.posts.shapes import ReadPost
from chalicelib.social.timelines import news
from chalicelib.social.timelines.references import NEWS_ITEMS

AUTHOR, READER = "author", "reader"
_CIRCLE = "read"


def seed_followers(runtime: Runtime, size: int, store: StoreName = "edges") -> list[str]:
    """Give the author this many followers, in one store or the other; return their ids."""
    pattern = _user(runtime, AUTHOR)
    names = [f"u{number:06}" for number in range(size)]
    people = runtime.database[users.USERS.name]
    entry = {"name": "Reader", "circles": [_CIRCLE]}
    followers = dict.fromkeys(names, entry) if store == "embedded" else {}
    people.update_one(
        {"_id": AUTHOR},
        {"$set": {"counts.followers": size, "graph_store": store, "followers": followers}},
    )
    same = {"names": {"owner": "Reader", "member": "Author"}, "since": runtime.now()}
    people.insert_many([{**pattern, "_id": name} for name in names], ordered=False)
    if store == "edges":
        edges = [{**edge_filter(name, AUTHOR), "circles": [_CIRCLE], **same} for name in names]
        runtime.database[EDGES.name].insert_many(edges, ordered=False)
    return names


def seed_followed(runtime: Runtime, authors: int, posts_each: int) -> None:
    """Give the reader a circle of `authors` with `posts_each` posts, all delivered."""
    _user(runtime, READER)
    names = [f"a{number:03}" for number in range(authors)]
    for name in names:
        _user(runtime, name)
    members = {name: {"name": name.title()} for name in names}
    circle = {"name": "Read", "members": members}
    runtime.database[users.USERS.name].update_one(
        {"_id": READER},
        {"$set": {f"circles.{_CIRCLE}": circle, "counts.following": authors}},
    )
    for name in names * posts_each:
        if view := news.stored_design(runtime):
            view.add([seed_post(runtime, name)], [READER])


def leave_to_readers(runtime: Runtime, authors: int) -> None:
    """Make the first of the followed authors such whose posts the reader has to find."""
    names = [f"a{number:03}" for number in range(authors)]
    theirs = {"by.id": {"$in": names}}
    stored = runtime.database[posts.POSTS.name]
    ids = [post["_id"] for post in stored.find(theirs, {"_id": 1})]
    stored.update_many(theirs, {"$set": {"fan_out.pull": True}})
    runtime.database[NEWS_ITEMS.name].delete_many({"post_id": {"$in": ids}})
    where = {"_id": {"$in": names}}
    runtime.database[users.USERS.name].update_many(where, {"$set": {"pulled": True}})


def seed_post(runtime: Runtime, author: str = AUTHOR) -> ReadPost:
    """Store a public post of an author whose fan-out is pending; return it as it is stored."""
    text = f"A post of a usual length, {new_id(runtime.now(), runtime.random)}. " * 4
    new = new_post_model("status").model_validate(
        {"type": "status", "detail": {"text": text}, "circles": ["*public*"]}
    )
    return posts.publish(runtime, Principal(author, author.title()), new)


def _user(runtime: Runtime, user_id: str) -> Document:
    users.ensure(runtime, Principal(user_id, user_id.title()))
    found = runtime.database[users.USERS.name].find_one({"_id": user_id})
    assert found is not None  # noqa: S101 - it was made just now
    return found
