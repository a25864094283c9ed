"""Who a browser or page is to Plaza: by a value that Plaza signed, and by nothing else."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from chalicelib.ads.visitors import visitor_ids
from chalicelib.ads.visitors.profiles import PROFILES
from chalicelib.runtime import Runtime
from tests.ads.support.events import ANN, SPRING, Page
from tests.ads.support.factories import activate, add_zones, publisher, put_campaign
from tests.support.http_client import Client

OLD, NEW = SecretStr("the old key of the tests"), SecretStr("the new key of the tests")


def test_a_value_gives_back_the_id_that_it_was_signed_for() -> None:
    made = visitor_ids.make(random.Random(1))

    assert visitor_ids.verify(visitor_ids.sign(made, [NEW]), [NEW]) == made


def test_a_value_of_the_old_key_is_good_until_the_key_is_dropped() -> None:
    value = visitor_ids.sign("ann", [OLD])

    assert visitor_ids.verify(value, [NEW, OLD]) == "ann"
    assert visitor_ids.verify(value, [NEW]) is None


@given(st.text(max_size=90))
def test_no_other_text_is_a_value(text: str) -> None:
    assert visitor_ids.verify(text, [NEW]) is None


@pytest.mark.parametrize("value", [None, "", "ann", "ann.", ".", "bob." + "A" * 20])
def test_an_id_alone_is_no_value(value: str | None) -> None:
    assert visitor_ids.verify(value, [NEW]) is None


def test_a_value_is_no_other_visitor_s() -> None:
    tag = visitor_ids.sign("ann", [NEW]).partition(".")[2]

    assert visitor_ids.verify(f"bob.{tag}", [NEW]) is None


@pytest.fixture
def capped(runtime: Runtime) -> Runtime:
    """A zone that shows each visitor its one ad once."""
    add_zones(runtime, "blog/banner", count_on="decision")
    put_campaign(runtime, SPRING)
    activate(runtime, SPRING)
    return runtime


def ask(client: Client, visitor: str) -> int:
    return len(client.get(f"/ads/blog/banner?visitor={visitor}").json["ads"])


def test_whoever_knows_an_id_caps_nobody_out(capped: Runtime, client: Client) -> None:
    for _ in range(3):
        assert ask(client, "ann") == 1
    assert capped.database[PROFILES.name].count_documents({}) == 0

    assert [ask(client, ANN), ask(client, ANN)] == [1, 0]


def test_a_site_s_server_is_given_a_value_for_each_of_its_members(
    capped: Runtime, client: Client
) -> None:
    def value(site: str, name: str) -> str:
        owner = publisher(client, site)
        return str(owner.post(f"/sites/{site}/visitors", name=name).json["visitor"])

    ann = value("blog", "ann@example.org")

    assert value("blog", "ann@example.org") == ann
    assert len({ann, value("blog", "bob"), value("shop", "ann@example.org")}) == 3
    assert [ask(client, ann), ask(client, ann)] == [1, 0]
    assert "example" not in str(list(capped.database[PROFILES.name].find()))


def test_a_site_names_its_own_members_alone(client: Client) -> None:
    path = "/sites/blog/visitors"

    assert client.post(path, name="ann").code == "unauthenticated"
    assert publisher(client, "shop").post(path, name="ann").code == "forbidden"
    assert publisher(client).post(path, name="").code == "invalid_request"


def test_a_beacon_from_before_an_erasure_makes_no_profile(runtime: Runtime, client: Client) -> None:
    add_zones(runtime, "blog/banner")
    put_campaign(runtime, SPRING)
    activate(runtime, SPRING)
    page = Page(client)
    before = page.ad("ann")
    assert client.delete(f"/visitors/{ANN}").status == 204

    assert page.see(before).status == 204

    (left,) = runtime.database[PROFILES.name].find()
    assert left["advertisers"] == {}
