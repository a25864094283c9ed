"""An erasure leaves nothing of a visitor, and earlier events make no profile again."""

from datetime import datetime, timedelta

import pytest
from pymongo.database import Database

from chalicelib.ads.visitors import profiles
from chalicelib.ads.visitors.profiles import PROFILES
from chalicelib.database import Document
from chalicelib.runtime import Runtime
from tests.ads.serving.support.zones import MILLISECOND
from tests.ads.support.events import ANN, BOB
from tests.ads.visitors.support.profiles import add, entry, stored, times
from tests.support.clock import START, Clock
from tests.support.http_client import Client

DAY = timedelta(days=1)


@pytest.fixture
def database(runtime: Runtime) -> Database[Document]:
    return runtime.database


def meet(database: Database[Document], ts: datetime, served_at: datetime) -> None:
    met = profiles.VisitorEvent("x", "impression", entry(ts), served_at)
    profiles.add(database, "ann", met)


def test_an_admin_erases_a_visitor(client: Client, database: Database[Document]) -> None:
    add(database, ("x", entry()))
    admin = client.as_("root", roles=["admin"])

    assert admin.delete("/visitors/ann").status == 204
    assert stored(database)["advertisers"] == {}
    assert admin.delete("/visitors/ann").status == 204


@pytest.mark.parametrize("path", ["/visitors/me", f"/visitors/{ANN}"])
def test_visitors_erase_themselves_by_their_cookie(
    client: Client, database: Database[Document], path: str
) -> None:
    add(database, ("x", entry()))

    reply = client.request("DELETE", path, headers={"Cookie": f"plaza_visitor={ANN}"})

    assert reply.status == 204
    assert reply.headers["Set-Cookie"].startswith("plaza_visitor=; Max-Age=0;")
    assert stored(database)["advertisers"] == {}


def test_a_site_erases_a_visitor_whose_value_it_holds(
    client: Client, database: Database[Document]
) -> None:
    add(database, ("x", entry()))

    reply = client.delete(f"/visitors/{ANN}")

    assert (reply.status, reply.headers.get("Set-Cookie")) == (204, None)
    assert stored(database)["advertisers"] == {}


def test_an_id_alone_erases_nobody(client: Client, database: Database[Document]) -> None:
    add(database, ("x", entry()))
    forged = ANN[:-1] + ("A" if ANN[-1] != "A" else "B")

    def delete(caller: Client, visitor: str = "ann", cookie: str = "plaza_visitor=ann") -> str:
        return caller.request("DELETE", f"/visitors/{visitor}", headers={"Cookie": cookie}).code

    assert delete(client) == "unauthenticated"
    assert delete(client, forged, f"plaza_visitor={forged}") == "unauthenticated"
    assert delete(client, cookie=f"plaza_visitor={BOB}") == "unauthenticated"
    assert delete(client.as_("ann")) == "forbidden"
    assert client.delete("/visitors/$ne").code == "invalid_request"
    assert client.delete("/visitors/a.b").code == "invalid_request"
    assert stored(database)["advertisers"]


@pytest.mark.parametrize("cookie", ["", "other=1", "plaza_visitor=ann"])
def test_a_browser_that_nobody_knows_has_nothing_to_erase(
    client: Client, database: Database[Document], cookie: str
) -> None:
    add(database, ("x", entry()))

    reply = client.request("DELETE", "/visitors/me", headers={"Cookie": cookie})

    assert reply.status == 204
    assert reply.headers["Set-Cookie"].startswith("plaza_visitor=; Max-Age=0;")
    assert stored(database)["advertisers"]
    assert database[PROFILES.name].count_documents({}) == 1


def test_an_event_of_an_ad_served_before_an_erasure_makes_no_profile(
    database: Database[Document],
) -> None:
    profiles.erase(database, "ann", START)

    meet(database, START + DAY, served_at=START)
    assert stored(database)["advertisers"] == {}

    meet(database, START + DAY, served_at=START + MILLISECOND)
    assert times(database) == [START + DAY]


def test_the_time_of_an_erasure_is_kept_for_a_day(database: Database[Document]) -> None:
    profiles.erase(database, "ann", START)

    profiles.trim(database, START + DAY - MILLISECOND)
    assert stored(database)
    profiles.trim(database, START + DAY)
    assert database[PROFILES.name].count_documents({}) == 0


def test_a_visitor_who_returns_after_an_erasure_keeps_the_new_profile(
    database: Database[Document],
) -> None:
    profiles.erase(database, "ann", START)
    meet(database, START + MILLISECOND, served_at=START + MILLISECOND)

    profiles.trim(database, START + DAY)

    assert times(database) == [START + MILLISECOND]


def test_a_profile_can_be_written_again_after_an_erasure(
    database: Database[Document], clock: Clock
) -> None:
    add(database, ("x", entry()))
    profiles.erase(database, "ann", START)

    assert add(database, ("x", entry(clock())))
    assert len(times(database)) == 1
