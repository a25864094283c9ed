"""What each process of the transfers' swarm does."""

import random
from datetime import timedelta

from pymongo.database import Database

from chalicelib.ads import accounts
from chalicelib.ads.billing import transfers
from chalicelib.ads.billing.transfers import Payment
from chalicelib.ads.errors import InsufficientFunds, TransferInProgress
from chalicelib.database import Document
from chalicelib.errors import Unavailable
from chalicelib.runtime import utc_now

ACCOUNTS = [accounts.of_advertiser(f"a{number}") for number in range(20)]
OPENING_MICROS = 1_000


def move_money(database: Database[Document], rng: random.Random) -> None:
    """Move an amount between two accounts, or clean up, at times much too early."""
    if rng.random() < 0.1:
        early = transfers.PREPARE_TIMEOUT if rng.random() < 0.5 else timedelta(0)
        transfers.clean_up(database, utc_now() + early)
        return
    source, target = rng.sample(ACCOUNTS, 2)
    # Few keys, so that several processes work on one and a dead one's are tried again.
    amount = rng.randint(1, 400)
    key = f"{source}/{target}/{amount}"
    try:
        movement = Payment(source, target, amount)
        transfers.transfer(database, key, movement, utc_now())
    except (InsufficientFunds, TransferInProgress, Unavailable):
        return
