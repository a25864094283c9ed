"""Processes that tell of comments until a test kills them, each comment several times."""

import random
from collections.abc import Mapping
from datetime import datetime

from pydantic import SecretStr
from pymongo.database import Database

from chalicelib.comments import notifications
from chalicelib.database import Document
from chalicelib.notifications.events import Notify
from chalicelib.runtime import Runtime, utc_now
from chalicelib.settings import Settings
from tests.social.support.drivers import Courier

NODE = "harbour:moon"
# A row for each comment: how often a worker has taken its message to the end, and a drawn place.
TOLD = "test.told"
TIMES = 3
LEFT: Document = {"times": {"$lt": TIMES}}
_AT_ONCE = 5


def owe(database: Database[Document], comments: Mapping[str, datetime], rng: random.Random) -> None:
    """Note the comments that workers are to tell of, by their ids and times."""
    told = database[TOLD]
    told.drop()
    # Whatever is told in whatever order, the next comments are found at once.
    told.create_index("place", partialFilterExpression=LEFT)
    rows = [
        {"_id": id_, "posted": posted, "place": rng.random(), "times": 0}
        for id_, posted in comments.items()
    ]
    told.insert_many(rows)


def tell(database: Database[Document], rng: random.Random) -> None:
    """Take messages of some comments that were not yet told three times, in any order."""
    for start in (rng.random(), 0):
        left = database[TOLD].find({**LEFT, "place": {"$gte": start}})
        rows = list(left.sort("place").limit(_AT_ONCE))
        if rows:
            break
    messages = [row["_id"] for row in rows] * TIMES
    rng.shuffle(messages)
    settings = Settings(mongodb_uri=SecretStr("mongodb://unused"), database=database.name)
    # By the test's own clock: old comments tell nobody.
    now = max((row["posted"] for row in rows), default=utc_now())
    runtime = Runtime(database, Courier(), lambda: now, rng, settings)
    for each in messages:
        notifications.run(runtime, Notify(comment=f"{NODE}/{each}"))
        database[TOLD].update_one({"_id": each}, {"$inc": {"times": 1}})
