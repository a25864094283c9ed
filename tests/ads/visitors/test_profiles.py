from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from pymongo import MongoClient
from pymongo.database import Database

from chalicelib.ads.visitors import histories, profiles
from chalicelib.ads.visitors.histories import (
    MAX_ADVERTISERS,
    MAX_EVENTS,
    ProfileReader,
    VisitorProfile,
)
from chalicelib.ads.visitors.profiles import KEPT, PROFILES, raw_profiles
from chalicelib.database import Document, open_database
from chalicelib.runtime import Runtime
from tests.ads.serving.support.zones import MILLISECOND, event
from tests.ads.visitors.support.profiles import add, entry, stored, times
from tests.social.support.interleaving import Meantime
from tests.support.clock import START

DAY = timedelta(days=1)


@pytest.fixture
def database(runtime: Runtime) -> Database[Document]:
    return runtime.database


def test_an_unknown_visitor_has_an_empty_profile(database: Database[Document]) -> None:
    profile = histories.read(raw_profiles(database), "nobody", {"x"})

    assert (profile.revision, dict(profile.histories), profile.is_full) == (None, {}, False)


def test_an_impression_is_kept_with_its_advertiser(database: Database[Document]) -> None:
    assert add(database, ("x", entry()), ("y", entry(slot=1)))

    found = stored(database)
    assert found["advertisers"] == {
        "x": {"impressions": [entry()]},
        "y": {"impressions": [entry(slot=1)]},
    }
    assert (found["last_seen"], found["advertiser_count"]) == (START, 2)


@pytest.mark.parametrize("advertiser", ["0", "-", "_id", "__proto__", "a" * 64])
def test_any_advertiser_s_name_is_only_a_name(
    database: Database[Document], advertiser: str
) -> None:
    assert add(database, (advertiser, entry()))

    found = histories.read(raw_profiles(database), "ann", {advertiser}).histories
    assert [each["ts"] for each in found[advertiser]["impressions"]] == [START]


def test_impressions_are_in_the_order_of_time_whenever_they_come(
    database: Database[Document],
) -> None:
    for days in (2, 1, 3):
        add(database, ("x", entry(START + days * DAY)))

    assert times(database) == [START + days * DAY for days in (1, 2, 3)]
    assert stored(database)["last_seen"] == START + 3 * DAY


def test_a_list_keeps_the_latest_100(database: Database[Document]) -> None:
    for count in range(MAX_EVENTS + 1):
        add(database, ("x", entry(START + count * MILLISECOND)))
        assert len(times(database)) == min(count + 1, MAX_EVENTS)

    assert times(database)[0] == START + MILLISECOND


def test_a_profile_takes_200_advertisers_and_leaves_out_another(
    database: Database[Document],
) -> None:
    everyone = [(f"x{number}", entry()) for number in range(MAX_ADVERTISERS)]
    assert add(database, *everyone)
    assert histories.read(raw_profiles(database), "ann", {"x0"}).is_full

    assert add(database, ("new", entry()), ("x0", entry(START + DAY)))

    found = stored(database)
    assert found["advertiser_count"] == len(found["advertisers"]) == MAX_ADVERTISERS
    assert "new" not in found["advertisers"]
    assert len(times(database, "x0")) == 2


def test_a_read_is_of_the_advertisers_named(database: Database[Document]) -> None:
    add(database, ("x", entry()), ("y", entry()))

    assert set(histories.read(raw_profiles(database), "ann", {"x", "z"}).histories) == {"x"}


def test_a_reader_joins_what_it_reads_later_to_the_first_revision(
    database: Database[Document],
) -> None:
    add(database, ("x", entry()), ("y", entry()))
    many = [f"x{number}" for number in range(histories.FEW_ADVERTISERS + 1)]
    reader = ProfileReader(raw_profiles(database), "ann", many)
    first = reader({"x"})
    add(database, ("y", entry()))

    second = reader({"y"})

    assert set(second.histories) == {"x", "y"}
    assert second.revision == first.revision != stored(database)["revision"]
    # So a write that is bound to the first read fails.
    assert not profiles.record(database, "ann", second, [("x", entry())], "mine")


def test_a_profile_that_another_has_changed_is_not_written(database: Database[Document]) -> None:
    unknown = histories.read(raw_profiles(database), "ann", {"x"})
    add(database, ("x", entry()))
    known = histories.read(raw_profiles(database), "ann", {"x"})
    add(database, ("y", entry()))

    for outdated in (unknown, known):
        assert not profiles.record(database, "ann", outdated, [("x", entry())], "mine")

    assert len(times(database)) == 1


def test_a_profile_erased_and_made_again_is_another(database: Database[Document]) -> None:
    add(database, ("x", entry()))
    outdated = histories.read(raw_profiles(database), "ann", {"x"})
    profiles.erase(database, "ann", START)
    add(database, ("x", entry()))

    assert not profiles.record(database, "ann", outdated, [("x", entry())], "mine")


def test_of_many_writers_that_read_the_same_one_writes(database: Database[Document]) -> None:
    for _ in range(10):
        profile = histories.read(raw_profiles(database), "ann", {"x"})

        def write(number: int, profile: VisitorProfile = profile) -> bool:
            return profiles.record(database, "ann", profile, [("x", entry())], f"r{number}")

        with ThreadPoolExecutor(4) as pool:
            assert sum(pool.map(write, range(4))) == 1
        profiles.erase(database, "ann", START)


def test_what_no_window_reaches_any_more_is_trimmed(database: Database[Document]) -> None:
    add(database, ("x", entry(START)), ("x", entry(START + MILLISECOND)), ("y", entry(START)))

    assert profiles.trim(database, START + KEPT - MILLISECOND) == 0
    assert profiles.trim(database, START + KEPT) == 1

    assert times(database) == [START + MILLISECOND]
    found = stored(database)
    assert (list(found["advertisers"]), found["advertiser_count"]) == (["x"], 1)


def test_clicks_and_conversions_are_trimmed_too(database: Database[Document]) -> None:
    add(database, ("x", entry()))
    lists = {
        f"advertisers.x.{name}": [event(START), event(START + DAY)]
        for name in ("clicks", "conversions")
    }
    database[PROFILES.name].update_one({"_id": "ann"}, {"$set": lists})

    profiles.trim(database, START + KEPT)

    assert stored(database)["advertisers"] == {
        "x": {
            "impressions": [],
            "clicks": [event(START + DAY)],
            "conversions": [event(START + DAY)],
        }
    }


def test_a_profile_is_trimmed_once_a_day_at_most_and_rests_when_empty(
    database: Database[Document],
) -> None:
    for minutes in range(3):
        add(database, ("x", entry(START + timedelta(minutes=minutes))))
    expiry = START + KEPT

    assert profiles.trim(database, expiry) == 1
    assert profiles.trim(database, expiry + timedelta(hours=23)) == 0
    assert profiles.trim(database, expiry + DAY) == 1
    assert profiles.trim(database, expiry + 9 * DAY) == 0
    assert stored(database)["advertisers"] == {}

    add(database, ("x", entry(expiry + 10 * DAY)))
    assert profiles.trim(database, expiry + 40 * DAY) == 1


def test_trimming_goes_through_more_profiles_than_a_batch_holds(
    database: Database[Document],
) -> None:
    for number in range(5):
        add(database, ("x", entry()), visitor=f"ann-{number}")

    assert profiles.trim(database, START + KEPT, batch=2) == 5


def test_two_trimmings_and_a_writer_at_once_lose_nothing(database: Database[Document]) -> None:
    now = START + KEPT
    for number in range(30):
        add(database, ("x", entry()), visitor=f"ann-{number}")

    def work(task: int) -> int:
        if task < 2:
            return profiles.trim(database, now)
        return sum(add(database, ("x", entry(now)), visitor=f"ann-{n}") for n in range(30))

    with ThreadPoolExecutor(3) as pool:
        *_, written = pool.map(work, range(3))

    assert written == 30
    for number in range(30):
        found = stored(database, f"ann-{number}")["advertisers"]["x"]["impressions"]
        assert [each["ts"] for each in found] == [now]


def test_profiles_leave_by_themselves_90_days_after_the_last_visit(
    database: Database[Document],
) -> None:
    (index,) = [
        each for each in database[PROFILES.name].list_indexes() if each["key"] == {"last_seen": 1}
    ]

    assert index["expireAfterSeconds"] == 90 * 86_400


def test_an_event_finds_the_profile_that_another_makes_at_the_same_time(
    database: Database[Document], mongodb_uri: str
) -> None:
    meantime = Meantime()

    def before_the_next() -> None:
        meantime.before("update", PROFILES.name, lambda: add(database, ("x", entry())))

    # The first update finds no profile, and the second is to make one.
    meantime.before("update", PROFILES.name, before_the_next)
    with MongoClient[Document](mongodb_uri, event_listeners=[meantime]) as client:
        watched = open_database(client, database.name)
        clicked = START + MILLISECOND
        profiles.add(watched, "ann", profiles.VisitorEvent("x", "click", entry(clicked), START))

    assert meantime.done()
    history = stored(database)["advertisers"]["x"]
    assert (len(history["impressions"]), len(history["clicks"])) == (1, 1)
