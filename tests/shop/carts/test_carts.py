"""Carts: what they hold, for how long, and what is refused."""

from typing import Any

import pytest

from chalicelib.runtime import Runtime
from chalicelib.shop.carts import carts, lines
from chalicelib.shop.carts.shapes import CARTS, MAX_LINES
from chalicelib.shop.catalogue.offers import offer_beside
from chalicelib.shop.orders import sweep
from tests.shop.support.buying import (
    OTHER,
    SKU,
    agreement,
    cart_of,
    check_out,
    ordered,
    put_line,
    shelf_of,
    stocked,
)
from tests.shop.support.factories import PRICE, SITE, book, product, put
from tests.shop.support.threads import in_threads
from tests.support.clock import START, Clock
from tests.support.http_client import Client


def lines_of(client: Client, cart: str) -> dict[str, tuple[int, bool]]:
    """Return a cart's lines: units, and whether they have lapsed."""
    found = client.get(f"/carts/{cart}").json["lines"]
    return {each["sku"]: (each["qty"], each["lapsed"]) for each in found}


def test_a_line_says_how_many_there_are_however_often_it_is_said(
    client: Client, runtime: Runtime
) -> None:
    stocked(client, 5)
    cart = cart_of(client)

    for qty in (2, 2, 4, 1):
        reply = put_line(client, cart, SKU, qty)

        assert reply.json["lines"] == [
            {
                "sku": SKU,
                "title": "Moby-Dick",
                "qty": qty,
                "price_micros": PRICE,
                "until": "2026-03-01T12:15:00Z",
                "held": qty,
                "lapsed": False,
            }
        ]
        assert reply.json["lines_micros"] == qty * PRICE
        assert shelf_of(runtime).held == qty


def test_of_two_buyers_of_the_last_piece_one_gets_it_and_the_other_hears_what_is_left(
    client: Client, runtime: Runtime
) -> None:
    """One cart holds it, both may check out, and who does so first has it, whoever held it."""
    stocked(client, 1)
    both = [cart_of(client) for _ in range(2)]
    replies: dict[int, Any] = {}

    def put(number: int) -> None:
        replies[number] = put_line(client, both[number], SKU, 1)

    def buy(number: int) -> None:
        replies[number] = check_out(client, both[number])

    in_threads(put, 2)
    held = [reply.json["lines"][0]["held"] for reply in replies.values()]
    assert (sorted(held), shelf_of(runtime).held) == ([0, 1], 1)
    in_threads(buy, 2)

    refused = [reply for reply in replies.values() if reply.status == 409]
    assert sorted(reply.status for reply in replies.values()) == [201, 409]
    assert refused[0].code == "out_of_stock"
    assert refused[0].json["facts"] == {"sku": SKU, "available": 0}
    assert shelf_of(runtime).held == 1
    loser = both[0] if replies[0].status == 409 else both[1]
    assert lines_of(client, loser) == {SKU: (1, True)}
    refused_line = put_line(client, cart_of(client), SKU, 1)
    assert (refused_line.code, refused_line.json["facts"]["available"]) == ("out_of_stock", 0)


def test_a_refusal_leaves_the_line_as_it_was(client: Client, runtime: Runtime) -> None:
    stocked(client, 5)
    cart = cart_of(client, MOBY_HARD=2)

    refused = put_line(client, cart, SKU, 6)

    assert refused.json["facts"] == {"sku": SKU, "available": 5}
    assert lines_of(client, cart) == {SKU: (2, False)}
    assert shelf_of(runtime).held == 2


def test_a_line_lapses_by_itself_and_is_held_again(
    client: Client, runtime: Runtime, clock: Clock
) -> None:
    stocked(client, 5, hold_seconds=60)
    cart = cart_of(client, MOBY_HARD=2, PEQUOD=1)
    clock.advance(seconds=59)
    put_line(client, cart, OTHER, 1)
    clock.advance(seconds=1)
    sweep.sweep(runtime)
    assert lines_of(client, cart) == {SKU: (2, True), OTHER: (1, False)}
    assert shelf_of(runtime).held == 0

    held = client.post(f"/carts/{cart}/hold")

    assert held.status == 200
    assert lines_of(client, cart) == {SKU: (2, False), OTHER: (1, False)}
    assert shelf_of(runtime).held == 2


def test_of_lines_that_are_held_again_one_that_is_gone_is_named(
    client: Client, runtime: Runtime, clock: Clock
) -> None:
    stocked(client, 5, hold_seconds=60)
    cart = cart_of(client, MOBY_HARD=2, PEQUOD=1)
    clock.advance(seconds=60)
    ordered(client, cart_of(client, MOBY_HARD=4), agreement(4))

    refused = client.post(f"/carts/{cart}/hold")

    assert (refused.status, refused.code) == (409, "out_of_stock")
    assert refused.json["facts"] == {"sku": SKU, "available": 1}
    assert lines_of(client, cart) == {SKU: (2, True), OTHER: (1, False)}
    assert shelf_of(runtime, OTHER).held == 1


def test_a_line_that_is_taken_out_is_available_at_once(client: Client, runtime: Runtime) -> None:
    stocked(client, 5)
    cart = cart_of(client, MOBY_HARD=2)

    for _ in range(2):
        assert client.delete(f"/carts/{cart}/lines/{SKU}").json["lines"] == []

    assert shelf_of(runtime).available == 5


def test_a_crash_between_shelf_and_cart_leaves_nothing_that_does_not_end(
    client: Client, runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    stocked(client, 5)
    cart = cart_of(client)
    with monkeypatch.context() as patch:
        patch.setattr(lines, "_change", lambda *_: 1 / 0)
        assert put_line(client, cart, SKU, 3).status == 500
    assert lines_of(client, cart) == {}
    assert shelf_of(runtime).available == 2

    clock.advance(seconds=900)
    sweep.sweep(runtime)

    assert shelf_of(runtime).available == 5


def test_a_cart_that_is_being_checked_out_is_not_changed(client: Client, runtime: Runtime) -> None:
    stocked(client, 5)
    cart = cart_of(client, MOBY_HARD=1)
    assert check_out(client, cart).status == 201

    calls = [
        put_line(client, cart, SKU, 2),
        put_line(client, cart, OTHER, 1),
        client.delete(f"/carts/{cart}/lines/{SKU}"),
        client.post(f"/carts/{cart}/hold"),
        check_out(client, cart, key="another"),
    ]

    assert [(reply.status, reply.code) for reply in calls] == [(409, "cart_closed")] * 5
    assert (shelf_of(runtime).held, shelf_of(runtime, OTHER).held) == (1, 0)


def test_a_cart_frozen_while_a_line_is_put_gives_back_what_was_held(
    client: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    stocked(client, 5)
    cart = cart_of(client, MOBY_HARD=1)

    def frozen_after_the_read(*arguments: Any) -> Any:
        assert check_out(client, cart).status == 201
        return offer_beside(*arguments)

    monkeypatch.setattr(f"{lines.__name__}.offer_beside", frozen_after_the_read)

    assert put_line(client, cart, OTHER, 2).code == "cart_closed"
    assert shelf_of(runtime, OTHER).held == 0


def test_whoever_has_the_id_may_use_a_cart_and_a_person_may_claim_it(client: Client) -> None:
    stocked(client)
    cart = cart_of(client, MOBY_HARD=1)
    ann, bob = client.as_("ann"), client.as_("bob")
    for _ in range(2):
        assert ann.post(f"/carts/{cart}/claim").status == 200

    taken = bob.post(f"/carts/{cart}/claim")

    assert (taken.status, taken.code) == (409, "cart_claimed")
    assert put_line(ann, cart, SKU, 2).status == 200
    assert ann.post(f"/carts/{'x' * 22}/claim").code == "unknown_cart"


def test_a_cart_opened_by_somebody_is_theirs(client: Client, runtime: Runtime) -> None:
    stocked(client)
    cart = cart_of(client.as_("ann"))

    assert carts.find(runtime.database, cart)["user"] == "ann"
    assert client.as_("bob").post(f"/carts/{cart}/claim").code == "cart_claimed"


@pytest.mark.parametrize("qty", [0, -1, 1_000, "2", 1.5, 1e3, None, True, [1]])
def test_a_quantity_is_a_whole_number_that_a_cart_can_have(client: Client, qty: Any) -> None:
    stocked(client)
    cart = cart_of(client)

    refused = put_line(client, cart, SKU, qty)

    assert (refused.status, refused.code) == (422, "invalid_request")


def test_nan_is_no_quantity(client: Client) -> None:
    stocked(client)
    cart = cart_of(client)
    headers = {"Content-Type": "application/json"}

    refused = client.request(
        "PUT", f"/carts/{cart}/lines/{SKU}", body=b'{"qty": NaN}', headers=headers
    )

    assert refused.code in {"invalid_json", "invalid_request"}


@pytest.mark.parametrize("sku", ["a.b", "$where", "a b", "x" * 65])
def test_a_sku_is_safe_in_a_path_of_fields(client: Client, sku: str) -> None:
    stocked(client)
    cart = cart_of(client)

    assert put_line(client, cart, sku.replace(" ", "%20"), 1).status == 422


def test_what_the_shop_does_not_have_is_not_put_into_a_cart(client: Client) -> None:
    paula = stocked(client)
    there = client.as_("paula", roles=["publisher"], sites=["beta"])
    assert there.put("/shops/beta", currency="EUR").status == 200
    assert put(there, "omoo", book("OMOO"), site="beta").status == 201
    assert put(paula, "typee", book("TYPEE", state="draft")).status == 201
    cart = cart_of(client)

    assert put_line(client, cart, "OMOO", 1).code == "unknown_sku"
    # That there is a draft is nobody's to know, and what is sold no more is known.
    assert put_line(client, cart, "TYPEE", 1).code == "unknown_sku"
    assert put(paula, "typee", book("TYPEE", state="archived"), version=1).status == 200
    refused = put_line(client, cart, "TYPEE", 1)
    assert (refused.code, refused.json["facts"]) == ("not_for_sale", {"sku": "TYPEE"})
    assert client.post("/carts", site="gamma").code == "unknown_shop"
    assert put_line(client, "x" * 22, SKU, 1).code == "unknown_cart"
    assert client.get(f"/carts/{'x' * 22}").code == "unknown_cart"
    assert client.delete(f"/carts/{'x' * 22}/lines/{SKU}").code == "unknown_cart"
    assert client.post(f"/carts/{'x' * 22}/hold").code == "unknown_cart"


def test_an_archived_product_keeps_its_line_and_is_not_sold(client: Client) -> None:
    paula = stocked(client)
    cart = cart_of(client, MOBY_HARD=1)
    assert paula.delete(product("moby-dick")).status in {200, 204}

    assert put_line(client, cart, SKU, 2).code == "not_for_sale"
    refused = check_out(client, cart)

    assert (refused.status, refused.code) == (409, "not_for_sale")
    assert lines_of(client, cart) == {SKU: (1, False)}
    assert client.get(f"/carts/{cart}").json["state"] == "open"


def test_a_cart_has_so_many_lines_and_no_more(client: Client, runtime: Runtime) -> None:
    stocked(client)
    cart = cart_of(client, MOBY_HARD=1)
    line = carts.find(runtime.database, cart)["lines"][SKU]
    others = {f"lines.S{number}": line for number in range(MAX_LINES - 1)}
    CARTS.of(runtime.database).update_one({"_id": cart}, {"$set": others})

    refused = put_line(client, cart, OTHER, 1)

    assert (refused.status, refused.code) == (409, "cart_full")
    assert shelf_of(runtime, OTHER).held == 0
    assert put_line(client, cart, SKU, 2).status == 200


def test_a_cart_that_nobody_uses_expires_and_is_deleted_later(
    client: Client, runtime: Runtime, clock: Clock
) -> None:
    stocked(client)
    cart, used = cart_of(client), cart_of(client)
    clock.advance(days=29)
    put_line(client, used, SKU, 1)
    clock.advance(days=1)
    sweep.sweep(runtime)

    assert client.get(f"/carts/{cart}").json["state"] == "expired"
    assert client.get(f"/carts/{used}").json["state"] == "open"
    assert put_line(client, cart, SKU, 1).code == "cart_closed"
    assert carts.find(runtime.database, cart)["ended"] == clock() > START


def test_an_id_is_no_guess(client: Client) -> None:
    stocked(client)
    ids = {cart_of(client) for _ in range(5)}

    assert len(ids) == 5
    assert {len(each) for each in ids} == {22}
    assert client.get("/carts/short").status == 422
    assert check_out(client, "x" * 22, agreement()).code == "unknown_cart"


def test_a_shop_of_a_site_is_needed(client: Client) -> None:
    assert client.post("/carts", site=SITE).code == "unknown_shop"
