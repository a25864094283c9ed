"""Calls of one cart at once: in the end its lines say which units the cart holds."""

from collections.abc import Callable
from threading import Event
from typing import Any

import pytest

from chalicelib.runtime import Runtime
from chalicelib.shop.carts import lines
from chalicelib.shop.carts.shapes import Cart
from chalicelib.shop.stock import shelf
from tests.shop.support.buying import OTHER, SKU, cart_of, put_line, shelf_of, stocked
from tests.shop.support.factories import SITE
from tests.shop.support.threads import in_threads
from tests.support.http_client import Client

HOLDS = f"/shops/{SITE}/holds"


def held_of(client: Client, cart: str) -> dict[str, int]:
    """Return how many units of each SKU a cart says that it holds."""
    found = client.get(f"/carts/{cart}").json["lines"]
    return {each["sku"]: each["held"] for each in found}


def interrupt(
    monkeypatch: pytest.MonkeyPatch, module: Any, name: str, meanwhile: Callable[[], object]
) -> None:
    """Have another call come before a function's first call."""
    original = getattr(module, name)

    def interrupted(*given: Any, **options: Any) -> Any:
        monkeypatch.setattr(module, name, original)
        meanwhile()
        return original(*given, **options)

    monkeypatch.setattr(module, name, interrupted)


def test_no_cart_holds_again_while_a_publisher_ends_its_holds(
    client: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    paula = stocked(client)
    cart = cart_of(client, MOBY_HARD=1, PEQUOD=1)
    release, freed = shelf.release, []

    def again(_: Runtime, stock_id: str, *others: Any) -> int:
        units = release(runtime, stock_id, *others)
        freed.append(stock_id)
        put_line(client, cart, stock_id.partition(":")[2], 1)
        return units

    monkeypatch.setattr(shelf, "release", again)

    assert paula.delete(HOLDS).json["units"] == len(freed) == 2

    assert (shelf_of(runtime).held, shelf_of(runtime, OTHER).held) == (0, 0)
    assert held_of(client, cart) == {SKU: 0, OTHER: 0}


def test_a_publishers_call_that_crashes_leaves_no_cart_that_holds_again(
    client: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    paula = stocked(client)
    cart = cart_of(client, MOBY_HARD=1)
    with monkeypatch.context() as patch:
        patch.setattr(shelf, "release", lambda *_: 1 / 0)
        assert paula.delete(HOLDS).status == 500

    assert put_line(client, cart, SKU, 1).status == 200

    assert held_of(client, cart) == {SKU: 0}
    assert shelf_of(runtime).held == 0


def test_a_line_that_a_cart_puts_while_a_publisher_ends_holds_is_not_held(
    client: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    paula = stocked(client)
    cart = cart_of(client)
    interrupt(monkeypatch, lines, "_change", lambda: paula.delete(HOLDS))

    assert put_line(client, cart, SKU, 1).status == 200

    assert held_of(client, cart) == {SKU: 0}
    assert shelf_of(runtime).held == 0


def test_of_two_puts_of_one_line_the_line_says_what_the_last_holds(
    client: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    stocked(client, 10)
    cart = cart_of(client, MOBY_HARD=1)
    interrupt(monkeypatch, lines, "_change", lambda: put_line(client, cart, SKU, 2))

    assert put_line(client, cart, SKU, 5).json["lines"][0]["held"] == 5

    assert held_of(client, cart) == {SKU: 5}
    assert shelf_of(runtime).held == 5


def test_a_put_that_a_removal_overtakes_holds_its_line(
    client: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    stocked(client)
    cart = cart_of(client, MOBY_HARD=1)
    path = f"/carts/{cart}/lines/{SKU}"
    interrupt(monkeypatch, lines, "_change", lambda: client.delete(path))

    assert put_line(client, cart, SKU, 2).status == 200

    assert held_of(client, cart) == {SKU: 2}
    assert shelf_of(runtime).held == 2


def test_a_line_put_while_it_is_removed_does_not_say_that_it_is_held(
    client: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    stocked(client)
    cart = cart_of(client, MOBY_HARD=1)
    interrupt(monkeypatch, shelf, "release", lambda: put_line(client, cart, SKU, 2))

    assert client.delete(f"/carts/{cart}/lines/{SKU}").json["lines"] == []

    assert held_of(client, cart) == {SKU: 0}
    assert shelf_of(runtime).held == 0


def test_a_line_stored_after_its_removal_is_held(
    client: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The removal releases units that the other call holds already and has not stored yet."""
    stocked(client)
    cart = cart_of(client, MOBY_HARD=1)
    is_removed, is_held, is_over = Event(), Event(), Event()
    change, release = lines._change, shelf.release

    def late_release(*given: Any) -> int:
        is_removed.set()
        assert is_held.wait(10)
        return release(*given)

    def late_change(runtime: Runtime, cart: Cart, wanted: Any, *given: Any) -> Cart | None:
        if "$unset" not in wanted and not is_over.is_set():
            is_held.set()
            assert is_over.wait(10)
        return change(runtime, cart, wanted, *given)

    def call(number: int) -> None:
        if number:
            assert is_removed.wait(10)
            put_line(client, cart, SKU, 2)
        else:
            client.delete(f"/carts/{cart}/lines/{SKU}")
            is_over.set()

    monkeypatch.setattr(shelf, "release", late_release)
    monkeypatch.setattr(lines, "_change", late_change)

    in_threads(call, 2)

    assert held_of(client, cart) == {SKU: 2}
    assert shelf_of(runtime).held == 2


def test_lines_put_at_once_are_all_held(client: Client, runtime: Runtime) -> None:
    stocked(client)
    cart = cart_of(client)
    skus = (SKU, OTHER)

    in_threads(lambda number: put_line(client, cart, skus[number % 2], 1 + number // 2), 6)

    assert held_of(client, cart) == {sku: shelf_of(runtime, sku).held for sku in skus}


def test_a_put_that_gives_up_takes_no_units_from_a_line_put_meanwhile(
    client: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It gives back units of the other call by then, whose line says so."""
    stocked(client)
    cart = cart_of(client, PEQUOD=1)
    monkeypatch.setattr(lines, "_ATTEMPTS", 1)
    interrupt(monkeypatch, lines, "_change", lambda: put_line(client, cart, OTHER, 2))
    with monkeypatch.context() as patch:
        interrupt(patch, shelf, "release", lambda: put_line(client, cart, SKU, 1))
        assert put_line(client, cart, SKU, 1).status == 503

    assert held_of(client, cart) == {SKU: 0, OTHER: 2}
    assert (shelf_of(runtime).held, shelf_of(runtime, OTHER).held) == (0, 2)


def test_a_put_that_tries_again_gives_nothing_back_in_between(
    client: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    stocked(client)
    cart = cart_of(client, PEQUOD=1)
    interrupt(monkeypatch, lines, "_change", lambda: put_line(client, cart, OTHER, 2))
    monkeypatch.setattr(shelf, "release", lambda *_: 1 / 0)

    assert put_line(client, cart, SKU, 1).status == 200

    assert held_of(client, cart) == {SKU: 1, OTHER: 2}
    assert (shelf_of(runtime).held, shelf_of(runtime, OTHER).held) == (1, 2)
