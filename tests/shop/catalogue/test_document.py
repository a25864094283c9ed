"""The facets of a list in the API's document: names that are open, and held to a pattern."""

import re
from typing import Any

import orjson
import pytest

from chalicelib.http.document import FILE
from chalicelib.shop.types import facets_of
from contract.compatibility import parameters_of
from tests.shop.support.factories import SITE, open_shop
from tests.support.http_client import Client


@pytest.fixture(scope="module")
def told() -> Any:
    """The parameter of the open names."""
    document = orjson.loads(FILE.read_bytes())
    listed = parameters_of(document, document["paths"]["/shops/{site}/products"]["get"])
    (found,) = (each for each in listed.values() if each["schema"].get("type") == "object")
    return found


def test_facets_are_parameters_of_open_names(told: Any) -> None:
    """Exploded, each property of the object is sent as a parameter of its own."""
    assert (told["in"], told["style"], told["explode"]) == ("query", "form", True)
    assert told["schema"]["additionalProperties"] is False


def test_the_documents_pattern_has_every_facet_and_the_call_takes_it(
    told: Any, client: Client
) -> None:
    open_shop(client)
    (pattern,) = told["schema"]["patternProperties"]

    for facet in facets_of(None):
        assert re.search(pattern, f"f.{facet}")
        assert client.get(f"/shops/{SITE}/products?f.{facet}=red").status == 200


@pytest.mark.parametrize("name", ["colour", "g.colour", "f.Colour", "f.", "f.colour.x"])
def test_a_name_outside_the_documents_pattern_is_refused(
    told: Any, client: Client, name: str
) -> None:
    open_shop(client)
    (pattern,) = told["schema"]["patternProperties"]

    assert not re.search(pattern, name)
    assert client.get(f"/shops/{SITE}/products?{name}=red").status == 422
