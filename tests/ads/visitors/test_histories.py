"""What a beacon or click adds to a visitor's profile, once, within the profile's bounds."""

from datetime import timedelta
from typing import Any

from chalicelib.ads.visitors import histories, profiles
from chalicelib.ads.visitors.histories import MAX_ADVERTISERS, MAX_EVENTS, Entry
from chalicelib.runtime import Runtime
from tests.ads.campaigns.test_atomicity import in_threads


def entry(runtime: Runtime, number: int) -> Entry:
    return {
        "ts": runtime.now() + timedelta(seconds=number),
        "campaign": "spring",
        "ad_unit_id": "one",
        "site_id": "blog",
        "zone_id": "banner",
        "decision": f"decision-{number}",
        "slot": 0,
    }


def add(runtime: Runtime, number: int, advertiser: str = "mercedes") -> None:
    event = entry(runtime, number)
    met = profiles.VisitorEvent(advertiser, "impression", event, event["ts"])
    profiles.add(runtime.database, "ann", met)


def profile(runtime: Runtime) -> Any:
    return runtime.database[profiles.PROFILES.name].find_one({"_id": "ann"})


def decisions(runtime: Runtime, advertiser: str = "mercedes") -> list[str]:
    events = profile(runtime)["advertisers"][advertiser]["impressions"]
    return [event["decision"] for event in events]


def test_the_first_events_of_a_visitor_are_all_kept_though_they_come_at_once(
    runtime: Runtime,
) -> None:
    in_threads(lambda number: add(runtime, number), 8)

    assert decisions(runtime) == [f"decision-{number}" for number in range(8)]


def test_copies_that_come_at_once_are_kept_once(runtime: Runtime) -> None:
    in_threads(lambda _: add(runtime, 1), 8)

    assert decisions(runtime) == ["decision-1"]


def test_events_are_in_the_order_of_time_whatever_order_they_come_in(runtime: Runtime) -> None:
    for number in (2, 1, 3):
        add(runtime, number)

    assert decisions(runtime) == ["decision-1", "decision-2", "decision-3"]


def test_a_full_list_drops_its_oldest_event(runtime: Runtime) -> None:
    for number in range(MAX_EVENTS + 1):
        add(runtime, number)

    assert decisions(runtime)[0] == "decision-1"
    assert len(decisions(runtime)) == MAX_EVENTS


def test_a_full_profile_takes_no_further_advertiser_but_goes_on_with_its_own(
    runtime: Runtime,
) -> None:
    for number in range(MAX_ADVERTISERS):
        add(runtime, number, f"advertiser-{number}")

    add(runtime, 1_000, "one-more")
    add(runtime, 1_000, "advertiser-0")

    assert profile(runtime)["advertiser_count"] == MAX_ADVERTISERS
    assert "one-more" not in profile(runtime)["advertisers"]
    assert decisions(runtime, "advertiser-0") == ["decision-0", "decision-1000"]


def test_a_decision_that_read_the_profile_before_has_to_read_it_again(runtime: Runtime) -> None:
    add(runtime, 1)
    read = histories.read(profiles.raw_profiles(runtime.database), "ann", ["mercedes"])
    add(runtime, 2)

    served = [("mercedes", entry(runtime, 3))]
    assert not profiles.record(runtime.database, "ann", read, served, "decision-3")
    read = histories.read(profiles.raw_profiles(runtime.database), "ann", ["mercedes"])
    assert profiles.record(runtime.database, "ann", read, served, "decision-3")
