"""Somebody scrolls while others comment, all at the same time and by the real clock."""

import dataclasses
import random
import threading
from collections.abc import Iterator
from datetime import timedelta

from chalicelib.http import PageQuery
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime, utc_now
from chalicelib.social.activity.actions import events
from chalicelib.social.activity.feed import reading, reranking
from tests.social.activity.support.bulk import plant
from tests.social.activity.support.office import Office
from tests.social.support.drivers import Courier

COMMENTERS, PAGE = 2, 5


def scroll(runtime: Runtime, reader: str) -> Iterator[tuple[list[str], int]]:
    """Yield a feed's pages, each with what has risen since the first."""
    query = PageQuery(limit=PAGE)
    while True:
        read = reading.read(runtime, reader, query)
        yield [each["id"] for each in read["actions"]], read["newer"]
        if read["next"] is None:
            return
        query = PageQuery(limit=PAGE, cursor=read["next"])


def test_nothing_comes_twice_and_nothing_that_stayed_is_missing(office: Office) -> None:
    here = dataclasses.replace(office.runtime, queues=Courier(), now=utc_now)
    planted = plant(here, "bob", 1_000, utc_now() - timedelta(days=2))
    shown: list[str] = []
    newer, risen = 0, set[str]()
    done = threading.Event()

    def comment(seed: int) -> None:
        rng, ann = random.Random(seed), Principal("ann", "Ann")
        while not done.is_set():
            action = rng.choice(planted)
            risen.add(action)
            event = events.comment(here, action, ann, "So it is")
            reranking.rank(here, action, event["id"], "")

    threads = [threading.Thread(target=comment, args=(seed,)) for seed in range(COMMENTERS)]
    for thread in threads:
        thread.start()
    try:
        for ids, count in scroll(here, "bob"):
            shown += ids
            assert count >= newer
            newer = count
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert len(shown) == len(set(shown))
    assert set(planted) - set(shown) <= risen
    # Some are being written while the first page is read, some while the last one is.
    assert len(set(planted) - set(shown)) <= newer <= len(risen)
    assert newer > 0
