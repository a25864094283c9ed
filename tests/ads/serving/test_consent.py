"""Whose profile a decision uses: by consent, by objection, by cookie and by the page."""

from collections.abc import Mapping

import pytest

from chalicelib.runtime import Runtime
from tests.ads.serving.support.asking import get, profiles, shown
from tests.ads.support.events import ANN, BOB
from tests.ads.support.factories import activate, add_zones, cpm, put_campaign
from tests.support.http_client import Client

SPRING = "mercedes:spring"


SUMMER = "bmw:summer"


@pytest.fixture
def strict(runtime: Runtime) -> Runtime:
    """A zone that counts its decisions, with two campaigns of the default cap."""
    add_zones(runtime, "blog/banner", count_on="decision")
    put_campaign(runtime, SPRING)
    put_campaign(runtime, SUMMER, pricing=cpm(1_000))
    activate(runtime, SPRING, SUMMER)
    return runtime


@pytest.mark.parametrize("header", ["Sec_GPC", "DNT"])
def test_a_visitor_who_objects_leaves_no_trace_and_is_shown_ads_by_context(
    strict: Runtime, client: Client, header: str
) -> None:
    objection = {header: "1", "Cookie": f"plaza_visitor={ANN}"}
    for _ in range(2):
        assert shown(client, f"visitor={ANN}", **objection) == ["mercedes:spring/one"]
    assert "Set-Cookie" not in get(client, "", **objection).headers
    assert profiles(strict) == []

    assert shown(client, f"visitor={ANN}&consent=true", **objection) == ["mercedes:spring/one"]
    assert [each["_id"] for each in profiles(strict)] == ["ann"]


def test_a_header_that_does_not_object_changes_nothing(strict: Runtime, client: Client) -> None:
    shown(client, f"visitor={ANN}", Sec_GPC="0", DNT="0")

    assert [each["_id"] for each in profiles(strict)] == ["ann"]


def test_without_consent_no_profile_is_used(strict: Runtime, client: Client) -> None:
    for _ in range(2):
        assert shown(client, f"visitor={ANN}&consent=false") == ["mercedes:spring/one"]

    assert profiles(strict) == []


def test_a_consenting_visitor_without_a_cookie_gets_one(strict: Runtime, client: Client) -> None:
    reply = get(client, "consent=true")

    cookie = reply.headers["Set-Cookie"]
    visitor = cookie.removeprefix("plaza_visitor=").partition(";")[0]
    attributes = cookie.partition("; ")[2]
    assert attributes == "Max-Age=7776000; Path=/; Secure; HttpOnly; SameSite=None; Partitioned"
    assert [each["_id"] for each in profiles(strict)] == [visitor.partition(".")[0]]
    assert visitor not in str(reply.json)

    again = get(client, "consent=true", Cookie=f"a=b; plaza_visitor={visitor}; c=d")
    assert "Set-Cookie" not in again.headers
    assert [ad["campaign_id"] for ad in again.json["ads"]] == [SUMMER]


@pytest.mark.usefixtures("strict")
@pytest.mark.parametrize(
    ("query", "headers"),
    [
        ("", {}),
        ("consent=false", {}),
        (f"consent=true&visitor={ANN}", {}),
        ("consent=true", {"Cookie": f"plaza_visitor={ANN}"}),
    ],
)
def test_a_cookie_is_set_only_by_consent_and_for_one_who_has_none(
    client: Client, query: str, headers: Mapping[str, str]
) -> None:
    assert "Set-Cookie" not in get(client, query, **headers).headers


@pytest.mark.usefixtures("strict")
@pytest.mark.parametrize("cookie", ["plaza_visitor=$ne", "plaza_visitor=", "plaza_visitor", ";;="])
def test_a_cookie_that_names_nobody_is_no_cookie(client: Client, cookie: str) -> None:
    assert "Set-Cookie" in get(client, "consent=true", Cookie=cookie).headers


def test_the_page_s_visitor_goes_before_the_cookie_s(strict: Runtime, client: Client) -> None:
    shown(client, f"visitor={ANN}", Cookie=f"plaza_visitor={BOB}")

    assert [each["_id"] for each in profiles(strict)] == ["ann"]
