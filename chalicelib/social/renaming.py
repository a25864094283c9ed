"""Bringing a user's new name to every copy: in the graph, on posts and on comments.

A worker that has been overtaken by another change of the name stops; what it, or a request
that had read the former name, still writes afterwards is found by the second pass that
`errands.run` gives every renaming.
"""

from functools import partial

from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.runtime import Runtime
from chalicelib.social import comments, graph, posts, users
from chalicelib.social.activity import naming
from chalicelib.social.graph_store import Person
from chalicelib.social.messages import Spread

_POSTS_AT_ONCE = 1_000


def rename(runtime: Runtime, user_id: str) -> None:
    """Make every copy of a user's name the one that the user has now."""
    user = users.collection(runtime.database).find_one({"_id": user_id}, {"name": 1})
    if user is None:
        return
    person = Person(user_id, user["name"])
    _in_graph(runtime.database, person)
    other = {"by.id": user_id, "by.name": {"$ne": person.name}}
    _on_posts(runtime, person, other, {"by.name": person.name}, [])
    each = {f"each.{field}": value for field, value in other.items()}
    _on_posts(
        runtime,
        person,
        {"comments": {"$elemMatch": other}},
        {"comments.$[each].by.name": person.name},
        [each],
    )
    older = runtime.database[comments.OLDER_COMMENTS.name]
    older.update_many(other, {"$set": {"by.name": person.name}})
    naming.rename_user(runtime.database, user_id, person.name)


def _in_graph(database: Database[Document], person: Person) -> None:
    """Rename a person in the documents of those who circle them, and of their members.

    The embedded store is asked before the edges, as a promotion moves ties from there to here.
    """
    stores = graph.stores(database).values()
    for held_in in stores:
        for page in graph.pages(partial(held_in.followers, person.id)):
            for store in stores:
                store.rename(person, [each.id for each in page], [])
        for page in graph.pages(partial(held_in.members, person.id, None)):
            for store in stores:
                store.rename(person, [], [each.id for each in page])


def _on_posts(
    runtime: Runtime, person: Person, where: Document, change: Document, filters: list[Document]
) -> None:
    """Change posts, a thousand at a time, and have each brought to its copies."""
    rows = posts.collection(runtime.database)
    while found := [post["_id"] for post in rows.find(where, {"_id": 1}).limit(_POSTS_AT_ONCE)]:
        if not _is_called(runtime.database, person):
            return
        update = posts.marked(runtime, {"$set": change})
        rows.update_many({"_id": {"$in": found}}, update, array_filters=filters or None)
        runtime.queues.send(*(Spread(post_id=post_id) for post_id in found))


def _is_called(database: Database[Document], person: Person) -> bool:
    """Tell whether the name is still the person's; or two workers would undo each other's work."""
    now = {"_id": person.id, "name": person.name}
    return users.collection(database).find_one(now, {"_id": 1}) is not None
