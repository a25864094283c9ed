"""A worker in a process of its own, which a test may kill: delivers every unfinished post."""

import random
import sys

from pydantic import SecretStr
from pymongo import MongoClient

from chalicelib.database import Document, open_database
from chalicelib.runtime import Runtime, utc_now
from chalicelib.settings import Settings
from chalicelib.social.delivery import engine
from chalicelib.social.timelines import post_fan_out
from tests.social.support.drivers import Courier


def main(uri: str, database: str, chunk_readers: str) -> None:
    """Sweep and deliver, each message twice and in any order, until the process is killed."""
    engine.CHUNK_READERS = int(chunk_readers)
    courier = Courier()
    settings = Settings(mongodb_uri=SecretStr(uri), database=database, lease_ms=500)
    client: MongoClient[Document] = MongoClient(uri)
    runtime = Runtime(
        open_database(client, database), courier, utc_now, random.SystemRandom(), settings
    )
    print("ready", flush=True)  # noqa: T201 - the test waits for it
    while True:
        post_fan_out.sweep(runtime)
        courier.deliver(runtime, random.Random(7), twice=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
