"""Transfers whose preparer dies, wakes late or is overtaken are finished or rolled back."""

from collections.abc import Callable
from typing import Any

import pytest
from pymongo.errors import PyMongoError

from chalicelib.ads import accounts
from chalicelib.ads.billing import transfers
from chalicelib.ads.errors import TransferInProgress
from chalicelib.errors import Unavailable
from chalicelib.runtime import Runtime
from tests.ads.billing.support.transfers import ANN, BOB, balance, move, pending, prepared
from tests.support.clock import Clock

pytestmark = pytest.mark.processes


class Crash(Exception):
    """The process dies here."""


def dies_after(monkeypatch: pytest.MonkeyPatch, module: Any, step: str) -> None:
    real = getattr(module, step)

    def dying(*arguments: Any) -> None:
        real(*arguments)
        raise Crash

    monkeypatch.setattr(module, step, dying)


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


def test_abandoning_a_transfer_that_was_just_committed_does_not_undo_it(
    funded: Runtime,
) -> None:
    attempt = prepared(funded, "one", 30)
    transfers.commit(funded.database, attempt)

    transfers._abandon(funded.database, attempt)
    transfers.commit(funded.database, attempt)
    transfers.clean_up(funded.database, funded.now())

    assert (balance(funded, ANN), balance(funded, BOB), pending(funded)) == (70, 30, [])


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
