"""Listings by ref and by tag: their actions, newest first."""

from typing import Any

from pymongo import DESCENDING

from chalicelib.database import Document
from chalicelib.http import PageQuery
from chalicelib.runtime import Runtime
from chalicelib.social.activity.actions import actions
from chalicelib.social.activity.actions.models import action_answer, fields_for
from chalicelib.social.activity.actions.shapes import ReadAction
from chalicelib.social.activity.actions.visibility import may_see
from chalicelib.social.activity.org import people
from chalicelib.social.paging import pages
from chalicelib.social.paging.positions import Entry, Position, older_than


def of_ref(runtime: Runtime, reader_id: str, ref_id: str, query: PageQuery) -> dict[str, Any]:
    """Return `{actions, next}` of the actions about a ref."""
    return _listing(runtime, reader_id, {"refs.id": ref_id}, f"ref:{ref_id}:{reader_id}", query)


def of_tag(runtime: Runtime, reader_id: str, tag: str, query: PageQuery) -> dict[str, Any]:
    """Return `{actions, next}` of the actions with a tag."""
    return _listing(runtime, reader_id, {"tags": tag}, f"tag:{reader_id}:{tag}", query)


def _listing(
    runtime: Runtime, reader_id: str, about: Document, scope: str, query: PageQuery
) -> dict[str, Any]:
    def fetch(after: Position | None, count: int) -> list[Entry[ReadAction]]:
        where = about | older_than(after, "conducted", "_id")
        order = [("conducted", DESCENDING), ("_id", DESCENDING)]
        rows = actions.ACTIONS.of(runtime.database).find(where, fields_for(reader_id))
        return [
            Entry(Position(action["conducted"], action["_id"]), action)
            for action in rows.sort(order).limit(count)
        ]

    def show(found: list[ReadAction]) -> list[ReadAction | None]:
        actors = {action["actor"]["id"] for action in found}
        org, blocked = people.viewpoint(runtime.database, reader_id, actors)
        return [action if may_see(action, reader_id, org, blocked) else None for action in found]

    view = pages.Listing(scope, fetch, show, action_answer)
    found, following = pages.checked(runtime, query, view)
    return {"actions": found, "next": following}
