"""A process that votes in a poll as several people at once, until a test kills it."""

import random
import sys
from concurrent.futures import ThreadPoolExecutor

from pydantic import SecretStr
from pymongo import MongoClient

from chalicelib.database import Document, open_database
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime, utc_now
from chalicelib.settings import Settings
from chalicelib.social.posts import votes
from tests.social.support.drivers import Courier


def main(uri: str, database: str, post: str) -> None:
    """Vote, change and withdraw; say so after each."""
    settings = Settings(mongodb_uri=SecretStr(uri), database=database)
    client: MongoClient[Document] = MongoClient(uri)
    runtime = Runtime(
        open_database(client, database), Courier(), utc_now, random.SystemRandom(), settings
    )

    def vote(name: str) -> None:
        who = Principal(id=name, name=name.title(), roles=frozenset())
        while True:
            if runtime.random.random() < 0.1:
                votes.withdraw(runtime, post, who)
            votes.cast(runtime, post, who, runtime.random.choice(["18:00", "18:30", "19:00"]))
            # One write: the threads share the pipe.
            print("voted\n", end="", flush=True)  # noqa: T201 - the test waits for it

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(vote, ("v0", "v1", "v2")))


if __name__ == "__main__":
    main(*sys.argv[1:])
