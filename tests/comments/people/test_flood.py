"""A flood of posts by one address and by a thousand: limited, and nothing is lost for others."""

import dataclasses

import pytest

from app import create_app
from chalicelib.limits import ADDRESS_SHARE, LIMITS, NODE_COMMENTS, SLOTS
from chalicelib.runtime import Runtime
from tests.support.http_client import Client

PAGE = {"title": "A page", "url": "https://blog.example/a-page"}
FLOOD = 1_000
TOO_FAST = 429


@pytest.fixture
def flooded(runtime: Runtime, client: Client) -> Client:
    """A deployment with its limits, behind a proxy that names the addresses of callers."""
    given = {"limits": 1.0, "trusted_hops": 1}
    limited = dataclasses.replace(runtime, settings=runtime.settings.model_copy(update=given))
    open_to_all = dataclasses.replace(client, app=create_app(limited))
    paula = open_to_all.as_("paula", roles=["publisher"])
    assert paula.put("/nodes/a-page", **PAGE).status == 201
    return open_to_all


def post(client: Client, person: str, address: str) -> int:
    caller = client.as_(person)
    proxied = {**caller.headers, "X-Forwarded-For": f"{address}, 10.0.0.1"}
    from_there = dataclasses.replace(caller, headers=proxied)
    return from_there.post("/nodes/a-page/comments", text=f"I am {person}").status


def written(runtime: Runtime) -> int:
    """Return how many entries the oplog has of this database."""
    oplog = runtime.database.client.get_database("local")["oplog.rs"]
    of_here = {"$regex": f"^{runtime.database.name}[.]"}
    return oplog.count_documents({"$or": [{"ns": of_here}, {"o.applyOps.ns": of_here}]})


def test_of_a_thousand_people_at_one_address_the_rest_is_refused_without_a_write(
    flooded: Client, runtime: Runtime
) -> None:
    most = NODE_COMMENTS.burst * ADDRESS_SHARE
    taken = [post(flooded, f"p{number}", "192.0.2.7") for number in range(most)]
    before = written(runtime)
    refused = [post(flooded, f"p{number}", "192.0.2.7") for number in range(most, FLOOD)]

    assert set(taken) == {201}
    assert set(refused) == {TOO_FAST}
    assert written(runtime) == before > 0
    assert post(flooded, "ann", "198.51.100.7") == 201
    assert flooded.get("/nodes/a-page").json["counts"] == {"visible": most + 1}


def test_a_thousand_addresses_of_one_person_make_no_more_of_them(
    flooded: Client, runtime: Runtime
) -> None:
    addresses = [f"10.{number // 256}.{number % 256}.1" for number in range(FLOOD)]
    statuses = [post(flooded, "vic", address) for address in addresses]

    assert statuses == [201] * 3 + [TOO_FAST] * (FLOOD - 3)
    slots = {"_id": {"$regex": f"^{NODE_COMMENTS.name}:@"}}
    assert LIMITS.of(runtime.database).count_documents(slots) <= min(SLOTS, FLOOD)
    assert post(flooded, "ann", addresses[0]) == 201


def test_one_person_s_flood_takes_nothing_of_the_others_at_their_address(
    flooded: Client, runtime: Runtime
) -> None:
    here = "192.0.2.7"
    assert [post(flooded, "vic", here) for _ in range(3)] == [201] * 3
    before = written(runtime)

    refused = {post(flooded, "vic", here) for _ in range(FLOOD)}

    assert (refused, written(runtime)) == ({TOO_FAST}, before)
    assert post(flooded, "ann", here) == 201
