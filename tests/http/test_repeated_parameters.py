"""Parameters of a query that are given several times."""

import pytest

from tests.shop.support.buying import OTHER, SKU, stocked
from tests.shop.support.factories import SITE
from tests.support.http_client import Client


@pytest.mark.parametrize("query", [f"skus={SKU},{OTHER}", f"skus={SKU}&skus={OTHER}"])
def test_a_list_takes_every_value_of_a_repeated_parameter(client: Client, query: str) -> None:
    stocked(client, 5)

    assert client.get(f"/shops/{SITE}/stock?{query}").json["available"] == {SKU: 5, OTHER: 5}


def test_the_bound_of_a_list_counts_all_of_its_parameters(client: Client) -> None:
    stocked(client, 5)
    query = "&".join(f"skus=A{number}" for number in range(101))

    assert client.get(f"/shops/{SITE}/stock?{query}").status == 422


def test_of_any_other_parameter_the_last_value_counts(client: Client) -> None:
    paula = stocked(client, 5)

    assert len(paula.get(f"/shops/{SITE}/products?limit=2&limit=1").json["products"]) == 1


def test_an_unknown_parameter_is_refused_however_often_it_is_given(client: Client) -> None:
    stocked(client, 5)

    assert client.get(f"/shops/{SITE}/stock?skus={SKU}&x=1&x=2").status == 422
