"""Listings by ref, by tag and by person: their actions, newest first."""

from pymongo import DESCENDING

from chalicelib.database import Document
from chalicelib.http import PageQuery
from chalicelib.runtime import Runtime
from chalicelib.social import paging
from chalicelib.social.activity.actions import actions, types
from chalicelib.social.activity.actions.answers import ActionsAnswer, action_answer
from chalicelib.social.activity.actions.forms import DoneQuery
from chalicelib.social.activity.actions.shapes import ReadAction, fields_for
from chalicelib.social.activity.actions.visibility import may_see
from chalicelib.social.activity.org import people
from chalicelib.social.paging import ListEntry, ListPosition, older_than


def of_ref(runtime: Runtime, reader_id: str, ref_id: str, query: PageQuery) -> ActionsAnswer:
    """Return a page of the actions about a ref."""
    return _listing(runtime, reader_id, {"refs.id": ref_id}, f"ref:{ref_id}:{reader_id}", query)


def of_tag(runtime: Runtime, reader_id: str, tag: str, query: PageQuery) -> ActionsAnswer:
    """Return a page of the actions with a tag."""
    return _listing(runtime, reader_id, {"tags": tag}, f"tag:{reader_id}:{tag}", query)


def of_person(runtime: Runtime, reader_id: str, user_id: str, query: DoneQuery) -> ActionsAnswer:
    """Return a page of a person's actions of a type: ratings, hirings, and so on."""
    named: Document = {"mentions": user_id, "descriptor.type": query.type}
    about = {**named, "$and": [{"$or": types.by_person(query.type, user_id)}]}
    return _listing(runtime, reader_id, about, f"done:{query.type}:{user_id}:{reader_id}", query)


def _listing(
    runtime: Runtime, reader_id: str, about: Document, scope: str, query: PageQuery
) -> ActionsAnswer:
    def fetch(after: ListPosition | None, count: int) -> list[ListEntry[ReadAction]]:
        where = about | older_than(after, "conducted", "_id")
        order = [("conducted", DESCENDING), ("_id", DESCENDING)]
        rows = actions.ACTIONS.of(runtime.database).find(where, fields_for(reader_id))
        return [
            ListEntry(ListPosition(action["conducted"], action["_id"]), action)
            for action in rows.sort(order).limit(count)
        ]

    def show(found: list[ReadAction]) -> list[ReadAction | None]:
        actors = {action["actor"]["id"] for action in found}
        org, blocked = people.viewpoint(runtime.database, reader_id, actors)
        return [action if may_see(action, reader_id, org, blocked) else None for action in found]

    view = paging.PageSource(scope, fetch, show, action_answer)
    found, following = paging.read_page(runtime, query, view)
    return {"actions": found, "next": following}
