"""Tokens of texts in any script."""

from typing import Any
from urllib.parse import quote

import pytest

from chalicelib.runtime import Runtime
from chalicelib.shop.catalogue import indexing, writing
from chalicelib.shop.catalogue.rows import PRODUCTS
from chalicelib.shop.search import MAX_STORED_TOKENS, stored_tokens
from chalicelib.words import tokens
from tests.shop.support.factories import SITE, book, open_shop, put
from tests.support.http_client import Client


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Moby-Dick; or, The WHALE", "moby dick or the whale"),
        ("Straße STRASSE", "strasse"),
        ("\uff21\uff22\uff23 \uff11\uff12 \ufb01n", "abc 12 fin"),
        ("e\u0301te\u0301 ÉTÉ", "ete"),
        ("Café CAFÉ cafe", "cafe"),
        ("Ångström Žižek Việt Nam", "angstrom zizek viet nam"),
        ("Άλφα ёлка Ёлка", "αλφα елка"),
        ("garçon kožíšek", "garcon kozisek"),
        ("亚麻衬衫", "亚麻 麻衬 衬衫"),
        ("衬", "衬"),
        ("红衬衫 red2 XL", "红衬 衬衫 red2 xl"),
        ("ｶﾞﾗｽ ひらがな", "ガラ ラス ひら らが がな"),
        ("서울 사람", "서울 사람"),
        ("हिन्दी", "हिन्दी"),
        ("がき カギ", "がき カギ"),
        ("한국어 ㄱ", "한국 국어 ᄀ"),
        ("עִבְרִית", "עברית"),
        ("don't", "don t"),
        ("!? — …", ""),
    ],
)
def test_tokens(text: str, expected: str) -> None:
    assert tokens(text) == expected.split()


def test_a_title_counts_most_and_each_token_once() -> None:
    found = stored_tokens("Moby moby", ["whales"], "Moby and whales")

    assert found == ["moby"] * 3 + ["whales"] * 2 + ["and"]


def test_single_characters_of_a_run_are_found() -> None:
    assert stored_tokens("衬衫", [], "") == ["衬"] * 3 + ["衫"] * 3 + ["衬衫"] * 3


def test_a_long_text_is_found_by_its_beginning() -> None:
    found = stored_tokens("Title", [], " ".join(f"w{number}" for number in range(2_000)))

    assert len(found) == MAX_STORED_TOKENS
    assert found[:4] == ["title"] * 3 + ["w0"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("衬衫", ["cotton", "linen"]),
        ("亚麻衬衫", ["linen"]),
        ("衬", ["cotton", "linen"]),
        ("裤子", ["trousers"]),
        ("麻衬", ["linen"]),
        ("衫棉", []),
    ],
)
def test_chinese_titles_are_found_wherever_the_words_are(
    client: Client, query: str, expected: list[str]
) -> None:
    paula = open_shop(client)
    titles = {"linen": "夏季亚麻衬衫", "cotton": "棉衬衫男款", "trousers": "亚麻裤子"}
    for name, title in titles.items():
        put(paula, name, book(name, title=title))

    found = client.get(f"/shops/{SITE}/products?order=price&q={query}").json["products"]

    assert sorted(each["id"] for each in found) == expected


@pytest.mark.parametrize(
    ("title", "query"),
    [("กาแฟสดคั่วบด", "กาแฟ"), ("กาแฟสดคั่วบด", "คั่วบด"), ("Łódź", "lodz"), ("lodz", "Łódź")],
)
def test_titles_are_found_as_their_readers_type_them(
    client: Client, title: str, query: str
) -> None:
    paula = open_shop(client)
    put(paula, "one", book("one", title=title))
    put(paula, "other", book("other", title="Moby-Dick"))

    for order in ("price", "best"):
        path = f"/shops/{SITE}/products?order={order}&q={quote(query)}"
        assert [each["id"] for each in client.get(path).json["products"]] == ["one"]


@pytest.mark.parametrize("layout", ["details", "attributes"])
def test_products_of_release_0_3_0_are_found_by_todays_words(
    client: Client, runtime: Runtime, layout: str
) -> None:
    paula = open_shop(client)
    assert paula.post(f"/shops/{SITE}/layout", store=layout).status in {200, 202}
    put(paula, "lodz", book("lodz", title="Łódź", details={"author": ["Æsop"], "language": "en"}))
    rows = PRODUCTS.of(runtime.database)
    rows.update_many({}, {"$set": {"search": ["łodz"] * 3}, "$unset": {"search_rules": ""}})
    path = f"/shops/{SITE}/products?order=price&q="

    assert indexing.refresh(runtime) == 1

    for query in ("lodz", "aesop"):
        assert [each["id"] for each in client.get(path + query).json["products"]] == ["lodz"]
    assert indexing.refresh(runtime) == 0


def test_a_product_that_is_written_while_its_words_are_made_anew_keeps_its_own(
    client: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    paula = open_shop(client)
    put(paula, "one", book("one", title="Before"))
    PRODUCTS.of(runtime.database).update_many({}, {"$unset": {"search_rules": ""}})
    tokens_of = writing.tokens_of

    def written_first(*given: Any) -> list[str]:
        monkeypatch.setattr(indexing, "tokens_of", tokens_of)
        assert put(paula, "one", book("one", title="After"), version=1).status == 200
        return tokens_of(*given)

    monkeypatch.setattr(indexing, "tokens_of", written_first)
    indexing.refresh(runtime)

    path = f"/shops/{SITE}/products?order=price&q=after"
    assert [each["id"] for each in client.get(path).json["products"]] == ["one"]


@pytest.mark.parametrize("query", ["cafe", "café", "CAFÉ", "cafe\u0301"])
def test_accents_do_not_matter(client: Client, query: str) -> None:
    paula = open_shop(client)
    for name, title in {"with": "Un café", "without": "A cafe", "other": "A cave"}.items():
        put(paula, name, book(name, title=title))

    found = client.get(f"/shops/{SITE}/products?order=price&q={quote(query)}").json["products"]

    assert sorted(each["id"] for each in found) == ["with", "without"]
