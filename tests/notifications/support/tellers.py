"""Processes that tell of comments until a test kills them, each comment several times."""

import random

from pydantic import SecretStr
from pymongo.database import Database

from chalicelib.comments import notifications
from chalicelib.comments.stores.documents import COMMENTS
from chalicelib.database import Document
from chalicelib.notifications.events import Notify
from chalicelib.runtime import Runtime, utc_now
from chalicelib.settings import Settings
from tests.social.support.drivers import Courier

NODE = "harbour:moon"
# How often a worker has taken the message of each comment to its end.
TOLD = "test.told"
TIMES = 3
_AT_ONCE = 5


def tell(database: Database[Document], rng: random.Random) -> None:
    """Take messages of some comments that were not yet told three times, in any order."""
    where: Document = {"node_id": NODE, "parent_id": {"$ne": None}}
    left: list[Document] = [
        {"$match": where},
        {"$lookup": {"from": TOLD, "localField": "id", "foreignField": "_id", "as": "told"}},
        {"$match": {"$expr": {"$lt": [{"$ifNull": [{"$first": "$told.times"}, 0]}, TIMES]}}},
        {"$sample": {"size": _AT_ONCE}},
        {"$project": {"id": 1, "posted": 1}},
    ]
    rows = list(COMMENTS.of(database).aggregate(left))
    messages = [row["id"] for row in rows] * TIMES
    rng.shuffle(messages)
    settings = Settings(mongodb_uri=SecretStr("mongodb://unused"), database=database.name)
    # By the test's own clock: old comments tell nobody.
    now = max((row["posted"] for row in rows), default=utc_now())
    runtime = Runtime(database, Courier(), lambda: now, rng, settings)
    for each in messages:
        notifications.run(runtime, Notify(comment=f"{NODE}/{each}"))
        database[TOLD].update_one({"_id": each}, {"$inc": {"times": 1}}, upsert=True)
