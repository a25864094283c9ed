"""A restore repeats what the database of before does not know: erasures, payments, assets, people.

A database of before, a provider, a bucket and a log of after.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from chalicelib.assets import upkeep
from chalicelib.assets.blobs import store_of
from chalicelib.assets.errors import StoreUnavailable
from chalicelib.people import jobs
from chalicelib.runtime import Runtime
from chalicelib.shop.orders import reconciliation, sweep
from chalicelib.wiring.people import PEOPLE
from deploy import restored, restored_assets
from deploy.replay import read_audit
from deploy.restored import Done, Orders
from deploy.restored_assets import BucketLacksMost, Deleted
from tests.assets.support.files import png
from tests.assets.support.stores import make_bucket
from tests.assets.support.uploading import Uploader
from tests.deploy.support.restoring import (
    PAGE,
    SITE,
    World,
    audit_line,
    back_up,
    bring_back,
    order_of,
)
from tests.shop.support.buying import cart_of, stored_order
from tests.shop.support.stripe_stand_in import Stripe
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers


def run(
    world: World,
    lines: list[str],
    point: datetime,
    *,
    refunds: bool = False,
    accepts_losses: bool = False,
) -> Done:
    return restored.restore(
        world.runtime,
        point,
        read_audit(lines, point),
        refunds=refunds,
        accepts_losses=accepts_losses,
    )


def test_a_restore_repeats_what_the_database_does_not_know(
    world: World, workers: Workers, written: Callable[[], list[str]], stripe: Stripe
) -> None:
    point, backup = world.clock(), back_up(world.runtime)
    world.go_on(workers)
    bring_back(world.runtime, backup)
    assert jobs.count_remaining(world.runtime.database, PEOPLE, "ann") > 0

    done = run(world, written(), point, refunds=True)
    workers.drain()
    world.clock.advance(minutes=16)
    upkeep.sweep_waste(world.runtime)
    sweep.sweep(world.runtime)

    assert done.erased == ["ann"]
    assert jobs.count_remaining(world.runtime.database, PEOPLE, "ann") == 0
    assert jobs.count_remaining(world.runtime.database, PEOPLE, "ben") > 0
    assert {each.asset for each in done.removed} == {world.in_database, world.in_bucket}
    for asset in (world.in_database, world.in_bucket):
        assert world.client.get(f"/assets/{asset}/1").status == 404
    assert len(done.unnamed or []) == 1
    assert set(store_of(world.runtime, "s3").names()) == set()
    assert [each.order for each in done.payments or []] == [world.lost]
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
    world.clock.advance(minutes=16)
    upkeep.sweep_waste(world.runtime)
    after = back_up(world.runtime)
    # An erasure that begins again is noted anew.
    after.pop("social.errand")

    again = run(world, written(), point, refunds=True)
    workers.drain()

    assert (again.missing, again.unnamed, len(stripe.refunds)) == ([], [], 1)
    assert {**back_up(world.runtime), "social.errand": []} == {**after, "social.errand": []}


def test_a_refund_that_the_buyers_bank_refused_is_no_money_and_keeps_no_other(
    world: World, workers: Workers, stripe: Stripe
) -> None:
    point, backup = world.clock(), back_up(world.runtime)
    world.go_on(workers)
    bring_back(world.runtime, backup)
    run(world, [], point, refunds=True, accepts_losses=True)
    stripe.refunds[0]["status"] = "failed"

    other = order_of(world.client, cart_of(world.client, MOBY_HARD=1), "other")
    stripe.pay("pi_3")
    world.runtime.database["shop.order"].delete_one({"_id": other})

    done = run(world, [], point, refunds=True, accepts_losses=True)

    assert [str(each) for each in done.refused] == ["pi_2 (refund_failed)"]
    assert [each["payment_intent"] for each in stripe.refunds] == ["pi_2", "pi_3"]
    told = list(restored.report(done, refunds=True))
    assert told[-1] == "1 of them are refused: pi_2 (refund_failed)"


def test_a_file_that_a_worker_names_meanwhile_stays(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The documented second run meets workers that move a library to the bucket."""
    asset, at = world.in_bucket, world.clock()
    rows = world.runtime.database["content.asset"]
    named = restored_assets._named_blobs
    looks: list[set[str]] = []

    def switch_after_the_first_look(runtime: Runtime) -> set[str]:
        # As if the version named its new blob after the look only.
        found = named(runtime)
        looks.append(found)
        return found if len(looks) > 1 else set()

    monkeypatch.setattr(restored_assets, "_named_blobs", switch_after_the_first_look)
    done = run(world, [], at)
    world.clock.advance(minutes=16)
    upkeep.sweep_waste(world.runtime)

    assert (len(looks), done.unnamed) == (2, [])
    stored = rows.find_one({"_id": asset})
    assert stored is not None
    assert stored["versions"][0]["blob"] in set(store_of(world.runtime, "s3").names())


def test_what_an_erased_person_had_claimed_after_the_point_is_erased_again(
    world: World, workers: Workers, written: Callable[[], list[str]], stripe: Stripe
) -> None:
    admin = world.client.as_("root", roles=["admin"])
    assert admin.put(f"/sites/{SITE}/comments/settings", guests="name").status == 200
    world.clock.advance(seconds=6)
    token = world.client.post(f"/sites/{SITE}/guests", name="Passenger").json["token"]
    guest = Client(world.client.app, world.client.token, {"Authorization": f"Bearer {token}"})
    assert guest.post(f"/nodes/{PAGE}/comments", text="By a guest").status == 201
    stripe.pay("pi_1")
    paid = world.client.post(f"/orders/{world.known}/payment?cart={world.cart}")
    assert paid.json["order"]["state"] == "done"
    point, backup = world.clock(), back_up(world.runtime)
    world.clock.advance(minutes=1)
    ann = world.client.as_("ann")
    assert ann.post(f"/sites/{SITE}/people/me/joined", token=token).status == 202
    assert ann.post(f"/carts/{world.cart}/claim").status == 200
    assert ann.delete("/users/me").status == 202
    workers.drain()
    bring_back(world.runtime, backup)
    assert stored_order(world.runtime, world.known)["email"] is not None

    done = run(world, written(), point)
    workers.drain()

    assert (len(done.erased), done.orders.erased) == (2, [world.known])
    assert stored_order(world.runtime, world.known)["email"] is None
    texts = [each["text"] for each in world.client.get(f"/nodes/{PAGE}/comments").json["comments"]]
    assert texts == ["By ben"]


def test_without_the_log_lost_bytes_are_found_and_payments_only_told(
    world: World, workers: Workers, stripe: Stripe
) -> None:
    point, backup = world.clock(), back_up(world.runtime)
    world.go_on(workers)
    bring_back(world.runtime, backup)

    done = run(world, [], point, accepts_losses=True)

    assert (done.erased, done.removed) == ([], [])
    # GridFS came back with the database; the bucket did not.
    assert [each.asset for each in done.missing] == [world.in_bucket]
    assert [each.order for each in done.payments or []] == [world.lost]
    assert stripe.refunds == []
    lines = list(restored.report(done, refunds=False))
    assert lines[-2:] == [
        "1 payments have no order, not given back: run again with --refund",
        f"  pi_2: 18.99 EUR, {world.lost}",
    ]


def test_a_choice_of_no_letters_is_in_the_log(
    world: World, written: Callable[[], list[str]]
) -> None:
    reply = world.client.as_("ben").put("/notifications/mail", every="off")
    assert reply.status == 200, reply.body

    assert read_audit(written(), world.clock()).stopped == {"ben"}


def test_a_run_says_what_it_had_nothing_to_compare_with(world: World) -> None:
    change = {"payments": None, "asset_bucket": None}
    runtime = replace(world.runtime, settings=world.runtime.settings.model_copy(update=change))
    runtime.database["content.asset"].delete_many({})

    done = restored.restore(runtime, world.clock(), read_audit([], world.clock()), refunds=True)

    assert (done.payments, done.unnamed) == (None, None)
    lines = list(restored.report(done, refunds=True))
    assert "no bucket was compared: PLAZA_ASSET_BUCKET is not set" in lines
    assert lines[-1] == "no payments were compared: PLAZA_PAYMENTS is not set"


def test_without_the_bucket_of_its_assets_nothing_is_done(
    world: World, workers: Workers, written: Callable[[], list[str]]
) -> None:
    point, backup = world.clock(), back_up(world.runtime)
    world.go_on(workers)
    bring_back(world.runtime, backup)
    no_bucket = world.runtime.settings.model_copy(update={"asset_bucket": None})
    runtime = replace(world.runtime, settings=no_bucket)

    with pytest.raises(StoreUnavailable):
        restored.restore(runtime, point, read_audit(written(), point), refunds=False)

    assert runtime.database["social.errand"].count_documents({}) == 0


def test_the_bucket_of_another_deployment_is_refused_before_anything_is_done(
    world: World, clock: Clock
) -> None:
    """Every asset would lack its bytes there, and a schedule then empties the right bucket."""
    make_bucket("another")
    settings = world.runtime.settings.model_copy(update={"asset_bucket": "another"})
    runtime = replace(world.runtime, settings=settings)
    log = [audit_line(clock())]

    with pytest.raises(BucketLacksMost, match="lacks 1 of 1 files"):
        restored.restore(runtime, clock(), read_audit(log, clock()), refunds=False)

    assert runtime.database["social.errand"].count_documents({}) == 0
    assert world.client.get(f"/assets/{world.in_bucket}/1").status == 302


def test_a_payment_that_its_buyer_has_yet_to_finish_is_cancelled(
    world: World, stripe: Stripe
) -> None:
    point, backup = world.clock(), back_up(world.runtime)
    world.clock.advance(minutes=5)
    stripe.seconds = int(world.clock().timestamp())
    orders = [
        order_of(world.client, cart_of(world.client, MOBY_HARD=1), key) for key in ("one", "two")
    ]
    stripe.intents["pi_3"]["status"] = "processing"
    bring_back(world.runtime, backup)

    told = run(world, [], point)
    assert stripe.intents["pi_2"]["status"] == "requires_payment_method"
    done = run(world, [], point, refunds=True)
    again = run(world, [], point, refunds=True)

    assert {each.order for each in told.payments or []} == {*orders}
    assert stripe.intents["pi_2"]["status"] == "canceled"
    assert [str(each) for each in done.refused] == ["pi_3 (under_way)"]
    assert [each.intent for each in again.payments or []] == ["pi_3"]
    lines = list(restored.report(again, refunds=True))
    assert lines[-2] == f"  pi_3: 18.99 EUR, {orders[1]}, not paid yet"


def test_a_refund_of_after_the_point_is_known_after_the_next_run_of_the_schedule(
    world: World, workers: Workers, stripe: Stripe
) -> None:
    """Until then, the same unit could be refunded a second time."""
    stripe.pay("pi_1")
    sweep.sweep(world.runtime)
    reconciliation.read_changes(world.runtime, world.clock() + timedelta(minutes=1))
    workers.drain()
    point, backup = world.clock(), back_up(world.runtime)
    world.clock.advance(hours=2)
    stripe.refund_by_hand("pi_1", 500, at=int(world.clock().timestamp()))
    bring_back(world.runtime, backup)
    world.clock.advance(minutes=10)

    run(world, [], point)
    reconciliation.read_changes(world.runtime, world.clock() + timedelta(minutes=1))
    workers.drain()

    payment = world.runtime.database["shop.payment"].find_one({"_id": world.known})
    assert payment is not None
    assert payment["elsewhere_micros"] == 5_000_000


def test_an_erasure_that_a_slow_clock_dates_before_the_point_is_named(
    world: World, workers: Workers
) -> None:
    """It is not repeated: such a person may have come again before the point."""
    lines = [audit_line(world.clock(), caller="ann")]
    point = world.clock() + timedelta(seconds=30)

    done = run(world, lines, point)

    assert (done.erased, done.earlier) == ([], ["ann"])
    assert any("shortly before the point" in line for line in restored.report(done, refunds=False))
    jobs.begin_erasure(world.runtime, PEOPLE, "ann")
    workers.drain()
    assert run(world, lines, point).earlier == []


def test_money_that_was_moved_after_the_point_is_named_until_it_is_moved_again(
    world: World, written: Callable[[], list[str]]
) -> None:
    admin = world.client.as_("root", roles=["admin"])
    point, backup = world.clock(), back_up(world.runtime)

    def move(key: str, amount: int) -> None:
        path = "/accounts/bank/transfers"
        body = {"to_account_id": "advertiser:acme", "amount_micros": amount}
        keyed = Client(admin.app, admin.token, {**admin.headers, "Idempotency-Key": key})
        reply = keyed.post(path, **body)
        assert reply.status == 201, reply.body

    move("invoice-1", 5_000_000)
    move("invoice-2", 7_500_000)
    credit = "/accounts/advertiser:acme/credit"
    assert admin.put(credit, credit_micros=2_000_000).status == 200
    bring_back(world.runtime, backup)

    done = run(world, written(), point)
    move("invoice-1", 5_000_000)
    assert admin.put(credit, credit_micros=2_000_000).status == 200
    again = run(world, written(), point)

    assert [each.key for each in done.transfers] == ["invoice-1", "invoice-2"]
    assert "  advertiser:acme: 2.00" in restored.report(done, refunds=False)
    assert "  bank to advertiser:acme: 7.50, key invoice-2" in restored.report(again, refunds=False)
    assert [each.key for each in again.transfers] == ["invoice-2"]
    assert again.credit_lines == []


def test_the_buyer_of_an_order_is_erased_again_once_it_is_over(
    world: World, stripe: Stripe, written: Callable[[], list[str]]
) -> None:
    def pay(order: str, cart: str) -> None:
        stripe.pay(f"pi_{len(stripe.intents)}" if order != world.known else "pi_1")
        paid = world.client.post(f"/orders/{order}/payment?cart={cart}")
        assert paid.json["order"]["state"] == "done"

    def erase(order: str, cart: str) -> None:
        path = f"/orders/{order}/erasure?cart={cart}"
        assert world.client.post(path, email="ann@example.org").status == 200

    cart, late_cart, kept_cart = (cart_of(world.client, MOBY_HARD=1) for _ in range(3))
    over = order_of(world.client, cart, "over")
    pay(over, cart)
    kept = order_of(world.client, kept_cart, "kept")
    pay(kept, kept_cart)
    point, backup = world.clock(), back_up(world.runtime)
    before = stored_order(world.runtime, over)
    world.clock.advance(minutes=5)
    refused = world.client.post(f"/orders/{kept}/erasure?cart={kept_cart}", email="x@example.org")
    assert refused.status == 422
    pay(world.known, world.cart)
    late = order_of(world.client, late_cart, "late")
    pay(late, late_cart)
    for order, its_cart in ((over, cart), (world.known, world.cart), (late, late_cart)):
        erase(order, its_cart)
    bring_back(world.runtime, backup)
    assert stored_order(world.runtime, over)["address"] is not None

    early = run(world, written(), point)
    world.clock.advance(hours=1)
    sweep.sweep(world.runtime)
    done, after = run(world, written(), point), back_up(world.runtime)
    again = run(world, written(), point)

    assert early.orders == Orders([over], [world.known])
    # The sweep has sent the events that were due at the backup.
    erased = {**before, "email": None, "address": None, "erased": True, "due_events": []}
    assert stored_order(world.runtime, over) == erased
    both = sorted([over, world.known])
    assert done.orders == again.orders == Orders(both, [])
    assert stored_order(world.runtime, world.known)["address"] is None
    assert stored_order(world.runtime, kept)["address"] is not None
    assert back_up(world.runtime) == after
    lines = list(restored.report(early, refunds=False))
    assert f"1 orders have no buyer any more: {over}" in lines
    assert f"1 orders are not over, run again when they are: {world.known}" in lines


def test_deleted_assets_go_again_from_both_stores_where_nothing_shows_them(
    world: World, written: Callable[[], list[str]]
) -> None:
    ben = world.client.as_("ben")
    shown, kept = (Uploader(ben, "/users/me").upload(png(), "image/png")["id"] for _ in range(2))
    photo = {"type": "photo", "detail": {"url": f"asset:{shown}"}, "circles": ["*public*"]}
    post = f"/posts/{ben.post('/posts', **photo).json['id']}"
    point, backup = world.clock(), back_up(world.runtime)
    world.clock.advance(minutes=5)
    assert ben.delete(f"/users/me/assets/{shown}").code == "asset_in_use"
    assert ben.delete(post).status == 204
    for owner, path in (
        (ben, f"/users/me/assets/{world.in_database}"),
        (ben, f"/users/me/assets/{shown}"),
        (world.owner, f"/content/{SITE}/assets/{world.in_bucket}"),
    ):
        assert owner.delete(path).status == 204
    bring_back(world.runtime, backup)
    assert world.client.get(f"/assets/{world.in_database}/1").status == 200
    assert len(list(store_of(world.runtime, "s3").names())) == 1

    first = run(world, written(), point)
    assert ben.delete(post).status == 204
    second = run(world, written(), point)
    after = back_up(world.runtime)
    third = run(world, written(), point)

    gone = sorted([world.in_database, world.in_bucket])
    assert (sorted(first.assets.deleted), first.assets.in_use) == (gone, [shown])
    assert (second.assets, third.assets) == (Deleted([shown], []), Deleted([], []))
    assert back_up(world.runtime) == after
    assert (first.missing, first.unnamed) == ([], [])
    for asset in (*gone, shown):
        assert world.client.get(f"/assets/{asset}/1").status == 404
    assert world.client.get(f"/assets/{kept}/1").status == 200
    world.clock.advance(hours=1)
    upkeep.sweep_waste(world.runtime)
    assert list(store_of(world.runtime, "s3").names()) == []
    assert world.runtime.database["asset.files"].count_documents({}) == 1
    lines = list(restored.report(first, refunds=False))
    assert f"1 assets were deleted, but something shows them here, so they stay: {shown}" in lines


def test_decisions_on_people_are_named_until_a_moderator_has_decided_again(
    world: World, workers: Workers, written: Callable[[], list[str]]
) -> None:
    moderator = world.client.as_("mona", roles=["moderator"], sites=[SITE])

    def decide(user: str, status: str, **more: str) -> None:
        reply = moderator.patch(f"/sites/{SITE}/people/{user}", status=status, **more)
        assert reply.status == 200, reply.body

    until = (world.clock() + timedelta(days=9)).isoformat()
    decide("dan", "banned")
    decide("eve", "banned")
    point, backup = world.clock(), back_up(world.runtime)
    world.clock.advance(minutes=5)
    decide("ann", "banned")
    decide("ben", "suspended", until=until)
    decide("cyd", "shadowed")
    decide("dan", "ok")
    decide("eve", "ok")
    decide("eve", "banned")
    moderator.patch(f"/sites/{SITE}/people/fay", note="Rude")
    refused = world.client.as_("ann").patch(f"/sites/{SITE}/people/gus", status="banned")
    assert refused.status == 403
    bring_back(world.runtime, backup)

    done = run(world, written(), point)
    workers.drain()
    stored = world.runtime.database["comments.person"]
    assert {each["user_id"]: each["status"] for each in stored.find({"status": {"$ne": "ok"}})} == {
        "dan": "banned",
        "eve": "banned",
    }
    lines = list(restored.report(done, refunds=False))
    start = lines.index("4 people have another status than after the point, decide again")
    assert lines[start + 1 : start + 5] == [
        f"  {SITE}: Ann (ann) was banned, is ok",
        f"  {SITE}: Ben (ben) was suspended, is ok",
        f"  {SITE}: cyd (cyd) was shadowed, is ok",
        f"  {SITE}: dan (dan) was ok, is banned",
    ]
    log_of_then = written()
    decide("ann", "banned")
    decide("ben", "suspended", until=until)
    decide("cyd", "shadowed")
    decide("dan", "ok")
    again = run(world, log_of_then, point)
    # The log does not say until when.
    assert [each.decided.user for each in again.people] == ["ben"]
