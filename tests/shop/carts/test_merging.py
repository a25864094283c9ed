"""Two carts become one, as when a guest signs in who has a cart already: no line is lost."""

from collections.abc import Callable
from typing import Any

import pytest

from chalicelib.runtime import Runtime
from chalicelib.shop.carts import lines
from tests.shop.support.buying import (
    OTHER,
    SKU,
    agreement,
    cart_of,
    check_out,
    fill,
    ordered,
    put_line,
    shelf_of,
    stocked,
)
from tests.shop.support.factories import book, open_shop, put
from tests.shop.support.threads import in_threads
from tests.support.http_client import Client, Reply


class Breaking:
    """A function that fails after so many calls, as a container that dies."""

    def __init__(self, function: Callable[..., Any], after: int) -> None:
        self._function, self._left = function, after

    def __call__(self, *arguments: Any) -> Any:
        self._left -= 1
        if self._left < 0:
            raise RuntimeError
        return self._function(*arguments)


def merge(client: Client, cart: str, source: str) -> Reply:
    return client.post(f"/carts/{cart}/merge", source=source)


def quantities(reply: Reply) -> dict[str, tuple[int, int]]:
    """Return the units and the held units of each line."""
    return {each["sku"]: (each["qty"], each["held"]) for each in reply.json["lines"]}


def read(client: Client, cart: str) -> dict[str, tuple[int, int]]:
    return quantities(client.get(f"/carts/{cart}"))


def test_lines_of_both_are_in_one_cart_and_a_repeat_changes_nothing(
    client: Client, runtime: Runtime
) -> None:
    stocked(client, 5)
    ann = client.as_("ann")
    cart, source = cart_of(ann, MOBY_HARD=1), cart_of(client, MOBY_HARD=3, PEQUOD=1)

    for _ in range(2):
        reply = merge(ann, cart, source)

        assert reply.status == 200, reply.body
        assert quantities(reply) == {SKU: (3, 3), OTHER: (1, 1)}
    assert read(client, source) == {}
    assert (shelf_of(runtime).held, shelf_of(runtime, OTHER).held) == (3, 1)


def test_the_last_pieces_go_along_with_their_line(client: Client, runtime: Runtime) -> None:
    """The other cart holds them until the line has gone."""
    stocked(client, 2)
    cart, source = cart_of(client), cart_of(client, MOBY_HARD=2)

    assert quantities(merge(client, cart, source)) == {SKU: (2, 2)}

    assert shelf_of(runtime).held == 2
    assert check_out(client, cart, agreement(2)).status == 201


def test_lines_that_cannot_go_along_stay(
    client: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    paula = stocked(client, 1)
    for name, sku in (("omoo", "OMOO"), ("typee", "TYPEE")):
        assert put(paula, name, book(sku)).status == 201
        fill(paula, 1, sku)
    cart, source = cart_of(client, TYPEE=1), cart_of(client, MOBY_HARD=1, OMOO=1, PEQUOD=1)
    assert put(paula, "pequod", book(OTHER, state="archived"), 1).status == 200
    # An order has the last one.
    ordered(client, cart_of(client, MOBY_HARD=1))

    assert quantities(merge(client, cart, source)) == {"OMOO": (1, 1), "TYPEE": (1, 1)}

    assert set(read(client, source)) == {SKU, OTHER}
    monkeypatch.setattr(lines, "MAX_LINES", 2)
    full = cart_of(client, OMOO=1)
    assert quantities(merge(client, cart, full)) == {"OMOO": (1, 1), "TYPEE": (1, 1)}
    fill(paula, 1, key="second")
    assert quantities(merge(client, cart, source)) == {"OMOO": (1, 1), "TYPEE": (1, 1)}
    assert set(read(client, source)) == {SKU, OTHER}
    assert shelf_of(runtime, "OMOO").held == 1


def test_a_merge_that_ends_half_way_is_repeated(
    client: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    stocked(client, 2)
    cart, source = cart_of(client), cart_of(client, MOBY_HARD=2)
    with monkeypatch.context() as patched:
        patched.setattr(f"{lines.__name__}._change", Breaking(lines._change, after=1))
        assert merge(client, cart, source).status == 500
    assert set(read(client, cart)) == set(read(client, source)) == {SKU}

    assert quantities(merge(client, cart, source)) == {SKU: (2, 2)}

    assert read(client, source) == {}
    assert shelf_of(runtime).held == 2


def test_a_line_that_comes_into_the_other_cart_meanwhile_goes_along(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    stocked(client, 5)
    cart, source = cart_of(client), cart_of(client, MOBY_HARD=1)
    take, seen = lines._take, list[Reply]()

    def take_slowly(*arguments: Any) -> bool:
        if not seen:
            seen.append(put_line(client, source, OTHER, 2))
        return take(*arguments)

    monkeypatch.setattr(lines, "_take", take_slowly)

    assert quantities(merge(client, cart, source)) == {SKU: (1, 1), OTHER: (2, 2)}
    assert read(client, source) == {}


def test_merges_of_two_tabs_at_once_take_each_line_once(client: Client, runtime: Runtime) -> None:
    stocked(client, 4)
    cart, source = cart_of(client, PEQUOD=1), cart_of(client, MOBY_HARD=2)
    replies: list[Reply] = []

    in_threads(lambda _: replies.append(merge(client, cart, source)), 4)

    assert {reply.status for reply in replies} == {200}
    assert read(client, cart) == {SKU: (2, 2), OTHER: (1, 1)}
    assert (shelf_of(runtime).held, read(client, source)) == (2, {})


@pytest.mark.parametrize("who", ["ben", None])
def test_nobody_takes_the_lines_of_anothers_cart(client: Client, who: str | None) -> None:
    stocked(client)
    anns = cart_of(client.as_("ann"), MOBY_HARD=1)
    caller = client.as_(who) if who else client
    own = cart_of(caller)

    for cart, source in ((own, anns), (anns, own), (own, "x" * 22)):
        refused = merge(caller, cart, source)
        assert (refused.status, refused.code) == (404, "unknown_cart")

    assert set(read(client.as_("ann"), anns)) == {SKU}


def test_a_cart_of_another_shop_or_in_a_checkout_is_left(client: Client) -> None:
    stocked(client)
    open_shop(client, "beta")
    abroad = str(client.post("/carts", site="beta").json["id"])
    assert merge(client, abroad, cart_of(client, PEQUOD=1)).code == "unknown_cart"
    cart, frozen = cart_of(client), cart_of(client, MOBY_HARD=1)
    ordered(client, frozen)

    for pair in ((cart, frozen), (frozen, cart)):
        assert merge(client, *pair).code == "cart_closed"
    assert merge(client, cart, cart).status == 200
