"""Bringing a user's new name to every copy: in the graph, on posts and on comments."""

from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.runtime import Runtime
from chalicelib.social import comments, graph, posts, users
from chalicelib.social.graph_store import IdRange, Person
from chalicelib.social.messages import Spread

_PAGE = 1_000


def rename(runtime: Runtime, user_id: str) -> None:
    """Make every copy of a user's name the one that the user has now."""
    user = users.collection(runtime.database).find_one({"_id": user_id}, {"name": 1})
    if user is None:
        return
    person = Person(user_id, user["name"])
    _in_graph(runtime.database, person)
    other = {"by.id": user_id, "by.name": {"$ne": person.name}}
    _on_posts(runtime, other, {"by.name": person.name}, [])
    each = {f"each.{field}": value for field, value in other.items()}
    _on_posts(
        runtime,
        {"comments": {"$elemMatch": other}},
        {"comments.$[each].by.name": person.name},
        [each],
    )
    older = runtime.database[comments.OLDER_COMMENTS.name]
    older.update_many(other, {"$set": {"by.name": person.name}})


def _in_graph(database: Database[Document], person: Person) -> None:
    for page in graph.all_followers(database, person.id):
        for store in graph.stores(database).values():
            store.rename(person, [each.id for each in page], [])
    ids = IdRange(limit=_PAGE)
    own_store = graph.store_of(database, person.id)
    while page := own_store.members(person.id, None, ids):
        for store in graph.stores(database).values():
            store.rename(person, [], [each.id for each in page])
        ids = ids._replace(after=page[-1].id)


def _on_posts(runtime: Runtime, where: Document, change: Document, filters: list[Document]) -> None:
    """Change posts, a thousand at a time, and have each brought to its copies."""
    rows = posts.collection(runtime.database)
    while found := [post["_id"] for post in rows.find(where, {"_id": 1}).limit(_PAGE)]:
        rows.update_many(
            {"_id": {"$in": found}},
            {
                "$set": {**change, "spread.due": posts.lease_end(runtime)},
                "$inc": {"spread.version": 1},
            },
            array_filters=filters or None,
        )
        runtime.queues.send(*(Spread(post_id=post_id) for post_id in found))
