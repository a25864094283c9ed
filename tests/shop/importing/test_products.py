"""Products of Shopify's file in a shop: variants, prices, options, stock, and what is left."""

from pathlib import Path
from typing import Any

import pytest

from chalicelib.errors import IdempotencyKeyReused
from chalicelib.foreign.broken import BrokenFile
from chalicelib.runtime import Runtime
from chalicelib.shop.errors import UnknownShop
from chalicelib.shop.stock.audit import audit
from tests.comments.support.importing import everything
from tests.shop.support.factories import SITE, book, open_shop, product, publisher, put
from tests.shop.support.shopify import HEAD, MUG, bring, bring_file, mug, numbers, variant, written
from tests.support.http_client import Client

FILE = Path(__file__).with_name("files") / "shopify.csv"
ONE = {"products": 1, "imported": 1, "variants": 1, "units": 12, "pictures": 1}


@pytest.fixture
def shop(client: Client) -> Client:
    return open_shop(client)


def shown(client: Client, name: str = "moon-mug") -> Any:
    """Return a product as its publisher reads it."""
    reply = client.get(product(name))
    assert reply.status == 200, reply.body
    return reply.json


def units(runtime: Runtime) -> dict[str, int]:
    """Return the units of each SKU."""
    found = runtime.database["shop.stock"].find()
    return {row["_id"].partition(":")[2]: row["on_hand"] for row in found}


def test_a_real_file_comes_over(shop: Client, runtime: Runtime) -> None:
    dry = bring_file(runtime, FILE.read_bytes(), dry=True)
    done = bring_file(runtime, FILE.read_bytes())

    assert numbers(dry) == numbers(done)
    assert numbers(done) == {
        "products": 2,
        "imported": 2,
        "variants": 4,
        "units": 11,
        "pictures": 3,
        "negative_stock": 1,
        "no_sku": 1,
        "untracked": 1,
    }
    shirt, cup = shown(shop, "harbour-shirt"), shown(shop)
    assert (shirt["title"], shirt["state"], shirt["type"]) == ("Harbour shirt", "active", "goods")
    assert shirt["text"] == 'Linen, "washed".\n\n* Made here'
    assert shirt["tags"] == ["linen", "summer"]
    assert shirt["details"] == {"brand": "Linnet", "kind": "Shirts", "weight_grams": 180}
    *own, derived = shirt["skus"]
    assert own == [
        {
            "sku": f"SHIRT-{size}-RED",
            "options": {"size": size, "colour": "Red"},
            "price_micros": 39_900_000,
        }
        for size in "SM"
    ]
    assert derived["options"] == {"size": "M", "colour": "Blue"}
    assert derived["price_micros"] == 42_000_000
    assert derived["sku"].startswith("harbour-shirt-")
    assert units(runtime) == {"SHIRT-S-RED": 4, derived["sku"]: 7}
    assert cup["state"] == "draft"
    assert cup["skus"][0]["options"] == {}
    assert audit(runtime, f"{SITE}:SHIRT-S-RED", 0) == {"held": 0, "moved": 0}


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({}, "active"),
        ({"Status": ""}, "active"),
        ({"Status": "", "Published": "FALSE"}, "draft"),
        ({"Published": "false"}, "draft"),
        ({"Status": "draft"}, "draft"),
        ({"Status": "Archived"}, "archived"),
        ({"Status": "unlisted"}, "draft"),
    ],
)
def test_a_product_has_its_state(
    shop: Client, runtime: Runtime, fields: dict[str, str], state: str
) -> None:
    bring(runtime, mug(**fields))

    assert shown(shop)["state"] == state


@pytest.mark.parametrize(
    ("price", "micros"),
    [
        ("18.50", 18_500_000),
        ("18", 18_000_000),
        ("18.5000", 18_500_000),
        ("0.00", None),
        ("-1", None),
        ("18.505", None),
        ("1e5", None),
        ("NaN", None),
        ("9" * 12, None),
        ("18,50", None),
        ("", None),
    ],
)
def test_a_price_is_exact_or_there_is_none(
    shop: Client, runtime: Runtime, price: str, micros: int | None
) -> None:
    done = bring(runtime, mug(Variant_Price=price))

    if micros is None:
        assert numbers(done) == {"products": 1, "left": 1, "no_variant": 1, "pictures": 1}
    else:
        assert shown(shop)["skus"][0]["price_micros"] == micros


@pytest.mark.parametrize(
    ("quantity", "number", "lost"),
    [
        ("12", 12, {}),
        ("12.0", 12, {}),
        ("", 0, {}),
        ("-3", 0, {"negative_stock": 1}),
        ("1000001", 1_000_000, {"stock_cut": 1}),
        ("1,200", 0, {"bad_stock": 1}),
        ("12 pcs", 0, {"bad_stock": 1}),
        ("9" * 13, 0, {"bad_stock": 1}),
    ],
)
def test_a_quantity_comes_over_or_is_told(
    client: Client, runtime: Runtime, quantity: str, number: int, lost: dict[str, int]
) -> None:
    open_shop(client)

    done = numbers(bring(runtime, mug(**{"Variant Inventory Qty": quantity})))

    assert {name: done[name] for name in done if "stock" in name} == lost
    assert sum(units(runtime).values()) == number


def test_prices_are_in_the_shops_currency(client: Client, runtime: Runtime) -> None:
    open_shop(client, currency="JPY")

    done = bring(runtime, mug(Variant_Price="1850.00"), variant("B", Variant_Price="18.50"))

    assert numbers(done)["no_price"] == 1
    assert shown(publisher(client))["skus"][0]["price_micros"] == 1_850_000_000


@pytest.mark.parametrize(
    ("sku", "stored", "reason"),
    [
        ("MUG-1", "MUG-1", None),
        ("'00123", "00123", None),
        ("MUG 1/5.0", "MUG-1-5-0-", "sku_changed"),
        ("\u676f", "", "sku_changed"),
        ("x" * 65, "x" * 55 + "-", "sku_changed"),
        ("", "moon-mug-", "no_sku"),
    ],
)
def test_a_sku_is_its_own_or_follows_from_it(
    shop: Client, runtime: Runtime, sku: str, stored: str, reason: str | None
) -> None:
    done = bring(runtime, mug(Variant_SKU=sku))

    assert list(done.reasons) == ([reason] if reason else [])
    found = shown(shop)["skus"][0]["sku"]
    assert found == stored if reason is None else found.startswith(stored)


def test_variants_of_one_sku_or_without_any_are_told_apart(shop: Client, runtime: Runtime) -> None:
    rows = [
        mug(Option1_Name="Size", Option1_Value="S"),
        variant("M", Variant_SKU="MUG-1", Variant_Price="19"),
        variant("L", Variant_Price="20"),
        variant("XL", Variant_Price="21"),
        variant("XL", Variant_Price="22"),
    ]

    done = bring(runtime, *rows)

    assert numbers(done) == {
        "products": 1,
        "imported": 1,
        "variants": 4,
        "units": 12,
        "pictures": 1,
        "sku_twice": 2,
        "no_sku": 3,
        "variant_twice": 1,
    }
    assert [each["options"]["size"] for each in shown(shop)["skus"]] == ["S", "M", "L", "XL"]
    before = everything(runtime)
    bring(runtime, *rows)
    assert everything(runtime) == before


def test_no_option_takes_the_place_of_another(shop: Client, runtime: Runtime) -> None:
    """An option whose name is no key gets a number, which another may have as its name."""
    named = {"Option1_Name": "Option2", "Option2_Name": "Gr\u00f6\u00dfe"}
    bring(runtime, mug(**named, Option1_Value="S", Option2_Value="M"))

    assert shown(shop)["skus"][0]["options"] == {"option2": "S", "option3": "M"}


def test_a_product_has_a_hundred_variants_at_most(shop: Client, runtime: Runtime) -> None:
    def rows(number: int) -> list[dict[str, str]]:
        more = (variant(f"v{each}", Variant_Price="1") for each in range(number - 1))
        return [mug(Option1_Name="Size", Option1_Value="first"), *more]

    over = bring(runtime, *rows(101))
    far_over = bring(runtime, *rows(300))
    most = bring(runtime, *rows(100))

    left = {"products": 1, "left": 1, "too_many_variants": 1, "pictures": 1}
    assert numbers(over) == numbers(far_over) == left
    assert numbers(most)["variants"] == 100
    assert len(shown(shop)["skus"]) == 100


def test_a_sku_of_another_product_leaves_the_whole_product(shop: Client, runtime: Runtime) -> None:
    put(shop, "moby", book("MUG-1"))
    shop.post(f"/shops/{SITE}/stock/MUG-1", change=3, key="ours")
    rows = [mug(), mug(Handle="cup", Variant_SKU="CUP"), mug(Handle="two", Variant_SKU="CUP")]

    dry = bring(runtime, *rows, dry=True)
    done = bring(runtime, *rows)

    assert numbers(dry) == numbers(done)
    assert numbers(done) == {
        "products": 3,
        "imported": 1,
        "variants": 1,
        "units": 12,
        "left": 2,
        "sku_taken": 2,
        "pictures": 3,
    }
    assert shop.get(product("moon-mug")).status == 404
    assert units(runtime) == {"MUG-1": 3, "CUP": 12}


def test_lines_of_a_product_that_come_again_are_left(shop: Client, runtime: Runtime) -> None:
    rows = [mug(), mug(Handle="cup", Variant_SKU="CUP"), variant("B", Variant_Price="1")]

    done = bring(runtime, *rows)

    assert numbers(done)["handle_again"] == 1
    assert [each.where for each in done.places] == ["line 4, moon-mug"]
    assert len(shown(shop)["skus"]) == 1


@pytest.mark.parametrize(
    ("handle", "title", "stored"),
    [
        ("moon-mug", "Moon", "moon-mug"),
        ("Moon_Mug", "Moon", "moon-mug-"),
        ("\u6708", "Moon", ""),
        ("m" * 80, "Moon", "m" * 55 + "-"),
        ("", "Moon Mug!", "moon-mug"),
    ],
)
def test_a_handle_is_the_id_or_makes_it(
    shop: Client, runtime: Runtime, handle: str, title: str, stored: str
) -> None:
    done = bring(runtime, mug(Handle=handle, Title=title))

    (row,) = runtime.database["shop.product"].find()
    assert row["_id"].startswith(f"{SITE}:{stored}")
    assert numbers(done).get("handle_changed", 0) == (stored != "moon-mug")
    assert shop.get(product(row["_id"].partition(":")[2])).status == 200


def test_texts_lose_pictures_scripts_and_what_is_over_the_bound(
    shop: Client, runtime: Runtime
) -> None:
    html = '<p>One<br>two <img src="https://cdn.example/a.png" alt="A"></p><script>x</script>'
    long = "".join(f"<p>{'word ' * 100}</p>" for _ in range(40))

    first = bring(runtime, mug(**{"Body (HTML)": html}))
    second = bring(runtime, mug(**{"Body (HTML)": long, "Handle": "long", "Variant SKU": "LONG"}))

    assert shown(shop)["html"] == "<p>One<br>\ntwo A</p>\n"
    assert list(first.reasons) == []
    assert dict(second.reasons) == {"text_cut": 1}
    assert shown(shop, "long")["text"].endswith("word\n\n\N{HORIZONTAL ELLIPSIS}")


def test_the_newer_template_is_read_alike(shop: Client, runtime: Runtime) -> None:
    names = {
        "Handle": "URL handle",
        "Body (HTML)": "Description",
        "Published": "Published on online store",
        "Option1 Name": "Option1 name",
        "Option1 Value": "Option1 value",
        "Variant SKU": "SKU",
        "Variant Price": "Price",
        "Variant Grams": "Weight value (grams)",
        "Variant Inventory Tracker": "Inventory tracker",
        "Variant Inventory Qty": "Inventory quantity",
        "Image Src": "Product image URL",
    }
    row = {names.get(name, name): value for name, value in MUG.items()}

    done = bring_file(runtime, written(row, head=list(row)))

    assert numbers(done) == ONE
    newer = shown(shop)
    bring(runtime, mug(Handle="older", Variant_SKU="OLDER"))
    older = shown(shop, "older")
    assert {name for name in newer if newer[name] != older[name]} <= {
        "id",
        "skus",
        "added_at",
        "updated_at",
    }


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + written(MUG),
        written(MUG).replace(b"\n", b"\r\n"),
        written(MUG, {}),
        written(MUG, head=[*HEAD, "Custom (product.metafields.a.b)"]),
    ],
    ids=["mark", "line ends", "empty line", "unknown column"],
)
def test_files_of_spreadsheets_are_read(shop: Client, runtime: Runtime, content: bytes) -> None:
    del shop
    assert numbers(bring_file(runtime, content)) == ONE


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "line 1: the file is empty"),
        (b"Name;Price\nMug;5\n", "line 1: there are no columns"),
        (b"Handle,Title" + b"," * 10_000 + b"\n", "line 1: there are more than 10,000 columns"),
        (b"PK\x03\x04\x14\x00\x08\x08\xff", "line 1: byte 0xff is not utf-8"),
        (written(MUG)[:-20] + b'"', "line 2"),
        (b'Handle,Title\n"mug,Mug\n', "line 2: unexpected end of data"),
        (b"Handle,Title\nmug,M\xfcg\n", "line 2: byte 0xfc is not utf-8"),
        (b"Handle,Title\nmug," + b"x" * (5 << 20) + b"\n", "line 2: field larger"),
        (b"Handle,Title\nmug," + b"x" * (9 << 20), "line 2: the row is too long"),
        (b"Handle,Title\n" + b'"x",' * (3 << 20), "line 2: the row is too long"),
    ],
)
def test_a_broken_file_is_refused(
    shop: Client, runtime: Runtime, content: bytes, message: str
) -> None:
    del shop
    with pytest.raises(BrokenFile, match=message):
        bring_file(runtime, content)


def test_a_second_import_changes_nothing_and_edits_stay(shop: Client, runtime: Runtime) -> None:
    rows = [mug(), mug(Handle="cup", Variant_SKU="CUP"), mug(Handle="pot", Variant_SKU="POT")]
    bring(runtime, *rows)
    before = everything(runtime)
    second = bring(runtime, *rows)
    assert everything(runtime) == before
    assert numbers(second) == {"products": 3, "present": 3, "pictures": 3}

    shop.delete(product("cup"))
    shop.post(f"/shops/{SITE}/stock/MUG-1", change=-5, key="sold")
    before = everything(runtime)
    later = [*rows[:2], mug(Handle="pot", Variant_SKU="POT", Variant_Inventory_Qty="90")]
    dry = bring(runtime, *later, dry=True)
    third = bring(runtime, *later)

    assert (
        numbers(dry)
        == numbers(third)
        == {
            "products": 3,
            "present": 2,
            "changed": 1,
            "pictures": 3,
        }
    )
    assert everything(runtime) == before
    assert units(runtime)["MUG-1"] == 7


def test_a_count_of_the_publisher_is_no_repeat_of_the_imports(
    shop: Client, runtime: Runtime
) -> None:
    bring(runtime, mug())
    path = f"/shops/{SITE}/stock/MUG-1"
    imported = units(runtime)["MUG-1"]
    shop.post(path, change=-2, key="broken")

    assert shop.post(path, counted=imported, key="import").status == 200

    assert units(runtime)["MUG-1"] == imported


def test_units_that_a_sku_had_before_stay(shop: Client, runtime: Runtime) -> None:
    put(shop, "old", book("MUG-1"))
    shop.post(f"/shops/{SITE}/stock/MUG-1", change=3, key="import")
    put(shop, "old", book("OTHER"), version=1)

    rows = [mug(), variant("B", Variant_SKU="MUG-2", Variant_Price="1")]
    rows[1]["Variant Inventory Qty"] = "4"

    dry = bring(runtime, *rows, dry=True)
    try:
        done = bring(runtime, *rows)
    except IdempotencyKeyReused:
        pytest.fail("the shelf of a former product stopped the import")

    assert numbers(dry) == numbers(done)
    assert numbers(done) == {
        "products": 1,
        "imported": 1,
        "variants": 2,
        "units": 4,
        "pictures": 1,
        "stock_kept": 1,
    }
    assert [each.where for each in done.places] == ["line 2, moon-mug, MUG-1"]
    assert units(runtime) == {"MUG-1": 3, "MUG-2": 4}


def test_there_has_to_be_a_shop(runtime: Runtime) -> None:
    with pytest.raises(UnknownShop):
        bring(runtime, mug())
