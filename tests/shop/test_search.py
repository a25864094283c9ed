"""Tokens of texts in any script."""

from urllib.parse import quote

import pytest

from chalicelib.shop.search import MAX_STORED_TOKENS, stored_tokens, tokens
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
        ("עִבְרִית", "עִבְרִית"),
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


@pytest.mark.parametrize("query", ["cafe", "café", "CAFÉ", "cafe\u0301"])
def test_accents_do_not_matter(client: Client, query: str) -> None:
    paula = open_shop(client)
    for name, title in {"with": "Un café", "without": "A cafe", "other": "A cave"}.items():
        put(paula, name, book(name, title=title))

    found = client.get(f"/shops/{SITE}/products?order=price&q={quote(query)}").json["products"]

    assert sorted(each["id"] for each in found) == ["with", "without"]
