"""Accounts of the tests of transfers."""

import pytest

from chalicelib.ads import accounts
from chalicelib.runtime import Runtime
from tests.ads.billing.support.transfers import ANN, BOB, move


@pytest.fixture
def funded(runtime: Runtime) -> Runtime:
    """Ann has 100 and Bob has nothing; the bank lacks those 100."""
    for account in (accounts.BANK, ANN, BOB):
        accounts.open_account(runtime.database, account, runtime.now())
    move(runtime, "top-up", accounts.BANK, ANN, 100)
    return runtime
