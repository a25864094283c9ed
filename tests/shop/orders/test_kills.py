"""Eight processes buy and sweep under SIGKILL: nothing is lost, sold twice or charged for nothing.

A long run: PLAZA_TEST_SHOP_SECONDS=60 script/test tests/shop/orders/test_kills.py -s
"""

import itertools
import os
import random
import time
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

import pytest
from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.runtime import Runtime, utc_now
from chalicelib.shop.orders import sweep
from chalicelib.shop.settings import SITES
from tests.ads.support.crash_workers import run_swarm
from tests.shop.support import book
from tests.shop.support.buyers import runtime_of
from tests.shop.support.buying import stocked
from tests.shop.support.ledger import Figures, figures
from tests.support.http_client import Client

pytestmark = pytest.mark.processes

SECONDS = float(os.environ.get("PLAZA_TEST_SHOP_SECONDS", "3"))
UNITS, FEW = 100_000, 12
# A swarm that does less has shown little; a busy machine takes several.
LEAST, PATIENCE_SECONDS = 3, 120


@pytest.fixture
def open_shop(client: Client, runtime: Runtime) -> Runtime:
    """A shop that keeps what is in carts for two seconds."""
    stocked(client, UNITS)
    SITES.of(runtime.database).update_many({}, {"$set": {"hold_seconds": 2}})
    return runtime


def come_to_rest(database: Database[Document]) -> None:
    """Let every lease and every time end, and sweep what is left."""
    for hours in range(6):
        runtime = runtime_of(database, random.Random(hours))
        later = replace(runtime, now=partial(_later, timedelta(hours=hours)))
        for _ in range(3):
            sweep.sweep(later)


def _later(by: timedelta) -> datetime:
    return utc_now() + by


def trade_under_kills(runtime: Runtime, uri: str) -> tuple[int, Figures]:
    """Have buyers trade and die until enough was sold; return their number, and the figures.

    Nothing may be wrong after any of the swarms.
    """
    died, until = 0, time.monotonic() + PATIENCE_SECONDS
    work, name = "tests.shop.support.buyers:trade", runtime.database.name
    for seed in itertools.count(1):
        died += run_swarm(work, uri, name, seconds=SECONDS, seed=seed)
        come_to_rest(runtime.database)
        found = figures(runtime)
        assert not any(found.wrong), found
        if (died > LEAST and found.sold > LEAST) or time.monotonic() > until:
            break
    return died, found


def told(kind: str, died: int, found: Figures, seconds: float) -> None:
    """Print the figures, for a long run."""
    print(f"\n{kind}: {died} killed in {seconds:.0f} s: {found}")  # noqa: T201 - a measurement


def test_buyers_and_sweeps_that_are_killed_lose_nothing(
    open_shop: Runtime, mongodb_uri: str
) -> None:
    begun = time.monotonic()

    died, found = trade_under_kills(open_shop, mongodb_uri)

    told("in this order", died, found, time.monotonic() - begun)
    assert died > LEAST
    assert found.sold > LEAST


def test_buyers_of_the_last_pieces_who_are_killed_lose_nothing(
    client: Client, runtime: Runtime, mongodb_uri: str
) -> None:
    """So few that carts hold shares, and orders take units from carts that only hold."""
    stocked(client, FEW, hold_percent=50)
    SITES.of(runtime.database).update_many({}, {"$set": {"hold_seconds": 2}})
    begun = time.monotonic()

    died, found = trade_under_kills(runtime, mongodb_uri)

    told("the last pieces", died, found, time.monotonic() - begun)
    assert died > LEAST
    assert LEAST < found.sold <= 2 * FEW


def test_the_sources_order_of_writes_fails_in_the_same_swarm(
    open_shop: Runtime, mongodb_uri: str
) -> None:
    database, begun = open_shop.database, time.monotonic()

    died = run_swarm("tests.shop.support.book:trade", mongodb_uri, database.name, seconds=SECONDS)

    deadline = time.monotonic() + 10
    while database["shop.cart"].count_documents({"state": "open"}) and time.monotonic() < deadline:
        book.repair(database)
    found = figures(open_shop)
    told("in the source's order", died, found, time.monotonic() - begun)
    assert found.lost + found.sold_and_on_the_shelf > 0
    assert found.unbalanced > 0
