"""A worker in a process of its own, which a test may kill: delivers every unfinished post."""

import random
import sys

from pydantic import SecretStr
from pymongo import MongoClient

from chalicelib.bounds import Bounds, SocialBounds
from chalicelib.database import Document, open_database
from chalicelib.runtime import Runtime, utc_now
from chalicelib.settings import Settings
from chalicelib.social.delivery import engine
from chalicelib.social.timelines.post_fan_out import OF_POSTS
from tests.social.support.drivers import Courier


def main(uri: str, database: str, chunk_readers: str) -> None:
    """Sweep and deliver, each message twice and in any order, until the process is killed."""
    bounds = Bounds(social=SocialBounds(chunk_readers=int(chunk_readers)))
    courier = Courier()
    settings = Settings(mongodb_uri=SecretStr(uri), database=database, lease_ms=500)
    client: MongoClient[Document] = MongoClient(uri)
    runtime = Runtime(
        open_database(client, database),
        courier,
        utc_now,
        random.SystemRandom(),
        settings,
        bounds,
    )
    print("ready", flush=True)  # noqa: T201 - the test waits for it
    while True:
        engine.sweep(runtime, OF_POSTS)
        courier.deliver(runtime, random.Random(7), twice=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
