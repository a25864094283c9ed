"""Feeds of any size, written straight to the collections."""

from datetime import datetime, timedelta
from typing import Any

from chalicelib.database import Document
from chalicelib.runtime import Runtime
from chalicelib.social.activity.actions.actions import UNTOUCHED
from chalicelib.social.delivery import state
from tests.social.activity.support.office import APPLIED

ANN = {"id": "ann", "name": "Ann"}


def plant(
    runtime: Runtime, reader: str, count: int, first: datetime, bodies: int | None = None
) -> list[str]:
    """Give a reader so many actions of Ann's team, a minute apart; return their ids, newest first.

    Without ties, each stands where it was conducted. Only the newest `bodies` have an action.
    """
    ids = [f"action{number:010}" for number in range(count)]
    times = [first + timedelta(minutes=number) for number in range(count)]
    items = [item(reader, id_, time) for id_, time in zip(ids, times, strict=True)]
    runtime.database["feed.item"].insert_many(items, ordered=False)
    bodies = count if bodies is None else bodies
    actions = [action(runtime, id_, time) for id_, time in zip(ids, times, strict=True)]
    runtime.database["feed.action"].insert_many(actions[-bodies:], ordered=False)
    return ids[::-1]


def item(reader: str, action_id: str, relevancy: datetime) -> Document:
    """Return an item as it is stored."""
    return {
        "_id": f"{reader}:{action_id}",
        "user_id": reader,
        "action_id": action_id,
        "relevancy": relevancy,
        "risen": relevancy,
        "own": False,
        "hidden": False,
        "hidden_version": 0,
        "refilled": 0,
    }


def action(runtime: Runtime, action_id: str, conducted: datetime, **given: Any) -> Document:
    """Return an action of Ann's team as it is stored, its fan-out done."""
    return {
        "_id": action_id,
        "actor": ANN,
        "conducted": conducted,
        "scope": "team",
        "audience": [],
        "team": "hiring",
        "department": "people",
        "refs": [],
        "descriptor": APPLIED,
        "tags": APPLIED["tags"],
        "mentions": ["ann", "engineer", "mary"],
        **UNTOUCHED,
        "fan_out": {**state.new(runtime), "state": "done"},
        **given,
    }
