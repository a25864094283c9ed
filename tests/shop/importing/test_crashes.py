"""Imports of products that end early, or that run twice at once."""

import threading

from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from chalicelib.shop.stock.audit import audit
from tests.comments.support.crash_points import crash_everywhere
from tests.shop.support.factories import SITE, open_shop
from tests.shop.support.shopify import bring, mug, numbers
from tests.support.http_client import Client

ROWS = [mug(), mug(Handle="cup", Variant_SKU="CUP")]


def whole(runtime: Runtime) -> tuple[int, int, int]:
    """Return the numbers of products, of SKUs and of stocks."""
    names = ("shop.product", "shop.sku", "shop.stock")
    first, second, third = (runtime.database[name].count_documents({}) for name in names)
    return first, second, third


def test_an_import_goes_on_after_a_crash_at_any_command(
    client: Client, runtime: Runtime, settings: Settings
) -> None:
    open_shop(client)
    uri = settings.mongodb_uri.get_secret_value()

    for _ in crash_everywhere(runtime, uri, lambda ending: bring(ending, *ROWS)):
        products, skus, stocks = whole(runtime)
        assert products == skus == stocks

    assert whole(runtime) == (2, 2, 2)
    assert audit(runtime, f"{SITE}:CUP", 0) == {"held": 0, "moved": 0}
    assert numbers(bring(runtime, *ROWS)) == {"products": 2, "present": 2, "pictures": 2}


def test_two_imports_at_once_bring_each_product_once(client: Client, runtime: Runtime) -> None:
    open_shop(client)
    rows = [mug(Handle=f"mug-{each}", Variant_SKU=f"MUG-{each}") for each in range(10)]
    faults: list[BaseException] = []

    def work() -> None:
        try:
            bring(runtime, *rows)
        except BaseException as fault:  # noqa: BLE001 - told by the test
            faults.append(fault)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    assert faults == []
    assert whole(runtime) == (10, 10, 10)
    assert {row["on_hand"] for row in runtime.database["shop.stock"].find()} == {12}
