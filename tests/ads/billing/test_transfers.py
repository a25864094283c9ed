"""Money moves once or not at all, even if processes die on the way."""

from datetime import timedelta

import pytest

from chalicelib.ads import accounts
from chalicelib.ads.billing import transfers
from chalicelib.ads.billing.transfers import Payment
from chalicelib.ads.errors import InsufficientFunds, TooManyTransfers
from chalicelib.errors import Problem
from chalicelib.runtime import Runtime, utc_now
from tests.ads.billing.support.transfers import ANN, BOB, balance, move, pending, prepared
from tests.ads.campaigns.test_atomicity import in_threads
from tests.ads.support import transfer_worker
from tests.ads.support.crash_workers import run_swarm

pytestmark = pytest.mark.processes


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


def test_a_deposit_meets_the_banks_bound_of_transfers_and_not_its_balance(
    funded: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accounts, "MAX_PENDING", 1)
    deposit = Payment(accounts.BANK, ANN, 1)
    first = transfers._start(funded.database, "one", deposit, funded.now())
    transfers.prepare(funded.database, first)

    with pytest.raises(TooManyTransfers):
        move(funded, "two", accounts.BANK, BOB, 1)


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
        seconds=2.5,
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


def test_an_amount_is_held_once_however_often_a_preparer_asks(funded: Runtime) -> None:
    attempt = prepared(funded, "one", 30)

    assert accounts.debit(funded.database, attempt)
    assert accounts.announce(funded.database, attempt)

    assert (balance(funded, ANN), len(pending(funded))) == (70, 2)
