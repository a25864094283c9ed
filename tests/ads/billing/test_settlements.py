"""What a day earned reaches sites and the network once, whatever stops the schedule."""

from typing import Any

import pytest
from pymongo.errors import ExecutionTimeout

from chalicelib import deadlines
from chalicelib.ads import accounts, jobs
from chalicelib.ads.billing import settlements
from chalicelib.ads.billing.transfers import Payment, transfer
from chalicelib.ads.budgets.leases import Terms, acquire
from chalicelib.ads.reports.counters import DAYS
from chalicelib.ads.reports.progress import PROGRESS, PlaceInDay
from chalicelib.ads.reports.roll_ups import OVERLAP
from chalicelib.runtime import Runtime
from chalicelib.wiring.schema import COLLECTIONS
from tests.ads.billing.support.settling import settle
from tests.ads.campaigns.test_atomicity import in_threads
from tests.ads.support.events import PRICE, SPRING, click, count, impression
from tests.ads.support.factories import activate, put_campaign
from tests.ads.support.history import DAY, HOUR, make_history
from tests.support.clock import Clock


@pytest.fixture
def reported(runtime: Runtime) -> Runtime:
    return make_history(runtime)


def balances(runtime: Runtime) -> dict[str, int]:
    names = ("advertiser:mercedes", "site:blog", "network")
    found = runtime.database[accounts.ACCOUNTS.name].find({"_id": {"$in": names}})
    return {account["_id"]: account["balance_micros"] for account in found}


def fund(runtime: Runtime, amount: int, key: str = "top-up") -> None:
    for account in (accounts.BANK, "advertiser:mercedes"):
        accounts.open_account(runtime.database, account, runtime.now())
    movement = Payment(accounts.BANK, "advertiser:mercedes", amount)
    transfer(runtime.database, key, movement, runtime.now())


def test_the_schedules_of_an_empty_plaza_write_nothing(runtime: Runtime) -> None:
    jobs.run_minute(runtime)
    jobs.roll_up(runtime)
    jobs.settle(runtime)

    assert [each.name for each in COLLECTIONS if runtime.database[each.name].find_one()] == []


def test_a_day_that_is_over_is_settled_once(reported: Runtime, clock: Clock) -> None:
    fund(reported, 10_000)
    clock.advance(hours=12)

    for _ in range(3):
        settle(reported)

    # The impressions up to 1 March: the days of the later ones are not over.
    assert balances(reported) == {
        "advertiser:mercedes": 10_000 - 7 * PRICE,
        "site:blog": 7 * 175,
        "network": 7 * 75,
    }


def test_runs_at_once_pay_once(reported: Runtime, clock: Clock) -> None:
    fund(reported, 10_000)
    clock.advance(hours=12)

    in_threads(lambda _: settlements.settle(reported), 4)
    clock.advance(minutes=5)
    settle(reported)

    assert balances(reported) == {
        "advertiser:mercedes": 10_000 - 7 * PRICE,
        "site:blog": 7 * 175,
        "network": 7 * 75,
    }


def test_runs_at_once_that_read_different_sums_pay_the_whole_in_the_end(
    reported: Runtime, clock: Clock
) -> None:
    fund(reported, 10_000)
    clock.advance(hours=13)
    settlements._record_debts(reported, clock())
    early = list(settlements.SETTLEMENTS.of(reported.database).find())
    lease = acquire(reported.database, SPRING, Terms(50, HOUR), clock(), reported.random)
    assert lease
    count(reported, impression(300, lease["_id"], DAY))
    settle(reported)

    for settlement in early:
        settlements._pay(reported.database, settlement, clock())
    settle(reported)

    assert balances(reported)["advertiser:mercedes"] == 10_000 - 8 * PRICE


def test_an_event_counted_late_is_settled_by_the_next_run(reported: Runtime, clock: Clock) -> None:
    fund(reported, 10_000)
    clock.advance(hours=13)
    settle(reported)
    terms = Terms(50, HOUR)
    lease = acquire(reported.database, SPRING, terms, clock(), reported.random)
    assert lease
    count(reported, impression(300, lease["_id"], DAY))

    settle(reported)

    assert balances(reported)["site:blog"] == 8 * 175


def test_a_settlement_without_funds_waits_for_them(reported: Runtime, clock: Clock) -> None:
    fund(reported, 999)
    clock.advance(hours=12)
    settle(reported)
    assert balances(reported)["site:blog"] < 7 * 175
    fund(reported, 10_000, "another")
    clock.advance(days=30)

    settle(reported)

    assert balances(reported)["advertiser:mercedes"] == 10_999 - 8 * PRICE


def test_those_without_funds_do_not_keep_the_others_from_being_paid(
    reported: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Time for two payments.
    monkeypatch.setattr(deadlines, "share", lambda _: iter((True, True, False)).__next__)
    put_campaign(reported, "audi:clicks", pricing={"type": "cpc", "bid_micros": PRICE})
    activate(reported, "audi:clicks")
    for number in range(3):
        day = DAY - number * 24 * HOUR
        count(reported, click(number, day, campaign_id="audi:clicks", price_micros=PRICE))
    fund(reported, 10_000)
    clock.advance(hours=12)

    for _ in range(10):
        clock.advance(hours=1)
        settle(reported)

    assert balances(reported)["advertiser:mercedes"] == 10_000 - 7 * PRICE


def test_an_event_that_the_dead_letters_held_is_settled_all_the_same(
    reported: Runtime, clock: Clock
) -> None:
    fund(reported, 10_000)
    put_campaign(reported, SPRING, pricing={"type": "cpc", "bid_micros": PRICE})
    held = click(300, clock(), campaign_id=SPRING, price_micros=PRICE)
    # As long as its queue, the dead letters and its queue once more can hold it.
    clock.advance(days=4 + 14 + 4)
    yesterday = clock() - 24 * HOUR
    count(reported, click(301, yesterday, campaign_id=SPRING, price_micros=PRICE))
    settle(reported)
    paid = balances(reported)["advertiser:mercedes"]
    count(reported, held)

    settle(reported)

    assert balances(reported)["advertiser:mercedes"] == paid - PRICE


@pytest.mark.bounds(ads={"settled_at_once": 2})
def test_a_run_pays_all_that_it_has_time_for(reported: Runtime, clock: Clock) -> None:
    fund(reported, 10_000)
    clock.advance(days=60)
    recorded = settlements.settle(reported)["owed"]
    assert recorded > 2

    assert settlements.settle(reported)["paid"] == recorded


def test_a_report_that_takes_too_long_keeps_no_debt_from_its_payment(
    reported: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    fund(reported, 10_000)
    clock.advance(hours=12)
    settlements._record_debts(reported, clock())

    def lasts(*_: Any) -> None:
        raise ExecutionTimeout("too long")

    monkeypatch.setattr(settlements, "_find_earnings", lasts)
    with pytest.raises(ExecutionTimeout):
        settlements.settle(reported)

    assert balances(reported)["site:blog"] == 7 * 175


def test_a_run_records_the_days_that_have_ended_or_changed(reported: Runtime, clock: Clock) -> None:
    clock.advance(hours=12)
    settlements.settle(reported)
    clock.advance(minutes=20)
    late_event(reported, clock)
    assert settlements.settle(reported)["owed"] == 2
    # A batch takes its time when it begins, so the next run looks at the day again.
    clock.advance(minutes=11)
    settlements.settle(reported)

    assert settlements.settle(reported)["owed"] == 0


@pytest.mark.bounds(ads={"settled_at_once": 2})
def test_days_of_more_debts_than_a_run_records_are_recorded_by_many(
    reported: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run goes on where the last one ended, within a day, and each makes at least a batch."""
    clock.advance(hours=12)
    rows = DAYS.of(reported.database)
    for number in range(5):
        for row in rows.find({"campaign_id": SPRING}):
            twin = {**row, "_id": f"{row['_id']}-{number}", "campaign_id": f"vw:late-{number}"}
            rows.insert_one(twin)  # type: ignore[arg-type]
    wanted = 2 * len(rows.distinct("period", {"period": {"$lt": DAY + 24 * HOUR}})) * 6
    monkeypatch.setattr(deadlines, "share", lambda _part: lambda: False)

    # The end of a day takes a run without a batch.
    recorded = []
    for _ in range(wanted // 2 + 4):
        recorded.append(settlements._record_debts(reported, clock()))
        clock.advance(minutes=11)

    assert set(recorded) == {0, 2}
    assert sum(recorded) == len(stored(reported)) == wanted


def test_a_day_that_changes_while_it_is_recorded_begins_anew(
    reported: Runtime, clock: Clock
) -> None:
    clock.advance(hours=13)
    last = PlaceInDay(day=DAY, campaign_id="zzz", site_id="")
    settlements._note_days(reported.database, clock())
    of_settled = {"_id": "settled"}
    PROGRESS.of(reported.database).update_one(of_settled, {"$set": {"at": last, "again": [DAY]}})
    late_event(reported, clock)

    # The first run finds the change by its time, and the second no more.
    clock.advance(seconds=OVERLAP.total_seconds() + 1)
    assert settlements._record_debts(reported, clock()) == 0
    clock.advance(seconds=1)
    assert settlements._record_debts(reported, clock()) == 2

    assert [each["owed_micros"] for each in stored(reported)] == [75 * 5, 175 * 5]
    progress = PROGRESS.of(reported.database).find_one(of_settled)
    assert progress is not None
    assert (progress.get("again"), "at" in progress) == ([], False)


def test_a_begun_day_that_changed_is_recorded_anew_although_an_earlier_day_waits(
    reported: Runtime, clock: Clock
) -> None:
    clock.advance(hours=13)
    last = PlaceInDay(day=DAY, campaign_id="zzz", site_id="")
    settlements._note_days(reported.database, clock())
    begun = {"$set": {"at": last, "again": [DAY - 24 * HOUR, DAY]}}
    PROGRESS.of(reported.database).update_one({"_id": "settled"}, begun)
    late_event(reported, clock)
    clock.advance(seconds=OVERLAP.total_seconds() + 1)

    for _ in range(2):
        settlements._record_debts(reported, clock())
        clock.advance(hours=1)

    of_day = [each["owed_micros"] for each in stored(reported) if str(DAY.date()) in each["_id"]]
    assert of_day == [75 * 5, 175 * 5]


def test_a_day_that_fails_keeps_no_later_day_from_its_record(
    reported: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock.advance(hours=12)
    first = min(DAYS.of(reported.database).distinct("period"))
    real = settlements._find_earnings

    def fail_first(database: Any, day: Any, after: Any) -> Any:
        if day == first:
            raise ExecutionTimeout("too long")
        return real(database, day, after)

    monkeypatch.setattr(settlements, "_find_earnings", fail_first)
    with pytest.raises(ExecutionTimeout):
        settlements._record_debts(reported, clock())

    owed = {each["_id"][:10] for each in stored(reported)}
    assert f"{DAY:%Y-%m-%d}" in owed
    assert f"{first:%Y-%m-%d}" not in owed
    monkeypatch.setattr(settlements, "_find_earnings", real)
    settlements._record_debts(reported, clock())
    assert stored(reported)[0]["_id"].startswith(f"{first:%Y-%m-%d}")


def test_a_payment_that_fails_keeps_no_debt_from_being_recorded(
    reported: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock.advance(days=1)

    def fail(*_: object) -> int:
        raise RuntimeError("refused")

    with monkeypatch.context() as patch:
        patch.setattr(settlements, "_pay_debts", fail)
        with pytest.raises(RuntimeError, match="refused"):
            settlements.settle(reported)

    assert settlements.SETTLEMENTS.of(reported.database).count_documents({}) > 0


def test_a_day_that_ends_without_a_late_event_is_recorded(reported: Runtime, clock: Clock) -> None:
    settlements.settle(reported)
    clock.advance(hours=11)
    settlements.settle(reported)
    clock.advance(hours=2)

    assert settlements.settle(reported)["owed"] == 2


@pytest.mark.parametrize("step", ["debit", "announce", "release_hold", "credit"])
def test_a_settlement_that_dies_pays_once_all_the_same(
    reported: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    fund(reported, 10_000)
    clock.advance(hours=12)
    real = getattr(accounts, step)

    def dies(*arguments: Any) -> None:
        real(*arguments)
        raise RuntimeError

    with monkeypatch.context() as patch:
        patch.setattr(accounts, step, dies)
        with pytest.raises(RuntimeError):
            settle(reported)
    clock.advance(minutes=5)

    settle(reported)

    assert balances(reported) == {
        "advertiser:mercedes": 10_000 - 7 * PRICE,
        "site:blog": 7 * 175,
        "network": 7 * 75,
    }


def test_what_is_earned_after_payments_have_died_is_paid_as_well(
    reported: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A payment that was begun keeps its amount, and the next one pays the rest."""
    fund(reported, 10_000)
    clock.advance(hours=13)
    lease = acquire(reported.database, SPRING, Terms(50, HOUR), clock(), reported.random)
    assert lease

    def dies(*_: Any) -> None:
        raise RuntimeError

    settlements._record_debts(reported, clock())
    with monkeypatch.context() as patch:
        patch.setattr(accounts, "debit", dies)
        for settlement in list(settlements.SETTLEMENTS.of(reported.database).find()):
            with pytest.raises(RuntimeError):
                settlements._pay(reported.database, settlement, clock())
    count(reported, impression(300, lease["_id"], DAY))
    clock.advance(minutes=5)

    for _ in range(2):
        settle(reported)

    assert balances(reported) == {
        "advertiser:mercedes": 10_000 - 8 * PRICE,
        "site:blog": 8 * 175,
        "network": 8 * 75,
    }


def late_event(reported: Runtime, clock: Clock) -> None:
    """Count another paid impression of 1 March."""
    lease = acquire(reported.database, SPRING, Terms(50, HOUR), clock(), reported.random)
    assert lease
    count(reported, impression(300, lease["_id"], DAY))


def stored(reported: Runtime) -> list[Any]:
    return list(reported.database[settlements.SETTLEMENTS.name].find().sort("_id", 1))


def test_a_run_that_read_an_earlier_sum_lowers_nothing(
    reported: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock.advance(hours=13)
    earlier = list(settlements._find_earnings(reported.database, DAY, ("", "")))
    late_event(reported, clock)
    settlements._record_debts(reported, clock())
    owed = stored(reported)

    monkeypatch.setattr(settlements, "_find_earnings", lambda *_: iter(earlier))
    settlements._record_debts(reported, clock())

    assert stored(reported) == owed


def test_a_run_that_pays_what_others_have_paid_notes_nothing(
    reported: Runtime, clock: Clock
) -> None:
    fund(reported, 10_000)
    clock.advance(hours=13)
    settlements._record_debts(reported, clock())
    early = stored(reported)
    settle(reported)
    late_event(reported, clock)
    settle(reported)
    paid = stored(reported)

    for settlement in early:
        settlements._pay(reported.database, settlement, clock())

    assert stored(reported) == paid
    assert not any(settlement["is_open"] for settlement in paid)


def test_what_a_worker_counts_with_the_time_before_midnight_is_settled_after_it(
    reported: Runtime, clock: Clock
) -> None:
    """A batch takes its time when it begins, and commits up to ten minutes later."""
    fund(reported, 10_000)
    clock.advance(hours=12, minutes=5)
    settle(reported)
    clock.advance(minutes=-10)
    late_event(reported, clock)
    clock.advance(minutes=15)

    settle(reported)

    assert balances(reported)["advertiser:mercedes"] == 10_000 - 8 * PRICE
