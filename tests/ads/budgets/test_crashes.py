"""The balances hold, wherever a process dies and however many move money at once."""

import random
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.ads.budgets import balances, leases, ledger
from chalicelib.ads.budgets.leases import StoredLease, Terms
from chalicelib.runtime import Runtime
from tests.ads.campaigns.test_atomicity import in_threads
from tests.ads.support.movements import (
    PRICE,
    SPRING,
    TERMS,
    acquire,
    charge,
    end,
    funded,
    live,
    money,
    refresh,
    settle,
)
from tests.support.clock import Clock


class Crash(Exception):
    """The process dies here."""


DIES_AFTER = [
    ("acquire", (balances, "bring_up_to_date")),
    ("acquire", (ledger, "record")),
    ("acquire", (balances, "move")),
    ("settle", (ledger, "record")),
    ("end", (leases, "_fold_in")),
    ("end", (balances, "move")),
    ("charge_clicks", (balances, "move")),
    ("refresh", (balances, "bring_up_to_date")),
]


@pytest.mark.parametrize(
    ("operation", "dies_after"),
    DIES_AFTER,
    ids=[f"{name}-{step}" for name, (_, step) in DIES_AFTER],
)
def test_a_crash_inside_any_movement_leaves_nothing_of_it(
    runtime: Runtime,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
    operation: str,
    dies_after: tuple[Any, str],
) -> None:
    module, step = dies_after
    funded(runtime, 10_000, daily_micros=2_400 * PRICE)
    live(runtime, clock, hours=1)
    lease = acquire(runtime)
    assert lease
    at = clock() + timedelta(minutes=10)
    later = replace(runtime, now=lambda: at)
    before = money(runtime)
    does: dict[str, Callable[[], Any]] = {
        "acquire": lambda: acquire(later),
        "settle": lambda: settle(later, lease, 1),
        "end": lambda: end(later, lease),
        "charge_clicks": lambda: charge(later, PRICE),
        "refresh": lambda: refresh(later),
    }
    real = getattr(module, step)

    def dies(*arguments: Any, **details: Any) -> None:
        real(*arguments, **details)
        raise Crash

    with monkeypatch.context() as patch:
        patch.setattr(module, step, dies)
        with pytest.raises(Crash):
            does[operation]()

    assert money(runtime) == before
    does[operation]()
    assert money(runtime) != before


def test_the_balances_hold_while_many_hands_move_money_at_once(
    runtime: Runtime, clock: Clock
) -> None:
    funded(runtime, 300, daily_micros=200 * PRICE)
    samples = []

    def work(number: int) -> None:
        rng = random.Random(number)
        held: list[StoredLease] = []
        for _ in range(25):
            if number == 0:
                samples.append(money(runtime))
                refresh(runtime)
                clock.advance(minutes=rng.randint(1, 90))
                continue
            lease = leases.acquire(
                runtime.database, SPRING, Terms(7, TERMS.duration), runtime.now(), rng
            )
            held += [lease] if lease else []
            for each in held:
                settle(runtime, each, rng.randint(0, 3))
            if held and rng.random() < 0.5:
                end(runtime, held.pop(0))

    in_threads(work, 4)

    assert len(samples) == 25
    assert money(runtime)["spent"] > 0
