"""A restore, rehearsed: a database of before, a provider, a bucket and a log of after."""

import io
import json
import logging
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from chalicelib.assets import upkeep
from chalicelib.assets.blobs import store_of
from chalicelib.database import Document
from chalicelib.observability.logs import JsonFormatter, log
from chalicelib.people import jobs
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from chalicelib.shop.orders import sweep
from chalicelib.shop.payments.port import PaymentRefused
from chalicelib.wiring.people import PEOPLE
from deploy import restored
from deploy.restored import Done, Removal, read_audit
from tests.assets.support.files import png
from tests.assets.support.stores import BUCKET, make_bucket
from tests.assets.support.uploading import Uploader, digest
from tests.shop.support.buying import cart_of, check_out, stocked
from tests.shop.support.stripe_stand_in import Stripe, running
from tests.support.clock import START, Clock
from tests.support.http_client import Client
from tests.support.workers import Workers

SITE = "blog"
PAGE = f"{SITE}:moon"
Backup = dict[str, list[Document]]


@pytest.fixture
def stripe() -> Iterator[Stripe]:
    with running() as stand_in:
        yield stand_in


@pytest.fixture
def settings(settings: Settings, stripe: Stripe) -> Settings:
    make_bucket()
    return stripe.settings(settings).model_copy(update={"asset_bucket": BUCKET})


def names_of(runtime: Runtime) -> list[str]:
    names = runtime.database.list_collection_names(filter={"type": "collection"})
    return sorted(name for name in names if not name.startswith("system."))


def back_up(runtime: Runtime) -> Backup:
    """Return all documents of one moment; nothing else runs."""
    found = {name: list(runtime.database[name].find()) for name in names_of(runtime)}
    return {name: documents for name, documents in found.items() if documents}


def bring_back(runtime: Runtime, backup: Backup) -> None:
    for name in {*backup, *back_up(runtime)}:
        runtime.database[name].delete_many({})
        if name in backup:
            runtime.database[name].insert_many(backup[name])


def order_of(client: Client, cart: str, key: str) -> Any:
    reply = check_out(client, cart, key=key)
    assert reply.status == 201, reply.body
    return reply.json["order"]["id"]


class World:
    """People, a shop and pictures in both stores, up to the restore point and after it."""

    def __init__(self, client: Client, runtime: Runtime, stripe: Stripe, clock: Clock) -> None:
        self.client, self.runtime, self.stripe, self.clock = client, runtime, stripe, clock
        self.owner = client.as_("paula", roles=["publisher"], sites=[SITE])
        self.editor = Uploader(self.owner, f"/content/{SITE}")
        for person in ("ann", "ben"):
            assert client.as_(person).put("/users/me").status in {200, 201}
        page = client.as_("root", roles=["admin"])
        assert page.put(f"/nodes/{PAGE}", title="Moon", url="https://blog.example/").status == 201
        for person in ("ann", "ben"):
            self.comment(person)
        stocked(client, 5, payments="stripe")
        self.known = order_of(client, cart_of(client, MOBY_HARD=1), "before")
        own = Uploader(client.as_("ben"), "/users/me")
        self.in_database = own.upload(png(), "image/png")["id"]
        assert self.owner.post(f"/content/{SITE}/assets/store", store="s3").status == 200
        self.in_bucket = self.upload()

    def comment(self, person: str) -> None:
        reply = self.client.as_(person).post(f"/nodes/{PAGE}/comments", text=f"By {person}")
        assert reply.status == 201, reply.body

    def upload(self) -> str:
        picture = png()
        begun = self.editor.begin(picture, "image/png", part_sha256=[digest(picture)]).json
        store_of(self.runtime, "s3").part(begun["id"], self._handle(begun["id"]), 0, picture)
        reply = self.editor.finish(begun)
        assert reply.status == 200, reply.body
        return str(reply.json["id"])

    def _handle(self, upload: str) -> str:
        found = self.runtime.database["content.upload"].find_one({"_id": upload})
        assert found is not None
        return str(found["handle"])

    def go_on(self, workers: Workers) -> None:
        """Do what the restored database will not know."""
        self.clock.advance(minutes=5)
        self.stripe.seconds = int(self.clock().timestamp())
        self.stripe.pay("pi_1")
        self.lost = order_of(self.client, cart_of(self.client, MOBY_HARD=1), "after")
        self.stripe.pay("pi_2")
        assert self.client.as_("ann").delete("/users/me").status == 202
        path = f"/users/me/assets/{self.in_database}/versions/1"
        assert self.client.as_("ben").delete(path).status == 204
        path = f"/content/{SITE}/assets/{self.in_bucket}/versions/1"
        assert self.owner.delete(path).status == 204
        self.upload()
        workers.drain()
        self.clock.advance(hours=1)
        workers.drain()
        upkeep.sweep_waste(self.runtime)


@pytest.fixture
def written() -> Iterator[Callable[[], list[str]]]:
    """Returns the lines of the log, as a deployment writes them."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    log.addHandler(handler)
    log.setLevel("INFO")
    yield lambda: stream.getvalue().splitlines()
    log.removeHandler(handler)


@pytest.fixture
def world(
    client: Client, runtime: Runtime, stripe: Stripe, clock: Clock, workers: Workers
) -> World:
    stripe.seconds = int((START - timedelta(days=1)).timestamp())
    made = World(client, runtime, stripe, clock)
    workers.drain()
    return made


def run(world: World, lines: list[str], point: datetime, *, refunds: bool = False) -> Done:
    return restored.restore(world.runtime, point, read_audit(lines, point), refunds=refunds)


def test_a_restore_repeats_what_the_database_does_not_know(
    world: World, workers: Workers, written: Callable[[], list[str]], stripe: Stripe
) -> None:
    point, backup = world.clock(), back_up(world.runtime)
    world.go_on(workers)
    bring_back(world.runtime, backup)
    assert jobs.count_remaining(world.runtime.database, PEOPLE, "ann") > 0

    done = run(world, written(), point, refunds=True)
    workers.drain()
    upkeep.sweep_waste(world.runtime)
    sweep.sweep(world.runtime)

    assert done.erased == ["ann"]
    assert jobs.count_remaining(world.runtime.database, PEOPLE, "ann") == 0
    assert jobs.count_remaining(world.runtime.database, PEOPLE, "ben") > 0
    assert {each.asset for each in done.removed} == {world.in_database, world.in_bucket}
    for asset in (world.in_database, world.in_bucket):
        assert world.client.get(f"/assets/{asset}/1").status == 404
    assert len(done.unnamed) == 1
    assert set(store_of(world.runtime, "s3").names()) == set()
    assert [each.order for each in done.payments] == [world.lost]
    (refund,) = stripe.refunds
    assert refund["payment_intent"] == "pi_2"
    paid = world.runtime.database["shop.order"].find_one({"_id": world.known})
    assert paid is not None
    assert paid["state"] == "done"


def test_a_second_run_changes_nothing_more(
    world: World, workers: Workers, written: Callable[[], list[str]], stripe: Stripe
) -> None:
    point, backup = world.clock(), back_up(world.runtime)
    world.go_on(workers)
    bring_back(world.runtime, backup)
    run(world, written(), point, refunds=True)
    workers.drain()
    upkeep.sweep_waste(world.runtime)
    after = back_up(world.runtime)
    # An erasure that begins again is noted anew.
    after.pop("social.errand")

    again = run(world, written(), point, refunds=True)
    workers.drain()

    assert (again.missing, again.unnamed, len(stripe.refunds)) == ([], [], 1)
    assert {**back_up(world.runtime), "social.errand": []} == {**after, "social.errand": []}


def test_a_refund_that_the_buyers_bank_refused_is_no_money_given_back(
    world: World, workers: Workers, stripe: Stripe
) -> None:
    point, backup = world.clock(), back_up(world.runtime)
    world.go_on(workers)
    bring_back(world.runtime, backup)
    run(world, [], point, refunds=True)
    stripe.refunds[0]["status"] = "failed"

    with pytest.raises(PaymentRefused, match="refund_failed"):
        run(world, [], point, refunds=True)


def test_without_the_log_lost_bytes_are_found_and_payments_only_told(
    world: World, workers: Workers, stripe: Stripe
) -> None:
    point, backup = world.clock(), back_up(world.runtime)
    world.go_on(workers)
    bring_back(world.runtime, backup)

    done = run(world, [], point)

    assert (done.erased, done.removed) == ([], [])
    # GridFS came back with the database; the bucket did not.
    assert [each.asset for each in done.missing] == [world.in_bucket]
    assert [each.order for each in done.payments] == [world.lost]
    assert stripe.refunds == []
    lines = list(restored.report(done, refunds=False))
    assert lines[-2:] == [
        "1 payments have no order, not given back: run again with --refund",
        f"  pi_2: 18.99 EUR, {world.lost}",
    ]


def line(at: datetime, **fields: Any) -> str:
    given = {"method": "DELETE", "route": "/users/me", "caller": "ann", "status": 202, "things": {}}
    return json.dumps({"time": at.isoformat(), "message": "audit", **given, **fields})


def test_the_log_is_read_by_its_audit_lines_after_the_point() -> None:
    lines = [
        line(START - timedelta(seconds=1), caller="too-early"),
        f"2026-11-25T14:00:00Z 1f0 {line(START)}",
        line(START, caller="refused", status=401),
        line(START, caller="reads", method="GET"),
        line(START, caller="else", route="/users/me/circles/{circle}"),
        json.dumps({"message": "request", "time": START.isoformat()}),
        "REPORT RequestId: 1",
        "{broken",
        line(
            START,
            caller="ben",
            route="/users/me/assets/{asset}/versions/{number}",
            status=204,
            things={"asset": "a1", "number": "2"},
        ),
        line(
            START,
            route="/content/{site}/assets/{asset}/versions/{number}",
            status=204,
            things={"site": "blog", "asset": "a2", "number": "1"},
        ),
    ]

    found = read_audit(lines, START)

    assert found.erasures == ["ann"]
    assert found.removals == [Removal("~ben", "a1", 2), Removal("blog", "a2", 1)]
