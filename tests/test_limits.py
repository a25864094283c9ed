"""How often people and addresses may write."""

import dataclasses
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from chalice.app import Blueprint, Response

from chalicelib import limits
from chalicelib.database import Document
from chalicelib.errors import Misconfigured, TooFast
from chalicelib.http import Request, no_content, router
from chalicelib.identity import Principal
from chalicelib.limits import ADDRESS_SHARE, LIMITS, WIDE_SHARE, Limit, take
from chalicelib.runtime import Runtime
from tests.http.support.things import app_with
from tests.support.clock import Clock
from tests.support.commands import Commands, listening
from tests.support.http_client import Client

FIVE = Limit("five", burst=5, every=timedelta(seconds=10))
ANN = Principal("ann", "Ann")
OFFICE = "192.0.2.0"


@pytest.fixture
def limited(runtime: Runtime) -> Runtime:
    """A runtime with the limits that a deployment has."""
    return with_limits(runtime, 1.0)


def with_limits(runtime: Runtime, factor: float | None) -> Runtime:
    return dataclasses.replace(
        runtime, settings=runtime.settings.model_copy(update={"limits": factor})
    )


def allowed(runtime: Runtime, caller: Principal | None = ANN, address: str | None = None) -> bool:
    try:
        take(runtime, FIVE, caller, address)
    except TooFast:
        return False
    return True


def retry_after(runtime: Runtime, caller: Principal | None = ANN) -> int:
    with pytest.raises(TooFast) as denial:
        take(runtime, FIVE, caller, None)
    return int(denial.value.headers["Retry-After"])


def rows(runtime: Runtime) -> list[Document]:
    return list(runtime.database[LIMITS.name].find())


def test_a_person_may_write_a_burst_and_then_one_each_interval(
    limited: Runtime, clock: Clock
) -> None:
    assert [allowed(limited) for _ in range(7)] == [True] * 5 + [False] * 2

    clock.advance(seconds=9.999)
    assert not allowed(limited)
    clock.advance(seconds=0.001)
    assert [allowed(limited) for _ in range(2)] == [True, False]


def test_whoever_pauses_has_the_whole_burst_again(limited: Runtime, clock: Clock) -> None:
    for _ in range(5):
        take(limited, FIVE, ANN, None)
    clock.advance(seconds=50)

    assert [allowed(limited) for _ in range(6)] == [True] * 5 + [False]


def test_a_long_pause_saves_no_more_than_a_burst(limited: Runtime, clock: Clock) -> None:
    take(limited, FIVE, ANN, None)
    clock.advance(days=3)

    assert [allowed(limited) for _ in range(6)] == [True] * 5 + [False]


def test_who_comes_again_when_told_to_is_allowed(limited: Runtime, clock: Clock) -> None:
    for _ in range(5):
        take(limited, FIVE, ANN, None)
        clock.advance(seconds=0.7)

    for _ in range(4):
        clock.advance(seconds=retry_after(limited))
        assert allowed(limited)


def test_a_denial_says_how_long_to_wait_in_whole_seconds(limited: Runtime, clock: Clock) -> None:
    for _ in range(5):
        take(limited, FIVE, ANN, None)

    assert retry_after(limited) == 10
    clock.advance(seconds=9.5)
    assert retry_after(limited) == 1


def test_people_and_classes_of_writes_are_counted_apart(limited: Runtime) -> None:
    for _ in range(5):
        take(limited, FIVE, ANN, None)

    assert not allowed(limited, ANN)
    assert allowed(limited, Principal("bob", "Bob"))
    take(limited, limits.POSTS, ANN, None)


def test_an_address_may_write_more_than_a_person_and_not_without_end(limited: Runtime) -> None:
    people = [Principal(f"p{number}", "P") for number in range(5 * ADDRESS_SHARE + 2)]

    written = [allowed(limited, each, OFFICE) for each in people]

    assert written == [True] * 5 * ADDRESS_SHARE + [False] * 2
    assert allowed(limited, people[-1], "198.51.100.0")


def test_the_networks_of_one_site_share_a_wider_allowance(limited: Runtime) -> None:
    """A site has a /48 of IPv6, and so 65,536 networks to write from."""
    most = 5 * ADDRESS_SHARE * WIDE_SHARE

    written = [allowed(limited, None, f"2001:db8:1:{number:x}::") for number in range(most + 2)]

    assert written == [True] * most + [False] * 2
    assert not allowed(limited, ANN, "2001:db8:1:ffff::")
    assert allowed(limited, ANN, "2001:db8:2:ffff::")


def test_without_a_token_the_address_is_what_is_limited(limited: Runtime) -> None:
    written = [allowed(limited, None, OFFICE) for _ in range(5 * ADDRESS_SHARE + 1)]

    assert written == [True] * 5 * ADDRESS_SHARE + [False]


def test_who_is_limited_does_not_use_up_what_their_address_has(limited: Runtime) -> None:
    for _ in range(5 * ADDRESS_SHARE):
        allowed(limited, ANN, OFFICE)

    assert allowed(limited, Principal("bob", "Bob"), OFFICE)


def test_a_limited_address_does_not_use_up_what_a_person_has(limited: Runtime) -> None:
    for _ in range(5 * ADDRESS_SHARE):
        take(limited, FIVE, None, OFFICE)
    for _ in range(9):
        assert not allowed(limited, ANN, OFFICE)

    assert [allowed(limited, ANN, "198.51.100.0") for _ in range(6)] == [True] * 5 + [False]


def test_an_admin_is_not_limited(limited: Runtime) -> None:
    admin = Principal("root", "Root", frozenset({"admin"}))

    assert all(allowed(limited, admin, OFFICE) for _ in range(100))
    assert rows(limited) == []


def test_limits_can_be_lifted_and_scaled(runtime: Runtime) -> None:
    twice, half, off = (with_limits(runtime, factor) for factor in (2.0, 0.5, None))

    assert [allowed(twice, Principal("a", "A")) for _ in range(11)] == [True] * 10 + [False]
    assert [allowed(half, Principal("b", "B")) for _ in range(3)] == [True] * 2 + [False]
    assert all(allowed(off) for _ in range(30))


def test_a_row_names_neither_a_person_nor_an_address(limited: Runtime) -> None:
    take(limited, FIVE, Principal("a-very-rare-name", "A"), OFFICE)

    stored = repr(rows(limited))
    assert "rare" not in stored
    assert "192" not in stored


def test_a_row_is_deleted_once_it_limits_nothing(limited: Runtime, clock: Clock) -> None:
    take(limited, FIVE, ANN, None)

    (row,) = rows(limited)
    assert row["tat"] == clock() + FIVE.every
    (index,) = (each.document for each in LIMITS.indexes)
    assert index["key"] == {"tat": 1}
    assert index["expireAfterSeconds"] == 0


def test_all_addresses_together_take_a_bounded_number_of_rows(
    limited: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "SLOTS", 4)

    for number in range(40):
        take(limited, FIVE, None, f"10.0.{number}.0")

    assert len(rows(limited)) == 4


def test_without_a_signing_key_a_limit_is_a_fault_of_the_deployment(limited: Runtime) -> None:
    keyless = dataclasses.replace(
        limited, settings=limited.settings.model_copy(update={"signing_keys": ()})
    )
    with pytest.raises(Misconfigured):
        take(keyless, FIVE, ANN, None)


def test_two_hundred_calls_at_once_are_allowed_exactly_the_burst(limited: Runtime) -> None:
    with ThreadPoolExecutor(8) as pool:
        written = list(pool.map(lambda _: allowed(limited, ANN, OFFICE), range(200)))

    assert sum(written) == 5


def test_first_writes_that_race_are_all_allowed(limited: Runtime) -> None:
    """Two that insert the same row at once: the slower one counts on the row of the faster."""
    for number in range(60):
        barrier = threading.Barrier(4)

        def write(person: Principal, start: threading.Barrier = barrier) -> bool:
            start.wait()
            return allowed(limited, person, f"10.1.{person.id[1:]}.0")

        with ThreadPoolExecutor(4) as pool:
            written = list(pool.map(write, [Principal(f"p{number}", "P")] * 4))
        assert written == [True] * 4


def test_a_denial_writes_nothing(limited: Runtime) -> None:
    for _ in range(5):
        take(limited, FIVE, ANN, OFFICE)
    for _ in range(5 * ADDRESS_SHARE - 5):
        take(limited, FIVE, None, OFFICE)
    oplog = limited.database.client.get_database("local")["oplog.rs"]
    namespace = f"{limited.database.name}.{LIMITS.name}"
    written = {"$or": [{"ns": namespace}, {"o.applyOps.ns": namespace}]}
    before = oplog.count_documents(written)

    for person in (ANN, Principal("bob", "Bob"), None):
        assert not any(allowed(limited, person, OFFICE) for _ in range(100))
    assert not any(allowed(limited, ANN, None) for _ in range(10))

    assert oplog.count_documents(written) == before > 0


@pytest.fixture
def listened(limited: Runtime, commands: Commands) -> Iterator[Runtime]:
    with listening(limited, commands) as heard:
        yield heard


def test_a_write_is_counted_in_one_round_trip(listened: Runtime, commands: Commands) -> None:
    for network in (OFFICE, OFFICE, "2001:db8:1:2::"):
        commands.names.clear()
        take(listened, FIVE, ANN, network)
        assert commands.names == ["update"]


@pytest.fixture
def written() -> list[str]:
    """Who has written through the API."""
    return []


@pytest.fixture
def api(limited: Runtime, token: Callable[..., str], written: list[str]) -> Client:
    def writing(runtime: Runtime) -> Blueprint:
        blueprint = Blueprint(__name__)

        @router(blueprint, runtime)("POST", "/writes", limit=FIVE)
        def write(request: Request) -> Response:
            written.append(request.principal().id)
            return no_content()

        return blueprint

    return Client(app_with(limited, writing), token)


def test_a_route_that_declares_a_limit_answers_429_and_does_nothing(
    api: Client, written: list[str]
) -> None:
    ann = api.as_("ann")

    replies = [ann.request("POST", "/writes") for _ in range(6)]

    assert [reply.status for reply in replies] == [204] * 5 + [429]
    assert replies[-1].code == "too_fast"
    assert replies[-1].headers["Retry-After"] == "10"
    assert written == ["ann"] * 5


def test_a_bad_token_counts_against_nobody(api: Client, limited: Runtime) -> None:
    reply = api.request("POST", "/writes", headers={"Authorization": "Bearer a.b.c"})

    assert (reply.status, reply.code) == (401, "unauthenticated")
    assert rows(limited) == []


def test_every_limit_has_a_name_of_its_own() -> None:
    names = [each.name for each in vars(limits).values() if isinstance(each, Limit)]

    assert len(names) > 1
    assert len(set(names)) == len(names)
