"""Transfers between Ann and Bob, and steps of them that die."""

from typing import Any

from chalicelib.ads import accounts
from chalicelib.ads.billing import transfers
from chalicelib.ads.billing.transfers import Payment, Transfer
from chalicelib.runtime import Runtime

ANN, BOB = accounts.of_advertiser("ann"), accounts.of_site("blog")


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
