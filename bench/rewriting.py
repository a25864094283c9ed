"""Cost of the command `rewrite_documents`, beside one plain update of each document."""

import itertools
from collections.abc import Callable
from datetime import datetime, timedelta

from bench.case import Case
from bench.stage import Stage
from chalicelib.database import Document
from chalicelib.ids import new_id
from chalicelib.runtime import Runtime
from chalicelib.social.activity.actions import actions, events
from chalicelib.wiring import rewrites

NAME = "reactions_by_kind"
REACTIONS = 3


def reactions_by_kind(
    stage: Stage, size: int, action: Callable[[Runtime, str, datetime], Document]
) -> Case:
    """Return the rewrite of this many actions, whose reactions nobody has counted by kind."""
    runtime = stage.with_database(f"rewriting-{size}").runtime
    rows = runtime.database[actions.ACTIONS.name]
    now, numbers = runtime.now(), itertools.count()
    ids = [new_id(now - timedelta(seconds=n), runtime.random) for n in range(size)]
    rows.insert_many([action(runtime, id_, now) for id_ in ids], ordered=False)
    given = [(id_, f"u{n}") for id_ in ids for n in range(REACTIONS)]
    runtime.database[events.EVENTS.name].insert_many(
        [
            {
                "_id": f"{id_}:{user}",
                "action_id": id_,
                "type": "reaction",
                "kind": "like",
                "by": {"id": user, "name": user},
                "ts": now,
            }
            for id_, user in given
        ],
        ordered=False,
    )

    def forget() -> None:
        change = {"$set": {"reaction_count": REACTIONS}, "$unset": {"reactions": ""}}
        rows.update_many({}, change)

    def update_each() -> None:
        # A whole field, as the rewrite sets it.
        raised = {"$set": {"reactions": {"like": next(numbers)}}}
        for id_ in ids:
            rows.update_one({"_id": id_}, raised)

    def rewrite() -> None:
        found = rewrites.run(runtime, NAME)
        if (found["is_done"], found["changed"]) != (True, size):
            raise AssertionError(found)

    return Case(
        "a rewrite of actions",
        rewrite,
        update_each,
        floor_is="an update of each document",
        size=size,
        unit="actions",
        items=size,
        door="function",
        prepare=forget,
        samples_at_most=5,
    )
