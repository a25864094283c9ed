"""Money moves once or not at all, whoever dies on the way."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from pymongo.errors import PyMongoError

from chalicelib.ads import accounts
from chalicelib.ads.billing import transfers
from chalicelib.ads.billing.transfers import Payment, Transfer
from chalicelib.ads.errors import InsufficientFunds, TooManyTransfers, TransferInProgress
from chalicelib.errors import Problem, Unavailable
from chalicelib.runtime import Runtime, utc_now
from tests.ads.campaigns.test_atomicity import in_threads
from tests.ads.support import transfer_worker
from tests.ads.support.crash_workers import run_swarm
from tests.support.clock import Clock

pytestmark = pytest.mark.processes

ANN, BOB = accounts.of_advertiser("ann"), accounts.of_site("blog")


class Crash(Exception):
    """The process dies here."""


@pytest.fixture
def funded(runtime: Runtime) -> Runtime:
    """Ann has 100 and Bob has nothing; the bank lacks those 100."""
    for account in (accounts.BANK, ANN, BOB):
        accounts.open_account(runtime.database, account, runtime.now())
    move(runtime, "top-up", accounts.BANK, ANN, 100)
    return runtime


def move(runtime: Runtime, key: str, source: str, target: str, amount: int) -> Transfer:
    payment = Payment(source, target, amount)
    return transfers.transfer(runtime.database, key, payment, runtime.now())


def prepared(runtime: Runtime, key: str, amount: int) -> Transfer:
    """A transfer from Ann to Bob that waits to be committed."""
    attempt = transfers._start(runtime.database, key, Payment(ANN, BOB, amount), runtime.now())
    transfers.prepare(runtime.database, attempt)
    return attempt


def balance(runtime: Runtime, account: str) -> int:
    return int(accounts.get(runtime.database, account)["balance_micros"])


def pending(runtime: Runtime) -> list[Any]:
    found = runtime.database[accounts.ACCOUNTS.name].find()
    return [mark for account in found for mark in account["pending"]]


def dies_after(monkeypatch: pytest.MonkeyPatch, module: Any, step: str) -> None:
    real = getattr(module, step)

    def dying(*arguments: Any) -> None:
        real(*arguments)
        raise Crash

    monkeypatch.setattr(module, step, dying)


def test_an_amount_leaves_one_account_and_reaches_the_other(funded: Runtime) -> None:
    moved = move(funded, "one", ANN, BOB, 30)

    assert moved["state"] == "retired"
    assert (balance(funded, ANN), balance(funded, BOB)) == (70, 30)
    assert pending(funded) == []


def test_a_transfer_done_twice_moves_the_amount_once(funded: Runtime) -> None:
    assert move(funded, "one", ANN, BOB, 30) == move(funded, "one", ANN, BOB, 30)

    assert balance(funded, BOB) == 30


@pytest.mark.parametrize(("amount", "left"), [(99, 1), (100, 0)])
def test_an_account_can_be_emptied(funded: Runtime, amount: int, left: int) -> None:
    move(funded, "one", ANN, BOB, amount)

    assert balance(funded, ANN) == left


def test_an_account_cannot_be_overdrawn_and_the_refusal_leaves_nothing(funded: Runtime) -> None:
    with pytest.raises(InsufficientFunds):
        move(funded, "one", ANN, BOB, 101)

    assert (balance(funded, ANN), balance(funded, BOB), pending(funded)) == (100, 0, [])


def test_a_refused_transfer_can_be_tried_again_once_there_is_money(funded: Runtime) -> None:
    with pytest.raises(InsufficientFunds):
        move(funded, "one", ANN, BOB, 101)
    move(funded, "more", accounts.BANK, ANN, 1)

    move(funded, "one", ANN, BOB, 101)

    assert (balance(funded, ANN), balance(funded, BOB)) == (0, 101)


def test_a_credit_cannot_be_spent_before_it_is_committed(funded: Runtime) -> None:
    prepared(funded, "one", 30)

    with pytest.raises(InsufficientFunds):
        move(funded, "two", BOB, ANN, 1)
    assert (balance(funded, ANN), balance(funded, BOB)) == (70, 0)


STEPS = [
    (accounts, "debit"),
    (accounts, "announce"),
    (transfers, "prepare"),
    (transfers, "commit"),
    (accounts, "release_hold"),
    (accounts, "credit"),
    (transfers, "retire"),
]


@pytest.mark.parametrize(("module", "step"), STEPS, ids=[step for _, step in STEPS])
def test_a_crash_after_any_step_is_cleaned_up(
    funded: Runtime, monkeypatch: pytest.MonkeyPatch, clock: Clock, module: Any, step: str
) -> None:
    with monkeypatch.context() as patch:
        dies_after(patch, module, step)
        with pytest.raises(Crash):
            move(funded, "one", ANN, BOB, 30)
    clock.advance(minutes=2)

    for _ in range(2):
        transfers.clean_up(funded.database, funded.now())

        assert pending(funded) == []
        committed = step not in {"debit", "announce", "prepare"}
        expected = (70, 30) if committed else (100, 0)
        assert (balance(funded, ANN), balance(funded, BOB)) == expected


@pytest.mark.parametrize("step", ["undo", "roll_back"])
def test_a_crash_within_the_roll_back_is_cleaned_up(
    funded: Runtime, monkeypatch: pytest.MonkeyPatch, clock: Clock, step: str
) -> None:
    with monkeypatch.context() as patch:
        dies_after(patch, accounts, "announce")
        with pytest.raises(Crash):
            move(funded, "one", ANN, BOB, 30)
    clock.advance(minutes=2)
    with monkeypatch.context() as patch:
        dies_after(patch, accounts if step == "undo" else transfers, step)
        with pytest.raises(Crash):
            transfers.clean_up(funded.database, funded.now())

    transfers.clean_up(funded.database, funded.now())

    assert (balance(funded, ANN), balance(funded, BOB), pending(funded)) == (100, 0, [])


def test_after_a_crash_the_same_key_moves_the_amount_once(
    funded: Runtime, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    with monkeypatch.context() as patch:
        dies_after(patch, accounts, "debit")
        with pytest.raises(Crash):
            move(funded, "one", ANN, BOB, 30)
    with pytest.raises(TransferInProgress):
        move(funded, "one", ANN, BOB, 30)
    clock.advance(minutes=2)

    move(funded, "one", ANN, BOB, 30)

    assert (balance(funded, ANN), balance(funded, BOB), pending(funded)) == (70, 30, [])


def wakes_up_late(
    monkeypatch: pytest.MonkeyPatch,
    step: str,
    meanwhile: Callable[[], object],
    *,
    dies: bool = False,
) -> None:
    """Let something happen just before a preparer's step, as if it had slept there."""
    real = getattr(accounts, step)

    def late(*arguments: Any) -> Any:
        monkeypatch.undo()
        meanwhile()
        done = real(*arguments)
        if dies:
            raise Crash
        return done

    monkeypatch.setattr(accounts, step, late)


@pytest.mark.parametrize("step", ["debit", "announce"])
def test_a_preparer_that_wakes_after_the_roll_back_takes_its_marks_back(
    funded: Runtime, monkeypatch: pytest.MonkeyPatch, clock: Clock, step: str
) -> None:
    def clean_up() -> None:
        clock.advance(minutes=2)
        transfers.clean_up(funded.database, funded.now())

    wakes_up_late(monkeypatch, step, clean_up)
    with pytest.raises(Unavailable):
        move(funded, "one", ANN, BOB, 30)

    assert (balance(funded, ANN), balance(funded, BOB), pending(funded)) == (100, 0, [])


@pytest.mark.parametrize("step", ["debit", "announce"])
def test_a_preparer_that_wakes_after_the_roll_back_and_dies_leaves_no_mark_for_ever(
    funded: Runtime, monkeypatch: pytest.MonkeyPatch, clock: Clock, step: str
) -> None:
    def clean_up() -> None:
        clock.advance(minutes=2)
        transfers.clean_up(funded.database, funded.now())

    wakes_up_late(monkeypatch, step, clean_up, dies=True)
    with pytest.raises(Crash):
        move(funded, "one", ANN, BOB, 30)
    assert pending(funded)

    transfers.clean_up(funded.database, funded.now())

    assert (balance(funded, ANN), balance(funded, BOB), pending(funded)) == (100, 0, [])


def test_a_preparer_that_wakes_after_another_has_moved_the_amount_moves_nothing(
    funded: Runtime, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    def another_does_it() -> None:
        clock.advance(minutes=2)
        move(funded, "one", ANN, BOB, 30)

    wakes_up_late(monkeypatch, "debit", another_does_it)
    with pytest.raises(Unavailable):
        move(funded, "one", ANN, BOB, 30)

    assert (balance(funded, ANN), balance(funded, BOB)) == (70, 30)
    transfers.clean_up(funded.database, funded.now())
    assert (balance(funded, ANN), balance(funded, BOB), pending(funded)) == (70, 30, [])


def test_giving_up_on_a_transfer_that_was_just_committed_does_not_undo_it(
    funded: Runtime,
) -> None:
    attempt = prepared(funded, "one", 30)
    transfers.commit(funded.database, attempt)

    transfers._abandon(funded.database, attempt)
    transfers.commit(funded.database, attempt)
    transfers.clean_up(funded.database, funded.now())

    assert (balance(funded, ANN), balance(funded, BOB), pending(funded)) == (70, 30, [])


def test_an_account_takes_a_bounded_number_of_transfers_at_once(
    funded: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accounts, "MAX_PENDING", 1)
    attempt = prepared(funded, "one", 1)

    with pytest.raises(TooManyTransfers):
        move(funded, "two", ANN, BOB, 1)

    transfers.commit(funded.database, attempt)
    transfers.retire(funded.database, attempt)
    move(funded, "two", ANN, BOB, 1)
    assert (balance(funded, ANN), balance(funded, BOB)) == (98, 2)


def test_a_debit_that_others_got_in_the_way_of_is_tried_again(
    funded: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    debit, refusals = accounts.debit, [False, False]
    monkeypatch.setattr(
        accounts, "debit", lambda *args: refusals.pop() if refusals else debit(*args)
    )

    move(funded, "one", ANN, BOB, 30)

    assert (balance(funded, ANN), balance(funded, BOB)) == (70, 30)


def test_under_contention_it_is_funds_that_are_said_to_be_lacking(
    funded: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accounts, "debit", lambda *_: False)

    with pytest.raises(InsufficientFunds):
        move(funded, "one", ANN, BOB, 30)

    assert (balance(funded, ANN), pending(funded)) == (100, [])


def test_of_forty_transfers_of_the_whole_balance_one_moves_and_the_others_lack_funds(
    funded: Runtime,
) -> None:
    def whole(number: int) -> str:
        try:
            move(funded, f"all-{number}", ANN, BOB, 100)
        except Problem as problem:
            return problem.code
        return "moved"

    assert sorted(set(in_threads(whole, 40))) == ["insufficient_funds", "moved"]
    assert (balance(funded, ANN), balance(funded, BOB)) == (0, 100)


def test_money_moved_by_processes_that_die_at_every_step_is_all_there_in_the_end(
    runtime: Runtime, mongodb_uri: str
) -> None:
    names = transfer_worker.ACCOUNTS
    fresh = {"balance_micros": 1_000, "pending": [], "opened_at": runtime.now()}
    rows = [{"_id": name, **fresh} for name in names]
    runtime.database[accounts.ACCOUNTS.name].insert_many(rows)

    died = run_swarm(
        "tests.ads.support.transfer_worker:move_money",
        mongodb_uri,
        runtime.settings.database,
        seconds=6,
    )

    last = utc_now() + timedelta(hours=1)
    transfers.clean_up(runtime.database, last)
    stored = list(runtime.database[transfers.TRANSFERS.name].find())
    by_state = {each["state"] for each in stored}
    expected = dict.fromkeys(names, transfer_worker.OPENING_MICROS)
    for each in stored:
        if each["state"] == "retired":
            expected[each["source"]] -= each["amount_micros"]
            expected[each["target"]] += each["amount_micros"]
    assert died > 5
    assert by_state == {"retired", "rolled_back"}
    assert pending(runtime) == []
    assert {name: balance(runtime, name) for name in names} == expected
    assert min(expected.values()) >= 0


def test_an_outage_moves_nothing_that_a_clean_up_cannot_settle(
    funded: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    def outage(*_: Any) -> None:
        raise PyMongoError("the network is gone")

    with monkeypatch.context() as patch:
        patch.setattr(accounts, "credit", outage)
        with pytest.raises(PyMongoError):
            move(funded, "one", ANN, BOB, 30)

    assert (balance(funded, ANN), balance(funded, BOB)) == (70, 0)
    transfers.clean_up(funded.database, funded.now())
    assert (balance(funded, ANN), balance(funded, BOB), pending(funded)) == (70, 30, [])


def test_a_transfer_that_the_clean_up_retires_before_it_is_looked_at_again_has_succeeded(
    funded: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    change_state = transfers._change_state

    def retired_at_once(*arguments: Any) -> None:
        monkeypatch.setattr(transfers, "_change_state", change_state)
        change_state(*arguments)
        transfers.clean_up(funded.database, funded.now())

    attempt = prepared(funded, "one", 30)
    monkeypatch.setattr(transfers, "_change_state", retired_at_once)
    transfers.commit(funded.database, attempt)
    transfers.retire(funded.database, attempt)

    assert (balance(funded, ANN), balance(funded, BOB), pending(funded)) == (70, 30, [])


def test_an_amount_is_held_once_however_often_a_preparer_asks(funded: Runtime) -> None:
    attempt = prepared(funded, "one", 30)

    assert accounts.debit(funded.database, attempt)
    assert accounts.announce(funded.database, attempt)

    assert (balance(funded, ANN), len(pending(funded))) == (70, 2)


def test_an_attempt_is_taken_over_when_its_time_is_up_and_no_sooner(
    funded: Runtime, clock: Clock
) -> None:
    prepared(funded, "one", 30)

    clock.advance(seconds=60, milliseconds=-1)
    with pytest.raises(TransferInProgress):
        move(funded, "one", ANN, BOB, 30)

    clock.advance(milliseconds=1)
    move(funded, "one", ANN, BOB, 30)
    assert (balance(funded, ANN), balance(funded, BOB), pending(funded)) == (70, 30, [])


def test_a_mark_of_an_attempt_that_a_later_one_has_replaced_is_undone(
    funded: Runtime, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    def another_does_it() -> None:
        clock.advance(minutes=2)
        move(funded, "one", ANN, BOB, 30)

    wakes_up_late(monkeypatch, "debit", another_does_it, dies=True)
    with pytest.raises(Crash):
        move(funded, "one", ANN, BOB, 30)
    assert (balance(funded, ANN), len(pending(funded))) == (40, 1)

    transfers.clean_up(funded.database, funded.now())

    assert (balance(funded, ANN), balance(funded, BOB), pending(funded)) == (70, 30, [])


def test_a_transfer_that_is_under_way_is_left_to_its_preparer(
    funded: Runtime, clock: Clock
) -> None:
    attempt = prepared(funded, "one", 30)
    clock.advance(seconds=60, milliseconds=-1)

    transfers.clean_up(funded.database, funded.now())

    transfers.commit(funded.database, attempt)
    transfers.retire(funded.database, attempt)
    assert (balance(funded, ANN), balance(funded, BOB), pending(funded)) == (70, 30, [])
